#!/usr/bin/env python3
"""mutations.py PROGRAM [--count N] [--seed S] [--only TEXT] [--jobs N] [--seconds S]: changes right distributed programs in one place,
runs both programs on random numbers, and demands that no version whose outputs differ from the sequential program's is said to refine, and
that every relation that is inferred holds.

The programs are those of examples/generate.py (the configurations of verdicts.py) and the shipped examples. A change is made on all ranks
or on one: a collective dropped or of another kind, pieces in another order, another axis, a scale, an offset, another operand, another
constant, another operator, programs exchanged. Ends with the line `N mutants: …`; 2,000 take about half an hour."""
import argparse
import concurrent.futures
import copy
import importlib.util
import json
import math
import pathlib
import random
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "examples"), str(ROOT / "examples")]
import evaluate  # noqa: E402
import make  # noqa: E402
from generator import numeric  # noqa: E402
from generator.strategies import Case, Config, completed  # noqa: E402

sys.path.insert(0, str(ROOT / "tests" / "generator"))
import expressions  # noqa: E402

def module(path):
    """Of several modules of one name the one there."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


parts = module(ROOT / "tests" / "examples" / "numeric.py").parts
verdicts = module(ROOT / "tests" / "generator" / "verdicts.py")
RIGHT, SMALL, describe = verdicts.RIGHT, verdicts.SMALL, verdicts.describe

DIFFERENT, EQUAL = 1e-6, 1e-9
BAD_INPUT = 2  # the exit code: some mutants are no graphs
MOST_RANKS = 5  # of generated programs: numbers in plain Python take their time


# -------------------------------------------------------------------------------------------------------------------- subjects

class Subject:
    """A right pair of programs: graphs, manifest, what each rank holds, and what it must have in the end (None: anything)."""

    def __init__(self, name, sequential, ranks, manifest, given, held, layouts, more=()):
        self.name, self.sequential, self.ranks, self.manifest, self.held, self.more = name, sequential, ranks, manifest, held, more
        self.values = numeric.run([sequential], [given])[0]
        self.expected = {output: parts_of(self.values[output]) for output, parts_of in layouts.items()}
        self.symbols = expressions.symbols_of(sequential, ranks, given, held)

    def run(self, graphs):
        """(values of each rank, the largest difference of an output); (None, infinite) where the ranks cannot run to their end."""
        try:
            values = numeric.run(graphs, self.held)
        except numeric.Undefined:
            return None, math.inf
        return values, max(numeric.difference(part, values[rank][name]) for name, per_rank in self.expected.items()
                           for rank, part in enumerate(per_rank) if part is not None)


def generated(options):
    config = completed(Config(**{**SMALL, **options}))
    reference, case = numeric.Reference(config), Case(config)
    sequential = numeric.graph_of(case.program())
    ranks = [numeric.graph_of(case.program(rank)) for rank in range(case.ranks)]
    held = [{name: numeric.part(layout, rank, reference.inputs[name]) for name, layout in case.inputs.items() if layout.held(rank)}
            for rank in range(case.ranks)]
    layouts = {name: lambda x, layout=layout: [numeric.part(layout, r, x) if layout.held(r) else None for r in range(case.ranks)]
               for name, layout in case.expected.items()}
    return Subject(describe(options), sequential, ranks, case.manifest("mutated"), reference.inputs, held, layouts)


def shipped(example):
    folder = ROOT / "examples" / example.folder
    load = lambda name: json.loads((folder / "graphs" / f"{name}.json").read_text(encoding="utf-8"))  # noqa: E731
    sequential = load(example.sequential)
    ranks = [load(f"{example.programs}/r{rank}") for rank in range(example.ranks)]
    source = random.Random(example.folder)
    held, given = [{} for _ in ranks], {}
    for node in sequential["nodes"]:
        if node["op"] == "placeholder":
            scale = max(node["shape"][-1], 4) ** -0.5 if len(node["shape"]) == 2 else 1.0
            x = given[node["name"]] = tuple(node["shape"]), [source.gauss(0, scale) for _ in range(evaluate.size(node["shape"]))]
            for rank, part in enumerate(parts(x, example.inputs[node["name"]], example.ranks)):
                held[rank][node["name"]] = part
    layouts = {name: lambda x, placement=placement: parts(x, placement, example.ranks) for name, placement in example.expect.items()}
    manifest = example.manifest().replace(f"graphs/{example.sequential}.json", "sequential.json")
    manifest = manifest.replace(f"graphs/{example.programs}/r{{rank}}.json", "r{rank}.json")
    rules = folder / example.rules
    more = [(example.rules, rules.read_text(encoding="utf-8"))] if rules.exists() else []
    return Subject(f"{example.folder}/{example.name}", sequential, ranks, manifest, given, held, layouts, more)


def makers():
    """(name, function that makes the subject)"""
    for options in RIGHT:
        if options.get("ranks", 2) <= MOST_RANKS:
            yield describe(options), lambda options=options: generated(options)
    for example in make.collection().examples:
        if example.fails_at is None:
            yield f"{example.folder}/{example.name}", lambda example=example: shipped(example)


# ------------------------------------------------------------------------------------------------------------------- mutations

def ref(name):
    return {"ref": name}


def node_like(node, name, op, *args, shape=None):
    return {**node, "name": name, "op": op, "args": list(args), "kwargs": {}, "shape": node["shape"] if shape is None else shape}


def changed(node, **parts_of_it):
    return [{**copy.deepcopy(node), **parts_of_it}]


def with_argument(node, place, value):
    args = list(node["args"])
    args[place] = value
    return changed(node, args=args)


def followed(node, build):
    """The node under another name, and what `build(ref to it)` makes of its result: (op, arguments)."""
    raw = node["name"] + "_before"
    op, *args = build(ref(raw))
    return [{**node, "name": raw}, node_like(node, node["name"], op, *args)]


def rotated(node, axis, step):
    """The elements along an axis moved by `step`, those at the end first."""
    raw, n = node["name"] + "_before", node["shape"][axis]
    sizes = lambda k: [k if d == axis else m for d, m in enumerate(node["shape"])]  # noqa: E731
    tail = node_like(node, node["name"] + "_tail", "aten.slice.Tensor", ref(raw), axis, step, n, shape=sizes(n - step))
    head = node_like(node, node["name"] + "_head", "aten.slice.Tensor", ref(raw), axis, 0, step, shape=sizes(step))
    return [{**node, "name": raw}, tail, head,
            node_like(node, node["name"], "aten.cat.default", [ref(tail["name"]), ref(head["name"])], axis)]


KINDS = {"sum": ("avg", "max"), "avg": ("sum", "max"), "max": ("sum", "avg")}
OTHER = {  # operators that take the same arguments
    "aten.add.Tensor": ["aten.sub.Tensor", "aten.mul.Tensor"], "aten.sub.Tensor": ["aten.add.Tensor"],
    "aten.mul.Tensor": ["aten.add.Tensor", "aten.div.Tensor"], "aten.div.Tensor": ["aten.mul.Tensor"],
    "aten.silu.default": ["aten.gelu.default", "aten.relu.default"], "aten.gelu.default": ["aten.silu.default"],
    "aten.relu.default": ["aten.clone.default", "aten.silu.default"], "aten.neg.default": ["aten.clone.default"],
    "aten.exp.default": ["aten.clone.default"], "aten.log.default": ["aten.clone.default"], "aten.rsqrt.default": ["aten.exp.default"],
    "aten.ge.Tensor": ["aten.lt.Tensor"], "aten.lt.Scalar": ["aten.ge.Scalar", "aten.eq.Scalar"], "aten.ge.Scalar": ["aten.lt.Scalar"],
    "aten.eq.Scalar": ["aten.ge.Scalar"], "aten.lt.Tensor": ["aten.ge.Tensor"], "aten.logical_not.default": ["aten.clone.default"],
    "aten.amax.default": ["aten.mean.dim"], "aten.mean.dim": ["aten.sum.dim_IntList", "aten.amax.default"],
    "aten.sum.dim_IntList": ["aten.mean.dim"], "aten.mean.default": ["aten.sum.default"], "aten.sum.default": ["aten.mean.default"],
    "aten.bitwise_not.default": ["aten.clone.default"], "mylib.squash.default": ["aten.clone.default"],
    "aten.bmm.default": [], "aten.mm.default": [],
}
LOOKS_AT = {"aten.lt.Scalar", "aten.ge.Scalar", "aten.eq.Scalar"}


def of_collective(node, graph, rank):
    """(what, nodes) of a collective."""
    op, args = node["op"].split(".")[1], node["args"]
    place = graph["groups"][args[-1]].index(rank)
    if op == "all_reduce":
        yield "dropped", changed(node, op="aten.clone.default", args=args[:1])
    if op in ("all_reduce", "reduce_scatter_tensor"):
        for kind in KINDS[args[1]]:
            yield f"{kind} instead of {args[1]}", with_argument(node, 1, kind)
    if op == "all_gather_into_tensor":
        yield "dropped, own part repeated", changed(node, op="aten.cat.default", args=[[args[0]] * args[1], 0])
        if isinstance(node["shape"][0], int) and args[1] > 1:
            yield "parts rotated", rotated(node, 0, node["shape"][0] // args[1])
    if op == "reduce_scatter_tensor" and isinstance(node["shape"][0], int):
        n = node["shape"][0]
        yield "own part, not summed", changed(node, op="aten.slice.Tensor", args=[args[0], 0, place * n, place * n + n])


def of_operator(node, sizes):
    """(what, nodes) of a local operator. `sizes`: the shapes so far."""
    op, args = node["op"], node["args"]
    for other in OTHER.get(op, []):
        if "lt" in other or "ge" in other or "eq" in other or all(isinstance(a, (dict, int, float, list, bool)) for a in args):
            yield f"is {other}", changed(node, op=other)
    for place, a in enumerate(args):
        if isinstance(a, float) and a != 0:
            yield f"constant {a} larger", with_argument(node, place, 1.25 * a)
        elif isinstance(a, bool) and op == "aten.scaled_dot_product_attention.default":
            yield f"flag {place} is {not a}", with_argument(node, place, not a)
        elif isinstance(a, int) and op in LOOKS_AT:
            yield f"constant {a} one more", with_argument(node, place, a + 1)
            yield f"constant {a} one less", with_argument(node, place, a - 1)
    if "scale" in node.get("kwargs", {}):
        yield "scale larger", changed(node, kwargs={**node["kwargs"], "scale": 1.25 * node["kwargs"]["scale"]})
    if op == "aten.slice.Tensor" and all(isinstance(a, int) for a in args[1:]):
        whole = sizes[args[0]["ref"]][args[1]]
        for by in (-1, 1):
            if isinstance(whole, int) and 0 <= args[2] + by and args[3] + by <= whole:
                yield f"begins {by} further", changed(node, args=[args[0], args[1], args[2] + by, args[3] + by])
    if op == "aten.arange.start" and all(isinstance(a, int) for a in args):
        yield "begins one further", changed(node, args=[args[0] + 1, args[1] + 1])
    if op == "aten.cat.default" and len(args[0]) > 1:
        yield "parts in reverse", with_argument(node, 0, args[0][::-1])
    if op in ("aten._softmax.default", "aten._log_softmax.default") and len(node["shape"]) > 1:
        yield "over another axis", with_argument(node, 1, len(node["shape"]) - 2)
    tensors = [place for place, a in enumerate(args) if isinstance(a, dict)]
    if len(tensors) >= 2:
        yield "operands exchanged", changed(node, args=[args[tensors[1]] if p == tensors[0] else args[tensors[0]] if p == tensors[1]
                                                        else a for p, a in enumerate(args)])


def of_result(node):
    """(what, nodes): something is done to the result."""
    if node["dtype"] == "f32":
        yield "scaled", followed(node, lambda x: ("aten.mul.Tensor", x, 1.5))
        yield "negated", followed(node, lambda x: ("aten.neg.default", x))
        yield "moved", followed(node, lambda x: ("aten.add.Tensor", x, 0.25))
    shape = node["shape"]
    for axis, n in enumerate(shape):
        if isinstance(n, int) and n > 1:
            yield f"rotated along axis {axis}", rotated(node, axis, 1)
    for a, b in ((a, b) for b in range(len(shape)) for a in range(b)):
        if shape[a] == shape[b] and shape[a] != 1:
            yield f"axes {a} and {b} exchanged", followed(node, lambda x, a=a, b=b: ("aten.transpose.int", x, a, b))


def of_operand(node, earlier, source):
    """(what, nodes): another tensor of the same type in the place of an operand."""
    for place, a in enumerate(node["args"]):
        if isinstance(a, dict) and a["ref"] in earlier:
            alike = [name for name, kind in earlier.items() if kind == earlier[a["ref"]] and name != a["ref"]]
            if alike:
                other = source.choice(alike[-12:])
                yield f"takes {other} for {a['ref']}", with_argument(node, place, ref(other))


def of_choice(node, sizes):
    if isinstance(node["args"][0], dict) and isinstance(node["args"][1], int):
        count = len(sizes[node["args"][0]["ref"]])
        alike = [i for i in range(count) if sizes[node["args"][0]["ref"]][i] == node["shape"] and i != node["args"][1]]
        for i in alike[:1]:
            yield f"takes piece {i}", with_argument(node, 1, i)


def changes(graph, rank, source):
    """(kind, place in the list of nodes, what, nodes that stand there then) for every change of a rank's program."""
    earlier, sizes = {}, {}
    for place, node in enumerate(graph["nodes"]):
        sizes[node["name"]] = node["shape"]
        single = isinstance(node["shape"], list) and isinstance(node["dtype"], str)
        if node["op"] not in ("placeholder", "constant") and node.get("sym") is None and node["shape"] is not None:
            found = {}
            if node["op"].startswith("_c10d_functional.") and node["op"] not in numeric.LOCAL:
                found["collective"] = of_collective(node, graph, rank)
            elif node["op"] == "operator.getitem":
                found["piece"] = of_choice(node, sizes)
            elif not node["op"].startswith("c10d."):
                found["operator"] = of_operator(node, sizes)
                found["operand"] = of_operand(node, earlier, source)
            if single and not node["op"].startswith("c10d."):
                found["result"] = of_result(node)
            for kind, made in found.items():
                for what, nodes in made:
                    yield kind, place, what, nodes
        if single and node.get("sym") is None:
            earlier[node["name"]] = (node["dtype"], tuple(node["shape"]))


