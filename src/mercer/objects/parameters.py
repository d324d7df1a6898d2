"""Named parameters of kernels and estimators: declared, checked, set, compared and printed.

A class declares a parameter in its body: its type, its range, its default and a sentence on it,

    C: float = parameter(positive, default=1.0)
    \"\"\"Price of a unit of slack.\"\"\"

Kernels derive from `Parametrised`, estimators carry the decorator `declared`. The protocol is
scikit-learn's: constructor arguments are attributes of the same name, ``get_params`` and
``set_params`` reach into nested kernels through ``__``, and :func:`sklearn.base.clone` rebuilds a
kernel from them. It is written out for kernels, rather than inherited, because a machine copies its
kernel in every fit and scikit-learn's version inspects signatures each time.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

import numpy as np

from .arrays import Array
from .parameter_docs import CompleteDocstring

Class = TypeVar("Class", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])
Check = Callable[[Any, str], Any]

_OF_KERNELS = ("kernel", "gamma", "degree", "coef0")
# Numbers between which a square is a normal number, and so are sums with other squares.
_SMALLEST_ROOT, _LARGEST_ROOT = 1e-150, 1e150
_LONGEST = 300  # characters of a value in an error message
_LARGEST_INTEGER = 2**63 - 1
_MOST_THREADS = 2**31 - 1


def explaining(instead: dict[str, str]) -> Callable[[Method], Method]:
    """Make a method answer a keyword of other libraries with what to use instead."""

    def decorate(method: Method) -> Method:
        @functools.wraps(method)
        def explained(self: Any, *args: Any, **kwargs: Any) -> Any:
            for name in kwargs.keys() & instead.keys():
                raise TypeError(instead[name])
            return method(self, *args, **kwargs)

        return cast(Method, explained)

    return decorate


class ParameterError(ValueError, TypeError):
    """A parameter has the wrong type or lies outside its range.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.machines import ParameterError
    >>> try:
    ...     SVC(C=-1).fit([[0.0], [1.0]], [0, 1])
    ... except ParameterError as error:
    ...     print(error)
    ...
    C must be a number > 0 (inf is allowed); got -1.
    """


@dataclass(frozen=True)
class Parameter:
    """What the body of a class says about one of its parameters, see `parameter`."""

    check: Check | None = None
    default: Any = inspect.Parameter.empty
    kind: str = ""
    annotation: str = ""


def parameter(
    check: Check | None = None, *, default: Any = inspect.Parameter.empty, kind: str = ""
) -> Any:
    """Declare a parameter in the body of a class; a string below is its documentation.

    `check`: function of a value and the name of the parameter that raises `ParameterError` for a
    value outside its range. `kind`: the values that it takes, as the documentation names them,
    where annotation and check do not say it.
    """
    return Parameter(check, default, kind)


def _constructor(cls: type[Parametrised], own: dict[str, Any]) -> Callable[..., None]:
    """Return the constructor of a class that declares parameters; those of its base come first."""
    cls._defaults = defaults = dict(cls._defaults)
    for name in own:
        stated = cls.__dict__.get(name, inspect.Parameter.empty)
        if name in cls.__dict__:
            delattr(cls, name)
        if isinstance(stated, Parameter):
            if stated.check is not None:
                cls._checks = cls._checks | {name: stated.check}
            stated = stated.default
        defaults[name] = stated
    return _written(cls, defaults, own, len(defaults), "self._check_all()")


def _written(
    cls: Any, defaults: dict[str, Any], own: dict[str, Any], n_positional: int, last: str = ""
) -> Callable[..., None]:
    """Return a constructor that sets parameters; all but the first of them are keyword-only."""
    needed = [name for name, value in defaults.items() if value is inspect.Parameter.empty]
    taken = [name if name in needed else f"{name}=defaults[{name!r}]" for name in defaults]
    if n_positional < len(taken):
        taken.insert(n_positional, "*")
    lines = [f"def __init__(self, {', '.join(taken)}):"]
    lines += [f"    self.{name} = {name}" for name in defaults] + [f"    {last}"]
    made: dict[str, Any] = {}
    exec("\n".join(lines), {"defaults": defaults}, made)  # as dataclasses do: no cost in a call
    init = made["__init__"]
    inherited = getattr(cls.__init__, "__annotations__", {})
    init.__annotations__ = {**inherited, **own, "return": None}
    init.__module__, init.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    return init


@dataclass_transform(eq_default=False, field_specifiers=(parameter,))
def declared(cls: Class) -> Class:
    """Give an estimator the constructor of the parameters that its body declares, and its bases'.

    Parameters after ``_: KW_ONLY`` are keyword-only, as in a dataclass; those of a base always are.
    The kernel comes second, as in scikit-learn. A parameter that a base declares keeps its check
    and its documentation where the body states another default alone, ``tol: float = 1e-9``. The
    docstring is completed, see `CompleteDocstring`.
    """
    annotations = inspect.get_annotations(cls).items()
    own = {name: kind for name, kind in annotations if "ClassVar" not in str(kind)}
    n_positional = list(own).index("_") if "_" in own else len(own)
    own.pop("_", None)
    inherited: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= base.__dict__.get("_parameters", {})
    found = dict(inherited)
    for name, annotation in own.items():
        before = inherited.get(name, Parameter())
        stated = cls.__dict__.get(name, inspect.Parameter.empty)
        if not isinstance(stated, Parameter):
            stated = Parameter(default=stated)
        found[name] = replace(
            stated,
            check=stated.check or before.check,
            kind=stated.kind or before.kind or _kind_of(stated.check or before.check, annotation),
            annotation=annotation,
        )
        if stated.default is not inspect.Parameter.empty:
            setattr(cls, name, stated.default)
        elif name in cls.__dict__:
            delattr(cls, name)
    first = [*list(own)[: max(n_positional, 1)], *(name for name in _OF_KERNELS if name in found)]
    order = dict.fromkeys([*first, *own, *inherited])
    defaults = {name: found[name].default for name in order}
    cls._parameters = {name: found[name] for name in order}  # type: ignore[attr-defined]
    cls._checks = {name: p.check for name, p in found.items() if p.check}  # type: ignore[attr-defined]
    types: dict[str, Any] = {name: p.annotation for name, p in found.items()}
    cls.__init__ = _written(cls, defaults, types, n_positional)  # type: ignore[misc]
    if cls.__doc__ is not None:  # python -OO leaves none
        cls.__doc__ = CompleteDocstring(cls.__doc__)  # type: ignore[assignment]
    return cls


def _kind_of(check: Check | None, annotation: str) -> str:
    """Return the values that a parameter takes, as a documentation names them."""
    details = getattr(check, "keywords", {})
    if "check" in details:
        return _kind_of(details["check"], annotation)
    if "choices" in details:
        listed = (f'"{c}"' if isinstance(c, str) else str(c) for c in details["choices"])
        return f"{{{', '.join(listed)}}}"
    bound = f" >= {details['minimum']:g}" if "minimum" in details else _RANGES.get(check, "")
    return " or ".join(part for part in annotation.split(" | ") if part != "None") + bound


def _stated_defaults(cls: type) -> dict[str, Any]:
    """Return the parameters of a written constructor with their defaults."""
    parameters = inspect.signature(cls).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        raise TypeError(
            f"{cls.__name__}.__init__ takes *args or **kwargs; name every parameter, so that it "
            "can be listed, set and cloned."
        )
    return {p.name: p.default for p in parameters}


@dataclass_transform(eq_default=False, field_specifiers=(parameter,))
class Parametrised:
    """An object that is its class and its constructor parameters, nothing else.

    A subclass writes a constructor that sets its parameters and calls `_check_all`, or declares
    them in its body, ``gamma: float = parameter(positive, default=1.0)``, and gets that
    constructor.
    """

    parameter_names: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}
    _checks: ClassVar[dict[str, Check]] = {}
    # What to use instead of a keyword that users of other libraries try, by the keyword.
    _foreign_names: ClassVar[dict[str, str]] = {}
    _unchecked = False  # whether `set_params` has set something since the constructor

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = {
            name: kind
            for name, kind in inspect.get_annotations(cls).items()
            if not name.startswith("_") and "ClassVar" not in str(kind)
        }
        for name, value in cls.__dict__.items():
            if isinstance(value, Parameter) and name not in declared:
                raise TypeError(f"{cls.__name__}: write {name}: float = parameter(...), typed.")
        if declared and "__init__" not in cls.__dict__:
            cls.__init__ = _constructor(cls, declared)  # type: ignore[method-assign]
        else:
            cls._defaults = _stated_defaults(cls)
        if cls._foreign_names and "__init__" in cls.__dict__:
            cls.__init__ = explaining(cls._foreign_names)(cls.__init__)  # type: ignore[method-assign]
        cls.parameter_names = tuple(cls._defaults)

    def _check_all(self) -> None:
        """Reject parameters outside their range: each by its declared check, then together."""
        for name, check in self._checks.items():
            check(getattr(self, name), name)
        self._check()

    def _check(self) -> None:
        """Reject parameters that do not go together; for subclasses."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        `deep`: also those of nested kernels and models, as ``part__name``, and those in a sequence,
        as ``parts__0__name``.
        """
        params: dict[str, Any] = {}
        for name in self.parameter_names:
            value = getattr(self, name)
            params[name] = value
            if not deep:
                continue
            if _has_parameters(value):
                params.update((f"{name}__{key}", v) for key, v in value.get_params().items())
            elif isinstance(value, list | tuple):
                for i, part in enumerate(value):
                    if _has_parameters(part):
                        params[f"{name}__{i}"] = part
                        inner = part.get_params().items()
                        params.update((f"{name}__{i}__{key}", v) for key, v in inner)
        return params

    def _longer_names(self, key: str) -> str:
        """Return a sentence that offers the parameters of nested kernels that end in `key`."""
        names = [repr(name) for name in self.get_params() if name.endswith(f"__{key}")]
        if not names:
            return ""
        return (
            f" Nested kernels have {', '.join(names)}; in an estimator this name comes after "
            f"'kernel__', as in kernel__{names[0][1:-1]}."
        )

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``part__name`` reaches into a nested kernel.

        ``parts__0__name`` reaches into the first kernel of a sequence, ``parts__0`` replaces it.

        The values are looked at when the kernel is used next, as scikit-learn's estimators do:
        parameters that go together may be set one after the other, and a grid search scores an
        impossible combination as NaN instead of ending there. A name that does not exist raises
        ValueError, and then nothing is set.
        """
        own: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if name not in self.parameter_names:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it has "
                    f"{', '.join(self.parameter_names) or 'none'}.{self._longer_names(key)}"
                )
            if rest:
                nested.setdefault(name, {})[rest] = value
            else:
                own[name] = value
        with restored_on_error(self if nested else None):
            if own:
                self._unchecked = True
            for name, value in own.items():
                setattr(self, name, value)
            for name, values in nested.items():
                self._set_inside(name, values)
        return self

    def _set_inside(self, name: str, values: dict[str, Any]) -> None:
        """Set parameters of a nested object."""
        part = getattr(self, name)
        if isinstance(part, list | tuple):
            setattr(self, name, self._with_entries(name, part, values))
            self._unchecked = True
            return
        if not hasattr(part, "set_params"):
            raise ValueError(
                f"the parameter {name!r} of {type(self).__name__} has no parameters itself."
            )
        part.set_params(**values)

    def check_changes(self) -> bool:
        """Check what `set_params` has set, here or inside; return whether it has set anything.

        Constructors check for themselves. What contains a changed part is checked again: whether
        it fits together depends on its parts.
        """
        changed = self._unchecked
        for part in self._nested():
            changed = part.check_changes() or changed
        if changed:
            self._check_all()
        return changed

    def _nested(self) -> Iterator[Parametrised]:
        """Go through the parameters that have parameters themselves."""
        for name in self.parameter_names:
            value = getattr(self, name)
            for part in value if isinstance(value, list | tuple) else [value]:
                if isinstance(part, Parametrised):
                    yield part

    def _with_entries(self, name: str, parts: Any, values: dict[str, Any]) -> Any:
        """Return a sequence of kernels with some replaced, after setting parameters of others."""
        entries = list(parts)
        inner: dict[int, dict[str, Any]] = {}
        for key, value in values.items():
            position, _, rest = key.partition("__")
            if not position.isdecimal() or int(position) >= len(entries):
                raise ValueError(
                    f"the parameter {name!r} of {type(self).__name__} has no entry {position!r}; "
                    f"it has {len(entries)}, counted from 0."
                )
            if rest:
                inner.setdefault(int(position), {})[rest] = value
            else:
                entries[int(position)] = value
        for i, changes in inner.items():
            if not hasattr(entries[i], "set_params"):
                raise ValueError(
                    f"entry {i} of the parameter {name!r} of {type(self).__name__} has no "
                    "parameters itself."
                )
            entries[i].set_params(**changes)
        return type(parts)(entries)

    def replace(self, **changes: Any) -> Self:
        """Return a copy of a checked object with other parameters, without its constructor."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.__dict__.pop("_unchecked", None)
        copy.__dict__.update(changes)
        return copy

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(same(getattr(self, name), getattr(other, name)) for name in self.parameter_names)

    def __hash__(self) -> int:
        # The class alone: equal objects hash alike, and setting a parameter does not lose an
        # object that already lies in a set or a dict.
        return hash(type(self))

    def __repr__(self) -> str:
        """Show the first parameter always, and the others where they differ from the default."""
        shown = [
            f"{name}={printed(getattr(self, name))}"
            for i, name in enumerate(self.parameter_names)
            if i == 0 or not same(getattr(self, name), self._defaults[name])
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


class EstimatorParameters:
    """Parameters of an estimator of scikit-learn, which `set_params` sets all or none of."""

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        # A signature takes long to read, and a search asks for it several times per candidate.
        names: list[str] = super()._get_param_names()  # type: ignore[misc]
        return names

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``kernel__name`` reaches into the kernel.

        A name that does not exist raises ValueError, and then nothing is set.
        """
        with restored_on_error(self):
            super().set_params(**params)  # type: ignore[misc]
        return self

    if TYPE_CHECKING:

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters by name."""


@contextmanager
def restored_on_error(owner: Any) -> Iterator[None]:
    """Give an object with parameters, and those inside it, their state back if a block fails."""
    before: list[tuple[Any, dict[str, Any]]] = []
    if owner is not None:
        inside = [owner, *owner.get_params().values()]
        before = [(part, dict(part.__dict__)) for part in inside if _has_parameters(part)]
    try:
        yield
    except BaseException:
        for part, state in before:
            part.__dict__.clear()
            part.__dict__.update(state)
        raise


def printed(value: object) -> str:
    """Return the printed form of a parameter, with NumPy numbers as plain numbers."""
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, StrEnum):
        value = str(value)
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, list | tuple):
        inside = ", ".join(printed(item) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    elif inspect.isroutine(value) or isinstance(value, type):
        return value.__qualname__.rpartition("<locals>.")[2]
    return repr(value)


def show(value: object) -> str:
    """Return the printed form of a value for an error message, shortened where it is long."""
    try:
        text = printed(value)
    except ValueError:  # more digits than Python prints
        return f"{type(value).__name__} with an integer of thousands of digits"
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]}...{text[-_LONGEST // 2 :]} ({len(text)} characters)"


def is_number(value: Any) -> bool:
    """Return whether `value` is one real number, of Python or of NumPy."""
    return isinstance(value, float | int | Real)


def real(value: Any, name: str, *, minimum: float = -math.inf) -> float:
    """Return `value` as a float if it is a finite real number of at least `minimum`."""
    number = _as_float(value, name)
    if not minimum <= number < math.inf:
        bound = "" if minimum == -math.inf else f" of at least {minimum:g}"
        raise ParameterError(f"{name} must be a finite number{bound}; got {show(value)}.")
    return number


def _as_float(value: Any, name: str) -> float:
    """Return a number as a float, also infinity and NaN; refuse integers beyond its range."""
    if isinstance(value, bool) or not is_number(value):
        raise ParameterError(f"{name} must be a real number; got {show(value)}.")
    try:
        return float(value)
    except OverflowError:
        raise ParameterError(
            f"{name} must lie in the range of floating-point numbers, which end at 1.8e308; got "
            f"{show(value)}."
        ) from None


def positive(value: Any, name: str) -> float:
    """Return `value` as a float if it is a finite real number above 0."""
    number = real(value, name)
    if not number > 0:
        raise ParameterError(f"{name} must be a number > 0; got {show(value)}.")
    return number


def positive_or_infinite(value: Any, name: str) -> float:
    """Return `value` as a float if it is a real number above 0, or infinity."""
    number = _as_float(value, name)
    if not number > 0:
        raise ParameterError(f"{name} must be a number > 0 (inf is allowed); got {show(value)}.")
    return number


def fraction(value: Any, name: str) -> float:
    """Return `value` as a float if it is a number above 0 and at most 1."""
    number = real(value, name)
    if not 0.0 < number <= 1.0:
        raise ParameterError(f"{name} must lie in (0, 1]; got {show(value)}.")
    return number


def open_fraction(value: Any, name: str) -> float:
    """Return `value` as a float if it is a number between 0 and 1."""
    number = real(value, name)
    if not 0.0 < number < 1.0:
        raise ParameterError(f"{name} must lie in (0, 1); got {show(value)}.")
    return number


def share(value: Any, name: str) -> float:
    """Return `value` as a float if it is a number from 0 to 1."""
    number = real(value, name, minimum=0.0)
    if number > 1.0:
        raise ParameterError(f"{name} must be at most 1; got {show(value)}.")
    return number


_RANGES: dict[Check | None, str] = {
    positive: " > 0",
    positive_or_infinite: " > 0",
    fraction: " in (0, 1]",
    open_fraction: " in (0, 1)",
    share: " in [0, 1]",
}


def with_square(value: Any, name: str) -> float:
    """Return `value` as a float if it is 0 or more and its square has all digits of a float64."""
    number = real(value, name, minimum=0.0)
    if number and not _SMALLEST_ROOT <= number <= _LARGEST_ROOT:
        raise ParameterError(
            f"the square of {name} must neither overflow nor underflow, so {name} must lie between "
            f"{_SMALLEST_ROOT:g} and {_LARGEST_ROOT:g}; got {show(value)}. Rescale the data."
        )
    return number


def positive_with_square(value: Any, name: str) -> float:
    """Return `value` as a float if it is above 0 and its square has all digits of a float64."""
    positive(value, name)
    return with_square(value, name)


def probability(value: Any, name: str) -> float:
    """Return `value` as a float if it is a number from 0 to 1."""
    number = real(value, name, minimum=0.0)
    if number > 1:
        raise ParameterError(f"{name} must be a probability, from 0 to 1; got {show(value)}.")
    return number


def truth(value: Any, name: str) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False; got {show(value)}.")
    return bool(value)


def integer(value: Any, name: str, *, minimum: int) -> int:
    """Return `value` as an int if it is an integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int | Integral):
        raise ParameterError(f"{name} must be an integer; got {show(value)}.")
    if value < minimum:
        raise ParameterError(f"{name} must be an integer of at least {minimum}; got {show(value)}.")
    if int(value) > _LARGEST_INTEGER:
        raise ParameterError(f"{name} must be an integer below 2**63; got {show(value)}.")
    return int(value)


