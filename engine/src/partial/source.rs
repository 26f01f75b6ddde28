//! Residuals as formatted source text: infix operators, one expression per line.

use std::fmt::Write as _;

use solon_syntax::ast::order::{sorted, sorted_pairs};
use solon_syntax::ast::{Body, Comprehension, Expr, ExprKind, Module, Rule, Term, TermKind};
use solon_syntax::print::is_plain_key;
use solon_syntax::stack;

use crate::bug::{Within as _, bug};

/// Infix operators by the names of their functions.
const INFIX: [(&str, &str); 15] = [
    ("eq", "="),
    ("equal", "=="),
    ("neq", "!="),
    ("lt", "<"),
    ("lte", "<="),
    ("gt", ">"),
    ("gte", ">="),
    ("plus", "+"),
    ("minus", "-"),
    ("mul", "*"),
    ("div", "/"),
    ("rem", "%"),
    ("and", "&"),
    ("or", "|"),
    ("internal.member_2", "in"),
];

/// Returns the source of a body, one line for each expression.
pub fn body_source(body: &Body) -> String {
    lines(body, "")
}

/// Formats the expressions of a body, one line each. The line before one that starts with a minus sign ends with a
/// semicolon; otherwise the two lines would be one expression.
fn lines(body: &[Expr], indent: &str) -> String {
    let mut text = String::new();
    for (at, expr) in body.iter().enumerate() {
        let line = expression(expr);
        if at > 0 {
            text.push_str(if line.starts_with('-') { ";\n" } else { "\n" });
        }
        text.push_str(indent);
        text.push_str(&line);
    }
    text
}

/// Returns a string as a JSON string, which is valid in Rego source.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub fn module_source(module: &Module) -> String {
    let mut text = format!("package {}\n", package(&module.package.path));
    for rule in &module.rules {
        text.push('\n');
        text.push_str(&rule_source(rule));
        text.push('\n');
    }
    text
}

fn package(path: &[Term]) -> String {
    let path = path.within(1..);
    match path.split_first() {
        Some((first, rest)) => {
            let head = first.as_string().map(ToString::to_string);
            let mut text = head.unwrap_or_else(|| first.to_string());
            steps(&mut text, rest);
            text
        }
        None => String::new(),
    }
}

fn rule_source(rule: &Rule) -> String {
    let mut text = String::new();
    if rule.default {
        text.push_str("default ");
    }
    let (name, rest) = match rule.head.reference.split_first() {
        Some((name, rest)) => (term(name, false), rest),
        None => bug!("a rule without a name"),
    };
    text.push_str(&name);
    steps(&mut text, rest);
    if !rule.head.args.is_empty() {
        let _ = write!(text, "({})", list(&rule.head.args));
    }
    let holds = matches!(
        rule.body.as_slice(),
        [Expr { kind: ExprKind::Term(Term { kind: TermKind::Boolean(true), .. }), with, negated: false, .. }]
            if with.is_empty()
    );
    match (&rule.head.key, &rule.head.value) {
        (Some(key), None) => {
            let _ = write!(text, " contains {}", term(key, false));
        }
        (_, Some(value)) => {
            let implied = matches!(value.kind, TermKind::Boolean(true)) && !rule.default;
            if !implied || holds {
                let _ = write!(text, " := {}", term(value, false));
            }
        }
        (None, None) => {}
    }
    if rule.default || holds {
        return text;
    }
    text.push_str(" if ");
    match rule.body.as_slice() {
        [one] => text.push_str(&expression(one)),
        body => {
            let _ = write!(text, "{{\n{}\n}}", lines(body, "\t"));
        }
    }
    text
}

fn expression(expr: &Expr) -> String {
    let mut text = String::new();
    if expr.negated {
        text.push_str("not ");
    }
    match &expr.kind {
        ExprKind::Term(one) => text.push_str(&term(one, false)),
        ExprKind::Call(terms) => text.push_str(&call(terms)),
        ExprKind::Every(every) => {
            text.push_str("every ");
            if let Some(key) = &every.key {
                let _ = write!(text, "{}, ", term(key, false));
            }
            let _ = write!(
                text,
                "{} in {} {{ {}",
                term(&every.value, false),
                term(&every.domain, false),
                inline(&every.body)
            );
            // OPA writes no space after several expressions
            text.push_str(if every.body.len() > 1 { "}" } else { " }" });
        }
        _ => text = expr.to_string(),
    }
    for with in &expr.with {
        let _ = write!(
            text,
            " with {} as {}",
            term(&with.target, false),
            term(&with.value, false)
        );
    }
    text
}

fn inline(body: &[Expr]) -> String {
    let exprs: Vec<String> = body.iter().map(expression).collect();
    exprs.join("; ")
}

