"""Causal multi-head attention: as one program, and as the program each of several ranks runs.

The graphs of this folder are these functions as torch.export shows them; "loc" in a graph is a line of this file.
x: [batch, sequence, hidden], wq, wk, wv, wo: [hidden, hidden]; every rank has some of the heads.
"""
import torch
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F


def attention(q, k, v, heads, scale):
    """q, k, v: [batch, sequence, heads * d]."""
    b, s, e = q.shape
    d = e // heads
    q = q.view(b, s, heads, d).transpose(1, 2).reshape(b * heads, s, d)
    k = k.view(b, s, heads, d).transpose(1, 2).reshape(b * heads, s, d)
    v = v.view(b, s, heads, d).transpose(1, 2).reshape(b * heads, s, d)
    scores = torch.bmm(q, k.transpose(1, 2)) * scale
    scores = scores.view(b, heads, s, s)
    position = torch.arange(s)
    future = ~(position.unsqueeze(1) >= position.unsqueeze(0))
    scores = scores.masked_fill(future, -10000.0)
    weights = torch.softmax(scores, -1)
    out = torch.bmm(weights.view(b * heads, s, s), v)
    return out.view(b, heads, s, d).transpose(1, 2).reshape(b, s, e)


def fused_attention(q, k, v, heads):
    b, s, e = q.shape
    d = e // heads
    q = q.view(b, s, heads, d).transpose(1, 2)
    k = k.view(b, s, heads, d).transpose(1, 2)
    v = v.view(b, s, heads, d).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.transpose(1, 2).reshape(b, s, e)


def sequential(x, wq, wk, wv, wo, bo, heads, scale):
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    a = attention(q, k, v, heads, scale)
    return F.linear(a, wo, bo)


def tensor_parallel(x, wq, wk, wv, wo, bo, heads, scale, tp):
    """wq, wk, wv hold the rows of this rank's heads, wo their columns; `heads` counts this rank's heads."""
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    a = attention(q, k, v, heads, scale)
    y = F.linear(a, wo)
    y = funcol.all_reduce(y, "sum", tp)
    return y + bo


def no_all_reduce(x, wq, wk, wv, wo, bo, heads, scale, tp):
    """Wrong: every rank returns the share of its own heads."""
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    a = attention(q, k, v, heads, scale)
    y = F.linear(a, wo)
    return y + bo


def bias_on_every_rank(x, wq, wk, wv, wo, bo, heads, scale, tp):
    """Wrong: the bias is added before the sum, so it counts once per rank."""
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    a = attention(q, k, v, heads, scale)
    y = F.linear(a, wo, bo)
    return funcol.all_reduce(y, "sum", tp)


def wrong_scale(x, wq, wk, wv, wo, bo, heads, scale, tp):
    """Wrong: the scale is computed from the width this rank has, not from that of one head."""
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    a = attention(q, k, v, heads, q.size(-1) ** -0.5)
    y = F.linear(a, wo)
    y = funcol.all_reduce(y, "sum", tp)
    return y + bo


def sequential_fused(x, wq, wk, wv, wo, bo, heads):
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    a = fused_attention(q, k, v, heads)
    return F.linear(a, wo, bo)


def tensor_parallel_fused(x, wq, wk, wv, wo, bo, heads, tp):
    q, k, v = F.linear(x, wq), F.linear(x, wk), F.linear(x, wv)
    a = fused_attention(q, k, v, heads)
    y = F.linear(a, wo)
    y = funcol.all_reduce(y, "sum", tp)
    return y + bo
