#!/usr/bin/env python3
"""memo.py PROGRAM: a program of equal layers is checked with and without the memo of local problems. Everything reported must be the same,
right or broken, and with the memo the later layers must be solved from it: from the third on nothing is solved anew, on whichever rank. Ends with the line `N passed, N failed`."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
from generator.strategies import Case, Config, completed, places  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from numeric import SMALL, describe  # noqa: E402

CONFIGURATIONS = [
    dict(strategy="tp", layers=3, seq=3),
    dict(strategy="tp", layers=3, ranks=3, heads=7, seq=3),
    dict(strategy="tp-sp", layers=3, seq=4),
    dict(strategy="ep-sum", layers=3, seq=3),
]


def report(program, folder, *options):
    run = subprocess.run([program, "check", f"{folder}/manifest.yaml", "--json", "-", *options], capture_output=True, text=True)
    (result,) = json.loads(run.stdout)["results"]
    del result["times"]
    return result, result["statistics"].pop("by_memo"), result["statistics"].pop("conditions")


def complaint(program, write, broken=False):
    with tempfile.TemporaryDirectory() as folder:
        write(pathlib.Path(folder))
        with_memo, hits, asked = report(program, folder)
        without, none, asked_without = report(program, folder, "--no-memo")
    if with_memo != without:
        return "the reports differ"
    if none != 0:
        return "the memo was used although it was turned off"
    # The first layer differs from the second; the last one is like the second. A broken program ends early.
    if not broken and (5 * hits < with_memo["statistics"]["local_problems"] or not asked < asked_without):
        return f"only {hits} of {with_memo['statistics']['local_problems']} problems from the memo"
    return ""


def later_layers(program, write):
    """Six layers must be solved with what two need."""
    solved = []
    for layers in (2, 6):
        with tempfile.TemporaryDirectory() as folder:
            write(layers, pathlib.Path(folder))
            result, hits, _ = report(program, folder)
        if result["verdict"] != "refines":
            return f"{layers} layers: {result['verdict']}"
        solved.append(result["statistics"]["local_problems"] - hits)
    return "" if solved[0] == solved[1] else f"{solved[0]} problems are solved for two layers, {solved[1]} for six"


def later_stages(program):
    """The stages of a pipeline, of two layers each, are solved as one, whichever rank has them: but for what is about tensors that all ranks
    have (the cosines and sines that queries and keys are turned by)."""
    solved = []
    for ranks in (3, 6):
        with tempfile.TemporaryDirectory() as folder:
            generated(dict(strategy="pp", ranks=ranks, batch=4))(2 * ranks, pathlib.Path(folder))
            result, hits, _ = report(program, folder)
        if result["verdict"] != "refines":
            return f"{ranks} stages: {result['verdict']}"
        solved.append(result["statistics"]["local_problems"] - hits)
    return "" if solved[1] <= solved[0] + 2 * 3 else f"{solved[0]} problems are solved for three stages, {solved[1]} for six"


def with_dropout(layers, folder):
    """Layers that draw: the calls are told apart, the layers are equal all the same."""
    def program(ranks):
        nodes = []

        def node(name, op, args, shape, **kwargs):
            nodes.append(dict(name=name, op=op, args=args, kwargs=kwargs, shape=shape, dtype="f32"))
            return {"ref": name}

        x = node("x", "placeholder", [], [4, 8])
        names = ["x"]
        for k in range(layers):
            up = node(f"up{k}", "placeholder", [], [8, 8 // ranks])
            down = node(f"down{k}", "placeholder", [], [8 // ranks, 8])
            names += [f"up{k}", f"down{k}"]
            wide = node(f"mm{k}", "aten.mm.default", [x, up], [4, 8 // ranks])
            wide = node(f"wide{k}", "aten.dropout.default", [wide, 0.1, True], [4, 8 // ranks])
            out = node(f"out{k}", "aten.mm.default", [wide, down], [4, 8])
            if ranks > 1:
                out = node(f"all{k}", "_c10d_functional.all_reduce.default", [out, "sum", "tp"], [4, 8])
            x = node(f"y{k}", "aten.add.Tensor", [x, node(f"drop{k}", "aten.dropout.default", [out, 0.1, True], [4, 8])], [4, 8])
        groups = {"tp": list(range(ranks))} if ranks > 1 else {}
        return dict(format="entangle-graph", version=1, name="stack", groups=groups, inputs=names, outputs=[x["ref"]], nodes=nodes)

    (folder / "sequential.json").write_text(json.dumps(program(1)))
    for rank in range(2):
        (folder / f"r{rank}.json").write_text(json.dumps(dict(program(2), rank=rank, world_size=2)))
    lines = ["sequential: sequential.json", "distributed: r{rank}.json", "ranks: 2", "rules: [aten.rules]", "inputs:", "  x: Replicate"]
    lines += [line for k in range(layers) for line in (f"  up{k}: Shard(1)", f"  down{k}: Shard(0)")]
    (folder / "manifest.yaml").write_text("\n".join(lines + ["expect:", f"  y{layers - 1}: Replicate", ""]))


def generated(options):
    return lambda layers, folder: Case(completed(Config(**{**SMALL, **options, "layers": layers}))).write(folder, "")


def main(program):
    passed = failed = 0

    def count(what, problem):
        nonlocal passed, failed
        print(f"{'FAIL' if problem else 'ok  '} {what} {problem}", flush=True)
        passed, failed = passed + (not problem), failed + bool(problem)

    for options in CONFIGURATIONS:
        config = completed(Config(**{**SMALL, **options}))
        breaks = places(config)
        middle = breaks[len(breaks) // 2]
        for kind, label in [(None, None), (middle[0], middle[2])]:
            write = lambda folder, kind=kind, label=label: Case(config, kind, label).write(folder, "")
            count(f"{describe(options)} {kind or ''} {label or ''}", complaint(program, write, kind is not None))
        count(f"{describe(options)}: layers 3 to 6", later_layers(program, generated(options)))
    pipeline = lambda folder: Case(completed(Config(**{**SMALL, **dict(strategy="pp", ranks=3, layers=6, batch=4)}))).write(folder, "")
    count("pipeline", complaint(program, pipeline))
    count("pipeline: stages 3 to 6", later_stages(program))
    # A program that draws is walked twice; the second walk knows what the first has found.
    count("dropout", complaint(program, lambda folder: with_dropout(3, folder)))
    count("dropout: layers 3 to 6", later_layers(program, with_dropout))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
