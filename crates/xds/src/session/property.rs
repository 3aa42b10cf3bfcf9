//! Whatever happens in whatever order, a client ends with what the newest generation says.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{
    Protocol,
    harness::{BAD, Client, Takes, Talk, Wants},
};
use crate::kind::Type;

const KINDS: [Type; 4] = [Type::Cluster, Type::Endpoints, Type::Listener, Type::Route];
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const VALUES: [&str; 4] = ["1", "2", "3", BAD];

#[derive(Clone, Debug)]
enum Event {
    /// One generation with these changes; no value removes.
    Change(Vec<(usize, usize, Option<usize>)>),
    Subscribe(usize, usize),
    Unsubscribe(usize, usize),
    /// The client takes what has come.
    Take,
    /// One request arrives at the server.
    Flush,
    /// The server sends what it can.
    Send,
    Reconnect,
    Settle,
}

fn event() -> impl Strategy<Value = Event> {
    let change = (0..KINDS.len(), 0..NAMES.len(), proptest::option::weighted(0.7, 0..VALUES.len()));
    prop_oneof![
        4 => proptest::collection::vec(change, 1..4).prop_map(Event::Change),
        2 => (0..KINDS.len(), 0..NAMES.len()).prop_map(|(kind, name)| Event::Subscribe(kind, name)),
        1 => (0..KINDS.len(), 0..NAMES.len()).prop_map(|(kind, name)| Event::Unsubscribe(kind, name)),
        4 => Just(Event::Take),
        4 => Just(Event::Flush),
        4 => Just(Event::Send),
        1 => Just(Event::Reconnect),
        1 => Just(Event::Settle),
    ]
}

fn takes() -> impl Strategy<Value = Takes> {
    prop_oneof![Just(Takes::Nothing), Just(Takes::UpToTheBad), Just(Takes::TheGood)]
}

fn wants() -> BTreeMap<Type, Wants> {
    let wants = |kind: &Type| match kind.is_wildcard() {
        true => Wants { everything: true, names: BTreeSet::new() },
        false => {
            Wants { everything: false, names: NAMES[..2].iter().map(|name| (*name).to_owned()).collect() }
        }
    };
    KINDS.iter().map(|kind| (kind.clone(), wants(kind))).collect()
}

fn play(protocol: Protocol, takes: Takes, events: &[Event]) -> (Talk, Client) {
    let mut talk = Talk::new(protocol);
    let mut client = Client::new(protocol, takes, wants());
    for event in events {
        match event {
            Event::Change(changes) => talk.world.change(|kinds| {
                for (kind, name, value) in changes {
                    let resources = kinds.entry(KINDS[*kind].clone()).or_default();
                    match value {
                        Some(value) => resources.insert(NAMES[*name].to_owned(), VALUES[*value].to_owned()),
                        None => resources.remove(NAMES[*name]),
                    };
                }
            }),
            // Everything stays everything: that names make it less is told by other tests.
            Event::Subscribe(kind, name) if !KINDS[*kind].is_wildcard() => {
                client.subscribe(&KINDS[*kind], NAMES[*name]);
            }
            Event::Unsubscribe(kind, name) if !KINDS[*kind].is_wildcard() => {
                client.unsubscribe(&KINDS[*kind], NAMES[*name]);
            }
            Event::Subscribe(..) | Event::Unsubscribe(..) => {}
            Event::Take => {
                client.take();
            }
            Event::Flush => {
                client.flush(&mut talk);
            }
            Event::Send => {
                let responses = talk.responses();
                client.incoming.extend(responses);
            }
            Event::Reconnect => {
                talk.reconnect();
                client.connect();
            }
            Event::Settle => client.settle(&mut talk),
        }
    }
    (talk, client)
}

/// What the client should have: what there is of what it wants.
fn should_have(talk: &Talk, client: &Client, kind: &Type) -> BTreeMap<String, String> {
    let wants = &client.wants[kind];
    let mut all = talk.world.of(kind);
    all.retain(|name, _| wants.everything || wants.names.contains(name));
    all
}

/// What the client has and what it should have, without what is bad now: of that it may have something older.
fn besides_the_bad(
    talk: &Talk,
    client: &Client,
    kind: &Type,
) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let all = should_have(talk, client, kind);
    let is_bad = |name: &String| all.get(name).is_some_and(|value| value == BAD);
    let mut has = client.values(kind);
    has.retain(|name, _| !is_bad(name));
    let mut should = all.clone();
    should.retain(|name, _| !is_bad(name));
    (has, should)
}

