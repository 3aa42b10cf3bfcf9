//! What is added to the objects of a scenario, for there are neither controllers nor kubelets.

#![allow(clippy::unwrap_used, reason = "tests")]

use mizzen_parity::complete::complete;
use serde_json::{Value, json};

fn service(spec: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" }, "spec": spec })
}

fn pod(name: &str, address: &str, more: &Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "labels": { "app": "web" } },
        "status": { "podIP": address },
    });
    for (key, value) in more.as_object().unwrap() {
        pod[key] = value.clone();
    }
    pod
}

fn slices(objects: Vec<Value>) -> Vec<Value> {
    let groups = complete(vec![objects]).unwrap();
    groups.into_iter().flatten().filter(|object| object["kind"] == "EndpointSlice").collect()
}

#[test]
fn a_pod_runs_and_is_ready_unless_it_says_otherwise() {
    let late = json!({ "status": { "podIP": "10.0.0.2", "ready": false } });
    let groups = complete(vec![vec![pod("a", "10.0.0.1", &json!({})), pod("b", "", &late)]]).unwrap();
    let condition = |index: usize| groups[0][index]["status"]["conditions"][0]["status"].clone();
    assert_eq!((condition(0), condition(1)), (json!("True"), json!("False")));
    assert_eq!(groups[0][0]["status"]["podIPs"], json!([{ "ip": "10.0.0.1" }]));
    assert_eq!(groups[0][0]["metadata"]["namespace"], "default");
    assert!(groups[0][1]["status"].get("ready").is_none(), "the short word is ours, not Kubernetes'");
}

#[test]
fn a_service_that_selects_pods_has_their_addresses() {
    let ports = json!([{ "name": "http", "port": 80, "targetPort": 8080 }]);
    let other = json!({ "metadata": { "name": "other", "labels": { "app": "other" } } });
    let made = slices(vec![
        service(&json!({ "selector": { "app": "web" }, "ports": ports })),
        pod("a", "10.0.0.1", &json!({})),
        pod("x", "10.0.0.9", &other),
    ]);
    assert_eq!(made.len(), 1);
    assert_eq!(made[0]["endpoints"].as_array().unwrap().len(), 1);
    assert_eq!(made[0]["endpoints"][0]["addresses"], json!(["10.0.0.1"]));
    assert_eq!(made[0]["ports"], json!([{ "name": "http", "port": 8080, "protocol": "TCP" }]));
}

#[test]
fn a_named_port_with_two_numbers_makes_two_slices() {
    let with = |number: u16| json!({ "spec": { "containers": [{ "ports": [{ "name": "web", "containerPort": number }] }] } });
    let made = slices(vec![
        service(
            &json!({ "selector": { "app": "web" }, "ports": [{ "name": "http", "port": 80, "targetPort": "web" }] }),
        ),
        pod("a", "10.0.0.1", &with(8080)),
        pod("b", "10.0.0.2", &with(9090)),
    ]);
    let ports: Vec<&Value> = made.iter().map(|slice| &slice["ports"][0]["port"]).collect();
    assert_eq!(ports, [8080, 9090]);
}

#[test]
fn who_is_not_ready_is_ready_only_where_that_is_wanted() {
    let late = json!({ "status": { "podIP": "10.0.0.2", "ready": false } });
    for wanted in [false, true] {
        let made = slices(vec![
            service(
                &json!({ "selector": { "app": "web" }, "publishNotReadyAddresses": wanted, "ports": [{ "port": 80 }] }),
            ),
            pod("late", "10.0.0.2", &late),
        ]);
        let conditions = &made[0]["endpoints"][0]["conditions"];
        assert_eq!((&conditions["ready"], &conditions["serving"]), (&json!(wanted), &json!(false)));
    }
}

#[test]
fn a_slice_that_is_written_down_is_left_alone() {
    let own = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": { "name": "mine", "labels": { "kubernetes.io/service-name": "web" } }, "endpoints": [],
    });
    let selecting = service(&json!({ "selector": { "app": "web" }, "ports": [{ "port": 80 }] }));
    let made = slices(vec![selecting, pod("a", "10.0.0.1", &json!({})), own]);
    assert_eq!(made.len(), 1);
    assert_eq!(made[0]["metadata"]["name"], "mine");
}

#[test]
fn a_kind_that_nobody_looks_at_is_refused() {
    let object = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "x" } });
    assert!(complete(vec![vec![object]]).unwrap_err().to_string().contains("v1 Secret"));
}
