//! Optimisation: entry points are evaluated as far as the input allows, and the results replace the rules that they make redundant.

use std::collections::{BTreeMap, BTreeSet};

use solon_syntax::ast::visit::{Descent, Exprs, Terms, Visitor, Walk};
use solon_syntax::ast::{
    Body, Expr, Head, Module, Package, Ref, Rule, Scope, Term, TermKind, Version,
};
use solon_syntax::print::is_plain_key;
use solon_syntax::source::{Source, SourceId, Span};

use super::output::{OutputModule, sources_of, text};
use super::{BuildError, BundleBuilder};
use crate::builtins;
use crate::bundle::Bundle;
use crate::compile::rule_tree::TreeRuleId;
use crate::engine::Engine;
use crate::error::Error;
use crate::partial_query::PartialOptions;
use crate::query::Request;
use crate::store::Path;

/// The folder of policies that the optimiser makes.
const FOLDER: &str = "optimized";

/// The variable for the value of an entry point.
const RESULT: &str = "__result__";

impl BundleBuilder {
    /// Returns the policies with entry points optimised, one after another: each sees what became of those before it.
    pub(super) fn optimized(
        &self,
        bundle: &Bundle,
        mut modules: Vec<OutputModule>,
        entry_points: &[Path],
        report: &mut dyn FnMut(&str),
    ) -> Result<Vec<OutputModule>, BuildError> {
        let sources = sources_of(bundle);
        let mut unknowns = None;
        let mut file_names = FileNames::default();
        let mut engine = self.compiled(&modules, &bundle.documents);
        for (index, entry_point) in entry_points.iter().enumerate() {
            if entry_point.segments().len() < 2 {
                let reference = entry_point.reference();
                return Err(BuildError::new(format!(
                    "invalid entrypoint {reference}: to create optimized support module, the entrypoint ref must have at least two \
                     components in addition to the 'data' root"
                )));
            }
            let compiled = match &engine {
                Ok(engine) => engine,
                Err(error) => return Err(BuildError::from_error(error)),
            };
            let unknowns = unknowns.get_or_insert_with(|| unknown_documents(compiled, bundle));
            let replaced = Replaced::of_entry_point(compiled, entry_point);
            let options = PartialOptions {
                unknowns: unknowns.clone(),
                disable_inlining: replaced.documents.into_iter().collect(),
                shallow_inlining: self.level == 1,
                namespace: self.namespace.clone(),
                skip_namespace: true,
                ..PartialOptions::default()
            };
            report(&format!(
                "optimizer: entrypoint: {}",
                entry_point.reference()
            ));
            report(&format!("  partial-namespace: {}", self.namespace));
            let disabled = options.disable_inlining.join(" ");
            report(&format!("  disable-inlining: [{disabled}]"));
            report(&format!("  shallow-inlining: {}", options.shallow_inlining));
            for unknown in unknowns.iter() {
                report(&format!("  unknown: {unknown}"));
            }
            if let Some(name) = replaced.functions.first() {
                report(&format!(
                    "optimizer: entrypoint: {}: discarded, a rule replaces `{name}`",
                    entry_point.reference()
                ));
                continue;
            }
            let support = Self::support_of(compiled, entry_point, &options, report)?;
            let support = support.into_iter().enumerate().map(|(number, mut module)| {
                // OPA writes v0 so that it is valid as v1
                module.version = match self.version {
                    Version::V1 => Version::V1,
                    _ => Version::V0CompatV1,
                };
                let path = file_names.next(&module.package.path, &self.namespace, index, number);
                module.source = Source::new(SourceId::NONE, path.as_str(), "");
                OutputModule {
                    path: format!("/{path}"),
                    module: module.into(),
                    is_as_read: false,
                    is_generated: true,
                }
            });
            // a result that is not a policy leaves the rules as they are
            let merged = merged(&modules, support.collect());
            let next = self.compiled(merged.as_deref().unwrap_or_default(), &bundle.documents);
            if let Some(merged) = merged
                && next.is_ok()
                && merged.iter().all(|module| text(module, &sources).is_ok())
            {
                (modules, engine) = (merged, next);
            } else {
                report(&format!(
                    "optimizer: entrypoint: {}: discarded, the result is not a policy",
                    entry_point.reference()
                ));
            }
        }
        modules.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(modules)
    }

