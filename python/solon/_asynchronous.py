"""Asynchronous evaluation."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from solon._native import Cancel


class Pending(Coroutine[Any, Any, Any]):
    """An evaluation that starts when it is awaited."""

    def __init__(self, running: Coroutine[Any, Any, Any]) -> None:
        self._running = running

    def send(self, value: Any) -> Any:
        return self._running.send(value)

    def throw(self, *raised: Any) -> Any:
        return self._running.throw(*raised)

    def close(self) -> None:
        self._running.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._running.__await__()

    def __bool__(self) -> bool:
        # since 3.12 asyncio evaluates the truth of a task's coroutine when it prints the task
        if sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] == "asyncio":
            return True
        # a coroutine is truthy, and would grant a permission if `await` was forgotten
        self._running.close()
        raise TypeError("a decision has no truth value before it is awaited")


def call(evaluate: Callable[..., Any], input: Any, **options: Any) -> Pending:
    """Calls ``evaluate`` on a thread of the loop's pool. If the task is cancelled, the evaluation is cancelled."""
    return Pending(_call(evaluate, input, **options))


async def _call(evaluate: Callable[..., Any], input: Any, **options: Any) -> Any:
    cancel = options.pop("cancel", None) or Cancel()
    pending = asyncio.to_thread(evaluate, input, cancel=cancel, **options)
    try:
        return await pending
    except asyncio.CancelledError:
        cancel.cancel()
        raise
