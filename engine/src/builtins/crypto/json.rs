//! Keys and certificates as values, in the JSON encoding of Go's structures.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use num_bigint::BigUint;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::asn1::Asn1Value;
use super::certificate::Certificate;
use super::certificate::dotted;
use super::certificate::extensions::{Extension, usage};
use super::certificate::name::Attribute;
use super::certificate::names::Subtrees;
use super::curve::Curve;
use super::der;
use super::private::PrivateKey;
use super::public::PublicKey;
use crate::uri::Uri;
use crate::value::{Arena, NumberBuf, RefRepr, ValueRef};

/// Writes values into an arena.
#[derive(Clone, Copy)]
pub struct ArenaJson<'e>(pub &'e Arena);

impl<'e> ArenaJson<'e> {
    pub fn object(
        self,
        fields: impl IntoIterator<Item = (&'static str, ValueRef<'e>)>,
    ) -> ValueRef<'e> {
        let pairs = fields
            .into_iter()
            .map(|(name, value)| (self.0.text(name), value));
        self.0.object_from(pairs)
    }

    /// Returns a list, or `null` if it is empty, as for Go's nil slices.
    pub fn list<T>(
        self,
        items: impl IntoIterator<Item = T>,
        show: impl Fn(T) -> ValueRef<'e>,
    ) -> ValueRef<'e> {
        let items: Vec<ValueRef<'e>> = items.into_iter().map(show).collect();
        if items.is_empty() {
            ValueRef(RefRepr::Null)
        } else {
            self.0.array(&items)
        }
    }

    /// Returns bytes in base64.
    pub fn bytes(self, bytes: &[u8]) -> ValueRef<'e> {
        self.0.text(&STANDARD.encode(bytes))
    }

    pub fn text(self, text: &str) -> ValueRef<'e> {
        self.0.text(text)
    }

    /// Returns a non-negative number, given its bytes.
    pub fn number(self, bytes: &[u8]) -> ValueRef<'e> {
        let digits = BigUint::from_bytes_be(bytes).to_string();
        match NumberBuf::read(&digits) {
            Ok(number) => self.0.number(number),
            Err(_) => ValueRef(RefRepr::Null),
        }
    }

    /// Returns an object identifier as a list of numbers.
    pub fn oid(self, oid: &[u8]) -> ValueRef<'e> {
        let arcs = der::arcs(oid).unwrap_or_default();
        self.0.array_from(
            arcs.into_iter()
                .map(|arc| ValueRef(RefRepr::Int(arc.into()))),
        )
    }

    pub fn any(self, value: &Asn1Value<'_>) -> ValueRef<'e> {
        match value {
            Asn1Value::Nothing => ValueRef(RefRepr::Null),
            Asn1Value::Bool(truth) => ValueRef(RefRepr::Bool(*truth)),
            Asn1Value::Int(number) => ValueRef(RefRepr::Int(*number)),
            Asn1Value::Text(text) => self.text(text),
            Asn1Value::Bytes(bytes) => self.bytes(bytes),
            Asn1Value::Oid(oid) => self.oid(oid),
            Asn1Value::Time(time) => self.text(&time.rfc3339()),
            Asn1Value::Bits(bits) => {
                let length = i64::try_from(bits.len()).unwrap_or(i64::MAX);
                self.object([
                    ("Bytes", self.bytes(bits.bytes())),
                    ("BitLength", ValueRef(RefRepr::Int(length))),
                ])
            }
        }
    }

    /// Returns an undecoded extension, with the fields of Go's `pkix.Extension`.
    pub fn extension(self, extension: &Extension<'_>) -> ValueRef<'e> {
        self.object([
            ("Id", self.oid(extension.id)),
            ("Critical", ValueRef(RefRepr::Bool(extension.critical))),
            ("Value", self.bytes(extension.value)),
        ])
    }

    pub fn private_key(self, key: &PrivateKey) -> ValueRef<'e> {
        match key {
            PrivateKey::Rsa(key) => {
                let number = |number: &BigUint| self.number(&number.to_bytes_be());
                let computed = key.precomputed().unwrap_or_default();
                let [dp, dq, inverse] = computed.each_ref().map(number);
                let precomputed = self.object([
                    ("CRTValues", self.0.array(&[])),
                    ("Dp", dp),
                    ("Dq", dq),
                    ("Qinv", inverse),
                ]);
                let primes = key.primes.each_ref().map(|prime| self.number(prime));
                self.object([
                    ("D", self.number(&key.d)),
                    ("E", self.number(&key.public.e)),
                    ("N", self.number(&key.public.n)),
                    ("Precomputed", precomputed),
                    ("Primes", self.0.array(&primes)),
                ])
            }
            PrivateKey::Ec(point, scalar) => {
                let (x, y) = point.coordinates();
                self.object([
                    ("Curve", self.object([])),
                    ("D", self.number(scalar)),
                    ("X", self.number(x)),
                    ("Y", self.number(y)),
                ])
            }
            PrivateKey::Ed25519(seed, public) => self.bytes(&[&**seed, public].concat()),
            PrivateKey::X25519(..) => self.object([]),
        }
    }

    /// Returns a private key as JWK. The error is the message.
    pub fn jwk(self, key: &PrivateKey) -> Result<ValueRef<'e>, String> {
        let text = |bytes: &[u8]| self.text(&URL_SAFE_NO_PAD.encode(bytes));
        let octets = |curve: &str, seed: &[u8], public: &[u8]| {
            self.object([
                ("kty", self.text("OKP")),
                ("crv", self.text(curve)),
                ("d", text(seed)),
                ("x", text(public)),
            ])
        };
        Ok(match key {
            PrivateKey::Rsa(key) => {
                let computed = key.precomputed().unwrap_or_default();
                let [dp, dq, inverse] = computed.map(|number| text(&number.to_bytes_be()));
                let [p, q] = key.primes.each_ref().map(|prime| text(prime));
                self.object([
                    ("kty", self.text("RSA")),
                    ("n", text(&key.public.n)),
                    ("e", text(&key.public.e)),
                    ("d", text(&key.d)),
                    ("p", p),
                    ("q", q),
                    ("dp", dp),
                    ("dq", dq),
                    ("qi", inverse),
                ])
            }
            PrivateKey::Ec(point, _) if point.curve == Curve::P224 => {
                return Err("failed to initialize *jwk.ecdsaPrivateKey from *ecdsa.PrivateKey: jwk: failed to get algorithm for converting ECDSA private key to JWK: unknown elliptic curve".to_owned());
            }
            PrivateKey::Ec(point, scalar) => {
                let (x, y) = point.coordinates();
                self.object([
                    ("kty", self.text("EC")),
                    ("crv", self.text(point.curve.name())),
                    ("d", text(scalar)),
                    ("x", text(x)),
                    ("y", text(y)),
                ])
            }
            PrivateKey::Ed25519(seed, public) => octets("Ed25519", seed, public),
            PrivateKey::X25519(key, public) => octets("X25519", key, public),
        })
    }

    pub fn public_key(self, key: &PublicKey) -> ValueRef<'e> {
        match key {
            PublicKey::Rsa(key) => {
                self.object([("E", self.number(&key.e)), ("N", self.number(&key.n))])
            }
            PublicKey::Ec(key) => {
                let (x, y) = key.coordinates();
                self.object([
                    ("Curve", self.object([])),
                    ("X", self.number(x)),
                    ("Y", self.number(y)),
                ])
            }
            PublicKey::Ed25519(key) => self.bytes(key),
            PublicKey::X25519 => self.object([]),
            PublicKey::Dsa([p, q, g, y]) => self.object([
                ("P", self.number(p)),
                ("Q", self.number(q)),
                ("G", self.number(g)),
                ("Y", self.number(y)),
            ]),
        }
    }

    /// Returns Go's number of the kind of a key.
    pub fn key_kind(key: Option<&PublicKey>) -> ValueRef<'e> {
        ValueRef(RefRepr::Int(match key {
            Some(PublicKey::Rsa(_)) => 1,
            Some(PublicKey::Dsa(_)) => 2,
            Some(PublicKey::Ec(_)) => 3,
            Some(PublicKey::Ed25519(_)) => 4,
            Some(PublicKey::X25519) | None => 0,
        }))
    }

    /// Returns a distinguished name, with the fields of Go's `pkix.Name`.
    pub fn name(self, name: &[Attribute<'_>]) -> ValueRef<'e> {
        let all = |kind: u8| {
            let values = name
                .iter()
                .filter(move |attribute| *attribute.kind == [0x55, 4, kind])
                .filter_map(|attribute| attribute.value.text());
            self.list(values, |text| self.text(text))
        };
        let last = |kind: u8| {
            let value = name.iter().rfind(|attribute| {
                *attribute.kind == [0x55, 4, kind] && attribute.value.text().is_some()
            });
            self.text(
                value
                    .and_then(|attribute| attribute.value.text())
                    .unwrap_or_default(),
            )
        };
        self.object([
            ("CommonName", last(3)),
            ("SerialNumber", last(5)),
            ("Country", all(6)),
            ("Locality", all(7)),
            ("Province", all(8)),
            ("StreetAddress", all(9)),
            ("Organization", all(10)),
            ("OrganizationalUnit", all(11)),
            ("PostalCode", all(17)),
            ("ExtraNames", ValueRef(RefRepr::Null)),
            (
                "Names",
                self.list(name, |attribute| {
                    self.object([
                        ("Type", self.oid(attribute.kind)),
                        ("Value", self.any(&attribute.value)),
                    ])
                }),
            ),
        ])
    }

    /// Returns an IP address, given its bytes.
    pub fn address(self, bytes: &[u8]) -> ValueRef<'e> {
        if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
            return self.text(&Ipv4Addr::from(bytes).to_string());
        }
        let Ok(bytes) = <[u8; 16]>::try_from(bytes) else {
            return self.text("");
        };
        let address = Ipv6Addr::from(bytes);
        match address.to_ipv4_mapped() {
            Some(mapped) => self.text(&mapped.to_string()),
            None => self.text(&address.to_string()),
        }
    }

    pub fn uri(self, uri: &Uri) -> ValueRef<'e> {
        let bytes = |bytes: &[u8]| self.0.bytes_text(bytes);
        let user = match uri.user.as_slice() {
            [] => ValueRef(RefRepr::Null),
            _ => self.object([]),
        };
        self.object([
            ("Scheme", self.text(&uri.scheme)),
            ("Opaque", bytes(&uri.opaque)),
            ("User", user),
            ("Host", bytes(&uri.host)),
            ("Path", bytes(&uri.path)),
            ("RawPath", bytes(&uri.raw_path)),
            ("OmitHost", ValueRef(RefRepr::Bool(uri.omits_host))),
            ("ForceQuery", ValueRef(RefRepr::Bool(uri.has_empty_query))),
            ("RawQuery", bytes(&uri.query)),
            ("Fragment", bytes(&uri.fragment)),
            ("RawFragment", self.text("")),
        ])
    }

    fn subtrees(
        self,
        trees: &Subtrees<'_>,
        names: [&'static str; 4],
    ) -> [(&'static str, ValueRef<'e>); 4] {
        let [dns, emails, ranges, uris] = names;
        let texts = |texts: &[&str]| self.list(texts, |text| self.text(text));
        let range = |(address, mask): &(&[u8], &[u8])| {
            self.object([("IP", self.address(address)), ("Mask", self.bytes(mask))])
        };
        [
            (dns, texts(&trees.dns)),
            (emails, texts(&trees.emails)),
            (ranges, self.list(&trees.ranges, range)),
            (uris, texts(&trees.uris)),
        ]
    }

    /// Returns the fields of a certificate, with the names of Go's `x509.Certificate`.
    pub fn certificate(self, certificate: &Certificate<'_>) -> Vec<(&'static str, ValueRef<'e>)> {
        let extensions = &certificate.extensions;
        let texts = |texts: &[&[u8]]| self.list(texts, |text| self.0.bytes_text(text));
        let key_id =
            |key: Option<&[u8]>| key.map_or(ValueRef(RefRepr::Null), |key| self.bytes(key));
        let policies = extensions.policies.as_deref();
        let limit = |limit: Option<i64>| ValueRef(RefRepr::Int(limit.unwrap_or(0)));
        let zero = |limit: Option<i64>| ValueRef(RefRepr::Bool(limit == Some(0)));
        let unknown = extensions.usages.iter().filter(|oid| usage(oid).is_none());
        let key = certificate.public_key.as_ref();
        let mut fields = vec![
            ("Raw", self.bytes(certificate.raw)),
            ("RawTBSCertificate", self.bytes(certificate.signed)),
            ("RawSubjectPublicKeyInfo", self.bytes(certificate.raw_key)),
            ("RawSubject", self.bytes(certificate.raw_subject)),
            ("RawIssuer", self.bytes(certificate.raw_issuer)),
            ("Signature", self.bytes(&certificate.signature)),
            (
                "SignatureAlgorithm",
                ValueRef(RefRepr::Int(certificate.signature_algorithm.0.into())),
            ),
            ("PublicKeyAlgorithm", Self::key_kind(key)),
            (
                "PublicKey",
                key.map_or(ValueRef(RefRepr::Null), |key| self.public_key(key)),
            ),
            ("Version", ValueRef(RefRepr::Int(certificate.version))),
            ("SerialNumber", self.number(certificate.serial)),
            ("Issuer", self.name(&certificate.issuer)),
            ("Subject", self.name(&certificate.subject)),
            ("NotBefore", self.text(&certificate.not_before.rfc3339())),
            ("NotAfter", self.text(&certificate.not_after.rfc3339())),
            (
                "KeyUsage",
                ValueRef(RefRepr::Int(extensions.key_usage.into())),
            ),
            (
                "Extensions",
                self.list(&certificate.all_extensions, |extension| {
                    self.extension(extension)
                }),
            ),
            ("ExtraExtensions", ValueRef(RefRepr::Null)),
            (
                "UnhandledCriticalExtensions",
                self.list(&extensions.unknown, |oid| self.oid(oid)),
            ),
            (
                "ExtKeyUsage",
                self.list(extensions.numbered_usages(), |it| {
                    ValueRef(RefRepr::Int(it))
                }),
            ),
            (
                "UnknownExtKeyUsage",
                self.list(unknown, |oid| self.oid(oid)),
            ),
            (
                "BasicConstraintsValid",
                ValueRef(RefRepr::Bool(extensions.basic_constraints)),
            ),
            ("IsCA", ValueRef(RefRepr::Bool(extensions.authority))),
            ("MaxPathLen", ValueRef(RefRepr::Int(extensions.path_length))),
            (
                "MaxPathLenZero",
                ValueRef(RefRepr::Bool(
                    extensions.basic_constraints && extensions.path_length == 0,
                )),
            ),
            ("SubjectKeyId", key_id(extensions.subject_key)),
            ("AuthorityKeyId", key_id(extensions.authority_key)),
            ("OCSPServer", texts(&extensions.status_servers)),
            ("IssuingCertificateURL", texts(&extensions.issuers)),
            (
                "DNSNames",
                self.list(&extensions.names.dns, |name| self.text(name)),
            ),
            (
                "EmailAddresses",
                self.list(&extensions.names.emails, |name| self.text(name)),
            ),
            (
                "IPAddresses",
                self.list(&extensions.names.addresses, |address| self.address(address)),
            ),
            (
                "URIs",
                self.list(&extensions.names.uris, |uri| self.uri(uri)),
            ),
            (
                "PermittedDNSDomainsCritical",
                ValueRef(RefRepr::Bool(extensions.critical_constraints)),
            ),
            ("CRLDistributionPoints", texts(&extensions.revocation_lists)),
            (
                "PolicyIdentifiers",
                policies.map_or(ValueRef(RefRepr::Null), |policies| {
                    let small = policies.iter().filter(|oid| der::is_small(oid));
                    self.0.array_from(small.map(|oid| self.oid(oid)))
                }),
            ),
            (
                "Policies",
                self.list(policies.unwrap_or_default(), |oid| {
                    self.text(&dotted::text(oid))
                }),
            ),
            ("InhibitAnyPolicy", limit(extensions.no_any_policy)),
            ("InhibitAnyPolicyZero", zero(extensions.no_any_policy)),
            ("InhibitPolicyMapping", limit(extensions.no_mapping)),
            ("InhibitPolicyMappingZero", zero(extensions.no_mapping)),
            ("RequireExplicitPolicy", limit(extensions.explicit_policy)),
            (
                "RequireExplicitPolicyZero",
                zero(extensions.explicit_policy),
            ),
            (
                "PolicyMappings",
                self.list(&extensions.policy_mappings, |(issuer, subject)| {
                    self.object([
                        ("IssuerDomainPolicy", self.text(&dotted::text(issuer))),
                        ("SubjectDomainPolicy", self.text(&dotted::text(subject))),
                    ])
                }),
            ),
        ];
        let constraints = extensions.constraints.clone().unwrap_or_default();
        fields.extend(self.subtrees(
            &constraints.permitted,
            [
                "PermittedDNSDomains",
                "PermittedEmailAddresses",
                "PermittedIPRanges",
                "PermittedURIDomains",
            ],
        ));
        fields.extend(self.subtrees(
            &constraints.excluded,
            [
                "ExcludedDNSDomains",
                "ExcludedEmailAddresses",
                "ExcludedIPRanges",
                "ExcludedURIDomains",
            ],
        ));
        fields
    }

    /// Returns a certificate with its URIs as strings, as OPA does.
    pub fn certificate_with_uris(self, certificate: &Certificate<'_>) -> ValueRef<'e> {
        let mut fields = self.certificate(certificate);
        let uris = &certificate.extensions.names.uris;
        fields.push((
            "URIStrings",
            self.list(uris, |uri| self.text(&uri.to_string())),
        ));
        self.object(fields)
    }
}
