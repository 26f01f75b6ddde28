//! Comprehensions that are searched once: a hash table maps the values of the variables shared with outer bodies to
//! solutions. Only observers can see the difference, so this is done only if there is an observer.

use std::collections::HashMap;
use std::rc::Rc;

use solon_syntax::ast::{Comprehension, Name, Term};
use solon_syntax::source::Span;

use super::bindings::Binding;
use super::machine::{Exprs, Goal, Topdown};
use super::term::{FrameId, NO_VALUE, TermRef};
use crate::bug::bug;
use crate::program::canonical::ComprehensionSearch;
use crate::runtime::Halt;
use crate::value::ValueRef;

/// Solutions of a comprehension, by the values of the shared variables. Each solution holds the values that the head
/// needs.
pub(super) type SolutionTable<'e> = HashMap<Box<[ValueRef<'e>]>, Vec<Box<[ValueRef<'e>]>>>;

/// Tables of a scope, by the address of the comprehension; `None` if its search failed.
pub(super) type SolutionTables<'e> = HashMap<*const Term, Option<Rc<SolutionTable<'e>>>>;

/// Solutions of a comprehension that was searched earlier, for the current bindings.
pub(super) struct CachedSolutions<'e> {
    table: Rc<SolutionTable<'e>>,
    values: Box<[ValueRef<'e>]>,
    key: &'e ComprehensionSearch,
}

impl<'e> Topdown<'e> {
    /// Returns the solutions of a comprehension if it is searched once and has any.
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

    /// Searches a comprehension without bindings.
    #[expect(
        clippy::mutable_key_type,
        reason = "what values share is never changed"
    )]
    fn table(
        &mut self,
        goal: Goal<'e>,
        inside: &'e Comprehension,
        key: &'e ComprehensionSearch,
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
            // the failure may concern values that are never requested, so it is not an error here
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

    /// Calls `found` for each solution, with the variables of the comprehension's head bound.
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
