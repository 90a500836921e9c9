"""Cases of frameworks/pytorch/layout.rules and random.rules."""
import torch

from harness import Known
from pointwise import bools, f32, f64, i64, ints, positive, real

LAST = 9223372036854775807


def cases(s):
    copies(s)
    views(s)
    parts(s)
    joins(s)
    new(s)
    in_place(s)
    randomness(s)
    others(s)


def copies(s):
    x = real(2, 3)
    for op in ("clone", "detach", "alias", "contiguous", "lift_fresh_copy", "lift_fresh", "lift", "positive", "resolve_conj", "resolve_neg",
               "detach_copy", "alias_copy"):
        s.case(f"aten.{op}.default", x)
    s.case("aten.clone.default", x, memory_format=torch.contiguous_format)
    s.case("aten._to_copy.default", x, dtype=f32)
    s.case("aten._to_copy.default", x * 4, dtype=i64)
    s.case("aten._to_copy.default", ints(4), dtype=f64)
    s.case("aten._to_copy.default", ints(4, low=0, high=2), dtype=torch.bool)
    s.case("aten._to_copy.default", bools(4), dtype=f32)
    s.case("aten._to_copy.default", bools(4), dtype=i64)
    s.case("aten._to_copy.default", x, device=torch.device("cpu"))
    s.case("aten.to.dtype", x, f32)
    s.case("aten.to.dtype", x * 4, i64)
    s.case("aten.to.device", x, torch.device("cpu"), f32)
    s.case("aten.to.dtype_layout", x, dtype=f32)
    s.case("aten.to.other", x, ints(1))
    s.case("aten._cast_Float.default", x)
    s.case("aten.type_as.default", x, ints(1))
    s.case("aten.copy.default", real(2, 3), real(3))
    s.case("aten.copy.default", ints(2, 3), real(2, 3) * 4)
    s.case("aten._conj.default", x, reference=lambda: x)
    s.case("aten._assert_tensor_metadata.default", x, [2, 3], None, f64, reference=lambda: None)
    s.case("aten._assert_scalar.default", torch.tensor(True), "message", reference=lambda: None)
    s.case("aten.sym_constrain_range.default", torch.tensor(3), min=0, max=8, reference=lambda: None)
    s.case("aten.sym_constrain_range_for_size.default", torch.tensor(3), min=0, max=8, reference=lambda: None)
    s.case("aten._assert_async.msg", torch.tensor(True), "message", reference=lambda: None)
    s.case("aten._assert_async.default", torch.tensor(True), reference=lambda: None)


