//! Lookups under known keys.

use smallvec::SmallVec;

use crate::program::{ConstId, DecisionNode, Operand, Slot, Values};
use crate::runtime::Halt;
use crate::value::{Object, RefRepr, Repr, Value, ValueRef};

use super::data::Replacement;
use super::frame::{OperandSource, Register};
use super::machine::Machine;

/// Returns the value at a path, or `None`. Stored objects are descended without borrowed values.
#[inline]
pub(super) fn value_at<'e>(from: Register<'e>, path: &'e [Value]) -> Option<ValueRef<'e>> {
    let mut keys = path.iter();
    let value = match from {
        Register::Value(value) => value,
        Register::Stored(mut value) => {
            while let Value(Repr::Object(object)) = value
                && let Some(key) = keys.next()
            {
                value = object.get_stored(key)?;
            }
            value.borrow()
        }
    };
    keys.try_fold(value, |value, key| value.lookup(key.borrow()))
}

/// Returns the index subtree of the value at a path.
#[inline]
pub(super) fn child<'e>(
    from: &Register<'e>,
    path: &'e [Value],
    answers: &'e Values,
) -> Option<&'e DecisionNode> {
    if let Register::Stored(value) = from {
        let mut value = *value;
        let mut keys = path.iter();
        while let Value(Repr::Object(object)) = value
            && let Some(key) = keys.next()
        {
            value = object.get_stored(key)?;
        }
        if keys.as_slice().is_empty() {
            return answers.get_stored(value);
        }
    }
    child_in_flight(from, path, answers)
}

#[inline(never)]
fn child_in_flight<'e>(
    from: &Register<'e>,
    path: &'e [Value],
    answers: &'e Values,
) -> Option<&'e DecisionNode> {
    answers.get(&value_at(*from, path)?)
}

