//! RewriteTemplateStrings: template strings become calls.
//!
//! `$"a {x.y}"` becomes `internal.template_string(["a ", {z | z = x.y}])`, so that an undefined expression is an empty
//! set. A term that always has a value becomes a set of its own: `{x}`.

use hashbrown::HashSet;
use std::sync::Arc;

use solon_syntax::ast::visit::{Descent, Terms, VisitorMut, Walk, WalkMut};
use solon_syntax::ast::{
    Body, Expr, ExprKind, Module, Name, Rule, Template, TemplatePart, Term, TermKind, VarScan,
};
use solon_syntax::source::{Code, Span};

use super::prints::{capture, undeclared};
use super::{arrange, comprehension, each_branch_with, is_truth};
use crate::builtins::TEMPLATE_STRING;
use crate::compile::facts::Facts;
use crate::compile::functions::CallableFunctions;
use crate::compile::locals::Locals;
use crate::compile::report::Report;
use crate::compile::rule_tree::{RuleTree, RuleTreeNodeId, TreeRuleId};
use crate::compile::safety::{VarSet, Vars, outputs};
use crate::compile::{Compilation, QueryCompilation};

/// Rewrites the template strings of all modules.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let findings = compilation
        .modules
        .with_reused()
        .zip(&mut compilation.findings);
    for ((module, _), findings) in findings.filter(|((_, reused), _)| reused.is_none()) {
        findings.constant = module.rules.iter().map(is_constant).collect();
    }
    if !compilation.modules.have(Facts::TEMPLATE) {
        return;
    }
    let tree = &compilation.rule_tree;
    let findings = &compilation.findings;
    let defined = DefinedRules::new(tree, &compilation.modules, |id, _| {
        let constant = findings
            .get(id.module as usize)
            .map(|facts_of_module| &facts_of_module.constant);
        constant.and_then(|constant| constant.get(id.rule as usize)) == Some(&true)
    });
    let functions = CallableFunctions::new(compilation.options, tree);
    each_branch_with(&mut compilation.modules, Facts::TEMPLATE, |rule| {
        if has_templates(&rule.head) || has_templates(&rule.body) {
            let mut rewriter = TemplateRewriter {
                functions,
                defined: &defined,
                vars: Vars::default(),
                safe: VarSet::default(),
                locals: &mut compilation.locals,
                report: &mut compilation.report,
                rejected: 0,
            };
            rewriter.rule(rule);
        }
    });
}

/// Rewrites the template strings of a query to calls of a built-in. Errors are in its report.
pub fn rewrite_query(query: &mut QueryCompilation<'_>) {
    if !has_templates(&query.body) {
        return;
    }
    let tree = &query.compiled.rule_tree;
    let mut rewriter = TemplateRewriter {
        functions: CallableFunctions::new(query.options, tree),
        defined: &DefinedRules::new(tree, &query.compiled.modules, |_, rule| is_constant(rule)),
        vars: Vars::default(),
        safe: VarSet::default(),
        locals: query.locals.restart(&query.body),
        report: &mut query.report,
        rejected: 0,
    };
    rewriter.documents();
    rewriter.body(&mut query.body);
}

