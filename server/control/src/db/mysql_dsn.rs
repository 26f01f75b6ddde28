//! DSNs of MySQL and MariaDB: `mysql://…` and those of Go's driver, with the TLS options of MySQL's clients.

use std::path::Path;

use mysql_async::{Opts, OptsBuilder, SslOpts, UrlError};

use super::tls::read_pem;
use super::{DatabaseTls, DbError};

/// Parameters that this module parses, as MySQL's clients spell them. An underscore is equivalent to a hyphen.
const TLS: [&str; 4] = ["ssl-mode", "ssl-ca", "ssl-cert", "ssl-key"];

/// Parses a DSN. `tls` contains the additions of a secret of the configuration files.
///
/// # Errors
/// A message that names the parameter. It never contains text of the DSN, which may be part of a password.
pub fn read(dsn: &str, tls: &DatabaseTls) -> Result<Opts, DbError> {
    // the client library uses the default provider of the process, and the dependency graph may contain several
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    read_options(dsn, tls).map_err(|message| DbError::Options(format!("DSN of MySQL: {message}")))
}

fn read_options(dsn: &str, tls: &DatabaseTls) -> Result<Opts, String> {
    let (address, query) = split(dsn);
    let (mut kept_pairs, mut values) = (Vec::new(), [""; 4]);
    for (index, pair) in query
        .split('&')
        .enumerate()
        .filter(|(_, pair)| !pair.is_empty())
    {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = name.replace('_', "-").to_ascii_lowercase();
        match TLS
            .iter()
            .position(|known_name| **known_name == name)
            .and_then(|index| values.get_mut(index))
        {
            Some(value_slot) => *value_slot = value,
            None if name.starts_with("ssl-") => {
                return Err(format!(
                    "parameter {} is unknown; known are `{}`",
                    index + 1,
                    TLS.join("`, `")
                ));
            }
            None => kept_pairs.push(pair),
        }
    }
    let [mode, root, certificate, key] = values.map(decode);
    let mode = mode?.to_ascii_uppercase();
    let (root, certificate, key) = (root?, certificate?, key?);
    let url = if dsn.starts_with("mysql://") {
        let separator = if kept_pairs.is_empty() { "" } else { "?" };
        format!("{address}{separator}{}", kept_pairs.join("&"))
    } else {
        of_go(address, &kept_pairs)
    };
    let options = Opts::from_url(&url).map_err(|error| malformed(&error))?;
    let builder = OptsBuilder::from_opts(options).prefer_socket(false);
    let tls = match mode.as_str() {
        "DISABLED" => return Ok(builder.ssl_opts(None::<SslOpts>).into()),
        "" | "PREFERRED" | "REQUIRED" | "VERIFY_IDENTITY" => {
            with_files(tls, &root, &certificate, &key)?
        }
        "VERIFY_CA" => {
            return Err(
                "`ssl-mode=VERIFY_CA` is not supported: use `VERIFY_IDENTITY`, which verifies the name of the host as well"
                    .to_owned(),
            );
        }
        _ => {
            return Err("invalid value for `ssl-mode`: expected `DISABLED`, `PREFERRED`, `REQUIRED` or `VERIFY_IDENTITY`".to_owned());
        }
    };
    let is_required = matches!(mode.as_str(), "REQUIRED" | "VERIFY_IDENTITY");
    if tls.is_empty() && !is_required {
        // parameters of the client library itself may request TLS
        return Ok(builder.into());
    }
    Ok(builder.ssl_opts(Some(tls_options(&tls)?)).into())
}

/// Adds the files that parameters name.
fn with_files(
    tls: &DatabaseTls,
    root: &str,
    certificate: &str,
    key: &str,
) -> Result<DatabaseTls, String> {
    let mut tls = tls.clone();
    if !root.is_empty() {
        if !tls.root_ca.is_empty() {
            return Err("`ssl-ca` and `root_ca` of `credentials` are both set".to_owned());
        }
        tls.root_ca = read_pem("ssl-ca", Path::new(root))?.to_string();
    }
    if certificate.is_empty() != key.is_empty() {
        return Err("`ssl-cert` and `ssl-key` are only valid together".to_owned());
    }
    if !certificate.is_empty() {
        if !tls.certificate.is_empty() {
            return Err("`ssl-cert` and `tls_cert` of `credentials` are both set".to_owned());
        }
        tls.certificate = read_pem("ssl-cert", Path::new(certificate))?.to_string();
        tls.key = read_pem("ssl-key", Path::new(key))?;
    }
    Ok(tls)
}

