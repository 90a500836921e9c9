"""Random programs, their distributed versions, and what both compute.

A program is a list of nodes as in the JSON graphs, all ranks' with as many nodes, in the same order. What f32 stands for is computed in
double precision, so that a difference is one."""
import copy
import itertools
import math
import random

import torch

from operators import Pool, Ref, generate, others

torch.set_default_dtype(torch.float64)

DTYPES = {"f32": torch.float64, "i64": torch.int64, "i32": torch.int32, "b8": torch.bool}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
COLLECTIVES = {"all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "broadcast"}


class Unfit(Exception):
    """A call that PyTorch refuses, or whose result no graph can hold."""


# ------------------------------------------------------------------------------------------------------------------ evaluation

def described(value):
    """(shape, dtype) as in a graph."""
    if isinstance(value, (list, tuple)):
        pairs = [described(v) for v in value]
        return [shape for shape, _ in pairs], [dtype for _, dtype in pairs]
    if value.dtype not in NAMES or value.numel() == 0 or value.numel() > 4096:
        raise Unfit
    return list(value.shape), NAMES[value.dtype]


def argument(value, values):
    if isinstance(value, dict):
        return values[value["ref"]]
    if isinstance(value, list):
        return [argument(v, values) for v in value]
    return value


def computed(node, values):
    """What a node that its rank runs alone gives."""
    args = [argument(a, values) for a in node["args"]]
    if node["op"] == "operator.getitem":
        return args[0][args[1]]
    keywords = {key: DTYPES[a] if key == "dtype" else argument(a, values) for key, a in node["kwargs"].items()}
    library, name, overload = node["op"].split(".")
    if name == "wait_tensor":
        return args[0].clone()
    try:
        result = getattr(getattr(getattr(torch.ops, library), name), overload)(*args, **keywords)
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError) as error:
        raise Unfit from error
    return list(result) if isinstance(result, (list, tuple)) else result.clone()


def reduced(xs, kind):
    if kind == "avg":
        if not xs[0].is_floating_point():
            return torch.div(sum(xs), len(xs), rounding_mode="trunc")
        return sum(xs) / len(xs)
    if xs[0].dtype == torch.bool and kind == "sum":
        kind = "max"
    step = {"sum": torch.add, "max": torch.maximum, "min": torch.minimum, "product": torch.mul}[kind]
    total = xs[0]
    for x in xs[1:]:
        total = step(total, x)
    return total


def exchanged(nodes, values):
    """What the members of a collective get; nodes and values: theirs, in the order of the group."""
    n = len(nodes)
    name = nodes[0]["op"].split(".")[1]
    if any(node["op"] != nodes[0]["op"] or node["args"][1:] != nodes[0]["args"][1:] for node in nodes):
        raise Unfit
    xs = [argument(node["args"][0], own) for node, own in zip(nodes, values)]
    if any(x.shape != xs[0].shape or x.dtype != xs[0].dtype for x in xs):
        raise Unfit
    if name == "all_reduce":
        total = reduced(xs, nodes[0]["args"][1])
        return [total.clone() for _ in xs]
    if name == "broadcast":
        return [xs[nodes[0]["args"][1]].clone() for _ in xs]
    if xs[0].dim() == 0:
        raise Unfit
    if name == "all_gather_into_tensor":
        return [torch.cat(xs) for _ in xs]
    if xs[0].shape[0] % n:
        raise Unfit
    if name == "reduce_scatter_tensor":
        return list(torch.chunk(reduced(xs, nodes[0]["args"][1]), n))
    pieces = [torch.chunk(x, n) for x in xs]
    return [torch.cat([pieces[member][r] for member in range(n)]) for r in range(n)]


def is_collective(node):
    return node["op"].startswith("_c10d_functional.") and node["op"].split(".")[1] in COLLECTIVES


def run(programs, inputs):
    """The values of every rank: the ranks go from node to node together."""
    values = [dict(own) for own in inputs]
    for nodes in zip(*programs):
        if any(is_collective(one) for one in nodes):
            results = exchanged(nodes, values)
        else:
            results = [computed(node, own) for node, own in zip(nodes, values)]
        for node, own, result in zip(nodes, values, results):
            described(result)
            own[node["name"]] = result
    return values


# ------------------------------------------------------------------------------------------------------------------ placements

REPLICATE, PARTIAL = ("Replicate",), ("Partial",)


def text(placement):
    return f"Shard({placement[1]})" if placement[0] == "Shard" else placement[0]


