"""Options of a call in addition to its input."""

import threading
import time

import pytest
from waiting import wait_until, works

import solon

SLOW = "package slow\n\nsum := count([1 | some a in numbers.range(1, 30000); some b in numbers.range(1, 30000); a + b == input.x])\n"


@pytest.fixture
def slow():
    engine = solon.Engine(offline=True)
    engine.set_module("slow.rego", SLOW)
    return engine.prepare("slow/sum")


def engine_of(text, **options):
    engine = solon.Engine(offline=True, **options)
    engine.set_module("p.rego", "package p\n\n" + text)
    return engine


def test_a_snapshot_is_evaluated_after_changes():
    engine = engine_of("answer := [data.n, 1]")
    engine.put("n", 1)
    answer, snapshot = engine.prepare("p/answer"), engine.snapshot()
    with engine.change() as change:
        change.put("n", 2)
        change.set_module("p.rego", "package p\n\nanswer := [data.n, 2]")
    assert answer() == [2, 2]
    assert answer(snapshot=snapshot) == [1, 1]
    assert answer.evaluate_many([{}, {}], snapshot=snapshot) == [[1, 1], [1, 1]]
    assert snapshot.get("n") == 1 and engine.get("n") == 2
    assert snapshot.generation < engine.generation
    assert snapshot.modules == {"p.rego": "package p\n\nanswer := [data.n, 1]"}
    assert engine.query("data.p.answer = x")(snapshot=snapshot) == [{"x": [1, 1]}]
    with pytest.raises(TypeError):
        answer(snapshot=engine)


def test_a_change_is_checked_before_it_is_applied():
    engine = engine_of("answer := data.n")
    engine.put("n", 1)
    answer, change = engine.prepare("p/answer"), engine.change()
    change.patch([{"op": "replace", "path": "/n", "value": 2}])
    assert answer(snapshot=change.check()) == 2
    assert answer() == 1
    change.apply()
    assert answer() == 2
    with pytest.raises(ValueError, match="applied already"):
        change.apply()
    broken = engine.change()
    broken.set_module("p.rego", "package p\n\nanswer := nowhere")
    with pytest.raises(solon.CompileError):
        broken.check()
    assert answer() == 2


def test_patches_change_all_or_nothing():
    engine = solon.Engine(offline=True)
    engine.set_data({"a": {"b": [1, 2]}})
    engine.patch([{"op": "add", "path": "/a/b/-", "value": 3}, {"op": "remove", "path": "/a/b/0"}])
    assert engine.get("a/b") == [2, 3]
    with pytest.raises(solon.StoreError):
        engine.patch([{"op": "remove", "path": "/a/b"}, {"op": "test", "path": "/a", "value": 1}])
    assert engine.get("a/b") == [2, 3]
    with pytest.raises(solon.StoreError, match="operation 0"):
        engine.patch([{"op": "sing", "path": "/a"}])


def test_evaluations_end_in_time(slow):
    start = time.process_time()
    with pytest.raises(solon.EvalError) as raised:
        slow({"x": 1}, time_limit=0.05)
    assert time.process_time() - start < 10
    assert raised.value.code == "eval_cancel_error"
    with pytest.raises(ValueError, match="time_limit"):
        slow({}, time_limit=-1)
    # several limits of a call apply together
    for bounds in [{"step_limit": 10_000}, {"time_limit": 60, "step_limit": 10_000}, {"step_limit": 10_000, "time_limit": 60}]:
        with pytest.raises(solon.EvalError, match="step limit"):
            slow({"x": 1}, **bounds)
    with pytest.raises(solon.EvalError, match="memory limit"):
        engine_of("a := [x | some x in numbers.range(1, 100000)]").evaluate("p/a", memory_limit=100_000)
    small = engine_of("a := count([x | some x in numbers.range(1, 1000)])")
    with pytest.raises(solon.EvalError, match="explanation"):
        small.prepare("p/a").explain(explanation_limit=10_000).result
    limited = solon.Engine(step_limit=10_000)
    limited.set_module("slow.rego", SLOW)
    with pytest.raises(solon.EvalError, match="step limit"):
        limited.evaluate("slow/sum", {"x": 1})


