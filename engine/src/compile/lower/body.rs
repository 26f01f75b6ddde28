//! Lowering of bodies and expressions to steps.

use std::sync::Arc;

use solon_syntax::ast::{Body, Every, Expr, ExprKind, Name, Term, TermKind};

use super::called::Called;
use super::constants::Constants;
use super::plan_features::PlanFeatures;
use super::{dead_keys, fuse, lookups, precheck};
use crate::bug::bug;
use crate::builtins::{self, Prepared};
use crate::compile::optimisations::{Optimisation, Optimisations};
use crate::compile::small_map::SmallMap;
use crate::program::{
    self, Block, BuiltinCall, Collector, Comparison, FunctionCall, HostCall, Intrinsic, Operand,
    Plan, Program, Slot, Step, TextTest,
};
use crate::value::{Repr, Value};

/// Initial capacity for steps; most plans need less.
const STEPS: usize = 16;

/// State while a body is lowered to a plan.
pub struct Lowering<'p> {
    pub(super) program: &'p Program,
    pub(super) constants: &'p mut Constants,
    optimisations: Optimisations,
    /// Bound names in order, so that a block can remove its own.
    bound: SmallMap<Name, Operand>,
    slots: Slot,
    /// Steps of all open blocks.
    steps: Vec<Step>,
    /// Features of the plan that later passes look for.
    features: PlanFeatures,
}

impl<'p> Lowering<'p> {
    pub(super) fn new(
        program: &'p Program,
        constants: &'p mut Constants,
        optimisations: Optimisations,
    ) -> Self {
        Self {
            program,
            constants,
            optimisations,
            bound: SmallMap::default(),
            slots: 0,
            steps: Vec::with_capacity(STEPS),
            features: PlanFeatures::default(),
        }
    }

    pub(super) fn finish(mut self) -> Plan {
        let holds = self.features;
        let fuses = holds.collection && self.makes(Optimisation::FuseAggregates);
        let shares = self.makes(Optimisation::ShareLookups);
        let forgets = self.makes(Optimisation::ForgetKeys);
        let mut plan = Plan::new(self.slots, self.steps.drain(..).collect());
        if fuses {
            fuse::aggregates(&mut plan);
        }
        if shares && holds.lookups > 1 {
            lookups::share(&mut plan);
        }
        if shares && holds.loops {
            lookups::hoist(&mut plan.steps);
        }
        if forgets && holds.keys {
            dead_keys::keys(&mut plan);
        }
        if holds.patterns && self.makes(Optimisation::ForgetKeys) {
            dead_keys::elements(&mut plan, self.constants);
        }
        if forgets && holds.collection {
            dead_keys::orders(&mut plan);
        }
        plan
    }

    pub(super) fn makes(&self, optimisation: Optimisation) -> bool {
        self.optimisations.make(optimisation)
    }

    pub(super) fn push(&mut self, step: Step) {
        self.features.see(&step);
        self.steps.push(step);
    }

    /// Allocates a slot of the frame.
    pub(super) fn slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    pub(super) fn bind(&mut self, name: &Name, operand: Operand) {
        self.bound.insert(name.clone(), operand);
    }

    pub(super) fn binding(&self, name: &Name) -> Option<Operand> {
        self.bound.get(name).copied()
    }

    /// Iterates over the bound names, in the order of binding.
    pub(super) fn bindings(&self) -> impl Iterator<Item = (&Name, Operand)> {
        self.bound.iter().map(|(name, operand)| (name, *operand))
    }

    /// Returns the operand of a variable of a query. Safety guarantees that some expression binds it.
    pub(super) fn variable(&mut self, name: &Name) -> Operand {
        self.binding(name)
            .unwrap_or_else(|| bug!("a query returns a variable that nothing binds"))
    }

    /// Lowers into a new block; bindings made inside are removed afterwards.
    pub(super) fn block(&mut self, fill: impl FnOnce(&mut Self)) -> Block {
        let start = self.steps.len();
        let mark = self.bound.len();
        fill(self);
        self.bound.truncate(mark);
        self.steps.drain(start..).collect()
    }

    fn exists(&mut self, body: &Body) -> Block {
        self.block(|inner| {
            inner.body(body);
            inner.push(Step::Exists);
        })
    }

    /// Lowers `and` or `or`. The operands of a chain are halved recursively, so that the nesting of the plan is
    /// logarithmic in the length of the chain: both connectives are associative, and operands still run from left to
    /// right.
    fn connective(&mut self, expr: &Expr) {
        let make = if matches!(expr.kind, ExprKind::And(_)) {
            Step::And
        } else {
            Step::Or
        };
        self.halves(&operands(expr), make);
    }

    fn halves(&mut self, operands: &[&Body], make: fn(Box<[Block; 2]>) -> Step) {
        let (left, right) = operands.split_at(operands.len().div_ceil(2));
        let blocks = [self.some(left, make), self.some(right, make)];
        self.push(make(Box::new(blocks)));
    }

