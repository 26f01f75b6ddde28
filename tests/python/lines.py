"""Drives the Python binding: reads a JSON request per line and writes a JSON result per line, as ``tests/lines`` specifies.
Used for OPA's cases and the recorded programs."""

import json
import re
import sys

import solon

# results are serialized by the engine, because JSON has no sets, and sets of Python have another order
WRITER = solon.Engine(offline=True, decimal=True)
WRITER.set_module("w.rego", "package w\n\ntext := json.marshal(input)")
WRITE = WRITER.prepare("w/text")
READER = solon.Engine(offline=True, decimal=True)
READER.set_module(
    "r.rego",
    "package r\n\nvalue := input\n\ndata_text := json.marshal(input.data)\n\ninput_text := json.marshal(input.input)",
)
READ, DATA, INPUT = (READER.prepare(f"r/{name}") for name in ("value", "data_text", "input_text"))
#: Numbers that Decimal formats differently. They are passed as JSON, because policies can observe how a number is written.
SPELLED = re.compile(rb"[0-9][eE]|-0[^.0-9]")


def setup(line, text):
    engine = solon.Engine(
        decimal=True,
        now=line.get("now_ns") or 0,
        rego="v0" if line.get("v0") else "v1",
        strict=bool(line.get("strict")),
        allow_base_conflicts=bool(line.get("allow_base_conflicts")),
    )
    with engine.change() as change:
        for name, module in (line.get("modules") or {}).items():
            change.set_module(name, module)
        if "data" in line and SPELLED.search(text):
            change.put_json("/", DATA(input_json=text))
        elif "data" in line:
            change.put("/", line["data"])
    return engine


def value(term):
    rows = READER.query(term).solutions()
    return rows[0]["values"][0] if rows else solon.UNDEFINED


def partial(engine, line, given, options):
    prepared = engine.partial(
        line.get("query") or "",
        unknowns=line.get("unknowns"),
        disable_inlining=line.get("disable_inlining") or [],
        shallow_inlining=bool(line.get("shallow_inlining")),
        nondeterministic_builtins=bool(line.get("nondeterministic_builtins")),
        namespace=line.get("partial_namespace"),
        skip_namespace=bool(line.get("skip_partial_namespace")),
    )
    left = prepared(given, **options)
    lists = {"queries": left.queries, "support": left.support}
    return {name: texts for name, texts in lists.items() if texts}


def solutions(engine, line, given, options):
    query = engine.query(line.get("query") or "")
    rows = query.solutions(given, **options)
    if not rows:
        return {}
    return {
        "bindings": [row["bindings"] for row in rows],
        "values": [row["values"] for row in rows],
    }


def shown(entry):
    fields = {"code": entry.code, "message": entry.message}
    if entry.location:
        fields["file"] = entry.location.file
        if entry.location.row > 0:
            fields |= {"row": entry.location.row, "col": entry.location.col}
    return fields


def answer(text):
    prints = []
    try:
        line = READ(input_json=text)
        engine = setup(line, text)
        if line.get("input_term") is not None:
            given = value(line["input_term"])
        else:
            given = line.get("input", solon.UNDEFINED)
        options = {
            "print": prints.append,
            "strict_builtin_errors": bool(line.get("strict_builtin_errors")),
        }
        if given is not solon.UNDEFINED and "input" in line and SPELLED.search(text):
            given, options["input_json"] = solon.UNDEFINED, INPUT(input_json=text)
        ask = partial if line.get("partial") else solutions
        told = ask(engine, line, given, options)
    except solon.SolonError as error:
        told = {"errors": [shown(entry) for entry in error.errors]}
    if prints:
        told["prints"] = "".join(f"{one}\n" for one in prints)
    return WRITE(told)


for request in sys.stdin.buffer:
    written = answer(request)
    print(written if written is not solon.UNDEFINED else json.dumps({"errors": []}), flush=True)
