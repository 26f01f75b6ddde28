//! Syntax trees of documents. Names and texts are borrowed from the source where possible.

use std::borrow::Cow;
use std::fmt::{self, Write};

use solon_syntax::stack;

use super::strings::quote;

/// A name or a text, borrowed from the source where it has no escapes.
pub type SourceText<'a> = Cow<'a, str>;

/// Position in a source, counted from 1. Zeros in trees without a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourcePosition {
    /// Line, from 1. 0 without a source.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl SourcePosition {
    /// Returns `true` if there is a source. Definitions of the language itself have none.
    pub fn has_source(self) -> bool {
        self.line > 0
    }
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Comments before a token, including their `#`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comments<'a>(pub Vec<SourceText<'a>>);

/// A description and the comments around it. Its text is empty if there is none.
#[derive(Clone, Debug, Default)]
pub struct Description<'a> {
    /// Comments between the previous token and the item.
    pub before: Comments<'a>,
    /// Text. Empty if there is none.
    pub text: SourceText<'a>,
    /// Comments between the description and the item.
    pub after: Comments<'a>,
}

/// A query document: operations and fragments.
#[derive(Debug, Default)]
pub struct QueryDocument<'a> {
    /// Operations in source order.
    pub operations: Vec<OperationDefinition<'a>>,
    /// Fragments in source order.
    pub fragments: Vec<FragmentDefinition<'a>>,
}

/// `query Name($v: T) { … }`
#[derive(Debug, Default)]
pub struct OperationDefinition<'a> {
    /// Comments before the operation, and those between its description and the operation.
    pub comments: Comments<'a>,
    /// Description. Empty if there is none.
    pub description: SourceText<'a>,
    /// `query`, `mutation` or `subscription`.
    pub operation: SourceText<'a>,
    /// Name. Empty for anonymous operations.
    pub name: SourceText<'a>,
    /// Declared variables, in the order of the source.
    pub variables: Vec<VariableDefinition<'a>>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Selections, in the order of the source.
    pub selections: Vec<Selection<'a>>,
    /// Position of the operation.
    pub position: SourcePosition,
}

impl OperationDefinition<'_> {
    /// Returns the kind of the operation. A syntax tree may omit it for a query.
    pub fn kind(&self) -> &str {
        match self.operation.as_ref() {
            "" => "query",
            operation => operation,
        }
    }
}

/// `fragment Name on T { … }`
#[derive(Debug, Default)]
pub struct FragmentDefinition<'a> {
    /// Comments before the fragment, and those between its description and the fragment.
    pub comments: Comments<'a>,
    /// Description. Empty if there is none.
    pub description: SourceText<'a>,
    /// Name, as in the source.
    pub name: SourceText<'a>,
    /// Declared variables, an obsolete extension.
    pub variables: Vec<VariableDefinition<'a>>,
    /// Type that it applies to.
    pub type_condition: SourceText<'a>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Selections, in the order of the source.
    pub selections: Vec<Selection<'a>>,
    /// Position of the fragment.
    pub position: SourcePosition,
}

/// `$name: T = default`
#[derive(Debug, Default)]
pub struct VariableDefinition<'a> {
    /// Comments before the variable, and those between its description and the variable.
    pub comments: Comments<'a>,
    /// Description. Empty if there is none.
    pub description: SourceText<'a>,
    /// Name without the dollar sign.
    pub name: SourceText<'a>,
    /// Declared type, not resolved.
    pub of: TypeReference<'a>,
    /// Default. `None` if the variable has none.
    pub default: Option<ValueNode<'a>>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// `true` if a syntax tree marks it as used.
    pub used: bool,
    /// Position of the variable.
    pub position: SourcePosition,
}

/// An element of a selection set.
#[derive(Debug)]
pub enum Selection<'a> {
    /// `alias: name(…) { … }`
    Field(FieldNode<'a>),
    /// `...Name`
    Spread(Spread<'a>),
    /// `... on T { … }`
    Inline(Inline<'a>),
}

/// A selected field: alias, arguments, selections.
#[derive(Debug, Default)]
pub struct FieldNode<'a> {
    /// Comments between the previous token and the item.
    pub comments: Comments<'a>,
    /// Name in the response: the alias or else the name.
    pub alias: SourceText<'a>,
    /// Name, as in the source.
    pub name: SourceText<'a>,
    /// Arguments, in the order of the source.
    pub arguments: Vec<ArgumentNode<'a>>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Selections of its value.
    pub selections: Vec<Selection<'a>>,
    /// Position of the field.
    pub position: SourcePosition,
}

/// A fragment spread, `...Name`.
#[derive(Debug, Default)]
pub struct Spread<'a> {
    /// Comments between the previous token and the item.
    pub comments: Comments<'a>,
    /// Name of the fragment.
    pub name: SourceText<'a>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Position of the name.
    pub position: SourcePosition,
}

