#!/usr/bin/env python3
"""sizes.py PROGRAM [--count N] [--seed S] [--variants N] [--keep FOLDER]: random programs over tensors of any size, `s0` at least 4, that cut,
join, pick and turn them at places such as `s0-1`, `2*s0` or the largest number, and versions with these places changed. PyTorch says for some
sizes which of them compute the same, and none that does not may be said to refine; the others are good input, too. Skipped (exit code 77) where
no Python has PyTorch. Ends with the line `N pairs: …`."""
import collections
import json
import pathlib
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pytorch"))
import available  # noqa: E402

if (code := available.elsewhere()) is not None:
    sys.exit(code)
import torch  # noqa: E402
from checking import Pairs, arguments  # noqa: E402

SIZES = range(4, 9)  # those that are tried


class Size(collections.namedtuple("Size", "times plus")):
    """times * s0 + plus"""

    def at(self, size):
        return self.times * size + self.plus

    def __str__(self):
        return f"{self.times}*s0{self.plus:+}" if self.times else str(self.plus)


def linear(values):
    """The size with these values, or None."""
    times = values[1] - values[0]
    result = Size(times, values[0] - times * SIZES[0])
    return result if [result.at(s) for s in SIZES] == list(values) else None


INPUTS = {"x": [Size(1, 0), Size(0, 4)], "v": [Size(1, 0)]}
LAST = Size(0, 2**63 - 1)
PLACES = [Size(0, k) for k in (0, 1, 2, 3, 4, -1, -2, -4, 2**63 - 2, -(2**63))] + [LAST] + [
    Size(times, plus) for times, plus in ((1, 0), (1, -1), (1, -2), (1, -3), (1, 1), (2, 0), (2, -1), (-1, 0), (-1, 1), (-1, 2))]


def place(source):
    return source.choice(PLACES)


# For each operator its arguments, of a tensor's name, one of its axes, and another tensor's name.
OPERATORS = {
    "aten.neg.default": lambda source, x, d, y: [x],
    "aten.exp.default": lambda source, x, d, y: [x],
    "aten.slice.Tensor": lambda source, x, d, y: [x, d, place(source), place(source)],
    "aten.select.int": lambda source, x, d, y: [x, d, place(source)],
    "aten.narrow.default": lambda source, x, d, y: [x, d, place(source), place(source)],
    "aten.roll.default": lambda source, x, d, y: [x, [place(source)], [d]],
    "aten.constant_pad_nd.default": lambda source, x, d, y: [x, [place(source), place(source)], 0.5],
    "aten.flip.default": lambda source, x, d, y: [x, [d]],
    "aten.cumsum.default": lambda source, x, d, y: [x, d],
    "aten.sum.dim_IntList": lambda source, x, d, y: [x, [d]],
    "aten.transpose.int": lambda source, x, d, y: [x, d, 0],
    "aten.cat.default": lambda source, x, d, y: [[x, y], d],
    "aten.mul.Tensor": lambda source, x, d, y: [x, y],
    "aten.mm.default": lambda source, x, d, y: [x, y],
}
PLACED = [op for op, make in OPERATORS.items() if any(code == "place" for code in make.__code__.co_names)]


