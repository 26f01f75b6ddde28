//! Conversion of residuals to tests of columns.
//!
//! Each expression is read once. An expression that cannot be read is rejected with its location, so nothing without a
//! meaning as a test reaches a filter.

use solon_syntax::ast::{Body, Expr, ExprKind, Module, Name, Term, TermKind, VarScan};
use solon_syntax::source::Span;

use super::bare::{as_comparison, is_presence};
use super::column_functions::restrict_to_range;
use super::condition::{
    ColumnTest, ComparisonOperator, FilterCondition, FilterOperand, Operator, Predicate,
};
use super::literals::{constant_result, number_text_test};
use super::operand::{
    MappedNames, OperandContext, Side, as_equation, is_collection, or, side, span_of,
};
use super::rejection::Rejection;
use super::target::{FilterTarget, TargetFeature};
use crate::partial::Residuals;
use crate::value::{Repr, Value};

/// Filter language that conditions are read for.
#[derive(Clone, Copy, Debug)]
pub struct FilterLanguage<'f> {
    /// Targets that must all support the condition.
    pub targets: &'f [FilterTarget],
    pub names: MappedNames<'f>,
    /// Package below `data` for support rules.
    pub namespace: &'f str,
    /// `true` if targets may use more than OPA's language.
    pub extensions: bool,
}

/// Returns the condition that residuals express.
///
/// # Errors
///
/// Every expression that is not a test of a column, or that a target does not support.
pub fn check(
    residuals: &Residuals,
    fragment: FilterLanguage<'_>,
) -> Result<FilterCondition, Vec<Rejection>> {
    let mut rejections = Vec::new();
    let mut bodies = Vec::with_capacity(residuals.queries.len());
    'bodies: for body in &residuals.queries {
        let mut tests = Vec::with_capacity(body.len());
        for expr in body {
            match constant_result(expr) {
                Some(true) => continue,
                Some(false) => continue 'bodies,
                None => {}
            }
            let comparison = as_comparison(expr, fragment.names);
            if is_presence(&comparison, body, fragment.names) {
                continue;
            }
            let expr = &*as_equation(&comparison, fragment.names);
            if let Err(rejection) = statement(expr, &residuals.support, fragment) {
                rejections.push(rejection);
            }
            let ExprKind::Call(_) = &expr.kind else {
                continue;
            };
            if !expr.with.is_empty() {
                continue;
            }
            match allowed(expr, fragment).and_then(|()| self::read(expr, body, fragment.names)) {
                Ok(test) => match require_expressible(&test, fragment) {
                    Ok(()) => tests.push(test),
                    Err(rejection) => rejections.push(rejection),
                },
                Err(rejection) => rejections.push(rejection),
            }
        }
        bodies.push(tests);
    }
    if !rejections.is_empty() {
        let mut distinct: Vec<Rejection> = Vec::with_capacity(rejections.len());
        for rejection in rejections {
            if !distinct.contains(&rejection) {
                distinct.push(rejection);
            }
        }
        return Err(distinct);
    }
    Ok(FilterCondition::any_of(bodies))
}

/// Checks that an expression is of a kind that conditions consist of.
fn statement(
    expr: &Expr,
    support: &[Module],
    fragment: FilterLanguage<'_>,
) -> Result<(), Rejection> {
    let reject = |message: &str| Err(Rejection::new(message, expr.span));
    match &expr.kind {
        ExprKind::Call(_) if expr.negated => {
            require_feature(
                fragment,
                TargetFeature::Not,
                "\"not\" not permitted",
                expr.span,
            )?;
        }
        _ if expr.negated => return reject("\"not\" not permitted"),
        ExprKind::Call(_) => {}
        ExprKind::Every(_) => return reject("\"every\" not permitted"),
        _ => {}
    }
    if !expr.with.is_empty() {
        return reject("\"with\" not permitted");
    }
    match &expr.kind {
        ExprKind::Call(_) => Ok(()),
        ExprKind::Term(term) => Err(bare(term, expr, support, fragment.namespace)),
        _ => reject(&format!("invalid statement \"{expr}\"")),
    }
}

