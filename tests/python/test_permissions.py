"""Permissions deny unless the policy returns ``true``: values, errors, and objects that are not decisions."""

import asyncio
import contextlib

import pytest
from solon import _native

import solon

POLICY = """package t

yes := true

no := false

nothing if input.never

one := 1

text := "true"

nil := null

list := [true]

set contains true

object := {"allow": true}

given := input.allow

clash := input.both[_]

n := numbers.range(1, 100000)

endless if {
    some a in n
    some b in n
    some c in n
    a + b + c < 0
}

rows if input.row.owner == input.user
"""


@pytest.fixture
def engine():
    engine = solon.Engine()
    engine.set_module("t.rego", POLICY)
    return engine


def awaited(pending):
    async def run():
        return await pending

    return asyncio.run(run())


def ways(engine, path):
    """All ways to evaluate a document for a permission."""
    document = engine.prepare(path)
    return [
        lambda input=None, **options: document.allow(input, **options),
        lambda input=None, **options: awaited(document.allow_async(input, **options)),
        lambda input=None, **options: document.allow(input, coverage=solon.Coverage(), **options),
    ]


def test_only_true_is_a_permission(engine):
    for allow in ways(engine, "t/yes"):
        assert allow() is True
    for path in ["no", "nothing", "one", "text", "nil", "list", "set", "object", "missing"]:
        for allow in ways(engine, f"t/{path}"):
            assert allow({}) is False, path
    engine.set_module("u.rego", "package u\n\nallow := true")
    for allow in ways(engine, "u"):
        assert allow({}) is False
    for allow in ways(engine, "t/given"):
        assert allow({"allow": True}) is True
        for value in [False, 1, "true", [True], {"allow": True}, None]:
            assert allow({"allow": value}) is False, value


def test_json_is_an_input(engine):
    given = engine.prepare("t/given")
    assert given.allow(input_json='{"allow": true}') is True
    assert given.allow(input_json=b'{"allow": 1}') is False
    assert awaited(given.allow_async(input_json='{"allow": true}')) is True


def test_errors_are_raised(engine):
    cancel = solon.Cancel()
    cancel.cancel()
    for path, input, options, error in [
        ("t/clash", {"both": [True, False]}, {}, solon.EvalError),
        ("t/endless", {}, {"step_limit": 1000}, solon.StepLimitExceeded),
        ("t/endless", {}, {"time_limit": 0.001}, solon.EvaluationTimeout),
        ("t/endless", {}, {"cancel": cancel}, solon.EvaluationCancelled),
        ("t/yes", object(), {}, solon.InputError),
        ("t/yes", {}, {"nonsense": 1}, TypeError),
    ]:
        for allow in ways(engine, path):
            with pytest.raises(error):
                allow(input, **options)
    with pytest.raises(solon.InputError):
        engine.prepare("t/yes").allow(input_json="{")
    with pytest.raises(solon.InputError):
        awaited(engine.prepare("t/yes").allow_async(input_json="{"))


def test_faults_are_raised():
    engine = _native._faulty_engine()
    for allow in ways(engine, "t/panics"):
        with pytest.raises(solon.SolonError) as raised:
            allow({"x": 1})
        # tracing evaluates with `topdown`, which detects that both evaluators disagree
        assert raised.value.code in ("internal_error", "eval_internal_error")


def objects(engine):
    """Objects that always exist, whatever the policy decides."""
    document, query = engine.prepare("t/no"), engine.query("data.t.no")
    partial = engine.partial("data.t.rows", unknowns=["input.row"])
    rows = engine.filters("t/rows", "sql+sqlite", unknowns=["input.row"])
    return {
        "Document": document,
        "Query": query,
        "Partial": partial,
        "Filter": rows,
        "Explanation": document.explain({}),
        "explained Query": query.explain({}),
        "Residuals": partial({}),
        "Filters": rows({}),
    }


def test_objects_that_are_no_decision_have_no_truth_value(engine):
    for name, one in objects(engine).items():
        with pytest.raises(TypeError, match="has no truth value"):
            bool(one)
        with pytest.raises(TypeError, match="has no truth value"):
            if one:
                pytest.fail(f"{name} passes for a permission")
        with pytest.raises(TypeError, match="has no truth value"):
            pytest.fail(f"{name} passes for a permission") if not one else None
        # comparisons with `None` and `==` still work
        assert one is not None and one == one


def test_a_decision_that_is_not_awaited_has_no_truth_value(engine):
    document = engine.prepare("t/no")
    for make in [document.evaluate_async, document.allow_async]:
        with pytest.raises(TypeError, match="before it is awaited"):
            if make({}):
                pytest.fail("passes for a permission")
        with pytest.raises(TypeError, match="before it is awaited"):
            make({}) or pytest.fail("passes for no permission")


def test_what_is_awaited_is_a_coroutine(engine):
    document = engine.prepare("t/given")

    async def run():
        assert asyncio.iscoroutine(pending := document.allow_async({"allow": True}))
        assert await asyncio.create_task(pending) is True
        both = await asyncio.gather(document.evaluate_async({"allow": 1}), document.allow_async({"allow": 1}))
        assert both == [1, False]
        assert await asyncio.wait_for(document.allow_async({"allow": True}), 60) is True

    asyncio.run(run())
    assert asyncio.run(document.allow_async({"allow": True})) is True


def test_a_task_of_a_decision_can_be_printed(engine):
    document = engine.prepare("t/given")

    async def run():
        task = asyncio.create_task(document.allow_async({"allow": True}))
        assert "Pending" in repr(task)
        assert await task is True
        assert "finished" in repr(task)

    asyncio.run(run(), debug=True)


def test_a_filter_without_rows_selects_nothing(engine):
    engine.set_module("f.rego", "package f\n\ninclude if {\n\tinput.known\n\tinput.t.a == 1\n}\n\nall if input.known")
    for bare, never in [(False, "WHERE 1 = 0"), (True, "1 = 0")]:
        for target in ["sql+sqlite", "sql+postgresql", "sql+mysql", "sql+sqlserver"]:
            made = engine.filters("f/include", target, unknowns=["input.t"], bare=bare)
            none, some = made({}), made({"known": True})
            assert (none.query, none.keeps) == (never, False)
            assert none.queries == {target: never} and none.parameters == []
            assert some.keeps and some.query not in (never, "")
            every = engine.filters("f/all", target, unknowns=["input.t"], bare=bare)
            assert (every({"known": True}).query, every({"known": True}).keeps) == ("", True)
            assert every({}).query == never
    tree = engine.filters("f/include", "ucast+prisma", unknowns=["input.t"])
    assert (tree({}).query, tree({}).keeps) == (None, False)
    assert tree({"known": True}).keeps


def test_a_database_finds_nothing(engine):
    sqlite3 = pytest.importorskip("sqlite3")
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE row (owner TEXT)")
        database.executemany("INSERT INTO row VALUES (?)", [("alice",), ("bob",)])
        engine.set_module("g.rego", "package g\n\ninclude if {\n\tinput.user\n\tinput.row.owner == input.user\n}")
        made = engine.filters("g/include", "sql+sqlite", unknowns=["input.row"])
        # SQL that is composed without checking `keeps`
        found = database.execute(f"SELECT owner FROM row {made({}).query}").fetchall()
        assert found == []
        found = database.execute(f"SELECT owner FROM row {made({'user': 'bob'}).query}").fetchall()
        assert found == [("bob",)]
