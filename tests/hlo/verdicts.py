#!/usr/bin/env python3
"""verdicts.py PROGRAM [PATTERN] [--keep FOLDER]: what `PROGRAM check` says of programs in HLO text, right and wrong.

The examples of examples/hlo, by the second line of their manifests, and the pairs below: a sequential module, a module that all ranks run
(or one for each), how inputs and outputs are laid out, and the verdict: nothing where it must refine, else the instruction (`a|b`: either)
at which it may be reported, or `*`. Ends with the line `N passed, N failed`."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERDICTS = {0: "refines", 1: "violates", 3: "unproved"}
REDUCERS = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
more { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] maximum(a, b) }
first { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] copy(a) }
times { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] multiply(a, b) }
either { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] or(a, b) }
both { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] and(a, b) }
"""


def module(body, header="", others=""):
    lines = [line.strip() for line in body.strip().splitlines()]
    lines[-1] = "ROOT " + lines[-1]
    return f"HloModule m{header}\n{REDUCERS}{others}\nENTRY main {{\n  " + "\n  ".join(lines) + "\n}\n"


class Pair:
    """`distributed`: one module, or a list of them. `fails`: "" where it refines."""

    def __init__(self, name, sequential, distributed, inputs, expect, fails="", verdict=None, ranks=2, rules="", opaque=(), assume=()):
        self.name, self.sequential, self.distributed, self.inputs, self.expect = name, sequential, distributed, inputs, expect
        self.fails, self.verdict, self.ranks, self.rules, self.opaque, self.assume = fails, verdict, ranks, rules, opaque, assume

    def write(self, folder):
        (folder / "s.hlo").write_text(self.sequential)
        several = isinstance(self.distributed, list)
        for rank, text in enumerate(self.distributed if several else [self.distributed]):
            (folder / (f"d.r{rank}.hlo" if several else "d.hlo")).write_text(text)
        lines = ["sequential: s.hlo", f"distributed: {'d.r{rank}.hlo' if several else 'd.hlo'}", f"ranks: {self.ranks}"]
        if self.rules:
            (folder / "own.rules").write_text('include "aten.rules";\n' + self.rules)
            lines.append("rules: [own.rules]")
        if self.assume:
            lines += ["assume:"] + [f'  - "{fact}"' for fact in self.assume]
        for key, entries in (("inputs", self.inputs), ("expect", self.expect)):
            lines += [f"{key}:"] + [f'  "{name}": {placement}' for name, placement in entries.items()]
        manifest = folder / "m.yaml"
        manifest.write_text("\n".join(lines) + "\n")
        return manifest


def run(program, manifest):
    done = subprocess.run([program, "check", str(manifest), "--json", "-"], capture_output=True, text=True, timeout=300)
    if done.returncode not in VERDICTS:
        return f"exit code {done.returncode}: {done.stdout[:600]}{done.stderr[:600]}", None
    (result,) = json.loads(done.stdout)["results"]
    return VERDICTS[done.returncode], result


def complaint(pair, verdict, result):
    if result is None:
        return verdict
    if not pair.fails:
        if verdict != "refines":
            return f"{verdict} at {(result['failing'] or {}).get('tensor')}"
        found = sorted({text.split(":")[0] for text in result["opaque"]})
        return "" if found == sorted(pair.opaque) else f"refines, with nothing known of {found}"
    if verdict == "refines":
        return "REFINES, but the program is wrong"
    if pair.verdict and verdict != pair.verdict:
        return f"{verdict}, not {pair.verdict}"
    place = (result["failing"] or {}).get("tensor")
    return "" if pair.fails == "*" or place in pair.fails.split("|") else f"reported at {place}, not at {pair.fails}"


def examples():
    for manifest in sorted((ROOT / "examples" / "hlo").glob("*.yaml")):
        expected = manifest.read_text(encoding="utf-8").splitlines()[1]
        fails = re.fullmatch(r"# Expected: (?:refines|does not refine; the programs part ways at (\S+))\.", expected)
        assert fails, f"{manifest}: {expected}"
        yield manifest, fails.group(1) or ""


