//! Messages of safety errors.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};

use solon_syntax::ast::{Module, Name, Term};
use solon_syntax::print::display_ref;
use solon_syntax::source::{Code, Span};

use super::reorder::{Safety, Unsafe};
use super::vars::{VarSet, Vars};
use super::{chain, ground_prefix};
use crate::compile::locals::Locals;
use crate::compile::report::Report;

/// Names that become variables if an import is missing.
const FUTURE_KEYWORDS: [&str; 7] = ["and", "contains", "every", "if", "in", "not", "or"];

/// Unsafe variables of a rule or query.
#[derive(Debug)]
pub struct UnsafeReport {
    vars: Vars,
    rejected: Vec<Unsafe>,
}

impl From<Safety<'_>> for UnsafeReport {
    fn from(safety: Safety<'_>) -> Self {
        Self {
            vars: safety.vars,
            rejected: safety.rejected,
        }
    }
}

impl UnsafeReport {
    /// Reports each variable once, at its first unsafe location. If the user named none of them, the expressions are
    /// reported instead.
    pub fn report(mut self, report: &mut Report, locals: &Locals, suffix: &str) {
        self.rejected.sort_by_key(|rejected| rejected.span);
        let unsafe_vars = self.unsafe_vars(locals);
        for (name, span) in &unsafe_vars {
            report_var(report, name, *span, suffix);
        }
        if !unsafe_vars.is_empty() {
            return;
        }
        let mut reported = VarSet::default();
        for rejected in &self.rejected {
            if !rejected.vars.is_subset(&reported) {
                reported.add(&rejected.vars);
                let message = format!("expression is unsafe{suffix}");
                report.error(Code::UnsafeVar, rejected.span, message);
            }
        }
    }

    /// Returns the unsafe variables that the user named, with their first locations. Assigned ones are unsafe only
    /// because of others, so they are omitted if there are others.
    fn unsafe_vars<'a>(&'a self, locals: &'a Locals) -> Vec<(&'a Name, Span)> {
        let mut assigned = VarSet::default();
        for rejected in &self.rejected {
            assigned.add(&rejected.assigned);
        }
        let mut reported = VarSet::default();
        let mut unsafe_vars: Vec<(&Name, Span)> = Vec::new();
        for rejected in &self.rejected {
            for var in rejected.vars.iter() {
                if reported.insert(var)
                    && let Some(name) = self.vars.name(var)
                    && !locals.is_anonymous(name)
                {
                    unsafe_vars.push((locals.original(name), rejected.span));
                }
            }
        }
        let assigned = assigned.iter().filter_map(|var| self.vars.name(var));
        let assigned: HashSet<&Name> = assigned.map(|name| locals.original(name)).collect();
        if !unsafe_vars.iter().all(|(name, _)| assigned.contains(name)) {
            unsafe_vars.retain(|(name, _)| !assigned.contains(name));
        }
        unsafe_vars
    }
}

/// Reports a variable of a head, by the name that the user wrote.
pub fn report_head_var(report: &mut Report, name: &Name, span: Span, suffix: &str) {
    let message = format!("var {} is unsafe{suffix}", user_name(name));
    report.error(Code::UnsafeVar, span, message);
}

/// Returns the user's name of a variable; all wildcards have the same name.
fn user_name(name: &Name) -> &str {
    if name.starts_with('$') { "_" } else { name }
}

fn report_var(report: &mut Report, name: &Name, span: Span, suffix: &str) {
    let name = user_name(name);
    let hint = if FUTURE_KEYWORDS.contains(&name) {
        format!(" (hint: `import future.keywords.{name}` to import a future keyword)")
    } else {
        String::new()
    };
    let message = format!("var {name} is unsafe{suffix}{hint}");
    report.error(Code::UnsafeVar, span, message);
}

/// Rows on which rules of more than one name start: there, a location alone does not identify the rule.
pub struct SharedRows<'m> {
    module: &'m Module,
    /// The name on each row, or `None` if there are several.
    rows: Option<HashMap<u32, Option<&'m [Term]>>>,
}

impl<'m> SharedRows<'m> {
    /// Creates the table for a module; it is computed on demand.
    pub fn new(module: &'m Module) -> Self {
        Self { module, rows: None }
    }

    /// Returns ` in rule p` if the row of a rule is shared, otherwise an empty text.
    pub fn suffix(&mut self, rule: Span, reference: &[Term]) -> String {
        let module = self.module;
        let rows = self.rows.get_or_insert_with(|| shared_rows(module));
        match rows.get(&rule.row) {
            Some(None) => format!(" in rule {}", display_ref(ground_prefix(reference))),
            _ => String::new(),
        }
    }
}

fn shared_rows(module: &Module) -> HashMap<u32, Option<&[Term]>> {
    let mut rows = HashMap::new();
    for rule in &module.rules {
        let name = ground_prefix(&rule.head.reference);
        for part in chain(rule) {
            match rows.entry(part.span.row) {
                Entry::Vacant(row) => {
                    row.insert(Some(name));
                }
                Entry::Occupied(mut row) => {
                    if *row.get() != Some(name) {
                        row.insert(None);
                    }
                }
            }
        }
    }
    rows
}
