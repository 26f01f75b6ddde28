//! Code that both evaluators share: rule conditions, errors, documents replaced by `with`, builders of virtual
//! documents, and messages of conflicts.

mod base;
mod brief;
mod conditions;
mod conflict;
mod document_builder;
mod error;
mod overlay;
mod stack;

pub(crate) use base::{base_child, base_index, number_key, stored_base_child};
pub(crate) use conditions::{allows, may_have};
pub(crate) use conflict::{conflict_error, fixed_key_name, rule_header};
pub(crate) use document_builder::DocumentBuilder;
pub use error::EvalError;
pub(crate) use error::{Halt, outcome};
pub(crate) use overlay::{
    Overlay, Patches, descend, document_keys, is_system, merged_keys, no_document, overlay,
    replaced, replaced_below, united,
};
pub use stack::StackFrame;
