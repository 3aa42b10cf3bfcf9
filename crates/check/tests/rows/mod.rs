//! A row's arguments → an object of which they are a part, and the rest of which is fine. Upstream tests the pieces of
//! its validators one by one; ours are asked through the front door.
#![allow(clippy::needless_pass_by_value, reason = "parts are made where they are used")]

use mizzen_testkit::oracle::data::Row;
use serde_json::{Value, json};

/// The object, or why there is none.
pub(crate) fn object(row: &Row) -> Result<Value, &'static str> {
    let one = || value(row, 0).clone();
    let two = || value(row, 1).clone();
    Ok(match row.function.as_str() {
        "ValidateMaxServerConnectionAge" => {
            return Err("an option of the control plane's process, not of an object");
        }
        name if name.starts_with("Validate") && value(row, 0).get("specType").is_some() => whole(row)?,
        "validateEnvoyFilter" => whole(row)?,

        "validateServer" => gateway(json!([one()]), is_true(row, 1)),
        "validateServerPort" => {
            let mut server = json!({"port": one(), "bind": two(), "hosts": ["*"]});
            // Those that speak TLS need settings.
            let protocol = value(row, 0)["protocol"].as_str().unwrap_or_default();
            if matches!(protocol, "HTTPS" | "TLS") {
                server["tls"] = json!({"mode": "PASSTHROUGH"});
            }
            gateway(json!([server]), false)
        }
        "validateTLSOptions" => {
            let port = json!({"number": 443, "name": "https", "protocol": "HTTPS"});
            gateway(json!([{"port": port, "hosts": ["*"], "tls": one()}]), false)
        }

        "ValidateHTTPHeaderNameOrJwtClaimRoute" => {
            http(json!({"match": [{"headers": {text(row, 0): {"exact": "a"}}}], "route": route()}))
        }
        "ValidateHTTPHeaderValue" => {
            http(json!({"headers": {"request": {"set": {"x": one()}}}, "route": route()}))
        }
        "validateCORSPolicy" => http(json!({"corsPolicy": one(), "route": route()})),
        "validateHTTPStatus" => http(json!({"fault": {"abort": {"httpStatus": one()}}, "route": route()})),
        "validateHTTPFaultInjectionAbort" => {
            http(json!({"fault": beside(json!({"abort": one()})), "route": route()}))
        }
        "validateHTTPFaultInjectionDelay" => {
            http(json!({"fault": {"delay": one(), "abort": {"httpStatus": 503}}, "route": route()}))
        }
        "validateHTTPRetry" => http(json!({"retries": one(), "route": route()})),
        "validateHTTPRewrite" => http(json!({"rewrite": one(), "route": route()})),
        "validateURIRegexRewrite" => match value(row, 0) {
            Value::Null => http(json!({"route": route()})),
            rewrite => http(json!({"rewrite": {"uriRegexRewrite": rewrite}, "route": route()})),
        },
        "validateHTTPRedirect" => match value(row, 0) {
            Value::Null => http(json!({"match": two(), "route": route()})),
            redirect => http(json!({"redirect": redirect, "match": two()})),
        },
        "validateHTTPDirectResponse" => match value(row, 0) {
            Value::Null => http(json!({"route": route()})),
            response => http(json!({"directResponse": response})),
        },
        "validateDestination" => http(json!({"route": [{"destination": one()}]})),
        "validateHTTPRoute" => match (is_true(row, 1), is_true(row, 2)) {
            // A delegate has no hosts.
            (true, _) => virtual_service(json!({"http": [one()]}), false),
            (false, semantics) => virtual_service(json!({"hosts": ["foo.bar"], "http": [one()]}), semantics),
        },
        "validateRouteDestinations" => {
            virtual_service(json!({"hosts": ["foo.bar"], "tcp": [{"route": one()}]}), false)
        }
        "ValidateWildcardDomainForVirtualServiceBoundToGateway" => {
            // Only a name that TLS carries may have the form that Istio makes up for itself.
            let mut spec = json!({"hosts": [two()], "gateways": ["ns/gateway"]});
            let route = json!([{"destination": {"host": "foo.baz"}}]);
            if is_true(row, 0) {
                spec["tls"] = json!([{"match": [{"sniHosts": [two()]}], "route": route}]);
            } else {
                spec["http"] = json!([{"route": route}]);
            }
            virtual_service(spec, false)
        }

        "validateTrafficPolicy" => match value(row, 1) {
            Value::Null => rule(json!({"host": "a"}), text(row, 0)),
            policy => rule(json!({"host": "a", "trafficPolicy": policy}), text(row, 0)),
        },
        "validateConnectionPool" => {
            rule(json!({"host": "a", "trafficPolicy": {"connectionPool": one()}}), "ns")
        }
        "validateLoadBalancer" => {
            let policy = json!({"loadBalancer": one(), "outlierDetection": two()});
            rule(json!({"host": "a", "trafficPolicy": policy}), "ns")
        }
        "ValidateLocalityLbSetting" => {
            let policy = json!({"loadBalancer": {"localityLbSetting": one()}, "outlierDetection": two()});
            rule(json!({"host": "a", "trafficPolicy": policy}), "ns")
        }
        "ValidateZoneAwareLbSetting" => {
            let policy = json!({"loadBalancer": {"zoneAwareLbSetting": one()}, "outlierDetection": two()});
            rule(json!({"host": "a", "trafficPolicy": policy}), "ns")
        }
        "validateOutlierDetection" => {
            rule(json!({"host": "a", "trafficPolicy": {"outlierDetection": one()}}), "ns")
        }
        "ValidateTLS" => rule(json!({"host": "a", "trafficPolicy": {"tls": two()}}), text(row, 0)),
        "ValidateWildcardDomain" => rule(json!({"host": one()}), "ns"),
        "ValidateFQDN" => http(json!({"route": [{"destination": {"host": one()}}]})),
        "ValidateConnectTimeout" | "ValidateDuration" => rule(
            json!({"host": "a", "trafficPolicy": {"connectionPool": {"tcp": {"connectTimeout": one()}}}}),
            "ns",
        ),
        "ValidatePort" => match value(row, 0).as_i64() {
            Some(port @ 0..) => gateway(
                json!([{"port": {"number": port, "name": "a", "protocol": "HTTP"}, "hosts": ["*"]}]),
                false,
            ),
            _ => return Err("no object can hold a negative port"),
        },

        "validateExportTo" => match (is_true(row, 2), is_true(row, 3)) {
            (true, _) => service_entry(json!({"exportTo": two()}), text(row, 0)),
            (_, true) => rule(
                json!({"host": "a", "exportTo": two(), "workloadSelector": {"matchLabels": {"a": "b"}}}),
                text(row, 0),
            ),
            _ => rule(json!({"host": "a", "exportTo": two()}), text(row, 0)),
        },
        "ValidatePortName" => {
            service_entry(json!({"ports": [{"number": 80, "protocol": "HTTP", "name": one()}]}), "ns")
        }
        "ValidateIPSubnet" => service_entry(json!({"addresses": [one()]}), "ns"),
        "ValidateStrictHTTPHeaderName" => {
            let rules = json!([{"issuer": "a", "outputClaimToHeaders": [{"header": one(), "claim": "b"}]}]);
            named("security.istio.io/v1", "RequestAuthentication", "ns", json!({"jwtRules": rules}))
        }
        "validateTelemetryFilter" => {
            named("telemetry.istio.io/v1", "Telemetry", "ns", json!({"accessLogging": [{"filter": one()}]}))
        }
        _ => return Err("not part of one of the 15 kinds"),
    })
}

