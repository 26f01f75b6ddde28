//! Comprehensions that are searched once for all values of outer variables, as in OPA.
//!
//! This applies to `x = [… | …]` if the body is safe on its own: it binds each variable that it shares with the
//! expressions before it. Its solutions are then indexed by the values of the shared variables. Only traces show the
//! difference.

use std::collections::BTreeSet;

use solon_syntax::ast::visit::{Descent, Visitor, Walk, has_comprehension};
use solon_syntax::ast::{
    Body, Comprehension, Expr, ExprKind, Module, Name, Rule, Term, TermKind, VarScan,
};
use solon_syntax::stack;

use super::facts::Facts;
use super::functions::CallableFunctions;
use super::safety::{OWN, SafeVars, equation};
use super::small_map::SmallMap;
use crate::program::canonical::{ComprehensionSearch, Keyed};

/// Returns the comprehensions of a module that are searched once.
pub fn of_module(module: &Module, facts: &[Facts], functions: CallableFunctions<'_>) -> Keyed {
    let mut keyed = Keyed::default();
    // few rules have any
    let rules = module.rules.iter().zip(facts);
    let rules = rules.filter(|(_, facts)| facts.has(Facts::COMPREHENSION));
    for (rule, _) in rules {
        let mut next: Option<&Rule> = Some(rule);
        while let Some(rule) = next {
            if has_comprehension(&rule.body) {
                let mut search = KeyedSearch::new(functions, &mut keyed);
                VarScan::default().each(&rule.head.args, |_, name| {
                    search.before.insert(name, ());
                });
                search.body(&rule.body);
            }
            next = rule.else_rule.as_deref();
        }
    }
    keyed
}

/// Returns the comprehensions of a query that are searched once.
pub fn of_query(body: &Body, functions: CallableFunctions<'_>) -> Keyed {
    let mut keyed = Keyed::default();
    KeyedSearch::new(functions, &mut keyed).body(body);
    keyed
}

/// Variables in the steps of references.
const STEPS: VarScan = VarScan {
    skip_ref_heads: true,
    ..ALL
};

/// All variables, none skipped.
const ALL: VarScan = VarScan {
    skip_ref_heads: false,
    skip_call_heads: false,
    skip_object_keys: false,
    skip_sets: false,
    skip_closures: false,
    skip_implicit_bodies: false,
    skip_with_targets: false,
    skip_templates: false,
};

/// Variables that occur in bodies.
type BodyNames<'b> = SmallMap<&'b Name, ()>;

struct KeyedSearch<'s, 'c, 'b> {
    functions: CallableFunctions<'c>,
    keyed: &'s mut Keyed,
    /// Variables of the preceding expressions, possibly without documents.
    before: BodyNames<'b>,
}

impl<'s, 'c, 'b> KeyedSearch<'s, 'c, 'b> {
    fn new(functions: CallableFunctions<'c>, keyed: &'s mut Keyed) -> Self {
        Self {
            functions,
            keyed,
            before: BodyNames::default(),
        }
    }

    /// Analyses a body, then the bodies within it.
    fn body(&mut self, body: &'b Body) {
        for expr in body {
            if let Some((term, comprehension)) = comprehension_of(expr)
                && let Some(key) = self.key(comprehension)
            {
                self.keyed.insert(term, key);
            }
            OWN.each(expr, |_, name| {
                self.before.insert(name, ());
            });
        }
        stack::level(|| body.walk(&mut InnerBodies(self)));
    }

