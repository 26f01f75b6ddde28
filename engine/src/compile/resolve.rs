//! ResolveRefs: names of imports and rules become full references.
//!
//! In package `a`, a rule's name `p` becomes `data.a.p`, unless the body around it declares a variable `p`.

use hashbrown::{HashMap, HashSet};

use solon_syntax::ast::visit::{Descent, Visitor, VisitorMut, Walk, WalkMut};
use solon_syntax::ast::{
    Body, Expr, ExprKind, Import, Module, Name, Ref, Rule, SomeDecl, Term, TermKind, VarScan,
};
use solon_syntax::source::{Code, Span};

use super::facts::Facts;
use super::rewrite::each_branch_of;
use super::rewrite::keywords::is_root_document;
use super::small_map::SmallMap;
use super::{Compilation, QueryCompilation};

/// Resolves the names in all modules and records unused imports.
pub fn resolve(compilation: &mut Compilation<'_>) {
    let exports = exports(compilation);
    let results = compilation.modules.map_open_mut(|module, facts| {
        let exported = exports.get(&module.package.path);
        let no_names = HashSet::new();
        resolve_module(module, facts, exported.unwrap_or(&no_names))
    });
    for resolved in results {
        for (span, message) in resolved.rejections {
            compilation.report.error(Code::Compile, span, message);
        }
        if compilation.options.strict {
            compilation.unused_imports.extend(resolved.unused_imports);
        }
    }
}

/// Findings about the names in a module.
struct ResolvedModule {
    /// Errors with their locations.
    rejections: Vec<(Span, String)>,
    /// Imports without a use, for strict mode.
    unused_imports: Vec<Import>,
}

/// Resolves the names in a module; `exported` are the names of the rules of its package.
fn resolve_module(
    module: &mut Module,
    facts: &mut [Facts],
    exported: &HashSet<Name>,
) -> ResolvedModule {
    let globals = Globals::new(&module.package.path, exported, &module.imports);
    let mut resolver = Resolver::new(globals);
    let mut rejections = Vec::new();
    for (rule, facts) in module.rules.iter_mut().zip(&mut *facts) {
        let before = resolver.globals.found;
        let mut rejection = None;
        each_branch_of(rule, |branch| {
            if rejection.is_none() {
                rejection = resolver.rule(branch).err();
            }
        });
        if resolver.globals.found > before {
            facts.add(Facts::RESOLVED | Facts::DOCUMENT);
        }
        rejections.extend(rejection);
    }
    let mut heads = resolver.globals.heads();
    for (rule, facts) in module.rules.iter_mut().zip(facts) {
        if facts.has(Facts::RESOLVED) {
            rule.walk_mut(&mut heads);
        }
    }
    let imports = module.imports.iter();
    let unused =
        imports.filter(|import| !is_language_import(import) && !resolver.globals.is_used(import));
    ResolvedModule {
        rejections,
        unused_imports: unused.cloned().collect(),
    }
}

/// Resolves the names in a query with its imports and its package.
pub fn resolve_query(query: &mut QueryCompilation<'_>) {
    let package = query.package.as_deref().unwrap_or_default();
    let modules = &query.compiled.modules;
    let modules_of_package = modules
        .iter()
        .filter(|module| module.package.path == package);
    let rules = modules_of_package
        .flat_map(|module| exported(module))
        .collect();
    let mut resolver = Resolver::new(Globals::new(package, &rules, &query.imports));
    resolver.hidden.push(declared_in(&query.body));
    query.body.walk_mut(&mut resolver);
    query.body.walk_mut(&mut resolver.globals.heads());
}

/// Returns the names of the rules of each package of open modules.
fn exports(compilation: &Compilation<'_>) -> HashMap<Ref, HashSet<Name>> {
    let mut exports: HashMap<Ref, HashSet<Name>> = HashMap::new();
    for module in compilation.modules.open() {
        let names = exports.entry_ref(&module.package.path).or_default();
        names.extend(exported(module));
    }
    for (package, names) in &mut exports {
        let reused = compilation.earlier.iter();
        let reused = reused.flat_map(|earlier| earlier.reused_of_package(package));
        names.extend(reused.flat_map(|part| exported(&part.canonical)));
    }
    exports
}

/// Returns the first names of the rules of a module, with duplicates.
pub(super) fn exported(module: &Module) -> impl Iterator<Item = Name> {
    let heads = module.rules.iter().map(|rule| &rule.head.reference);
    heads.filter_map(|reference| reference.first()?.as_var().cloned())
}

/// Returns `true` for `import rego.…` and `import future.…`, which select the language and bind no name.
fn is_language_import(import: &Import) -> bool {
    let first = match import.path.as_ref() {
        Some(terms) => terms.first(),
        None => Some(&import.path),
    };
    matches!(
        first.and_then(Term::as_var).map(|name| &**name),
        Some("rego" | "future")
    )
}

