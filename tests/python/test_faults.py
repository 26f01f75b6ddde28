"""Panics of the engine raise an exception that says so. They never produce a result, and the process survives."""

import pytest
from solon import _native

import solon

FAULTS = [("panics", "injected")]


@pytest.fixture(scope="module")
def engine():
    return _native._faulty_engine()


@pytest.mark.parametrize(("name", "words"), FAULTS)
def test_faults_are_internal_errors(engine, name, words):
    input = {"x": 1}
    document = engine.prepare(f"data.t.{name}")
    query = engine.query(f"x := data.t.{name}")
    asked = [
        lambda: engine.evaluate(f"t/{name}", input),
        lambda: document(input),
        lambda: document(input_json='{"x": 1}'),
        lambda: document.evaluate_many([input, input]),
        lambda: query(input),
    ]
    for ask in asked * 3:
        with pytest.raises(solon.InternalError) as raised:
            ask()
        assert isinstance(raised.value, solon.SolonError)
        assert raised.value.code == "internal_error"
        assert raised.value.message.startswith(words)
        assert str(raised.value) == f"internal error: {raised.value.message}"
    assert engine.evaluate("t/sound", input) == 1


def test_a_search_that_panics_is_an_internal_error(engine):
    # as with any error, the explanation contains the steps before it, and its result raises
    explanation = engine.prepare("data.t.panics").explain({"x": 1})
    with pytest.raises(solon.InternalError):
        _ = explanation.result
    assert explanation.lines
