"""Ctrl-C ends an evaluation in any state; forked processes can evaluate."""

import http.server
import itertools
import os
import signal
import socket
import threading
import time

import pytest
from waiting import HANG, wait_until, works

import solon

LOOP = "package p\n\nq := count([1 | some a in numbers.range(1, 30000); some b in numbers.range(1, 30000); a + b == input.x])\n"
SEND = 'package p\n\nq := http.send({"method": "get", "url": input.url, "timeout": "10m"}).status_code\n'


@pytest.fixture(autouse=True)
def heard():
    """Restores the handler, because processes in the background may inherit that Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(ask):
    """Returns ``True`` if one of several evaluations ends within a tenth of a second of processor time after the signal."""
    return any(interrupted_after(ask, works()) < 0.1 for _ in range(6))


def interrupted_after(ask, runs):
    """Interrupts an evaluation while it runs, and returns the processor time of this process after the signal."""
    sent = []

    def interrupt():
        wait_until(runs)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        ask()
    used = time.process_time() - sent[0]
    thread.join()
    return used


@pytest.mark.parametrize("calls", [1, 2])
def test_loops_are_interrupted(calls):
    engine = solon.Engine(offline=True)
    engine.set_module("p.rego", LOOP)
    ask = engine.prepare("p/q")
    for _ in range(calls):
        assert interrupted(lambda: ask({"x": 1}))
    assert interrupted(lambda: ask.evaluate_many([{"x": 1}]))
    assert interrupted(lambda: engine.query("data.p.q = x")({"x": 1}))
    assert interrupted(lambda: ask.explain({"x": 1}, detail="notes"))


def test_many_short_evaluations_are_interrupted():
    engine = solon.Engine(offline=True)
    engine.set_module("p.rego", "package p\n\nq := input.x")
    ask = engine.prepare("p/q")
    # no Python code runs between them
    assert interrupted(lambda: ask.evaluate_many(itertools.repeat({"x": 1}, 5_000_000)))


def test_waiting_is_interrupted():
    silent = socket.create_server(("127.0.0.1", 0))
    with silent:
        engine = solon.Engine()
        engine.set_module("p.rego", SEND)
        ask = engine.prepare("p/q")
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        silent.settimeout(HANG)
        accepted = []

        def waits():
            accepted.append(silent.accept()[0])
            return True

        start = time.monotonic()
        interrupted_after(lambda: ask({"url": url}), waits)
        # long before the timeout of the request
        assert time.monotonic() - start < HANG
        accepted[0].close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_requests_are_answered_after_a_fork():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    engine = solon.Engine()
    engine.set_module("p.rego", SEND)
    ask = engine.prepare("p/q")
    request = {"url": f"http://127.0.0.1:{server.server_port}/"}
    assert ask(request, time_limit=HANG) == 204
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if ask({"url": request["url"] + "child"}, time_limit=HANG) == 204 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ask({"url": request["url"] + "parent"}, time_limit=HANG) == 204
    server.shutdown()
    server.server_close()
