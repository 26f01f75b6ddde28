//! Decodes JSON into the tree.

use serde_json::Value;

use super::document::{Document, Error, value_depth};
use super::members::{Members, array, boolean, integer, list, number, string};
use crate::ParseOptions;
use crate::ast::{
    Body, Comprehension, Every, Expr, ExprKind, Head, Import, Logical, Module, Name, Not, Package,
    Rule, SomeDecl, Template, TemplatePart, Term, TermKind, Version, With,
};
use crate::source::{Source, SourceId, Span};

/// Maximum nesting depth of terms and bodies: each is a bracket of the text, except for the outermost ones.
pub(super) const NESTING: u32 = ParseOptions::NESTING + 2;

/// Decodes a term from JSON text.
///
/// # Errors
/// The text is not JSON or not a term; the message names the path.
pub fn read_term(text: &str) -> Result<Term, Error> {
    read(Document::parse(text)?, SourceId::NONE, Reader::term)
}

/// Decodes a term from a JSON value. Grows the stack for deep values.
///
/// # Errors
/// The value is not a term.
pub fn read_term_value(value: &Value) -> Result<Term, Error> {
    with_stack(value_depth(value), || {
        read(Document::from_value(value)?, SourceId::NONE, Reader::term)
    })
}

/// Decodes a body from JSON text: an array of expressions. Fails if the text is not JSON or not a body.
pub fn read_body(text: &str) -> Result<Body, Error> {
    read(Document::parse(text)?, SourceId::NONE, Reader::body)
}

/// Decodes a module. `source` names it in errors. Comments and annotations of the JSON are skipped, since evaluation
/// does not depend on them.
pub fn read_module(text: &str, source: Source, version: Version) -> Result<Module, Error> {
    let id = source.id;
    read(Document::parse(text)?, id, |reader, document| {
        reader.module(document, source, version)
    })
}

/// Decodes a module from a JSON value. Grows the stack for deep values. `source` gives spans their text.
///
/// # Errors
/// The value is not a module.
pub fn read_module_value(value: &Value, source: Source, version: Version) -> Result<Module, Error> {
    let id = source.id;
    with_stack(value_depth(value), || {
        read(Document::from_value(value)?, id, |reader, document| {
            reader.module(document, source, version)
        })
    })
}

