"""Save and load fitted models, and what else is written to files of the same container."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mercer._version import __version__

from .container import DamagedFileError, packed, unpacked
from .values import Reader, Writer
from .whole_file import write_whole


def save(model: Any, path: str | Path) -> None:
    """Write a fitted estimator, or a pipeline of them, to a file that runs no code when read.

    The file holds parameters, fitted attributes, class labels and the certificate; it is written
    whole or not at all. Files can be read by this and all later versions. Raises ValueError for
    what such a file cannot hold: kernels and functions of the user's own, and steps of a pipeline
    whose types skops does not trust.

    Parameters
    ----------
    model : estimator or Pipeline
        An estimator of mercer, or a scikit-learn pipeline. scikit-learn's common steps (scalers,
        encoders, `SimpleImputer`, `ColumnTransformer`) are held like mercer's own; others are
        written by skops (``pip install 'mercer[pipelines]'``).
    path : str or Path
        The file.

    Returns
    -------
    None
        The file is complete when the function returns.

    Examples
    --------
    >>> import os, tempfile
    >>> from mercer import SVC, load, save
    >>> from mercer.kernels import RBF, Linear
    >>> model = SVC(kernel=RBF(0.5) + Linear()).fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
    >>> save(model, path)
    >>> load(path)
    SVC(kernel=RBF(gamma=0.5) + Linear())
    """
    if isinstance(model, str | Path):
        raise TypeError(f"the model comes first, then the path: save(model, {str(model)!r}).")
    held = next((n for n in ("best_estimator_", "estimator") if hasattr(model, n)), None)
    if held == "best_estimator_" or isinstance(model, type) or not hasattr(model, "get_params"):
        held = "" if held is None else f" Save its {held}."
        raise TypeError(f"save takes an estimator or a pipeline; got {type(model).__name__}.{held}")
    write(Writer.model, model, path)


def load(path: str | Path) -> Any:
    """Read a model that `save` wrote; no code of the file runs.

    Parameters
    ----------
    path : str or Path
        The file. Raises DamagedFileError, a ValueError, for one that is damaged, truncated, of
        another kind or of a newer format.

    Returns
    -------
    estimator or Pipeline
        The model, ready to predict.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.SVC().fit([[0.0], [1.0]], [0, 1])
    >>> mercer.save(model, "model.mercer")
    >>> mercer.load("model.mercer").predict([[0.9]])
    array([1])
    """
    found = read(Path(path).read_bytes(), path)
    if not hasattr(found, "get_params"):
        name = type(found).__name__
        raise DamagedFileError(f"{path} holds no model; read it with {name}.load.")
    return found


def write(form: Callable[[Writer, Any], Any], value: Any, path: str | Path) -> None:
    """Write a file, whole or not at all; `form` turns the value into what JSON can hold."""
    writer = Writer()
    header = {"mercer": __version__, "model": form(writer, value)}
    write_whole(Path(path), packed(header, writer.arrays))


def read(content: bytes, path: str | Path) -> Any:
    """Return what the content of a file holds; `path` is named in errors."""
    try:
        header, arrays = unpacked(content, path)
        return Reader(arrays).value(header["model"])
    except (DamagedFileError, ImportError):
        raise
    except Exception as error:  # whatever a forged header makes constructors raise
        raise DamagedFileError(
            f"{path} does not hold a model that this version can read ({type(error).__name__}: "
            f"{error}). Save the model again."
        ) from error
