//! What no object can say of itself: two of one name, and names of things that are not there.
//!
//! What is not in this Spec may still be in the cluster, so that is a warning.

use crate::{
    blame::Blame,
    index::Index,
    links::{self, Target},
    made::Made,
};
use mizzen_check::Finding;
use mizzen_text::{Code, Diagnostic, Severity, nearest};
use std::collections::BTreeMap;

pub(crate) fn check(made: &[Made], index: &Index<'_>, blame: &Blame<'_>) -> Vec<Diagnostic> {
    let mut found = twice(made, blame);
    found.extend(sidecars(made, blame));
    for one in made {
        let mut trace = None;
        for link in links::of(&one.object) {
            let Some((message, hint)) = missing(one, &link.to, index) else { continue };
            let finding = Finding {
                code: Code::AppReference,
                severity: Severity::Warning,
                path: link.at,
                message,
                hint: Some(hint),
            };
            let trace = trace.get_or_insert_with(|| blame.trace(&one.origin));
            found.extend(blame.told(one, trace.as_ref(), &finding));
        }
    }
    found
}

/// What to say of something that nothing in this Spec defines, where something should.
fn missing(one: &Made, target: &Target, index: &Index<'_>) -> Option<(String, String)> {
    let own = one.namespace().unwrap_or_default();
    let is_own = |namespace: &String| namespace == own;
    let (what, known) = match target {
        Target::Subset { host, name } => {
            let subsets: Vec<&str> = index.subsets(host).map(|(subset, _)| subset).collect();
            (format!("no DestinationRule here defines the subset `{name}` of `{host}`"), (name, subsets))
        }
        Target::Gateway { namespace, name } if is_own(namespace) => {
            let gateways: Vec<&str> = index.names("networking.istio.io", "Gateway", own).collect();
            (format!("there is no Gateway `{name}` here"), (name, gateways))
        }
        Target::Delegate { namespace, name } if is_own(namespace) => {
            let services: Vec<&str> = index.names("networking.istio.io", "VirtualService", own).collect();
            (format!("there is no VirtualService `{name}` without hosts here"), (name, services))
        }
        _ => return None,
    };
    if !index.behind(target).is_empty() {
        return None;
    }
    let (name, known) = known;
    let hint = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => "it must be in the cluster already".to_owned(),
        None => format!("there are {}; another must be in the cluster already", known.join(", ")),
    };
    Some((what, hint))
}

/// Of two Sidecars for all pods of a namespace one counts, and nobody knows which.
fn sidecars(made: &[Made], blame: &Blame<'_>) -> Vec<Diagnostic> {
    let mut first: BTreeMap<Option<&str>, &Made> = BTreeMap::new();
    let mut found = Vec::new();
    let for_all = |one: &&Made| one.kind() == "Sidecar" && one.object["spec"]["workloadSelector"].is_null();
    for one in made.iter().filter(for_all) {
        let Some(before) = first.insert(one.namespace(), one) else { continue };
        let message = "a namespace can have one Sidecar without `workloadSelector`, and here is a second";
        found.push(pair(Diagnostic::new(Code::AppDoubtful, message), one, before, blame));
    }
    found
}

/// A diagnostic about the second of two objects: the one that stands below the other, if they are in one file.
fn pair(diagnostic: Diagnostic, one: &Made, other: &Made, blame: &Blame<'_>) -> Diagnostic {
    let (mut second, mut first) = (blame.key(one), blame.key(other));
    if let (Some(one), Some(other)) = (&second.place, &first.place)
        && one.source.name() == other.source.name()
        && one.span.as_ref().map(|span| span.start) < other.span.as_ref().map(|span| span.start)
    {
        std::mem::swap(&mut second, &mut first);
    }
    let mut diagnostic = diagnostic.path(second.path);
    diagnostic.place = second.place;
    match first.place {
        Some(place) => diagnostic.related("the first one", place),
        None => diagnostic,
    }
}

/// Two objects of one kind, namespace and name: the second would overwrite the first.
fn twice(made: &[Made], blame: &Blame<'_>) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<_, &Made> = BTreeMap::new();
    let mut found = Vec::new();
    for one in made {
        let group = one.object["apiVersion"].as_str().and_then(|version| version.rsplit_once('/'));
        let who = (group.map_or("", |(group, _)| group), one.kind(), one.namespace(), one.name());
        let Some(first) = seen.get(&who) else {
            seen.insert(who, one);
            continue;
        };
        let message = format!("there are two objects {}", one.told());
        let diagnostic = Diagnostic::new(Code::AppTwice, message);
        let hint = match one.kind() {
            "Namespace" => "`createNamespace: false` leaves it to the other",
            _ => "`name` in a block gives its object another name",
        };
        let diagnostic = diagnostic.hint(hint);
        found.push(pair(diagnostic, one, first, blame));
    }
    found
}
