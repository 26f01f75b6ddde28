"""Modules, data, decisions, and their errors."""

import copy
import pickle
import threading
import time

import pytest
from waiting import HANG, wait_until, works

import solon

POLICY = """
package authz

default allow := false

allow if input.user in data.admins

echo := input

given if input == null

nothing if false

clash := input.a[_]
"""


@pytest.fixture
def engine():
    engine = solon.Engine()
    engine.set_module("authz.rego", POLICY)
    engine.set_data({"admins": ["alice", "bob"]})
    return engine


def test_decisions(engine):
    assert engine.evaluate("authz/allow", {"user": "alice"}) is True
    assert engine.evaluate("/authz/allow", {"user": "mallory"}) is False
    assert engine.evaluate("admins/1") == "bob"
    engine.set_data({"admins": []})
    assert engine.evaluate(path="authz/allow", input={"user": "alice"}) is False


def test_modules_that_call_each_other():
    engine = solon.Engine()
    with engine.change() as change:
        change.set_module("a.rego", "package a\np := data.b.f(1)\ng(x) := x + 1")
        change.set_module("b.rego", "package b\nf(x) := data.a.g(x) * 2")
    assert engine.evaluate("a/p") == 4


def test_undefined_is_not_null(engine):
    assert engine.evaluate("authz/nothing", {}) is solon.UNDEFINED
    assert engine.evaluate("authz/echo") is solon.UNDEFINED
    assert engine.evaluate("authz/echo", solon.UNDEFINED) is solon.UNDEFINED
    assert engine.evaluate("authz/echo", None) is None
    assert engine.evaluate("authz/given", None) is True
    assert not solon.UNDEFINED
    assert repr(solon.UNDEFINED) == "solon.UNDEFINED"
    assert copy.deepcopy(solon.UNDEFINED) is solon.UNDEFINED
    assert pickle.loads(pickle.dumps(solon.UNDEFINED)) is solon.UNDEFINED
    with pytest.raises(TypeError):
        type(solon.UNDEFINED)()


def test_compile_errors(engine):
    with pytest.raises(solon.CompileError) as caught:
        engine.set_module("bad.rego", "package bad\n\nx := y\n\nz := w")
    error = caught.value
    assert error.code == "rego_unsafe_var_error"
    assert error.message == "var y is unsafe"
    assert error.location == ("bad.rego", 3, 6)
    assert error.location.row == 3
    assert [entry.message for entry in error.errors] == ["var y is unsafe", "var w is unsafe"]
    assert "bad.rego:3: rego_unsafe_var_error: var y is unsafe" in str(error)
    # nothing has changed
    assert engine.evaluate("bad/x") is solon.UNDEFINED
    assert engine.evaluate("authz/allow", {}) is False


def test_other_errors(engine):
    with pytest.raises(solon.EvalError) as caught:
        engine.evaluate("authz/clash", {"a": [1, 2]})
    assert caught.value.code == "eval_conflict_error"
    with pytest.raises(solon.StoreError):
        engine.set_data({"authz": {"allow": True}})
    with pytest.raises(solon.StoreError):
        engine.set_data([])
    with pytest.raises(TypeError):
        engine.evaluate(1)


def test_errors_about_names_and_text():
    engine = solon.Engine()
    for absent in [
        lambda: engine.prepare("data.authz.alow", must_exist=True),
        lambda: engine.remove_module("none.rego"),
        lambda: engine.module_tree("none.rego"),
    ]:
        with pytest.raises(solon.NotFoundError) as caught:
            absent()
        assert caught.value.code == "resource_not_found"
        assert str(caught.value) == caught.value.message
    with pytest.raises(solon.OptionsError):
        engine.query("")
    for text in [b"", "", "  "]:
        with pytest.raises(solon.InputError, match="the input is empty: expected JSON text"):
            engine.evaluate("p/x", input_json=text)
    for use in [
        lambda text: engine.evaluate("p/x", input_json=text),
        lambda text: engine.set_data_json(text),
    ]:
        with pytest.raises(solon.InputError) as caught:
            use('{"a": 1,\n "b": nope}')
        assert caught.value.location == ("", 2, 8)


