//! Type inference for the rules of all modules.

use std::ptr;
use std::sync::Arc;

use smallvec::SmallVec;
use solon_syntax::ast::{Rule, Term, VarScan};

use super::dependents::Dependents;
use super::explain::TypeProblem;
use super::replaced::ReplacedRules;
use super::reused_types::TypeChanges;
use super::schemas::ConvertedSchemas;
use super::tree::{TypeNodeId, TypeTree};
use super::unchanged_types::keep_types;
use super::{TypeChecker, WholeBody};
use crate::compile::compilation::Compilation;
use crate::compile::compiled_module::Yield;
use crate::compile::facts::Facts;
use crate::compile::rule_tree::{self, RuleTree, TreeRuleId, ground_prefix, is_ground};
use crate::index::{IndexType as _, Indexed as _};
use crate::types::{FunctionType, Type};
use crate::value::Value;

/// Checks all rules and stores their types for queries.
pub fn check_types(compilation: &mut Compilation<'_>) {
    if keep_types(compilation) {
        return;
    }
    let mut documents = TypeTree::default();
    let dependents = Arc::new(Dependents::new(&compilation.graph));
    let mut problems = Vec::new();
    let mut schemas = ConvertedSchemas::new(compilation);
    if let Err(problem) = schemas.put_input(&mut documents) {
        problems.push(problem);
    }
    let mut changes = TypeChanges::new(compilation);
    let mut yields = Yields::new(compilation);
    let mut nodes = DocumentNodes::new(&compilation.rule_tree);
    let replaced = ReplacedRules::new(&compilation.rule_tree, &compilation.modules);
    documents.reserve(compilation.rule_tree.len());
    let mut checked_rules = 0;
    for vertex in compilation.graph.in_order() {
        let Some(id) = compilation.graph.rule(vertex) else {
            changes.group(vertex, &documents);
            continue;
        };
        let before = yields.before(id);
        if let Some(reused) = changes.unchanged(vertex, before, &documents) {
            for ty in reused.iter().filter(|ty| ty.is_known()) {
                let node = nodes.of_rule(id, &mut documents);
                documents.insert(node, ty.clone());
            }
            continue;
        }
        checked_rules += 1;
        let mut found_out: Yield = Some(SmallVec::new());
        let main = id.rule_in(&compilation.modules);
        let mut next = main;
        while let Some(rule) = next {
            let mut checker =
                TypeChecker::new(compilation.options, &documents, &compilation.locals);
            checker.has_closures = compilation.modules.may_have(id, Facts::COMPREHENSION);
            checker.replaceable = Some((&compilation.rule_tree, &dependents));
            let mut ty = checker.rule(id, rule, &mut schemas);
            let mut by_others = checker.has_dependents.get();
            // An `else` keeps its type, as in OPA.
            if ty.has_empty() && main.is_some_and(|main| ptr::eq(main, rule)) {
                by_others = true;
                if replaced.contains(id) {
                    ty = ty.relaxed();
                }
            }
            if by_others {
                found_out = None;
            } else if let Some(types) = &mut found_out {
                types.push(ty.clone());
            }
            let found_problems = std::mem::take(&mut checker.problems);
            if found_problems.is_empty() && matches!(ty, Type::Unknown) {
                // A dependency has an error, so nothing is known about it.
            } else if found_problems.is_empty() || is_ground(&rule.head.reference) {
                let node = nodes.of_rule(id, &mut documents);
                documents.insert(node, ty);
            } else {
                let node = nodes.of_rule(id, &mut documents);
                documents.spoil(node);
            }
            problems.extend(found_problems);
            next = rule.else_rule.as_deref();
        }
        // A rule that is not reused may have any type.
        if found_out.is_none() || before != Some(&found_out) {
            changes.record_change(id);
            yields.set(id, found_out);
        }
    }
    let yields = yields.finish();
    let report = &mut compilation.report;
    problems.sort_by(|a, b| {
        let row_and_column = |problem: &TypeProblem| (problem.span.row, problem.span.col);
        let file = |problem: &TypeProblem| report.file(problem.span.source);
        file(a)
            .cmp(&file(b))
            .then_with(|| row_and_column(a).cmp(&row_and_column(b)))
    });
    for problem in problems {
        let diagnostic = problem.diagnostic(report);
        report.push_recoverable(diagnostic);
    }
    compilation.types = Arc::new(documents);
    compilation.dependents = dependents;
    compilation.checked = checked_rules;
    for (findings, yields) in compilation.findings.iter_mut().zip(yields) {
        findings.yields = yields;
    }
}

struct DocumentNodes<'c> {
    tree: &'c RuleTree,
    /// For each node of the rule tree, its node in the type tree once it is known.
    nodes: Vec<Option<TypeNodeId>>,
}