/// An inline fragment, `... on T { … }`.
#[derive(Debug, Default)]
pub struct Inline<'a> {
    /// Comments between the previous token and the item.
    pub comments: Comments<'a>,
    /// Type that it applies to. Empty for the enclosing type.
    pub type_condition: SourceText<'a>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Selections, in the order of the source.
    pub selections: Vec<Selection<'a>>,
    /// Position of the fragment.
    pub position: SourcePosition,
}

/// `name: value` of a field, a directive or an object. Elements of lists have no name.
#[derive(Debug, Default)]
pub struct ArgumentNode<'a> {
    /// Comments between the previous token and the item.
    pub comments: Comments<'a>,
    /// Name, as in the source.
    pub name: SourceText<'a>,
    /// Value, not evaluated.
    pub value: ValueNode<'a>,
    /// Position of the argument.
    pub position: SourcePosition,
}

/// Kind of a value. OPA's syntax trees contain the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ValueKind {
    #[default]
    VariableDefinition,
    Int,
    Float,
    String,
    Block,
    Boolean,
    Null,
    Enum,
    List,
    Object,
}

impl ValueKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::VariableDefinition,
        Self::Int,
        Self::Float,
        Self::String,
        Self::Block,
        Self::Boolean,
        Self::Null,
        Self::Enum,
        Self::List,
        Self::Object,
    ];
}

/// A value, not evaluated.
#[derive(Debug, Default)]
pub struct ValueNode<'a> {
    /// Comments between the previous token and the item.
    pub comments: Comments<'a>,
    /// Kind, which decides what the other members contain.
    pub kind: ValueKind,
    /// Source text. For strings the content. Empty for lists and objects.
    pub raw: SourceText<'a>,
    /// Elements or fields.
    pub children: Vec<ArgumentNode<'a>>,
    /// Position of the value.
    pub position: SourcePosition,
}

impl fmt::Display for ValueNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brackets = match self.kind {
            ValueKind::VariableDefinition => return write!(f, "${}", self.raw),
            ValueKind::String | ValueKind::Block => return quote(&self.raw, f),
            ValueKind::List => ['[', ']'],
            ValueKind::Object => ['{', '}'],
            _ => return f.write_str(&self.raw),
        };
        f.write_char(brackets[0])?;
        for (index, child) in self.children.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            if self.kind == ValueKind::Object {
                write!(f, "{}:", child.name)?;
            }
            stack::level(|| child.value.fmt(f))?;
        }
        f.write_char(brackets[1])
    }
}

/// `@name(…)`
#[derive(Debug, Default)]
pub struct DirectiveNode<'a> {
    /// Name without the `@`.
    pub name: SourceText<'a>,
    /// Arguments, in the order of the source.
    pub arguments: Vec<ArgumentNode<'a>>,
    /// Position of the directive.
    pub position: SourcePosition,
}

/// A reference to a type by name, or a list of such.
#[derive(Clone, Debug, Default)]
pub struct TypeReference<'a> {
    /// Name. Empty for lists.
    pub name: SourceText<'a>,
    /// Element type of a list. `None` for a named type.
    pub element: Option<Box<TypeReference<'a>>>,
    /// `true` if `null` is excluded.
    pub non_null: bool,
    /// Position of the type.
    pub position: SourcePosition,
}

impl TypeReference<'_> {
    /// Returns the name of the innermost type: `T` for `[[T!]]`.
    pub fn named(&self) -> &str {
        let mut ty = self;
        while let Some(element) = &ty.element {
            ty = element;
        }
        &ty.name
    }
}

impl fmt::Display for TypeReference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.element {
            Some(element) => write!(f, "[{element}]")?,
            None => f.write_str(&self.name)?,
        }
        f.write_str(if self.non_null { "!" } else { "" })
    }
}

/// A schema document: definitions and extensions of types and directives.
#[derive(Debug, Default)]
pub struct SchemaDocument<'a> {
    /// Comments at the end.
    pub comments: Comments<'a>,
    /// `schema { … }`
    pub schema: Vec<RootOperations<'a>>,
    /// `extend schema { … }`
    pub schema_extensions: Vec<RootOperations<'a>>,
    /// `directive @name on …`
    pub directives: Vec<DirectiveDefinition<'a>>,
    /// `extend directive @name @other`, with names and directives only.
    pub directive_extensions: Vec<DirectiveDefinition<'a>>,
    /// Type definitions, in the order of the source.
    pub definitions: Vec<TypeDefinition<'a>>,
    /// `extend type Name …`
    pub extensions: Vec<TypeDefinition<'a>>,
}

