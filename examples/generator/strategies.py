"""Strategies, and cases: a configuration with its programs and its manifest."""
import dataclasses
import pathlib
import re

from .breaks import Breaks
from .context import ContextDecoder
from .decoder import Decoder
from .experts import ExpertExchange, ExpertSum
from .latent import LatentDecoder
from .layout import Mesh
from .pipeline import PipelineDecoder
from .program import Program
from .training import TrainingStep


@dataclasses.dataclass(frozen=True)
class Config:
    """What the command line says. 0 stands for a default that depends on other values (see `completed`)."""
    strategy: str = "tp"
    ranks: int = 2
    layers: int = 2
    hidden: int = 64
    heads: int = 8
    kv_heads: int = 0
    head_dim: int = 0
    mlp: int = 0
    vocab: int = 128
    seq: int = 16
    batch: int = 4
    tp: int = 0
    micro: int = 0
    experts: int = 0
    top_k: int = 2
    capacity: int = 0
    latent: int = 0
    query_latent: int = 0
    rope: int = 0
    value_dim: int = 0
    dense: int = 1
    expert_mlp: int = 0
    groups: int = 0
    best_groups: int = 0
    layout: str = "bsh"
    attention: str = "sdpa"
    activation: str = "silu"
    loss: str = ""
    average: str = "div"
    dtype: str = "f32"
    bias: bool = True
    zigzag: bool = False
    zero: bool = False
    symbolic: str = ""  # which sizes are left open: "", "batch", "sequence" or "both"

    @property
    def sequence_parallel(self):
        return self.strategy.endswith("-sp")

    @property
    def open_batch(self):
        return self.symbolic in ("batch", "both")

    @property
    def vocab_parallel(self):
        return self.strategy.startswith("vocab")


@dataclasses.dataclass(frozen=True)
class Strategy:
    about: str
    model: type
    axes: tuple      # of the mesh, outermost first
    loss: str = "none"


STRATEGIES = {
    "tp": Strategy("tensor parallel", Decoder, ("dp", "tp")),
    "tp-sp": Strategy("tensor and sequence parallel", Decoder, ("dp", "tp")),
    "vocab": Strategy("tensor parallel, embedding and cross entropy, too", Decoder, ("dp", "tp"), "log_softmax"),
    "vocab-sp": Strategy("the same with sequence parallel", Decoder, ("dp", "tp"), "log_softmax"),
    "ep": Strategy("experts on ranks, tokens exchanged by all-to-all", ExpertExchange, ("ep",)),
    "ep-sum": Strategy("experts on ranks, every rank has all tokens", ExpertSum, ("ep",)),
    "latent": Strategy("latent attention, routed and shared experts; tensor and expert parallel", LatentDecoder, ("dp", "tp")),
    "dp": Strategy("a training step, data parallel (--tp for tensor parallel inside)", TrainingStep, ("dp", "tp")),
    "ga": Strategy("a training step, gradients accumulated over micro-batches on one rank", TrainingStep, ("dp",)),
    "pp": Strategy("pipeline parallel with micro-batches", PipelineDecoder, ("pp",)),
    "cp": Strategy("context parallel", ContextDecoder, ("cp",)),
}


