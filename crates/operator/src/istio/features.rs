//! Switches of the cluster's administrator: ConfigMap `kyma-system/istio-features`, key `features`, a JSON object.

use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Features {
    pub disable_cni: bool,
    #[serde(rename = "enableControlPlaneVPA")]
    pub enable_control_plane_vpa: bool,
}

impl Features {
    /// No map and no key mean that all are off; what cannot be read is told, and means the same.
    pub fn of(map: Option<&Value>) -> Result<Self, String> {
        let Some(text) = map.and_then(|map| map.pointer("/data/features")?.as_str()) else {
            return Ok(Self::default());
        };
        serde_json::from_str(text)
            .map_err(|error| format!("the key features of ConfigMap kyma-system/istio-features is no JSON object of switches: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_said_is_off_and_nonsense_is_told() {
        let of = |text: &str| Features::of(Some(&json!({ "data": { "features": text } })));
        assert_eq!(Features::of(None), Ok(Features::default()));
        assert_eq!(Features::of(Some(&json!({ "data": {} }))), Ok(Features::default()));
        assert_eq!(of("{}"), Ok(Features::default()));
        let on = of(r#"{"disableCni":true,"enableControlPlaneVPA":true,"other":1}"#).unwrap();
        assert!(on.disable_cni && on.enable_control_plane_vpa);
        for bad in ["", "{", "[1]", r#"{"disableCni":"true"}"#] {
            assert!(of(bad).is_err_and(|text| text.contains("istio-features")), "{bad}");
        }
    }
}
