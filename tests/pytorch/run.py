#!/usr/bin/env python3
"""Every lowering of frameworks/ against PyTorch itself, or against its definition: random small operands, all forms of arguments.

    run.py EVALUATE [PATTERN]      EVALUATE is the program of tests/tools/evaluate.cpp; PATTERN: only operators that contain it

Every declaration must be used by some case. Skipped (exit status 77) where no Python with PyTorch is found.
"""
import sys

import available


def main():
    code = available.elsewhere()
    if code is not None:
        return code
    import collectives
    import harness
    import hlo
    import indexing
    import lists
    import megatron
    import pointwise
    import prims
    import products
    import reductions
    import shapes
    import torch
    import vllm
    import windows
    suite = harness.Suite()
    for module in (pointwise, shapes, reductions, products, windows, indexing, lists, collectives, prims, hlo, megatron, vllm):
        module.cases(suite)
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    cases = [case for case in suite.cases if pattern in case.op]
    wrong, used = harness.check(sys.argv[1], cases)
    if not pattern:
        for op, place in harness.declarations(sys.argv[1]):
            if place not in used:
                wrong.append(f"{place}: no case needs this declaration of {op}")
    lacking = sorted({case.op for case in cases if case.lacking})
    print(f"{len(cases)} calls of {len({case.op for case in cases})} operators, {len(used)} declarations, PyTorch {torch.__version__}")
    print(f"not in this PyTorch, compared with their definitions: {', '.join(lacking) or 'none'}")
    for text in wrong:
        print("wrong: " + text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
