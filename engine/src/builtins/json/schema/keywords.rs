//! A schema in the form that documents are validated with.

use std::collections::BTreeMap;

use super::format::Format;
use crate::builtins::regex::Regex;
use crate::value::NumberBuf;

/// A compiled schema: its parts, the first of which is the whole.
pub struct Schema {
    pub subschemas: Vec<Subschema>,
    /// About how much memory it takes.
    pub bytes: usize,
}

/// Where a part is in [`Schema::parts`].
pub type SubschemaId = usize;

/// A schema within a schema.
pub enum Subschema {
    /// `true` and `false`.
    Always(bool),
    /// `$ref`
    Reference(SubschemaId),
    /// Everything else.
    Keywords(Box<Keywords>),
}

/// What a schema asks of a document.
#[derive(Default)]
pub struct Keywords {
    pub types: Types,
    pub any_of: Vec<SubschemaId>,
    pub one_of: Vec<SubschemaId>,
    pub all_of: Vec<SubschemaId>,
    pub not: Option<SubschemaId>,
    pub dependencies: BTreeMap<String, Dependency>,
    pub condition: Option<Condition>,
    pub number: Option<NumberKeywords>,
    pub string: Option<StringKeywords>,
    pub array: ArrayKeywords,
    pub object: ObjectKeywords,
    /// `const`, as canonical JSON.
    pub constant: Option<String>,
    /// `enum`, as canonical JSON.
    pub values: Option<Vec<String>>,
    /// `format`; one that is not known asks nothing.
    pub format: Option<(String, Format)>,
}

/// `type`; nothing is asked when it names none.
#[derive(Default)]
pub struct Types(pub Vec<String>);

impl Types {
    pub fn allow(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|of| of == name)
    }

    /// As messages name them.
    pub fn text(&self) -> String {
        match self.0.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(",")),
        }
    }
}

/// One of `dependencies`.
pub enum Dependency {
    /// Other properties.
    Names(Vec<String>),
    /// A schema of the whole object.
    Schema(SubschemaId),
}

/// `if`, `then`, `else`
pub struct Condition {
    pub test: SubschemaId,
    pub then: Option<SubschemaId>,
    pub otherwise: Option<SubschemaId>,
}

/// What is asked of numbers.
#[derive(Default)]
pub struct NumberKeywords {
    pub multiple_of: Option<NumberBuf>,
    pub maximum: Option<NumberBuf>,
    pub exclusive_maximum: Option<NumberBuf>,
    pub minimum: Option<NumberBuf>,
    pub exclusive_minimum: Option<NumberBuf>,
}

/// What is asked of strings.
#[derive(Default)]
pub struct StringKeywords {
    pub min_length: Option<usize>,
    pub max_length: Option<usize>,
    pub pattern: Option<(String, Regex)>,
}

/// What is asked of arrays.
#[derive(Default)]
pub struct ArrayKeywords {
    pub items: Items,
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
    pub unique: bool,
    pub contains: Option<SubschemaId>,
}

/// `items` and `additionalItems`
#[derive(Default)]
pub enum Items {
    #[default]
    Any,
    /// One schema for all.
    Alike(SubschemaId),
    /// One schema for each of the first items.
    Each(Vec<SubschemaId>, Additional),
}

/// What is asked of what nothing else describes.
#[derive(Clone, Copy, Default)]
pub enum Additional {
    #[default]
    Allowed,
    Forbidden,
    Schema(SubschemaId),
}

/// What is asked of objects.
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
