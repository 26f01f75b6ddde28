//! Flags for the networks that policies may connect to. Addresses of the configuration, such as services, are not restricted.

use solon_host::{Network, NetworkRules, RestrictedHost};

// a doc comment would replace the description of the command
#[derive(Clone, clap::Args)]
pub struct NetworkArgs {
    /// Fail requests of `http.send` that would connect to an address outside of the public internet, or to a Unix socket
    #[arg(long)]
    deny_private_networks: bool,
    /// Network that `--deny-private-networks` does not deny, like `10.1.0.0/16`; may be given several times
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    allow_network: Vec<Network>,
    /// Allow requests of `http.send` to the metadata services of clouds, which give credentials to every program of the machine
    #[arg(long)]
    allow_metadata: bool,
}

impl NetworkArgs {
    /// Returns the host that policies use, with the network rules of the flags.
    pub fn host(&self) -> RestrictedHost {
        RestrictedHost::new().networks(self.rules())
    }

    /// Returns the flags for a process with the same rules.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if self.deny_private_networks {
            arguments.push("--deny-private-networks".to_owned());
        }
        if self.allow_metadata {
            arguments.push("--allow-metadata".to_owned());
        }
        let allowed = self.allow_network.iter();
        arguments.extend(allowed.map(|network| format!("--allow-network={network}")));
        arguments
    }

    fn rules(&self) -> NetworkRules {
        let mut rules = NetworkRules::unrestricted();
        if !self.allow_metadata {
            rules = rules.deny_metadata();
        }
        if self.deny_private_networks {
            rules = rules.deny_private();
        }
        let allowed = self.allow_network.iter().copied();
        allowed.fold(rules, NetworkRules::allow)
    }
}
