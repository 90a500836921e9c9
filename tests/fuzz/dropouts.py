"""Random programs with dropouts, their distributed versions, and mistakes in those.

Tensors are rows of one or two columns: of shape [rows, columns, 1], so that attention takes them as they are. They are split by rows
among the ranks and micro-batches, or whole everywhere. A program is a list of calls; it is a graph once its shapes are known."""
import collections
import functools

# number: a probability, a factor or which column. after: a collective that comes before this one on all ranks.
Call = collections.namedtuple("Call", "name kind operands number after", defaults=(None, None))
Type = collections.namedtuple("Type", "whole columns truth", defaults=(False,))

PROBABILITIES = (0.5, 0.75)  # what is kept is scaled by a number that is exact
OPERATORS = {"native_dropout": "aten.native_dropout.default", "dropout": "aten.dropout.default",
             "attention": "aten.scaled_dot_product_attention.default", "backward": "aten.native_dropout_backward.default",
             "where": "aten.where.self", "not": "aten.logical_not.default", "tanh": "aten.tanh.default", "scale": "aten.mul.Scalar",
             "add": "aten.add.Tensor", "sub": "aten.sub.Tensor", "mul": "aten.mul.Tensor", "flip": "aten.flip.default",
             "spread": "aten.expand.default", "fold": "aten.sum.dim_IntList", "total": "aten.sum.dim_IntList",
             "join": "aten.cat.default", "column": "aten.slice.Tensor", "all_reduce": "_c10d_functional.all_reduce.default"}
DRAWING = ("native_dropout", "dropout", "attention")
BY_ROW = ("tanh", "scale", "flip", "spread", "fold", "join", "column")  # and of numbers alone


def mask_of(name):
    return f"{name}_mask"


def results(call):
    return (call.name, mask_of(call.name)) if call.kind == "native_dropout" else (call.name,)


def type_of(call, types):
    of = [types[name] for name in call.operands]
    if call.kind == "not":
        return of[0]
    if call.kind == "total":
        return Type(True, 1)
    columns = {"spread": 2, "join": 2, "fold": 1, "column": 1, "attention": of[0].columns}.get(call.kind) or max(t.columns for t in of)
    return Type(all(t.whole for t in of), columns)


def add_types(call, types):
    types[call.name] = type_of(call, types)
    if call.kind == "native_dropout":
        types[mask_of(call.name)] = types[call.name]._replace(truth=True)


class Program:
    """What the sequential program or a rank computes. inputs: their types by name; rows: of what is split; group: the
    ranks that hold one whole, in order."""

    def __init__(self, inputs, calls, outputs, rows, rank=0, ranks=1, group=(0,)):
        self.inputs, self.calls, self.outputs, self.rows = inputs, calls, outputs, rows
        self.rank, self.ranks, self.group, self.place = rank, ranks, group, group.index(rank)

    def types(self):
        types = dict(self.inputs)
        for call in self.calls:
            add_types(call, types)
        return types

    def numbers(self):
        """Of each call its number among those of its operator."""
        counts, found = collections.Counter(), {}
        for call in self.calls:
            counts[call.kind] += 1
            found[call.name] = counts[call.kind]
        return found

    def needed(self):
        """The calls that the outputs, and what is added up over ranks, are computed from."""
        names, found = {*self.outputs, *(call.name for call in self.calls if call.kind == "all_reduce")}, []
        for call in reversed(self.calls):
            if names.intersection(results(call)):
                names.update(call.operands)
                found.insert(0, call)
        return found

    def with_calls(self, calls):
        return Program(self.inputs, calls, self.outputs, self.rows, self.rank, self.ranks, self.group)

    def graph(self):
        types = self.types()
        described = lambda name: ([1 if types[name].whole else self.rows, types[name].columns, 1],  # noqa: E731
                                  "b8" if types[name].truth else "f32")
        nodes = [{"name": name, "op": "placeholder", "shape": described(name)[0], "dtype": "f32"} for name in self.inputs]
        for call in self.calls:
            shape, dtype = described(call.name)
            node = {"name": call.name, "op": OPERATORS[call.kind], "args": arguments(call, shape), "kwargs": {}, "shape": shape,
                    "dtype": dtype}
            if call.kind == "native_dropout":
                drawn = f"{call.name}_drawn"
                nodes.append({**node, "name": drawn, "shape": [shape, shape], "dtype": ["f32", "b8"]})
                nodes += [{**node, "name": name, "op": "operator.getitem", "args": [{"ref": drawn}, k], "dtype": described(name)[1]}
                          for k, name in enumerate(results(call))]
            else:
                nodes.append(node)
        return {"format": "entangle-graph", "version": 1, "name": "draws", "rank": self.rank, "world_size": self.ranks, "source": "pytorch",
                "groups": {"dp": list(self.group)}, "inputs": list(self.inputs), "outputs": self.outputs, "nodes": nodes}


