//! DSNs of PostgreSQL: `postgres://…` and keywords with values, with the TLS parameters of libpq.

use std::path::Path;
use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, SslMode};

use super::tls::{Verification, read_pem};
use super::{DatabaseTls, DbError};

/// Parameters that this module parses. The client library parses the others.
const TLS: [&str; 4] = ["sslmode", "sslrootcert", "sslcert", "sslkey"];

/// Parameters of other clients that are accepted without effect, with the only values that this client can honor.
const WITHOUT_EFFECT: [(&str, &[&str]); 4] = [
    ("gssencmode", &["disable", "prefer"]),
    ("sslcompression", &["0"]),
    ("sslsni", &["1"]),
    ("client_encoding", &["utf8", "utf-8", "auto"]),
];

/// Names of parameters that the client library parses.
const OF_LIBRARY: [&str; 17] = [
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "sslnegotiation",
    "host",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
];

/// Parameters of other clients that this client cannot honor.
const UNSUPPORTED: [&str; 14] = [
    "gsslib",
    "krbsrvname",
    "passfile",
    "pool_max_conns",
    "require_auth",
    "requirepeer",
    "search_path",
    "service",
    "sslcertmode",
    "sslcrl",
    "sslcrldir",
    "sslpassword",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
];

/// Connection settings of a PostgreSQL server, parsed from a DSN.
#[derive(Debug)]
pub struct PostgresDsn {
    /// Hosts, database and user.
    pub config: Config,
    /// TLS settings, or `None` for connections without TLS.
    pub tls: Option<Arc<rustls::ClientConfig>>,
}

impl PostgresDsn {
    /// Parses a DSN. `tls` contains the additions of a secret of the configuration files.
    ///
    /// # Errors
    /// A message that names the parameter. It never contains text of the DSN, which may be part of a password.
    pub fn read(dsn: &str, tls: &DatabaseTls) -> Result<Self, DbError> {
        read(dsn, tls).map_err(|message| DbError::Options(format!("DSN of PostgreSQL: {message}")))
    }
}

fn read(dsn: &str, tls: &DatabaseTls) -> Result<PostgresDsn, String> {
    let (rest, parameters) = split(dsn)?;
    let mut config: Config = rest.parse().map_err(|error| malformed(&error))?;
    let find = |name: &str| {
        let mut matching = parameters.iter().rev();
        let matching = matching.find(|(key, _)| key == name);
        matching.map_or("", |(_, value)| value.as_str())
    };
    let mode = SslRequirement::read(find("sslmode"), find("sslrootcert"))?;
    let mut tls = tls.clone();
    if mode != SslRequirement::Disable {
        add_files(
            &mut tls,
            find("sslrootcert"),
            find("sslcert"),
            find("sslkey"),
        )?;
    }
    let verification = match mode {
        SslRequirement::Disable => None,
        SslRequirement::Prefer if tls.is_empty() => None,
        SslRequirement::VerifyCa if tls.root_ca.is_empty() => {
            return Err(
                "`sslmode=verify-ca` needs `sslrootcert` with a file: without one, every server with a certificate of a public authority would be accepted"
                    .to_owned(),
            );
        }
        SslRequirement::VerifyCa => Some(Verification::Chain),
        SslRequirement::Prefer | SslRequirement::VerifyFull => Some(Verification::Full),
    };
    if verification.is_none() && config.get_channel_binding() == ChannelBinding::Require {
        return Err("`channel_binding=require` needs TLS: set `sslmode=verify-full`".to_owned());
    }
    config.ssl_mode(match verification {
        None => SslMode::Disable,
        Some(_) => SslMode::Require,
    });
    let tls = verification.map(|verification| tls.client_config(verification));
    Ok(PostgresDsn {
        config,
        tls: tls.transpose()?,
    })
}

