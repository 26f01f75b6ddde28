//! JSON encoding of events.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use solon_syntax::ast::{Name, Rule, Term, VarScan};
use solon_syntax::json::{AstJson, Options, text};
use solon_syntax::source::{SourceId, Span};

use super::event::{Event, EventNode, Local, Op};
use super::pretty::Names;
use crate::bug::bug;
use crate::value::json::TooLong;

/// Spelling of the kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// For example `enter`.
    Lower,
    /// For example `Enter`.
    Title,
}

/// Encodes events as a JSON array as in the REST API.
///
/// ```
/// use solon::trace::{Detail, Recorder, Spelling, json};
/// use solon::{Engine, Request};
///
/// let query = Engine::new().prepare_query("1 > 2")?;
/// let mut recorder = Recorder::new(Detail::Full, 1 << 20);
/// query.search(&Request::new(), &mut recorder)?;
/// let text = json(&recorder.into_events(), Spelling::Lower, 1 << 20).unwrap();
/// assert!(text.starts_with(r#"[{"op":"enter","query_id":0,"#));
/// # Ok::<(), solon::Error>(())
/// ```
///
/// # Errors
/// [`TooLong`] if the text would have more than `longest` bytes.
pub fn json(events: &[Event], spelling: Spelling, longest: usize) -> Result<String, TooLong> {
    let mut texts = NodeTexts::default();
    list(events, longest, |event, out| {
        plain_event(event, spelling, &mut texts, out);
    })
}

/// File names and variable names for the encoding of events.
#[derive(Clone, Copy)]
pub struct EventNames<'a> {
    /// File names; sources without one belong to the query.
    pub files: &'a HashMap<SourceId, Arc<str>>,
    /// User's names of generated variables.
    pub originals: Names<'a>,
}

/// Encodes events as a JSON array as on the command line: with locations, with the user's names of variables and their
/// locations, and with the documents whose rules were selected.
///
/// ```
/// use solon::trace::{Detail, Names, Recorder, EventNames, detailed};
/// use solon::{Engine, Request};
///
/// let query = Engine::new().prepare_query("1 > 2")?;
/// let mut recorder = Recorder::new(Detail::Full, 1 << 20);
/// query.search(&Request::new(), &mut recorder)?;
/// let files = std::collections::HashMap::new();
/// let names = EventNames { files: &files, originals: Names::default() };
/// let text = detailed(&recorder.into_events(), names, 1 << 20).unwrap();
/// assert!(text.contains(r#""Location":{"#));
/// # Ok::<(), solon::Error>(())
/// ```
///
/// # Errors
/// [`TooLong`] if the text would have more than `longest` bytes.
pub fn detailed(
    events: &[Event],
    sources: EventNames<'_>,
    longest: usize,
) -> Result<String, TooLong> {
    let mut texts = NodeTexts::default();
    list(events, longest, |event, out| {
        detailed_event(event, sources, &mut texts, out);
    })
}

fn list(
    events: &[Event],
    longest: usize,
    mut write: impl FnMut(&Event, &mut String),
) -> Result<String, TooLong> {
    let mut out = String::from("[");
    for (index, event) in events.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(event, &mut out);
        if out.len() > longest {
            return Err(TooLong);
        }
    }
    out.push(']');
    Ok(out)
}

/// Texts of nodes and values, rendered once each.
#[derive(Default)]
struct NodeTexts(HashMap<usize, Arc<str>>);

impl NodeTexts {
    fn of_node<N: AstJson>(&mut self, node: &Arc<N>) -> Arc<str> {
        let key = Arc::as_ptr(node).addr();
        let entry = self.0.entry(key);
        entry.or_insert_with(|| plain(&**node).into()).clone()
    }

    fn node(&mut self, event: &Event) -> (&'static str, Arc<str>) {
        match &event.node {
            EventNode::Body(body) => ("body", self.of_node(body)),
            EventNode::Rule(rule, _) => ("rule", self.of_node(rule)),
            // each unification has a node of its own
            EventNode::Expr(expr) if event.op == Op::Unify => ("expr", plain(&**expr).into()),
            EventNode::Expr(expr) => ("expr", self.of_node(expr)),
        }
    }
}

fn plain_event(event: &Event, spelling: Spelling, texts: &mut NodeTexts, out: &mut String) {
    let op = match spelling {
        Spelling::Lower => event.op.as_str().to_lowercase(),
        Spelling::Title => event.op.as_str().to_owned(),
    };
    // a note has a message only
    let note = event.op == Op::Note;
    let (kind, node) = if note {
        ("", Arc::from("null"))
    } else {
        texts.node(event)
    };
    let (query, parent) = (event.query_id, event.parent_id);
    push(
        out,
        format_args!(
            "{{\"op\":\"{op}\",\"query_id\":{query},\"parent_id\":{parent},\"type\":\"{kind}\",\"node\":{node},\"locals\":["
        ),
    );
    for (index, local) in event.locals.iter().filter(|_| !note).enumerate() {
        if index > 0 {
            out.push(',');
        }
        let key = plain(&Term::var(local.name.clone(), Span::default()));
        let value = texts.of_node(&local.value);
        push(out, format_args!("{{\"key\":{key},\"value\":{value}}}"));
    }
    out.push(']');
    if !event.message.is_empty() {
        push(out, format_args!(",\"message\":{}", quote(&event.message)));
    }
    out.push('}');
}

