//! One build of each bundle, without a schedule.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::attempt::{Shared, attempt};
use super::{Stages, Worker};
use crate::db::{Lease, Mode};
use crate::error::ApiError;
use crate::model::{Kind, Phase, Status, StatusRecord};

/// The result of building a bundle once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildReport {
    /// The name of the bundle that was built.
    pub bundle: String,
    /// The result, as a service would store it.
    pub record: StatusRecord,
}

impl BuildReport {
    /// Returns `true` if the bundle is published.
    pub fn is_success(&self) -> bool {
        self.record.status == Status::Success
    }
}

impl<S: Stages> Worker<S> {
    /// Builds and publishes bundles once, in parallel, and returns the results in the order of the names. `ended` is called
    /// after each bundle. No result is stored.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn build_once(
        &self,
        bundles: &[String],
        mut ended: impl FnMut(&BuildReport),
    ) -> Result<Vec<BuildReport>, ApiError> {
        let permits = Arc::new(Semaphore::new(self.shared.options.concurrency.max(1)));
        let mut tasks = JoinSet::new();
        for bundle in bundles {
            let (shared, permits) = (self.shared.clone(), permits.clone());
            let bundle = bundle.clone();
            tasks.spawn(async move {
                // the semaphore is never closed
                let _permit = permits.acquire().await;
                build(&shared, bundle).await
            });
        }
        let mut reports = Vec::new();
        while let Some(joined) = tasks.join_next().await {
            let report = joined.map_err(|error| ApiError::internal(error.to_string()))??;
            ended(&report);
            reports.push(report);
        }
        reports.sort_by(|a, b| a.bundle.cmp(&b.bundle));
        Ok(reports)
    }
}

async fn build<S: Stages>(
    shared: &Arc<Shared<S>>,
    bundle: String,
) -> Result<BuildReport, ApiError> {
    let lease = lease(shared, &bundle).await?;
    let record = match lease {
        Some(lease) => attempt(shared, &lease, &bundle).await.result.record(),
        None => None,
    };
    // nothing else uses the database, so an attempt is not abandoned for another reason
    let record = record.unwrap_or_else(|| StatusRecord {
        revision: String::new(),
        phase: Phase::Sync,
        status: Status::InternalError,
        error_message: "the bundle was changed during its build".to_owned(),
    });
    Ok(BuildReport { bundle, record })
}

async fn lease<S: Stages>(shared: &Shared<S>, bundle: &str) -> Result<Option<Lease>, ApiError> {
    let mut transaction = shared.database.begin(Mode::Write).await?;
    let taken = async {
        let head = transaction.head(Kind::Bundle, bundle).await?;
        let Some(head) = head else {
            return Ok::<_, ApiError>(None);
        };
        let holder = &shared.options.instance;
        Ok(transaction.take_lease(head.id, holder).await?)
    };
    let taken = taken.await;
    transaction.settle(taken).await
}
