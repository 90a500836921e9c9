#!/usr/bin/env python3
"""verdicts.py PROGRAM: runs `PROGRAM check` on every example and compares exit code, verdict and the tensor reported with what make.py
says of it. Ends with the line `N passed, N failed, N skipped`."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
import make  # noqa: E402


def complaint(program, example, report):
    """What is wrong with the program's answer, or ""."""
    manifest = EXAMPLES / example.folder / f"{example.name}.yaml"
    run = subprocess.run([program, "check", str(manifest), "--json", str(report)], capture_output=True, text=True, timeout=300)
    expected = [0] if example.fails_at is None else [1, 3]
    if run.returncode not in expected:
        return f"exit code {run.returncode}, expected {' or '.join(map(str, expected))}\n{run.stdout}{run.stderr}"
    if not report.exists():
        return f"exit code {run.returncode}, but no report was written\n{run.stdout}{run.stderr}"
    (result,) = json.loads(report.read_text(encoding="utf-8"))["results"]
    verdict = {0: "refines", 1: "violates", 3: "unproved"}[run.returncode]
    if result["verdict"] != verdict:
        return f"exit code {run.returncode}, but verdict {result['verdict']}"
    if example.fails_at is not None and result["failing"]["tensor"] not in example.fails_at:
        return f"reported at {result['failing']['tensor']}, expected {' or '.join(example.fails_at)}\n{run.stdout}{run.stderr}"
    return ""


def main(program):
    passed = failed = skipped = 0
    for example in make.collection().examples:
        name = f"{example.folder}/{example.name}"
        if example.rules != "aten.rules" and not (EXAMPLES / example.folder / example.rules).exists():
            print(f"skip {name}: there is no {example.rules}")
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong = complaint(program, example, pathlib.Path(folder, "report.json"))
        print(f"FAIL {name}: {wrong}" if wrong else f"ok   {name}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
