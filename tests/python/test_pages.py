"""Examples on pages and in docstrings are correct."""

import doctest
import re
from pathlib import Path

import pytest

import solon
import solon._native

ROOT = Path(__file__).parents[2]
NEEDS = ("fastapi", "django", "pandas")


def sections(page):
    """Returns the sections of a page with Python code, by heading."""
    text = (ROOT / page).read_text()
    for heading, section in re.findall(r"^## (.*?)$(.*?)(?=^## |\Z)", text, re.M | re.S):
        code = re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)
        if code:
            yield pytest.param(page, "\n".join(code), id=f"{page}: {heading}")


SHARED = {page: {"solon": solon} for page in ("README.md", "docs/python.md", "docs/quick-start.md")}


def pages():
    for page in SHARED:
        yield from sections(page)


@pytest.mark.parametrize(("page", "code"), list(pages()))
@pytest.mark.filterwarnings("ignore")
def test_pages_show_what_is_so(page, code):
    for module in NEEDS:
        if re.search(rf"^import {module}\b", code, re.M):
            pytest.importorskip(module)
    # later sections use objects of earlier ones
    exec(compile(code, page, "exec"), SHARED[page])


def test_sections_import_the_packages_that_they_use():
    # a section without the import would run, and fail, where the package is missing
    for page in SHARED:
        for section in sections(page):
            code = section.values[1]
            for module in NEEDS:
                assert module not in code or re.search(rf"^import {module}\b", code, re.M), (section.id, module)


def test_no_snippet_is_passed_over():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        name, snippets = str(page.relative_to(ROOT)), page.read_text().count("```python\n")
        assert not snippets or name in SHARED, name
        codes = [section.values[1] for section in sections(name)]
        found = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)
        assert snippets == len(found) and all(any(one in code for code in codes) for one in found)


def test_docstrings_show_what_is_so():
    for module in (solon, solon._native):
        failed, asked = doctest.testmod(module)
        assert failed == 0
    assert doctest.testmod(solon).attempted > 20


def test_everything_has_a_docstring():
    for name in solon.__all__:
        thing = getattr(solon, name)
        if name in ("UNDEFINED", "__version__"):
            continue
        assert thing.__doc__, name
        members = vars(thing) if isinstance(thing, type) else {}
        for member, inner in members.items():
            if not member.startswith("_") and callable(inner):
                assert inner.__doc__, f"{name}.{member}"


def test_the_table_names_what_there_is():
    table = (ROOT / "docs/embedding.md").read_text()
    rows = [row.split("|") for row in table.splitlines() if row.startswith("| ")][1:]
    header = (ROOT / "include/solon.h").read_text()
    assert len(rows) > 30
    for row in rows:
        for name in re.findall(r"`(solon_\w+)", row[3]):
            assert re.search(rf"\b{name}\b", header), name
        for field in re.findall(r"`\.(\w+)`", row[3]):
            assert re.search(rf"\b{field};", header), field
        for owner, name in re.findall(r"`(engine|change|allow)\.(\w+)", row[4]):
            kind = {"engine": solon.Engine, "change": solon.Change, "allow": solon.Document}[owner]
            assert hasattr(kind, name), f"{owner}.{name}"
