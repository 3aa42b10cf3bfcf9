//! One GET at a time, over TLS, with an end to everything: bytes, time, redirects. A thread of its own runs it, so that
//! callers need not know whether they are in somebody's runtime.

use std::{pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::{error::SourceError, place::is_loopback};

const CONNECT: Duration = Duration::from_secs(15);
const WHOLE: Duration = Duration::from_secs(120);
const REDIRECTS: usize = 5;

pub(super) struct Client {
    tls: Arc<ClientConfig>,
}

pub(super) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What is asked for.
#[derive(Clone, Default)]
pub(super) struct Ask<'a> {
    pub url: &'a str,
    pub accept: &'a str,
    /// The value of `Authorization`. It does not go to another host that the first one names.
    pub authorization: Option<String>,
    /// Bytes.
    pub limit: usize,
}

impl Client {
    /// Trusts the system's authorities and, where given, others.
    pub(super) fn new(roots: Option<&str>) -> Result<Self, SourceError> {
        let mut trusted = RootCertStore::empty();
        // One that cannot be read is no reason to trust the others less.
        trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let bad = |why: String| SourceError::Place { text: "the given authorities".to_owned(), why };
        for certificate in CertificateDer::pem_slice_iter(roots.unwrap_or_default().as_bytes()) {
            let certificate = certificate.map_err(|error| bad(error.to_string()))?;
            trusted.add(certificate).map_err(|error| bad(error.to_string()))?;
        }
        let mut tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| bad(error.to_string()))?
            .with_root_certificates(trusted)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { tls: Arc::new(tls) })
    }

    /// The answer, whatever its status; redirects are followed.
    pub(super) fn get(&self, ask: &Ask<'_>) -> Result<Answer, SourceError> {
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| unreachable_at(ask.url, &error))?;
            runtime.block_on(async {
                let whole = timeout(WHOLE, self.follow(ask)).await;
                whole.unwrap_or_else(|_| Err(unreachable_at(ask.url, &"it takes too long to answer")))
            })
        };
        std::thread::scope(|scope| scope.spawn(run).join())
            .unwrap_or_else(|_| Err(unreachable_at(ask.url, &"the request broke down")))
    }

    async fn follow(&self, ask: &Ask<'_>) -> Result<Answer, SourceError> {
        let garbage =
            |url: &str, why: &str| SourceError::Garbage { url: url.to_owned(), why: why.to_owned() };
        let mut url = ask.url.to_owned();
        let mut authorization = ask.authorization.clone();
        for _ in 0..=REDIRECTS {
            let uri: Uri = url.parse().map_err(|_| garbage(&url, "this is no URL"))?;
            let answer = self.once(&url, &uri, ask, authorization.as_deref()).await?;
            let location = answer.headers.get(header::LOCATION).and_then(|location| location.to_str().ok());
            let Some(location) = location.filter(|_| answer.status.is_redirection()) else {
                return Ok(answer);
            };
            let next = join(&url, location);
            let target: Uri = next.parse().map_err(|_| garbage(&url, "it redirects to what is no URL"))?;
            if target.authority() != uri.authority() {
                authorization = None;
            }
            url = next;
        }
        Err(garbage(ask.url, "it redirects without end"))
    }

    async fn once(
        &self,
        url: &str,
        uri: &Uri,
        ask: &Ask<'_>,
        authorization: Option<&str>,
    ) -> Result<Answer, SourceError> {
        let garbage = |why: String| SourceError::Garbage { url: url.to_owned(), why };
        let authority = uri.authority().ok_or_else(|| garbage("the URL has no host".to_owned()))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::get(path)
            .header(header::HOST, authority.as_str())
            .header(header::USER_AGENT, concat!("mizzen/", env!("CARGO_PKG_VERSION")))
            .header(header::ACCEPT, if ask.accept.is_empty() { "*/*" } else { ask.accept });
        if let Some(authorization) = authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let request = request.body(Empty::<Bytes>::new()).map_err(|error| garbage(error.to_string()))?;
        let stream = self.connect(url, uri).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| unreachable_at(url, &error))?;
        let driver = tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(|error| {
            if error.is_parse() { garbage(error.to_string()) } else { unreachable_at(url, &error) }
        })?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, ask.limit).collect().await.map_err(|error| {
            if error.is::<http_body_util::LengthLimitError>() {
                SourceError::TooLarge { url: url.to_owned(), limit: ask.limit }
            } else {
                garbage(format!("the answer is cut short ({error})"))
            }
        })?;
        driver.abort();
        Ok(Answer { status: head.status, headers: head.headers, body: body.to_bytes() })
    }

    async fn connect(&self, url: &str, uri: &Uri) -> Result<Stream, SourceError> {
        let failed = |why: &dyn std::fmt::Display| unreachable_at(url, why);
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        let secure = uri.scheme_str() == Some("https");
        let loopback = is_loopback(&host_of(&host));
        let plain = uri.scheme_str() == Some("http") && loopback;
        if !secure && !plain {
            let why = "plain http is only taken from this machine".to_owned();
            return Err(SourceError::Garbage { url: url.to_owned(), why });
        }
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let open = async {
            let proxy = if loopback { None } else { proxy(&host) };
            match proxy {
                None => TcpStream::connect((host.as_str(), port)).await,
                Some(proxy) => through(&proxy, &host, port).await,
            }
        };
        let tcp = match timeout(CONNECT, open).await {
            Err(_) => return Err(failed(&"nobody answers")),
            Ok(tcp) => tcp.map_err(|error| failed(&error))?,
        };
        if !secure {
            return Ok(Box::pin(tcp));
        }
        let name = ServerName::try_from(host).map_err(|error| failed(&error))?;
        let connector = tokio_rustls::TlsConnector::from(Arc::clone(&self.tls));
        match timeout(CONNECT, connector.connect(name, tcp)).await {
            Err(_) => Err(failed(&"the TLS handshake takes too long")),
            Ok(Err(error)) => Err(failed(&error)),
            Ok(Ok(stream)) => Ok(Box::pin(stream)),
        }
    }
}

