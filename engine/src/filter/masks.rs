//! Column masks: values that the policy shows instead of the actual ones.

use solon_syntax::ast::{Body, Name, Ref, Term, TermKind};
use solon_syntax::source::Span;

use super::rejection::Rejection;
use crate::partial::Residuals;
use crate::program::constant;
use crate::value::Value;

/// Returns the masks of a rule; `None` if there are none. `residuals` are the residuals of the query `<rule> = <name>`.
///
/// # Errors
///
/// A rejection if the masks depend on the row.
pub fn masks(residuals: &Residuals, name: &Name, rule: &Ref) -> Result<Option<Value>, Rejection> {
    let rule_text = Term::new(TermKind::Ref(rule.clone()), Span::default());
    let value = match residuals.queries.as_slice() {
        [] => return Ok(None),
        [body] if residuals.support.is_empty() && residuals.choices.is_empty() => {
            value_of(body, name)
        }
        _ => None,
    };
    let Some(value) = value else {
        let rules = residuals.support.iter().flat_map(|module| &module.rules);
        let bodies = residuals.queries.iter().chain(rules.map(|rule| &rule.body));
        let dependent = bodies
            .flatten()
            .find(|expr| !expr.generated && expr.span.is_somewhere());
        let span = dependent.map_or(Span::default(), |expr| expr.span);
        let message = format!("mask rule {rule_text} depends on the row");
        return Err(Rejection::new(message, span).about(rule));
    };
    match value.as_object() {
        None => Err(Rejection::new(
            format!("mask rule {rule_text} is not an object"),
            Span::default(),
        )
        .about(rule)),
        Some(object) if object.is_empty() => Ok(None),
        Some(_) => Ok(Some(value)),
    }
}

/// Merges the masks of several rules.
///
/// # Errors
///
/// A rejection if two rules have different masks for one column, or for something other than a column.
pub fn merge_masks(all: Vec<(&Ref, Value)>) -> Result<Option<Value>, Rejection> {
    let mut rules = all.into_iter();
    let Some((_, first)) = rules.next() else {
        return Ok(None);
    };
    let mut merged_masks = first;
    for (rule, masks) in rules {
        merged_masks = merge(&merged_masks, &masks, 0).map_err(|name| {
            let rule_text = Term::new(TermKind::Ref(rule.clone()), Span::default());
            let message = format!("mask rule {rule_text} has another mask for {name}");
            Rejection::new(message, Span::default()).about(rule)
        })?;
    }
    Ok(Some(merged_masks))
}

/// Merges objects of tables and of columns. Returns the name of a conflicting entry as the error.
fn merge(left: &Value, right: &Value, depth: usize) -> Result<Value, String> {
    let (Some(first), Some(second), true) = (left.as_object(), right.as_object(), depth < 2) else {
        return if left == right {
            Ok(left.clone())
        } else {
            Err(String::new())
        };
    };
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    for (key, value) in first.iter() {
        let shared = second.get(key.borrow());
        let value = match shared {
            None => value.clone(),
            Some(other) => merge(value, other, depth + 1).map_err(|path| {
                let key = key.as_str().unwrap_or_default();
                let point = if path.is_empty() { "" } else { "." };
                format!("{key}{point}{path}")
            })?,
        };
        pairs.push((key.clone(), value));
    }
    let rest = second
        .iter()
        .filter(|(key, _)| first.get(key.borrow()).is_none());
    pairs.extend(rest.map(|(key, value)| (key.clone(), value.clone())));
    Ok(Value::object(pairs))
}

/// Returns the value of a variable in a body that has no other expressions.
fn value_of(body: &Body, name: &Name) -> Option<Value> {
    let [expr] = body.as_slice() else { return None };
    if expr.negated || !expr.with.is_empty() {
        return None;
    }
    let [left, right] = expr.operands_of("eq")? else {
        return None;
    };
    match (left.as_var(), right.as_var()) {
        (Some(var), _) if var == name => constant(right),
        (_, Some(var)) if var == name => constant(left),
        _ => None,
    }
}
