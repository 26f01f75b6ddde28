//! Analysis of what depends on unknowns.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use hashbrown::HashMap;
use smallvec::SmallVec;
use solon_syntax::ast::visit::{Descent, Visitor, Walk as _};
use solon_syntax::ast::{Expr, ExprKind, Term, TermKind};

use crate::bug::{Within as _, bug};
use crate::index::Indexed as _;
use crate::limits;
use crate::program::canonical::{ConditionOperand, DocNodeId, DocTree, Group, chain};
use crate::topdown::calls::{ResolvedOperator, operator_name};
use crate::topdown::machine::{Exprs, Goal, Topdown};
use crate::topdown::term::{BuiltTerm, FrameId, ResolvedTerm, TermList, TermRef, is_document};
use crate::value::{Value, ValueRef};

use super::save::terms_of;

/// Cache for all evaluations of a query: `DEPENDENT` or `INDEPENDENT` for each group of rules that was analysed.
#[derive(Default)]
pub struct Dependence(OnceLock<Box<[AtomicU8]>>);

/// Encoding of an entry; 0 means not analysed.
const INDEPENDENT: u8 = 1;
const DEPENDENT: u8 = 2;

impl Dependence {
    fn get(&self, id: DocNodeId) -> Option<bool> {
        match self.0.get()?.item(id).load(Ordering::Relaxed) {
            INDEPENDENT => Some(false),
            DEPENDENT => Some(true),
            _ => None,
        }
    }

    /// Stores the results of an analysis.
    fn set(&self, doc_tree: &DocTree, found: &mut HashMap<DocNodeId, bool>) {
        let known = self.0.get_or_init(|| {
            let unknown = || AtomicU8::new(0);
            std::iter::repeat_with(unknown)
                .take(doc_tree.count())
                .collect()
        });
        for (id, depends) in found.drain() {
            let depends = if depends { DEPENDENT } else { INDEPENDENT };
            known.item(id).store(depends, Ordering::Relaxed);
        }
    }
}

impl<'e> Topdown<'e> {
    /// Returns `true` if a variable or a reference is unknown as written.
    pub(in crate::topdown) fn is_unknown(&mut self, term: TermRef<'e>) -> bool {
        match term.resolved() {
            ResolvedTerm::Var(name, frame) => self.is_unknown_var(name, frame),
            ResolvedTerm::Ref(list) => self.is_unknown_ref(list),
            _ => false,
        }
    }

    pub(super) fn is_unknown_var(&self, name: &str, frame: FrameId) -> bool {
        self.opened()
            .is_some_and(|open| open.vars.contains(name, frame))
    }

    /// Returns `true` if a reference leads into something unknown or contains it. A step that is not known may lead
    /// anywhere.
    fn is_unknown_ref(&mut self, list: TermList<'e>) -> bool {
        let Some(document) = list.document() else {
            return match list.get(0).map(TermRef::resolved) {
                Some(ResolvedTerm::Var(name, frame)) => self.is_unknown_var(name, frame),
                _ => false,
            };
        };
        let Some(unknowns) = self.opened().map(|open| open.unknowns.clone()) else {
            return false;
        };
        let document = self.call.arena.borrowed_text(document);
        unknowns.iter().any(|unknown| {
            unknown.iter().enumerate().all(|(at, want)| {
                let step = match list.get(at) {
                    // the reference ends above the unknown
                    None => return true,
                    Some(_) if at == 0 => Some(document),
                    Some(TermRef::Term(term, _)) if term.is_scalar() => self.constant(term),
                    Some(step) => self.plug(step),
                };
                step.is_none_or(|step| step == *want)
            })
        })
    }

    /// Returns `true` if a path of constants leads into something unknown or contains it.
    fn is_unknown_path(&self, document: &str, path: &[ValueRef<'e>]) -> bool {
        let arena = self.call.arena;
        let full: Vec<ValueRef<'e>> = std::iter::once(arena.text(document))
            .chain(path.iter().copied())
            .collect();
        let unknowns = self.opened().map_or(&[][..], |open| &*open.unknowns);
        unknowns
            .iter()
            .any(|unknown| unknown.iter().zip(&full).all(|(one, other)| one == other))
            || self.is_hidden(&full, true)
    }

    /// Returns `true` if an operand of the rule index is unknown.
    pub(in crate::topdown) fn is_unknown_operand(&self, place: &'e ConditionOperand) -> bool {
        let path = |keys: &'e [Value]| {
            keys.iter()
                .map(Value::borrow)
                .collect::<Vec<ValueRef<'e>>>()
        };
        match place {
            ConditionOperand::Input(keys) => self.is_unknown_path("input", &path(keys)),
            ConditionOperand::Data(keys) => self.is_unknown_path("data", &path(keys)),
            ConditionOperand::Argument(_) => false,
        }
    }

