//! Each rule of the protocol, one by one.

use std::{collections::HashMap, time::Instant};

use super::{
    Protocol, Violation,
    harness::{Talk, ack, ask, nack, unsubscribe},
};
use crate::{
    kind::Type::{self, Cluster, Endpoints, Extension, Listener, Route},
    options::Options,
    request::Request,
};

const NO_ONE: [&str; 0] = [];

fn talk(protocol: Protocol, resources: &[(Type, &str)]) -> Talk {
    let mut talk = Talk::new(protocol);
    for (kind, name) in resources {
        talk.world.put(kind, name, Some("1"));
    }
    talk
}

fn delta(resources: &[(Type, &str)]) -> Talk {
    talk(Protocol::Delta, resources)
}

fn state(resources: &[(Type, &str)]) -> Talk {
    talk(Protocol::StateOfTheWorld, resources)
}

/// The version that the client was sent.
fn version(talk: &mut Talk, kind: &Type, name: &str) -> String {
    let mut other = Talk::new(Protocol::Delta);
    other.world.kinds = talk.world.kinds.clone();
    other.request(ask(kind, &[name]));
    other.responses()[0].changed[0].1.clone()
}

// First requests

#[test]
fn a_first_request_is_answered_even_if_there_is_nothing() {
    for protocol in [Protocol::Delta, Protocol::StateOfTheWorld] {
        let mut talk = talk(protocol, &[]);
        talk.request(ask(&Cluster, &[]));
        assert_eq!(talk.briefly(), ["cds +"]);
        assert_eq!(talk.briefly(), NO_ONE);
    }
}

#[test]
fn a_first_request_without_names_means_all_clusters_but_no_routes() {
    let mut talk = delta(&[(Cluster, "a"), (Cluster, "b"), (Route, "r")]);
    talk.request(ask(&Cluster, &[]));
    talk.request(ask(&Route, &[]));
    assert_eq!(talk.briefly(), ["cds +a,b"]);
}

#[test]
fn a_star_means_everything_until_it_is_taken_back() {
    let mut talk = delta(&[(Cluster, "a"), (Cluster, "b")]);
    talk.request(ask(&Cluster, &["*", "b"]));
    assert_eq!(talk.settle(), ["cds +a,b"]);
    talk.request(unsubscribe(&Cluster, &["*"]));
    talk.world.put(&Cluster, "a", Some("2"));
    assert_eq!(talk.settle(), NO_ONE);
    talk.world.put(&Cluster, "b", Some("2"));
    assert_eq!(talk.settle(), ["cds +b"]);
}

#[test]
fn a_client_that_takes_the_star_back_at_once_wants_nothing_yet() {
    let mut talk = delta(&[(Cluster, "a")]);
    talk.request(Request { unsubscribe: vec!["*".to_owned()], ..ask(&Cluster, &["*"]) });
    assert_eq!(talk.settle(), NO_ONE);
    talk.request(ask(&Cluster, &["a"]));
    assert_eq!(talk.settle(), ["cds +a"]);
}

#[test]
fn a_state_client_that_names_clusters_is_sent_those() {
    let mut talk = state(&[(Cluster, "a"), (Cluster, "b")]);
    talk.request(ask(&Cluster, &["b"]));
    let told = talk.responses();
    assert_eq!(told[0].brief(), "cds +b");
    let names = vec!["*".to_owned()];
    talk.request(Request { names, ..ack(&told[0]) });
    assert_eq!(talk.briefly(), ["cds +a,b"]);
}

// Changes

#[test]
fn a_delta_client_is_sent_exactly_the_difference() {
    let mut talk = delta(&[(Cluster, "a"), (Cluster, "b"), (Cluster, "c")]);
    talk.request(ask(&Cluster, &[]));
    talk.settle();
    talk.world.put(&Cluster, "b", Some("2"));
    assert_eq!(talk.settle(), ["cds +b"]);
    talk.world.put(&Cluster, "b", None);
    assert_eq!(talk.settle(), ["cds + -b"]);
    talk.world.put(&Listener, "unrelated", Some("1"));
    assert_eq!(talk.settle(), NO_ONE);
}

