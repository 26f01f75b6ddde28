//! Cookies, sessions and tokens of forms.
//!
//! A browser sends no `Authorization` header, so a login exchanges a key for a random cookie, of which the database has a keyed
//! digest. Forms contain a keyed digest of the cookie, which other sites cannot know.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, Response, header};
use zeroize::Zeroizing;

use super::super::body::Body;
use super::super::service::ServiceState;
use crate::access::Principal;
use crate::db::Transaction;
use crate::error::ApiError;
use crate::limits;

/// The cookie of a session. Browsers accept the prefix only with `Secure`, the path `/` and without a domain, so that no other
/// host can set it.
pub const SESSION: &str = "__Host-solon-session";

/// The cookie that the login form is bound to.
pub const LOGIN: &str = "__Host-solon-login";

/// Returns the only cookie of a name. Returns `None` if it is missing, empty or repeated.
pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter();
    let pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(found, _)| *found == name);
    let (_, value) = values.next()?;
    (values.next().is_none() && !value.is_empty()).then_some(value)
}

/// Adds a cookie that lives for `seconds`. Zero deletes it.
pub fn set_cookie(response: &mut Response<Body>, name: &str, value: &str, seconds: i64) {
    let text =
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; Secure; SameSite=Strict");
    // values are base64
    if let Ok(mut value) = HeaderValue::from_str(&text) {
        value.set_sensitive(true);
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}

/// Returns a new value of a cookie: 256 random bits.
///
/// # Errors
/// The system provides no random numbers.
pub fn random() -> Result<Zeroizing<String>, ApiError> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice()).map_err(|error| ApiError::internal(error.to_string()))?;
    Ok(Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice())))
}

/// Returns the principal of the session of a request, or `None` if the session has ended.
pub async fn principal(
    state: &ServiceState,
    transaction: &mut Transaction,
    headers: &HeaderMap,
) -> Result<Option<Principal>, ApiError> {
    let Some(cookie) = cookie(headers, SESSION) else {
        return Ok(None);
    };
    let digest = state.keys.session_digest(cookie);
    let holder = transaction.session_holder(&digest).await?;
    let Some(holder) = holder.filter(crate::db::Holder::is_valid) else {
        return Ok(None);
    };
    let grants = transaction.grants_of(holder.id).await?;
    Ok(Some(Principal { holder, grants }))
}

/// Exchanges a key for a session, and returns its cookie. Returns `None` if the key is unknown or has expired.
pub async fn begin(
    state: &ServiceState,
    transaction: &mut Transaction,
    key: &str,
) -> Result<Option<Zeroizing<String>>, ApiError> {
    let key_hash = state.keys.digest(key);
    let holder = transaction.holder(&key_hash).await?;
    let Some(holder) = holder.filter(crate::db::Holder::is_valid) else {
        return Ok(None);
    };
    let cookie = random()?;
    let digest = state.keys.session_digest(&cookie);
    transaction
        .add_session(holder.id, &digest, &key_hash)
        .await?;
    transaction.touch_token(holder.id).await?;
    Ok(Some(cookie))
}

/// Returns `true` if a form was sent by a page of this service, as far as the headers of the browser say. Forms have tokens in
/// any case.
pub fn is_own_form(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    match (text("origin"), text("host")) {
        (Some(origin), Some(host)) => {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            authority == Some(host)
        }
        (Some(_), None) => false,
        (None, _) => true,
    }
}

pub const LIFETIME: i64 = limits::SESSION_SECONDS;

#[cfg(test)]
mod tests {
    use super::{SESSION, cookie, is_own_form};
    use http::HeaderMap;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let name: http::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn cookies_are_read() {
        let found = |lines: &[&str]| {
            let lines: Vec<_> = lines.iter().map(|line| ("cookie", *line)).collect();
            cookie(&headers(&lines), SESSION).map(str::to_owned)
        };
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(found(&["__Host-solon-session=a"]), is("a"));
        assert_eq!(found(&["x=1; __Host-solon-session=a=; y=2"]), is("a="));
        assert_eq!(found(&["x=1", "__Host-solon-session=a"]), is("a"));
        for lines in [
            &[][..],
            &["__Host-solon-session="],
            &["__Host-solon-session=a; __Host-solon-session=b"],
            &["__Host-solon-session=a", "__Host-solon-session=a"],
            &["__host-solon-session=a"],
            &["solon-session=a"],
        ] {
            assert_eq!(found(lines), None, "{lines:?}");
        }
    }

    #[test]
    fn forms_of_other_sites_are_recognized() {
        let host = ("host", "c.example.com");
        for (lines, wanted) in [
            (vec![], true),
            (vec![host], true),
            (vec![host, ("origin", "https://c.example.com")], true),
            (vec![host, ("origin", "https://c.example.com:444")], false),
            (vec![host, ("origin", "https://evil.example.com")], false),
            (vec![host, ("origin", "null")], false),
            (vec![("origin", "https://c.example.com")], false),
            (vec![host, ("sec-fetch-site", "same-origin")], true),
            (vec![host, ("sec-fetch-site", "same-site")], false),
            (vec![host, ("sec-fetch-site", "cross-site")], false),
            (vec![host, ("sec-fetch-site", "none")], false),
        ] {
            assert_eq!(is_own_form(&headers(&lines)), wanted, "{lines:?}");
        }
    }
}
