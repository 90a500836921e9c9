"""What random sequential programs are made of: for each operator a choice of arguments for given operands.

A generator takes a `Pool` and returns (operator, arguments, keyword arguments), or None where the pool has no fitting operand. A tensor
among the arguments is a `Ref`. Everything comes from the pool's random source, so a seed decides a program."""


INF = float("inf")


class Ref:
    """A tensor of the program, by name."""

    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, list(shape), dtype

    @property
    def rank(self):
        return len(self.shape)


class Pool:
    """The tensors there are so far; later ones are chosen more often."""

    def __init__(self, source):
        self.source, self.tensors = source, []

    def pick(self, accept=lambda t: True):
        found = [t for t in self.tensors if accept(t)]
        if not found:
            return None
        return self.source.choices(found, weights=range(1, len(found) + 1))[0]

    def one_of(self, *values):
        return self.source.choice(values)

    def axis(self, tensor):
        """An axis, from either end."""
        d = self.source.randrange(tensor.rank)
        return d - tensor.rank if self.source.random() < 0.3 else d

    def axes(self, tensor):
        count = self.source.randint(1, tensor.rank)
        return sorted(self.source.sample(range(tensor.rank), count))


def real(t):
    return t.dtype == "f32"


def whole(t):
    return t.dtype in ("i64", "i32")


def number(t):
    return t.dtype != "b8"


def truth(t):
    return t.dtype == "b8"


def broadcasts(a, b):
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a.shape), reversed(b.shape)))


GENERATORS = []


def generator(function):
    GENERATORS.append(function)
    return function


def unary(accept, *calls):
    """Operators of one tensor: (name, further arguments, keyword arguments)."""
    def generate(pool):
        x = pool.pick(accept)
        if x is None:
            return None
        name, more, keywords = pool.one_of(*calls)
        return name, [x, *more], keywords
    GENERATORS.append(generate)


def call(name, *more, **keywords):
    return f"aten.{name}", list(more), keywords


unary(real, *(call(f"{name}.default") for name in (
    "neg", "abs", "square", "sqrt", "exp", "log", "sigmoid", "relu", "silu", "tanh", "sin", "cos", "floor", "ceil", "round", "trunc",
    "sign", "rsqrt", "reciprocal", "erf", "expm1", "log1p", "clone", "log2", "isnan", "isinf", "hardswish", "hardsigmoid", "mish",
    "leaky_relu", "elu", "softplus", "log_sigmoid")))
unary(real, call("gelu.default"), call("gelu.default", approximate="tanh"), call("pow.Tensor_Scalar", 2), call("pow.Tensor_Scalar", 3),
      call("pow.Tensor_Scalar", 0.5), call("pow.Tensor_Scalar", 1), call("pow.Tensor_Scalar", 0), call("pow.Tensor_Scalar", -1),
      call("pow.Tensor_Scalar", -2), call("clamp.default", -0.5, 0.5), call("clamp.default", None, 0), call("clamp_min.default", 0),
      call("hardtanh.default", -1, 1), call("leaky_relu.default", 0.3), call("softplus.default", 2, 1), call("elu.default", 2, 1, 0.5),
      call("pow.Scalar", 2), call("round.decimals", decimals=-1))  # tenths would not be exact: see programs.number
unary(whole, call("neg.default"), call("abs.default"), call("bitwise_not.default"), call("sign.default"), call("relu.default"),
      call("pow.Tensor_Scalar", 2), call("clamp.default", -1, 1), call("square.default"), call("exp.default"), call("sqrt.default"))
unary(lambda t: True, *(call("_to_copy.default", dtype=dtype) for dtype in ("f32", "i64", "i32", "b8")))
unary(truth, call("logical_not.default"), call("bitwise_not.default"))
unary(number, call("logical_not.default"), call("zeros_like.default"), call("ones_like.default"))


def with_options(pool, name, operands, alphas, modes):
    """A call of `name`; with a `+` behind it, with an `alpha`."""
    if "+" in name:
        return f"aten.{name[:-1]}", operands, {"alpha": pool.one_of(*alphas)}
    if name == "div.Tensor_mode":
        return f"aten.{name}", operands, {"rounding_mode": pool.one_of(*modes)}
    return f"aten.{name}", operands, {}


