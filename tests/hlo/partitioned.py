"""Programs as XLA's partitioner and shard_map write them: offsets from the partition's number, masks where a shard is padded, neighbours by
permutation. Each right, and with what may go wrong."""
from verdicts import Pair, module

HEADER = ", num_partitions=2"
GROUP = "replica_groups={{0,1}}, use_global_device_ids=true"


def offset(size):
    return f"pid = u32[] partition-id()\nnumber = s32[] convert(pid)\nsize = s32[] constant({size})\no = s32[] multiply(number, size)\n"


def wide(name, source, shape, dtype="s32"):
    return f"{name} = {dtype}[{shape}] broadcast({source}), dimensions={{}}\n"


def several(name, sequential, distributed, inputs, expect, breaks, **settings):
    """`breaks`: {what: (text, text in its place)}."""
    yield Pair(name, module(sequential), module(distributed, HEADER), inputs, expect, **settings)
    for what, (old, new) in breaks.items():
        assert old in distributed, (name, what)
        yield Pair(f"{name}, {what}", module(sequential), module(distributed.replace(old, new), HEADER), inputs, expect, "*", **settings)


def vocabulary():
    """Each rank looks up what is in its rows of the table, by clamped or masked indices, and the others give 0."""
    look_up = "offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,4}"
    sequential = f"""w = f32[8,4] parameter(0)
                     ids = s32[2,5] parameter(1)
                     i = s32[2,5,1] reshape(ids)
                     y = f32[2,5,4] gather(w, i), {look_up}"""
    for name, index in (("clamped", "c = s32[2,5] clamp(zeros, l, last)"), ("masked", "c = s32[2,5] select(m, l, zeros)")):
        text = f"""w = f32[4,4] parameter(0)
                   ids = s32[2,5] parameter(1)
                   {offset(4)}{wide("ob", "o", "2,5")}
                   l = s32[2,5] subtract(ids, ob)
                   zero = s32[] constant(0)
                   {wide("zeros", "zero", "2,5")}{wide("sizes", "size", "2,5")}
                   three = s32[] constant(3)
                   {wide("last", "three", "2,5")}
                   ge = pred[2,5] compare(l, zeros), direction=GE
                   lt = pred[2,5] compare(l, sizes), direction=LT
                   m = pred[2,5] and(ge, lt)
                   {index}
                   i = s32[2,5,1] reshape(c)
                   g = f32[2,5,4] gather(w, i), {look_up}
                   mb = pred[2,5,4] broadcast(m), dimensions={{0,1}}
                   nothing = f32[] constant(0)
                   {wide("nb", "nothing", "2,5,4", "f32")}
                   s = f32[2,5,4] select(mb, g, nb)
                   y = f32[2,5,4] all-reduce(s), channel_id=1, {GROUP}, to_apply=add"""
        yield from several(f"rows of a table by {name} indices", sequential, text, {"w": "Shard(0)", "ids": "Replicate"}, {"y": "Replicate"},
                           {"foreign rows not left out": ("select(mb, g, nb)", "select(mb, g, g)"), "bound inside": ("three = s32[] constant(3)", "three = s32[] constant(2)")
                            if name == "clamped" else ("lt = pred[2,5] compare(l, sizes)", "lt = pred[2,5] compare(l, last)")}, assume=["ids in [0, 8)"])


def losses():
    """Cross entropy by one-hot vectors, the classes cut."""
    def text(n, inner, begin, top, total, picked):
        return f"""x = f32[3,{n}] parameter(0)
                   t = s32[3] parameter(1)
                   low = f32[] constant(-inf)
                   zero = f32[] constant(0)
                   {begin}
                   {top}
                   mb = f32[3,{n}] broadcast(m), dimensions={{0}}
                   s = f32[3,{n}] subtract(x, mb)
                   e = f32[3,{n}] exponential(s)
                   {total}
                   log = f32[3] log(d)
                   i = s32[3,{n}] iota(), iota_dimension=1
                   tb = s32[3,{n}] broadcast(t), dimensions={{0}}
                   eq = pred[3,{n}] compare({inner}, tb), direction=EQ
                   chosen = f32[3,{n}] convert(eq)
                   {picked}"""
    sequential = text(8, "i", "", "m = f32[3] reduce(x, low), dimensions={1}, to_apply=more", "d = f32[3] reduce(e, zero), dimensions={1}, to_apply=add",
                      """lb = f32[3,8] broadcast(log), dimensions={0}
                         p = f32[3,8] subtract(s, lb)
                         q = f32[3,8] multiply(chosen, p)
                         r = f32[3] reduce(q, zero), dimensions={1}, to_apply=add
                         y = f32[3] negate(r)""")
    distributed = text(4, "at", offset(4) + wide("ob", "o", "3,4") + "i0 = s32[3,4] iota(), iota_dimension=1\nat = s32[3,4] add(i0, ob)",
                       f"m0 = f32[3] reduce(x, low), dimensions={{1}}, to_apply=more\nm = f32[3] all-reduce(m0), channel_id=1, {GROUP}, to_apply=more",
                       f"d0 = f32[3] reduce(e, zero), dimensions={{1}}, to_apply=add\nd = f32[3] all-reduce(d0), channel_id=2, {GROUP}, to_apply=add",
                       f"""q = f32[3,4] multiply(chosen, s)
                           r0 = f32[3] reduce(q, zero), dimensions={{1}}, to_apply=add
                           r = f32[3] all-reduce(r0), channel_id=3, {GROUP}, to_apply=add
                           y = f32[3] subtract(log, r)""")
    yield from several("cross entropy by one-hot vectors", sequential, distributed, {"x": "Shard(1)", "t": "Replicate"}, {"y": "Replicate"},
                       {"classes not moved": ("compare(at, tb)", "compare(i, tb)"), "each rank's own sum": (f"all-reduce(d0), channel_id=2, {GROUP}, to_apply=add", "copy(d0)"),
                        "logits for what the maximum leaves": ("multiply(chosen, s)", "multiply(chosen, x)")}, assume=["t in [0, 8)"])


