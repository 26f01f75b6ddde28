//! Compilation of parsed modules to canonical bodies, in OPA's order of stages.
//!
//! [`PASSES`] lists the passes over modules, [`QUERY_PASSES`] those over queries. Each pass rewrites the trees in place
//! and reports errors. After recoverable errors later passes run, so that one compilation shows as many errors as
//! possible; any other error stops the compilation after its pass.

pub mod annotations;
pub mod blocking;
pub mod compilation;
mod compiled_module;
pub mod conflicts;
pub mod deprecated;
mod facts;
pub mod functions;
pub mod graph;
pub mod input_reads;
mod keyed;
pub mod locals;
pub mod lower;
mod modules;
mod optimisations;
pub mod query;
mod recompile;
pub mod recursion;
pub mod report;
mod resolve;
pub mod rewrite;
pub mod rule_tree;
pub mod safety;
mod shadowed;
mod small_map;
pub mod types;

pub use compilation::{BaseExists, Compilation, Compiled, EarlierCompilation, Options, Work};
pub use compiled_module::{CompiledModule, Findings, Yield};
pub use locals::Locals;
pub use modules::Modules;
pub use optimisations::Optimisation;
pub(crate) use query::BLANK_QUERY;
pub use query::{CompiledQuery, QUERY_PASSES, Query, QueryCompilation, QueryPass, compile_query};
pub use recompile::recompile;
pub use report::Report;
pub use rule_tree::{RuleTree, TreeRuleId};

use std::sync::Arc;

use solon_syntax::ast::Module;
use solon_syntax::source::{Code, Diagnostics, Span};
use solon_syntax::{ParseOptions, parallel};

use crate::limits;

use self::rewrite::{
    comprehensions, dynamics, equals, expr_terms, imports, keywords, local_vars, metadata, prints,
    ref_heads, refs_in_head, templates, test_rules, tests_for_tracing, void_calls, with,
};