    fn key(&self, comprehension: &Comprehension) -> Option<ComprehensionSearch> {
        let is_shared = |name: &Name| self.before.contains(&name) && !is_root(name);
        // most share nothing
        if !ALL.any(&comprehension.body, is_shared) {
            return None;
        }
        let mut safe = SafeVars::new(self.functions, &BTreeSet::new());
        let mut bound: BTreeSet<Name> = BTreeSet::new();
        for expr in &comprehension.body {
            bound.extend(safe.outputs(expr));
            safe.add(expr);
            // a negated test may use a variable that is bound after it; the test then holds for no value
            let is_test = expr.negated && equation(expr).is_some();
            // by the order of the body, the variables of each expression have values
            let shares_more = || ALL.any(expr, |name| is_shared(name) && !bound.contains(name));
            if !is_test && (!safe.missing(std::slice::from_ref(expr)).is_empty() || shares_more()) {
                return None;
            }
        }
        if !safe.missing(&comprehension.body).is_empty() {
            return None;
        }
        let mut steps = StepCheck {
            before: &self.before,
            names: BTreeSet::new(),
            wide: false,
        };
        comprehension.body.walk(&mut steps);
        let shared = bound.iter().filter(|name| is_shared(name));
        let shared: Box<[Name]> = shared.cloned().collect();
        if steps.wide || shared.is_empty() {
            return None;
        }
        let mut head: BTreeSet<Name> = BTreeSet::new();
        for term in comprehension.key.iter().chain([&comprehension.head]) {
            ALL.collect(term, &mut head);
        }
        let key_vars = head.intersection(&bound).cloned().collect();
        Some(ComprehensionSearch {
            shared,
            made: key_vars,
        })
    }
}

fn is_root(name: &Name) -> bool {
    matches!(&**name, "data" | "input")
}

/// Returns the comprehension of an equation of a variable and a comprehension.
fn comprehension_of(expr: &Expr) -> Option<(&Term, &Comprehension)> {
    if expr.negated || !expr.with.is_empty() {
        return None;
    }
    let (left, right) = equation(expr)?;
    let term = match (left.as_var(), right.as_var()) {
        (Some(_), None) => right,
        (None, Some(_)) => left,
        _ => return None,
    };
    match &term.kind {
        TermKind::ArrayComprehension(comprehension)
        | TermKind::SetComprehension(comprehension)
        | TermKind::ObjectComprehension(comprehension) => Some((term, comprehension)),
        _ => None,
    }
}

/// Visits the bodies within a body.
struct InnerBodies<'i, 's, 'c, 'b>(&'i mut KeyedSearch<'s, 'c, 'b>);

impl<'a> Visitor<'a> for InnerBodies<'_, '_, '_, 'a> {
    fn term(&mut self, term: &'a Term) -> Descent {
        match &term.kind {
            TermKind::ArrayComprehension(comprehension)
            | TermKind::SetComprehension(comprehension)
            | TermKind::ObjectComprehension(comprehension) => {
                comprehension.key.walk(self);
                comprehension.head.walk(self);
                self.0.body(&comprehension.body);
                Descent::Over
            }
            _ => Descent::Into,
        }
    }

    fn expr(&mut self, expr: &'a Expr) -> Descent {
        match &expr.kind {
            ExprKind::Every(every) => {
                every.domain.walk(self);
                self.0.body(&every.body);
            }
            ExprKind::Not(not) => self.0.body(&not.body),
            ExprKind::And(pair) | ExprKind::Or(pair) => {
                self.0.body(&pair.lhs);
                self.0.body(&pair.rhs);
            }
            _ => return Descent::Into,
        }
        expr.with.walk(self);
        Descent::Over
    }
}

/// Visitor that finds uses of shared variables for which an unbound variable would enumerate more: in a step of a
/// reference, in the result of `walk`, or within another comprehension.
struct StepCheck<'s, 'b> {
    before: &'s BodyNames<'b>,
    names: BTreeSet<Name>,
    wide: bool,
}

impl StepCheck<'_, '_> {
    fn is_before(&self, name: &Name) -> bool {
        self.before.contains(&name) || is_root(name)
    }

    fn open(&mut self, scan: VarScan, term: &Term) {
        let open = |name: &Name| self.is_before(name) && !self.names.contains(name);
        self.wide = self.wide || scan.any(term, open);
    }
}

impl<'a> Visitor<'a> for StepCheck<'_, '_> {
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        if let Some([_, output, ..]) = expr.operands_of("walk") {
            self.open(ALL, output);
        }
        Descent::Into
    }

    fn term(&mut self, term: &'a Term) -> Descent {
        match &term.kind {
            TermKind::Ref(_) => self.open(STEPS, term),
            TermKind::Var(name) => {
                self.names.insert(name.clone());
            }
            TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_) => {
                self.wide = self.wide || STEPS.any(term, |name| self.is_before(name));
                return Descent::Over;
            }
            _ => {}
        }
        Descent::Into
    }
}
