//! Where our objects are meant to differ from Istio's. `docs/charts.md` tells people the same.

use regex::Regex;

/// An expression for `PROFILE+FLAGS KIND/NAMESPACE/NAME: FACT: OURS ≠ THEIRS`, or `…: only in ours`, and the reason.
const MEANT: [(&str, &str); 7] = [
    (r#": (pod )?label app\.kubernetes\.io/version: "\d\S*" ≠ "1\.0\.0"$"#, "our own version"),
    (r": (pod )?label helm\.sh/chart, version: \d\S* ≠ 1\.0\.0$", "our own version"),
    (
        r#"MutatingWebhookConfiguration//\S+: \S+ failure: "Ignore" ≠ "Fail"$"#,
        "nobody serves the injection webhook yet: a failure must not keep pods out",
    ),
    (
        r#"ValidatingWebhookConfiguration//\S+: \S+ failure: "Ignore" ≠ "Fail"$"#,
        "nobody serves the validation webhook yet: a failure must not keep objects out",
    ),
    (
        r"^stable\+cluster ValidatingAdmissionPolicy(Binding)?//stable-channel-policy\S*: only in ours$",
        "an object of the cluster's scope belongs to resourceScope cluster",
    ),
    (
        r"^stable\+namespace ValidatingAdmissionPolicy(Binding)?//stable-channel-policy\S*: only in theirs$",
        "an object of the cluster's scope does not belong to resourceScope namespace",
    ),
    (
        r#"^demo\+remote-revision ConfigMap/istio-system/istio-z: mesh defaultConfig: \{"discoveryAddress":"istiod-z\."#,
        "proxies must find the Service that there is: the revision's",
    ),
];

/// The rows of the table, and what each has excused.
pub(crate) struct Differences(Vec<(Regex, &'static str, usize)>);

impl Differences {
    pub(crate) fn new() -> Self {
        Self(MEANT.iter().map(|(what, why)| (Regex::new(what).unwrap(), *why, 0)).collect())
    }

    /// Whether the difference is meant.
    pub(crate) fn excuse(&mut self, line: &str) -> bool {
        match self.0.iter_mut().find(|(what, ..)| what.is_match(line)) {
            Some((.., times)) => *times += 1,
            None => return false,
        }
        true
    }

    /// Each row with what it has excused.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.0.iter().map(|(what, why, times)| (what.as_str(), *why, *times))
    }
}
