//! Classification of requests by their heads.

use super::routes::{Action, Route, Runs, is_for_diagnosis, route};
use crate::config::ServerOptions;
use crate::http::{
    BufferedRequest, Cleaned, IncomingRequest, Method, RequestExt as _, clean, span_facts,
};
use crate::telemetry::RequestSpan;

/// Classification of a request by its head.
#[derive(Clone, Copy)]
pub enum Plan {
    /// A handler exists.
    Answered(&'static Action),
    /// The path does not support the method.
    OtherMethod(&'static Route),
    /// The path is not normalized: redirects to the normalized one.
    Unclean,
    /// The path ends with a slash: redirects to the one without.
    Open,
    Server,
    /// No route matches the path.
    Nothing,
}

impl Plan {
    /// Classifies a request by its head.
    pub fn of_request(options: &ServerOptions, request: &BufferedRequest) -> Self {
        let path = match request.path() {
            // the target of CONNECT is only a host
            "" if request.method() == Method::CONNECT => "/",
            path => path,
        };
        let is_diagnostic = request.info().peer.is_diagnostic;
        let is_served =
            |route: &Route| route.is_served(options) && (!is_diagnostic || is_for_diagnosis(route));
        if path == "*" && request.method() == Method::OPTIONS {
            return Self::Server;
        }
        if clean(path) != Cleaned::Same {
            return Self::Unclean;
        }
        let closed = path.strip_suffix('/').filter(|closed| !closed.is_empty());
        if let Some(route) = closed.and_then(route).filter(|route| is_served(route)) {
            return if request.method() == Method::HEAD {
                Self::OtherMethod(route)
            } else {
                Self::Open
            };
        }
        let Some(route) = route(path).filter(|route| is_served(route)) else {
            return Self::Nothing;
        };
        let method = request.method().as_str();
        let Some(action) = route.served(options).find(|action| action.method == method) else {
            return Self::OtherMethod(route);
        };
        // a request is classified once
        let _ = request.info().route_length.set(route.path.len());
        Self::Answered(action)
    }

    /// Returns `true` if the handler needs the body.
    pub fn reads_body(self) -> bool {
        matches!(self, Self::Answered(action) if !matches!(action.method, "GET" | "DELETE" | "HEAD"))
    }

    /// Returns `true` if the handler changes policies or documents.
    pub fn writes(self) -> bool {
        matches!(self, Self::Answered(action) if action.runs == Runs::Apart)
    }
}

/// Begins the span of a request. As in OPA, requests for metrics and paths without a route are not traced.
pub fn begin_span(options: &ServerOptions, request: &IncomingRequest) -> Option<RequestSpan> {
    let path = request.uri().path();
    let closed = path.strip_suffix('/').filter(|closed| !closed.is_empty());
    let route = route(closed.unwrap_or(path));
    let route = route.filter(|route| route.is_served(options))?;
    let is_metrics = route.path.starts_with("/metrics");
    if is_metrics || clean(path) != Cleaned::Same {
        return None;
    }
    RequestSpan::begin(path, || {
        let route = match route.path {
            "/" => "/{$}".to_owned(),
            exact if exact == path => exact.to_owned(),
            prefix => format!("{prefix}/{{path...}}"),
        };
        span_facts(request, route)
    })
}
