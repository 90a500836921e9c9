"""A decoder transformer: the sequential one and, with more than one rank along `tp`, the tensor-parallel one (Megatron's scheme).

Weights are cut by columns, then by rows; between the two halves of a block every rank holds all tokens or, with sequence parallelism,
its part of the sequence. The vocabulary may be spread over the ranks as well. Other strategies override what they do differently.
"""
from .layout import Copies, Layout
from .sizes import shares, starts
from .vocabulary import VocabularyMixin

MASKED = -10000.0
EPSILON = 1e-05


class Heads:
    """Which query and KV heads each of `n` ranks has."""

    def __init__(self, heads, kv_heads, n):
        group = heads // kv_heads
        if kv_heads >= n:
            self.kv, self.owners = shares(kv_heads, n), None
            self.q = [group * k for k in self.kv]
        else:  # a KV head is held by several ranks, which share its query heads
            ranks = iter(range(n))
            self.owners = [[next(ranks) for _ in range(k)] for k in shares(n, kv_heads)]
            self.kv, self.q = [1] * n, [q for owners in self.owners for q in shares(group, len(owners))]


class Decoder(VocabularyMixin):
    """Builds one program. `axis` is the mesh axis along which layers are cut."""

    axis = "tp"

    def __init__(self, p, c):
        self.p, self.c = p, c
        self.n, self.place = p.size(self.axis), p.place(self.axis)
        self.scattered = c.sequence_parallel and self.n > 1
        self.heads = Heads(c.heads, c.kv_heads, self.n)
        self.sequence_axis = 0 if c.layout == "sbh" else 1
        self.vocab_sizes = shares(c.vocab, self.n)
        self.batch = p.extent("s0", c.batch // p.size("dp"))
        self.local = p.extent("s1", c.seq // self.n if self.scattered else c.seq)  # of the sequence, as a rank has it between blocks
        self.seq = self.local * self.n if self.scattered else self.local
        self.cached = {}
        self.rotary = c.head_dim  # width of what is rotated by position

    # ------------------------------------------------------------------------------------------------------------ the model

    def build(self):
        x = self.embed(self.tokens("ids"))
        for i in range(self.c.layers):
            x = self.layer(x, f"layers.{i}.")
        self.finish(x)

    def layer(self, x, name):
        x = self.attention_block(x, name)
        return self.feed_forward_block(x, name)

    def attention_block(self, x, name):
        h = self.enter(x, name + "attention_norm")
        widths = [q * self.c.head_dim for q in self.heads.q]
        return self.leave(self.attention(h, name), name + "wo", self.c.heads * self.c.head_dim, widths, x)

    def feed_forward_block(self, x, name):
        p, c = self.p, self.c
        h = self.enter(x, name + "mlp_norm")
        up = self.column(h, name + "up", c.mlp, bias=self.sliced_bias(name + "up"))
        if c.activation == "silu":
            gate = p.same("aten.silu.default", self.column(h, name + "gate", c.mlp))
            up = p.mul(gate, up)
        else:
            up = p.gelu(up)
        return self.leave(up, name + "down", c.mlp, None, x)

    def finish(self, x):
        """The final norm, logits, and what is made of them."""
        h = self.enter(x, "norm")
        w = self.p.weight("head", (self.c.vocab, self.c.hidden), self.cut(0, self.vocab_sizes))
        logits = self.p.linear(h, w)
        if self.c.loss == "none":
            self.p.expect(logits, "logits", self.spread(vocab=2))
        else:
            self.p.expect(self.averaged(self.loss(logits)), "loss", Layout(self.p.mesh, {}))

    # -------------------------------------------------------------------------------------------------------------- layouts

    def cut(self, dim, sizes=None):
        """A weight that is cut along `dim`."""
        return Layout(self.p.mesh, {self.axis: (dim, sizes)})

    def everywhere(self):
        """A weight that is not cut."""
        return Layout(self.p.mesh, {})

    def by_all(self):
        """An input that the layers of all ranks use."""
        return Layout(self.p.mesh, {})

    def spread(self, vocab=None):
        """A tensor [batch, sequence, …] in the layout chosen."""
        placed = {"dp": (1 - self.sequence_axis, None)}
        if vocab is not None:
            placed[self.axis] = (vocab, self.vocab_sizes)
        return Layout(self.p.mesh, placed)

    def shape(self, seq, *rest):
        return (seq, self.batch, *rest) if self.c.layout == "sbh" else (self.batch, seq, *rest)

    def tokens(self, name):
        """An input of token ids; every rank has the whole sequence."""
        return self.p.data(name, self.shape(self.seq), self.spread(), dtype="i64", below=self.c.vocab)

    # ------------------------------------------------------------------------------------------------- linear layers and norms

    def norm(self, x, name, width=None):
        p = self.p
        mean = p.reduce("aten.mean.dim", p.same("aten.pow.Tensor_Scalar", x, 2), [-1], True)
        scale = p.same("aten.rsqrt.default", p.same("aten.add.Tensor", mean, EPSILON))
        return p.mul(p.mul(x, scale), p.weight(name, (width or self.c.hidden,), self.everywhere()))

    def enter(self, x, name):
        """The norm before a half of a block; then all tokens."""
        if not self.scattered:
            return self.norm(x, name)
        if self.p.broken("wrong-order", f"{name}: gather before the norm"):
            return self.norm(self.p.all_gather(x, self.sequence_axis, f"{name}: gather"), name)
        return self.p.all_gather(self.norm(x, name), self.sequence_axis, f"{name}: gather")

    def column(self, x, name, rows, sizes=None, layout=None, bias=None):
        """A linear layer of which every rank has some of the outputs. A bias given is that rank's part."""
        layout = layout or self.cut(0, sizes)
        w = self.p.weight(name, (rows, self.c.hidden), layout)
        return self.p.linear(x, w, bias)

    def bias(self, name, n, layout=None):
        return self.p.weight(name + ".bias", (n,), layout or self.everywhere()) if self.c.bias else None

    def sliced_bias(self, name):
        """The bias of the first feed-forward layer: every rank has all of it and takes its part."""
        b, sizes = self.bias(name, self.c.mlp), shares(self.c.mlp, self.n)
        if b is None or self.n == 1:
            return b
        return self.p.own(b, 0, starts(sizes)[self.place], sizes[self.place], f"{name}.bias")

    def leave(self, y, name, columns, sizes, residual):
        """The second linear layer of a half of a block, cut by its inputs, and the residual connection."""
        p = self.p
        w = p.weight(name, (self.c.hidden, columns), self.cut(1, sizes))
        b = self.bias(name, self.c.hidden)
        if self.n == 1:
            return p.add(residual, p.linear(y, w, b))
        if b is not None and p.broken("bias-every-rank", name):
            partial, b = p.linear(y, w, b), None
        else:
            partial = p.linear(y, w)
        if not self.scattered and p.broken("wrong-order", f"{name}: residual before the sum"):
            residual, joined = None, self.join(p.add(residual, partial), name)
        else:
            joined = self.join(partial, name)
        joined = joined if b is None else p.add(joined, b)
        return joined if residual is None else p.add(residual, joined)

    def join(self, partial, name):
        if self.scattered:
            return self.p.reduce_scatter(partial, self.sequence_axis, f"{name}: scatter")
        return self.p.all_reduce(partial, f"{name}: sum", self.axis)

    # ------------------------------------------------------------------------------------------------------------ attention

    def attention(self, h, name):
        c, heads = self.c, self.heads
        d, nq, nkv = c.head_dim, heads.q[self.place], heads.kv[self.place]
        q_cut = self.cut(0, [n * d for n in heads.q])
        kv_cut = self.kv_layout(d)
        q = self.projection(h, name + "wq", c.heads * d, nq, q_cut)
        k = self.projection(h, name + "wk", c.kv_heads * d, nkv, kv_cut)
        v = self.projection(h, name + "wv", c.kv_heads * d, nkv, kv_cut)
        q, k = self.rotated(q), self.rotated(k)
        k, v = self.context(k, name + "keys"), self.context(v, name + "values")
        k, v = self.repeated(k, nq // nkv), self.repeated(v, nq // nkv)
        a = self.attend(q, k, v, name)
        return self.merged(a, name)

    def kv_layout(self, d):
        if self.heads.owners is None:
            return self.cut(0, [n * d for n in self.heads.kv])
        if "kv" not in self.cached:
            owners = [[r for i in places for r in self.replicas(i)] for places in self.heads.owners]
            self.cached["kv"] = Copies(self.p.mesh, 0, owners, d)
        return self.cached["kv"]

    def replicas(self, place):
        """The ranks at a place along the axis."""
        return [r for r in range(self.p.ranks) if self.p.mesh.place(r).get(self.axis, 0) == place]

    def projection(self, h, name, rows, n, layout):
        """[batch, heads, sequence, dim]"""
        y = self.column(h, name, rows, layout=layout, bias=self.bias(name, rows, layout))
        y = self.p.view(y, *y.shape[:2], n, self.c.head_dim)
        return self.p.permute(y, 1, 2, 0, 3) if self.c.layout == "sbh" else self.p.transpose(y, 1, 2)

    def merged(self, a, name):
        p = self.p
        width = a.shape[1] * a.shape[3]
        if p.broken("wrong-axis", f"{name}attention: heads merged without transposing"):
            return p.view(p.clone(a), *self.shape(a.shape[2]), width)
        a = p.permute(a, 2, 0, 1, 3) if self.c.layout == "sbh" else p.transpose(a, 1, 2)
        return p.view(p.clone(a), *a.shape[:2], width)

    def table(self, name):
        """cos or sin of the angles, by position."""
        if name not in self.cached:
            self.cached[name] = self.p.data(name, (self.seq, self.rotary), self.by_all())
        return self.cached[name]

    def rotated(self, x):
        p, half = self.p, self.rotary // 2
        cos, sin = self.table("cos"), self.table("sin")
        flipped = p.cat([p.same("aten.neg.default", p.slice(x, 3, half, 2 * half)), p.slice(x, 3, 0, half)], -1)
        return p.add(p.mul(x, cos), p.mul(flipped, sin))

    def context(self, x, label):
        """Keys or values of the whole sequence."""
        return x

    def repeated(self, x, times):
        """Every KV head once for each of its query heads."""
        if times == 1:
            return x
        p, (b, n, s, d) = self.p, x.shape
        wide = p.op("aten.expand.default", p.unsqueeze(x, 2), [b, n, times, s, d], shape=(b, n, times, s, d))
        return p.view(p.clone(wide), b, n * times, s, d)

    def masked_by_position(self):
        """Whether the fused attention is told which positions it may look at, instead of being causal by itself."""
        return False

    def positions(self):
        """Of the queries."""
        return self.p.arange(0, self.seq)

    def visible(self):
        """[queries, keys]: which keys a query may look at."""
        if "visible" not in self.cached:
            p = self.p
            rows, columns = p.unsqueeze(self.positions(), 1), p.unsqueeze(p.arange(0, self.seq), 0)
            self.cached["visible"] = p.compare("aten.ge.Tensor", rows, columns, (rows.shape[0], self.seq))
        return self.cached["visible"]

    def scale(self, heads, name):
        wide = self.p.broken("wrong-scale", f"{name}attention: scaled by the width of all heads of a rank")
        return (self.c.head_dim * (heads if wide else 1)) ** -0.5

    def attend(self, q, k, v, name):
        if self.c.attention == "explicit":
            return self.attend_explicitly(q, k, v, name)
        p, usual = self.p, self.c.head_dim ** -0.5
        scale = self.scale(q.shape[1], name)
        more = {} if scale == usual else {"scale": scale}
        if self.c.attention == "flash":
            return self.attend_flash(q, k, v, more)
        mask = self.visible() if self.masked_by_position() else None
        return p.op("aten.scaled_dot_product_attention.default", q, k, v, mask, 0.0, mask is None, shape=q.shape, **more)

    def attend_flash(self, q, k, v, more):
        p, (b, n, s, d) = self.p, q.shape
        several = p.node("aten._scaled_dot_product_flash_attention.default", [q, k, v, 0.0, True],
                         [(b, n, s, d), (b, n, s), None, None, (), (), (), (), ()],
                         ["f32", "f32", None, None, "i64", "i64", "i64", "i64", "f32"], more)
        return p.op("operator.getitem", type(q)(several, (), None), 0, shape=q.shape)

    def attend_explicitly(self, q, k, v, name):
        p, (b, n, s, d), t = self.p, q.shape, k.shape[2]
        q, k, v = (p.view(p.clone(x), b * n, x.shape[2], d) for x in (q, k, v))
        scores = p.mul(p.bmm(q, p.transpose(k, 1, 2)), self.scale(n, name))
        scores = p.view(scores, b, n, s, t)
        hidden = p.same("aten.logical_not.default", self.visible())
        scores = p.masked_fill(scores, hidden, MASKED)
        axis = -2 if p.broken("wrong-axis", f"{name}attention: softmax over the queries") else -1
        weights = p.view(p.same("aten._softmax.default", scores, axis, False), b * n, s, t)
        return p.view(p.bmm(weights, v), b, n, s, d)
