//! The definition of the name at a position of a module, as editors look it up.

use std::sync::Arc;

use solon_syntax::ast::visit::{Descent, Visitor, Walk};
use solon_syntax::ast::{Body, Expr, ExprKind, Module, Name, Ref, Rule, Term, TermKind};
use solon_syntax::source::Span;

use super::dependencies::{constant_prefix, rule_path, rules_of};
use crate::compile::{Options, compile};
use crate::error::Error;

/// The result of a search for a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Definition {
    /// Location of the definition: file, row and column, both from 1.
    At(String, u32, u32),
    /// The name at the position has no definition.
    Undefined,
    /// The position contains no name, or the module does not exist.
    NoMatch,
}

impl Definition {
    /// Finds where the name at a byte position of a module is defined: a rule, an argument, a variable of a body or an import.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use solon::{Definition, Version};
    /// use solon_syntax::source::{Source, SourceId};
    /// use solon_syntax::{ParseOptions, parse_module};
    ///
    /// let text = "package p\n\nallow if is_admin\n\nis_admin if input.admin";
    /// let module = parse_module(&Source::new(SourceId(1), "p.rego", text), &ParseOptions::from_version(Version::V1)).unwrap();
    /// let definition = Definition::find(vec![Arc::new(module)], "p.rego", 21)?;
    /// assert_eq!(definition, Definition::At("p.rego".to_owned(), 5, 1));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Compile`] if names of the modules cannot be resolved.
    pub fn find(modules: Vec<Arc<Module>>, file: &str, position: u32) -> Result<Self, Error> {
        Error::caught(|| {
            let parsed = modules.iter().find(|module| &*module.source.name == file);
            let parsed = parsed.cloned();
            let options = Options::default();
            let mut definition = None;
            let compiled = compile(modules, &options, None, |pass, compilation| {
                if pass.name == "SetRuleTree" {
                    let all: Vec<&Module> = compilation.modules.open().collect();
                    let own_module = all.iter().find(|module| &*module.source.name == file);
                    definition = Some(match (own_module, &parsed) {
                        (Some(own_module), Some(parsed)) => {
                            find_definition(own_module, parsed, &all, position)
                        }
                        _ => Self::NoMatch,
                    });
                }
            });
            match (definition, compiled) {
                // errors of later passes do not matter here
                (Some(definition), _) => Ok(definition),
                (None, Err(errors)) => Err(errors.into()),
                (None, Ok(_)) => Ok(Self::NoMatch),
            }
        })
    }
}

fn find_definition(
    own_module: &Module,
    parsed: &Module,
    all: &[&Module],
    position: u32,
) -> Definition {
    let mut stack = NodePath {
        position,
        nodes: Vec::new(),
    };
    stack.module(own_module, parsed);
    let Some(target) = target(&stack.nodes) else {
        return if stack.nodes.is_empty() {
            Definition::NoMatch
        } else {
            Definition::Undefined
        };
    };
    let rules = all.iter().flat_map(|module| {
        let rules = module.rules.iter();
        rules.map(|rule| (rule_path(module, rule), (*module, rule)))
    });
    let rules: Vec<(Ref, (&Module, &Rule))> = rules.collect();
    let mut search = DefinitionSearch {
        rules: &rules,
        parsed,
        span: None,
        is_variable: false,
    };
    for node in stack.nodes.iter().rev() {
        match (&target.kind, node) {
            (TermKind::Ref(path), AstNode::Term(term)) if **term == *target => {
                search.reference(path);
            }
            (TermKind::Var(name), node) => search.variable(name, target.span, node),
            _ => {}
        }
        // references win over variables
        if search.span.is_some() && !search.is_variable {
            break;
        }
    }
    match search.span {
        Some(span) => {
            let module = all.iter().find(|module| module.source.id == span.source);
            let file = module.map_or_else(String::new, |module| module.source.name.to_string());
            Definition::At(file, span.row, span.col)
        }
        None => Definition::Undefined,
    }
}

