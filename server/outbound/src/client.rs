//! The client of one service: address, credentials and timeouts.

mod redirects;
mod setup;
mod url;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};

use crate::authorize::Authorize;
use crate::body::BodyStream;
use crate::config::{KeyConfig, Secret, ServiceConfig};
use crate::credentials::{Credentials, Environment, Sources};
use crate::error::{Error, ErrorKind};
use crate::networks::NetworkRules;
use crate::observe::ObserveExchanges;
use crate::proxy::Proxies;
use crate::tls::{self, Trust};
use crate::transport::{Target, Transport};

pub use setup::ClientSetup;

use redirects::{MAX_REDIRECTS, Redirect};
use url::BaseUrl;

/// Default of `response_header_timeout_seconds`.
const HEAD_TIMEOUT: u64 = 10;

/// Maximum time until a connection is ready for requests.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum time between two chunks of a response body.
const STALL_TIMEOUT: Duration = Duration::from_mins(1);

/// Maximum size, in bytes, of the body of an unsuccessful response that becomes part of a message.
const MAX_ERROR_BODY: usize = 4096;

/// Settings that all services of a program share.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Value of the header `User-Agent` of each request.
    pub user_agent: String,
    /// Proxies, unless a service has its own.
    pub proxies: Arc<Proxies>,
    /// Rules for the networks that connections may lead to. Addresses that an operator configured are not restricted.
    pub networks: Arc<NetworkRules>,
    /// Variables that credentials are read from.
    pub environment: Environment,
    /// Observer of the requests to services.
    pub observer: Option<Arc<dyn ObserveExchanges>>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("Solon/", env!("CARGO_PKG_VERSION")).to_owned(),
            proxies: Proxies::system(),
            networks: Arc::default(),
            environment: Environment::default(),
            observer: None,
        }
    }
}

/// Maximum time until the head of the response to a request, including the time until the request was sent. As an extension
/// of the request, it replaces the time-out of the service because a server that holds a long poll responds later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadTimeout(pub Duration);

/// The client of one service. Clones share connections and credentials.
#[derive(Clone, Debug)]
pub struct Client(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    name: String,
    config: ServiceConfig,
    keys: BTreeMap<String, KeyConfig>,
    base: BaseUrl,
    headers: HeaderMap,
    user_agent: HeaderValue,
    head_timeout: Option<Duration>,
    authorize: Option<Arc<dyn Authorize>>,
    observer: Option<Arc<dyn ObserveExchanges>>,
    transport: Transport,
    /// Connections to other hosts that redirects lead to: without the client certificate of the service.
    other_hosts: Transport,
}

