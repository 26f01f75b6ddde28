//! Human-readable traces: a line for each event, indented by depth.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use solon_syntax::ast::visit::{Descent, Terms, WalkMut};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, Term, TermKind};
use solon_syntax::print::display_body;
use solon_syntax::source::SourceId;

use super::event::{Event, EventNode, Op};
use super::json::{head_vars, vars_of};
use super::locations::locations;
use crate::bug::Within as _;
use crate::value::json::TooLong;

/// Options of a trace's presentation.
#[derive(Clone, Copy, Default)]
pub struct Pretty<'a> {
    /// File names, to show the location of each event; sources without one belong to the query.
    pub files: Option<&'a HashMap<SourceId, Arc<str>>>,
    /// `true` if the values of all variables are shown.
    pub variables: bool,
    /// User's names of generated variables.
    pub originals: Names<'a>,
    /// Number of spaces after each column, in addition to the default.
    pub gap: usize,
}

/// User's names of the generated variables of modules and of a query.
#[derive(Clone, Copy, Default)]
pub struct Names<'a> {
    /// User's names of the variables in modules. `None` keeps generated names.
    pub modules: Option<&'a hashbrown::HashMap<Name, Name>>,
    /// User's names of the variables in the query. `None` keeps generated names.
    pub query: Option<&'a hashbrown::HashMap<Name, Name>>,
}

/// Spaces after the longest location.
const GAP: usize = 4;
/// Maximum length of a variable's value, in bytes.
const LONGEST_VALUE: usize = 32;

/// Returns the lines of a trace.
///
/// ```
/// use solon::trace::{Detail, Pretty, Recorder, pretty};
/// use solon::{Engine, Request};
///
/// let query = Engine::new().prepare_query("true")?;
/// let mut recorder = Recorder::new(Detail::Full, 1 << 20);
/// query.search(&Request::new(), &mut recorder)?;
/// let how = Pretty::default();
/// let lines = pretty(&recorder.into_events(), how, 1 << 20).unwrap();
/// assert_eq!(lines[..3], ["Enter true = _", "| Eval true = _", "| Exit true = _"]);
/// # Ok::<(), solon::Error>(())
/// ```
///
/// # Errors
/// [`TooLong`] if the lines would have more than `longest` bytes.
pub fn pretty(
    events: &[Event],
    options: Pretty<'_>,
    longest: usize,
) -> Result<Vec<String>, TooLong> {
    let mut depths: HashMap<u64, usize> = HashMap::new();
    let location_texts = options.files.map(|files| locations(events, files));
    let length = |location: &String| location.chars().count();
    // OPA computes the width of a column in bytes and pads it by code points.
    let width = location_texts
        .iter()
        .flatten()
        .map(String::len)
        .max()
        .unwrap_or(0)
        + GAP;
    let mut texts = ExprTexts::default();
    let mut lines = Vec::with_capacity(events.len());
    let mut remaining = longest;
    for (index, event) in events.iter().enumerate() {
        let depth = match depths.get(&event.query_id) {
            Some(depth) => *depth,
            None => {
                let parent = match depths.get(&event.parent_id) {
                    Some(parent) if event.query_id != event.parent_id => *parent,
                    _ => 0,
                };
                depths.insert(event.query_id, parent + 1);
                parent + 1
            }
        };
        let mut line = String::new();
        if let Some(location) = location_texts.as_ref().and_then(|texts| texts.get(index)) {
            line.push_str(location);
            let blanks = width.saturating_sub(length(location));
            line.extend(std::iter::repeat_n(' ', blanks + 1 + options.gap));
        }
        write(event, depth, options, &mut texts, &mut line);
        remaining = remaining.checked_sub(line.len()).ok_or(TooLong)?;
        lines.push(line);
    }
    if options.variables {
        add_variables(events, &mut lines, options.gap, remaining)?;
    }
    let single_lines = lines.iter().flat_map(|line| line.split('\n'));
    Ok(single_lines.map(str::to_owned).collect())
}

/// Texts of bodies and expressions, rendered once each.
#[derive(Default)]
struct ExprTexts(HashMap<usize, Arc<str>>);

/// Appends the values of variables to the lines, one per line.
fn add_variables(
    events: &[Event],
    lines: &mut [String],
    gap: usize,
    longest: usize,
) -> Result<(), TooLong> {
    let length = |line: &String| line.chars().count();
    let width = lines.iter().map(String::len).max().unwrap_or(0) + GAP;
    let mut remaining = longest;
    let mut values = ValueTexts::default();
    for (event, line) in events.iter().zip(lines) {
        let before = line.len();
        let blanks = width.saturating_sub(length(line)) + 1 + gap;
        line.extend(std::iter::repeat_n(' ', blanks));
        values.write(event, line);
        remaining = remaining.checked_sub(line.len() - before).ok_or(TooLong)?;
    }
    Ok(())
}