/// A row of a kind's own validator has the whole object.
fn whole(row: &Row) -> Result<Value, &'static str> {
    let config = value(row, 0);
    let (package, kind) =
        config["specType"].as_str().and_then(|name| name.rsplit_once('.')).unwrap_or_default();
    let expected = row.function.trim_start_matches("Validate").trim_start_matches("validate");
    if kind != expected {
        return Err("a spec of another kind: no document can say that");
    }
    let api_version = match package {
        "istio.security.v1beta1" => "security.istio.io/v1",
        "istio.telemetry.v1alpha1" => "telemetry.istio.io/v1",
        "istio.extensions.v1alpha1" => "extensions.istio.io/v1alpha1",
        "istio.networking.v1beta1" => "networking.istio.io/v1beta1",
        _ if kind == "EnvoyFilter" => "networking.istio.io/v1alpha3",
        _ => "networking.istio.io/v1",
    };
    Ok(
        json!({"apiVersion": api_version, "kind": kind, "metadata": config["metadata"], "spec": config["spec"]}),
    )
}

fn named(api_version: &str, kind: &str, namespace: &str, spec: Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": namespace}, "spec": spec})
}

fn gateway(servers: Value, semantics: bool) -> Value {
    let mut object = named("networking.istio.io/v1", "Gateway", "ns", json!({"servers": servers}));
    if semantics {
        object["metadata"]["annotations"] = json!({"internal.istio.io/gateway-semantics": "gateway"});
    }
    object
}

fn virtual_service(spec: Value, semantics: bool) -> Value {
    let mut object = named("networking.istio.io/v1", "VirtualService", "ns", spec);
    if semantics {
        object["metadata"]["annotations"] = json!({"internal.istio.io/route-semantics": "gateway"});
    }
    object
}

fn http(route: Value) -> Value {
    virtual_service(json!({"hosts": ["foo.bar"], "http": [route]}), false)
}

fn rule(spec: Value, namespace: &str) -> Value {
    named("networking.istio.io/v1", "DestinationRule", namespace, spec)
}

/// An external service with `part` in place of what it would have there.
fn service_entry(part: Value, namespace: &str) -> Value {
    let mut spec = json!({
        "hosts": ["a.example.com"],
        "ports": [{"number": 80, "name": "http", "protocol": "HTTP"}],
        "resolution": "NONE",
    });
    for (name, value) in part.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    named("networking.istio.io/v1", "ServiceEntry", namespace, spec)
}

fn route() -> Value {
    json!([{"destination": {"host": "foo.baz"}}])
}

/// A fault must do something.
fn beside(mut fault: Value) -> Value {
    fault["delay"] = json!({"fixedDelay": "1s", "percentage": {"value": 1}});
    fault
}

fn text(row: &Row, argument: usize) -> &str {
    value(row, argument).as_str().unwrap_or_default()
}

fn value(row: &Row, argument: usize) -> &Value {
    row.arguments.get(argument).map_or(&Value::Null, |argument| &argument.value)
}

fn is_true(row: &Row, argument: usize) -> bool {
    value(row, argument) == &Value::Bool(true)
}
