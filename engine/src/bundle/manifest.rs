//! Manifests: the file `.manifest` of a bundle, with revision, roots and versions.

use solon_syntax::ast::Version;

use super::error::{BundleError, BundleErrorKind};
use super::go_json::{GoFields, read_first, type_error};
use crate::store::Path;
use crate::value::{Object, Repr, Value, json};

/// The contents of a bundle's `.manifest`.
///
/// ```
/// use solon::bundle::Manifest;
///
/// let manifest = Manifest::read(br#"{"revision": "7", "roots": ["authz", "users"]}"#).unwrap();
/// assert_eq!(manifest.revision, "7");
/// assert_eq!(manifest.roots(), ["authz", "users"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Manifest {
    /// The revision, which provenance and status report.
    pub revision: String,
    /// Slash-separated paths below `data` that the bundle owns; `None` if the manifest has no roots, which means all of `data`.
    pub roots: Option<Vec<String>>,
    /// WebAssembly modules and their entry points. They are reported and never run.
    pub wasm: Vec<WasmResolver>,
    /// Free metadata, an object if present.
    pub metadata: Option<Value>,
    /// Version of Rego of the bundle's modules: 0 or 1. `None` if the manifest has none.
    pub rego_version: Option<i64>,
    /// Versions of Rego by a glob pattern of a module's path, which take precedence over `rego_version`. Sorted by pattern.
    pub file_rego_versions: Vec<(String, i64)>,
}

/// An entry point that a WebAssembly module of the bundle implements.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WasmResolver {
    /// Slash-separated path of the entry point.
    pub entrypoint: String,
    /// Path of the module in the bundle.
    pub module: String,
    /// Annotations of the entry point, an array if present.
    pub annotations: Option<Value>,
}

impl Manifest {
    /// Parses a manifest. Absent fields have their defaults. Unknown fields, and bytes after the first JSON value, are ignored, as in OPA.
    ///
    /// # Errors
    /// The text is not valid JSON, or a field has another type: the message of Go's decoder. Roots and versions are not checked.
    pub fn read(text: &[u8]) -> Result<Self, BundleError> {
        Self::parse(text).map_err(|message| BundleError::new(BundleErrorKind::Manifest, message))
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        let value = read_first(text)?;
        let Some(fields) = GoFields::of_object(&value, "bundle.Manifest")? else {
            return Ok(Self::default());
        };
        let fields = fields.named("Manifest");
        let mut manifest = Self {
            revision: fields.string("revision")?.unwrap_or_default(),
            roots: fields.strings("roots")?,
            wasm: Vec::new(),
            metadata: fields
                .object("metadata")?
                .cloned()
                .map(|object| Value(Repr::Object(object))),
            rego_version: fields.integer("rego_version")?,
            file_rego_versions: Vec::new(),
        };
        if let Some(versions) = fields.typed_object("file_rego_versions", "map[string]int")? {
            for (pattern, version) in versions.iter() {
                let pattern = pattern.borrow().text_or_empty().to_str().into_owned();
                let version = fields.integer_of("file_rego_versions", version)?;
                manifest.file_rego_versions.push((pattern, version));
            }
        }
        if let Some(resolvers) = fields.array("wasm", "[]bundle.WasmResolver")? {
            for resolver in resolvers {
                let Value(Repr::Object(object)) = resolver else {
                    return Err(type_error(resolver, "Manifest.wasm", "bundle.WasmResolver"));
                };
                let fields = GoFields::of_nested(object, "WasmResolver.wasm");
                manifest.wasm.push(WasmResolver {
                    entrypoint: fields.string("entrypoint")?.unwrap_or_default(),
                    module: fields.string("module")?.unwrap_or_default(),
                    annotations: fields.get("annotations").cloned(),
                });
            }
        }
        Ok(manifest)
    }

    /// Returns the roots without slashes at both ends; one empty root if the manifest has none.
    pub fn roots(&self) -> Vec<String> {
        match &self.roots {
            Some(roots) => roots
                .iter()
                .map(|root| root.trim_matches('/').to_owned())
                .collect(),
            None => vec![String::new()],
        }
    }

    /// Returns each root as a path below `data`.
    pub fn root_paths(&self) -> Vec<Path> {
        let roots = self.roots();
        roots.iter().map(|root| Path::from_slashes(root)).collect()
    }

    /// Returns the JSON value that `data.system.bundles.<name>.manifest` contains: absent fields are left out.
    pub fn value(&self) -> Value {
        let mut fields = vec![
            ("revision".into(), Value::string(&self.revision)),
            ("roots".into(), strings(&self.roots())),
        ];
        if !self.wasm.is_empty() {
            let resolvers = self.wasm.iter().map(WasmResolver::value);
            fields.push(("wasm".into(), Value::array(resolvers.collect())));
        }
        if let Some(version) = self.rego_version {
            fields.push(("rego_version".into(), Value(Repr::Int(version))));
        }
        if !self.file_rego_versions.is_empty() {
            fields.push(("file_rego_versions".into(), self.file_versions()));
        }
        if let Some(metadata) = self.metadata.as_ref().filter(|value| !is_empty(value)) {
            fields.push(("metadata".into(), metadata.clone()));
        }
        Value::object(fields)
    }

    /// Returns the document at `data.system.bundles.<name>`.
    pub(crate) fn facts(&self, etag: &str) -> Value {
        let etag = ("etag".into(), Value::string(etag));
        Value::object(vec![etag, ("manifest".into(), self.value())])
    }