def test_a_document_has_several_names():
    engine = solon.Engine()
    engine.put("data.a.b", 1)
    for name in ["data.a.b", 'data["a"].b', "a/b", "/a/b", "a//b/"]:
        assert engine.get(name) == 1
        assert engine.snapshot().get(name) == 1
        assert engine.evaluate(name) == 1
        assert engine.prepare(name)() == 1
        assert engine.prepare(name).path == "a/b"
    # a key may look like a reference
    engine.put("/data.x", 2)
    engine.put("data/y", 3)
    assert engine.get("data") == engine.get("") == {"a": {"b": 1}, "data.x": 2, "data": {"y": 3}}
    assert engine.get('data["data.x"]') == engine.evaluate("/data.x") == 2
    assert engine.get("/data") == {"y": 3}
    with engine.change() as change:
        change.put("data.a.c", 4)
        change.put_json("data.a.d", "5")
        change.delete("data.a.b")
    assert engine.get("a") == {"c": 4, "d": 5}
    engine.delete("data.a")
    with pytest.raises(solon.StoreError):
        engine.get("data.a")
    for name in ["data.a/b", "data.a-b", "data.a[x]", "data.", "a.b", "input.a"]:
        for use in [
            lambda name: engine.get(name),
            lambda name: engine.snapshot().get(name),
            lambda name: engine.put(name, 1),
            lambda name: engine.delete(name),
            lambda name: engine.change().put(name, 1),
            lambda name: engine.change().put_json(name, "1"),
            lambda name: engine.change().delete(name),
            lambda name: engine.prepare(name),
            lambda name: engine.evaluate(name),
            lambda name: engine.filters(name, "sql+sqlite"),
        ]:
            with pytest.raises(solon.OptionsError, match="such as `authz/allow` or `/authz/allow`"):
                use(name)


def test_errors_are_one_family_and_travel(engine):
    with pytest.raises(solon.SolonError) as caught:
        engine.set_module("bad.rego", "package")
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is solon.CompileError
    assert error.errors == caught.value.errors
    assert str(error) == str(caught.value)


def test_strict():
    module = "package p\nx if { y := 1 }"
    solon.Engine().set_module("p.rego", module)
    with pytest.raises(solon.CompileError):
        solon.Engine(strict=True).set_module("p.rego", module)


def test_time_is_the_system_s(engine):
    engine.set_module("clock.rego", "package clock\nnow := time.now_ns()")
    before = time.time_ns()
    assert before <= engine.evaluate("clock/now") <= time.time_ns()


def test_the_interpreter_runs_while_policies_do():
    engine = solon.Engine()
    # takes minutes unless it is cancelled, which requires that the interpreter runs meanwhile
    engine.set_module(
        "p.rego",
        "package p\nn := count([1 | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i == -j])",
    )
    cancel = solon.Cancel()
    ended = []

    def ask():
        try:
            engine.prepare("p/n")(cancel=cancel)
        except solon.EvalError as error:
            ended.append(error)

    thread = threading.Thread(target=ask)
    runs = works()
    thread.start()
    wait_until(runs)
    cancel.cancel()
    thread.join(HANG)
    assert not thread.is_alive()
    assert [error.code for error in ended] == ["eval_cancel_error"]


def test_threads_see_one_snapshot():
    engine = solon.Engine()
    engine.set_module("p.rego", "package p\nsame if data.left == data.right")
    engine.set_data({"left": 0, "right": 0})
    answers = []

    def ask():
        answers.append(all(engine.evaluate("p/same") is True for _ in range(500)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(100):
        engine.set_data({"left": i, "right": i})
    for thread in threads:
        thread.join()
    assert answers == [True] * 4


def test_exceptions_derive_from_built_in_ones():
    for kind, base in [
        (solon.CompileError, ValueError),
        (solon.InputError, ValueError),
        (solon.OutputError, ValueError),
        (solon.StoreError, LookupError),
        (solon.NotFoundError, KeyError),
        (solon.OptionsError, ValueError),
        (solon.InternalError, RuntimeError),
    ]:
        assert issubclass(kind, solon.SolonError) and issubclass(kind, base)
    with pytest.raises(ValueError, match="var nowhere is unsafe"):
        solon.Engine().set_module("c.rego", "package c\n\nanswer := nowhere")
