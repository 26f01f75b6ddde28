//! Routing table: paths, methods and handlers, and the threads they run on.

use super::call::Call;
use super::{
    ApiError, State, admission, batch, compile, config, data, filters, health, metrics_page,
    openapi, pages, policies, preview, query, status, write,
};
use crate::config::ServerOptions;
use crate::http::{RequestInfo, Response};
use crate::telemetry::CountedRequest;

/// Handles a request that was classified, read and authorized.
pub type Handler = fn(&State, &Call<'_>) -> Result<Response, ApiError>;

/// Kind of thread that a handler may run on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Any thread: the handler is always short, or checks by itself if it is.
    Anywhere,
    /// A pool thread: the handler compiles or copies much.
    InPool,
    /// The writer thread: the handler changes policies or documents.
    Apart,
}

pub struct Action {
    /// HTTP method: `GET`, `POST`, …
    pub method: &'static str,
    /// Kind of thread that the handler may run on.
    pub runs: Runs,
    pub handler: Handler,
}

const fn action(method: &'static str, runs: Runs, handler: Handler) -> Action {
    Action {
        method,
        runs,
        handler,
    }
}

pub struct Route {
    /// The path, or the prefix of the paths below it.
    pub path: &'static str,
    /// `true` if the route includes all paths below it.
    pub below: bool,
    pub actions: &'static [Action],
}

/// Evaluates policies of the client, so a read-only server does not have it.
const PREVIEW: &str = "/v0/preview";

/// All routes. Decisions are first, because they are the most frequent requests.
static ROUTES: &[Route] = &[
    Route {
        path: "/v1/data",
        below: false,
        actions: &[
            action("GET", Runs::Anywhere, data::get),
            action("POST", Runs::Anywhere, data::post),
            action("PUT", Runs::Apart, write::put),
            action("PATCH", Runs::Apart, write::patch),
        ],
    },
    Route {
        path: "/v1/data",
        below: true,
        actions: &[
            action("GET", Runs::Anywhere, data::get),
            action("POST", Runs::Anywhere, data::post),
            action("PUT", Runs::Apart, write::put),
            action("PATCH", Runs::Apart, write::patch),
            action("DELETE", Runs::Apart, write::delete),
        ],
    },
    Route {
        path: "/",
        below: false,
        actions: &[
            action("GET", Runs::Anywhere, pages::index),
            action("POST", Runs::Anywhere, data::default_decision),
        ],
    },
    Route {
        path: "/openapi.json",
        below: false,
        actions: &[action("GET", Runs::InPool, openapi::get)],
    },
    Route {
        path: "/ui",
        below: true,
        actions: &[action("GET", Runs::Anywhere, pages::ui)],
    },
    Route {
        path: "/v0/data",
        below: true,
        actions: &[action("POST", Runs::Anywhere, data::webhook)],
    },
    Route {
        path: PREVIEW,
        below: true,
        actions: &[action("POST", Runs::InPool, preview::post)],
    },
    Route {
        path: "/v0/admission",
        below: true,
        actions: &[action("POST", Runs::Anywhere, admission::post)],
    },
    Route {
        path: "/v0/gatekeeper",
        below: false,
        actions: &[action("POST", Runs::InPool, admission::gatekeeper::post)],
    },
    Route {
        path: "/v1/batch/data",
        below: true,
        actions: &[action("POST", Runs::InPool, batch::post)],
    },
    Route {
        path: "/v1/policies",
        below: false,
        actions: &[action("GET", Runs::InPool, policies::list)],
    },
    Route {
        path: "/v1/policies",
        below: true,
        actions: &[
            action("GET", Runs::InPool, policies::get),
            action("PUT", Runs::Apart, policies::put),
            action("DELETE", Runs::Apart, policies::delete),
        ],
    },
    Route {
        path: "/v1/compile",
        below: false,
        actions: &[action("POST", Runs::InPool, compile::post)],
    },
    Route {
        path: "/v1/compile",
        below: true,
        actions: &[
            action("GET", Runs::InPool, filters::answer),
            action("POST", Runs::InPool, filters::answer),
        ],
    },
    Route {
        path: "/v1/query",
        below: false,
        actions: &[
            action("GET", Runs::InPool, query::get),
            action("POST", Runs::InPool, query::post),
        ],
    },
    Route {
        path: "/v1/query",
        below: true,
        actions: &[],
    },
    Route {
        path: "/v1/config",
        below: false,
        actions: &[action("GET", Runs::Anywhere, config::get)],
    },
    Route {
        path: "/v1/status",
        below: false,
        actions: &[action("GET", Runs::Anywhere, status::get)],
    },
    Route {
        path: "/metrics",
        below: false,
        actions: &[
            action("GET", Runs::InPool, metrics_page::get),
            action("HEAD", Runs::InPool, metrics_page::get),
        ],
    },
    Route {
        path: "/metrics/alloc_bytes",
        below: false,
        actions: &[
            action("GET", Runs::InPool, metrics_page::memory),
            action("HEAD", Runs::InPool, metrics_page::memory),
        ],
    },
    Route {
        path: "/health",
        below: false,
        actions: &[action("GET", Runs::Anywhere, health::server)],
    },
    Route {
        path: "/health",
        below: true,
        actions: &[action("GET", Runs::Anywhere, health::rule)],
    },
];

