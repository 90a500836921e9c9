"""Cases of frameworks/pytorch/foreach.rules: operators on lists of tensors."""
import torch

from pointwise import bools, f32, f64, ints, positive, real

SCALARS = [1.5, -0.5]


def cases(s):
    xs, ys, zs = ([real(2, 3), real(4)] for _ in range(3))
    ps, qs = [positive(2, 3), positive(4)], [positive(2, 3), positive(4)]

    def listed(op, *args, f=None, **kwargs):
        """`f`: what is computed of each entry, where this PyTorch lacks the operator."""
        name = f"aten._foreach_{op}"
        s.case(name, *args, reference=None if f is None else lambda: [f(*entry) for entry in zip(*[a for a in args if isinstance(a, list)])], **kwargs)
    for op, f in (("add", torch.add), ("sub", torch.sub), ("mul", torch.mul), ("div", torch.div)):
        listed(f"{op}.Scalar", ps, 1.5)
        listed(f"{op}.ScalarList", ps, SCALARS)
        listed(f"{op}.List", ps, qs)
    listed("add.List", xs, ys, alpha=0.5)
    listed("sub.List", xs, ys, alpha=0.5)
    listed("add.List", [real(2, 3).to(torch.float32)], [real(2, 3)])
    t = torch.tensor(1.25, dtype=f64)
    listed("add.Tensor", xs, t, f=lambda x: x + 2 * t, alpha=2)
    listed("mul.Tensor", xs, t, f=lambda x: x * t)
    listed("div.Tensor", xs, t, f=lambda x: x / t)
    for op, f in (("maximum", torch.maximum), ("minimum", torch.minimum), ("clamp_min", torch.maximum), ("clamp_max", torch.minimum)):
        listed(f"{op}.Scalar", xs, 0.25, f=lambda x: f(x, torch.tensor(0.25, dtype=f64)))
        listed(f"{op}.ScalarList", xs, SCALARS, f=lambda x, c: f(x, torch.tensor(c, dtype=f64)))
        listed(f"{op}.List", xs, ys, f=f)
    listed("pow.Scalar", ps, 3, f=lambda x: x ** 3)
    listed("pow.Scalar", ps, 0, f=torch.ones_like)
    listed("pow.ScalarList", ps, SCALARS, f=lambda x, c: x ** c)
    listed("pow.List", ps, xs, f=torch.pow)
    listed("pow.ScalarAndTensor", 2, xs, f=lambda x: 2 ** x)
    for op, f in (("addcmul", torch.addcmul), ("addcdiv", torch.addcdiv)):
        listed(f"{op}.Scalar", xs, ys, ps, 0.5)
        listed(f"{op}.Scalar", xs, ys, ps)
        listed(f"{op}.ScalarList", xs, ys, ps, SCALARS)
        cs = torch.tensor(SCALARS, dtype=f64)
        s.case(f"aten._foreach_{op}.Tensor", xs, ys, ps, cs,
               reference=lambda: [f(x, y, p, value=c) for x, y, p, c in zip(xs, ys, ps, SCALARS)])
    listed("lerp.Scalar", xs, ys, 0.25, f=lambda x, y: torch.lerp(x, y, 0.25))
    listed("lerp.ScalarList", xs, ys, SCALARS, f=torch.lerp)
    listed("lerp.List", xs, ys, zs, f=torch.lerp)
    for op in ("neg", "abs", "exp", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "erf", "erfc", "sigmoid", "floor", "ceil", "round",
               "trunc", "frac"):
        listed(f"{op}.default", xs)
    for op in ("sqrt", "reciprocal", "log", "log1p", "log2", "log10"):
        listed(f"{op}.default", ps)
    listed("rsqrt.default", ps, f=torch.rsqrt)
    listed("sign.default", xs, f=torch.sign)
    small = [torch.rand(2, 3, dtype=f64), torch.rand(4, dtype=f64)]
    listed("asin.default", small)
    listed("acos.default", small)
    listed("zero.default", xs, f=torch.zeros_like)
    listed("copy.default", xs, [real(2, 3).to(torch.float32), real(4)], f=lambda x, y: y.to(x.dtype))
    for order in (1, 2):
        listed("norm.Scalar", xs, order)
    promoted(s)
    in_place(s)


