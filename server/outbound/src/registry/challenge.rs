//! The header `WWW-Authenticate` of registries: `Bearer realm="URL",service="NAME",scope="SCOPE"`.

use form_urlencoded::byte_serialize;
use http::Uri;

/// Address and parameters of a token request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    realm: String,
    service: String,
    scope: String,
}

impl Challenge {
    /// Parses a header. Returns `None` if it is not a challenge for a bearer token with a realm.
    pub fn parse(header: &str) -> Option<Self> {
        let (scheme, mut rest) = header.trim().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let mut challenge = Self::default();
        while let Some((name, after)) = rest.split_once('=') {
            let (value, after) = match after.strip_prefix('"') {
                Some(after_quote) => after_quote.split_once('"')?,
                None => after.split_at(after.find(',').unwrap_or(after.len())),
            };
            let name = name.trim_matches([',', ' ']);
            let field = match name.to_ascii_lowercase().as_str() {
                "realm" => &mut challenge.realm,
                "service" => &mut challenge.service,
                "scope" => &mut challenge.scope,
                _ => &mut String::new(),
            };
            value.clone_into(field);
            rest = after;
        }
        (!challenge.realm.is_empty()).then_some(challenge)
    }

    /// Returns the URL of the request for a token.
    ///
    /// # Errors
    /// The realm is not an absolute URL.
    pub fn url(&self) -> Result<Uri, String> {
        let mut url = self.realm.clone();
        for (name, value) in [("scope", &self.scope), ("service", &self.service)] {
            if !value.is_empty() {
                url.push(if url.contains('?') { '&' } else { '?' });
                url += name;
                url.push('=');
                url.extend(byte_serialize(value.as_bytes()));
            }
        }
        let expected = || format!("invalid realm `{}` of the registry", self.realm);
        let url: Uri = url.parse().map_err(|_| expected())?;
        let has_user = |host: &http::uri::Authority| host.as_str().contains('@');
        match (url.scheme_str(), url.authority()) {
            (Some("http" | "https"), Some(host)) if !has_user(host) => Ok(url),
            _ => Err(expected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Challenge;

    fn url(header: &str) -> Option<String> {
        let url = Challenge::parse(header)?.url();
        Some(url.map_or_else(|error| error, |url| url.to_string()))
    }

    #[test]
    fn challenges_are_parsed() {
        for (header, expected) in [
            (
                r#"Bearer realm="https://a.example/token",service="reg",scope="repository:a/b:pull,push""#,
                "https://a.example/token?scope=repository%3Aa%2Fb%3Apull%2Cpush&service=reg",
            ),
            (
                r#"bearer  error="x", realm="https://a/t?x=1" , scope=s"#,
                "https://a/t?x=1&scope=s",
            ),
            (r#"Bearer realm="https://a/t""#, "https://a/t"),
            (r#"Bearer realm="/t""#, "invalid realm `/t` of the registry"),
            (
                r#"Bearer realm="ftp://a/t""#,
                "invalid realm `ftp://a/t` of the registry",
            ),
            (
                r#"Bearer realm="https://u:p@a/t""#,
                "invalid realm `https://u:p@a/t` of the registry",
            ),
        ] {
            assert_eq!(url(header).as_deref(), Some(expected), "{header}");
        }
        for header in [
            r#"Basic realm="https://a/t""#,
            "Bearer",
            "Bearer service=a",
            r#"Bearer realm="https://a"#,
            r#"Bearer realm="""#,
        ] {
            assert_eq!(url(header), None, "{header}");
        }
    }
}
