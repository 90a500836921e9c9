"""Programs of verdicts.py about the forms of an operator: what it does with some arguments that is not what it does with others."""
from verdicts import Case


def cases():
    yield from attention()
    yield from masks()
    yield from facts()
    yield from recorded()
    yield from padding()
    yield from without_axes()
    yield from fractions()


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


def recorded():
    """Results in the precision or of the shape that a device or a kernel gives them."""
    def norm(op, operands, sizes, statistics, dtype):
        return lambda n: f"""
        in x: bf16[{n}, {sizes}]
        y, m, r = aten.{op}.default(%x, {operands.format(n)}) : bf16[{n}, {sizes}], {dtype}[{n}, {statistics}], {dtype}[{n}, {statistics}]
        out y, m, r
        """
    for dtype in ("bf16", "f32"):
        for name, program in (("layer norm", norm("native_layer_norm", "[6], null, null, 0.5", 6, 1, dtype)),
                              ("group norm", norm("native_group_norm", "null, null, {}, 4, 3, 2, 0.5", "4, 3", 2, dtype))):
            yield Case(f"{name}, statistics in {dtype}", program(4), program(2), {"x": "Shard(0)"}, {name: "Shard(0)" for name in "ymr"},
                       {"another eps": ("0.5)", "0.25)")})

        def backward(n, done):
            return f"""
            in dy: bf16[{n}, 6]
            in x: bf16[{n}, 6]
            in w: {dtype}[6]
            _, m, r = aten.native_layer_norm.default(%x, [6], %w, null, 0.5) : bf16[{n}, 6], {dtype}[{n}, 1], {dtype}[{n}, 1]
            dx, p = aten.native_layer_norm_backward.default(%dy, %x, [6], %m, %r, %w, null, [true, true, false]) : bf16[{n}, 6], {dtype}[6], none
            dw = {done} : {dtype}[6]
            out dx, dw
            """.replace("dx, p =", "dx, p, _ =")
        reduced = '_c10d_functional.all_reduce.default(%p, "sum", "tp")'
        yield Case(f"layer norm backward, statistics in {dtype}", backward(4, "aten.clone.default(%p)"), backward(2, reduced),
                   {"dy": "Shard(0)", "x": "Shard(0)", "w": "Replicate"}, {"dx": "Shard(0)", "dw": "Replicate"}, {"not reduced": (reduced, "aten.clone.default(%p)")})

    # An attention kernel returns the sums of its rows for no row, for each, or for some that there are not.
    def efficient(heads, wanted, rows, of, dtype="f32"):
        operands = "".join(f"in {name}: {dtype}[2, {heads}, 5, 4]\n" for name in "qkv")
        return operands + f"""y, l, _, _ = aten._scaled_dot_product_efficient_attention.default(%q, %k, %v, null, {wanted}) : {dtype}[2, {heads}, 5, 4], f32[2, {heads}, {rows}], i64[], i64[]
        out {of}"""
    heads = {name: "Shard(1)" for name in "qkv"}
    for wanted, rows in (("true", 5), ("true", 32), ("false", 0)):
        yield Case(f"attention, sums of {rows} rows", efficient(4, wanted, rows, "y"), efficient(2, wanted, rows, "y"), heads, {"y": "Shard(1)"})
    for dtype in ("f32", "bf16"):
        yield Case(f"attention, sums of its rows of {dtype}", efficient(4, "true", 5, "l", dtype), efficient(2, "true", 5, "l", dtype), heads, {"l": "Shard(1)"},
                   {"of others": ("(%q, %k", "(%k, %q")})
    yield Case("attention, sums of rows that are not there", efficient(4, "true", 32, "l"), efficient(2, "true", 32, "l"), heads, {"l": "Shard(1)"}, refines=False)

    # Lists of whole numbers that become fractions.
    for op, each, other in (("_foreach_mul.Scalar([%x, %z], 0.5)", "mul.Scalar(%{}, 0.5)", "mul.Scalar(%{}, 1.5)"),
                            ("_foreach_sqrt.default([%x, %z])", "sqrt.default(%{})", "exp.default(%{})"),
                            ("_foreach_div.List([%x, %z], [%z, %x])", "div.Tensor(%{}, %{})", "mul.Tensor(%{}, %{})")):
        inputs = "in x: i64[4]\nin z: i64[4]\n"
        of = "f32[4]"
        turned = inputs + f"a = aten.{each.format('x', 'z')} : {of}\nb = aten.{each.format('z', 'x')} : {of}\nout a, b"
        yield same(f"{op.split('(')[0]} of whole numbers", inputs + f"a, b = aten.{op} : {of}, {of}\nout a, b", ranks=turned,
                   breaks={"another operator": (each.format("x", "z"), other.format("x", "z"))})
    # In place the numbers stay what they are.
    inputs = "in x: bf16[4]\nin z: f32[4]\n"
    yield same("_foreach_add_.List, mixed", inputs + "_, a = aten._foreach_add_.List([%x], [%z]) : none, bf16[4] changes self\nout a",
               ranks=inputs + 'y = aten._to_copy.default(%z; dtype="bf16") : bf16[4]\na = aten.add.Tensor(%x, %y) : bf16[4]\nout a',
               breaks={"less": ("add.Tensor", "sub.Tensor")})


