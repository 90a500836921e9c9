"""Runs cases on random numbers: does the manifest's expectation hold?

Tensors and most operators are those of tests/examples/evaluate.py; here are further operators, symbolic sizes, and ranks that run
different programs and meet at collectives, sends and receives.
"""
import collections
import itertools
import json
import math
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "examples"))
try:
    import evaluate  # noqa: E402
    from evaluate import cut, expand, join, permute, product, size, swapped, together, view
except ImportError as error:
    raise SystemExit("--check and --list-breaks need the source tree: tests/examples/evaluate.py was not found") from error

TOLERANCE = 1e-9
UNUSED = object()  # a result that no program looks at


class Undefined(Exception):
    """The program has no result: a look-up out of range, or ranks that wait for each other for ever."""


# ------------------------------------------------------------------------------------------------------------------ operators

def along_last(f):
    """f works on the last axis of its operand; this works on any."""
    def on_axis(x, dim, *more):
        dim %= len(x[0])
        return swapped(f(swapped(x, dim, len(x[0]) - 1), *more), dim, len(x[0]) - 1)
    return on_axis


def by_row(f):
    """f maps a row to a row of the same length."""
    def on_rows(x, *more):
        return x[0], [e for row in evaluate.rows_of(x) for e in f(row)]
    return along_last(on_rows)


def log_softmax(row):
    top = max(row)
    shift = top + math.log(math.fsum(math.exp(e - top) for e in row))
    return [e - shift for e in row]


def reduced(x, dims, f):
    """f of the elements along `dims`, which become 1."""
    dims = [d % len(x[0]) for d in dims]
    kept = [d for d in range(len(x[0])) if d not in dims]
    flat = permute(x, kept + dims)
    n = math.prod(x[0][d] for d in dims)
    return tuple(1 if d in dims else k for d, k in enumerate(x[0])), [f(flat[1][i:i + n]) for i in range(0, len(flat[1]), n)]


def reduction(f):
    def reduce(x, dims=None, keepdim=False):
        dims = list(range(len(x[0]))) if dims is None else [dims] if isinstance(dims, int) else dims
        shape, elements = reduced(x, dims, f)
        gone = {d % len(x[0]) for d in dims}
        return (shape if keepdim else tuple(n for d, n in enumerate(shape) if d not in gone)), elements
    return reduce


def mean(elements):
    return math.fsum(elements) / len(elements)


def rows_at(table, index):
    n, width = table[0]
    if any(not 0 <= i < n for i in index[1]):
        raise Undefined(f"look-up of a row outside 0..{n - 1}")
    return (*index[0], width), [e for i in index[1] for e in table[1][i * width:(i + 1) * width]]


def gather(x, dim, index):
    assert dim % len(x[0]) == len(x[0]) - 1 and index[0][-1] == 1
    n = x[0][-1]
    if any(not 0 <= i < n for i in index[1]):
        raise Undefined(f"look-up of an entry outside 0..{n - 1}")
    return index[0], [row[i] for row, i in zip(evaluate.rows_of(x), index[1])]


def attention(q, k, v, mask, dropout, causal, scale=None):
    assert dropout == 0.0
    rows, keys = q[0][-2], k[0][-2]
    scale = q[0][-1] ** -0.5 if scale is None else scale
    if causal:
        mask = (rows, keys), [i >= j for i in range(rows) for j in range(keys)]
    scores = together(lambda s: s * scale, product(q, swapped(k, len(k[0]) - 2, len(k[0]) - 1)))
    if mask is not None:
        scores = together(lambda s, seen: s if seen else -math.inf, scores, mask)
    return product(evaluate.softmax(scores), v)


def flash(q, k, v, dropout, causal, scale=None):
    return [attention(q, k, v, None, dropout, causal, scale)] + [UNUSED] * 8


def topk(x, k):
    best = [sorted(range(len(row)), key=lambda i, row=row: -row[i])[:k] for row in evaluate.rows_of(x)]
    shape = (*x[0][:-1], k)
    return [(shape, [row[i] for row, order in zip(evaluate.rows_of(x), best) for i in order]), (shape, [i for b in best for i in b])]


