#!/usr/bin/env python3
"""lowered.py EVALUATE: the smallest example of each folder as its lowerings have it (the program of tests/tools/evaluate.cpp) computes what
evaluate.py computes of the graphs themselves, on random numbers: the sequential program, and the ranks together."""
import json
import pathlib
import random
import subprocess
import sys

from numeric import EXAMPLES, evaluate, load, make

TOLERANCE = 1e-9


def inputs_of(graph, source):
    """Random numbers for the placeholders."""
    return {node["name"]: (tuple(node["shape"]), [source.gauss(0, 0.5) for _ in range(evaluate.size(node["shape"]))])
            for node in graph["nodes"] if node["op"] == "placeholder"}


def programs():
    """{name: the graphs that run together}"""
    found = {}
    for example in make.collection().examples:
        graphs = EXAMPLES / example.folder / "graphs"
        if list((EXAMPLES / example.folder).glob("*.rules")):
            continue  # the default rules do not describe it
        if any(name.startswith(example.folder + "/") for name in found):
            continue
        found[f"{example.folder}/{example.sequential}"] = [graphs / f"{example.sequential}.json"]
        found[str(pathlib.Path(example.folder, example.programs))] = [graphs / example.programs / f"r{r}.json"
                                                                      for r in range(example.ranks)]
    return found


def main():
    failed = 0
    cases = sorted(programs().items())
    jobs, expected = [], []
    for name, paths in cases:
        graphs = [load(path) for path in paths]
        source = random.Random(name)
        given = [inputs_of(graph, source) for graph in graphs]
        expected.append(evaluate.run(graphs, given))
        jobs.append({"graphs": [str(path) for path in paths], "inputs": [{k: x[1] for k, x in held.items()} for held in given]})
    run = subprocess.run([sys.argv[1]], input="".join(json.dumps(job) + "\n" for job in jobs), stdout=subprocess.PIPE, text=True, check=True)
    for (name, _), answer, right in zip(cases, map(json.loads, run.stdout.splitlines()), expected, strict=True):
        wrong = [answer["error"]] if "error" in answer else []
        for got, outputs in zip(answer.get("results", []), right):
            for tensor, (result, *_) in got.items():
                value = outputs[tensor]
                if result is None:
                    wrong.append(f"{tensor} has no value")
                elif tuple(result["shape"]) != tuple(value[0]) or max(abs(a - b) for a, b in zip(result["data"], value[1])) > TOLERANCE:
                    wrong.append(f"{tensor} differs")
        failed += bool(wrong)
        if wrong:
            print(f"{name}: {'; '.join(wrong)}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
