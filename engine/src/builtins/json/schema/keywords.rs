//! Compiled schemas: keywords with references resolved.

use std::collections::BTreeMap;

use super::format::SchemaFormat;
use crate::builtins::regex::Regex;
use crate::value::NumberBuf;

/// A compiled schema and its subschemas. The first one is the schema itself.
pub struct SchemaProgram {
    pub subschemas: Vec<Subschema>,
    /// Approximate memory size in bytes.
    pub bytes: usize,
}

/// Index in [`SchemaProgram::subschemas`].
pub type SubschemaId = usize;

pub enum Subschema {
    Always(bool),
    /// `$ref`
    Reference(SubschemaId),
    Keywords(Box<SchemaKeywords>),
}

#[derive(Default)]
pub struct SchemaKeywords {
    pub types: Types,
    pub any_of: Vec<SubschemaId>,
    pub one_of: Vec<SubschemaId>,
    pub all_of: Vec<SubschemaId>,
    pub not: Option<SubschemaId>,
    pub dependencies: BTreeMap<String, SchemaDependency>,
    pub condition: Option<Condition>,
    pub number: Option<NumberKeywords>,
    pub string: Option<StringKeywords>,
    pub array: ArrayKeywords,
    pub object: ObjectKeywords,
    /// `const`, as canonical JSON.
    pub constant: Option<String>,
    /// `enum`, as canonical JSON.
    pub values: Option<Vec<String>>,
    /// `format`. Unknown formats accept everything.
    pub format: Option<(String, SchemaFormat)>,
}

/// `type`. Accepts all types if it is empty.
#[derive(Default)]
pub struct Types(pub Vec<String>);

impl Types {
    pub fn allow(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|type_name| type_name == name)
    }

    /// Formats the types for messages.
    pub fn text(&self) -> String {
        match self.0.as_slice() {
            [type_name] => type_name.clone(),
            type_names => format!("[{}]", type_names.join(",")),
        }
    }
}

/// A member of `dependencies`.
pub enum SchemaDependency {
    /// Required properties.
    Names(Vec<String>),
    Schema(SubschemaId),
}

/// `if`, `then`, `else`
pub struct Condition {
    pub test: SubschemaId,
    pub then: Option<SubschemaId>,
    pub otherwise: Option<SubschemaId>,
}

#[derive(Default)]
pub struct NumberKeywords {
    pub multiple_of: Option<NumberBuf>,
    pub maximum: Option<NumberBuf>,
    pub exclusive_maximum: Option<NumberBuf>,
    pub minimum: Option<NumberBuf>,
    pub exclusive_minimum: Option<NumberBuf>,
}

#[derive(Default)]
pub struct StringKeywords {
    pub min_length: Option<usize>,
    pub max_length: Option<usize>,
    pub pattern: Option<(String, Regex)>,
}

#[derive(Default)]
pub struct ArrayKeywords {
    pub items: ItemsKeyword,
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
    pub unique: bool,
    pub contains: Option<SubschemaId>,
}

/// `items` and `additionalItems`
#[derive(Default)]
pub enum ItemsKeyword {
    #[default]
    Any,
    /// One schema for all items.
    Alike(SubschemaId),
    /// A schema for each of the first items.
    Each(Vec<SubschemaId>, Additional),
}

/// Schema of additional items or properties.
#[derive(Clone, Copy, Default)]
pub enum Additional {
    #[default]
    Allowed,
    Forbidden,
    Schema(SubschemaId),
}

#[derive(Default)]
pub struct ObjectKeywords {
    pub min_properties: Option<usize>,
    pub max_properties: Option<usize>,
    pub required: Vec<String>,
    pub properties: BTreeMap<String, SubschemaId>,
    pub patterns: Vec<(Regex, SubschemaId)>,
    pub additional: Additional,
    pub names: Option<SubschemaId>,
}
