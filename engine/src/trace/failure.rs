//! Report on a failed expression: its source text, followed by the values of its variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use solon_syntax::ast::visit::{Descent, Exprs, Visitor, Walk as _};
use solon_syntax::ast::{Expr, ExprKind, Module, Name, Term, TermKind, VarScan, With};
use solon_syntax::source::Span;

use super::event::{Event, EventNode};
use super::pretty::Names;

/// Maximum length of a reported value, in bytes.
const LONGEST_VALUE: usize = 64;

/// Sources for the text and the variable names of a failed expression.
#[derive(Clone, Copy)]
pub struct FailureSources<'a> {
    /// The module as parsed, for texts and locations.
    pub parsed: &'a Module,
    /// The module as compiled, to which events refer.
    pub canonical: &'a Module,
    /// User's names of generated variables.
    pub originals: Names<'a>,
}

/// A failed expression and the values of its variables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailedExpression {
    /// File name, empty for a query.
    pub file: String,
    /// Row of the event, starting at 1.
    pub row: u32,
    /// Source text of the expression, without the text before it on its row.
    pub text: String,
    /// Column of the first character, starting at 1.
    pub col: u32,
    /// Variables and references of the expression, in source order.
    pub variables: Vec<FailureVariable>,
    /// Both sides of a failed equality, if their values are known.
    pub sides: Option<(Arc<Term>, Arc<Term>)>,
    /// Columns of tabs before the expression.
    tabs: Vec<u32>,
}

/// A variable of a failed expression, or a reference into one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FailureVariable {
    /// Source text of the variable.
    pub text: String,
    /// Value; `None` if it is undefined.
    pub value: Option<Arc<Term>>,
    /// Row, from 1.
    pub row: u32,
    /// Column, starting at 1.
    pub col: u32,
    /// Columns of tabs before it.
    tabs: Vec<u32>,
}

impl FailureVariable {
    fn rendered(&self) -> String {
        let value_text = self
            .value
            .as_ref()
            .map_or_else(|| "undefined".to_owned(), |value| value.to_string());
        if value_text.len() <= LONGEST_VALUE {
            return value_text;
        }
        let mut end = LONGEST_VALUE - 3;
        while !value_text.is_char_boundary(end) {
            end -= 1;
        }
        format!("{}...", value_text.get(..end).unwrap_or_default())
    }
}

impl FailedExpression {
    /// Returns the expression of an event; `None` if the event is not about an expression.
    pub fn of_event(event: &Event, sources: FailureSources<'_>) -> Option<Self> {
        let EventNode::Expr(expr) = &event.node else {
            return None;
        };
        let origin = SourceExpr::of_expr(expr, sources);
        let mut finder = VariableFinder {
            event,
            sources,
            reports_unknown: !expr.negated,
            variables: BTreeMap::new(),
        };
        for (document, value) in &event.documents {
            finder.document(document, value);
        }
        finder.expression(expr);
        finder.reports_unknown = false;
        for other in &origin.others {
            finder.expression(other);
        }
        let span = origin.span;
        let mut variables: Vec<FailureVariable> = finder.variables.into_values().collect();
        variables.sort_by(|a, b| {
            let rows = b.row.cmp(&a.row);
            a.col.cmp(&b.col).then(rows).then(a.text.cmp(&b.text))
        });
        Some(Self {
            file: sources.parsed.source.name.to_string(),
            row: event.span.row,
            text: sources.text(span).to_owned(),
            col: span.col,
            variables,
            sides: sides(expr, event),
            tabs: sources.tabs(span),
        })
    }

    /// Returns the expression at its column. With `values`, a line for each of its variables follows.
    pub fn rendered(&self, values: bool) -> String {
        let mut text = String::new();
        for column in 1..self.col {
            text.push(if self.tabs.contains(&column) {
                '\t'
            } else {
                ' '
            });
        }
        text.push_str(&self.text);
        if values {
            self.write_variables(&mut text);
        } else {
            text.push('\n');
        }
        text
    }

    fn write_variables(&self, out: &mut String) {
        let all = &self.variables;
        let Some(first) = all.first() else {
            return;
        };
        let has_tabs = all.iter().any(|variable| !variable.tabs.is_empty());
        if has_tabs && all.iter().any(|variable| variable.row != first.row) {
            // columns of several rows with tabs do not align
            out.push_str("\n\nWhere:\n");
            let mut by_name: Vec<&FailureVariable> = all.iter().collect();
            by_name.sort_by(|a, b| a.text.cmp(&b.text));
            for variable in by_name {
                out.push_str(&format!("\n{}: {}", variable.text, variable.rendered()));
            }
            return;
        }
        out.push('\n');
        arrows(out, all, None);
        for index in (0..all.len()).rev() {
            out.push('\n');
            arrows(out, all, Some(index));
        }
    }
}

