"""Results with a type: ``Engine.prepare(…, result_type=…)``."""

import dataclasses
import enum
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType, Optional, TypedDict, Union

import pytest

import solon


def typed(result_type, term, decimal=False):
    engine = solon.Engine(offline=True, decimal=decimal)
    engine.set_module("p.rego", f"package p\n\nx := {term}")
    return engine.prepare("p/x", result_type=result_type)()


class Effect(enum.Enum):
    ALLOW = "allow"
    DENY = "deny"


@dataclasses.dataclass(frozen=True)
class Reason:
    code: int
    text: str = ""


@dataclasses.dataclass
class Decision:
    allowed: bool
    reasons: list[Reason]
    effect: Effect = Effect.DENY
    tags: set[str] = dataclasses.field(default_factory=set)
    parent: Optional["Decision"] = None


class User(TypedDict):
    name: str
    age: int


class PartialUser(TypedDict, total=False):
    name: str
    age: int


Id = NewType("Id", str)

ACCEPTED = [
    (bool, "false", False),
    (int, "12", 12),
    (int, "1e3", 1000),
    (int, str(2**80), 2**80),
    (float, "1", 1.0),
    (float, "0.5", 0.5),
    (Decimal, "0.1", Decimal("0.1")),
    (str, '"é"', "é"),
    (Any, '{"a": [1]}', {"a": [1]}),
    (object, "[1]", [1]),
    (type(None), "null", None),
    (Optional[int], "null", None),
    (Optional[int], "1", 1),
    (Union[int, str], '"1"', "1"),
    (int | str, "1", 1),
    (Literal["allow", "deny"], '"deny"', "deny"),
    (Literal[1, True], "true", True),
    (Effect, '"allow"', Effect.ALLOW),
    (Id, '"x"', "x"),
    (Annotated[int, "a count"], "1", 1),
    (list, '[1, "a"]', [1, "a"]),
    (list[int], "[1, 2]", [1, 2]),
    (Sequence[int], "[1]", [1]),
    (tuple[int, ...], "[1, 2]", (1, 2)),
    (tuple[int, str], '[1, "a"]', (1, "a")),
    (set[str], '{"a", "b"}', {"a", "b"}),
    (frozenset[int], "{1}", frozenset({1})),
    (set[tuple[int, ...]], "{[1, 2]}", {(1, 2)}),
    (frozenset[Reason], '{{"code": 1}}', frozenset({Reason(1)})),
    (dict, '{"a": 1}', {"a": 1}),
    (dict[str, int], '{"a": 1}', {"a": 1}),
    (Mapping[str, list[int]], '{"a": [1]}', {"a": [1]}),
    (dict[int, str], '{1: "a"}', {1: "a"}),
    (User, '{"name": "alice", "age": 4, "more": 1}', {"name": "alice", "age": 4}),
    (PartialUser, '{"age": 4}', {"age": 4}),
    (Reason, '{"code": 1, "more": true}', Reason(1)),
    (
        Decision,
        '{"allowed": false, "reasons": [{"code": 1, "text": "a"}], "effect": "allow", "tags": {"t"},'
        ' "parent": {"allowed": true, "reasons": []}}',
        Decision(False, [Reason(1, "a")], Effect.ALLOW, {"t"}, Decision(True, [])),
    ),
]


@pytest.mark.parametrize(("kind", "term", "expected"), ACCEPTED, ids=repr)
def test_results_are_converted(kind, term, expected):
    for decimal in (False, True):
        result = typed(kind, term, decimal)
        assert result == expected and type(result) is type(expected)


REJECTED = [
    (bool, "1", "result: expected a boolean, got a number"),
    (int, "true", "result: expected an integer, got a boolean"),
    (int, "1.5", "result: expected an integer, got a number"),
    (float, '"1"', "result: expected a number, got a string"),
    (float, "1e400", "result: the number is too large for a float"),
    (Decimal, "false", "result: expected a number, got a boolean"),
    (str, "null", "result: expected a string, got null"),
    (type(None), "false", "result: expected null, got a boolean"),
    (Literal["a", "b"], '"c"', "result: expected 'a' or 'b', got a string"),
    (Literal[True], "1", "result: expected True, got a number"),
    (Effect, '"maybe"', "result: expected 'allow' or 'deny', got a string"),
    (list[int], '[1, "a"]', "result[1]: expected an integer, got a string"),
    (list[int], "{1}", "result: expected an array, got a set"),
    (set[int], "[1]", "result: expected a set, got an array"),
    (tuple[int, int], "[1]", "result: expected 2 elements, got 1"),
    (dict[str, int], '{"a": "b"}', "result['a']: expected an integer, got a string"),
    (dict[str, int], "{1: 1}", "result key: expected a string, got a number"),
    (dict[str, int], "[]", "result: expected an object, got an array"),
    (Union[int, str], "null", "result: expected an integer, got null; result: expected a string, got null"),
    (User, '{"name": "alice"}', "result: the key 'age' is missing"),
    (Decision, '{"allowed": true}', "result: the key 'reasons' is missing"),
    (Decision, '{"allowed": 1, "reasons": []}', "result.allowed: expected a boolean, got a number"),
    (
        Decision,
        '{"allowed": true, "reasons": [{"code": "1"}]}',
        "result.reasons[0].code: expected an integer, got a string",
    ),
]


