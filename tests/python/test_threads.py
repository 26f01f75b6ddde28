"""Threads share one handle while another one changes policy and data."""

import os
import sys
import sysconfig
import threading
import time

import pytest
from waiting import HANG

import solon

SECONDS = float(os.environ.get("SOLON_THREADS_SECONDS", "3"))


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has its lock")
def test_free_threaded_interpreters_stay_so():
    assert not sys._is_gil_enabled()


def changed(engine, number):
    with engine.change() as change:
        change.put("number", number)
        change.set_module("p.rego", f"package p\n\nanswer := [{number}, data.number, same(input.x)]")


def test_no_answer_is_of_two_moments():
    engine = solon.Engine(offline=True)

    @engine.function(pure=False)
    def same(x: int) -> int:
        return x

    changed(engine, 0)
    ask, query = engine.prepare("p/answer"), engine.query("data.p.answer = x")
    end, wrong, count = time.monotonic() + SECONDS, [], [0] * 8

    def decide(at):
        try:
            # at least once, even if the thread starts late
            while count[at] == 0 or time.monotonic() < end:
                for answer in [ask({"x": at}), query({"x": at})[0]["x"], *ask.evaluate_many([{"x": at}] * 3)]:
                    if answer[0] != answer[1] or answer[2] != at:
                        wrong.append(answer)
                count[at] += 1
        except BaseException as error:
            wrong.append(error)
            raise

    threads = [threading.Thread(target=decide, args=[at]) for at in range(8)]
    for thread in threads:
        thread.start()
    number = 0
    while time.monotonic() < end:
        number += 1
        changed(engine, number)
    for thread in threads:
        thread.join(timeout=HANG)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == [] and all(count), (wrong[:3], count)
    assert ask({"x": 1}) == [number, number, 1]


def test_inputs_may_change_while_they_are_read():
    """If other threads change an input during its conversion, there is a result or an exception, never an internal error."""
    engine = solon.Engine(offline=True)
    engine.set_module("p.rego", "package p\n\nx := count(input)")
    ask = engine.prepare("p/x")
    shared = {"list": [1, {"a": [2]}, 3], "dict": {"b": 1}, "set": {1, 2}}
    end, wrong = time.monotonic() + 1, []

    def change():
        number = 0
        while time.monotonic() < end:
            number += 1
            shared[f"n{number % 7}"] = {"c": number}
            shared.pop(f"n{number * 3 % 7}", None)
            shared["dict"][f"m{number % 5}"] = number
            shared["dict"].pop(f"m{number * 2 % 5}", None)
            shared["list"].append(number)
            shared["list"].pop()

    def decide():
        while time.monotonic() < end:
            try:
                assert ask(shared) >= 3
            except solon.InputError as error:
                if "changed" not in str(error):
                    wrong.append(error)
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=run) for run in (change, change, decide, decide)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=HANG)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == [], wrong[:3]
