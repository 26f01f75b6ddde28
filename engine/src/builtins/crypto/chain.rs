//! Certificate chains from a leaf to a root, built and verified as by Go.

use super::certificate::Certificate;
use super::certificate::constraints::{Allowance, permits};
use super::certificate::host::names_host;
use super::certificate::policy::has_valid_policies;
use super::oids::SUBJECT_NAMES;
use super::public::PublicKey;
use crate::limits::{CHAIN_SIGNATURES, NAME_COMPARISONS};

/// Go's number of the key usage that includes all others.
const ANY_USE: i64 = 0;

/// Go's number of the key usage for servers, the default.
const SERVER_USE: i64 = 1;

/// Requirements of a valid chain.
pub struct VerifyOptions<'o> {
    /// Verification time, in nanoseconds since 1970.
    pub now_ns: i64,
    /// Host name of the leaf. Empty for any.
    pub host: &'o str,
    /// Key usages, by Go's numbers, of which the chain must allow one. Empty means servers.
    pub uses: Vec<i64>,
}

impl VerifyOptions<'_> {
    /// Returns the options to verify a server certificate at a time.
    pub fn for_servers_at(now_ns: i64) -> Self {
        Self {
            now_ns,
            host: "",
            uses: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChainRole {
    Leaf,
    Intermediate,
    Root,
}

type CertificateChain<'c, 'd> = Vec<&'c Certificate<'d>>;

/// Returns the first valid chain, or `None`. The first certificate is the root and the last the leaf.
pub fn verify<'c, 'd>(
    all: &'c [Certificate<'d>],
    options: &VerifyOptions<'_>,
) -> Option<CertificateChain<'c, 'd>> {
    let [root, intermediates_and_leaf @ .., leaf] = all else {
        return None;
    };
    let mut intermediates: CertificateChain<'c, 'd> = Vec::new();
    let mut raw_certificates = std::collections::HashSet::new();
    for certificate in intermediates_and_leaf {
        if raw_certificates.insert(certificate.raw) {
            intermediates.push(certificate);
        }
    }
    if !is_valid(leaf, ChainRole::Leaf, &[], options) {
        return None;
    }
    if !options.host.is_empty() && !names_host(leaf, options.host) {
        return None;
    }
    let mut builder = ChainBuilder {
        root,
        intermediates,
        options,
        signatures: 0,
        chains: Vec::new(),
    };
    if leaf.raw == root.raw {
        builder.chains.push(vec![leaf]);
    } else {
        builder.build(&[leaf]);
    }
    let chains = builder.chains.into_iter();
    chains
        .filter(|chain| has_valid_policies(chain))
        .find(|chain| allows_use(chain, &options.uses))
}

struct ChainBuilder<'c, 'd, 'o> {
    root: &'c Certificate<'d>,
    intermediates: CertificateChain<'c, 'd>,
    options: &'o VerifyOptions<'o>,
    signatures: usize,
    chains: Vec<CertificateChain<'c, 'd>>,
}

impl<'c, 'd> ChainBuilder<'c, 'd, '_> {
    /// Extends a chain by each possible issuer of its last certificate. The number of verified signatures limits the
    /// depth.
    fn build(&mut self, chain: &[&'c Certificate<'d>]) {
        let Some(child) = chain.last() else {
            return;
        };
        if self.root.raw_subject == child.raw_issuer {
            self.consider(chain, child, self.root, ChainRole::Root);
        }
        let mut parents: Vec<_> = self
            .intermediates
            .iter()
            .copied()
            .filter(|parent| parent.raw_subject == child.raw_issuer)
            .collect();
        parents.sort_by_key(|parent| key_mismatch(parent, child));
        for parent in parents {
            self.consider(chain, child, parent, ChainRole::Intermediate);
        }
    }

    fn consider(
        &mut self,
        chain: &[&'c Certificate<'d>],
        child: &Certificate<'d>,
        parent: &'c Certificate<'d>,
        role: ChainRole,
    ) {
        let Some(key) = &parent.public_key else {
            return;
        };
        if chain.iter().any(|other| is_same(other, parent)) || self.signatures >= CHAIN_SIGNATURES {
            return;
        }
        self.signatures += 1;
        if !has_signed(parent, key, child) || !is_valid(parent, role, chain, self.options) {
            return;
        }
        let longer = [chain, &[parent]].concat();
        if role == ChainRole::Root {
            self.chains.push(longer);
        } else {
            self.build(&longer);
        }
    }
}

