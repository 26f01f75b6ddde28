//! Which database, and how it is reached.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::DbError;

/// Which database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseOptions {
    /// SQLite in a file.
    Sqlite(PathBuf),
    /// SQLite in memory, gone with the process.
    Memory,
    /// A PostgreSQL server by its DSN: `postgres://user@host/name`, or words.
    Postgres(String, DatabaseTls),
    /// A MySQL or MariaDB server: `mysql://user@host/name`, or `user:password@tcp(host:port)/name`.
    Mysql(String, DatabaseTls),
}

/// What TLS to a database needs beyond what the system trusts, as PEM texts; empty where there is nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct DatabaseTls {
    /// Authorities to trust instead of the system's.
    pub root_ca: String,
    /// The certificate that is shown.
    pub certificate: String,
    /// Its key.
    pub key: zeroize::Zeroizing<String>,
}

impl std::fmt::Debug for DatabaseOptions {
    /// Never a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "Sqlite({})", path.display()),
            Self::Memory => f.write_str("Memory"),
            Self::Postgres(..) => f.write_str("Postgres(…)"),
            Self::Mysql(..) => f.write_str("Mysql(…)"),
        }
    }
}

impl DatabaseTls {
    /// Whether there is nothing beyond what the system trusts.
    pub(super) fn is_empty(&self) -> bool {
        self.root_ca.is_empty() && self.certificate.is_empty()
    }

    /// What rustls needs.
    pub(super) fn client_config(&self) -> Result<Arc<rustls::ClientConfig>, DbError> {
        let wrong = |what: &str| DbError::Other(format!("{what} of the database is no PEM"));
        let mut roots = RootCertStore::empty();
        if self.root_ca.is_empty() {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        } else {
            for certificate in CertificateDer::pem_slice_iter(self.root_ca.as_bytes()) {
                let certificate = certificate.map_err(|_| wrong("the authority"))?;
                roots.add(certificate).map_err(|_| wrong("the authority"))?;
            }
            if roots.is_empty() {
                return Err(wrong("the authority"));
            }
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| DbError::Other(error.to_string()))?
            .with_root_certificates(roots);
        let config = if self.certificate.is_empty() {
            builder.with_no_client_auth()
        } else {
            let chain: Result<Vec<_>, _> =
                CertificateDer::pem_slice_iter(self.certificate.as_bytes()).collect();
            let chain = chain.map_err(|_| wrong("the certificate"))?;
            let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes());
            let key = key.map_err(|_| wrong("the key"))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| DbError::Other(error.to_string()))?
        };
        Ok(Arc::new(config))
    }

    /// What the client of MySQL needs; nothing where the address alone says it.
    pub(super) fn mysql(&self) -> Option<mysql_async::SslOpts> {
        // the client takes the provider of the process, and there may be several in a graph
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        if self.is_empty() {
            return None;
        }
        let mut options = mysql_async::SslOpts::default();
        if !self.root_ca.is_empty() {
            let roots = self.root_ca.clone().into_bytes();
            options = options
                .with_root_certs(vec![roots.into()])
                .with_disable_built_in_roots(true);
        }
        if !self.certificate.is_empty() {
            let chain = self.certificate.clone().into_bytes();
            let key = self.key.as_bytes().to_vec();
            let identity = mysql_async::ClientIdentity::new(chain.into(), key.into());
            options = options.with_client_identity(Some(identity));
        }
        Some(options)
    }
}

/// The address that a DSN of Go's driver means: `user:password@tcp(host:port)/name`. Others stay as they are.
pub(super) fn mysql_url(dsn: &str) -> String {
    if dsn.starts_with("mysql://") {
        return dsn.to_owned();
    }
    let (rest, name) = dsn.rsplit_once('/').unwrap_or((dsn, ""));
    let (name, params) = name.split_once('?').unwrap_or((name, ""));
    // of what Go's driver may be told this alone has a meaning here
    let tls = match params
        .split('&')
        .find_map(|param| param.strip_prefix("tls="))
    {
        None | Some("" | "false" | "preferred") => "",
        Some("skip-verify") => "?require_ssl=true&verify_ca=false&verify_identity=false",
        Some(_) => "?require_ssl=true",
    };
    let (user, address) = rest.rsplit_once('@').unwrap_or(("", rest));
    let address = address
        .strip_prefix("tcp(")
        .and_then(|address| address.strip_suffix(')'))
        .unwrap_or(address);
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let mut url = String::from("mysql://");
    if !user.is_empty() {
        url += &escape(user);
        if !password.is_empty() {
            url = url + ":" + &escape(password);
        }
        url.push('@');
    }
    let address = if address.is_empty() {
        "localhost"
    } else {
        address
    };
    format!("{url}{address}/{name}{tls}")
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::mysql_url;

    #[test]
    fn addresses_of_go() {
        assert_eq!(mysql_url("mysql://a@b/c"), "mysql://a@b/c");
        assert_eq!(
            mysql_url("root:p@ss/w@tcp(db:3306)/control?parseTime=true"),
            "mysql://root:p%40ss%2Fw@db:3306/control"
        );
        assert_eq!(mysql_url("tcp(db)/x"), "mysql://db/x");
        assert_eq!(
            mysql_url("tcp(db)/x?tls=true"),
            "mysql://db/x?require_ssl=true"
        );
    }
}
