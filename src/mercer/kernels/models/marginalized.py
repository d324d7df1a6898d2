"""The marginalised kernel: joint counts of observed letters and hidden states."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer.objects.parameters import integer, truth

from ..base import Kernel
from .generative import GenerativeKernel


class Marginalized(GenerativeKernel):
    r"""A kernel of sequences with their hidden states, averaged over the hidden states.

    .. math:: k(x, z) = \sum_h \sum_{h'} P(h | x) \, P(h' | z) \, k_0((x, h), (z, h'))

    The kernel :math:`k_0` of complete data is the dot product of counts, divided by their number:
    how often each symbol is emitted by each state (order 1), or how often such pairs follow each
    other (order 2). Two sequences with the same symbols differ if the model gives them different
    contexts (K. Tsuda, T. Kin and K. Asai, Bioinformatics 18, 2002). Positive semidefinite: the dot
    product of expected counts. A sequence too short for any count has the value 0 with all.

    Parameters
    ----------
    model : object with a method ``expected_counts(X, order)``
        The model of the sequences, such as :class:`HiddenMarkov`. If it is not fitted, `bind` fits
        it to the training objects.
    order : {1, 2}, default=1
        The number of neighbouring places that are counted together.
    average : bool, default=True
        Whether counts are divided by their number, which removes the length of the sequence.
    kernel : Kernel, optional
        A kernel on vectors, which is evaluated on the expected counts; the dot product by default.

    Notes
    -----
    Use it where letters mean different things in different contexts that a hidden Markov model can
    tell apart: coding and non-coding DNA, states of a machine in its log. It costs one
    forward-backward pass per sequence, then dot products. Take order 2 where neighbours matter.
    Avoid it where the model finds no meaningful states: then it is a spectrum of letters at a
    higher cost.

    Examples
    --------
    >>> from mercer.kernels import HiddenMarkov, Marginalized
    >>> model = HiddenMarkov.from_probabilities(
    ...     [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab"
    ... )
    >>> Marginalized(model)(["aaaa", "aabb", "bbbb"]).round(3)
    array([[0.946, 0.359, 0.   ],
           [0.359, 0.303, 0.359],
           [0.   , 0.359, 0.946]])
    """

    _asked_of_model: ClassVar[str] = "expected_counts"

    def __init__(
        self, model: Any, order: int = 1, average: bool = True, kernel: Kernel | None = None
    ) -> None:
        self.model = model
        self.order = order
        self.average = average
        self.kernel = kernel
        self._check_all()

    def _check(self) -> None:
        super()._check()
        if integer(self.order, "order", minimum=1) > 2:
            raise ValueError(f"order must be 1 or 2; got {self.order}.")
        truth(self.average, "average")

    def features(self, X: Any) -> Any:
        """Return the expected counts, one row for each object; see `FeatureKernel.features`."""
        counts = sp.csr_array(self.model.expected_counts(X, order=self.order))
        if not self.average:
            return counts
        totals = counts.sum(axis=1)
        counts.data /= np.repeat(totals, np.diff(counts.indptr))
        return counts