trait Both: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Both for T {}
type Stream = Pin<Box<dyn Both>>;

fn unreachable_at(url: &str, why: &dyn std::fmt::Display) -> SourceError {
    SourceError::Unreachable { url: url.to_owned(), why: why.to_string() }
}

/// With brackets, as `is_loopback` expects addresses of IPv6.
fn host_of(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// `HTTPS_PROXY`, where `NO_PROXY` does not name the host.
fn proxy(host: &str) -> Option<String> {
    let variable = |name: &str| {
        let value = std::env::var(name).or_else(|_| std::env::var(name.to_ascii_lowercase())).ok()?;
        (!value.is_empty()).then_some(value)
    };
    let excepted = variable("NO_PROXY").is_some_and(|list| {
        list.split(',').map(|name| name.trim().trim_start_matches('.')).any(|name| {
            let below = host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            name == "*" || !name.is_empty() && below
        })
    });
    if excepted { None } else { variable("HTTPS_PROXY") }
}

/// A tunnel through a proxy.
async fn through(proxy: &str, host: &str, port: u16) -> std::io::Result<TcpStream> {
    let bad = |why: &str| std::io::Error::other(format!("the proxy {proxy} {why}"));
    let address = proxy.strip_prefix("http://").unwrap_or(proxy).trim_end_matches('/');
    let mut tcp = TcpStream::connect(address).await.map_err(|error| bad(&error.to_string()))?;
    let target = format!("{}:{port}", host_of(host));
    tcp.write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > 16 << 10 {
            return Err(bad("answers too much"));
        }
        head.push(tcp.read_u8().await?);
    }
    let accepted = head.starts_with(b"HTTP/1.1 200") || head.starts_with(b"HTTP/1.0 200");
    if accepted { Ok(tcp) } else { Err(bad("refuses")) }
}

/// A reference of a page → a URL.
pub(super) fn join(base: &str, reference: &str) -> String {
    if reference.contains("://") {
        return reference.to_owned();
    }
    let (scheme, rest) = base.split_once("://").unwrap_or(("https", base));
    if let Some(other) = reference.strip_prefix("//") {
        return format!("{scheme}://{other}");
    }
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if let Some(absolute) = reference.strip_prefix('/') {
        return format!("{scheme}://{host}/{absolute}");
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in reference.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{scheme}://{host}/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_joined_as_browsers_join_them() {
        for (base, reference, wanted) in [
            ("https://a.example/b/index.yaml", "c.tgz", "https://a.example/b/c.tgz"),
            ("https://a.example/b/index.yaml?x=/y", "../c.tgz", "https://a.example/c.tgz"),
            ("https://a.example/b/c", "/d", "https://a.example/d"),
            ("https://a.example", "d", "https://a.example/d"),
            ("https://a.example/b", "https://o.example/d", "https://o.example/d"),
            ("https://a.example/b", "//o.example/d", "https://o.example/d"),
            ("https://a.example/b/", "../../../d", "https://a.example/d"),
        ] {
            assert_eq!(join(base, reference), wanted, "{base} {reference}");
        }
    }
}
