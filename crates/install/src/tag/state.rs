//! What a cluster has that matters for tags: three lists and one object.

use mizzen_cluster::{Cluster, ObjectId, Refused};
use serde_json::Value;

use super::{REVISION, TAG, VALIDATOR, label};

pub(super) const GROUP: &str = "admissionregistration.k8s.io";

#[derive(Clone, Debug, Default)]
pub struct State {
    /// The control plane's.
    pub namespace: String,
    /// All MutatingWebhookConfigurations: others may be in the way.
    pub webhooks: Vec<Value>,
    /// The Services of the control plane's namespace.
    pub services: Vec<Value>,
    /// Those that ask for a revision or tag.
    pub namespaces: Vec<Value>,
    /// ValidatingWebhookConfigurations of revisions and tags.
    pub validators: Vec<Value>,
    /// The one of the default revision, whoever made it.
    pub validator: Option<Value>,
}

impl State {
    pub async fn read(cluster: &Cluster, namespace: &str) -> Result<Self, Refused> {
        let validator = ObjectId::new(GROUP, "ValidatingWebhookConfiguration", "", VALIDATOR);
        let (webhooks, services, namespaces, validators, validator) = tokio::try_join!(
            cluster.list(GROUP, "MutatingWebhookConfiguration", ""),
            cluster.list_in("", "Service", namespace, ""),
            cluster.list("", "Namespace", REVISION),
            cluster.list(GROUP, "ValidatingWebhookConfiguration", TAG),
            cluster.get(&validator, None),
        )?;
        let namespace = namespace.to_owned();
        Ok(Self { namespace, webhooks, services, namespaces, validators, validator })
    }

    /// The webhooks of a revision itself, without those of its tags.
    pub fn webhooks_of(&self, revision: &str) -> Vec<&Value> {
        self.webhooks.iter().filter(|webhook| is_of_revision(webhook, revision)).collect()
    }

    /// The same for Services.
    pub(super) fn services_of(&self, revision: &str) -> usize {
        let of =
            |service: &&Value| is_of_revision(service, revision) && label(service, "app") == Some("istiod");
        self.services.iter().filter(of).count()
    }

    /// Whatever a tag has: webhooks first.
    pub(super) fn tagged<'s>(&'s self, tag: &'s str) -> impl Iterator<Item = &'s Value> {
        let all = self.webhooks.iter().chain(&self.services);
        all.filter(move |object| label(object, TAG) == Some(tag))
    }
}

fn is_of_revision(object: &Value, revision: &str) -> bool {
    label(object, REVISION) == Some(revision) && label(object, TAG).is_none()
}