/// Writes a bar at the column of each variable. With `valued`, stops at that variable and writes its value instead.
fn arrows(out: &mut String, all: &[FailureVariable], valued: Option<usize>) {
    let count = valued.map_or(all.len(), |index| index + 1);
    let mut before = 0;
    for (index, variable) in all.iter().enumerate().take(count) {
        let is_last = index + 1 == count;
        let column = variable.col;
        let following = all.get(index + 1).map(|following| following.col);
        if !is_last && following == Some(column) {
            continue;
        }
        for blank in before + 1..column {
            out.push(if variable.tabs.contains(&blank) {
                '\t'
            } else {
                ' '
            });
        }
        if is_last && valued.is_some() {
            let previous = index.checked_sub(1).and_then(|index| all.get(index));
            let is_shared =
                previous.map(|previous| previous.col) == Some(column) || following == Some(column);
            if is_shared {
                out.push_str(&variable.text);
                out.push_str(": ");
            }
            out.push_str(&variable.rendered());
        } else {
            out.push('|');
        }
        before = column;
    }
}

impl<'a> FailureSources<'a> {
    fn text(self, span: Span) -> &'a str {
        let source = &self.parsed.source;
        if span.source != source.id {
            return "";
        }
        let text = source.text.get(span.start as usize..span.end as usize);
        text.unwrap_or_default()
    }

    /// Returns the columns of the tabs before a position on its row.
    fn tabs(self, span: Span) -> Vec<u32> {
        let text = &self.parsed.source.text;
        let before = text.get(..span.start as usize).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let tabs = (1..).zip(line.chars()).filter(|(_, c)| *c == '\t');
        tabs.map(|(column, _)| column).collect()
    }
}

/// The user's expression from which an expression was generated.
struct SourceExpr<'a> {
    span: Span,
    others: Vec<&'a Expr>,
}

impl<'a> SourceExpr<'a> {
    fn of_expr(expr: &Expr, sources: FailureSources<'a>) -> Self {
        let mut user_span = expr.span;
        if expr.generated {
            // The innermost enclosing expression that the user wrote.
            let mut best: Option<Span> = None;
            let mut visit = Exprs(|other: &Expr| {
                let is_inner = best.is_none_or(|best| contains(best, other.span));
                if !other.generated && contains(other.span, expr.span) && is_inner {
                    best = Some(other.span);
                }
                Descent::Into
            });
            sources
                .canonical
                .rules
                .iter()
                .for_each(|rule| rule.walk(&mut visit));
            user_span = best.unwrap_or(user_span);
        }
        let mut other_exprs = Vec::new();
        let mut visit = Exprs(|other: &'a Expr| {
            let is_own = other.generated || other.span == user_span;
            let is_this = other.span == expr.span && other.index == expr.index;
            if is_own && !is_this && contains(user_span, other.span) {
                other_exprs.push(other);
            }
            Descent::Into
        });
        for rule in &sources.canonical.rules {
            rule.walk(&mut visit);
        }
        // A value of a modifier is reported as a whole, without the expressions that it is made of.
        let mut parts: Vec<Name> = std::iter::once(expr)
            .chain(other_exprs.iter().copied())
            .flat_map(|expr| &expr.with)
            .filter_map(|with| with.value.as_var().cloned())
            .collect();
        for at in (0..other_exprs.len()).rev() {
            if other_exprs
                .get(at)
                .is_some_and(|other| assigns_one_of(other, &parts))
            {
                let assignment = other_exprs.remove(at);
                VarScan::default().each(assignment, |_, name| parts.push(name.clone()));
            }
        }
        Self {
            span: user_span,
            others: other_exprs,
        }
    }
}

/// Returns `true` if an expression was generated to give one of some variables its value.
fn assigns_one_of(expr: &Expr, names: &[Name]) -> bool {
    let variable = expr.operands_of("eq").and_then(<[Term]>::first);
    let name = variable.and_then(Term::as_var);
    expr.generated && name.is_some_and(|name| names.contains(name))
}

/// Returns `true` if `inner` is within `outer`, or equal to it. Both must be in one source.
fn contains(outer: Span, inner: Span) -> bool {
    outer.is_somewhere()
        && inner.is_somewhere()
        && outer.source == inner.source
        && outer.start <= inner.start
        && inner.end <= outer.end
}

/// Visitor that collects the variables of expressions, by source text.
struct VariableFinder<'a> {
    event: &'a Event,
    sources: FailureSources<'a>,
    /// `true` if a variable without a value is undefined, not only unknown.
    reports_unknown: bool,
    variables: BTreeMap<String, FailureVariable>,
}

