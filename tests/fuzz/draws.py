#!/usr/bin/env python3
"""draws.py PROGRAM [--count N] [--seed S] [--variants N] [--keep FOLDER]: random programs with dropouts, each with a distributed version
(shards, replicas, micro-batches, calls in other orders) and versions of that with one mistake. Whether both compute the same, in
distribution, is decided by going through all masks; none that does not may be said to refine, and the right versions must be. (Where
several calls draw for one tensor, and have another order or each other's numbers on a rank, some are not proved; how many is printed.)
Ends with the line `N pairs: …`.

Calls of several ranks draw the same mask if they are the k-th of one operator on each and for one tensor; all others draw apart."""
import collections
import functools
import itertools
import json
import math
import random
import sys

sys.dont_write_bytecode = True
import dropouts  # noqa: E402
from checking import Pairs, arguments  # noqa: E402

LAYOUTS = [  # shards, micro-batches, replicas, rows
    (2, 1, 1, 1), (1, 2, 1, 1), (1, 1, 2, 2), (2, 2, 1, 1), (2, 1, 2, 1), (1, 2, 2, 1), (3, 1, 1, 1), (1, 1, 1, 2), (2, 1, 1, 2)]
MOST_DRAWN, MOST_BITS = 9, 11  # elements that a sequential program, and the ranks, draw
MOST = 1e6                     # elements beyond this are not compared
EQUAL, DIFFERENT = 1e-8, 1e-6
SAMPLES = 24                   # of inputs and masks, to find which operands are equal
FACTORS = 2                    # where characteristic functions are compared

# Calls that draw the same: their operator, number, probability, what is dropped, and their ranks.
Drawn = collections.namedtuple("Drawn", "kind site p columns ranks")


# ------------------------------------------------------------------------------------------------------------------ evaluation

# A value is a list of columns, one for each element, in the order of rows; a column holds the element for every choice of masks.

def widened(value, of, to, rows):
    if of == to:
        return value
    columns = range(to.columns)
    return [value[(0 if of.whole else row) * of.columns + (c if of.columns > 1 else 0)]
            for row in range(1 if to.whole else rows) for c in columns]


def by_row(value, columns):
    return [value[k:k + columns] for k in range(0, len(value), columns)]


ELEMENTWISE = {"tanh": lambda n, x: [math.tanh(a) for a in x], "scale": lambda n, x: [a * n for a in x],
               "add": lambda n, x, y: [a + b for a, b in zip(x, y)], "sub": lambda n, x, y: [a - b for a, b in zip(x, y)],
               "mul": lambda n, x, y: [a * b for a, b in zip(x, y)], "backward": lambda n, x, m: [n * a * b for a, b in zip(x, m)],
               "where": lambda n, m, x, y: [a if b else c for b, a, c in zip(m, x, y)], "not": lambda n, m: [1 - b for b in m],
               "spread": lambda n, x: x}


def added(columns):
    return [sum(several) for several in zip(*columns)]


def weights(query, keys):
    """Of attention, for one query: a column for each key."""
    scores = [[a * b for a, b in zip(query, key)] for key in keys]
    most = [max(several) for several in zip(*scores)]
    powers = [[math.exp(s - m) for s, m in zip(score, most)] for score in scores]
    totals = added(powers)
    return [[p / t for p, t in zip(power, totals)] for power in powers]


def dropped(columns, masks, p):
    return [[a * b / (1 - p) for a, b in zip(column, mask)] for column, mask in zip(columns, masks)]


def computed(call, operands, types, out, rows, draw):
    """What a call gives. types: of its operands; out: of its result; draw: the masks for what is dropped."""
    if call.kind in ("native_dropout", "dropout"):
        masks = draw(operands[0])
        return dropped(operands[0], masks, call.number), masks
    if call.kind == "attention":
        q, k, v = (by_row(x, of.columns) for x, of in zip(operands, types))
        found = [(weights(query, k[row]), v[row]) for row in range(len(q)) for query in q[row]]
        kept = dropped(flat := [w for ws, _ in found for w in ws], draw(flat), call.number)
        kept = by_row(kept, types[1].columns)
        return [added([[a * b for a, b in zip(w, x)] for w, x in zip(ws, values)]) for ws, (_, values) in zip(kept, found)], None
    if call.kind == "join":
        return [element for pair in zip(*operands) for element in pair], None
    if call.kind == "column":
        return operands[0][call.number::2], None
    if call.kind == "flip":
        return [c for row in by_row(operands[0], out.columns) for c in reversed(row)], None
    if call.kind == "fold":
        return [added(row) for row in by_row(operands[0], types[0].columns)], None
    if call.kind == "total":
        return [added(operands[0])], None
    wide = [widened(x, of, out, rows) for x, of in zip(operands, types)]
    return [ELEMENTWISE[call.kind](call.number, *elements) for elements in zip(*wide)], None


