//! Documents whose evaluation may read a key of `input`. A server that can omit the key evaluates the other documents
//! without it.

use hashbrown::HashSet;

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Term, TermKind};

use super::compilation::Compiled;
use super::rule_tree::{TreeRuleId, key};
use super::{longest_chain, on_large_stack};
use crate::value::Value;

/// Returns `true` if the document at `path` may depend on `input[name]`: a rule that produces it, or one of its
/// dependencies, reads that key, `input` as a whole, or a key of `input` that is not a constant. Visits every module.
pub fn may_read(compiled: &Compiled, path: &[Value], name: &str) -> bool {
    let chain = longest_chain(&*compiled.modules);
    on_large_stack(chain, || search(compiled, path, name))
}

fn search(compiled: &Compiled, path: &[Value], name: &str) -> bool {
    let modules = compiled.modules.iter().zip(0..);
    let direct: Vec<TreeRuleId> = modules
        .flat_map(|(module, position)| {
            let rules = module.rules.iter().zip(0..);
            let reading = rules.filter(|(rule, _)| reads(*rule, name));
            reading.map(move |(_, rule)| TreeRuleId {
                module: position,
                rule,
            })
        })
        .collect();
    let mut rules: HashSet<TreeRuleId> = compiled.dependents.users_of(&direct);
    rules.extend(direct);
    compiled.rule_tree.is_produced_by(path, &rules)
}

/// Returns `true` if a node reads `input[name]`, or a part of `input` that may be it. Dynamic steps count.
fn reads<N: Walk + ?Sized>(node: &N, name: &str) -> bool {
    let mut occurs = false;
    node.walk(&mut Terms(|term: &Term| {
        if occurs {
            return Descent::Over;
        }
        match &term.kind {
            TermKind::Ref(reference) if reference.first().is_some_and(is_input) => {
                let steps = reference.get(1..).unwrap_or_default();
                occurs = steps.first().is_none_or(|step| may_be(step, name)) || reads(steps, name);
                Descent::Over
            }
            TermKind::Var(_) => {
                occurs = is_input(term);
                Descent::Over
            }
            _ => Descent::Into,
        }
    }));
    occurs
}

fn is_input(term: &Term) -> bool {
    term.as_var().is_some_and(|name| &**name == "input")
}

/// Returns `true` unless a step is a constant other than `name`.
fn may_be(step: &Term, name: &str) -> bool {
    key(step).is_none_or(|key| key.as_str() == Some(name))
}