class Mutant:
    def __init__(self, subject, what, ranks):
        self.subject, self.what, self.ranks = subject, what, ranks

    def name(self):
        return f"{self.subject.name}: {self.what}"


def with_change(graph, place, nodes):
    return {**graph, "nodes": graph["nodes"][:place] + nodes + graph["nodes"][place + 1:]}


def mutants(subject, source):
    """All that can be made, in random order, every kind as often as the others as long as there are some."""
    ranks = range(len(subject.ranks))
    all_changes = [list(changes(graph, rank, random.Random(1))) for rank, graph in enumerate(subject.ranks)]
    by_name = [{(subject.ranks[r]["nodes"][place]["name"], what): (place, nodes) for _, place, what, nodes in all_changes[r]} for r in ranks]
    kinds = {}
    for rank in ranks:
        for kind, place, what, _ in all_changes[rank]:
            name = subject.ranks[rank]["nodes"][place]["name"]
            chosen = kinds.setdefault(kind, [])
            chosen.append((name, what, [rank]))
            if rank == 0 and len(ranks) > 1:
                chosen += [(name, what, list(ranks))] * len(ranks)  # as often as on one rank alone
    if len(ranks) > 1 and held_by(subject.ranks[0]) == held_by(subject.ranks[1]):
        kinds["ranks"] = [None]
    for chosen in kinds.values():
        source.shuffle(chosen)
    order = list(kinds)
    source.shuffle(order)
    while any(kinds.values()):
        for kind in order:
            if kinds[kind]:
                yield mutant_of(subject, kinds[kind].pop(), by_name)


