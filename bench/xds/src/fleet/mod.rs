//! Many simulated proxies that cost little: each acknowledges at once, remembers which names it has asked for and what
//! is still to come, and looks through the bytes of each response for marks. No resource is kept, and only those are decoded
//! that say what to ask for next.

mod codec;
mod stream;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use mizzen_testkit::proxy::{Identity, Kind};
use tokio::{sync::mpsc, task::JoinSet};
use tonic::transport::Endpoint;

/// What a proxy tells when it happens.
#[derive(Clone, Debug)]
pub(crate) enum News {
    /// It has everything that it asked for, for the first time.
    Complete,
    /// A mark was in a response of this kind.
    Mark {
        mark: u64,
        kind: Kind,
    },
    Ended(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) proxy: usize,
    pub(crate) at: Instant,
    pub(crate) news: News,
}

pub(crate) struct Fleet {
    pub(crate) size: usize,
    reports: mpsc::UnboundedReceiver<Report>,
    bytes: Arc<AtomicU64>,
    responses: Arc<AtomicU64>,
    _proxies: JoinSet<()>,
}

impl Fleet {
    /// All at once, each over a connection of its own.
    pub(crate) fn connect(server: SocketAddr, identities: &[Identity]) -> Result<Self> {
        // Unbounded on purpose: a bound would hold the proxies back, and with them what is measured.
        let (sender, reports) = mpsc::unbounded_channel();
        let (bytes, responses) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let mut proxies = JoinSet::new();
        for (proxy, identity) in identities.iter().enumerate() {
            let endpoint = Endpoint::from_shared(format!("http://{server}"))?
                .initial_stream_window_size(1 << 28)
                .initial_connection_window_size(1 << 28);
            let teller = stream::Teller {
                proxy,
                sender: sender.clone(),
                bytes: Arc::clone(&bytes),
                responses: Arc::clone(&responses),
            };
            let node = identity.node();
            proxies.spawn(async move {
                let end = stream::run(endpoint, node, &teller).await;
                teller
                    .tell(News::Ended(end.map_or_else(|error| error.to_string(), |()| "closed".to_owned())));
            });
        }
        Ok(Self { size: identities.len(), reports, bytes, responses, _proxies: proxies })
    }

    /// Bytes of all responses until now, and their number.
    pub(crate) fn traffic(&self) -> (u64, u64) {
        (self.bytes.load(Ordering::Relaxed), self.responses.load(Ordering::Relaxed))
    }

    pub(crate) async fn next(&mut self, limit: Instant) -> Result<Report> {
        let patience = limit.saturating_duration_since(Instant::now());
        match tokio::time::timeout(patience, self.reports.recv()).await {
            Ok(Some(Report { proxy, news: News::Ended(reason), .. })) => {
                bail!("proxy {proxy} lost its stream: {reason}")
            }
            Ok(Some(report)) => Ok(report),
            Ok(None) => bail!("all proxies are gone"),
            Err(_) => bail!("waited too long"),
        }
    }

    /// Until every proxy has told everything of `expected`; when the last one did.
    pub(crate) async fn all(&mut self, mut expected: Vec<Vec<Expected>>, limit: Duration) -> Result<Instant> {
        let limit = Instant::now() + limit;
        let mut last = Instant::now();
        while expected.iter().any(|open| !open.is_empty()) {
            let report = self.next(limit).await?;
            let open = &mut expected[report.proxy];
            let before = open.len();
            open.retain(|expected| !expected.is(&report.news));
            if open.len() < before {
                last = report.at;
            }
        }
        Ok(last)
    }

    /// Drops what has been told so far.
    pub(crate) fn forget(&mut self) {
        while self.reports.try_recv().is_ok() {}
    }

    /// Until no response has come for that long.
    pub(crate) async fn quiet(&self, quiet: Duration) {
        let mut seen = self.traffic();
        let mut since = Instant::now();
        while since.elapsed() < quiet {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let now = self.traffic();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Complete,
    Mark { mark: u64, kind: Kind },
}

impl Expected {
    fn is(self, news: &News) -> bool {
        match (self, news) {
            (Self::Complete, News::Complete) => true,
            (Self::Mark { mark, kind }, News::Mark { mark: seen, kind: of }) => mark == *seen && kind == *of,
            _ => false,
        }
    }
}
