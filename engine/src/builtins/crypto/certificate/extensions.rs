//! Extensions of certificates, decoded and undecoded.

use super::names::{AlternativeNames, NameConstraints};
use super::{Asn1Error, dotted};
use crate::builtins::crypto::der::{self, DerReader};
use crate::builtins::crypto::oids;
use crate::limits::DECIMAL_BYTES;

/// Tag of a name that is a URI.
const URI: u8 = 0x86;

/// Key usages by object identifier, with the names that OPA's options use. The index is Go's number of the usage.
pub const KEY_USAGES: [(&[u8], &str); 14] = [
    (oids::USE_ANY, "KeyUsageAny"),
    (oids::USE_SERVER, "KeyUsageServerAuth"),
    (oids::USE_CLIENT, "KeyUsageClientAuth"),
    (oids::USE_CODE, "KeyUsageCodeSigning"),
    (oids::USE_MAIL, "KeyUsageEmailProtection"),
    (oids::USE_IPSEC_END, "KeyUsageIPSECEndSystem"),
    (oids::USE_IPSEC_TUNNEL, "KeyUsageIPSECTunnel"),
    (oids::USE_IPSEC_USER, "KeyUsageIPSECUser"),
    (oids::USE_TIME, "KeyUsageTimeStamping"),
    (oids::USE_STATUS, "KeyUsageOCSPSigning"),
    (
        oids::USE_MICROSOFT_GATED,
        "KeyUsageMicrosoftServerGatedCrypto",
    ),
    (
        oids::USE_NETSCAPE_GATED,
        "KeyUsageNetscapeServerGatedCrypto",
    ),
    (
        oids::USE_MICROSOFT_CODE,
        "KeyUsageMicrosoftCommercialCodeSigning",
    ),
    (
        oids::USE_MICROSOFT_KERNEL,
        "KeyUsageMicrosoftKernelCodeSigning",
    ),
];

/// Returns Go's number of a usage, or `None` for a usage that Go does not know.
pub fn usage(oid: &[u8]) -> Option<i64> {
    let index = KEY_USAGES
        .iter()
        .position(|(usage_oid, _)| *usage_oid == oid)?;
    i64::try_from(index).ok()
}

#[derive(Clone, Copy, Debug)]
pub struct Extension<'d> {
    pub id: &'d [u8],
    /// `true` if verifiers must support it.
    pub critical: bool,
    pub value: &'d [u8],
}

