//! The definition of the kind, for an API server: which specs it takes is the same as upstream's, to the letter of its messages.

use super::{
    GROUP, KIND, PLURAL, VERSIONS,
    affinity::{affinity, object, required},
};
use serde_json::{Value, json};

const CPU: &str = r"^([0-9]+m?|[0-9]\.[0-9]{1,3})$";
const MEMORY: &str = r"^[0-9]+(((\.[0-9]+)?(E|P|T|G|M|k|Ei|Pi|Ti|Gi|Mi|Ki|m)?)|(e[0-9]+))$";
const SURGE: &str = r"^[0-9]+%?$";
const UNAVAILABLE: &str = r"^((100|[0-9]{1,2})%|[0-9]+)$";
const TRUST_DOMAIN: &str = r"^[a-z0-9]*([a-z0-9-_]*)?(\.[a-z0-9]*([a-z0-9-_]*[a-z0-9]*)?)*$";
const NOT_NEGATIVE: &str = "must not be negative, more than 2147483647 or an empty string";
/// `Sat-Sun 00:00-04:00`, in UTC.
const WINDOW: &str = r"^((Mon|Tue|Wed|Thu|Fri|Sat|Sun)([-,](Mon|Tue|Wed|Thu|Fri|Sat|Sun))* )?[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9]$";

/// The whole `CustomResourceDefinition`, ready for an API server.
pub fn definition() -> Value {
    let versions = VERSIONS.iter().enumerate().map(|(place, name)| {
        json!({
            "name": name, "served": true, "storage": place == 0,
            "subresources": { "status": {} },
            "additionalPrinterColumns": columns(),
            "schema": { "openAPIV3Schema": schema() },
        })
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{PLURAL}.{GROUP}") },
        "spec": {
            "group": GROUP,
            "names": {
                "kind": KIND, "listKind": format!("{KIND}List"), "plural": PLURAL, "singular": "istio",
                "categories": ["kyma-modules", "kyma-istio"],
            },
            "scope": "Namespaced",
            "conversion": { "strategy": "None" },
            "versions": versions.collect::<Vec<_>>(),
        },
    })
}

fn schema() -> Value {
    let spec = object(&json!({
        "config": config(),
        "components": components(),
        "experimental": told("Only in an experimental build.", object(&json!({
            "pilot": object(&json!({
                "enableAlphaGatewayAPI": yes_or_no("Kinds of the Gateway API that are still alpha."),
                "enableMultiNetworkDiscoverGatewayAPI": yes_or_no("Gateways of other networks found by the Gateway API."),
            })),
            "enableAmbient": yes_or_no("Meshes without sidecars."),
        }))),
        "compatibilityMode": yes_or_no("Behave as the minor version before, where this one changed something."),
        "networkPoliciesEnabled": yes_or_no("Network policies around the parts of the mesh."),
        "mizzen": mizzen(),
    }));
    let top = json!({
        "apiVersion": word(""), "kind": word(""), "metadata": { "type": "object" },
        "spec": told("How the mesh is to be.", spec), "status": status(),
    });
    told("The mesh of a cluster: applied it is installed, deleted it goes.", object(&top))
}

