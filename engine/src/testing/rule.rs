//! The tests of an engine: rules whose names begin with `test_` or `todo_test_`.

use std::fmt;

use solon_syntax::ast::{Head, Module, Rule, Term, TermKind};
use solon_syntax::source::Span;

use crate::compile::rewrite::test_rules::{PREFIX, SKIPPED_PREFIX, test_name};
use crate::engine::Engine;
use crate::snapshot::Snapshot;

/// A rule that is a test, bound to a snapshot.
#[derive(Clone)]
#[non_exhaustive]
pub struct PolicyTest {
    /// The package, for example `data.authz_test`.
    pub package: String,
    /// The name, for example `test_allow` or `test_allow#01`.
    pub name: String,
    /// The file of the rule, by the name of its module.
    pub file: String,
    /// Row of the rule's head, from 1.
    pub row: u32,
    /// Column of the rule's head, from 1.
    pub col: u32,
    /// `true` if the test is not run, because its name starts with `todo_test_`.
    pub is_skipped: bool,
    /// `true` if the rule has keys, each of which is a case: `test_x[key]`.
    pub has_cases: bool,
    pub(super) query: String,
    pub(super) engine: Engine,
    pub(super) snapshot: Snapshot,
}

impl fmt::Debug for PolicyTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{} at {}:{}",
            self.package, self.name, self.file, self.row
        )
    }
}

impl PolicyTest {
    /// Returns the full name that test filters match: the package, a point and the name as a reference.
    pub fn path(&self) -> &str {
        &self.query
    }

    /// Returns the text of a file of the policy, or `None` if the policy has no such file. Linear in the number of modules.
    pub fn source(&self, file: &str) -> Option<String> {
        let mut modules = self.snapshot.modules().map(|(_, module)| module);
        let module = modules.find(|module| &*module.source.name == file)?;
        Some(module.source.text.to_string())
    }
}

impl Engine {
    /// Returns the rules that are tests, in the order of files and of source. The engine must be compiled for tests
    /// ([`CompilerOptions::tests`](crate::CompilerOptions)); otherwise rules of the same name and keys of rules are not
    /// distinguished.
    pub fn tests(&self) -> Vec<PolicyTest> {
        let snapshot = self.snapshot();
        let policy = snapshot.state().policy.clone();
        let modules = policy.program.canonical.modules.iter();
        let rules = modules.flat_map(|module| module.rules.iter().map(move |rule| (module, rule)));
        let tests = rules.filter_map(|(module, rule)| test(self, &snapshot, module, rule));
        tests.collect()
    }
}

fn test(engine: &Engine, snapshot: &Snapshot, module: &Module, rule: &Rule) -> Option<PolicyTest> {
    let (name, length) = test_name(&rule.head);
    let is_skipped = name.starts_with(SKIPPED_PREFIX);
    if !is_skipped && !name.starts_with(PREFIX) {
        return None;
    }
    let rule_steps = rule.head.reference.get(..length)?;
    let path = module.package.path.iter().cloned();
    let in_path = rule_steps.iter().map(|part| match part.as_var() {
        Some(name) => Term::string(name.clone(), part.span),
        None => part.clone(),
    });
    Some(PolicyTest {
        package: reference(module.package.path.clone()),
        name: reference(rule_steps.to_vec()),
        file: module.source.name.to_string(),
        row: rule.span.row,
        col: rule.span.col,
        is_skipped,
        has_cases: has_cases(&rule.head),
        query: reference(path.chain(in_path).collect()),
        engine: engine.clone(),
        snapshot: snapshot.clone(),
    })
}

/// Returns the text of a reference, which may be a single variable.
fn reference(mut terms: Vec<Term>) -> String {
    let kind = match terms.as_slice() {
        [_] => terms.remove(0).kind,
        _ => TermKind::Ref(terms),
    };
    Term::new(kind, Span::default()).to_string()
}

/// Returns `true` if a rule head defines an object.
fn has_cases(head: &Head) -> bool {
    match &head.key {
        Some(_) => head.value.is_some(),
        None => head
            .reference
            .iter()
            .skip(1)
            .any(|part| part.as_var().is_some()),
    }
}
