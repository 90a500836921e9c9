#!/usr/bin/env python3
"""mutations.py PROGRAM EVALUATE [--count N] [--seed S] [--keep FOLDER]: random changes of the SPMD modules that refine (examples/hlo and the
pairs of verdicts.py). Both programs are run on random numbers (tests/tools/evaluate.cpp): where their results differ, the changed module must
not be said to refine. Ends with the line `N mutants: …`."""
import argparse
import collections
import itertools
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "examples")]
import evaluate  # noqa: E402
import partitioned  # noqa: E402
import verdicts  # noqa: E402

INSTRUCTION = re.compile(r"^(\s*(?:ROOT )?%?)([\w.-]+) = (\w+\[[\d,]*\])\S* ([\w-]+)\((.*?)\)(.*)$")
ALIKE = [["add", "subtract", "multiply", "maximum", "minimum"], ["tanh", "sine", "negate", "logistic", "copy"]]
RUNS = 3


def simple(placements):
    return all(re.fullmatch(r"Replicate|Shard\(\d\)", p) for p in placements.values())


def pairs():
    """(name, sequential, distributed, inputs, expect, ranks) of those with plain layouts."""
    for manifest, fails in verdicts.examples():
        if not fails:
            text = manifest.read_text(encoding="utf-8")
            files = dict(re.findall(r"^(sequential|distributed): (\S+)", text, re.MULTILINE))
            layouts = [dict(re.findall(r"^  (\S+): (\S+)", part, re.MULTILINE)) for part in text.split("inputs:")[1].split("expect:")]
            yield (manifest.stem, *((manifest.parent / files[key]).read_text(encoding="utf-8") for key in ("sequential", "distributed")), *layouts,
                   int(re.search(r"^ranks: (\d+)", text, re.MULTILINE).group(1)))
    for group in (verdicts.products, verdicts.shares, verdicts.loops, verdicts.numbers, partitioned.partitioned):
        for pair in group():
            if not pair.fails and isinstance(pair.distributed, str) and simple(pair.inputs) and simple(pair.expect) and not (pair.rules or pair.assume):
                yield pair.name, pair.sequential, pair.distributed, pair.inputs, pair.expect, pair.ranks


def mutants(text, source):
    """One change of a module; None where the choice does not fit."""
    lines = text.splitlines()
    at = source.choice([k for k, line in enumerate(lines) if INSTRUCTION.match(line)])
    head, name, shape, opcode, operands, rest = INSTRUCTION.match(lines[at]).groups()
    kind = source.randrange(6)
    if kind == 0:  # another operand of the same type
        mine = re.findall(r"%?[\w.-]+", operands)
        types = {m.group(2): m.group(3) for m in filter(None, map(INSTRUCTION.match, lines[:at]))}
        used = [o for o in mine if o.lstrip("%") in types]
        if not used:
            return None
        old = source.choice(used)
        others = [o for o, type_of in types.items() if type_of == types[old.lstrip("%")] and o != old.lstrip("%")]
        if not others:
            return None
        operands = re.sub(rf"(?<![\w.-]){re.escape(old)}(?![\w.-])", ("%" if old.startswith("%") else "") + source.choice(others), operands, count=1)
    elif kind == 1:  # another operator
        family = next((f for f in ALIKE if opcode in f), None)
        if family is None:
            return None
        opcode = source.choice([o for o in family if o != opcode])
    elif kind == 2 and opcode == "constant":  # another number
        numbers = list(re.finditer(r"-?\d+(\.\d+)?(e-?\d+)?", operands))
        if not numbers:
            return None
        chosen = source.choice(numbers)
        operands = operands[:chosen.start()] + source.choice(["0", "1", "2", "3"]) + operands[chosen.end():]
    elif kind == 3 and opcode in ("all-reduce", "collective-permute"):  # nothing is exchanged
        opcode, rest = "copy", ""
    elif kind == 4 and "to_apply=" in rest:
        rest = re.sub(r"to_apply=%?\w+(\.\d+)?", f"to_apply={source.choice(['more', 'times', 'first'])}", rest)
        if "more {" not in text:
            return None
    elif kind == 5 and "replica_groups=" in rest:
        ranks = [int(n) for n in re.findall(r"\d+", re.search(r"num_partitions=(\d+)|replica_count=(\d+)|$", text).group(0))] or [2]
        order = list(range(ranks[0]))
        source.shuffle(order)
        groups = [order] if source.random() < 0.5 else [[r] for r in order]
        listed = "{" + ",".join("{" + ",".join(map(str, g)) + "}" for g in groups) + "}"
        rest = re.sub(r"replica_groups=(\{\{[\d,{}]*\}\}|\{\}|\[[\d,]+\]<=\[[\d,]+\])", f"replica_groups={listed}", rest)
    else:
        return None
    changed = f"{head}{name} = {shape} {opcode}({operands}){rest}"
    if changed == lines[at]:
        return None
    return "\n".join(lines[:at] + [changed] + lines[at + 1:]) + "\n", changed.strip()


