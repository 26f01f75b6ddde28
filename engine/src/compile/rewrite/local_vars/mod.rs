//! RewriteLocalVars: declared variables become generated locals, and declarations disappear.
//!
//! `x := 1; p[x]` becomes `y = 1; p[y]`. A `:=` becomes `=`, `some x` vanishes, `some x in xs` becomes `x = xs[k]`.
//! Arguments of functions and the variables of `every` get locals, too. Comprehensions, bodies of `every`, and braced
//! operands of `not`, `and` and `or` are scopes of their own.

mod declarations;
mod operands;
mod renamer;
mod scopes;
mod unused;

use std::collections::BTreeSet;

use solon_syntax::ast::visit::{Descent, Visitor, VisitorMut, Walk, WalkMut};
use solon_syntax::ast::{Expr, Head, Name, Rule, TemplatePart, Term, TermKind, VarScan, With};
use solon_syntax::source::{Code, Span};

use self::renamer::Renamer;
use self::scopes::{Occurrence, ScopeVariable, Scopes};
use super::arrange;
use crate::builtins;
use crate::compile::locals::Locals;
use crate::compile::report::Report;
use crate::compile::resolve::declared_in;
use crate::compile::safety::OWN;
use crate::compile::small_map::SmallMap;
use crate::compile::{Compilation, Options, QueryCompilation};

/// Renames the variables of all modules.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let mut pass = LocalVarsPass {
        options: compilation.options,
        locals: &mut compilation.locals,
        report: &mut compilation.report,
    };
    for rule in compilation
        .modules
        .open_mut()
        .flat_map(|module| &mut module.rules)
    {
        pass.rule(rule);
    }
}

/// Renames the variables of a query.
pub fn rewrite_query(query: &mut QueryCompilation<'_>) {
    let locals = query.locals.restart(&query.body);
    let mut renamer = Renamer::new(locals, Scopes::default(), false);
    renamer.body(&mut query.body, &BTreeSet::new());
    renamer.report(&mut query.report);
}

struct LocalVarsPass<'c> {
    options: &'c Options,
    locals: &'c mut Locals,
    report: &'c mut Report,
}

impl LocalVarsPass<'_> {
    fn rule(&mut self, rule: &mut Rule) {
        let mut unused_args = BTreeSet::new();
        if self.options.strict {
            VarScan::default().collect(&rule.head.args, &mut unused_args);
        }
        let mut arguments = ArgumentRenamer {
            scopes: Scopes::default(),
            locals: self.locals,
            calls: Vec::new(),
        };
        rule.head.args.walk_mut(&mut arguments);
        let scopes = arguments.scopes;
        for span in arguments.calls {
            self.report
                .error(Code::Compile, span, "rule arguments cannot contain calls");
        }
        let span = rule.head.span;
        let mut next = Some(rule);
        while let Some(branch) = next {
            self.branch(branch, scopes.clone(), &mut unused_args);
            next = branch.else_rule.as_deref_mut();
        }
        for arg in unused_args.iter().filter(|arg| !arg.starts_with('$')) {
            let message =
                format!("unused argument {arg}. (hint: use _ (wildcard variable) instead)");
            self.report.recoverable(Code::Compile, span, message);
        }
    }

    fn branch(&mut self, rule: &mut Rule, scopes: Scopes, unused_args: &mut BTreeSet<Name>) {
        let mut used_names = BTreeSet::new();
        let has_variables = may_have_variables(&rule.head);
        if has_variables {
            self.nested_in_head(&mut rule.head);
            let head = &rule.head;
            let terms = head
                .reference
                .iter()
                .skip(1)
                .chain(&head.key)
                .chain(&head.value);
            for term in terms {
                VarScan::default().collect(term, &mut used_names);
            }
            VarScan::default().each(&head.value, |_, name| {
                unused_args.remove(name);
            });
        }
        let shadowing = self.shadowing_builtins(rule, &scopes);
        let mut renamer = Renamer::new(self.locals, scopes, self.options.strict);
        for name in shadowing {
            renamer
                .scopes
                .rename(&name, Occurrence::Used, renamer.locals);
        }
        renamer.body(&mut rule.body, &used_names);
        let variables = renamer.scopes.innermost().map(|scope| &scope.variables);
        if let Some(variables) = variables {
            unused_args.retain(|arg| {
                variables
                    .get(arg)
                    .is_none_or(|variable| variable.count <= 1)
            });
        }
        if has_variables && let Some(variables) = variables {
            let mut naming = Naming(variables);
            let head = &mut rule.head;
            head.args.walk_mut(&mut naming);
            head.key.walk_mut(&mut naming);
            head.value.walk_mut(&mut naming);
            for part in head.reference.iter_mut().skip(1) {
                part.walk_mut(&mut naming);
            }
        }
        renamer.report(self.report);
    }

    /// Renames in the comprehensions of a head. They come first, so that head and body do not share a scope.
    fn nested_in_head(&mut self, head: &mut Head) {
        let mut nested = NestedRenamer {
            locals: self.locals,
            strict: self.options.strict,
            errors: Vec::new(),
            unused: Vec::new(),
        };
        head.args.walk_mut(&mut nested);
        head.key.walk_mut(&mut nested);
        head.value.walk_mut(&mut nested);
        for (span, message) in nested.errors {
            self.report.error(Code::Compile, span, message);
        }
        for (span, message) in nested.unused {
            self.report.recoverable(Code::Compile, span, message);
        }
    }

    /// Returns the undeclared variables of a body that are named like a built-in. Without locals of their own, later
    /// passes would take them for the built-in.
    fn shadowing_builtins(&self, rule: &Rule, scopes: &Scopes) -> BTreeSet<Name> {
        let mut names: BTreeSet<Name> = BTreeSet::new();
        OWN.each(&rule.body, |_, name| {
            let may_be_builtin = builtins::may_be_plain(name) || !self.options.functions.is_empty();
            if may_be_builtin
                && scopes.find(name).is_none()
                && self.options.declaration(name).is_some()
            {
                names.insert(name.clone());
            }
        });
        if !names.is_empty() {
            for (declared, ()) in declared_in(&rule.body).iter() {
                names.remove(declared);
            }
            // after `with`, a name may mean the built-in itself
            rule.walk(&mut WithTargets(&mut names));
        }
        names
    }
}