def run(programs, inputs, draw):
    """The values of every rank. draw(rank, site, call, columns): a mask for each of the columns."""
    values = [dict(own) for own in inputs]
    types = [program.types() for program in programs]
    sites, at = [program.numbers() for program in programs], [0] * len(programs)
    while any(k < len(program.calls) for k, program in zip(at, programs)):
        waiting = {}
        for rank, program in enumerate(programs):
            own, of = values[rank], types[rank]
            while at[rank] < len(program.calls) and (call := program.calls[at[rank]]).kind != "all_reduce":
                drawn = functools.partial(draw, rank, sites[rank][call.name], call)
                own[call.name], masks = computed(call, [own[n] for n in call.operands], [of[n] for n in call.operands], of[call.name],
                                                 program.rows, drawn)
                if call.kind == "native_dropout":
                    own[dropouts.mask_of(call.name)] = masks
                at[rank] += 1
            if at[rank] < len(program.calls):
                waiting[rank] = call
        for rank, call in waiting.items():
            members = programs[rank].group
            if all(member in waiting for member in members):
                summands = [values[member][waiting[member].operands[0]] for member in members]
                values[rank][call.name] = [added(elements) for elements in zip(*summands)]
                at[rank] += 1
    return values


# ------------------------------------------------------------------------------------------------------------------ distribution

