//! A policy engine for the Rego language. It parses, compiles and evaluates policies, and returns the same results as
//! Open Policy Agent (OPA) 1.22.3.
//!
//! # A decision in five minutes
//!
//! An [`Engine`] contains modules (policies) and base documents (data). Prepare a document once and evaluate it for
//! each request:
//!
//! ```
//! use solon::{Engine, Request, Value};
//!
//! let engine = Engine::new();
//! engine.set_module("policy.rego", "package p\n\nallow if input.role == \"admin\"\n")?;
//! let allow = engine.prepare_document("data.p.allow")?;
//!
//! let input = Value::object(vec![("role".into(), "admin".into())]);
//! assert!(allow.allow(&Request::new().input(&input))?);
//! # Ok::<(), solon::Error>(())
//! ```
//!
//! # Choosing an API
//!
//! | to | use |
//! |---|---|
//! | decide yes or no | [`PreparedDocument::allow`] |
//! | evaluate a document to a value or to JSON | [`PreparedDocument::evaluate`], [`PreparedDocument::evaluate_json`] |
//! | convert input and result from and to Rust types | [`Engine::prepare`], which returns a [`Decision`] |
//! | evaluate any query, with all solutions | [`Engine::prepare_query`] |
//! | evaluate several times with the same policy and data | [`Engine::snapshot`], [`PreparedDocument::pin`] |
//! | explain a result step by step | [`PreparedQuery::explain`] |
//! | evaluate with unknown inputs | [`Engine::prepare_partial`] |
//! | filter the rows of a database | [`Engine::prepare_filters`] |
//! | load files, folders and bundles | [`Engine::load`], [`Engine::load_files`], [`bundle`] |
//! | change policy and data atomically | [`Engine::apply`] with a [`Change`] |
//! | keep policy and data on disk | [`EngineBuilder::open`], [`store`] |
//! | call Rust functions from policies | [`EngineBuilder::function`] |
//! | allow network access, environment variables and files | [`EngineBuilder::host`], [`host`] |
//! | run tests of policies | [`testing`] |
//!
//! # Threads
//!
//! [`Engine`] and everything prepared by it is `Send` and `Sync`, and cheap to clone. Evaluations never block each
//! other or wait for changes: each reads one snapshot of policy and data. Changes are applied one at a time. Prepared
//! handles compile again after a change of the modules.
//!
//! A policy that calls `http.send` blocks the evaluating thread. [`PreparedDocument::may_block`] returns `true` if that
//! can happen, for servers that evaluate on asynchronous workers.
//!
//! # Limits
//!
//! [`Limits`] bounds steps, time and memory of an evaluation; by default only memory is limited (1 GiB). Set limits for
//! an engine ([`EngineBuilder::limits`]) or a request ([`Request::limits`]). A [`Cancel`] handle stops an evaluation
//! from another thread. Nesting, sizes of numbers and texts, and the size of values are always limited.
//!
//! # Errors
//!
//! Every fallible operation returns [`Error`]. Handle its [`ErrorKind`] ([`Error::kind`]), and show its entries
//! ([`Error::entries`]) with OPA's codes, messages and locations. An undefined document is not an error: it is `None`,
//! or `false` for [`PreparedDocument::allow`]. Treat an error of a decision as a denial. A change that fails leaves the
//! engine unchanged.
//!
//! # Cargo features
//!
//! All are on by default. Policies that call a function of a feature that is left out do not compile.
//!
//! | feature | contents |
//! |---|---|
//! | `crypto` | `io.jwt.*`, `crypto.x509.*`, `crypto.parse_private_keys`, signatures of bundles |
//! | `filters` | row filters ([`Engine::prepare_filters`]) |
//! | `formats` | YAML (`yaml.*`, files), `graphql.*`, `json.match_schema`, `json.verify_schema`, IANA time zones |
//! | `http` | `http.send` |
//! | `sqlite` | a persistent store (`store::SqliteStore`) |
//!
//! # Modules of the crate
//!
//! For contributors, from the bottom up. A module uses only those above it in this list:
//!
//! | module | contents |
//! |---|---|
//! | `limits`, `bug`, `index` | all limits; violated invariants; positions that must exist |
//! | `value` | owned and borrowed values; JSON, YAML, numbers |
//! | `uri` | parsing of URIs |
//! | `types`, `host`, `store` | static types; the host environment; base documents |
//! | `graphql` | GraphQL documents |
//! | `builtins` | built-in functions |
//! | `program` | compiled programs |
//! | `runtime` | code that both evaluators share |
//! | `trace` | events of the tracing evaluator |
//! | `compile`, `eval`, `topdown` | the compiler; the fast evaluator; the tracing evaluator |
//! | `partial`, `filter` | residuals of partial evaluation; row filters |
//! | `bundle` | policies and documents from files |
//! | `error`, `query`, `engine` | the public API |
//! | `testing` | tests of policies |

