#!/usr/bin/env python3
"""Times `entangle check` on generated models: over ranks, over layers, at the size of large models, and with mistakes.

    bench/scale.py [--program build/entangle] [--runs 5] [--json FILE] [--only WORD…]

Prints a table of processor seconds (median), their phases as the program reports them, peak memory, local problems and how many of them were
solved from the memo, and the share of side conditions that reached the solver; then the ratios to compare: 64 ranks to 8, one further layer, start-up
with and without the cache of parsed rules. Plain Python, no packages. The models come from examples/generate.py.
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

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))
sys.path.insert(0, str(ROOT / "tests" / "generator"))
from generator.strategies import Case, Config, completed  # noqa: E402
from ranks import TABLE, config  # noqa: E402
import wrong  # noqa: E402

BLOCK = dict(strategy="tp", heads=64, hidden=256, mlp=256, vocab=128, seq=8, batch=2, layers=1)
LLAMA_405B = dict(heads=128, kv_heads=8, hidden=16384, mlp=53248, vocab=128256, seq=4096, batch=1, layers=126, ranks=8, bias=False, dtype="bf16")
DEEPSEEK_V3 = dict(heads=128, head_dim=128, rope=64, value_dim=128, latent=512, query_latent=1536, hidden=7168, mlp=18432, expert_mlp=2048, dense=3,
                   experts=256, top_k=8, groups=8, best_groups=4, vocab=129280, seq=4096, batch=1, layers=61, ranks=8, bias=False, dtype="bf16")
FEW, MANY = 8, 64
MODELS = (
    [(f"{ranks} ranks", dict(BLOCK, ranks=ranks)) for ranks in (2, 4, 8, 16, 32, 64)]
    + [(f"{strategy}, {ranks} ranks", config(strategy, ranks)) for strategy in TABLE for ranks in (FEW, MANY)]
    + [(f"{layers} layers", dict(BLOCK, ranks=8, layers=layers)) for layers in (1, 2, 4, 8, 16)]
    + [("symbolic batch and length", dict(BLOCK, ranks=4, symbolic="both")),
       ("405B shape, tp", dict(LLAMA_405B, strategy="tp")),
       ("405B shape, tp-sp", dict(LLAMA_405B, strategy="tp-sp")),
       ("DeepSeek-V3 shape, tp and experts", dict(DEEPSEEK_V3, strategy="latent")),
       ("experts", dict(strategy="ep-sum", ranks=8, heads=16, hidden=7168, mlp=2048, experts=256, vocab=129280, seq=4096, batch=1, layers=4))]
    + [(f"wrong: {name}", wrong.case(*row)) for name, row in wrong.TABLE.items()]
)


def case_of(model):
    if isinstance(model, Case):
        return model
    return Case(completed(Config(**model)) if isinstance(model, dict) else model)


def once(program, manifest, report, options=(), cache=None):
    environment = dict(os.environ, **({} if cache is None else {"ENTANGLE_CACHE": cache}))
    start = time.perf_counter()
    process = subprocess.Popen([program, "check", str(manifest), "--json", str(report), *options], stdout=subprocess.DEVNULL, env=environment)
    _, _, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    (result,) = json.loads(pathlib.Path(report).read_text(encoding="utf-8"))["results"]
    numbers = result["statistics"]
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "megabytes": usage.ru_maxrss / 1024, "verdict": result["verdict"],
            **result["times"], "problems": numbers["local_problems"], "memo": numbers["by_memo"],
            "conditions": numbers["conditions"], "solver": numbers["conditions_by_solver"]}


def median(program, manifest, folder, runs, options=(), cache=None):
    rows = [once(program, manifest, folder / "report.json", options, cache) for _ in range(runs)]
    return {key: value if isinstance(value, str) else statistics.median(row[key] for row in rows) for key, value in rows[0].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "entangle"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="only models whose name has one of these words")
    args = parser.parse_args()
    if not os.access(args.program, os.X_OK):
        sys.exit(f"there is no program {args.program}: build it with ./dev build")
    rows = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        cache = str(folder / "cache")
        small = ROOT / "examples" / "mlp" / "tp2.yaml"
        once(args.program, small, folder / "report.json", cache=cache)
        start_up = {"without cache": median(args.program, small, folder, args.runs, cache=""), "with cache": median(args.program, small, folder, args.runs, cache=cache)}
        print(f"{'model':54} {'verdict':9} {'cpu':>7} {'read':>7} {'lower':>7} {'infer':>7} {'MB':>5} {'problems':>8} {'memo':>6} {'solver':>7}")
        for name, options in MODELS:
            if args.only and not any(word in name for word in args.only):
                continue
            place = folder / name.replace(" ", "-")
            place.mkdir()
            case_of(options).write(place, "")
            row = rows[name] = median(args.program, place / "manifest.yaml", folder, args.runs, cache=cache)
            share = row["solver"] / max(1, row["conditions"])
            print(f"{name:54} {row['verdict']:9} " + " ".join(f"{row[key]:7.3f}" for key in ("cpu", "read", "lower", "infer")) +
                  f" {row['megabytes']:5.0f} {row['problems']:8.0f} {row['memo']:6.0f} {100 * share:6.2f}%", flush=True)
    print(f"\nstart-up (the smallest example): {start_up['without cache']['cpu'] * 1e3:.0f} ms without the rule cache, {start_up['with cache']['cpu'] * 1e3:.0f} ms with it")
    for strategy in ("", *(f"{name}, " for name in TABLE)):
        few, many = f"{strategy}{FEW} ranks", f"{strategy}{MANY} ranks"
        if {few, many} <= rows.keys():
            print(f"{strategy}{MANY} ranks / {FEW} ranks: {rows[many]['cpu'] / rows[few]['cpu']:.1f}")
    if {"4 layers", "16 layers"} <= rows.keys():
        print(f"a further layer on 8 ranks: {(rows['16 layers']['cpu'] - rows['4 layers']['cpu']) / 12 * 1e3:.1f} ms")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"schema": 1, "start_up": start_up, "models": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
