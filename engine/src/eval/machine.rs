//! The interpreter loop.

use solon_syntax::source::Span;

use crate::builtins::{Call, Fault, FaultCode};
use crate::limits;
use crate::program::{Plan, Program, Step};
use crate::value::{V, Value};

use super::EvalError;
use super::error::Halt;
use super::memo::Memo;
use super::scope::Scope;
use super::sink::{Produced, Sink};

/// What a run tells its generator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// Try the next element.
    More,
    /// Enough was found.
    Stop,
}

/// What an evaluation reads.
#[derive(Clone, Copy)]
pub struct World<'e> {
    /// The program.
    pub program: &'e Program,
    /// Constants of the query, behind those of the program.
    pub query_constants: &'e [Value],
    /// The base documents.
    pub data: V<'e>,
    /// The input.
    pub input: Option<V<'e>>,
    /// Whether the first error of a built-in ends the evaluation.
    pub strict: bool,
}

/// One evaluation.
pub struct Machine<'e> {
    pub(super) program: &'e Program,
    pub(super) query_constants: &'e [Value],
    pub(super) data: V<'e>,
    pub(super) input: Option<V<'e>>,
    pub(super) strict: bool,
    pub(super) call: Call<'e>,
    pub(super) slots: bumpalo::collections::Vec<'e, V<'e>>,
    pub(super) base: usize,
    pub(super) sinks: bumpalo::collections::Vec<'e, Sink<'e>>,
    pub(super) values: bumpalo::collections::Vec<'e, Produced<'e>>,
    pub(super) root: Scope<'e>,
    /// Scopes that `with` opened; the root is not among them.
    pub(super) scopes: Vec<Scope<'e>>,
    /// The current scope; out of range for the root.
    pub(super) scope: usize,
    /// Whether the current scope replaces documents.
    pub(super) overlaid: bool,
    /// Whether the current scope replaces functions.
    pub(super) mocked: bool,
    pub(super) depth: usize,
}

/// The scope that is not on the stack of scopes.
pub(super) const ROOT: usize = usize::MAX;

/// Stack that must be left for a run, and what is added when it is not.
pub(super) const RED_ZONE: usize = limits::VALUE_STACK;
pub(super) const STACK_GROWTH: usize = RED_ZONE + (1 << 20);

impl<'e> Machine<'e> {
    /// Prepares an evaluation.
    pub fn new(world: World<'e>, call: Call<'e>) -> Self {
        let arena = call.arena;
        let root = Scope {
            parent: ROOT,
            input: world.input,
            overlay: None,
            mocks: None,
            memo: Memo::new(arena),
        };
        Self {
            program: world.program,
            query_constants: world.query_constants,
            data: world.data,
            input: world.input,
            strict: world.strict,
            call,
            slots: bumpalo::collections::Vec::with_capacity_in(64, arena.bump()),
            base: 0,
            sinks: bumpalo::collections::Vec::new_in(arena.bump()),
            values: bumpalo::collections::Vec::new_in(arena.bump()),
            root,
            scopes: Vec::new(),
            scope: ROOT,
            overlaid: false,
            mocked: false,
            depth: 0,
        }
    }

