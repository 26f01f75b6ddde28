#!/usr/bin/env python3
"""Asks OPA and Solon the same generated calls, and tells where they differ.

    OPA=path/to/opa SOLON=path/to/solon ./explore.py SEED CALLS [NAME…]

CALLS calls of each function whose name starts with a NAME, or of all. Each is asked strictly and not with operands that
nobody knows before, and once with constants. A difference is a line of JSON: the call, the form, what both said.
With RECORD=N, N calls of each function on which both agree are added to `edges/`, in the form of `record.py`.
"""

import json
import os
import queue
import random
import re
import resource
import subprocess
import sys
import threading
from pathlib import Path

import generators
from record import DEADLY, EFFECTS, MEMORY, MODULE, SKIPPED, split_types

HERE = Path(__file__).parent
BATCH = 24
PATIENCE = 20
# depends on the clock, which `lines` of the two set differently
CLOCK = {"crypto.x509.parse_and_verify_certificates"}
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


class Peer:
    """A program that answers a line of JSON with one; it is started again when it dies or sleeps."""

    def __init__(self, program):
        self.program, self.process = program, None

    def start(self):
        bound = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        self.process = subprocess.Popen([self.program, "lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=bound)
        self.answers = queue.Queue()
        threading.Thread(target=self.read, args=(self.process, self.answers), daemon=True).start()

    @staticmethod
    def read(process, answers):
        for line in process.stdout:
            answers.put(line)
        answers.put(None)

    def ask(self, requests):
        """The answers; `None` for what kills it or keeps it busy."""
        found = []
        while len(found) < len(requests):
            if self.process is None:
                self.start()
            rest = requests[len(found):]
            writer = threading.Thread(target=self.write, args=(self.process, rest), daemon=True)
            writer.start()
            for _ in rest:
                try:
                    line = self.answers.get(timeout=PATIENCE)
                except queue.Empty:
                    line = None
                if line is None:
                    self.process.kill()
                    self.process.wait()
                    self.process = None
                    found.append(None)
                    break
                found.append(json.loads(line))
            writer.join()
        return found

    @staticmethod
    def write(process, requests):
        try:
            process.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
            process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass


def outcome(answer):
    if answer is None:
        return "no answer"
    if answer.get("errors"):
        error = answer["errors"][0]
        # the fields of this Go struct come in any order
        message = re.sub(r"struct \{ (D json.*?); (Kty.*?) \}", r"struct { \2; \1 }", error["message"])
        return [error["code"], message]
    if answer.get("bindings"):
        return answer["bindings"][0]["x"][1:-1]
    return None


def requests(name, arguments):
    hidden = [f"data.k.hide({x})" for x in arguments]
    made = []
    for form, strict in ((hidden, True), (hidden, False), (arguments, True)):
        call = f"{name}({', '.join(form)})"
        if name == "walk":
            call = f"[y | walk({form[0]}, y)]"
        made.append({"modules": {"k.rego": MODULE}, "query": f'x := sprintf("%v", [[{call}]])', "strict_builtin_errors": strict})
    return made


def keep(name, cases, wanted):
    """Adds cases to the record."""
    family = re.sub(r"\W", "_", name.rsplit(".", 1)[0]) if "." in name else "plain"
    path = HERE / "edges" / f"{family}.json"
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    seen = {json.dumps(case[0]) for case in known.get(name, [])}
    fresh = [case for case in cases if json.dumps(case[0]) not in seen]
    known[name] = known.get(name, []) + fresh[:wanted]
    lines = []
    for one in sorted(known):
        if known[one]:
            written = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in known[one])
            lines.append(f" {json.dumps(one)}: [\n{written}\n ]")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def explore(peers, name, types, seed, count, wanted):
    chance = random.Random(f"{seed} {name}")
    asked, differences, agreed = set(), 0, []
    while len(asked) < count:
        batch = []
        for _ in range(min(BATCH, count - len(asked))):
            arguments = generators.arguments(chance, name, types)
            written = ", ".join(arguments)
            asked.add(len(asked))
            if any(re.search(function, name) and re.search(argument, written) for function, argument in DEADLY):
                continue
            batch.append(arguments)
        lines = [request for arguments in batch for request in requests(name, arguments)]
        answers = [None, None]
        threads = [threading.Thread(target=lambda at=at: answers.__setitem__(at, peers[at].ask(lines))) for at in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for at, arguments in enumerate(batch):
            theirs, ours = ([outcome(answer) for answer in side[3 * at:3 * at + 3]] for side in answers)
            if name == "to_number" and isinstance(theirs[0], str) and not NUMBER.fullmatch(theirs[0]):
                continue  # no number that can be read again
            if name in EFFECTS and not isinstance(theirs[0], list) and not isinstance(ours[0], list):
                continue
            same = True
            for form, wanted_, found in zip(("strict", "lax", "constant"), theirs, ours):
                if wanted_ != found:
                    same = False
                    print(json.dumps({"call": f"{name}({', '.join(arguments)})", "form": form, "opa": wanted_, "solon": found}, ensure_ascii=False), flush=True)
                    break
            differences += not same
            if same and not (isinstance(theirs[0], list) and not theirs[0][0].startswith("eval_")):
                expected = None if isinstance(theirs[0], list) else theirs[0]
                agreed.append([arguments, theirs[0]] + ([] if theirs[1] == expected else [theirs[1]]))
    if wanted and name not in EFFECTS:
        keep(name, agreed, wanted)
    return len(asked), differences


def main():
    seed, count, names = sys.argv[1], int(sys.argv[2]), tuple(sys.argv[3:])
    wanted = int(os.environ.get("RECORD", 0))
    peers = [Peer(os.environ["OPA"]), Peer(os.environ["SOLON"])]
    total = [0, 0]
    for line in (HERE.parent / "declarations.txt").read_text().splitlines():
        name, declaration = line.split("\t")[:2]
        types = split_types(declaration)
        if name in SKIPPED | CLOCK or names and not name.startswith(names) or not types:
            continue
        asked, differences = explore(peers, name, types, seed, count, wanted)
        total = [total[0] + asked, total[1] + differences]
        print(f"{name}: {asked} calls, {differences} differ", file=sys.stderr)
    print(f"{total[0]} calls, {total[1]} differ", file=sys.stderr)


if __name__ == "__main__":
    main()
