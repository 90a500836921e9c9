"""Cases of frameworks/pytorch/elementwise.rules."""
import itertools
import math

import torch

f64, f32, bf16, i64, b8 = torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.bool


def real(*shape, dtype=f64):
    return torch.randn(*shape, dtype=f64).to(dtype)


def positive(*shape):
    return torch.rand(*shape, dtype=f64) + 0.5


def ints(*shape, low=-5, high=6, dtype=i64):
    return torch.randint(low, high, shape, dtype=dtype)


def bools(*shape):
    return torch.rand(*shape) > 0.5


def cases(s):
    one = lambda op, x, *args, **kw: s.case(f"aten.{op}", x, *args, **kw)
    arithmetic(s)
    for op in ("neg", "abs", "square", "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "erf", "floor", "ceil",
               "trunc", "sign", "relu", "relu6", "hardtanh", "hardsigmoid", "hardswish", "leaky_relu", "sigmoid", "silu", "gelu", "softplus",
               "mish", "elu", "round"):
        one(f"{op}.default", real(3, 4) * 3)
        one(f"{op}.default", torch.tensor(0.75, dtype=f64))
    for op in ("sqrt", "rsqrt", "reciprocal", "log", "log1p", "log2", "log10"):
        one(f"{op}.default", positive(2, 3))
        one(f"{op}.default", ints(2, 3, low=1, high=9))
    for op in ("asin", "acos"):
        one(f"{op}.default", torch.rand(5, dtype=f64))
    for op in ("neg", "abs", "sign", "square", "relu", "floor", "ceil", "trunc", "round"):
        one(f"{op}.default", ints(3, 2))
    for op in ("exp", "sin", "tanh", "sigmoid", "erf"):
        one(f"{op}.default", ints(3, 2))
    one("round.default", torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5], dtype=f64))
    one("round.decimals", real(6), decimals=1)
    one("sign.default", torch.tensor([0.0, -2.0, 3.0], dtype=f64))
    one("leaky_relu.default", real(6), 0.25)
    one("hardtanh.default", real(6) * 3, -2.0, 0.5)
    one("hardtanh.default", real(6) * 3)
    one("gelu.default", real(6), approximate="tanh")
    one("softplus.default", real(6), 2.0, 1.0)
    one("elu.default", real(6), 0.5, 2.0, 1.5)
    one("log_sigmoid.default", real(6))
    one("log_sigmoid_forward.default", real(6), unknown=[1])
    one("atan2.default", real(3, 4), real(4))
    more(s)
    for low, high in itertools.product((-0.5, None), (0.5, None)):
        if (low, high) != (None, None):
            one("clamp.default", real(8), low, high)
    one("clamp.default", ints(8), 0, 3)
    one("clamp_min.default", real(8), 0.0)
    one("clamp_max.default", real(8), 0.25)
    one("clamp.Tensor", real(3, 4), real(4) - 1, real(3, 1) + 1)
    one("maximum.default", real(3, 4), real(4))
    one("minimum.default", real(3, 4), real(3, 1))
    one("maximum.default", ints(3), ints(2, 3))
    backward(s)
    comparisons(s)
    choices(s)


