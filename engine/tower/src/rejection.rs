//! Responses to requests that the policy does not let through.

use std::error::Error;
use std::fmt;

use http::{Response, StatusCode, header};

/// Reason for which a request is not let through.
#[derive(Debug)]
#[non_exhaustive]
pub enum Rejection {
    /// The policy denies the request: 403.
    Forbidden,
    /// A path parameter is not UTF-8 once decoded: 400.
    Malformed,
    /// The evaluation failed: 500. The response does not contain the error.
    Undecided(Box<dyn Error + Send + Sync>),
}

impl Rejection {
    /// Returns the status code of the response: 403 if the policy denies, 400 for a malformed request, 500 without a
    /// decision.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::Undecided(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns the response: a JSON object with a `detail`.
    pub fn response<B: From<&'static str>>(&self) -> Response<B> {
        let body = match self {
            Self::Forbidden => r#"{"detail":"forbidden"}"#,
            Self::Malformed => r#"{"detail":"a path parameter is not UTF-8"}"#,
            Self::Undecided(_) => r#"{"detail":"the policy has not decided"}"#,
        };
        let mut response = Response::new(B::from(body));
        *response.status_mut() = self.status();
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            header::HeaderValue::from_static("application/json"),
        );
        response
    }

    /// Returns the rejection for a failed evaluation, and logs the error.
    pub(crate) fn undecided(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let error = error.into();
        tracing::error!(%error, "no decision");
        Self::Undecided(error)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forbidden => f.write_str("forbidden"),
            Self::Malformed => f.write_str("a path parameter is not UTF-8"),
            Self::Undecided(error) => write!(f, "no decision: {error}"),
        }
    }
}

impl Error for Rejection {}

#[cfg(feature = "axum")]
impl axum::response::IntoResponse for Rejection {
    fn into_response(self) -> axum::response::Response {
        self.response()
    }
}
