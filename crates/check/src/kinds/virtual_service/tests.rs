//! Each rule once broken, and once kept.

#![expect(clippy::needless_pass_by_value, reason = "json! is read more easily without a & before it")]

use super::super::tests::{accepted, accepted_with, refused, refused_with, warned};
use crate::validate;
use mizzen_api::Object;
use serde_json::{Value, json};

fn to(host: &str) -> Value {
    json!([{"destination": {"host": host}}])
}

/// A service with one HTTP route, that and what is said here.
fn route(change: Value) -> Value {
    let mut route = json!({"route": to("a")});
    for (field, value) in change.as_object().unwrap() {
        route[field] = value.clone();
    }
    json!({"hosts": ["a.b"], "http": [route]})
}

/// `http[0]` is refused at these paths below it.
fn refused_below(change: Value, below: &[&str]) {
    let at: Vec<_> = below.iter().map(|path| format!("spec.http[0]{path}")).collect();
    refused("VirtualService", route(change), &at.iter().map(String::as_str).collect::<Vec<_>>());
}

fn fine(change: Value) {
    accepted("VirtualService", route(change));
}

#[test]
fn hosts_are_names_that_do_not_cover_each_other() {
    for (hosts, at) in [
        (json!(["a_b", "*"]), &["spec.hosts[0]", "spec.hosts[1]"][..]),
        (json!(["a.b", "*.b"]), &["spec.hosts[0]"]),
        (json!(["*.b", "*.a.b", "a.b"]), &["spec.hosts[1]", "spec.hosts[2]"]),
        (json!(["a.b", "c", "a.b"]), &["spec.hosts[2]"]),
        (json!(["*.b", "*.b"]), &["spec.hosts[1]"]),
        (json!(["outbound_.80_._.a.b"]), &["spec.hosts[0]"]),
    ] {
        refused("VirtualService", json!({"hosts": hosts, "http": [{"route": to("a")}]}), at);
    }
    for hosts in [json!(["*.a.b", "a.b", "1.2.3.4"]), json!(["a", "b"])] {
        accepted("VirtualService", json!({"hosts": hosts, "http": [{"route": to("a")}]}));
    }
    accepted("VirtualService", json!({"hosts": ["*"], "gateways": ["ns/g"], "http": [{"route": to("a")}]}));
}

#[test]
fn a_service_without_hosts_is_a_delegate() {
    refused("VirtualService", json!({}), &["spec"]);
    refused(
        "VirtualService",
        json!({"gateways": ["ns/g"], "tcp": [{"route": to("a")}], "http": [{"delegate": {"name": "x"}}]}),
        &["spec.gateways", "spec.tcp", "spec.http[0].delegate", "spec.http[0]"],
    );
    accepted("VirtualService", json!({"http": [{"route": to("a")}]}));
    refused_below(json!({"delegate": {"name": "x"}, "redirect": {"uri": "/"}}), &[".redirect", ".route"]);
    fine(json!({"delegate": {"name": "x"}, "route": []}));
}

#[test]
fn gateways_are_named_with_their_namespace() {
    let bound = |gateways: Value| json!({"hosts": ["a"], "gateways": gateways, "http": [{"route": to("a")}]});
    refused(
        "VirtualService",
        bound(json!(["/g", "n_s/g.h"])),
        &["spec.gateways[0]", "spec.gateways[1]", "spec.gateways[1]"],
    );
    refused("VirtualService", bound(json!(["a_b"])), &["spec.gateways[0]"]);
    warned("VirtualService", bound(json!(["g.ns.svc"])), &["spec.gateways[0]"]);
    // Istio looks no further than a name without a namespace.
    accepted("VirtualService", bound(json!(["mesh", "/"])));
    let made = json!({"annotations": {super::SEMANTICS: "gateway"}});
    accepted_with("VirtualService", &made, bound(json!(["ns/g.h"])));
    // Only the service's own names are warned of, and a TLS match's.
    fine(json!({"match": [{"gateways": ["g.ns.svc"]}]}));
    refused_below(json!({"match": [{"gateways": ["/g"]}]}), &[".match[0].gateways[0]"]);
}

#[test]
fn a_claim_is_known_to_gateways_only() {
    let with = |gateways: Value| {
        json!({"hosts": ["a"], "gateways": gateways, "http": [{
            "match": [{"headers": {"@request.auth.claims.x": {"exact": "y"}}}], "route": to("a")}]})
    };
    let at = &["spec.http[0].match[0].headers[\"@request.auth.claims.x\"]"];
    refused("VirtualService", with(json!([])), at);
    refused("VirtualService", with(json!(["mesh", "ns/g"])), at);
    accepted("VirtualService", with(json!(["ns/g"])));
}