def arguments(call, shape):
    refs, number = [{"ref": name} for name in call.operands], call.number
    if call.kind == "join":
        return [refs, 1]
    if call.kind == "column":
        return [*refs, 1, number, number + 1]
    more = {"native_dropout": [number, True], "dropout": [number, True], "attention": [None, number], "backward": [number],
            "scale": [number], "flip": [[1]], "spread": [shape], "fold": [[1], True], "total": [[0, 1], True], "all_reduce": ["sum", "dp"]}
    return refs + more.get(call.kind, [])


# ------------------------------------------------------------------------------------------------------------------ right programs

class Sequential:
    """A random program: types of its inputs, calls and outputs."""

    def __init__(self, source, wide):
        columns = lambda: source.choice((1, 1, 2)) if wide else 1  # noqa: E731
        self.inputs = {"x": Type(False, columns()), "y": Type(False, columns()), "b": Type(True, columns())}
        self.types, self.calls = dict(self.inputs), []
        for k in range(source.randint(2, 7)):
            call = self.next_call(f"t{k}", source, wide)
            self.calls.append(call)
            add_types(call, self.types)
        computed = [name for call in self.calls for name in results(call)]
        self.outputs = sorted({self.calls[-1].name, source.choice(computed)}, key=computed.index)

    def next_call(self, name, source, wide):
        again = [call.name for call in self.calls if call[1:] == self.calls[-1][1:]]
        if len(again) > 1 and source.random() < 0.6:  # what is drawn twice is used together
            return Call(name, source.choice(("add", "sub", "mul")), tuple(again[-2:]))
        return self.any_call(name, source, wide)

    def any_call(self, name, source, wide):
        types, draws = self.types, sum(call.kind in DRAWING for call in self.calls)
        masks = [t for t, of in types.items() if of.truth]
        pairs = [t for t, of in types.items() if of.columns == 2 and not of.truth]
        pick = functools.partial(self.late, source)
        kinds = ["tanh", "scale", "add", "sub", "mul", "total", *(["spread", "fold", "flip", "column", "join", "join"] if wide else [])]
        kinds += ["native_dropout"] * 3 + ["dropout"] + ["attention"] * 3 * bool(pairs) if draws < 3 else []
        kinds += ["backward", "where", "backward", "where", "not"] if masks else []
        kind, first = source.choice(kinds), pick()
        if kind in ("native_dropout", "dropout"):
            earlier = [call for call in self.calls if call.kind == kind]
            if earlier and source.random() < 0.5:
                return source.choice(earlier)._replace(name=name)
            return Call(name, kind, (first,), source.choice(PROBABILITIES))
        if kind == "attention":  # to one key alone it would be one
            key = source.choice(pairs)
            return Call(name, kind, (pick(lambda t: types[t].whole == types[key].whole), key, pick(lambda t: types[t] == types[key])),
                        source.choice(PROBABILITIES))
        if kind == "not":
            return Call(name, kind, (source.choice(masks),))
        if kind == "backward":
            mask = source.choice(masks)
            gradient = pick(lambda t: types[t] == types[mask]._replace(truth=False))  # what was dropped, at least
            return Call(name, kind, (gradient, mask), 1 / (1 - source.choice(PROBABILITIES)))
        if kind == "where":
            return Call(name, kind, (source.choice(masks), first, pick(lambda t: t != first)))
        if kind in ("add", "sub", "mul"):
            return Call(name, kind, (first, pick(lambda t: t != first or kind != "sub")))
        if kind == "total" and types[first].whole or kind in BY_ROW[2:] and (kind in ("spread", "join")) == (first in pairs):
            kind = "tanh"  # it would change nothing
        if kind == "join":
            return Call(name, kind, (first, source.choice((first, pick(lambda t: types[t] == types[first])))))
        return Call(name, kind, (first,), {"scale": source.choice((0.5, -1.5)), "column": source.randrange(2)}.get(kind))

    def late(self, source, fits=lambda t: True):
        """A tensor of numbers that fits, rather one of the last."""
        found = [t for t, of in self.types.items() if not of.truth and fits(t)]
        return source.choice(found + 3 * found[-2:])

    def bits(self, rows):
        """How many elements are dropped or not."""
        drawing = [(call.kind, [self.types[name] for name in call.operands]) for call in self.calls if call.kind in DRAWING]
        return sum((1 if of[0].whole else rows) * of[0].columns * (of[1].columns if kind == "attention" else 1) for kind, of in drawing)

    def program(self, rows):
        return Program(self.inputs, self.calls, self.outputs, rows)


