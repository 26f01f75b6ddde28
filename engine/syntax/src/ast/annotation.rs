//! METADATA blocks.

use std::sync::Arc;

use super::{Ref, Term};
use crate::source::Span;

/// Scope of an annotation: the rules and documents that it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The rule that follows the block.
    Rule,
    /// All rules of one path.
    Document,
    /// The package, in this file only.
    Package,
    /// The package and all packages below it.
    Subpackages,
}

impl Scope {
    /// Returns the scope's keyword in METADATA blocks.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Document => "document",
            Self::Package => "package",
            Self::Subpackages => "subpackages",
        }
    }
}

/// One METADATA block.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// Scope, with defaults applied.
    pub scope: Scope,
    /// `id`, which results use to name the rule or the document.
    pub id: Option<Arc<str>>,
    /// `title`, in any words.
    pub title: Option<Arc<str>>,
    /// `description`, in any words.
    pub description: Option<Arc<str>>,
    /// `entrypoint`. `false` if it is missing.
    pub entrypoint: bool,
    /// `organizations`, in the order of the block.
    pub organizations: Vec<Arc<str>>,
    /// `related_resources`, in the order of the block.
    pub related_resources: Vec<RelatedResource>,
    /// `authors`, in the order of the block.
    pub authors: Vec<Author>,
    /// `schemas`, which type checks use.
    pub schemas: Vec<SchemaRef>,
    /// `compile`, which filters use.
    pub compile: Option<CompileHints>,
    /// `custom`, sorted by key.
    pub custom: Option<serde_json::Map<String, serde_json::Value>>,
    /// `labels`, sorted by key.
    pub labels: Option<serde_json::Map<String, serde_json::Value>>,
    /// Path of the annotated item: `data`, package, and the rule's ground prefix.
    pub path: Ref,
    /// Location of the block's first line.
    pub span: Span,
}

/// An author: a name, an address or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Name. May be empty.
    pub name: Arc<str>,
    /// Address. May be empty.
    pub email: Arc<str>,
}

/// A related resource: a URL with an optional description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedResource {
    /// Its URL.
    pub reference: Arc<str>,
    /// Description. May be empty.
    pub description: Arc<str>,
}

/// A schema for a document path.
#[derive(Clone, Debug)]
pub struct SchemaRef {
    /// `input.x`, `data.y`
    pub path: Ref,
    /// The schema of that document.
    pub schema: SchemaTarget,
}

/// Source of a schema: a name or the block itself.
#[derive(Clone, Debug)]
pub enum SchemaTarget {
    /// `schema.name`, a named schema.
    Reference(Ref),
    /// Schema given in the block itself.
    Inline(serde_json::Value),
}

/// Hints for filter compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileHints {
    /// References that stay unknown.
    pub unknowns: Vec<Term>,
    /// Rule that computes column masks.
    pub mask_rule: Option<Term>,
}
