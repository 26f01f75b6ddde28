//! Types with parts. They are built by [`Type`]'s constructors only, which keep them bounded.

use std::sync::{Arc, OnceLock};

use super::union::joined;
use super::{Type, type_of, union_all};
use crate::limits;
use crate::value::{Value, ValueRef};

/// How large a type is.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeSize {
    depth: usize,
    nodes: usize,
    /// Whether some part is [`Type::Unknown`].
    pub(super) unknown: bool,
    /// `true` if some part, keys included, is the type of an empty collection.
    pub(super) empty: bool,
}

impl TypeSize {
    fn from_nodes(parts: &mut dyn Iterator<Item = &Type>) -> Self {
        let mut whole = Self {
            depth: 0,
            nodes: 1,
            unknown: false,
            empty: false,
        };
        for part in parts {
            let part = Self::of_part(part);
            whole.depth = whole.depth.max(part.depth);
            whole.nodes = whole.nodes.saturating_add(part.nodes);
            whole.unknown |= part.unknown;
            whole.empty |= part.empty;
        }
        whole.depth += 1;
        whole
    }

    fn of_part(part: &Type) -> Self {
        match part {
            Type::Array(array) => array.extent,
            Type::Object(object) => object.extent,
            Type::Set(set) => set.extent,
            Type::Union(union) => union.extent,
            Type::Function(function) => Self::from_nodes(&mut function.component_types()),
            _ => Self {
                depth: 1,
                nodes: 1,
                unknown: matches!(part, Type::Unknown),
                empty: false,
            },
        }
    }

    fn fits(self) -> bool {
        self.depth <= limits::TYPE_NESTING && self.nodes <= limits::TYPE_NODES
    }
}

/// An array: known leading elements, and the type of all further ones.
#[derive(Clone, Debug)]
pub struct ArrayType {
    fixed: Vec<Type>,
    rest: Option<Type>,
    elements: OnceLock<Type>,
    extent: TypeSize,
}

impl ArrayType {
    /// Types of the elements at 0, 1, ….
    pub fn fixed(&self) -> &[Type] {
        &self.fixed
    }

    /// Type of the elements behind them; `None` when there are none.
    pub fn rest(&self) -> Option<&Type> {
        self.rest.as_ref()
    }

    /// Type of the element at a position.
    pub fn element_at(&self, position: usize) -> Option<&Type> {
        self.fixed.get(position).or(self.rest.as_ref())
    }

    /// Union of all element types.
    pub fn elements(&self) -> &Type {
        self.elements
            .get_or_init(|| union_all(self.fixed.iter().chain(&self.rest).cloned()))
    }

    pub(super) fn extent(&self) -> TypeSize {
        self.extent
    }
}

/// An object: known keys in order, and the types of all further pairs.
#[derive(Clone, Debug)]
pub struct ObjectType {
    fixed: Vec<(Value, Type)>,
    rest: Option<(Type, Type)>,
    keys: OnceLock<Type>,
    values: OnceLock<Type>,
    extent: TypeSize,
}

impl ObjectType {
    /// Known keys with the types of their values, in key order.
    pub fn fixed(&self) -> &[(Value, Type)] {
        &self.fixed
    }

    /// Types of other keys and values; `None` when there are none.
    pub fn rest(&self) -> Option<&(Type, Type)> {
        self.rest.as_ref()
    }

    /// Type of the value under a known key.
    pub fn get(&self, key: ValueRef<'_>) -> Option<&Type> {
        let found = self
            .fixed
            .binary_search_by(|(known, _)| known.borrow().cmp(&key))
            .ok()?;
        self.fixed.get(found).map(|(_, of)| of)
    }

    /// Type of the value under a key, known or of the type that further keys have.
    pub fn select(&self, key: ValueRef<'_>) -> Option<&Type> {
        let further = || {
            self.rest
                .as_ref()
                .filter(|(keys, _)| keys.contains(&type_of(key)))
        };
        self.get(key).or_else(|| further().map(|(_, of)| of))
    }

    /// Union of all key types.
    pub fn keys(&self) -> &Type {
        self.keys.get_or_init(|| {
            let fixed = self.fixed.iter().map(|(key, _)| type_of(key.borrow()));
            union_all(fixed.chain(self.rest.iter().map(|(key, _)| key.clone())))
        })
    }

    /// Union of all value types.
    pub fn values(&self) -> &Type {
        self.values.get_or_init(|| {
            let fixed = self.fixed.iter().map(|(_, of)| of);
            let all = fixed.chain(self.rest.iter().map(|(_, of)| of)).cloned();
            if self.fixed.iter().any(|(_, of)| of.as_function().is_some()) {
                joined(all)
            } else {
                union_all(all)
            }
        })
    }

