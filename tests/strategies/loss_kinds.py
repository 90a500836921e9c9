"""Losses over data that is shared out, with their gradients as autograd writes them."""
from verdicts import Case

TOKENS, WORDS = 8, 7


def cross_entropy(p, logits, targets, ignore=-100, reduction=1):
    """The loss, the number of tokens that count, and what gives the gradient of the logits from the loss's."""
    logs = p.same("_log_softmax.default", logits, -1, False)
    loss, number = p.several("aten.nll_loss_forward.default", logs, targets, None, reduction, ignore, shapes=[logs.shape[:1] if reduction == 0 else (), ()])

    def backward(d):
        dlogs = p.op("aten.nll_loss_backward.default", d, logs, targets, None, reduction, ignore, number, shape=logs.shape)
        return p.op("aten._log_softmax_backward_data.default", dlogs, logs, -1, "f32", shape=logs.shape)
    return loss, number, backward


def averaged(p):
    """Every rank's loss is the mean over its tokens, all have equally many: losses and gradients are averaged."""
    n = TOKENS // p.ranks
    x, w, targets = p.input("x", n, 4), p.input("w", WORDS, 4), p.input("targets", n, dtype="i64")
    loss, _, backward = cross_entropy(p, p.linear(x, w), targets)
    g = p.mm(p.t(backward(p.op("aten.ones_like.default", loss, shape=()))), x)
    kind = "sum" if p.broken("sum for mean") else "avg"
    if not p.sequential:
        loss = p.all_reduce(loss, "avg")
        g = g if p.broken("gradients not reduced") else p.all_reduce(g, kind)
    p.output(loss, "loss")
    p.output(g, "g")


def over_all_tokens(p):
    """Some tokens do not count, on one rank more than on another: the sum of the losses over the number of all ranks' tokens that count."""
    n, padding = TOKENS // p.ranks, 3
    x, w, targets = p.input("x", n, 4), p.input("w", WORDS, 4), p.input("targets", n, dtype="i64")
    logits = p.linear(x, w)
    if p.sequential:
        loss, _, backward = cross_entropy(p, logits, targets, padding)
        d = p.op("aten.ones_like.default", loss, shape=())
    else:
        loss, _, backward = cross_entropy(p, logits, targets, padding, reduction=2)
        number = p.op("aten.sum.default", p.compare("ne", targets, padding), shape=(), dtype="i64")
        number = number if p.broken("the rank's own number") else p.all_reduce(number)
        if p.broken("all tokens counted"):
            number = p.op("aten.full.default", [], TOKENS, shape=(), dtype="i64")
        number = p.cast(number, "f32")
        loss = p.all_reduce(p.div(loss, number))
        d = p.div(p.op("aten.ones_like.default", number, shape=()), number)
    g = p.mm(p.t(backward(d)), x)
    p.output(loss, "loss")
    p.output(g if p.sequential else p.all_reduce(g), "g")


def matching_pairs(p):
    """Every text against all images, and every image against all texts (CLIP), scaled by a learned temperature."""
    n = 4 // p.ranks
    texts, images, temperature = p.input("texts", n, 5), p.input("images", n, 5), p.input("temperature")
    begin = 0 if p.broken("targets from 0") else p.rank * n
    targets = p.arange(begin, begin + n)
    gathered = lambda x: x if p.sequential else p.all_gather(x, 0)
    scale = p.unary("exp", temperature)
    logits = lambda own, others: p.mul(scale, p.linear(own, gathered(others)))
    first, second = logits(texts, images), logits(texts if p.broken("texts against texts") else images, texts)
    loss = p.div(p.add(cross_entropy(p, first, targets)[0], cross_entropy(p, second, targets)[0]), 2)
    p.output(loss if p.sequential else p.all_reduce(loss, "avg"), "loss")


