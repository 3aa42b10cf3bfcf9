//! The definition of the IstioOperator resource, as Istio's operator had it: what is in it is checked when it is used, with a place
//! and a sentence, which a schema could not give.

use crate::decide::{GROUP, KIND, VERSION};
use serde_json::{Value, json};

pub fn definition() -> Value {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("istiooperators.{GROUP}"), "labels": { "release": "istio" } },
        "spec": {
            "group": GROUP,
            "names": {
                "kind": KIND, "listKind": format!("{KIND}List"), "plural": "istiooperators",
                "singular": "istiooperator", "shortNames": ["iop", "io"],
            },
            "scope": "Namespaced",
            "versions": [{
                "name": VERSION, "served": true, "storage": true,
                "subresources": { "status": {} },
                "additionalPrinterColumns": [
                    { "name": "Revision", "type": "string", "jsonPath": ".spec.revision",
                      "description": "Istio control plane revision" },
                    { "name": "Status", "type": "string", "jsonPath": ".status.status",
                      "description": "IOP current state" },
                    { "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
                      "description": "How long it has been there" },
                ],
                "schema": { "openAPIV3Schema": {
                    "type": "object", "properties": { "spec": open, "status": open },
                } },
            }],
        },
    })
}
