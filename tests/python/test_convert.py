"""Conversions of Python objects to values and back."""

from collections import OrderedDict
from decimal import Decimal
from types import MappingProxyType

import pytest

import solon


def engine_with(rule, **options):
    engine = solon.Engine(**options)
    engine.set_module("p.rego", f"package p\n{rule}")
    return engine


@pytest.fixture(scope="module")
def echo():
    engine = engine_with("echo := input")
    return lambda value: engine.evaluate("p/echo", value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1,
        2**63 - 1,
        -(2**63),
        2**63,
        -(10**400),
        7**2000,
        10**5000 + 1,
        0.5,
        -0.1,
        1.0,
        1e300,
        5e-324,
        2.0**53 + 2,
        123456789012345680.0,
        "",
        "short",
        "a text that is longer than what is held in place",
        "Grüße 🙂 \x00",
        [],
        [1, [2, [3]]],
        {},
        {"a": {"b": [None]}},
        {1: "one", None: "none", ("a", 1): "pair"},
        set(),
        {1, "a", None, ("b", 2), frozenset({3})},
        [{1, 2}, {"k": {3}}],
    ],
    ids=lambda value: repr(value)[:30] if not isinstance(value, int) else f"{value.bit_length()} bits",
)
def test_round_trip(echo, value):
    result = echo(value)
    assert result == value
    assert type(result) is type(value)


def test_other_types_have_a_value(echo):
    assert echo((1, 2)) == [1, 2]
    assert echo(frozenset({1})) == {1}
    assert echo(OrderedDict(a=1)) == {"a": 1}
    assert echo(MappingProxyType({"a": 1})) == {"a": 1}
    assert echo(Decimal("0.25")) == 0.25
    assert type(echo(Decimal("7"))) is int

    class Text(str):
        pass

    assert type(echo(Text("a"))) is str


def test_hashable_forms():
    engine = engine_with('x := {{"a": [1, {2}]}, [{"b": 1}]}\ny := {{"k": 1}: "v"}')
    result = engine.evaluate("p/x")
    assert result == {
        solon.FrozenDict({"a": (1, frozenset({2}))}),
        (solon.FrozenDict({"b": 1}),),
    }
    assert engine.evaluate("p/y") == {solon.FrozenDict({"k": 1}): "v"}
    frozen = solon.FrozenDict({"k": 1})
    assert frozen == {"k": 1} and {"k": 1} == frozen
    assert engine_with("z := input").evaluate("p/z", [{frozen}]) == [{frozen}]


def test_fractions():
    rule = "x := [1/3, 0.1 + 0.2, 1.10, 1e400, 1e-400, 0e-400, 1e2]"
    floats = engine_with(rule).evaluate("p/x")
    assert floats[:3] == [1 / 3, 0.3, 1.1]
    # no float is close to it
    assert floats[3:5] == [Decimal("1e400"), Decimal("1e-400")]
    assert floats[5:] == [0.0, 100.0]
    decimals = engine_with(rule, decimal=True).evaluate("p/x")
    assert all(type(number) is Decimal for number in decimals)
    assert str(decimals[0]) == "0.33333333333333333333"[:-1] + "4"
    assert str(decimals[2]) == "1.10"


@pytest.mark.parametrize(
    "value, message",
    [
        (b"raw", "bytes cannot be converted to a Rego value; decode them to str first"),
        (float("nan"), "nan cannot be converted to a Rego number"),
        (float("-inf"), "-inf cannot be converted to a Rego number"),
        (Decimal("Infinity"), "Decimal('Infinity') cannot be converted to a Rego number"),
        ("\ud800", "a str with a lone surrogate cannot be converted to a Rego value"),
        (object(), "an object of type `object` cannot be converted to a Rego value"),
        (1 << 2_000_000, "an int of 2000001 bits is too large"),
        ({"a": [1, {"b": b""}]}, "at /a/1/b: bytes cannot be converted to a Rego value; decode them to str first"),
        ([solon.UNDEFINED], "at /0: an object of type `solon.UndefinedType` cannot be converted to a Rego value"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isascii() else "",
)
def test_refused(echo, value, message):
    with pytest.raises(solon.InputError) as caught:
        echo(value)
    assert caught.value.message == message
    assert caught.value.code == "invalid_parameter"


def test_nesting_is_bounded(echo):
    cycle = []
    cycle.append(cycle)
    with pytest.raises(solon.InputError, match="nested deeper than 400 levels"):
        echo(cycle)
    deep = []
    for _ in range(399):
        deep = [deep]
    assert echo(deep) == deep


def test_what_python_cannot_tell_apart_is_refused():
    engine = engine_with("x := {1, true}\ny := {1: 0, true: 0}")
    with pytest.raises(solon.OutputError, match="members of a set are equal in Python"):
        engine.evaluate("p/x")
    with pytest.raises(solon.OutputError, match="keys of an object are equal in Python"):
        engine.evaluate("p/y")


def test_data_converts_alike():
    engine = engine_with("x := data.n + 1")
    engine.set_data({"n": 2**70, "tags": {"a"}})
    assert engine.evaluate("p/x") == 2**70 + 1
    assert engine.evaluate("tags") == {"a"}
