#!/usr/bin/env python3
"""shared.py PROGRAM [--shared FOLDER] [--only TEXT] [--timeout S] [--jobs N]: checks the captured graphs and the cases of public bug reports
and compares every answer with what they are described to be. They are no part of the project; where they are absent the test is skipped
(exit status 77).

  data/README.md    a table: manifest, what it is, verdict, the sequential tensors of the failing chain
  cases/index.tsv   a line per case; fixed.yaml must refine, bug.yaml must not, and be reported at `bug_fails_at` (`a|b`: either)

What the program is known not to do yet is listed here. The test fails when an answer is worse than that, and also when it is better, so that
the lists stay true."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77

# Cases whose repaired version is not proved.
UNPROVED_FIXED = set()
# Cases whose buggy version is reported at another tensor than described.
OTHER_PLACE = {}
# Checks that take longer than others: seconds.
PATIENCE = {"cases/automodel-1324-3d": 600}

VERDICTS = {0: "refines", 1: "violates", 3: "unproved"}


class Check:
    """A manifest and what must come out. `places`: where a failure may be reported (empty: anywhere); `chain`: tensors it must name."""

    def __init__(self, name, manifest, refines, places=(), chain=(), known=""):
        self.name, self.manifest, self.refines, self.places, self.chain, self.known = name, manifest, refines, places, chain, known
        self.code, self.seconds, self.found = None, 0.0, "-"

    def run(self, program, timeout):
        """What is wrong with the answer; "" if nothing."""
        patience = max([timeout] + [s for name, s in PATIENCE.items() if self.name.startswith(name)])
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "report.json")
            start = time.monotonic()
            try:
                run = subprocess.run([program, "check", str(self.manifest), "--json", str(report)], capture_output=True, text=True,
                                     timeout=patience)
            except subprocess.TimeoutExpired:
                return f"no answer within {patience:.0f} s"
            finally:
                self.seconds = time.monotonic() - start
            self.code = run.returncode
            if self.code not in VERDICTS:
                return f"exit code {self.code}: {(run.stderr or run.stdout).strip()[:400]}"
            (result,) = json.loads(report.read_text(encoding="utf-8"))["results"]
        return self.judge(result)

    def judge(self, result):
        if result["verdict"] != VERDICTS[self.code]:
            return f"exit code {self.code}, but verdict {result['verdict']}"
        failing = result["failing"]
        if failing:
            self.found = failing["tensor"]
        if self.refines:
            return "" if self.code == 0 else "not proved"
        if self.code == 0:
            return "REFINES, but the program is wrong"
        if self.places and self.found not in self.places:
            return f"reported at {self.found}, not at {' or '.join(self.places)}"
        chain = [place["tensor"] for place in failing["chain"]] if failing else []
        missing = [tensor for tensor in self.chain if tensor not in chain]
        return f"the chain {' '.join(chain)} lacks {' '.join(missing)}" if missing else ""


def braces(pattern):
    """`a{1,2}b` is `a1b`, `a2b`."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    return [p for part in found.group(1).split(",") for p in braces(pattern[:found.start()] + part + pattern[found.end():])]


