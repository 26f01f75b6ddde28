//! The syntax trees of documents. Names and texts are borrowed from the source where they stand there as such.

use std::borrow::Cow;
use std::fmt::{self, Write};

use solon_syntax::stack;

use super::strings::quote;

/// A name or a text.
pub type Text<'a> = Cow<'a, str>;

/// Where something starts in its source, counted from 1; zeros in trees that no source was read for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

impl Position {
    /// Whether there is a source.
    pub fn has_source(self) -> bool {
        self.line > 0
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The comments before a token, each with its sign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comments<'a>(pub Vec<Text<'a>>);

/// A description and the comments around it.
#[derive(Clone, Debug, Default)]
pub struct Description<'a> {
    /// Comments before it.
    pub before: Comments<'a>,
    /// Its text, empty when there is none.
    pub text: Text<'a>,
    /// Comments between it and what it describes.
    pub after: Comments<'a>,
}

/// A document of operations and fragments.
#[derive(Debug, Default)]
pub struct QueryDocument<'a> {
    /// Operations in their order.
    pub operations: Vec<Operation<'a>>,
    /// Fragments in their order.
    pub fragments: Vec<Fragment<'a>>,
}

/// `query Name($v: T) { … }`
#[derive(Debug, Default)]
pub struct Operation<'a> {
    /// Comments before it, and those between its description and it.
    pub comments: Comments<'a>,
    /// Description, empty when there is none.
    pub description: Text<'a>,
    /// `query`, `mutation` or `subscription`.
    pub operation: Text<'a>,
    /// Empty for an anonymous one.
    pub name: Text<'a>,
    /// Declared variables.
    pub variables: Vec<Variable<'a>>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// What is asked for.
    pub selections: Vec<Selection<'a>>,
    /// Where it starts.
    pub position: Position,
}

impl Operation<'_> {
    /// What it is; a syntax tree may leave that out for a query.
    pub fn kind(&self) -> &str {
        match self.operation.as_ref() {
            "" => "query",
            operation => operation,
        }
    }
}

/// `fragment Name on T { … }`
#[derive(Debug, Default)]
pub struct Fragment<'a> {
    /// Comments before it, and those between its description and it.
    pub comments: Comments<'a>,
    /// Description, empty when there is none.
    pub description: Text<'a>,
    /// Name.
    pub name: Text<'a>,
    /// Declared variables, an extension of old.
    pub variables: Vec<Variable<'a>>,
    /// The type it applies to.
    pub type_condition: Text<'a>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// What is asked for.
    pub selections: Vec<Selection<'a>>,
    /// Where it starts.
    pub position: Position,
}

/// `$name: T = default`
#[derive(Debug, Default)]
pub struct Variable<'a> {
    /// Comments before it, and those between its description and it.
    pub comments: Comments<'a>,
    /// Description, empty when there is none.
    pub description: Text<'a>,
    /// Name without the dollar sign.
    pub name: Text<'a>,
    /// Declared type.
    pub of: Type<'a>,
    /// Default.
    pub default: Option<Value<'a>>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// Whether it counts as used without a use, as a syntax tree may say.
    pub used: bool,
    /// Where it starts.
    pub position: Position,
}

/// One entry of a selection set.
#[derive(Debug)]
pub enum Selection<'a> {
    /// `alias: name(…) { … }`
    Field(Field<'a>),
    /// `...Name`
    Spread(Spread<'a>),
    /// `... on T { … }`
    Inline(Inline<'a>),
}

/// A field that is asked for.
#[derive(Debug, Default)]
pub struct Field<'a> {
    /// Comments before it.
    pub comments: Comments<'a>,
    /// The name in the answer, that of the field when none was given.
    pub alias: Text<'a>,
    /// The field.
    pub name: Text<'a>,
    /// Arguments.
    pub arguments: Vec<Argument<'a>>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// What is asked of its value.
    pub selections: Vec<Selection<'a>>,
    /// Where it starts.
    pub position: Position,
}

/// The use of a fragment.
#[derive(Debug, Default)]
pub struct Spread<'a> {
    /// Comments before it.
    pub comments: Comments<'a>,
    /// Name of the fragment.
    pub name: Text<'a>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// Where its name starts.
    pub position: Position,
}

/// A fragment without a name.
#[derive(Debug, Default)]
pub struct Inline<'a> {
    /// Comments before it.
    pub comments: Comments<'a>,
    /// The type it applies to; empty for the type around it.
    pub type_condition: Text<'a>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// What is asked for.
    pub selections: Vec<Selection<'a>>,
    /// Where it starts.
    pub position: Position,
}

/// `name: value`, of a field, of a directive, and of an object; elements of lists have no name.
#[derive(Debug, Default)]
pub struct Argument<'a> {
    /// Comments before it.
    pub comments: Comments<'a>,
    /// Name.
    pub name: Text<'a>,
    /// Value.
    pub value: Value<'a>,
    /// Where it starts.
    pub position: Position,
}

/// What a value is; the numbers are published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ValueKind {
    #[default]
    Variable,
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
    /// All, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Variable,
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

