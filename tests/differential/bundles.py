#!/usr/bin/env python3
"""Compares bundles with OPA's: what OPA builds, Solon reads, and the reverse.

    SOLON_ORACLE=path/to/opa SOLON=path/to/solon ./bundles.py [SEED [COUNT]]

Each seed is a bundle with nested roots, modules of several Rego versions, documents, other files, a delta, or a signature. Both
programs build it, sign it, read the archive of the other and evaluate `data`. Archives must be equal entry by entry.
"""

import io
import json
import os
import random
import subprocess
import sys
import tarfile
from pathlib import Path

from peer import OPA, ROOT, SOLON, Folder, Report, entries, require_oracle, run

KEYS = ROOT / "tests/cases/bundles/keys"
ALGORITHMS = {
    "HS256": ("secret", "secret"), "HS384": ("secret", "secret"), "HS512": ("secret", "secret"),
    "RS256": ("rsa.pem", "rsa.pub"), "RS384": ("rsa.pem", "rsa.pub"), "RS512": ("rsa.pem", "rsa.pub"),
    "PS256": ("rsa.pem", "rsa.pub"), "PS384": ("rsa.pem", "rsa.pub"), "PS512": ("rsa.pem", "rsa.pub"),
    "ES256": ("ec.pem", "ec.pub"), "ES384": ("ec384.pem", "ec384.pub"), "ES512": ("ec521.pem", "ec521.pub"),
}
NAMES = ["a", "b", "c", "d e", "x-y", "v1", "ä", "k8s", "0"]
V1 = ["p := 1", "p contains x if some x in input.xs", "f(x) := x + 1", "q if {\n\t# why\n\tinput.user == \"alice\"\n}",
      "default allow := false", "r := [x |x:=1 ]", "s := data.a", "t[k] := v if some k, v in {\"a\": 1}",
      "# METADATA\n# title: u\n# entrypoint: true\nu := {\"<b>\": \"&\", \"n\": 1e3}"]
V0 = ["p = 1", "p[x] { x := input.xs[_] }", "f(x) = y { y := x + 1 }", "q { input.user == \"alice\" }", "default allow = false"]
V2 = ["import rego.v2", "p := 1"]
DOCUMENTS = ["1", '"x"', "[1, 2.50, 1e2]", '{"n": 12345678901234567890, "<": "&"}', "null", "{}", '{"u": "\\u00e9\\n"}', "true", "0.10"]


def key(name):
    return name if name == "secret" else str(KEYS / name)


class Drawn:
    """A bundle of a seed."""

    def __init__(self, seed):
        choose = self.random = random.Random(seed)
        self.files, self.manifest = {}, {}
        depth = lambda: [choose.choice(NAMES) for _ in range(1 + choose.randrange(3))]
        self.kind = choose.choice(["plain"] * 5 + ["v0", "versions", "yaml", "delta"])
        roots = []
        for _ in range(1 + choose.randrange(4)):
            root = depth()
            if not any(root[:len(other)] == other or other[:len(root)] == root for other in roots):
                roots.append(root)
        self.roots = roots
        versions = {}
        for at in range(choose.randrange(6)):
            package = choose.choice(roots) + ([choose.choice(NAMES)] if choose.randrange(2) else [])
            name = "/".join([*([choose.choice(["src", "policies", "x"])] * choose.randrange(2)), f"m{at}.rego"])
            is_v0 = self.kind == "v0" or self.kind == "versions" and choose.randrange(2)
            versions[name] = 0 if is_v0 else 1
            texts = V0 if is_v0 else V1
            rules = choose.sample(texts, 1 + choose.randrange(3))
            head = "package data_" if False else "package " + self.reference(package + [f"m{at}"])
            comment = ["# leading", ""] * choose.randrange(2)
            self.files[name] = "\n".join([*comment, head, "", *(f"{rule}\n" for rule in rules)])
        for at in range(choose.randrange(5)):
            folder = choose.choice(roots) + ["docs", *([choose.choice(NAMES)] * choose.randrange(2)), f"n{at}"]
            document = {f"k{at}": json.loads(choose.choice(DOCUMENTS))}
            text = "{" + f'"k{at}": {choose.choice(DOCUMENTS)}' + "}"
            if self.kind == "yaml" and choose.randrange(2):
                self.files["/".join([*folder, choose.choice(["data.yaml", "data.yml"])])] = f"k{at}: {choose.choice(['1', 'yes', '0x1f', '[a, b]', '{a: 1}'])}\n"
            else:
                self.files["/".join([*folder, "data.json"])] = text
        for at in range(choose.randrange(3)):
            self.files[f"notes/{at}.txt"] = "text\n"
        if choose.randrange(4):
            self.manifest = {"revision": f"r{seed}"}
            if choose.randrange(5):
                self.manifest["roots"] = ["/".join(root) for root in roots]
            if choose.randrange(2):
                self.manifest["metadata"] = {"z": 1, "a": {"<": [1.0, None]}}
            if self.kind == "v0":
                self.manifest["rego_version"] = 0
            if self.kind == "versions":
                self.manifest["rego_version"] = 1
                self.manifest["file_rego_versions"] = {f"/{name}": 0 for name, version in versions.items() if version == 0}
        elif self.kind in ("v0", "versions"):
            self.manifest = {"rego_version": 0 if self.kind == "v0" else 1, "revision": ""}
            if self.kind == "versions":
                self.manifest["file_rego_versions"] = {f"/{name}": 0 for name, version in versions.items() if version == 0}
        if self.manifest:
            self.files[".manifest"] = json.dumps(self.manifest)

    @staticmethod
    def reference(path):
        if not path[0].isascii() or not path[0].isidentifier():
            path = ["root", *path]
        return path[0] + "".join(f".{step}" if step.isascii() and step.isidentifier() else f"[{json.dumps(step)}]" for step in path[1:])

    def delta(self):
        """Returns the files of a delta bundle for this bundle."""
        path = "/" + "/".join([*self.random.choice(self.roots), "fresh"])
        operations = [{"op": "upsert", "path": path, "value": {"a": [1, 2]}}, {"op": "upsert", "path": path + "/b", "value": 3},
                      {"op": "replace", "path": path + "/a", "value": {"c": None}}, {"op": "remove", "path": path + "/b"}]
        operations = operations[:1 + self.random.randrange(4)]
        manifest = {"revision": "delta", "roots": self.manifest.get("roots", [""])}
        return {"patch.json": json.dumps({"data": operations}), ".manifest": json.dumps(manifest)}


