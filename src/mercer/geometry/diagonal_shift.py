"""A coordinate of its own for every training object: the kernel of noisy data.

k(x_i, x_j) + D^2 [i = j] gives object i one more feature, D in a direction that no other object
has. The shift belongs to the index and not to the value: two equal objects share none of it, and
a new object has none. With D > 0 the training objects are linearly independent, so every
labelling of them is separated by some hyperplane; a hard margin with this kernel is the 2-norm
soft margin with D^2 = 1 / (2 C) (``SVC(penalty_norm=2)``), which needs no matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import Kernel
from mercer.kernels.first_argument import kernel_first
from mercer.objects.parameters import real


@kernel_first
def shifted_gram(kernel: Kernel, X: Any, shift: float) -> NDArray[np.float64]:
    """Return the training matrix of a kernel with its diagonal raised by ``shift`` squared.

    Parameters
    ----------
    kernel : Kernel
        The kernel, bound to `X` if it has to be.
    X : objects
        The training objects; for a precomputed kernel its matrix.
    shift : float >= 0
        The length D of the coordinate that every object gets for itself.

    Returns
    -------
    array of shape (n, n)
        K + D^2 I. New objects are compared with the training objects by the kernel alone.

    Examples
    --------
    >>> from mercer.geometry import shifted_gram
    >>> from mercer.kernels import Linear
    >>> shifted_gram(Linear(), [[1.0], [1.0]], shift=2.0)
    array([[5., 1.],
           [1., 5.]])
    """
    real(shift, "shift", minimum=0)
    K = kernel(X)
    K[np.diag_indices(len(K))] += shift * shift
    return K
