//! Support rules: residual versions of the policy's rules that are not inlined.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use solon_syntax::ast::VarScan;
use solon_syntax::ast::{
    Body, Expr, ExprKind, Head, Module, Name, Package, Ref, Rule, Term, TermKind, Version,
};
use solon_syntax::source::{Source, SourceId, Span};

use super::captured::without_captured;
use super::residual::{equation, literal};
use super::save::terms_of;
use super::state::numbered;
use crate::bug::bug;
use crate::program::canonical::Group;
use crate::runtime::Halt;
use crate::topdown::documents::DATA;
use crate::topdown::index::RuleCandidates;
use crate::topdown::machine::{Goal, SearchFlow, Topdown};
use crate::topdown::reference::PendingRef;
use crate::topdown::scope::ScopeIdentity;
use crate::topdown::term::{FrameId, TermRef};
use crate::trace::Op;
use crate::value::{Value, ValueRef};

/// Variable for a key that is constant in the residual.
const KEY: &str = "__key__";

/// Support rules created so far.
#[derive(Default)]
pub(in crate::topdown) struct Support<'e> {
    modules: BTreeMap<Ref, Vec<Rule>>,
    documents: Vec<DocumentSupport>,
    /// Documents that are requested as a whole, not only by the values of their rules.
    whole: HashSet<Vec<Value>>,
    /// Support rules by the path of their document, so that each is created once.
    by_path: HashMap<Vec<Value>, SupportRules<'e>>,
}

/// Support rules of one document, and the scopes in which its rules were searched.
#[derive(Default)]
struct SupportRules<'e> {
    /// Scope of the support rules; `None` if there are none.
    owner: Option<Rc<ScopeIdentity<'e>>>,
    /// Scopes in which the rules were searched; `true` if they have a residual there.
    searched: HashMap<Rc<ScopeIdentity<'e>>, bool>,
}

impl<'e> SupportRules<'e> {
    /// Returns the location of the rules for a scope; `None` if they were not searched in it.
    fn find(&self, scope: &ScopeIdentity<'e>) -> Option<SupportLocation> {
        let is_defined = self.searched.get(scope)?;
        Some(match &self.owner {
            _ if !is_defined => SupportLocation::Nothing,
            Some(owner) if **owner == *scope => SupportLocation::Here,
            _ => SupportLocation::Elsewhere,
        })
    }
}

/// A support rule of a document in its two forms.
struct DocumentSupport {
    document: Vec<Value>,
    /// With all constant keys in its name.
    short: (Ref, Rule),
    /// With a variable where the policy's own rule has one, so that the object does not have such a key unless the rule
    /// holds.
    long: Option<(Ref, Rule)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SupportLocation {
    /// There are none.
    Nothing,
    /// In the namespace of support rules.
    Here,
    /// The existing ones belong to another `with`; the policy's own rules must be referenced.
    Elsewhere,
}

impl Support<'_> {
    pub fn insert(&mut self, package: Ref, rule: Rule) {
        self.modules.entry(package).or_default().push(rule);
    }

