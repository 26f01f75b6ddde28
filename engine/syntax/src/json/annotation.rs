//! Annotations as JSON: in AST JSON, and as values for policies.

use serde_json::{Map, Value, json};

use super::sink::Sink;
use super::texts::block_text;
use super::write::{Write, Writer};
use crate::ast::{
    Annotation, Author, CompileHints, RelatedResource, SchemaRef, SchemaTarget, Term, TermKind,
};

impl Write for Annotation {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.list("authors", &self.authors);
            out.optional("compile", self.compile.as_ref());
            out.fields("custom", self.custom.as_ref());
            out.optional_text("description", self.description.as_deref());
            out.flag("entrypoint", self.entrypoint);
            out.fields("labels", self.labels.as_ref());
            let text = block_text(out.slice(self.span));
            out.located(self.span, Some(&text));
            out.list("organizations", &self.organizations);
            out.list("related_resources", &self.related_resources);
            out.list("schemas", &self.schemas);
            out.text("scope", self.scope.as_str());
            out.optional_text("title", self.title.as_deref());
        });
    }
}

impl<S: Sink> Writer<'_, S> {
    fn optional_text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// Writes a free-form object if it has members.
    fn fields(&mut self, key: &str, fields: Option<&Map<String, Value>>) {
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            self.member(key, fields);
        }
    }
}

impl Write for Author {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.text("name", &self.name);
            if !self.email.is_empty() {
                out.text("email", &self.email);
            }
        });
    }
}

impl Write for RelatedResource {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            if !self.description.is_empty() {
                out.text("description", &self.description);
            }
            out.text("ref", &self.reference);
        });
    }
}

impl Write for SchemaRef {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            out.member("path", &self.path);
            match &self.schema {
                SchemaTarget::Reference(path) => out.member("schema", path),
                SchemaTarget::Inline(definition) => out.member("definition", definition),
            }
        });
    }
}

impl Write for CompileHints {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| {
            if !self.unknowns.is_empty() {
                out.sink.key("unknowns");
                out.sink.begin_array();
                self.unknowns
                    .iter()
                    .for_each(|unknown| write_bare(out, unknown));
                out.sink.end_array();
            }
            if let Some(rule) = &self.mask_rule {
                out.sink.key("mask_rule");
                write_bare(out, rule);
            }
        });
    }
}

/// Writes a reference as the bare list of its terms.
fn write_bare<S: Sink>(out: &mut Writer<'_, S>, term: &Term) {
    match &term.kind {
        TermKind::Ref(terms) => terms.write(out),
        TermKind::Null => <[Term]>::write(&[], out),
        _ => std::slice::from_ref(term).write(out),
    }
}

impl Write for str {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.sink.string(self);
    }
}

impl Write for Value {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        match self {
            Self::Null => out.sink.null(),
            Self::Bool(value) => out.sink.boolean(*value),
            Self::Number(number) => out.sink.number(&number.to_string()),
            Self::String(text) => out.sink.string(text),
            Self::Array(elements) => elements.write(out),
            Self::Object(members) => members.write(out),
        }
    }
}

impl Write for Map<String, Value> {
    fn write<S: Sink>(&self, out: &mut Writer<'_, S>) {
        out.object(|out| self.iter().for_each(|(key, value)| out.member(key, value)));
    }
}

/// Returns the object that `rego.metadata.rule()` and `rego.metadata.chain()` return to policies.
pub fn annotation_object(annotation: &Annotation) -> Value {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| {
        let empty = match &value {
            Value::Null => true,
            Value::Array(elements) => elements.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if !empty {
            out.insert(key.to_owned(), value);
        }
    };
    put("scope", annotation.scope.as_str().into());
    put("title", annotation.title.as_deref().into());
    put("description", annotation.description.as_deref().into());
    put("entrypoint", annotation.entrypoint.then_some(true).into());
    put(
        "organizations",
        annotation
            .organizations
            .iter()
            .map(|name| &**name)
            .collect(),
    );
    put(
        "related_resources",
        annotation
            .related_resources
            .iter()
            .map(related_resource)
            .collect(),
    );
    put("authors", annotation.authors.iter().map(author).collect());
    put("schemas", annotation.schemas.iter().map(schema).collect());
    put("custom", annotation.custom.clone().into());
    put("labels", annotation.labels.clone().into());
    Value::Object(out)
}

fn author(author: &Author) -> Value {
    strings([("name", &author.name), ("email", &author.email)])
}

fn related_resource(resource: &RelatedResource) -> Value {
    strings([
        ("ref", &resource.reference),
        ("description", &resource.description),
    ])
}

/// Returns an object with the strings that are not empty.
fn strings<'a>(members: impl IntoIterator<Item = (&'a str, &'a std::sync::Arc<str>)>) -> Value {
    let non_empty = members.into_iter().filter(|(_, text)| !text.is_empty());
    Value::Object(
        non_empty
            .map(|(key, text)| (key.to_owned(), Value::from(&**text)))
            .collect(),
    )
}

fn schema(schema: &SchemaRef) -> Value {
    let path = plain_path(&schema.path);
    match &schema.schema {
        SchemaTarget::Reference(reference) => {
            json!({ "path": path, "schema": plain_path(reference) })
        }
        SchemaTarget::Inline(definition) => json!({ "path": path, "definition": definition }),
    }
}

/// Returns the segments of a reference as strings.
pub fn plain_path(path: &[Term]) -> Value {
    path.iter()
        .map(|part| match &part.kind {
            TermKind::String(text) | TermKind::Var(text) => text.to_string(),
            other => other.to_string(),
        })
        .collect()
}
