//! Decodes values in OPA's format into syntax trees. Missing keys have defaults. Positions are not decoded.

use solon_syntax::stack;

use super::ast::{
    ArgumentNode, Comments, DefinitionKind, Description, DirectiveDefinition, DirectiveNode,
    EnumValue, FieldDefinition, FieldNode, FragmentDefinition, Inline, OperationDefinition,
    QueryDocument, Reference, RootOperation, RootOperations, SchemaDocument, Selection,
    SourcePosition, SourceText, Spread, TypeDefinition, TypeReference, ValueKind, ValueNode,
    VariableDefinition,
};
use super::problem::GraphqlError;
use crate::limits::NESTING;
use crate::value::{RefRepr, ValueRef};

/// A node that can be decoded from the tree that policies see.
pub trait Decode<'e>: Sized {
    /// Decodes a node. `depth` is the number of enclosing nodes.
    fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError>;
}

fn mismatch(value: ValueRef<'_>, expected: &str) -> GraphqlError {
    let actual = value.kind().as_str();
    GraphqlError::new(
        format!("syntax tree has {actual} for {expected}"),
        SourcePosition::default(),
    )
}

fn member<'e>(
    value: ValueRef<'e>,
    key: &str,
    depth: usize,
) -> Result<Option<ValueRef<'e>>, GraphqlError> {
    if depth > NESTING {
        return Err(GraphqlError::new(
            "nested too deep".into(),
            SourcePosition::default(),
        ));
    }
    let object = value.as_object().ok_or_else(|| mismatch(value, "a node"))?;
    Ok(object
        .get_str(key)
        .filter(|member| !matches!(member, ValueRef(RefRepr::Null))))
}

/// Decodes a member of a node, or returns the default if it is missing.
fn get<'e, T: Decode<'e> + Default>(
    value: ValueRef<'e>,
    key: &str,
    depth: usize,
) -> Result<T, GraphqlError> {
    Ok(optional(value, key, depth)?.unwrap_or_default())
}

/// Decodes a member with a description.
fn described<'e, T: Decode<'e>>(
    value: ValueRef<'e>,
    _: &str,
    depth: usize,
) -> Result<T, GraphqlError> {
    T::decode(value, depth)
}

fn optional<'e, T: Decode<'e>>(
    value: ValueRef<'e>,
    key: &str,
    depth: usize,
) -> Result<Option<T>, GraphqlError> {
    match member(value, key, depth)? {
        Some(member) => stack::level(|| T::decode(member, depth + 1)).map(Some),
        None => Ok(None),
    }
}

impl<'e, T: Decode<'e>> Decode<'e> for Vec<T> {
    fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError> {
        let array = value.as_array().ok_or_else(|| mismatch(value, "a list"))?;
        array.iter().map(|item| T::decode(item, depth)).collect()
    }
}

impl<'e, T: Decode<'e>> Decode<'e> for Box<T> {
    fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError> {
        T::decode(value, depth).map(Box::new)
    }
}

impl<'e> Decode<'e> for SourceText<'e> {
    fn decode(value: ValueRef<'e>, _: usize) -> Result<Self, GraphqlError> {
        let text = value.as_text().ok_or_else(|| mismatch(value, "a text"))?;
        Ok(SourceText::Owned(text.to_str().into_owned()))
    }
}

impl<'e> Decode<'e> for Reference<'e> {
    fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError> {
        Ok(Self {
            name: SourceText::decode(value, depth)?,
            position: SourcePosition::default(),
        })
    }
}

impl<'e> Decode<'e> for Comments<'e> {
    fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError> {
        let Some(list) = member(value, "List", depth)? else {
            return Ok(Self::default());
        };
        let list = list.as_array().ok_or_else(|| mismatch(list, "a list"))?;
        let texts = list.iter().map(|item| get(item, "Value", depth));
        texts.collect::<Result<_, _>>().map(Self)
    }
}

impl<'e> Decode<'e> for Description<'e> {
    fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError> {
        Ok(Self {
            before: get(value, "BeforeDescriptionComment", depth)?,
            text: get(value, "Description", depth)?,
            after: get(value, "AfterDescriptionComment", depth)?,
        })
    }
}

impl<'e> Decode<'e> for bool {
    fn decode(value: ValueRef<'e>, _: usize) -> Result<Self, GraphqlError> {
        match value {
            ValueRef(RefRepr::Bool(flag)) => Ok(flag),
            _ => Err(mismatch(value, "a flag")),
        }
    }
}

