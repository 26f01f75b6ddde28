//! Certificate policies along a chain (RFC 5280, 6.1).

use std::collections::BTreeSet;

use super::Certificate;

/// The policy that stands for all.
const ANY: &[u8] = b"\x55\x1d\x20\x00";

/// Policies that are valid so far.
#[derive(Default)]
struct Valid<'d> {
    any: bool,
    named: BTreeSet<&'d [u8]>,
}

impl<'d> Valid<'d> {
    fn is_empty(&self) -> bool {
        !self.any && self.named.is_empty()
    }

    /// What is left of them after a certificate.
    fn after(self, policies: &[&'d [u8]], any_counts: bool) -> Self {
        let named = policies
            .iter()
            .copied()
            .filter(|policy| *policy != ANY && (self.any || self.named.contains(policy)));
        let mut left = Valid {
            any: false,
            named: named.collect(),
        };
        if any_counts && policies.contains(&ANY) {
            left.any = self.any;
            left.named.extend(self.named);
        }
        left
    }

    /// What they are called below a certificate that maps them.
    fn mapped(mut self, mappings: &[(&'d [u8], &'d [u8])], allowed: bool) -> Option<Self> {
        if mappings
            .iter()
            .any(|(issuer, subject)| *issuer == ANY || *subject == ANY)
        {
            return None;
        }
        let mut added = Vec::new();
        for (issuer, subject) in mappings {
            if allowed && (self.any || self.named.contains(issuer)) {
                added.push(*subject);
            }
        }
        for (issuer, _) in mappings {
            self.named.remove(issuer);
        }
        self.named.extend(added);
        Some(self)
    }
}

/// Whether a chain from a leaf to a root has a valid policy wherever one is needed.
pub fn policies_hold(chain: &[&Certificate<'_>]) -> bool {
    let Some((_root, below)) = chain.split_last() else {
        return false;
    };
    let depth = i64::try_from(below.len()).unwrap_or(i64::MAX);
    // after how many more certificates: a policy is needed, none may be mapped, none stands for all
    let (mut explicit, mut mapping, mut any) = (depth + 1, depth + 1, depth + 1);
    let mut valid = Valid {
        any: true,
        ..Valid::default()
    };
    for (at, certificate) in below.iter().enumerate().rev() {
        let said = &certificate.extensions;
        let last = at == 0;
        let self_issued = certificate.raw_issuer == certificate.raw_subject;
        valid = valid.after(
            said.policies.as_deref().unwrap_or_default(),
            any > 0 || !last && self_issued,
        );
        if explicit == 0 && valid.is_empty() {
            return false;
        }
        if !last {
            match valid.mapped(&said.policy_mappings, mapping > 0) {
                Some(mapped) => valid = mapped,
                None => return false,
            }
        }
        if last || !self_issued {
            for limit in [&mut explicit, &mut mapping, &mut any] {
                *limit = (*limit - 1).max(0);
            }
        }
        let tighten = |limit: &mut i64, said: Option<i64>| {
            if let Some(said) = said {
                *limit = (*limit).min(said);
            }
        };
        if last {
            // at the end only an immediate demand counts
            tighten(
                &mut explicit,
                said.explicit_policy.filter(|limit| *limit == 0),
            );
        } else {
            tighten(&mut explicit, said.explicit_policy);
            tighten(&mut mapping, said.no_mapping);
            tighten(&mut any, said.no_any_policy);
        }
    }
    explicit > 0 || !valid.is_empty()
}