/// A pass over modules, which tests can run and skip by name.
pub struct Pass {
    /// OPA's name of the pass, such as `CheckDuplicateImports`.
    pub name: &'static str,
    /// Runs the pass. Errors are in the report of the compilation.
    pub run: fn(&mut Compilation<'_>),
}

impl Pass {
    /// Returns OPA's name of the timer.
    pub fn timer(&self) -> String {
        match self.name {
            "CheckDuplicateImports" => "compile_stage_check_imports".to_owned(),
            "SetAnnotationSet" => "compile_stage_set_annotationset".to_owned(),
            "CheckUnsafeBuiltins" | "CheckDeprecatedBuiltins" => snake("compile_state", self.name),
            name => snake("compile_stage", name),
        }
    }
}

/// Returns `prefix` and the name in snake case: `_` before each capital letter.
fn snake(prefix: &str, name: &str) -> String {
    let mut text = prefix.to_owned();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// Passes over modules, in order.
pub const PASSES: &[Pass] = &[
    pass("ResolveRefs", resolve::resolve),
    pass("CheckUnusedImports", imports::check_unused),
    pass("InitLocalVarGen", locals::start),
    pass("RewriteRuleHeadRefs", rewrite_head_refs),
    pass("CheckKeywordOverrides", keywords::check),
    pass("CheckDuplicateImports", imports::check_duplicates),
    pass("RemoveImports", imports::remove),
    pass("SetModuleTree", no_op),
    pass("SetRuleTree", set_rule_tree),
    pass("RewriteLocalVars", rewrite_local_vars),
    pass("RewriteTemplateStrings", templates::rewrite),
    pass("CheckVoidCalls", void_calls::check),
    pass("RewritePrintCalls", prints::rewrite),
    pass("RewriteExprTerms", expr_terms::rewrite),
    pass("ParseMetadataBlocks", annotations::parse),
    pass("SetAnnotationSet", annotations::set),
    pass("RewriteRegoMetadataCalls", metadata::rewrite),
    pass("SetGraph", graph::set_graph),
    pass("RewriteComprehensionTerms", comprehensions::rewrite),
    pass("RewriteRefsInHead", refs_in_head::rewrite),
    pass("RewriteWithValues", with::rewrite),
    pass("CheckRuleConflicts", conflicts::check_rule_conflicts),
    pass("CheckUndefinedFuncs", functions::check_undefined_functions),
    pass("CheckSafetyRuleHeads", safety::check_rule_heads),
    pass("CheckSafetyRuleBodies", safety::check_rule_bodies),
    pass("RewriteEquals", equals::rewrite),
    pass("RewriteDynamicTerms", dynamics::rewrite),
    pass("RewriteTestRulesForTracing", tests_for_tracing::rewrite),
    pass("CheckRecursion", recursion::check_recursion),
    pass("CheckTypes", types::check_types),
    pass("CheckUnsafeBuiltins", deprecated::check_unsafe_builtins),
    pass(
        "CheckDeprecatedBuiltins",
        deprecated::check_deprecated_builtins,
    ),
];

const fn pass(name: &'static str, run: fn(&mut Compilation<'_>)) -> Pass {
    Pass { name, run }
}

fn rewrite_head_refs(compilation: &mut Compilation<'_>) {
    ref_heads::rewrite(compilation);
    test_rules::number(compilation);
}

fn rewrite_local_vars(compilation: &mut Compilation<'_>) {
    local_vars::rewrite(compilation);
    test_rules::report_cases(compilation);
}

fn set_rule_tree(compilation: &mut Compilation<'_>) {
    let earlier = compilation.earlier.as_ref();
    let based_on_earlier = earlier.and_then(|earlier| earlier.rule_tree(&compilation.modules));
    compilation.rule_tree = match based_on_earlier {
        Some(tree) => tree,
        None => Arc::new(RuleTree::new(&compilation.modules)),
    };
}

fn no_op(_: &mut Compilation<'_>) {}

/// Runs a function that recurses as deep as source text may nest and chains of `chain` operators do, on a sufficiently
/// large stack. Callees need no stack checks of their own.
pub(crate) fn on_large_stack<T>(chain: u32, run: impl FnOnce() -> T) -> T {
    const SLACK: usize = 128 << 10;
    let chain = (chain as usize).saturating_sub(limits::NESTING);
    let stack = limits::COMPILE_STACK + chain * limits::CHAIN_STACK;
    stacker::maybe_grow(stack, stack + SLACK, run)
}

/// Length of the longest chain of operators in modules.
pub(crate) fn longest_chain<'m>(modules: impl IntoIterator<Item = &'m Arc<Module>>) -> u32 {
    let chains = modules.into_iter().map(|module| module.chain);
    chains.max().unwrap_or_default()
}

/// Upper bound for the length of a chain of operators in a text: each operator takes at least two bytes.
pub(crate) fn chain_within(text: &str) -> u32 {
    u32::try_from(text.len() / 2)
        .map_or(ParseOptions::CHAIN, |chain| chain.min(ParseOptions::CHAIN))
}

/// Returns documents whose names exceed the nesting limit of values.
fn long_names(module: &Module) -> impl Iterator<Item = (usize, Span)> {
    let package = &module.package;
    let lengths = module
        .rules
        .iter()
        .map(|rule| (rule.head.reference.len(), rule.span));
    std::iter::once((0, package.span))
        .chain(lengths)
        .map(|(length, span)| (package.path.len() + length, span))
        .filter(|(length, _)| *length > limits::NESTING)
}

/// Rejects documents whose names exceed the nesting limit of values.
fn check_depth(compilation: &mut Compilation<'_>) {
    let too_long = compilation.modules.open().flat_map(long_names);
    for (length, span) in too_long.collect::<Vec<_>>() {
        let limit = limits::NESTING;
        let message = format!("name of {length} parts exceeds the limit of {limit}");
        compilation.report.error(Code::Compile, span, message);
    }
}

/// Compiles modules. `base_exists` returns `true` if a base document exists at a path below `data`; `observe` is called
/// after each pass. Needs stack in proportion to the longest chain of operators, and grows the stack for it.
///
/// # Errors
///
/// The errors of all passes up to the first one with a fatal error, ordered by location and limited by the options.
pub fn compile(
    modules: impl IntoIterator<Item = impl Into<Arc<Module>>>,
    options: &Options,
    base_exists: Option<BaseExists<'_>>,
    observe: impl FnMut(&Pass, &Compilation<'_>),
) -> Result<Compiled, Diagnostics> {
    let no_plans = None::<fn(&[Arc<Module>], &RuleTree)>;
    let (compiled, _) = compile_and_lower(modules, options, base_exists, observe, no_plans)?;
    Ok(compiled)
}

/// Compiles modules as [`compile`] does, and calls `lower` with the rewritten modules. `lower` may run on another thread while the
/// modules are checked; if the checks fail, its result is dropped.
///
/// # Errors
///
/// The errors of [`compile`].
pub fn compile_and_lower<P: Send>(
    modules: impl IntoIterator<Item = impl Into<Arc<Module>>>,
    options: &Options,
    base_exists: Option<BaseExists<'_>>,
    mut observe: impl FnMut(&Pass, &Compilation<'_>),
    lower: Option<impl Fn(&[Arc<Module>], &RuleTree) -> P + Sync>,
) -> Result<(Compiled, Option<P>), Diagnostics> {
    let parsed = in_order(modules.into_iter().map(Into::into).collect());
    on_large_stack(longest_chain(&parsed), || {
        let mut compilation = Compilation::new(Modules::new(&parsed), options);
        compilation.base_exists = base_exists;
        rewrite_modules(&mut compilation, &mut observe);
        check_modules(&parsed, compilation, observe, lower)
    })
}

/// Sorts modules by file name.
fn in_order(mut modules: Vec<Arc<Module>>) -> Vec<Arc<Module>> {
    modules.sort_by(|a, b| a.source.name.cmp(&b.source.name));
    modules
}

/// Runs the passes that rewrite modules, until one reports a fatal error.
fn rewrite_modules(
    compilation: &mut Compilation<'_>,
    observe: impl FnMut(&Pass, &Compilation<'_>),
) {
    check_depth(compilation);
    if compilation.report.is_fatal() {
        return;
    }
    shadowed::drop_from_modules(&mut compilation.modules);
    let (rewrites, _) = passes();
    run(rewrites, compilation, observe);
}

/// Runs the passes that only read the rewritten modules, and collects the results of all passes. `lower` runs at the same time if there
/// is much text.
fn check_modules<P: Send>(
    parsed: &[Arc<Module>],
    mut compilation: Compilation<'_>,
    observe: impl FnMut(&Pass, &Compilation<'_>),
    lower: Option<impl Fn(&[Arc<Module>], &RuleTree) -> P + Sync>,
) -> Result<(Compiled, Option<P>), Diagnostics> {
    let lower = lower.filter(|_| compilation.report.is_empty());
    let (modules, tree) = (compilation.modules.to_vec(), compilation.rule_tree.clone());
    let check = || {
        let (_, checks) = passes();
        run(checks, &mut compilation, observe);
        std::mem::take(&mut compilation.report).finish()?;
        Ok::<_, Diagnostics>(Compiled::new(parsed, compilation))
    };
    let Some(lower) = lower else {
        return Ok((check()?, None));
    };
    let lower = || on_large_stack(longest_chain(parsed), || lower(&modules, &tree));
    let bytes = parsed.iter().map(|module| module.source.text.len()).sum();
    let (compiled, plans) = parallel::both(bytes, check, lower)?;
    Ok((compiled, Some(plans)))
}

/// Returns the passes that rewrite modules, and the following ones, which only read them.
fn passes() -> (&'static [Pass], &'static [Pass]) {
    let first_check = PASSES.iter().position(|pass| pass.name == "CheckTypes");
    PASSES.split_at(first_check.unwrap_or(PASSES.len()))
}

/// Runs passes until one has reported a fatal error.
fn run(
    passes: &[Pass],
    compilation: &mut Compilation<'_>,
    mut observe: impl FnMut(&Pass, &Compilation<'_>),
) {
    let options = compilation.options;
    for pass in passes.iter().filter(|pass| !options.skips(pass.name)) {
        if compilation.report.is_fatal() {
            break;
        }
        (pass.run)(compilation);
        observe(pass, compilation);
    }
}
