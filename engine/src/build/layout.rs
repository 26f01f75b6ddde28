//! The layout of policies that the optimiser makes.

use solon_syntax::ast::visit::{Descent, VisitorMut, WalkMut};
use solon_syntax::ast::{Expr, ExprKind, Module, Term, TermKind, With};
use solon_syntax::source::Span;

use crate::partial::wildcards::name_repeated;

/// Prepares a module for the formatter: parts without a source are on the first row, as in OPA, and variables of wildcards that occur
/// more than once get a name.
pub fn prepare(module: &mut Module) {
    name_repeated(module);
    for rule in &mut module.rules {
        first_row(&mut rule.span);
        first_row(&mut rule.head.span);
    }
    module.rules.walk_mut(&mut ModuleLayout);
}

struct ModuleLayout;

fn first_row(span: &mut Span) {
    span.row = span.row.max(1);
}

impl VisitorMut for ModuleLayout {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        first_row(&mut expr.span);
        Descent::Into
    }

    fn with(&mut self, with: &mut With) -> Descent {
        first_row(&mut with.span);
        Descent::Into
    }

    fn term(&mut self, term: &mut Term) -> Descent {
        first_row(&mut term.span);
        // the body stays where it was
        if let TermKind::ArrayComprehension(comprehension)
        | TermKind::SetComprehension(comprehension) = &mut term.kind
        {
            for span in [&mut term.span, &mut comprehension.head.span] {
                *span = Span::default();
                first_row(span);
            }
        }
        Descent::Into
    }
}

/// Returns `true` if a text was read as the rules that it was written of.
pub fn is_same(module: &Module, reparsed: &Module) -> bool {
    let plain = |module: &Module| {
        let mut rules = module.rules.clone();
        rules.walk_mut(&mut Normalizer);
        for rule in &mut rules {
            let head = &mut rule.head;
            (head.assign, head.generated_value) = (false, false);
            if head.value.is_some() {
                head.key = None;
            }
        }
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        rules
    };
    plain(module) == plain(reparsed)
}

/// Brings rules into one form: wildcards have one name, and a call with a result is an equation.
struct Normalizer;

impl VisitorMut for Normalizer {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        if let ExprKind::Call(terms) = &mut expr.kind
            && terms.len() == 4
            && terms.first().is_some_and(is_infix)
            && let Some(result) = terms.pop()
        {
            let call = Term::call(std::mem::take(terms), expr.span);
            let equals = Term::var("eq", expr.span);
            let equals = Term::new(TermKind::Ref(vec![equals]), expr.span);
            *terms = vec![equals, result, call];
        }
        Descent::Into
    }

    fn term(&mut self, term: &mut Term) -> Descent {
        if let TermKind::Var(name) = &mut term.kind
            && name.starts_with('$')
        {
            *name = "$".into();
        }
        Descent::Into
    }
}

fn is_infix(operator: &Term) -> bool {
    const NAMES: [&str; 13] = [
        "equal", "neq", "lt", "lte", "gt", "gte", "plus", "minus", "mul", "div", "rem", "and", "or",
    ];
    NAMES.iter().any(|name| operator.is_operator(name))
}
