"""Pipeline parallel: every rank has some of the layers; micro-batches pass from rank to rank by send and receive."""
from .decoder import Decoder
from .layout import Among
from .sizes import shares, starts


class PipelineDecoder(Decoder):

    def __init__(self, p, c):
        super().__init__(p, c)
        self.stages, self.stage = p.size("pp"), p.place("pp")
        self.first, self.last = self.stage == 0, self.stage == self.stages - 1
        if c.open_batch:
            self.micro = [p.extent("s0", 1)] * (c.micro if self.stages > 1 else 1)
        else:
            self.micro = shares(c.batch, c.micro) if self.stages > 1 else [c.batch]
        self.whole_batch = sum(self.micro)

    def build(self):
        if self.stages == 1:
            return super().build()
        layers = shares(self.c.layers, self.stages)
        begin = starts(layers)[self.stage]
        results = []
        for m, self.batch in enumerate(self.micro):
            x = self.entered(m)
            for i in range(begin, begin + layers[self.stage]):
                x = self.layer(x, f"layers.{i}.")
            results.append(self.passed_on(x, m))
        if self.last:
            self.collect(results)

    # What a stage alone has.

    def layout(self):
        return Among(self.p.mesh, [self.stage])

    def cut(self, dim, sizes=None):
        return self.layout()

    def everywhere(self):
        return self.layout()

    def by_all(self):
        layers = shares(self.c.layers, self.stages)
        return Among(self.p.mesh, [r for r, n in enumerate(layers) if n])

    def kv_layout(self, d):
        return self.layout()

    def spread(self, vocab=None):
        return self.layout()

    def tokens(self, name):
        """An input [whole batch, sequence], of which the current micro-batch is taken."""
        whole = self.shape(self.seq)
        axis = 1 - self.sequence_axis
        whole = whole[:axis] + (self.whole_batch,) + whole[axis + 1:]
        x = self.p.data(name, whole, self.spread(), dtype="i64", below=self.c.vocab)
        return x if self.stages == 1 else self.p.own(x, axis, *self.current(), f"{name}: micro-batches")

    def current(self):
        return starts(self.micro)[self.now], self.micro[self.now]

    # The way of a micro-batch.

    def entered(self, m):
        self.now = m
        if self.first:
            return self.embed(self.tokens("ids"))
        reverse = self.p.broken("wrong-order", f"stage {self.stage}: micro-batches received in reverse")
        tag = len(self.micro) - 1 - m if reverse else m
        return self.p.receive(self.shape(self.seq, self.c.hidden), self.stage - 1, tag)

    def passed_on(self, x, m):
        if self.last:
            w = self.p.weight("head", (self.c.vocab, self.c.hidden), self.layout())
            logits = self.p.linear(self.norm(x, "norm"), w)
            return logits if self.c.loss == "none" else self.loss(logits)
        if not self.p.broken("drop-collective", f"stage {self.stage}: send"):
            self.p.send(x, self.stage + 1, m)
        return None

    def collect(self, results):
        if self.c.loss != "none":
            return self.collect_losses(results)
        axis, p = 1 - self.sequence_axis, self.p
        if p.broken("wrong-order", "micro-batches joined in reverse"):
            results.reverse()
        other = 1 - axis if len(set(self.micro)) == 1 and p.broken("wrong-axis", "micro-batches joined along the sequence") else axis
        logits = p.cat(results, other)
        if other != axis:
            self.batch = self.whole_batch
            logits = p.view(logits, *self.shape(self.seq), self.c.vocab)
        return p.expect(logits, "logits", self.spread())

    def collect_losses(self, losses):
        p, total = self.p, losses[0]
        for loss in losses[1:]:
            total = p.add(total, loss)
        if not p.broken("wrong-scale", "loss: not divided by the number of micro-batches"):
            total = p.div(total, len(losses))
        return p.expect(total, "loss", self.spread())