fn bare(term: &Term, expr: &Expr, support: &[Module], namespace: &str) -> Rejection {
    let span = or(span_of(term), expr.span);
    if let TermKind::Ref(terms) = &term.kind
        && terms
            .first()
            .and_then(Term::as_var)
            .is_some_and(|head| &**head == "data")
    {
        let package = terms.get(1).and_then(Term::as_string);
        if package.is_some_and(|name| **name == *namespace) {
            return of_support(terms, support, expr);
        }
        let message = format!("invalid data reference \"{term}\"");
        return Rejection::new(message, span)
            .about(terms)
            .details(format!("has rule \"{term}\" an `else`?"));
    }
    let message = format!("invalid statement \"{term}\"");
    Rejection::new(message, span).details(format!("try `{term} != false`"))
}

/// Returns the rejection of a rule that could not be inlined.
fn of_support(terms: &[Term], support: &[Module], expr: &Expr) -> Rejection {
    let text = |terms: &[Term]| {
        let mut terms = terms.to_vec();
        if terms.len() > 1 {
            terms.remove(1);
        }
        Term::new(TermKind::Ref(terms), Span::default())
    };
    let spans = terms.iter().rev().map(span_of);
    let span = spans.fold(Span::default(), or);
    let span = or(span, expr.span);
    let rules = support.iter().flat_map(|module| {
        module.rules.iter().filter(|rule| {
            let mut steps = module.package.path.iter().chain(&rule.head.reference);
            let names = |step: &Term, term: &Term| match (step.as_var(), term.as_string()) {
                (Some(name), Some(text)) => **name == **text,
                _ => step == term,
            };
            terms
                .iter()
                .all(|term| steps.next().is_none_or(|step| names(step, term)))
        })
    });
    let (defaults, rest): (Vec<_>, Vec<_>) = rules.partition(|rule| rule.default);
    let message = if !defaults.is_empty() {
        format!("use of default rule in {}", text(terms))
    } else if rest.len() > 1 || rest.iter().any(|rule| rule.head.value.is_none()) {
        format!("use of multi-value rule in {}", text(terms))
    } else if !rest.is_empty() {
        format!("rule {} is not inlined", text(terms))
    } else {
        format!("invalid data reference \"{}\"", text(terms))
    };
    let mut document = terms.to_vec();
    if document.len() > 1 {
        document.remove(1);
    }
    Rejection::new(message, span).about(&document)
}

/// Checks that the targets support the built-in of a call.
fn allowed(expr: &Expr, fragment: FilterLanguage<'_>) -> Result<(), Rejection> {
    let ExprKind::Call(terms) = &expr.kind else {
        return Ok(());
    };
    if number_text_test(expr, fragment.names).is_some() {
        return Ok(());
    }
    let Some(head) = terms.first() else {
        return Ok(());
    };
    let span = or(span_of(head), expr.span);
    let name = head.to_string();
    if let TermKind::Ref(path) = &head.kind
        && path
            .first()
            .and_then(Term::as_var)
            .is_some_and(|head| &**head == "data")
    {
        let call = ExprKind::Call(terms.clone()).to_string();
        let message = format!("invalid data reference \"{call}\"");
        return Err(Rejection::new(message, span)
            .details(format!("has function \"{name}(...)\" an `else`?")));
    }
    if name == "internal.member_3" {
        return Err(Rejection::new("invalid use of \"... in ...\"", span));
    }
    let Some(operator) = Operator::from_name(&name) else {
        return Err(Rejection::new(format!("invalid builtin `{name}`"), span));
    };
    let unsupported = fragment
        .targets
        .iter()
        .filter(|target| !target.allows(operator, fragment.extensions));
    let unsupported: Vec<String> = unsupported
        .map(|target| format!("unsupported for {}", target.label()))
        .collect();
    let name_in_message = if operator == Operator::In {
        "in"
    } else {
        name.as_str()
    };
    if unsupported.is_empty() {
        Ok(())
    } else {
        let message = format!(
            "invalid builtin `{name_in_message}`: {}",
            unsupported.join("\n")
        );
        Err(Rejection::new(message, span))
    }
}

