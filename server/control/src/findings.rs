//! Checks of a database for an operator: `solon control check`.

use crate::access::AccessRequest;
use crate::db::{Database, DatabaseOptions, Mode, Transaction};
use crate::error::ApiError;
use crate::model::{Kind, allowed_hosts, credentials};

/// Number of rows per page.
const PAGE: i64 = 100;

/// Finds pending migrations and rows of earlier versions that would be rejected now. Nothing is changed, and no finding
/// contains a credential.
///
/// # Errors
/// The database does not exist, cannot be reached, or is newer.
pub async fn findings(options: &DatabaseOptions) -> Result<Vec<String>, ApiError> {
    if let DatabaseOptions::Sqlite(path) = options
        && !path.exists()
    {
        let path = path.display();
        return Err(ApiError::invalid(format!("no database exists at {path}")));
    }
    let database = Database::new(options)?;
    let mut findings = Vec::new();
    let pending = database.pending_migrations().await?;
    if !pending.is_empty() {
        let count = pending.len();
        let names = pending.join(", ");
        findings.push(format!(
            "{count} migrations are pending ({names}): run `solon control db migrate`"
        ));
    }
    // the first migration creates the tables
    if pending.contains(&"0001_tables") {
        return Ok(findings);
    }
    let mut transaction = database.begin(Mode::Read).await?;
    let result = in_rows(&mut transaction, &mut findings).await;
    transaction.roll_back().await;
    result.map(|()| findings)
}

async fn in_rows(
    transaction: &mut Transaction,
    findings: &mut Vec<String>,
) -> Result<(), ApiError> {
    in_sources(transaction, findings).await?;
    in_grants(transaction, findings).await?;
    in_audit(transaction, findings).await
}

async fn in_sources(
    transaction: &mut Transaction,
    findings: &mut Vec<String>,
) -> Result<(), ApiError> {
    let mut after = 0;
    loop {
        let page = transaction.items_after(Kind::Source, after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.head.id;
        for source in &page {
            for field in credentials::in_source(&source.body) {
                let name = &source.head.name;
                findings.push(format!(
                    "source {name:?}: {field} holds a credential in plain text: put it into a secret and name that by `credentials`"
                ));
            }
        }
    }
}

/// Finds grants of the use of secrets that earlier versions accepted, but that have no effect now.
async fn in_grants(
    transaction: &mut Transaction,
    findings: &mut Vec<String>,
) -> Result<(), ApiError> {
    let permission = AccessRequest::Use(Kind::Secret).permission();
    let mut after = 0;
    loop {
        let page = transaction.items_after(Kind::Secret, after, PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.head.id;
        for secret in page {
            if !allowed_hosts(&secret.body).is_empty() {
                continue;
            }
            let name = &secret.head.name;
            for grant in transaction.grants_on(secret.head.id, 0, i64::MAX).await? {
                if grant.permissions.contains(&permission) {
                    let token = &grant.name;
                    findings.push(format!(
                        "secret {name:?}: the grant of `{permission}` to token {token:?} has no effect: the secret has no `allowed_hosts`"
                    ));
                }
            }
            for (kind, user) in transaction.users(secret.head.id).await? {
                if user.owner != secret.head.owner && user.file.is_none() {
                    let (kind, user) = (kind.singular(), &user.name);
                    findings.push(format!(
                        "secret {name:?}: {kind} {user:?} of another owner uses it: the secret has no `allowed_hosts`"
                    ));
                }
            }
        }
    }
}

async fn in_audit(
    transaction: &mut Transaction,
    findings: &mut Vec<String>,
) -> Result<(), ApiError> {
    let (mut count, mut before) = (0_usize, i64::MAX);
    loop {
        let page = transaction.audit_before(before, PAGE).await?;
        let Some(last) = page.last() else {
            break;
        };
        before = last.id;
        let has_credential = |body: &Option<String>| {
            let body = body.as_deref().map(credentials::in_source);
            body.is_some_and(|fields| !fields.is_empty())
        };
        let entries = page.iter();
        count += entries
            .filter(|entry| has_credential(&entry.before) || has_credential(&entry.after))
            .count();
    }
    if count > 0 {
        findings.push(format!(
            "{count} entries of the audit hold credentials in plain text, which are redacted when they are read"
        ));
    }
    Ok(())
}
