//! Bundles in registries of container images, by the OCI distribution protocol: a manifest names a layer, which is the bundle.
//!
//! The requests are those of OPA: the digest of the manifest by `HEAD`, the manifest by its digest, and the first layer that is a
//! compressed tar archive.

mod challenge;

use aws_lc_rs::digest;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};

use crate::body::BodyStream;
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use challenge::Challenge;

/// Maximum size in bytes of a manifest.
const MAX_MANIFEST: usize = 4 << 20;

/// Maximum size in bytes of the response of a token endpoint.
const MAX_TOKEN: usize = 1 << 20;

/// Media type of the layers that are bundles.
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Media types of manifests.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, application/vnd.docker.distribution.manifest.list.v2+json, */*";

const CONTENT_DIGEST: &str = "docker-content-digest";

/// An image by its name: `HOST/REPOSITORY:TAG` or `HOST/REPOSITORY@sha256:DIGEST`. As in OPA, the URL of the service replaces the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageReference {
    repository: String,
    /// Tag or digest.
    reference: String,
}

/// The manifest that was read last, and its layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastManifest {
    digest: String,
    layer: LayerDescriptor,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
struct LayerDescriptor {
    #[serde(rename = "mediaType", default)]
    media_type: String,
    digest: String,
    size: u64,
}

/// A pulled bundle.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The compressed archive.
    pub bytes: Bytes,
    /// The digest of the layer in hexadecimal digits.
    pub etag: String,
}

impl ImageReference {
    /// Parses the name of an image.
    ///
    /// # Errors
    /// The repository, or the tag or digest, is missing or not valid.
    pub fn parse(name: &str) -> Result<Self, String> {
        let expected = || format!("invalid image `{name}`: expected `host/repository:tag`");
        let (_, path) = name.split_once('/').ok_or_else(expected)?;
        let (repository, reference) = match path.split_once('@') {
            // the digest names the image, and a tag before it is only a remark
            Some((repository, digest)) => {
                (repository.split(':').next().unwrap_or_default(), digest)
            }
            None => path.split_once(':').ok_or_else(expected)?,
        };
        let is_name = |text: &str| {
            let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            !matches!(text, "" | "." | "..") && text.bytes().all(is_valid)
        };
        let is_reference = match reference.split_once(':') {
            Some((algorithm, digest)) => is_name(algorithm) && is_name(digest),
            None => is_name(reference),
        };
        if !repository.split('/').all(is_name) || !is_reference {
            return Err(expected());
        }
        Ok(Self {
            repository: repository.to_owned(),
            reference: reference.to_owned(),
        })
    }
}

/// Pulls the bundle of an image. `last` is the manifest of the call before; its layer is not read again. Returns `None` if `is_known`
/// for the digest of the layer.
///
/// # Errors
/// The registry does not return the image, the image has no layer that is a bundle, a digest is not that of its bytes, or the layer is
/// larger than `max` bytes.
pub async fn pull(
    client: &Client,
    image: &ImageReference,
    last: &mut Option<LastManifest>,
    is_known: impl Fn(&str) -> bool,
    max: usize,
) -> Result<Option<Layer>, Error> {
    let mut session = Session {
        client,
        image,
        token: None,
    };
    let path = format!("manifests/{}", image.reference);
    let response = session.send(Method::HEAD, &path, MANIFESTS).await?;
    let digest = response.headers().get(CONTENT_DIGEST);
    let digest = digest.and_then(|digest| digest.to_str().ok());
    let digest = digest
        .ok_or_else(|| failed("missing Docker-Content-Digest header in response"))?
        .to_owned();
    let layer = match last.as_ref().filter(|last| last.digest == digest) {
        Some(last) => last.layer.clone(),
        None => {
            let layer = session.layer(&digest).await?;
            *last = Some(LastManifest {
                digest,
                layer: layer.clone(),
            });
            layer
        }
    };
    let etag = hexadecimal(&layer.digest)?.to_owned();
    if is_known(&etag) {
        return Ok(None);
    }
    if usize::try_from(layer.size).map_or(true, |size| size > max) {
        let text = format!("layer exceeds the limit of {max} bytes");
        return Err(Error::new(ErrorKind::BodyTooLarge, text));
    }
    let path = format!("blobs/{}", layer.digest);
    let response = session.send(Method::GET, &path, "*/*").await?;
    let bytes = response.into_body().read_bounded(max).await?;
    verify(&layer.digest, &bytes)?;
    Ok(Some(Layer { bytes, etag }))
}

/// The requests of one pull.
struct Session<'a> {
    client: &'a Client,
    image: &'a ImageReference,
    /// Header with the token that the registry requires. `None` before it is requested.
    token: Option<HeaderValue>,
}