/// TLS mode of a DSN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SslRequirement {
    /// No TLS.
    Disable,
    /// TLS if authorities or a client certificate are given. A fallback to plain text would give no protection.
    Prefer,
    /// TLS with a certificate of the given authorities, for any name.
    VerifyCa,
    /// TLS with a certificate of a trusted authority for the name of the host.
    VerifyFull,
}

impl SslRequirement {
    fn read(mode: &str, root: &str) -> Result<Self, String> {
        let is_system = root == "system";
        let requirement = match mode {
            "" if is_system => Self::VerifyFull,
            "" | "allow" | "prefer" => Self::Prefer,
            "disable" => Self::Disable,
            // libpq encrypts without verification; this client verifies the server
            "require" | "verify-full" => Self::VerifyFull,
            "verify-ca" => Self::VerifyCa,
            _ => {
                return Err("invalid value for `sslmode`: expected `disable`, `allow`, `prefer`, `require`, `verify-ca` or `verify-full`".to_owned());
            }
        };
        if is_system && requirement != Self::VerifyFull {
            return Err("`sslrootcert=system` needs `sslmode=verify-full`".to_owned());
        }
        Ok(requirement)
    }
}

/// Reads the files that TLS parameters name.
fn add_files(
    tls: &mut DatabaseTls,
    root: &str,
    certificate: &str,
    key: &str,
) -> Result<(), String> {
    if !root.is_empty() {
        if !tls.root_ca.is_empty() {
            return Err("`sslrootcert` and `root_ca` of `credentials` are both set".to_owned());
        }
        if root != "system" {
            tls.root_ca = read_pem("sslrootcert", Path::new(root))?.to_string();
        }
    }
    if certificate.is_empty() != key.is_empty() {
        return Err("`sslcert` and `sslkey` are only valid together".to_owned());
    }
    if !certificate.is_empty() {
        if !tls.certificate.is_empty() {
            return Err("`sslcert` and `tls_cert` of `credentials` are both set".to_owned());
        }
        tls.certificate = read_pem("sslcert", Path::new(certificate))?.to_string();
        tls.key = read_pem("sslkey", Path::new(key))?;
    }
    Ok(())
}

type Parameters = Vec<(String, String)>;

/// Splits a DSN into the text for the client library and the parameters that this module parses.
fn split(dsn: &str) -> Result<(String, Parameters), String> {
    let prefixes = ["postgres://", "postgresql://"];
    if let Some(prefix) = prefixes.iter().find(|prefix| dsn.starts_with(**prefix)) {
        return split_url(dsn, prefix.len());
    }
    split_parameters(dsn)
}

fn split_url(dsn: &str, prefix: usize) -> Result<(String, Parameters), String> {
    // a password may contain a question mark
    let host = dsn.find('@').map_or(prefix, |position| position + 1);
    let query = dsn
        .get(host..)
        .and_then(|rest| rest.find('?'))
        .map(|offset| host + offset);
    let Some((address, query)) = query.and_then(|offset| dsn.split_at_checked(offset)) else {
        return Ok((dsn.to_owned(), Vec::new()));
    };
    let (mut kept_pairs, mut parameters) = (Vec::new(), Vec::new());
    let pairs = query.strip_prefix('?').unwrap_or_default().split('&');
    for (index, pair) in pairs.enumerate() {
        if pair.is_empty() {
            continue;
        }
        let Some((name, value)) = pair.split_once('=') else {
            return Err(format!("parameter {} has no `=`", index + 1));
        };
        if is_of_library(name, index)? {
            kept_pairs.push(pair);
        } else {
            let value = decode(value).ok_or_else(|| format!("invalid value for `{name}`"))?;
            take(&mut parameters, name, value)?;
        }
    }
    let separator = if kept_pairs.is_empty() { "" } else { "?" };
    Ok((
        format!("{address}{separator}{}", kept_pairs.join("&")),
        parameters,
    ))
}

