//! Documents whose evaluation may block on external I/O. They must not be evaluated on a thread that other requests
//! depend on.

use std::sync::Arc;

use hashbrown::HashSet;

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Module, Term, TermKind};

use super::compiled_module::CompiledModule;
use super::facts::Facts;
use super::functions::dotted;
use super::rule_tree::{RuleTree, TreeRuleId, key};
use super::types::Dependents;
use crate::builtins;
use crate::value::Value;

/// Rules that need a function which may block on external I/O.
#[derive(Debug, Default)]
pub struct Blocking {
    rules: HashSet<TreeRuleId>,
    functions: HostFunctionNames,
}

/// Names of functions of the host that may block.
pub type HostFunctionNames = std::collections::HashSet<Arc<str>>;

impl Blocking {
    /// Computes the blocking rules of compiled modules; `functions` are the functions of the host that may block.
    pub fn new(
        parts: &[Arc<CompiledModule>],
        dependents: &Dependents,
        functions: HostFunctionNames,
    ) -> Self {
        let mut direct = Vec::new();
        for (part, module) in parts.iter().zip(0..) {
            let rules = part.waiting.iter();
            direct.extend(rules.map(|rule| TreeRuleId {
                module,
                rule: *rule,
            }));
        }
        let mut rules = dependents.users_of(&direct);
        rules.extend(direct);
        Self { rules, functions }
    }

    /// Returns `true` if the document at a path needs a blocking rule.
    pub fn reaches(&self, tree: &RuleTree, path: &[Value]) -> bool {
        tree.is_produced_by(path, &self.rules)
    }

    /// Returns `true` if a query needs a blocking function or document.
    pub fn blocks<N: Walk + ?Sized>(&self, tree: &RuleTree, node: &N) -> bool {
        names_what_waits(node, &self.functions)
            || names(node, |reference| match reference.split_first() {
                Some((head, steps)) if is_data(head) => {
                    let path: Vec<Value> = steps.iter().map_while(key).collect();
                    self.reaches(tree, &path)
                }
                _ => false,
            })
    }
}

/// Returns the indexes of the rules of a module that name a blocking function, in order.
pub fn blocking_rules(module: &Module, facts: &[Facts], functions: &HostFunctionNames) -> Vec<u32> {
    let rules = module.rules.iter().zip(facts).zip(0..);
    let positions = rules.filter(|((rule, facts), _)| {
        let may_wait = facts.has(Facts::WAITS) || !functions.is_empty();
        may_wait && names_what_waits(*rule, functions)
    });
    positions.map(|(_, position)| position).collect()
}

fn is_data(head: &Term) -> bool {
    head.as_var().is_some_and(|name| &**name == "data")
}

fn names_what_waits<N: Walk + ?Sized>(node: &N, functions: &HostFunctionNames) -> bool {
    names(node, |reference| {
        let name = dotted(reference);
        name.is_some_and(|name| builtins::may_block(&name) || functions.contains(&*name))
    })
}

/// Returns `true` if a tree contains a matching reference, or `data` as a whole.
fn names<N: Walk + ?Sized>(node: &N, matches_ref: impl Fn(&[Term]) -> bool + Copy) -> bool {
    let mut occurs = false;
    node.walk(&mut Terms(|term: &Term| {
        match &term.kind {
            _ if occurs => {}
            TermKind::Ref(reference) => {
                // the head alone is not a reference
                let steps = reference.get(1..).unwrap_or_default();
                occurs = matches_ref(reference) || names(steps, matches_ref);
                return Descent::Over;
            }
            TermKind::Var(_) => occurs = is_data(term) && matches_ref(std::slice::from_ref(term)),
            _ => {}
        }
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}
