"""Evaluates relations as a report spells them, `concat(slice(r0.x; 1, 0, 2), r1."y z"[1]; 1)`, on the values of a run.

Imported when examples/ is on the path."""
import json
import math
import pathlib
import re
import subprocess
import tempfile
from fractions import Fraction

from generator import numeric
from evaluate import cut, expand, join, permute, size, together, view

TOLERANCE = 1e-8

LEAF = re.compile(r'r(\d+)\.(?:"([^"]+)"|([\w.]+))(?:\[(\d+)\])?$')
CALL = re.compile(r"(\w+)\((.*)\)$", re.DOTALL)


def pieces(text, separator):
    """The parts of a text between separators that stand outside of brackets and quotes."""
    found, depth, quoted, begin = [], 0, False, 0
    for at, c in enumerate(text):
        quoted ^= c == '"'
        if not quoted:
            depth += (c in "([") - (c in ")]")
            if c == separator and depth == 0:
                found.append(text[begin:at].strip())
                begin = at + 1
    return [p for p in [*found, text[begin:].strip()] if p]


def number(text, symbols):
    """An attribute: a number, a size in symbols, a list of such, or a name."""
    if text.startswith("["):
        return [number(e, symbols) for e in pieces(text[1:-1], ",")]
    if re.fullmatch(r"-?\d+/\d+", text):
        return Fraction(text)
    if text in ("inf", "-inf"):
        return float(text)
    known = re.sub(r"r\d+\.\w+|\b[A-Za-z]\w*\b", lambda m: str(symbols[m.group()]) if m.group() in symbols else m.group(), text)
    known = known.replace("floordiv", "//").replace("mod", "%")
    return eval(known, {"__builtins__": {}}) if re.fullmatch(r"[\d\s()+*/%-]+", known) else text


def split(x, dim, inner):
    return view(x, (*x[0][:dim], x[0][dim] // inner, inner, *x[0][dim + 1:]))


def broadcast(x, axes, sizes):
    shape = list(x[0])
    for axis in axes:
        shape.insert(axis, 1)
    wide = list(shape)
    for axis, n in zip(axes, sizes):
        wide[axis] = n
    return expand(view(x, tuple(shape)), wide)


OPERATORS = {
    "concat": lambda *xs: join(xs[:-1], xs[-1]),
    "slice": cut,
    "transpose": permute,
    "merge": lambda x, dim: view(x, (*x[0][:dim], x[0][dim] * x[0][dim + 1], *x[0][dim + 2:])),
    "split": split,
    "squeeze": lambda x, dim: view(x, (*x[0][:dim], *x[0][dim + 1:])),
    "bcast": broadcast,
    "add_n": lambda *xs: together(lambda *es: math.fsum(es), *xs),
    "iota": lambda start, n, dtype: ((n,), list(range(start, start + n))),
    "const": lambda value, dtype: ((), [float(value)]),
    "lit": lambda values, dtype: ((len(values),), [float(v) for v in values]),
}


def symbols_of(sequential, ranks, given, held):
    """What the symbols in the types of the inputs are, by name."""
    found = {}
    for prefix, graph, inputs in [("", sequential, given), *((f"r{r}.", graph, held[r]) for r, graph in enumerate(ranks))]:
        rank = numeric.Rank(graph, inputs)
        for node in graph["nodes"]:
            if node["op"] == "placeholder" and node["name"] in inputs:
                rank.bind(node["shape"], inputs[node["name"]][0])
        found.update({prefix + name: n for name, n in rank.symbols.items()})
    return found


def tensor_of(values, name):
    picked = re.fullmatch(r"(.*)\[(\d+)\]", name)
    return values[picked.group(1)][int(picked.group(2))] if picked and name not in values else values[name]


def evaluate(text, values, symbols):
    """`values`: per rank the tensors by name."""
    leaf = LEAF.match(text)
    if leaf:
        value = tensor_of(values[int(leaf.group(1))], leaf.group(2) or leaf.group(3))
        return value if leaf.group(4) is None else value[int(leaf.group(4))]
    name, inside = CALL.match(text).groups()
    halves = pieces(inside, ";")
    operands = [] if inside.lstrip().startswith(";") else [evaluate(p, values, symbols) for p in pieces(halves[0], ",")]
    attributes = [number(p, symbols) for p in pieces(halves[-1], ",")] if len(halves) > 1 or not operands else []
    return OPERATORS[name](*operands, *attributes)


def leaves(text):
    """(rank, name) of every tensor in it, from the left."""
    leaf = LEAF.match(text)
    if leaf:
        return [(int(leaf.group(1)), leaf.group(2) or leaf.group(3))]
    halves = pieces(CALL.match(text).group(2), ";")
    return [found for p in pieces(halves[0], ",") for found in leaves(p)]


def difference(x, y):
    """The largest difference of an element; infinite for different shapes."""
    if tuple(x[0]) != tuple(y[0]) or len(x[1]) != size(x[0]):
        return math.inf
    return max((0.0 if a == b else abs(a - b) for a, b in zip(x[1], y[1])), default=0.0)


# --------------------------------------------------------------------------------------------------------------- reports

def report(program, manifest, seconds):
    """(exit code, report or None, what was printed) of a check with all relations."""
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name, "report.json")
        run = subprocess.run([program, "check", str(manifest), "--verbose", "--time-limit", str(seconds), "--json", str(file)],
                             capture_output=True, text=True, timeout=600)
        results = json.loads(file.read_text(encoding="utf-8")).get("results", []) if file.exists() else []
        return run.returncode, results[0] if results and "verdict" in results[0] else None, run.stdout + run.stderr


def wrong_relations(result, sequential, ranks, symbols):
    """(number of relations in a report, those that do not hold in the values of the two programs)"""
    found = [(r["tensor"], text) for r in result.get("relations", []) for text in r["relations"]]
    wrong = []
    for name, text in found:
        expected = tensor_of(sequential, name)
        if isinstance(expected, tuple):
            worst = difference(expected, evaluate(text, ranks, symbols))
            if not worst <= TOLERANCE:
                wrong.append(f"{name} is not {text}: they differ by {worst:.1e}")
    return len(found), wrong
