//! Events as JSON, in the form of the REST API.

use solon_syntax::ast::Term;
use solon_syntax::json::{AstJson, Options, text};

use super::event::{Event, Node, Op};

/// The events as a JSON array.
pub fn json(events: &[&Event]) -> String {
    let mut out = String::from("[");
    for (at, event) in events.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(event, &mut out);
    }
    out.push(']');
    out
}

fn write(event: &Event, out: &mut String) {
    out.push_str("{\"op\":\"");
    out.push_str(&event.op.as_str().to_lowercase());
    out.push_str(&format!(
        "\",\"query_id\":{},\"parent_id\":{},\"type\":\"",
        event.query_id, event.parent_id
    ));
    let (kind, node) = match &event.node {
        // a note is about nothing but its words
        _ if event.op == Op::Note => ("", "null".to_owned()),
        Node::Body(body) => ("body", plain(body)),
        Node::Rule(rule, _) => ("rule", plain(&**rule)),
        Node::Expr(expr) => ("expr", plain(&**expr)),
    };
    out.push_str(kind);
    out.push_str("\",\"node\":");
    out.push_str(&node);
    out.push_str(",\"locals\":[");
    let locals = event.locals.iter().filter(|_| event.op != Op::Note);
    for (at, local) in locals.enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str("{\"key\":");
        out.push_str(&plain(&Term::var(local.name.clone(), local.value.span)));
        out.push_str(",\"value\":");
        out.push_str(&plain(&local.value));
        out.push('}');
    }
    out.push(']');
    if !event.message.is_empty() {
        out.push_str(",\"message\":");
        out.push_str(&serde_json::Value::from(event.message.as_str()).to_string());
    }
    out.push('}');
}

fn plain<N: AstJson + ?Sized>(node: &N) -> String {
    text(node, Options::default())
}
