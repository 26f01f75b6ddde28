//! Options that change while the server runs.

use std::sync::Arc;

use arc_swap::ArcSwap;
use solon::Value;

use super::{Packing, ServerOptions, StatusOptions};

/// Active options. Clones share them.
#[derive(Clone)]
pub struct Live(Arc<ArcSwap<LiveOptions>>);

/// The options that a change of the configuration replaces, all of them at once. Everything else of a configuration takes effect
/// after a restart.
pub struct LiveOptions {
    /// The configuration without secrets.
    pub config: Value,
    /// Path of the document that `POST /` responds with.
    pub default_decision: String,
    /// Cache key of that document. It contains the path, so that a change of the path cannot return the previous document.
    pub decision_key: String,
    /// Path of the document that authorizes requests.
    pub default_authorization_decision: String,
    /// Cache key of that document.
    pub authorization_key: String,
    /// Maximum size of a request body, in bytes.
    pub body: usize,
    /// Maximum size of a request body after decompression, in bytes.
    pub unpacked: usize,
    /// Compression of responses.
    pub packing: Packing,
    /// Contents of `GET /v1/status` and `/metrics`, if the status is enabled.
    pub status: Option<StatusOptions>,
}

impl LiveOptions {
    /// Returns the options that a discovered configuration may change while the server runs.
    pub fn from_options(options: &ServerOptions, config: Value) -> Self {
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
    pub fn new(options: LiveOptions) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(options)))
    }

    /// Returns the active options. A request that uses several of them must load them once.
    pub fn load(&self) -> Arc<LiveOptions> {
        self.0.load_full()
    }

    /// Replaces the options. Requests that have loaded the previous ones finish with them.
    pub fn replace(&self, options: LiveOptions) {
        self.0.store(Arc::new(options));
    }
}
