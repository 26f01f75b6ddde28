//! The documents that a query depends on.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use solon_syntax::ast::visit::{Descent, Terms, Walk};
use solon_syntax::ast::{Body, Expr, ExprKind, Module, Name, Ref, Rule, Term, TermKind, VarScan};
use solon_syntax::parse_body;
use solon_syntax::source::{Source, SourceId};

use super::Engine;
use crate::error::Error;
use crate::snapshot::Snapshot;

/// Maximum length of a reference that is followed through variables, in terms.
const LONGEST: usize = 64;

/// The documents that a query depends on, directly or through rules, in order. References are cut before their first
/// part that is not a constant.
///
/// ```
/// use solon::Engine;
///
/// let engine = Engine::new();
/// engine.set_module("p.rego", "package p\nallow if is_admin\nis_admin if \"admin\" in input.user.roles")?;
/// let dependencies = engine.dependencies("data.p.allow")?;
/// assert_eq!(dependencies.base_texts(), ["input.user.roles"]);
/// assert_eq!(dependencies.rule_texts(), ["data.p.allow", "data.p.is_admin"]);
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Dependencies {
    /// Base documents and parts of the input.
    pub base: Vec<Term>,
    /// Virtual documents.
    pub rules: Vec<Term>,
}

impl Dependencies {
    /// Returns the base documents as text, such as `data.users`.
    pub fn base_texts(&self) -> Vec<String> {
        self.base.iter().map(Term::to_string).collect()
    }

    /// Returns the virtual documents as text.
    pub fn rule_texts(&self) -> Vec<String> {
        self.rules.iter().map(Term::to_string).collect()
    }
}

impl Engine {
    /// Returns the documents that a query depends on, by the analysis of `opa deps`. The query is not compiled: an
    /// unbound variable is not an error.
    ///
    /// # Errors
    /// [`Error::Compile`] if the query does not parse.
    pub fn dependencies(&self, query: &str) -> Result<Dependencies, Error> {
        let source = Source::new(SourceId(0), "", query);
        let options = self.inner.parse_options(self.inner.version)?;
        let body = parse_body(&source, &options)?;
        Error::caught(|| {
            let snapshot = self.snapshot();
            let mut head = BTreeSet::new();
            VarScan::default().each(&body, |_, name| {
                if !name.starts_with('$') {
                    head.insert(name.clone());
                }
            });
            let mut search = DependencySearch::new(&snapshot);
            search.follow(references(&head, &body));
            Ok(search.finish())
        })
    }
}

/// Transitive search through the rules of a policy.
struct DependencySearch<'m> {
    /// Each rule with its path from `data` on.
    rules: Vec<(Ref, &'m Rule)>,
    visited: HashSet<usize>,
    base: BTreeSet<Ref>,
    virtual_documents: BTreeSet<Ref>,
}

impl<'m> DependencySearch<'m> {
    fn new(snapshot: &'m Snapshot) -> Self {
        let modules = &snapshot.state().policy.program.canonical.modules;
        let rules = modules.iter().flat_map(|module| {
            let rules = module.rules.iter();
            rules.map(|rule| (rule_path(module, rule), rule))
        });
        Self {
            rules: rules.collect(),
            visited: HashSet::new(),
            base: BTreeSet::new(),
            virtual_documents: BTreeSet::new(),
        }
    }

    /// Follows references to rules, and the references of those rules, transitively.
    fn follow(&mut self, references: Vec<Ref>) {
        let mut open = minimal(references);
        while let Some(reference) = open.pop() {
            let reference = constant_prefix(&reference);
            let paths: Vec<&Ref> = self.rules.iter().map(|(path, _)| path).collect();
            let matching = rules_of(&paths, &reference);
            if matching.is_empty() {
                self.base.insert(reference);
            }
            for position in matching {
                let Some((path, rule)) = self.rules.get(position) else {
                    continue;
                };
                if self.visited.insert(position) {
                    self.virtual_documents.insert(path.clone());
                    let mut references = Vec::new();
                    for member in rule.members() {
                        references.extend(self::references(&head_vars(member), &member.body));
                    }
                    open.extend(minimal(references));
                }
            }
        }
    }

