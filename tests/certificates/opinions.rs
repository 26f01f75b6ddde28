//! Compares with other libraries: `rustls-webpki` for chains, and `x509-cert` for certificates.

use std::collections::BTreeMap;
use std::time::Duration;

use rustls_pki_types::{CertificateDer, UnixTime};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use crate::cases::Case;

/// Results of the other libraries by OPA's result, with their frequency.
#[derive(Default)]
pub struct Opinions {
    chains: BTreeMap<(bool, String), Vec<u64>>,
    certificates: BTreeMap<(bool, String), Vec<u64>>,
}

impl Opinions {
    /// Compares the results for the chain of a case with OPA's.
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

    /// Formats the results.
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

/// Returns the name of an error, without details.
fn name(text: &str) -> String {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Verifies a chain, root first, for servers.
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
