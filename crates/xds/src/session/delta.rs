//! A request of the delta protocol.

use std::time::SystemTime;

use super::{Heard, Session, Violation, watch::Watch};
use crate::{kind::Type, names::NameSet, request::Request, subscription::Subscription};

const EVERYTHING: &str = "*";

impl Session {
    /// Names may come and go with any request, an ACK or a NACK too, and also with a nonce that has expired: the client will
    /// not say it twice.
    pub(super) fn delta_request(&mut self, request: Request, now: SystemTime) -> Result<Heard, Violation> {
        let kind = Type::of_url(&request.url);
        if self.place(&kind).is_none() {
            // A nonce here is from another stream and a refusal is of something that we did not send.
            self.delta_start(kind, request)?;
            return Ok(Heard::default());
        }
        let heard = self.acknowledge(&kind, &request.nonce, request.error, now);
        self.delta_subscribe(&kind, &request.names, &request.unsubscribe)?;
        Ok(heard)
    }

    fn delta_start(&mut self, kind: Type, request: Request) -> Result<(), Violation> {
        let names = without_star(&request.names);
        let starred = request.names.iter().any(|name| name == EVERYTHING)
            && !request.unsubscribe.iter().any(|name| name == EVERYTHING);
        // Who never names anything means everything, where the type allows it.
        let implied = request.names.is_empty() && kind.is_wildcard();
        let names = NameSet::default().changed(names, without_star(&request.unsubscribe));
        let subscription = self.checked(Subscription::new(starred || implied, names))?;
        // Endpoints are sent in full to a client that comes back. It may have a cluster that waits for its endpoints
        // to be sent again, and it does not ask for what it already has (Envoy's issue 33607).
        let known = Some(request.known).filter(|known| !known.is_empty() && kind != Type::Endpoints);
        let due = !subscription.is_empty();
        let watch = self.start(Watch::new(kind, subscription))?;
        watch.due = due;
        watch.known = known;
        Ok(())
    }

    fn delta_subscribe(&mut self, kind: &Type, more: &[String], fewer: &[String]) -> Result<(), Violation> {
        if more.is_empty() && fewer.is_empty() {
            return Ok(());
        }
        let Some(watch) = self.watch(kind) else { return Ok(()) };
        let before = &watch.subscription;
        let star = |names: &[String]| names.iter().any(|name| name == EVERYTHING);
        let wildcard = (before.is_wildcard() || star(more)) && !star(fewer);
        let names = before.names().changed(without_star(more), without_star(fewer));
        let subscription = self.checked(Subscription::new(wildcard, names))?;
        let Some(watch) = self.watch_mut(kind) else { return Ok(()) };
        watch.subscription = subscription;
        // What is asked for is sent, even if the client has it or was sent it before: it may have dropped it meanwhile.
        if let Some(known) = &mut watch.known {
            for name in more.iter().chain(fewer) {
                known.remove(name);
            }
        }
        if star(more) && watch.answered.is_wildcard() {
            watch.everything = true;
        }
        for name in without_star(more) {
            let had = watch.sent.as_ref().is_some_and(|sent| sent.get(name).is_some());
            if had || watch.answered.names().contains(name) {
                watch.again.insert(name.into());
            }
        }
        Ok(())
    }
}

fn without_star(names: &[String]) -> impl Iterator<Item = &str> {
    names.iter().map(String::as_str).filter(|name| *name != EVERYTHING)
}
