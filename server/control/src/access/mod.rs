//! Authorization: one Rego policy, evaluated for each item.

use solon::{
    Engine, FilterOptions, FilterQuery, FilterTarget, PreparedDocument, PreparedFilters, Request,
    Value,
};

use crate::db::{Dialect, Holder, ItemHead, VisibilityScope};
use crate::error::ApiError;
use crate::model::Kind;

const POLICY: &str = include_str!("policy.rego");

/// An action that needs permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRequest {
    /// Read an item.
    View(Kind),
    /// Create an item of a kind.
    Create(Kind),
    /// Replace or delete an item.
    Manage(Kind),
    /// Reference an item from another item.
    Use(Kind),
    /// Read the data of a source.
    ReadData,
    /// Change the data of a source.
    WriteData,
    /// Read the status records of a bundle.
    ViewStatuses,
    /// Download the archive of a bundle.
    Download,
    /// Request a build of a bundle, before it is due.
    Build,
    /// Grant permissions on an item.
    ManageGrants,
    /// Read the audit log.
    ViewAudit,
    /// Read the metrics.
    ViewMetrics,
}

impl AccessRequest {
    /// Returns the name of the permission, such as `bundles.view`.
    pub fn permission(self) -> String {
        match self {
            Self::View(kind) => format!("{}.view", kind.plural()),
            Self::Create(kind) => format!("{}.create", kind.plural()),
            Self::Manage(kind) => format!("{}.manage", kind.plural()),
            Self::Use(kind) => format!("{}.use", kind.plural()),
            Self::ReadData => "sources.data.read".to_owned(),
            Self::WriteData => "sources.data.write".to_owned(),
            Self::ViewStatuses => "bundles.statuses.view".to_owned(),
            Self::Download => "bundles.download".to_owned(),
            Self::Build => "bundles.build".to_owned(),
            Self::ManageGrants => "grants.manage".to_owned(),
            Self::ViewAudit => "audit.view".to_owned(),
            Self::ViewMetrics => "metrics.view".to_owned(),
        }
    }

    /// Returns the permissions that can be granted on an item of `kind`.
    pub fn grantable(kind: Kind) -> Vec<String> {
        let mut requests = vec![Self::View(kind), Self::Manage(kind)];
        match kind {
            Kind::Bundle => requests.extend([Self::ViewStatuses, Self::Download, Self::Build]),
            Kind::Source => requests.extend([Self::Use(kind), Self::ReadData, Self::WriteData]),
            Kind::Secret => requests.push(Self::Use(kind)),
            Kind::Stack | Kind::Token => {}
        }
        requests.into_iter().map(Self::permission).collect()
    }
}

/// The compiled policy.
pub struct Access {
    allow: PreparedDocument,
    visible: PreparedFilters,
}

/// The rows that a principal may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Visible {
    /// All rows of the table.
    All,
    /// No rows: the query need not run.
    None,
    /// Rows that satisfy an SQL condition on `items.owner_id` and `grants.permission`, and the rows that can satisfy it.
    If(String, VisibilityScope),
}

/// Returns the part of the input that is known before the item is read.
fn principal_input(principal: &Principal, permission: &str) -> Vec<(Value, Value)> {
    vec![
        ("principal".into(), principal.holder.id.into()),
        ("role".into(), principal.holder.role.as_str().into()),
        ("permission".into(), permission.into()),
    ]
}

/// An authenticated principal with all of its grants.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The token of the caller.
    pub holder: Holder,
    /// The grants: item ids and permissions.
    pub grants: Vec<(i64, String)>,
}

impl Access {
    /// Compiles the policy.
    ///
    /// # Errors
    /// An internal error if the policy does not compile.
    pub fn new(dialect: Dialect) -> Result<Self, ApiError> {
        let internal_error = |error: solon::Error| ApiError::internal(error.to_string());
        let engine = Engine::new();
        engine
            .set_module("policy.rego", POLICY)
            .map_err(internal_error)?;
        let allow = engine
            .prepare_document("data.control.access.allow")
            .map_err(internal_error)?;
        let target = match dialect {
            Dialect::Sqlite => FilterTarget::Sqlite,
            Dialect::Postgres => FilterTarget::Postgresql,
            Dialect::Mysql => FilterTarget::Mysql,
        };
        let options = FilterOptions::new([target])
            .unknowns(["input.items", "input.grants"])
            .bare(true);
        let visible = engine.prepare_filters("data.control.access.allow", &options);
        Ok(Self {
            allow,
            visible: visible.map_err(internal_error)?,
        })
    }

