//! Interprets the fields of a block.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::decode::{Fields, MappingMembers};
use super::url;
use super::value::{Any, GoDisplay, Unsupported};
use crate::ast::{
    Annotation, Author, CompileHints, ExprKind, RelatedResource, SchemaRef, SchemaTarget, Scope,
    Term, TermKind,
};
use crate::dialect::ParseOptions;
use crate::grammar::parse_body;
use crate::source::{Source, SourceId, Span};

/// Builds an annotation from the fields. Its scope and path are set later, when it is attached.
pub(super) fn annotation(
    fields: Fields,
    span: Span,
    options: &ParseOptions,
) -> Result<Annotation, String> {
    let reader = References {
        options: ParseOptions {
            annotations: false,
            ..*options
        },
    };
    Ok(Annotation {
        scope: Scope::Rule,
        id: text(fields.id),
        title: text(fields.title),
        description: text(fields.description),
        entrypoint: fields.entrypoint,
        organizations: fields.organizations.into_iter().map(Arc::from).collect(),
        related_resources: fields
            .related_resources
            .iter()
            .map(related_resource)
            .collect::<Result<_, _>>()?,
        authors: fields
            .authors
            .iter()
            .map(author)
            .collect::<Result<_, _>>()?,
        schemas: fields
            .schemas
            .into_iter()
            .map(|entry| reader.schema(entry))
            .collect::<Result<_, _>>()?,
        compile: fields
            .compile
            .map(|members| reader.compile(&members))
            .transpose()?,
        custom: fields.custom.map(object).transpose()?,
        labels: fields.labels.map(object).transpose()?,
        path: Vec::new(),
        span,
    })
}

fn text(text: String) -> Option<Arc<str>> {
    Some(text).filter(|text| !text.is_empty()).map(Arc::from)
}

fn object(members: MappingMembers) -> Result<Map<String, Value>, String> {
    let mut out = Map::new();
    for (key, value) in members {
        out.insert(
            key,
            value.into_json().map_err(|problem| problem.to_string())?,
        );
    }
    Ok(out)
}

/// Returns the trimmed member of a mapping, or an empty string if it is not a string.
fn trimmed<'a>(mapping: &'a Any, key: &str) -> &'a str {
    mapping.get(key).and_then(Any::as_str).map_or("", str::trim)
}

/// Checks that all keys of a mapping are strings. The error names the key.
fn check_keys(mapping: &Any) -> Result<(), String> {
    match mapping.clone().into_json() {
        Err(problem @ Unsupported::Key(_)) => Err(problem.to_string()),
        _ => Ok(()),
    }
}

fn related_resource(value: &Any) -> Result<RelatedResource, String> {
    let resource = || {
        let (reference, description) = match value {
            Any::Mapping(_) => {
                check_keys(value)?;
                let reference = trimmed(value, "ref");
                if reference.is_empty() {
                    return Err("'ref' value required in object".to_owned());
                }
                (reference, trimmed(value, "description"))
            }
            _ => match value.as_str() {
                Some("") => return Err("ref URL may not be empty string".to_owned()),
                Some(reference) => (reference, ""),
                None => return Err("invalid value type, must be string or map".to_owned()),
            },
        };
        Ok(RelatedResource {
            reference: url::normalize(reference)?.into(),
            description: description.into(),
        })
    };
    resource().map_err(|problem| {
        format!(
            "invalid related-resource definition {}: {problem}",
            GoDisplay(value)
        )
    })
}

fn author(value: &Any) -> Result<Author, String> {
    let author = || {
        if let Any::Mapping(_) = value {
            check_keys(value)?;
            let (name, email) = (trimmed(value, "name"), trimmed(value, "email"));
            if name.is_empty() && email.is_empty() {
                return Err("'name' and/or 'email' values required in object".to_owned());
            }
            return Ok(Author {
                name: name.into(),
                email: email.into(),
            });
        }
        let Some(text) = value.as_str() else {
            return Err("invalid value type, must be string or map".to_owned());
        };
        named_author(text).ok_or_else(|| "author is an empty string".to_owned())
    };
    author().map_err(|problem| format!("invalid author definition {}: {problem}", GoDisplay(value)))
}

/// Parses `Name <address>`. Either part may be missing.
fn named_author(text: &str) -> Option<Author> {
    let mut parts: Vec<&str> = text.split_whitespace().collect();
    let last = parts.last()?;
    let email = last
        .strip_prefix('<')
        .and_then(|email| email.strip_suffix('>'));
    if email.is_some() {
        parts.pop();
    }
    Some(Author {
        name: parts.join(" ").into(),
        email: email.unwrap_or_default().into(),
    })
}

