"""Cases of frameworks/pytorch/windows.rules: convolution, pooling, patches, resampling."""
import torch
import torch.nn.functional as F

from pointwise import real


def cases(s):
    convolutions(s)
    gradients(s)
    patches(s)
    pooling(s)
    adaptive(s)
    resampling(s)
    padding(s)


# batch, channels and places of x; the kernel; settings. Of transposed convolutions, the kernel has the channels of x first.
PLAIN = [
    ((2, 3, 4, 6), (5, 3, 2, 3), (2, 3), (0, 0), (1, 1), 1),
    ((2, 3, 4, 6), (5, 3, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 2, 5, 5), (3, 2, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((1, 2, 5, 5), (3, 2, 3, 2), (2, 1), (1, 0), (1, 1), 1),
    ((1, 4, 5, 5), (4, 2, 3, 3), (1, 1), (0, 0), (1, 1), 2),
    ((1, 2, 6, 6), (3, 2, 2, 2), (1, 1), (0, 0), (2, 2), 1),
    ((1, 2, 6, 7), (3, 2, 3, 3), (3, 2), (0, 1), (1, 1), 1),
    ((2, 3, 7), (4, 3, 3), (1,), (1,), (1,), 1),
    ((2, 3, 8), (4, 3, 2), (2,), (0,), (1,), 1),
    ((2, 4, 7), (4, 1, 3), (1,), (2,), (1,), 4),
    ((1, 2, 4, 4, 2), (3, 2, 2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), 1),
    ((1, 1, 3, 3, 3), (2, 1, 2, 2, 2), (1, 1, 1), (0, 1, 0), (1, 1, 1), 1),
]
TRANSPOSED = [
    ((2, 3, 4, 5), (3, 5, 2, 3), (2, 3), (0, 0), (1, 1), (0, 0), 1),
    ((2, 3, 4, 5), (3, 5, 3, 3), (1, 1), (1, 1), (1, 1), (0, 0), 1),
    ((1, 4, 3, 3), (4, 2, 3, 2), (2, 2), (1, 0), (1, 1), (1, 1), 2),
    ((1, 2, 3, 4), (2, 3, 3, 3), (1, 2), (2, 2), (2, 1), (0, 1), 1),
    ((2, 4, 5), (4, 1, 3), (2,), (1,), (1,), (1,), 4),
    ((1, 2, 2, 3, 2), (2, 3, 2, 2, 2), (1, 2, 2), (0, 1, 0), (1, 1, 1), (0, 1, 0), 1),
]


def convolutions(s):
    for x, w, stride, pad, dilation, groups in PLAIN:
        for bias in (real(w[0]), None):
            s.case("aten.convolution.default", real(*x), real(*w), bias, list(stride), list(pad), list(dilation), False, [0] * len(stride), groups)
    x, w, stride, pad, dilation, groups = PLAIN[3]
    s.case("aten._convolution.default", real(*x), real(*w), None, list(stride), list(pad), list(dilation), False, [0, 0], groups, False, False, True, True)
    for x, w, stride, pad, dilation, more, groups in TRANSPOSED:
        for bias in (real(w[1] * groups), None):
            s.case("aten.convolution.default", real(*x), real(*w), bias, list(stride), list(pad), list(dilation), True, list(more), groups)
    s.case("aten.conv1d.default", real(2, 3, 7), real(4, 3, 3), real(4))
    s.case("aten.conv1d.default", real(2, 3, 7), real(4, 3, 3), None, [1], [1])
    s.case("aten.conv2d.default", real(2, 3, 4, 6), real(5, 3, 2, 3), real(5), [2, 3])
    s.case("aten.conv2d.default", real(2, 3, 5, 6), real(5, 3, 2, 3), real(5), [2], [1])
    s.case("aten.conv3d.default", real(1, 2, 4, 4, 2), real(3, 2, 2, 2, 2), real(3), [2, 2, 2])
    s.case("aten.conv3d.default", real(1, 1, 3, 3, 3), real(2, 1, 2, 2, 2))
    s.case("aten.conv2d.default", real(1, 2, 5, 5), real(3, 2, 3, 3))
    for name in ("same", "valid"):
        s.case("aten.conv1d.padding", real(2, 3, 7), real(4, 3, 4), real(4), [1], name)
        s.case("aten.conv2d.padding", real(2, 3, 5, 6), real(4, 3, 3, 2), None, [1, 1], name, [1, 2])
        s.case("aten.conv3d.padding", real(1, 1, 3, 4, 3), real(2, 1, 2, 3, 2), None, [1, 1, 1], name)
    s.case("aten.conv_transpose1d.default", real(2, 3, 4), real(3, 2, 3), real(2), [2], [1], [1])
    s.case("aten.conv_transpose2d.input", real(2, 3, 4, 3), real(3, 2, 3, 3), real(2), [2, 1], [1, 1], [1, 0])
    s.case("aten.conv_transpose3d.input", real(1, 2, 2, 3, 2), real(2, 2, 2, 2, 2))


def gradients(s):
    def case(x, w, stride, pad, dilation, transposed, more, groups):
        x, w = real(*x), real(*w)
        settings = [list(stride), list(pad), list(dilation), transposed, list(more), groups]
        dy = torch.ops.aten.convolution(x, w, None, *settings)
        outputs = w.shape[1] * groups if transposed else w.shape[0]
        for wanted in ([True, True, True], [True, False, False], [False, True, False]):
            s.case("aten.convolution_backward.default", real(*dy.shape), x, w, [outputs], *settings, wanted)
    for x, w, stride, pad, dilation, groups in PLAIN:
        case(x, w, stride, pad, dilation, False, [0] * len(stride), groups)
    for x, w, stride, pad, dilation, more, groups in TRANSPOSED:
        case(x, w, stride, pad, dilation, True, more, groups)


def patches(s):
    s.case("aten.im2col.default", real(2, 3, 5, 6), [2, 3], [1, 1], [0, 0], [1, 1])
    s.case("aten.im2col.default", real(2, 3, 5, 6), [2, 2], [2, 1], [1, 0], [2, 1])
    s.case("aten.col2im.default", real(2, 12, 20), [5, 6], [2, 2], [1, 1], [0, 0], [1, 1])
    s.case("aten.col2im.default", real(2, 12, 15), [5, 6], [2, 2], [2, 1], [1, 0], [2, 1])


WINDOWS = [  # sizes, kernel, stride, padding, ceil
    ((4, 6), [2, 2], [], [0], False), ((4, 6), [2, 3], [], [0, 0], False), ((5, 7), [3, 2], [2, 1], [1, 1], False),
    ((5, 7), [2], [2], [0], True), ((5, 8), [3, 3], [2, 3], [1, 1], True), ((6, 7), [3, 3], [3, 2], [0], True),
    ((5, 5), [5, 5], [], [0], False),
]


def pooling(s):
    for sizes, kernel, stride, pad, ceil in WINDOWS:
        for lead in ((2, 3), (3,)):
            x = real(*lead, *sizes)
            for with_padding in (True, False):
                s.case("aten.avg_pool2d.default", x, kernel, stride, pad, ceil, with_padding)
            s.case("aten.avg_pool2d.default", x, kernel, stride, pad, ceil, True, 3)
            y = torch.ops.aten.avg_pool2d(x, kernel, stride, pad, ceil)
            for with_padding, divisor in ((True, None), (False, None), (True, 3)):
                s.case("aten.avg_pool2d_backward.default", real(*y.shape), x, kernel, stride, pad, ceil, with_padding, divisor)
            s.case("aten.max_pool2d_with_indices.default", x, kernel, stride, pad, [1], ceil)
            s.case("aten.max_pool2d.default", x, kernel, stride, pad, [1, 1], ceil)
            y, places = torch.ops.aten.max_pool2d_with_indices(x, kernel, stride, pad, [1], ceil)
            s.case("aten.max_pool2d_with_indices_backward.default", real(*y.shape), x, kernel, stride, pad, [1, 1], ceil, places)
    s.case("aten.max_pool2d_with_indices.default", real(2, 2, 7, 7), [2, 3], [1, 2], [1, 1], [2, 2])
    s.case("aten.avg_pool1d.default", real(2, 3, 7), [3], [2], [1])
    s.case("aten.avg_pool1d.default", real(2, 3, 7), [3], [2], [1], False, False)
    s.case("aten.max_pool1d.default", real(2, 3, 7), [3], [2], [1])
    x = real(2, 3, 7)
    s.case("aten.max_pool1d_with_indices.default", x, [3], [2], reference=lambda: list(F.max_pool1d(x, 3, 2, return_indices=True)))
    x = real(2, 2, 3, 4, 5)
    s.case("aten.avg_pool3d.default", x, [2, 2, 3], [], [0, 1, 1])
    s.case("aten.avg_pool3d_backward.default", torch.ones_like(F.avg_pool3d(x, 2)), x, [2, 2, 2], [], [0, 0, 0], False, True, None)
    s.case("aten.max_pool3d.default", x, [2, 2, 2], [1, 2, 2])
    s.case("aten.max_pool3d_with_indices.default", x, [2, 2, 2], [1, 2, 2], [1, 0, 1])
    y, places = torch.ops.aten.max_pool3d_with_indices(x, [2, 2, 2])
    s.case("aten.max_pool3d_with_indices_backward.default", real(*y.shape), x, [2, 2, 2], [], [0, 0, 0], [1, 1, 1], False, places)


def adaptive(s):
    s.case("aten.adaptive_avg_pool1d.default", real(2, 3, 7), [3])
    for sizes in ([1, 1], [2, 3], [3, 4], [5, 6], [7, 7]):
        x = real(2, 3, 5, 6)
        for name in ("_adaptive_avg_pool2d", "adaptive_avg_pool2d"):
            s.case(f"aten.{name}.default", x, sizes)
        y = torch.ops.aten._adaptive_avg_pool2d(x, sizes)
        s.case("aten._adaptive_avg_pool2d_backward.default", real(*y.shape), x)
        s.case("aten.adaptive_max_pool2d.default", x, sizes)
        y, places = torch.ops.aten.adaptive_max_pool2d(x, sizes)
        s.case("aten.adaptive_max_pool2d_backward.default", real(*y.shape), x, places)
    s.case("aten.adaptive_max_pool1d.default", real(2, 3, 7), [3])
    x = real(1, 2, 3, 4, 5)
    for name in ("_adaptive_avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d"):
        s.case(f"aten.{name}.default", x, [2, 2, 5])
    y, places = torch.ops.aten.adaptive_max_pool3d(x, [2, 2, 5])
    s.case("aten._adaptive_avg_pool3d_backward.default", real(*y.shape), x)
    s.case("aten.adaptive_max_pool3d_backward.default", real(*y.shape), x, places)


def resampling(s):
    for sizes in ([6], [5], [2]):
        s.case("aten.upsample_nearest1d.default", real(2, 3, 3), sizes)
        for corners in (True, False):
            s.case("aten.upsample_linear1d.default", real(2, 3, 3), sizes, corners)
    s.case("aten.upsample_nearest1d.vec", real(2, 3, 3), [5], None)
    s.case("aten.upsample_nearest1d.vec", real(2, 3, 3), None, [2.0])
    for sizes in ([6, 8], [5, 7], [2, 3], [3, 4], [1, 9]):
        x = real(2, 3, 3, 4)
        s.case("aten.upsample_nearest2d.default", x, sizes)
        s.case("aten.upsample_nearest2d.vec", x, sizes, None)
        for corners in (True, False):
            s.case("aten.upsample_bilinear2d.default", x, sizes, corners)
            s.case("aten.upsample_bilinear2d.vec", x, sizes, corners, None)
    for corners in (False, True):
        s.case("aten.upsample_bilinear2d.vec", real(2, 3, 3, 4), None, corners, [2.0, 1.5])
    s.case("aten.upsample_nearest2d.vec", real(2, 3, 3, 4), None, [2.0, 3.0])
    s.case("aten.upsample_nearest3d.default", real(1, 2, 2, 3, 2), [4, 5, 6])
    s.case("aten.upsample_nearest3d.vec", real(1, 2, 2, 3, 2), [4, 5, 6], None)
    s.case("aten.upsample_nearest3d.vec", real(1, 2, 2, 3, 2), None, [1.0, 2.0, 3.0])


def padding(s):
    for kind in ("reflection", "replication"):
        for pads in ([2, 1], [-1, 2], [3, -2], [-2, -2], [-6, 3]):
            s.case(f"aten.{kind}_pad1d.default", real(2, 3, 5), pads)
        s.case(f"aten.{kind}_pad2d.default", real(2, 3, 5, 4), [2, 1, 0, 3])
        s.case(f"aten.{kind}_pad2d.default", real(2, 3, 5, 4), [-2, 1, 2, -3])
        s.case(f"aten.{kind}_pad3d.default", real(1, 2, 3, 4, 5), [2, 1, 0, 3, 1, 1])
