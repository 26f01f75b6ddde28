//! CheckSafetyRuleHeads, CheckSafetyRuleBodies and CheckSafety: every variable gets a value, and bodies are ordered so
//! that it gets it in time.
//!
//! `outputs` computes the variables that an expression binds (`unify` for equations), `reorder` orders bodies
//! accordingly, and `unsafe_report` writes the errors.

mod outputs;
mod reorder;
mod safe_vars;
mod unify;
mod unsafe_report;
mod vars;

use self::outputs::{DIRECT, Reading};
pub(super) use self::outputs::{OPERANDS, OWN, equation, outputs};
pub(crate) use self::safe_vars::SafeVars;
pub(super) use self::vars::{VarSet, Vars};

use std::collections::BTreeSet;
use std::sync::LazyLock;

use solon_syntax::ast::{Body, Head, Module, Name, Rule, Term, VarScan};
use solon_syntax::source::Span;

use self::reorder::{Safety, SafetyContext};
use self::unsafe_report::{SharedRows, UnsafeReport};
use super::compilation::Compilation;
use super::facts::Facts;
use super::functions::CallableFunctions;
use super::locals::{Locals, names_in};
use super::query::QueryCompilation;
use super::rewrite::expr_terms;
use super::rule_tree::ground_prefix;

/// Rejects variables in heads that the bodies do not bind.
pub fn check_rule_heads(compilation: &mut Compilation<'_>) {
    for (module, facts) in compilation.modules.open_with_facts() {
        let mut rows = SharedRows::new(module);
        let rules = module.rules.iter().zip(facts);
        for (rule, _) in rules.filter(|(_, facts)| facts.has(Facts::OPEN_HEAD)) {
            for part in chain(rule) {
                let unbound = unbound_in_head(&part.head, &rule.head.args, part);
                for (name, term) in unbound {
                    let name = compilation.locals.original(name);
                    if compilation.locals.is_anonymous(name) {
                        continue;
                    }
                    let suffix = rows.suffix(part.span, &rule.head.reference);
                    unsafe_report::report_head_var(
                        &mut compilation.report,
                        name,
                        term.span,
                        &suffix,
                    );
                }
            }
        }
        if compilation.report.is_full() {
            return;
        }
    }
}

/// Returns the variables of a head that neither the body nor the arguments bind, at their last locations.
fn unbound_in_head<'a>(head: &'a Head, args: &[Term], rule: &Rule) -> Vec<(&'a Name, &'a Term)> {
    let mut vars_in_head: Vec<(&Name, &Term)> = Vec::new();
    let mut show = |term: &'a Term, name: &'a Name| vars_in_head.push((name, term));
    let scan = VarScan::default();
    // the last location in this order counts
    scan.each(&head.key, &mut show);
    scan.each(&head.value, &mut show);
    scan.each(head.reference.get(1..).unwrap_or_default(), &mut show);
    if vars_in_head.is_empty() {
        return vars_in_head;
    }
    let mut vars = Vars::default();
    let mut bound = vars.scan(DIRECT, &rule.body);
    vars.scan_into(VarScan::default(), args, &mut bound);
    let mut unbound: Vec<(&Name, &Term)> = Vec::new();
    for (name, term) in vars_in_head {
        if !bound.contains(vars.var(name)) {
            unbound.retain(|(other, _)| *other != name);
            unbound.push((name, term));
        }
    }
    unbound
}

/// Orders the bodies of all rules, so that each variable is bound before it is tested. Reports unsafe variables.
pub fn check_rule_bodies(compilation: &mut Compilation<'_>) {
    let functions = CallableFunctions::new(compilation.options, &compilation.rule_tree);
    let locals = &compilation.locals;
    let results = compilation.modules.map_open_mut(|module, facts| {
        let rejections = order_rules(module, facts, functions, locals);
        let mut rows = SharedRows::new(module);
        let rejections = rejections.into_iter().map(|(position, span, rejection)| {
            let reference = module.rules.get(position).map(|rule| &rule.head.reference);
            let suffix = reference.map(|reference| rows.suffix(span, reference));
            (rejection, suffix.unwrap_or_default())
        });
        rejections.collect::<Vec<_>>()
    });
    for (rejection, suffix) in results.into_iter().flatten() {
        rejection.report(&mut compilation.report, locals, &suffix);
    }
}

/// Orders the bodies of the rules of a module. Returns the errors, each with the index of the rule and the location of the branch.
fn order_rules(
    module: &mut Module,
    facts: &[Facts],
    functions: CallableFunctions<'_>,
    locals: &Locals,
) -> Vec<(usize, Span, UnsafeReport)> {
    let mut rejections = Vec::new();
    for (position, (rule, facts)) in module.rules.iter_mut().zip(facts).enumerate() {
        let args = std::mem::take(&mut rule.head.args);
        let context = SafetyContext {
            functions,
            locals,
            has_closures: facts.has(Facts::COMPREHENSION),
        };
        let mut next = Some(&mut *rule);
        while let Some(rule) = next {
            if let Some(rejection) = order(&mut rule.body, &args, context) {
                rejections.push((position, rule.span, rejection));
            }
            next = rule.else_rule.as_deref_mut();
        }
        rule.head.args = args;
    }
    rejections
}

/// Orders the body of a query.
pub fn check_query(compilation: &mut QueryCompilation<'_>) {
    let functions = CallableFunctions::new(compilation.options, &compilation.compiled.rule_tree);
    let locals = &compilation.locals;
    let context = SafetyContext {
        functions,
        locals,
        has_closures: true,
    };
    if let Some(rejection) = order(&mut compilation.body, &[], context) {
        rejection.report(&mut compilation.report, locals, "");
    }
}

/// Returns `true` if a body has a safe order, given variables that already have values.
pub(crate) fn is_ordered(
    functions: CallableFunctions<'_>,
    body: &Body,
    globals: &BTreeSet<Name>,
) -> bool {
    let mut body = body.clone();
    let mut locals = Locals::new(Locals::QUERY, names_in(&body));
    expr_terms::expand(&mut body, &mut locals);
    let context = SafetyContext {
        functions,
        locals: &locals,
        has_closures: true,
    };
    let mut safety = Safety::new(context, Reading::Strict);
    let mut safe = roots(&mut safety.vars);
    for name in globals {
        safe.insert(safety.vars.var(name));
    }
    safety.reorder(&mut body, &safe);
    safety.rejected.is_empty()
}

/// Orders a body in which some arguments are safe. If that is not possible, the loose reading provides the error,
/// unless it finds none.
fn order(body: &mut Body, args: &[Term], context: SafetyContext<'_>) -> Option<UnsafeReport> {
    let mut unsafe_vars = |reading| {
        let mut safety = Safety::new(context, reading);
        let mut safe = roots(&mut safety.vars);
        safety.vars.scan_into(VarScan::default(), args, &mut safe);
        safety.reorder(body, &safe);
        (!safety.rejected.is_empty()).then(|| UnsafeReport::from(safety))
    };
    let rejection = unsafe_vars(Reading::Strict)?;
    Some(unsafe_vars(Reading::Loose).unwrap_or(rejection))
}

/// Returns the variables that are safe everywhere.
fn roots(vars: &mut Vars) -> VarSet {
    static ROOTS: LazyLock<[Name; 2]> = LazyLock::new(|| ["data".into(), "input".into()]);
    ROOTS.iter().map(|name| vars.var(name)).collect()
}

/// Iterates over a rule and its `else` branches.
fn chain(rule: &Rule) -> impl Iterator<Item = &Rule> {
    std::iter::successors(Some(rule), |rule| rule.else_rule.as_deref())
}
