//! Bundles: policies and data that are distributed together.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use solon_common::duration::{self, DurationError};

use super::{BundleSigning, FieldPath, Kind, Reader, Reference, Requirement, Resource, Storage};
use crate::limits;

/// A bundle, as requests and configuration files describe it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bundle {
    /// The name, unique among bundles. See [`super::check_name`].
    pub name: String,
    /// Labels, which stacks select bundles by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The storage of the built bundle. `None` is the database of the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_storage: Option<Storage>,
    /// The sources that the bundle requires, in addition to those of stacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// Globs of files that no source contributes to this bundle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_files: Vec<String>,
    /// An expression whose value is the revision.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// The interval between builds, as a Go duration.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rebuild_interval: String,
    /// The build options. `None` is equal to the defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<BundleOptions>,
    /// How the archive is signed, or `None` if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing: Option<BundleSigning>,
}

/// Build options of a bundle. Missing options have the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BundleOptions {
    /// `true` if sources of stacks are mounted where the sources specify, not below the name of the stack.
    pub no_default_stack_mount: bool,
    /// The optimization options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimization: Option<Optimization>,
    /// The format of policies. `None` is equal to [`BundleTarget::Rego`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<BundleTarget>,
    /// The version of Rego, 0 or 1, of sources whose `.manifest` has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rego_version: Option<i64>,
}

/// How policies are optimized.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Optimization {
    /// The optimization level: 0, 1 or 2.
    pub level: i64,
}

/// Format of the policies in a bundle. Other formats of OPA are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BundleTarget {
    /// Unchanged modules.
    Rego,
}

impl Resource for Bundle {
    const KIND: Kind = Kind::Bundle;

    fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let bundle = Self {
            name: members.name(reader, field_path),
            labels: members
                .take("labels")
                .map(|value| reader.texts_by_name(&field_path.member("labels"), value))
                .unwrap_or_default(),
            object_storage: members.take("object_storage").and_then(|value| {
                Storage::read(reader, &field_path.member("object_storage"), value)
            }),
            requirements: Requirement::read_all(reader, field_path, &mut members),
            excluded_files: members.texts(reader, field_path, "excluded_files"),
            revision: members.text(reader, field_path, "revision"),
            rebuild_interval: members
                .take("rebuild_interval")
                .map(|value| read_interval(reader, &field_path.member("rebuild_interval"), value))
                .unwrap_or_default(),
            options: members
                .take("options")
                .map(|value| BundleOptions::read(reader, &field_path.member("options"), value)),
            signing: members
                .take("signing")
                .map(|value| BundleSigning::read(reader, &field_path.member("signing"), value)),
        };
        members.end(reader, field_path);
        reader.check_globs(&field_path.member("excluded_files"), &bundle.excluded_files);
        check_revision(reader, &field_path.member("revision"), &bundle.revision);
        bundle
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn references(&self) -> Vec<Reference> {
        let mut references = Requirement::references(&self.requirements);
        references.extend(self.object_storage.as_ref().and_then(Storage::reference));
        references.extend(self.signing.as_ref().map(BundleSigning::reference));
        references
    }
}

impl BundleOptions {
    fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let no_default_stack_mount = members.take("no_default_stack_mount").is_some_and(|value| {
            reader.boolean(&field_path.member("no_default_stack_mount"), value)
        });
        let optimization = members.take("optimization").map(|value| {
            let field_path = field_path.member("optimization");
            let mut members = reader.object(&field_path, value);
            let level = members.take("level").map_or(0, |value| {
                let field_path = field_path.member("level");
                let level = reader.integer(&field_path, value);
                if !(0..=2).contains(&level) {
                    reader.report(&field_path, "must be 0, 1 or 2");
                }
                level
            });
            members.end(reader, &field_path);
            Optimization { level }
        });
        let rego_version = members.take("rego_version").map(|value| {
            let field_path = field_path.member("rego_version");
            let version = reader.integer(&field_path, value);
            if !(0..=1).contains(&version) {
                reader.report(&field_path, "must be 0 or 1");
            }
            version
        });
        let target = members.text(reader, field_path, "target");
        let target = match target.as_str() {
            "" => None,
            "rego" => Some(BundleTarget::Rego),
            // building Rego instead would give a bundle without what it requires
            "ir" | "plan" | "wasm" => {
                let message = format_args!(
                    "{target:?} is not supported: policy servers evaluate Rego and ignore plans and WebAssembly"
                );
                reader.report(&field_path.member("target"), message);
                None
            }
            other => {
                let message = format_args!("must be `rego`, not {other:?}");
                reader.report(&field_path.member("target"), message);
                None
            }
        };
        members.end(reader, field_path);
        Self {
            no_default_stack_mount,
            optimization,
            target,
            rego_version,
        }
    }
}

fn read_interval(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> String {
    let text = reader.text(field_path, value);
    if !value.is_string() {
        return text;
    }
    match duration::parse(&text) {
        Ok(interval) if interval < limits::REBUILD_INTERVAL * 1_000_000_000 => {
            let min_seconds = limits::REBUILD_INTERVAL;
            reader.report(field_path, format_args!("must be at least {min_seconds}s"));
            text
        }
        Ok(interval) => duration::format(interval),
        Err(DurationError::Syntax) => {
            let message = format_args!("is not a duration such as `10m30s`: {text:?}");
            reader.report(field_path, message);
            text
        }
        Err(DurationError::TooLong) => {
            reader.report(field_path, format_args!("is too long a duration: {text:?}"));
            text
        }
    }
}

/// Reports a revision that is not an expression.
fn check_revision(reader: &mut Reader, field_path: &FieldPath<'_>, revision: &str) {
    use solon_syntax::source::{Source as Text, SourceId};
    if revision.is_empty() {
        return;
    }
    let text = Text::new(SourceId(0), "revision", revision);
    if let Err(wrong) = solon_syntax::parse_body(&text, &solon_syntax::ParseOptions::default()) {
        let message = wrong.0.first().map_or("", |first| first.message.as_str());
        reader.report(
            field_path,
            format_args!("is not a valid expression: {message}"),
        );
    }
}