impl Client {
    /// Returns the client of a service. `keys` are the keys that credentials refer to.
    ///
    /// # Errors
    /// The configuration is not valid, or not supported. The message begins with the key below the service.
    pub fn new(
        name: &str,
        config: &ServiceConfig,
        keys: &BTreeMap<String, KeyConfig>,
        options: &ClientOptions,
    ) -> Result<Self, String> {
        let url = config.url.as_ref().map_or("", Secret::expose);
        let base = BaseUrl::new(url).map_err(|error| format!("url: {error}"))?;
        match config.r#type.as_deref() {
            None | Some("" | "oci") => {}
            Some(_) => return Err("type: expected `oci` or no type".to_owned()),
        }
        let headers = headers(&config.headers).map_err(|error| format!("headers{error}"))?;
        let user_agent = HeaderValue::from_str(&options.user_agent)
            .map_err(|_| "user agent: not valid in a header".to_owned())?;
        let head_timeout = match config.response_header_timeout_seconds {
            None => Some(Duration::from_secs(HEAD_TIMEOUT)),
            Some(0) => None,
            Some(seconds) => {
                let seconds = u64::try_from(seconds).map_err(|_| {
                    "response_header_timeout_seconds: must not be negative".to_owned()
                })?;
                Some(Duration::from_secs(seconds))
            }
        };
        let proxies = match config.proxy.as_ref().map(Secret::expose) {
            None | Some("") => options.proxies.clone(),
            Some("direct") => Arc::new(Proxies::default()),
            Some(address) => {
                let proxies =
                    Proxies::always(address).map_err(|error| format!("proxy: {error}"))?;
                Arc::new(proxies)
            }
        };
        let Trusted {
            own: own_transport_trust,
            others: other_trust,
        } = trust(config)?;
        let transport = |trust: &Trust, identity, proxies: &Arc<Proxies>| {
            let tls = tls::client_config(trust, identity)
                .map_err(|error| format!("tls.ca_cert: {error}"))?;
            let target = Target {
                tls,
                server_name: None,
                socket: None,
                networks: options.networks.clone(),
                proxies: proxies.clone(),
                connect_timeout: Some(CONNECT_TIMEOUT),
            };
            Ok::<_, String>(Transport::new(target, true))
        };
        let verified = transport(&other_trust, None, &proxies)?;
        let sources = Sources {
            service: match own_transport_trust {
                Trust::Any => transport(&Trust::Any, None, &proxies)?,
                Trust::Authorities { .. } => verified.clone(),
            },
            direct: transport(&other_trust, None, &Arc::default())?,
            verified,
            environment: options.environment.clone(),
        };
        let encodes_tokens = config.is_registry();
        let credentials = Credentials::new(&config.credentials, keys, &sources, encodes_tokens)?;
        let other_hosts = transport(&own_transport_trust, None, &proxies)?;
        let transport = match credentials.identity {
            None => other_hosts.clone(),
            identity => transport(&own_transport_trust, identity, &proxies)?,
        };
        Ok(Self(Arc::new(Shared {
            name: name.to_owned(),
            config: config.clone(),
            keys: keys.clone(),
            base,
            headers,
            user_agent,
            head_timeout,
            authorize: credentials.authorize,
            observer: options.observer.clone(),
            transport,
            other_hosts,
        })))
    }

    /// Returns the name of the service, as the configuration has it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the configuration of the service, with its secrets.
    pub fn config(&self) -> &ServiceConfig {
        &self.0.config
    }

    /// Returns `true` if the client was made from this configuration, so that it can be kept.
    pub(crate) fn is_of(&self, config: &ServiceConfig, keys: &BTreeMap<String, KeyConfig>) -> bool {
        self.0.config == *config && self.0.keys == *keys
    }

    /// Returns the absolute URL of a path, without user and password.
    ///
    /// # Errors
    /// The path is not valid in a URL.
    pub fn url(&self, path: &str) -> Result<Uri, Error> {
        self.0.base.join(path)
    }

    /// Returns `true` if a URL has the scheme, host and port of the service.
    pub fn is_same_origin(&self, url: &Uri) -> bool {
        self.0.base.is_same_origin(url)
    }

    /// Sends a request and returns once the head of the response was read, whatever its status.
    ///
    /// The path of the request's URL, with its query, is added to the URL of the service. The headers and credentials of the service
    /// are added; a header of the request replaces one of the service, and `Authorization` its credentials. Redirects of `GET` and `HEAD` are followed. Requests to
    /// another host have neither headers nor credentials of the service. A request whose cached credentials the service rejects
    /// with 401 is sent once more with new ones.
    ///
    /// # Errors
    /// No response arrives in the time that [`HeadTimeout`] or the configuration sets.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<BodyStream>, Error> {
        let path = request.uri().path_and_query();
        let path = path.map_or("", |path| path.as_str());
        if request.uri().authority().is_some() {
            let text = "the URL of a request must be relative to the service";
            return Err(Error::new(ErrorKind::Request, text));
        }
        let url = self.0.base.join(path)?;
        self.send_in_time(url, request).await
    }

    /// Sends a request as [`Self::send`] does, but with an absolute URL. The host of the URL gets the credentials of the service, so the
    /// service itself must have chosen it: its own host, or the host that issues its tokens. Another host gets no `headers` of the
    /// service, and no certificate.
    ///
    /// # Errors
    /// See [`Self::send`], or the URL is not absolute.
    pub async fn send_absolute(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<BodyStream>, Error> {
        let url = request.uri().clone();
        if url.authority().is_none() || url.scheme().is_none() {
            let text = "the URL of a request must be absolute";
            return Err(Error::new(ErrorKind::Request, text));
        }
        self.send_in_time(url, request).await
    }

    async fn send_in_time(
        &self,
        url: Uri,
        request: Request<Bytes>,
    ) -> Result<Response<BodyStream>, Error> {
        let timeout_of_request = request.extensions().get::<HeadTimeout>();
        let timeout = timeout_of_request
            .map(|timeout_of_request| timeout_of_request.0)
            .or(self.0.head_timeout);
        let response = self.exchange(url, request);
        let response = match timeout {
            None => response.await?,
            Some(timeout) => {
                let response = tokio::time::timeout(timeout, response).await;
                response.map_err(|_| {
                    let text = format!(
                        "timeout: no response from service `{}` within {} seconds",
                        self.0.name,
                        timeout.as_secs_f64()
                    );
                    Error::new(ErrorKind::Timeout, text)
                })??
            }
        };
        Ok(response.map(|body| body.stall_timeout(STALL_TIMEOUT)))
    }

    /// Sends a request as [`Self::send`] does and returns the response if its status is a success or 304.
    ///
    /// # Errors
    /// See [`Self::send`], or the status is another one: [`ErrorKind::Status`], with the beginning of the body.
    pub async fn send_ok(&self, request: Request<Bytes>) -> Result<Response<BodyStream>, Error> {
        success(self.send(request).await?).await
    }

    async fn exchange(
        &self,
        mut url: Uri,
        request: Request<Bytes>,
    ) -> Result<Response<BodyStream>, Error> {
        let first = url.clone();
        let (head, body) = request.into_parts();
        let has_own = head.headers.contains_key(AUTHORIZATION);
        let method = head.method;
        let mut is_retried = false;
        let mut redirects = 0;
        loop {
            let is_own = self.0.base.is_same_origin(&url);
            let mut request = Request::new(body.clone());
            *request.method_mut() = method.clone();
            *request.uri_mut() = url.clone();
            *request.headers_mut() = head.headers.clone();
            let has_credentials = url::is_same_origin(&first, &url);
            self.add_headers(&mut request, is_own, has_credentials);
            if has_credentials
                && !has_own
                && let Some(authorize) = &self.0.authorize
            {
                authorize.authorize(&mut request).await?;
            }
            let transport = if is_own {
                &self.0.transport
            } else {
                &self.0.other_hosts
            };
            let response = self.observed(transport, request).await?;
            if response.status() == StatusCode::UNAUTHORIZED
                && has_credentials
                && !has_own
                && !is_retried
                && self
                    .0
                    .authorize
                    .as_ref()
                    .is_some_and(|authorizer| authorizer.forget())
            {
                is_retried = true;
                continue;
            }
            match redirects::redirect_of(&response, &method, &url)? {
                Redirect::None => return Ok(response),
                Redirect::To(next) => {
                    redirects += 1;
                    if redirects > MAX_REDIRECTS {
                        let text = format!("stopped after {MAX_REDIRECTS} redirects");
                        return Err(Error::new(ErrorKind::Redirect, text));
                    }
                    // bodies and other methods are sent only to the service itself
                    let is_safe = method == Method::GET || method == Method::HEAD;
                    if !is_safe && !url::is_same_origin(&first, &next) {
                        return Ok(response);
                    }
                    url = next;
                }
            }
        }
    }

    /// Sends a single request, which the observer sees.
    async fn observed(
        &self,
        transport: &Transport,
        mut request: Request<Bytes>,
    ) -> Result<Response<BodyStream>, Error> {
        let observer = self.0.observer.as_ref();
        let exchange = observer.and_then(|observer| {
            let (method, url) = (request.method().clone(), request.uri().clone());
            observer.begin(method.as_str(), &url, request.headers_mut())
        });
        let result = transport.send(request).await;
        if let Some(exchange) = exchange {
            match &result {
                Ok(response) => exchange.end(Ok(response.status().as_u16())),
                Err(error) => exchange.end(Err(&error.to_string())),
            }
        }
        result
    }

    /// Adds the headers that the service sets, and removes credentials of the caller from requests to other hosts.
    fn add_headers(&self, request: &mut Request<Bytes>, is_own: bool, has_credentials: bool) {
        let is_empty = request.body().is_empty();
        let takes_body = [Method::POST, Method::PUT, Method::PATCH].contains(request.method());
        let headers = request.headers_mut();
        if is_own {
            for (name, value) in &self.0.headers {
                if !headers.contains_key(name) {
                    headers.append(name, value.clone());
                }
            }
        }
        if has_credentials {
            if let Some(user) = self.0.base.authorization()
                && !headers.contains_key(AUTHORIZATION)
            {
                headers.insert(AUTHORIZATION, user.clone());
            }
        } else {
            redirects::remove_credentials(headers);
        }
        if !headers.contains_key(USER_AGENT) {
            headers.insert(USER_AGENT, self.0.user_agent.clone());
        }
        if is_empty && takes_body {
            headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        if let Some(proxy) = self.proxy_authorization(request.uri()) {
            request
                .headers_mut()
                .insert(http::header::PROXY_AUTHORIZATION, proxy);
        }
    }

    /// Returns the credentials for the proxy that forwards a request. Requests over TLS have them in `CONNECT` instead.
    fn proxy_authorization(&self, url: &Uri) -> Option<HeaderValue> {
        if url.scheme_str() == Some("https") {
            return None;
        }
        let host = url.host()?.trim_matches(['[', ']']);
        let proxies = &self.0.transport.target().proxies;
        let proxy = proxies
            .proxy_for(false, host, url.port_u16().unwrap_or(80))
            .ok()?;
        let mut value = HeaderValue::from_str(&proxy?.authorization?).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Returns a response if its status is a success or 304.
///
/// # Errors
/// The status is another one. The message contains the beginning of the body.
pub async fn success(response: Response<BodyStream>) -> Result<Response<BodyStream>, Error> {
    let status = response.status();
    if status.is_success() || status == StatusCode::NOT_MODIFIED {
        return Ok(response);
    }
    let mut body = response.into_body();
    let mut start = Vec::new();
    while start.len() < MAX_ERROR_BODY {
        match body.chunk().await {
            Ok(Some(chunk)) => start.extend_from_slice(&chunk),
            Ok(None) | Err(_) => break,
        }
    }
    start.truncate(MAX_ERROR_BODY);
    let text = String::from_utf8_lossy(&start);
    let text = text.trim().replace(|c: char| c.is_control(), " ");
    let text = match text.as_str() {
        "" => format!("server replied with {status}"),
        text => format!("server replied with {status}: {text}"),
    };
    Err(Error::new(ErrorKind::Status(status), text))
}

fn headers(config: &BTreeMap<String, Secret>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in config {
        let key = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!(": `{name}` is not a valid name"))?;
        let mut value = HeaderValue::from_str(value.expose())
            .map_err(|_| format!(".{name}: not valid in a header"))?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

/// Certificates that are accepted.
struct Trusted {
    /// Certificates of the service.
    own: Trust,
    /// Certificates of servers that issue credentials: those of the system's authorities, and those of the service.
    others: Trust,
}

fn trust(config: &ServiceConfig) -> Result<Trusted, String> {
    let path = config.tls.ca_cert.as_ref().filter(|path| !path.is_empty());
    let mut trusted = Trusted {
        own: Trust::default(),
        others: Trust::default(),
    };
    if let Some(path) = path {
        let with_context = |error: String| format!("tls.ca_cert: {error}");
        let pem = crate::files::read(path.as_ref()).map_err(with_context)?;
        let certificates =
            tls::certificates(&pem).map_err(|error| with_context(format!("{path}: {error}")))?;
        trusted.own = Trust::Authorities {
            certificates: certificates.clone(),
            system: config.tls.system_ca_required,
        };
        trusted.others = Trust::Authorities {
            certificates,
            system: true,
        };
    }
    if config.allow_insecure_tls || config.allow_insure_tls {
        trusted.own = Trust::Any;
    }
    Ok(trusted)
}