fn heal(talk: &mut Talk) {
    talk.world.change(|kinds| {
        for value in kinds.values_mut().flat_map(BTreeMap::values_mut).filter(|value| *value == BAD) {
            "healed".clone_into(value);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_delta_client_has_the_newest_generation(
        takes in takes(),
        events in proptest::collection::vec(event(), 0..60),
    ) {
        let (mut talk, mut client) = play(Protocol::Delta, takes, &events);
        client.settle(&mut talk);
        for kind in &KINDS {
            let (has, should) = besides_the_bad(&talk, &client, kind);
            prop_assert_eq!(has, should, "{}", kind);
        }
        heal(&mut talk);
        client.settle(&mut talk);
        for kind in &KINDS {
            prop_assert_eq!(client.values(kind), should_have(&talk, &client, kind), "{}", kind);
        }
    }

    #[test]
    fn a_state_of_the_world_client_has_the_newest_generation(
        takes in takes(),
        events in proptest::collection::vec(event(), 0..60),
    ) {
        let (mut talk, mut client) = play(Protocol::StateOfTheWorld, takes, &events);
        client.settle(&mut talk);
        // Of clusters and listeners it may have refused all: they are in one response.
        for kind in KINDS.iter().filter(|kind| !kind.is_wildcard() || takes == Takes::TheGood) {
            let (mut has, should) = besides_the_bad(&talk, &client, kind);
            has.retain(|name, _| should.contains_key(name) || kind.is_wildcard());
            prop_assert_eq!(has, should, "{}", kind);
        }
        heal(&mut talk);
        client.settle(&mut talk);
        for kind in &KINDS {
            let should = should_have(&talk, &client, kind);
            let mut has = client.values(kind);
            if !kind.is_wildcard() {
                // This protocol cannot say that a route is gone; the listener that wanted it goes.
                has.retain(|name, _| should.contains_key(name));
            }
            prop_assert_eq!(has, should, "{}", kind);
        }
    }

    #[test]
    fn both_protocols_end_alike(events in proptest::collection::vec(event(), 0..60)) {
        let (mut delta, mut one) = play(Protocol::Delta, Takes::TheGood, &events);
        let (mut state, mut two) = play(Protocol::StateOfTheWorld, Takes::TheGood, &events);
        for (talk, client) in [(&mut delta, &mut one), (&mut state, &mut two)] {
            client.settle(talk);
            heal(talk);
            client.settle(talk);
        }
        for kind in KINDS.iter().filter(|kind| kind.is_wildcard()) {
            prop_assert_eq!(one.values(kind), two.values(kind));
        }
    }

    /// Every listener and route of a name needs the cluster of that name, and each generation is so.
    #[test]
    fn at_no_time_does_a_client_have_a_listener_or_route_without_its_cluster(
        delta in any::<bool>(),
        events in proptest::collection::vec((0..6u8, 0..NAMES.len()), 0..80),
    ) {
        let protocol = if delta { Protocol::Delta } else { Protocol::StateOfTheWorld };
        let mut talk = Talk::new(protocol);
        let mut wants = wants();
        wants.insert(Type::Route, Wants { everything: false, names: NAMES.iter().map(|name| (*name).to_owned()).collect() });
        wants.remove(&Type::Endpoints);
        let mut client = Client::new(protocol, Takes::TheGood, wants);
        for (round, (what, name)) in events.into_iter().enumerate() {
            match what {
                0 => talk.world.change(|kinds| for kind in [Type::Cluster, Type::Listener, Type::Route] {
                    kinds.entry(kind).or_default().insert(NAMES[name].to_owned(), round.to_string());
                }),
                1 => talk.world.change(|kinds| for resources in kinds.values_mut() {
                    resources.remove(NAMES[name]);
                }),
                2 => client.incoming.extend(talk.responses()),
                3 => {
                    client.flush(&mut talk);
                }
                // All first requests are there before something is sent, as after a real reconnect. Only delta says what it
                // had; a state of the world client that comes back is sent the new clusters first, as from any server.
                4 if name == 0 && delta => {
                    talk.reconnect();
                    client.connect();
                    while client.flush(&mut talk) {}
                }
                _ => {
                    client.take();
                }
            }
            let clusters = client.values(&Type::Cluster);
            let listeners = client.values(&Type::Listener);
            for name in listeners.keys() {
                prop_assert!(clusters.contains_key(name), "listener {} has no cluster", name);
            }
            if delta {
                // State of the world cannot take a route back; its listener is gone by then.
                for name in client.values(&Type::Route).keys() {
                    prop_assert!(clusters.contains_key(name), "route {} has no cluster", name);
                }
            }
        }
    }
}
