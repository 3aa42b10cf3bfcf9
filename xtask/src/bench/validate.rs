//! 5,000 objects in one file through `mizzen validate` and `istioctl validate`, in turn.

use std::{fmt::Write as _, fs, path::Path, process::ExitCode};

use anyhow::bail;
use serde_json::json;

use super::side::{Side, build, in_turn};
use crate::{result, root, tools};

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

    let validate =
        |program: &Path| Side::new(program, ["validate".as_ref(), "-f".as_ref(), file.as_os_str()]);
    let mut row = in_turn(&validate(&mizzen), &validate(&istioctl), rounds)?;
    for side in ["mizzen", "istioctl"] {
        let peak = row[side]["medianPeakBytes"].as_f64().unwrap_or_default();
        row[side]["peakTimesFile"] = json!(peak / bytes as f64);
    }
    row["objects"] = json!(objects);
    row["bytes"] = json!(bytes);
    println!("{row:#}");
    if save {
        result::save("validate", &row)?;
    }
    Ok(ExitCode::SUCCESS)
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