def products():
    sequential = module("""x = f32[4,8] parameter(0)
                           w = f32[8,6] parameter(1)
                           y = f32[4,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}""")

    def summed(collective, header=", num_partitions=2"):
        return module(f"""x = f32[4,4] parameter(0)
                          w = f32[4,6] parameter(1)
                          p = f32[4,6] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
                          y = f32[4,6] {collective}""", header)
    inner = {"x": "Shard(1)", "w": "Shard(0)"}
    everywhere = {"y": "Replicate"}
    for name, attributes, header in (
            ("devices", "channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}", ", num_partitions=2"),
            ("devices, counted", "channel_id=1, use_global_device_ids=true, replica_groups=[1,2]<=[2]", ", num_partitions=2"),
            ("replicas and partitions", "channel_id=1, replica_groups={}", ", num_partitions=2"), ("replicas", "replica_groups={}", ", replica_count=2"),
            ("replicas by the manifest", "replica_groups={{0,1}}", "")):
        yield Pair(f"summed over {name}", sequential, summed(f"all-reduce(p), {attributes}, to_apply=add", header), inner, everywhere)
    by_device = "channel_id=1, use_global_device_ids=true, replica_groups="
    yield Pair("each alone", sequential, summed(f"all-reduce(p), {by_device}{{{{0}},{{1}}}}, to_apply=add"), inner, everywhere, "y")
    yield Pair("partitions instead of replicas", sequential, summed("all-reduce(p), replica_groups={}, to_apply=add"), inner, everywhere, "y")
    yield Pair("greatest instead of sum", sequential, summed(f"all-reduce(p), {by_device}{{{{0,1}}}}, to_apply=more"), inner, everywhere, "y")
    yield Pair("the first instead of the sum", sequential, summed(f"all-reduce(p), {by_device}{{{{0,1}}}}, to_apply=first"), inner, everywhere, "y")
    yield Pair("nothing", sequential, summed("copy(p)"), inner, everywhere, "y")
    yield Pair("a sum that is permuted, not summed", sequential, summed("collective-permute(p), channel_id=1, source_target_pairs={{0,1},{1,0}}"), inner,
               everywhere, "y")
    files = [summed(f"all-reduce(p), {by_device}{{{{0,1}}}}, to_apply={op}") for op in ("add", "more")]
    yield Pair("a module for each rank", sequential, [files[0], files[0]], inner, everywhere)
    yield Pair("ranks that reduce differently", sequential, files, inner, everywhere, "*", "violates")
    channels = [files[0], files[0].replace("channel_id=1", "channel_id=2")]
    yield Pair("modules that communicate over the same channel", sequential, [channels[1], channels[1]], inner, everywhere)
    yield Pair("modules that communicate over different channels", sequential, channels, inner, everywhere, "*", "violates")
    scattered = module(f"""x = f32[4,4] parameter(0)
                          w = f32[4,6] parameter(1)
                          p = f32[4,6] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
                          s = ((f32[4,6]), f32[2,6]) reduce-scatter-start(p), {by_device}{{{{0,1}}}}, dimensions={{0}}, to_apply=add
                          y = f32[2,6] reduce-scatter-done(s)""", ", num_partitions=2")
    yield Pair("scattered sums", sequential, scattered, inner, {"y": "Shard(0)"})
    yield Pair("scattered sums in the other order", sequential, scattered.replace("{{0,1}}", "{{1,0}}"), inner, {"y": "Shard(0)"}, "y")


