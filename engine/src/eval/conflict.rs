//! Conflicts: errors that list the producers of conflicting values.

use solon_syntax::source::Span;

use crate::bug::bug;
use crate::program::{Rule, RuleKind, RuleSet};
use crate::runtime::{DocumentBuilder, Halt, conflict_error, fixed_key_name, rule_header};
use crate::value::ValueRef;

use super::frame::OperandSource;
use super::machine::Machine;
use super::sink::Sink;

impl<'e> Machine<'e> {
    /// Returns the error of a complete rule or function whose rules return different values; `clashed` was the first to
    /// differ.
    pub(super) fn conflict(
        &mut self,
        set: &'e RuleSet,
        args: &[ValueRef<'e>],
        clashed: &'e Rule,
    ) -> Halt {
        let header = rule_header(&set.name, matches!(set.kind, RuleKind::Function(_)));
        if self.call.hooks.recorded.is_some() {
            // the search for the error lists them, with recorded results of functions
            return conflict_error(self.program, header, &[], clashed.span);
        }
        let producers: Vec<&'e Rule> = self.candidates(set, args).collect();
        self.listing = true;
        let produced = self.values(&producers, args);
        self.listing = false;
        let produced = match produced {
            Ok(produced) => produced,
            Err(halt) => return halt,
        };
        conflict_error(self.program, header, &spans(&produced), clashed.span)
    }

    /// Returns the error for rules of a partial object that share a constant key.
    pub(super) fn fixed_key_conflict(
        &mut self,
        set: &'e RuleSet,
        rivals: &[&'e Rule],
        clashed: &'e Rule,
    ) -> Halt {
        let mut produced: Vec<(ValueRef<'e>, &'e Rule)> = Vec::new();
        // if results of functions are recorded, the search for the error lists the producers
        let rivals = rivals.iter().filter(|_| self.call.hooks.recorded.is_none());
        for rule in rivals.collect::<Vec<_>>() {
            let keys: Vec<ValueRef<'e>> = rule
                .constant_tail
                .iter()
                .flatten()
                .map(|id| self.constant(*id))
                .collect();
            let mut extent = DocumentBuilder::Empty;
            let first = produced.first().map(|(value, _)| *value);
            if let Some(first) = first {
                // an empty document accepts any value
                if extent.insert(self.call.arena, &keys, first, false).is_err() {
                    bug!("a document without parts has no room");
                }
            }
            let (made, run) = self.filling(Sink::DocumentBuilder(extent), |machine| {
                machine.framed(rule.plan.slots, &[], |machine| {
                    machine.run(&rule.plan.steps)
                })
            });
            if first.is_none()
                && let Sink::DocumentBuilder(extent) = made
                && let Some(document) = extent.finish(self.call.arena)
            {
                let value = keys.into_iter().try_fold(document, ValueRef::lookup);
                produced.extend(value.map(|value| (value, *rule)));
            }
            if matches!(run, Err(Halt::Conflict)) {
                produced.extend(self.rival.take().map(|value| (value, *rule)));
            }
        }
        let tail: Vec<ValueRef<'e>> = clashed
            .constant_tail
            .iter()
            .flatten()
            .map(|id| self.constant(*id))
            .collect();
        let name = fixed_key_name(&set.name, &tail);
        let header = rule_header(&name, false);
        conflict_error(self.program, header, &spans(&produced), clashed.span)
    }

    /// Returns the first value of all, and of each rule the first value that differs from it.
    fn values(
        &mut self,
        rules: &[&'e Rule],
        args: &[ValueRef<'e>],
    ) -> Result<Vec<(ValueRef<'e>, &'e Rule)>, Halt> {
        let mut produced: Vec<(ValueRef<'e>, &'e Rule)> = Vec::new();
        for rule in rules {
            let first = produced.first().map(|(value, _)| *value);
            let (found, member, run) = self.producing(false, |machine| {
                machine.produced.found = first;
                machine.chain(rule, args)
            });
            let member = member.unwrap_or(rule);
            if first.is_none() {
                produced.extend(found.map(|value| (value, member)));
            }
            match run {
                Ok(_) => {}
                Err(Halt::Conflict) => {
                    produced.extend(self.rival.take().map(|value| (value, member)));
                }
                // values produced before the error count
                Err(Halt::Error(error)) if error.code.is_evaluation_failure() => {}
                Err(halt) => return Err(halt),
            }
        }
        Ok(produced)
    }
}

fn spans<'e>(produced: &[(ValueRef<'e>, &Rule)]) -> Vec<(ValueRef<'e>, Span)> {
    let places = produced.iter().map(|(value, rule)| (*value, rule.span));
    places.collect()
}
