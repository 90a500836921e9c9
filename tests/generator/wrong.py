#!/usr/bin/env python3
"""wrong.py PROGRAM: programs with a mistake that many make must be answered soon, and at the operator where the mistake takes effect.

No operator after the mistake has a relation, so that each could be tried with all that is tried where large problems are needed. What is counted
is matches whose conditions were asked for: most of the time goes there, and the number is the same on every machine."""
import dataclasses
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
from generator.strategies import Case  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from ranks import check, config  # noqa: E402

SECONDS = 300

# What is wrong: the strategy, how many ranks and layers (0: as in ranks.py), the break, the tensor at which the check stops, and matches in
# thousands, at most (about half as many again as there are).
TABLE = {
    "tp, 6 ranks: residual on every rank": ("tp", 6, 2, "wrong-order", "layers.1.wo: residual before the sum", "addmm_9", 600),
    "tp, 8 ranks: residual on every rank": ("tp", 8, 2, "wrong-order", "layers.1.wo: residual before the sum", "addmm_9", 6000),
    "tp, 4 ranks: no all-reduce": ("tp", 4, 2, "drop-collective", "layers.0.wo: sum", "addmm_3", 200),
    "tp, 3 ranks: heads not transposed": ("tp", 3, 2, "wrong-axis", "layers.0.attention: heads merged without transposing", "addmm_3", 250),
    "tp, 6 ranks: bias on every rank": ("tp", 6, 2, "bias-every-rank", "layers.0.down", "addmm_5", 800),
    "tp-sp, 2 ranks: bias on every rank": ("tp-sp", 2, 0, "bias-every-rank", "layers.0.wo", "addmm_3", 2500),
    "tp-sp, 3 ranks: scattered along another axis": ("tp-sp", 3, 0, "wrong-axis", "layers.0.wo: scatter", "addmm_3", 2500),
    "tp-sp, 3 ranks: no all-gather": ("tp-sp", 3, 0, "drop-collective", "layers.0.attention_norm: gather", "addmm", 1800),
    "vocab-sp, 3 ranks: other rows": ("vocab-sp", 3, 0, "wrong-slice-offset", "embedding: part of the vocabulary", "embedding_1", 1800),
    "cp zigzag, 3 ranks: gathered along another axis": ("cp zigzag", 3, 0, "wrong-axis", "layers.0.keys: gather", "scaled_dot_product_attention", 6200),
    "cp, 4 ranks: parts rotated": ("cp", 4, 0, "wrong-order", "layers.0.keys: gather: parts rotated", "scaled_dot_product_attention", 1400),
    "ep, 4 ranks: parts rotated": ("ep", 4, 0, "wrong-order", "layers.0.experts: exchange: parts rotated", "bmm_3", 3600),
}


def case(strategy, ranks, layers, kind, label, *_):
    of_all = config(strategy, ranks)
    return Case(dataclasses.replace(of_all, layers=layers) if layers else of_all, kind, label)


def main(program):
    failed = 0
    for name, row in TABLE.items():
        tensor, most = row[-2:]
        result, spent = check(program, case(*row), SECONDS)
        thousands = result.get("statistics", {}).get("conditions", 0) / 1e3
        at = (result.get("failing") or {}).get("tensor", "")
        complaints = [f"must stop at {tensor}"] * (result["verdict"] != "unproved" or at != tensor)
        complaints += [f"more than {most} thousand"] * (thousands > most)
        failed += bool(complaints)
        print(f"{'FAIL' if complaints else 'ok  '} {name:48} {result['verdict']} at {at}, {thousands:.0f} thousand matches, {spent:.2f} s"
              f"{'  -- ' + ', '.join(complaints) if complaints else ''}", flush=True)
    print(f"{len(TABLE) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
