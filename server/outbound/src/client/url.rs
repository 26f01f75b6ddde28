//! The base URL of a service.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Uri};

use crate::error::{Error, ErrorKind};
use crate::proxy::decoded;

/// The URL that the paths of requests are added to.
pub struct BaseUrl {
    scheme: Scheme,
    authority: Authority,
    /// Path without a slash at its end.
    path: String,
    /// Value of `Authorization` for the user and password of the URL.
    authorization: Option<HeaderValue>,
}

impl BaseUrl {
    /// Parses `http[s]://[user[:password]@]host[:port][/path]`.
    ///
    /// # Errors
    /// The text is not such a URL. The message does not contain it because it may include a password.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("missing".to_owned());
        }
        if text.contains(['?', '#']) {
            return Err("expected a URL without query and fragment".to_owned());
        }
        let expected = || "expected a URL such as `https://example.com/path`".to_owned();
        let uri: Uri = text.parse().map_err(|_| expected())?;
        let scheme = uri.scheme().cloned().ok_or_else(expected)?;
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(format!("expected `http` or `https`, got `{scheme}`"));
        }
        let authority = uri.authority().ok_or_else(expected)?;
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority.as_str()),
        };
        let authority: Authority = host.parse().map_err(|_| expected())?;
        let has_port = authority.as_str().len() > authority.host().len();
        if authority.host().is_empty() || has_port && authority.port_u16().is_none() {
            return Err(expected());
        }
        let authorization = user.map(|user| {
            let mut user = decoded(user);
            if !user.contains(&b':') {
                user.push(b':');
            }
            let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(user)))
                .map_err(|_| expected())?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        });
        Ok(Self {
            scheme,
            authority,
            path: uri.path().trim_end_matches('/').to_owned(),
            authorization: authorization.transpose()?,
        })
    }

    /// Returns the value of `Authorization` for the user and password of the URL.
    pub fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }

    /// Adds a path, which may have a query. Slashes between the two are one.
    pub fn join(&self, path: &str) -> Result<Uri, Error> {
        let path = format!("{}/{}", self.path, path.trim_start_matches('/'));
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path)
            .build()
            .map_err(|error| Error::new(ErrorKind::Request, format!("invalid path: {error}")))
    }

    /// Returns `true` if a URL has the same scheme, host and port.
    pub fn is_same_origin(&self, url: &Uri) -> bool {
        is_origin(&self.scheme, &self.authority, url)
    }
}

/// Returns `true` if two absolute URLs have the same scheme, host and port.
pub fn is_same_origin(base: &Uri, url: &Uri) -> bool {
    match (base.scheme(), base.authority()) {
        (Some(scheme), Some(authority)) => is_origin(scheme, authority, url),
        _ => false,
    }
}

fn is_origin(own_scheme: &Scheme, own_authority: &Authority, url: &Uri) -> bool {
    let port = |authority: &Authority, scheme: &Scheme| {
        let usual = if *scheme == Scheme::HTTPS { 443 } else { 80 };
        authority.port_u16().unwrap_or(usual)
    };
    let (Some(scheme), Some(authority)) = (url.scheme(), url.authority()) else {
        return false;
    };
    scheme == own_scheme
        && authority.host().eq_ignore_ascii_case(own_authority.host())
        && port(authority, scheme) == port(own_authority, own_scheme)
}

impl std::fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::BaseUrl;

    #[test]
    fn paths_are_added() {
        for (base, path, expected) in [
            ("http://h", "", "http://h/"),
            ("http://h", "/", "http://h/"),
            ("http://h/", "a", "http://h/a"),
            ("http://h/a", "b?c=d", "http://h/a/b?c=d"),
            ("https://h:8443/a/", "//b", "https://h:8443/a/b"),
            ("http://u:p@h/a", "b", "http://h/a/b"),
            ("http://[::1]:80/a", "b", "http://[::1]:80/a/b"),
        ] {
            let url = BaseUrl::new(base).unwrap().join(path).unwrap();
            assert_eq!(url.to_string(), expected, "{base} {path}");
        }
        assert!(BaseUrl::new("http://h").unwrap().join("a b").is_err());
        let user = |text: &str| {
            let base = BaseUrl::new(text).unwrap();
            base.authorization()
                .map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(user("http://u:p%40@h").as_deref(), Some("Basic dTpwQA=="));
        assert_eq!(user("http://u@h").as_deref(), Some("Basic dTo="));
        assert_eq!(user("http://h"), None);
    }

    #[test]
    fn other_urls_are_rejected_without_their_text() {
        for text in [
            "",
            "secret",
            "/secret",
            "ftp://secret",
            "http://",
            "http:///secret",
            "http://secret?a=b",
            "http://secret#a",
            "http://secret:port/",
            "http://u:secret@",
            "://secret",
            "http://se cret",
        ] {
            let error = BaseUrl::new(text).unwrap_err();
            assert!(!error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn origins_are_scheme_host_and_port() {
        for (base, url, expected) in [
            ("http://h", "http://h/a", true),
            ("http://h", "http://H:80/a", true),
            ("https://h:443", "https://h/a", true),
            ("http://h", "https://h/a", false),
            ("http://h", "http://h:81/a", false),
            ("http://h", "http://a.h/", false),
            ("http://a.h", "http://h/", false),
        ] {
            let base = BaseUrl::new(base).unwrap();
            assert_eq!(
                base.is_same_origin(&url.parse().unwrap()),
                expected,
                "{base:?} {url}"
            );
        }
    }
}
