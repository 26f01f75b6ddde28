//! Requirements: the sources of bundles, stacks and sources.

use serde::Serialize;
use serde_json::Value;

use super::{FieldPath, Kind, Reader, Reference};

/// A required source, or a pinned commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requirement {
    /// The name of the source. `None` if the requirement only pins a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The part of the source that is used: a path below `data`. Empty is all of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The path below `data` where it is mounted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Decides whether a stack mounts it below its own name, which is the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automount: Option<bool>,
    /// The commit of the source that is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<Pin>,
}

/// A commit that takes precedence over the reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pin {
    /// The hash of the commit, in hexadecimal.
    pub commit: String,
}

impl Requirement {
    fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let source = members.take("source").map(|value| {
            let field_path = field_path.member("source");
            let source = reader.text(&field_path, value);
            if source.is_empty() && value.is_string() {
                reader.report(&field_path, "must not be empty");
            }
            source
        });
        let path = members.text(reader, field_path, "path");
        reader.check_data_reference(&field_path.member("path"), &path);
        let prefix = members.text(reader, field_path, "prefix");
        reader.check_data_reference(&field_path.member("prefix"), &prefix);
        let automount = members
            .take("automount")
            .map(|value| reader.boolean(&field_path.member("automount"), value));
        let git = members.take("git").map(|value| {
            let field_path = field_path.member("git");
            let mut members = reader.object(&field_path, value);
            let commit = members.required(reader, &field_path, "commit");
            reader.check_commit(&field_path.member("commit"), &commit);
            members.end(reader, &field_path);
            Pin { commit }
        });
        if source.is_none() && git.is_none() && members.is_object() {
            reader.report(field_path, "must name a `source`, or a commit by `git`");
        }
        members.end(reader, field_path);
        Self {
            source,
            path,
            prefix,
            automount,
            git,
        }
    }

    /// Reads the member `requirements`, which may be missing. Problems are reported with the index of the requirement.
    pub(super) fn read_all(
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        members: &mut super::reader::Members<'_>,
    ) -> Vec<Self> {
        let Some(value) = members.take("requirements") else {
            return Vec::new();
        };
        let field_path = field_path.member("requirements");
        let items = reader.array(&field_path, value).iter().enumerate();
        let read_requirement = |(index, item)| Self::read(reader, &field_path.element(index), item);
        items.map(read_requirement).collect()
    }

    /// Returns the sources that requirements reference, with the index of each in the name of the field.
    pub(super) fn references(all: &[Self]) -> Vec<Reference> {
        let source_references = all.iter().enumerate().filter_map(|(index, requirement)| {
            Some(Reference {
                kind: Kind::Source,
                name: requirement.source.clone()?,
                field: format!("requirements[{index}].source"),
                address: None,
            })
        });
        source_references.collect()
    }
}

impl Reader {
    /// Reports problems of a commit hash.
    pub(super) fn check_commit(&mut self, field_path: &FieldPath<'_>, commit: &str) {
        let is_number = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !commit.is_empty() && (!is_number || !(4..=64).contains(&commit.len())) {
            self.report(
                field_path,
                "must be the number of a commit, 4 to 64 hexadecimal digits",
            );
        }
    }
}