/// Returns options that require TLS and verify the chain and the name of the server.
fn tls_options(tls: &DatabaseTls) -> Result<SslOpts, String> {
    tls.check()?;
    let mut options = SslOpts::default();
    if !tls.root_ca.is_empty() {
        let roots = tls.root_ca.clone().into_bytes();
        options = options
            .with_root_certs(vec![roots.into()])
            .with_disable_built_in_roots(true);
    }
    if !tls.certificate.is_empty() {
        let chain = tls.certificate.clone().into_bytes();
        let key = tls.key.as_bytes().to_vec();
        let identity = mysql_async::ClientIdentity::new(chain.into(), key.into());
        options = options.with_client_identity(Some(identity));
    }
    Ok(options)
}

/// Splits a DSN into its address and its parameters. A password may contain a question mark.
fn split(dsn: &str) -> (&str, &str) {
    // a URL escapes it
    let name = if dsn.starts_with("mysql://") {
        0
    } else {
        dsn.rfind(")/").or(dsn.rfind('/')).unwrap_or(0)
    };
    let query = dsn.get(name..).and_then(|rest| rest.find('?'));
    match query.and_then(|offset| dsn.split_at_checked(name + offset)) {
        Some((address, query)) => (address, query.strip_prefix('?').unwrap_or_default()),
        None => (dsn, ""),
    }
}

/// Returns the URL for a DSN of Go's driver: `user:password@tcp(host:port)/name`.
fn of_go(dsn: &str, parameters: &[&str]) -> String {
    let (rest, name) = dsn.rsplit_once('/').unwrap_or((dsn, ""));
    // of the parameters of Go's driver, only `tls` is supported
    let mut parameters = parameters.iter();
    let tls = match parameters.find_map(|parameter| parameter.strip_prefix("tls=")) {
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

fn decode(value: &str) -> Result<String, String> {
    super::postgres_dsn::decode(value)
        .ok_or_else(|| "a value of `ssl-…` is not valid percent-encoding".to_owned())
}

/// Returns the message for a DSN that the client library rejects, without text of the DSN.
fn malformed(error: &UrlError) -> String {
    const KNOWN: [&str; 12] = [
        "pool_min",
        "pool_max",
        "conn_ttl",
        "abs_conn_ttl",
        "tcp_keepalive",
        "tcp_nodelay",
        "stmt_cache_size",
        "max_allowed_packet",
        "wait_timeout",
        "compression",
        "require_ssl",
        "verify_ca",
    ];
    match error {
        UrlError::InvalidParamValue { param, .. } if KNOWN.contains(&param.as_str()) => {
            format!("invalid value for `{param}`")
        }
        UrlError::UnknownParameter { param } => match crate::model::nearest(param, &KNOWN) {
            Some(suggestion) => format!("a parameter is unknown; did you mean `{suggestion}`?"),
            None => "a parameter is unknown; if it is part of a password, escape the password"
                .to_owned(),
        },
        _ => {
            "expected `mysql://user:password@host:port/name` or `user:password@tcp(host:port)/name`"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{of_go, split};

    fn url(dsn: &str) -> String {
        let (address, query) = split(dsn);
        of_go(address, &query.split('&').collect::<Vec<_>>())
    }

    #[test]
    fn addresses_of_go() {
        assert_eq!(
            url("root:p@ss/w@tcp(db:3306)/control?parseTime=true"),
            "mysql://root:p%40ss%2Fw@db:3306/control"
        );
        assert_eq!(url("tcp(db)/x"), "mysql://db/x");
        assert_eq!(url("tcp(db)/x?tls=true"), "mysql://db/x?require_ssl=true");
    }
}