def parameters(text):
    entry = text[text.index("ENTRY"):]
    return {m[0]: [int(n) for n in m[1].split(",") if n] for m in re.findall(r"%?([\w.-]+) = \w+\[([\d,]*)\]\S* parameter\(", entry)}


class Numbers:
    """What both programs compute."""

    def __init__(self, program):
        self.program = program

    def run(self, jobs):
        done = subprocess.run([self.program], input="".join(json.dumps(job) + "\n" for job in jobs), stdout=subprocess.PIPE, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def differ(self, sequential, distributed, inputs, expect, ranks, source):
        """Whether results differ; None where one of the programs has no value."""
        jobs = []
        for _ in range(RUNS):
            whole = {name: (shape, [source.gauss(0, 1) for _ in range(evaluate.size(shape))]) for name, shape in parameters(sequential).items()}
            whole = {name: (tuple(shape), data) for name, (shape, data) in whole.items()}
            held = []
            for rank in range(ranks):
                def part(x, placement, rank=rank):
                    if placement == "Replicate":
                        return x
                    axis = int(placement[6:-1])
                    n = x[0][axis] // ranks
                    return evaluate.cut(x, axis, rank * n, rank * n + n)
                held.append({name: part(x, inputs[name])[1] for name, x in whole.items() if name in inputs})
            jobs.append({"graphs": [sequential], "inputs": [{name: x[1] for name, x in whole.items()}]})
            jobs.append({"graphs": [distributed] * ranks, "inputs": held})
        answers = self.run(jobs)
        for right, found in zip(answers[::2], answers[1::2]):
            if "error" in right or "error" in found or found["mismatch"]:
                return None
            for name, placement in expect.items():
                (x,) = right["results"][0][name]
                parts = [outputs.get(name, [None])[0] for outputs in found["results"]]
                if x is None or any(p is None for p in parts):
                    return None
                parts = [(tuple(p["shape"]), p["data"]) for p in parts]
                ys = parts if placement == "Replicate" else [evaluate.join(parts, int(placement[6:-1]))]
                for y in ys:
                    numbers = [v for pair in zip(x["data"], y[1]) for v in pair]
                    if any(isinstance(v, str) for v in numbers):
                        return None
                    if tuple(x["shape"]) != tuple(y[0]) or any(abs(a - b) > 1e-6 * max(1, abs(a)) for a, b in zip(x["data"], y[1])):
                        return True
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("evaluate")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    program, numbers = str(pathlib.Path(options.program).resolve()), Numbers(options.evaluate)
    counts, failed = collections.Counter(), 0
    all_pairs = list(pairs())
    for name, sequential, distributed, inputs, expect, ranks in all_pairs:  # the programs themselves agree
        assert numbers.differ(sequential, distributed, inputs, expect, ranks, random.Random(name)) is False, name
    source = random.Random(options.seed)
    for pair in itertools.islice(itertools.cycle(all_pairs), options.count):
        name, sequential, distributed, inputs, expect, ranks = pair
        mutant = next(filter(None, (mutants(distributed, source) for _ in range(100))), None)
        if mutant is None:
            continue
        text, what = mutant
        state = {True: "differs", False: "equal", None: "no value"}[numbers.differ(sequential, text, inputs, expect, ranks, source)]
        with tempfile.TemporaryDirectory() as folder:
            manifest = verdicts.Pair("", sequential, text, inputs, expect, ranks=ranks).write(pathlib.Path(folder))
            done = subprocess.run([program, "check", str(manifest)], capture_output=True, text=True, timeout=300)
            verdict = {**verdicts.VERDICTS, 2: "bad input"}.get(done.returncode, f"exit code {done.returncode}")
            wrong = verdict.startswith("exit code") or (state == "differs" and verdict == "refines")
            if wrong:
                failed += 1
                print(f"FAIL {name}: {what}: {state}, {verdict}\n{done.stderr[-1000:]}")
                if options.keep:
                    shutil.copytree(folder, options.keep / str(failed), dirs_exist_ok=True)
        counts[state, verdict] += 1
    print(f"{sum(counts.values())} mutants: " + ", ".join(f"{n} {state}: {verdict}" for (state, verdict), n in sorted(counts.items())) + f"; {failed} failed")
    return 1 if failed or not counts["differs", "unproved"] else 0


if __name__ == "__main__":
    sys.exit(main())