def nonnegative_coefficients(values: Any, series: str, unit: str) -> None:
    """Reject coefficients of a series of kernels, by rising `unit`, that are no numbers >= 0."""
    if np.ndim(values) != 1 or len(values) == 0:
        raise ValueError(
            f"coefficients must be a sequence of at least one number, by rising {unit}; got "
            f"{show(values)}."
        )
    for n, value in enumerate(values):
        if real(value, f"the coefficient of {unit} {n}") < 0:
            raise ValueError(
                f"{series} is certain to be positive semidefinite only with coefficients >= 0; got "
                f"{show(value)} for {unit} {n}. Use non-negative coefficients."
            )


def real_from(minimum: float) -> Callable[[Any, str], float]:
    """Return the check of a finite real number of at least `minimum`."""
    return functools.partial(real, minimum=minimum)


def integer_from(minimum: int) -> Callable[[Any, str], int]:
    """Return the check of an integer of at least `minimum`."""
    return functools.partial(integer, minimum=minimum)


def optional(check: Check) -> Check:
    """Return the check of a parameter that may also be None."""
    return functools.partial(_unless_none, check=check)


def _unless_none(value: Any, name: str, check: Check) -> Any:
    return None if value is None else check(value, name)


def one_of(*choices: str | int) -> Callable[[Any, str], None]:
    """Return the check of a parameter that is one of some words or integers."""
    return functools.partial(require_choice, choices=choices)