/// Ranks how well the key identifiers match: better matches are tried first.
fn key_mismatch(parent: &Certificate<'_>, child: &Certificate<'_>) -> u8 {
    let parent_key = parent.extensions.subject_key;
    let child_key = child.extensions.authority_key;
    let has = |key: Option<&[u8]>| key.is_some_and(|key| !key.is_empty());
    if parent_key.unwrap_or_default() == child_key.unwrap_or_default() {
        0
    } else {
        u8::from(has(parent_key) && has(child_key)) + 1
    }
}

/// Returns `true` if two certificates have the same subject, key and alternative names.
fn is_same(left: &Certificate<'_>, right: &Certificate<'_>) -> bool {
    let names = |certificate: &Certificate<'_>| {
        let extensions = certificate.all_extensions.iter();
        extensions
            .filter(|extension| extension.id == SUBJECT_NAMES)
            .map(|extension| extension.value.to_vec())
            .next()
    };
    left.raw_subject == right.raw_subject
        && left.raw_key == right.raw_key
        && names(left) == names(right)
}

fn has_signed(parent: &Certificate<'_>, key: &PublicKey, child: &Certificate<'_>) -> bool {
    const SIGNS_CERTIFICATES: u16 = 1 << 5;
    let extensions = &parent.extensions;
    let authority = if extensions.basic_constraints {
        extensions.authority
    } else {
        parent.version != 3
    };
    let may_sign = extensions.key_usage == 0 || extensions.key_usage & SIGNS_CERTIFICATES != 0;
    authority
        && may_sign
        && child
            .signature_algorithm
            .verify(key, child.signed, &child.signature)
}

/// Returns `true` if a certificate is valid in its role after those before it in a chain.
fn is_valid(
    certificate: &Certificate<'_>,
    role: ChainRole,
    chain: &[&Certificate<'_>],
    options: &VerifyOptions<'_>,
) -> bool {
    let extensions = &certificate.extensions;
    let ns = |seconds: i64| i128::from(seconds) * 1_000_000_000;
    let now = i128::from(options.now_ns);
    let in_time =
        ns(certificate.not_before.seconds) <= now && now <= ns(certificate.not_after.seconds);
    if !extensions.unknown.is_empty() || !in_time {
        return false;
    }
    if let Some(constraints) = extensions
        .constraints
        .as_ref()
        .filter(|_| role != ChainRole::Leaf)
    {
        let mut allowance = Allowance(NAME_COMPARISONS);
        let permitted = chain
            .iter()
            .all(|other| permits(constraints, &other.extensions.names, &mut allowance));
        if !permitted {
            return false;
        }
    }
    if role == ChainRole::Intermediate && !(extensions.basic_constraints && extensions.authority) {
        return false;
    }
    let intermediate_count = i64::try_from(chain.len()).unwrap_or(i64::MAX) - 1;
    !(extensions.basic_constraints
        && extensions.path_length >= 0
        && intermediate_count > extensions.path_length)
}

/// Returns `true` if all certificates of a chain allow one of the usages. A certificate without usages allows all. An empty
/// `uses` requires TLS servers.
fn allows_use(chain: &[&Certificate<'_>], uses: &[i64]) -> bool {
    if uses.contains(&ANY_USE) {
        return true;
    }
    let mut usages = match uses {
        [] => vec![SERVER_USE],
        uses => uses.to_vec(),
    };
    for certificate in chain.iter().rev() {
        let extensions = &certificate.extensions;
        if extensions.usages.is_empty() {
            continue;
        }
        let allowed_usages: Vec<i64> = extensions.numbered_usages().collect();
        if !allowed_usages.contains(&ANY_USE) {
            usages.retain(|usage| allowed_usages.contains(usage));
        }
    }
    !usages.is_empty()
}
