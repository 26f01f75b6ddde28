//! Capabilities of an engine in OPA's JSON format, and restricted engines.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use solon_syntax::ParseOptions;
use solon_syntax::ast::Version;
use solon_syntax::source::Diagnostics;

use super::{Builtin, BuiltinEntry};
use crate::bug::bug;
use crate::types::Type;

/// Keywords that v1 modules can import, and those of v0.
const KEYWORDS: [&[&str]; 2] = [
    &["and", "not", "or"],
    &["and", "contains", "every", "if", "in", "not", "or"],
];

/// Language features of v1 modules, and those of v0.
const FEATURES: [&[&str]; 2] = [
    &[
        "keywords_in_refs",
        "rego_v1",
        "rego_v2",
        "rego_v2_import",
        "template_strings",
    ],
    &[
        "keywords_in_refs",
        "rego_v1",
        "rego_v1_import",
        "rego_v2",
        "rego_v2_import",
        "rule_head_ref_string_prefixes",
        "rule_head_refs",
    ],
];

/// The functions, keywords and hosts that policies may use. A policy that needs more does not compile.
///
/// ```
/// use solon::{Capabilities, Engine, Version};
///
/// let capabilities = Capabilities::current(Version::V1).without_builtin("http.send");
/// let engine = Engine::builder().capabilities(capabilities).build();
/// let policy = "package p\nanswer := http.send({\"method\": \"get\", \"url\": \"http://localhost\"})";
/// assert!(engine.set_module("p.rego", policy).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Capabilities {
    builtins: HashMap<String, Type>,
    future_keywords: Vec<String>,
    features: Vec<String>,
    allow_net: Option<Vec<String>>,
}

/// Error of a capabilities file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapabilitiesError(String);

impl std::fmt::Display for CapabilitiesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "invalid capabilities: {}", self.0)
    }
}

impl std::error::Error for CapabilitiesError {}

/// OPA's JSON format.
#[derive(Default, Deserialize, Serialize)]
struct CapabilitiesDocument {
    #[serde(default)]
    builtins: Option<Vec<DeclaredFunction>>,
    #[serde(default)]
    future_keywords: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    features: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allow_net: Option<Vec<String>>,
}

#[derive(Deserialize, Serialize)]
struct DeclaredFunction {
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categories: Vec<String>,
    decl: Json,
    #[serde(default, skip_serializing_if = "is_false")]
    relation: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    infix: String,
    #[serde(default, skip_serializing_if = "is_false")]
    nondeterministic: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    deprecated: bool,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde requires a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Capabilities {
    /// Returns the capabilities of this engine for policies of a version, as JSON in the format of OPA's capabilities files.
    ///
    /// ```
    /// use solon::{Capabilities, Version};
    ///
    /// let text = Capabilities::current_json(Version::V1);
    /// assert!(Capabilities::from_json(&text).is_ok());
    /// ```
    pub fn current_json(version: Version) -> Vec<u8> {
        current_json(version)
    }

    /// Returns all capabilities of this engine for policies of a version.
    pub fn current(version: Version) -> Self {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        let [keywords, features] = of_version(version);
        Self {
            builtins: super::all()
                .map(|entry| {
                    (
                        entry.builtin.name.to_owned(),
                        Type::clone(&entry.declaration),
                    )
                })
                .collect(),
            future_keywords: owned(keywords),
            features: owned(features),
            allow_net: None,
        }
    }

    /// Parses capabilities in OPA's JSON format. They may contain functions that this engine does not implement:
    /// policies that call them compile, and fail at evaluation.
    ///
    /// # Errors
    /// Fails if the text is not a valid capabilities document.
    pub fn from_json(text: &[u8]) -> Result<Self, CapabilitiesError> {
        let document: CapabilitiesDocument =
            serde_json::from_slice(text).map_err(|error| CapabilitiesError(error.to_string()))?;
        let functions = document.builtins.unwrap_or_default().into_iter();
        let functions = functions.map(|function| {
            let declaration = Type::from_json(&function.decl);
            let declaration = declaration.and_then(|declaration| match declaration {
                Type::Function(_) => Ok(declaration),
                _ => Err("its declaration is not a function".to_owned()),
            });
            match declaration {
                Ok(declaration) => Ok((function.name, declaration)),
                Err(problem) => Err(CapabilitiesError(format!("{}: {problem}", function.name))),
            }
        });
        Ok(Self {
            builtins: functions.collect::<Result<_, _>>()?,
            future_keywords: document.future_keywords.unwrap_or_default(),
            features: document.features.unwrap_or_default(),
            allow_net: document.allow_net,
        })
    }

    /// Sets the hosts that policies may connect to.
    #[must_use]
    pub fn with_allow_net(mut self, hosts: Option<Vec<String>>) -> Self {
        self.allow_net = hosts;
        self
    }

    /// Removes a function. An unknown name changes nothing.
    #[must_use]
    pub fn without_builtin(mut self, name: &str) -> Self {
        self.builtins.remove(name);
        self
    }

    /// Returns the type of a function, or `None` if policies must not call it.
    pub(crate) fn declaration(&self, name: &str) -> Option<&Type> {
        self.builtins.get(name)
    }

    /// Returns the functions that this engine does not implement.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = (&str, &Type)> {
        let foreign = |(name, _): &(&String, &Type)| super::lookup(name).is_none();
        let functions = self.builtins.iter().filter(foreign);
        functions.map(|(name, declaration)| (name.as_str(), declaration))
    }