def require_choice(value: Any, name: str, choices: Collection[str | int]) -> None:
    """Reject a value that is none of some words or integers."""
    if isinstance(value, bool) or not isinstance(value, str | Integral) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ParameterError(f"{name} must be one of {listed}; got {show(value)}.")


def numbers(value: Any, name: str) -> Array:
    """Return a number or several as an array."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"{name} must be a number or a list of numbers; got {show(value)}."
        ) from None


def threads(value: Any, name: str) -> None:
    """Reject a number of threads that is neither None nor an integer other than 0."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | Integral) or value == 0:
        raise ParameterError(f"{name} must be None or an integer other than 0; got {show(value)}.")
    if abs(int(value)) > _MOST_THREADS:
        raise ParameterError(
            f"{name} must lie between -(2**31 - 1) and 2**31 - 1; got {show(value)}. Use -1 for "
            "all cores."
        )


def verbosity(value: Any, name: str) -> None:
    """Reject anything but a flag or an integer of at least 0."""
    if not isinstance(value, int | np.bool_ | Integral) or value < 0:
        raise ParameterError(f"{name} must be a flag or an integer >= 0; got {show(value)}.")


_SEEDS = (
    np.random.RandomState,
    np.random.Generator,
    np.random.BitGenerator,
    np.random.SeedSequence,
    type(np.random),
    list,
    tuple,
    np.ndarray,
)


def seed(value: Any, name: str) -> None:
    """Reject what draws no random numbers."""
    if value is None or isinstance(value, _SEEDS):
        return
    if not isinstance(value, int | Integral) or value < 0:
        raise ParameterError(
            f"{name} must be None, an integer >= 0 or a random generator; got {show(value)}."
        )


def _has_parameters(value: Any) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def same(a: object, b: object) -> bool:
    """Return whether two parameter values are equal, arrays entry by entry."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and np.array_equal(a, b)  # type: ignore[arg-type]
    try:
        return bool(a == b)
    except ValueError:  # parts of a user's object are arrays, which have no one answer
        return False
