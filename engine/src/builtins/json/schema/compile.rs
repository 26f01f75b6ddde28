//! Compiles the document of a schema, which has been validated.

use std::collections::HashMap;

use solon_syntax::stack;

use super::format::SchemaFormat;
use super::keywords::{
    Additional, ArrayKeywords, Condition, ItemsKeyword, NumberKeywords, ObjectKeywords,
    SchemaDependency, SchemaKeywords, SchemaProgram, StringKeywords, Subschema, SubschemaId, Types,
};
use crate::builtins::patterns::CompiledPattern;
use crate::builtins::regex::{Regex, is_pattern};
use crate::index::Indexed as _;
use crate::types::schema::document::{Document, string_keyed};
use crate::types::schema::reference::SchemaReferences;
use crate::types::schema::validity::{self, Draft, canonical};
use crate::value::{NumberBuf, Object, Repr, Value};

/// Memory of a compiled schema for each byte of its text.
const GROWTH: usize = 16;

/// Compiles a schema. The error is the message.
pub fn compile(document: &Value, length: usize) -> Result<SchemaProgram, String> {
    let references = SchemaReferences::new(document)?;
    let draft = validity::check(document, &references, &is_pattern)?;
    let mut compiler = Compiler {
        references: &references,
        draft,
        subschemas: Vec::new(),
        by_reference: HashMap::new(),
        pattern_bytes: 0,
    };
    compiler.part(document)?;
    Ok(SchemaProgram {
        bytes: length * GROWTH + compiler.pattern_bytes,
        subschemas: compiler.subschemas,
    })
}

struct Compiler<'c, 'a> {
    references: &'c SchemaReferences<'a>,
    draft: Draft,
    subschemas: Vec<Subschema>,
    /// Subschemas by the full text of references to them.
    by_reference: HashMap<String, SubschemaId>,
    pattern_bytes: usize,
}

impl Compiler<'_, '_> {
    fn part(&mut self, schema: &Value) -> Result<SubschemaId, String> {
        let id = self.subschemas.len();
        self.subschemas.push(Subschema::Always(true));
        stack::level(|| self.fill(id, schema))?;
        Ok(id)
    }

    /// Compiles a subschema into a reserved slot, so that it may reference itself.
    fn fill(&mut self, id: SubschemaId, schema: &Value) -> Result<(), String> {
        let part = match schema {
            Value(Repr::Bool(passes)) => Subschema::Always(*passes),
            _ => match schema.as_members() {
                Some(members) if members.get_str("$ref").is_some() => {
                    Subschema::Reference(self.reference(schema)?)
                }
                Some(members) => Subschema::Keywords(Box::new(self.keywords(members)?)),
                None => Subschema::Always(true),
            },
        };
        *self.subschemas.item_mut(id) = part;
        Ok(())
    }

    fn reference(&mut self, schema: &Value) -> Result<SubschemaId, String> {
        let reference = self.references.absolute(schema);
        if let Some(subschema) = self.by_reference.get(&reference) {
            return Ok(*subschema);
        }
        let target = self.references.find(&reference)?;
        let id = self.subschemas.len();
        self.subschemas.push(Subschema::Always(true));
        self.by_reference.insert(reference, id);
        self.fill(id, target)?;
        Ok(id)
    }

    fn keywords(&mut self, members: &Object) -> Result<SchemaKeywords, String> {
        Ok(SchemaKeywords {
            types: types(members),
            any_of: self.list(members, "anyOf")?,
            one_of: self.list(members, "oneOf")?,
            all_of: self.list(members, "allOf")?,
            not: self.optional(members, "not")?,
            dependencies: self.dependencies(members)?,
            condition: self.condition(members)?,
            number: numbers(members),
            string: self.strings(members)?,
            array: self.arrays(members)?,
            object: self.objects(members)?,
            constant: members
                .get_str("const")
                .filter(|_| self.draft >= Draft::Six)
                .map(canonical),
            values: members
                .get_str("enum")
                .and_then(Document::as_array)
                .map(|values| values.iter().map(canonical).collect()),
            format: members
                .get_str("format")
                .and_then(Document::as_str)
                .and_then(|name| Some((name.to_owned(), SchemaFormat::from_name(name)?))),
        })
    }

    fn list(&mut self, members: &Object, key: &str) -> Result<Vec<SubschemaId>, String> {
        let parts = members.get_str(key).and_then(Document::as_array);
        let parts = parts.into_iter().flatten();
        parts.map(|part| self.part(part)).collect()
    }

    fn optional(&mut self, members: &Object, key: &str) -> Result<Option<SubschemaId>, String> {
        let part = members.get_str(key);
        part.map(|part| self.part(part)).transpose()
    }

    fn condition(&mut self, members: &Object) -> Result<Option<Condition>, String> {
        if self.draft < Draft::Seven {
            return Ok(None);
        }
        let Some(test) = self.optional(members, "if")? else {
            return Ok(None);
        };
        Ok(Some(Condition {
            test,
            then: self.optional(members, "then")?,
            otherwise: self.optional(members, "else")?,
        }))
    }

