//! Verification of indexes and of the tree of virtual documents.

use super::Check;
use crate::program::{
    Answers, DecisionBranch, DecisionNode, Index, PathRoot, Program, ValueFeature,
};

/// Checks that an index selects among `rules` rules, in source order, by the input or one of `arguments` arguments.
pub(super) fn selects(index: &Index, rules: usize, arguments: u32) -> Check {
    let branch = index.branch();
    branch.map_or(Ok(()), |branch| check_branch(branch, rules, arguments))
}

fn check_branch(branch: &DecisionBranch, rules: usize, arguments: u32) -> Check {
    let question = &branch.question;
    if let PathRoot::Argument(at) = question.place.root
        && at >= arguments
    {
        return Err(format!("the index tests argument {at} of {arguments}"));
    }
    let is_kind = match question.feature {
        ValueFeature::Prefix | ValueFeature::Suffix => matches!(branch.answers, Answers::Texts(_)),
        ValueFeature::Network => matches!(branch.answers, Answers::Networks(_)),
        _ => matches!(branch.answers, Answers::Values(_)),
    };
    if !is_kind {
        let feature = &question.feature;
        return Err(format!(
            "the index has answers of the wrong kind for {feature:?}"
        ));
    }
    let mut nodes = branch.answers.nodes().chain([&branch.rest]);
    nodes.try_for_each(|node| check_node(node, rules, arguments))
}

fn check_node(node: &DecisionNode, rules: usize, arguments: u32) -> Check {
    match node {
        DecisionNode::Branch(branch) => check_branch(branch, rules, arguments),
        DecisionNode::Rules(list) => {
            if !list.is_sorted() || list.last().is_some_and(|last| *last as usize >= rules) {
                return Err(format!("the index selects {list:?} of {rules} rules"));
            }
            Ok(())
        }
    }
}

/// Checks that each node of the tree of virtual documents names nodes and rule sets that exist.
pub(super) fn tree(program: &Program) -> Check {
    let nodes = &program.tree.nodes;
    let count = nodes.len();
    for (at, node) in nodes.iter().enumerate() {
        let mut children = node.children.values();
        if let Some(child) = children.find(|id| **id as usize >= count) {
            return Err(format!(
                "node {at} of the tree has child {child} of {count}"
            ));
        }
        if let Some(rule) = node.rule.filter(|id| *id as usize >= program.rules.len()) {
            return Err(format!("node {at} of the tree has rule set {rule}"));
        }
    }
    Ok(())
}
