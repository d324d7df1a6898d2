"""Programs of kernels run with as many digits as it takes: the exact values of float64 inputs."""

from fractions import Fraction
from functools import reduce
from math import comb, factorial

import mpmath as mp

from mercer.gram import compile_kernel

DIGITS = 80


def exact_value(kernel, x, z):
    """Return k(x, z) of a bound kernel on vectors, from its program."""
    with mp.workdps(DIGITS):
        return _run(compile_kernel(kernel), [mp.mpf(float(v)) for v in x],
                    [mp.mpf(float(v)) for v in z])  # fmt: skip


def _run(program, x, z):
    stack = []
    for name, *arguments in program.code:
        if name == "leaf":
            stack.append(_leaf(program.leaves[arguments[0]], x, z))
        elif name == "const":
            stack.append(mp.mpf(arguments[0]))
        elif name == "dup":
            stack.append(stack[-1])
        elif name == "swap":
            stack[-2:] = stack[:-3:-1]
        elif name == "add":
            stack[-2:] = [stack[-2] + stack[-1]]
        elif name == "mul":
            stack[-2:] = [stack[-2] * stack[-1]]
        elif name in ("aux", "aux_add"):
            own = compile_kernel(program.scalars[arguments[0]].kernel)
            a, b = _run(own, x, x), _run(own, z, z)
            stack[-1] = stack[-1] + a + b if name == "aux_add" else stack[-1] / mp.sqrt(a * b)
        else:
            stack[-1] = _TRANSFORMS[name](stack[-1], *arguments)
    (value,) = stack
    return value


def _leaf(leaf, x, z):
    assert (leaf.mapping, leaf.kernel, leaf.columns) == (None, None, None)
    pairs = list(zip(x, z, strict=True))
    if leaf.coordinates is not None:
        factors = [_coordinate(leaf.coordinates, a, b) for a, b in pairs]
        if leaf.combination == "product":
            return mp.fprod(factors)
        if leaf.combination == "maximum":
            return max(factors)
        sums = [mp.mpf(1)] + [mp.mpf(0)] * leaf.order
        for f in factors:
            for j in range(leaf.order, 0, -1):
                sums[j] += f * sums[j - 1]
        return sums[leaf.order]
    terms = {
        "dot": lambda a, b: a * b,
        "sqdist": lambda a, b: (a - b) ** 2,
        "l1": lambda a, b: abs(a - b),
        "minimum": min,
        "harmonic": lambda a, b: a * b / (a + b) if a + b else mp.mpf(0),
        "chi": lambda a, b: (a - b) ** 2 / (a + b) if a + b else mp.mpf(0),
    }
    return mp.fsum(terms[leaf.kind](a, b) for a, b in pairs)


def _coordinate(f, x, z):
    t = abs(x - z)
    if f.function == "product":
        return x * z
    if f.function == "minimum":
        return min(x, z)
    if f.function in ("power", "half_power"):
        return t ** mp.mpf(f.a or f.count / 2)
    if f.function == "gaussian":
        return mp.exp(-mp.mpf(f.a) * t * t)
    if f.function == "laplacian":
        return mp.exp(-mp.mpf(f.a) * t)
    if f.function == "spline":
        m = min(x, z)
        return 1 + x * z + x * z * m - (x + z) * m**2 / 2 + m**3 / 3
    if f.function == "bspline":
        n, u = 2 * f.count - 1, f.count - t * mp.mpf(f.a)
        signs = [Fraction((-1) ** k * comb(n + 1, k), factorial(n)) for k in range(f.count)]
        return mp.fsum(mp.mpf(c.numerator) / c.denominator * max(u - k, 0) ** n
                       for k, c in enumerate(signs))  # fmt: skip
    peak = mp.mpf(f.peak)
    if f.function == "cosines":
        return peak * mp.fsum(
            mp.mpf(c) * mp.cos(mp.pi * k * mp.mpf(f.a) * t) for k, c in enumerate(f.coefficients)
        )
    period = mp.mpf(f.b)
    t = abs(t - period * mp.nint(t / period))
    bumps = mp.fsum(mp.exp(-mp.mpf(f.a) * (t + m * period) ** 2) for m in range(-40, 41))
    return peak * (mp.mpf(f.coefficients[0]) * bumps + mp.mpf(f.coefficients[1]))


_TRANSFORMS = {
    "affine": lambda t, a, b: mp.mpf(a) * t + mp.mpf(b),
    "exp": lambda t, a, b: mp.exp(mp.mpf(a) * t + mp.mpf(b)),
    "log": lambda t: mp.log(t) if t else mp.mpf(0),
    "log1p": lambda t: mp.log(1 + t),
    "at_least": lambda t, bound: max(t, mp.mpf(bound)),
    "sqrt": mp.sqrt,
    "cos": mp.cos,
    "tanh": mp.tanh,
    "reciprocal": lambda t: 1 / t,
    "powi": lambda t, p: t**p,
    "power": lambda t, p: t ** mp.mpf(p),
    "polynomial": lambda t, falling: reduce(lambda y, c: y * t + mp.mpf(c), falling, mp.mpf(0)),
}