def dyadic(source):
    """A number of few binary digits: sums of such are exact, so that a rounding to an integer is the same for the sum of parts."""
    return round(source.gauss(0, 1.5) * 64) / 64


def parted(value, placement, ranks, source):
    """What each rank holds of a value."""
    if placement == REPLICATE:
        return [value.clone() for _ in range(ranks)]
    if placement[0] == "Shard":
        return [x.clone() for x in torch.chunk(value, ranks, placement[1])]
    rest = [torch.tensor([source.choice((0.0, -1.0, 0.5, 2.0, dyadic(source))) for _ in range(value.numel())]).reshape(value.shape)
            for _ in range(ranks - 1)]
    return [*rest, value - sum(rest)]


def joined(parts, placement):
    """The value that the ranks' parts stand for; None where they fit no value."""
    if placement == REPLICATE:
        return parts[0]
    if any(p.shape != parts[0].shape or p.dtype != parts[0].dtype for p in parts):
        return None
    if placement == PARTIAL:
        total = sum(p.long() if p.dtype == torch.bool else p for p in parts)
        if parts[0].dtype != torch.bool:
            return total
        return total.bool() if (total <= 1).all() else None  # truths are the numbers 0 and 1
    return torch.cat(parts, placement[1]) if placement[1] < parts[0].dim() else None


def differs(expected, found):
    """None: equal wherever the expected value is a number; else what is wrong."""
    if found is None or expected.shape != found.shape or expected.dtype != found.dtype:
        return "type"
    if not expected.is_floating_point():
        return None if torch.equal(expected, found) else "value"
    at = torch.isfinite(expected)
    a, b = expected[at], found[at]
    if not bool(torch.isfinite(b).all()):
        return "no number"
    return None if bool(((a - b).abs() <= 1e-7 * (1 + a.abs())).all()) else "value"


def holds(expected, parts, placement):
    if placement == REPLICATE:
        wrong = [w for w in (differs(expected, p) for p in parts) if w]
        return wrong[0] if wrong else None
    return differs(expected, joined(parts, placement))


def possible(value, ranks):
    """Placements an input may have."""
    shards = [("Shard", d) for d, n in enumerate(value.shape) if n % ranks == 0 and n >= ranks]
    return [REPLICATE] + shards * 2 + ([PARTIAL] if value.is_floating_point() else [])


# -------------------------------------------------------------------------------------------------------------------- programs

def node(name, op, args, **keywords):
    return {"name": name, "op": op, "args": args, "kwargs": keywords}


def references(arg):
    if isinstance(arg, dict):
        yield arg["ref"]
    elif isinstance(arg, list):
        for entry in arg:
            yield from references(entry)


def as_json(arg):
    if isinstance(arg, Ref):
        return {"ref": arg.name}
    return [as_json(a) for a in arg] if isinstance(arg, list) else arg


SPECIAL = (0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0)


def values_of(inputs, source, kind):
    """Values for {name: (shape, dtype, most)}: 0 any, 1 a few special numbers, 2 equal rows."""
    result = {}
    for name, (shape, dtype, low, high) in inputs.items():
        n = math.prod(shape)
        if dtype == "f32":
            data = [source.choice(SPECIAL) if kind == 1 else dyadic(source) for _ in range(n)]
        elif dtype == "b8":
            data = [source.random() < (0.5, 0.8, 0.2)[kind % 3] for _ in range(n)]
        else:
            data = [source.randrange(low, high) for _ in range(n)]
        if kind == 2 and len(shape) >= 1 and shape[0] > 1:
            row = n // shape[0]
            data = data[:row] * shape[0]
        result[name] = torch.tensor(data, dtype=DTYPES[dtype]).reshape(shape)
    return result