def rings():
    """A product whose rows come around a ring: each result goes to where its rows belong."""
    distributed = f"""x = f32[3,4] parameter(0)
                      w = f32[4,4] parameter(1)
                      nothing = f32[] constant(0)
                      {wide("room", "nothing", "6,4", "f32")}{offset(3)}
                      zero = s32[] constant(0)
                      p = f32[3,4] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
                      a = f32[6,4] dynamic-update-slice(room, p, o, zero)
                      x1 = f32[3,4] collective-permute(x), channel_id=1, source_target_pairs={{{{0,1}},{{1,0}}}}
                      one = s32[] constant(1)
                      two = s32[] constant(2)
                      next = s32[] add(number, one)
                      from = s32[] remainder(next, two)
                      o1 = s32[] multiply(from, size)
                      p1 = f32[3,4] dot(x1, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
                      y = f32[6,4] dynamic-update-slice(a, p1, o1, zero)"""
    yield from several("a product around a ring", """x = f32[6,4] parameter(0)
                                                     w = f32[4,8] parameter(1)
                                                     y = f32[6,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}""", distributed,
                       {"x": "Shard(0)", "w": "Shard(1)"}, {"y": "Shard(1)"},
                       {"to the wrong place": ("dynamic-update-slice(a, p1, o1, zero)", "dynamic-update-slice(a, p1, o, zero)"), "not sent on": ("dot(x1, w)", "dot(x, w)")})


def heads():
    """Columns for rows: an axis of its own is exchanged."""
    distributed = f"""x = f32[4,3,8] parameter(0)
                      r = f32[4,3,2,4] reshape(x)
                      rt = f32[2,4,3,4] transpose(r), dimensions={{2,0,1,3}}
                      a = f32[2,4,3,4] all-to-all(rt), channel_id=1, {GROUP}, dimensions={{0}}
                      at = f32[4,2,3,4] transpose(a), dimensions={{1,0,2,3}}
                      m = f32[4,6,4] reshape(at)
                      y = f32[4,6,4] tanh(m)"""
    yield from several("columns for rows", "x = f32[4,6,8] parameter(0)\ny = f32[4,6,8] tanh(x)", distributed, {"x": "Shard(1)"}, {"y": "Shard(2)"},
                       {"ranks behind rows": ("at = f32[4,2,3,4] transpose(a), dimensions={1,0,2,3}", "at = f32[4,3,2,4] transpose(a), dimensions={1,2,0,3}"),
                        "halves in turn": ("r = f32[4,3,2,4] reshape(x)\n                      rt = f32[2,4,3,4] transpose(r), dimensions={2,0,1,3}",
                                           "r = f32[4,3,4,2] reshape(x)\n                      rt = f32[2,4,3,4] transpose(r), dimensions={3,0,1,2}")})


