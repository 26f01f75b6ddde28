"""A policy engine for the Rego language.

>>> import solon
>>> engine = solon.Engine()
>>> engine.set_module("authz.rego", "package authz\\nallow if input.user in data.admins")
>>> engine.set_data({"admins": ["alice"]})
>>> engine.evaluate("authz/allow", {"user": "alice"})
True
>>> allow = engine.prepare("data.authz.allow")
>>> allow.allow({"user": "mallory"})
False
>>> allow({"user": "mallory"})
solon.UNDEFINED
>>> allow.evaluate_many([{"user": "alice"}, {"user": "bob"}])
[True, solon.UNDEFINED]
"""

from solon._bundles import ActiveBundle, VerificationKey
from solon._errors import (
    BundleError,
    BundleSignatureError,
    CompileError,
    ErrorDetail,
    EvalError,
    EvaluationCancelled,
    EvaluationTimeout,
    InputError,
    InternalError,
    LoadError,
    Location,
    MemoryLimitExceeded,
    NotFoundError,
    OptionsError,
    OutputError,
    SolonError,
    StackFrame,
    StepLimitExceeded,
    StoreError,
)
from solon._frozen import FrozenDict
from solon._native import (
    UNDEFINED,
    Bundle,
    Cancel,
    Change,
    Coverage,
    Document,
    Engine,
    Explanation,
    Metrics,
    Snapshot,
    Partial,
    Profile,
    Query,
    Filter,
    Filters,
    Residuals,
    UndefinedType,
    __version__,
    format,
)

__all__ = [
    "UNDEFINED",
    "ActiveBundle",
    "Bundle",
    "BundleError",
    "BundleSignatureError",
    "Cancel",
    "Change",
    "CompileError",
    "Coverage",
    "Document",
    "Engine",
    "ErrorDetail",
    "EvalError",
    "EvaluationCancelled",
    "EvaluationTimeout",
    "Explanation",
    "FrozenDict",
    "InputError",
    "InternalError",
    "LoadError",
    "Location",
    "MemoryLimitExceeded",
    "Metrics",
    "NotFoundError",
    "OptionsError",
    "Snapshot",
    "OutputError",
    "Partial",
    "Profile",
    "Query",
    "Filter",
    "Filters",
    "Residuals",
    "SolonError",
    "StackFrame",
    "StepLimitExceeded",
    "StoreError",
    "UndefinedType",
    "VerificationKey",
    "__version__",
    "format",
]
