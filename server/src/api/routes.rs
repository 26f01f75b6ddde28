//! Which handler answers what.

use tracing::{debug, info};

use super::{ApiError, State, compile, data, health, index, policies, query, write};
use crate::http::{
    App, Cleaned, GzipError, Place, Request, Response, Status, accepts_gzip, clean, gunzip, gzip,
};

/// Longest answer that is packed on a reactor.
const PACKED_AT_ONCE: usize = 16 << 10;

type Handler = fn(&State, &Request) -> Result<Response, ApiError>;

/// Where a handler may run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// It never takes long, or sees for itself that it would.
    Anywhere,
    /// It compiles, or copies much.
    InPool,
}

/// The methods of a path.
struct Route {
    path: &'static str,
    /// Whether all paths below it are its own as well.
    below: bool,
    methods: &'static [(&'static str, Runs, Handler)],
}

const ROUTES: &[Route] = &[
    Route {
        path: "/",
        below: false,
        methods: &[
            ("GET", Runs::Anywhere, index::page),
            ("POST", Runs::Anywhere, data::default_decision),
        ],
    },
    Route {
        path: "/v0/data",
        below: true,
        methods: &[("POST", Runs::Anywhere, data::webhook)],
    },
    Route {
        path: "/v1/data",
        below: false,
        methods: &[
            ("GET", Runs::Anywhere, data::get),
            ("POST", Runs::Anywhere, data::post),
            ("PUT", Runs::InPool, write::put),
            ("PATCH", Runs::InPool, write::patch),
        ],
    },
    Route {
        path: "/v1/data",
        below: true,
        methods: &[
            ("GET", Runs::Anywhere, data::get),
            ("POST", Runs::Anywhere, data::post),
            ("PUT", Runs::InPool, write::put),
            ("PATCH", Runs::InPool, write::patch),
            ("DELETE", Runs::InPool, write::delete),
        ],
    },
    Route {
        path: "/v1/policies",
        below: false,
        methods: &[("GET", Runs::InPool, policies::list)],
    },
    Route {
        path: "/v1/policies",
        below: true,
        methods: &[
            ("GET", Runs::InPool, policies::get),
            ("PUT", Runs::InPool, policies::put),
            ("DELETE", Runs::InPool, policies::delete),
        ],
    },
    Route {
        path: "/v1/compile",
        below: false,
        methods: &[("POST", Runs::InPool, compile::post)],
    },
    Route {
        path: "/v1/query",
        below: false,
        methods: &[
            ("GET", Runs::InPool, query::get),
            ("POST", Runs::InPool, query::post),
        ],
    },
    Route {
        path: "/v1/query",
        below: true,
        methods: &[],
    },
    Route {
        path: "/health",
        below: false,
        methods: &[("GET", Runs::Anywhere, health::server)],
    },
    Route {
        path: "/health",
        below: true,
        methods: &[("GET", Runs::Anywhere, health::rule)],
    },
];

/// The route of a clean path.
fn route(path: &str) -> Option<&'static Route> {
    ROUTES
        .iter()
        .find(|route| match path.strip_prefix(route.path) {
            Some("") => true,
            Some(rest) => route.below && rest.starts_with('/'),
            None => false,
        })
}

/// Answers requests from the table.
pub struct Service {
    state: State,
}

impl Service {
    /// Answers for an engine.
    pub fn new(state: State) -> Self {
        Self { state }
    }

    fn dispatch(&self, request: &mut Request) -> Result<Response, ApiError> {
        let path = request.path();
        if let Cleaned::To(clean) = clean(path) {
            let query = request
                .target
                .query()
                .map(|query| format!("?{query}"))
                .unwrap_or_default();
            return Ok(Response::redirect(
                Status::TEMPORARY_REDIRECT,
                &(clean + &query),
            ));
        }
        let open = path.strip_suffix('/').filter(|closed| !closed.is_empty());
        if let Some(closed) = open
            && route(closed).is_some()
        {
            return Ok(Response::redirect(Status::MOVED_PERMANENTLY, closed));
        }
        let Some(route) = route(path) else {
            return Err(ApiError::not_found(format!("there is nothing at {path}")));
        };
        let method = request.method.as_str();
        let Some((_, runs, handler)) = route.methods.iter().find(|(name, ..)| *name == method)
        else {
            let allowed: Vec<_> = route.methods.iter().map(|(name, ..)| *name).collect();
            return Ok(
                Response::empty(Status::METHOD_NOT_ALLOWED).with("allow", &allowed.join(", "))
            );
        };
        if *runs == Runs::InPool && request.place == Place::Reactor {
            return Err(ApiError::Elsewhere);
        }
        request.routed = route.path.len();
        if method == "POST" && request.header("content-encoding").contains("gzip") {
            self.unpack(request)?;
        }
        handler(&self.state, request)
    }
}

