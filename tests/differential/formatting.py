#!/usr/bin/env python3
"""Compares the formatter with OPA's on generated files and on the modules of the recorded cases.

    SOLON_ORACLE=path/to/opa SOLON=path/to/solon ./formatting.py [SEED [COUNT]]

COUNT files in the manner of policy repositories, with comments in every place that the grammar allows, and all modules of
`tests/cases` and of the conformance cases in SOLON_CONFORMANCE, a folder. Each is formatted as it stands, without indentation and
blank lines, with brackets joined, and with brackets torn apart. Files that OPA does not parse are skipped. A difference names the
property that OPA breaks: its result has another syntax tree, fewer comments, or changes when it is formatted again. Prints each
difference and the shares.
"""

import json
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import draw
from peer import OPA, ROOT, SOLON, Folder, difference, require_oracle

MODES = {"v1": [], "v0": ["--v0-compatible"], "v0v1": ["--v0-v1"], "drop": ["--drop-v0-imports"]}


def tokens(text):
    """Splits a module into strings, comments, brackets and other characters."""
    at = 0
    while at < len(text):
        char, end = text[at], at + 1
        if char == "#":
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
        elif char == '"':
            while end < len(text) and text[end] not in '"\n':
                end += 2 if text[end] == "\\" else 1
            end += 1
        elif char == "`":
            end = text.find("`", end) + 1 or len(text)
        yield text[at:end]
        at = end


def joined(text):
    """Removes line breaks in parentheses and brackets that contain no comments."""
    out, stack, starts = [], [], []
    for token in tokens(text):
        if token in "([{":
            stack.append(token)
        elif token in ")]}" and stack:
            stack.pop()
        if token == "\n" and stack and stack[-1] != "{":
            if out and not out[-1].startswith("#"):
                out.append(" ")
                continue
        out.append(token)
    return "".join(out)


def torn(text, choose):
    """Breaks the line at brackets and at commas within them."""
    out, stack = [], []
    for token in tokens(text):
        is_term = stack and stack[-1] != "{"
        if token in ")]}" and stack:
            if choose.randrange(3):
                out.append("\n")
            stack.pop()
        out.append(token)
        if token in "([{":
            stack.append(token)
            if choose.randrange(3):
                out.append("\n")
        elif token == "," and is_term and choose.randrange(3):
            out.append("\n")
    return "".join(out)


def bare(text):
    """Removes indentation and blank lines, except in raw strings."""
    if "`" in text:
        return "\n".join(line for line in text.split("\n") if line.strip())
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())


def commented(text, choose):
    """Adds comments in many places."""
    out, number = [], 0
    # comments within terms are rare
    is_within = choose.randrange(10) == 0
    for token in tokens(text):
        out.append(token)
        kind = choose.randrange(100)
        if token == "\n" and kind < 6:
            number += 1
            out.append(f"# own {number}\n")
        elif token == "\n" and kind < 9:
            number += 1
            out[-1] = f" # end {number}\n"
        elif is_within and token in "([{," and kind < 3:
            number += 1
            out.append(f" # in {number}\n")
    return "".join(out)


def spaced(text, choose):
    """Changes blanks and blank lines."""
    out = []
    for token in tokens(text):
        if token == "\n" and choose.randrange(12) == 0:
            token = choose.choice(["\n\n", "\n\n\n", " \n"])
        elif token == " " and choose.randrange(15) == 0:
            token = choose.choice(["  ", "\t"])
        out.append(token)
    return "".join(out)


