"""Optima of small quadratic programs in 60 decimal digits, and kernels in the same precision.

minimise 1/2 a'Qa + p'a over low <= a <= high with A a = t, by an active set method from a guess of
the free variables. Nothing here comes from the library.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, getcontext, localcontext

Vector = list[Decimal]
Matrix = list[list[Decimal]]

DIGITS = 60
RIDGE = Decimal(10) ** -40
"""Added to the diagonal, so that every system has one solution; relative to the largest entry."""

SIGN = Decimal(10) ** -28
"""Multipliers of the wrong sign that are rounding, relative to the largest one."""

NEAR = Decimal("1e-7")
"""Distance of a guess from a bound, relative to the largest one, that counts as at the bound."""

INFINITE = Decimal("Infinity")

getcontext().prec = DIGITS


@dataclass
class Program:
    """minimise 1/2 a'Qa + p'a over low <= a <= high with A a = t."""

    Q: Matrix
    p: Vector
    low: Vector
    high: Vector
    A: Matrix
    t: Vector

    def value(self, a: Vector) -> Decimal:
        return sum(
            (x * (dot(row, a) / 2 + c) for x, row, c in zip(a, self.Q, self.p, strict=True)),
            Decimal(0),
        )


def exact(x: object) -> Decimal:
    return Decimal(float(x))  # type: ignore[arg-type]  # exact: a float is a decimal number


def dot(a: Vector, b: Vector) -> Decimal:
    return sum((x * y for x, y in zip(a, b, strict=True)), Decimal(0))


def kernel_matrix(kind: str, parameters: dict[str, float], rows: list[list[float]]) -> Matrix:
    """Return the Gram matrix of a linear, polynomial or Gaussian kernel."""
    X = [[exact(x) for x in row] for row in rows]
    if kind == "linear":
        return [[dot(a, b) for b in X] for a in X]
    gamma = exact(parameters["gamma"])
    if kind == "poly":
        degree, coef0 = int(parameters["degree"]), exact(parameters["coef0"])
        return [[(gamma * dot(a, b) + coef0) ** degree for b in X] for a in X]
    return [
        [
            (-gamma * sum(((x - z) ** 2 for x, z in zip(a, b, strict=True)), Decimal(0))).exp()
            for b in X
        ]
        for a in X
    ]


def solved(M: Matrix, b: Vector) -> Vector | None:
    """Return the solution of M x = b by elimination with pivots; None where M is singular."""
    n = len(M)
    rows = [[*row, c] for row, c in zip(M, b, strict=True)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if rows[best][k] == 0:
            return None
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            if factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    x = [Decimal(0)] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - dot(rows[k][k + 1 : n], x[k + 1 :])) / rows[k][k]
    return x


def minimum(program: Program, guess: list[float], steps: int = 80) -> Decimal | None:
    """Return the minimum, None where the active set method does not end.

    The ridge changes the result by some 1e-40 of the squared length of the solution.
    """
    with localcontext() as context:
        context.prec = DIGITS
        return _minimum(program, guess, steps)


def _minimum(program: Program, guess: list[float], steps: int) -> Decimal | None:
    n, rank = len(program.p), len(program.A)
    ridge = RIDGE * max(max(abs(x) for x in row) for row in program.Q)
    Q = [[x + ridge * (i == j) for j, x in enumerate(row)] for i, row in enumerate(program.Q)]
    scale = max((abs(exact(g)) for g in guess), default=Decimal(1)) or Decimal(1)
    ends = {"low": program.low, "high": program.high}
    near = scale * NEAR
    at = [
        "low" if exact(g) - low <= near else "high" if high - exact(g) <= near else ""
        for g, low, high in zip(guess, program.low, program.high, strict=True)
    ]
    for _ in range(steps):
        free = [i for i in range(n) if not at[i]]
        a = [ends[at[i]][i] if at[i] else Decimal(0) for i in range(n)]
        equations = [[row[j] for j in free] for row in program.A]
        M = [[*(Q[i][j] for j in free), *(row[i] for row in program.A)] for i in free]
        for k, row in enumerate(equations):
            M.append([*row, *(-RIDGE if k == m else Decimal(0) for m in range(rank))])
        right = [-program.p[i] - dot(Q[i], a) for i in free]
        right += [t - dot(row, a) for row, t in zip(program.A, program.t, strict=True)]
        x = solved(M, right)
        if x is None:
            return None
        for i, value in zip(free, x, strict=False):
            a[i] = value
        outside = [(max(program.low[i] - a[i], a[i] - program.high[i]), i) for i in free]
        worst, i = max(outside, default=(Decimal(0), -1))
        if worst > scale * SIGN:
            at[i] = "low" if a[i] < program.low[i] else "high"
            continue
        m = x[len(free) :]
        slopes = [
            dot(Q[i], a) + program.p[i] + dot([row[i] for row in program.A], m) for i in range(n)
        ]
        size = max(abs(s) for s in slopes) + max(abs(c) for c in program.p) + 1
        wrong = [(-slopes[i] if at[i] == "low" else slopes[i], i) for i in range(n) if at[i]]
        worst, i = max(wrong, default=(Decimal(0), -1))
        if worst <= size * SIGN:
            missed = [dot(row, a) - t for row, t in zip(program.A, program.t, strict=True)]
            return program.value(a) if all(abs(x) <= scale * SIGN for x in missed) else None
        at[i] = ""
    return None
