use crate::testing::{accepted, refused_at, warned_at};
use serde_json::{Value, json};

fn policy(spec: &Value) -> Value {
    json!({"apiVersion": "security.istio.io/v1", "kind": "AuthorizationPolicy",
           "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
}

fn rule(action: &str, rule: &Value) -> Value {
    let mut spec = json!({"action": action, "rules": [rule]});
    if action == "CUSTOM" {
        spec["provider"] = json!({"name": "ext"});
    }
    policy(&spec)
}

#[test]
fn an_ordinary_policy_is_accepted() {
    accepted(&policy(&json!({
        "selector": {"matchLabels": {"app": "a"}},
        "action": "ALLOW",
        "rules": [{
            "from": [{"source": {"principals": ["cluster.local/ns/a/sa/b"], "ipBlocks": ["10.0.0.0/8"]}}],
            "to": [{"operation": {"methods": ["GET"], "paths": ["/a*", "/b/{*}"], "ports": ["80"]}}],
            "when": [{"key": "request.headers[x]", "notValues": ["y"]}],
        }],
    })));
    accepted(&policy(&json!({})));
    accepted(&policy(&json!({"rules": [{}]})));
}

#[test]
fn an_action_that_nothing_triggers_is_refused() {
    refused_at(&policy(&json!({"action": "DENY"})), &["spec.rules"]);
    refused_at(&policy(&json!({"action": "CUSTOM"})), &["spec.rules"]);
    accepted(&policy(&json!({"action": "DENY", "rules": [{}]})));
}

#[test]
fn only_custom_has_a_provider_and_it_has_a_name() {
    refused_at(&policy(&json!({"action": "CUSTOM", "rules": [{}]})), &["spec.provider.name"]);
    refused_at(&policy(&json!({"action": "CUSTOM", "rules": [{}], "provider": {}})), &["spec.provider.name"]);
    refused_at(&policy(&json!({"rules": [{}], "provider": {"name": "x"}})), &["spec.provider"]);
    accepted(&rule("CUSTOM", &json!({})));
}

#[test]
fn custom_cannot_ask_who_it_is() {
    refused_at(
        &rule(
            "CUSTOM",
            &json!({"from": [{"source": {"principals": ["a"], "notTrustDomains": ["b"]}}],
                    "when": [{"key": "request.auth.claims[a]", "values": ["b"]}]}),
        ),
        &[
            "spec.rules[0].from[0].source.principals",
            "spec.rules[0].from[0].source.notTrustDomains",
            "spec.rules[0].when[0].key",
        ],
    );
    accepted(&rule("CUSTOM", &json!({"from": [{"source": {"ipBlocks": ["1.2.3.4"]}}]})));
}

#[test]
fn a_source_and_an_operation_say_something() {
    refused_at(
        &rule("ALLOW", &json!({"from": [{}, {"source": {}}], "to": [{}, {"operation": {}}]})),
        &[
            "spec.rules[0].from[0].source",
            "spec.rules[0].from[1].source",
            "spec.rules[0].to[0].operation",
            "spec.rules[0].to[1].operation",
        ],
    );
}

#[test]
fn every_bad_value_is_told_at_its_place() {
    refused_at(
        &rule(
            "ALLOW",
            &json!({
                "from": [{"source": {"ipBlocks": ["1.2.3.4", "x"], "requestPrincipals": [""]}}],
                "to": [{"operation": {"ports": ["80", "0x50"], "notPaths": ["/{a}"]}}],
                "when": [
                    {"key": "source.ip", "values": ["1.1.1.1"], "notValues": ["y"]},
                    {"key": ""},
                    {"key": "source.ip"},
                    {"key": "nope", "values": ["", "a"]},
                ],
            }),
        ),
        &[
            "spec.rules[0].from[0].source.requestPrincipals[0]",
            "spec.rules[0].from[0].source.ipBlocks[1]",
            "spec.rules[0].to[0].operation.ports[1]",
            "spec.rules[0].to[0].operation.notPaths[0]",
            "spec.rules[0].when[0].notValues[0]",
            "spec.rules[0].when[1].key",
            "spec.rules[0].when[2]",
            "spec.rules[0].when[3].key",
            "spec.rules[0].when[3].values[0]",
        ],
    );
}

#[test]
fn service_accounts_stand_alone_and_are_few() {
    let source = "spec.rules[0].from[0].source";
    let with = |source: Value| rule("ALLOW", &json!({"from": [{"source": source}]}));
    refused_at(&with(json!({"serviceAccounts": ["a"], "namespaces": ["b"]})), &[source]);
    refused_at(&with(json!({"serviceAccounts": vec!["a"; 17]})), &[&format!("{source}.serviceAccounts")]);
    accepted(&with(json!({"serviceAccounts": vec!["a"; 16]})));
}

#[test]
fn a_deny_rule_about_requests_only_is_a_warning() {
    for http in [
        json!({"to": [{"operation": {"methods": ["GET"]}}]}),
        json!({"from": [{"source": {"requestPrincipals": ["*"]}}]}),
        json!({"from": [{"source": {"principals": ["*"]}}], "to": [{"operation": {"hosts": ["a"]}}]}),
    ] {
        warned_at(&rule("DENY", &http), &["spec.rules[0]"]);
        warned_at(&rule("ALLOW", &http), &[]);
    }
    for tcp in [
        json!({"to": [{"operation": {"methods": ["GET"], "ports": ["80"]}}]}),
        json!({"from": [{"source": {"namespaces": ["a"]}}]}),
        json!({"when": [{"key": "request.headers[a]", "values": ["b"]}]}),
    ] {
        warned_at(&rule("DENY", &tcp), &[]);
    }
}
