"""All pairs of classes of a fit as one problem, solved and proved by one native call.

The problem is `mercer.solvers.class_pairs.PairsOfClasses`, which `posed` makes where that is faster
than a problem for each pair. Its solution brings the proof of every pair; `prove_pairs` adds what
the rows as given contribute to rounding, and proves pairs that were solved again one by one.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.kernels import Definiteness, Kernel
from mercer.numerics.sums import compensated_product
from mercer.objects.arrays import Array
from mercer.solvers.certificate import GAP_LIMIT
from mercer.solvers.class_pairs import ClassPairs, PairsOfClasses, PairSolutions
from mercer.solvers.prove import Certificates
from mercer.solvers.rounding import UNIT

from .multiclass import OneVsOne, Scheme, Single, pair_places
from .proving import Fitting, Proved, assumption, prove
from .rounding import SEEN
from .tasks import PairTasks

MANY = 20
"""From this number of classes on, the pairs are solved as arrays for any number of samples."""

_FEW_ROWS = 400
"""Rows of a small data set: with more of them shrinking saves more than a single call does."""

_FEW_PRODUCTS = 20_000_000
"""Products of entries, for all kernel values of a small data set, that take milliseconds."""

_BYTES_PER_COEFFICIENT = 2 * 8 + 8 + 1
"""Of the tables: the coefficient, also in ``dual_coef_``, the margin and the mark."""

_BYTES_PER_PAIR = 150
"""Of the numbers that are kept for every pair."""


def refuse_too_many_classes(n_classes: int, n_samples: int) -> None:
    """Raise where the coefficients of all pairs cannot be held in memory."""
    n_pairs = n_classes * (n_classes - 1) // 2
    needed = (n_classes - 1) * n_samples * _BYTES_PER_COEFFICIENT + n_pairs * _BYTES_PER_PAIR
    if needed < 1e6 or needed <= (memory := _physical_memory()):
        return
    raise ValueError(
        f"{n_classes:,} classes in {n_samples:,} samples make {n_pairs:,} pairs, whose "
        f"coefficients and proofs take {needed / 1e9:,.0f} GB; this machine has "
        f"{memory / 1e9:,.0f} GB. Are the targets real numbers? Then use SVR. Otherwise use "
        'multiclass="ovr", or fewer classes.'
    )


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # no such question on this system
        return float("inf")


def posed(
    machine: Any,
    scheme: Scheme,
    kernel: Kernel,
    known: Definiteness,
    X: Any,
    weight: Array,
    watched: bool,
) -> PairTasks | None:
    """Return the pairs of a fit as one problem, None where each is to be a problem of its own.

    `watched`: whether the progress of the fit is reported to anything.
    """
    if machine.solver != "auto" or not machine._plain:
        return None
    many = isinstance(scheme, OneVsOne) and len(scheme.classes) >= MANY
    if not many:
        if machine.dtype == "float32" or machine.gap_tol is not None or machine.max_iter >= 0:
            return None
        if watched:
            return None
        if not isinstance(scheme, OneVsOne | Single) or scheme.classes is None or not _small(X):
            return None
    # The bound on rounding needs a definite kernel; one that is the user's word is to be checked.
    if not known.is_psd or assumption(kernel, known) is not None:
        return None
    c, intercept = machine.C_ * weight, bool(machine.fit_intercept)
    classes: Any = scheme.classes
    problems = PairsOfClasses(machine._loss(), scheme.codes, len(classes), c, intercept)
    if many and ClassPairs().takes(problems) is not None:
        return None
    return PairTasks(problems, weight, classes)


def _small(X: Any) -> bool:
    """Return whether the whole kernel matrix of some rows takes milliseconds to compute."""
    if not (isinstance(X, np.ndarray) or sp.issparse(X)) or X.ndim != 2 or X.dtype.kind != "f":
        return False
    n, columns = X.shape
    return n <= _FEW_ROWS and n * n * columns <= _FEW_PRODUCTS


def prove_pairs(fitting: Fitting) -> Proved:
    """Return the proof of all pairs; those that were solved one by one are proved here."""
    pairs: PairSolutions = fitting.solutions
    added, again = None, pairs.unproved
    if fitting.centring is not None:
        added = _rise_of_far_rows(fitting)
        wide = np.flatnonzero(~(added <= SEEN * GAP_LIMIT * pairs.terms)).tolist()
        again = {p: pairs[p] for p in wide} | again
        added[list(again)] = 0.0
    for p, solution in again.items():
        _prove_alone(fitting, p, solution)
    primal, rounding = pairs.primal, pairs.rounding
    if added is not None:
        primal, rounding = primal + added, rounding + added
    certificates = Certificates(
        pairs.names,
        pairs.ended,
        primal,
        pairs.dual,
        pairs.terms,
        pairs.violation,
        rounding,
        pairs.n_iter,
        pairs.n_kernel_values,
        pairs.seconds,
    )
    return Proved(
        certificates,
        bool((pairs.ended == pairs.names.index("optimal")).all()),
        pairs.n_iter,
        pairs.terms,
        pairs.norm2,
        np.array((pairs.lowest, pairs.highest)).T,
        pairs.excess,
        pairs.mark,
    )


def _rise_of_far_rows(fitting: Fitting) -> Array:
    """Return what predictions of rows as given add to the primal values that are proved.

    It decides for pairs such as those whose coefficients have a sum that is not rounding.
    """
    pairs, moved = fitting.solutions, fitting.centring
    assert moved is not None
    loss, c, coef = pairs.problems.loss, pairs.problems.c, pairs.coef
    members = np.split(pairs.problems.order, pairs.problems.ends[:-1])
    errors = fitting.errors("float64", reach=moved.reach(fitting.data.X))
    first, second = pair_places(len(members))
    ones = np.ones((len(c), 1))

    def of_pairs(table: Array) -> Array:
        return np.asarray(table.flat[first] + table.flat[second])

    def sums(terms: Array) -> Array:
        return of_pairs(np.stack([terms[:, rows].sum(axis=1) for rows in members]))

    size = np.abs(coef) * fitting.sizes
    parts = np.stack([compensated_product(coef[:, rows], ones[rows]) for rows in members], axis=1)
    of_classes = np.zeros((5, *parts[0].shape))
    norm, few = np.sqrt(np.maximum(pairs.norm2, 0.0)), 16.0 * UNIT
    spread = errors.systematic * sums(size) + errors.independent * np.sqrt(sums(size**2))
    for place in (first, second):
        of_classes[0].flat[place] = norm
        of_classes[1].flat[place] = sum(map(of_pairs, parts))
        of_classes[2].flat[place] = sums(np.abs(coef))
        of_classes[3].flat[place] = spread + few * norm
        of_classes[4].flat[place] = few * np.abs(pairs.intercept)
    rise = np.zeros(parts[0].shape[:2])
    for i, rows in enumerate(members):
        # The native proof has the values within the errors of K beta. The loss is convex: from
        # their end on, further errors add most.
        f = 1.0 - pairs.excess[:, rows]
        f = f - of_classes[3, i] * fitting.sizes[rows] - of_classes[4, i]
        lowest = f - errors.of_far_rows(rows, *of_classes[:3, i])
        rise[i] = (loss.cost(1.0, lowest, c[rows]) - loss.cost(1.0, f, c[rows])).sum(axis=1)
    return of_pairs(rise)


def _prove_alone(fitting: Fitting, p: int, solution: Any) -> None:
    """Prove a pair that was solved alone, and write its proof into the arrays."""
    pairs, task, moved = fitting.solutions, fitting.tasks[p], fitting.centring
    rows = task.rows
    alone = Fitting(
        fitting.data.take(rows),
        fitting.gram.take(rows),
        Single(task.y),
        fitting.settings,
        fitting.run,
        task.weight,
        [replace(task, problem=replace(task.problem, rows=None), rows=None)],
        [solution],
        None if moved is None else replace(moved, rows=moved.rows[rows]),
    )
    proved = prove(alone, fitting.settings.n_jobs)
    (solution,), (certificate,) = alone.solutions, proved.certificates
    pairs.put(pairs.coef, p, solution.beta)
    pairs.put(pairs.excess, p, proved.excess[0])
    pairs.put(pairs.mark, p, proved.marks[0])
    pairs.intercept[p] = task.intercept(solution)
    pairs.lowest[p], pairs.highest[p] = proved.intercept_range[0]
    pairs.primal[p], pairs.dual[p] = certificate.primal, certificate.dual
    pairs.terms[p], pairs.norm2[p] = proved.terms[0], proved.norm2[0]
    pairs.rounding[p], pairs.violation[p] = certificate.rounding, certificate.kkt_violation
    pairs.set_status(p, certificate.status)
