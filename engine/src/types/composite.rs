//! Composite types. Only [`Type`]'s constructors create them, which limit their size.

use std::sync::{Arc, OnceLock};

use super::union::union_or_unknown;
use super::{Type, type_of, union_all};
use crate::limits;
use crate::value::{Value, ValueRef};

#[derive(Clone, Copy, Debug)]
pub(super) struct TypeSize {
    depth: usize,
    nodes: usize,
    pub(super) unknown: bool,
    /// `true` if a component, including keys, is the type of an empty collection.
    pub(super) empty: bool,
}

impl TypeSize {
    fn from_nodes(parts: &mut dyn Iterator<Item = &Type>) -> Self {
        let mut size = Self {
            depth: 0,
            nodes: 1,
            unknown: false,
            empty: false,
        };
        for part in parts {
            let part = Self::of_part(part);
            size.depth = size.depth.max(part.depth);
            size.nodes = size.nodes.saturating_add(part.nodes);
            size.unknown |= part.unknown;
            size.empty |= part.empty;
        }
        size.depth += 1;
        size
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

/// Type of arrays: types of the leading elements, and the type of all further ones.
#[derive(Clone, Debug)]
pub struct ArrayType {
    fixed: Vec<Type>,
    rest: Option<Type>,
    elements: OnceLock<Type>,
    extent: TypeSize,
}

impl ArrayType {
    /// Returns the types of the elements at 0, 1, …, without those of further elements.
    pub fn fixed(&self) -> &[Type] {
        &self.fixed
    }

    /// Returns the type of further elements, or `None` if there are none.
    pub fn rest(&self) -> Option<&Type> {
        self.rest.as_ref()
    }

    /// Returns the type of the element at a position, or `None` if arrays of this type do not have it.
    pub fn element_at(&self, position: usize) -> Option<&Type> {
        self.fixed.get(position).or(self.rest.as_ref())
    }

    /// Returns the union of all element types. Computed once.
    pub fn elements(&self) -> &Type {
        self.elements
            .get_or_init(|| union_all(self.fixed.iter().chain(&self.rest).cloned()))
    }

    pub(super) fn extent(&self) -> TypeSize {
        self.extent
    }
}

/// Type of objects: known keys, sorted, and the types of all further pairs.
#[derive(Clone, Debug)]
pub struct ObjectType {
    fixed: Vec<(Value, Type)>,
    rest: Option<(Type, Type)>,
    keys: OnceLock<Type>,
    values: OnceLock<Type>,
    extent: TypeSize,
}

impl ObjectType {
    /// Returns the known keys with the types of their values, in key order.
    pub fn fixed(&self) -> &[(Value, Type)] {
        &self.fixed
    }

    /// Returns the types of other keys and values, or `None` if there are none.
    pub fn rest(&self) -> Option<&(Type, Type)> {
        self.rest.as_ref()
    }

    /// Returns the type of the value under a known key, or `None` if the key is not known.
    pub fn get(&self, key: ValueRef<'_>) -> Option<&Type> {
        let index = self
            .fixed
            .binary_search_by(|(fixed_key, _)| fixed_key.borrow().cmp(&key))
            .ok()?;
        self.fixed.get(index).map(|(_, ty)| ty)
    }

    /// Returns the type of the value under a key, known or of the type of further keys, or `None` if objects do not have it.
    pub fn select(&self, key: ValueRef<'_>) -> Option<&Type> {
        let rest_for_key = || {
            self.rest
                .as_ref()
                .filter(|(keys, _)| keys.contains(&type_of(key)))
        };
        self.get(key).or_else(|| rest_for_key().map(|(_, ty)| ty))
    }

    /// Returns the union of all key types. Computed once.
    pub fn keys(&self) -> &Type {
        self.keys.get_or_init(|| {
            let fixed = self.fixed.iter().map(|(key, _)| type_of(key.borrow()));
            union_all(fixed.chain(self.rest.iter().map(|(key, _)| key.clone())))
        })
    }

    /// Returns the union of all value types. Computed once.
    pub fn values(&self) -> &Type {
        self.values.get_or_init(|| {
            let fixed = self.fixed.iter().map(|(_, ty)| ty);
            let all = fixed.chain(self.rest.iter().map(|(_, ty)| ty)).cloned();
            if self.fixed.iter().any(|(_, ty)| ty.as_function().is_some()) {
                union_or_unknown(all)
            } else {
                union_all(all)
            }
        })
    }

    pub(super) fn extent(&self) -> TypeSize {
        self.extent
    }
}

/// Type of sets, by the type of their elements.
#[derive(Clone, Debug)]
pub struct SetType {
    of: Type,
    extent: TypeSize,
}

impl SetType {
    /// Returns the type of its elements, or unknown for the empty set.
    pub fn element(&self) -> &Type {
        &self.of
    }

    /// Returns `true` for the type of the empty set, whose element type is unknown.
    pub fn is_empty(&self) -> bool {
        !self.of.is_known()
    }

    pub(super) fn extent(&self) -> TypeSize {
        self.extent
    }
}

/// Union of several types.
#[derive(Clone, Debug)]
pub struct UnionType {
    members: Vec<Type>,
    keys: OnceLock<Type>,
    values: OnceLock<Type>,
    extent: TypeSize,
}

impl UnionType {
    /// Returns the distinct types, sorted.
    pub fn members(&self) -> &[Type] {
        &self.members
    }

    /// Returns `true` if exactly this type is a member.
    pub fn contains(&self, ty: &Type) -> bool {
        self.members.binary_search(ty).is_ok()
    }

    /// Returns the union of the key types of its members. Computed once.
    pub fn keys(&self) -> &Type {
        self.keys
            .get_or_init(|| union_all(self.members.iter().map(Type::keys)))
    }

    /// Returns the union of the value types of its members. Computed once.
    pub fn values(&self) -> &Type {
        self.values
            .get_or_init(|| union_all(self.members.iter().map(Type::values)))
    }

    pub(super) fn extent(&self) -> TypeSize {
        self.extent
    }
}

impl Type {
    /// Returns the type of arrays with the given leading elements and, with `rest`, further ones.
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

    /// Returns the type of arrays of any length.
    pub fn array_of(ty: Self) -> Self {
        Self::array(Vec::new(), Some(ty))
    }

    /// Returns the type of objects with known keys and, with `rest`, further pairs. If keys are equal, the last one
    /// counts. Returns `Any` if the type would have too many nodes.
    pub fn object(mut fixed: Vec<(Value, Self)>, rest: Option<(Self, Self)>) -> Self {
        if !fixed.is_sorted_by(|(a, _), (b, _)| a < b) {
            fixed.reverse();
            fixed.sort_by(|(a, _), (b, _)| a.cmp(b));
            fixed.dedup_by(|(later, _), (kept, _)| later == kept);
        }
        let pair = rest.iter().flat_map(|(key, ty)| [key, ty]);
        let mut extent = TypeSize::from_nodes(&mut fixed.iter().map(|(_, ty)| ty).chain(pair));
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

    /// Returns the type of objects with any keys of one type and values of another.
    pub fn object_of(key: Self, ty: Self) -> Self {
        Self::object(Vec::new(), Some((key, ty)))
    }

    /// Returns the type of sets, or of the empty set if the element type is unknown.
    pub fn set(ty: Self) -> Self {
        let mut extent = TypeSize::from_nodes(&mut std::iter::once(&ty));
        extent.empty |= !ty.is_known();
        if !extent.fits() {
            return Self::Any;
        }
        Self::Set(Arc::new(SetType { of: ty, extent }))
    }

    /// Returns the union of the given types without simplification: `any<T>` for one, `any` for none.
    pub fn any_of(mut members: Vec<Self>) -> Self {
        if members.is_empty() {
            return Self::Any;
        }
        members.sort();
        members.dedup();
        Self::sorted_union(members)
    }

    /// Returns the union of sorted types, which may contain duplicates.
    pub(super) fn sorted_union(members: Vec<Self>) -> Self {
        let extent = TypeSize {
            // a union counts as known even if a member is unknown
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
