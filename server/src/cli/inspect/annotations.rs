//! Annotations in display order.

use std::sync::Arc;

use serde_json::Value as Json;

use solon_syntax::ast::{Annotation, Module, Rule, SchemaTarget, Scope, Term};
use solon_syntax::json::{Options, text};
use solon_syntax::print::display_ref;
use solon_syntax::source::Span;

use crate::json::escape_html;

/// An annotation with the object that it is attached to.
pub struct Annotated<'m> {
    annotation: &'m Annotation,
    module: &'m Module,
    /// The rule; `None` for a package.
    rule: Option<&'m Rule>,
}

/// Returns the annotations of modules, ordered by path and position.
pub fn annotated(modules: &[Arc<Module>]) -> Vec<Annotated<'_>> {
    let mut entries: Vec<Annotated<'_>> = Vec::new();
    for module in modules {
        for annotation in &module.annotations {
            let rule = match annotation.scope {
                Scope::Package | Scope::Subpackages => None,
                Scope::Rule | Scope::Document => {
                    let mut rules = module.rules.iter();
                    let is_of = |rule: &&Rule| {
                        let mut all = rule.annotations.iter();
                        all.any(|rule_annotation| Arc::ptr_eq(rule_annotation, annotation))
                    };
                    let Some(rule) = rules.find(is_of) else {
                        continue;
                    };
                    Some(rule)
                }
            };
            entries.push(Annotated {
                annotation,
                module,
                rule,
            });
        }
    }
    let key = |entry: &Annotated<'_>| {
        let position = (
            entry.module.source.name.clone(),
            entry.annotation.span.start,
        );
        (entry.annotation.path.clone(), position)
    };
    entries.sort_by_key(|a| key(a));
    entries
}

impl Annotated<'_> {
    fn span(&self) -> Span {
        self.rule.map_or(self.module.package.span, |rule| rule.span)
    }

    /// Writes the annotation as text, with its title or, without one, the path.
    pub fn write(&self, out: &mut String) {
        let annotation = self.annotation;
        let path = display_ref(&annotation.path).to_string();
        let path = path.strip_prefix("data.").unwrap_or(&path);
        let title = annotation
            .title
            .as_deref()
            .filter(|title| !title.is_empty());
        let title = title.unwrap_or(path);
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        line(title);
        line(&"=".repeat(title.len()));
        line("");
        if let Some(description) = annotation
            .description
            .as_deref()
            .filter(|text| !text.is_empty())
        {
            line(description);
            line("");
        }
        let package = display_ref(&self.module.package.path).to_string();
        let package = package.strip_prefix("data.").unwrap_or(&package);
        line(&format!("Package:  {package}"));
        if let Some(rule) = self.rule {
            line(&format!("Rule:     {}", display_ref(&rule.head.reference)));
        }
        let (file, row) = (&self.module.source.name, self.span().row);
        line(&format!("Location: {file}:{row}"));
        line(&format!("Scope: {}", annotation.scope.as_str()));
        if annotation.entrypoint {
            line("Entrypoint: true");
        }
        line("");
        let mut list = |heading: &str, items: Vec<String>| {
            if items.is_empty() {
                return;
            }
            line(heading);
            for item in items {
                line(&format!(" {item}"));
            }
            line("");
        };
        let organizations = annotation.organizations.iter();
        list(
            "Organizations:",
            organizations.map(ToString::to_string).collect(),
        );
        let authors = annotation.authors.iter().map(|author| {
            if author.email.is_empty() {
                author.name.to_string()
            } else if author.name.is_empty() {
                format!("<{}>", author.email)
            } else {
                format!("{} <{}>", author.name, author.email)
            }
        });
        list("Authors:", authors.collect());
        let schemas = annotation.schemas.iter().map(|schema| {
            let value = match &schema.schema {
                SchemaTarget::Reference(reference) => display_ref(reference).to_string(),
                SchemaTarget::Inline(definition) => compact(definition),
            };
            (display_ref(&schema.path).to_string(), value)
        });
        list("Schemas:", align(schemas.collect()));
        let resources = annotation.related_resources.iter().map(|resource| {
            let text = format!("{} {}", resource.reference, resource.description);
            text.trim_end().to_owned()
        });
        list("Related Resources:", resources.collect());
        let custom = annotation.custom.iter().flatten();
        let custom = custom.map(|(key, value)| (key.clone(), compact(value)));
        list("Custom:", align(custom.collect()));
    }

    pub fn json(&self) -> String {
        let span = self.span();
        let path = self.annotation.path.iter();
        let path: Vec<String> = path
            .map(|part: &Term| text(part, Options::default()))
            .collect();
        format!(
            "{{\"annotations\":{},\"location\":{{\"file\":{},\"row\":{},\"col\":{}}},\"path\":[{}]}}",
            text(self.annotation, Options::default()),
            Json::from(&*self.module.source.name),
            span.row,
            span.col,
            path.join(",")
        )
    }
}

/// Returns JSON in Go's notation.
fn compact(value: &Json) -> String {
    let text = escape_html(value.to_string().into_bytes());
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns keys with a colon, padded so that the values are aligned.
fn align(pairs: Vec<(String, String)>) -> Vec<String> {
    let width = pairs.iter().map(|(key, _)| key.chars().count()).max();
    let width = width.unwrap_or(0) + 1;
    let line = |(key, value): (String, String)| {
        let key = format!("{key}:");
        format!("{key:width$} {value}")
    };
    pairs.into_iter().map(line).collect()
}