@generator
def with_number(pool):
    x = pool.pick()
    if x is None:
        return None
    number_ = pool.one_of(2, 3, -1, 0, 1, 7, *([0.5, -1.5, 0.0, 2.5] if x.dtype == "f32" or pool.source.random() < 0.3 else []))
    if x.dtype == "b8":
        return pool.one_of("aten.add.Tensor", "aten.mul.Tensor", "aten.eq.Scalar", "aten.ge.Scalar", "aten.lt.Scalar"), [x, number_], {}
    name = pool.one_of("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "add.Scalar", "mul.Scalar", "rsub.Scalar", "div.Scalar",
                       "remainder.Scalar", "fmod.Scalar", "floor_divide.default", "ge.Scalar", "gt.Scalar", "le.Scalar", "lt.Scalar",
                       "eq.Scalar", "ne.Scalar", "add.Tensor+", "sub.Tensor+", "div.Tensor_mode", "div.Tensor_mode")
    return with_options(pool, name, [x, number_], alphas=(2, -1, 0, 3), modes=("floor", "trunc"))


@generator
def binary(pool):
    x = pool.pick(number)
    y = x and pool.pick(lambda t: number(t) and broadcasts(x, t))
    if y is None:
        return None
    name = pool.one_of("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "maximum.default", "minimum.default", "add.Tensor",
                       "mul.Tensor", "remainder.Tensor", "fmod.Tensor", "ge.Tensor", "gt.Tensor", "le.Tensor", "lt.Tensor", "eq.Tensor",
                       "ne.Tensor", "add.Tensor+", "sub.Tensor+", "div.Tensor_mode", "floor_divide.default", "atan2.default")
    return with_options(pool, name, [x, y], alphas=(2, -1, 3), modes=("floor", "trunc", None))


@generator
def of_truths(pool):
    x = pool.pick(truth)
    y = x and pool.pick(lambda t: truth(t) and broadcasts(x, t))
    if y is None:
        return None
    return pool.one_of("aten.logical_and.default", "aten.logical_or.default", "aten.logical_xor.default", "aten.bitwise_and.Tensor",
                       "aten.bitwise_or.Tensor", "aten.bitwise_xor.Tensor", "aten.add.Tensor", "aten.mul.Tensor", "aten.maximum.default",
                       "aten.eq.Tensor", "aten.lt.Tensor", "aten.minimum.default", "aten.ge.Tensor"), [x, y], {}


@generator
def of_bits(pool):
    x = pool.pick(whole)
    y = x and pool.pick(lambda t: whole(t) and broadcasts(x, t))
    if y is None:
        return None
    return pool.one_of("aten.bitwise_and.Tensor", "aten.bitwise_or.Tensor", "aten.bitwise_xor.Tensor"), [x, y], {}


@generator
def choice(pool):
    m = pool.pick(truth)
    x = m and pool.pick(lambda t: number(t) and broadcasts(m, t))
    if x is None:
        return None
    y = pool.pick(lambda t: t.dtype == x.dtype and broadcasts(m, t) and broadcasts(x, t))
    return pool.one_of(("aten.where.self", [m, x, y], {}), ("aten.masked_fill.Scalar", [x, m, pool.one_of(0, 1, -3)], {}),
                       ("aten.where.ScalarOther", [m, x, pool.one_of(0, 2)], {}), ("aten.where.ScalarSelf", [m, pool.one_of(0, 2), x], {}))


@generator
def addc(pool):
    a = pool.pick(real)
    x = a and pool.pick(lambda t: real(t) and broadcasts(a, t))
    y = x and pool.pick(lambda t: real(t) and broadcasts(a, t) and broadcasts(x, t))
    if y is None:
        return None
    return pool.one_of(("aten.addcmul.default", [a, x, y], {"value": pool.one_of(1, 2, 0, -1)}), ("aten.lerp.Tensor", [a, x, y], {}),
                       ("aten.lerp.Scalar", [a, x, pool.one_of(0.25, 0, 1)], {}), ("aten.addcdiv.default", [a, x, y], {"value": 2}))


