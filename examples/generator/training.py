"""A training step of a two-layer network, backward pass written out: loss, gradients, updated weights.

`TrainingStep` covers the sequential step, data parallel (with tensor parallel inside: the first layer cut by columns, the second by
rows) and, with micro-batches on one rank, gradient accumulation. With shares of unequal size every rank divides by the size of the
whole batch and gradients are summed; else by its own, and they are averaged.
"""
from .layout import Layout
from .sizes import shares, starts

RATE = 0.125
WEIGHTS = ("w1", "b1", "w2", "b2")


class TrainingStep:

    def __init__(self, p, c):
        self.p, self.c = p, c
        self.dp, self.tp, self.micro = p.size("dp"), p.size("tp"), 1 if p.sequential else c.micro
        sizes = shares(c.batch, self.dp)
        self.even = c.open_batch or (c.batch % self.dp == 0 and c.batch % self.micro == 0)
        local = sizes[p.place("dp")]
        self.parts = [p.extent("s0", n) for n in shares(local, self.micro)]
        self.batch = sum(self.parts)
        self.all = self.batch * self.dp if c.open_batch else c.batch
        self.sizes = None if self.even else sizes

    def build(self):
        p, rows = self.p, Layout(self.p.mesh, {"dp": (0, self.sizes)})
        x = p.data("x", (self.batch, self.c.hidden), rows)
        t = p.data("t", (self.batch, self.c.hidden), rows)
        self.declare()
        steps = [self.step(*self.micro_batch(x, t, m)) for m in range(self.micro)]
        totals = [self.accumulated([s[name] for s in steps], name) for name in ("loss", *WEIGHTS)]
        for name, total in zip(WEIGHTS, totals[1:]):
            self.update(name, total)
        loss = self.over_ranks(totals[0], "loss")
        p.expect(p.same("aten.clone.default", loss), "loss", Layout(p.mesh, {}))

    def declare(self):
        p, c, m = self.p, self.c, shares(self.c.mlp, self.tp)
        self.layouts = {"w1": Layout(p.mesh, {"tp": (0, m)}), "b1": Layout(p.mesh, {"tp": (0, m)}),
                        "w2": Layout(p.mesh, {"tp": (1, m)}), "b2": Layout(p.mesh, {})}
        shapes = {"w1": (c.mlp, c.hidden), "b1": (c.mlp,), "w2": (c.hidden, c.mlp), "b2": (c.hidden,)}
        self.weights = {name: p.weight(name, shapes[name], self.layouts[name]) for name in WEIGHTS}

    def micro_batch(self, x, t, m):
        if self.micro == 1:
            return x, t
        begin, n = starts(self.parts)[m], self.parts[m]
        return (self.p.own(x, 0, begin, n, "inputs of a micro-batch"), self.p.own(t, 0, begin, n, "targets of a micro-batch"))

    # ------------------------------------------------------------------------------------------- forward and backward

    def step(self, x, t):
        """Loss and gradients, by name."""
        p, w = self.p, self.weights
        h = p.linear(x, w["w1"], w["b1"])
        a = p.gelu(h) if self.c.activation == "gelu" else p.same("aten.relu.default", h)
        wrong = p.sub(self.second_layer(a), t)
        count = (x.shape[0] if self.even else self.all) * self.c.hidden
        loss = p.div(p.op("aten.sum.default", p.same("aten.pow.Tensor_Scalar", wrong, 2), shape=()), count)
        dy = p.div(p.mul(wrong, 2.0), count)
        da = p.op("aten.mm.default", dy, w["w2"], shape=a.shape)
        if self.c.activation == "gelu":
            dh = p.same("aten.gelu_backward.default", da, h)
        else:
            dh = p.same("aten.threshold_backward.default", da, h, 0)
        return {"loss": loss, "w1": self.product(dh, x), "b1": p.reduce("aten.sum.dim_IntList", dh, [0]),
                "w2": self.product(dy, a), "b2": p.reduce("aten.sum.dim_IntList", dy, [0])}

    def product(self, x, y):
        """x transposed times y."""
        return self.p.op("aten.mm.default", self.p.t(x), y, shape=(x.shape[1], y.shape[1]))

    def second_layer(self, a):
        p, w, b = self.p, self.weights["w2"], self.weights["b2"]
        if self.tp == 1:
            return p.linear(a, w, b)
        if p.broken("bias-every-rank", "w2"):
            return p.all_reduce(p.linear(a, w, b), "w2: sum")
        return p.add(p.all_reduce(p.linear(a, w), "w2: sum"), b)

    # ---------------------------------------------------------------------------------------------------- over the batch

    def accumulated(self, parts, name):
        p, total = self.p, parts[0]
        for part in parts[1:]:
            total = p.add(total, part)
        if self.micro > 1 and self.even and not p.broken("wrong-scale", f"{name}: not divided by the number of micro-batches"):
            total = p.div(total, self.micro)
        return total

    def over_ranks(self, x, label):
        """The mean over data-parallel ranks (the sum, where the parts were divided by the whole batch)."""
        p = self.p
        if self.dp == 1:
            return x
        if self.even and self.c.average == "avg":
            x = p.all_reduce(x, label, "dp", "avg")
            return p.div(x, self.dp) if p.broken("wrong-scale", f"{label}: divided twice") else x
        x = p.all_reduce(x, label, "dp")
        if self.even and not p.broken("wrong-scale", f"{label}: not divided by the number of ranks"):
            x = p.div(x, self.dp)
        return x

    def update(self, name, g):
        """w - rate * gradient"""
        p, w, layout = self.p, self.weights[name], self.layouts[name]
        if self.c.zero and self.dp > 1 and w.shape[0] % self.dp == 0:
            new = self.update_part(name, g, w)
        elif self.dp > 1 and self.even and p.broken("wrong-order", f"{name}: averaged after the update"):
            new = self.over_ranks(p.sub(w, p.mul(g, RATE)), f"{name} after the update")
        else:
            new = p.sub(w, p.mul(self.over_ranks(g, f"gradient of {name}"), RATE))
        p.expect(new, f"{name}_new", layout)

    def update_part(self, name, g, w):
        """Every rank updates its part of the weight; the parts are gathered (optimizer state spread over the ranks)."""
        p, n = self.p, w.shape[0] // self.dp
        g = p.reduce_scatter(g, 0, f"gradient of {name}", "dp")
        if self.even and not p.broken("wrong-scale", f"gradient of {name}: not divided by the number of ranks"):
            g = p.div(g, self.dp)
        part = p.own(w, 0, p.place("dp") * n, n, f"{name}: part that the rank updates")
        return p.all_gather(p.sub(part, p.mul(g, RATE)), 0, f"{name}_new", "dp")
