"""Cases of frameworks/hlo: XLA's operators, by their definitions."""
import torch
import torch.nn.functional as F

from pointwise import bools, f32, f64, i64, ints, positive, real

WORLD = 2


def cases(s):
    layout(s)
    pointwise(s)
    look_ups(s)
    gathers(s)
    scatters(s)
    windows(s)
    collectives(s)


def hlo(s, name, /, *args, to, **kwargs):
    s.case(f"hlo.{name}", *args, reference=lambda: to, **kwargs)


def layout(s):
    x = real(2, 3, 4)
    y = real(3)
    hlo(s, "broadcast", y, [1], [2, 3, 4], to=y[None, :, None].expand(2, 3, 4))
    hlo(s, "broadcast", x, [0, 2, 1], [2, 4, 3], to=x.transpose(1, 2))
    hlo(s, "broadcast", 1.5, [], [2], to=torch.full((2,), 1.5))
    hlo(s, "reshape", x, [6, 4], to=x.reshape(6, 4))
    hlo(s, "bitcast", y, to=y.reshape(1, 3, 1))
    hlo(s, "transpose", x, [2, 0, 1], to=x.permute(2, 0, 1))
    hlo(s, "slice", x, [0, 1, 0], [2, 3, 4], [1, 1, 2], to=x[:, 1:, ::2])
    hlo(s, "concatenate", [x, x + 1], 1, to=torch.cat([x, x + 1], 1))
    hlo(s, "reverse", x, [0, 2], to=x.flip(0, 2))
    hlo(s, "copy", x, to=x)
    hlo(s, "convert", x, to=x.to(f32))
    hlo(s, "iota", 1, to=torch.arange(3)[None].expand(2, 3))
    z = real(2, 3)
    hlo(s, "pad", z, 0.5, [1, 0], [0, 2], [0, 0], to=F.pad(z, [0, 2, 1, 0], value=0.5))
    hlo(s, "pad", z, 0.5, [0, -1], [1, 1], [0, 0], to=F.pad(z, [-1, 1, 0, 1], value=0.5))
    spread = torch.zeros(3, 5, dtype=f64)
    spread[::2, ::2] = z
    hlo(s, "pad", z, 0.0, [0, 0], [0, 0], [1, 1], to=spread)
    hlo(s, "dynamic_slice", x, [0, 1, 2], [2, 1, 2], to=x[:, 1:2, 2:])
    hlo(s, "dynamic_slice", x, [5, -1, 3], [1, 3, 2], to=x[1:, :, 2:])  # starts are clamped
    u = real(2, 1, 2)
    w = x.clone()
    w[:, 1:2, 2:] = u
    hlo(s, "dynamic_update_slice", x, u, [0, 1, 2], to=w)
    starts = [torch.tensor(n) for n in (0, 1, 2)]
    hlo(s, "dynamic_slice", x, starts, [2, 1, 2], to=x[:, 1:2, 2:])
    hlo(s, "dynamic_slice", x, [torch.tensor(n) for n in (5, -1, 3)], [1, 3, 2], to=x[1:, :, 2:])
    hlo(s, "dynamic_update_slice", x, u, starts, to=w)
    hlo(s, "dynamic_update_slice", x, u, [torch.tensor(n) for n in (0, 1, 9)], to=w)
    for op in ("copy_start", "copy_done", "optimization_barrier"):
        hlo(s, op, x, to=x)
    narrow = x.to(f32)
    hlo(s, "reduce_precision", narrow, 8, 7, to=narrow)     # rounding is not modelled
    hlo(s, "reduce_precision", narrow, 5, 10, to=narrow)
    hlo(s, "reduce_precision", narrow, 8, 23, to=narrow)
    hlo(s, "round_nearest_afz", torch.tensor([0.5, 1.5, -0.5, -2.5, 0.2], dtype=f64), to=torch.tensor([1.0, 2, -1, -3, 0], dtype=f64))


