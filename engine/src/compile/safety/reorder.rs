//! Reordering of the expressions of a body so that every variable has its value in time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use solon_syntax::ast::visit::{Descent, Visitor, VisitorMut, Walk, WalkMut};
use solon_syntax::ast::{Body, Comprehension, Expr, ExprKind, Term, TermKind, VarScan};
use solon_syntax::source::Span;
use solon_syntax::stack;

use super::outputs::{DIRECT, OWN, Reading, equation, outputs_as};
use super::vars::{Var, VarSet, Vars};
use crate::compile::functions::CallableFunctions;
use crate::compile::locals::Locals;
use crate::index::Indexed as _;

/// Variables that an expression needs and nothing binds.
#[derive(Debug)]
pub struct Unsafe {
    pub span: Span,
    /// Variables without values.
    pub vars: VarSet,
    /// Variables that the expression assigns.
    pub assigned: VarSet,
}

/// Context for ordering bodies.
#[derive(Clone, Copy)]
pub struct SafetyContext<'c> {
    pub functions: CallableFunctions<'c>,
    pub locals: &'c Locals,
    /// `true` if there may be comprehensions.
    pub has_closures: bool,
}

/// Orders the bodies of one rule or query, including those of closures.
pub struct Safety<'c> {
    of: SafetyContext<'c>,
    reading: Reading,
    /// Variables seen so far.
    pub vars: Vars,
    pub rejected: Vec<Unsafe>,
}

/// A body during ordering.
struct Ordering {
    /// Variables of each expression.
    own: Vec<VarSet>,
    /// Variables of each expression's closures that are shared with the body.
    closed_over: Vec<VarSet>,
    /// Variables that each expression still needs.
    missing: Vec<VarSet>,
    /// Variables that have values.
    safe: VarSet,
    /// Indices of the expressions that can be evaluated, in order.
    ordered: Vec<usize>,
}

impl<'c> Safety<'c> {
    /// Creates an empty state.
    pub fn new(context: SafetyContext<'c>, reading: Reading) -> Self {
        Self {
            of: context,
            reading,
            vars: Vars::default(),
            rejected: Vec::new(),
        }
    }

    /// Orders a body, given the variables that are safe from the start. Each expression is placed as soon as it can be
    /// evaluated, so a body that is already in order does not change.
    pub fn reorder(&mut self, body: &mut Body, globals: &VarSet) {
        if self.is_in_order(body, globals) {
            return;
        }
        let mut ordering = self.start(body, globals);
        for (index, expr) in body.iter().enumerate() {
            self.try_append(&mut ordering, index, expr);
        }
        if ordering.ordered.len() < body.len() {
            self.append_deferred(&mut ordering, body);
            self.reject(&ordering, body);
        }
        let ordered = ordering.ordered.len();
        let own_vars = arrange(body, ordering);

        // closures see the variables of earlier expressions
        let mut safe = globals.clone();
        for (expr, vars) in body.iter_mut().take(ordered).zip(&own_vars) {
            self.order_closures(expr, &mut safe);
            safe.add(vars);
        }
    }

    /// Returns `true` if a body without closures is in order.
    fn is_in_order(&mut self, body: &Body, globals: &VarSet) -> bool {
        if self.of.has_closures || !body.iter().all(is_plain) {
            return false;
        }
        let mut safe = globals.clone();
        body.iter().all(|expr| {
            let mut missing = self.vars.scan(OWN, expr);
            let functions = self.of.functions;
            let outputs = outputs_as(&mut self.vars, functions, expr, &safe, self.reading);
            missing.subtract(&outputs);
            missing.subtract(&safe);
            safe.add(&outputs);
            missing.is_empty()
        })
    }

    fn start(&mut self, body: &Body, globals: &VarSet) -> Ordering {
        let own_vars: Vec<_> = body.iter().map(|expr| self.own_vars(expr)).collect();
        let mut shared = VarSet::default();
        for vars in &own_vars {
            shared.add(vars);
        }
        shared.subtract(globals);
        // operands nest as deep as their chain is long: collecting all variables at each level would be quadratic
        let mut closed_over = vec![VarSet::default(); body.len()];
        if !shared.is_empty() {
            for (closed_over, expr) in closed_over.iter_mut().zip(body) {
                // variables of an unbraced operand are always shared
                *closed_over = self.closed_over(expr).intersection(&shared);
            }
        }
        Ordering {
            closed_over,
            missing: own_vars.iter().map(|vars| vars.without(globals)).collect(),
            own: own_vars,
            safe: globals.clone(),
            ordered: Vec::with_capacity(body.len()),
        }
    }

    /// Returns the variables of an expression. An unbraced operand of `not`, `and` or `or` belongs to the expression;
    /// only the locals of calls moved out of terms are local to the operand.
    fn own_vars(&mut self, expr: &Expr) -> VarSet {
        let mut vars = match expr.kind {
            ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => {
                self.vars.scan(OWN, &expr.with)
            }
            _ => return self.vars.scan(OWN, expr),
        };
        for expr in operands(expr)
            .filter(|operand| !operand.braced)
            .flat_map(|operand| operand.body)
        {
            DIRECT.each(expr, |_, name| {
                if !self.of.locals.is_anonymous(name) {
                    vars.insert(self.vars.var(name));
                }
            });
        }
        vars
    }

