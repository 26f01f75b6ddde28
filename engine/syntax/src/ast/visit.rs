//! Visitors of the tree.
//!
//! A visitor receives every expression, term and modifier before its children and returns [`Descent::Into`] to visit the
//! children. A visitor that wants only some of the children visits those itself and returns [`Descent::Over`].

use super::{
    Comprehension, Every, Expr, ExprKind, Head, Logical, Module, Not, Rule, SomeDecl, Template,
    TemplatePart, Term, TermKind, With,
};
use crate::stack;

/// Decision of a visitor about the children of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descent {
    /// Visits the children after the node.
    Into,
    /// Skips the children.
    Over,
}

/// Visits expressions, terms and modifiers.
pub trait Visitor<'a> {
    /// Called with each expression before its children. The default visits the children.
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        let _ = expr;
        Descent::Into
    }

    /// Called with each term before its children. The default visits the children.
    fn term(&mut self, term: &'a Term) -> Descent {
        let _ = term;
        Descent::Into
    }

    /// Called with each modifier before its children. The default visits the children.
    fn with(&mut self, with: &'a With) -> Descent {
        let _ = with;
        Descent::Into
    }
}

/// Changes expressions, terms and modifiers in place.
pub trait VisitorMut {
    /// Called with each expression before its children. The default visits the children.
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        let _ = expr;
        Descent::Into
    }

    /// Called with each term before its children. The default visits the children.
    fn term(&mut self, term: &mut Term) -> Descent {
        let _ = term;
        Descent::Into
    }

    /// Called with each modifier before its children. The default visits the children.
    fn with(&mut self, with: &mut With) -> Descent {
        let _ = with;
        Descent::Into
    }
}

/// A node that a [`Visitor`] can traverse.
pub trait Walk {
    /// Visits this node, if it is an expression or a term, then its descendants, in source order.
    fn walk<'a, V: Visitor<'a> + ?Sized>(&'a self, visitor: &mut V);
}

/// A node that a [`VisitorMut`] can traverse and change.
pub trait WalkMut {
    /// Visits this node, if it is an expression or a term, then its descendants, in source order.
    fn walk_mut<V: VisitorMut + ?Sized>(&mut self, visitor: &mut V);
}

/// Implements one of the two traversals for every node.
macro_rules! implement {
    ($walk:ident, $method:ident, $visitor:path, [$($lifetime:lifetime)?], [$($mutable:tt)?]) => {
        implement! { $walk, $method, $visitor, [$($lifetime)?], [$($mutable)?];
            Comprehension: key, head, body;
            SomeDecl: symbols;
            Every: key, value, domain, body;
            Not: body;
            Template: parts;
            Head: reference, args, key, value;
            Module: rules;
        }

        impl $walk for Term {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                if visitor.term(self) == Descent::Over {
                    return;
                }
                match &$($mutable)? self.kind {
                    TermKind::Null
                    | TermKind::Boolean(_)
                    | TermKind::Number(_)
                    | TermKind::String(_)
                    | TermKind::Var(_) => {}
                    TermKind::Ref(terms) => terms.$method(visitor),
                    TermKind::Array(terms) | TermKind::Set(terms) => terms.$method(visitor),
                    TermKind::Call(terms) => stack::operands(|| terms.$method(visitor)),
                    TermKind::Object(pairs) => pairs.$method(visitor),
                    TermKind::ArrayComprehension(inner)
                    | TermKind::SetComprehension(inner)
                    | TermKind::ObjectComprehension(inner) => inner.$method(visitor),
                    TermKind::Template(template) => template.$method(visitor),
                }
            }
        }

        // operands nest as deep as chains of `and` and `or` are long, hence the stack check
        impl $walk for Logical {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                stack::operands(|| {
                    self.lhs.$method(visitor);
                    self.rhs.$method(visitor);
                });
            }
        }

