//! Validation errors with OPA's messages.

use std::fmt::{self, Write};

use super::keywords::Types;
use crate::value::{Number, ValueRef};

/// Name of the root in messages.
pub const ROOT: &str = "(Root)";

pub struct SchemaViolation<'s> {
    pub kind: ProblemKind<'s>,
    /// Location: names and indexes, separated by dots.
    pub field: String,
}

pub enum ProblemKind<'s> {
    False,
    Required(&'s str),
    Type(&'s Types, &'static str),
    AnyOf,
    OneOf,
    AllOf,
    Not,
    Dependency(&'s str),
    Const(&'s str),
    Enum(&'s [String]),
    AdditionalItems,
    MinItems(usize),
    MaxItems(usize),
    Unique(usize, usize),
    Contains,
    MinProperties(usize),
    MaxProperties(usize),
    AdditionalProperty(String),
    PropertyName(String),
    MinLength(usize),
    MaxLength(usize),
    Pattern(&'s str),
    MultipleOf(Number<'s>),
    Minimum(Number<'s>),
    ExclusiveMinimum(Number<'s>),
    Maximum(Number<'s>),
    ExclusiveMaximum(Number<'s>),
    Then,
    Else,
    Format(&'s str),
}

impl ProblemKind<'_> {
    /// Returns OPA's name of the kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::False => "false",
            Self::Required(_) => "required",
            Self::Type(..) => "invalid_type",
            Self::AnyOf => "number_any_of",
            Self::OneOf => "number_one_of",
            Self::AllOf => "number_all_of",
            Self::Not => "number_not",
            Self::Dependency(_) => "missing_dependency",
            Self::Const(_) => "const",
            Self::Enum(_) => "enum",
            Self::AdditionalItems => "array_no_additional_items",
            Self::MinItems(_) => "array_min_items",
            Self::MaxItems(_) => "array_max_items",
            Self::Unique(..) => "unique",
            Self::Contains => "contains",
            Self::MinProperties(_) => "array_min_properties",
            Self::MaxProperties(_) => "array_max_properties",
            Self::AdditionalProperty(_) => "additional_property_not_allowed",
            Self::PropertyName(_) => "invalid_property_name",
            Self::MinLength(_) => "string_gte",
            Self::MaxLength(_) => "string_lte",
            Self::Pattern(_) => "pattern",
            Self::MultipleOf(_) => "multiple_of",
            Self::Minimum(_) => "number_gte",
            Self::ExclusiveMinimum(_) => "number_gt",
            Self::Maximum(_) => "number_lte",
            Self::ExclusiveMaximum(_) => "number_lt",
            Self::Then => "condition_then",
            Self::Else => "condition_else",
            Self::Format(_) => "format",
        }
    }

    fn describe(&self, field: &str, out: &mut String) -> fmt::Result {
        match self {
            Self::False => out.write_str("False always fails validation"),
            Self::Required(name) => write!(out, "{name} is required"),
            Self::Type(expected, actual) => write!(
                out,
                "Invalid type. Expected: {}, given: {actual}",
                expected.text()
            ),
            Self::AnyOf => out.write_str("Must validate at least one schema (anyOf)"),
            Self::OneOf => out.write_str("Must validate one and only one schema (oneOf)"),
            Self::AllOf => out.write_str("Must validate all the schemas (allOf)"),
            Self::Not => out.write_str("Must not validate the schema (not)"),
            Self::Dependency(name) => write!(out, "Has a dependency on {name}"),
            Self::Const(allowed) => write!(out, "{field} does not match: {allowed}"),
            Self::Enum(allowed) => write!(
                out,
                "{field} must be one of the following: {}",
                allowed.join(", ")
            ),
            Self::AdditionalItems => out.write_str("No additional items allowed on array"),
            Self::MinItems(min) => write!(out, "Array must have at least {min} items"),
            Self::MaxItems(max) => write!(out, "Array must have at most {max} items"),
            Self::Unique(first, second) => {
                write!(out, "array items[{first},{second}] must be unique")
            }
            Self::Contains => out.write_str("At least one of the items must match"),
            Self::MinProperties(min) => write!(out, "Must have at least {min} properties"),
            Self::MaxProperties(max) => write!(out, "Must have at most {max} properties"),
            Self::AdditionalProperty(name) => {
                write!(out, "Additional property {name} is not allowed")
            }
            Self::PropertyName(name) => {
                write!(out, "Property name of \"{name}\" does not match")
            }
            Self::MinLength(min) => {
                write!(out, "String length must be greater than or equal to {min}")
            }
            Self::MaxLength(max) => {
                write!(out, "String length must be less than or equal to {max}")
            }
            Self::Pattern(pattern) => write!(out, "Does not match pattern '{pattern}'"),
            Self::MultipleOf(factor) => {
                write!(out, "Must be a multiple of {}", factor.general())
            }
            Self::Minimum(limit) => {
                write!(out, "Must be greater than or equal to {}", limit.general())
            }
            Self::ExclusiveMinimum(limit) => {
                write!(out, "Must be greater than {}", limit.general())
            }
            Self::Maximum(limit) => {
                write!(out, "Must be less than or equal to {}", limit.general())
            }
            Self::ExclusiveMaximum(limit) => {
                write!(out, "Must be less than {}", limit.general())
            }
            Self::Then => out.write_str("Must validate \"then\" as \"if\" was valid"),
            Self::Else => out.write_str("Must validate \"else\" as \"if\" was not valid"),
            Self::Format(name) => write!(out, "Does not match format '{name}'"),
        }
    }
}

impl SchemaViolation<'_> {
    /// Returns the message, without the location.
    pub fn description(&self) -> String {
        let mut text = String::new();
        // writing to a string does not fail
        let _ = self.kind.describe(&self.field, &mut text);
        text
    }
}

/// Path from a value in a document to the root.
#[derive(Clone, Copy)]
pub enum InstancePath<'p, 'e> {
    Root,
    Property(&'p InstancePath<'p, 'e>, ValueRef<'e>),
    Item(&'p InstancePath<'p, 'e>, usize),
}

impl InstancePath<'_, '_> {
    /// Formats the path for messages.
    pub fn field(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        if text.is_empty() && matches!(self, Self::Root) {
            return ROOT.to_owned();
        }
        text
    }

    fn write(&self, text: &mut String) {
        let outer = match self {
            Self::Root => return,
            Self::Property(outer, _) | Self::Item(outer, _) => *outer,
        };
        outer.write(text);
        if !matches!(outer, Self::Root) {
            text.push('.');
        }
        match self {
            Self::Root => {}
            Self::Property(_, name) => text.push_str(&name.text_or_empty().to_str()),
            Self::Item(_, position) => text.push_str(itoa::Buffer::new().format(*position)),
        }
    }
}
