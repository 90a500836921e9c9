"""Context parallel: every rank has a part of the sequence; keys and values are gathered for attention. The parts are consecutive, or
in zig-zag order: chunk r and chunk 2 n - 1 - r of 2 n, so that causal attention is equal work for all ranks."""
from .decoder import Decoder
from .layout import Layout, ZigZag


class ContextDecoder(Decoder):

    def __init__(self, p, c):
        super().__init__(p, c)
        self.parts = p.size("cp")
        self.index = p.place("cp")
        self.zigzag = c.zigzag and self.parts > 1
        pieces = self.parts * (2 if self.zigzag else 1)
        self.chunk = p.extent("s1", c.seq // pieces)
        self.local = self.chunk * (2 if self.zigzag else 1)
        self.seq = self.chunk * pieces

    def spread(self, vocab=None):
        if self.zigzag:
            return ZigZag(self.p.mesh, self.sequence_axis, self.parts, self.chunk)
        return Layout(self.p.mesh, {"cp": (self.sequence_axis, None)})

    def tokens(self, name):
        return self.p.data(name, self.shape(self.local), self.spread(), dtype="i64", below=self.c.vocab)

    def begins(self, label):
        """Where the rank's chunks begin in the sequence."""
        if self.p.broken("wrong-slice-offset", label):
            return [i * self.chunk for i in range(2 if self.zigzag else 1)]
        places = [self.index, 2 * self.parts - 1 - self.index] if self.zigzag else [self.index]
        return [i * self.chunk for i in places]

    def chunks(self, part, label):
        """The rank's chunks of something that is given by where it begins."""
        found = [part(begin) for begin in self.begins(label)]
        return self.p.cat(found, 0) if len(found) > 1 else found[0]

    def table(self, name):
        whole = super().table(name)
        key = f"own {name}"
        if self.parts > 1 and key not in self.cached:
            self.cached[key] = self.chunks(lambda b: self.p.slice(whole, 0, b, b + self.chunk), "rotary angles of the rank's positions")
        return self.cached.get(key, whole)

    def masked_by_position(self):
        return True

    def positions(self):
        if self.parts == 1:
            return super().positions()
        return self.chunks(lambda b: self.p.arange(b, b + self.chunk), "causal mask: positions of the queries")

    def context(self, x, label):
        if self.parts == 1:
            return x
        x = self.p.all_gather(x, 2, f"{label}: gather", "cp")
        if not self.zigzag or self.p.broken("wrong-order", f"{label}: left in zig-zag order"):
            return x
        parts = self.p.chunks(x, 2 * self.parts, 2)
        return self.p.cat(parts[::2] + parts[::-2], 2)
