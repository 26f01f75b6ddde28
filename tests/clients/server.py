"""A server for a client that is tried on it."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

BINARY = os.path.abspath(os.environ.get("SOLON", "target/debug/solon"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(files=None, *flags):
    """A running server; gives its port."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (files or {}).items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        command = [BINARY, "run", "--server", "--addr", f"127.0.0.1:{port}", "--log-level", "error", *flags, *(files or {})]
        process = subprocess.Popen(command, cwd=folder)
        try:
            for _ in range(2400):
                with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health"):
                    break
                time.sleep(0.05)
            else:
                raise SystemExit("the server does not start")
            yield port
        finally:
            process.kill()
            process.wait()


def skip_without(name):
    """Skips the test with a message if a package is not installed."""
    try:
        return __import__(name)
    except ImportError:
        print(f"skipped: {os.path.basename(sys.argv[0])} needs the Python package that has `{name}`")
        raise SystemExit(77) from None
