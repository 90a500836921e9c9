#!/usr/bin/env python3
"""verdicts.py ENTANGLE [WORD] [--values] [--keep DIR]: programs parallelised in the ways people do it, each with versions that contain one
mistake. The right ones refine, with no operator unknown; the others do not, and stop where the mistake takes effect.

--values runs them all on random numbers with PyTorch instead: the right ones agree with what the manifest expects, the others do not.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from building import Program  # noqa: E402


class Case:
    """`build(p)` makes the program of `p`; `inputs` and `expect` are sections of the manifest, in which `more` stands, too. `breaks`: what
    may be wrong, and the sequential tensor at which the check then stops. `cut(values, rank)`: the rank's inputs, by name, where a placement
    does not say it; `joined(outputs)`: sequential outputs from the ranks'."""

    def __init__(self, name, build, inputs, expect, breaks, ranks=2, groups=None, more="", cut=None, joined=None, ranges=None,
                 positive=()):
        self.name, self.build, self.inputs, self.expect, self.breaks = name, build, inputs, expect, breaks
        self.ranks, self.groups, self.more, self.cut, self.joined, self.ranges = ranks, groups, more, cut, joined, ranges or {}
        self.positive = positive  # inputs that are not negative

    def program(self, rank=None, broken=None):
        p = Program(rank, self.ranks, self.groups and self.groups(rank), broken) if rank is not None else Program()
        self.build(p)
        return p

    def write(self, folder, broken):
        (folder / "sequential.json").write_text(json.dumps(self.program().graph()), encoding="utf-8")
        for rank in range(self.ranks):
            (folder / f"r{rank}.json").write_text(json.dumps(self.program(rank, broken).graph()), encoding="utf-8")
        lines = ["sequential: sequential.json", "distributed: r{rank}.json", f"ranks: {self.ranks}"]
        lines += [self.more] if self.more else []
        lines += ["assume:"] + [f'  - "{name} in [0, {n})"' for name, n in self.ranges.items()] if self.ranges else []
        quoted = lambda text: text if text.startswith(("Shard", "Replicate", "Partial", "{", "[")) else json.dumps(text)
        for section, entries in (("inputs", self.inputs), ("expect", self.expect)):
            lines += [f"{section}:"] + [f"  {name}: {quoted(text)}" for name, text in entries.items()]
        (folder / "manifest.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def verdict(entangle, folder):
    run = subprocess.run([entangle, "check", str(folder / "manifest.yaml"), "--json", "-"], capture_output=True, text=True, check=False)
    answer = json.loads(run.stdout) if run.stdout.startswith("{") else {"error": run.stdout + run.stderr}
    result = (answer.get("results") or [answer])[0]
    return result if "verdict" in result else {"verdict": "error", "failing": {"tensor": json.dumps(answer.get("error"))[:300]}}


def judged(entangle, case, broken, folder):
    """What was found, and what is wrong with that (or nothing)."""
    case.write(folder, broken)
    result = verdict(entangle, folder)
    at = (result.get("failing") or {}).get("tensor", "")
    if broken is None:
        loose = [*result.get("opaque", []), *result.get("obligations", [])]
        return f"{result['verdict']} {at}", "must refine" if result["verdict"] != "refines" else f"rests on {loose}" if loose else ""
    if result["verdict"] not in ("unproved", "violates"):
        return result["verdict"], "must not refine"
    return f"{result['verdict']} at {at}", "" if at == case.breaks[broken] else f"must stop at {case.breaks[broken]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("entangle")
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--values", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if options.values:
        import values
        judge = values.judged
    else:
        judge = judged
    from kinds import cases
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases():
            if options.word not in case.name:
                continue
            for broken in (None, *case.breaks):
                folder = (options.keep or pathlib.Path(scratch)) / f"{case.name}{', ' + broken if broken else ''}".replace(" ", "-").replace("/", "-")
                folder.mkdir(parents=True, exist_ok=True)
                found, complaint = judge(options.entangle, case, broken, folder)
                passed, failed = passed + (not complaint), failed + bool(complaint)
                text = f"{case.name}{', ' + broken if broken else ''}: {found}{'  -- ' + complaint if complaint else ''}"
                print(f"{'FAIL ' if complaint else 'ok   '} {text}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