def views(s):
    x = real(2, 3, 4)
    for op in ("view", "_unsafe_view", "view_copy", "reshape"):
        s.case(f"aten.{op}.default", x, [6, 4])
        s.case(f"aten.{op}.default", x, [2, -1])
        s.case(f"aten.{op}.default", x, [-1])
        s.case(f"aten.{op}.default", x, [1, 4, 3, 2, 1])
    s.case("aten.view.default", real(1), [])
    s.case("aten.view.default", torch.tensor(1.5, dtype=f64), [1, 1])
    s.case("aten._reshape_alias.default", x, [6, 4], [4, 1])
    s.case("aten._reshape_copy.default", x, [6, 4], reference=lambda: x.reshape(6, 4))
    s.case("aten.view_as.default", x, real(4, 6))
    s.case("aten.reshape_as.default", x, real(4, 6))
    s.case("aten.flatten.using_ints", x)
    s.case("aten.flatten.using_ints", x, 1)
    s.case("aten.flatten.using_ints", x, -3, -2)
    s.case("aten.unflatten.int", x, 2, [2, 2])
    s.case("aten.unflatten.int", x, -1, [-1, 2])
    s.case("aten.t.default", real(2, 3))
    s.case("aten.t.default", real(3))
    s.case("aten.t_copy.default", real(2, 3))
    s.case("aten.numpy_T.default", x)
    s.case("aten.mT.default", x)
    for op in ("transpose.int", "transpose_copy.int", "swapaxes.default", "swapdims.default"):
        s.case(f"aten.{op}", x, 0, 2)
        s.case(f"aten.{op}", x, -1, -2)
    for op in ("permute.default", "permute_copy.default"):
        s.case(f"aten.{op}", x, [2, 0, 1])
        s.case(f"aten.{op}", x, [-1, -3, -2])
    for a, b in ((0, 2), (2, 0), (-1, 0), (0, -1)):
        s.case("aten.movedim.int", x, a, b)
    s.case("aten.movedim.intlist", x, [0, 1], [2, 0])
    s.case("aten.movedim.intlist", x, [2], [0])
    for d in (0, 1, 3, -1, -2):
        s.case("aten.unsqueeze.default", x, d)
        s.case("aten.unsqueeze_copy.default", x, d)
    one = real(1, 3, 1)
    s.case("aten.squeeze.default", one)
    s.case("aten.squeeze_copy.default", one)
    for d in (0, 1, -1):
        s.case("aten.squeeze.dim", one, d)
        s.case("aten.squeeze_copy.dim", one, d)
    s.case("aten.squeeze.dims", one, [0, -1], reference=lambda: one.reshape(3))
    s.case("aten.squeeze.dims", one, [0, 1], reference=lambda: one.reshape(3, 1))
    s.case("aten.squeeze_copy.dims", one, [0, -1], reference=lambda: one.reshape(3))
    y = real(3, 1)
    for op in ("expand", "expand_copy", "broadcast_to"):
        s.case(f"aten.{op}.default", y, [3, 4])
        s.case(f"aten.{op}.default", y, [2, -1, 4])
    s.case("aten.expand_as.default", y, x[:, :, :])
    for counts in ([2, 3], [1, 2], [2, 1, 3]):
        s.case("aten.repeat.default", real(2, 3), counts)
        s.case("aten.tile.default", real(2, 3), counts)
    s.case("aten.tile.default", real(2, 3), [2])
    s.case("aten.repeat_interleave.self_int", x, 2, 1)
    s.case("aten.repeat_interleave.self_int", x, 3, -1)
    s.case("aten.repeat_interleave.self_int", real(2, 3), 2)
    twice = Known(torch.tensor([2, 2, 2]))
    s.case("aten.repeat_interleave.Tensor", twice)
    s.case("aten.repeat_interleave.Tensor", twice, output_size=6)
    s.case("aten.repeat_interleave.self_Tensor", real(2, 3), twice, 1)
    s.case("aten.repeat_interleave.self_Tensor", real(3, 2), twice, -2, output_size=6)
    s.case("aten.unfold.default", real(2, 8), 1, 2, 2)
    s.case("aten.unfold.default", real(2, 7), -1, 3, 2)
    s.case("aten.diagonal.default", real(3, 4))
    s.case("aten.diagonal.default", real(3, 4), -1)
    s.case("aten.diagonal_copy.default", real(3, 4), 2)
    s.case("aten.diagonal.default", real(2, 3, 4), 1, 1, 2)
    s.case("aten.pixel_shuffle.default", real(1, 8, 2, 3), 2)
    s.case("aten.pixel_unshuffle.default", real(1, 2, 4, 6), 2)


def parts(s):
    x = real(5, 6)
    for op in ("slice", "slice_copy"):
        s.case(f"aten.{op}.Tensor", x, 0, 1, 4)
        s.case(f"aten.{op}.Tensor", x, 1, 1, LAST)
        s.case(f"aten.{op}.Tensor", x, -1, -4, -1)
        s.case(f"aten.{op}.Tensor", x, 0, None, 2)
        s.case(f"aten.{op}.Tensor", x, 0, 3, None)
        s.case(f"aten.{op}.Tensor", x, 1, 1, 6, 2)
        s.case(f"aten.{op}.Tensor", x, 1, 0, 100, 4)
        s.case(f"aten.{op}.Tensor", x)
    for d, i in ((0, 2), (1, -1), (-1, 0)):
        s.case("aten.select.int", x, d, i)
        s.case("aten.select_copy.int", x, d, i)
    s.case("aten.narrow.default", x, 1, 2, 3)
    s.case("aten.narrow.default", x, 0, -3, 2)
    for op in ("split.Tensor", "split_copy.Tensor"):
        s.case(f"aten.{op}", x, 2)
        s.case(f"aten.{op}", x, 3, 1)
        s.case(f"aten.{op}", x, 4, -1)
    s.case("aten.chunk.default", x, 2)
    s.case("aten.chunk.default", x, 4, -1)
    s.case("aten.tensor_split.sections", x, 3)
    s.case("aten.tensor_split.sections", x, 4, 1)
    s.case("aten.tensor_split.indices", x, [2, 3], 1)
    for op in ("split_with_sizes.default", "split_with_sizes_copy.default", "split.sizes"):
        s.case(f"aten.{op}", x, [2, 3])
        s.case(f"aten.{op}", x, [1, 2, 3], -1)
    for op in ("unbind.int", "unbind_copy.int"):
        s.case(f"aten.{op}", real(3, 2))
        s.case(f"aten.{op}", real(3, 2), -1)


