//! Decision trees: each question with its answers, rules by number.

use std::fmt;

use super::{Dump, bracketed, joined};
use crate::program::index::{
    AccessPath, Answers, DecisionBranch, DecisionNode, Delimiters, Index, PathRoot, Question,
    ValueFeature,
};

impl Dump<'_> {
    pub(super) fn index(&mut self, index: &Index) -> fmt::Result {
        match index {
            Index::All => Ok(()),
            Index::By(branch) => self.branch(branch),
        }
    }

    fn branch(&mut self, branch: &DecisionBranch) -> fmt::Result {
        let strictness = if branch.lenient { " unless strict" } else { "" };
        let asked = question(&branch.question);
        self.line(format_args!("index by {asked}{strictness}"))?;
        self.within(|dump| {
            for (answer, node) in listed(&branch.question.feature, &branch.answers) {
                dump.node(&answer, node)?;
            }
            match &branch.rest {
                rest if rest.is_empty() => Ok(()),
                rest => dump.node("any", rest),
            }
        })
    }

    fn node(&mut self, answer: &str, node: &DecisionNode) -> fmt::Result {
        match node {
            DecisionNode::Rules(rules) => {
                self.line(format_args!("{answer} → {}", joined(&**rules)))
            }
            DecisionNode::Branch(branch) => {
                self.line(format_args!("{answer} →"))?;
                self.within(|dump| dump.branch(branch))
            }
        }
    }
}

/// Describes a question as dumps do, such as `length of input.a`.
pub fn question(question: &Question) -> String {
    let place = place(&question.place);
    match &question.feature {
        ValueFeature::Value => place,
        ValueFeature::Length => format!("length of {place}"),
        ValueFeature::Segment(delimiters, at) => {
            format!("part {at} of {place} {}", between(delimiters))
        }
        ValueFeature::Segments(delimiters) => format!("parts of {place} {}", between(delimiters)),
        ValueFeature::Prefix => format!("start of {place}"),
        ValueFeature::Suffix => format!("end of {place}"),
        ValueFeature::Network => format!("networks of {place}"),
        ValueFeature::Key => format!("keys of {place}"),
        ValueFeature::Element => format!("elements of {place}"),
    }
}

fn place(place: &AccessPath) -> String {
    let keys = bracketed(&place.path);
    match place.root {
        PathRoot::Input => format!("input{keys}"),
        PathRoot::Argument(at) => format!("argument {at}{keys}"),
    }
}

fn between(delimiters: &Delimiters) -> String {
    match delimiters {
        Delimiters::Chars(chars) => format!("between any of {chars:?}"),
        Delimiters::Text(text) => format!("between {text:?}"),
    }
}

/// The answers, sorted, as text.
fn listed<'i>(feature: &ValueFeature, answers: &'i Answers) -> Vec<(String, &'i DecisionNode)> {
    // the ends of strings are kept in reverse
    let text = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        if *feature == ValueFeature::Suffix {
            bytes.reverse();
        }
        format!("{:?}", String::from_utf8_lossy(&bytes))
    };
    match answers {
        Answers::Values(values) => {
            let mut listed: Vec<_> = values.iter().collect();
            listed.sort_by(|a, b| a.0.cmp(b.0));
            let listed = listed.into_iter();
            listed
                .map(|(value, node)| (value.borrow().rego_text().to_string(), node))
                .collect()
        }
        Answers::Texts(texts) => texts.iter().map(|(key, node)| (text(key), node)).collect(),
        Answers::Networks(networks) => networks
            .iter()
            .map(|(key, node)| (key.to_string(), node))
            .collect(),
    }
}