/// Global names of a module.
struct Globals<'a> {
    package: &'a [Term],
    rules: &'a HashSet<Name>,
    imports: HashMap<Name, Imported>,
    /// `true` if an import or a rule is named like a document.
    hides_documents: bool,
    /// Locations of uses of rule names.
    uses: Vec<Span>,
    /// Number of resolved names.
    found: usize,
}

struct Imported {
    path: Ref,
    /// Locations of uses of the name.
    uses: Vec<Span>,
}

impl<'a> Globals<'a> {
    fn new(package: &'a [Term], rules: &'a HashSet<Name>, imports: &[Import]) -> Self {
        let imports = imports.iter().filter(|import| !is_language_import(import));
        let imports = imports.filter_map(|import| {
            let path = match import.path.as_ref() {
                Some(terms) => terms.clone(),
                None => vec![import.path.clone()],
            };
            let uses = Vec::new();
            Some((import.name()?.clone(), Imported { path, uses }))
        });
        let imports: HashMap<Name, Imported> = imports.collect();
        let mut documents = ["input", "data"].into_iter();
        let is_hidden = |name| rules.contains(name) || imports.contains_key(name);
        Self {
            package,
            rules,
            hides_documents: documents.any(is_hidden),
            imports,
            uses: Vec::new(),
            found: 0,
        }
    }

    /// Returns `false` if a name cannot be a global. Most lookups are for documents, which are not resolved.
    fn may_find(&self, name: &Name) -> bool {
        self.hides_documents || !matches!(&**name, "input" | "data")
    }

    /// Returns the reference for a name, with the location of the name.
    fn find(&mut self, name: &Name, span: Span) -> Option<Ref> {
        let imported = if self.imports.is_empty() {
            None
        } else {
            self.imports.get_mut(name)
        };
        let mut path = if let Some(imported) = imported {
            imported.uses.push(span);
            imported.path.clone()
        } else if self.rules.contains(name) {
            self.uses.push(span);
            let name = Term::string(name.clone(), span);
            let mut path = Vec::with_capacity(self.package.len() + 1);
            path.extend_from_slice(self.package);
            path.push(name);
            path
        } else {
            return None;
        };
        for term in &mut path {
            term.span = span;
        }
        self.found += 1;
        Some(path)
    }

    fn is_used(&self, import: &Import) -> bool {
        let imported = import.name().and_then(|name| self.imports.get(name));
        imported.is_none_or(|imported| !imported.uses.is_empty())
    }

    /// As in OPA, references that started with names of the package share their first term, and so do those that
    /// started with one import: the location of such a reference is that of the last use.
    fn heads(&self) -> HeadSpans {
        let groups = self.imports.values().map(|imported| &imported.uses);
        let mut last = HashMap::new();
        for uses in groups.chain([&self.uses]) {
            if let Some((end, earlier)) = uses.split_last() {
                last.extend(earlier.iter().map(|span| (*span, *end)));
            }
        }
        HeadSpans(last)
    }
}

/// Visitor that moves the first terms of references.
struct HeadSpans(HashMap<Span, Span>);

impl VisitorMut for HeadSpans {
    fn term(&mut self, term: &mut Term) -> Descent {
        if let TermKind::Ref(terms) = &mut term.kind
            && let Some(head) = terms.first_mut()
            && let Some(last) = self.0.get(&head.span)
        {
            head.span = *last;
        }
        Descent::Into
    }
}

type NameSet = SmallMap<Name, ()>;

struct Resolver<'a> {
    globals: Globals<'a>,
    /// Names shadowed by arguments and declarations, innermost last.
    hidden: Vec<NameSet>,
}

impl<'a> Resolver<'a> {
    fn new(globals: Globals<'a>) -> Self {
        Self {
            globals,
            hidden: Vec::new(),
        }
    }

    fn rule(&mut self, rule: &mut Rule) -> Result<(), (Span, String)> {
        let mut args = ArgumentVars::default();
        rule.head.args.walk_mut(&mut args);
        if let Some(root) = args.root {
            let message = format!("args must not shadow {root} (use a different variable name)");
            return Err((rule.span, message));
        }
        self.hidden.clear();
        self.hidden.push(args.names);
        self.hidden.push(declared_in(&rule.body));
        let head = &mut rule.head;
        for part in head.reference.iter_mut().skip(1) {
            part.walk_mut(self);
        }
        head.key.walk_mut(self);
        head.value.walk_mut(self);
        rule.body.walk_mut(self);
        Ok(())
    }

    fn find(&mut self, term: &Term) -> Option<Ref> {
        let name = term.as_var()?;
        if !self.globals.may_find(name) {
            return None;
        }
        if self.hidden.iter().any(|names| names.contains(name)) {
            return None;
        }
        self.globals.find(name, term.span)
    }

    fn with_hidden(&mut self, names: NameSet, visit: impl FnOnce(&mut Self)) {
        self.hidden.push(names);
        visit(self);
        self.hidden.pop();
    }

