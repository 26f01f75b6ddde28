//! Restoration of source terms for messages: generated locals are replaced by the terms that they were generated for.

use hashbrown::{HashMap, HashSet};

use solon_syntax::ast::visit::{Descent, Exprs, Terms, VisitorMut, Walk, WalkMut};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, Ref, Term, TermKind};

use crate::compile::locals::Locals;
use crate::compile::rewrite::{comprehension, truth};
use crate::limits;

/// Built-ins whose operand is a list of comprehensions; an empty comprehension means that a value is undefined.
const WITH_CLOSURES: [&str; 2] = ["internal.template_string", "internal.print"];

/// Terms that the generated locals of one rule or query replace.
pub struct Originals<'a> {
    locals: &'a Locals,
    terms: HashMap<&'a Name, Original<'a>>,
    /// Locals that are heads of references; they replace collections and closures.
    heads: HashSet<&'a Name>,
    /// Locals that comprehensions collect.
    collected: HashSet<&'a Name>,
    /// Locals that stay visible together with the expression that binds them: those collected by the comprehensions of
    /// templates and prints, and those that `every` iterates over.
    visible: HashSet<&'a Name>,
}

#[derive(Clone, Copy)]
enum Original<'a> {
    /// A term that was moved out of another.
    Term(&'a Term),
    /// A call that was moved out, without its output.
    Call(&'a [Term]),
}

impl Original<'_> {
    fn kind(self) -> TermKind {
        match self {
            Self::Term(term) => term.kind.clone(),
            Self::Call(terms) => TermKind::Call(terms.to_vec().into()),
        }
    }
}

/// Context of a term, which determines how far it is restored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TermContext {
    Step,
    /// The head of a reference: expressions that bind locals to references are not restored.
    Head,
    /// A call that is part of a reference: nested calls are restored in place, but not their derived terms.
    Call,
}

impl<'a> Originals<'a> {
    /// Collects the locals that the expressions in a node bind.
    pub fn of_node<N: Walk + ?Sized>(node: &'a N, locals: &'a Locals) -> Self {
        let mut originals = Self {
            locals,
            terms: HashMap::new(),
            heads: HashSet::new(),
            collected: HashSet::new(),
            visible: HashSet::new(),
        };
        node.walk(&mut Exprs(|expr: &'a Expr| {
            originals.note(expr);
            Descent::Into
        }));
        node.walk(&mut Terms(|term: &'a Term| {
            if let TermKind::Ref(terms) = &term.kind {
                let head = terms.first().and_then(Term::as_var);
                originals.heads.extend(head);
            } else {
                originals.collected.extend(collect(term));
            }
            Descent::Into
        }));
        originals
    }

    fn note(&mut self, expr: &'a Expr) {
        if let Some((name, original)) = moved_original(expr, self.locals) {
            self.terms.entry(name).or_insert(original);
        }
        match &expr.kind {
            ExprKind::Every(every) => self.visible.extend(every.domain.as_var()),
            ExprKind::Call(terms) => {
                if let [operator, operand, ..] = terms.as_slice()
                    && WITH_CLOSURES.iter().any(|name| operator.is_operator(name))
                    && let TermKind::Array(parts) = &operand.kind
                {
                    self.visible.extend(parts.iter().flat_map(collect));
                }
            }
            _ => {}
        }
    }

    /// Returns a reference as the user wrote it, except for calls in its collections, which have become expressions.
    pub fn restore(&self, reference: &[Term]) -> Ref {
        let mut reference = reference.to_vec();
        self.restore_steps(&mut reference, TermContext::Step, 0);
        reference
    }

    fn restore_steps(&self, reference: &mut [Term], context: TermContext, depth: usize) {
        for part in reference {
            let name = part.as_var();
            match name.and_then(|name| self.terms.get(name)) {
                Some(call @ Original::Call(_)) => {
                    self.give_back(part, *call, TermContext::Call, depth);
                }
                _ => self.restore_term(part, context, depth),
            }
        }
    }

    fn restore_term(&self, term: &mut Term, context: TermContext, depth: usize) {
        term.walk_mut(&mut Restorer {
            originals: self,
            within: context,
            depth,
        });
    }

    /// Replaces a local by its original term.
    fn give_back(
        &self,
        term: &mut Term,
        original: Original<'_>,
        context: TermContext,
        depth: usize,
    ) {
        term.kind = original.kind();
        if depth < limits::TYPE_NESTING {
            self.restore_term(term, context, depth + 1);
        }
    }

    /// Returns the original of a local, if it is to be restored in this context.
    fn original(&self, name: &Name, context: TermContext) -> Option<Original<'a>> {
        let original = *self.terms.get(name)?;
        let gives_way = match original {
            Original::Term(_) => self.gives_way(name, context),
            Original::Call(_) => context == TermContext::Call,
        };
        gives_way.then_some(original)
    }

    fn gives_way(&self, name: &Name, context: TermContext) -> bool {
        !self.visible.contains(name)
            && (context > TermContext::Step || !self.collected.contains(name))
    }
}

