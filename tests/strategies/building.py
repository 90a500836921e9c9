"""Programs under construction, operator by operator, in the form torch.export gives them; shapes follow by themselves."""
import itertools
import math


class Tensor:
    def __init__(self, name, shape, dtype):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype


def broadcast(*shapes):
    """The shape that all of these broadcast to."""
    columns = itertools.zip_longest(*(reversed(s) for s in shapes), fillvalue=1)
    return tuple(reversed([max(c) if min(c) > 0 else 0 for c in columns]))


class Program:
    """The graph of one rank, or (rank None) the sequential one. `broken` is the mistake that the program is to contain."""

    def __init__(self, rank=None, ranks=1, groups=None, broken=None):
        self.sequential, self.rank, self.ranks, self.mistake = rank is None, rank or 0, ranks, broken
        self.groups = {} if rank is None else groups or {"tp": list(range(ranks))}
        self.nodes, self.inputs, self.outputs, self.names = [], [], [], {}

    def broken(self, what):
        return not self.sequential and self.mistake == what

    # ------------------------------------------------------------------------------------------------------------- nodes

    def unique(self, base):
        count = self.names.get(base, 0)
        self.names[base] = count + 1
        return base if count == 0 else f"{base}_{count}"

    def input(self, name, *shape, dtype="f32"):
        self.inputs.append(name)
        self.names[name] = 1
        self.nodes.append({"name": name, "op": "placeholder", "shape": list(shape), "dtype": dtype})
        return Tensor(name, shape, dtype)

    def output(self, x, name):
        """`x`, which becomes an output of that name."""
        y = self.op("aten.clone.default", x, shape=x.shape, dtype=x.dtype, name=name)
        self.outputs.append(name)
        return y

    def op(self, op, *args, shape, dtype=None, name=None, **kwargs):
        def encode(a):
            if isinstance(a, Tensor):
                return {"ref": a.name}
            return [encode(x) for x in a] if isinstance(a, (list, tuple)) else a

        tensors = [a for a in args if isinstance(a, Tensor)]
        dtype = dtype or (tensors[0].dtype if tensors else "f32")
        name = self.unique(name or op.split(".")[1])
        self.nodes.append({"name": name, "op": op, "args": encode(args), "kwargs": kwargs, "shape": list(shape), "dtype": dtype})
        return Tensor(name, shape, dtype)

    def several(self, op, *args, shapes, dtypes=None, **kwargs):
        """The results of an operator with several."""
        whole = self.op(op, *args, shape=(), **kwargs)
        dtypes = dtypes or [whole.dtype] * len(shapes)
        self.nodes[-1].update(shape=[list(s) for s in shapes], dtype=list(dtypes))
        return [self.op("getitem", whole, k, shape=s, dtype=t, name=f"{whole.name}.{k}") for k, (s, t) in enumerate(zip(shapes, dtypes))]

    def graph(self):
        where = {} if self.sequential else {"rank": self.rank, "world_size": self.ranks}
        return {"format": "entangle-graph", "version": 1, "name": "strategy", "source": "pytorch", "groups": self.groups, "inputs": self.inputs,
                "outputs": self.outputs, "nodes": self.nodes, **where}

    # ------------------------------------------------------------------------------------------------- element by element

    def same(self, op, x, *args, **kwargs):
        return self.op(f"aten.{op}", x, *args, shape=x.shape, **kwargs)

    def binary(self, op, x, y):
        if not isinstance(y, Tensor):
            return self.op(f"aten.{op}.Tensor", x, y, shape=x.shape)
        return self.op(f"aten.{op}.Tensor", x, y, shape=broadcast(x.shape, y.shape))

    def add(self, x, y):
        return self.binary("add", x, y)

    def sub(self, x, y):
        return self.binary("sub", x, y)

    def mul(self, x, y):
        return self.binary("mul", x, y)

    def div(self, x, y):
        return self.binary("div", x, y)

    def maximum(self, x, y):
        return self.op("aten.maximum.default", x, y, shape=broadcast(x.shape, y.shape))

    def unary(self, op, x):
        return self.same(f"{op}.default", x)

    def power(self, x, c):
        return self.same("pow.Tensor_Scalar", x, c)

    def compare(self, op, x, y):
        if isinstance(y, Tensor):
            return self.op(f"aten.{op}.Tensor", x, y, shape=broadcast(x.shape, y.shape), dtype="b8")
        return self.op(f"aten.{op}.Scalar", x, y, shape=x.shape, dtype="b8")

    def masked_fill(self, x, m, c):
        return self.op("aten.masked_fill.Scalar", x, m, c, shape=broadcast(x.shape, m.shape), dtype=x.dtype)

    def cast(self, x, dtype):
        y = self.op("aten._to_copy.default", x, shape=x.shape, dtype=dtype)
        self.nodes[-1]["kwargs"] = {"dtype": dtype}
        return y

    # ------------------------------------------------------------------------------------------------------------- layout

    def view(self, x, *shape):
        n = math.prod(x.shape)
        if -1 in shape:
            rest = math.prod(s for s in shape if s != -1)
            shape = tuple(n // rest if s == -1 else s for s in shape)
        assert math.prod(shape) == n, (x.shape, shape)
        return self.op("aten.view.default", x, list(shape), shape=shape)

    def permute(self, x, *order):
        return self.op("aten.permute.default", x, list(order), shape=[x.shape[k] for k in order])

    def t(self, x):
        return self.op("aten.t.default", x, shape=x.shape[::-1])

    def transpose(self, x, a, b):
        order = list(range(len(x.shape)))
        order[a], order[b] = order[b], order[a]
        return self.op("aten.transpose.int", x, a, b, shape=[x.shape[k] for k in order])

    def slice(self, x, dim, begin, end):
        return self.op("aten.slice.Tensor", x, dim, begin, end, shape=x.shape[:dim] + (end - begin,) + x.shape[dim + 1:])

    def part(self, x, dim, index, count):
        """The index-th of `count` equal parts."""
        n = x.shape[dim] // count
        return self.slice(x, dim, index * n, index * n + n)

    def cat(self, xs, dim):
        shape = list(xs[0].shape)
        shape[dim] = sum(x.shape[dim] for x in xs)
        return self.op("aten.cat.default", list(xs), dim, shape=shape, dtype=xs[0].dtype)

    def unsqueeze(self, x, dim):
        dim %= len(x.shape) + 1
        return self.op("aten.unsqueeze.default", x, dim, shape=x.shape[:dim] + (1,) + x.shape[dim:])

    def squeeze(self, x, dim):
        return self.op("aten.squeeze.dim", x, dim, shape=[n for k, n in enumerate(x.shape) if k != dim % len(x.shape)])

    def expand(self, x, *shape):
        return self.op("aten.expand.default", x, list(shape), shape=shape)

    def clone(self, x):
        return self.unary("clone", x)

    def arange(self, begin, end, dtype="i64"):
        return self.op("aten.arange.start", begin, end, shape=[end - begin], dtype=dtype, **({} if dtype == "i64" else {"dtype": dtype}))

    # --------------------------------------------------------------------------------------- products, reductions, look-ups

    def mm(self, x, y):
        return self.op("aten.mm.default", x, y, shape=(x.shape[0], y.shape[1]))

    def bmm(self, x, y):
        return self.op("aten.bmm.default", x, y, shape=(*x.shape[:2], y.shape[2]))

    def linear(self, x, w):
        """Of the last axis; w is [out, in]."""
        y = self.mm(x if len(x.shape) == 2 else self.view(x, -1, x.shape[-1]), self.t(w))
        return y if len(x.shape) == 2 else self.view(y, *x.shape[:-1], w.shape[0])

    def reduce(self, op, x, dims, keep=False, dtype=None):
        dims = [d % len(x.shape) for d in dims]
        shape = [1 if k in dims else n for k, n in enumerate(x.shape) if keep or k not in dims]
        return self.op(f"aten.{op}", x, dims, keep, shape=shape, dtype=dtype or x.dtype)

    def sum(self, x, dims, keep=False):
        return self.reduce("sum.dim_IntList", x, dims, keep)

    def total(self, x):
        return self.op("aten.sum.default", x, shape=())

    def mean(self, x, dims, keep=False):
        return self.reduce("mean.dim", x, dims, keep)

    def amax(self, x, dims, keep=False):
        return self.reduce("amax.default", x, dims, keep)

    def softmax(self, x):
        return self.same("_softmax.default", x, -1, False)

    def embedding(self, w, ids):
        return self.op("aten.embedding.default", w, ids, shape=(*ids.shape, w.shape[1]))

    def pick(self, x, index):
        """The entry of each row that `index` says."""
        index = self.unsqueeze(index, -1)
        return self.squeeze(self.op("aten.gather.default", x, len(x.shape) - 1, index, shape=index.shape), -1)

    # --------------------------------------------------------------------------------------------------------- collectives

    def size(self, group="tp"):
        return len(self.groups[group])

    def place(self, group="tp"):
        return self.groups[group].index(self.rank)

    def wait(self, x):
        return self.op("_c10d_functional.wait_tensor.default", x, shape=x.shape)

    def all_reduce(self, x, kind="sum", group="tp"):
        return self.wait(self.op("_c10d_functional.all_reduce.default", x, kind, group, shape=x.shape))

    def all_gather(self, x, dim=0, group="tp"):
        """Collectives join along axis 0; the rest is slices and cat."""
        n = self.size(group)
        y = self.wait(self.op("_c10d_functional.all_gather_into_tensor.default", x, n, group, shape=(n * x.shape[0], *x.shape[1:])))
        return y if dim == 0 else self.cat([self.part(y, 0, k, n) for k in range(n)], dim)

    def reduce_scatter(self, x, dim=0, group="tp", kind="sum"):
        n = self.size(group)
        if dim != 0:
            x = self.cat([self.part(x, dim, k, n) for k in range(n)], 0)
        return self.wait(self.op("_c10d_functional.reduce_scatter_tensor.default", x, kind, n, group, shape=(x.shape[0] // n, *x.shape[1:])))

    def all_to_all(self, x, group="tp"):
        n = self.size(group)
        parts = [x.shape[0] // n] * n
        return self.wait(self.op("_c10d_functional.all_to_all_single.default", x, parts, parts, group, shape=x.shape))

    def exchange(self, x, scattered, gathered, group="tp"):
        """All-to-all that cuts along `scattered` and joins along `gathered`."""
        n = self.size(group)
        y = self.all_to_all(self.cat([self.part(x, scattered, k, n) for k in range(n)], 0), group)
        return self.cat([self.part(y, 0, k, n) for k in range(n)], gathered)

    def send(self, x, to, tag=0):
        self.nodes.append({"name": self.unique("send"), "op": "c10d.send", "args": [{"ref": x.name}, to], "kwargs": {"tag": tag}, "shape": None,
                           "dtype": None})

    def receive(self, shape, source, tag=0, dtype="f32"):
        return self.op("c10d.recv", source, shape=shape, dtype=dtype, tag=tag)