@generator
def reduced(pool):
    x = pool.pick(lambda t: t.rank >= 1)
    if x is None:
        return None
    d, ds, keep = pool.axis(x), pool.axes(x), pool.one_of(False, True)
    found = [("any.dim", [x, d, keep], {}), ("all.dim", [x, d, keep], {}), ("sum.dim_IntList", [x, ds, keep], {}),
             ("sum.default", [x], {}), ("any.default", [x], {}), ("all.default", [x], {})]
    if number(x):
        found += [("sum.dim_IntList", [x, ds, keep], {}), ("amax.default", [x, ds, keep], {}), ("amin.default", [x, ds, keep], {}),
                  ("argmax.default", [x, d, keep], {}), ("argmin.default", [x, d, keep], {}), ("argmax.default", [x], {}),
                  ("prod.dim_int", [x, d, keep], {}), ("cumsum.default", [x, d], {}), ("max.default", [x], {}),
                  ("count_nonzero.dim_IntList", [x, ds], {}), ("cumprod.default", [x, d], {}), ("prod.default", [x], {})]
    if real(x):
        found += [("mean.dim", [x, ds, keep], {}), ("mean.default", [x], {}), ("logsumexp.default", [x, ds, keep], {}),
                  ("var.correction", [x, ds], {"correction": pool.one_of(0, 1), "keepdim": keep}), ("_softmax.default", [x, d, False], {}),
                  ("_log_softmax.default", [x, d, False], {}), ("std.correction", [x, ds], {"correction": 0, "keepdim": keep}),
                  ("linalg_vector_norm.default", [x, pool.one_of(1, 2, 0, 3, INF, -INF), ds, keep], {}),
                  ("_softmax.default", [x, d, False], {}), ("logcumsumexp.default", [x, d], {})]
    name, args, keywords = pool.source.choice(found)
    return f"aten.{name}", args, keywords


@generator
def several_results(pool):
    x = pool.pick(lambda t: t.rank >= 1 and number(t))
    if x is None:
        return None
    d = pool.axis(x)
    n = x.shape[d]
    found = [("max.dim", [x, d, pool.one_of(False, True)], {}), ("min.dim", [x, d, False], {}), ("sort.default", [x, d, False], {}),
             ("sort.stable", [x], {"stable": True, "dim": d, "descending": True}), ("unbind.int", [x, d], {}),
             ("split.Tensor", [x, pool.source.randint(1, n), d], {}), ("topk.default", [x, pool.source.randint(1, n), d], {})]
    if real(x) and x.shape[-1] > 1:
        found += [("native_layer_norm.default", [x, [x.shape[-1]], None, None, pool.one_of(1e-5, 0.1)], {}),
                  ("var_mean.correction", [x, [d]], {"correction": pool.one_of(0, 1), "keepdim": True})]
    name, args, keywords = pool.source.choice(found)
    return f"aten.{name}", args, keywords


