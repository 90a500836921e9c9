#!/usr/bin/env python3
"""fuzz.py PROGRAM [--count N] [--seed S] [--variants N] [--keep FOLDER]: random programs over many operators, each with a distributed
version for 1 to 3 ranks and versions of that with one mistake; PyTorch says which of them compute what the manifest expects, and none
that does not may be said to refine. Skipped (exit code 77) where no Python has PyTorch. Ends with the line `N pairs: …`.

Where a sequential element is no number (a division by zero, the logarithm of a negative number) nothing is compared; a pair that differs
only in that the ranks' element is none is counted apart."""
import collections
import json
import pathlib
import random
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pytorch"))
import available  # noqa: E402

if (code := available.elsewhere()) is not None:
    sys.exit(code)
import programs  # noqa: E402
from checking import BATCH, arguments, verdicts  # noqa: E402

SEEDS = range(9)


def graph(nodes, values, inputs, rank, ranks, outputs):
    listed = []
    for name in inputs:
        shape, dtype = programs.described(values[name])
        listed.append({"name": name, "op": "placeholder", "shape": shape, "dtype": dtype})
    for one in nodes:
        shape, dtype = programs.described(values[one["name"]])
        listed.append({**one, "shape": shape, "dtype": dtype})
    return {"format": "entangle-graph", "version": 1, "name": "fuzz", "rank": rank, "world_size": ranks, "source": "pytorch",
            "groups": {"tp": list(range(ranks))}, "inputs": list(inputs), "outputs": outputs, "nodes": listed}


def write(pair, folder):
    """False where the programs cannot be written down: they do not run on the first inputs."""
    try:
        expected, found = pair.evaluate(0)
    except (programs.Unfit, IndexError, KeyError):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sequential.json").write_text(json.dumps(graph(pair.nodes, expected, pair.inputs, 0, 1, list(pair.outputs))))
    outputs = list(dict.fromkeys(name for name, _ in pair.outputs.values()))
    for rank in range(pair.ranks):
        text = json.dumps(graph(pair.programs[rank], found[rank], pair.inputs, rank, pair.ranks, outputs))
        (folder / f"r{rank}.json").write_text(text)
    lines = ["sequential: sequential.json", "distributed: r{rank}.json", f"ranks: {pair.ranks}"]
    ranges = [f'  - "{name} in [{pair.inputs[name][2]}, {pair.inputs[name][3]})"' for name, known in pair.assumed.items() if known]
    lines += ["assume:", *ranges] if ranges else []
    lines += ["inputs:"] + [f"  {name}: {programs.text(p)}" for name, p in pair.placements.items()]
    lines += ["expect:"] + [f"  {output}: {expectation(pair, name, p)}" for output, (name, p) in pair.outputs.items()]
    (folder / "manifest.yaml").write_text("\n".join(lines) + "\n")
    return True


def expectation(pair, name, placement):
    leaves = [f"r{r}.{name}" for r in range(pair.ranks)]
    if placement == programs.REPLICATE:
        return "[" + ", ".join(leaves) + "]"
    if len(leaves) == 1:
        return leaves[0]
    return f'"add_n({", ".join(leaves)})"' if placement == programs.PARTIAL else f'"concat({", ".join(leaves)}; {placement[1]})"'


def pairs(seed, variants):
    """The programs of one seed."""
    source = random.Random(seed)
    ranks = source.choice((1, 2, 2, 2, 3))
    sequential = programs.Sequential(source, ranks)
    if not sequential.nodes:
        return
    try:
        distributed = programs.Distributed(sequential, ranks, source)
    except (programs.Unfit, IndexError):
        return
    pair = programs.Pair(sequential, distributed, source)
    if not pair.outputs or any(name in pair.inputs for name, _ in pair.outputs.values()):
        return
    yield pair
    for _ in range(variants):
        changed = programs.mistake(pair, source)
        if changed is not None:
            yield changed


def main():
    options = arguments(__doc__, 4)
    counts, failed, errors = collections.Counter(), 0, collections.Counter()
    scratch = pathlib.Path(tempfile.mkdtemp())
    waiting = []

    def flush():
        nonlocal failed
        if not waiting:
            return
        found, why = verdicts(options.program, options.rules, [folder for _, folder, _ in waiting])
        if found is None:
            failed += 1
            print(f"FAIL the program ended: {why}", flush=True)
            found, why = ["-"] * len(waiting), [None] * len(waiting)
        for (label, folder, state), verdict, error in zip(waiting, found, why):
            counts[state, verdict] += 1
            if error:
                errors[error.get("id") if isinstance(error, dict) else str(error)] += 1
            if state == "differs" and verdict == "refines" or verdict == "bad input" and options.keep:
                bad = verdict == "refines"
                failed += bad
                print(f"{'FAIL' if bad else 'note'} {label}: {state}, {verdict}: {error}", flush=True)
                if options.keep:
                    shutil.copytree(folder, pathlib.Path(options.keep) / folder.name, dirs_exist_ok=True)
            elif state == "no number" and verdict == "refines" and options.keep:
                print(f"note {label}: {state}, {verdict}", flush=True)
                shutil.copytree(folder, pathlib.Path(options.keep) / folder.name, dirs_exist_ok=True)
            shutil.rmtree(folder)
        waiting.clear()

    for seed in range(options.seed, options.seed + options.count):
        for number, pair in enumerate(pairs(seed, options.variants)):
            state = pair.judge(SEEDS)
            folder = scratch / f"{seed}-{number}"
            if state is not None and write(pair, folder):
                waiting.append((f"{seed}-{number} ({pair.ranks} ranks, {pair.what})", folder, state))
        if len(waiting) >= BATCH:
            flush()
    flush()
    shutil.rmtree(scratch)
    found = ", ".join(f"{n} {state}: {verdict}" for (state, verdict), n in sorted(counts.items()))
    print(f"{sum(counts.values())} pairs: {found}; {failed} failed" + (f"; bad input: {dict(errors)}" if errors else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