#[test]
fn a_route_does_one_thing() {
    refused_below(json!({"route": []}), &[""]);
    refused_below(
        json!({"redirect": {"uri": "/"}, "fault": {"delay": {}}, "rewrite": {"uri": "/"}, "directResponse": {"status": 200}}),
        &[".route", ".fault", ".rewrite", ".directResponse"],
    );
    refused_below(
        json!({"directResponse": {"status": 200}, "rewrite": {"uri": "/"}}),
        &[".route", ".rewrite"],
    );
    refused_below(
        json!({"mirror": {"host": "a"}, "mirrors": [{"destination": {"host": "b"}}]}),
        &[".mirrors"],
    );
}

#[test]
fn requests_are_matched() {
    refused_below(
        json!({"match": [{
            "headers": {"a b": {"prefix": ""}},
            "withoutHeaders": {"x": {"regex": "["}},
            "uri": {"regex": ""},
            "method": {"prefix": ""},
            "queryParams": {"q": {"regex": "*"}},
            "port": 70_000,
            "sourceLabels": {"": "x"},
            "sourceNamespace": "a.b",
        }]}),
        &[
            ".match[0].headers[\"a b\"]",
            ".match[0].headers[\"a b\"].prefix",
            ".match[0].withoutHeaders.x.regex",
            ".match[0].uri.regex",
            ".match[0].method.prefix",
            ".match[0].queryParams.q.regex",
            ".match[0].port",
            ".match[0].sourceLabels[\"\"]",
            ".match[0].sourceNamespace",
        ],
    );
    fine(
        json!({"match": [{"uri": {"prefix": ""}, "withoutHeaders": {"x": {"regex": "*"}}, "headers": {"y": {}}}]}),
    );
}

#[test]
fn destinations_have_a_host_and_together_a_weight() {
    refused_below(
        json!({"route": [{"weight": 1}, {"destination": {"host": "*", "subset": "a.b", "port": {}}, "weight": -1}]}),
        &[
            ".route[0].destination",
            ".route[1].destination.host",
            ".route[1].destination.subset",
            ".route[1].destination.port.number",
            ".route[1].weight",
            ".route",
        ],
    );
    refused_below(json!({"route": [to("a")[0], to("b")[0]]}), &[".route"]);
    fine(json!({"route": [{"destination": {"host": "a", "subset": "v1", "port": {"number": 1}}}]}));
    let made = json!({"annotations": {super::SEMANTICS: "gateway"}});
    let odd = json!({"hosts": ["a"], "http": [{"route": to("a~b")}]});
    accepted_with("VirtualService", &made, odd.clone());
    refused_with("VirtualService", &json!({}), odd, &["spec.http[0].route[0].destination.host"]);
}

