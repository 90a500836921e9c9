"""The programs of verdicts.py."""
from verdicts import Case

REDUCED = '_c10d_functional.all_reduce.default(%p, "sum", "tp")'


def cases():
    yield from subscripts()
    yield from convolutions()
    yield from pooling()
    yield from lists()
    yield from collectives()
    yield from hlo()
    yield from eight_bits()


def subscripts():
    def attention(h, done):
        return f"""
        in q: f32[2, {h}, 3, 5]
        in k: f32[2, {h}, 3, 5]
        in v: f32[2, {h}, 3, 5]
        in w: f32[{h}, 5, 7]
        s = aten.einsum.default("bhqd,bhkd->bhqk", [%q, %k]) : f32[2, {h}, 3, 3]
        a = aten._softmax.default(%s, -1, false) : f32[2, {h}, 3, 3]
        o = aten.einsum.default("bhqk,bhkd->bqhd", [%a, %v]) : f32[2, 3, {h}, 5]
        {done}
        out y
        """
    product = 'aten.einsum.default("bqhd,hdo->bqo", [%o, %w]) : f32[2, 3, 7]'
    heads = {"q": "Shard(1)", "k": "Shard(1)", "v": "Shard(1)", "w": "Shard(0)"}
    yield Case("einsum attention, heads", attention(4, f"y = {product}"), attention(2, f"p = {product}\n y = {REDUCED} : f32[2, 3, 7]"), heads, {"y": "Replicate"},
               {"no all-reduce": (REDUCED, "aten.clone.default(%p)"), "queries for keys": ("bhqk,bhkd->bqhd", "bhkq,bhkd->bqhd"),
                "maximum for sum": ('"sum"', '"max"')})
    for equation, sizes, inputs, result in (
            ("bij,bjk->bik", ([4, 3, 5], [4, 5, 7], [4, 3, 7]), ("Shard(0)", "Shard(0)"), "Shard(0)"),
            ("...ij,jk", ([4, 2, 3, 5], [5, 7], [4, 2, 3, 7]), ("Shard(0)", "Replicate"), "Shard(0)"),
            ("ij,kj->ik", ([3, 5], [8, 5], [3, 8]), ("Replicate", "Shard(0)"), "Shard(1)"),
            ("ij,jk->ki", ([3, 6], [6, 5], [5, 3]), ("Shard(1)", "Shard(0)"), "Partial"),
            ("i,j->ij", ([4], [3], [4, 3]), ("Shard(0)", "Replicate"), "Shard(0)"),
            ("bii->bi", ([4, 3, 3], None, [4, 3]), ("Shard(0)", None), "Shard(0)"),
            ("ij->j", ([4, 3], None, [3]), ("Shard(0)", None), "Partial")):
        def program(cut):
            def size(shape, placement):
                axis = int(placement[6]) if placement and placement.startswith("Shard") else -1
                return [n // 2 if cut and k == axis else n for k, n in enumerate(shape)]
            x, y, z = sizes
            text = f"in x: f32{size(x, inputs[0])}\n" + (f"in w: f32{size(y, inputs[1])}\n" if y else "")
            return text + f'y = aten.einsum.default("{equation}", [%x{", %w" if y else ""}]) : f32{size(z, result)}\nout y'
        yield Case(f"einsum {equation}", program(False), program(True), {k: p for k, p in zip("xw", inputs) if p}, {"y": result})


SETTINGS = "[1, 1], [1, 1], [1, 1], false, [0, 0]"


def convolutions():
    def conv(batch, channels, outputs, groups=1, rest="out y", name="y", transposed=False):
        settings = SETTINGS.replace("false", "true") if transposed else SETTINGS
        kernel = [channels, outputs // groups, 3, 3] if transposed else [outputs, channels // groups, 3, 3]
        return f"""
        in x: f32[{batch}, {channels}, 5, 6]
        in w: f32{kernel}
        in b: f32[{outputs}]
        {name} = aten.convolution.default(%x, %w, %b, {settings}, {groups}) : f32[{batch}, {outputs}, 5, 6]
        {rest}
        """
    for transposed in (False, True):
        kind = "transposed convolution" if transposed else "convolution"
        yield Case(f"{kind}, batch", conv(4, 2, 3, transposed=transposed), conv(2, 2, 3, transposed=transposed), {"x": "Shard(0)", "w": "Replicate", "b": "Replicate"},
                   {"y": "Shard(0)"})
        outputs = {"x": "Replicate", "w": "Shard(1)" if transposed else "Shard(0)", "b": "Shard(0)"}
        yield Case(f"{kind}, output channels", conv(2, 2, 6, transposed=transposed), conv(2, 2, 3, transposed=transposed), outputs, {"y": "Shard(1)"})
        yield Case(f"{kind}, groups", conv(2, 4, 8, 4, transposed=transposed), conv(2, 2, 4, 2, transposed=transposed), {"x": "Shard(1)", "w": "Shard(0)", "b": "Shard(0)"},
                   {"y": "Shard(1)"})
        inner = {"x": "Shard(1)", "w": "Shard(0)" if transposed else "Shard(1)", "b": "Replicate"}
        without = lambda c: conv(2, c, 3, transposed=transposed, name="p").replace("%b", "null")
        added = f"""r = {REDUCED} : f32[2, 3, 5, 6]
        v = aten.view.default(%b, [1, 3, 1, 1]) : f32[1, 3, 1, 1]
        y = aten.add.Tensor(%r, %v) : f32[2, 3, 5, 6]
        out y"""
        yield Case(f"{kind}, input channels", conv(2, 4, 3, transposed=transposed), without(2).replace("out y", added), inner, {"y": "Replicate"},
                   {"no all-reduce": (REDUCED, "aten.clone.default(%p)"), "bias on every rank": ("%w, null", "%w, %b"),
                    "average": ('"sum"', '"avg"')})

    def backward(n, done):
        return f"""
        in dy: f32[{n}, 3, 5, 6]
        in x: f32[{n}, 2, 5, 6]
        in w: f32[3, 2, 3, 3]
        dx, pw, pb = aten.convolution_backward.default(%dy, %x, %w, [3], {SETTINGS}, 1, [true, true, true]) : f32[{n}, 2, 5, 6], f32[3, 2, 3, 3], f32[3]
        {done}
        """
    reduced = """dw = _c10d_functional.all_reduce.default(%pw, "sum", "tp") : f32[3, 2, 3, 3]
        db = _c10d_functional.all_reduce.default(%pb, "sum", "tp") : f32[3]
        out dx, dw, db"""
    whole = """dw = aten.clone.default(%pw) : f32[3, 2, 3, 3]
        db = aten.clone.default(%pb) : f32[3]
        out dx, dw, db"""
    yield Case("convolution backward, batch", backward(4, whole), backward(2, reduced), {"dy": "Shard(0)", "x": "Shard(0)", "w": "Replicate"},
               {"dx": "Shard(0)", "dw": "Replicate", "db": "Replicate"},
               {"weights not reduced": ('_c10d_functional.all_reduce.default(%pw, "sum", "tp")', "aten.clone.default(%pw)"),
                "bias averaged": ('%pb, "sum"', '%pb, "avg"')})


def pooling():
    def program(n, c, op, args, result, more="out y"):
        sizes = "f32[{}, {}, {}]".format(n, c, result)
        return f"""
        in x: f32[{n}, {c}, 6, 7]
        y = aten.{op}.default(%x, {args}) : {sizes}
        {more}
        """
    for op, args, result in (("avg_pool2d", "[2, 3], [2, 2], [1, 1], true, false", "4, 4"), ("avg_pool2d", "[2, 7]", "3, 1"), ("adaptive_avg_pool2d", "[1, 1]", "1, 1"),
                             ("_adaptive_avg_pool2d", "[4, 3]", "4, 3"), ("max_pool2d", "[3, 3], [2, 2], [1, 1]", "3, 4")):
        for axis, (n, c) in enumerate(((2, 3), (4, 2))):
            cut = (n // 2, c) if axis == 0 else (n, c // 2)
            yield Case(f"{op} {args}, {'batch' if axis == 0 else 'channels'}", program(n, c, op, args, result), program(*cut, op, args, result), {"x": f"Shard({axis})"},
                       {"y": f"Shard({axis})"}, {} if op != "max_pool2d" else {"average": ("max_pool2d", "avg_pool2d")})

    def back(n):
        return f"""
        in x: f32[{n}, 2, 6, 7]
        in dy: f32[{n}, 2, 3, 4]
        y, places = aten.max_pool2d_with_indices.default(%x, [3, 3], [2, 2], [1, 1]) : f32[{n}, 2, 3, 4], i64[{n}, 2, 3, 4]
        dx = aten.max_pool2d_with_indices_backward.default(%dy, %x, [3, 3], [2, 2], [1, 1], [1, 1], false, %places) : f32[{n}, 2, 6, 7]
        out y, dx
        """
    yield Case("max_pool2d backward, batch", back(4), back(2), {"x": "Shard(0)", "dy": "Shard(0)"}, {"y": "Shard(0)", "dx": "Shard(0)"},
               {"of the result": ("%dy, %x, [3, 3]", "%y, %x, [3, 3]")})


def lists():
    # One step of Adam without bias correction on two weights; the second moments and weights are shared out by rows.
    def step(rows, name="g"):
        w = [f"f32[{rows}, 3]", f"f32[{rows}]"]
        both = ", ".join(w)
        return f"""
        in w0: {w[0]}
        in w1: {w[1]}
        in m0: {w[0]}
        in m1: {w[1]}
        in v0: {w[0]}
        in v1: {w[1]}
        GRADS
        d0, d1 = aten._foreach_mul.Scalar([%m0, %m1], 0.9) : {both}
        a0, a1 = aten._foreach_add.List([%d0, %d1], [%{name}0, %{name}1]; alpha=0.1) : {both}
        e0, e1 = aten._foreach_mul.Scalar([%v0, %v1], 0.99) : {both}
        b0, b1 = aten._foreach_addcmul.Scalar([%e0, %e1], [%{name}0, %{name}1], [%{name}0, %{name}1], 0.01) : {both}
        s0, s1 = aten._foreach_sqrt.default([%b0, %b1]) : {both}
        _, t0, t1 = aten._foreach_add_.Scalar([%s0, %s1], 1e-8) : none, {both} changes self
        u0, u1 = aten._foreach_addcdiv.Scalar([%w0, %w1], [%a0, %a1], [%t0, %t1], -0.001) : {both}
        out u0, u1, a0, b1
        """
    rows = {name + i: "Shard(0)" for name in "wmvg" for i in "01"}
    given = lambda n: f"in g0: f32[{n}, 3]\n in g1: f32[{n}]"
    yield Case("foreach: Adam, weights in rows", step(4).replace("GRADS", given(4)), step(2).replace("GRADS", given(2)), rows,
               {"u0": "Shard(0)", "u1": "Shard(0)", "a0": "Shard(0)", "b1": "Shard(0)"},
               {"another weight": ("[%a0, %a1], [%t0, %t1]", "[%m0, %a1], [%t0, %t1]"),
                "another rate": ("-0.001", "0.001"), "other momentum": ("alpha=0.1", "alpha=0.2")})
    # Data parallel: the gradients are partial sums, averaged in one coalesced call.
    summed = "in p0: f32[4, 3]\n in p1: f32[4]\n g0, g1 = aten._foreach_div.Scalar([%p0, %p1], 2) : f32[4, 3], f32[4]"
    averaged = """in p0: f32[4, 3]
        in p1: f32[4]
        _, r0, r1 = c10d.allreduce_coalesced_.default([%p0, %p1], "tp", "avg") : none, f32[4, 3], f32[4] changes tensors
        g0, g1 = aten._foreach_mul.Scalar([%r0, %r1], 1) : f32[4, 3], f32[4]"""
    placements = {**{name + i: "Replicate" for name in "wmv" for i in "01"}, "p0": "Partial", "p1": "Partial"}
    yield Case("foreach: data parallel Adam", step(4).replace("GRADS", summed), step(4).replace("GRADS", averaged), placements,
               {name: "Replicate" for name in ("u0", "u1", "a0", "b1")},
               {"summed": ('"avg"', '"sum"'), "not coalesced": ("allreduce_coalesced_", "allreduce_"), "one gradient for the other": ("[%r0, %r1], 1", "[%r0, %p1], 1"), "scaled": ("[%r0, %r1], 1)", "[%r0, %r1], 2)")})


def collectives():
    def program(n, done):
        return f"""
        in x: f32[4, {n}]
        in w: f32[{n}, 6]
        p = aten.mm.default(%x, %w) : f32[4, 6]
        {done}
        out y
        """
    inner = {"x": "Shard(1)", "w": "Shard(0)"}
    sequential = program(8, "y = aten.relu.default(%p) : f32[4, 6]")
    relu = "\n y = aten.relu.default(%r) : f32[{}, 6]"
    yield Case("allreduce_", sequential, program(4, '_, r = c10d.allreduce_.default([%p], "tp", "sum", null, true, -1) : none, f32[4, 6] changes tensors' + relu.format(4)), inner,
               {"y": "Replicate"}, {"the old value": ("relu.default(%r)", "relu.default(%p)")})
    yield Case("all_reduce_", sequential, program(4, '_, r = _c10d_functional.all_reduce_.default(%p, "sum", "tp") : f32[4, 6], f32[4, 6] changes input' + relu.format(4)),
               inner, {"y": "Replicate"}, {"the old value": ("relu.default(%r)", "relu.default(%p)"), "maximum": ('"sum"', '"max"')})
    scattered = """o = aten.empty.memory_format([2, 6]) : f32[2, 6]
        q, r = c10d._reduce_scatter_base_.default(%o, %p, "tp", "sum", true, -1) : f32[2, 6], f32[2, 6] changes output_tensor
        a = aten.relu.default(%r) : f32[2, 6]
        b = aten.empty.memory_format([4, 6]) : f32[4, 6]
        _, y = c10d._allgather_base_.default(%b, %a, "tp", true, -1) : f32[4, 6], f32[4, 6] changes output_tensor"""
    yield Case("_reduce_scatter_base_ and _allgather_base_", sequential, program(4, scattered), inner, {"y": "Replicate"},
               {"the buffer": ("relu.default(%r)", "relu.default(%o)"), "not gathered": ("%b, %a, ", "%b, %o, ")})
    # One tensor in a list, and the first one of the root.
    one = lambda line: f"in x: f32[4]\n {line}\n y = aten.exp.default(%r) : f32[4]\n out y"
    alone = one("r = aten.clone.default(%x) : f32[4]")
    for op, more, expect in (("broadcast_", "0, 0, true, -1", "Replicate"), ("reduce_", '"sum", 0, 0, true, -1', "r0.y")):
        line = f'_, r = c10d.{op}.default([%x], "tp", {more}) : none, f32[4] changes tensors'
        several = line.replace("_, r =", "_, r, q =").replace("[%x]", "[%x, %x]").replace("none, f32[4]", "none, f32[4], f32[4]")
        yield Case(op, alone, one(line), {"x": "Replicate" if op == "broadcast_" else "Partial"}, {"y": expect},
                   {"several tensors": (line, several), "another tensor of the root": ("0, 0, true", "0, 1, true")})
    yield from exchanges()


def exchanges():
    """All-to-all, in equal and in listed pieces: all of a tensor is sent."""
    def program(lines, n=4):
        return f"in x: f32[{n}]\n {lines}\n y = aten.exp.default(%r) : f32[{n}]\n out y"
    alone = program("r = aten.clone.default(%x) : f32[8]", 8)
    expect = {"y": "concat(" + ", ".join(f"slice(r{r}.y; 0, {k}, {k + 2})" for k in (0, 2) for r in (0, 1)) + "; 0)"}
    twice = "z = aten.cat.default([%x, %x]) : f32[8]\n "
    forms = {"all_to_all_single": 'r = _c10d_functional.all_to_all_single.default(%x, SIZES, "tp") : f32[4]',
             "the first all_to_all_single": 'r = c10d_functional.all_to_all_single.default(%x, SIZES, "", [0, 1], 2) : f32[4]',
             "alltoall_base_": "o = aten.empty.memory_format([4]) : f32[4]\n "
                               '_, r = c10d.alltoall_base_.default(%o, %x, "tp", SIZES, true, -1) : f32[4], f32[4] changes output'}
    for form, of_sizes in forms.items():
        buffer = {"a larger buffer": ("([4]) : f32[4]", "([6]) : f32[6]")} if "%o" in of_sizes else {}
        yield Case(f"{form}, equal pieces", alone, program(of_sizes.replace("SIZES", "[], []")), {"x": "Shard(0)"}, expect,
                   {"fewer pieces are expected": ("[], []", "[2], []"), **buffer})
        line = of_sizes.replace("SIZES", "[2, 2], [2, 2]")
        yield Case(f"{form}, listed pieces", alone, program(line), {"x": "Shard(0)"}, expect,
                   {"rows left over": (line, twice + line.replace("%x", "%z")), "a piece for nobody": ("[2, 2], [2, 2]", "[2, 2], [2, 2, 0]"), **buffer})


def hlo():
    def one(inputs, line, of):
        """A program of one operator."""
        return "\n".join([*(f"in {name}: {kind}" for name, kind in inputs), f"y = hlo.{line} : {of}", "out y"])
    cut = {"x": "Shard(0)", "w": "Replicate"}
    image = lambda n: one([("x", f"f32[{n}, 6, 5, 3]"), ("w", "f32[2, 3, 3, 4]")],
                          "convolution(%x, %w, [0, 3, 1, 2], [3, 2, 0, 1], [0, 3, 1, 2], [1, 1], [1, 1], [0, 1], [1, 1], [1, 1])", f"f32[{n}, 6, 5, 4]")
    yield Case("hlo convolution, batch", image(4), image(2), cut, {"y": "Shard(0)"})
    outputs = lambda n: one([("x", "f32[2, 6, 5, 3]"), ("w", f"f32[2, 3, 3, {n}]")],
                            "convolution(%x, %w, [0, 3, 1, 2], [3, 2, 0, 1], [0, 3, 1, 2], [1, 1], [1, 1], [0, 1], [1, 1], [1, 1])", f"f32[2, 6, 5, {n}]")
    yield Case("hlo convolution, outputs", outputs(4), outputs(2), {"x": "Replicate", "w": "Shard(3)"}, {"y": "Shard(3)"})
    for op in ("sum", "max"):
        window = lambda n: one([("x", f"f32[2, 6, 5, {n}]")], f'reduce_window(%x, "{op}", [1, 3, 2, 1], [1, 2, 1, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1])',
                               f"f32[2, 3, 5, {n}]")
        yield Case(f"hlo reduce_window {op}, channels", window(4), window(2), {"x": "Shard(3)"}, {"y": "Shard(3)"})
    pooled = lambda n: one([("x", f"f32[{n}, 6, 4, 3]"), ("w", f"f32[{n}, 3, 2, 3]")],
                           'select_and_scatter(%x, %w, "GE", "sum", [1, 2, 2, 1], [1, 2, 2, 1], [0, 0, 0, 0], [0, 0, 0, 0])', f"f32[{n}, 6, 4, 3]")
    yield Case("hlo select_and_scatter, batch", pooled(4), pooled(2), {"x": "Shard(0)", "w": "Shard(0)"}, {"y": "Shard(0)"})
    gather = lambda n: one([("x", f"f32[6, {n}]"), ("i", "i64[3, 5]")], f"gather(%x, %i, [2], [0], [0], 2, [1, {n}])", f"f32[3, 5, {n}]")
    yield Case("hlo gather, columns", gather(4), gather(2), {"x": "Shard(1)", "i": "Replicate"}, {"y": "Shard(2)"})
    rows = lambda n: one([("x", "f32[6, 4]"), ("i", f"i64[{n}, 5]")], "gather(%x, %i, [2], [0], [0], 2, [1, 4])", f"f32[{n}, 5, 4]")
    yield Case("hlo gather, indices", rows(4), rows(2), {"x": "Replicate", "i": "Shard(0)"}, {"y": "Shard(0)"})
    pairs = lambda n: one([("x", f"f32[5, 6, {n}]"), ("i", "i64[3, 2]")], f"gather(%x, %i, [1], [0, 1], [0, 1], 1, [1, 1, {n}])", f"f32[3, {n}]")
    yield Case("hlo gather, two indexed axes", pairs(4), pairs(2), {"x": "Shard(2)", "i": "Replicate"}, {"y": "Shard(1)"})
    for op in ("sum", "write", "max"):
        scatter = lambda n: one([("x", f"f32[6, {n}]"), ("i", "i64[3, 1]"), ("u", f"f32[3, {n}]")], f'scatter(%x, %i, %u, [1], [0], [0], 1; op="{op}")', f"f32[6, {n}]")
        yield Case(f"hlo scatter {op}, columns", scatter(4), scatter(2), {"x": "Shard(1)", "i": "Replicate", "u": "Shard(1)"}, {"y": "Shard(1)"},
                   {"another reduction": (f'"{op}"', '"min"')})
    ordered = lambda n: one([("k", f"f32[{n}, 5]"), ("v", f"f32[{n}, 5]")], 'sort([%k, %v], 1, "LT")', f"f32[{n}, 5], f32[{n}, 5]").replace("y =", "a, y =")
    yield Case("hlo sort, rows", ordered(4), ordered(2), {"k": "Shard(0)", "v": "Shard(0)"}, {"y": "Shard(0)"}, {"the other way": ("LT", "GT")})
    product = lambda n: one([("x", f"f32[2, {n}, 3]"), ("w", f"f32[2, 5, {n}]")], "dot(%x, %w, [1], [2], [0], [0])", "f32[2, 3, 5]")
    yield Case("hlo dot with batch axes, contracted", product(4), product(2), {"x": "Shard(1)", "w": "Shard(2)"}, {"y": "Partial"})
    start = lambda n: one([("x", f"f32[6, {n}]"), ("a", "i64[]"), ("b", "i64[]")], f"dynamic_slice(%x, [%a, %b], [2, {n}])", f"f32[2, {n}]")
    yield Case("hlo dynamic_slice, columns", start(4), start(2), {"x": "Shard(1)", "a": "Replicate", "b": "Replicate"}, {"y": "Shard(1)"})
    update = lambda n: one([("x", f"f32[6, {n}]"), ("u", f"f32[2, {n}]"), ("a", "i64[]"), ("b", "i64[]")], "dynamic_update_slice(%x, %u, [%a, %b])", f"f32[6, {n}]")
    yield Case("hlo dynamic_update_slice, columns", update(4), update(2), {"x": "Shard(1)", "u": "Shard(1)", "a": "Replicate", "b": "Replicate"}, {"y": "Shard(1)"})


def eight_bits():
    """vLLM's feed-forward layer in eight bits, tensor parallel: one scale for what goes into a product, one for each column of a weight."""
    def program(n, reduced):
        return f"""
        in x: f32[3, 8]
        in s1: f32[1]
        in w1: f8[8, {2 * n}]
        in c1: f32[{2 * n}, 1]
        in s2: f32[1]
        in w2: f8[{n}, 8]
        in c2: f32[8, 1]
        e1 = aten.full.default([3, 8], 0.0; dtype="f8") : f8[3, 8]
        _, q = _C.static_scaled_fp8_quant.default(; result=%e1; input=%x; scale=%s1) : none, f8[3, 8] changes result
        e2 = aten.full.default([3, {2 * n}], 0.0) : f32[3, {2 * n}]
        _, h = _C.cutlass_scaled_mm.default(; out=%e2; a=%q; b=%w1; a_scales=%s1; b_scales=%c1) : none, f32[3, {2 * n}] changes out
        e3 = aten.full.default([3, {n}], 0.0; dtype="f8") : f8[3, {n}]
        _, r = _C.silu_and_mul_quant.default(; result=%e3; input=%h; scale=%s2) : none, f8[3, {n}] changes result
        e4 = aten.full.default([3, 8], 0.0) : f32[3, 8]
        _, p = _C.cutlass_scaled_mm.default(; out=%e4; a=%r; b=%w2; a_scales=%s2; b_scales=%c2) : none, f32[3, 8] changes out
        y = {reduced} : f32[3, 8]
        out y
        """
    halves = lambda name, axis: f"concat({', '.join(f'slice(r{r}.{name}; {axis}, {2 * k}, {2 * k + 2})' for k in (0, 1) for r in (0, 1))}; {axis})"
    yield Case("eight bits, columns and rows", program(4, "aten.clone.default(%p)"), program(2, REDUCED),
               {"x": "Replicate", "s1": "Replicate", "w1": halves("w1", 1), "c1": halves("c1", 0), "s2": "Replicate", "w2": "Shard(0)", "c2": "Replicate"},
               {"y": "Replicate"},
               {"no sum": (REDUCED, "aten.clone.default(%p)"), "scale of the other product": ("input=%h; scale=%s2", "input=%h; scale=%s1"),
                "scaled once more": ("a_scales=%s2", "a_scales=%s1"), "average": ('%p, "sum"', '%p, "avg"')})
