//! CheckRuleConflicts: rules of one path must be compatible with each other, with packages, and with base documents.

use std::sync::Arc;

use solon_syntax::ast::{Module, Ref, Rule, Term, TermKind};
use solon_syntax::print::display_ref;
use solon_syntax::source::{Code, Span};

use super::compilation::Compilation;
use super::locals::Locals;
use super::report::Report;
use super::rule_tree::{RuleTree, RuleTreeNodeId, TreeRuleId, is_ground};
use crate::value::{Kind, Value};

/// Rejects incompatible rules: a complete rule with rules in its extent, different kinds or arities, several defaults,
/// and packages or base documents at the path of a rule.
pub fn check_rule_conflicts(compilation: &mut Compilation<'_>) {
    let nodes = nodes_to_check(compilation);
    let mut check = ConflictCheck {
        modules: &compilation.modules,
        tree: &compilation.rule_tree,
        locals: &compilation.locals,
        report: &mut compilation.report,
    };
    for id in &nodes {
        check.node(*id);
    }
    if let Some(exists) = compilation.base_exists {
        check.base_documents(exists);
    }
    for id in nodes {
        check.packages(id);
    }
}

/// Returns the nodes of the tree at which rules may conflict: all, or in the tree of an earlier compilation, those of the rules of
/// changed modules and the nodes around them.
fn nodes_to_check(compilation: &Compilation<'_>) -> Vec<RuleTreeNodeId> {
    let tree = &compilation.rule_tree;
    if compilation.earlier_with_same_tree().is_none() {
        return tree.subtree(RuleTree::DATA).collect();
    }
    let rules = compilation.modules.open_rules();
    let homes = rules.filter_map(|(id, _)| tree.home(id));
    homes.flat_map(|node| tree.ancestors(node)).collect()
}

struct ConflictCheck<'c> {
    modules: &'c [Arc<Module>],
    tree: &'c RuleTree,
    locals: &'c Locals,
    report: &'c mut Report,
}

/// A rule with its full reference and its position.
struct LocatedRule<'c> {
    reference: Ref,
    rule: &'c Rule,
}

impl<'c> ConflictCheck<'c> {
    fn rule(&self, id: TreeRuleId) -> Option<(&'c Rule, Ref)> {
        let module = self.modules.get(id.module as usize)?;
        let rule = module.rules.get(id.rule as usize)?;
        Some((rule, full_reference(&module.package.path, rule)))
    }

    fn rules(&self, node: RuleTreeNodeId) -> impl Iterator<Item = &'c Rule> + use<'c> {
        let (tree, modules) = (self.tree, self.modules);
        let rules = tree.node(node).rules.iter();
        rules.filter_map(move |id| id.rule_in(modules))
    }

    fn node(&mut self, id: RuleTreeNodeId) {
        let node = self.tree.node(id);
        let (Some(first), Some(last)) = (self.rules(id).next(), node.rules.last()) else {
            return;
        };
        if !node.children.is_empty() {
            // a rule with variables shares its extent with all rules except functions
            let only_functions = self.rules(id).all(|rule| !is_ground(&rule.head.reference));
            let located = self.extent(id, only_functions);
            if !located.is_empty() {
                let name = self.name(*last);
                let lines: String = located.iter().map(|rule| self.line(rule)).collect();
                let message = format!("rule {name} conflicts with:{lines}");
                return self.report.error(Code::Type, first.span, message);
            }
        }

        let defaults: Vec<_> = self.rules(id).filter(|rule| rule.default).collect();
        if self.is_mixed(id) {
            let message = format!("conflicting rules {} found", self.name(*last));
            self.report.error(Code::Type, first.span, message);
        } else if defaults.len() > 1 {
            let locations: Vec<_> = defaults
                .iter()
                .map(|rule| self.location(rule.span))
                .collect();
            let message = format!(
                "multiple default rules {} found at {}",
                self.name(*last),
                locations.join(", ")
            );
            let module = node.rules.iter().find_map(|id| {
                id.rule_in(self.modules)?
                    .default
                    .then(|| self.modules.get(id.module as usize))?
            });
            let span = module.map_or(first.span, |module| module.package.span);
            self.report.error(Code::Type, span, message);
        }
    }

    /// Returns the reference of a rule with the user's names.
    fn name(&self, id: TreeRuleId) -> String {
        let reference = self.rule(id).map(|(_, reference)| reference);
        let reference = self.locals.restore(&reference.unwrap_or_default());
        display_ref(&reference).to_string()
    }

