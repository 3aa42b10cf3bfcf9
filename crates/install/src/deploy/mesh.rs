//! A mesh as it is to be in a cluster: the rendered objects with the labels of their owner, and the default tag where this revision is
//! to be the default.

use super::{
    Facts,
    facts::ControlPlane,
    labels::{self, Owner},
};
use crate::{
    Charts, Component, Generated, Version,
    tag::{self, NoTag, Tag},
    tree,
};
use mizzen_check::schema::names;
use mizzen_cluster::{Desired, NoObject, ObjectId, Owner as ListOwner, Served};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[derive(Debug)]
pub struct Mesh {
    pub namespace: String,
    /// `default` for the one without a name.
    pub revision: String,
    /// The name of the IstioOperator, if it has one.
    pub name: Option<String>,
    pub profile: String,
    /// Where the list of its objects is: with the resource that describes it, or with the mesh.
    list_namespace: String,
    /// What the control plane's image says, if that is a version.
    pub version: Option<Version>,
    /// The label of the namespace that says which network it is in.
    pub(crate) network: Option<String>,
    /// In the order in which they are rendered.
    pub parts: Vec<Part>,
}

#[derive(Debug)]
pub struct Part {
    pub component: &'static Component,
    pub objects: Vec<Desired>,
}

#[derive(Debug, thiserror::Error)]
pub enum NoMesh {
    #[error("{component}: an object of it cannot be applied: {reason}")]
    Object { component: &'static str, reason: NoObject },
    #[error(
        "the name {name:?} of the IstioOperator {reason}: it is a label of everything, and part of the name of a list"
    )]
    Name { name: String, reason: String },
    #[error("the objects of the default tag: {0}")]
    Tag(#[from] NoTag),
    #[error("{0} is rendered twice, by {1} and by {2}")]
    Twice(Box<ObjectId>, &'static str, &'static str),
}

impl Mesh {
    /// `version` is that of the installer, for a label. `owner_namespace` is that of the resource that describes it, where there is one: the
    /// mesh itself may be in another.
    pub fn new(
        generated: &Generated,
        facts: &Facts,
        served: &Served,
        charts: &dyn Charts,
        version: &str,
        owner_namespace: Option<&str>,
    ) -> Result<Self, NoMesh> {
        let tree = &generated.merged.tree;
        let text = |way: &[&str]| tree::text(tree, way).filter(|text| !text.is_empty());
        let named = |way: &[&str]| text(way).map(str::to_owned);
        let namespace = text(&["metadata", "namespace"]).unwrap_or("istio-system").to_owned();
        let revision = text(&["spec", "values", "revision"]).unwrap_or(tag::DEFAULT).to_owned();
        if let Some(name) = text(&["metadata", "name"]) {
            let fits = names::label_value(name).and_then(|()| names::subdomain(name));
            fits.map_err(|reason| NoMesh::Name { name: name.to_owned(), reason })?;
        }
        let owner = Owner {
            name: text(&["metadata", "name"]),
            namespace: owner_namespace.or_else(|| text(&["metadata", "namespace"])),
            revision: &revision,
            version,
        };
        let becomes_default = becomes_default(tree, &revision, facts);
        let mut parts: Vec<Part> = Vec::new();
        for manifests in &generated.components {
            let component = manifests.component;
            let mut values: Vec<Value> = Vec::new();
            for manifest in &manifests.objects {
                let mut value = manifest.to_object();
                for (key, label) in owner.labels(Some(component.name)) {
                    tree::put(&mut value, &["metadata", "labels", &key], label.into());
                }
                values.push(value);
            }
            if component.name == "Pilot" && becomes_default {
                let tag = default_tag(&mut values, &owner, tree, &namespace, charts)?;
                values.extend(tag);
            }
            let wrong = |reason| NoMesh::Object { component: component.title, reason };
            let objects = values.into_iter().map(|value| settled(value, served, &namespace).map_err(wrong));
            let objects = objects.collect::<Result<Vec<Desired>, NoMesh>>()?;
            match parts.iter_mut().find(|part| part.component == component) {
                Some(part) => part.objects.extend(objects),
                None => parts.push(Part { component, objects }),
            }
        }
        once(&parts)?;
        let image_tag = text(&["spec", "values", "global", "tag"]).or_else(|| text(&["spec", "tag"]));
        let by_image = control_plane(&parts).and_then(|plane| plane.version);
        Ok(Self {
            version: by_image.or_else(|| image_tag.and_then(Version::of_tag)),
            profile: generated.merged.profile.clone(),
            network: named(&["spec", "values", "global", "network"]),
            name: named(&["metadata", "name"]),
            list_namespace: owner_namespace.unwrap_or(&namespace).to_owned(),
            namespace,
            revision,
            parts,
        })
    }

    pub fn objects(&self) -> impl Iterator<Item = &Desired> {
        self.parts.iter().flat_map(|part| &part.objects)
    }

