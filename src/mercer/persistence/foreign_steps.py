"""Steps of a pipeline that are not mercer's, through skops: types that it trusts, no others."""

from __future__ import annotations

from typing import Any

# numpy.dtype: loaded as the dtype of an empty array, without pickle (SimpleImputer keeps one).
_TRUSTED = ["numpy.dtype"]


def dumped(step: Any) -> bytes:
    """Return a step as skops writes it; refuse types that skops would not load unasked."""
    io = _skops()
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


def loaded(content: bytes) -> Any:
    """Return a step that `dumped` wrote; types that skops does not trust raise an error."""
    return _skops().loads(content, trusted=_TRUSTED)


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "pipelines with steps of other libraries are saved through skops; install it with "
            "pip install 'mercer[pipelines]'."
        ) from error
    return skops.io
