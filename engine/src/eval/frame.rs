//! The registers of running plans.

use crate::bug::bug;
use crate::program::{ConstId, Operand, Slot};
use crate::runtime::{base_child, base_index, number_key};
use crate::value::{Arena, Object, RefRepr, Repr, Value, ValueRef};

use super::machine::Machine;

/// Content of a slot. Stored values are referenced: most values are only steps on a path, and a value that was just
/// written field by field is slow to read back as a whole.
#[derive(Clone, Copy)]
pub(super) enum Register<'e> {
    /// A value of the input, the base documents or the constants.
    Stored(&'e Value),
    Value(ValueRef<'e>),
}

const _: () = assert!(size_of::<Register<'static>>() == 16);

impl<'e> Register<'e> {
    #[inline]
    pub fn value(&self) -> ValueRef<'e> {
        match self {
            Self::Stored(value) => value.borrow(),
            Self::Value(value) => *value,
        }
    }

    /// Returns the value under `key`, where this is a base document. Returns `None` if it has no such key.
    #[inline]
    pub fn base_child(&self, key: Register<'e>) -> Option<Register<'e>> {
        match (self, key) {
            (Self::Stored(Value(Repr::Array(items))), key) => {
                items.get(base_index(key.value())?).map(Self::Stored)
            }
            (base, key) => base_child(base.value(), key.value()).map(Self::Value),
        }
    }
}

/// Message of a violated invariant: a plan names a slot that its frame does not have.
pub(super) const NO_SLOT: &str = "a plan names a slot that is not there";

/// A plan names a constant that its program does not have.
pub(super) const NO_CONSTANT: &str = "a plan names a constant that is not there";

/// Source of operands: the registers of a frame and the constants.
pub(super) trait OperandSource<'e> {
    /// Returns a slot in place, or `None` if the frame does not have it.
    fn slot(&self, slot: Slot) -> Option<&Register<'e>>;

    /// Returns a constant in place, or `None` if the program does not have it.
    fn stored_constant(&self, id: ConstId) -> Option<&'e Value>;

    /// Returns the value under a constant key of a stored object.
    fn field_of(&self, object: &'e Object, id: ConstId) -> Option<&'e Value>;

    /// Returns the register of an operand, a reference if it is stored.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a part of the smallest decisions: what is returned by a call is written, and read again at once"
    )]
    fn register(&self, operand: Operand) -> Register<'e> {
        match operand {
            Operand::Slot(slot) => *self.slot(slot).unwrap_or_else(|| bug!(NO_SLOT)),
            Operand::Const(id) => {
                let constant = self.stored_constant(id);
                Register::Stored(constant.unwrap_or_else(|| bug!(NO_CONSTANT)))
            }
        }
    }

    /// Follows keys in stored objects as long as they exist. Returns the last value, and the remaining keys.
    #[inline]
    fn follow(&self, mut value: &'e Value, mut keys: &'e [Operand]) -> (&'e Value, &'e [Operand]) {
        while let (Value(Repr::Object(object)), [key, rest @ ..]) = (value, keys) {
            let found = match *key {
                Operand::Const(id) => self.field_of(object, id),
                Operand::Slot(slot) => match self.slot(slot) {
                    Some(Register::Stored(key)) => object.get_stored(key),
                    Some(Register::Value(key)) => object.get(*key),
                    None => None,
                },
            };
            match found {
                Some(inner) => (value, keys) = (inner, rest),
                None => break,
            }
        }
        (value, keys)
    }

    /// Returns the value below a base document under keys. String keys cost the same as in any object: only a missing
    /// key may be a number with the text of another key.
    #[inline]
    fn base_value(&self, mut base: Register<'e>, mut keys: &'e [Operand]) -> Option<Register<'e>> {
        loop {
            if let Register::Stored(value) = base {
                let (value, rest) = self.follow(value, keys);
                (base, keys) = (Register::Stored(value), rest);
            }
            let Some((key, rest)) = keys.split_first() else {
                return Some(base);
            };
            let key = self.register(*key);
            let found = match base {
                Register::Stored(Value(Repr::Object(object))) => {
                    number_key(object, key.value()).map(Register::Stored)
                }
                base => base.base_child(key),
            };
            (base, keys) = (found?, rest);
        }
    }

    /// Returns the value below a base document if the first key is a number that a stored object does not have: its
    /// text may be a key.
    #[inline(never)]
    fn number_value(
        &self,
        object: &'e Object,
        key: Operand,
        rest: &'e [Operand],
    ) -> Option<Register<'e>> {
        let found = number_key(object, self.get(key))?;
        self.base_value(Register::Stored(found), rest)
    }

    /// Returns the value of an operand. Invariant: the verifier has checked slots and constants.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what is returned by a call is written, and read again at once"
    )]
    fn get(&self, operand: Operand) -> ValueRef<'e> {
        match operand {
            Operand::Slot(slot) => self.slot(slot).unwrap_or_else(|| bug!(NO_SLOT)).value(),
            Operand::Const(id) => self.constant(id),
        }
    }

    /// Returns `true` if an operand is not `false`, read in place.
    #[inline]
    fn is_truthy(&self, operand: Operand) -> bool {
        let stored = match operand {
            Operand::Slot(slot) => match self.slot(slot).unwrap_or_else(|| bug!(NO_SLOT)) {
                Register::Value(value) => return !matches!(value, ValueRef(RefRepr::Bool(false))),
                Register::Stored(value) => value,
            },
            Operand::Const(id) => self
                .stored_constant(id)
                .unwrap_or_else(|| bug!(NO_CONSTANT)),
        };
        !matches!(stored, Value(Repr::Bool(false)))
    }

    /// Returns a constant. Invariant: the program has it.
    #[inline]
    fn constant(&self, id: ConstId) -> ValueRef<'e> {
        let constant = self.stored_constant(id);
        constant.unwrap_or_else(|| bug!(NO_CONSTANT)).borrow()
    }
}

