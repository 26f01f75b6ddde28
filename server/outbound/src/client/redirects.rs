//! Redirects: which are followed, and with which headers.

use http::header::{AUTHORIZATION, COOKIE, LOCATION, PROXY_AUTHORIZATION};
use http::uri::Scheme;
use http::{HeaderMap, Method, Response, Uri};

use crate::error::{Error, ErrorKind};

/// Maximum number of redirects of one request, as in Go's client.
pub const MAX_REDIRECTS: usize = 10;

/// The effect of a response on the next request.
#[derive(Debug, PartialEq, Eq)]
pub enum Redirect {
    /// The response is final.
    None,
    /// The request is sent to this URL.
    To(Uri),
}

/// Returns the redirect of a response. `GET` and `HEAD` are redirected by 301, 302, 303, 307 and 308, other methods by 307 and 308
/// only: the other ones would change the method.
///
/// # Errors
/// The location is not valid, or leads from `https` to `http`.
pub fn redirect_of<B>(
    response: &Response<B>,
    method: &Method,
    from: &Uri,
) -> Result<Redirect, Error> {
    let is_safe = *method == Method::GET || *method == Method::HEAD;
    let is_redirect = match response.status().as_u16() {
        301..=303 => is_safe,
        307 | 308 => true,
        _ => false,
    };
    let Some(location) = response.headers().get(LOCATION).filter(|_| is_redirect) else {
        return Ok(Redirect::None);
    };
    let failed = |text: &str| Error::new(ErrorKind::Redirect, format!("redirect: {text}"));
    let location = location.to_str().map_err(|_| failed("invalid location"))?;
    let to = resolve(location, from).ok_or_else(|| failed("invalid location"))?;
    if from.scheme() == Some(&Scheme::HTTPS) && to.scheme() != Some(&Scheme::HTTPS) {
        return Err(failed("from `https` to `http` is not followed"));
    }
    Ok(Redirect::To(to))
}

/// Returns the absolute URL of a location, without fragment and user.
fn resolve(location: &str, from: &Uri) -> Option<Uri> {
    let location = location.split('#').next().unwrap_or_default();
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    let text = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.starts_with('?') || location.is_empty() {
        format!("{scheme}://{authority}{}{location}", from.path())
    } else {
        let folder = from
            .path()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{location}")
    };
    let url: Uri = text.parse().ok()?;
    let scheme = url.scheme()?.clone();
    if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
        return None;
    }
    let authority = url.authority()?.as_str();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    Uri::builder()
        .scheme(scheme)
        .authority(host)
        .path_and_query(url.path_and_query()?.clone())
        .build()
        .ok()
}

/// Removes headers that another host must not read.
pub fn remove_credentials(headers: &mut HeaderMap) {
    for name in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use http::header::LOCATION;
    use http::{Method, Response};

    use super::{Redirect, redirect_of};

    #[test]
    fn locations_are_resolved() {
        let from = "https://h:1/a/b?c".parse().unwrap();
        for (location, expected) in [
            ("https://g/x", "https://g/x"),
            ("https://u:p@g/x#y", "https://g/x"),
            ("//g/x", "https://g/x"),
            ("/x?y", "https://h:1/x?y"),
            ("x", "https://h:1/a/x"),
            ("?y", "https://h:1/a/b?y"),
            ("", "https://h:1/a/b"),
        ] {
            let response = Response::builder().status(302).header(LOCATION, location);
            let redirect = redirect_of(&response.body(()).unwrap(), &Method::GET, &from);
            assert_eq!(
                redirect,
                Ok(Redirect::To(expected.parse().unwrap())),
                "{location}"
            );
        }
        for location in ["http://h:1/a", "ftp://h/a", "https://", "https://h h/"] {
            let response = Response::builder().status(302).header(LOCATION, location);
            let redirect = redirect_of(&response.body(()).unwrap(), &Method::GET, &from);
            assert!(redirect.is_err(), "{location}: {redirect:?}");
        }
    }

    #[test]
    fn methods_do_not_change() {
        let from = "http://h/a".parse().unwrap();
        for (status, method, is_followed) in [
            (301, Method::GET, true),
            (302, Method::HEAD, true),
            (303, Method::GET, true),
            (307, Method::POST, true),
            (308, Method::PUT, true),
            (301, Method::POST, false),
            (302, Method::POST, false),
            (303, Method::PUT, false),
            (300, Method::GET, false),
            (304, Method::GET, false),
            (200, Method::GET, false),
        ] {
            let response = Response::builder().status(status).header(LOCATION, "/b");
            let redirect = redirect_of(&response.body(()).unwrap(), &method, &from).unwrap();
            assert_eq!(redirect != Redirect::None, is_followed, "{status} {method}");
        }
    }
}
