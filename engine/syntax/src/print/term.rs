//! Displays terms and references as Rego.

use std::fmt::{self, Display};

use super::display_body;
use super::quote::{write_escaped, write_quoted};
use crate::ast::order::{sorted, sorted_pairs};
use crate::ast::{Comprehension, Template, TemplatePart, Term, TermKind};
use crate::stack;

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stack::level(|| self.kind.fmt(f))
    }
}

impl fmt::Display for TermKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => write_quoted(f, text),
            Self::Var(name) => f.write_str(if name.starts_with('$') { "_" } else { name }),
            Self::Ref(terms) => display_ref(terms).fmt(f),
            Self::Array(elements) => {
                f.write_str("[")?;
                write_list(f, elements)?;
                f.write_str("]")
            }
            Self::Object(pairs) => {
                f.write_str("{")?;
                for (index, (key, value)) in sorted_pairs(pairs).into_iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    key.fmt(f)?;
                    f.write_str(": ")?;
                    value.fmt(f)?;
                }
                f.write_str("}")
            }
            Self::Set(members) if members.is_empty() => f.write_str("set()"),
            Self::Set(members) => {
                f.write_str("{")?;
                write_list(f, sorted(members))?;
                f.write_str("}")
            }
            Self::ArrayComprehension(inner) => write_comprehension(f, inner, "[", "]"),
            Self::SetComprehension(inner) | Self::ObjectComprehension(inner) => {
                write_comprehension(f, inner, "{", "}")
            }
            Self::Call(terms) => write_call(f, terms),
            Self::Template(template) => template.fmt(f),
        }
    }
}

fn write_comprehension(
    f: &mut fmt::Formatter<'_>,
    inner: &Comprehension,
    open: &str,
    close: &str,
) -> fmt::Result {
    f.write_str(open)?;
    if let Some(key) = &inner.key {
        key.fmt(f)?;
        f.write_str(": ")?;
    }
    inner.head.fmt(f)?;
    f.write_str(" | ")?;
    display_body(&inner.body).fmt(f)?;
    f.write_str(close)
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delimiter = if self.multi_line { '`' } else { '"' };
        write!(f, "${delimiter}")?;
        for part in &self.parts {
            match part {
                TemplatePart::Term(Term {
                    kind: TermKind::String(text),
                    ..
                }) => {
                    for (index, text) in text.split('{').enumerate() {
                        if index > 0 {
                            f.write_str("\\{")?;
                        }
                        if self.multi_line {
                            f.write_str(text)?;
                        } else {
                            write_escaped(f, text, '"')?;
                        }
                    }
                }
                TemplatePart::Term(term) => {
                    f.write_str("{")?;
                    term.fmt(f)?;
                    f.write_str("}")?;
                }
                TemplatePart::Expr(expr) => {
                    f.write_str("{")?;
                    expr.fmt(f)?;
                    f.write_str("}")?;
                }
            }
        }
        write!(f, "{delimiter}")
    }
}

/// Writes a call in prefix notation: the operator's reference, then the operands.
pub(super) fn write_call(f: &mut fmt::Formatter<'_>, terms: &[Term]) -> fmt::Result {
    let Some((operator, operands)) = terms.split_first() else {
        return Ok(());
    };
    operator.fmt(f)?;
    f.write_str("(")?;
    write_list(f, operands)?;
    f.write_str(")")
}

pub(super) fn write_list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

/// Displays a reference with dots where the segments are names, otherwise with brackets.
pub fn display_ref(terms: &[Term]) -> DisplayRef<'_> {
    DisplayRef(terms)
}

/// Display adapter of a reference: `data.a["b c"][x]`.
#[derive(Clone, Copy, Debug)]
pub struct DisplayRef<'a>(&'a [Term]);

impl fmt::Display for DisplayRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((head, operands)) = self.0.split_first() else {
            return Ok(());
        };
        match &head.kind {
            // a string in place of a variable has no quotes
            TermKind::String(text) => f.write_str(text)?,
            _ => head.fmt(f)?,
        }
        write_operands(f, operands)
    }
}

/// Writes the operands after the head of a reference.
pub(super) fn write_operands(f: &mut fmt::Formatter<'_>, operands: &[Term]) -> fmt::Result {
    for operand in operands {
        match &operand.kind {
            TermKind::String(key) => write_key(f, key)?,
            _ => {
                f.write_str("[")?;
                operand.fmt(f)?;
                f.write_str("]")?;
            }
        }
    }
    Ok(())
}

/// Writes a key of a reference: `.key` or `["a key"]`. Keys in brackets are written verbatim, even if they contain
/// quotes; only control characters and backslashes cause the whole key to be escaped.
pub fn write_key<W: fmt::Write + ?Sized>(out: &mut W, key: &str) -> fmt::Result {
    if is_plain_key(key) {
        write!(out, ".{key}")
    } else if key.chars().any(|c| c == '\\' || c.is_control()) {
        out.write_str("[")?;
        write_quoted(out, key)?;
        out.write_str("]")
    } else {
        write!(out, "[\"{key}\"]")
    }
}

/// Returns `true` if a key prints after a dot instead of in brackets: an identifier that is not a keyword.
pub fn is_plain_key(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !is_keyword(key)
}

/// Returns `true` for the keywords of v1. The optional `and` and `or` print after a dot.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "as" | "contains"
            | "default"
            | "else"
            | "every"
            | "false"
            | "if"
            | "import"
            | "in"
            | "not"
            | "null"
            | "package"
            | "some"
            | "true"
            | "with"
    )
}