#![cfg_attr(
    not(all(
        feature = "crypto",
        feature = "filters",
        feature = "formats",
        feature = "http",
        feature = "sqlite"
    )),
    allow(
        dead_code,
        unused_imports,
        reason = "what only a feature that is left out uses"
    )
)]

mod bug;
mod build;
mod builtins;
pub mod bundle;
mod compile;
mod decision;
mod engine;
mod error;
mod eval;
mod explanation;
#[cfg(feature = "filters")]
mod filter;
#[cfg(feature = "filters")]
mod filter_query;
#[cfg(feature = "formats")]
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

pub use bug::{InternalError, panic_message};
pub use build::{BuildError, BundleBuilder};
pub use builtins::{
    BuiltinContext, BuiltinError, BuiltinErrorDetail, Capabilities, CapabilitiesError,
    DeclarationError, EvalErrorCode, HostFunction, NdBuiltinCache, ResponseMetadata, SendMetrics,
    StopReason,
};
pub use compile::{Options as CompilerOptions, Work};
pub use decision::Decision;
pub use engine::{
    Change, CheckOptions, Definition, Dependencies, Engine, EngineBuilder, FileLoad, LoadReport,
};
pub use error::{Error, ErrorEntry, ErrorKind, InputError, OptionError};
pub use explanation::{ExplainOptions, Explanation, TraceLines};
#[cfg(feature = "filters")]
pub use filter::{FilterTarget, Statement};
#[cfg(feature = "filters")]
pub use filter_query::{Filter, FilterOptions, FilterQuery, Filters, PreparedFilters};
pub use host::{Cancel, FixedHost, Host, OfflineHost};
pub use limits::Limits;
pub use partial::Residuals;
pub use partial_query::{PartialOptions, PinnedPartial, PreparedPartial};
pub use query::{
    ExpressionText, Input, PinnedDocument, PinnedQuery, PreparedDocument, PreparedQuery,
    QuerySource, Request, Solution, cached_memory, release_memory,
};
pub use runtime::{EvalError, StackFrame};
pub use snapshot::{ActiveBundle, ScopeError, Snapshot, release_thread_snapshot};
pub use solon_syntax::ast::{Module, Version};
pub use solon_syntax::source::{Code, Diagnostic, Diagnostics, Span};
pub use store::{DataSnapshot, Path, PathError};
pub use topdown::{BuiltinErrors, SearchOptions, Shortcuts};
pub use value::array::Items;
pub use value::display::RegoText;
pub use value::number::Number;
pub use value::serde::{ConvertError, from_value, to_value};
pub use value::{
    ArrayView, Kind, NumberBuf, Object, ObjectView, Set, SetView, TextView, Value, ValueRef,
};

/// JSON texts of values. Numbers keep their notation.
pub mod json {
    pub use crate::value::json::{
        JsonError, JsonErrorKind, JsonLayout, NumberError, Style, TooLong, error_message, is_valid,
        read, write, write_styled, write_within,
    };
}

/// YAML texts of values, parsed as OPA parses them.
pub mod yaml {
    pub use crate::value::yaml::{YamlError, read, read_with_checked_numbers, write};
}

/// Objects that share their keys, for readers of sources with many objects that have the same keys in the same order.
///
/// ```
/// use solon::Value;
/// use solon::shapes::Shapes;
///
/// let mut shapes: Shapes = Shapes::default();
/// let mut read = |values: &mut [Value]| {
///     let order = shapes.order(&["name", "age"]).ok_or("too many keys")?;
///     Ok::<_, &str>(Value::from(order.object(values)))
/// };
/// let alice = read(&mut ["alice".into(), 31.into()])?;
/// let bob = read(&mut ["bob".into(), 27.into()])?;
/// assert_eq!(alice.to_string(), r#"{"age":31,"name":"alice"}"#);
/// assert_eq!(bob.to_string(), r#"{"age":27,"name":"bob"}"#);
/// # Ok::<(), &str>(())
/// ```
pub mod shapes {
    pub use crate::value::object::{KeyOrder, MAX_KEYS, Shapes, Unfilled};
}

/// Iterators of values, which the methods of values and views return.
pub mod iter {
    pub use crate::value::array::ArrayIter;
    pub use crate::value::object::{ObjectIter, PairIter};
    pub use crate::value::set::SetIter;
}

/// The syntax tree of policies and terms, its parser and its JSON: the crate `solon-syntax`.
pub use solon_syntax as syntax;

/// X.509 certificates as values.
#[cfg(feature = "crypto")]
pub mod x509 {
    pub use crate::builtins::{CertificateError, parse_certificates_in_der};
}

/// Examples of the documentation, which run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/rust.md")]
    mod rust {}
    #[doc = include_str!("../../docs/quick-start.md")]
    mod quick_start {}
}
