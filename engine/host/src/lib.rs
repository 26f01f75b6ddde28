//! Implements [`solon::Host`] by the system: its clock, random source and resolver, and an HTTP client.
//!
//! The feature `http`, enabled by default, contains the client. Without it `http.send` fails and no network code is linked.

mod errno;
mod files;
#[cfg(feature = "http")]
mod http;
mod resolver;
mod restricted;

pub use errno::text as error_text;
pub use files::SystemFiles;
pub use restricted::RestrictedHost;
#[cfg(feature = "http")]
pub use solon_outbound::networks::{Network, NetworkRules};

use std::net::IpAddr;
use std::path::Path;
#[cfg(feature = "http")]
use std::sync::Arc;
use std::sync::LazyLock;

use solon::host::{HostError, LookupError, OfflineHost, Wait, runtime_of};
use solon::{Host, Value};

/// Maximum size, in bytes, of a file of certificates or keys that a request names (`tls_ca_cert_file`).
const CERTIFICATE_FILE_BYTES: u64 = 16 << 20;

/// Environment at the first use by a policy. Cached, because other processes cannot change it.
static RUNTIME: LazyLock<Value> = LazyLock::new(|| {
    runtime_of(std::env::vars_os().map(|(name, value)| {
        (
            name.to_string_lossy().into_owned(),
            value.to_string_lossy().into_owned(),
        )
    }))
});

/// Network rules of [`SystemHost`].
#[cfg(feature = "http")]
static UNRESTRICTED: LazyLock<Arc<NetworkRules>> = LazyLock::new(Arc::default);

/// The system that this process runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    fn now_ns(&self) -> i64 {
        OfflineHost.now_ns()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        OfflineHost.fill_random(buffer)
    }

    fn runtime(&self) -> Value {
        RUNTIME.clone()
    }

    fn addresses(&self, name: &str, wait: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        resolver::addresses(name, wait)
    }

    #[cfg(not(feature = "http"))]
    fn send(
        &self,
        _: &solon::host::HttpRequest,
        _: &Wait<'_>,
    ) -> Result<solon::host::HttpResponse, solon::host::HttpError> {
        let message = "`solon_host` was built without its feature `http`";
        Err(solon::host::HttpError::new(
            solon::host::HttpErrorKind::NoNetwork,
            message,
        ))
    }

    #[cfg(feature = "http")]
    fn send(
        &self,
        request: &solon::host::HttpRequest,
        wait: &Wait<'_>,
    ) -> Result<solon::host::HttpResponse, solon::host::HttpError> {
        http::send(request, &UNRESTRICTED, wait)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, HostError> {
        files::read_bounded(Path::new(path), CERTIFICATE_FILE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn the_clock_runs_and_random_bytes_differ() {
        let host = SystemHost;
        assert!(host.now_ns() > 1_700_000_000_000_000_000);
        let (mut a, mut b) = ([0; 32], [0; 32]);
        host.fill_random(&mut a).unwrap();
        host.fill_random(&mut b).unwrap();
        assert_ne!(a, b);
    }

    #[test]
    fn files_and_variables_are_those_of_the_system() {
        let host = SystemHost;
        let path = host.variable("PATH");
        assert!(path.is_some());
        let mut runtime_text = Vec::new();
        solon::json::write(host.runtime().borrow(), &mut runtime_text);
        let runtime: serde_json::Value = serde_json::from_slice(&runtime_text).unwrap_or_default();
        assert_eq!(runtime["env"]["PATH"].as_str(), path.as_deref());
        assert_eq!(
            host.file("/no/such/file"),
            Err(HostError::new(
                ErrorKind::NotFound,
                "no such file or directory"
            ))
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let path = std::env::temp_dir().join(format!("solon-host-file-{}", std::process::id()));
        let text = path.to_str().unwrap();
        let file = std::fs::File::create(&path).unwrap();
        for (length, is_read) in [
            (0, true),
            (CERTIFICATE_FILE_BYTES, true),
            (CERTIFICATE_FILE_BYTES + 1, false),
            (1 << 40, false),
        ] {
            file.set_len(length).unwrap();
            let result = SystemHost.file(text);
            if is_read {
                assert_eq!(result.unwrap().len() as u64, length);
            } else {
                let error = result.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::FileTooLarge);
                assert_eq!(error.to_string(), "file is larger than 16777216 bytes");
            }
        }
        let link = path.with_extension("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        file.set_len(3).unwrap();
        assert_eq!(SystemHost.file(link.to_str().unwrap()).unwrap().len(), 3);
        std::fs::remove_file(&link).unwrap();
        std::fs::remove_file(&path).unwrap();
        // each of these would block forever
        let pipe = std::process::Command::new("mkfifo").arg(&path).status();
        for name in ["/dev/zero", "/dev/tty", text] {
            if name != text || pipe.as_ref().is_ok_and(|status| status.success()) {
                let result = SystemHost.file(name);
                let expected = HostError::new(ErrorKind::InvalidInput, "not a regular file");
                assert_eq!(result, Err(expected), "{name}");
            }
        }
        let _ = std::fs::remove_file(&path);
        let expected = HostError::new(ErrorKind::IsADirectory, "is a directory");
        assert_eq!(SystemHost.file("/"), Err(expected));
    }

    #[test]
    fn names_have_addresses_or_none() {
        let host = SystemHost;
        let addresses = host.addresses("localhost", &Wait::default());
        assert!(addresses.is_ok_and(|addresses| addresses.iter().all(IpAddr::is_loopback)));
        let missing = host.addresses("no-such-name.invalid", &Wait::default());
        assert!(
            matches!(missing, Err(LookupError::Failed(_))),
            "{missing:?}"
        );
    }
}
