"""Declarations of Python functions that policies call."""

import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence, Set
from decimal import Decimal
from typing import Any, Optional, Union

_NAMED = {
    "any": {"type": "any"},
    "array": {"type": "array", "dynamic": {"type": "any"}},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "number": {"type": "number"},
    "object": {
        "type": "object",
        "dynamic": {"key": {"type": "any"}, "value": {"type": "any"}},
    },
    "set": {"type": "set", "of": {"type": "any"}},
    "string": {"type": "string"},
}

_PLAIN: dict[Any, str] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    Decimal: "number",
    None: "null",
    type(None): "null",
    list: "array",
    tuple: "array",
    dict: "object",
    set: "set",
    frozenset: "set",
    Any: "any",
    object: "any",
    inspect.Parameter.empty: "any",
}


def declared(kind: Any) -> Any:
    """Returns the declaration of a type: a name, an annotation, or JSON of capabilities."""
    if isinstance(kind, str):
        if kind in _NAMED:
            return _NAMED[kind]
        raise ValueError(f"no type of Rego is called {kind!r}; there are {', '.join(_NAMED)}")
    if isinstance(kind, Mapping):
        return dict(kind)
    try:
        if kind in _PLAIN:
            return _NAMED[_PLAIN[kind]]
    except TypeError:
        pass
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return {"type": "any", "of": [declared(one) for one in inner]}
    if origin is typing.Annotated:
        return declared(inner[0])
    if isinstance(origin, type):
        if issubclass(origin, tuple):
            if len(inner) == 2 and inner[1] is ...:
                return {"type": "array", "dynamic": declared(inner[0])}
            return {"type": "array", "static": [declared(one) for one in inner]}
        if issubclass(origin, Set):
            return {"type": "set", "of": declared(inner[0])}
        if issubclass(origin, Mapping):
            key, value = (declared(one) for one in inner)
            return {"type": "object", "dynamic": {"key": key, "value": value}}
        if issubclass(origin, Sequence):
            return {"type": "array", "dynamic": declared(inner[0])}
    # other classes: policies receive the converted value, which may have any type
    return _NAMED["any"]


def declaration(
    call: Callable[..., Any],
    args: Optional[Sequence[Any]],
    result: Any,
) -> str:
    """Returns the declaration of a function: from its annotations, unless ``args`` or ``result`` override them."""
    hints = typing.get_type_hints(call, include_extras=True) if args is None or result is None else {}
    if args is None:
        args = []
        for one in inspect.signature(call).parameters.values():
            if one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
                raise ValueError(f"policies give no argument like `{one}`; say args=")
            args.append(hints.get(one.name, Any))
    if result is None:
        result = hints.get("return", Any)
    return json.dumps(
        {"type": "function", "args": [declared(one) for one in args], "result": declared(result)}
    )


def function(
    engine: Any,
    name: Union[str, Callable[..., Any], None],
    args: Optional[Sequence[Any]],
    result: Any,
    pure: bool,
    waits: bool,
) -> Any:
    """Implements ``Engine.function``: registers a function, or returns a decorator that does."""

    def add(call: Callable[..., Any]) -> Callable[..., Any]:
        own = name if isinstance(name, str) else call.__name__
        engine._add_function(own, declaration(call, args, result), call, pure, waits)
        return call

    return add(name) if callable(name) else add
