//! The section `services`, which is an object or a list.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::ServiceConfig;

/// Mark in the schema of an object that may be a list as well.
pub const LIST: &str = "list";

/// Services, which OPA accepts as an object by name or as a list.
#[derive(Clone, Debug, PartialEq)]
pub enum ServicesConfig {
    /// Services by name.
    Named(BTreeMap<String, ServiceConfig>),
    /// Services that have a `name` each.
    Listed(Vec<ServiceConfig>),
}

impl Default for ServicesConfig {
    fn default() -> Self {
        Self::Named(BTreeMap::new())
    }
}

impl ServicesConfig {
    /// Returns the services with their names.
    ///
    /// # Errors
    /// An item of a list has no name, or the name of another one.
    pub fn named(&self) -> Result<Vec<(&str, &ServiceConfig)>, String> {
        let list = match self {
            Self::Named(services) => {
                let services = services
                    .iter()
                    .map(|(name, service)| (name.as_str(), service));
                return Ok(services.collect());
            }
            Self::Listed(list) => list,
        };
        let mut names = BTreeSet::new();
        let items = list.iter().enumerate().map(|(index, service)| {
            let name = service.name.as_deref().filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| format!("services[{index}].name: missing"))?;
            if !names.insert(name) {
                return Err(format!(
                    "services[{index}].name: `{name}` is the name of an earlier service"
                ));
            }
            Ok((name, service))
        });
        items.collect()
    }
}

impl<'de> Deserialize<'de> for ServicesConfig {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ServicesVisitor)
    }
}

struct ServicesVisitor;

impl<'de> Visitor<'de> for ServicesVisitor {
    type Value = ServicesConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ServicesConfig, A::Error> {
        BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(ServicesConfig::Named)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<ServicesConfig, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(ServicesConfig::Listed)
    }
}

impl JsonSchema for ServicesConfig {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Services".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let mut schema = BTreeMap::<String, ServiceConfig>::json_schema(schemas);
        schema.insert(LIST.to_owned(), true.into());
        schema
    }
}
