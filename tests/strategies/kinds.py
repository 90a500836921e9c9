"""The programs of verdicts.py: what `build` makes for the sequential program and for a rank; `p.broken(what)` is where it goes wrong."""
from algebra_kinds import algebra_cases
from attention_kinds import attention_cases
from layer_kinds import layer_cases
from loss_kinds import loss_cases
from sequence_kinds import sequence_cases
from training_kinds import training_cases


def cases():
    yield from attention_cases()
    yield from layer_cases()
    yield from training_cases()
    yield from loss_cases()
    yield from sequence_cases()
    yield from algebra_cases()