fn call(terms: &[Term]) -> String {
    let Some((operator, operands)) = terms.split_first() else {
        bug!("a call without an operator");
    };
    match (sign_of(operator), operands) {
        (Some(sign), [left, right]) => {
            let (left, right) = (side(left, sign, false), side(right, sign, true));
            format!("{left} {sign} {right}")
        }
        (Some(sign), [left, right, output]) => {
            let (output, left, right) = (term(output, false), term(left, true), term(right, true));
            // `in` has a lower precedence than `=`
            if sign == "in" {
                format!("{output} = ({left} in {right})")
            } else {
                format!("{output} = {left} {sign} {right}")
            }
        }
        _ => format!("{}({})", term(operator, false), list(operands)),
    }
}

/// Returns the infix operator of a function, or `None` if it has none.
fn sign_of(operator: &Term) -> Option<&'static str> {
    let infix = INFIX.iter().find(|(name, _)| operator.is_operator(name));
    infix.map(|(_, sign)| *sign)
}

/// Formats an operand, in parentheses where precedence or associativity requires them.
fn side(one: &Term, sign: &str, right: bool) -> String {
    let text = term(one, false);
    let inner = match &one.kind {
        TermKind::Call(terms) if terms.len() == 3 => terms.first().and_then(sign_of),
        _ => None,
    };
    let apart = inner.is_some_and(|inner| {
        let (inner, outer) = (strength(inner), strength(sign));
        inner < outer || inner == outer && (right || inner == COMPARED) || inner == SOUGHT
    });
    if apart { format!("({text})") } else { text }
}

/// Precedence of `in` and comparisons.
const SOUGHT: u8 = 1;
const COMPARED: u8 = 2;

/// Returns the precedence of an operator. Higher values bind more tightly.
fn strength(sign: &str) -> u8 {
    match sign {
        "=" => 0,
        "in" => SOUGHT,
        "|" => 3,
        "&" => 4,
        "+" | "-" => 5,
        "*" | "/" | "%" => 6,
        _ => COMPARED,
    }
}

fn list(terms: &[Term]) -> String {
    let terms: Vec<String> = terms.iter().map(|one| term(one, false)).collect();
    terms.join(", ")
}

fn steps(text: &mut String, steps: &[Term]) {
    for step in steps {
        match step.as_string() {
            Some(key) if is_plain_key(key) => {
                let _ = write!(text, ".{key}");
            }
            Some(key) => {
                let _ = write!(text, "[{}]", quoted(key));
            }
            None => {
                let _ = write!(text, "[{}]", term(step, false));
            }
        }
    }
}

fn term(one: &Term, nested: bool) -> String {
    stack::level(|| term_within(one, nested))
}

fn term_within(one: &Term, nested: bool) -> String {
    match &one.kind {
        TermKind::Var(name) if name.starts_with('$') => "_".to_owned(),
        TermKind::Var(name) => name.to_string(),
        TermKind::Ref(terms) => {
            let head = terms.first().map(|head| term(head, true));
            let mut text = head.unwrap_or_else(|| bug!("a reference without a head"));
            steps(&mut text, terms.within(1..));
            text
        }
        TermKind::Array(items) => format!("[{}]", list(items)),
        TermKind::Set(items) if items.is_empty() => "set()".to_owned(),
        TermKind::Set(items) => {
            let items: Vec<String> = sorted(items).iter().map(|one| term(one, false)).collect();
            format!("{{{}}}", items.join(", "))
        }
        TermKind::Object(pairs) => {
            let pairs: Vec<String> = sorted_pairs(pairs)
                .iter()
                .map(|(key, value)| format!("{}: {}", term(key, false), term(value, false)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
        TermKind::String(text) => quoted(text),
        TermKind::Call(terms) => call_term(terms, nested),
        TermKind::ArrayComprehension(inside) => comprehension(inside, '[', ']'),
        TermKind::SetComprehension(inside) | TermKind::ObjectComprehension(inside) => {
            comprehension(inside, '{', '}')
        }
        _ => one.to_string(),
    }
}

/// Formats a call within a term. Nested calls are put in parentheses.
fn call_term(terms: &[Term], nested: bool) -> String {
    match terms {
        [operator, left, right] => match sign_of(operator) {
            Some(sign) => {
                let text = format!("{} {sign} {}", term(left, true), term(right, true));
                if nested { format!("({text})") } else { text }
            }
            None => call(terms),
        },
        _ => call(terms),
    }
}

fn comprehension(inside: &Comprehension, open: char, close: char) -> String {
    let key = inside
        .key
        .as_ref()
        .map(|key| format!("{}: ", term(key, true)));
    let key = key.unwrap_or_default();
    let head = term(&inside.head, true);
    format!("{open}{key}{head} | {}{close}", inline(&inside.body))
}
