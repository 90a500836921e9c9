"""Cases of frameworks/pytorch/matmul.rules and norms.rules."""
import math

import torch

from pointwise import bf16, bools, f32, f64, i64, ints, positive, real


def cases(s):
    products(s)
    attention(s)
    subscripts(s)
    narrow(s)
    norms(s)


def products(s):
    s.case("aten.mm.default", real(2, 3), real(3, 4))
    s.case("aten.mv.default", real(2, 3), real(3))
    s.case("aten.dot.default", real(3), real(3))
    s.case("aten.vdot.default", real(3), real(3))
    s.case("aten.bmm.default", real(2, 3, 4), real(2, 4, 5))
    s.case("aten.outer.default", real(3), real(4))
    s.case("aten.inner.default", real(2, 3), real(4, 3))
    s.case("aten.outer.default", real(3), real(4, dtype=f32))
    s.case("aten.addr.default", real(3, 4, dtype=f32), real(3), real(4, dtype=f32))
    s.case("aten.einsum.default", "i,j->ij", [real(3), real(4, dtype=f32)])
    s.case("aten.einsum.default", "ij->", [ints(3, 4).to(torch.int32)])
    for bias in (real(2, 4), real(4), real(1, 4), torch.tensor(0.5, dtype=f64)):
        s.case("aten.addmm.default", bias, real(2, 3), real(3, 4))
        s.case("aten.addmm.default", bias, real(2, 3), real(3, 4), beta=0.5, alpha=2)
    s.case("aten.addmm.default", real(4), real(2, 3), real(3, 4), beta=0)
    s.case("aten.addmv.default", real(2), real(2, 3), real(3), beta=2, alpha=0.5)
    s.case("aten.addbmm.default", real(3, 5), real(2, 3, 4), real(2, 4, 5), beta=2, alpha=0.5)
    s.case("aten.addr.default", real(3, 4), real(3), real(4))
    for bias in (real(2, 3, 5), real(5), real(1, 3, 1)):
        s.case("aten.baddbmm.default", bias, real(2, 3, 4), real(2, 4, 5), beta=0.5, alpha=2)
    s.case("aten.baddbmm.default", real(2, 3, 5), real(2, 3, 4), real(2, 4, 5), beta=0.0, alpha=0.125)
    s.case("aten.baddbmm.default", real(2, 3, 5), real(2, 3, 4), real(2, 4, 5))
    for x in (real(3), real(2, 3), real(2, 4, 3)):
        s.case("aten.linear.default", x, real(5, 3))
        s.case("aten.linear.default", x, real(5, 3), real(5))
        s.case("aten.linear.default", x, real(5, 3), None)
    for a, b in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((2, 5, 3), (3, 4)), ((2, 5, 3), (2, 3, 4)), ((3,), (2, 3, 4)),
                 ((2, 5, 3), (3,)), ((6, 1, 5, 3), (2, 3, 4)), ((5, 3), (2, 3, 4))):
        s.case("aten.matmul.default", real(*a), real(*b))


