//! Total order of types, in which unions list their members.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{ArrayType, ObjectType, SetType, Type, UnionType};

impl Type {
    fn rank(&self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Null => 1,
            Self::Boolean => 2,
            Self::Number => 3,
            Self::String => 4,
            Self::Array(_) => 5,
            Self::Object(_) => 6,
            Self::Set(_) => 7,
            Self::Any | Self::Union(_) => 8,
            Self::Recursive(_) => 9,
            Self::Function(_) => 10,
        }
    }
}

fn compare_shared<T: Ord>(a: &Arc<T>, b: &Arc<T>) -> Ordering {
    if Arc::ptr_eq(a, b) {
        Ordering::Equal
    } else {
        a.cmp(b)
    }
}

impl Ord for Type {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Array(a), Self::Array(b)) => compare_shared(a, b),
            (Self::Object(a), Self::Object(b)) => compare_shared(a, b),
            (Self::Set(a), Self::Set(b)) => compare_shared(a, b),
            (Self::Union(a), Self::Union(b)) => compare_shared(a, b),
            (Self::Any, Self::Union(_)) => Ordering::Less,
            (Self::Union(_), Self::Any) => Ordering::Greater,
            (Self::Recursive(a), Self::Recursive(b)) => a.reference().cmp(b.reference()),
            (Self::Function(a), Self::Function(b)) => compare_shared(a, b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Ord for ArrayType {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.rest().cmp(&other.rest())).then_with(|| self.fixed().cmp(other.fixed()))
    }
}

impl Ord for ObjectType {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.rest().cmp(&other.rest())).then_with(|| self.fixed().cmp(other.fixed()))
    }
}

impl Ord for SetType {
    fn cmp(&self, other: &Self) -> Ordering {
        self.element().cmp(other.element())
    }
}

impl Ord for UnionType {
    fn cmp(&self, other: &Self) -> Ordering {
        self.members().cmp(other.members())
    }
}

/// Derives equality and partial order from the total order.
macro_rules! ordered {
    ($($name:ty),*) => {$(
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }

        impl Eq for $name {}
    )*};
}

ordered!(Type, ArrayType, ObjectType, SetType, UnionType);
