#!/usr/bin/env python3
"""Writes seeds from the recorded cases: `tests/fuzz/seeds.py` fills `tests/fuzz/corpus/`."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONGEST = 20_000


def put(target, text):
    data = text if isinstance(text, bytes) else text.encode()
    if 0 < len(data) <= LONGEST:
        folder = HERE / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def seed(node):
    """Every module, input and text within a recorded case."""
    if isinstance(node, list):
        for item in node:
            seed(item)
    elif isinstance(node, dict):
        modules = node.get("modules")
        if isinstance(modules, dict):
            for text in modules.values():
                if isinstance(text, str):
                    put("parser", text)
                    put("evaluator", text + "\0" + json.dumps(node.get("input", {})))
        for key in ("query", "text", "module", "call"):
            if isinstance(node.get(key), str):
                put("parser", node[key])
                put("yaml", node[key])
        for item in node.values():
            seed(item)


def bundles():
    """The recorded bundles as files and as archives."""
    cases = json.loads((HERE.parent / "cases/bundles/read.json").read_text())
    for case in cases:
        files = [(file["path"], file["text"]) for file in case["files"]]
        put("bundle", "\0".join(f"{path}\n{text}" for path, text in files))
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for path, text in files:
                entry = tarfile.TarInfo(path)
                entry.size = len(text.encode())
                archive.addfile(entry, io.BytesIO(text.encode()))
        put("archive", packed.getvalue())


bundles()
for file in sorted((HERE.parent / "cases").rglob("*")):
    if not file.is_file():
        continue
    text = file.read_text(errors="replace")
    if file.suffix == ".rego":
        put("parser", text)
        put("evaluator", text)
    elif file.suffix in (".yaml", ".yml"):
        put("yaml", text)
    elif file.suffix in (".json", ".jsonl"):
        for line in text.splitlines()[:2000]:
            put("json", line)
            put("yaml", line)
            try:
                seed(json.loads(line))
            except ValueError:
                pass