class Program:
    """Nodes (name, operator, arguments), and what they compute for each of SIZES."""

    def __init__(self):
        self.nodes, self.shapes, self.values = [], dict(INPUTS), []
        for size in SIZES:
            random_numbers = torch.Generator().manual_seed(size)
            self.values.append({name: torch.rand([n.at(size) for n in shape], generator=random_numbers, dtype=torch.float64)
                                for name, shape in INPUTS.items()})

    def add(self, name, op, args):
        """False where PyTorch refuses it for one of the sizes, or the shape is none that can be written."""
        function = getattr(getattr(torch.ops.aten, op.split(".")[1]), op.split(".")[2])

        def given(argument, size, values):
            if isinstance(argument, list):
                return [given(one, size, values) for one in argument]
            return argument.at(size) if isinstance(argument, Size) else values.get(argument, argument) if isinstance(argument, str) else argument
        try:
            results = [function(*given(args, size, values)) for size, values in zip(SIZES, self.values)]
        except (RuntimeError, IndexError, OverflowError):
            return False
        shapes = [linear(sizes) for sizes in zip(*(result.shape for result in results))]
        if None in shapes or any(result.numel() not in range(1, 2000) for result in results):
            return False
        for values, result in zip(self.values, results):
            values[name] = result
        self.nodes.append((name, op, args))
        self.shapes[name] = shapes
        return True

    def graph(self):
        def written(argument):
            if isinstance(argument, list):
                return [written(one) for one in argument]
            if isinstance(argument, Size):
                return str(argument) if argument.times else argument.plus
            return {"ref": argument} if isinstance(argument, str) else argument

        def typed(name):
            return {"name": name, "shape": [str(n) if n.times else n.plus for n in self.shapes[name]], "dtype": "f64"}
        nodes = [{**typed(name), "op": "placeholder"} for name in INPUTS]
        nodes += [{**typed(name), "op": op, "args": written(args)} for name, op, args in self.nodes]
        return json.dumps({"format": "entangle-graph", "version": 1, "name": "sizes", "source": "pytorch", "inputs": list(INPUTS),
                           "outputs": [self.nodes[-1][0]], "nodes": nodes})

    def equals(self, other):
        name = self.nodes[-1][0]
        return all(torch.allclose(a[name], b[name], equal_nan=True) for a, b in zip(self.values, other.values))


def sequential(source):
    program = Program()
    for _ in range(source.randint(4, 12)):
        ranked = [name for name, shape in program.shapes.items() if shape]
        x, y = source.choice(ranked[-4:]), source.choice(ranked)
        op = source.choice(list(OPERATORS))
        axis = source.randrange(len(program.shapes[x]))
        program.add(f"t{len(program.nodes)}", op, OPERATORS[op](source, x, axis, y))
    return program if any(op in PLACED for _, op, _ in program.nodes) else None


def changed(program, source):
    """The program with other places at one node, or None where no such has the same shapes."""
    at = source.choice([k for k, (_, op, _) in enumerate(program.nodes) if op in PLACED])

    def other(argument):
        if isinstance(argument, list):
            return [other(one) for one in argument]
        return place(source) if isinstance(argument, Size) and source.random() < 0.7 else argument
    result = Program()
    for k, (name, op, args) in enumerate(program.nodes):
        if not result.add(name, op, other(args) if k == at else args) or result.shapes[name] != program.shapes[name]:
            return None
    return result if result.nodes != program.nodes else None


def write(program, rank, folder):
    folder.mkdir(parents=True)
    (folder / "s.json").write_text(program.graph())
    (folder / "r.json").write_text(rank.graph())
    relations = "".join(f"  {name}: r0.{name}\n" for name in INPUTS)
    output = program.nodes[-1][0]
    (folder / "manifest.yaml").write_text(f'sequential: s.json\ndistributed: r.json\nranks: 1\nassume:\n  - "s0 >= {SIZES[0]}"\n'
                                          f"inputs:\n{relations}expect:\n  {output}: r0.{output}\n")


def complaint(state, verdict):
    if verdict not in ("refines", "unproved", "violates"):
        return "no verdict"
    return "they differ" if state == "differs" and verdict == "refines" else ""


def main():
    options = arguments(__doc__, 12)
    checked = Pairs(options, complaint)
    for seed in range(options.seed, options.seed + options.count):
        source = random.Random(seed)
        program = sequential(source)
        for number in range(options.variants if program else 0):
            rank = changed(program, source)
            if rank is not None:
                state = "equal" if rank.equals(program) else "differs"
                write(program, rank, folder := checked.scratch / f"{seed}-{number}")
                checked.add(folder, state, state)
    return checked.end()


if __name__ == "__main__":
    sys.exit(main())
