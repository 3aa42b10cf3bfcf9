//! Counters of the server, for whoever prints metrics.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{histogram::Histogram, kind::Type};

/// Plain atomics: read them whenever you like.
#[derive(Debug)]
pub struct Statistics {
    types: [TypeStatistics; Type::COUNT],
    /// Connections that were accepted; streams that are open now, and were ever.
    pub connections: AtomicU64,
    pub streams: AtomicU64,
    pub streams_total: AtomicU64,
    /// Streams refused: malformed or forbidden nodes, limits, not ready.
    pub refused: AtomicU64,
    /// Requests that could not be read or broke a limit; those for types that are not served.
    pub bad_requests: AtomicU64,
    pub unknown_types: AtomicU64,
    /// Streams slowed down for sending too much, and closed for going on.
    pub throttled: AtomicU64,
    /// Connections without a stream and streams without a request that were closed; connections that broke a rule of HTTP/2.
    pub idle: AtomicU64,
    pub broken: AtomicU64,
    pub floods: AtomicU64,
    /// Requests with a nonce that is not the last (`pilot_xds_expired_nonce`).
    pub expired_nonces: AtomicU64,
    /// Clients dropped because they took nothing (`pilot_xds_write_timeout`) or did not answer.
    pub write_timeouts: AtomicU64,
    pub ack_timeouts: AtomicU64,
    /// Sets of resources that could not be built, by a fault of ours (`pilot_total_xds_internal_errors`).
    pub internal_errors: AtomicU64,
    /// The largest request so far (`pilot_xds_recv_max`).
    pub largest_request: AtomicU64,
    /// From a response being ready to its being taken by the connection (`pilot_xds_send_time`).
    pub send_time: Histogram,
    /// From a generation being made to a stream having acknowledged (or refused) all of it.
    pub convergence: Histogram,
}

#[derive(Debug)]
pub struct TypeStatistics {
    /// Responses, and the resources and bytes in them (`pilot_xds_pushes`).
    pub pushes: AtomicU64,
    pub resources: AtomicU64,
    pub removals: AtomicU64,
    pub bytes: AtomicU64,
    /// Responses refused (`pilot_total_xds_rejects`).
    pub rejects: AtomicU64,
    /// `pilot_xds_config_size_bytes`
    pub size: Histogram,
    /// From wanting a set to having it encoded (`pilot_xds_push_time`).
    pub push_time: Histogram,
}

const SECONDS: &[f64] = &[0.01, 0.1, 1.0, 3.0, 5.0, 10.0, 20.0, 30.0];
const FINE_SECONDS: &[f64] = &[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 3.0, 5.0, 10.0, 20.0, 30.0];
const SIZES: &[f64] = &[1.0, 10_000.0, 1e6, 4e6, 1e7, 4e7];

impl Default for Statistics {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        let kind = |_| TypeStatistics {
            pushes: zero(),
            resources: zero(),
            removals: zero(),
            bytes: zero(),
            rejects: zero(),
            size: Histogram::new(SIZES),
            push_time: Histogram::new(FINE_SECONDS),
        };
        Self {
            types: std::array::from_fn(kind),
            connections: zero(),
            streams: zero(),
            streams_total: zero(),
            refused: zero(),
            bad_requests: zero(),
            unknown_types: zero(),
            throttled: zero(),
            idle: zero(),
            broken: zero(),
            floods: zero(),
            expired_nonces: zero(),
            write_timeouts: zero(),
            ack_timeouts: zero(),
            internal_errors: zero(),
            largest_request: zero(),
            send_time: Histogram::new(SECONDS),
            convergence: Histogram::new(FINE_SECONDS),
        }
    }
}

impl Statistics {
    /// Of one type; those without a name of their own are counted together.
    pub fn of(&self, kind: &Type) -> &TypeStatistics {
        &self.types[kind.index()]
    }

    /// Every type by its short name.
    pub fn types(&self) -> impl Iterator<Item = (String, &TypeStatistics)> {
        let names = Type::named().map(|kind| kind.short().to_owned()).chain(["other".to_owned()]);
        names.zip(&self.types)
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}
