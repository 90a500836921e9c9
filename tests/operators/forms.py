"""Programs of verdicts.py about the forms of an operator: what it does with some arguments that is not what it does with others."""
from verdicts import Case


def cases():
    yield from attention()
    yield from masks()
    yield from facts()


def everywhere(program):
    """The placements of a program that all ranks run as a whole."""
    names = lambda word: [n.strip() for line in program.splitlines() if line.strip().startswith(word) for n in line.strip()[len(word):].split(":")[0].split(",")]
    return {n: "Replicate" for n in names("in ")}, {n: "Replicate" for n in names("out ")}


def same(name, program, breaks=(), refines=True, ranks=None):
    """All ranks do the same: as the sequential program, or what `ranks` says."""
    return Case(name, program, ranks or program, *everywhere(program), breaks, refines)


def attention():
    def weights(heads, more="null, 0.5"):
        return f"""
        in q: f32[2, {heads}, 3, 4]
        in k: f32[2, {heads}, 3, 4]
        in v: f32[2, {heads}, 3, 4]
        y, a = aten._scaled_dot_product_attention_math.default(%q, %k, %v, {more}) : f32[2, {heads}, 3, 4], f32[2, {heads}, 3, 3]
        out y, a
        """
    by_hand = """a = aten.{} : f32[2, 1, 3, 3]
        y = aten.matmul.default(%a, %v) : f32[2, 1, 3, 4]"""
    call = "y, a = aten._scaled_dot_product_attention_math.default(%q, %k, %v, null, 0.5) : f32[2, 1, 3, 4], f32[2, 1, 3, 3]"
    undropped = """t = aten.transpose.int(%k, 2, 3) : f32[2, 1, 4, 3]
        p = aten.matmul.default(%q, %t) : f32[2, 1, 3, 3]
        c = aten.mul.Scalar(%p, 0.5) : f32[2, 1, 3, 3]
        a = aten._softmax.default(%c, -1, false) : f32[2, 1, 3, 3]"""
    heads = {name: "Shard(1)" for name in "qkv"}
    yield Case("attention's weights, dropout", weights(2), weights(1), heads, {"y": "Shard(1)", "a": "Shard(1)"},
               {"weights before the dropout": (call, call.replace("y, a", "y, _") + "\n" + undropped), "no dropout": ("null, 0.5", "null, 0.0")})
    yield Case("attention's weights, no dropout", weights(2, "null, 0.0"), weights(1, "null, 0.0").replace(call.replace("0.5", "0.0"), undropped + """
        y = aten.matmul.default(%a, %v) : f32[2, 1, 3, 4]"""), heads, {"y": "Shard(1)", "a": "Shard(1)"})

    # A causal mask between sequences of two lengths starts at the upper left here, at the lower right in FlashAttention.
    def causal(op, queries, keys, more, results):
        sizes = f"in q: f32[2, 2, {queries}, 4]\n" + "".join(f"in {name}: f32[2, 2, {keys}, 4]\n" for name in "kv")
        of = f"f32[2, 2, {queries}, 4]" + results.format(queries)
        return sizes + f"{'y, _, _, _' if results else 'y'} = aten.{op}.default(%q, %k, %v, {more}) : {of}\nout y"
    plain = lambda *n: causal("scaled_dot_product_attention", *n, "null, 0.0, true", "")
    seeds = ", f32[2, 2, {}], i64[], i64[]"
    flash = lambda *n: causal("_scaled_dot_product_flash_attention", *n, "0.0, true", seeds)
    cudnn = lambda *n: causal("_scaled_dot_product_cudnn_attention", *n, "null, true, 0.0, true", seeds)
    efficient = lambda *n: causal("_scaled_dot_product_efficient_attention", *n, "null, true, 0.0, true", seeds)
    for name, kind, left in (("flash", flash, False), ("cudnn", cudnn, False), ("efficient", efficient, True)):
        yield same(f"{name} attention, causal", plain(3, 3), ranks=kind(3, 3))
        yield same(f"{name} attention, causal, more keys", plain(3, 5), ranks=kind(3, 5), refines=left)


def masks():
    # x[m] = v with one row for all places of the mask; bytes are masks, too.
    for kind in ("b8", "u8"):
        for rows in ("[3]", "[1, 3]"):
            for accumulate in (False, True):
                program = f"""
                in x: f32[4, 3]
                in m: {kind}[4]
                in v: f32{rows}
                y = aten.index_put.default(%x, [%m], %v, {str(accumulate).lower()}) : f32[4, 3]
                out y
                """
                put = program.split("\n")[4]
                chosen = f"""n = aten.unsqueeze.default(%m, 1) : {kind}[4, 1]
                c = aten._to_copy.default(%n; dtype="b8") : b8[4, 1]
                s = aten.add.Tensor(%x, %v) : f32[4, 3]
                y = aten.where.self(%c, %{"s" if accumulate else "v"}, %x) : f32[4, 3]"""
                numbers = put.replace("y =", "i = aten._to_copy.default(%m; dtype=\"i64\") : i64[4]\ny =").replace("[%m]", "[%i]")
                turned = put.replace("y =", "i = aten.flip.default(%m, [0]) : " + kind + "[4]\ny =").replace("[%m]", "[%i]")
                yield same(f"index_put, mask of {kind}, {rows}{', added' if accumulate else ''}", program, ranks=program.replace(put, chosen),
                           breaks={"the mask as numbers": (chosen, numbers), "in another order": (chosen, turned),
                                   "the other one": ('_to_copy.default(%n; dtype="b8")', "eq.Scalar(%n, 0)")})
    parts = """in x: f32[4]
    in m: u8[4]
    a = aten.slice.Tensor(%m, 0, 0, 2) : u8[2]
    b = aten.slice.Tensor(%m, 0, 2, 4) : u8[2]
    c = aten.index.Tensor(%x, [%a]) : f32[2]
    d = aten.index.Tensor(%x, [%b]) : f32[2]
    y = aten.cat.default([%c, %d]) : f32[4]
    out y"""
    whole = "in x: f32[4]\nin m: u8[4]\ny = aten.index.Tensor(%x, [%m]) : f32[4]\nout y"
    yield same("index, bytes in parts", whole, ranks=parts, refines=False)
    as_numbers = lambda text: text.replace("u8", "i64")
    yield same("index, numbers in parts", as_numbers(whole), ranks=as_numbers(parts), breaks={"turned": ("[%c, %d]", "[%d, %c]")})