    /// Returns the modules ordered by package, with their rules in order.
    pub fn take(&mut self) -> Vec<Module> {
        for placed in std::mem::take(&mut self.documents) {
            let whole = self.whole.contains(&placed.document);
            let (package, rule) = match placed.long {
                Some(long) if whole => long,
                _ => placed.short,
            };
            self.insert(package, rule);
        }
        let modules = std::mem::take(&mut self.modules);
        modules
            .into_iter()
            .map(|(path, mut rules)| {
                without_captured(&mut rules);
                // functions come last
                rules.sort_by(|one, other| {
                    let args = one.head.args.cmp(&other.head.args);
                    args.then_with(|| one.cmp(other))
                });
                Module {
                    source: Source::new(SourceId::NONE, "", ""),
                    version: Version::V1,
                    package: Package {
                        path,
                        span: Span::default(),
                    },
                    imports: Vec::new(),
                    rules,
                    comments: Vec::new(),
                    annotations: Vec::new(),
                    chain: 0,
                }
            })
            .collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SupportKind {
    Complete,
    Partial,
    Function,
}

/// Rules to convert to support rules.
pub(super) struct SupportRequest<'w, 'e> {
    pub goal: Goal<'e>,
    pub group: &'e Group,
    pub matches: &'w RuleCandidates<'e>,
    pub path: &'w [ValueRef<'e>],
    pub kind: SupportKind,
}

impl<'e> Topdown<'e> {
    /// Creates the support rules of a group unless they exist. Returns their location.
    pub(super) fn support(
        &mut self,
        wanted: &SupportRequest<'_, 'e>,
    ) -> Result<SupportLocation, Halt> {
        let key = document(wanted.path);
        let here = self.scope().identity();
        let made = self
            .opened()
            .and_then(|open| open.support.by_path.get(&key));
        if let Some(found) = made.and_then(|made| made.find(&here)) {
            return Ok(found);
        }
        // rules that take the place of the policy's own hold without `with`
        let is_taken = made.is_some_and(|made| made.owner.is_some())
            || self.namespace().is_none() && !self.is_in_root_scope(&here);
        let defined = if is_taken {
            // the rules of the other scope are kept: here only matters whether a residual exists
            let kept = self.replace_support(Support::default());
            let defined = self.support_rules(wanted);
            self.replace_support(kept);
            defined?
        } else {
            // the rules may lead back to the group in another scope, without the replacement that led there
            self.support_of(key.clone()).owner = Some(here.clone());
            let defined = self.support_rules(wanted);
            if !matches!(defined, Ok(true)) {
                self.support_of(key.clone()).owner = None;
            }
            defined?
        };
        let made = self.support_of(key);
        made.searched.insert(here, defined);
        Ok(match (defined, is_taken) {
            (false, _) => SupportLocation::Nothing,
            (true, false) => SupportLocation::Here,
            (true, true) => SupportLocation::Elsewhere,
        })
    }

    fn support_of(&mut self, key: Vec<Value>) -> &mut SupportRules<'e> {
        let Some(open) = self.opened_mut() else {
            bug!("support rules without anything unknown");
        };
        open.support.by_path.entry(key).or_default()
    }

