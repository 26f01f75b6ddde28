//! Capabilities of earlier and current versions of OPA, so that policies can be restricted to one of them.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Features of all versions of OPA, each with the versions that have it.
#[derive(Deserialize)]
struct FeatureTable {
    /// Names of the versions, from the oldest.
    versions: Vec<String>,
    builtins: Vec<Builtin>,
    /// Functions that compiled WebAssembly modules contain. All others are provided by their host.
    native: Vec<String>,
    future_keywords: Vec<Since>,
    features: Vec<Since>,
    wasm_abi_versions: Vec<Since>,
}

/// A function declaration that is valid up to some version.
#[derive(Deserialize)]
struct Builtin {
    since: String,
    until: Option<String>,
    #[serde(rename = "builtin")]
    declaration: Json,
}

/// Features from a version on, up to the next entry.
#[derive(Deserialize)]
struct Since {
    since: String,
    value: Option<Json>,
}

/// Form of OPA's capabilities files.
#[derive(Serialize)]
struct CapabilitiesFile<'t> {
    builtins: Vec<&'t Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    future_keywords: Option<&'t Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wasm_abi_versions: Option<&'t Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<&'t Json>,
}

static TABLE: LazyLock<Option<FeatureTable>> =
    LazyLock::new(|| serde_json::from_str(include_str!("versions.json")).ok());

impl FeatureTable {
    fn position(&self, version: &str) -> Option<usize> {
        self.versions.iter().position(|name| name == version)
    }

    fn entry_at<'t>(&self, entries: &'t [Since], position: usize) -> Option<&'t Json> {
        let entries_so_far = entries
            .iter()
            .take_while(|entry| self.position(&entry.since) <= Some(position));
        entries_so_far.last()?.value.as_ref()
    }
}

/// Returns the capabilities of a version in OPA's JSON form, or `None` for an unknown version.
pub fn capabilities(version: &str) -> Option<Vec<u8>> {
    let table = TABLE.as_ref()?;
    let position = table.position(version)?;
    let has = |function: &&Builtin| {
        let until = function.until.as_deref();
        let is_removed = until.is_some_and(|until| table.position(until) < Some(position));
        table.position(&function.since) <= Some(position) && !is_removed
    };
    let document = CapabilitiesFile {
        builtins: table
            .builtins
            .iter()
            .filter(has)
            .map(|function| &function.declaration)
            .collect(),
        future_keywords: table.entry_at(&table.future_keywords, position),
        wasm_abi_versions: table.entry_at(&table.wasm_abi_versions, position),
        features: table.entry_at(&table.features, position),
    };
    let mut text = serde_json::to_vec_pretty(&document).ok()?;
    text.push(b'\n');
    Some(text)
}

/// Adds two members to each function of a document in OPA's form: the version of OPA that introduced it (`introduced`), and
/// `sdk_dependent` for functions that the host of a compiled policy must provide.
pub fn annotate(document: &mut Json) {
    let functions = document.get_mut("builtins").and_then(Json::as_array_mut);
    let (Some(functions), Some(table)) = (functions, TABLE.as_ref()) else {
        return;
    };
    for function in functions.iter_mut().filter_map(Json::as_object_mut) {
        let name = function.get("name").and_then(Json::as_str);
        let Some(name) = name.map(str::to_owned) else {
            continue;
        };
        let is_it = |entry: &&Builtin| entry.declaration.get("name") == Some(&name.as_str().into());
        let mut versions: Vec<&str> = table
            .builtins
            .iter()
            .filter(is_it)
            .map(|entry| entry.since.as_str())
            .collect();
        versions.sort_by_key(|version| table.position(version));
        if let Some(first) = versions.first() {
            function.insert("introduced".to_owned(), (*first).into());
        }
        if !table.native.contains(&name) {
            function.insert("sdk_dependent".to_owned(), true.into());
        }
    }
}

/// Returns the names of all versions of OPA, one per line.
pub fn names() -> String {
    let versions = TABLE.as_ref().map(|table| table.versions.as_slice());
    let versions = versions.unwrap_or_default().iter();
    versions.map(|version| format!("{version}\n")).collect()
}

#[cfg(test)]
mod tests {
    use solon::Capabilities;

    use super::{TABLE, capabilities};

    #[test]
    fn every_version_can_be_read() {
        let table = TABLE.as_ref().unwrap();
        assert!(table.versions.len() > 150);
        let mut before = 0;
        for version in &table.versions {
            let text = capabilities(version).unwrap();
            let result = Capabilities::from_json(&text);
            assert!(result.is_ok(), "{version}: {result:?}");
            let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
            let functions = json["builtins"].as_array().unwrap().len();
            // OPA never removed a function
            assert!(functions >= before, "{version}: {functions} functions");
            before = functions;
        }
        assert_eq!(before, 206);
        assert!(capabilities("v9.9.9").is_none());
    }

    #[test]
    fn capabilities_of_a_version_are_listed() {
        let capabilities_of = |version: &str| {
            let text = capabilities(version).unwrap();
            serde_json::from_slice::<serde_json::Value>(&text).unwrap()
        };
        assert_eq!(
            capabilities_of("v0.17.0")["future_keywords"],
            serde_json::Value::Null
        );
        assert_eq!(
            capabilities_of("v0.59.0")["features"],
            serde_json::json!([
                "rule_head_ref_string_prefixes",
                "rule_head_refs",
                "rego_v1_import"
            ])
        );
        assert_eq!(
            capabilities_of("v1.0.0")["features"],
            serde_json::json!(["rego_v1"])
        );
        assert_eq!(
            capabilities_of("v1.0.0")["future_keywords"],
            serde_json::Value::Null
        );
    }
}
