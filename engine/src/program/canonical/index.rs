//! Conditions that a rule cannot succeed without, as the published rule index knows them.
//!
//! A rule whose conditions fail is not entered: nothing in its body is evaluated, printed or traced. So these
//! are contract, and weaker or stronger ones would be seen.

use hashbrown::HashMap;

use solon_syntax::ast::{Expr, ExprKind, Name, Rule, Term, TermKind};

use crate::program::constant;
use crate::value::Value;

/// Most alternatives of one rule; beyond, those of `or` do not count.
const ALTERNATIVES: usize = 32;

/// Alternatives, one of which must hold. A rule without conditions has one empty alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Each a list of constraints that must all hold.
    pub alternatives: Vec<Vec<Constraint>>,
}

/// What must be at a place: one of some things.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// The place.
    pub place: Place,
    /// What may be there; nothing listed means that anything may.
    pub tests: Vec<Test>,
}

/// A place in the documents, or an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Below `input`.
    Input(Vec<Value>),
    /// Below `data`, where there are no rules.
    Data(Vec<Value>),
    /// An argument of the function.
    Argument(usize),
}

/// What must be at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// This value.
    Equal(Value),
    /// An array with these elements; `None` stands for any.
    Items(Vec<Option<Value>>),
    /// A collection that has this element.
    Contains(Value),
    /// A string that begins with one of these.
    Prefix(Vec<Value>),
    /// A string that ends with one of these.
    Suffix(Vec<Value>),
    /// A string whose segments between delimiters are these; `None` stands for any.
    Segments(Vec<Option<String>>, Vec<char>),
}

impl Conditions {
    /// The conditions of a rule, its else chain apart; `is_virtual` says whether rules stand on the way of steps
    /// below `data`, or make something below them.
    pub fn of(rule: &Rule, is_virtual: &dyn Fn(&[Term]) -> bool) -> Self {
        if always_runs(&rule.body) {
            return Self {
                alternatives: vec![Vec::new()],
            };
        }
        Self::among(&rule.head.args, &rule.body, is_virtual)
    }

    /// The conditions of a function's arguments and of some expressions.
    pub fn among<'r>(
        args: &'r [Term],
        body: impl IntoIterator<Item = &'r Expr>,
        is_virtual: &'r dyn Fn(&[Term]) -> bool,
    ) -> Self {
        let mut analysis = Analysis {
            is_virtual,
            args,
            aliases: HashMap::new(),
        };
        let mut alternatives = vec![Vec::new()];
        analysis.body(body, &mut alternatives);
        Self { alternatives }
    }
}

/// Whether an expression may add to the conditions of a body; a look at its form tells that most do not.
pub fn may_constrain(expr: &Expr) -> bool {
    if expr.negated || !expr.with.is_empty() {
        return false;
    }
    match &expr.kind {
        ExprKind::Term(term) => matches!(term.kind, TermKind::Ref(_)),
        ExprKind::Call(terms) => match terms.as_slice() {
            [operator, left, right]
                if operator.is_operator("eq") || operator.is_operator("equal") =>
            {
                let is_place =
                    |term: &Term| matches!(term.kind, TermKind::Var(_) | TermKind::Ref(_));
                let is_value = |term: &Term| {
                    matches!(term.kind, TermKind::Var(_) | TermKind::Array(_)) || term.is_scalar()
                };
                (is_place(left) && is_value(right)) || (is_place(right) && is_value(left))
            }
            [operator, ..] => TESTS.iter().any(|name| operator.is_operator(name)),
            [] => false,
        },
        ExprKind::And(_) | ExprKind::Or(_) => true,
        _ => false,
    }
}

/// The built-ins that conditions are made of, equality apart.
pub const TESTS: [&str; 6] = [
    "internal.member_2",
    "startswith",
    "endswith",
    "strings.any_prefix_match",
    "strings.any_suffix_match",
    "glob.match",
];

/// Adds a constraint to each alternative. Of constraints on one place it is enough that one holds; that
/// something is there follows from any other.
fn add(alternatives: &mut [Vec<Constraint>], new: &Constraint) {
    for constraints in alternatives {
        match constraints.iter_mut().find(|old| old.place == new.place) {
            Some(old) => old.tests.extend(new.tests.iter().cloned()),
            None => constraints.push(new.clone()),
        }
    }
}

/// Whether a body is seen to run: it prints, or names a case of a test.
fn always_runs(body: &[Expr]) -> bool {
    body.iter().any(|expr| match &expr.kind {
        ExprKind::Call(terms) => terms.first().is_some_and(|operator| {
            operator.is_operator("internal.print") || operator.is_operator("internal.test_case")
        }),
        ExprKind::Every(every) => always_runs(&every.body),
        ExprKind::Not(not) => always_runs(&not.body),
        ExprKind::And(pair) | ExprKind::Or(pair) => {
            always_runs(&pair.lhs) || always_runs(&pair.rhs)
        }
        _ => false,
    })
}

