"""Times decisions from Python for the benchmark of language bindings. For each line `FORM CALLS` on standard input it prints
the nanoseconds per call.

    bindings.py solon|regorus|regopy|opa POLICY DATA|- INPUT|- PATH
"""

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

MANY = 1000


def solon(policy: str, data: str | None, text: str, path: str) -> dict[str, Callable[[], Any]]:
    import solon

    engine = solon.Engine()
    if data is not None:
        engine.set_data_json(data)
    engine.set_module("policy.rego", policy)
    document = engine.prepare(path)
    value, encoded = json.loads(text), text.encode()
    inputs = [json.loads(text) for _ in range(MANY)]
    copies = [dict(value) if isinstance(value, dict) else value for _ in range(MANY)]
    return {
        "dict": lambda: document(value),
        "json": lambda: document(input_json=encoded),
        "many": lambda: document.evaluate_many(copies),
        "many_loaded": lambda: document.evaluate_many(inputs),
    }


def regorus(policy: str, data: str | None, text: str, path: str) -> dict[str, Callable[[], Any]]:
    import regorus_wrapper

    engine = regorus_wrapper.Engine(policy, data, "data." + path.replace("/", "."))
    value, encoded = json.loads(text), text
    return {"dict": lambda: engine.evaluate(value), "json": lambda: engine.evaluate_json(encoded)}


def regopy(policy: str, data: str | None, text: str, path: str) -> dict[str, Callable[[], Any]]:
    import regopy

    interpreter = regopy.Interpreter()
    interpreter.add_module("policy", policy)
    if data is not None:
        interpreter.add_data_json(data)
    value, query = json.loads(text), "data." + path.replace("/", ".")

    def call() -> Any:
        interpreter.set_input(value)
        return interpreter.query(query)

    call()
    return {"dict": call}


def opa(policy: str, data: str | None, text: str, path: str) -> dict[str, Callable[[], Any]]:
    from opa_bindings import engine as bridge

    engine = bridge.OpaEngine()
    engine.add_policy("policy.rego", policy)
    if data is not None:
        engine.add_data(json.loads(data))
    value, query = json.loads(text), "data." + path.replace("/", ".")
    return {"dict": lambda: engine.eval_query(query, value)}


def read(path: str) -> str | None:
    if path == "-":
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def rounds(forms: dict[str, Callable[[], Any]]) -> Iterator[str]:
    for line in sys.stdin:
        form, calls = line.split()
        call = forms[form]
        at_once = MANY if form.startswith("many") else 1
        times = max(1, int(calls) // at_once)
        start = time.perf_counter_ns()
        for _ in itertools.repeat(None, times):
            call()
        yield f"{(time.perf_counter_ns() - start) / (times * at_once):.3f}"


def main() -> None:
    peer, policy, data, text, path = sys.argv[1:]
    peers = {"solon": solon, "regorus": regorus, "regopy": regopy, "opa": opa}
    forms = peers[peer](read(policy) or "", read(data), read(text) or "null", path)
    # a peer that fails must report it before it is timed
    for call in forms.values():
        call()
    print("ready", *forms, flush=True)
    for nanoseconds in rounds(forms):
        print(nanoseconds, flush=True)


if __name__ == "__main__":
    main()