impl<'e> Machine<'e> {
    /// Looks up a constant key in a stored object, the most frequent step of all. `None` if the operands are others;
    /// the inner option is `None` if there is no value.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a part of the most frequent step of all"
    )]
    pub(super) fn field(&self, from: Operand, id: ConstId) -> Option<Option<&'e Value>> {
        let Operand::Slot(slot) = from else {
            return None;
        };
        let object = match self.slot(slot)? {
            Register::Stored(Value(Repr::Object(object))) => object,
            Register::Value(ValueRef(RefRepr::Object(object))) => *object,
            _ => return None,
        };
        self.under(object, id)
    }

    /// Returns the value of a stored object under a constant; `None` if there is no such constant.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the most frequent step of all: a call would take a third of it"
    )]
    pub(super) fn under(&self, object: &'e Object, id: ConstId) -> Option<Option<&'e Value>> {
        let cache = self.caches.of_constant(id)?;
        if let Some(found) = object.cached(id, cache.get()) {
            return Some(found);
        }
        Some(object.get_noted(self.stored_constant(id)?, id, cache))
    }

    /// Looks up a value of an operand under keys. Returns `true` if there is one.
    #[inline(never)]
    pub(super) fn get_operand_path(
        &mut self,
        from: Operand,
        keys: &'e [Operand],
        out: Slot,
    ) -> bool {
        match from {
            Operand::Slot(slot) => match self.slot(slot) {
                Some(Register::Stored(value)) => self.get_stored_path(value, keys, out),
                Some(Register::Value(value)) => match self.element(*value, keys) {
                    Some(Some(found)) => {
                        self.set(out, found);
                        true
                    }
                    Some(None) => false,
                    None => self.get_path(*value, keys, out),
                },
                None => false,
            },
            Operand::Const(id) => match self.stored_constant(id) {
                Some(value) => self.get_stored_path(value, keys, out),
                None => false,
            },
        }
    }

    /// Returns the element of an arena array at a constant index, as patterns of results need it. `None` if the
    /// operands are others; the inner option is `None` if there is no element.
    #[inline]
    fn element(&self, from: ValueRef<'e>, keys: &'e [Operand]) -> Option<Option<ValueRef<'e>>> {
        let (ValueRef(RefRepr::ArenaArray(items)), [Operand::Const(id)]) = (from, keys) else {
            return None;
        };
        let Some(Value(Repr::Int(index))) = self.stored_constant(*id) else {
            return None;
        };
        let index = usize::try_from(*index).ok();
        Some(index.and_then(|index| items.get(index).copied()))
    }

    /// Fills a slot with the value below a base document under keys. Returns `false` if there is none.
    pub(super) fn base_child(
        &mut self,
        from: Operand,
        path: &'e [Operand],
        keys: &'e [Operand],
        out: Slot,
    ) -> Result<bool, Halt> {
        if !self.overlaid {
            return Ok(self.stored_base_child(from, keys, out));
        }
        match self.replacement(path.iter().map(|operand| self.get(*operand))) {
            Replacement::Nothing => return Ok(self.stored_base_child(from, keys, out)),
            Replacement::Whole(None) => return Ok(false),
            Replacement::Whole(Some(value)) => return Ok(self.get_path(value, keys, out)),
            Replacement::Part => {}
        }
        let path: SmallVec<[ValueRef<'e>; 8]> = path
            .iter()
            .chain(keys)
            .map(|operand| self.get(*operand))
            .collect();
        let found = self.document(&path);
        self.found(found, out)
    }

    /// Same as [`Self::base_child`] without replaced documents.
    #[inline(never)]
    pub(super) fn stored_base_child(
        &mut self,
        from: Operand,
        keys: &'e [Operand],
        out: Slot,
    ) -> bool {
        match self.base_value(self.register(from), keys) {
            Some(Register::Stored(value)) => self.set_stored(out, value),
            Some(Register::Value(value)) => self.set(out, value),
            None => return false,
        }
        true
    }

    /// Returns the value of the input at a path, or `None` if it is undefined.
    #[inline]
    pub(super) fn input_at(&self, path: &'e [Value]) -> Option<ValueRef<'e>> {
        value_at(self.input?, path)
    }

    /// Looks up a value of the input under keys. Returns `true` if there is one.
    #[inline(never)]
    pub(super) fn get_input_path(&mut self, keys: &'e [Operand], out: Slot) -> bool {
        match self.input {
            Some(Register::Stored(value)) => self.get_stored_path(value, keys, out),
            Some(Register::Value(value)) => self.get_path(value, keys, out),
            None => false,
        }
    }

    /// Looks up a value below an arena value.
    fn get_path(&mut self, from: ValueRef<'e>, keys: &'e [Operand], out: Slot) -> bool {
        let mut value = from;
        let mut keys = keys.iter();
        while let Some(key) = keys.next() {
            let key = self.get(*key);
            if let ValueRef(RefRepr::Object(object)) = value {
                return match object.get(key) {
                    Some(inner) => self.get_stored_path(inner, keys.as_slice(), out),
                    None => false,
                };
            }
            match value.lookup(key) {
                Some(inner) => value = inner,
                None => return false,
            }
        }
        self.set(out, value);
        true
    }

    /// Looks up a value below a stored value, without copying values to the arena.
    fn get_stored_path(&mut self, from: &'e Value, keys: &'e [Operand], out: Slot) -> bool {
        let (mut value, mut keys) = (from, keys);
        // nearly all paths have this form
        while let (Value(Repr::Object(object)), [Operand::Const(id), rest @ ..]) = (value, keys) {
            match self.under(object, *id) {
                Some(Some(inner)) => (value, keys) = (inner, rest),
                _ => return false,
            }
        }
        if keys.is_empty() {
            self.set_stored(out, value);
            return true;
        }
        self.get_stored_path_general(value, keys, out)
    }

    /// Same as [`Self::get_stored_path`] for keys and values of all kinds.
    #[inline(never)]
    fn get_stored_path_general(&mut self, from: &'e Value, keys: &'e [Operand], out: Slot) -> bool {
        let mut value = from;
        let mut keys = keys.iter();
        while let Some(key) = keys.next() {
            let found = match value {
                Value(Repr::Object(object)) => match key {
                    Operand::Const(id) => self.under(object, *id).flatten(),
                    Operand::Slot(slot) => match self.slot(*slot) {
                        Some(Register::Stored(key)) => object.get_stored(key),
                        Some(Register::Value(key)) => object.get(*key),
                        None => None,
                    },
                },
                Value(Repr::Array(items)) => {
                    let index = self.get(*key).as_number().and_then(|key| key.as_index());
                    index.and_then(|index| items.get(index))
                }
                // a set returns the requested term, not the equal member
                Value(Repr::Set(set)) => {
                    let member = self.get(*key);
                    return set.contains(member) && self.get_path(member, keys.as_slice(), out);
                }
                _ => None,
            };
            match found {
                Some(inner) => value = inner,
                None => return false,
            }
        }
        self.set_stored(out, value);
        true
    }
}
