//! Structures that Go accepts and that crates for whole structures reject, which is why Solon parses those structures
//! itself.
//!
//! Each row is accepted by OPA, according to the record, and by Solon. If a new version of a crate accepts a row, the
//! test fails, and the crate can be used for that structure.

use serde_json::json;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, CertificatePolicies, CrlDistributionPoints,
    ExtendedKeyUsage, KeyUsage, NameConstraints, PolicyConstraints, SubjectAltName,
};
use x509_cert::request::CertReq;
use x509_cert::spki::SubjectPublicKeyInfoRef;

use crate::asn1::{NULL, element, integer, oid, sequence};
use crate::cases::{Call, FUNCTIONS, pem};
use crate::fixtures::{FIXTURES, Signer};
use crate::plan::{Extension, Plan, TRUE, time};
use crate::random::Random;

pub struct Row {
    /// Structure, and its irregularity.
    pub name: String,
    pub call: Call,
    /// `true` if the crate rejects it.
    pub rejected: bool,
}

pub fn rows() -> Vec<Row> {
    [certificates(), extensions(), keys()]
        .into_iter()
        .flatten()
        .collect()
}

fn plan() -> Plan {
    let signer = Signer::Ed25519("ed25519");
    Plan::new("someone", "someone", signer.public(), signer)
}

fn row(structure: &str, what: &str, function: usize, text: &str, rejected: bool) -> Row {
    let call = Call {
        function: FUNCTIONS[function],
        operands: vec![json!(text)],
    };
    let name = format!("{structure}: {what}");
    Row {
        name,
        call,
        rejected,
    }
}

fn certificate(structure: &str, what: &str, bytes: &[u8], rejected: bool) -> Row {
    row(structure, what, 0, &pem("CERTIFICATE", bytes), rejected)
}

fn certificates() -> Vec<Row> {
    let long = element(6, &[0x2a; 50]);
    let end = time("20900101000000Z");
    type Change = fn(&mut Plan, &[u8]);
    let changes: [(&str, Change, Vec<u8>); 8] = [
        (
            "a field after the validity times",
            |plan, bytes| plan.validity = bytes.to_vec(),
            sequence(&[&*time("000101000000Z"), &end, NULL]),
        ),
        (
            "a time with an offset",
            |plan, bytes| plan.validity = bytes.to_vec(),
            sequence(&[element(23, b"240101000000+0100"), end.clone()]),
        ),
        (
            "a time without seconds",
            |plan, bytes| plan.validity = bytes.to_vec(),
            sequence(&[time("2401010000Z"), end]),
        ),
        (
            "a serial number of more than 20 bytes",
            |plan, bytes| plan.serial = element(2, bytes),
            vec![0x7f; 30],
        ),
        (
            "a parameter with a tag of no known kind",
            |plan, bytes| {
                let algorithm = sequence(&[bytes, &[7, 0]]);
                plan.algorithms = [algorithm.clone(), algorithm];
            },
            oid("1.2.3.4"),
        ),
        (
            "an object identifier that starts with 2.999",
            |plan, bytes| {
                let mut extension = Extension::new("1.2.3", false, Vec::new());
                extension.id = bytes.to_vec();
                plan.extensions.push(extension);
            },
            oid("2.999.1"),
        ),
        (
            "an object identifier of more than 39 bytes",
            |plan, bytes| {
                let mut extension = Extension::new("1.2.3", false, Vec::new());
                extension.id = bytes.to_vec();
                plan.extensions.push(extension);
            },
            long,
        ),
        (
            "a field after the extensions",
            |plan, bytes| plan.tail = bytes.to_vec(),
            NULL.to_vec(),
        ),
    ];
    let mut rows = Vec::new();
    for (what, change, bytes) in changes {
        let mut plan = plan();
        change(&mut plan, &bytes);
        let bytes = plan.certificate(&mut Random::new(1));
        let rejected = Certificate::from_der(&bytes).is_err();
        rows.push(certificate("x509-cert certificate", what, &bytes, rejected));
    }
    let mut asks = plan();
    asks.tail = NULL.to_vec();
    let bytes = asks.request(&mut Random::new(1), &[]);
    let rejected = CertReq::from_der(&bytes).is_err();
    let text = pem("CERTIFICATE REQUEST", &bytes);
    rows.push(row(
        "x509-cert request",
        "a field after the attributes",
        3,
        &text,
        rejected,
    ));
    rows
}

fn rejects<'d, T: Decode<'d>>(value: &'d [u8]) -> bool {
    T::from_der(value).is_err()
}

