"""Symmetric matrices that stand for kernels: checked, and refused with a witness."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.objects.parameters import show

# Relative to the largest entry or eigenvalue: what rounding in double precision may leave.
_ROUNDING = 1e-10


def symmetric_matrix(matrix: Any, name: str) -> np.ndarray:
    """Return a matrix as float64 if it is square, finite and symmetric."""
    B = np.asarray(matrix, dtype=np.float64)
    if B.ndim != 2 or B.shape[0] != B.shape[1] or B.size == 0:
        raise ValueError(f"{name} must be square; got shape {B.shape}.")
    if not np.isfinite(B).all():
        raise ValueError(f"{name} must be finite; it contains NaN or infinity.")
    difference = np.abs(B - B.T)
    if difference.max() > _ROUNDING * np.abs(B).max():
        i, j = np.unravel_index(int(difference.argmax()), B.shape)
        raise ValueError(
            f"{name} must be symmetric; entry [{i}, {j}] is {B[i, j]:.6g} but [{j}, {i}] is "
            f"{B[j, i]:.6g}. Use (B + B.T) / 2 if the difference is noise."
        )
    return B


def projected_matrix(K: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return (1 - QQ') K (1 - QQ') of a symmetric matrix, for orthonormal columns Q."""
    KQ = K @ Q
    half = KQ - 0.5 * Q @ (Q.T @ KQ)
    return K - half @ Q.T - Q @ half.T


def oriented(vectors: np.ndarray) -> np.ndarray:
    """Return columns, such as eigenvectors, with the sign that makes their largest entry > 0."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(largest < 0, -1.0, 1.0)


def refuse_negative_direction(B: np.ndarray, name: str, form: str) -> None:
    """Reject a symmetric matrix that is not positive semidefinite, with a vector that shows it."""
    values, vectors = np.linalg.eigh(B)
    if values[0] < -_ROUNDING * max(abs(values[-1]), abs(values[0])):
        v = vectors[:, 0] * np.sign(vectors[np.abs(vectors[:, 0]).argmax(), 0])
        shown = np.round(v, 6) if len(v) <= 10 else "the eigenvector of the smallest eigenvalue"
        raise ValueError(
            f"{name} is not positive semidefinite: {form} = {values[0]:.6g} for v = {show(shown)}. "
            "Use a matrix without negative eigenvalues."
        )
