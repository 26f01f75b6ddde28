#!/usr/bin/env python3
"""Tests the page at /ui in a real browser. Without a browser, the test is skipped with a message.

    tests/server/page.py PATH/TO/solon [--picture FILE.png]

Chromium (`SOLON_CHROMIUM`, or on the path) is driven over its debugging pipe, with only the standard library of Python.
"""

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

POLICIES = {
    "authz.rego": """package authz

default allow := false

allow if {
	some role in data.roles[input.user]
	grants(role, input.action)
}

grants(role, action) if data.grants[role][_] == action

echo := input
""",
    "deep/er.rego": "package deep.er\n\nmarkup := \"<img src=x onerror=alert(1)>\"\n",
    # the page is public because it contains no data; the rest requires the token
    "system.rego": """package system.authz

default allow := false

allow if input.path[0] == "ui"

allow if input.identity == "sesame"
""",
}
DATA = '{"roles": {"alice": ["dev", "ops"]}, "grants": {"dev": ["read"], "ops": ["read", "write"]}, "large": 12345678901234567890.50}'


class Browser:
    """A page of a headless browser."""

    def __init__(self, program, folder):
        to_browser, ours = os.pipe()
        theirs, from_browser = os.pipe()

        def descriptors():
            # the browser reads from 3 and writes to 4; the pipes may already have these numbers in swapped order
            reads, writes = os.dup(to_browser), os.dup(from_browser)
            high = [os.dup2(reads, 60), os.dup2(writes, 61)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        flags = ["--window-size=1280,900", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(
            [program, *flags, "about:blank"], preexec_fn=descriptors, close_fds=False, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self.ours, self.theirs, self.buffer, self.number, self.events = ours, theirs, b"", 0, []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.ours, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.theirs, 1 << 16)
            if not part:
                raise RuntimeError("the browser is gone")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def run(self, script):
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def until(self, script, want=True):
        for _ in range(1200):
            got = self.run(script)
            if got == want:
                return
            time.sleep(0.05)
        raise AssertionError(f"{script}: {got!r}, not {want!r}")

    def complaints(self):
        """Returns errors of scripts, the security policy and the network."""
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded", "Network.loadingFailed"}
        return [event for event in self.events if event.get("method") in kinds]

    def close(self):
        self.process.kill()
        self.process.wait()


def start(binary, folder, *flags):
    for name, text in {**POLICIES, "data.json": DATA}.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    command = [binary, "run", "--addr", "127.0.0.1:0", "--log-format", "json", "--ui", *flags, *POLICIES, "data.json"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        line = json.loads(line)
        if line["msg"] == "Server initialized.":
            # later output is read as well, so that the process never blocks
            subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)
            return process, f"http://{line['addrs']}"
    raise SystemExit("the server does not start")


def check(browser, url, token, picture):
    browser.call("Page.navigate", url=f"{url}/ui#document=authz/allow&input=%7B%22user%22%3A%22alice%22%2C%22action%22%3A%22write%22%7D&explain=full")
    text = "document.querySelector({!r})?.textContent ?? ''".format
    click = "document.querySelector({!r}).click()".format
    browser.until("document.readyState", "complete")
    if token:
        browser.until(f"({text('#notice')}).startsWith('unauthorized')")
        assert browser.run("document.querySelectorAll('#documents li').length") == 0
        browser.run(f"document.querySelector('#token').value = {token!r}")
        browser.run(click("#access button"))
    browser.until(text("#notice"), "")
    # the tree of policies, with their rules
    browser.until("[...document.querySelectorAll('#policies > li > details > summary')].map((it) => it.textContent).join()",
                  "authz.rego,deep/,system.rego")
    rules = "[...document.querySelectorAll('#policies > li:first-child ul button')].map((it) => it.textContent).join()"
    assert browser.run(rules) == "allow,grants,echo", browser.run(rules)
    browser.run(click("#policies > li summary button"))
    assert browser.run(text("#module")) == POLICIES["authz.rego"]
    # the tree of documents
    names = "[...document.querySelectorAll('#documents > li')].map((it) => it.querySelector('button').textContent).join()"
    browser.until(names, "authz,deep,grants,large,roles,system")
    browser.run("document.querySelectorAll('#documents > li > details')[2].open = true")
    browser.until("document.querySelectorAll('#documents > li > details')[2].querySelectorAll('li').length", 2)
    large = "[...document.querySelectorAll('#documents > li')].at(3).querySelector('.value').textContent"
    assert browser.run(large) == "12345678901234567890.50"
    # the URL has filled the form; no request was sent yet
    assert browser.run("document.querySelector('#subject').value") == "authz/allow"
    assert browser.run("document.querySelector('#answer').hidden")
    browser.run(click("#go"))
    browser.until("document.querySelector('#answer').hidden", False)
    assert browser.run(text("#decision")) == "true"
    assert "ms in the server" in browser.run(text("#timing"))
    assert browser.run("document.querySelectorAll('#times tr').length") >= 3
    # the trace is folded: the query, and below it, once unfolded, the entered rules
    top = "[...document.querySelectorAll('#search > li > details > summary')].map((it) => it.textContent).join('; ')"
    assert browser.run(top).startswith("Enterdata.authz.allow = _query:1holds; Redo"), browser.run(top)
    assert browser.run("document.querySelectorAll('#search ul li').length") == 0
    browser.run(click("#unfold"))
    browser.until("document.querySelectorAll('#search details:not([open])').length", 0)
    assert "Faildata.grants[role][_] = action" in browser.run(text("#search"))
    if picture:
        shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(picture, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
    # numbers keep their digits, and markup is shown as text
    browser.run("document.querySelector('#input').value = '[1.50, 12345678901234567890]'")
    browser.run("document.querySelector('#subject').value = 'authz/echo'")
    browser.run(click("#go"))
    browser.until(text("#decision"), "[\n  1.50,\n  12345678901234567890\n]")
    browser.run("document.querySelector('#kind').value = 'query'; document.querySelector('#input').value = ''")
    browser.run("document.querySelector('#subject').value = 'x := data.deep.er.markup; y := data.large'")
    browser.run(click("#go"))
    browser.until(f"({text('#decision')}).includes('<img src=x') && ({text('#decision')}).includes('12345678901234567890.50')")
    assert browser.run("document.images.length") == 0
    # errors with the server's message
    browser.run("document.querySelector('#subject').value = 'x = {'")
    browser.run(click("#go"))
    browser.until(f"({text('#notice')}).startsWith('invalid_parameter: error(s) occurred while parsing query')")
    assert token is None or token not in browser.run("location.href")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--picture")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    program = os.environ.get("SOLON_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not program:
        print("skipped: the page at /ui needs chromium")
        return
    for flags, token in [([], None), (["--authentication=token", "--authorization=basic"], "sesame")]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            server, url = start(binary, os.path.join(folder, "server"), *flags)
            browser = Browser(program, os.path.join(folder, "browser"))
            try:
                with urllib.request.urlopen(f"{url}/ui") as answer:
                    assert "default-src 'none'" in answer.headers["content-security-policy"]
                check(browser, url, token, args.picture)
                refused = [one for one in browser.complaints() if "401" not in str(one) and "400" not in str(one)]
                assert not refused, refused
            finally:
                browser.close()
                server.kill()
                server.wait()
        print(f"passed: {' '.join(flags) or 'without authentication'}")


if __name__ == "__main__":
    sys.exit(main())