fn detailed_event(event: &Event, sources: EventNames<'_>, texts: &mut NodeTexts, out: &mut String) {
    let node = if event.op == Op::Note {
        Arc::from("null")
    } else {
        texts.node(event).1
    };
    // built-ins emit these events without access to variables
    let note = matches!(event.op, Op::Note | Op::TestCase);
    let location = location(event.span, sources.files);
    push(
        out,
        format_args!(
            "{{\"Op\":\"{}\",\"Node\":{node},\"Location\":{location},\"QueryID\":{},\"ParentID\":{},\"Locals\":",
            event.op.as_str(),
            event.query_id,
            event.parent_id
        ),
    );
    if note {
        out.push_str("null,\"LocalMetadata\":null");
    } else {
        out.push('[');
        for (index, local) in event.locals.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_local(local, texts, out);
        }
        out.push_str("],\"LocalMetadata\":{");
        for (index, (name, (user_name, span))) in metadata(event, sources).iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            let (name, user_name, location) = (
                quote(name),
                quote(user_name),
                self::location(*span, sources.files),
            );
            push(
                out,
                format_args!("{name}:{{\"name\":{user_name},\"location\":{location}}}"),
            );
        }
        out.push('}');
    }
    push(out, format_args!(",\"Message\":{}", quote(&event.message)));
    let reference = match event.reference.as_ref().and_then(Term::as_ref) {
        Some(steps) => {
            let steps: Vec<String> = steps.iter().map(plain).collect();
            format!("[{}]", steps.join(","))
        }
        None => "null".to_owned(),
    };
    push(out, format_args!(",\"Ref\":{reference}}}"));
}

/// Writes the value of a variable together with its name.
fn write_local(local: &Local, texts: &mut NodeTexts, out: &mut String) {
    let name = match &*local.name {
        name if name.starts_with('$') => "_",
        name => name,
    };
    let value = texts.of_node(&local.value);
    let rest = value.strip_prefix('{');
    let rest = rest.unwrap_or_else(|| bug!("a value is not rendered as an object"));
    push(out, format_args!("{{\"name\":{},{rest}", quote(name)));
}

/// Returns the user's names and locations of bound variables, followed by those of unbound variables of the node whose
/// names differ.
fn metadata(event: &Event, sources: EventNames<'_>) -> BTreeMap<Name, (Name, Span)> {
    let mut variables: BTreeMap<Name, (Name, Span)> = BTreeMap::new();
    for local in &event.locals {
        let span = variable_span(&local.name, &local.user_name, local.span);
        variables.insert(local.name.clone(), (local.user_name.clone(), span));
    }
    vars_of(&event.node, |term, name| {
        if let Some(user_name) = sources.originals.get(name)
            && !variables.contains_key(name)
        {
            let span = variable_span(name, user_name, term.span);
            variables.insert(name.clone(), (user_name.clone(), span));
        }
    });
    variables
}

/// Returns the location of a variable; empty if it captures a value of the query or is the implicit key of a `some`.
fn variable_span(name: &str, user_name: &str, span: Span) -> Span {
    let is_generated =
        name.starts_with("$term") || (name != user_name && user_name.starts_with("__local"));
    if is_generated { Span::default() } else { span }
}

/// Calls `show` for the variables of a node; for a rule, those of its arguments, key and value.
pub(super) fn vars_of<'n>(node: &'n EventNode, mut show: impl FnMut(&'n Term, &'n Name)) {
    match node {
        EventNode::Body(body) => VarScan::default().each(&**body, show),
        EventNode::Expr(expr) => VarScan::default().each(&**expr, show),
        EventNode::Rule(rule, _) => {
            let mut next: Option<&'n Rule> = Some(rule);
            while let Some(rule) = next {
                head_vars(rule, &mut show);
                VarScan::default().each(&rule.body, &mut show);
                next = rule.else_rule.as_deref();
            }
        }
    }
}

/// Calls `show` for the variables of the arguments, the key and the value of a rule's head.
pub(super) fn head_vars<'n>(rule: &'n Rule, mut show: impl FnMut(&'n Term, &'n Name)) {
    VarScan::default().each(&rule.head.args, &mut show);
    for term in rule.head.key.iter().chain(&rule.head.value) {
        VarScan::default().each(term, &mut show);
    }
}

fn location(span: Span, files: &HashMap<SourceId, Arc<str>>) -> String {
    if !span.is_somewhere() {
        return "null".to_owned();
    }
    let file = files.get(&span.source).map_or("", |file| &**file);
    let (file, row, col) = (quote(file), span.row, span.col);
    format!("{{\"file\":{file},\"row\":{row},\"col\":{col}}}")
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn plain<N: AstJson + ?Sized>(node: &N) -> String {
    text(node, Options::default())
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // writing to a string cannot fail
    let _ = out.write_fmt(arguments);
}