    /// The modules that an entry point comes down to.
    fn support_of(
        engine: &Engine,
        entry_point: &Path,
        options: &PartialOptions,
        report: &mut dyn FnMut(&str),
    ) -> Result<Vec<Module>, BuildError> {
        let query = format!("{RESULT} = {}", entry_point.reference());
        let residuals = engine
            .partial(&query, options, &Request::new())
            .map_err(|error| of_query(&error))?;
        if residuals.queries.is_empty() {
            let reference = entry_point.reference();
            return Err(BuildError::new(format!("undefined entrypoint {reference}")));
        }
        let mut modules = residuals.support;
        let module = support_module(residuals.queries, entry_point);
        if module.is_none() {
            let reference = entry_point.reference();
            report(&format!(
                "optimizer: entrypoint: {reference}: discard due to self-reference"
            ));
        }
        modules.extend(module);
        Ok(modules)
    }
}

/// The message of an error of an entry point, whose query is at no place.
fn of_query(error: &Error) -> BuildError {
    let Error::Compile(diagnostics) = error else {
        return BuildError::from_error(error);
    };
    let mut diagnostics = diagnostics.clone();
    for diagnostic in &mut diagnostics.0 {
        if diagnostic.file.is_empty() {
            diagnostic.span = Span::default();
        }
    }
    BuildError::from_error(&Error::Compile(diagnostics))
}

/// Makes the rule of an entry point. `None` if what is left refers to the entry point itself.
fn support_module(queries: Vec<Body>, entry_point: &Path) -> Option<Module> {
    let steps = entry_point.segments();
    let (name, package) = steps.split_last()?;
    let mut path: Ref = vec![Term::var("data", Span::default())];
    path.extend(
        steps
            .iter()
            .map(|step| Term::string(step.as_str(), Span::default())),
    );
    let refers_to_itself = queries.iter().any(|query| {
        let mut occurs = false;
        query.walk(&mut Terms(|term: &Term| {
            occurs =
                occurs || matches!(&term.kind, TermKind::Ref(steps) if steps.starts_with(&path));
            if occurs { Descent::Over } else { Descent::Into }
        }));
        occurs
    });
    if refers_to_itself || !is_plain_key(name) {
        return None;
    }
    let rule = |body| Rule {
        default: false,
        head: Head {
            name: Some(name.as_str().into()),
            reference: vec![Term::var(name.as_str(), Span::default())],
            args: Vec::new(),
            key: None,
            value: Some(Term::var(RESULT, Span::default())),
            generated_value: false,
            assign: false,
            span: Span::default(),
        },
        body,
        else_rule: None,
        annotations: Vec::new(),
        span: Span::default(),
    };
    path.truncate(package.len() + 1);
    Some(Module {
        source: Source::new(SourceId::NONE, "", ""),
        version: solon_syntax::ast::Version::V1,
        package: Package {
            path,
            span: Span::default(),
        },
        imports: Vec::new(),
        rules: queries.into_iter().map(rule).collect(),
        comments: Vec::new(),
        annotations: Vec::new(),
        chain: 0,
    })
}

/// The path of a rule up to its first part that is not a constant.
fn constant_path(module: &Module, rule: &Rule) -> Ref {
    let mut path = module.package.path.clone();
    let mut steps = rule.head.reference.iter();
    if let Some(name) = steps.next() {
        let text = name
            .as_var()
            .map(|name| Term::string(&**name, Span::default()));
        path.push(text.unwrap_or_else(|| name.clone()));
    }
    path.extend(steps.take_while(|step| step.is_scalar()).cloned());
    path
}

