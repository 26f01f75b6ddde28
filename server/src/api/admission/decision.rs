//! Decisions about admission reviews: the document of a package, by the names of its rules.
//!
//! | rule | value | effect |
//! |---|---|---|
//! | `deny`, `violation` | texts, or objects with a text `msg` | each one denies, with its text |
//! | `allow` | boolean | anything but `true` denies |
//! | `warn` | as `deny` | a warning to the user |
//! | `patch` | operations of a JSON patch, or lists of them | changes of an object that is admitted |
//! | `audit_annotations` | object of texts | annotations in the audit log of the API server |
//!
//! A package needs one of `deny`, `violation`, `allow` and `patch`. Other rules have no effect.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use solon::Value;

/// Rules of a package, with the texts of their values.
type Rules = BTreeMap<String, Box<RawValue>>;

/// Message of a denial by `allow`.
const NOT_ALLOWED: &str = "the object is not allowed";

#[derive(Debug)]
pub struct AdmissionDecision {
    /// `true` if the object is admitted.
    pub is_allowed: bool,
    pub denials: Vec<String>,
    /// Warnings that the API server shows to the user.
    pub warnings: Vec<String>,
    /// Operations of a JSON patch, as text: numbers stay as they are.
    pub patch: Vec<Box<RawValue>>,
    /// Annotations in the audit log of the API server.
    pub annotations: BTreeMap<String, String>,
}

impl AdmissionDecision {
    /// Reads the document of a package. An object that is deleted cannot be changed.
    ///
    /// # Errors
    /// The document decides nothing, or a rule has a value of a wrong form.
    pub fn read(value: &Value, is_delete: bool) -> Result<Self, String> {
        // sets are arrays in JSON
        let rules: Rules = serde_json::from_str(&value.to_json())
            .map_err(|_| "the package is not an object".to_owned())?;
        if !["deny", "violation", "allow", "patch"]
            .iter()
            .any(|rule| rules.contains_key(*rule))
        {
            return Err(
                "the package has no rule `deny`, `violation`, `allow` or `patch`".to_owned(),
            );
        }
        let mut denials = messages(&rules, "deny")?;
        denials.extend(messages(&rules, "violation")?);
        match parsed::<Json>(&rules, "allow").transpose() {
            Ok(None | Some(Json::Bool(true))) => {}
            Ok(Some(Json::Bool(false))) if denials.is_empty() => {
                denials.push(NOT_ALLOWED.to_owned());
            }
            Ok(Some(Json::Bool(false))) => {}
            _ => return Err("`allow` must be a boolean".to_owned()),
        }
        let patch = patch(&rules)?;
        if is_delete && !patch.is_empty() {
            return Err("`patch` changes an object that is deleted".to_owned());
        }
        Ok(Self {
            is_allowed: denials.is_empty(),
            denials,
            warnings: messages(&rules, "warn")?,
            patch,
            annotations: annotations(&rules)?,
        })
    }

    /// Denies the object, because `allow` is undefined.
    pub fn deny_unallowed(&mut self) {
        self.is_allowed = false;
        if self.denials.is_empty() {
            self.denials.push(NOT_ALLOWED.to_owned());
        }
    }
}

/// Returns the value of a rule, or `None` if the rule is undefined. The inner error is a value of another type.
fn parsed<'r, T: Deserialize<'r>>(
    rules: &'r Rules,
    rule: &str,
) -> Option<Result<T, serde_json::Error>> {
    Some(serde_json::from_str(rules.get(rule)?.get()))
}

/// Returns the texts of a rule; none if it is undefined.
///
/// # Errors
/// An element is neither a string nor an object with `msg`.
fn messages(rules: &Rules, rule: &str) -> Result<Vec<String>, String> {
    let items: Vec<Json> = match parsed(rules, rule).transpose() {
        Ok(items) => items.unwrap_or_default(),
        Err(_) => return Err(format!("`{rule}` must be a set or an array")),
    };
    let text = |item: &Json| match item {
        Json::String(text) => Some(text.clone()),
        Json::Object(members) => Some(members.get("msg")?.as_str()?.to_owned()),
        _ => None,
    };
    let texts = items.iter().map(text).collect::<Option<_>>();
    texts.ok_or_else(|| {
        format!("each element of `{rule}` must be a string, or an object with the string `msg`")
    })
}

/// Returns the operations of `patch`, those of nested lists included.
///
/// # Errors
/// The rule is not a list, or an operation is not valid.
fn patch(rules: &Rules) -> Result<Vec<Box<RawValue>>, String> {
    let items: Vec<Box<RawValue>> = match parsed(rules, "patch").transpose() {
        Ok(items) => items.unwrap_or_default(),
        Err(_) => return Err("`patch` must be a set or an array".to_owned()),
    };
    let mut operations = Vec::new();
    for item in items {
        match serde_json::from_str::<Vec<Box<RawValue>>>(item.get()) {
            Ok(list) => operations.extend(list),
            Err(_) => operations.push(item),
        }
    }
    for operation in &operations {
        let operation = serde_json::from_str(operation.get()).unwrap_or(Json::Null);
        check_operation(&operation).map_err(|problem| format!("`patch`: {problem}"))?;
    }
    Ok(operations)
}

/// Checks an operation of a JSON patch (RFC 6902, section 4).
fn check_operation(operation: &Json) -> Result<(), String> {
    let pointer = |name: &str| {
        let text = operation.get(name).and_then(Json::as_str);
        let is_pointer = text.is_some_and(|text| text.is_empty() || text.starts_with('/'));
        let problem = || format!("`{name}` of {operation} must be a JSON pointer");
        is_pointer.then_some(()).ok_or_else(problem)
    };
    pointer("path")?;
    match operation.get("op").and_then(Json::as_str) {
        Some("remove") => Ok(()),
        Some("add" | "replace" | "test") if operation.get("value").is_some() => Ok(()),
        Some("add" | "replace" | "test") => Err(format!("{operation} has no `value`")),
        Some("move" | "copy") => pointer("from"),
        _ => Err(format!("{operation} has no known `op`")),
    }
}

fn annotations(rules: &Rules) -> Result<BTreeMap<String, String>, String> {
    let annotations = parsed(rules, "audit_annotations").transpose();
    let annotations =
        annotations.map_err(|_| "`audit_annotations` must be an object of strings")?;
    Ok(annotations.unwrap_or_default())
}

#[cfg(test)]
#[path = "../../../../tests/server/unit/admission_decision.rs"]
mod tests;
