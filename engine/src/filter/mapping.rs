//! Names of tables and columns in the database, if they differ from those in the policy.

use std::collections::BTreeMap;
use std::fmt;

use super::condition::ColumnName;
use super::target::FilterTarget;
use crate::value::{Kind, RefRepr, Value, ValueRef};

/// Names of tables and columns for one target.
#[derive(Clone, Debug, Default)]
pub struct Mappings(BTreeMap<String, TableMapping>);

#[derive(Clone, Debug, Default)]
struct TableMapping {
    name: Option<String>,
    /// Table that replaces this unknown.
    other: Option<String>,
    columns: BTreeMap<String, String>,
    declarations: BTreeMap<String, ColumnDeclaration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDeclaration {
    pub kind: ColumnKind,
    /// `true` if it may be NULL, so that negations must exclude NULL.
    pub nullable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Boolean,
    Integer,
    /// Exact numbers.
    Decimal,
    /// Strings.
    Text,
}

impl ColumnKind {
    /// Returns the kind of columns that hold a scalar.
    pub fn of_value(value: &Value) -> Self {
        match value.borrow().kind() {
            Kind::Boolean | Kind::Null => Self::Boolean,
            Kind::Number => Self::Decimal,
            _ => Self::Text,
        }
    }

    /// Rank of the kind in the order of all values. Integers and decimals compare with each other.
    pub fn rank(self) -> u8 {
        match self {
            Self::Boolean => 0,
            Self::Integer | Self::Decimal => 1,
            Self::Text => 2,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "decimal" => Self::Decimal,
            "text" => Self::Text,
            _ => return None,
        })
    }
}

/// A column as named by the database. A name from a mapping may have several segments separated by dots.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mapped {
    /// Segments of the name, the table's first.
    pub segments: Vec<String>,
}

/// A mapping with an invalid structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingError(String);

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mappings: invalid mappings{}", self.0)
    }
}

impl std::error::Error for MappingError {}

impl Mappings {
    /// Returns the names that mappings specify for a target: those under its dialect, else those under its language,
    /// else those for all targets.
    ///
    /// # Errors
    ///
    /// Entries that are not objects, and names that are not strings.
    pub fn for_target(all: &Value, target: FilterTarget) -> Result<Self, MappingError> {
        let tables = all.borrow();
        if tables.as_object().is_none() {
            return Err(MappingError(format!(
                ": expected object, got {}",
                kind_of(tables)
            )));
        }
        let mapping_of = |key: &str, level: &str| {
            let entry = all.get(key)?;
            Some(match entry.as_object() {
                Some(_) => Ok(entry),
                None => Err(MappingError(format!(" for {level} {key}"))),
            })
        };
        let mapping = mapping_of(target.dialect(), "dialect")
            .or_else(|| mapping_of(target.language(), "target"));
        Self::read(mapping.unwrap_or(Ok(all))?)
    }

    fn read(tables: &Value) -> Result<Self, MappingError> {
        let mut mappings = BTreeMap::new();
        for (key, entry) in tables
            .borrow()
            .as_object()
            .into_iter()
            .flat_map(|all| all.iter())
        {
            let (Some(key), Some(entries)) = (key.utf8(), entry.as_object()) else {
                continue;
            };
            let mut table = TableMapping::default();
            for (name, value) in entries.iter() {
                let Some(name) = name.utf8() else { continue };
                let Some(text) = value.utf8() else {
                    // an entry without a kind is a table of another target, one level deeper
                    if value.as_object().is_some() && !name.starts_with('$') {
                        table.declare(key, name, value)?;
                        continue;
                    }
                    let kind = kind_of(value);
                    return Err(MappingError(format!(
                        ": {key}.{name}: expected string, got {kind}"
                    )));
                };
                if !is_name(text) {
                    return Err(MappingError(format!(": {key}.{name}: empty name")));
                }
                match name {
                    "$self" => table.name = Some(text.to_owned()),
                    "$table" => table.other = Some(text.to_owned()),
                    _ => {
                        table.columns.insert(name.to_owned(), text.to_owned());
                    }
                }
            }
            mappings.insert(key.to_owned(), table);
        }
        Ok(Self(mappings))
    }

    /// Returns the columns that policies may name without tables: those for which an entry of some target specifies a
    /// table.
    pub fn shorts(all: &Value) -> Vec<String> {
        let targets = all.borrow().as_object();
        let entries = targets.into_iter().flat_map(|targets| targets.iter());
        let entries = entries.filter_map(|(_, entry)| entry.as_object());
        let shorts = entries.flat_map(|entry| entry.iter()).filter(|(_, entry)| {
            let mut fields = entry
                .as_object()
                .into_iter()
                .flat_map(|fields| fields.iter());
            fields.any(|(key, table)| key.utf8() == Some("$table") && table.utf8().is_some())
        });
        shorts
            .filter_map(|(name, _)| name.utf8().map(str::to_owned))
            .collect()
    }

