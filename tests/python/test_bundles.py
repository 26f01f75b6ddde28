"""Bundles: reading, verification, activation."""

import base64
import hashlib
import hmac
import io
import json
import tarfile

import pytest

import solon

POLICY = "package p\n\nx := data.p.n + 1\n"
FILES = {".manifest": '{"revision": "7", "roots": ["p"]}', "p.rego": POLICY, "p/data.json": '{"n": 1}'}
SECRET = "a secret of some length"


def archive(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def folder(path, files):
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def canonical(text, name):
    if name.endswith((".json", ".manifest")):
        return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    return text


def signed(files, secret=SECRET, **claims):
    """Adds signatures (HS256)."""

    def encode(value):
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        return base64.urlsafe_b64encode(text).rstrip(b"=")

    hashes = [
        {"name": name, "hash": hashlib.sha256(canonical(text, name).encode()).hexdigest(), "algorithm": "SHA-256"}
        for name, text in files.items()
    ]
    head = encode({"alg": "HS256", "typ": "JWT", "kid": "k"}) + b"." + encode({"files": hashes, **claims})
    mac = hmac.new(secret.encode(), head, hashlib.sha256).digest()
    token = (head + b"." + encode(mac)).decode()
    return {**files, ".signatures.json": json.dumps({"signatures": [token]})}


KEYS = {"k": solon.VerificationKey("HS256", SECRET)}


def test_archives_and_folders_are_read(tmp_path):
    engine = solon.Engine(offline=True)
    (tmp_path / "b.tar.gz").write_bytes(archive(FILES))
    for source in (archive(FILES), folder(tmp_path / "b", FILES), str(tmp_path / "b"), tmp_path / "b.tar.gz"):
        bundle = engine.read_bundle("b", source)
        assert (bundle.revision, bundle.roots) == ("7", ["p"])
        assert bundle.manifest == {"revision": "7", "roots": ["p"]}
        assert engine.bundles == [] and engine.evaluate("p/x") is solon.UNDEFINED
        engine.activate_bundle("b", bundle)
        assert engine.evaluate("p/x") == 2
        assert engine.bundles == [solon.ActiveBundle("b", "7", ["p"])]
        engine.deactivate_bundle("b")
        assert engine.bundles == [] and engine.evaluate("p/x") is solon.UNDEFINED
    engine.deactivate_bundle("b")
    assert "revision" in repr(bundle)


def test_several_bundles_are_one_change():
    engine = solon.Engine(offline=True)
    generation = engine.generation
    a = engine.read_bundle("a", archive({".manifest": '{"roots": ["a"]}', "a.rego": "package a\n\nx := data.b.x"}))
    b = engine.read_bundle("b", archive({".manifest": '{"roots": ["b"]}', "b.rego": "package b\n\nx := 1"}))
    engine.activate_bundles({"b": b, "a": a})
    assert engine.evaluate("a/x") == 1
    assert engine.generation == generation + 1
    assert [one.name for one in engine.bundles] == ["a", "b"]
    before = engine.snapshot()
    engine.activate_bundle("b", engine.read_bundle("b", archive({".manifest": '{"roots": ["b"]}', "b.rego": "package b\n\nx := 2"})))
    assert engine.evaluate("a/x") == 2 and engine.evaluate("a/x", snapshot=before) == 1


def test_delta_bundles_change_documents():
    engine = solon.Engine(offline=True)
    engine.activate_bundle("b", engine.read_bundle("b", archive(FILES)))
    patch = {"data": [{"op": "upsert", "path": "/p/n", "value": 41}]}
    delta = archive({".manifest": '{"revision": "8", "roots": ["p"]}', "patch.json": json.dumps(patch)})
    engine.activate_bundle("b", engine.read_bundle("b", delta))
    assert engine.evaluate("p/x") == 42
    assert engine.bundles[0].revision == "8"


def test_signatures_are_verified(tmp_path):
    engine = solon.Engine(offline=True)
    good = signed(FILES)
    for key in (SECRET, SECRET.encode()):
        keys = {"k": solon.VerificationKey("HS256", key)}
        engine.activate_bundle("b", engine.read_bundle("b", archive(good), keys=keys))
    assert engine.evaluate("p/x") == 2
    scoped = signed(FILES, scope="write")
    assert engine.read_bundle("b", archive(scoped), keys=KEYS, scope="write").revision == "7"
    assert engine.read_bundle("b", archive(scoped), keys={"k": solon.VerificationKey("HS256", SECRET, "write")})
    assert engine.read_bundle("b", archive({**good, "p/more.json": "{}"}), keys=KEYS, exclude=["p/more.json"])
    assert engine.read_bundle("b", archive(FILES), keys=KEYS, accept_unsigned=True)
    assert engine.read_bundle("b", archive({**good, "p.rego": "package p"}), skip_verification=True)
    in_folder = signed({f"b/{name}": text for name, text in FILES.items()})
    signatures = in_folder.pop(".signatures.json")
    path = folder(tmp_path / "b", {**FILES, ".signatures.json": signatures})
    assert engine.read_bundle("b", path, keys=KEYS).revision == "7"


REJECTED = [
    ("unsigned", FILES, {"keys": KEYS}),
    ("signed without keys", signed(FILES), {}),
    ("another secret", signed(FILES, "another secret of some length"), {"keys": KEYS}),
    ("a changed file", {**signed(FILES), "p.rego": "package p\n\nx := 1"}, {"keys": KEYS}),
    ("an additional file", {**signed(FILES), "p/q/data.json": "{}"}, {"keys": KEYS}),
    ("a missing file", {name: text for name, text in signed(FILES).items() if name != "p/data.json"}, {"keys": KEYS}),
    ("no scope", signed(FILES), {"keys": KEYS, "scope": "write"}),
    ("another scope", signed(FILES, scope="read"), {"keys": KEYS, "scope": "write"}),
    ("an unknown key", signed(FILES), {"keys": {"other": solon.VerificationKey("HS256", SECRET)}}),
    ("another algorithm", signed(FILES), {"keys": {"k": solon.VerificationKey("HS512", SECRET)}}),
    ("another key id", signed(FILES), {"keys": {**KEYS, "l": KEYS["k"]}, "key_id": "none"}),
    (
        "an unsigned delta",
        {".manifest": '{"roots": ["p"]}', "patch.json": '{"data": []}'},
        {"keys": KEYS},
    ),
]


@pytest.mark.parametrize(("files", "options"), [one[1:] for one in REJECTED], ids=[one[0] for one in REJECTED])
def test_bundles_without_the_required_signature_are_rejected(files, options):
    engine = solon.Engine(offline=True)
    with pytest.raises(solon.BundleSignatureError) as raised:
        engine.read_bundle("b", archive(files), **options)
    assert isinstance(raised.value, (solon.BundleError, solon.LoadError, ValueError))
    assert raised.value.errors and engine.generation == 0


BROKEN = [
    ("not an archive", b"text"),
    ("empty", b""),
    ("truncated", archive(FILES)[:-20]),
    ("a policy that does not parse", archive({"p.rego": "package p\n\nx := {"})),
    ("data that is not JSON", archive({"data.json": "{"})),
    ("a document outside of the roots", archive({".manifest": '{"roots": ["q"]}', "p/data.json": '{"n": 1}'})),
    ("a manifest that is not JSON", archive({".manifest": "{"})),
    ("a path that escapes", archive({"../p.rego": "package p"})),
]


@pytest.mark.parametrize("source", [one[1] for one in BROKEN], ids=[one[0] for one in BROKEN])
def test_broken_bundles_have_an_error_of_their_own(source):
    engine = solon.Engine(offline=True)
    for options in ({}, {"keys": KEYS}):
        with pytest.raises(solon.BundleError) as raised:
            engine.read_bundle("b", source, **options)
        assert not isinstance(raised.value, solon.BundleSignatureError)
        assert raised.value.errors


def test_a_missing_path_is_an_error(tmp_path):
    with pytest.raises(solon.BundleError):
        solon.Engine(offline=True).read_bundle("b", tmp_path / "missing")


def test_errors_of_activation_change_nothing():
    engine = solon.Engine(offline=True)
    engine.activate_bundle("b", engine.read_bundle("b", archive(FILES)))
    before = engine.generation
    with pytest.raises(solon.BundleError):
        engine.activate_bundle("other", engine.read_bundle("other", archive(FILES)))
    broken = archive({".manifest": '{"roots": ["q"]}', "q.rego": "package q\n\nx := data.p.f(1)\n\ny := z"})
    with pytest.raises(solon.CompileError):
        engine.activate_bundle("q", engine.read_bundle("q", broken))
    assert engine.generation == before and [one.name for one in engine.bundles] == ["b"]
    assert engine.evaluate("p/x") == 2


def test_contradictory_options_are_rejected():
    engine = solon.Engine(offline=True)
    with pytest.raises(ValueError, match="skip_verification"):
        engine.read_bundle("b", archive(FILES), keys=KEYS, skip_verification=True)
    with pytest.raises(ValueError, match="empty"):
        engine.read_bundle("b", archive(FILES), keys={"k": solon.VerificationKey("HS256", "")})
    with pytest.raises(TypeError):
        engine.read_bundle("b", 3)