impl<'e> OperandSource<'e> for Machine<'e> {
    #[inline]
    fn slot(&self, slot: Slot) -> Option<&Register<'e>> {
        self.frames.slot(slot)
    }

    #[inline]
    fn field_of(&self, object: &'e Object, id: ConstId) -> Option<&'e Value> {
        self.under(object, id).flatten()
    }

    /// Constants of the program, followed by those of the query.
    #[inline]
    fn stored_constant(&self, id: ConstId) -> Option<&'e Value> {
        let own = &self.program.constants;
        match own.get(id as usize) {
            Some(value) => Some(value),
            None => self
                .query_constants
                .get((id as usize).wrapping_sub(own.len())),
        }
    }
}

/// Registers of all running plans, innermost last.
pub(super) struct Frames<'e> {
    arena: &'e Arena,
    slots: &'e mut [Register<'e>],
    /// Start of the running plan's frame.
    base: usize,
    /// End of the frame. Registers after it belonged to plans that have ended.
    top: usize,
}

impl<'e> Frames<'e> {
    #[inline]
    pub fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            slots: empty(arena, FIRST),
            base: 0,
            top: 0,
        }
    }

    /// Grows the registers to at least `top`. Copies them; the old memory stays in the arena.
    #[cold]
    fn grow(&mut self, top: usize) {
        let slots = empty(self.arena, top.next_power_of_two());
        for (new, old) in slots.iter_mut().zip(self.slots.iter()) {
            *new = *old;
        }
        self.slots = slots;
    }

    /// Returns a slot of the running plan in place, or `None` if it has fewer.
    #[inline]
    pub fn slot(&self, slot: Slot) -> Option<&Register<'e>> {
        self.slots.get(self.base + slot as usize)
    }

    /// Mutable version of [`Self::slot`].
    #[inline]
    fn slot_mut(&mut self, slot: Slot) -> Option<&mut Register<'e>> {
        self.slots.get_mut(self.base + slot as usize)
    }
}

/// Number of registers that suffices for most decisions.
pub(super) const FIRST: usize = 32;

#[inline]
fn empty(arena: &Arena, slots: usize) -> &mut [Register<'_>] {
    const NOTHING: Register<'static> = Register::Value(ValueRef(RefRepr::Null));
    if slots == FIRST {
        return arena.bump().alloc_slice_copy(&[NOTHING; FIRST]);
    }
    arena.bump().alloc_slice_fill_copy(slots, NOTHING)
}

/// Buffer for a few operands.
pub(super) type Few<'e> = [ValueRef<'e>; 4];

