"""Runs single operators in PyTorch and in the floating-point evaluator (tests/tools/evaluate.cpp), and compares.

A case is one call of a framework operator with tensors in it. Its graph is a placeholder for each tensor and one node; the result that is
expected is what PyTorch computes, or, where this PyTorch lacks the operator or another framework's is meant, what `reference` computes.
"""
import json
import math
import pathlib
import subprocess

import torch

NAMES = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
         torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "b8"}


class Call:
    """One node: an operator, its arguments, what it computes, and the arguments it changes."""

    def __init__(self, op, args, kwargs, expected, mutates=()):
        self.op, self.args, self.kwargs, self.expected, self.mutates = op, args, kwargs, expected, list(mutates)

    def results(self):
        return list(self.expected) if isinstance(self.expected, (list, tuple)) else [self.expected]


class Case:
    """A call on each rank; most cases have one rank."""

    def __init__(self, calls, unknown=(), lacking=False):
        self.calls, self.unknown, self.lacking = calls, set(unknown), lacking
        self.op = calls[0].op


class Known:
    """A tensor whose elements stand in the graph."""

    def __init__(self, tensor):
        self.tensor = tensor


def operator(name):
    """The PyTorch operator of a name like aten.add.Tensor, or None."""
    if name.count(".") != 2:
        return None
    namespace, packet, overload = name.split(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), packet), overload)
    except (AttributeError, RuntimeError):
        return None


def flattened(data):
    return [float(v) if v.dtype.is_floating_point else int(v) for v in data.detach().reshape(-1)]


class Suite:
    """Cases in order, and what they lack."""

    def __init__(self):
        self.cases = []
        torch.manual_seed(1)

    def case(self, op, /, *args, reference=None, unknown=(), mutates=(), **kwargs):
        """One call. `reference` computes the results where PyTorch cannot; the results numbered in `unknown` have no value to compare;
        `mutates` names the arguments that are changed in place: their new values are results 1, 2, …"""
        function = operator(op)
        lacking = function is None
        if function is not None and reference is None:
            def copied(value):
                if isinstance(value, Known):
                    return value.tensor
                if isinstance(value, torch.Tensor):
                    return value.detach().clone()
                return [copied(v) for v in value] if isinstance(value, list) else value
            # In place: positional arguments are changed, so that the graph keeps the old ones.
            given = [copied(a) for a in args]
            result = function(*given, **{k: copied(v) for k, v in kwargs.items()})
            if mutates:
                names = [argument.name for argument in function._schema.arguments]
                result = [result] + [given[names.index(name)] for name in mutates]
        elif reference is not None:
            result = reference()
        else:
            raise SystemExit(f"{op}: this PyTorch has no such operator, and the case has no reference")
        self.cases.append(Case([Call(op, args, kwargs, result, mutates)], unknown, lacking))

    def ranks(self, calls, unknown=()):
        """A call on each rank: (op, args, kwargs, expected[, mutates]). They form the group `world`."""
        self.cases.append(Case([Call(*call) for call in calls], unknown, lacking=True))


class Graph:
    """The graph of one call."""

    def __init__(self):
        self.nodes, self.inputs, self.data = [], [], {}

    def argument(self, value):
        if isinstance(value, Known):
            name = f"c{len(self.nodes)}"
            self.nodes.append({"name": name, "op": "constant", "kwargs": {"value": value.tensor.tolist()}, "shape": list(value.tensor.shape),
                               "dtype": NAMES[value.tensor.dtype]})
            return {"ref": name}
        if isinstance(value, torch.Tensor):
            return self.placeholder(value)
        if isinstance(value, (list, tuple)):
            return [self.argument(v) for v in value]
        if isinstance(value, torch.dtype):
            return NAMES[value]
        if isinstance(value, (torch.device, torch.memory_format, torch.layout)):
            return str(value)
        return value

    def placeholder(self, tensor):
        name = f"t{len(self.inputs)}"
        self.inputs.append(name)
        self.nodes.append({"name": name, "op": "placeholder", "shape": list(tensor.shape), "dtype": NAMES[tensor.dtype]})
        self.data[name] = [v if math.isfinite(v) else str(v) for v in flattened(tensor)]
        return {"ref": name}

    def call(self, call):
        args = [self.argument(a) for a in call.args]
        kwargs = {k: self.argument(v) for k, v in call.kwargs.items()}
        shapes = [None if r is None else list(r.shape) for r in call.results()]
        dtypes = [None if r is None else NAMES[r.dtype] for r in call.results()]
        several = isinstance(call.expected, (list, tuple))
        node = {"name": "y", "op": call.op, "args": args, "kwargs": kwargs, "shape": shapes if several else shapes[0],
                "dtype": dtypes if several else dtypes[0]}
        if call.mutates:
            node["mutates"] = call.mutates
        self.nodes.append(node)

    def json(self, rank, count):
        ranks = {"rank": rank, "world_size": count, "groups": {"world": list(range(count))}} if count > 1 else {}
        return json.dumps({"format": "entangle-graph", "version": 1, "name": "case", "source": "pytorch", "inputs": self.inputs,
                           "outputs": ["y"], "nodes": self.nodes, **ranks})


