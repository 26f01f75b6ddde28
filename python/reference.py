"""Writes docs/python-api.md from the stub and the sources of the package: ``python3 python/reference.py``."""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Optional, Union

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python/solon"
PAGE = ROOT / "docs/python-api.md"

#: Public items by section. A class of options is named by its heading.
SECTIONS = {
    "Engine": ["Engine", "Change", "Snapshot"],
    "Evaluation": ["Document", "Query", "Explanation", "Cancel", "UNDEFINED", "UndefinedType", "FrozenDict"],
    "Partial evaluation and filters": ["Partial", "Residuals", "Filter", "Filters"],
    "Bundles": ["Bundle", "VerificationKey", "ActiveBundle"],
    "Formatting": ["format"],
    "Measurements": ["Metrics", "Coverage", "Profile"],
    "Errors": [
        "SolonError",
        "CompileError",
        "EvalError",
        "EvaluationTimeout",
        "MemoryLimitExceeded",
        "StepLimitExceeded",
        "EvaluationCancelled",
        "NotFoundError",
        "OptionsError",
        "StoreError",
        "LoadError",
        "BundleError",
        "BundleSignatureError",
        "InputError",
        "OutputError",
        "InternalError",
        "ErrorDetail",
        "Location",
        "StackFrame",
    ],
}
#: Public items of the modules of ``solon.integrations``.
INTEGRATIONS = {
    "asgi": ["PolicyMiddleware", "request_input"],
    "fastapi": ["require", "evaluate", "connection_input"],
}
OPTIONS = {
    "_CallOptions": "Options of an evaluation",
    "_Options": "Options of an evaluation",
    "_EngineOptions": "Options of an engine",
}
#: Constants have no docstring.
CONSTANTS = {"UNDEFINED": "The result of a document without a value. It is false, and differs from ``None``, which is ``null``."}

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


def definitions(*files: str) -> dict[str, ast.stmt]:
    """Returns the classes, functions and constants of files of the package by name."""
    found: dict[str, ast.stmt] = {}
    for file in files:
        for node in ast.parse((PACKAGE / file).read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                found[node.name] = node
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found[node.target.id] = node
    return found


def markdown(text: Optional[str]) -> Iterator[str]:
    """Converts a docstring to paragraphs, lists of arguments and examples."""
    section = None
    lines = iter(textwrap.dedent(text or "").strip().splitlines())
    for line in lines:
        heading = re.fullmatch(r"(Args|Returns|Raises|Example):", line)
        if heading:
            if section == "Example":
                yield "```"
            section = heading[1]
            yield {"Args": "Arguments", "Example": "Example"}.get(section, section) + ":"
            yield ""
            if section == "Example":
                yield "```text"
            continue
        if section == "Example":
            yield line.removeprefix("    ").rstrip()
            continue
        line = line.replace("``", "`")
        entry = re.match(r"    (\w+): (.*)", line)
        if section in ("Args", "Raises") and entry:
            yield f"- `{entry[1]}`: {entry[2]}"
        elif section:
            # a line that continues an entry
            yield (line.removeprefix("    ") if section == "Returns" else "  " + line.strip()).rstrip()
        else:
            yield line
    if section == "Example":
        yield "```"


def signature(node: Function, owner: Optional[str]) -> str:
    """Returns the signature as users call it."""
    arguments = ast.unparse(node.args)
    arguments = re.sub(r"^(self|cls)(, )?", "", arguments)
    arguments = re.sub(r"\*\*options: Unpack\[_\w+\]", "**options", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if owner and node.name in ("__new__", "__init__"):
        return f"{owner}({arguments})"
    name = f"{owner}.{node.name}" if owner else node.name
    if owner and node.name == "__call__":
        name = owner.lower()
    return f"{name}({arguments}){returns}"


def functions(node: ast.ClassDef) -> Iterator[Function]:
    """Returns the public functions of a class."""
    for inner in node.body:
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # protocols call the others
            special = inner.name == "__new__" or "Args:" in (ast.get_docstring(inner) or "")
            if special or not inner.name.startswith("_"):
                yield inner


def is_property(node: Function) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def fields(node: ast.ClassDef) -> Iterator[str]:
    """Returns the fields of a named tuple."""
    for inner in node.body:
        if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
            yield f"- `{inner.target.id}: {ast.unparse(inner.annotation)}`"


def described(name: str, node: ast.stmt) -> Iterator[str]:
    yield f"### {name}"
    yield ""
    if not isinstance(node, ast.ClassDef):
        if name in CONSTANTS:
            yield from markdown(CONSTANTS[name])
        else:
            assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield "```text"
            yield signature(node, None)
            yield "```"
            yield ""
            yield from markdown(ast.get_docstring(node))
        yield ""
        return
    bases = [ast.unparse(base) for base in node.bases]
    bases = [base for base in bases if not base.startswith(("Generic", "TypedDict"))]
    if bases:
        yield f"Base classes: `{', '.join(bases)}`."
        yield ""
    yield from markdown(ast.get_docstring(node))
    yield ""
    listed = list(fields(node))
    if listed:
        yield from listed
        yield ""
    properties = [one for one in functions(node) if is_property(one)]
    for one in properties:
        text = " ".join(markdown(ast.get_docstring(one))).strip()
        returns = ast.unparse(one.returns) if one.returns else "Any"
        yield f"- `{one.name}: {returns}`: {text}"
    if properties:
        yield ""
    before = None
    for one in functions(node):
        if is_property(one):
            continue
        if one.name != before:
            heading = {"__new__": f"{name}()", "__init__": f"{name}()", "__call__": f"{name.lower()}()"}
            yield f"#### {heading.get(one.name, f'{name}.{one.name}')}"
            yield ""
        before = one.name
        yield "```text"
        yield signature(one, name)
        yield "```"
        yield ""
        yield from markdown(ast.get_docstring(one))
        yield ""


def page() -> str:
    found = definitions("_native.pyi", "_bundles.py", "_errors.py", "_frozen.py")
    lines = [
        "# Python API",
        "",
        "Generated by `python/reference.py` from `python/solon/_native.pyi`. [Python](python.md) is the guide.",
        "",
    ]
    for section, names in SECTIONS.items():
        lines += [f"## {section}", ""]
        for name in names:
            lines += described(name, found[name])
    lines += ["## Integrations", ""]
    for module, names in INTEGRATIONS.items():
        inside = definitions(f"integrations/{module}.py")
        lines += [f"From `solon.integrations.{module}`:", ""]
        for name in names:
            lines += described(name, inside[name])
    for name, heading in (("_CallOptions", OPTIONS["_CallOptions"]), ("_EngineOptions", OPTIONS["_EngineOptions"])):
        lines += [f"## {heading}", ""]
        for part in ("_Options", name) if name == "_CallOptions" else (name,):
            text = list(markdown(ast.get_docstring(found[part])))  # type: ignore[arg-type]
            # the second class continues the list of the first
            lines += [line for line in text if line.startswith("- ")] if part == "_CallOptions" else text
        lines.append("")
    text = "\n".join(line.rstrip() for line in lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