/// Visitor that restores original terms.
struct Restorer<'o, 'a> {
    originals: &'o Originals<'a>,
    within: TermContext,
    depth: usize,
}

impl VisitorMut for Restorer<'_, '_> {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        match &mut expr.kind {
            ExprKind::Every(every) => self.drop_moved(&mut every.body),
            ExprKind::Not(not) => self.drop_moved(&mut not.body),
            ExprKind::And(pair) | ExprKind::Or(pair) => {
                self.drop_moved(&mut pair.lhs);
                self.drop_moved(&mut pair.rhs);
            }
            _ => {}
        }
        Descent::Into
    }

    fn term(&mut self, term: &mut Term) -> Descent {
        let Self {
            originals,
            within: context,
            depth,
        } = *self;
        if let TermKind::Ref(reference) = &mut term.kind {
            originals.restore_steps(reference, context, depth);
            return Descent::Over;
        }
        if let Some(closure) = comprehension(term) {
            self.drop_moved(&mut closure.body);
            return Descent::Into;
        }
        let TermKind::Var(name) = &mut term.kind else {
            return Descent::Into;
        };
        let Some(original) = originals.original(name, context) else {
            *name = originals.locals.original(name).clone();
            return Descent::Over;
        };
        let context = if originals.heads.contains(name) {
            context.max(TermContext::Head)
        } else {
            context
        };
        originals.give_back(term, original, context, depth);
        Descent::Over
    }
}

impl Restorer<'_, '_> {
    /// Removes the expressions of a body whose terms were restored.
    fn drop_moved(&self, body: &mut Body) {
        let originals = self.originals;
        let context = self.within;
        let is_back = |expr: &Expr| {
            let Some((name, original)) = moved_original(expr, originals.locals) else {
                return false;
            };
            match context {
                TermContext::Step => false,
                TermContext::Head => {
                    matches!(original, Original::Term(_))
                        && originals.gives_way(name, context)
                        && !originals.heads.contains(name)
                }
                TermContext::Call => originals.gives_way(name, context),
            }
        };
        if body.iter().all(is_back) {
            body.truncate(1);
            if let Some(first) = body.first_mut() {
                *first = truth(first.span);
            }
        } else {
            body.retain(|expr| !is_back(expr));
        }
    }
}

/// Returns the local that a comprehension collects, if any.
fn collect(term: &Term) -> impl Iterator<Item = &Name> {
    let closure = match &term.kind {
        TermKind::ArrayComprehension(closure)
        | TermKind::SetComprehension(closure)
        | TermKind::ObjectComprehension(closure) => Some(closure),
        _ => None,
    };
    let heads = closure
        .into_iter()
        .flat_map(|closure| closure.key.iter().chain([&closure.head]));
    heads.filter_map(Term::as_var)
}

/// Returns the local that an expression binds to a moved term.
fn moved_original<'a>(expr: &'a Expr, locals: &'a Locals) -> Option<(&'a Name, Original<'a>)> {
    let ExprKind::Call(terms) = &expr.kind else {
        return None;
    };
    let unnamed = |term: &'a Term| {
        let name = term.as_var()?;
        let generated = name.starts_with(Locals::MODULES) && locals.original(name) == name;
        generated.then_some(name)
    };
    if !expr.generated {
        return None;
    }
    if let Some([left, right]) = expr.operands_of("eq") {
        let call = right.as_var().and_then(|name| locals.calls.get(name));
        let original = match call {
            Some(call) => Original::Call(call),
            None => Original::Term(right),
        };
        return unnamed(left).map(|name| (name, original));
    }
    let (output, call) = terms.split_last()?;
    unnamed(output).map(|name| (name, Original::Call(call)))
}
