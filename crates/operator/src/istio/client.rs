//! IstioClient: charts of one version of Istio, and how what we say is said to that version.

use mizzen_install::{Charts, Version};
use mizzen_text::yaml::{self, Options};
use serde_json::Value;
use std::fmt;

/// The minor version that this program was made for, and that charts are taken for which do not say of which they are.
const OWN: Minor = Minor(1, 31);
/// What Istio's sources say of themselves before somebody makes a release of them.
const UNRELEASED: &str = "1.0.0";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Minor(pub u32, pub u32);

impl Minor {
    /// Of a tag such as `1.31.0-distroless`.
    pub(super) fn of_tag(tag: &str) -> Option<Self> {
        Version::of_tag(tag).map(|version| Self(version.major, version.minor))
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.0, self.1)
    }
}

pub struct IstioClient {
    charts: Box<dyn Charts>,
    minor: Minor,
}

impl IstioClient {
    pub fn new(charts: Box<dyn Charts>) -> Self {
        let minor = minor(charts.as_ref()).unwrap_or(OWN);
        Self { charts, minor }
    }

    pub(super) fn charts(&self) -> &dyn Charts {
        self.charts.as_ref()
    }

    pub fn minor(&self) -> Minor {
        self.minor
    }
}

/// As the chart of the control plane says, or the images of the default profile.
fn minor(charts: &dyn Charts) -> Option<Minor> {
    let chart = charts.chart("istio-control/istio-discovery").ok();
    let by_chart = chart.map(|chart| chart.metadata.app_version).filter(|version| version != UNRELEASED);
    let by_chart = by_chart.and_then(|version| Minor::of_tag(&version));
    let by_profile = || {
        let source = charts.profile("default").ok()?;
        let profile: Value = yaml::load_first(&source, &Options::KUBERNETES).ok()??;
        Minor::of_tag(profile["spec"]["tag"].as_str()?)
    };
    by_chart.or_else(by_profile)
}

/// Variables of the control plane that turn back what a minor version does otherwise than the one before it: what `compatibilityMode`
/// is to that version.
type Changed = &'static [(&'static str, &'static str)];
const CHANGED: [(Minor, Changed); 3] = [
    (Minor(1, 29), &[("DISABLE_TRACK_REMAINING_CB_METRICS", "false")]),
    (Minor(1, 30), &[("PILOT_SIDECAR_PICK_BEST_SERVICE_NAMESPACE", "false")]),
    (
        Minor(1, 31),
        &[
            ("PILOT_ENABLE_STRICT_GATEWAY_MERGING", "false"),
            ("PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY", "false"),
            ("PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS", "false"),
        ],
    ),
];
/// The version that upstream's operator has, whose list our own distribution takes.
const UPSTREAMS: Minor = Minor(1, 30);

/// Nothing where it is not known what that version does otherwise. Without a version, upstream's operator's.
pub(super) fn changed(minor: Option<Minor>) -> Option<Changed> {
    let minor = minor.unwrap_or(UPSTREAMS);
    CHANGED.iter().find(|(known, _)| *known == minor).map(|(_, changed)| *changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizzen_install::Folder;
    use mizzen_testkit::{needs, tools};
    use mizzen_text::Source;
    use std::collections::BTreeMap;

    /// What charts of the installed Istio turn back for somebody who wants the behaviour of this version.
    fn turned_back(version: &str) -> BTreeMap<String, String> {
        let folder = tools::folder("modules/istio").unwrap();
        let file = folder.join(format!("manifests/helm-profiles/compatibility-version-{version}.yaml"));
        let source = Source::new(version, std::fs::read(file).unwrap());
        let profile: Value = yaml::load_first(&source, &Options::KUBERNETES).unwrap().unwrap();
        let env = profile["pilot"]["env"].as_object().unwrap().iter();
        env.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
    }

    #[test]
    fn what_is_turned_back_is_what_istio_itself_turns_back() -> mizzen_testkit::Result<()> {
        needs!(&["modules/istio"]);
        let ours = |minor: u32| -> BTreeMap<String, String> {
            let all = changed(Some(Minor(1, minor))).unwrap().iter();
            all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        // Charts of 1.31 with the behaviour of 1.30 turn back what 1.31 changed; those of 1.29 that and what 1.30 changed.
        assert_eq!(ours(31), turned_back("1.30"));
        for minor in [29, 30] {
            let (mut all, later) =
                (turned_back(&format!("1.{}", minor - 1)), turned_back(&format!("1.{minor}")));
            all.retain(|name, _| !later.contains_key(name));
            assert_eq!(ours(minor), all, "1.{minor}");
        }
        assert_eq!(changed(Some(Minor(1, 99))), None);
        assert_eq!(changed(None), changed(Some(Minor(1, 30))));
        // Its sources do not say of which version they are.
        let charts = Folder::open(tools::folder("modules/istio").unwrap().join("manifests")).unwrap();
        assert_eq!(IstioClient::new(Box::new(charts)).minor(), OWN);
        Ok(())
    }
}
