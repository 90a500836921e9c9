#!/usr/bin/env python3
"""verdicts.py PROGRAM [WORD…]: runs `PROGRAM check` on what examples/generate.py writes. The right version of every strategy must
refine, no harmful break may. Prints a table and ends with the line `N passed, N failed`.

With words, only configurations whose description has all of them; a description is the options that differ from SMALL.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
from generator.strategies import Case, Config, completed, places  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from numeric import SMALL, describe, harmless  # noqa: E402

RIGHT_SECONDS = 60  # ten times what any of them needs
BREAK_SECONDS = 2   # what refines does so as fast as the right version

# The right versions: all are proved.
RIGHT = [
    dict(strategy="tp", attention="explicit", seq=3),
    dict(strategy="tp", ranks=3, heads=7, hidden=5, seq=3, batch=1),
    dict(strategy="tp", ranks=5, heads=7, mlp=9, seq=3),
    dict(strategy="tp", attention="flash", seq=3),
    dict(strategy="tp", ranks=4, heads=8, kv_heads=2, mlp=8, seq=3),
    dict(strategy="tp", ranks=4, tp=2, mlp=8, batch=4),
    dict(strategy="tp", ranks=3, heads=8, kv_heads=2),
    dict(strategy="tp", ranks=5, heads=9, kv_heads=3, seq=3, symbolic="batch"),
    dict(strategy="tp", layout="sbh", bias=False, activation="gelu", seq=3),
    dict(strategy="tp", ranks=3, symbolic="both", attention="explicit"),
    dict(strategy="tp", ranks=7, heads=7, mlp=14),
    dict(strategy="tp", ranks=16, heads=16, mlp=32, vocab=16),
    dict(strategy="tp-sp", seq=4),
    dict(strategy="tp-sp", ranks=3, heads=7, seq=6, layout="sbh", batch=3),
    dict(strategy="tp-sp", ranks=2, symbolic="both"),
    dict(strategy="vocab", layers=0),
    dict(strategy="vocab", layers=1),
    dict(strategy="vocab", ranks=3, layers=0, loss="expanded"),
    dict(strategy="vocab", ranks=3, layers=0, vocab=5),
    dict(strategy="vocab", ranks=3, layers=0, vocab=3, batch=1),
    dict(strategy="vocab", ranks=8, layers=0, heads=8, mlp=8, vocab=9),
    dict(strategy="vocab", ranks=3, symbolic="batch"),
    dict(strategy="vocab-sp", layers=0, seq=4),
    dict(strategy="vocab-sp", ranks=5, layers=0, heads=5, vocab=6, seq=5),
    dict(strategy="vocab-sp", ranks=2, symbolic="both"),
    dict(strategy="ep", batch=2),
    dict(strategy="ep", ranks=3, experts=7, batch=3),
    dict(strategy="ep", symbolic="both"),
    dict(strategy="ep-sum", seq=3),
    dict(strategy="ep-sum", ranks=5, experts=7),
    dict(strategy="ep-sum", ranks=3, symbolic="both"),
    dict(strategy="latent", layers=2, seq=3),
    dict(strategy="latent", ranks=3, heads=7, experts=8, groups=4, best_groups=2, expert_mlp=5, layers=2),
    dict(strategy="latent", ranks=4, tp=2, layers=1, dense=0, batch=4),
    dict(strategy="latent", ranks=3, layers=1, dense=0, symbolic="both"),
    dict(strategy="dp", batch=4),
    dict(strategy="dp", ranks=3, batch=7),
    dict(strategy="dp", batch=6, average="avg"),
    dict(strategy="dp", batch=4, hidden=4, mlp=4, zero=True),
    dict(strategy="dp", ranks=4, tp=2, batch=5),
    dict(strategy="dp", ranks=3, batch=6, symbolic="batch", activation="gelu"),
    dict(strategy="dp", ranks=4, tp=2, batch=4, symbolic="batch", average="avg"),
    dict(strategy="dp", batch=4, hidden=4, mlp=4, zero=True, symbolic="batch"),
    dict(strategy="ga", micro=2, batch=4),
    dict(strategy="ga", micro=3, batch=6, symbolic="batch"),
    dict(strategy="ga", micro=3, batch=7),
    dict(strategy="ga", micro=40, batch=81),
    dict(strategy="ga", micro=40, batch=80),
    dict(strategy="pp", layers=2, seq=3, batch=4),
    dict(strategy="pp", ranks=3, layers=4, micro=40, batch=40, loss="log_softmax"),
    dict(strategy="pp", ranks=3, layers=4, micro=8, batch=8, symbolic="both"),
    dict(strategy="pp", layers=2, batch=4, symbolic="sequence"),
    dict(strategy="cp", seq=4),
    dict(strategy="cp", ranks=3, seq=6),
    dict(strategy="cp", ranks=5, seq=5),
    dict(strategy="cp", ranks=5, seq=20, zigzag=True),
    dict(strategy="cp", seq=4, zigzag=True, attention="explicit"),
    dict(strategy="cp", symbolic="both"),
    dict(strategy="cp", seq=4, symbolic="both", zigzag=True),
]

# Configurations whose breaks are tried, every one with --all, else at most MOST of them, spread evenly.
BROKEN = [
    dict(strategy="tp", attention="explicit", seq=3),
    dict(strategy="tp", ranks=3, heads=7, hidden=5, seq=3, batch=1),
    dict(strategy="tp-sp", seq=4),
    dict(strategy="vocab", layers=0),
    dict(strategy="vocab", ranks=3, layers=0, loss="expanded"),
    dict(strategy="vocab", ranks=3, layers=0, vocab=5),
    dict(strategy="tp", ranks=3, heads=8, kv_heads=2),
    dict(strategy="ep", batch=2),
    dict(strategy="ep-sum", seq=3),
    dict(strategy="latent", layers=1, dense=0, experts=4, groups=2, seq=3),
    dict(strategy="dp", batch=5),
    dict(strategy="dp", batch=4, average="avg"),
    dict(strategy="dp", ranks=2, batch=4, symbolic="batch"),
    dict(strategy="ga", micro=3, batch=7),
    dict(strategy="ga", micro=2, batch=4, symbolic="batch"),
    dict(strategy="pp", layers=2, seq=3, batch=4),
    dict(strategy="cp", seq=4, attention="explicit"),
]
MOST = 4


def verdict(program, case, seconds):
    """The program's verdict, where it failed, and the time it took."""
    with tempfile.TemporaryDirectory() as folder:
        case.write(pathlib.Path(folder), "")
        report = pathlib.Path(folder, "report.json")
        begin = time.monotonic()
        run = subprocess.run([program, "check", f"{folder}/manifest.yaml", "--time-limit", str(seconds), "--json", str(report)],
                             capture_output=True, text=True, timeout=20 * RIGHT_SECONDS)
        spent = time.monotonic() - begin
        if not report.exists():
            return f"exit code {run.returncode}", (run.stderr or run.stdout).strip().split("\n")[0], spent
        (result,) = json.loads(report.read_text(encoding="utf-8"))["results"]
        failing = result.get("failing") or {}
        return result["verdict"], failing.get("tensor") or "", spent


