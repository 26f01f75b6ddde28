//! How an engine is made.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use parking_lot::Mutex;
use solon_syntax::ast::{Module, Version};

use super::{Engine, Inner};
use crate::builtins::http::ResponseCache;
use crate::builtins::{Capabilities, Custom, Fault, FaultCode, Graphs, Patterns};
use crate::compile::lower::{self, Ledger};
use crate::compile::{self, Options};
use crate::host::{FixedHost, Host};
use crate::limits::{Limits, RESPONSE_CACHE_BYTES};
use crate::moment::{Now, Policy, State, next_stamp};
use crate::query::Shared;
use crate::store::{MemoryStore, Store};

/// How an engine is made.
pub struct EngineBuilder {
    version: Version,
    options: Options,
    limits: Limits,
    host: Arc<dyn Host>,
    store: Arc<dyn Store>,
    functions: Vec<Custom>,
    allow_base_conflicts: bool,
    response_cache: usize,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            version: Version::V1,
            options: Options::default(),
            limits: Limits::default(),
            host: Arc::new(FixedHost::default()),
            store: Arc::new(MemoryStore::default()),
            functions: Vec::new(),
            allow_base_conflicts: false,
            response_cache: RESPONSE_CACHE_BYTES,
        }
    }
}

impl EngineBuilder {
    /// The Rego version of modules that do not say; v1 unless set.
    #[must_use]
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Whether the compiler makes the checks of strict mode.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// The compiler's options as a whole.
    #[must_use]
    pub fn compiler(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Bounds of each evaluation.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The world that policies may ask. Without one the clock stands still at 0 and randomness is fixed.
    #[must_use]
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.host = host;
        self
    }

    /// Where base documents are kept; in memory unless set.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self
    }

    /// Whether base documents may stand in the place of rules. They hide the rule from whoever reads the
    /// document around both, which is seldom meant; so it is refused unless allowed here.
    #[must_use]
    pub fn allow_base_conflicts(mut self, allow: bool) -> Self {
        self.allow_base_conflicts = allow;
        self
    }

    /// Most bytes of the answers of `http.send` that are kept for later evaluations.
    #[must_use]
    pub fn response_cache(mut self, bytes: usize) -> Self {
        self.response_cache = bytes;
        self
    }

    /// What policies may use: functions, keywords, hosts. All there is unless set.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.options.capabilities = Some(Arc::new(capabilities));
        self
    }

    /// A function that policies may call like a built-in.
    #[must_use]
    pub fn function(mut self, function: Custom) -> Self {
        self.options
            .functions
            .insert(function.name.to_string(), function.declaration.clone());
        if function.waits {
            self.options.waiting.insert(function.name.clone());
        }
        self.functions.push(function);
        self
    }

    /// The engine.
    pub fn build(mut self) -> Engine {
        self.functions.extend(self.unsupported());
        let capabilities = self.options.capabilities.clone();
        let snapshot = self.store.snapshot();
        // without modules there is nothing to refuse but a schema, and the first modules will be refused for that
        let compiled = compile::compile(Vec::<Arc<Module>>::new(), &self.options, None, |_, _| {});
        let compiled = compiled.unwrap_or_default();
        let program = lower::program(&[], self.functions.clone(), &self.options);
        let policy = Policy::new(BTreeMap::new(), compiled, program, Ledger::default());
        let state = State {
            stamp: next_stamp(),
            generation: 0,
            policy: Arc::new(policy),
            documents: snapshot,
        };
        Engine {
            inner: Arc::new(Inner {
                version: self.version,
                options: self.options,
                shared: Arc::new(Shared {
                    host: self.host,
                    patterns: Patterns::default(),
                    graphs: Graphs::default(),
                    responses: ResponseCache::new(self.response_cache),
                    limits: self.limits,
                    capabilities,
                    now: Now::new(state),
                }),
                store: self.store,
                functions: self.functions,
                allow_base_conflicts: self.allow_base_conflicts,
                changing: Mutex::new(()),
                next_source: AtomicU32::new(0),
            }),
        }
    }

    /// The functions that capabilities declare and nobody has: policies that call them compile.
    fn unsupported(&self) -> Vec<Custom> {
        let capabilities = self.options.capabilities.iter();
        let foreign = capabilities.flat_map(|capabilities| capabilities.foreign());
        let missing = foreign.filter(|(name, _)| !self.options.functions.contains_key(*name));
        let missing = missing.map(|(name, declaration)| {
            let message = format!("unsupported built-in: {name}");
            Custom {
                name: name.into(),
                declaration: declaration.clone(),
                memoise: false,
                waits: false,
                body: Arc::new(move |_, _| Err(Fault::halt(FaultCode::Internal, message.clone()))),
            }
        });
        missing.collect()
    }
}
