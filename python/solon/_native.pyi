from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from os import PathLike
from types import GenericAlias, TracebackType
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    NoReturn,
    TypedDict,
    TypeVar,
    final,
    overload,
    type_check_only,
)

from typing_extensions import Unpack

from solon._bundles import ActiveBundle, VerificationKey

__all__ = [
    "UNDEFINED",
    "Bundle",
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
    "format",
]

__version__: Final[str]

_Rego = Literal["v0", "v1"]
_Detail = Literal["full", "debug", "fails", "notes"]
_Call = TypeVar("_Call", bound=Callable[..., Any])
_Result = TypeVar("_Result")
_Model = TypeVar("_Model")

@type_check_only
class _Options(TypedDict, total=False):
    """Options of an evaluation in addition to its input. ``None`` is the default.

    Args:
        strict_builtin_errors: The first error of a built-in function raises ``EvalError``. By default the expression is undefined.
        snapshot: Snapshot to evaluate. The default is the current one.
        time_limit: Seconds after which the evaluation raises ``EvaluationTimeout``.
        step_limit: Number of loop iterations and calls after which it raises ``StepLimitExceeded``.
        memory_limit: Bytes above which it raises ``MemoryLimitExceeded``.
        explanation_limit: Memory limit of an explanation in bytes.
        cancel: Object that cancels the evaluation from another thread.
        print: Receives each line that the policy prints.
        nd_cache: Results of non-deterministic functions. They are looked up in it, and added to it.
        metadata: Fields of the request that host functions may read.
        response_metadata: Receives fields that host functions add to the response.
        metrics: Receives times and counts.
        coverage: Receives the lines that were evaluated. Makes the evaluation slower.
        profile: Receives times by row. Makes the evaluation slower.
    """

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
    """Options of an evaluation, and its input as text.

    Args:
        input_json: The input as JSON text, instead of an object.
    """
    input_json: str | bytes | None

@type_check_only
class _EngineOptions(TypedDict, total=False):
    """Options of an engine. ``None`` is the default.

    Args:
        strict: Enables the compiler checks of strict mode.
        rego: Rego version of modules that do not declare one: ``"v1"`` (the default) or ``"v0"``.
        time_limit: Time limit of an evaluation in seconds. Unlimited by default.
        step_limit: Limit of loop iterations and calls of an evaluation. Unlimited by default.
        memory_limit: Memory limit of an evaluation in bytes, 1 GiB by default.
        explanation_limit: Memory limit of an explanation in bytes, 256 MiB by default.
        response_cache: Size of the cache of ``http.send`` responses in bytes, 64 MiB by default.
        offline: Disables the network: a request raises ``EvalError``.
        now: Fixed time of the clock in nanoseconds since 1970. Implies ``offline``.
        capabilities: Features that policies may use, JSON text in OPA's format.
        allow_net: Hosts that policies may connect to.
        allow_base_conflicts: Allows data at the paths of rules.
    """
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

def format(
    source: str,
    *,
    name: str = "",
    v0_compatible: bool = False,
    v0_v1: bool = False,
    v1_compatible: bool = False,
    drop_v0_imports: bool = False,
    capabilities: str | None = None,
) -> str:
    """Formats the text of a module as ``solon fmt`` does. The options are its flags.

    Args:
        source: Source text of the module.
        name: Name of the module in errors.
        v0_compatible: Reads and writes Rego v0.
        v0_v1: Reads Rego v0 and writes text that is valid as v0 and as v1.
        v1_compatible: Reads Rego v1 where ``v0_v1`` would read v0.
        drop_v0_imports: Drops the imports that Rego v1 does not need.
        capabilities: Features that policies may use, JSON text in OPA's format.

    Returns:
        The formatted text. Formatting it again does not change it.

    Raises:
        CompileError: The text does not parse, or cannot be written in the wanted version. ``location`` is the row and column.
        ValueError: ``capabilities`` is not valid.

    Example:
        >>> solon.format("package p\\nallow if{input.x}")
        'package p\\n\\nallow if input.x\\n'
        >>> try:
        ...     solon.format("package p\\n\\nx := {", name="p.rego")
        ... except solon.CompileError as error:
        ...     print(error.location)
        Location(file='p.rego', row=3, col=6)
    """

@final
class UndefinedType:
    """The type of ``UNDEFINED``, its only object: the result of a document without a value.

    It is false. Do not use that for a permission, because values like ``{"allow": False}`` are true in Python. Use
    ``Document.allow``, or compare with ``is True``.
    """
    def __bool__(self) -> bool:
        """Returns ``False``."""
    def __reduce__(self) -> str:
        """Pickles it by its name, so that copies are the same object."""

UNDEFINED: Final[UndefinedType]

@final
class Cancel:
    """Cancels evaluations from another thread.

    Evaluations that were started with it raise ``EvaluationCancelled``, also later ones. A decision that takes microseconds may
    still complete.

    Example:
        >>> cancel = solon.Cancel()
        >>> cancel.cancel()
        >>> cancel.cancelled
        True
        >>> try:
        ...     solon.Engine().query("some i in numbers.range(1, 10000); i < 0")(cancel=cancel)
        ... except solon.EvaluationCancelled as error:
        ...     print(error.code)
        eval_cancel_error
    """
    def __new__(cls) -> Cancel:
        """Creates an object that cancels nothing yet."""
    @property
    def cancelled(self) -> bool:
        """``True`` if it was cancelled."""
    def cancel(self) -> None:
        """Cancels all current and future evaluations with this object. Any thread may call it."""