impl App for Service {
    fn answer(&self, request: &mut Request) -> Option<Response> {
        if request.place == Place::Reactor {
            Self::log_request(request);
        }
        let response = match self.dispatch(request) {
            Ok(response) => response,
            Err(ApiError::Elsewhere) => return None,
            Err(error) => self.refusal(error),
        };
        let path = request.path();
        let reads = matches!(request.method.as_str(), "GET" | "POST");
        let long = ["/v1/data", "/v0/data", "/v1/compile"];
        if !reads || !long.iter().any(|long| path.starts_with(long)) {
            return Some(response);
        }
        self.pack(request, response.with("vary", "Accept-Encoding"))
    }

    fn too_large(&self, length: Option<u64>) -> Response {
        let limit = self.body_limit();
        let size = length
            .map(|length| format!("{length} bytes "))
            .unwrap_or_default();
        let message = format!(
            "request body too large: {size}exceeds limit of {limit} bytes (server.decoding.max_length)"
        );
        self.refusal(ApiError::invalid(message))
    }

    fn panicked(&self) -> Response {
        self.refusal(ApiError::internal("internal error: a panic"))
    }

    fn body_limit(&self) -> usize {
        self.state.options.body_limit
    }

    fn answered(&self, request: &Request, response: &Response) {
        info!(
            client_addr = &*request.client,
            req_id = request.id,
            req_method = request.method.as_str(),
            req_path = request.path(),
            resp_bytes = response.body.len(),
            resp_duration = request.received.elapsed().as_secs_f64() * 1e3,
            resp_status = response.status.as_u16(),
            "Sent response."
        );
        debug!(
            req_id = request.id,
            resp_body = &*String::from_utf8_lossy(&response.body),
            "Response body."
        );
    }
}

impl Service {
    /// The answer to a request that is refused.
    fn refusal(&self, error: ApiError) -> Response {
        match error {
            ApiError::Refused(refusal) => refusal.response(self.state.options.spelling),
            // nobody who answers for good says so
            ApiError::Elsewhere => Response::empty(Status::INTERNAL_SERVER_ERROR),
        }
    }

    /// Replaces a packed body by what is in it.
    fn unpack(&self, request: &mut Request) -> Result<(), ApiError> {
        if request.place == Place::Reactor {
            return Err(ApiError::Elsewhere);
        }
        let limit = self.state.options.unpacked_limit;
        match gunzip(&request.body, limit) {
            Ok(body) => request.body = body.into(),
            Err(GzipError::Malformed(words)) => {
                return Err(ApiError::invalid(format!(
                    "could not decompress the body: {words}"
                )));
            }
            Err(GzipError::TooLarge) => {
                return Err(ApiError::invalid(format!(
                    "request body too large: decompressed size exceeds limit of {limit} bytes \
                     (server.decoding.gzip.max_length)"
                )));
            }
        }
        Ok(())
    }

    /// Packs a long answer for a client that takes it so. One that takes long to pack is for the pool.
    fn pack(&self, request: &Request, mut response: Response) -> Option<Response> {
        let long = response.body.len() > self.state.options.gzip_from;
        if !long || !accepts_gzip(request.header("accept-encoding")) {
            return Some(response);
        }
        if request.place == Place::Reactor && response.body.len() > PACKED_AT_ONCE {
            return None;
        }
        match gzip(&response.body) {
            Some(packed) => {
                response.body = packed;
                Some(response.with("content-encoding", "gzip"))
            }
            None => Some(response),
        }
    }

    fn log_request(request: &Request) {
        info!(
            client_addr = &*request.client,
            req_id = request.id,
            req_method = request.method.as_str(),
            req_path = request.path(),
            "Received request."
        );
        debug!(
            req_id = request.id,
            req_params = request.target.query().unwrap_or(""),
            req_body = &*String::from_utf8_lossy(&request.body),
            "Request body."
        );
    }
}
