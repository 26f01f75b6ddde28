//! A policy engine for the Rego language: parse, compile, store, evaluate.
//!
//! ```
//! use solon::{Engine, Request, Value};
//!
//! let engine = Engine::new();
//! engine.set_module("policy.rego", "package p\n\nallow if input.role == \"admin\"\n")?;
//! let allow = engine.prepare_document("p/allow")?;
//!
//! let input = Value::object(vec![("role".into(), "admin".into())]);
//! assert_eq!(allow.evaluate(&Request::new().input(&input))?, Some(true.into()));
//! # Ok::<(), solon::Error>(())
//! ```
//!
//! The map, from the bottom up; a module uses only those above it in this list:
//!
//! | module | holds |
//! |---|---|
//! | [`limits`], `impossible` | every bound; states that cannot be |
//! | [`value`] | values, owned and in flight; JSON, YAML, numbers |
//! | [`uri`] | URIs taken apart |
//! | [`types`], [`host`], [`store`] | static types; the way to the outside; base documents |
//! | [`graphql`] | GraphQL documents |
//! | [`builtins`] | the built-in functions |
//! | [`program`] | compiled programs, plain data |
//! | [`evaluation`] | what both machines share |
//! | [`trace`] | what a search tells its observers |
//! | [`compile`], [`eval`], [`walk`] | modules to programs; programs to values; the same step by step |
//! | [`error`], [`query`], [`engine`] | the face |

pub mod builtins;
pub mod compile;
pub mod decision;
pub mod engine;
pub mod error;
pub mod eval;
pub mod evaluation;
pub mod explanation;
pub mod graphql;
pub mod host;
mod impossible;
pub mod limits;
pub mod lines;
pub mod moment;
pub mod partial;
pub mod partial_query;
pub mod program;
pub mod query;
pub mod store;
#[doc(hidden)]
pub mod testing;
pub mod trace;
pub mod types;
pub mod uri;
pub mod value;
pub mod walk;

pub use builtins::{Capabilities, NdBuiltinCache, ResponseMetadata, SendMetrics};
pub use decision::Decision;
pub use engine::{Change, Engine, EngineBuilder};
pub use error::{Error, ErrorEntry, InputError};
pub use evaluation::StackFrame;
pub use explanation::{Explanation, Watched};
pub use host::{Cancel, FixedHost, Host, OfflineHost};
pub use limits::Limits;
pub use moment::Moment;
pub use partial::Residuals;
pub use partial_query::{BoundPartial, PartialOptions, PreparedPartial};
pub use query::{
    BoundDocument, BoundQuery, ExpressionText, Input, PreparedDocument, PreparedQuery,
    QueryContext, Request, Solution, kept_memory, release_memory,
};
pub use store::{Path, Snapshot};
pub use value::Value;
pub use walk::{Faults, Search, Shortcuts};
