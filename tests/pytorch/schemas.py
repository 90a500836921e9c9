#!/usr/bin/env python3
"""What PyTorch's schemas say that an operator writes to is not taken for what it was, and nothing else is doubted.

    schemas.py ENTANGLE EVALUATE

One program calls every operator of which nothing is declared, each on tensors of its own, and then returns these tensors. Those that the schema
marks as written to must have no relation, those of operators that write to nothing must keep theirs. Skipped where PyTorch is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import available

LIBRARIES = ("aten", "prims", "quantized", "_quantized", "prepacked", "sparse", "torchvision")
# Functions with tensors by keyword that their overload is called after; what writes to an operand that has no mark.
DOUBTED = {"aten.linalg_matrix_rank.atol_rtol_tensor", "aten.linalg_pinv.atol_rtol_tensor", "aten._no_grad_embedding_renorm_.default"}
STATISTICS = ("running_mean", "running_var")
# Has a mark, and is a view.
VIEWS = {"prims.as_strided.default"}
SIZE = {"shape": [4], "dtype": "f32"}


class Program:
    def __init__(self):
        self.inputs, self.calls, self.written, self.kept = [], [], {}, {}

    def value(self, argument, owned):
        kind = str(argument.type).removeprefix("Optional[").removesuffix("]")
        if kind in ("Tensor", "List[Tensor", "List[Tensor]", "List[Optional[Tensor"):
            name = f"t{len(self.inputs)}"
            self.inputs.append(name)
            owned.append((name, argument))
            return {"ref": name} if kind == "Tensor" else [{"ref": name}]
        return {"int": 1, "float": 1.5, "bool": False, "str": "x"}.get(kind)

    def call(self, op, schema):
        """A call of the operator; its tensors are returned afterwards."""
        owned, args, kwargs = [], [], {}
        for argument in schema.arguments:
            given = self.value(argument, owned)
            if not argument.kwarg_only:
                args.append(given)
            elif given is not None:
                kwargs[argument.name] = given
        several = len(schema.returns) > 1
        results = {key: [one] * len(schema.returns) for key, one in SIZE.items()} if several else SIZE
        self.calls.append({"name": f"n{len(self.calls)}", "op": op, "args": args, "kwargs": kwargs, **results})
        writes = [argument.alias_info is not None and argument.alias_info.is_write for _, argument in owned]
        for (name, argument), write in zip(owned, writes):
            if write or argument.name in STATISTICS and "_backward" not in op:
                self.written[name] = f"{op}: {argument.name}"
            elif not any(writes) and op not in DOUBTED:
                self.kept[name] = f"{op}: {argument.name}"

    def graph(self, calls):
        nodes = [{"name": name, "op": "placeholder", **SIZE} for name in self.inputs] + calls
        returned = [*self.written, *self.kept]
        nodes += [{"name": f"y_{name}", "op": "aten.relu.default", "args": [{"ref": name}], **SIZE} for name in returned]
        return json.dumps({"format": "entangle-graph", "version": 1, "name": "schemas", "source": "pytorch", "inputs": self.inputs,
                           "outputs": [f"y_{name}" for name in returned], "nodes": nodes})


def declared(evaluate):
    import harness
    return {op for op, _ in harness.declarations(evaluate)}


def program(known):
    import torch
    result = Program()
    for schema in torch._C._jit_get_all_schemas():
        library, _, name = schema.name.partition("::")
        op = f"{library}.{name}.{schema.overload_name or 'default'}"
        tensors = any("Tensor" in str(argument.type) for argument in schema.arguments)
        containers = any(str(argument.type).startswith(("Dict", "t", "List[t")) for argument in schema.arguments)
        plain = f"{library}.{name.removesuffix('_')}.{schema.overload_name or 'default'}"
        if library in LIBRARIES and tensors and not containers and schema.returns and not {op, plain} & known and op not in VIEWS:
            result.call(op, schema)
    return result


def verdict(entangle, calls):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "s.json").write_text(calls.graph([]))
        (folder / "r.json").write_text(calls.graph(calls.calls))
        relations = "".join(f"  {name}: r0.{name}\n" for name in calls.inputs)
        (folder / "m.yaml").write_text(f"sequential: s.json\ndistributed: r.json\nranks: 1\ninputs:\n{relations}")
        run = subprocess.run([entangle, "check", folder / "m.yaml", "--json", "-"], stdout=subprocess.PIPE, text=True, check=False)
        return json.loads(run.stdout)


def main():
    code = available.elsewhere()
    if code is not None:
        return code
    calls = program(declared(sys.argv[2]))
    outputs = verdict(sys.argv[1], calls)["results"][0]["outputs"]
    holds = {output["tensor"].removeprefix("y_"): output["ok"] for output in outputs}
    wrong = [f"wrong: taken for what it was: {what}" for name, what in calls.written.items() if holds[name]]
    wrong += [f"wrong: doubted: {what}" for name, what in calls.kept.items() if not holds[name]]
    print(f"{len(calls.calls)} operators, {len(calls.written)} tensors that are written to, {len(calls.kept)} that are not")
    print("\n".join(wrong))
    return 1 if wrong or not calls.written or not calls.kept else 0


if __name__ == "__main__":
    sys.exit(main())
