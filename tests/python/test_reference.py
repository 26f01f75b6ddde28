"""The stub documents every public item, and the reference page is generated from it."""

import ast
import doctest
import importlib.util
import re
from pathlib import Path

import pytest

import solon

ROOT = Path(__file__).parents[2]
STUB = ROOT / "python/solon/_native.pyi"


def load_generator():
    spec = importlib.util.spec_from_file_location("reference", ROOT / "python/reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public():
    """Yields the name and the node of each public class and function of the stub."""
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        if not isinstance(node, ast.ClassDef):
            continue
        yield node.name, node
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef):
                yield f"{node.name}.{inner.name}", inner


@pytest.mark.parametrize(("name", "node"), list(public()), ids=[name for name, _ in public()])
def test_the_stub_documents_it(name, node):
    text = ast.get_docstring(node)
    assert text, f"{name} has no docstring"
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("_") and node.name not in ("__call__", "__new__"):
        return
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names += [one.arg for one in (arguments.vararg, arguments.kwarg) if one]
    for one in names:
        if one not in ("self", "cls"):
            assert re.search(rf"^    {one}: \S", text, re.M), f"{name} does not document `{one}`"


def test_examples_of_the_stub_run():
    finder, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    attempted = 0
    for name, node in public():
        example = finder.get_doctest(ast.get_docstring(node) or "", {"solon": solon}, name, str(STUB), node.lineno)
        result = runner.run(example)
        assert result.failed == 0, name
        attempted += result.attempted
    assert attempted > 50


def test_the_page_is_current():
    page = load_generator()
    assert page.PAGE.read_text() == page.page(), "run `python3 python/reference.py`"


def test_the_page_has_every_public_item():
    page = load_generator()
    text = page.PAGE.read_text()
    headings = set(re.findall(r"^#{3,4} (\S+)$", text, re.M))
    listed = {name for names in page.SECTIONS.values() for name in names}
    assert listed == set(solon.__all__) - {"__version__"}
    for module, names in page.INTEGRATIONS.items():
        own = importlib.util.find_spec(f"solon.integrations.{module}").origin
        public = {name for name in page.definitions(own) if not name.startswith("_")}
        types = {"Scope", "Message", "Receive", "Send", "Application"}
        assert public - types == set(names) <= headings
    for name in listed:
        assert name in headings
        kind = getattr(solon, name)
        if not isinstance(kind, type):
            continue
        for member in vars(kind):
            if member.startswith("_") or issubclass(kind, tuple):
                continue
            entry = f"{name}.{member}" in headings or f"- `{member}: " in text or f"#: {member}" in text
            assert entry or issubclass(kind, Exception), f"{name}.{member}"
