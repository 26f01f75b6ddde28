//! Package and import statements.

use std::sync::Arc;

use nom::Parser;
use nom::combinator::opt;
use nom::sequence::preceded;

use super::Parsed;
use super::module::StatementKinds;
use super::stream::{Failure, Stream, expect, stopped_at, token};
use super::term::term;
use crate::ast::{Import, Package, Ref, Term, TermKind};
use crate::dialect::Keywords;
use crate::lexer::Kind;
use crate::print::display_ref;
use crate::source::Span;

/// Returns `true` if a keyword at the start of a statement is the head of a reference instead.
fn is_reference(keyword: Stream<'_>) -> bool {
    let after = keyword.session.token(keyword.index() + 1);
    !after.spaced && matches!(keyword.kind_after(), Kind::Dot | Kind::LBracket)
}

/// Returns `true` if a keyword at the start of a statement is used as a rule's name. The rule parser reports that.
fn is_rule_name(keyword: Stream<'_>) -> bool {
    matches!(
        keyword.kind_after(),
        Kind::Assign | Kind::Unify | Kind::LParen
    )
}

/// Moves to the path, whose first name may be a keyword.
fn path_start(input: Stream<'_>, kinds: StatementKinds) -> Result<Stream<'_>, Failure<'_>> {
    if is_reference(input) || (kinds != StatementKinds::Queries && is_rule_name(input)) {
        return Err(input.mismatch());
    }
    let stream = input.next();
    if stream.is_kind(Kind::Ident) || stream.is_reference_keyword() {
        Ok(stream.as_name())
    } else {
        Err(stream.unexpected())
    }
}

/// Parses `package a.b["c"]`. Fails if a segment is neither a name nor a string.
pub(super) fn package(input: Stream<'_>, kinds: StatementKinds) -> Parsed<'_, Package> {
    let stream = path_start(input, kinds)?;
    let (rest, path) = term(stream)?;
    let span = path.span;
    let mut parts = match path.kind {
        TermKind::Ref(parts) => parts.into_iter(),
        kind @ TermKind::Var(_) => vec![Term::new(kind, span)].into_iter(),
        _ => return Err(rest.unexpected()),
    };
    let mut path = Vec::with_capacity(parts.len() + 1);
    if let Some(first) = parts.next() {
        let TermKind::Var(name) = first.kind else {
            let message = format!("unexpected {} token: expecting var", first.kind.name());
            return Err(rest.complain(first.span, message));
        };
        path.push(Term::var("data", first.span));
        path.push(Term::string(name, first.span));
    }
    for part in parts {
        expect_string(rest, &part)?;
        path.push(part);
    }
    path_ended(rest)?;
    Ok((
        rest,
        Package {
            path,
            span: input.span(),
        },
    ))
}

/// Rejects `-` after a path. No statement begins with `-` either.
fn path_ended(stream: Stream<'_>) -> Result<(), Failure<'_>> {
    if stream.is_kind(Kind::Minus) {
        return Err(stream.unexpected());
    }
    Ok(())
}

fn expect_string<'a>(stream: Stream<'a>, part: &Term) -> Result<(), Failure<'a>> {
    if part.as_string().is_some() {
        return Ok(());
    }
    Err(stream.complain(
        part.span,
        format!("unexpected {} token: expecting string", part.kind.name()),
    ))
}

/// Parses `import path` and `import path as name`, and enables the imported keywords.
pub(super) fn import(input: Stream<'_>, kinds: StatementKinds) -> Parsed<'_, Import> {
    let session = input.session;
    let stream = path_start(input, kinds)?;
    // words that a module imports as keywords are plain names in paths
    let reserved = session.replace_keywords(Keywords::NONE);
    let outcome = term(stream);
    session.replace_keywords(reserved);
    let (rest, path) = match outcome {
        Ok(parsed) => parsed,
        Err(error) => {
            let stream = stopped_at(&error, stream);
            return Err(stream.complain(stream.span(), "expected path"));
        }
    };
    let path = match path.kind {
        TermKind::Var(_) => Term {
            span: path.span,
            kind: TermKind::Ref(vec![path]),
        },
        TermKind::Ref(_) => path,
        _ => return Err(rest.complain(rest.span(), "expected path")),
    };
    let Some(parts) = path.as_ref() else {
        return Err(rest.failure());
    };
    for part in parts.iter().skip(1) {
        expect_string(rest, part)?;
    }
    let root = root_of(rest, &path, parts)?;
    let (rest, alias) = opt(preceded(token(Kind::As), alias)).parse(rest)?;
    let (alias, alias_span) = alias.unzip();
    let alias_span = alias_span.unwrap_or_default();
    if alias.is_none() {
        reject_keyword_at_end(rest, parts, root);
    }
    path_ended(rest)?;
    match root {
        Root::Future => future_import(rest, &path, parts, alias_span),
        Root::Rego => rego_import(rest, &path, parts, alias_span),
        Root::Document if alias.is_none() => session.make_plain(rest),
        Root::Document => {}
    }
    Ok((
        rest,
        Import {
            path,
            alias,
            alias_span,
            span: input.span(),
        },
    ))
}

/// First name of an import.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Document,
    Future,
    Rego,
}

