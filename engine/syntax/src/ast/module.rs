//! Modules, rules, bodies and expressions.

use std::sync::Arc;

use super::{Annotation, Name, Ref, Term, TermKind};
use crate::source::{Source, Span};
use crate::stack;

/// Version of Rego that a module is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// Rego before OPA 1.0.
    V0,
    /// Rego since OPA 1.0, the default.
    #[default]
    V1,
    /// A v0 module that imports `rego.v1` (or `rego.v2`).
    V0CompatV1,
}

impl Version {
    /// Returns `true` if the checks of v1 apply.
    pub fn is_v1(self) -> bool {
        self != Self::V0
    }
}

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Module {
    /// Source text, which the spans of all nodes refer to.
    pub source: Source,
    /// Rego version that the text was parsed as.
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
    /// Length of the longest chain of operators. Each operator of a chain is nested in the left operand of the next, so
    /// recursive walks need stack in proportion to it.
    pub chain: u32,
}

/// The package statement, which each module has once.
#[derive(Clone, Debug)]
pub struct Package {
    /// `data`, followed by the names as strings.
    pub path: Ref,
    /// Location of the statement.
    pub span: Span,
}

/// An import statement. It may be unused.
#[derive(Clone, Debug)]
pub struct Import {
    /// The imported path: a variable or a reference.
    pub path: Term,
    /// The name after `as`.
    pub alias: Option<Name>,
    /// Location of the alias. The default span if there is none.
    pub alias_span: Span,
    /// Location of the statement.
    pub span: Span,
}

impl Import {
    /// Returns the imported name: the alias, or else the last name of the path. Returns `None` if that is not a name or a
    /// string.
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

/// A comment, of one line.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Text after `#`, with leading blanks.
    pub text: Arc<str>,
    /// Location, including the `#`.
    pub span: Span,
}

/// A rule, a member of an `else` chain, or one of several bodies with the same head.
#[derive(Debug)]
pub struct Rule {
    /// `true` for `default …`.
    pub default: bool,
    /// The head.
    pub head: Head,
    /// Body. A rule without a body has the generated body `true`.
    pub body: Body,
    /// The next member of the `else` chain.
    pub else_rule: Option<Box<Rule>>,
    /// The METADATA blocks of scope `rule` or `document` that apply.
    pub annotations: Vec<Arc<Annotation>>,
    /// Location of the rule. Each member of an `else` chain has its own.
    pub span: Span,
}

// `else` chains have no length limit: functions iterate over them and never recurse

impl Rule {
    /// Returns the rule, followed by the members of its `else` chain.
    pub fn members(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |rule| rule.else_rule.as_deref())
    }

    /// Returns a copy without its `else` chain.
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

/// The head of a rule, with name, arguments and value.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// First name of one- and two-part heads, as AST JSON prints it. `None` for longer references.
    pub name: Option<Name>,
    /// The full reference, relative to the package: `[Var p]`, `[Var p, String q, Var x]`.
    pub reference: Ref,
    /// Function arguments. Empty for rules that are not functions.
    pub args: Vec<Term>,
    /// Element of a partial set, or key of a v0-style partial object.
    pub key: Option<Term>,
    /// Value. `None` for partial sets.
    pub value: Option<Term>,
    /// `true` if the value was not written and is the implied `true`.
    pub generated_value: bool,
    /// `true` if the value was given with `:=`, not `=`.
    pub assign: bool,
    /// Location of the head, within that of the rule.
    pub span: Span,
}

/// Expressions that must all be true.
pub type Body = Vec<Expr>;

/// An expression of a body, with its modifiers.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The expression without its modifiers.
    pub kind: ExprKind,
    /// `with … as …`, in source order.
    pub with: Vec<With>,
    /// `not …`, unless an import makes it an [`ExprKind::Not`].
    pub negated: bool,
    /// `true` if the compiler generated the expression, so that no source text corresponds to it.
    pub generated: bool,
    /// `true` if the compiler rewrote its `:=` to `=`.
    pub assigned: bool,
    /// Position in its body, from 0.
    pub index: u32,
    /// Location of the expression, including its modifiers.
    pub span: Span,
}

/// The kinds of expressions. Comparisons and unifications are calls.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A bare term, true unless it is `false` or undefined.
    Term(Term),
    /// An operator's reference and its operands.
    Call(Vec<Term>),
    /// `some …`, which declares variables.
    Some(SomeDecl),
    /// `every …`, true for an empty collection.
    Every(Box<Every>),
    /// `not …` under `import future.keywords.not`.
    Not(Box<Not>),
    /// `… and …`, under an import.
    And(Box<Logical>),
    /// `… or …`, under an import.
    Or(Box<Logical>),
}

/// `some x, y`, or `some x in xs` as one call of `internal.member_2` or `internal.member_3`.
#[derive(Clone, Debug)]
pub struct SomeDecl {
    /// Variables, or the one membership call.
    pub symbols: Vec<Term>,
    /// Location of the whole declaration.
    pub span: Span,
}

