"""Row filters."""

import pytest

import solon

POLICY = """package filters

include if input.fruits.colour in input.favourites

include if startswith(input.fruits.name, input.prefix)

masks.fruits.owner.replace.value := "***" if not input.admin
"""


@pytest.fixture
def engine() -> solon.Engine:
    engine = solon.Engine()
    engine.set_module("filters.rego", POLICY)
    return engine


def test_a_rule_becomes_sql(engine: solon.Engine) -> None:
    fruits = engine.filters(
        "filters/include", "sql+postgresql", unknowns=["input.fruits"], mask_rule="masks"
    )
    made = fruits({"favourites": ["red", "green"]})
    assert made.query == "WHERE fruits.colour IN (E'red', E'green')"
    assert made.parameters == []
    assert made.masks == {"fruits": {"owner": {"replace": {"value": "***"}}}}
    assert fruits({"prefix": "a", "admin": True}).query == "WHERE fruits.name LIKE E'a%'"
    assert fruits({}).query == "WHERE 1 = 0"
    assert fruits.path == "filters/include"


def test_several_targets_at_once(engine: solon.Engine) -> None:
    targets = ["ucast+linq", "sql+mysql"]
    fruits = engine.filters(
        "filters/include",
        targets,
        unknowns=["input.fruits"],
        parameters=True,
        bare=True,
        mappings={"mysql": {"fruits": {"$self": "F"}}},
    )
    made = fruits({"favourites": ["red"]})
    assert made.queries == {
        "ucast+linq": {
            "type": "field",
            "operator": "in",
            "field": "fruits.colour",
            "value": ["red"],
        },
        "sql+mysql": "F.colour IN (?)",
    }
    assert made.all_parameters == {"ucast+linq": [], "sql+mysql": ["red"]}


def test_what_cannot_be_said_is_refused(engine: solon.Engine) -> None:
    fruits = engine.filters("filters/include", "sql+sqlite", unknowns=["input.fruits"])
    with pytest.raises(solon.CompileError) as refused:
        fruits({"prefix": "a"})
    assert refused.value.code == "pe_fragment_error"
    assert refused.value.location == ("filters.rego", 5, 12)
    said = engine.filters(
        "filters/include", "sql+sqlite", unknowns=["input.fruits"], extensions=True
    )
    assert "instr(" in said({"prefix": "a"}).query
    kept = engine.filters(
        "filters/include",
        "sql+postgresql",
        unknowns=["input.fruits"],
        disable_inlining=["data.filters.include"],
    )
    with pytest.raises(solon.CompileError):
        kept({"prefix": "a"})
    expected = r"unsupported variant for sql: oracle: expected one of .*sql\+postgresql, "
    with pytest.raises(solon.OptionsError, match=expected):
        engine.filters("filters/include", "sql+oracle")


@pytest.mark.parametrize(
    "name", ["filters/include", "/filters/include", "data.filters.include", 'data["filters"].include']
)
@pytest.mark.parametrize("masks", ["masks", "filters/masks", "data.filters.masks"])
def test_a_rule_has_several_names(engine: solon.Engine, name: str, masks: str) -> None:
    fruits = engine.filters(name, "sql+postgresql", unknowns=["input.fruits"], mask_rule=masks)
    assert fruits.path == "filters/include"
    made = fruits({"prefix": "a"})
    assert made.query == "WHERE fruits.name LIKE E'a%'"
    assert made.masks == {"fruits": {"owner": {"replace": {"value": "***"}}}}


@pytest.mark.parametrize("name", ["nope", "filters/nope", "data.filters.nope", "data/filters/include"])
def test_a_rule_that_does_not_exist_is_an_error(engine: solon.Engine, name: str) -> None:
    with pytest.raises(solon.NotFoundError, match="no rule and no document at"):
        engine.filters(name, "sql+postgresql", unknowns=["input.fruits"])
    with pytest.raises(solon.NotFoundError, match="no rule and no document at `data"):
        engine.filters(
            "filters/include", "sql+postgresql", unknowns=["input.fruits"], mask_rule=name
        )


def test_a_rule_that_is_removed_is_an_error(engine: solon.Engine) -> None:
    fruits = engine.filters("filters/include", "sql+postgresql", unknowns=["input.fruits"])
    engine.remove_module("filters.rego")
    with pytest.raises(solon.NotFoundError):
        fruits({"prefix": "a"})
