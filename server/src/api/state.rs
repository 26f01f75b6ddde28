//! State that all handlers share.

use std::sync::{Arc, OnceLock, Weak};

use arc_swap::ArcSwapOption;
use prometheus_client::registry::Registry;
use solon::{Engine, Limits, PreparedFilters, PreparedQuery, QuerySource};

use super::admission::gatekeeper::ActiveConstraints;
use super::cache::Cache;
use super::call::Call;
use super::documents::Documents;
use super::filters;
use super::snapshot_facts::SnapshotFacts;
use crate::config::{Live, ServerOptions};
use crate::http::{Budget, RequestExt as _};
use crate::plugins::Registry as Plugins;
use crate::plugins::decision_logs::DecisionLogs;
use crate::telemetry::ServerCounters;

/// Names, descriptions and values of gauges.
pub type Gauges = dyn Fn() -> Vec<(&'static str, &'static str, u64)> + Send + Sync;

pub type RegisterMetrics = dyn Fn(&mut Registry) + Send + Sync;

/// Health check queries, valid in any version of Rego. The first has enough steps to check the budget once. The second does not
/// call functions, for engines whose capabilities exclude them.
const PROBES: [&str; 2] = [
    "count([x | x = numbers.range(1, 1100)[_]]) == 1100",
    "x = 1",
];

/// The engine and the options of its evaluations.
pub struct State {
    /// Weak reference to itself, for work on other threads.
    me: Weak<Self>,
    pub engine: Engine,
    pub options: ServerOptions,
    /// Options that may change while the server runs, and the configuration without secrets.
    pub live: Live,
    pub constraints: ActiveConstraints,
    pub documents: Documents,
    pub queries: Cache<String, PreparedQuery>,
    /// Prepared filters, by path and options.
    pub filters: Cache<filters::FilterKey, PreparedFilters>,
    pub counts: Arc<ServerCounters>,
    /// `true` if host functions may read the metadata of requests.
    pub reads_metadata: bool,
    pub plugins: Arc<Plugins>,
    pub decision_logs: DecisionLogs,
    /// Common facts of decision log events on the current snapshot.
    pub facts: ArcSwapOption<SnapshotFacts>,
    /// Query of the health check.
    probe: Option<PreparedQuery>,
    /// Memory budget of all requests together.
    pub budget: Budget,
    /// Reports the metrics of the transport.
    pub transport: OnceLock<Box<Gauges>>,
    /// Registers the metrics of services other than the HTTP API. Set once, at the start.
    pub service_metrics: OnceLock<Box<RegisterMetrics>>,
    /// Built-in functions that queries must not call directly.
    unsafe_builtins: [String; 1],
}

impl State {
    pub fn new(
        engine: Engine,
        options: ServerOptions,
        live: Live,
        constraints: ActiveConstraints,
        plugins: Arc<Plugins>,
        decision_logs: DecisionLogs,
    ) -> Arc<Self> {
        Arc::new_cyclic(|weak| Self {
            me: weak.clone(),
            constraints,
            plugins,
            decision_logs,
            facts: ArcSwapOption::empty(),
            reads_metadata: engine.has_functions(),
            probe: PROBES
                .iter()
                .find_map(|probe| engine.prepare_query(*probe).ok()),
            documents: Documents::new(options.bounds.documents, engine.limits()),
            queries: Cache::new(options.bounds.queries),
            filters: Cache::new(options.bounds.queries),
            counts: Arc::new(ServerCounters::new(&options.duration_buckets)),
            budget: Budget::new(options.bounds.memory),
            transport: OnceLock::new(),
            service_metrics: OnceLock::new(),
            engine,
            options,
            live,
            unsafe_builtins: ["http.send".to_owned()],
        })
    }

    /// Returns a shared reference for work that continues after a handler has returned, or `None` when the server shuts down.
    pub fn shared(&self) -> Option<Arc<Self>> {
        self.me.upgrade()
    }

    /// Returns `true` if decisions can be made.
    pub fn can_evaluate(&self) -> bool {
        let request = solon::Request::new();
        let probe = self.probe.as_ref();
        probe.is_some_and(|probe| {
            probe
                .solutions(&request)
                .is_ok_and(|solutions| !solutions.is_empty())
        })
    }

    /// Returns a query of a client with the options that such queries are compiled with.
    pub fn query_source<'q>(&'q self, text: &'q str) -> QuerySource<'q> {
        QuerySource::new(text)
            .unsafe_builtins(&self.unsafe_builtins)
            .no_rules()
    }

    /// Returns the limits of an evaluation for a request: those of the engine, and the remaining time.
    pub fn limits_of(&self, request: &Call<'_>) -> Limits {
        self.engine.limits().clone().until(request.info().deadline)
    }
}
