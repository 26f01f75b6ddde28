//! Built-in functions: the table, and a file for each family.

#![allow(
    clippy::unnecessary_wraps,
    reason = "all functions of the table have one signature"
)]

mod buffer;
mod builtin;
pub mod builtin_error;
pub mod call;
pub mod capabilities;
mod entry;
mod folds;
pub mod host_function;
mod intrinsic;
mod name_filter;
pub mod operands;
mod operators;
pub mod patterns;
mod recorded_calls;
mod registry;
mod runes;
mod tested;

mod aggregates;
mod arithmetic;
mod arrays;
mod aws;
mod bits;
mod comparison;
mod conversions;
#[cfg(feature = "crypto")]
mod crypto;
mod encoding;
pub(crate) mod glob;
mod graph;
#[cfg(feature = "formats")]
mod graphql;
mod hashes;
mod hooks;
pub mod http;
mod json;
#[cfg(feature = "crypto")]
mod jwt;
mod lookup;
mod metadata;
mod nd_cache;
pub(crate) mod net;
mod numbers;
mod objects;
mod occurrences;
mod parsing;
mod pem;
mod printing;
pub(crate) mod regex;
mod runtime;
mod semver;
mod sets;
mod signatures;
mod sprintf;
mod strings;
mod template;
mod time;
mod types;
mod units;
mod uri;
mod uuid;

pub use builtin::{
    Builtin, BuiltinFn, Function, IndexTest, Observed, Prepared, Specialise, TextRelation,
};
pub use builtin_error::{BuiltinError, BuiltinErrorDetail, EvalErrorCode, StopReason};
pub(crate) use call::ResumeState;
pub use call::{Budget, BuiltinContext};
pub use capabilities::{Capabilities, CapabilitiesError, required_json};
pub use comparison::has_element;
#[cfg(feature = "crypto")]
pub use crypto::{CertificateError, parse_certificates_in_der};
pub use entry::{BuiltinEntry, Declaration, stop_or_error};
pub use folds::{Aggregation, Fold};
pub use graph::Graphs;
pub use hooks::Hooks;
pub use host_function::{DeclarationError, HostFunction};
pub use http::SendMetrics;
pub use intrinsic::{IntrinsicFunction, IntrinsicResult};
#[cfg(feature = "crypto")]
pub(crate) use jwt::{sign_message, verify_signature};
pub use metadata::ResponseMetadata;
pub use name_filter::{may_be_deprecated_below, may_be_plain};
pub use nd_cache::NdBuiltinCache;
pub use operands::{Members, Operands};
pub use operators::{index_test, is_observable, is_silent, opa_index_test};
pub use patterns::Patterns;
pub use printing::{PRINT_EACH, TEMPLATE_STRING, TEST_CASE};
pub(crate) use recorded_calls::RecordedCalls;
pub use regex::is_pattern;
pub use registry::{all, lookup, may_block, may_block_below};
pub use signatures::VerifiedSignatures;
pub use strings::{simple_lower, simple_upper};
