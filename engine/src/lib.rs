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
//! assert!(allow.allow(&Request::new().input(&input))?);
//! # Ok::<(), solon::Error>(())
//! ```
//!
//! What a host uses stands in this crate's root, and in [`bundle`], [`host`], [`store`], [`testing`], [`trace`], [`json`], [`yaml`],
//! [`shapes`] and [`x509`]. The map of the
//! inside, from the bottom up; a module uses only those above it in this list:
//!
//! | module | holds |
//! |---|---|
//! | `limits`, `bug`, `index` | every bound; violated invariants; positions that must exist |
//! | `value` | values, owned and in flight; JSON, YAML, numbers |
//! | `uri` | URIs taken apart |
//! | `types`, `host`, `store` | static types; the way to the outside; base documents |
//! | `graphql` | GraphQL documents |
//! | `builtins` | the built-in functions |
//! | `program` | compiled programs, plain data |
//! | `evaluation` | what both machines share |
//! | `trace` | what a search tells its observers |
//! | `compile`, `eval`, `topdown` | modules to programs; programs to values; the same step by step |
//! | `partial`, `filter` | what is left while something is unknown; that as conditions on rows |
//! | `bundle` | policies and documents from files |
//! | `error`, `query`, `engine` | the face |
//! | `testing` | tests of policies |

mod bug;
mod builtins;
pub mod bundle;
mod compile;
mod decision;
mod engine;
mod error;
mod eval;
mod explanation;
mod filter;
mod filter_query;
#[cfg(feature = "graphql")]
mod graphql;
pub mod host;
mod index;
#[doc(hidden)]
pub mod internal;
mod limits;
mod partial;
mod partial_query;
mod program;
mod query;
mod runtime;
mod snapshot;
pub mod store;
pub mod testing;
mod topdown;
pub mod trace;
mod types;
mod uri;
mod value;

pub use bug::panic_message;
pub use builtins::{
    BuiltinContext, BuiltinError, BuiltinErrorDetail, Capabilities, CapabilitiesError,
    EvalErrorCode, HostFunction, NdBuiltinCache, ResponseMetadata, SendMetrics, StopReason,
};
pub use compile::{Options as CompilerOptions, Work};
pub use decision::Decision;
pub use engine::{Change, Definition, Dependencies, Engine, EngineBuilder, FileLoad, LoadReport};
pub use error::{Error, ErrorEntry, ErrorKind, InputError};
pub use explanation::{ExplainOptions, Explanation};
pub use filter::{FilterTarget, Statement};
pub use filter_query::{Filter, FilterOptions, FilterQuery, Filters, PreparedFilters};
pub use host::{Cancel, FixedHost, Host, OfflineHost};
pub use limits::Limits;
pub use partial::Residuals;
pub use partial_query::{PartialOptions, PinnedPartial, PreparedPartial};
pub use query::{
    ExpressionText, Input, PinnedDocument, PinnedQuery, PreparedDocument, PreparedQuery,
    QueryContext, Request, Solution, cached_memory, release_memory,
};
pub use runtime::{EvalError, StackFrame};
pub use snapshot::{ActiveBundle, Snapshot, release_thread_snapshot};
pub use solon_syntax::ast::{Module, Version};
pub use solon_syntax::source::{Code, Diagnostic, Diagnostics, Span};
pub use store::{DataSnapshot, Path};
pub use topdown::{BuiltinErrors, SearchOptions, Shortcuts};
pub use value::array::Items;
pub use value::serde::{from_value, to_value};
pub use value::{
    ArrayView, Kind, NumberBuf, Object, ObjectView, Set, SetView, TextView, Value, ValueRef,
};

/// JSON texts of values, with numbers as they are written.
pub mod json {
    pub use crate::value::json::{
        JsonError, JsonErrorKind, Layout, Style, TooLong, error_message, is_valid, read, write,
        write_styled, write_within,
    };
}

/// YAML texts of values, read as OPA reads them.
pub mod yaml {
    pub use crate::value::yaml::{YamlError, read, read_with_checked_numbers, write};
}

/// Objects that share their keys: readers of a source that has many objects with the same keys in the same order.
///
/// ```
/// use solon::Value;
/// use solon::shapes::Shapes;
///
/// let mut shapes: Shapes = Shapes::default();
/// let mut read = |values: &mut [Value]| {
///     let order = shapes.order(&["name", "age"]).ok_or("too many keys")?;
///     Ok::<_, &str>(Value::Object(order.object(values)))
/// };
/// let alice = read(&mut ["alice".into(), 31.into()])?;
/// let bob = read(&mut ["bob".into(), 27.into()])?;
/// assert_eq!(alice.to_string(), r#"{"age": 31, "name": "alice"}"#);
/// assert_eq!(bob.to_string(), r#"{"age": 27, "name": "bob"}"#);
/// # Ok::<(), &str>(())
/// ```
pub mod shapes {
    pub use crate::value::object::{KeyOrder, Shapes, Unfilled};
}

/// Certificates as values.
#[cfg(feature = "crypto")]
pub mod x509 {
    pub use crate::builtins::parse_certificates_in_der;
}

/// Examples of the documentation, which run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/rust.md")]
    mod rust {}
    #[doc = include_str!("../../docs/quick-start.md")]
    mod quick_start {}
}