class Masks:
    """Which calls draw the same, found on samples: their operands are equal there."""

    def __init__(self):
        self.drawn, self.of_call = [], {}  # the second: by rank and name a number in the first

    def sample(self, rank, site, call, columns):
        if (rank, call.name) not in self.of_call:
            same = (k for k, other in enumerate(self.drawn) if (other.kind, other.site, other.p) == (call.kind, site, call.number)
                    and rank not in other.ranks and close(other.columns, columns))
            number = next(same, len(self.drawn))
            if number == len(self.drawn):
                self.drawn.append(Drawn(call.kind, site, call.number, columns, set()))
            self.drawn[number].ranks.add(rank)
            self.of_call[rank, call.name] = number
        source = random.Random(self.of_call[rank, call.name])
        return [[source.randrange(2) if call.number else 1 for _ in column] for column in columns]

    def are_clear(self, programs):
        """Whether what is dropped is told apart by where it stands: no rows or parts are equal since what they are made of cancels out."""
        types, tensors = {program.rank: program.types() for program in programs}, collections.defaultdict(set)
        for (rank, name), number in self.of_call.items():
            columns, whole = self.drawn[number].columns, types[rank][name].whole
            rows = by_row(columns, len(columns) // (1 if whole else programs[rank].rows))
            if any(close(*two) for two in itertools.combinations(rows, 2)):
                return False
            tensors[number].add((name, None if whole else programs[rank].place))
        return all(len(same) == 1 for same in tensors.values())

    def bits(self):
        return sum(len(drawn.columns) for drawn in self.drawn if drawn.p)

    def all(self):
        """All choices of masks, as a function that `run` takes, and the probability of each."""
        bits = self.bits()
        left, masks, likely = iter(range(bits)), [], [1.0] * 2 ** bits
        for drawn in self.drawn:
            masks.append([bit(next(left), bits) if drawn.p else [1] * 2 ** bits for _ in drawn.columns])
            for mask in masks[-1] if drawn.p else []:
                likely = [a * (1 - drawn.p if kept else drawn.p) for a, kept in zip(likely, mask)]
        return lambda rank, site, call, columns: masks[self.of_call[rank, call.name]], likely


@functools.lru_cache(maxsize=None)
def bit(k, bits):
    return [w >> k & 1 for w in range(2 ** bits)]


def close(some, others):
    return len(some) == len(others) and all(
        abs(a - b) <= 1e-9 * (1 + abs(a)) for x, y in zip(some, others) for a, b in zip(x, y))


def distribution(programs, inputs, wanted, factors):
    """Of the elements `wanted`, a list of (rank, name), the characteristic function of their joint distribution at the factors; None:
    not known. (Two distributions of finitely many values that differ do so at almost all factors; unlike the values themselves, it
    can be compared up to rounding.) Each of the inputs' elements is a column of samples; in question is the first of them."""
    masks = Masks()
    run(programs, inputs, masks.sample)
    if masks.bits() > MOST_BITS or not masks.are_clear(programs):
        return None
    draw, likely = masks.all()
    first = [{name: [column[:1] * len(likely) for column in value] for name, value in own.items()} for own in inputs]
    values = run(programs, first, draw)
    elements = [column for rank, name in wanted for column in values[rank][name]]
    if any(max(map(abs, column)) > MOST for column in elements):
        return None
    angles = [added([[a * f for a in column] for column, f in zip(elements, chosen)]) for chosen in factors]
    return [sum(p * wave(a) for p, a in zip(likely, angle)) for angle in angles for wave in (math.cos, math.sin)]


class Judge:
    """Compares what ranks compute with a sequential program, on inputs that are drawn from the source."""

    def __init__(self, sequential, layout, source):
        self.sequential, self.layout = sequential, layout
        number = lambda: source.choice((-1, 1)) * source.uniform(0.3, 1.5)  # noqa: E731
        self.inputs = {name: [[number() for _ in range(SAMPLES)] for _ in range((1 if of.whole else layout.all_rows) * of.columns)]
                       for name, of in sequential.inputs.items()}
        # Every replica's elements are wanted beside each other, so that they must be equal.
        places = [(name, layout.places(name, sequential.types[name])) for name in sequential.outputs]
        wanted = [(0, name) for name, alternatives in places for _ in alternatives]
        self.wanted = [place for _, alternatives in places for joined in alternatives for place in joined]
        size = sum((1 if sequential.types[name].whole else layout.all_rows) * sequential.types[name].columns for _, name in wanted)
        self.factors = [[source.uniform(0.5, 2) for _ in range(size)] for _ in range(FACTORS)]
        self.expected = distribution([sequential.program(layout.all_rows)], [self.inputs], wanted, self.factors)

    def of_rank(self, rank):
        found = {}
        for name, of in self.sequential.inputs.items():
            for joined in self.layout.places(name, of):
                size = len(self.inputs[name]) // len(joined)
                found.update({part: self.inputs[name][k * size:(k + 1) * size] for k, (r, part) in enumerate(joined) if r == rank})
        return found

    def state(self, programs):
        """How the ranks' programs compute, or None: not known."""
        found = distribution(programs, [self.of_rank(program.rank) for program in programs], self.wanted, self.factors)
        if found is None or self.expected is None:
            return None
        worst = max(abs(a - b) for a, b in zip(found, self.expected))
        return "equal" if worst < EQUAL else "different" if worst > DIFFERENT else None

    def in_another_order(self, programs):
        """Whether several calls draw for one tensor, and ranks draw for it in another order, or by a call with the number that another
        of these calls has in the sequential program."""
        masks = Masks()
        run([self.sequential.program(self.layout.all_rows)], [self.inputs], masks.sample)
        for (first, a), (second, b) in itertools.combinations(((name, masks.drawn[k]) for (_, name), k in masks.of_call.items()), 2):
            if (a.kind, a.p) != (b.kind, b.p) or not close(a.columns, b.columns):
                continue
            parts = [self.layout.parts(name, self.sequential.types[name]) for name in (first, second)]
            for program, own in itertools.product(programs, zip(*parts)):
                numbers = program.numbers()
                found = [numbers[name] for name in own]
                if found[0] > found[1] or found[0] == b.site or found[1] == a.site:
                    return True
        return False


# ------------------------------------------------------------------------------------------------------------------ pairs

def sequential_program(source, layout):
    """One whose outputs depend on a dropout, and not on too many."""
    while True:
        found = dropouts.Sequential(source, layout.all_rows < 4)
        if found.bits(layout.all_rows) <= MOST_DRAWN and any(
                call.kind in dropouts.DRAWING for call in found.program(layout.all_rows).needed()):
            return found


def pairs(seed, variants):
    """(pair, how it computes, what it is counted as) for the programs of one seed."""
    source = random.Random(seed)
    layout = dropouts.Layout(*source.choice(LAYOUTS))
    sequential = sequential_program(source, layout)
    judge = Judge(sequential, layout, source)
    pair = dropouts.right(sequential, layout, source)
    state = judge.state(pair.programs)
    if state is None:
        return
    yield pair, state, "right, in another order" if judge.in_another_order(pair.programs) else "right"
    for _ in range(variants):
        changed = dropouts.mistake(pair, source)
        if changed is not None and (state := judge.state(changed.programs)) is not None:
            yield changed, state, state


def write(pair, folder):
    folder.mkdir(parents=True)
    (folder / "sequential.json").write_text(json.dumps(pair.sequential.program(pair.layout.all_rows).graph()))
    for program in pair.programs:
        (folder / f"r{program.rank}.json").write_text(json.dumps(program.graph()))
    (folder / "manifest.yaml").write_text(pair.manifest())


def complaint(label, state, verdict):
    if label.startswith("right") and state != "equal":
        return "the right version is not equal"
    if verdict not in ("refines", "unproved", "violates"):
        return "no verdict"
    if state == "different" and verdict == "refines":
        return "a mistake must not refine"
    if label == "right" and verdict != "refines":
        return "must refine"
    return ""


def main():
    options = arguments(__doc__, 3)
    checked = Pairs(options, lambda state, verdict: complaint(*state, verdict))
    for seed in range(options.seed, options.seed + options.count):
        for number, (pair, state, label) in enumerate(pairs(seed, options.variants)):
            write(pair, folder := checked.scratch / f"{seed}-{number}")
            checked.add(folder, (label, state), label, f" ({pair.layout}, {pair.what or 'right'})")
    return checked.end()


if __name__ == "__main__":
    sys.exit(main())
