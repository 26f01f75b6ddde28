//! Joins as text, for dumps of plans.

use std::fmt;

use super::{Dump, optional_slot};
use crate::program::{Join, Operand, Step};

impl Dump<'_> {
    pub(super) fn join(&mut self, join: &Join) -> fmt::Result {
        let (from, key) = (self.operand(join.from), optional_slot(join.key));
        // each step reads the results of earlier ones
        let mut found: Vec<(Operand, String)> = Vec::new();
        for step in &join.lookup {
            let read = |operand: &Operand| {
                let text = found.iter().find(|(slot, _)| slot == operand);
                text.map_or_else(|| self.operand(*operand), |(_, text)| text.clone())
            };
            let (out, text) = match step {
                Step::Dot { from, keys, out } => {
                    (*out, format!("{}{}", read(from), self.keys(keys)))
                }
                Step::Input { keys, out } => (*out, format!("input{}", self.keys(keys))),
                Step::BaseChild {
                    from, keys, out, ..
                } => (*out, format!("{}{}", read(from), self.keys(keys))),
                Step::Call { call, out } => {
                    let args: Vec<String> = call.args.iter().map(read).collect();
                    let text = format!("{}({})", call.entry.builtin.name, args.join(", "));
                    (*out, text)
                }
                _ => continue,
            };
            found.push((Operand::Slot(out), text));
        }
        let known = found.pop().filter(|(slot, _)| *slot == join.known);
        let known = known.map_or_else(|| self.operand(join.known), |(_, text)| text);
        let place = match join.key {
            Some(key) if join.by_key => key,
            _ => join.out,
        };
        let (out, path) = (join.out, self.keys(&join.path));
        let kind = if join.is_base { "base " } else { "" };
        let base = self.base(join.base.as_deref());
        self.line(format_args!(
            "join {key}, s{out} in {from}{base} by {kind}s{place}{path} == {known}"
        ))
    }
}
