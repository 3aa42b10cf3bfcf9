use crate::mesh::{Mesh, proxy};
use mizzen_mesh::{Labels, config::MtlsMode};
use serde_json::json;
use std::sync::Arc;

fn policy(namespace: &str, name: &str, day: u32, spec: &str) -> String {
    format!(
        "---\napiVersion: security.istio.io/v1\nkind: PeerAuthentication\n\
         metadata: {{name: {name}, namespace: {namespace}, creationTimestamp: '2024-01-{day:02}T00:00:00Z'}}\nspec: {spec}\n"
    )
}

const STRICT: &str = "{mtls: {mode: STRICT}}";
const DISABLE: &str = "{mtls: {mode: DISABLE}}";

#[test]
fn the_narrowest_that_says_something_holds() {
    use MtlsMode::{Disable, Permissive, Strict};
    let web = |mtls: &str| format!("{{selector: {{matchLabels: {{app: web}}}}, {mtls}}}");
    let root = |spec: &str| policy("istio-system", "mesh", 1, spec);
    let own = |spec: &str| policy("a", "own", 1, spec);
    for (objects, namespace, workload, port) in [
        (String::new(), Permissive, Permissive, Permissive),
        (root(STRICT), Strict, Strict, Strict),
        (root("{}"), Permissive, Permissive, Permissive),
        (root(STRICT) + &own(DISABLE), Disable, Disable, Disable),
        (root(STRICT) + &own("{mtls: {mode: UNSET}}"), Strict, Strict, Strict),
        (root(STRICT) + &policy("b", "other", 1, DISABLE), Strict, Strict, Strict),
        (own(STRICT) + &policy("a", "web", 1, &web("mtls: {mode: DISABLE}")), Strict, Disable, Disable),
        (own(STRICT) + &policy("a", "web", 1, &web("mtls: {}")), Strict, Strict, Strict),
        (
            own(STRICT) + &policy("a", "web", 1, &web("portLevelMtls: {8080: {mode: DISABLE}}")),
            Strict,
            Strict,
            Disable,
        ),
        (
            own(STRICT)
                + &policy(
                    "a",
                    "web",
                    1,
                    &web("mtls: {mode: PERMISSIVE}, portLevelMtls: {8080: {mode: UNSET}}"),
                ),
            Strict,
            Permissive,
            Permissive,
        ),
        // The oldest, not the first by name.
        (policy("a", "a", 2, STRICT) + &policy("a", "z", 1, DISABLE), Disable, Disable, Disable),
        (
            policy("a", "a", 2, &web("mtls: {mode: STRICT}"))
                + &policy("a", "z", 1, &web("mtls: {mode: DISABLE}")),
            Permissive,
            Disable,
            Disable,
        ),
        // A selector in the root namespace selects nothing.
        (policy("istio-system", "web", 1, &web("mtls: {mode: STRICT}")), Permissive, Permissive, Permissive),
    ] {
        let snapshot = Mesh::new(&objects).snapshot();
        let labels: Labels = [("app".into(), "web".into())].into();
        let found = &snapshot.authentication;
        assert_eq!(found.of_namespace("a"), namespace, "{objects}");
        assert_eq!(found.of_workload("a", &labels, 1), workload, "{objects}");
        assert_eq!(found.of_workload("a", &labels, 8080), port, "{objects}");
        assert_eq!(found.of_workload("a", &Labels::new(), 8080), namespace, "{objects}");
        let web = proxy(&snapshot, "sidecar", "a", &json!({"app": "web"}));
        assert_eq!((found.inbound(&web, 1), found.inbound(&web, 8080)), (workload, port), "{objects}");
    }
}

#[test]
fn a_proxy_knows_the_ports_that_were_named() {
    let spec = "{selector: {matchLabels: {app: web}}, portLevelMtls: {80: {mode: STRICT}, 81: {}}}";
    let snapshot = Mesh::new(&policy("a", "web", 1, spec)).snapshot();
    let peer = snapshot.authentication.own(&proxy(&snapshot, "sidecar", "a", &json!({"app": "web"})));
    assert_eq!(peer.ports, [(80, MtlsMode::Strict), (81, MtlsMode::Permissive)].into());
}

#[test]
fn a_second_policy_for_a_namespace_is_told() {
    let mut mesh = Mesh::new(&(policy("a", "old", 1, STRICT) + &policy("a", "young", 2, DISABLE)));
    assert_eq!(
        mesh.problems(),
        [
            "PeerAuthentication a/young: PeerAuthentication a/old, which is older, holds for the whole namespace already"
        ]
    );
}

#[test]
fn a_policy_that_says_the_same_again_is_no_change() {
    let mut mesh = Mesh::new(&policy("a", "own", 1, STRICT));
    let before = mesh.snapshot();
    mesh.apply(&policy("a", "own", 1, "{mtls: {mode: STRICT}, portLevelMtls: {}}"));
    assert!(Arc::ptr_eq(&before, &mesh.snapshot()));
}
