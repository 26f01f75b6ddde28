//! Encodes syntax trees as values in OPA's format. Empty lists are omitted, empty texts and flags are not.

use solon_syntax::stack;

use super::ast::{
    ArgumentNode, Comments, Description, DirectiveDefinition, DirectiveNode, EnumValue,
    FieldDefinition, FieldNode, FragmentDefinition, Inline, OperationDefinition, QueryDocument,
    Reference, RootOperation, RootOperations, SchemaDocument, Selection, SourceText, Spread,
    TypeDefinition, TypeReference, ValueNode, VariableDefinition,
};
use crate::value::{Arena, NumberBuf, RefRepr, ValueRef};

/// A node that can be encoded as the tree that policies see.
pub trait Encode {
    /// Encodes the node and its children as an object of the arena.
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e>;
}

/// An object under construction.
struct GraphqlNodeBuilder<'e> {
    arena: &'e Arena,
    pairs: Vec<(ValueRef<'e>, ValueRef<'e>)>,
}

impl<'e> GraphqlNodeBuilder<'e> {
    fn new(arena: &'e Arena) -> Self {
        Self {
            arena,
            pairs: Vec::with_capacity(8),
        }
    }

    fn with(mut self, key: &'static str, value: ValueRef<'e>) -> Self {
        self.pairs.push((self.arena.borrowed_text(key), value));
        self
    }

    fn text(self, key: &'static str, text: &str) -> Self {
        let text = self.arena.text(text);
        self.with(key, text)
    }

    fn flag(self, key: &'static str, flag: bool) -> Self {
        self.with(key, ValueRef(RefRepr::Bool(flag)))
    }

    fn node(self, key: &'static str, node: &impl Encode) -> Self {
        let node = stack::level(|| node.encode(self.arena));
        self.with(key, node)
    }

    fn list<T: Encode>(self, key: &'static str, items: &[T]) -> Self {
        if items.is_empty() {
            return self;
        }
        let arena = self.arena;
        let items = items.iter();
        let items = arena.array_from(items.map(|item| stack::level(|| item.encode(arena))));
        self.with(key, items)
    }

    fn comments(self, key: &'static str, comments: &Comments<'_>) -> Self {
        if comments.0.is_empty() {
            return self;
        }
        let arena = self.arena;
        let list = comments.0.iter();
        let list = list.map(|comment| {
            GraphqlNodeBuilder::new(arena)
                .text("Value", comment)
                .finish()
        });
        let group = GraphqlNodeBuilder::new(arena).with("List", arena.array_from(list));
        self.with(key, group.finish())
    }

    fn description(self, description: &Description<'_>) -> Self {
        self.comments("BeforeDescriptionComment", &description.before)
            .text("Description", &description.text)
            .comments("AfterDescriptionComment", &description.after)
    }

    fn finish(self) -> ValueRef<'e> {
        self.arena.object_from(self.pairs)
    }
}

impl Encode for SourceText<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        arena.text(self)
    }
}

impl Encode for Reference<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        self.name.encode(arena)
    }
}

impl Encode for QueryDocument<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .list("Operations", &self.operations)
            .list("Fragments", &self.fragments)
            .finish()
    }
}

impl Encode for OperationDefinition<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("Description", &self.description)
            .text("Operation", &self.operation)
            .text("Name", &self.name)
            .list("VariableDefinitions", &self.variables)
            .list("Directives", &self.directives)
            .list("SelectionSet", &self.selections)
            .comments("Comment", &self.comments)
            .finish()
    }
}

impl Encode for FragmentDefinition<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("Description", &self.description)
            .text("Name", &self.name)
            .list("VariableDefinition", &self.variables)
            .text("TypeCondition", &self.type_condition)
            .list("Directives", &self.directives)
            .list("SelectionSet", &self.selections)
            .comments("Comment", &self.comments)
            .finish()
    }
}

impl Encode for VariableDefinition<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        let mut node = GraphqlNodeBuilder::new(arena)
            .text("Description", &self.description)
            .text("Variable", &self.name)
            .node("Type", &self.of)
            .list("Directives", &self.directives)
            .comments("Comment", &self.comments)
            .flag("Used", self.used);
        if let Some(default) = &self.default {
            node = node.node("DefaultValue", default);
        }
        node.finish()
    }
}