/// What a variable stands for.
#[derive(Clone)]
enum Alias<'r> {
    Place(Place),
    Constant(&'r Term),
}

struct Analysis<'r> {
    is_virtual: &'r dyn Fn(&[Term]) -> bool,
    args: &'r [Term],
    aliases: HashMap<&'r Name, Alias<'r>>,
}

impl<'r> Analysis<'r> {
    fn body(
        &mut self,
        body: impl IntoIterator<Item = &'r Expr>,
        alternatives: &mut Vec<Vec<Constraint>>,
    ) {
        for expr in body {
            if expr.negated || !expr.with.is_empty() {
                continue;
            }
            match &expr.kind {
                ExprKind::Term(term) => {
                    if let Some(place) = self.place(term).filter(|_| term.as_var().is_none()) {
                        let tests = Vec::new();
                        add(alternatives, &Constraint { place, tests });
                    }
                }
                ExprKind::Call(_) => {
                    if let Some(constraint) = self.call(expr) {
                        add(alternatives, &constraint);
                    }
                }
                ExprKind::And(pair) => {
                    let aliases = self.aliases.clone();
                    self.body(&pair.lhs, alternatives);
                    self.aliases.clone_from(&aliases);
                    self.body(&pair.rhs, alternatives);
                    self.aliases = aliases;
                }
                ExprKind::Or(pair) => {
                    let aliases = self.aliases.clone();
                    let (mut left, mut right) = (alternatives.clone(), alternatives.clone());
                    self.body(&pair.lhs, &mut left);
                    self.aliases.clone_from(&aliases);
                    self.body(&pair.rhs, &mut right);
                    self.aliases = aliases;
                    left.append(&mut right);
                    if left.len() <= ALTERNATIVES {
                        *alternatives = left;
                    }
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, expr: &'r Expr) -> Option<Constraint> {
        let ExprKind::Call(terms) = &expr.kind else {
            return None;
        };
        let (operator, operands) = terms.split_first()?;
        let is = |name: &str| operator.is_operator(name);
        match operands {
            [left, right] if is("eq") || is("equal") => {
                self.alias(left, right);
                self.alias(right, left);
                self.equality(left, right)
                    .or_else(|| self.equality(right, left))
            }
            [element, collection] if is("internal.member_2") => self.member(element, collection),
            [text, base] if is("startswith") || is("strings.any_prefix_match") => {
                Some(Constraint {
                    place: self.document(text)?,
                    tests: vec![Test::Prefix(self.strings(base)?)],
                })
            }
            [text, base] if is("endswith") || is("strings.any_suffix_match") => Some(Constraint {
                place: self.document(text)?,
                tests: vec![Test::Suffix(self.strings(base)?)],
            }),
            [pattern, delimiters, text] if is("glob.match") => {
                let place = self.place(text)?;
                let test = glob(self.resolve(pattern), self.resolve(delimiters))?;
                Some(Constraint {
                    place,
                    tests: vec![test],
                })
            }
            _ => None,
        }
    }

    /// Notes that a variable stands for a place or a constant.
    fn alias(&mut self, name: &'r Term, value: &'r Term) {
        let Some(name) = name.as_var() else {
            return;
        };
        if self.args.iter().any(|arg| arg.as_var() == Some(name)) {
            return;
        }
        let alias = if value.is_scalar() {
            Alias::Constant(value)
        } else if let Some(place) = self.place(value) {
            Alias::Place(place)
        } else if constant(value).is_some() {
            Alias::Constant(value)
        } else {
            return;
        };
        self.aliases.entry(name).or_insert(alias);
    }

    fn equality(&self, place: &'r Term, value: &'r Term) -> Option<Constraint> {
        if let TermKind::Ref(terms) = &place.kind
            && let Some((last, prefix)) = terms.split_last()
            && last.as_var().is_some()
            && (prefix.len() > 1 || !terms.first()?.as_var().is_some_and(is_document))
            && value.is_scalar()
        {
            return Some(Constraint {
                place: self.path(prefix)?,
                tests: vec![Test::Contains(constant(value)?)],
            });
        }
        let found = self.place(place)?;
        // of two variables the one is not looked up in what the other stands for
        let value = match place.as_var() {
            Some(name) if !is_document(name) && value.as_var().is_some() => value,
            _ => self.resolve(value),
        };
        let tests = match (value.as_var(), self.test(value)) {
            (Some(name), _) if !is_document(name) => Vec::new(),
            (None, Some(test)) => vec![test],
            _ => return None,
        };
        Some(Constraint {
            place: found,
            tests,
        })
    }

    fn member(&self, element: &'r Term, collection: &'r Term) -> Option<Constraint> {
        let resolved = self.resolve(collection);
        let tests: Option<Vec<Test>> = match &resolved.kind {
            TermKind::Array(items) | TermKind::Set(items) => items.iter().map(fixed).collect(),
            TermKind::Object(pairs) => pairs.iter().map(|(_, value)| fixed(value)).collect(),
            _ => None,
        };
        if let (Some(tests), Some(place)) = (tests, self.place(element)) {
            return (!tests.is_empty()).then_some(Constraint { place, tests });
        }
        Some(Constraint {
            tests: vec![Test::Contains(scalar(self.resolve(element))?)],
            place: self.document(collection)?,
        })
    }

    /// What a value must be, if that is simple enough.
    fn test(&self, term: &'r Term) -> Option<Test> {
        if term.is_scalar() {
            return Some(Test::Equal(constant(term)?));
        }
        let TermKind::Array(items) = &term.kind else {
            return None;
        };
        let items = items.iter().map(|item| {
            let item = self.resolve(item);
            if item.as_var().is_some_and(|name| !is_document(name)) {
                Some(None)
            } else {
                scalar(item).map(Some)
            }
        });
        Some(Test::Items(items.collect::<Option<_>>()?))
    }

    /// The constant that a variable stands for, or the term itself.
    fn resolve(&self, term: &'r Term) -> &'r Term {
        match term.as_var().and_then(|name| self.aliases.get(name)) {
            Some(Alias::Constant(value)) => value,
            _ => term,
        }
    }

    fn place(&self, term: &Term) -> Option<Place> {
        match &term.kind {
            TermKind::Var(name) if is_document(name) => self.path(std::slice::from_ref(term)),
            TermKind::Var(name) => self.variable(name),
            TermKind::Ref(terms) => self.path(terms),
            _ => None,
        }
    }

    /// A place in the documents.
    fn document(&self, term: &Term) -> Option<Place> {
        self.place(term)
            .filter(|place| !matches!(place, Place::Argument(_)))
    }

    fn variable(&self, name: &Name) -> Option<Place> {
        let argument = self.args.iter().position(|arg| arg.as_var() == Some(name));
        match (argument, self.aliases.get(name)) {
            (Some(at), _) => Some(Place::Argument(at)),
            (None, Some(Alias::Place(place))) => Some(place.clone()),
            _ => None,
        }
    }

    fn path(&self, terms: &[Term]) -> Option<Place> {
        let (head, steps) = terms.split_first()?;
        let name = head.as_var()?;
        let keys: Vec<Value> = steps
            .iter()
            .map(|step| constant(step).filter(|_| step.is_scalar()))
            .collect::<Option<_>>()?;
        match &**name {
            "input" => Some(Place::Input(keys)),
            "data" if (self.is_virtual)(steps) || steps.is_empty() => None,
            "data" => Some(Place::Data(keys)),
            _ => match self.aliases.get(name)? {
                Alias::Place(Place::Input(path)) => {
                    Some(Place::Input(path.iter().cloned().chain(keys).collect()))
                }
                Alias::Place(Place::Data(path)) => {
                    Some(Place::Data(path.iter().cloned().chain(keys).collect()))
                }
                _ => None,
            },
        }
    }

    /// A string, or the strings of a collection.
    fn strings(&self, term: &'r Term) -> Option<Vec<Value>> {
        let term = self.resolve(term);
        let text = |term: &Term| term.as_string().map(|text| Value::string(text));
        match &term.kind {
            TermKind::String(_) => Some(vec![text(term)?]),
            TermKind::Array(items) | TermKind::Set(items) => items.iter().map(text).collect(),
            _ => None,
        }
    }
}

fn is_document(name: &Name) -> bool {
    matches!(&**name, "input" | "data")
}

/// The test for a scalar or an array of scalars.
fn fixed(term: &Term) -> Option<Test> {
    match &term.kind {
        TermKind::Array(items) => {
            let items = items.iter().map(|item| scalar(item).map(Some));
            Some(Test::Items(items.collect::<Option<_>>()?))
        }
        _ => scalar(term).map(Test::Equal),
    }
}

fn scalar(term: &Term) -> Option<Value> {
    if term.is_scalar() {
        constant(term)
    } else {
        None
    }
}

/// The test of a glob of literal segments and `*`s.
fn glob(pattern: &Term, delimiters: &Term) -> Option<Test> {
    let pattern = pattern.as_string()?;
    let TermKind::Array(delimiters) = &delimiters.kind else {
        return None;
    };
    let mut chars = Vec::new();
    for delimiter in delimiters {
        let mut text = delimiter.as_string()?.chars();
        chars.push(text.next()?);
        if text.next().is_some() {
            return None;
        }
    }
    if chars.is_empty() {
        chars.push('.');
    }
    let mut segments = vec![(String::new(), false)];
    let mut text = pattern.chars();
    while let Some(c) = text.next() {
        let (segment, star) = segments.last_mut()?;
        match c {
            '\\' => segment.push(text.next()?),
            '*' if segment.is_empty() && !*star => *star = true,
            '*' | '?' | '[' | '{' => return None,
            c if chars.contains(&c) => segments.push((String::new(), false)),
            _ if *star => return None,
            c => segment.push(c),
        }
    }
    let segments = segments
        .into_iter()
        .map(|(text, star)| (!star).then_some(text));
    Some(Test::Segments(segments.collect(), chars))
}
