"""Runs one command with OPA and with Solon in equal folders, and compares all that can be seen."""

import difflib
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPA = os.environ.get("SOLON_ORACLE")
SOLON = os.environ.get("SOLON", str(ROOT / "target/release/solon"))

TIMES = [
    (re.compile(r" \([0-9.]+(ns|µs|ms|s|m[0-9.]+s)\)$", re.M), " (TIME)"),
    (re.compile(r'"duration": \d+'), '"duration": 0'),
    (re.compile(r'"decision_id": "[^"]*"'), '"decision_id": "ID"'),
    (re.compile(r'"time":"[^"]*"'), '"time":"TIME"'),
    # the parsers of YAML have messages of their own
    (re.compile(r"yaml: line \d+: [^\n\"]*"), "yaml"),
    (re.compile(r'"line": "#[^\n]*"idx": \d+', re.S), "DETAILS"),
    # OPA follows the rules of a cycle in any order
    (re.compile(r"is recursive: [^\n\"]*(\\\"[^\n\"]*)*"), "is recursive"),
    (re.compile(r' time="[^"]*"'), ' time="TIME"'),
]


def require_oracle():
    if not OPA:
        print("skipped: SOLON_ORACLE does not name a program of OPA")
        sys.exit(0)


class Folder:
    """A temporary folder with files."""

    def __init__(self, files):
        self.path = Path(tempfile.mkdtemp(prefix="solon-differential-"))
        self.write(files)

    def write(self, files):
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                content = content.encode()
            path.write_bytes(content)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def run(program, args, folder, stdin=b"", timeout=120):
    """Returns the exit code, standard output and standard error, without times."""
    done = subprocess.run([program, *args], cwd=folder, input=stdin, capture_output=True, timeout=timeout)
    texts = []
    for stream in (done.stdout, done.stderr):
        text = stream.decode(errors="replace")
        for pattern, replacement in TIMES:
            text = pattern.sub(replacement, text)
        texts.append(text)
    if args[0] == "exec" and "runtime error: " in texts[1]:
        # `exec` names a bundle that cannot be loaded in its own words
        texts[1] = "runtime error"
    if "illegal capabilities" in texts[1]:
        # OPA reports it for each file
        texts[1] = "illegal capabilities"
    if args[0] == "parse":
        # OPA takes texts for formats
        texts[0] = re.sub(r"%!?[a-z](\(MISSING\))?", "%", texts[0])
    return done.returncode, texts[0], without_excerpts(texts[1])


def without_excerpts(text):
    """Drops the lines of errors: Solon shows some that OPA does not show. Equal lines of logs are listed once."""
    lines = [line for line in text.splitlines() if not line.startswith("\t")]
    logs = sorted({line for line in lines if line.startswith('{"')})
    return "\n".join([line for line in lines if not line.startswith('{"')] + logs)


def entries(archive):
    """Returns the entries of an archive: name, mode, owner, time, bytes."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(Path(archive).read_bytes()))) as tar:
        return [(one.name, one.mode, one.uid, one.gid, one.mtime, tar.extractfile(one).read())
                for one in tar.getmembers()]


def difference(wanted, got):
    lines = difflib.unified_diff(str(wanted).splitlines(), str(got).splitlines(), "opa", "solon", lineterm="", n=2)
    return "\n".join(list(lines)[:40])


class Report:
    """Counts comparisons and prints the differences."""

    def __init__(self):
        self.count, self.differences = 0, 0

    def compare(self, what, wanted, got):
        self.count += 1
        if wanted == got:
            return True
        self.differences += 1
        print(f"=== {what}")
        if isinstance(wanted, tuple) and isinstance(got, tuple) and len(wanted) == len(got):
            for name, one, other in zip(("code", "stdout", "stderr"), wanted, got):
                if one != other:
                    print(f"--- {name}\n{difference(one, other)}")
        else:
            print(difference(wanted, got))
        sys.stdout.flush()
        return False

    def end(self):
        print(f"{self.count} comparisons, {self.differences} differences")
        return 1 if self.differences else 0
