//! What METADATA blocks say for the compilation of filters.

use solon_syntax::ParseOptions;
use solon_syntax::annotations::attach;
use solon_syntax::ast::{Annotation, Module, Term, TermKind};
use solon_syntax::source::{Diagnostics, Span};

use super::refusal::Refusal;
use crate::compile::annotations::{AnnotationSet, rule_path};

/// The hints for a rule.
#[derive(Clone, Debug, Default)]
pub struct Annotated {
    /// What is unknown, as references.
    pub unknowns: Vec<String>,
    /// The reference to the rule that computes masks.
    pub mask_rule: Option<String>,
}

/// Why there are no hints.
#[derive(Clone, Debug)]
pub enum Unreadable {
    /// A block that does not parse.
    Block(Diagnostics),
    /// What a block says and means nothing.
    Hint(Vec<Refusal>),
}

/// The hints that the blocks of modules have for the rule at a path, nearest block first.
///
/// # Errors
/// Blocks that cannot be read, and unknowns that are none.
pub fn annotated<'m>(
    modules: impl Iterator<Item = &'m Module>,
    path: &[Term],
) -> Result<Annotated, Unreadable> {
    let mut read = Vec::new();
    for module in modules {
        let mut module = module.clone();
        if module.annotations.is_empty() {
            let options = ParseOptions {
                annotations: true,
                ..ParseOptions::of(module.version)
            };
            attach(&mut module, &options).map_err(Unreadable::Block)?;
        }
        read.push(module);
    }
    let rules = read
        .iter()
        .flat_map(|module| module.rules.iter().map(move |rule| (module, rule)));
    let mut rules = rules.filter(|(module, rule)| rule_path(&module.package.path, rule) == path);
    let Some((module, rule)) = rules.next() else {
        return Ok(Annotated::default());
    };
    let chain = AnnotationSet::of(&read).chain(&module.package.path, rule);
    let blocks = chain.iter().filter_map(|link| link.annotation.as_deref());
    let mut hints = Annotated::default();
    let mut refusals = Vec::new();
    for block in blocks {
        let Some(compile) = &block.compile else {
            continue;
        };
        for unknown in &compile.unknowns {
            if is_rooted(unknown) {
                hints.unknowns.push(unknown.to_string());
            } else {
                refusals.push(no_unknown(unknown, block));
            }
        }
        if hints.mask_rule.is_none()
            && let Some(mask) = &compile.mask_rule
        {
            let mask = mask.to_string();
            let package = Term::new(TermKind::Ref(module.package.path.clone()), Span::default());
            hints.mask_rule = Some(if mask.starts_with("data.") {
                mask
            } else {
                format!("{package}.{mask}")
            });
        }
    }
    if refusals.is_empty() {
        Ok(hints)
    } else {
        Err(Unreadable::Hint(refusals))
    }
}

fn is_rooted(unknown: &Term) -> bool {
    let head = match &unknown.kind {
        TermKind::Ref(terms) => terms.first(),
        _ => Some(unknown),
    };
    head.and_then(Term::as_var)
        .is_some_and(|name| matches!(&**name, "input" | "data"))
}

fn no_unknown(unknown: &Term, block: &Annotation) -> Refusal {
    let message = format!("unknowns must be prefixed with `input` or `data`: {unknown}");
    Refusal {
        code: "invalid_unknown",
        ..Refusal::new(message, block.span)
    }
}
