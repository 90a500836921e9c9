#!/usr/bin/env python3
"""Runs every example on random numbers: where the manifest promises refinement the ranks' outputs are the sequential ones, laid out as
expected; where it does not they differ. Recorded shapes are checked on the way. Ends with the line `N passed, N failed`."""
import json
import pathlib
import random
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
sys.path[:0] = [str(HERE), str(EXAMPLES)]
import evaluate  # noqa: E402
import make  # noqa: E402


def parts(x, placement, ranks):
    """What each rank holds of the tensor x."""
    if placement == "Replicate":
        return [x] * ranks
    if isinstance(placement, make.Pieces):
        held, at = [[] for _ in range(ranks)], 0
        for rank, begin, end in placement.pieces:
            held[rank].append((begin, evaluate.cut(x, placement.axis, at, at + end - begin)))
            at += end - begin
        assert at == x[0][placement.axis]
        return [evaluate.join([piece for _, piece in sorted(h, key=lambda p: p[0])], placement.axis) for h in held]
    dim = int(re.fullmatch(r"Shard\((\d+)\)", placement).group(1))
    n = x[0][dim] // ranks
    return [evaluate.cut(x, dim, r * n, r * n + n) for r in range(ranks)]


def difference(x, y):
    assert x[0] == y[0], (x[0], y[0])
    return max(abs(a - b) for a, b in zip(x[1], y[1]))


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def deviation(example):
    folder = EXAMPLES / example.folder / "graphs"
    sequential = load(folder / f"{example.sequential}.json")
    ranks = [load(folder / example.programs / f"r{r}.json") for r in range(example.ranks)]
    source = random.Random(f"{example.folder}/{example.name}")
    given, held = {}, [{} for _ in ranks]
    for node in sequential["nodes"]:
        if node["op"] == "placeholder":
            scale = max(node["shape"][-1], 4) ** -0.5 if len(node["shape"]) == 2 else 1.0
            given[node["name"]] = (tuple(node["shape"]), [source.gauss(0, scale) for _ in range(evaluate.size(node["shape"]))])
    for name, x in given.items():
        for rank, part in enumerate(parts(x, example.inputs[name], example.ranks)):
            held[rank][name] = part
    expected = evaluate.run([sequential], [given])[0]
    computed = evaluate.run(ranks, held)
    return max(difference(part, computed[rank][name]) for name, placement in example.expect.items()
               for rank, part in enumerate(parts(expected[name], placement, example.ranks)))


def main():
    examples = make.collection().examples
    failed = 0
    for example in examples:
        worst = deviation(example)
        fine = worst < 1e-9 if example.fails_at is None else worst > 1e-3
        failed += not fine
        print(f"{'ok  ' if fine else 'FAIL'} {example.folder}/{example.name}: outputs differ by {worst:.1e}, "
              f"{'must be equal' if example.fails_at is None else 'must differ'}")
    print(f"{len(examples) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