def archive(files):
    """Writes an archive of files, as tools other than OPA do."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files.items():
            content = text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def compare(report, seed):
    drawn = Drawn(seed)
    choose = drawn.random
    files = {f"bundle/{name}": text for name, text in drawn.files.items()}
    v0 = ["--v0-compatible"] if drawn.kind == "v0" and choose.randrange(2) else []
    with Folder({**files, "input.json": '{"user": "alice", "xs": [3, 1, 3]}'}) as folder:

        def both(args):
            wanted, got = run(OPA, args, folder.path), run(SOLON, args, folder.path)
            report.compare(f"bundle {seed} ({drawn.kind}): {' '.join(args)}", wanted, got)
            return wanted[0] == 0 and got[0] == 0

        query = ["eval", *v0, "-i", "input.json", "data"]
        both([*query, "-b", "bundle"])
        if drawn.kind == "delta":
            folder.write({"hand.tar.gz": archive({f"/{name}": text for name, text in drawn.files.items()}),
                          "delta.tar.gz": archive({f"/{name}": text for name, text in drawn.delta().items()})})
            both([*query, "-b", "hand.tar.gz"])
            both([*query, "-b", "delta.tar.gz"])
            both(["inspect", "delta.tar.gz"])
            both(["build", "-b", "delta.tar.gz"])
            both(["inspect", "hand.tar.gz", "-f", "json"])
        flags = choose.choice([[], [], ["-r", "fixed"], ["--ignore", "notes"], ["-O", "1", "-e", "a/m0/p"]])
        signature, algorithm = [], None
        if choose.randrange(3) == 0:
            algorithm = choose.choice(sorted(ALGORITHMS))
            private, public = map(key, ALGORITHMS[algorithm])
            signature = ["--signing-key", private, "--signing-alg", algorithm]
            if choose.randrange(3) == 0:
                folder.write({"claims.json": json.dumps({"keyid": "default", "scope": "write", "iss": "x"})})
                signature += ["--claims-file", "claims.json"]
        build = ["build", *v0, *flags, *signature]
        plain = choose.randrange(4) == 0 and not drawn.manifest
        source = ["bundle"] if plain else ["-b", "bundle"]
        made = both([*build, *source, "-o", "SAME.tar.gz"])
        if not made:
            return
        run(OPA, [*build, *source, "-o", "opa.tar.gz"], folder.path)
        run(SOLON, [*build, *source, "-o", "solon.tar.gz"], folder.path)
        wanted, got = (entries(folder.path / f"{name}.tar.gz") for name in ("opa", "solon"))
        if algorithm and algorithm[:2] in ("PS", "ES"):
            # these signatures are random
            wanted, got = ([(*one[:5], one[5] if "signatures" not in one[0] else b"") for one in side] for side in (wanted, got))
        report.compare(f"bundle {seed} ({drawn.kind}): entries of {' '.join(build)}", wanted, got)
        for name in ("opa", "solon"):
            path = f"{name}.tar.gz"
            both([*query, "-b", path])
            both(["inspect", path])
            both(["inspect", "-f", "json", path])
            if algorithm:
                scope = ["--scope", "write"] if "--claims-file" in signature else []
                verify = ["--verification-key", public, "--signing-alg", algorithm]
                both(["build", *v0, "-b", path, *verify, *scope, "-o", "again.tar.gz"])
                both(["build", *v0, "-b", path, *verify, "--scope", "other", "-o", "again.tar.gz"])
                both(["build", *v0, "-b", path, "--verification-key", key(choose.choice(["secret", "ec.pub", "rsa.pub"])),
                      "--signing-alg", choose.choice(sorted(ALGORITHMS)), *scope, "-o", "again.tar.gz"])
                both(["exec", "-b", path, "--decision", "a", "input.json"])
        if algorithm and algorithm[:2] in ("HS", "RS"):
            both(["sign", "-b", "bundle", *signature, "-o", "."])
            tokens = []
            for program in (OPA, SOLON):
                run(program, ["sign", "-b", "bundle", *signature, "-o", "."], folder.path)
                tokens.append((folder.path / ".signatures.json").read_text())
            report.compare(f"bundle {seed}: signatures", *tokens)


def main():
    numbers = [int(text) for text in sys.argv[1:]]
    seed, count = [*numbers, *[1, 1000][len(numbers):]]
    require_oracle()
    report = Report()
    for number in range(seed, seed + count):
        compare(report, number)
        if number % 50 == 0:
            print(f"bundle {number}: {report.count} comparisons, {report.differences} differences", file=sys.stderr)
    sys.exit(report.end())


main()
