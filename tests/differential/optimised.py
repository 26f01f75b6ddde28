#!/usr/bin/env python3
"""Compares optimised builds with OPA's, and their answers with those of the unoptimised policy.

    SOLON_ORACLE=path/to/opa SOLON=path/to/solon ./optimised.py [SEED [COUNT]]

Each seed is a policy of a few modules with entry points. The results of `-O1` and `-O2` answer as the policy does for 20 inputs. Texts
that differ from OPA's are counted and shown with SOLON_SHOW=1; `docs/differences.md` lists the reasons (Partial evaluation).
"""

import json
import os
import random
import subprocess
import sys

import draw
from peer import OPA, SOLON, Folder, Report, difference, entries, require_oracle, run

INPUTS = 20


class Lines:
    """A process that evaluates a request a line."""

    def __init__(self, program):
        self.child = subprocess.Popen([program, "lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def evaluate(self, request):
        self.child.stdin.write(json.dumps(request) + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


def value(choose, depth=2):
    kind = choose.randrange(9 if depth else 6)
    if kind < 6:
        return json.loads(choose.choice(draw.VALUES))
    if kind == 6:
        return [value(choose, depth - 1) for _ in range(choose.randrange(3))]
    return {choose.choice(draw.FIELDS): value(choose, depth - 1) for _ in range(choose.randrange(4))}


def policy(seed):
    """Returns modules, documents, and paths of rules without arguments."""
    writer = draw.Draw(seed)
    files, paths, helpers = {}, [], []
    for at in range(1 + writer.below(3)):
        package = f"{writer.pick(draw.PARTS[:-2])}_{at}"
        lines, own = [f"package {package}", ""], list(helpers) + ["data.tables.limits"]
        for number in range(1 + writer.below(4)):
            name = f"{writer.pick(draw.WORDS)}_{number}"
            text, (_, kind) = draw.rule(writer, name, own)
            lines.append(text)
            if not kind.startswith("function"):
                own.append(name)
                helpers.append(f"data.{package}.{name}")
                paths.append(f"{package}/{name}")
        files[f"{package}.rego"] = "\n".join(lines)
    files["base/tables/data.json"] = json.dumps({"limits": {"a": 1, "rows": [{"name": "admin"}, {"name": "x"}]}})
    return files, paths


def compare(report, evaluator, seed, counts):
    files, paths = policy(seed)
    if not paths:
        return
    choose = random.Random(seed)
    points = choose.sample(paths, min(len(paths), 1 + choose.randrange(2)))
    with Folder(files) as folder:
        if run(OPA, ["check", "."], folder.path)[0] != 0:
            counts["not compiled"] += 1
            return
        modules = {name: text for name, text in files.items() if name.endswith(".rego")}
        documents = {"tables": json.loads(files["base/tables/data.json"])}
        inputs = [{choose.choice(draw.FIELDS): value(choose) for _ in range(6)} for _ in range(INPUTS)]
        for level in ("1", "2"):
            build = ["build", "-O", level, *(flag for point in points for flag in ("-e", point)), *sorted(modules), "base"]
            wanted, got = run(OPA, [*build, "-o", "opa.tar.gz"], folder.path), run(SOLON, [*build, "-o", "solon.tar.gz"], folder.path)
            if wanted[0] or got[0]:
                report.compare(f"policy {seed}: -O{level}", wanted, got)
                continue
            wanted, got = entries(folder.path / "opa.tar.gz"), entries(folder.path / "solon.tar.gz")
            counts["same text" if wanted == got else "other text"] += 1
            if wanted != got and os.environ.get("SOLON_SHOW"):
                show = lambda side: "\n".join(f"{one[0]}\n{one[5].decode()}" for one in side)
                print(f"--- policy {seed}: -O{level} {points}\n{difference(show(wanted), show(got))}")
            built = {name.lstrip("/"): content.decode() for name, *_, content in got if name.endswith(".rego")}
            for point in points:
                query = "x = data." + point.replace("/", ".")
                for given in inputs:
                    request = {"query": query, "data": documents, "input": given}
                    before = evaluator.evaluate({**request, "modules": modules})
                    after = evaluator.evaluate({**request, "modules": built})
                    if "errors" in before:
                        continue
                    # builds erase calls of `print`
                    before.pop("prints", None)
                    after.pop("prints", None)
                    report.compare(f"policy {seed}: -O{level} {point} with {json.dumps(given)}", json.dumps(before, indent=1), json.dumps(after, indent=1))


def main():
    numbers = [int(text) for text in sys.argv[1:]]
    seed, count = [*numbers, *[1, 500][len(numbers):]]
    require_oracle()
    report, evaluator = Report(), Lines(SOLON)
    counts = {"same text": 0, "other text": 0, "not compiled": 0}
    for number in range(seed, seed + count):
        compare(report, evaluator, number, counts)
    print(counts)
    sys.exit(report.end())


main()
