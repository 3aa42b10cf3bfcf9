//! 5,000 objects in one file through `mizzen validate` and `istioctl validate`, in turn.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::bail;
use serde_json::{Value, json};

use super::process::{Cost, measure};
use crate::{keeper::keep, result, root, tools};

const OBJECTS: usize = 5_000;

pub(crate) fn command(quick: bool, save: bool) -> anyhow::Result<ExitCode> {
    let (objects, rounds) = if quick { (100, 3) } else { (OBJECTS, 21) };
    if let Some(lack) = tools::ensure(|tool| tool == "istioctl", false)?.first() {
        bail!("not installed: {lack}");
    }
    let istioctl = tools::cache_folder()?.join("bin/istioctl");
    let mizzen = build(quick)?;
    let file = root().join("target/bench/objects.yaml");
    fs::create_dir_all(root().join("target/bench"))?;
    fs::write(&file, text(objects))?;
    let bytes = fs::metadata(&file)?.len();

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(run(&mizzen, &file)?);
        theirs.push(run(&istioctl, &file)?);
    }
    let row = json!({
        "objects": objects,
        "bytes": bytes,
        "rounds": rounds,
        "mizzen": summary(&ours, bytes),
        "istioctl": summary(&theirs, bytes),
        "ratio": {
            "seconds": median(&ours, |cost| cost.seconds) / median(&theirs, |cost| cost.seconds),
            "cpuSeconds": median(&ours, |cost| cost.cpu_seconds) / median(&theirs, |cost| cost.cpu_seconds),
            "peakBytes": median(&ours, |cost| cost.peak_bytes as f64) / median(&theirs, |cost| cost.peak_bytes as f64),
        },
    });
    println!("{row:#}");
    if save {
        result::save("validate", &row)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A quick look does with the build that tests have made.
fn build(quick: bool) -> anyhow::Result<PathBuf> {
    let (profile, folder) = if quick { ("dev", "debug") } else { ("release", "release") };
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["build", "-p", "mizzen-cli", "--profile", profile]);
    if !keep(&mut cargo).status()?.success() {
        bail!("mizzen cannot be built");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join(folder).join("mizzen"))
}

fn run(program: &Path, file: &Path) -> anyhow::Result<Cost> {
    let cost = measure(program, &["validate".as_ref(), "-f".as_ref(), file.as_os_str()])?;
    // What is refused is left early, and would flatter whoever refuses it.
    if cost.code != 0 {
        bail!("{} ended with {}: the objects should be valid", program.display(), cost.code);
    }
    Ok(cost)
}

fn summary(costs: &[Cost], bytes: u64) -> Value {
    let seconds = |at: fn(f64, f64) -> f64| costs.iter().map(|cost| cost.seconds).fold(costs[0].seconds, at);
    let peak = median(costs, |cost| cost.peak_bytes as f64);
    json!({
        "medianSeconds": median(costs, |cost| cost.seconds),
        "spreadSeconds": [seconds(f64::min), seconds(f64::max)],
        "medianCpuSeconds": median(costs, |cost| cost.cpu_seconds),
        "medianPeakBytes": peak,
        "peakTimesFile": peak / bytes as f64,
    })
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let mut values: Vec<f64> = costs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The mix of a mesh: for each service a rule and a route, now and then the other kinds.
fn text(objects: usize) -> String {
    let mut text = String::new();
    for number in 0..objects {
        let service = number / 4;
        let object = match number % 20 {
            3 => GATEWAY,
            7 => SERVICE_ENTRY,
            11 => SIDECAR,
            15 => PEER_AUTHENTICATION,
            19 => TELEMETRY,
            _ => match number % 4 {
                0 => VIRTUAL_SERVICE,
                1 => DESTINATION_RULE,
                _ => AUTHORIZATION_POLICY,
            },
        };
        let object =
            object.replace("NUMBER", &number.to_string()).replace("SERVICE", &format!("service-{service}"));
        let _ = write!(text, "---\n{}\n", object.trim());
    }
    text
}

const VIRTUAL_SERVICE: &str = "
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata:
  name: o-NUMBER
  namespace: shop
  labels:
    app: SERVICE
spec:
  hosts:
  - SERVICE.shop.svc.cluster.local
  http:
  - name: canary
    match:
    - headers:
        x-canary:
          exact: \"true\"
      uri:
        prefix: /api/v2
    route:
    - destination:
        host: SERVICE.shop.svc.cluster.local
        subset: v2
        port:
          number: 8080
    timeout: 2s
    retries:
      attempts: 3
      perTryTimeout: 500ms
      retryOn: 5xx,connect-failure
  - name: default
    route:
    - destination:
        host: SERVICE.shop.svc.cluster.local
        subset: v1
      weight: 90
    - destination:
        host: SERVICE.shop.svc.cluster.local
        subset: v2
      weight: 10
    headers:
      request:
        set:
          x-version: \"1\"";

const DESTINATION_RULE: &str = "
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata:
  name: o-NUMBER
  namespace: shop
spec:
  host: SERVICE.shop.svc.cluster.local
  trafficPolicy:
    loadBalancer:
      simple: LEAST_REQUEST
    connectionPool:
      tcp:
        maxConnections: 100
        connectTimeout: 30ms
      http:
        http2MaxRequests: 1000
    outlierDetection:
      consecutive5xxErrors: 7
      interval: 5m
      baseEjectionTime: 15m
  subsets:
  - name: v1
    labels:
      version: v1
  - name: v2
    labels:
      version: v2";

const AUTHORIZATION_POLICY: &str = "
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata:
  name: o-NUMBER
  namespace: shop
spec:
  selector:
    matchLabels:
      app: SERVICE
  action: ALLOW
  rules:
  - from:
    - source:
        principals:
        - cluster.local/ns/shop/sa/front
    to:
    - operation:
        methods:
        - GET
        - POST
        paths:
        - /api/*
    when:
    - key: request.auth.claims[iss]
      values:
      - https://accounts.example.com";

const GATEWAY: &str = "
apiVersion: networking.istio.io/v1
kind: Gateway
metadata:
  name: o-NUMBER
  namespace: shop
spec:
  selector:
    istio: ingressgateway
  servers:
  - port:
      number: 443
      name: https
      protocol: HTTPS
    hosts:
    - SERVICE.example.com
    tls:
      mode: SIMPLE
      credentialName: SERVICE";

const SERVICE_ENTRY: &str = "
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata:
  name: o-NUMBER
  namespace: shop
spec:
  hosts:
  - SERVICE.example.org
  location: MESH_EXTERNAL
  resolution: DNS
  ports:
  - number: 443
    name: tls
    protocol: TLS";

const SIDECAR: &str = "
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata:
  name: o-NUMBER
  namespace: shop
spec:
  workloadSelector:
    labels:
      app: SERVICE
  egress:
  - hosts:
    - ./*
    - istio-system/*";

const PEER_AUTHENTICATION: &str = "
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata:
  name: o-NUMBER
  namespace: shop
spec:
  selector:
    matchLabels:
      app: SERVICE
  mtls:
    mode: STRICT";

const TELEMETRY: &str = "
apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata:
  name: o-NUMBER
  namespace: shop
spec:
  selector:
    matchLabels:
      app: SERVICE
  accessLogging:
  - providers:
    - name: envoy
    filter:
      expression: response.code >= 400";
