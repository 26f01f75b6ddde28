//! Attaches METADATA blocks to the statements that they describe.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::block::Block;
use super::target::Target;
use crate::ast::{Annotation, Module, Ref, Rule, Scope, Term, TermKind};
use crate::source::{Code, Diagnostic, Diagnostics};

/// Statement that a block can precede.
#[derive(Clone, Copy)]
enum AnnotatedStatement {
    Package,
    Import,
    Rule(usize),
}

impl AnnotatedStatement {
    fn name(self) -> &'static str {
        match self {
            Self::Package => "package",
            Self::Import => "import",
            Self::Rule(_) => "rule",
        }
    }
}

/// Assigns each block its scope and path, and each rule its annotations.
pub(super) fn attach(module: &mut Module, blocks: Vec<Block>) -> Result<(), Diagnostics> {
    let statements = statements(module);
    let mut annotations = Vec::with_capacity(blocks.len());
    let mut targets = Vec::new();
    let mut errors = Vec::new();
    for block in blocks {
        let row = block.annotation.span.row;
        let index = statements.partition_point(|(start, _)| *start <= row);
        let target = statements.get(index).map(|(_, statement)| *statement);
        match scoped(&block, target) {
            Ok(scope) => {
                let path = path(module, scope, target);
                if let Some(AnnotatedStatement::Rule(index)) = target {
                    targets.push((annotations.len(), index));
                }
                annotations.push(Arc::new(Annotation {
                    scope,
                    path,
                    ..block.annotation
                }));
            }
            Err(messages) => {
                let span = block.annotation.span;
                errors.extend(
                    messages
                        .into_iter()
                        .map(|text| Diagnostic::at_span(Code::Parse, &module.source, span, text)),
                );
            }
        }
    }
    if !errors.is_empty() {
        return Err(Diagnostics(errors));
    }
    let annotations_of_rules = distribute(&module.rules, &annotations, &targets);
    for (rule, annotations_of_rule) in module.rules.iter_mut().zip(annotations_of_rules) {
        rule.annotations.extend(annotations_of_rule);
        rule.annotations
            .sort_by_key(|annotation| annotation.span.row);
    }
    module.annotations = annotations;
    Ok(())
}

/// Returns the statements with their rows, in source order.
fn statements(module: &Module) -> Vec<(u32, AnnotatedStatement)> {
    let mut statements = vec![(module.package.span.row, AnnotatedStatement::Package)];
    statements.extend(
        module
            .imports
            .iter()
            .map(|import| (import.span.row, AnnotatedStatement::Import)),
    );
    statements.extend(
        module
            .rules
            .iter()
            .enumerate()
            .map(|(index, rule)| (rule.span.row, AnnotatedStatement::Rule(index))),
    );
    statements.sort_by_key(|(row, _)| *row);
    statements
}

/// Returns the scope of a block above a statement, or every error in it.
fn scoped(block: &Block, target: Option<AnnotatedStatement>) -> Result<Scope, Vec<String>> {
    let entrypoint = block.annotation.entrypoint;
    let scope_name = match (block.scope.as_str(), target) {
        ("", Some(AnnotatedStatement::Rule(_))) if entrypoint => "document",
        ("", Some(statement)) => statement.name(),
        (name, _) => name,
    };
    let mut errors = Vec::new();
    let scope = match scope_name {
        "rule" => Some(Scope::Rule),
        "document" => Some(Scope::Document),
        "package" => Some(Scope::Package),
        "subpackages" => Some(Scope::Subpackages),
        _ => None,
    };
    match scope {
        None => errors.push(format!(
            "invalid annotation scope '{scope_name}'. Use one of 'rule', 'document', 'package', or 'subpackages'"
        )),
        Some(scope) => {
            let expected = if matches!(scope, Scope::Rule | Scope::Document) { "rule" } else { "package" };
            let have = target.map(AnnotatedStatement::name);
            if have != Some(expected) {
                let have = have.map_or_else(String::new, |have| format!(" (have {have})"));
                errors.push(format!("annotation scope '{scope_name}' must be applied to {expected}{have}"));
            }
        }
    }
    if entrypoint && !matches!(scope, Some(Scope::Document | Scope::Package)) {
        errors.push(format!(
            "annotation entrypoint applied to non-document or package scope '{scope_name}'"
        ));
    }
    match scope {
        Some(scope) if errors.is_empty() => Ok(scope),
        _ => Err(errors),
    }
}

fn path(module: &Module, scope: Scope, target: Option<AnnotatedStatement>) -> Ref {
    match (scope, target) {
        (Scope::Rule | Scope::Document, Some(AnnotatedStatement::Rule(index))) => module
            .rules
            .get(index)
            .map(|rule| rule_path(&module.package.path, rule))
            .unwrap_or_default(),
        _ => module.package.path.clone(),
    }
}

/// Returns the package's path followed by the constant prefix of the rule's reference.
fn rule_path(package: &[Term], rule: &Rule) -> Ref {
    let mut path = package.to_vec();
    for (index, part) in rule.head.reference.iter().enumerate() {
        match &part.kind {
            TermKind::Var(name) if index == 0 => path.push(Term::string(name.clone(), part.span)),
            _ if part.is_scalar() => path.push(part.clone()),
            _ => break,
        }
    }
    path
}

/// Assigns annotations to rules.
///
/// Annotations of scope `document` apply to all rules of their target, those of scope `rule` to the first rule of their
/// target that follows. If several blocks precede one rule, the rule gets all of them but consumes only the last, so
/// that the following rules of the same target get the others. Policies observe this through `rego.metadata.rule()`.
///
/// `targets` contains pairs: the index of an annotation above a rule, and the index of that rule.
fn distribute(
    rules: &[Rule],
    annotations: &[Arc<Annotation>],
    targets: &[(usize, usize)],
) -> Vec<Vec<Arc<Annotation>>> {
    let mut by_target: HashMap<Target<'_>, Applicable> = HashMap::new();
    for (annotation_index, rule_index) in targets {
        let (Some(annotation), Some(rule)) =
            (annotations.get(*annotation_index), rules.get(*rule_index))
        else {
            continue;
        };
        let target = || Target::from_rule(rule);
        match annotation.scope {
            Scope::Rule => {
                let applicable = by_target.entry(target()).or_default();
                applicable.rules.push_back(annotation);
            }
            Scope::Document => {
                let applicable = by_target.entry(target()).or_default();
                applicable.documents.push(annotation);
            }
            Scope::Package | Scope::Subpackages => {}
        }
    }
    if by_target.is_empty() {
        return Vec::new();
    }
    let mut annotations_of_rules = Vec::with_capacity(rules.len());
    for rule in rules {
        let Some(applicable) = by_target.get_mut(&Target::from_rule(rule)) else {
            annotations_of_rules.push(Vec::new());
            continue;
        };
        while let Some(next) = applicable
            .rules
            .pop_front_if(|next| next.span.row < rule.span.row)
        {
            applicable.above.push(next);
        }
        let all = applicable.documents.iter().chain(&applicable.above);
        annotations_of_rules.push(all.map(|annotation| Arc::clone(annotation)).collect());
        applicable.above.pop();
    }
    annotations_of_rules
}

/// The annotations of one target, in source order.
#[derive(Default)]
struct Applicable<'a> {
    documents: Vec<&'a Arc<Annotation>>,
    /// Annotations of rules that have not been reached yet.
    rules: VecDeque<&'a Arc<Annotation>>,
    /// Annotations of rules that were passed and not consumed.
    above: Vec<&'a Arc<Annotation>>,
}