def attended(q, k, v, mask=None, causal=False, scale=None, grouped=False):
    """(output, weights, logarithm of each row's sum of exponentials)"""
    if grouped:
        k = k.repeat_interleave(q.shape[-3] // k.shape[-3], -3)
        v = v.repeat_interleave(q.shape[-3] // v.shape[-3], -3)
    scores = q @ k.transpose(-1, -2) * (scale if scale is not None else 1 / math.sqrt(q.shape[-1]))
    if causal:
        scores = scores.masked_fill(~torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(), float("-inf"))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    weights = torch.softmax(scores, -1)
    return weights @ v, weights, torch.logsumexp(scores, -1)


def gradients(f, *operands):
    """(outputs, a function from their gradients to those of the operands, None for one that is None)"""
    leaves = [None if x is None else x.detach().clone().requires_grad_() for x in operands]
    out = f(*leaves)
    given = [x for x in leaves if x is not None]

    def back(dy):
        grads = iter(torch.autograd.grad(out, given, dy, retain_graph=True))
        return [None if x is None else next(grads) for x in leaves]
    return out.detach(), back


def attention(s):
    q, k, v = real(2, 2, 3, 4), real(2, 2, 5, 4), real(2, 2, 5, 4)
    bias, mask = real(3, 5), torch.ones(3, 5, dtype=torch.bool).tril(1)
    sdpa = "aten.scaled_dot_product_attention.default"
    s.case(sdpa, q, k, v, reference=lambda: attended(q, k, v)[0])
    s.case(sdpa, q, k, v, None, 0.0, True, reference=lambda: attended(q, k, v, causal=True)[0])
    s.case(sdpa, q, k, v, bias, reference=lambda: attended(q, k, v, bias)[0])
    s.case(sdpa, q, k, v, mask, reference=lambda: attended(q, k, v, mask)[0])
    s.case(sdpa, q, k, v, mask, 0.0, False, scale=0.25, reference=lambda: attended(q, k, v, mask, scale=0.25)[0])
    s.case(sdpa, q[0], k[0], v[0], scale=0.25, reference=lambda: attended(q[0], k[0], v[0], scale=0.25)[0])
    k1, v1 = k[:, :1], v[:, :1]
    s.case(sdpa, q, k1, v1, enable_gqa=True, reference=lambda: attended(q, k1, v1, grouped=True)[0])
    s.case(sdpa, q, k1, v1, None, 0.0, True, enable_gqa=True, reference=lambda: attended(q, k1, v1, causal=True, grouped=True)[0])
    s.case(sdpa, q, k, v, None, 0.5, reference=lambda: attended(q, k, v)[0], unknown=[0])
    math_ = "aten._scaled_dot_product_attention_math.default"
    s.case(math_, q, k, v, reference=lambda: list(attended(q, k, v)[:2]))
    s.case(math_, q, k, v, None, 0.0, True, reference=lambda: list(attended(q, k, v, causal=True)[:2]))
    s.case(math_, q, k, v, None, 0.5, reference=lambda: list(attended(q, k, v)[:2]), unknown=[0, 1])
    s.case(math_, q, k, v, bias, reference=lambda: list(attended(q, k, v, bias)[:2]))
    seed = torch.zeros((), dtype=i64)

    def fused(count, *args, **kwargs):
        out, _, lse = attended(*args, **kwargs)
        return [out, lse] + [None, None, None, None, seed, seed, None][:count - 2]

    flash = "aten._scaled_dot_product_flash_attention.default"
    s.case(flash, q, q, v[:, :, :3], reference=lambda: fused(9, q, q, v[:, :, :3]), unknown=range(2, 9))
    qs, ks, vs = real(2, 2, 3, 4), real(2, 2, 3, 4), real(2, 2, 3, 4)  # as many queries as keys
    s.case(flash, qs, ks, vs, 0.0, True, reference=lambda: fused(9, qs, ks, vs, causal=True), unknown=range(2, 9))
    s.case(flash, q, k, v, 0.0, False, False, scale=0.3, reference=lambda: fused(9, q, k, v, scale=0.3), unknown=range(2, 9))
    cpu = "aten._scaled_dot_product_flash_attention_for_cpu.default"
    s.case(cpu, q, k, v, reference=lambda: fused(2, q, k, v))
    s.case(cpu, q, k, v, 0.0, True, reference=lambda: fused(2, q, k, v, causal=True))
    s.case(cpu, q, k, v, 0.0, False, attn_mask=bias, reference=lambda: fused(2, q, k, v, bias))
    efficient = "aten._scaled_dot_product_efficient_attention.default"
    s.case(efficient, q, k, v, None, True, reference=lambda: fused(4, q, k, v), unknown=[2, 3])
    s.case(efficient, q, k, v, bias, True, 0.0, False, reference=lambda: fused(4, q, k, v, bias), unknown=[2, 3])
    s.case(efficient, q, k, v, None, True, 0.0, True, reference=lambda: fused(4, q, k, v, causal=True), unknown=[2, 3])
    for wanted, rows in ((True, 32), (False, 0)):  # of none of the rows, or of more than there are
        s.case(efficient, q, k, v, None, wanted, reference=lambda: [attended(q, k, v)[0], torch.zeros(2, 2, rows, dtype=f32), seed, seed], unknown=[1, 2, 3])
    cudnn = "aten._scaled_dot_product_cudnn_attention.default"
    s.case(cudnn, q, k, v, None, True, reference=lambda: fused(9, q, k, v), unknown=range(2, 9))
    s.case(cudnn, qs, ks, vs, None, True, 0.0, True, reference=lambda: fused(9, qs, ks, vs, causal=True), unknown=range(2, 9))
    s.case(cudnn, q, k, v, bias, True, 0.0, False, reference=lambda: fused(9, q, k, v, bias), unknown=range(2, 9))
    qb, kb, vb = q.to(bf16), k.to(bf16), v.to(bf16)
    narrow_out, _, lse32 = attended(qb.to(f32), kb.to(f32), vb.to(f32))
    for op, args, more in ((flash, [], 7), (cpu, [], 0), (efficient, [None, True], 2), (cudnn, [None, True], 7)):
        s.case(op, qb, kb, vb, *args, reference=lambda: [narrow_out.to(bf16), lse32] + [None] * more)
    dout = real(2, 2, 3, 4)
    for causal in (False, True):
        a, b, c = (qs, ks, vs) if causal else (q, k, v)
        out, back = gradients(lambda a, b, c: attended(a, b, c, causal=causal)[0], a, b, c)
        lse = attended(a, b, c, causal=causal)[2]
        s.case("aten._scaled_dot_product_flash_attention_backward.default", dout, a, b, c, out, lse, None, None, 3, 5, 0.0, causal, seed, seed,
               reference=lambda: back(dout))
        s.case("aten._scaled_dot_product_cudnn_attention_backward.default", dout, a, b, c, out, lse, seed, seed, None, None, None, 3, 5, 0.0,
               causal, reference=lambda: back(dout))
        out, back = gradients(lambda a, b, c: attended(a, b, c, causal=causal)[0], q, k, v)
        lse = attended(q, k, v, causal=causal)[2]
        s.case("aten._scaled_dot_product_flash_attention_for_cpu_backward.default", dout, q, k, v, out, lse, 0.0, causal,
               reference=lambda: back(dout))
        s.case("aten._scaled_dot_product_efficient_attention_backward.default", dout, q, k, v, None, out, lse, seed, seed, 0.0,
               [True, True, True, False], causal, reference=lambda: back(dout) + [None])
    full = real(2, 2, 3, 5)
    out, back = gradients(lambda a, b, c, m: attended(a, b, c, m)[0], q, k, v, full)
    s.case("aten._scaled_dot_product_efficient_attention_backward.default", dout, q, k, v, full, out, attended(q, k, v, full)[2], seed, seed, 0.0,
           [True, True, True, True], False, reference=lambda: back(dout))
    s.case("aten._scaled_dot_product_flash_attention_for_cpu_backward.default", dout, q, k, v, out, attended(q, k, v, full)[2], 0.0, False,
           attn_mask=full, reference=lambda: back(dout)[:3])


def subscripts(s):
    """Every form of equation: matrices, batches, traces, diagonals, sums, outer products, ellipses, several operands, no arrow."""
    shapes = {"i": 3, "j": 4, "k": 5, "l": 2, "b": 6, "h": 2, "A": 4, "z": 3}

    def operands(equation):
        terms = equation.replace(" ", "").split("->")[0].split(",")
        return [real(*(n for c in term.replace("...", ".") for n in ((2, 3) if c == "." else (shapes[c],)))) for term in terms]
    for equation in ("ij,jk->ik", "ij,jk", "bij,bjk->bik", "ij->ji", "ij->", "ij->i", "ii->i", "ii", "iji->j", "i,j->ij", "i,i->i", "i,i", "ij,ij->",
                     "bhik,bhjk->bhij", "bhij,bhjk->bihk", "ij,kj->ik", "ij , jk -> ki", "...ij,...jk->...ik", "...ij,jk->...ik", "...i->...",
                     "ij...->...", "ij,jk,kl->il", "i,ij,j->", "ij,k->ijk", "ij,ik,il->jkl", "bik,jk->bij", "Aj,jA", "bA,bi", "zi,ij", "ii,ij->j",
                     "...i,...i", "bij,bkj,l->bik", "ij,ij,ij->ij"):
        s.case("aten.einsum.default", equation, operands(equation))
    s.case("aten.einsum.default", "ij,jk->ik", [real(3, 1), real(4, 5)])  # copies along j
    s.case("aten.einsum.default", "bij,bjk->bik", [real(1, 3, 4), real(2, 4, 5)])
    s.case("aten.einsum.default", "...ij,...jk->...ik", [real(2, 1, 3, 4), real(3, 4, 5)])
    s.case("aten.einsum.default", "bi,bi->b", [real(2, 1), real(1, 3)])
    s.case("aten.tensordot.default", real(2, 3, 4), real(4, 5, 3), [1, 2], [2, 0])
    s.case("aten.tensordot.default", real(2, 3), real(3, 5), [-1], [0])


def narrow(s):
    x, w, a, b = ints(3, 4, low=-4, high=5).to(f32), ints(4, 5, low=-4, high=5).to(f32), positive(3, 1).to(f32), positive(1, 5).to(f32)
    one = torch.tensor(0.5, dtype=f32)
    s.case("aten._scaled_mm.default", x, w, one, one, out_dtype=f32, reference=lambda: x @ w * 0.25)
    s.case("aten._scaled_mm.default", x, w, a, b, real(5, dtype=f32) * 0, out_dtype=f32, reference=lambda: (x * a) @ (w * b))
    i, j = ints(3, 4, low=-4, high=5).to(torch.int8), ints(4, 5, low=-4, high=5).to(torch.int8)
    s.case("aten._int_mm.default", i, j, reference=lambda: i.to(torch.int32) @ j.to(torch.int32))
    ends, rows, weights = torch.tensor([1, 1, 3], dtype=torch.int32), positive(3).to(f32), real(3, 4, 5, dtype=f32)
    sw = positive(3, 5).to(f32)
    group = [0, 2, 2]
    s.case("aten._scaled_grouped_mm.default", x, weights, rows, sw, ends,
           reference=lambda: torch.stack([(x[r] * rows[r]) @ (weights[g] * sw[g]) for r, g in enumerate(group)]))
    for order in (1.0, 2.0):
        s.case("aten._cdist_forward.default", real(3, 4), real(5, 4), order, None)
        s.case("aten._cdist_forward.default", real(2, 3, 4), real(2, 5, 4), order, 1)
        for x, y in ((real(3, 4), real(4)), (real(4), real(3, 4)), (real(3, 1), real(4))):
            s.case("aten.dist.default", x, y, order)
    s.case("aten.linalg_cross.default", real(2, 3), real(2, 3))
    s.case("aten.linalg_cross.default", real(3, 4), real(1, 4).expand(3, 4).contiguous(), dim=0)


def narrow_norms(s):
    """On a CPU the statistics of bf16 are bf16, those of f32 weights f32; gradients of weights are of their type."""
    x, dy, image, dimage = (real(*shape).to(bf16) for shape in ((2, 4), (2, 4), (2, 6, 3, 2), (2, 6, 3, 2)))
    def exactly(function, *args):
        """In double precision; gradients and results of x in its own, others in that of the weights."""
        def doubled(value):
            return value.to(f64) if isinstance(value, torch.Tensor) else value
        first, *others = function(*map(doubled, args))
        return [first.to(bf16)] + [other.to(dtype) for other in others]
    ops = torch.ops.aten
    for dtype in (bf16, f32):
        w, b, cw, cb = (positive(n).to(dtype) for n in (4, 4, 6, 6))
        normal = exactly(ops.native_layer_norm, x, [4], w, b, 1e-5)
        s.case("aten.native_layer_norm.default", x, [4], w, b, 1e-5, reference=lambda: normal)
        given = (dy, x, [4], *normal[1:], w, b, [True] * 3)
        s.case("aten.native_layer_norm_backward.default", *given, reference=lambda: exactly(ops.native_layer_norm_backward, *given))
        normal = exactly(ops.native_group_norm, image, cw, cb, 2, 6, 6, 3, 1e-5)
        s.case("aten.native_group_norm.default", image, cw, cb, 2, 6, 6, 3, 1e-5, reference=lambda: normal)
        given = (dimage, image, *normal[1:], cw, 2, 6, 6, 3, [True] * 3)
        s.case("aten.native_group_norm_backward.default", *given, reference=lambda: exactly(ops.native_group_norm_backward, *given))
        normal = exactly(torch.native_batch_norm, image, cw, cb, None, None, True, 0.1, 1e-5)
        s.case("aten._native_batch_norm_legit.no_stats", image, cw, cb, True, 0.1, 1e-5, reference=lambda: normal)
        given = (dimage, image, cw, None, None, *normal[1:], True, 1e-5, [True] * 3)
        s.case("aten.native_batch_norm_backward.default", *given, reference=lambda: exactly(ops.native_batch_norm_backward, *given))
        root = torch.rsqrt(x.to(f32).pow(2).mean(-1, keepdim=True) + 1e-5)
        s.case("aten._fused_rms_norm.default", x, [4], w, 1e-5, reference=lambda: [(x * root * w).to(bf16), root.to(dtype)])
        normal = (x * root).to(f32)
        gw = dy.to(f32) * w.to(f32)
        dx = root * (gw - normal * (gw * normal).mean(-1, keepdim=True))
        s.case("aten._fused_rms_norm_backward.default", dy, x, [4], root.to(dtype), w, [True, True],
               reference=lambda: [dx.to(bf16), (dy.to(f32) * normal).sum(0).to(dtype)])
    v, g = real(3, 4).to(bf16), positive(3, 1).to(bf16)
    length = v.to(f32).norm(2, 1, keepdim=True)
    s.case("aten._weight_norm_interface.default", v, g, 0, reference=lambda: [(v * g / length).to(bf16), length])


def norms(s):
    x, w, b = real(2, 3, 4), real(4), real(4)
    for weight, bias in ((w, b), (w, None), (None, None)):
        s.case("aten.native_layer_norm.default", x, [4], weight, bias, 1e-5)
        s.case("aten.layer_norm.default", x, [4], weight, bias)
    s.case("aten.layer_norm.default", x, [3, 4], real(3, 4), real(3, 4), 1e-3)
    s.case("aten.native_layer_norm.default", x, [3, 4], real(3, 4), real(3, 4), 1e-3)
    s.case("aten.native_layer_norm.default", real(2, 4, dtype=f32), [4], None, None, 1e-5)
    narrow_norms(s)
    for weight, bias, sizes in ((w, b, [4]), (w, None, [4]), (None, None, [4]), (real(3, 4), real(3, 4), [3, 4])):
        _, mean, rstd = torch.ops.aten.native_layer_norm(x, sizes, weight, bias, 1e-5)
        for wanted in ([True, True, True], [True, False, False], [True, True, False]):
            s.case("aten.native_layer_norm_backward.default", real(2, 3, 4), x, sizes, mean, rstd, weight, bias,
                   [want and given is not None for want, given in zip(wanted, (x, weight, bias))])

    def rms(y, weight, eps, dims=(-1,)):
        normal = y * torch.rsqrt((y * y).mean(dims, keepdim=True) + eps)
        return normal if weight is None else normal * weight

    def root(y, eps, dims=(-1,)):
        return torch.rsqrt((y * y).mean(dims, keepdim=True) + eps)
    for weight in (w, None):
        s.case("aten.rms_norm.default", x, [4], weight, 1e-5, reference=lambda: rms(x, weight, 1e-5))
        s.case("aten._fused_rms_norm.default", x, [4], weight, 1e-5, reference=lambda: [rms(x, weight, 1e-5), root(x, 1e-5)])
        out, back = gradients(lambda y, v: rms(y, v, 1e-5), x, weight)
        dy = real(2, 3, 4)
        s.case("aten._fused_rms_norm_backward.default", dy, x, [4], root(x, 1e-5), weight, [True, weight is not None],
               reference=lambda: back(dy))
    w2 = real(3, 4)
    s.case("aten.rms_norm.default", x, [3, 4], w2, 1e-3, reference=lambda: rms(x, w2, 1e-3, (-1, -2)))
    s.case("aten.rms_norm.default", x, [4], w, reference=lambda: rms(x, w, torch.finfo(f64).eps))
    y32 = real(2, 4, dtype=f32) * 1e-4
    s.case("aten.rms_norm.default", y32, [4], reference=lambda: rms(y32, None, torch.finfo(f32).eps))
    s.case("aten.rms_norm.default", y32, [4], None, None, reference=lambda: rms(y32, None, torch.finfo(f32).eps))
    image, cw, cb = real(2, 6, 3, 2), real(6), real(6)
    for weight, bias in ((cw, cb), (None, None)):
        s.case("aten.group_norm.default", image, 3, weight, bias)
        s.case("aten.group_norm.default", image, 2, weight, bias, 1e-3)
        s.case("aten.native_group_norm.default", image, weight, bias, 2, 6, 6, 3, 1e-5)
        _, mean, rstd = torch.ops.aten.native_group_norm(image, weight, bias, 2, 6, 6, 3, 1e-5)
        given = weight is not None
        s.case("aten.native_group_norm_backward.default", real(2, 6, 3, 2), image, mean, rstd, weight, 2, 6, 6, 3, [True, given, given])
    mean, variance = real(6), positive(6)
    for weight, bias in ((cw, cb), (None, None)):
        def normal():
            return torch.nn.functional.batch_norm(image, mean, variance, weight, bias, False, 0.1, 1e-5)
        s.case("aten._native_batch_norm_legit_no_training.default", image, weight, bias, mean, variance, 0.1, 1e-5,
               reference=lambda: [normal(), torch.empty(0, dtype=f64), torch.empty(0, dtype=f64)], unknown=[1, 2])
        s.case("aten.batch_norm.default", image, weight, bias, mean, variance, False, 0.1, 1e-5, False)
        s.case("aten.batch_norm.default", image, weight, bias, mean, variance, True, 0.1, 1e-5, False,
               reference=lambda: torch.nn.functional.batch_norm(image, mean.clone(), variance.clone(), weight, bias, True, 0.1, 1e-5))
        s.case("aten.native_batch_norm.default", image, weight, bias, mean, variance, False, 0.1, 1e-5, unknown=[1, 2])
    for weight, bias in ((cw, cb), (None, None)):
        s.case("aten.native_batch_norm.default", image, weight, bias, mean, variance, True, 0.1, 1e-5)
        s.case("aten._native_batch_norm_legit.no_stats", image, weight, bias, True, 0.1, 1e-5,
               reference=lambda: list(torch.native_batch_norm(image, weight, bias, None, None, True, 0.1, 1e-5)))
        for training in (True, False):
            def statistics():
                m, v = mean.clone(), variance.clone()
                return list(torch.native_batch_norm(image, weight, bias, m, v, training, 0.1, 1e-5)) + [m, v]
            first = statistics()[:3]
            s.case("aten._native_batch_norm_legit.default", image, weight, bias, mean, variance, training, 0.1, 1e-5,
                   reference=lambda: first, unknown=[] if training else [1, 2])
            if training:
                s.case("aten._native_batch_norm_legit_functional.default", image, weight, bias, mean, variance, True, 0.1, 1e-5, reference=statistics)
            _, saved, inverse = first
            saved, inverse = (saved, inverse) if training else (None, None)
            for wanted in ([True, True, True], [True, False, False]):
                if weight is None and wanted[1]:
                    continue
                s.case("aten.native_batch_norm_backward.default", real(2, 6, 3, 2), image, weight, mean, variance, saved, inverse, training, 1e-5,
                       wanted)
    for dim in (0, -1):
        v = real(3, 4)
        g = positive(3, 1) if dim == 0 else positive(1, 4)
        s.case("aten._weight_norm_interface.default", v, g, dim,
               reference=lambda: [torch._weight_norm(v, g, dim % 2), v.norm(2, 1 - dim % 2, keepdim=True)])