fn read<T>(
    document: Document<'_>,
    source: SourceId,
    convert: impl FnOnce(&mut Reader, &Document<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    with_stack(document.depth(), move || {
        let mut reader = Reader {
            source,
            depth: 0,
            calls: 0,
            longest: 0,
        };
        convert(&mut reader, &document)
    })
}

/// Documents nested deeper than this are decoded on a separate stack, so that callers need little stack.
const SHALLOW: usize = 100;

/// Stack for [`NESTING`] levels of the kind that needs most. Chains of calls need [`LEVEL`] bytes for each level of the
/// document.
const STACK: usize = if cfg!(debug_assertions) {
    16 << 20
} else {
    2 << 20
};

/// Bytes for each level of a chain of calls, see [`STACK`].
const LEVEL: usize = if cfg!(debug_assertions) {
    16 << 10
} else {
    2 << 10
};

fn with_stack<T>(depth: usize, convert: impl FnOnce() -> T) -> T {
    if depth <= SHALLOW {
        convert()
    } else {
        let stack = STACK.max(depth * LEVEL);
        stacker::maybe_grow(stack, stack, convert)
    }
}

struct Reader {
    /// Text that locations refer to.
    source: SourceId,
    /// Nesting depth of terms and bodies, without calls.
    depth: u32,
    /// Number of calls around the current term: in a chain of operators each is nested in the left operand of the next.
    calls: u32,
    /// Maximum of `calls` so far.
    longest: u32,
}

impl Reader {
    /// Enters a nested term or body. The caller leaves it after success; an error ends the whole decoding.
    fn descend(&mut self) -> Result<(), Error> {
        if self.depth >= NESTING {
            return Err(Error::new(format!("nested deeper than {NESTING} levels")));
        }
        self.depth += 1;
        Ok(())
    }

    /// Enters a call, like [`Self::descend`].
    ///
    /// # Errors
    /// Calls are nested deeper than [`ParseOptions::CHAIN`].
    fn enter_call(&mut self) -> Result<(), Error> {
        const CHAIN: u32 = ParseOptions::CHAIN;
        if self.calls >= CHAIN {
            return Err(Error::new(format!(
                "calls nested deeper than {CHAIN} levels"
            )));
        }
        self.calls += 1;
        self.longest = self.longest.max(self.calls);
        Ok(())
    }

    fn span(&self, members: Members<'_>) -> Result<Span, Error> {
        let location = members.read_optional("location", |location| {
            let location = Members::from_document(location)?;
            Ok((
                location.read("row", integer)?,
                location.read("col", integer)?,
            ))
        })?;
        let Some((row, col)) = location else {
            return Ok(Span::default());
        };
        Ok(Span {
            source: self.source,
            row,
            col,
            start: 0,
            end: 0,
        })
    }

    fn term(&mut self, document: &Document<'_>) -> Result<Term, Error> {
        let members = Members::from_document(document)?;
        let span = self.span(members)?;
        let kind = members.read("type", string)?;
        if &*kind == "null" {
            return Ok(Term::new(TermKind::Null, span));
        }
        let is_call = &*kind == "call";
        if is_call {
            self.enter_call()?;
        } else {
            self.descend()?;
        }
        let value = members.required("value")?;
        let kind = self
            .term_kind(&kind, value)
            .map_err(|error| error.at_key("value"))?;
        if is_call {
            self.calls -= 1;
        } else {
            self.depth -= 1;
        }
        Ok(Term::new(kind, span))
    }

    fn term_kind(&mut self, kind: &str, value: &Document<'_>) -> Result<TermKind, Error> {
        Ok(match kind {
            "boolean" => TermKind::Boolean(boolean(value)?),
            "number" => TermKind::Number(number(value)?),
            "string" => TermKind::String(string(value)?),
            "var" => TermKind::Var(string(value)?),
            "ref" => TermKind::Ref(self.headed(value)?),
            "array" => TermKind::Array(self.terms(value)?.into()),
            "set" => TermKind::Set(self.terms(value)?.into()),
            "call" => TermKind::Call(self.headed(value)?.into()),
            "object" => TermKind::Object(self.pairs(value)?.into()),
            "arraycomprehension" => TermKind::ArrayComprehension(self.comprehension(value, false)?),
            "setcomprehension" => TermKind::SetComprehension(self.comprehension(value, false)?),
            "objectcomprehension" => {
                TermKind::ObjectComprehension(self.comprehension(value, true)?)
            }
            "templatestring" => TermKind::Template(self.template(value)?),
            other => return Err(Error::new(format!("unknown term type `{other}`"))),
        })
    }

    fn terms(&mut self, document: &Document<'_>) -> Result<Vec<Term>, Error> {
        list(document, |term| self.term(term))
    }

    /// Decodes the terms of a reference or call, which has at least a head.
    fn headed(&mut self, document: &Document<'_>) -> Result<Vec<Term>, Error> {
        let terms = self.terms(document)?;
        if terms.is_empty() {
            Err(Error::new("expected terms, found an empty array"))
        } else {
            Ok(terms)
        }
    }

    fn pairs(&mut self, document: &Document<'_>) -> Result<Vec<(Term, Term)>, Error> {
        list(document, |pair| match array(pair)? {
            [key, value] => Ok((self.term(key)?, self.term(value)?)),
            other => Err(Error::new(format!(
                "expected a key and a value, found {} terms",
                other.len()
            ))),
        })
    }

    fn comprehension(
        &mut self,
        document: &Document<'_>,
        keyed: bool,
    ) -> Result<Box<Comprehension>, Error> {
        let members = Members::from_document(document)?;
        let key = if keyed {
            Some(members.read("key", |key| self.term(key))?)
        } else {
            None
        };
        let head = members.read(if keyed { "value" } else { "term" }, |head| self.term(head))?;
        let body = members.read("body", |body| list(body, |expr| self.expr(expr)))?;
        Ok(Box::new(Comprehension { key, head, body }))
    }

    fn template(&mut self, document: &Document<'_>) -> Result<Box<Template>, Error> {
        let members = Members::from_document(document)?;
        let parts = members.read_optional("parts", |parts| {
            list(parts, |part| {
                // only expressions have `terms`
                if Members::from_document(part)?.get("terms").is_some() {
                    self.expr(part).map(TemplatePart::Expr)
                } else {
                    self.term(part).map(TemplatePart::Term)
                }
            })
        })?;
        Ok(Box::new(Template {
            parts: parts.unwrap_or_default(),
            multi_line: members.flag("multi_line")?,
        }))
    }

    fn body(&mut self, document: &Document<'_>) -> Result<Body, Error> {
        self.descend()?;
        let body = list(document, |expr| self.expr(expr))?;
        self.depth -= 1;
        Ok(body)
    }

    fn expr(&mut self, document: &Document<'_>) -> Result<Expr, Error> {
        let members = Members::from_document(document)?;
        let span = self.span(members)?;
        Ok(Expr {
            kind: members.read("terms", |terms| self.expr_kind(terms, span))?,
            with: members
                .read_optional("with", |with| list(with, |with| self.with(with)))?
                .unwrap_or_default(),
            negated: members.flag("negated")?,
            generated: members.flag("generated")?,
            assigned: false,
            index: members.read_optional("index", integer)?.unwrap_or(0),
            span,
        })
    }

    fn expr_kind(&mut self, document: &Document<'_>, span: Span) -> Result<ExprKind, Error> {
        if let Document::Array(_) = document {
            return Ok(ExprKind::Call(self.headed(document)?));
        }
        let members = Members::from_document(document)?;
        if members.get("symbols").is_some() {
            let symbols = members.read("symbols", |symbols| self.terms(symbols))?;
            return Ok(ExprKind::Some(SomeDecl {
                symbols,
                span: self.span(members)?,
            }));
        }
        if members.get("domain").is_some() {
            return Ok(ExprKind::Every(Box::new(self.every(members)?)));
        }
        match members.read("type", string)?.as_ref() {
            "not" => Ok(ExprKind::Not(Box::new(Not {
                body: members.read("body", |body| self.body(body))?,
                explicit_body: members.flag("explicit_body")?,
                span: self.span(members)?,
            }))),
            "and" => Ok(ExprKind::And(Box::new(self.logical(members, span)?))),
            "or" => Ok(ExprKind::Or(Box::new(self.logical(members, span)?))),
            _ => Ok(ExprKind::Term(self.term(document)?)),
        }
    }

    fn every(&mut self, members: Members<'_>) -> Result<Every, Error> {
        Ok(Every {
            key: members.read_optional("key", |key| self.term(key))?,
            value: members.read("value", |value| self.term(value))?,
            domain: members.read("domain", |domain| self.term(domain))?,
            body: members.read("body", |body| self.body(body))?,
            span: self.span(members)?,
        })
    }

    fn logical(&mut self, members: Members<'_>, span: Span) -> Result<Logical, Error> {
        let location = self.span(members)?;
        // left operands nest as those of calls do
        self.enter_call()?;
        let lhs = members.read("lhs", |lhs| list(lhs, |expr| self.expr(expr)))?;
        self.calls -= 1;
        Ok(Logical {
            lhs,
            rhs: members.read("rhs", |rhs| self.body(rhs))?,
            explicit_lhs: members.flag("explicit_lhs")?,
            explicit_rhs: members.flag("explicit_rhs")?,
            span: if location.is_somewhere() {
                location
            } else {
                span
            },
        })
    }

    fn with(&mut self, document: &Document<'_>) -> Result<With, Error> {
        let members = Members::from_document(document)?;
        Ok(With {
            target: members.read("target", |target| self.term(target))?,
            value: members.read("value", |value| self.term(value))?,
            span: self.span(members)?,
        })
    }

    fn head(&mut self, document: &Document<'_>) -> Result<Head, Error> {
        let members = Members::from_document(document)?;
        let name: Option<Name> = members.read_optional("name", string)?;
        let span = self.span(members)?;
        let reference = match (
            members.read_optional("ref", |terms| self.terms(terms))?,
            &name,
        ) {
            (Some(reference), _) if !reference.is_empty() => reference,
            (_, Some(name)) => vec![Term::var(name.clone(), span)],
            _ => return Err(Error::new("missing `ref`")),
        };
        let value = members.read_optional("value", |value| self.term(value))?;
        Ok(Head {
            name,
            reference,
            args: members
                .read_optional("args", |args| self.terms(args))?
                .unwrap_or_default(),
            key: members.read_optional("key", |key| self.term(key))?,
            value,
            generated_value: false,
            assign: members.flag("assign")?,
            span,
        })
    }

    fn rule(&mut self, document: &Document<'_>) -> Result<Rule, Error> {
        self.descend()?;
        let members = Members::from_document(document)?;
        let rule = Rule {
            default: members.flag("default")?,
            head: members.read("head", |head| self.head(head))?,
            body: members.read("body", |body| self.body(body))?,
            else_rule: members
                .read_optional("else", |rule| self.rule(rule))?
                .map(Box::new),
            annotations: Vec::new(),
            span: self.span(members)?,
        };
        self.depth -= 1;
        Ok(rule)
    }

    fn import(&mut self, document: &Document<'_>) -> Result<Import, Error> {
        let members = Members::from_document(document)?;
        Ok(Import {
            path: members.read("path", |path| self.term(path))?,
            alias: members.read_optional("alias", string)?,
            alias_span: Span::default(),
            span: self.span(members)?,
        })
    }

    fn package(&mut self, document: &Document<'_>) -> Result<Package, Error> {
        let members = Members::from_document(document)?;
        Ok(Package {
            path: members.read("path", |path| self.terms(path))?,
            span: self.span(members)?,
        })
    }

    fn module(
        &mut self,
        document: &Document<'_>,
        source: Source,
        version: Version,
    ) -> Result<Module, Error> {
        let members = Members::from_document(document)?;
        Ok(Module {
            source,
            version,
            package: members.read("package", |package| self.package(package))?,
            imports: members
                .read_optional("imports", |imports| {
                    list(imports, |import| self.import(import))
                })?
                .unwrap_or_default(),
            rules: members
                .read_optional("rules", |rules| list(rules, |rule| self.rule(rule)))?
                .unwrap_or_default(),
            comments: Vec::new(),
            annotations: Vec::new(),
            // includes terms that were decoded before
            chain: self.longest,
        })
    }
}
