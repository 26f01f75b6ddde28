#!/usr/bin/env python3
"""Servers that download bundles and a discovered configuration from a service that answers in all manners.

`distribution.py SEED COUNT [FIRST]` draws scenarios: bundles, their settings, and the responses to each request. Both programs run on
each scenario. After each response their status, health, documents and policies are compared, without times, ids and ports.
"""

import base64
import concurrent.futures
import gzip
import hashlib
import hmac
import http.server
import io
import json
import os
import random
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.request

from peer import OPA, SOLON, Folder, Report, require_oracle

SECRET = "a-secret-of-thirty-two-bytes-long"
ZERO_TIME = "0001-01-01T00:00:00Z"
# bundles are polled each second; one that is not configured is never downloaded
STEP_LIMIT = 3
SETTLED = 0.4


def archive(files):
    """Returns a compressed archive."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo("/" + name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)


def text_of(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=")


def signatures(files, scope=None, key=SECRET, keyid=None, leave_out=(), wrong=()):
    """Returns the text of `.signatures.json`."""
    listed = []
    for name, content in files.items():
        if name in leave_out:
            continue
        if name.endswith((".json", ".manifest")):
            content = text_of(json.loads(content)).encode()
        digest = hashlib.sha256(content).hexdigest()
        listed.append({"name": name, "hash": digest[::-1] if name in wrong else digest, "algorithm": "SHA-256"})
    payload = {"files": listed}
    if scope:
        payload["scope"] = scope
    header = {"alg": "HS256", **({"kid": keyid} if keyid else {})}
    signed = encoded(json.dumps(header).encode()) + b"." + encoded(json.dumps(payload).encode())
    tag = hmac.new(key.encode(), signed, hashlib.sha256).digest()
    return json.dumps({"signatures": [(signed + b"." + encoded(tag)).decode()]}).encode()


class Draw:
    """Draws a scenario from a number."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")

    def chance(self, share):
        return self.random.random() < share

    def scenario(self):
        pick = self.random.choice
        signed = self.chance(0.3)
        names = pick([["main"], ["main"], ["main", "other"]])
        config = {"services": {"s": {"url": "http://127.0.0.1:PORT"}}, "status": {"service": "s"}, "labels": {"app": "a"}}
        polling = {"min_delay_seconds": 1, "max_delay_seconds": 1}
        bundles, scripts = {}, {}
        for name in names:
            bundle = {"service": "s", "resource": f"/b/{name}", "polling": polling}
            deltas = not self.chance(0.2)
            if not deltas:
                bundle["persist"] = True
            if self.chance(0.1):
                bundle["size_limit_bytes"] = pick([10, 100, 1000])
            if signed:
                bundle["signing"] = {"keyid": "k", **({"scope": "read"} if self.chance(0.3) else {})}
            bundles[name] = bundle
            # roots of two bundles may overlap
            own = name if self.chance(0.85) else "main"
            scripts[f"/b/{name}"] = [self.response(own, at, signed, deltas) for at in range(pick([3, 4, 5]))]
            if name == "other":
                # which of two bundles with overlapping roots is activated first is random
                scripts["/b/other"].insert(0, {"status": 204})
                for response in scripts["/b/main"] + scripts["/b/other"]:
                    if response.get("kind") in ("empty", "outside"):
                        response.update(status=404, kind="404")
        if signed or self.chance(0.15):
            config["keys"] = {"k": {"algorithm": "HS256", "key": SECRET}}
        if self.chance(0.3):
            discovered = {"bundles": bundles, "status": {"service": "s"}}
            if self.chance(0.5):
                discovered["labels"] = {"region": "eu"}
            if self.chance(0.3):
                discovered["decision_logs"] = {"console": True}
            if self.chance(0.3):
                discovered["default_decision"] = "/main/p"
            config.pop("status")
            config["discovery"] = {"service": "s", "resource": "/d", "polling": polling}
            if self.chance(0.5):
                config["discovery"]["decision"] = "config/all"
            scripts["/d"] = [self.discovery(discovered, at) for at in range(pick([1, 2, 3]))]
        else:
            config["bundles"] = bundles
        return {"config": config, "scripts": scripts}

    def discovery(self, document, at):
        document = json.loads(json.dumps(document))
        kind = self.random.choice(["good", "good", "good", "404", "labels", "service", "rego"])
        files = {"data.json": json.dumps({"config": {"all": document}}).encode()}
        if kind == "labels":
            document["labels"] = {"app": "b", "x": "y"}
        elif kind == "service":
            document["services"] = {"s": {"url": "http://127.0.0.1:1"}}
        elif kind == "404":
            return {"status": 404}
        if kind == "rego":
            policy = "package config\n\nall := data.stored\n"
            files = {"p.rego": policy.encode(), "stored/data.json": json.dumps(document).encode()}
        elif kind != "good":
            files = {"data.json": json.dumps({"config": {"all": document}}).encode()}
        return {"status": 200, "etag": f"d{at}", "body": archive(files)}

    def response(self, name, at, signed, deltas):
        # docs/differences.md lists what is different for invalid documents
        kinds = ["good"] * 6 + ["same", "401", "404", "500", "429", "204", "no_gzip", "truncated", "empty", "parse", "type", "roots",
                 "delta", "delta_policy", "delta_roots", "bad_manifest", "other_version", "conflict", "no_etag",
                 "bad_roots", "two_docs", "wasm", "metadata", "yaml", "outside", "bad_regov"]
        if signed:
            kinds += ["unsigned", "changed", "extra", "scope", "two", "wrong_key", "missing_file", "no_jwt", "not_json", "kid"] * 2
        kind = self.random.choice([kind for kind in kinds if deltas or kind != "delta_roots"])
        if kind.isdigit():
            return {"status": int(kind), "kind": kind}
        if kind == "same" and at:
            return {"status": 304, "kind": kind}
        if kind == "no_gzip":
            return {"status": 200, "body": b"not an archive", "kind": kind}
        manifest = {"revision": f"r{at}", "roots": [name]}
        files = {
            f"{name}/p.rego": f"package {name}\n\np := {at}\n\nq if input.x == data.{name}.d.x\n".encode(),
            f"{name}/d/data.json": json.dumps({"x": at}).encode(),
        }
        if kind == "parse":
            files[f"{name}/p.rego"] = f"package {name}\n\np := \nq if {{\n".encode()
        elif kind == "type":
            files[f"{name}/p.rego"] = f"package {name}\n\np := x\nq := 1 + \"a\"\n".encode()
        elif kind == "roots":
            files[f"{name}/o.rego"] = b"package elsewhere\n\np := 1\n"
        elif kind == "bad_manifest":
            return {"status": 200, "body": archive({".manifest": b"{", **files}), "kind": kind}
        elif kind == "other_version":
            manifest["rego_version"] = 0
            files[f"{name}/p.rego"] = f"package {name}\n\np = {at} {{ true }}\n".encode()
        elif kind == "conflict":
            files[f"{name}/e/data.json"] = b"{\"x\": 1}"
            files[f"{name}/e.rego"] = f"package {name}.e\n\nx := 2\n".encode()
        elif kind == "bad_roots":
            manifest["roots"] = [name, f"{name}/d"]
        elif kind == "two_docs":
            files[f"{name}/d/data.yaml"] = b"y: 1\n"
        elif kind == "yaml":
            files[f"{name}/d/data.yaml"] = b"y: 1\nz: [yes, 0x10]\n"
            del files[f"{name}/d/data.json"]
        elif kind == "wasm":
            files["policy.wasm"] = b"\0asm"
        elif kind == "metadata":
            manifest["metadata"] = {"a": [1, {"b": None}]}
        elif kind == "outside":
            del manifest["roots"]
        elif kind == "bad_regov":
            manifest["rego_version"] = 9
        elif kind.startswith("delta"):
            patch = {"op": "upsert", "path": f"/{name}/d/y", "value": at}
            if kind == "delta_roots":
                patch["path"] = "/elsewhere/y"
            files = {"patch.json": json.dumps({"data": [patch]}).encode()}
            if kind == "delta_policy":
                files[f"{name}/p.rego"] = f"package {name}\n\np := 99\n".encode()
        elif kind == "empty":
            files, manifest = {}, {}
        files = {".manifest": json.dumps(manifest).encode(), **files} if manifest else files
        if signed and kind != "unsigned":
            scope = "read" if self.chance(0.5) else None
            if kind == "scope":
                scope = "write"
            text = signatures(
                files, scope, key="another" if kind == "wrong_key" else SECRET, keyid={"kid": "unknown"}.get(kind),
                leave_out=[f"{name}/p.rego"] if kind == "extra" else [], wrong=[f"{name}/p.rego"] if kind == "changed" else [])
            if kind == "two":
                text = json.dumps({"signatures": json.loads(text)["signatures"] * 2}).encode()
            elif kind == "no_jwt":
                text = b"{\"signatures\": []}"
            elif kind == "not_json":
                text = b"[]"
            elif kind == "missing_file":
                files.pop(f"{name}/p.rego", None)
            files[".signatures.json"] = text
        body = archive(files)
        if kind == "truncated":
            body = body[: len(body) // 2]
        etag = None if kind == "no_etag" else f"{kind}{at}"
        return {"status": 200, "etag": etag, "body": body, "kind": kind}


class Service(http.server.ThreadingHTTPServer):
    """Answers each request for a bundle with the next response of its script, the last one forever; keeps the posted status."""

    daemon_threads = True

    def __init__(self, scripts):
        super().__init__(("127.0.0.1", 0), Handler)
        self.port = self.server_address[1]
        self.scripts = {path: list(responses) for path, responses in scripts.items()}
        self.counts = dict.fromkeys(scripts, 0)
        # requests of later steps wait
        self.step = 0
        self.status = None
        self.requests = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def response(self, path):
        script = self.scripts.get(path)
        if script is None:
            return {"status": 404}
        at = min(self.counts[path], len(script) - 1)
        return script[at]

    def handle_error(self, request, client_address):
        """A program that is stopped closes its connections."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        server = self.server
        while server.counts.get(self.path, 0) >= server.step:
            time.sleep(0.01)
        response = server.response(self.path)
        server.requests.append((self.path, self.headers.get("If-None-Match"), self.headers.get("Prefer")))
        etag = response.get("etag")
        is_same = etag is not None and self.headers.get("If-None-Match") == etag
        body = b"" if is_same else response.get("body", b"")
        self.send_response(304 if is_same else response["status"])
        if etag is not None:
            self.send_header("ETag", etag)
        self.send_header("Content-Type", "application/gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if response["status"] not in (204, 304):
            self.wfile.write(body)
        server.counts[self.path] = server.counts.get(self.path, 0) + 1

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path == "/status":
            self.server.status = json.loads(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def get(address, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{address}{path}", timeout=10) as got:
            return got.status, json.loads(got.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")
    except OSError as error:
        return 0, type(error).__name__


def normal(value, port):
    """Returns a value without times, ids and ports."""
    if isinstance(value, dict):
        kept = {}
        for key, member in value.items():
            if key == "metrics":
                kept[key] = sorted(member) if isinstance(member, dict) else member
            elif isinstance(member, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)", member):
                kept[key] = member if member == ZERO_TIME else "TIME"
            elif key in ("version", "id", "decision_id"):
                kept[key] = "X"
            else:
                kept[key] = normal(member, port)
        return kept
    if isinstance(value, list):
        return [normal(one, port) for one in value]
    if isinstance(value, str):
        value = value.replace(str(port), "PORT")
        return re.sub(r"yaml: [^\n]*", "yaml", value)
    return value


def get_result(port, path, *members):
    """Returns a member of a response, or `None`."""
    value = get(port, path)[1]
    for member in members:
        value = value.get(member) if isinstance(value, dict) else None
    return value


def observe(program, flags, scenario):
    """Returns what can be seen after each step: status, health, documents, policies."""
    service = Service(scenario["scripts"])
    config = json.loads(json.dumps(scenario["config"]).replace("PORT", str(service.port)))
    config["persistence_directory"] = "store"
    port = free_port()
    steps = []
    with Folder({"c.json": json.dumps(config)}) as folder, open(folder.path / "log", "wb") as log:
        process = subprocess.Popen(
            [program, "run", "-s", "-c", "c.json", "--addr", f"127.0.0.1:{port}", *flags],
            cwd=folder.path, stdout=log, stderr=log)
        try:
            longest = max(len(script) for script in scenario["scripts"].values())
            for step in range(1, longest + 2):
                service.step = step
                end = time.monotonic() + STEP_LIMIT
                while time.monotonic() < end and process.poll() is None:
                    if all(count >= step for count in service.counts.values()):
                        break
                    time.sleep(0.01)
                time.sleep(SETTLED)
                sent = service.status or {}
                # OPA counts a configuration that it rejects
                sent.get("discovery", {}).pop("size", None)
                shown = {key: sent.get(key) for key in ("bundles", "discovery", "labels")}
                steps.append({
                    "alive": process.poll() is None,
                    "sent status": normal(shown, service.port),
                    "status": normal(get_result(port, "/v1/status", "result", "bundles"), service.port),
                    "health": [get(port, f"/health{query}")[0] for query in ("", "?bundles", "?plugins")],
                    "documents": normal(get_result(port, "/v1/data"), port),
                    "policies": sorted(one["id"] for one in get_result(port, "/v1/policies", "result") or []),
                    "provenance": get_result(port, "/v1/data/main/p?provenance", "provenance", "bundles"),
                })
                if process.poll() is not None:
                    break
        finally:
            service.step = sys.maxsize
            process.terminate()
            code = process.wait()
            service.shutdown()
            service.server_close()
        if steps and not steps[-1]["alive"]:
            steps.append({"code": code})
    return steps


def main():
    require_oracle()
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    report = Report()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("SOLON_JOBS", "8"))) as pool:
        def both(number):
            scenario = Draw(seed, number).scenario()
            return number, scenario, observe(OPA, [], scenario), observe(SOLON, ["--compat", "opa"], scenario)
        for number, scenario, wanted, got in pool.map(both, range(first, first + count)):
            kinds = {path: [one.get("kind", one["status"]) for one in script] for path, script in scenario["scripts"].items()}
            for at, (one, other) in enumerate(zip(wanted, got)):
                name = f"{number} step {at} {kinds} {text_of(scenario['config'])}"
                shown = [json.dumps(step, indent=1, sort_keys=True) for step in (one, other)]
                if not report.compare(name, *shown):
                    break
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
