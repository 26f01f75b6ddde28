//! Style of the whole output, derived from the version, the imports and the heads of rules.

use crate::ast::visit::{Descent, Terms, Walk};
use crate::ast::{Import, Module, Term, Version};
use crate::dialect::Keywords;

/// Notation of the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// `true` for v1.
    pub v1: bool,
    /// `true` if bodies follow `if`.
    pub ifs: bool,
    /// `true` if members of partial sets follow `contains`.
    pub contains: bool,
    /// `true` if heads are written as references.
    pub ref_heads: bool,
    /// `true` if keywords may be segments of references.
    pub keywords_in_refs: bool,
}

impl Style {
    pub(super) fn from_module(module: &Module, target: Version, keywords_in_refs: bool) -> Self {
        let v1 = target.is_v1();
        let mut style = Self {
            v1,
            ifs: v1,
            contains: v1,
            ref_heads: false,
            keywords_in_refs,
        };
        for import in &module.imports {
            let keywords = keywords_of(import);
            style.contains |= keywords.contains(Keywords::CONTAINS);
            style.ifs |= keywords.contains(Keywords::IF);
        }
        for rule in module.rules.iter().flat_map(crate::ast::Rule::members) {
            let head = &rule.head;
            let is_member = head.key.is_some() && head.value.is_none();
            style.ref_heads |= head.reference.len() > 2 || (head.reference.len() == 2 && is_member);
        }
        style
    }

    /// Returns `true` if rules are written with `if`.
    pub(super) fn uses_if(self) -> bool {
        self.v1 || self.ifs
    }
}

/// Returns the root of an import's path, and the strings after it.
pub(super) fn path_of(import: &Import) -> (Option<&str>, Vec<&str>) {
    let Some(parts) = import.path.as_ref() else {
        return (import.path.as_var().map(|name| &**name), Vec::new());
    };
    let root = parts.first().and_then(Term::as_var).map(|name| &**name);
    let names = parts
        .iter()
        .skip(1)
        .map(|part| part.as_string().map_or("", |name| &**name))
        .collect();
    (root, names)
}

/// Returns the keywords that an import enables; none for other imports.
pub(super) fn keywords_of(import: &Import) -> Keywords {
    let (root, names) = path_of(import);
    match (root, names.as_slice()) {
        (Some("future"), ["keywords"]) | (Some("rego"), ["v2"]) => Keywords::ALL,
        (Some("future"), ["keywords", name]) => Keywords::from_name(name).unwrap_or(Keywords::NONE),
        (Some("rego"), ["v1"]) => Keywords::V1,
        _ => Keywords::NONE,
    }
}

/// Returns `true` if a node calls one of the built-ins.
pub(super) fn calls(node: &(impl Walk + ?Sized), names: &[&str]) -> bool {
    let mut occurs = false;
    node.walk(&mut Terms(|term: &Term| {
        occurs = occurs || names.iter().any(|name| term.is_operator(name));
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}
