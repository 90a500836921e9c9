"""Cases of frameworks/hlo: XLA's operators, by their definitions."""
import torch
import torch.nn.functional as F

from pointwise import bools, f32, f64, i64, ints, positive, real

WORLD = 2


def cases(s):
    layout(s)
    pointwise(s)
    look_ups(s)
    collectives(s)


def hlo(s, op, *args, to, **kwargs):
    s.case(f"hlo.{op}", *args, reference=lambda: to, **kwargs)


def layout(s):
    x = real(2, 3, 4)
    y = real(3)
    hlo(s, "broadcast", y, [1], [2, 3, 4], to=y[None, :, None].expand(2, 3, 4))
    hlo(s, "broadcast", x, [0, 2, 1], [2, 4, 3], to=x.transpose(1, 2))
    hlo(s, "broadcast", 1.5, [], [2], to=torch.full((2,), 1.5))
    hlo(s, "reshape", x, [6, 4], to=x.reshape(6, 4))
    hlo(s, "bitcast", x, to=x.reshape(4, 6))
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
    table, index = real(6, 3), torch.tensor([[0, 5, 2], [9, -1, 4]])
    clamped = index.clamp(0, 5)
    hlo(s, "gather", table, index, [2], [0], [0], 2, [1, 3], to=table[clamped])
    hlo(s, "gather", table, index[:, :, None], [2], [0], [0], 2, [1, 3], to=table[clamped])
    hlo(s, "gather", table, torch.tensor([1, 0, 2]), [0], [1], [1], 1, [6, 1], to=table[:, [1, 0, 2]])
    w = real(4)
    norm = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w
    hlo(s, "AwsNeuronRmsNorm", x, w, 1e-5, to=norm, dim=2)
    columns = real(3)
    norm = x * torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-5) * columns[:, None]
    hlo(s, "AwsNeuronRmsNorm", x, columns, 1e-5, to=norm, dim=1)


def collectives(s):
    xs = [real(4, 6) for _ in range(WORLD)]
    joined = torch.stack(xs)

    def everywhere(op, args, expected):
        s.ranks([(f"hlo.{op}", args(r), {"group": list(range(WORLD))}, expected(r)) for r in range(WORLD)])
    for op, value in (("sum", joined.sum(0)), ("max", joined.amax(0)), ("min", joined.amin(0)), ("product", joined.prod(0))):
        everywhere("all_reduce", lambda r: [xs[r], op], lambda r: value)
        for dim in (0, 1):
            everywhere("reduce_scatter", lambda r: [xs[r], op, dim], lambda r: value.chunk(WORLD, dim)[r])
    for dim in (0, 1):
        everywhere("all_gather", lambda r: [xs[r], dim], lambda r: torch.cat(xs, dim))
    everywhere("all_to_all", lambda r: [xs[r], 0, 1], lambda r: torch.cat([x.chunk(WORLD, 0)[r] for x in xs], 1))
    everywhere("all_to_all", lambda r: [xs[r], 1, 1], lambda r: torch.cat([x.chunk(WORLD, 1)[r] for x in xs], 1))
    everywhere("collective_permute", lambda r: [xs[r], [[0, 1], [1, 0]]], lambda r: xs[1 - r])
    everywhere("collective_permute", lambda r: [xs[r], [[0, 1]]], lambda r: xs[0] if r == 1 else torch.zeros_like(xs[0]))
    everywhere("collective_broadcast", lambda r: [xs[r]], lambda r: xs[0])