    /// Returns the variables in the closures of an expression, and in its unbraced operands.
    fn closed_over(&mut self, expr: &Expr) -> VarSet {
        if !self.of.has_closures && is_plain(expr) {
            return VarSet::default();
        }
        let mut scan = ClosureVars {
            vars: &mut self.vars,
            uses: VarSet::default(),
        };
        scan.visit_expr(expr);
        let mut uses = scan.uses;
        if is_logical(expr) {
            let own_vars = self.own_vars(expr);
            uses.add(&own_vars.without(&self.vars.scan(OWN, &expr.with)));
        }
        uses
    }

    /// Appends an expression to the order if it can be evaluated, and returns the variables that become safe; `None`
    /// otherwise.
    fn try_append(&mut self, ordering: &mut Ordering, index: usize, expr: &Expr) -> Option<VarSet> {
        let safe = &ordering.safe;
        let (own_vars, closed_over) = (ordering.own.get(index)?, ordering.closed_over.get(index)?);
        let missing = ordering.missing.get_mut(index)?;
        let outputs = outputs_as(&mut self.vars, self.of.functions, expr, safe, self.reading);

        if !closed_over.is_empty() {
            if *closed_over == outputs {
                // it would close over its own result only
                return None;
            }
            missing.clone_from(closed_over);
            if self.reading == Reading::Strict {
                missing.add(own_vars);
            }
        }
        missing.subtract(&outputs);
        missing.subtract(safe);
        if !missing.is_empty() {
            return None;
        }
        let new = outputs.without(safe);
        ordering.safe.add(&new);
        ordering.ordered.push(index);
        Some(new)
    }

    /// Appends the remaining expressions, pass by pass. An expression is checked again only after one of its variables
    /// became safe.
    fn append_deferred(&mut self, ordering: &mut Ordering, body: &Body) {
        let mut open = vec![true; body.len()];
        for index in &ordering.ordered {
            *open.item_mut(*index) = false;
        }
        let mut queue = BinaryHeap::new();
        let mut users: HashMap<Var, Vec<usize>> = HashMap::new();
        for (index, _) in open.iter().enumerate().filter(|(_, open)| **open) {
            queue.push(Reverse((0, index)));
            let mut used_vars = VarSet::default();
            for set in [&ordering.own, &ordering.closed_over] {
                set.get(index)
                    .into_iter()
                    .for_each(|set| used_vars.add(set));
            }
            for var in used_vars.without(&ordering.safe).iter() {
                users.entry(var).or_default().push(index);
            }
        }
        while let Some(Reverse((pass, index))) = queue.pop() {
            let (Some(expr), Some(open)) = (body.get(index), open.get_mut(index)) else {
                continue;
            };
            if !*open {
                continue;
            }
            let Some(new) = self.try_append(ordering, index, expr) else {
                continue;
            };
            *open = false;
            for user in new.iter().filter_map(|var| users.remove(&var)).flatten() {
                queue.push(Reverse((pass + u32::from(user < index), user)));
            }
        }
    }

    /// Records the missing variables of the expressions that could not be ordered.
    fn reject(&mut self, ordering: &Ordering, body: &Body) {
        let mut ordered = ordering.ordered.clone();
        ordered.sort_unstable();
        for (index, (expr, missing)) in body.iter().zip(&ordering.missing).enumerate() {
            if ordered.binary_search(&index).is_err() {
                self.reject_vars(expr, missing.clone());
            }
        }
    }

    fn reject_vars(&mut self, expr: &Expr, vars: VarSet) {
        let assigned = equation(expr)
            .filter(|_| expr.assigned)
            .map(|(target, _)| self.vars.scan(VarScan::default(), target));
        self.rejected.push(Unsafe {
            span: expr.span,
            vars,
            assigned: assigned.unwrap_or_default(),
        });
    }

    /// Orders the closures of an expression: bodies of `every`, `not`, `and` and `or`.
    fn order_closures(&mut self, expr: &mut Expr, safe: &mut VarSet) {
        match &mut expr.kind {
            ExprKind::Every(every) => {
                self.vars.scan_into(OWN, &every.key, safe);
                self.vars.scan_into(OWN, &every.value, safe);
                self.reorder(&mut every.body, safe);
            }
            ExprKind::Not(not) => self.reorder(&mut not.body, safe),
            ExprKind::And(logical) | ExprKind::Or(logical) => {
                // chains nest in the left operand
                stack::level(|| self.reorder(&mut logical.lhs, safe));
                self.reorder(&mut logical.rhs, safe);
            }
            ExprKind::Term(_) | ExprKind::Call(_) | ExprKind::Some(_) => {}
        }
        if !self.of.has_closures {
            return;
        }
        let mut heads = VarSet::default();
        let mut entering = Entering {
            safety: self,
            bound: safe,
            missing: &mut heads,
        };
        match &mut expr.kind {
            ExprKind::Term(term) => term.walk_mut(&mut entering),
            ExprKind::Call(terms) => terms.walk_mut(&mut entering),
            ExprKind::Every(every) => every.domain.walk_mut(&mut entering),
            ExprKind::Some(_) | ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => {}
        }
        expr.with.walk_mut(&mut entering);
        if !heads.is_empty() {
            self.reject_vars(expr, heads);
        }
    }