    fn replace_support(&mut self, support: Support<'e>) -> Support<'e> {
        self.opened_mut().map_or_else(Support::default, |open| {
            std::mem::replace(&mut open.support, support)
        })
    }

    /// Creates the support rules of a group. Returns `true` if any remain.
    fn support_rules(&mut self, wanted: &SupportRequest<'_, 'e>) -> Result<bool, Halt> {
        let mut defined = false;
        for one in &wanted.matches.rules {
            if let Some(rule) = one.rule() {
                defined |= self.support_rule(wanted, rule, one.member.package)?;
            }
        }
        if let Some(at) = wanted.group.default
            && let Some(rule) = self.program.canonical.rule(at)
        {
            let package = self.package_of(at);
            defined |= self.support_rule(wanted, rule, package)?;
        }
        Ok(defined)
    }

    /// Records that a document is requested as a whole.
    pub(super) fn support_whole(&mut self, path: &[ValueRef<'e>]) {
        if let Some(open) = self.opened_mut() {
            open.support.whole.insert(document(path));
        }
    }

    fn support_rule(
        &mut self,
        wanted: &SupportRequest<'_, 'e>,
        rule: &'e Rule,
        package: usize,
    ) -> Result<bool, Halt> {
        let child = self.child(wanted.goal, rule, false);
        let known = self.opened().map_or(0, |open| open.vars.len());
        if let Some(open) = self.opened_mut() {
            open.saved.push(Vec::new());
            if wanted.kind == SupportKind::Function {
                // parameters bind variables whatever the arguments are
                VarScan::default().each(&rule.head.args, |_, name| {
                    open.vars.push((&**name, child.frame));
                });
            }
        }
        let mut defined = false;
        self.rule_event(Op::Enter, child, rule);
        let outcome = self.run(child, &mut |walk| {
            walk.rule_event(Op::Exit, child, rule);
            let body = walk.residual_body()?;
            let kept = walk.set_saved_aside();
            if walk.is_possible(&or_true(body.clone())) {
                defined = true;
                walk.insert_support(wanted, rule, package, child.frame, body);
            }
            walk.rule_event(Op::Redo, child, rule);
            walk.take_saved_up(kept);
            Ok(SearchFlow::More)
        });
        if let Some(open) = self.opened_mut() {
            open.saved.pop();
            open.vars.truncate(known);
        }
        self.pop_frame();
        outcome?;
        Ok(defined)
    }

    fn set_saved_aside(&mut self) -> Option<Vec<super::save::Saved<'e>>> {
        self.opened_mut().and_then(|open| open.saved.pop())
    }

    fn take_saved_up(&mut self, saved: Option<Vec<super::save::Saved<'e>>>) {
        if let Some(open) = self.opened_mut() {
            open.saved.extend(saved);
        }
    }

    fn insert_support(
        &mut self,
        wanted: &SupportRequest<'_, 'e>,
        rule: &'e Rule,
        package: usize,
        frame: FrameId,
        body: Body,
    ) {
        let namespace = self.namespace();
        let mut own = |term: &'e Term| self.residual(TermRef::Term(term, frame));
        let key = rule.head.key.as_ref().map(&mut own);
        let value = rule.head.value.as_ref().map(&mut own);
        let args: Vec<Term> = rule.head.args.iter().map(&mut own).collect();
        let mut steps: Vec<Term> = namespace.map(string).into_iter().collect();
        steps.extend(wanted.path.iter().take(package).map(|step| literal(*step)));
        let in_package = steps.len();
        for term in &rule.head.reference {
            // only the form of the name makes it a variable
            let named = steps.len() == in_package;
            match term.as_var() {
                Some(name) if named => steps.push(string(name)),
                _ => steps.push(own(term)),
            }
        }
        let split = match wanted.kind {
            SupportKind::Complete => in_package,
            SupportKind::Partial | SupportKind::Function => split(&steps),
        };
        // the first key that the policy's rule does not name
        let mut keys = rule.head.reference.iter().skip(1);
        let open = keys.position(|term| !term.is_scalar());
        let open = open.map(|at| in_package + 1 + at);
        // if nothing follows, a constant key exists only if the rule holds
        let within = |at: &usize| at + 1 < steps.len() || rule.head.value.is_none();
        let open = open.filter(|at| wanted.kind == SupportKind::Partial && within(at));
        let full = steps.clone();
        let reference = head_reference(steps.split_off(split));
        let head = Head {
            name: plain_name(&reference),
            reference,
            args,
            key,
            value,
            generated_value: false,
            assign: false,
            span: Span::default(),
        };
        let mut live = BTreeSet::new();
        VarScan::default().collect(&head.reference, &mut live);
        VarScan::default().collect(&head.args, &mut live);
        VarScan::default().collect(&head.key, &mut live);
        VarScan::default().collect(&head.value, &mut live);
        live.extend(self.unknown_documents());
        let mut body = or_true(body);
        if wanted.kind != SupportKind::Function {
            body = never_empty(self.simplified(body, &live, &BTreeSet::new()));
        }
        let made = support_rule(head, body, rule.default);
        let long = open.and_then(|at| with_variable(full, at, in_package, &made));
        if let Some(open) = self.opened_mut() {
            open.support.documents.push(DocumentSupport {
                document: document(wanted.path),
                short: (package_path(steps), made),
                long,
            });
        }
    }

    /// Returns the reference to the support rules of a document.
    pub(super) fn namespaced(&self, path: &[ValueRef<'e>], target: PendingRef<'e>) -> TermRef<'e> {
        let arena = self.call.arena;
        let mut terms = vec![TermRef::Term(&DATA, 0)];
        terms.extend(
            self.namespace()
                .map(|name| TermRef::Value(arena.text(name))),
        );
        terms.extend(path.iter().map(|step| TermRef::Value(*step)));
        let rest = terms_of(target.reference).into_iter().skip(target.at);
        terms.extend(rest);
        self.new_ref(&terms)
    }

    /// Returns the package of support rules, unless they keep the packages of the policy.
    fn namespace(&self) -> Option<&'e str> {
        let inlining = self.opened()?.inlining;
        (!inlining.skip_namespace).then_some(&*inlining.namespace)
    }