@final
class Snapshot:
    """The policy and the data of an engine at one time, for several decisions on the same state.

    Created by ``Engine.snapshot`` and ``Change.check``. It keeps its state alive.

    Example:
        >>> engine = solon.Engine()
        >>> engine.put("n", 1)
        >>> before = engine.snapshot()
        >>> engine.put("n", 2)
        >>> before.get("n"), engine.get("n")
        (1, 2)
    """
    @property
    def generation(self) -> int:
        """The number of changes of the engine before the snapshot."""
    @property
    def modules(self) -> dict[str, str]:
        """The texts of the modules, by name."""
    def get(self, path: str) -> Any:
        """Returns data.

        Args:
            path: Its path below ``data``, like ``"users/alice"``, or its reference, like ``"data.users.alice"``. The empty path is all
                data. A path that starts with a slash may contain any key: ``"/data.x"`` is the key ``data.x``.

        Raises:
            OptionsError: ``path`` is neither.
            StoreError: No data exists at the path.
        """

@final
class Bundle:
    """A bundle that was read and verified: pass it to ``Engine.activate_bundle``.

    Created by ``Engine.read_bundle``. Several engines and threads may use it at once.
    """
    @property
    def revision(self) -> str:
        """The revision of the manifest; empty if there is none."""
    @property
    def roots(self) -> list[str]:
        """The slash-separated paths below ``data`` that the bundle owns."""
    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest. Absent fields are left out, except ``revision`` and ``roots``."""

@final
class Change:
    """Changes of modules and data that are applied atomically.

    ``with engine.change() as change:`` applies it at the end of the block, and discards it if the block raises.

    Example:
        >>> engine = solon.Engine()
        >>> with engine.change() as change:
        ...     change.set_module("p.rego", "package p\\n\\nanswer := data.n + 1")
        ...     change.put("n", 41)
        >>> engine.evaluate("p/answer")
        42
    """
    def set_module(self, name: str, text: str, *, rego: _Rego | None = None) -> None:
        """Adds the module, or replaces the module of that name.

        Args:
            name: Name of the module, usually its file name.
            text: Source text.
            rego: ``"v0"`` or ``"v1"`` if it differs from the engine's version.

        Raises:
            CompileError: The module does not parse. ``apply`` raises it if the modules do not compile together.
        """
    def remove_module(self, name: str) -> None:
        """Removes a module.

        Args:
            name: Name of the module. ``apply`` raises ``NotFoundError`` if it does not exist.
        """
    def put(self, path: str, value: Any) -> None:
        """Writes data, and creates missing parent objects.

        Args:
            path: Its path or reference, as for ``Engine.get``. The empty path replaces all data.
            value: The new value.

        Raises:
            InputError: The value cannot be converted.
            StoreError: The path cannot be written (raised by ``apply``).
        """
    def put_json(self, path: str, text: str | bytes) -> None:
        """Writes data from JSON text, like ``put``.

        Args:
            path: Its path or reference.
            text: JSON text.

        Raises:
            InputError: The text is not valid JSON.
        """
    def delete(self, path: str) -> None:
        """Removes the data at a path.

        Args:
            path: Its path or reference. ``apply`` raises ``StoreError`` if no data exists.
        """
    def patch(self, operations: Sequence[Mapping[str, Any]]) -> None:
        """Applies a JSON patch (RFC 6902). Each operation applies to the result of the previous one.

        Args:
            operations: Operations, like ``{"op": "add", "path": "/users/-", "value": "bob"}``.

        Raises:
            InputError: An operation is invalid.
            StoreError: A path does not exist (raised by ``apply``).
        """
    def load(
        self,
        *paths: str | PathLike[str],
        ignore: Sequence[str] = ...,
        bundles: bool = False,
    ) -> None:
        """Loads files and folders by OPA's rules: modules are added or replaced, documents are merged into the data.

        From a folder it loads ``.rego``, ``.json``, ``.yaml`` and ``.yml`` files at any depth, and puts documents at the path of
        their folder. ``a.b:path`` puts them below ``data.a.b``.

        Args:
            paths: Files and folders.
            ignore: Patterns of file names to skip.
            bundles: Each path is a folder with a manifest.

        Raises:
            LoadError: A file cannot be read or parsed. The error lists all of them, and nothing has changed.
        """
    def check(self) -> Snapshot:
        """Checks the change without applying it. It can still be applied.

        Returns:
            The snapshot that the change would create. Documents can be evaluated on it.

        Raises:
            CompileError: The modules do not compile.
            StoreError: A path cannot be written.

        Example:
            >>> engine = solon.Engine()
            >>> change = engine.change()
            >>> change.set_module("p.rego", "package p\\n\\nx := 1")
            >>> engine.prepare("p/x")(snapshot=change.check())
            1
        """
    def apply(self, *, metrics: Metrics | None = None) -> None:
        """Applies the change atomically. ``with`` does so at its end.

        Args:
            metrics: Receives the times of parsing and compiling.

        Raises:
            CompileError: The modules do not compile. Nothing has changed.
            StoreError: A path cannot be written. Nothing has changed.
        """
    def __enter__(self) -> Change:
        """Returns the change."""
    def __exit__(
        self,
        raised: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool:
        """Applies the change, unless the block raised."""

@final
class Explanation:
    """A result and its explanation, step by step. ``str`` and notebooks display the steps.

    Created by ``explain`` of documents, queries and partial queries.

    Example:
        >>> engine = solon.Engine()
        >>> engine.set_module("p.rego", 'package p\\n\\nallow if input.user == "alice"')
        >>> explanation = engine.prepare("p/allow").explain({"user": "alice"})
        >>> explanation.result
        True
        >>> "Enter data.p.allow" in str(explanation)
        True
    """
    @property
    def result(self) -> Any:
        """The result, without the conversion of ``result_type``.

        Raises:
            EvalError: The exception that the evaluation ended with.
        """
    @property
    def lines(self) -> list[str]:
        """The steps as human-readable lines, each with its file and row."""
    @property
    def events(self) -> list[dict[str, Any]]:
        """The steps in OPA's format: a list of dicts."""
    def __bool__(self) -> NoReturn:
        """Raises ``TypeError``: the object is not a decision, so ``if`` with it would be a mistake. Use ``result``."""
    def _repr_html_(self) -> str:
        """HTML for notebooks."""