impl VariableFinder<'_> {
    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call(terms) => {
                for operand in terms.iter().skip(1) {
                    operand.walk(self);
                }
                for with in &expr.with {
                    with.value.walk(self);
                }
            }
            _ => expr.walk(self),
        }
    }

    fn document(&mut self, document: &Term, value: &Arc<Term>) {
        let span = match &document.kind {
            TermKind::Ref(terms) => terms.first().map(|first| first.span),
            TermKind::ArrayComprehension(inner) | TermKind::SetComprehension(inner) => {
                Some(inner.head.span)
            }
            TermKind::ObjectComprehension(inner) => inner.key.as_ref().map(|key| key.span),
            _ => None,
        };
        if let Some(span) = span.filter(|span| span.is_somewhere()) {
            let name = document.to_string();
            self.add(&name, span, Some(value.clone()), true);
        }
    }

    fn add(&mut self, name: &str, span: Span, value: Option<Arc<Term>>, replaces: bool) {
        let text = match self.sources.text(span) {
            "" => name.to_owned(),
            text => text.to_owned(),
        };
        let existing = self.variables.get(&text);
        if replaces || existing.is_none_or(|existing| existing.value.is_none()) {
            let variable = FailureVariable {
                text: text.clone(),
                value,
                row: span.row,
                col: span.col,
                tabs: self.sources.tabs(span),
            };
            self.variables.insert(text, variable);
        }
    }

    fn value(&self, name: &str) -> Option<&Arc<Term>> {
        let locals = &self.event.locals;
        let position = locals.binary_search_by(|local| (*local.name).cmp(name));
        Some(&locals.get(position.ok()?)?.value)
    }

    fn variable(&mut self, name: &Name, span: Span) {
        let value = self.value(name).cloned();
        let user_name = self.sources.originals.get(name);
        if value.is_some() || self.reports_unknown {
            let user_name = user_name.unwrap_or(name).clone();
            self.add(&user_name, span, value, false);
        }
    }

    /// Returns the value that a reference into a local variable selects.
    fn select(&self, path: &[Term]) -> Option<Arc<Term>> {
        let (head, steps) = path.split_first()?;
        if steps.is_empty() {
            return None;
        }
        let mut value: &Term = self.value(head.as_var()?)?;
        for step in steps {
            let key = match step.as_var() {
                Some(name) => self.value(name)?,
                None => step,
            };
            value = child(value, key)?;
        }
        Some(Arc::new(value.clone()))
    }
}

/// Returns the child of a value under a key, or `None` if there is none.
fn child<'t>(value: &'t Term, key: &Term) -> Option<&'t Term> {
    match &value.kind {
        TermKind::Object(pairs) => {
            let mut pairs = pairs.iter();
            pairs.find(|(name, _)| name == key).map(|(_, value)| value)
        }
        TermKind::Array(items) => {
            let TermKind::Number(text) = &key.kind else {
                return None;
            };
            items.get(text.parse::<usize>().ok()?)
        }
        TermKind::Set(members) => members.iter().find(|member| *member == key),
        _ => None,
    }
}

impl<'t> Visitor<'t> for VariableFinder<'_> {
    fn expr(&mut self, expr: &'t Expr) -> Descent {
        match &expr.kind {
            ExprKind::Call(_) => {
                self.expression(expr);
                Descent::Over
            }
            _ => Descent::Into,
        }
    }

    fn term(&mut self, term: &'t Term) -> Descent {
        if let TermKind::Call(terms) = &term.kind {
            for operand in terms.iter().skip(1) {
                operand.walk(self);
            }
            return Descent::Over;
        }
        if !term.span.is_somewhere() {
            return Descent::Into;
        }
        match &term.kind {
            // variables of comprehensions are not those of the expression
            kind if kind.is_comprehension() => return Descent::Over,
            TermKind::Ref(path) => {
                if let Some(value) = self.select(path) {
                    self.add("", term.span, Some(value), false);
                }
            }
            TermKind::Var(name) => self.variable(name, term.span),
            _ => {}
        }
        Descent::Into
    }

    fn with(&mut self, with: &'t With) -> Descent {
        with.value.walk(self);
        Descent::Over
    }
}

/// Returns both sides of an equality, if their values are known.
fn sides(expr: &Expr, event: &Event) -> Option<(Arc<Term>, Arc<Term>)> {
    let operands = expr.operands_of("eq").or_else(|| expr.operands_of("equal"));
    let [left, right] = operands? else {
        return None;
    };
    let side = |term: &Term| -> Option<Arc<Term>> {
        let local = |name: &Name| {
            let position = event.locals.binary_search_by(|local| local.name.cmp(name));
            Some(event.locals.get(position.ok()?)?.value.clone())
        };
        match &term.kind {
            TermKind::Var(name) => local(name),
            TermKind::Ref(path) => {
                let (head, steps) = path.split_first()?;
                let root = local(head.as_var()?)?;
                let mut value: &Term = &root;
                for step in steps {
                    let local_value = step.as_var().map(local);
                    let key = match &local_value {
                        Some(local_value) => local_value.as_deref()?,
                        None => step,
                    };
                    value = child(value, key)?;
                }
                Some(Arc::new(value.clone()))
            }
            TermKind::Call(_) | TermKind::Template(_) => None,
            kind if kind.is_comprehension() => None,
            _ => Some(Arc::new(term.clone())),
        }
    };
    Some((side(left)?, side(right)?))
}