def pointwise(s):
    a, b, p = real(3, 4), real(3, 4), positive(3, 4)
    i, j = ints(3, 4), ints(3, 4, low=1, high=5)
    m, n = bools(3, 4), bools(3, 4)
    for op, f in (("add", torch.add), ("subtract", torch.sub), ("multiply", torch.mul), ("maximum", torch.maximum), ("minimum", torch.minimum)):
        hlo(s, op, a, b, to=f(a, b))
        hlo(s, op, i, j, to=f(i, j))
    for op, f in (("multiply", torch.logical_and), ("add", torch.logical_or), ("maximum", torch.logical_or), ("minimum", torch.logical_and),
                  ("and", torch.logical_and), ("or", torch.logical_or), ("xor", torch.logical_xor)):
        hlo(s, op, m, n, to=f(m, n))
    hlo(s, "divide", a, p, to=a / p)
    hlo(s, "divide", i, j, to=torch.div(i, j, rounding_mode="trunc"))
    hlo(s, "divide", i, -j, to=torch.div(i, -j, rounding_mode="trunc"))
    hlo(s, "remainder", i, j, to=torch.fmod(i, j))
    hlo(s, "remainder", a, p, to=torch.fmod(a, p))
    for op, f in (("and", torch.bitwise_and), ("or", torch.bitwise_or), ("xor", torch.bitwise_xor)):
        hlo(s, op, j, j + 3, to=f(j, j + 3))
    hlo(s, "shift_left", j, j, to=torch.bitwise_left_shift(j, j))
    hlo(s, "shift_right_arithmetic", j * 8, j, to=torch.bitwise_right_shift(j * 8, j))
    hlo(s, "not", m, to=~m)
    hlo(s, "not", j, to=~j)
    for op, f, x in (("negate", torch.neg, a), ("abs", torch.abs, a), ("exponential", torch.exp, a), ("exponential_minus_one", torch.expm1, a),
                     ("log", torch.log, p), ("log_plus_one", torch.log1p, p), ("logistic", torch.sigmoid, a), ("tanh", torch.tanh, a),
                     ("sine", torch.sin, a), ("cosine", torch.cos, a), ("tan", torch.tan, a), ("sqrt", torch.sqrt, p), ("rsqrt", torch.rsqrt, p),
                     ("floor", torch.floor, a), ("ceil", torch.ceil, a), ("sign", torch.sign, a), ("round_nearest_even", torch.round, a * 3),
                     ("is_finite", torch.isfinite, a), ("erf", torch.erf, a)):
        hlo(s, op, x, to=f(x))
    hlo(s, "cbrt", p, to=p ** (1 / 3))
    hlo(s, "power", p, a, to=p ** a)
    hlo(s, "atan2", a, b, to=torch.atan2(a, b))
    hlo(s, "select", m, a, b, to=torch.where(m, a, b))
    for one in (True, False):  # one truth for all elements
        hlo(s, "select", torch.tensor(one), a, b, to=a if one else b)
    hlo(s, "clamp", torch.tensor(-0.5, dtype=f64), a, torch.tensor(0.5, dtype=f64), to=a.clamp(-0.5, 0.5))
    hlo(s, "clamp", a - 1, b, a + 1, to=torch.minimum(torch.maximum(b, a - 1), a + 1))
    for direction, f in (("GE", torch.ge), ("LE", torch.le), ("LT", torch.lt), ("GT", torch.gt), ("EQ", torch.eq), ("NE", torch.ne)):
        hlo(s, "compare", i, j, to=f(i, j), direction=direction)
        hlo(s, "compare", a, b, to=f(a, b), direction=direction)


