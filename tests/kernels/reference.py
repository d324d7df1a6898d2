"""Independent definitions of every kernel, and an interpreter of kernel programs, in NumPy.

`defined` follows the formulas of the docstrings and knows nothing of programs; `Interpreter`
runs a program pair by pair and knows nothing of kernels. What the native code computes must
agree with both.
"""

from contextlib import contextmanager
from itertools import product

import numpy as np
import scipy.sparse as sp
from scipy.special import betainc, gamma, kv, xlogy

from mercer import kernels as mk
from mercer.gram.coordinate_statistics import combined
from mercer.objects.vocabulary import Vocabulary
from tests.kernels import coordinate_definitions, structured_definitions


def dense(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def defined(k, X, Z=None):
    """Return the matrix of a bound kernel from its textbook formula."""
    Z = X if Z is None else Z
    definition = DEFINITIONS.get(type(k))
    if definition is None:
        raise NotImplementedError(
            f"{type(k).__name__} has no definition: add its formula to DEFINITIONS in "
            "tests/kernels/reference.py, or for sequences, sets and documents to "
            "tests/kernels/structured_definitions.py"
        )
    return np.asarray(definition(k, X, Z), dtype=float)


def scaled(factor, X, Z):
    """Return both sets with all columns multiplied by a number, or each by its own."""
    return X * np.array(factor), Z * np.array(factor)


def dots(X, Z):
    return (X[:, None] * Z[None]).sum(axis=-1)


def apart(X, Z, p=2):
    """Return the distances in the p-norm."""
    return np.linalg.norm(X[:, None] - Z[None], ord=p, axis=-1)


def matern(k, X, Z):
    r = apart(X / np.array(k.length_scale), Z / np.array(k.length_scale))
    if k.nu == np.inf:
        return np.exp(-0.5 * r**2)
    u = np.sqrt(2 * k.nu) * r
    at = np.where(u > 0, u, 1.0)
    return np.where(u > 0, 2 ** (1 - k.nu) / gamma(k.nu) * at**k.nu * kv(k.nu, at), 1.0)


def ball_volume(d):
    return np.pi ** (d / 2) / gamma(d / 2 + 1)


def radial_spline(k, X, Z):
    """Convolve the volume common to two balls, or a spline of it, with one more pair of balls."""
    d, r = X.shape[1], apart(X, Z) / k.scale

    def two(r):
        inside = np.clip(1 - r * r / 4, 0, 1)
        return ball_volume(d) * betainc((d + 1) / 2, 0.5, inside)

    if k.order == 1:
        return two(r)
    # f * g at distance r: f on spheres of radius s, g at the distance t from points on them.
    s = (np.arange(100) + 0.5) / 50
    ws = np.full(100, 1 / 50)
    if d == 1:
        return ((two(abs(r[..., None] - s)) + two(r[..., None] + s)) * two(s)) @ ws
    angle = (np.arange(100) + 0.5) * np.pi / 100
    x, y = s[:, None] * np.cos(angle), s[:, None] * np.sin(angle)
    values = []
    for distance in r.reshape(-1):
        sphere = two(np.hypot(distance - x, y)) @ np.sin(angle) ** (d - 2) * (np.pi / 100)
        values.append((sphere * two(s) * s ** (d - 1)) @ ws * (d - 1) * ball_volume(d - 1))
    return np.reshape(values, r.shape)


def from_spectrum(k, X, Z):
    """Sum waves over frequencies, averaged over all directions."""
    d, r = X.shape[1], apart(X, Z)
    w = (np.arange(8000) + 0.5) * (k.cutoff or 200.0) / 8000
    weight = w ** (d - 1) * k.density(w) * w[0] * 2 / (2 ** (d / 2 - 1) * gamma(d / 2))
    x = r[..., None] * w
    return (np.cos(x) if d == 1 else np.sinc(x / np.pi)) @ weight


def periodized(k, X, Z):
    shifts = product(np.arange(-25, 26) if X.shape[1] == 1 else np.arange(-4, 5), repeat=X.shape[1])
    return sum(defined(k.kernel, X + k.period * np.array(n), Z) for n in shifts)


def power_series(k, X, Z):
    t = dots(X, Z) if k.kernel is None else defined(k.kernel, X, Z)
    if isinstance(k.coefficients, str):
        closed = {"geometric": lambda t: 1 / (1 - t), "log": lambda t: -np.log(1 - t)}
        return closed.get(k.coefficients, getattr(np, k.coefficients, None))(t)
    given = k.coefficients
    terms = [given(n) for n in range(k.n_terms)] if callable(given) else given
    return sum(a * t**n for n, a in enumerate(terms))


def distance_kernel(k, X, Z):
    if callable(k.distance):
        d = k.distance(X, Z)
    elif k.distance == "chi2":
        x, z = X[:, None], Z[None]
        d = ((x - z) ** 2 / np.where(x + z > 0, x + z, 1)).sum(axis=-1)
    else:
        named = {"l1": 1, "l2": 2, "linf": np.inf, "sqeuclidean": 2}
        d = apart(X, Z, named.get(k.distance, k.distance))
        d = d**2 if k.distance == "sqeuclidean" else d
    return np.exp(-d / k.scale)


def normalized(k, X, Z):
    own = [np.diagonal(defined(k.kernel, A)) for A in (X, Z)]
    r, c = (np.divide(1, np.sqrt(d), out=np.zeros_like(d), where=d > 0) for d in own)
    return defined(k.kernel, X, Z) * r[:, None] * c


def over_feature_space(k, X, Z):
    own, other = (np.diagonal(defined(k.kernel, A)) for A in (X, Z))
    return np.exp(-k.gamma * (own[:, None] - 2 * defined(k.kernel, X, Z) + other))


def projected(k, X, Z):
    """Take the polynomials out that interpolate in the points, one argument after the other."""
    P = np.array(k.points, dtype=float)
    order = k.kernel.definiteness.order

    def basis(A):
        return np.ones((len(A), 1)) if order == 1 else np.hstack([np.ones((len(A), 1)), A])

    left, right = (np.linalg.lstsq(basis(P).T, basis(A).T, rcond=None)[0].T for A in (X, Z))
    inner = k.kernel
    half = defined(inner, X, Z) - left @ defined(inner, P, Z)
    return half - (defined(inner, X, P) - left @ defined(inner, P, P)) @ right.T


def covariance(k, X, Z):
    def values(A):
        V = k.functions(A) if callable(k.functions) else np.stack([f(A) for f in k.functions], 1)
        return V - V.mean(axis=1, keepdims=True) if k.centered else V

    return np.mean(values(X)[:, None] * values(Z)[None], axis=-1)


def from_feature_map(k, X, Z):
    A, B = dense(k.phi(X)), dense(k.phi(Z))
    return dots(A, B) if k.kernel is None else defined(k.kernel, A, B)


def finite_matrix(k, X, Z):
    place = (list(k.items) if k.items is not None else list(range(len(k.matrix)))).index
    return [[k.matrix[place(x)][place(z)] for z in Z] for x in X]


def categorical(k, X, Z):
    return [[np.mean([a == b for a, b in zip(x, z, strict=True)]) for z in Z] for x in X]


def seen(A, kernel):
    """Return chosen columns as a kernel takes them: a table, one column of objects, or numbers."""
    if not (isinstance(A, np.ndarray) and A.dtype == object) or kernel.takes.columns:
        return A
    return list(A[:, 0]) if kernel.takes.structured else dense(A)


def fourier_series(k, X, Z):
    u = 2 * np.pi / k.period * (X[:, None] - Z[None])
    return sum(a * np.cos(n * u) for n, a in enumerate(k.coefficients)).prod(axis=-1)


DEFINITIONS = {
    mk.Linear: lambda k, X, Z: dots(X, Z),
    mk.Polynomial: lambda k, X, Z: (k.gamma * dots(X, Z) + k.coef0) ** k.degree,
    mk.Bilinear: lambda k, X, Z: X @ np.array(k.matrix) @ Z.T,
    mk.SumOfPowers: lambda k, X, Z: sum((k.gamma * dots(X, Z)) ** m for m in range(k.degree + 1)),
    mk.ExponentialDot: lambda k, X, Z: np.exp(k.gamma * dots(X, Z)),
    mk.PowerSeries: power_series,
    mk.Sigmoid: lambda k, X, Z: np.tanh(k.gamma * dots(X, Z) + k.coef0),
    mk.RBF: lambda k, X, Z: np.exp(-(apart(*scaled(np.sqrt(k.gamma), X, Z)) ** 2)),
    mk.Laplacian: lambda k, X, Z: np.exp(-apart(*scaled(k.gamma, X, Z), 1)),
    mk.Exponential: lambda k, X, Z: np.exp(-apart(*scaled(k.gamma, X, Z))),
    mk.Matern: matern,
    mk.RationalQuadratic: lambda k, X, Z: (
        (1 + apart(*scaled(1 / np.array(k.length_scale), X, Z)) ** 2 / (2 * k.alpha)) ** -k.alpha
    ),
    mk.DampedOscillator: lambda k, X, Z: 1 / (k.gamma**2 + (k.omega * apart(X, Z)) ** 2),
    mk.Multiquadric: lambda k, X, Z: -np.hypot(apart(X, Z), k.c),
    mk.InverseMultiquadric: lambda k, X, Z: 1 / np.hypot(apart(X, Z), k.c),
    mk.ThinPlate: lambda k, X, Z: xlogy(apart(X, Z) ** 2, apart(X, Z)),
    mk.NegativeDistance: lambda k, X, Z: -(apart(X, Z) ** k.power),
    mk.LogDistance: lambda k, X, Z: -np.log(apart(X, Z) ** k.power + k.c),
    mk.RadialBSpline: radial_spline,
    mk.FromSpectrum: from_spectrum,
    mk.FourierSeries: fourier_series,
    mk.Periodized: periodized,
    mk.DistanceKernel: distance_kernel,
    mk.Constant: lambda k, X, Z: np.full((len(X), len(Z)), k.value),
    mk.FromFunction: lambda k, X, Z: k.function(X, Z),
    mk.FromFeatureMap: from_feature_map,
    mk.Covariance: covariance,
    mk.FiniteMatrix: finite_matrix,
    mk.Categorical: categorical,
    mk.Precomputed: lambda k, X, Z: X,
    mk.Sum: lambda k, X, Z: defined(k.left, X, Z) + defined(k.right, X, Z),
    mk.Product: lambda k, X, Z: defined(k.left, X, Z) * defined(k.right, X, Z),
    mk.Scaled: lambda k, X, Z: k.scale * defined(k.kernel, X, Z),
    mk.Power: lambda k, X, Z: defined(k.kernel, X, Z) ** k.exponent,
    mk.Exp: lambda k, X, Z: np.exp(defined(k.kernel, X, Z)),
    mk.PolynomialOf: lambda k, X, Z: sum(
        a * defined(k.kernel, X, Z) ** m for m, a in enumerate(k.coefficients)
    ),
    mk.Normalized: normalized,
    mk.OverFeatureSpace: over_feature_space,
    mk.Projected: projected,
    mk.OnColumns: lambda k, X, Z: defined(
        k.kernel, *(seen(A[:, k.columns], k.kernel) for A in (X, Z))
    ),
}
DEFINITIONS |= coordinate_definitions.definitions(defined)
DEFINITIONS |= structured_definitions.definitions(defined)


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
    def through(self, mapping):
        outer = self.X, self.Z
        images = [mapping(A) for A in outer]
        vectors = all(isinstance(A, np.ndarray) or sp.issparse(A) for A in images)
        self.X, self.Z = map(dense, images) if vectors else images
        yield
        self.X, self.Z = outer

    def leaf(self, statistic):
        self._statistic(statistic, dense(self.X), dense(self.Z))

    def mapped(self, kernel, statistic):
        vocabulary = Vocabulary()
        right = dense(kernel.map_objects(seen(self.Z, kernel), vocabulary))
        vocabulary.fix()
        left = dense(kernel.map_objects(seen(self.X, kernel), vocabulary))
        self._statistic(statistic, left, right)

    def sequence(self, kernel):
        self.stack.append(defined(kernel, seen(self.X, kernel), seen(self.Z, kernel)))

    def _statistic(self, statistic, X, Z):
        x, z = X[:, None], Z[None]
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

    def coordinates(self, function, combination="product", order=0):
        factors = (
            function.values(self.X[:, None, j], self.Z[None, :, j]) for j in range(self.X.shape[1])
        )
        values = combined(factors, combination, order)
        self.stack.append(np.broadcast_to(values, (len(self.X), len(self.Z))))

    def matrix(self):
        self.stack.append(np.array(self.X, dtype=float))

    def python(self, kernel):
        self.stack.append(kernel.tile(seen(self.X, kernel), seen(self.Z, kernel)))

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

    def log1p(self):
        self.stack.append(np.log1p(self.stack.pop()))

    def at_least(self, bound):
        self.stack.append(np.maximum(self.stack.pop(), bound))

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
        own, other = (kernel.diag(seen(A, kernel)) for A in (self.X, self.Z))
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
        own = [kernel.diag(seen(A, kernel)) for A in (self.X, self.Z)]
        if min(map(np.min, own)) < 0:
            raise ValueError("negative diagonal")
        r, c = (np.divide(1, np.sqrt(d), out=np.zeros_like(d), where=d > 0) for d in own)
        self.stack.append(self.stack.pop() * np.outer(r, c))


def interpreted(kernel, X, Z=None):
    """Return the matrix of a bound kernel by interpreting its program."""
    X = kernel.validate(X)
    run = Interpreter(X, X if Z is None else kernel.validate(Z))
    kernel.compile(run)
    (values,) = run.stack
    return values