def joins(s):
    for op in ("cat.default", "concat.default"):
        s.case(f"aten.{op}", [real(2, 3), real(1, 3)])
        s.case(f"aten.{op}", [real(2, 3), real(2, 1), real(2, 2)], -1)
        s.case(f"aten.{op}", [real(2, 3), ints(2, 3)], 0)
    for d in (0, 1, -1, 2):
        s.case("aten.stack.default", [real(2, 3), real(2, 3)], d)
    s.case("aten.stack.default", [real(2), real(2), real(2)])
    s.case("aten.hstack.default", [real(2, 3), real(2, 1)])
    s.case("aten.hstack.default", [real(3), real(1)])
    s.case("aten.vstack.default", [real(2, 3), real(1, 3)])
    s.case("aten.vstack.default", [real(3), real(3)])
    x = real(5, 6)
    for op in ("slice_scatter.default",):
        s.case(f"aten.{op}", x, real(2, 6), 0, 1, 3)
        s.case(f"aten.{op}", x, real(5, 3), -1, 3, LAST)
        s.case(f"aten.{op}", x, real(5, 6))
        s.case(f"aten.{op}", x, real(5, 2), 1, -4, -2)
        s.case(f"aten.{op}", x, real(5, 3), 1, 1, 6, 2)
        s.case(f"aten.{op}", x, real(3, 6), 0, None, LAST, 2)
    s.case("aten.select_scatter.default", x, real(6), 0, 2)
    s.case("aten.select_scatter.default", x, real(5), -1, -1)
    s.case("aten.slice_backward.default", real(2, 6), [5, 6], 0, 1, 3, 1)
    s.case("aten.slice_backward.default", real(5, 3), [5, 6], -1, 3, LAST, 1)
    s.case("aten.slice_backward.default", real(5, 3), [5, 6], 1, 0, LAST, 2)
    s.case("aten.slice_backward.default", real(5, 2), [5, 6], 1, 1, 6, 3)
    s.case("aten.select_backward.default", real(6), [5, 6], 0, 2)
    s.case("aten.select_backward.default", real(5), [5, 6], -1, -2)
    for pads in ([1, 2], [0, 3, 2, 0], [-1, 2], [1, -2, -1, 0], [-6, 2], [3, -6], [0, 0, 2, -5]):
        s.case("aten.constant_pad_nd.default", x, pads)
        s.case("aten.constant_pad_nd.default", x, pads, 2.5)
    s.case("aten.pad.default", x, [1, 2])
    s.case("aten.pad.default", x, [1, 2], "constant", 0.5)
    s.case("aten.pad.default", real(1, 5, 6), [1, 2], "replicate")
    s.case("aten.pad.default", real(1, 5, 6), [2, 1], "reflect")
    s.case("aten.pad.default", real(1, 5, 6), [2, 1], "circular")
    for mode in ("reflect", "replicate", "circular"):  # negative numbers crop
        for pads in ([-1, 2], [2, -1], [-2, -3], [-2, 4], [0, -5]):
            s.case("aten.pad.default", real(1, 5, 6), pads, mode)
        s.case("aten.pad.default", real(1, 5, 6, 7), [-1, 2, 3, -2], mode)
    for shifts, dims in (([1], [0]), ([-2], [1]), ([2, -1], [0, -1]), ([7], [1]), ([3], [])):
        s.case("aten.roll.default", x, shifts, dims)
    s.case("aten.flip.default", x, [0])
    s.case("aten.flip.default", x, [0, -1])
    s.case("aten.fliplr.default", x)
    s.case("aten.flipud.default", x)


