//! Generators: steps whose rest of the block runs once for each element.

use solon_syntax::source::Span;

use crate::bug::bug;
use crate::program::{Operand, Slot, Step};
use crate::runtime::Halt;
use crate::value::array::ArrayView;
use crate::value::{Kind, RefRepr, ValueRef};

use super::machine::{Flow, Machine, RED_ZONE, STACK_GROWTH};
use super::sink::{FillOrder, Sink, WRONG_SINK};

impl<'e> Machine<'e> {
    /// Runs the rest of a block for each element of a value.
    #[inline]
    pub(super) fn each(
        &mut self,
        from: ValueRef<'e>,
        key: Option<Slot>,
        out: Slot,
        rest: &'e [Step],
    ) -> Result<Flow, Halt> {
        if let [Step::SetAdd(Operand::Slot(member))] = rest
            && *member == out
            && let Some(elements) = from.as_array()
        {
            return self.insert_all(elements);
        }
        match from {
            ValueRef(RefRepr::Array(items)) => {
                for (index, item) in (0_i64..).zip(items.iter()) {
                    if let Some(key) = key {
                        self.set(key, ValueRef(RefRepr::Int(index)));
                    }
                    self.set_stored(out, item);
                    self.count_iteration()?;
                    if self.onward(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            ValueRef(RefRepr::ArenaArray(items)) => {
                for (index, item) in (0_i64..).zip(items.iter()) {
                    if let Some(key) = key {
                        self.set(key, ValueRef(RefRepr::Int(index)));
                    }
                    self.set(out, *item);
                    if self.next(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            ValueRef(RefRepr::Object(object)) => {
                for (name, value) in object.iter() {
                    if let Some(key) = key {
                        self.set_stored(key, name);
                    }
                    self.set_stored(out, value);
                    if self.next(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            ValueRef(RefRepr::ArenaObject(object)) => {
                for (name, value) in object.iter() {
                    if let Some(key) = key {
                        self.set(key, name);
                    }
                    self.set(out, value);
                    if self.next(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            ValueRef(RefRepr::ArenaSet(set)) if self.is_in_any_order(rest, out) => {
                for member in set.items() {
                    if let Some(key) = key {
                        self.set(key, *member);
                    }
                    self.set(out, *member);
                    if self.next(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            ValueRef(RefRepr::Set(_) | RefRepr::ArenaSet(_)) => {
                for member in from.as_set().into_iter().flat_map(|set| set.iter()) {
                    if let Some(key) = key {
                        self.set(key, member);
                    }
                    self.set(out, member);
                    if self.next(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            _ => {}
        }
        Ok(Flow::More)
    }

    /// Adds all elements of an array to a set. Their number counts as iterations, their size as memory.
    fn insert_all(&mut self, elements: ArrayView<'e>) -> Result<Flow, Halt> {
        let budget = &mut self.call.budget;
        let spent = budget.spend_len(elements.len()).and_then(|()| {
            let bytes = elements.len().saturating_mul(size_of::<ValueRef<'_>>());
            budget.reserve(bytes)
        });
        spent.map_err(|fault| Halt::exhausted(self.program, &fault, Span::default()))?;
        let Sink::Set(set) = &mut self.sink else {
            bug!(WRONG_SINK);
        };
        set.extend(elements);
        Ok(Flow::More)
    }

    /// Returns `true` if the order of a set's members is not observable: all values derived from them go into an array
    /// that is sorted or counted, so that no solution ends the loop, and nothing prints. (Of several errors, a search
    /// finds the first.) A set does not qualify as the target, since it keeps the first of equal numbers in different
    /// notation, except for the members themselves, which are distinct.
    #[inline]
    fn is_in_any_order(&mut self, rest: &[Step], out: Slot) -> bool {
        match rest {
            [Step::SetAdd(member)] => *member == Operand::Slot(out),
            [.., Step::ArrayAppend(_)] if self.order != FillOrder::Preserved => {
                self.order = FillOrder::Lost;
                true
            }
            _ => false,
        }
    }

    /// Runs the rest of a block for each path and value below a value.
    pub(super) fn descend(
        &mut self,
        value: ValueRef<'e>,
        path: Option<u32>,
        out: u32,
        trail: &mut Vec<ValueRef<'e>>,
        rest: &'e [Step],
    ) -> Result<Flow, Halt> {
        if value.exceeds_traversal_limit() {
            let ended = self.call.budget.check();
            ended.map_err(|fault| Halt::exhausted(self.program, &fault, Span::default()))?;
        }
        if self.visit(value, path, out, trail, rest)? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        let mut inner = |machine: &mut Self, key: ValueRef<'e>, value: ValueRef<'e>| {
            trail.push(key);
            let flow = if value.kind() < Kind::Array {
                machine.visit(value, path, out, trail, rest)
            } else {
                stacker::maybe_grow(RED_ZONE, STACK_GROWTH, || {
                    machine.descend(value, path, out, trail, rest)
                })
            };
            trail.pop();
            flow
        };
        match value.kind() {
            Kind::Array => {
                for (index, item) in
                    (0_i64..).zip(value.as_array().into_iter().flat_map(|array| array.iter()))
                {
                    if inner(self, ValueRef(RefRepr::Int(index)), item)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            Kind::Object => {
                for (key, item) in value
                    .as_object()
                    .into_iter()
                    .flat_map(|object| object.iter())
                {
                    if inner(self, key, item)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            Kind::Set => {
                for member in value.as_set().into_iter().flat_map(|set| set.iter()) {
                    if inner(self, member, member)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            _ => {}
        }
        Ok(Flow::More)
    }

    /// Runs the rest of a block for one path and value.
    #[inline]
    fn visit(
        &mut self,
        value: ValueRef<'e>,
        path: Option<u32>,
        out: u32,
        trail: &[ValueRef<'e>],
        rest: &'e [Step],
    ) -> Result<Flow, Halt> {
        self.count_iteration()?;
        if let Some(path) = path {
            let array = self.call.arena.array(trail);
            self.set(path, array);
        }
        self.set(out, value);
        self.run(rest)
    }
}
