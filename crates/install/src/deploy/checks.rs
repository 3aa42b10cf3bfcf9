//! What speaks against an installation, before anything is written.

use super::{Facts, Mesh, facts::ControlPlane};
use crate::{Version, tag::conflicts};
use serde_json::Value;
use std::collections::BTreeSet;

/// The oldest Kubernetes that Istio's line supports.
const OLDEST_KUBERNETES: (u32, u32) = (1, 32);

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    pub message: String,
    /// Nothing to do about it here: it is only told.
    pub warning: bool,
}

/// All of them.
pub fn problems(mesh: &Mesh, facts: &Facts) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(kubernetes(&facts.kubernetes));
    if let (Some(running), Some(wanted)) = (facts.running(mesh), mesh.control_plane()) {
        problems.extend(change(&running, &wanted));
    }
    problems.extend(overlaps(&mesh.webhooks(), &facts.webhooks));
    problems
}

/// Webhooks to come that would inject a pod together with others. One that is there is replaced by the one of its name.
fn overlaps(coming: &[Value], there: &[Value]) -> Vec<Problem> {
    let name = |webhook: &Value| webhook["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = coming.iter().map(name).collect();
    let others = there.iter().filter(|webhook| !names.contains(&name(webhook)));
    let all: Vec<&Value> = coming.iter().chain(others).collect();
    let found = conflicts(&all).into_iter().filter(|conflict| names.contains(&conflict.name));
    found.map(|conflict| Problem { message: conflict.to_string(), warning: false }).collect()
}

fn kubernetes(version: &str) -> Option<Problem> {
    let read = Version::read(version)?;
    let (major, minor) = OLDEST_KUBERNETES;
    ((read.major, read.minor) < OLDEST_KUBERNETES).then(|| Problem {
        message: format!("Kubernetes {version} is older than {major}.{minor}, the oldest that this version of Istio is meant for"),
        warning: true,
    })
}

/// Versions of two programs cannot be compared.
fn change(running: &ControlPlane, wanted: &ControlPlane) -> Option<Problem> {
    if running.program == wanted.program {
        return version(running.version.as_ref(), wanted.version.as_ref());
    }
    let named = |one: &ControlPlane| {
        let version = one.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        format!("{}{version}", one.program)
    };
    let message = format!(
        "the control plane becomes another program: {} is running, and {} takes its place",
        named(running),
        named(wanted)
    );
    Some(Problem { message, warning: true })
}

/// Not back, and not over a minor version: upgrades are tested from one minor version to the next.
fn version(running: Option<&Version>, wanted: Option<&Version>) -> Option<Problem> {
    let (running, wanted) = (running?, wanted?);
    let number = |version: &Version| (version.major, version.minor, version.patch);
    let refused = |message: String| Some(Problem { message, warning: false });
    if number(wanted) < number(running) {
        return refused(format!("{running} is running, and going back to {wanted} is not supported"));
    }
    if wanted.major != running.major || wanted.minor > running.minor + 1 {
        return refused(format!(
            "{running} is running, and {wanted} is more than one minor version away: upgrade to {}.{} first",
            running.major,
            running.minor + 1
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_and_go_forward_by_one() {
        let said = |running: &str, wanted: &str| {
            version(Version::read(running).as_ref(), Version::read(wanted).as_ref())
                .map(|problem| problem.message)
        };
        for (running, wanted) in [
            ("1.9.0", "1.10.0"),
            ("1.31.0", "1.31.0"),
            ("1.31.0", "1.31.4"),
            ("1.30.9", "1.31.0"),
            ("", "1.31.0"),
        ] {
            assert_eq!(said(running, wanted), None, "{running} → {wanted}");
        }
        assert_eq!(
            said("1.10.0", "1.9.0").as_deref(),
            Some("1.10.0 is running, and going back to 1.9.0 is not supported")
        );
        assert!(said("1.31.2", "1.31.1").is_some());
        assert_eq!(
            said("1.28.3", "1.31.0").as_deref(),
            Some("1.28.3 is running, and 1.31.0 is more than one minor version away: upgrade to 1.29 first")
        );
        assert!(said("1.31.0", "2.0.0").is_some());
    }

    #[test]
    fn versions_of_two_programs_are_not_compared_but_told() {
        let plane = |program: &str, version: &str| ControlPlane {
            program: program.to_owned(),
            version: Version::read(version),
        };
        let said = change(&plane("pilot", "1.31.0"), &plane("mizzen", "0.1.0")).unwrap();
        assert!(
            said.warning && said.message.contains("pilot 1.31.0 is running, and mizzen 0.1.0"),
            "{said:?}"
        );
        assert!(change(&plane("mizzen", "0.9.3"), &plane("mizzen", "0.1.0")).is_some_and(|one| !one.warning));
        assert_eq!(change(&plane("mizzen", "0.1.0"), &plane("mizzen", "0.1.0")), None);
    }

    #[test]
    fn an_old_kubernetes_is_only_a_warning() {
        assert!(kubernetes("v1.31.4").is_some_and(|problem| problem.warning));
        assert_eq!(kubernetes("v1.32.0-gke.1"), None);
        assert_eq!(kubernetes("v1.36.1"), None);
    }
}
