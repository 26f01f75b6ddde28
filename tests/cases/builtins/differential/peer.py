"""What those who ask generated calls share: a program to ask, what its answers come to, and how cases are written."""

import json
import queue
import re
import resource
import subprocess
import threading
from pathlib import Path

HERE = Path(__file__).parent
MODULE = "package k\n\nhide(x) := x\n"
MEMORY = 6 << 30

# not functions of their arguments: only calls that fail are compared
EFFECTS = {"http.send", "net.lookup_ip_addr", "opa.runtime", "rand.intn", "time.now_ns", "uuid.rfc4122"}
# no values, or no calls outside of rules
SKIPPED = {"assign", "eq", "internal.print", "internal.test_case", "print", "rego.metadata.chain", "rego.metadata.rule"}
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


class Peer:
    """A program that answers a line of JSON with one; it is started again when it dies or sleeps."""

    def __init__(self, program, patience):
        self.program, self.patience, self.process = program, patience, None

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
                    line = self.answers.get(timeout=self.patience)
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
    """A result as text, `None` for undefined, or code and message of an error."""
    if answer.get("errors"):
        error = answer["errors"][0]
        # the fields of this Go struct come in any order
        message = re.sub(r"struct \{ (D json.*?); (Kty.*?) \}", r"struct { \2; \1 }", error["message"])
        return [error["code"], message]
    if answer.get("bindings"):
        return answer["bindings"][0]["x"][1:-1]
    return None


def request(name, arguments, strict):
    """A call whose result is shown."""
    call = f"{name}({', '.join(arguments)})"
    if name == "walk":
        call = f"[y | walk({arguments[0]}, y)]"
    return {"modules": {"k.rego": MODULE}, "query": f'x := sprintf("%v", [[{call}]])', "strict_builtin_errors": strict}


def hidden(arguments):
    """Arguments that nobody knows before."""
    return [f"data.k.hide({x})" for x in arguments]


def is_unreadable(name, result):
    """Whether a result is a number that cannot be read again."""
    return name == "to_number" and isinstance(result, str) and not NUMBER.fullmatch(result)


def case(arguments, strict, lax):
    """What is recorded of a call."""
    expected = None if isinstance(strict, list) else strict
    return [arguments, strict] + ([] if lax == expected else [lax])


def family(name):
    """The file that a function's cases are in."""
    return re.sub(r"\W", "_", name.rsplit(".", 1)[0]) if "." in name else "plain"


def functions(wanted):
    """Names and declarations of the functions whose names start so, or of all."""
    for line in (HERE.parent / "declarations.txt").read_text().splitlines():
        name, declaration = line.split("\t")[:2]
        if name not in SKIPPED and (not wanted or name.startswith(wanted)):
            yield name, declaration


def known(path):
    return json.loads(path.read_text()) if path.exists() else {}


def write(path, functions):
    """Writes the cases of the functions of a family."""
    lines = []
    for name in sorted(functions):
        if functions[name]:
            cases = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in functions[name])
            lines.append(f" {json.dumps(name)}: [\n{cases}\n ]")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
