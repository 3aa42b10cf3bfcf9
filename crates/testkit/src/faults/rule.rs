//! What goes wrong, to which requests, and how often. Pure: a request's verb and path come in, the decision goes
//! out. A rate is counted, never rolled: the same requests meet the same faults in every run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use http::{Method, Uri};

/// What kind of request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Get and list.
    Read,
    /// Create, update, patch, delete; not their dry runs.
    Write,
    Watch,
}

impl Verb {
    pub(super) fn of(method: &Method, uri: &Uri) -> Self {
        let watches = |pair: &str| matches!(pair, "watch" | "watch=1" | "watch=true");
        let query = uri.query().unwrap_or_default();
        // A question that is put as an object, or what only would be done.
        let asks = uri.path().ends_with("accessreviews") || query.split('&').any(|pair| pair == "dryRun=All");
        if asks {
            Self::Read
        } else if *method != Method::GET && *method != Method::HEAD && *method != Method::OPTIONS {
            Self::Write
        } else if query.split('&').any(watches) {
            Self::Watch
        } else {
            Self::Read
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// Waits, then goes on as if nothing was.
    Delay(Duration),
    /// Answers without asking the API server.
    TooManyRequests {
        retry_after: u32,
    },
    InternalError,
    Conflict,
    /// The request reaches the API server and is answered; the answer does not come back.
    LoseAnswer,
    /// The same, and nothing passes any more.
    BreakOff,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    First(u64),
    Only(u64),
    Rate { hits: u64, of: u64 },
}

impl When {
    /// Whether the n-th matching request (from one) is hit.
    fn hits(self, n: u64) -> bool {
        match self {
            Self::Always => true,
            Self::First(count) => n <= count,
            Self::Only(which) => n == which,
            // Spread evenly: the number of hits due grows by one exactly here.
            Self::Rate { hits, of } => n * hits / of > (n - 1) * hits / of,
        }
    }
}

/// One fault. It meets every request unless narrowed: `Fault::conflict().on(Verb::Write).path("leases").next(2)`.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(super) effect: Effect,
    verb: Option<Verb>,
    path: Option<String>,
    /// Whether the path ends with it.
    last: bool,
    when: When,
}

impl Fault {
    fn new(effect: Effect) -> Self {
        Self { effect, verb: None, path: None, last: false, when: When::Always }
    }

    /// Every answer comes later.
    pub fn delay(by: Duration) -> Self {
        Self::new(Effect::Delay(by))
    }

    /// 429, with the seconds after which to try again.
    pub fn too_many_requests(retry_after: u32) -> Self {
        Self::new(Effect::TooManyRequests { retry_after })
    }

    /// 500.
    pub fn internal_error() -> Self {
        Self::new(Effect::InternalError)
    }

    /// 409, as after a lost race.
    pub fn conflict() -> Self {
        Self::new(Effect::Conflict)
    }

    /// The API server does what was asked, and the connection is cut instead of the answer.
    pub fn lose_answer() -> Self {
        Self::new(Effect::LoseAnswer)
    }

    /// The API server does what was asked; then everything is cut, until all faults are taken away.
    pub fn break_off() -> Self {
        Self::new(Effect::BreakOff)
    }

    /// Only this kind of request.
    #[must_use]
    pub fn on(mut self, verb: Verb) -> Self {
        self.verb = Some(verb);
        self
    }

    /// Only requests whose path has these segments: `configmaps`, `namespaces/x/pods`, `pods/web-0/status`.
    #[must_use]
    pub fn path(mut self, segments: &str) -> Self {
        self.path = Some(format!("/{}/", segments.trim_matches('/')));
        self
    }

    /// And only those whose path ends with them: lists, where they name a kind.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// The next n matching requests, then no more.
    #[must_use]
    pub fn next(mut self, count: u64) -> Self {
        self.when = When::First(count);
        self
    }

    /// The n-th matching request from now on (the first is 1), and no other.
    #[must_use]
    pub fn nth(mut self, which: u64) -> Self {
        self.when = When::Only(which);
        self
    }