#[test]
fn a_state_client_is_sent_all_clusters_but_only_the_changed_routes() {
    let mut talk = state(&[(Cluster, "a"), (Cluster, "b"), (Route, "r"), (Route, "s")]);
    talk.request(ask(&Cluster, &[]));
    talk.request(ask(&Route, &["r", "s"]));
    let told = talk.responses();
    talk.request(ack(&told[0]));
    let told = talk.responses();
    talk.request(Request { names: vec!["r".to_owned(), "s".to_owned()], ..ack(&told[0]) });
    talk.world.put(&Cluster, "b", Some("2"));
    talk.world.put(&Route, "s", Some("2"));
    assert_eq!(talk.briefly(), ["cds +a,b", "rds +s"]);
}

#[test]
fn one_response_of_a_type_is_on_its_way_and_then_the_newest_follows() {
    let mut talk = delta(&[(Cluster, "a")]);
    talk.request(ask(&Cluster, &[]));
    let told = talk.responses();
    for value in ["2", "3", "4"] {
        talk.world.put(&Cluster, "a", Some(value));
        assert_eq!(talk.briefly(), NO_ONE);
    }
    talk.request(ack(&told[0]));
    let told = talk.responses();
    assert_eq!(told[0].changed[0].2, "4");
}

// Nonces

#[test]
fn a_stale_nonce_is_counted_and_not_an_answer() {
    for protocol in [Protocol::Delta, Protocol::StateOfTheWorld] {
        let mut talk = talk(protocol, &[(Cluster, "a")]);
        talk.request(ask(&Cluster, &[]));
        let first = talk.responses().remove(0);
        assert!(!talk.request(ack(&first)).expired);
        talk.world.put(&Cluster, "a", Some("2"));
        let second = talk.responses().remove(0);
        assert!(talk.request(ack(&first)).expired);
        talk.world.put(&Cluster, "a", Some("3"));
        assert_eq!(talk.briefly(), NO_ONE, "the second was not answered");
        assert!(!talk.request(ack(&second)).expired);
        assert_eq!(talk.briefly(), ["cds +a"]);
    }
}

#[test]
fn names_in_a_delta_request_count_even_if_its_nonce_is_stale() {
    let mut talk = delta(&[(Route, "r"), (Route, "s")]);
    talk.request(ask(&Route, &["r"]));
    talk.settle();
    let heard = talk.request(Request { nonce: "stale".to_owned(), ..ask(&Route, &["s"]) });
    assert!(heard.expired);
    assert_eq!(talk.settle(), ["rds +s"]);
}

#[test]
fn a_nonce_from_another_stream_starts_anew() {
    let mut talk = state(&[(Cluster, "a")]);
    talk.request(Request { nonce: "of another".to_owned(), ..ask(&Cluster, &[]) });
    assert_eq!(talk.briefly(), ["cds +a"]);
}

// Subscriptions

#[test]
fn new_names_are_answered_with_the_new_ones() {
    let mut talk = delta(&[(Route, "r"), (Route, "s")]);
    talk.request(ask(&Route, &["r"]));
    assert_eq!(talk.settle(), ["rds +r"]);
    talk.request(ask(&Route, &["s"]));
    assert_eq!(talk.settle(), ["rds +s"]);

    let mut talk = state(&[(Route, "r"), (Route, "s")]);
    talk.request(ask(&Route, &["r"]));
    let told = talk.responses();
    talk.request(Request { names: vec!["r".to_owned(), "s".to_owned()], ..ack(&told[0]) });
    assert_eq!(talk.briefly(), ["rds +s"]);
}

#[test]
fn names_may_come_with_an_ack() {
    let mut talk = delta(&[(Route, "r"), (Route, "s")]);
    talk.request(ask(&Route, &["r"]));
    let told = talk.responses();
    talk.request(Request { names: vec!["s".to_owned()], ..ack(&told[0]) });
    assert_eq!(talk.briefly(), ["rds +s"]);
}

#[test]
fn a_name_that_does_not_exist_is_told_as_removed_and_sent_when_it_does() {
    let mut talk = delta(&[(Route, "r")]);
    talk.request(ask(&Route, &["r", "x"]));
    assert_eq!(talk.settle(), ["rds +r -x"]);
    talk.world.put(&Route, "x", Some("1"));
    assert_eq!(talk.settle(), ["rds +x"]);
    talk.world.put(&Route, "x", None);
    assert_eq!(talk.settle(), ["rds + -x"]);
}

