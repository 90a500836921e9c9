#!/usr/bin/env python3
"""Writes the graphs and manifests of the examples. Plain Python, same output every time.

    make.py            writes them
    make.py --check    changes nothing; says which files differ from what it would write, exit status 1 if any does

Each example is the program in its model.py, built here operator by operator in the form torch.export gives it (after
run_decompositions): names as torch.fx numbers them, recorded shapes, and the line of model.py an operator comes from.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


# ---------------------------------------------------------------------------------------------------------------- programs

class Tensor:
    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype


class Program:
    """One graph under construction: the function `function` of `folder`/model.py as rank `rank` of `ranks` runs it."""

    def __init__(self, folder, function, rank=0, ranks=1):
        self.folder, self.function, self.rank, self.ranks = folder, function, rank, ranks
        self.source = (HERE / folder / "model.py").read_text(encoding="utf-8").splitlines()
        self.nodes, self.inputs, self.outputs, self.names, self.line = [], [], [], {}, None

    def at(self, snippet, function=None):
        """The operators that follow come from the one line of `function` (default: the program's) that contains `snippet`."""
        start = self.source.index(next(s for s in self.source if s.startswith(f"def {function or self.function}(")))
        end = next((i for i in range(start + 1, len(self.source)) if self.source[i].startswith("def ")), len(self.source))
        lines = [i + 1 for i in range(start, end) if snippet in self.source[i]]
        assert len(lines) == 1, f"{self.folder}/model.py, {function or self.function}: {snippet!r} is on lines {lines}"
        self.line = lines[0]

    def unique(self, base):
        count = self.names.get(base, 0)
        self.names[base] = count + 1
        return base if count == 0 else f"{base}_{count}"

    def input(self, name, *shape, dtype="f32"):
        self.names[name] = 1
        self.inputs.append(name)
        self.nodes.append({"name": name, "op": "placeholder", "shape": list(shape), "dtype": dtype})
        return Tensor(name, shape, dtype)

    def output(self, x, name):
        """`x`, the result of the last operator, is an output and is called `name`."""
        assert self.nodes[-1]["name"] == x.name and name not in self.names
        self.nodes[-1]["name"] = name
        self.outputs.append(name)

    def node(self, op, args, shape, dtype, kwargs=None):
        def encode(a):
            if isinstance(a, Tensor):
                return {"ref": a.name}
            return [encode(x) for x in a] if isinstance(a, (list, tuple)) else a

        name = self.unique(op.split(".")[1] if "." in op and op != "operator.getitem" else "getitem")
        self.nodes.append({"name": name, "op": op, "args": encode(args), "kwargs": kwargs or {}, "shape": shape, "dtype": dtype,
                           "loc": f"{self.folder}/model.py:{self.line}"})
        return name

    def op(self, op, *args, shape, dtype="f32", **kwargs):
        return Tensor(self.node(op, args, list(shape), dtype, kwargs), shape, dtype)

    def several(self, op, *args, shapes, pick):
        """An operator with several results, of which those at the places `pick` are used."""
        name = self.node(op, args, [list(s) for s in shapes], ["f32"] * len(shapes))
        whole = Tensor(name, (), None)
        picked = [self.op("operator.getitem", whole, i, shape=shapes[i]) for i in pick]
        return picked[0] if len(pick) == 1 else picked

    # Operators, with the shapes they compute.

    def t(self, x):
        return self.op("aten.t.default", x, shape=x.shape[::-1])

    def view(self, x, *shape):
        return self.op("aten.view.default", x, list(shape), shape=shape)

    def transpose(self, x, a, b):
        shape = list(x.shape)
        shape[a], shape[b] = shape[b], shape[a]
        return self.op("aten.transpose.int", x, a, b, shape=shape)

    def clone(self, x):
        return self.op("aten.clone.default", x, shape=x.shape)

    def slice(self, x, dim, begin, end):
        return self.op("aten.slice.Tensor", x, dim, begin, end,
                       shape=x.shape[:dim] + (end - begin,) + x.shape[dim + 1:])

    def add(self, x, y):
        return self.op("aten.add.Tensor", x, y, shape=x.shape)  # y is x's shape or a row of it

    def gelu(self, x):
        return self.op("aten.gelu.default", x, shape=x.shape)

    def softmax(self, x):
        return self.op("aten._softmax.default", x, -1, False, shape=x.shape)

    def bmm(self, x, y):
        return self.op("aten.bmm.default", x, y, shape=(x.shape[0], x.shape[1], y.shape[2]))

    def linear(self, x, w, b=None):
        """F.linear: over two axes; more are viewed as two and back."""
        rows = 1
        for n in x.shape[:-1]:
            rows *= n
        two = x if len(x.shape) == 2 else self.view(x, rows, x.shape[-1])
        wt = self.t(w)
        shape = (rows, w.shape[0])
        y = self.op("aten.mm.default", two, wt, shape=shape) if b is None else self.op("aten.addmm.default", b, two, wt, shape=shape)
        return y if len(x.shape) == 2 else self.view(y, *x.shape[:-1], w.shape[0])

    def layer_norm(self, x, w, b):
        stats = x.shape[:-1] + (1,)
        return self.several("aten.native_layer_norm.default", x, [x.shape[-1]], w, b, 1e-05, shapes=[x.shape, stats, stats], pick=[0])

    def wait(self, x):
        return self.op("_c10d_functional.wait_tensor.default", x, shape=x.shape)

    def all_reduce(self, x):
        return self.wait(self.op("_c10d_functional.all_reduce.default", x, "sum", "tp", shape=x.shape))

    def all_gather(self, x):
        return self.wait(self.op("_c10d_functional.all_gather_into_tensor.default", x, self.ranks, "tp",
                                 shape=(x.shape[0] * self.ranks,) + x.shape[1:]))

    def reduce_scatter(self, x):
        return self.wait(self.op("_c10d_functional.reduce_scatter_tensor.default", x, "sum", self.ranks, "tp",
                                 shape=(x.shape[0] // self.ranks,) + x.shape[1:]))

    def causal_softmax(self, scores, heads, function):
        """scores: [batch * heads, s, s]; masked, normalised."""
        n, s, _ = scores.shape
        self.at("scores = scores.view(", function)
        scores = self.view(scores, n // heads, heads, s, s)
        self.at("torch.arange(", function)
        position = self.op("aten.arange.default", s, shape=(s,), dtype="i64")
        self.at("future = ", function)
        row = self.op("aten.unsqueeze.default", position, 1, shape=(s, 1), dtype="i64")
        column = self.op("aten.unsqueeze.default", position, 0, shape=(1, s), dtype="i64")
        past = self.op("aten.ge.Tensor", row, column, shape=(s, s), dtype="b8")
        future = self.op("aten.bitwise_not.default", past, shape=(s, s), dtype="b8")
        self.at("masked_fill", function)
        scores = self.op("aten.masked_fill.Scalar", scores, future, -10000.0, shape=scores.shape)
        self.at("torch.softmax", function)
        return self.softmax(scores)

    def text(self):
        groups = {"tp": list(range(self.ranks))} if self.ranks > 1 else {}
        head = [("format", "entangle-graph"), ("version", 1), ("name", f"{self.folder}/{self.function}"), ("rank", self.rank),
                ("world_size", self.ranks), ("source", "pytorch"), ("groups", groups), ("inputs", self.inputs), ("outputs", self.outputs)]
        lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in head)
        nodes = ",\n".join("  " + json.dumps(n) for n in self.nodes)
        return "{" + lines[1:] + ',\n "nodes": [\n' + nodes + "\n ]}\n"


# -------------------------------------------------------------------------------------------------------------- manifests

class Pieces:
    """A sequential input put together along one axis from pieces (rank, begin, end) of a distributed one."""

    def __init__(self, axis, pieces):
        self.axis, self.pieces = axis, pieces

    def manifest(self, name):
        parts = ", ".join(f"slice(r{r}.{name}; {self.axis}, {a}, {b})" for r, a, b in self.pieces)
        return f'"concat({parts}; {self.axis})"'


class Example:
    """One manifest with its graphs. `fails_at` is None where the distributed program is right, else the sequential tensors at
    which a report may see the two programs part ways: the first that has no clean relation, and some after it that a report might
    name instead."""

    def __init__(self, folder, name, about, sequential, ranks, inputs, expect, fails_at=None, rules="aten.rules"):
        self.folder, self.name, self.about, self.ranks = folder, name, about, ranks
        self.sequential, self.inputs, self.expect, self.fails_at, self.rules = sequential, inputs, expect, fails_at, rules
        self.programs = name  # the folder of the ranks' graphs

    def manifest(self):
        outcome = "refines" if self.fails_at is None else f"does not refine; the programs part ways at {self.fails_at[0]}"
        lines = [f"# {self.about}", f"# Expected: {outcome}.", f"sequential: graphs/{self.sequential}.json",
                 f"distributed: graphs/{self.programs}/r{{rank}}.json", f"ranks: {self.ranks}", f"rules: [{self.rules}]", "inputs:"]
        lines += [f"  {name}: {p.manifest(name) if isinstance(p, Pieces) else p}" for name, p in self.inputs.items()]
        lines += ["expect:"] + [f"  {name}: {p}" for name, p in self.expect.items()]
        return "\n".join(lines) + "\n"


class Collection:
    """All examples and the files they consist of."""

    def __init__(self):
        self.examples, self.files = [], {}

    def program(self, name, build, folder, *args, rank=0, ranks=1):
        p = build(folder, *args, rank=rank, ranks=ranks)
        self.files[f"{folder}/graphs/{name}.json"] = p.text()

    def example(self, example):
        self.examples.append(example)
        self.files[f"{example.folder}/{example.name}.yaml"] = example.manifest()


# --------------------------------------------------------------------------------------------------------------- the MLP

BATCH, SEQUENCE, HIDDEN, INNER, HEADS = 3, 36, 40, 112, 8


def mlp(folder, function, rank, ranks):
    p = Program(folder, function, rank, ranks)
    n = INNER // ranks
    x = p.input("x", BATCH, SEQUENCE, HIDDEN)
    w1, b1 = p.input("w1", n, HIDDEN), p.input("b1", INNER)
    w2, b2 = p.input("w2", HIDDEN, n), p.input("b2", HIDDEN)
    p.at("h = F.linear(x, w1")
    if function != "sequential":
        b1 = p.slice(b1, 0, *((0, n) if function == "wrong_slice" else (rank * n, rank * n + n)))
    h = p.linear(x, w1, b1)
    p.at("F.gelu")
    h = p.gelu(h)
    p.at("F.linear(h, w2")
    y = p.linear(h, w2, b2 if function in ("sequential", "bias_on_every_rank") else None)
    if function not in ("sequential", "no_all_reduce"):
        p.at("all_reduce(y")
        y = p.all_reduce(y)
    if function not in ("sequential", "bias_on_every_rank"):
        p.at("y + b2")
        y = p.add(y, b2)
    p.output(y, "y")
    return p


def add_mlp(c):
    c.program("sequential", mlp, "mlp", "sequential")
    for ranks in (2, 4):
        for function, about, fails_at in (
                ("tensor_parallel", "A feed-forward block, tensor parallel over {} ranks.", None),
                ("no_all_reduce", "Wrong: the all-reduce after the second matrix product is missing.", ["addmm_1", "y"]),
                ("bias_on_every_rank", "Wrong: the second bias is added on every rank before the sum, so it counts {} times.", ["addmm_1", "y"]),
                ("wrong_slice", "Wrong: every rank takes the first part of the first bias.", ["addmm", "view_1", "gelu"])):
            name = f"tp{ranks}" + ("" if fails_at is None else f"_{function}")
            for rank in range(ranks):
                c.program(f"{name}/r{rank}", mlp, "mlp", function, rank=rank, ranks=ranks)
            inputs = {"x": "Replicate", "w1": "Shard(0)", "b1": "Replicate", "w2": "Shard(1)", "b2": "Replicate"}
            c.example(Example("mlp", name, about.format(ranks), "sequential", ranks, inputs, {"y": "Replicate"}, fails_at))


# ---------------------------------------------------------------------------------------------------------- the attention

def attention(folder, function, rank, ranks):
    p = Program(folder, function, rank, ranks)
    heads, e, d = HEADS // ranks, HIDDEN // ranks, HIDDEN // HEADS
    x = p.input("x", BATCH, SEQUENCE, HIDDEN)
    weights = [p.input(w, e, HIDDEN) for w in ("wq", "wk", "wv")]
    wo, bo = p.input("wo", HIDDEN, e), p.input("bo", HIDDEN)
    p.at("q, k, v = F.linear")
    qkv = [p.linear(x, w) for w in weights]
    if "fused" in function:
        for i, name in enumerate("qkv"):
            p.at(f"{name} = {name}.view(", "fused_attention")
            qkv[i] = p.transpose(p.view(qkv[i], BATCH, SEQUENCE, heads, d), 1, 2)
        p.at("scaled_dot_product", "fused_attention")
        a = p.op("aten.scaled_dot_product_attention.default", *qkv, None, 0.0, True, shape=qkv[0].shape)
        p.at("return", "fused_attention")
        a = p.view(p.clone(p.transpose(a, 1, 2)), BATCH, SEQUENCE, e)
    else:
        for i, name in enumerate("qkv"):
            p.at(f"{name} = {name}.view(", "attention")
            split = p.transpose(p.view(qkv[i], BATCH, SEQUENCE, heads, d), 1, 2)
            qkv[i] = p.view(p.clone(split), BATCH * heads, SEQUENCE, d)
        q, k, v = qkv
        p.at("scores = torch.bmm", "attention")
        scores = p.bmm(q, p.transpose(k, 1, 2))
        scores = p.op("aten.mul.Tensor", scores, (e if function == "wrong_scale" else d) ** -0.5, shape=scores.shape)
        a = p.causal_softmax(scores, heads, "attention")
        p.at("out = torch.bmm", "attention")
        a = p.bmm(p.view(a, BATCH * heads, SEQUENCE, SEQUENCE), v)
        p.at("return", "attention")
        a = p.transpose(p.view(a, BATCH, heads, SEQUENCE, d), 1, 2)
        a = p.view(p.clone(a), BATCH, SEQUENCE, e)
    p.at("F.linear(a, wo")
    whole_bias = function.startswith("sequential") or function == "bias_on_every_rank"
    y = p.linear(a, wo, bo if whole_bias else None)
    if not function.startswith("sequential") and function != "no_all_reduce":
        p.at("all_reduce(y")
        y = p.all_reduce(y)
    if not whole_bias:
        p.at("y + bo")
        y = p.add(y, bo)
    p.output(y, "y")
    return p


def add_attention(c):
    c.program("sequential", attention, "attention", "sequential")
    c.program("sequential_fused", attention, "attention", "sequential_fused")
    for ranks in (2, 4):
        for function, suffix, about, fails_at in (
                ("tensor_parallel", "", "Causal attention, {} ranks with some of the heads each.", None),
                ("no_all_reduce", "_no_all_reduce", "Wrong: the all-reduce after the output projection is missing.", ["addmm", "y"]),
                ("bias_on_every_rank", "_bias_on_every_rank",
                 "Wrong: the bias of the output projection is added on every rank before the sum, so it counts {} times.", ["addmm", "y"]),
                ("wrong_scale", "_wrong_scale", "Wrong: the scores are scaled by the width that a rank has, not by that of a head.",
                 ["mul", "view_12", "masked_fill", "_softmax"]),
                ("tensor_parallel_fused", "_fused", "Causal attention with the fused operator, {} ranks with some of the heads each.", None)):
            name = f"tp{ranks}{suffix}"
            for rank in range(ranks):
                c.program(f"{name}/r{rank}", attention, "attention", function, rank=rank, ranks=ranks)
            inputs = {"x": "Replicate", "wq": "Shard(0)", "wk": "Shard(0)", "wv": "Shard(0)", "wo": "Shard(1)", "bo": "Replicate"}
            sequential = "sequential_fused" if suffix == "_fused" else "sequential"
            c.example(Example("attention", name, about.format(ranks), sequential, ranks, inputs, {"y": "Replicate"}, fails_at))


# ------------------------------------------------------------------------------------------------------- the decoder block

def transformer(folder, function, rank, ranks):
    p = Program(folder, function, rank, ranks)
    s, b, heads, e, d, inner = SEQUENCE, BATCH, HEADS // ranks, HIDDEN // ranks, HIDDEN // HEADS, INNER // ranks
    scattered = function in ("sequence_parallel", "scatter_without_reduce")
    own = s // ranks if scattered else s
    x = p.input("x", own, b, HIDDEN)
    n1, c1 = p.input("n1", HIDDEN), p.input("c1", HIDDEN)
    wqkv, bqkv = p.input("wqkv", 3 * e, HIDDEN), p.input("bqkv", 3 * e)
    wo, bo = p.input("wo", HIDDEN, e), p.input("bo", HIDDEN)
    n2, c2 = p.input("n2", HIDDEN), p.input("c2", HIDDEN)
    w1, b1 = p.input("w1", inner, HIDDEN), p.input("b1", inner)
    w2, b2 = p.input("w2", HIDDEN, inner), p.input("b2", HIDDEN)

    def joined(h, w, bias, half):
        """The second linear layer of a half of the block, joined over the ranks, bias included."""
        if function == "sequential":
            return p.linear(h, w, bias)
        y = p.linear(h, w)
        if half == "attention" and function == "scatter_without_reduce":
            y = p.slice(y, 0, rank * own, rank * own + own)
        elif scattered:
            y = p.reduce_scatter(y)
        elif half == "attention" or function != "no_all_reduce":
            y = p.all_reduce(y)
        return p.add(y, bias)

    def gathered(h, which):
        if not scattered:
            return h
        start = p.line  # the line of the norm; its gather is on the next one
        assert "all_gather_tensor" in p.source[start], which
        p.line = start + 1
        return p.all_gather(h)

    p.at("layer_norm(x, n1")
    h = gathered(p.layer_norm(x, n1, c1), "first")
    p.at("F.linear(h, wqkv")
    qkv = p.linear(h, wqkv, bqkv)
    p.at("qkv.split", "attention")
    qkv = p.several("aten.split.Tensor", qkv, e, -1, shapes=[(s, b, e)] * 3, pick=[0, 1, 2])
    for i, name in enumerate("qkv"):
        p.at(f"{name} = {name}.reshape(", "attention")
        qkv[i] = p.transpose(p.view(p.clone(qkv[i]), s, b * heads, d), 0, 1)
    q, k, v = qkv
    p.at("scores = torch.bmm", "attention")
    scores = p.bmm(q, p.transpose(k, 1, 2))
    scores = p.op("aten.mul.Tensor", scores, d ** -0.5, shape=scores.shape)
    a = p.causal_softmax(scores, heads, "attention")
    p.at("out = torch.bmm", "attention")
    a = p.bmm(p.view(a, b * heads, s, s), v)
    p.at("return", "attention")
    a = p.view(p.clone(p.transpose(a, 0, 1)), s, b, e)
    p.at("F.linear(a, wo")
    x = p.add(x, joined(a, wo, bo, "attention"))
    p.at("layer_norm(x, n2")
    h = gathered(p.layer_norm(x, n2, c2), "second")
    p.at("F.gelu(F.linear(h, w1")
    h = p.gelu(p.linear(h, w1, b1))
    p.at("F.linear(h, w2")
    y = p.add(x, joined(h, w2, b2, "feed-forward"))
    p.output(y, "y")
    return p


def add_transformer(c):
    c.program("sequential", transformer, "transformer", "sequential")
    for ranks in (2, 4):
        e = HIDDEN // ranks
        qkv = Pieces(0, [(r, i * e, i * e + e) for i in range(3) for r in range(ranks)])
        inputs = {"x": "Replicate", "n1": "Replicate", "c1": "Replicate", "wqkv": qkv, "bqkv": qkv, "wo": "Shard(1)", "bo": "Replicate",
                  "n2": "Replicate", "c2": "Replicate", "w1": "Shard(0)", "b1": "Shard(0)", "w2": "Shard(1)", "b2": "Replicate"}
        split = dict(inputs, x="Shard(0)")
        for function, name, about, inputs, expect, fails_at in (
                ("tensor_parallel", f"tp{ranks}", f"A decoder block, tensor parallel over {ranks} ranks.", inputs, "Replicate", None),
                ("no_all_reduce", f"tp{ranks}_no_all_reduce", "Wrong: the all-reduce of the feed-forward half is missing.",
                 inputs, "Replicate", ["addmm_3", "view_13", "y"]),
                ("sequence_parallel", f"sp{ranks}", f"A decoder block, tensor and sequence parallel over {ranks} ranks.",
                 split, "Shard(0)", None),
                ("scatter_without_reduce", f"sp{ranks}_scatter_without_reduce",
                 "Wrong: after the attention every rank cuts its part out of its own share instead of out of the sum.",
                 split, "Shard(0)", ["addmm_1", "view_9", "add", "native_layer_norm_1"])):
            for rank in range(ranks):
                c.program(f"{name}/r{rank}", transformer, "transformer", function, rank=rank, ranks=ranks)
            c.example(Example("transformer", name, about, "sequential", ranks, inputs, {"y": expect}, fails_at))
            if function == "tensor_parallel":
                layout = dict(inputs, wqkv="Shard(0)", bqkv="Shard(0)")
                wrong = Example("transformer", f"{name}_wrong_qkv_layout",
                                "Wrong: the fused weight was cut into contiguous blocks of rows when it was loaded; the program is that of "
                                f"{name}.yaml.", "sequential", ranks, layout, {"y": expect}, ["bmm", "mul", "addmm_1"])
                wrong.programs = name
                c.example(wrong)


# --------------------------------------------------------------------------------------------------- an operator of one's own

def custom_operator(folder, function, rank, ranks):
    p = Program(folder, function, rank, ranks)
    tokens = 24 // ranks if function == "by_tokens" else 24
    inner = 112 // ranks if function == "by_columns" else 112
    x, w, v = p.input("x", tokens, 40), p.input("w", inner, 40), p.input("v", 16, inner)
    p.at("h = F.linear(x, w)")
    h = p.linear(x, w)
    p.at("squash(h")
    h = p.op("mylib.squash.default", h, 0.5, shape=h.shape)
    p.at("F.linear(h, v)")
    y = p.linear(h, v)
    if function == "by_tokens":
        p.at("all_gather")
        y = p.all_gather(y)
    elif function == "by_columns":
        p.at("all_reduce")
        y = p.all_reduce(y)
    p.output(y, "y")
    return p


def add_custom_operator(c):
    c.program("sequential", custom_operator, "custom_operator", "sequential")
    for function, about, inputs, fails_at in (
            ("by_tokens", "An operator of one's own that works row by row, with the tokens spread over two ranks.",
             {"x": "Shard(0)", "w": "Replicate", "v": "Replicate"}, None),
            ("by_columns", "Wrong: the operator needs whole rows, but every rank has only some of the columns.",
             {"x": "Replicate", "w": "Shard(0)", "v": "Shard(1)"}, ["squash"])):
        for rank in range(2):
            c.program(f"{function}/r{rank}", custom_operator, "custom_operator", function, rank=rank, ranks=2)
        c.example(Example("custom_operator", function, about, "sequential", 2, inputs, {"y": "Replicate"}, fails_at, rules="squash.rules"))


# ------------------------------------------------------------------------------------------------------------------- main

def collection():
    c = Collection()
    add_mlp(c)
    add_attention(c)
    add_transformer(c)
    add_custom_operator(c)
    return c


def generated_on_disk():
    return {str(p.relative_to(HERE)) for folder in HERE.iterdir() if (folder / "graphs").is_dir()
            for p in [*folder.glob("*.yaml"), *folder.glob("graphs/**/*.json")]}


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    files = collection().files
    if arguments:
        wrong = [f"{name}: differs" if (HERE / name).exists() else f"{name}: missing" for name, text in sorted(files.items())
                 if not (HERE / name).exists() or (HERE / name).read_bytes() != text.encode()]
        wrong += [f"{name}: not made by make.py" for name in sorted(generated_on_disk() - set(files))]
        print("\n".join(wrong) if wrong else f"{len(files)} files are as make.py writes them")
        return 1 if wrong else 0
    for name in sorted(generated_on_disk() - set(files)):
        (HERE / name).unlink()
    for name, text in files.items():
        path = HERE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    print(f"wrote {len(files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