impl<'d> Extension<'d> {
    /// Reads the next extension of a list. The error is Go's message for the malformed part.
    pub fn read(list: &mut DerReader<'d>) -> Result<Self, Asn1Error> {
        let mut fields = list
            .inside(der::SEQUENCE)
            .ok_or("x509: malformed extension")?;
        let id = fields.oid().ok_or("x509: malformed extension OID field")?;
        let critical = fields
            .boolean_or_false()
            .ok_or("x509: malformed extension critical field")?;
        let value = fields
            .take(der::OCTET_STRING)
            .ok_or("x509: malformed extension value field")?;
        Ok(Self {
            id,
            critical,
            value,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Extensions<'d> {
    /// Key usages, as a bit set.
    pub key_usage: u16,
    /// `true` if the certificate contains basic constraints.
    pub basic_constraints: bool,
    /// `true` for certificate authorities.
    pub authority: bool,
    /// Maximum number of authorities below it. -1 if unlimited, and 0 without basic constraints.
    pub path_length: i64,
    pub names: AlternativeNames<'d>,
    /// Constraints on the names of certificates below it.
    pub constraints: Option<NameConstraints<'d>>,
    pub critical_constraints: bool,
    /// URLs of certificate revocation lists.
    pub revocation_lists: Vec<&'d [u8]>,
    /// Identifier of the key that signed the certificate.
    pub authority_key: Option<&'d [u8]>,
    pub subject_key: Option<&'d [u8]>,
    /// Extended key usages, by object identifier.
    pub usages: Vec<&'d [u8]>,
    /// Policies, by object identifier. `None` without that extension.
    pub policies: Option<Vec<&'d [u8]>>,
    /// Mappings from policies of the issuer to those of the subject.
    pub policy_mappings: Vec<(&'d [u8], &'d [u8])>,
    /// Number of certificates after which a policy is required.
    pub explicit_policy: Option<i64>,
    /// Number of certificates after which policies cannot be mapped.
    pub no_mapping: Option<i64>,
    /// Number of certificates after which `anyPolicy` has no effect.
    pub no_any_policy: Option<i64>,
    /// OCSP servers.
    pub status_servers: Vec<&'d [u8]>,
    /// URLs of the issuer's certificate.
    pub issuers: Vec<&'d [u8]>,
    /// Critical extensions that are not supported.
    pub unknown: Vec<&'d [u8]>,
}

impl<'d> Extensions<'d> {
    /// Decodes all extensions.
    ///
    /// # Errors
    /// The content of a known extension is malformed.
    pub fn read(all: &[Extension<'d>]) -> Result<Self, Asn1Error> {
        let mut extensions = Self {
            key_usage: 0,
            basic_constraints: false,
            authority: false,
            path_length: 0,
            names: AlternativeNames::default(),
            constraints: None,
            critical_constraints: false,
            revocation_lists: Vec::new(),
            authority_key: None,
            subject_key: None,
            usages: Vec::new(),
            policies: None,
            policy_mappings: Vec::new(),
            explicit_policy: None,
            no_mapping: None,
            no_any_policy: None,
            status_servers: Vec::new(),
            issuers: Vec::new(),
            unknown: Vec::new(),
        };
        for extension in all {
            if !extensions.extension(extension)? && extension.critical {
                extensions.unknown.push(extension.id);
            }
        }
        Ok(extensions)
    }

    /// Returns Go's numbers of the extended key usages that have one.
    pub fn numbered_usages(&self) -> impl Iterator<Item = i64> {
        self.usages.iter().filter_map(|oid| usage(oid))
    }

    /// Decodes an extension. Returns `true` if it is supported.
    fn extension(&mut self, extension: &Extension<'d>) -> Result<bool, Asn1Error> {
        let value = extension.value;
        let not_critical = |name: &str| {
            if !extension.critical {
                return Ok(());
            }
            let problem = format!("x509: {name} incorrectly marked critical");
            Err(Asn1Error::from(problem))
        };
        match extension.id {
            oids::SUBJECT_KEY => {
                not_critical("subject key identifier")?;
                let key = DerReader::new(value)
                    .take(der::OCTET_STRING)
                    .ok_or("x509: invalid subject key identifier")?;
                self.subject_key = Some(key);
            }
            oids::KEY_USAGE => {
                let bits = DerReader::new(value)
                    .bits()
                    .ok_or("x509: invalid key usage")?;
                self.key_usage = (0..9)
                    .filter(|bit| bits.bit_at(*bit))
                    .fold(0, |usage, bit| usage | 1 << bit);
            }
            oids::SUBJECT_NAMES => {
                self.names = AlternativeNames::read(value)?;
                return Ok(!self.names.is_empty());
            }
            oids::BASIC_CONSTRAINTS => {
                self.authority(value)
                    .ok_or("x509: invalid basic constraints")?;
            }
            oids::NAME_CONSTRAINTS => {
                let constraints = NameConstraints::read(value)?;
                let all_known = !constraints.unknown;
                self.constraints = Some(constraints);
                self.critical_constraints = extension.critical;
                return Ok(all_known);
            }
            oids::REVOCATION_LISTS => self.revocation_lists(value)?,
            oids::POLICIES => {
                self.policies(value)
                    .ok_or("x509: invalid certificate policies")?;
            }
            oids::POLICY_MAPPINGS => {
                self.mappings(value)
                    .ok_or("x509: invalid policy mappings extension")?;
            }
            oids::AUTHORITY_KEY => {
                not_critical("authority key identifier")?;
                self.authority_key(value)
                    .ok_or("x509: invalid authority key identifier")?;
            }
            oids::POLICY_CONSTRAINTS => {
                self.policy_constraints(value)
                    .ok_or("x509: invalid policy constraints extension")?;
            }
            oids::EXTENDED_USAGE => {
                self.usages(value)
                    .ok_or("x509: invalid extended key usages")?;
            }
            oids::INHIBIT_ANY_POLICY => {
                let limit = DerReader::new(value)
                    .small()
                    .ok_or("x509: invalid inhibit any policy extension")?;
                self.no_any_policy = Some(limit);
            }
            oids::AUTHORITY_ACCESS => {
                not_critical("authority info access")?;
                self.access(value)
                    .ok_or("x509: invalid authority info access")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn authority(&mut self, value: &[u8]) -> Option<()> {
        let mut fields = DerReader::new(value).inside(der::SEQUENCE)?;
        self.authority = fields.boolean_or_false()?;
        self.path_length = match fields.peek() {
            Some(der::INTEGER) => fields.small().filter(|length| *length >= 0)?,
            _ => -1,
        };
        self.basic_constraints = true;
        Some(())
    }

    fn revocation_lists(&mut self, value: &'d [u8]) -> Result<(), Asn1Error> {
        const INVALID: &str = "x509: invalid CRL distribution point";
        let mut list = DerReader::new(value)
            .inside(der::SEQUENCE)
            .ok_or("x509: invalid CRL distribution points")?;
        while !list.is_empty() {
            let mut point = list.inside(der::SEQUENCE).ok_or(INVALID)?;
            let Some(name) = point.optional(der::CONTEXT_0).ok_or(INVALID)? else {
                continue;
            };
            let mut names = DerReader::new(name).inside(der::CONTEXT_0).ok_or(INVALID)?;
            while names.peek() == Some(URI) {
                self.revocation_lists.push(names.take(URI).ok_or(INVALID)?);
            }
        }
        Ok(())
    }

    fn policies(&mut self, value: &'d [u8]) -> Option<()> {
        let mut list = DerReader::new(value).inside(der::SEQUENCE)?;
        let mut ids = std::collections::HashSet::new();
        let mut policies = Vec::new();
        while !list.is_empty() {
            let policy = list.inside(der::SEQUENCE)?.take(der::OID)?;
            if !ids.insert(policy) || !dotted::is_oid(policy) {
                return None;
            }
            policies.push(policy);
        }
        self.policies = Some(policies);
        Some(())
    }

    fn mappings(&mut self, value: &'d [u8]) -> Option<()> {
        let mut list = DerReader::new(value).inside(der::SEQUENCE)?;
        while !list.is_empty() {
            let mut mapping = list.inside(der::SEQUENCE)?;
            // Go does not validate these object identifiers
            let (issuer, subject) = (mapping.take(der::OID)?, mapping.take(der::OID)?);
            if issuer.len().max(subject.len()) > DECIMAL_BYTES {
                return None;
            }
            self.policy_mappings.push((issuer, subject));
        }
        Some(())
    }

    fn authority_key(&mut self, value: &'d [u8]) -> Option<()> {
        const KEY: u8 = 0x80;
        let mut fields = DerReader::new(value).inside(der::SEQUENCE)?;
        self.authority_key = fields.optional(KEY)?;
        Some(())
    }

    fn policy_constraints(&mut self, value: &[u8]) -> Option<()> {
        let mut fields = DerReader::new(value).inside(der::SEQUENCE)?;
        let mut limit = |tag| match fields.optional(tag)? {
            None => Some(None),
            // the tag of a number is its index in this structure
            Some(content) => der::signed(content).map(Some),
        };
        self.explicit_policy = limit(0x80)?;
        self.no_mapping = limit(0x81)?;
        Some(())
    }

    fn usages(&mut self, value: &'d [u8]) -> Option<()> {
        let mut list = DerReader::new(value).inside(der::SEQUENCE)?;
        while !list.is_empty() {
            self.usages.push(list.oid()?);
        }
        Some(())
    }

    fn access(&mut self, value: &'d [u8]) -> Option<()> {
        let mut list = DerReader::new(value).inside(der::SEQUENCE)?;
        while !list.is_empty() {
            let mut access = list.inside(der::SEQUENCE)?;
            let method = access.oid()?;
            let locations = match method {
                oids::STATUS_SERVER => &mut self.status_servers,
                oids::ISSUER => &mut self.issuers,
                _ => continue,
            };
            if access.peek() == Some(URI) {
                locations.push(access.take(URI)?);
            }
        }
        Some(())
    }
}