/// Reads a call as a test of a column.
///
/// # Errors
///
/// Calls that are not such a test.
pub fn read(expr: &Expr, body: &Body, names: MappedNames<'_>) -> Result<ColumnTest, Rejection> {
    let ExprKind::Call(terms) = &expr.kind else {
        return Err(Rejection::new(
            format!("invalid statement \"{expr}\""),
            expr.span,
        ));
    };
    if let Some(test) = number_text_test(expr, names) {
        return Ok(test);
    }
    let Some((head, operands)) = terms.split_first().filter(|_| expr.with.is_empty()) else {
        return Err(Rejection::new("\"with\" not permitted", expr.span));
    };
    let span = or(span_of(head), expr.span);
    let name = head.to_string();
    let reject = |message: String| Rejection::new(message, span);
    let Some(operator) = Operator::from_name(&name) else {
        return Err(reject(format!("invalid builtin `{name}`")));
    };
    let (left, right) = match operands {
        [left, right] => (left, right),
        [left, right, truth] if matches!(truth.kind, TermKind::Boolean(true)) => (left, right),
        [_, _, rest, ..] => {
            return Err(reject(format!(
                "{name}: value of a comparison used: {rest}"
            )));
        }
        _ => return Err(reject(format!("{name}: missing operand"))),
    };
    let context = OperandContext {
        operator: &name,
        sign: span_of(head),
        expr: expr.span,
    };
    let left = side(left, &context, names)?;
    let right = side(right, &context, names)?;
    if let (Side::Column(..), Side::Var(name)) | (Side::Var(name), Side::Column(..)) =
        (&left, &right)
        && name.starts_with("__localcp")
    {
        // an operand that simplification keeps only to test that it is defined
        let unsupported = operands.iter().find(|operand| operand.as_var().is_none());
        let operand = unsupported.map_or_else(String::new, Term::to_string);
        return Err(reject(format!("invalid statement \"{operand}\"")));
    }
    let unground = || Rejection::new("both rhs and lhs non-scalar/non-ground", span);
    let (column, functions, predicate) = match operator {
        Operator::Compare(comparison) => match (left, right) {
            (Side::Column(column, functions), Side::Column(other, second)) if second.is_empty() => {
                (
                    column,
                    functions,
                    Predicate::Compare(comparison, FilterOperand::Column(other)),
                )
            }
            (Side::Column(column, functions), Side::Value(value)) => {
                let predicate = compare(comparison, value, &unground, span)?;
                (column, functions, predicate)
            }
            (Side::Value(value), Side::Column(column, functions)) => {
                let predicate = compare(comparison.mirrored(), value, &unground, span)?;
                (column, functions, predicate)
            }
            (Side::Column(column, functions), Side::Var(name))
            | (Side::Var(name), Side::Column(column, functions))
                if comparison == ComparisonOperator::Eq && is_alone(&name, body) =>
            {
                (column, functions, Predicate::Present)
            }
            _ => return Err(unground()),
        },
        Operator::In | Operator::Affix(_) => match (operator, left, right) {
            (_, Side::Column(column, functions), Side::Value(value)) => {
                (column, functions, search_predicate(operator, &value, span)?)
            }
            (Operator::Affix(affix), Side::Value(value), Side::Column(column, functions))
                if names.functions && value.utf8().is_some() =>
            {
                let part = Predicate::Part(affix, FilterOperand::Value(value));
                (column, functions, part)
            }
            (
                Operator::Affix(affix),
                Side::Column(other, first),
                Side::Column(column, functions),
            ) if names.functions && first.is_empty() => {
                let part = Predicate::Part(affix, FilterOperand::Column(other));
                (column, functions, part)
            }
            _ => return Err(reject(format!("rhs of {name} must be known"))),
        },
    };
    let predicate = restrict_to_range(&functions, predicate).map_err(reject)?;
    if expr.negated && predicate == Predicate::Present {
        let message = "\"not\" not permitted: existence of field";
        return Err(Rejection::new(message, expr.span));
    }
    Ok(ColumnTest {
        column,
        functions,
        predicate,
        negated: expr.negated,
        span,
    })
}