    /// Returns `true` if a term, or the binding of one of its variables, contains something unknown.
    pub(in crate::topdown) fn contains_unknown(&mut self, term: TermRef<'e>) -> bool {
        let term = self.apply(term);
        if self.is_unknown(term) {
            return true;
        }
        match term.resolved() {
            ResolvedTerm::Ref(list) => {
                let terms = terms_of(list);
                terms
                    .into_iter()
                    .skip(usize::from(list.document().is_some()))
                    .any(|term| self.contains_unknown(term))
            }
            ResolvedTerm::Array(list) => {
                let terms = terms_of(list);
                terms.into_iter().any(|term| self.contains_unknown(term))
            }
            ResolvedTerm::Set(items, frame) => items
                .iter()
                .any(|item| self.contains_unknown(TermRef::Term(item, frame))),
            ResolvedTerm::Object(pairs, frame) => pairs.iter().any(|(key, value)| {
                self.contains_unknown(TermRef::Term(key, frame))
                    || self.contains_unknown(TermRef::Term(value, frame))
            }),
            ResolvedTerm::Comprehension(..) | ResolvedTerm::Other => self.depends(term),
            ResolvedTerm::Value(_) | ResolvedTerm::Var(..) => false,
        }
    }

    /// Returns `true` if the value of a term depends on an unknown, also through rules.
    pub(in crate::topdown) fn depends(&mut self, term: TermRef<'e>) -> bool {
        match term {
            TermRef::Value(_) => false,
            TermRef::Term(term, frame) => self.search(Some(frame), |search| term.walk(search)),
            TermRef::Built(BuiltTerm::Var(..)) => self.contains_unknown(term),
            TermRef::Built(BuiltTerm::Ref(terms)) => {
                self.is_unknown_ref(TermList::Built(terms))
                    || self.leads_to_unknown(TermList::Built(terms))
                    || terms.iter().skip(1).any(|step| self.depends(*step))
            }
        }
    }

    /// Returns `true` if the expression of a goal depends on an unknown.
    pub(in crate::topdown) fn goal_depends(&mut self, goal: Goal<'e>) -> bool {
        let Some(expr) = goal.expr() else {
            bug!("what is asked of an expression is asked behind a body");
        };
        let modified = !expr.with.is_empty() && !matches!(goal.exprs, Exprs::Positive(_));
        modified
            || self.search(Some(goal.frame), |search| {
                search.called(expr);
                expr.kind.walk(search);
            })
    }

    fn search(
        &mut self,
        frame: Option<FrameId>,
        run: impl FnOnce(&mut DependenceSearch<'_, 'e>),
    ) -> bool {
        let mut search = DependenceSearch {
            topdown: self,
            frame,
            found: false,
        };
        stacker::maybe_grow(limits::VALUE_STACK, 2 * limits::VALUE_STACK, || {
            run(&mut search);
        });
        search.found
    }

