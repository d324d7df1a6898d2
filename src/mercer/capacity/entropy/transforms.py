"""The Fourier transform of a kernel at given frequencies, from what the kernel states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.kernels import Kernel, Scaled, Sum, resolve
from mercer.numerics.hankel import radial_fourier

from .inputs import Array

Transform = Callable[[Array], Array]

_NO_SPECTRUM = (
    "it has no discrete spectrum from a Fourier transform. Use Spectrum.from_kernel(kernel, "
    "domain) on a bounded domain, or Spectrum.from_gram on the objects themselves."
)


def transform_of(kernel: Any, dimension: int) -> tuple[Transform, bool]:
    """Return the unitary Fourier transform of a kernel, and whether it is a closed form.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A bound kernel of x - z that decays with the distance. A plain function is taken as the
        transform itself, of the length of the frequency.
    dimension : int >= 1
        The number of columns d.

    Returns
    -------
    transform : callable
        A function of frequencies of shape (n, d) that returns an array of shape (n,).
    closed : bool
        False where the transform is a numerical integral, accurate to about 1e-10 of its maximum.
    """
    if callable(kernel) and not isinstance(kernel, Kernel):
        return (lambda w: np.asarray(kernel(np.linalg.norm(w, axis=1)), dtype=np.float64)), True
    kernel = translation_invariant(kernel)
    stated = _stated(kernel)
    if stated is not None:
        return stated, True
    return _numeric(kernel, dimension), False


def translation_invariant(kernel: Any) -> Kernel:
    """Return a bound kernel of x - z, or say why there is no spectrum."""
    kernel = resolve(kernel)
    if kernel.takes.structured or not kernel.translation_invariant:
        raise ValueError(f"{kernel!r} is not a function of x - z, so {_NO_SPECTRUM}")
    kernel.require_bound("as a function of x - z")
    return kernel


def _stated(kernel: Kernel) -> Transform | None:
    """Return the closed form of a kernel, of a multiple or of a sum; None where there is none."""
    if isinstance(kernel, Scaled):
        inner, scale = _stated(kernel.kernel), float(kernel.scale)
        return None if inner is None else lambda w: scale * inner(w)
    if isinstance(kernel, Sum):
        left, right = _stated(kernel.left), _stated(kernel.right)
        return None if left is None or right is None else lambda w: left(w) + right(w)
    own = getattr(kernel, "spectral_density", None)
    twin = getattr(kernel, "same_as", None)
    return own if own is not None or twin is None else twin.spectral_density


def _numeric(kernel: Kernel, dimension: int) -> Transform:
    origin = np.zeros((1, dimension))

    def profile(r: Array) -> Array:
        points = np.zeros((len(r), dimension))
        points[:, 0] = r
        return np.asarray(kernel(points, origin))[:, 0]

    oblique = np.full((1, dimension), 1.3 / np.sqrt(dimension))
    if dimension > 1 and not np.isclose(profile(np.array([1.3]))[0], kernel(oblique, origin)[0, 0]):
        raise ValueError(
            f"{kernel!r} states no Fourier transform and is not radial, so {_NO_SPECTRUM}"
        )

    def transform(w: Array) -> Array:
        lengths, place = np.unique(np.linalg.norm(w, axis=1), return_inverse=True)
        try:
            return radial_fourier(profile, lengths, dimension)[place.reshape(-1)]
        except ValueError as error:
            raise ValueError(
                f"{kernel!r} does not decay with the distance, so {_NO_SPECTRUM}"
            ) from error

    return transform


def is_radial(transform: Transform, dimension: int, scale: float) -> bool:
    """Return whether a transform has the same values along an axis and along a diagonal."""
    if dimension == 1:
        return True
    lengths = scale * np.array([0.7, 1.9, 4.1])
    along = np.zeros((3, dimension))
    along[:, 0] = lengths
    across = np.repeat(lengths[:, None] / np.sqrt(dimension), dimension, axis=1)
    return bool(np.allclose(transform(along), transform(across), rtol=1e-6, atol=0.0))
