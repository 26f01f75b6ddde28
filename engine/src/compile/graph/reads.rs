//! Documents that the references of a rule read, independent of the existing rules.

use std::sync::Arc;

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Module, Ref, Rule, Term, TermKind};
use solon_syntax::print::display_ref;

use super::bindings::{Bindings, VarState, is_constant, is_var};
use super::targets::ReadStep;
use super::{DynamicRef, StepCondition, StepNote};
use crate::compile::conflicts::full_reference;
use crate::compile::facts::Facts;
use crate::compile::locals::Locals;
use crate::compile::rule_tree::key;
use crate::limits;

/// A reference to documents, with the part of the rule that contains it.
#[derive(Debug)]
pub struct DocumentRead {
    /// Reading part of the rule: 0 for the rule itself, then its `else` branches.
    pub part: u32,
    /// Steps below `data`, known or dynamic.
    pub path: Box<[ReadStep]>,
    /// The reference, if some of its steps are known only at evaluation.
    pub lookup: Option<Arc<DynamicRef>>,
}

impl DocumentRead {
    /// Returns `true` if another reference leads to the same rules under no conditions. References with conditions differ in their
    /// messages.
    pub fn leads_as(&self, other: &Self) -> bool {
        let are_unconditional = self.lookup.is_none() && other.lookup.is_none();
        are_unconditional && self.part == other.part && self.path == other.path
    }
}

/// Returns the references of each rule of a module.
pub fn of_module(module: &Module, facts: &[Facts], locals: &Locals) -> Arc<[Vec<DocumentRead>]> {
    let rules = module.rules.iter().zip(facts);
    let reads = rules.map(|(rule, facts)| {
        if facts.has(Facts::DOCUMENT) {
            of_rule(module, rule, locals)
        } else {
            Vec::new()
        }
    });
    reads.collect()
}

/// Returns the references of a rule and its `else` branches.
fn of_rule(module: &Module, rule: &Rule, locals: &Locals) -> Vec<DocumentRead> {
    let parts = std::iter::successors(Some(rule), |rule| rule.else_rule.as_deref());
    let mut reads = Vec::new();
    for (part, number) in parts.zip(0..) {
        let mut scan = Scan {
            module,
            rule,
            part,
            bindings: None,
            at: 0,
            locals,
            number,
            reads: &mut reads,
        };
        for (index, expr) in part.body.iter().enumerate() {
            scan.at = index;
            scan.references(expr);
        }
        scan.at = part.body.len() + 1;
        scan.references(part.head.reference.get(1..).unwrap_or_default());
        scan.references(&part.head.args);
        scan.references(&part.head.key);
        scan.references(&part.head.value);
    }
    reads
}

/// Visitor that finds references to documents.
struct Scan<'s, 'c> {
    module: &'c Module,
    rule: &'c Rule,
    /// The rule, or one of its `else` branches.
    part: &'c Rule,
    number: u32,
    /// Variable states before an expression; the head follows the last one. Computed lazily, since most rules do not
    /// need them.
    bindings: Option<(usize, Bindings<'c>)>,
    /// Index of the current expression.
    at: usize,
    locals: &'c Locals,
    reads: &'s mut Vec<DocumentRead>,
}

impl<'c> Scan<'_, 'c> {
    /// Returns the variable states before the current expression.
    fn bindings(&mut self) -> &Bindings<'c> {
        let part = self.part;
        let (next, bindings) = self
            .bindings
            .get_or_insert_with(|| (0, Bindings::new(part, &self.rule.head.args, self.locals)));
        while *next < self.at {
            match part.body.get(*next) {
                Some(expr) => bindings.add(expr),
                None => bindings.enter_head(part),
            }
            *next += 1;
        }
        bindings
    }

    /// Describes a role in the rule.
    fn role(&self, role: &str) -> Arc<str> {
        let reference = full_reference(&self.module.package.path, self.rule);
        let reference = self.locals.restore(&reference);
        format!("is {role} of {}", display_ref(&reference)).into()
    }

    fn references<N: Walk + ?Sized>(&mut self, node: &'c N) {
        node.walk(&mut Terms(|term: &'c Term| {
            if let TermKind::Ref(reference) = &term.kind
                && let Some((head, steps)) = reference.split_first()
                && is_var(head, "data")
            {
                self.reference(reference, steps);
            }
            Descent::Into
        }));
    }

    fn reference(&mut self, reference: &Ref, steps: &[Term]) {
        let mut conditions = Vec::new();
        let mut path = Vec::with_capacity(steps.len());
        for (step_number, step) in (1..).zip(steps) {
            path.push(self.step(step_number, step, &mut conditions));
        }
        let combinations = path.iter().try_fold(1usize, |product, step| match step {
            ReadStep::OneOf(keys) => product.checked_mul(keys.len()),
            ReadStep::Key(_) | ReadStep::Any => Some(product),
        });
        if combinations.is_none_or(|count| count > limits::LOOKUP_COMBINATIONS) {
            for (step_number, step) in (1..).zip(&mut path) {
                if matches!(step, ReadStep::OneOf(_)) {
                    *step = ReadStep::Any;
                    conditions.retain(|condition| condition.step != step_number);
                    conditions.push(StepCondition {
                        step: step_number,
                        note: StepNote::Opaque,
                    });
                }
            }
        }
        let lookup = (!conditions.is_empty()).then(|| {
            Arc::new(DynamicRef {
                reference: self.locals.restore(reference),
                conditions,
            })
        });
        self.reads.push(DocumentRead {
            part: self.number,
            path: path.into(),
            lookup,
        });
    }

    /// Returns the possible keys of a step of a reference.
    fn step(
        &mut self,
        step_number: usize,
        step: &Term,
        conditions: &mut Vec<StepCondition>,
    ) -> ReadStep {
        let mut condition = |note| {
            conditions.push(StepCondition {
                step: step_number,
                note,
            });
        };
        if let Some(key) = key(step) {
            return ReadStep::Key(key);
        }
        match &step.kind {
            TermKind::Var(name) => {
                let bindings = self.bindings();
                match bindings.get(name) {
                    None => return ReadStep::Any,
                    Some(VarState::Bound) => condition(StepNote::Silent),
                    Some(VarState::Role(role)) => {
                        let role = *role;
                        condition(StepNote::Described(self.role(role)));
                    }
                    Some(VarState::Source(origin)) => {
                        let text = bindings.describe(*origin);
                        condition(text.map_or(StepNote::Opaque, StepNote::Described));
                    }
                    Some(VarState::Values(values, reference)) => {
                        if values.len() > 1 {
                            condition(StepNote::Described(format!("is one of {reference}").into()));
                        }
                        return ReadStep::OneOf(values.iter().copied().filter_map(key).collect());
                    }
                }
            }
            TermKind::Ref(reference) => {
                let Some((head, steps)) = reference.split_first() else {
                    return ReadStep::Any;
                };
                if let Some((values, _)) = self.bindings().values(head, steps) {
                    if values.len() > 1 {
                        condition(StepNote::Silent);
                    }
                    return ReadStep::OneOf(values.into_iter().filter_map(key).collect());
                }
                if is_var(head, "data") {
                    let text = "rule values aren't known at compile time";
                    condition(StepNote::Described(text.into()));
                } else {
                    condition(StepNote::Silent);
                }
            }
            // no document has such a key
            _ if is_constant(step) => return ReadStep::OneOf(Vec::new()),
            _ => condition(StepNote::Silent),
        }
        ReadStep::Any
    }
}
