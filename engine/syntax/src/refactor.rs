//! Moves packages: rewrites package paths and references.

use crate::ast::visit::{Descent, VisitorMut, WalkMut};
use crate::ast::{Module, Ref, Term, TermKind};
use crate::format::format_changed;
use crate::source::{SourceId, Span};
use crate::{FormatOptions, ParseOptions};

/// A path and the path that replaces it, such as `data.lib` and `data.imported.lib`. Everything below it moves as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageMove {
    /// The root document and the names below it.
    pub from: Vec<String>,
    /// Segments that replace `from`.
    pub to: Vec<String>,
}

/// Rewrites the package path and the references of a module. The longest path that contains a reference applies
/// to it.
///
/// # Errors
/// A reference that is shorter than the path of a move, or dynamic above its end: it may refer to what moves and to what
/// does not.
pub fn move_packages(module: &mut Module, moves: &[PackageMove]) -> Result<(), String> {
    let mut rewriter = Rewriter {
        moves,
        failed: None,
    };
    let span = module.package.span;
    let mut package = Term::new(
        TermKind::Ref(std::mem::take(&mut module.package.path)),
        span,
    );
    rewriter.rewrite(&mut package);
    module.package.path = match package.kind {
        TermKind::Ref(terms) => terms,
        _ => vec![package],
    };
    for import in &mut module.imports {
        rewriter.rewrite(&mut import.path);
    }
    module.rules.walk_mut(&mut rewriter);
    match rewriter.failed {
        None => Ok(()),
        Some((span, message)) => Err(format!("{}:{}: {message}", module.source.name, span.row)),
    }
}

/// Formats a module after [`move_packages`]. The result has the version of `options`, which the module was parsed with.
///
/// # Errors
/// A package without a name, or a module that the formatter cannot write.
pub fn format_moved(module: &Module, options: &ParseOptions) -> Result<String, String> {
    if module.package.path.len() < 2 {
        let (name, row) = (&module.source.name, module.package.span.row);
        return Err(format!(
            "1 error occurred: {name}:{row}: rego_format_error: invalid package path: data"
        ));
    }
    let options = FormatOptions {
        parse: *options,
        target: options.version,
        drop_v0_imports: false,
    };
    format_changed(module, &options).map_err(|errors| errors.to_string())
}

struct Rewriter<'m> {
    moves: &'m [PackageMove],
    /// The first reference that could not be rewritten.
    failed: Option<(Span, String)>,
}

impl VisitorMut for Rewriter<'_> {
    fn term(&mut self, term: &mut Term) -> Descent {
        self.rewrite(term);
        let TermKind::Ref(terms) = &mut term.kind else {
            return Descent::Into;
        };
        // a variable that begins a reference is a part of it
        if let Some((head, operands)) = terms.split_first_mut() {
            if head.as_var().is_none() {
                head.walk_mut(self);
            }
            operands.walk_mut(self);
        }
        Descent::Over
    }
}

impl Rewriter<'_> {
    /// Rewrites a reference, or a root document on its own.
    fn rewrite(&mut self, term: &mut Term) {
        let terms = match &term.kind {
            TermKind::Ref(terms) => terms.as_slice(),
            TermKind::Var(name) if matches!(&**name, "data" | "input") => {
                std::slice::from_ref(term)
            }
            _ => return,
        };
        let constant = constant_prefix(terms);
        let applies =
            |package_move: &&PackageMove| constant.starts_with(&names(&package_move.from));
        if let Some(package_move) = self
            .moves
            .iter()
            .filter(applies)
            .max_by_key(|package_move| package_move.from.len())
        {
            let span = term.span;
            let mut path = replacement(
                &package_move.to,
                terms.first().map_or(span, |head| head.span),
            );
            path.extend(terms.iter().skip(package_move.from.len()).cloned());
            let single = if path.len() == 1 { path.pop() } else { None };
            *term = single.unwrap_or_else(|| Term::new(TermKind::Ref(path), span));
            return;
        }
        let contains =
            |package_move: &PackageMove| names(&package_move.from).starts_with(&constant);
        if constant.is_empty() || self.failed.is_some() || !self.moves.iter().any(contains) {
            return;
        }
        let prefix = terms.iter().take(constant.len()).cloned();
        let prefix = Term::new(TermKind::Ref(prefix.collect()), term.span);
        let message =
            format!("cannot rewrite `{term}`: constant prefix `{prefix}` of `{term}` is too short");
        self.failed = Some((term.span, message));
    }
}

fn names(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// Returns the variable and the strings that a reference begins with.
fn constant_prefix(terms: &[Term]) -> Vec<&str> {
    let head = terms.first().and_then(Term::as_var);
    let head = head.map(|name| &**name).into_iter();
    let steps = terms.iter().skip(1).map_while(Term::as_string);
    match head.len() {
        0 => Vec::new(),
        _ => head.chain(steps.map(|text| &**text)).collect(),
    }
}

/// Returns a path as terms without a text in the source.
fn replacement(path: &[String], span: Span) -> Ref {
    let generated = Span {
        source: SourceId::NONE,
        ..span
    };
    let Some((head, steps)) = path.split_first() else {
        return Ref::new();
    };
    let steps = steps
        .iter()
        .map(|step| Term::string(step.as_str(), generated));
    std::iter::once(Term::var(head.as_str(), span))
        .chain(steps)
        .collect()
}
