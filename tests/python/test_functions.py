"""Python functions that policies call."""

import sys
import threading
from decimal import Decimal
from typing import Any, Optional

import pytest

import solon


def engine_of(text, *functions, **options):
    engine = solon.Engine(offline=True, **options)
    for add in functions:
        add(engine)
    engine.set_module("p.rego", "package p\n\n" + text)
    return engine


def test_functions_are_called_by_their_own_names_and_by_others():
    engine = solon.Engine(offline=True)

    @engine.function
    def greet(name: str) -> str:
        return f"hello {name}"

    @engine.function("acme.users.lookup", pure=False)
    def lookup(name: str, fields: list[str]) -> dict[str, Any]:
        return {field: [name, field] for field in fields}

    engine.set_module("p.rego", 'package p\n\na := greet(input.x)\n\nb := acme.users.lookup("x", ["y"])')
    assert engine.evaluate("p/a", {"x": "alice"}) == "hello alice"
    assert engine.evaluate("p/b") == {"y": ["x", "y"]}
    assert greet("bob") == "hello bob"
    with pytest.raises(ValueError, match="before the engine is used"):
        engine.function(greet)


@pytest.mark.parametrize(
    "name, reason",
    [
        ("count", "is that of a built-in function"),
        ("http.send", "is that of a built-in function"),
        ("data.f", "begins with the document `data`"),
        ("input", "begins with the document `input`"),
        ("a b", "cannot be called"),
        ("if", "cannot be called"),
        ("1a", "cannot be called"),
        ("x.y-z", "cannot be called"),
        ("", "cannot be called"),
    ],
)
def test_names_that_policies_cannot_call_are_rejected(name, reason):
    engine = solon.Engine(offline=True)
    with pytest.raises(solon.OptionsError, match=reason):
        engine.function(name)(lambda: 1)
    # the engine can be used, and built-ins are as before
    assert engine.evaluate("none") is solon.UNDEFINED
    assert engine.query("x := count([1])")() == [{"x": 1}]


def test_a_name_is_given_to_one_function():
    engine = solon.Engine(offline=True)
    engine.function("acme.one")(lambda: 1)
    with pytest.raises(solon.OptionsError, match="there is a function `acme.one` already"):
        engine.function("acme.one")(lambda: 2)
    engine.function("acme.two")(lambda: 2)
    assert engine.query("x := acme.one() + acme.two()")() == [{"x": 3}]


def test_arguments_from_the_input_are_of_any_kind():
    def add(engine):
        @engine.function
        def twice(x: int) -> int:
            return x * 2

    assert engine_of("a := twice(input.x)", add).evaluate("p/a", {"x": "ab"}) == "abab"


def test_annotations_are_checked_by_the_compiler():
    def add(engine):
        @engine.function
        def twice(x: int) -> int:
            return 2 * x

    with pytest.raises(solon.CompileError) as raised:
        engine_of('a := twice("x")', add)
    assert raised.value.code == "rego_type_error"
    with pytest.raises(solon.CompileError):
        engine_of("a := startswith(twice(1), \"x\")", add)
    with pytest.raises(solon.CompileError):
        engine_of("a := twice(1, 2, 3)", add)
    assert engine_of("a := twice(input.x)", add).evaluate("p/a", {"x": 21}) == 42


def test_types_are_declared_in_words_and_as_json():
    engine = solon.Engine(offline=True)
    number = {"type": "number"}
    engine.function("a", args=["string", number], result="set")(lambda x, y: {x, y})
    engine.function("b", args=[Optional[int], tuple[int, ...], frozenset[str]], result=Any)(
        lambda x, y, z: [x, y, z]
    )
    engine.set_module("p.rego", 'package p\n\nr := [a("x", 1), b(null, [1, 2], {"x"})]')
    assert engine.evaluate("p/r") == [{"x", 1}, [None, [1, 2], {"x"}]]
    other = solon.Engine()
    with pytest.raises(ValueError, match="no type of Rego"):
        other.function("a", args=["text"])(len)
    with pytest.raises(ValueError, match="say args="):
        other.function(lambda *x: x)
    with pytest.raises(ValueError):
        other.function("a", args=[{"type": "nothing"}], result="any")(len)


def test_what_functions_raise_is_an_error_of_a_builtin():
    def add(engine):
        @engine.function(waits=True)
        def check(x: Any) -> Any:
            if x == "raise":
                raise LookupError("no such user")
            if x == "undefined":
                return solon.UNDEFINED
            if x == "object":
                return object()
            return x

    engine = engine_of('a := check(input.x)\n\nb := "else" if not check(input.x)', add)
    ask, other = engine.prepare("p/a"), engine.prepare("p/b")
    assert ask({"x": 1}) == 1
    for x in ["raise", "undefined", "object"]:
        assert ask({"x": x}) is solon.UNDEFINED
        assert other({"x": x}) == "else"
    with pytest.raises(solon.EvalError, match="LookupError: no such user") as raised:
        ask({"x": "raise"}, strict_builtin_errors=True)
    assert raised.value.location.file == "p.rego"
    assert ask.may_block


def test_what_ends_a_program_ends_an_evaluation():
    def add(engine):
        @engine.function
        def leave(x: int) -> int:
            raise SystemExit(x)

    ask = engine_of("a := leave(3)", add).prepare("p/a")
    with pytest.raises(SystemExit) as raised:
        ask()
    assert raised.value.code == 3
    with pytest.raises(SystemExit):
        ask.evaluate_many([{}])


def test_functions_may_ask_and_change_their_engine():
    engine = solon.Engine(offline=True)

    @engine.function(pure=False)
    def inner(x: int) -> Any:
        engine.put(f"seen/{x}", True)
        return engine.evaluate("p/leaf", {"x": x})

    engine.set_module("p.rego", "package p\n\nleaf := input.x * 2\n\na := [inner(1), inner(2)]")
    ask = engine.prepare("p/a")
    assert ask() == [2, 4]
    assert engine.get("seen") == {"1": True, "2": True}
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_values_keep_their_digits():
    engine = solon.Engine(offline=True, decimal=True)

    @engine.function
    def half(x: Decimal) -> Decimal:
        assert isinstance(x, (int, Decimal))
        return Decimal(x) / 2

    engine.set_module("p.rego", "package p\n\na := half(0.1)")
    assert engine.evaluate("p/a") == Decimal("0.05")


def test_functions_are_called_from_deep_evaluations():
    """Deep evaluations switch to another stack, on which the interpreter must not run."""
    engine = solon.Engine(offline=True)
    depths = []

    @engine.function(pure=False)
    def leaf(x: int) -> int:
        depths.append(x)

        def down(n):
            return n if n == 0 else down(n - 1)

        return down(min(200, sys.getrecursionlimit() // 4)) + x

    rules = [f"r{n} := [x | x := r{n + 1}][0] + leaf({n})" for n in range(400)]
    engine.set_module("p.rego", "package p\n\n" + "\n\n".join(rules) + "\n\nr400 := 0")
    ask = engine.prepare("p/r0")
    answers = []

    def run():
        answers.append(ask())

    before = threading.stack_size(256 * 1024)
    try:
        small = threading.Thread(target=run)
        small.start()
        small.join()
    finally:
        threading.stack_size(before)
    run()
    assert answers == [sum(range(400))] * 2
    assert len(depths) == 800
