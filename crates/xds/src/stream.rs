//! The loop of one stream: requests in, responses out, until somebody ends it.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use hyper::body::Body;
use tokio::{task::spawn_blocking, time::sleep_until};
use tonic::{Code, Status};

use crate::{
    bucket::Bucket,
    connection::Link,
    connections::{Entry, Listed},
    frames::Frames,
    kind::Type,
    outbox::Outbox,
    request::{BadRequest, Request},
    server::{Admitted, Shared},
    session::{At, Heard, Next, Protocol, Query, Response, Session, Violation},
    set::ResourceSet,
    source::{Generation, Generations, Peer, Refused, Source},
    statistics::count,
};

pub(crate) struct Stream<S: Source, B> {
    shared: Arc<Shared<S>>,
    protocol: Protocol,
    peer: Peer,
    link: Link,
    frames: Frames<B>,
    outbox: Outbox,
    /// When the last response was put into the outbox.
    put: Option<Instant>,
    requests: Bucket,
    /// Since when the client sends more than it may, and until when it is not listened to.
    flooding: Option<Instant>,
    deaf_until: Option<Instant>,
    unknown_told: bool,
    _admitted: Admitted,
}

/// A stream whose client is known.
struct Client<S: Source> {
    client: Arc<S::Client>,
    listed: Listed,
    generations: Generations<S::Client>,
    shared: Arc<Shared<S>>,
}

impl<S: Source> Client<S> {
    /// `None` if building failed.
    async fn obtain(&self, newest: &Newest<S>, query: &Query) -> Result<Option<Arc<ResourceSet>>, Status> {
        if let Some(set) = newest.ready(&self.client, &query.kind, &query.subscription) {
            return Ok(Some(set));
        }
        let permit = self.shared.builders.acquire().await;
        let _permit = permit.map_err(|_| Status::unavailable("the control plane is going down"))?;
        // Whoever was before us may have built just this.
        if let Some(set) = newest.ready(&self.client, &query.kind, &query.subscription) {
            return Ok(Some(set));
        }
        let (newest, known, query) = (newest.clone(), self.client.clone(), query.clone());
        let kind = query.kind.clone();
        let built = spawn_blocking(move || newest.build(&known, &query.kind, &query.subscription)).await;
        let told = built.inspect_err(|error| {
            count(&self.shared.statistics.internal_errors);
            tracing::error!(id = self.listed.entry.id(), %kind, %error, "building resources failed");
        });
        Ok(told.ok())
    }
}

impl<S: Source> Drop for Client<S> {
    fn drop(&mut self) {
        self.shared.source.disconnect(&self.client);
    }
}

type Newest<S> = Arc<dyn Generation<<S as Source>::Client>>;

/// Requests that are read before something is sent. A client that comes back sends one for each type at once, and the answer to
/// the first depends on the others.
const AT_ONCE: usize = 64;

/// A subscription that changes is looked through: so many names are as dear as a request.
const NAMES: f64 = 1_000.0;