impl<'e> Decode<'e> for ValueKind {
    fn decode(value: ValueRef<'e>, _: usize) -> Result<Self, GraphqlError> {
        let number = value.as_number().and_then(crate::value::Number::to_i64);
        number
            .and_then(|number| usize::try_from(number).ok())
            .and_then(|number| Self::ALL.get(number).copied())
            .ok_or_else(|| mismatch(value, "a kind"))
    }
}

impl<'e> Decode<'e> for DefinitionKind {
    fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError> {
        let name = SourceText::decode(value, depth)?;
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| mismatch(value, "a kind"))
    }
}

impl<'e> Decode<'e> for Selection<'e> {
    fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError> {
        let has = |key| Ok(member(value, key, depth)?.is_some());
        if !has("Name")? {
            return Inline::decode(value, depth).map(Self::Inline);
        }
        // hand-written trees may lack an alias
        if has("Alias")? || has("Arguments")? || has("SelectionSet")? {
            return FieldNode::decode(value, depth).map(Self::Field);
        }
        Spread::decode(value, depth).map(Self::Spread)
    }
}

/// Implements decoding for nodes, member by member.
macro_rules! nodes {
    ($($node:ident { $($field:ident: $how:ident $key:literal),* $(,)? })*) => {$(
        impl<'e> Decode<'e> for $node<'e> {
            fn decode(value: ValueRef<'e>, depth: usize) -> Result<Self, GraphqlError> {
                Ok(Self {
                    $($field: $how(value, $key, depth)?,)*
                    ..Self::default()
                })
            }
        }
    )*};
}

#[allow(
    clippy::needless_update,
    clippy::wildcard_imports,
    reason = "documents have no position; the list of all nodes is below"
)]
mod nodes {
    use super::*;

    nodes! {
        QueryDocument { operations: get "Operations", fragments: get "Fragments" }
        OperationDefinition {
            comments: get "Comment", description: get "Description",
            operation: get "Operation", name: get "Name",
            variables: get "VariableDefinitions", directives: get "Directives",
            selections: get "SelectionSet",
        }
        FragmentDefinition {
            comments: get "Comment", description: get "Description", name: get "Name",
            variables: get "VariableDefinition",
            type_condition: get "TypeCondition", directives: get "Directives",
            selections: get "SelectionSet",
        }
        VariableDefinition {
            comments: get "Comment", description: get "Description", name: get "Variable",
            of: get "Type",
            default: optional "DefaultValue", directives: get "Directives", used: get "Used",
        }
        FieldNode {
            comments: get "Comment", alias: get "Alias", name: get "Name",
            arguments: get "Arguments", directives: get "Directives",
            selections: get "SelectionSet",
        }
        Spread { comments: get "Comment", name: get "Name", directives: get "Directives" }
        Inline {
            comments: get "Comment", type_condition: get "TypeCondition",
            directives: get "Directives", selections: get "SelectionSet",
        }
        ArgumentNode { comments: get "Comment", name: get "Name", value: get "Value" }
        ValueNode {
            comments: get "Comment", kind: get "Kind", raw: get "Raw", children: get "Children",
        }
        DirectiveNode { name: get "Name", arguments: get "Arguments" }
        TypeReference { name: get "NamedType", element: optional "Elem", non_null: get "NonNull" }
        SchemaDocument {
            comments: get "Comment", schema: get "Schema", schema_extensions: get "SchemaExtension",
            directives: get "Directives", directive_extensions: get "DirectiveExtensions",
            definitions: get "Definitions", extensions: get "Extensions",
        }
        RootOperations {
            end: get "EndOfDefinitionComment", description: described "",
            directives: get "Directives", operations: get "OperationTypes",
        }
        RootOperation { comments: get "Comment", operation: get "Operation", of: get "Type" }
        TypeDefinition {
            end: get "EndOfDefinitionComment", kind: get "Kind", description: described "",
            name: get "Name", directives: get "Directives", interfaces: get "Interfaces",
            fields: get "Fields", types: get "Types", values: get "EnumValues",
        }
        FieldDefinition {
            description: described "", name: get "Name", arguments: get "Arguments",
            default: optional "DefaultValue", of: get "Type", directives: get "Directives",
        }
        EnumValue { description: described "", name: get "Name", directives: get "Directives" }
        DirectiveDefinition {
            description: described "", name: get "Name", arguments: get "Arguments",
            directives: get "Directives", locations: get "Locations",
            repeatable: get "IsRepeatable",
        }
    }
}