def mixed():
    """A rank in HLO text and one in JSON, whose groups have names of their own."""
    sequential = module("a = f32[4] parameter(0)\nb = f32[4] parameter(1)\ny = f32[4] add(a, b)")
    text = module("x = f32[4] parameter(0)\ny = f32[4] all-reduce(x), replica_groups={}, to_apply=add", ", replica_count=2")

    def other(groups, name="g", op="sum"):
        nodes = [{"name": "x", "op": "placeholder"}, {"name": "y", "op": "hlo.all_reduce", "args": [{"ref": "x"}, op], "kwargs": {"group": name}}]
        return json.dumps({"format": "entangle-graph", "version": 1, "name": "m", "rank": 1, "world_size": 2, "source": "pytorch", "groups": groups,
                           "inputs": ["x"], "outputs": ["y"], "nodes": [{**node, "shape": [4], "dtype": "f32"} for node in nodes]})
    inputs = {"a": "r0.x", "b": "r1.x"}
    for name, graph, fails in (("under another name", other({"g": [0, 1]}), ""), ("under the same name", other({"{{0,1}}": [0, 1]}, "{{0,1}}"), ""),
                               ("in another order", other({"g": [1, 0]}), "*"), ("with another reduction", other({"g": [0, 1]}, op="max"), "*"),
                               ("of two of the same ranks", other({"g": [0, 1], "h": [0, 1]}), "*"),
                               ("besides one under the same name", other({"g": [0, 1], "{{0,1}}": [0, 1]}), "*")):
        yield Pair(f"a group {name}", sequential, [text, graph], inputs, {"y": "Replicate"}, fails)


def meshes():
    # A training step: the gradient of w is summed over the rows of the batch.
    sequential = module("""x = f32[8,4] parameter(0)
                           g = f32[8,6] parameter(1)
                           y = f32[4,6] dot(x, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}""")

    def step(groups, header=", num_partitions=4"):
        return module(f"""x = f32[4,4] parameter(0)
                          g = f32[4,3] parameter(1)
                          p = f32[4,3] dot(x, g), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
                          y = f32[4,3] all-reduce(p), {groups}, to_apply=add""", header)
    inputs = {"x": '[ "concat(r0.x, r2.x; 0)", "concat(r1.x, r3.x; 0)" ]',
              "g": '"concat(concat(r0.g, r1.g; 1), concat(r2.g, r3.g; 1); 0)"'}
    expect = {"y": '[ "concat(r0.y, r1.y; 1)", "concat(r2.y, r3.y; 1)" ]'}
    device = "channel_id=1, use_global_device_ids=true, replica_groups="
    for name, groups, header, fails in (
            ("by device", device + "{{0,2},{1,3}}", ", num_partitions=4", ""), ("transposed", device + "[2,2]<=[2,2]T(1,0)", ", num_partitions=4", ""),
            ("over the other axis", device + "[2,2]<=[4]", ", num_partitions=4", "y"), ("replicas of partitions", "replica_groups={{0,1}}",
                                                                                        ", replica_count=2, num_partitions=2", ""),
            ("all partitions of replicas", "channel_id=1, replica_groups={{0},{1}}", ", replica_count=2, num_partitions=2", "y"),
            ("everybody", "channel_id=1, replica_groups={{0,1}}", ", replica_count=2, num_partitions=2", "y")):
        yield Pair(f"gradients, {name}", sequential, step(groups, header), inputs, expect, fails, ranks=4)


def shares():
    """A device finds its part by its number."""
    sequential = module("x = f32[8,4] parameter(0)\ny = f32[8,4] tanh(x)")

    def part(offsets):
        return module(f"""x = f32[8,4] parameter(0)
                          {offsets}
                          z = s32[] constant(0)
                          m = f32[2,4] dynamic-slice(x, at, z), dynamic_slice_sizes={{2,4}}
                          y = f32[2,4] tanh(m)""", ", num_partitions=4")
    table = """i = u32[] partition-id()
               t = s32[4] constant({%s})
               o = s32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}
               at = s32[] reshape(o)"""
    product = "i = u32[] %s()\nc = s32[] convert(i)\nk = s32[] constant(%s)\nat = s32[] multiply(c, k)"
    for name, offsets, fails in (("a table", table % "0, 2, 4, 6", ""), ("a product", product % ("partition-id", 2), ""), ("a wrong table", table % "0, 2, 6, 4", "y"),
                                 ("a wrong product", product % ("partition-id", 1), "y"), ("the number of the replica", product % ("replica-id", 2), "y")):
        yield Pair(f"rows by {name}", sequential, part(offsets), {"x": "Replicate"}, {"y": "Shard(0)"}, fails, ranks=4)


