//! Routing: from the path of a request to a [`Route`].

use super::request::decode;
use crate::error::ApiError;
use crate::limits;
use crate::model::{DataPath, Kind, check_name};

/// The resource that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    List(Kind),
    Item(Kind, String),
    /// The status records of a bundle.
    Statuses(String),
    /// The newest status record of a bundle.
    LatestStatus(String),
    /// The archive of the active revision of a bundle.
    Download(String),
    /// The built revisions of a bundle.
    Revisions(String),
    /// The choice of another active revision of a bundle.
    Rollback(String),
    /// A request of a build of a bundle.
    Build(String),
    /// The finished builds of a bundle.
    Builds(String),
    BuildRequest(String, String),
    /// Deliveries of the webhook of a source.
    Webhook(String),
    /// A page for operators.
    Page(UiPage),
    /// A document of a source.
    Data(String, DataPath),
    Grants(Kind, String),
    Grant(Kind, String, String),
    /// A new key for a token.
    Rotate(String),
    /// The audit log.
    Audit,
    Metrics,
    /// The readiness of the service.
    Health,
    OpenApi,
}

/// A page for operators, or the action of one of its forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UiPage {
    Bundles,
    Sources,
    Bundle(String),
    /// A request of a build of a bundle.
    Build(String),
    /// The choice of another active revision of a bundle.
    Rollback(String),
    /// The login form.
    Login,
    /// The end of a session.
    Logout,
}

impl UiPage {
    /// Returns the allowed methods, in order.
    pub fn methods(&self) -> &'static [&'static str] {
        match self {
            Self::Bundles | Self::Sources | Self::Bundle(_) => &["GET", "HEAD"],
            Self::Build(_) | Self::Rollback(_) | Self::Logout => &["POST"],
            Self::Login => &["GET", "HEAD", "POST"],
        }
    }

    fn pattern(&self) -> &'static str {
        match self {
            Self::Bundles => "/ui",
            Self::Sources => "/ui/sources",
            Self::Bundle(_) => "/ui/bundles/{bundle}",
            Self::Build(_) => "/ui/bundles/{bundle}/build",
            Self::Rollback(_) => "/ui/bundles/{bundle}/rollback",
            Self::Login => "/ui/login",
            Self::Logout => "/ui/logout",
        }
    }
}

