"""Properties of a kernel as it states them: objects, definiteness, derivatives, spectrum."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer import kernels as mk
from mercer.gram.program import compile_kernel
from mercer.inspection import fourier_coefficients, fourier_transform, regularisation
from mercer.objects.validation import take
from tests.catalogue import catalogue, sample

from .portraits import Matrix, Plane, Portrait

REJECTED = re.compile(r"^Reject (.+?);? see ")


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
    own = {"density": "spectral_density", "series": "fourier_coefficients"}
    for kind, method, how in (
        ("series", "closed", "a series of cosines, in closed form"),
        ("series", "numeric", "a series of cosines, by a discrete transform"),
        ("density", "closed", "in closed form"),
        ("density", "numeric", "by numerical integration"),
    ):
        try:
            if kind == "series":
                fourier_coefficients(kernel, 2, method=method)
            else:
                fourier_transform(kernel, [0.5, 1.0], method=method)
        except ValueError:  # another kind of kernel, or nothing stated
            continue
        stated = method == "closed" and hasattr(kernel, own[kind])
        where = "kernel" if stated else "mercer.inspection"
        name = own[kind] if stated or kind == "series" else "fourier_transform"
        return Spectrum(kind, f"{how}, `{where}.{name}`")
    return Spectrum("eigenvalues", "not computed, since a part is periodic")


def operator(kernel: Any) -> tuple[str, str] | None:
    """Return what the kernel penalises, in words, and its filter; None where it does not say."""
    if not hasattr(kernel, "regularisation"):
        return None
    stated = regularisation(kernel)
    return stated.words, stated.filter


def domain(kernel: Any) -> str:
    """Return the objects that a kernel takes, and those among them that it rejects."""
    words = kernel.domain
    if kernel.accepts_sparse and "sparse" not in words:
        words += ", sparse rows among them"
    own = type(kernel).check_domain
    if own is not mk.Kernel.check_domain:
        rejected = REJECTED.match(" ".join((own.__doc__ or "").split()))
        if rejected:
            words += f". Raises ValueError for {rejected[1]}"
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


def other_derivatives(kernel: Any, known: list[str]) -> dict[str, Any]:
    """Return parameters that are numbers in other kernels of the class, each with such a kernel.

    Parameters
    ----------
    kernel : Kernel
        A kernel.
    known : list of str
        The parameters that are numbers in this one.
    """
    found: dict[str, Any] = {}
    for example in catalogue():
        if type(example.kernel) is type(kernel):
            objects = sample(example.objects, 2, np.random.default_rng(0))
            for name in derivatives(example.kernel, objects) or []:
                if name not in known and "__" not in name:  # those of parts are not its own
                    found.setdefault(name, example.kernel)
    return found


def computed(kernel: Any) -> str:
    """Return where the values of a bound kernel are computed."""
    leaves = compile_kernel(kernel).leaves
    if any(leaf.kind == "python" for leaf in leaves):
        return "in Python, tile by tile"
    if any(leaf.mapped or leaf.mapping is not None for leaf in leaves):
        return "natively, from features that are made once for each set of objects"
    return "natively"
