"""What a kernel claims, asked of the kernel: objects, definiteness, derivatives, spectrum."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import kernels as mk
from mercer.gram.program import compile_kernel
from mercer.inspection import fourier_transform, regularisation
from mercer.inspection.spectra import closed_form
from mercer.kernels.catalogue import catalogue
from mercer.kernels.objects import take

from .portraits import Matrix, Plane, Portrait

REFUSED = re.compile(r"^Refuse (.+?);? see ")


@dataclass(frozen=True)
class Spectrum:
    """How the right half of a picture is computed.

    Attributes
    ----------
    kind : {"density", "series", "eigenvalues"}
        A Fourier transform, the coefficients of a cosine series, or eigenvalues.
    words : str
        Where it comes from, or why there is no other.
    """

    kind: str
    words: str


def spectrum(portrait: Portrait) -> Spectrum:
    """Return which spectrum the kernel of a portrait has."""
    kernel = portrait.kernels[0]
    if isinstance(portrait, Matrix):
        what = "not known" if kernel.pairwise else "no real vectors"
        return Spectrum("eigenvalues", f"none, since the objects are {what}")
    if not kernel.translation_invariant:
        return Spectrum("eigenvalues", "none, since the kernel is not a function of x - z")
    if isinstance(portrait, Plane):
        return Spectrum("eigenvalues", "not computed in the plane")
    if isinstance(kernel, mk.Constant):
        return Spectrum("eigenvalues", "all of it at frequency zero")
    if not kernel.definiteness.is_psd:
        return Spectrum("eigenvalues", "no density, since the kernel grows with the distance")
    return _of_line(kernel)


def _of_line(kernel: Any) -> Spectrum:
    """Return the spectrum of a translation-invariant kernel on the line."""
    if _is_periodic(kernel):
        stated = hasattr(kernel, "fourier_coefficients")
        by = (
            "in closed form, `kernel.fourier_coefficients`"
            if stated
            else ("by a discrete transform, `mercer.inspection.fourier_coefficients`")
        )
        return Spectrum("series", f"a series of cosines, {by}")
    try:
        if closed_form(kernel, np.ones((1, 1))) is not None:
            own = hasattr(kernel, "spectral_density")
            by = "`kernel.spectral_density`" if own else "from those of its parts"
            return Spectrum("density", f"in closed form, {by}")
        fourier_transform(kernel, [0.5, 1.0])
    except ValueError:
        return Spectrum("eigenvalues", "not computed, since a part is periodic")
    return Spectrum("density", "by numerical integration, `mercer.inspection.fourier_transform`")


def _is_periodic(kernel: Any) -> bool:
    parts = kernel._parts()
    if getattr(kernel, "period", None) is not None or isinstance(kernel, mk.Dirichlet):
        return True
    return bool(parts) and all(_is_periodic(part) for part in parts)


def operator(kernel: Any) -> tuple[str, str] | None:
    """Return what the kernel penalises, in words, and its filter; None where it does not say."""
    if not hasattr(kernel, "regularisation"):
        return None
    stated = regularisation(kernel)
    return stated.words, stated.filter


def domain(kernel: Any) -> str:
    """Return the objects that a kernel takes, and those among them that it refuses."""
    words = kernel.domain
    if kernel.accepts_sparse and "sparse" not in words:
        words += ", sparse rows among them"
    own = type(kernel).check_domain
    if own is not mk.Kernel.check_domain:
        refused = REFUSED.match(" ".join((own.__doc__ or "").split()))
        if refused:
            words += f". Refused are {refused[1]}"
    return words


def definiteness(name: str, kernels: list[Any]) -> list[tuple[str, Any]]:
    """Return the claims of a class, each with the first kernel that makes it.

    Parameters
    ----------
    name : str
        The class.
    kernels : list of Kernel
        Kernels of that class, those of the catalogue are added.
    """
    known = [*kernels, *(e.kernel for e in catalogue() if type(e.kernel).__name__ == name)]
    claims: dict[str, Any] = {}
    for kernel in known:
        claims.setdefault(str(kernel.definiteness), kernel)
    return [(str(claim), claims[claim]) for claim in mk.Definiteness if claim in claims]


def derivatives(kernel: Any, objects: Any) -> list[str] | None:
    """Return the parameters by which the values are differentiated; None where it does not say."""
    try:
        found = kernel.gradient(objects) if kernel.pairwise else kernel.gradient(take(objects, [0]))
    except NotImplementedError:
        return None
    return sorted(found)


def computed(kernel: Any) -> str:
    """Return where the values of a bound kernel are computed."""
    leaves = compile_kernel(kernel).leaves
    if any(leaf.kind == "python" for leaf in leaves):
        return "in Python, tile by tile"
    if any(leaf.mapped or leaf.mapping is not None for leaf in leaves):
        return "natively, from features that are made once for each set of objects"
    return "natively"
