//! Modules, rules, bodies and expressions.

use std::sync::Arc;

use super::{Annotation, Name, Ref, Term, TermKind};
use crate::source::{Source, Span};
use crate::stack;

/// Which Rego a module is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// The language before OPA 1.0.
    V0,
    /// The default.
    #[default]
    V1,
    /// A v0 module that imports `rego.v1` (or `rego.v2`).
    V0CompatV1,
}

impl Version {
    /// Whether the checks of v1 hold.
    pub fn is_v1(self) -> bool {
        self != Self::V0
    }
}

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text.
    pub source: Source,
    /// Which Rego it is.
    pub version: Version,
    /// `package …`
    pub package: Package,
    /// `import …`, in source order.
    pub imports: Vec<Import>,
    /// Rules in source order.
    pub rules: Vec<Rule>,
    /// All comments in source order.
    pub comments: Vec<Comment>,
    /// All METADATA blocks in source order.
    pub annotations: Vec<Arc<Annotation>>,
    /// The longest chain of operators, which lie in one another's left operands: walks that recurse need stack for it.
    pub chain: u32,
}

/// The package statement.
#[derive(Clone, Debug)]
pub struct Package {
    /// `data`, then the parts as strings.
    pub path: Ref,
    /// Place of the statement.
    pub span: Span,
}

/// An import statement.
#[derive(Clone, Debug)]
pub struct Import {
    /// What is imported: a variable or a reference.
    pub path: Term,
    /// `as x`
    pub alias: Option<Name>,
    /// Place of the alias.
    pub alias_span: Span,
    /// Place of the statement.
    pub span: Span,
}

impl Import {
    /// The name it brings: its alias, or the last part of its path.
    pub fn name(&self) -> Option<&Name> {
        self.alias.as_ref().or_else(|| {
            let last = match self.path.as_ref() {
                Some(terms) => terms.last()?,
                None => &self.path,
            };
            last.as_var().or_else(|| last.as_string())
        })
    }
}

/// A comment.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Text behind `#`.
    pub text: Arc<str>,
    /// Its place, from the `#` on.
    pub span: Span,
}

/// A rule, one of a chain of `else`s, or one of several bodies behind one head.
#[derive(Debug)]
pub struct Rule {
    /// `default …`
    pub default: bool,
    /// The head.
    pub head: Head,
    /// The body; a rule without one has the body `true`, marked as generated.
    pub body: Body,
    /// `else …`
    pub else_rule: Option<Box<Rule>>,
    /// The METADATA blocks of scope rule or document that apply.
    pub annotations: Vec<Arc<Annotation>>,
    /// Place of the rule.
    pub span: Span,
}

// Chains of `else` are as long as their authors want: they are gone along in loops, never by recursion.

impl Rule {
    /// The rule, then the members of its chain of `else`.
    pub fn members(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |rule| rule.else_rule.as_deref())
    }

    /// A copy without its chain.
    fn first(&self) -> Self {
        Self {
            default: self.default,
            head: self.head.clone(),
            body: self.body.clone(),
            else_rule: None,
            annotations: self.annotations.clone(),
            span: self.span,
        }
    }
}

impl Clone for Rule {
    fn clone(&self) -> Self {
        let mut copy = self.first();
        let mut end = &mut copy.else_rule;
        for rule in self.members().skip(1) {
            end = &mut end.insert(Box::new(rule.first())).else_rule;
        }
        copy
    }
}

impl Drop for Rule {
    fn drop(&mut self) {
        let mut next = self.else_rule.take();
        while let Some(mut rule) = next {
            next = rule.else_rule.take();
        }
    }
}

/// The head of a rule.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The first name for one- and two-part heads as AST JSON prints it; `None` for longer references.
    pub name: Option<Name>,
    /// The full reference, relative to the package: `[Var p]`, `[Var p, String q, Var x]`.
    pub reference: Ref,
    /// Function arguments; empty for other rules.
    pub args: Vec<Term>,
    /// The element of a partial set, or the key of a v0-style partial object.
    pub key: Option<Term>,
    /// The value; `None` for partial sets.
    pub value: Option<Term>,
    /// Whether the value is the implied `true`.
    pub generated_value: bool,
    /// Whether the value was given with `:=`.
    pub assign: bool,
    /// Place of the head.
    pub span: Span,
}

/// Expressions that must all hold.
pub type Body = Vec<Expr>;

/// An expression of a body.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// `with … as …`, in source order.
    pub with: Vec<With>,
    /// `not …` (without the import that makes it an [`ExprKind::Not`]).
    pub negated: bool,
    /// Whether the compiler made it.
    pub generated: bool,
    /// Whether the compiler made an `=` of its `:=`.
    pub assigned: bool,
    /// Position in its body, from 0.
    pub index: u32,
    /// Place of the expression.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A bare term.
    Term(Term),
    /// An operator's reference and its operands.
    Call(Vec<Term>),
    /// `some …`
    Some(SomeDecl),
    /// `every …`
    Every(Box<Every>),
    /// `not …` under `import future.keywords.not`.
    Not(Box<Not>),
    /// `… and …`
    And(Box<Logical>),
    /// `… or …`
    Or(Box<Logical>),
}

/// `some x, y`, or `some x in xs` as one call of `internal.member_2` or `internal.member_3`.
#[derive(Clone, Debug)]
pub struct SomeDecl {
    /// Variables, or the one membership call.
    pub symbols: Vec<Term>,
    /// Place.
    pub span: Span,
}

