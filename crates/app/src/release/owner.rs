//! Whose release it is: an application in one of its stacks, and the names that its records have in a cluster.

use mizzen_cluster::ObjectId;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The labels by which all records are found.
pub(crate) const APP: &str = "mizzen.io/app";
pub(crate) const STACK: &str = "mizzen.io/stack";
/// Of the records that hold a release's Spec.
pub(crate) const RELEASE: &str = "mizzen.io/release";
/// Of those that hold what the first one of a release has no room for.
pub(crate) const PART: &str = "mizzen.io/part";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub app: String,
    pub stack: String,
    /// Where the application lives, and its records.
    pub namespace: String,
}

impl Owner {
    /// The field manager: an object of another application, of another stack, or of the mesh's installer is somebody else's.
    pub fn manager(&self) -> String {
        format!("mizzen-app:{}/{}", self.app, self.stack)
    }

    /// `shop/dev`
    pub fn name(&self) -> String {
        format!("{}/{}", self.app, self.stack)
    }

    pub(crate) fn ledger(&self) -> ObjectId {
        self.secret(format!("mizzen-app.{}", self.slug()))
    }

    pub(crate) fn spec(&self, number: u32) -> ObjectId {
        self.secret(format!("mizzen-app.{}.r{number}", self.slug()))
    }

    /// The first part is the one of the release's own name.
    pub(crate) fn spec_part(&self, number: u32, part: usize) -> ObjectId {
        match part {
            1 => self.spec(number),
            part => self.secret(format!("{}.{part}", self.spec(number).name)),
        }
    }

    /// Whether an object is one of the records: the ledger, or a part of a release's Spec.
    pub(crate) fn is_record(&self, id: &ObjectId) -> bool {
        let ledger = self.ledger();
        let rest = id.name.strip_prefix(&ledger.name);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_part = |rest: &str| match rest.strip_prefix(".r") {
            Some(numbers) => numbers.splitn(2, '.').all(is_number),
            None => rest.is_empty(),
        };
        (&id.group, &id.kind, &id.namespace) == (&ledger.group, &ledger.kind, &ledger.namespace)
            && rest.is_some_and(is_part)
    }

    pub(crate) fn namespace_id(&self) -> ObjectId {
        let name = self.namespace.clone();
        ObjectId::new("", "Namespace", "", name)
    }

    pub(crate) fn labels(&self) -> Value {
        json!({ APP: self.app, STACK: self.stack })
    }

    pub(crate) fn selector(&self) -> String {
        format!("{APP}={},{STACK}={}", self.app, self.stack)
    }

    fn secret(&self, name: String) -> ObjectId {
        let namespace = self.namespace.clone();
        ObjectId::new("", "Secret", namespace, name)
    }

    /// A name that Kubernetes takes, another one for each application and stack.
    fn slug(&self) -> String {
        let plain = |name: &str| {
            let fine =
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            fine && !name.is_empty() && !name.starts_with('-') && !name.ends_with('-')
        };
        if plain(&self.app) && plain(&self.stack) {
            return format!("{}.{}", self.app, self.stack);
        }
        let mark: String =
            Sha256::digest(self.name()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let safe =
            |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        let safe: String = self.name().chars().map(safe).collect();
        format!("{}-{mark}", safe.trim_start_matches('-'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(app: &str, stack: &str) -> Owner {
        Owner { app: app.into(), stack: stack.into(), namespace: "n".into() }
    }

    #[test]
    fn each_application_and_stack_has_records_of_its_own() {
        assert_eq!(owner("shop", "dev").ledger().name, "mizzen-app.shop.dev");
        assert_eq!(owner("shop", "dev").spec(3).name, "mizzen-app.shop.dev.r3");
        let all = [
            ("Word", "dev"),
            ("word", "dev"),
            ("a.b", "c"),
            ("a", "b.c"),
            ("a-b", "c"),
            ("a", "b-c"),
            ("a_b", "c"),
        ];
        let names: std::collections::BTreeSet<String> =
            all.iter().map(|(app, stack)| owner(app, stack).ledger().name).collect();
        assert_eq!(names.len(), all.len(), "{names:?}");
        let legal = |name: &String| {
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte))
        };
        assert!(names.iter().all(legal), "{names:?}");
    }
}