    pub(super) fn extent(&self) -> TypeSize {
        self.extent
    }
}

/// A set of elements of one type.
#[derive(Clone, Debug)]
pub struct SetType {
    of: Type,
    extent: TypeSize,
}

impl SetType {
    /// The type of its elements; unknown for the empty set.
    pub fn element(&self) -> &Type {
        &self.of
    }

    /// Whether this is the type of the empty set.
    pub fn is_empty(&self) -> bool {
        !self.of.is_known()
    }

    pub(super) fn extent(&self) -> TypeSize {
        self.extent
    }
}

/// One of several types.
#[derive(Clone, Debug)]
pub struct UnionType {
    members: Vec<Type>,
    keys: OnceLock<Type>,
    values: OnceLock<Type>,
    extent: TypeSize,
}

impl UnionType {
    /// The types, in order, each once.
    pub fn members(&self) -> &[Type] {
        &self.members
    }

    /// Whether exactly this type is a member.
    pub fn contains(&self, one: &Type) -> bool {
        self.members.binary_search(one).is_ok()
    }

    /// Union of the key types of its members.
    pub fn keys(&self) -> &Type {
        self.keys
            .get_or_init(|| union_all(self.members.iter().map(Type::keys)))
    }

    /// Union of the value types of its members.
    pub fn values(&self) -> &Type {
        self.values
            .get_or_init(|| union_all(self.members.iter().map(Type::values)))
    }

    pub(super) fn extent(&self) -> TypeSize {
        self.extent
    }
}

impl Type {
    /// An array of known elements and, where `rest` is given, further ones.
    pub fn array(fixed: Vec<Self>, rest: Option<Self>) -> Self {
        let mut extent = TypeSize::from_nodes(&mut fixed.iter().chain(&rest));
        extent.empty |= fixed.is_empty() && rest.is_none();
        if !extent.fits() {
            return Self::Any;
        }
        Self::Array(Arc::new(ArrayType {
            fixed,
            rest,
            elements: OnceLock::new(),
            extent,
        }))
    }

    /// An array of any length.
    pub fn array_of(of: Self) -> Self {
        Self::array(Vec::new(), Some(of))
    }

    /// An object of known keys and, where `rest` is given, further ones. Of equal keys the last counts.
    pub fn object(mut fixed: Vec<(Value, Self)>, rest: Option<(Self, Self)>) -> Self {
        if !fixed.is_sorted_by(|(a, _), (b, _)| a < b) {
            fixed.reverse();
            fixed.sort_by(|(a, _), (b, _)| a.cmp(b));
            fixed.dedup_by(|(later, _), (kept, _)| later == kept);
        }
        let pair = rest.iter().flat_map(|(key, of)| [key, of]);
        let mut extent = TypeSize::from_nodes(&mut fixed.iter().map(|(_, of)| of).chain(pair));
        extent.empty |= fixed.is_empty() && rest.is_none();
        if !extent.fits() {
            return Self::Any;
        }
        Self::Object(Arc::new(ObjectType {
            fixed,
            rest,
            keys: OnceLock::new(),
            values: OnceLock::new(),
            extent,
        }))
    }

    /// An object of any keys of one type and values of another.
    pub fn object_of(key: Self, of: Self) -> Self {
        Self::object(Vec::new(), Some((key, of)))
    }

    /// A set; the empty one when the type of its elements is unknown.
    pub fn set(of: Self) -> Self {
        let mut extent = TypeSize::from_nodes(&mut std::iter::once(&of));
        extent.empty |= !of.is_known();
        if !extent.fits() {
            return Self::Any;
        }
        Self::Set(Arc::new(SetType { of, extent }))
    }

    /// One of the given types as they are: `any<T>` for one, `any` for none.
    pub fn any_of(mut members: Vec<Self>) -> Self {
        if members.is_empty() {
            return Self::Any;
        }
        members.sort();
        members.dedup();
        Self::sorted_union(members)
    }

    /// One of the given types, which are sorted. The same type may be among them more than once.
    pub(super) fn sorted_union(members: Vec<Self>) -> Self {
        let extent = TypeSize {
            // one of several is known well enough
            unknown: false,
            ..TypeSize::from_nodes(&mut members.iter())
        };
        if !extent.fits() {
            return Self::Any;
        }
        Self::Union(Arc::new(UnionType {
            members,
            keys: OnceLock::new(),
            values: OnceLock::new(),
            extent,
        }))
    }
}
