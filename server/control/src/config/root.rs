//! The schema of configuration files: parsing and checks.

use std::collections::BTreeMap;

use serde_json::Value;
use solon_common::substitution::Variables;
use zeroize::Zeroizing;

use super::ConfigError;
use super::environment::expand;
use super::files::{ConfigFiles, Merged};
use super::settings::{Settings, read_audit, read_database, read_metrics, read_service};
use crate::limits;
use crate::model::{
    Bundle, Compat, FieldPath, Kind, Origin, Reader, Reference, Resource, Role, Secret,
    SecretValue, Source, Stack, check_name,
};

pub struct Described {
    pub kind: Kind,
    pub name: String,
    pub file: String,
    /// The item as JSON.
    pub body: String,
    pub references: Vec<Reference>,
}

pub struct DescribedSecret {
    pub name: String,
    pub file: String,
    pub value: SecretValue,
    /// The hosts that may receive the secret from items of other owners.
    pub allowed_hosts: Vec<String>,
}

pub struct DescribedToken {
    pub name: String,
    pub file: String,
    pub key: Zeroizing<String>,
    pub role: Role,
}

/// The content of the configuration files.
pub struct Config {
    /// Settings of the service: database, prefix and metrics.
    pub settings: Settings,
    /// Secrets that the files describe.
    pub secrets: Vec<DescribedSecret>,
    /// Sources, each after the sources that it requires, then bundles, then stacks.
    pub items: Vec<Described>,
    /// Tokens that the files describe.
    pub tokens: Vec<DescribedToken>,
    /// `metadata.generation`, which orders configurations.
    pub generation: Option<i64>,
}

/// The sections that are not settings.
const SECTIONS: [&str; 6] = [
    "bundles", "sources", "stacks", "secrets", "tokens", "metadata",
];

/// The state of the parser.
struct Reading<'r> {
    compat: Compat,
    merged: &'r Merged,
    problems: Vec<String>,
}

impl Config {
    /// Reads and checks files.
    ///
    /// # Errors
    /// All problems, with their paths and files.
    pub fn load(
        files: &ConfigFiles,
        compat: Compat,
        variables: Variables<'_>,
    ) -> Result<Self, ConfigError> {
        let mut merged = files.load()?;
        let missing = expand_variables(&mut merged.value.0, compat, variables);
        let mut reading = Reading {
            compat,
            merged: &merged,
            problems: missing,
        };
        let secrets = reading.secrets();
        let tokens = reading.tokens();
        let mut items = reading.items::<Source>();
        in_order(&mut items, &mut reading.problems);
        items.extend(reading.items::<Bundle>());
        items.extend(reading.items::<Stack>());
        let settings = reading.settings(&secrets);
        let generation = reading.generation();
        if reading.problems.is_empty() {
            Ok(Self {
                settings,
                secrets,
                items,
                tokens,
                generation,
            })
        } else {
            Err(ConfigError(reading.problems))
        }
    }
}

/// Expands variables where they are allowed: in keys, credentials, and addresses of data and of the database.
fn expand_variables(value: &mut Value, compat: Compat, variables: Variables<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut put = |path: String, value: Option<&mut Value>| {
        let mut missing = Vec::new();
        if let Some(value) = value {
            expand(value, variables, &mut missing);
        }
        // OPA Control Plane replaces unset variables by the empty string
        if compat == Compat::Strict {
            let missing_variable = |name| {
                format!("{path} needs the variable {name}, which is not set; `$$` is a dollar")
            };
            problems.extend(missing.into_iter().map(missing_variable));
        }
    };
    put("database".to_owned(), value.get_mut("database"));
    for section in ["secrets", "tokens", "sources"] {
        let items = value.get_mut(section).and_then(Value::as_object_mut);
        for (name, item) in items.into_iter().flatten() {
            let path = format!("{section}.{name}");
            match section {
                "secrets" => put(path, Some(item)),
                "tokens" => put(path, item.get_mut("api_key")),
                _ => {
                    let list = item.get_mut("datasources").and_then(Value::as_array_mut);
                    for (index, datasource) in list.into_iter().flatten().enumerate() {
                        put(
                            format!("{path}.datasources[{index}].config"),
                            datasource.get_mut("config"),
                        );
                    }
                }
            }
        }
    }
    problems
}