def new(s):
    x = real(2, 3)
    s.case("aten.full.default", [2, 3], 1.5)
    s.case("aten.full.default", [2], 3, dtype=i64)
    s.case("aten.full.default", [2], True)
    s.case("aten.full.default", [], 0.5, dtype=f32)
    s.case("aten.full_like.default", x, 2)
    s.case("aten.full_like.default", x, 2, dtype=i64)
    s.case("aten.new_full.default", x, [3], 2)
    s.case("aten.new_full.default", x, [3], 2, dtype=i64)
    for op in ("zeros", "ones"):
        s.case(f"aten.{op}.default", [2, 3])
        s.case(f"aten.{op}.default", [], dtype=i64)
        s.case(f"aten.{op}_like.default", x)
        s.case(f"aten.{op}_like.default", x, dtype=i64)
        s.case(f"aten.new_{op}.default", x, [3])
        s.case(f"aten.new_{op}.default", x, [3], dtype=torch.bool)
    s.case("aten.scalar_tensor.default", 2.5)
    s.case("aten.scalar_tensor.default", 2, dtype=i64)
    s.case("aten.fill.Scalar", x, 2.5)
    s.case("aten.fill.Tensor", x, torch.tensor(2.5, dtype=f64))
    s.case("aten.zero.default", x)
    s.case("aten.empty.memory_format", [2, 3], unknown=[0])
    s.case("aten.empty_like.default", x, unknown=[0])
    s.case("aten.new_empty.default", x, [3], unknown=[0])
    s.case("aten.empty_strided.default", [2, 3], [3, 1], unknown=[0])
    s.case("aten.new_empty_strided.default", x, [2, 3], [3, 1], unknown=[0])
    s.case("aten.empty_permuted.default", [2, 3], [0, 1], reference=lambda: torch.empty(2, 3), unknown=[0])
    s.case("aten.arange.default", 5)
    s.case("aten.arange.default", 5, dtype=f32)
    s.case("aten.arange.default", 5.0)
    s.case("aten.arange.start", 2, 7)
    s.case("aten.arange.start", 2.0, 7)
    s.case("aten.arange.start_step", 1.0, 8.0, 2.0)
    s.case("aten.arange.start_step", 0, 1, 0.25)
    s.case("aten.arange.start_step", 1.5, -1, -0.75)
    s.case("aten.arange.start", -2, 3)
    for start, end, step in ((0, 7, 2), (1, 8, 3), (7, 0, -2), (5, 0, -1), (0, 4, 1)):
        s.case("aten.arange.start_step", start, end, step)
    s.case("aten.arange.start_step", 0, 8, 2, dtype=f32)
    s.case("aten.eye.default", 3)
    s.case("aten.eye.m", 3, 4)
    s.case("aten.linspace.default", 0.0, 1.0, 5)
    for op in ("tril", "triu"):
        s.case(f"aten.{op}.default", real(4, 4))
        s.case(f"aten.{op}.default", real(2, 3, 4), 1)
        s.case(f"aten.{op}.default", real(4, 3), -1)
        s.case(f"aten.{op}.default", bools(3, 3))
    s.case("aten.diag_embed.default", real(2, 3))


def in_place(s):
    """What works in place is what it is called without the underscore; its new value comes after what it returns."""
    x, y = real(2, 3), real(3)
    for op, args in (("add_.Tensor", [y]), ("sub_.Tensor", [y]), ("mul_.Tensor", [y]), ("div_.Tensor", [y + 4]), ("mul_.Scalar", [2.5]),
                     ("add_.Scalar", [1]), ("copy_.default", [y]), ("fill_.Scalar", [0.5]), ("zero_.default", []), ("relu_.default", []),
                     ("clamp_.default", [-0.5, 0.5]), ("masked_fill_.Scalar", [bools(2, 3), 1.5]), ("tril_.default", []), ("exp_.default", []),
                     ("addcmul_.default", [y, y]), ("lerp_.Scalar", [y, 0.25]), ("neg_.default", []), ("sqrt_.default", []),
                     ("unsqueeze_.default", [0]), ("t_.default", []), ("squeeze_.dim", [0]),
                     ("index_put_.default", [[ints(4, low=0, high=2)], real(4, 3), True]),
                     ("scatter_add_.default", [1, ints(2, 3, low=0, high=3), real(2, 3)]),
                     ("index_add_.default", [0, ints(2, low=0, high=2), real(2, 3)])):
        s.case(f"aten.{op}", x + 3 if op == "sqrt_.default" else x, *args, mutates=["self"])
    s.case("aten.add_.Tensor", ints(3), ints(3), mutates=["self"])
    s.case("aten.mul_.Tensor", real(3, dtype=f32), real(3), mutates=["self"])


