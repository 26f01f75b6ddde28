//! Type environment of a body: types of documents, functions, and variables.

use hashbrown::HashMap;
use std::ptr;

use solon_syntax::ast::{Comprehension, Name, Term, TermKind};
use solon_syntax::source::Span;

use super::constant::json_value;
use super::tree::{TypeNodeId, TypeTree};
use crate::compile::compilation::Options;
use crate::compile::functions::dotted;
use crate::compile::small_map::SmallMap;
use crate::types::{Type, may_unify, unifies, union_all};
use crate::value::Value;

/// Type environment of a body. A variable belongs to the body or closure in which it first occurs.
pub struct TypeEnvironment<'c> {
    options: &'c Options,
    /// Types of documents; later layers have precedence over earlier ones wherever they have a type.
    layers: Vec<TypeLayer<'c>>,
    variables: SmallMap<Name, Type>,
    /// Previous type of each changed variable, so that closures can be left.
    undo: Vec<(Name, Option<Type>)>,
    /// Types of checked comprehensions, by address: the tree does not move during the check.
    closures: HashMap<*const Comprehension, Type>,
    /// `true` if the bodies are parts of residuals. A variable without a type may then have any value, from another
    /// part, and only an expression that can never hold is an error.
    pub partial: bool,
}

enum TypeLayer<'c> {
    Shared(&'c TypeTree),
    Own(TypeTree),
}

impl TypeLayer<'_> {
    fn tree(&self) -> &TypeTree {
        match self {
            Self::Shared(tree) => tree,
            Self::Own(tree) => tree,
        }
    }
}

/// A state of the variables that can be restored.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint(usize);

impl<'c> TypeEnvironment<'c> {
    /// Creates the environment outside of all bodies.
    pub fn new(options: &'c Options, documents: &'c TypeTree) -> Self {
        Self {
            options,
            layers: vec![TypeLayer::Shared(documents)],
            variables: SmallMap::default(),
            undo: Vec::new(),
            closures: HashMap::new(),
            partial: false,
        }
    }

    /// Returns `true` if a value can have both types. Partial types unify if they may.
    pub fn unifies(&self, a: &Type, b: &Type) -> bool {
        if self.partial {
            may_unify(a, b)
        } else {
            unifies(a, b)
        }
    }

    /// Adds a layer of document types with precedence over the existing ones.
    pub fn cover(&mut self, tree: TypeTree) {
        self.layers.push(TypeLayer::Own(tree));
    }

    /// Removes the last layer.
    pub fn uncover(&mut self) {
        if self.layers.len() > 1 {
            self.layers.pop();
        }
    }

    /// Number of layers.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// Returns a layer; index 0 has the highest precedence, and the last one has the types of the documents. `None` beyond it.
    pub fn layer(&self, position: usize) -> Option<&TypeTree> {
        self.layers.iter().rev().nth(position).map(TypeLayer::tree)
    }

