//! What the passes over a query share, and their order.

use std::collections::HashMap;

use solon_syntax::ast::{Body, Name};
use solon_syntax::source::{Diagnostics, Source};

use super::compilation::{Compiled, Options};
use super::locals::Locals;
use super::report::Report;
use super::{deprecated, functions, safety};

/// A query to compile against modules.
#[derive(Clone, Debug)]
pub struct Query {
    /// The text.
    pub source: Source,
    /// Its expressions.
    pub body: Body,
    /// Whether the value of each expression is wanted, and not only the bindings.
    pub capture: bool,
}

/// A query on its way through the passes.
pub struct QueryCompilation<'a> {
    /// What it is asked against.
    pub compiled: &'a Compiled,
    /// How to compile.
    pub options: &'a Options,
    /// Its expressions.
    pub body: Body,
    /// Whether values of expressions are captured.
    pub capture: bool,
    /// The generator of locals.
    pub locals: Locals,
    /// What was refused so far.
    pub report: Report,
}

/// A query's canonical body.
pub struct CompiledQuery {
    /// The expressions.
    pub body: Body,
    /// The user's name of each generated local.
    pub originals: HashMap<Name, Name>,
}

/// A pass over a query.
pub struct QueryPass {
    /// Published name.
    pub name: &'static str,
    /// What it does.
    pub run: fn(&mut QueryCompilation<'_>),
}

impl QueryPass {
    /// Published name of the timer.
    pub fn timer(&self) -> String {
        super::snake("query_compile_stage", self.name)
    }
}

/// The passes over a query, in the order they run.
pub const QUERY_PASSES: &[QueryPass] = &[
    pass("CheckKeywordOverrides", nothing),
    pass("ResolveRefs", nothing),
    pass("RewriteToCaptureValue", nothing),
    pass("RewriteLocalVars", nothing),
    pass("RewriteTemplateStrings", nothing),
    pass("CheckVoidCalls", nothing),
    pass("RewritePrintCalls", nothing),
    pass("RewriteExprTerms", nothing),
    pass("RewriteComprehensionTerms", nothing),
    pass("RewriteWithValues", nothing),
    pass(
        "CheckUndefinedFuncs",
        functions::check_undefined_functions_of_query,
    ),
    pass("CheckSafety", safety::check_query),
    pass("RewriteDynamicTerms", nothing),
    pass("CheckTypes", nothing),
    pass(
        "CheckUnsafeBuiltins",
        deprecated::check_unsafe_builtins_of_query,
    ),
    pass(
        "CheckDeprecatedBuiltins",
        deprecated::check_deprecated_builtins_of_query,
    ),
];

const fn pass(name: &'static str, run: fn(&mut QueryCompilation<'_>)) -> QueryPass {
    QueryPass { name, run }
}

fn nothing(_: &mut QueryCompilation<'_>) {}

/// Compiles a query against modules; `observe` sees the query after each pass.
pub fn compile_query(
    compiled: &Compiled,
    query: Query,
    options: &Options,
    mut observe: impl FnMut(&QueryPass, &QueryCompilation<'_>),
) -> Result<CompiledQuery, Diagnostics> {
    let mut compilation = QueryCompilation {
        compiled,
        options,
        body: query.body,
        capture: query.capture,
        locals: Locals::default(),
        report: Report::new([&query.source], options.error_limit),
    };
    for pass in QUERY_PASSES {
        (pass.run)(&mut compilation);
        observe(pass, &compilation);
        if !compilation.report.is_empty() {
            break;
        }
    }
    compilation.report.finish()?;
    Ok(CompiledQuery {
        body: compilation.body,
        originals: compilation.locals.originals,
    })
}
