//! Changes made by requests, configuration files and the command line. All of them are written to the audit log.

mod documents;
mod items;
mod tokens;

pub use documents::tree_around;
pub use items::{ItemWrite, secret_body};
pub use tokens::{IssuedToken, token_json};

use crate::access::{Access, Principal};
use crate::db::{Transaction, Written};
use crate::error::{ApiError, ApiErrorKind};
use crate::model::{Kind, credentials};

/// The author of a change, which decides about permissions and the audit log.
#[derive(Clone, Copy)]
pub enum Actor<'a> {
    /// An API client, restricted by the policy.
    Principal(&'a Principal, &'a Access),
    /// A configuration file, which may reference every item.
    File(&'a str),
    /// The operator of the service, by its command line.
    Operator,
}

/// Rejects a change of an item that a configuration file describes.
pub fn check_free(kind: Kind, name: &str, file: Option<&str>) -> Result<(), ApiError> {
    let Some(file) = file else {
        return Ok(());
    };
    let kind = kind.singular();
    let message = format!("{kind} {name:?} is described by the file {file:?}; change it there");
    Err(ApiError::new(ApiErrorKind::Conflict, message))
}

/// A change in progress. Nothing is written before the transaction is committed.
pub struct Changing<'c> {
    /// The transaction of the change. The caller commits it.
    pub transaction: &'c mut Transaction,
    /// The author: permissions are checked for principals, not for files.
    pub actor: Actor<'c>,
    /// The request id, for the audit log.
    pub request: &'c str,
}

impl Changing<'_> {
    fn principal_name(&self) -> &str {
        match self.actor {
            Actor::Principal(principal, _) => &principal.holder.name,
            Actor::File(file) => file,
            Actor::Operator => "the command line",
        }
    }

    /// Records a change in the audit log and in the service log.
    pub async fn note(
        &mut self,
        action: &'static str,
        kind: Kind,
        name: &str,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Result<(), ApiError> {
        let actor_name = self.principal_name().to_owned();
        let [before, after] = [before, after].map(|body| body.map(credentials::redacted_source));
        let (before, after) = (before.as_deref(), after.as_deref());
        let audit_record = Written {
            principal: &actor_name,
            request: self.request,
            action,
            kind: kind.plural(),
            name,
            before,
            after,
        };
        self.transaction.note(&audit_record).await?;
        tracing::info!(
            target: "solon_control::audit",
            principal = actor_name,
            request = self.request,
            action,
            kind = kind.singular(),
            name,
            "written"
        );
        Ok(())
    }
}
