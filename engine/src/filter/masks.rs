//! Column masks: values that the policy shows instead of the actual ones.

use solon_syntax::ast::{Body, Name, Ref, Term, TermKind};
use solon_syntax::source::Span;

use super::rejection::Rejection;
use crate::partial::Residuals;
use crate::program::constant;
use crate::value::Value;

/// Returns the masks of a rule; `None` if there are none. `left` are the residuals of the query `<rule> = <name>`.
///
/// # Errors
///
/// A rejection if the masks depend on the row.
pub fn masks(left: &Residuals, name: &Name, rule: &Ref) -> Result<Option<Value>, Rejection> {
    let shown = Term::new(TermKind::Ref(rule.clone()), Span::default());
    let value = match left.queries.as_slice() {
        [] => return Ok(None),
        [one] if left.support.is_empty() && left.choices.is_empty() => value_of(one, name),
        _ => None,
    };
    let Some(value) = value else {
        let places = left.support.iter().flat_map(|module| &module.rules);
        let bodies = left.queries.iter().chain(places.map(|rule| &rule.body));
        let dependent = bodies
            .flatten()
            .find(|expr| !expr.generated && expr.span.is_somewhere());
        let place = dependent.map_or(Span::default(), |expr| expr.span);
        let message = format!("mask rule {shown} depends on the row");
        return Err(Rejection::new(message, place).about(rule));
    };
    match value.as_object() {
        None => Err(Rejection::new(
            format!("mask rule {shown} is not an object"),
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
pub fn together(all: Vec<(&Ref, Value)>) -> Result<Option<Value>, Rejection> {
    let mut rules = all.into_iter();
    let Some((_, first)) = rules.next() else {
        return Ok(None);
    };
    let mut made = first;
    for (rule, more) in rules {
        made = merged(&made, &more, 0).map_err(|name| {
            let shown = Term::new(TermKind::Ref(rule.clone()), Span::default());
            let message = format!("mask rule {shown} has another mask for {name}");
            Rejection::new(message, Span::default()).about(rule)
        })?;
    }
    Ok(Some(made))
}

/// Merges objects of tables and of columns. Returns the name of a conflicting entry as the error.
fn merged(one: &Value, other: &Value, depth: usize) -> Result<Value, String> {
    let (Some(first), Some(second), true) = (one.as_object(), other.as_object(), depth < 2) else {
        return if one == other {
            Ok(one.clone())
        } else {
            Err(String::new())
        };
    };
    let mut pairs: Vec<(Value, Value)> = Vec::new();
    for (key, value) in first.iter() {
        let shared = second.get(key.borrow());
        let value = match shared {
            None => value.clone(),
            Some(other) => merged(value, other, depth + 1).map_err(|below| {
                let key = key.as_str().unwrap_or_default();
                let point = if below.is_empty() { "" } else { "." };
                format!("{key}{point}{below}")
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
    let [one] = body.as_slice() else { return None };
    if one.negated || !one.with.is_empty() {
        return None;
    }
    let [left, right] = one.operands_of("eq")? else {
        return None;
    };
    match (left.as_var(), right.as_var()) {
        (Some(var), _) if var == name => constant(right),
        (_, Some(var)) if var == name => constant(left),
        _ => None,
    }
}