    /// Returns the operator of a support function: its path below the namespace.
    pub(super) fn support_operator(&self, path: &[ValueRef<'_>]) -> Term {
        let mut terms = vec![Term::var("data", Span::default())];
        terms.extend(self.namespace().map(string));
        terms.extend(path.iter().map(|step| literal(*step)));
        Term::new(TermKind::Ref(terms), Span::default())
    }

    /// Returns the reference to the support rule of a negation.
    pub(super) fn in_namespace(&self, name: &str) -> Term {
        let namespace = self.opened().map(|open| &open.inlining.namespace);
        let mut terms = vec![Term::var("data", Span::default())];
        terms.extend(namespace.map(|namespace| string(namespace)));
        terms.push(string(name));
        Term::new(TermKind::Ref(terms), Span::default())
    }
}

/// Returns a rule whose head has a variable instead of a constant key. `None` if there is no such key.
fn with_variable(
    mut steps: Vec<Term>,
    at: usize,
    package: usize,
    rule: &Rule,
) -> Option<(Ref, Rule)> {
    let key = steps.get_mut(at)?;
    if VarScan::default().any(&*key, |_| true) {
        return None;
    }
    let variable = Term::var(KEY, Span::default());
    let constant = std::mem::replace(key, variable.clone());
    let mut rule = rule.clone();
    rule.body.push(equation(vec![variable, constant]));
    rule.body = numbered(std::mem::take(&mut rule.body));
    rule.head.reference = head_reference(steps.split_off(package));
    rule.head.name = plain_name(&rule.head.reference);
    Some((package_path(steps), rule))
}

/// Returns the name of a head with at most one key.
fn plain_name(reference: &[Term]) -> Option<Name> {
    match reference {
        [name] | [name, _] => name.as_var().cloned(),
        _ => None,
    }
}

/// Returns a path as owned values, which outlive the evaluation.
fn document(path: &[ValueRef<'_>]) -> Vec<Value> {
    path.iter().map(|step| step.to_value()).collect()
}

/// Returns the package of the support rules of negations.
pub(super) fn namespace_package(namespace: &str) -> Ref {
    package_path(vec![string(namespace)])
}

pub(super) fn support_rule(head: Head, body: Body, default: bool) -> Rule {
    Rule {
        default,
        head,
        body: numbered(body),
        else_rule: None,
        annotations: Vec::new(),
        span: Span::default(),
    }
}

/// Replaces an empty body by `true`.
pub(super) fn or_true(mut body: Body) -> Body {
    if body.is_empty() {
        let holds = Term::new(TermKind::Boolean(true), Span::default());
        body.push(Expr::new(ExprKind::Term(holds), Span::default()));
    }
    body
}

/// Replaces a body that became empty by simplification by one that holds.
pub(super) fn never_empty(body: Body) -> Body {
    let emptied = body.is_empty();
    let mut body = or_true(body);
    for expr in &mut body {
        expr.generated |= emptied;
    }
    body
}

fn string(text: &str) -> Term {
    Term::string(Arc::<str>::from(text), Span::default())
}

fn package_path(steps: Vec<Term>) -> Ref {
    let mut path = vec![Term::var("data", Span::default())];
    path.extend(steps);
    path
}

fn head_reference(mut terms: Vec<Term>) -> Ref {
    if let Some(first) = terms.first_mut()
        && let Some(name) = first.as_string()
    {
        first.kind = TermKind::Var(Name::from(&**name));
    }
    terms
}

/// Number of steps of a path that name a package: the leading names. The last of them starts the rule's reference.
fn split(steps: &[Term]) -> usize {
    let names = steps.iter().take_while(|step| {
        step.as_string()
            .is_some_and(|text| solon_syntax::print::is_plain_key(text))
    });
    names.count().saturating_sub(1)
}
