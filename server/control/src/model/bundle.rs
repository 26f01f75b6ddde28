//! Bundles: policies and data that are distributed together.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use solon_common::duration::{self, DurationError};

use super::{BundleSigning, FieldPath, Kind, Reader, Reference, Requirement, Resource, Storage};
use crate::limits;

/// A bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bundle {
    /// The name.
    pub name: String,
    /// Labels, which stacks select bundles by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The storage of the built bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_storage: Option<Storage>,
    /// The sources that the bundle requires.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// Globs of excluded files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_files: Vec<String>,
    /// An expression whose value is the revision.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub revision: String,
    /// The interval between builds, as a Go duration.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rebuild_interval: String,
    /// The build options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<BundleOptions>,
    /// How the archive is signed, or `None` if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing: Option<BundleSigning>,
}

/// Build options of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BundleOptions {
    /// `true` if sources of stacks are mounted where the sources specify, not below the name of the stack.
    pub no_default_stack_mount: bool,
    /// The optimization options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimization: Option<Optimization>,
    /// The build target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<BundleTarget>,
    /// The version of Rego, 0 or 1, of sources whose `.manifest` has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rego_version: Option<i64>,
}

/// Optimization options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Optimization {
    /// The optimization level: 0, 1 or 2.
    pub level: i64,
}

/// Build target of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BundleTarget {
    /// Unchanged modules.
    Rego,
}

impl Resource for Bundle {
    const KIND: Kind = Kind::Bundle;

    fn read(reader: &mut Reader, place: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(place, value);
        let bundle = Self {
            name: members.name(reader, place),
            labels: members
                .take("labels")
                .map(|value| reader.texts_by_name(&place.member("labels"), value))
                .unwrap_or_default(),
            object_storage: members
                .take("object_storage")
                .and_then(|value| Storage::read(reader, &place.member("object_storage"), value)),
            requirements: Requirement::read_all(reader, place, &mut members),
            excluded_files: members.texts(reader, place, "excluded_files"),
            revision: members.text(reader, place, "revision"),
            rebuild_interval: members
                .take("rebuild_interval")
                .map(|value| read_interval(reader, &place.member("rebuild_interval"), value))
                .unwrap_or_default(),
            options: members
                .take("options")
                .map(|value| BundleOptions::read(reader, &place.member("options"), value)),
            signing: members
                .take("signing")
                .map(|value| BundleSigning::read(reader, &place.member("signing"), value)),
        };
        members.end(reader, place);
        reader.check_globs(&place.member("excluded_files"), &bundle.excluded_files);
        check_revision(reader, &place.member("revision"), &bundle.revision);
        bundle
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn references(&self) -> Vec<Reference> {
        let mut found = Requirement::references(&self.requirements);
        found.extend(self.object_storage.as_ref().and_then(Storage::reference));
        found.extend(self.signing.as_ref().map(BundleSigning::reference));
        found
    }
}

impl BundleOptions {
    fn read(reader: &mut Reader, place: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(place, value);
        let no_default_stack_mount = members
            .take("no_default_stack_mount")
            .is_some_and(|value| reader.boolean(&place.member("no_default_stack_mount"), value));
        let optimization = members.take("optimization").map(|value| {
            let place = place.member("optimization");
            let mut members = reader.object(&place, value);
            let level = members.take("level").map_or(0, |value| {
                let place = place.member("level");
                let level = reader.integer(&place, value);
                if !(0..=2).contains(&level) {
                    reader.report(&place, "must be 0, 1 or 2");
                }
                level
            });
            members.end(reader, &place);
            Optimization { level }
        });
        let rego_version = members.take("rego_version").map(|value| {
            let place = place.member("rego_version");
            let version = reader.integer(&place, value);
            if !(0..=1).contains(&version) {
                reader.report(&place, "must be 0 or 1");
            }
            version
        });
        let target = members.text(reader, place, "target");
        let target = match target.as_str() {
            "" => None,
            "rego" => Some(BundleTarget::Rego),
            // building Rego instead would give a bundle without what it requires
            "ir" | "plan" | "wasm" => {
                let words = format_args!(
                    "{target:?} is not supported: policy servers evaluate Rego and ignore plans and WebAssembly"
                );
                reader.report(&place.member("target"), words);
                None
            }
            other => {
                let words = format_args!("must be `rego`, not {other:?}");
                reader.report(&place.member("target"), words);
                None
            }
        };
        members.end(reader, place);
        Self {
            no_default_stack_mount,
            optimization,
            target,
            rego_version,
        }
    }
}

fn read_interval(reader: &mut Reader, place: &FieldPath<'_>, value: &Value) -> String {
    let text = reader.text(place, value);
    if !value.is_string() {
        return text;
    }
    match duration::parse(&text) {
        Ok(interval) if interval < limits::REBUILD_INTERVAL * 1_000_000_000 => {
            let least = limits::REBUILD_INTERVAL;
            reader.report(place, format_args!("must be at least {least}s"));
            text
        }
        Ok(interval) => duration::format(interval),
        Err(DurationError::Syntax) => {
            let words = format_args!("is not a duration such as `10m30s`: {text:?}");
            reader.report(place, words);
            text
        }
        Err(DurationError::TooLong) => {
            reader.report(place, format_args!("is too long a duration: {text:?}"));
            text
        }
    }
}

/// Reports a revision that is not an expression.
fn check_revision(reader: &mut Reader, place: &FieldPath<'_>, revision: &str) {
    use solon_syntax::source::{Source as Text, SourceId};
    if revision.is_empty() {
        return;
    }
    let text = Text::new(SourceId(0), "revision", revision);
    if let Err(wrong) = solon_syntax::parse_body(&text, &solon_syntax::ParseOptions::default()) {
        let words = wrong.0.first().map_or("", |first| first.message.as_str());
        reader.report(place, format_args!("is not a valid expression: {words}"));
    }
}