/// The root types of a schema.
#[derive(Debug, Default)]
pub struct RootOperations<'a> {
    /// Description; empty without one.
    pub description: Description<'a>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Operations and their types, in the order of the source.
    pub operations: Vec<RootOperation<'a>>,
    /// Comments before the closing brace.
    pub end: Comments<'a>,
    /// Position of the definition.
    pub position: SourcePosition,
}

/// `query: Name`
#[derive(Debug, Default)]
pub struct RootOperation<'a> {
    /// Comments between the previous token and the item.
    pub comments: Comments<'a>,
    /// `query`, `mutation` or `subscription`.
    pub operation: SourceText<'a>,
    /// Name of the type.
    pub of: SourceText<'a>,
    /// Position of the operation.
    pub position: SourcePosition,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum DefinitionKind {
    #[default]
    Scalar,
    Object,
    Interface,
    Union,
    Enum,
    Input,
}

impl DefinitionKind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 6] = [
        Self::Scalar,
        Self::Object,
        Self::Interface,
        Self::Union,
        Self::Enum,
        Self::Input,
    ];

    /// Returns the name in OPA's syntax trees.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scalar => "SCALAR",
            Self::Object => "OBJECT",
            Self::Interface => "INTERFACE",
            Self::Union => "UNION",
            Self::Enum => "ENUM",
            Self::Input => "INPUT_OBJECT",
        }
    }

    /// Returns `true` for types with selections.
    pub fn is_composite(self) -> bool {
        matches!(self, Self::Object | Self::Interface | Self::Union)
    }

    /// Returns `true` for types of input values.
    pub fn is_input(self) -> bool {
        matches!(self, Self::Scalar | Self::Enum | Self::Input)
    }
}

/// A name that refers to a type.
#[derive(Debug, Default)]
pub struct Reference<'a> {
    /// Name, as in the source.
    pub name: SourceText<'a>,
    /// Position of the name.
    pub position: SourcePosition,
}

/// A type definition or extension, of any kind.
#[derive(Debug, Default)]
pub struct TypeDefinition<'a> {
    /// Kind, which decides what the other members contain.
    pub kind: DefinitionKind,
    /// Description. Its text is empty if there is none.
    pub description: Description<'a>,
    /// Name, as in the source.
    pub name: SourceText<'a>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Names of the interfaces that it declares to implement.
    pub interfaces: Vec<SourceText<'a>>,
    /// Fields, in the order of the source.
    pub fields: Vec<FieldDefinition<'a>>,
    /// Members of a union. Empty for other types.
    pub types: Vec<Reference<'a>>,
    /// Values of an enum.
    pub values: Vec<EnumValue<'a>>,
    /// Comments before the closing brace.
    pub end: Comments<'a>,
    /// Position of the name.
    pub position: SourcePosition,
}

/// A field of a type, or an argument of a field or a directive.
#[derive(Debug, Default)]
pub struct FieldDefinition<'a> {
    /// Description. Its text is empty if there is none.
    pub description: Description<'a>,
    /// Name, as in the source.
    pub name: SourceText<'a>,
    /// Arguments, in the order of the source.
    pub arguments: Vec<FieldDefinition<'a>>,
    /// Default of an input field or an argument.
    pub default: Option<ValueNode<'a>>,
    /// Type, not resolved.
    pub of: TypeReference<'a>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Position of the field.
    pub position: SourcePosition,
}

/// A value of an enum.
#[derive(Debug, Default)]
pub struct EnumValue<'a> {
    /// Description. Its text is empty if there is none.
    pub description: Description<'a>,
    /// Name, as in the source.
    pub name: SourceText<'a>,
    /// Directives, in the order of the source.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Position of the value.
    pub position: SourcePosition,
}

/// `directive @name(…) @other repeatable on …`
#[derive(Debug, Default)]
pub struct DirectiveDefinition<'a> {
    /// Description. Its text is empty if there is none.
    pub description: Description<'a>,
    /// Name without the `@`.
    pub name: SourceText<'a>,
    /// Arguments, in the order of the source.
    pub arguments: Vec<FieldDefinition<'a>>,
    /// Directives of the definition itself.
    pub directives: Vec<DirectiveNode<'a>>,
    /// Locations where it is allowed.
    pub locations: Vec<SourceText<'a>>,
    /// `true` if it may be repeated at one location.
    pub repeatable: bool,
    /// Position of the name.
    pub position: SourcePosition,
}