def gelu_slope(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2))) + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def pieces(x, n, dim):
    return [cut(x, dim, i, i + n) for i in range(0, x[0][dim], n)]


def elementwise(f):
    return lambda *xs: together(f, *xs)


LOCAL = {
    **evaluate.LOCAL,
    "aten.add.Tensor": elementwise(lambda a, b: a + b),
    "aten.sub.Tensor": elementwise(lambda a, b: a - b),
    "aten.div.Tensor": elementwise(lambda a, b: a / b),
    "aten.neg.default": elementwise(lambda a: -a),
    "aten.exp.default": elementwise(math.exp),
    "aten.log.default": elementwise(math.log),
    "aten.rsqrt.default": elementwise(lambda a: a ** -0.5),
    "aten.relu.default": elementwise(lambda a: max(a, 0.0)),
    "aten.sigmoid.default": elementwise(lambda a: 1 / (1 + math.exp(-a))),
    "aten.silu.default": elementwise(lambda a: a / (1 + math.exp(-a))),
    "aten.pow.Tensor_Scalar": elementwise(lambda a, n: a ** n),
    "aten.threshold_backward.default": elementwise(lambda g, a, t: g if a > t else 0.0),
    "aten.gelu_backward.default": elementwise(lambda g, a: g * gelu_slope(a)),
    "aten.lt.Scalar": elementwise(lambda a, b: a < b),
    "aten.lt.Tensor": elementwise(lambda a, b: a < b),
    "aten.ge.Scalar": elementwise(lambda a, b: a >= b),
    "aten.eq.Scalar": elementwise(lambda a, b: a == b),
    "aten.eq.Tensor": elementwise(lambda a, b: a == b),
    "aten.logical_or.default": elementwise(lambda a, b: a or b),
    "aten.logical_not.default": elementwise(lambda a: not a),
    "aten._to_copy.default": lambda x, dtype: (x[0], [int(e) if dtype[0] == "i" else float(e) for e in x[1]]),
    "aten._softmax.default": lambda x, dim, half: along_last(evaluate.softmax)(x, dim),
    "aten._log_softmax.default": lambda x, dim, half: by_row(log_softmax)(x, dim),
    "aten.cumsum.default": by_row(lambda row: list(itertools.accumulate(row))),
    "aten.argmax.default": reduction(lambda row: row.index(max(row))),
    "aten.amax.default": reduction(max),
    "aten.mean.dim": reduction(mean),
    "aten.mean.default": reduction(mean),
    "aten.sum.dim_IntList": reduction(math.fsum),
    "aten.sum.default": reduction(math.fsum),
    "aten.topk.default": topk,
    "aten.permute.default": permute,
    "aten.expand.default": expand,
    "aten.cat.default": lambda xs, dim: join(xs, dim),
    "aten.split.Tensor": pieces,
    "aten.unsqueeze.default": lambda x, dim: view(x, (*x[0][:dim], 1, *x[0][dim:])),
    "aten.squeeze.dim": lambda x, dim: view(x, (*x[0][:dim], *x[0][dim + 1:])),
    "aten.arange.start": lambda a, b: ((b - a,), list(range(a, b))),
    "aten.embedding.default": rows_at,
    "aten.gather.default": gather,
    "aten.scaled_dot_product_attention.default": attention,
    "aten._scaled_dot_product_flash_attention.default": flash,
    "aten.sym_size.int": lambda x, dim: x[0][dim],
    "operator.add": lambda a, b: a + b,
    "operator.mul": lambda a, b: a * b,
    "operator.floordiv": lambda a, b: a // b,
}


def all_reduce(xs, kind, *_):
    f = {"sum": math.fsum, "avg": mean, "max": max}[kind]
    return [together(lambda *es: f(es), *xs)] * len(xs)


def all_gather(xs, *_):
    return [join(xs, 0)] * len(xs)