/// Returns `true` if a reference is a single variable other than `data` and `input`.
fn is_lone_variable(path: &[Term]) -> bool {
    match path {
        [head] => !head
            .as_var()
            .is_some_and(|name| matches!(&**name, "input" | "data")),
        _ => false,
    }
}

/// Parses references inside blocks.
struct References {
    options: ParseOptions,
}

impl References {
    fn schema(&self, entry: MappingMembers) -> Result<SchemaRef, String> {
        let invalid_path = || "invalid document reference".to_owned();
        let (key, value) = entry.into_iter().next().ok_or_else(invalid_path)?;
        let mut path = self
            .plain_reference(&key)
            .filter(|path| !is_lone_variable(path))
            .ok_or_else(invalid_path)?;
        // the path has no source location of its own
        for part in &mut path {
            part.span = Span::default();
        }
        let schema = match value {
            Any::Mapping(_) => value.into_json().ok().map(SchemaTarget::Inline),
            _ => match value.as_str() {
                Some(text) => {
                    let reference = self.plain_reference(text).filter(|terms| {
                        terms
                            .first()
                            .and_then(Term::as_var)
                            .is_some_and(|head| &**head == "schema")
                    });
                    let Some(reference) = reference else {
                        return Err("invalid schema reference".to_owned());
                    };
                    Some(SchemaTarget::Reference(reference))
                }
                None => None,
            },
        };
        match schema {
            Some(schema) => Ok(SchemaRef { path, schema }),
            None => Err(format!(
                "invalid schema declaration for path {}",
                crate::print::quote(&key)
            )),
        }
    }

    /// Parses a variable or a reference.
    fn plain_reference(&self, text: &str) -> Option<Vec<Term>> {
        match self.term(text).ok()? {
            Term {
                kind: TermKind::Ref(terms),
                ..
            } => Some(terms),
            Term {
                kind: kind @ TermKind::Var(_),
                ..
            } => Some(vec![Term::new(kind, Span::default())]),
            _ => None,
        }
    }

    fn compile(&self, members: &MappingMembers) -> Result<CompileHints, String> {
        let mut hints = CompileHints::default();
        for (key, value) in members {
            match (key.as_str(), value) {
                ("unknowns", Any::Sequence(elements)) => {
                    hints.unknowns = elements
                        .iter()
                        .map(|unknown| self.unknown(unknown))
                        .collect::<Result<_, _>>()?;
                }
                ("mask_rule", value) => {
                    hints.mask_rule = value
                        .as_str()
                        .map(|text| self.mask_rule(text))
                        .transpose()?;
                }
                _ => {}
            }
        }
        Ok(hints)
    }

    /// Parses a reference. List elements that are not strings parse as the empty string.
    fn unknown(&self, element: &Any) -> Result<Term, String> {
        let Some(text) = element.as_str() else {
            return Ok(Term::default());
        };
        let problem = match self.term(text) {
            Ok(term) if term.as_ref().is_some() => return Ok(term),
            Ok(term) => format!("expected ref but got {term}"),
            Err(problem) => format!("failed to parse ref: {problem}"),
        };
        Err(format!(
            "invalid unknowns element {}: {problem}",
            crate::print::quote(text)
        ))
    }

    /// Parses a reference, or a name relative to the package.
    fn mask_rule(&self, text: &str) -> Result<Term, String> {
        let quoted_text = || crate::print::quote(text);
        let term = self.term(text).map_err(|problem| {
            format!("invalid mask_rule annotation {}: {problem}", quoted_text())
        })?;
        match term.kind {
            TermKind::Ref(_) => Ok(term),
            TermKind::Var(_) | TermKind::String(_) => {
                let span = term.span;
                Ok(Term::new(TermKind::Ref(vec![term]), span))
            }
            _ => Err(format!(
                "invalid mask_rule annotation type {}: string",
                quoted_text()
            )),
        }
    }

    fn term(&self, text: &str) -> Result<Term, String> {
        let source = Source::new(SourceId::NONE, "", text);
        let body = parse_body(&source, &self.options)
            .map_err(|errors| format!("failed to parse term: {errors}"))?;
        let [expr] = body.as_slice() else {
            return Err(format!(
                "expected exactly one term but got: {}",
                crate::print::display_body(&body)
            ));
        };
        match &expr.kind {
            ExprKind::Term(term) => Ok(term.clone()),
            ExprKind::Call(terms) => {
                let terms: Vec<String> = terms.iter().map(ToString::to_string).collect();
                Err(format!("expected term but got [{}]", terms.join(" ")))
            }
            other => Err(format!("expected term but got {other}")),
        }
    }
}