def arithmetic(s):
    for op in ("add", "sub", "rsub"):
        s.case(f"aten.{op}.Tensor", real(2, 3), real(3))
        s.case(f"aten.{op}.Tensor", real(3, 1), real(4), alpha=2)
        s.case(f"aten.{op}.Tensor", ints(2, 3), ints(3), alpha=3)
        s.case(f"aten.{op}.Tensor", ints(2, 3), real(3))
        s.case(f"aten.{op}.Scalar", real(2, 3), 1.5)
        s.case(f"aten.{op}.Scalar", real(2, 3), 1.5, 2)
        s.case(f"aten.{op}.Scalar", ints(2, 3), 2)
        s.case(f"aten.{op}.Scalar", ints(2, 3), 1.5)
    s.case("aten.add.Tensor", bools(4), bools(4))
    s.case("aten.add.Tensor", bools(4), ints(4))
    for op in ("mul", "div", "true_divide"):
        s.case(f"aten.{op}.Tensor", real(2, 3), positive(3))
        s.case(f"aten.{op}.Tensor", ints(2, 3), ints(3, low=1, high=5))
        s.case(f"aten.{op}.Tensor", real(2, 1), positive(4))
    s.case("aten.mul.Tensor", bools(4), bools(4))
    s.case("aten.mul.Scalar", real(3), 2.5)
    s.case("aten.mul.Scalar", ints(3), 2.5)
    s.case("aten.div.Scalar", real(3), 4)
    s.case("aten.div.Scalar", ints(3), 4)
    for x, y in ((real(2, 3), positive(3)), (ints(2, 3), ints(3, low=1, high=5)), (ints(2, 3), -ints(3, low=1, high=5))):
        for mode in (None, "floor", "trunc"):
            s.case("aten.div.Tensor_mode", x, y, rounding_mode=mode)
        s.case("aten.floor_divide.default", x, y)
        s.case("aten.remainder.Tensor", x, y)
        s.case("aten.fmod.Tensor", x, y)
    for c in (3, -2):
        for mode in (None, "floor", "trunc"):
            s.case("aten.div.Scalar_mode", ints(6), c, rounding_mode=mode)
            s.case("aten.div.Scalar_mode", real(6) * 5, c, rounding_mode=mode)
        s.case("aten.remainder.Scalar", ints(6), c)
        s.case("aten.fmod.Scalar", ints(6), c)
        s.case("aten.remainder.Scalar", real(6), 1.5)
        s.case("aten.floor_divide.Scalar", ints(6), c)
    for op in ("addcmul", "addcdiv"):
        s.case(f"aten.{op}.default", real(2, 3), real(3), positive(2, 1))
        s.case(f"aten.{op}.default", real(3), real(2, 1), positive(3), value=0.5)
    s.case("aten.lerp.Scalar", real(2, 3), real(3), 0.25)
    s.case("aten.lerp.Tensor", real(2, 3), real(3), torch.rand(2, 1, dtype=f64))
    for c in (0, 1, 2, 3, -1, 0.5, -0.5, 1.5):
        s.case("aten.pow.Tensor_Scalar", positive(4), c)
    s.case("aten.pow.Tensor_Scalar", ints(4), 2)
    s.case("aten.pow.Tensor_Scalar", ints(4, low=1), 0.5)
    s.case("aten.pow.Tensor_Tensor", positive(2, 3), real(3))
    s.case("aten.pow.Scalar", 2.5, real(4))
    s.case("aten.pow.Scalar", 2, ints(4, low=0))


def backward(s):
    dy, x = real(3, 4), real(3, 4)
    for approximate in ("none", "tanh"):
        s.case("aten.gelu_backward.default", dy, x, approximate=approximate)
    s.case("aten.gelu_backward.default", dy, x)
    s.case("aten.sigmoid_backward.default", dy, torch.sigmoid(x))
    s.case("aten.tanh_backward.default", dy, torch.tanh(x))
    s.case("aten.silu_backward.default", dy, x)
    s.case("aten.threshold_backward.default", dy, x, 0)
    s.case("aten.threshold_backward.default", dy, x, 0.25)
    s.case("aten.leaky_relu_backward.default", dy, x, 0.1, False)
    s.case("aten.softplus_backward.default", dy, x, 2.0, 1.0)
    s.case("aten.elu_backward.default", dy, 0.5, 2.0, 1.5, False, x)
    s.case("aten.elu_backward.default", dy, 1.0, 1.0, 1.0, True, torch.nn.functional.elu(x))
    s.case("aten.hardtanh_backward.default", dy, x, -0.5, 0.5)
    s.case("aten.hardsigmoid_backward.default", dy.to(f32), (x * 4).to(f32))
    s.case("aten.hardswish_backward.default", dy, x * 4)
    s.case("aten.mish_backward.default", dy, x)
    s.case("aten.log_sigmoid_backward.default", dy, x, torch.exp(-x.abs()))