/// A syntax node of a module that contains the position.
enum AstNode<'m> {
    Other,
    Rule(&'m Rule),
    Body(&'m Body),
    Expr(&'m Expr),
    Term(&'m Term),
}

/// The nodes that contain a position, in source order, outer ones first.
struct NodePath<'m> {
    position: u32,
    nodes: Vec<AstNode<'m>>,
}

impl<'m> NodePath<'m> {
    fn contains(&self, start: u32, end: u32) -> bool {
        (start..end).contains(&self.position)
    }

    fn has(&self, span: Span) -> bool {
        span.is_somewhere() && self.contains(span.start, span.end)
    }

    fn module(&mut self, module: &'m Module, parsed: &Module) {
        if self.has(module.package.span) {
            self.nodes.push(AstNode::Other);
        }
        for import in &module.imports {
            if self.has(import.span) {
                self.nodes.push(AstNode::Other);
                import.path.walk(self);
            }
        }
        for rule in &module.rules {
            for rule in rule.members() {
                self.rule(rule);
            }
        }
        // comments are nodes of a module, but contain no names
        if self.nodes.is_empty() && parsed.comments.iter().any(|comment| self.has(comment.span)) {
            self.nodes.push(AstNode::Other);
        }
        // the package's location counts as the module's
        if self.nodes.is_empty() && self.position == 0 {
            self.nodes.push(AstNode::Other);
        }
    }

    fn rule(&mut self, rule: &'m Rule) {
        if !self.has(rule.span) {
            return;
        }
        self.nodes.push(AstNode::Rule(rule));
        if self.has(rule.head.span) {
            self.nodes.push(AstNode::Other);
            let head = &rule.head;
            let reference = head.reference.iter();
            let other_terms = head.args.iter().chain(&head.key).chain(&head.value);
            for term in reference.chain(other_terms) {
                term.walk(self);
            }
        }
        self.body(&rule.body);
    }

    fn body(&mut self, body: &'m Body) {
        let is_source_expr = |expr: &&Expr| !expr.generated && expr.span.is_somewhere();
        let (Some(first), Some(last)) = (body.first(), body.iter().rev().find(is_source_expr))
        else {
            return;
        };
        if !self.contains(first.span.start, end_of(last)) {
            return;
        }
        self.nodes.push(AstNode::Body(body));
        for expr in body {
            expr.walk(self);
        }
    }
}

/// Returns the end of an expression. The end of an `every` is that of its body.
fn end_of(expr: &Expr) -> u32 {
    let ExprKind::Every(every) = &expr.kind else {
        return expr.span.end;
    };
    let last = every.body.iter().rev().find(|expr| !expr.generated);
    last.map_or(expr.span.end, |last| last.span.end.max(expr.span.end))
}

impl<'m> Visitor<'m> for NodePath<'m> {
    fn expr(&mut self, expr: &'m Expr) -> Descent {
        if !expr.span.is_somewhere() || !self.contains(expr.span.start, end_of(expr)) {
            return Descent::Over;
        }
        self.nodes.push(AstNode::Expr(expr));
        match &expr.kind {
            ExprKind::Every(every) => {
                let terms = every.key.iter().chain([&every.value, &every.domain]);
                for term in terms {
                    term.walk(self);
                }
                self.body(&every.body);
            }
            ExprKind::Not(not) => self.body(&not.body),
            ExprKind::And(logical) | ExprKind::Or(logical) => {
                self.body(&logical.lhs);
                self.body(&logical.rhs);
            }
            ExprKind::Term(_) | ExprKind::Call(_) | ExprKind::Some(_) => return Descent::Into,
        }
        for with in &expr.with {
            with.target.walk(self);
            with.value.walk(self);
        }
        Descent::Over
    }

    fn term(&mut self, term: &'m Term) -> Descent {
        if !self.has(term.span) {
            return Descent::Over;
        }
        self.nodes.push(AstNode::Term(term));
        match &term.kind {
            TermKind::ArrayComprehension(inner)
            | TermKind::SetComprehension(inner)
            | TermKind::ObjectComprehension(inner) => {
                for term in inner.key.iter().chain([&inner.head]) {
                    term.walk(self);
                }
                self.body(&inner.body);
                Descent::Over
            }
            _ => Descent::Into,
        }
    }
}

/// Returns the name at the position: the innermost variable if no node lies within it, else the innermost reference.
fn target<'m>(nodes: &[AstNode<'m>]) -> Option<&'m Term> {
    let is_var = |term: &Term| term.as_var().is_some();
    if let Some(AstNode::Term(term)) = nodes.last()
        && is_var(term)
    {
        return Some(term);
    }
    let terms = || {
        nodes.iter().rev().filter_map(|node| match node {
            AstNode::Term(term) => Some(*term),
            _ => None,
        })
    };
    let reference = terms().find(|term| matches!(term.kind, TermKind::Ref(_)));
    reference.or_else(|| terms().find(|term| is_var(term)))
}

