//! Encodes the tree as JSON.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::sink::{Sink, Text, Tree};
use super::texts::{block_text, write_term_location};
use crate::ast::order::{sorted, sorted_pairs};
use crate::ast::{
    Comment, Comprehension, Every, Expr, ExprKind, Head, Import, Logical, Module, Not, Package,
    Rule, SomeDecl, Template, TemplatePart, Term, TermKind, With,
};
use crate::source::{Source, Span};
use crate::stack;

/// Optional members of AST JSON.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Sources of the tree, to include the locations of all nodes. `None` omits locations.
    pub locations: Option<&'a [Source]>,
    /// Includes the comments of a module.
    pub comments: bool,
    /// Writes one member per line, indented by two blanks.
    pub indented: bool,
}

impl Default for Options<'_> {
    /// Comments, no locations, one line.
    fn default() -> Self {
        Self {
            locations: None,
            comments: true,
            indented: false,
        }
    }
}

/// A node with a JSON form.
pub trait AstJson: Write {}

impl<N: Write + ?Sized> AstJson for N {}

/// Returns the JSON text of a node. Numbers keep their spelling.
pub fn text<N: AstJson + ?Sized>(node: &N, options: Options<'_>) -> String {
    let mut out = Writer {
        sink: Text::new(options.indented),
        options,
    };
    node.write(&mut out);
    out.sink.finish()
}

/// Returns the JSON value of a node. Numbers beyond 64 bits lose precision, and those outside the range of 64-bit
/// floats become strings; [`text`] retains them. Values are dropped recursively, so dropping those of deep trees needs
/// stack.
pub fn value<N: AstJson + ?Sized>(node: &N, options: Options<'_>) -> Value {
    let mut out = Writer {
        sink: Tree::default(),
        options,
    };
    node.write(&mut out);
    out.sink.finish()
}

/// Encodes a node. Public only because [`AstJson`] requires it: its sink types are private.
pub trait Write {
    /// Encodes the node and its children as one JSON value.
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>);
}

/// A sink and the options of the encoding.
pub struct Writer<'a, S> {
    pub(super) sink: S,
    pub(super) options: Options<'a>,
}

impl<S: Sink> Writer<'_, S> {
    pub(super) fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.sink.begin_object();
        members(self);
        self.sink.end_object();
    }

    pub(super) fn member(&mut self, key: &str, value: &(impl Write + ?Sized)) {
        self.sink.key(key);
        value.write(self);
    }

    pub(super) fn optional(&mut self, key: &str, value: Option<&impl Write>) {
        if let Some(value) = value {
            self.member(key, value);
        }
    }

    pub(super) fn flag(&mut self, key: &str, set: bool) {
        if set {
            self.sink.key(key);
            self.sink.boolean(true);
        }
    }

    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.sink.key(key);
        self.sink.string(text);
    }

    pub(super) fn list(&mut self, key: &str, list: &[impl Write]) {
        if !list.is_empty() {
            self.member(key, list);
        }
    }

    fn array<'n, N: Write + 'n>(&mut self, nodes: impl IntoIterator<Item = &'n N>) {
        self.sink.begin_array();
        nodes.into_iter().for_each(|node| node.write(self));
        self.sink.end_array();
    }

    /// Writes the member `location` if locations are enabled and the span is in a source.
    pub(super) fn location(&mut self, span: Span) {
        self.located(span, None);
    }

    /// Writes the member `location` with a text other than that of the whole node.
    #[inline(never)]
    pub(super) fn located(&mut self, span: Span, text: Option<&str>) {
        let Some(sources) = self.options.locations.filter(|_| span.is_somewhere()) else {
            return;
        };
        if let Some(source) = sources.iter().find(|source| source.id == span.source) {
            self.sink.key("location");
            self.write_location(
                &source.name,
                span,
                Some(text.unwrap_or_else(|| source.slice(span))),
            );
        } else if let Some(text) = text {
            self.sink.key("location");
            self.write_location("", span, Some(text));
        }
    }

    #[inline(never)]
    pub(super) fn write_location(&mut self, file: &str, span: Span, text: Option<&str>) {
        self.object(|out| {
            out.text("file", file);
            out.integer("row", span.row);
            out.integer("col", span.col);
            if let Some(text) = text {
                out.text("text", &BASE64.encode(text));
            }
        });
    }

    #[inline(never)]
    fn integer(&mut self, key: &str, value: u32) {
        self.sink.key(key);
        self.sink.number(&value.to_string());
    }

    /// Returns `true` if locations are enabled.
    pub(super) fn shows_locations(&self) -> bool {
        self.options.locations.is_some()
    }
}

