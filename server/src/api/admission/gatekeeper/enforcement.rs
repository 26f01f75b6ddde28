//! Enforcement actions of constraints.

use serde::Deserialize;

use super::section::or_default;

/// Effect of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EnforcementAction {
    /// The object is denied.
    Deny,
    /// The object is admitted with a warning.
    Warn,
    /// The object is admitted. The violation is in the decision log.
    Dryrun,
}

impl EnforcementAction {
    /// Returns the name in constraints, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Warn => "warn",
            Self::Dryrun => "dryrun",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Deny, Self::Warn, Self::Dryrun];
        all.into_iter().find(|action| action.name() == name)
    }
}

/// The enforcement point of an admission webhook.
const WEBHOOK: &str = "validation.gatekeeper.sh";

/// Enforcement points of Gatekeeper. Constraints for the others have no effect here.
const POINTS: [&str; 5] = [
    WEBHOOK,
    "audit.gatekeeper.sh",
    "gator.gatekeeper.sh",
    "vap.k8s.io",
    "*",
];

/// An action for some enforcement points.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
pub struct ScopedAction {
    action: String,
    #[serde(default, deserialize_with = "or_default")]
    enforcement_points: Vec<EnforcementPoint>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct EnforcementPoint {
    name: String,
}

/// Returns the actions of a constraint in the webhook, in order and without duplicates. They are empty if it is enforced
/// elsewhere only.
///
/// # Errors
/// An action or an enforcement point is unknown, or scoped actions are missing or without effect.
pub fn webhook_actions(
    action: Option<&str>,
    scoped: Option<&[ScopedAction]>,
) -> Result<Vec<EnforcementAction>, String> {
    match (action.filter(|action| !action.is_empty()), scoped) {
        (Some("scoped"), Some(scoped)) if !scoped.is_empty() => of_scopes(scoped),
        (Some("scoped"), _) => Err(
            "`spec.scopedEnforcementActions`: expected an action, because `spec.enforcementAction` is `scoped`"
                .to_owned(),
        ),
        (_, Some(scoped)) if !scoped.is_empty() => Err(
            "`spec.scopedEnforcementActions` has no effect: `spec.enforcementAction` must be `scoped`"
                .to_owned(),
        ),
        (None, _) => Ok(vec![EnforcementAction::Deny]),
        (Some(name), _) => match EnforcementAction::from_name(name) {
            Some(action) => Ok(vec![action]),
            None => Err(format!(
                "`spec.enforcementAction`: unknown action `{name}`: expected `deny`, `warn`, `dryrun` or `scoped`"
            )),
        },
    }
}

fn of_scopes(scoped: &[ScopedAction]) -> Result<Vec<EnforcementAction>, String> {
    let mut actions = Vec::new();
    for (at, scope) in scoped.iter().enumerate() {
        let path = format!("`spec.scopedEnforcementActions[{at}]`");
        let name = &scope.action;
        let action = EnforcementAction::from_name(name).ok_or_else(|| {
            format!("{path}: unknown action `{name}`: expected `deny`, `warn` or `dryrun`")
        })?;
        if scope.enforcement_points.is_empty() {
            return Err(format!("{path}: `enforcementPoints` must not be empty"));
        }
        for point in &scope.enforcement_points {
            let name = point.name.as_str();
            if !POINTS.contains(&name) {
                let known = POINTS.join("`, `");
                return Err(format!(
                    "{path}: unknown enforcement point `{name}`: expected one of `{known}`"
                ));
            }
            if [WEBHOOK, "*"].contains(&name) {
                actions.push(action);
            }
        }
    }
    actions.sort_unstable();
    actions.dedup();
    Ok(actions)
}
