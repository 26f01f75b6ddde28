"""Draws modules in the manner of policy repositories: rules, functions, METADATA, comments, tests with mocks."""

import json
import random

FIELDS = ["user", "role", "method", "path", "resource", "action", "labels", "owner", "tenant", "spec", "kind", "name"]
WORDS = ["allow", "deny", "violation", "warn", "is_admin", "owns", "matches", "limits", "exempt", "reachable", "grants",
         "scopes", "level", "decision", "reasons", "summary", "trusted", "expired", "quota", "visible"]
AREAS = ["authz", "lib", "kubernetes", "terraform", "api", "network", "audit", "billing", "images", "common"]
PARTS = ["roles", "pods", "rules", "strings", "limits", "tokens", "paths", "labels", "hosts", "users", "v1", "admission"]
VALUES = ['"admin"', '"alice"', '"GET"', '"/api/v1"', '"eu-west-1"', "1", "3", "0.5", "true", "null", '"a b"', '"ä"']


class Draw:
    """Random choices, and terms and rules made of them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def below(self, limit):
        return self.random.randrange(limit)

    def fresh(self, stem="x"):
        self.names += 1
        return f"{stem}{self.names}"

    def input(self):
        steps = "".join(self.pick([f".{self.pick(FIELDS)}", f'["{self.pick(FIELDS)}"]', f".{self.pick(FIELDS)}"])
                        for _ in range(1 + self.below(3)))
        return "input" + steps

    def constant(self, depth=2):
        kind = self.below(9) if depth else 0
        if kind < 6:
            return self.pick(VALUES)
        items = [self.constant(depth - 1) for _ in range(self.below(4))]
        if kind == 6:
            return "[" + ", ".join(items) + "]"
        if kind == 7:
            return "{" + ", ".join(items) + "}" if items else "set()"
        return "{" + ", ".join(f'"{self.pick(FIELDS)}{at}": {item}' for at, item in enumerate(items)) + "}"

    def term(self, scope, depth=2):
        """Returns a term that may use the variables and rules of a scope."""
        kind = self.below(14) if depth else self.below(5)
        inner = lambda: self.term(scope, depth - 1)
        if kind < 2:
            return self.input()
        if kind == 2 and scope:
            return self.pick(scope)
        if kind < 5:
            return self.pick(VALUES)
        if kind == 5:
            return f"[{inner()}, {inner()}]"
        if kind == 6:
            return f'{{"{self.pick(FIELDS)}": {inner()}, "at": {inner()}}}'
        if kind == 7:
            name = self.fresh()
            return f"[{name} | some {name} in {self.input()}]"
        if kind == 8:
            name = self.fresh()
            return f"{{{name}: {inner()} | some {name}; {self.input()}[{name}]}}"
        if kind == 9:
            return f'sprintf("%v is %v", [{inner()}, {inner()}])'
        if kind == 10:
            return f'object.get({self.input()}, "{self.pick(FIELDS)}", {inner()})'
        if kind == 11:
            return f"count({self.input()})"
        if kind == 12:
            return f'$"{self.pick(FIELDS)}: {{{self.input()}}}"'
        return f"json.marshal({inner()})"

    def condition(self, scope):
        """Returns an expression, and the variables that it binds."""
        kind = self.below(18)
        if kind < 3:
            return f"{self.input()} {self.pick(['==', '!=', '<', '>=', '>'])} {self.pick(VALUES)}", []
        if kind == 3:
            return f"not {self.input()}", []
        if kind == 4:
            name = self.fresh()
            return f"some {name} in {self.input()}", [name]
        if kind == 5:
            key, name = self.fresh("k"), self.fresh()
            return f"some {key}, {name} in {self.input()}", [key, name]
        if kind == 6:
            name = self.fresh()
            return f"{name} := {self.term(scope)}", [name]
        if kind == 7:
            return f"{self.pick(VALUES)} in {self.input()}", []
        if kind == 8:
            name = self.fresh()
            return f"every {name} in {self.input()} {{ {name} != {self.pick(VALUES)} }}", []
        if kind == 9:
            return f'startswith({self.input()}, "{self.pick(["/", "a"])}")', []
        if kind == 10:
            return f'regex.match(`^[a-z]+-{self.below(9)}$`, {self.input()})', []
        if kind == 11 and scope:
            return f"{self.pick(scope)} != {self.term(scope, 1)}", []
        if kind == 12:
            return f"count({self.input()}) {self.pick(['>', '<=', '=='])} {self.below(5)}", []
        if kind == 13:
            return f"{self.term(scope, 1)} == {self.term(scope, 1)}", []
        if kind == 14:
            return f"is_string({self.input()})", []
        if kind == 15:
            name = self.fresh()
            return f"{name} = {self.input()}[_]", [name]
        if kind == 16:
            return f'print("seen", {self.input()})', []
        return f"object.get({self.input()}, {self.pick(VALUES)}, false) == {self.pick(VALUES)}", []

    def body(self, scope, size=None):
        """Returns expressions, and all variables in scope after them."""
        scope, lines = list(scope), []
        for _ in range(size or 1 + self.below(4)):
            line, bound = self.condition(scope)
            lines.append(line)
            scope += bound
        return lines, scope


def metadata(draw, rule=True):
    """Returns lines of an annotation."""
    lines = ["# METADATA", f"# title: {draw.pick(WORDS)} {draw.pick(FIELDS)}"]
    if draw.chance(60):
        lines += ["# description: |", f"#  Decides {draw.pick(WORDS)}", f"#  for a {draw.pick(FIELDS)}."]
    if draw.chance(40):
        lines += ["# authors:", "#  - Jane Doe <jane@example.org>"]
    if draw.chance(30):
        lines += ["# organizations:", "#  - Acme"]
    if draw.chance(30):
        lines += ["# related_resources:", "#  - ref: https://example.org/docs", "#    description: a page"]
    if draw.chance(50):
        lines += ["# custom:", f"#  severity: {draw.pick(['HIGH', 'low', '3'])}"]
    if not rule:
        lines.insert(1, "# scope: package")
    elif draw.chance(25):
        lines.insert(1, "# scope: document")
    return lines


def braces(lines):
    return "{\n" + "".join(f"\t{line}\n" for line in lines) + "}"


def rule(draw, name, helpers):
    """Returns the text of one rule, and how it is used: a path and the kind of its value."""
    lines, scope = draw.body(helpers)
    kind = draw.below(11)
    if kind < 2:
        return f"default {name} := false\n\n{name} if {braces(lines)}\n", (name, "value")
    if kind < 4:
        member = draw.term(scope)
        return f"{name} contains {member} if {braces(lines)}\n", (name, "set")
    if kind == 4:
        key = draw.fresh("k")
        lines = [f"some {key} in {draw.input()}", *lines]
        return f"{name}[{key}] := {draw.term([*scope, key])} if {braces(lines)}\n", (name, "object")
    if kind == 5:
        lines, scope = draw.body(["a", "b"])
        return f"{name}(a, b) := {draw.term(scope)} if {braces(lines)}\n", (name, "function")
    if kind == 6:
        lines, scope = draw.body(["x"])
        return f"{name}(x) if {braces(lines)}\n\n{name}(null) := false\n", (name, "function1")
    if kind == 7:
        other, _ = draw.body(helpers)
        text = f"{name} := {draw.term(scope)} if {braces(lines)} else := {draw.constant()} if {braces(other)}"
        return f"{text} else := {draw.constant()}\n", (name, "value")
    if kind == 8:
        return f"{name} := {draw.constant(3)}\n", (name, "value")
    if kind == 9:
        return f"{name}.{draw.pick(FIELDS)}.x := {draw.term(helpers)}\n", (name, "object")
    return f"{name} := {draw.term(helpers, 3)}\n", (name, "value")


class Repository:
    """A repository of a seed: files by path, the rules of each package, and inputs."""

    def __init__(self, seed, size=None):
        draw = self.draw = Draw(seed)
        self.files, self.inputs, self.rules = {}, {}, []
        self.packages, self.tests = [], []
        roots = draw.random.sample(AREAS, 4)
        size = size or 20 + draw.below(181)
        count = 0
        while count < size:
            path = [draw.pick(roots), *(draw.pick(PARTS) for _ in range(draw.below(3)))]
            self.module(path, count)
            count += 1
            if draw.chance(60):
                self.test(self.packages[-1])
                count += 1
        for root in roots:
            self.files[f"{root}/tables/data.json"] = self.json(draw.constant(0))
        self.files["settings/data.yaml"] = f"limits:\n  cpu: {draw.below(9)}\n  names: [a, b]\nregion: eu-west-1\n"
        self.files["settings/deep/data.json"] = json.dumps({"table": {str(at): at for at in range(draw.below(20))}})
        for at in range(5):
            value = {field: draw.pick(["admin", "alice", 3, True, None, ["admin", "x"], {"name": "a", "role": ["b"]}])
                     for field in draw.random.sample(FIELDS, 6)}
            self.inputs[f"inputs/{at}.json"] = json.dumps(value)
        self.inputs["inputs/5.yaml"] = "user: admin\nlabels: [a, b]\n"
        self.inputs["inputs/deep/6.json"] = "[1, {}]"
        self.inputs["inputs/7.json"] = "{"
        revision = f"r{seed}"
        self.files[".manifest"] = json.dumps({"revision": revision, "roots": [""], "metadata": {"seed": seed}})

    @staticmethod
    def json(text):
        return json.dumps({"static": {"value": text, "rows": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}})

    def module(self, path, number):
        draw = self.draw
        package = ".".join(path)
        is_first = all(package != other for other, _, _ in self.packages)
        lines = metadata(draw, rule=False) if is_first and draw.chance(30) else []
        lines.append(f"package {package}")
        if draw.chance(40):
            lines += ["", "import rego.v1"]
        helpers, used = [], draw.random.sample(self.rules, min(len(self.rules), draw.below(4)))
        aliases = set()
        for used_package, name, kind in used:
            if used_package == package or kind.startswith("function"):
                continue
            form = draw.below(3)
            last = used_package.split(".")[-1]
            if form == 0 and last not in aliases and last != "v1":
                aliases.add(last)
                lines += ["", f"import data.{used_package}"]
                helpers.append(f"{last}.{name}")
            elif form == 1:
                alias = draw.fresh("imported")
                lines += ["", f"import data.{used_package}.{name} as {alias}"]
                helpers.append(alias)
            else:
                helpers.append(f"data.{used_package}.{name}")
        if draw.chance(50):
            helpers.append(draw.pick(["data.settings.limits.cpu", "data.settings.limits", "data.settings.deep.table"]))
        lines.append("")
        own = []
        for _ in range(2 + draw.below(6)):
            name = f"{draw.pick(WORDS)}_{number}" if draw.chance(80) else f"{draw.pick(WORDS)}_{number}_{draw.fresh('r')}"
            if name in {other for other, _ in own}:
                continue
            if draw.chance(30):
                lines += metadata(draw)
            elif draw.chance(30):
                lines.append(f"# {draw.pick(WORDS)} of a {draw.pick(FIELDS)}")
            text, use = rule(draw, name, helpers)
            lines += [text]
            own.append(use)
            if use[1] in ("value", "set", "object"):
                helpers.append(name)
        calls = [name for name, kind in own if kind == "function"]
        if calls:
            lines.append(f"called_{number} := {calls[0]}({draw.input()}, {draw.constant(0)})\n")
            own.append((f"called_{number}", "value"))
        self.rules += [(package, name, kind) for name, kind in own]
        self.packages.append((package, own, number))
        self.files["/".join(path) + f"/m{number}.rego"] = "\n".join(lines)

    def test(self, package):
        draw = self.draw
        name, rules, number = package
        lines = [f"package {name}_test", "", f"import data.{name}", ""]
        last = name.split(".")[-1]
        for at, (rule, kind) in enumerate(rules):
            test = f"test_{rule}"
            target = f"{last}.{rule}"
            mocked = json.dumps({draw.pick(FIELDS): draw.pick(["admin", 3, ["admin"], {"name": "x"}]) for _ in range(3)})
            given = f"with input as {mocked}"
            if kind == "function":
                lines.append(f"{test} if {{\n\tx := {target}(1, input.user) {given}\n\tprint(x)\n\tx != {draw.pick(VALUES)}\n}}\n")
                continue
            if kind == "function1":
                lines.append(f"{test} if {target}({draw.pick(VALUES)}) {given}\n")
                continue
            form = draw.below(12)
            if form < 4:
                lines.append(f"{test} if {target} {given}\n")
            elif form < 6:
                lines.append(f"{test} if {{\n\tvalue := {target} {given}\n\tvalue == {draw.constant(1)}\n}}\n")
            elif form == 6:
                lines.append(f"todo_{test} if {target}\n")
            elif form == 7:
                cases = json.dumps({"first": {"in": {"user": "admin"}, "want": 1}, "second": {"in": {}, "want": 2}})
                lines.append(f"{test}[name] if {{\n\tsome name, c in {cases}\n\tgot := {target} with input as c.in\n"
                             "\tgot == c.want\n}\n")
            elif form == 8:
                lines.append(f"{test} if {{\n\tnot {target} {given} with data.settings as {{\"limits\": {{\"cpu\": 7}}}}\n}}\n")
            elif form == 9:
                lines.append(f"{test} if {{\n\tx := {target} {given} with count as 3\n\tprint(\"value\", x)\n\tx == x\n}}\n")
            elif form == 10:
                lines.append(f"fake{at}(_) := 4\n\n{test} if {{\n\tnot {target} {given} with count as fake{at}\n}}\n")
            else:
                lines.append(f"{test} := v if some v in [true, {draw.pick(['true', 'false', '{target}'])}]\n"
                             .replace("{target}", target))
        path = name.replace(".", "/") + f"/m{number}_test.rego"
        self.files[path] = "\n".join(lines)
        self.tests.append(path)