    /// Returns `true` if rules that a reference may lead to depend on an unknown, or are not inlined.
    fn leads_to_unknown(&mut self, list: TermList<'e>) -> bool {
        let Some(document) = list.document() else {
            return false;
        };
        let hides = self.opened().is_some_and(|open| !open.hidden.is_empty());
        if document != "data" && !hides {
            return false;
        }
        let steps = (1..list.len()).map(|at| constant_of(self, list.get(at)?));
        let steps: SmallVec<[Option<ValueRef<'e>>; 8]> = steps.collect();
        if hides {
            let prefix = std::iter::once(self.call.arena.borrowed_text(document));
            let prefix: Vec<ValueRef<'e>> =
                prefix.chain(steps.iter().map_while(|step| *step)).collect();
            if self.is_hidden(&prefix, true) {
                return true;
            }
        }
        document == "data" && self.node_depends(DocTree::DATA, &steps)
    }

    fn node_depends(&mut self, id: DocNodeId, steps: &[Option<ValueRef<'e>>]) -> bool {
        let Some(site) = self.doc_node(Some(id)) else {
            return false;
        };
        if let Some(group) = &site.group
            && self.group_depends(id, group)
        {
            return true;
        }
        match steps.split_first() {
            Some((Some(key), rest)) => self
                .doc_tree()
                .child(id, *key)
                .is_some_and(|child| self.node_depends(child, rest)),
            _ => {
                // after the last step, everything below counts
                let rest = steps.get(1..).unwrap_or(&[]);
                site.children
                    .values()
                    .any(|child| self.node_depends(*child, rest))
            }
        }
    }

    fn group_depends(&mut self, id: DocNodeId, group: &'e Group) -> bool {
        // a function that `with` replaces may depend on less, so the result is not shared
        let is_shared = self.scope().mocks.is_none();
        let known = self.opened().and_then(|open| {
            let shared = is_shared.then(|| open.dependence.get(id)).flatten();
            shared.or_else(|| open.groups.get(&id).copied())
        });
        if let Some(known) = known {
            return known;
        }
        let is_first = self.opened().is_some_and(|open| open.groups.is_empty());
        if let Some(open) = self.opened_mut() {
            open.groups.insert(id, false);
        }
        let rules = group.members.iter().map(|member| member.rule);
        let program = self.program;
        let depends = rules
            .chain(group.default)
            .filter_map(|at| program.canonical.rule(at))
            .flat_map(chain)
            .any(|rule| {
                self.search(None, |search| {
                    rule.head.walk(search);
                    rule.body.walk(search);
                })
            });
        let doc_tree = self.doc_tree();
        if let Some(open) = self.opened_mut() {
            open.groups.insert(id, depends);
            if is_shared && is_first {
                open.dependence.set(doc_tree, &mut open.groups);
            }
        }
        depends
    }

    /// Returns `true` if an operator names a nondeterministic built-in.
    fn is_nondeterministic(&mut self, operator: &'e Term) -> bool {
        let evaluated = self
            .opened()
            .is_none_or(|open| open.inlining.nondeterministic);
        !evaluated
            && matches!(self.callee(operator), ResolvedOperator::Builtin(entry) if entry.builtin.nondeterministic)
            && operator_name(operator).is_some()
    }
}

/// Returns the value of a step that is written as a constant.
fn constant_of<'e>(walk: &mut Topdown<'e>, term: TermRef<'e>) -> Option<ValueRef<'e>> {
    match term {
        TermRef::Value(value) => Some(value),
        TermRef::Term(term, _) if term.is_scalar() => walk.constant(term),
        _ => None,
    }
}

/// Visitor that looks for unknowns. Inside rules, variables are not those of the running search.
struct DependenceSearch<'w, 'e> {
    topdown: &'w mut Topdown<'e>,
    frame: Option<FrameId>,
    found: bool,
}

impl<'e> DependenceSearch<'_, 'e> {
    fn called(&mut self, expr: &'e Expr) {
        if let ExprKind::Call(terms) = &expr.kind
            && let Some(operator) = terms.first()
        {
            self.found |= self.topdown.is_nondeterministic(operator);
        }
    }

    fn reference(&mut self, list: TermList<'e>) {
        self.found |= self.topdown.is_unknown_ref(list) || self.topdown.leads_to_unknown(list);
    }
}

impl<'e> Visitor<'e> for DependenceSearch<'_, 'e> {
    fn expr(&mut self, expr: &'e Expr) -> Descent {
        self.found |= !expr.with.is_empty();
        self.called(expr);
        if self.found {
            Descent::Over
        } else {
            Descent::Into
        }
    }

    fn term(&mut self, term: &'e Term) -> Descent {
        if self.found {
            return Descent::Over;
        }
        let frame = self.frame.unwrap_or(FrameId::MAX);
        match &term.kind {
            TermKind::Var(name) if is_document(name) => {
                self.reference(TermList::Terms(std::slice::from_ref(term), frame));
            }
            TermKind::Var(_) => {
                self.found |= self.frame.is_some()
                    && self.topdown.contains_unknown(TermRef::Term(term, frame));
            }
            TermKind::Ref(terms) => {
                self.reference(TermList::Terms(terms, frame));
                // the document itself was already checked with the reference
                if terms
                    .first()
                    .and_then(Term::as_var)
                    .is_some_and(is_document)
                {
                    terms.within(1..).walk(self);
                    return Descent::Over;
                }
            }
            _ => {}
        }
        Descent::Into
    }
}
