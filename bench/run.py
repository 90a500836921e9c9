#!/usr/bin/env python3
"""Times `entangle check` on the examples and, where it is there, on the shared data.

    bench/run.py [--program build/entangle] [--runs 5] [--json FILE] [MANIFEST…]

Prints a table: seconds of the whole process (median), its phases as the program reports them, peak memory, and the ratio to the first
row. Ratios of one run are what to compare: the machine is noisy. Plain Python, no packages.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PHASES = ("read", "lower", "infer")


def manifests():
    """The right examples, then the shared data that is expected to refine."""
    found = [ROOT / "examples" / name for name in ("mlp/tp2.yaml", "attention/tp2.yaml", "transformer/tp2.yaml", "transformer/tp4.yaml")]
    shared = ROOT.parent / "shared" / "data"
    for folder in ("qwen2", "aws_llama", "gpt"):
        found += sorted((shared / folder).glob("*.yaml"))
    return found


def once(program, manifest, report):
    """Seconds of the process, the program's own times, peak memory in MB."""
    start = time.perf_counter()
    process = subprocess.Popen([program, "check", str(manifest), "--json", str(report)], stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    (result,) = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))["results"]
    return {"total": seconds, "cpu": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1024,
            "verdict": result.get("verdict", "error"), "lemmas": {lemma["name"]: lemma["applied"] for lemma in result.get("lemmas", [])},
            **{phase: result.get("times", {}).get(phase, 0) for phase in PHASES}}


def measure(program, manifest, runs):
    with tempfile.TemporaryDirectory() as folder:
        all_runs = [once(program, manifest, pathlib.Path(folder) / "report.json") for _ in range(runs)]
    row = {key: statistics.median(run[key] for run in all_runs) for key in ("total", "cpu", "megabytes", *PHASES)}
    name = manifest.relative_to(ROOT.parent) if manifest.is_relative_to(ROOT.parent) else manifest
    return {"manifest": str(name), "verdict": all_runs[0]["verdict"], **row, "lemmas": all_runs[0]["lemmas"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "entangle"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("manifest", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    if not os.access(args.program, os.X_OK):
        sys.exit(f"there is no program {args.program}: build it with ./dev build")
    rows = []
    print(f"{'manifest':44} {'verdict':9} {'seconds':>8} {'cpu':>7} {'read':>7} {'lower':>7} {'infer':>7} {'MB':>6} {'ratio':>6}")
    for manifest in [m.resolve() for m in args.manifest] or manifests():
        row = measure(args.program, manifest, args.runs)
        rows.append(row)
        numbers = " ".join(f"{row[key]:7.3f}" for key in ("cpu", *PHASES))
        print(f"{row['manifest']:44} {row['verdict']:9} {row['total']:8.3f} {numbers} {row['megabytes']:6.0f} {row['total'] / rows[0]['total']:6.2f}", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"schema": 1, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
