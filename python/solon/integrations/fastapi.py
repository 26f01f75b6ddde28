"""Dependencies for FastAPI: a policy decides on a request before its handler is called."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import HTTPException
from fastapi.requests import HTTPConnection

from solon._errors import SolonError
from solon._native import Document
from solon.integrations._decisions import LOGGER, InputFunction, allowed, input_of, result
from solon.integrations.asgi import request_input

_Result = TypeVar("_Result")


def connection_input(connection: HTTPConnection) -> dict[str, Any]:
    """Returns the default input: that of ``asgi.request_input``, and the path parameters of the route as ``params``.

    Args:
        connection: The request.
    """
    return {**request_input(connection.scope), "params": dict(connection.path_params)}


def require(
    document: Document[Any],
    *,
    input: InputFunction[HTTPConnection] = connection_input,
) -> Callable[[HTTPConnection], Awaitable[None]]:
    """Returns a dependency that lets requests through only if a document is exactly ``true``.

    Other requests are answered with 403, and with 500 if the evaluation failed, so that a decision is missing.

    Args:
        document: The document that decides.
        input: Returns the input of the policy for a request, or an awaitable of it.

    Example:
        >>> allow = engine.prepare("data.photos.allow")
        >>> @app.get("/photos/{photo}", dependencies=[fastapi.Depends(require(allow))])
        ... async def read(photo: str) -> dict[str, str]: ...
    """

    async def dependency(connection: HTTPConnection) -> None:
        try:
            is_allowed = await allowed(document, await input_of(input, connection))
        except SolonError as error:
            raise _no_decision(connection) from error
        if not is_allowed:
            raise HTTPException(status_code=403, detail="forbidden")

    return dependency


def evaluate(
    document: Document[_Result],
    *,
    input: InputFunction[HTTPConnection] = connection_input,
) -> Callable[[HTTPConnection], Awaitable[_Result]]:
    """Returns a dependency whose value is the result of a document, such as a decision with reasons.

    It lets every request through: the handler must look at the result, which is ``UNDEFINED`` if the document has no value.

    Args:
        document: The document, usually with a ``result_type``.
        input: Returns the input of the policy for a request, or an awaitable of it.

    Example:
        >>> decision = evaluate(engine.prepare("data.photos.decision", result_type=Decision))
        >>> @app.get("/photos/{photo}")
        ... async def read(decision: Annotated[Decision, fastapi.Depends(decision)]) -> dict[str, str]: ...
    """

    async def dependency(connection: HTTPConnection) -> _Result:
        try:
            return await result(document, await input_of(input, connection))
        except SolonError as error:
            raise _no_decision(connection) from error

    return dependency


def _no_decision(connection: HTTPConnection) -> HTTPException:
    LOGGER.exception("no decision for %s", connection.scope.get("path"))
    return HTTPException(status_code=500, detail="the policy has not decided")