def look_ups(s):
    x = real(2, 3, 4)
    hlo(s, "reduce_sum", x, 1, to=x.sum(1))
    hlo(s, "reduce_max", x, -1, to=x.amax(-1))
    hlo(s, "reduce_min", x, 0, to=x.amin(0))
    hlo(s, "reduce_product", x, 2, to=x.prod(2))
    m = bools(3, 4)
    hlo(s, "reduce_and", m, 1, to=m.all(1))
    hlo(s, "reduce_or", m, 0, to=m.any(0))
    y = real(4, 5)
    hlo(s, "dot", x, y, [2], [0], [], [], to=x @ y)
    z = real(2, 5, 3)
    hlo(s, "dot", x, z, [1], [2], [0], [0], to=torch.einsum("bik,bji->bkj", x, z))
    hlo(s, "dot", x, x, [1, 2], [1, 2], [], [], to=torch.einsum("aij,bij->ab", x, x))
    for op, f in (("reduce_sum", torch.sum), ("reduce_max", torch.amax), ("reduce_min", torch.amin)):
        hlo(s, op, x, [0, 2], to=f(x, (0, 2)))
    hlo(s, "reduce_product", x, [0, 2], to=x.prod(2).prod(0))
    hlo(s, "reduce_and", m, [0, 1], to=m.all())
    hlo(s, "reduce_or", m, [0, 1], to=m.any())
    u, v = real(2, 3), real(2, 4)
    hlo(s, "dot", u, v, [], [], [0], [0], to=torch.einsum("bi,bj->bij", u, v))
    hlo(s, "dot", u, v, [], [], [], [], to=torch.einsum("ai,bj->aibj", u, v))
    hlo(s, "cumsum", x, 1, to=x.cumsum(1))
    for direction in ("LT", "GT"):
        keys = torch.randperm(12).reshape(3, 4)
        order = keys.argsort(1, descending=direction == "GT")
        hlo(s, "sort", [keys], 1, direction, to=[keys.gather(1, order)])
        hlo(s, "sort", [keys, y[:3, :4]], 1, direction, True, to=[keys.gather(1, order), y[:3, :4].gather(1, order)])
    values, places = real(3, 5).sort(1, descending=True)
    shuffled = values.flip(1)
    hlo(s, "top_k", shuffled, 2, to=[values[:, :2], torch.tensor([[4, 3]]).expand(3, 2).to(torch.int32)])
    for op, found in (("argmax", shuffled.max(1)), ("argmin", shuffled.min(1))):
        hlo(s, op, shuffled, 1, to=[found.values, found.indices.to(torch.int32)])
    w = real(4)
    norm = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w
    hlo(s, "AwsNeuronRmsNorm", x, w, 1e-5, to=norm, dim=2)
    columns = real(3)
    norm = x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5) * columns[:, None]
    hlo(s, "AwsNeuronRmsNorm", x, columns, 1e-5, to=norm, dim=1)
    hlo(s, "AwsNeuronRmsNorm", x, columns, 1e-5, to=norm, backend_config=1)
    hlo(s, "AwsNeuronTransferWithStaticRing", x, to=x)


