//! Comprehensions that are searched once: their solutions by the values of the variables they share with the bodies
//! around. Only observers can tell, so nothing is searched so without one.

use std::collections::HashMap;
use std::rc::Rc;

use solon_syntax::ast::{Comprehension, Name, Term};
use solon_syntax::source::Span;

use super::bindings::Binding;
use super::machine::{Exprs, Goal, Topdown};
use super::term::{FrameId, NO_VALUE, TermRef};
use crate::bug::bug;
use crate::program::canonical::Key;
use crate::runtime::Halt;
use crate::value::ValueRef;

/// The solutions of a comprehension by the values of the variables it shares: of each, the values that its head needs.
pub(super) type SolutionTable<'e> = HashMap<Box<[ValueRef<'e>]>, Vec<Box<[ValueRef<'e>]>>>;

/// The tables of a scope, by the address of the comprehension; `None` where a search came to no end.
pub(super) type SolutionTables<'e> = HashMap<*const Term, Option<Rc<SolutionTable<'e>>>>;

/// The solutions of a comprehension that was searched before, for what is bound now.
pub(super) struct CachedSolutions<'e> {
    table: Rc<SolutionTable<'e>>,
    values: Box<[ValueRef<'e>]>,
    key: &'e Key,
}

impl<'e> Topdown<'e> {
    /// The solutions of a comprehension, if it is one that is searched once and has any.
    pub(super) fn cached_solutions(
        &mut self,
        goal: Goal<'e>,
        term: &'e Term,
        inside: &'e Comprehension,
        frame: FrameId,
    ) -> Result<Option<CachedSolutions<'e>>, Halt> {
        if self.observer.is_none() || self.open.is_some() {
            return Ok(None);
        }
        let modules = self.program.canonical.keyed.get(term);
        let Some(key) = modules.or_else(|| self.keyed?.get(term)) else {
            return Ok(None);
        };
        let known = self.scope().tables.get(&std::ptr::from_ref(term)).cloned();
        let table = match known {
            Some(table) => table,
            None => {
                let table = self.table(goal, inside, key)?.map(Rc::new);
                self.scope_mut().tables.insert(term, table.clone());
                table
            }
        };
        let Some(table) = table else {
            return Ok(None);
        };
        let Some(values) = self.values_of(&key.shared, frame) else {
            return Ok(None);
        };
        let found = table.contains_key(&values);
        Ok(found.then_some(CachedSolutions { table, values, key }))
    }

    /// Searches a comprehension with nothing bound.
    #[expect(
        clippy::mutable_key_type,
        reason = "what values share is never changed"
    )]
    fn table(
        &mut self,
        goal: Goal<'e>,
        inside: &'e Comprehension,
        key: &'e Key,
    ) -> Result<Option<SolutionTable<'e>>, Halt> {
        let frame = self.push_frame();
        let child = Goal {
            frame,
            ..self.closure(goal, Exprs::Body(&inside.body))
        };
        let mut table = SolutionTable::new();
        let outcome = self.each_solution(child, &mut |walk| {
            let shared = walk.values_of(&key.shared, frame);
            match (shared, walk.values_of(&key.made, frame)) {
                (Some(shared), Some(made)) => table.entry(shared).or_default().push(made),
                _ => bug!(NO_VALUE),
            }
            Ok(())
        });
        self.pop_frame();
        match outcome {
            Ok(()) => Ok(Some(table)),
            // what fails for values that nobody asks for does not fail
            Err(Halt::Error(error)) if error.code.is_evaluation_failure() => Ok(None),
            Err(halt) => Err(halt),
        }
    }

    fn values_of(&mut self, names: &'e [Name], frame: FrameId) -> Option<Box<[ValueRef<'e>]>> {
        let values = names.iter().map(|name| {
            let variable = self.variable(name, frame);
            self.plug(TermRef::Built(variable))
        });
        values.collect()
    }

    /// Shows what a comprehension's head is in each solution: the variables of the head are bound, one solution after
    /// the other.
    pub(super) fn each_cached(
        &mut self,
        frame: FrameId,
        solutions: &CachedSolutions<'e>,
        found: &mut dyn FnMut(&mut Self) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let rows = solutions.table.get(&solutions.values);
        for row in rows.into_iter().flatten() {
            self.count_iteration()?;
            let mut bound = Vec::with_capacity(row.len());
            for (name, value) in solutions.key.made.iter().zip(row) {
                let (name, value): (&'e str, ValueRef<'e>) = (name, *value);
                if self.binding(name, frame).is_none()
                    && let Some(frame) = self.frame_mut(frame)
                {
                    let term = TermRef::Value(value);
                    let span = Span::default();
                    frame.insert(name, Binding { term, span });
                    bound.push(name);
                }
            }
            let outcome = found(self);
            if let Some(frame) = self.frame_mut(frame) {
                for name in bound {
                    frame.remove(name);
                }
            }
            outcome?;
        }
        Ok(())
    }
}
