"""Decisions in an event loop."""

import asyncio
import time

import pytest
from waiting import wait_until, works

import solon

SLOW = "package slow\n\nsum := count([1 | some a in numbers.range(1, 100000); some b in numbers.range(1, 100000); a + b == input.x])\n"


def test_answers_are_awaited():
    engine = solon.Engine(offline=True)
    engine.set_module("p.rego", "package p\n\nx := input.x")
    ask = engine.prepare("p/x")

    async def run():
        answers = await asyncio.gather(*(ask.evaluate_async({"x": x}) for x in range(20)))
        assert answers == list(range(20))
        assert await ask.evaluate_async() is solon.UNDEFINED
        assert await ask.evaluate_async(input_json='{"x": 1}') == 1
        with pytest.raises(solon.InputError):
            await ask.evaluate_async(object())

    asyncio.run(run())


def test_cancelled_tasks_stop_their_evaluation():
    engine = solon.Engine(offline=True)
    engine.set_module("slow.rego", SLOW)
    ask = engine.prepare("slow/sum")

    async def run():
        start = time.process_time()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(ask.evaluate_async({"x": 1}), 0.1)
        runs = works()
        task = asyncio.ensure_future(ask.evaluate_async({"x": 1}))
        # the loop runs meanwhile
        for _ in range(10):
            await asyncio.sleep(0.01)
        await asyncio.to_thread(wait_until, runs)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.process_time() - start < 10

    # closing the loop joins the pool, and would wait for evaluations that are still running
    start = time.process_time()
    asyncio.run(run())
    assert time.process_time() - start < 20


def test_every_evaluating_method_has_an_asynchronous_variant():
    engine = solon.Engine(offline=True)
    engine.set_module("p.rego", "package p\n\nx := input.x\n\nallow if input.x == 1\n\nkept if input.row.n < input.x")
    document, query = engine.prepare("p/x"), engine.query("y := input.x; y > 0")
    partial = engine.partial("input.x == input.y", unknowns=["input.y"])
    rows = engine.filters("p/kept", "sql+sqlite", unknowns=["input.row"], parameters=True)
    given = {"x": 1}

    async def run():
        assert await engine.evaluate_async("p/x", given) == engine.evaluate("p/x", given)
        assert await engine.evaluate_async("data.p.x") is solon.UNDEFINED
        assert await document.evaluate_many_async([given, {}]) == document.evaluate_many([given, {}])
        explanation = await document.explain_async(given, detail="notes")
        assert explanation.result == 1 and explanation.lines == document.explain(given, detail="notes").lines
        assert await query.evaluate_async(given) == query(given) == [{"y": 1}]
        assert await query.solutions_async(given) == query.solutions(given)
        assert (await query.explain_async(given)).result == [{"y": 1}]
        assert (await partial.evaluate_async(given)).queries == partial(given).queries
        assert (await partial.explain_async(given)).result.queries == partial(given).queries
        assert (await rows.evaluate_async(given)).parameters == rows(given).parameters == [1]
        # options are passed on, and errors are raised when it is awaited
        assert await query.evaluate_async(input_json='{"x": 2}') == [{"y": 2}]
        engine.set_module("slow.rego", SLOW)
        slow, cancelled = engine.prepare("slow/sum"), solon.Cancel()
        cancelled.cancel()
        for awaitable in (
            engine.evaluate_async("slow/sum", given, cancel=cancelled),
            slow.allow_async(given, cancel=cancelled),
            slow.evaluate_many_async([given], cancel=cancelled),
            engine.query("data.slow.sum").evaluate_async(given, cancel=cancelled),
            engine.query("data.slow.sum").solutions_async(given, cancel=cancelled),
            engine.partial("data.slow.sum > input.y", unknowns=["input.y"]).evaluate_async(given, cancel=cancelled),
        ):
            with pytest.raises(solon.EvaluationCancelled):
                await awaitable
        for wrong in (document.explain_async(given, detail="some"), query.explain_async(given, detail="some")):
            with pytest.raises(ValueError, match="some"):
                await wrong

    asyncio.run(run())


def test_classes_with_calls_have_asynchronous_ones():
    """A new evaluating method needs an asynchronous variant."""
    for kind in (solon.Document, solon.Query, solon.Partial, solon.Filter):
        members = set(vars(kind))
        assert "__call__" in members and "evaluate_async" in members, kind
        for name in ("allow", "evaluate_many", "explain", "solutions"):
            assert name not in members or f"{name}_async" in members, f"{kind}.{name}"


def test_a_decision_that_is_not_awaited_has_no_truth_value():
    engine = solon.Engine(offline=True)
    for pending in (engine.evaluate_async("p/x"), engine.query("true").evaluate_async()):
        with pytest.raises(TypeError, match="awaited"):
            bool(pending)
