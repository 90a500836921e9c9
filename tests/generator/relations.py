#!/usr/bin/env python3
"""relations.py PROGRAM [--shared FOLDER] [--only TEXT] [--every K]: every relation that is inferred holds in numbers.

Programs of examples/generate.py and the public cases beside the project (where they are), right and wrong ones, run on random numbers that
satisfy the manifest; then each relation of the report, of all tensors of the sequential program, is evaluated on the ranks' values.
Ends with the line `N relations of M programs: …`."""
import argparse
import importlib.util
import json
import math
import pathlib
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "examples"), str(ROOT / "examples"), str(ROOT / "tests" / "generator")]
import evaluate  # noqa: E402
import expressions  # noqa: E402
from generator import numeric  # noqa: E402
from generator.strategies import Case, Config, completed  # noqa: E402


def module(path):
    """Of several modules of one name the one there."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


verdicts = module(ROOT / "tests" / "generator" / "verdicts.py")
MOST_RANKS = 7
SECONDS = 5


# ------------------------------------------------------------------------------------------- operators of the cases only

def select(x, dim, index):
    y = evaluate.cut(x, dim, index, index + 1)
    return evaluate.view(y, [n for d, n in enumerate(y[0]) if d != dim % len(x[0])])


def pad(x, widths, value):
    for k in range(len(widths) // 2):
        dim = len(x[0]) - 1 - k
        for width, behind in ((widths[2 * k], False), (widths[2 * k + 1], True)):
            shape = [width if d == dim else n for d, n in enumerate(x[0])]
            if width:
                border = tuple(shape), [value] * evaluate.size(shape)
                x = evaluate.join([x, border] if behind else [border, x], dim)
    return x


def layer_norm_backward(dy, x, shape, mean, scale, w, b, wanted):
    n, dx, dw, db = x[0][-1], [], [0.0] * x[0][-1], [0.0] * x[0][-1]
    for row, out, m, s in zip(evaluate.rows_of(x), evaluate.rows_of(dy), mean[1], scale[1]):
        hat = [(e - m) * s for e in row]
        g = [o * wi for o, wi in zip(out, w[1])]
        inner, total = sum(a * h for a, h in zip(g, hat)), sum(g)
        dx += [s * (a - total / n - h * inner / n) for a, h in zip(g, hat)]
        dw = [d + o * h for d, o, h in zip(dw, out, hat)]
        db = [d + o for d, o in zip(db, out)]
    return [(x[0], dx), ((n,), dw), ((n,), db)]


def flash(q, k, v, *more, **scale):
    """As captured programs call it: without the arguments that have defaults, and with two results."""
    if more:
        return numeric.flash(q, k, v, *more, **scale)
    scores = evaluate.product(q, evaluate.swapped(k, len(k[0]) - 2, len(k[0]) - 1))
    sums = [math.log(math.fsum(math.exp(e * q[0][-1] ** -0.5) for e in row)) for row in evaluate.rows_of(scores)]
    return [numeric.attention(q, k, v, None, 0.0, False, **scale), (tuple(q[0][:-1]), sums)]


MORE = {
    "aten.select.int": select,
    "aten.constant_pad_nd.default": pad,
    "aten.sqrt.default": numeric.elementwise(lambda a: a ** 0.5),
    "aten.reciprocal.default": numeric.elementwise(lambda a: 1 / a),
    "aten.sigmoid.default": numeric.elementwise(lambda a: 1 / (1 + math.exp(-a))),
    "aten.clamp.default": lambda x, low, high=None: evaluate.together(
        lambda a: min(max(a, a if low is None else low), a if high is None else high), x),
    "aten.le.Tensor": numeric.elementwise(lambda a, b: a <= b),
    "aten.full.default": lambda shape, value: (tuple(shape), [value] * evaluate.size(shape)),
    "aten.linalg_vector_norm.default": lambda x, order: ((), [sum(e * e for e in x[1]) ** 0.5]),
    "aten.native_layer_norm_backward.default": layer_norm_backward,
}
numeric.LOCAL.update({op: f for op, f in MORE.items() if op not in numeric.LOCAL})
# With the defaults that captured programs leave out.
numeric.LOCAL["aten.scaled_dot_product_attention.default"] = (
    lambda q, k, v, mask=None, dropout=0.0, causal=False, scale=None: numeric.attention(q, k, v, mask, dropout, causal, scale))
numeric.LOCAL["aten._scaled_dot_product_flash_attention.default"] = flash
numeric.LOCAL["aten.clone.default"] = lambda x, memory_format=None: x


# ------------------------------------------------------------------------------------------------------------- programs

class Programs:
    """Both programs, run: the graphs, the manifest's path, the values of the sequential program and of each rank."""

    def __init__(self, manifest, sequential, ranks, given, held):
        self.manifest = manifest
        self.sequential = numeric.run([sequential], [given])[0]
        self.ranks = numeric.run(ranks, held)
        self.symbols = expressions.symbols_of(sequential, ranks, given, held)


def generated(config, kind, label, folder):
    reference, case = numeric.Reference(config), Case(config, kind, label)
    case.write(folder, "")
    ranks = [numeric.graph_of(case.program(rank)) for rank in range(case.ranks)]
    held = [{name: numeric.part(layout, rank, reference.inputs[name]) for name, layout in case.inputs.items() if layout.held(rank)}
            for rank in range(case.ranks)]
    return Programs(folder / "manifest.yaml", numeric.graph_of(case.program()), ranks, reference.inputs, held)