    /// Returns the items of a kind that the principal may see, as far as this can be decided before the items are read.
    ///
    /// # Errors
    /// An internal error if the policy cannot be translated to SQL.
    pub fn visible(&self, principal: &Principal, kind: Kind) -> Result<Visible, ApiError> {
        let input = Value::object(principal_input(
            principal,
            &AccessRequest::View(kind).permission(),
        ));
        let filters = self.visible.compile(&Request::new().input(&input));
        let filters = filters.map_err(|error| ApiError::internal(error.to_string()))?;
        match filters
            .filters
            .into_iter()
            .next()
            .and_then(|filter| filter.query)
        {
            None => Ok(Visible::None),
            Some(FilterQuery::Sql(sql)) if sql.text.is_empty() => Ok(Visible::All),
            Some(FilterQuery::Sql(sql)) => {
                Ok(Visible::If(sql.text, self.visibility(principal, kind)?))
            }
            Some(_) => Err(ApiError::internal("the policy became no SQL")),
        }
    }

    /// Returns the scope of the items that the principal may see. Of an item, the policy reads only the owner and the
    /// grants. So two samples, one without an owner and one with another owner, represent all items that the principal
    /// neither owns nor has grants on.
    fn visibility(&self, principal: &Principal, kind: Kind) -> Result<VisibilityScope, ApiError> {
        let stranger = Principal {
            holder: principal.holder.clone(),
            grants: Vec::new(),
        };
        for owner in [None, Some(i64::MIN)] {
            let item = ItemHead {
                id: 0,
                name: String::new(),
                version: 0,
                owner,
                file: None,
            };
            if self.allows(&stranger, AccessRequest::View(kind), Some(&item))? {
                return Ok(VisibilityScope::All);
            }
        }
        Ok(VisibilityScope::Own)
    }

    /// Returns `true` if the principal may perform the action on the item, or on an item that does not exist.
    ///
    /// # Errors
    /// An internal error if the evaluation of the policy fails.
    pub fn allows(
        &self,
        principal: &Principal,
        access_request: AccessRequest,
        item: Option<&ItemHead>,
    ) -> Result<bool, ApiError> {
        let wanted_permission = access_request.permission();
        let mut grants = principal.grants.iter();
        let is_granted = grants.any(|(id, permission)| {
            item.is_some_and(|item| item.id == *id) && *permission == wanted_permission
        });
        let owner = item.and_then(|item| item.owner);
        let owner = owner.map_or(Value::NULL, Value::from);
        let granted = if is_granted {
            wanted_permission.as_str().into()
        } else {
            Value::NULL
        };
        let row = |column: &str, value| Value::object(vec![(column.into(), value)]);
        let mut input_members = principal_input(principal, &wanted_permission);
        input_members.push(("items".into(), row("owner_id", owner)));
        input_members.push(("grants".into(), row("permission", granted)));
        let input = Value::object(input_members);
        let result = self.allow.evaluate(&Request::new().input(&input));
        match result {
            Ok(value) => Ok(value.and_then(|value| value.as_bool()) == Some(true)),
            Err(error) => Err(ApiError::internal(error.to_string())),
        }
    }