/// A search from the innermost node outwards.
struct DefinitionSearch<'s, 'm> {
    rules: &'s [(Ref, (&'m Module, &'m Rule))],
    parsed: &'s Module,
    span: Option<Span>,
    is_variable: bool,
}

impl DefinitionSearch<'_, '_> {
    fn rule_of(&self, path: &Ref) -> Option<Span> {
        let paths: Vec<&Ref> = self.rules.iter().map(|(path, _)| path).collect();
        let first = rules_of(&paths, path).into_iter().next()?;
        self.rules.get(first).map(|(_, (_, rule))| rule.span)
    }

    fn add_reference(&mut self, span: Span) {
        if self.is_variable || self.span.is_none() {
            self.span = Some(span);
            self.is_variable = false;
        }
    }

    fn reference(&mut self, path: &Ref) {
        if let Some(span) = self.rule_of(path) {
            self.add_reference(span);
        }
        let prefix = constant_prefix(path);
        for import in &self.parsed.imports {
            if let TermKind::Ref(imported) = &import.path.kind
                && prefix.starts_with(imported)
            {
                self.add_reference(import.path.span);
            }
        }
    }

    /// Uses a term as the definition of a variable, unless there is one already or the term is the occurrence itself.
    fn add_variable(&mut self, term: &Term, name: &Name, occurrence: Span) {
        if self.span.is_none() && term.as_var() == Some(name) && term.span != occurrence {
            self.span = Some(term.span);
            self.is_variable = true;
        }
    }

    fn add_domain(&mut self, domain: &Term) {
        if let TermKind::Ref(path) = &domain.kind
            && let Some(span) = self.rule_of(path)
        {
            self.add_reference(span);
        }
    }

    fn variable(&mut self, name: &Name, occurrence: Span, node: &AstNode<'_>) {
        match node {
            AstNode::Expr(expr) => match &expr.kind {
                ExprKind::Every(every) => {
                    self.add_domain(&every.domain);
                    for term in every.key.iter().chain([&every.value]) {
                        self.add_variable(term, name, occurrence);
                    }
                }
                ExprKind::Some(declaration) => {
                    if let Some(TermKind::Call(terms)) =
                        declaration.symbols.first().map(|symbol| &symbol.kind)
                        && let Some((domain, pattern_and_operator)) = terms.split_last()
                    {
                        self.add_domain(domain);
                        for term in pattern_and_operator.iter().skip(1) {
                            self.add_variable(term, name, occurrence);
                        }
                    }
                }
                _ => {}
            },
            AstNode::Rule(rule) => {
                for term in &rule.head.args {
                    self.add_variable(term, name, occurrence);
                }
            }
            AstNode::Body(body) => {
                if let Some(term) = find_binding(body, name) {
                    self.add_variable(term, name, occurrence);
                }
            }
            AstNode::Term(_) | AstNode::Other => {}
        }
    }
}

/// Returns the assignment of a variable in a body, or its first occurrence.
fn find_binding<'b>(body: &'b Body, name: &'b Name) -> Option<&'b Term> {
    struct Occurrences<'b> {
        name: &'b Name,
        first: Option<&'b Term>,
        assigned: Option<&'b Term>,
    }
    impl<'b> Visitor<'b> for Occurrences<'b> {
        fn expr(&mut self, expr: &'b Expr) -> Descent {
            let target = expr.operands_of("assign").and_then(<[Term]>::first);
            let target = target.filter(|term| term.as_var() == Some(self.name));
            self.assigned = self.assigned.or(target);
            Descent::Into
        }

        fn term(&mut self, term: &'b Term) -> Descent {
            if self.first.is_none() && term.as_var() == Some(self.name) {
                self.first = Some(term);
            }
            Descent::Into
        }
    }
    let mut occurrences = Occurrences {
        name,
        first: None,
        assigned: None,
    };
    body.walk(&mut occurrences);
    occurrences.assigned.or(occurrences.first)
}
