"""Layouts: what each rank holds of a sequential tensor, as the text of a manifest entry and as cuts of numbers.

A cut is (axis, pieces); the pieces are pairs (begin, end) whose concatenation along the axis is what the rank holds.
"""
import itertools
import math

from .sizes import shares, starts


def quoted(text):
    return f'"{text}"'


class Mesh(dict):
    """Axis -> size, of at least 2; ranks are counted row-major. With `kv` = (K, copies) the manifest writes the axis `tp` as two,
    so that it can say that `copies` ranks hold the same KV head."""

    def __init__(self, axes, kv=None):
        super().__init__({axis: n for axis, n in axes.items() if n > 1})
        self.kv = kv if kv and "tp" in self else None

    def written(self):
        """(axis of the manifest, its size, axis of the program)."""
        result = []
        for axis, n in self.items():
            fine = axis == "tp" and self.kv
            result += [("kv", self.kv[0], axis), ("copy", self.kv[1], axis)] if fine else [(axis, n, axis)]
        return result

    def place(self, rank):
        """The coordinates of a rank."""
        result = {}
        for axis, n in reversed(self.items()):
            rank, result[axis] = divmod(rank, n)
        return result

    def group(self, rank, axis):
        """The ranks that differ from `rank` at most along `axis`."""
        mine = self.place(rank)
        ranks = range(math.prod(self.values()))
        return [r for r in ranks if all(n == mine[a] for a, n in self.place(r).items() if a != axis)]


class Layout:
    """Placements along the axes of the mesh. `placed`: mesh axis -> (tensor axis, sizes of the shards or None for even ones)."""

    def __init__(self, mesh, placed):
        self.mesh, self.placed = mesh, {a: p for a, p in placed.items() if mesh.get(a, 1) > 1}

    def text(self, name):
        if not self.placed:
            return "Replicate"
        if len(self.mesh) == 1:
            return self.placement(next(iter(self.mesh)))
        return "{" + ", ".join(f"{axis}: {self.placement(program)}" for axis, _, program in self.mesh.written()) + "}"

    def placement(self, axis):
        return f"Shard({self.placed[axis][0]})" if axis in self.placed else "Replicate"

    def shape(self, rank, full):
        """The shape that a rank holds of a tensor of known shape."""
        result = list(full)
        for dim, pieces in self.cuts(rank, full):
            result[dim] = sum(end - begin for begin, end in pieces)
        return tuple(result)

    def cuts(self, rank, full):
        place, left, result = self.mesh.place(rank), list(full), []
        for axis, (dim, sizes) in self.placed.items():
            sizes = sizes or shares(left[dim], self.mesh[axis])
            begin = starts(sizes)[place[axis]]
            left[dim] = sizes[place[axis]]
            result.append((dim, [(begin, begin + left[dim])]))
        return result

    def held(self, rank):
        return True


class Copies(Layout):
    """The tensor is cut along one axis into blocks, and each block is held by several ranks (KV heads when there are more ranks).
    `owners`: per block the ranks that hold it. One text per replica, or a placement over the mesh axes `kv` and `copy`."""

    def __init__(self, mesh, dim, owners, block):
        super().__init__(mesh, {})
        self.dim, self.owners, self.block = dim, owners, block

    def text(self, name):
        if self.mesh.kv:
            places = [f"{a}: " + (f"Shard({self.dim})" if a == "kv" else "Replicate") for a, _, _ in self.mesh.written()]
            return "{" + ", ".join(places) + "}"
        rows = itertools.zip_longest(*self.owners)
        choices = [[r if r is not None else ranks[0] for r, ranks in zip(row, self.owners)] for row in rows]
        texts = [f"concat({', '.join(f'r{r}.{name}' for r in row)}; {self.dim})" if len(row) > 1 else f"r{row[0]}.{name}"
                 for row in choices]
        return "[" + ", ".join(map(quoted, texts)) + "]"

    def cuts(self, rank, full):
        i = next(i for i, ranks in enumerate(self.owners) if rank in ranks)
        return [(self.dim, [(i * self.block, (i + 1) * self.block)])]


class ZigZag(Layout):
    """An axis in 2 n chunks, of which rank r holds chunk r and chunk 2 n - 1 - r. `chunk` is the size of a chunk, as in r0's file."""

    def __init__(self, mesh, dim, ranks, chunk):
        super().__init__(mesh, {})
        self.dim, self.ranks, self.chunk = dim, ranks, chunk

    def text(self, name):
        def piece(r, half):
            c = self.chunk if isinstance(self.chunk, int) else f"r{r}.{self.chunk}"
            end = 2 * c if isinstance(c, int) else f"2*{c}"
            return f"slice(r{r}.{name}; {self.dim}, {c if half else 0}, {end if half else c})"

        order = [piece(r, 0) for r in range(self.ranks)] + [piece(r, 1) for r in reversed(range(self.ranks))]
        return quoted(f"concat({', '.join(order)}; {self.dim})")

    def cuts(self, rank, full):
        n = full[self.dim] // (2 * self.ranks)
        last = 2 * self.ranks - 1 - rank
        return [(self.dim, [(rank * n, rank * n + n), (last * n, last * n + n)])]


class Among(Layout):
    """Some ranks hold all of it."""

    def __init__(self, mesh, ranks):
        super().__init__(mesh, {})
        self.ranks = ranks

    def text(self, name):
        texts = [quoted(f"r{r}.{name}") for r in self.ranks]
        return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"

    def held(self, rank):
        return rank in self.ranks