def unknowns():
    one = ", replica_count=2"
    x = "x = f32[4] parameter(0)\n"
    alike = lambda body, others="": (module(x + body, "", others), module(x + body, one, others), {"x": "Replicate"}, {"y": "Replicate"})  # noqa: E731
    yield Pair("the same unknown operator", *alike("y = f32[4] frobnicate(x), level=3"), opaque=["hlo.frobnicate"])
    yield Pair("an unknown operator with another attribute", module(x + "y = f32[4] frobnicate(x), level=3"), module(x + "y = f32[4] frobnicate(x), level=4", one),
               {"x": "Replicate"}, {"y": "Replicate"}, "y")
    yield Pair("an unknown attribute", module(x + "y = f32[4] negate(x)"), module(x + "y = f32[4] negate(x), twice=true", one), {"x": "Replicate"},
               {"y": "Replicate"}, "y")
    called = 'y = f32[4] custom-call(x), custom_call_target="k"'
    shadows = "FIRST { a = f32[] parameter(0)  ROOT b = f32[] copy(a) }\nSECOND { a = f32[] parameter(0)  ROOT b = f32[] copy(a) }"
    for name, ours, theirs in (("configuration", ', backend_config="1"', ', backend_config="01"'), ("configuration in words", ', backend_config="1"', ', backend_config="2-1"'),
                               ("attribute of the framework", ', frontend_attributes={mode="1"}', ', frontend_attributes={mode="2"}')):
        yield Pair(f"a custom call with another {name}", module(x + called + ours), module(x + called + theirs, one), {"x": "Replicate"}, {"y": "Replicate"}, "y")
    yield Pair("a custom call and an operator of its name", module(x + called), module(x + "y = f32[4] k(x)", one), {"x": "Replicate"}, {"y": "Replicate"}, "y")
    yield Pair("a custom call with what need not be written", module(x + called), module(x.replace("[4]", "[4]{0}") + called.replace("[4]", "[4]{0}") +
               ", operand_layout_constraints={f32[4]{0}}, frontend_attributes={}", one), {"x": "Replicate"}, {"y": "Replicate"}, opaque=["hlo.k"])
    for name, attribute in (("argument", "operand_layout_constraints={f32[4,4]{0,1}}"), ("result", "")):
        layout = "{1,0}" if attribute else "{0,1}"
        square = "x = f32[4,4] parameter(0)\ny = f32[4,4]%s custom-call(x), custom_call_target=\"k\""
        yield Pair(f"a custom call with another layout of its {name}", module(square % ""), module(square % layout + (", " + attribute if attribute else ""), one),
                   {"x": "Replicate"}, {"y": "Replicate"}, "y")
    yield Pair("words that computations happen to be called", module(x + "y = f32[4] frob(x), way=FIRST", "", shadows),
               module(x + "y = f32[4] frob(x), way=SECOND", one, shadows), {"x": "Replicate"}, {"y": "Replicate"}, "y")
    rows = "x = f32[4,4] parameter(0)\ni = u32[] partition-id()\nm = u32[] constant(%s)\nt = u32[] %s(i, m)\nz = u32[] constant(0)\n" \
           "y = f32[2,4] dynamic-slice(x, t, z), dynamic_slice_sizes={2,4}"
    for number, op, first, fails in (("4294967295", "add", 2, "*"), ("4294967295", "multiply", 2, "*"), ("2", "multiply", 0, "")):
        halves = "x = f32[4,4] parameter(0)\na = f32[2,4] slice(x), slice={[%d:%d], [0:4]}\nb = f32[2,4] slice(x), slice={[2:4], [0:4]}\n" \
                 "y = f32[4,4] concatenate(a, b), dimensions={0}" % (first, first + 2)
        yield Pair(f"rows at the place {op} {number}", module(halves), module(rows % (number, op), ", num_partitions=2"), {"x": "Replicate"}, {"y": "Shard(0)"}, fails)
    yield Pair("numbers drawn at random", *alike("a = f32[] constant(0)\nb = f32[] constant(1)\nr = f32[4] rng(a, b), distribution=rng_uniform\ny = f32[4] add(x, r)"),
               "*")
    bits = "s = u64[2] constant({1, 2})\nb = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry\nr = u32[4] get-tuple-element(b), index=1\n" \
           "f = f32[4] convert(r)\ny = f32[4] add(x, f)"
    yield Pair("random bits", *alike(bits), "*")
    for target in ("SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"):
        part = f'custom-call(%s), custom_call_target="{target}", sharding={{manual}}'
        shard = module(f"x = f32[4] parameter(0)\nt = f32[2] {part % 'x'}\nu = f32[2] all-reduce(t), channel_id=1, replica_groups={{{{0,1}}}}, "
                       "use_global_device_ids=true, to_apply=more\ny = f32[2] subtract(u, t)", ", num_partitions=2")
        yield Pair(f"{target}, which is taken for the same everywhere", module("x = f32[4] parameter(0)\nk = f32[] constant(0)\ny = f32[2] broadcast(k), dimensions={}"),
                   shard, {"x": "Replicate"}, {"y": "Replicate"}, "*")
        inside = "q = pred[] parameter(1)\ny = f32[2] conditional(q, x, x), true_computation=t, false_computation=f"
        bodies = f"t {{ v = f32[4] parameter(0) ROOT a = f32[2] {part % 'v'} }}\nf {{ v = f32[4] parameter(0) ROOT w = f32[2] slice(v), slice={{[0:2]}} }}\n"
        yield Pair(f"{target} in a branch", module(x + inside, "", bodies), module(x + inside, one, bodies), {"x": "Replicate", "q": "Replicate"},
                   {"y": "Replicate"}, "*")
    yield Pair("elided constants", *alike("c = f32[4] constant({...})\ny = f32[4] add(x, c)"), "*")
    yield Pair("constants that are no numbers", *alike("c = f32[] constant(nan)\nb = f32[4] broadcast(c), dimensions={}\ny = f32[4] add(x, b)"), "*")
    yield Pair("a side effect", *alike('y = f32[4] custom-call(x), custom_call_target="log", custom_call_has_side_effect=true'), "*")
    yield Pair("a custom call that communicates", *alike('y = f32[4] custom-call(x), custom_call_target="sum", replica_groups={{0}}'), "*")
    yield Pair("a size that is known at run time", *alike("n = s32[] constant(3)\ns = f32[<=4] set-dimension-size(x, n), dimensions={0}\ny = f32[<=4] negate(s)"), "*")
    body = """
step { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  v = f32[4] get-tuple-element(p), index=1
  o = s32[] constant(1)  j = s32[] add(i, o)  w = f32[4] %s  ROOT t = (s32[], f32[4]) tuple(j, w) }
goes { p = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  n = s32[] constant(9)  ROOT c = pred[] compare(i, n), direction=LT }
"""
    loop = "z = s32[] parameter(1)\np = (s32[], f32[4]) tuple(z, x)\nl = (s32[], f32[4]) while(p), condition=goes, body=step\ny = f32[4] get-tuple-element(l), index=1"
    both = {"x": "Replicate", "z": "Replicate"}
    for name, ours, theirs, fails in (("the same loop", "sine(v)", "sine(v)", ""), ("another loop", "sine(v)", "cosine(v)", "*"),
                                      ("a loop that communicates", *["all-reduce(v), replica_groups={}, to_apply=add"] * 2, "*"),
                                      ("a loop that draws", *["rng(v, v), distribution=rng_uniform"] * 2, "*")):
        yield Pair(name + " of unknown length", module(x + loop, "", body % ours), module(x + loop, one, body % theirs), both, {"y": "Replicate"}, fails,
                   opaque=[] if fails else ["hlo.while"])
    body = """
step { p = (s32[], f32[4,4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  v = f32[4,4] get-tuple-element(p), index=1
  o = s32[] constant(1)  j = s32[] add(i, o) c = f32[4,4]%s copy(v)  w = f32[4,4] bitcast(c)  ROOT t = (s32[], f32[4,4]) tuple(j, w) }
goes { p = (s32[], f32[4,4]) parameter(0)  i = s32[] get-tuple-element(p), index=0  n = s32[] constant(9)  ROOT c = pred[] compare(i, n), direction=LT }
"""
    loop = "x = f32[4,4] parameter(0)\nz = s32[] parameter(1)\np = (s32[], f32[4,4]) tuple(z, x)\n" \
           "l = (s32[], f32[4,4]) while(p), condition=goes, body=step\ny = f32[4,4] get-tuple-element(l), index=1"
    for name, ours, theirs, fails in (("another layout", "{1,0}", "{0,1}", "*"), ("the layout that is not written", "", "{1,0}", "")):
        yield Pair(f"a bitcast in a loop of unknown length with {name}", module(loop, "", body % ours), module(loop, one, body % theirs), both, {"y": "Replicate"}, fails,
                   opaque=[] if fails else ["hlo.while"])


