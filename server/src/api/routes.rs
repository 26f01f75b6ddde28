//! Which handler answers what.

use super::call::Call;
use super::{
    ApiError, State, batch, compile, config, data, filters, health, metrics_page, openapi, pages,
    policies, query, status, write,
};
use crate::config::ServerOptions;
use crate::http::Response;

/// Answers a request that was classified, read and allowed.
pub type Handler = fn(&State, &Call<'_>) -> Result<Response, ApiError>;

/// Where a handler may run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// It never takes long, or sees for itself that it would.
    Anywhere,
    /// It compiles, or copies much.
    InPool,
    /// It changes policies or documents.
    Apart,
}

/// What a method of a path does.
pub struct Action {
    /// `GET`, `POST`, …
    pub method: &'static str,
    /// Where its handler may run.
    pub runs: Runs,
    /// Who answers.
    pub handler: Handler,
}

const fn on(method: &'static str, runs: Runs, handler: Handler) -> Action {
    Action {
        method,
        runs,
        handler,
    }
}

/// The methods of a path.
pub struct Route {
    /// Its path, or what those below it begin with.
    pub path: &'static str,
    /// Whether all paths below it are its own as well.
    pub below: bool,
    /// What can be asked of it.
    pub actions: &'static [Action],
}

/// Decisions, which are asked for most, are found first.
static ROUTES: &[Route] = &[
    Route {
        path: "/v1/data",
        below: false,
        actions: &[
            on("GET", Runs::Anywhere, data::get),
            on("POST", Runs::Anywhere, data::post),
            on("PUT", Runs::Apart, write::put),
            on("PATCH", Runs::Apart, write::patch),
        ],
    },
    Route {
        path: "/v1/data",
        below: true,
        actions: &[
            on("GET", Runs::Anywhere, data::get),
            on("POST", Runs::Anywhere, data::post),
            on("PUT", Runs::Apart, write::put),
            on("PATCH", Runs::Apart, write::patch),
            on("DELETE", Runs::Apart, write::delete),
        ],
    },
    Route {
        path: "/",
        below: false,
        actions: &[
            on("GET", Runs::Anywhere, pages::index),
            on("POST", Runs::Anywhere, data::default_decision),
        ],
    },
    Route {
        path: "/openapi.json",
        below: false,
        actions: &[on("GET", Runs::InPool, openapi::get)],
    },
    Route {
        path: "/ui",
        below: true,
        actions: &[on("GET", Runs::Anywhere, pages::ui)],
    },
    Route {
        path: "/v0/data",
        below: true,
        actions: &[on("POST", Runs::Anywhere, data::webhook)],
    },
    Route {
        path: "/v1/batch/data",
        below: true,
        actions: &[on("POST", Runs::InPool, batch::post)],
    },
    Route {
        path: "/v1/policies",
        below: false,
        actions: &[on("GET", Runs::InPool, policies::list)],
    },
    Route {
        path: "/v1/policies",
        below: true,
        actions: &[
            on("GET", Runs::InPool, policies::get),
            on("PUT", Runs::Apart, policies::put),
            on("DELETE", Runs::Apart, policies::delete),
        ],
    },
    Route {
        path: "/v1/compile",
        below: false,
        actions: &[on("POST", Runs::InPool, compile::post)],
    },
    Route {
        path: "/v1/compile",
        below: true,
        actions: &[
            on("GET", Runs::InPool, filters::answer),
            on("POST", Runs::InPool, filters::answer),
        ],
    },
    Route {
        path: "/v1/query",
        below: false,
        actions: &[
            on("GET", Runs::InPool, query::get),
            on("POST", Runs::InPool, query::post),
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
        actions: &[on("GET", Runs::Anywhere, config::get)],
    },
    Route {
        path: "/v1/status",
        below: false,
        actions: &[on("GET", Runs::Anywhere, status::get)],
    },
    Route {
        path: "/metrics",
        below: false,
        actions: &[
            on("GET", Runs::InPool, metrics_page::get),
            on("HEAD", Runs::InPool, metrics_page::get),
        ],
    },
    Route {
        path: "/metrics/alloc_bytes",
        below: false,
        actions: &[
            on("GET", Runs::InPool, metrics_page::memory),
            on("HEAD", Runs::InPool, metrics_page::memory),
        ],
    },
    Route {
        path: "/health",
        below: false,
        actions: &[on("GET", Runs::Anywhere, health::server)],
    },
    Route {
        path: "/health",
        below: true,
        actions: &[on("GET", Runs::Anywhere, health::rule)],
    },
];

/// The route of a clean path.
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
    /// Whether a path leads here: of several routes the first counts.
    pub fn is_reached(&self, path: &str) -> bool {
        route(path).is_some_and(|found| std::ptr::eq(found, self))
    }

    /// Whether a server has the route.
    pub fn is_served(&self, options: &ServerOptions) -> bool {
        options.ui || self.path != "/ui"
    }

    /// What may be asked of it: where nothing may be written, only what reads.
    pub fn served(&self, options: &ServerOptions) -> impl Iterator<Item = &Action> + use<'_> {
        let read_only = options.read_only;
        let actions = self.actions.iter();
        actions.filter(move |action| !(read_only && action.runs == Runs::Apart))
    }
}

/// All that a server can be asked.
pub fn served(options: &ServerOptions) -> impl Iterator<Item = (&'static Route, &'static Action)> {
    let routes = ROUTES.iter().filter(|route| route.is_served(options));
    routes.flat_map(|route| route.served(options).map(move |action| (route, action)))
}

/// Whether a listener for diagnosis serves a route.
pub fn is_for_diagnosis(route: &Route) -> bool {
    matches!(route.path, "/health" | "/metrics" | "/metrics/alloc_bytes")
}

/// What requests of a path are counted as.
pub fn label(path: &str) -> &'static str {
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
