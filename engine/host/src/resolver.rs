//! Names to addresses, by the system's resolver.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::thread;

use solon::host::{LookupError, Wait};

/// The addresses of a name. The system's resolver cannot be interrupted, so it works on a thread of its own, which
/// nobody waits for any longer when the wait is over.
pub fn addresses(name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
    let owned = name.to_owned();
    let found = wait.reply(|reply| {
        let work = move || reply.send((owned.as_str(), 0).to_socket_addrs().map(Vec::from_iter));
        // a thread that cannot be had drops the reply, which ends the wait
        let _ = thread::Builder::new()
            .name("solon-resolver".into())
            .spawn(work);
    })?;
    let found = found.map_err(|error| LookupError::Failed(problem(&error)))?;
    let mut addresses: Vec<IpAddr> = found.iter().map(SocketAddr::ip).collect();
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.is_empty() {
        return Err(LookupError::Failed("no such host".to_owned()));
    }
    Ok(addresses)
}

/// What the resolver says, in the words of Rego's users.
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