def test_other_threads_cancel(slow):
    cancel = solon.Cancel()
    runs = works()

    def stop():
        wait_until(runs)
        cancel.cancel()

    thread = threading.Thread(target=stop)
    thread.start()
    start = time.process_time()
    with pytest.raises(solon.EvalError):
        slow({"x": 1}, cancel=cancel)
    assert time.process_time() - start < 10
    thread.join()
    assert cancel.cancelled and repr(cancel) == "<solon.Cancel, cancelled>"
    with pytest.raises(solon.EvalError):
        slow({"x": 1}, cancel=cancel)


def test_policies_print():
    engine = engine_of('answer := x if { print("x is", input.x); x := input.x }')
    answer, lines = engine.prepare("p/answer"), []
    assert answer({"x": 1}, print=lines.append) == 1
    assert lines == ["x is 1"]
    assert answer({"x": 2}) == 2
    assert answer.evaluate_many([{"x": 1}, {"x": 2}], print=lines.append) == [1, 2]
    assert lines == ["x is 1", "x is 1", "x is 2"]

    def broken(line):
        raise LookupError(line)

    with pytest.raises(LookupError, match="x is 3"):
        answer({"x": 3}, print=broken)
    with pytest.raises(TypeError, match="callable"):
        answer({}, print=1)
    assert answer({"x": 4}, print=None) == 4


def test_answers_of_the_outside_are_noted_and_used():
    engine = engine_of("answer := [time.now_ns(), rand.intn(\"a\", 1000000)]")
    answer, cache = engine.prepare("p/answer"), {}
    first = answer(nd_cache=cache)
    assert set(cache) == {"time.now_ns", "rand.intn"}
    again = engine_of("answer := [time.now_ns(), rand.intn(\"a\", 1000000)]").prepare("p/answer")
    assert again(nd_cache=cache) == first
    stopped = solon.Engine(now=1_700_000_000_000_000_000)
    stopped.set_module("p.rego", "package p\n\nnow := time.now_ns()")
    assert stopped.evaluate("p/now") == 1_700_000_000_000_000_000


def test_evaluations_are_measured():
    engine = engine_of("answer if {\n\tinput.x > 0\n\tinput.y > 1\n}\n\nother if input.z")
    answer = engine.prepare("p/answer")
    metrics, coverage, profile = solon.Metrics(), solon.Coverage(), solon.Profile()
    answer({"x": 1, "y": 2}, metrics=metrics)
    answer({"x": 1, "y": 2}, metrics=metrics)
    report = metrics.report()
    assert report["timer_rego_query_eval_ns"] > 0
    stepwise = solon.Metrics(instrument=True)
    assert answer({"x": 1, "y": 2}, metrics=stepwise) is True
    assert len(stepwise.report()) > len(report)
    assert answer({"x": 1, "y": 1}, coverage=coverage, profile=profile) is solon.UNDEFINED
    file = coverage.report(engine.snapshot())["files"]["p.rego"]
    assert {"start": {"row": 4}, "end": {"row": 4}} in [
        {side: {"row": one[side]["row"]} for side in ("start", "end")} for one in file["covered"]
    ]
    assert file["not_covered"]
    assert answer.evaluate_many([{"x": 1, "y": 2}], coverage=coverage) == [True]
    rows = profile.rows(engine.snapshot())
    assert {"p.rego"} <= {row["file"] for row in rows} and all(row["evals"] for row in rows)
    assert profile.rows(engine.snapshot()) == []


def test_explanations_are_read_and_shown():
    engine = engine_of('answer if { trace("a < b & c"); input.x == 1 }')
    answer = engine.prepare("p/answer")
    explanation = answer.explain({"x": 1})
    assert explanation.result is True
    assert explanation.events[0]["op"] == "enter"
    assert str(explanation) == "\n".join(explanation.lines)
    assert "a &lt; b &amp; c" in answer.explain({"x": 1}, detail="notes")._repr_html_()
    assert answer.explain({"x": 2}, detail="fails").result is solon.UNDEFINED
    assert len(answer.explain({"x": 1}, detail="debug").lines) > len(explanation.lines)
    assert engine.query("data.p.answer = x").explain({"x": 1}).result == [{"x": True}]
    with pytest.raises(ValueError, match="detail must be"):
        answer.explain(detail="loud")
    failing = engine_of("answer := 1 / input.x").prepare("p/answer")
    explanation = failing.explain({"x": 0}, strict_builtin_errors=True)
    assert explanation.lines
    with pytest.raises(solon.EvalError, match="divide by zero"):
        explanation.result


