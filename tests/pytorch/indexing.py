"""Cases of frameworks/pytorch/index.rules."""
import torch

from harness import Known
from pointwise import bools, f64, i64, ints, real


def cases(s):
    looks(s)
    writes(s)


def looks(s):
    table, index = real(6, 3), ints(2, 4, low=0, high=6)
    s.case("aten.embedding.default", table, index)
    s.case("aten.embedding.default", table, index, 2)
    s.case("aten.embedding.default", table, index, -1, False, False)
    for padding in (-1, 2):
        s.case("aten.embedding_dense_backward.default", real(2, 4, 3), index, 6, padding, False)
    x = real(4, 5, 3, 2)
    i, j, k = ints(2, 3, low=0, high=4), ints(3, low=0, high=5), ints(2, 1, low=0, high=3)
    s.case("aten.index.Tensor", x, [i])
    s.case("aten.index.Tensor", x, [i, j])
    s.case("aten.index.Tensor", x, [i, j, k])
    s.case("aten.index.Tensor", x, [None, j])
    s.case("aten.index.Tensor", x, [None, None, k])
    s.case("aten.index.Tensor", x, [None, j, k])
    s.case("aten.index.Tensor", x, [i, None, k])
    s.case("aten.index.Tensor", x, [None, None, ints(3, low=0, high=3), ints(3, low=0, high=2)])
    for d in (0, 1, -1):
        s.case("aten.index_select.default", x, d, ints(4, low=0, high=2))
        y = ints(4, 5, 3, 2, low=0, high=2)
        s.case("aten.gather.default", x, d, y)
        s.case("aten.gather.default", x, d, y[:, :2, :1])
        s.case("aten.take_along_dim.default", x, y, d)
    s.case("aten.take_along_dim.default", real(4, 5), ints(1, 3, low=0, high=5), 1)
    s.case("aten.take.default", x, ints(3, 2, low=0, high=120))
    s.case("aten.one_hot.default", ints(3, 2, low=0, high=5), 5)
    s.case("aten.nonzero.default", Known(torch.ones(2, 3, dtype=torch.bool)))  # of a mask that is known
    s.case("aten.searchsorted.Tensor", torch.sort(real(5))[0], real(3))
    s.case("aten.bucketize.Tensor", real(3), torch.sort(real(5))[0])


def distinct(*shape, below, dim):
    """Indices that differ along an axis."""
    return torch.rand(*shape[:dim], below, *shape[dim + 1:]).argsort(dim).narrow(dim, 0, shape[dim])


def writes(s):
    x = real(4, 5)
    for d in (0, 1, -1):
        wide, n = (real(3, 5), 4) if d == 0 else (real(4, 3), 5)
        one, m = (real(1, 5), 4) if d == 0 else (real(4, 1), 5)
        i, j = distinct(*wide.shape, below=n, dim=d % 2), distinct(*one.shape, below=m, dim=d % 2)
        s.case("aten.scatter.src", x, d, j, one)
        s.case("aten.scatter.src", x, d, i, wide)
        s.case("aten.scatter.value", x, d, j, 2.5)
        s.case("aten.scatter.value", x, d, i, 2.5)
        many = ints(*wide.shape, low=0, high=n)
        s.case("aten.scatter_add.default", x, d, many, wide)
        s.case("aten.scatter.reduce", x, d, many, wide, reduce="add")
        for kind in ("sum",):
            s.case("aten.scatter_reduce.two", x, d, many, wide, kind)
        s.case("aten.scatter_add.default", x, d, many[:2, :2], real(4, 5))
        s.case("aten.index_add.default", x, d, ints(wide.shape[d], low=0, high=n), wide)
        s.case("aten.index_add.default", x, d, ints(wide.shape[d], low=0, high=n), wide, alpha=0.5)
        s.case("aten.index_copy.default", x, d, torch.randperm(n)[:wide.shape[d]], wide)
        s.case("aten.index_fill.int_Scalar", x, d, torch.randperm(n)[:2], 2.5)
    s.case("aten.scatter.value", torch.zeros(3, 6, dtype=f64), 1, distinct(3, 2, below=6, dim=1), 1.0)
    z = real(4, 5, 3)
    i, j = ints(3, low=0, high=4), ints(3, low=0, high=5)
    permuted = torch.randperm(4)[:3]
    s.case("aten.index_put.default", z, [i], real(3, 5, 3), True)
    s.case("aten.index_put.default", z, [permuted], real(3, 5, 3))
    s.case("aten.index_put.default", z, [permuted], real(5, 3))
    s.case("aten.index_put.default", z, [permuted], torch.tensor(1.5, dtype=f64))
    s.case("aten.index_put.default", z, [permuted.reshape(3, 1)], real(3, 1, 5, 3))
    s.case("aten.index_put.default", z, [i, j], real(3, 3), True)
    s.case("aten.index_put.default", z, [permuted, j], real(3, 3))
    s.case("aten.index_put.default", z, [permuted.reshape(3, 1), torch.randperm(5)[:2]], real(3, 2, 3))
    s.case("aten.index_put.default", z, [None, torch.randperm(5)[:2]], real(4, 2, 3))
    s.case("aten.index_put.default", z, [None, j], real(4, 3, 3), True)
    s.case("aten.index_put.default", z, [bools(4)], torch.tensor(1.5, dtype=f64))
    s.case("aten.index_put.default", z, [bools(4, 5)], torch.tensor(1.5, dtype=f64), True)
    s.case("aten.index_put.default", z, [bools(4, 5, 3)], torch.tensor(1.5, dtype=f64))
    s.case("aten._unsafe_index.Tensor", z, [i, j], reference=lambda: z[i, j])
    y = real(3, 3)
    s.case("aten._unsafe_index_put.default", z, [i, j], y, True, reference=lambda: z.index_put((i, j), y, accumulate=True))