class Sequential:
    def __init__(self, source, ranks):
        self.source, self.nodes, self.inputs = source, [], {}
        sizes = [ranks, 2 * ranks, 3, 4, 1, 2]
        a, b = source.choice(sizes[:2]), source.choice(sizes)
        shapes = [[a, b], [b, a], [a], [a, b], [b], [], [1, b], [a, 1], [source.choice(sizes), a, b], [a, a]]
        pool = Pool(source)
        for k in range(source.randint(1, 3)):
            dtype = source.choices(("f32", "i64", "b8"), weights=(6, 3, 2))[0]
            shape = source.choice(shapes)
            low, high = source.choice(((0, 2), (0, 4), (-3, 4), (0, a)))
            self.inputs[f"x{k}"] = (shape, dtype, low, high)
            pool.tensors.append(Ref(f"x{k}", shape, dtype))
        self.base = values_of(self.inputs, source, 0)
        values = dict(self.base)
        wanted = source.randint(1, 5)
        for _ in range(60):
            if len(self.nodes) >= wanted:
                break
            made = generate(pool)
            if made is not None:
                self.try_to_add(made, pool, values)
        self.values = values

    def try_to_add(self, made, pool, values):
        op, args, keywords = made
        name = f"t{len(self.nodes)}"
        new = node(name, op, as_json(args), **keywords)
        try:
            result = computed(new, values)
            described(result)
        except (Unfit, IndexError):
            return
        self.nodes.append(new)
        values[name] = result
        if not isinstance(result, list):
            pool.tensors.append(Ref(name, *described(result)))
            return
        for k in sorted(self.source.sample(range(len(result)), min(2, len(result)))):
            picked = node(f"{name}_{k}", "operator.getitem", [{"ref": name}, k])
            self.nodes.append(picked)
            values[picked["name"]] = result[k]
            pool.tensors.append(Ref(picked["name"], *described(result[k])))


