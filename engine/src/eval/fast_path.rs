//! The fast path: evaluates rules that only do lookups, comparisons and calls of such rules and functions, without
//! setting up a machine.
//!
//! Anything else (long loops, most built-ins, partial rules) is left to the machine. The fast path has no observable
//! effects, and its results are those of the machine.

mod calls;
mod index_input;

use crate::bug::bug;
use crate::program::{
    Chain, ConstId, DecisionBranch, Index, Inlined, Join, Operand, Plan, Program, Rule, RuleId,
    RuleKind, RuleSet, SelectedRules, Slot, Step,
};
use crate::runtime::stored_base_child;
use crate::value::{Kind, Object, RefRepr, Repr, Value, ValueRef};

use super::compare::{Compare, is_member, same_register};
use super::frame::{NO_CONSTANT, NO_SLOT, OperandSource, Register};
use super::machine::InputSource;
use super::table;
use super::texts::Texts;
use index_input::FastIndexInput;

/// Maximum number of slots of a frame.
const MAX_SLOTS: usize = 12;

/// Maximum number of arguments of a function.
const ARGS: usize = 4;

/// Maximum number of evaluated rules; beyond it, the machine must check its limits.
const RULES: usize = 32;

/// Maximum nesting of negations, loops, functions and rules.
const DEPTH: u8 = 4;

/// Maximum number of loop iterations, calls and rules.
const MAX_ITERATIONS: u64 = 64;