def randomness(s):
    x = torch.rand(2, 3, dtype=f64)
    s.case("aten.native_dropout.default", x, 0.5, False)
    s.case("aten.native_dropout.default", x, 0.5, True, unknown=[0, 1])
    s.case("aten.native_dropout.default", x, 0.5, None, unknown=[0, 1])
    s.case("aten.dropout.default", x, 0.5, False)
    s.case("aten.dropout.default", x, 0.0, True)
    s.case("aten.dropout.default", x, 0.5, True, unknown=[0])
    s.case("aten.native_dropout_backward.default", x, bools(2, 3), 2.0)
    for op in ("rand", "randn"):
        s.case(f"aten.{op}.default", [2, 3], unknown=[0])
        s.case(f"aten.{op}_like.default", x, unknown=[0])
    s.case("aten.bernoulli.default", x, unknown=[0])
    s.case("aten.bernoulli.p", x, 0.5, unknown=[0])
    s.case("aten.multinomial.default", x, 2, unknown=[0])
    s.case("aten.randint.default", 5, [2, 3], unknown=[0])
    s.case("aten.randint.low", 1, 5, [2, 3], unknown=[0])
    s.case("aten.randperm.default", 5, unknown=[0])
    s.case("aten.normal_functional.default", x, unknown=[0])
    p = torch.full_like(x, 0.5)
    for op, operands in [
            ("bernoulli.Tensor", (x, p)), ("binomial.default", (p, p)), ("poisson.default", (p,)), ("_standard_gamma.default", (p,)),
            ("_sample_dirichlet.default", (p,)), ("cauchy.default", (x, 0, 2)), ("exponential.default", (x, 2)), ("geometric.default", (x, 0.5)),
            ("log_normal.default", (x,)), ("normal.Tensor_float", (x, 2)), ("normal.float_Tensor", (1, p)), ("normal.Tensor_Tensor", (x, p)),
            ("normal.float_float", (0, 1, [2, 3])), ("random.default", (x,)), ("random.to", (x, 5)), ("random.from", (x, 1, 5)),
            ("randint_like.default", (x, 5)), ("randint_like.low_dtype", (x, 1, 5)), ("alpha_dropout.default", (x, 0.5, True)),
            ("feature_dropout.default", (x, 0.5, True)), ("feature_alpha_dropout.default", (x, 0.5, True)), ("rrelu.default", (x, 0.1, 0.3, True)),
            ("rrelu_with_noise.default", (x, p, 0.1, 0.3, True)), ("rand.generator", ([2, 3],)), ("randn.generator", ([2, 3],)),
            ("randint.generator", (5, [2, 3])), ("randint.low_generator", (1, 5, [2, 3])), ("randperm.generator", (5,))]:
        s.case(f"aten.{op}", *operands, unknown=[0], **(dict(generator=None) if op.endswith("generator") else {}))
    s.case("aten._fused_dropout.default", x, 0.5, reference=lambda: (x, x.to(torch.uint8)), unknown=[0, 1])
    s.case("aten.uniform.default", x, unknown=[0])


def others(s):
    x = real(4, 6, 2)
    s.case("aten.unsafe_split.Tensor", x, 4, 1)
    s.case("aten.unsafe_chunk.default", x, 4, 1)
    s.case("aten.unsafe_split_with_sizes.default", x, [1, 3, 2], 1)
    s.case("aten.narrow_copy.default", x, 1, -4, 3)
    s.case("aten.unfold_copy.default", x, 1, 3, 2, reference=lambda: x.unfold(1, 3, 2))
    for size, step in ((2, 2), (3, 1), (2, 3)):
        y = x.unfold(1, size, step)
        s.case("aten.unfold_backward.default", real(*y.shape), [4, 6, 2], 1, size, step)
    for offset in (0, 1, -2):
        for a, b in ((0, 1), (1, 0), (-1, 1)):
            y = torch.diagonal(x, offset, a, b)
            if min(y.shape):
                s.case("aten.diagonal_scatter.default", x, real(*y.shape), offset, a, b)
                s.case("aten.diagonal_scatter.default", x, real(*y.shape, dtype=torch.float32), offset, a, b)
                s.case("aten.diagonal_backward.default", real(*y.shape), [4, 6, 2], offset, a % 3, b)
    for k in (0, 1, 2, 3, -1):
        s.case("aten.rot90.default", x, k, [0, 1])
        s.case("aten.rot90.default", x, k, [2, 0])
    s.case("aten.channel_shuffle.default", real(2, 6, 3), 2)
    s.case("aten.native_channel_shuffle.default", real(2, 6, 3), 3)
    for offset in (0, 1, -1):
        s.case("aten.tril_indices.default", 4, 3, offset, dtype=i64)
        s.case("aten.triu_indices.default", 3, 4, offset, dtype=i64)
    one = real(1, 1)
    s.case("aten._local_scalar_dense.default", one, reference=lambda: one.reshape([]))
    s.case("aten.item.default", one, reference=lambda: one.reshape([]))
    for name in ("Double", "Half", "Int", "Long"):
        s.case(f"aten._cast_{name}.default", real(2, 3) * 4)