impl<N: Write> Write for [N] {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.array(self);
    }
}

impl<N: Write> Write for Vec<N> {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.array(self);
    }
}

impl<N: Write + ?Sized> Write for std::sync::Arc<N> {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        (**self).write(out);
    }
}

impl Write for Term {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        stack::level(|| write_term(out, self));
    }
}

fn write_term<S: Sink>(out: &mut Writer<'_, S>, term: &Term) {
    out.sink.begin_object();
    if out.options.locations.is_some() {
        write_term_location(out, term);
    }
    out.text("type", term.kind.name());
    out.sink.key("value");
    match &term.kind {
        TermKind::Null => {
            out.sink.begin_object();
            out.sink.end_object();
        }
        TermKind::Boolean(value) => out.sink.boolean(*value),
        TermKind::Number(text) => out.sink.number(text),
        TermKind::String(text) | TermKind::Var(text) => out.sink.string(text),
        TermKind::Ref(terms) => out.array(terms),
        TermKind::Array(terms) => out.array(terms),
        TermKind::Call(terms) => write_call(out, terms),
        TermKind::Set(members) => out.array(sorted(members)),
        TermKind::Object(pairs) => {
            out.sink.begin_array();
            for (key, value) in sorted_pairs(pairs) {
                out.array([key, value]);
            }
            out.sink.end_array();
        }
        TermKind::ArrayComprehension(inner)
        | TermKind::SetComprehension(inner)
        | TermKind::ObjectComprehension(inner) => inner.write(out),
        TermKind::Template(template) => template.write(out),
    }
    out.sink.end_object();
}

/// Writes a call. The operator of a sign has no location, because its zero already has that of the sign.
fn write_call<S: Sink>(out: &mut Writer<'_, S>, terms: &[Term]) {
    match terms {
        [operator, zero, operands @ ..]
            if operator.span == zero.span && operator.is_operator("minus") =>
        {
            out.sink.begin_array();
            Term::operator("minus", Span::default()).write(out);
            zero.write(out);
            for operand in operands {
                operand.write(out);
            }
            out.sink.end_array();
        }
        terms => out.array(terms),
    }
}

impl Write for Comprehension {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.sink.begin_object();
        if let Some(key) = &self.key {
            out.member("key", key);
            out.member("value", &self.head);
        } else {
            out.member("term", &self.head);
        }
        out.member("body", &self.body);
        out.sink.end_object();
    }
}

impl Write for Template {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.sink.begin_object();
        out.sink.key("parts");
        if self.parts.is_empty() {
            out.sink.null();
        } else {
            out.array(&self.parts);
        }
        out.sink.key("multi_line");
        out.sink.boolean(self.multi_line);
        out.sink.end_object();
    }
}

impl Write for TemplatePart {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        match self {
            Self::Term(term) => term.write(out),
            Self::Expr(expr) => expr.write(out),
        }
    }
}

impl Write for Expr {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.sink.begin_object();
        out.flag("generated", self.generated);
        out.integer("index", self.index);
        out.location(self.span);
        out.flag("negated", self.negated);
        out.sink.key("terms");
        match &self.kind {
            ExprKind::Term(term) => term.write(out),
            ExprKind::Call(terms) => write_call(out, terms),
            ExprKind::Some(some) => some.write(out),
            ExprKind::Every(every) => every.write(out),
            ExprKind::Not(not) => not.write(out),
            ExprKind::And(logical) => write_logical(out, logical, "and"),
            ExprKind::Or(logical) => write_logical(out, logical, "or"),
        }
        out.list("with", &self.with);
        out.sink.end_object();
    }
}

impl Write for SomeDecl {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.located(self.span, Some("some"));
            out.member("symbols", &self.symbols);
        });
    }
}

impl Write for Every {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.member("body", &self.body);
            out.member("domain", &self.domain);
            out.sink.key("key");
            match &self.key {
                Some(key) => key.write(out),
                None => out.sink.null(),
            }
            out.located(self.span, Some("every"));
            out.member("value", &self.value);
        });
    }
}