    fn reference(&mut self, terms: &mut Ref) {
        let Some((head, parts)) = terms.split_first_mut() else {
            return;
        };
        let path = self.find(head);
        if path.is_none() && head.as_var().is_none() {
            head.walk_mut(self);
        }
        for part in parts {
            // a name alone between template brackets is a variable
            if !matches!(part.kind, TermKind::Template(_)) {
                part.walk_mut(self);
            }
        }
        if let Some(path) = path {
            terms.splice(..1, path);
        }
    }
}

impl VisitorMut for Resolver<'_> {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        match &mut expr.kind {
            // plain declarations name variables
            ExprKind::Some(decl) if !is_membership(decl) => {}
            ExprKind::Every(every) => {
                let mut names = NameSet::default();
                for term in every.key.iter().chain([&every.value]) {
                    VarScan::default().each(term, |_, name| {
                        names.insert(name.clone(), ());
                    });
                }
                self.with_hidden(names, |resolver| {
                    every.domain.walk_mut(resolver);
                    every.body.walk_mut(resolver);
                });
            }
            _ => return Descent::Into,
        }
        expr.with.walk_mut(self);
        Descent::Over
    }

    fn term(&mut self, term: &mut Term) -> Descent {
        match &mut term.kind {
            TermKind::Var(_) => {
                if let Some(path) = self.find(term) {
                    term.kind = TermKind::Ref(path);
                }
            }
            TermKind::Ref(terms) => self.reference(terms),
            TermKind::ArrayComprehension(inner)
            | TermKind::SetComprehension(inner)
            | TermKind::ObjectComprehension(inner) => {
                self.with_hidden(declared_in(&inner.body), |resolver| {
                    inner.walk_mut(resolver);
                });
            }
            // in the order of values, which decides which use is last
            TermKind::Set(items) => {
                let mut items: Vec<&mut Term> = items.iter_mut().collect();
                items.sort();
                for item in items {
                    item.walk_mut(self);
                }
            }
            TermKind::Object(pairs) => {
                let mut pairs: Vec<&mut (Term, Term)> = pairs.iter_mut().collect();
                pairs.sort_by(|a, b| a.0.cmp(&b.0));
                for (key, value) in pairs {
                    key.walk_mut(self);
                    value.walk_mut(self);
                }
            }
            _ => return Descent::Into,
        }
        Descent::Over
    }
}

/// The variables that a function's arguments bind.
#[derive(Default)]
struct ArgumentVars {
    names: NameSet,
    /// First argument that is a root document.
    root: Option<Term>,
}

impl VisitorMut for ArgumentVars {
    fn term(&mut self, term: &mut Term) -> Descent {
        match &term.kind {
            TermKind::Var(name) => {
                self.names.insert(name.clone(), ());
            }
            TermKind::Ref(_) if is_root_document(term) => {
                self.root.get_or_insert_with(|| term.clone());
            }
            // these cannot be matched against a pattern
            TermKind::Set(_)
            | TermKind::Call(_)
            | TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_) => return Descent::Over,
            _ => {}
        }
        Descent::Into
    }
}

/// Returns the variables that a body declares with `:=` or `some`, including bodies of its expressions, but not
/// comprehensions.
pub(super) fn declared_in(body: &Body) -> NameSet {
    let mut declared = DeclaredVars::default();
    body.walk(&mut declared);
    declared.0
}

#[derive(Default)]
struct DeclaredVars(NameSet);

impl DeclaredVars {
    fn all_of(&mut self, term: &Term) {
        VarScan::default().each(term, |_, name| {
            self.0.insert(name.clone(), ());
        });
    }
}

impl Visitor<'_> for DeclaredVars {
    fn expr(&mut self, expr: &Expr) -> Descent {
        if let Some([target, _]) = expr.operands_of("assign") {
            self.all_of(target);
        } else if let ExprKind::Some(decl) = &expr.kind {
            for symbol in &decl.symbols {
                match &symbol.kind {
                    TermKind::Var(name) => {
                        self.0.insert(name.clone(), ());
                    }
                    TermKind::Call(terms) => {
                        // operator, one or two patterns, collection
                        let end = terms.len().saturating_sub(1);
                        for pattern in terms.get(1..end).unwrap_or_default() {
                            self.all_of(pattern);
                        }
                    }
                    _ => {}
                }
            }
        }
        Descent::Into
    }

    fn term(&mut self, term: &Term) -> Descent {
        match term.kind {
            TermKind::ArrayComprehension(_)
            | TermKind::SetComprehension(_)
            | TermKind::ObjectComprehension(_) => Descent::Over,
            _ => Descent::Into,
        }
    }
}

/// Returns `true` for a declaration `some … in …`, whose only symbol is a call.
pub(super) fn is_membership(decl: &SomeDecl) -> bool {
    matches!(
        decl.symbols.first().map(|term| &term.kind),
        Some(TermKind::Call(_))
    )
}
