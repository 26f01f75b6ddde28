//! A token in the header `Authorization`.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request};

use crate::authorize::{Authorize, BoxFuture};
use crate::config::{BearerConfig, Secret};
use crate::error::{Error, ErrorKind};
use crate::files;

/// A token, or the file that contains it.
#[derive(Debug)]
pub struct Bearer {
    scheme: String,
    token: Token,
    is_encoded: bool,
}

#[derive(Debug)]
enum Token {
    Fixed(Secret),
    /// Read for each request because another program may replace it.
    File(PathBuf),
}

impl Bearer {
    /// Returns the credentials of a configuration. The header has the token in base64 if `is_encoded`, as OPA sends it to registries: with
    /// the scheme `Basic`, the token is `user:password`.
    ///
    /// # Errors
    /// The token is missing, or two are configured.
    pub fn new(config: &BearerConfig, is_encoded: bool) -> Result<Self, String> {
        let token = config.token.as_ref();
        let token = token.filter(|token| !token.expose().is_empty());
        let path = config.token_path.as_ref().filter(|path| !path.is_empty());
        let token = match (token, path) {
            (Some(token), None) => {
                header("Bearer", token.expose()).map_err(|error| format!(".token: {error}"))?;
                Token::Fixed(token.clone())
            }
            (None, Some(path)) => Token::File(path.into()),
            (None, None) => return Err(": expected `token` or `token_path`".to_owned()),
            (Some(_), Some(_)) => {
                return Err(": expected only one of `token` and `token_path`".to_owned());
            }
        };
        let scheme = config.scheme.clone().filter(|scheme| !scheme.is_empty());
        let scheme = scheme.unwrap_or_else(|| "Bearer".to_owned());
        header(&scheme, "x").map_err(|_| ".scheme: not valid in a header".to_owned())?;
        Ok(Self {
            scheme,
            token,
            is_encoded,
        })
    }
}

impl Authorize for Bearer {
    fn authorize<'a>(
        &'a self,
        request: &'a mut Request<Bytes>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let token_of_file;
            let token = match &self.token {
                Token::Fixed(token) => token.expose(),
                Token::File(path) => {
                    token_of_file = Secret::from(files::read_token(path.clone()).await?);
                    token_of_file.expose()
                }
            };
            if !self.is_encoded {
                return set(request, &self.scheme, token);
            }
            set(request, &self.scheme, &STANDARD.encode(token))
        })
    }

    fn forget(&self) -> bool {
        // the file may have been replaced between reading and the response
        false
    }
}

/// Sets the header `Authorization`.
///
/// # Errors
/// The token is empty, or has characters that a header cannot have.
pub fn set(request: &mut Request<Bytes>, scheme: &str, token: &str) -> Result<(), Error> {
    let value = header(scheme, token).map_err(|text| Error::new(ErrorKind::Credentials, text))?;
    request.headers_mut().insert(AUTHORIZATION, value);
    Ok(())
}

fn header(scheme: &str, token: &str) -> Result<HeaderValue, String> {
    if token.is_empty() {
        return Err("the token is empty".to_owned());
    }
    let mut value = HeaderValue::from_str(&format!("{scheme} {token}"))
        .map_err(|_| "the token is not valid in a header".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}