def loops():
    """Layers in a loop over stacked weights, as jax.lax.scan has them."""
    def layers(inner, collective, header=""):
        body = f"""
body {{ p = (s32[], f32[4,6], f32[3,6,{inner}], f32[3,{inner},6]) parameter(0)
  i = s32[] get-tuple-element(p), index=0  x = f32[4,6] get-tuple-element(p), index=1
  u = f32[3,6,{inner}] get-tuple-element(p), index=2  d = f32[3,{inner},6] get-tuple-element(p), index=3
  o = s32[] constant(1)  j = s32[] add(i, o)  z = s32[] constant(0)
  negative = pred[] compare(i, z), direction=LT  k = s32[] constant(3)  turned = s32[] add(i, k)  at = s32[] select(negative, turned, i)
  us = f32[1,6,{inner}] dynamic-slice(u, at, z, z), dynamic_slice_sizes={{1,6,{inner}}}  um = f32[6,{inner}] reshape(us)
  ds = f32[1,{inner},6] dynamic-slice(d, at, z, z), dynamic_slice_sizes={{1,{inner},6}}  dm = f32[{inner},6] reshape(ds)
  h = f32[4,{inner}] dot(x, um), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}  a = f32[4,{inner}] tanh(h)
  s = f32[4,6] dot(a, dm), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}  r = f32[4,6] {collective}
  y = f32[4,6] add(x, r)  ROOT t = (s32[], f32[4,6], f32[3,6,{inner}], f32[3,{inner},6]) tuple(j, y, u, d) }}
goes {{ p = (s32[], f32[4,6], f32[3,6,{inner}], f32[3,{inner},6]) parameter(0)  i = s32[] get-tuple-element(p), index=0  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }}
"""
        return module(f"""x = f32[4,6] parameter(0)
                          u = f32[3,6,{inner}] parameter(1)
                          d = f32[3,{inner},6] parameter(2)
                          z = s32[] constant(0)
                          p = (s32[], f32[4,6], f32[3,6,{inner}], f32[3,{inner},6]) tuple(z, x, u, d)
                          l = (s32[], f32[4,6], f32[3,6,{inner}], f32[3,{inner},6]) while(p), condition=goes, body=body
                          y = f32[4,6] get-tuple-element(l), index=1""", header, body)
    layout = {"x": "Replicate", "u": "Shard(2)", "d": "Shard(1)"}
    sequential = layers(8, "copy(s)")
    yield Pair("layers in a loop", sequential, layers(4, "all-reduce(s), replica_groups={}, to_apply=add", ", replica_count=2"), layout, {"y": "Replicate"})
    yield Pair("layers in a loop without sums", sequential, layers(4, "copy(s)", ", replica_count=2"), layout, {"y": "Replicate"}, "l/0/y")


