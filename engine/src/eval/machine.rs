//! The interpreter loop.

use std::sync::Arc;

use solon_syntax::source::Span;

use crate::bug::bug;
use crate::builtins::BuiltinContext;
use crate::limits;
use crate::program::{Operand, Plan, Program, Rule, Step};
use crate::runtime::{EvalError, Halt};
use crate::value::{Kind, Shape, Value, ValueRef};

use super::frame::{Few, Frames, OperandSource, Register};
use super::inline_caches::InlineCaches;
use super::light::Light;
use super::memo::Memo;
use super::memo_owner::ScopeChange;
use super::scope::ExprScope;
use super::sink::{FillOrder, Produced, Sink};
use super::table::Joins;
use super::terminator::NO_TERMINATOR;

/// Result of a run for its generator.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Flow {
    /// Try the next element.
    #[default]
    More,
    /// Enough solutions were found.
    Stop,
}

/// The input in the form that was provided.
#[derive(Clone, Copy)]
pub enum InputSource<'e> {
    /// A value that the caller owns.
    Value(&'e Value),
    /// A value that was parsed into the evaluation's arena.
    Read(ValueRef<'e>),
}

impl<'e> InputSource<'e> {
    #[inline]
    pub(super) fn register(self) -> Register<'e> {
        match self {
            Self::Value(value) => Register::Stored(value),
            Self::Read(value) => Register::Value(value),
        }
    }
}

/// Environment of an evaluation: program, documents and input.
#[derive(Clone, Copy)]
pub struct EvalContext<'e> {
    /// The program of the policy, without that of the query.
    pub program: &'e Program,
    /// Constants of the query; their ids follow those of the program.
    pub query_constants: &'e [Value],
    /// The base documents of the snapshot.
    pub data: &'e Value,
    /// The input. `None` if it is undefined.
    pub input: Option<InputSource<'e>>,
    /// `true` if the first error of a built-in ends the evaluation.
    pub strict: bool,
}

/// One evaluation: registers, scopes, memos and the sink of the innermost block.
pub struct Machine<'e> {
    pub(super) program: &'e Program,
    pub(super) query_constants: &'e [Value],
    pub(super) data: &'e Value,
    pub(super) input: Option<Register<'e>>,
    pub(super) strict: bool,
    pub(crate) call: BuiltinContext<'e>,
    pub(super) frames: Frames<'e>,
    pub(super) caches: &'e InlineCaches,
    /// Target of the innermost running block.
    pub(super) sink: Sink<'e>,
    pub(super) order: FillOrder,
    /// Iterations within the functions that the running one has called.
    pub(super) callee_iterations: u64,
    /// State of the innermost running complete rule or function.
    pub(super) produced: Produced<'e>,
    /// The last value that conflicted with the value of a rule.
    pub(super) rival: Option<ValueRef<'e>>,
    /// `true` if the last queried set contains the requested member.
    pub(super) has_member: bool,
    /// `true` if rules run again to list their values: a conflict then keeps the first value.
    pub(super) listing: bool,
    pub(super) root: ExprScope<'e>,
    /// Scopes opened by `with`, without the root.
    pub(super) scopes: Vec<ExprScope<'e>>,
    /// The current scope; out of range for the root.
    pub(super) scope: usize,
    /// `true` if the current scope replaces documents.
    pub(super) overlaid: bool,
    /// `true` if the current scope replaces functions.
    pub(super) mocked: bool,
    /// Join states of collections that loops search repeatedly.
    pub(super) joins: Option<&'e mut Joins<'e>>,
    pub(super) depth: usize,
}

/// Index of the root scope, which is not on the stack of scopes.
pub(super) const ROOT: usize = usize::MAX;

/// Bytes of stack that a run needs, and bytes that are added if fewer remain.
pub(super) const RED_ZONE: usize = limits::VALUE_STACK;
pub(super) const STACK_GROWTH: usize = RED_ZONE + (1 << 20);

impl<'e> Machine<'e> {
    /// Prepares an evaluation.
    #[inline]
    pub fn new(
        context: EvalContext<'e>,
        call: BuiltinContext<'e>,
        caches: &'e InlineCaches,
    ) -> Self {
        let arena = call.arena;
        let input = context.input.map(InputSource::register);
        Self {
            program: context.program,
            query_constants: context.query_constants,
            data: context.data,
            input,
            strict: context.strict,
            call,
            frames: Frames::new(arena),
            caches,
            sink: Sink::None,
            order: FillOrder::Preserved,
            callee_iterations: 0,
            produced: Produced::nothing(false),
            rival: None,
            has_member: false,
            listing: false,
            // built in place, to avoid a copy
            root: ExprScope {
                parent: ROOT,
                input,
                overlay: None,
                mocks: None,
                memo: Memo::new(arena, context.program.rules.len()),
                unmocked_memo: None,
                change: ScopeChange::Nothing,
            },
            scopes: Vec::new(),
            scope: ROOT,
            overlaid: false,
            mocked: false,
            joins: None,
            depth: 0,
        }
    }

