//! Terminators: processing of a solution.

use crate::bug::bug;
use crate::program::{Operand, Step};
use crate::runtime::Halt;
use crate::value::Put;
use crate::value::{RefRepr, ValueRef};

use super::frame::{Few, OperandSource, Register};
use super::machine::{Flow, Machine};
use super::sink::{Sink, WRONG_SINK};

/// Message of a violated invariant: a plan's last step is not a terminator.
pub(super) const NO_TERMINATOR: &str = "a plan ends with a step that produces nothing";

impl<'e> Machine<'e> {
    /// Handles the value of a complete rule or function, which must agree with earlier ones.
    #[inline]
    pub(super) fn value(&mut self, operand: Operand) -> Result<Flow, Halt> {
        let value = self.get(operand);
        let produced = &mut self.produced;
        produced.hit = true;
        match produced.found {
            Some(old) if old != value => {
                self.rival = Some(value);
                return Err(Halt::Conflict);
            }
            Some(_) => {}
            None => produced.found = Some(value),
        }
        Ok(if produced.early {
            Flow::Stop
        } else {
            Flow::More
        })
    }

    /// Records that the requested member exists.
    pub(super) fn member_found(&mut self) -> Flow {
        self.has_member = true;
        self.enough()
    }

    /// Ends the search after one solution, unless further evaluation is observable.
    pub(super) fn enough(&self) -> Flow {
        if self.is_seen() {
            Flow::More
        } else {
            Flow::Stop
        }
    }

    /// Adds an element to an array, or to an aggregate. Stored values are added without a copy.
    #[inline(never)]
    pub(super) fn append(&mut self, operand: Operand) {
        if let (Sink::Fold(fold), Operand::Slot(slot)) = (&mut self.sink, operand) {
            match self.frames.slot(slot) {
                Some(Register::Stored(value)) => return fold.add_stored(value),
                // read in place: moving a value right after a call has written it would stall
                Some(Register::Value(ValueRef(RefRepr::Int(int)))) => {
                    return fold.add(ValueRef(RefRepr::Int(*int)));
                }
                _ => {}
            }
        }
        self.append_value(operand);
    }

    /// Adds an element that is a value of the arena, or goes into an array.
    #[inline(never)]
    fn append_value(&mut self, operand: Operand) {
        let value = self.get(operand);
        match &mut self.sink {
            Sink::Array(items) => items.push(value),
            Sink::Fold(fold) => fold.add(value),
            _ => bug!(WRONG_SINK),
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, operand: Operand) {
        if let (Sink::Set(set), Operand::Slot(slot)) = (&mut self.sink, operand)
            && let Some(Register::Stored(value)) = self.frames.slot(slot)
        {
            set.insert_stored(value);
            return;
        }
        let value = self.get(operand);
        match &mut self.sink {
            Sink::Set(set) => {
                set.insert(value);
            }
            _ => bug!(WRONG_SINK),
        }
    }

    /// Runs the last step of a block.
    pub(super) fn terminator(&mut self, leaf: &'e Step) -> Result<Flow, Halt> {
        match leaf {
            Step::ObjectInsert { key, value, span } => {
                let (key, value) = (self.get(*key), self.get(*value));
                let Sink::Object(object) = &mut self.sink else {
                    bug!(WRONG_SINK);
                };
                if object.put(key, value) == Put::Conflict {
                    return Err(Halt::duplicate_key(self.program, *span));
                }
            }
            Step::Produce {
                path,
                value,
                member,
            } => {
                let mut few = Few::default();
                let path = self.gather(path, &mut few);
                let value = self.get(*value);
                let arena = self.call.arena;
                let Sink::DocumentBuilder(extent) = &mut self.sink else {
                    bug!(WRONG_SINK);
                };
                if extent.insert(arena, path, value, *member).is_err() {
                    self.rival = Some(value);
                    return Err(Halt::Conflict);
                }
            }
            Step::ResultSetAdd(wanted) => {
                let row = wanted.iter().map(|operand| self.get(*operand)).collect();
                match &mut self.sink {
                    Sink::Rows(rows) => rows.push(row),
                    _ => bug!(WRONG_SINK),
                }
            }
            _ => bug!(NO_TERMINATOR),
        }
        Ok(Flow::More)
    }
}
