//! Types of documents by path: inferred from rules below `data`, and from schemas of `input` and `data`.

use std::sync::OnceLock;

use crate::program::Steps;
use crate::types::{Merge, ObjectType, Type, type_of, union, union_all};
use crate::value::order::same_key;
use crate::value::{Kind, Value, ValueRef};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeNodeId(u32);

/// Types by path. A node with a type of its own counts as a leaf, even if it has children.
#[derive(Clone, Debug)]
pub struct TypeTree {
    nodes: Vec<TypeNode>,
    steps: Steps,
}

#[derive(Clone, Debug, Default)]
struct TypeNode {
    /// Key of the step from the parent.
    key: Value,
    parent: Option<TypeNodeId>,
    /// Children in insertion order.
    children: Vec<TypeNodeId>,
    /// Children ordered by key, computed on demand.
    sorted: OnceLock<Box<[TypeNodeId]>>,
    /// Type set for this path; `None` for an inner node without one.
    own: Option<Merge>,
    /// `true` if a rule with an error contributes: values that rules checked later add can be anything.
    spoiled: bool,
    /// Type of the document, computed on demand.
    whole: OnceLock<Type>,
    /// Type of its keys, computed on demand.
    keys: OnceLock<Type>,
}

impl TypeNode {
    /// Clears the computed types.
    fn forget(&mut self) {
        if self.whole.get().is_some() {
            self.whole = OnceLock::new();
        }
        if self.keys.get().is_some() {
            self.keys = OnceLock::new();
        }
    }
}

impl Default for TypeTree {
    fn default() -> Self {
        Self {
            nodes: vec![TypeNode::default()],
            steps: Steps::default(),
        }
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "only this tree gives out the numbers of its nodes"
)]
impl TypeTree {
    /// Parent of `data` and `input`.
    pub const ROOT: TypeNodeId = TypeNodeId(0);

    fn node(&self, id: TypeNodeId) -> &TypeNode {
        &self.nodes[id.0 as usize]
    }

    fn node_mut(&mut self, id: TypeNodeId) -> &mut TypeNode {
        &mut self.nodes[id.0 as usize]
    }

    /// Reserves capacity for `count` additional nodes.
    pub fn reserve(&mut self, count: usize) {
        self.nodes.reserve(count);
        self.steps.reserve(count);
    }

    /// Returns `true` if no document has a type.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Returns the child of a node, or `None`. One hash lookup.
    pub fn child(&self, id: TypeNodeId, key: ValueRef<'_>) -> Option<TypeNodeId> {
        let has_key = |child| same_key(self.node(TypeNodeId(child)).key.borrow(), key);
        self.steps.find(id.0, key, has_key).map(TypeNodeId)
    }

    /// Iterates over the children of a node, ordered by key.
    pub fn children(&self, id: TypeNodeId) -> impl Iterator<Item = (&Value, TypeNodeId)> {
        let node = self.node(id);
        let sorted = node.sorted.get_or_init(|| {
            let mut children = node.children.clone();
            children.sort_by(|a, b| self.node(*a).key.cmp(&self.node(*b).key));
            children.into()
        });
        sorted.iter().map(|child| (&self.node(*child).key, *child))
    }

    /// Returns `true` if a node has a type of its own that is not contradictory.
    pub fn is_leaf(&self, id: TypeNodeId) -> bool {
        let contribution = &self.node(id).own;
        contribution
            .as_ref()
            .is_some_and(|contribution| !contribution.is_conflict())
    }

    /// Returns the type of the document at a node, with what rules below it add. Computed once.
    pub fn type_of_node(&self, id: TypeNodeId) -> &Type {
        let node = self.node(id);
        node.whole.get_or_init(|| match &node.own {
            Some(contribution) if !contribution.is_conflict() => {
                self.with_children(id, contribution.clone().finish())
            }
            _ => self.package(id),
        })
    }

    /// Returns the type of the keys of the document at a node. Computed once.
    pub fn keys(&self, id: TypeNodeId) -> &Type {
        self.node(id).keys.get_or_init(|| {
            if self.is_leaf(id) {
                return self.type_of_node(id).keys();
            }
            let keys = self.children(id).map(|(key, _)| key.borrow());
            let keys = keys.filter(|key| is_plain(*key)).map(type_of);
            union_all(keys.chain([Type::String]))
        })
    }

    /// Returns the type of a document of which only parts are known: base documents may add others.
    fn package(&self, id: TypeNodeId) -> Type {
        let parts = self.children(id);
        let parts = parts.filter(|(key, _)| is_plain(key.borrow()));
        let parts = parts.map(|(key, id)| (key.clone(), self.type_of_node(id).clone()));
        Type::object(parts.collect(), Some((Type::String, Type::Any)))
    }