impl Session<'_> {
    /// Returns the layer of a manifest that is the bundle.
    async fn layer(&mut self, digest: &str) -> Result<LayerDescriptor, Error> {
        #[derive(serde::Deserialize)]
        struct Manifest {
            #[serde(default)]
            layers: Vec<LayerDescriptor>,
        }
        hexadecimal(digest)?;
        let path = format!("manifests/{digest}");
        let response = self.send(Method::GET, &path, MANIFESTS).await?;
        let bytes = response.into_body().read_bounded(MAX_MANIFEST).await?;
        verify(digest, &bytes)?;
        let manifest: Manifest = serde_json::from_slice(&bytes)
            .map_err(|error| failed(&format!("invalid manifest: {error}")))?;
        let mut layers = manifest.layers.into_iter();
        layers
            .find(|layer| layer.media_type == LAYER)
            .ok_or_else(|| failed("no tarball descriptor found in the layers"))
    }

    /// Sends a request. If the registry requires a token, it is requested, and the request is sent once more.
    async fn send(
        &mut self,
        method: Method,
        path: &str,
        accept: &'static str,
    ) -> Result<Response<BodyStream>, Error> {
        // as in OPA, the path of the service is not part of it
        let root = self.client.url("")?;
        let url = Uri::builder()
            .scheme(root.scheme_str().unwrap_or_default())
            .authority(root.authority().map_or("", |host| host.as_str()))
            .path_and_query(format!("/v2/{}/{path}", self.image.repository))
            .build()
            .map_err(|error| failed(&format!("invalid path: {error}")))?;
        let mut response = self.send_once(&method, &url, accept).await?;
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(challenge) = challenge_of(&response)
        {
            self.token = Some(self.request_token(&challenge).await?);
            response = self.send_once(&method, &url, accept).await?;
        }
        match response.status() {
            StatusCode::OK => Ok(response),
            status => {
                let text = format!("{method} {url}: {status}");
                Err(Error::new(ErrorKind::Status(status), text))
            }
        }
    }

    async fn send_once(
        &self,
        method: &Method,
        url: &Uri,
        accept: &'static str,
    ) -> Result<Response<BodyStream>, Error> {
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = method.clone();
        *request.uri_mut() = url.clone();
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if let Some(token) = &self.token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        self.client.send_absolute(request).await
    }

    /// Requests a token with the credentials of the service.
    async fn request_token(&self, challenge: &Challenge) -> Result<HeaderValue, Error> {
        #[derive(serde::Deserialize)]
        struct RegistryToken {
            access_token: Option<String>,
            token: Option<String>,
        }
        let url = challenge.url().map_err(|text| failed(&text))?;
        let registry_url = self.client.url("")?;
        if registry_url.scheme_str() == Some("https") && url.scheme_str() != Some("https") {
            return Err(failed(
                "the token endpoint of the registry does not use `https`",
            ));
        }
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = url;
        let response = self.client.send_absolute(request).await?;
        let status = response.status();
        if status != StatusCode::OK {
            let text = format!("token endpoint of the registry replied with {status}");
            return Err(Error::new(ErrorKind::Status(status), text));
        }
        let invalid = || failed("the response of the token endpoint contains no token");
        let bytes = response.into_body().read_bounded(MAX_TOKEN).await?;
        let token: RegistryToken = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
        let token = token.access_token.or(token.token).ok_or_else(invalid)?;
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| invalid())?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// Returns the challenge of a response that requires a token.
fn challenge_of(response: &Response<BodyStream>) -> Option<Challenge> {
    let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .find_map(Challenge::parse)
}

fn hexadecimal(digest: &str) -> Result<&str, Error> {
    let digits = digest.strip_prefix("sha256:");
    let is_valid =
        |digits: &&str| digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits
        .filter(is_valid)
        .ok_or_else(|| failed(&format!("invalid digest `{digest}`: expected `sha256:`")))
}

/// Checks the SHA-256 digest of bytes. The error says whether the digest is malformed or differs.
fn verify(digest: &str, bytes: &[u8]) -> Result<(), Error> {
    let actual = hex::encode(digest::digest(&digest::SHA256, bytes));
    if hexadecimal(digest)? == actual {
        Ok(())
    } else {
        Err(failed("mismatched digest"))
    }
}

fn failed(text: &str) -> Error {
    Error::new(ErrorKind::Exchange, text)
}

#[cfg(test)]
mod tests {
    use super::ImageReference;

    #[test]
    fn names_of_images_are_parsed() {
        for (name, repository, reference) in [
            ("h/r:t", "r", "t"),
            ("h:5000/a/b_c/d:v1.2", "a/b_c/d", "v1.2"),
            ("h/r@sha256:0a", "r", "sha256:0a"),
            ("h/r:t@sha256:0a", "r", "sha256:0a"),
        ] {
            let expected = ImageReference {
                repository: repository.to_owned(),
                reference: reference.to_owned(),
            };
            assert_eq!(ImageReference::parse(name), Ok(expected), "{name}");
        }
        for name in [
            "r:t",
            "h/r",
            "h/r:",
            "h/:t",
            "h/../r:t",
            "h/r:a/b",
            "h/r:t?x",
            "h/a//b:t",
            "h/r@",
            "",
            "h/r:t:u:v",
        ] {
            assert!(ImageReference::parse(name).is_err(), "{name}");
        }
    }
}