fn compare(
    comparison: ComparisonOperator,
    value: Value,
    unground: &impl Fn() -> Rejection,
    span: Span,
) -> Result<Predicate, Rejection> {
    match value {
        Value(Repr::Null)
            if !matches!(comparison, ComparisonOperator::Eq | ComparisonOperator::Ne) =>
        {
            Err(Rejection::new(
                "null value can only be used with 'eq' or 'ne' operators",
                span,
            ))
        }
        _ if is_collection(&value) => Err(unground()),
        _ => Ok(Predicate::Compare(comparison, FilterOperand::Value(value))),
    }
}

fn search_predicate(operator: Operator, value: &Value, span: Span) -> Result<Predicate, Rejection> {
    let borrowed = value.borrow();
    match operator {
        Operator::Affix(affix) => match value.utf8() {
            Some(part) => Ok(Predicate::Affix(affix, part.to_owned())),
            None => Err(Rejection::new(
                format!(
                    "'{}' pattern requires string argument, got {borrowed}",
                    affix.word(),
                    borrowed = borrowed.rego_text()
                ),
                span,
            )),
        },
        _ => {
            let items: Vec<Value> = if let Some(items) = borrowed.as_array() {
                items.iter().map(|item| item.to_value()).collect()
            } else if let Some(items) = borrowed.as_set() {
                items.iter().map(|item| item.to_value()).collect()
            } else {
                let message = "field operator 'in' requires collection argument";
                return Err(Rejection::new(message, span));
            };
            Ok(Predicate::In(items))
        }
    }
}

/// Returns `true` if a variable of a policy occurs only once, so that it may have any value.
pub(super) fn is_alone(name: &Name, body: &Body) -> bool {
    let mut times = 0;
    VarScan::default().each(body, |_, other| times += usize::from(other == name));
    times == 1
}

/// Checks that all targets support a test.
fn require_expressible(test: &ColumnTest, fragment: FilterLanguage<'_>) -> Result<(), Rejection> {
    let part = matches!(test.predicate, Predicate::Part(..)).then_some("a column on the right");
    let steps = test.functions.iter();
    for target in fragment.targets {
        let mut unsupported = steps.clone().filter(|step| !step.is_said_by(*target));
        let name = unsupported.next().map(|step| step.word());
        let reason = name.or(part.filter(|_| !target.searches_columns()));
        if let Some(reason) = reason {
            let message = format!("{reason}: unsupported for {}", target.label());
            return Err(Rejection::new(message, test.span));
        }
    }
    match &test.predicate {
        Predicate::Present => require_feature(
            fragment,
            TargetFeature::ExistenceRef,
            "existence of field",
            Span::default(),
        ),
        Predicate::Compare(_, FilterOperand::Column(_)) => require_feature(
            fragment,
            TargetFeature::FieldRef,
            "reference to field",
            test.span,
        ),
        _ => Ok(()),
    }
}

fn require_feature(
    fragment: FilterLanguage<'_>,
    feature: TargetFeature,
    subject: &str,
    span: Span,
) -> Result<(), Rejection> {
    let unsupported = fragment
        .targets
        .iter()
        .filter(|target| !target.has(feature));
    let unsupported: Vec<String> = unsupported
        .map(|target| {
            let (feature_name, label) = (feature.as_str(), target.label());
            format!("unsupported feature \"{feature_name}\" for {label}")
        })
        .collect();
    if unsupported.is_empty() {
        Ok(())
    } else {
        Err(Rejection::new(
            format!("{subject}: {}", unsupported.join("\n")),
            span,
        ))
    }
}
