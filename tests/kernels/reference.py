"""Independent definitions of every kernel, and an interpreter of kernel programs, in NumPy.

`defined` follows the formulas of the docstrings and knows nothing of programs; `Interpreter`
runs a program pair by pair and knows nothing of kernels. What the native code computes must
agree with both.
"""

from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from mercer import kernels as mk
from mercer.gram.coordinates import combined


def dense(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def defined(k, X, Z=None):
    """Return the matrix of a bound kernel from its textbook formula."""
    Z = X if Z is None else Z
    match k:
        case mk.Linear():
            return X @ Z.T
        case mk.Polynomial():
            return (k.gamma * (X @ Z.T) + k.coef0) ** k.degree
        case mk.RBF():
            return np.exp(-k.gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=-1))
        case mk.Laplacian():
            return np.exp(-k.gamma * np.abs(X[:, None] - Z[None]).sum(axis=-1))
        case mk.Sigmoid():
            return np.tanh(k.gamma * (X @ Z.T) + k.coef0)
        case mk.Constant():
            return np.full((len(X), len(Z)), float(k.value))
        case mk.FromFunction():
            return np.asarray(k.function(X, Z), dtype=float)
        case mk.FromFeatureMap():
            return k.phi(X) @ k.phi(Z).T
        case mk.Sum():
            return defined(k.left, X, Z) + defined(k.right, X, Z)
        case mk.Product():
            return defined(k.left, X, Z) * defined(k.right, X, Z)
        case mk.Scaled():
            return k.scale * defined(k.kernel, X, Z)
        case mk.Power():
            return defined(k.kernel, X, Z) ** k.exponent
        case mk.Exp():
            return np.exp(defined(k.kernel, X, Z))
        case mk.PolynomialOf():
            inner = defined(k.kernel, X, Z)
            return sum(a * inner**m for m, a in enumerate(k.coefficients))
        case mk.Normalized():
            own = [np.diagonal(defined(k.kernel, A)) for A in (X, Z)]
            r, c = (np.divide(1, np.sqrt(d), out=np.zeros_like(d), where=d > 0) for d in own)
            return defined(k.kernel, X, Z) * r[:, None] * c
        case mk.OnColumns():
            return defined(k.kernel, X[:, k.columns], Z[:, k.columns])
    raise NotImplementedError(type(k))


class Interpreter:
    """The builder interface of a kernel program, evaluated at once on two sets of objects."""

    def __init__(self, X, Z):
        self.X, self.Z, self.stack = X, Z, []

    @contextmanager
    def columns(self, index):
        outer = self.X, self.Z
        self.X, self.Z = self.X[:, index], self.Z[:, index]
        yield
        self.X, self.Z = outer

    @contextmanager
    def mapped(self, mapping):
        outer = self.X, self.Z
        self.X, self.Z = (dense(mapping(A)) for A in outer)
        yield
        self.X, self.Z = outer

    def leaf(self, statistic):
        x, z = self.X[:, None], self.Z[None]
        total = np.where(x + z > 0, x + z, 1.0)
        self.stack.append(
            {
                "dot": lambda: (x * z).sum(axis=-1),
                "sqdist": lambda: ((x - z) ** 2).sum(axis=-1),
                "l1": lambda: np.abs(x - z).sum(axis=-1),
                "minimum": lambda: np.minimum(x, z).sum(axis=-1),
                "harmonic": lambda: (x * z / total).sum(axis=-1),
                "chi": lambda: ((x - z) ** 2 / total).sum(axis=-1),
            }[statistic]()
        )

    def coordinates(self, function, order=0):
        factors = (
            function.values(self.X[:, None, j], self.Z[None, :, j]) for j in range(self.X.shape[1])
        )
        values = combined(factors, order)
        self.stack.append(np.broadcast_to(values, (len(self.X), len(self.Z))))

    def matrix(self):
        self.stack.append(np.array(self.X, dtype=float))

    def python(self, kernel):
        self.stack.append(kernel.tile(self.X, self.Z))

    def const(self, value):
        self.stack.append(np.full((len(self.X), len(self.Z)), value))

    def dup(self):
        self.stack.append(self.stack[-1])

    def swap(self):
        self.stack[-2:] = self.stack[:-3:-1]

    def affine(self, a, b):
        self.stack.append(a * self.stack.pop() + b)

    def log(self):
        self.stack.append(np.log(np.maximum(self.stack.pop(), np.finfo(float).tiny)))

    def sqrt(self):
        self.stack.append(np.sqrt(np.maximum(self.stack.pop(), 0)))

    def cos(self):
        self.stack.append(np.cos(self.stack.pop()))

    def reciprocal(self):
        self.stack.append(1 / self.stack.pop())

    def power(self, exponent):
        self.stack.append(np.maximum(self.stack.pop(), 0) ** exponent)

    def polynomial(self, coefficients):
        self.stack.append(np.polynomial.polynomial.polyval(self.stack.pop(), coefficients))

    def table(self, table):
        self.stack.append(table(self.stack.pop()))

    def add_diagonal(self, kernel):
        own, other = kernel.diag(self.X), kernel.diag(self.Z)
        self.stack.append(self.stack.pop() + own[:, None] + other)

    def add(self):
        self.stack.append(self.stack.pop() + self.stack.pop())

    def mul(self):
        self.stack.append(self.stack.pop() * self.stack.pop())

    def powi(self, n):
        self.stack.append(self.stack.pop() ** n)

    def exp(self):
        self.stack.append(np.exp(self.stack.pop()))

    def tanh(self):
        self.stack.append(np.tanh(self.stack.pop()))

    def normalize(self, kernel):
        own = [kernel.diag(A) for A in (self.X, self.Z)]
        if min(map(np.min, own)) < 0:
            raise ValueError("negative diagonal")
        r, c = (np.divide(1, np.sqrt(d), out=np.zeros_like(d), where=d > 0) for d in own)
        self.stack.append(self.stack.pop() * np.outer(r, c))


def interpreted(kernel, X, Z=None):
    """Return the matrix of a bound kernel by interpreting its program."""
    run = Interpreter(X, X if Z is None else Z)
    kernel.compile(run)
    (values,) = run.stack
    return values
