//! TrafficExtension: a WebAssembly module or a Lua script in the proxies.

use crate::{
    Findings,
    parts::{
        selector,
        wasm::{self, Module},
    },
};
use mizzen_api::proto::istio::extensions::v1alpha1::{
    LuaConfig, TrafficExtension, WasmConfig, traffic_extension::FilterConfig,
};
use mizzen_text::At;

/// In bytes.
const LONGEST_SCRIPT: usize = 65_536;

pub(crate) fn check(spec: &TrafficExtension, found: &mut Findings) {
    let at = At::TOP.field("spec");
    selector::policy(spec.selector.as_ref(), None, &spec.target_refs, &at, found);
    match &spec.filter_config {
        Some(FilterConfig::Lua(script)) => lua(script, &at.field("lua"), found),
        Some(FilterConfig::Wasm(module)) => wasm::check(&part(module), &at.field("wasm"), found),
        None => found.error(&at, "exactly one of wasm or lua must be set"),
    }
    let matches = at.field("match");
    for (index, traffic) in spec.r#match.iter().enumerate() {
        wasm::ports(&traffic.ports, &matches.index(index).field("ports"), found);
    }
}

fn part(module: &WasmConfig) -> Module<'_> {
    Module {
        url: &module.url,
        sha256: &module.sha256,
        image_pull_secret: &module.image_pull_secret,
        plugin_name: &module.plugin_name,
        vm_config: module.vm_config.as_ref(),
    }
}

fn lua(script: &LuaConfig, at: &At<'_>, found: &mut Findings) {
    let at = at.field("inlineCode");
    match script.inline_code.len() {
        0 => found.error(&at, "lua.inlineCode cannot be empty"),
        1..=LONGEST_SCRIPT => {}
        length => {
            found.error(&at, format!("lua.inlineCode exceeds maximum size of 64KB: it has {length} bytes"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{accepted, refused_at};
    use serde_json::{Value, json};

    fn extension(spec: &Value) -> Value {
        json!({"apiVersion": "extensions.istio.io/v1alpha1", "kind": "TrafficExtension",
               "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
    }

    #[test]
    fn it_is_a_module_or_a_script() {
        accepted(&extension(&json!({"lua": {"inlineCode": "x".repeat(65_536)}})));
        accepted(&extension(&json!({"wasm": {"url": "oci://a/b"}, "match": [{"ports": [{"number": 1}]}]})));
        refused_at(&extension(&json!({})), &["spec"]);
    }

    #[test]
    fn a_script_is_neither_empty_nor_huge() {
        refused_at(&extension(&json!({"lua": {}})), &["spec.lua.inlineCode"]);
        refused_at(&extension(&json!({"lua": {"inlineCode": "x".repeat(65_537)}})), &["spec.lua.inlineCode"]);
    }

    #[test]
    fn a_module_has_a_plugin_s_rules() {
        refused_at(
            &extension(&json!({
                "selector": {"matchLabels": {"a": "b"}},
                "targetRefs": [{"kind": "Pod", "name": "a"}],
                "wasm": {"sha256": "x", "vmConfig": {"env": [{}]}},
                "match": [{"ports": [{"number": 0}]}],
            })),
            &[
                "spec",
                "spec.targetRefs[0].kind",
                "spec.wasm.url",
                "spec.wasm.sha256",
                "spec.wasm.vmConfig.env[0].name",
                "spec.match[0].ports[0].number",
            ],
        );
    }
}