impl Reading<'_> {
    /// Reads each item of a section, with the file that describes it.
    fn each<T>(
        &mut self,
        section: &'static str,
        mut read_item: impl FnMut(&mut Reader, &FieldPath<'_>, &str, &Value) -> Option<T>,
    ) -> Vec<(String, String, T)> {
        let mut items_read = Vec::new();
        let field_path = FieldPath::Root.member(section);
        let items = match self.merged.value.0.get(section) {
            None => return items_read,
            Some(Value::Object(items)) => items,
            Some(other) => {
                let mut reader = Reader::new(self.compat, Origin::File);
                reader.expected(&field_path, "an object", other);
                self.finish("", reader);
                return items_read;
            }
        };
        for (name, value) in items {
            let mut reader = Reader::new(self.compat, Origin::File);
            let field_path = field_path.member(name);
            if let Err(message) = check_name(name) {
                reader.report(&field_path, format_args!("has a name that {message}"));
            }
            let item = read_item(&mut reader, &field_path, name, value);
            let key = (section.to_owned(), name.clone());
            let file = self.merged.files.get(&key).cloned().unwrap_or_default();
            if self.finish(&file, reader)
                && let Some(item) = item
            {
                items_read.push((name.clone(), file, item));
            }
        }
        items_read
    }

    /// Adds the problems of a reader. Returns `true` if there are none.
    fn finish(&mut self, file: &str, reader: Reader) -> bool {
        match reader.finish(()) {
            Ok(()) => true,
            Err(problems) => {
                let messages = problems.iter().map(|message| match file {
                    "" => message.to_owned(),
                    file => format!("{file}: {message}"),
                });
                self.problems.extend(messages);
                false
            }
        }
    }

    fn secrets(&mut self) -> Vec<DescribedSecret> {
        let read_secret =
            |reader: &mut Reader, field_path: &FieldPath<'_>, _: &str, value: &Value| {
                let secret = Secret::read(reader, field_path, value);
                Some((secret.value?, secret.allowed_hosts))
            };
        let secrets = self.each("secrets", read_secret).into_iter();
        let describe_secret = |(name, file, (value, allowed_hosts))| DescribedSecret {
            name,
            file,
            value,
            allowed_hosts,
        };
        secrets.map(describe_secret).collect()
    }

    fn tokens(&mut self) -> Vec<DescribedToken> {
        let compat = self.compat;
        let read_token =
            |reader: &mut Reader, field_path: &FieldPath<'_>, name: &str, value: &Value| {
                let mut members = reader.object(field_path, value);
                members.take("name");
                let key = Zeroizing::new(members.required(reader, field_path, "api_key"));
                check_key(reader, &field_path.member("api_key"), compat, name, &key);
                let scopes_place = field_path.member("scopes");
                let scopes = members.take("scopes");
                let scopes = scopes.map_or(&[][..], |scopes| reader.array(&scopes_place, scopes));
                if scopes.len() != 1 {
                    reader.report(&scopes_place, "must have exactly one scope");
                }
                members.end(reader, field_path);
                let scope_place = scopes_place.element(0);
                let mut scope = reader.object(&scope_place, scopes.first()?);
                let role = scope.take("role");
                scope.end(reader, &scope_place);
                let field_path = scope_place.member("role");
                let Some(role) = role else {
                    reader.report(&field_path, "is required");
                    return None;
                };
                Some((key, Role::read(reader, &field_path, role)?))
            };
        let tokens = self.each("tokens", read_token).into_iter();
        let describe_token = |(name, file, (key, role))| DescribedToken {
            name,
            file,
            key,
            role,
        };
        tokens.map(describe_token).collect()
    }

    fn items<R: Resource>(&mut self) -> Vec<Described> {
        let read_resource =
            |reader: &mut Reader, field_path: &FieldPath<'_>, name: &str, value: &Value| {
                let mut item = match value {
                    // a source without members contains only pushed data
                    Value::Null if R::KIND == Kind::Source => {
                        R::read(reader, field_path, &serde_json::json!({}))
                    }
                    value => R::read(reader, field_path, value),
                };
                // the key of the section takes precedence over the name in the item
                item.set_name(name);
                let references = item.references();
                Some((serde_json::to_string(&item).ok()?, references))
            };
        let resources = self.each(R::KIND.plural(), read_resource).into_iter();
        let describe_item = |(name, file, (body, references))| Described {
            kind: R::KIND,
            name,
            file,
            body,
            references,
        };
        resources.map(describe_item).collect()
    }

    /// Reads `metadata.generation`. Other members of `metadata` are for tools.
    fn generation(&mut self) -> Option<i64> {
        let generation = self.merged.value.0.get("metadata")?.get("generation")?;
        if generation.is_null() {
            return None;
        }
        let mut reader = Reader::new(self.compat, Origin::File);
        let field_path = FieldPath::Root.member("metadata");
        let field_path = field_path.member("generation");
        let generation = reader.integer(&field_path, generation);
        self.finish("", reader);
        Some(generation)
    }

    fn settings(&mut self, secrets: &[DescribedSecret]) -> Settings {
        let mut reader = Reader::new(self.compat, Origin::File);
        let root = FieldPath::Root;
        let mut members = reader.object(&root, &self.merged.value.0);
        for section in SECTIONS {
            members.take(section);
        }
        let secret = |name: &str| {
            let secret = secrets.iter().find(|secret| secret.name == name)?;
            Some(secret.value.clone())
        };
        let database = members
            .take("database")
            .and_then(|value| read_database(&mut reader, &root.member("database"), value, secret));
        let api_prefix = members
            .take("service")
            .and_then(|value| read_service(&mut reader, &root.member("service"), value));
        let metrics = members
            .take("metrics")
            .map(|value| read_metrics(&mut reader, &root.member("metrics"), value))
            .unwrap_or_default();
        let audit_retention = members
            .take("audit")
            .and_then(|value| read_audit(&mut reader, &root.member("audit"), value));
        let tracing = members.take("distributed_tracing").cloned();
        members.end(&mut reader, &root);
        self.finish("", reader);
        Settings {
            database,
            api_prefix,
            metrics,
            tracing,
            audit_retention,
        }
    }
}

