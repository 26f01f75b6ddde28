"""``solon.format``."""

import pytest

import solon

CASES = [
    ("package p\nx:=1", {}, "package p\n\nx := 1\n"),
    ("package p # a\nx:=1 # b", {}, "package p # a\n\nx := 1 # b\n"),
    ("package p\nimport rego.v1\nallow if{input.x}", {}, "package p\n\nimport rego.v1\n\nallow if input.x\n"),
    ("package p\nimport rego.v1\nallow if{input.x}", {"drop_v0_imports": True}, "package p\n\nallow if input.x\n"),
    ("package p\nallow{input.x}", {"v0_compatible": True}, "package p\n\nallow {\n\tinput.x\n}\n"),
    ("package p\nallow{input.x}", {"v0_v1": True}, "package p\n\nimport rego.v1\n\nallow if input.x\n"),
    (
        "package p\nallow if input.x",
        {"v0_v1": True, "v1_compatible": True},
        "package p\n\nimport rego.v1\n\nallow if input.x\n",
    ),
    ("package p\nx := input[\"if\"]", {"capabilities": '{"features": ["rego_v1"]}'}, "package p\n\nx := input[\"if\"]\n"),
    ("package p\nx := \"é\"", {}, "package p\n\nx := \"é\"\n"),
]


@pytest.mark.parametrize(("source", "options", "expected"), CASES)
def test_modules_are_formatted(source, options, expected):
    formatted = solon.format(source, **options)
    assert formatted == expected
    # text for both versions is read as v1
    again = {} if "v0_v1" in options else options
    assert solon.format(formatted, **again) == expected


@pytest.mark.parametrize(
    ("source", "options", "code", "location"),
    [
        ("package p\n\nx := {", {"name": "p.rego"}, "rego_parse_error", ("p.rego", 3, 6)),
        ("package p\nallow{true}", {"name": "q.rego"}, "rego_parse_error", ("q.rego", 2, 1)),
    ],
)
def test_errors_have_a_row_and_a_column(source, options, code, location):
    with pytest.raises(solon.CompileError) as raised:
        solon.format(source, **options)
    assert raised.value.code == code
    assert raised.value.location == location
    assert isinstance(raised.value, ValueError)


def test_an_empty_text_is_an_error():
    with pytest.raises(solon.CompileError, match="empty module"):
        solon.format("")


def test_capabilities_must_be_json():
    with pytest.raises(ValueError, match="capabilities"):
        solon.format("package p", capabilities="{")


def test_bytes_are_not_text():
    with pytest.raises(TypeError):
        solon.format(b"package p")
