//! Copy propagation: equations that only give something another name are dropped, and what has that name is
//! replaced.

use std::collections::{BTreeMap, BTreeSet};

use solon_syntax::ast::visit::{Flow, Terms, Visitor, VisitorMut, Walk, WalkMut};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, Ref, Term, TermKind, With};
use solon_syntax::source::Span;

use super::Simplification;
use super::sets::{Sets, is_constant, plain_equation, variable};
use crate::compile::functions::Functions;
use crate::compile::safety::Reach;
use crate::limits;

/// How names begin that are made for what is only asked for.
const GENERATED: &str = "__localcp";

/// An equivalent body of fewer variables, in which the live ones stay.
pub fn simplify(context: &Simplification<'_>, body: Body, live: &BTreeSet<Name>) -> Body {
    if body.len() > limits::SIMPLIFIED {
        return body;
    }
    let Some(sets) = Sets::of(&body, live) else {
        return body;
    };
    let functions = Functions::new(context.options, &context.compiled.rule_tree);
    let mut pass = Propagation {
        functions,
        live,
        sets,
        heads: BTreeSet::new(),
        dropped: BTreeMap::new(),
        negated: false,
        names: 0,
        left: limits::SIMPLIFIED_TERMS,
    };
    pass.run(&body).unwrap_or(body)
}

struct Propagation<'c> {
    functions: Functions<'c>,
    live: &'c BTreeSet<Name>,
    sets: Sets,
    /// The variables that references begin with.
    heads: BTreeSet<Name>,
    /// What variables stand for whose equations were dropped.
    dropped: BTreeMap<Name, Term>,
    /// Whether what is being rewritten is negated.
    negated: bool,
    names: usize,
    /// How many terms variables may still be replaced by.
    left: usize,
}

