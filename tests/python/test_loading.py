"""Loading files and folders by OPA's rules."""

import subprocess
import sys

import pytest

import solon


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p" / "users").mkdir(parents=True)
    (tmp_path / "p" / "authz.rego").write_text("package authz\n\nallow if input.user in data.users.admins\n")
    (tmp_path / "p" / "users" / "data.json").write_text('{"admins": ["alice"]}')
    (tmp_path / "p" / "users" / "skip.yaml").write_text("guests: [eve]")
    return tmp_path


def test_folders_give_modules_and_documents(folder):
    engine = solon.Engine(offline=True)
    engine.put("kept", 1)
    engine.load(folder / "p", ignore=["skip.*"])
    assert engine.get("/") == {"kept": 1, "users": {"admins": ["alice"]}}
    assert engine.evaluate("authz/allow", {"user": "alice"}) is True
    engine.load(f"more:{folder / 'p' / 'users'}")
    assert engine.get("more") == {"admins": ["alice"], "guests": ["eve"]}


def test_a_change_takes_files_and_more_as_one(folder):
    engine = solon.Engine(offline=True)
    with engine.change() as change:
        change.load(folder / "p", ignore=["skip.*"])
        change.put("users/admins", ["bob"])
    assert engine.evaluate("authz/allow", {"user": "bob"}) is True
    with pytest.raises(solon.LoadError), engine.change() as change:
        change.put("users/admins", ["carol"])
        change.load(folder / "missing")
    assert engine.get("users/admins") == ["bob"]


def test_all_faults_are_told_and_nothing_changes(folder):
    (folder / "p" / "bad.rego").write_text("package x\n\np if {")
    (folder / "p" / "bad.json").write_text("{")
    engine = solon.Engine(offline=True)
    with pytest.raises(solon.LoadError) as raised:
        engine.load(folder / "p", folder / "missing")
    assert sorted(entry.code for entry in raised.value.errors) == ["load_error"] * 2 + ["rego_parse_error"]
    assert engine.modules == {} and engine.generation == solon.Engine().generation


def test_bundles_have_manifests(folder):
    (folder / "p" / ".manifest").write_text('{"roots": ["users"]}')
    engine = solon.Engine(offline=True)
    with pytest.raises(solon.LoadError, match="roots"):
        engine.load(folder / "p", bundles=True)
    (folder / "p" / ".manifest").write_text('{"roots": ["users", "authz"]}')
    engine.load(folder / "p", bundles=True)
    assert engine.evaluate("authz/allow", {"user": "alice"}) is True


def command(*arguments, **options):
    done = [sys.executable, "-m", "solon", *map(str, arguments)]
    return subprocess.run(done, capture_output=True, text=True, **options)


def test_the_command_line_answers(folder):
    (folder / "input.json").write_text('{"user": "alice"}')
    done = command("eval", "-d", folder / "p", "-i", folder / "input.json", "-f", "raw", "data.authz.allow")
    assert (done.returncode, done.stdout) == (0, "true\n"), done.stderr
    done = command("eval", "-d", folder / "p", "-I", "data.authz.allow", "--fail", input='{"user": "bob"}')
    assert (done.returncode, done.stdout) == (1, "{}\n")
    done = command("eval", "x := {1, 2}[_]", "-f", "bindings")
    assert done.stdout.split() == ["[", "{", '"x":', "1", "},", "{", '"x":', "2", "}", "]"]
    done = command("eval", '"a" in ["a"]')
    assert '"text": "\\"a\\" in [\\"a\\"]"' in done.stdout
    done = command("eval", "x := ")
    assert done.returncode == 2 and "rego_parse_error" in done.stderr
    assert command("eval", "-d", "missing", "1").returncode == 2
    assert command("--version").stdout == f"solon {solon.__version__}\n"