impl<S: Source, B: Body<Data = Bytes> + Send + Unpin + 'static> Stream<S, B> {
    pub(crate) fn new(
        shared: Arc<Shared<S>>,
        protocol: Protocol,
        peer: Peer,
        link: Link,
        frames: Frames<B>,
        outbox: Outbox,
        admitted: Admitted,
    ) -> Self {
        let requests =
            Bucket::new(shared.options.requests_per_second, shared.options.request_burst, Instant::now());
        link.opened();
        Self {
            shared,
            protocol,
            peer,
            link,
            frames,
            outbox,
            put: None,
            requests,
            flooding: None,
            deaf_until: None,
            unknown_told: false,
            _admitted: admitted,
        }
    }

    pub(crate) async fn run(mut self) {
        let status = match self.serve().await {
            Ok(()) => Status::ok(""),
            Err(status) => status,
        };
        self.outbox.end(status);
        self.link.closed();
    }

    async fn serve(&mut self) -> Result<(), Status> {
        self.shared.turn().await?;
        let first = tokio::time::timeout(self.shared.options.first_request, self.first_request());
        let (client, first) = match first.await {
            Ok(Ok(Some(first))) => first,
            Ok(Ok(None)) => return Ok(()),
            Ok(Err(status)) => {
                count(&self.shared.statistics.refused);
                tracing::warn!(peer = %self.peer.address, reason = status.message(), "stream refused");
                return Err(status);
            }
            Err(_) => {
                count(&self.shared.statistics.idle);
                tracing::info!(peer = %self.peer.address, "stream without a request closed");
                return Err(Status::deadline_exceeded("no request came"));
            }
        };
        let id = client.listed.entry.id();
        tracing::info!(%id, peer = %self.peer.address, protocol = ?self.protocol, "connected");
        let ended = self.talk(&client, first).await;
        match &ended {
            Ok(()) => tracing::info!(%id, "disconnected"),
            Err(status) if status.code() == Code::Cancelled => tracing::info!(%id, "disconnected"),
            Err(status) => {
                tracing::warn!(%id, code = ?status.code(), reason = status.message(), "stream ended");
            }
        }
        ended
    }

    /// The request that says who it is.
    async fn first_request(&mut self) -> Result<Option<(Client<S>, Request)>, Status> {
        let Some(message) = self.frames.next().await? else { return Ok(None) };
        let mut request = self.read(message)?;
        let node = request.node.take().filter(|node| !node.id.is_empty());
        let node = node.ok_or_else(|| Status::invalid_argument("the first request has no node id"))?;
        if node.id.len() > LONGEST_ID {
            return Err(Status::invalid_argument("the node id is too long"));
        }
        let client = self.shared.source.connect(&node, &self.peer).map_err(refused)?;
        let number = self.shared.numbers.fetch_add(1, Relaxed);
        let session = Session::new(self.protocol, number, &self.shared.options);
        let version = self.shared.source.version(&client);
        let listed =
            self.shared.connections.open(node.id.into(), number, self.peer.address, version, session);
        let generations = self.shared.source.generations();
        Ok(Some((Client { client, listed, generations, shared: self.shared.clone() }, request)))
    }

    async fn talk(&mut self, client: &Client<S>, first: Request) -> Result<(), Status> {
        let entry = &client.listed.entry;
        let mut generations = client.generations.clone();
        self.hear(client, first)?;
        loop {
            for _ in 0..AT_ONCE {
                match self.at_hand().await? {
                    Heeded::Message(message) => self.message(client, message)?,
                    Heeded::Nothing => break,
                    Heeded::End => return Ok(()),
                }
            }
            let newest = generations.borrow_and_update().clone();
            let newest = newest.ok_or_else(|| Status::unavailable("the configuration is gone"))?;
            while self.outbox.is_free() {
                if !self.advance(client, &newest).await? {
                    break;
                }
            }
            if let Some(made) = entry.with(Session::converged) {
                self.shared.statistics.convergence.observe_time(made.elapsed());
            }
            let deadline = self.deadline(entry);
            let full = !self.outbox.is_free();
            tokio::select! {
                biased;
                () = self.link.ending() => return Ok(()),
                message = self.frames.next(), if self.deaf_until.is_none() => match message? {
                    Some(message) => self.message(client, message)?,
                    None => return Ok(()),
                },
                changed = generations.changed() => {
                    changed.map_err(|_| Status::unavailable("the control plane is going down"))?;
                }
                () = self.outbox.freed(), if full => {
                    if self.outbox.is_closed() {
                        return Err(Status::cancelled("the connection is gone"));
                    }
                    if let Some(put) = self.put.take() {
                        self.shared.statistics.send_time.observe_time(put.elapsed());
                    }
                }
                () = sleep_until(deadline.into()) => self.late(entry)?,
            }
        }
    }

    /// Does the next thing to do; false if there is none.
    async fn advance(&mut self, client: &Client<S>, newest: &Newest<S>) -> Result<bool, Status> {
        let entry = &client.listed.entry;
        let started = Instant::now();
        let at = |now| At {
            generation: newest.number(),
            version: newest.version(),
            made: newest.made(),
            control_plane: &self.shared.options.control_plane,
            now,
        };
        let response = match entry.with(|session| session.next(&at(started))) {
            Next::Nothing => return Ok(false),
            Next::Send(response) => Some(response),
            Next::Ask(query) => {
                let Some(set) = client.obtain(newest, &query).await? else {
                    entry.with(|session| session.failed(&query, newest.number()));
                    return Ok(true);
                };
                let response = entry.with(|session| session.answer(&query, set, &at(Instant::now())));
                self.shared.statistics.of(&query.kind).push_time.observe_time(started.elapsed());
                response
            }
        };
        if let Some(response) = response {
            self.send(response);
        }
        Ok(true)
    }

    fn send(&mut self, response: Response) {
        let statistics = self.shared.statistics.of(&response.kind);
        count(&statistics.pushes);
        statistics.resources.fetch_add(response.resources as u64, Relaxed);
        statistics.removals.fetch_add(response.removals as u64, Relaxed);
        statistics.bytes.fetch_add(response.bytes as u64, Relaxed);
        statistics.size.observe(response.bytes as f64);
        // Its answer is not a flood.
        self.requests.give();
        self.put = Some(Instant::now());
        self.outbox.put(response.chunks);
    }

    fn message(&mut self, client: &Client<S>, message: Bytes) -> Result<(), Status> {
        let request = self.read(message)?;
        let now = Instant::now();
        if let Err(wait) = self.requests.take(now) {
            self.deaf_until = Some(now + wait);
            let since = *self.flooding.get_or_insert_with(|| {
                count(&self.shared.statistics.throttled);
                tracing::warn!(id = client.listed.entry.id(), "too many requests, the stream is slowed down");
                now
            });
            if now.duration_since(since) > self.shared.options.flood {
                count(&self.shared.statistics.floods);
                return Err(Status::resource_exhausted("too many requests"));
            }
        } else if self.requests.is_relaxed() {
            self.flooding = None;
        }
        self.hear(client, request)
    }

    fn read(&self, message: Bytes) -> Result<Request, Status> {
        self.shared.statistics.largest_request.fetch_max(message.len() as u64, Relaxed);
        Request::decode(self.protocol, message, &self.shared.options).map_err(|bad| {
            count(&self.shared.statistics.bad_requests);
            let code = match bad {
                BadRequest::Unreadable(_) => Code::InvalidArgument,
                BadRequest::TooManyNames(..) | BadRequest::TooLarge(_) => Code::ResourceExhausted,
            };
            Status::new(code, bad.to_string())
        })
    }

    fn hear(&mut self, client: &Client<S>, request: Request) -> Result<(), Status> {
        let entry = &client.listed.entry;
        let kind = Type::of_url(&request.url);
        if !self.shared.source.serves(&client.client, &kind) {
            count(&self.shared.statistics.unknown_types);
            if !std::mem::replace(&mut self.unknown_told, true) {
                tracing::warn!(id = entry.id(), url = request.url, "a type that is not served is asked for");
            }
            return Ok(());
        }
        let heard = entry.with(|session| session.request(request, SystemTime::now()));
        let Heard { refused, expired, names } = heard.map_err(|violation| {
            count(&self.shared.statistics.bad_requests);
            match violation {
                Violation::TooManyNames(..) | Violation::TooManyTypes(_) => {
                    Status::resource_exhausted(violation.to_string())
                }
            }
        })?;
        self.requests.charge(names as f64 / NAMES);
        if expired {
            count(&self.shared.statistics.expired_nonces);
        }
        if let Some(refusal) = refused {
            count(&self.shared.statistics.of(&kind).rejects);
            tracing::warn!(
                id = entry.id(), %kind, code = refusal.code, text = refusal.text, resources = ?refusal.resources,
                of = refusal.of, "configuration refused"
            );
        }
        Ok(())
    }

    /// What has come already, without waiting.
    async fn at_hand(&mut self) -> Result<Heeded, Status> {
        if self.deaf_until.is_some() {
            return Ok(Heeded::Nothing);
        }
        tokio::select! {
            biased;
            message = self.frames.next() => Ok(message?.map_or(Heeded::End, Heeded::Message)),
            () = std::future::ready(()) => Ok(Heeded::Nothing),
        }
    }

    /// When something is late, at the earliest.
    fn deadline(&self, entry: &Entry) -> Instant {
        let options = &self.shared.options;
        let all = [
            self.deaf_until,
            self.outbox.stuck_since().map(|since| since + options.write_timeout),
            self.frames.large_since().map(|since| since + options.large_request),
            entry.with(|session| session.waiting_since()).map(|since| since + options.ack_timeout),
        ];
        all.into_iter().flatten().min().unwrap_or_else(|| Instant::now() + LONG)
    }

    fn late(&mut self, entry: &Entry) -> Result<(), Status> {
        let (now, options) = (Instant::now(), &self.shared.options);
        let over = |since: Option<Instant>, limit: Duration| since.is_some_and(|since| now >= since + limit);
        if self.deaf_until.is_some_and(|until| now >= until) {
            self.deaf_until = None;
        }
        if over(self.outbox.stuck_since(), options.write_timeout) {
            count(&self.shared.statistics.write_timeouts);
            self.link.cut();
            return Err(Status::deadline_exceeded("the client does not read"));
        }
        if over(self.frames.large_since(), options.large_request) {
            count(&self.shared.statistics.bad_requests);
            return Err(Status::deadline_exceeded("a large request does not end"));
        }
        if over(entry.with(|session| session.waiting_since()), options.ack_timeout) {
            count(&self.shared.statistics.ack_timeouts);
            self.link.cut();
            return Err(Status::deadline_exceeded("the client does not answer"));
        }
        Ok(())
    }
}

enum Heeded {
    Message(Bytes),
    Nothing,
    End,
}

/// When nothing is waited for.
const LONG: Duration = Duration::from_secs(3_600);
const LONGEST_ID: usize = 1_024;

fn refused(refused: Refused) -> Status {
    match refused {
        Refused::Malformed(why) => Status::invalid_argument(why),
        Refused::Forbidden(why) => Status::permission_denied(why),
        Refused::Unavailable(why) => Status::unavailable(why),
    }
}
