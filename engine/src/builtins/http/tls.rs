//! TLS configuration of requests.

use std::sync::Arc;

use super::failure::RequestFailure;
use super::url::quoted;
use crate::builtins::pem::{self, PemBlock};
use crate::host::{Host, Identity, Tls, Trust};

#[derive(Default)]
pub struct TlsFields {
    pub ca: PemSources,
    pub certificate: PemSources,
    pub key: PemSources,
    /// `true` if the system's certificate authorities are trusted, too.
    pub system: Option<bool>,
    /// Disables verification of the server.
    pub insecure: bool,
    pub server_name: Option<String>,
}

#[derive(Default)]
pub struct PemSources {
    /// The field itself.
    pub text: String,
    pub file: String,
    /// Environment variable.
    pub variable: String,
}

impl PemSources {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.file.is_empty() && self.variable.is_empty()
    }
}

impl TlsFields {
    /// Returns the TLS configuration, or `None` if it is the default.
    pub fn resolve(self, host: &dyn Host) -> Result<Option<Arc<Tls>>, RequestFailure> {
        let identity = self.identity(host)?;
        let own_authorities = self.authorities(host)?;
        let usual = own_authorities.is_empty() && identity.is_none() && self.server_name.is_none();
        if usual && !self.insecure {
            return Ok(None);
        }
        let trust = if self.insecure {
            Trust::Anyone
        } else {
            let system = own_authorities.is_empty() || self.system == Some(true);
            Trust::Authorities {
                certificates: own_authorities,
                system,
            }
        };
        Ok(Some(Arc::new(Tls {
            trust,
            identity,
            server_name: self.server_name,
        })))
    }

    fn identity(&self, host: &dyn Host) -> Result<Option<Identity>, RequestFailure> {
        let (certificate, key) = (&self.certificate, &self.key);
        let mut identity = None;
        if !certificate.text.is_empty() && !key.text.is_empty() {
            let pair = pair(certificate.text.as_bytes(), key.text.as_bytes());
            identity = Some(pair.map_err(RequestFailure::rejected)?);
        }
        if !certificate.file.is_empty() && !key.file.is_empty() {
            let (certificate, key) = (file(host, &certificate.file)?, file(host, &key.file)?);
            identity = Some(pair(&certificate, &key).map_err(RequestFailure::rejected)?);
        }
        if !certificate.variable.is_empty() && !key.variable.is_empty() {
            let value = |name: &str| host.variable(name).unwrap_or_default();
            let pair = pair(
                value(&certificate.variable).as_bytes(),
                value(&key.variable).as_bytes(),
            );
            identity = Some(pair.map_err(|problem| {
                RequestFailure::rejected(format!(
                    "cannot extract public/private key pair from envvars {}, {}: {problem}",
                    quoted(&certificate.variable),
                    quoted(&key.variable)
                ))
            })?);
        }
        Ok(identity)
    }

    fn authorities(&self, host: &dyn Host) -> Result<Vec<Vec<u8>>, RequestFailure> {
        let mut all = Vec::new();
        if self.ca.is_empty() {
            return Ok(all);
        }
        if !self.ca.text.is_empty() {
            let text = self.ca.text.replace("\\n", "\n");
            all.extend(certificates(text.as_bytes()).map_err(RequestFailure::rejected)?);
        }
        if !self.ca.file.is_empty() {
            let text = file(host, &self.ca.file)?;
            all.extend(certificates(&text).map_err(RequestFailure::rejected)?);
        }
        if !self.ca.variable.is_empty() {
            let name = &self.ca.variable;
            let text = host.variable(name).unwrap_or_default();
            all.extend(certificates(text.as_bytes()).map_err(|problem| {
                RequestFailure::rejected(format!(
                    "could not add CA certificates from envvar {}: {problem}",
                    quoted(name)
                ))
            })?);
        }
        Ok(all)
    }
}

fn file(host: &dyn Host, path: &str) -> Result<Vec<u8>, RequestFailure> {
    host.file(path)
        .map_err(|problem| RequestFailure::rejected(format!("open {path}: {problem}")))
}

/// Iterates over the PEM blocks of a text, decoding each when it is reached.
fn blocks(text: &[u8]) -> impl Iterator<Item = PemBlock<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (block, after_block) = pem::block(rest)?;
        rest = after_block;
        Some(block)
    })
}

fn is_certificate(block: &PemBlock<'_>) -> bool {
    block.kind == b"CERTIFICATE"
}

fn certificates(text: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let certificates = blocks(text).filter(is_certificate);
    let certificates: Vec<_> = certificates.map(|block| block.content).collect();
    if certificates.is_empty() {
        return Err("could not append certificates");
    }
    Ok(certificates)
}

fn pair(certificate: &[u8], key: &[u8]) -> Result<Identity, String> {
    let pem_blocks: Vec<PemBlock<'_>> = blocks(certificate).collect();
    if pem_blocks.is_empty() {
        return Err("tls: failed to find any PEM data in certificate input".to_owned());
    }
    if !pem_blocks.iter().any(is_certificate) {
        let kinds = pem_blocks
            .iter()
            .map(|block| String::from_utf8_lossy(block.kind));
        let kinds: Vec<_> = kinds.collect();
        return Err(format!(
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following types: [{}]",
            kinds.join(" ")
        ));
    }
    if pem::block(key).is_none() {
        return Err("tls: failed to find any PEM data in key input".to_owned());
    }
    let certificates = pem_blocks.into_iter().filter(is_certificate);
    Ok(Identity {
        certificates: certificates.map(|block| block.content).collect(),
        key: key.to_vec(),
    })
}
