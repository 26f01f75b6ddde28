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
    run("pyright", "python/solon")
