//! The clients of a configuration by name.

use std::collections::BTreeMap;

use crate::client::{Client, ClientOptions};
use crate::config::{KeyConfig, ServicesConfig};

/// The services of a configuration, each with its client.
#[derive(Clone, Debug, Default)]
pub struct Services {
    clients: BTreeMap<String, Client>,
}

impl Services {
    /// Returns the clients of all services. `keys` are the keys that credentials refer to.
    ///
    /// # Errors
    /// A service or its credentials are not valid, or not supported. The message names the key of the configuration.
    pub fn new(
        config: &ServicesConfig,
        keys: &BTreeMap<String, KeyConfig>,
        options: &ClientOptions,
    ) -> Result<Self, String> {
        Self::default().changed(config, keys, options)
    }

    /// Returns the clients of a changed configuration. Services that did not change keep their clients with connections and
    /// tokens.
    ///
    /// # Errors
    /// See [`Self::new`].
    pub fn changed(
        &self,
        config: &ServicesConfig,
        keys: &BTreeMap<String, KeyConfig>,
        options: &ClientOptions,
    ) -> Result<Self, String> {
        let mut clients = BTreeMap::new();
        for (name, service) in config.named()? {
            let before = self.clients.get(name);
            let client = match before.filter(|client| client.is_of(service, keys)) {
                Some(client) => client.clone(),
                None => Client::new(name, service, keys, options)
                    .map_err(|error| format!("services.{name}.{error}"))?,
            };
            clients.insert(name.to_owned(), client);
        }
        Ok(Self { clients })
    }

    /// Returns the client of a service, or `None` if no service has this name.
    pub fn get(&self, name: &str) -> Option<&Client> {
        self.clients.get(name)
    }

    /// Returns the names of all services in ascending order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.clients.keys().map(String::as_str)
    }

    /// Returns the only service, if there is exactly one: bundles and logs without a `service` use it.
    pub fn only(&self) -> Option<&Client> {
        match self.clients.len() {
            1 => self.clients.values().next(),
            _ => None,
        }
    }
}
