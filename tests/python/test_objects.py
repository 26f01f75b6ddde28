"""Conversions of application objects to values."""

import dataclasses
import datetime
import enum
import pickle
from collections.abc import Mapping
from typing import Any

import pytest

import solon


@pytest.fixture
def echo():
    return echo_of()


def echo_of(**options):
    engine = solon.Engine(offline=True, **options)
    engine.set_module("p.rego", "package p\n\nx := input")
    return engine.prepare("p/x")


@dataclasses.dataclass(frozen=True)
class User:
    name: str
    roles: list[str]
    boss: "User | None" = None


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Model:
    """Has the interface of pydantic models."""

    model_fields_set: set[str] = set()

    def model_dump(self):
        return {"id": 7, "tags": {"a"}}


class Index:
    def __index__(self):
        return 5


def test_objects_with_fields(echo):
    assert echo(User("alice", ["dev"], User("bob", []))) == {
        "name": "alice",
        "roles": ["dev"],
        "boss": {"name": "bob", "roles": [], "boss": None},
    }
    assert echo({"model": Model()}) == {"model": {"id": 7, "tags": {"a"}}}
    assert echo([Color.RED, Level.HIGH, Index()]) == ["red", 3, 5]
    with pytest.raises(solon.InputError, match="type"):
        echo(User)
    with pytest.raises(solon.InputError, match="cannot be converted to a Rego value"):
        echo(object())


def test_pydantic_models(echo):
    pydantic = pytest.importorskip("pydantic")

    class Request(pydantic.BaseModel):
        user: str
        score: float = 0.5

    assert echo(Request(user="alice")) == {"user": "alice", "score": 0.5}


def test_dates_are_refused_or_converted(echo):
    utc = datetime.timezone.utc
    moment = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=utc)
    with pytest.raises(solon.InputError, match="at /when: dates and times"):
        echo({"when": moment})
    with pytest.raises(solon.InputError, match="dates and times"):
        echo(datetime.date(2024, 2, 29))
    texts, numbers = echo_of(datetimes="rfc3339"), echo_of(datetimes="ns")
    assert texts(moment) == "2024-02-29T12:30:15.123456+00:00"
    assert texts(datetime.date(2024, 2, 29)) == "2024-02-29"
    assert numbers(moment) == 1_709_209_815_123_456_000
    for ask in (texts, numbers):
        with pytest.raises(solon.InputError, match="without a time zone"):
            ask(moment.replace(tzinfo=None))


def test_what_changes_while_it_is_read_is_an_exception(echo):
    class Growing(Mapping):
        def __init__(self, around):
            self.around = around

        def __getitem__(self, key):
            return 1

        def __iter__(self):
            self.around["more"] = len(self.around)
            return iter(["x"])

        def __len__(self):
            return 1

    around: dict[str, Any] = {}
    around["inner"] = Growing(around)
    around["last"] = 1
    with pytest.raises(solon.InputError, match="changed while"):
        echo(around)

    class Swapping(Growing):
        """Removes a key and adds another one."""

        def __iter__(self):
            for number in range(20):
                self.around[f"new{number}"] = self.around.pop(next(iter(self.around)), 1)
            return iter(["x"])

    for size in range(1, 12):
        around = {"inner": None, **{f"old{number}": number for number in range(size)}}
        around["inner"] = Swapping(around)
        try:
            assert len(echo(around)) <= size + 1
        except solon.InputError as error:
            assert "changed while" in str(error)

    class Raising(Mapping):
        def __getitem__(self, key):
            raise LookupError(key)

        def __iter__(self):
            raise RuntimeError("no keys")

        def __len__(self):
            return 1

        def items(self):
            raise RuntimeError("no items")

    with pytest.raises(RuntimeError, match="no items"):
        echo({"x": Raising()})

    class Silent(dict):
        """A dict whose methods raise. It is converted as a dict."""

        def keys(self):
            raise RuntimeError("no keys")

        items = __iter__ = keys

    class Unlisted(Raising):
        items = Mapping.items

        def keys(self):
            raise RuntimeError("no keys")

    class KeysRaise:
        """An object that resembles a mapping is not one."""

        def keys(self):
            raise RuntimeError("no keys")

        def __getitem__(self, key):
            return 1

    assert echo(Silent(a=1)) == {"a": 1}
    with pytest.raises(RuntimeError, match="no keys"):
        echo(Unlisted())
    with pytest.raises(solon.InputError, match="cannot be converted to a Rego value"):
        echo(KeysRaise())

    class Odd(Mapping):
        def __getitem__(self, key):
            return key

        def __iter__(self):
            return iter([])

        def __len__(self):
            return 0

        def items(self):
            return [1, 2]

    with pytest.raises((TypeError, ValueError)):
        echo(Odd())


def test_handles_are_not_pickled(echo):
    engine = solon.Engine()
    for handle in [engine, echo, engine.query("true"), engine.change(), engine.snapshot()]:
        with pytest.raises(TypeError, match="cannot pickle 'solon."):
            pickle.dumps(handle)
    assert pickle.loads(pickle.dumps(solon.UNDEFINED)) is solon.UNDEFINED
