//! Prepared queries and documents: what a host keeps and asks many times, from many threads.

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
    SendMetrics, VerifiedSignatures,
};
use crate::host::{Cancel, Host};
use crate::limits::Limits;
use crate::snapshot::{CurrentSnapshot, Snapshot, SnapshotState};
use crate::trace::Timer;
use crate::value::Value;

pub(crate) use document::QueryCompiler;
pub use document::{PinnedDocument, PreparedDocument};
pub(crate) use eval_setup::{EvalEnv, eval_setup, within_bounds};
pub(crate) use memory::with_memory;
pub use memory::{cached_memory, release_memory};
pub(crate) use prepared::{Expression, QueryInner};
pub use prepared::{PinnedQuery, PreparedQuery};
pub(crate) use recompiling::{Pinned, Recompiling};
pub(crate) use search::search;

/// The input of an evaluation.
#[derive(Clone, Copy, Default)]
pub enum Input<'a> {
    /// `input` is undefined.
    #[default]
    Undefined,
    /// A value.
    Value(&'a Value),
    /// JSON text, read straight into the evaluation's memory.
    Json(&'a [u8]),
    /// JSON text of an object, one of whose members is the input; read the same way.
    Member {
        /// The text.
        text: &'a [u8],
        /// The member's name.
        name: &'a str,
    },
}

/// What one evaluation is given.
///
/// ```
/// use std::time::Duration;
/// use solon::{Engine, Limits, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if input.user == \"alice\"")?;
/// let allow = engine.prepare_document("p/allow")?;
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
    /// What the evaluation left that this one repeats.
    replay_state: Option<&'a ResumeState>,
}

impl<'a> Request<'a> {
    /// No input, the engine's data and limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// With an input.
    #[must_use]
    pub fn input(mut self, input: &'a Value) -> Self {
        self.input = Input::Value(input);
        self
    }

    /// With an input as JSON text.
    #[must_use]
    pub fn input_json(mut self, text: &'a [u8]) -> Self {
        self.input = Input::Json(text);
        self
    }

    /// With an input that is a member of an object, given as JSON text: a request around it is read once. Names match
    /// whatever their case, and where the text is blank or `null`, or the member is `null` or missing, the input is undefined.
    /// Text after the object is an error.
    #[must_use]
    pub fn input_member(mut self, text: &'a [u8], name: &'a str) -> Self {
        self.input = Input::Member { text, name };
        self
    }

