"""The stubs match the binary, and the package passes type checks."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parents[2]


def run(*arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_match_the_binary():
    run("mypy.stubtest", "solon", "--mypy-config-file", "pyproject.toml")


def test_types():
    run("mypy", "--package", "solon")


def test_types_are_complete_for_pyright():
    pytest.importorskip("pyright")
    run("pyright", "--pythonpath", sys.executable, "python/solon")


def test_results_have_the_type_of_prepare(tmp_path):
    """Type checkers infer the type of results."""
    program = tmp_path / "program.py"
    program.write_text(
        """
import dataclasses
from typing import Any

from typing_extensions import assert_type

import solon


@dataclasses.dataclass
class Decision:
    allowed: bool


async def decide(engine: solon.Engine) -> None:
    typed = engine.prepare("data.p.x", result_type=Decision)
    assert_type(typed, solon.Document[Decision | solon.UndefinedType])
    assert_type(typed({}), Decision | solon.UndefinedType)
    assert_type(typed.evaluate_many([]), list[Decision | solon.UndefinedType])
    assert_type(await typed.evaluate_async({}), Decision | solon.UndefinedType)
    assert_type(await typed.allow_async({}), bool)
    assert_type(engine.prepare("data.p.x"), solon.Document[Any])
    assert_type(engine.prepare("data.p.x", result_type=Decision | None), solon.Document[Any])
    result = typed({})
    assert not isinstance(result, solon.UndefinedType)
    assert_type(result.allowed, bool)
"""
    )
    run("mypy", "--strict", "--python-version", "3.10", str(program))
