//! Checks the invariants of each result: the tree is the same, no comment is lost, and formatting again changes
//! nothing.

use crate::ast::{Comment, Import, Module, Rule};
use crate::source::Source;

/// Parts of a module that formatting changed.
pub(super) enum Changes {
    /// Indexes of changed rules. Empty if nothing changed.
    Rules(Vec<usize>),
    OutsideRules,
}

/// Compares a module with its formatted result.
pub(super) fn changes(before: &Module, after: &Module) -> Changes {
    if before.package.path != after.package.path || !same_imports(&before.imports, &after.imports) {
        return Changes::OutsideRules;
    }
    let pairs = before.rules.iter().zip(&after.rules).enumerate();
    if before.rules.len() != after.rules.len() {
        let mut pairs = pairs;
        let first = pairs.find(|(_, (before, after))| !same_rule(before, after));
        let last = before.rules.len().min(after.rules.len());
        return Changes::Rules(vec![first.map_or(last, |(index, _)| index)]);
    }
    let mut rules: Vec<usize> = pairs
        .filter(|(_, (before, after))| !same_rule(before, after))
        .map(|(index, _)| index)
        .collect();
    for comment in lost_comments(&before.comments, &after.comments) {
        // a comment after a rule is written with it
        let after = before
            .rules
            .partition_point(|rule| rule.span.start <= comment.span.start);
        match after.checked_sub(1) {
            Some(index) => rules.push(index),
            None => return Changes::OutsideRules,
        }
    }
    Changes::Rules(rules)
}

/// Compares two rules. The key of a head with a value is part of its reference; v0 and v1 disagree about whether it has
/// one.
fn same_rule(before: &Rule, after: &Rule) -> bool {
    let mut members = before.members().zip(after.members());
    let equal = members.all(|(before, after)| {
        let (left, right) = (&before.head, &after.head);
        before.default == after.default
            && left.reference == right.reference
            && left.args == right.args
            && left.value == right.value
            && (left.value.is_some() || left.key == right.key)
            && before.body == after.body
    });
    equal && before.members().count() == after.members().count()
}

/// Returns the rules whose texts do not parse to the original rules, for a result that does not parse as a whole.
/// `starts` contains the offset of each rule's text. Everything before the first offset is the header of the module.
pub(super) fn unfaithful_rules(
    before: &[Rule],
    text: &str,
    starts: &[usize],
    parse: impl Fn(&Source) -> Option<Module>,
) -> Vec<usize> {
    let header = text.get(..starts.first().copied().unwrap_or(text.len()));
    let header = header.unwrap_or_default();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let parses = |rule: &Rule, part: &str| {
        let source = Source::new(crate::source::SourceId(0), "", format!("{header}{part}"));
        parse(&source)
            .is_some_and(|module| matches!(module.rules.as_slice(), [one] if same_rule(rule, one)))
    };
    let parts = before.iter().zip(starts.iter().zip(ends)).enumerate();
    parts
        .filter(|(_, (rule, (start, end)))| {
            text.get(**start..*end)
                .is_some_and(|part| !part.trim().is_empty() && !parses(rule, part))
        })
        .map(|(index, _)| index)
        .collect()
}

/// Compares imports of documents. Those of keywords depend on the version.
fn same_imports(before: &[Import], after: &[Import]) -> bool {
    let documents = |imports: &[Import]| {
        let mut documents: Vec<(String, Option<String>)> = imports
            .iter()
            .map(|import| {
                let alias = import.alias.as_deref().map(str::to_owned);
                (import.path.to_string(), alias)
            })
            .filter(|(path, _)| path.starts_with("data") || path.starts_with("input"))
            .collect();
        documents.sort();
        documents
    };
    documents(before) == documents(after)
}

/// Returns the comments that occur less often than before.
fn lost_comments<'m>(before: &'m [Comment], after: &[Comment]) -> Vec<&'m Comment> {
    let text = |comment: &'m Comment| comment.text.trim_end();
    let mut remaining: Vec<&str> = after
        .iter()
        .map(|comment| comment.text.trim_end())
        .collect();
    remaining.sort_unstable();
    let mut lost: Vec<&Comment> = before.iter().collect();
    lost.sort_by_key(|comment| text(comment));
    let mut remaining = remaining.into_iter().peekable();
    lost.retain(|comment| {
        let text = text(comment);
        while remaining.next_if(|next| *next < text).is_some() {}
        remaining.next_if_eq(&text).is_none()
    });
    lost
}