        impl $walk for Expr {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                if visitor.expr(self) == Descent::Over {
                    return;
                }
                self.kind.$method(visitor);
                self.with.$method(visitor);
            }
        }

        impl $walk for With {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                if visitor.with(self) == Descent::Over {
                    return;
                }
                self.target.$method(visitor);
                self.value.$method(visitor);
            }
        }

        impl $walk for Rule {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                let mut next = Some(self);
                while let Some(rule) = next {
                    rule.head.$method(visitor);
                    rule.body.$method(visitor);
                    next = match &$($mutable)? rule.else_rule {
                        Some(rule) => Some(&$($mutable)? **rule),
                        None => None,
                    };
                }
            }
        }

        impl $walk for ExprKind {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                match self {
                    Self::Term(term) => term.$method(visitor),
                    Self::Call(terms) => terms.$method(visitor),
                    Self::Some(some) => some.$method(visitor),
                    Self::Every(every) => every.$method(visitor),
                    Self::Not(not) => not.$method(visitor),
                    Self::And(logical) | Self::Or(logical) => logical.$method(visitor),
                }
            }
        }

        impl $walk for TemplatePart {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                match self {
                    Self::Term(term) => term.$method(visitor),
                    Self::Expr(expr) => expr.$method(visitor),
                }
            }
        }

        impl $walk for (Term, Term) {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                self.0.$method(visitor);
                self.1.$method(visitor);
            }
        }

        impl<T: $walk> $walk for [T] {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                for node in self {
                    node.$method(visitor);
                }
            }
        }

        impl<T: $walk> $walk for Vec<T> {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                for node in self {
                    node.$method(visitor);
                }
            }
        }

        impl<T: $walk> $walk for Option<T> {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                if let Some(node) = self {
                    node.$method(visitor);
                }
            }
        }

        impl<T: $walk> $walk for Box<T> {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                (**self).$method(visitor);
            }
        }
    };
    (
        $walk:ident, $method:ident, $visitor:path, $lifetime:tt, $mutable:tt;
        $($node:ident: $($field:ident),+;)+
    ) => {$(
        implement! { @node $walk, $method, $visitor, $lifetime, $mutable, $node, $($field)+ }
    )+};
    (
        @node $walk:ident, $method:ident, $visitor:path, [$($lifetime:lifetime)?], [$($mutable:tt)?],
        $node:ident, $($field:ident)+
    ) => {
        impl $walk for $node {
            fn $method<$($lifetime,)? V: $visitor + ?Sized>(&$($lifetime)? $($mutable)? self, visitor: &mut V) {
                $(self.$field.$method(visitor);)+
            }
        }
    };
}

implement!(Walk, walk, Visitor<'a>, ['a], []);
implement!(WalkMut, walk_mut, VisitorMut, [], [mut]);

/// A visitor that calls a function with every term.
pub struct Terms<F>(pub F);

impl<'a, F: FnMut(&'a Term) -> Descent> Visitor<'a> for Terms<F> {
    fn term(&mut self, term: &'a Term) -> Descent {
        (self.0)(term)
    }
}

impl<F: FnMut(&mut Term) -> Descent> VisitorMut for Terms<F> {
    fn term(&mut self, term: &mut Term) -> Descent {
        (self.0)(term)
    }
}

/// Returns `true` if a node is or contains a comprehension. Stops at the first.
pub fn has_comprehension(node: &(impl Walk + ?Sized)) -> bool {
    let mut occurs = false;
    node.walk(&mut Terms(|term: &Term| {
        occurs = occurs || term.kind.is_comprehension();
        if occurs { Descent::Over } else { Descent::Into }
    }));
    occurs
}

/// A visitor that calls a function with every expression.
pub struct Exprs<F>(pub F);

impl<'a, F: FnMut(&'a Expr) -> Descent> Visitor<'a> for Exprs<F> {
    fn expr(&mut self, expr: &'a Expr) -> Descent {
        (self.0)(expr)
    }
}

impl<F: FnMut(&mut Expr) -> Descent> VisitorMut for Exprs<F> {
    fn expr(&mut self, expr: &mut Expr) -> Descent {
        (self.0)(expr)
    }
}