    fn finish(self) -> Dependencies {
        let terms = |references: BTreeSet<Ref>| {
            let all = references.into_iter();
            all.map(term).collect()
        };
        Dependencies {
            base: terms(self.base),
            rules: terms(self.virtual_documents),
        }
    }
}

fn term(mut reference: Ref) -> Term {
    let span = reference.first().map(|first| first.span);
    let kind = match reference.as_slice() {
        [_] => reference.remove(0).kind,
        _ => TermKind::Ref(reference),
    };
    Term::new(kind, span.unwrap_or_default())
}

/// Returns the positions of the rules that contribute to the document of a reference, given the paths of all rules.
pub(super) fn rules_of(paths: &[&Ref], reference: &Ref) -> Vec<usize> {
    let prefixes = paths.iter().filter(|path| reference.starts_with(path));
    let nearest = prefixes.map(|path| path.len()).min();
    let all = paths.iter().enumerate();
    let matching = all.filter(|(_, path)| {
        path.starts_with(reference) || (Some(path.len()) == nearest && reference.starts_with(path))
    });
    matching.map(|(position, _)| position).collect()
}

/// Returns the path of a rule's document: its package and the ground prefix of its head.
pub(super) fn rule_path(module: &Module, rule: &Rule) -> Ref {
    let head = rule.head.reference.iter().enumerate();
    let ground =
        head.take_while(|(index, part)| *index == 0 || !VarScan::default().any(*part, |_| true));
    let ground = ground.map(|(_, part)| match part.as_var() {
        Some(name) => Term::string(name.clone(), part.span),
        None => part.clone(),
    });
    module.package.path.iter().cloned().chain(ground).collect()
}

/// Returns the part of a reference before its first part that is not a constant.
pub(super) fn constant_prefix(reference: &Ref) -> Ref {
    let parts = reference.iter().enumerate();
    let parts = parts.take_while(|(index, part)| *index == 0 || is_constant(part));
    parts.map(|(_, part)| part.clone()).collect()
}

fn is_constant(term: &Term) -> bool {
    crate::program::constant(term).is_some()
}

/// Removes references that start with another one of the list.
fn minimal(mut references: Vec<Ref>) -> Vec<Ref> {
    references.sort();
    let mut minimal: Vec<Ref> = Vec::new();
    for reference in references {
        if minimal
            .last()
            .is_none_or(|last| !reference.starts_with(last))
        {
            minimal.push(reference);
        }
    }
    minimal
}

fn head_vars(rule: &Rule) -> BTreeSet<Name> {
    let head = &rule.head;
    let mut vars = BTreeSet::new();
    let reference = head.reference.iter().skip(1);
    let terms = head.args.iter().chain(&head.key).chain(&head.value);
    for term in terms.chain(reference) {
        VarScan::default().collect(term, &mut vars);
    }
    vars
}

/// The references that each variable is equal to.
type Joined = BTreeMap<Name, BTreeSet<Ref>>;

