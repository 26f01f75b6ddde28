//! Options that change while the server runs.

use std::sync::Arc;

use arc_swap::ArcSwap;
use solon::Value;

use super::{Packing, ServerOptions, StatusOptions};

/// The options in force. Clones share them.
#[derive(Clone)]
pub struct Live(Arc<ArcSwap<LiveOptions>>);

/// The options that a change of the configuration replaces, all of them at once. Everything else of a configuration takes effect after
/// a restart.
pub struct LiveOptions {
    /// The configuration without secrets.
    pub config: Value,
    /// Path of the document that `POST /` answers with.
    pub default_decision: String,
    /// Name of that document among the prepared ones. It contains the path, so that no document is taken for the one before.
    pub decision_key: String,
    /// Path of the document that decides what clients may do.
    pub default_authorization_decision: String,
    /// Name of that document among the prepared ones.
    pub authorization_key: String,
    /// Largest request body, in bytes.
    pub body: usize,
    /// Largest request body after decompression, in bytes.
    pub unpacked: usize,
    /// Which responses are compressed.
    pub packing: Packing,
    /// What `GET /v1/status` and `/metrics` contain, if there is a status.
    pub status: Option<StatusOptions>,
}

impl LiveOptions {
    /// Returns those among the options of a server.
    pub fn of(options: &ServerOptions, config: Value) -> Self {
        let (decision, authorization) = (
            &options.default_decision,
            &options.default_authorization_decision,
        );
        Self {
            config,
            decision_key: format!("decision {decision}"),
            default_decision: decision.clone(),
            authorization_key: format!("authorization {authorization}"),
            default_authorization_decision: authorization.clone(),
            body: options.bounds.body,
            unpacked: options.bounds.unpacked,
            packing: options.packing,
            status: options.status,
        }
    }
}

impl Live {
    /// Puts options into force.
    pub fn new(options: LiveOptions) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(options)))
    }

    /// Returns the options in force. A request that uses several of them loads them once.
    pub fn load(&self) -> Arc<LiveOptions> {
        self.0.load_full()
    }

    /// Replaces the options. Requests that have loaded the previous ones finish with them.
    pub fn replace(&self, options: LiveOptions) {
        self.0.store(Arc::new(options));
    }
}
