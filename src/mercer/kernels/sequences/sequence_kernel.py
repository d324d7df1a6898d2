"""Sequences of tokens, the objects of kernels on strings: validation and encoding as integers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from mercer import _native
from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.objects.parameters import show
from mercer.objects.validation import Objects, as_items, is_missing
from mercer.objects.vocabulary import Vocabulary

from ..base import Kernel

WHAT = "sequences: str, bytes, lists or tuples of tokens"
SEQUENCES = Objects(WHAT, structured=True)


class Tokens(NamedTuple):
    """Sequences one after another: tokens as numbers, and where each sequence begins and ends."""

    token: np.ndarray
    start: np.ndarray

    @property
    def has_unknown(self) -> bool:
        """Whether there are tokens without a number."""
        return bool(self.token.size and self.token.min() < 0)

    def add_to(self, store: Any, norm: np.ndarray | None, form: tuple[Any, ...]) -> None:
        """Append the sequences to native objects, prepared for a native kernel."""
        store.tokens(self.token, self.start, norm, form)

    def diagonal(self, form: tuple[Any, ...]) -> np.ndarray:
        """Return k(x, x), or its logarithm, of a native kernel."""
        return _native.token_diagonal(form, self.token, self.start)


class SequenceKernel(Kernel):
    """Base class of the kernels on sequences of tokens.

    A subclass either maps sequences to explicit features (`map_objects`) or states a native
    evaluator of pairs (`native_form`).

    Examples
    --------
    >>> from mercer.kernels import SequenceKernel
    >>> class SameStart(SequenceKernel):
    ...     def compile(self, builder):
    ...         builder.mapped(self, "dot")
    ...
    ...     def map_objects(self, X, vocabulary):
    ...         return vocabulary.counts(x[:1] for x in X)
    >>> SameStart()(["tree", "trunk", "leaf"])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    _objects = SEQUENCES
    may_overflow: ClassVar[bool] = True  # whether k(x, x) may be too large for a number

    def validate(self, X: Any, against: Any = None) -> list:
        return as_sequences(X, type(self).__name__)

    def compile(self, builder: Builder) -> None:
        builder.sequence(self)

    def encode(self, X: list, vocabulary: Vocabulary) -> Tokens:
        """Return validated sequences as numbers; -1 for tokens that have no column."""
        return encoded(X, vocabulary)

    def native_form(self, logarithms: bool = False) -> tuple[Any, ...]:
        """Return the name and the parameters of the native evaluator of pairs.

        `logarithms`: whether logarithms of values are wanted, for normalisation. A kernel that is
        `logarithmic` always gives them, one that is not `normalized_by_logarithms` never.
        """
        raise NotImplementedError(
            f"{type(self).__name__} defines neither native_form nor features: write map_objects "
            'and, as compile, builder.mapped(self, "dot").'
        )


class AlphabetKernel(SequenceKernel):
    """Base of the sequence kernels with an alphabet, by default that of the training sequences."""

    _from_data = ("alphabet",)

    def _check(self) -> None:
        owner, alphabet = type(self).__name__, self.get_params(deep=False)["alphabet"]
        if alphabet is None:
            return
        if not isinstance(alphabet, str | bytes | list | tuple) or len(alphabet) == 0:
            raise TypeError(
                f"alphabet of {owner} must be a string, bytes or a list of tokens; got "
                f"{alphabet!r}."
            )
        if len(set(alphabet)) < len(alphabet):
            raise ValueError(f"alphabet of {owner} must hold every token once; got {alphabet!r}.")

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        if self.is_bound:
            return self.replace()
        X = views.X
        if weight is not None:
            X = [x for x, w in zip(X, weight, strict=True) if w > 0]
        return self.replace(alphabet=alphabet_of(X) or [""])


def as_sequences(X: Any, owner: str) -> list:
    """Return a collection of sequences as a list, all of them strings, bytes or token lists.

    `X`: the sequences. A two-dimensional array is one sequence of tokens in each row, unless it has
    a single column of texts or other objects, as a table has, which raises ValueError.
    """
    items = as_items(X, owner, WHAT)
    kind = _kind(items[0])
    if kind is str and all(type(x) is str for x in items):
        return items
    for i, x in enumerate(items):
        own = _kind(x)
        if own is None:
            hint = " A missing value? Drop or fill it." if is_missing(x) else ""
            raise TypeError(
                f"{owner} is defined on {WHAT}; object {i} is {x!r} of type {type(x).__name__}."
                f"{hint}"
            )
        if own is not kind:
            raise TypeError(
                f"{owner} needs sequences of one kind; object 0 is of type "
                f"{type(items[0]).__name__}, object {i} of type {type(x).__name__}."
            )
        if own is list:
            _check_tokens(x, i, owner)
    return items


