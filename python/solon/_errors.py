"""Exceptions of the engine."""

from typing import NamedTuple, Optional


class Location(NamedTuple):
    """A location in a module."""

    file: str
    row: int
    col: int


class StackFrame(NamedTuple):
    """A query that was being evaluated when an evaluation ended early."""

    #: Its number, in the order in which queries were started.
    query_id: int
    #: The expression that was being evaluated; None if it has no source text.
    location: Optional[Location]


class ErrorDetail(NamedTuple):
    """One entry of an error."""

    code: str
    message: str
    location: Optional[Location]
    details: tuple[str, ...]
    #: The queries that were being evaluated, innermost first.
    stack: tuple[StackFrame, ...] = ()


class SolonError(Exception):
    """Base class of all errors of the engine."""

    #: All entries, in the order in which they were found.
    errors: tuple[ErrorDetail, ...]

    def __init__(self, message: str, errors: tuple[ErrorDetail, ...] = ()) -> None:
        super().__init__(message, errors)
        self.errors = errors

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def code(self) -> str:
        """Code of the first entry, like ``rego_parse_error``."""
        return self.errors[0].code if self.errors else ""

    @property
    def message(self) -> str:
        """Message of the first entry, without its location."""
        return self.errors[0].message if self.errors else str(self)

    @property
    def location(self) -> Optional[Location]:
        """Location of the first entry, if it has one."""
        return self.errors[0].location if self.errors else None


class CompileError(SolonError, ValueError):
    """A module does not parse, or the modules together do not compile. Nothing has changed."""


class EvalError(SolonError):
    """An evaluation failed or was stopped. It has not decided."""


class EvaluationTimeout(EvalError, TimeoutError):
    """An evaluation exceeded its time limit."""

    def __init__(self, message: str, errors: tuple[ErrorDetail, ...] = ()) -> None:
        super().__init__(message, errors)
        # `OSError` interprets two arguments as a number and a text
        self.errno = None
        self.strerror = None


class MemoryLimitExceeded(EvalError, MemoryError):
    """An evaluation, or an explanation, exceeded its memory limit. The process itself has memory left."""


class StepLimitExceeded(EvalError):
    """An evaluation exceeded its step limit."""


class EvaluationCancelled(EvalError):
    """An evaluation was cancelled with ``Cancel``."""


class NotFoundError(SolonError, KeyError):
    """A rule, a document or a module does not exist, where one is required."""


class OptionsError(SolonError, ValueError):
    """An option or a name is not valid: a target of filters, an unknown, a path, a function."""


class StoreError(SolonError, LookupError):
    """A base document does not exist, or cannot be written at its path. Nothing has changed."""


class LoadError(SolonError):
    """Files cannot be loaded. Nothing has changed."""


class BundleError(LoadError, ValueError):
    """A bundle cannot be read, or cannot be activated because another bundle owns its documents. Nothing has changed."""


class BundleSignatureError(BundleError):
    """A bundle is not signed as required: its signature is missing, invalid, by another key, or not expected."""


class InputError(SolonError, ValueError):
    """A Python object cannot be converted to a value."""


class OutputError(SolonError, ValueError):
    """A value cannot be converted to a Python object."""


class InternalError(SolonError, RuntimeError):
    """A bug of the engine. Nothing has changed. Please report it."""