def reduce_scatter(xs, kind, *_):
    return pieces(all_reduce(xs, kind)[0], xs[0][0][0] // len(xs), 0)


def all_to_all(xs, arguments):
    """`arguments`: of each rank, (rows from each, rows to each, group)."""
    sent = []
    for x, (_, give, _) in zip(xs, arguments):
        ends = [0, *itertools.accumulate(give)]
        sent.append([cut(x, 0, a, b) for a, b in zip(ends, ends[1:])])
    for r, (take, _, _) in enumerate(arguments):
        if [s[r][0][0] for s in sent] != take:
            raise Undefined("all_to_all: ranks disagree on the sizes")
    return [join([s[r] for s in sent], 0) for r in range(len(xs))]


COLLECTIVE = {"all_reduce": all_reduce, "all_gather_into_tensor": all_gather, "reduce_scatter_tensor": reduce_scatter}


# ---------------------------------------------------------------------------------------------------------------- execution

class Rank:
    """One graph on its way: the next node, and the values so far."""

    def __init__(self, graph, inputs):
        self.graph, self.nodes, self.at, self.values = graph, graph["nodes"], 0, {}
        self.inputs, self.symbols = inputs, {}

    def done(self):
        return self.at == len(self.nodes)

    def node(self):
        return self.nodes[self.at]

    def decode(self, a):
        if isinstance(a, dict):
            return self.values[a["ref"]]
        return [self.decode(e) for e in a] if isinstance(a, list) else a

    def arguments(self):
        return [self.decode(a) for a in self.node().get("args", [])]

    def finish(self, value):
        node = self.node()
        found, expected = shape_of(value), self.sizes(node["shape"])
        if isinstance(value, list):
            found = [e if v is UNUSED else f for v, f, e in zip(value, found, expected, strict=True)]
        if found != expected:
            raise AssertionError(f"{node['name']} ({node['op']}, {node.get('loc')}): recorded {expected}, computed {found}")
        self.values[node["name"]] = value
        self.at += 1

    def sizes(self, shape):
        if isinstance(shape, str):
            return eval(shape, {"__builtins__": {}}, self.symbols)  # a polynomial that this generator wrote
        return [self.sizes(n) for n in shape] if isinstance(shape, list) else shape

    def bind(self, shape, actual):
        """Sizes of an input say what its symbols are."""
        for written, n in zip(shape, actual):
            found = isinstance(written, str) and re.fullmatch(r"(?:(\d+)\*)?(\w+)", written)
            if found:
                self.symbols.setdefault(found.group(2), n // int(found.group(1) or 1))

    def local(self):
        """Runs up to the next communication."""
        while not self.done() and not communicates(self.node()):
            node = self.node()
            if node["op"] == "placeholder":
                value = self.inputs[node["name"]]
                self.bind(node["shape"], value[0])
            else:
                value = LOCAL[node["op"]](*self.arguments(), **{k: self.decode(v) for k, v in node["kwargs"].items()})
            self.finish(value)


def shape_of(value):
    if isinstance(value, list):
        return [shape_of(v) for v in value]
    return list(value[0]) if isinstance(value, tuple) else value if value is None else []


def communicates(node):
    return node["op"].startswith(("c10d.", "_c10d_functional.")) and node["op"] not in LOCAL


def group_of(rank):
    return rank.graph["groups"][rank.node()["args"][-1]]


def meet(ranks, members):
    """All members have come to the same collective."""
    operators = {ranks[m].node()["op"] for m in members}
    if len(operators) > 1:
        raise Undefined(f"ranks meet at different collectives: {sorted(operators)}")
    arguments = [ranks[m].arguments() for m in members]
    (op,) = operators
    if op.split(".")[1] == "all_to_all_single":
        results = all_to_all([a[0] for a in arguments], [a[1:] for a in arguments])
    else:
        results = COLLECTIVE[op.split(".")[1]]([a[0] for a in arguments], *arguments[0][1:])
    for m, result in zip(members, results):
        ranks[m].finish(result)


def transfer(ranks, number, messages):
    """A send or a receive; whether it could be done."""
    rank, node = ranks[number], ranks[number].node()
    tag = node["kwargs"]["tag"]
    if node["op"] == "c10d.send":
        x, to = rank.arguments()
        messages[number, to, tag].append(x)
        rank.finish(None)
        return True
    waiting = messages[node["args"][0], number, tag]
    if not waiting:
        return False
    value = waiting.popleft()
    rank.bind(node["shape"], value[0])
    if rank.sizes(node["shape"]) != list(value[0]):
        raise Undefined("a message has another shape than its receiver expects")
    rank.finish(value)
    return True


def advance(ranks, number, messages):
    """One communication of this rank, if it can be done now."""
    if ranks[number].node()["op"].startswith("c10d."):
        return transfer(ranks, number, messages)
    members = group_of(ranks[number])
    ready = all(not ranks[m].done() and not ranks[m].node()["op"].startswith("c10d.") and group_of(ranks[m]) == members for m in members)
    if ready:
        meet(ranks, members)
    return ready


def run(graphs, inputs):
    """All ranks together. Returns per rank the values by name."""
    ranks = [Rank(g, held) for g, held in zip(graphs, inputs)]
    messages = collections.defaultdict(collections.deque)
    while True:
        for rank in ranks:
            rank.local()
        open_ranks = [i for i, rank in enumerate(ranks) if not rank.done()]
        if not open_ranks:
            return [rank.values for rank in ranks]
        if not any([not ranks[i].done() and communicates(ranks[i].node()) and advance(ranks, i, messages) for i in open_ranks]):
            raise Undefined(f"ranks {open_ranks} wait for ever")


# --------------------------------------------------------------------------------------------------------------- comparison

class Result:
    """How far apart the programs are: the largest difference of an element, or why there is none."""

    def __init__(self, worst, reason=None):
        self.worst, self.reason = worst, reason
        self.differs = reason is not None or not worst <= TOLERANCE

    def __str__(self):
        return self.reason or ("agrees" if not self.differs else f"differs by {self.worst:.1e}")


def part(layout, rank, x):
    """What a rank holds of the tensor x."""
    for dim, ranges in layout.cuts(rank, x[0]):
        x = join([cut(x, dim, a, b) for a, b in ranges], dim)
    return x


def graph_of(program):
    return json.loads("".join(program.lines()))


class Reference:
    """The sequential program of a configuration, run once on random inputs."""

    def __init__(self, config):
        from .strategies import Case
        case = Case(config)
        graph = graph_of(case.program())
        source = random.Random(f"{config.strategy}")
        sizes = {"s0": config.batch, "s1": config.seq}
        self.inputs = {n["name"]: self.random(n, [sizes.get(k, k) for k in n["shape"]], case.ranges, source)
                       for n in graph["nodes"] if n["op"] == "placeholder"}
        self.values = run([graph], [self.inputs])[0]

    @staticmethod
    def random(node, shape, ranges, source):
        if node["dtype"] == "i64":  # neighbours differ, so that it matters who is where
            n = ranges[node["name"]]
            shuffles = (source.sample(range(n), n) for _ in range(size(shape) // n + 1))
            return tuple(shape), [i for shuffled in shuffles for i in shuffled][:size(shape)]
        scale = 1.2 * max(shape[-1], 1) ** -0.5 if len(shape) > 1 and node["name"] not in ("embedding", "x", "t") else 1.0
        return tuple(shape), [source.gauss(0, scale) for _ in range(size(shape))]

    def compare(self, case):
        programs = [case.program(rank) for rank in range(case.ranks)]
        assert case.breaks.kind is None or case.breaks.used
        held = [{name: part(layout, rank, self.inputs[name]) for name, layout in case.inputs.items() if layout.held(rank)}
                for rank in range(case.ranks)]
        try:
            values = run([graph_of(p) for p in programs], held)
        except Undefined as reason:
            return Result(math.inf, str(reason))
        worst = 0.0
        for name, layout in case.expected.items():
            for rank in range(case.ranks):
                if layout.held(rank):
                    worst = max(worst, difference(part(layout, rank, self.values[name]), values[rank][name]))
        return Result(worst)


def difference(x, y):
    assert x[0] == tuple(y[0]), (x[0], y[0])
    return max(abs(a - b) for a, b in zip(x[1], y[1]))