def padding():
    """Negative numbers crop: reflected and replicated is what was there before, the other end is what is left."""
    def program(lines):
        return f"in x: f32[2, 3, 6]\n{lines}\nout y"
    for mode, first in (("reflect", "pad"), ("replicate", "pad"), ("circular", "slice")):
        pad = f'y = aten.pad.default(%x, [-2, 3], "{mode}") : f32[2, 3, 7]'
        steps = {"pad": f'p = aten.pad.default(%x, [0, 3], "{mode}") : f32[2, 3, 9]\ny = aten.slice.Tensor(%p, 2, 2, 9) : f32[2, 3, 7]',
                 "slice": f'p = aten.slice.Tensor(%x, 2, 2, 6) : f32[2, 3, 4]\ny = aten.pad.default(%p, [0, 3], "{mode}") : f32[2, 3, 7]'}
        breaks = {"others": (steps[first], pad.replace("[-2, 3]", "[-1, 2]"))}
        if mode == "circular":
            breaks["the other order"] = (steps[first], steps["pad"])
        yield same(f"pad, {mode}, cropped", program(pad), ranks=program(steps[first]), breaks=breaks)
        batch = lambda n: program(pad).replace("[2, 3, ", f"[{n}, 3, ")
        yield Case(f"pad, {mode}, cropped, batch", batch(4), batch(2), {"x": "Shard(0)"}, {"y": "Shard(0)"})


def without_axes():
    """An empty list of axes means all of them, or none."""
    inputs = "in x: f32[2, 4]\n"
    for op, of in (("sum.dim_IntList", "f32"), ("mean.dim", "f32"), ("amax.default", "f32"), ("logsumexp.default", "f32"), ("count_nonzero.dim_IntList", "i64")):
        yield same(f"{op} over []", inputs + f"y = aten.{op}(%x, []) : {of}[]\nout y",
                   ranks=inputs + f"t = aten.{op}(%x, [1, 0]) : {of}[]\ny = aten.add.Scalar(%t, 0) : {of}[]\nout y", breaks={"and more": ("%t, 0", "%t, 1")})
    for op in ("any", "all"):
        yield same(f"{op}.dims over []", inputs + f"y = aten.{op}.dims(%x, []) : b8[2, 4]\nout y", ranks=inputs + "y = aten.ne.Scalar(%x, 0) : b8[2, 4]\nout y",
                   breaks={"the others": ("ne.Scalar", "eq.Scalar")})


def fractions():
    """A fraction of whole numbers is cut off, at a place that differs from operator to operator; a multiple is what it is."""
    inputs = "".join(f"in {name}: i64[4, 4]\n" for name in "xyz") + "in i: i64[4]\n"
    for op, more in (("addcmul.default", "%z; value={}"), ("index_add.default", None), ("addmm.default", "%z; alpha={}"), ("baddbmm.default", None)):
        call = {"index_add.default": "%x, 0, %i, %y; alpha={}", "baddbmm.default": "%u, %v, %w; alpha={}"}.get(op, "%x, %y, " + (more or ""))
        three = op == "baddbmm.default"
        of = "i64[1, 4, 4]" if three else "i64[4, 4]"
        wide = "".join(f"{new} = aten.unsqueeze.default(%{old}, 0) : {of}\n" for new, old in zip("uvw", "xyz")) if three else ""
        first = "u" if three else "x"
        scaled = lambda c: inputs + wide + f"a = aten.{op}({call.format(c)}) : {of}\nb = aten.mul.Scalar(%a, 2) : {of}\nout b"
        inside = lambda c: inputs + wide + f"s = aten.mul.Scalar(%{first}, 2) : {of}\nb = aten.{op}({call.format(c).replace('%' + first, '%s', 1)}) : {of}\nout b"
        yield same(f"twice {op}", scaled(3), ranks=inside(6), breaks={"more": ("=6", "=7")})
        yield same(f"twice {op}, half", scaled(0.5), ranks=inside(1), refines=False)
    half = "in x: i64[2, 4]\na = aten.avg_pool2d_backward.default(%x, %x, [1, 1], [], [0], false, true, 2) : i64[2, 4]\nb = aten.mul.Scalar(%a, 2) : i64[2, 4]\nout b"
    yield same("twice avg_pool2d_backward, half", half, ranks="in x: i64[2, 4]\nb = aten.clone.default(%x) : i64[2, 4]\nout b", refines=False)
