#!/usr/bin/env python3
"""Records what OPA says of the queries in the files beside this one.

    OPA=path/to/opa ./record.py [FILE…]

A file is a list of `schema` and `queries`; `graphql.parse` is asked for each `query`. `error` is what is wrong with it,
`tree_error` what is wrong with its syntax tree; a query without them fits. Trees of fragments are not asked for: OPA
takes them for fields. Where Solon differs on purpose, `differs` says why and the query is kept as it is.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

PREFIX = "graphql.parse: "


class Opa:
    def __init__(self):
        self.process = None

    def ask(self, query, arguments):
        if self.process is None:
            command = [os.environ["OPA"], "lines"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        request = {"query": query, "input": arguments, "strict_builtin_errors": True}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process = None
            return {"errors": [{"code": "died", "message": "the end of the process"}]}
        return json.loads(line)

    def error(self, query, schema):
        """What is wrong; `None` when nothing is."""
        errors = self.ask("graphql.parse(input.query, input.schema)", {"query": query, "schema": schema}).get("errors")
        if not errors:
            return None
        if not errors[0]["code"].startswith("eval_"):
            raise RuntimeError(errors[0]["message"])
        return errors[0]["message"].removeprefix(PREFIX)

    def tree(self, query):
        answer = self.ask("x := graphql.parse_query(input)", query)
        return answer["bindings"][0]["x"] if answer.get("bindings") else None


def record(opa, case, schema):
    if "differs" in case:
        return case
    query = case["query"]
    recorded = {"query": query}
    try:
        error = opa.error(query, schema)
    except RuntimeError as failure:
        sys.exit(f"{query}: {failure}")
    if error is not None:
        recorded["error"] = error
    tree = None if "..." in query else opa.tree(query)
    if tree is None:
        return recorded
    try:
        error = opa.error(tree, schema)
    except RuntimeError:
        # OPA needs the place of a misplaced directive, and a tree has none
        return recorded
    if error is not None:
        recorded["tree_error"] = error
    return recorded


def main():
    folder = Path(__file__).parent
    opa = Opa()
    for path in [Path(name) for name in sys.argv[1:]] or sorted(folder.glob("*.json")):
        groups = json.loads(path.read_text())
        for group in groups:
            group["queries"] = [record(opa, case, group["schema"]) for case in group["queries"]]
        path.write_text(json.dumps(groups, ensure_ascii=False, indent=1) + "\n")


main()
