"""Helpers to wait for conditions in tests. Tests never assume that something has happened after some time. Limits on work
are limits on processor time, so that they also work on a loaded machine."""

import time

# seconds after which a test without progress fails, so that it does not hang
HANG = 120.0


def wait_until(condition):
    end = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < end, "timed out waiting for a condition"
        time.sleep(0.005)


def works():
    """Returns a condition: this process has used more processor time since the call than starting an evaluation takes."""
    start = time.process_time()
    return lambda: time.process_time() - start > 0.1
