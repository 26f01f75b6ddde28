//! Explanation of the index: the questions that select each rule.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::index::question;
use crate::program::index::{DecisionBranch, DecisionNode, Index};
use crate::program::{ConditionCoverage, NodeId, Program, Rule, RuleSet};

/// Returns a line for each rule and each `else`: its location, and the questions that select it or the reason that it
/// is always evaluated.
pub fn indexed(program: &Program) -> String {
    let mut text = String::new();
    let mut open: Vec<NodeId> = vec![0];
    while let Some(node) = open.pop().and_then(|node| program.tree.node(node)) {
        open.extend(node.children.values().rev());
        if let Some(set) = node.rule.and_then(|id| program.rules.get(id as usize)) {
            rules(program, set, &mut text);
        }
    }
    text
}

fn rules(program: &Program, set: &RuleSet, text: &mut String) {
    let in_set = found(&set.index);
    for (rule, at) in set.rules.iter().zip(0..) {
        let in_chain = rule.otherwise.as_ref();
        let in_chain = in_chain.map_or_else(BTreeMap::new, |chain| found(&chain.index));
        let found = in_set.get(&at).or_else(|| in_chain.get(&0));
        line(program, set, rule, found, text);
        for (member, at) in rule.members().zip(0..).skip(1) {
            line(program, set, member, in_chain.get(&at), text);
        }
    }
}

fn line(
    program: &Program,
    set: &RuleSet,
    rule: &Rule,
    found: Option<&Vec<String>>,
    text: &mut String,
) {
    let (file, row, col) = program.location(rule.span);
    let why = match (found, rule.conditions) {
        (Some(questions), _) => format!("found by {}", questions.join(", then ")),
        (None, ConditionCoverage::Unasked) => {
            "always tried: there are too few rules to tell apart".to_owned()
        }
        (None, ConditionCoverage::Some) => {
            "always tried: what it needs does not tell it from the others".to_owned()
        }
        (None, ConditionCoverage::None) => {
            "always tried: it needs no constant in the input or an argument".to_owned()
        }
        (None, ConditionCoverage::Prints) => "always tried: it prints".to_owned(),
        (None, ConditionCoverage::Late) => {
            "always tried: what it needs comes behind what may print or fail".to_owned()
        }
    };
    // writing to a string does not fail
    let _ = writeln!(text, "{file}:{row}:{col}: {}: {why}", set.name);
}

/// Returns the questions whose answers lead to each rule.
fn found(index: &Index) -> BTreeMap<u32, Vec<String>> {
    let mut found = BTreeMap::new();
    if let Index::By(branch) = index {
        below(branch, &[], &mut found);
    }
    found
}

fn below(branch: &DecisionBranch, asked: &[String], found: &mut BTreeMap<u32, Vec<String>>) {
    let mut with_this = asked.to_vec();
    with_this.push(question(&branch.question));
    let answers = branch.answers.nodes().map(|node| (node, &*with_this));
    for (node, asked) in answers.chain([(&branch.rest, asked)]) {
        match node {
            DecisionNode::Branch(branch) => below(branch, asked, found),
            DecisionNode::Rules(_) if asked.is_empty() => {}
            DecisionNode::Rules(rules) => {
                found.extend(rules.iter().map(|rule| (*rule, asked.to_vec())));
            }
        }
    }
}