/// Adds policies to those that they were made of. Rules that they replace are removed, and policies without rules. `None` if a rule
/// would lose keys: a key of it is replaced, but not the rule.
fn merged(before: &[OutputModule], support: Vec<OutputModule>) -> Option<Vec<OutputModule>> {
    let mut replaced = BTreeSet::new();
    for output in &support {
        for rule in &output.module.rules {
            replaced.insert(constant_path(&output.module, rule));
        }
    }
    let rules = before.iter().flat_map(|output| {
        let rules = output.module.rules.iter();
        rules.map(|rule| constant_path(&output.module, rule))
    });
    for path in rules.filter(|path| !replaced.contains(path)) {
        let mut other_paths = replaced.iter();
        if other_paths.any(|other| other.len() > path.len() && other.starts_with(&path)) {
            return None;
        }
    }
    let mut all = support;
    for output in before {
        let mut module = (*output.module).clone();
        let package = output.module.clone();
        module.rules.retain(|rule| {
            let path = constant_path(&package, rule);
            let overlaps = |other: &Ref| path.starts_with(other) || other.starts_with(&path);
            !replaced.iter().any(overlaps)
        });
        if module.rules.is_empty() {
            continue;
        }
        if output.is_as_read || module.rules.len() < package.rules.len() {
            keep_annotations(&mut module);
        }
        all.push(OutputModule {
            path: output.path.clone(),
            module: module.into(),
            is_as_read: false,
            is_generated: output.is_generated,
        });
    }
    Some(all)
}

/// Removes METADATA blocks of rules that are gone, and all other comments, as OPA does.
fn keep_annotations(module: &mut Module) {
    let paths: BTreeSet<Ref> = module
        .rules
        .iter()
        .map(|rule| constant_path(module, rule))
        .collect();
    module.annotations.retain(|block| {
        matches!(block.scope, Scope::Package | Scope::Subpackages) || paths.contains(&block.path)
    });
    let starts: BTreeSet<u32> = module
        .annotations
        .iter()
        .map(|block| block.span.row)
        .collect();
    let mut in_block = None;
    let text = module.source.text.clone();
    module.comments.retain(|comment| {
        let row = comment.span.row;
        let start = usize::try_from(comment.span.start).unwrap_or(usize::MAX);
        let before = text
            .get(..start)
            .and_then(|before| before.rsplit('\n').next());
        let is_alone = before.is_some_and(|before| before.trim().is_empty());
        let is_next = is_alone && in_block.is_some_and(|last: u32| last + 1 == row);
        in_block = (starts.contains(&row) || is_next).then_some(row);
        in_block.is_some()
    });
}

/// Unknown documents: the input, and documents outside of the bundle's roots that policies refer to.
fn unknown_documents(engine: &Engine, bundle: &Bundle) -> Vec<String> {
    let roots = bundle.manifest.root_paths();
    let mut unknowns = Unknowns {
        roots: roots.iter().map(reference).collect(),
        references: BTreeSet::from([vec![Term::var("input", Span::default())]]),
    };
    let snapshot = engine.snapshot();
    for module in snapshot.state().policy.compiled.modules.iter() {
        module.rules.walk(&mut unknowns);
    }
    let unknowns = unknowns.references.into_iter();
    let text = |steps| Term::new(TermKind::Ref(steps), Span::default()).to_string();
    unknowns.map(text).collect()
}

struct Unknowns {
    roots: Vec<Ref>,
    /// References of which none is the beginning of another.
    references: BTreeSet<Ref>,
}

impl Unknowns {
    fn add(&mut self, steps: &[Term]) {
        let head = steps.first().and_then(Term::as_var);
        if head.is_none_or(|name| &**name != "data") {
            return;
        }
        let rest = steps.iter().skip(1).take_while(|step| step.is_scalar());
        let prefix: Ref = steps.iter().take(1).chain(rest).cloned().collect();
        let mut prefixes = self.roots.iter().chain(&self.references);
        if prefixes.any(|other| prefix.starts_with(other)) {
            return;
        }
        self.references.retain(|other| !other.starts_with(&prefix));
        self.references.insert(prefix);
    }
}

