//! Resolves names with the resolver of the system.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::thread;

use solon::host::{LookupError, Wait};

/// Returns the addresses of a name. The resolver of the system cannot be interrupted, so it runs on its own thread, which is
/// abandoned when the wait ends.
pub fn addresses(name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
    let owned = name.to_owned();
    let result = wait.reply(|reply| {
        let work = move || reply.send((owned.as_str(), 0).to_socket_addrs().map(Vec::from_iter));
        // if the thread cannot be created, the sender is dropped, which ends the wait
        let _ = thread::Builder::new()
            .name("solon-resolver".into())
            .spawn(work);
    })?;
    let socket_addresses = result.map_err(|error| LookupError::Failed(problem(&error)))?;
    let mut addresses: Vec<IpAddr> = socket_addresses.iter().map(SocketAddr::ip).collect();
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.is_empty() {
        return Err(LookupError::Failed("no such host".to_owned()));
    }
    Ok(addresses)
}

/// Returns the error of the resolver, in the wording of Rego users.
pub fn problem(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit(": ").next().unwrap_or(&text);
    match text {
        "Name or service not known" | "No address associated with hostname" => {
            "no such host".into()
        }
        other => other.to_lowercase(),
    }
}
