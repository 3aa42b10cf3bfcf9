//! `spec.experimental`, which only an experimental build takes, and two address families.

use super::push;
use mizzen_api::istio::Spec;
use serde_json::{Value, json};

const DUAL_STACK: &str = "ISTIO_DUAL_STACK";

pub(super) fn lay(operator: &mut Value, spec: &Spec, dual_stack: bool) {
    if let Some(wanted) = &spec.experimental {
        let flags = [
            ("PILOT_ENABLE_ALPHA_GATEWAY_API", wanted.pilot.enable_alpha_gateway_api),
            (
                "PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API",
                wanted.pilot.enable_multi_network_discover_gateway_api,
            ),
        ];
        for (name, _) in flags.into_iter().filter(|(_, on)| *on) {
            push(
                &mut operator["components"]["pilot"]["k8s"]["env"],
                json!({ "name": name, "value": "true" }),
            );
        }
        if wanted.enable_ambient == Some(true) {
            operator["components"]["ztunnel"]["enabled"] = true.into();
            operator["values"]["pilot"]["env"]["PILOT_ENABLE_AMBIENT"] = "true".into();
            operator["values"]["cni"]["ambient"]["enabled"] = true.into();
            operator["meshConfig"]["defaultConfig"]["proxyMetadata"]["ISTIO_META_ENABLE_HBONE"] =
                "true".into();
        }
    }
    if dual_stack {
        operator["meshConfig"]["defaultConfig"]["proxyMetadata"][DUAL_STACK] = "true".into();
        let values = &mut operator["values"];
        values["pilot"]["env"][DUAL_STACK] = "true".into();
        values["pilot"]["ipFamilyPolicy"] = "RequireDualStack".into();
        for gateway in ["istio-ingressgateway", "istio-egressgateway"] {
            values["gateways"][gateway]["ipFamilyPolicy"] = "RequireDualStack".into();
        }
    }
}