class Layout:
    """shards times replicas are the ranks; each works in micro-batches of so many rows."""

    def __init__(self, shards, micro, replicas, rows=1):
        self.shards, self.micro, self.replicas, self.rows = shards, micro, replicas, rows
        self.ranks, self.all_rows = shards * replicas, shards * micro * rows

    def __str__(self):
        return f"{self.shards} shards, {self.micro} micro-batches, {self.replicas} replicas"

    def group(self, rank):
        first = rank - rank % self.shards
        return tuple(range(first, first + self.shards))

    def parts(self, name, type_):
        """Its tensors on one rank."""
        return [name] if type_.whole else [part_of(name, m) for m in range(self.micro)]

    def places(self, name, type_):
        """What it equals each of, as lists of (rank, name) to be joined."""
        if type_.whole:
            return [[(rank, name)] for rank in range(self.ranks)]
        return [[(rank, part) for rank in self.group(first) for part in self.parts(name, type_)]
                for first in range(0, self.ranks, self.shards)]


def part_of(name, m):
    return f"p{m}_{name}"


def calls_of_rank(sequential, layout):
    """All parts of one call after the other."""
    types, calls, reduced = sequential.types, [], None
    for call in sequential.calls:
        if all(types[name].whole for name in call.operands):
            calls.append(call)
            continue
        for m in range(layout.micro):
            operands = tuple(name if types[name].whole else part_of(name, m) for name in call.operands)
            calls.append(call._replace(name=part_of(call.name, m), operands=operands))
        if call.kind == "total":
            calls += added_up(call.name, layout, reduced)
            reduced = call.name
    return calls


def added_up(name, layout, after):
    """The calls that make a whole sum of those of the parts."""
    sums, calls = part_of(name, 0), []
    for m in range(1, layout.micro):
        calls.append(Call(f"{name}_up_to_{m}", "add", (sums, part_of(name, m))))
        sums = calls[-1].name
    if layout.shards > 1:
        return [*calls, Call(name, "all_reduce", (sums,), None, after)]
    return [*calls, Call(name, "scale", (sums,), 1.0)]


def ordered(calls, priority):
    """The calls so that each comes after what it uses, those with small priority first; None: they use each other."""
    made = {name for call in calls for name in results(call)}
    left, done, result = sorted(calls, key=lambda call: priority[call.name]), set(), []
    while left:
        ready = next((c for c in left if all(n in done or n not in made for n in (*c.operands, c.after))), None)
        if ready is None:
            return None
        left.remove(ready)
        result.append(ready)
        done.update(results(ready))
    return result