/// `every key, value in domain { body }`
#[derive(Clone, Debug)]
pub struct Every {
    /// The variable of keys or indexes, if it is written.
    pub key: Option<Term>,
    /// The variable of elements or values.
    pub value: Term,
    /// Collection to iterate over.
    pub domain: Term,
    /// Body that must be true for each element, in its own scope.
    pub body: Body,
    /// Location of the whole expression.
    pub span: Span,
}

/// Composite negation.
#[derive(Clone, Debug)]
pub struct Not {
    /// Negated body: the expression is true if no solution of it exists.
    pub body: Body,
    /// `true` if the body was written in braces.
    pub explicit_body: bool,
    /// Location of the whole negation.
    pub span: Span,
}

/// Operands of `and` or `or`. Chains nest in the left operand, so recursion into left operands must grow the stack.
#[derive(Debug)]
pub struct Logical {
    /// Left operand.
    pub lhs: Body,
    /// Right operand.
    pub rhs: Body,
    /// `true` if the left operand was written in braces.
    pub explicit_lhs: bool,
    /// `true` if the right operand was written in braces.
    pub explicit_rhs: bool,
    /// Location of both operands.
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

/// `with target as value`, a modifier of an expression.
#[derive(Clone, Debug)]
pub struct With {
    /// Replaced document or function.
    pub target: Term,
    /// Replacement: a value, or a function for a function.
    pub value: Term,
    /// Location of the modifier.
    pub span: Span,
}

impl Expr {
    /// Returns an expression without modifiers.
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

    /// Returns a generated call of a built-in by name. It is not checked that the built-in exists.
    pub fn generated_call(name: &str, operands: Vec<Term>, span: Span) -> Self {
        let mut terms = Vec::with_capacity(1 + operands.len());
        terms.push(Term::operator(name, span));
        terms.extend(operands);
        Self {
            generated: true,
            ..Self::new(ExprKind::Call(terms), span)
        }
    }

    /// Returns the operands if this is a call of the named built-in.
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
    /// Returns `true` for comprehensions of all kinds.
    #[inline]
    pub const fn is_comprehension(&self) -> bool {
        matches!(
            self,
            Self::ArrayComprehension(_) | Self::SetComprehension(_) | Self::ObjectComprehension(_)
        )
    }
}

impl Term {
    /// Returns `true` if this is the reference of the built-in with this dotted name.
    #[inline]
    pub fn is_operator(&self, name: &str) -> bool {
        match &self.kind {
            // a segment of a name contains no dot
            TermKind::Ref(terms) => match terms.as_slice() {
                [term] => term.is_name(name) && !name.contains('.'),
                [first, ..] => first.begins(name) && is_dotted(terms, name),
                [] => false,
            },
            _ => false,
        }
    }

    /// Returns the length of the dotted name that this reference spells, or `None` if it does not spell a name.
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

    /// Returns the text of a variable or a string, or `None` for other terms.
    #[inline]
    fn name(&self) -> Option<&str> {
        match &self.kind {
            TermKind::Var(text) | TermKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns `true` if this is a variable or a string with this text.
    #[inline]
    fn is_name(&self, name: &str) -> bool {
        self.name() == Some(name)
    }

    /// Returns `true` if this term is the first segment of a name.
    #[inline]
    fn begins(&self, name: &str) -> bool {
        self.name()
            .is_some_and(|text| name.as_bytes().get(text.len()) == Some(&b'.'))
    }
}

/// Returns `true` if two segments joined by a dot equal a name, the most frequent case.
#[inline]
fn is_pair(first: &str, second: &str, name: &str) -> bool {
    name.len() == first.len() + 1 + second.len()
        && name.ends_with(second)
        && name.starts_with(first)
        && !first.contains('.')
        && !second.contains('.')
        && name.as_bytes().get(first.len()) == Some(&b'.')
}

/// Returns `true` if segments joined by dots equal a name.
fn is_dotted(parts: &[Term], name: &str) -> bool {
    if let [first, second] = parts {
        return match (first.name(), second.name()) {
            (Some(first), Some(second)) => is_pair(first, second, name),
            _ => false,
        };
    }
    let length = |part: &Term| part.name().map_or(0, |text| text.len() + 1);
    // most names differ in length
    if parts.iter().map(length).sum::<usize>() != name.len() + 1 {
        return false;
    }
    let mut rest = Some(name);
    for part in parts {
        let Some(text) = part.name() else {
            return false;
        };
        let Some(suffix) = rest.and_then(|rest| rest.strip_prefix(text)) else {
            return false;
        };
        if text.as_bytes().contains(&b'.') {
            return false;
        }
        rest = match suffix.strip_prefix('.') {
            None if !suffix.is_empty() => return false,
            next => next,
        };
    }
    rest.is_none()
}
