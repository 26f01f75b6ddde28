//! Prepared queries and documents, which a host evaluates many times from many threads.

mod document;
mod eval_setup;
mod fast_path;
mod memory;
mod prepared;
mod recompiling;
mod replay;
mod search;

use std::sync::Arc;

use solon_syntax::ast::{Body, Name};
use solon_syntax::source::{Diagnostics, Source};
use solon_syntax::{ParseOptions, parse_body, parse_statements};

use crate::builtins::http::ResponseCache;
use crate::builtins::{
    Capabilities, Graphs, Hooks, NdBuiltinCache, Patterns, ResponseMetadata, ResumeState,
    SendMetrics, StopReason, VerifiedSignatures,
};
use crate::error::Error;
use crate::host::{Cancel, Host};
use crate::limits::Limits;
use crate::runtime::EvalError;
use crate::snapshot::{CurrentSnapshot, Snapshot, SnapshotState};
use crate::trace::Timer;
use crate::value::Value;
use crate::value::json::Style;

pub(crate) use document::QueryCompiler;
pub use document::{PinnedDocument, PreparedDocument};
pub(crate) use eval_setup::{EvalEnv, eval_setup, start, within_bounds};
pub use memory::{cached_memory, release_memory};
pub(crate) use prepared::{Expression, QueryInner};
pub use prepared::{PinnedQuery, PreparedQuery};
pub(crate) use recompiling::{Pinned, Recompiling};
pub(crate) use search::search;

/// The input of an evaluation, borrowed from the caller.
#[derive(Clone, Copy, Default)]
pub enum Input<'a> {
    /// `input` is undefined, so that expressions that read it fail.
    #[default]
    Undefined,
    /// A value, used without a copy.
    Value(&'a Value),
    /// JSON text, parsed directly into the memory of the evaluation.
    Json(&'a [u8]),
    /// JSON text of an object, one of whose members is the input. Parsed like [`Self::Json`].
    Member {
        /// The text of the object. It may be blank or `null`.
        text: &'a [u8],
        /// The member's name, which matches regardless of case.
        name: &'a str,
    },
}

/// Parameters of one evaluation.
///
/// ```
/// use std::time::Duration;
/// use solon::{Engine, Limits, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if input.user == \"alice\"")?;
/// let allow = engine.prepare_document("data.p.allow")?;
/// let mut limits = Limits::default();
/// limits.time = Some(Duration::from_millis(50));
/// let request = Request::new().input_json(br#"{"user": "alice"}"#).limits(&limits);
/// assert_eq!(allow.evaluate(&request)?, Some(true.into()));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    input: Input<'a>,
    snapshot: Option<&'a Snapshot>,
    limits: Option<&'a Limits>,
    cancel: Option<&'a Cancel>,
    strict_builtin_errors: bool,
    timer: Timer<'a>,
    hooks: Hooks<'a>,
    /// State of the failed evaluation that this one repeats.
    replay_state: Option<&'a ResumeState>,
    style: Option<&'a Style<'a>>,
}

impl<'a> Request<'a> {
    /// Creates a request without input, with the engine's current data and limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the input to a value, which is not copied.
    #[must_use]
    pub fn input(mut self, input: &'a Value) -> Self {
        self.input = Input::Value(input);
        self
    }

    /// Sets the input as JSON text. The evaluation fails if it is not valid.
    #[must_use]
    pub fn input_json(mut self, text: &'a [u8]) -> Self {
        self.input = Input::Json(text);
        self
    }

    /// Sets the input to a member of an object that is given as JSON text, so that a request body is parsed once. The
    /// name matches regardless of case. The input is undefined if the text is blank or `null`, or if the member is
    /// `null` or missing. Text after the object is an error.
    #[must_use]
    pub fn input_member(mut self, text: &'a [u8], name: &'a str) -> Self {
        self.input = Input::Member { text, name };
        self
    }

