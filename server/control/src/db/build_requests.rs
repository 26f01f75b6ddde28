//! Requested builds and the attempts that served them.

use super::{DbError, Row, Transaction};
use crate::limits;

/// A build that a client requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildRequest {
    /// The id, in the order of the requests of all bundles.
    pub id: i64,
    /// The time of the request by the clock of the database, in microseconds since 1970.
    pub requested_at: i64,
    /// The id of the attempt that served the request, or `None` if it waits.
    pub attempt: Option<i64>,
}

fn request(mut row: Row) -> Result<BuildRequest, DbError> {
    Ok(BuildRequest {
        id: row.int()?,
        requested_at: row.int()?,
        attempt: row.maybe_int()?,
    })
}

impl Transaction {
    /// Requests a build of a bundle. Requests during a build are served by one further build.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn request_build(&mut self, bundle: i64) -> Result<BuildRequest, DbError> {
        self.ensure_builds(bundle).await?;
        let now = self.database_now().await?;
        let sql = "UPDATE bundle_builds SET requested = requested + 1 WHERE bundle_id = ?";
        self.execute(sql, vec![bundle.into()]).await?;
        self.record_trace(bundle).await?;
        let absent = || DbError::Other("a request of a build is not stored".to_owned());
        let number = self
            .first(
                "SELECT requested FROM bundle_builds WHERE bundle_id = ?",
                vec![bundle.into()],
            )
            .await?;
        let number = number.ok_or_else(absent)?.int()?;
        self.execute(
            "INSERT INTO build_requests (bundle_id, number, requested_at) VALUES (?, ?, ?)",
            vec![bundle.into(), number.into(), now.into()],
        )
        .await?;
        let oldest = self
            .first(
                "SELECT id FROM build_requests WHERE bundle_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
                vec![bundle.into(), limits::BUILD_REQUESTS.into()],
            )
            .await?;
        if let Some(mut oldest) = oldest {
            self.execute(
                "DELETE FROM build_requests WHERE bundle_id = ? AND id <= ?",
                vec![bundle.into(), oldest.int()?.into()],
            )
            .await?;
        }
        let row = self
            .first(
                "SELECT id, requested_at, attempt_id FROM build_requests WHERE bundle_id = ? ORDER BY id DESC LIMIT 1",
                vec![bundle.into()],
            )
            .await?;
        request(row.ok_or_else(absent)?)
    }

    /// Returns a requested build of a bundle.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub async fn build_request(
        &mut self,
        bundle: i64,
        id: i64,
    ) -> Result<Option<BuildRequest>, DbError> {
        let row = self
            .first(
                "SELECT id, requested_at, attempt_id FROM build_requests WHERE bundle_id = ? AND id = ?",
                vec![bundle.into(), id.into()],
            )
            .await?;
        row.map(request).transpose()
    }

    /// Records that the newest attempt of a bundle has served the requests up to a number.
    pub(super) async fn serve_requests(&mut self, bundle: i64, up_to: i64) -> Result<(), DbError> {
        self.execute(
            "UPDATE build_requests SET attempt_id = (SELECT MAX(id) FROM build_attempts WHERE bundle_id = ?) WHERE bundle_id = ? AND number <= ? AND attempt_id IS NULL",
            vec![bundle.into(), bundle.into(), up_to.into()],
        )
        .await
        .map(drop)
    }
}