def numbers():
    one = ", replica_count=2"
    whole = {"x": "Replicate", "z": "Replicate"}
    u = "x = u32[4] parameter(0)\nz = u32[4] parameter(1)\n"
    yield Pair("unsigned numbers", module(u + "s = u32[4] add(x, z)\ny = f32[4] convert(s)"), module(u + "s = u32[4] add(z, x)\ny = f32[4] convert(s)", one), whole,
               {"y": "Replicate"})
    # x - z + z is x with a sign; without one, neither is known to be negative: the comparison is always false.
    yield Pair("an unsigned difference below zero", module(u + "o = u32[] constant(0)\nb = u32[4] broadcast(o), dimensions={}\nn = u32[4] not(x)\ny = pred[4] compare(n, b), "
               "direction=LT"), module("x = u32[4] parameter(0)\nz = u32[4] parameter(1)\no = pred[] constant(true)\ny = pred[4] broadcast(o), dimensions={}", one),
               whole, {"y": "Replicate"}, "n|b|y")
    f = "x = f32[4,3] parameter(0)\n"
    started = "k = f32[] constant(%s)\ny = f32[4] reduce(x, k), dimensions={1}, to_apply=%s"
    for name, ours, theirs, fails in (("the same start", ("0.5", "add"), ("0.5", "add"), ""), ("another start", ("0", "add"), ("1", "add"), "y"),
                                      ("a start that takes part", ("-inf", "more"), ("0", "more"), "y"), ("another reduction", ("0", "add"), ("0", "more"), "y")):
        yield Pair(f"a reduction with {name}", module(f + started % ours), module(f + started % theirs, one), {"x": "Replicate"}, {"y": "Replicate"}, fails)
    split = module("x = f32[4,3] parameter(0)\nk = f32[] constant(0)\ns = f32[4] reduce(x, k), dimensions={1}, to_apply=add\n"
                   "y = f32[4] all-reduce(s), replica_groups={}, to_apply=add", one)
    sums = module("x = f32[4,6] parameter(0)\nk = f32[] constant(%s)\ny = f32[4] reduce(x, k), dimensions={1}, to_apply=add")
    yield Pair("partial sums", sums % "0", split, {"x": "Shard(1)"}, {"y": "Replicate"})
    yield Pair("a start that is added on every rank", sums.replace("%s", "1"), split.replace("constant(0)", "constant(1)"), {"x": "Shard(1)"}, {"y": "Replicate"}, "*")
    memory = "x = f32[2,6]{%s} parameter(0)\nb = f32[3,4]{1,0} bitcast(x)\ny = f32[3,4] negate(b)"
    plain = "x = f32[2,6] parameter(0)\nb = f32[3,4] reshape(x)\ny = f32[3,4] negate(b)"
    yield Pair("a bitcast in order", module(plain), module(memory % "1,0", one), {"x": "Replicate"}, {"y": "Replicate"})
    yield Pair("a bitcast in another order", module(plain), module(memory % "0,1", one), {"x": "Replicate"}, {"y": "Replicate"}, "y|b")
    for name, ours, theirs, fails in (("a pad", "x = f32[1] parameter(0)\nk = f32[] constant(7)\ny = f32[2] pad(x, k), padding=-1_2", "7", ""),
                                      ("a pad with another value", "x = f32[1] parameter(0)\nk = f32[] constant(7)\ny = f32[2] pad(x, k), padding=-1_2", "6", "y"),
                                      ("a window", "x = f32[2] parameter(0)\nk = f32[] constant(0)\ny = f32[2] reduce-window(x, k), window={size=2 pad=-2_3}, "
                                       "to_apply=add", "0", "")):
        size = 1 if "pad(" in ours else 2
        yield Pair(f"{name} of which nothing is left", module(ours), module(f"x = f32[{size}] parameter(0)\nk = f32[] constant({theirs})\n"
                   "y = f32[2] broadcast(k), dimensions={}", one), {"x": "Replicate"}, {"y": "Replicate"}, fails)
    joined = module("m = pred[4] parameter(0)\ny = pred[4] all-reduce(m), replica_groups={}, to_apply=add", one)
    yield Pair("truths that are joined by a sum of numbers", module("a = pred[4] parameter(0)\nb = pred[4] parameter(1)\ny = pred[4] or(a, b)"), joined,
               {"a": "r0.m", "b": "r1.m"}, {"y": "Replicate"}, "y")
    for op in ("or", "and"):
        for reducer, fails in (("either", "" if op == "or" else "y"), ("both", "" if op == "and" else "y")):
            yield Pair(f"{op} of truths, joined by {reducer}", module(f"a = pred[4] parameter(0)\nb = pred[4] parameter(1)\ny = pred[4] {op}(a, b)"),
                       module(f"m = pred[4] parameter(0)\ny = pred[4] all-reduce(m), replica_groups={{}}, to_apply={reducer}", one), {"a": "r0.m", "b": "r1.m"},
                       {"y": "Replicate"}, fails)


