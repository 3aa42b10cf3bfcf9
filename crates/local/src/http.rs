//! One request at a time to somebody near: an Envoy's admin socket, the control plane's pages, a service through its proxy.

use crate::namespaces::Namespace;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    time::timeout,
};

/// Answers are read this far; a dump of a large mesh has some megabytes.
const LIMIT: usize = 64 << 20;

/// Where somebody answers.
#[derive(Clone, Debug)]
pub(crate) enum Door {
    Tcp(SocketAddr),
    /// In another network.
    Inside(Namespace, SocketAddr),
    /// In a folder, whose path may be longer than a socket's may.
    Unix(PathBuf),
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

/// `target` is a path, or a whole URL for a proxy.
pub(crate) async fn get(
    door: &Door,
    target: &str,
    headers: &[(HeaderName, HeaderValue)],
    wait: Duration,
) -> io::Result<Answer> {
    let asked = async {
        match door {
            Door::Tcp(address) => exchange(TcpStream::connect(address).await?, target, headers).await,
            Door::Inside(namespace, address) => {
                exchange(namespace.connect(*address).await?, target, headers).await
            }
            Door::Unix(path) => exchange(connect(path).await?, target, headers).await,
        }
    };
    timeout(wait, asked).await.unwrap_or_else(|_| {
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {} ms", wait.as_millis())))
    })
}

/// Whether somebody takes connections there.
pub(crate) async fn connects(door: &Door, wait: Duration) -> bool {
    let connected = async {
        match door {
            Door::Tcp(address) => TcpStream::connect(address).await.map(drop),
            Door::Inside(namespace, address) => namespace.connect(*address).await.map(drop),
            Door::Unix(path) => connect(path).await.map(drop),
        }
    };
    timeout(wait, connected).await.is_ok_and(|connected| connected.is_ok())
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    target: &str,
    headers: &[(HeaderName, HeaderValue)],
) -> io::Result<Answer> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let connection = tokio::spawn(connection);
    let mut request = Request::get(target).body(Empty::<Bytes>::new()).map_err(io::Error::other)?;
    let host = request.uri().authority().map_or("mizzen", |authority| authority.as_str());
    let host = HeaderValue::from_str(host).map_err(io::Error::other)?;
    request.headers_mut().insert(header::HOST, host);
    for (name, value) in headers {
        request.headers_mut().insert(name.clone(), value.clone());
    }
    let answered = sender.send_request(request).await.map_err(io::Error::other);
    let read = match answered {
        Ok(response) => {
            let (head, body) = response.into_parts();
            let body = Limited::new(body, LIMIT).collect().await.map_err(io::Error::other);
            body.map(|body| Answer { status: head.status, body: body.to_bytes() })
        }
        Err(error) => Err(error),
    };
    connection.abort();
    read
}

/// A path as the kernel wants it for a socket: at most 107 bytes. What is longer is reached through its open folder, which must
/// stay open meanwhile.
pub(crate) fn short(path: &Path) -> io::Result<(PathBuf, Option<std::fs::File>)> {
    use std::os::fd::AsRawFd;
    if path.as_os_str().len() < 100 {
        return Ok((path.to_owned(), None));
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no path of a socket"));
    };
    let folder = std::fs::File::open(folder)?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok((short, Some(folder)))
}

async fn connect(path: &Path) -> io::Result<UnixStream> {
    let (path, _folder) = short(path)?;
    UnixStream::connect(path).await
}