    /// Returns a block that succeeds if operands of a connective hold.
    fn some(&mut self, operands: &[&Body], make: fn(Box<[Block; 2]>) -> Step) -> Block {
        if let [one] = operands {
            return self.exists(one);
        }
        self.block(|inner| {
            inner.halves(operands, make);
            inner.push(Step::Exists);
        })
    }

    pub(super) fn body(&mut self, body: &[Expr]) {
        for expr in body {
            self.expr(expr);
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        let modified = !expr.with.is_empty();
        if modified {
            let modifiers = expr
                .with
                .iter()
                .filter_map(|with| self.modifier(with))
                .collect();
            let span = expr.span;
            self.push(Step::With(Box::new(program::With { modifiers, span })));
        }
        if expr.negated {
            let block = self.block(|inner| {
                inner.plain(expr);
                inner.push(Step::Exists);
            });
            self.push(Step::Not(block));
        } else {
            self.plain(expr);
        }
        if modified {
            self.push(Step::EndWith);
        }
    }

    fn plain(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Term(term) => {
                let operand = self.term(term);
                if !matches!(term.kind, TermKind::Boolean(true)) {
                    self.push(Step::IsTruthy(operand));
                }
            }
            ExprKind::Call(terms) => self.call_expr(terms, expr),
            ExprKind::Every(every) => self.every(every),
            ExprKind::Not(not) if precheck::is_observable(&not.body, &self.program.tree) => {
                self.not_one(&not.body);
            }
            ExprKind::Not(not) => {
                let block = self.exists(&not.body);
                self.push(Step::Not(block));
            }
            ExprKind::And(_) | ExprKind::Or(_) => self.connective(expr),
            ExprKind::Some(_) => {}
        }
    }

    /// Lowers a negated body. All solutions are searched, because their prints and errors are observable.
    fn not_one(&mut self, body: &Body) {
        let out = self.slot();
        let found = Operand::Const(self.constants.add(Value(Repr::Bool(true))));
        let block = self.block(|inner| {
            inner.body(body);
            inner.push(Step::SetAdd(found));
        });
        let into = Collector::Set;
        self.push(Step::Collect { into, block, out });
        let none = Operand::Const(self.constants.add(Value::set(Vec::new())));
        self.push(Step::Equal(Operand::Slot(out), none));
    }

    fn every(&mut self, every: &Every) {
        let domain = self.term(&every.domain);
        let key = every
            .key
            .as_ref()
            .and_then(Term::as_var)
            .map(|name| (name.clone(), self.slot()));
        let value = self.slot();
        let block = self.block(|inner| {
            if let Some((name, slot)) = &key {
                inner.bind(name, Operand::Slot(*slot));
            }
            if let Some(name) = every.value.as_var() {
                inner.bind(name, Operand::Slot(value));
            }
            inner.body(&every.body);
            inner.push(Step::Exists);
        });
        let key = key.map(|(_, slot)| slot);
        self.push(Step::Every(Box::new(program::Every {
            domain,
            key,
            value,
            block,
        })));
    }

    fn call_expr(&mut self, terms: &[Term], expr: &Expr) {
        let Some((operator, operands)) = terms.split_first() else {
            return;
        };
        let called = self.called(operator);
        let name = match &called {
            Some(Called::Name(name)) => Some(&**name),
            _ => None,
        };
        match (name, operands) {
            (Some("eq" | "assign"), [left, right]) => self.unify(left, right),
            (Some("equal"), [left, right]) => {
                let (left, right) = (self.term(left), self.term(right));
                self.push(Step::Equal(left, right));
            }
            (Some("walk"), [from, pattern]) => self.descend_tree(from, pattern),
            (Some("walk"), [from]) => {
                let (from, value) = (self.term(from), self.slot());
                self.push(Step::Descend {
                    from,
                    path: None,
                    value,
                });
            }
            (Some("internal.member_2"), [value, collection]) => {
                let (value, collection) = (self.term(value), self.term(collection));
                self.push(Step::Member(value, collection));
            }
            (Some(name), [left, right]) if comparison(name).is_some() => {
                let (left, right) = (self.term(left), self.term(right));
                if let Some(comparison) = comparison(name) {
                    self.push(Step::Compare(comparison, left, right));
                }
            }
            _ => {
                let arity = called.as_ref().map_or(0, |called| self.arity(called));
                let (args, output) = operands.split_at_checked(arity).unwrap_or((operands, &[]));
                let out = self.call(called, args, expr.span);
                match (out, output.first()) {
                    (Some(out), Some(pattern)) => self.matches(out, pattern),
                    (Some(out), None) => self.require_truthy(out),
                    (None, _) => self.push(Step::Fail),
                }
            }
        }
    }

