//! A request of the state of the world protocol.

use std::{collections::HashSet, time::SystemTime};

use super::{Heard, Session, Violation, watch::Watch};
use crate::{kind::Type, request::Request, subscription::Subscription};

const EVERYTHING: &str = "*";

impl Session {
    pub(super) fn state_request(&mut self, request: Request, now: SystemTime) -> Result<Heard, Violation> {
        let kind = Type::of_url(&request.url);
        let refused = request.error.is_some();
        if request.names.is_empty() && !kind.is_wildcard() && !refused {
            // Wanted no more. Asked for again it is a first request.
            if let Some(place) = self.place(&kind) {
                self.watches.remove(place);
            }
            return Ok(Heard::default());
        }
        let known = self.watch(&kind);
        let wildcard = request.names.iter().any(|name| name == EVERYTHING)
            || (request.names.is_empty()
                && kind.is_wildcard()
                && known.is_none_or(|watch| watch.subscription.is_wildcard()));
        let names = request.names.iter().filter(|name| *name != EVERYTHING);
        let Some(watch) = known else {
            let watch = Watch::new(kind, self.checked(state_subscription(wildcard, names))?);
            return self.state_start(watch);
        };
        if request.nonce.is_empty() && !refused {
            let watch = Watch::new(kind, self.checked(state_subscription(wildcard, names))?);
            return self.state_start(watch);
        }
        if !request.nonce.is_empty() && request.nonce != self.nonce(watch.nonce_sent) {
            self.state_dropped(&kind, &request.names);
            return Ok(Heard { expired: true, ..Heard::default() });
        }
        let heard = self.acknowledge(&kind, &request.nonce, request.error, now);
        let subscription = self.checked(state_subscription(wildcard, names))?;
        if let Some(watch) = self.watch_mut(&kind) {
            // Dropped by one request and wanted again by the next, with nothing sent in between: the client has it no more.
            let names = subscription.names().iter();
            let back = names.filter(|name| {
                !watch.subscription.names().contains(name) && watch.answered.names().contains(name)
            });
            watch.again.extend(back.cloned());
            watch.subscription = subscription;
        }
        Ok(heard)
    }

    /// A request that came too late is not an answer, but what it does not name the client had dropped when it wrote it. If it
    /// wants that again in the request that counts, nobody else remembers.
    fn state_dropped(&mut self, kind: &Type, names: &[String]) {
        let Some(watch) = self.watch_mut(kind).filter(|watch| !watch.subscription.is_wildcard()) else {
            return;
        };
        let names: HashSet<&str> = names.iter().map(String::as_str).collect();
        let dropped = watch.answered.names().iter().filter(|name| !names.contains(&***name));
        watch.again.extend(dropped.cloned());
    }

    fn state_start(&mut self, mut watch: Watch) -> Result<Heard, Violation> {
        watch.due = true;
        if watch.kind == Type::Cluster
            && let Some(endpoints) = self.watch_mut(&Type::Endpoints)
        {
            // The clusters that it will be sent wait for endpoints, and it may have asked for them already.
            endpoints.everything = true;
        }
        self.start(watch)?;
        Ok(Heard::default())
    }
}

fn state_subscription<'a>(wildcard: bool, names: impl Iterator<Item = &'a String>) -> Subscription {
    Subscription::new(wildcard, crate::names::NameSet::new(names))
}