LONG = [
    'total := sum([count(input.a), count(input.b) * 2, (input.c + 1) * (input.d - 2)])\n',
    'nested := {x: [y | some y in input.ys; y > x; z := {"k": [w | w := y + 1]}; z.k[0] == 2] | some x in input.xs}\n',
    'template := `{"a": "b",\n  "c": [1, 2]}\n`\n',
    'text := $"user {input.user} of {count([x | some x in input.groups])} groups {{}}"\n',
    'raw := $`line {input.a}\nline {input.b + 1}`\n',
    'chain := 1 if {\n\tinput.a\n} else := 2 if {\n\tinput.b\n\tnot input.c\n} else := 3 if input.d\n\nelse := 4\n',
    'every_one if {\n\tevery k, v in {"a": 1, "b": [2, 3]} {\n\t\tk != ""\n\t\tv\n\t}\n}\n',
    'mocked if {\n\tdata.lib.f(1) with input as {"a": {"b": 1}} with data.x.y as [1,\n\t\t2] with data.lib.f as data.lib.g\n}\n',
    'mock_lines if {\n\tinput.a == 1\n\t\twith input as {\n\t\t\t"a": 1,\n\t\t}\n\t\twith data.b as 2\n}\n',
    'default fallback(_) := {"a": [1, 2, {"b": set()}]}\n',
    'sets := {1, 2} | {3} & ({4} - {5})\n',
    'negative if not input.a.b["c d"][0].e\n',
    'ref.heads.are["long ones"].here contains x if some x in input.q\n',
    'partial[x][y] := z if {\n\tsome x, y\n\tz := input.m[x][y]\n}\n',
    'in_tests if {\n\t"a", "b" in {"a": "b"}\n\tnot 1 in [1]\n\tx := 1 in [2]\n}\n',
    'call := object.union_n([\n\t{"a": 1},\n\t{"b": 2},\n])\n',
    'hug := f({\n\t"a": 1,\n\t"b": [\n\t\t1,\n\t\t2,\n\t],\n}, "x")\n',
    'f(x, {"a": y}, [z, _]) := x + y if {\n\tz != 1\n}\n',
    'walked contains path if {\n\twalk(input, [path, value])\n\tis_string(value)\n\tregex.match("^[a-z]+$", value)\n}\n',
    'sprint := sprintf("%s has %d of %v, at least %s is required for the long text of this line", [input.a, count(input.b), input.c, "x"])\n',
    'if_else := "a" if input.x else := "b"\n',
    'some_lines if {\n\tsome i,\n\t\tj\n\tinput.a[i] == input.b[j]\n}\n',
    'arith := ((1 + 2) * 3 - 4 / 5) % 6\n',
    'negated := -1 + x - -2 if x := 3\n',
    'number := 1.0e10 + 0.10 - 1E5\n',
    'escapes := "\\u00e9\\n\\t\\"\\\\"\n',
]
LOGICAL = [
    'both if input.a and input.b or not input.c\n',
    'braces if {\n\t{ x := 1; x == 1 } or { input.y }\n}\n',
    'lines if {\n\tinput.a or\n\t\tinput.b and\n\t\tinput.c\n}\n',
    'negation if not { input.a; input.b }\n',
    'grouped if not (input.a or input.b)\n',
]
OLD = [
    'p { input.a }\n', 'p[x] { x := input.xs[_] }\n', 'q[x] = y { y := input.m[x] }\n', 'f(x) = y { y := x } else = z { z := 1 }\n',
    'default r = false\n', 'a.b.c { true }\n', 's["x"] { input.s }\n', 'g(x) { x } { not x }\n', 't = 1 { input.a\ninput.b }\n',
    'u = [x | x := 1]\n', 'many[msg] {\n  input.kind == "Pod"\n  msg := sprintf("%v", [input.x])\n}\n',
]


