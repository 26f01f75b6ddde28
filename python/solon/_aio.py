"""Decisions for programs that must not wait."""

import asyncio
from collections.abc import Callable
from typing import Any

from solon._native import Cancel


async def call(ask: Callable[..., Any], input: Any, **options: Any) -> Any:
    """Asks on a thread of the loop's pool. Where the task is cancelled the evaluation is stopped."""
    cancel = options.pop("cancel", None) or Cancel()
    asked = asyncio.to_thread(ask, input, cancel=cancel, **options)
    try:
        return await asked
    except asyncio.CancelledError:
        cancel.cancel()
        raise
