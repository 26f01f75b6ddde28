//! Hints for the compilation of filters in METADATA blocks.

use std::borrow::Cow;
use std::sync::Arc;

use hashbrown::HashMap;
use solon_syntax::ParseOptions;
use solon_syntax::annotations::attach;
use solon_syntax::ast::{Annotation, Module, Ref, Term, TermKind};
use solon_syntax::source::{Diagnostics, Span};

use super::rejection::Rejection;
use crate::compile::annotations::{AnnotationSet, rule_path};

/// Hints for a rule.
#[derive(Clone, Debug, Default)]
pub struct Annotated {
    /// Unknowns, as references such as `input.fruits`.
    pub unknowns: Vec<String>,
    /// Reference to the rule that computes masks.
    pub mask_rule: Option<String>,
}

/// METADATA blocks of the rules of a policy, read once.
#[derive(Debug, Default)]
pub struct Blocks {
    /// Hints by path. If several rules share a path, the first one counts.
    rules: HashMap<Ref, Said>,
}

/// Hints of a rule, nearest block first.
#[derive(Debug)]
struct Said {
    package: Ref,
    blocks: Vec<Arc<Annotation>>,
}

impl Blocks {
    /// Reads the blocks of modules.
    ///
    /// # Errors
    ///
    /// Blocks that do not parse.
    pub fn of_modules<'m>(modules: impl Iterator<Item = &'m Module>) -> Result<Self, Diagnostics> {
        let mut annotated_modules = Vec::new();
        for module in modules {
            let mut module = Cow::Borrowed(module);
            if module.annotations.is_empty() {
                let options = ParseOptions {
                    annotations: true,
                    ..ParseOptions::from_version(module.version)
                };
                attach(module.to_mut(), &options)?;
            }
            annotated_modules.push(module);
        }
        let set = AnnotationSet::of_modules(annotated_modules.iter().map(|module| &**module));
        let mut index = Self::default();
        for module in &annotated_modules {
            let package = &module.package.path;
            for rule in &module.rules {
                index
                    .rules
                    .entry(rule_path(package, rule))
                    .or_insert_with(|| {
                        let chain = set.chain(package, rule).into_iter();
                        let blocks = chain.filter_map(|link| link.annotation);
                        Said {
                            package: package.clone(),
                            blocks: blocks.filter(|block| block.compile.is_some()).collect(),
                        }
                    });
            }
        }
        Ok(index)
    }

    /// Returns the hints for the rule at a path, nearest block first.
    ///
    /// # Errors
    ///
    /// Unknowns that are not references below `input` or `data`.
    pub fn hints(&self, path: &[Term]) -> Result<Annotated, Vec<Rejection>> {
        let mut hints = Annotated::default();
        let Some(hints_of_rule) = self.rules.get(path) else {
            return Ok(hints);
        };
        let mut rejections = Vec::new();
        for block in &hints_of_rule.blocks {
            let Some(compile) = &block.compile else {
                continue;
            };
            for unknown in &compile.unknowns {
                if is_rooted(unknown) {
                    hints.unknowns.push(unknown.to_string());
                } else {
                    rejections.push(no_unknown(unknown, block));
                }
            }
            if hints.mask_rule.is_none()
                && let Some(mask) = &compile.mask_rule
            {
                let mask = mask.to_string();
                let package = Term::new(
                    TermKind::Ref(hints_of_rule.package.clone()),
                    Span::default(),
                );
                hints.mask_rule = Some(if mask.starts_with("data.") {
                    mask
                } else {
                    format!("{package}.{mask}")
                });
            }
        }
        if rejections.is_empty() {
            Ok(hints)
        } else {
            Err(rejections)
        }
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

fn no_unknown(unknown: &Term, block: &Annotation) -> Rejection {
    let message = format!("unknowns must be prefixed with `input` or `data`: {unknown}");
    Rejection {
        code: "invalid_unknown",
        ..Rejection::new(message, block.span)
    }
}
