from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Final, Literal, NoReturn, TypedDict, TypeVar, final, overload, type_check_only

from typing_extensions import Unpack

__all__ = [
    "UNDEFINED",
    "Cancel",
    "Change",
    "Coverage",
    "Document",
    "Engine",
    "Explanation",
    "Metrics",
    "Snapshot",
    "Partial",
    "Profile",
    "Query",
    "Filter",
    "Filters",
    "Residuals",
    "UndefinedType",
    "__version__",
]

__version__: Final[str]

_Rego = Literal["v0", "v1"]
_Detail = Literal["full", "debug", "fails", "notes"]
_Call = TypeVar("_Call", bound=Callable[..., Any])

@type_check_only
class _Options(TypedDict, total=False):
    """Options of a call in addition to its input; ``None`` is the default."""

    strict_builtin_errors: bool
    snapshot: Snapshot | None
    time_limit: float | None
    step_limit: int | None
    memory_limit: int | None
    explanation_limit: int | None
    cancel: Cancel | None
    print: Callable[[str], object] | None
    nd_cache: dict[str, Any] | None
    metadata: Mapping[str, Any] | None
    response_metadata: dict[str, Any] | None
    metrics: Metrics | None
    coverage: Coverage | None
    profile: Profile | None

@type_check_only
class _CallOptions(_Options, total=False):
    input_json: str | bytes | None

@type_check_only
class _EngineOptions(TypedDict, total=False):
    strict: bool
    rego: _Rego | None
    time_limit: float | None
    step_limit: int | None
    memory_limit: int | None
    explanation_limit: int | None
    response_cache: int | None
    offline: bool
    now: int | None
    capabilities: str | None
    allow_net: list[str] | None
    allow_base_conflicts: bool

@final
class UndefinedType:
    def __bool__(self) -> bool: ...
    def __reduce__(self) -> str: ...

UNDEFINED: Final[UndefinedType]

@final
class Cancel:
    def __new__(cls) -> Cancel: ...
    @property
    def cancelled(self) -> bool: ...
    def cancel(self) -> None: ...

@final
class Snapshot:
    @property
    def generation(self) -> int: ...
    @property
    def modules(self) -> dict[str, str]: ...
    def get(self, path: str) -> Any: ...

