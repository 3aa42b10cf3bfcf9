//! What can be set. The defaults are Istio's where Istio has the setting.

use std::{thread, time::Duration};

#[derive(Clone, Debug)]
pub struct Options {
    /// Sent as the control plane's identifier in every response; empty: not sent.
    pub control_plane: String,
    /// HTTP/2 pings on a quiet connection, and how long their answer may take (`--keepaliveInterval`,
    /// `--keepaliveTimeout`).
    pub keepalive_interval: Duration,
    pub keepalive_timeout: Duration,
    /// Connections older than this, give or take a tenth, are closed in good order
    /// (`--keepaliveMaxServerConnectionAge`).
    pub max_connection_age: Option<Duration>,
    /// How long a connection that is being closed may take to finish, also at shutdown.
    pub grace: Duration,
    /// A connection without a stream, and a stream without a request, are closed after this.
    pub first_request: Duration,
    /// A client that takes nothing for this long is dropped, though it answers pings.
    pub write_timeout: Duration,
    /// A client that neither accepts nor refuses a response for this long is dropped.
    pub ack_timeout: Duration,
    /// Connections and streams at a time; more are refused.
    pub max_streams: usize,
    /// New streams a second (`PILOT_MAX_REQUESTS_PER_SECOND`); more wait for a moment, then are refused.
    pub new_streams_per_second: Option<u32>,
    /// Requests a second that a stream may send on and on, besides one for each response, and at once. Above it is not read
    /// from; if that does not help within `flood`, the stream is closed.
    pub requests_per_second: u32,
    pub request_burst: u32,
    pub flood: Duration,
    /// The largest request, and the most names that one stream may subscribe to in one type.
    pub max_request_bytes: usize,
    pub max_names: usize,
    /// The most types that one stream may watch.
    pub max_types: usize,
    /// Large requests (of which more than 64 KiB have come) that are read at a time, all streams together, and how long the rest of
    /// one may take.
    pub large_requests: usize,
    pub large_request: Duration,
    /// Bytes that a stream may have sent without an answer before the next type must wait.
    pub in_flight_bytes: usize,
    /// Threads that may build resources at a time.
    pub builders: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            control_plane: String::new(),
            keepalive_interval: Duration::from_secs(30),
            keepalive_timeout: Duration::from_secs(10),
            max_connection_age: None,
            grace: Duration::from_secs(10),
            first_request: Duration::from_secs(15),
            write_timeout: Duration::from_secs(60),
            ack_timeout: Duration::from_secs(300),
            max_streams: 50_000,
            new_streams_per_second: None,
            requests_per_second: 100,
            request_burst: 1_000,
            flood: Duration::from_secs(10),
            max_request_bytes: 16 << 20,
            max_names: 200_000,
            max_types: 32,
            large_requests: 8,
            large_request: Duration::from_secs(5),
            in_flight_bytes: 32 << 20,
            builders: thread::available_parallelism().map_or(2, Into::into),
        }
    }
}