def completed(c):
    """The configuration with defaults filled in; ValueError if it makes no sense."""
    strategy = STRATEGIES[c.strategy]
    sizes = {field.name: getattr(c, field.name) for field in dataclasses.fields(c) if field.type in (int, "int")}
    for name, size in sizes.items():
        if size < (name in ("ranks", "hidden", "heads", "vocab", "seq", "batch")):
            raise ValueError(f"--{name.replace('_', '-')} {size} is too small")
    fill = {"kv_heads": c.heads, "head_dim": c.hidden // c.heads, "mlp": 2 * c.hidden, "loss": strategy.loss,
            "tp": 1 if c.strategy == "dp" else c.ranks, "experts": c.ranks + 1 if c.strategy == "ep-sum" else 2 * c.ranks, "capacity": 2,
            "micro": {"pp": 2, "ga": c.ranks}.get(c.strategy, 1), "latent": c.hidden // 2, "query_latent": c.hidden, "rope": 2,
            "value_dim": c.head_dim or c.hidden // c.heads, "expert_mlp": c.mlp or 2 * c.hidden, "groups": 1, "best_groups": 1}
    c = dataclasses.replace(c, **{name: value for name, value in fill.items() if not getattr(c, name)})
    if c.strategy == "ga":
        c = dataclasses.replace(c, ranks=1)
    check(c)
    return c


def check(c):
    """ValueError, with a reason, for a configuration that has no programs."""
    dp = max(1, c.ranks // c.tp) if "tp" in STRATEGIES[c.strategy].axes else 1
    training, cut = c.strategy in ("dp", "ga"), "tp" in STRATEGIES[c.strategy].axes
    even_batch = {"ep": c.ranks, "pp": c.micro if c.loss != "none" or c.open_batch else 1}.get(c.strategy, dp)
    if training:
        even_batch = dp * c.micro if c.open_batch else 1
    chunks = c.ranks * (2 if c.zigzag else 1)
    conditions = [
        (not cut or c.ranks % c.tp == 0, f"--ranks {c.ranks} is not divisible by --tp {c.tp}"),
        (training or c.heads % c.kv_heads == 0, f"--heads {c.heads} is not divisible by --kv-heads {c.kv_heads}"),
        (training or c.strategy == "latent" or c.head_dim % 2 == 0, f"rotary embedding needs an even width of a head, not {c.head_dim} (--head-dim)"),
        (training or not cut or c.heads >= c.tp, f"fewer heads than ranks ({c.heads} < {c.tp})"),
        (training or not cut or c.kv_heads >= c.tp or c.heads // c.kv_heads >= -(-c.tp // c.kv_heads),
         "more ranks for a KV head than it has query heads"),
        (not cut or c.mlp >= c.tp and c.vocab >= c.tp, "fewer rows than ranks"),
        (not c.sequence_parallel or c.seq % c.tp == 0, f"--seq {c.seq} is not divisible by {c.tp}, the number of tensor-parallel ranks"),
        (c.batch % even_batch == 0, f"--batch {c.batch} is not divisible by {even_batch}"),
        (c.strategy not in ("ep", "ep-sum") or c.experts >= c.ranks, "fewer experts than ranks"),
        (c.strategy != "latent" or c.experts >= c.tp and c.expert_mlp >= c.tp, "fewer experts, or rows of one, than ranks"),
        (c.strategy not in ("ep-sum", "latent") or c.top_k <= c.experts, "--top-k is more than there are experts"),
        (c.strategy != "latent" or c.experts % c.groups == 0 and c.best_groups <= c.groups, "experts or chosen groups do not fit --groups"),
        (c.strategy != "latent" or c.rope % 2 == 0, f"rotary embedding needs an even width, not {c.rope} (--rope)"),
        (c.strategy != "latent" or c.kv_heads == c.heads, "latent attention has no KV heads of its own"),
        (c.strategy != "latent" or c.attention == "sdpa" and c.layout == "bsh", "latent needs --attention sdpa and --layout bsh"),
        (c.strategy != "ep" or c.layout == "bsh", "ep needs --layout bsh"),
        (c.strategy != "cp" or c.seq % chunks == 0, f"--seq {c.seq} is not divisible by {chunks}, the number of chunks"),
        (c.strategy != "cp" or c.attention != "flash", "the flash operator takes no mask: use another --attention with cp"),
        (c.strategy != "pp" or c.batch >= c.micro, "fewer sequences than micro-batches"),
        (c.strategy != "dp" or c.batch >= c.ranks // c.tp, "fewer rows than ranks"),
        (c.strategy != "ga" or c.batch >= c.micro, "fewer rows than micro-batches"),
    ]
    for good, complaint in conditions:
        if not good:
            raise ValueError(complaint)


class Case:
    """A configuration, its programs and manifest. `breaks` decides what is wrong with the distributed programs."""

    def __init__(self, config, kind=None, label=None):
        self.config, self.breaks, self.ranks = config, Breaks(kind, label), config.ranks
        self.strategy = STRATEGIES[config.strategy]
        tp = config.tp if "tp" in self.strategy.axes else 1
        outer, inner = self.strategy.axes[0], self.strategy.axes[-1]
        sizes = {outer: self.ranks} if outer == inner else {outer: self.ranks // tp, inner: tp}
        copies, rest = divmod(tp, config.kv_heads)
        self.mesh = Mesh(sizes, (config.kv_heads, copies) if copies > 1 and not rest and config.kv_heads > 1 and self.decodes() else None)
        self.inputs, self.expected, self.ranges, self.symbols = {}, {}, {}, {}

    def decodes(self):
        return issubclass(self.strategy.model, Decoder)

    def program(self, rank=None):
        part = "sequential" if rank is None else f"rank {rank}"
        p = Program(f"{self.config.strategy}, {part}", self, rank)
        self.strategy.model(p, self.config).build()
        self.symbols[rank] = sorted(p.bound)
        return p

    # -------------------------------------------------------------------------------------------------------- manifest

    def assumptions(self):
        lines = [f"{name} in [0, {n})" for name, n in self.ranges.items()]
        for rank in range(self.ranks):
            for symbol in self.symbols.get(rank, []):
                first = next(r for r in range(self.ranks) if symbol in self.symbols[r])
                lines.append(f"r{rank}.{symbol} >= 1" if rank == first else f"r{rank}.{symbol} == r{first}.{symbol}")
        return [f"{s} >= 1" for s in self.symbols.get(None, [])] + lines

    def manifest(self, about):
        """The text; all programs must have been built."""
        c = self.config
        lines = [f"# {about}", "sequential: sequential.json", "distributed: r{rank}.json", f"ranks: {self.ranks}", "rules: [aten.rules]"]
        written = self.mesh.written()
        if len(written) > 1:
            lines.append("mesh: {" + ", ".join(f"{axis}: {n}" for axis, n, _ in written) + "}")
        assumptions = self.assumptions()
        lines += ["assume:"] + [f'  - "{a}"' for a in assumptions] if assumptions else []
        lines += ["inputs:"] + grouped({name: layout.text(name) for name, layout in self.inputs.items()}, c.layers)
        lines += ["expect:"] + [f"  {name}: {layout.text(name)}" for name, layout in self.expected.items()]
        return "\n".join(lines) + "\n"

    def write(self, folder, about):
        """All files, one program in memory at a time."""
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for rank in (None, *range(self.ranks)):
            name = "sequential.json" if rank is None else f"r{rank}.json"
            with open(folder / name, "w", encoding="utf-8", newline="\n") as out:
                out.writelines(self.program(rank).lines())
        (folder / "manifest.yaml").write_text(self.manifest(about), encoding="utf-8", newline="\n")


def grouped(texts, layers):
    """Entries of the manifest; what is the same in all layers is written once, as `layers.*.name`."""
    result = {}
    for name, text in texts.items():
        pattern = re.sub(r"^layers\.\d+\.", "layers.*.", name)
        alike = pattern != name and all(texts.get(pattern.replace("*", str(i))) == text for i in range(layers))
        result[f'"{pattern}"' if alike else name] = text
    return [f"  {name}: {text}" for name, text in result.items()]


def places(config):
    """All breaks of a configuration: (kind, site number, label)."""
    case = Case(config)
    for rank in range(case.ranks):
        case.program(rank)
    return case.breaks.listed()