    /// All solutions of a query's plan.
    pub fn solutions(&mut self, plan: &'e Plan) -> Result<Vec<Vec<V<'e>>>, Box<EvalError>> {
        self.sinks.push(Sink::Rows(Vec::new()));
        self.framed(plan.slots, &[], |machine| machine.run(&plan.steps))
            .map_err(Halt::into_error)?;
        match self.sinks.pop() {
            Some(Sink::Rows(rows)) => Ok(rows),
            _ => Ok(Vec::new()),
        }
    }

    /// The document at a path below `data`; `None` when it is undefined.
    pub fn document_at(&mut self, path: &[V<'e>]) -> Result<Option<V<'e>>, Box<EvalError>> {
        self.document(path).map_err(Halt::into_error)
    }

    pub(super) fn error(&self, code: FaultCode, span: Span, message: String) -> Halt {
        let (file, row, col) = self.program.place(span);
        Halt::Error(Box::new(EvalError {
            code,
            message,
            file,
            row,
            col,
        }))
    }

    /// A bound of the evaluation was reached.
    pub(super) fn exhausted(&self, fault: Fault, span: Span) -> Halt {
        match fault {
            Fault::Undefined => self.error(FaultCode::Internal, span, "undefined result".into()),
            Fault::Error(error) | Fault::Halt(error) => {
                self.error(error.code(), span, error.to_string())
            }
        }
    }

    /// Counts a turn of a loop.
    #[inline]
    pub(super) fn turn(&mut self) -> Result<(), Halt> {
        match self.call.budget.step() {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.exhausted(fault, Span::default())),
        }
    }

    /// Runs steps in a nested turn, on more stack when little is left.
    #[inline]
    pub(super) fn run(&mut self, steps: &'e [Step]) -> Result<Flow, Halt> {
        self.depth += 1;
        let flow = if self.depth.is_multiple_of(16) {
            if self.depth > limits::CALL_DEPTH {
                Err(Halt::Error(Box::new(EvalError::too_deep())))
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
        while let Some((step, rest)) = steps.split_first() {
            let on = match step {
                Step::Input { keys, out } => match self.input {
                    Some(input) => self.walk(input, keys, *out),
                    None => false,
                },
                Step::Walk { from, keys, out } => self.walk(self.get(*from), keys, *out),
                Step::Equal(left, right) => self.equal(*left, *right),
                Step::Holds(operand) => self.get(*operand).holds(),
                Step::Compare(comparison, left, right) => {
                    self.compare(*comparison, *left, *right)?
                }
                Step::Each { from, key, out } => {
                    return self.each(self.get(*from), *key, *out, rest);
                }
                Step::Rule { rule, out } => {
                    let found = if self.overlaid {
                        self.overlaid_rule(*rule, &[])?
                    } else {
                        self.rule(*rule)?
                    };
                    self.found(found, *out)
                }
                Step::Keyed { rule, keys, out } => {
                    let keys: smallvec::SmallVec<[V<'e>; 4]> =
                        keys.iter().map(|key| self.get(*key)).collect();
                    let found = if self.overlaid {
                        self.overlaid_rule(*rule, &keys)?
                    } else {
                        self.keyed(*rule, &keys)?
                    };
                    self.found(found, *out)
                }
                Step::Base { path, out } => {
                    let found = self.base_document(path)?;
                    self.found(found, *out)
                }
                Step::Document { path, out } => {
                    let path: smallvec::SmallVec<[V<'e>; 8]> =
                        path.iter().map(|key| self.get(*key)).collect();
                    let found = self.document(&path)?;
                    self.found(found, *out)
                }
                Step::Keys { path, key } => {
                    let path: smallvec::SmallVec<[V<'e>; 8]> =
                        path.iter().map(|key| self.get(*key)).collect();
                    for found in self.keys(&path)? {
                        self.turn()?;
                        self.set(*key, found);
                        if self.run(rest)? == Flow::Stop {
                            return Ok(Flow::Stop);
                        }
                    }
                    return Ok(Flow::More);
                }
                Step::Call { call, out } => {
                    let found = self.builtin(call)?;
                    self.found(found, *out)
                }
                Step::Custom { call, out } => {
                    let found = self.custom_call(call)?;
                    self.found(found, *out)
                }
                Step::Function { call, out } => {
                    let found = self.function_call(call)?;
                    self.found(found, *out)
                }
                Step::Descend { from, path, value } => {
                    let mut trail = Vec::new();
                    return self.descend(self.get(*from), *path, *value, &mut trail, rest);
                }
                Step::Fail => false,
                Step::IsArray(operand, len) => self
                    .get(*operand)
                    .as_array()
                    .is_some_and(|array| array.len() == *len as usize),
                Step::IsObject(operand, len) => self
                    .get(*operand)
                    .as_object()
                    .is_some_and(|object| object.len() == *len as usize),
                Step::Array { items, out } => {
                    let array = self
                        .call
                        .arena
                        .array_from(items.iter().map(|item| self.get(*item)));
                    self.set(*out, array);
                    true
                }
                Step::Set { items, out } => {
                    let set = self
                        .call
                        .arena
                        .set_from(items.iter().map(|item| self.get(*item)));
                    self.set(*out, set);
                    true
                }
                Step::Object { pairs, out } => {
                    let pairs = pairs
                        .iter()
                        .map(|(key, value)| (self.get(*key), self.get(*value)));
                    let object = self.call.arena.object_from(pairs);
                    self.set(*out, object);
                    true
                }
                Step::Collect { into, block, out } => {
                    let collection = self.collect(*into, block)?;
                    self.set(*out, collection);
                    true
                }
                Step::Not(block) => self.run(block)? == Flow::More,
                Step::And(blocks) => {
                    self.run(&blocks.0)? == Flow::Stop && self.run(&blocks.1)? == Flow::Stop
                }
                Step::Or(blocks) => {
                    self.run(&blocks.0)? == Flow::Stop || self.run(&blocks.1)? == Flow::Stop
                }
                Step::Every(every) => self.every(every)?,
                Step::With(with) => return self.with(with, rest),
                Step::EndWith => return self.end_with(rest),
                leaf => return self.leaf(leaf),
            };
            if !on {
                return Ok(Flow::More);
            }
            steps = rest;
        }
        Ok(Flow::More)
    }

    #[inline]
    fn found(&mut self, found: Option<V<'e>>, out: u32) -> bool {
        match found {
            Some(value) => {
                self.set(out, value);
                true
            }
            None => false,
        }
    }
}
