#!/usr/bin/env python3
"""values.py EVALUATE: modules of HLO text compute what XLA's definitions say, in numbers (the program of tests/tools/evaluate.cpp).

A module is run by one device or by several, with random operands; PyTorch computes what must come out. Skipped (exit code 77) where no
Python has PyTorch."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pytorch"))
import available  # noqa: E402

if (code := available.elsewhere()) is not None:
    sys.exit(code)
import harness  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

TYPES = {torch.float64: "f64", torch.float32: "f32", torch.int64: "s64", torch.int32: "s32", torch.bool: "pred"}
REDUCERS = """
add { a = f64[] parameter(0)  b = f64[] parameter(1)  ROOT c = f64[] add(a, b) }
maximum { a = f64[] parameter(0)  b = f64[] parameter(1)  ROOT c = f64[] maximum(b, a) }
minimum { a = f64[] parameter(0)  b = f64[] parameter(1)  ROOT c = f64[] minimum(a, b) }
multiply { a = f64[] parameter(0)  b = f64[] parameter(1)  ROOT c = f64[] multiply(a, b) }
or { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] or(a, b) }
and { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] and(a, b) }
either { a = pred[] parameter(0)  b = pred[] parameter(1)  ROOT c = pred[] maximum(a, b) }
latest { a = f64[] parameter(0)  ROOT b = f64[] parameter(1) }
less { a = f64[] parameter(0)  b = f64[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT, type=FLOAT }
greater { a = f64[] parameter(0)  b = f64[] parameter(1)  c = f64[] parameter(2)  d = f64[] parameter(3)
  ROOT e = pred[] compare(b, a), direction=LT }
at_least { a = f64[] parameter(0)  b = f64[] parameter(1)  ROOT c = pred[] compare(a, b), direction=GE }
"""


def real(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def type_of(tensor):
    return f"{TYPES[tensor.dtype]}[{','.join(map(str, tensor.shape))}]"


class Cases:
    def __init__(self):
        self.jobs, self.expected, self.names = [], [], []

    def add(self, body, results, header="", others="", **operands):
        """A module whose parameters are the operands, in order; its last instruction is the root. `results`: a tensor, or several.
        Operands and results that are lists are those of several devices."""
        ranks = next((len(v) for v in operands.values() if isinstance(v, list)), 1)
        of = lambda value, rank: value[rank] if isinstance(value, list) else value  # noqa: E731
        parameters = [f"{name} = {type_of(of(value, 0))} parameter({k})" for k, (name, value) in enumerate(operands.items())]
        lines = [line.strip() for line in body.strip().splitlines()]
        lines[-1] = "ROOT " + lines[-1]
        text = f"HloModule m{header}\n{REDUCERS}{others}\nENTRY main {{\n  " + "\n  ".join(parameters + lines) + "\n}\n"
        self.jobs.append({"graphs": [text] * ranks,
                          "inputs": [{name: harness.flattened(of(value, rank)) for name, value in operands.items()} for rank in range(ranks)]})
        self.expected.append([of(results, rank) for rank in range(ranks)])
        self.names.append(lines[-1])

    def run(self, program):
        failed = 0
        for name, expected, answer in zip(self.names, self.expected, harness.evaluate(program, self.jobs)):
            wrong = [answer["error"]] if "error" in answer else []
            wrong += [answer["mismatch"]] if answer.get("mismatch") else []
            wrong += [f"opaque: {answer['opaque']}"] if answer.get("opaque") else []
            for rank, outputs in enumerate(answer.get("results", [])):
                found = [result for results in outputs.values() for result in results]
                right = expected[rank] if isinstance(expected[rank], tuple) else (expected[rank],)
                if len(found) != len(right):
                    wrong.append(f"{len(found)} results")
                wrong += [f"rank {rank}: {what}" for what in map(harness.compare, found, right) if what]
            failed += bool(wrong)
            if wrong:
                print(f"FAIL {name}: {'; '.join(wrong)}")
        print(f"{len(self.jobs) - failed} passed, {failed} failed")
        return 1 if failed else 0


def pointwise(c):
    x, y = real(2, 3), real(2, 3)
    p = x.abs() + 0.5
    for op, f in (("add", torch.add), ("subtract", torch.sub), ("multiply", torch.mul), ("divide", torch.div), ("maximum", torch.maximum),
                  ("minimum", torch.minimum), ("atan2", torch.atan2), ("remainder", torch.fmod)):
        c.add(f"r = f64[2,3] {op}(x, y)", f(x, y), x=x, y=y)
    for op, f in (("abs", torch.abs), ("ceil", torch.ceil), ("cosine", torch.cos), ("erf", torch.erf), ("exponential", torch.exp),
                  ("exponential-minus-one", torch.expm1), ("floor", torch.floor), ("logistic", torch.sigmoid), ("negate", torch.neg),
                  ("round-nearest-even", torch.round), ("sign", torch.sign), ("sine", torch.sin), ("tan", torch.tan), ("tanh", torch.tanh),
                  ("is-finite", torch.isfinite), ("copy", lambda t: t)):
        result = f(x)
        c.add(f"r = {type_of(result)}{{1,0}} {op}(f64[2,3] %x)", result, x=x)
    for op, f in (("log", torch.log), ("log-plus-one", torch.log1p), ("rsqrt", torch.rsqrt), ("sqrt", torch.sqrt), ("cbrt", lambda t: t ** (1 / 3))):
        c.add(f"r = f64[2,3] {op}(p)", f(p), p=p)
    for direction, f in (("EQ", torch.eq), ("NE", torch.ne), ("GE", torch.ge), ("GT", torch.gt), ("LE", torch.le), ("LT", torch.lt)):
        i, j = torch.randint(0, 3, (2, 3)), torch.randint(0, 3, (2, 3))
        c.add(f"r = pred[2,3] compare(i, j), direction={direction}", f(i, j), i=i, j=j)
    m = x > 0
    c.add("r = f64[2,3] select(m, x, y)", torch.where(m, x, y), m=m, x=x, y=y)
    c.add("k = pred[] constant(false)\nr = f64[2,3] select(k, x, y)", y, x=x, y=y)
    c.add("a = f64[] constant(-0.5)\nb = f64[] constant(0.25)\nr = f64[2,3] clamp(a, x, b)", x.clamp(-0.5, 0.25), x=x)
    c.add("r = f32[2,3] convert(x)", x.float(), x=x)
    c.add("r = s32[2,3] convert(x)", x.trunc().int(), x=x)
    c.add("r = f64[2,3] convert(m)", m.double(), m=m)
    c.add("u = u32[] constant(5)\ns = u32[] constant(1)\nt = u32[] shift-right-logical(u, s)\nr = s32[] convert(t)", torch.tensor(2, dtype=torch.int32))


def layout(c):
    x, v = real(2, 3, 4), real(3)
    c.add("r = f64[2,3,4] broadcast(v), dimensions={1}", v[None, :, None].expand(2, 3, 4), v=v)
    c.add("k = f64[] constant(2.5)\nr = f64[2] broadcast(k), dimensions={}", torch.full((2,), 2.5, dtype=torch.float64))
    c.add("r = f64[2,12] reshape(x)", x.reshape(2, 12), x=x)
    c.add("r = f64[4,2,3]{0,1,2} transpose(x), dimensions={2,0,1}", x.permute(2, 0, 1), x=x)
    c.add("r = f64[2,3,4] reverse(x), dimensions={0,2}", x.flip(0, 2), x=x)
    c.add("r = f64[1,3,2] slice(x), slice={[1:2], [0:3], [1:4:2]}", x[1:2, :, 1:4:2], x=x)
    c.add("r = f64[2,3,8] concatenate(x, x), dimensions={2}", torch.cat([x, x], 2), x=x)
    c.add("r = s32[2,3] iota(), iota_dimension=1", torch.arange(3, dtype=torch.int32)[None].expand(2, 3))
    spread = torch.full((2, 5, 4), 7.0, dtype=torch.float64)
    spread[:, ::2] = x
    c.add("k = f64[] constant(7)\nr = f64[2,7,3] pad(x, k), padding=0_0x1_1_1x-1_0", F.pad(spread[:, :, 1:], [0, 0, 1, 1], value=7.0), x=x)
    for i in (0, 1, 5, -2):
        at = max(0, min(i, 1))
        c.add(f"z = s32[] constant(0)\ni = s32[] constant({i})\nr = f64[2,2,4] dynamic-slice(x, z, i, z), dynamic_slice_sizes={{2,2,4}}",
              x[:, at:at + 2], x=x)
        updated = x.clone()
        updated[:, at:at + 2] = 1.0
        c.add(f"z = s32[] constant(0)\ni = s32[] constant({i})\no = f64[] constant(1)\nu = f64[2,2,4] broadcast(o), dimensions={{}}\n"
              "r = f64[2,3,4] dynamic-update-slice(x, u, z, i, z)", updated, x=x)
    y = real(2, 6)
    c.add("r = f64[3,4]{1,0} bitcast(y)", y.reshape(3, 4), y=y)
    c.add("t = f64[6,2]{0,1} transpose(y), dimensions={1,0}\nr = f64[2,6]{1,0} bitcast(t)", y, y=y)  # the same memory
    c.add("t = f64[2,6]{0,1} copy(y)\nr = f64[3,4]{1,0} bitcast(t)", y.T.reshape(3, 4), y=y)
    c.add("r = f64[4,3]{0,1} bitcast(y)", y.reshape(3, 4).T, y=y)


def contractions(c):
    x, y = real(5, 2, 3), real(5, 3, 4)
    c.add("r = f64[5,2,4] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}", x @ y, x=x, y=y)
    a, b = real(3, 2), real(3, 4)
    c.add("r = f64[2,4] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}", a.T @ b, a=a, b=b)
    table, index = real(6, 3), torch.tensor([[4], [0], [9]])
    c.add("r = f64[3,3] gather(table, index), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
          "slice_sizes={1,3}", table[[4, 0, 5]], table=table, index=index)
    u, places = real(2, 3), torch.tensor([[4], [1]])
    for reducer, f in (("add", lambda old, new: old + new), ("latest", lambda old, new: new), ("maximum", torch.maximum)):
        result = table.clone()
        result[[4, 1]] = f(result[[4, 1]], u)
        c.add("r = f64[6,3] scatter(table, places, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
              f"index_vector_dim=1, to_apply={reducer}", result, table=table, places=places, u=u)
    n, k = real(2, 5, 5, 3), real(3, 3, 3, 4)
    conv = F.conv2d(n.permute(0, 3, 1, 2), k.permute(3, 2, 0, 1), stride=2, padding=1).permute(0, 2, 3, 1)
    c.add("r = f64[2,3,3,4] convolution(n, k), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f", conv, n=n, k=k)
    s, w = real(2, 4, 7), real(6, 2, 3)
    c.add("r = f64[2,6,5] convolution(s, w), window={size=3 rhs_reversal=1}, dim_labels=bf0_oi0->bf0, feature_group_count=2",
          F.conv1d(s, w.flip(2), groups=2), s=s, w=w)


def reductions(c):
    x = real(2, 3, 4)
    for reducer, start, f in (("add", "0", lambda t: t.sum(1)), ("maximum", "-inf", lambda t: t.amax(1)), ("minimum", "inf", lambda t: t.amin(1)),
                              ("multiply", "1", lambda t: t.prod(1))):
        c.add(f"k = f64[] constant({start})\nr = f64[2,4] reduce(x, k), dimensions={{1}}, to_apply={reducer}", f(x), x=x)
    # What it starts with takes part.
    for reducer, f in (("add", lambda t: 0.5 + t.sum((0, 2))), ("maximum", lambda t: t.amax((0, 2)).clamp(min=0.5)), ("minimum", lambda t: t.amin((0, 2)).clamp(max=0.5)),
                       ("multiply", lambda t: 0.5 * t.prod(2).prod(0))):
        c.add(f"k = f64[] constant(0.5)\nr = f64[3] reduce(x, k), dimensions={{0,2}}, to_apply={reducer}", f(x), x=x)
    m = torch.rand(4, 3) < 0.4
    for reducer, start, f in (("or", "false", torch.any), ("and", "true", torch.all), ("either", "false", torch.any)):
        c.add(f"k = pred[] constant({start})\nr = pred[3] reduce(m, k), dimensions={{0}}, to_apply={reducer}", f(m, 0), m=m)
    row = real(8)
    c.add("k = f64[] constant(0)\nr = f64[3] reduce-window(row, k), window={size=3 stride=2}, to_apply=add", row.unfold(0, 3, 2).sum(1), row=row)
    c.add("k = f64[] constant(-inf)\nr = f64[4] reduce-window(row, k), window={size=3 stride=2 pad=0_1}, to_apply=maximum",
          F.pad(row, [0, 1], value=-float("inf")).unfold(0, 3, 2).amax(1), row=row)
    c.add("r = f64[8] sort(row), dimensions={0}, to_apply=less", row.sort()[0], row=row)
    order = row.argsort(descending=True)
    other = real(8)
    c.add("r = (f64[8], f64[8]) sort(row, other), dimensions={0}, to_apply=greater", (row[order], other[order]), row=row, other=other)
    values, places = F.max_pool1d(row[None, None], 2, 2, return_indices=True)
    dy = real(4)
    c.add("k = f64[] constant(0)\nr = f64[8] select-and-scatter(row, dy, k), window={size=2 stride=2}, select=at_least, scatter=add",
          torch.zeros(8, dtype=torch.float64).scatter(0, places[0, 0], dy), row=row, dy=dy)


def whole_numbers(c):
    """Truths and whole numbers, where operators take them."""
    m, n = torch.rand(4, 3) < 0.5, torch.rand(4, 3) < 0.5
    for direction, f in (("EQ", torch.eq), ("NE", torch.ne), ("GT", torch.gt), ("LE", torch.le), ("LT", torch.lt), ("GE", torch.ge)):
        c.add(f"r = pred[4,3] compare(m, n), direction={direction}", f(m.int(), n.int()), m=m, n=n)
    for op, f in (("and", torch.logical_and), ("or", torch.logical_or), ("xor", torch.logical_xor), ("add", torch.logical_or), ("multiply", torch.logical_and),
                  ("maximum", torch.logical_or), ("minimum", torch.logical_and)):
        c.add(f"r = pred[4,3] {op}(m, n)", f(m, n), m=m, n=n)
    c.add("r = pred[4,3] not(m)", ~m, m=m)
    c.add("r = pred[3,4] transpose(m), dimensions={1,0}", m.T, m=m)
    c.add("k = pred[] constant(true)\nr = pred[5,3] pad(m, k), padding=1_0x0_0", F.pad(m, [0, 0, 1, 0], value=True), m=m)
    c.add("i = s32[] constant(1)\nz = s32[] constant(0)\nr = pred[2,3] dynamic-slice(m, i, z), dynamic_slice_sizes={2,3}", m[1:3], m=m)
    c.add("r = pred[8,3] concatenate(m, n), dimensions={0}", torch.cat([m, n]), m=m, n=n)
    index = torch.tensor([[2], [0]])
    c.add("r = pred[2,3] gather(m, index), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}", m[[2, 0]],
          m=m, index=index)
    i, j = torch.randint(-5, 6, (4, 3), dtype=torch.int32), torch.randint(1, 5, (4, 3), dtype=torch.int32)
    for op, f in (("divide", lambda a, b: torch.div(a, b, rounding_mode="trunc")), ("remainder", torch.fmod), ("add", torch.add), ("subtract", torch.sub),
                  ("maximum", torch.maximum), ("minimum", torch.minimum), ("and", torch.bitwise_and), ("or", torch.bitwise_or), ("xor", torch.bitwise_xor),
                  ("shift-left", torch.bitwise_left_shift), ("shift-right-arithmetic", torch.bitwise_right_shift)):
        c.add(f"r = s32[4,3] {op}(i, j)", f(i, j), i=i, j=j)
    for op, f in (("abs", torch.abs), ("negate", torch.neg), ("sign", torch.sign), ("not", torch.bitwise_not)):
        c.add(f"r = s32[4,3] {op}(i)", f(i), i=i)
    reducers = "".join(f"{op}_s32 {{ a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] {op}(a, b) }}\n"
                       for op in ("add", "maximum", "minimum", "multiply"))
    for op, start, f in (("add", "0", lambda t: t.sum(1)), ("maximum", "-2147483648", lambda t: t.amax(1)), ("minimum", "2147483647", lambda t: t.amin(1)),
                         ("multiply", "1", lambda t: t.prod(1)), ("maximum", "3", lambda t: t.amax(1).clamp(min=3))):
        c.add(f"k = s32[] constant({start})\nr = s32[4] reduce(i, k), dimensions={{1}}, to_apply={op}_s32", f(i).int(), others=reducers, i=i)
    c.add("k = s32[] constant(0)\nr = s32[2,3] reduce-window(i, k), window={size=3x1 stride=1x1}, to_apply=add_s32", i.unfold(0, 3, 1).sum(2).int(),
          others=reducers, i=i)
    c.add("k = s32[] constant(-2147483648)\nr = s32[4,3] reduce-window(i, k), window={size=3x1 pad=1_1x0_0}, to_apply=maximum_s32",
          F.pad(i, [0, 0, 1, 1], value=-100).unfold(0, 3, 1).amax(2), others=reducers, i=i)
    c.add("r = s32[4,4] dot(i, i), lhs_contracting_dims={1}, rhs_contracting_dims={1}", i @ i.T, i=i)
    c.add("a = s32[] constant(-1)\nb = s32[] constant(2)\nr = s32[4,3] clamp(a, i, b)", i.clamp(-1, 2), i=i)


def structure(c):
    x = real(4)
    others = """
fused { p = f64[4] parameter(0)  q = f64[4] parameter(1)  s = f64[4] sine(p)  a = f64[4] add(s, q)  ROOT t = (f64[4], f64[4]) tuple(a, s) }
swap { p = (f64[4], f64[4]) parameter(0)  a = f64[4] get-tuple-element(p), index=0  b = f64[4] get-tuple-element(p), index=1
  ROOT t = (f64[4], f64[4]) tuple(b, a) }
"""
    c.add("f = (f64[4], f64[4]) fusion(x, x), kind=kLoop, calls=fused\nr = (f64[4], f64[4]) call(f), to_apply=swap", (x.sin(), x.sin() + x), others=others, x=x)
    c.add("f = (f64[4], f64[4]) fusion(x, x), kind=kLoop, calls=fused\ng = f64[4] get-tuple-element(f), index=0\nr = f64[4] negate(g)",
          -(x.sin() + x), others=others, x=x)
    for q in (True, False):
        c.add("r = f64[4] conditional(q, x, x), true_computation=up, false_computation=down", x.sin() if q else -x,
              others="up { p = f64[4] parameter(0)  ROOT r = f64[4] sine(p) }\ndown { p = f64[4] parameter(0)  ROOT r = f64[4] negate(p) }\n",
              q=torch.tensor(q), x=x)
    c.add("k = f64[4] constant({1, -2.5, 1e+2, 0})\nr = f64[4] add(x, k)", x + torch.tensor([1, -2.5, 100, 0], dtype=torch.float64), x=x)
    c.add("k = f64[2,2] constant({ { 1, 2 }, { /*i0=1*/ 3, 4 } })\nr = f64[2,2] negate(k)", -torch.tensor([[1, 2], [3, 4]], dtype=torch.float64))


def devices(c):
    xs = [real(4, 2) for _ in range(4)]
    ids = lambda *numbers: [torch.tensor(n) for n in numbers]  # noqa: E731
    for header, partitions, replicas in ((", num_partitions=4", (0, 1, 2, 3), (0, 0, 0, 0)), (", replica_count=4", (0, 0, 0, 0), (0, 1, 2, 3)),
                                         (", replica_count=2, num_partitions=2", (0, 1, 0, 1), (0, 0, 1, 1))):
        for op, numbers in (("partition-id", partitions), ("replica-id", replicas)):
            c.add(f"i = u32[] {op}()\nr = s64[] convert(i)", ids(*numbers), header=header, x=xs)
    mesh = ", replica_count=2, num_partitions=2"
    sums = lambda groups: [sum(xs[k] for k in next(g for g in groups if r in g)) for r in range(4)]  # noqa: E731
    for attributes, groups in (("replica_groups={{0,1}}", [[0, 2], [1, 3]]), ("replica_groups={{0},{1}}", [[0], [1], [2], [3]]),
                               ("channel_id=1, replica_groups={{0},{1}}", [[0, 1], [2, 3]]), ("channel_id=1, replica_groups={{0,1}}", [[0, 1, 2, 3]]),
                               ("channel_id=1, use_global_device_ids=true, replica_groups={{0,3},{1,2}}", [[0, 3], [1, 2]]),
                               ("channel_id=1, use_global_device_ids=true, replica_groups=[2,2]<=[4]", [[0, 1], [2, 3]]),
                               ("channel_id=1, use_global_device_ids=true, replica_groups=[2,2]<=[2,2]T(1,0)", [[0, 2], [1, 3]])):
        c.add(f"r = f64[4,2] all-reduce(x), {attributes}, to_apply=add", sums(groups), header=mesh, x=xs)
        if all(len(g) == 2 for g in groups):
            gathered = [torch.cat([xs[k] for k in next(g for g in groups if r in g)]) for r in range(4)]
            c.add(f"s = (f64[4,2], f64[8,2]) all-gather-start(x), dimensions={{0}}, {attributes}\nr = f64[8,2] all-gather-done(s)", gathered, header=mesh, x=xs)
            place = [next(g for g in groups if r in g).index(r) for r in range(4)]
            c.add(f"r = f64[2,2] reduce-scatter(x), dimensions={{0}}, {attributes}, to_apply=add",
                  [total.chunk(2)[place[r]] for r, total in enumerate(sums(groups))], header=mesh, x=xs)
    one = ", num_partitions=4"
    c.add("r = f64[4,2] all-to-all(x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}",
          [torch.stack([x[r] for x in xs]) for r in range(4)], header=one, x=xs)
    c.add("r = f64[4,2] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,0}}",
          [xs[2], xs[0], xs[1], torch.zeros(4, 2, dtype=torch.float64)], header=one, x=xs)
    whole = real(8, 2)
    # How the partitioner takes this device's share: from a table of offsets.
    c.add("i = u32[] partition-id()\nt = s32[4] constant({0, 2, 4, 6})\no = s32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}\n"
          "at = s32[] reshape(o)\nz = s32[] constant(0)\nr = f64[2,2] dynamic-slice(w, at, z), dynamic_slice_sizes={2,2}",
          [whole[2 * r:2 * r + 2] for r in range(4)], header=one, w=[whole] * 4)
    c.add("i = u32[] partition-id()\nc = s32[] convert(i)\nk = s32[] constant(2)\nat = s32[] multiply(c, k)\nz = s32[] constant(0)\n"
          "r = f64[2,2] dynamic-slice(w, at, z), dynamic_slice_sizes={2,2}", [whole[2 * r:2 * r + 2] for r in range(4)], header=one, w=[whole] * 4)


def main():
    torch.manual_seed(5)
    cases = Cases()
    for group in (pointwise, layout, contractions, reductions, whole_numbers, structure, devices):
        group(cases)
    return cases.run(sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
