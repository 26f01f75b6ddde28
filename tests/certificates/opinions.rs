//! Second opinions: chains that `rustls-webpki` verifies, and certificates that `x509-cert` reads.

use std::collections::BTreeMap;
use std::time::Duration;

use rustls_pki_types::{CertificateDer, UnixTime};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use crate::cases::Case;

/// How often the others said what, by what the oracle says.
#[derive(Default)]
pub struct Opinions {
    chains: BTreeMap<(bool, String), Vec<u64>>,
    certificates: BTreeMap<(bool, String), Vec<u64>>,
}

impl Opinions {
    /// Asks about the chain of a case, of which the oracle has said whether it can be read and whether it holds.
    pub fn compare(&mut self, number: u64, case: &Case, verdicts: &[String]) {
        let (Some(chain), [read, held, ..]) = (&case.chain, verdicts) else {
            return;
        };
        if !chain.plain {
            return;
        }
        let (reads, holds) = (!read.starts_with("error"), held.starts_with("true"));
        let found = match verify(&chain.certificates) {
            Ok(()) => "holds".to_owned(),
            Err(error) => name(&format!("{error:?}")),
        };
        self.chains.entry((holds, found)).or_default().push(number);
        let read = chain
            .certificates
            .iter()
            .try_for_each(|bytes| Certificate::from_der(bytes).map(drop));
        let found = match read {
            Ok(()) => "reads".to_owned(),
            Err(error) => name(&format!("{:?}", error.kind())),
        };
        self.certificates
            .entry((reads, found))
            .or_default()
            .push(number);
    }

    /// What was said, in lines.
    pub fn text(&self) -> String {
        let line = |who: &str, own: &str, ((yes, said), numbers): (&(bool, String), &Vec<u64>)| {
            let own = if *yes {
                own.to_owned()
            } else {
                format!("not {own}")
            };
            format!(
                "{who}: {own} in OPA, {said}: {} cases, the first {}\n",
                numbers.len(),
                numbers[0]
            )
        };
        let chains = self
            .chains
            .iter()
            .map(|entry| line("webpki", "holds", entry));
        let certificates = self
            .certificates
            .iter()
            .map(|entry| line("x509-cert", "reads", entry));
        chains.chain(certificates).collect()
    }
}

/// The name of an error, without what it is about.
fn name(text: &str) -> String {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Verifies a chain from a root to a leaf for servers.
fn verify(certificates: &[Vec<u8>]) -> Result<(), Error> {
    let all: Vec<CertificateDer<'_>> = certificates
        .iter()
        .map(|bytes| bytes.as_slice().into())
        .collect();
    let [root, between @ .., leaf] = all.as_slice() else {
        return Err(Error::UnknownIssuer);
    };
    let anchors = [anchor_from_trusted_cert(root)?];
    let leaf = EndEntityCert::try_from(leaf)?;
    let now = UnixTime::since_unix_epoch(Duration::from_nanos(
        crate::verdicts::NOW_NS.cast_unsigned(),
    ));
    leaf.verify_for_usage(
        ALL_VERIFICATION_ALGS,
        &anchors,
        between,
        now,
        KeyUsage::server_auth(),
        None,
        None,
    )
    .map(drop)
}