#[test]
fn a_name_that_is_asked_for_again_is_sent_again() {
    let mut talk = delta(&[(Route, "r"), (Route, "s")]);
    talk.request(ask(&Route, &["r", "s"]));
    let told = talk.responses();
    // While the response is on its way the client drops it and wants it back.
    talk.request(unsubscribe(&Route, &["r"]));
    talk.request(ask(&Route, &["r"]));
    talk.request(ack(&told[0]));
    assert_eq!(talk.settle(), ["rds +r"]);
    talk.request(ask(&Route, &["s"]));
    assert_eq!(talk.settle(), ["rds +s"]);
}

#[test]
fn a_name_that_a_state_client_dropped_and_wants_again_is_sent_again() {
    let mut talk = state(&[(Route, "r"), (Route, "s")]);
    talk.request(ask(&Route, &["r", "s"]));
    let told = talk.responses();
    for names in [vec!["r"], vec!["r", "s"]] {
        let names = names.into_iter().map(str::to_owned).collect();
        talk.request(Request { names, ..ack(&told[0]) });
    }
    assert_eq!(talk.briefly(), ["rds +s"]);
}

#[test]
fn what_a_late_state_request_does_not_name_is_sent_again_if_it_is_wanted_again() {
    let mut talk = state(&[(Route, "r"), (Route, "s")]);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    talk.request(ask(&Route, &["r", "s"]));
    let first = talk.responses().remove(0);
    talk.request(Request { names: names(&["r", "s"]), ..ack(&first) });
    talk.world.put(&Route, "r", Some("2"));
    let second = talk.responses().remove(0);
    assert_eq!(second.brief(), "rds +r");
    // Written before the second response arrived.
    assert!(talk.request(Request { names: names(&["r"]), ..ack(&first) }).expired);
    talk.request(Request { names: names(&["r", "s"]), ..ack(&second) });
    assert_eq!(talk.briefly(), ["rds +s"]);
}

#[test]
fn unsubscribing_is_not_answered() {
    let mut talk = delta(&[(Route, "r"), (Route, "s")]);
    talk.request(ask(&Route, &["r", "s"]));
    talk.settle();
    talk.request(unsubscribe(&Route, &["r"]));
    assert_eq!(talk.settle(), NO_ONE);
    talk.world.put(&Route, "r", Some("2"));
    assert_eq!(talk.settle(), NO_ONE);
}

#[test]
fn a_state_request_for_no_routes_ends_the_subscription() {
    let mut talk = state(&[(Route, "r")]);
    talk.request(ask(&Route, &["r"]));
    let told = talk.responses();
    talk.request(ack(&told[0]));
    talk.world.put(&Route, "r", Some("2"));
    assert_eq!(talk.briefly(), NO_ONE);
    assert!(talk.session.watched().is_empty());
    talk.request(ask(&Route, &["r"]));
    assert_eq!(talk.briefly(), ["rds +r"]);
}

#[test]
fn extensions_are_never_told_as_removed() {
    let mut talk = delta(&[(Extension, "wasm")]);
    talk.request(ask(&Extension, &["wasm"]));
    talk.settle();
    talk.world.put(&Extension, "wasm", None);
    assert_eq!(talk.settle(), NO_ONE);
}

// Reconnects

#[test]
fn a_delta_client_that_comes_back_is_sent_the_difference() {
    let mut talk = delta(&[(Cluster, "a"), (Cluster, "b")]);
    let known = HashMap::from([
        ("a".to_owned(), version(&mut talk, &Cluster, "a")),
        ("b".to_owned(), "an older one".to_owned()),
        ("gone".to_owned(), "an older one".to_owned()),
    ]);
    talk.request(Request { known, ..ask(&Cluster, &[]) });
    assert_eq!(talk.settle(), ["cds +b -gone"]);
}

