//! Every case of upstream's manifest-generate test, with its inputs, flags, charts and goldens.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may end at a surprise, and prints what it has covered"
)]

mod upstream;

use std::fs;

use mizzen_install::{Charts, generate, printed};
use mizzen_testkit::needs;
use upstream::{Snapshot, difference, documents, live, module, selected};

#[derive(Clone, Copy, PartialEq)]
enum Made {
    Snapshot,
    Live,
}
use Made::{Live, Snapshot as Frozen};

/// Name, flags of `--set`, what the golden holds, and which charts it was made with.
const CASES: [(&str, &[&str], &str, Made); 23] = [
    (
        "ingressgateway_k8s_settings",
        &[],
        "Deployment:*:istio-ingressgateway, Service:*:istio-ingressgateway",
        Frozen,
    ),
    (
        "gateway_hpa_pdb",
        &[],
        "HorizontalPodAutoscaler:*:istio-ingressgateway,PodDisruptionBudget:*:istio-ingressgateway",
        Live,
    ),
    ("pilot_hpa_pdb", &[], "HorizontalPodAutoscaler:*:istiod,PodDisruptionBudget:*:istiod", Live),
    ("all_on", &[], "", Frozen),
    (
        "flag_values_enable_egressgateway",
        &["values.gateways.istio-egressgateway.enabled=true"],
        "Service:*:istio-egressgateway",
        Frozen,
    ),
    ("flag_force", &[], "no:resources:selected", Frozen),
    ("pilot_default", &[], "", Frozen),
    ("pilot_k8s_settings", &[], "Deployment:*:istiod,HorizontalPodAutoscaler:*:istiod", Frozen),
    ("pilot_override_values", &[], "Deployment:*:istiod,HorizontalPodAutoscaler:*:istiod", Frozen),
    (
        "pilot_override_kubernetes",
        &[],
        "Deployment:*:istiod, Service:*:istiod,PodDisruptionBudget:*:istiod,\
         MutatingWebhookConfiguration:*:istio-sidecar-injector,ServiceAccount:*:istio-reader-service-account",
        Frozen,
    ),
    ("pilot_merge_meshconfig", &[], "ConfigMap:*:istio$", Frozen),
    ("pilot_disable_tracing", &[], "ConfigMap:*:istio$", Frozen),
    (
        "autoscaling_ingress_v2",
        &[],
        "HorizontalPodAutoscaler:*:istiod,HorizontalPodAutoscaler:*:istio-ingressgateway",
        Frozen,
    ),
    (
        "autoscaling_v2",
        &[],
        "HorizontalPodAutoscaler:*:istiod,HorizontalPodAutoscaler:*:istio-ingressgateway",
        Frozen,
    ),
    ("pilot_env_var_from", &[], "Deployment:*:istiod", Live),
    ("networkpolicy_enabled", &[], "NetworkPolicy:*:istiod", Live),
    ("istio-cni", &[], "DaemonSet:*:istio-cni", Frozen),
    ("istio-cni_tolerations", &[], "DaemonSet:*:istio-cni", Frozen),
    ("ztunnel", &[], "DaemonSet:*:ztunnel", Frozen),
    ("ztunnel_tolerations", &[], "DaemonSet:*:ztunnel", Frozen),
    (
        "helm_values_enablement",
        &[],
        "Deployment:*:istio-egressgateway, Service:*:istio-egressgateway",
        Frozen,
    ),
    // Upstream's driver overrides the flag that this case gives.
    ("install_package_path", &["installPackagePath=live"], "Deployment:*:istiod", Frozen),
    ("sidecar_template", &[], "ConfigMap:*:istio-sidecar-injector", Frozen),
];

#[test]
fn every_golden_of_upstream_is_reproduced() {
    needs!(upstream::NEEDS);
    let (frozen, live) = (Snapshot::open(), live());
    let (mut equal, mut bytes, mut objects, mut wrong) = (0, 0, 0, Vec::new());
    for (name, sets, selector, from) in CASES {
        let charts: &dyn Charts = if from == Live { &live } else { &frozen };
        let files: &[&str] = if name == "flag_values_enable_egressgateway" { &[] } else { &[name] };
        let mut input = upstream::input(files, sets);
        input.force = name == "flag_force";
        let generated = match generate(&input, charts) {
            Ok(generated) => generated,
            Err(refused) => {
                wrong.push(format!("{name}: {refused}"));
                continue;
            }
        };
        let printed = printed(&generated);
        let suffix = if name == "all_on" { "golden-show-in-gh-pull-request" } else { "golden" };
        let golden = format!("operator/cmd/mesh/testdata/manifest-generate/output/{name}.{suffix}.yaml");
        let golden = fs::read_to_string(module(&golden)).unwrap();
        let (text, ours) = match selector {
            "" => (printed.clone(), documents(&printed).into_iter().map(|(.., value)| value).collect()),
            selector => selected(&printed, selector),
        };
        let theirs: Vec<_> = documents(&golden).into_iter().map(|(.., value)| value).collect();
        objects += theirs.len();
        bytes += usize::from(text == golden);
        if ours.len() != theirs.len() {
            wrong.push(format!("{name}: {} objects, {} in the golden", ours.len(), theirs.len()));
        } else if let Some(difference) =
            ours.iter().zip(&theirs).enumerate().find_map(|(at, (a, b))| difference(&format!("[{at}]"), a, b))
        {
            wrong.push(format!("{name}: {difference}"));
        } else {
            equal += 1;
        }
    }
    println!(
        "manifest-generate: {equal} of {} equal ({objects} objects), {bytes} byte for byte",
        CASES.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((equal, bytes), (CASES.len(), CASES.len()));
}

#[test]
fn every_case_of_the_go_test_is_in_the_table() {
    needs!(upstream::NEEDS);
    let test = fs::read_to_string(module("operator/cmd/mesh/manifest-generate_test.go")).unwrap();
    let names: Vec<&str> = test
        .lines()
        .filter_map(|line| line.trim().strip_prefix("desc:")?.trim().strip_prefix('"')?.split('"').next())
        .collect();
    assert_eq!(names.len(), CASES.len());
    let missing: Vec<_> = names.iter().filter(|name| CASES.iter().all(|case| case.0 != **name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