#[test]
fn headers_are_changed_within_limits() {
    let changes = json!({
        "request": {"set": {":path": "x"}, "add": {"a": "%"}, "remove": ["host"]},
        "response": {"set": {"Host": "x"}},
    });
    let below = [".request.add.a", ".request.set[\":path\"]", ".request.remove[0]", ".response.set.Host"];
    let at: Vec<_> = below.iter().map(|path| format!(".headers{path}")).collect();
    refused_below(json!({"headers": changes}), &at.iter().map(String::as_str).collect::<Vec<_>>());
    let at: Vec<_> = below.iter().map(|path| format!(".route[0].headers{path}")).collect();
    refused_below(
        json!({"route": [{"destination": {"host": "a"}, "headers": changes}]}),
        &at.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    fine(json!({"headers": {"request": {"set": {":authority": "x", "a": "%HOSTNAME%"}}}}));
}

#[test]
fn the_authority_is_rewritten_once() {
    refused_below(
        json!({"rewrite": {"authority": "x"}, "headers": {"request": {"set": {"Host": "y"}}}}),
        &[".headers.request.set.Host"],
    );
    refused_below(
        json!({"headers": {"request": {"set": {"Host": "y"}, "add": {":authority": "z"}}}}),
        &[".headers.request.add[\":authority\"]"],
    );
}

#[test]
fn redirects_answers_and_rewrites() {
    let redirect = |value: Value| json!({"route": [], "redirect": value, "match": [{"uri": {"exact": "/"}}]});
    refused_below(redirect(json!({})), &[".redirect"]);
    refused_below(
        redirect(
            json!({"uri": "/", "prefixRewrite": "/", "redirectCode": 200, "scheme": "ftp", "port": 70_000}),
        ),
        &[
            ".redirect.prefixRewrite",
            ".redirect.prefixRewrite",
            ".redirect.redirectCode",
            ".redirect.scheme",
            ".redirect.port",
        ],
    );
    fine(redirect(json!({"derivePort": "FROM_REQUEST_PORT", "redirectCode": 308})));

    let answer = |value: Value| json!({"route": [], "directResponse": value});
    refused_below(answer(json!({"status": 199})), &[".directResponse.status"]);
    refused_below(
        answer(json!({"status": 200, "body": {"string": "x".repeat(1024 * 1024 + 1)}})),
        &[".directResponse.body"],
    );
    warned(
        "VirtualService",
        route(answer(json!({"status": 200, "body": {"string": "x".repeat(100 * 1024 + 1)}}))),
        &["spec.http[0].directResponse.body"],
    );
    fine(answer(json!({"status": 503, "body": {"string": "x"}})));

    refused_below(json!({"rewrite": {}}), &[".rewrite"]);
    refused_below(
        json!({"rewrite": {"uri": "/", "uriRegexRewrite": {"match": "("}}}),
        &[".rewrite.uriRegexRewrite", ".rewrite.uriRegexRewrite", ".rewrite.uriRegexRewrite.match"],
    );
    fine(json!({"rewrite": {"uriRegexRewrite": {"match": "a(.*)", "rewrite": "\\1"}}}));
}

#[test]
fn faults_retries_and_timeouts() {
    refused_below(json!({"fault": {}}), &[".fault"]);
    refused_below(
        json!({"fault": {
            "abort": {"percentage": {"value": 101}, "grpcStatus": "nope"},
            "delay": {"percentage": {"value": 0.00001}, "exponentialDelay": "1s"},
        }}),
        &[
            ".fault.abort.percentage.value",
            ".fault.abort.grpcStatus",
            ".fault.delay.percentage.value",
            ".fault.delay.exponentialDelay",
        ],
    );
    refused_below(json!({"fault": {"abort": {"http2Error": "x"}}}), &[".fault.abort.http2Error"]);
    fine(
        json!({"fault": {"abort": {"httpStatus": 500, "percentage": {"value": 0.1}}, "delay": {"fixedDelay": "1s"}}}),
    );

    refused_below(json!({"retries": {"attempts": -1}}), &[".retries.attempts"]);
    refused_below(
        json!({"retries": {"perTryTimeout": "0s", "retryOn": "5xx,nope,306"}}),
        &[".retries.attempts", ".retries.perTryTimeout", ".retries.retryOn", ".retries.retryOn"],
    );
    fine(json!({"retries": {"attempts": 3, "retryOn": "reset,503", "backoff": "25ms"}}));
    fine(json!({"retries": {"attempts": 0}}));

    refused_below(json!({"timeout": "0s"}), &[".timeout"]);
}

#[test]
fn other_origins() {
    refused_below(
        json!({"corsPolicy": {
            "allowOrigins": [{}, {"regex": "*"}], "allowMethods": ["get"], "allowHeaders": [""], "exposeHeaders": ["a b"],
            "maxAge": "1.5s",
        }}),
        &[
            ".corsPolicy.allowOrigins[0]",
            ".corsPolicy.allowOrigins[1].regex",
            ".corsPolicy.allowMethods[0]",
            ".corsPolicy.allowHeaders[0]",
            ".corsPolicy.exposeHeaders[0]",
            ".corsPolicy.maxAge",
        ],
    );
    fine(
        json!({"corsPolicy": {"allowOrigins": [{"exact": "x"}], "allowMethods": ["*"], "allowHeaders": ["*"], "maxAge": "1m"}}),
    );
}

#[test]
fn copies_of_requests() {
    refused_below(
        json!({"mirrors": [{}, {"destination": {"host": ""}, "percentage": {"value": -1}}]}),
        &[".mirrors[0].destination", ".mirrors[1].destination.host", ".mirrors[1].percentage.value"],
    );
    refused_below(
        json!({"mirror": {"host": "*"}, "mirrorPercentage": {"value": 101}}),
        &[".mirrorPercentage.value", ".mirror.host"],
    );
    refused_below(json!({"mirrorPercent": 101}), &[".mirrorPercent"]);
    warned("VirtualService", route(json!({"mirrorPercent": 1})), &["spec.http[0].mirrorPercent"]);
}

#[test]
fn connections_are_routed_by_names_and_addresses() {
    let tls = |hosts: Value, one: Value| json!({"hosts": hosts, "tls": [{"match": [one], "route": to("a")}]});
    refused(
        "VirtualService",
        json!({"hosts": ["a"], "tls": [{}]}),
        &["spec.tls[0].match", "spec.tls[0].route"],
    );
    refused("VirtualService", tls(json!(["a.b"]), json!({})), &["spec.tls[0].match[0].sniHosts"]);
    refused(
        "VirtualService",
        tls(
            json!(["*.b"]),
            json!({"sniHosts": ["a.c", "*.c", "x_"], "destinationSubnets": ["10.0.0.0/33"], "port": 65_536}),
        ),
        &[
            "spec.tls[0].match[0].sniHosts[0]",
            "spec.tls[0].match[0].sniHosts[1]",
            "spec.tls[0].match[0].sniHosts[2]",
            "spec.tls[0].match[0].destinationSubnets[0]",
            "spec.tls[0].match[0].port",
        ],
    );
    accepted("VirtualService", tls(json!(["*.b"]), json!({"sniHosts": ["a.b", "*.a.b", "*.b"]})));
    warned(
        "VirtualService",
        tls(json!(["*.b"]), json!({"sniHosts": ["1.2.3.4"]})),
        &["spec.tls[0].match[0].sniHosts[0]"],
    );
    accepted("VirtualService", {
        let mut between = tls(json!(["*.b"]), json!({"sniHosts": ["outbound_.80_._.a.b"]}));
        between["gateways"] = json!(["ns/g"]);
        between
    });

    refused(
        "VirtualService",
        json!({"hosts": ["a"], "tcp": [{"match": [{"destinationSubnets": ["x"], "sourceLabels": {"-": ""}}]}]}),
        &[
            "spec.tcp[0].match[0].destinationSubnets[0]",
            "spec.tcp[0].match[0].sourceLabels.-",
            "spec.tcp[0].route",
        ],
    );
    accepted("VirtualService", json!({"hosts": ["a"], "tcp": [{"route": to("a")}]}));
}

#[test]
fn rules_that_are_never_reached_are_warned_of() {
    let rules = |matches: Value| {
        let rules: Vec<_> =
            matches.as_array().unwrap().iter().map(|one| json!({"match": one, "route": to("a")})).collect();
        json!({"hosts": ["a"], "http": rules})
    };
    let path = |prefix: &str| json!({"uri": {"prefix": prefix}});
    for (matches, at) in [
        (json!([[], [path("/a")], []]), &["spec.http[1].match[0]", "spec.http[2]"][..]),
        (json!([[path("/a")], [path("/a")]]), &["spec.http[1].match[0]", "spec.http[1]"]),
        (json!([[path("/a"), path("/b")], [path("/b"), path("/c")]]), &["spec.http[1].match[0]"]),
        (json!([[path("/a")], [path("/ab"), path("/b")]]), &["spec.http[1].match[0]"]),
        (
            json!([[path("/")], [path("/a")], [path("/a/b")]]),
            &["spec.http[1].match[0]", "spec.http[2].match[0]", "spec.http[2].match[0]"],
        ),
    ] {
        warned("VirtualService", rules(matches), at);
    }
    for matches in [
        json!([[path("/ab")], [path("/a")], []]),
        json!([[{"uri": {"prefix": "/a"}, "port": 1}], [path("/ab")]]),
        json!([[{"uri": {"prefix": "/a"}, "headers": {"x": {"exact": "y"}}}], [path("/ab")]]),
        json!([[{"uri": {"prefix": "/a"}, "method": {"exact": "POST"}}], [path("/ab")]]),
    ] {
        accepted("VirtualService", rules(matches));
    }
    let names = json!({"hosts": ["a"], "http": [
        {"match": [{"name": "x", "uri": {"exact": "/"}}], "route": to("a")},
        {"match": [{"name": "y", "uri": {"exact": "/"}}, {}], "route": to("a")},
    ]});
    warned("VirtualService", names, &["spec.http[1].match[0]"]);
    let tcp = json!({"match": [{"port": 1}], "route": to("a")});
    warned(
        "VirtualService",
        json!({"hosts": ["a"], "tcp": [tcp, tcp]}),
        &["spec.tcp[1].match[0]", "spec.tcp[1]"],
    );
}

/// Compared each with each, these would take minutes; that the test ends is what it shows.
#[test]
fn thousands_of_rules_and_hosts_are_no_burden() {
    let number = 20_000;
    let rules: Vec<_> = (0..number)
        .map(|index| json!({"match": [{"uri": {"prefix": format!("/{index:06}")}}], "route": to("a")}))
        .collect();
    let hosts: Vec<_> = (0..number).map(|index| format!("h{index}.b")).collect();
    accepted("VirtualService", json!({"hosts": hosts, "http": rules}));
}

#[test]
fn as_many_overlaps_as_pairs_are_not_all_told() {
    let rules: Vec<_> = (1..200)
        .map(|length| json!({"match": [{"uri": {"prefix": "/".repeat(length)}}], "route": to("a")}))
        .collect();
    let document = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "VirtualService", "metadata": {"name": "x"},
        "spec": {"hosts": ["a"], "http": rules},
    });
    let found = validate(&Object::read(&document).unwrap());
    assert!(found.accepted());
    assert_eq!(found.iter().count(), 1_001);
    assert!(found.iter().any(|finding| finding.message.contains("too many overlapping matches")));
}