#[test]
fn a_delta_client_that_comes_back_up_to_date_is_answered_with_nothing() {
    let mut talk = delta(&[(Cluster, "a")]);
    let known = HashMap::from([("a".to_owned(), version(&mut talk, &Cluster, "a"))]);
    talk.request(Request { known, ..ask(&Cluster, &[]) });
    assert_eq!(talk.settle(), ["cds +"]);
}

#[test]
fn what_a_client_that_came_back_drops_and_wants_again_is_sent() {
    let mut talk = delta(&[(Route, "r"), (Route, "s")]);
    let known = ["r", "s"].map(|name| (name.to_owned(), version(&mut talk, &Route, name)));
    talk.request(Request { known: HashMap::from(known), ..ask(&Route, &["r", "s"]) });
    talk.request(unsubscribe(&Route, &["r"]));
    talk.request(ask(&Route, &["r"]));
    assert_eq!(talk.settle(), ["rds +r"]);
}

#[test]
fn endpoints_are_sent_in_full_to_a_client_that_comes_back() {
    let mut talk = delta(&[(Endpoints, "a")]);
    let known = HashMap::from([("a".to_owned(), version(&mut talk, &Endpoints, "a"))]);
    talk.request(Request { known, ..ask(&Endpoints, &["a"]) });
    assert_eq!(talk.settle(), ["eds +a"]);
}

#[test]
fn a_state_client_that_asks_for_clusters_anew_is_sent_endpoints_again() {
    let mut talk = state(&[(Cluster, "a"), (Endpoints, "a")]);
    talk.request(ask(&Endpoints, &["a"]));
    let told = talk.responses();
    talk.request(Request { names: vec!["a".to_owned()], ..ack(&told[0]) });
    talk.request(ask(&Cluster, &[]));
    assert_eq!(talk.briefly(), ["cds +a", "eds +a"]);
}

// Warming

#[test]
fn endpoints_of_a_cluster_that_changed_are_sent_again() {
    for protocol in [Protocol::Delta, Protocol::StateOfTheWorld] {
        let mut talk = talk(protocol, &[(Cluster, "a"), (Cluster, "b"), (Endpoints, "a"), (Endpoints, "b")]);
        talk.request(ask(&Cluster, &[]));
        let told = talk.responses();
        talk.request(ack(&told[0]));
        talk.request(ask(&Endpoints, &["a", "b"]));
        let told = talk.responses();
        let names = vec!["a".to_owned(), "b".to_owned()];
        talk.request(match protocol {
            Protocol::Delta => ack(&told[0]),
            Protocol::StateOfTheWorld => Request { names, ..ack(&told[0]) },
        });
        talk.world.put(&Cluster, "b", Some("2"));
        let briefly = talk.briefly();
        assert_eq!(briefly[1], "eds +b", "{briefly:?}");
    }
}

// Order

/// A client that has all of `a`.
fn connected(protocol: Protocol) -> Talk {
    let all = [(Cluster, "a"), (Endpoints, "a"), (Listener, "a"), (Route, "a")];
    let mut talk = talk(protocol, &all);
    for (kind, name) in &all {
        talk.request(ask(kind, if kind.is_wildcard() { &[] } else { std::slice::from_ref(name) }));
    }
    talk.settle();
    talk
}

#[test]
fn a_generation_is_sent_clusters_first() {
    let mut talk = connected(Protocol::Delta);
    talk.world.change(|kinds| {
        for resources in kinds.values_mut() {
            resources.insert("a".to_owned(), "2".to_owned());
        }
    });
    assert_eq!(talk.briefly(), ["cds +a", "eds +a", "lds +a", "rds +a"]);
}

#[test]
fn listeners_wait_until_new_clusters_are_there_and_their_endpoints_sent() {
    let mut talk = connected(Protocol::Delta);
    talk.world.change(|kinds| {
        for resources in kinds.values_mut() {
            resources.insert("b".to_owned(), "1".to_owned());
        }
    });
    let told = talk.responses();
    assert_eq!(told[0].brief(), "cds +b");
    assert_eq!(told.len(), 1);
    talk.request(ask(&Endpoints, &["b"]));
    talk.request(ack(&told[0]));
    assert_eq!(talk.briefly(), ["eds +b", "lds +b"]);
}

