"""`falsify`: looking for objects on which a function is no kernel.

Random objects and regular meshes first, more and more of them at a time (Cristianini and
Shawe-Taylor 2000, remark 3.7: a failure of Mercer's condition shows on a mesh that is fine
enough), then a descent of the smallest eigenvalue from the most promising places.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer.kernels import resolve
from mercer.objects.parameters import integer
from mercer.objects.validation import count

from .counterexample_search import Bar, Search
from .readable import Readable
from .samplers import as_sampler
from .verdict import Verdict
from .witness import Witness


class Trial(NamedTuple):
    """State of a search, passed to a callback.

    Attributes
    ----------
    trial, n_trials : int
        Trials done and allowed.
    n_points : int
        Objects of the last one.
    smallest : float
        Smallest eigenvalue so far, of matrices scaled to unit diagonal.

    Examples
    --------
    >>> from mercer.inspection import falsify
    >>> from mercer.kernels import RBF
    >>> seen = []
    >>> result = falsify(RBF(1.0), (-2.0, 2.0), n_trials=3, callback=seen.append)
    >>> seen[-1].trial, seen[-1].n_trials
    (3, 3)
    """

    trial: int
    n_trials: int
    n_points: int
    smallest: float


@dataclass(frozen=True, eq=False)
class Falsification(Readable):
    """Result of a search for a counterexample.

    Attributes
    ----------
    falsified : bool
        Whether some matrix of the kernel has a negative eigenvalue, proved by a witness.
    points : objects or None
        The counterexample, with no object that could be left out.
    verdict : Verdict or None
        What :func:`check` says about it.
    n_trials : int
        Sets of objects that were tried.
    smallest : float
        Smallest eigenvalue seen, of matrices scaled to unit diagonal.

    Examples
    --------
    >>> from mercer.inspection import falsify
    >>> from mercer.kernels import RBF
    >>> result = falsify(RBF(1.0), (-2.0, 2.0), n_trials=5)
    >>> result.falsified, result.n_trials
    (False, 5)
    """

    falsified: bool
    points: Any
    verdict: Verdict | None
    n_trials: int
    smallest: float

    @property
    def witness(self) -> Witness | None:
        """The vector c with c'Kc < 0, or None."""
        return None if self.verdict is None else self.verdict.witness

    def __str__(self) -> str:
        if self.witness is None:
            return (
                f"not falsified after {self.n_trials:,} trials; smallest eigenvalue of a matrix "
                f"with unit diagonal: {self.smallest:.3g}"
            )
        return (
            f"falsified after {self.n_trials:,} trials by {count(self.points)} "
            f"object{'s' * (count(self.points) != 1)}: c'Kc = {self.witness.value:.6g} with c = "
            f"{np.array2string(self.witness.vector, precision=4)}"
        )


def falsify(
    kernel: Any,
    sampler: Any,
    *,
    n_points: int = 8,
    n_trials: int = 200,
    max_points: int = 128,
    descents: bool = True,
    random_state: int | np.random.Generator | None = 0,
    callback: Callable[[Trial], Any] | None = None,
    verbose: int = 0,
) -> Falsification:
    """Search for objects on which a function is not positive semidefinite.

    A kernel that is not falsified is not proved; one that is falsified is disproved, by a witness
    that rounding cannot explain (see :func:`check`).

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound kernel, a name such as "linear", or a function of two collections of objects.
    sampler : callable, tuple (low, high) or collection
        ``f(rng, n)`` returns n objects, from the NumPy generator it is given. Two corners stand
        for a box of vectors, of which meshes are tried too. A list or an array is drawn from.
    n_points : int >= 2, default=8
        Objects of the first trials.
    n_trials : int >= 1, default=200
        Sets of objects to try.
    max_points : int, default=128
        Objects of the last trials; the number doubles on the way.
    descents : bool, default=True
        Whether to drive the smallest eigenvalue down from promising places: by its gradient for
        vectors (inside the box, if there is one), by exchanging objects otherwise.
    random_state : int, numpy Generator or None, default=0
        Source of randomness; the same number gives the same search.
    callback : callable, optional
        Called with a :class:`Trial` after each; the search ends when it returns True.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    Falsification
        The counterexample and its witness, or "not falsified after N trials".

    Examples
    --------
    >>> from mercer.inspection import falsify
    >>> from mercer.kernels import RBF, Sigmoid
    >>> found = falsify(Sigmoid(gamma=1.0, coef0=-1.0), (-2.0, 2.0))
    >>> found.falsified, found.witness.value < 0
    (True, True)
    >>> falsify(RBF(gamma=1.0), (-2.0, 2.0), n_trials=20).falsified
    False
    """
    kernel = resolve(kernel)
    kernel.require_bound("on objects of a sampler")
    integer(n_points, "n_points", minimum=2)
    integer(n_trials, "n_trials", minimum=1)
    integer(max_points, "max_points", minimum=n_points)
    search = Search(kernel, as_sampler(sampler), np.random.default_rng(random_state))
    sizes = [n_points]
    while 2 * sizes[-1] <= max_points:
        sizes.append(2 * sizes[-1])
    bar: AbstractContextManager[Any] = Bar("falsify", n_trials) if verbose else nullcontext()
    with bar as shown:

        def tell(n: int) -> bool:
            if shown is not None:
                shown.report(search.trials, f"smallest eigenvalue {search.smallest:.3g}")
            state = Trial(search.trials, n_trials, n, search.smallest)
            return bool(callback is not None and callback(state))

        shares = [len(part) for part in np.array_split(np.arange(n_trials), len(sizes))]
        for size, share in zip(sizes, shares, strict=True):
            promising = search.run(size, share, tell)
            if promising is None:
                break
            for X in promising if descents else []:
                search.descend(X)
                if search.verdict is not None:
                    break
            if search.verdict is not None:
                break
    return Falsification(
        falsified=search.verdict is not None,
        points=search.points,
        verdict=search.verdict,
        n_trials=search.trials,
        smallest=search.smallest,
    )