@final
class Coverage:
    """The lines of modules that were evaluated. One evaluation at a time may use it.

    Example:
        >>> engine = solon.Engine()
        >>> engine.set_module("p.rego", "package p\\n\\nx := 1")
        >>> coverage = solon.Coverage()
        >>> engine.evaluate("p/x", coverage=coverage)
        1
        >>> coverage.report(engine.snapshot())["coverage"]
        100
    """
    def __new__(cls) -> Coverage:
        """Creates an empty coverage."""
    def report(self, snapshot: Snapshot) -> dict[str, Any]:
        """Returns the report in OPA's format: ``{"files": {…}, "covered_lines": …, "coverage": …}``.

        Args:
            snapshot: Snapshot with the modules that were evaluated.
        """

@final
class Profile:
    """Evaluation time by row of the modules. One evaluation at a time may use it."""
    def __new__(cls) -> Profile:
        """Creates an empty profile."""
    def rows(self, snapshot: Snapshot) -> list[dict[str, Any]]:
        """Returns the rows, slowest first, and resets the profile.

        Args:
            snapshot: Snapshot with the modules that were evaluated. It supplies the file names.

        Returns:
            Dicts of ``file``, ``row``, ``col``, ``time_ns``, ``evals``, ``redos`` and ``expressions``. The file of a query has no name.
        """

@final
class Metrics:
    """Times and counts by the names that OPA uses. Repeated measurements are added."""
    def __new__(cls, *, instrument: bool = False) -> Metrics:
        """Creates empty metrics.

        Args:
            instrument: Also measures the steps of evaluations, which makes them slower.
        """
    def report(self) -> dict[str, int]:
        """Returns the measurements so far, like ``{"timer_rego_query_eval_ns": 1234}``."""

