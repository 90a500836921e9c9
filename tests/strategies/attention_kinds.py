"""Attention shared out over heads or over the sequence."""
from verdicts import Case

BATCH, SEQ, HEADS, WIDTH = 2, 6, 4, 3


def heads_of(p, x, n):
    """[batch, sequence, n * width] -> [batch, n, sequence, width]"""
    return p.transpose(p.view(x, x.shape[0], x.shape[1], n, x.shape[2] // n), 1, 2)


def attend(p, q, k, v, mask=None):
    """[batch, heads, sequence, width]; softmax written out."""
    b, n, s, d = q.shape
    flat = lambda x: p.view(p.clone(x), b * n, x.shape[2], d)
    scores = p.mul(p.bmm(flat(q), p.transpose(flat(k), 1, 2)), d ** -0.5)
    if mask is not None:
        scores = p.masked_fill(p.view(scores, b, n, s, k.shape[2]), mask, -1e9)
        scores = p.view(scores, b * n, s, k.shape[2])
    return p.view(p.bmm(p.softmax(scores), flat(v)), b, n, s, d)


def merged(p, a):
    b, n, s, d = a.shape
    return p.view(p.clone(p.transpose(a, 1, 2)), b, s, n * d)


def ulysses(p):
    """Sequences are cut; for attention, heads are cut instead (DeepSpeed-Ulysses)."""
    s, hidden = SEQ // p.ranks, HEADS * WIDTH
    x = p.input("x", BATCH, s, hidden)
    w = [p.input(name, hidden, hidden) for name in ("wq", "wk", "wv", "wo")]
    q, k, v = (heads_of(p, p.linear(x, one), HEADS) for one in w[:3])
    if not p.sequential:
        q, k, v = (p.exchange(one, 1, 2) for one in (q, k, v))
    if p.broken("keys in another order"):
        k = p.cat([p.part(k, 2, 1, 2), p.part(k, 2, 0, 2)], 2)
    a = attend(p, q, k, v)
    if not p.sequential:
        # The way back cuts the sequence and joins the heads.
        a = p.exchange(a, 1, 2) if p.broken("way back along the wrong axis") else p.exchange(a, 2, 1)
    if p.broken("way back along the wrong axis"):
        a = p.view(a, BATCH, HEADS, s, WIDTH)
    p.output(p.linear(merged(p, a), w[3]), "y")


def ring(p):
    """Keys and values travel around a ring; partial results are merged by the maxima and sums of their exponentials."""
    n, s = p.ranks, SEQ // p.ranks
    q, k, v = (p.input(name, BATCH, s, WIDTH) for name in "qkv")
    if p.sequential:
        scores = p.mul(p.bmm(q, p.transpose(k, 1, 2)), WIDTH ** -0.5)
        return p.output(p.bmm(p.softmax(scores), v), "y")
    out = total = top = None
    for step in range(n):
        scores = p.mul(p.bmm(q, p.transpose(k, 1, 2)), WIDTH ** -0.5)
        high = p.amax(scores, [-1], True)
        weights = p.unary("exp", p.sub(scores, high))
        part, mass = p.bmm(weights, v), p.sum(weights, [-1], True)
        if top is None:
            out, total, top = part, mass, high
        else:
            new = p.maximum(top, high)
            old, fresh = p.unary("exp", p.sub(top, new)), p.unary("exp", p.sub(high, new))
            out = p.add(out if p.broken("what was summed is not scaled") else p.mul(out, old), p.mul(part, fresh))
            total = p.add(p.mul(total, old), mass if p.broken("sums of another scale") else p.mul(mass, fresh))
            top = new
        if step + 1 < n:
            for tag, x in enumerate((k, v)):
                p.send(x, (p.rank + 1) % n, 2 * step + tag)
            k, v = (p.receive(x.shape, (p.rank - 1) % n, 2 * step + tag) for tag, x in enumerate((k, v)))
    p.output(p.div(out, total), "y")


def causal_ring(p):
    """The same for words that see what is before them only: blocks of later ranks are left out, only the rank's own has a mask."""
    n, s = p.ranks, SEQ // p.ranks
    q, k, v = (p.input(name, BATCH, s, WIDTH) for name in "qkv")

    def masked(scores):
        rows, columns = p.unsqueeze(p.arange(0, s), 1), p.unsqueeze(p.arange(0, scores.shape[2]), 0)
        return p.masked_fill(scores, p.compare("lt", rows, columns), float("-inf"))
    if p.sequential:
        return p.output(p.bmm(p.softmax(masked(p.bmm(q, p.transpose(k, 1, 2)))), v), "y")
    keys, values = p.all_gather(k, 1), p.all_gather(v, 1)
    out = total = top = None
    for block in range(p.rank, 0 if p.broken("first block left out") and p.rank + 1 == n else -1, -1):
        scores = p.bmm(q, p.transpose(p.part(keys, 1, block, n), 1, 2))
        if block == p.rank or p.broken("every block masked"):
            scores = masked(scores)
        high = p.amax(scores, [-1], True)
        weights = p.unary("exp", p.sub(scores, high))
        part, mass = p.bmm(weights, p.part(values, 1, block, n)), p.sum(weights, [-1], True)
        if top is None:
            out, total, top = part, mass, high
        else:
            new = p.maximum(top, high)
            old, fresh = p.unary("exp", p.sub(top, new)), p.unary("exp", p.sub(high, new))
            out, total, top = p.add(p.mul(out, old), p.mul(part, fresh)), p.add(p.mul(total, old), p.mul(mass, fresh)), new
    p.output(p.div(out, total), "y")


def ring_by_logarithm(p):
    """The same with every block's own softmax, merged by the logarithms of the sums."""
    n, s = p.ranks, SEQ // p.ranks
    q, k, v = (p.input(name, BATCH, s, WIDTH) for name in "qkv")
    if p.sequential:
        return p.output(p.bmm(p.softmax(p.bmm(q, p.transpose(k, 1, 2))), v), "y")
    keys, values = p.all_gather(k, 1), p.all_gather(v, 1)
    parts, logs = [], []
    for m in range(n):
        scores = p.bmm(q, p.transpose(p.part(keys, 1, m, n), 1, 2))
        parts.append(p.bmm(p.softmax(scores), p.part(values, 1, m, n)))
        logs.append(p.op("aten.logsumexp.default", scores, [-1], True, shape=(BATCH, s, 1)))
    top = logs[0]
    for log in logs[1:]:
        top = p.maximum(top, log)
    scales = [p.unary("exp", p.sub(log, top)) for log in logs]
    total, out = scales[0], p.mul(parts[0], scales[0])
    for part, scale in zip(parts[1:], scales[1:]):
        total, out = p.add(total, scale), p.add(out, part if p.broken("a part is not weighted") else p.mul(part, scale))
    p.output(p.div(out, p.mul(total, 2.0) if p.broken("doubled sum") else total), "y")


def grouped(p):
    """Megatron's fused projection: the rows of a group's queries, then of its key and value; groups are cut."""
    groups, each = 4 // p.ranks, 2
    x = p.input("x", BATCH, SEQ, 5)
    w = p.input("wqkv", groups * (each + 2) * WIDTH, 5)
    wo = p.input("wo", 5, groups * each * WIDTH)
    y = p.linear(x, w)
    if p.broken("queries first"):
        y = p.view(y, BATCH, SEQ, (each + 2) * groups, WIDTH)
        q = p.view(p.slice(y, 2, 0, each * groups), BATCH, SEQ, groups, each, WIDTH)
        k, v = (p.view(p.slice(y, 2, (each + i) * groups, (each + i + 1) * groups), BATCH, SEQ, groups, 1, WIDTH) for i in (0, 1))
    else:
        y = p.view(y, BATCH, SEQ, groups, each + 2, WIDTH)
        q, k, v = p.slice(y, 3, 0, each), p.slice(y, 3, each, each + 1), p.slice(y, 3, each + 1, each + 2)
    wide = lambda one: p.view(p.clone(p.expand(one, BATCH, SEQ, groups, each, WIDTH)), BATCH, SEQ, groups * each, WIDTH)
    q = p.view(p.clone(q), BATCH, SEQ, groups * each, WIDTH)
    a = attend(p, *(p.transpose(one, 1, 2) for one in (q, wide(k), wide(v))))
    y = p.linear(merged(p, a), wo)
    p.output(y if p.sequential or p.broken("no sum") else p.all_reduce(y), "y")


def rotated_by_position(p):
    """Rotary embedding computed from positions, the sequence cut: every rank's positions begin where its part begins."""
    s, half = SEQ // p.ranks, WIDTH
    x = p.input("x", BATCH, s, 2 * half)
    frequencies = p.input("frequencies", half)
    begin = 0 if p.broken("positions from 0") else p.rank * s
    positions = p.cast(p.arange(begin, begin + s), "f32")
    angles = p.mul(p.unsqueeze(positions, 1), p.unsqueeze(frequencies, 0))
    angles = p.cat([angles, angles], 1)
    turned = p.cat([p.unary("neg", p.slice(x, 2, half, 2 * half)), p.slice(x, 2, 0, half)], 2)
    if p.broken("halves not exchanged"):
        turned = p.cat([p.unary("neg", p.slice(x, 2, 0, half)), p.slice(x, 2, half, 2 * half)], 2)
    p.output(p.add(p.mul(x, p.unary("cos", angles)), p.mul(turned, p.unary("sin", angles))), "y")


def normed_heads(p):
    """A norm over all heads of the queries, which are cut: the mean of squares is one of all ranks."""
    n = HEADS // p.ranks * WIDTH
    x = p.input("x", BATCH, SEQ, 5)
    w, g = p.input("wq", n, 5), p.input("norm", n)
    y = p.linear(x, w)
    squares = p.sum(p.power(y, 2), [-1], True)
    if not p.sequential and not p.broken("mean of the rank's own heads"):
        squares = p.all_reduce(squares)
    width = n if p.broken("mean of the rank's own heads") or p.broken("wrong width") else HEADS * WIDTH
    scale = p.unary("rsqrt", p.add(p.div(squares, width), 1e-6))
    p.output(p.mul(p.mul(y, scale), g), "y")


def shared_keys(p):
    """One key and value head, which every rank computes; queries are cut."""
    n = HEADS // p.ranks
    x = p.input("x", BATCH, SEQ, 5)
    wq, wk, wv, wo = p.input("wq", n * WIDTH, 5), p.input("wk", WIDTH, 5), p.input("wv", WIDTH, 5), p.input("wo", 5, n * WIDTH)
    q = heads_of(p, p.linear(x, wq), n)
    wide = lambda w: p.expand(heads_of(p, p.linear(x, w), 1), BATCH, n, SEQ, WIDTH)
    a = attend(p, q, wide(wk), wide(wk if p.broken("keys for values") else wv))
    y = p.linear(merged(p, a), wo)
    p.output(y if p.sequential else p.all_reduce(y, "avg" if p.broken("average for sum") else "sum"), "y")


def attention_cases():
    whole = {name: "Replicate" for name in ("wq", "wk", "wv", "wo")}
    yield Case("ulysses", ulysses, {"x": "Shard(1)", **whole}, {"y": "Shard(1)"},
               {"keys in another order": "bmm_1", "way back along the wrong axis": "mm_3"})
    parts = {name: "Shard(1)" for name in "qkv"}
    for ranks in (2, 3):
        yield Case(f"ring attention, {ranks} ranks", ring, parts, {"y": "Shard(1)"},
                   {"what was summed is not scaled": "_softmax", "sums of another scale": "_softmax"}, ranks=ranks)
    for ranks in (2, 3):
        yield Case(f"causal ring attention, {ranks} ranks", causal_ring, parts, {"y": "Shard(1)"},
                   {"first block left out": "bmm", "every block masked": "_softmax"}, ranks=ranks)
    for ranks in (2, 3):
        yield Case(f"attention merged by logarithms, {ranks} ranks", ring_by_logarithm, parts, {"y": "Shard(1)"},
                   {"a part is not weighted": "_softmax", "doubled sum": "_softmax"}, ranks=ranks)
    yield Case("fused projection of groups", grouped, {"x": "Replicate", "wqkv": "Shard(0)", "wo": "Shard(1)"}, {"y": "Replicate"},
               {"queries first": "expand", "no sum": "y"})
    yield Case("rotary embedding by position", rotated_by_position, {"x": "Shard(1)", "frequencies": "Replicate"}, {"y": "Shard(1)"},
               {"positions from 0": "_to_copy", "halves not exchanged": "mul_2"}, ranks=3)
    yield Case("norm over all heads", normed_heads, {"x": "Replicate", "wq": "Shard(0)", "norm": "Shard(0)"}, {"y": "Shard(2)"},
               {"mean of the rank's own heads": "div", "wrong width": "div"})
    yield Case("one head of keys", shared_keys, {"x": "Replicate", "wq": "Shard(0)", "wk": "Replicate", "wv": "Replicate", "wo": "Shard(1)"},
               {"y": "Replicate"}, {"keys for values": "mm_2", "average for sum": "y"})
