"""Middleware for ASGI applications: a policy decides on each request before the application sees it."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Optional
from urllib.parse import parse_qs

from solon._errors import SolonError
from solon._native import Document
from solon.integrations._decisions import LOGGER, InputFunction, allowed, input_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def request_input(scope: Scope) -> dict[str, Any]:
    """Returns the default input: the head of the request, without its body.

    Args:
        scope: Scope of an HTTP or WebSocket connection.

    Returns:
        A dict of ``method`` (``"GET"`` for WebSocket), ``path`` (a list of decoded segments), ``query`` (lists of values by
        name), ``headers`` (values by lower-case name; repeated headers are joined by ``", "``) and ``client`` (the address, or
        ``None``).
    """
    headers: dict[str, str] = {}
    for name, value in scope.get("headers", ()):
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    client = scope.get("client")
    return {
        "method": scope.get("method", "GET"),
        "path": scope["path"].split("/")[1:],
        "query": parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True),
        "headers": headers,
        "client": client[0] if client else None,
    }


class PolicyMiddleware:
    """Lets requests through only if a document is exactly ``true``.

    Other requests are answered with 403, and with 500 if the evaluation failed, so that a decision is missing. WebSocket
    connections are rejected before they are accepted. Each decision uses one snapshot of policy and data.

    Example:
        >>> engine = solon.Engine()
        >>> engine.set_module("http.rego", 'package http\\n\\nallow if input.path[0] == "public"')
        >>> app = PolicyMiddleware(app, engine.prepare("data.http.allow"))
    """

    def __init__(
        self,
        app: Application,
        document: Document[Any],
        *,
        input: InputFunction[Scope] = request_input,
        denied: Optional[Application] = None,
    ) -> None:
        """Wraps an application.

        Args:
            app: The application.
            document: The document that decides.
            input: Returns the input of the policy for a scope, or an awaitable of it.
            denied: Application that answers denied HTTP requests instead.
        """
        self._app = app
        self._document = document
        self._input = input
        self._denied = denied

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a connection."""
        # a server starts and stops applications by the third type
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            is_allowed = await allowed(self._document, await input_of(self._input, scope))
        except SolonError:
            LOGGER.exception("no decision for %s", scope.get("path"))
            await _reject(scope, receive, send, 500, "the policy has not decided")
            return
        if is_allowed:
            await self._app(scope, receive, send)
        elif self._denied is not None and scope["type"] == "http":
            await self._denied(scope, receive, send)
        else:
            await _reject(scope, receive, send, 403, "forbidden")


async def _reject(scope: Scope, receive: Receive, send: Send, status: int, detail: str) -> None:
    if scope["type"] == "websocket":
        # the first message is `websocket.connect`; to close before accepting is a response with status 403
        await receive()
        await send({"type": "websocket.close", "code": 1011 if status == 500 else 1008})
        return
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