    fn dependencies(
        &mut self,
        members: &Object,
    ) -> Result<std::collections::BTreeMap<String, SchemaDependency>, String> {
        let dependencies = members
            .get_str("dependencies")
            .and_then(Document::as_members);
        let dependencies = dependencies.into_iter().flat_map(string_keyed);
        dependencies
            .map(|(name, dependency)| {
                let dependency = match dependency.as_array() {
                    Some(names) => SchemaDependency::Names(texts(names)),
                    None => SchemaDependency::Schema(self.part(dependency)?),
                };
                Ok((name.to_owned(), dependency))
            })
            .collect()
    }

    fn additional(&mut self, members: &Object, key: &str) -> Result<Additional, String> {
        Ok(match members.get_str(key) {
            None | Some(Value(Repr::Bool(true))) => Additional::Allowed,
            Some(Value(Repr::Bool(false))) => Additional::Forbidden,
            Some(schema) => Additional::Schema(self.part(schema)?),
        })
    }

    fn arrays(&mut self, members: &Object) -> Result<ArrayKeywords, String> {
        let items = match members.get_str("items") {
            None => ItemsKeyword::Any,
            Some(Value(Repr::Array(items))) => {
                let items = items
                    .iter()
                    .map(|item| self.part(item))
                    .collect::<Result<Vec<_>, _>>()?;
                ItemsKeyword::Each(items, self.additional(members, "additionalItems")?)
            }
            Some(item) => ItemsKeyword::Alike(self.part(item)?),
        };
        let contains = match self.draft {
            Draft::Four => None,
            _ => self.optional(members, "contains")?,
        };
        Ok(ArrayKeywords {
            items,
            min_items: count(members, "minItems"),
            max_items: count(members, "maxItems"),
            unique: members.get_str("uniqueItems").and_then(Document::as_bool) == Some(true),
            contains,
        })
    }

    fn objects(&mut self, members: &Object) -> Result<ObjectKeywords, String> {
        let properties = members.get_str("properties").and_then(Document::as_members);
        let properties = properties.into_iter().flat_map(string_keyed);
        let properties = properties
            .map(|(name, schema)| Ok::<_, String>((name.to_owned(), self.part(schema)?)))
            .collect::<Result<_, _>>()?;
        let patterns = members
            .get_str("patternProperties")
            .and_then(Document::as_members);
        let patterns = patterns.into_iter().flat_map(string_keyed);
        let patterns = patterns
            .map(|(pattern, schema)| Ok::<_, String>((self.regex(pattern)?, self.part(schema)?)))
            .collect::<Result<_, _>>()?;
        let names = match self.draft {
            Draft::Four => None,
            _ => self.optional(members, "propertyNames")?,
        };
        let required = members.get_str("required").and_then(Document::as_array);
        Ok(ObjectKeywords {
            min_properties: count(members, "minProperties"),
            max_properties: count(members, "maxProperties"),
            required: required.map(texts).unwrap_or_default(),
            properties,
            patterns,
            additional: self.additional(members, "additionalProperties")?,
            names,
        })
    }

    fn strings(&mut self, members: &Object) -> Result<Option<StringKeywords>, String> {
        let pattern = members.get_str("pattern").and_then(Document::as_str);
        let pattern = pattern
            .map(|pattern| Ok::<_, String>((pattern.to_owned(), self.regex(pattern)?)))
            .transpose()?;
        let keywords = StringKeywords {
            min_length: count(members, "minLength"),
            max_length: count(members, "maxLength"),
            pattern,
        };
        let has_keyword = keywords.min_length.is_some()
            || keywords.max_length.is_some()
            || keywords.pattern.is_some();
        Ok(has_keyword.then_some(keywords))
    }

    fn regex(&mut self, pattern: &str) -> Result<Regex, String> {
        let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
        self.pattern_bytes += regex.bytes();
        Ok(regex)
    }
}

fn texts(values: &[Value]) -> Vec<String> {
    let texts = values.iter().filter_map(Document::as_str);
    texts.map(str::to_owned).collect()
}

fn types(members: &Object) -> Types {
    Types(match members.get_str("type") {
        Some(Value(Repr::Array(types))) => texts(types),
        Some(type_name) => texts(std::slice::from_ref(type_name)),
        None => Vec::new(),
    })
}

fn count(members: &Object, key: &str) -> Option<usize> {
    members.get_str(key)?.as_number()?.as_index()
}

fn numbers(members: &Object) -> Option<NumberKeywords> {
    let number = |key: &str| {
        let number = members.get_str(key)?.as_number()?;
        Some(NumberBuf::from(number))
    };
    // `exclusive…: true` makes the inclusive limit exclusive
    let limits_of = |key: &str, exclusive: &str| match members.get_str(exclusive) {
        Some(Value(Repr::Bool(true))) => (None, number(key)),
        _ => (number(key), number(exclusive)),
    };
    let (maximum, exclusive_maximum) = limits_of("maximum", "exclusiveMaximum");
    let (minimum, exclusive_minimum) = limits_of("minimum", "exclusiveMinimum");
    let keywords = NumberKeywords {
        multiple_of: number("multipleOf"),
        maximum,
        exclusive_maximum,
        minimum,
        exclusive_minimum,
    };
    let all = [
        &keywords.multiple_of,
        &keywords.maximum,
        &keywords.exclusive_maximum,
        &keywords.minimum,
        &keywords.exclusive_minimum,
    ];
    all.iter().any(|limit| limit.is_some()).then_some(keywords)
}
