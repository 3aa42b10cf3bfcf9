//! A Spec → the objects that are to be there, each with those that must be there before it. What cannot be sent is told before anything is.

use super::graph::Graph;
use crate::{
    naming, secret,
    spec::{KUBERNETES, Resource, Spec},
};
use mizzen_cluster::{Desired, ObjectId};
use mizzen_text::{Code, Diagnostic, Object};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    pub desired: Desired,
    pub needs: Vec<ObjectId>,
}

pub fn wanted(spec: &Spec) -> Result<Vec<Wanted>, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let mut desired: Vec<(&Resource, Desired)> = Vec::new();
    for resource in &spec.resources {
        match object(resource) {
            Ok(object) => desired.push((resource, object)),
            Err(diagnostic) => wrong.push(*diagnostic),
        }
    }
    let mut places: BTreeMap<&ObjectId, usize> = BTreeMap::new();
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, (resource, object)) in desired.iter().enumerate() {
        by_name.insert(&resource.id, place);
        if places.insert(&object.id, place).is_some() {
            wrong.push(told(Code::AppName, resource, "is in the Spec twice"));
        }
    }
    let mut needs = Vec::new();
    for (place, (resource, _)) in desired.iter().enumerate() {
        let mut own = Vec::new();
        for id in &resource.depends_on {
            match by_name.get(id.as_str()) {
                Some(&needed) if needed != place => own.push(needed),
                Some(_) => wrong.push(told(Code::AppTogether, resource, "depends on itself")),
                None if spec.resources.iter().any(|other| other.id == *id) => {}
                None => {
                    let message = format!("depends on {id}, which is not in the Spec");
                    wrong.push(told(Code::AppMissing, resource, &message));
                }
            }
        }
        own.sort_unstable();
        own.dedup();
        needs.push(own);
    }
    if wrong.is_empty()
        && let Some(cycle) = Graph::new(needs.clone()).cycle()
    {
        let named: Vec<&str> = cycle.iter().map(|&place| desired[place].0.id.as_str()).collect();
        let message = format!("objects depend on each other in a circle: {}", named.join(" → "));
        wrong.push(Diagnostic::new(Code::AppTogether, message).hint("take one of these `dependsOn` away"));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let ids: Vec<ObjectId> = desired.iter().map(|(_, object)| object.id.clone()).collect();
    let needs = needs.into_iter().map(|own| own.into_iter().map(|place| ids[place].clone()).collect());
    Ok(desired.into_iter().zip(needs).map(|((_, desired), needs)| Wanted { desired, needs }).collect())
}

/// The edges of what is wanted, by places.
pub(super) fn graph(wanted: &[Wanted]) -> Graph {
    let places: BTreeMap<&ObjectId, usize> =
        wanted.iter().enumerate().map(|(place, one)| (&one.desired.id, place)).collect();
    let needs = |one: &Wanted| one.needs.iter().filter_map(|id| places.get(id).copied()).collect();
    Graph::new(wanted.iter().map(needs).collect())
}

fn object(resource: &Resource) -> Result<Desired, Box<Diagnostic>> {
    let refused = |code, message: &str| Box::new(told(code, resource, message));
    if resource.kind != KUBERNETES {
        let message = format!("is of type {}: only {KUBERNETES} can be applied here", resource.kind);
        return Err(refused(Code::AppValue, &message));
    }
    let mut object = resource.attributes.clone();
    // Of a Spec that others have built, too.
    secret::encode(&mut object);
    let desired =
        Desired::new(object).map_err(|reason| refused(Code::AppValue, &format!("is no object: {reason}")))?;
    match naming::refused_object(&desired.value) {
        Some((_, message)) => Err(refused(Code::AppName, &format!("cannot be sent: {message}"))),
        None => Ok(desired),
    }
}

fn told(code: Code, resource: &Resource, message: &str) -> Diagnostic {
    let text = |pointer: &str| {
        resource.attributes.pointer(pointer).and_then(|text| text.as_str()).map(str::to_owned)
    };
    Diagnostic::new(code, format!("{} {message}", resource.id)).object(Object {
        kind: text("/kind").unwrap_or_default(),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resource(kind: &str, name: &str, depends_on: &[&str]) -> Resource {
        let attributes =
            json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "n"}});
        let depends_on = depends_on.iter().map(|id| (*id).to_owned()).collect();
        Resource::new(format!("v1:{kind}:n:{name}"), attributes, depends_on)
    }

    fn refused(resources: Vec<Resource>) -> Vec<String> {
        let wrong = wanted(&Spec { resources }).unwrap_err();
        wrong.into_iter().map(|diagnostic| diagnostic.message).collect()
    }

    #[test]
    fn edges_lead_from_object_to_object() {
        let spec = Spec { resources: vec![resource("A", "one", &["v1:B:n:two"]), resource("B", "two", &[])] };
        let wanted = wanted(&spec).unwrap();
        assert_eq!(wanted[0].needs, [wanted[1].desired.id.clone()]);
        assert_eq!(graph(&wanted), Graph::new(vec![vec![1], vec![]]));
    }

    #[test]
    fn what_cannot_be_sent_is_told_all_at_once() {
        let mut cloud = resource("A", "cloud", &[]);
        cloud.kind = "Terraform".to_owned();
        let told = refused(vec![
            cloud,
            resource("A", "b_c", &[]),
            resource("A", "d", &["v1:X:n:y"]),
            resource("A", "d", &[]),
        ]);
        assert_eq!(told.len(), 4, "{told:#?}");
        for (told, expected) in
            told.iter().zip(["type Terraform", "refuses the name `b_c`", "twice", "not in the Spec"])
        {
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn a_circle_is_named() {
        let told = refused(vec![resource("A", "a", &["v1:A:n:b"]), resource("A", "b", &["v1:A:n:a"])]);
        assert_eq!(told, ["objects depend on each other in a circle: v1:A:n:a → v1:A:n:b → v1:A:n:a"]);
    }
}