/// Returns the route of a path, or `None` if no route matches. Each segment is decoded once.
pub fn route(path: &str) -> Result<Option<Route>, ApiError> {
    let steps: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    let name = |kind: Kind, step: &str| -> Result<String, ApiError> {
        let name = decode(step)?;
        match check_name(&name) {
            Ok(()) => Ok(name),
            Err(message) => Err(ApiError::invalid(format!(
                "the name of the {} {message}",
                kind.singular()
            ))),
        }
    };
    let route = match steps.as_slice() {
        ["health"] => Route::Health,
        ["metrics"] => Route::Metrics,
        ["openapi.json"] => Route::OpenApi,
        ["ui"] => Route::Page(UiPage::Bundles),
        ["ui", "sources"] => Route::Page(UiPage::Sources),
        ["ui", "login"] => Route::Page(UiPage::Login),
        ["ui", "logout"] => Route::Page(UiPage::Logout),
        ["ui", "bundles", item] if !item.is_empty() => {
            Route::Page(UiPage::Bundle(name(Kind::Bundle, item)?))
        }
        ["ui", "bundles", item, "build"] => Route::Page(UiPage::Build(name(Kind::Bundle, item)?)),
        ["ui", "bundles", item, "rollback"] => {
            Route::Page(UiPage::Rollback(name(Kind::Bundle, item)?))
        }
        ["webhooks", source] if !source.is_empty() => Route::Webhook(name(Kind::Source, source)?),
        ["v1", "audit"] => Route::Audit,
        ["v1", kind, rest @ ..] => {
            let Some(kind) = Kind::of_plural(kind) else {
                return Ok(None);
            };
            match (kind, rest) {
                (_, []) => Route::List(kind),
                (_, [""] | ["", ..]) => return Ok(None),
                (_, [item]) => Route::Item(kind, name(kind, item)?),
                (Kind::Bundle, [item, "status"]) => Route::Statuses(name(kind, item)?),
                (Kind::Bundle, [item, "status", "latest"]) => {
                    Route::LatestStatus(name(kind, item)?)
                }
                (Kind::Bundle, [item, "download"]) => Route::Download(name(kind, item)?),
                (Kind::Bundle, [item, "revisions"]) => Route::Revisions(name(kind, item)?),
                (Kind::Bundle, [item, "rollback"]) => Route::Rollback(name(kind, item)?),
                (Kind::Bundle, [item, "build"]) => Route::Build(name(kind, item)?),
                (Kind::Bundle, [item, "builds"]) => Route::Builds(name(kind, item)?),
                (Kind::Bundle, [item, "builds", id]) if !id.is_empty() => {
                    Route::BuildRequest(name(kind, item)?, decode(id)?)
                }
                (Kind::Source, [item, "data", path @ ..]) => {
                    // clients that escape the whole path also escape its slashes
                    let path = decode(&path.join("/"))?;
                    let steps = path.split('/').map(str::to_owned).collect();
                    let path = DataPath::new(steps).map_err(|error| ApiError::invalid(error.0))?;
                    Route::Data(name(kind, item)?, path)
                }
                (Kind::Token, [item, "rotate"]) => Route::Rotate(name(kind, item)?),
                (Kind::Token, _) => return Ok(None),
                (_, [item, "grants"]) => Route::Grants(kind, name(kind, item)?),
                (_, [item, "grants", token]) if !token.is_empty() => {
                    Route::Grant(kind, name(kind, item)?, name(Kind::Token, token)?)
                }
                _ => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(route))
}

impl Route {
    /// Returns the allowed methods, in order.
    pub fn methods(&self) -> &'static [&'static str] {
        match self {
            Self::Page(page) => page.methods(),
            Self::List(Kind::Token) => &["GET", "HEAD", "POST"],
            Self::Item(Kind::Token, _) => &["DELETE", "GET", "HEAD"],
            Self::Item(..) | Self::Grant(..) => &["DELETE", "GET", "HEAD", "PUT"],
            Self::Data(..) => &["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"],
            Self::Rotate(_) | Self::Rollback(_) | Self::Build(_) | Self::Webhook(_) => &["POST"],
            Self::List(_)
            | Self::Statuses(_)
            | Self::LatestStatus(_)
            | Self::Download(_)
            | Self::Revisions(_)
            | Self::Builds(_)
            | Self::BuildRequest(..)
            | Self::Grants(..)
            | Self::Audit
            | Self::Metrics
            | Self::Health
            | Self::OpenApi => &["GET", "HEAD"],
        }
    }

    /// Returns the maximum size of a request body in bytes.
    pub fn body_limit(&self) -> usize {
        match self {
            Self::Data(..) => limits::DATA_BODY,
            Self::Webhook(_) => limits::WEBHOOK_BODY,
            Self::Page(_) => limits::FORM_BODY,
            _ => limits::RESOURCE_BODY,
        }
    }

    /// Returns the path pattern for metrics and logs.
    pub fn pattern(&self) -> String {
        match self {
            Self::List(kind) => format!("/v1/{}", kind.plural()),
            Self::Item(kind, _) => format!("/v1/{}/{{{}}}", kind.plural(), kind.singular()),
            Self::Statuses(_) => "/v1/bundles/{bundle}/status".to_owned(),
            Self::LatestStatus(_) => "/v1/bundles/{bundle}/status/latest".to_owned(),
            Self::Download(_) => "/v1/bundles/{bundle}/download".to_owned(),
            Self::Revisions(_) => "/v1/bundles/{bundle}/revisions".to_owned(),
            Self::Rollback(_) => "/v1/bundles/{bundle}/rollback".to_owned(),
            Self::Build(_) => "/v1/bundles/{bundle}/build".to_owned(),
            Self::Builds(_) => "/v1/bundles/{bundle}/builds".to_owned(),
            Self::BuildRequest(..) => "/v1/bundles/{bundle}/builds/{build}".to_owned(),
            Self::Webhook(_) => "/webhooks/{source}".to_owned(),
            Self::Page(page) => page.pattern().to_owned(),
            Self::Data(..) => "/v1/sources/{source}/data/{path}".to_owned(),
            Self::Grants(kind, _) => {
                format!("/v1/{}/{{{}}}/grants", kind.plural(), kind.singular())
            }
            Self::Grant(kind, ..) => {
                format!(
                    "/v1/{}/{{{}}}/grants/{{token}}",
                    kind.plural(),
                    kind.singular()
                )
            }
            Self::Rotate(_) => "/v1/tokens/{token}/rotate".to_owned(),
            Self::Audit => "/v1/audit".to_owned(),
            Self::Metrics => "/metrics".to_owned(),
            Self::Health => "/health".to_owned(),
            Self::OpenApi => "/openapi.json".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Route, route};
    use crate::model::Kind;

    #[test]
    fn paths_have_routes() {
        let route_of = |path: &str| route(path).ok().flatten();
        assert_eq!(route_of("/v1/bundles"), Some(Route::List(Kind::Bundle)));
        let item = Route::Item(Kind::Bundle, "a/b c".to_owned());
        assert_eq!(route_of("/v1/bundles/a%2Fb%20c"), Some(item));
        let data = |path: &str| match route_of(path) {
            Some(Route::Data(source, path)) => format!("{source}:{}", path.file()),
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(data("/v1/sources/s/data"), "s:data.json");
        assert_eq!(data("/v1/sources/s/data/"), "s:data.json");
        assert_eq!(data("/v1/sources/s/data/a/b"), "s:a/b/data.json");
        assert_eq!(data("/v1/sources/s/data/a%2Fb%20c"), "s:a/b c/data.json");
        let hook = Route::Webhook("a/b".to_owned());
        assert_eq!(route_of("/webhooks/a%2Fb"), Some(hook));
        let build = Route::BuildRequest("b".to_owned(), "7".to_owned());
        assert_eq!(route_of("/v1/bundles/b/builds/7"), Some(build));
        for path in [
            "/",
            "/v1",
            "/v1/",
            "/v1/bundles/",
            "/v1/bundles/x/",
            "/v1/nothing",
            "/v2/bundles",
            "/webhooks",
            "/webhooks/",
            "/webhooks/s/x",
            "/v1/bundles/b/builds/",
        ] {
            assert_eq!(route_of(path), None, "{path}");
        }
        for path in [
            "/v1/bundles/%zz",
            "/v1/sources/s/data/%2e%2e/x",
            "/v1/sources/s/data/../x",
            "/v1/sources/s/data/..%2fx",
            "/v1/bundles/%00",
            "/webhooks/%00",
        ] {
            assert!(route(path).is_err(), "{path}");
        }
    }
}
