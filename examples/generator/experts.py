"""Mixtures of experts in place of the feed-forward layer, the experts spread over the ranks along `ep`.

`ExpertSum`: every rank has all tokens, applies its experts to them, and the results are summed. The router keeps the best k experts.
`ExpertExchange`: every rank has some of the sequences; tokens travel to their experts and back by all-to-all. Each sequence has
`capacity` slots at every expert; dispatch and combination are products with one-hot tensors, so that all shapes are static.
"""
from .decoder import Decoder
from .layout import Layout
from .sizes import shares, starts


class ExpertDecoder(Decoder):
    """What both kinds share: a decoder whose attention is not cut."""

    def __init__(self, p, c):
        super().__init__(p, c)
        self.owners, self.index = p.size("ep"), p.place("ep")
        self.sizes = shares(c.experts, self.owners)
        self.own = self.sizes[self.index]

    def feed_forward_block(self, x, name):
        return self.p.add(x, self.mixture(self.norm(x, name + "mlp_norm"), name))

    def gates(self, h, name):
        """[tokens or batch, sequence, experts]: probabilities."""
        w = self.p.weight(name + "router", (self.c.experts, self.c.hidden))
        return self.p.same("aten._softmax.default", self.p.linear(h, w), -1, False)

    def expert_weights(self, name):
        cut, c = Layout(self.p.mesh, {"ep": (0, self.sizes)}), self.c
        return (self.p.weight(name + "experts.up", (c.experts, c.hidden, c.mlp), cut),
                self.p.weight(name + "experts.down", (c.experts, c.mlp, c.hidden), cut))

    def experts(self, x, name):
        """[own experts, tokens, hidden] through each expert's own layer."""
        p, (up, down) = self.p, self.expert_weights(name)
        return p.bmm(p.same("aten.silu.default", p.bmm(x, up)), down)


class ExpertSum(ExpertDecoder):

    def mixture(self, h, name):
        p, c, shape = self.p, self.c, h.shape
        tokens = shape[0] * shape[1]
        h = p.view(h, tokens, c.hidden)
        gates = self.best(self.gates(h, name))
        if self.owners > 1:
            gates = p.own(gates, 1, starts(self.sizes)[self.index], self.own, f"{name}router: gates of the rank's experts")
        copies = p.op("aten.expand.default", p.unsqueeze(h, 0), [self.own, tokens, c.hidden], shape=(self.own, tokens, c.hidden))
        y = self.experts(p.clone(copies), name)
        y = p.mul(y, p.unsqueeze(p.op("aten.t.default", gates, shape=gates.shape[::-1]), -1))
        y = p.reduce("aten.sum.dim_IntList", y, [0])
        return p.view(p.all_reduce(y, f"{name}experts: sum", "ep"), *shape)

    def best(self, gates):
        """The best k gates of each token, scaled to sum 1; the others are 0."""
        p, k = self.p, self.c.top_k
        top = p.node("aten.topk.default", [gates, k], [(gates.shape[0], k)] * 2, ["f32", "i64"])
        top = p.op("operator.getitem", type(gates)(top, (), None), 0, shape=(gates.shape[0], k))
        least = p.slice(top, 1, k - 1, k)
        gates = p.masked_fill(gates, p.compare("aten.lt.Tensor", gates, least), 0.0)
        return p.div(gates, p.reduce("aten.sum.dim_IntList", gates, [-1], True))


class ExpertExchange(ExpertDecoder):

    def __init__(self, p, c):
        super().__init__(p, c)
        self.batch = p.extent("s0", c.batch // self.owners)

    def spread(self, vocab=None):
        return Layout(self.p.mesh, {"ep": (0, None)})

    def mixture(self, h, name):
        p, c, (b, s, hidden) = self.p, self.c, h.shape
        gates = self.gates(h, name)
        dispatch = self.dispatch(gates)
        slots = c.experts * c.capacity
        flat = p.view(p.clone(p.permute(dispatch, 0, 2, 3, 1)), b, slots, s)
        x = p.permute(p.view(p.bmm(flat, h), b, c.experts, c.capacity, hidden), 1, 0, 2, 3)
        x = p.view(p.clone(x), c.experts, b * c.capacity, hidden)
        if p.broken("wrong-scale", f"{name}experts: inputs halved"):
            x = p.mul(x, 0.5)
        x = self.returned(self.experts(self.sent(x, name), name), b, name)
        x = p.permute(p.view(x, c.experts, b, c.capacity, hidden), 1, 0, 2, 3)
        combine = p.mul(dispatch, p.unsqueeze(p.unsqueeze(p.reduce("aten.amax.default", gates, [-1]), -1), -1))
        return p.bmm(p.view(combine, b, s, slots), p.view(p.clone(x), b, slots, hidden))

    def dispatch(self, gates):
        """[batch, sequence, experts, capacity]: 1 where a token has that slot of that expert."""
        p, c, (b, s, e) = self.p, self.c, gates.shape
        best = p.op("aten.argmax.default", gates, -1, shape=(b, s), dtype="i64")
        chosen = p.compare("aten.eq.Tensor", p.unsqueeze(best, -1), p.arange(0, e), (b, s, e))
        chosen = p.cast(chosen, "i64")
        slot = p.sub(p.same("aten.cumsum.default", chosen, 1), 1)
        slot = p.same("aten.masked_fill.Scalar", slot, p.compare("aten.eq.Scalar", chosen, 0), -1)
        taken = p.compare("aten.eq.Tensor", p.unsqueeze(slot, -1), p.arange(0, c.capacity), (b, s, e, c.capacity))
        return p.cast(taken, "f32")

    def sent(self, x, name):
        """[experts, own tokens, hidden] -> [own experts, all tokens, hidden]"""
        n, p, (_, t, hidden) = self.owners, self.p, x.shape
        if n == 1:
            return x
        x = p.all_to_all(x, [self.own] * n, self.sizes, f"{name}experts: exchange", "ep")
        if p.broken("wrong-axis", f"{name}experts: ranks and experts not transposed"):
            return p.view(x, self.own, n * t, hidden)
        x = p.permute(p.view(x, n, self.own, t, hidden), 1, 0, 2, 3)
        return p.view(p.clone(x), self.own, n * t, hidden)

    def returned(self, x, batch, name):
        """The way back."""
        n, p, t, hidden = self.owners, self.p, batch * self.c.capacity, self.c.hidden
        if n == 1:
            return x
        x = p.permute(p.view(x, self.own, n, t, hidden), 1, 0, 2, 3)
        x = p.view(p.clone(x), n * self.own, t, hidden)
        return p.all_to_all(x, self.sizes, [self.own] * n, f"{name}experts: way back", "ep")
