//! Schemas prepared for the validation of queries, with owned names and O(1) lookups by name.

use hashbrown::HashMap;

use super::ast::{
    DefinitionKind, DirectiveDefinition, FieldDefinition, SourcePosition, SourceText,
    TypeDefinition, TypeReference, ValueKind,
};
use super::schema::GraphqlSchema;
use crate::index::Indexed as _;

/// Maximum length of lists that are searched linearly.
const SHORT: usize = 8;

/// Named items, in order. If names are equal, lookups return the first item.
#[derive(Debug)]
pub struct Named<T> {
    items: Vec<(Box<str>, T)>,
    /// Indexes by name. Only for lists longer than [`SHORT`].
    index_by_name: HashMap<Box<str>, usize>,
}

impl<T> Named<T> {
    fn push(&mut self, name: &str, item: T) {
        self.items.push((name.into(), item));
        if self.items.len() > SHORT {
            for (position, (name, _)) in
                self.items.iter().enumerate().skip(self.index_by_name.len())
            {
                self.index_by_name.entry(name.clone()).or_insert(position);
            }
        }
    }

    /// Returns the first item with a name, or `None`. A few items are compared, more are hashed.
    pub fn get(&self, name: &str) -> Option<&T> {
        let position = if self.items.len() > SHORT {
            *self.index_by_name.get(name)?
        } else {
            self.names().position(|item| item == name)?
        };
        self.items.get(position).map(|(_, item)| item)
    }

    /// Iterates over the names, in the order of the items.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.items.iter().map(|(name, _)| name.as_ref())
    }

    /// Iterates over names and items, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.items.iter().map(|(name, item)| (name.as_ref(), item))
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            index_by_name: HashMap::default(),
        }
    }
}

impl<'n, T> FromIterator<(&'n str, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (&'n str, T)>>(items: I) -> Self {
        let mut map = Self::default();
        for (name, item) in items {
            map.push(name, item);
        }
        map
    }
}

/// Index of a type among all types.
pub type TypeId = usize;

#[derive(Debug)]
pub struct TypeDef {
    pub id: TypeId,
    pub name: Box<str>,
    pub kind: DefinitionKind,
    pub interfaces: Vec<Box<str>>,
    pub fields: Named<InputOrField>,
    /// Values of an enum. Empty for other types.
    pub values: Named<()>,
    /// Possible types of its values, ascending.
    pub possible: Vec<TypeId>,
    /// `true` for input types whose objects have exactly one field.
    pub one_of: bool,
}

#[derive(Debug)]
pub struct InputOrField {
    pub of: TypeReference<'static>,
    /// Definition of the innermost type.
    pub target: Option<TypeId>,
    pub arguments: Named<InputOrField>,
    pub default: Option<ValueKind>,
}

#[derive(Debug)]
pub struct DirectiveDef {
    pub arguments: Named<InputOrField>,
    pub locations: Vec<Box<str>>,
    /// `true` if it may be repeated at one location.
    pub repeatable: bool,
}

/// All types and directives of a schema, which refer to each other by id.
#[derive(Debug)]
pub struct TypeSystem {
    types: Vec<TypeDef>,
    by_name: HashMap<Box<str>, TypeId>,
    directives: HashMap<Box<str>, DirectiveDef>,
    roots: HashMap<Box<str>, TypeId>,
    typename: InputOrField,
}

impl TypeSystem {
    /// Converts a schema, so that types refer to each other by ids.
    pub fn new(schema: &GraphqlSchema<'_>) -> Self {
        let names = schema.types.keys().enumerate();
        let by_name: HashMap<Box<str>, TypeId> =
            names.map(|(id, name)| (name.as_ref().into(), id)).collect();
        let builder = TypeSystemBuilder { by_name: &by_name };
        let definitions = schema.types.values().enumerate();
        let mut types: Vec<TypeDef> = definitions
            .map(|(id, definition)| builder.type_def(id, definition))
            .collect();
        for (type_id, possible) in builder.possible(schema) {
            types.item_mut(type_id).possible.push(possible);
        }
        for ty in &mut types {
            ty.possible.sort_unstable();
        }
        let roots: HashMap<Box<str>, TypeId> = schema
            .roots
            .iter()
            .filter_map(|(operation, type_name)| {
                Some((operation.as_ref().into(), builder.id(type_name)?))
            })
            .collect();
        if let Some(query) = roots.get("query") {
            builder.add_introspection(&mut types.item_mut(*query).fields);
        }
        let typename = builder.plain("String", false);
        let directives = schema.directives.iter();
        let directives = directives
            .map(|(name, definition)| (name.as_ref().into(), builder.directive(definition)))
            .collect();
        Self {
            types,
            by_name,
            directives,
            roots,
            typename,
        }
    }

    /// Returns a type by id, or `None` for an id of another schema. O(1).
    pub fn type_by_id(&self, id: TypeId) -> Option<&TypeDef> {
        self.types.get(id)
    }

