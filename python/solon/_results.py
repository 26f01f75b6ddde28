"""Conversion of results to the type of ``Engine.prepare(…, result_type=…)``."""

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence, Set
from decimal import Decimal
from typing import Any, Union

from solon._errors import ErrorDetail, OutputError

#: Converts a value; the text is its location in the result, for messages.
_Convert = Callable[[Any, str], Any]


class _Mismatch(Exception):
    """A value does not have the expected type."""


def converter(result_type: Any) -> Callable[[Any], Any]:
    """Returns a function that converts results to ``result_type``, or raises ``OutputError``.

    Raises ``TypeError`` if results cannot be converted to the type.
    """
    convert = _Converters().of(result_type)

    def typed(value: Any) -> Any:
        try:
            return convert(value, "result")
        except _Mismatch as mismatch:
            raise _error(str(mismatch)) from mismatch.__cause__

    return typed


def _error(message: str) -> OutputError:
    return OutputError(message, (ErrorDetail("invalid_parameter", message, None, ()),))


def _mismatch(expected: str, value: Any, at: str) -> _Mismatch:
    return _Mismatch(f"{at}: expected {expected}, got {_kind(value)}")


def _kind(value: Any) -> str:
    """Returns the name of a value's type in Rego."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float, Decimal)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, Set):
        return "a set"
    if isinstance(value, Mapping):
        return "an object"
    return "an array"


def _any(value: Any, at: str) -> Any:
    return value


def _null(value: Any, at: str) -> Any:
    if value is not None:
        raise _mismatch("null", value, at)
    return None


def _boolean(value: Any, at: str) -> Any:
    if not isinstance(value, bool):
        raise _mismatch("a boolean", value, at)
    return value


def _string(value: Any, at: str) -> Any:
    if not isinstance(value, str):
        raise _mismatch("a string", value, at)
    return value


def _integer(value: Any, at: str) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    # `1.0` is an integer, too; the digits of a large exponent could exceed the memory
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Decimal) and value.adjusted() < 4300 and value == value.to_integral_value():
        return int(value)
    raise _mismatch("an integer", value, at)


def _number(value: Any, at: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise _mismatch("a number", value, at)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise _Mismatch(f"{at}: the number is too large for a float")
    return number


def _decimal(value: Any, at: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise _mismatch("a number", value, at)
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


_PLAIN: dict[Any, _Convert] = {
    Any: _any,
    object: _any,
    None: _null,
    type(None): _null,
    bool: _boolean,
    str: _string,
    int: _integer,
    float: _number,
    Decimal: _decimal,
}


def _array(value: Any, at: str) -> Any:
    # arrays within sets and keys are tuples
    if not isinstance(value, (list, tuple)):
        raise _mismatch("an array", value, at)
    return value


def _set(value: Any, at: str) -> Any:
    if not isinstance(value, Set):
        raise _mismatch("a set", value, at)
    return value


def _object(value: Any, at: str) -> Any:
    if not isinstance(value, Mapping):
        raise _mismatch("an object", value, at)
    return value


class _Converters:
    """Builds converters. Types may refer to themselves, so converters of classes are built once."""

    def __init__(self) -> None:
        self._classes: dict[Any, _Convert] = {}

    def of(self, kind: Any) -> _Convert:
        try:
            if kind in _PLAIN:
                return _PLAIN[kind]
        except TypeError:
            pass
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        # of `typing` or of `typing_extensions`, whose objects differ in old versions of Python
        if getattr(origin, "_name", None) in ("Required", "NotRequired", "ReadOnly"):
            return self.of(inner[0])
        if origin is typing.Annotated:
            return self.of(inner[0])
        if origin in (Union, types.UnionType):
            return self._union([self.of(one) for one in inner])
        if origin is typing.Literal:
            return _one_of(inner)
        if isinstance(kind, typing.NewType):
            return self.of(kind.__supertype__)
        if hasattr(kind, "__pydantic_validator__") and hasattr(kind, "model_validate"):
            return _pydantic(kind.model_validate)
        collection = origin or kind
        if isinstance(collection, type):
            if _is_typed_dict(collection) or dataclasses.is_dataclass(collection):
                return self._class(collection)
            if issubclass(collection, enum.Enum):
                return _enum(collection)
            found = self._collection(collection, inner)
            if found is not None:
                return found
        raise TypeError(f"results cannot be converted to {kind!r}")

    def _union(self, choices: list[_Convert]) -> _Convert:
        def union(value: Any, at: str) -> Any:
            problems = []
            for choice in choices:
                try:
                    return choice(value, at)
                except _Mismatch as mismatch:
                    problems.append(str(mismatch))
            raise _Mismatch("; ".join(problems))

        return union

    def _collection(self, collection: type, inner: tuple[Any, ...]) -> Union[_Convert, None]:
        if collection is tuple and inner and inner[-1] is not ...:
            return self._tuple([self.of(one) for one in inner])
        first = self.of(inner[0]) if inner else _any
        if collection is tuple:
            return lambda value, at: tuple(_items(first, _array(value, at), at))
        if collection is list or collection is Sequence:
            return lambda value, at: _items(first, _array(value, at), at)
        if collection in (set, frozenset, Set):
            return _members(set if collection is set else frozenset, first)
        if collection is dict or collection is Mapping:
            second = self.of(inner[1]) if inner else _any
            return lambda value, at: {
                first(key, f"{at} key"): second(one, f"{at}[{key!r}]")
                for key, one in _object(value, at).items()
            }
        return None

    def _tuple(self, parts: list[_Convert]) -> _Convert:
        def fixed(value: Any, at: str) -> Any:
            if len(_array(value, at)) != len(parts):
                raise _Mismatch(f"{at}: expected {len(parts)} elements, got {len(value)}")
            return tuple(
                part(one, f"{at}[{index}]") for index, (part, one) in enumerate(zip(parts, value))
            )

        return fixed

    def _class(self, kind: type) -> _Convert:
        if kind not in self._classes:
            # a field may have the same type
            self._classes[kind] = lambda value, at: built(value, at)
            built = self._typed_dict(kind) if _is_typed_dict(kind) else self._dataclass(kind)
        return self._classes[kind]

    def _typed_dict(self, kind: Any) -> _Convert:
        fields = {name: self.of(one) for name, one in _hints(kind).items()}
        required = kind.__required_keys__

        def typed_dict(value: Any, at: str) -> Any:
            return _fields(fields, required, value, at)

        return typed_dict

    def _dataclass(self, kind: Any) -> _Convert:
        hints = _hints(kind)
        given = [one for one in dataclasses.fields(kind) if one.init]
        fields = {one.name: self.of(hints[one.name]) for one in given}
        missing = dataclasses.MISSING
        required = {
            one.name for one in given if one.default is missing and one.default_factory is missing
        }

        def dataclass(value: Any, at: str) -> Any:
            arguments = _fields(fields, required, value, at)
            try:
                return kind(**arguments)
            except (TypeError, ValueError) as error:
                # raised by `__post_init__`
                raise _Mismatch(f"{at}: {error}") from error

        return dataclass


def _is_typed_dict(kind: Any) -> bool:
    # `typing.is_typeddict` does not know the classes of `typing_extensions`
    return issubclass(kind, dict) and hasattr(kind, "__required_keys__")


def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _items(convert: _Convert, values: Any, at: str) -> list[Any]:
    return [convert(one, f"{at}[{index}]") for index, one in enumerate(values)]


def _members(collection: Callable[[Any], Any], convert: _Convert) -> _Convert:
    def members(value: Any, at: str) -> Any:
        converted = [convert(one, f"{at} member") for one in _set(value, at)]
        try:
            return collection(converted)
        except TypeError as error:
            raise _Mismatch(f"{at}: {error}") from error

    return members


def _fields(fields: Mapping[str, _Convert], required: Any, value: Any, at: str) -> dict[str, Any]:
    """Converts the declared fields of an object. Other keys are ignored."""
    given = _object(value, at)
    converted = {}
    for name, convert in fields.items():
        if name in given:
            converted[name] = convert(given[name], f"{at}.{name}")
        elif name in required:
            raise _Mismatch(f"{at}: the key {name!r} is missing")
    return converted


def _one_of(choices: tuple[Any, ...]) -> _Convert:
    def literal(value: Any, at: str) -> Any:
        for choice in choices:
            # `1` and `True` are equal in Python, and differ in Rego
            if choice == value and isinstance(choice, bool) == isinstance(value, bool):
                return choice
        raise _mismatch(" or ".join(map(repr, choices)), value, at)

    return literal


def _enum(kind: Any) -> _Convert:
    choices = tuple(one.value for one in kind)
    literal = _one_of(choices)
    return lambda value, at: kind(literal(value, at))


def _pydantic(validate: Callable[[Any], Any]) -> _Convert:
    def model(value: Any, at: str) -> Any:
        try:
            return validate(value)
        # pydantic's `ValidationError`, which is a `ValueError`
        except ValueError as error:
            raise _Mismatch(f"{at}: {error}") from error

    return model