def generated(seed):
    """Returns a module, and the mode to format it in."""
    choose, writer = random.Random(seed), draw.Draw(seed)
    mode = choose.choice(["v1"] * 7 + ["drop", "v0", "v0v1"])
    lines = draw.metadata(writer, rule=False) if choose.randrange(4) == 0 else []
    lines += ["package " + ".".join(choose.sample(draw.PARTS[:-2], 1 + choose.randrange(3)))]
    imports = ["data.lib.strings", "data.lib", "input.request as req", "data.b.c as d", "future.keywords.in", "data.a"]
    if mode in ("v1", "drop"):
        imports += ["rego.v1", "future.keywords.if", "future.keywords.contains"]
    is_logical = mode in ("v1", "drop") and choose.randrange(6) == 0
    if is_logical:
        imports = ["rego.v2", "data.lib"]
        lines.append("import rego.v2")
    for one in choose.sample(imports, choose.randrange(min(4, len(imports) + 1))):
        lines += [""] * choose.randrange(2) + [f"import {one}"]
    lines.append("")
    for at in range(1 + choose.randrange(8)):
        if choose.randrange(4) == 0:
            lines += draw.metadata(writer)
        if choose.randrange(6) == 0:
            lines += [f"# about rule {at}", "#", "#   indented"]
        if mode in ("v0", "v0v1"):
            lines.append(choose.choice(OLD))
        elif is_logical and choose.randrange(2):
            lines.append(choose.choice(LOGICAL))
        elif choose.randrange(2):
            lines.append(choose.choice(LONG))
        else:
            name = choose.choice(draw.WORDS)
            if choose.randrange(3):
                lines.append(draw.rule(writer, name, ["data.lib.x", "helper"])[0])
            else:
                body, scope = writer.body(["x"])
                lines.append(f"{name} contains {writer.term(scope, 4)} if " + ("{ " + "; ".join(body) + " }" if choose.randrange(2) else draw.braces(body)) + "\n")
        if choose.randrange(5) == 0:
            lines[-1] = lines[-1].rstrip("\n")
    text = "\n".join(lines)
    if choose.randrange(3):
        text = commented(text, choose)
    if choose.randrange(3) == 0:
        text = spaced(text, choose)
    if choose.randrange(20) == 0:
        text = text.replace("\n", "\r\n")
    return text, mode


def recorded():
    """Returns the modules of the recorded cases."""
    found = set()

    def search(value):
        if isinstance(value, dict):
            for one in value.values():
                search(one)
        elif isinstance(value, list):
            if value and all(isinstance(one, str) for one in value):
                search("\n".join(value))
            for one in value:
                search(one)
        elif isinstance(value, str) and "package " in value and "\n" in value:
            found.add(value)

    folders = [ROOT / "tests/cases", *map(Path, filter(None, [os.environ.get("SOLON_CONFORMANCE")]))]
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.suffix in (".json", ".jsonl", ".rego") and path.is_file():
            text = path.read_text(errors="replace")
            if path.suffix == ".rego":
                found.add(text)
                continue
            for part in [text] if path.suffix == ".json" else text.splitlines():
                try:
                    search(json.loads(part))
                except ValueError:
                    pass
    return sorted(found)