def number(value):
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(value, value) if isinstance(value, str) else value


def close(got, expected, dtype):
    if not dtype.is_floating_point:
        return got == expected
    tolerance = {torch.float64: 1e-8, torch.float32: 2e-5}.get(dtype, 2e-2)
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    if math.isinf(expected) or math.isinf(got):
        return got == expected
    return abs(got - expected) <= tolerance * max(1.0, abs(expected))


def compare(got, expected):
    """What is wrong with a result, or None."""
    if got is None:
        return "has no value"
    if got["shape"] != list(expected.shape):
        return f"has the shape {got['shape']}, not {list(expected.shape)}"
    for place, (g, e) in enumerate(zip(map(number, got["data"]), flattened(expected))):
        if not close(g, e, expected.dtype):
            return f"element {place} is {g}, not {e}"
    return None


def evaluate(program, jobs):
    text = "".join(json.dumps(job) + "\n" for job in jobs)
    run = subprocess.run([program], input=text, stdout=subprocess.PIPE, text=True, check=False)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if run.returncode != 0 or len(answers) != len(jobs):
        job = jobs[len(answers)] if len(answers) < len(jobs) else None
        raise SystemExit(f"{program} ended with status {run.returncode} at {json.dumps(job)[:2000]}")
    return answers


def declarations(program):
    """[(operator, place)] of all lowerings."""
    run = subprocess.run([program, "--lowerings"], stdout=subprocess.PIPE, text=True, check=True)
    return [tuple(line.rsplit(" ", 1)) for line in run.stdout.splitlines()]


def job_of(case):
    graphs = []
    for call in case.calls:
        graphs.append(Graph())
        graphs[-1].call(call)
    return {"graphs": [graph.json(rank, len(graphs)) for rank, graph in enumerate(graphs)], "inputs": [graph.data for graph in graphs]}


def differences(case, answer):
    """What is wrong with an answer."""
    if "error" in answer:
        return [answer["error"].splitlines()[0]]
    if answer["mismatch"]:
        return [answer["mismatch"]]
    found = []
    for rank, call in enumerate(case.calls):
        if not answer["by"][rank]:
            found.append("no declaration applies")
            continue
        for place, (got, expected) in enumerate(zip(answer["results"][rank]["y"], call.results())):
            what = compare(got, expected) if expected is not None and place not in case.unknown else None
            found += [f"rank {rank}, result {place} {what}"] if what else []
    return found


def check(program, cases):
    """Runs all cases; ([what is wrong], {places of the declarations that were used})."""
    jobs = [job_of(case) for case in cases]
    wrong, used = [], set()
    for case, job, answer in zip(cases, jobs, evaluate(program, jobs)):
        for by in answer.get("by", []):
            used.update(by.values())
        nodes = json.loads(job["graphs"][0])["nodes"]
        call = {k: v for k, v in nodes[-1].items() if k in ("args", "kwargs")}
        shapes = {n["name"]: f"{n['dtype']}{n['shape']}" for n in nodes[:-1]}
        wrong += [f"{case.op}: {what}\n    {json.dumps(call)} {json.dumps(shapes)}" for what in differences(case, answer)]
    return wrong, used


def repository():
    return pathlib.Path(__file__).resolve().parents[2]