    /// Returns the current state of the variables.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.undo.len())
    }

    /// Restores the variables to an earlier state.
    pub fn leave(&mut self, checkpoint: Checkpoint) {
        while self.undo.len() > checkpoint.0 {
            match self.undo.pop() {
                Some((name, Some(before))) => drop(self.variables.insert(name, before)),
                // it was added last
                Some((_, None)) => self.variables.truncate(self.variables.len() - 1),
                None => {}
            }
        }
    }

    /// Returns the type of a variable, or `None` while it has none. An undeclared name may be that of a built-in function.
    pub fn variable(&self, name: &Name) -> Option<&Type> {
        match self.variables.get(name) {
            None if is_root(name) => None,
            None => self.options.declaration(name),
            bound => bound,
        }
    }

    /// Sets the type of a variable if the type is known.
    pub fn bind(&mut self, name: &Name, ty: Type) {
        if !ty.is_known() {
            return;
        }
        let before = self.variables.insert(name.clone(), ty);
        self.undo.push((name.clone(), before));
    }

    /// Stores the type of a comprehension, identified by its address.
    pub fn keep(&mut self, closure: &Comprehension, ty: Type) {
        self.closures.insert(ptr::from_ref(closure), ty);
    }

    /// Returns the type of a term; unknown if it, or a part of it, is not known yet.
    pub fn type_of(&self, term: &Term) -> Type {
        match self.of_kind(term) {
            Type::Unknown if self.partial => Type::Any,
            ty => ty,
        }
    }

    fn of_kind(&self, term: &Term) -> Type {
        match &term.kind {
            TermKind::Null => Type::Null,
            TermKind::Boolean(_) => Type::Boolean,
            TermKind::Number(_) => Type::Number,
            TermKind::String(_) => Type::String,
            TermKind::Var(name) => self.of_variable(name),
            TermKind::Ref(terms) => self.of_reference(terms),
            TermKind::Array(terms) => {
                Type::array(terms.iter().map(|term| self.type_of(term)).collect(), None)
            }
            TermKind::Set(terms) => {
                Type::set(union_all(terms.iter().map(|term| self.type_of(term))))
            }
            TermKind::Object(pairs) => self.of_object(pairs),
            TermKind::ArrayComprehension(closure)
            | TermKind::SetComprehension(closure)
            | TermKind::ObjectComprehension(closure) => {
                let closure_type = self.closures.get(&ptr::from_ref(&**closure));
                closure_type.cloned().unwrap_or_default()
            }
            // only residuals have calls within terms
            TermKind::Call(_) => Type::Any,
            TermKind::Template(_) => Type::Unknown,
        }
    }

    /// Returns the type of the replacement of a document by `with`; `any` if it is not known.
    pub fn of_replacement(&self, value: &Term) -> Type {
        match self.type_of(value) {
            Type::Unknown => Type::Any,
            ty => ty,
        }
    }

    /// Returns the type of an operator, or of the target or value of a `with`. Unknown names have the unknown type.
    pub fn of_operator(&self, term: &Term) -> Type {
        match term.as_var() {
            Some(name) if self.variable(name).is_none() && !is_root(name) => {
                self.options.declaration(name).cloned().unwrap_or_default()
            }
            _ => self.type_of(term),
        }
    }

    fn of_variable(&self, name: &Name) -> Type {
        if let Some(ty) = self.variable(name) {
            return ty.clone();
        }
        if is_root(name) {
            return self.of_reference(&[Term::var(name.clone(), Span::default())]);
        }
        Type::Unknown
    }

    /// Returns the type of an object. As in OPA, of several keys that are not constants only the last, in the order of
    /// keys, counts.
    fn of_object(&self, pairs: &[(Term, Term)]) -> Type {
        if self.partial {
            return self.of_partial_object(pairs);
        }
        let mut fixed = Vec::new();
        let mut last: Option<&(Term, Term)> = None;
        for pair in pairs {
            match json_value(&pair.0) {
                Some(key) => fixed.push((key, self.type_of(&pair.1))),
                None if last.is_some_and(|(key, _)| *key > pair.0) => {}
                None => last = Some(pair),
            }
        }
        let rest = last.map(|(key, value)| (self.type_of(key), self.type_of(value)));
        Type::object(fixed, rest)
    }

    /// Returns the type of an object in residuals: any key that is not a constant may equal any other key.
    fn of_partial_object(&self, pairs: &[(Term, Term)]) -> Type {
        if pairs.iter().all(|(key, _)| json_value(key).is_some()) {
            let fixed = pairs
                .iter()
                .filter_map(|(key, value)| Some((json_value(key)?, self.type_of(value))));
            return Type::object(fixed.collect(), None);
        }
        let keys = union_all(pairs.iter().map(|(key, _)| self.type_of(key)));
        let values = union_all(pairs.iter().map(|(_, value)| self.type_of(value)));
        Type::object_of(keys, values)
    }

    /// Returns the type of a reference's value, or the unknown type.
    pub fn of_reference(&self, reference: &[Term]) -> Type {
        let Some((head, steps)) = reference.split_first() else {
            return Type::Unknown;
        };
        let Some(name) = head.as_var() else {
            return select_all(self.type_of(head), steps);
        };
        if let Some(ty) = self.variables.get(name) {
            return select_all(ty.clone(), steps);
        }
        if is_root(name) {
            let mut trees = self.layers.iter().rev().map(TypeLayer::tree);
            let ty = trees.find_map(|tree| of_document(tree, reference));
            return ty.unwrap_or_else(|| {
                if self.leads_among_functions(reference) {
                    Type::Unknown
                } else {
                    Type::Any
                }
            });
        }
        let declaration = match steps {
            [] => self.options.declaration(name),
            _ => dotted(reference).and_then(|name| self.options.declaration(&name)),
        };
        declaration.cloned().unwrap_or_default()
    }

    /// Returns `true` if an unknown step of a reference may select a function. As in OPA, the result then has no type,
    /// although base documents may exist there, too.
    fn leads_among_functions(&self, reference: &[Term]) -> bool {
        let mut trees = self.layers.iter().map(TypeLayer::tree);
        let Some(documents) = trees.next() else {
            return false;
        };
        let is_function =
            |id| documents.is_leaf(id) && documents.type_of_node(id).as_function().is_some();
        crossroads(documents, reference).is_some_and(|id| {
            // a union with a function has no type
            documents
                .children(id)
                .fold(None, |last, (_, child)| match (last, is_function(child)) {
                    (None, next) => Some(next),
                    (Some(last), next) => (last == next).then_some(next),
                })
                == Some(true)
        }) && trees.all(|cover| crossroads(cover, reference).is_none())
    }
}

