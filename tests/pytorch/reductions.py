"""Cases of frameworks/pytorch/reductions.rules and loss.rules."""
import torch

from pointwise import bools, f32, f64, i64, ints, positive, real


def cases(s):
    sums(s)
    extremes(s)
    statistics(s)
    softmax(s)
    sorting(s)
    losses(s)


def sums(s):
    x = real(2, 3, 4)
    for op in ("sum", "mean"):
        s.case(f"aten.{op}.default", x)
        s.case(f"aten.{op}.default", x, dtype=f32)
        overload = "dim_IntList" if op == "sum" else "dim"
        for dims in ([1], [-1], [0, 2], [-2, 0], [0, 1, 2], [], None):
            for keep in (False, True):
                s.case(f"aten.{op}.{overload}", x, dims, keep)
        s.case(f"aten.{op}.{overload}", x, [1], dtype=f32)
    s.case("aten.sum.default", ints(3, 4))
    s.case("aten.sum.default", bools(3, 4))
    s.case("aten.sum.dim_IntList", bools(3, 4), [0])
    s.case("aten.sum.dim_IntList", ints(3, 4, dtype=torch.int32), [0])
    s.case("aten.count_nonzero.dim_IntList", ints(3, 4, low=0, high=2), [1])
    s.case("aten.count_nonzero.dim_IntList", ints(3, 4, low=0, high=2), [])
    s.case("aten.count_nonzero.default", ints(3, 4, low=0, high=2))
    s.case("aten.prod.default", real(2, 3))
    s.case("aten.prod.default", ints(2, 3))
    s.case("aten.prod.dim_int", real(2, 3), 1)
    s.case("aten.prod.dim_int", real(2, 3), -2, True)
    s.case("aten.cumsum.default", real(3, 4), 1)
    s.case("aten.cumsum.default", real(3, 4), -2)
    s.case("aten.cumsum.default", ints(3, 4), 0)
    s.case("aten.cumsum.default", bools(3, 4), 0)
    s.case("aten.cumsum.default", ints(3, 4), 0, dtype=f32)
    s.case("aten.cumprod.default", real(3, 4), -1)
    s.case("aten.logcumsumexp.default", real(3, 4), -1)
    s.case("aten.trace.default", real(3, 3))
    s.case("aten.cummax.default", real(3, 4), 1)
    s.case("aten.cummin.default", real(3, 4), -2)


def extremes(s):
    x = real(2, 3, 4)
    for op in ("amax", "amin"):
        for dims in ([0], [-1], [0, 2], []):
            for keep in (False, True):
                s.case(f"aten.{op}.default", x, dims, keep)
        s.case(f"aten.{op}.default", x)
    for op in ("max", "min"):
        s.case(f"aten.{op}.default", x)
        s.case(f"aten.{op}.default", ints(6))
        for d in (0, -1):
            for keep in (False, True):
                s.case(f"aten.{op}.dim", x, d, keep)
        s.case(f"aten.{op}.other", x, real(4))
    for op in ("argmax", "argmin"):
        s.case(f"aten.{op}.default", x, 1)
        s.case(f"aten.{op}.default", x, -1, True)
        s.case(f"aten.{op}.default", x)
    s.case("aten.aminmax.default", x, dim=1)
    for op in ("any", "all"):
        for make in (lambda: bools(3, 4), lambda: ints(3, 4, low=0, high=2), lambda: ints(3, 4, low=0, high=3).to(torch.uint8)):
            s.case(f"aten.{op}.default", make())
            s.case(f"aten.{op}.dim", make(), 1)
            s.case(f"aten.{op}.dim", make(), -2, True)
        m = bools(2, 3, 4)
        f = torch.any if op == "any" else torch.all
        s.case(f"aten.{op}.dims", m, [0, 1], reference=lambda: f(f(m, 1), 0))
        for keep in (False, True):
            s.case(f"aten.{op}.dims", m, [], keep, reference=lambda: m.clone())
            s.case(f"aten.{op}.dims", m.to(i64) * 3, [], keep, reference=lambda: m.clone())
        s.case(f"aten.{op}.dims", m, None, True, reference=lambda: f(m).reshape(1, 1, 1))