def padded():
    """Five elements on two devices that have room for three each: the last place is masked."""
    def masked(rows, axis, shape):
        return f"""i = s32[{shape}] iota(), iota_dimension={axis}
                   {offset(3)}{wide("ob", "o", shape)}
                   at = s32[{shape}] add(i, ob)
                   count = s32[] constant({rows})
                   {wide("cb", "count", shape)}
                   k = pred[{shape}] compare(at, cb), direction=LT"""
    sums = f"""x = f32[3,4] parameter(0)
               zero = f32[] constant(0)
               {masked(5, 0, "3")}
               kb = pred[3,4] broadcast(k), dimensions={{0}}
               {wide("zb", "zero", "3,4", "f32")}
               s = f32[3,4] select(kb, x, zb)
               r = f32[4] reduce(s, zero), dimensions={{0}}, to_apply=add
               y = f32[4] all-reduce(r), channel_id=1, {GROUP}, to_apply=add"""
    yield from several("sums of padded rows", "x = f32[5,4] parameter(0)\nzero = f32[] constant(0)\ny = f32[4] reduce(x, zero), dimensions={0}, to_apply=add", sums,
                       {"x": '"concat(r0.x, slice(r1.x; 0, 0, 2); 0)"'}, {"y": "Replicate"},
                       {"padding not masked": ("select(kb, x, zb)", "select(kb, x, x)"), "one row too few": ("constant(5)", "constant(4)"), "offset left out": ("add(i, ob)", "add(i, i)")})
    whole = """x = f32[4,5] parameter(0)
               low = f32[] constant(-inf)
               zero = f32[] constant(0)
               m = f32[4] reduce(x, low), dimensions={1}, to_apply=more
               mb = f32[4,5] broadcast(m), dimensions={0}
               s = f32[4,5] subtract(x, mb)
               e = f32[4,5] exponential(s)
               d = f32[4] reduce(e, zero), dimensions={1}, to_apply=add
               db = f32[4,5] broadcast(d), dimensions={0}
               y = f32[4,5] divide(e, db)"""
    rows = f"""x = f32[4,3] parameter(0)
               low = f32[] constant(-inf)
               zero = f32[] constant(0)
               {masked(5, 1, "4,3")}
               {wide("lb", "low", "4,3", "f32")}{wide("zb", "zero", "4,3", "f32")}
               xm = f32[4,3] select(k, x, lb)
               m0 = f32[4] reduce(xm, low), dimensions={{1}}, to_apply=more
               m = f32[4] all-reduce(m0), channel_id=1, {GROUP}, to_apply=more
               mb = f32[4,3] broadcast(m), dimensions={{0}}
               s = f32[4,3] subtract(x, mb)
               e = f32[4,3] exponential(s)
               em = f32[4,3] select(k, e, zb)
               d0 = f32[4] reduce(em, zero), dimensions={{1}}, to_apply=add
               d = f32[4] all-reduce(d0), channel_id=2, {GROUP}, to_apply=add
               db = f32[4,3] broadcast(d), dimensions={{0}}
               y = f32[4,3] divide(e, db)"""
    part = '"concat(r0.%s, slice(r1.%s; 1, 0, 2); 1)"'
    yield from several("softmax of padded columns", whole, rows, {"x": part % ("x", "x")}, {"y": part % ("y", "y")},
                       {"padding in the sum": ("select(k, e, zb)", "select(k, e, e)"), "one column too few": ("constant(5)", "constant(4)")})


FIRST = """
best { v = f32[] parameter(0)  p = s32[] parameter(1)  w = f32[] parameter(2)  q = s32[] parameter(3)
  more = pred[] compare(v, w), direction=GT
  nan = pred[] compare(v, v), direction=NE
  first = pred[] or(more, nan)
  value = f32[] select(first, v, w)
  equal = pred[] compare(v, w), direction=EQ
  before = pred[] compare(p, q), direction=LT
  same = pred[] and(equal, before)
  taken = pred[] or(first, same)
  place = s32[] select(taken, p, q)
  ROOT both = (f32[], s32[]) tuple(value, place) }
"""


def greatest():
    """Places of the greatest, as jnp.argmax reduces values and places together; rows are cut."""
    def text(rows, axis=1):
        return f"""x = f32[{rows},6] parameter(0)
                   i = s32[{rows},6] iota(), iota_dimension={axis}
                   low = f32[] constant(-inf)
                   zero = s32[] constant(0)
                   r = (f32[{rows}], s32[{rows}]) reduce(x, i, low, zero), dimensions={{1}}, to_apply=best
                   y = s32[{rows}] get-tuple-element(r), index=1"""
    sequential = module(text(4), "", FIRST)
    for what, ours, fails in (("", text(2), ""), (", of other places", text(2, 0), "*"), (", of less", text(2).replace("parameter(0)", "parameter(0)\n                   x1 = f32[2,6] negate(x)").replace("reduce(x,", "reduce(x1,"), "*")):
        yield Pair(f"places of the greatest in rows{what}", sequential, module(ours, HEADER, FIRST), {"x": "Shard(0)"}, {"y": "Shard(0)"}, fails)


def partitioned():
    for kind in (vocabulary, losses, rings, heads, padded, greatest):
        yield from kind()