#[test]
fn a_refused_cluster_does_not_hold_listeners_back_for_ever() {
    let mut talk = connected(Protocol::Delta);
    talk.world.put(&Cluster, "b", Some("1"));
    talk.world.put(&Listener, "b", Some("1"));
    let told = talk.responses();
    assert_eq!(told.len(), 1);
    talk.request(nack(&told[0], "no such extension"));
    assert_eq!(talk.briefly(), ["lds +b"]);
}

#[test]
fn a_cluster_is_removed_when_the_listeners_without_it_are_accepted() {
    for refused in [false, true] {
        let mut talk = connected(Protocol::Delta);
        talk.world.change(|kinds| {
            kinds.entry(Cluster).or_default().remove("a");
            kinds.entry(Listener).or_default().insert("a".to_owned(), "without it".to_owned());
        });
        let told = talk.responses();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].brief(), "lds +a");
        talk.request(if refused { nack(&told[0], "no") } else { ack(&told[0]) });
        assert_eq!(talk.briefly(), ["cds + -a"]);
    }
}

#[test]
fn a_cluster_that_nothing_refers_to_is_removed_at_once() {
    let mut talk = connected(Protocol::Delta);
    talk.world.put(&Cluster, "a", None);
    assert_eq!(talk.briefly(), ["cds + -a"]);
}

#[test]
fn a_cluster_is_removed_also_for_a_client_that_has_just_dropped_its_routes() {
    let mut talk = connected(Protocol::Delta);
    talk.request(unsubscribe(&Route, &["a"]));
    talk.world.put(&Cluster, "a", None);
    assert_eq!(talk.briefly(), ["cds + -a"]);
}

#[test]
fn a_cluster_that_comes_back_before_it_was_removed_stays() {
    let mut talk = connected(Protocol::Delta);
    talk.world.change(|kinds| {
        kinds.entry(Cluster).or_default().remove("a");
        kinds.entry(Listener).or_default().insert("a".to_owned(), "2".to_owned());
    });
    let told = talk.responses();
    talk.world.put(&Cluster, "a", Some("1"));
    talk.request(ack(&told[0]));
    let all = talk.settle();
    assert!(all.iter().all(|brief| !brief.contains("-a")), "{all:?}");
}

#[test]
fn a_state_client_keeps_the_cluster_until_the_listeners_are_accepted() {
    let mut talk = state(&[(Cluster, "a"), (Cluster, "b"), (Listener, "a")]);
    talk.request(ask(&Cluster, &[]));
    talk.request(ask(&Listener, &[]));
    talk.settle();
    talk.world.change(|kinds| {
        let clusters = kinds.entry(Cluster).or_default();
        clusters.remove("a");
        clusters.insert("b".to_owned(), "2".to_owned());
        kinds.entry(Listener).or_default().insert("a".to_owned(), "2".to_owned());
    });
    let told = talk.responses();
    let briefs: Vec<_> = told.iter().map(|told| told.brief()).collect();
    assert_eq!(briefs, ["cds +b,a", "lds +a"]);
    talk.request(ack(&told[0]));
    assert_eq!(talk.briefly(), NO_ONE);
    talk.request(ack(&told[1]));
    assert_eq!(talk.briefly(), ["cds +b"]);
}

#[test]
fn a_client_with_much_on_its_way_is_not_sent_more() {
    let mut talk = Talk::with(Protocol::Delta, Options { in_flight_bytes: 10, ..Options::default() });
    talk.world.put(&Route, "r", Some("1"));
    talk.world.put(&Extension, "x", Some("1"));
    talk.request(ask(&Route, &["r"]));
    talk.request(ask(&Extension, &["x"]));
    let told = talk.responses();
    assert_eq!(told.len(), 1);
    talk.request(ack(&told[0]));
    assert_eq!(talk.briefly(), ["ecds +x"]);
}

// Refusals

