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
    bag, begins, closed = ints(7, low=0, high=6), torch.tensor([0, 3, 3, 5]), torch.tensor([0, 3, 3, 5, 7])
    for op in ("aten._embedding_bag_forward_only.default", "aten._embedding_bag.default"):
        for mode in (0, 1):
            s.case(op, real(6, 2), bag, begins, False, mode, unknown=[1, 2, 3])
            s.case(op, real(6, 2), bag, begins, False, mode, False, None, False, 2, unknown=[1, 2, 3])
        s.case(op, real(6, 2), bag, closed, False, 0, False, None, True, unknown=[1, 2, 3])
        # What lies behind the last offset is in no bag. (Of doubles PyTorch 1.13 then writes where it may not.)
        for factors in (None, real(7).float()):
            s.case(op, real(6, 2).float(), bag, torch.tensor([0, 2, 2, 6]), False, 0, False, factors, True, unknown=[1, 2, 3])
        s.case(op, real(6, 2), bag, begins, False, 0, False, real(7), unknown=[1, 2, 3])
    s.case("aten.index.Tensor", x, [i])
    s.case("aten.index.Tensor", x, [i, j])
    s.case("aten.index.Tensor", x, [i, j, k])
    s.case("aten.index.Tensor", x, [None, j])
    s.case("aten.index.Tensor", x, [None, None, k])
    s.case("aten.index.Tensor", x, [None, j, k])
    s.case("aten.index.Tensor", x, [i, None, k])
    s.case("aten.index.Tensor", x, [None, None, ints(3, low=0, high=3), ints(3, low=0, high=2)])
    last = Known(torch.tensor([[-1, -1]]))  # counted from the end
    s.case("aten.index.Tensor", x, [last])
    s.case("aten.index.Tensor", x, [None, last])
    s.case("aten.index.Tensor", x, [Known(torch.tensor([2, -3, -1]))])
    for d in (0, 1, -1):
        s.case("aten.index_select.default", x, d, ints(4, low=0, high=2))
        y = ints(4, 5, 3, 2, low=0, high=2)
        s.case("aten.gather.default", x, d, y)
        s.case("aten.gather.default", x, d, y[:, :2, :1])
        s.case("aten.take_along_dim.default", x, y, d)
    s.case("aten.take_along_dim.default", real(4, 5), ints(1, 3, low=0, high=5), 1)
    s.case("aten.take.default", x, ints(3, 2, low=0, high=120))
    s.case("aten.take.default", x, Known(torch.tensor([[-1, 3], [-120, 119]])))
    s.case("aten.one_hot.default", ints(3, 2, low=0, high=5), 5)
    s.case("aten.nonzero.default", Known(torch.ones(2, 3, dtype=torch.bool)))  # of a mask that is known
    s.case("aten.searchsorted.Tensor", torch.sort(real(5))[0], real(3))
    s.case("aten.bucketize.Tensor", real(3), torch.sort(real(5))[0])
    for right in (False, True):
        s.case("aten.bucketize.Scalar", 0.25, torch.sort(real(5))[0], right=right)
        s.case("aten.searchsorted.Scalar", torch.sort(real(5))[0], 0.25, right=right)
        s.case("aten.searchsorted.Tensor", torch.sort(ints(2, 5), 1)[0], ints(2, 3), right=right)
    s.case("aten.isin.Tensor_Tensor", ints(3, 4), ints(2, 2))
    s.case("aten.isin.Tensor_Tensor", ints(3, 4), ints(3), invert=True)
    s.case("aten.isin.Tensor_Scalar", ints(3, 4), 2)
    s.case("aten.isin.Tensor_Scalar", ints(3, 4), 2, invert=True)
    s.case("aten.bincount.default", ints(8, low=0, high=5))
    s.case("aten.bincount.default", ints(8, low=0, high=5), real(8), 9)
    s.case("aten.histc.default", real(40), 7, -1.0, 1.5)
    for m in (bools(3, 4), torch.ones(3, 4, dtype=torch.bool), torch.tensor([[True] + [False] * 3] * 3)):
        n = int(m.sum())
        s.case("aten.masked_scatter.default", real(3, 4), m, real(n + 2))
        s.case("aten.masked_scatter.default", real(2, 3, 4), m, real(2, n))
        y = real(3, 4)
        s.case("aten.masked_scatter_backward.default", y, m, [n + 1, 1],
               reference=lambda: torch.cat([y[m], torch.zeros(1, dtype=f64)]).reshape(n + 1, 1))
        for accumulate in (False, True):
            for rows in (n, 1):
                s.case("aten.index_put.default", real(3, 4, 2), [m], real(rows, 2), accumulate)
                s.case("aten.index_put.default", real(3, 4, 2), [m.to(torch.uint8)], real(rows, 1), accumulate)


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
        s.case("aten.scatter.reduce", x, d, many, wide, reduce="multiply")
        s.case("aten.scatter.value_reduce", x, d, many, 1.5, reduce="add")
        for kind in ("sum", "mean", "prod", "amax", "amin"):
            for included in (True, False):
                s.case("aten.scatter_reduce.two", x, d, many, wide, kind, include_self=included)
                s.case("aten.scatter_reduce.two", ints(4, 5), d, many, ints(*wide.shape), kind, include_self=included)
                s.case("aten.scatter_reduce.two", x, d, many[:2, :2], wide, kind, include_self=included)
                if kind != "sum":
                    s.case("aten.index_reduce.default", x, d, ints(wide.shape[d], low=0, high=n), wide, kind, include_self=included)
        s.case("aten.index_fill.int_Tensor", x, d, torch.randperm(n)[:2], torch.tensor(2.5, dtype=f64))
        s.case("aten.scatter_add.default", x, d, many[:2, :2], real(4, 5))
        s.case("aten.index_add.default", x, d, ints(wide.shape[d], low=0, high=n), wide)
        s.case("aten.index_add.default", x, d, ints(wide.shape[d], low=0, high=n), wide, alpha=0.5)
        s.case("aten.index_copy.default", x, d, torch.randperm(n)[:wide.shape[d]], wide)
        s.case("aten.index_fill.int_Scalar", x, d, torch.randperm(n)[:2], 2.5)
        s.case("aten.index_fill.int_Scalar", x, d, Known(torch.tensor([-1, 1])), 2.5)
        s.case("aten.index_fill.int_Tensor", x, d, Known(torch.tensor([-3])), torch.tensor(2.5, dtype=f64))
    s.case("aten.scatter.value", torch.zeros(3, 6, dtype=f64), 1, distinct(3, 2, below=6, dim=1), 1.0)
    z = real(4, 5, 3)
    i, j = ints(3, low=0, high=4), ints(3, low=0, high=5)
    permuted = torch.randperm(4)[:3]
    s.case("aten.index_put.default", z, [i], real(3, 5, 3), True)
    s.case("aten.index_put.default", z, [Known(torch.tensor([-1, -1]))], real(2, 5, 3), True)
    s.case("aten.index_put.default", z, [Known(torch.tensor([-2]))], real(1, 5, 3))
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
    s.case("aten.index_put.default", z, [torch.tensor([0, 2, 1, 0], dtype=torch.uint8)], real(5, 3))
    s.case("aten.index_put.default", z, [torch.zeros(4, dtype=torch.bool)], real(1, 1, 3))
    s.case("aten._unsafe_index.Tensor", z, [i, j], reference=lambda: z[i, j])
    y = real(3, 3)
    s.case("aten._unsafe_index_put.default", z, [i, j], y, True, reference=lambda: z.index_put((i, j), y, accumulate=True))
    s.case("aten.put.default", z, torch.randperm(60)[:4].reshape(2, 2), real(2, 2))
    s.case("aten.put.default", z, ints(5, low=0, high=60), real(5), True)
    s.case("aten.put.default", z, Known(torch.tensor([-1, -60, 3])), real(3))
    s.case("aten.put.default", z, Known(torch.tensor([-1, -1, 59])), real(3), True)
