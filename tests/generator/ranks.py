#!/usr/bin/env python3
"""ranks.py PROGRAM [--ranks N,N,…] [--only TEXT,TEXT,…] [--seconds S]: the table of what is proved for how many ranks.

A row for each strategy of examples/generate.py (context parallel also in zig-zag order) and number of ranks, with shards of unequal size
wherever the strategy allows them: the verdict, the tensor it failed at, the time, the local problems and the nodes of the largest.
Fails unless every row is proved, and for many ranks in a small e-graph."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
from generator.strategies import Case, Config, completed  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from numeric import SMALL  # noqa: E402

# What depends on the number of ranks n; shares of heads, rows, experts, layers, micro-batches and the batch differ by one.
TABLE = {
    "tp": lambda n: dict(heads=n + n // 2),
    "tp-sp": lambda n: dict(heads=n + n // 2, seq=n),
    "vocab": lambda n: dict(layers=0),
    "vocab-sp": lambda n: dict(layers=0, seq=n),
    "ep": lambda n: dict(batch=n, experts=n + n // 2),
    "ep-sum": lambda n: dict(experts=n + 1),
    "latent": lambda n: dict(heads=n + n // 2, experts=2 * n + 2, groups=2, expert_mlp=n + 1, layers=2),
    "dp": lambda n: dict(batch=2 * n + 1),
    "ga": lambda n: dict(micro=n, batch=2 * n + 1),
    "pp": lambda n: dict(layers=n + 1, batch=4),
    "cp": lambda n: dict(seq=2 * n),
    "cp zigzag": lambda n: dict(seq=4 * n, zigzag=True),
}

# On so many ranks what they exchange is kept whole (docs/inference.md): where a rule that does so is missing, the terms of all pairs of ranks
# appear, and the largest e-graph has several times as many nodes.
MANY = 64
LARGEST = {"tp": 2000, "tp-sp": 6000, "ep": 4000, "ep-sum": 1200, "latent": 4000, "dp": 1200, "ga": 4000, "pp": 200, "cp": 3000}


def config(row, n):
    options = dict(mlp=2 * n + 1, heads=max(4, n), vocab=max(7, 2 * n + 1))
    return completed(Config(**{**SMALL, **options, **TABLE[row](n), "strategy": row.split()[0], "ranks": n}))


def check(program, case, seconds):
    with tempfile.TemporaryDirectory() as folder:
        case.write(pathlib.Path(folder), "")
        begin = time.monotonic()
        run = subprocess.run([program, "check", f"{folder}/manifest.yaml", "--time-limit", str(seconds), "--json", "-"],
                             capture_output=True, text=True)
        spent = time.monotonic() - begin
    results = json.loads(run.stdout)["results"] if run.stdout.startswith("{") else [{}]
    return results[0] if "verdict" in results[0] else {"verdict": f"exit code {run.returncode}"}, spent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--ranks", default="2,3,5,7,16,64")
    parser.add_argument("--only", default="", help="strategies whose name contains one of these")
    parser.add_argument("--seconds", type=float, default=300, help="for each check")
    options = parser.parse_args()
    print(f"{'strategy':10} {'ranks':>5} {'verdict':9} {'seconds':>8} {'problems':>8} {'largest':>8}  failed at")
    unproved = large = 0
    for row in (row for row in TABLE if any(text in row for text in options.only.split(","))):
        for n in map(int, options.ranks.split(",")):
            result, spent = check(options.program, Case(config(row, n)), options.seconds)
            statistics, failing = result.get("statistics", {}), result.get("failing") or {}
            unproved += result["verdict"] != "refines"
            grown = n == MANY and statistics.get("largest_egraph", 0) > LARGEST.get(row, float("inf"))
            large += grown
            print(f"{row:10} {n:5} {result['verdict']:9} {spent:8.2f} {statistics.get('local_problems', 0):8} "
                  f"{statistics.get('largest_egraph', 0):8}  {failing.get('tensor', '')}{' too large' if grown else ''}", flush=True)
    print(f"{unproved} not proved" + (f", {large} too large" if large else ""))
    return 1 if unproved or large else 0


if __name__ == "__main__":
    sys.exit(main())
