"""Kernels on truth values: how many conjunctions two assignments both satisfy."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer.gram.program import Builder
from mercer.objects.parameters import parameter, truth
from mercer.objects.validation import VECTORS
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..definiteness import PD, PSD, Definiteness
from .vector import VectorKernel

_BOOLEAN = VECTORS._replace(domain="Boolean vectors: rows of 0 and 1, dense or sparse")
_MOST_CONJUNCTIONS = 2**16 - 1  # that are listed as features
_LARGEST_EXPONENT = 1000  # 2 to this power is still a float


class Boolean(VectorKernel):
    r"""The number of conjunctions of variables that two Boolean vectors both satisfy.

    .. math:: k(x, z) = 2^{x \cdot z} - 1 \quad \text{or} \quad 2^{s(x, z)} - 1

    with x . z the number of variables that are true in both and s(x, z) the number of variables
    that agree. The first counts conjunctions of variables (monotone), the second those of
    variables and negations; a linear function of these features is a disjunctive normal form
    (R. Khardon, D. Roth and R. Servedio, 2001). Positive semidefinite, as dot products of the
    features that represent the conjunctions. The second is positive definite: without the -1 its
    matrix over all vectors of n variables is a Kronecker product of n matrices [[2, 1], [1, 2]],
    whose eigenvalues are at least 1, and the constant vector has the eigenvalue 3^n > 2^n.

    Parameters
    ----------
    monotone : bool, default=True
        Whether conjunctions are of variables only, or of variables and their negations.

    Notes
    -----
    Use it to learn rules over yes-or-no variables: every conjunction is a feature, so a machine can
    represent any disjunctive normal form. ``normalize`` it, or keep to some tens of true variables,
    since values double with each common one; above a thousand they exceed the range of numbers.
    Avoid it to find short rules: margins over all conjunctions learn even simple formulas slowly
    (Khardon, Roth and Servedio).

    Examples
    --------
    >>> from mercer.kernels import Boolean
    >>> Boolean()([[1, 1, 0, 1]], [[1, 0, 0, 1]])
    array([[3.]])
    >>> Boolean(monotone=False)([[1, 1, 0, 1]], [[1, 0, 0, 1]])
    array([[7.]])
    """

    monotone: bool = parameter(truth, default=True)

    _objects = _BOOLEAN

    @property
    def definiteness(self) -> Definiteness:
        """Positive definite with negations; without, the zero vector satisfies nothing."""
        return PSD if self.monotone else PD

    _is_restricted = True

    def check_domain(self, X: Any) -> None:
        """Reject other numbers than 0 and 1, and too many variables; see the base class."""
        name = type(self).__name__
        values = X.data if sp.issparse(X) else X
        if not ((values == 0) | (values == 1)).all():
            raise ValueError(f"{name} is defined on rows of 0 and 1; X has other numbers.")
        if X.shape[1] > _LARGEST_EXPONENT:
            raise ValueError(
                f"{name} counts up to 2^n conjunctions of n variables, which for n = {X.shape[1]} "
                f"is larger than a float can hold; use at most {_LARGEST_EXPONENT}."
            )

    def compile(self, builder: Builder) -> None:
        builder.mapped(self, "dot")
        builder.affine(math.log(2.0), 0.0)
        builder.exp()
        builder.affine(1.0, -1.0)

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> Any:
        self.check_domain(X)
        if self.monotone:
            return X
        X = X.toarray() if sp.issparse(X) else np.asarray(X)
        return np.hstack([X, 1 - X])

    def map_features(self, X: Any, vocabulary: Vocabulary) -> sp.csr_array:
        """Return the truth of every conjunction, 0 or 1; see :meth:`Kernel.map_features`.

        Of n variables there are 2^n - 1, and 3^n - 1 with negations: up to 65,535 are listed (16
        variables, or 10), more raise ValueError. The last variable varies fastest.
        """
        X = self.validate(X)
        n, d = X.shape
        options = 2 if self.monotone else 3  # a variable is left out, there, or there negated
        if options**d - 1 > _MOST_CONJUNCTIONS:
            raise ValueError(
                f"{type(self).__name__} has a feature for each of the {options}^{d} - 1 "
                f"conjunctions of {d} variables, more than the {_MOST_CONJUNCTIONS:,} that are "
                "listed; use its values k(X, Z), or the features of Nystrom, which take any kernel."
            )
        truth_values = (X.toarray() if sp.issparse(X) else np.asarray(X)) == 1
        row, code = np.arange(n), np.zeros(n, dtype=np.int64)
        for j in range(d):
            code *= options
            holds = truth_values[row, j]
            more = np.flatnonzero(holds) if self.monotone else np.arange(len(row))
            row = np.concatenate([row, row[more]])
            code = np.concatenate([code, code[more] + np.where(holds[more], 1, 2)])
        some = code > 0  # the empty conjunction is no feature
        shape = (n, options**d - 1)
        return sp.csr_array((np.ones(some.sum()), (row[some], code[some] - 1)), shape=shape)

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        if columns is None:
            return None
        choices = [["", c] if self.monotone else ["", c, f"not {c}"] for c in columns]
        return [" and ".join(filter(None, literals)) for literals in product(*choices)][1:]
