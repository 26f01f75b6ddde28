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
