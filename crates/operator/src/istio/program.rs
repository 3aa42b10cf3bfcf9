//! Whose program a control plane is: versions of two programs say nothing about each other.

use super::verify::name_of;
use serde_json::Value;

/// The name of our image.
const MIZZEN: &str = "mizzen";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Mizzen,
    Istio,
}

impl Program {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mizzen => "mizzen",
            Self::Istio => "istio",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Mizzen, Self::Istio].into_iter().find(|program| program.name() == name)
    }

    /// Of the first of these Deployments that says it.
    pub(super) fn of<'d>(deployments: impl IntoIterator<Item = &'d Value>) -> Option<Self> {
        deployments.into_iter().find_map(|deployment| {
            let containers = deployment.pointer("/spec/template/spec/containers")?.as_array()?;
            let discovery = containers.iter().find(|container| container["name"] == "discovery")?;
            let name = name_of(discovery["image"].as_str()?);
            Some(if name == MIZZEN { Self::Mizzen } else { Self::Istio })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_image_says_it() {
        let of = |image: &str| {
            let container = json!({ "name": "discovery", "image": image });
            Program::of(&[json!({ "spec": { "template": { "spec": { "containers": [container] } } } })])
        };
        assert_eq!(of("mizzen/mizzen:0.1.0"), Some(Program::Mizzen));
        assert_eq!(of("localhost:5000/mizzen@sha256:00"), Some(Program::Mizzen));
        assert_eq!(of("localhost:5000/mizzen/pilot:1.30.2-distroless"), Some(Program::Istio));
        assert_eq!(Program::of(&[json!({})]), None);
    }
}
