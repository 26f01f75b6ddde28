"""Prepared documents and queries, atomic changes, options."""

import json
import threading

import pytest

import solon

POLICY = """
package authz

default allow := false

allow if input.user in data.admins

role contains r if some r in data.roles[input.user]
"""


@pytest.fixture
def engine():
    engine = solon.Engine(offline=True)
    engine.set_module("authz.rego", POLICY)
    engine.set_data({"admins": ["alice"], "roles": {"alice": ["dev", "ops"]}})
    return engine


def test_documents_are_prepared_by_path_and_by_reference(engine):
    for name in ["authz/allow", "/authz/allow", "data.authz.allow", 'data["authz"].allow']:
        allow = engine.prepare(name)
        assert allow.path == "authz/allow"
        assert allow({"user": "alice"}) is True
        assert allow(input_json=b'{"user": "bob"}') is False
        assert allow(input_json='{"user": "alice"}') is True
        assert allow() is False
    assert engine.prepare("data.admins[0]")() == "alice"
    assert repr(allow) == 'solon.Document("authz/allow")'
    with pytest.raises(solon.InputError, match="either input or input_json"):
        allow({}, input_json="{}")
    with pytest.raises(solon.InputError):
        allow(input_json="{")
    with pytest.raises(solon.SolonError, match="no rule and no document"):
        engine.prepare("authz/alow", must_exist=True)
    assert engine.prepare("authz/alow")() is solon.UNDEFINED


def test_many_inputs_are_asked_at_once(engine):
    allow = engine.prepare("authz/allow")
    users = ["alice", "bob"] * 500
    assert allow.evaluate_many({"user": user} for user in users) == [True, False] * 500
    assert allow.evaluate_many([]) == []
    with pytest.raises(solon.InputError):
        allow.evaluate_many([{}, object()])


@pytest.mark.parametrize("watch", [None, "coverage", "profile", "metrics"])
def test_many_inputs_are_evaluated_on_one_snapshot(engine, watch):
    allow = engine.prepare("authz/allow")
    watched = {
        "coverage": solon.Coverage(),
        "profile": solon.Profile(),
        "metrics": solon.Metrics(instrument=True),
    }

    def inputs():
        for number in range(300):
            if number == 100:
                engine.put("admins", [])
            yield {"user": "alice"}

    assert allow.evaluate_many(inputs(), **({watch: watched[watch]} if watch else {})) == [True] * 300
    assert allow({"user": "alice"}) is False


def test_what_one_of_many_inputs_notes_is_there_for_the_next(engine):
    engine.set_module("n.rego", "package n\n\nnow := time.now_ns()")
    noted = {}
    assert len(set(engine.prepare("n/now").evaluate_many([{}] * 300, nd_cache=noted))) == 1
    assert set(noted) == {"time.now_ns"}


def test_inputs_of_equal_names_are_equal(engine):
    """Names that are the same objects each time, names that are other objects, and shapes with the same first names."""
    engine.set_module("e.rego", "package e\n\nx := input")
    echo = engine.prepare("e/x")
    texts = [
        '{"user": "a", "role": {"name": "b", "rank": 1}, "tags": []}',
        '{"user": "a", "rule": {"rank": 1, "name": "b"}, "tags": []}',
        '{"user": "a", "role": {"name": "b", "race": 1}}',
        '{"user": "a", "role": 1, "tag": 2}',
        '{"role": 1, "user": "a"}',
        '{"": 1, "é": {"": 2}}',
    ]
    texts += [json.dumps({f"{name}{number}": number for number in range(40)}) for name in "ab"]
    constant = [json.loads(text) for text in texts]
    for _ in range(200):
        for text, known in zip(texts, constant):
            assert echo(json.loads(text)) == known
            assert echo(known) == known
    assert echo({1: 2, "1": 3}) == {1: 2, "1": 3}


def test_prepared_documents_follow_changes(engine):
    allow = engine.prepare("authz/allow")
    before = engine.generation
    engine.put("admins", ["bob"])
    assert allow({"user": "bob"}) is True
    engine.set_module("authz.rego", "package authz\nallow := 7")
    assert allow({"user": "bob"}) == 7
    assert engine.generation == before + 2
    engine.remove_module("authz.rego")
    assert allow({"user": "bob"}) is solon.UNDEFINED
    assert engine.modules == {}


