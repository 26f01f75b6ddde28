"""Waiting in tests: for a condition, never for a time within which something is assumed to have happened. Bounds on work are
bounds on processor time, so that they hold on a loaded machine too."""

import time

# seconds after which a test that makes no progress fails; this only ends hangs
HANG = 120.0


def wait_until(condition):
    end = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < end, "timed out waiting for a condition"
        time.sleep(0.005)


def works():
    """A condition: from now on this process has used more processor time than setting up an evaluation takes."""
    start = time.process_time()
    return lambda: time.process_time() - start > 0.1
