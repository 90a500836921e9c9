"""Cases of frameworks/megatron: operators of Megatron-LM, Apex, Transformer Engine and grouped_gemm, by their definitions."""
import torch
import torch.nn.functional as F

from pointwise import bools, f64, ints, real
from products import gradients


def cases(s):
    norms(s)
    softmax(s)
    activations(s)
    rotary(s)
    grouped(s)
    x = real(3)
    s.case("tg.log_tensor.default", x, "label", reference=lambda: x)


def norms(s):
    x, dy, w, b = real(2, 3, 4), real(2, 3, 4), real(4), real(4)
    _, mean, rstd = torch.ops.aten.native_layer_norm(x, [4], w, b, 1e-5)
    rows = lambda t: t.reshape(-1)
    s.case("apex.fused_layer_norm_affine_fwd.default", x, w, b, [4], 1e-5,
           reference=lambda: [F.layer_norm(x, [4], w, b), rows(mean), rows(rstd)])
    _, back = gradients(lambda y, v, c: F.layer_norm(y, [4], v, c), x, w, b)
    s.case("apex.fused_layer_norm_affine_bwd.default", dy, rows(mean), rows(rstd), x, [4], w, b, 1e-5, reference=lambda: back(dy))
    root = torch.rsqrt((x * x).mean(-1) + 1e-5)
    rms = lambda y, v: y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5) * v
    out, rms_back = gradients(rms, x, w)
    s.case("apex.fused_rms_norm_affine_fwd.default", x, w, [4], 1e-5, reference=lambda: [out, rows(root)])
    s.case("apex.fused_rms_norm_affine_bwd.default", dy, rows(root), x, [4], w, 1e-5, reference=lambda: rms_back(dy))


def softmax(s):
    x, mask = real(2, 3, 4, 4), bools(2, 1, 4, 4)
    mask[..., 0] = False
    upper = torch.ones(4, 4, dtype=torch.bool).triu(1)
    triangle = lambda y: torch.softmax((y * 0.5).masked_fill(upper, float("-inf")), -1)
    masked = lambda y: torch.softmax((y * 0.5).masked_fill(mask, -10000.0), -1)
    plain = lambda y: torch.softmax(y * 0.5, -1)
    for op, f, args in (("scaled_upper_triang_masked_softmax", triangle, []), ("scaled_masked_softmax", masked, [mask]), ("scaled_softmax", plain, [])):
        y = x.flatten(0, 1) if f is triangle else x
        out, back = gradients(f, y)
        dy = torch.randn_like(y)
        s.case(f"megatron.{op}.forward", y, *args, 0.5, reference=lambda: out)
        s.case(f"megatron.{op}.backward", dy, out, 0.5, reference=lambda: back(dy)[0])


def activations(s):
    x, bias = real(2, 3, 8), real(8)
    gelu = lambda y, b: F.gelu(y + b, approximate="tanh")

    def gated(f):
        def value(y, b):
            gate, up = (y if b is None else y + b).chunk(2, -1)
            return f(gate) * up
        return value
    tanh = lambda y: F.gelu(y, approximate="tanh")
    for op, f, b in (("bias_gelu", gelu, bias), ("bias_swiglu", gated(F.silu), bias), ("swiglu", gated(F.silu), None),
                     ("bias_geglu", gated(tanh), bias), ("geglu", gated(tanh), None)):
        given = [x] if b is None else [x, b]
        out, back = gradients(f, x, b)
        dy = torch.randn_like(out)
        s.case(f"megatron.{op}.default", *given, reference=lambda: out)
        s.case(f"megatron.{op}_back.default", dy, *given, reference=lambda: back(dy)[0])
    res, p = real(2, 3, 8), 0.0
    s.case("megatron.bias_dropout_add.default", x, bias, res, p, True, reference=lambda: x + bias + res)
    s.case("megatron.bias_dropout_add.default", x, None, res, 0.5, False, reference=lambda: x + res)
    s.case("megatron.bias_dropout_add.default", x, bias, res, 0.5, True, reference=lambda: x, unknown=[0])


def rotary(s):
    t, freqs = real(3, 2, 2, 6), real(3, 1, 1, 4)

    def turned(y, cos, sin):
        part, rest = y[..., :4], y[..., 4:]
        a, b = part.chunk(2, -1)
        return torch.cat([part * cos + torch.cat([-b, a], -1) * sin, rest], -1)
    cos, sin = freqs.cos(), freqs.sin()
    out, back = gradients(lambda y: turned(y, cos, sin), t)
    dy = torch.randn_like(t)
    s.case("apex.fused_rope_forward.default", t, freqs, False, reference=lambda: out)
    s.case("apex.fused_rope_backward.default", dy, freqs, False, reference=lambda: back(dy)[0])
    s.case("apex.fused_rope_cached_forward.default", t, cos, sin, False, reference=lambda: out)
    s.case("apex.fused_rope_cached_backward.default", dy, cos, sin, False, reference=lambda: back(dy)[0])
    whole = t[..., :4]
    s.case("apex.fused_rope_forward.default", whole, freqs, False, reference=lambda: turned(whole, cos, sin))


def grouped(s):
    sizes = torch.tensor([2, 0, 3])
    ends = sizes.cumsum(0)
    x, w = real(5, 4), real(3, 4, 6)
    starts = (ends - sizes).tolist()
    groups = [slice(a, b) for a, b in zip(starts, ends.tolist())]
    value = torch.cat([x[g] @ w[e] for e, g in enumerate(groups)])
    s.case("grouped_gemm.gmm.default", x, w, sizes, False, False, reference=lambda: value)
    s.case("grouped_gemm.gmm.default", x, w.transpose(1, 2), sizes, False, True, reference=lambda: value)
    dy = real(5, 6)
    s.case("grouped_gemm.gmm.default", x, dy, sizes, True, False, reference=lambda: torch.stack([x[g].T @ dy[g] for g in groups]))
    s.case("aten._grouped_mm.default", x, w, ends.to(torch.int32), reference=lambda: value)
    s.case("aten._grouped_mm.default", x.T, dy, ends.to(torch.int32), reference=lambda: torch.stack([x[g].T @ dy[g] for g in groups]))
    a, b = real(3, 2, 4), real(3, 4, 5)
    s.case("aten._grouped_mm.default", a, b, None, reference=lambda: a @ b)
    routed = ints(5, 2, low=0, high=3)
    s.case("te.moe_permute.default", x, routed, reference=lambda: [real(10, 4), ints(10)], unknown=[0, 1])
    s.case("te.moe_unpermute.default", real(10, 4), ints(10), torch.rand(5, 2, dtype=f64), reference=lambda: x, unknown=[0])
