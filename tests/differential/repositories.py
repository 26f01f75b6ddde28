#!/usr/bin/env python3
"""Compares the commands of policy authors with OPA's on generated repositories.

    SOLON_ORACLE=path/to/opa SOLON=path/to/solon ./repositories.py [SEED [COUNT [SIZE]]]

Each seed is a repository of 20 to 200 modules with tests, mocks and data. Without SOLON_ORACLE nothing is compared.
"""

import json
import random
import re
import sys
from collections import Counter

import draw
from peer import OPA, SOLON, Folder, Report, entries, require_oracle, run


def by_location(text):
    """Sorts the results of `test -f json`, which OPA prints in the order in which tests end."""
    try:
        results = json.loads(text)
    except ValueError:
        return text
    if isinstance(results, list):
        for event in (event for one in results for event in one.get("trace") or []):
            # the call that reports a case is at its key; in OPA it is at the event before it
            if '"test_case"' in json.dumps(event.get("Node")) and event["Op"] in ("Eval", "Redo"):
                event["Location"] = None
            # OPA lists the variables of an event in any order
            for variables in ("Locals", "LocalMetadata"):
                if isinstance(event.get(variables), list):
                    event[variables].sort(key=lambda one: one["name"])
        results.sort(key=lambda one: (one["location"]["file"], one["location"]["row"], one["name"]))
    return json.dumps(results, indent=1)


def by_test(text):
    """Sorts the results of a report in pretty form."""
    head, line, summary = text.partition("-" * 80)
    blocks = re.split(r"(?m)^(?=\S+\.rego:\d+:$|data\.\S+: FAIL)", head)
    sections = [sorted(block.strip("\n") + "\n" for block in blocks)]
    if "FAILURES" in summary:
        failures = summary.split("-" * 80)
        failures[1:2] = sorted(block.strip("\n") + "\n" for block in re.split(r"(?m)^(?=data\.)", failures[1]))
        summary = "\n".join(failures)
    return "".join(sections[0]) + line + summary


def sorted_tests(result):
    code, stdout, stderr = result
    return code, by_location(stdout) if stdout.startswith("[") else by_test(stdout), stderr