def promoted(s):
    """Numbers of other types than the result's."""
    ns, ms, halves = [ints(2, 3, low=1, high=5), ints(4, low=1, high=5)], [ints(2, 3, low=1, high=3), ints(4, low=1, high=3)], [0.5, 1.5]
    truths, singles = [bools(2, 3), bools(4)], [positive(2, 3).to(f32), positive(4).to(f32)]

    def case(op, *args, f, **kwargs):
        lists = [a for a in args if isinstance(a, list)]
        s.case(f"aten._foreach_{op}", *args, reference=lambda: [f(*entry) for entry in zip(*lists)], **kwargs)
    for op in ("add", "sub", "mul", "div"):
        f = getattr(torch, op)
        case(f"{op}.Scalar", ns, 0.5, f=lambda x: f(x, 0.5))
        case(f"{op}.ScalarList", ns, halves, f=f)
        case(f"{op}.List", ns, ms, f=f)
        case(f"{op}.List", ns, singles, f=f)
        if op != "sub":
            case(f"{op}.Scalar", truths, 2, f=lambda x: f(x, 2))
            case(f"{op}.Tensor", ns, torch.tensor(0.5), f=lambda x: f(x, torch.tensor(0.5)))
    for op, f in (("maximum", torch.maximum), ("minimum", torch.minimum), ("clamp_min", torch.maximum), ("clamp_max", torch.minimum)):
        case(f"{op}.Scalar", ns, 2.5, f=lambda x: f(x.to(f32), torch.tensor(2.5)))
        case(f"{op}.ScalarList", ns, halves, f=lambda x, c: f(x.to(f32), torch.tensor(c)))
        case(f"{op}.List", ns, singles, f=f)
    case("pow.Scalar", ns, 0.5, f=lambda x: x ** 0.5)
    case("pow.ScalarList", ns, halves, f=torch.pow)
    case("pow.List", ns, singles, f=torch.pow)
    case("pow.ScalarAndTensor", 1.5, ns, f=lambda x: 1.5 ** x)
    for op, f in (("addcmul", torch.addcmul), ("addcdiv", torch.addcdiv)):
        case(f"{op}.Scalar", singles, singles, [y.to(f64) for y in singles], 0.5, f=lambda x, y, z: f(x.to(f64), y.to(f64), z, value=0.5))
        case(f"{op}.ScalarList", singles, singles, [y.to(f64) for y in singles], SCALARS, f=lambda x, y, z, c: f(x.to(f64), y.to(f64), z, value=c))
        cs = torch.tensor(SCALARS)
        s.case(f"aten._foreach_{op}.Tensor", singles, singles, [y.to(f64) for y in singles], cs,
               reference=lambda: [f(x.to(f64), x.to(f64), x.to(f64), value=c) for x, c in zip(singles, SCALARS)])
    for op in ("sqrt", "rsqrt", "reciprocal", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "erf",
               "erfc", "sigmoid"):
        case(f"{op}.default", ns, f=getattr(torch, op))
    for op in ("asin", "acos"):
        case(f"{op}.default", truths, f=getattr(torch, op))
    for op in ("neg", "abs", "floor", "ceil", "round", "trunc", "sign"):
        case(f"{op}.default", ns, f=getattr(torch, op))
    case("norm.Scalar", singles, 2, f64, f=lambda x: x.to(f64).norm())


def in_place(s):
    """The list that is changed, one result for each of its tensors; nothing is returned."""
    xs, ys, ps = ([positive(2, 3), positive(4)] for _ in range(3))
    for op, args, f in (("add_.List", [ys], lambda x, y, p: x + y), ("mul_.Scalar", [0.5], lambda x, y, p: x * 0.5), ("sqrt_.default", [], lambda x, y, p: x.sqrt()),
                        ("addcdiv_.Scalar", [ys, ps, -2.0], lambda x, y, p: x - 2 * y / p)):
        s.case(f"aten._foreach_{op}", xs, *args, mutates=["self"], reference=lambda: [None] + [f(*entry) for entry in zip(xs, ys, ps)])
