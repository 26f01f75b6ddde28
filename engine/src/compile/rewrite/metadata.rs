//! RewriteRegoMetadataCalls: rules read what METADATA blocks say of them from a local.
//!
//! `rego.metadata.rule()` becomes `x`, with `x = {"scope": "rule", …}` in front of its body.

use std::sync::Arc;

use serde_json::Value;
use solon_syntax::ast::visit::{Exprs, Flow, Walk};
use solon_syntax::ast::{Annotation, Body, Expr, ExprKind, Rule, SchemaTarget, Term, TermKind};
use solon_syntax::source::Span;

use super::{each_branch_of, hoist, nested_bodies, number};
use crate::compile::Compilation;
use crate::compile::annotations::{Link, of_rule};

const CHAIN: &str = "rego.metadata.chain";
const RULE: &str = "rego.metadata.rule";

/// Gives the rules that ask for their metadata a local that holds it.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let Compilation {
        modules,
        annotations,
        locals,
        ..
    } = compilation;
    for module in modules {
        let package = &module.package.path;
        for rule in &mut module.rules {
            each_branch_of(rule, |rule| {
                let chain = first_call(rule, CHAIN).map(|span| {
                    let mut term = chain_term(annotations.chain(package, rule), span);
                    let binding = hoist(locals, &mut term);
                    (term, binding)
                });
                let own = first_call(rule, RULE).map(|span| {
                    let nearest = of_rule(rule).min_by_key(|block| block.span);
                    let mut term = match nearest {
                        Some(block) => annotation_term(block, span),
                        None => Term::new(TermKind::Object(Vec::new()), span),
                    };
                    let binding = hoist(locals, &mut term);
                    (term, binding)
                });
                if chain.is_none() && own.is_none() {
                    return;
                }
                let (chain, chain_binding) = chain.unzip();
                let (own, own_binding) = own.unzip();
                let bindings = chain_binding.into_iter().chain(own_binding);
                rule.body.splice(..0, bindings);
                let mut replace = |body: &mut Body| replace(body, chain.as_ref(), own.as_ref());
                nested_bodies(&mut rule.head, &mut replace);
                replace(&mut rule.body);
            });
        }
    }
}

/// Place of the first call of a function in a rule and its `else`s.
fn first_call(rule: &Rule, name: &str) -> Option<Span> {
    let mut found = None;
    rule.walk(&mut Exprs(|expr: &Expr| {
        if found.is_none() && expr.operands_of(name).is_some() {
            found = Some(expr.span);
        }
        if found.is_some() {
            Flow::Over
        } else {
            Flow::Into
        }
    }));
    found
}

