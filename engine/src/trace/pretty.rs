//! Traces as people read them: a line for each event, indented by depth.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use solon_syntax::ast::visit::{Flow, Terms, WalkMut};
use solon_syntax::ast::{Body, Expr, ExprKind, Name, VarScan};
use solon_syntax::print::display_body;
use solon_syntax::source::SourceId;

use super::event::{Event, Node, Op};

/// How a trace is shown.
#[derive(Clone, Copy, Default)]
pub struct Pretty<'a> {
    /// File names, to show the place of each event; those of none are the query's.
    pub files: Option<&'a HashMap<SourceId, Arc<str>>>,
    /// Whether the values of all variables are shown.
    pub variables: bool,
    /// The user's names of generated variables.
    pub originals: Names<'a>,
}

/// The user's names of the generated variables of modules and of a query.
#[derive(Clone, Copy, Default)]
pub struct Names<'a> {
    /// Those of modules.
    pub modules: Option<&'a hashbrown::HashMap<Name, Name>>,
    /// Those of the query.
    pub query: Option<&'a hashbrown::HashMap<Name, Name>>,
}

/// Longest place that is shown whole.
const LONGEST_PLACE: usize = 64;
/// Blanks behind the longest place.
const GAP: usize = 4;
/// Most characters of a variable's value.
const LONGEST_VALUE: usize = 32;

/// The lines of a trace.
pub fn pretty(events: &[&Event], how: Pretty<'_>) -> Vec<String> {
    let mut depths: HashMap<u64, usize> = HashMap::new();
    let places: Option<Vec<String>> = how
        .files
        .map(|files| events.iter().map(|event| place(event, files)).collect());
    let width = places
        .iter()
        .flatten()
        .map(|place| place.chars().count())
        .max()
        .unwrap_or(0)
        .min(LONGEST_PLACE)
        + GAP;
    let mut lines = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate() {
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
        if let Some(place) = places.as_ref().and_then(|places| places.get(at)) {
            line.push_str(place);
            let blanks = width.saturating_sub(place.chars().count());
            line.extend(std::iter::repeat_n(' ', blanks + 1));
        }
        line.push_str(&text(event, depth, how));
        lines.push(line);
    }
    if how.variables {
        add_variables(events, &mut lines);
    }
    let broken = lines.iter().flat_map(|line| line.split('\n'));
    broken.map(str::to_owned).collect()
}

/// Puts the values of variables behind the lines, one below another.
fn add_variables(events: &[&Event], lines: &mut [String]) {
    let length = |line: &String| line.chars().count();
    let width = lines.iter().map(length).max().unwrap_or(0) + GAP;
    for (event, line) in events.iter().zip(lines) {
        let blanks = width.saturating_sub(length(line)) + 1;
        line.extend(std::iter::repeat_n(' ', blanks));
        line.push_str(&variables(event));
    }
}

fn place(event: &Event, files: &HashMap<SourceId, Arc<str>>) -> String {
    if !event.span.is_somewhere() {
        return String::new();
    }
    match files.get(&event.span.source) {
        Some(file) if !file.is_empty() => format!("{file}:{}", event.span.row),
        _ => format!("query:{}", event.span.row),
    }
}

fn text(event: &Event, depth: usize, how: Pretty<'_>) -> String {
    let outer = match (event.op, &event.node) {
        (Op::Enter, _) | (Op::Redo, Node::Body(_) | Node::Rule(..)) => true,
        _ => false,
    };
    let indent = if outer { depth - 1 } else { depth };
    let mut line = "| ".repeat(indent);
    line.push_str(event.op.as_str());
    line.push(' ');
    if event.op == Op::Note {
        // between quotes as it is, whatever is in it
        line.push('"');
        line.push_str(&event.message);
        line.push('"');
        return line;
    }
    match (&event.reference, &event.node) {
        (Some(reference), _) if event.op == Op::Index => line.push_str(&reference.to_string()),
        (_, Node::Rule(_, path)) => line.push_str(path),
        (_, Node::Body(body)) => line.push_str(&display_body(&renamed(body, how)).to_string()),
        (_, Node::Expr(expr)) => {
            let mut exprs = renamed(std::slice::from_ref(&**expr), how);
            exprs.iter_mut().for_each(without_generated_key);
            line.push_str(&display_body(&exprs).to_string());
        }
    }
    if !event.message.is_empty() {
        line.push(' ');
        line.push_str(&event.message);
    }
    line
}

/// The variables of what the event is about, as far as they are bound, and their values.
fn variables(event: &Event) -> String {
    let mut named: HashSet<Name> = HashSet::new();
    match &event.node {
        _ if event.op == Op::Note => {}
        // a rule's head is no expression
        Node::Rule(..) => {}
        Node::Body(body) => VarScan::default().collect(body, &mut named),
        Node::Expr(expr) => VarScan::default().collect(&**expr, &mut named),
    }
    let mut shown: Vec<String> = event
        .locals
        .iter()
        .filter(|local| named.contains(&local.name))
        .map(|local| {
            let value = local.value.to_string();
            let name = match &*local.shown {
                name if name.starts_with('$') => "_",
                name => name,
            };
            match value.char_indices().nth(LONGEST_VALUE) {
                Some((at, _)) => {
                    format!("{name}: {}...", value.get(..at).unwrap_or(&value))
                }
                None => format!("{name}: {value}"),
            }
        })
        .collect();
    shown.sort();
    format!("{{{}}}", shown.join(", "))
}

/// An `every` for which the user wrote no key has none.
fn without_generated_key(expr: &mut Expr) {
    if let ExprKind::Every(every) = &mut expr.kind
        && let Some(key) = every.key.as_ref().and_then(|key| key.as_var())
        && key.starts_with("__local")
    {
        every.key = None;
    }
}

/// Expressions with the user's names.
fn renamed(body: &[Expr], how: Pretty<'_>) -> Body {
    let mut body = body.to_vec();
    body.walk_mut(&mut Terms(|term: &mut solon_syntax::ast::Term| {
        if let solon_syntax::ast::TermKind::Var(name) = &mut term.kind {
            *name = how.name(name).clone();
        }
        Flow::Into
    }));
    body
}

impl<'a> Pretty<'a> {
    fn name<'n>(&'n self, name: &'n Name) -> &'n Name {
        let modules = self.originals.modules.and_then(|names| names.get(name));
        modules
            .or_else(|| self.originals.query.and_then(|names| names.get(name)))
            .unwrap_or(name)
    }
}