fn config() -> Value {
    let trust_domain = json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": TRUST_DOMAIN });
    let matcher = object(&json!({ "inclusionRegexps": words("Regular expressions of RE2.") }));
    object(&json!({
        "numTrustedProxies": told("How many proxies in front of the gateways are trusted.",
            json!({ "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32 })),
        "forwardClientCertDetails": told("What gateways do with a client certificate's header; SANITIZE_SET if nothing is said.",
            json!({ "type": "string", "enum": ["APPEND_FORWARD", "SANITIZE_SET", "SANITIZE", "ALWAYS_FORWARD_ONLY", "FORWARD_ONLY"] })),
        "authorizers": told("Who may be asked whether a request passes.", json!({ "type": "array", "items": authorizer() })),
        "gatewayExternalTrafficPolicy": told("externalTrafficPolicy of the ingress gateway's Service.",
            json!({ "type": "string", "enum": ["Local", "Cluster"] })),
        "telemetry": object(&json!({
            "metrics": object(&json!({ "prometheusMerge": yes_or_no("An application's metrics served together with its proxy's.") })),
        })),
        "trustDomain": told("The domain of all identities in the mesh; cluster.local if nothing is said.", trust_domain),
        "enableDNSProxying": yes_or_no("Sidecars answer their applications' DNS questions."),
        "proxyStatsMatcher": told("Which further statistics proxies keep.", matcher),
    }))
}

fn authorizer() -> Value {
    let added = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let headers = object(&json!({
        "inCheck": object(&json!({
            "include": words("Headers of the request that it is told."),
            "add": told("Headers that it is told besides.", added),
        })),
        "toUpstream": object(&json!({ "onAllow": words("Headers of its answer that go on with the request.") })),
        "toDownstream": object(&json!({
            "onAllow": words("Headers of its answer that the client gets with the response."),
            "onDeny": words("The same where the request is refused."),
        })),
    }));
    let authorizer = object(&json!({
        "name": word("By which policies name it; no two have the same."),
        "service": word("Where it is: [NAMESPACE/]HOST."),
        "port": told("Of the service.", json!({ "type": "integer", "format": "int32" })),
        "pathPrefix": word("Put in front of the request's path when it is asked."),
        "timeout": word("For its answer, such as 500ms or 2s."),
        "headers": headers,
    }));
    required(authorizer, &["name", "port"])
}

fn components() -> Value {
    let k8s = |inner: Value| object(&json!({ "k8s": inner }));
    let workload = required(k8s(settings()), &["k8s"]);
    let egress = object(
        &json!({ "enabled": yes_or_no("Whether there is one; there is none if nothing is said."), "k8s": settings() }),
    );
    let cni = object(&json!({ "affinity": told("Kubernetes' own.", affinity()), "resources": resources() }));
    object(&json!({
        "pilot": told("The control plane.", workload.clone()),
        "ingressGateway": workload,
        "egressGateway": egress,
        "cni": told("The node agents.", required(k8s(cni), &["k8s"])),
        "proxy": told("The sidecars.", required(k8s(object(&json!({ "resources": resources() }))), &["k8s"])),
    }))
}

fn settings() -> Value {
    let replicas = |text: &str| {
        told(text, json!({ "type": "integer", "format": "int32", "minimum": 0, "maximum": i32::MAX }))
    };
    let rolling = object(&json!({
        "maxSurge": told("Pods beyond the wanted number, or a percentage.", int_or_string(SURGE)),
        "maxUnavailable": told("Pods that may be missing, or a percentage.", int_or_string(UNAVAILABLE)),
    }));
    object(&json!({
        "hpaSpec": object(&json!({
            "minReplicas": replicas("At least so many pods."), "maxReplicas": replicas("At most so many pods."),
        })),
        "strategy": required(object(&json!({ "rollingUpdate": rolling })), &["rollingUpdate"]),
        "resources": resources(),
    }))
}

fn int_or_string(pattern: &str) -> Value {
    json!({
        "anyOf": [{ "type": "integer" }, { "type": "string" }],
        "pattern": pattern,
        "x-kubernetes-int-or-string": true,
        "x-kubernetes-validations": [{
            "message": NOT_NEGATIVE,
            "rule": "(type(self) == int ? self >= 0 && self <= 2147483647: self.size() >= 0)",
        }],
    })
}

fn resources() -> Value {
    let quantities = object(&json!({
        "cpu": { "type": "string", "pattern": CPU }, "memory": { "type": "string", "pattern": MEMORY },
    }));
    object(&json!({ "limits": quantities, "requests": quantities }))
}

fn mizzen() -> Value {
    let restart = object(&json!({
        "enabled": yes_or_no("Off: workloads are only told of, never restarted."),
        "windows": told("When, such as `Sat-Sun 00:00-04:00`, in UTC; at any time if nothing is said.",
            json!({ "type": "array", "maxItems": 32, "items": { "type": "string", "maxLength": 64, "pattern": WINDOW } })),
        "batchSize": told("Workloads at once.", json!({ "type": "integer", "format": "int32", "minimum": 1 })),
    }));
    let distribution = json!({ "type": "string", "enum": ["mizzen", "istio"] });
    told(
        "What only Mizzen has.",
        object(&json!({
            "distribution": told("`mizzen`, or `istio`: upstream's, from the charts that the operator was started with.", distribution),
            "restart": told("How workloads with an old proxy are restarted.", restart),
        })),
    )
}

/// Upstream has the first; the last is for `-o wide`.
fn columns() -> Value {
    json!([
        { "name": "State", "type": "string", "jsonPath": ".status.state" },
        { "name": "Version", "type": "string", "jsonPath": ".status.installedVersion" },
        { "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp" },
        { "name": "Description", "type": "string", "jsonPath": ".status.description", "priority": 1 },
    ])
}

fn status() -> Value {
    let condition = object(&json!({
        "type": { "type": "string", "maxLength": 316, "pattern": CONDITION_TYPE },
        "status": { "type": "string", "enum": ["True", "False", "Unknown"] },
        "reason": { "type": "string", "minLength": 1, "maxLength": 1024, "pattern": r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
        "message": { "type": "string", "maxLength": 32768 },
        "lastTransitionTime": { "type": "string", "format": "date-time" },
        "observedGeneration": { "type": "integer", "format": "int64", "minimum": 0 },
    }));
    let condition = required(condition, &["lastTransitionTime", "message", "reason", "status", "type"]);
    let component = object(&json!({
        "name": { "type": "string" },
        "phase": { "type": "string", "enum": ["Pending", "Waiting", "Ready", "Failed"] },
        "reason": word("What it waits for, or why it failed."),
    }));
    let outdated = object(&json!({
        "count": { "type": "integer", "format": "int64" }, "workloads": words("Some of them."),
        "waiting": told(
            "How many of them wait, by what for.",
            json!({ "type": "object", "additionalProperties": { "type": "integer", "format": "int64" } }),
        ),
    }));
    let read = object(&json!({
        "enableDNSProxying": yes_or_no(""),
        "inclusionRegexps": words("Of the proxies' statistics."),
        "since": word("When it became so, by the server's clock."),
        "touched": word("When that was written which is about to be replaced."),
    }));
    let status = object(&json!({
        "state": { "type": "string", "enum": ["Processing", "Deleting", "Ready", "Error", "Warning"] },
        "description": { "type": "string" },
        "conditions": { "type": "array", "items": condition },
        "observedGeneration": told("The generation that all of this is about.", json!({ "type": "integer", "format": "int64" })),
        "installedVersion": word("Of the mesh that was installed last."),
        "installedProgram": word("Whose control plane that is: mizzen or istio."),
        "nextVersion": word("The minor version that follows that one, when all who have a turn to be restarted have had it."),
        "components": { "type": "array", "items": required(component, &["name", "phase"]) },
        "outdatedProxies": told("Workloads whose proxies are not what they should be.", outdated),
        "applied": told(
            "The spec that all was done of last.",
            // As a whole: an empty one would become null otherwise, when fields of it go.
            json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" }),
        ),
        "readAtStart": told("What a proxy reads only when it starts: who is older than that has read something else.", read),
    }));
    told("What became of it.", required(status, &["state"]))
}

const CONDITION_TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

fn told(text: &str, mut schema: Value) -> Value {
    if !text.is_empty() {
        schema["description"] = text.into();
    }
    schema
}

fn word(text: &str) -> Value {
    told(text, json!({ "type": "string" }))
}

fn words(text: &str) -> Value {
    told(text, json!({ "type": "array", "items": { "type": "string" } }))
}

fn yes_or_no(text: &str) -> Value {
    told(text, json!({ "type": "boolean" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_served_and_have_one_schema() {
        let definition = definition();
        let versions = definition["spec"]["versions"].as_array().unwrap();
        assert_eq!(versions.len(), 2);
        assert_eq!(versions[0]["schema"], versions[1]["schema"]);
        assert_eq!((&versions[0]["storage"], &versions[1]["storage"]), (&json!(true), &json!(false)));
        assert!(versions.iter().all(|version| version["served"] == true));
    }
}