    /// As it is to be, if it has one.
    pub(super) fn control_plane(&self) -> Option<ControlPlane> {
        let rendered = control_plane(&self.parts)?;
        // By digest an image says no version.
        Some(ControlPlane { version: rendered.version.or_else(|| self.version.clone()), ..rendered })
    }

    pub fn ids(&self) -> BTreeSet<ObjectId> {
        self.objects().map(|object| object.id.clone()).collect()
    }

    pub(super) fn webhooks(&self) -> Vec<Value> {
        let webhooks = self.objects().filter(|object| object.id.kind == "MutatingWebhookConfiguration");
        webhooks.map(|object| Value::clone(&object.value)).collect()
    }

    /// Whose list the objects are in: the revision's, and where the IstioOperator has a name, its own.
    pub fn owner(&self) -> ListOwner {
        let name = list_name(&self.revision, self.name.as_deref());
        ListOwner { namespace: self.list_namespace.clone(), name }
    }

    /// The namespace as it is made if it is not there.
    pub(super) fn namespace_object(&self) -> Value {
        let mut value =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": self.namespace } });
        if let Some(network) = &self.network {
            value["metadata"]["labels"] = json!({ "topology.istio.io/network": network });
        }
        value
    }
}

fn control_plane(parts: &[Part]) -> Option<ControlPlane> {
    let pilot = parts.iter().find(|part| part.component.name == "Pilot")?;
    let mut deployments = pilot.objects.iter().filter(|object| object.id.kind == "Deployment");
    ControlPlane::of(&deployments.next()?.value)
}

/// The name of a list.
pub(super) fn list_name(revision: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{revision}.{name}"),
        None => revision.to_owned(),
    }
}

/// The revision without a name is always the default. Another one becomes it where there is none, and stays it; but not where an
/// injector without a tag serves the same namespaces: that would have to be switched off, and is not ours.
fn becomes_default(tree: &Value, revision: &str, facts: &Facts) -> bool {
    let managed = tree::get(tree, &["spec", "values", "global", "operatorManageWebhooks"]);
    if managed == Some(&Value::Bool(true)) {
        return false;
    }
    if revision == tag::DEFAULT {
        return true;
    }
    match facts.default_tag() {
        Some(webhook) => {
            let is_installers = labels::of(webhook, labels::MANAGED).is_some();
            is_installers && labels::of(webhook, labels::REVISION) == Some(revision)
        }
        None => !facts.webhooks.iter().any(|webhook| {
            labels::of(webhook, "app") == Some("sidecar-injector")
                && labels::of(webhook, labels::REVISION) == Some(tag::DEFAULT)
        }),
    }
}

/// The objects of the tag. The plain injector of the revision without a name is switched off for it.
fn default_tag(
    values: &mut [Value],
    owner: &Owner<'_>,
    tree: &Value,
    namespace: &str,
    charts: &dyn Charts,
) -> Result<Vec<Value>, NoTag> {
    let is_canonical = |value: &&mut Value| {
        value["kind"] == "MutatingWebhookConfiguration" && labels::of(value, labels::TAG).is_none()
    };
    // A remote cluster may have none.
    let Some(canonical) = values.iter_mut().find(is_canonical) else { return Ok(Vec::new()) };
    let auto = tree::get(tree, &["spec", "values", "sidecarInjectorWebhook", "enableNamespacesByDefault"]);
    let mut further = owner.labels(None);
    further.insert(labels::NOT_PRUNED.to_owned(), "true".to_owned());
    let tag = Tag {
        name: tag::DEFAULT.to_owned(),
        namespace: namespace.to_owned(),
        auto_inject: auto == Some(&Value::Bool(true)),
        labels: further,
        user_managed: false,
        webhook_name: None,
        validator: None,
    };
    let objects = tag.objects(canonical, charts)?;
    if owner.revision == tag::DEFAULT {
        tag::deactivated(canonical);
    }
    Ok(objects)
}

/// Kinds that live in no namespace are in none, whatever the chart says; the others are in the mesh's where it says nothing.
fn settled(mut value: Value, served: &Served, namespace: &str) -> Result<Desired, NoObject> {
    let id = ObjectId::of(&value)?;
    match served.find(&id.group, &id.kind, None).map(|kind| kind.namespaced) {
        Some(true) if id.namespace.is_empty() => {
            tree::put(&mut value, &["metadata", "namespace"], namespace.into());
        }
        Some(false) => tree::remove(&mut value, &["metadata", "namespace"]),
        _ => {}
    }
    Desired::new(value)
}

/// Two objects of one name would overwrite each other for ever.
fn once(parts: &[Part]) -> Result<(), NoMesh> {
    let mut seen: Vec<(&ObjectId, &'static str)> = Vec::new();
    for part in parts {
        for object in &part.objects {
            if let Some((_, other)) = seen.iter().find(|(id, _)| **id == object.id) {
                return Err(NoMesh::Twice(Box::new(object.id.clone()), other, part.component.title));
            }
            seen.push((&object.id, part.component.title));
        }
    }
    Ok(())
}
