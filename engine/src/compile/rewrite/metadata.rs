//! RewriteRegoMetadataCalls: rules read their annotations from a local.
//!
//! `rego.metadata.rule()` becomes `x`, with `x = {"scope": "rule", …}` before its body.

use serde_json::{Map, Value};
use solon_syntax::ast::visit::{Descent, Exprs, Walk};
use solon_syntax::ast::{Body, Children, Expr, ExprKind, Rule, Term, TermKind};
use solon_syntax::json::{annotation_object, plain_path};
use solon_syntax::source::Span;

use super::{each_branch_of, hoist, nested_bodies, number};
use crate::compile::Compilation;
use crate::compile::annotations::{AnnotatedDocument, of_rule};
use crate::compile::facts::Facts;
use crate::compile::locals::Locals;

/// Function that returns the annotations of a rule and of the documents around it.
pub(crate) const CHAIN: &str = "rego.metadata.chain";

/// Function that returns the annotations of a rule.
pub(crate) const RULE: &str = "rego.metadata.rule";

/// Adds a local with the metadata to each rule that uses it.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let Compilation {
        modules,
        annotations,
        locals,
        ..
    } = compilation;
    if !modules.have(Facts::METADATA) {
        return;
    }
    for module in modules.open_mut() {
        let package = &module.package.path;
        for rule in &mut module.rules {
            each_branch_of(rule, |rule| {
                let chain = first_call(rule, CHAIN).map(|span| {
                    let mut term = chain_term(annotations.chain(package, rule), span);
                    let binding = hoist_call(locals, &mut term, CHAIN);
                    (term, binding)
                });
                let annotation = first_call(rule, RULE).map(|span| {
                    let nearest = of_rule(rule).min_by_key(|block| block.span);
                    let mut term = match nearest {
                        Some(block) => json_term(&annotation_object(block), span),
                        None => Term::new(TermKind::Object(Children::new()), span),
                    };
                    let binding = hoist_call(locals, &mut term, RULE);
                    (term, binding)
                });
                if chain.is_none() && annotation.is_none() {
                    return;
                }
                let (chain, chain_binding) = chain.unzip();
                let (annotation, own_binding) = annotation.unzip();
                let bindings = chain_binding.into_iter().chain(own_binding);
                rule.body.splice(..0, bindings);
                let mut replace =
                    |body: &mut Body| replace(body, chain.as_ref(), annotation.as_ref());
                nested_bodies(&mut rule.head, &mut replace);
                replace(&mut rule.body);
            });
        }
    }
}

/// Moves the result of a call without operands to a local; messages show the call instead of the local.
fn hoist_call(locals: &mut Locals, term: &mut Term, name: &str) -> Expr {
    let binding = hoist(locals, term);
    if let Some(local) = term.as_var() {
        let call = [Term::operator(name, term.span)];
        locals.calls.insert(local.clone(), call);
    }
    binding
}

/// Location of the first call of a function in a rule and its `else` branches.
fn first_call(rule: &Rule, name: &str) -> Option<Span> {
    let mut first = None;
    rule.walk(&mut Exprs(|expr: &Expr| {
        if first.is_none() && expr.operands_of(name).is_some() {
            first = Some(expr.span);
        }
        if first.is_some() {
            Descent::Over
        } else {
            Descent::Into
        }
    }));
    first
}

/// Replaces the calls by the locals.
fn replace(body: &mut Body, chain: Option<&Term>, annotation: Option<&Term>) {
    for expr in body.iter_mut() {
        let local = match (expr.operands_of(CHAIN), expr.operands_of(RULE)) {
            (Some(operands), _) => chain.map(|local| (operands, local)),
            (_, Some(operands)) => annotation.map(|local| (operands, local)),
            _ => None,
        };
        let Some((operands, local)) = local else {
            continue;
        };
        let replaced = match operands {
            [] => Expr {
                generated: true,
                ..Expr::new(ExprKind::Term(local.clone()), expr.span)
            },
            [result, ..] => {
                Expr::generated_call("eq", vec![result.clone(), local.clone()], expr.span)
            }
        };
        *expr = replaced;
    }
    number(body);
    nested_bodies(body, |body| replace(body, chain, annotation));
}

fn chain_term(chain: Vec<AnnotatedDocument>, span: Span) -> Term {
    let links = chain.into_iter().map(|link| {
        let path = plain_path(link.path.get(1..).unwrap_or_default());
        let mut members = Map::from_iter([("path".to_owned(), path)]);
        if let Some(block) = link.annotation {
            members.insert("annotations".to_owned(), annotation_object(&block));
        }
        Value::Object(members)
    });
    json_term(&links.collect(), span)
}

/// Converts a JSON value to a term. All parts have the span.
fn json_term(value: &Value, span: Span) -> Term {
    let kind = match value {
        Value::Null => TermKind::Null,
        Value::Bool(value) => TermKind::Boolean(*value),
        Value::Number(number) => TermKind::Number(number.to_string().into()),
        Value::String(text) => TermKind::String(text.as_str().into()),
        Value::Array(values) => {
            TermKind::Array(values.iter().map(|value| json_term(value, span)).collect())
        }
        Value::Object(members) => {
            let pairs = members
                .iter()
                .map(|(key, value)| (Term::string(key.as_str(), span), json_term(value, span)));
            TermKind::Object(pairs.collect())
        }
    };
    Term::new(kind, span)
}