    /// Returns the type of a partial object to which rules below it contribute.
    fn with_children(&self, id: TypeNodeId, contribution: Type) -> Type {
        let Type::Object(object) = &contribution else {
            return contribution;
        };
        let mut parts = (Vec::new(), Vec::new());
        for (key, child) in self.children(id) {
            let mut leaf_types = Vec::new();
            self.leaf_types(child, &mut leaf_types);
            for ty in leaf_types {
                parts.0.push(type_of(key.borrow()));
                parts.1.push(ty);
            }
        }
        if parts.0.is_empty() {
            return contribution;
        }
        extend(object, union_all(parts.0), union_all(parts.1))
    }

    /// Adds the types of all leaves below a node, each wrapped in objects for its steps.
    fn leaf_types(&self, id: TypeNodeId, types: &mut Vec<Type>) {
        if self.is_leaf(id) {
            types.push(self.type_of_node(id).clone());
            return;
        }
        for (key, child) in self.children(id) {
            let start = types.len();
            self.leaf_types(child, types);
            for ty in types.iter_mut().skip(start) {
                *ty = Type::object_of(type_of(key.borrow()), std::mem::take(ty));
            }
        }
    }

    /// Returns the type that rules and schemas set for a path, or `None` if they set none.
    pub fn contribution_at(&self, path: &[&Value]) -> Option<&Merge> {
        let mut steps = path.iter();
        let id = steps.try_fold(Self::ROOT, |id, key| self.child(id, key.borrow()));
        self.node(id?).own.as_ref()
    }

    /// Adds the type of a rule to a node.
    pub fn insert(&mut self, id: TypeNodeId, ty: Type) {
        self.forget_from(id);
        let node = self.node_mut(id);
        let contribution = node.own.get_or_insert_default();
        if node.spoiled && matches!(ty, Type::Object(_)) {
            contribution.add(Type::object_of(Type::Unknown, Type::Any));
        }
        contribution.add(ty);
    }

    /// Records that a rule with an error contributes to the object at a node.
    pub fn spoil(&mut self, id: TypeNodeId) {
        self.forget_from(id);
        self.node_mut(id).spoiled = true;
    }

    /// Sets the type of a path. Replaces an earlier one.
    pub fn put(&mut self, path: &[Value], ty: Type) {
        let id = self.descend(path);
        let mut contribution = Merge::default();
        contribution.add(ty);
        self.node_mut(id).own = Some(contribution);
    }

    /// Returns the node at a path and invalidates everything that depends on it.
    fn descend(&mut self, path: &[Value]) -> TypeNodeId {
        let steps = path.iter();
        let id = steps.fold(Self::ROOT, |id, key| self.step(id, key));
        self.forget_from(id);
        id
    }

    /// Returns the child of a node; creates it if there is none.
    pub fn step(&mut self, from: TypeNodeId, key: &Value) -> TypeNodeId {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let nodes = &self.nodes;
        let has_key = |id: u32| nodes.get(id as usize).is_some_and(|node| node.key == *key);
        let node = self.steps.find_or_add(from.0, key.borrow(), next, has_key);
        if node != next {
            return TypeNodeId(node);
        }
        let next = TypeNodeId(next);
        let node = self.node_mut(from);
        node.children.push(next);
        if node.sorted.get().is_some() {
            node.sorted = OnceLock::new();
        }
        self.forget_from(from);
        self.nodes.push(TypeNode {
            key: key.clone(),
            parent: Some(from),
            ..TypeNode::default()
        });
        next
    }

    /// Invalidates the computed types of a node and its ancestors.
    fn forget_from(&mut self, id: TypeNodeId) {
        let mut next = Some(id);
        while let Some(id) = next {
            self.node_mut(id).forget();
            next = self.node(id).parent;
        }
    }
}

/// Returns an object type with additional keys and values of these types.
fn extend(object: &ObjectType, keys: Type, values: Type) -> Type {
    let (keys, values) = match object.rest() {
        Some((key, ty)) => (union(key.clone(), keys), union(ty.clone(), values)),
        None => (keys, values),
    };
    Type::object(object.fixed().to_vec(), Some((keys, values)))
}

/// Returns `true` if a key can be a key of a package's document.
fn is_plain(key: ValueRef<'_>) -> bool {
    matches!(key.kind(), Kind::Boolean | Kind::Number | Kind::String)
}