def own_operators():
    call = 'x = f32[%d,4] parameter(0)\nw = f32[4] parameter(1)\ny = f32[%d,4] custom-call(x, w), custom_call_target="my_norm", backend_config="1"'
    rules = """
lower hlo.my_norm(x: tensor, w: tensor; backend_config: axis(x)):
  let s = bcast(reduce_sum(mul(x, x); backend_config); [backend_config], [x.shape[backend_config]]) in mul(div(x, s), bcast(w; [0], [x.shape[0]]));
"""
    layout = ({"x": "Shard(0)", "w": "Replicate"}, {"y": "Shard(0)"})
    pair = (module(call % (8, 8)), module(call % (4, 4), ", replica_count=2"))
    yield Pair("a custom call that rules describe", *pair, *layout, rules=rules)
    yield Pair("a custom call that nothing describes", *pair, *layout, "y")
    yield Pair("the same custom call on whole tensors", module(call % (8, 8)), module(call % (8, 8), ", replica_count=2"), {"x": "Replicate", "w": "Replicate"},
               {"y": "Replicate"}, opaque=["hlo.my_norm"])


def main(arguments):
    keep = pathlib.Path(arguments[arguments.index("--keep") + 1]) if "--keep" in arguments else None
    positional = [a for k, a in enumerate(arguments) if not a.startswith("--") and (k == 0 or arguments[k - 1] != "--keep")]
    program, pattern = str(pathlib.Path(positional[0]).resolve()), positional[1] if len(positional) > 1 else ""
    passed = failed = 0

    def judged(name, wrong):
        nonlocal passed, failed
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print(f"FAIL {name}: {wrong}" if wrong else f"ok   {name}")
    for manifest, fails in examples():
        if pattern in manifest.name:
            judged(manifest.name, complaint(Pair("", "", "", {}, {}, fails), *run(program, manifest)))
    sys.dont_write_bytecode = True
    from partitioned import partitioned
    groups = (products, mixed, meshes, shares, unknowns, loops, numbers, own_operators, partitioned)
    for number, pair in enumerate(p for group in groups for p in group()):
        if pattern not in pair.name:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = keep / str(number) if keep else pathlib.Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            judged(pair.name, complaint(pair, *run(program, pair.write(folder))))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
