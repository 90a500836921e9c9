"""The two ends of a decoder: embedding and cross entropy, whole or with the vocabulary spread over the ranks."""
from .sizes import starts


class VocabularyMixin:

    # ------------------------------------------------------------------------------------------------------------ embedding

    def lookup(self, table, ids):
        return self.p.op("aten.embedding.default", table, ids, shape=(*ids.shape, self.c.hidden))

    def embed(self, ids):
        p, c, shape = self.p, self.c, (self.c.vocab, self.c.hidden)
        if c.vocab_parallel and self.n > 1:
            return self.embed_in_parallel(p.weight("embedding", shape, self.cut(0, self.vocab_sizes)), ids)
        x = self.lookup(p.weight("embedding", shape, self.everywhere()), ids)
        if self.scattered:
            x = p.own(x, self.sequence_axis, self.place * self.local, self.local, "embedding: part of the sequence")
        return x

    def embed_in_parallel(self, table, ids):
        p = self.p
        index, foreign = self.within(ids, "embedding")
        x = self.lookup(table, index)
        if not p.broken("unmasked-embedding", "embedding: rows of foreign ids"):
            x = p.masked_fill(x, p.unsqueeze(foreign, -1), 0.0)
        return self.join(x, "embedding")

    def within(self, ids, label):
        """(places of the ids in this rank's part of the vocabulary, which ids are not in it)."""
        p, size = self.p, self.vocab_sizes[self.place]
        begin = starts(self.vocab_sizes)[self.place]
        if p.broken("wrong-slice-offset", f"{label}: part of the vocabulary"):
            begin += 1
        below, above = p.compare("aten.lt.Scalar", ids, begin), p.compare("aten.ge.Scalar", ids, begin + size)
        foreign = p.same("aten.logical_or.default", below, above)
        index = p.sub(ids, begin)
        if not p.broken("unmasked-embedding", f"{label}: foreign ids looked up"):
            index = p.masked_fill(index, foreign, 0)
        return index, foreign

    # -------------------------------------------------------------------------------------------------------- cross entropy

    def targets(self):
        return self.tokens("targets")

    def loss(self, logits):
        """The mean over this rank's tokens."""
        losses = self.losses_in_parallel(logits) if self.n > 1 else self.losses(logits)
        return self.p.op("aten.mean.default", losses, shape=())

    def losses(self, logits):
        p, targets = self.p, self.targets()
        if self.c.loss == "log_softmax":
            logs = p.same("aten._log_softmax.default", logits, -1, False)
            return p.same("aten.neg.default", self.picked(logs, targets))
        shifted = p.sub(logits, p.reduce("aten.amax.default", logits, [-1], True))
        total = p.reduce("aten.sum.dim_IntList", p.same("aten.exp.default", shifted), [-1])
        return p.sub(p.same("aten.log.default", total), self.picked(shifted, targets))

    def picked(self, x, index):
        """The entry of each row that `index` says."""
        index = self.p.unsqueeze(index, -1)
        return self.p.squeeze(self.p.op("aten.gather.default", x, -1, index, shape=index.shape), -1)

    def losses_in_parallel(self, logits):
        p = self.p
        shifted = logits
        if not p.broken("missing-max", "loss: no maximum subtracted"):
            top = p.reduce("aten.amax.default", logits, [-1], True)
            if not p.broken("missing-max", "loss: maximum of the rank's own logits"):
                top = p.all_reduce(top, "loss: maximum", kind="max")
            shifted = p.sub(logits, top)
        total = p.reduce("aten.sum.dim_IntList", p.same("aten.exp.default", shifted), [-1])
        total = p.all_reduce(total, "loss: sum of exponentials")
        index, foreign = self.within(self.targets(), "loss")
        picked = self.picked(shifted, index)
        if not p.broken("unmasked-embedding", "loss: logits of foreign targets"):
            picked = p.masked_fill(picked, foreign, 0.0)
        picked = p.all_reduce(picked, "loss: logit of the target")
        return p.sub(p.same("aten.log.default", total), picked)

    def averaged(self, loss):
        """The mean over ranks that have tokens of their own."""
        for axis in ("dp", "cp", "ep"):
            if self.spreads_tokens(axis):
                loss = self.p.all_reduce(loss, f"loss: mean over {axis}", axis)
                if not self.p.broken("wrong-scale", f"loss: not divided by the number of ranks along {axis}"):
                    loss = self.p.div(loss, self.p.size(axis))
        return loss

    def spreads_tokens(self, axis):
        return self.p.size(axis) > 1