/// Returns the references to `data` and `input` that a body depends on. Variables are replaced by the references that
/// they are equal to.
fn references(head: &BTreeSet<Name>, body: &Body) -> Vec<Ref> {
    let (equalities, other_exprs) = equalities(body);
    let references_of_vars = join(&equalities, body);
    let mut resolved: Vec<Ref> = Vec::new();
    let (mut of_head, mut rest) = (Vec::new(), Vec::new());
    for expr in other_exprs {
        // `p[x]` with a variable of the head reads all of `p`.
        match &expr.kind {
            ExprKind::Term(Term {
                kind: TermKind::Ref(path),
                ..
            }) if ends_in(path, head) => of_head.extend(expand(path, &references_of_vars)),
            _ => rest.push(expr),
        }
    }
    let mut vars_in_use = BTreeSet::new();
    let scan = VarScan {
        skip_ref_heads: true,
        ..VarScan::default()
    };
    for expr in rest {
        each_ref(expr, &mut |path| {
            resolved.extend(expand(path, &references_of_vars));
        });
        scan.collect(expr, &mut vars_in_use);
    }
    for path in of_head {
        if !resolved
            .iter()
            .any(|reference| reference.starts_with(&path))
        {
            resolved.push(path.clone());
        }
        for part in &path {
            each_ref(part, &mut |path| {
                resolved.extend(expand(path, &references_of_vars));
            });
        }
    }
    each_ref(body, &mut |path| {
        let parts = path.iter().skip(1).filter_map(Term::as_var);
        vars_in_use.extend(parts.cloned());
    });
    let is_alias = |name: &Name, paths: &BTreeSet<Ref>| {
        paths.len() == 1 && !head.contains(name) && !vars_in_use.contains(name)
    };
    for (name, paths) in &references_of_vars {
        for path in paths {
            if !is_alias(name, paths) {
                resolved.extend(expand(path, &references_of_vars));
            }
            for part in path {
                each_ref(part, &mut |path| {
                    resolved.extend(expand(path, &references_of_vars));
                });
            }
        }
    }
    // What an unused variable is equal to must be defined, too.
    let known_count = resolved.len();
    for (_, paths) in references_of_vars
        .iter()
        .filter(|(name, paths)| is_alias(name, paths))
    {
        for path in paths {
            let mut before = resolved.iter().take(known_count);
            if !before.any(|other| other.starts_with(path) || path.starts_with(other)) {
                resolved.push(path.clone());
            }
        }
    }
    resolved
}

fn ends_in(path: &Ref, head: &BTreeSet<Name>) -> bool {
    let last = path.last().and_then(Term::as_var);
    last.is_some_and(|name| head.contains(name))
}

/// Splits a body into equalities of a variable with a reference, and all other expressions.
fn equalities(body: &Body) -> (Vec<(&Name, &Ref)>, Vec<&Expr>) {
    let (mut equal_refs, mut other_exprs) = (Vec::new(), Vec::new());
    for expr in body {
        let operands = expr.operands_of("eq").unwrap_or_default();
        match operands {
            [
                Term {
                    kind: TermKind::Var(name),
                    ..
                },
                Term {
                    kind: TermKind::Ref(path),
                    ..
                },
            ]
            | [
                Term {
                    kind: TermKind::Ref(path),
                    ..
                },
                Term {
                    kind: TermKind::Var(name),
                    ..
                },
            ] => {
                equal_refs.push((name, path));
            }
            _ => other_exprs.push(expr),
        }
    }
    (equal_refs, other_exprs)
}

/// Computes the references that each variable of a body is equal to.
fn join(equalities: &[(&Name, &Ref)], body: &Body) -> Joined {
    let mut references_of_vars = Joined::new();
    VarScan::default().each(body, |_, name| {
        references_of_vars.entry(name.clone()).or_default();
    });
    loop {
        let mut added: Vec<(Name, Ref)> = Vec::new();
        for (name, path) in equalities {
            let current = references_of_vars.get(*name);
            let new = expand(path, &references_of_vars).into_iter();
            let new = new.filter(|path| {
                path.len() <= LONGEST
                    && current.is_none_or(|current_refs| !current_refs.contains(path))
            });
            added.extend(new.map(|path| ((*name).clone(), path)));
        }
        if added.is_empty() {
            return references_of_vars;
        }
        for (name, path) in added {
            references_of_vars.entry(name).or_default().insert(path);
        }
    }
}

/// Returns a reference to a root document unchanged, and otherwise one reference for each value of its first variable.
fn expand(path: &Ref, references_of_vars: &Joined) -> Vec<Ref> {
    let Some((head, rest)) = path.split_first() else {
        return Vec::new();
    };
    match head.as_var() {
        Some(name) if matches!(&**name, "data" | "input") => vec![path.clone()],
        Some(name) => {
            let values = references_of_vars.get(name).into_iter().flatten();
            let expanded = values.map(|value| value.iter().chain(rest).cloned().collect());
            expanded.collect()
        }
        None => Vec::new(),
    }
}

/// Calls `show` with each reference in a node.
fn each_ref<N: Walk + ?Sized>(node: &N, show: &mut impl FnMut(&Ref)) {
    node.walk(&mut Terms(|term: &Term| {
        if let TermKind::Ref(path) = &term.kind {
            show(path);
        }
        Descent::Into
    }));
}
