"""Runs a case on random numbers with PyTorch: do the ranks' outputs fit together to what the sequential program computes?"""
import torch

DTYPES = {"f32": torch.float64, "f64": torch.float64, "bf16": torch.float64, "f8": torch.float64, "i64": torch.int64, "i32": torch.int32,
          "b8": torch.bool}


def operator(name):
    space, op, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, space), op), overload)


class Run:
    """One rank's program, as far as it got."""

    def __init__(self, graph, values):
        self.graph, self.values, self.at = graph, dict(values), 0

    def decoded(self, a):
        if isinstance(a, dict):
            return self.values[a["ref"]]
        if isinstance(a, list):
            return [self.decoded(x) for x in a]
        return DTYPES.get(a, a) if isinstance(a, str) else a

    def step(self, ranks, mail):
        """Runs on until it has to wait; whether anything was done."""
        begin = self.at
        nodes = self.graph["nodes"]
        while self.at < len(nodes):
            node = nodes[self.at]
            if node["op"] != "placeholder":
                value = self.result(node, mail)
                if value is None and node["op"] != "c10d.send":
                    break
                self.values[node["name"]] = value
            self.at += 1
        return self.at > begin

    def result(self, node, mail):
        args, op = self.decoded(node["args"]), node["op"]
        kwargs = {k: DTYPES[v] if k == "dtype" else v for k, v in node["kwargs"].items()}
        rank = self.graph.get("rank", 0)
        if op == "c10d.send":
            mail.setdefault((rank, args[1], kwargs["tag"]), []).append(args[0])
            return None
        if op == "c10d.recv":
            box = mail.get((args[0], rank, kwargs["tag"]))
            return box.pop(0) if box else None
        if op.startswith("_c10d_functional."):
            return self.collective(op.split(".")[1], args, rank, mail)
        if op == "aten.view.default":
            return args[0].reshape(args[1])
        if op == "getitem":
            return args[0][args[1]]
        return operator(op)(*args, **kwargs)

    def collective(self, op, args, rank, mail):
        if op == "wait_tensor":
            return args[0]
        group = self.graph["groups"][args[-1]]
        n, place = len(group), group.index(rank)
        box = mail.setdefault((tuple(group), sum(m["op"] == "_c10d_functional." + op + ".default" and m["args"][-1] == args[-1]
                                                   for m in self.graph["nodes"][:self.at]), op), {})
        box[place] = args[0]
        if len(box) < n:
            return None
        xs = [box[k] for k in range(n)]
        if op == "all_gather_into_tensor":
            return torch.cat(xs, 0)
        if op == "all_to_all_single":
            return torch.cat([x.chunk(n, 0)[place] for x in xs], 0)
        kind = args[1]
        total = torch.stack(xs).amax(0) if kind == "max" else sum(xs) / (n if kind == "avg" else 1)
        return total if op == "all_reduce" else total.chunk(n, 0)[place]


def inputs_of(case, graph):
    generator = torch.Generator().manual_seed(7)
    values = {}
    for node in graph["nodes"]:
        if node["op"] == "placeholder":
            shape = node["shape"]
            if node["dtype"] in ("i64", "i32"):
                values[node["name"]] = torch.randint(0, case.ranges[node["name"]], shape, generator=generator)
            elif node["dtype"] == "b8":
                values[node["name"]] = torch.rand(shape, generator=generator) < 0.5
            else:
                x = torch.randn(shape, generator=generator, dtype=torch.float64)
                values[node["name"]] = x.abs() if node["name"] in case.positive else x
    return values


def placed(placement, x, rank, ranks):
    if placement.startswith("Shard"):
        return x.chunk(ranks, int(placement[6]))[rank]
    return x


def judged(_, case, broken, folder):
    sequential = case.program().graph()
    whole = inputs_of(case, sequential)
    runs = []
    for rank in range(case.ranks):
        own = {name: placed(text, whole[name], rank, case.ranks) for name, text in case.inputs.items()}
        own.update(case.cut(whole, rank) if case.cut else {})
        graph = case.program(rank, broken).graph()
        for node in graph["nodes"]:
            if node["op"] == "placeholder" and tuple(own[node["name"]].shape) != tuple(node["shape"]):
                return "", f"{node['name']} is cut to {tuple(own[node['name']].shape)}, the program has {node['shape']}"
        runs.append(Run(graph, own))
    reference = Run(sequential, whole)
    reference.step(1, {})
    mail = {}
    while any([run.step(case.ranks, mail) for run in runs]):
        pass
    if any(run.at < len(run.graph["nodes"]) for run in runs):
        return "ranks that wait", "" if broken else "must end"
    found = case.joined(outputs := [r.values for r in runs]) if case.joined else {}
    wrong = []
    for name, text in case.expect.items():
        expected = reference.values[name]
        if name in found:
            parts = [found[name]]
        elif text.startswith("Shard"):
            parts = [torch.cat([r.values[name] for r in runs], int(text[6]))]
        elif text.startswith("Partial"):
            parts = [sum(r.values[name] for r in runs)]
        else:
            parts = [r.values[name] for r in runs if name in r.values]
        if not all(p.shape == expected.shape and torch.allclose(p.double(), expected.double()) for p in parts):
            wrong.append(name)
    if broken is None:
        return "agrees", f"differs at {wrong}" if wrong else ""
    return f"differs at {wrong}" if wrong else "agrees", "" if wrong else "must differ"
