"""Layers shared out: products over two axes, convolutions, embeddings, adapters, experts."""
from verdicts import Case


def grid(rank):
    """Ranks in two rows and two columns."""
    row, column = divmod(rank, 2)
    return {"row": [2 * row, 2 * row + 1], "column": [column, column + 2]}


def blocks(p):
    """Both factors are cut both ways; rows and columns of blocks are gathered, the result stays cut both ways."""
    n = 1 if p.sequential else 2
    x, w = p.input("x", 4 // n, 6 // n), p.input("w", 6 // n, 8 // n)
    if not p.sequential:
        x = p.all_gather(x, 1, "column" if p.broken("gathered from the wrong ranks") else "row")
        w = p.all_gather(w, 0, "column")
        if p.broken("blocks in another order"):
            w = p.cat([p.part(w, 0, 1, 2), p.part(w, 0, 0, 2)], 0)
    p.output(p.mm(x, w), "y")


def summed_blocks(p):
    """The inner axis is cut along columns; partial products are scattered along the row."""
    n = 1 if p.sequential else 2
    x, w = p.input("x", 4 // n, 6 // n), p.input("w", 6 // n, 8)
    y = p.mm(x, w)
    if not p.sequential:
        y = p.reduce_scatter(y, 1, "column" if p.broken("summed over the wrong ranks") else "row")
    p.output(y, "y")


def gathered_output(p):
    """Columns are cut, and gathered after the activation."""
    x, w = p.input("x", 3, 5), p.input("w", 8 // p.ranks, 5)
    y = p.unary("silu", p.linear(x, w))
    if not p.sequential:
        y = p.view(p.all_gather(y, 0), 3, 8) if p.broken("gathered along the rows") else p.all_gather(y, 1)
    p.output(y, "y")


def gathered_by_chunks(p):
    """The rows of x are gathered piece by piece, each piece multiplied as it comes (overlap of gathering and product)."""
    x, w = p.input("x", 6 // p.ranks, 5), p.input("w", 8 // p.ranks, 5)
    if p.sequential:
        return p.output(p.linear(x, w), "y")
    whole, order = p.all_gather(x, 0), list(range(p.ranks))
    if p.broken("own piece first"):
        order = [(p.rank + k) % p.ranks for k in order]
    p.output(p.cat([p.linear(p.part(whole, 0, k, p.ranks), w) for k in order], 0), "y")


def fused_gate(p):
    """Gate and up projection in one weight, of which a rank has a part of each."""
    n = 8 // p.ranks
    x, w, down = p.input("x", 3, 5), p.input("w13", 2 * n, 5), p.input("w2", 5, n)
    y = p.linear(x, w)
    gate, up = p.slice(y, 1, 0, n), p.slice(y, 1, n, 2 * n)
    if p.broken("gate and up exchanged"):
        gate, up = up, gate
    y = p.linear(p.mul(p.unary("silu", gate), up), down)
    p.output(y if p.sequential or p.broken("no sum") else p.all_reduce(y), "y")


def adapters(p):
    """A column-parallel and a row-parallel layer with low-rank adapters: of the first B is cut, of the second A."""
    n = 6 // p.ranks
    x = p.input("x", 3, 5)
    w1, a1, b1 = p.input("w1", n, 5), p.input("a1", 2, 5), p.input("b1", n, 2)
    w2, a2, b2 = p.input("w2", 5, n), p.input("a2", 2, n), p.input("b2", 5, 2)
    h = p.unary("relu", p.add(p.linear(x, w1), p.mul(p.linear(p.linear(x, a1), b1), 0.5)))
    inner = p.linear(h, a2)
    if not p.sequential and p.broken("adapter summed twice"):
        inner = p.all_reduce(inner)
    y = p.add(p.linear(h, w2), p.mul(p.linear(inner, b2), 0.5))
    p.output(y if p.sequential or p.broken("no sum") else p.all_reduce(y), "y")


def scaled_weights(p):
    """Eight-bit weights with a scale for each row or for each block of columns; rows of the first are cut, columns of the second."""
    n = 8 // p.ranks
    x = p.input("x", 3, 5)
    w1, s1 = p.input("w1", n, 5, dtype="f8"), p.input("s1", n, 1)
    w2, s2 = p.input("w2", 5, n, dtype="f8"), p.input("s2", 5, n // 2)
    wide = lambda w: p.cast(w, "f32")
    h = p.unary("gelu", p.linear(x, p.mul(wide(w1), s1)))
    if p.broken("scales in another order"):
        s2 = p.cat([p.part(s2, 1, 1, 2), p.part(s2, 1, 0, 2)], 1)
    blocks_of = p.mul(p.view(wide(w2), 5, n // 2, 2), p.unsqueeze(s2, -1))
    y = p.linear(h, p.view(blocks_of, 5, n))
    p.output(y if p.sequential or p.broken("no sum") else p.all_reduce(y), "y")


def padded_vocabulary(p):
    """Seven words on two ranks that have room for four each: the last row of the last rank is padding. Logits of padding are cut off."""
    words = 7 if p.sequential else 4
    ids, w = p.input("ids", 2, 3, dtype="i64"), p.input("w", words, 5)
    x = p.input("x", 2, 3, 5)
    if p.sequential:
        p.output(p.embedding(w, ids), "h")
        return p.output(p.softmax(p.linear(x, w)), "y")
    begin = p.rank * words
    foreign = p.op("aten.logical_or.default", p.compare("lt", ids, begin), p.compare("ge", ids, begin + words), shape=ids.shape, dtype="b8")
    places = p.masked_fill(p.sub(ids, begin), foreign, 0)
    h = p.embedding(w, places)
    if not p.broken("foreign words not masked"):
        h = p.masked_fill(h, p.unsqueeze(foreign, -1), 0.0)
    p.output(p.all_reduce(h), "h")
    logits = p.all_gather(p.linear(x, w), 2)
    logits = p.slice(logits, 2, 0 if not p.broken("padding in front") else 1, 7 if not p.broken("padding in front") else 8)
    return p.output(p.softmax(logits), "y")


def balanced_experts(p):
    """The loss that balances a router: the share of tokens of each expert times the mean of its probability, over all ranks' tokens."""
    tokens, experts = 8 // p.ranks, 3
    x, w = p.input("x", tokens, 5), p.input("router", experts, 5)
    gates = p.softmax(p.linear(x, w))
    best = p.op("aten.argmax.default", gates, -1, shape=[tokens], dtype="i64")
    chosen = p.op("aten.one_hot.default", best, experts, shape=[tokens, experts], dtype="i64")
    share = p.mean(p.cast(chosen, "f32"), [0])
    probability = p.mean(gates, [0])
    if not p.sequential and not p.broken("mean of the ranks' losses"):
        share = p.all_reduce(share, "avg")
        probability = p.all_reduce(probability, "sum" if p.broken("sum for mean") else "avg")
    loss = p.mul(p.total(p.mul(share, probability)), float(experts))
    p.output(p.all_reduce(loss, "avg") if p.broken("mean of the ranks' losses") else loss, "loss")


def halo(p):
    """A convolution over an image whose rows are cut: each rank gets one row of its neighbours."""
    rows, settings = 6 // p.ranks, ([1, 1], [0, 1], [1, 1], False, [0, 0], 1)
    x, w = p.input("x", 1, 2, rows, 5), p.input("w", 3, 2, 3, 3)
    if p.sequential:
        return p.output(p.op("aten.convolution.default", x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, shape=(1, 3, rows, 5)), "y")
    edge = lambda: p.op("aten.full.default", [1, 2, 1, 5], 0.0, shape=[1, 2, 1, 5], dtype="f32")
    first, last = p.rank == 0, p.rank == p.ranks - 1
    if not first:
        p.send(p.slice(x, 2, 0, 1), p.rank - 1, 0)
    if not last:
        p.send(p.slice(x, 2, rows - 1, rows), p.rank + 1, 1)
    above = edge() if first else p.receive((1, 2, 1, 5), p.rank - 1, 1)
    below = edge() if last else p.receive((1, 2, 1, 5), p.rank + 1, 0)
    if p.broken("no rows of the neighbours"):
        above, below = edge(), edge()
    if p.broken("neighbours exchanged"):
        above, below = below, above
    y = p.cat([above, x, below], 2)
    p.output(p.op("aten.convolution.default", y, w, None, *settings, shape=(1, 3, rows, 5)), "y")


def synchronised_norm(p):
    """Batch norm whose statistics are those of all ranks."""
    n = 6 // p.ranks
    x, g, b = p.input("x", n, 3, 4), p.input("g", 3), p.input("b", 3)
    total, squares = p.sum(x, [0, 2]), p.sum(p.power(x, 2), [0, 2])
    if not p.sequential and not p.broken("each rank's own statistics"):
        total = p.all_reduce(total)
        squares = squares if p.broken("squares of the rank's own") else p.all_reduce(squares)
    count = n * 4 if p.broken("each rank's own statistics") or p.broken("wrong count") else 24
    mean = p.div(total, count)
    variance = p.sub(p.div(squares, count), p.power(mean, 2))
    scale = p.mul(g, p.unary("rsqrt", p.add(variance, 1e-5)))
    wide = lambda one: p.view(one, 1, 3, 1)
    p.output(p.add(p.mul(p.sub(x, wide(mean)), wide(scale)), wide(b)), "y")


def pipeline_of_grids(p):
    """Two stages of two ranks each: tensor parallel inside, messages between."""
    if p.sequential:
        x = p.input("x", 3, 4)
        for i in (0, 1):
            x = p.add(x, p.linear(p.unary("relu", p.linear(x, p.input(f"up{i}", 6, 4))), p.input(f"down{i}", 4, 6)))
        return p.output(x, "y")
    stage, place = divmod(p.rank, 2)
    up, down = p.input(f"up{stage}", 3, 4), p.input(f"down{stage}", 4, 3)
    x = p.input("x", 3, 4) if stage == 0 else p.receive((3, 4), place)
    y = p.linear(p.unary("relu", p.linear(x, up)), down)
    y = y if p.broken("no sum in the second stage") and stage == 1 else p.all_reduce(y)
    y = p.add(x, y)
    if stage == 1:
        return p.output(y, "y")
    return p.send(x if p.broken("sent before the layer") else y, p.rank + 2)


def pairs(rank):
    return {"tp": [rank // 2 * 2, rank // 2 * 2 + 1]}


def layer_cases():
    block = lambda name: f"concat(concat(r0.{name}, r1.{name}; 1), concat(r2.{name}, r3.{name}; 1); 0)"
    cut_blocks = lambda values, rank: {name: values[name].chunk(2, 0)[rank // 2].chunk(2, 1)[rank % 2] for name in "xw"}
    join_blocks = lambda outs: {"y": joined_blocks([o["y"] for o in outs])}
    yield Case("blocks of both factors", blocks, {"x": block("x"), "w": block("w")}, {"y": block("y")},
               {"gathered from the wrong ranks": "mm", "blocks in another order": "mm"}, ranks=4, groups=grid, cut=cut_blocks, joined=join_blocks)
    yield Case("inner axis and rows", summed_blocks, {"x": "{d: Shard(0), t: Shard(1)}", "w": "{d: Replicate, t: Shard(0)}"},
               {"y": "{d: Shard(0), t: Shard(1)}"}, {"summed over the wrong ranks": "y"}, ranks=4, groups=grid, more="mesh: {d: 2, t: 2}",
               cut=lambda values, rank: {"x": values["x"].chunk(2, 0)[rank // 2].chunk(2, 1)[rank % 2], "w": values["w"].chunk(2, 0)[rank % 2]},
               joined=join_blocks)
    yield Case("output gathered", gathered_output, {"x": "Replicate", "w": "Shard(0)"}, {"y": "Replicate"}, {"gathered along the rows": "y"}, ranks=4)
    yield Case("gathered by chunks", gathered_by_chunks, {"x": "Shard(0)", "w": "Shard(0)"}, {"y": "Shard(1)"}, {"own piece first": "y"})
    part = lambda values, rank, name, n: values[name].view(2, n, *values[name].shape[1:]).chunk(2, 1)[rank].reshape(n, *values[name].shape[1:])
    yield Case("fused gate", fused_gate,
               {"x": "Replicate", "w13": "concat(slice(r0.w13; 0, 0, 4), slice(r1.w13; 0, 0, 4), slice(r0.w13; 0, 4, 8), slice(r1.w13; 0, 4, 8); 0)",
                "w2": "Shard(1)"}, {"y": "Replicate"}, {"gate and up exchanged": "silu", "no sum": "y"},
               cut=lambda values, rank: {"w13": part(values, rank, "w13", 8)})
    yield Case("adapters", adapters, {"x": "Replicate", "w1": "Shard(0)", "a1": "Replicate", "b1": "Shard(0)", "w2": "Shard(1)", "a2": "Shard(1)",
                                      "b2": "Replicate"}, {"y": "Replicate"}, {"adapter summed twice": "add_1", "no sum": "add_1"})
    yield Case("scaled weights", scaled_weights, {"x": "Replicate", "w1": "Shard(0)", "s1": "Shard(0)", "w2": "Shard(1)", "s2": "Shard(1)"},
               {"y": "Replicate"}, {"scales in another order": "mul_1", "no sum": "y"})
    yield Case("padded vocabulary", padded_vocabulary, {"ids": "Replicate", "x": "Replicate", "w": "concat(r0.w, slice(r1.w; 0, 0, 3); 0)"},
               {"h": "Replicate", "y": "Replicate"}, {"foreign words not masked": "embedding", "padding in front": "_softmax"}, ranges={"ids": 7},
               cut=lambda values, rank: {"w": padded(values["w"]).chunk(2, 0)[rank]})
    yield Case("balanced experts", balanced_experts, {"x": "Shard(0)", "router": "Replicate"}, {"loss": "Replicate"},
               {"mean of the ranks' losses": "mean", "sum for mean": "mean_1"})
    for ranks in (2, 3):
        yield Case(f"convolution with rows of the neighbours, {ranks} ranks", halo, {"x": "Shard(2)", "w": "Replicate"}, {"y": "Shard(2)"},
                   {"no rows of the neighbours": "convolution", "neighbours exchanged": "convolution"}, ranks=ranks)
    yield Case("batch norm of all ranks", synchronised_norm, {"x": "Shard(0)", "g": "Replicate", "b": "Replicate"}, {"y": "Shard(0)"},
               {"each rank's own statistics": "div", "squares of the rank's own": "sub", "wrong count": "div"})
    stages = {f"{name}{i}": f"concat(r{2 * i}.{name}{i}, r{2 * i + 1}.{name}{i}; {dim})" for i in (0, 1) for name, dim in (("up", 0), ("down", 1))}
    yield Case("stages of tensor-parallel ranks", pipeline_of_grids, {"x": "[r0.x, r1.x]", **stages}, {"y": "[r2.y, r3.y]"},
               {"no sum in the second stage": "add_1", "sent before the layer": "mm_2"}, ranks=4, groups=pairs,
               cut=lambda values, rank: {name: values[name].chunk(2, 0 if name.startswith("up") else 1)[rank % 2]
                                         for name in values if name.endswith(str(rank // 2))})


def joined_blocks(parts):
    import torch
    return torch.cat([torch.cat(parts[:2], 1), torch.cat(parts[2:], 1)], 0)


def padded(w):
    import torch
    return torch.cat([w, torch.full((1, w.shape[1]), 9.0, dtype=w.dtype)], 0)
