"""Pipelines, and steps that the container cannot hold: through skops, types it trusts alone."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from typing import Any

# numpy.dtype: loaded as the dtype of an empty array, without pickle (SimpleImputer keeps one).
_TRUSTED = ["numpy.dtype"]


def is_pipeline(model: Any) -> bool:
    """Return whether a model is a pipeline of scikit-learn."""
    from sklearn.pipeline import Pipeline

    return type(model) is Pipeline


def pipeline(steps: Iterable[Any]) -> Any:
    """Return the pipeline of steps, each a name and an estimator or a word."""
    from sklearn.pipeline import Pipeline

    return Pipeline([(str(name), step) for name, step in steps])


def dumped(step: Any) -> bytes:
    """Return a step as skops writes it; refuse types that skops would not load unasked."""
    io = _skops(type(step).__name__)
    try:
        content: bytes = io.dumps(step)
        unknown = [t for t in io.get_untrusted_types(data=content) if t not in _TRUSTED]
    except Exception as error:
        raise ValueError(f"{type(step).__name__} cannot be written by skops: {error}") from error
    if unknown:
        raise ValueError(
            f"{type(step).__name__} holds types that skops does not trust: {', '.join(unknown)}. "
            "Save the other steps, and build this one where the model is served. Of a search, save "
            "its best_estimator_."
        )
    return content


def size_in_memory(content: bytes) -> int:
    """Return the bytes that reading a step takes: its parts, as often as it refers to them.

    skops writes a zip archive, whose parts are not compressed but for sparse matrices, which are
    archives themselves, and a table of contents that names the parts.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("a step whose parts are compressed, so that nothing bounds their size")
        table = json.dumps(json.loads(archive.read("schema.json")))  # every name in one spelling
        sizes = {m.filename: _inflated_size(archive.read(m)) for m in members}
    return sum(n * (1 + table.count(json.dumps(name)[1:-1])) for name, n in sizes.items())


def _inflated_size(part: bytes) -> int:
    if not zipfile.is_zipfile(io.BytesIO(part)):
        return len(part)
    with zipfile.ZipFile(io.BytesIO(part)) as archive:
        return sum(member.file_size for member in archive.infolist())


def loaded(content: bytes) -> Any:
    """Return a step that `dumped` wrote; types that skops does not trust raise an error."""
    return _skops("a step of this file").loads(content, trusted=_TRUSTED)


def _skops(step: str) -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            f"{step} is saved through skops, which is not installed: pip install skops, the extra "
            "'pipelines' of mercer. mercer's own steps and scikit-learn's common ones (scalers, "
            "encoders, SimpleImputer, ColumnTransformer) without functions need no extra."
        ) from error
    return skops.io