    /// Evaluates with a snapshot of the engine instead of the current one.
    #[must_use]
    pub fn snapshot(mut self, snapshot: &'a Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Sets limits instead of the engine's.
    #[must_use]
    pub fn limits(mut self, limits: &'a Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets a handle that cancels the evaluation.
    #[must_use]
    pub fn cancel(mut self, cancel: &'a Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Sets whether the first error of a built-in ends the evaluation.
    #[must_use]
    pub fn strict_builtin_errors(mut self, strict: bool) -> Self {
        self.strict_builtin_errors = strict;
        self
    }

    /// Sets the style of JSON text ([`PreparedDocument::evaluate_json`]). Default: compact.
    ///
    /// ```
    /// use solon::json::{JsonLayout, Style};
    /// use solon::{Engine, Request, value};
    ///
    /// let engine = Engine::new();
    /// engine.put("data.limits", value!({"open": 3}))?;
    /// let style = Style::new().layout(Some(JsonLayout::new("", "  ")));
    /// let request = Request::new().json_style(&style);
    /// let text = engine.prepare_document("data.limits")?.evaluate_json(&request)?;
    /// assert_eq!(text.as_deref(), Some(&b"{\n  \"open\": 3\n}"[..]));
    /// # Ok::<(), solon::Error>(())
    /// ```
    #[must_use]
    pub fn json_style(mut self, style: &'a Style<'a>) -> Self {
        self.style = Some(style);
        self
    }

    /// Sets a timer for parsing the input, if it is text (`rego_input_parse`), and for compiling queries and filters on
    /// behalf of the request.
    #[must_use]
    pub fn timer(mut self, timer: Timer<'a>) -> Self {
        self.timer = timer;
        self
    }

    pub(crate) fn compile_timer(&self) -> Timer<'a> {
        self.timer
    }

    /// Returns the limits: those of the request, else the engine's.
    pub(crate) fn bounds(&self, shared: &'a EngineShared) -> &'a Limits {
        self.limits.unwrap_or(&shared.limits)
    }

    /// Fails if the evaluation is cancelled or has no time left before it starts. An evaluation of few steps polls neither
    /// of them again.
    #[inline]
    pub(crate) fn check_start(&self, shared: &'a EngineShared) -> Result<(), Error> {
        if self.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(Error::Eval(Box::new(EvalError::stopped(
                StopReason::Cancelled,
            ))));
        }
        if self.bounds(shared).has_no_time() {
            return Err(Error::Eval(Box::new(EvalError::stopped(
                StopReason::Timeout,
            ))));
        }
        Ok(())
    }

    /// Returns the request without a handler for `print`.
    pub(crate) fn silent(&self) -> Self {
        let mut silent = *self;
        silent.hooks.print = None;
        silent
    }

    /// Sets the handler for lines of `print`.
    #[must_use]
    pub fn print(mut self, print: &'a dyn Fn(&str)) -> Self {
        self.hooks.print = Some(print);
        self
    }

    /// Sets a cache for results of nondeterministic built-ins. Results in it are reused, new ones are added.
    #[must_use]
    pub fn nd_builtin_cache(mut self, cache: &'a NdBuiltinCache) -> Self {
        self.hooks.nd_cache = Some(cache);
        self
    }

    /// Sets counters for requests of `http.send`.
    #[must_use]
    pub fn send_metrics(mut self, metrics: &'a SendMetrics) -> Self {
        self.hooks.send_metrics = Some(metrics);
        self
    }

    /// Sets metadata of the request for host functions: an object.
    #[must_use]
    pub fn metadata(mut self, metadata: &'a Value) -> Self {
        self.hooks.metadata = Some(metadata);
        self
    }

    /// Sets a container for metadata that host functions return to the caller in addition to the result.
    #[must_use]
    pub fn response_metadata(mut self, metadata: &'a ResponseMetadata) -> Self {
        self.hooks.response_metadata = Some(metadata);
        self
    }

    /// Sets a hook that is called on the evaluating thread whenever the evaluation polls its budget: at least every
    /// 1,024 loop iterations and calls, and every 20 ms while it waits for the host. A host uses it to let other tasks
    /// run and to check for interrupts. Evaluations of fewer than 1,024 steps may never call it.
    #[must_use]
    pub fn on_poll(mut self, hook: &'a dyn Fn()) -> Self {
        self.hooks.on_poll = Some(hook);
        self
    }

    /// Sets a hook around calls that may block the evaluating thread: `http.send` and the pauses between its retries,
    /// `net.lookup_ip_addr`, and host functions declared as waiting. The hook must run the call that it receives;
    /// meanwhile a host can let others use resources that this evaluation does not need. If it does not run the call,
    /// the evaluation ends as cancelled.
    ///
    /// The hook of [`Self::on_poll`] is not called during these calls.
    #[must_use]
    pub fn around_host_calls(mut self, hook: &'a dyn Fn(&mut dyn FnMut())) -> Self {
        self.hooks.around_host_calls = Some(hook);
        self
    }
}

/// State that all evaluations of an engine share.
pub(crate) struct EngineShared {
    pub host: Arc<dyn Host>,
    pub patterns: Patterns,
    pub graphs: Graphs,
    pub responses: ResponseCache,
    pub signatures: VerifiedSignatures,
    pub limits: Limits,
    pub capabilities: Option<Arc<Capabilities>>,
    /// `true` if there are impure functions, whose results are recorded.
    pub records: bool,
    /// The current policy and documents.
    pub now: CurrentSnapshot,
}

impl EngineShared {
    /// Calls `run` with the snapshot of a request.
    #[inline]
    pub fn with_snapshot<R>(
        &self,
        request: &Request<'_>,
        run: impl FnOnce(&SnapshotState) -> R,
    ) -> R {
        self.now
            .with_snapshot(request.snapshot.map(Snapshot::state), run)
    }
}

/// One solution of a query.
///
/// ```
/// use solon::{Engine, Request, Value};
///
/// let query = Engine::new().prepare_query("some x in [1, 2]; y := x * 10")?;
/// let solutions = query.solutions(&Request::new())?;
/// let (name, value) = &solutions[1].bindings[1];
/// assert_eq!((&**name, value), ("y", &Value::from(20)));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Solution {
    /// The query's variables, by name.
    pub bindings: Vec<(Name, Value)>,
    /// The value of each expression, in order.
    pub values: Vec<Value>,
}

/// The text of a query with its package, its imports and other options. A `&str` is a query without options.
///
/// ```
/// use solon::{Engine, QuerySource, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package authz\nallow := true")?;
/// let query = engine.prepare_query(QuerySource::new("allow").package("authz"))?;
/// assert_eq!(query.solutions(&Request::new())?.len(), 1);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct QuerySource<'a> {
    /// The text of the query: expressions, separated by `;` or line breaks.
    pub text: &'a str,
    /// The package, for example `authz.users`.
    pub package: Option<&'a str>,
    /// Imports, for example `data.users as us`.
    pub imports: &'a [String],
    /// Built-in functions that the query must not call.
    pub unsafe_builtins: &'a [String],
    /// `true` if text that parses as a rule is rejected, as by OPA's server. Otherwise it may be parsed as expressions.
    pub no_rules: bool,
    /// `true` if calls of `print` are removed.
    pub no_prints: bool,
    /// The snapshot whose policy the query is first compiled with, instead of the current one.
    pub snapshot: Option<&'a Snapshot>,
    /// Timer for the stages of the first compilation.
    pub timer: Timer<'a>,
}