impl<'e> Machine<'e> {
    /// Returns the values of operands as a slice; `few` is a buffer large enough for most calls.
    #[inline]
    pub(super) fn gather<'b>(
        &self,
        operands: &[Operand],
        few: &'b mut Few<'e>,
    ) -> &'b [ValueRef<'e>] {
        match (operands, few) {
            // most calls, without a loop
            ([one], [first, ..]) => {
                self.fetch(*one, first);
                std::slice::from_ref(first)
            }
            ([one, two], few) => {
                let [first, second, ..] = few;
                self.fetch(*one, first);
                self.fetch(*two, second);
                few.get(..2).unwrap_or(&[])
            }
            ([one, two, three], few) => {
                let [first, second, third, _] = few;
                self.fetch(*one, first);
                self.fetch(*two, second);
                self.fetch(*three, third);
                few.get(..3).unwrap_or(&[])
            }
            ([_, _, _, _], few) => {
                for (operand, place) in operands.iter().zip(few.iter_mut()) {
                    self.fetch(*operand, place);
                }
                few
            }
            _ => self.gather_registers(operands.iter().copied()),
        }
    }

    /// Returns the registers of operands as a slice in the arena.
    #[inline]
    pub(super) fn gather_registers(
        &self,
        operands: impl ExactSizeIterator<Item = Operand>,
    ) -> &'e [ValueRef<'e>] {
        let room = self.call.arena.bump();
        let values = room.alloc_slice_fill_copy(operands.len(), ValueRef(RefRepr::Null));
        for (operand, place) in operands.zip(values.iter_mut()) {
            self.fetch(operand, place);
        }
        values
    }

    /// Writes the value of an operand. A value of the arena is moved as a whole.
    #[inline]
    fn fetch(&self, operand: Operand, place: &mut ValueRef<'e>) {
        let stored = match operand {
            Operand::Slot(slot) => match self.slot(slot).unwrap_or_else(|| bug!(NO_SLOT)) {
                Register::Value(value) => {
                    *place = *value;
                    return;
                }
                Register::Stored(value) => value,
            },
            Operand::Const(id) => self
                .stored_constant(id)
                .unwrap_or_else(|| bug!(NO_CONSTANT)),
        };
        *place = stored.borrow();
    }

    /// Fills a slot with a reference to a stored value.
    #[inline]
    pub(super) fn set_stored(&mut self, slot: Slot, value: &'e Value) {
        match self.frames.slot_mut(slot) {
            Some(place) => *place = Register::Stored(value),
            None => bug!(NO_SLOT),
        }
    }

    /// Copies an operand to a slot. Stored values are not copied, only referred to.
    #[inline]
    pub(super) fn copy(&mut self, operand: Operand, slot: Slot) {
        let held = match operand {
            Operand::Slot(from) => *self.slot(from).unwrap_or_else(|| bug!(NO_SLOT)),
            Operand::Const(id) => Register::Stored(
                self.stored_constant(id)
                    .unwrap_or_else(|| bug!(NO_CONSTANT)),
            ),
        };
        match self.frames.slot_mut(slot) {
            Some(place) => *place = held,
            None => bug!(NO_SLOT),
        }
    }

    /// Fills a slot with a value of the arena.
    #[inline]
    pub(super) fn set(&mut self, slot: Slot, value: ValueRef<'e>) {
        match self.frames.slot_mut(slot) {
            Some(place) => *place = Register::Value(value),
            None => bug!(NO_SLOT),
        }
    }

    /// Runs a closure on a new frame whose first slots are `args`. The others are uninitialised: a plan reads no slot
    /// that it has not filled.
    #[inline]
    pub(super) fn framed<R>(
        &mut self,
        slots: u32,
        args: &[ValueRef<'e>],
        run: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let frames = &mut self.frames;
        let (caller, end) = (frames.base, frames.top);
        frames.base = end;
        frames.top = end + (slots as usize).max(args.len());
        if frames.top > frames.slots.len() {
            frames.grow(frames.top);
        }
        for (place, arg) in frames.slots.iter_mut().skip(end).zip(args) {
            *place = Register::Value(*arg);
        }
        let result = run(self);
        self.frames.base = caller;
        self.frames.top = end;
        result
    }
}
