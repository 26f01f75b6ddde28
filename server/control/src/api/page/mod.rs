//! The page for operators: HTML that the service renders, without scripts.

mod content;
mod html;
mod session;

use http::{HeaderValue, Method, Response, StatusCode, header};

use self::html::PageLayout;
use super::body::Body;
use super::builds;
use super::request::ApiRequest;
use super::revisions::{self, Chosen};
use super::routes::UiPage;
use super::service::{Context, ServiceState};
use super::write::Change;
use crate::access::Principal;
use crate::db::Mode;
use crate::error::{ApiError, ApiErrorKind};

struct SubmittedForm(Vec<(String, String)>);

impl SubmittedForm {
    fn read(request: &ApiRequest) -> Self {
        let pairs = form_urlencoded::parse(&request.body);
        Self(pairs.into_owned().collect())
    }

    fn field(&self, name: &str) -> &str {
        let mut pairs = self.0.iter();
        let found = pairs.find(|(found, _)| found == name);
        found.map_or("", |(_, value)| value)
    }
}

impl Drop for SubmittedForm {
    fn drop(&mut self) {
        for (_, value) in &mut self.0 {
            zeroize::Zeroize::zeroize(value);
        }
    }
}

/// Handles a request for a page. Errors are pages, too.
pub async fn respond(
    state: &ServiceState,
    method: &Method,
    page: &UiPage,
    request: &ApiRequest,
) -> Response<Body> {
    let response = answer(state, method, page, request).await;
    let mut response = response.unwrap_or_else(|refusal| {
        refusal.log(&request.id);
        failed(state, &refusal)
    });
    let policy = html::content_policy();
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set("cache-control", "no-store");
    set("x-content-type-options", "nosniff");
    set("x-frame-options", "DENY");
    // with `no-referrer`, browsers would hide the origin of forms
    set("referrer-policy", "same-origin");
    set("cross-origin-opener-policy", "same-origin");
    set("cross-origin-resource-policy", "same-origin");
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

async fn answer(
    state: &ServiceState,
    method: &Method,
    page: &UiPage,
    request: &ApiRequest,
) -> Result<Response<Body>, ApiError> {
    if !page.methods().contains(&method.as_str()) {
        return Err(ApiError::new(
            ApiErrorKind::Method,
            page.methods().join(", "),
        ));
    }
    let is_form = *method == Method::POST;
    if is_form && !session::is_own_form(&request.headers) {
        return Err(foreign_form());
    }
    match page {
        UiPage::Login if is_form => log_in(state, request).await,
        UiPage::Login => login_form(state, request, StatusCode::OK, "").await,
        _ if is_form => act(state, page, request).await,
        _ => show(state, page, request).await,
    }
}

fn foreign_form() -> ApiError {
    let message = "this form is out of date or comes from another site: open the page again";
    ApiError::new(ApiErrorKind::Forbidden, message)
}

/// Shows the login form with a new token, and with the error of the last attempt.
async fn login_form(
    state: &ServiceState,
    request: &ApiRequest,
    status: StatusCode,
    error: &str,
) -> Result<Response<Body>, ApiError> {
    if error.is_empty() && current(state, request).await?.is_some() {
        return Ok(redirect(state, ""));
    }
    let cookie = session::random()?;
    let token = state.keys.form_token(&cookie);
    let mut response = page_of(status, html::login(&state.prefix, &token, error));
    session::set_cookie(&mut response, session::LOGIN, &cookie, session::LIFETIME);
    Ok(response)
}

async fn log_in(state: &ServiceState, request: &ApiRequest) -> Result<Response<Body>, ApiError> {
    let form = SubmittedForm::read(request);
    let cookie = session::cookie(&request.headers, session::LOGIN);
    if !cookie.is_some_and(|cookie| state.keys.is_form_token(cookie, form.field("csrf"))) {
        let error = "The form was out of date. Enter the key again.";
        return login_form(state, request, StatusCode::FORBIDDEN, error).await;
    }
    let mut transaction = state.database.begin(Mode::Write).await?;
    let begun = session::begin(state, &mut transaction, form.field("key").trim()).await;
    let Some(cookie) = transaction.settle(begun).await? else {
        tracing::warn!(request = request.id, "a login of the page failed");
        let error = "The key is unknown or has expired.";
        return login_form(state, request, StatusCode::FORBIDDEN, error).await;
    };
    let mut response = redirect(state, "");
    session::set_cookie(&mut response, session::SESSION, &cookie, session::LIFETIME);
    session::set_cookie(&mut response, session::LOGIN, "", 0);
    Ok(response)
}

/// Returns the principal of the session, or `None` if the request has no valid session.
async fn current(
    state: &ServiceState,
    request: &ApiRequest,
) -> Result<Option<Principal>, ApiError> {
    let mut transaction = state.database.begin(Mode::Read).await?;
    let principal = session::principal(state, &mut transaction, &request.headers).await;
    transaction.roll_back().await;
    principal
}

/// Shows a page that needs a session.
async fn show(
    state: &ServiceState,
    page: &UiPage,
    request: &ApiRequest,
) -> Result<Response<Body>, ApiError> {
    let cookie = session::cookie(&request.headers, session::SESSION);
    let mut transaction = state.database.begin(Mode::Read).await?;
    let shown = async {
        let principal = session::principal(state, &mut transaction, &request.headers).await?;
        let Some((principal, cookie)) = principal.zip(cookie) else {
            return Ok(redirect(state, "/login"));
        };
        let token = state.keys.form_token(cookie);
        let layout = PageLayout {
            prefix: &state.prefix,
            token: &token,
            user: &principal.holder.name,
            notice: notice(request.params.last("notice")),
        };
        let mut context = Context {
            state,
            principal: &principal,
            request,
            transaction: &mut transaction,
        };
        let text = match page {
            UiPage::Bundle(name) => {
                let view = content::bundle(&mut context, name).await?;
                html::bundle(&layout, &view)
            }
            UiPage::Sources => {
                let (rows, next) = content::sources(&mut context).await?;
                html::sources(&layout, &rows, next.as_deref())
            }
            _ => {
                let (rows, next) = content::bundles(&mut context).await?;
                html::bundles(&layout, &rows, next.as_deref())
            }
        };
        Ok(page_of(StatusCode::OK, text))
    };
    let shown = shown.await;
    transaction.roll_back().await;
    shown
}

/// Returns the text of a notice. Links can choose only among these.
fn notice(name: Option<&str>) -> &'static str {
    match name {
        Some("build") => "A build was requested. Reload the page to follow it.",
        Some("rollback") => "The active revision was changed.",
        _ => "",
    }
}

