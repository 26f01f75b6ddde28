//! METADATA blocks.

use std::sync::Arc;

use super::{Ref, Term};
use crate::source::Span;

/// What an annotation speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One rule.
    Rule,
    /// All rules of one path.
    Document,
    /// The package in this file.
    Package,
    /// The package and all below it.
    Subpackages,
}

impl Scope {
    /// The word used in the block.
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
    /// What it speaks of, defaults applied.
    pub scope: Scope,
    /// `id`, by which answers name the rule or the document.
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
    /// `custom`, keys sorted.
    pub custom: Option<serde_json::Map<String, serde_json::Value>>,
    /// `labels`, keys sorted.
    pub labels: Option<serde_json::Map<String, serde_json::Value>>,
    /// Path of what it is attached to: `data`, package, and the rule's ground prefix.
    pub path: Ref,
    /// Place of the block's first line.
    pub span: Span,
}

/// An author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Name; may be empty.
    pub name: Arc<str>,
    /// Address; may be empty.
    pub email: Arc<str>,
}

/// A related resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedResource {
    /// Its URL.
    pub reference: Arc<str>,
    /// What it is; may be empty.
    pub description: Arc<str>,
}

/// A schema bound to a document path.
#[derive(Clone, Debug)]
pub struct SchemaRef {
    /// `input.x`, `data.y`
    pub path: Ref,
    /// The schema.
    pub schema: SchemaTarget,
}

/// Where a schema comes from.
#[derive(Clone, Debug)]
pub enum SchemaTarget {
    /// `schema.name`
    Reference(Ref),
    /// Written in the block.
    Inline(serde_json::Value),
}

/// Hints for filter compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileHints {
    /// References to leave open.
    pub unknowns: Vec<Term>,
    /// The rule that computes column masks.
    pub mask_rule: Option<Term>,
}
