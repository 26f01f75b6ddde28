//! Tokens to syntax tree, with `nom` over the token array.
//!
//! Every parser looks at the next token, decides, and does not come back: what follows is either read or complained
//! of. Going back happens only where the language itself is ambiguous (a comprehension's bar, braces behind `if`,
//! operands of `and` and `or`), and there terms already read are remembered. Complaints are collected on the
//! [`session::Session`], because one broken place may be worth several of them.

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

/// Reads a module.
pub fn parse_module(source: &Source, options: &ParseOptions) -> Result<Module, Diagnostics> {
    check_length(source)?;
    lexed_module(source, options, lex(source))
}

/// The text of a module's file.
///
/// # Errors
/// Where it is no UTF-8: that, and what else is wrong with it as a module.
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
        // nothing that the grammar accepts has such characters in it
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

/// Reads a query: expressions separated by semicolons or line ends.
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

/// Reads a query as OPA's server does: what reads as a rule is refused, and what is wrong with it as one is told.
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

/// Reads a text that is one term.
pub fn parse_term(source: &Source, options: &ParseOptions) -> Result<Term, Diagnostics> {
    let body = parse_body(source, options)?;
    let span = body.first().map(|expr| expr.span).unwrap_or_default();
    let refuse =
        |message| Diagnostics::from(Diagnostic::at_span(Code::Parse, source, span, message));
    let mut exprs = body.into_iter();
    let (Some(expr), None) = (exprs.next(), exprs.next()) else {
        return Err(refuse("expected exactly one term"));
    };
    match expr.kind {
        ExprKind::Term(term) => Ok(term),
        ExprKind::Call(terms) => Ok(Term::call(terms, expr.span)),
        _ => Err(refuse("expected term")),
    }
}

/// Reads a text that is one reference.
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

/// Refuses texts of more than [`ParseOptions::LENGTH`] bytes.
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

/// Stack for one more level, and for copying the deepest tree, unoptimised.
const RED_ZONE: usize = 768 << 10;

/// What is taken when the stack runs short.
const STACK: usize = 4 << 20;

/// Gives a parse stack enough to start with, so that its levels seldom have to ask.
fn with_stack<T>(parse: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK, parse)
}

/// Reads a construct one level deeper. Callers may have small stacks: it is grown where it runs short.
fn nested<'a, T>(
    input: Stream<'a>,
    read: impl FnOnce(Stream<'a>) -> Parsed<'a, T>,
) -> Parsed<'a, T> {
    if !input.session.enter_level(input) {
        return Err(input.failure());
    }
    let answer = stacker::maybe_grow(RED_ZONE, STACK, || read(input));
    input.session.leave();
    answer
}