def gathers(s):
    table, index = real(6, 3), torch.tensor([[0, 5, 2], [9, -1, 4]])
    clamped = index.clamp(0, 5)
    hlo(s, "gather", table, index, [2], [0], [0], 2, [1, 3], to=table[clamped])
    hlo(s, "gather", table, index[:, :, None], [2], [0], [0], 2, [1, 3], to=table[clamped])
    hlo(s, "gather", table, torch.tensor([1, 0, 2]), [0], [1], [1], 1, [6, 1], to=table[:, [1, 0, 2]])

    def general(x, index, offsets, collapsed, where, vector, sizes):
        """By the definition: one window for each index vector."""
        vectors = index[..., None] if vector == index.dim() else index.movedim(vector, -1)
        batch = vectors.shape[:-1]
        windows = []
        for vector_ in vectors.reshape(-1, vectors.shape[-1]).tolist():
            start = [0] * x.dim()
            for d, i in zip(where, vector_):
                start[d] = max(0, min(i, x.shape[d] - sizes[d]))
            window = x[tuple(slice(a, a + n) for a, n in zip(start, sizes))]
            windows.append(window.reshape([n for d, n in enumerate(sizes) if d not in collapsed]))
        joined = torch.stack(windows).reshape(*batch, *windows[0].shape)
        others = [k for k in range(joined.dim()) if k not in offsets]
        place = {k: j for j, k in enumerate(others)} | {k: len(batch) + j for j, k in enumerate(offsets)}
        return joined.permute([place[k] for k in range(joined.dim())])
    x = real(5, 6, 4)
    pairs = ints(2, 3, 2, low=-1, high=6)
    for offsets, collapsed, where, vector, sizes, given in (
            ([2], [0, 1], [0, 1], 2, [1, 1, 4], pairs), ([0], [0, 1], [1, 0], 2, [1, 1, 3], pairs), ([2, 3], [1], [0, 1], 2, [2, 1, 4], pairs),
            ([1, 2, 3], [], [0, 2], 2, [2, 3, 2], pairs.movedim(2, 0).contiguous().movedim(0, 2)), ([0, 2], [0], [0], 1, [1, 2, 4], pairs[0, :, :1]),
            ([1, 2, 3], [], [2], 1, [5, 6, 2], pairs[0, :, 0]), ([1], [0, 1], [0, 1, 2], 1, [1, 1, 2], ints(3, 3, low=0, high=5))):
        hlo(s, "gather", x, given.contiguous(), offsets, collapsed, where, vector, sizes, to=general(x, given, offsets, collapsed, where, vector, sizes))
    first = pairs.movedim(2, 0).contiguous()
    hlo(s, "gather", x, first, [2], [0, 1], [0, 1], 0, [1, 1, 4], to=general(x, first, [2], [0, 1], [0, 1], 0, [1, 1, 4]))


def scatters(s):
    def general(x, index, y, windows, inserted, where, vector, op):
        """By the definition; a window that reaches outside is left out."""
        result = x.clone()
        vectors = index[..., None] if vector == index.dim() else index.movedim(vector, -1)
        front = y.permute([k for k in range(y.dim()) if k not in windows] + windows)
        count = vectors[..., 0].numel()
        blocks = front.reshape(count, *front.shape[y.dim() - len(windows):])
        for vector_, block in zip(vectors.reshape(count, -1).tolist(), blocks):
            for d in sorted(inserted):
                block = block.unsqueeze(d)
            start = [0] * x.dim()
            for d, i in zip(where, vector_):
                start[d] = i
            if any(a < 0 or a + n > size for a, n, size in zip(start, block.shape, x.shape)):
                continue
            at = tuple(slice(a, a + n) for a, n in zip(start, block.shape))
            result[at] = {"sum": torch.add, "max": torch.maximum, "min": torch.minimum, "write": lambda old, new: new}[op](result[at], block)
        return result
    x = real(5, 6, 4)
    for op in ("sum", "max", "min", "write"):
        some = lambda *shape: ints(*shape, low=-1, high=6)
        rows = torch.tensor([[3], [7], [0]])
        pairs = torch.tensor([[0, 1], [4, 5], [2, 2], [5, 0], [3, -1]])
        starts = torch.tensor([[0, 1], [3, 3], [4, 0]])
        for index, y, windows, inserted, where in (
                (rows, real(3, 6, 4), [1, 2], [0], [0]), (pairs, real(5, 4), [1], [0, 1], [0, 1]), (pairs, real(4, 5), [0], [0, 1], [0, 1]),
                (pairs, real(5, 3), [1], [0, 1], [0, 1]), (starts, real(3, 2, 2, 4), [1, 2, 3], [], [0, 1]), (rows, real(3, 1, 2, 3), [1, 2, 3], [], [1]),
                (torch.tensor([[1, 2, 3], [0, 5, 0]]), real(2), [], [0, 1, 2], [0, 1, 2])):
            hlo(s, "scatter", x, index, y, windows, inserted, where, 1, to=general(x, index, y, windows, inserted, where, 1, op), op=op)
        if op != "write":  # places that are met more than once
            index, y = some(2, 4), real(2, 4, 6, 4)
            hlo(s, "scatter", x, index, y, [2, 3], [0], [0], 2, to=general(x, index, y, [2, 3], [0], [0], 2, op), op=op)


