//! Error messages with the wording of Go's client, which OPA's users know.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

use crate::errno;

/// Returns an error and its causes, outermost first.
fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// Returns the reason for a missing response.
pub fn of_exchange(error: &hyper_util::client::legacy::Error) -> String {
    let mut last = error.to_string();
    for cause in chain(error) {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return of_tls(io);
        }
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_incomplete_message() {
                return "EOF".to_owned();
            }
            if hyper.is_parse() {
                return "net/http: HTTP/1.x transport connection broken: malformed HTTP response"
                    .to_owned();
            }
        }
        last = cause.to_string();
    }
    last
}

/// Returns the reason why the body of a response ends early.
pub fn of_body(error: &hyper::Error) -> String {
    for cause in chain(error) {
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && io.kind() != io::ErrorKind::UnexpectedEof
        {
            return of_tls(io);
        }
    }
    if error.is_parse() {
        "malformed chunked encoding".to_owned()
    } else {
        "unexpected EOF".to_owned()
    }
}

/// Returns the error of the system's resolver.
pub fn of_lookup(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit(": ").next().unwrap_or(&text);
    match text {
        "Name or service not known" | "No address associated with hostname" => {
            "no such host".into()
        }
        other => other.to_lowercase(),
    }
}

/// Returns the error of a connection, which may be one of TLS, in the words of Go.
pub fn of_tls(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let Some(tls) = inner else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
            _ => errno::text(error),
        };
    };
    match tls {
        rustls::Error::InvalidCertificate(certificate) => {
            let problem = of_certificate(certificate);
            format!("tls: failed to verify certificate: x509: {problem}")
        }
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "http: server gave HTTP response to HTTPS client".to_owned()
        }
        rustls::Error::AlertReceived(alert) => {
            let alert = of_alert(*alert);
            format!("remote error: tls: {alert}")
        }
        other => format!("tls: {other}"),
    }
}

fn of_certificate(error: &CertificateError) -> String {
    match error {
        // `BadSignature` is what another authority with the same name causes
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired
        | CertificateError::NotValidYet
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYetContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let quoted_part = |name: &String| name.split('"').nth(1).unwrap_or(name).to_owned();
            let presented: Vec<String> = presented.iter().map(quoted_part).collect();
            format!(
                "certificate is valid for {}, not {}",
                presented.join(", "),
                expected.to_str()
            )
        }
        CertificateError::NotValidForName => "certificate is not valid for any names".to_owned(),
        other => other.to_string(),
    }
}

fn of_alert(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => "certificate required".to_owned(),
        AlertDescription::BadCertificate => "bad certificate".to_owned(),
        AlertDescription::UnknownCA => "unknown certificate authority".to_owned(),
        AlertDescription::HandshakeFailure => "handshake failure".to_owned(),
        AlertDescription::ProtocolVersion => "protocol version not supported".to_owned(),
        AlertDescription::UnrecognisedName => "unrecognized name".to_owned(),
        AlertDescription::DecryptError => "error decrypting message".to_owned(),
        other => format!("{other:?}"),
    }
}
