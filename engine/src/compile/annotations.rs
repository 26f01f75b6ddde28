//! ParseMetadataBlocks and SetAnnotationSet: METADATA blocks and the packages, documents and rules that they annotate.

use hashbrown::HashMap;
use std::cmp::Reverse;
use std::sync::Arc;

use solon_syntax::ParseOptions;
use solon_syntax::annotations::attach;
use solon_syntax::ast::visit::{Descent, Exprs, Walk};
use solon_syntax::ast::{Annotation, Expr, Module, Ref, Rule, Scope, Term};
use solon_syntax::source::Code;

use super::Compilation;
use super::facts::Facts;
use super::rewrite::metadata::{CHAIN, RULE};
use super::rule_tree::ground_prefix;

/// Annotations of packages and documents. Annotations of single rules are stored with their rules.
#[derive(Debug, Default)]
pub struct AnnotationSet {
    packages: HashMap<Ref, Arc<Annotation>>,
    /// Annotations of documents, and of packages including everything below them.
    paths: HashMap<Ref, Arc<Annotation>>,
}

/// A document on the path from a rule to the root, with its annotation.
#[derive(Debug)]
pub struct AnnotatedDocument {
    /// Path of the document, from `data` on.
    pub path: Ref,
    /// Its annotation. `None` if no block applies to it.
    pub annotation: Option<Arc<Annotation>>,
}

/// Parses the METADATA blocks of all modules if a rule uses them and the parser skipped them.
pub fn parse(compilation: &mut Compilation<'_>) {
    let modules = &compilation.modules;
    compilation.uses_metadata |= modules.rules_with(Facts::METADATA).any(uses_metadata);
    if !compilation.uses_metadata {
        return;
    }
    for module in compilation.modules.open_mut() {
        if module.annotations.is_empty() {
            let options = ParseOptions::from_version(module.version);
            for error in attach(module, &options).err().unwrap_or_default().0 {
                compilation.report.push(error);
            }
        }
    }
}

fn uses_metadata(rule: &Rule) -> bool {
    let mut occurs = false;
    rule.walk(&mut Exprs(|expr: &Expr| {
        occurs = occurs || expr.operands_of(CHAIN).is_some() || expr.operands_of(RULE).is_some();
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}

/// Collects the annotations of all modules. A package or document may have only one.
pub fn set(compilation: &mut Compilation<'_>) {
    let mut set = AnnotationSet::default();
    let blocks = compilation
        .modules
        .iter()
        .flat_map(|module| &module.annotations);
    for block in blocks {
        let map = match block.scope {
            Scope::Rule => continue,
            Scope::Package => &mut set.packages,
            Scope::Document | Scope::Subpackages => &mut set.paths,
        };
        if let Some(earlier) = map.get(&block.path) {
            let file = compilation.report.file(earlier.span.source);
            let message = format!(
                "{} annotation redeclared: {file}:{}",
                block.scope.as_str(),
                earlier.span.row
            );
            compilation.report.error(Code::Type, block.span, message);
        } else {
            map.insert(block.path.clone(), Arc::clone(block));
        }
    }
    compilation.annotations = set;
}

impl AnnotationSet {
    /// Collects the annotations of some modules. If several annotate one document, the first one counts.
    pub fn of_modules<'m>(modules: impl IntoIterator<Item = &'m Module>) -> Self {
        let mut set = Self::default();
        for block in modules.into_iter().flat_map(|module| &module.annotations) {
            let map = match block.scope {
                Scope::Rule => continue,
                Scope::Package => &mut set.packages,
                Scope::Document | Scope::Subpackages => &mut set.paths,
            };
            map.entry(block.path.clone())
                .or_insert_with(|| Arc::clone(block));
        }
        set
    }

    /// Returns the annotations of a rule and of the documents around it, nearest first. The first link is the rule's
    /// own.
    pub fn chain(&self, package: &[Term], rule: &Rule) -> Vec<AnnotatedDocument> {
        let path = rule_path(package, rule);
        let mut blocks: Vec<_> = of_rule(rule).collect();
        blocks.sort_by_key(|block| Reverse(block.span));
        let mut chain: Vec<AnnotatedDocument> = blocks
            .into_iter()
            .map(AnnotatedDocument::target_of)
            .collect();
        if chain.is_empty() {
            chain.push(AnnotatedDocument {
                path: path.clone(),
                annotation: None,
            });
        }
        chain.extend(self.paths.get(&path).map(AnnotatedDocument::target_of));
        chain.extend(self.packages.get(package).map(AnnotatedDocument::target_of));
        let enclosing = (1..=package.len())
            .rev()
            .filter_map(|depth| package.get(..depth));
        chain.extend(
            enclosing
                .filter_map(|path| self.paths.get(path))
                .map(AnnotatedDocument::target_of),
        );
        chain
    }
}

impl AnnotatedDocument {
    fn target_of(annotation: &Arc<Annotation>) -> Self {
        Self {
            path: annotation.path.clone(),
            annotation: Some(Arc::clone(annotation)),
        }
    }
}

/// Returns the annotations of a rule alone, of scope `rule`, without those of its document.
pub fn of_rule(rule: &Rule) -> impl Iterator<Item = &Arc<Annotation>> {
    let blocks = rule.annotations.iter();
    blocks.filter(|block| block.scope == Scope::Rule)
}

/// Returns `data`, the package, and the ground prefix of the rule's reference.
pub fn rule_path(package: &[Term], rule: &Rule) -> Ref {
    let steps = ground_prefix(&rule.head.reference).iter();
    let steps = steps.map(|step| match step.as_var() {
        Some(name) => Term::string(name.clone(), step.span),
        None => step.clone(),
    });
    package.iter().cloned().chain(steps).collect()
}