class Distributed:
    """Shards and replicas carried through a sequential program, an operator at a time: what the ranks compute from the parts they hold is
    looked at in numbers, and is what these say; now and then it is taken for something else."""

    def __init__(self, sequential, ranks, source):
        self.sequential, self.count, self.source = sequential, ranks, source
        self.placements = {name: source.choice(possible(value, ranks)) for name, value in sequential.base.items()}
        self.programs = [[] for _ in range(ranks)]
        self.values = self.held(sequential.base)
        self.at = {name: [(name, placement)] for name, placement in self.placements.items()}  # versions of a sequential tensor
        self.fresh = itertools.count()
        self.mistakes = []
        for one in sequential.nodes:
            self.follow(one)

    def held(self, inputs):
        parts = {name: parted(value, self.placements[name], self.count, self.source) for name, value in inputs.items()}
        return [{name: p[rank] for name, p in parts.items()} for rank in range(self.count)]

    def add(self, nodes):
        """Nodes of the ranks, one each; False where they cannot run."""
        values = [{**own} for own in self.values]
        try:
            result = run([[n] for n in nodes], values)
        except (Unfit, IndexError, KeyError):
            return False
        for rank, own in enumerate(result):
            self.values[rank] = own
            self.programs[rank].append(nodes[rank])
        return True

    def same(self, op, args, name=None, **keywords):
        """The same node on every rank; its name, or None."""
        name = name or f"d{next(self.fresh)}"
        return name if self.add([node(name, op, copy.deepcopy(args), **keywords) for _ in range(self.count)]) else None

    # --- another placement for a tensor

    def gathered(self, name, d):
        g = name and self.same("_c10d_functional.all_gather_into_tensor.default", [{"ref": name}, self.count, "tp"])
        if g is None or d == 0:
            return g
        parts = [self.same("aten.slice.Tensor", [{"ref": g}, 0, k * self.rows(name), (k + 1) * self.rows(name)]) for k in range(self.count)]
        return None if None in parts else self.same("aten.cat.default", [[{"ref": p} for p in parts], d])

    def rows(self, name):
        shape = self.values[0][name].shape
        return shape[0] if shape else 1

    def local_part(self, name, d):
        n = self.values[0][name].shape[d]
        if n % self.count:
            return None
        k = n // self.count
        new = f"d{next(self.fresh)}"
        nodes = [node(new, "aten.slice.Tensor", [{"ref": name}, d, r * k, (r + 1) * k]) for r in range(self.count)]
        return new if self.add(nodes) else None

    def moved(self, name, have, want):
        if have == want:
            return name
        if have == PARTIAL:
            if want[0] == "Shard" and want[1] == 0 and self.source.random() < 0.5:
                return self.same("_c10d_functional.reduce_scatter_tensor.default", [{"ref": name}, "sum", self.count, "tp"])
            total = self.same("_c10d_functional.all_reduce.default", [{"ref": name}, "sum", "tp"])
            return total and self.moved(total, REPLICATE, want)
        if have[0] == "Shard":
            whole = self.gathered(name, have[1])
            return whole and self.moved(whole, REPLICATE, want)
        if want[0] == "Shard":
            return self.local_part(name, want[1])
        return None

    # --- an operator

    def version(self, tensor, want=None):
        """(name, placement) of a version, made if need be."""
        versions = self.at[tensor]
        if want is None:
            return self.source.choice(versions)
        for name, placement in versions:
            if placement == want:
                return name, placement
        name, placement = self.source.choice(versions)
        new = self.moved(name, placement, want)
        if new is None:
            return None
        versions.append((new, want))
        return new, want

    def follow(self, one):
        operands = sorted(set(references(one["args"])))
        if one["op"] == "operator.getitem":
            self.apply(one, {operands[0]: self.at[operands[0]][0][0]}, last=True)
            return
        for _ in range(3):
            chosen = {}
            for operand in operands:
                want = None
                if self.source.random() < 0.4:
                    want = self.source.choice(possible(self.sequential.values[operand], self.count)[:-1] or [REPLICATE])
                found = self.version(operand, want)
                chosen[operand] = (found or self.version(operand))[0]
            if self.apply(one, chosen):
                return
        chosen = {operand: (self.version(operand, REPLICATE) or self.version(operand))[0] for operand in operands}
        self.apply(one, chosen, last=True)

    def apply(self, one, chosen, last=False):
        def renamed(arg):
            if isinstance(arg, dict):
                return {"ref": chosen[arg["ref"]]}
            return [renamed(a) for a in arg] if isinstance(arg, list) else arg

        expected = self.sequential.values[one["name"]]
        for args in self.adapted(one["op"], renamed(one["args"])):
            name = self.same(one["op"], args, **copy.deepcopy(one["kwargs"]))
            if name is None:
                continue
            if isinstance(expected, list):
                self.at[one["name"]] = [(name, REPLICATE)]
                return True
            found = self.found(expected, name)
            if found or last or self.source.random() < 0.08:
                if not found:
                    self.mistakes.append(one["name"])
                    found = [self.source.choice([REPLICATE, PARTIAL] + [("Shard", d) for d in range(expected.dim())])]
                self.at[one["name"]] = [(name, self.source.choice(found))]
                return True
        if last:
            raise Unfit
        return False

    def found(self, expected, name):
        """The placements that the numbers allow."""
        parts = [own[name] for own in self.values]
        every = [REPLICATE, PARTIAL] + [("Shard", d) for d in range(expected.dim())]
        if not expected.is_floating_point():
            every.remove(PARTIAL)
        return [p for p in every if holds(expected, parts, p) is None]

    def adapted(self, op, args):
        """The arguments, and with a list of sizes one of them shared among the ranks."""
        yield args
        if op in ("aten.view.default", "aten.expand.default") and isinstance(args[1], list):
            for k, n in enumerate(args[1]):
                if n > 0 and n % self.count == 0:
                    yield [args[0], args[1][:k] + [n // self.count] + args[1][k + 1:]]


# --------------------------------------------------------------------------------------------------------------------- mistakes

class Pair:
    """A sequential and a distributed program, how inputs are placed and what is expected of the outputs."""

    def __init__(self, sequential, distributed, source):
        self.inputs, self.nodes, self.ranks = sequential.inputs, sequential.nodes, distributed.count
        self.placements, self.programs = dict(distributed.placements), distributed.programs
        self.what = "as built" + (" (mistaken)" if distributed.mistakes else "")
        names = [n["name"] for n in self.nodes if not isinstance(sequential.values[n["name"]], list)]
        self.outputs = {name: distributed.at[name][0] for name in names[-2:]}
        self.assumed = {name: source.random() < 0.7 for name, (_, dtype, _, _) in self.inputs.items() if dtype == "i64"}

    def held(self, inputs, source):
        parts = {name: parted(value, self.placements[name], self.ranks, source) for name, value in inputs.items()}
        return [{name: p[rank] for name, p in parts.items()} for rank in range(self.ranks)]

    def evaluate(self, seed):
        """(sequential values, values of the ranks) for one choice of inputs."""
        source = random.Random(seed)
        inputs = values_of(self.inputs, source, seed % 3)
        return run([self.nodes], [inputs])[0], run(self.programs, self.held(inputs, source))

    def judge(self, seeds):
        """The worst of: equal, no number, differs; None where the programs do not run."""
        worst, ran = "equal", False
        for seed in seeds:
            try:
                expected, found = self.evaluate(seed)
            except (Unfit, IndexError, KeyError):
                continue
            ran = True
            for output, (name, placement) in self.outputs.items():
                wrong = holds(expected[output], [own[name] for own in found], placement)
                if wrong in ("value", "type"):
                    return "differs"
                if wrong:
                    worst = "no number"
        return worst if ran else None


def changed_argument(value, source):
    """Another value of the same kind; None where there is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + source.choice((1, -1))
    if isinstance(value, float):
        return value + source.choice((1, -1, 0.5)) if math.isfinite(value) else 2.0
    if isinstance(value, str):
        kinds = [("sum", "avg", "max", "min", "product"), ("floor", "trunc"), ("none", "tanh"), ("f32", "i64", "i32", "b8")]
        found = [k for k in kinds if value in k]
        return source.choice([k for k in found[0] if k != value]) if found else None
    if isinstance(value, list) and value and not any(isinstance(v, (dict, list)) or v is None for v in value):
        new = list(value)
        if len(new) > 1 and source.random() < 0.5:
            source.shuffle(new)
            return new
        k = source.randrange(len(new))
        new[k] = changed_argument(new[k], source)
        return new
    if isinstance(value, list) and len(value) > 1:
        new = list(value)
        source.shuffle(new)
        return new
    return None


def mistake(pair, source):
    """The pair with one thing changed; None where nothing was found to change."""
    new = copy.copy(pair)
    new.programs, new.placements, new.outputs = copy.deepcopy(pair.programs), dict(pair.placements), dict(pair.outputs)
    kind = source.choice(("operator", "argument", "argument", "operand", "operand", "operands", "collective", "collective", "placement",
                          "expectation", "one rank", "ranks exchanged"))
    if kind == "placement":
        name = source.choice(list(new.placements))
        value = values_of(new.inputs, source, 0)[name]
        choices = [p for p in possible(value, new.ranks) if p != new.placements[name]]
        if not choices:
            return None
        new.placements[name] = source.choice(choices)
    elif kind == "expectation":
        if new.ranks == 1:
            return None
        output = source.choice(list(new.outputs))
        name, placement = new.outputs[output]
        new.outputs[output] = (name, source.choice([REPLICATE, PARTIAL, ("Shard", 0), ("Shard", 1)]))
        if new.outputs[output][1] == placement:
            return None
    elif kind == "ranks exchanged":
        if new.ranks == 1:
            return None
        new.programs[0], new.programs[1] = new.programs[1], new.programs[0]
    elif not any(new.programs) or not change_node(new, kind, source):
        return None
    new.what = f"{pair.what}; {kind}"
    return new


def change_node(pair, kind, source):
    count = len(pair.programs[0])
    places = list(range(count))
    source.shuffle(places)
    only = source.randrange(pair.ranks) if kind == "one rank" or source.random() < 0.25 else None
    affected = [pair.programs[r] for r in (range(pair.ranks) if only is None else [only])]
    if kind == "one rank":
        kind = source.choice(("operator", "argument", "operand"))
    for place in places:
        seed = source.random()
        changes = [change(program, place, kind, random.Random(seed)) for program in affected]
        if all(c is not None for c in changes):
            for program, changed in zip(affected, changes):
                program[place] = changed
            return True
    return False


def change(program, place, kind, source):
    new = copy.deepcopy(program[place])
    collective = is_collective(new)
    if kind == "collective":
        if not collective:
            return None
        name = new["op"].split(".")[1]
        if name in ("all_reduce", "reduce_scatter_tensor") and source.random() < 0.6:
            new["args"][1] = changed_argument(new["args"][1], source)
        elif name == "all_reduce":
            new = node(new["name"], "aten.clone.default", new["args"][:1])
        elif name == "all_gather_into_tensor":
            n = new["args"][1]
            new = node(new["name"], "aten.cat.default", [[new["args"][0]] * n, 0])
        else:
            return None
        return new
    if collective:
        return None
    if kind == "operator":
        choices = others(new["op"])
        if not choices:
            return None
        new["op"] = source.choice(choices)
        return new
    if kind == "operand":
        tensors = [k for k, a in enumerate(new["args"]) if isinstance(a, dict)]
        earlier = [n["name"] for n in program[:place]]
        if not tensors or not earlier:
            return None
        new["args"][source.choice(tensors)] = {"ref": source.choice(earlier)}
        return new
    if kind == "operands":
        tensors = [k for k, a in enumerate(new["args"]) if isinstance(a, dict)]
        if len(tensors) < 2:
            return None
        a, b = source.sample(tensors, 2)
        new["args"][a], new["args"][b] = new["args"][b], new["args"][a]
        return new
    places = [("args", k) for k, a in enumerate(new["args"]) if not isinstance(a, dict)]
    places += [("kwargs", k) for k in new["kwargs"]]
    source.shuffle(places)
    for where, k in places:
        value = changed_argument(new[where][k], source)
        if value is not None:
            new[where][k] = value
            return new
    return None