class Pair:
    """A sequential program and the programs of the ranks, with a mistake if `what` says so."""

    def __init__(self, sequential, layout, programs, what=None):
        self.sequential, self.layout, self.programs, self.what = sequential, layout, programs, what

    def listed(self, name):
        """As in a manifest."""
        found = []
        for places in self.layout.places(name, self.sequential.types[name]):
            names = [f"r{rank}.{part}" for rank, part in places]
            found.append(names[0] if len(names) == 1 else f'"concat({", ".join(names)}; 0)"')
        return f"[{', '.join(found)}]"

    def equal_parts(self):
        """Of what replicas hold in parts: each is equal, not just what they make together."""
        for name, of in self.sequential.inputs.items():
            if not of.whole and self.layout.micro * self.layout.shards > 1:
                first, *others = self.layout.places(name, of)
                yield from (f"r{a}.{p} == r{b}.{q}" for joined in others for (a, p), (b, q) in zip(first, joined))

    def manifest(self):
        equal = [f'  - "{text}"' for text in self.equal_parts()]
        return "\n".join(["sequential: sequential.json", "distributed: r{rank}.json", f"ranks: {self.layout.ranks}",
                          *(["assume:", *equal] if equal else []),
                          "inputs:", *(f"  {name}: {self.listed(name)}" for name in self.sequential.inputs),
                          "expect:", *(f"  {name}: {self.listed(name)}" for name in self.sequential.outputs)]) + "\n"


def share_draws(sequential, layout):
    """Whether ranks draw for one tensor."""
    return layout.replicas > 1 or layout.ranks > 1 and any(
        call.kind in DRAWING and sequential.types[call.name].whole for call in sequential.calls)


def right(sequential, layout, source):
    """Every order of the calls is right, but that calls for which ranks share a seed come in one order on these ranks."""
    calls = calls_of_rank(sequential, layout)
    inputs = {part: of for name, of in sequential.inputs.items() for part in layout.parts(name, of)}
    outputs = [part for name in sequential.outputs for part in layout.parts(name, sequential.types[name])]
    programs = []
    for rank in range(layout.ranks):
        if not programs or not share_draws(sequential, layout):
            priority = random_priority(calls, source)
        programs.append(Program(inputs, ordered(calls, priority), outputs, layout.rows, rank, layout.ranks, layout.group(rank)))
    return Pair(sequential, layout, programs)


def random_priority(calls, source):
    """As the calls stand, part by part, or at random."""
    way = source.choice(("as they stand", "by part", "at random", "at random"))
    if way == "at random":
        return {call.name: source.random() for call in calls}
    return {call.name: (way == "by part" and call.name.split("_")[0], k) for k, call in enumerate(calls)}


# ------------------------------------------------------------------------------------------------------------------ mistakes

ABOUT_CALLS = ("one call for two", "a shared mask", "drawn again", "dropped early", "dropped late")


