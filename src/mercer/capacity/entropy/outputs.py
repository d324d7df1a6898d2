"""Vector-valued functions in feature space, such as principal manifolds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.objects.parameters import positive

from .diagonal import FACTOR
from .kernel_class import KernelClass
from .maurey import PROVED
from .scaling import as_spectrum, scaling_entropy

Array = NDArray[np.float64]


class MultiOutputClass(KernelClass):
    r"""Vector-valued functions W phi(b) with :math:`\sum_i \|w_i\|^2 \le \Lambda^2`.

    The scaling operator acts on each of d outputs, so every eigenvalue counts d times:
    :math:`\epsilon_n(A_d)` is sqrt(d) times the bound on eps of A at n^(1/d). The metric is the
    largest Euclidean distance over the whole domain, so Maurey's theorem on points does not apply.

    Parameters
    ----------
    spectrum : Spectrum or array-like
        Eigenvalues of the kernel on the domain of the functions.
    n_outputs : int >= 1
        The number of outputs d.
    w_norm : float > 0, default=1.0
        The bound Lambda on the root of the summed squares. A constraint on the *squared* norm, as
        in the definition of regularised principal manifolds, gives its root.

    References
    ----------
    Smola 1998, theorem 9.11 and corollary 9.12.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.capacity.entropy import MultiOutputClass
    >>> spectrum = np.exp(-np.arange(1, 60) ** 2 / 4)
    >>> [round(float(np.log(MultiOutputClass(spectrum, d).eps(100.0))), 3) for d in (1, 2, 3)]
    [-11.843, -6.244, -3.932]
    """

    reference = "Smola 1998, theorem 9.11"

    def __init__(self, spectrum: Any, n_outputs: int, w_norm: float = 1.0) -> None:
        single = as_spectrum(spectrum)
        self.spectrum = single.repeat(n_outputs)
        super().__init__(c=PROVED, offset=0.0, conditions=single.conditions)
        self.w_norm = positive(w_norm, "w_norm")
        self.radius = single.radius
        self.n_outputs = n_outputs

    @property
    def _norm(self) -> float:
        return self.w_norm * self.radius

    def _operator(self, ln_n: Array) -> Array:
        scale = FACTOR * self.spectrum.C_k * self.w_norm
        return scale * scaling_entropy(self.spectrum, ln_n)[0]

    def eps(self, ln_n: Any, n_samples: int | None = None, which: str = "best") -> Any:
        """Return upper bounds on entropy numbers over the whole domain; see `KernelClass.eps`."""
        return super().eps(ln_n, None, which)

    @staticmethod
    def interleave(weights: Any) -> Array:
        """Return the coefficients of all outputs as one sequence, w_11, w_21, ..., w_12, ...

        An isometry, under which A_d is a diagonal operator with every value d times.
        """
        return np.asarray(weights, dtype=np.float64).T.reshape(-1)
