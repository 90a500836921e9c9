"""Steps of training: gradients, optimisers, losses over all ranks' tokens."""
from verdicts import Case

RATE = 0.125


def backward(p, x, dy, w):
    """Gradients of y = x w^T by x and w."""
    return p.mm(dy, w), p.mm(p.t(dy), x)


def flat_parameters(p):
    """Both weights lie in one flat buffer, which is cut in equal parts (not where a weight ends); it is gathered before use, and the flat
    gradient is reduced and scattered (FSDP, ZeRO-3)."""
    n, sizes = 6 // p.ranks, ((4, 3), (2, 4))
    x, t = p.input("x", n, 3), p.input("t", n, 2)
    if p.sequential:
        w1, w2 = p.input("w1", *sizes[0]), p.input("w2", *sizes[1])
    else:
        whole = p.all_gather(p.input("flat", 20 // p.ranks), 0)
        end = 12 if not p.broken("weights cut at the wrong place") else 8
        w1 = p.view(p.slice(whole, 0, 0, 12), *sizes[0])
        w2 = p.view(p.slice(whole, 0, end, end + 8), *sizes[1])
    h = p.linear(x, w1)
    a = p.unary("relu", h)
    wrong = p.sub(p.linear(a, w2), t)
    da, dw2 = backward(p, a, wrong, w2)
    dh = p.op("aten.threshold_backward.default", da, h, 0, shape=da.shape)
    _, dw1 = backward(p, x, dh, w1)
    if p.sequential:
        p.output(dw1, "dw1")
        return p.output(dw2, "dw2")
    flat = p.cat([p.view(dw1, 12), p.view(dw2, 8)], 0)
    if p.broken("gradients not reduced"):
        return p.output(p.part(flat, 0, p.rank, p.ranks), "dflat")
    return p.output(p.reduce_scatter(flat, 0), "dflat")


def adam(p, w, g, m, v):
    m = p.add(p.mul(m, 0.9), p.mul(g, 0.1))
    v = p.add(p.mul(v, 0.99), p.mul(p.mul(g, g), 0.01))
    step = p.div(m, p.add(p.unary("sqrt", v), 1e-8))
    return p.sub(w, p.mul(step, RATE)), m, v


def sharded_optimiser(p):
    """Moments are cut; each rank updates its part of the weight with the reduced gradient, and the parts are gathered (ZeRO-1)."""
    n, rows = 6 // p.ranks, 4 // p.ranks
    x, dy, w = p.input("x", n, 3), p.input("dy", n, 4), p.input("w", 4, 3)
    m, v = p.input("m", rows, 3), p.input("v", rows, 3)
    _, g = backward(p, x, dy, w)
    if not p.sequential:
        g = p.reduce_scatter(g, 0, kind="avg" if p.broken("average for sum") else "sum")
        w = p.part(w, 0, 0 if p.broken("everyone's first part") else p.rank, p.ranks)
    new, m, v = adam(p, w, g, m, v)
    p.output(m, "m_new")
    p.output(v, "v_new")
    p.output(new if p.sequential else p.all_gather(new, 0), "w_new")


def clipped(p):
    """Gradients are scaled by their common norm. One weight is cut over the ranks, the other is everyone's and counts once."""
    cut, whole = p.input("cut", 6 // p.ranks, 3), p.input("whole", 4)
    own, shared = p.total(p.power(cut, 2)), p.total(p.power(whole, 2))
    if p.sequential:
        squares = p.add(own, shared)
    elif p.broken("copies counted"):
        squares = p.all_reduce(p.add(own, shared))
    elif p.broken("the rank's own norm"):
        squares = p.add(own, shared)
    else:
        squares = p.add(p.all_reduce(own), shared)
    scale = p.op("aten.clamp.default", p.div(p.op("aten.full.default", [], 1.0, shape=[], dtype="f32"), p.unary("sqrt", squares)), None, 1.0, shape=[])
    p.output(p.mul(cut, scale), "cut_new")
    p.output(p.mul(whole, scale), "whole_new")


def tied_stages(p):
    """The first stage looks words up in a table that the last stage makes logits with; the two gradients of the table are added."""
    ids, dx, h, dlogits = (lambda: p.input("ids", 6, dtype="i64")), (lambda: p.input("dx", 6, 4)), (lambda: p.input("h", 6, 4)), \
        (lambda: p.input("dlogits", 6, 7))
    table = lambda d, i: p.op("aten.embedding_dense_backward.default", d, i, 7, -1, False, shape=(7, 4))
    if p.sequential:
        first = table(dx(), ids())
        return p.output(p.add(first, p.mm(p.t(dlogits()), h())), "g")
    g = table(dx(), ids()) if p.rank == 0 else p.mm(p.t(dlogits()), h())
    if not p.broken("stages keep their own"):
        g = p.all_reduce(g, "avg" if p.broken("average for sum") else "sum")
    return p.output(g, "g")


def weighted_loss(p):
    """The mean over the tokens that count, of which ranks have different numbers: sums of losses and of counts are reduced, then divided."""
    n = 8 // p.ranks
    losses, counts = p.input("losses", n), p.input("counts", n, dtype="b8")
    weights = p.cast(counts, "f32")
    total, number = p.total(p.mul(losses, weights)), p.total(weights)
    if p.broken("mean of the ranks' means"):
        return p.output(p.all_reduce(p.div(total, number), "avg"), "loss")
    if not p.sequential:
        total = p.all_reduce(total)
        number = number if p.broken("the rank's own count") else p.all_reduce(number)
    return p.output(p.div(total, number), "loss")


def norm_weights(p):
    """Sequences are cut between tensor-parallel layers: the gradient of a norm's weight is one of all ranks' tokens."""
    n = 6 // p.ranks
    x, dy = p.input("x", n, 4), p.input("dy", n, 4)
    scale = p.unary("rsqrt", p.add(p.mean(p.power(x, 2), [-1], True), 1e-6))
    g = p.sum(p.mul(dy, p.mul(x, scale)), [0])
    if not p.sequential and not p.broken("not reduced"):
        g = p.all_reduce(g, "avg" if p.broken("average for sum") else "sum")
    p.output(g, "g")


def loss_over_vocabulary(p):
    """Backward of cross entropy, the vocabulary cut: softmax less one at the target, which one rank has."""
    words = 8 // p.ranks
    logits, targets = p.input("logits", 3, words), p.input("targets", 3, dtype="i64")
    top = p.amax(logits, [-1], True)
    if not p.sequential:
        top = p.all_reduce(top, "max")
    e = p.unary("exp", p.sub(logits, top))
    total = p.sum(e, [-1], True)
    if not p.sequential and not p.broken("sum of the rank's own words"):
        total = p.all_reduce(total)
    begin = 0 if p.sequential or p.broken("no offset") else p.rank * words
    at = p.compare("eq", p.unsqueeze(targets, -1), p.unsqueeze(p.arange(begin, begin + words), 0))
    at = p.cast(at, "f32")
    p.output(p.sub(p.div(e, total), at), "g")


def contrastive(p):
    """Every text against all images: images are gathered, and a rank's targets begin where its texts begin."""
    n = 4 // p.ranks
    texts, images = p.input("texts", n, 5), p.input("images", n, 5)
    begin = p.rank * n
    if not p.sequential:
        images = p.all_gather(images, 0)
    logs = p.same("_log_softmax.default", p.linear(texts, images), -1, False)
    begin = 0 if p.broken("targets from 0") else begin
    picked = p.pick(logs, p.arange(begin, begin + n))
    loss = p.unary("neg", p.op("aten.mean.default", picked, shape=()))
    if not p.sequential:
        loss = p.all_reduce(loss, "sum" if p.broken("sum for mean") else "avg")
    p.output(loss, "loss")


def training_cases():
    flat = "concat(r0.flat, r1.flat; 0)"
    dflat = flat.replace("flat", "dflat")
    weight = lambda flat, begin, end, inner: f"split(slice({flat}; 0, {begin}, {end}); 0, {inner})"

    def unflattened(outs):
        import torch
        whole = torch.cat([o["dflat"] for o in outs], 0)
        return {"dw1": whole[:12].view(4, 3), "dw2": whole[12:].view(2, 4)}

    def flattened(values, rank):
        import torch
        return {"flat": torch.cat([values["w1"].reshape(-1), values["w2"].reshape(-1)]).chunk(2, 0)[rank]}
    yield Case("flat parameters", flat_parameters, {"x": "Shard(0)", "t": "Shard(0)", "w1": weight(flat, 0, 12, 3), "w2": weight(flat, 12, 20, 4)},
               {"dw1": weight(dflat, 0, 12, 3), "dw2": weight(dflat, 12, 20, 4)},
               {"weights cut at the wrong place": "mm_1", "gradients not reduced": "dw1"}, cut=flattened, joined=unflattened)
    yield Case("optimiser cut over ranks", sharded_optimiser, {"x": "Shard(0)", "dy": "Shard(0)", "w": "Replicate", "m": "Shard(0)", "v": "Shard(0)"},
               {"m_new": "Shard(0)", "v_new": "Shard(0)", "w_new": "Replicate"}, {"average for sum": "mul_1", "everyone's first part": "sub"},
               positive=("v",))
    yield Case("gradients clipped by their norm", clipped, {"cut": "Shard(0)", "whole": "Replicate"}, {"cut_new": "Shard(0)", "whole_new": "Replicate"},
               {"copies counted": "add", "the rank's own norm": "add"})
    yield Case("table of two stages", tied_stages, {"ids": "r0.ids", "dx": "r0.dx", "h": "r1.h", "dlogits": "r1.dlogits"}, {"g": "[r0.g, r1.g]"},
               {"stages keep their own": "g", "average for sum": "g"}, ranges={"ids": 7})
    yield Case("mean over tokens that count", weighted_loss, {"losses": "Shard(0)", "counts": "Shard(0)"}, {"loss": "Replicate"},
               {"mean of the ranks' means": "div", "the rank's own count": "div"})
    yield Case("weights of a norm, sequence cut", norm_weights, {"x": "Shard(0)", "dy": "Shard(0)"}, {"g": "Replicate"},
               {"not reduced": "g", "average for sum": "g"})
    yield Case("gradient of cross entropy, vocabulary cut", loss_over_vocabulary, {"logits": "Shard(1)", "targets": "Replicate"}, {"g": "Shard(1)"},
               {"sum of the rank's own words": "div", "no offset": "eq"}, ranges={"targets": 8})
    yield Case("contrastive loss", contrastive, {"texts": "Shard(0)", "images": "Shard(0)"}, {"loss": "Replicate"},
               {"targets from 0": "gather", "sum for mean": "mean"})
