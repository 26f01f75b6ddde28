//! What all handlers share.

use solon::Engine;

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
}

impl State {
    /// Serves an engine.
    pub fn new(engine: Engine, options: ServerOptions) -> Self {
        Self {
            engine,
            options,
            documents: Documents::default(),
        }
    }
}