def held_by(graph):
    return [(n["name"], n["shape"]) for n in graph["nodes"] if n["op"] == "placeholder"]


def mutant_of(subject, chosen, by_name):
    graphs = list(subject.ranks)
    if chosen is None:
        graphs[0], graphs[1] = ({**graphs[1 - k], "rank": k} for k in (0, 1))
        return Mutant(subject, "programs of ranks 0 and 1 exchanged", graphs)
    name, what, where = chosen
    affected = [rank for rank in where if (name, what) in by_name[rank]]
    for rank in affected:
        place, nodes = by_name[rank][name, what]
        graphs[rank] = with_change(graphs[rank], place, copy.deepcopy(nodes))
    op = subject.ranks[affected[0]]["nodes"][by_name[affected[0]][name, what][0]]["op"]
    which = f" on rank {affected[0]}" if len(affected) == 1 and len(graphs) > 1 else ""
    return Mutant(subject, f"{name} ({op}) {what}{which}", graphs)


# --------------------------------------------------------------------------------------------------------------------- judging

def check(program, mutant, seconds):
    subject = mutant.subject
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "sequential.json").write_text(json.dumps(subject.sequential), encoding="utf-8")
        for rank, graph in enumerate(mutant.ranks):
            (folder / f"r{rank}.json").write_text(json.dumps(graph), encoding="utf-8")
        for file, text in subject.more:
            (folder / file).write_text(text, encoding="utf-8")
        manifest = folder / "manifest.yaml"
        manifest.write_text(subject.manifest, encoding="utf-8")
        return expressions.report(program, manifest, seconds)


