"""Breaks: places where a distributed program can be made wrong, one at a time.

Programs ask `broken(kind, label)` wherever they could go wrong. Without a break to make, the answers are all no and the places are
noted; so one dry run lists them. A place has the same label on every rank: a mistake in a program is made by all that run it.
"""

KINDS = {
    "drop-collective": "a collective is left out; the rank goes on with its own part (a message is never sent)",
    "duplicate-collective": "a collective is done twice",
    "wrong-axis": "parts are put together, or a tensor is read, along another axis",
    "wrong-order": "two steps are swapped, or parts are put together in another order",
    "wrong-scale": "a factor is wrong or missing",
    "wrong-slice-offset": "a rank or micro-batch takes its slice at the wrong place",
    "bias-every-rank": "a bias is added on every rank before the sum over ranks",
    "unmasked-embedding": "what belongs to another rank's part of the vocabulary is not masked",
    "missing-max": "the maximum of the logits is not taken over all ranks, or not subtracted at all",
}


class Breaks:
    """The places met so far, by kind; and the one place, if any, to go wrong at."""

    def __init__(self, kind=None, label=None):
        self.kind, self.label, self.used = kind, label, False
        self.places = {}  # kind -> labels in order of first appearance (a dict for its keys)

    def broken(self, kind, label):
        assert kind in KINDS
        self.places.setdefault(kind, {})[label] = True
        hit = kind == self.kind and label == self.label
        self.used = self.used or hit
        return hit

    def listed(self):
        """(kind, site number, label) of every place, by kind in the order of KINDS."""
        return [(kind, i, label) for kind in KINDS for i, label in enumerate(self.places.get(kind, {}))]