/// Returns `true` if a name is a root document: `data` or `input`.
pub fn is_root(name: &str) -> bool {
    name == "data" || name == "input"
}

/// Returns the child of a node under a term, or `None` if the term is not constant or the child does not exist.
pub fn step(tree: &TypeTree, id: TypeNodeId, term: &Term) -> Option<TypeNodeId> {
    match &term.kind {
        TermKind::Var(_) if id == TypeTree::ROOT => {
            let name = term.as_var()?;
            tree.child(id, Value::string(name).borrow())
        }
        _ if term.is_scalar() => tree.child(id, json_value(term)?.borrow()),
        _ => None,
    }
}

/// Returns the type that a tree has for a document. Steps below a leaf select in its type. Returns `None` if the tree has
/// none.
fn of_document(tree: &TypeTree, reference: &[Term]) -> Option<Type> {
    let mut id = TypeTree::ROOT;
    for (depth, term) in reference.iter().enumerate() {
        match step(tree, id, term) {
            Some(next) => id = next,
            None if tree.is_leaf(id) => {
                let steps = reference.get(depth..).unwrap_or_default();
                return Some(select_all(tree.type_of_node(id).clone(), steps));
            }
            None => return None,
        }
    }
    Some(tree.type_of_node(id).clone())
}

/// Returns the node at which a reference takes its first unknown step, if that node has children.
fn crossroads(tree: &TypeTree, reference: &[Term]) -> Option<TypeNodeId> {
    let mut id = TypeTree::ROOT;
    for term in reference {
        match step(tree, id, term) {
            Some(next) => id = next,
            // a layer may have no type for `data` or `input` itself
            None if id == TypeTree::ROOT => return None,
            None if matches!(term.kind, TermKind::Var(_) | TermKind::Ref(_)) => {
                return tree.children(id).next().map(|_| id);
            }
            None => return None,
        }
    }
    None
}

/// Returns the type of the value under a constant key.
pub fn select(ty: &Type, key: &Term) -> Type {
    match json_value(key) {
        Some(key) => ty.select(key.borrow()),
        None => Type::Unknown,
    }
}

/// Returns the type after the steps of a reference: the known type under a constant, the union of all values under
/// anything else.
fn select_all(mut ty: Type, steps: &[Term]) -> Type {
    for key in steps {
        ty = if key.is_scalar() {
            select(&ty, key)
        } else if ty.is_empty() {
            return Type::Any;
        } else {
            ty.values()
        };
    }
    ty
}
