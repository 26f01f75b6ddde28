"""ASGI middleware and FastAPI dependencies."""

import asyncio
import dataclasses
import importlib.util
import json
import threading
from pathlib import Path

import pytest

import solon
from solon.integrations.asgi import PolicyMiddleware, request_input

ROOT = Path(__file__).parents[2]
POLICY = """
package http

default allow := false

allow if input.path == ["public"]

allow if {
    input.method == "POST"
    input.headers["x-token"] == "secret"
    input.query.dry == [""]
}

not_true := "yes"

conflict := 1 if input.path

conflict := 2 if input.path
"""


def scope(path, **fields):
    return {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [], **fields}


def serve(app, given, incoming=()):
    """Serves one connection and returns the messages that the application sends."""
    sent, messages = [], iter([{"type": "http.request", "body": b""}, *incoming])

    async def receive():
        return next(messages)

    async def send(message):
        sent.append(message)

    asyncio.run(app(given, receive, send))
    return sent


async def hello(given, receive, send):
    if given["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


def engine():
    made = solon.Engine(offline=True)
    made.set_module("http.rego", POLICY)
    return made


def status(document, given, **options):
    return serve(PolicyMiddleware(hello, engine().prepare(document), **options), given)[0].get("status")


def test_only_true_lets_requests_through():
    assert status("http/allow", scope("/public")) == 200
    secret = {"method": "POST", "query_string": b"dry=", "headers": [(b"X-Token", b"secret")]}
    assert status("http/allow", scope("/x", **secret)) == 200
    for path in ("/private", "//public", "/public/", "/", "/public/x"):
        assert status("http/allow", scope(path)) == 403, path
    for document in ("http/not_true", "http/nothing", "other/document"):
        assert status(document, scope("/public")) == 403, document


def test_without_a_decision_the_status_is_500(caplog):
    assert status("http/conflict", scope("/public")) == 500
    assert "no decision for /public" in caplog.text
    assert status("http/allow", scope("/public"), input=lambda given: object()) == 500
    sent = serve(PolicyMiddleware(hello, engine().prepare("http/conflict")), scope("/public"))
    assert json.loads(sent[1]["body"]) == {"detail": "the policy has not decided"}


def test_errors_of_the_input_function_are_not_a_permission():
    def fails(given):
        raise KeyError("user")

    with pytest.raises(KeyError):
        status("http/allow", scope("/public"), input=fails)


def test_inputs_may_be_awaited_and_denials_replaced():
    async def public(given):
        await asyncio.sleep(0)
        return {"path": ["public"]}

    assert status("http/allow", scope("/x"), input=public) == 200

    async def teapot(given, receive, send):
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    assert status("http/allow", scope("/x"), denied=teapot) == 418
    # an evaluation that fails is not a denial
    assert status("http/conflict", scope("/x"), denied=teapot) == 500


def test_denials_are_json():
    start, body = serve(PolicyMiddleware(hello, engine().prepare("http/allow")), scope("/x"))
    assert dict(start["headers"])[b"content-type"] == b"application/json"
    assert int(dict(start["headers"])[b"content-length"]) == len(body["body"])
    assert json.loads(body["body"]) == {"detail": "forbidden"}


def test_websockets_are_closed_before_they_are_accepted():
    connect = {"type": "websocket.connect"}
    for path, document, code in (("/x", "http/allow", 1008), ("/x", "http/conflict", 1011)):
        app = PolicyMiddleware(hello, engine().prepare(document))
        sent = serve(app, {**scope(path), "type": "websocket"}, [connect])
        assert sent == [{"type": "websocket.close", "code": code}]
    app = PolicyMiddleware(hello, engine().prepare("http/allow"))
    assert serve(app, {**scope("/public"), "type": "websocket"}, [connect]) == [{"type": "websocket.accept"}]


def test_the_lifespan_is_not_a_request():
    seen = []

    async def app(given, receive, send):
        seen.append(given["type"])

    serve(PolicyMiddleware(app, engine().prepare("http/nothing")), {"type": "lifespan"})
    assert seen == ["lifespan"]


def test_policies_that_may_wait_run_on_another_thread():
    made = solon.Engine()
    threads = []

    @made.function("acme.lookup", waits=True)
    def lookup(path: list[str]) -> bool:
        threads.append(threading.current_thread())
        return True

    made.set_module("p.rego", "package p\n\nallow if acme.lookup(input.path)")
    document = made.prepare("p/allow")
    assert document.may_block
    assert serve(PolicyMiddleware(hello, document), scope("/x"))[0]["status"] == 200
    assert threads and threading.main_thread() not in threads


def test_the_default_input_is_the_head_of_the_request():
    given = scope(
        "/a/ü b/",
        method="PUT",
        query_string=b"x=1&x=2&y=%C3%A9&z",
        headers=[(b"accept", b"a"), (b"x-user", b"alice"), (b"Accept", b"b")],
        client=("10.0.0.1", 1234),
    )
    assert request_input(given) == {
        "method": "PUT",
        "path": ["a", "ü b", ""],
        "query": {"x": ["1", "2"], "y": ["é"], "z": [""]},
        "headers": {"accept": "a, b", "x-user": "alice"},
        "client": "10.0.0.1",
    }
    assert request_input({"type": "websocket", "path": "/"}) == {
        "method": "GET",
        "path": [""],
        "query": {},
        "headers": {},
        "client": None,
    }


def load_app():
    """Loads a new copy of the example."""
    spec = importlib.util.spec_from_file_location("photos", ROOT / "examples/python/photos/app.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def client_of(app):
    pytest.importorskip("httpx")
    return pytest.importorskip("fastapi.testclient").TestClient(app)


@pytest.mark.filterwarnings("ignore")
def test_the_example_is_the_tutorial():
    pytest.importorskip("fastapi")
    tutorial = (ROOT / "docs/tutorial.md").read_text()
    for file, kind in (("policy/photos.rego", "rego"), ("data.json", "json")):
        text = (ROOT / "examples/python/photos" / file).read_text()
        assert f"```{kind} file={file}\n{text}```" in tutorial, file
    example = load_app()
    client = client_of(example.app)
    alice, bob = {"x-user": "alice"}, {"x-user": "bob"}
    assert client.get("/photos/diary", headers=alice).json() == {"photo": "diary"}
    assert client.get("/photos/sunset", headers=bob).status_code == 200
    assert client.get("/photos/sunset").status_code == 200
    denied = client.get("/photos/diary", headers=bob)
    assert (denied.status_code, denied.json()) == (403, {"detail": "forbidden"})
    assert client.delete("/photos/sunset", headers=bob).status_code == 403
    assert client.get("/photos/missing", headers=alice).status_code == 403
    assert client.delete("/photos/diary", headers=alice).status_code == 200
    assert client.get("/photos/diary", headers=alice).status_code == 403
    example.reload()
    assert client.get("/photos/diary", headers=alice).status_code == 200


@pytest.mark.filterwarnings("ignore")
def test_dependencies_give_results_and_errors():
    fastapi = pytest.importorskip("fastapi")
    from typing import Annotated

    from solon.integrations.fastapi import evaluate, require

    @dataclasses.dataclass
    class Decision:
        allowed: bool
        reasons: list[str] = dataclasses.field(default_factory=list)

    made = engine()
    made.set_module(
        "photos.rego",
        """
package photos

decision := {"allowed": false, "reasons": ["not an owner"]} if input.params.photo == "diary"

decision := {"allowed": "maybe"} if input.params.photo == "broken"
""",
    )
    app = fastapi.FastAPI()
    decide = evaluate(made.prepare("photos/decision", result_type=Decision))

    @app.get("/photos/{photo}")
    async def read(photo: str, decision: Annotated[object, fastapi.Depends(decide)]):
        return {"reasons": decision.reasons if decision else None}

    @app.get("/conflict", dependencies=[fastapi.Depends(require(made.prepare("http/conflict")))])
    async def conflict():
        return {}

    @app.get("/public", dependencies=[fastapi.Depends(require(made.prepare("http/allow")))])
    async def public():
        return {}

    @app.websocket("/socket", dependencies=[fastapi.Depends(require(made.prepare("http/allow")))])
    async def socket(websocket: fastapi.WebSocket):
        await websocket.accept()

    client = client_of(app)
    assert client.get("/photos/diary").json() == {"reasons": ["not an owner"]}
    assert client.get("/photos/other").json() == {"reasons": None}
    assert client.get("/photos/broken").status_code == 500
    assert client.get("/conflict").status_code == 500
    assert client.get("/public").status_code == 200
    with pytest.raises(Exception), client.websocket_connect("/socket"):
        pass


VERSIONED = """package photos

default allow := false

# data and policy of one version belong together
allow if {{
    data.version == {version}
    input.user == data.owner
}}

decision := {{"policy": {version}, "data": data.version}}
"""


@pytest.mark.filterwarnings("ignore")
def test_reloads_under_load_fail_no_request():
    """Clients send requests to a server while policy and data change together each second, five times."""
    fastapi, uvicorn = pytest.importorskip("fastapi"), pytest.importorskip("uvicorn")
    httpx = pytest.importorskip("httpx")
    from typing import Annotated, Any

    from solon.integrations.fastapi import evaluate, require
    from waiting import wait_until

    made = solon.Engine(offline=True)

    def reload(version):
        with made.change() as change:
            change.set_module("photos.rego", VERSIONED.format(version=version))
            change.put("version", version)
            change.put("owner", "alice")

    reload(0)
    app = fastapi.FastAPI()
    allowed = fastapi.Depends(
        require(made.prepare("photos/allow"), input=lambda connection: {"user": connection.headers.get("x-user")})
    )
    decide = fastapi.Depends(evaluate(made.prepare("photos/decision")))

    @app.get("/photos", dependencies=[allowed])
    async def read(decision: Annotated[Any, decide]):
        return decision

    def middleware_input(given):
        return {"user": dict(given["headers"]).get(b"x-user", b"").decode()}

    app = PolicyMiddleware(app, made.prepare("photos/allow"), input=middleware_input)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        done = threading.Event()
        counts, failures = [], []

        def load(user, expected):
            count = 0
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"x-user": user}) as client:
                while not done.is_set():
                    response = client.get("/photos")
                    versions = set(response.json().values()) if response.status_code == 200 else set()
                    if response.status_code != expected or len(versions) > 1:
                        failures.append((user, response.status_code, response.text))
                    count += 1
            counts.append(count)

        clients = [threading.Thread(target=load, args=one) for one in (("alice", 200), ("bob", 403)) * 2]
        for one in clients:
            one.start()
        for version in range(1, 6):
            done.wait(1)
            reload(version)
        done.set()
        for one in clients:
            one.join()
        assert not failures, failures[:5]
        assert len(counts) == 4 and min(counts) > 5
        assert made.get("version") == 5
    finally:
        server.should_exit = True
        thread.join()
