//! State of the passes over a query, and their order.

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

/// Error message for a query without expressions.
pub(crate) const BLANK_QUERY: &str = "empty query cannot be compiled";

/// A query to compile against modules.
#[derive(Clone, Debug)]
pub struct Query {
    /// Source text, to which spans refer.
    pub source: Source,
    /// Expressions, rewritten by each pass.
    pub body: Body,
    /// If set, the value of each expression is captured, not only the bindings.
    pub capture: bool,
    /// If set, `==` is compiled like `=`: for partial evaluation, in which `false` is not a result.
    pub unify_equals: bool,
    /// Package whose rules the query may name without their path.
    pub package: Option<Ref>,
    /// Imports that the query may use.
    pub imports: Vec<Import>,
}

impl Query {
    /// Creates a query outside of any package that captures the values of expressions.
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

/// A query during the passes.
pub struct QueryCompilation<'a> {
    /// Modules that the query refers to, compiled before.
    pub compiled: &'a Compiled,
    /// Compiler options, those of the modules.
    pub options: &'a Options,
    /// Expressions, rewritten by each pass.
    pub body: Body,
    /// If set, values of expressions are captured.
    pub capture: bool,
    /// `true` if `==` is compiled like `=`, for partial evaluation.
    pub unify_equals: bool,
    /// Package whose rules the query may name without their path.
    pub package: Option<Ref>,
    /// Imports that the query may use.
    pub imports: Vec<Import>,
    /// Generator of local names. They are not those of modules.
    pub locals: Locals,
    /// Errors so far.
    pub report: Report,
}

/// A query's canonical body.
pub struct CompiledQuery {
    /// Rewritten expressions in safe order.
    pub body: Body,
    /// User's name of each generated local.
    pub originals: HashMap<Name, Name>,
    /// Comprehensions that are searched once.
    pub keyed: Keyed,
}

/// A pass over a query, like [`super::Pass`].
pub struct QueryPass {
    /// OPA's name of the pass, from which the timer is derived.
    pub name: &'static str,
    /// Runs the pass. Errors are in the report of the compilation.
    pub run: fn(&mut QueryCompilation<'_>),
}

impl QueryPass {
    /// Returns OPA's name of the timer, such as `query_compile_stage_resolve_refs`.
    pub fn timer(&self) -> String {
        super::snake("query_compile_stage", self.name)
    }
}

/// Passes over a query, in order. Later ones rely on earlier ones.
pub const QUERY_PASSES: &[QueryPass] = &[
    pass("CheckKeywordOverrides", no_op),
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
    pass("CheckDeprecatedBuiltins", no_op),
];

const fn pass(name: &'static str, run: fn(&mut QueryCompilation<'_>)) -> QueryPass {
    QueryPass { name, run }
}

/// Does nothing: queries are never strict, so they may use any name and deprecated built-ins.
fn no_op(_: &mut QueryCompilation<'_>) {}

/// Compiles a query against modules; `observe` is called after each pass.
///
/// # Errors
///
/// The errors of the first pass that fails, in the order of discovery and limited by the options.
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
    let functions = functions::CallableFunctions::new(options, &compiled.rule_tree);
    Ok(CompiledQuery {
        keyed: super::on_large_stack(chain, || keyed::of_query(&compilation.body, functions)),
        body: compilation.body,
        originals: compilation.locals.originals,
    })
}
