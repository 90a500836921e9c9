"""A program with an operator of its own, mylib::squash, run on one device and on two.

The graphs of this folder are these functions as torch.export shows them; "loc" in a graph is a line of this file.
x: [tokens, hidden], w: [inner, hidden], v: [out, inner].
"""
import torch
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F


@torch.library.custom_op("mylib::squash", mutates_args=())
def squash(x: torch.Tensor, alpha: float) -> torch.Tensor:
    """Every row divided by alpha plus its length."""
    return x / (alpha + x.norm(dim=1, keepdim=True))


@squash.register_fake
def _(x, alpha):
    return torch.empty_like(x)


def sequential(x, w, v):
    h = F.linear(x, w)
    h = squash(h, 0.5)
    return F.linear(h, v)


def by_tokens(x, w, v, tp):
    """Every rank has some of the tokens."""
    h = F.linear(x, w)
    h = squash(h, 0.5)
    y = F.linear(h, v)
    return funcol.all_gather_tensor(y, 0, tp)


def by_columns(x, w, v, tp):
    """Wrong: every rank has some of the columns, so it squashes only a part of each row."""
    h = F.linear(x, w)
    h = squash(h, 0.5)
    y = F.linear(h, v)
    return funcol.all_reduce(y, "sum", tp)