/// `every key, value in domain { body }`
#[derive(Clone, Debug)]
pub struct Every {
    /// The key variable.
    pub key: Option<Term>,
    /// The value variable.
    pub value: Term,
    /// What is walked.
    pub domain: Term,
    /// What must hold for each.
    pub body: Body,
    /// Place.
    pub span: Span,
}

/// Composite negation.
#[derive(Clone, Debug)]
pub struct Not {
    /// What must not hold.
    pub body: Body,
    /// Whether it was written in braces.
    pub explicit_body: bool,
    /// Place.
    pub span: Span,
}

/// The operands of `and` or `or`. Chains lie in one another's left operands, so whatever recurses into those grows the stack.
#[derive(Debug)]
pub struct Logical {
    /// Left operand.
    pub lhs: Body,
    /// Right operand.
    pub rhs: Body,
    /// Whether the left operand was written in braces.
    pub explicit_lhs: bool,
    /// Whether the right operand was written in braces.
    pub explicit_rhs: bool,
    /// Place.
    pub span: Span,
}

impl Clone for Logical {
    fn clone(&self) -> Self {
        stack::level(|| Self {
            lhs: self.lhs.clone(),
            rhs: self.rhs.clone(),
            explicit_lhs: self.explicit_lhs,
            explicit_rhs: self.explicit_rhs,
            span: self.span,
        })
    }
}

impl Drop for Logical {
    fn drop(&mut self) {
        if stack::is_short() {
            stack::level(|| self.lhs.clear());
        }
    }
}

/// `with target as value`
#[derive(Clone, Debug)]
pub struct With {
    /// What is replaced.
    pub target: Term,
    /// By what.
    pub value: Term,
    /// Place.
    pub span: Span,
}

impl Expr {
    /// An expression without modifiers.
    pub fn new(kind: ExprKind, span: Span) -> Self {
        Self {
            kind,
            with: Vec::new(),
            negated: false,
            generated: false,
            assigned: false,
            index: 0,
            span,
        }
    }

    /// A call of a built-in by name, made by the compiler.
    pub fn generated_call(name: &str, operands: Vec<Term>, span: Span) -> Self {
        let mut terms = Vec::with_capacity(1 + operands.len());
        terms.push(Term::operator(name, span));
        terms.extend(operands);
        Self {
            generated: true,
            ..Self::new(ExprKind::Call(terms), span)
        }
    }

    /// The operands, if this is a call of the named built-in.
    #[inline]
    pub fn operands_of(&self, name: &str) -> Option<&[Term]> {
        match &self.kind {
            ExprKind::Call(terms) => match terms.split_first() {
                Some((operator, operands)) if operator.is_operator(name) => Some(operands),
                _ => None,
            },
            _ => None,
        }
    }
}

impl TermKind {
    /// Whether it is a comprehension of any kind.
    #[inline]
    pub const fn is_comprehension(&self) -> bool {
        matches!(
            self,
            Self::ArrayComprehension(_) | Self::SetComprehension(_) | Self::ObjectComprehension(_)
        )
    }
}

impl Term {
    /// Whether this is the reference of the built-in with that dotted name.
    #[inline]
    pub fn is_operator(&self, name: &str) -> bool {
        match &self.kind {
            // a part of a name holds no dot
            TermKind::Ref(terms) => match terms.as_slice() {
                [one] => one.is_name(name) && !name.contains('.'),
                [first, ..] => first.begins(name) && is_dotted(terms, name),
                [] => false,
            },
            _ => false,
        }
    }

    /// How long the dotted name is that this reference spells; `None` where it spells none.
    #[inline]
    pub fn operator_len(&self) -> Option<usize> {
        let TermKind::Ref(terms) = &self.kind else {
            return None;
        };
        let mut length = terms.len().checked_sub(1)?;
        for term in terms {
            length += term.name()?.len();
        }
        Some(length)
    }

    /// The text of a variable or a string.
    #[inline]
    fn name(&self) -> Option<&str> {
        match &self.kind {
            TermKind::Var(text) | TermKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is a variable or a string of that text.
    #[inline]
    fn is_name(&self, name: &str) -> bool {
        self.name() == Some(name)
    }

    /// Whether a name may begin with this.
    #[inline]
    fn begins(&self, name: &str) -> bool {
        self.name()
            .is_some_and(|text| name.as_bytes().get(text.len()) == Some(&b'.'))
    }
}

/// Whether two parts with a point between them are a name, the most frequent case.
#[inline]
fn is_pair(first: &str, second: &str, name: &str) -> bool {
    name.len() == first.len() + 1 + second.len()
        && name.ends_with(second)
        && name.starts_with(first)
        && !first.contains('.')
        && !second.contains('.')
        && name.as_bytes().get(first.len()) == Some(&b'.')
}

/// Whether some parts with points between them are a name.
fn is_dotted(parts: &[Term], name: &str) -> bool {
    if let [first, second] = parts {
        return match (first.name(), second.name()) {
            (Some(first), Some(second)) => is_pair(first, second, name),
            _ => false,
        };
    }
    let length = |part: &Term| part.name().map_or(0, |text| text.len() + 1);
    // most names differ in their length
    if parts.iter().map(length).sum::<usize>() != name.len() + 1 {
        return false;
    }
    let mut rest = Some(name);
    for part in parts {
        let Some(text) = part.name() else {
            return false;
        };
        let Some(behind) = rest.and_then(|rest| rest.strip_prefix(text)) else {
            return false;
        };
        if text.as_bytes().contains(&b'.') {
            return false;
        }
        rest = match behind.strip_prefix('.') {
            None if !behind.is_empty() => return false,
            next => next,
        };
    }
    rest.is_none()
}
