//! An event and its JSON text.

use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use crate::json::JsonFields;

/// Decision log event. Members that are JSON text are written without another copy of their values.
#[derive(Clone, Debug, Default)]
pub struct Event<'a> {
    /// JSON object with the labels of the server.
    pub labels: &'a [u8],
    /// UUID of the decision, version 4.
    pub decision_id: &'a str,
    /// UUID of the batch that the decision belongs to.
    pub batch_decision_id: Option<&'a str>,
    /// Ids of the trace and of the span, if the request is traced.
    pub trace: Option<&'a (String, String)>,
    /// JSON object of active bundles by name, with their revisions.
    pub bundles: Option<&'a [u8]>,
    /// Path of the document, with slashes.
    pub path: Option<&'a str>,
    /// Text of the query. `None` for a decision about a document.
    pub query: Option<&'a str>,
    /// Input as JSON text.
    pub input: Option<Vec<u8>>,
    /// Result as JSON text.
    pub result: Option<Vec<u8>>,
    /// Results of nondeterministic built-in functions, as JSON text.
    pub nd_builtin_cache: Option<Vec<u8>>,
    /// Paths that the mask policy removed.
    pub erased: Vec<String>,
    /// Paths that the mask policy replaced.
    pub masked: Vec<String>,
    /// Error of the decision. `None` if it succeeded.
    pub error: Option<&'a EventError>,
    /// Address and port of the client.
    pub requested_by: Option<&'a str>,
    pub timestamp: Timestamp,
    /// Timers and counters of the decision, as JSON text.
    pub metrics: Option<Vec<u8>>,
    /// Number of the request, as in the log of the server.
    pub req_id: Option<u64>,
    /// Labels of the rules that succeeded, in METADATA blocks.
    pub rule_labels: &'a [Map<String, Json>],
    /// Headers of the request, as JSON text.
    pub request_context: Option<Vec<u8>>,
    /// Metadata of request and response, or the parts of a data filter, as JSON text.
    pub custom: Option<Vec<u8>>,
}

/// Error of a decision, in both forms that decision logs use.
#[derive(Clone, Debug)]
pub struct EventError {
    pub object: Vec<u8>,
    /// One text, with the location first.
    pub text: String,
}

/// The form of errors in an event, which depends on the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorForm {
    /// A JSON object, as uploads contain it.
    Object,
    /// A text, as on the console.
    Text,
}

impl Event<'_> {
    /// Returns the event as JSON text on one line, without a line break. Members have the order of OPA's events.
    pub fn text(&self, errors: ErrorForm) -> Vec<u8> {
        let mut fields = JsonFields::with_capacity(false, self.capacity());
        fields.text("labels", self.labels);
        fields.typed("decision_id", &self.decision_id);
        if let Some(id) = self.batch_decision_id {
            fields.typed("batch_decision_id", &id);
        }
        let json = |fields: &mut JsonFields, name: &str, text: Option<&[u8]>| {
            if let Some(text) = text {
                fields.text(name, text);
            }
        };
        if let Some((trace, span)) = self.trace {
            fields.typed("trace_id", trace);
            fields.typed("span_id", span);
        }
        json(&mut fields, "bundles", self.bundles);
        if let Some(path) = self.path {
            fields.typed("path", &path);
        }
        if let Some(query) = self.query {
            fields.typed("query", &query);
        }
        json(&mut fields, "input", self.input.as_deref());
        json(&mut fields, "result", self.result.as_deref());
        json(
            &mut fields,
            "nd_builtin_cache",
            self.nd_builtin_cache.as_deref(),
        );
        for (name, paths) in [("erased", &self.erased), ("masked", &self.masked)] {
            if !paths.is_empty() {
                fields.typed(name, paths);
            }
        }
        match (self.error, errors) {
            (Some(error), ErrorForm::Object) => drop(fields.text("error", &error.object)),
            (Some(error), ErrorForm::Text) => drop(fields.typed("error", &error.text)),
            (None, _) => {}
        }
        if let Some(client) = self.requested_by {
            fields.typed("requested_by", &client);
        }
        // the text needs no escapes
        fields.text("timestamp", format!("\"{}\"", self.timestamp).as_bytes());
        json(&mut fields, "metrics", self.metrics.as_deref());
        if let Some(id) = self.req_id {
            fields.text("req_id", id.to_string().as_bytes());
        }
        if !self.rule_labels.is_empty() {
            fields.typed("rule_labels", &self.rule_labels);
        }
        json(
            &mut fields,
            "request_context",
            self.request_context.as_deref(),
        );
        json(&mut fields, "custom", self.custom.as_deref());
        let mut text = fields.finish();
        while text.last() == Some(&b'\n') {
            text.pop();
        }
        text
    }

    /// Returns the approximate length of the text of most events, in bytes.
    fn capacity(&self) -> usize {
        /// Bytes of the names, ids and times of an event.
        const OTHERS: usize = 384;
        let length = |text: &Option<Vec<u8>>| text.as_ref().map_or(0, Vec::len);
        let texts = [
            &self.input,
            &self.result,
            &self.nd_builtin_cache,
            &self.metrics,
        ];
        let texts: usize = texts.into_iter().map(length).sum();
        OTHERS + self.labels.len() + texts
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{ErrorForm, Event, EventError};

    #[test]
    fn members_have_the_order_of_opa() {
        let error = EventError {
            object: br#"{"code":"c"}"#.to_vec(),
            text: "f:1: c".to_owned(),
        };
        let ids = ("t".to_owned(), "s".to_owned());
        let event = Event {
            labels: b"{}",
            decision_id: "d",
            batch_decision_id: Some("b"),
            trace: Some(&ids),
            bundles: Some(b"{\"x\":{}}"),
            path: Some("a/b"),
            query: Some("x < 1"),
            input: Some(b"1".to_vec()),
            result: Some(b"2".to_vec()),
            nd_builtin_cache: Some(b"{}".to_vec()),
            erased: vec!["/input/a".to_owned()],
            masked: vec!["/input/b".to_owned()],
            error: Some(&error),
            requested_by: Some("[::1]:9"),
            timestamp: Timestamp::new(1, 20_000_000).unwrap(),
            metrics: Some(b"{}".to_vec()),
            req_id: Some(7),
            rule_labels: &[serde_json::Map::new()],
            request_context: Some(b"{}".to_vec()),
            custom: Some(b"{}".to_vec()),
        };
        let text = |form| String::from_utf8(event.text(form)).unwrap();
        assert_eq!(
            text(ErrorForm::Object),
            concat!(
                r#"{"labels":{},"decision_id":"d","batch_decision_id":"b","trace_id":"t","span_id":"s","bundles":{"x":{}},"path":"a/b","query":"x \u003c 1","#,
                r#""input":1,"result":2,"nd_builtin_cache":{},"erased":["/input/a"],"masked":["/input/b"],"error":{"code":"c"},"#,
                r#""requested_by":"[::1]:9","timestamp":"1970-01-01T00:00:01.02Z","metrics":{},"req_id":7,"rule_labels":[{}],"#,
                r#""request_context":{},"custom":{}}"#,
            )
        );
        assert!(text(ErrorForm::Text).contains(r#""error":"f:1: c","#));
        let empty = Event {
            labels: b"{}",
            timestamp: Timestamp::UNIX_EPOCH,
            ..Event::default()
        };
        assert_eq!(
            empty.text(ErrorForm::Object),
            br#"{"labels":{},"decision_id":"","timestamp":"1970-01-01T00:00:00Z"}"#
        );
    }
}