    /// Returns the text of the manifest's file: one line, its fields in OPA's order.
    pub fn text(&self) -> Vec<u8> {
        let mut out = b"{\"revision\":".to_vec();
        json::write_go(Value::string(&self.revision).borrow(), &mut out);
        out.extend(b",\"roots\":");
        json::write_go(strings(&self.roots()).borrow(), &mut out);
        if !self.wasm.is_empty() {
            let resolvers: Vec<_> = self.wasm.iter().map(WasmResolver::text).collect();
            out.extend(b",\"wasm\":[");
            out.extend(resolvers.join(&b','));
            out.push(b']');
        }
        let mut field = |name: &str, value: &Value| {
            out.extend(format!(",\"{name}\":").bytes());
            json::write_go(value.borrow(), &mut out);
        };
        if let Some(version) = self.rego_version {
            field("rego_version", &Value(Repr::Int(version)));
        }
        if !self.file_rego_versions.is_empty() {
            field("file_rego_versions", &self.file_versions());
        }
        if let Some(metadata) = self.metadata.as_ref().filter(|value| !is_empty(value)) {
            field("metadata", metadata);
        }
        out.extend(b"}\n");
        out
    }

    fn file_versions(&self) -> Value {
        let versions = self.file_rego_versions.iter();
        let versions =
            versions.map(|(path, version)| (Value::string(path), Value(Repr::Int(*version))));
        Value::object(versions.collect())
    }

    /// Checks the roots against one another, and the versions.
    ///
    /// # Errors
    /// Two roots of which one contains the other, or an unknown version.
    pub(super) fn check(&self) -> Result<(), String> {
        let roots = self.roots();
        for (index, root) in roots.iter().enumerate() {
            let later_roots = roots.iter().skip(index + 1);
            if let Some(other) = later_roots.into_iter().find(|other| overlaps(root, other)) {
                return Err(format!(
                    "manifest has overlapped roots: '{root}' and '{other}'"
                ));
            }
        }
        let is_known = |version: i64| (0..=2).contains(&version);
        if let Some(version) = self.rego_version.filter(|version| !is_known(*version)) {
            return Err(format!("manifest has unknown rego-version {version}"));
        }
        let mut versions = self.file_rego_versions.iter();
        match versions.find(|(_, version)| !is_known(*version)) {
            None => Ok(()),
            Some((pattern, version)) => Err(format!(
                "manifest has unknown rego-version {version} for file '{pattern}'"
            )),
        }
    }

    /// Returns the version of the module at a path of the bundle; `default` if the manifest has none.
    ///
    /// # Errors
    /// A pattern that is not a glob, or a version that does not exist.
    pub(super) fn version_of(&self, path: &str, default: Version) -> Result<Version, String> {
        match self.version_number(path)?.or(self.rego_version) {
            None => Ok(default),
            Some(0) => Ok(Version::V0),
            Some(1 | 2) => Ok(Version::V1),
            Some(other) => Err(format!(
                "unknown bundle rego-version {other} for file '{path}'"
            )),
        }
    }
}

impl Manifest {
    /// Returns the version that `file_rego_versions` sets for the path of a module.
    ///
    /// # Errors
    /// A pattern that is not a glob.
    pub(super) fn version_number(&self, path: &str) -> Result<Option<i64>, String> {
        let mut version = None;
        for (pattern, of_pattern) in &self.file_rego_versions {
            if matches_glob(pattern, path)? && version.is_none() {
                version = Some(*of_pattern);
            }
        }
        Ok(version)
    }
}

impl WasmResolver {
    /// Returns the JSON text, its fields in OPA's order.
    fn text(&self) -> Vec<u8> {
        let fields = [
            ("entrypoint", Some(Value::string(&self.entrypoint))),
            ("module", Some(Value::string(&self.module))),
            ("annotations", self.annotations.clone()),
        ];
        let mut out = b"{".to_vec();
        for (name, value) in fields {
            let Some(value) = value.filter(|value| value.as_str() != Some("")) else {
                continue;
            };
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend(format!("\"{name}\":").bytes());
            json::write_go(value.borrow(), &mut out);
        }
        out.push(b'}');
        out
    }

    fn value(&self) -> Value {
        let mut fields = Vec::new();
        if !self.entrypoint.is_empty() {
            fields.push(("entrypoint".into(), Value::string(&self.entrypoint)));
        }
        if !self.module.is_empty() {
            fields.push(("module".into(), Value::string(&self.module)));
        }
        if let Some(annotations) = &self.annotations {
            fields.push(("annotations".into(), annotations.clone()));
        }
        Value::object(fields)
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_none_or(Object::is_empty)
}

fn strings(list: &[String]) -> Value {
    Value::array(list.iter().map(|text| Value::string(text)).collect())
}

/// Returns `true` if one of two slash-separated paths contains the other.
pub(super) fn overlaps(a: &str, b: &str) -> bool {
    Path::from_slashes(a).overlaps(&Path::from_slashes(b))
}

/// Returns `true` if the path is at or below one of the roots. An empty root contains every path.
pub(super) fn is_within(roots: &[Path], path: &Path) -> bool {
    let mut roots = roots.iter();
    roots.any(|root| path.segments().starts_with(root.segments()))
}

fn matches_glob(pattern: &str, path: &str) -> Result<bool, String> {
    crate::builtins::glob::is_match(pattern, path)
        .map_err(|error| format!("failed to compile glob pattern {pattern}: {error}"))
}
