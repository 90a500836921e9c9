"""Runs graphs in the format of docs (entangle-graph, version 1) on numbers: the few operators the examples use, in plain Python.

A tensor is (shape, list of its elements in row-major order). All ranks are run together, one node of each at a time, so that
collectives see every operand; the ranks' graphs must therefore have the same operators in the same order.
"""
import itertools
import math


def size(shape):
    return math.prod(shape)


def strides(shape):
    return [math.prod(shape[i + 1:]) for i in range(len(shape))]


def gather_by(shape, index, source):
    """The tensor of `shape` whose element at i is source's element at flat place index(i)."""
    return tuple(shape), [source[1][index(i)] for i in itertools.product(*map(range, shape))]


def permute(x, order):
    step = [strides(x[0])[a] for a in order]
    return gather_by([x[0][a] for a in order], lambda i: sum(map(int.__mul__, i, step)), x)


def cut(x, dim, begin, end):
    dim %= len(x[0])
    step = strides(x[0])
    shape = list(x[0])
    shape[dim] = end - begin
    return gather_by(shape, lambda i: sum(map(int.__mul__, i, step)) + begin * step[dim], x)


def join(xs, dim):
    dim %= len(xs[0][0])
    outer, rows = size(xs[0][0][:dim]), [size(x[0][dim:]) for x in xs]
    elements = [e for o in range(outer) for x, n in zip(xs, rows) for e in x[1][o * n:(o + 1) * n]]
    return tuple(xs[0][0][:dim]) + (sum(x[0][dim] for x in xs),) + tuple(xs[0][0][dim + 1:]), elements


def expand(x, shape):
    """Broadcasting to `shape`, trailing axes aligned."""
    own = (1,) * (len(shape) - len(x[0])) + tuple(x[0])
    if own == tuple(shape):
        return tuple(shape), x[1]
    step = [0 if n == 1 else s for n, s in zip(own, strides(own))]
    return gather_by(shape, lambda i: sum(map(int.__mul__, i, step)), x)


def together(f, *xs):
    """f on each position, after broadcasting; numbers are tensors without axes."""
    xs = [x if isinstance(x, tuple) else ((), [x]) for x in xs]
    shape = tuple(max(ns, key=lambda n: (n != 1, n)) for ns in
                  reversed(list(itertools.zip_longest(*(reversed(x[0]) for x in xs), fillvalue=1))))
    return shape, [f(*es) for es in zip(*(expand(x, shape)[1] for x in xs))]


def product(x, y):
    """Matrix product over the last two axes; the others are equal."""
    (*lead, n, k), m = x[0], y[0][-1]
    assert tuple(lead) + (k,) == tuple(y[0][:-1]), (x[0], y[0])
    out = []
    for b in range(size(lead)):
        columns = [y[1][b * k * m + j:(b + 1) * k * m:m] for j in range(m)]
        for i in range(n):
            row = x[1][(b * n + i) * k:(b * n + i + 1) * k]
            out += [math.fsum(map(float.__mul__, row, column)) for column in columns]
    return (*lead, n, m), out


def rows_of(x):
    n = x[0][-1]
    return [x[1][i:i + n] for i in range(0, len(x[1]), n)]


def softmax(x):
    out = []
    for row in rows_of(x):
        top = max(row)
        powers = [math.exp(e - top) for e in row]
        total = math.fsum(powers)
        out += [p / total for p in powers]
    return x[0], out


def layer_norm(x, shape, w, b, eps):
    assert list(shape) == [x[0][-1]]
    out, means, scales = [], [], []
    for row in rows_of(x):
        mean = math.fsum(row) / len(row)
        scale = 1 / math.sqrt(math.fsum((e - mean) ** 2 for e in row) / len(row) + eps)
        out += [(e - mean) * scale * wi + bi for e, wi, bi in zip(row, w[1], b[1])]
        means.append(mean)
        scales.append(scale)
    stats = (*x[0][:-1], 1)
    return [(x[0], out), (stats, means), (stats, scales)]


def squash(x, alpha):
    out = []
    for row in rows_of(x):
        length = math.sqrt(math.fsum(e * e for e in row))
        out += [e / (alpha + length) for e in row]
    return x[0], out