fn root_of<'a>(stream: Stream<'a>, path: &Term, parts: &Ref) -> Result<Root, Failure<'a>> {
    match parts.first().and_then(Term::as_var).map(|name| &**name) {
        Some("data" | "input") => Ok(Root::Document),
        Some("future") => Ok(Root::Future),
        Some("rego") => Ok(Root::Rego),
        _ => {
            stream
                .session
                .hint("if this is unexpected, try updating OPA");
            let root = parts.first().map(ToString::to_string).unwrap_or_default();
            let message = format!(
                "unexpected import path, must begin with one of: {{data, future, input, rego}}, got: {root}"
            );
            Err(stream.complain(path.span, message))
        }
    }
}

fn alias(stream: Stream<'_>) -> Parsed<'_, (Arc<str>, Span)> {
    let (rest, _) = expect(Kind::Ident, "expected var")(stream)?;
    if rest.continues_reference() {
        let (rest, _) = term(stream)?;
        return Err(rest.expected("expected var"));
    }
    let name = stream.variable();
    match name.kind {
        TermKind::Var(name) if !matches!(&*name, "data" | "input") => {
            Ok((rest, (name, stream.span())))
        }
        _ => {
            let message = format!(
                "unexpected import alias, must not be a reserved name, got: {}",
                stream.text()
            );
            Err(stream.complain(stream.span(), message))
        }
    }
}

/// Rejects a keyword as the last name of a path, because that name is the name of the import.
fn reject_keyword_at_end(stream: Stream<'_>, parts: &Ref, root: Root) {
    if root == Root::Future {
        return;
    }
    let Some(last) = parts.last() else { return };
    let Some(name) = last.as_string().or_else(|| last.as_var()) else {
        return;
    };
    if stream.session.options.reserves(name) {
        stream
            .session
            .hint("import a different path or use an alias");
        stream.session.report(
            last.span,
            format!("unexpected import path, must not end with a keyword, got: {name}"),
        );
    }
}

/// Applies `future.keywords` and `future.keywords.x`. Parsing continues after errors in them.
fn future_import(stream: Stream<'_>, path: &Term, parts: &Ref, alias: Span) {
    let session = stream.session;
    let importable = session.options.importable;
    let mut names = parts
        .iter()
        .skip(1)
        .map(|part| part.as_string().map_or("", |name| &**name));
    if names.next() != Some("keywords") {
        session.report(path.span, "invalid import, must be `future.keywords`");
        return;
    }
    if alias.is_somewhere() {
        session.report(alias, "`future` imports cannot be aliased");
        return;
    }
    let keywords = match (names.next(), names.next()) {
        (Some(name), None) => {
            let Some(keyword) =
                Keywords::from_name(name).filter(|keyword| importable.contains(*keyword))
            else {
                let allowed: Vec<&str> = importable.names().collect();
                let message = format!("unexpected keyword, must be one of [{}]", allowed.join(" "));
                session.report(path.span, message);
                return;
            };
            keyword
        }
        _ => importable,
    };
    session.import_keywords(keywords);
}

/// Applies `rego.v1` and `rego.v2`. Parsing continues after errors in them.
fn rego_import(stream: Stream<'_>, path: &Term, parts: &Ref, alias: Span) {
    let session = stream.session;
    let features = session.options.features();
    let version = match parts.as_slice() {
        [_, version] => version.as_string().map(|version| &**version),
        _ => None,
    };
    let (keywords, supported) = match version {
        Some("v1") => (Keywords::V1, features.rego_v1),
        Some("v2") => (Keywords::ALL, features.rego_v2_import),
        _ => {
            let path_text = display_ref(parts);
            let message =
                format!("invalid import `{path_text}`, must be one of: `rego.v1`, `rego.v2`");
            session.report(path.span, message);
            return;
        }
    };
    if !supported {
        let path_text = display_ref(parts);
        let message =
            format!("invalid import, `{path_text}` is not supported by current capabilities");
        session.report(path.span, message);
        return;
    }
    if alias.is_somewhere() {
        session.report(alias, "`rego` imports cannot be aliased");
        return;
    }
    session.import_keywords(keywords);
}