impl<'c> DocumentNodes<'c> {
    fn new(tree: &'c RuleTree) -> Self {
        Self {
            tree,
            nodes: vec![None; tree.len()],
        }
    }

    /// Returns the node of the document that a rule contributes to; creates it if there is none.
    fn of_rule(&mut self, rule: TreeRuleId, types: &mut TypeTree) -> TypeNodeId {
        let home = self.tree.home(rule).unwrap_or(RuleTree::DATA);
        self.of_tree_node(home, types)
    }

    /// Returns the node for a node of the rule tree. Recursion is bounded by the nesting limit of values.
    fn of_tree_node(
        &mut self,
        node: rule_tree::RuleTreeNodeId,
        types: &mut TypeTree,
    ) -> TypeNodeId {
        if let Some(Some(type_node)) = self.nodes.get(node.position()) {
            return *type_node;
        }
        let tree_node = self.tree.node(node);
        let type_node = match tree_node.parent {
            Some(parent) => {
                let parent = self.of_tree_node(parent, types);
                types.step(parent, &tree_node.key)
            }
            None => types.step(TypeTree::ROOT, &Value::string("data")),
        };
        *self.nodes.item_mut(node) = Some(type_node);
        type_node
    }
}

/// Types of rules, by module: those before, and those that were computed now.
struct Yields {
    /// Earlier types; empty for open modules.
    before: Vec<Arc<[Yield]>>,
    /// Current types of modules in which they changed.
    now: Vec<Option<Vec<Yield>>>,
}

impl Yields {
    fn new(compilation: &Compilation<'_>) -> Self {
        let findings = compilation.findings.iter();
        let modules = compilation.modules.with_reused();
        let open = modules.map(|(module, reused)| {
            let no_yields = || module.rules.iter().map(|_| None).collect();
            reused.is_none().then(no_yields)
        });
        Self {
            before: findings.map(|findings| findings.yields.clone()).collect(),
            now: open.collect(),
        }
    }

    /// Returns the earlier types of a rule of a reused module.
    fn before(&self, id: TreeRuleId) -> Option<&Yield> {
        let module = self.before.get(id.module as usize)?;
        module.get(id.rule as usize)
    }

    fn set(&mut self, id: TreeRuleId, ty: Yield) {
        let before = self.before.item(id.module);
        let now = self.now.item_mut(id.module);
        let now = now.get_or_insert_with(|| before.to_vec());
        *now.item_mut(id.rule) = ty;
    }

    fn finish(self) -> impl Iterator<Item = Arc<[Yield]>> {
        let pairs = self.before.into_iter().zip(self.now);
        pairs.map(|(before, now)| now.map_or(before, Arc::from))
    }
}

impl<'c> TypeChecker<'c> {
    /// Checks a rule and returns the type of its contribution; `any` if it contains an error.
    pub(super) fn rule(
        &mut self,
        id: TreeRuleId,
        rule: &'c Rule,
        schemas: &mut ConvertedSchemas<'_>,
    ) -> Type {
        self.whole = WholeBody::Rule(rule);
        if let Some(tree) = schemas.of_rule(id, rule, &self.env, &mut self.problems) {
            self.env.cover(tree);
        }
        let before = self.problems.len();
        self.body(&rule.body);
        if self.problems.len() > before {
            return Type::Any;
        }
        let head = &rule.head;
        if !head.args.is_empty() {
            return self.function(&head.args, head.value.as_ref());
        }
        let ty = match (&head.value, &head.key) {
            (Some(value), _) => self.env.type_of(value),
            (None, Some(key)) => match self.env.type_of(key) {
                Type::Unknown => Type::Unknown,
                ty => Type::set(ty),
            },
            (None, None) => Type::Unknown,
        };
        let prefix = ground_prefix(&head.reference).len();
        let steps = head.reference.get(prefix..).unwrap_or_default();
        self.nested(steps, ty)
    }

    fn function(&mut self, args: &[Term], value: Option<&Term>) -> Type {
        let mut free = Vec::new();
        VarScan::default().each(args, |_, name| free.push(name));
        for name in free {
            if self.env.variable(name).is_none() {
                self.env.bind(name, Type::Any);
            }
        }
        let result = value
            .map(|value| self.env.type_of(value))
            .unwrap_or_default();
        FunctionType::new(args.iter().map(|arg| self.env.type_of(arg)), result).into()
    }

    /// Returns an object type nested as deep as a rule's reference has steps after its constant prefix.
    fn nested(&self, steps: &[Term], ty: Type) -> Type {
        steps
            .iter()
            .rfold(ty, |ty, step| match (self.env.type_of(step), ty) {
                (Type::Unknown, _) | (_, Type::Unknown) => Type::Unknown,
                (key, ty) => Type::object_of(key, ty),
            })
    }
}
