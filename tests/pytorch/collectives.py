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
    first_form(everywhere, xs, reduced, sizes, received)
    in_place(s, xs, reduced, sizes, received)


def first_form(everywhere, xs, reduced, sizes, received):
    """With a tag, the ranks of the group and how many they are."""
    name, share = "c10d_functional", lambda x, r: x.chunk(WORLD)[r]

    def case(op, args, expected):
        everywhere(f"{name}.{op}.default", lambda r: [*args(r), "", list(range(WORLD)), WORLD], expected)
    case("all_reduce", lambda r: [xs[r], "sum"], lambda r: reduced["sum"])
    case("all_reduce_coalesced", lambda r: [[xs[r], xs[r] * 2], "avg"], lambda r: [reduced["avg"], reduced["avg"] * 2])
    case("all_gather_into_tensor", lambda r: [xs[r]], lambda r: torch.cat(xs))
    case("all_gather_into_tensor_coalesced", lambda r: [[xs[r], -xs[r]]], lambda r: [torch.cat(xs), -torch.cat(xs)])
    case("reduce_scatter_tensor", lambda r: [xs[r], "max"], lambda r: share(reduced["max"], r))
    case("reduce_scatter_tensor_coalesced", lambda r: [[xs[r], xs[r] * 2], "sum"],
         lambda r: [share(reduced["sum"], r), share(reduced["sum"], r) * 2])
    case("all_to_all_single", lambda r: [xs[r], None, None], lambda r: torch.cat([share(x, r) for x in xs]))
    case("all_to_all_single", lambda r: [xs[r], sizes[:, r].tolist(), sizes[r].tolist()], received)
    everywhere(f"{name}.wait_tensor.default", lambda r: [xs[r]], lambda r: xs[r])


def in_place(s, xs, reduced, sizes, received):
    """What the collectives write to is a result: the first behind what they return."""
    everyone = range(WORLD)

    def changed(op, args, expected, mutates, kwargs=None, returns=True, unknown=()):
        """expected: the new values of what is changed, in a list."""
        s.ranks([(op, args(r), kwargs or {}, [expected(r)[0] if returns else None, *expected(r)], mutates) for r in everyone], unknown)
    name = "_c10d_functional"
    share = lambda x, r: x.chunk(WORLD)[r]
    buffer = torch.zeros(2, 3, dtype=xs[0].dtype)
    wide = torch.zeros(6 * WORLD, 3, dtype=xs[0].dtype)
    for op in ("sum", "avg"):
        changed(f"{name}.all_reduce_.default", lambda r: [xs[r], op, "world"], lambda r: [reduced[op]], ["input"])
        changed(f"{name}.all_reduce_coalesced_.default", lambda r: [[xs[r], xs[r] * 2], op, "world"], lambda r: [reduced[op], reduced[op] * 2],
                ["inputs"], returns=False)
        changed("c10d.allreduce_.default", lambda r: [[xs[r]], "world", op, None, True, -1], lambda r: [reduced[op]], ["tensors"], returns=False)
        changed("c10d.allreduce_coalesced_.default", lambda r: [[xs[r], xs[r] * 2], "world", op], lambda r: [reduced[op], reduced[op] * 2],
                ["tensors"], returns=False)
        changed("c10d._reduce_scatter_base_.default", lambda r: [buffer, xs[r], "world", op, True, -1], lambda r: [share(reduced[op], r)],
                ["output_tensor"])
        changed("c10d.reduce_scatter_tensor_coalesced_.default", lambda r: [[buffer, buffer], [xs[r], xs[r] * 2], "world", op],
                lambda r: [share(reduced[op], r), share(reduced[op], r) * 2], ["outputs"], returns=False)
        changed(f"{name}.reduce_scatter_tensor_out.default", lambda r: [xs[r], op, WORLD, "world"], lambda r: [share(reduced[op], r)], ["out"],
                {"out": buffer})
    s.ranks([("c10d.reduce_.default", [[xs[r]], "world", "sum", 1], {}, [None, reduced["sum"]], ["tensors"]) for r in everyone],
            unknown=[1])
    changed(f"{name}.broadcast_.default", lambda r: [xs[r], 1, "world"], lambda r: [xs[1]], ["input"])
    changed("c10d.broadcast_.default", lambda r: [[xs[r]], "world", 2, 0, True, -1], lambda r: [xs[2]], ["tensors"], returns=False)
    changed(f"{name}.all_gather_into_tensor_out.default", lambda r: [xs[r], WORLD, "world"], lambda r: [torch.cat(xs)], ["out"], {"out": wide})
    changed("c10d._allgather_base_.default", lambda r: [wide, xs[r], "world", True, -1], lambda r: [torch.cat(xs)], ["output_tensor"])
    changed("c10d._allgather_base_.default", lambda r: [wide.reshape(WORLD, 6, 3), xs[r], "world"], lambda r: [torch.stack(xs)], ["output_tensor"])
    changed("c10d.allgather_into_tensor_coalesced_.default", lambda r: [[wide, wide], [xs[r], -xs[r]], "world"],
            lambda r: [torch.cat(xs), -torch.cat(xs)], ["outputs"], returns=False)
    changed("c10d.allgather_.default", lambda r: [[[xs[0] * 0 for _ in xs]], [xs[r]], "world", -1], lambda r: xs, ["output_tensors"], returns=False)
    pieces = lambda r: list(xs[r].chunk(WORLD))
    changed("c10d.alltoall_.default", lambda r: [[buffer for _ in xs], pieces(r), "world", -1], lambda r: [share(x, r) for x in xs],
            ["output_tensors"], returns=False)
    changed("c10d.alltoall_base_.default", lambda r: [xs[r] * 0, xs[r], "world", [], [], -1], lambda r: [torch.cat([share(x, r) for x in xs])],
            ["output"])
    changed("c10d.alltoall_base_.default", lambda r: [received(r) * 0, xs[r], "world", sizes[:, r].tolist(), sizes[r].tolist(), -1],
            lambda r: [received(r)], ["output"])
    s.ranks([("c10d.barrier.default", [xs[r], "world", [0], -1], {}, None) for r in everyone])
    s.ranks([("c10d.send.default", [[xs[0]], "world", 1, 7], {}, None),
             ("c10d.recv_.default", [[xs[1]], "world", 0, 7], {}, [None, xs[0]], ["tensors"])])
