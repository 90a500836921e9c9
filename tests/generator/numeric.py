#!/usr/bin/env python3
"""Runs what examples/generate.py writes on random numbers, at small sizes: the right versions of every strategy agree with the
sequential program; every break differs from it, but for those that are harmless. Ends with the line `N passed, N failed`.

    numeric.py [WORD…]    only configurations whose description has all the words
"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
from generator import numeric  # noqa: E402
from generator.strategies import Case, Config, completed, places  # noqa: E402

SMALL = {"layers": 1, "hidden": 6, "heads": 4, "head_dim": 2, "mlp": 5, "vocab": 7, "seq": 2, "batch": 2}

# Breaks that change no result, in real numbers.
HARMLESS = {
    "duplicate-collective": r"gather$|loss: maximum$|_new$",
    "wrong-order": r"gather before the norm$|averaged after the update$",
    "missing-max": r"no maximum subtracted$",
}

# Configurations whose every break is tried.
BROKEN = [
    dict(strategy="tp", attention="explicit", seq=3),
    dict(strategy="tp", ranks=3, heads=7, seq=3, hidden=5, batch=1),
    dict(strategy="tp", ranks=4, tp=2, kv_heads=1, seq=3, activation="gelu"),
    dict(strategy="tp-sp", heads=8, kv_heads=2, seq=4),
    dict(strategy="tp-sp", ranks=3, heads=7, seq=6, layout="sbh", batch=3),
    dict(strategy="vocab", layers=0),
    dict(strategy="vocab", ranks=3, layers=0, loss="expanded"),
    dict(strategy="vocab-sp", layers=0, seq=4),
    dict(strategy="ep", seq=3),
    dict(strategy="ep", ranks=3, experts=7, heads=2, seq=2, batch=3),
    dict(strategy="ep-sum", heads=2, seq=3),
    dict(strategy="latent", layers=2, seq=3),
    dict(strategy="latent", ranks=3, heads=7, experts=8, groups=4, best_groups=2, expert_mlp=5, layers=2, seq=2, dense=0),
    dict(strategy="dp", batch=4),
    dict(strategy="dp", ranks=4, tp=2, batch=5),
    dict(strategy="dp", batch=4, hidden=4, mlp=4, zero=True),
    dict(strategy="dp", batch=6, average="avg"),
    dict(strategy="ga", micro=2, batch=4),
    dict(strategy="ga", micro=3, batch=7),
    dict(strategy="pp", layers=1, seq=3, batch=4),
    dict(strategy="pp", ranks=3, layers=2, seq=3, loss="expanded"),
    dict(strategy="pp", layers=3, seq=3, batch=3, micro=2),
    dict(strategy="cp", seq=4, attention="explicit"),
    dict(strategy="vocab", ranks=4, tp=2, seq=3, batch=4),
    dict(strategy="ep", seq=3, loss="log_softmax"),
    dict(strategy="cp", ranks=3, seq=6, zigzag=True, batch=1, heads=2, loss="log_softmax"),
]

# Right versions only; besides, every configuration above on 4 ranks where it has 2.
RIGHT = [
    *({**options, "ranks": 4, "heads": 4, "seq": 8, "batch": 4, "micro": options.get("micro", 0)}
      for options in BROKEN if options.get("ranks", 2) == 2 and options["strategy"] != "ga"),
    dict(strategy="tp", ranks=4, heads=8, kv_heads=2),
    dict(strategy="tp", ranks=3, heads=8, kv_heads=2, bias=False),
    dict(strategy="tp", ranks=5, heads=7, batch=1),
    dict(strategy="tp", attention="flash"),
    dict(strategy="tp", ranks=3, layers=2, symbolic="both", attention="explicit"),
    dict(strategy="tp-sp", ranks=4, seq=4, symbolic="both"),
    dict(strategy="vocab", ranks=8, tp=4, heads=8, kv_heads=2, batch=2),
    dict(strategy="vocab", ranks=6, tp=3, heads=8, kv_heads=2, batch=2),
    dict(strategy="vocab", ranks=4, loss="expanded"),
    dict(strategy="vocab-sp", ranks=3, seq=3, symbolic="both", layout="sbh"),
    dict(strategy="ep", ranks=4, batch=4, experts=6),
    dict(strategy="ep", ranks=2, symbolic="both", loss="log_softmax"),
    dict(strategy="ep-sum", ranks=4, experts=6),
    dict(strategy="ep-sum", ranks=3, symbolic="both"),
    dict(strategy="dp", ranks=6, tp=3, batch=7, activation="gelu"),
    dict(strategy="dp", ranks=4, batch=8, symbolic="both"),
    dict(strategy="ga", micro=4, batch=4, symbolic="both", activation="gelu"),
    dict(strategy="pp", ranks=4, layers=6, micro=3, batch=4),
    dict(strategy="pp", ranks=3, layers=2, micro=2, symbolic="both", layout="sbh"),
    dict(strategy="cp", ranks=4, seq=4, symbolic="both"),
    dict(strategy="cp", ranks=4, seq=8, symbolic="both", zigzag=True, layout="sbh", attention="explicit"),
]


class Count:
    passed = failed = 0

    def note(self, good, text):
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        if not good:
            print(f"FAIL {text}")


def describe(options):
    return " ".join(f"{k}={v}" for k, v in options.items())


def harmless(config, kind, label):
    averaged = kind == "duplicate-collective" and config.average == "avg" and config.strategy == "dp"
    return averaged or bool(re.search(HARMLESS.get(kind, "$^"), label))


def right(options, count):
    config = completed(Config(**{**SMALL, **options}))
    reference = numeric.Reference(config)
    result = reference.compare(Case(config))
    count.note(not result.differs, f"{describe(options)}: must agree, {result}")
    return config, reference


def broken(options, count):
    config, reference = right(options, count)
    found = places(config)
    for kind, site, label in found:
        result = reference.compare(Case(config, kind, label))
        expected = harmless(config, kind, label)
        count.note(result.differs != expected,
                   f"{describe(options)}: {kind} {site} ({label}) must {'agree' if expected else 'differ'}, {result}")
    print(f"{describe(options)}: {len(found)} breaks, {sum(harmless(config, k, b) for k, _, b in found)} of them harmless")


def check_texts(count):
    """The same bytes every time; symbols where there should be some."""
    config = completed(Config(**{**SMALL, "strategy": "tp-sp", "symbolic": "both"}))
    once, again = ("".join(Case(config).program(1).lines()) for _ in range(2))
    count.note(once == again, "two runs write different graphs")
    ids = json.loads(once)["nodes"][0]
    count.note(ids["shape"] == ["s0", "2*s1"], f"unexpected shape of the ids: {ids['shape']}")
    for wrong, complaint in ((dict(ranks=4, heads=3), "fewer heads"), (dict(strategy="cp", seq=5), "chunks"),
                             (dict(strategy="vocab", ranks=3, tp=2), "not divisible")):
        try:
            completed(Config(**{**SMALL, **wrong}))
            count.note(False, f"{wrong} is accepted")
        except ValueError as error:
            count.note(complaint in str(error), f"{wrong}: {error}")


def main(words):
    count = Count()
    check_texts(count)
    for options in BROKEN:
        if all(w in describe(options) for w in words):
            broken(options, count)
    for options in RIGHT:
        if all(w in describe(options) for w in words):
            right(options, count)
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
