//! What all handlers share.

use std::sync::{Arc, OnceLock, Weak};

use arc_swap::ArcSwapOption;
use solon::{Engine, Limits, PreparedFilters, PreparedQuery, QueryContext};

use super::cache::Cache;
use super::call::Call;
use super::decision_log::SnapshotFacts;
use super::documents::Documents;
use super::filters;
use crate::config::{Live, ServerOptions};
use crate::http::{Budget, RequestExt as _};
use crate::plugins::Registry;
use crate::plugins::decision_logs::DecisionLogs;
use crate::telemetry::Counts;

/// Names, descriptions and values.
pub type Gauges = dyn Fn() -> Vec<(&'static str, &'static str, u64)> + Send + Sync;

/// What engines answer, in any version of Rego: with enough steps to look at the budget once, and, for those whose capabilities
/// leave its functions out, without.
const PROBES: [&str; 2] = [
    "count([x | x = numbers.range(1, 1100)[_]]) == 1100",
    "x = 1",
];

/// The engine and how it is asked.
pub struct State {
    /// The state itself, for work that other threads help with.
    me: Weak<Self>,
    /// Policies and documents.
    pub engine: Engine,
    /// How the server runs.
    pub options: ServerOptions,
    /// The options that may change while the server runs, and the configuration without secrets.
    pub live: Live,
    /// Documents that were asked for.
    pub documents: Documents,
    /// Queries that were asked.
    pub queries: Cache<String, PreparedQuery>,
    /// Filters that were asked for, by path and options.
    pub filters: Cache<filters::Key, PreparedFilters>,
    /// What is counted.
    pub counts: Arc<Counts>,
    /// Whether functions of the host may want to know what callers tell about their requests.
    pub reads_metadata: bool,
    /// How plugins are.
    pub plugins: Arc<Registry>,
    /// Where decisions are logged, if anywhere.
    pub decision_logs: DecisionLogs,
    /// What events of decisions on the current snapshot have in common.
    pub facts: ArcSwapOption<SnapshotFacts>,
    /// What is asked to see whether decisions are made.
    probe: Option<PreparedQuery>,
    /// The memory that all requests together may hold.
    pub budget: Budget,
    /// Tells what the transport counts.
    pub transport: OnceLock<Box<Gauges>>,
    /// Built-in functions that queries may not call themselves.
    unsafe_builtins: [String; 1],
}

impl State {
    /// Serves an engine.
    pub fn new(
        engine: Engine,
        options: ServerOptions,
        live: Live,
        plugins: Arc<Registry>,
        decision_logs: DecisionLogs,
    ) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            plugins,
            decision_logs,
            facts: ArcSwapOption::empty(),
            reads_metadata: engine.has_functions(),
            probe: PROBES
                .iter()
                .find_map(|probe| engine.prepare_query(probe).ok()),
            documents: Documents::new(options.bounds.documents, engine.limits()),
            queries: Cache::new(options.bounds.queries),
            filters: Cache::new(options.bounds.queries),
            counts: Arc::new(Counts::new(&options.duration_buckets)),
            budget: Budget::new(options.bounds.memory),
            transport: OnceLock::new(),
            engine,
            options,
            live,
            unsafe_builtins: ["http.send".to_owned()],
        })
    }

    /// The state, to be kept by whoever works on after a handler has ended; nothing when the server ends.
    pub fn shared(&self) -> Option<Arc<Self>> {
        self.me.upgrade()
    }

    /// Whether decisions are made at all.
    pub fn can_evaluate(&self) -> bool {
        let request = solon::Request::new();
        let probe = self.probe.as_ref();
        probe.is_some_and(|probe| {
            probe
                .solutions(&request)
                .is_ok_and(|found| !found.is_empty())
        })
    }

    /// Where the queries of callers stand.
    pub fn query_context(&self) -> QueryContext<'_> {
        QueryContext::default()
            .unsafe_builtins(&self.unsafe_builtins)
            .no_rules()
    }

    /// What bounds an evaluation for a request: the engine's limits, and the time that is left.
    pub fn limits_of(&self, request: &Call<'_>) -> Limits {
        self.engine.limits().clone().until(request.info().deadline)
    }
}