/// Result of the fast path. Only `Unsure` leaves the evaluation to the machine.
#[derive(Clone, Copy)]
pub enum FastResult<'e> {
    /// The document, as a reference to a stored value, which is the most frequent result.
    Stored(&'e Value),
    /// The document, built in the arena.
    Document(ValueRef<'e>),
    /// The document is undefined: no rule has a value.
    Undefined,
    /// Not decided; the machine must evaluate it.
    Unsure,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Hit,
    Miss,
    Unsure,
}

/// State of the fast path: input, documents and a few registers.
pub struct FastPath<'a, 'e> {
    program: &'e Program,
    input: Option<Register<'e>>,
    /// The base documents.
    data: &'e Value,
    slots: [Register<'e>; MAX_SLOTS],
    found: Option<Register<'e>>,
    /// Arguments of the current function, which are the first slots of each of its plans.
    args: Option<&'a [Register<'e>]>,
    /// Remaining iterations, those of the step limit.
    iterations: u64,
    /// Number of blocks around the current rule.
    outer: u8,
    /// `true` if the first solution ends the search.
    early: bool,
}

impl<'e> FastPath<'_, 'e> {
    /// Creates the state for the input and the base documents of a decision, with a maximum number of iterations.
    /// Errors of built-ins do not end it.
    #[inline]
    pub fn new(
        program: &'e Program,
        input: Option<InputSource<'e>>,
        data: &'e Value,
        iterations: u64,
    ) -> Self {
        Self {
            program,
            input: input.map(InputSource::register),
            data,
            slots: [Register::Value(ValueRef(RefRepr::Null)); MAX_SLOTS],
            found: None,
            args: None,
            iterations: iterations.min(MAX_ITERATIONS),
            outer: 0,
            early: false,
        }
    }

    /// Evaluates the document of a rule. Only complete rules are supported.
    pub fn rule(&mut self, rule: RuleId) -> FastResult<'e> {
        match self.program.rules.get(rule as usize) {
            Some(set) if set.kind == RuleKind::Complete => self.complete(set),
            _ => FastResult::Unsure,
        }
    }

    fn complete(&mut self, set: &'e RuleSet) -> FastResult<'e> {
        match (self.whole(set), &self.found) {
            (End::Hit, Some(Register::Stored(found))) => FastResult::Stored(found),
            (End::Hit, Some(Register::Value(found))) => FastResult::Document(*found),
            (End::Miss, _) => FastResult::Undefined,
            _ => FastResult::Unsure,
        }
    }

    /// Evaluates a complete rule or a function.
    #[inline]
    fn whole(&mut self, set: &'e RuleSet) -> End {
        self.early = set.early_exit;
        let end = match &set.index {
            Index::All => self.rules(set, set.rules.iter()),
            Index::By(branch) => {
                let rule = |at| set.rules.get(at as usize);
                // read in place: moving them would wait for their fields
                match &mut self.find(branch) {
                    SelectedRules::Few(numbers) => self.rules(set, numbers.filter_map(rule)),
                    SelectedRules::Merged(numbers) => {
                        self.rules(set, numbers.iter().filter_map(|at| rule(*at)))
                    }
                }
            }
        };
        match (end, &set.default) {
            (End::Miss, Some(default)) => self.plan(default),
            (end, _) => end,
        }
    }

    #[inline]
    fn find(&self, index: &'e DecisionBranch) -> SelectedRules<'e> {
        index.find(&FastIndexInput {
            input: self.input.as_ref(),
            args: self.args.unwrap_or_default(),
        })
    }

    /// Evaluates the rules until one has a value, or until all agree. Different values are left to the machine.
    #[inline]
    fn rules(&mut self, set: &RuleSet, rules: impl Iterator<Item = &'e Rule>) -> End {
        let mut known: Option<Register<'e>> = None;
        for (turn, rule) in rules.enumerate() {
            match self.chain(rule) {
                End::Miss => {}
                End::Hit if set.early_exit => return End::Hit,
                End::Hit => match (known, self.found) {
                    // the machine reports the conflict
                    (Some(known), Some(found)) if !same_register(&known, &found) => {
                        return End::Unsure;
                    }
                    (_, found) => known = found,
                },
                End::Unsure => return End::Unsure,
            }
            if turn == RULES {
                return End::Unsure;
            }
        }
        self.found = known;
        if known.is_some() { End::Hit } else { End::Miss }
    }

    /// Evaluates a rule, or the first member of its `else` chain that holds.
    #[inline]
    fn chain(&mut self, rule: &'e Rule) -> End {
        match &rule.otherwise {
            None => self.plan(&rule.plan),
            Some(chain) => self.elses(rule, chain),
        }
    }

    #[inline(never)]
    fn elses(&mut self, rule: &'e Rule, chain: &'e Chain) -> End {
        match &chain.index {
            Index::All => self.first_of(rule.members()),
            Index::By(branch) => {
                let member = |at| rule.member(at);
                match &mut self.find(branch) {
                    SelectedRules::Few(numbers) => self.first_of(numbers.filter_map(member)),
                    SelectedRules::Merged(numbers) => {
                        self.first_of(numbers.iter().filter_map(|at| member(*at)))
                    }
                }
            }
        }
    }

    fn first_of(&mut self, mut members: impl Iterator<Item = &'e Rule>) -> End {
        let ends = members.by_ref().map(|member| self.plan(&member.plan));
        ends.into_iter()
            .find(|end| *end != End::Miss)
            .unwrap_or(End::Miss)
    }

    fn plan(&mut self, plan: &'e Plan) -> End {
        if plan.slots as usize > MAX_SLOTS || !plan.is_plain() {
            return End::Unsure;
        }
        if let Some(args) = self.args {
            for (slot, arg) in self.slots.iter_mut().zip(args) {
                *slot = *arg;
            }
        }
        self.block(&plan.steps, 0)
    }

    /// Evaluates an inlined function; `None` if it cannot be decided.
    #[inline(never)]
    fn inlined(&mut self, inlined: &'e Inlined, depth: u8) -> Option<bool> {
        for (block, value) in inlined.blocks.iter().zip(&inlined.values) {
            match self.nested(block, depth) {
                End::Hit => {
                    let found = self.register(*value);
                    return Some(self.set(inlined.out, Some(found)));
                }
                End::Miss => {}
                End::Unsure => return None,
            }
        }
        Some(false)
    }

    fn block(&mut self, mut steps: &'e [Step], depth: u8) -> End {
        while let Some((step, rest)) = steps.split_first() {
            let on = match step {
                Step::Input { keys, out } => match self.input {
                    Some(Register::Stored(value)) => {
                        self.get_stored_path::<false>(value, keys, *out)
                    }
                    Some(input) => self.get_path::<false>(input, keys, *out),
                    None => false,
                },
                Step::Dot { from, keys, out } => match *from {
                    Operand::Slot(slot) => match self.slot(slot) {
                        Some(Register::Stored(value)) => {
                            self.get_stored_path::<false>(value, keys, *out)
                        }
                        Some(held) => self.get_path::<false>(*held, keys, *out),
                        None => false,
                    },
                    Operand::Const(_) => self.get_path::<false>(self.register(*from), keys, *out),
                },
                Step::BaseChild {
                    from, keys, out, ..
                } => match self.register(*from) {
                    Register::Stored(value) => self.get_stored_path::<true>(value, keys, *out),
                    held @ Register::Value(_) => self.get_path::<true>(held, keys, *out),
                },
                Step::Base { path, out } => {
                    let constants = &self.program.constants;
                    let found = path.iter().try_fold(self.data, |base, id| {
                        stored_base_child(base, constants.get(*id as usize)?)
                    });
                    self.set(*out, found.map(Register::Stored))
                }
                Step::Equal(left, right) => self.equal(*left, *right),
                Step::Compare(comparison, left, right) => self.compares(*comparison, *left, *right),
                Step::Member(value, collection) => {
                    is_member(self.get(*value), self.get(*collection))
                }
                Step::Among(value, collection) => {
                    let collection = self.get(*collection);
                    if table::len(collection) > Join::FEW {
                        return End::Unsure;
                    }
                    is_member(self.get(*value), collection)
                }
                Step::Test(test, call) => match self.test(*test, call) {
                    Some(on) => on,
                    None => return End::Unsure,
                },
                Step::IsTruthy(operand) => self.is_truthy(*operand),
                Step::IsArray(operand, length) => {
                    let array = self.get(*operand).as_array();
                    array.is_some_and(|array| array.len() == *length as usize)
                }
                Step::IsObject(operand, length) => {
                    let object = self.get(*operand).as_object();
                    object.is_some_and(|object| object.len() == *length as usize)
                }
                Step::Rule { rule, out } => match self.other(*rule, &[], *out, depth) {
                    Some(on) => on,
                    None => return End::Unsure,
                },
                Step::Function { call, out } => {
                    match self.other(call.rule, &call.args, *out, depth) {
                        Some(on) => on,
                        None => return End::Unsure,
                    }
                }
                Step::Call { call, out } => match self.intrinsic_call(call, *out) {
                    Some(on) => on,
                    None => return End::Unsure,
                },
                Step::Not(block) => match self.nested(block, depth) {
                    End::Unsure => return End::Unsure,
                    end => end == End::Miss,
                },
                Step::Any(any) => {
                    let blocks = any.blocks.iter();
                    let end = blocks
                        .map(|block| self.nested(block, depth))
                        .find(|end| *end != End::Miss);
                    match end {
                        Some(End::Unsure) => return End::Unsure,
                        end => end.is_some(),
                    }
                }
                Step::Inlined(inlined) => match self.inlined(inlined, depth) {
                    Some(on) => on,
                    None => return End::Unsure,
                },
                Step::Value(operand) => {
                    // stored in each arm: a value of either kind would be copied field by field
                    match *operand {
                        Operand::Slot(_) => self.found = Some(self.register(*operand)),
                        Operand::Const(id) => {
                            let constant = self.stored_constant(id);
                            let constant = constant.unwrap_or_else(|| bug!(NO_CONSTANT));
                            self.found = Some(Register::Stored(constant));
                        }
                    }
                    return End::Hit;
                }
                // a conditional precheck is irrelevant here, because errors do not end the evaluation
                Step::Precheck(precheck) if !precheck.always => true,
                Step::Exists => return End::Hit,
                Step::Scan { from, key, out, .. } => {
                    return self.each(*from, *key, *out, rest, depth);
                }
                Step::Join(join) => {
                    return self.each(join.from, join.key, join.out, rest, depth);
                }
                _ => return End::Unsure,
            };
            if !on {
                return End::Miss;
            }
            steps = rest;
        }
        End::Miss
    }

    /// Runs the rest of a block for the elements of a short array up to the first with a solution.
    #[inline(never)]
    fn each(
        &mut self,
        from: Operand,
        key: Option<Slot>,
        out: Slot,
        rest: &'e [Step],
        depth: u8,
    ) -> End {
        // if solutions may differ, all of them count, except in blocks that only test for existence
        if !(self.early || depth > 0) {
            return End::Unsure;
        }
        let items = match self.get(from) {
            ValueRef(RefRepr::Array(items)) => items,
            from if from.kind() < Kind::Array => return End::Miss,
            _ => return End::Unsure,
        };
        for (index, item) in (0_i64..).zip(items.iter()) {
            let Some(iterations) = self.iterations.checked_sub(1) else {
                return End::Unsure;
            };
            self.iterations = iterations;
            if let Some(key) = key {
                self.set(key, Some(Register::Value(ValueRef(RefRepr::Int(index)))));
            }
            self.set(out, Some(Register::Stored(item)));
            let end = self.nested(rest, depth);
            if end != End::Miss {
                return end;
            }
        }
        End::Miss
    }

    #[inline(never)]
    fn nested(&mut self, block: &'e [Step], depth: u8) -> End {
        if self.outer + depth >= DEPTH {
            return End::Unsure;
        }
        self.block(block, depth + 1)
    }

    /// Looks up a value under keys, which are those of base documents if `BASE` is set. Returns `false` if there is
    /// none.
    fn get_path<const BASE: bool>(
        &mut self,
        from: Register<'e>,
        keys: &'e [Operand],
        out: Slot,
    ) -> bool {
        let found = if BASE {
            self.base_value(from, keys)
        } else {
            let mut keys = keys.iter();
            keys.try_fold(from, |held, key| lookup(held, self.register(*key)))
        };
        self.set(out, found)
    }

    /// Looks up a value in a stored value; nested values and keys are read in place.
    #[inline]
    fn get_stored_path<const BASE: bool>(
        &mut self,
        from: &'e Value,
        keys: &'e [Operand],
        out: Slot,
    ) -> bool {
        let mut value = from;
        let mut keys = keys.iter();
        while let Value(Repr::Object(object)) = value
            && let Some(key) = keys.next()
        {
            let found = match *key {
                Operand::Const(id) => self.field_of(object, id),
                Operand::Slot(slot) => match self.slot(slot) {
                    Some(Register::Stored(key)) => object.get_stored(key),
                    Some(Register::Value(key)) => object.get(*key),
                    None => None,
                },
            };
            match found {
                Some(inner) => value = inner,
                None if BASE && self.get(*key).kind() == Kind::Number => {
                    let found = self.number_value(object, *key, keys.as_slice());
                    return self.set(out, found);
                }
                None => return false,
            }
        }
        if !keys.as_slice().is_empty() {
            return self.get_path::<BASE>(Register::Stored(value), keys.as_slice(), out);
        }
        match self.slots.get_mut(out as usize) {
            Some(place) => {
                *place = Register::Stored(value);
                true
            }
            None => bug!(NO_SLOT),
        }
    }

    #[inline]
    fn set(&mut self, slot: Slot, value: Option<Register<'e>>) -> bool {
        match (self.slots.get_mut(slot as usize), value) {
            (Some(place), Some(value)) => {
                *place = value;
                true
            }
            _ => false,
        }
    }
}

impl<'e> OperandSource<'e> for FastPath<'_, 'e> {
    #[inline]
    fn slot(&self, slot: Slot) -> Option<&Register<'e>> {
        self.slots.get(slot as usize)
    }

    #[inline]
    fn stored_constant(&self, id: ConstId) -> Option<&'e Value> {
        self.program.constants.get(id as usize)
    }

    #[inline]
    fn field_of(&self, object: &'e Object, id: ConstId) -> Option<&'e Value> {
        object.get_stored(self.stored_constant(id)?)
    }
}

/// Returns the value under a key, or `None`. Stored objects are searched without a borrowed value.
#[inline]
fn lookup<'e>(held: Register<'e>, key: Register<'e>) -> Option<Register<'e>> {
    match (held, key) {
        (Register::Stored(Value(Repr::Object(object))), Register::Stored(key)) => {
            object.get_stored(key).map(Register::Stored)
        }
        (Register::Stored(Value(Repr::Array(items))), Register::Stored(Value(Repr::Int(at)))) => {
            let at = usize::try_from(*at).ok()?;
            items.get(at).map(Register::Stored)
        }
        (held, key) => held.value().lookup(key.value()).map(Register::Value),
    }
}
