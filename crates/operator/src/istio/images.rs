//! Images that the process was told to use: each as `registry/path/name:tag[@digest]`, all from one place and of one tag.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    hub: String,
    tag: String,
    pilot: String,
    cni: String,
    proxy: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoImages {
    #[error(
        "the variable {name} is not set, but {other} is: set all of pilot, install-cni and proxyv2 (with -fips for KYMA_FIPS_MODE_ENABLED), or none"
    )]
    Missing { name: String, other: String },
    #[error("the variable {name} is {value:?}: write REGISTRY/NAME:TAG")]
    Unreadable { name: String, value: String },
    #[error(
        "{name} is {value}, but {other} is {other_value}: all images are from one registry and have one tag"
    )]
    Different { name: String, value: String, other: String, other_value: String },
}

const FIPS: &str = "KYMA_FIPS_MODE_ENABLED";
const PARTS: [&str; 3] = ["pilot", "install-cni", "proxyv2"];

impl Images {
    /// Out of the environment; none where none of the variables is set: then the charts say which images.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, NoImages> {
        let fips = variable(FIPS).as_deref() == Some("true");
        let suffix = if fips { "-fips" } else { "" };
        let names = PARTS.map(|part| format!("{part}{suffix}"));
        let found = names.clone().map(|name| variable(&name).filter(|value| !value.is_empty()));
        let Some(set) = found.iter().position(Option::is_some) else {
            // Those of the charts are ordinary ones, which is not what was asked for.
            let missing = NoImages::Missing { name: names[0].clone(), other: FIPS.to_owned() };
            return if fips { Err(missing) } else { Ok(None) };
        };
        let mut references = Vec::new();
        for (name, value) in names.iter().zip(found) {
            let Some(value) = value else {
                return Err(NoImages::Missing { name: name.clone(), other: names[set].clone() });
            };
            let Some((hub, tag)) = split(&value) else {
                return Err(NoImages::Unreadable { name: name.clone(), value });
            };
            references.push((name, hub.to_owned(), tag.to_owned(), value));
        }
        if let [first, others @ ..] = references.as_slice()
            && let Some(other) = others.iter().find(|other| (&other.1, &other.2) != (&first.1, &first.2))
        {
            return Err(NoImages::Different {
                name: first.0.clone(),
                value: first.3.clone(),
                other: other.0.clone(),
                other_value: other.3.clone(),
            });
        }
        let mut references = references.into_iter();
        Ok((|| {
            let (_, hub, tag, pilot) = references.next()?;
            Some(Self { hub, tag, pilot, cni: references.next()?.3, proxy: references.next()?.3 })
        })())
    }

    /// The tag with its flavour.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Into the `spec` of an IstioOperator.
    pub(super) fn lay(&self, operator: &mut Value) {
        operator["hub"] = self.hub.as_str().into();
        operator["tag"] = self.tag.as_str().into();
        let values = &mut operator["values"];
        values["pilot"]["image"] = self.pilot.as_str().into();
        values["cni"]["image"] = self.cni.as_str().into();
        for part in ["proxy", "proxy_init"] {
            values["global"][part]["image"] = self.proxy.as_str().into();
        }
    }
}

/// Registry and tag: everything up to the last slash, and what is behind the first colon of the rest, without the digest.
fn split(reference: &str) -> Option<(&str, &str)> {
    let (hub, rest) = reference.rsplit_once('/')?;
    let (name, tag) = rest.split_once(':')?;
    let tag = tag.split_once('@').map_or(tag, |(tag, _)| tag);
    (!hub.is_empty() && !name.is_empty() && !tag.is_empty()).then_some((hub, tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Images>, NoImages> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        Images::read(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn all_or_none_of_one_registry_and_one_tag() {
        assert_eq!(read(&[]), Ok(None));
        let good = [
            ("pilot", "r:5000/a/pilot:1@sha256:b"),
            ("install-cni", "r:5000/a/install-cni:1"),
            ("proxyv2", "r:5000/a/proxyv2:1"),
        ];
        let images = read(&good).unwrap().unwrap();
        assert_eq!((images.hub.as_str(), images.tag()), ("r:5000/a", "1"));
        assert_eq!(images.pilot, "r:5000/a/pilot:1@sha256:b");
        let told = |variables: &[(&str, &str)]| read(variables).unwrap_err().to_string();
        assert!(told(&good[..2]).contains("proxyv2 is not set"), "{}", told(&good[..2]));
        let other = [good[0], good[1], ("proxyv2", "r:5000/a/proxyv2:2")];
        assert!(told(&other).contains("one tag"), "{}", told(&other));
        for bad in ["", "pilot:1", "r/pilot", "r/:1", "r/pilot:"] {
            let all = [("pilot", bad), good[1], good[2]];
            assert!(read(&all).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_process_in_fips_mode_has_its_own_variables() {
        let all = [
            ("KYMA_FIPS_MODE_ENABLED", "true"),
            ("pilot", "r/pilot:1"),
            ("pilot-fips", "f/pilot:2"),
            ("install-cni-fips", "f/install-cni:2"),
            ("proxyv2-fips", "f/proxyv2:2"),
        ];
        assert_eq!(read(&all).unwrap().unwrap().tag(), "2");
        assert!(read(&all[..2]).is_err(), "the charts' images are ordinary ones");
    }
}