impl Encode for Selection<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        match self {
            Self::Field(field) => field.encode(arena),
            Self::Spread(spread) => spread.encode(arena),
            Self::Inline(inline) => inline.encode(arena),
        }
    }
}

impl Encode for FieldNode<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("Alias", &self.alias)
            .text("Name", &self.name)
            .list("Arguments", &self.arguments)
            .list("Directives", &self.directives)
            .list("SelectionSet", &self.selections)
            .comments("Comment", &self.comments)
            .finish()
    }
}

impl Encode for Spread<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("Name", &self.name)
            .list("Directives", &self.directives)
            .comments("Comment", &self.comments)
            .finish()
    }
}

impl Encode for Inline<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("TypeCondition", &self.type_condition)
            .list("Directives", &self.directives)
            .list("SelectionSet", &self.selections)
            .comments("Comment", &self.comments)
            .finish()
    }
}

impl Encode for ArgumentNode<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("Name", &self.name)
            .node("Value", &self.value)
            .comments("Comment", &self.comments)
            .finish()
    }
}

impl Encode for ValueNode<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        let kind = arena.number(NumberBuf::Int(self.kind as i64));
        GraphqlNodeBuilder::new(arena)
            .comments("Comment", &self.comments)
            .with("Kind", kind)
            .text("Raw", &self.raw)
            .list("Children", &self.children)
            .flag("ExpectedTypeHasDefault", false)
            .finish()
    }
}

impl Encode for DirectiveNode<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("Name", &self.name)
            .list("Arguments", &self.arguments)
            .text("Location", "")
            .finish()
    }
}

impl Encode for TypeReference<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        let mut node = GraphqlNodeBuilder::new(arena)
            .text("NamedType", &self.name)
            .flag("NonNull", self.non_null);
        if let Some(element) = &self.element {
            node = node.node("Elem", element.as_ref());
        }
        node.finish()
    }
}

impl Encode for SchemaDocument<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .comments("Comment", &self.comments)
            .list("Schema", &self.schema)
            .list("SchemaExtension", &self.schema_extensions)
            .list("Directives", &self.directives)
            .list("DirectiveExtensions", &self.directive_extensions)
            .list("Definitions", &self.definitions)
            .list("Extensions", &self.extensions)
            .finish()
    }
}

impl Encode for RootOperations<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .description(&self.description)
            .list("Directives", &self.directives)
            .list("OperationTypes", &self.operations)
            .comments("EndOfDefinitionComment", &self.end)
            .finish()
    }
}

impl Encode for RootOperation<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("Operation", &self.operation)
            .text("Type", &self.of)
            .comments("Comment", &self.comments)
            .finish()
    }
}

impl Encode for TypeDefinition<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .text("Kind", self.kind.as_str())
            .description(&self.description)
            .text("Name", &self.name)
            .list("Directives", &self.directives)
            .list("Interfaces", &self.interfaces)
            .list("Fields", &self.fields)
            .list("Types", &self.types)
            .list("EnumValues", &self.values)
            .flag("BuiltIn", false)
            .comments("EndOfDefinitionComment", &self.end)
            .finish()
    }
}

impl Encode for FieldDefinition<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        let mut node = GraphqlNodeBuilder::new(arena)
            .description(&self.description)
            .text("Name", &self.name)
            .list("Arguments", &self.arguments)
            .node("Type", &self.of)
            .list("Directives", &self.directives);
        if let Some(default) = &self.default {
            node = node.node("DefaultValue", default);
        }
        node.finish()
    }
}

impl Encode for EnumValue<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .description(&self.description)
            .text("Name", &self.name)
            .list("Directives", &self.directives)
            .finish()
    }
}

impl Encode for DirectiveDefinition<'_> {
    fn encode<'e>(&self, arena: &'e Arena) -> ValueRef<'e> {
        GraphqlNodeBuilder::new(arena)
            .description(&self.description)
            .text("Name", &self.name)
            .list("Arguments", &self.arguments)
            .list("Directives", &self.directives)
            .list("Locations", &self.locations)
            .flag("IsRepeatable", self.repeatable)
            .finish()
    }
}
