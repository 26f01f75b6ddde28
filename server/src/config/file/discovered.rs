//! Merging of the discovered configuration with the startup configuration.

use serde_json::{Map, Value};

use super::redacted::masked;
use super::settings::Settings;
use super::{Config, schema};

/// Sections that only the startup configuration may contain: limits, authorization, storage and the destinations of data.
const OF_THE_START: [&str; 8] = [
    "caching",
    "capabilities",
    "default_authorization_decision",
    "distributed_tracing",
    "metrics_export",
    "persistence_directory",
    "server",
    "storage",
];

/// Members that a discovered service may have. Others read files and credentials of this machine, or weaken TLS.
const SERVICE: [&str; 5] = [
    "name",
    "url",
    "headers",
    "response_header_timeout_seconds",
    "credentials",
];

/// Configuration that consists of the startup configuration and a discovered one.
pub struct DiscoveredConfig {
    /// The configuration of the start with that of the bundle merged into it.
    pub config: Config,
    /// Keys of the discovered configuration that have other values in the startup configuration, which take precedence.
    pub overridden: Vec<String>,
}

impl Config {
    /// Returns this configuration merged with a discovered one. The values of this one take precedence, as in OPA.
    ///
    /// # Errors
    /// Fails if the document is not an object, is not valid, or contains sections that only the startup configuration may contain.
    pub fn discovered(&self, document: &Value) -> Result<DiscoveredConfig, String> {
        let Value::Object(discovered) = document else {
            return Err("the discovered configuration is not an object".to_owned());
        };
        for (name, section) in discovered {
            if OF_THE_START.contains(&name.as_str()) {
                return Err(of_the_start(name));
            }
            match name.as_str() {
                "services" => self.check_services(section)?,
                "keys" => self.check_members("keys", section)?,
                "decision_logs" if section.get("otlp").is_some_and(|otlp| !otlp.is_null()) => {
                    return Err(of_the_start("decision_logs.otlp"));
                }
                _ => {}
            }
        }
        let document = &without_own_keys(discovered);
        let mut overridden = Vec::new();
        let mut value = self.value.clone();
        add(&mut value, document, "", &mut overridden);
        let mut without_variables = self.without_variables.clone();
        let masked = masked(document, document);
        add(&mut without_variables, &masked, "", &mut Vec::new());
        let (document, warnings) = schema::read(&value)?;
        let config = Self {
            settings: Settings::from_document(document, &super::service_names(&value))?,
            warnings,
            value,
            without_variables,
        };
        Ok(DiscoveredConfig { config, overridden })
    }

    /// Checks that the services of the startup configuration are unchanged, and that other services use only credentials of the
    /// discovered document.
    fn check_services(&self, section: &Value) -> Result<(), String> {
        let Value::Object(services) = section else {
            return Err("services: a discovered configuration needs an object".to_owned());
        };
        let startup_services = self.value.get("services").cloned().unwrap_or_default();
        let discovery = self.settings.plugins.discovery.as_ref();
        let discovery = discovery.and_then(|discovery| discovery.bundle.location.service());
        for (name, service) in services {
            let before = match &startup_services {
                Value::Array(items) => items
                    .iter()
                    .find(|item| item.get("name").and_then(Value::as_str) == Some(name)),
                section_of_services => section_of_services.get(name),
            };
            match before {
                Some(before) if before == service => continue,
                Some(_) if discovery == Some(name) => {
                    return Err("updates to the discovery service are not allowed".to_owned());
                }
                Some(_) => return Err(of_the_start(&format!("services.{name}"))),
                None => {}
            }
            let members = service.as_object().into_iter().flat_map(Map::keys);
            if let Some(member) = members
                .into_iter()
                .find(|member| !SERVICE.contains(&member.as_str()))
            {
                return Err(of_the_start(&format!("services.{name}.{member}")));
            }
            let credentials = service.get("credentials").and_then(Value::as_object);
            for (kind, credential) in credentials.into_iter().flatten() {
                let members = credential.as_object().into_iter().flat_map(Map::keys);
                let mut members = members.map(String::as_str);
                if kind != "bearer" || !members.all(|name| matches!(name, "token" | "scheme")) {
                    return Err(of_the_start(&format!("services.{name}.credentials.{kind}")));
                }
            }
        }
        Ok(())
    }

    /// Checks that members of a section are unchanged.
    ///
    /// # Errors
    /// A member has another value than at the start. The error names it.
    fn check_members(&self, name: &str, section: &Value) -> Result<(), String> {
        let startup_section = self.value.get(name);
        for (member, value) in section.as_object().into_iter().flatten() {
            let before = startup_section.and_then(|startup_fields| startup_fields.get(member));
            if before.is_some_and(|before| before != value) {
                return Err(of_the_start(&format!("{name}.{member}")));
            }
        }
        Ok(())
    }
}

/// Returns a discovered document without the section `discovery`, and without the labels that identify this server.
fn without_own_keys(discovered: &Map<String, Value>) -> Value {
    let mut document = discovered.clone();
    document.remove("discovery");
    if let Some(labels) = document.get_mut("labels").and_then(Value::as_object_mut) {
        labels.remove("id");
        labels.remove("version");
    }
    Value::Object(document)
}

fn of_the_start(key: &str) -> String {
    format!("{key}: belongs to the configuration of the start, and discovery cannot change it")
}

/// Adds the missing members of the object `startup` at a path, and the paths of existing members with other values to `overridden`.
/// In the startup configuration, services may be a list.
fn add(startup: &mut Value, discovered: &Value, path: &str, overridden: &mut Vec<String>) {
    if let (Value::Array(startup_items), Value::Object(discovered_members)) =
        (&mut *startup, discovered)
    {
        for (name, value) in discovered_members {
            let is_named = |item: &Value| item.get("name").and_then(Value::as_str) == Some(name);
            if !startup_items.iter().any(is_named) {
                let mut value = value.clone();
                if let Value::Object(fields) = &mut value {
                    fields.insert("name".to_owned(), name.as_str().into());
                }
                startup_items.push(value);
            }
        }
        return;
    }
    let (Value::Object(startup_members), Value::Object(discovered_members)) =
        (&mut *startup, discovered)
    else {
        if startup != discovered {
            overridden.push(path.to_owned());
        }
        return;
    };
    for (name, value) in discovered_members {
        match startup_members.get_mut(name) {
            None | Some(Value::Null) => {
                startup_members.insert(name.clone(), value.clone());
            }
            Some(startup_member) => {
                let separator = if path.is_empty() { "" } else { "." };
                add(
                    startup_member,
                    value,
                    &format!("{path}{separator}{name}"),
                    overridden,
                );
            }
        }
    }
}
