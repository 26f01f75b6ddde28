#!/usr/bin/env python3
"""Records what OPA answers to the calls in the files beside this one.

    OPA=path/to/opa ./record.py strings.json          asks again, keeps the calls
    OPA=path/to/opa ./record.py strings.json < calls   adds one call a line

A case is `call` and one of `result` (as Rego text, which tells sets from arrays and keeps number texts),
`undefined` or `error`; where Solon differs on purpose, `differs` says why and the case is kept as it is. `hide(x)` hides a value's type from the type checker.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

MODULE = "package k\n\nhide(x) := x\n"


def query(call):
    return f"x := sprintf(\"%v\", [[{call.replace('hide(', 'data.k.hide(')}]])"


def ask(calls):
    requests = "".join(
        json.dumps({"modules": {"k.rego": MODULE}, "query": query(call), "strict_builtin_errors": True}) + "\n"
        for call in calls
    )
    done = subprocess.run([os.environ["OPA"], "lines"], input=requests, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def case(call, answer):
    if answer.get("errors"):
        error = answer["errors"][0]
        if not error["code"].startswith("eval_"):
            sys.exit(f"{call}: {error['code']}: {error['message']}")
        return {"call": call, "error": {"code": error["code"], "message": error["message"]}}
    if answer.get("bindings"):
        return {"call": call, "result": answer["bindings"][0]["x"][1:-1]}
    return {"call": call, "undefined": True}


def main():
    path = Path(__file__).parent / sys.argv[1]
    old = json.loads(path.read_text()) if path.exists() else []
    kept = {case["call"]: case for case in old if "differs" in case}
    calls = [case["call"] for case in old]
    if not sys.stdin.isatty():
        calls += [line.strip() for line in sys.stdin if line.strip()]
    calls = list(dict.fromkeys(calls))
    asked = [call for call in calls if call not in kept]
    answers = dict(zip(asked, ask(asked), strict=True))
    cases = [kept.get(call) or case(call, answers[call]) for call in calls]
    lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases)
    path.write_text(f"[\n{lines}\n]\n")


main()