def windows(s):
    x = real(2, 3, 5, 6)
    for op, pool, neutral in (("sum", lambda y, k, st: F.avg_pool2d(y, k, st, divisor_override=1), 0.0), ("max", F.max_pool2d, -float("inf")),
                              ("min", lambda y, k, st: -F.max_pool2d(-y, k, st), float("inf"))):
        for k, st, low, high in (((2, 3), (2, 3), (0, 0), (0, 0)), ((3, 2), (1, 2), (1, 0), (2, 1))):
            around = F.pad(x, [low[1], high[1], low[0], high[0]], value=neutral)
            one = [1, 1]
            hlo(s, "reduce_window", x, op, one + list(k), one + list(st), [0, 0, *low], [0, 0, *high], [1] * 4, [1] * 4, to=pool(around, k, st))
    row = real(7)
    hlo(s, "reduce_window", row, "sum", [3], [2], [1], [0], [1], [2], to=F.conv1d(F.pad(row, [1, 0])[None, None], torch.ones(1, 1, 3, dtype=f64), None, 2, 0, 2)[0, 0])
    spread = torch.zeros(13, dtype=f64)
    spread[::2] = row
    hlo(s, "reduce_window", row, "sum", [3], [1], [0], [0], [2], [1], to=spread.unfold(0, 3, 1).sum(1))
    hlo(s, "reduce_window", row, "max", [1], [2], [0], [0], [1], [1], to=row[::2])
    for sign, select in ((1, "GE"), (-1, "LE")):
        for nhwc in (False, True):
            y, back = F.max_pool2d(sign * x, 3, 2, 1, return_indices=True)
            dy = real(*y.shape)
            expected = F.max_unpool2d(dy, back, 3, 2, 1, x.shape) * 0
            expected = expected.flatten(2).scatter_add(2, back.flatten(2), dy.flatten(2)).reshape(x.shape)
            settings = [[1, 1, 3, 3], [1, 1, 2, 2], [0, 0, 1, 1], [0, 0, 1, 1]]
            order = (lambda t: t.permute(0, 2, 3, 1).contiguous()) if nhwc else (lambda t: t)
            settings = [[v[0], v[2], v[3], v[1]] for v in settings] if nhwc else settings
            hlo(s, "select_and_scatter", order(x), order(dy), select, "sum", *settings, to=order(expected))
    convolutions(s)


def convolutions(s):
    x, w = real(2, 4, 6, 5), real(6, 4, 3, 2)
    plain = ([0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3])
    ones = [1, 1]
    hlo(s, "convolution", x, w, *plain, [2, 1], [1, 0], [1, 1], ones, ones, to=F.conv2d(F.pad(x, [0, 1, 1, 1]), w, None, (2, 1)))
    # channels last, kernel [height, width, input, output], as XLA has them
    last = x.permute(0, 2, 3, 1).contiguous()
    hlo(s, "convolution", last, w.permute(2, 3, 1, 0).contiguous(), [0, 3, 1, 2], [3, 2, 0, 1], [0, 3, 1, 2], ones, [0, 0], [0, 0], ones, [1, 2],
        to=F.conv2d(x, w, dilation=(1, 2)).permute(0, 2, 3, 1).contiguous())
    grouped = real(6, 2, 3, 2)
    hlo(s, "convolution", x, grouped, *plain, ones, [0, 0], [0, 0], ones, ones, feature_groups=2, to=F.conv2d(x, grouped, groups=2))
    hlo(s, "convolution", x, w, *plain, ones, [0, 0], [0, 0], ones, ones, reversed_axes=[True, False], to=F.conv2d(x, w.flip(2)))
    v = real(6, 4, 2, 2)  # a transposed convolution, written as one over an operand with zeros between
    hlo(s, "convolution", x, v, *plain, ones, [1, 1], [1, 1], [2, 3], ones, reversed_axes=[True, True],
        to=F.conv_transpose2d(x, v.transpose(0, 1).contiguous(), stride=(2, 3)))
    batch, kernel = real(4, 3, 5, 5), real(6, 3, 2, 2)
    parts = [F.conv2d(b, k) for b, k in zip(batch.chunk(2, 0), kernel.chunk(2, 0))]
    hlo(s, "convolution", batch, kernel, *plain, ones, [0, 0], [0, 0], ones, ones, batch_groups=2, to=torch.cat(parts, 1))
    r, k = real(2, 3, 7), real(4, 3, 3)
    hlo(s, "convolution", r, k, [0, 1, 2], [0, 1, 2], [0, 1, 2], [1], [-1], [2], [1], [1], to=F.conv1d(F.pad(r[:, :, 1:], [0, 2]), k))