#[test]
fn a_refusal_is_kept_with_its_reason_and_not_answered() {
    for protocol in [Protocol::Delta, Protocol::StateOfTheWorld] {
        let mut talk = talk(protocol, &[(Cluster, "a")]);
        talk.request(ask(&Cluster, &[]));
        let told = talk.responses();
        let heard = talk.request(nack(&told[0], "unknown filter"));
        assert_eq!(heard.refused.unwrap().text, "unknown filter");
        assert_eq!(talk.briefly(), NO_ONE);
        let watched = &talk.session.watched()[0];
        let refusal = watched.refusal.clone().unwrap();
        assert_eq!((refusal.code, &*refusal.nonce), (13, &*told[0].nonce));
        assert_eq!(*refusal.resources[0], *"a");
        assert_ne!(watched.nonce_acked, watched.nonce_sent);

        talk.world.put(&Cluster, "a", Some("2"));
        talk.settle();
        assert_eq!(talk.session.watched()[0].refusal, None);
    }
}

#[test]
fn a_refused_response_is_halved_until_the_culprit_is_known() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut talk = delta(&names.map(|name| (Route, name)));
    talk.request(ask(&Route, &names));
    let mut accepted = Vec::new();
    while let Some(told) = talk.responses().pop() {
        if told.names().contains(&"f") {
            talk.request(nack(&told, "bad f"));
        } else {
            accepted.extend(told.names().into_iter().map(str::to_owned));
            talk.request(ack(&told));
        }
    }
    accepted.sort();
    assert_eq!(accepted, ["a", "b", "c", "d", "e", "g", "h"]);
    let refusal = || talk.session.watched()[0].refusal.clone();
    assert_eq!((refusal().unwrap().of, &*refusal().unwrap().resources[0]), (1, "f"));

    talk.world.put(&Route, "a", Some("2"));
    assert_eq!(talk.settle(), ["rds +a"]);
    assert!(talk.session.watched()[0].refusal.is_some(), "f is what it was");
    talk.world.put(&Route, "f", Some("2"));
    assert_eq!(talk.settle(), ["rds +f"]);
    assert!(talk.session.watched()[0].refusal.is_none());
}

#[test]
fn a_client_that_refuses_everything_is_not_asked_for_ever() {
    let names: Vec<String> = (0..1_000).map(|number| format!("r{number:04}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut talk = Talk::new(Protocol::Delta);
    for name in &names {
        talk.world.put(&Route, name, Some("1"));
    }
    talk.request(ask(&Route, &names));
    let mut responses = 0;
    while let Some(told) = talk.responses().pop() {
        responses += 1;
        talk.request(nack(&told, "no"));
    }
    assert!((2..200).contains(&responses), "{responses}");
}

#[test]
fn a_state_client_that_refuses_one_route_is_sent_the_others() {
    let names = ["r", "s", "t"].map(str::to_owned).to_vec();
    let mut talk = state(&[(Route, "r"), (Route, "s"), (Route, "t")]);
    talk.request(ask(&Route, &["r", "s", "t"]));
    let mut accepted = Vec::new();
    while let Some(told) = talk.responses().pop() {
        let bad = told.names().contains(&"s");
        accepted.extend(told.names().into_iter().filter(|_| !bad).map(str::to_owned));
        let answer = if bad { nack(&told, "bad s") } else { ack(&told) };
        talk.request(Request { names: names.clone(), ..answer });
    }
    assert_eq!(accepted, ["r", "t"]);
    assert_eq!(*talk.session.watched()[0].refusal.clone().unwrap().resources[0], *"s");
}

// Bounds

#[test]
fn too_many_names_or_types_are_refused() {
    let mut talk = Talk::with(Protocol::Delta, Options { max_names: 2, max_types: 1, ..Options::default() });
    talk.request(ask(&Route, &["a", "b"]));
    assert_eq!(talk.try_request(ask(&Route, &["c"])).unwrap_err(), Violation::TooManyNames(3, 2));
    assert_eq!(talk.try_request(ask(&Cluster, &[])).unwrap_err(), Violation::TooManyTypes(1));
}

#[test]
fn a_stream_has_converged_when_the_last_response_is_answered() {
    let mut talk = connected(Protocol::Delta);
    assert_eq!(talk.session.converged(), None, "a first answer is no push");
    let before = Instant::now();
    talk.world.put(&Cluster, "a", Some("2"));
    let told = talk.responses();
    assert_eq!(talk.session.converged(), None);
    for told in &told {
        talk.request(ack(told));
    }
    assert!(talk.session.converged().is_some_and(|made| made >= before));
    assert_eq!(talk.session.converged(), None);
}