def comparisons(s):
    for op in ("ge", "gt", "le", "lt", "eq", "ne"):
        s.case(f"aten.{op}.Scalar", ints(8), 1)
        s.case(f"aten.{op}.Scalar", ints(8), 0.5)
        s.case(f"aten.{op}.Scalar", real(8), 0)
        s.case(f"aten.{op}.Tensor", ints(3, 4), ints(4))
        s.case(f"aten.{op}.Tensor", ints(3, 4), ints(4).to(f64))
        s.case(f"aten.{op}.Tensor", ints(3, 4, dtype=torch.int32), ints(4))
        s.case(f"aten.{op}.Tensor", bools(4), bools(4))
        s.case(f"aten.{op}.Tensor", bools(4), ints(4, low=0, high=2))
    s.case("aten.eq.Scalar", bools(4), True)
    for op in ("logical_and", "logical_or", "logical_xor"):
        s.case(f"aten.{op}.default", bools(3, 4), bools(4))
        s.case(f"aten.{op}.default", ints(3, 4, low=0, high=2), real(4))
    s.case("aten.logical_not.default", bools(4))
    s.case("aten.logical_not.default", ints(6, low=0, high=2))
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        s.case(f"aten.{op}.Tensor", bools(3, 4), bools(4))
        s.case(f"aten.{op}.Tensor", ints(3, 4, low=0, high=16), ints(4, low=0, high=16))
        s.case(f"aten.{op}.Scalar", ints(6, low=0, high=16), 6)
    s.case("aten.bitwise_not.default", bools(4))
    s.case("aten.bitwise_not.default", ints(4))
    for op in ("bitwise_left_shift", "bitwise_right_shift"):
        s.case(f"aten.{op}.Tensor", ints(4, low=0, high=40), ints(4, low=0, high=4))
        s.case(f"aten.{op}.Tensor_Scalar", ints(4, low=0, high=40), 2)
    s.case("aten.__lshift__.Scalar", ints(4, low=0, high=16), 2)
    s.case("aten.__rshift__.Scalar", ints(4, low=0, high=16), 2)
    # Truth values beside numbers are numbers.
    s.case("aten.square.default", bools(4))
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor", "__lshift__", "__rshift__"):
        s.case(f"aten.{op}.Scalar", bools(4), 3)
    x = torch.tensor([1.0, float("inf"), float("-inf"), 0.0], dtype=f64)
    s.case("aten.isinf.default", x)
    s.case("aten.isfinite.default", x)
    s.case("aten.isnan.default", torch.tensor([1.0, 2.0], dtype=f64))


def choices(s):
    m = bools(3, 1)
    s.case("aten.where.self", m, real(4), real(3, 4))
    s.case("aten.where.self", bools(4), ints(4), real(4))
    s.case("aten.where.ScalarOther", m, real(3, 4), 0.5)
    s.case("aten.where.ScalarSelf", m, 0.5, real(3, 4))
    s.case("aten.where.Scalar", m, 1.0, 0.0)
    s.case("aten.where.Scalar", m, 1, 2)
    s.case("aten.masked_fill.Scalar", real(3, 4), m, 7)
    s.case("aten.masked_fill.Scalar", real(4), bools(3, 4), float("-inf"))
    s.case("aten.masked_fill.Tensor", real(3, 4), m, torch.tensor(2.5, dtype=f64))


