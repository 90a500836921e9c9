"""Cases of frameworks/vllm: vLLM's custom operators, by their definitions. In-place ones give the new values of what they mutate."""
import torch
import torch.nn.functional as F

from pointwise import f64, ints, real

WORLD = 2


def cases(s):
    def in_place(op, mutated, *results, unknown=(), **kwargs):
        s.case(op, reference=lambda: [None, *results], mutates=mutated, unknown=unknown, **kwargs)
    x, out = real(3, 8), torch.zeros(3, 4, dtype=f64)
    a, b = x.chunk(2, -1)
    for op, value in (("silu_and_mul", F.silu(a) * b), ("mul_and_silu", a * F.silu(b)), ("gelu_and_mul", F.gelu(a) * b),
                      ("gelu_tanh_and_mul", F.gelu(a, approximate="tanh") * b)):
        in_place(f"_C.{op}.default", ["out"], value, out=out, input=x)
    for op, value in (("gelu_new", F.gelu(x, approximate="tanh")), ("gelu_fast", F.gelu(x, approximate="tanh")),
                      ("gelu_quick", x * torch.sigmoid(1.702 * x))):
        in_place(f"_C.{op}.default", ["out"], value, out=torch.zeros_like(x), input=x)
    w, residual = real(8), real(3, 8)

    def rms(y):
        return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5) * w
    in_place("_C.rms_norm.default", ["result"], rms(x), result=torch.zeros_like(x), input=x, weight=w, epsilon=1e-5)
    in_place("_C.fused_add_rms_norm.default", ["input", "residual"], rms(x + residual), x + residual, input=x, residual=residual, weight=w,
             epsilon=1e-5)
    rotary(s, in_place)
    experts(s)
    eight_bits(s, in_place)
    q, k, v = real(3, 4 * 2), real(3, 2 * 2), real(3, 2 * 2)
    heads = lambda y, n: y.reshape(3, n, 2)
    in_place("vllm.unified_attention_with_output.default", ["output"], torch.zeros(3, 4, 2, dtype=f64), unknown=[1], query=heads(q, 4),
             key=heads(k, 2), value=heads(v, 2), output=torch.zeros(3, 4, 2, dtype=f64), layer_name="layers.0")
    s.case("vllm.unified_attention.default", heads(q, 4), heads(k, 2), heads(v, 2), "layers.0", reference=lambda: heads(q, 4), unknown=[0])
    xs = [real(2, 4) for _ in range(WORLD)]
    total = sum(xs)

    def everywhere(op, args, expected):
        s.ranks([(f"vllm.{op}.default", args(r), {"group": list(range(WORLD)), "group_name": "tp"}, expected(r)) for r in range(WORLD)])
    everywhere("all_reduce", lambda r: [xs[r]], lambda r: total)
    for dim in (0, -1):
        everywhere("all_gather", lambda r: [xs[r], dim, WORLD], lambda r: torch.cat(xs, dim))
        everywhere("reduce_scatter", lambda r: [xs[r], dim, WORLD], lambda r: total.chunk(WORLD, dim)[r])


