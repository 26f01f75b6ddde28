//! Modules and queries: sequences of statements of all kinds.

use nom::Err;

use super::body::statement;
use super::errors::Report;
use super::import::{import, package};
use super::rule::{Draft, rules};
use super::session::Session;
use super::stream::{Stream, stopped_at};
use super::{Parsed, bare};
use crate::annotations;
use crate::ast::{Body, Expr, ExprKind, Import, Module, Name, Package, Rule, Term, Version};
use crate::lexer::Kind;
use crate::source::{Code, Diagnostic, Diagnostics, Source, Span};

/// A statement that is not yet part of a module.
enum Statement {
    Package(Package),
    Import(Import),
    Rules(Vec<Draft>),
    /// An expression: a rule in a module, or an expression of a query.
    Body(Body),
}

impl Statement {
    fn span(&self) -> Span {
        match self {
            Self::Package(package) => package.span,
            Self::Import(import) => import.span,
            Self::Rules(drafts) => drafts
                .first()
                .map(|draft| draft.rule.span)
                .unwrap_or_default(),
            Self::Body(body) => body.first().map(|expr| expr.span).unwrap_or_default(),
        }
    }
}

/// Kinds of statements that a text may contain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementKinds {
    Rules,
    /// Expressions only.
    Queries,
    /// Expressions. Statements that parse as rules are rejected.
    Statements,
}

/// Parses all statements, up to the first syntax error. Also returns the offset where parsing ended.
fn statements<'a>(session: &'a Session<'a>, kinds: StatementKinds) -> (Vec<Statement>, u32) {
    let mut statements = Vec::new();
    let mut stream = Stream::new(session);
    while !stream.is_kind(Kind::Eof) {
        match one_statement(stream, kinds) {
            Ok((rest, statement)) => {
                statements.push(statement);
                stream = rest;
            }
            Err(error) => {
                // The error has been reported.
                stream = stopped_at(&error, stream);
                break;
            }
        }
    }
    (statements, stream.span().start)
}

/// Tries all kinds of statements. A reported error ends the search.
fn one_statement(input: Stream<'_>, kinds: StatementKinds) -> Parsed<'_, Statement> {
    input.session.begin_statement();
    match input.kind() {
        Kind::Package => match package(input, kinds) {
            Ok((rest, package)) => return Ok((rest, Statement::Package(package))),
            Err(Err::Error(_)) => {}
            Err(error) => return Err(error),
        },
        Kind::Import => match import(input, kinds) {
            Ok((rest, import)) => return Ok((rest, Statement::Import(import))),
            Err(Err::Error(_)) => {}
            Err(error) => return Err(error),
        },
        _ => {}
    }
    if kinds != StatementKinds::Queries {
        let before = input.session.checkpoint();
        match rules(input) {
            Ok((_, drafts)) if kinds == StatementKinds::Statements && are_expressions(&drafts) => {
                input.session.roll_back(before);
            }
            Ok((rest, drafts)) => return Ok((rest, Statement::Rules(drafts))),
            Err(Err::Error(_)) if !input.session.has_reports() => input.session.roll_back(before),
            Err(error) => return Err(error),
        }
    }
    let (rest, body) = statement(input)?;
    Ok((rest, Statement::Body(body)))
}

/// Returns `true` if the rules consist of heads with values only, which also parse as expressions.
fn are_expressions(drafts: &[Draft]) -> bool {
    drafts.iter().all(|Draft { rule, .. }| {
        let is_bare = rule.body.iter().all(|expr| expr.generated);
        is_bare && !rule.default && rule.head.value.is_some()
    })
}

/// Parses a module. Parsing continues after an error, so that all of them are returned.
///
/// # Errors
/// All errors of the text, and of its METADATA blocks.
pub(super) fn module(session: Session<'_>, mut module: Module) -> Result<Module, Diagnostics> {
    let (source, options) = (session.source, session.options);
    let (statements, end) = statements(&session, StatementKinds::Rules);
    let chain = session.chain();
    if session.has_reports() {
        let mut errors = session.into_diagnostics();
        let mut comments = module.comments;
        // Errors of METADATA blocks before the end of parsing count.
        let starts = errors.0.iter().map(|error| error.span.start);
        let end = starts.fold(end, u32::max);
        comments.retain(|comment| comment.span.start < end);
        errors
            .0
            .extend(annotations::check(&comments, source, options));
        return Err(errors);
    }
    let mut rejections = StatementErrors {
        source,
        list: Vec::new(),
    };
    let mut statements = statements.into_iter().peekable();
    // Other statements in place of the package are not checked.
    match statements.next() {
        Some(Statement::Package(package)) => module.package = package,
        Some(other) => rejections.add(other.span(), "package expected"),
        None => match annotations::first_block(&module.comments, options) {
            Some(block) => rejections.add(block, "package expected"),
            None => rejections.add(Span::default(), "empty module"),
        },
    }
    let mut complaints: Vec<Report> = Vec::new();
    while let Some(statement) = statements.next() {
        match statement {
            Statement::Package(package) => rejections.add(package.span, "unexpected package"),
            Statement::Import(import) => {
                if module.version == Version::V0 && is_rego_import(&import) {
                    module.version = Version::V0CompatV1;
                }
                module.imports.push(import);
            }
            Statement::Rules(drafts) => {
                for draft in drafts {
                    module.rules.push(draft.rule);
                    complaints.extend(draft.complaints);
                }
            }
            Statement::Body(body) => {
                let span = body.first().map(|expr| expr.span).unwrap_or_default();
                let hint = (module.version == Version::V0)
                    .then(|| keyword_hint(&body, statements.peek()))
                    .flatten();
                match bare::rule(body) {
                    Ok(draft) => {
                        module.rules.push(draft.rule);
                        complaints.extend(draft.complaints);
                    }
                    Err(message) => match hint {
                        Some(hint) => rejections.add(span, format!("{message} (hint: {hint})")),
                        None => rejections.add(span, message),
                    },
                }
            }
        }
    }
    if module.version.is_v1() {
        for Report { span, message } in complaints {
            rejections.add(span, message);
        }
    }
    if rejections.list.is_empty() {
        module.chain = chain;
        annotations::attach(&mut module, options)?;
        return Ok(module);
    }
    // Errors of METADATA blocks precede those of statements that are not rules.
    match annotations::check(&module.comments, source, options) {
        blocks if blocks.is_empty() => Err(Diagnostics(rejections.list)),
        blocks => Err(Diagnostics(blocks)),
    }
}

/// Errors about whole statements. They contain no source line.
struct StatementErrors<'a> {
    source: &'a Source,
    list: Vec<Diagnostic>,
}

