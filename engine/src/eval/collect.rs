//! Comprehensions and `every`.

use crate::bug::bug;
use crate::builtins::{Aggregation, Fold};
use crate::program::{Aggregate, Collector, Every, Step};
use crate::runtime::Halt;
use crate::value::{Kind, ObjectBuilder, RefRepr, SetBuilder, ValueRef};

use super::frame::OperandSource;
use super::machine::{Flow, Machine};
use super::sink::{FillOrder, Sink, WRONG_SINK};

/// Returns `true` if equal elements of an array are identical, so that sorting removes all traces of their order.
fn is_told_apart(array: ValueRef<'_>) -> bool {
    let is_plain =
        |item: ValueRef<'_>| item.is_string() || matches!(item, ValueRef(RefRepr::Int(_)));
    array
        .as_array()
        .is_some_and(|array| array.iter().all(is_plain))
}

impl<'e> Machine<'e> {
    /// Returns the collection that a block produces. The order of a bag is not kept.
    pub(super) fn collect(
        &mut self,
        into: Collector,
        block: &'e [Step],
    ) -> Result<ValueRef<'e>, Halt> {
        // a replacement of the sorting function can observe the order
        let is_bag = into == Collector::Bag && !self.mocked && !self.is_seen();
        let order = if is_bag {
            FillOrder::Free
        } else {
            FillOrder::Preserved
        };
        let outer = std::mem::replace(&mut self.order, order);
        let collection = self.collected(into, block);
        let lost = std::mem::replace(&mut self.order, outer) == FillOrder::Lost;
        if lost
            && let Ok(made) = &collection
            && !is_told_apart(*made)
        {
            return self.collect(Collector::Array, block);
        }
        collection
    }

    fn collected(&mut self, into: Collector, block: &'e [Step]) -> Result<ValueRef<'e>, Halt> {
        let arena = self.call.arena;
        if let (Collector::Set, [lookups @ .., Step::SetAdd(operand)]) = (into, block)
            && let Some(found) = self.looked_up(lookups)
        {
            return Ok(if found {
                arena.set_of_one(&self.get(*operand))
            } else {
                SetBuilder::new(arena).take()
            });
        }
        let sink = match into {
            Collector::Array | Collector::Bag => Sink::Array(arena.list()),
            Collector::Set => Sink::Set(SetBuilder::new(arena)),
            Collector::Object => Sink::Object(ObjectBuilder::new(arena)),
        };
        let run = |machine: &mut Self| machine.run(block);
        let (collection, flow) = self.filled(sink, run, |sink| match sink {
            Sink::Array(items) => {
                let items = std::mem::replace(items, arena.list());
                arena.array_of(items.into_bump_slice())
            }
            Sink::Set(set) => set.take(),
            Sink::Object(object) => std::mem::replace(object, ObjectBuilder::new(arena)).finish(),
            _ => bug!(WRONG_SINK),
        });
        flow.map(|_| collection)
    }

    /// Runs steps that are lookups only, as in the parts of a template; `None` if there are other steps.
    fn looked_up(&mut self, steps: &'e [Step]) -> Option<bool> {
        let is_lookup = |step: &Step| match step {
            Step::Dot { .. } | Step::Input { .. } => true,
            Step::BaseChild { .. } => !self.overlaid,
            _ => false,
        };
        if !steps.iter().all(is_lookup) {
            return None;
        }
        Some(steps.iter().all(|step| match step {
            Step::Dot { from, keys, out } => self.get_operand_path(*from, keys, *out),
            Step::Input { keys, out } => self.get_input_path(keys, *out),
            Step::BaseChild {
                from, keys, out, ..
            } => self.stored_base_child(*from, keys, *out),
            _ => false,
        }))
    }

    /// Returns an aggregate of the elements that a block produces.
    pub(super) fn aggregate(
        &mut self,
        aggregate: &'e Aggregate,
    ) -> Result<Option<ValueRef<'e>>, Halt> {
        let call = &aggregate.call;
        if self.mocked {
            // a replacement of the built-in receives the collection
            let collection = self.collect(aggregate.into, &aggregate.block)?;
            self.set(aggregate.slot, collection);
            return self.call_value(call);
        }
        let sink = match aggregate.into {
            Collector::Array | Collector::Bag => Sink::Fold(Fold::new(aggregate.aggregation)),
            _ => Sink::Set(SetBuilder::new(self.call.arena)),
        };
        let is_counted = aggregate.aggregation == Aggregation::Count && !self.is_seen();
        let order = if is_counted {
            FillOrder::Free
        } else {
            FillOrder::Preserved
        };
        let outer = std::mem::replace(&mut self.order, order);
        let (filled, flow) = self.filling(sink, |machine| machine.run(&aggregate.block));
        self.order = outer;
        flow?;
        let result = match filled {
            Sink::Fold(fold) => fold.finish(&self.call, Kind::Array),
            Sink::Set(members) => Ok(self.call.arena.number(members.len().into())),
            _ => bug!(WRONG_SINK),
        };
        self.outcome(result, call.entry.builtin.name, call.span)
    }

    /// Returns `true` if each element of the domain satisfies the block.
    pub(super) fn every(&mut self, every: &'e Every) -> Result<bool, Halt> {
        let domain = self.get(every.domain);
        match domain {
            ValueRef(RefRepr::Array(items)) => {
                for (index, item) in (0_i64..).zip(items.iter()) {
                    self.set_stored(every.value, item);
                    if !self.satisfied(every, ValueRef(RefRepr::Int(index)))? {
                        return Ok(false);
                    }
                }
            }
            ValueRef(RefRepr::ArenaArray(items)) => {
                for (index, item) in (0_i64..).zip(items.iter()) {
                    self.set(every.value, *item);
                    if !self.satisfied(every, ValueRef(RefRepr::Int(index)))? {
                        return Ok(false);
                    }
                }
            }
            ValueRef(RefRepr::Object(_) | RefRepr::ArenaObject(_)) => {
                for (key, value) in domain
                    .as_object()
                    .into_iter()
                    .flat_map(|object| object.iter())
                {
                    self.set(every.value, value);
                    if !self.satisfied(every, key)? {
                        return Ok(false);
                    }
                }
            }
            ValueRef(RefRepr::Set(_) | RefRepr::ArenaSet(_)) => {
                for member in domain.as_set().into_iter().flat_map(|set| set.iter()) {
                    self.set(every.value, member);
                    if !self.satisfied(every, member)? {
                        return Ok(false);
                    }
                }
            }
            // other values have no elements, and `every` requires a collection
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn satisfied(&mut self, every: &'e Every, key: ValueRef<'e>) -> Result<bool, Halt> {
        if let Some(slot) = every.key {
            self.set(slot, key);
        }
        Ok(self.next(&every.block)? == Flow::Stop)
    }
}