fn write(
    event: &Event,
    depth: usize,
    options: Pretty<'_>,
    texts: &mut ExprTexts,
    line: &mut String,
) {
    let outer = matches!(
        (event.op, &event.node),
        (Op::Enter, _) | (Op::Redo, EventNode::Body(_) | EventNode::Rule(..))
    );
    let indent = if outer { depth - 1 } else { depth };
    line.extend(std::iter::repeat_n("| ", indent));
    line.push_str(event.op.as_str());
    line.push(' ');
    if event.op == Op::Note {
        // Between quotes without escapes, as OPA writes it.
        line.push('"');
        line.push_str(&event.message);
        line.push('"');
        return;
    }
    match (&event.reference, &event.node) {
        (Some(reference), _) if event.op == Op::Index => line.push_str(&reference.to_string()),
        (_, EventNode::Rule(_, path)) => line.push_str(path),
        (_, EventNode::Body(body)) => {
            let entry = texts.0.entry(Arc::as_ptr(body).addr());
            let text = entry.or_insert_with(|| {
                display_body(&with_user_names(body, options))
                    .to_string()
                    .into()
            });
            line.push_str(text);
        }
        // Each unification has a node of its own, and keys are shown once they are bound.
        (_, EventNode::Expr(expr)) if event.op == Op::Unify || binds_key(event, expr) => {
            line.push_str(&expression(expr, options, binds_key(event, expr)));
        }
        (_, EventNode::Expr(expr)) => {
            let entry = texts.0.entry(Arc::as_ptr(expr).addr());
            line.push_str(entry.or_insert_with(|| expression(expr, options, false).into()));
        }
    }
    if !event.message.is_empty() {
        line.push(' ');
        line.push_str(&event.message);
    }
}

fn expression(expr: &Expr, options: Pretty<'_>, keeps_wildcard: bool) -> String {
    let mut exprs = with_user_names(std::slice::from_ref(expr), options);
    for expr in &mut exprs {
        if let Some(key) = key_of(expr)
            && (key.starts_with("__local") || (is_wildcard(key) && !keeps_wildcard))
            && let ExprKind::Every(every) = &mut expr.kind
        {
            every.key = None;
        }
    }
    display_body(&exprs).to_string()
}

/// Returns `true` if an event is about an `every` whose key is a wildcard that has a value.
fn binds_key(event: &Event, expr: &Expr) -> bool {
    let mut locals = event.locals.iter();
    key_of(expr).is_some_and(|key| is_wildcard(key) && locals.any(|local| local.name == *key))
}

/// Returns the variable of the key of an `every`.
fn key_of(expr: &Expr) -> Option<&Name> {
    match &expr.kind {
        ExprKind::Every(every) => every.key.as_ref()?.as_var(),
        _ => None,
    }
}

fn is_wildcard(name: &Name) -> bool {
    name.starts_with('$')
}

/// Texts of values, rendered once each.
#[derive(Default)]
struct ValueTexts(HashMap<usize, Arc<str>>);

impl ValueTexts {
    /// Writes the bound variables of the event's node and the documents that it refers to.
    fn write(&mut self, event: &Event, line: &mut String) {
        // Wildcards are distinct variables although they have the same name.
        let mut values: BTreeMap<(String, &str), Arc<str>> = BTreeMap::new();
        for (document, value) in &event.documents {
            values.insert((document.to_string(), ""), self.text(value));
        }
        let mut show = |_: &Term, name: &Name| {
            let position = event.locals.binary_search_by(|local| local.name.cmp(name));
            if let Some(local) = position.ok().and_then(|index| event.locals.get(index)) {
                let name = match &*local.user_name {
                    name if name.starts_with('$') => "_",
                    name => name,
                };
                let identity = if name == "_" { &*local.name } else { "" };
                values.insert((name.to_owned(), identity), self.text(&local.value));
            }
        };
        match &event.node {
            _ if event.op == Op::Note => {}
            EventNode::Rule(rule, _) => head_vars(rule, show),
            node => vars_of(node, &mut show),
        }
        line.push('{');
        for (index, ((name, _), value)) in values.iter().enumerate() {
            if index > 0 {
                line.push_str(", ");
            }
            line.push_str(name);
            line.push_str(": ");
            line.push_str(value);
        }
        line.push('}');
    }

    /// Returns the text of a value, truncated to the maximum length.
    fn text(&mut self, value: &Arc<Term>) -> Arc<str> {
        let entry = self.0.entry(Arc::as_ptr(value).addr());
        let text = entry.or_insert_with(|| {
            let full_text = value.to_string();
            if full_text.len() <= LONGEST_VALUE {
                return full_text.into();
            }
            let bytes = full_text.as_bytes().within(..LONGEST_VALUE - 3);
            format!("{}...", String::from_utf8_lossy(bytes)).into()
        });
        text.clone()
    }
}

/// Returns a copy of expressions with the user's names.
fn with_user_names(body: &[Expr], options: Pretty<'_>) -> Body {
    let mut body = body.to_vec();
    body.walk_mut(&mut Terms(|term: &mut Term| {
        if let TermKind::Var(name) = &mut term.kind {
            *name = options.name(name).clone();
        }
        Descent::Into
    }));
    body
}

impl Pretty<'_> {
    fn name<'n>(&'n self, name: &'n Name) -> &'n Name {
        self.originals.get(name).unwrap_or(name)
    }
}

impl<'a> Names<'a> {
    /// Returns the user's name of a generated variable, or `None` for other variables.
    pub fn get(&self, name: &Name) -> Option<&'a Name> {
        let modules = self.modules.and_then(|names| names.get(name));
        modules.or_else(|| self.query.and_then(|names| names.get(name)))
    }
}