def test_residuals_are_what_is_left():
    engine = engine_of("allow if { input.role == data.role; input.user == data.users[_] }")
    engine.set_data({"role": "admin", "users": ["a", "b"]})
    partial = engine.partial("data.p.allow == true", unknowns=["input.user"])
    left = partial({"role": "admin"})
    assert left.queries == ['"a" = input.user', '"b" = input.user'] or len(left.queries) == 2
    assert left.support == [] and len(left.tree["queries"]) == 2
    assert partial({"role": "guest"}).queries == []
    assert repr(partial) == 'solon.Partial("data.p.allow == true")'
    explanation = partial.explain({"role": "admin"})
    assert explanation.result.queries == left.queries and explanation.lines
    inner = engine.partial(
        "allow == us.open", package="p", imports=["data.flags as us"], unknowns=["data.flags"], skip_false_defaults=True
    )
    assert inner({"role": "guest"}).queries == []
    with pytest.raises(solon.SolonError):
        engine.partial("data.p.allow", unknowns=["input.x[_]"])({})


def test_unknown_options_are_refused():
    engine = engine_of("answer := 1")
    with pytest.raises(TypeError, match="'stict'"):
        engine.prepare("p/answer")({}, stict=True)
    with pytest.raises(TypeError, match="'ofline'"):
        solon.Engine(ofline=True)
    with pytest.raises(ValueError, match="datetimes must be"):
        solon.Engine(datetimes="x")
    with pytest.raises(ValueError, match="rego must be"):
        solon.Engine(rego="v2")


def test_networks_are_allowed_by_name():
    engine = solon.Engine(allow_net=["example.org"])
    engine.set_module("p.rego", 'package p\n\nq := http.send({"method": "get", "url": "http://other.invalid"})')
    with pytest.raises(solon.EvalError, match="disallowed host"):
        engine.evaluate("p/q", strict_builtin_errors=True)


def test_modules_have_versions_and_trees():
    engine = solon.Engine(offline=True)
    engine.set_module("old.rego", "package old\n\np { input.x == 1 }", rego="v0")
    engine.set_modules({
        "a.rego": "package a\n\nf(x) := x + 1\n\nq := data.b.g(1)",
        "b.rego": "package b\n\ng(x) := data.a.f(x) + 1",
    })
    assert engine.evaluate("old/p", {"x": 1}) is True
    assert engine.evaluate("a/q") == 3
    assert engine.module_tree("a.rego")["package"]["path"][1]["value"] == "a"
    with pytest.raises(KeyError):
        engine.module_tree("c.rego")
    assert "3 modules" in repr(engine)


def test_data_is_read_from_texts():
    engine = solon.Engine(offline=True)
    engine.set_data_yaml("a: [1, 0o10, yes]")
    assert engine.get("a") == [1, 8, "yes"]
    engine.set_data_json('{"a": 1.0}')
    assert engine.get("a") == 1.0
    for read in [engine.set_data_yaml, engine.set_data_json]:
        with pytest.raises(solon.InputError):
            read("{")
    assert engine.get("a") == 1.0


def test_queries_name_packages_and_imports():
    engine = engine_of("q := 1")
    engine.put("users", {"alice": 1})
    query = engine.query("x := q + us.alice", package="p", imports=["data.users as us"])
    assert query() == [{"x": 2}]
    [solution] = query.solutions()
    assert solution["values"] == [True] and solution["bindings"] == {"x": 2}
    assert solution["expressions"] == [
        {"text": "x := q + us.alice", "location": {"row": 1, "col": 1}}
    ]
    with pytest.raises(solon.CompileError, match="http.send"):
        engine.query("http.send({})", unsafe_builtins=["http.send"])
    metrics, change = solon.Metrics(), engine.change()
    engine.query("data.p.q", metrics=metrics)
    change.set_module("q.rego", "package q")
    change.apply(metrics=metrics)
    assert {"timer_rego_query_compile_ns", "timer_rego_module_compile_ns"} <= set(metrics.report())
    assert engine.query("false").solutions()[0]["values"] == [False]
