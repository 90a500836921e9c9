"""Cases of frameworks/pytorch/collectives.rules: what each rank gets, by the definition of the collective."""
import torch

from pointwise import real

WORLD = 3


def cases(s):
    name = "_c10d_functional"
    xs = [real(2 * WORLD, 3) for _ in range(WORLD)]
    joined = torch.stack(xs)
    reduced = {"sum": joined.sum(0), "avg": joined.mean(0), "max": joined.amax(0), "min": joined.amin(0), "product": joined.prod(0)}

    def everywhere(op, args, expected, kwargs=None):
        """args and expected are functions of the rank"""
        s.ranks([(op, args(r), kwargs or {}, expected(r)) for r in range(WORLD)])

    def both_forms(op, args, expected):
        """The group by its name, and by its ranks."""
        everywhere(op, lambda r: [*args(r), "world"], expected)
        everywhere(op, args, expected, {"group": list(range(WORLD)), "group_name": "0"})

    def share(x, r, dim=0):
        return x.chunk(WORLD, dim)[r]

    everywhere(f"{name}.wait_tensor.default", lambda r: [xs[r]], lambda r: xs[r])
    for op in ("sum", "avg", "max", "min", "product"):
        both_forms(f"{name}.all_reduce.default", lambda r: [xs[r], op], lambda r: reduced[op])
        both_forms(f"{name}.all_reduce_coalesced.default", lambda r: [[xs[r], xs[r] * 2], op],
                   lambda r: [reduced[op], reduced[op] * (2 ** WORLD if op == "product" else 2)])
        both_forms(f"{name}.reduce_scatter_tensor.default", lambda r: [xs[r], op, WORLD], lambda r: share(reduced[op], r))
        both_forms(f"{name}.reduce_scatter_tensor_coalesced.default", lambda r: [[xs[r], -xs[r]], op, WORLD],
                   lambda r: [share(reduced[op], r),
                              share({"max": -reduced["min"], "min": -reduced["max"], "product": (-1) ** WORLD * reduced["product"]}
                                    .get(op, -reduced.get(op)), r)])
    both_forms(f"{name}.all_gather_into_tensor.default", lambda r: [xs[r], WORLD], lambda r: torch.cat(xs))
    both_forms(f"{name}.all_gather_into_tensor_coalesced.default", lambda r: [[xs[r], xs[r] + 1], WORLD],
               lambda r: [torch.cat(xs), torch.cat(xs) + 1])
    both_forms(f"{name}.broadcast.default", lambda r: [xs[r], 1], lambda r: xs[1])
    # Row s of `sizes` is what rank s sends to each of the others.
    sizes = torch.tensor([[1, 2, 3], [2, 2, 2], [4, 1, 1]])
    starts = sizes.cumsum(1) - sizes
    received = lambda r: torch.cat([xs[q][starts[q, r]:starts[q, r] + sizes[q, r]] for q in range(WORLD)])
    both_forms(f"{name}.all_to_all_single.default", lambda r: [xs[r], sizes[:, r].tolist(), sizes[r].tolist()], received)
    even = lambda r: torch.cat([share(x, r) for x in xs])
    both_forms(f"{name}.all_to_all_single.default", lambda r: [xs[r], [2] * WORLD, [2] * WORLD], even)
    both_forms(f"{name}.all_to_all_single.default", lambda r: [xs[r], [], []], even)
    both_forms(f"{name}.all_to_all_single.default", lambda r: [xs[r], None, None], even)
    both_forms("_dtensor.shard_dim_alltoall.default", lambda r: [xs[r], 1, 0], lambda r: torch.cat([share(x, r, 0) for x in xs], 1))
    target = [2, 0, 1]  # everything goes to one other rank: a permutation of the tensors
    source = [target.index(r) for r in range(WORLD)]
    whole = lambda place: [2 * WORLD if q == place else 0 for q in range(WORLD)]
    both_forms(f"{name}.all_to_all_single.default", lambda r: [xs[r], whole(source[r]), whole(target[r])], lambda r: xs[source[r]])
    s.ranks([("c10d.send", [xs[0], 1], {}, xs[0]), ("c10d.recv", [0], {}, xs[0])])
    s.ranks([("c10d.send", [xs[0], 1, 7], {}, xs[0]), ("c10d.recv", [0], {"tag": 7}, xs[0])])
    autograd = "_c10d_functional_autograd"
    both_forms(f"{autograd}.all_gather_into_tensor.default", lambda r: [xs[r], WORLD], lambda r: torch.cat(xs))
    both_forms(f"{autograd}.reduce_scatter_tensor.default", lambda r: [xs[r], "sum", WORLD], lambda r: share(reduced["sum"], r))
    both_forms(f"{autograd}.all_to_all_single.default", lambda r: [xs[r], sizes[:, r].tolist(), sizes[r].tolist()], received)
