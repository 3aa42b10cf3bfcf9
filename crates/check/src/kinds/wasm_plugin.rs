//! WasmPlugin: a WebAssembly module in the proxies.

use crate::{
    Findings,
    parts::{
        selector,
        wasm::{self, Module},
    },
};
use mizzen_api::proto::istio::extensions::v1alpha1::WasmPlugin;
use mizzen_text::At;

pub(crate) fn check(spec: &WasmPlugin, found: &mut Findings) {
    let at = At::TOP.field("spec");
    selector::policy(spec.selector.as_ref(), spec.target_ref.as_ref(), &spec.target_refs, &at, found);
    let module = Module {
        url: &spec.url,
        sha256: &spec.sha256,
        image_pull_secret: &spec.image_pull_secret,
        plugin_name: &spec.plugin_name,
        vm_config: spec.vm_config.as_ref(),
    };
    wasm::check(&module, &at, found);
    let matches = at.field("match");
    for (index, traffic) in spec.r#match.iter().enumerate() {
        wasm::ports(&traffic.ports, &matches.index(index).field("ports"), found);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{accepted, refused_at};
    use serde_json::{Value, json};

    fn plugin(spec: &Value) -> Value {
        json!({"apiVersion": "extensions.istio.io/v1alpha1", "kind": "WasmPlugin",
               "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
    }

    #[test]
    fn an_ordinary_plugin_is_accepted() {
        accepted(&plugin(&json!({
            "url": "oci://r.io/filter:v1",
            "sha256": "0".repeat(64),
            "imagePullSecret": "s".repeat(253),
            "pluginName": "n".repeat(256),
            "vmConfig": {"env": [{"name": "A", "value": "b"}, {"name": "POD", "valueFrom": "HOST"}]},
            "match": [{"mode": "SERVER", "ports": [{"number": 80}]}],
        })));
    }

    #[test]
    fn every_wrong_field_is_told() {
        refused_at(
            &plugin(&json!({
                "targetRefs": [{"kind": "Service", "name": ""}],
                "url": "",
                "sha256": "x",
                "imagePullSecret": "s".repeat(254),
                "pluginName": "n".repeat(257),
                "vmConfig": {"env": [
                    {"value": "b"},
                    {"name": "A"},
                    {"name": "A"},
                    {"name": "n".repeat(257)},
                    {"name": "B", "valueFrom": "HOST", "value": "b"},
                ]},
                "match": [{"ports": [{"number": 80}, {}]}, {"ports": [{"number": 65_536}]}],
            })),
            &[
                "spec.targetRefs[0].name",
                "spec.url",
                "spec.sha256",
                "spec.imagePullSecret",
                "spec.pluginName",
                "spec.vmConfig.env[0].name",
                "spec.vmConfig.env[2].name",
                "spec.vmConfig.env[3].name",
                "spec.vmConfig.env[4].value",
                "spec.match[0].ports[1].number",
                "spec.match[1].ports[0].number",
            ],
        );
    }
}