def formatted(program, flags, path):
    try:
        done = subprocess.run([program, "fmt", *flags, path], capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return 1, b"", b"no result in time"
    return done.returncode, done.stdout, done.stderr


def tree(value):
    """Returns a syntax tree without what formatting may change: implied bodies, `=` for `:=`, and the order of imports."""
    if isinstance(value, dict):
        kept = {key: tree(one) for key, one in value.items() if key not in ("generated", "assign", "comments", "annotations", "location")}
        if "imports" in kept:
            kept["imports"] = sorted(map(json.dumps, kept["imports"]))
        if kept.get("body") and value["body"] == [{"generated": True, "index": 0, "terms": {"type": "boolean", "value": True}}]:
            del kept["body"]
        return kept
    return [tree(one) for one in value] if isinstance(value, list) else value


def without_comments(text):
    """Returns the tokens of a text without comments, blanks, and the commas that a broken list ends in."""
    kept = "".join(token for token in tokens(text) if not token.startswith("#"))
    return re.sub(r",?([)\]}])", r"\1", re.sub(r"\s+", "", kept))


def documented_rule(wanted, got):
    """Returns the rule of `docs/format.md` that explains where the results put a comment, or nothing."""
    if re.search(r"\$\"[^\"\n]*\{ #", wanted) and not re.search(r"\$\"[^\"\n]*\{ #", got):
        return "OPA moves a comment into a template string"
    if without_comments(wanted) != without_comments(got):
        return None
    own = lambda text: [line.strip() for line in text.splitlines() if line.strip().startswith("#")]
    moved = [line for line in own(wanted) if own(wanted).count(line) > own(got).count(line)]
    return f"OPA moves a comment from the end of its line: {moved}" if moved else None


def broken_property(flags, path, source, result):
    """Returns the property that a result of OPA breaks, or nothing."""
    path.write_bytes(result)
    parse = ["parse", "-f", "json", *(flag for flag in flags if flag == "--v0-compatible")]
    code, again, _ = formatted(OPA, [flag for flag in flags if flag != "--v0-v1"], path)
    if code:
        return "OPA's result cannot be parsed"
    if again != result:
        return "OPA's result changes when it is formatted again"
    if "--v0-v1" in flags or "--drop-v0-imports" in flags:
        return None
    after = subprocess.run([OPA, *parse, path], capture_output=True)
    path.write_bytes(source)
    before = subprocess.run([OPA, *parse, path], capture_output=True)
    if before.returncode or after.returncode:
        return None
    before, after = json.loads(before.stdout), json.loads(after.stdout)
    lost = {one["Text"].rstrip("=") for one in before.get("comments", [])} - {one["Text"].rstrip("=") for one in after.get("comments", [])}
    if len(after.get("comments", [])) < len(before.get("comments", [])):
        return f"OPA loses comments: {sorted(lost)}"
    return None if tree(before) == tree(after) else "OPA's result has another syntax tree"


def main():
    numbers = [int(text) for text in sys.argv[1:]]
    seed, count = [*numbers, *[1, 3000][len(numbers):]]
    require_oracle()
    files = [(f"seed {number}", *generated(number)) for number in range(seed, seed + count)]
    if seed == 1:
        files += [(f"recorded {at}", text, "v1") for at, text in enumerate(recorded())]
    counts = {"same": 0, "different": 0, "explained": 0, "not parsed": 0, "rejected": 0}
    with Folder({}) as folder:

        def check(file):
            name, text, mode = file
            found = []
            variants = {"as it stands": text, "bare": bare(text), "joined": joined(text), "torn": torn(text, random.Random(name))}
            for layout, variant in variants.items():
                if layout != "as it stands" and variant == text:
                    continue
                path = folder.path / f"{name}-{layout}.rego".replace(" ", "-")
                path.write_bytes(variant.encode(errors="surrogatepass"))
                flags = MODES[mode]
                code, wanted, errors = formatted(OPA, flags, path)
                if code:
                    found.append(("not parsed", name, layout, mode, variant, errors, b""))
                else:
                    own, got, problem = formatted(SOLON, flags, path)
                    kind = "rejected" if own else "same" if got == wanted else "different"
                    if kind == "different":
                        reason = broken_property(flags, path, variant.encode(), wanted)
                        reason = reason or documented_rule(wanted.decode(), got.decode())
                        kind, layout = ("explained", f"{layout}, {reason}") if reason else (kind, layout)
                    found.append((kind, name, layout, mode, variant, wanted, got or problem))
                path.unlink()
            return found

        with ThreadPoolExecutor(int(os.environ.get("SOLON_WORKERS", "2"))) as pool:
            for found in pool.map(check, files):
                for kind, name, layout, mode, variant, wanted, got in found:
                    counts[kind] += 1
                    if kind in ("different", "rejected", "explained"):
                        print(f"=== {kind}: {name}, {mode}, {layout}")
                    if kind in ("different", "rejected") or os.environ.get("SOLON_SHOW"):
                        print(difference(wanted.decode(), got.decode()))
                        print("--- source\n" + variant if os.environ.get("SOLON_SHOW") else "")
    compared = counts["same"] + counts["different"] + counts["explained"] + counts["rejected"]
    print(f"{compared} files: {counts}, {100 * counts['same'] / max(compared, 1):.2f} % equal")
    sys.exit(0 if counts["same"] >= 0.995 * compared and not counts["different"] + counts["rejected"] else 1)


main()
