"""Programs under construction, as torch.export shows them: one graph, with symbolic sizes, collectives and breaks."""
import json
import sys

import make

from .layout import Layout, Mesh
from .sizes import Size

SYMBOLS = {"s0": "batch", "s1": "sequence"}


class Program(make.Program):
    """The graph of one rank, or the sequential one (rank None: every mesh axis has size 1 and nothing breaks).

    `case` collects what the manifest needs: layouts of inputs and outputs, assumptions.
    """

    HIDDEN = {__file__, make.__file__}  # `loc` is the line of the model that called into these

    def __init__(self, name, case, rank=None):
        self.name, self.case, self.sequential = name, case, rank is None
        self.rank, self.ranks = rank or 0, 1 if rank is None else case.ranks
        self.mesh = Mesh({}) if rank is None else case.mesh
        self.nodes, self.placeholders, self.inputs, self.outputs, self.names = [], [], [], [], {}
        self.weights, self.sizes, self.bound = {}, {}, {}

    # ------------------------------------------------------------------------------------------------ places in the mesh

    def size(self, axis):
        return self.mesh.get(axis, 1)

    def place(self, axis):
        return self.mesh.place(self.rank).get(axis, 0)

    def broken(self, kind, label):
        return not self.sequential and self.case.breaks.broken(kind, label)

    # ------------------------------------------------------------------------------------------------------------ inputs

    def input(self, name, *shape, dtype="f32"):
        assert name not in self.names
        self.names[name] = 1
        self.inputs.append(name)
        self.placeholders.append({"name": name, "op": "placeholder", "shape": shape, "dtype": self.precision(dtype)})
        x = make.Tensor(name, shape, dtype)
        self.bind(x)
        return x

    def data(self, name, shape, layout, dtype="f32", below=None):
        """An input whose local shape the caller knows; integers are in [0, below)."""
        if name in self.weights:
            return self.weights[name]
        if not self.sequential:
            self.case.inputs[name] = layout
        elif below is not None:
            self.case.ranges[name] = below
        self.weights[name] = self.input(name, *shape, dtype=dtype)
        return self.weights[name]

    def weight(self, name, shape, layout=None):
        """An input of known shape; the local shape follows from the layout (default: replicated)."""
        layout = layout or Layout(self.mesh, {})
        return self.data(name, shape if self.sequential else layout.shape(self.rank, shape), layout)

    def expect(self, x, name, layout):
        """`x`, the result of the last operator, is an output."""
        self.output(x, name)
        if not self.sequential:
            self.case.expected[name] = layout

    def precision(self, dtype):
        return self.case.config.dtype if dtype == "f32" else dtype

    # ----------------------------------------------------------------------------------------------------- symbolic sizes

    def extent(self, symbol, n):
        return Size.symbol(symbol) if self.case.config.symbolic in (SYMBOLS[symbol], "both") else n

    def bind(self, x):
        """The sizes of `x` say what the symbols in them are."""
        for dim, n in enumerate(x.shape):
            if isinstance(n, Size) and n.lone_symbol():
                symbol, k = n.lone_symbol()
                self.bound.setdefault(symbol, (x, dim, k))

    def size_node(self, size):
        """The node that computes a symbolic size."""
        known = self.sizes.get(size)
        if known is None:
            known = self.sizes[size] = self.computed_size(size)
        return known

    def computed_size(self, size):
        alone = size.lone_symbol()
        if alone == (str(size), 1):
            x, dim, k = self.bound[alone[0]]
            whole = self.size_op("aten.sym_size.int", k * size, x, dim)
            self.sizes[k * size] = whole
            return whole if k == 1 else self.size_op("operator.floordiv", size, whole, k)
        (monomial, k), *rest = size.terms.items()
        if rest:
            return self.size_op("operator.add", size, Size.of({monomial: k}), Size.of(dict(rest)))
        if k != 1:
            return self.size_op("operator.mul", size, Size.of({monomial: 1}), k)
        return self.size_op("operator.mul", size, Size.of({monomial[:1]: 1}), Size.of({monomial[1:]: 1}))

    def size_op(self, op, size, *args):
        return make.Tensor(self.node(op, args, (), "i64", sym=str(size)), (), "i64")

    # ----------------------------------------------------------------------------------------------------------- operators

    def encode(self, a):
        if isinstance(a, make.Tensor):
            return {"ref": a.name}
        if isinstance(a, Size):
            return {"ref": self.size_node(a).name}
        return [self.encode(x) for x in a] if isinstance(a, (list, tuple)) else a

    def node(self, op, args, shape, dtype, kwargs=None, sym=None):
        encoded = self.encode(args)
        name = self.unique("sym_size_int" if op == "aten.sym_size.int" else op.split(".")[1])
        dtype = [self.precision(d) for d in dtype] if isinstance(dtype, (list, tuple)) else self.precision(dtype)
        entry = {"name": name, "op": op, "args": encoded, "kwargs": {k: self.encode(v) for k, v in (kwargs or {}).items()},
                 "shape": shape, "dtype": dtype}
        if sym is not None:
            entry["sym"] = sym
        entry["loc"] = self.location()
        self.nodes.append(entry)
        return name

    def location(self):
        frame = sys._getframe(2)
        while frame.f_code.co_filename in self.HIDDEN:
            frame = frame.f_back
        return f"generator/{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"

    def same(self, op, x, *more, **kwargs):
        """An operator whose result has the shape of its first operand."""
        return self.op(op, x, *more, shape=x.shape, dtype=x.dtype, **kwargs)

    def cast(self, x, dtype):
        name = self.node("aten._to_copy.default", [x], x.shape, dtype, {"dtype": self.precision(dtype)})
        return make.Tensor(name, x.shape, dtype)

    def unsqueeze(self, x, dim):
        dim %= len(x.shape) + 1
        return self.op("aten.unsqueeze.default", x, dim, shape=x.shape[:dim] + (1,) + x.shape[dim:], dtype=x.dtype)

    def squeeze(self, x, dim):
        dim %= len(x.shape)
        return self.op("aten.squeeze.dim", x, dim, shape=x.shape[:dim] + x.shape[dim + 1:], dtype=x.dtype)

    def slice(self, x, dim, begin, end):
        shape = x.shape[:dim] + (end - begin,) + x.shape[dim + 1:]
        return self.op("aten.slice.Tensor", x, dim, begin, end, shape=shape, dtype=x.dtype)

    def permute(self, x, *order):
        return self.op("aten.permute.default", x, list(order), shape=[x.shape[a] for a in order])

    def mul(self, x, y):
        return self.same("aten.mul.Tensor", x, y)

    def sub(self, x, y):
        return self.same("aten.sub.Tensor", x, y)

    def div(self, x, y):
        return self.same("aten.div.Tensor", x, y)

    def cat(self, xs, dim):
        dim %= len(xs[0].shape)
        n = sum(x.shape[dim] for x in xs)
        return self.op("aten.cat.default", list(xs), dim, shape=xs[0].shape[:dim] + (n,) + xs[0].shape[dim + 1:], dtype=xs[0].dtype)

    def chunks(self, x, n, dim):
        """`n` even pieces along `dim`."""
        piece = x.shape[:dim] + (x.shape[dim] // n,) + x.shape[dim + 1:]
        parts = self.several("aten.split.Tensor", x, piece[dim], dim, shapes=[piece] * n, pick=range(n))
        return [parts] if n == 1 else parts

    def reduce(self, op, x, dims, keepdim=False):
        dims = [d % len(x.shape) for d in dims]
        shape = [1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims]
        return self.op(op, x, dims, keepdim, shape=shape)

    def arange(self, begin, end):
        return self.op("aten.arange.start", begin, end, shape=(end - begin,), dtype="i64")

    def compare(self, op, x, y, shape=None):
        return self.op(op, x, y, shape=shape or x.shape, dtype="b8")

    def masked_fill(self, x, mask, value):
        return self.same("aten.masked_fill.Scalar", x, mask, value)

    # --------------------------------------------------------------------------------------------------------- collectives

    def wait(self, x):
        return self.same("_c10d_functional.wait_tensor.default", x)

    def reduced(self, x, kind, axis):
        return self.wait(self.same("_c10d_functional.all_reduce.default", x, kind, axis))

    def all_reduce(self, x, label, axis="tp", kind="sum"):
        if self.size(axis) == 1:
            return x
        if self.broken("drop-collective", label):
            return x
        if kind == "sum" and self.broken("wrong-scale", f"{label}: average instead of sum"):
            kind = "avg"
        y = self.reduced(x, kind, axis)
        return self.reduced(y, kind, axis) if self.broken("duplicate-collective", label) else y

    def gathered(self, x, axis):
        n = self.size(axis)
        return self.wait(self.op("_c10d_functional.all_gather_into_tensor.default", x, n, axis,
                                 shape=(n * x.shape[0],) + x.shape[1:], dtype=x.dtype))

    def all_gather(self, x, dim, label, axis="tp"):
        """The parts of all ranks, in their order, along `dim`. Collectives join along axis 0; the rest is chunk and cat."""
        n = self.size(axis)
        if n == 1:
            return x
        if self.broken("drop-collective", label):
            return self.cat([x] * n, dim)
        y = self.gathered(x, axis)
        if self.broken("duplicate-collective", label):
            y = self.slice(self.gathered(y, axis), 0, 0, y.shape[0])
        rotated = self.broken("wrong-order", f"{label}: parts rotated")
        other = (dim + 1) % len(x.shape) if len(x.shape) > 1 and self.broken("wrong-axis", label) else dim
        if other == 0 and not rotated and dim == 0:
            return y
        parts = self.chunks(y, n, 0)
        y = self.cat(parts[1:] + parts[:1] if rotated else parts, other)
        return y if other == dim else self.view(y, *x.shape[:dim], n * x.shape[dim], *x.shape[dim + 1:])

    def reduce_scatter(self, x, dim, label, axis="tp"):
        """The sum over ranks, of which each rank keeps its part along `dim`."""
        n, last = self.size(axis), len(x.shape) - 1
        if n == 1:
            return x
        whole, part = x.shape, x.shape[dim] // n
        if self.broken("drop-collective", label):
            return self.slice(x, dim, self.place(axis) * part, (self.place(axis) + 1) * part)
        if self.broken("duplicate-collective", label):
            x = self.reduced(x, "sum", axis)
        kind = "avg" if self.broken("wrong-scale", f"{label}: average instead of sum") else "sum"
        other = last if last != dim and x.shape[last] % n == 0 and self.broken("wrong-axis", label) else dim
        if other != 0:
            x = self.cat(self.chunks(x, n, other), 0)
        y = self.wait(self.op("_c10d_functional.reduce_scatter_tensor.default", x, kind, n, axis,
                              shape=(x.shape[0] // n,) + x.shape[1:]))
        return y if other == dim else self.view(y, *whole[:dim], part, *whole[dim + 1:])

    def exchanged(self, x, take, give, axis):
        """all_to_all_single: `give` rows to each rank, `take` rows from each."""
        return self.wait(self.op("_c10d_functional.all_to_all_single.default", x, take, give, axis, shape=(sum(take),) + x.shape[1:]))

    def all_to_all(self, x, take, give, label, axis):
        if self.size(axis) == 1:
            return x
        if take == give and self.broken("drop-collective", label):
            return x
        y = self.exchanged(x, take, give, axis)
        if take == give and self.broken("duplicate-collective", label):
            y = self.exchanged(y, take, give, axis)
        if len(set(take)) == 1 and self.broken("wrong-order", f"{label}: parts rotated"):
            parts = self.chunks(y, len(take), 0)
            y = self.cat(parts[1:] + parts[:1], 0)
        return y

    def send(self, x, to, tag):
        self.node("c10d.send", [x, to], None, None, {"tag": tag})

    def receive(self, shape, source, tag):
        x = self.op("c10d.recv", source, tag=tag, shape=shape)
        self.bind(x)
        return x

    def own(self, x, dim, begin, n, label):
        """The slice of a replicated tensor that this rank works on."""
        if self.broken("wrong-slice-offset", label):
            begin = 0
        return self.slice(x, dim, begin, begin + n)

    # -------------------------------------------------------------------------------------------------------------- writing

    def lines(self):
        """The JSON text, piece by piece."""
        groups = {axis: self.mesh.group(self.rank, axis) for axis in self.mesh}
        head = [("format", "entangle-graph"), ("version", 1), ("name", self.name), ("rank", self.rank), ("world_size", self.ranks),
                ("source", "pytorch"), ("groups", groups), ("inputs", self.inputs), ("outputs", self.outputs)]
        yield "{" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in head)[1:] + ',\n "nodes": [\n'
        write = json.JSONEncoder(default=str, check_circular=False).encode  # sizes that are no numbers become texts
        separator = ""
        for node in (*self.placeholders, *self.nodes):
            yield f"{separator}  {write(node)}"
            separator = ",\n"
        yield "\n ]}\n"