fn split_parameters(dsn: &str) -> Result<(String, Parameters), String> {
    let (mut kept_text, mut parameters) = (String::new(), Vec::new());
    let mut rest = dsn.trim();
    let mut number = 0;
    while !rest.is_empty() {
        let Some((name, after_name)) = rest.split_once('=') else {
            return Err(format!("parameter {} has no `=`", number + 1));
        };
        let name = name.trim_end();
        let (value, after_value) = take_word(after_name.trim_start())
            .ok_or_else(|| format!("parameter {} has no end of its quoted value", number + 1))?;
        if is_of_library(name, number)? {
            let value = value.replace('\\', "\\\\").replace('\'', "\\'");
            kept_text = format!("{kept_text}{name}='{value}' ");
        } else {
            take(&mut parameters, name, value)?;
        }
        rest = after_value.trim_start();
        number += 1;
    }
    if number == 0 {
        return Err("it is empty".to_owned());
    }
    Ok((kept_text, parameters))
}

/// Parses a value at the start of a text, quoted or up to the next space. Returns it and the rest.
fn take_word(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let (is_quoted, text) = match text.strip_prefix('\'') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let mut letters = text.char_indices();
    while let Some((offset, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
            '\'' if is_quoted => return Some((value, text.get(offset + 1..)?)),
            letter if !is_quoted && letter.is_whitespace() => {
                return Some((value, text.get(offset..)?));
            }
            letter => value.push(letter),
        }
    }
    (!is_quoted).then_some((value, ""))
}

/// Returns `true` if the client library parses a parameter. An unknown name may be part of a password that is not escaped,
/// so errors contain its position and known names.
fn is_of_library(name: &str, index: usize) -> Result<bool, String> {
    let without_effect = WITHOUT_EFFECT.iter().map(|(name, _)| *name);
    if TLS.contains(&name) || without_effect.clone().any(|known_name| known_name == name) {
        return Ok(false);
    }
    if OF_LIBRARY.contains(&name) || name == "load_balance_hosts" {
        return Ok(true);
    }
    if let Some(name) = UNSUPPORTED.iter().find(|unsupported| **unsupported == name) {
        return Err(format!("`{name}` is not supported"));
    }
    let known_names: Vec<&str> = TLS.iter().chain(&OF_LIBRARY).copied().collect();
    Err(match crate::model::nearest(name, &known_names) {
        Some(suggestion) => format!(
            "parameter {} is unknown; did you mean `{suggestion}`?",
            index + 1
        ),
        None => format!(
            "parameter {} is unknown; if it is part of a password, escape the password",
            index + 1
        ),
    })
}

/// Stores a parameter, or checks one that has no effect.
fn take(parameters: &mut Parameters, name: &str, value: String) -> Result<(), String> {
    let mut without_effect = WITHOUT_EFFECT.iter();
    if let Some((name, values)) = without_effect.find(|(known_name, _)| *known_name == name) {
        let is_known = values
            .iter()
            .any(|known_value| known_value.eq_ignore_ascii_case(&value));
        return if is_known {
            Ok(())
        } else {
            Err(format!(
                "invalid value for `{name}`: expected `{}`",
                values.join("` or `")
            ))
        };
    }
    parameters.push((name.to_owned(), value));
    Ok(())
}

pub(super) fn decode(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first == b'%' {
            let (digits, after) = rest.split_first_chunk::<2>()?;
            bytes.extend(hex::decode(digits).ok()?);
            rest = after;
        } else {
            bytes.push(first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Returns the message for a DSN that the client library rejects. Only the library's errors about parameter values do not
/// quote the DSN.
fn malformed(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    let mut known_names = OF_LIBRARY.iter();
    match known_names.find(|name| cause == format!("invalid value for option `{name}`")) {
        Some(name) => format!("invalid value for `{name}`"),
        None => "expected `postgres://user:password@host:port/name?parameter=value`, or `host=… user=… dbname=…`; characters such as `@`, `/`, `?`, `#` and `%` of a password are percent-encoded".to_owned(),
    }
}