@final
class Change:
    def set_module(self, name: str, text: str, *, rego: _Rego | None = None) -> None: ...
    def remove_module(self, name: str) -> None: ...
    def put(self, path: str, value: Any) -> None: ...
    def put_json(self, path: str, text: str | bytes) -> None: ...
    def delete(self, path: str) -> None: ...
    def patch(self, operations: Sequence[Mapping[str, Any]]) -> None: ...
    def load(
        self,
        *paths: str | PathLike[str],
        ignore: Sequence[str] = ...,
        bundles: bool = False,
    ) -> None: ...
    def check(self) -> Snapshot: ...
    def apply(self, *, metrics: Metrics | None = None) -> None: ...
    def __enter__(self) -> Change: ...
    def __exit__(
        self,
        raised: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool: ...

@final
class Explanation:
    @property
    def result(self) -> Any: ...
    @property
    def lines(self) -> list[str]: ...
    @property
    def events(self) -> list[dict[str, Any]]: ...
    def __bool__(self) -> NoReturn: ...
    def _repr_html_(self) -> str: ...

@final
class Coverage:
    def __new__(cls) -> Coverage: ...
    def report(self, snapshot: Snapshot) -> dict[str, Any]: ...

@final
class Profile:
    def __new__(cls) -> Profile: ...
    def rows(self, snapshot: Snapshot) -> list[dict[str, Any]]: ...

@final
class Metrics:
    def __new__(cls, *, instrument: bool = False) -> Metrics: ...
    def report(self) -> dict[str, int]: ...

@final
class Document:
    @property
    def path(self) -> str: ...
    @property
    def may_block(self) -> bool: ...
    @property
    def has_rules(self) -> bool: ...
    def __call__(
        self,
        input: Any = ...,
        *,
        input_json: str | bytes | None = None,
        **options: Unpack[_Options],
    ) -> Any: ...
    def allow(
        self,
        input: Any = ...,
        *,
        input_json: str | bytes | None = None,
        **options: Unpack[_Options],
    ) -> bool:
        """``True`` only if the document is exactly ``true``. An evaluation that fails raises."""
    def allow_async(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, bool]:
        """``allow`` on another thread, as an awaitable."""
    def __bool__(self) -> NoReturn: ...
    def evaluate_many(self, inputs: Iterable[Any], **options: Unpack[_Options]) -> list[Any]: ...
    def explain(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Explanation: ...
    def evaluate_async(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, Any]: ...

@final
class Query:
    @property
    def text(self) -> str: ...
    def __bool__(self) -> NoReturn: ...
    def __call__(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> list[dict[str, Any]]: ...
    def solutions(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> list[dict[str, Any]]: ...
    def explain(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Explanation: ...

@final
class Residuals:
    @property
    def queries(self) -> list[str]: ...
    @property
    def support(self) -> list[str]: ...
    @property
    def tree(self) -> dict[str, Any]: ...
    def __bool__(self) -> NoReturn: ...

@final
class Partial:
    @property
    def text(self) -> str: ...
    def __bool__(self) -> NoReturn: ...
    def __call__(self, input: Any = ..., **options: Unpack[_CallOptions]) -> Residuals: ...
    def explain(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Explanation: ...

@final
class Filters:
    @property
    def keeps(self) -> bool:
        """``True`` if the filter for the first target can select any row."""
    def __bool__(self) -> NoReturn: ...
    @property
    def query(self) -> str | dict[str, Any] | None: ...
    @property
    def parameters(self) -> list[Any] | None: ...
    @property
    def queries(self) -> dict[str, str | dict[str, Any] | None]: ...
    @property
    def all_parameters(self) -> dict[str, list[Any]]: ...
    @property
    def masks(self) -> dict[str, Any] | None: ...
    @property
    def hints(self) -> list[str]: ...

@final
class Filter:
    @property
    def path(self) -> str: ...
    def __bool__(self) -> NoReturn: ...
    def __call__(self, input: Any = ..., **options: Unpack[_CallOptions]) -> Filters: ...

@final
class Engine:
    def __new__(
        cls,
        *,
        decimal: bool = False,
        datetimes: Literal["rfc3339", "ns"] | None = None,
        **options: Unpack[_EngineOptions],
    ) -> Engine: ...
    @overload
    def function(self, name: _Call) -> _Call: ...
    @overload
    def function(
        self,
        name: str | None = None,
        *,
        args: Sequence[Any] | None = None,
        result: Any = None,
        pure: bool = True,
        waits: bool = False,
    ) -> Callable[[_Call], _Call]: ...
    def _add_function(
        self,
        name: str,
        declaration: str,
        function: Callable[..., Any],
        pure: bool,
        waits: bool,
    ) -> None: ...
    @property
    def generation(self) -> int: ...
    @property
    def modules(self) -> dict[str, str]: ...
    def set_module(self, name: str, text: str, *, rego: _Rego | None = None) -> None: ...
    def set_modules(self, modules: Mapping[str, str], *, rego: _Rego | None = None) -> None: ...
    def remove_module(self, name: str) -> None: ...
    def module_tree(self, name: str) -> dict[str, Any]: ...
    def load(
        self,
        *paths: str | PathLike[str],
        ignore: Sequence[str] = ...,
        bundles: bool = False,
    ) -> None: ...
    def set_data(self, data: Any) -> None: ...
    def set_data_json(self, text: str | bytes) -> None: ...
    def set_data_yaml(self, text: str | bytes) -> None: ...
    def get(self, path: str) -> Any: ...
    def put(self, path: str, value: Any) -> None: ...
    def patch(self, operations: Sequence[Mapping[str, Any]]) -> None: ...
    def delete(self, path: str) -> None: ...
    def change(self) -> Change: ...
    def snapshot(self) -> Snapshot: ...
    def prepare(self, document: str, *, must_exist: bool = False) -> Document: ...
    def query(
        self,
        text: str,
        *,
        package: str | None = None,
        imports: Sequence[str] = ...,
        unsafe_builtins: Sequence[str] = ...,
        metrics: Metrics | None = None,
    ) -> Query: ...
    def partial(
        self,
        text: str,
        *,
        unknowns: Sequence[str] | None = None,
        disable_inlining: Sequence[str] = ...,
        shallow_inlining: bool = False,
        nondeterministic_builtins: bool = False,
        skip_false_defaults: bool = False,
        namespace: str | None = None,
        skip_namespace: bool = False,
        package: str | None = None,
        imports: Sequence[str] = ...,
        unsafe_builtins: Sequence[str] = ...,
        metrics: Metrics | None = None,
    ) -> Partial: ...
    def filters(
        self,
        path: str,
        targets: str | Sequence[str],
        *,
        unknowns: Sequence[str] = ...,
        mask_rule: str | None = None,
        mappings: Mapping[str, Any] | None = None,
        disable_inlining: Sequence[str] = ...,
        parameters: bool = False,
        bare: bool = False,
        exact: bool = False,
        extensions: bool = False,
    ) -> Filter: ...
    def evaluate(
        self, path: str, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Any: ...
