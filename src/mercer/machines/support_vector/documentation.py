"""Docstring parts that the machines have in common, written once.

A docstring of a decorated class, or of one of its methods, may contain a line of names in braces in
the place of entries of a section:

Parameters
----------
    C : float, default=1.0
        Price of a unit of slack.
    {kernel, degree, gamma, coef0}

At import the names are replaced by their entries below, so that ``help(SVC)`` is complete.
"""

from __future__ import annotations

import re
from types import FunctionType
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

_ENTRIES = """
kernel : str, Kernel or callable, default="rbf"
    "linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed", a kernel of
    `mercer.kernels`, or a function of two collections of objects.
degree : int, default=3
    Degree of "poly".
gamma : {"scale", "auto"} or float, default="scale"
    Width of a named kernel. "scale" is 1 / (n_features * variance of X), weighted.
coef0 : float, default=0.0
    Constant of "poly" and "sigmoid".
shrinking : bool, default=True
    Whether the solver sets variables aside that will stay at their bounds.
probability : bool, default=False
    Whether to calibrate probabilities, which trains five more machines on four fifths of the
    rows each; see ``calibration``.
tol : float, default=1e-3
    Largest violation of the optimality conditions that is accepted.
cache_size : float, default=200
    Megabytes for kernel rows, which all problems of a fit share. Values that cost no more than
    reading them are not kept. Problems of up to 2,048 rows (4,096 where several are solved
    together) may use a matrix of their size squared besides.
class_weight : dict or "balanced", default=None
    Weights of the classes; "balanced" gives all classes the same weighted sum.
verbose : bool or int, default=False
    1 shows a progress bar, 2 prints a line per report of the solver.
max_iter : int, default=-1
    Limit on the pair updates of each binary or real-valued problem, -1 for none; on the steps of
    the interior point method that a kernel of order 2 takes.
decision_function_shape : {"ovr", "ovo"}, default="ovr"
    Whether ``decision_function`` has one column per class or per pair of classes.
break_ties : bool, default=False
    Whether ties between classes of equally many votes go to the highest score.
random_state : int, RandomState or None, default=None
    Draws the folds of the calibration.
multiclass : {"ovo", "ovr"}, default="ovo"
    One machine per pair of classes, or one per class against the rest.
calibration : {"free", "consistent", "isotonic"}, default="free"
    The map from decision values to probabilities. Class weights are prices: ``predict`` answers
    the weighted question, ``predict_proba`` the unweighted one, and they are tied by
    predict = argmax_c w_c p_c(x). "free" is Platt's sigmoid of two parameters, which is calibrated
    best on most data and may break the tie near the boundary. "consistent" keeps it exactly, with
    a slope of its own on either side of the boundary; it costs log loss, up to 20 % on imbalanced
    data. "isotonic" assumes no shape, needs more data and breaks the tie as "free" does.
fit_intercept : bool, default=True
    Whether f has an intercept b.
lam : float, default=None
    The constant as lam = 1 / (2 C W), W the sum of the weights; replaces ``C``.
no_lam : None
    Has no meaning here: nu sets the trade-off. Accepted as None only.
gap_tol : float, default=None
    Stop when the relative duality gap is this small, instead of by ``tol``.
time_limit : float, default=None
    Seconds after which the best model so far is returned, from the call of ``fit`` to the
    certificate; with ``probability=True`` for the machines behind the probabilities too. The gap
    is infinite where the limit leaves no time for the proof.
warm_start : bool, default=False
    Whether a new fit on as many samples starts from the previous solution: coefficients at a bound
    follow it where C or the weights changed, free ones stay.
n_jobs : int, default=None
    Threads, at most one for each core that the process may use; None for all of them.
dtype : {"auto", "float32", "float64"}, default="auto"
    Precision of kernel values. "auto" takes float32 where they are then accurate to 2e-6, which
    sparse rows far from the origin are not. Where "float32" is less accurate than that, the proof
    and the predictions are in float64.
solver : {"auto", "decomposition", "interior_point"}, default="auto"
    Optimiser to begin with. "decomposition" takes steps on pairs and blocks of coefficients, on any
    number of samples, and changes the method where they make little progress. "interior_point"
    takes Newton steps in the features of the kernel matrix, up to a few thousand samples, and is
    meant for badly conditioned problems. "auto" is "decomposition", and "interior_point" for
    kernels that are conditionally positive definite of order 2.
classes_ : array of shape (n_classes,)
    Labels.
support_, support_vectors_, n_support_ : array
    Training rows with a coefficient other than 0, and their number; for a classifier sorted by
    class, with one number for each. These arrays, coefficients and intercepts are read-only: to
    change a model, replace one of them.
kernel_ : Kernel
    The kernel with all parameters resolved.
certificate_, certificates_ : Certificate, list of Certificate
    The proof of the whole model, and of each of its problems.
negative_curvature_ : NegativeCurvature or None
    A direction v with v'Kv < 0, with its ``eigenvalue``, ``rows`` and ``vector``, where the kernel
    matrix of a kernel of the user's own turned out not to be positive semidefinite.
margin_, slack_, point_status_, alpha_, free_support_, bounded_support_ : float or array
    Geometry of the training points; see
    :class:`mercer.machines.support_vector.fitted.FittedAttributes`.
intercept_range_ : array
    The interval of optimal intercepts.
n_iter_ : int or array of int
    Pair updates, of each binary problem of a classifier; steps, for a kernel of order 2.
fit_status_ : int
    0 if the tolerance was reached, 1 otherwise.
C_ : float
    The constant C in use, from ``C`` or ``lam``.
pair_coefficients : array of shape (n_classes - 1, n_support)
    Signed coefficients; the layout for several classes is that of scikit-learn.
coef_ : array of shape (n_problems, n_features)
    Weight vectors, for the linear kernel.
poly_coef_ : array of shape (n_problems, n_poly_columns) or (n_problems, 0)
    Coefficients of the linear function in f, which kernels of order 2 such as the thin plate
    spline have beside them and others do not; the shortest ones where the samples leave a choice.
poly_columns_ : array of int of shape (n_poly_columns,)
    The columns of X that the linear function is one of: those that the kernel of order 2 looks at.
X : array-like or sparse matrix of shape (n_samples, n_features), or objects
    Objects, of the kind that the machine was trained on.
X_train : array-like or sparse matrix of shape (n_samples, n_features), or objects
    Training objects; for ``kernel="precomputed"`` their square kernel matrix; or their `Gram`,
    whose kernel is then used.
sample_weight : array-like of shape (n_samples,), default=None
    Weights of the samples: weight k is the same as k copies, a weight of 0 or less the same as
    leaving the sample out.
fitted : estimator
    The fitted estimator.
rigorous : bool, default=False
    False: ``rounding`` is an estimate. True: it is a guaranteed bound, so that
    dual <= optimum <= primal is a theorem about floating-point numbers. The evaluation of the
    kernel is followed instruction by instruction, on all pairs of training rows. Matrices and
    functions of your own, and images under maps, are taken for exact. Where a step has no proven
    bound (values read from a table, kernels written in Python), ``rounding_basis`` of the
    certificate names it, and the certificate is not called guaranteed.
Certificate
    Primal and dual value and violation, computed from the model alone.
"""

