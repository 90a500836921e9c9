"""Ranks that compute the same in another order: heads that share keys at once, adapters merged into weights, variances as means of squares."""
from verdicts import Case

BATCH, SEQ, WIDTH = 2, 5, 3


def shared_keys_at_once(p):
    """Keys and values are repeated for the heads of a group; the ranks put these heads one below the other instead, as more rows."""
    groups, each = 4 // p.ranks, 2
    q, k, v = p.input("q", BATCH, groups * each, SEQ, WIDTH), p.input("k", BATCH, groups, SEQ, WIDTH), p.input("v", BATCH, groups, SEQ, WIDTH)
    if p.sequential:
        def flat(x):
            wide = p.expand(p.unsqueeze(x, 2), BATCH, groups, each, SEQ, WIDTH)
            return p.view(p.clone(wide), BATCH * groups * each, SEQ, WIDTH)
        rows = p.view(q, BATCH * groups * each, SEQ, WIDTH)
    else:
        flat = lambda x: p.view(x, BATCH * groups, SEQ, WIDTH)
        if p.broken("heads in turn"):
            q = p.view(p.clone(p.transpose(p.view(q, BATCH, each, groups, SEQ, WIDTH), 1, 2)), BATCH, groups * each, SEQ, WIDTH)
        rows = p.view(q, BATCH * groups, each * SEQ, WIDTH)
    k, v = (v, k) if p.broken("keys for values") else (k, v)
    scores = p.bmm(rows, p.transpose(flat(k), 1, 2))
    y = p.bmm(p.softmax(scores), flat(v))
    p.output(p.view(y, BATCH, groups * each, SEQ, WIDTH), "y")


def one_head_at_once(p):
    """The same of one head of keys that all ranks have, without copies in the sequential program either."""
    heads = 4 // p.ranks
    q, k, v = p.input("q", BATCH, heads, SEQ, WIDTH), p.input("k", BATCH, SEQ, WIDTH), p.input("v", BATCH, SEQ, WIDTH)
    if p.sequential:
        flat = lambda x, *last: p.view(p.clone(p.expand(p.unsqueeze(x, 1), BATCH, heads, *last)), BATCH * heads, *last)
        scores = p.bmm(p.view(q, BATCH * heads, SEQ, WIDTH), p.transpose(flat(k, SEQ, WIDTH), 1, 2))
        y = p.bmm(p.softmax(scores), flat(v, SEQ, WIDTH))
    else:
        scores = p.bmm(p.view(q, BATCH, heads * SEQ, WIDTH), p.transpose(k, 1, 2))
        weights = p.same("_softmax.default", scores, 1 if p.broken("over all heads' rows") else -1, False)
        y = p.bmm(weights, v)
    p.output(p.view(y, BATCH, heads, SEQ, WIDTH), "y")


def merged_adapters(p):
    """A weight with a low-rank adapter: the sequential program adds their product to the weight, the ranks apply them one after the other. In the
    first layer rows of B are cut, in the second columns of A."""
    n = 6 // p.ranks
    x = p.input("x", 3, 5)
    w1, a1, b1 = p.input("w1", n, 5), p.input("a1", 2, 5), p.input("b1", n, 2)
    w2, a2, b2 = p.input("w2", 5, n), p.input("a2", 2, n), p.input("b2", 5, 2)

    def layer(x, w, a, b, factor=0.5):
        if p.sequential or p.broken("merged twice"):
            w = p.add(w, p.mul(p.mm(b, a), factor))
        y = p.linear(x, w)
        return y if p.sequential else p.add(y, p.mul(p.linear(p.linear(x, a), b), factor))
    h = p.unary("relu", layer(x, w1, a1, b1, 1.0 if p.broken("another factor") else 0.5))
    y = layer(h, w2, a2, b2)
    p.output(y if p.sequential or p.broken("no sum") else p.all_reduce(y), "y")


def applied_adapters(p):
    """The other way round: the ranks merge, the sequential program does not."""
    n = 6 // p.ranks
    x, w, a, b = p.input("x", 3, 5), p.input("w", n, 5), p.input("a", 2, 5), p.input("b", n, 2)
    if p.sequential:
        return p.output(p.add(p.linear(x, w), p.mul(p.linear(p.linear(x, a), b), 0.5)), "y")
    product = p.mm(b, a)
    return p.output(p.linear(x, p.add(w, product if p.broken("no factor") else p.mul(product, 0.5))), "y")


def early_weights(p):
    """A token's weight multiplies what goes into a product that is summed over the ranks, not what comes out (as routers' weights may)."""
    n = 6 // p.ranks
    x, g, w = p.input("x", 4, n), p.input("g", 4), p.input("w", 5, n)
    column = p.unsqueeze(g, -1)
    if p.sequential:
        return p.output(p.mul(p.linear(x, w), column), "y")
    y = p.all_reduce(p.linear(p.mul(x, column), w))
    return p.output(p.mul(y, column) if p.broken("weighted twice") else y, "y")


