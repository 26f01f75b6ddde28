//! Certificate policies along a chain (RFC 5280, section 6.1).

use std::collections::BTreeSet;

use super::Certificate;
use crate::builtins::crypto::oids::ANY_POLICY as ANY;

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

    /// Returns the policies that remain valid after a certificate. If `any_counts`, its `anyPolicy` keeps all of them.
    fn after_certificate(self, policies: &[&'d [u8]], any_counts: bool) -> Self {
        let valid_named = policies
            .iter()
            .copied()
            .filter(|policy| *policy != ANY && (self.any || self.named.contains(policy)));
        let mut remaining = Valid {
            any: false,
            named: valid_named.collect(),
        };
        if any_counts && policies.contains(&ANY) {
            remaining.any = self.any;
            remaining.named.extend(self.named);
        }
        remaining
    }

    /// Applies policy mappings. Returns `None` if they map `anyPolicy`.
    fn mapped(mut self, mappings: &[(&'d [u8], &'d [u8])], allowed: bool) -> Option<Self> {
        let is_any = |(issuer, subject): &(&[u8], &[u8])| *issuer == ANY || *subject == ANY;
        if allowed && mappings.iter().any(is_any) {
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

/// Returns `true` if a chain from a leaf to a root has a valid policy wherever one is required.
pub fn has_valid_policies(chain: &[&Certificate<'_>]) -> bool {
    let Some((_root, issued)) = chain.split_last() else {
        return false;
    };
    let depth = i64::try_from(issued.len()).unwrap_or(i64::MAX);
    // numbers of certificates after which a policy is required, policies cannot be mapped, and `anyPolicy` has no
    // effect
    let (mut explicit, mut mapping, mut any) = (depth + 1, depth + 1, depth + 1);
    // no policies remain valid once a certificate without policies was processed
    let mut valid = Some(Valid {
        any: true,
        ..Valid::default()
    });
    for (index, certificate) in issued.iter().enumerate().rev() {
        let extensions = &certificate.extensions;
        let last = index == 0;
        let self_issued = certificate.raw_issuer == certificate.raw_subject;
        let policies = extensions.policies.as_deref().unwrap_or_default();
        valid = valid
            .filter(|_| !policies.is_empty())
            .map(|valid| valid.after_certificate(policies, any > 0 || !last && self_issued));
        if explicit == 0 && valid.as_ref().is_none_or(Valid::is_empty) {
            return false;
        }
        if !last && let Some(valid_policies) = valid.take() {
            match valid_policies.mapped(&extensions.policy_mappings, mapping > 0) {
                Some(mapped) => valid = Some(mapped),
                None => return false,
            }
        }
        if last || !self_issued {
            for limit in [&mut explicit, &mut mapping, &mut any] {
                *limit = (*limit - 1).max(0);
            }
        }
        let tighten = |limit: &mut i64, new_limit: Option<i64>| {
            if let Some(new_limit) = new_limit.filter(|new_limit| *new_limit >= 0) {
                *limit = (*limit).min(new_limit);
            }
        };
        if last {
            // after the last certificate only immediate requirements apply
            tighten(
                &mut explicit,
                extensions.explicit_policy.filter(|limit| *limit == 0),
            );
        } else {
            tighten(&mut explicit, extensions.explicit_policy);
            tighten(&mut mapping, extensions.no_mapping);
            tighten(&mut any, extensions.no_any_policy);
        }
    }
    explicit > 0 || valid.is_some_and(|valid| !valid.is_empty())
}