def statistics(s):
    x = real(2, 3, 4)
    for op in ("var", "std"):
        for dims in ([1], [-1, 0], None):
            for correction in (None, 0, 1, 2):
                s.case(f"aten.{op}.correction", x, dims, correction=correction)
        s.case(f"aten.{op}.correction", x, [1], correction=1, keepdim=True)
        for unbiased in (True, False):
            s.case(f"aten.{op}.dim", x, [1], unbiased)
            s.case(f"aten.{op}.dim", x, [1], unbiased, True)
            s.case(f"aten.{op}.default", x, unbiased)
            s.case(f"aten.{op}_mean.dim", x, [1], unbiased)
        s.case(f"aten.{op}_mean.correction", x, [1, 2], correction=0, keepdim=True)
        s.case(f"aten.{op}_mean.correction", x, [1], correction=None)
    for order in (2, 1, float("inf"), 0, 3, -1, float("-inf"), 0.5):
        for dims, keep in ((None, False), ([1], True), ([0, 2], False)):
            s.case("aten.linalg_vector_norm.default", x, order, dims, keep)
        s.case("aten.norm.ScalarOpt_dim", x, order, [1], True)
        s.case("aten.norm.Scalar", x, order)
    s.case("aten.linalg_vector_norm.default", x)
    s.case("aten.linalg_vector_norm.default", real(2, 3, dtype=f32), 2, [1], dtype=f64)
    s.case("aten.norm.ScalarOpt_dim", x, None, [0])
    s.case("aten.norm.ScalarOpt_dtype", x, 2, dtype=f32)
    s.case("aten.norm.ScalarOpt_dim_dtype", x, 2, [1], False, dtype=f32)
    s.case("aten.frobenius_norm.dim", x, [1, 2])


def softmax(s):
    x = real(2, 3, 4)
    for op in ("softmax", "log_softmax"):
        for d in (0, -1, 1):
            s.case(f"aten._{op}.default", x, d, False)
            s.case(f"aten.{op}.int", x, d)
        s.case(f"aten.{op}.int", real(3, dtype=f32), 0, f64)
    s.case("aten._safe_softmax.default", x, -1, reference=lambda: torch.softmax(x, -1))
    for dims, keep in (([1], False), ([-1], True), ([0, 2], False), ([], True)):
        s.case("aten.logsumexp.default", x, dims, keep)
    s.case("aten.logsumexp.default", x, [], reference=lambda: torch.logsumexp(x, [0, 1, 2]))
    dy = real(2, 3, 4)
    for d in (1, -1):
        s.case("aten._softmax_backward_data.default", dy, torch.softmax(x, d), d, f64)
        s.case("aten._log_softmax_backward_data.default", dy, torch.log_softmax(x, d), d, f64)


def sorting(s):
    x = real(3, 5)
    s.case("aten.topk.default", x, 2)
    s.case("aten.topk.default", x, 2, 0)
    s.case("aten.topk.default", x, 3, -1, False)
    s.case("aten.topk.default", x, 3, -1, True, True)
    s.case("aten.sort.default", x)
    s.case("aten.sort.default", x, 0, True)
    s.case("aten.sort.stable", x, stable=True)
    s.case("aten.sort.stable", x, stable=True, dim=0, descending=True)
    s.case("aten.argsort.default", x)
    s.case("aten.argsort.default", x, 0, True)
    s.case("aten.argsort.stable", x, stable=True, dim=-1, descending=True)
    s.case("aten.kthvalue.default", x, 2)
    s.case("aten.median.dim", x, 1)