def eight_bits(s, in_place):
    """The type that is narrow is that of the result: here a wide one, so that only scales and bounds are compared."""
    x, one, w, residual = real(3, 8) * 3, torch.tensor([0.01], dtype=f64), real(8), real(3, 8)
    out = torch.zeros(3, 8, dtype=f64)

    def fp8(y, scale):
        return (y / scale).clamp(-448, 448)

    def rms(y):
        return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5) * w
    in_place("_C.static_scaled_fp8_quant.default", ["result"], fp8(x, one), result=out, input=x, scale=one)
    whole = x.abs().max().reshape(1) / 448
    in_place("_C.dynamic_scaled_fp8_quant.default", ["result", "scale"], fp8(x, whole), whole, result=out, input=x, scale=one)
    rows = x.abs().amax(-1, keepdim=True)
    for bound in (None, torch.tensor([2.0], dtype=f64)):
        scales = ((rows if bound is None else rows.clamp(max=2.0)) / 448).clamp(min=1 / (448 * 512))
        in_place("_C.dynamic_per_token_scaled_fp8_quant.default", ["result", "scale"], fp8(x, scales), scales, result=out, input=x,
                 scale=torch.zeros(3, 1, dtype=f64), scale_ub=bound)
    tens = torch.tensor([0.05], dtype=f64)
    in_place("_C.static_scaled_int8_quant.default", ["result"], (x / tens).round().clamp(-128, 127), result=out, input=x, scale=tens)
    in_place("_C.dynamic_scaled_int8_quant.default", ["result", "scale"], (x / (rows / 127)).round(), rows / 127, result=out, input=x,
             scale=torch.zeros(3, 1, dtype=f64))
    in_place("_C.rms_norm_static_fp8_quant.default", ["result"], fp8(rms(x), one), result=out, input=x, weight=w, scale=one, epsilon=1e-5)
    in_place("_C.fused_add_rms_norm_static_fp8_quant.default", ["result", "residual"], fp8(rms(x + residual), one), x + residual, result=out,
             input=x, residual=residual, weight=w, scale=one, epsilon=1e-5)
    a, b = x.chunk(2, -1)
    in_place("_C.silu_and_mul_quant.default", ["result"], fp8(F.silu(a) * b, one), result=torch.zeros(3, 4, dtype=f64), input=x, scale=one)
    y, bias = real(8, 5), real(5)
    for sa, sb in ((one, tens), (real(3, 1), real(5, 1)), (one, real(5)), (real(3, 1), real(1, 5))):
        for extra in (None, bias):
            product = (x @ y) * sa * sb.reshape(1, -1)
            in_place("_C.cutlass_scaled_mm.default", ["out"], product if extra is None else product + extra, out=torch.zeros(3, 5, dtype=f64), a=x,
                     b=y, a_scales=sa, b_scales=sb, bias=extra)
    gates = real(4, 6)
    best = gates.softmax(-1).topk(2)
    rows_of = torch.zeros(4, 2, dtype=torch.int64)
    in_place("_moe_C.topk_softmax.default", ["topk_weights", "topk_indices", "token_expert_indices"], best.values, best.indices, rows_of, unknown=[3],
             topk_weights=torch.zeros(4, 2, dtype=f64), topk_indices=rows_of, token_expert_indices=rows_of, gating_output=gates)


def rotary(s, in_place):
    """The first `width` places of each head are turned: neighbours (or halves, as in GPT-NeoX) are the two coordinates."""
    size, positions = 6, torch.tensor([0, 3, 1])
    for width in (4, 6):
        cache = real(5, width)
        cos, sin = (t[:, None] for t in cache[positions].chunk(2, -1))
        for neox in (True, False):
            def turned(x, heads):
                y = x.reshape(3, heads, size).clone()
                part = y[..., :width]
                first, second = part.chunk(2, -1) if neox else (part[..., ::2], part[..., 1::2])
                pair = (first * cos - second * sin, second * cos + first * sin)
                y[..., :width] = torch.cat(pair, -1) if neox else torch.stack(pair, -1).flatten(-2)
                return y.reshape(x.shape)
            for shape in (lambda heads: (3, heads * size), lambda heads: (3, heads, size)):
                q, k = real(*shape(2)), real(*shape(1))
                in_place("_C.rotary_embedding.default", ["query", "key"], turned(q, 2), turned(k, 1), positions=positions, query=q, key=k,
                         head_size=size, cos_sin_cache=cache, is_neox=neox)


def experts(s):
    tokens, hidden, inner, count, chosen = 5, 4, 3, 6, 2
    x, w1, w2 = real(tokens, hidden), real(count, 2 * inner, hidden), real(count, hidden, inner)
    weights = torch.rand(tokens, chosen, dtype=f64)
    ids = torch.rand(tokens, count).argsort(1)[:, :chosen]

    def mixed(act, at=None):
        out = torch.zeros_like(x)
        for t in range(tokens):
            for c in range(chosen):
                e = int(ids[t, c]) if at is None else int(at[ids[t, c]])
                if e >= 0:
                    gate, up = (w1[e] @ x[t]).chunk(2)
                    out[t] += weights[t, c] * (w2[e] @ (act(gate) * up))
        return out
    s.case("vllm.outplace_fused_experts.default", x, w1, w2, weights, ids, reference=lambda: mixed(F.silu))
    s.case("vllm.outplace_fused_experts.default", x, w1, w2, weights, ids, "gelu", False, reference=lambda: mixed(F.gelu))
    s.case("vllm.inplace_fused_experts.default", x, w1, w2, weights, ids, mutates=["hidden_states"], reference=lambda: [None, mixed(F.silu)])
    at = torch.tensor([0, -1, 1, -1, 2, 3])  # where the experts of the model are among those of this rank
    s.case("vllm.outplace_fused_experts.default", x, w1[:4], w2[:4], weights, ids, global_num_experts=6, expert_map=at,
           reference=lambda: mixed(F.silu, at))