/// A value as it is written.
#[derive(Debug, Default)]
pub struct Value<'a> {
    /// Comments before it.
    pub comments: Comments<'a>,
    /// What it is.
    pub kind: ValueKind,
    /// Its text; of strings the content; nothing for lists and objects.
    pub raw: Text<'a>,
    /// Elements or fields.
    pub children: Vec<Argument<'a>>,
    /// Where it starts.
    pub position: Position,
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let brackets = match self.kind {
            ValueKind::Variable => return write!(f, "${}", self.raw),
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
pub struct Directive<'a> {
    /// Name without the sign.
    pub name: Text<'a>,
    /// Arguments.
    pub arguments: Vec<Argument<'a>>,
    /// Where it starts.
    pub position: Position,
}

/// A reference to a type.
#[derive(Clone, Debug, Default)]
pub struct Type<'a> {
    /// Name; empty for a list.
    pub name: Text<'a>,
    /// What a list holds.
    pub element: Option<Box<Type<'a>>>,
    /// Whether `null` is excluded.
    pub non_null: bool,
    /// Where it starts.
    pub position: Position,
}

impl Type<'_> {
    /// The name at its core, within all lists.
    pub fn named(&self) -> &str {
        let mut of = self;
        while let Some(element) = &of.element {
            of = element;
        }
        &of.name
    }
}

impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.element {
            Some(element) => write!(f, "[{element}]")?,
            None => f.write_str(&self.name)?,
        }
        f.write_str(if self.non_null { "!" } else { "" })
    }
}

/// A document of definitions.
#[derive(Debug, Default)]
pub struct SchemaDocument<'a> {
    /// Comments at its end.
    pub comments: Comments<'a>,
    /// `schema { … }`
    pub schema: Vec<Roots<'a>>,
    /// `extend schema { … }`
    pub schema_extensions: Vec<Roots<'a>>,
    /// `directive @name on …`
    pub directives: Vec<DirectiveDefinition<'a>>,
    /// `extend directive @name @other`, with names and directives only.
    pub directive_extensions: Vec<DirectiveDefinition<'a>>,
    /// Types.
    pub definitions: Vec<Definition<'a>>,
    /// `extend type Name …`
    pub extensions: Vec<Definition<'a>>,
}

/// The root types of a schema.
#[derive(Debug, Default)]
pub struct Roots<'a> {
    /// Description.
    pub description: Description<'a>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// Operations and their types.
    pub operations: Vec<Root<'a>>,
    /// Comments before its end.
    pub end: Comments<'a>,
    /// Where it starts.
    pub position: Position,
}

/// `query: Name`
#[derive(Debug, Default)]
pub struct Root<'a> {
    /// Comments before it.
    pub comments: Comments<'a>,
    /// `query`, `mutation` or `subscription`.
    pub operation: Text<'a>,
    /// Name of its type.
    pub of: Text<'a>,
    /// Where it starts.
    pub position: Position,
}

/// What a definition defines.
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
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Scalar,
        Self::Object,
        Self::Interface,
        Self::Union,
        Self::Enum,
        Self::Input,
    ];

    /// The published name.
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

    /// Whether selections may be made on it.
    pub fn is_composite(self) -> bool {
        matches!(self, Self::Object | Self::Interface | Self::Union)
    }

    /// Whether values of it can be given.
    pub fn is_input(self) -> bool {
        matches!(self, Self::Scalar | Self::Enum | Self::Input)
    }
}

/// A name that stands for a type.
#[derive(Debug, Default)]
pub struct Reference<'a> {
    /// Name.
    pub name: Text<'a>,
    /// Where it starts.
    pub position: Position,
}

/// A type, or more of one.
#[derive(Debug, Default)]
pub struct Definition<'a> {
    /// What it is.
    pub kind: DefinitionKind,
    /// Description.
    pub description: Description<'a>,
    /// Name.
    pub name: Text<'a>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// Implemented interfaces.
    pub interfaces: Vec<Text<'a>>,
    /// Fields.
    pub fields: Vec<FieldDefinition<'a>>,
    /// Members of a union.
    pub types: Vec<Reference<'a>>,
    /// Values of an enumeration.
    pub values: Vec<EnumValue<'a>>,
    /// Comments before its end.
    pub end: Comments<'a>,
    /// Where its name starts.
    pub position: Position,
}

/// A field of a type, or an argument of a field or a directive.
#[derive(Debug, Default)]
pub struct FieldDefinition<'a> {
    /// Description.
    pub description: Description<'a>,
    /// Name.
    pub name: Text<'a>,
    /// Arguments.
    pub arguments: Vec<FieldDefinition<'a>>,
    /// Default of an input field or an argument.
    pub default: Option<Value<'a>>,
    /// Its type.
    pub of: Type<'a>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// Where it starts.
    pub position: Position,
}

/// A value of an enumeration.
#[derive(Debug, Default)]
pub struct EnumValue<'a> {
    /// Description.
    pub description: Description<'a>,
    /// Name.
    pub name: Text<'a>,
    /// Directives.
    pub directives: Vec<Directive<'a>>,
    /// Where it starts.
    pub position: Position,
}

/// `directive @name(…) @other repeatable on …`
#[derive(Debug, Default)]
pub struct DirectiveDefinition<'a> {
    /// Description.
    pub description: Description<'a>,
    /// Name without the sign.
    pub name: Text<'a>,
    /// Arguments.
    pub arguments: Vec<FieldDefinition<'a>>,
    /// Directives of the definition itself.
    pub directives: Vec<Directive<'a>>,
    /// Places where it may stand.
    pub locations: Vec<Text<'a>>,
    /// Whether one place may have it more than once.
    pub repeatable: bool,
    /// Where its name starts.
    pub position: Position,
}
