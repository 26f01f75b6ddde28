//! What the passes over a query share, and their order.

use hashbrown::HashMap;

use solon_syntax::ast::{Body, Import, Name, Ref};
use solon_syntax::source::{Code, Diagnostics, Source, Span};

use super::compilation::{Compiled, Options};
use super::locals::Locals;
use super::report::Report;
use super::rewrite::{
    capture, comprehensions, dynamics, equals, expr_terms, local_vars, prints, templates,
    void_calls, with,
};
use super::{deprecated, functions, keyed, resolve, safety, shadowed, types};
use crate::program::canonical::Keyed;

/// What is said of a query without expressions.
pub(crate) const BLANK_QUERY: &str = "empty query cannot be compiled";

/// A query to compile against modules.
#[derive(Clone, Debug)]
pub struct Query {
    /// The text.
    pub source: Source,
    /// Its expressions.
    pub body: Body,
    /// Whether the value of each expression is wanted, and not only the bindings.
    pub capture: bool,
    /// Whether `==` compares as `=` does: the query is evaluated partially, and `false` is no answer.
    pub unify_equals: bool,
    /// The package whose rules it may name without their path.
    pub package: Option<Ref>,
    /// What it imports.
    pub imports: Vec<Import>,
}

impl Query {
    /// A query outside of any package, of which the values of expressions are wanted.
    pub fn new(source: Source, body: Body) -> Self {
        Self {
            source,
            body,
            capture: true,
            unify_equals: false,
            package: None,
            imports: Vec::new(),
        }
    }
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
    /// Whether `==` compares as `=` does.
    pub unify_equals: bool,
    /// The package whose rules it may name without their path.
    pub package: Option<Ref>,
    /// What it imports.
    pub imports: Vec<Import>,
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
    /// Its comprehensions that are searched once.
    pub keyed: Keyed,
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
    pass("ResolveRefs", resolve::resolve_query),
    pass("RewriteToCaptureValue", capture::rewrite),
    pass("RewriteLocalVars", local_vars::rewrite_query),
    pass("RewriteTemplateStrings", templates::rewrite_query),
    pass("CheckVoidCalls", void_calls::check_query),
    pass("RewritePrintCalls", prints::rewrite_query),
    pass("RewriteExprTerms", expr_terms::rewrite_query),
    pass("RewriteComprehensionTerms", comprehensions::rewrite_query),
    pass("RewriteWithValues", with::rewrite_query),
    pass(
        "CheckUndefinedFuncs",
        functions::check_undefined_functions_of_query,
    ),
    pass("CheckSafety", safety::check_query),
    pass("RewriteEquals", equals::rewrite_query),
    pass("RewriteDynamicTerms", dynamics::rewrite_query),
    pass("CheckTypes", types::check_query_types),
    pass(
        "CheckUnsafeBuiltins",
        deprecated::check_unsafe_builtins_of_query,
    ),
    pass("CheckDeprecatedBuiltins", nothing),
];

const fn pass(name: &'static str, run: fn(&mut QueryCompilation<'_>)) -> QueryPass {
    QueryPass { name, run }
}

/// Queries are never strict, so they may use any name and what is deprecated.
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
        unify_equals: query.unify_equals,
        package: query.package,
        imports: query.imports,
        locals: Locals::default(),
        report: Report::new([&query.source], 0),
    };
    let chain = super::chain_within(&query.source.text);
    if compilation.body.is_empty() {
        let nowhere = Span::default();
        compilation
            .report
            .error(Code::Compile, nowhere, BLANK_QUERY);
    }
    super::on_large_stack(chain, || {
        shadowed::drop_from_query(&mut compilation.body);
        for pass in QUERY_PASSES.iter().filter(|pass| !options.skips(pass.name)) {
            (pass.run)(&mut compilation);
            observe(pass, &compilation);
            if !compilation.report.is_empty() {
                break;
            }
        }
    });
    compilation.report.finish_unsorted(options.error_limit)?;
    let functions = functions::Functions::new(options, &compiled.rule_tree);
    Ok(CompiledQuery {
        keyed: super::on_large_stack(chain, || keyed::of_query(&compilation.body, functions)),
        body: compilation.body,
        originals: compilation.locals.originals,
    })
}
