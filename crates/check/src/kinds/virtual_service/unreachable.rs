//! Warnings about rules and matches that no request can reach, because an earlier one takes them all.

use super::overlap::Overlaps;
use crate::Findings;
use mizzen_api::proto::istio::networking::v1alpha3::{HttpMatchRequest, HttpRoute, VirtualService};
use mizzen_text::At;
use prost::Message;
use std::collections::HashMap;

pub(super) fn check(spec: &VirtualService, at: &At<'_>, found: &mut Findings) {
    let mut overlaps = Overlaps::default();
    let http = at.field("http");
    let mut rules = Rules::default();
    for (index, route) in spec.http.iter().enumerate() {
        let keys = route.r#match.iter().map(|one| {
            // What a match is called changes nothing about what it takes.
            HttpMatchRequest { name: String::new(), ..one.clone() }.encode_to_vec()
        });
        let new = rules.add(
            &rule_name(index, route),
            keys,
            |index| match_name(index, route),
            &http.index(index),
            found,
        );
        for number in new {
            if let Some(one) = route.r#match.get(number) {
                overlaps.add((index, number), one);
            }
        }
    }
    overlaps.tell(&spec.http, &http, found);

    let tcp = at.field("tcp");
    let mut rules = Rules::default();
    for (index, route) in spec.tcp.iter().enumerate() {
        let keys = route.r#match.iter().map(Message::encode_to_vec);
        rules.add(&number(index), keys, number, &tcp.index(index), found);
    }
    let tls = at.field("tls");
    let mut rules = Rules::default();
    for (index, route) in spec.tls.iter().enumerate() {
        let keys = route.r#match.iter().map(Message::encode_to_vec);
        rules.add(&number(index), keys, number, &tls.index(index), found);
    }
}

pub(super) fn rule_name(index: usize, route: &HttpRoute) -> String {
    if route.name.is_empty() { number(index) } else { format!("{:?}", route.name) }
}

pub(super) fn match_name(index: usize, route: &HttpRoute) -> String {
    match route.r#match.get(index) {
        Some(one) if !one.name.is_empty() => format!("{:?}", one.name),
        _ => number(index),
    }
}

fn number(index: usize) -> String {
    format!("#{index}")
}

/// The rules of one protocol, as they come.
#[derive(Default)]
struct Rules {
    /// A match as bytes → the name of the first rule that has it.
    seen: HashMap<Vec<u8>, String>,
    /// There was one that takes everything.
    closed: bool,
}

impl Rules {
    /// The numbers of the matches that no earlier rule has word for word.
    fn add(
        &mut self,
        rule: &str,
        matches: impl ExactSizeIterator<Item = Vec<u8>>,
        match_name: impl Fn(usize) -> String,
        at: &At<'_>,
        found: &mut Findings,
    ) -> Vec<usize> {
        let mut new = Vec::new();
        let count = matches.len();
        if count == 0 {
            if self.closed {
                found.warning(at, unused(rule, "only the last rule can have no matches"));
            }
            self.closed = true;
            return new;
        }
        let list = at.field("match");
        if self.closed {
            for index in 0..count {
                found.warning(&list.index(index), unused(rule, "route without matches defined before"));
            }
            return new;
        }
        for (index, key) in matches.enumerate() {
            if let Some(first) = self.seen.get(&key) {
                found.warning(&list.index(index), ineffective(rule, &match_name(index), first));
            } else {
                self.seen.insert(key, rule.to_owned());
                new.push(index);
            }
        }
        if new.is_empty() {
            found.warning(at, unused(rule, "all matches used by prior rules"));
        }
        new
    }
}

fn unused(rule: &str, reason: &str) -> String {
    format!("virtualService rule {rule} not used ({reason})")
}

pub(super) fn ineffective(rule: &str, one: &str, other: &str) -> String {
    format!(
        "virtualService rule {rule} match {one} is not used (duplicate/overlapping match in rule {other})"
    )
}