/// Rejects a key of a token that is too short to be secure. Files for OPA Control Plane may contain shorter ones.
fn check_key(
    reader: &mut Reader,
    field_path: &FieldPath<'_>,
    compat: Compat,
    token: &str,
    key: &str,
) {
    let min_length = limits::TOKEN_KEY;
    if key.is_empty() || key.chars().count() >= min_length {
        return;
    }
    match compat {
        Compat::Strict => reader.report(
            field_path,
            format_args!(
                "must have at least {min_length} characters: `openssl rand -hex 32` makes one"
            ),
        ),
        Compat::Ocp => tracing::warn!(
            token,
            "the api_key of a token has fewer than {min_length} characters and may be guessed"
        ),
    }
}

/// Sorts sources topologically: each after the sources that it requires.
fn in_order(sources: &mut Vec<Described>, problems: &mut Vec<String>) {
    let mut pending: BTreeMap<String, Described> = sources
        .drain(..)
        .map(|source| (source.name.clone(), source))
        .collect();
    while !pending.is_empty() {
        let is_ready = |source: &Described| {
            let mut references = source.references.iter();
            !references.any(|reference| {
                reference.kind == Kind::Source && pending.contains_key(&reference.name)
            })
        };
        let ready_sources = pending.values().filter(|source| is_ready(source));
        let ready_names: Vec<String> = ready_sources.map(|source| source.name.clone()).collect();
        if ready_names.is_empty() {
            let first = pending.keys().next().cloned().unwrap_or_default();
            let requires = pending.iter().map(|(name, source)| {
                let names = source
                    .references
                    .iter()
                    .map(|reference| reference.name.clone());
                (name.clone(), names.collect())
            });
            let requires: BTreeMap<String, Vec<String>> = requires.collect();
            let mut cycles = pending
                .keys()
                .filter_map(|name| crate::model::cycle(name, &requires));
            let cycle = cycles.next().map_or(first, |cycle| cycle.join(" → "));
            problems.push(format!("sources require one another: {cycle}"));
            return;
        }
        sources.extend(ready_names.iter().filter_map(|name| pending.remove(name)));
    }
}