def collectives(s):
    xs = [real(4, 6) for _ in range(WORLD)]
    joined = torch.stack(xs)

    def everywhere(op, args, expected):
        s.ranks([(f"hlo.{op}", args(r), {"group": list(range(WORLD))}, expected(r)) for r in range(WORLD)])
    for op, value in (("sum", joined.sum(0)), ("max", joined.amax(0)), ("min", joined.amin(0)), ("product", joined.prod(0))):
        everywhere("all_reduce", lambda r: [xs[r], op], lambda r: value)
        for dim in (0, 1):
            everywhere("reduce_scatter", lambda r: [xs[r], op, dim], lambda r: value.chunk(WORLD, dim)[r])
    truths = [bools(4, 6) for _ in range(WORLD)]
    for op, value in (("and", torch.stack(truths).all(0)), ("or", torch.stack(truths).any(0))):
        everywhere("all_reduce", lambda r: [truths[r], op], lambda r: value)
        everywhere("all_reduce", lambda r: [[truths[r], truths[r]], op], lambda r: [value, value])
    for op in ("partition_id", "replica_id"):
        for place in (0, 3):
            hlo(s, op, place, to=torch.tensor(place))
    for dim in (0, 1):
        everywhere("all_gather", lambda r: [xs[r], dim], lambda r: torch.cat(xs, dim))
    everywhere("all_to_all", lambda r: [xs[r], 0, 1], lambda r: torch.cat([x.chunk(WORLD, 0)[r] for x in xs], 1))
    everywhere("all_to_all", lambda r: [xs[r], 1, 1], lambda r: torch.cat([x.chunk(WORLD, 1)[r] for x in xs], 1))
    everywhere("collective_permute", lambda r: [xs[r], [[0, 1], [1, 0]]], lambda r: xs[1 - r])
    everywhere("collective_permute", lambda r: [xs[r], [[0, 1]]], lambda r: xs[0] if r == 1 else torch.zeros_like(xs[0]))
    everywhere("collective_broadcast", lambda r: [xs[r]], lambda r: xs[0])
    pairs = [[x, 2 * x] for x in xs]
    for op, f in (("sum", lambda t: t.sum(0)), ("max", lambda t: t.amax(0))):
        everywhere("all_reduce", lambda r: [pairs[r], op], lambda r: [f(joined), f(2 * joined)])
        everywhere("reduce_scatter", lambda r: [pairs[r], op, 1], lambda r: [f(t).chunk(WORLD, 1)[r] for t in (joined, 2 * joined)])
    everywhere("all_gather", lambda r: [pairs[r], 0], lambda r: [torch.cat(xs), 2 * torch.cat(xs)])
    everywhere("all_to_all", lambda r: [list(xs[r].chunk(WORLD, 0))], lambda r: [x.chunk(WORLD, 0)[r] for x in xs])
    everywhere("collective_permute_start", lambda r: [xs[r], [[0, 1], [1, 0]]], lambda r: xs[1 - r])
    everywhere("all_reduce_start", lambda r: [xs[r], "sum"], lambda r: joined.sum(0))
    everywhere("all_gather_start", lambda r: [xs[r], 1], lambda r: torch.cat(xs, 1))
    for op in ("all_reduce_done", "all_gather_done", "collective_permute_done"):
        hlo(s, op, xs[0], to=xs[0])
