"""What the composed kernels share: checks of their operands, and products of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..base import Kernel


def require_kernel(value: Any, name: str, owner: str) -> None:
    """Refuse an operand that is not a kernel."""
    if isinstance(value, Kernel):
        return
    if isinstance(value, type) and issubclass(value, Kernel):
        hint = f"Create one: {value.__name__}()."
    elif callable(value):
        hint = "Wrap a Python function: FromFunction(f)."
    else:
        hint = "Kernels are made by the classes of mercer.kernels."
    raise TypeError(f"{name} of {owner} must be a kernel; got {value!r}. {hint}")


def nested(name: str, gradient: dict[str, np.ndarray], factor: Any = 1.0) -> dict[str, np.ndarray]:
    """Return the derivatives of an operand as those of the whole: the chain rule.

    Parameters
    ----------
    name : str
        The operand's name, which precedes the names of its parameters.
    gradient : dict of str to ndarray
        Derivatives of the operand's values.
    factor : float or ndarray of shape (n_X, n_Z), default=1.0
        Derivative of the whole with respect to the operand's values.
    """
    return {f"{name}__{key}": factor * matrix for key, matrix in gradient.items()}


def diagonal_gradients(
    kernel: Kernel, X: Any, Z: Any, inner: dict[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the derivatives of k(x, x) and of k(z, z), by the names that those of k(x, z) have.

    Parameters
    ----------
    kernel : Kernel
        The kernel k, bound.
    X, Z : objects
        Validated objects.
    inner : dict of str to ndarray
        Derivatives of k(x, z). Where a set has none of its own, because its objects have no parts,
        they are 0.
    """
    own = kernel._diagonal_gradient(X)
    other = own if X is Z else kernel._diagonal_gradient(Z)
    zeros = [
        {name: np.zeros(np.delete(matrix.shape, axis)) for name, matrix in inner.items()}
        for axis in (-1, -2)
    ]
    return zeros[0] | own, zeros[1] | other


def concatenated(blocks: list[Any]) -> Any:
    """Return feature blocks side by side, sparse if all of them are."""
    if all(sp.issparse(block) for block in blocks):
        return sp.hstack(blocks, format="csr")
    return np.hstack([dense(block) for block in blocks])


def outer(left: Any, right: Any) -> np.ndarray:
    """Return all products of a left with a right feature, object by object."""
    left, right = dense(left), dense(right)
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def dense(features: Any) -> np.ndarray:
    """Return features as a dense array."""
    return features.toarray() if sp.issparse(features) else np.asarray(features)