def more(s):
    one = lambda op, x, *args, **kw: s.case(f"aten.{op}", x, *args, **kw)
    x = real(3, 4) * 2
    for op in ("celu", "hardshrink", "softshrink", "erfc", "asinh", "frac", "sgn", "signbit", "deg2rad", "rad2deg", "isposinf", "isneginf"):
        one(f"{op}.default", x)
    one("celu.default", x, 2.0)
    one("hardshrink.default", x, 1.0)
    one("softshrink.default", x, 1.0)
    one("hardshrink_backward.default", real(3, 4), x, 0.75)
    one("softshrink_backward.default", real(3, 4), x, 0.75)
    one("threshold.default", x, 0.25, -1.5)
    one("prelu.default", real(2, 3, 4), real(3))
    one("prelu.default", real(2, 3, 4), real(1))
    one("prelu.default", real(2, 3).to(bf16), real(1, dtype=f32))
    w = real(1, 4)
    one("_prelu_kernel.default", x, w, reference=lambda: torch.where(x > 0, x, w * x))
    for d in (0, 1, -1):
        y = real(4, 6)
        one("glu.default", y, d)
        one("glu_backward.default", torch.ops.aten.glu(y, d), y, d)
    odds = torch.rand(5, dtype=f64)
    one("logit.default", odds)
    one("logit.default", torch.tensor([0.0, 0.01, 0.5, 0.99], dtype=f64), 0.05)
    one("logit_backward.default", real(5), odds)
    one("logit_backward.default", real(5), odds, 0.25)
    one("acosh.default", positive(4) + 1)
    one("atanh.default", torch.rand(4, dtype=f64) * 0.9)
    for op in ("hypot", "fmax", "fmin", "logaddexp", "logaddexp2", "heaviside", "nextafter"):
        one(f"{op}.default", real(3, 4), real(3, 4) if op == "nextafter" else real(4))
    one("heaviside.default", torch.tensor([-1.0, 0.0, 2.0], dtype=f64), torch.tensor(0.5, dtype=f64))
    one("copysign.Tensor", real(3, 4), real(4))
    one("copysign.Scalar", real(4), -2.0)
    one("copysign.Scalar", real(4), 2.0)
    one("xlogy.Tensor", torch.tensor([0.0, 1.0, 2.0], dtype=f64), torch.tensor([0.5, 2.0, 3.0], dtype=f64))
    ends = torch.tensor([-math.inf, -1.0, 2.0, math.inf], dtype=f64)
    for t in (f64, f32):
        one("nan_to_num.default", ends.to(t))
        one("nan_to_num.default", ends.to(t), 1.0, 5.0, -6.0)
    one("nan_to_num.default", ints(4))
    one("isposinf.default", ends)
    one("isneginf.default", ends)
    one("lgamma.default", positive(4))
    one("i0.default", real(4))
    for op in ("digamma", "erfinv"):
        one(f"{op}.default", odds, unknown=[0])
    one("polygamma.default", 2, odds, unknown=[0])
    one("igamma.default", odds, odds, unknown=[0])
    one("igammac.default", odds, odds, unknown=[0])
    one("gcd.default", ints(6, low=1, high=30), ints(6, low=1, high=30))
    one("ldexp.Tensor", real(4), ints(4))
    one("clamp_min.Tensor", real(3, 4), real(4))
    one("clamp_max.Tensor", real(3, 4), real(4))
    one("remainder.Scalar_Tensor", 5, ints(4, low=1, high=4))
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"):
        one(f"{op}.Scalar_Tensor", 13, ints(4, low=0, high=4))
    quantised(s)


def quantised(s):
    x = real(3, 4) * 10
    low, high, scale, zero = -128, 127, 0.25, 3
    to = lambda v, sc, z: torch.clamp(torch.round(v / sc) + z, low, high).to(torch.int8)
    q = to(x, scale, zero)
    s_, z_ = torch.tensor(scale, dtype=f64), torch.tensor(zero)
    name = "quantized_decomposed"
    s.case(f"{name}.quantize_per_tensor.default", x, scale, zero, low, high, torch.int8, reference=lambda: q)
    s.case(f"{name}.quantize_per_tensor.tensor", x, s_, z_, low, high, torch.int8, reference=lambda: q)
    back = lambda v, sc, z: ((v.to(f32) - z) * sc).to(f32)
    s.case(f"{name}.dequantize_per_tensor.default", q, scale, zero, low, high, torch.int8, reference=lambda: back(q, scale, zero))
    s.case(f"{name}.dequantize_per_tensor.tensor", q, s_, z_, low, high, torch.int8, reference=lambda: back(q, s_, z_))
    for dim in (0, 1):
        scales, zeros = positive(x.shape[dim]), ints(x.shape[dim])
        wide = lambda v: v[:, None] if dim == 0 else v
        q = to(x, wide(scales), wide(zeros))
        s.case(f"{name}.quantize_per_channel.default", x, scales, zeros, dim, low, high, torch.int8, reference=lambda: q)
        s.case(f"{name}.dequantize_per_channel.default", q, scales, zeros, dim, low, high, torch.int8,
               reference=lambda: back(q, wide(scales), wide(zeros)))
        s.case(f"{name}.dequantize_per_channel.default", q, scales, None, dim, low, high, torch.int8, reference=lambda: back(q, wide(scales), 0))