impl Propagation<'_> {
    fn run(&mut self, body: &[Expr]) -> Option<Body> {
        self.note_heads(body);
        let mut result = Body::new();
        for expr in body {
            let mut expr = expr.clone();
            self.negated = expr.negated;
            expr.walk_mut(self);
            // what is dropped is put elsewhere, so it may not nest much deeper there
            if self.left == 0 || nests_deeper(&expr, limits::NESTING / 2) {
                return None;
            }
            if self.is_kept(&expr) {
                result.push(expr);
            }
        }
        self.bind_live(&mut result);
        self.restore(&mut result).then_some(result)
    }

    /// A variable that is looked into may not become a constant.
    fn note_heads(&mut self, body: &[Expr]) {
        let mut heads = Vec::new();
        body.walk(&mut Terms(|term: &Term| {
            if let TermKind::Ref(terms) = &term.kind {
                heads.extend(terms.first().and_then(variable).cloned());
            }
            Flow::Into
        }));
        for name in heads {
            let root = self.sets.root(&name).cloned();
            if let Some(root) = &root {
                self.sets.forget(root);
            }
            self.heads.insert(root.unwrap_or(name));
        }
    }

    /// What a variable is replaced by.
    fn replacement(&self, name: &Name) -> Option<Term> {
        let root = self.sets.root(name);
        if let Some(constant) = root.and_then(|root| self.sets.constant(root)) {
            return Some(constant.clone());
        }
        let name = root.unwrap_or(name);
        let renamed = root.map(|root| Term::var(root.clone(), Span::default()));
        match self.dropped.get(name) {
            Some(value) if (!self.negated || is_ground(value)) && !mentions(value, name) => {
                Some(value.clone())
            }
            _ => renamed,
        }
    }

    /// Whether there are terms left to be replaced by; without, all replacing is in vain.
    fn spend(&mut self, value: &Term) -> bool {
        let mut size = 0_usize;
        value.walk(&mut Terms(|_: &Term| {
            size += 1;
            Flow::Into
        }));
        self.left = self.left.saturating_sub(size);
        self.left > 0
    }

    /// A reference whose head is replaced goes on where that ends.
    fn rebase(&mut self, terms: &mut Ref) {
        let Some(name) = terms.first().and_then(variable) else {
            return;
        };
        let Some(base) = self.replacement(name) else {
            return;
        };
        if !self.spend(&base) {
            return;
        }
        match base.kind {
            TermKind::Ref(mut base) => {
                base.extend(terms.drain(1..));
                *terms = base;
            }
            kind => {
                if let Some(head) = terms.first_mut() {
                    head.kind = kind;
                }
            }
        }
    }

    /// Whether an expression stays; what it names is remembered otherwise.
    fn is_kept(&mut self, expr: &Expr) -> bool {
        if expr.negated || !expr.with.is_empty() {
            return true;
        }
        if let Some([left, right]) = plain_equation(expr) {
            if left == right {
                if self.looks_into_live(left) {
                    let name = format!("{GENERATED}{}__", self.names);
                    self.names += 1;
                    self.dropped.insert(name.into(), left.clone());
                }
                return false;
            }
            return !(self.drop_equation(left, right) || self.drop_equation(right, left));
        }
        match &expr.kind {
            ExprKind::Call(terms) => {
                if let Some((output, call)) = terms.split_last()
                    && let Some(operator) = call.first()
                    && self.functions.arity(operator) == Some(call.len() - 1)
                    && let Some(name) = variable(output)
                    && !self.live.contains(name)
                    && !self.heads.contains(name)
                {
                    let call = Term::new(TermKind::Call(call.to_vec()), expr.span);
                    return !self.drop_as(name, call);
                }
                match expr.operands_of("equal") {
                    Some([left, right]) => left != right,
                    Some([left, right, holds]) => {
                        left != right || !matches!(holds.kind, TermKind::Boolean(true))
                    }
                    _ => true,
                }
            }
            ExprKind::Term(term) => {
                !is_constant(term) || matches!(term.kind, TermKind::Boolean(false))
            }
            _ => true,
        }
    }

    fn looks_into_live(&self, term: &Term) -> bool {
        let head = match &term.kind {
            TermKind::Ref(terms) => terms.first().and_then(Term::as_var),
            TermKind::Var(name) if variable(term).is_none() => Some(name),
            _ => None,
        };
        head.is_some_and(|name| self.live.contains(name))
    }

    fn drop_equation(&mut self, name: &Term, value: &Term) -> bool {
        let Some(name) = variable(name) else {
            return false;
        };
        let looked_up = matches!(value.kind, TermKind::Ref(_) | TermKind::Call(_))
            || value.as_var().is_some() && variable(value).is_none();
        !self.live.contains(name) && looked_up && self.drop_as(name, value.clone())
    }

    /// Remembers what a variable stands for.
    fn drop_as(&mut self, name: &Name, value: Term) -> bool {
        if self.dropped.contains_key(name) {
            return false;
        }
        self.dropped.insert(name.clone(), value);
        true
    }

    /// Gives live variables their values, if another variable stands for them.
    fn bind_live(&self, result: &mut Body) {
        for name in self.live {
            let Some(root) = self.sets.root(name) else {
                continue;
            };
            let value = self.sets.constant(root).or_else(|| self.dropped.get(root));
            let value = match value {
                Some(value) => value.clone(),
                None if root != name => Term::var(root.clone(), Span::default()),
                None => continue,
            };
            result.push(equation(name, value));
        }
    }

    /// Puts back dropped equations without which a variable has no value, or something is no longer asked for.
    /// Whether all variables have values then.
    fn restore(&self, result: &mut Body) -> bool {
        let mut safety = Reach::new(self.functions, self.live);
        for expr in result.iter() {
            safety.add(expr);
        }
        let mut missing = safety.missing(result);
        // what the policy has names for comes first
        let generated = |name: &Name| name.starts_with(GENERATED);
        let named = self
            .dropped
            .iter()
            .rev()
            .filter(|(name, _)| !generated(name));
        let unnamed = self
            .dropped
            .iter()
            .rev()
            .filter(|(name, _)| generated(name));
        for (name, value) in named.chain(unnamed) {
            let equation = equation(name, value.clone());
            let before = missing.len();
            let outputs = safety.outputs(&equation);
            missing.retain(|name| !outputs.contains(name));
            let asked = is_document(value) || is_asked(value, result);
            if missing.len() < before || !asked || names(result, name) {
                result.push(equation);
                safety.add_names(outputs);
            }
        }
        missing.is_empty()
    }
}

impl VisitorMut for Propagation<'_> {
    fn expr(&mut self, expr: &mut Expr) -> Flow {
        // operators stay
        match &mut expr.kind {
            ExprKind::Call(terms) => {
                terms.get_mut(1..).unwrap_or_default().walk_mut(self);
            }
            kind => kind.walk_mut(self),
        }
        expr.with.walk_mut(self);
        Flow::Over
    }

    fn with(&mut self, with: &mut With) -> Flow {
        with.value.walk_mut(self);
        Flow::Over
    }

    fn term(&mut self, term: &mut Term) -> Flow {
        match &mut term.kind {
            TermKind::Var(_) => {
                let Some(name) = variable(term) else {
                    return Flow::Over;
                };
                let Some(value) = self.replacement(name) else {
                    return Flow::Over;
                };
                if !self.spend(&value) {
                    return Flow::Over;
                }
                let same = variable(&value) == Some(name);
                *term = value;
                if same || variable(term).is_some() {
                    return Flow::Over;
                }
                // what is put in may speak of what was dropped since
                self.parts(term);
            }
            TermKind::Ref(_) | TermKind::Call(_) => self.parts(term),
            _ => return Flow::Into,
        }
        Flow::Over
    }
}

