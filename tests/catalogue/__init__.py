"""Every kernel by example: what the tests and the gallery enumerate.

A kernel class that is exported from `mercer.kernels` has at least one example here, with the name
of the objects it takes; `sample` draws random objects of that name. The common tests (symmetry,
definiteness as claimed, agreement with a definition, derivatives, copies, printed form) run over
all examples, so that a new kernel cannot escape them.

To add kernels, write a module beside this one with two names and list it in `_MODULES`:

- ``EXAMPLES``: a list of `Example`, all bound to data or independent of them;
- ``SAMPLERS``: for objects of a new kind, a function of a random generator and a number that
  returns so many objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.objects.parameters import show
from tests.catalogue import (
    collections,
    composed,
    coordinatewise,
    general,
    sequences,
    series,
    vectors,
)
from tests.catalogue.example import Example

__all__ = ["Example", "catalogue", "sample"]

_MODULES = (vectors, coordinatewise, general, composed, sequences, collections, series)


def catalogue(objects: str | None = None) -> list[Example]:
    """Return the examples of all kernels.

    Parameters
    ----------
    objects : str, optional
        The kind of objects, such as "vectors"; by default all kinds.

    Returns
    -------
    list of Example
        Kernels with the kind of objects they take.

    Examples
    --------
    >>> from tests.catalogue import catalogue
    >>> {type(example.kernel).__name__ for example in catalogue("items")}
    {'FiniteMatrix'}
    """
    examples = [example for module in _MODULES for example in module.EXAMPLES]
    return [e for e in examples if objects is None or e.objects == objects]


def sample(objects: str, n: int, rng: np.random.Generator) -> Any:
    """Return random objects.

    Parameters
    ----------
    objects : str
        The kind of objects, as an example names them.
    n : int
        How many.
    rng : numpy.random.Generator
        Where randomness comes from.

    Returns
    -------
    objects
        An array or a list; for "matrix" a kernel matrix of n objects.

    Examples
    --------
    >>> import numpy as np
    >>> from tests.catalogue import sample
    >>> sample("vectors", 4, np.random.default_rng(0)).shape
    (4, 3)
    """
    samplers = {name: s for module in _MODULES for name, s in module.SAMPLERS.items()}
    if objects not in samplers:
        raise ValueError(
            f"unknown kind of objects {show(objects)}; there are {', '.join(sorted(samplers))}."
        )
    return samplers[objects](rng, n)