    /// Orders the body of a comprehension. Returns the variables of its head that nothing binds.
    fn comprehension(&mut self, inner: &mut Comprehension, safe: &VarSet) -> VarSet {
        let mut missing = self.vars.scan(VarScan::default(), &inner.key);
        self.vars
            .scan_into(VarScan::default(), &inner.head, &mut missing);
        missing.subtract(safe);
        for expr in &inner.body {
            missing.subtract(&self.own_vars(expr));
        }
        self.reorder(&mut inner.body, safe);
        missing
    }
}

/// Moves the ordered expressions to the front and renumbers all. Returns the variables of each.
fn arrange(body: &mut Body, ordering: Ordering) -> Vec<VarSet> {
    let Ordering {
        own: own_vars,
        ordered,
        ..
    } = ordering;
    let in_order = ordered
        .iter()
        .zip(0..)
        .all(|(index, position)| *index == position);
    if in_order {
        return own_vars;
    }
    let mut open: Vec<_> = body.drain(..).zip(own_vars).map(Some).collect();
    let mut in_new_order: Vec<_> = ordered
        .iter()
        .filter_map(|index| open.get_mut(*index)?.take())
        .collect();
    in_new_order.extend(open.into_iter().flatten());
    let (exprs, own_vars): (Vec<_>, Vec<_>) = in_new_order.into_iter().unzip();
    body.extend(exprs);
    for (expr, index) in body.iter_mut().zip(0..) {
        expr.index = index;
    }
    own_vars
}

struct LogicalOperand<'a> {
    body: &'a Body,
    braced: bool,
}

fn operands(expr: &Expr) -> impl Iterator<Item = LogicalOperand<'_>> {
    let operand = |body, braced| Some(LogicalOperand { body, braced });
    let pair = match &expr.kind {
        ExprKind::Not(not) => [operand(&not.body, not.explicit_body), None],
        ExprKind::And(logical) | ExprKind::Or(logical) => [
            operand(&logical.lhs, logical.explicit_lhs),
            operand(&logical.rhs, logical.explicit_rhs),
        ],
        _ => [None, None],
    };
    pair.into_iter().flatten()
}

/// Returns `true` if an expression contains no bodies other than comprehensions.
fn is_plain(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Term(_) | ExprKind::Call(_) | ExprKind::Some(_)
    )
}

fn is_logical(expr: &Expr) -> bool {
    operands(expr).next().is_some()
}

/// Visitor that collects the variables of closures.
struct ClosureVars<'s> {
    vars: &'s mut Vars,
    uses: VarSet,
}

impl ClosureVars<'_> {
    /// Visits an expression of the body. Braced operands are closures.
    fn visit_expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Every(every) => self.closure(&every.body),
            ExprKind::Term(term) => term.walk(self),
            ExprKind::Call(terms) => terms.walk(self),
            ExprKind::Some(_) | ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => {}
        }
        for operand in operands(expr) {
            if operand.braced {
                self.closure(operand.body);
            } else {
                operand.body.walk(self);
            }
        }
        expr.with.walk(self);
    }

    fn closure<N: Walk + ?Sized>(&mut self, node: &N) {
        self.vars
            .scan_into(VarScan::default(), node, &mut self.uses);
    }
}

impl Visitor<'_> for ClosureVars<'_> {
    fn expr(&mut self, expr: &Expr) -> Descent {
        match &expr.kind {
            ExprKind::Every(every) => self.closure(&every.body),
            ExprKind::Not(_) | ExprKind::And(_) | ExprKind::Or(_) => self.closure(&expr.kind),
            ExprKind::Term(_) | ExprKind::Call(_) | ExprKind::Some(_) => return Descent::Into,
        }
        expr.with.walk(self);
        Descent::Over
    }

    fn term(&mut self, term: &Term) -> Descent {
        match &term.kind {
            TermKind::ArrayComprehension(inner)
            | TermKind::SetComprehension(inner)
            | TermKind::ObjectComprehension(inner) => {
                self.closure(inner);
                Descent::Over
            }
            _ => Descent::Into,
        }
    }
}

/// Visitor that orders the comprehensions of terms.
struct Entering<'s, 'c> {
    safety: &'s mut Safety<'c>,
    bound: &'s VarSet,
    missing: &'s mut VarSet,
}

impl VisitorMut for Entering<'_, '_> {
    fn term(&mut self, term: &mut Term) -> Descent {
        match &mut term.kind {
            TermKind::ArrayComprehension(inner)
            | TermKind::SetComprehension(inner)
            | TermKind::ObjectComprehension(inner) => {
                let missing = self.safety.comprehension(inner, self.bound);
                self.missing.add(&missing);
                Descent::Over
            }
            _ => Descent::Into,
        }
    }
}