    /// Continues unless the result of the last call is `false`.
    fn require_truthy(&mut self, found: Operand) {
        let made = self.makes(Optimisation::TestTexts);
        match self.steps.pop() {
            Some(Step::Call { call, out }) if made && found == Operand::Slot(out) => {
                match TextTest::of_call(&call) {
                    Some(test) => self.push(Step::Test(test, call)),
                    None => {
                        self.push(Step::Call { call, out });
                        self.push(Step::IsTruthy(found));
                    }
                }
            }
            last => {
                self.steps.extend(last);
                self.push(Step::IsTruthy(found));
            }
        }
    }

    /// Lowers a call of a built-in or a function and returns the operand of its result.
    pub(super) fn call(
        &mut self,
        called: Option<Called<'_>>,
        args: &[Term],
        span: solon_syntax::source::Span,
    ) -> Option<Operand> {
        let mut args: Box<[Operand]> = args.iter().map(|arg| self.term(arg)).collect();
        let out = self.slot();
        let name = match called? {
            Called::Rule(rule) => {
                self.push(Step::Function {
                    call: Box::new(FunctionCall { rule, args, span }),
                    out,
                });
                return Some(Operand::Slot(out));
            }
            Called::Name(name) => name,
        };
        if let Some(function) = self.program.function(&name) {
            let call = Box::new(HostCall {
                function,
                args,
                span,
            });
            self.push(Step::HostCall { call, out });
            return Some(Operand::Slot(out));
        }
        let entry = builtins::lookup(&name)?;
        let mut prepared = self
            .makes(Optimisation::SpecialiseCalls)
            .then(|| self.constants.specialised(entry, &args))
            .flatten();
        let elements = self.spread(&mut prepared, &mut args);
        let intrinsic = Intrinsic::of_others(&name, &args, |operand| {
            let constant = self.constants.get(operand);
            constant.is_some_and(|value| value.string_bytes().is_some())
        });
        let intrinsic = intrinsic.or_else(|| {
            let asked = self.makes(Optimisation::TestTexts);
            asked.then(|| Intrinsic::of_texts(entry, prepared.as_ref(), &args))?
        });
        self.push(Step::Call {
            call: Box::new(BuiltinCall {
                entry,
                args,
                prepared,
                elements,
                intrinsic,
                span,
            }),
            out,
        });
        Some(Operand::Slot(out))
    }

    /// Passes the elements of an array as separate operands, if the last step built the array only for this call.
    fn spread(
        &mut self,
        prepared: &mut Option<Arc<dyn Prepared>>,
        args: &mut Box<[Operand]>,
    ) -> bool {
        let ([first, Operand::Slot(array)], Some(Step::MakeArray { items, out })) =
            (&**args, self.steps.last())
        else {
            return false;
        };
        if array != out || !self.makes(Optimisation::SpreadArrays) {
            return false;
        }
        let with_elements = prepared
            .as_deref()
            .and_then(|prepared| prepared.with_elements(items.len()));
        let Some(with_elements) = with_elements else {
            return false;
        };
        *args = std::iter::once(first)
            .chain(items.iter())
            .copied()
            .collect();
        *prepared = Some(with_elements);
        self.steps.pop();
        true
    }

    fn descend_tree(&mut self, from: &Term, pattern: &Term) {
        let from = self.term(from);
        if let TermKind::Array(items) = &pattern.kind
            && let [path, value] = items.as_slice()
        {
            let slot = self.slot();
            let path_slot = (!path.is_wildcard()).then(|| self.slot());
            self.push(Step::Descend {
                from,
                path: path_slot,
                value: slot,
            });
            if let Some(at) = path_slot {
                self.matches(Operand::Slot(at), path);
            }
            self.matches(Operand::Slot(slot), value);
            return;
        }
        let (path, value, pair) = (self.slot(), self.slot(), self.slot());
        self.push(Step::Descend {
            from,
            path: Some(path),
            value,
        });
        let items = [Operand::Slot(path), Operand::Slot(value)].into();
        self.push(Step::MakeArray { items, out: pair });
        self.matches(Operand::Slot(pair), pattern);
    }
}

fn comparison(name: &str) -> Option<Comparison> {
    Some(match name {
        "neq" => Comparison::NotEqual,
        "lt" => Comparison::Less,
        "lte" => Comparison::LessOrEqual,
        "gt" => Comparison::Greater,
        "gte" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// Returns the operands of a chain of one connective, from left to right. There are at least two.
fn operands(expr: &Expr) -> Vec<&Body> {
    let is_and = matches!(expr.kind, ExprKind::And(_));
    let mut found = Vec::new();
    let mut left = expr;
    while let ExprKind::And(pair) | ExprKind::Or(pair) = &left.kind {
        found.push(&pair.rhs);
        match pair.lhs.as_slice() {
            [inner]
                if matches!(
                    (&inner.kind, is_and),
                    (ExprKind::And(_), true) | (ExprKind::Or(_), false)
                ) && !inner.negated
                    && inner.with.is_empty() =>
            {
                left = inner;
            }
            _ => {
                found.push(&pair.lhs);
                break;
            }
        }
    }
    found.reverse();
    found
}
