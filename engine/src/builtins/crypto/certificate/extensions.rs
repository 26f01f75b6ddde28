//! Extensions of certificates, one by one.

use super::names::{AlternativeNames, NameConstraints};
use super::{Problem, dotted};
use crate::builtins::crypto::der::{self, Reader};
use crate::builtins::crypto::oids;
use crate::limits::SHOWN_BYTES;

/// A name that is a URI.
const URI: u8 = 0x86;

/// Uses of keys by object identifier, with the names that OPA's options have for them. Go's number of a use is its
/// place.
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

/// Go's number of a use.
pub fn usage(oid: &[u8]) -> Option<i64> {
    let at = KEY_USAGES.iter().position(|(own, _)| *own == oid)?;
    i64::try_from(at).ok()
}

/// An extension as it was written.
#[derive(Clone, Copy, Debug)]
pub struct Extension<'d> {
    /// Its object identifier.
    pub id: &'d [u8],
    /// Whether a verifier must understand it.
    pub critical: bool,
    /// What it holds.
    pub value: &'d [u8],
}

impl<'d> Extension<'d> {
    /// Reads the next extension of a list.
    pub fn read(list: &mut Reader<'d>) -> Result<Self, Problem> {
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

/// What the extensions of a certificate say.
#[derive(Clone, Debug)]
pub struct Extensions<'d> {
    /// What the key may be used for, a bit for each use.
    pub key_usage: u16,
    /// Whether it says if it is an authority.
    pub basic_constraints: bool,
    /// Whether it is an authority.
    pub authority: bool,
    /// How many authorities may follow; -1 when it does not say, 0 also without the extension.
    pub path_length: i64,
    /// Other names of the subject.
    pub names: AlternativeNames<'d>,
    /// What names the subject may certify.
    pub constraints: Option<NameConstraints<'d>>,
    /// Whether those must be understood.
    pub critical_constraints: bool,
    /// Where lists of revoked certificates are.
    pub revocation_lists: Vec<&'d [u8]>,
    /// The key that signed.
    pub authority_key: Option<&'d [u8]>,
    /// The key of the subject.
    pub subject_key: Option<&'d [u8]>,
    /// Uses, by object identifier.
    pub usages: Vec<&'d [u8]>,
    /// Policies, by object identifier, if it says something about them.
    pub policies: Option<Vec<&'d [u8]>>,
    /// Policies of the issuer and what they are with the subject.
    pub policy_mappings: Vec<(&'d [u8], &'d [u8])>,
    /// After how many certificates a policy is needed.
    pub explicit_policy: Option<i64>,
    /// After how many certificates policies may not be mapped.
    pub no_mapping: Option<i64>,
    /// After how many certificates no policy stands for all.
    pub no_any_policy: Option<i64>,
    /// Servers that tell about revocation.
    pub status_servers: Vec<&'d [u8]>,
    /// Where the issuer's certificate is.
    pub issuers: Vec<&'d [u8]>,
    /// Those that must be understood and are not.
    pub unknown: Vec<&'d [u8]>,
}

impl<'d> Extensions<'d> {
    /// Reads all extensions.
    pub fn read(all: &[Extension<'d>]) -> Result<Self, Problem> {
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

    /// The uses that Go has numbers for, by these.
    pub fn numbered_usages(&self) -> impl Iterator<Item = i64> {
        self.usages.iter().filter_map(|oid| usage(oid))
    }

    /// Reads one extension and tells whether it is understood.
    fn extension(&mut self, extension: &Extension<'d>) -> Result<bool, Problem> {
        let value = extension.value;
        let not_critical = |what: &str| {
            if !extension.critical {
                return Ok(());
            }
            let problem = format!("x509: {what} incorrectly marked critical");
            Err(Problem::from(problem))
        };
        match extension.id {
            oids::SUBJECT_KEY => {
                not_critical("subject key identifier")?;
                let key = Reader::new(value)
                    .take(der::OCTET_STRING)
                    .ok_or("x509: invalid subject key identifier")?;
                self.subject_key = Some(key);
            }
            oids::KEY_USAGE => {
                let bits = Reader::new(value).bits().ok_or("x509: invalid key usage")?;
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
                let known = !constraints.unknown;
                self.constraints = Some(constraints);
                self.critical_constraints = extension.critical;
                return Ok(known);
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
                let limit = Reader::new(value)
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
        let mut fields = Reader::new(value).inside(der::SEQUENCE)?;
        self.authority = fields.boolean_or_false()?;
        self.path_length = match fields.peek() {
            Some(der::INTEGER) => fields.small().filter(|length| *length >= 0)?,
            _ => -1,
        };
        self.basic_constraints = true;
        Some(())
    }

    fn revocation_lists(&mut self, value: &'d [u8]) -> Result<(), Problem> {
        const INVALID: &str = "x509: invalid CRL distribution point";
        let mut list = Reader::new(value)
            .inside(der::SEQUENCE)
            .ok_or("x509: invalid CRL distribution points")?;
        while !list.is_empty() {
            let mut point = list.inside(der::SEQUENCE).ok_or(INVALID)?;
            let Some(name) = point.optional(der::CONTEXT_0).ok_or(INVALID)? else {
                continue;
            };
            let mut names = Reader::new(name).inside(der::CONTEXT_0).ok_or(INVALID)?;
            while names.peek() == Some(URI) {
                self.revocation_lists.push(names.take(URI).ok_or(INVALID)?);
            }
        }
        Ok(())
    }

    fn policies(&mut self, value: &'d [u8]) -> Option<()> {
        let mut list = Reader::new(value).inside(der::SEQUENCE)?;
        let mut seen = std::collections::HashSet::new();
        let mut policies = Vec::new();
        while !list.is_empty() {
            let policy = list.inside(der::SEQUENCE)?.take(der::OID)?;
            if !seen.insert(policy) || !dotted::is_oid(policy) {
                return None;
            }
            policies.push(policy);
        }
        self.policies = Some(policies);
        Some(())
    }

    fn mappings(&mut self, value: &'d [u8]) -> Option<()> {
        let mut list = Reader::new(value).inside(der::SEQUENCE)?;
        while !list.is_empty() {
            let mut mapping = list.inside(der::SEQUENCE)?;
            // Go does not look into these
            let (issuer, subject) = (mapping.take(der::OID)?, mapping.take(der::OID)?);
            if issuer.len().max(subject.len()) > SHOWN_BYTES {
                return None;
            }
            self.policy_mappings.push((issuer, subject));
        }
        Some(())
    }

    fn authority_key(&mut self, value: &'d [u8]) -> Option<()> {
        const KEY: u8 = 0x80;
        let mut fields = Reader::new(value).inside(der::SEQUENCE)?;
        self.authority_key = fields.optional(KEY)?;
        Some(())
    }

    fn policy_constraints(&mut self, value: &[u8]) -> Option<()> {
        let mut fields = Reader::new(value).inside(der::SEQUENCE)?;
        let mut limit = |tag| match fields.optional(tag)? {
            None => Some(None),
            // the tag of a number is that of its place here
            Some(content) => der::signed(content).map(Some),
        };
        self.explicit_policy = limit(0x80)?;
        self.no_mapping = limit(0x81)?;
        Some(())
    }

    fn usages(&mut self, value: &'d [u8]) -> Option<()> {
        let mut list = Reader::new(value).inside(der::SEQUENCE)?;
        while !list.is_empty() {
            self.usages.push(list.oid()?);
        }
        Some(())
    }

    fn access(&mut self, value: &'d [u8]) -> Option<()> {
        let mut list = Reader::new(value).inside(der::SEQUENCE)?;
        while !list.is_empty() {
            let mut access = list.inside(der::SEQUENCE)?;
            let method = access.oid()?;
            let places = match method {
                oids::STATUS_SERVER => &mut self.status_servers,
                oids::ISSUER => &mut self.issuers,
                _ => continue,
            };
            if access.peek() == Some(URI) {
                places.push(access.take(URI)?);
            }
        }
        Some(())
    }
}