def right(program, options):
    config = completed(Config(**{**SMALL, **options}))
    found, where, spent = verdict(program, Case(config), RIGHT_SECONDS)
    return f"{found:9} {where:20} {spent:5.1f} s  {describe(options)}", "" if found == "refines" else "must refine"


def broken(program, options, kind, label):
    config = completed(Config(**{**SMALL, **options}))
    found, where, spent = verdict(program, Case(config, kind, label), BREAK_SECONDS)
    complaint = ""
    if found == "refines" and not harmless(config, kind, label):
        complaint = "a harmful break must not refine"
    elif found not in ("refines", "unproved", "violates"):
        complaint = "no verdict"
    return f"{found:9} {where:20} {spent:5.1f} s  {describe(options)}: {kind}, {label}", complaint


def breaks(options, most):
    found = places(completed(Config(**{**SMALL, **options})))
    chosen = found if most is None or len(found) <= most else [found[k * len(found) // most] for k in range(most)]
    return [(kind, label) for kind, _, label in chosen]


def main(program, words):
    most = None if "--all" in words else MOST
    words = [w for w in words if w != "--all"]
    chosen = lambda options: all(w in describe(options) for w in words)  # noqa: E731
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        jobs = [pool.submit(right, program, options) for options in RIGHT if chosen(options)]
        jobs += [pool.submit(broken, program, options, kind, label)
                 for options in BROKEN if chosen(options) for kind, label in breaks(options, most)]
        for job in jobs:
            line, complaint = job.result()
            print(f"{'FAIL ' if complaint else 'ok   '} {line}{'  -- ' + complaint if complaint else ''}", flush=True)
            passed, failed = passed + (not complaint), failed + bool(complaint)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
