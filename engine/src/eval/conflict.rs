//! What producers of conflicting values are told.

use std::fmt::Write;

use crate::builtins::FaultCode;
use crate::program::{Rule, RuleKind, RuleSet};
use crate::value::V;

use super::error::Halt;
use super::machine::Machine;
use super::sink::{Produced, Sink};

/// Producers that are listed.
const LISTED: usize = 10;
/// Characters of a value that are shown.
const SHOWN: usize = 80;

impl<'e> Machine<'e> {
    /// The error of a complete rule or function whose rules disagree; `clashed` disagreed first.
    pub(super) fn conflict(&mut self, set: &'e RuleSet, args: &[V<'e>], clashed: &'e Rule) -> Halt {
        let producers: Vec<&'e Rule> = self.candidates(set, args).collect();
        let produced = match self.values(&producers, args) {
            Ok(produced) => produced,
            Err(halt) => return halt,
        };
        let header = match set.kind {
            RuleKind::Function(_) => format!(
                "function {} produced conflicting values for the same inputs:",
                set.name
            ),
            _ => format!("rule {} produced conflicting values:", set.name),
        };
        self.error(
            FaultCode::Conflict,
            clashed.span,
            self.listed(header, &produced),
        )
    }

    /// The same for rules of a partial object that share a constant key.
    pub(super) fn fixed_key_conflict(
        &mut self,
        set: &'e RuleSet,
        rivals: &[&'e Rule],
        clashed: &'e Rule,
    ) -> Halt {
        let mut produced = Vec::new();
        for rule in rivals {
            self.sinks.push(Sink::Extent(super::extent::Extent::Empty));
            let run = self.framed(rule.plan.slots, &[], |machine| {
                machine.run(&rule.plan.steps)
            });
            let made = self.sinks.pop();
            if let (Ok(_), Some(Sink::Extent(extent))) = (run, made)
                && let Some(document) = extent.finish(self.call.arena)
            {
                let keys = rule
                    .constant_tail
                    .iter()
                    .flatten()
                    .map(|id| self.constant(*id));
                let value = keys.into_iter().try_fold(document, V::lookup);
                produced.extend(value.map(|value| (value, *rule)));
            }
        }
        let tail: Vec<V<'e>> = clashed
            .constant_tail
            .iter()
            .flatten()
            .map(|id| self.constant(*id))
            .collect();
        let name = tail.iter().fold(set.name.to_string(), |mut name, key| {
            let text = key.text_or_empty().to_str().into_owned();
            let plain = !text.is_empty()
                && !text.starts_with(|c: char| c.is_ascii_digit())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let _ = if plain {
                write!(name, ".{text}")
            } else {
                write!(name, "[{key}]")
            };
            name
        });
        let header = format!("rule {name} produced conflicting values:");
        self.error(
            FaultCode::Conflict,
            clashed.span,
            self.listed(header, &produced),
        )
    }

    /// One value of each rule.
    fn values(
        &mut self,
        rules: &[&'e Rule],
        args: &[V<'e>],
    ) -> Result<Vec<(V<'e>, &'e Rule)>, Halt> {
        let mut produced = Vec::new();
        for rule in rules {
            self.values.push(Produced::nothing(true));
            let run = self.chain(rule, args);
            let made = self.values.pop();
            run?;
            if let Some(made) = made
                && let Some(value) = made.found
            {
                produced.push((value, made.rule.unwrap_or(rule)));
            }
        }
        Ok(produced)
    }

    /// The first value and those that differ from it, in source order.
    fn listed(&self, header: String, produced: &[(V<'e>, &'e Rule)]) -> String {
        let first = produced.first().map(|(value, _)| *value);
        let mut text = header;
        let differing = produced
            .iter()
            .enumerate()
            .filter(|(at, (value, _))| *at == 0 || Some(*value) != first);
        for (count, (_, (value, rule))) in differing.enumerate() {
            if count == LISTED {
                text.push_str("\n  ...");
                break;
            }
            let (file, row, _) = self.program.place(rule.span);
            let _ = write!(
                text,
                "\n  {} at {file}:{row}",
                shortened(&value.to_string())
            );
        }
        text
    }
}

/// Blanks collapsed, cut at a bound.
fn shortened(text: &str) -> String {
    let collapsed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match collapsed.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", collapsed.get(..at).unwrap_or(&collapsed)),
        None => collapsed,
    }
}
