//! Hash joins: loops and memberships that search one collection repeatedly.
//!
//! They scan the elements until the total cost exceeds that of a hash table, and then use the table. A policy that
//! searches once pays nothing, and one that searches often is not quadratic.

use solon_syntax::source::Span;

use crate::bug::bug;
use crate::limits;
use crate::program::{ConstId, Join, Operand, Slot, Step};
use crate::runtime::Halt;
use crate::value::{RefRepr, Repr, Value, ValueRef};

use super::compare::is_member;
use super::frame::{OperandSource, Register};
use super::machine::{Flow, Machine};
use super::table::{self, ElementPath, FoundElements, JoinState, Joins};

/// Cost of a loop iteration, in comparisons.
const ITERATION_COST: usize = 4;

/// Elements that a join visits.
enum Matching<'e> {
    /// All, with the cost so far of an element path.
    All(Option<(ElementPath<'e>, usize)>),
    /// Those that a hash table finds.
    These(FoundElements<'e>),
}

impl<'e> Machine<'e> {
    /// Runs the rest of a block for each element of a collection that may have a known value. The rest tests the value:
    /// other elements may be visited, too.
    #[inline(never)]
    pub(super) fn join(&mut self, join: &'e Join, rest: &'e [Step]) -> Result<Flow, Halt> {
        let from = self.get(join.from);
        if let Some(path) = self.replaced_base(join.base.as_deref()) {
            return self.each_key(&path, join.key, Some(join.out), rest);
        }
        let matching = self.matching(join, from)?;
        if let Matching::These(found) = matching {
            for (key, element) in found {
                if let Some(slot) = join.key {
                    self.set_register(slot, key);
                }
                self.set_register(join.out, element);
                if self.next(rest)? == Flow::Stop {
                    return Ok(Flow::Stop);
                }
            }
            return Ok(Flow::More);
        }
        let before = self.call.budget.remaining_steps();
        let flow = match (from, &matching, &*join.path) {
            (ValueRef(RefRepr::Array(items)), Matching::All(Some(_)), [Operand::Const(id)])
                if !join.by_key && !join.is_base =>
            {
                self.scan_tested(items, *id, join, rest)?
            }
            _ => self.each(from, join.key, join.out, rest)?,
        };
        if let Matching::All(Some((place, cost))) = matching {
            // iterations of inner loops count, too
            let turns = before.saturating_sub(self.call.budget.remaining_steps());
            let len = table::len(from);
            let turns = usize::try_from(turns).unwrap_or(len).min(len);
            let cost = cost.saturating_add(ITERATION_COST * turns);
            self.joins().put(place, JoinState::Cost(cost));
        }
        Ok(flow)
    }

    /// Scans an array, and skips elements whose field obviously differs.
    #[inline(never)]
    fn scan_tested(
        &mut self,
        items: &'e [Value],
        field: ConstId,
        join: &'e Join,
        rest: &'e [Step],
    ) -> Result<Flow, Halt> {
        let known = self.get(join.known);
        let tested = behind_test(join, rest);
        for (index, item) in (0_i64..).zip(items) {
            self.count_iteration()?;
            let mut left = rest;
            if let Value(Repr::Object(object)) = item
                && let Some(found) = self.under(object, field)
            {
                match found.map(|found| (found, equals(found, &known))) {
                    None | Some((_, Some(false))) => continue,
                    Some((found, Some(true))) => {
                        if let Some((slot, behind)) = tested {
                            self.set_stored(slot, found);
                            left = behind;
                        }
                    }
                    Some((_, None)) => {}
                }
            }
            if let Some(key) = join.key {
                self.set(key, ValueRef(RefRepr::Int(index)));
            }
            self.set_stored(join.out, item);
            if self.onward(left)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::More)
    }

    /// Returns the elements of a collection that a join visits.
    fn matching(&mut self, join: &'e Join, from: ValueRef<'e>) -> Result<Matching<'e>, Halt> {
        // a replacement of a function receives all elements; new documents have other keys than base documents
        if table::len(from) < Join::FEW || self.mocked || (join.is_base && self.overlaid) {
            return Ok(Matching::All(None));
        }
        // the first error ends an evaluation, whichever element it concerns
        if join.calls && self.strict {
            return Ok(Matching::All(None));
        }
        for step in &join.lookup {
            let found = match step {
                Step::Dot { from, keys, out } => self.get_operand_path(*from, keys, *out),
                Step::BaseChild {
                    from,
                    out,
                    keys,
                    path,
                } => self.base_child(*from, &path.0, keys, *out)?,
                Step::Input { keys, out } => self.get_input_path(keys, *out),
                Step::Call { call, out } => self.call_into(call, *out)?,
                _ => bug!("a join asks for a value by another step than a lookup"),
            };
            if !found {
                return Ok(Matching::These(FoundElements::nothing()));
            }
        }
        let Some(hash) = table::hash(self.get(join.known)) else {
            return Ok(Matching::All(None));
        };
        let Some(mut place) = ElementPath::new(from, join.by_key, &join.path) else {
            return Ok(Matching::All(None));
        };
        place.is_base = join.is_base;
        Ok(match self.joined(place, from, join.out)? {
            JoinState::Table(table) => Matching::These(table.find(hash)),
            JoinState::Cost(cost) => Matching::All(Some((place, cost))),
        })
    }

    /// Returns `true` if a collection contains a value.
    #[inline]
    pub(super) fn among(&mut self, asked: ValueRef<'e>, from: ValueRef<'e>) -> Result<bool, Halt> {
        if table::len(from) < Join::FEW
            || matches!(from, ValueRef(RefRepr::Set(_) | RefRepr::ArenaSet(_)))
        {
            return Ok(is_member(asked, from));
        }
        self.among_many(asked, from)
    }

    #[inline(never)]
    fn among_many(&mut self, asked: ValueRef<'e>, from: ValueRef<'e>) -> Result<bool, Halt> {
        let len = table::len(from);
        let (Some(hash), Some(place)) = (table::hash(asked), ElementPath::new(from, false, &[]))
        else {
            return Ok(is_member(asked, from));
        };
        match self.joined(place, from, 0)? {
            JoinState::Table(table) => {
                let mut found = table.find(hash);
                Ok(found.any(|(_, element)| element.value() == asked))
            }
            JoinState::Cost(cost) => {
                let found = match from {
                    ValueRef(RefRepr::Array(items)) => {
                        items.iter().position(|item| asked == item.borrow())
                    }
                    ValueRef(RefRepr::ArenaArray(items)) => {
                        items.iter().position(|item| asked == *item)
                    }
                    from => is_member(asked, from).then_some(len),
                };
                let cost = cost.saturating_add(found.unwrap_or(len));
                self.joins().put(place, JoinState::Cost(cost));
                Ok(found.is_some())
            }
        }
    }

    fn joins(&mut self) -> &mut Joins<'e> {
        let arena = self.call.arena;
        self.joins
            .get_or_insert_with(|| arena.bump().alloc(Joins::new(arena)))
    }

    /// Returns the join state of an element path: a table once that is worthwhile.
    fn joined(
        &mut self,
        place: ElementPath<'e>,
        from: ValueRef<'e>,
        scratch: Slot,
    ) -> Result<JoinState<'e>, Halt> {
        let memory_left = self.call.budget.remaining_memory();
        let joins = self.joins();
        let known = joins.get(&place);
        let JoinState::Cost(cost) = known else {
            return Ok(known);
        };
        let Some(mut builder) = joins.begin(from, cost, memory_left) else {
            return Ok(known);
        };
        let mut added = 0_usize;
        visit(from, &mut |key, element| {
            added += 1;
            if added.is_multiple_of(limits::LONG_STEP)
                && let Err(fault) = self.call.budget.check()
            {
                return Err(Halt::exhausted(self.program, &fault, Span::default()));
            }
            let start = if place.by_key { key } else { element };
            let found = if place.path.is_empty() {
                Some(start.value())
            } else {
                self.set_register(scratch, start);
                let start = Operand::Slot(scratch);
                let is_found = if place.is_base {
                    self.stored_base_child(start, place.path, scratch)
                } else {
                    self.get_operand_path(start, place.path, scratch)
                };
                is_found.then(|| self.get(start))
            };
            builder.add(key, element, found);
            Ok(())
        })?;
        let known = JoinState::Table(builder.finish());
        self.joins().put(place, known);
        Ok(known)
    }

    fn set_register(&mut self, slot: Slot, held: Register<'e>) {
        match held {
            Register::Stored(value) => self.set_stored(slot, value),
            Register::Value(value) => self.set(slot, value),
        }
    }
}

