//! Tokens to syntax tree, with `nom` over the token array.
//!
//! Parsers decide by the next token and do not backtrack: the text after it is parsed, or an error is reported. Only
//! ambiguous constructs backtrack (a comprehension's bar, braces after `if`, operands of `and` and `or`), and terms
//! that were parsed in an attempt are memoized. Errors are collected in the [`session::Session`], because one mistake
//! may cause several of them.

mod alternative;
mod bare;
mod body;
mod checks;
mod collection;
mod distinct;
mod errors;
mod group;
mod head;
mod import;
mod infix;
mod literal;
mod logical;
mod misuse;
mod module;
mod operand;
mod peak;
mod rule;
mod scalar;
mod session;
mod stream;
mod template;
mod term;

use self::module::StatementKinds;
use self::session::Session;
use self::stream::{Parsed, Stream};
use crate::ast::{Body, ExprKind, Module, Package, Ref, Term, TermKind};
use crate::dialect::ParseOptions;
use crate::lexer::{ILLEGAL_UTF8, Lexed, lex, lex_repaired};
use crate::source::{Code, Diagnostic, Diagnostics, Repaired, Source, SourceId, Span, repaired};

/// Parses a module.
///
/// # Errors
/// The diagnostics of the syntax errors, or one if the text is too long.
pub fn parse_module(source: &Source, options: &ParseOptions) -> Result<Module, Diagnostics> {
    check_length(source)?;
    lexed_module(source, options, lex(source))
}

/// Decodes a module file as text.
///
/// # Errors
/// Returns the errors of invalid UTF-8, together with the syntax errors of the module.
pub fn module_text<'a>(
    name: &str,
    bytes: &'a [u8],
    options: &ParseOptions,
) -> Result<&'a str, Diagnostics> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text);
    }
    let Repaired { text, positions } = repaired(bytes);
    let source = Source::new(SourceId(0), name, text);
    check_length(&source)?;
    let lexed = lex_repaired(&source, &positions);
    Err(match lexed_module(&source, options, lexed) {
        Err(diagnostics) => diagnostics,
        // the grammar accepts no text with such characters
        Ok(_) => Diagnostic::at_span(Code::Parse, &source, Span::default(), ILLEGAL_UTF8).into(),
    })
}

fn lexed_module(
    source: &Source,
    options: &ParseOptions,
    mut lexed: Lexed,
) -> Result<Module, Diagnostics> {
    let module = Module {
        source: source.clone(),
        version: options.version,
        package: Package {
            path: Vec::new(),
            span: Span::default(),
        },
        imports: Vec::new(),
        rules: Vec::new(),
        comments: std::mem::take(&mut lexed.comments),
        annotations: Vec::new(),
        chain: 0,
    };
    with_stack(|| module::module(Session::new(source, options, &lexed), module))
}

/// Parses a query: expressions separated by semicolons or line ends.
///
/// # Errors
/// The diagnostics of the syntax errors, or one if the text is too long.
pub fn parse_body(source: &Source, options: &ParseOptions) -> Result<Body, Diagnostics> {
    check_length(source)?;
    let lexed = lex(source);
    with_stack(|| {
        module::query(
            Session::new(source, options, &lexed),
            StatementKinds::Queries,
        )
    })
}

/// Parses a query as OPA's server does: statements that parse as rules are rejected, and errors of such rules are
/// reported.
pub fn parse_statements(source: &Source, options: &ParseOptions) -> Result<Body, Diagnostics> {
    check_length(source)?;
    let lexed = lex(source);
    with_stack(|| {
        module::query(
            Session::new(source, options, &lexed),
            StatementKinds::Statements,
        )
    })
}

/// Parses a text that is a single term. A call is a term, too.
///
/// # Errors
/// The diagnostics of [`parse_body`], or one if the text has several expressions or another expression than a term.
pub fn parse_term(source: &Source, options: &ParseOptions) -> Result<Term, Diagnostics> {
    let body = parse_body(source, options)?;
    let span = body.first().map(|expr| expr.span).unwrap_or_default();
    let reject =
        |message| Diagnostics::from(Diagnostic::at_span(Code::Parse, source, span, message));
    let mut exprs = body.into_iter();
    let (Some(expr), None) = (exprs.next(), exprs.next()) else {
        return Err(reject("expected exactly one term"));
    };
    match expr.kind {
        ExprKind::Term(term) => Ok(term),
        ExprKind::Call(terms) => Ok(Term::call(terms, expr.span)),
        _ => Err(reject("expected term")),
    }
}

/// Parses a text that is a single reference.
///
/// # Errors
/// The diagnostics of [`parse_term`], or one if the term is not a reference.
pub fn parse_ref(source: &Source, options: &ParseOptions) -> Result<Ref, Diagnostics> {
    let term = parse_term(source, options)?;
    match term.kind {
        TermKind::Ref(terms) => Ok(terms),
        _ => Err(Diagnostic::at_span(
            Code::Parse,
            source,
            term.span,
            format!("expected ref but got {term}"),
        )
        .into()),
    }
}

/// Rejects texts of more than [`ParseOptions::LENGTH`] bytes.
fn check_length(source: &Source) -> Result<(), Diagnostics> {
    if source.text.len() <= ParseOptions::LENGTH {
        return Ok(());
    }
    Err(Diagnostic::at_span(
        Code::Parse,
        source,
        Span::default(),
        format!(
            "source text is larger than {} MiB",
            ParseOptions::LENGTH >> 20
        ),
    )
    .into())
}

/// Stack needed for one more level, and for copying the deepest tree, in unoptimized builds.
const RED_ZONE: usize = 768 << 10;

/// Bytes allocated when the stack runs short.
const STACK: usize = 4 << 20;

/// Runs a parse with enough initial stack, so that its levels rarely need to grow it.
fn with_stack<T>(parse: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK, parse)
}

/// Parses a construct one level deeper. Grows the stack if it runs short, since the caller's stack may be small.
fn nested<'a, T>(
    input: Stream<'a>,
    parse: impl FnOnce(Stream<'a>) -> Parsed<'a, T>,
) -> Parsed<'a, T> {
    if !input.session.enter_level(input) {
        return Err(input.failure());
    }
    let result = stacker::maybe_grow(RED_ZONE, STACK, || parse(input));
    input.session.leave();
    result
}