/// Visitor that removes the names used in `with` modifiers.
struct WithTargets<'n>(&'n mut BTreeSet<Name>);

impl Visitor<'_> for WithTargets<'_> {
    fn expr(&mut self, expr: &Expr) -> Descent {
        for With { target, value, .. } in &expr.with {
            let scan = VarScan {
                skip_call_heads: true,
                ..VarScan::default()
            };
            scan.each(target, |_, name| {
                self.0.remove(name);
            });
            scan.each(value, |_, name| {
                self.0.remove(name);
            });
        }
        Descent::Into
    }
}

fn may_have_variables(head: &Head) -> bool {
    let parts = head.reference.iter().skip(1);
    let terms = parts.chain(&head.args).chain(&head.key).chain(&head.value);
    terms.into_iter().any(|term| !term.is_scalar())
}

/// Assigns locals to the variables of arguments. Keys of objects and members of sets are compared, not bound.
struct ArgumentRenamer<'l> {
    scopes: Scopes,
    locals: &'l mut Locals,
    /// Locations of calls, which cannot be matched.
    calls: Vec<Span>,
}

impl VisitorMut for ArgumentRenamer<'_> {
    fn term(&mut self, term: &mut Term) -> Descent {
        arrange(term);
        match &mut term.kind {
            TermKind::Var(name) => {
                *name = match self.scopes.see(name) {
                    Some(local) => local,
                    None => self.scopes.rename(name, Occurrence::Argument, self.locals),
                };
            }
            TermKind::Object(pairs) => {
                for (_, value) in pairs {
                    value.walk_mut(self);
                }
            }
            TermKind::Call(_) => self.calls.push(term.span),
            TermKind::Ref(_) | TermKind::Array(_) => return Descent::Into,
            _ => {}
        }
        Descent::Over
    }
}

/// Renames inside the comprehensions and templates of a head.
struct NestedRenamer<'l> {
    locals: &'l mut Locals,
    strict: bool,
    errors: Vec<(Span, String)>,
    unused: Vec<(Span, String)>,
}

impl NestedRenamer<'_> {
    fn with_renamer(&mut self, rename: impl FnOnce(&mut Renamer<'_>)) {
        let mut renamer = Renamer::new(self.locals, Scopes::default(), self.strict);
        renamer.errors = std::mem::take(&mut self.errors);
        rename(&mut renamer);
        self.errors = renamer.errors;
        self.unused.append(&mut renamer.unused);
    }
}

impl VisitorMut for NestedRenamer<'_> {
    fn term(&mut self, term: &mut Term) -> Descent {
        arrange(term);
        match &mut term.kind {
            TermKind::ArrayComprehension(inner)
            | TermKind::SetComprehension(inner)
            | TermKind::ObjectComprehension(inner) => {
                self.with_renamer(|renamer| renamer.comprehension(inner));
            }
            TermKind::Template(template) => {
                for part in &mut template.parts {
                    if let TemplatePart::Expr(expr) = part {
                        self.with_renamer(|renamer| renamer.expr(expr));
                    }
                }
            }
            _ => return Descent::Into,
        }
        Descent::Over
    }
}

/// Replaces the variables of a head by the locals of its body.
struct Naming<'n>(&'n SmallMap<Name, ScopeVariable>);

impl VisitorMut for Naming<'_> {
    fn term(&mut self, term: &mut Term) -> Descent {
        if let TermKind::Var(name) = &mut term.kind
            && let Some(variable) = self.0.get(name)
        {
            *name = variable.local.clone();
        }
        Descent::Into
    }
}
