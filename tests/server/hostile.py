#!/usr/bin/env python3
"""Load of misbehaving clients: for each scenario the peak resident memory of the server and the latency of /health.

    tests/server/hostile.py PATH/TO/solon [--scale 1.0] [SCENARIO…]

The memory must stay within the budget of bodies (--max-held) and 200 MB, and /health must respond throughout.
"""

import argparse
import gzip
import http.client
import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time

HELD = 512 << 20
POLICY = "package p\n\nx := input\n"


class Server:
    def __init__(self, binary, folder):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "p.rego"), "w") as file:
            file.write(POLICY)
        probe = socket.socket()
        probe.bind(("127.0.0.1", 0))
        self.port = probe.getsockname()[1]
        probe.close()
        flags = ["--addr", f"127.0.0.1:{self.port}", "--log-level", "error", "--max-held", str(HELD)]
        self.process = subprocess.Popen([binary, "run", "--server", *flags, "p.rego"], cwd=folder)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=120)

    def ask(self, method, path, body=b"", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except OSError:
            return 0
        finally:
            connection.close()

    def memory(self, name):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith(name):
                    return int(line.split()[1]) << 10
        return 0


class Health:
    """Polls /health until it is stopped, in a separate process so that other clients do not delay it."""

    def __init__(self, server):
        self.ended = multiprocessing.Event()
        self.told, tell = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=ask_health, args=(server, self.ended, tell), daemon=True)
        self.process.start()

    def end(self):
        """Returns the sorted latencies of all responses, and the number of failed requests."""
        self.ended.set()
        times, failed = self.told.recv()
        self.process.join()
        return sorted(times) or [float("inf")], failed


def ask_health(server, ended, tell):
    times, failed = [], 0
    while not ended.wait(0.02):
        start = time.monotonic()
        if server.ask("GET", "/health") == 200:
            times.append(time.monotonic() - start)
        else:
            failed += 1
    tell.send((times, failed))


def at_once(count, work):
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def slow_heads(server, scale):
    open_ones = [server.connect() for _ in range(int(500 * scale))]
    for turn in range(20):
        for one in open_ones:
            try:
                one.send(b"GET /health HTTP/1.1\r\n" if turn == 0 else b"X-A: " + b"b" * 1000 + b"\r\n")
            except OSError:
                pass
        time.sleep(0.1)


def half_bodies(server, scale):
    head = b"PUT /v1/data/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n["
    open_ones = [server.connect() for _ in range(int(500 * scale))]
    for one in open_ones:
        one.send(head)
    time.sleep(3)


def large_bodies(server, scale):
    body = b'{"input":[' + b"1234567," * int(25_000_000 * scale) + b"1]}"
    at_once(50, lambda _: server.ask("POST", "/v1/data/p/x", body))


def large_writes(server, scale):
    body = b"[" + b"1234567," * int(25_000_000 * scale) + b"1]"
    at_once(10, lambda _: server.ask("PUT", "/v1/data/x", body))


def gzip_bombs(server, scale):
    bomb = gzip.compress(b'{"input": "' + b"a" * int(500_000_000 * scale) + b'"}', 1)
    at_once(32, lambda _: server.ask("POST", "/v1/data/p/x", bomb, Content_Encoding="gzip"))


def yaml_bombs(server, scale):
    lines = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    for last, name in zip("abcdefgh", "bcdefghi"):
        lines.append(f"{name}: &{name} [{','.join(['*' + last] * 9)}]")
    bomb = ("input:\n  " + "\n  ".join(lines) + "\n").encode()
    at_once(32, lambda _: server.ask("POST", "/v1/data/p/x", bomb, Content_Type="application/yaml"))


def distinct(server, count, request):
    """Sends each request once, on four connections with a hundred pipelined requests each, so that only the server is busy."""

    def ask(number):
        connection = server.connect()
        mine = range(number, count, 4)
        for start in range(0, len(mine), 100):
            some = mine[start : start + 100]
            connection.sendall(b"".join(b"GET %b HTTP/1.1\r\nHost: localhost\r\n\r\n" % request(at).encode() for at in some))
            answers = b""
            while (answered := answers.count(b"HTTP/1.1 200")) < len(some) or not answers.endswith(b"\n"):
                part = connection.recv(1 << 16)
                if not part:
                    raise OSError(f"{answered} of {len(some)} answers: {answers[-300:]}")
                answers += part

    at_once(4, ask)


def distinct_paths(server, scale):
    distinct(server, int(100_000 * scale), lambda at: f"/v1/data/a{at}/b")


def distinct_queries(server, scale):
    distinct(server, int(1_000_000 * scale), lambda at: f"/v1/query?q=x={at}")


SCENARIOS = [slow_heads, half_bodies, large_bodies, large_writes, gzip_bombs, yaml_bombs, distinct_paths, distinct_queries]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("scenario", nargs="*")
    given = parser.parse_intermixed_args()
    bad = False
    for scenario in SCENARIOS:
        if given.scenario and scenario.__name__ not in given.scenario:
            continue
        server = Server(os.path.abspath(given.binary), f"/tmp/solon-hostile-{os.getpid()}")
        health = Health(server)
        start = time.monotonic()
        scenario(server, given.scale)
        took = time.monotonic() - start
        times, failed = health.end()
        peak = server.memory("VmHWM") >> 20
        within = peak <= (HELD >> 20) + 200 and failed == 0 and server.process.poll() is None
        bad |= not within
        print(
            f"{scenario.__name__:17} {took:6.1f} s  memory {peak:5} MB  health {len(times):5} times, "
            f"median {times[len(times) // 2] * 1e3:6.1f} ms, longest {times[-1] * 1e3:7.1f} ms, {failed} failed"
            f"  {'ok' if within else 'TOO MUCH'}",
            flush=True,
        )
        server.process.kill()
        server.process.wait()
    sys.exit(bad)


if __name__ == "__main__":
    main()
