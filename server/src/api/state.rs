//! What all handlers share.

use solon::{Engine, QueryContext};

use super::documents::Documents;
use crate::config::ServerOptions;

/// The engine and how it is asked.
pub struct State {
    /// Policies and documents.
    pub engine: Engine,
    /// How the server runs.
    pub options: ServerOptions,
    /// Documents that were asked for.
    pub documents: Documents,
    /// Built-in functions that queries may not call themselves.
    unsafe_builtins: [String; 1],
}

impl State {
    /// Serves an engine.
    pub fn new(engine: Engine, options: ServerOptions) -> Self {
        Self {
            engine,
            options,
            documents: Documents::default(),
            unsafe_builtins: ["http.send".to_owned()],
        }
    }

    /// Where the queries of callers stand.
    pub fn query_context(&self) -> QueryContext<'_> {
        QueryContext::default().unsafe_builtins(&self.unsafe_builtins)
    }
}
