//! Types of documents whose values may be replaced.

use super::Type;

impl Type {
    /// Replaces the types of empty collections, at any depth, by `any`. Keys of objects stay as they are.
    ///
    /// An alternative of a union that becomes `any` stays an alternative, since OPA's messages list it.
    #[must_use]
    pub fn relaxed(self) -> Self {
        if !self.has_empty() {
            return self;
        }
        if self.is_empty() {
            return Self::Any;
        }
        match self {
            Self::Array(array) => {
                let fixed = array.fixed().iter().cloned().map(Self::relaxed);
                Self::array(fixed.collect(), array.rest().cloned().map(Self::relaxed))
            }
            Self::Object(object) => {
                let fixed = object.fixed().iter().cloned();
                let fixed = fixed.map(|(key, ty)| (key, ty.relaxed()));
                let rest = object.rest().cloned();
                Self::object(fixed.collect(), rest.map(|(keys, ty)| (keys, ty.relaxed())))
            }
            Self::Set(set) => Self::set(set.element().clone().relaxed()),
            Self::Union(union) => {
                let members = union.members().iter().cloned();
                let mut members: Vec<_> = members.map(Self::relaxed).collect();
                members.sort();
                Self::sorted_union(members)
            }
            other => other,
        }
    }
}