def batch_statistics(p):
    """Batch norm of all ranks' rows: the sequential operator, and sums of elements and squares."""
    n = 6 // p.ranks
    x, g, b = p.input("x", n, 3, 4), p.input("g", 3), p.input("b", 3)
    if p.sequential:
        y, _, _ = p.several("aten.native_batch_norm.default", x, g, b, None, None, True, 0.1, 1e-5, shapes=[x.shape, (3,), (3,)])
        return p.output(y, "y")
    total, squares = p.all_reduce(p.sum(x, [0, 2])), p.all_reduce(p.sum(p.mul(x, x), [0, 2]))
    mean = p.div(total, 24)
    variance = p.sub(p.div(squares, 24), mean if p.broken("less the mean") else p.mul(mean, mean))
    if p.broken("as of a sample"):
        variance = p.mul(variance, 24 / 23)
    scale = p.mul(p.unary("rsqrt", p.add(variance, 1e-5)), g)
    wide = lambda one: p.view(one, 1, 3, 1)
    return p.output(p.add(p.mul(p.sub(x, wide(mean)), wide(scale)), wide(b)), "y")


def merged_statistics(p):
    """The variance of all rows from the ranks' means and variances (Welford, Chan), which are gathered."""
    n = 6 // p.ranks
    x = p.input("x", n, 3)
    if p.sequential:
        return p.output(p.op("aten.var.correction", x, [0], shape=(3,), correction=0), "y")
    mean = p.mean(x, [0])
    own = p.op("aten.var.correction", x, [0], shape=(3,), correction=0)
    gather = lambda one: p.all_gather(p.unsqueeze(one, 0), 0)
    means, variances = gather(mean), gather(own)
    distance = p.sub(means, p.mean(means, [0]))
    if not p.broken("means left out"):
        variances = p.add(variances, p.mul(distance, 2.0) if p.broken("not squared") else p.power(distance, 2))
    return p.output(p.mean(variances, [0]), "y")


def group_statistics(p):
    """Group norm over an image whose rows are cut: two sums for each group, and a second pass for the variance or none."""
    rows = 6 // p.ranks
    x, g, b = p.input("x", 2, 4, rows, 3), p.input("g", 4), p.input("b", 4)
    if p.sequential:
        y, _, _ = p.several("aten.native_group_norm.default", x, g, b, 2, 4, rows * 3, 2, 1e-5, shapes=[x.shape, (2, 2), (2, 2)])
        return p.output(y, "y")
    z = p.view(x, 2, 2, 2 * rows * 3)
    mean = p.div(p.all_reduce(p.sum(z, [-1], True)), 36)
    if p.second_pass:
        squares = p.sum(p.power(p.sub(z, p.mean(z, [-1], True) if p.broken("from the rank's own mean") else mean), 2), [-1], True)
    else:
        squares = p.sum(p.power(z, 2), [-1], True)
    variance = p.div(squares if p.broken("the rank's own sum") else p.all_reduce(squares), 36)
    if not p.second_pass and not p.broken("from the rank's own mean"):
        variance = p.sub(variance, p.power(mean, 2))
    y = p.view(p.mul(p.sub(z, mean), p.unary("rsqrt", p.add(variance, 1e-5))), 2, 4, rows, 3)
    return p.output(p.add(p.mul(y, p.view(g, 1, 4, 1, 1)), p.view(b, 1, 4, 1, 1)), "y")


def with_second_pass(p):
    p.second_pass = True
    return group_statistics(p)


def without_second_pass(p):
    p.second_pass = False
    return group_statistics(p)


def algebra_cases():
    heads = {name: "Shard(1)" for name in "qkv"}
    yield Case("repeated keys at once", shared_keys_at_once, heads, {"y": "Shard(1)"}, {"heads in turn": "expand", "keys for values": "expand"})
    yield Case("one head of keys at once", one_head_at_once, {"q": "Shard(1)", "k": "Replicate", "v": "Replicate"}, {"y": "Shard(1)"},
               {"over all heads' rows": "_softmax"})
    yield Case("adapters merged in the sequential program", merged_adapters,
               {"x": "Replicate", "w1": "Shard(0)", "a1": "Replicate", "b1": "Shard(0)", "w2": "Shard(1)", "a2": "Shard(1)", "b2": "Replicate"},
               {"y": "Replicate"}, {"merged twice": "relu", "another factor": "mm", "no sum": "y"})
    yield Case("adapters merged on the ranks", applied_adapters, {"x": "Replicate", "w": "Shard(0)", "a": "Replicate", "b": "Shard(0)"}, {"y": "Shard(1)"},
               {"no factor": "mm"}, ranks=3)
    yield Case("weights before the product", early_weights, {"x": "Shard(1)", "g": "Replicate", "w": "Shard(1)"}, {"y": "Replicate"}, {"weighted twice": "y"})
    yield Case("batch norm by sums of squares", batch_statistics, {"x": "Shard(0)", "g": "Replicate", "b": "Replicate"}, {"y": "Shard(0)"},
               {"less the mean": "native_batch_norm.0", "as of a sample": "native_batch_norm.0"})
    for ranks in (2, 3):
        yield Case(f"variances merged, {ranks} ranks", merged_statistics, {"x": "Shard(0)"}, {"y": "Replicate"},
                   {"means left out": "var", "not squared": "var"}, ranks=ranks)
    for name, build in (("two passes", with_second_pass), ("one pass", without_second_pass)):
        yield Case(f"group norm of cut rows in {name}", build, {"x": "Shard(2)", "g": "Replicate", "b": "Replicate"}, {"y": "Shard(2)"},
                   {"from the rank's own mean": "native_group_norm.0", "the rank's own sum": "native_group_norm.0"})
