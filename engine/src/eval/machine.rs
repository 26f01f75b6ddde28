//! The interpreter loop.

use solon_syntax::source::Span;

use crate::builtins::{Call, Fault, FaultCode};
use crate::limits;
use crate::program::{Collector, Comparison, Every, Operand, Plan, Program, Step};
use crate::value::{Kind, ObjectBuilder, Put, SetBuilder, V, Value};

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
const RED_ZONE: usize = 96 << 10;
const STACK_GROWTH: usize = 1 << 20;

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
                Err(self.error(
                    FaultCode::Internal,
                    Span::default(),
                    "evaluation is nested too deeply".into(),
                ))
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
                Step::Equal(left, right) => self.get(*left) == self.get(*right),
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

    #[inline]
    fn walk(&mut self, from: V<'e>, keys: &[Operand], out: u32) -> bool {
        let mut value = from;
        for key in keys {
            match value.lookup(self.get(*key)) {
                Some(inner) => value = inner,
                None => return false,
            }
        }
        self.set(out, value);
        true
    }

    fn each(
        &mut self,
        from: V<'e>,
        key: Option<u32>,
        out: u32,
        rest: &'e [Step],
    ) -> Result<Flow, Halt> {
        match from.kind() {
            Kind::Array => {
                let Some(items) = from.as_array() else {
                    return Ok(Flow::More);
                };
                for (index, item) in (0_i64..).zip(items.iter()) {
                    self.turn()?;
                    if let Some(key) = key {
                        self.set(key, V::Int(index));
                    }
                    self.set(out, item);
                    if self.run(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            Kind::Object => {
                let Some(object) = from.as_object() else {
                    return Ok(Flow::More);
                };
                for (name, value) in object.iter() {
                    self.turn()?;
                    if let Some(key) = key {
                        self.set(key, name);
                    }
                    self.set(out, value);
                    if self.run(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            Kind::Set => {
                let Some(set) = from.as_set() else {
                    return Ok(Flow::More);
                };
                for member in set.iter() {
                    self.turn()?;
                    if let Some(key) = key {
                        self.set(key, member);
                    }
                    self.set(out, member);
                    if self.run(rest)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                }
            }
            _ => {}
        }
        Ok(Flow::More)
    }

    fn descend(
        &mut self,
        value: V<'e>,
        path: Option<u32>,
        out: u32,
        trail: &mut Vec<V<'e>>,
        rest: &'e [Step],
    ) -> Result<Flow, Halt> {
        self.turn()?;
        if let Some(path) = path {
            let array = self.call.arena.array(trail);
            self.set(path, array);
        }
        self.set(out, value);
        if self.run(rest)? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        let mut inner = |machine: &mut Self, key: V<'e>, value: V<'e>| {
            trail.push(key);
            let flow = stacker::maybe_grow(RED_ZONE, STACK_GROWTH, || {
                machine.descend(value, path, out, trail, rest)
            });
            trail.pop();
            flow
        };
        match value.kind() {
            Kind::Array => {
                for (index, item) in
                    (0_i64..).zip(value.as_array().into_iter().flat_map(|array| array.iter()))
                {
                    if inner(self, V::Int(index), item)? == Flow::Stop {
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

    fn collect(&mut self, into: Collector, block: &'e [Step]) -> Result<V<'e>, Halt> {
        let arena = self.call.arena;
        self.sinks.push(match into {
            Collector::Array => Sink::Array(arena.list()),
            Collector::Set => Sink::Set(SetBuilder::new(arena)),
            Collector::Object => Sink::Object(ObjectBuilder::new(arena)),
        });
        self.run(block)?;
        Ok(match self.sinks.pop() {
            Some(Sink::Array(items)) => arena.array_of(items.into_bump_slice()),
            Some(Sink::Set(set)) => set.finish(),
            Some(Sink::Object(object)) => object.finish(),
            _ => V::Null,
        })
    }

    fn every(&mut self, every: &'e Every) -> Result<bool, Halt> {
        let domain = self.get(every.domain);
        if !matches!(domain.kind(), Kind::Array | Kind::Object | Kind::Set) {
            return Ok(false);
        }
        let pairs: Box<dyn Iterator<Item = (V<'e>, V<'e>)> + 'e> = match domain.kind() {
            Kind::Array => Box::new(
                (0_i64..)
                    .map(V::Int)
                    .zip(domain.as_array().into_iter().flat_map(|array| array.iter())),
            ),
            Kind::Object => Box::new(
                domain
                    .as_object()
                    .into_iter()
                    .flat_map(|object| object.iter()),
            ),
            _ => Box::new(
                domain
                    .as_set()
                    .into_iter()
                    .flat_map(|set| set.iter())
                    .map(|member| (member, member)),
            ),
        };
        for (key, value) in pairs {
            self.turn()?;
            if let Some(slot) = every.key {
                self.set(slot, key);
            }
            self.set(every.value, value);
            if self.run(&every.block)? == Flow::More {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline]
    fn compare(
        &mut self,
        comparison: Comparison,
        left: Operand,
        right: Operand,
    ) -> Result<bool, Halt> {
        let (left, right) = (self.get(left), self.get(right));
        if self.mocked
            && let Some(result) = self.mocked_comparison(comparison, left, right)?
        {
            return Ok(result.is_some_and(V::holds));
        }
        Ok(match comparison {
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        })
    }

    fn leaf(&mut self, leaf: &'e Step) -> Result<Flow, Halt> {
        match leaf {
            Step::Exists => return Ok(Flow::Stop),
            Step::Value(operand) => {
                let value = self.get(*operand);
                if let Some(produced) = self.values.last_mut() {
                    produced.hit = true;
                    match produced.found {
                        Some(old) if old != value => return Err(Halt::Clash),
                        Some(_) => {}
                        None => produced.found = Some(value),
                    }
                    return Ok(if produced.early {
                        Flow::Stop
                    } else {
                        Flow::More
                    });
                }
            }
            Step::Append(operand) => {
                let value = self.get(*operand);
                if let Some(Sink::Array(items)) = self.sinks.last_mut() {
                    items.push(value);
                }
            }
            Step::Insert(operand) => {
                let value = self.get(*operand);
                if let Some(Sink::Set(set)) = self.sinks.last_mut() {
                    set.insert(value);
                }
            }
            Step::Put { key, value, span } => {
                let (key, value) = (self.get(*key), self.get(*value));
                if let Some(Sink::Object(object)) = self.sinks.last_mut()
                    && object.put(key, value) == Put::Conflict
                {
                    return Err(self.error(
                        FaultCode::Conflict,
                        *span,
                        "object keys must be unique".into(),
                    ));
                }
            }
            Step::Produce {
                path,
                value,
                member,
            } => {
                let path: smallvec::SmallVec<[V<'e>; 4]> =
                    path.iter().map(|key| self.get(*key)).collect();
                let value = self.get(*value);
                let arena = self.call.arena;
                if let Some(Sink::Extent(extent)) = self.sinks.last_mut()
                    && extent.insert(arena, &path, value, *member).is_err()
                {
                    return Err(Halt::Clash);
                }
            }
            Step::Solution(wanted) => {
                let row = wanted.iter().map(|operand| self.get(*operand)).collect();
                if let Some(Sink::Rows(rows)) = self.sinks.last_mut() {
                    rows.push(row);
                }
            }
            _ => {}
        }
        Ok(Flow::More)
    }
}