fn extensions() -> Vec<Row> {
    let policy = oid("1.2.3.4");
    let point = element(0xa0, &element(0xa0, &element(0x86, b"http://x")));
    let name = element(0x82, b"example.com");
    let tree = sequence(&[&*name, &[0x80, 1, 0], NULL]);
    let usage = oid("1.3.6.1.5.5.7.3.1");
    type Rejects = fn(&[u8]) -> bool;
    let all: [(&str, &str, &str, Vec<u8>, Rejects); 9] = [
        (
            "BasicConstraints",
            "a field after the length",
            "2.5.29.19",
            sequence(&[TRUE, &integer(0), NULL]),
            |value| rejects::<BasicConstraints>(value),
        ),
        (
            "KeyUsage",
            "something after it",
            "2.5.29.15",
            vec![3, 2, 5, 0xa0, 5, 0],
            |value| rejects::<KeyUsage>(value),
        ),
        (
            "ExtendedKeyUsage",
            "something after it",
            "2.5.29.37",
            [sequence(&[usage]), NULL.to_vec()].concat(),
            |value| rejects::<ExtendedKeyUsage>(value),
        ),
        (
            "SubjectAltName",
            "a name of no known kind",
            "2.5.29.17",
            sequence(&[&*name, &[0x89, 1, 1]]),
            |value| rejects::<SubjectAltName>(value),
        ),
        (
            "NameConstraints",
            "a field after the bounds",
            "2.5.29.30",
            sequence(&[element(0xa0, &tree)]),
            |value| rejects::<NameConstraints>(value),
        ),
        (
            "CertificatePolicies",
            "something else instead of qualifiers",
            "2.5.29.32",
            sequence(&[sequence(&[&*policy, NULL])]),
            |value| rejects::<CertificatePolicies>(value),
        ),
        (
            "PolicyConstraints",
            "a number of more than 32 bits",
            "2.5.29.36",
            sequence(&[element(0x80, &[1; 5])]),
            |value| rejects::<PolicyConstraints>(value),
        ),
        (
            "AuthorityKeyIdentifier",
            "a field after the name of the key",
            "2.5.29.35",
            sequence(&[&*element(0x80, &[1]), NULL]),
            |value| rejects::<AuthorityKeyIdentifier>(value),
        ),
        (
            "CrlDistributionPoints",
            "a field after the location",
            "2.5.29.31",
            sequence(&[sequence(&[&*point, NULL])]),
            |value| rejects::<CrlDistributionPoints>(value),
        ),
    ];
    all.into_iter()
        .map(|(structure, what, id, value, rejects)| {
            let rejected = rejects(&value);
            let mut plan = plan();
            plan.extensions.push(Extension::new(id, false, value));
            let bytes = plan.certificate(&mut Random::new(1));
            certificate(&format!("x509-cert {structure}"), what, &bytes, rejected)
        })
        .collect()
}

/// Adds an element at the end of a structure.
fn longer(structure: &[u8]) -> Vec<u8> {
    let header = if structure[1] & 0x80 == 0 {
        2
    } else {
        2 + usize::from(structure[1] & 0x7f)
    };
    element(structure[0], &[&structure[header..], &[4, 0]].concat())
}

fn keys() -> Vec<Row> {
    let rsa = FIXTURES.key("rsa");
    let own = |name: &str| longer(&FIXTURES.key(name).own.as_ref().unwrap().0);
    let pkcs8 = longer(&rsa.pkcs8.0);
    let (pkcs1, sec1) = (own("rsa"), own("p256"));
    let public = longer(&rsa.public.0);
    let what = "a field after the known ones";
    let mut plan = plan();
    let rejected = SubjectPublicKeyInfoRef::from_der(&public).is_err();
    plan.key = public;
    let key = plan.certificate(&mut Random::new(1));
    vec![
        row(
            "pkcs8",
            what,
            5,
            &pem("PRIVATE KEY", &pkcs8),
            pkcs8::PrivateKeyInfoRef::from_der(&pkcs8).is_err(),
        ),
        row(
            "pkcs1",
            what,
            5,
            &pem("RSA PRIVATE KEY", &pkcs1),
            pkcs1::RsaPrivateKeyRef::from_der(&pkcs1).is_err(),
        ),
        row(
            "sec1",
            what,
            5,
            &pem("EC PRIVATE KEY", &sec1),
            sec1::EcPrivateKey::from_der(&sec1).is_err(),
        ),
        certificate("spki", what, &key, rejected),
    ]
}
