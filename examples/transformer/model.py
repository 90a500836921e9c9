"""A decoder block: layer norm, causal attention, layer norm, feed-forward, with residual connections.

The graphs of this folder are these functions as torch.export shows them; "loc" in a graph is a line of this file.
x: [sequence, batch, hidden], wqkv: [3 * hidden, hidden] (rows of q, then of k, then of v), wo: [hidden, hidden],
w1: [inner, hidden], w2: [hidden, inner]; n1, n2 and c1, c2 are the weights and biases of the norms.
"""
import torch
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F


def attention(qkv, heads):
    """qkv: [sequence, batch, 3 * heads * d]."""
    s, b, e = qkv.shape
    d = e // (3 * heads)
    q, k, v = qkv.split(heads * d, dim=-1)
    q = q.reshape(s, b * heads, d).transpose(0, 1)
    k = k.reshape(s, b * heads, d).transpose(0, 1)
    v = v.reshape(s, b * heads, d).transpose(0, 1)
    scores = torch.bmm(q, k.transpose(1, 2)) * d**-0.5
    scores = scores.view(b, heads, s, s)
    position = torch.arange(s)
    future = ~(position.unsqueeze(1) >= position.unsqueeze(0))
    scores = scores.masked_fill(future, -10000.0)
    weights = torch.softmax(scores, -1)
    out = torch.bmm(weights.view(b * heads, s, s), v)
    return out.transpose(0, 1).reshape(s, b, heads * d)


def sequential(x, n1, c1, wqkv, bqkv, wo, bo, n2, c2, w1, b1, w2, b2, heads):
    h = F.layer_norm(x, n1.shape, n1, c1)
    a = attention(F.linear(h, wqkv, bqkv), heads)
    x = x + F.linear(a, wo, bo)
    h = F.layer_norm(x, n2.shape, n2, c2)
    h = F.gelu(F.linear(h, w1, b1))
    return x + F.linear(h, w2, b2)


def tensor_parallel(x, n1, c1, wqkv, bqkv, wo, bo, n2, c2, w1, b1, w2, b2, heads, tp):
    """Every rank has some of the heads (wqkv, bqkv, wo) and some of the inner columns (w1, b1, w2)."""
    h = F.layer_norm(x, n1.shape, n1, c1)
    a = attention(F.linear(h, wqkv, bqkv), heads)
    x = x + (funcol.all_reduce(F.linear(a, wo), "sum", tp) + bo)
    h = F.layer_norm(x, n2.shape, n2, c2)
    h = F.gelu(F.linear(h, w1, b1))
    return x + (funcol.all_reduce(F.linear(h, w2), "sum", tp) + b2)


def no_all_reduce(x, n1, c1, wqkv, bqkv, wo, bo, n2, c2, w1, b1, w2, b2, heads, tp):
    """Wrong: the feed-forward half is never summed over the ranks."""
    h = F.layer_norm(x, n1.shape, n1, c1)
    a = attention(F.linear(h, wqkv, bqkv), heads)
    x = x + (funcol.all_reduce(F.linear(a, wo), "sum", tp) + bo)
    h = F.layer_norm(x, n2.shape, n2, c2)
    h = F.gelu(F.linear(h, w1, b1))
    return x + (F.linear(h, w2) + b2)


def sequence_parallel(x, n1, c1, wqkv, bqkv, wo, bo, n2, c2, w1, b1, w2, b2, heads, tp):
    """As tensor_parallel, but between the halves every rank holds only its part of the sequence."""
    h = F.layer_norm(x, n1.shape, n1, c1)
    h = funcol.all_gather_tensor(h, 0, tp)
    a = attention(F.linear(h, wqkv, bqkv), heads)
    x = x + (funcol.reduce_scatter_tensor(F.linear(a, wo), "sum", 0, tp) + bo)
    h = F.layer_norm(x, n2.shape, n2, c2)
    h = funcol.all_gather_tensor(h, 0, tp)
    h = F.gelu(F.linear(h, w1, b1))
    return x + (funcol.reduce_scatter_tensor(F.linear(h, w2), "sum", 0, tp) + b2)


def scatter_without_reduce(x, n1, c1, wqkv, bqkv, wo, bo, n2, c2, w1, b1, w2, b2, heads, rank, tp):
    """Wrong: after the attention every rank cuts its part of the sequence out of its own share instead of out of the sum."""
    h = F.layer_norm(x, n1.shape, n1, c1)
    h = funcol.all_gather_tensor(h, 0, tp)
    a = attention(F.linear(h, wqkv, bqkv), heads)
    n = x.size(0)
    x = x + (F.linear(a, wo)[rank * n : (rank + 1) * n] + bo)
    h = F.layer_norm(x, n2.shape, n2, c2)
    h = funcol.all_gather_tensor(h, 0, tp)
    h = F.gelu(F.linear(h, w1, b1))
    return x + (funcol.reduce_scatter_tensor(F.linear(h, w2), "sum", 0, tp) + b2)