/// Returns the route of a clean path, or `None` if no route matches. The first match counts.
pub fn route(path: &str) -> Option<&'static Route> {
    ROUTES
        .iter()
        .find(|route| match path.strip_prefix(route.path) {
            Some("") => true,
            Some(rest) => route.below && rest.starts_with('/'),
            None => false,
        })
}

impl Route {
    /// Returns `true` if the path matches. The first matching route is used.
    pub fn is_reached(&self, path: &str) -> bool {
        route(path).is_some_and(|reached| std::ptr::eq(reached, self))
    }

    /// Returns `true` if a server with these options has the route. Otherwise it is 404.
    pub fn is_served(&self, options: &ServerOptions) -> bool {
        match self.path {
            "/ui" => options.ui,
            PREVIEW => !options.read_only,
            _ => true,
        }
    }

    /// Returns the available methods. A read-only server has only those that read.
    pub fn served(&self, options: &ServerOptions) -> impl Iterator<Item = &Action> + use<'_> {
        let read_only = options.read_only;
        let actions = self.actions.iter();
        actions.filter(move |action| !(read_only && action.runs == Runs::Apart))
    }
}

/// Returns all available routes and methods of a server.
pub fn served(options: &ServerOptions) -> impl Iterator<Item = (&'static Route, &'static Action)> {
    let routes = ROUTES.iter().filter(|route| route.is_served(options));
    routes.flat_map(|route| route.served(options).map(move |action| (route, action)))
}

/// Returns `true` if the diagnostic listener serves the route.
pub fn is_for_diagnosis(route: &Route) -> bool {
    matches!(route.path, "/health" | "/metrics" | "/metrics/alloc_bytes")
}

/// Returns the label of a path in metrics. The number of labels is bounded by that of routes.
fn label(path: &str) -> &'static str {
    match route(path) {
        Some(Route { path: "/", .. }) => "index",
        Some(Route {
            path: "/metrics/alloc_bytes",
            ..
        }) => "metrics",
        Some(route) => route.path.get(1..).unwrap_or("catchall"),
        None => "catchall",
    }
}

/// Returns the metrics labels of a request: route, method and status.
pub fn labels_of(request: &RequestInfo, code: u16) -> CountedRequest {
    CountedRequest {
        code,
        handler: label(request.path()),
        method: method_label(request.method.as_str()),
    }
}

/// Returns the label of a method. Unknown methods share one label, which limits the number of labels.
fn method_label(method: &str) -> &'static str {
    match method {
        "GET" => "get",
        "POST" => "post",
        "PUT" => "put",
        "PATCH" => "patch",
        "DELETE" => "delete",
        "HEAD" => "head",
        "OPTIONS" => "options",
        _ => "unknown",
    }
}
