//! The operator for the `Istio` resource while its cluster is not well, and beside another one.

#![allow(clippy::unwrap_used, reason = "what a test builds on is there, or the test fails")]

mod kyma;
mod operated;
mod site;

use kyma::{Kyma, SAMPLE, resource};
use mizzen_testkit::{
    Controllers, Result,
    faults::{Fault, Verb},
    needs,
    wait::{self, PATIENCE, Seen},
};
use operated::{DEPLOYMENT, passes};
use std::{sync::Arc, time::Duration};
use tokio::time::sleep;

const HOME: &str = "kyma-system";
const NAME: (&str, &str) = (HOME, "istio-sample");

/// Every fifth call fails, as those of a busy server or of a broken one, and writes as conflicts besides; watches are cut each second; the server is restarted.
#[tokio::test(flavor = "multi_thread")]
async fn it_arrives_though_calls_fail_watches_are_cut_and_the_server_is_restarted() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    let faults = Arc::new(server.faults().await?);
    let failing = [
        faults.inject(Fault::too_many_requests(1).rate(1, 10)),
        faults.inject(Fault::internal_error().rate(1, 10)),
        faults.inject(Fault::conflict().on(Verb::Write).rate(1, 10)),
    ];
    let cutter = tokio::spawn({
        let faults = Arc::clone(&faults);
        async move {
            let mut cut = 0;
            loop {
                sleep(Duration::from_secs(1)).await;
                cut += faults.cut_watches();
                if cut > 100_000 {
                    return;
                }
            }
        }
    });
    let (operator, _) = kyma.operator_through(&faults.kubeconfig_file(), &["--failure-max-delay", "2s"]);
    server.apply(SAMPLE).await?;
    let begun = async || {
        let istiod = here.get(DEPLOYMENT, "istio-system", "istiod").await;
        Seen::when(istiod.is_some(), || operator.log())
    };
    operator.until("istiod to be begun with", PATIENCE, begun).await?;
    server.restart().await?;
    let arrived = async || {
        let resource = kyma.get(NAME.0, NAME.1).await.unwrap_or_default();
        Seen::when(resource["status"]["state"] == "Ready", || resource["status"].to_string())
    };
    // Every pass meets some of them, and begins again where it was.
    operator.until("the mesh to be ready", PATIENCE * 4, arrived).await?;
    assert!(failing.iter().all(|fault| fault.hits() > 0), "every fault was met");
    let hits: u64 = failing.iter().map(mizzen_testkit::faults::Injected::hits).sum();
    let all: u64 = [Verb::Read, Verb::Write, Verb::Watch].into_iter().map(|verb| faults.seen(verb)).sum();
    assert!(hits * 100 >= all * 18, "{hits} of {all} calls failed");

    // Drift is repaired, and the resource goes, all the same.
    here.kubectl("delete deployment istiod -n istio-system").await?;
    let again = async || {
        Seen::from_option(here.get(DEPLOYMENT, "istio-system", "istiod").await, || "none".to_owned())
    };
    operator.until("istiod again", PATIENCE, again).await?;
    here.kubectl("delete istio istio-sample -n kyma-system --wait=false").await?;
    kyma.until_gone(&operator, "istio-sample").await?;
    kyma.until_no_namespace().await?;
    cutter.abort();
    let left: Vec<String> = here.site.objects().await.into_keys().collect();
    assert!(left.iter().all(|key| !key.contains("istiod") && !key.contains("inventory")), "{left:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_operators_one_acts_until_it_is_killed() -> Result<()> {
    needs!(Controllers::NEEDS);
    let kyma = Kyma::start().await?;
    let (here, server) = (&kyma.here, &kyma.here.site.server);
    let leads = async |port: u16| {
        let page = operated::page(port, "/metrics").await;
        page.contains("\nleader_election_master_status{name=\"istio\"} 1\n")
    };
    let (first, first_port) = kyma.operator(&[]);
    let probe = async || Seen::when(leads(first_port).await, || first.log());
    first.until("the first to lead", PATIENCE, probe).await?;
    let (second, second_port) = kyma.operator(&[]);
    server.apply(SAMPLE).await?;
    kyma.says(&first, NAME, "Ready", "ReconcileSucceeded").await?;
    assert!(operated::page(second_port, "/readyz").await.starts_with("HTTP/1.1 200"));
    assert!(passes(second_port).await.ends_with(" 0"), "it only stands by: {}", second.log());
    first.kill();
    server.apply(&resource(HOME, "istio-sample", "{ config: { numTrustedProxies: 2 } }")).await?;
    kyma.says(&second, NAME, "Ready", "ReconcileSucceeded").await?;
    let map = here.get(("", "ConfigMap"), "istio-system", "istio").await.unwrap();
    assert!(map["data"]["mesh"].as_str().unwrap().contains("numTrustedProxies: 2"), "{map}");
    Ok(())
}

/// Without `--kind` both are followed, each from when it is defined.
#[tokio::test(flavor = "multi_thread")]
async fn one_process_follows_both_kinds_as_soon_as_they_are_defined() -> Result<()> {
    needs!(Controllers::NEEDS);
    let here = operated::Operated::start().await?;
    let server = &here.site.server;
    let [port] = mizzen_testkit::ports::free()?;
    let mut command = std::process::Command::new(site::BINARY);
    command
        .args(["operator", "run", "--log-level", "info,mizzen_operator=debug"])
        .args([
            format!("--metrics-bind-address=127.0.0.1:{port}"),
            "--health-probe-bind-address=0".to_owned(),
        ])
        .arg("--kubeconfig")
        .arg(server.kubeconfig_file())
        .env_clear();
    let operator = mizzen_testkit::Part::start("operator", command)?;
    let says = async |words: &str| {
        let probe = async || Seen::when(operator.log().contains(words), || operator.log());
        operator.until(words, PATIENCE, probe).await
    };
    says("Istio is not defined in this cluster").await?;
    says("IstioOperator is not defined in this cluster").await?;
    assert!(operated::page(port, "/readyz").await.starts_with("HTTP/1.1 200"), "it waits");

    let objects = here.site.mizzen_alone("operator manifest").await.well();
    server.apply(&objects).await?;
    let established = "wait --for=condition=Established --timeout=60s crd";
    here.kubectl(&format!("{established} istios.operator.kyma-project.io")).await?;
    server.apply(SAMPLE).await?;
    let kyma = Kyma { here };
    kyma.says(&operator, NAME, "Ready", "ReconcileSucceeded").await?;
    let Kyma { here } = kyma;
    let page = operated::page(port, "/metrics").await;
    assert!(page.contains("leader_election_master_status{name=\"istiooperator\"} 0"), "{page}");

    let objects = here.site.mizzen_alone("operator dump").await.well();
    here.site.server.apply(&objects).await?;
    here.kubectl(&format!("{established} istiooperators.install.istio.io")).await?;
    here.site.server.apply(operated::CANARY).await?;
    here.says(&operator, "canary", "HEALTHY").await?;
    // Two meshes side by side: the one that goes takes nothing of the other.
    here.kubectl("delete istio istio-sample -n kyma-system --wait=false").await?;
    let kyma = Kyma { here };
    kyma.until_gone(&operator, "istio-sample").await?;
    assert!(kyma.here.get(DEPLOYMENT, "istio-system", "istiod-canary").await.is_some());
    kyma.here.says(&operator, "canary", "HEALTHY").await?;
    wait::until("no process to fail", PATIENCE, async || {
        Seen::when(!operator.log().contains("panicked"), || operator.log())
    })
    .await
}