impl StatementErrors<'_> {
    fn add(&mut self, span: Span, message: impl Into<String>) {
        self.list
            .push(Diagnostic::at_span(Code::Parse, self.source, span, message));
    }
}

fn is_rego_import(import: &Import) -> bool {
    import
        .path
        .as_ref()
        .and_then(|parts| parts.first())
        .and_then(Term::as_var)
        .is_some_and(|root| &**root == "rego")
}

/// Returns the import to suggest if a statement that is not a rule is `if` or `contains`, or is followed by one on its
/// line.
fn keyword_hint(body: &[Expr], next: Option<&Statement>) -> Option<&'static str> {
    let row = body.first()?.span.row;
    hint_for(lone_name(body)).or_else(|| {
        let next = next.filter(|next| next.span().row == row)?;
        hint_for(match next {
            Statement::Body(body) => lone_name(body),
            Statement::Rules(drafts) => drafts.first().and_then(|draft| rule_name(&draft.rule)),
            _ => None,
        })
    })
}

fn hint_for(name: Option<&Name>) -> Option<&'static str> {
    match &**name? {
        "if" => Some("`import future.keywords.if` for `p if { ... }` rules"),
        "contains" => Some("`import future.keywords.contains` for `p contains x` rules"),
        _ => None,
    }
}

/// Returns the variable if a body consists of only that.
fn lone_name(body: &[Expr]) -> Option<&Name> {
    match body {
        [
            Expr {
                kind: ExprKind::Term(term),
                ..
            },
        ] => term.as_var(),
        _ => None,
    }
}

/// Returns the name of a rule that does not also parse as an expression.
fn rule_name(rule: &Rule) -> Option<&Name> {
    let is_expression = !rule.default && rule.body.iter().all(|expr| expr.generated);
    match rule.head.reference.as_slice() {
        [name] if !is_expression => name.as_var(),
        _ => None,
    }
}

/// Parses a query: the expressions of all statements.
///
/// # Errors
/// All errors of the text.
pub(super) fn query(session: Session<'_>, kinds: StatementKinds) -> Result<Body, Diagnostics> {
    let source = session.source;
    let (statements, _) = statements(&session, kinds);
    if session.has_reports() {
        return Err(session.into_diagnostics());
    }
    let mut query = Vec::new();
    for statement in statements {
        match statement {
            Statement::Body(body) => {
                for expr in body {
                    super::body::append(&mut query, expr);
                }
            }
            other => {
                let type_name = match other {
                    Statement::Package(_) => "*ast.Package",
                    Statement::Rules(_) => "*ast.Rule",
                    _ => "*ast.Import",
                };
                let message = format!("expected body but got {type_name}");
                return Err(Diagnostic::at_span(Code::Parse, source, other.span(), message).into());
            }
        }
    }
    Ok(query)
}