def log_of_softmax(p):
    """The logarithm of a softmax (in a distillation loss), the vocabulary cut: ranks subtract the logarithm of the sum."""
    x = p.input("x", 3, 8 // p.ranks)
    if p.sequential:
        return p.output(p.unary("log", p.softmax(x)), "y")
    x = p.sub(x, p.all_reduce(p.amax(x, [-1], True), "max"))
    total = p.sum(p.unary("exp", x), [-1], True)
    total = total if p.broken("the rank's own sum") else p.all_reduce(total)
    p.output(p.sub(x, total if p.broken("the sum itself") else p.unary("log", total)), "y")


def parallel_classes(p):
    """Cross entropy of words that are cut, with its gradient, as Megatron writes both: targets of other ranks are masked, and one is taken from the
    softmax at the target. The last rank may have fewer words."""
    sizes = p.sizes
    words, n = sum(sizes) if p.sequential else sizes[p.rank], 4
    logits, targets, d = p.input("logits", n, words), p.input("targets", n, dtype="i64"), p.input("d", n)
    if p.sequential:
        loss, _, backward = cross_entropy(p, logits, targets, reduction=0)
        p.output(loss, "loss")
        return p.output(backward(d), "g")
    begin = sum(sizes[:p.rank])
    top = p.all_reduce(p.amax(logits, [-1], True), "max")
    x = p.sub(logits, top)
    foreign = p.op("aten.logical_or.default", p.compare("lt", targets, begin), p.compare("ge", targets, begin + words), shape=(n,), dtype="b8")
    places = p.masked_fill(p.sub(targets, begin), foreign, 0)
    picked = p.pick(x, places)
    picked = picked if p.broken("others' targets not masked") else p.masked_fill(picked, foreign, 0.0)
    e = p.unary("exp", x)
    total = p.sum(e, [-1])
    total = total if p.broken("the rank's own sum") else p.all_reduce(total)
    p.output(p.sub(p.unary("log", total), p.all_reduce(picked)), "loss")
    softmax = p.div(e, p.unsqueeze(total, -1))
    ones = p.op("aten.rsub.Scalar", p.cast(foreign, "f32"), 1.0, shape=(n,))
    less = p.op("aten.index_put.default", softmax, [p.arange(0, n), places], ones if p.broken("one added") else p.unary("neg", ones), True, shape=softmax.shape)
    p.output(p.mul(less, p.unsqueeze(d, -1)), "g")


def greatest_word(p):
    """The likeliest word and its log-probability, the words cut: ranks gather their greatest logits and where these are."""
    words = 8 // p.ranks
    x = p.input("x", 3, words)
    if p.sequential:
        p.output(p.op("aten.argmax.default", x, -1, shape=(3,), dtype="i64"), "word")
        return p.output(p.amax(p.same("_log_softmax.default", x, -1, False), [-1]), "score")
    top, place = p.several("aten.max.dim", x, -1, True, shapes=[(3, 1), (3, 1)], dtypes=["f32", "i64"])
    if not p.broken("places not moved"):
        place = p.add(place, p.rank * words)
    tops, places = p.all_gather(top, 1), p.all_gather(place, 1)
    if p.broken("ranks in another order"):
        tops = p.cat([p.part(tops, 1, 1, 2), p.part(tops, 1, 0, 2)], 1)
    best = p.op("aten.argmax.default", tops, -1, shape=(3,), dtype="i64")
    p.output(p.pick(places, best), "word")
    high = p.all_reduce(p.amax(x, [-1]), "max")
    total = p.sum(p.unary("exp", p.sub(x, p.unsqueeze(high, -1))), [-1])
    p.output(p.unary("neg", p.unary("log", total if p.broken("the rank's own sum") else p.all_reduce(total))), "score")


def norm_of_norms(p):
    """Norms of the gradients, of which one is cut: its square is summed over the ranks (as clip_grad_norm_ and Megatron do)."""
    cut, whole = p.input("cut", 6 // p.ranks, 3), p.input("whole", 4)
    norm = lambda x: p.op("aten.linalg_vector_norm.default", x, shape=())
    own, shared = norm(cut), norm(whole)
    if p.sequential:
        total = norm(p.op("aten.stack.default", [own, shared], shape=(2,), dtype="f32"))
    else:
        square = p.power(own, 2)
        square = square if p.broken("the rank's own norm") else p.all_reduce(own if p.broken("norms for squares") else square)
        total = p.power(p.add(square, p.power(shared, 2)), 0.5)
    scale = p.op("aten.clamp.default", p.mul(p.unary("reciprocal", p.add(total, 1e-6)), 2.0), None, 1.0, shape=())
    p.output(p.mul(cut, scale), "cut_new")
    p.output(p.mul(whole, scale), "whole_new")


def loss_cases():
    batch = {"x": "Shard(0)", "w": "Replicate", "targets": "Shard(0)"}
    for ranks in (2, 4):
        yield Case(f"cross entropy, batch cut, {ranks} ranks", averaged, batch, {"loss": "Replicate", "g": "Replicate"},
                   {"sum for mean": "nll_loss_backward", "gradients not reduced": "nll_loss_backward"}, ranks=ranks, ranges={"targets": WORDS})
    yield Case("cross entropy over the tokens that count", over_all_tokens, batch, {"loss": "Replicate", "g": "Replicate"},
               {"the rank's own number": "nll_loss_forward.0", "all tokens counted": "nll_loss_forward.0"}, ranges={"targets": WORDS})
    yield Case("pairs of texts and images", matching_pairs, {"texts": "Shard(0)", "images": "Shard(0)", "temperature": "Replicate"}, {"loss": "Replicate"},
               {"targets from 0": "nll_loss_forward.0", "texts against texts": "mm_1"})
    yield Case("logarithm of softmax, vocabulary cut", log_of_softmax, {"x": "Shard(1)"}, {"y": "Shard(1)"},
               {"the rank's own sum": "_softmax", "the sum itself": "_softmax"})
    for sizes in ((4, 4), (3, 3, 2)):
        def build(p, sizes=sizes):
            p.sizes = sizes
            return parallel_classes(p)
        joined = lambda name, ranks=len(sizes): f"concat({', '.join(f'r{r}.{name}' for r in range(ranks))}; 1)"
        yield Case(f"cross entropy, {'+'.join(map(str, sizes))} words", build, {"logits": joined("logits"), "targets": "Replicate", "d": "Replicate"},
                   {"loss": "Replicate", "g": joined("g")},
                   {"others' targets not masked": "_log_softmax", "the rank's own sum": "_log_softmax",
                    "one added": "_log_softmax"}, ranks=len(sizes), ranges={"targets": sum(sizes)},
                   cut=lambda values, rank, sizes=sizes: {"logits": values["logits"].split(list(sizes), 1)[rank]}, joined=whole_gradient)
    yield Case("likeliest word, words cut", greatest_word, {"x": "Shard(1)"}, {"word": "Replicate", "score": "Replicate"},
               {"places not moved": "argmax", "ranks in another order": "argmax", "the rank's own sum": "_log_softmax"})
    yield Case("norm of norms", norm_of_norms, {"cut": "Shard(0)", "whole": "Replicate"}, {"cut_new": "Shard(0)", "whole_new": "Replicate"},
               {"the rank's own norm": "linalg_vector_norm", "norms for squares": "linalg_vector_norm"})


def whole_gradient(outputs):
    import torch
    return {"g": torch.cat([o["g"] for o in outputs], 1)}
