//! Constants of a program, each with an id.

use hashbrown::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Term, TermKind};

use crate::builtins::{BuiltinEntry, Prepared};
pub use crate::program::constant;
use crate::program::{ConstId, Operand, Program};
use crate::value::Value;

/// Constants in the order of their ids.
#[derive(Default)]
pub struct Constants {
    base: usize,
    values: Vec<Value>,
    strings: HashMap<Arc<str>, ConstId>,
    /// Results of [`Self::specialised`] by built-in and constant operands.
    calls: HashMap<SpecialisedCallKey, Option<Arc<dyn Prepared>>>,
}

/// A built-in and the constant operands of a call.
type SpecialisedCallKey = (&'static str, Box<[Option<ConstId>]>);

impl Constants {
    /// Creates a collection whose ids follow those of a program.
    pub fn starting_at(base: usize) -> Self {
        Self {
            base,
            ..Self::default()
        }
    }

    /// Creates a collection whose ids follow those of an earlier program, if there is one.
    pub fn on_from(program: Option<&Program>) -> Self {
        let before = program.map_or(&[][..], |program| &program.constants);
        // with spare capacity, the first new constant does not copy all of them again
        let mut values = Vec::with_capacity(before.len() + before.len() / 16);
        values.extend_from_slice(before);
        Self {
            values,
            ..Self::default()
        }
    }

    pub fn add(&mut self, value: Value) -> ConstId {
        self.values.push(value);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a program has fewer than 2^32 constants"
        )]
        let id = (self.base + self.values.len() - 1) as ConstId;
        id
    }

    /// Returns the id of a string constant; equal strings share one.
    pub fn string(&mut self, text: &Arc<str>) -> ConstId {
        if let Some(id) = self.strings.get(text) {
            return *id;
        }
        let id = self.add(Value::string(text));
        self.strings.insert(text.clone(), id);
        id
    }

    /// Returns the id of a constant value; equal strings share one.
    pub fn of_value(&mut self, value: &Value) -> ConstId {
        match value.as_str() {
            Some(text) => self.string(&Arc::from(text)),
            None => self.add(value.clone()),
        }
    }

    /// Returns the id of a term if it is a constant. Equal strings share an id.
    pub fn of_term(&mut self, term: &Term) -> Option<ConstId> {
        match &term.kind {
            TermKind::String(text) => Some(self.string(text)),
            _ => constant(term).map(|value| self.add(value)),
        }
    }

    /// Returns the constant of an operand. Returns `None` for slots and constants of an earlier program.
    pub fn get(&self, operand: Operand) -> Option<&Value> {
        match operand {
            Operand::Const(id) => self.values.get((id as usize).checked_sub(self.base)?),
            Operand::Slot(_) => None,
        }
    }

    /// Returns the call of a built-in specialised for its constant operands. Calls with equal strings share it, so a
    /// regular expression that many rules use is compiled once.
    pub fn specialised(
        &mut self,
        entry: &'static BuiltinEntry,
        operands: &[Operand],
    ) -> Option<Arc<dyn Prepared>> {
        let specialise = entry.builtin.specialise?;
        let id = |operand: &Operand| match *operand {
            Operand::Const(id) => Some(id),
            Operand::Slot(_) => None,
        };
        let key = (entry.builtin.name, operands.iter().map(id).collect());
        if let Some(prepared) = self.calls.get(&key) {
            return prepared.clone();
        }
        let constants: Vec<_> = operands
            .iter()
            .map(|operand| self.get(*operand).map(Value::borrow))
            .collect();
        let prepared = specialise(&constants);
        self.calls.insert(key, prepared.clone());
        prepared
    }

    pub fn finish(self) -> Vec<Value> {
        self.values
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Constants;
    use crate::builtins;
    use crate::program::Operand;
    use crate::value::Value;

    #[test]
    fn calls_with_equal_strings_share_the_specialised_call() {
        let mut constants = Constants::default();
        let entry = builtins::lookup("regex.match").unwrap();
        let mut call = |pattern: &str| {
            let pattern = Operand::Const(constants.of_value(&Value::string(pattern)));
            constants
                .specialised(entry, &[pattern, Operand::Slot(0)])
                .unwrap()
        };
        let first = call("^a+$");
        assert!(Arc::ptr_eq(&first, &call("^a+$")));
        assert!(!Arc::ptr_eq(&first, &call("^b+$")));
    }
}