    /// Returns the paths below tables that some target maps to columns, `/owner/name` in a table's entry.
    pub fn paths(all: &Value) -> Vec<(String, String)> {
        let mut paths = Vec::new();
        let mut collect = |tables: ValueRef<'_>| {
            let tables = tables
                .as_object()
                .into_iter()
                .flat_map(|tables| tables.iter());
            for (table, entry) in tables {
                let entry = entry.as_object().into_iter().flat_map(|entry| entry.iter());
                paths.extend(entry.filter_map(|(steps, _)| {
                    let steps = steps.utf8().filter(|steps| steps.starts_with('/'))?;
                    Some((table.utf8()?.to_owned(), steps.to_owned()))
                }));
            }
        };
        collect(all.borrow());
        let targets = all.borrow().as_object();
        for (_, tables) in targets.into_iter().flat_map(|targets| targets.iter()) {
            collect(tables);
        }
        paths
    }

    /// Returns the database name of a column, by the mapping of its table if there is one.
    pub fn name(&self, column: &ColumnName) -> Mapped {
        let mapping = self.column_mapping(column);
        let Some(table) = mapping.table else {
            return Mapped {
                segments: vec![mapping.column.to_owned()],
            };
        };
        let split = |name: &str| name.split('.').map(str::to_owned).collect::<Vec<String>>();
        let mut parts = match mapping.entry.and_then(|entry| entry.name.as_deref()) {
            Some(other) => split(other),
            None if mapping.redirected => split(table),
            None => vec![table.to_owned()],
        };
        match mapping
            .entry
            .and_then(|entry| entry.columns.get(mapping.column))
        {
            Some(other) => parts.extend(split(other)),
            None => parts.push(mapping.column.to_owned()),
        }
        Mapped { segments: parts }
    }

    /// Returns `true` if the mapping renames a column, not only its table.
    pub fn names(&self, column: &ColumnName) -> bool {
        let mapping = self.column_mapping(column);
        let entry = mapping.entry;
        entry.is_some_and(|entry| entry.columns.contains_key(mapping.column))
    }

    /// Returns the declaration of a column, or `None` if the mapping has none.
    pub fn declaration(&self, column: &ColumnName) -> Option<ColumnDeclaration> {
        let mapping = self.column_mapping(column);
        mapping.entry?.declarations.get(mapping.column).copied()
    }

    /// Returns the entry in which the names of a column are looked up.
    fn column_mapping<'m>(&'m self, column: &'m ColumnName) -> ColumnMapping<'m> {
        let table_name = column.table.as_deref();
        let key = table_name.unwrap_or(&column.name);
        let other = self.0.get(key).and_then(|table| table.other.as_deref());
        let table = other.or(table_name);
        ColumnMapping {
            table,
            entry: table.and_then(|table| self.0.get(table)),
            // for a short name, the table entry has the name of the column
            column: if other.is_some() { key } else { &column.name },
            redirected: other.is_some(),
        }
    }
}

/// A column's table and name, with only `$table` applied.
struct ColumnMapping<'m> {
    table: Option<&'m str>,
    entry: Option<&'m TableMapping>,
    column: &'m str,
    redirected: bool,
}

impl TableMapping {
    /// Reads the name and the declaration of a column.
    fn declare(
        &mut self,
        table: &str,
        column: &str,
        entry: ValueRef<'_>,
    ) -> Result<(), MappingError> {
        let field = |name: &str| {
            let mut fields = entry
                .as_object()
                .into_iter()
                .flat_map(|fields| fields.iter());
            fields
                .find(|(key, _)| key.utf8() == Some(name))
                .map(|(_, value)| value)
        };
        let Some(kind) = field("kind") else {
            return Ok(());
        };
        let wrong = |name: &str, expected: &str| {
            MappingError(format!(": {table}.{column}.{name}: expected {expected}"))
        };
        let kind = kind
            .utf8()
            .and_then(ColumnKind::from_name)
            .ok_or_else(|| wrong("kind", "`text`, `integer`, `decimal` or `boolean`"))?;
        let Some(ValueRef(RefRepr::Bool(nullable))) = field("nullable") else {
            return Err(wrong("nullable", "true or false"));
        };
        if kind == ColumnKind::Text
            && field("collation")
                .and_then(|text| text.utf8().map(str::len))
                .is_none()
        {
            return Err(wrong("collation", "the name of a collation"));
        }
        if let Some(name) = field("$self") {
            let name = name.utf8().filter(|name| is_name(name));
            let name = name.ok_or_else(|| wrong("$self", "a name"))?;
            self.columns.insert(column.to_owned(), name.to_owned());
        }
        self.declarations
            .insert(column.to_owned(), ColumnDeclaration { kind, nullable });
        Ok(())
    }
}

/// Returns `true` if a string is a name, or several names separated by dots.
fn is_name(text: &str) -> bool {
    !text.contains('\0') && !text.split('.').any(str::is_empty)
}

/// Returns the JSON name of a value's kind.
fn kind_of(value: ValueRef<'_>) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::Boolean => "boolean",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array | Kind::Set => "array",
        Kind::Object => "object",
    }
}
