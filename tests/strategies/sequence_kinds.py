"""Models of sequences and images other than by attention over all of them: states, windows, decays."""
from verdicts import Case

BATCH, SEQ, HEADS, WIDTH = 2, 6, 4, 3


def edge_of_left(p, x, dim, n, value=0.0):
    """The last n of the left neighbour along an axis that is cut; for the first rank, `value`."""
    shape = x.shape[:dim] + (n,) + x.shape[dim + 1:]
    last = p.slice(x, dim, x.shape[dim] - n, x.shape[dim])
    whole = p.all_gather(p.unsqueeze(last, 0), 0)
    if p.rank == 0:
        return p.op("aten.full.default", list(shape), value, shape=shape, dtype=x.dtype)
    source = p.rank if p.broken("the rank's own edge") else p.rank - 1
    return p.squeeze(p.slice(whole, 0, source, source + 1), 0)


def convolution(p, x, w, padding, stride=1, groups=1):
    m = len(x.shape) - 2
    one = lambda v: [v] * m if isinstance(v, int) else list(v)
    sizes = [(n + 2 * q - k) // s + 1 for n, q, k, s in zip(x.shape[2:], one(padding), w.shape[2:], one(stride))]
    return p.op("aten.convolution.default", x, w, None, one(stride), one(padding), [1] * m, False, [0] * m, groups,
                shape=(x.shape[0], w.shape[0], *sizes))


def looking_back(p):
    """A depthwise convolution that looks back (Mamba), the sequence cut: each rank begins with the end of the one before."""
    s, channels, size = SEQ // p.ranks, 4, 3
    x, w = p.input("x", BATCH, s, channels), p.input("w", channels, 1, size)
    h = p.transpose(x, 1, 2)
    if p.sequential:
        y = p.slice(convolution(p, h, w, size - 1, groups=channels), 2, 0, s)
    else:
        before = edge_of_left(p, h, 2, size - 1)
        y = convolution(p, p.cat([h, before] if p.broken("behind") else [before, h], 2), w, 0, groups=channels)
    p.output(p.unary("silu", p.transpose(y, 1, 2)), "y")


def every_second(p):
    """The first layer of a ResNet: a convolution with stride, the rows of the image cut."""
    rows, size, step = 12 // p.ranks, 5, 2
    x, w = p.input("x", 1, 2, rows, 6), p.input("w", 3, 2, size, size)
    if p.sequential:
        return p.output(convolution(p, x, w, 2, step), "y")
    # Two rows of the rank before, and one of the rank behind.
    above = edge_of_left(p, x, 2, 2)
    first = p.all_gather(p.unsqueeze(p.slice(x, 2, 0, 1), 0), 0)
    if p.rank + 1 < p.ranks:
        below = p.squeeze(p.slice(first, 0, p.rank + 1, p.rank + 2), 0)
    else:
        below = p.op("aten.full.default", [1, 2, 1, 6], 0.0, shape=(1, 2, 1, 6), dtype="f32")
    whole = p.cat([above, x, p.cat([below, below], 2)] if p.broken("begins one later") else [above, x, below], 2)
    if p.broken("begins one later"):
        whole = p.slice(whole, 2, 1, rows + 4)
    p.output(convolution(p, whole, w, (0, 2), step), "y")


def strongest_neighbours(p):
    """Pooling with overlapping windows, the rows cut: padding is below everything."""
    rows = 8 // p.ranks
    x = p.input("x", 1, 2, rows, 6)
    pool = lambda x, padding, n: p.op("aten.max_pool2d.default", x, [3, 3], [2, 2], padding, shape=(1, 2, n, 3))
    if p.sequential:
        return p.output(pool(x, [1, 1], 4), "y")
    above = edge_of_left(p, x, 2, 1, 9.0 if p.broken("padding above everything") else float("-inf"))
    p.output(pool(p.cat([above, x], 2), [0, 1], rows // 2), "y")


def merged_patches(p):
    """The four neighbours of a patch become its channels (Swin), the rows of patches cut."""
    rows = 8 // p.ranks
    x, w = p.input("x", 1, rows, 4, 3), p.input("w", 6, 12)
    part = lambda i, j: p.op("aten.slice.Tensor", p.op("aten.slice.Tensor", x, 1, i, 9223372036854775807, 2, shape=(1, rows // 2, 4, 3)), 2, j,
                             9223372036854775807, 2, shape=(1, rows // 2, 2, 3))
    order = [(0, 0), (0, 1), (1, 0), (1, 1)] if p.broken("columns first") else [(0, 0), (1, 0), (0, 1), (1, 1)]
    p.output(p.linear(p.cat([part(i, j) for i, j in order], 3), w), "y")


def numbers(p, begin, end):
    """Consecutive numbers as torch.arange(begin, end) gives them for floats."""
    return p.op("aten.arange.start", float(begin), float(end), shape=[end - begin], dtype="f32")


def slopes(p):
    """Attention with a bias by distance (ALiBi): the slopes of a rank's heads follow from where they begin."""
    n = HEADS // p.ranks
    q, k, v = (p.input(name, BATCH, n, SEQ, WIDTH) for name in "qkv")
    begin = 0 if p.broken("slopes from the first head") else p.rank * n
    exponents = p.mul(numbers(p, begin + 1, begin + n + 1), -8.0 / HEADS)
    slope = p.op("aten.pow.Scalar", 2.0, exponents, shape=exponents.shape, dtype="f32")
    bias = p.mul(p.view(slope, n, 1, 1), p.view(numbers(p, 0, SEQ), 1, 1, SEQ))
    flat = lambda x: p.view(x, BATCH * n, SEQ, WIDTH)
    scores = p.view(p.bmm(flat(q), p.transpose(flat(k), 1, 2)), BATCH, n, SEQ, SEQ)
    a = p.softmax(p.add(scores, bias))
    p.output(p.view(p.bmm(p.view(a, BATCH * n, SEQ, SEQ), flat(v)), BATCH, n, SEQ, WIDTH), "y")


def handed_on_state(p):
    """Linear attention: what earlier ranks' keys and values come to is one small matrix for each of them."""
    s = SEQ // p.ranks
    q, k, v = (p.input(name, BATCH, s, WIDTH) for name in "qkv")
    weights = p.bmm(q, p.transpose(k, 1, 2))
    if not p.broken("own words unmasked"):
        weights = p.same("tril.default", weights)
    y = p.bmm(weights, v)
    if not p.sequential:
        states = p.all_gather(p.unsqueeze(p.bmm(p.transpose(k, 1, 2), v), 0), 0)
        for rank in range(p.rank + (1 if p.broken("own state as well") else 0)):
            y = p.add(y, p.bmm(q, p.squeeze(p.slice(states, 0, rank, rank + 1), 0)))
    p.output(y, "y")


def sequence_cases():
    for ranks in (2, 3):
        yield Case(f"convolution that looks back, {ranks} ranks", looking_back, {"x": "Shard(1)", "w": "Replicate"}, {"y": "Shard(1)"},
                   {"the rank's own edge": "convolution", "behind": "convolution"}, ranks=ranks)
        yield Case(f"convolution with stride, {ranks} ranks", every_second, {"x": "Shard(2)", "w": "Replicate"}, {"y": "Shard(2)"},
                   {"the rank's own edge": "convolution", "begins one later": "convolution"}, ranks=ranks)
    yield Case("pooling with overlapping windows", strongest_neighbours, {"x": "Shard(2)"}, {"y": "Shard(2)"},
               {"the rank's own edge": "max_pool2d", "padding above everything": "max_pool2d"})
    yield Case("merged patches", merged_patches, {"x": "Shard(1)", "w": "Replicate"}, {"y": "Shard(1)"}, {"columns first": "mm"})
    heads = {name: "Shard(1)" for name in "qkv"}
    yield Case("slopes of heads", slopes, heads, {"y": "Shard(1)"}, {"slopes from the first head": "mul"})
    for ranks in (2, 3):
        yield Case(f"linear attention with states, {ranks} ranks", handed_on_state, {name: "Shard(1)" for name in "qkv"}, {"y": "Shard(1)"},
                   {"own words unmasked": "bmm", "own state as well": "y"}, ranks=ranks)