def section(text, name):
    """The entries of a section of a manifest as (tensor, [form…]); enough of YAML for the cases."""
    found = re.search(rf"^{name}:\n((?:[ ].*\n|\n)*)", text + "\n", re.MULTILINE)
    for line in found.group(1).splitlines() if found else []:
        entry = re.fullmatch(r'\s+"?([^":]+)"?:\s*(.*?)\s*', line)
        if entry:
            value = entry.group(2)
            yield entry.group(1), [v.strip('"') for v in expressions.pieces(value.strip("[]") if value.startswith("[") else value, ",")]


def spelled(name, form, ranks):
    """A form as expressions over the ranks' tensors, all of them equal."""
    own = [f"r{rank}.{name}" for rank in range(ranks)]
    if form == "Replicate":
        return own
    shard = re.fullmatch(r"Shard\((\d+)\)", form)
    return [f"concat({', '.join(own)}; {shard.group(1)})"] if shard else [f"add_n({', '.join(own)})"] if form == "Partial" else [form]


def completed_graph(graph):
    for node in graph["nodes"]:
        node.setdefault("args", [])
        node.setdefault("kwargs", {})
    return graph


def from_case(manifest):
    text = manifest.read_text(encoding="utf-8")
    entry = lambda key: re.search(rf"^{key}: *(\S+)", text, re.MULTILINE).group(1)  # noqa: E731
    count = int(entry("ranks"))
    load = lambda name: completed_graph(json.loads((manifest.parent / name).read_text(encoding="utf-8")))  # noqa: E731
    sequential, ranks = load(entry("sequential")), [load(entry("distributed").replace("{rank}", str(r))) for r in range(count)]
    ranges = {name: (int(low), int(high)) for name, low, high in re.findall(r'"([\w.]+) in \[(\d+), (\d+)\)"', text)}
    source, held = random.Random(manifest.parent.name), [{} for _ in ranks]
    types = [{n["name"]: n for n in graph["nodes"] if n["op"] == "placeholder"} for graph in ranks]

    def fresh(rank, name):
        node, (low, high) = types[rank][name], ranges.get(name, (0, 4))
        draw = (lambda: source.randrange(low, high)) if node["dtype"][0] in "iub" else (lambda: source.gauss(0, 0.7))
        return tuple(node["shape"]), [draw() for _ in range(evaluate.size(node["shape"]))]

    given = {}
    for name, forms in section(text, "inputs"):
        alternatives = [e for form in forms for e in spelled(name, form, count)]
        for equal in zip(*(expressions.leaves(e) for e in alternatives)):
            value = next((held[rank][leaf] for rank, leaf in equal if leaf in held[rank]), None)
            value = fresh(*equal[0]) if value is None else value
            for rank, leaf in equal:
                held[rank][leaf] = value
        given[name] = expressions.evaluate(alternatives[0], held, {})
    for rank, named in enumerate(types):
        for name in named:
            held[rank].setdefault(name, fresh(rank, name))
    return Programs(manifest, sequential, ranks, given, held)


# -------------------------------------------------------------------------------------------------------------- checking

def jobs(every, shared):
    """(name, function of a folder that makes the programs)"""
    wanted = [(options, None, None) for options in verdicts.RIGHT]
    wanted += [(options, kind, label) for options in verdicts.BROKEN for kind, label in verdicts.breaks(options, None)]
    for options, kind, label in wanted[::every]:
        config = completed(Config(**{**verdicts.SMALL, **options}))
        if config.ranks <= MOST_RANKS:
            name = verdicts.describe(options) + (f": {kind}, {label}" if kind else "")
            yield name, lambda folder, config=config, kind=kind, label=label: generated(config, kind, label, folder)
    for manifest in sorted(pathlib.Path(shared, "cases").glob("*/*.yaml")):
        yield f"cases/{manifest.parent.name}/{manifest.stem}", lambda folder, manifest=manifest: from_case(manifest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--shared", default=str(ROOT.parent / "shared"))
    parser.add_argument("--only", default="", help="programs whose description contains this")
    parser.add_argument("--every", type=int, default=1, help="of the generated programs only each K-th")
    options = parser.parse_args()
    total = programs_run = failed = skipped = 0
    for name, make in jobs(options.every, options.shared):
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                programs = make(pathlib.Path(folder))
            except numeric.Undefined:
                skipped += 1  # a broken program that has no result
                continue
            code, result, text = expressions.report(options.program, programs.manifest, SECONDS)
            count, wrong = expressions.wrong_relations(result, programs.sequential, programs.ranks, programs.symbols) if result else (
                0, [f"exit code {code}: {text}"])
            verdict = result["verdict"] if result else "-"
        total, programs_run, failed = total + count, programs_run + 1, failed + len(wrong)
        print(f"{'FAIL' if wrong else 'ok  '} {count:4} relations, {verdict:9} {name}", *wrong, sep="\n     ", flush=True)
    print(f"{total} relations of {programs_run} programs: {failed} do not hold ({skipped} programs have no result)")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