/// Performs the action of a form.
async fn act(
    state: &ServiceState,
    page: &UiPage,
    request: &ApiRequest,
) -> Result<Response<Body>, ApiError> {
    let form = SubmittedForm::read(request);
    let cookie = session::cookie(&request.headers, session::SESSION);
    let mut transaction = state.database.begin(Mode::Write).await?;
    let done = async {
        let principal = session::principal(state, &mut transaction, &request.headers).await?;
        let Some((principal, cookie)) = principal.zip(cookie) else {
            return Ok(redirect(state, "/login"));
        };
        if !state.keys.is_form_token(cookie, form.field("csrf")) {
            return Err(foreign_form());
        }
        let mut context = Context {
            state,
            principal: &principal,
            request,
            transaction: &mut transaction,
        };
        match page {
            UiPage::Build(name) => {
                builds::request(&mut context, name).await?;
                Ok(redirect(
                    state,
                    &format!("{}?notice=build", bundle_path(name)),
                ))
            }
            UiPage::Rollback(name) => {
                let chosen = match form.field("id") {
                    "newest" => Chosen::Newest,
                    id => {
                        let id = id.parse();
                        Chosen::Id(id.map_err(|_| ApiError::invalid("choose a revision"))?)
                    }
                };
                revisions::roll_back(&mut context, name, Ok(Change::Rollback(chosen))).await?;
                Ok(redirect(
                    state,
                    &format!("{}?notice=rollback", bundle_path(name)),
                ))
            }
            _ => {
                let digest = state.keys.session_digest(cookie);
                context.transaction.remove_session(&digest).await?;
                let mut response = redirect(state, "/login");
                session::set_cookie(&mut response, session::SESSION, "", 0);
                Ok(response)
            }
        }
    };
    let done = done.await;
    let response = transaction.settle(done).await?;
    if matches!(page, UiPage::Rollback(_)) {
        state.artifacts.watch().poke();
    }
    Ok(response)
}

/// Returns the path of the page of a bundle below `/ui`.
fn bundle_path(name: &str) -> String {
    format!("/bundles/{}", html::escaped(name))
}

fn redirect(state: &ServiceState, path: &str) -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = StatusCode::SEE_OTHER;
    // names are escaped
    if let Ok(target) = HeaderValue::from_str(&format!("{}/ui{path}", state.prefix)) {
        response.headers_mut().insert(header::LOCATION, target);
    }
    response
}

fn page_of(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::Whole(text.into()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn failed(state: &ServiceState, refusal: &ApiError) -> Response<Body> {
    let plain = refusal.response();
    let status = plain.status();
    let message = match refusal.kind {
        ApiErrorKind::Internal => "The service failed; its log has the details.",
        ApiErrorKind::Unavailable | ApiErrorKind::Busy => {
            "The database is unavailable. Try again later."
        }
        ApiErrorKind::Method => "The page does not support this method.",
        ApiErrorKind::Forbidden if refusal.message == "not authorized" => {
            "You do not have the permission for this."
        }
        _ => &refusal.message,
    };
    let mut response = page_of(status, html::error(&state.prefix, status, message));
    if let Some(allow) = plain.headers().get(header::ALLOW) {
        response.headers_mut().insert(header::ALLOW, allow.clone());
    }
    response
}