def shape(value):
    """Returns a JSON value with numbers replaced: the shape of a measurement."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 0
    return value


def without_numbers(text):
    """Removes numbers, and the counts of allocations, which Solon does not have."""
    text = re.sub(r"(?m)^│ (B|allocs)/op .*\n|\t *[0-9.]+ (B|allocs)/op", "", text)
    return re.sub(r" +", " ", re.sub(r"[0-9.]+", "N", text)).replace("─", "")


def by_expression(result):
    """Sorts the modules, queries and expressions of a residual query, and removes names that are used once.

    Solon evaluates a value that must be defined before an expression that may fail, OPA at the end."""
    code, stdout, stderr = result
    used = Counter(re.findall(r"__local\d+__\d+", stdout))
    lines = re.sub(r"(?m)^(\t?)(__local\d+__\d+) = (?=[a-z])", lambda match: match[1] if used[match[2]] == 1 else match[0], stdout)
    blocks = re.split(r"\n\n|(?m:^# (?:Module|Query) \d+\n)", lines)
    return code, "\n\n".join(sorted("\n".join(sorted(block.strip("\n").split("\n"))) for block in blocks)), stderr


def positions(text, count, seed):
    """Returns offsets of names in a text."""
    found = [match.start() + 1 for match in re.finditer(r"[a-z_][a-z_0-9]*", text)]
    return random.Random(seed).sample(found, min(count, len(found)))


def mend(repository, folder):
    """Removes the rules that OPA rejects, so that the rest can be tested."""
    for _ in range(12):
        code, _, errors = run(OPA, ["check", "-m", "0", "-f", "json", "repo"], folder.path)
        if code == 0:
            return
        rows = {}
        for error in json.loads(errors)["errors"]:
            place = error["location"]
            rows.setdefault(place["file"].removeprefix("repo/"), set()).add(place["row"])
        for path, found in rows.items():
            kept, row = [], 1
            for block in repository.files[path].split("\n\n"):
                last = row + block.count("\n")
                if not any(row <= one <= last for one in found) or row == 1:
                    kept.append(block)
                row = last + 2
            repository.files[path] = "\n\n".join(kept)
            folder.write({f"repo/{path}": repository.files[path]})
    raise SystemExit(f"the repository cannot be compiled: {rows}")


def compare(report, seed, size):
    repository = draw.Repository(seed, size)
    choose = random.Random(seed)
    modules = sorted(path for path in repository.files if path.endswith(".rego"))
    with Folder({f"repo/{path}": text for path, text in repository.files.items()} | repository.inputs) as folder:

        def both(args, view=lambda result: result, stdin=b"", tries=1):
            got = view(run(SOLON, args, folder.path / "repo", stdin))
            for _ in range(tries):
                wanted = view(run(OPA, args, folder.path / "repo", stdin))
                if wanted == got:
                    break
            return report.compare(f"repository {seed}: {' '.join(args)}", wanted, got)

        for flags in ([], ["-f", "json"], ["-m", "3"], ["-m", "0"], ["-S", "-m", "0"], ["-b"], ["-b", "-f", "json"]):
            both(["check", *flags, "."])
        both(["exec", "-b", ".", "--decision", "a/b", "../inputs/1.json"])
        both(["test", "."])
        both(["test", "--capabilities", "v0.60.0", "."])
        both(["check", "--capabilities", "v0.60.0", "-f", "json", "."])
        both(["eval", "-b", ".", "data.none"])
        both(["build", "."])
        mend(repository, folder)
        for flags in ([], ["-v"], ["-f", "json"], ["-f", "json", "--explain", "full"], ["--var-values"], ["-r", "count|owns"],
                      ["-v", "--explain", "notes", "-r", "allow"], ["-z", "-r", "todo"], ["-b"], ["--fail-on-empty", "-r", "^x"],
                      ["-v", "--explain", "full", "--var-values", "-r", "_1"],
                      ["-v", "--explain", "debug", "-r", "_2"]):
            both(["test", "-p", "1", *flags, "."], sorted_tests)
        passing = [path for path in repository.tests if run(OPA, ["test", "repo", "-z", "-r", named(repository, path)], folder.path)[0] == 0]
        if passing:
            pattern = "|".join(named(repository, path) for path in passing[:6])
            for flags in (["-c"], ["--threshold", "99.5"], ["-c", "--coverage-runs", ""], ["-c", "--coverage-runs", "early_exit"]):
                both(["test", "-z", *flags, "-r", pattern, "."])
        for flags in ([], ["-S"], ["-S", "-f", "json"], ["-b"], ["-S", "-m", "3"], ["--v0-v1"], ["--v0-compatible"], ["-m", "0", "-S"]):
            both(["check", *flags, "."])
        both(["check", "-S", "--ignore", "*_test.rego", "."])
        for package, name, kind in choose.sample(repository.rules, min(14, len(repository.rules))):
            path = f"data.{package}.{name}"
            if not kind.startswith("function"):
                both(["deps", path, "-d", "."])
                both(["deps", path, "-b", ".", "-f", "json"])
                for form in ("json", "pretty", "raw"):
                    both(["eval", "-b", ".", "-i", "../inputs/1.json", "-f", form, path])
                both(["exec", "-b", ".", "--decision", f"{package}/{name}".replace(".", "/"), "../inputs"])
                both(["exec", "-b", ".", "--fail-non-empty", "--decision", f"{package}/{name}".replace(".", "/"), "../inputs/2.json"])
                both(["eval", "-p", "-f", "source", "-d", ".", path], by_expression)
        for path in choose.sample(modules, min(8, len(modules))):
            both(["parse", path])
            both(["parse", "-f", "json", path])
            both(["parse", "-f", "json", "--json-include", "locations,-comments", path])
            both(["fmt", path])
            both(["inspect", "-a", path])
            for offset in positions(repository.files[path], 6, seed):
                byte = len(repository.files[path][:offset].encode())
                # OPA names any rule of a document, Solon the first one
                both(["oracle", "find-definition", "-b", ".", f"{path}:{byte}"], tries=8)
                both(["oracle", "find-definition", "--stdin-buffer", "-b", ".", f"{path}:{hex(byte)}"],
                     stdin=("# one line more\n" + repository.files[path]).encode(), tries=8)
        both(["fmt", "-l", "."])
        both(["fmt", "-d", "."])
        both(["inspect", "."])
        both(["inspect", "-a", "-f", "json", "."])
        packages = sorted({package for package, _, _ in repository.packages})
        for package in choose.sample(packages, min(4, len(packages))):
            moved = f"data.{package}:data.moved.{package.split('.')[0]}"
            # OPA takes the files in any order, and names the first that it cannot change
            both(["refactor", "move", "-p", moved, "."], lambda result: (result[0], sorted(result[1].splitlines()), result[2][:6]))
            for path in choose.sample(modules, min(3, len(modules))):
                both(["refactor", "move", "-p", moved, path])
        for flags in (["-b", "."], ["."], ["-b", ".", "-r", "9", "--ignore", "*_test.rego"]):
            both(["build", *flags, "-o", "BUNDLE.tar.gz"])
            archives = []
            for program in (OPA, SOLON):
                run(program, ["build", *flags, "-o", "BUNDLE.tar.gz"], folder.path / "repo")
                archives.append(entries(folder.path / "repo/BUNDLE.tar.gz"))
            report.compare(f"repository {seed}: archive of build {' '.join(flags)}", *archives)
        package, name, _ = next(rule for rule in repository.rules if rule[2] == "value")
        decision = f"{package}/{name}".replace(".", "/")
        both(["exec", "-b", "BUNDLE.tar.gz", "--decision", decision, "../inputs"])
        both(["exec", "-b", "BUNDLE.tar.gz", "--fail", "--decision", "no/such", "../inputs"])
        both(["inspect", "BUNDLE.tar.gz"])
        both(["test", "-p", "1", "-b", "BUNDLE.tar.gz", "-z"], sorted_tests)
        (folder.path / "repo/BUNDLE.tar.gz").unlink()
        if seed % 5 == 0:
            path = f"data.{package}.{name}"
            mended = lambda result: (result[0], without_numbers(result[1]), result[2])
            for flags in ([], ["-f", "json"], ["-f", "gobench", "--benchmem=false"], ["--metrics=false", "-f", "json"]):
                both(["bench", "--fail=false", *flags, "-b", ".", "-i", "../inputs/1.json", path], mended)
        for at in range(6):
            path = choose.choice(modules)
            text = repository.files[path]
            where = choose.randrange(len(text))
            broken = text[:where] + choose.choice(["", "}", "{", " x ", "(", "\"", ":= 1", "input.", "data.none(1)\n", "\nnone := y\n"]) + text[where + choose.randrange(3):]
            folder.write({f"repo/{path}": broken})
            both(["check", "."])
            both(["check", "-f", "json", "-S", "-b", "."])
            both(["test", "."], sorted_tests)
            both(["parse", path])
            both(["fmt", "-l", path])
            folder.write({f"repo/{path}": text})


def named(repository, path):
    package = path.rsplit("/", 1)[0].replace("/", ".")
    return "^data." + package + "_test.test_[a-z_]*_" + re.search(r"m(\d+)_test", path)[1] + "$"


def main():
    numbers = [int(text) for text in sys.argv[1:]]
    seed, count, size = [*numbers, *[1, 30, 0][len(numbers):]]
    require_oracle()
    report = Report()
    for number in range(seed, seed + count):
        compare(report, number, size or None)
        print(f"repository {number}: {report.count} comparisons, {report.differences} differences", file=sys.stderr)
    sys.exit(report.end())


main()