@final
class Document(Generic[_Result]):
    """A prepared document: call it with an input. It follows changes of its engine.

    Created by ``Engine.prepare``. ``Document[T]`` is a document whose results have the type ``T``. Several threads may use it
    at once.

    Example:
        >>> engine = solon.Engine()
        >>> engine.set_module("p.rego", "package p\\n\\ndouble := 2 * input")
        >>> double = engine.prepare("data.p.double")
        >>> double(21)
        42
        >>> double("x")
        solon.UNDEFINED
    """
    @property
    def path(self) -> str:
        """The slash-separated path below ``data``."""
    @property
    def may_block(self) -> bool:
        """``True`` if an evaluation may wait for external I/O, like ``http.send``. Then use the asynchronous methods in event loops."""
    @property
    def has_rules(self) -> bool:
        """``True`` if a rule defines the document, and not data alone."""
    def __call__(
        self,
        input: Any = ...,
        *,
        input_json: str | bytes | None = None,
        **options: Unpack[_Options],
    ) -> _Result:
        """Evaluates the document.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            input_json: The input as JSON text, instead of an object.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Returns:
            The value, converted to the ``result_type`` of ``prepare``; ``UNDEFINED`` if there is none.

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            OutputError: The value does not match ``result_type``.
        """
    def evaluate_async(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, _Result]:
        """Runs a call on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            OutputError: The value does not match ``result_type``.

        Example:
            >>> import asyncio
            >>> engine = solon.Engine()
            >>> engine.set_module("p.rego", "package p\\n\\ndouble := 2 * input")
            >>> asyncio.run(engine.prepare("p/double").evaluate_async(21))
            42
        """
    def allow(
        self,
        input: Any = ...,
        *,
        input_json: str | bytes | None = None,
        **options: Unpack[_Options],
    ) -> bool:
        """Decides if the document is exactly ``true``. Undefined and every other value are ``False``.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            input_json: The input as JSON text, instead of an object.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted. An exception is not a permission.

        Example:
            >>> engine = solon.Engine()
            >>> engine.set_module("p.rego", 'package p\\n\\nallow if input.user == "alice"')
            >>> allow = engine.prepare("data.p.allow")
            >>> allow.allow({"user": "alice"}), allow.allow({"user": "bob"})
            (True, False)
        """
    def allow_async(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, bool]:
        """Runs ``allow`` on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
        """
    def evaluate_many(
        self, inputs: Iterable[Any], **options: Unpack[_Options]
    ) -> list[_Result]:
        """Evaluates the document for many inputs on one snapshot of the engine.

        Args:
            inputs: The inputs.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Returns:
            The results in the order of the inputs.

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            OutputError: A value does not match ``result_type``.

        Example:
            >>> engine = solon.Engine()
            >>> engine.set_module("p.rego", "package p\\n\\ndouble := 2 * input")
            >>> engine.prepare("p/double").evaluate_many([1, 2, "x"])
            [2, 4, solon.UNDEFINED]
        """
    def evaluate_many_async(
        self, inputs: Iterable[Any], **options: Unpack[_Options]
    ) -> Coroutine[Any, Any, list[_Result]]:
        """Runs ``evaluate_many`` on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            inputs: The inputs. They are iterated on the other thread.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            OutputError: A value does not match ``result_type``.
        """
    def explain(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Explanation:
        """Evaluates and explains the result. An evaluation that fails has an explanation, too.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            detail: ``"full"``, ``"debug"`` (with unification), ``"fails"`` (failed expressions) or ``"notes"`` (of ``trace``).
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            InputError: The input cannot be converted.
            ValueError: ``detail`` is not one of these names.
        """
    def explain_async(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, Explanation]:
        """Runs ``explain`` on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            detail: ``"full"``, ``"debug"`` (with unification), ``"fails"`` (failed expressions) or ``"notes"`` (of ``trace``).
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            InputError: The input cannot be converted.
            ValueError: ``detail`` is not one of these names.
        """
    def __bool__(self) -> NoReturn:
        """Raises ``TypeError``: the object is not a decision, so ``if`` with it would be a mistake. Call it, or compare it with ``None``."""
    def __class_getitem__(cls, item: Any) -> GenericAlias:
        """``Document[T]`` in annotations."""

@final
class Query:
    """A prepared query: call it with an input. It follows changes of its engine.

    Created by ``Engine.query``. Several threads may use it at once.

    Example:
        >>> engine = solon.Engine()
        >>> engine.put("roles", {"alice": "admin", "bob": "user"})
        >>> engine.query("data.roles[name] == input")("admin")
        [{'name': 'alice'}]
    """
    @property
    def text(self) -> str:
        """The text of the query."""
    def __bool__(self) -> NoReturn:
        """Raises ``TypeError``: the object is not a decision, so ``if`` with it would be a mistake. Call it, or compare it with ``None``."""
    def __call__(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> list[dict[str, Any]]:
        """Evaluates the query.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Returns:
            All solutions in the order of evaluation, each a dict of the query's variables. The list is empty if the query is not true.

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            CompileError: The query does not compile with the modules that changed after it was prepared.
        """
    def evaluate_async(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, list[dict[str, Any]]]:
        """Runs a call on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            CompileError: The query does not compile with the modules that changed after it was prepared.
        """
    def solutions(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> list[dict[str, Any]]:
        """Evaluates the query and returns solutions in the format of OPA's API. Here an expression may be false.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Returns:
            Dicts of ``bindings``, of the ``values`` of the query's expressions, and of those ``expressions``, each with its ``text`` and
            ``location``.

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            CompileError: The query does not compile with the modules that changed after it was prepared.
        """
    def solutions_async(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, list[dict[str, Any]]]:
        """Runs ``solutions`` on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            CompileError: The query does not compile with the modules that changed after it was prepared.
        """
    def explain(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Explanation:
        """Evaluates and explains the result. An evaluation that fails has an explanation, too.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            detail: ``"full"``, ``"debug"`` (with unification), ``"fails"`` (failed expressions) or ``"notes"`` (of ``trace``).
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            InputError: The input cannot be converted.
            ValueError: ``detail`` is not one of these names.
        """
    def explain_async(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, Explanation]:
        """Runs ``explain`` on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            detail: ``"full"``, ``"debug"`` (with unification), ``"fails"`` (failed expressions) or ``"notes"`` (of ``trace``).
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            InputError: The input cannot be converted.
            ValueError: ``detail`` is not one of these names.
        """

@final
class Residuals:
    """What remains of a query after partial evaluation. The query is true if one of ``queries`` is.

    If there are none, it is never true. An empty text among them is always true.
    """
    @property
    def queries(self) -> list[str]:
        """The residual queries, as Rego text."""
    @property
    def support(self) -> list[str]:
        """The modules that the queries refer to, as Rego text."""
    @property
    def tree(self) -> dict[str, Any]:
        """Queries and modules as syntax trees in OPA's format."""
    def __bool__(self) -> NoReturn:
        """Raises ``TypeError``: the object is not a decision, so ``if`` with it would be a mistake. Use ``queries``."""

@final
class Partial:
    """A query prepared for partial evaluation: call it with the known part of the input.

    Created by ``Engine.partial``.

    Example:
        >>> engine = solon.Engine()
        >>> partial = engine.partial("input.owner == input.user", unknowns=["input.owner"])
        >>> partial({"user": "alice"}).queries
        ['"alice" = input.owner']
    """
    @property
    def text(self) -> str:
        """The text of the query."""
    def __bool__(self) -> NoReturn:
        """Raises ``TypeError``: the object is not a decision, so ``if`` with it would be a mistake. Call it, or compare it with ``None``."""
    def __call__(self, input: Any = ..., **options: Unpack[_CallOptions]) -> Residuals:
        """Evaluates the query partially.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            CompileError: The query does not compile with the modules that changed after it was prepared.
        """
    def evaluate_async(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, Residuals]:
        """Runs a call on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            CompileError: The query does not compile with the modules that changed after it was prepared.
        """
    def explain(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Explanation:
        """Evaluates and explains the result. An evaluation that fails has an explanation, too.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            detail: ``"full"``, ``"debug"`` (with unification), ``"fails"`` (failed expressions) or ``"notes"`` (of ``trace``).
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            InputError: The input cannot be converted.
            ValueError: ``detail`` is not one of these names.
        """
    def explain_async(
        self, input: Any = ..., *, detail: _Detail = "full", **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, Explanation]:
        """Runs ``explain`` on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            detail: ``"full"``, ``"debug"`` (with unification), ``"fails"`` (failed expressions) or ``"notes"`` (of ``trace``).
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            InputError: The input cannot be converted.
            ValueError: ``detail`` is not one of these names.
        """

@final
class Filters:
    """Row filters, one for each target. Created by calling a ``Filter``."""
    @property
    def keeps(self) -> bool:
        """``True`` if the filter for the first target can select any row."""
    def __bool__(self) -> NoReturn:
        """Raises ``TypeError``: the object is not a decision, so ``if`` with it would be a mistake. Use ``keeps``."""
    @property
    def query(self) -> str | dict[str, Any] | None:
        """The condition of the first target: SQL text, or a UCAST tree. It is empty if all rows are selected.

        If no row is selected, SQL is a condition that is never true, and UCAST is ``None``.
        """
    @property
    def parameters(self) -> list[Any] | None:
        """The values of the placeholders of the first target, in order."""
    @property
    def queries(self) -> dict[str, str | dict[str, Any] | None]:
        """The conditions by target."""
    @property
    def all_parameters(self) -> dict[str, list[Any]]:
        """The values of placeholders by target."""
    @property
    def masks(self) -> dict[str, Any] | None:
        """Masks of columns; ``None`` if nothing is masked or no row is selected."""
    @property
    def hints(self) -> list[str]:
        """Suggestions for names that are not in the input."""

@final
class Filter:
    """A rule that is prepared to become a row filter: call it with the known part of the input.

    Created by ``Engine.filters``.

    Example:
        >>> engine = solon.Engine()
        >>> engine.set_module("f.rego", "package f\\n\\ninclude if input.fruits.price < input.limit")
        >>> fruits = engine.filters("f/include", "sql+postgresql", unknowns=["input.fruits"])
        >>> fruits({"limit": 11}).query
        "WHERE fruits.price < E'11'"
    """
    @property
    def path(self) -> str:
        """The path of the rule."""
    def __bool__(self) -> NoReturn:
        """Raises ``TypeError``: the object is not a decision, so ``if`` with it would be a mistake. Call it, or compare it with ``None``."""
    def __call__(self, input: Any = ..., **options: Unpack[_CallOptions]) -> Filters:
        """Generates the filters for an input.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            CompileError: The query does not compile with the modules that changed after it was prepared.
        """
    def evaluate_async(
        self, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, Filters]:
        """Runs a call on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
            CompileError: The query does not compile with the modules that changed after it was prepared.
        """

@final
class Engine:
    """A policy engine: modules and data, evaluated from any number of threads.

    Each decision uses the policy and the data of one snapshot, and never waits for a change.

    Example:
        >>> engine = solon.Engine()
        >>> engine.set_module("authz.rego", "package authz\\n\\nallow if input.user in data.admins")
        >>> engine.put("admins", ["alice"])
        >>> engine.prepare("data.authz.allow").allow({"user": "alice"})
        True
    """
    def __new__(
        cls,
        *,
        decimal: bool = False,
        datetimes: Literal["rfc3339", "ns"] | None = None,
        **options: Unpack[_EngineOptions],
    ) -> Engine:
        """Creates an engine without modules and data.

        Args:
            decimal: Returns numbers with a fraction or an exponent as exact ``decimal.Decimal``, instead of ``float``.
            datetimes: Converts dates and times of inputs to ``"rfc3339"`` text or to ``"ns"`` since 1970. By default they are rejected.
            options: See [options of an engine](#options-of-an-engine).

        Raises:
            TypeError: An option is unknown or has a wrong type.
            ValueError: An option has an invalid value.
        """
    @overload
    def function(self, name: _Call) -> _Call:
        """Registers a Python function that policies call like a built-in function, under its own name.

        The types of its arguments and of its result are those of its annotations, so that policies that misuse it do not compile.
        An exception makes the call undefined, or fails a strict evaluation; ``UNDEFINED`` makes the call undefined. Functions must
        be added before the engine is used in any other way.

        Args:
            name: The function.

        Raises:
            ValueError: The engine was already used, or the function has keyword-only arguments.
            OptionsError: Policies cannot call the name, or it is that of a built-in function or of another function.

        Example:
            >>> engine = solon.Engine()
            >>> @engine.function
            ... def initials(name: str) -> str:
            ...     return "".join(word[0] for word in name.split())
            >>> engine.query("x := initials(input)")("Ada Lovelace")
            [{'x': 'AL'}]
        """
    @overload
    def function(
        self,
        name: str | None = None,
        *,
        args: Sequence[Any] | None = None,
        result: Any = None,
        pure: bool = True,
        waits: bool = False,
    ) -> Callable[[_Call], _Call]:
        """Registers a Python function that policies call like a built-in function, under a name of your choice.

        The types of its arguments and of its result are those of its annotations, so that policies that misuse it do not compile.
        An exception makes the call undefined, or fails a strict evaluation; ``UNDEFINED`` makes the call undefined. Functions must
        be added before the engine is used in any other way.

        Args:
            name: Name in policies: identifiers that are not keywords, separated by dots. By default that of the function.
            args: Types of the arguments instead of the annotations, as types or as JSON of capabilities.
            result: Type of the result instead of the annotation.
            pure: ``False`` if the result may differ for equal arguments. Then it is called each time.
            waits: ``True`` if it waits for external I/O.

        Raises:
            ValueError: The engine was already used, or the function has keyword-only arguments.
            OptionsError: Policies cannot call the name, or it is that of a built-in function or of another function.

        Example:
            >>> engine = solon.Engine()
            >>> @engine.function("acme.initials")
            ... def initials(name: str) -> str:
            ...     return "".join(word[0] for word in name.split())
            >>> engine.query("x := acme.initials(input)")("Ada Lovelace")
            [{'x': 'AL'}]
        """
    def _add_function(
        self,
        name: str,
        declaration: str,
        function: Callable[..., Any],
        pure: bool,
        waits: bool,
    ) -> None:
        """Registers a function by its declaration, the JSON of capabilities."""
    @property
    def generation(self) -> int:
        """The number of changes so far."""
    @property
    def modules(self) -> dict[str, str]:
        """The texts of all modules, by name."""
    def set_module(self, name: str, text: str, *, rego: _Rego | None = None) -> None:
        """Adds the module, or replaces the module of that name, and compiles it together with the others.

        Args:
            name: Name of the module, usually its file name.
            text: Source text.
            rego: ``"v0"`` or ``"v1"`` if it differs from the engine's version.

        Raises:
            CompileError: The module does not parse, or the modules do not compile. Nothing has changed.
        """
    def set_modules(self, modules: Mapping[str, str], *, rego: _Rego | None = None) -> None:
        """Adds or replaces several modules in one change. They may refer to one another.

        Args:
            modules: Source texts by name.
            rego: ``"v0"`` or ``"v1"`` if it differs from the engine's version.

        Raises:
            CompileError: A module does not parse, or the modules do not compile. Nothing has changed.
        """
    def remove_module(self, name: str) -> None:
        """Removes a module.

        Args:
            name: Name of the module.

        Raises:
            NotFoundError: No module has that name.
            CompileError: Other modules do not compile without it. Nothing has changed.
        """
    def module_tree(self, name: str) -> dict[str, Any]:
        """Returns the syntax tree of a module in OPA's format.

        Args:
            name: Name of the module.

        Raises:
            NotFoundError: No module has that name.
        """
    def load(
        self,
        *paths: str | PathLike[str],
        ignore: Sequence[str] = ...,
        bundles: bool = False,
    ) -> None:
        """Loads files and folders by OPA's rules: modules are added or replaced, documents are merged into the data.

        From a folder it loads ``.rego``, ``.json``, ``.yaml`` and ``.yml`` files at any depth, and puts documents at the path of
        their folder. ``a.b:path`` puts them below ``data.a.b``.

        Args:
            paths: Files and folders.
            ignore: Patterns of file names to skip.
            bundles: Each path is a folder with a manifest.

        Raises:
            LoadError: A file cannot be read or parsed. The error lists all of them, and nothing has changed.
            CompileError: The modules do not compile. Nothing has changed.
        """
    def read_bundle(
        self,
        name: str,
        source: bytes | str | PathLike[str],
        *,
        keys: Mapping[str, VerificationKey] | None = None,
        key_id: str | None = None,
        scope: str | None = None,
        exclude: Sequence[str] = ...,
        accept_unsigned: bool = False,
        accept_unsigned_deltas: bool = False,
        skip_verification: bool = False,
    ) -> Bundle:
        """Reads and verifies a bundle. Policies are parsed with the settings of the engine, which does not change.

        Without ``keys``, unsigned bundles are accepted and signed ones rejected. With ``keys``, bundles must be signed by one.

        Args:
            name: Name in messages. Signatures refer to the files of a folder with this prefix.
            source: An archive (a gzip-compressed tar file) as bytes, or the path of an archive or a folder.
            keys: Verification keys by id.
            key_id: Id of the only key that may have signed the bundle. By default the one that the signature names.
            scope: Scope that a signature must have. By default that of the key.
            exclude: Glob patterns of files that need no signature.
            accept_unsigned: Accepts unsigned bundles even if there are keys. An attacker who can change a bundle can then remove
                its signature.
            accept_unsigned_deltas: Accepts delta bundles, which cannot be signed, even if there are keys.
            skip_verification: Accepts all bundles without verifying signatures. ``keys`` must be empty.

        Raises:
            BundleError: The bundle cannot be read.
            BundleSignatureError: The bundle is not signed as required.
            ValueError: The options contradict each other, or a key is empty.

        Example:
            >>> import pathlib, tempfile
            >>> folder = pathlib.Path(tempfile.mkdtemp())
            >>> _ = (folder / "p.rego").write_text("package p\\n\\nx := 1")
            >>> _ = (folder / ".manifest").write_text('{"revision": "7", "roots": ["p"]}')
            >>> engine = solon.Engine()
            >>> engine.activate_bundle("authz", engine.read_bundle("authz", folder))
            >>> engine.evaluate("p/x"), engine.bundles
            (1, [ActiveBundle(name='authz', revision='7', roots=['p'])])
        """
    def activate_bundle(self, name: str, bundle: Bundle) -> None:
        """Activates a bundle under a name, like ``activate_bundles``.

        Args:
            name: Name of the bundle. A bundle that has the name is replaced.
            bundle: The bundle.

        Raises:
            BundleError: Another bundle owns its documents. Nothing has changed.
            CompileError: The modules do not compile. Nothing has changed.
        """
    def activate_bundles(self, bundles: Mapping[str, Bundle]) -> None:
        """Activates bundles in one change: a decision uses all of them or none.

        Their policies and documents replace everything below their roots, and below the roots of the bundles that had the
        names. A delta bundle changes documents of the active bundle of its name.

        Args:
            bundles: Bundles by name.

        Raises:
            BundleError: Two bundles own the same documents. Nothing has changed.
            CompileError: The modules do not compile. Nothing has changed.
        """
    def deactivate_bundle(self, name: str) -> None:
        """Removes the policies and documents of an active bundle. Does nothing if no bundle has the name.

        Args:
            name: Name of the bundle.

        Raises:
            CompileError: Other modules do not compile without it. Nothing has changed.
        """
    @property
    def bundles(self) -> list[ActiveBundle]:
        """The active bundles, sorted by name."""
    def set_data(self, data: Any) -> None:
        """Replaces all data.

        Args:
            data: A dict.

        Raises:
            InputError: The data cannot be converted.
            StoreError: The data is not a dict, or conflicts with a rule.
        """
    def set_data_json(self, text: str | bytes) -> None:
        """Replaces all data with JSON text.

        Args:
            text: The text, an object at the top.

        Raises:
            InputError: The text is not valid JSON.
            StoreError: The data is not an object, or conflicts with a rule.
        """
    def set_data_yaml(self, text: str | bytes) -> None:
        """Replaces all data with YAML text, parsed as OPA parses YAML.

        Args:
            text: The text, an object at the top.

        Raises:
            InputError: The text is not valid YAML.
            StoreError: The data is not an object, or conflicts with a rule.
        """
    def get(self, path: str) -> Any:
        """Returns data.

        Args:
            path: Its path below ``data``, like ``"users/alice"``, or its reference, like ``"data.users.alice"``. The empty path is all
                data. A path that starts with a slash may contain any key: ``"/data.x"`` is the key ``data.x``.

        Raises:
            OptionsError: ``path`` is neither.
            StoreError: No data exists at the path.
        """
    def put(self, path: str, value: Any) -> None:
        """Writes data, and creates missing parent objects.

        Args:
            path: Its path or reference, as for ``get``. The empty path replaces all data.
            value: The new value.

        Raises:
            InputError: The value cannot be converted.
            StoreError: The path cannot be written.
        """
    def patch(self, operations: Sequence[Mapping[str, Any]]) -> None:
        """Applies a JSON patch (RFC 6902). Each operation applies to the result of the previous one.

        Args:
            operations: Operations, like ``{"op": "add", "path": "/users/-", "value": "bob"}``.

        Raises:
            InputError: An operation is invalid.
            StoreError: A path does not exist. Nothing has changed.
        """
    def delete(self, path: str) -> None:
        """Removes the data at a path.

        Args:
            path: Its path or reference, as for ``get``.

        Raises:
            StoreError: No data exists at the path.
        """
    def change(self) -> Change:
        """Returns an empty change of modules and data, usually for ``with engine.change() as change:``."""
    def snapshot(self) -> Snapshot:
        """Returns a snapshot of the current policy and data, for several decisions on the same state."""
    @overload
    def prepare(
        self, document: str, *, must_exist: bool = False, result_type: None = None
    ) -> Document[Any]:
        """Prepares a document, whose results are not converted.

        Args:
            document: Its reference, like ``"data.authz.allow"``, or its path, like ``"authz/allow"``.
            must_exist: Raises an error if the path has neither a rule nor data, because it is probably misspelled.
            result_type: Absent.

        Raises:
            NotFoundError: The document does not exist, and ``must_exist`` is set.
            OptionsError: ``document`` is neither a path nor a reference.
        """
    @overload
    def prepare(
        self, document: str, *, must_exist: bool = False, result_type: type[_Model]
    ) -> Document[_Model | UndefinedType]:
        """Prepares a document, and converts its results.

        Args:
            document: Its reference, like ``"data.authz.allow"``, or its path, like ``"authz/allow"``.
            must_exist: Raises an error if the path has neither a rule nor data, because it is probably misspelled.
            result_type: Type of the results: a dataclass, a ``TypedDict``, a pydantic model, an ``Enum``, or ``bool``, ``int``, ``float``,
                ``str``, ``Decimal``. Keys that a class does not declare are ignored. Types of fields may also be ``list[T]``, ``tuple[…]``,
                ``set[T]``, ``dict[K, V]``, ``Literal``, ``Optional`` and unions. An undefined document is still ``UNDEFINED``.

        Raises:
            NotFoundError: The document does not exist, and ``must_exist`` is set.
            OptionsError: ``document`` is neither a path nor a reference.
            TypeError: Results cannot be converted to ``result_type``.

        Example:
            >>> import dataclasses
            >>> @dataclasses.dataclass
            ... class Decision:
            ...     allowed: bool
            ...     reasons: list[str]
            >>> engine = solon.Engine()
            >>> engine.set_module("p.rego", 'package p\\n\\ndecision := {"allowed": false, "reasons": ["not an admin"]}')
            >>> engine.prepare("data.p.decision", result_type=Decision)()
            Decision(allowed=False, reasons=['not an admin'])
        """
    @overload
    def prepare(
        self, document: str, *, must_exist: bool = False, result_type: Any
    ) -> Document[Any]:
        """Prepares a document, and converts its results.

        Args:
            document: Its reference, like ``"data.authz.allow"``, or its path, like ``"authz/allow"``.
            must_exist: Raises an error if the path has neither a rule nor data, because it is probably misspelled.
            result_type: A type that is not a class, like ``list[Decision]`` or ``Decision | None``.

        Raises:
            NotFoundError: The document does not exist, and ``must_exist`` is set.
            OptionsError: ``document`` is neither a path nor a reference.
            TypeError: Results cannot be converted to ``result_type``.
        """
    def query(
        self,
        text: str,
        *,
        package: str | None = None,
        imports: Sequence[str] = ...,
        unsafe_builtins: Sequence[str] = ...,
        metrics: Metrics | None = None,
    ) -> Query:
        """Prepares a query.

        Args:
            text: The query, like ``"x := data.roles[_]; x != input.role"``.
            package: Package whose rules the query may refer to, like ``"authz.users"``.
            imports: Imports of the query, like ``"data.users as us"``.
            unsafe_builtins: Built-in functions that the query must not call itself.
            metrics: Receives the compilation time.

        Raises:
            CompileError: The query does not parse or compile.
        """
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
    ) -> Partial:
        """Prepares a query for partial evaluation.

        Args:
            text: The query.
            unknowns: Unknown references into ``input`` and ``data``. The default is all of ``input``.
            disable_inlining: Documents that are not inlined, like ``"data.roles"``.
            shallow_inlining: Does not inline rules that depend on unknowns.
            nondeterministic_builtins: Calls non-deterministic functions if their arguments are known.
            skip_false_defaults: Leaves out a default of ``false`` if a rule is only tested for truth.
            namespace: Package of support rules below ``data``, ``partial`` by default.
            skip_namespace: Puts support rules into the packages of the policy.
            package: Package whose rules the query may refer to, like ``"authz.users"``.
            imports: Imports of the query, like ``"data.users as us"``.
            unsafe_builtins: Built-in functions that the query must not call itself.
            metrics: Receives the compilation time.

        Raises:
            CompileError: The query does not parse or compile.
        """
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
    ) -> Filter:
        """Prepares a rule to become a row filter.

        Args:
            path: Path or reference of the rule, like ``"filters/include"`` or ``"data.filters.include"``.
            targets: A target like ``"sql+postgresql"`` or ``"ucast+prisma"``, or several.
            unknowns: References to rows, like ``["input.fruits"]``. By default those of the rule's METADATA.
            mask_rule: Rule that computes masks of columns: its path or reference, or a name in the package of the rule.
            mappings: Names of tables and columns in the database.
            disable_inlining: Documents that are not inlined.
            parameters: Generates SQL with placeholders, and returns their values separately.
            bare: Generates only the SQL condition, without ``WHERE``.
            exact: Generates SQL that selects exactly the rows for which the rule is true, if the tables are as ``mappings`` declare them.
            extensions: Generates conditions that OPA's targets reject, if they can be expressed exactly.

        Raises:
            OptionsError: A target or an option is invalid.
            NotFoundError: The rule, or the rule for masks, does not exist.
            CompileError: The rule cannot become a filter.
        """
    def evaluate(
        self, path: str, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Any:
        """Evaluates the document at a path. For repeated evaluations, prepare the document instead.

        Args:
            path: Path or reference of the document, like ``"authz/allow"`` or ``"data.authz.allow"``.
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Returns:
            The value; ``UNDEFINED`` if there is none.

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.

        Example:
            >>> engine = solon.Engine()
            >>> engine.set_module("p.rego", "package p\\n\\ndouble := 2 * input")
            >>> engine.evaluate("p/double", 21)
            42
        """
    def evaluate_async(
        self, path: str, input: Any = ..., **options: Unpack[_CallOptions]
    ) -> Coroutine[Any, Any, Any]:
        """Runs ``evaluate`` on a thread of the event loop's pool, and returns an awaitable. If the task is cancelled, the evaluation is
        cancelled, too. For a decision that takes microseconds, the synchronous call is faster.

        Args:
            path: Path or reference of the document.
            input: The input of the policy. Without it, or with ``UNDEFINED``, ``input`` is undefined; ``None`` is ``null``.
            options: See [options of an evaluation](#options-of-an-evaluation).

        Raises:
            EvalError: The evaluation failed or was stopped.
            InputError: The input cannot be converted.
        """