_RENAMED = {"no_lam": "lam", "pair_coefficients": "dual_coef_", "X_train": "X", "fitted": "self"}
"""Entries of which another one has the name."""


def _parsed() -> dict[str, list[str]]:
    entries: dict[str, list[str]] = {}
    for line in _ENTRIES.strip().splitlines():
        if not line.startswith(" "):
            key = re.split(r"[ ,]", line)[0]
            head = line.replace(key, _RENAMED.get(key, key), 1)
            lines = entries[key] = [head]
        else:
            lines.append(line)
    return entries


_TABLE = _parsed()
_PLACE = re.compile(r"^( *)\{([A-Za-z0-9_, ]+)\}$", re.MULTILINE)


def documented(cls: Class) -> Class:
    """Fill in the entries that docstrings of a class and of its methods refer to."""
    _fill(cls)
    for member in vars(cls).values():
        if isinstance(member, FunctionType) or hasattr(member, "__wrapped__"):
            _fill(member)
            _fill(getattr(member, "__wrapped__", member))
    return cls


def _fill(thing: Any) -> None:
    if thing.__doc__:  # python -OO leaves none
        thing.__doc__ = _PLACE.sub(_filled, thing.__doc__)


def _filled(match: re.Match[str]) -> str:
    indent, names = match.groups()
    lines = [line for name in names.split(", ") for line in _TABLE[name]]
    return "\n".join(indent + line for line in lines)