    /// So many of so many matching requests, spread evenly.
    #[must_use]
    pub fn rate(mut self, hits: u64, of: u64) -> Self {
        self.when = When::Rate { hits, of: of.max(1) };
        self
    }
}

/// A fault that was put in place.
#[derive(Clone, Debug)]
pub struct Injected(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    fault: Fault,
    matched: AtomicU64,
    hits: AtomicU64,
}

impl Injected {
    pub(super) fn new(fault: Fault) -> Self {
        Self(Arc::new(Counted { fault, matched: AtomicU64::new(0), hits: AtomicU64::new(0) }))
    }

    /// How many requests it has met. A test that asks for a fault asserts that it was met.
    pub fn hits(&self) -> u64 {
        self.0.hits.load(Ordering::SeqCst)
    }

    /// What happens to this request, if anything. Counts.
    pub(super) fn meets(&self, verb: Verb, path: &str) -> Option<Effect> {
        let Counted { fault, matched, hits } = &*self.0;
        let path = format!("{path}/");
        let is_there =
            |segments: &String| if fault.last { path.ends_with(segments) } else { path.contains(segments) };
        let matches = fault.verb.is_none_or(|only| only == verb) && fault.path.as_ref().is_none_or(is_there);
        if !matches || !fault.when.hits(matched.fetch_add(1, Ordering::SeqCst) + 1) {
            return None;
        }
        hits.fetch_add(1, Ordering::SeqCst);
        Some(fault.effect.clone())
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Injected, Verb};
    use http::Method;

    /// Which of the first ten requests are hit.
    fn hit(fault: Fault) -> Vec<u64> {
        let fault = Injected::new(fault);
        (1..=10).filter(|_| fault.meets(Verb::Read, "/api/v1/pods").is_some()).collect()
    }

    #[test]
    fn a_fault_meets_as_many_requests_as_it_says() {
        assert_eq!(hit(Fault::internal_error().next(3)), [1, 2, 3]);
        assert_eq!(hit(Fault::internal_error().nth(4)), [4]);
        assert_eq!(hit(Fault::internal_error().rate(3, 10)), [4, 7, 10]);
        assert_eq!(hit(Fault::internal_error().rate(1, 2)), [2, 4, 6, 8, 10]);
        assert_eq!(hit(Fault::internal_error().rate(1, 1)).len(), 10);
        assert_eq!(hit(Fault::internal_error()).len(), 10);
    }

    #[test]
    fn a_fault_meets_only_its_verb_and_its_path() {
        let path = "/api/v1/namespaces/one/configmaps/a";
        let meets = |fault: Fault| Injected::new(fault.on(Verb::Write)).meets(Verb::Write, path).is_some();
        assert!(meets(Fault::conflict().path("configmaps")));
        assert!(meets(Fault::conflict().path("namespaces/one/configmaps/a")));
        assert!(meets(Fault::conflict().path("/configmaps/a/")));
        assert!(!meets(Fault::conflict().path("configmap")));
        assert!(!meets(Fault::conflict().path("namespaces/two")));
        assert!(meets(Fault::conflict().path("configmaps/a").last()));
        assert!(!meets(Fault::conflict().path("configmaps").last()));
        assert!(Injected::new(Fault::conflict().on(Verb::Read)).meets(Verb::Write, path).is_none());
    }

    #[test]
    fn a_request_is_a_read_a_write_or_a_watch() {
        let verb = |method: Method, uri: &str| Verb::of(&method, &uri.parse().unwrap());
        assert_eq!(verb(Method::GET, "/api/v1/pods"), Verb::Read);
        assert_eq!(verb(Method::GET, "/api/v1/pods?limit=500&watch=true"), Verb::Watch);
        assert_eq!(verb(Method::GET, "/api/v1/pods?watch=false"), Verb::Read);
        assert_eq!(verb(Method::PATCH, "/api/v1/pods?watch=true"), Verb::Write);
        assert_eq!(verb(Method::DELETE, "/api/v1/pods"), Verb::Write);
    }
}
