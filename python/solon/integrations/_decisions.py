"""What the integrations have in common."""

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, Union

from solon._native import Document

LOGGER = logging.getLogger("solon.integrations")

_Request = TypeVar("_Request")
_Result = TypeVar("_Result")

#: Returns the input of the policy for a request, or an awaitable of it.
InputFunction = Callable[[_Request], Union[Any, Awaitable[Any]]]


async def input_of(function: InputFunction[_Request], request: _Request) -> Any:
    """Returns the input of the policy for a request."""
    given = function(request)
    return await given if inspect.isawaitable(given) else given


async def allowed(document: Document[Any], given: Any) -> bool:
    """Decides on the thread of the event loop, or on another one if the policy may wait for external I/O."""
    if document.may_block:
        return await document.allow_async(given)
    return document.allow(given)


async def result(document: Document[_Result], given: Any) -> _Result:
    """Evaluates the document on the same thread as ``allowed``."""
    if document.may_block:
        return await document.evaluate_async(given)
    return document(given)
