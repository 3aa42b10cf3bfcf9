//! What the server says of an object whose namespace is only made by the release. No server can be asked about that before the
//! namespace is there, so it is asked about the very same object in a namespace that always is, as a dry run.
//!
//! What it says of the object counts: its schema, its rules, a field that is not there. What it says of the namespace that stands in
//! does not: rights, quotas, and what admission has against it may be different in the one that is meant. That is told, and found out
//! when the object is applied.

use mizzen_cluster::{Cluster, Desired, Mode, ObjectId, Refused};
use sha2::{Digest, Sha256};

/// Every cluster has it, and makes it anew.
pub(super) const STAND_IN: &str = "default";

/// Why it is not known whether the server takes the object; nothing where it does.
pub(super) async fn elsewhere(cluster: &Cluster, desired: &Desired) -> Result<Option<String>, Refused> {
    let mut there = in_place(desired, desired.id.name.clone());
    match cluster.get(&there.id, Some(&there.version)).await {
        Ok(None) => {}
        // It would be a change of somebody's object.
        Ok(Some(_)) => there = in_place(desired, of_same_length(&desired.id.name)),
        Err(Refused::Forbidden { message, .. }) => return Ok(Some(message)),
        Err(refused) => return Err(refused),
    }
    match cluster.apply(&there, Mode { dry_run: true, force: false }).await {
        Ok(_) | Err(Refused::NotServed { .. } | Refused::Absent { .. }) => Ok(None),
        Err(Refused::Forbidden { message, .. } | Refused::Conflict { message, .. }) => Ok(Some(message)),
        Err(Refused::Invalid { message, .. }) if is_of_admission(&message) => Ok(Some(message)),
        Err(Refused::Invalid { message, .. }) => {
            let message = as_meant(&message, &there.id, &desired.id);
            Err(Refused::Invalid { what: format!("applying {}", desired.id), message })
        }
        // A webhook that does not answer may be one of that namespace alone.
        Err(Refused::Other { message, .. }) if message.contains("failed calling webhook") => {
            Ok(Some(message))
        }
        Err(refused @ Refused::NoNamespace { .. }) => Ok(Some(refused.to_string())),
        Err(refused) => Err(refused),
    }
}

fn in_place(desired: &Desired, name: String) -> Desired {
    let mut there = desired.clone();
    there.value_mut()["metadata"]["namespace"] = STAND_IN.into();
    there.value_mut()["metadata"]["name"] = name.as_str().into();
    there.id = ObjectId { namespace: STAND_IN.to_owned(), name, ..there.id };
    there
}

/// A name that nobody has. Some kinds have a rule about how long one may be.
fn of_same_length(name: &str) -> String {
    let mark: String = Sha256::digest(name).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    match name.len().checked_sub(mark.len()).filter(|&kept| kept > 0 && name.is_ascii()) {
        Some(kept) => format!("{}{mark}", &name[..kept]),
        None => format!("m{mark}"),
    }
}

/// Webhooks and policies look at the namespace, too.
fn is_of_admission(message: &str) -> bool {
    ["admission webhook ", "AdmissionPolicy "].iter().any(|words| message.contains(words))
}

/// The server names the object that it was asked about.
fn as_meant(message: &str, asked: &ObjectId, meant: &ObjectId) -> String {
    let place = |id: &ObjectId| format!("({}/{};", id.namespace, id.name);
    message
        .replace(&place(asked), &place(meant))
        .replace(&format!("{:?} is invalid", asked.name), &format!("{:?} is invalid", meant.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(namespace: &str, name: &str) -> ObjectId {
        ObjectId::new("", "A", namespace, name)
    }

    #[test]
    fn a_name_in_place_of_another_is_as_long_and_as_good() {
        for name in ["shop", "a-rather-long-name", "shop.example"] {
            let other = of_same_length(name);
            assert!(other != name && mizzen_check::schema::names::subdomain(&other).is_ok(), "{other}");
            assert!(name.len() < 9 || other.len() == name.len(), "{other}");
        }
    }

    #[test]
    fn the_servers_words_are_about_the_object_that_is_meant() {
        let (asked, meant) = (id("default", "b1234"), id("shop", "broken"));
        for (said, expected) in [
            ("A \"b1234\" is invalid: data[x]: no", "A \"broken\" is invalid: data[x]: no"),
            (
                "failed to create typed patch object (default/b1234; /v1, Kind=A): .x: no",
                "failed to create typed patch object (shop/broken; /v1, Kind=A): .x: no",
            ),
        ] {
            assert_eq!(as_meant(said, &asked, &meant), expected);
        }
    }

    #[test]
    fn what_admission_says_may_be_about_the_namespace() {
        assert!(is_of_admission("admission webhook \"a.b\" denied the request: not in default"));
        assert!(is_of_admission(
            "a \"b\" is forbidden: ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no"
        ));
        assert!(!is_of_admission("ConfigMap \"a\" is invalid: data[b c]: Invalid value"));
    }
}
