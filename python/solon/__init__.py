"""A policy engine for the Rego language.

>>> import solon
>>> engine = solon.Engine()
>>> engine.set_module("authz.rego", "package authz\\nallow if input.user in data.admins")
>>> engine.set_data({"admins": ["alice"]})
>>> engine.evaluate("authz/allow", {"user": "alice"})
True
>>> engine.evaluate("authz/allow", {"user": "mallory"})
solon.UNDEFINED
"""

from solon._errors import (
    CompileError,
    Entry,
    EvalError,
    InputError,
    Location,
    OutputError,
    SolonError,
    StackFrame,
    StoreError,
)
from solon._frozen import FrozenDict
from solon._native import UNDEFINED, Engine, UndefinedType, __version__

__all__ = [
    "UNDEFINED",
    "CompileError",
    "Engine",
    "Entry",
    "EvalError",
    "FrozenDict",
    "InputError",
    "Location",
    "OutputError",
    "SolonError",
    "StackFrame",
    "StoreError",
    "UndefinedType",
    "__version__",
]