    /// All solutions of a query's plan, a row of values each.
    ///
    /// # Errors
    /// The evaluation fails or reaches a limit.
    pub fn solutions(&mut self, plan: &'e Plan) -> Result<Vec<Vec<ValueRef<'e>>>, Box<EvalError>> {
        let (filled, flow) = self.filling(Sink::Rows(Vec::new()), |machine| {
            machine.framed(plan.slots, &[], |machine| machine.run(&plan.steps))
        });
        flow.map_err(Halt::into_error)?;
        match filled {
            Sink::Rows(rows) => Ok(rows),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the document at a path below `data`; `None` if it is undefined.
    pub fn document_at(
        &mut self,
        path: &[ValueRef<'e>],
    ) -> Result<Option<ValueRef<'e>>, Box<EvalError>> {
        self.document(path).map_err(Halt::into_error)
    }

    /// Runs a closure whose terminators fill a sink, and returns both.
    #[inline]
    pub(super) fn filling<R>(
        &mut self,
        sink: Sink<'e>,
        run: impl FnOnce(&mut Self) -> R,
    ) -> (Sink<'e>, R) {
        self.filled(sink, run, std::mem::take)
    }

    /// Runs a closure whose terminators fill a sink, and converts the sink in place: moving it right after it was
    /// written would stall.
    #[inline]
    pub(super) fn filled<R, T>(
        &mut self,
        sink: Sink<'e>,
        run: impl FnOnce(&mut Self) -> R,
        take: impl FnOnce(&mut Sink<'e>) -> T,
    ) -> (T, R) {
        let outer = std::mem::replace(&mut self.sink, sink);
        let result = run(self);
        let taken = take(&mut self.sink);
        self.sink = outer;
        (taken, result)
    }

    /// Runs a complete rule or function, and returns its value and the rule that produced it. Nested calls do not affect
    /// each other.
    #[inline]
    pub(super) fn producing<R>(
        &mut self,
        early: bool,
        run: impl FnOnce(&mut Self) -> R,
    ) -> (Option<ValueRef<'e>>, Option<&'e Rule>, R) {
        let outer = std::mem::replace(&mut self.produced, Produced::nothing(early));
        let result = run(self);
        let (found, rule) = (self.produced.found, self.produced.rule);
        self.produced = outer;
        (found, rule, result)
    }

    /// Counts a loop iteration against the budget.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "it is a few instructions in each turn of each loop"
    )]
    pub(super) fn count_iteration(&mut self) -> Result<(), Halt> {
        match self.call.budget.step() {
            Ok(()) => Ok(()),
            Err(fault) => Err(Halt::exhausted(self.program, &fault, Span::default())),
        }
    }

    /// Runs steps one level deeper, on a new stack segment if the current one is nearly full.
    #[inline]
    pub(super) fn run(&mut self, steps: &'e [Step]) -> Result<Flow, Halt> {
        self.depth += 1;
        let flow = if self.depth.is_multiple_of(16) {
            if self.depth > limits::CALL_DEPTH {
                Err(Halt::new(EvalError::too_deep()))
            } else {
                stacker::maybe_grow(RED_ZONE, STACK_GROWTH, || self.run_steps(steps))
            }
        } else {
            self.run_steps(steps)
        };
        self.depth -= 1;
        flow
    }

    fn run_steps(&mut self, mut steps: &'e [Step]) -> Result<Flow, Halt> {
        loop {
            let (step, rest) = match self.light(steps) {
                Light::Done(flow) => return Ok(flow),
                Light::Halted(halt) => return Err(halt),
                Light::Rest(heavy) => match heavy.split_first() {
                    Some(heavy) => heavy,
                    None => bug!(NO_TERMINATOR),
                },
            };
            let on = match step {
                Step::Dot { from, keys, out } => self.get_operand_path(*from, keys, *out),
                Step::Compare(comparison, left, right) => {
                    self.compare(*comparison, *left, *right)?
                }
                Step::Test(_, call) => self.call_is_truthy(call)?,
                Step::Among(value, collection) => {
                    self.among(self.get(*value), self.get(*collection))?
                }
                Step::Scan {
                    from,
                    key,
                    out,
                    base,
                } => {
                    let base = base.as_deref();
                    return self.each_below(self.get(*from), base, *key, *out, rest);
                }
                Step::Join(join) => return self.join(join, rest),
                Step::Rule { rule, out } => {
                    let found = if self.overlaid {
                        self.overlaid_rule(*rule, &[])
                    } else {
                        self.rule(*rule)
                    };
                    self.found(found, *out)?
                }
                Step::Keyed { rule, keys, out } => {
                    let mut few = Few::default();
                    let keys = self.gather(keys, &mut few);
                    let found = if self.overlaid {
                        self.overlaid_rule(*rule, keys)
                    } else {
                        self.keyed(*rule, keys)
                    };
                    self.found(found, *out)?
                }
                Step::Base { path, out } => self.base_document(path, *out)?,
                Step::BaseChild {
                    from,
                    out,
                    keys,
                    path,
                } => self.base_child(*from, &path.0, keys, *out)?,
                Step::Document { path, out } => {
                    let mut few = Few::default();
                    let path = self.gather(path, &mut few);
                    let found = self.document(path);
                    self.found(found, *out)?
                }
                Step::Keys { path, key, value } => {
                    let mut few = Few::default();
                    let path = self.gather(path, &mut few);
                    return self.each_key(path, Some(*key), *value, rest);
                }
                Step::Call { call, out } => self.call_into(call, *out)?,
                Step::HostCall { call, out } => {
                    let found = self.host_call(call);
                    self.found(found, *out)?
                }
                Step::Function { call, out } => {
                    let found = self.function_call(call);
                    self.found(found, *out)?
                }
                Step::Descend { from, path, value } => {
                    let mut trail = Vec::new();
                    return self.descend(self.get(*from), *path, *value, &mut trail, rest);
                }
                Step::Precheck(precheck) => {
                    !(precheck.always || self.strict) || self.precheck(&precheck.conditions)?
                }
                Step::Fail => false,
                Step::MayEqual(operand, kind) => {
                    let found = self.get(*operand).kind();
                    found == *kind || found == Kind::Set
                }
                Step::IsArray(operand, len) => self
                    .get(*operand)
                    .as_array()
                    .is_some_and(|array| array.len() == *len as usize),
                Step::IsObject(operand, len) => self
                    .get(*operand)
                    .as_object()
                    .is_some_and(|object| object.len() == *len as usize),
                Step::MakeArray { items, out } => {
                    let array = self
                        .call
                        .arena
                        .array_of(self.gather_registers(items.iter().copied()));
                    self.set(*out, array);
                    true
                }
                Step::MakeSet { items, out } => {
                    let set = self
                        .call
                        .arena
                        .set_from(items.iter().map(|item| self.get(*item)));
                    self.set(*out, set);
                    true
                }
                Step::MakeObject { pairs, shape, out } => {
                    let object = self.object(pairs, shape.as_ref());
                    self.set(*out, object);
                    true
                }
                Step::Collect { into, block, out } => {
                    let collection = self.collect(*into, block);
                    match &collection {
                        Ok(made) => self.set(*out, *made),
                        Err(_) => return collection.map(|_| Flow::More),
                    }
                    true
                }
                Step::Aggregate(aggregate) => {
                    let found = self.aggregate(aggregate);
                    self.found(found, aggregate.out)?
                }
                Step::Not(block) => self.run(block)? == Flow::More,
                Step::And(blocks) => {
                    let [left, right] = &**blocks;
                    self.run(left)? == Flow::Stop && self.run(right)? == Flow::Stop
                }
                Step::Or(blocks) => {
                    let [left, right] = &**blocks;
                    self.run(left)? == Flow::Stop || self.run(right)? == Flow::Stop
                }
                Step::Any(any) => self.any(any)?,
                Step::Inlined(inlined) => self.inlined(inlined)?,
                Step::Fused(fused) => return self.fused(fused),
                Step::Every(every) => self.every(every)?,
                Step::With(with) => return self.with(with, rest),
                Step::EndWith => return self.end_with(rest),
                Step::Value(operand) => return self.value(*operand),
                Step::MemberFound => return Ok(self.member_found()),
                Step::SetAddOnce(operand) => {
                    self.insert(*operand);
                    return Ok(self.enough());
                }
                Step::ObjectInsert { .. } | Step::Produce { .. } | Step::ResultSetAdd(_) => {
                    return self.terminator(step);
                }
                Step::Input { .. }
                | Step::IsTruthy(_)
                | Step::Equal(..)
                | Step::Member(..)
                | Step::ArrayAppend(_)
                | Step::SetAdd(_)
                | Step::Exists => bug!("a light step that was not evaluated as one"),
            };
            if !on {
                return Ok(Flow::More);
            }
            steps = rest;
        }
    }

    fn object(&self, pairs: &[[Operand; 2]], shape: Option<&'e Arc<Shape>>) -> ValueRef<'e> {
        let arena = self.call.arena;
        if let Some(shape) = shape {
            let values = pairs.iter().map(|[_, value]| *value);
            return arena.object_of_shape(shape, self.gather_registers(values));
        }
        let pairs = pairs.iter();
        arena.object_from(pairs.map(|[key, value]| (self.get(*key), self.get(*value))))
    }

    /// Fills a slot with a result. Returns `true` if there is one. The result is read in place.
    #[inline]
    pub(super) fn found(
        &mut self,
        found: Result<Option<ValueRef<'e>>, Halt>,
        out: u32,
    ) -> Result<bool, Halt> {
        match &found {
            Ok(Some(value)) => {
                self.set(out, *value);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(_) => found.map(|_| false),
        }
    }
}
