//! Conflicts. The conflicting rules are searched again to list the values of each.

use solon_syntax::ast::Rule;
use solon_syntax::source::Span;

use super::machine::{Goal, SearchFlow, Topdown};
use super::term::TermList;
use crate::program::canonical::Group;
use crate::runtime::{Halt, conflict_error, fixed_key_name, rule_header};
use crate::trace::Op;
use crate::value::ValueRef;

impl<'e> Topdown<'e> {
    /// Returns the error of a complete rule or function whose rules return different values; `clashed` was the first to
    /// differ.
    pub(super) fn conflict(
        &mut self,
        goal: Goal<'e>,
        group: &'e Group,
        path: &[ValueRef<'e>],
        args: Option<TermList<'e>>,
        clashed: &'e Rule,
    ) -> Halt {
        let call_stack = self.call_stack.take();
        // the repeated search emits no events
        let observer = self.observer.take();
        let matches = self.candidates(goal, group, path, args);
        self.observer = observer;
        // errors of built-ins that occur only in this search do not count
        let had_failed = self.postponed.is_some();
        let mut produced = Vec::new();
        for rule in &matches.rules {
            for member in &rule.chain {
                match self.values(goal, member, args, &mut produced) {
                    Ok(false) => {}
                    Ok(true) => break,
                    Err(halt) => return halt,
                }
            }
        }
        self.call_stack = call_stack;
        self.forget_failures(had_failed);
        let name = fixed_key_name("data", path);
        let header = rule_header(&name, args.is_some());
        conflict_error(self.program, header, &produced, clashed.span)
    }

    /// Returns the error for rules of a partial object that share a constant key.
    pub(super) fn fixed_key_conflict(
        &mut self,
        goal: Goal<'e>,
        rivals: &[&'e Rule],
        clashed: &'e Rule,
        name: &str,
    ) -> Halt {
        let call_stack = self.call_stack.take();
        let had_failed = self.postponed.is_some();
        let mut produced = Vec::new();
        for rule in rivals {
            if let Err(halt) = self.values(goal, rule, None, &mut produced) {
                return halt;
            }
        }
        self.call_stack = call_stack;
        self.forget_failures(had_failed);
        conflict_error(
            self.program,
            rule_header(name, false),
            &produced,
            clashed.span,
        )
    }

    /// Drops an error of a built-in, unless one had already occurred before.
    fn forget_failures(&mut self, had_failed: bool) {
        if !had_failed {
            self.postponed = None;
        }
    }

    /// Adds the first value of all, or the first value of a rule that differs from it. Returns `true` if the rule has a
    /// value.
    fn values(
        &mut self,
        goal: Goal<'e>,
        rule: &'e Rule,
        args: Option<TermList<'e>>,
        produced: &mut Vec<(ValueRef<'e>, Span)>,
    ) -> Result<bool, Halt> {
        let child = self.child(goal, rule, false);
        self.rule_event(Op::Enter, child, rule);
        let (mut hit, mut differs) = (false, false);
        let arguments = args.unwrap_or(TermList::Terms(&[], goal.frame));
        let parameters = TermList::Terms(&rule.head.args, child.frame);
        let outcome = self.unify_lists(child.head(rule), arguments, parameters, 0, &mut |walk| {
            walk.run(child, &mut |walk| {
                walk.rule_event(Op::Exit, child, rule);
                let value = walk.head_value(rule, child);
                hit = true;
                match produced.first() {
                    None => produced.push((value, rule.span)),
                    Some((first, _)) if *first != value => {
                        produced.push((value, rule.span));
                        differs = true;
                        return Err(Halt::Conflict);
                    }
                    Some(_) => {}
                }
                walk.rule_event(Op::Redo, child, rule);
                Ok(SearchFlow::More)
            })
        });
        self.pop_frame();
        match outcome {
            // the second value suffices, so the search of the rule ends
            Err(Halt::Conflict) if differs => Ok(true),
            // values produced before the error count
            Err(Halt::Error(error)) if error.code.is_evaluation_failure() => Ok(hit),
            outcome => outcome.map(|_| hit),
        }
    }
}
