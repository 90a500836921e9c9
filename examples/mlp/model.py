"""A feed-forward block: as one program, and as the program each of several ranks runs.

The graphs of this folder are these functions as torch.export shows them; "loc" in a graph is a line of this file.
x: [batch, sequence, hidden], w1: [inner, hidden], w2: [hidden, inner].
"""
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F


def sequential(x, w1, b1, w2, b2):
    h = F.linear(x, w1, b1)
    h = F.gelu(h)
    return F.linear(h, w2, b2)


def tensor_parallel(x, w1, b1, w2, b2, rank, ranks, tp):
    """w1 holds this rank's rows, w2 this rank's columns; the biases are whole on every rank."""
    n = b1.size(0) // ranks
    h = F.linear(x, w1, b1[rank * n : (rank + 1) * n])
    h = F.gelu(h)
    y = F.linear(h, w2)
    y = funcol.all_reduce(y, "sum", tp)
    return y + b2


def no_all_reduce(x, w1, b1, w2, b2, rank, ranks, tp):
    """Wrong: every rank returns its own summand."""
    n = b1.size(0) // ranks
    h = F.linear(x, w1, b1[rank * n : (rank + 1) * n])
    h = F.gelu(h)
    y = F.linear(h, w2)
    return y + b2


def bias_on_every_rank(x, w1, b1, w2, b2, rank, ranks, tp):
    """Wrong: the bias is added before the sum, so it counts once per rank."""
    n = b1.size(0) // ranks
    h = F.linear(x, w1, b1[rank * n : (rank + 1) * n])
    h = F.gelu(h)
    y = F.linear(h, w2, b2)
    return funcol.all_reduce(y, "sum", tp)


def wrong_slice(x, w1, b1, w2, b2, rank, ranks, tp):
    """Wrong: every rank takes the first part of b1, whatever its rank."""
    n = b1.size(0) // ranks
    h = F.linear(x, w1, b1[:n])
    h = F.gelu(h)
    y = F.linear(h, w2)
    y = funcol.all_reduce(y, "sum", tp)
    return y + b2