    /// Within a moment of the engine, instead of the current one.
    #[must_use]
    pub fn snapshot(mut self, snapshot: &'a Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// With other limits than the engine's.
    #[must_use]
    pub fn limits(mut self, limits: &'a Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// With a handle that stops it.
    #[must_use]
    pub fn cancel(mut self, cancel: &'a Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Whether the first error of a built-in ends the evaluation.
    #[must_use]
    pub fn strict_builtin_errors(mut self, strict: bool) -> Self {
        self.strict_builtin_errors = strict;
        self
    }

    /// Tells somebody how long it takes to read the input, where that is text (`rego_input_parse`), and to compile what is
    /// compiled for it.
    #[must_use]
    pub fn timer(mut self, timer: Timer<'a>) -> Self {
        self.timer = timer;
        self
    }

    /// Who is told how long things take.
    pub(crate) fn compile_timer(&self) -> Timer<'a> {
        self.timer
    }

    /// What bounds it.
    pub(crate) fn bounds(&self, shared: &'a EngineShared) -> &'a Limits {
        self.limits.unwrap_or(&shared.limits)
    }

    /// The same without a place for the lines of `print`.
    pub(crate) fn silent(&self) -> Self {
        let mut silent = *self;
        silent.hooks.print = None;
        silent
    }

    /// With a place for the lines of `print`.
    #[must_use]
    pub fn print(mut self, print: &'a dyn Fn(&str)) -> Self {
        self.hooks.print = Some(print);
        self
    }

    /// With a place where the answers of nondeterministic built-ins are noted, and looked up first.
    #[must_use]
    pub fn nd_builtin_cache(mut self, cache: &'a NdBuiltinCache) -> Self {
        self.hooks.nd_cache = Some(cache);
        self
    }

    /// With a place where requests of `http.send` are counted.
    #[must_use]
    pub fn send_metrics(mut self, metrics: &'a SendMetrics) -> Self {
        self.hooks.send_metrics = Some(metrics);
        self
    }

    /// With what the caller tells about the request, for functions of the host: an object.
    #[must_use]
    pub fn metadata(mut self, metadata: &'a Value) -> Self {
        self.hooks.metadata = Some(metadata);
        self
    }

    /// With a place where functions of the host tell the caller something beside the answer.
    #[must_use]
    pub fn response_metadata(mut self, metadata: &'a ResponseMetadata) -> Self {
        self.hooks.response_metadata = Some(metadata);
        self
    }

    /// Calls something on the evaluating thread whenever the evaluation looks at its budget: every 1,024 loop turns and
    /// calls at the latest, and every 20 ms while it waits for the outside; so a host can let others run, and see what
    /// interrupts it. What takes no 1,024 steps may never look.
    #[must_use]
    pub fn on_poll(mut self, hook: &'a dyn Fn()) -> Self {
        self.hooks.on_poll = Some(hook);
        self
    }

    /// Calls `hook` on the evaluating thread with each call that may block it: `http.send` and the pauses between its tries,
    /// `net.lookup_ip_addr` and functions that are [`crate::HostFunction::waiting`]. The hook runs the call that it is given, so that a host
    /// can let others use what this evaluation does not need while it waits. If the hook does not run the call, the
    /// evaluation ends as cancelled.
    ///
    /// [`Self::on_poll`] is not called during these calls.
    #[must_use]
    pub fn around_host_calls(mut self, hook: &'a dyn Fn(&mut dyn FnMut())) -> Self {
        self.hooks.around_host_calls = Some(hook);
        self
    }
}

/// What all evaluations of an engine share.
pub(crate) struct EngineShared {
    pub host: Arc<dyn Host>,
    pub patterns: Patterns,
    pub graphs: Graphs,
    pub responses: ResponseCache,
    pub signatures: VerifiedSignatures,
    pub limits: Limits,
    pub capabilities: Option<Arc<Capabilities>>,
    /// Whether there are functions whose answers are recorded: they are not pure.
    pub records: bool,
    /// The current policy and documents.
    pub now: CurrentSnapshot,
}

impl EngineShared {
    /// Runs something within the moment that a request asks about.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `Now::within`")]
    pub fn within<R>(&self, request: &Request<'_>, run: impl FnOnce(&SnapshotState) -> R) -> R {
        self.now.within(request.snapshot.map(Snapshot::state), run)
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
/// assert_eq!((&**name, value), ("y", &Value::Int(20)));
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

/// Where a query stands: the package whose rules it may name, and what it imports.
///
/// ```
/// use solon::{Engine, QueryContext, Request};
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package authz\nallow := true")?;
/// let query = engine.prepare_query_in("allow", &QueryContext::default().package("authz"))?;
/// assert_eq!(query.solutions(&Request::new())?.len(), 1);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct QueryContext<'a> {
    /// A package, like `authz.users`.
    pub package: Option<&'a str>,
    /// Imports, like `data.users as us`.
    pub imports: &'a [String],
    /// Built-in functions that it may not call itself.
    pub unsafe_builtins: &'a [String],
    /// Whether what reads as a rule is refused, as OPA's server does, which otherwise may mean something as expressions.
    pub no_rules: bool,
    /// Whether its calls of `print` are left out.
    pub no_prints: bool,
    /// Who is told how long the stages of its compilation take.
    pub timer: Timer<'a>,
}

impl<'a> QueryContext<'a> {
    /// Within a package, like `authz.users`.
    #[must_use]
    pub fn package(mut self, package: &'a str) -> Self {
        self.package = Some(package);
        self
    }

    /// Reads its text.
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

    /// With imports, like `data.users as us`.
    #[must_use]
    pub fn imports(mut self, imports: &'a [String]) -> Self {
        self.imports = imports;
        self
    }

    /// Without some built-in functions.
    #[must_use]
    pub fn unsafe_builtins(mut self, names: &'a [String]) -> Self {
        self.unsafe_builtins = names;
        self
    }

    /// Refuses what reads as a rule, as OPA's server does.
    #[must_use]
    pub fn no_rules(mut self) -> Self {
        self.no_rules = true;
        self
    }

    /// Leaves calls of `print` out.
    #[must_use]
    pub fn no_prints(mut self) -> Self {
        self.no_prints = true;
        self
    }

    /// Tells somebody how long the stages of its compilation take.
    #[must_use]
    pub fn timer(mut self, timer: Timer<'a>) -> Self {
        self.timer = timer;
        self
    }
}

/// An expression of a query as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpressionText {
    /// Its text.
    pub text: String,
    /// Row of its first character.
    pub row: u32,
    /// Column of its first character.
    pub col: u32,
}
