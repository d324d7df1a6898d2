"""Splits that ask for what lies beyond the families seen: remote homology."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from mercer.objects.validation import count

Split = tuple[np.ndarray, np.ndarray]


def leave_family_out_split(
    y: Any, family: Any, *, test_size: float = 0.5, random_state: Any = None
) -> Iterator[Split]:
    """Yield one split for each family of a super-family, in which it is unseen.

    Objects (proteins) belong to families, families to super-families; `y` says which objects are
    in the super-family of interest. In each split one of its families makes up the positive test
    objects and the others the positive training objects, so that a classifier has to recognise
    relatives that are remote: of the same super-family, but of no family that it was shown. The
    negative objects, from other super-families, are divided between the two sets by whole
    families too. The protocol of T. Jaakkola, M. Diekhans and D. Haussler, "Using the Fisher
    kernel method to detect remote protein homologies", ISMB 1999.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Two labels; the larger one (True, 1, "yes") is the super-family.
    family : array of shape (n_samples,)
        The family of each object.
    test_size : float between 0 and 1, default=0.5
        The share of the negative families that are for testing; at least one of them is on each
        side.
    random_state : int, Generator or None, default=None
        Seed of the division of the negative families, which is another one for each split.

    Yields
    ------
    train, test : ndarray of int
        Positions of the objects, ascending.

    Examples
    --------
    >>> from mercer.data import leave_family_out_split
    >>> y = [1, 1, 1, 1, 0, 0, 0]
    >>> family = ["a", "a", "b", "c", "x", "x", "y"]
    >>> for train, test in leave_family_out_split(y, family, random_state=0):
    ...     print(train, test)
    [2 3 4 5] [0 1 6]
    [0 1 3 4 5] [2 6]
    [0 1 2 4 5] [3 6]
    """
    positive, family = _checked(y, family)
    if not 0 < test_size < 1:
        raise ValueError(f"test_size must be a share between 0 and 1; got {test_size!r}.")
    rng = np.random.default_rng(random_state)
    others = np.unique(family[~positive])
    n_test = min(max(round(test_size * len(others)), 1), len(others) - 1)
    for left_out in np.unique(family[positive]):
        tested = rng.choice(others, size=n_test, replace=False)
        test = np.where(positive, family == left_out, np.isin(family, tested))
        yield np.flatnonzero(~test), np.flatnonzero(test)


class LeaveFamilyOut(BaseCrossValidator):
    """The splits of `leave_family_out_split`, as scikit-learn's tools take them.

    Parameters
    ----------
    test_size : float between 0 and 1, default=0.5
        The share of the negative families that are for testing.
    random_state : int, Generator or None, default=None
        Seed of the division of the negative families.

    Examples
    --------
    >>> from mercer.data import LeaveFamilyOut
    >>> y, family = [1, 1, 1, 0, 0], ["a", "b", "b", "x", "y"]
    >>> LeaveFamilyOut().get_n_splits(y=y, groups=family)
    2

    With a machine on strings: ``cross_val_score(SVC(kernel=Spectrum(3)), strings, y,
    groups=family, cv=LeaveFamilyOut())``.
    """

    def __init__(self, test_size: float = 0.5, random_state: Any = None) -> None:
        self.test_size = test_size
        self.random_state = random_state

    def split(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield the positions (train, test) of every split; see `leave_family_out_split`.

        `y`: whether an object is in the super-family. `groups`: the families. Of `X` only the
        number of objects is looked at.
        """
        if X is not None and y is not None and count(X) != len(y):
            raise ValueError(f"X holds {count(X)} objects, and y {len(y)} labels.")
        return leave_family_out_split(
            y, groups, test_size=self.test_size, random_state=self.random_state
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of families (`groups`) of the super-family, whose members `y` marks."""
        positive, family = _checked(y, groups)
        return len(np.unique(family[positive]))


def _checked(y: Any, family: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask of the super-family, and the families."""
    if y is None or family is None:
        raise ValueError(
            "families are left out of a super-family: pass y, who is in it, and the family of "
            "each object (groups=family)."
        )
    y, family = np.asarray(y), np.asarray(family)
    if y.ndim != 1 or y.shape != family.shape:
        raise ValueError(
            f"y and family must have one entry for each object; got shapes {y.shape} and "
            f"{family.shape}."
        )
    for i, name in enumerate(family.tolist()):
        if name is None or name != name:
            raise ValueError(f"object {i} has no family; drop it, or give it one of its own.")
    labels = np.unique(y)
    if len(labels) != 2:
        raise ValueError(f"y must have two labels, in the super-family or not; got {len(labels)}.")
    positive = y == labels[1]
    inside, outside = np.unique(family[positive]), np.unique(family[~positive])
    if both := set(inside.tolist()) & set(outside.tolist()):
        raise ValueError(
            f"family {min(both, key=str)!r} has members inside and outside of the super-family."
        )
    for families, where in ((inside, "the super-family has"), (outside, "the others have")):
        if len(families) < 2:
            raise ValueError(
                f"{where} one family, {families.tolist()[0]!r}; two are needed, one to learn from "
                "and one to be tested on."
            )
    return positive, family