impl<'a> Visitor<'a> for Unknowns {
    fn term(&mut self, term: &'a Term) -> Descent {
        match &term.kind {
            TermKind::Ref(steps) => {
                self.add(steps);
                // the head alone is another document
                steps.iter().skip(1).for_each(|step| step.walk(self));
                return Descent::Over;
            }
            TermKind::Var(_) => self.add(std::slice::from_ref(term)),
            _ => {}
        }
        Descent::Into
    }
}

fn reference(path: &Path) -> Ref {
    let mut steps = vec![Term::var("data", Span::default())];
    let names = path.segments().iter();
    steps.extend(names.map(|name| Term::string(name.as_str(), Span::default())));
    steps
}

/// Documents that `with` replaces where an entry point or a rule that it needs is evaluated.
#[derive(Default)]
struct Replaced {
    /// Documents, and functions of policies. They are not inlined.
    documents: BTreeSet<String>,
    /// Functions whose replacement would get lost: a residual has no `with` of functions, and calls with known operands are evaluated
    /// while a bundle is built.
    functions: BTreeSet<String>,
}

impl Replaced {
    fn of_entry_point(engine: &Engine, entry_point: &Path) -> Self {
        let snapshot = engine.snapshot();
        let compiled = &snapshot.state().policy.compiled;
        let tree = &compiled.rule_tree;
        let path = reference(entry_point);
        let rules: Vec<TreeRuleId> = match tree.longest_prefix(&path) {
            Some((node, depth)) if depth == path.len() => tree.rules_below(node).collect(),
            Some((node, _)) => tree.node(node).rules.to_vec(),
            None => Vec::new(),
        };
        let mut rules_of_entry_point = Self::default();
        let needed_rules: Vec<TreeRuleId> =
            compiled.dependents.needed_by(&rules).into_iter().collect();
        let users = compiled.dependents.users_of(&needed_rules);
        let users = users.into_iter().map(|rule| (rule, false));
        let all = needed_rules
            .into_iter()
            .map(|rule| (rule, true))
            .chain(users);
        for (rule, is_needed) in all {
            let Some(rule) = rule.rule_in(&compiled.modules) else {
                continue;
            };
            rule.walk(&mut Exprs(|expr: &Expr| {
                for with in &expr.with {
                    let node = with.target.as_ref().and_then(|steps| tree.find(steps));
                    let is_function = node.is_some_and(|node| tree.node(node).arity > 0);
                    rules_of_entry_point.add(&with.target, is_needed, is_function);
                }
                Descent::Into
            }));
        }
        rules_of_entry_point
    }

    /// Adds the target of a `with`: in a rule that the entry point needs, or in one that needs what it needs.
    fn add(&mut self, target: &Term, is_needed: bool, is_function: bool) {
        let head = match &target.kind {
            TermKind::Ref(steps) => steps.first().and_then(Term::as_var),
            _ => target.as_var(),
        };
        match head.map(|name| &**name) {
            Some("input") => {}
            Some("data") if !(is_needed && is_function) => {
                self.documents.insert(target.to_string());
            }
            _ => {
                let name = target.to_string();
                let entry = builtins::lookup(&name);
                let stays = entry.is_some_and(|entry| entry.builtin.nondeterministic);
                if is_needed || !stays {
                    self.functions.insert(name);
                }
            }
        }
    }
}

/// The names of files that the optimiser makes.
#[derive(Default)]
struct FileNames(BTreeMap<String, usize>);

impl FileNames {
    fn next(
        &mut self,
        package: &[Term],
        namespace: &str,
        entry_point: usize,
        number: usize,
    ) -> String {
        let steps = package
            .iter()
            .skip(1)
            .map(|step| step.as_string().map(|name| name.to_string()));
        let path: Option<Vec<String>> = steps.collect();
        let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
        match path
            .map(|path| path.join("/"))
            .filter(|path| path.chars().all(is_safe))
        {
            Some(path) => {
                let uses = self.0.entry(path.clone()).or_default();
                let name = match *uses {
                    0 => format!("{FOLDER}/{path}.rego"),
                    times => format!("{FOLDER}/{path}.{times}.rego"),
                };
                *uses += 1;
                name
            }
            None => format!("{FOLDER}/{namespace}/{entry_point}/{number}.rego"),
        }
    }
}
