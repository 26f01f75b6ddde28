//! `ConstraintTemplate`: a kind of constraint with the Rego that checks objects.

use serde::Deserialize;
use serde_json::Value as Json;
use solon::Version;

use super::manifest::Manifest;
use super::parameters::ParametersSchema;
use super::section::{self, or_default};
use super::template_code::{CompiledTemplate, TemplateCode};

/// API group of templates.
pub const TEMPLATES: &str = "templates.gatekeeper.sh";

/// Versions of templates. Only those of `v1` have structural schemas by default.
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

const TARGET: &str = "admission.k8s.gatekeeper.sh";

/// A kind of constraint: its code and the schema of its parameters.
pub struct ConstraintTemplate {
    /// Kind of its constraints, such as `K8sRequiredLabels`.
    pub kind: String,
    /// File and object, for errors.
    pub label: String,
    pub code: CompiledTemplate,
    /// Schema of the parameters. `None` accepts any parameters.
    pub schema: Option<ParametersSchema>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct TemplateSpec {
    crd: CrdSection,
    targets: Vec<TargetSection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct CrdSection {
    spec: CrdSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct CrdSpec {
    names: NamesSection,
    #[serde(default, deserialize_with = "or_default")]
    validation: ValidationSection,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct NamesSection {
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    default,
    expecting = "an object"
)]
struct ValidationSection {
    #[serde(rename = "openAPIV3Schema")]
    schema: Option<Json>,
    legacy_schema: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct TargetSection {
    target: String,
    #[serde(default, deserialize_with = "or_default")]
    rego: String,
    #[serde(default, deserialize_with = "or_default")]
    libs: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    code: Vec<CodeSection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct CodeSection {
    engine: String,
    source: Json,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct RegoSection {
    #[serde(default, deserialize_with = "or_default")]
    version: String,
    rego: String,
    #[serde(default, deserialize_with = "or_default")]
    libs: Vec<String>,
}

impl ConstraintTemplate {
    /// Reads and compiles a template.
    ///
    /// # Errors
    /// The template is not valid: names the file, the object and the problem.
    pub fn read(manifest: &Manifest) -> Result<Self, String> {
        let template = Self::compile(manifest);
        let label = manifest.label();
        template.map_err(|problem| format!("{label}: invalid ConstraintTemplate: {problem}"))
    }

    fn compile(manifest: &Manifest) -> Result<Self, String> {
        let version = manifest.version();
        if !VERSIONS.contains(&version) {
            let known = VERSIONS.join("`, `");
            return Err(format!(
                "unknown version `{version}`: expected one of `{known}`"
            ));
        }
        let spec: TemplateSpec = section::read(&manifest.value, "spec")?;
        let CrdSpec { names, validation } = spec.crd.spec;
        let (name, kind) = (manifest.name(), names.kind);
        if name != kind.to_lowercase() {
            return Err(format!(
                "the ConstraintTemplate's name \"{name}\" is not equal to the lowercase of CRD's Kind: \"{kind}\""
            ));
        }
        let target = match <[TargetSection; 1]>::try_from(spec.targets) {
            Ok([target]) if target.target == TARGET => target,
            _ => return Err(format!("`spec.targets`: expected one target, `{TARGET}`")),
        };
        let is_legacy = validation.legacy_schema.unwrap_or(version != "v1");
        let schema = validation.schema.filter(|schema| !schema.is_null());
        let schema = schema.map(|schema| ParametersSchema::new(&schema, !is_legacy));
        Ok(Self {
            code: target.code()?.compile()?,
            schema: schema.transpose()?,
            label: manifest.label(),
            kind,
        })
    }
}

impl TargetSection {
    /// Returns the Rego: that of `rego`, or else that of the engine `Rego`.
    fn code(self) -> Result<TemplateCode, String> {
        if !self.rego.is_empty() {
            if let Some(code) = self
                .code
                .iter()
                .find(|code| code.engine != "K8sNativeValidation")
            {
                return Err(format!(
                    "`spec.targets[0]` has `rego` and code for the engine `{}`: expected one of them",
                    code.engine
                ));
            }
            return Ok(TemplateCode {
                rego: self.rego,
                libs: self.libs,
                version: Version::V0,
            });
        }
        let mut rego = None;
        for (at, code) in self.code.iter().enumerate() {
            match code.engine.as_str() {
                "Rego" if rego.is_none() => rego = Some((at, code)),
                "Rego" => {
                    return Err("`spec.targets[0].code` has the engine `Rego` twice".to_owned());
                }
                // such templates have the same check in Rego
                "K8sNativeValidation" => {}
                engine => {
                    return Err(format!(
                        "`spec.targets[0].code[{at}]`: unknown engine `{engine}`: expected `Rego`"
                    ));
                }
            }
        }
        let Some((at, code)) = rego else {
            let problem = if self.code.is_empty() {
                "`spec.targets[0]`: expected `rego` or `code`"
            } else {
                "the engine `K8sNativeValidation` (CEL) is not supported: the template needs code for the engine `Rego`"
            };
            return Err(problem.to_owned());
        };
        let path = format!("spec.targets[0].code[{at}].source");
        let source: RegoSection = serde_path_to_error::deserialize(&code.source)
            .map_err(|error| format!("`{path}`: {error}"))?;
        let version = match source.version.as_str() {
            "" | "v0" => Version::V0,
            "v1" => Version::V1,
            version => {
                return Err(format!(
                    "`{path}.version`: unknown version `{version}`: expected `v0` or `v1`"
                ));
            }
        };
        Ok(TemplateCode {
            rego: source.rego,
            libs: source.libs,
            version,
        })
    }
}