    /// Returns the hosts that policies may connect to. `None` allows all.
    pub fn allow_net(&self) -> Option<&[String]> {
        self.allow_net.as_deref()
    }

    /// Returns the parser options for policies of a version.
    ///
    /// # Errors
    /// Fails if the version needs more than the capabilities contain.
    pub fn parse_options(&self, version: Version) -> Result<ParseOptions, Diagnostics> {
        ParseOptions::from_version(version).restricted(
            self.future_keywords.iter().map(String::as_str),
            self.features.iter().map(String::as_str),
        )
    }
}

/// Returns all capabilities of this engine for policies of a version, in OPA's JSON format.
pub fn current_json(version: Version) -> Vec<u8> {
    let mut functions: Vec<&BuiltinEntry> = super::all().collect();
    functions.sort_by_key(|entry| entry.builtin.name);
    let owned = |list: &[&str]| Some(list.iter().map(ToString::to_string).collect());
    let [keywords, features] = of_version(version);
    let document = CapabilitiesDocument {
        builtins: Some(functions.into_iter().map(function_of_entry).collect()),
        future_keywords: owned(keywords),
        features: owned(features),
        allow_net: None,
    };
    let text = serde_json::to_vec_pretty(&document).ok();
    let mut text = text.unwrap_or_else(|| bug!("capabilities are not valid JSON"));
    text.push(b'\n');
    text
}

/// Returns the capabilities that policies need, as OPA's JSON.
#[derive(Serialize)]
struct Required {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    builtins: Vec<DeclaredFunction>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    future_keywords: BTreeSet<&'static str>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    features: BTreeSet<&'static str>,
}

/// Returns the JSON object of the built-ins with these names, without what is only documentation, and of keywords and features.
pub fn required_json(
    names: &BTreeSet<String>,
    future_keywords: BTreeSet<&'static str>,
    features: BTreeSet<&'static str>,
) -> Vec<u8> {
    let minimal = |entry: &BuiltinEntry| {
        let mut function = function_of_entry(entry);
        drop_names(&mut function.decl);
        DeclaredFunction {
            description: String::new(),
            categories: Vec::new(),
            deprecated: false,
            ..function
        }
    };
    let functions = names.iter().filter_map(|name| super::lookup(name));
    let required = Required {
        builtins: functions.map(minimal).collect(),
        future_keywords,
        features,
    };
    let text = serde_json::to_vec(&required).ok();
    text.unwrap_or_else(|| bug!("capabilities are not JSON"))
}

/// Removes the names of parameters and results from a declaration.
fn drop_names(declaration: &mut Json) {
    let drop_name = |parameter: &mut Json| {
        if let Some(node) = parameter.as_object_mut() {
            node.remove("name");
        }
    };
    if let Some(Json::Array(args)) = declaration.get_mut("args") {
        args.iter_mut().for_each(drop_name);
    }
    if let Some(result) = declaration.get_mut("result") {
        drop_name(result);
    }
}

fn of_version(version: Version) -> [&'static [&'static str]; 2] {
    let [v1_keywords, v0_keywords] = KEYWORDS;
    let [v1_features, v0_features] = FEATURES;
    if version.is_v1() {
        [v1_keywords, v1_features]
    } else {
        [v0_keywords, v0_features]
    }
}

fn function_of_entry(entry: &BuiltinEntry) -> DeclaredFunction {
    let Builtin { name, doc, .. } = *entry.builtin;
    DeclaredFunction {
        name: name.to_owned(),
        description: doc.to_owned(),
        categories: entry
            .builtin
            .categories
            .iter()
            .map(ToString::to_string)
            .collect(),
        decl: entry.declaration.to_json(),
        relation: name == "walk",
        infix: entry.builtin.infix.to_owned(),
        nondeterministic: entry.builtin.nondeterministic,
        deprecated: entry.builtin.deprecated,
    }
}
