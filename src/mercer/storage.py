"""Files that hold an expansion: written whole or not at all, refused when damaged.

A file is a line of text, a SHA-256 digest and a NumPy archive. The archive holds arrays only (no
pickles, so reading a file runs no code) and the kernel as JSON: class names and parameters, and
the tables of a hidden Markov model that it holds.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer import kernels
from mercer.kernels import HiddenMarkov, Kernel
from mercer.kernels.columns_used import columns_seen
from mercer.kernels.models.baum_welch import Convergence
from mercer.objects.plain import as_plain, from_plain
from mercer.objects.tables import is_frame

_MAGIC = b"mercer expansion 1\n"
_LEARNED = ("alphabet_", "initial_", "transition_", "emission_")  # by a hidden Markov model
_WITH_LINEAR_PART = b"mercer expansion 2\n"  # readers of the first kind would leave it out
_ON_COLUMNS = b"mercer expansion 3\n"  # and those of the second take all columns


class DamagedFileError(ValueError):
    """A file is not what it claims to be: truncated, altered or of another kind.

    Examples
    --------
    >>> import mercer
    >>> from pathlib import Path
    >>> from mercer.persistence import DamagedFileError
    >>> size = Path("model.mercer").write_bytes(b"not a model")
    >>> try:
    ...     mercer.load("model.mercer")
    ... except DamagedFileError as error:
    ...     print(type(error).__name__)
    ...
    DamagedFileError
    """


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new one."""
    path = Path(os.path.realpath(path))  # the file that a link leads to
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r} to write {path.name} to.")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        os.chmod(name, _mode(path))
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """Return the permissions that a file has, or that a new one gets."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def write_expansion(expansion: Any, path: Path) -> None:
    """Write an expansion; see `mercer.expansion.Expansion.save`."""
    arrays: dict[str, Any] = {"coef": expansion.coef, "intercept": expansion.intercept}
    magic, vectors = _MAGIC, _seen(expansion)
    if expansion.poly_coef is not None:
        magic, arrays["poly_coef"] = _WITH_LINEAR_PART, expansion.poly_coef
    if expansion.poly_columns is not None:
        magic, arrays["poly_columns"] = _ON_COLUMNS, np.array(expansion.poly_columns)
    if sp.issparse(vectors):
        arrays |= {
            "data": vectors.data,
            "indices": vectors.indices,
            "indptr": vectors.indptr,
            "shape": np.array(vectors.shape),
        }
    elif isinstance(vectors, np.ndarray) and vectors.dtype != object:
        arrays["vectors"] = vectors
    else:
        arrays["objects"] = np.frombuffer(_json(as_plain(vectors)), dtype=np.uint8)
    header: dict[str, Any] = {"kernel": _described(expansion.kernel), "dtype": expansion.dtype}
    if expansion.feature_names is not None:
        header["feature_names"] = [str(name) for name in expansion.feature_names]
    arrays["header"] = np.frombuffer(_json(header), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    payload = buffer.getvalue()
    write_whole(path, magic + hashlib.sha256(payload).digest() + payload)


def read_expansion(path: Path) -> tuple[Any, ...]:
    """Return the arguments of an expansion that `write_expansion` wrote, in their order."""
    content = path.read_bytes()
    if not content.startswith((_MAGIC, _WITH_LINEAR_PART, _ON_COLUMNS)):
        raise DamagedFileError(f"{path} is not a file that Expansion.save wrote.")
    start = len(_MAGIC) + 32
    digest, payload = content[len(_MAGIC) : start], content[start:]
    if hashlib.sha256(payload).digest() != digest:
        raise DamagedFileError(
            f"{path} is damaged: its content does not match its checksum. Restore it from a copy "
            "or save the model again."
        )
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes())
        kernel = _rebuilt(header["kernel"])
        if "data" in arrays:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            vectors: Any = sp.csr_matrix(parts, shape=tuple(arrays["shape"]))
        elif "objects" in arrays:
            vectors = from_plain(json.loads(arrays["objects"].tobytes()))
        else:
            vectors = arrays["vectors"]
        return (
            kernel,
            vectors,
            arrays["coef"],
            arrays["intercept"],
            header["dtype"],
            None if content.startswith(_MAGIC) else arrays["poly_coef"],
            arrays["poly_columns"] if content.startswith(_ON_COLUMNS) else None,
            header.get("feature_names"),
        )
    except (KeyError, zipfile.BadZipFile, json.JSONDecodeError, AttributeError) as error:
        raise DamagedFileError(
            f"{path} was written by an incompatible version: {error}."
        ) from error


def _seen(expansion: Any) -> Any:
    """Return the vectors as an array or CSR; columns that the kernel does not look at are empty."""
    vectors = expansion.vectors
    columns = None if expansion.kernel.pairwise else columns_seen(expansion.kernel)
    if is_frame(vectors):
        vectors = vectors.to_numpy().astype(object)
    if columns is None or len(getattr(vectors, "shape", ())) != 2:
        return vectors
    used = np.zeros(vectors.shape[1], dtype=bool)
    used[columns] = True
    if expansion.poly_coef is not None:
        used[slice(None) if expansion.poly_columns is None else expansion.poly_columns] = True
    if used.all():
        return vectors
    if sp.issparse(vectors):
        kept = sp.csr_matrix(vectors.multiply(used.astype(vectors.dtype)))
        kept.eliminate_zeros()
        return kept
    vectors = vectors.copy()
    vectors[:, ~used] = None if vectors.dtype == object else np.zeros((), dtype=vectors.dtype)
    return vectors


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _described(kernel: Kernel) -> dict[str, Any]:
    name = type(kernel).__name__
    if getattr(kernels, name, None) is not type(kernel):
        raise ValueError(
            f"{name} is not one of mercer's own kernels and cannot be written to a file that runs "
            "no code; pickle the expansion instead."
        )
    parameters = {}
    for key, value in kernel.get_params(deep=False).items():
        if isinstance(value, Kernel):
            parameters[key] = {"kernel": _described(value)}
        elif type(value) is HiddenMarkov:
            parameters[key] = {"hidden_markov": _described_model(value)}
        elif callable(value):
            raise ValueError(
                f"{kernel!r} holds a Python function, which cannot be written to a file that runs "
                "no code; pickle the expansion instead."
            )
        else:
            parameters[key] = as_plain(value)
    return {"class": name, "parameters": parameters}


def _rebuilt(description: dict[str, Any]) -> Kernel:
    parameters = {key: _parameter(value) for key, value in description["parameters"].items()}
    kind = getattr(kernels, description["class"])
    if not (isinstance(kind, type) and issubclass(kind, Kernel)):
        raise KeyError(description["class"])
    return kind(**parameters)


def _parameter(value: Any) -> Any:
    if isinstance(value, dict) and "kernel" in value:
        return _rebuilt(value["kernel"])
    if isinstance(value, dict) and "hidden_markov" in value:
        return _rebuilt_model(value["hidden_markov"])
    return from_plain(value)


def _described_model(model: HiddenMarkov) -> dict[str, Any]:
    """Return the parameters, the tables and the trace of a hidden Markov model."""
    parameters = model.get_params(deep=False)
    if isinstance(parameters["random_state"], np.random.RandomState):
        parameters["random_state"] = None  # a fitted model draws no more
    certificate = getattr(model, "certificate_", None)
    return {
        "parameters": {key: as_plain(value) for key, value in parameters.items()},
        "learned": {name: as_plain(getattr(model, name)) for name in _LEARNED},
        "certificate": None if certificate is None else as_plain(asdict(certificate)),
    }


def _rebuilt_model(description: dict[str, Any]) -> HiddenMarkov:
    parameters = {key: from_plain(value) for key, value in description["parameters"].items()}
    model = HiddenMarkov(**parameters)
    for name in _LEARNED:
        setattr(model, name, from_plain(description["learned"][name]))
    if description["certificate"] is not None:
        model.certificate_ = Convergence(**from_plain(description["certificate"]))
    return model