def losses(s):
    x, target = torch.log_softmax(real(5, 4), -1), ints(5, low=0, high=4)
    ignored = target.clone()
    ignored[1] = -100
    for t in (target, ignored):
        for reduction in (0, 1, 2):
            s.case("aten.nll_loss_forward.default", x, t, None, reduction, -100)
            s.case("aten.nll_loss.default", x, t, None, reduction, -100)
            s.case("aten.cross_entropy_loss.default", x, t, None, reduction)
            dy = real(5) if reduction == 0 else torch.tensor(1.5, dtype=f64)
            total = torch.tensor(float((t >= 0).sum()), dtype=f64)
            s.case("aten.nll_loss_backward.default", dy, x, t, None, reduction, -100, total)
    weight = positive(4)
    for reduction in (0, 1, 2):
        result = torch.ops.aten.nll_loss_forward(x, ignored, weight, reduction, -100)
        s.case("aten.nll_loss_forward.default", x, ignored, weight, reduction, -100)
        dy = real(5) if reduction == 0 else torch.tensor(1.5, dtype=f64)
        s.case("aten.nll_loss_backward.default", dy, x, ignored, weight, reduction, -100, result[1])
        s.case("aten.cross_entropy_loss.default", x, ignored, weight, reduction)
    s.case("aten.cross_entropy_loss.default", x, target, None, 1, -100, 0.1)
    s.case("aten.cross_entropy_loss.default", x, torch.softmax(real(5, 4), -1))
    s.case("aten.nll_loss_nd.default", x, target)
    y3, t3 = torch.log_softmax(real(2, 4, 3), 1), ints(2, 3, low=0, high=4)
    s.case("aten.nll_loss_nd.default", y3, t3)
    s.case("aten.cross_entropy_loss.default", y3, t3)
    y4, t4 = torch.log_softmax(real(2, 4, 3, 2), 1), ints(2, 3, 2, low=0, high=4)
    s.case("aten.nll_loss2d_forward.default", y4, t4, None, 1, -100)
    s.case("aten.nll_loss2d_backward.default", torch.tensor(1.5, dtype=f64), y4, t4, None, 1, -100, torch.tensor(12.0, dtype=f64))
    a, b = real(3, 4), real(3, 4)
    for reduction in (0, 1, 2):
        dy = real(3, 4) if reduction == 0 else torch.tensor(1.5, dtype=f64)
        s.case("aten.mse_loss.default", a, b, reduction)
        s.case("aten.mse_loss_backward.default", dy, a, b, reduction)
        s.case("aten.l1_loss.default", a, b, reduction)
        for wide in (real(4), real(3, 1), real(2, 3, 4)):
            s.case("aten.mse_loss.default", a, wide, reduction)
            s.case("aten.l1_loss.default", wide, a, reduction)
            s.case("aten.smooth_l1_loss.default", a * 2, wide, reduction, 0.5)
            s.case("aten.huber_loss.default", wide, a * 2, reduction, 0.5)
        for numbers in (ints(3, 4), bools(3, 4)):
            s.case("aten.mse_loss.default", numbers, b, reduction)
            s.case("aten.smooth_l1_loss.default", b, numbers, reduction, 0.5)
        s.case("aten.smooth_l1_loss.default", a * 2, b, reduction, 0.5)
        s.case("aten.smooth_l1_loss_backward.default", dy, a * 2, b, reduction, 0.5)
        s.case("aten.huber_loss.default", a * 2, b, reduction, 0.5)
        s.case("aten.huber_loss_backward.default", dy, a * 2, b, reduction, 0.5)
        s.case("aten.binary_cross_entropy_with_logits.default", a, torch.sigmoid(b), None, None, reduction)
        s.case("aten.binary_cross_entropy_with_logits.default", a, torch.sigmoid(b), positive(4), positive(4), reduction)
        bce = torch.ops.aten.binary_cross_entropy_with_logits.default
        for wide in (real(4), real(3, 1), real(2, 3, 4)):
            for x, y in ((wide, torch.sigmoid(b)), (a, torch.sigmoid(wide))):  # not every PyTorch takes a target that is smaller
                weight = positive(4)
                s.case("aten.binary_cross_entropy_with_logits.default", x, y, weight, weight + 1, reduction,
                       reference=lambda: bce(*torch.broadcast_tensors(x, y), weight, weight + 1, reduction))
        s.case("aten.binary_cross_entropy.default", torch.sigmoid(a), torch.sigmoid(b), None, reduction)
        s.case("aten.binary_cross_entropy_backward.default", dy, torch.sigmoid(a), torch.sigmoid(b), None, reduction)
        s.case("aten.kl_div.default", torch.log_softmax(a, -1), torch.softmax(b, -1), reduction)
        s.case("aten.kl_div.default", torch.log_softmax(a, -1), torch.log_softmax(b, -1), reduction, log_target=True)
    s.case("aten.mse_loss.default", a, b)
    mixed_losses(s)
    s.case("aten.huber_loss.default", a, b, 3)  # any other number is none
    s.case("aten.l1_loss.default", a, b)


def mixed_losses(s):
    """Operands of several precisions: the result is recorded in one, and computed here in double."""
    x, y, p = real(3, 4), torch.rand(3, 4, dtype=f64), positive(4)

    def case(op, *args):
        function = getattr(torch.ops.aten, op)
        exact = function(*[a.to(f64) if isinstance(a, torch.Tensor) else a for a in args])
        s.case(f"aten.{op}.default", *args, reference=lambda: exact.to(function(*args).dtype))
    for first, second in ((torch.bfloat16, f32), (f32, torch.bfloat16)):
        for reduction in (0, 1):
            case("binary_cross_entropy_with_logits", x.to(first), y.to(second), None, None, reduction)
            case("binary_cross_entropy_with_logits", x.to(first), y.to(first), p.to(second), p.to(second), reduction)
            case("kl_div", x.to(first), y.to(second), reduction)
            case("cross_entropy_loss", x.to(first), y.to(second), None, reduction)
            case("huber_loss", x.to(first), y.to(second), reduction)
