//! METADATA blocks.

use std::sync::Arc;

use super::{Ref, Term};
use crate::source::Span;

/// Scope of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One rule.
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
    /// `title`
    pub title: Option<Arc<str>>,
    /// `description`
    pub description: Option<Arc<str>>,
    /// `entrypoint`
    pub entrypoint: bool,
    /// `organizations`
    pub organizations: Vec<Arc<str>>,
    /// `related_resources`
    pub related_resources: Vec<RelatedResource>,
    /// `authors`
    pub authors: Vec<Author>,
    /// `schemas`
    pub schemas: Vec<SchemaRef>,
    /// `compile`
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

/// An author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Name. May be empty.
    pub name: Arc<str>,
    /// Address. May be empty.
    pub email: Arc<str>,
}

/// A related resource.
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
    /// The schema.
    pub schema: SchemaTarget,
}

/// Source of a schema.
#[derive(Clone, Debug)]
pub enum SchemaTarget {
    /// `schema.name`
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