def test_queries_give_bindings(engine):
    query = engine.query("some user, roles in data.roles; role := roles[_]")
    rows = query()
    assert rows == [
        {"user": "alice", "roles": ["dev", "ops"], "role": "dev"},
        {"user": "alice", "roles": ["dev", "ops"], "role": "ops"},
    ]
    assert engine.query("input.x > 1; y := input.x")({"x": 3}) == [{"y": 3}]
    assert engine.query("input.x > 1")({"x": 0}) == []
    with pytest.raises(solon.CompileError):
        engine.query("x")


def test_a_change_happens_whole_or_not_at_all(engine):
    with engine.change() as change:
        change.set_module("a.rego", "package a\nx := data.b.f(1)")
        change.set_module("b.rego", "package b\nf(x) = y { y = x + data.step }", rego="v0")
        change.put("step", 10)
        change.delete("roles")
    assert engine.evaluate("a/x") == 11
    with pytest.raises(solon.StoreError):
        engine.get("roles")
    with pytest.raises(ValueError, match="applied already"):
        change.put("step", 1)
    with pytest.raises(RuntimeError), engine.change() as change:
        change.put("step", 20)
        raise RuntimeError
    with pytest.raises(solon.CompileError), engine.change() as change:
        change.put("step", 30)
        change.set_module("a.rego", "package a\nx := y")
    assert engine.get("step") == 10
    assert engine.evaluate("a/x") == 11
    engine.set_modules({"c.rego": "package c\nx := data.d.y", "d.rego": "package d\ny := 2"})
    assert engine.evaluate("c/x") == 2


def test_documents_are_written_and_read(engine):
    engine.put("a/b/c", {"d": [1]})
    assert engine.get("a/b/c/d/0") == 1
    engine.delete("a/b")
    assert engine.get("/a") == {}
    engine.set_data_json(b'{"big": 12345678901234567890}')
    assert engine.get("big") == 12345678901234567890


def test_explanations_show_the_steps(engine):
    lines = engine.prepare("authz/allow").explain({"user": "alice"}).lines
    assert lines[0].split() == ["query:1", "Enter", "data.authz.allow", "=", "_"]
    assert any("authz.rego:6" in line for line in lines)


def test_options():
    strict = solon.Engine(strict=True)
    with pytest.raises(solon.CompileError):
        strict.set_module("a.rego", "package a\np if { x := 1 }")
    old = solon.Engine(rego="v0")
    old.set_module("a.rego", "package a\np { input.x == 1 }")
    assert old.evaluate("a/p", {"x": 1}) is True
    with pytest.raises(ValueError, match="rego must be"):
        solon.Engine(rego="v2")
    with pytest.raises(ValueError, match="time_limit"):
        solon.Engine(time_limit=-1)
    brief = solon.Engine(time_limit=0.05)
    brief.set_module(
        "a.rego",
        "package a\nn := numbers.range(1, 3000)\np if { some x in n; some y in n; some z in n; x + y + z < 0 }",
    )
    with pytest.raises(solon.EvalError, match="time limit") as raised:
        brief.evaluate("a/p")
    assert raised.value.code == "eval_cancel_error"
    small = solon.Engine(memory_limit=1 << 20)
    with pytest.raises(solon.EvalError, match="memory limit"):
        small.query("x := [[n] | some n in numbers.range(1, 1000000)]")()
    offline = solon.Engine(offline=True)
    with pytest.raises(solon.EvalError, match="SystemHost"):
        offline.query('http.send({"method": "get", "url": "http://a.test", "raise_error": false})')()
    few = solon.Engine(capabilities='{"builtins": []}')
    with pytest.raises(solon.CompileError):
        few.query("count([1])")


def test_errors_tell_the_queries_that_were_running(engine):
    engine.set_module("c.rego", "package c\np := 1 if input\np := 2 if input\nq := p")
    with pytest.raises(solon.EvalError) as raised:
        engine.evaluate("c/q", {})
    stack = raised.value.errors[0].stack
    assert stack and all(isinstance(frame, solon.StackFrame) for frame in stack)


def test_threads_share_a_prepared_document(engine):
    pair = engine.prepare("pair/both")
    errors = []
    done = threading.Event()

    def change(number):
        with engine.change() as change:
            change.set_module("pair.rego", f"package pair\nboth := [{number}, data.number]")
            change.put("number", number)

    def ask():
        while not done.is_set():
            first, second = pair()
            if first != second:
                errors.append((first, second))

    change(0)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(1, 200):
        change(number)
    done.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert pair() == [199, 199]
