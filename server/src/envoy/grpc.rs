//! The service over gRPC.

use std::sync::Arc;
use std::time::Duration;

use envoy_types::pb::envoy::service::auth::v3::authorization_server::Authorization;
use envoy_types::pb::envoy::service::auth::v3::{CheckRequest, CheckResponse};
use tonic::{Request, Response, Status};

use super::authorizer::{Authorizer, Caller, CheckOutcome};
use super::sockets::PeerAddress;
use super::{input, response};

/// Status of the response to a request that cannot be parsed.
const BAD_REQUEST: u16 = 400;

/// Responds to checks of Envoy over gRPC.
pub struct CheckService {
    authorizer: Arc<Authorizer>,
    /// HTTP status of a request without a decision.
    error_status: u16,
    /// `true` if a check without a decision is an error of gRPC, as with OPA's plugin.
    fails_calls: bool,
}

impl CheckService {
    pub fn new(authorizer: Arc<Authorizer>, error_status: u16, fails_calls: bool) -> Self {
        Self {
            authorizer,
            error_status,
            fails_calls,
        }
    }
}

#[tonic::async_trait]
impl Authorization for CheckService {
    async fn check(
        &self,
        request: Request<CheckRequest>,
    ) -> Result<Response<CheckResponse>, Status> {
        let timeout = request
            .metadata()
            .get("grpc-timeout")
            .and_then(|value| value.to_str().ok())
            .and_then(timeout);
        let address = request.extensions().get::<PeerAddress>();
        let address = address.map_or_else(String::new, |PeerAddress(address)| address.to_string());
        let (metadata, _, check) = request.into_parts();
        let caller = Caller {
            headers: metadata.into_headers(),
            address,
            timeout,
        };
        let input = input::of_check(&check, &self.authorizer.parsing).await;
        Ok(Response::new(
            match self.authorizer.check(caller, input).await {
                CheckOutcome::Decided {
                    decision,
                    id,
                    is_overridden,
                } => response::of_decision(decision, &id, is_overridden),
                CheckOutcome::Malformed(cause) => {
                    let text = format!("request_parse_error: {cause}");
                    response::denied(BAD_REQUEST, text.clone(), text)
                }
                CheckOutcome::Failed(message) if self.fails_calls => {
                    return Err(Status::unknown(message));
                }
                // the message may contain parts of policies, which clients must not see
                CheckOutcome::Failed(message) => {
                    response::denied(self.error_status, message, String::new())
                }
            },
        ))
    }
}

/// Parses a timeout of gRPC: up to eight digits and a unit.
fn timeout(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if number.len() > 8 {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::timeout;
    use std::time::Duration;

    #[test]
    fn timeouts_have_a_unit() {
        assert_eq!(timeout("200m"), Some(Duration::from_millis(200)));
        assert_eq!(timeout("1H"), Some(Duration::from_hours(1)));
        assert_eq!(timeout("99999999n"), Some(Duration::from_nanos(99_999_999)));
        for wrong in ["", "m", "1", "1x", "123456789S", "-1S", "é"] {
            assert_eq!(timeout(wrong), None, "{wrong}");
        }
    }
}