    /// Rejects an action that the principal may not perform.
    ///
    /// # Errors
    /// The principal lacks the permission.
    pub fn check(
        &self,
        principal: &Principal,
        access_request: AccessRequest,
        item: Option<&ItemHead>,
    ) -> Result<(), ApiError> {
        if self.allows(principal, access_request, item)? {
            Ok(())
        } else {
            Err(ApiError::forbidden())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    /// Matrix of roles: what each role may do with its own items and with items of other owners.
    #[test]
    fn roles() {
        let access = Access::new(Dialect::Sqlite).unwrap();
        let principal = |id, role| Principal {
            holder: Holder {
                id,
                name: "x".to_owned(),
                role,
                file: None,
                created_at: 0,
                expires_at: None,
                last_used_at: None,
            },
            grants: vec![(8, "sources.use".to_owned()), (8, "audit.view".to_owned())],
        };
        let item = |id, owner| ItemHead {
            id,
            name: "i".to_owned(),
            version: 1,
            owner,
            file: None,
        };
        let own_item = item(7, Some(1));
        let granted = item(8, Some(2));
        let managed = item(9, None);
        let allows = |role, access_request, item| {
            access
                .allows(&principal(1, role), access_request, item)
                .unwrap()
        };
        for kind in Kind::OWNED {
            use Role::{Administrator, Owner, StackOwner, Viewer};
            for access_request in [
                AccessRequest::View(kind),
                AccessRequest::Manage(kind),
                AccessRequest::Use(kind),
            ] {
                assert!(allows(Administrator, access_request, Some(&managed)));
                assert!(allows(Owner, access_request, Some(&own_item)));
                assert!(!allows(Owner, access_request, Some(&managed)));
                assert!(!allows(Owner, access_request, None));
                assert!(!allows(StackOwner, access_request, Some(&managed)));
            }
            assert!(allows(Viewer, AccessRequest::View(kind), Some(&managed)));
            assert!(!allows(Viewer, AccessRequest::Manage(kind), Some(&managed)));
            assert!(!allows(Viewer, AccessRequest::Create(kind), None));
            assert_eq!(
                allows(Owner, AccessRequest::Create(kind), None),
                kind != Kind::Stack
            );
            assert_eq!(
                allows(StackOwner, AccessRequest::Create(kind), None),
                kind == Kind::Stack
            );
        }
        assert!(allows(
            Role::Owner,
            AccessRequest::Use(Kind::Source),
            Some(&granted)
        ));
        assert!(!allows(
            Role::Owner,
            AccessRequest::View(Kind::Source),
            Some(&granted)
        ));
        assert!(!allows(
            Role::Owner,
            AccessRequest::ViewAudit,
            Some(&granted)
        ));
        assert!(allows(
            Role::Owner,
            AccessRequest::ViewStatuses,
            Some(&own_item)
        ));
        assert!(allows(
            Role::Viewer,
            AccessRequest::ViewStatuses,
            Some(&managed)
        ));
        assert!(allows(
            Role::Owner,
            AccessRequest::Download,
            Some(&own_item)
        ));
        assert!(!allows(
            Role::Owner,
            AccessRequest::Download,
            Some(&managed)
        ));
        assert!(!allows(
            Role::Owner,
            AccessRequest::Download,
            Some(&granted)
        ));
        assert!(allows(
            Role::Viewer,
            AccessRequest::Download,
            Some(&managed)
        ));
        assert!(!allows(
            Role::StackOwner,
            AccessRequest::Download,
            Some(&managed)
        ));
        assert!(allows(
            Role::Administrator,
            AccessRequest::Build,
            Some(&managed)
        ));
        assert!(allows(Role::Owner, AccessRequest::Build, Some(&own_item)));
        for role in [Role::Owner, Role::StackOwner, Role::Viewer] {
            assert!(!allows(role, AccessRequest::Build, Some(&managed)));
            assert!(!allows(role, AccessRequest::Build, Some(&granted)));
        }
        assert!(!allows(Role::Viewer, AccessRequest::ViewAudit, None));
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
            let access = Access::new(dialect).unwrap();
            let visible = |role| access.visible(&principal(1, role), Kind::Source).unwrap();
            assert_eq!(visible(Role::Administrator), Visible::All);
            assert_eq!(visible(Role::Viewer), Visible::All);
            for role in [Role::Owner, Role::StackOwner] {
                let Visible::If(text, VisibilityScope::Own) = visible(role) else {
                    panic!("{role:?} sees what the policy does not look at");
                };
                assert!(
                    text.contains("items.owner_id") && text.contains("grants.permission"),
                    "{text}"
                );
            }
        }
    }
}