def causal_attention(q, k, v, mask, dropout, causal):
    assert mask is None and dropout == 0.0 and causal
    scale, n = q[0][-1] ** -0.5, q[0][-2]
    scores = product(q, permute(k, [*range(len(k[0]) - 2), len(k[0]) - 1, len(k[0]) - 2]))
    scores = together(lambda s, i, j: s * scale if i >= j else -math.inf, scores, ((n, 1), list(range(n))), ((1, n), list(range(n))))
    return product(softmax(scores), v)


def swapped(x, a, b):
    order = list(range(len(x[0])))
    order[a], order[b] = order[b], order[a]
    return permute(x, order)


def view(x, shape):
    assert size(shape) == len(x[1])
    return tuple(shape), x[1]


def unsqueeze(x, dim):
    return (*x[0][:dim], 1, *x[0][dim:]), x[1]


def add(*xs):
    return together(lambda *es: math.fsum(es), *xs)


LOCAL = {
    "aten.t.default": lambda x: permute(x, [1, 0]),
    "aten.view.default": view,
    "aten.transpose.int": swapped,
    "aten.clone.default": lambda x: x,
    "aten.slice.Tensor": cut,
    "aten.split.Tensor": lambda x, n, dim: [cut(x, dim, i, i + n) for i in range(0, x[0][dim], n)],
    "operator.getitem": lambda xs, i: xs[i],
    "aten.add.Tensor": add,
    "aten.mul.Tensor": lambda x, y: together(lambda a, b: a * b, x, y),
    "aten.mm.default": product,
    "aten.bmm.default": product,
    "aten.addmm.default": lambda b, x, y: add(b, product(x, y)),
    "aten.gelu.default": lambda x: together(lambda e: 0.5 * e * (1 + math.erf(e / math.sqrt(2))), x),
    "aten._softmax.default": lambda x, dim, _: softmax(x),
    "aten.native_layer_norm.default": layer_norm,
    "aten.arange.default": lambda n: ((n,), list(range(n))),
    "aten.unsqueeze.default": unsqueeze,
    "aten.ge.Tensor": lambda x, y: together(lambda a, b: a >= b, x, y),
    "aten.bitwise_not.default": lambda x: together(lambda e: not e, x),
    "aten.masked_fill.Scalar": lambda x, m, value: together(lambda e, hit: value if hit else e, x, m),
    "aten.scaled_dot_product_attention.default": causal_attention,
    "mylib.squash.default": squash,
    "_c10d_functional.wait_tensor.default": lambda x: x,
}


def all_reduce(xs, kind, group):
    assert kind == "sum"
    return [add(*xs)] * len(xs)


def all_gather(xs, count, group):
    assert count == len(xs)
    return [join(xs, 0)] * len(xs)


def reduce_scatter(xs, kind, count, group):
    assert kind == "sum" and count == len(xs)
    n = xs[0][0][0] // count
    return [cut(add(*xs), 0, r * n, r * n + n) for r in range(count)]


COLLECTIVE = {
    "_c10d_functional.all_reduce.default": all_reduce,
    "_c10d_functional.all_gather_into_tensor.default": all_gather,
    "_c10d_functional.reduce_scatter_tensor.default": reduce_scatter,
}


def shapes(value):
    return [list(v[0]) for v in value] if isinstance(value, list) else list(value[0])


def run(graphs, inputs):
    """graphs: one per rank; inputs: per rank a dict by name. Returns per rank all values by name."""
    values = [{} for _ in graphs]
    for nodes in zip(*(g["nodes"] for g in graphs), strict=True):
        op = nodes[0]["op"]
        assert all(n["op"] == op for n in nodes), [n["op"] for n in nodes]

        def decode(rank, a):
            if isinstance(a, dict):
                return values[rank][a["ref"]]
            return [decode(rank, e) for e in a] if isinstance(a, list) else a

        arguments = [[decode(r, a) for a in n.get("args", [])] for r, n in enumerate(nodes)]
        if op == "placeholder":
            results = [inputs[r][n["name"]] for r, n in enumerate(nodes)]
        elif op in COLLECTIVE:
            results = COLLECTIVE[op]([a[0] for a in arguments], *arguments[0][1:])
        else:
            results = [LOCAL[op](*a) for a in arguments]
        for rank, (node, result) in enumerate(zip(nodes, results)):
            assert shapes(result) == node["shape"], f"{node['name']} ({op}): recorded {node['shape']}, computed {shapes(result)}"
            values[rank][node["name"]] = result
    return values
