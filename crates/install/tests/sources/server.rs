//! A small server on loopback that says what a test tells it to say, over TLS or plainly.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

use mizzen_testkit::pki::{Authority, Leaf};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

#[derive(Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Bytes that are promised and not sent.
    pub(crate) lacking: usize,
}

impl Reply {
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into(), ..Self::default() }
    }

    pub(crate) fn status(status: u16, headers: Vec<(&'static str, String)>) -> Self {
        Self { status, headers, ..Self::default() }
    }
}

/// A request's path and its `Authorization` → what is answered.
type Handler = Box<dyn Fn(&str, Option<&str>) -> Reply + Send + Sync>;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The authority of its certificate, as PEM.
    pub(crate) roots: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn with(pages: impl IntoIterator<Item = (String, Reply)>) -> Self {
        let pages: HashMap<String, Reply> = pages.into_iter().collect();
        Self::start(Box::new(move |path, _| pages.get(path).cloned().unwrap_or(Reply::status(404, vec![]))))
    }

    pub(crate) fn start(handler: Handler) -> Self {
        Self::new(handler, true)
    }

    pub(crate) fn plain(handler: Handler) -> Self {
        Self::new(handler, false)
    }

    fn new(handler: Handler, tls: bool) -> Self {
        let authority = Authority::new("test").unwrap();
        let leaf = Leaf { ip: &[Ipv4Addr::LOCALHOST.into()], dns: &["localhost"], ..Leaf::default() };
        let pair = authority.leaf(&leaf).unwrap();
        let chain = CertificateDer::pem_slice_iter(pair.certificate.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain.collect::<Result<_, _>>().unwrap(), key)
            .unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (config, handler, seen) = (Arc::new(config), Arc::new(handler), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, handler, seen) = (Arc::clone(&config), Arc::clone(&handler), Arc::clone(&seen));
                thread::spawn(move || {
                    if tls {
                        let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
                        answer(&mut stream, &format!("https://{address}"), &handler, &seen);
                        stream.conn.send_close_notify();
                        let _ = stream.flush();
                    } else {
                        answer(&mut { stream }, &format!("http://{address}"), &handler, &seen);
                    }
                });
            }
        });
        Self { address, roots: authority.certificate(), asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// The paths that were asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(stream: &mut (impl Read + Write), own: &str, handler: &Handler, seen: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    {
        let mut reader = BufReader::new(&mut *stream);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            head.push(std::mem::take(&mut line));
        }
    }
    let Some(path) = head.first().and_then(|line| line.split(' ').nth(1)) else { return };
    let authorization = head.iter().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("authorization").then(|| value.trim())
    });
    seen.lock().unwrap().push(path.to_owned());
    let reply = handler(path, authorization);
    let mut text =
        format!("HTTP/1.1 {} x\r\ncontent-length: {}\r\n", reply.status, reply.body.len() + reply.lacking);
    for (name, value) in reply.headers {
        // A handler is made before the address is known.
        let value = value.replace("SELF", own);
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.write_all(&reply.body);
    let _ = stream.flush();
}