class Edits:
    """All mistakes in what the outputs of a program are computed from, as (kind, where, calls)."""

    def __init__(self, program):
        self.calls, self.needed, self.types = program.calls, program.needed(), program.types()
        self.by_name = {call.name: call for call in self.calls}
        self.drawing = {call.name: call for call in self.needed if call.kind in DRAWING}
        self.uses = collections.Counter([*program.outputs, *(name for call in self.calls for name in call.operands)])

    def __iter__(self):
        for call in self.needed:
            yield from self.of_operands(call)
            yield from self.of_operator(call)
            yield from self.of_rearranged(call)
            if call.kind in DRAWING:
                yield from self.of_masks(call)

    def changed(self, call, *new):
        """With others in place of a call."""
        at = self.calls.index(call)
        return self.calls[:at] + list(new) + self.calls[at + 1:]

    def of_operands(self, call):
        for k, operand in enumerate(call.operands):
            for other in self.types:
                if other != operand and self.types[other] == self.types[operand] and other not in results(call):
                    kind = "another mask" if self.types[other].truth else "another operand"
                    yield kind, f"{call.name} of {other} for {operand}", self.changed(call, with_operand(call, k, other))
            drawn = self.drawing.get(operand.removesuffix("_mask"))
            if drawn and sum(self.uses[name] for name in results(drawn)) > 1:
                again = drawn._replace(name=f"{drawn.name}_again")
                new = again.name if operand == drawn.name else mask_of(again.name)
                yield "drawn again", f"{operand} for {call.name}", self.changed(call, again, with_operand(call, k, new))
        if call.kind in ("where", "sub"):
            *mask, x, y = call.operands
            yield "operands exchanged", call.name, self.changed(call, call._replace(operands=(*mask, y, x)))

    def of_operator(self, call):
        if call.kind in ("backward", "scale"):
            yield "another factor", call.name, self.changed(call, call._replace(number=2 * call.number))
        if call.kind == "column":
            yield "another column", call.name, self.changed(call, call._replace(number=1 - call.number))
        if call.kind == "all_reduce":
            yield "no collective", call.name, self.changed(call, call._replace(kind="scale", number=1.0))
        for p in (0.0, *PROBABILITIES) if call.kind in DRAWING else ():
            if p != call.number:
                yield "another probability", f"{call.name}: {p}", self.changed(call, call._replace(number=p))

    def of_rearranged(self, call):
        """A dropout after what comes after it, or before what comes before it."""
        before = self.by_name.get(call.operands[0])
        if before is None:
            return
        if call.kind in BY_ROW and before.kind in ("native_dropout", "dropout"):
            operands = tuple(before.operands[0] if name == before.name else name for name in call.operands)
            late = call._replace(name=f"{call.name}_undropped", operands=operands)
            yield "dropped late", call.name, self.changed(call, late, before._replace(name=call.name, operands=(late.name,)))
        if call.kind in ("native_dropout", "dropout") and before.kind in BY_ROW and not self.uses[mask_of(call.name)]:
            early = {name: call._replace(name=f"{name}_{call.name}", operands=(name,)) for name in before.operands}
            operands = tuple(early[name].name for name in before.operands)
            yield "dropped early", call.name, self.changed(call, *early.values(), before._replace(name=call.name, operands=operands))

    def of_masks(self, call):
        for other in self.drawing.values():
            where = f"{call.name} and {other.name}"
            if other == call or self.types[other.name] != self.types[call.name] or other.kind != call.kind:
                continue
            if call.kind == "native_dropout":  # sees the mask of the other, and does not draw
                masked = Call(call.name, "backward", (*call.operands, mask_of(other.name)), 1 / (1 - call.number))
                yield "a shared mask", where, renamed(self.changed(call, masked), {mask_of(call.name): mask_of(other.name)})
            if other.operands == call.operands:
                yield "one call for two", where, renamed(self.calls, dict(zip(results(call), results(other))))


def with_operand(call, k, operand):
    return call._replace(operands=(*call.operands[:k], operand, *call.operands[k + 1:]))


def renamed(calls, names):
    return [call._replace(operands=tuple(names.get(n, n) for n in call.operands)) for call in calls]


def drawn_in_order(calls):
    return [call.name for call in calls if call.kind in DRAWING]


def mistake(pair, source):
    """The pair with one mistake, on one rank or on all of them, with all calls or those that are needed; None: it makes no program."""
    rank = source.randrange(pair.layout.ranks)
    kinds = collections.defaultdict(list)
    for kind, where, _ in Edits(pair.programs[rank]):
        kinds[kind].append(where)
    if share_draws(pair.sequential, pair.layout):
        kinds["another order"].append("")
    kind = source.choices(list(kinds), weights=[5 if kind in ABOUT_CALLS else 1 for kind in kinds])[0]
    where = source.choice(kinds[kind])
    alone = kind == "another order" or kind != "no collective" and source.random() < 0.5
    all_calls, programs = source.random() < 0.5, []
    for r, program in enumerate(pair.programs):
        calls = program.calls
        if kind == "another order" and r == rank:
            calls = ordered(calls, {call.name: source.random() for call in calls})
            if drawn_in_order(calls) == drawn_in_order(program.calls):
                return None
        elif r == rank or not alone:
            calls = next(calls for k, w, calls in Edits(program) if (k, w) == (kind, where))
            calls = ordered(calls, {call.name: k for k, call in enumerate(calls)})
        if calls is None or any(name not in program.with_calls(calls).types() for name in program.outputs):
            return None
        programs.append(program.with_calls(calls if all_calls else program.with_calls(calls).needed()))
    return Pair(pair.sequential, pair.layout, programs, f"{kind}: {where}{f' on rank {rank}' if alone else ''}")
