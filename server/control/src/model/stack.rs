//! Stacks: sources that are added to all bundles with certain labels.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{FieldPath, Kind, Reader, Reference, Requirement, Resource};

/// Sources that are added to all bundles with certain labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stack {
    /// The name, unique among stacks. See [`super::check_name`].
    pub name: String,
    /// Labels that a bundle must have, each with globs. One glob must match. An empty list matches any value.
    pub selector: Labels,
    /// Labels that a bundle must not have. `Some` without labels excludes every bundle, `None` excludes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_selector: Option<Labels>,
    /// The sources that the stack adds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
}

/// Globs by label.
type Labels = BTreeMap<String, Vec<String>>;

impl Resource for Stack {
    const KIND: Kind = Kind::Stack;

    fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let labels = |reader: &mut Reader, members: &mut super::reader::Members<'_>, name| {
            let value = members.take(name)?;
            Some(read_labels(reader, &field_path.member(name), value))
        };
        let stack = Self {
            name: members.name(reader, field_path),
            selector: labels(reader, &mut members, "selector").unwrap_or_default(),
            exclude_selector: labels(reader, &mut members, "exclude_selector"),
            requirements: Requirement::read_all(reader, field_path, &mut members),
        };
        members.end(reader, field_path);
        stack
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn references(&self) -> Vec<Reference> {
        Requirement::references(&self.requirements)
    }
}

fn read_labels(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Labels {
    let members = reader.object(field_path, value);
    let mut labels = Labels::new();
    for (label, globs) in reader.bounded(field_path, &members) {
        let field_path = field_path.member(label);
        let mut texts = Vec::new();
        for (index, glob) in reader.array(&field_path, globs).iter().enumerate() {
            texts.push(reader.text(&field_path.element(index), glob));
        }
        reader.check_globs(&field_path, &texts);
        labels.insert(label.clone(), texts);
    }
    labels
}