def facts():
    """That look-ups are in range must say nothing of what the framework does not demand to be in range. `e` is what would then be known."""
    def holds(name, program, size):
        claim = program.splitlines()[-2].strip()
        return same(name, program, {"always": (claim, f'e = aten.full.default([{size}], true; dtype="b8") : b8[{size}]')})
    numbered = """k = aten._to_copy.default(%m; dtype="i64") : i64[4]
    c = aten.cumsum.default(%k, 0) : i64[4]
    d = aten.sub.Tensor(%c, 1) : i64[4]
    z = aten.full.default([], 0; dtype="i64") : i64[]
    n = aten.where.self(%m, %d, %z) : i64[4]
    e = aten.le.Scalar(%n, {}) : b8[4]
    out y, e"""
    for accumulate in ("false", "true"):
        yield holds(f"one value for a mask, {accumulate}", f"""in x: f32[4]
    in m: b8[4]
    in v: f32[1]
    y = aten.index_put.default(%x, [%m], %v, {accumulate}) : f32[4]
    """ + numbered.format(0), 4)
    # With two values there are two places.
    two = "in x: f32[4]\nin m: b8[4]\nin v: f32[2]\ny = aten.index_put.default(%x, [%m], %v) : f32[4]\n" + numbered
    yield same("two values for a mask", two.format(1), ranks=two.format(1).replace("aten.le.Scalar(%n, 1)", 'aten.full.default([4], true; dtype="b8")'))
    yield holds("two values for a mask, and less", two.format(0), 4)
    backwards = """{}
    i = aten.arange.start(-2, 2; dtype="i64") : i64[4]
    y = aten.{} : f32[{}]
    e = aten.ge.Scalar(%i, 0) : b8[4]
    out y, e"""
    vector = "in x: f32[6]\nin v: f32[4]"
    yield holds("take from the end", backwards.format("in x: f32[6]", "take.default(%x, %i)", 4), 4)
    yield holds("put from the end", backwards.format(vector, "put.default(%x, %i, %v, true)", 6), 4)
    yield holds("index_put from the end", backwards.format(vector, "index_put.default(%x, [%i], %v, true)", 6), 4)
    for fill in ("int_Scalar(%x, 0, %i, 2.5)", "int_Tensor(%x, 0, %i, %v)"):
        program = f"""in x: f32[6]
    in v: f32[]
    i = aten.full.default([1], -1; dtype="i64") : i64[1]
    y = aten.index_fill.{fill} : f32[6]
    out y"""
        last = program.replace("full.default([1], -1;", "full.default([1], 5;")
        yield same(f"index_fill.{fill} from the end", program, {"not at all": (f"index_fill.{fill}", "clone.default(%x)"),
                                                                "before it": ("full.default([1], 5;", "full.default([1], 4;")}, ranks=last)
    # What is in no bag: its padding.
    yield holds("embedding bags, padding", """in w: f32[6, 2]
    in i: i64[5]
    in o: i64[2]
    y, _, _, _ = aten._embedding_bag.default(%w, %i, %o, false, 0, false, null, false, 2) : f32[2, 2], i64[0], i64[2], i64[2]
    p = aten.arange.default(5; dtype="i64") : i64[5]
    q = aten.unsqueeze.default(%p, 1) : i64[5, 1]
    r = aten.unsqueeze.default(%o, 0) : i64[1, 2]
    g = aten.ge.Tensor(%q, %r) : b8[5, 2]
    s = aten.sum.dim_IntList(%g, [1]) : i64[5]
    t = aten.sub.Tensor(%s, 1) : i64[5]
    u = aten.eq.Scalar(%i, 2) : b8[5]
    z = aten.full.default([], -1; dtype="i64") : i64[]
    n = aten.where.self(%u, %z, %t) : i64[5]
    e = aten.ge.Scalar(%n, 0) : b8[5]
    out y, e""", 5)
    # An expert that is on another rank.
    experts = """in h: f32[3, 4]
    in w1: f32[6, 8, 4]
    in w2: f32[6, 4, 4]
    in k: f32[3, 2]
    in i: i64[3, 2]
    in m: i64[12]
    y = vllm.outplace_fused_experts.default(%h, %w1, %w2, %k, %i; expert_map=%m) : f32[3, 4]
    j = aten.embedding.default(%m, %i) : i64[3, 2]
    f = aten.ge.Scalar(%j, 0) : b8[3, 2]
    e = aten.all.dim(%f, 1) : b8[3]
    out y, e"""
    yield holds("experts elsewhere", experts, 3)
