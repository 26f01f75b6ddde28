//! Tests whether values of two types can be equal.

use std::mem::discriminant;

use super::{ArrayType, FunctionType, ObjectType, Type};
use crate::limits;

/// Returns `true` if a policy may compare values of two types. As in OPA, the element types of collections without
/// fixed elements must agree.
pub fn unifies(a: &Type, b: &Type) -> bool {
    TypeComparison::new(false).unifies(a, b)
}

/// Returns `true` if a value can have both types. Collections without fixed elements may be empty.
pub fn may_unify(a: &Type, b: &Type) -> bool {
    TypeComparison::new(true).unifies(a, b)
}

/// A comparison with a step limit. At the limit types count as equal.
struct TypeComparison {
    left: usize,
    /// `true` if collections without fixed elements may be empty.
    may_be_empty: bool,
}

impl TypeComparison {
    const fn new(may_be_empty: bool) -> Self {
        Self {
            left: limits::TYPE_COMPARISONS,
            may_be_empty,
        }
    }

    fn unifies(&mut self, a: &Type, b: &Type) -> bool {
        let Some(remaining) = self.left.checked_sub(1) else {
            return true;
        };
        self.left = remaining;
        match (a, b) {
            (Type::Unknown, _) | (_, Type::Unknown) => false,
            (Type::Any, Type::Function(_)) | (Type::Function(_), Type::Any) => false,
            (Type::Any, _) | (_, Type::Any) => true,
            (Type::Union(union), other) | (other, Type::Union(union)) => {
                let mut members = union.members().iter();
                !matches!(other, Type::Function(_))
                    && members.any(|member| self.unifies(member, other))
            }
            // recursive definitions: one is expanded along with another type, but two of them would not terminate
            (Type::Recursive(_), Type::Recursive(_)) => true,
            (Type::Recursive(inner), other) | (other, Type::Recursive(inner)) => {
                self.unifies(inner.unfold(), other)
            }
            (Type::Array(a), Type::Array(b)) => self.arrays(a, b),
            (Type::Object(a), Type::Object(b)) => self.objects(a, b),
            // the empty set is a set of any type
            (Type::Set(a), Type::Set(b)) => {
                let empty = self.may_be_empty || a.is_empty() || b.is_empty();
                empty || self.unifies(a.element(), b.element())
            }
            (Type::Function(a), Type::Function(b)) => self.functions(a, b),
            _ => discriminant(a) == discriminant(b),
        }
    }

    fn arrays(&mut self, a: &ArrayType, b: &ArrayType) -> bool {
        let length = a.fixed().len().max(b.fixed().len());
        let fixed =
            (0..length).all(
                |position| match (a.element_at(position), b.element_at(position)) {
                    (Some(a), Some(b)) => self.unifies(a, b),
                    _ => false,
                },
            );
        fixed && self.rests(a.rest(), b.rest())
    }

    /// Compares objects. The types of common keys must agree. A key that the other object cannot have is an error only
    /// if both objects have no further keys.
    fn objects(&mut self, a: &ObjectType, b: &ObjectType) -> bool {
        let lenient = a.rest().is_some() || b.rest().is_some();
        // keys that both know are compared once: comparing twice would double the work at each level
        let of_a = a
            .fixed()
            .iter()
            .map(|(key, ty)| (ty, b.select(key.borrow())));
        let only_b = b
            .fixed()
            .iter()
            .filter(|(key, _)| a.get(key.borrow()).is_none());
        let of_b = only_b.map(|(key, ty)| (ty, a.select(key.borrow())));
        let fixed = of_a.chain(of_b).all(|(ty, other)| match other {
            Some(other) => self.unifies(ty, other),
            None => lenient,
        });
        fixed && self.rests(a.rest().map(|(_, ty)| ty), b.rest().map(|(_, ty)| ty))
    }

    fn rests(&mut self, a: Option<&Type>, b: Option<&Type>) -> bool {
        match (a, b) {
            _ if self.may_be_empty => true,
            // unknown counts as missing
            (Some(Type::Unknown), _) | (_, Some(Type::Unknown)) => true,
            (Some(a), Some(b)) => self.unifies(a, b),
            _ => true,
        }
    }

    fn functions(&mut self, a: &FunctionType, b: &FunctionType) -> bool {
        let mut args = a.args.iter().zip(&b.args);
        a.arity() == b.arity() && args.all(|(a, b)| self.unifies(&a.of, &b.of))
    }
}