    /// Returns `true` if the rules of a node differ in kind, arity or completeness.
    fn is_mixed(&self, id: RuleTreeNodeId) -> bool {
        let mut shapes = self.rules(id).map(|rule| {
            let head = &rule.head;
            (
                head.value.is_some(),
                is_ground(&head.reference),
                head.args.len(),
            )
        });
        let first = shapes.next();
        shapes.any(|other| Some(other) != first)
    }

    /// Returns the rules below a node, without those in the extent of another one of them, ordered by reference.
    fn extent(&self, id: RuleTreeNodeId, only_functions: bool) -> Vec<LocatedRule<'c>> {
        let mut located: Vec<_> = self
            .tree
            .rules_below(id)
            .filter(|rule| self.tree.home(*rule) != Some(id))
            .filter(|rule| {
                let is_function = |rule: &Rule| !rule.head.args.is_empty();
                !only_functions || rule.rule_in(self.modules).is_some_and(is_function)
            })
            .filter_map(|rule| {
                let (rule, reference) = self.rule(rule)?;
                Some(LocatedRule { reference, rule })
            })
            .collect();
        // stable: of equal references the first one stays; a prefix precedes what it covers
        located.sort_by(|a, b| a.reference.cmp(&b.reference));
        let mut outermost: Vec<LocatedRule<'c>> = Vec::new();
        for rule in located {
            let is_covered = outermost
                .last()
                .is_some_and(|last| rule.reference.starts_with(&last.reference));
            if !is_covered {
                outermost.push(rule);
            }
        }
        outermost
    }

    fn line(&self, rule: &LocatedRule<'_>) -> String {
        let reference = self.locals.restore(&rule.reference);
        format!(
            "\n  rule {} at {}",
            display_ref(&reference),
            self.location(rule.rule.span)
        )
    }

    fn location(&self, span: Span) -> String {
        format!("{}:{}", self.report.file(span.source), span.row)
    }

    /// Rejects rules at the paths of base documents.
    fn base_documents(&mut self, exists: &dyn Fn(&[String]) -> bool) {
        let mut open: Vec<(RuleTreeNodeId, Vec<String>)> = vec![(RuleTree::DATA, Vec::new())];
        while let Some((id, path)) = open.pop() {
            // nothing exists below a missing document
            if !path.is_empty() && !exists(&path) {
                continue;
            }
            if let Some(first) = self.rules(id).next() {
                let message = format!("conflicting rule for data path {} found", path.join("/"));
                self.report.error(Code::Compile, first.span, message);
                continue;
            }
            for child in self.tree.node(id).children.iter().rev() {
                // base objects have string keys only
                if let Some(step) = as_string(&self.tree.node(*child).key) {
                    let mut path = path.clone();
                    path.push(step);
                    open.push((*child, path));
                }
            }
        }
    }

    /// Rejects packages at the path of a rule.
    fn packages(&mut self, id: RuleTreeNodeId) {
        let node = self.tree.node(id);
        if node.rules.is_empty() {
            return;
        }
        for position in &node.packages {
            let Some(package) = self.modules.get(*position as usize) else {
                continue;
            };
            let path = display_ref(&package.package.path).to_string();
            let path = path.strip_prefix("data.").unwrap_or(&path);
            for rule_id in &node.rules {
                let Some(rule) = rule_id.rule_in(self.modules) else {
                    continue;
                };
                if !is_ground(&rule.head.reference) {
                    continue;
                }
                let message = format!(
                    "package {path} conflicts with rule {} defined at {}",
                    display_ref(&rule.head.reference),
                    self.location(rule.span)
                );
                let module = self.modules.get(rule_id.module as usize);
                let span = module.map_or(rule.span, |module| module.package.span);
                self.report.error(Code::Type, span, message);
                if self.report.is_full() {
                    return;
                }
            }
        }
    }
}

/// Returns the reference of a rule, including the path of its package.
pub fn full_reference(package: &[Term], rule: &Rule) -> Ref {
    let mut reference = package.to_vec();
    let mut head = rule.head.reference.iter().cloned();
    if let Some(mut name) = head.next() {
        // syntactically a variable, semantically a key
        if let Some(text) = name.as_var().cloned() {
            name.kind = TermKind::String(text);
        }
        reference.push(name);
    }
    reference.extend(head);
    reference
}

fn as_string(key: &Value) -> Option<String> {
    match key.kind() {
        Kind::String => Some(key.borrow().as_text()?.to_str().into_owned()),
        _ => None,
    }
}
