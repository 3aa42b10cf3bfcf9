//! The routes to a service as a proxy has them, in words.
//!
//! They are those of a caller: the control plane is asked what it has for one that is not the service itself.

use crate::{
    http::get,
    plan::{GATEWAY, NAMESPACE},
    up::Mesh,
};
use http::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

const WAIT: Duration = Duration::from_secs(5);

pub(super) async fn of(mesh: &Mesh, service: &str) -> Result<Value, (StatusCode, String)> {
    let workloads = &mesh.plan.workloads;
    let caller = if service == GATEWAY || service == "istio-ingressgateway" {
        GATEWAY.to_owned()
    } else if workloads.iter().any(|workload| workload.service == service) {
        // The first that is not the service itself; one that calls itself sees the same.
        let other = workloads.iter().find(|workload| workload.service != service).or(workloads.first());
        other.map(|workload| workload.name.clone()).unwrap_or_default()
    } else {
        return Err((StatusCode::NOT_FOUND, format!("there is no service {service} in this mesh")));
    };
    let page = format!(
        "/debug/config_dump?proxyID={caller}.{NAMESPACE}&types=type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
    );
    let answer = get(&mesh.control_plane(), &page, &[], WAIT).await;
    let unavailable = |reason: String| (StatusCode::SERVICE_UNAVAILABLE, reason);
    let answer =
        answer.map_err(|error| unavailable(format!("the control plane does not answer: {error}")))?;
    if !answer.status.is_success() {
        let said = String::from_utf8_lossy(&answer.body).trim().to_owned();
        return Err(unavailable(format!("the control plane says of {caller}: {said}")));
    }
    let dump = serde_json::from_slice(&answer.body).map_err(|error| unavailable(error.to_string()))?;
    let wanted = if caller == GATEWAY { None } else { Some(service) };
    Ok(json!({ "service": service, "seenBy": caller, "virtualHosts": virtual_hosts(&dump, wanted) }))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn virtual_hosts(dump: &Value, service: Option<&str>) -> Vec<Value> {
    let all = list(&dump["configs"]).flat_map(|config| list(&config["virtualHosts"]));
    let wanted = |host: &&Value| {
        service.is_none_or(|service| list(&host["domains"]).any(|domain| is_of(domain, service)))
    };
    let mut shown: Vec<Value> = Vec::new();
    for host in all.filter(wanted) {
        let rules: Vec<Value> = list(&host["routes"]).map(rule).collect();
        let one = json!({ "name": host["name"], "domains": host["domains"], "rules": rules });
        // The HTTP proxy's table has what the table of the port has.
        if !shown.iter().any(|other| other["name"] == one["name"]) {
            shown.push(one);
        }
    }
    shown
}

/// `reviews` or `reviews:9080`
fn is_of(domain: &Value, service: &str) -> bool {
    let rest = domain.as_str().and_then(|domain| domain.strip_prefix(service));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

fn rule(route: &Value) -> Value {
    json!({
        "name": route["name"].as_str().unwrap_or_default(),
        "when": when(&route["match"]),
        "to": to(&route["route"]),
        "does": does(route),
        "from": from(&route["metadata"]),
    })
}

/// `/apis/networking.istio.io/v1/namespaces/default/virtual-service/reviews`
fn from(metadata: &Value) -> Value {
    let path = metadata["filterMetadata"]["istio"]["config"].as_str().unwrap_or_default();
    let mut parts = path.rsplit('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(name), Some("virtual-service"), Some(namespace)) => {
            format!("VirtualService {namespace}/{name}").into()
        }
        _ => Value::Null,
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `{ "exact": "a" }`, `{ "prefix": "b" }`, … in words.
fn matcher(value: &Value) -> String {
    let kinds =
        [("exact", "is"), ("prefix", "starts with"), ("suffix", "ends with"), ("contains", "contains")];
    for (key, words) in kinds {
        if let Some(found) = value.get(key) {
            return format!("{words} {}", text(found));
        }
    }
    match value.get("safeRegex") {
        Some(regex) => format!("matches {}", text(&regex["regex"])),
        None => "is there".to_owned(),
    }
}

fn when(value: &Value) -> Vec<String> {
    let mut when = Vec::new();
    for (key, words) in [("prefix", "starts with"), ("path", "is"), ("pathSeparatedPrefix", "starts with")] {
        if let Some(path) = value.get(key) {
            when.push(format!("path {words} {}", text(path)));
        }
    }
    if let Some(regex) = value.get("safeRegex") {
        when.push(format!("path matches {}", text(&regex["regex"])));
    }
    for (key, what) in [("headers", "header"), ("queryParameters", "query parameter")] {
        for header in list(&value[key]) {
            let not = if header["invertMatch"] == true { "not: " } else { "" };
            let condition = match header.get("stringMatch") {
                Some(condition) => matcher(condition),
                None => matcher(header),
            };
            when.push(format!("{not}{what} {} {condition}", text(&header["name"])));
        }
    }
    when
}

/// `outbound|9080|v1|reviews.default.svc.cluster.local`
fn destination(cluster: &str, weight: &Value) -> Value {
    let parts: Vec<&str> = cluster.split('|').collect();
    let own = format!(".{NAMESPACE}.svc.cluster.local");
    match parts[..] {
        ["outbound", port, subset, host] => json!({
            "service": host.strip_suffix(&own).unwrap_or(host),
            "subset": subset,
            "port": port.parse::<u32>().unwrap_or_default(),
            "weight": weight,
        }),
        _ => json!({ "service": cluster, "subset": "", "port": 0, "weight": weight }),
    }
}

fn to(action: &Value) -> Vec<Value> {
    if let Some(cluster) = action["cluster"].as_str() {
        return vec![destination(cluster, &json!(100))];
    }
    let weighted = list(&action["weightedClusters"]["clusters"]);
    weighted.map(|one| destination(one["name"].as_str().unwrap_or_default(), &one["weight"])).collect()
}

fn does(route: &Value) -> Vec<String> {
    let mut does = Vec::new();
    let action = &route["route"];
    if let Some(timeout) = action["timeout"].as_str().filter(|timeout| *timeout != "0s") {
        does.push(format!("timeout {timeout}"));
    }
    let retries = &action["retryPolicy"];
    if retries.is_object() {
        let count = retries["numRetries"].as_u64().unwrap_or(1);
        does.push(format!("{count} retries on {}", text(&retries["retryOn"])));
    }
    for (key, words) in [("prefixRewrite", "path becomes"), ("hostRewriteLiteral", "host becomes")] {
        if let Some(value) = action[key].as_str() {
            does.push(format!("{words} {value}"));
        }
    }
    for mirror in list(&action["requestMirrorPolicies"]) {
        does.push(format!(
            "mirrored to {}",
            text(&destination(mirror["cluster"].as_str().unwrap_or_default(), &Value::Null)["service"])
        ));
    }
    if let Some(redirect) = route["redirect"].as_object() {
        let place: Vec<String> =
            redirect.iter().map(|(key, value)| format!("{key} {}", text(value))).collect();
        does.push(format!("redirects: {}", place.join(", ")));
    }
    if let Some(status) = route["directResponse"]["status"].as_u64() {
        does.push(format!("answers {status}"));
    }
    let fault = &route["typedPerFilterConfig"]["envoy.filters.http.fault"];
    if let Some(status) = fault["abort"]["httpStatus"].as_u64() {
        does.push(format!("answers {status} to {} (fault)", percent(&fault["abort"]["percentage"])));
    }
    if let Some(delay) = fault["delay"]["fixedDelay"].as_str() {
        does.push(format!("waits {delay} for {} (fault)", percent(&fault["delay"]["percentage"])));
    }
    does
}

fn percent(value: &Value) -> String {
    let numerator = value["numerator"].as_f64().unwrap_or(100.0);
    let of = match value["denominator"].as_str() {
        Some("TEN_THOUSAND") => 10_000.0,
        Some("MILLION") => 1_000_000.0,
        _ => 100.0,
    };
    format!("{} %", numerator * 100.0 / of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_told_in_words() {
        let dump = json!({ "configs": [{ "name": "9080", "virtualHosts": [
            { "name": "other", "domains": ["other"], "routes": [] },
            { "name": "reviews:9080", "domains": ["reviews", "reviews:9080"], "routes": [{
                "match": { "prefix": "/", "headers": [{ "name": "x-user", "stringMatch": { "exact": "ana" } }] },
                "route": {
                    "weightedClusters": { "clusters": [
                        { "name": "outbound|9080|v1|reviews.default.svc.cluster.local", "weight": 90 },
                        { "name": "outbound|9080|v2|reviews.default.svc.cluster.local", "weight": 10 } ] },
                    "timeout": "3s",
                },
                "metadata": { "filterMetadata": { "istio": {
                    "config": "/apis/networking.istio.io/v1/namespaces/default/virtual-service/reviews" } } },
                "typedPerFilterConfig": { "envoy.filters.http.fault": { "abort": {
                    "httpStatus": 555, "percentage": { "numerator": 500_000, "denominator": "MILLION" } } } },
            }] },
        ] }] });
        let shown = virtual_hosts(&dump, Some("reviews"));
        assert_eq!(shown.len(), 1);
        let rule = &shown[0]["rules"][0];
        assert_eq!(rule["when"], json!(["path starts with /", "header x-user is ana"]));
        assert_eq!(
            rule["to"][1],
            json!({ "service": "reviews", "subset": "v2", "port": 9080, "weight": 10 })
        );
        assert_eq!(rule["does"], json!(["timeout 3s", "answers 555 to 50 % (fault)"]));
        assert_eq!(rule["from"], "VirtualService default/reviews");
    }
}
