"""Independent definitions of the kernels of histograms and of single coordinates."""

from itertools import combinations

import numpy as np

from mercer import kernels as mk


def pairs(X, Z):
    return X[:, None], Z[None]


def chi_square(X, Z):
    x, z = pairs(X, Z)
    return ((x - z) ** 2 / np.where(x + z > 0, x + z, 1.0)).sum(axis=-1)


def harmonic(X, Z):
    x, z = pairs(X, Z)
    return (x * z / np.where(x + z > 0, x + z, 1.0)).sum(axis=-1)


def cardinal_spline(order, t):
    """B_n by the recursion over orders, from the indicator of [-1/2, 1/2)."""
    places = [t + k - order / 2 for k in range(order + 1)]
    values = [np.where((u >= -0.5) & (u < 0.5), 1.0, 0.0) for u in places]
    for n in range(1, order + 1):
        places = [u + 0.5 for u in places[:-1]]
        values = [
            (((n + 1) / 2 + u) * right + ((n + 1) / 2 - u) * left) / n
            for u, left, right in zip(places, values, values[1:], strict=False)
        ]
    return values[0]


def spline_integral(x, z):
    """1 + x z + the integral over all knots, by a rule of five points that is exact for it."""
    m = np.minimum(x, z)
    s = np.linspace(0.0, 1.0, 5) * m[..., None]
    weights = np.array([7, 32, 12, 32, 7]) / 90  # exact for polynomials of degree 5
    return 1 + x * z + ((x[..., None] - s) * (z[..., None] - s)) @ weights * m


def dirichlet(k, X, Z):
    half = (X[:, None] - Z[None]) / 2
    flat = np.abs(np.sin(half)) < 1e-12
    quotient = np.sin((2 * k.order + 1) * half) / np.where(flat, 1.0, np.sin(half))
    return np.where(flat, 2 * k.order + 1, quotient).prod(axis=-1)


def periodic_gaussian(k, X, Z):
    s = 2 * np.pi * k.sigma / k.period
    n = np.arange(1, 400)

    def series(u):
        return np.cos(np.asarray(u)[..., None] * n) @ np.exp(-0.5 * (n * s) ** 2)

    g = series(2 * np.pi * (X[:, None] - Z[None]) / k.period)
    if k.form == "unit":
        g = (g - series(np.pi)) / (series(0.0) - series(np.pi))
    elif k.form == "wrapped":
        shifts = k.period * np.arange(-30, 31)
        t = (X[:, None] - Z[None])[..., None] + shifts
        g = np.exp(-(t**2) / (2 * k.sigma**2)).sum(axis=-1)
    return g.prod(axis=-1)


def exp_sine_squared(k, X, Z):
    sines = np.sin(np.pi * (X[:, None] - Z[None]) / k.period)
    return np.exp(-2 / k.length_scale**2 * (sines**2).sum(axis=-1))


def definitions(defined):
    """Return the definitions; `defined` evaluates a kernel inside another one."""

    def anova(k, X, Z):
        columns = [defined(k.kernel, X[:, [j]], Z[:, [j]]) for j in range(X.shape[1])]
        return sum(np.prod(chosen, axis=0) for chosen in combinations(columns, k.order))

    return {
        mk.HistogramIntersection: lambda k, X, Z: np.minimum(*pairs(X, Z)).sum(axis=-1),
        mk.ChiSquare: lambda k, X, Z: np.exp(-k.gamma * chi_square(X, Z)),
        mk.AdditiveChiSquare: lambda k, X, Z: 2 * harmonic(X, Z),
        mk.Spline: lambda k, X, Z: spline_integral(*np.broadcast_arrays(*pairs(X, Z))).prod(-1),
        mk.BSpline: lambda k, X, Z: cardinal_spline(k.order, (X[:, None] - Z[None]) / k.scale).prod(
            -1
        ),
        mk.Dirichlet: dirichlet,
        mk.PeriodicGaussian: periodic_gaussian,
        mk.ExpSineSquared: exp_sine_squared,
        mk.ANOVA: anova,
    }