def encoded(X: list, vocabulary: Vocabulary) -> Tokens:
    """Return validated sequences as numbers.

    Characters are represented by their code points, and bytes by their values. Other tokens are
    numbered by the vocabulary; those it does not know are -1, which agrees with no token.
    """
    kind = _kind(X[0])
    _require_alike(kind, vocabulary.memory.setdefault("kind", kind))
    if kind is str:
        text = "".join(X).encode("utf-32-le", "surrogatepass")
        token = np.frombuffer(text, dtype="<i4").astype(np.int32, copy=False)
    elif kind is bytes:
        token = np.frombuffer(b"".join(X), dtype=np.uint8).astype(np.int32)
    else:
        column = vocabulary.column
        plain = (x.tolist() if isinstance(x, np.ndarray) else x for x in X)
        token = np.fromiter((column(t) for x in plain for t in x), dtype=np.int32)
    return Tokens(token, offsets(X))


def offsets(X: list) -> np.ndarray:
    """Return the offsets at which sequences begin, and the end of the last one."""
    start = np.zeros(len(X) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, X), dtype=np.int64, count=len(X)), out=start[1:])
    return start


def alphabet_of(X: list) -> list:
    """Return the distinct tokens of validated sequences, sorted where they can be."""
    kind = _kind(X[0])
    if kind is str:
        return sorted(set("".join(X)))
    if kind is bytes:
        return sorted(set(b"".join(X)))
    tokens = dict.fromkeys(t for x in X for t in (x.tolist() if hasattr(x, "tolist") else x))
    try:
        return sorted(tokens)  # type: ignore[type-var]
    except TypeError:
        return list(tokens)


def in_alphabet(X: list, alphabet: Sequence[Hashable]) -> Tokens:
    """Return validated sequences as positions in an alphabet, -1 for tokens outside it."""
    if _kind(X[0]) is list:
        vocabulary = Vocabulary()
        for letter in alphabet:
            vocabulary.column(letter)
        vocabulary.fix()
        return encoded(X, vocabulary)
    if list(alphabet) != [""]:  # that of sequences without letters
        for letter in alphabet:
            _require_alike(_kind(X[0]), _kind_of_letter(letter))
    tokens = encoded(X, Vocabulary())
    codes = np.array([_code(letter) for letter in alphabet])
    if np.any(codes == _NO_LETTER) and list(alphabet) != [""]:
        letter = alphabet[int(np.argmax(codes == _NO_LETTER))]
        raise ValueError(
            f"{letter!r} of the alphabet is no single letter, and so occurs in no string; pass "
            "lists of tokens instead of strings, or single letters."
        )
    order = np.argsort(codes)
    found = np.searchsorted(codes[order], tokens.token)
    nearest = order[np.minimum(found, len(codes) - 1)]
    known = codes[nearest] == tokens.token
    return Tokens(np.where(known, nearest, -1).astype(np.int32), tokens.start)


def known_letters(X: list, alphabet: Sequence[Hashable], owner: str, advice: str) -> Tokens:
    """Return validated sequences as positions in an alphabet; refuse tokens outside it."""
    tokens = in_alphabet(X, alphabet)
    if len(tokens.token) and tokens.token.min() < 0:
        at = int(np.argmin(tokens.token))
        i = int(np.searchsorted(tokens.start, at, side="right")) - 1
        letter = X[i][at - int(tokens.start[i])]
        raise ValueError(
            f"object {i} has the letter {letter!r}, which is not in the alphabet "
            f"{show(alphabet)} of {owner}; {advice}."
        )
    return tokens


_NO_LETTER = -2  # stands for what is no letter of text or bytes
_NAMES: dict[Any, str] = {str: "str", bytes: "bytes", list: "list of tokens"}


def _kind(x: Any) -> type | None:
    """Return the kind of a sequence: str, bytes or list (of tokens); None for anything else."""
    if isinstance(x, str):
        return str
    if isinstance(x, bytes | bytearray):
        return bytes
    if isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.ndim == 1):
        return list
    return None


def _kind_of_letter(letter: Any) -> type:
    """Return the kind of the sequences that a letter occurs in."""
    if isinstance(letter, str):
        return str
    return bytes if isinstance(letter, Integral) else list


def _require_alike(kind: Any, known: Any) -> None:
    if known is not kind:
        raise TypeError(
            f"sequences of type {_NAMES[kind]} cannot be compared with sequences of type "
            f"{_NAMES[known]}."
        )


def _code(letter: Any) -> int:
    """Return the number that stands for a letter of text or bytes."""
    if isinstance(letter, str):
        return ord(letter) if len(letter) == 1 else _NO_LETTER
    return int(letter) if isinstance(letter, Integral) else _NO_LETTER


def _check_tokens(x: Any, i: int, owner: str) -> None:
    if isinstance(x, np.ndarray) and x.dtype.kind in "iub":
        return
    for token in x.tolist() if isinstance(x, np.ndarray) else x:
        if isinstance(token, float | np.floating):
            raise TypeError(
                f"{owner} compares tokens, which are equal or not; object {i} holds the real "
                f"number {token!r}. For series of numbers use GlobalAlignment, for vectors a "
                "kernel such as RBF."
            )
        try:
            hash(token)
        except TypeError:
            raise TypeError(
                f"the tokens of {owner} must be hashable; object {i} holds a "
                f"{type(token).__name__}. Use tuples instead of lists, frozensets instead of sets."
            ) from None
