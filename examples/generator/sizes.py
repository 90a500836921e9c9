"""Sizes of tensors: plain integers, or polynomials over symbols (`s0`, `2*s0*s1 + 1`), and how sizes are shared out."""


def shares(total, parts):
    """`total` in `parts` shares that differ by at most one, the larger first."""
    least, more = divmod(total, parts)
    return [least + (i < more) for i in range(parts)]


def starts(sizes):
    """Where each of the consecutive pieces begins."""
    result, at = [], 0
    for n in sizes:
        result.append(at)
        at += n
    return result


class Size:
    """A polynomial that is no constant. Immutable; mixes with integers in +, - and *. Constants come out as integers."""

    def __init__(self, terms):
        self.terms = terms  # monomial (sorted tuple of symbols) -> coefficient

    @staticmethod
    def symbol(name):
        return Size({(name,): 1})

    @staticmethod
    def of(terms):
        terms = {m: k for m, k in sorted(terms.items()) if k != 0}
        return terms.get((), 0) if set(terms) <= {()} else Size(terms)

    @staticmethod
    def terms_of(x):
        return x.terms if isinstance(x, Size) else {(): x}

    def __add__(self, other):
        terms = dict(self.terms)
        for m, k in Size.terms_of(other).items():
            terms[m] = terms.get(m, 0) + k
        return Size.of(terms)

    def __mul__(self, other):
        terms = {}
        for m, k in self.terms.items():
            for n, j in Size.terms_of(other).items():
                both = tuple(sorted(m + n))
                terms[both] = terms.get(both, 0) + k * j
        return Size.of(terms)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __floordiv__(self, n):
        """Exact division by an integer."""
        assert all(k % n == 0 for k in self.terms.values()), (str(self), n)
        return Size.of({m: k // n for m, k in self.terms.items()})

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other):
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self):
        return hash(tuple(self.terms.items()))

    def __str__(self):
        def text(monomial, k):
            factors = ([str(k)] if k != 1 or not monomial else []) + list(monomial)
            return "*".join(factors)

        ordered = sorted(self.terms.items(), key=lambda t: (-len(t[0]), t[0]))
        return " + ".join(text(m, k) for m, k in ordered).replace("+ -", "- ")

    def lone_symbol(self):
        """(symbol, k) when this is k times one symbol, else None."""
        ((monomial, k), *more) = self.terms.items()
        return (monomial[0], k) if not more and len(monomial) == 1 else None