def captured(folder):
    """The rows of the table. What is left uncut fails at many places: anywhere will do."""
    checks = []
    for line in (folder / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        pattern = re.fullmatch(r"`([^`]+\.yaml)`", cells[0])
        if len(cells) != 4 or not pattern:
            continue
        refines = cells[2] == "refines"
        uncut = ".full." in pattern.group(1)
        tensors = [] if uncut else re.findall(r"`(\w+)`", cells[3].split("(")[0])
        manifests = sorted(m for p in braces(pattern.group(1)) for m in folder.glob(p))
        assert manifests, f"nothing matches {pattern.group(1)}"
        assert refines or tensors or uncut, f"no tensor is named for {pattern.group(1)}"
        chain = tensors if len(tensors) > 1 else []
        checks += [Check(f"data/{m.relative_to(folder)}", m, refines, tensors[:1], chain) for m in manifests]
    assert checks, "the table of data/README.md was not understood"
    return checks


def without_all_reduce(folder, scratch):
    """The HLO modules with one all-reduce less: reported where the sequential program uses what it should have summed."""
    checks = []
    for manifest in sorted(folder.glob("hlo/*.yaml")):
        names = dict(re.findall(r"^(sequential|distributed): (\S+)", manifest.read_text(encoding="utf-8"), re.MULTILINE))
        sequential, module = ((manifest.parent / names[key]).read_text(encoding="utf-8") for key in ("sequential", "distributed"))
        reduced = re.findall(r"^ *%(all-reduce[.\d]*) = .* all-reduce\(%([\w.-]+)\).*\n", module, re.MULTILINE)
        assert reduced, f"there is no all-reduce in {names['distributed']}"
        # A residual stream: the k-th all-reduce is the first operand of an addition, so is what it sums in the sequential program.
        sums = re.findall(r"^ *%(\S+) = .* add\(%reshape[.\d]+, ", sequential, re.MULTILINE)
        assert len(sums) == len(reduced), f"{len(reduced)} all-reduces, {len(sums)} additions"
        for (name, operand), place in zip(reduced, sums):
            target = scratch / f"{manifest.stem}.{name}"
            shutil.copytree(manifest.parent, target)
            text = re.sub(rf"^ *%{re.escape(name)} = .*\n", "", module, flags=re.MULTILINE)
            (target / names["distributed"]).write_text(re.sub(rf"%{re.escape(name)}(?=[,)])", f"%{operand}", text), encoding="utf-8")
            checks.append(Check(f"data/hlo/{manifest.stem} without {name}", target / manifest.name, False, [place]))
    return checks


def cases(folder):
    checks = []
    header, *lines = (folder / "index.tsv").read_text(encoding="utf-8").splitlines()
    columns = header.split("\t")
    for line in lines:
        row = dict(zip(columns, line.split("\t"), strict=True))
        name = row["case"]
        fixed, bug = (folder / name / f"{kind}.yaml" for kind in ("fixed", "bug"))
        checks.append(Check(f"cases/{name}/fixed", fixed, True, known="not proved" if name in UNPROVED_FIXED else ""))
        places = row["bug_fails_at"].split("|")
        known = f"reported at {OTHER_PLACE[name]}, not at {' or '.join(places)}" if name in OTHER_PLACE else ""
        checks.append(Check(f"cases/{name}/bug", bug, False, places, known=known))
    names = {check.name.split("/")[1] for check in checks}
    unknown = (UNPROVED_FIXED | set(OTHER_PLACE)) - names
    assert not unknown, f"no such case: {', '.join(sorted(unknown))}"
    return checks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--only", default="", help="checks whose name contains this")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one check")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    absent = [name for name in ("data/README.md", "cases/index.tsv") if not (options.shared / name).exists()]
    if absent:
        print(f"skipped: there is no {' and no '.join(str(options.shared / name) for name in absent)}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        return run(options, captured(options.shared / "data") + without_all_reduce(options.shared / "data", pathlib.Path(scratch))
                   + cases(options.shared / "cases"))


def run(options, checks):
    checks = [c for c in checks if options.only in c.name]
    width = max(len(c.name) for c in checks)
    counts = {"ok": 0, "known": 0, "WORSE": 0, "BETTER": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for check, wrong in zip(checks, pool.map(lambda c: c.run(options.program, options.timeout), checks)):
            if wrong == check.known:
                state = "known" if wrong else "ok"
            else:
                state = "WORSE" if wrong else "BETTER"
            counts[state] += 1
            verdict = VERDICTS.get(check.code, "-")
            remark = wrong if state != "BETTER" else f"right now: take it off the list ({check.known})"
            print(f"{state:6} {check.name:{width}}  {verdict:8}  {check.found:14} {check.seconds:6.1f} s  {remark}".rstrip(), flush=True)
    print(", ".join(f"{n} {state}" for state, n in counts.items()))
    return 1 if counts["WORSE"] or counts["BETTER"] else 0


if __name__ == "__main__":
    sys.exit(main())