@generator
def layout(pool):
    x = pool.pick(lambda t: t.rank >= 1)
    if x is None:
        return None
    source, d = pool.source, pool.axis(x)
    n = x.shape[d]
    e = source.randrange(x.rank)
    order = list(range(x.rank))
    source.shuffle(order)
    merged = x.shape[:]
    if len(merged) >= 2:
        k = source.randrange(len(merged) - 1)
        merged[k:k + 2] = [merged[k] * merged[k + 1]]
    cut = x.shape[:]
    k = source.randrange(len(cut))
    factors = [f for f in (2, 3) if cut[k] % f == 0 and cut[k] > 0]
    if factors:
        f = source.choice(factors)
        cut[k:k + 1] = [cut[k] // f, f]
    total = 1
    for size in x.shape:
        total *= size
    begin = source.randrange(n) if n else 0
    end = source.randint(begin + 1, n) if n else 0
    found = [("view.default", [x, merged], {}), ("view.default", [x, cut], {}), ("view.default", [x, [-1]], {}),
             ("transpose.int", [x, d, e], {}), ("permute.default", [x, order], {}), ("unsqueeze.default", [x, e], {}),
             ("slice.Tensor", [x, d, begin, end], {}), ("slice.Tensor", [x, d, begin - n, 9223372036854775807], {}),
             ("slice.Tensor", [x, d, 0, 9223372036854775807, 2], {}), ("select.int", [x, d, source.randint(-n, n - 1) if n else 0], {}),
             ("flip.default", [x, pool.axes(x)], {}), ("roll.default", [x, [source.choice((1, -1, 2))], [d]], {}),
             ("repeat.default", [x, [source.randint(1, 2) for _ in x.shape]], {}), ("squeeze.dim", [x, d], {}),
             ("expand.default", [x, [2] + [-1] * x.rank], {}), ("clone.default", [x], {}),
             ("repeat_interleave.self_int", [x, 2, d], {}), ("view.default", [x, x.shape[::-1]], {}),
             ("constant_pad_nd.default", [x, [source.randint(0, 2), source.randint(0, 1)], source.choice((0, 1, -2))], {})]
    if x.rank >= 2:
        found += [("tril.default", [x, source.choice((0, 1, -1))], {}), ("triu.default", [x, source.choice((0, 1, -1))], {}),
                  ("diagonal.default", [x, source.choice((0, 1)), 0, 1], {})]
    if n % 2 == 0 and n:
        found += [("unfold.default", [x, d, 2, source.choice((1, 2))], {})]
    name, args, keywords = source.choice(found)
    if name == "view.default" and not args[1]:
        return None
    return f"aten.{name}", args, keywords


@generator
def joined(pool):
    x = pool.pick(lambda t: t.rank >= 1)
    if x is None:
        return None
    d = pool.source.randrange(x.rank)
    y = pool.pick(lambda t: t.rank == x.rank and all(k == d or m == n for k, (m, n) in enumerate(zip(x.shape, t.shape))))
    if y.shape == x.shape and pool.source.random() < 0.4:
        return "aten.stack.default", [[x, y], d], {}
    return "aten.cat.default", [[x, y] if pool.source.random() < 0.6 else [y, x, y], d], {}


@generator
def product(pool):
    x = pool.pick(lambda t: real(t) and t.rank == 2)
    y = x and pool.pick(lambda t: real(t) and t.rank == 2 and t.shape[0] == x.shape[1])
    if y is None:
        return None
    b = pool.pick(lambda t: real(t) and 1 <= t.rank <= 2 and all(m in (1, n) for m, n in zip(reversed(t.shape), (y.shape[1], x.shape[0]))))
    if b is not None and pool.source.random() < 0.4:
        return "aten.addmm.default", [b, x, y], {"beta": pool.one_of(1, 2, 0), "alpha": pool.one_of(1, 3)}
    return "aten.mm.default", [x, y], {}


@generator
def more_products(pool):
    x = pool.pick(lambda t: real(t) and t.rank >= 1)
    if x is None:
        return None
    y = pool.pick(lambda t: real(t) and t.rank >= 1 and t.shape[max(0, t.rank - 2)] == x.shape[-1]
                  and all(m == n or 1 in (m, n) for m, n in zip(reversed(x.shape[:-2]), reversed(t.shape[:-2]))))
    if y is not None:
        return "aten.matmul.default", [x, y], {}
    y = pool.pick(lambda t: real(t) and t.rank == 2 and t.shape[1] == x.shape[-1])
    return y and ("aten.linear.default", [x, y], {})


@generator
def looked_up(pool):
    i = pool.pick(lambda t: t.dtype == "i64")
    x = i and pool.pick(lambda t: t.rank >= 1)
    if x is None:
        return None
    d = pool.source.randrange(x.rank)
    found = [("index.Tensor", [x, [None] * d + [i]], {})]
    if i.rank == 1:
        found += [("index_select.default", [x, d, i], {})]
        y = pool.pick(lambda t: t.dtype == x.dtype and t.shape == x.shape[:d] + i.shape + x.shape[d + 1:])
        if y is not None:
            found += [("index_add.default", [x, d, i, y], {"alpha": pool.one_of(1, 2)})] * 2
            if d == 0:
                found += [("index_put.default", [x, [i], y, True], {})]
    if i.rank == x.rank and all(m <= n for k, (m, n) in enumerate(zip(i.shape, x.shape)) if k != d):
        found += [("gather.default", [x, d, i], {})] * 2
        y = pool.pick(lambda t: t.dtype == x.dtype and t.rank == x.rank and all(m <= n for m, n in zip(i.shape, t.shape)))
        if y is not None:
            found += [("scatter_add.default", [x, d, i, y], {})] * 2
        if i.shape[d] == 1:
            found += [("scatter.value", [x, d, i, pool.one_of(0, 2)], {})]
    if real(x) and x.rank == 2:
        found += [("embedding.default", [x, i], {})] * 2
    name, args, keywords = pool.source.choice(found)
    return f"aten.{name}", args, keywords


@generator
def counted(pool):
    i = pool.pick(lambda t: t.dtype == "i64")
    return i and ("aten.one_hot.default", [i, 4], {})


@generator
def loss(pool):
    x = pool.pick(real)
    y = x and pool.pick(lambda t: real(t) and t.shape == x.shape)
    r = pool.one_of(0, 1, 2)
    t = x and pool.pick(lambda t: t.dtype == "i64" and x.rank == 2 and t.shape == x.shape[:1])
    found = []
    if y is not None:
        found += [("mse_loss.default", [x, y, r], {}), ("smooth_l1_loss.default", [x, y, r, pool.one_of(1, 0.5)], {}),
                  ("huber_loss.default", [x, y, r, 0.5], {}), ("binary_cross_entropy_with_logits.default", [x, y, None, None, r], {})]
    if t is not None:
        ignore = pool.one_of(-100, 0, 1)
        found += [("nll_loss_forward.default", [x, t, None, r, ignore], {}), ("cross_entropy_loss.default", [x, t, None, r, ignore], {}),
                  ("cross_entropy_loss.default", [x, t, None, r, ignore, 0.1], {})] * 2
    if not found:
        return None
    name, args, keywords = pool.source.choice(found)
    return f"aten.{name}", args, keywords


def generate(pool):
    """A call with operands of the pool."""
    return pool.source.choice(GENERATORS)(pool)


# Operators that take the same arguments: one in the place of another is a mistake that a program may hold.
ALIKE = [
    ["add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "maximum.default", "minimum.default", "atan2.default"],
    ["ge.Tensor", "gt.Tensor", "le.Tensor", "lt.Tensor", "eq.Tensor", "ne.Tensor"],
    ["ge.Scalar", "gt.Scalar", "le.Scalar", "lt.Scalar", "eq.Scalar", "ne.Scalar"],
    ["remainder.Tensor", "fmod.Tensor"], ["remainder.Scalar", "fmod.Scalar"],
    ["amax.default", "amin.default", "sum.dim_IntList", "mean.dim", "logsumexp.default"],
    ["argmax.default", "argmin.default"], ["any.dim", "all.dim"], ["max.dim", "min.dim"], ["tril.default", "triu.default"],
    ["logical_and.default", "logical_or.default", "logical_xor.default"],
    ["bitwise_and.Tensor", "bitwise_or.Tensor", "bitwise_xor.Tensor"],
    ["_softmax.default", "_log_softmax.default"], ["cumsum.default", "cumprod.default", "logcumsumexp.default"],
    ["any.default", "all.default", "sum.default"], ["mse_loss.default", "smooth_l1_loss.default"],
    ["floor.default", "ceil.default", "round.default", "trunc.default"],
    ["neg.default", "abs.default", "square.default", "relu.default", "clone.default", "sign.default"],
    ["exp.default", "expm1.default", "sigmoid.default", "tanh.default", "silu.default", "gelu.default", "erf.default"],
    ["sqrt.default", "rsqrt.default", "reciprocal.default"], ["log.default", "log1p.default", "log2.default"],
    ["zeros_like.default", "ones_like.default"],
]


def others(op):
    """Operators that may stand in the place of this one."""
    name = op.removeprefix("aten.")
    return [f"aten.{other}" for group in ALIKE if name in group for other in group if other != name]