/// Puts the locals in the place of the calls.
fn replace(body: &mut Body, chain: Option<&Term>, own: Option<&Term>) {
    for expr in body.iter_mut() {
        let local = match (expr.operands_of(CHAIN), expr.operands_of(RULE)) {
            (Some(operands), _) => chain.map(|local| (operands, local)),
            (_, Some(operands)) => own.map(|local| (operands, local)),
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
    nested_bodies(body, |body| replace(body, chain, own));
}

fn chain_term(chain: Vec<Link>, span: Span) -> Term {
    let links = chain.into_iter().map(|link| {
        let path = link
            .path
            .into_iter()
            .skip(1)
            .map(|step| match step.as_var() {
                Some(name) => Term::string(name.clone(), span),
                None => step,
            });
        let path = Term::new(TermKind::Array(path.collect()), span);
        let mut pairs = vec![(Term::string("path", span), path)];
        if let Some(block) = link.annotation {
            pairs.push((
                Term::string("annotations", span),
                annotation_term(&block, span),
            ));
        }
        Term::new(TermKind::Object(pairs), span)
    });
    Term::new(TermKind::Array(links.collect()), span)
}

/// What a block says, without empty fields.
fn annotation_term(block: &Annotation, span: Span) -> Term {
    let text = |text: &Arc<str>| Term::string(text.clone(), span);
    let list = |terms: Vec<Term>| Term::new(TermKind::Array(terms), span);
    let mut object = Object {
        pairs: Vec::new(),
        span,
    };
    object.insert("scope", Term::string(block.scope.as_str(), span));
    object.insert_some("title", block.title.as_ref().map(text));
    object.insert_some("description", block.description.as_ref().map(text));
    if block.entrypoint {
        object.insert("entrypoint", Term::new(TermKind::Boolean(true), span));
    }
    if !block.organizations.is_empty() {
        object.insert(
            "organizations",
            list(block.organizations.iter().map(text).collect()),
        );
    }
    if !block.related_resources.is_empty() {
        let resources = block.related_resources.iter().map(|resource| {
            let fields = [
                ("ref", &resource.reference),
                ("description", &resource.description),
            ];
            named_texts(&fields, span)
        });
        object.insert("related_resources", list(resources.collect()));
    }
    if !block.authors.is_empty() {
        let authors = block.authors.iter();
        let authors = authors
            .map(|author| named_texts(&[("name", &author.name), ("email", &author.email)], span));
        object.insert("authors", list(authors.collect()));
    }
    if !block.schemas.is_empty() {
        let schemas = block.schemas.iter().map(|schema| {
            let mut pairs = Object {
                pairs: Vec::new(),
                span,
            };
            pairs.insert(
                "path",
                list(
                    schema
                        .path
                        .iter()
                        .map(|step| step_text(step, span))
                        .collect(),
                ),
            );
            match &schema.schema {
                SchemaTarget::Reference(path) => {
                    pairs.insert(
                        "schema",
                        list(path.iter().map(|step| step_text(step, span)).collect()),
                    );
                }
                SchemaTarget::Inline(value) => pairs.insert("definition", json_term(value, span)),
            }
            pairs.finish()
        });
        object.insert("schemas", list(schemas.collect()));
    }
    for (name, map) in [("custom", &block.custom), ("labels", &block.labels)] {
        if let Some(map) = map.as_ref().filter(|map| !map.is_empty()) {
            object.insert(name, map_term(map, span));
        }
    }
    object.finish()
}

/// An object under construction.
struct Object {
    pairs: Vec<(Term, Term)>,
    span: Span,
}

impl Object {
    fn insert(&mut self, key: &str, value: Term) {
        self.pairs.push((Term::string(key, self.span), value));
    }

    fn insert_some(&mut self, key: &str, value: Option<Term>) {
        if let Some(value) = value {
            self.insert(key, value);
        }
    }

    fn finish(self) -> Term {
        Term::new(TermKind::Object(self.pairs), self.span)
    }
}

/// An object of texts, without empty ones.
fn named_texts(fields: &[(&str, &Arc<str>)], span: Span) -> Term {
    let mut object = Object {
        pairs: Vec::new(),
        span,
    };
    for (name, text) in fields.iter().filter(|(_, text)| !text.is_empty()) {
        object.insert(name, Term::string(Arc::clone(text), span));
    }
    object.finish()
}

/// A step of a reference as a string.
fn step_text(step: &Term, span: Span) -> Term {
    match step.as_var() {
        Some(name) => Term::string(name.clone(), span),
        None => step.clone(),
    }
}

fn json_term(value: &Value, span: Span) -> Term {
    let kind = match value {
        Value::Null => TermKind::Null,
        Value::Bool(value) => TermKind::Boolean(*value),
        Value::Number(number) => TermKind::Number(number.to_string().into()),
        Value::String(text) => TermKind::String(text.as_str().into()),
        Value::Array(values) => {
            TermKind::Array(values.iter().map(|value| json_term(value, span)).collect())
        }
        Value::Object(map) => return map_term(map, span),
    };
    Term::new(kind, span)
}

fn map_term(map: &serde_json::Map<String, Value>, span: Span) -> Term {
    let pairs = map
        .iter()
        .map(|(key, value)| (Term::string(key.as_str(), span), json_term(value, span)));
    Term::new(TermKind::Object(pairs.collect()), span)
}
