"""A decoder with latent attention and routed experts (DeepSeek-V3's layers), tensor parallel, its experts spread over the same ranks.

Queries, and keys with values, come from narrow latent vectors, which every rank computes; what is made of these is cut by heads. Besides
its own part each head has a rotated one, of the keys the same for all heads. The first `dense` layers have a feed-forward layer. The others
have experts: the router scores them by sigmoids, keeps the best groups by their two best experts, and of those the best `top_k`. Every rank
applies its experts to all tokens; with its part of the shared expert they are summed over the ranks in one all-reduce.
"""
from .decoder import Decoder
from .layout import Layout
from .sizes import shares, starts

ROUTED = 2.5  # the sum of a token's gates


class LatentDecoder(Decoder):

    def __init__(self, p, c):
        super().__init__(p, c)
        self.rotary = c.rope
        self.expert_sizes = shares(c.experts, self.n)
        self.own_experts = self.expert_sizes[self.place]

    # ------------------------------------------------------------------------------------------------------------ attention

    def attention_block(self, x, name):
        c = self.c
        h = self.enter(x, name + "attention_norm")
        return self.leave(self.attention(h, name), name + "wo", c.heads * c.value_dim, [n * c.value_dim for n in self.heads.q], x)

    def down(self, h, name, rows):
        return self.p.linear(h, self.p.weight(name, (rows, self.c.hidden), self.everywhere()))

    def by_heads(self, latent, name, width):
        """[batch, heads, sequence, width] from latent vectors."""
        p, n = self.p, self.heads.q[self.place]
        w = p.weight(name, (self.c.heads * width, latent.shape[-1]), self.cut(0, [k * width for k in self.heads.q]))
        y = p.linear(latent, w)
        return p.transpose(p.view(y, *y.shape[:2], n, width), 1, 2)

    def attention(self, h, name):
        p, c = self.p, self.c
        own, turned, value = c.head_dim, c.rope, c.value_dim
        q = self.by_heads(self.norm(self.down(h, name + "q_down", c.query_latent), name + "q_norm", c.query_latent), name + "q_up", own + turned)
        q = p.cat([p.slice(q, 3, 0, own), self.rotated(p.slice(q, 3, own, own + turned))], -1)
        joint = self.down(h, name + "kv_down", c.latent + turned)
        latent = self.norm(p.slice(joint, 2, 0, c.latent), name + "kv_norm", c.latent)
        shared = self.rotated(p.unsqueeze(p.slice(joint, 2, c.latent, c.latent + turned), 1))
        kv = self.by_heads(latent, name + "kv_up", own + value)
        b, n, s, _ = kv.shape
        everyone = p.op("aten.expand.default", shared, [b, n, s, turned], shape=(b, n, s, turned))
        k = p.cat([p.slice(kv, 3, 0, own), everyone], -1)
        v = p.slice(kv, 3, own, own + value)
        if p.broken("wrong-axis", f"{name}attention: keys and queries exchanged"):
            q, k = k, q
        a = p.op("aten.scaled_dot_product_attention.default", q, k, v, None, 0.0, True, shape=(b, n, s, value))
        return self.merged(a, name)

    # -------------------------------------------------------------------------------------------------------------- experts

    def feed_forward_block(self, x, name):
        if int(name.split(".")[1]) < self.c.dense:
            return super().feed_forward_block(x, name)
        h = self.enter(x, name + "mlp_norm")
        p, label = self.p, f"{name}experts: sum"
        if p.broken("drop-collective", f"{name}shared expert not summed"):
            return p.add(x, p.add(self.shared(h, name), p.all_reduce(self.routed(h, name), label)))
        return p.add(x, p.all_reduce(p.add(self.shared(h, name), self.routed(h, name)), label))

    def shared(self, h, name):
        """The rank's part of the expert that all tokens use."""
        p, c = self.p, self.c
        up, gate = (self.column(h, f"{name}shared.{part}", c.expert_mlp) for part in ("up", "gate"))
        w = p.weight(name + "shared.down", (c.hidden, c.expert_mlp), self.cut(1))
        return p.linear(p.mul(p.same("aten.silu.default", gate), up), w)

    def routed(self, h, name):
        p, c, shape, own = self.p, self.c, h.shape, self.own_experts
        tokens = shape[0] * shape[1]
        h = p.view(h, tokens, c.hidden)
        gates = self.gates(h, name)
        if self.n > 1:
            gates = p.own(gates, 1, starts(self.expert_sizes)[self.place], own, f"{name}router: gates of the rank's experts")
        x = p.clone(p.op("aten.expand.default", p.unsqueeze(h, 0), [own, tokens, c.hidden], shape=(own, tokens, c.hidden)))
        cut = Layout(p.mesh, {self.axis: (0, self.expert_sizes)})
        up, gate = (p.bmm(x, p.weight(f"{name}experts.{part}", (c.experts, c.hidden, c.expert_mlp), cut)) for part in ("up", "gate"))
        y = p.bmm(p.mul(p.same("aten.silu.default", gate), up), p.weight(name + "experts.down", (c.experts, c.expert_mlp, c.hidden), cut))
        y = p.mul(y, p.unsqueeze(p.op("aten.t.default", gates, shape=gates.shape[::-1]), -1))
        return p.view(p.reduce("aten.sum.dim_IntList", y, [0]), *shape)

    def gates(self, h, name):
        """[tokens, experts]: of the chosen experts their part of ROUTED, else 0."""
        p, c = self.p, self.c
        tokens = h.shape[0]
        scores = p.same("aten.sigmoid.default", p.linear(h, p.weight(name + "router", (c.experts, c.hidden))))
        choice = p.add(scores, p.weight(name + "router.bias", (c.experts,)))
        if c.groups > 1:
            of_group = c.experts // c.groups
            pair = self.top(p.view(choice, tokens, c.groups, of_group), min(2, of_group))
            strength = p.reduce("aten.sum.dim_IntList", pair, [-1])
            weak = p.unsqueeze(self.below_best(strength, c.best_groups), -1)
            weak = p.op("aten.expand.default", weak, [tokens, c.groups, of_group], shape=(tokens, c.groups, of_group), dtype="b8")
            weak = p.op("aten.view.default", p.op("aten.clone.default", weak, shape=weak.shape, dtype="b8"), [tokens, c.experts],
                        shape=(tokens, c.experts), dtype="b8")
            choice = p.masked_fill(choice, weak, 0.0)
        gates = p.masked_fill(scores, self.below_best(choice, c.top_k), 0.0)
        return p.mul(p.div(gates, p.reduce("aten.sum.dim_IntList", gates, [-1], True)), ROUTED)

    def top(self, x, k):
        p, shape = self.p, x.shape[:-1] + (k,)
        several = p.node("aten.topk.default", [x, k], [shape] * 2, ["f32", "i64"])
        return p.op("operator.getitem", type(x)(several, (), None), 0, shape=shape)

    def below_best(self, x, k):
        """Which elements of the last of two axes are not among the best k."""
        return self.p.compare("aten.lt.Tensor", x, self.p.slice(self.top(x, k), 1, k - 1, k))
