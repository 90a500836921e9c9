"""Cases of frameworks/pytorch/foreach.rules: operators on lists of tensors."""
import torch

from pointwise import f64, positive, real

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
    in_place(s)


def in_place(s):
    """The list that is changed, one result for each of its tensors; nothing is returned."""
    xs, ys, ps = ([positive(2, 3), positive(4)] for _ in range(3))
    for op, args, f in (("add_.List", [ys], lambda x, y, p: x + y), ("mul_.Scalar", [0.5], lambda x, y, p: x * 0.5), ("sqrt_.default", [], lambda x, y, p: x.sqrt()),
                        ("addcdiv_.Scalar", [ys, ps, -2.0], lambda x, y, p: x - 2 * y / p)):
        s.case(f"aten._foreach_{op}", xs, *args, mutates=["self"], reference=lambda: [None] + [f(*entry) for entry in zip(xs, ys, ps)])
