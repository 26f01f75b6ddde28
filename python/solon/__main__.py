"""Evaluates policies from the command line: ``python -m solon eval -d policies -i input.json data.authz.allow``."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any, Optional

import solon


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m solon", description="Evaluate policies written in Rego."
    )
    parser.add_argument("--version", action="version", version=f"solon {solon.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("eval", help="evaluate a query")
    one.add_argument("query", help="a query, like data.authz.allow")
    one.add_argument(
        "-d", "--data", action="append", default=[], metavar="PATH", help="policies and data to load"
    )
    one.add_argument(
        "-b", "--bundle", action="append", default=[], metavar="PATH", help="folders that are bundles"
    )
    given = one.add_mutually_exclusive_group()
    given.add_argument("-i", "--input", metavar="PATH", help="a file with the input, JSON")
    given.add_argument("-I", "--stdin-input", action="store_true", help="read the input from stdin")
    one.add_argument(
        "-f",
        "--format",
        choices=["json", "values", "bindings", "raw"],
        default="json",
        help="output format",
    )
    one.add_argument("--package", help="the package whose rules the query may name")
    one.add_argument("--import", dest="imports", action="append", default=[], metavar="REF")
    one.add_argument("--ignore", action="append", default=[], metavar="PATTERN")
    one.add_argument("--strict-builtin-errors", action="store_true")
    one.add_argument("--v0-compatible", action="store_true", help="policies are Rego v0")
    one.add_argument("--explain", choices=["full", "debug", "fails", "notes"])
    one.add_argument("--fail", action="store_true", help="exit with 1 if a result is undefined")
    return parser


def _json(value: Any) -> Any:
    """Converts values that JSON cannot represent."""
    if isinstance(value, (set, frozenset)):
        return list(value)
    if isinstance(value, solon.FrozenDict):
        return dict(value)
    raise TypeError(f"{value!r} has no form in JSON")


def _raw(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=_json)


def _answer(args: argparse.Namespace) -> int:
    engine = solon.Engine(rego="v0" if args.v0_compatible else None)
    engine.load(*args.data, ignore=args.ignore)
    if args.bundle:
        engine.load(*args.bundle, ignore=args.ignore, bundles=True)
    options: dict[str, Any] = {"strict_builtin_errors": args.strict_builtin_errors}
    if args.stdin_input:
        options["input_json"] = sys.stdin.buffer.read()
    elif args.input:
        with open(args.input, "rb") as file:
            options["input_json"] = file.read()
    options["print"] = lambda line: print(line, file=sys.stderr)
    query = engine.query(args.query, package=args.package, imports=args.imports)
    if args.explain:
        explained = query.explain(detail=args.explain, **options)
        print(explained, file=sys.stderr)
    solutions = query.solutions(**options)
    if args.format == "json":
        rows = []
        for one in solutions:
            texts = zip(one["expressions"], one["values"])
            row: dict[str, Any] = {
                "expressions": [
                    {"value": value, "text": text["text"], "location": text["location"]}
                    for text, value in texts
                ]
            }
            if one["bindings"]:
                row["bindings"] = one["bindings"]
            rows.append(row)
        print(json.dumps({"result": rows} if rows else {}, indent=2, default=_json))
    elif args.format == "bindings":
        print(json.dumps([one["bindings"] for one in solutions], indent=2, default=_json))
    elif args.format == "values":
        print(json.dumps([one["values"] for one in solutions], indent=2, default=_json))
    else:
        for one in solutions:
            print(" ".join(_raw(value) for value in one["values"]))
    return 1 if args.fail and not solutions else 0


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs a command. On an error it prints the error and returns 2."""
    args = _parser().parse_args(arguments)
    try:
        return _answer(args)
    except (solon.SolonError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