/// Returns the slot of the compared field and the steps after the test, if the rest starts with the test.
fn behind_test<'e>(join: &Join, rest: &'e [Step]) -> Option<(Slot, &'e [Step])> {
    let [
        Step::Dot { from, keys, out }
        | Step::BaseChild {
            from, keys, out, ..
        },
        Step::Equal(left, right),
        behind @ ..,
    ] = rest
    else {
        return None;
    };
    let (element, field) = (Operand::Slot(join.out), Operand::Slot(*out));
    let sides = [(*left, *right), (*right, *left)];
    let is_test = *from == element && *keys == join.path && sides.contains(&(field, join.known));
    (is_test && join.known != field).then_some((*out, behind))
}

/// Returns the equality of two values if it is cheap to decide.
#[inline]
fn equals(a: &Value, b: &ValueRef<'_>) -> Option<bool> {
    match (a, b) {
        (Value(Repr::Short(a)), ValueRef(RefRepr::Short(b))) => Some(a == b),
        (Value(Repr::Int(a)), ValueRef(RefRepr::Int(b))) => Some(a == b),
        (Value(Repr::Bool(a)), ValueRef(RefRepr::Bool(b))) => Some(a == b),
        _ => None,
    }
}

/// Visits the elements of a collection with their keys, in order.
fn visit<'e>(
    collection: ValueRef<'e>,
    see: &mut impl FnMut(Register<'e>, Register<'e>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let index = |at| Register::Value(ValueRef(RefRepr::Int(at)));
    match collection {
        ValueRef(RefRepr::Array(items)) => {
            let mut items = (0..).zip(items.iter());
            items.try_for_each(|(at, item)| see(index(at), Register::Stored(item)))
        }
        ValueRef(RefRepr::ArenaArray(items)) => {
            let mut items = (0..).zip(items.iter());
            items.try_for_each(|(at, item)| see(index(at), Register::Value(*item)))
        }
        ValueRef(RefRepr::Object(object)) => object
            .iter()
            .try_for_each(|(key, value)| see(Register::Stored(key), Register::Stored(value))),
        ValueRef(RefRepr::ArenaObject(object)) => object
            .iter()
            .try_for_each(|(key, value)| see(Register::Value(key), Register::Value(value))),
        ValueRef(RefRepr::Set(set)) => set
            .items()
            .iter()
            .try_for_each(|member| see(Register::Stored(member), Register::Stored(member))),
        ValueRef(RefRepr::ArenaSet(set)) => set
            .iter()
            .try_for_each(|member| see(Register::Value(member), Register::Value(member))),
        _ => Ok(()),
    }
}
