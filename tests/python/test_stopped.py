"""Evaluations that a limit or the caller ends: each reason has its own exception."""

import asyncio
import copy
import pickle

import pytest

import solon

POLICY = """package t

n := numbers.range(1, 100000)

endless if {
    some a in n
    some b in n
    some c in n
    a + b + c < 0
}

large := count(concat("", ["abcdefgh" | some i in numbers.range(1, 300000)]))

clash := input.both[_]

short if input.user != "alice"

fact := true

rows if input.rows.price < 3
"""


def cancelled():
    cancel = solon.Cancel()
    cancel.cancel()
    return cancel


CASES = [
    ("endless", {"time_limit": 0.001}, solon.EvaluationTimeout, TimeoutError),
    ("large", {"memory_limit": 1 << 20}, solon.MemoryLimitExceeded, MemoryError),
    ("endless", {"step_limit": 10_000}, solon.StepLimitExceeded, solon.EvalError),
    ("endless", {"cancel": cancelled()}, solon.EvaluationCancelled, solon.EvalError),
]


# evaluations of few steps poll nothing, so each checks at its start
ENDED = [
    ({"time_limit": 0}, solon.EvaluationTimeout),
    ({"time_limit": 1e-9}, solon.EvaluationTimeout),
    ({"cancel": cancelled()}, solon.EvaluationCancelled),
]


@pytest.mark.parametrize("options, kind", ENDED)
@pytest.mark.parametrize("name", ["short", "fact", "nothing"])
def test_an_evaluation_that_has_ended_before_its_start_raises(engine, name, options, kind):
    for ask in asked(engine, name, options):
        with pytest.raises(kind):
            ask()
    rows = engine.filters("t/rows", "sql+sqlite", unknowns=["input.rows"])
    with pytest.raises(kind):
        rows({}, **options)


@pytest.fixture(scope="module")
def engine():
    engine = solon.Engine()
    engine.set_module("t.rego", POLICY)
    return engine


def asked(engine, name, options):
    """All ways to evaluate."""
    document, query = engine.prepare(f"t/{name}"), engine.query(f"x := data.t.{name}")
    partial = engine.partial(f"x := data.t.{name}")
    return [
        lambda: engine.evaluate(f"t/{name}", {}, **options),
        lambda: document({}, **options),
        lambda: document(input_json="{}", **options),
        lambda: document.allow({}, **options),
        lambda: document.evaluate_many([{}], **options),
        lambda: document.explain({}, detail="notes", **options).result,
        lambda: asyncio.run(document.evaluate_async({}, **options)),
        lambda: asyncio.run(document.allow_async({}, **options)),
        lambda: query({}, **options),
        lambda: query.solutions({}, **options),
        lambda: query.explain({}, detail="notes", **options).result,
        lambda: partial({}, **options),
    ]


@pytest.mark.parametrize(("name", "options", "error", "builtin"), CASES)
def test_each_reason_has_an_exception(engine, name, options, error, builtin):
    for ask in asked(engine, name, options):
        with pytest.raises(error) as raised:
            ask()
        assert type(raised.value) is error
        assert isinstance(raised.value, builtin)
        assert isinstance(raised.value, solon.EvalError)
        assert raised.value.code == "eval_cancel_error"


@pytest.mark.parametrize(("name", "options", "error", "builtin"), CASES)
def test_an_exception_keeps_its_message_and_its_entries(engine, name, options, error, builtin):
    with pytest.raises(error) as raised:
        engine.evaluate(f"t/{name}", {}, **options)
    one = raised.value
    assert "eval_cancel_error: " in str(one) and one.message in str(one)
    assert len(one.errors) == 1 and one.errors[0].message == one.message
    for other in [pickle.loads(pickle.dumps(one)), copy.copy(one)]:
        assert (type(other), str(other), other.errors) == (error, str(one), one.errors)


def test_a_timeout_is_no_error_of_the_system(engine):
    with pytest.raises(TimeoutError) as raised:
        engine.evaluate("t/endless", {}, time_limit=0.001)
    assert (raised.value.errno, raised.value.strerror, raised.value.filename) == (None, None, None)


def test_other_errors_are_none_of_them(engine):
    with pytest.raises(solon.EvalError) as raised:
        engine.evaluate("t/clash", {"both": [1, 2]})
    assert type(raised.value) is solon.EvalError
    assert raised.value.code == "eval_conflict_error"


def test_an_explanation_has_a_memory_limit(engine):
    explained = engine.query("data.t.endless").explain({}, explanation_limit=1000, step_limit=10_000)
    with pytest.raises(solon.MemoryLimitExceeded, match="explanation exceeds its memory limit"):
        explained.result


def test_limits_of_an_engine_raise_the_same():
    for name, options, error in [
        ("endless", {"time_limit": 0.001}, solon.EvaluationTimeout),
        ("large", {"memory_limit": 1 << 20}, solon.MemoryLimitExceeded),
        ("endless", {"step_limit": 10_000}, solon.StepLimitExceeded),
    ]:
        bounded = solon.Engine(**options)
        bounded.set_module("t.rego", POLICY)
        with pytest.raises(error):
            bounded.evaluate(f"t/{name}", {})