/// Returns `true` if a tree contains a template string.
pub(in crate::compile) fn has_templates<N: Walk>(node: &N) -> bool {
    let mut occurs = false;
    node.walk(&mut Terms(|term: &Term| {
        occurs = occurs || matches!(term.kind, TermKind::Template(_));
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}

/// Rules that have a value for every input: those with a default, sets, and single constants.
struct DefinedRules<'c> {
    tree: &'c RuleTree,
    nodes: HashSet<RuleTreeNodeId>,
}

impl<'c> DefinedRules<'c> {
    /// Collects the rules; `is_constant` returns `true` for a rule that is just a constant.
    fn new(
        tree: &'c RuleTree,
        modules: &[Arc<Module>],
        is_constant: impl Fn(TreeRuleId, &Rule) -> bool,
    ) -> Self {
        let nodes = tree.subtree(RuleTree::DATA).filter(|node| {
            let ids = &tree.node(*node).rules;
            let rules = ids.iter().filter_map(|rule| rule.rule_in(modules));
            let rules: Vec<&Rule> = rules.collect();
            match rules.as_slice() {
                [] => false,
                [first, ..] if !first.head.args.is_empty() => false,
                [first, ..] if first.head.value.is_none() => true,
                [rule] => rule.default || ids.first().is_some_and(|id| is_constant(*id, rule)),
                rules => rules.iter().any(|rule| rule.default),
            }
        });
        Self {
            tree,
            nodes: nodes.collect(),
        }
    }

    fn contains(&self, term: &Term) -> bool {
        let node = term.as_ref().and_then(|path| self.tree.find(path));
        node.is_some_and(|node| self.nodes.contains(&node))
    }
}

fn is_constant(rule: &Rule) -> bool {
    let Some(value) = rule.head.value.as_ref().filter(|_| is_truth(&rule.body)) else {
        return false;
    };
    match &value.kind {
        TermKind::Array(_) | TermKind::Object(_) | TermKind::Set(_) => {
            let scan = VarScan {
                skip_ref_heads: true,
                skip_call_heads: true,
                ..VarScan::default()
            };
            !scan.any(value, |_| true)
        }
        TermKind::Var(_) => true,
        _ => value.is_scalar(),
    }
}

/// Number of rejected expressions after which bodies are not visited again.
const MAX_REJECTIONS: usize = 64;

struct TemplateRewriter<'c> {
    functions: CallableFunctions<'c>,
    defined: &'c DefinedRules<'c>,
    vars: Vars,
    /// Variables that have values.
    safe: VarSet,
    locals: &'c mut Locals,
    report: &'c mut Report,
    rejected: usize,
}

impl TemplateRewriter<'_> {
    fn documents(&mut self) {
        for name in ["input", "data"] {
            self.safe.insert(self.vars.var(&Name::from(name)));
        }
    }

    fn rule(&mut self, rule: &mut Rule) {
        self.vars
            .scan_into(VarScan::default(), &rule.head.args, &mut self.safe);
        self.documents();
        self.body(&mut rule.body);
        rule.head.walk_mut(self);
    }

    /// Rewrites a body; afterwards the variables that it binds are safe.
    fn body(&mut self, body: &mut Body) {
        for expr in body.iter() {
            let bound = outputs(&mut self.vars, self.functions, expr, &self.safe);
            self.safe.add(&bound);
        }
        body.walk_mut(self);
    }

    /// Rewrites a body and `heads` in a scope of their own: the variables of the body and those declared for it are not
    /// visible outside.
    fn scoped<'t>(
        &mut self,
        declared: impl Iterator<Item = &'t Term>,
        body: &mut Body,
        heads: impl Iterator<Item = &'t mut Term>,
    ) {
        let outer = self.safe.clone();
        for term in declared {
            self.vars
                .scan_into(VarScan::default(), term, &mut self.safe);
        }
        let before = self.rejected;
        self.body(body);
        for head in heads {
            self.term_here(head);
        }
        self.safe = outer;
        // the traversal of the terms would report the rejected expressions again
        if self.rejected > before && self.rejected < MAX_REJECTIONS {
            body.walk_mut(self);
        }
    }

    /// Rewrites a term that is itself a template, to a call of [`TEMPLATE_STRING`].
    fn term_here(&mut self, term: &mut Term) {
        let TermKind::Template(template) = &term.kind else {
            return;
        };
        if let Some(operands) = self.template(template, term.span) {
            let nowhere = Span::default();
            let terms = vec![
                Term::operator(TEMPLATE_STRING, nowhere),
                Term::new(TermKind::Array(operands.into()), nowhere),
            ];
            term.kind = TermKind::Call(terms.into());
        }
    }

    /// Returns the operands for a template's parts; `None` if one was rejected.
    fn template(&mut self, template: &Template, span: Span) -> Option<Vec<Term>> {
        if template.parts.is_empty() {
            return Some(vec![Term::string("", span)]);
        }
        let before = self.rejected;
        let mut operands = Vec::with_capacity(template.parts.len());
        for part in &template.parts {
            match part {
                TemplatePart::Term(term) => operands.push(term.clone()),
                TemplatePart::Expr(expr) => operands.extend(self.expression(expr)),
            }
        }
        (self.rejected == before).then_some(operands)
    }

    /// Returns the operand for an expression; `None` if a template may not contain it.
    fn expression(&mut self, expr: &Expr) -> Option<Term> {
        let term = match &expr.kind {
            ExprKind::Term(term) => term.clone(),
            ExprKind::Call(terms) => {
                if expr.operands_of("walk").is_some() {
                    self.reject(
                        Span::default(),
                        "illegal call to relation built-in 'walk' that may cause multiple outputs",
                    );
                    return None;
                }
                Term::call(terms.clone(), Span::default())
            }
            other => {
                let kind = match other {
                    ExprKind::And(_) => "*ast.LogicalAnd",
                    ExprKind::Or(_) => "*ast.LogicalOr",
                    ExprKind::Not(_) => "*ast.Not",
                    ExprKind::Every(_) => "*ast.Every",
                    _ => "*ast.SomeDecl",
                };
                self.reject(
                    expr.span,
                    &format!("unexpected template-string expression type: {kind}"),
                );
                return None;
            }
        };
        if term.as_var().is_some() || self.defined.contains(&term) {
            return Some(Term::new(TermKind::Set(vec![term].into()), Span::default()));
        }
        for name in undeclared(&mut self.vars, &term, &self.safe) {
            let message = format!("var {} is undeclared", self.locals.user_name(&name));
            self.reject(term.span, &message);
        }
        Some(capture(self.locals, term, expr.with.clone()))
    }

    fn reject(&mut self, span: Span, message: &str) {
        self.rejected += 1;
        self.report.error(Code::Compile, span, message);
    }
}

impl VisitorMut for TemplateRewriter<'_> {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        let ExprKind::Every(every) = &mut expr.kind else {
            return Descent::Into;
        };
        self.term_here(&mut every.domain);
        every.domain.walk_mut(self);
        let every = &mut **every;
        let declared = every.key.iter().chain([&every.value]);
        self.scoped(declared, &mut every.body, std::iter::empty());
        expr.with.walk_mut(self);
        Descent::Over
    }

    fn term(&mut self, term: &mut Term) -> Descent {
        arrange(term);
        self.term_here(term);
        let Some(inner) = comprehension(term) else {
            return Descent::Into;
        };
        let heads = inner.key.iter_mut().chain([&mut inner.head]);
        self.scoped(std::iter::empty(), &mut inner.body, heads);
        inner.key.walk_mut(self);
        inner.head.walk_mut(self);
        Descent::Over
    }
}
