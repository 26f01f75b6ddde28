"""What the engine raises."""

from typing import NamedTuple, Optional


class Location(NamedTuple):
    """A place in a module."""

    file: str
    row: int
    col: int


class StackFrame(NamedTuple):
    """A query that was running when an evaluation ended early."""

    #: Its number, in the order in which queries began.
    query_id: int
    #: The expression that it had reached; None for one that no text has.
    location: Optional[Location]


class Entry(NamedTuple):
    """One thing that is wrong."""

    code: str
    message: str
    location: Optional[Location]
    details: tuple[str, ...]
    #: The queries that were running, innermost first.
    stack: tuple[StackFrame, ...] = ()


class SolonError(Exception):
    """Base of all errors of the engine."""

    #: All that is wrong, in the order it was found.
    errors: tuple[Entry, ...]

    def __init__(self, message: str, errors: tuple[Entry, ...] = ()) -> None:
        super().__init__(message, errors)
        self.errors = errors

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def code(self) -> str:
        """Code of the first thing that is wrong, like ``rego_parse_error``."""
        return self.errors[0].code if self.errors else ""

    @property
    def message(self) -> str:
        """Message of the first thing that is wrong, without its place."""
        return self.errors[0].message if self.errors else str(self)

    @property
    def location(self) -> Optional[Location]:
        """Place of the first thing that is wrong, if it has one."""
        return self.errors[0].location if self.errors else None


class CompileError(SolonError):
    """A module does not parse, or the modules together do not compile. Nothing has changed."""


class EvalError(SolonError):
    """An evaluation failed or was stopped. There is no decision."""


class EvaluationTimeout(EvalError, TimeoutError):
    """An evaluation exceeded its time limit."""

    def __init__(self, message: str, errors: tuple[Entry, ...] = ()) -> None:
        super().__init__(message, errors)
        # `OSError` takes two arguments for a number and a text
        self.errno = None
        self.strerror = None


class MemoryLimitExceeded(EvalError, MemoryError):
    """An evaluation, or an explanation, exceeded its memory limit. The process itself has memory left."""


class StepLimitExceeded(EvalError):
    """An evaluation exceeded its step limit."""


class EvaluationCancelled(EvalError):
    """An evaluation was stopped with ``Cancel``."""


class StoreError(SolonError):
    """Data cannot stand where it was to be written. Nothing has changed."""


class LoadError(SolonError):
    """Files cannot be loaded. Nothing has changed."""


class InputError(SolonError):
    """An object has no value in Rego."""


class OutputError(SolonError):
    """A value has no object in Python."""


class InternalError(SolonError):
    """A fault of the engine itself. There is no answer, and nothing has changed. Please report it."""
