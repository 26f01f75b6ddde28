"""Objects for sets and keys, where Python requires hashable objects."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Any


class FrozenDict(Mapping[Hashable, Any]):
    """An immutable mapping. It equals a dict with the same items."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[Hashable, Any]) -> None:
        self._items = dict(items)
        self._hash = hash(frozenset(self._items.items()))

    def __getitem__(self, key: Hashable) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"FrozenDict({self._items!r})"