impl Propagation<'_> {
    fn parts(&mut self, term: &mut Term) {
        match &mut term.kind {
            TermKind::Ref(terms) => {
                self.rebase(terms);
                let skip = usize::from(terms.first().is_some_and(|head| head.as_var().is_some()));
                terms.get_mut(skip..).unwrap_or_default().walk_mut(self);
            }
            TermKind::Call(terms) => terms.get_mut(1..).unwrap_or_default().walk_mut(self),
            _ => {}
        }
    }
}

fn equation(name: &Name, value: Term) -> Expr {
    let operands = vec![Term::var(name.clone(), Span::default()), value];
    Expr {
        generated: false,
        ..Expr::generated_call("eq", operands, Span::default())
    }
}

/// Whether terms stand within one another more than so many times.
fn nests_deeper(expr: &Expr, levels: usize) -> bool {
    struct Depth {
        left: usize,
        exceeded: bool,
    }
    impl<'a> Visitor<'a> for Depth {
        fn term(&mut self, term: &'a Term) -> Flow {
            if self.left == 0 {
                self.exceeded = true;
            }
            if self.exceeded {
                return Flow::Over;
            }
            self.left -= 1;
            match &term.kind {
                TermKind::Ref(terms)
                | TermKind::Call(terms)
                | TermKind::Array(terms)
                | TermKind::Set(terms) => terms.walk(self),
                TermKind::Object(pairs) => pairs.walk(self),
                TermKind::ArrayComprehension(inside)
                | TermKind::SetComprehension(inside)
                | TermKind::ObjectComprehension(inside) => inside.walk(self),
                _ => {}
            }
            self.left += 1;
            Flow::Over
        }
    }
    let mut depth = Depth {
        left: levels,
        exceeded: false,
    };
    expr.walk(&mut depth);
    depth.exceeded
}

/// Whether a body still speaks of a variable.
fn names(body: &Body, name: &Name) -> bool {
    solon_syntax::ast::VarScan::default().any(body, |other| other == name)
}

/// Whether a term speaks of a variable.
fn mentions(value: &Term, name: &Name) -> bool {
    solon_syntax::ast::VarScan::default().any(value, |other| other == name)
}

/// Whether a term is a whole document.
fn is_document(value: &Term) -> bool {
    value.as_var().is_some() && variable(value).is_none()
}

/// Whether a reference or a call has no variables, the head of the reference apart.
fn is_ground(term: &Term) -> bool {
    let parts = match &term.kind {
        TermKind::Ref(terms) | TermKind::Call(terms) => terms.get(1..).unwrap_or(&[]),
        _ => std::slice::from_ref(term),
    };
    !solon_syntax::ast::VarScan::default().any(parts, |name| !matches!(&**name, "data" | "input"))
}

/// Whether a body asks for a term anyway, closures apart. What is undefined in a negated equation makes it hold, so
/// that does not ask.
fn is_asked(value: &Term, body: &[Expr]) -> bool {
    struct Asked<'v>(&'v Term, bool);
    impl<'a> Visitor<'a> for Asked<'_> {
        fn expr(&mut self, expr: &'a Expr) -> Flow {
            match &expr.kind {
                ExprKind::Term(_) if expr.negated => Flow::Over,
                ExprKind::Call(_) if expr.negated && expr.operands_of("eq").is_some() => Flow::Over,
                ExprKind::Every(every) => {
                    every.domain.walk(self);
                    expr.with.walk(self);
                    Flow::Over
                }
                _ => Flow::Into,
            }
        }

        fn term(&mut self, term: &'a Term) -> Flow {
            let Self(value, found) = self;
            if *found {
                return Flow::Over;
            }
            match (&term.kind, &value.kind) {
                (
                    TermKind::ArrayComprehension(_)
                    | TermKind::SetComprehension(_)
                    | TermKind::ObjectComprehension(_),
                    _,
                ) => return Flow::Over,
                (TermKind::Ref(terms), TermKind::Ref(prefix)) => *found = terms.starts_with(prefix),
                (TermKind::Ref(terms), TermKind::Var(_)) => *found = terms.first() == Some(*value),
                _ => *found = term == *value,
            }
            Flow::Into
        }
    }
    let mut asked = Asked(value, false);
    body.walk(&mut asked);
    asked.1
}
