//! Whether values of two types can be equal.

use super::{ArrayType, FunctionType, ObjectType, Type};

/// Whether a value can be of both types, as far as types tell.
pub fn unifies(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Unknown, _) | (_, Type::Unknown) => false,
        (Type::Any, Type::Function(_)) | (Type::Function(_), Type::Any) => false,
        (Type::Any, _) | (_, Type::Any) => true,
        (Type::Union(union), other) | (other, Type::Union(union)) => {
            let function = matches!(other, Type::Function(_));
            !function && union.members().iter().any(|member| unifies(member, other))
        }
        // definitions within themselves: one unfolds as long as the other goes on, two would never end
        (Type::Recursive(_), Type::Recursive(_)) => true,
        (Type::Recursive(inner), other) | (other, Type::Recursive(inner)) => {
            unifies(inner.unfold(), other)
        }
        (Type::Array(a), Type::Array(b)) => arrays(a, b),
        (Type::Object(a), Type::Object(b)) => objects(a, b),
        // two empty sets do not unify: a published oddity
        (Type::Set(a), Type::Set(b)) => a.is_empty() != b.is_empty() || unifies(a.of(), b.of()),
        (Type::Function(a), Type::Function(b)) => functions(a, b),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

fn arrays(a: &ArrayType, b: &ArrayType) -> bool {
    let length = a.fixed().len().max(b.fixed().len());
    let fixed = (0..length).all(|position| match (a.at(position), b.at(position)) {
        (Some(a), Some(b)) => unifies(a, b),
        _ => false,
    });
    fixed && rests(a.rest(), b.rest())
}

/// What is known of a key must fit what the other knows of it. A key that the other cannot have is an error only
/// when both know all their keys.
fn objects(a: &ObjectType, b: &ObjectType) -> bool {
    let lenient = a.rest().is_some() || b.rest().is_some();
    let within = |some: &ObjectType, other: &ObjectType| {
        let mut pairs = some.fixed().iter();
        pairs.all(|(key, of)| match other.select(key.borrow()) {
            Some(found) => unifies(of, found),
            None => lenient,
        })
    };
    within(a, b) && within(b, a) && rests(a.rest().map(|(_, of)| of), b.rest().map(|(_, of)| of))
}

fn rests(a: Option<&Type>, b: Option<&Type>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => unifies(a, b),
        _ => true,
    }
}

fn functions(a: &FunctionType, b: &FunctionType) -> bool {
    let args = a.args.iter().zip(&b.args);
    a.args.len() == b.args.len() && args.into_iter().all(|(a, b)| unifies(&a.of, &b.of))
}