impl<'a> From<&'a str> for QuerySource<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text)
    }
}

impl<'a> From<&'a String> for QuerySource<'a> {
    fn from(text: &'a String) -> Self {
        Self::new(text)
    }
}

impl<'a> QuerySource<'a> {
    /// Returns a query without options.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            package: None,
            imports: &[],
            unsafe_builtins: &[],
            no_rules: false,
            no_prints: false,
            snapshot: None,
            timer: Timer::default(),
        }
    }

    /// Sets the snapshot whose policy the query is first compiled with, such as one of
    /// [`Engine::check`](crate::Engine::check). Evaluate the query with that snapshot
    /// ([`PreparedQuery::pin_to`]); otherwise it is compiled again for the current policy.
    #[must_use]
    pub fn snapshot(mut self, snapshot: &'a Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Sets the package, for example `authz.users`.
    #[must_use]
    pub fn package(mut self, package: &'a str) -> Self {
        self.package = Some(package);
        self
    }

    /// Returns the same options for another text.
    pub(crate) fn with_text<'b>(&self, text: &'b str) -> QuerySource<'b>
    where
        'a: 'b,
    {
        QuerySource { text, ..*self }
    }

    /// Parses the text.
    ///
    /// # Errors
    /// It is not a query, or it is a rule and `no_rules` is set.
    pub(crate) fn parse(
        &self,
        source: &Source,
        options: &ParseOptions,
    ) -> Result<Body, Diagnostics> {
        if self.no_rules {
            parse_statements(source, options)
        } else {
            parse_body(source, options)
        }
    }

    /// Sets imports, for example `data.users as us`.
    #[must_use]
    pub fn imports(mut self, imports: &'a [String]) -> Self {
        self.imports = imports;
        self
    }

    /// Sets built-in functions that the query must not call. A call is a compile error.
    #[must_use]
    pub fn unsafe_builtins(mut self, names: &'a [String]) -> Self {
        self.unsafe_builtins = names;
        self
    }

    /// Rejects text that parses as a rule, as OPA's server does.
    #[must_use]
    pub fn no_rules(mut self) -> Self {
        self.no_rules = true;
        self
    }

    /// Removes calls of `print`.
    #[must_use]
    pub fn no_prints(mut self) -> Self {
        self.no_prints = true;
        self
    }

    /// Sets a timer for the stages of the first compilation. Later compilations are not measured.
    #[must_use]
    pub fn timer(mut self, timer: Timer<'a>) -> Self {
        self.timer = timer;
        self
    }
}

/// Source text of an expression of a query, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpressionText {
    /// Its text, as written.
    pub text: String,
    /// Row of its first character.
    pub row: u32,
    /// Column of its first character.
    pub col: u32,
}