@pytest.mark.parametrize(("kind", "term", "message"), REJECTED, ids=repr)
def test_results_of_another_type_are_errors(kind, term, message):
    with pytest.raises(solon.OutputError) as raised:
        typed(kind, term)
    assert str(raised.value) == message
    assert raised.value.errors == (solon.ErrorDetail("invalid_parameter", message, None, ()),)
    assert isinstance(raised.value, ValueError)


class Plain:
    pass


class Node:
    pass


@pytest.mark.parametrize("kind", [bytes, Plain, complex, list[bytes], dict[str, Plain], Optional[Plain], "Plain"])
def test_types_without_a_conversion_are_rejected_at_once(kind):
    engine = solon.Engine(offline=True)
    with pytest.raises(TypeError, match="results cannot be converted to"):
        engine.prepare("p/x", result_type=kind)


def test_undefined_stays_undefined():
    engine = solon.Engine(offline=True)
    document = engine.prepare("p/x", result_type=bool)
    assert document() is solon.UNDEFINED
    assert document.allow() is False
    assert document.evaluate_many([1, 2]) == [solon.UNDEFINED, solon.UNDEFINED]


def test_errors_of_a_class_are_errors_of_the_result():
    @dataclasses.dataclass
    class Positive:
        n: int

        def __post_init__(self):
            if self.n < 1:
                raise ValueError("n must be positive")

    assert typed(Positive, '{"n": 1}') == Positive(1)
    with pytest.raises(solon.OutputError, match="result: n must be positive") as raised:
        typed(Positive, '{"n": 0}')
    assert isinstance(raised.value.__cause__, ValueError)


def test_large_exponents_are_not_written_out():
    with pytest.raises(solon.OutputError):
        engine = solon.Engine(decimal=True)
        engine.set_module("p.rego", "package p\n\nx := input")
        engine.prepare("p/x", result_type=int)(input_json="1e5000")


def test_each_way_to_evaluate_converts():
    engine = solon.Engine(offline=True)
    engine.set_module("p.rego", 'package p\n\nx := {"code": input}')
    document = engine.prepare("data.p.x", result_type=Reason)
    assert document(1) == document(input_json="1") == Reason(1)
    assert document.evaluate_many([1, 2]) == [Reason(1), Reason(2)]
    assert document.explain(1).result == {"code": 1}
    assert document.explain("a").result == {"code": "a"}
    with pytest.raises(solon.OutputError):
        document.evaluate_many([1, "a"])
    engine.set_module("p.rego", "package p\n\nx := true")
    assert document.allow()


def test_pydantic_models():
    pydantic = pytest.importorskip("pydantic")

    class Person(pydantic.BaseModel):
        name: str
        age: int = pydantic.Field(ge=0)

    class Answer(pydantic.BaseModel):
        people: list[Person]

    assert typed(Person, '{"name": "a", "age": 1}') == Person(name="a", age=1)
    assert typed(Answer, '{"people": [{"name": "a", "age": 1}]}').people[0].name == "a"
    assert typed(list[Person], '[{"name": "a", "age": 1}]') == [Person(name="a", age=1)]
    assert typed(Optional[Person], "null") is None
    with pytest.raises(solon.OutputError, match=r"(?s)result\[0\]: .*greater than or equal to 0") as raised:
        typed(list[Person], '[{"name": "a", "age": -1}]')
    assert isinstance(raised.value.__cause__, pydantic.ValidationError)

    @pydantic.dataclasses.dataclass
    class Point:
        x: int = pydantic.Field(ge=0)

    assert typed(Point, '{"x": 1}') == Point(x=1)
    with pytest.raises(solon.OutputError):
        typed(Point, '{"x": -1}')


def test_nothing_imports_pydantic_or_a_framework():
    program = """
import dataclasses, json, sys
import solon
@dataclasses.dataclass
class A:
    x: int
solon.Engine().prepare("p/x", result_type=list[A])()
print(json.dumps([name for name in ("pydantic", "fastapi", "starlette", "typing_extensions") if name in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_documents_have_a_type_parameter():
    assert "Document[" in str(solon.Document[int])
