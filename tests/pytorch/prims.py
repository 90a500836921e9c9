"""Cases of frameworks/pytorch/prims.rules."""
import torch

from pointwise import bools, f32, i64, ints, positive, real


def cases(s):
    one = lambda op, *args, **kw: s.case(f"prims.{op}.default", *args, **kw)
    layouts(one)
    new_tensors(one)
    for op in ("abs", "neg", "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "erf", "floor", "ceil", "round", "trunc",
               "sign", "isfinite"):
        one(op, real(3, 4) * 3)
    for op in ("sqrt", "rsqrt", "reciprocal", "log", "log1p", "log2", "log10", "lgamma"):
        one(op, positive(2, 3))
    one("erf_inv", torch.rand(5, dtype=torch.float64), unknown=[0])
    for op in ("asin", "acos"):
        one(op, torch.rand(5, dtype=torch.float64))
    one("bitwise_not", bools(4))
    one("bitwise_not", ints(4))
    for op in ("add", "sub", "mul", "div", "maximum", "minimum", "pow", "atan2", "remainder", "fmod", "eq", "ne", "ge", "gt", "le", "lt"):
        one(op, positive(2, 3), real(2, 3))
        if op not in ("pow", "atan2"):
            x = ints(2, 6)
            one(op, x, torch.where(ints(2, 6) > 0, x, ints(2, 6, low=1)).abs() + 1)
    one("div", ints(9), -ints(9, low=1, high=4))
    for op in ("fmax", "fmin"):
        one(op, real(4), real(4))
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        one(op, bools(6), bools(6))
        one(op, ints(6), ints(6))
    for op in ("shift_left", "shift_right_arithmetic"):
        one(op, ints(6), ints(6, low=0, high=4))
    x, y, z = real(3), real(3), real(3)
    one("fma", x, y, z, reference=lambda: x * y + z)
    one("where", bools(6), real(6), real(6))
    for op in ("sum", "amax", "amin", "prod"):
        one(op, real(2, 3, 4), [0, 2])
        one(op, real(2, 3), [0, 1])
    one("var", real(2, 3, 4), [1, 2], correction=1)
    one("var", real(2, 3, 4), [1], correction=0)


def layouts(one):
    one("convert_element_type", real(3), f32)
    one("convert_element_type", real(3) * 4, i64)
    one("convert_element_type", ints(3), torch.bool)
    one("convert_element_type", bools(3), torch.float64)
    one("to_dtype", ints(3), torch.float64)
    one("device_put", real(3), torch.device("cpu"))
    one("view_of", real(3))
    x = real(3)
    one("clone", x, reference=lambda: x)
    one("item", torch.tensor(2.5, dtype=torch.float64), reference=lambda: torch.tensor(2.5, dtype=torch.float64))
    a, b = real(3), real(3)
    one("copy_to", a, b)
    one("reshape", real(2, 6), [3, 4])
    x = real(2, 3, 4)
    one("collapse_view", x, 1, 2, reference=lambda: x.reshape(2, 12))
    one("split_dim", real(2, 6), 1, 2)
    one("squeeze", real(2, 1, 3, 1), [1, 3])
    one("transpose", real(2, 3, 4), [2, 0, 1])
    one("rev", real(3, 4), [0, 1])
    one("cat", [real(2, 3), real(1, 3)], 0)
    one("broadcast_in_dim", real(3, 1), [2, 3, 4], [1, 2])
    one("broadcast_in_dim", real(3), [3, 2], [0])
    one("broadcast_in_dim", torch.tensor(1.5, dtype=torch.float64), [2, 2], [])
    one("slice", real(5, 7), [1, 0], [5, 6], [2, 3])
    one("slice", real(5, 7), [1, 2], [5, 3])
    one("slice_in_dim", real(5, 7), 1, 6, 2, 1)
    one("slice_in_dim", real(5), 0, 2)


def new_tensors(one):
    cpu = torch.device("cpu")
    one("iota", 5, start=3, step=2, dtype=i64, device=cpu, requires_grad=False, reference=lambda: torch.arange(3, 13, 2))
    one("iota", 4, start=0, step=1, dtype=i64, device=cpu, requires_grad=False, reference=lambda: torch.arange(4))
    one("scalar_tensor", 2.5, dtype=torch.float64, device=cpu)
    one("full", [2, 3], 1.5, dtype=torch.float64, device=cpu, requires_grad=False, reference=lambda: torch.full((2, 3), 1.5, dtype=torch.float64))
    x = real(2, 3)
    one("full_like", x, 2.0, dtype=torch.float64, device=cpu, requires_grad=False, reference=lambda: torch.full_like(x, 2.0))
    one("fill", x, 3.0)
    one("empty_strided", [2, 3], [3, 1], dtype=torch.float64, device=cpu, requires_grad=False, unknown=[0], reference=lambda: x)
    one("empty_permuted", [2, 3], [0, 1], dtype=torch.float64, device=cpu, requires_grad=False, unknown=[0], reference=lambda: x)