impl Write for Not {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.member("body", &self.body);
            out.sink.key("explicit_body");
            out.sink.boolean(self.explicit_body);
            out.text("type", "not");
        });
    }
}

fn write_logical<S: Sink>(out: &mut Writer<'_, S>, logical: &Logical, operator: &str) {
    out.object(|out| {
        out.flag("explicit_lhs", logical.explicit_lhs);
        out.flag("explicit_rhs", logical.explicit_rhs);
        stack::level(|| out.member("lhs", &logical.lhs));
        out.member("rhs", &logical.rhs);
        out.text("type", operator);
    });
}

impl Write for With {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.location(self.span);
            out.member("target", &self.target);
            out.member("value", &self.value);
        });
    }
}

impl Write for Head {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            if let Some(name) = &self.name {
                out.text("name", name);
            }
            out.list("args", &self.args);
            out.optional("key", self.key.as_ref());
            out.optional("value", self.value.as_ref());
            out.flag("assign", self.assign);
            out.member("ref", &self.reference);
            out.location(self.span);
        });
    }
}

/// Returns `true` if the implied `true` of a head has no location. It has one after references of two segments, where
/// further bodies repeat a head, and in rules without a body.
fn hides_location(rule: &Rule) -> bool {
    let head = &rule.head;
    let starts = |span: Span| {
        head.reference
            .first()
            .is_some_and(|first| first.span.start == span.start)
    };
    let has_body = !rule.body.iter().all(|expr| expr.generated);
    head.generated_value && has_body && head.reference.len() != 2 && starts(head.span)
}

impl Write for Rule {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        // `else` chains have no length limit, so they are opened and closed in two loops
        let mut open = Vec::new();
        let mut next = Some(self);
        while let Some(rule) = next {
            if !open.is_empty() {
                out.sink.key("else");
            }
            open.push(rule);
            out.sink.begin_object();
            out.list("annotations", &rule.annotations);
            out.member("body", &rule.body);
            out.flag("default", rule.default);
            next = rule.else_rule.as_deref();
        }
        for rule in open.into_iter().rev() {
            if hides_location(rule) {
                let mut head = rule.head.clone();
                if let Some(value) = &mut head.value {
                    value.span = Span::default();
                }
                out.member("head", &head);
            } else {
                out.member("head", &rule.head);
            }
            out.location(rule.span);
            out.sink.end_object();
        }
    }
}

impl Write for Package {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.location(self.span);
            out.member("path", &self.path);
        });
    }
}

impl Write for Import {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            if let Some(alias) = &self.alias {
                out.text("alias", alias);
                if let Some(sources) = out.options.locations
                    && let Some(source) = sources
                        .iter()
                        .find(|source| source.id == self.alias_span.source)
                {
                    out.sink.key("alias_location");
                    out.write_location(
                        &source.name,
                        self.alias_span,
                        Some(source.slice(self.alias_span)),
                    );
                }
            }
            out.location(self.span);
            out.member("path", &self.path);
        });
    }
}

impl Write for Module {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.member("package", &self.package);
            out.list("imports", &self.imports);
            out.list("annotations", &self.annotations);
            out.list("rules", &self.rules);
            if out.options.comments && !self.comments.is_empty() {
                out.sink.key("comments");
                out.sink.begin_array();
                for comment in &self.comments {
                    write_comment(out, comment, self);
                }
                out.sink.end_array();
            }
        });
    }
}

/// Writes a comment. It always has a location; the first line of a METADATA block has the text of the whole block.
fn write_comment<S: Sink>(out: &mut Writer<'_, S>, comment: &Comment, module: &Module) {
    out.object(|out| {
        out.text("Text", &BASE64.encode(comment.text.as_bytes()));
        out.sink.key("Location");
        let text = out.shows_locations().then(|| {
            let block = module
                .annotations
                .binary_search_by_key(&comment.span.row, |block| block.span.row);
            let block = block
                .ok()
                .and_then(|position| module.annotations.get(position));
            let source = &module.source;
            block.map_or_else(
                || source.slice(comment.span).into(),
                |block| Cow::Owned(block_text(source.slice(block.span))),
            )
        });
        out.write_location(&module.source.name, comment.span, text.as_deref());
    });
}