def judge(program, mutant, seconds):
    """(how the outputs are, the verdict, a complaint), or None for a mutant that is no program."""
    try:
        values, worst = mutant.subject.run(mutant.ranks)
    except (AssertionError, ArithmeticError, ValueError, TypeError, IndexError):
        return None
    state = "differ" if worst > DIFFERENT else "are equal" if worst <= EQUAL else "hardly differ"
    code, result, text = check(program, mutant, seconds)
    if result is None:
        return state, "bad input" if code == BAD_INPUT else "-", "" if code == BAD_INPUT else f"exit code {code}\n{text}"
    if worst > DIFFERENT and result["verdict"] == "refines":
        return state, "refines", f"outputs differ by {worst:.1e}\n{text}"
    _, wrong = expressions.wrong_relations(result, mutant.subject.values, values, mutant.subject.symbols) if values else (0, [])
    return state, result["verdict"], "\n".join(wrong)


def run_subject(program, number, count, seed, seconds):
    name, make_subject = list(makers())[number]
    lines, counts = [], {}
    for mutant in mutants(make_subject(), random.Random(f"{seed} {name}")):
        if len(lines) == count:
            break
        judged = judge(program, mutant, seconds)
        if judged is not None:
            state, verdict, complaint = judged
            counts[state, verdict] = counts.get((state, verdict), 0) + 1
            lines.append(f"{'FAIL' if complaint else 'ok  '} {mutant.name()}: outputs {state}, {verdict}{': ' + complaint if complaint else ''}")
    return lines, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=60, help="mutants, in all")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--only", default="", help="programs whose description contains this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2, help="for each check")
    options = parser.parse_args()
    numbers = [k for k, (name, _) in enumerate(makers()) if options.only in name]
    random.Random(options.seed).shuffle(numbers)
    numbers = numbers[:options.count]
    shares = [len(range(k, options.count, len(numbers))) for k in range(len(numbers))]
    total, failed = {}, 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(run_subject, options.program, k, share, options.seed, options.seconds) for k, share in zip(numbers, shares)]
        for job in jobs:
            lines, counts = job.result()
            print("\n".join(lines), flush=True)
            failed += sum(line.startswith("FAIL") for line in lines)
            for key, n in counts.items():
                total[key] = total.get(key, 0) + n
    found = ", ".join(f"{n} whose outputs {state}: {verdict}" for (state, verdict), n in sorted(total.items()))
    print(f"{sum(total.values())} mutants: {found}; {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