    /// Returns a type by name, or `None`. One hash lookup.
    pub fn get(&self, name: &str) -> Option<&TypeDef> {
        self.type_by_id(*self.by_name.get(name)?)
    }

    /// Returns the definition of the type of a field or an argument, or `None` if it is not defined.
    pub fn target(&self, member: &InputOrField) -> Option<&TypeDef> {
        self.type_by_id(member.target?)
    }

    /// Returns a directive, or `None` if the schema does not define it.
    pub fn directive(&self, name: &str) -> Option<&DirectiveDef> {
        self.directives.get(name)
    }

    /// Returns the root type of an operation, or `None` if the schema has none for it.
    pub fn root(&self, operation: &str) -> Option<&TypeDef> {
        self.type_by_id(*self.roots.get(operation)?)
    }

    /// Returns a field of a type, or `None`. `__typename` is a field of every type, and also of an unknown one.
    pub fn field<'s>(&'s self, ty: Option<&'s TypeDef>, name: &str) -> Option<&'s InputOrField> {
        if name == "__typename" {
            return Some(&self.typename);
        }
        ty?.fields.get(name)
    }

    /// Iterates over the names of all types, in the order of their ids.
    pub fn type_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.types.iter().map(|ty| ty.name.as_ref())
    }
}

struct TypeSystemBuilder<'b> {
    by_name: &'b HashMap<Box<str>, TypeId>,
}

impl TypeSystemBuilder<'_> {
    fn id(&self, name: &str) -> Option<TypeId> {
        self.by_name.get(name).copied()
    }

    fn type_def(&self, id: TypeId, definition: &TypeDefinition<'_>) -> TypeDef {
        let fields = definition.fields.iter();
        let values = definition.values.iter();
        let interfaces = definition.interfaces.iter();
        TypeDef {
            id,
            name: definition.name.as_ref().into(),
            kind: definition.kind,
            interfaces: interfaces.map(|name| name.as_ref().into()).collect(),
            fields: fields
                .map(|field| (field.name.as_ref(), self.member(field)))
                .collect(),
            values: values.map(|value| (value.name.as_ref(), ())).collect(),
            possible: Vec::new(),
            one_of: definition
                .directives
                .iter()
                .any(|directive| directive.name == "oneOf"),
        }
    }

    fn member(&self, definition: &FieldDefinition<'_>) -> InputOrField {
        let ty = owned(&definition.of);
        InputOrField {
            target: self.id(ty.named()),
            of: ty,
            arguments: self.members(&definition.arguments),
            default: definition.default.as_ref().map(|default| default.kind),
        }
    }

    fn members(&self, definitions: &[FieldDefinition<'_>]) -> Named<InputOrField> {
        let definitions = definitions.iter();
        definitions
            .map(|definition| (definition.name.as_ref(), self.member(definition)))
            .collect()
    }

    fn directive(&self, definition: &DirectiveDefinition<'_>) -> DirectiveDef {
        let locations = definition.locations.iter();
        DirectiveDef {
            arguments: self.members(&definition.arguments),
            locations: locations.map(|name| name.as_ref().into()).collect(),
            repeatable: definition.repeatable,
        }
    }

    /// Returns pairs of a type and a possible type of its values.
    fn possible(&self, schema: &GraphqlSchema<'_>) -> Vec<(TypeId, TypeId)> {
        let mut pairs = Vec::new();
        for (id, definition) in schema.types.values().enumerate() {
            let members = definition
                .types
                .iter()
                .filter_map(|member| self.id(&member.name));
            pairs.extend(members.map(|member| (id, member)));
            let interfaces = definition.interfaces.iter();
            let interfaces = interfaces.filter_map(|name| self.id(name));
            pairs.extend(interfaces.map(|interface| (interface, id)));
            if matches!(
                definition.kind,
                DefinitionKind::Object | DefinitionKind::Input
            ) {
                pairs.push((id, id));
            }
        }
        pairs
    }

    /// Adds the introspection fields of the query root.
    fn add_introspection(&self, fields: &mut Named<InputOrField>) {
        fields.push("__schema", self.plain("__Schema", true));
        let mut by_name = self.plain("__Type", false);
        by_name.arguments.push("name", self.plain("String", true));
        fields.push("__type", by_name);
    }

    /// Returns a member without arguments and default.
    fn plain(&self, name: &'static str, non_null: bool) -> InputOrField {
        InputOrField {
            of: TypeReference {
                name: SourceText::Borrowed(name),
                non_null,
                ..TypeReference::default()
            },
            target: self.id(name),
            arguments: Named::default(),
            default: None,
        }
    }
}

fn owned(ty: &TypeReference<'_>) -> TypeReference<'static> {
    TypeReference {
        name: SourceText::Owned(ty.name.as_ref().to_owned()),
        element: ty.element.as_ref().map(|element| Box::new(owned(element))),
        non_null: ty.non_null,
        position: SourcePosition::default(),
    }
}
