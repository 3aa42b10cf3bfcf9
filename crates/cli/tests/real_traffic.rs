//! Real requests through real Envoys that `mizzen discovery` configures from a folder of plain objects.

mod traffic;

use http::StatusCode;
use mizzen_testkit::{
    Result,
    echo::Call,
    envoy::Envoy,
    needs,
    net::{Net, Workload},
    wait::{self, PATIENCE, Seen},
};
use serde_json::{Value, json};
use traffic::{Mesh, Shop, destination_rule, pod, to, virtual_service};

#[tokio::test]
async fn http_requests_go_where_the_virtual_service_says() -> Result<()> {
    needs!(Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    let shop = Shop::open(json!({})).await?;

    // Without any route: both versions answer.
    let share = shop.share(&shop.call(), 40).await?;
    assert!(share[0] > 0 && share[1] > 0, "{share:?}");

    // By header, else by default.
    shop.route(
        "header",
        &json!([
            { "match": [{ "headers": { "end-user": { "exact": "jason" } } }], "route": [to("v2")] },
            { "route": [to("v1")] },
        ]),
    )
    .await?;
    let jason = shop.call().header("end-user", "jason");
    assert_eq!(shop.share(&jason, 10).await?, [0, 10]);
    assert_eq!(shop.share(&shop.call(), 10).await?, [10, 0]);

    // By weight, counted. 80 of 100 with 400 requests: a standard deviation is 8.
    let weighted = |subset: &str, weight: u32| {
        let mut to = to(subset);
        to["weight"] = weight.into();
        to
    };
    shop.route("weights", &json!([{ "route": [weighted("v1", 80), weighted("v2", 20)] }])).await?;
    let [one, two] = shop.share(&shop.call(), 400).await?;
    assert!((270..=370).contains(&one), "{one} of 400 to v1, {two} to v2: 320 and 80 were wanted");

    // Rewritten, with headers added and removed.
    shop.route("rewrite", &json!([{
        "match": [{ "uri": { "prefix": "/old/" } }], "rewrite": { "uri": "/new/", "authority": "other.example" },
        "headers": { "request": { "add": { "x-added": "yes" }, "remove": ["x-secret"] } },
        "route": [to("v1")],
    }, {
        "match": [{ "uri": { "exact": "/gone" } }],
        "redirect": { "uri": "/here", "authority": "example.com", "redirectCode": 302 },
    }, { "match": [{ "uri": { "exact": "/said" } }], "directResponse": { "status": 418, "body": { "string": "tea" } } }])).await?;
    let old = shop.call().path("/old/items").header("x-secret", "s");
    let answer = shop.ask(&old).await?;
    assert_eq!(answer.path, "/new/items");
    assert_eq!((answer.header("host"), answer.header("x-added")), (Some("other.example"), Some("yes")));
    assert_eq!(answer.header("x-secret"), None);
    let redirected = shop.client.client().call(&shop.call().path("/gone")).await?;
    assert_eq!(
        (redirected.status, redirected.header("location")),
        (StatusCode::FOUND, Some("http://example.com/here"))
    );
    let said = shop.client.client().call(&shop.call().path("/said")).await?;
    assert_eq!((said.status.as_u16(), said.text().as_str()), (418, "tea"));
    let nowhere = shop.client.client().call(&shop.call().path("/nowhere")).await?;
    assert_eq!(nowhere.status, StatusCode::NOT_FOUND, "no route of the list is for it");

    // Cross-origin requests are answered by the sidecar.
    shop.route("cors", &json!([{ "corsPolicy": { "allowOrigins": [{ "exact": "https://shop.example" }], "allowMethods": ["PUT"] },
        "route": [to("v1")] }])).await?;
    let preflight = shop
        .call()
        .method(http::Method::OPTIONS)
        .header("origin", "https://shop.example")
        .header("access-control-request-method", "PUT");
    let allowed = shop.client.client().call(&preflight).await?;
    assert_eq!(allowed.header("access-control-allow-methods"), Some("PUT"));
    refused_nothing(&shop).await
}

#[tokio::test]
async fn failures_are_made_borne_and_mirrored_as_asked() -> Result<()> {
    needs!(Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    let shop = Shop::open(json!({})).await?;

    // Abort for some, by header.
    shop.route("failures", &json!([
        { "match": [{ "headers": { "unlucky": { "exact": "yes" } } }],
          "fault": { "abort": { "httpStatus": 555, "percentage": { "value": 100 } } }, "route": [to("v1")] },
        { "match": [{ "headers": { "patient": { "exact": "yes" } } }],
          "fault": { "delay": { "fixedDelay": "400ms", "percentage": { "value": 100 } } }, "route": [to("v1")] },
        { "match": [{ "headers": { "hurried": { "exact": "yes" } } }], "timeout": "3s", "route": [to("v1")] },
        { "match": [{ "headers": { "stubborn": { "exact": "yes" } } }],
          "retries": { "attempts": 3, "perTryTimeout": "2s", "retryOn": "5xx" }, "route": [to("v1")] },
        { "match": [{ "headers": { "watched": { "exact": "yes" } } }],
          "mirror": { "host": "cart", "subset": "v2" }, "mirrorPercentage": { "value": 100 }, "route": [to("v1")] },
        { "route": [to("v1")], "retries": { "attempts": 0 } },
    ])).await?;
    let unlucky = shop.call().header("unlucky", "yes");
    assert_eq!(shop.client.client().call(&unlucky).await?.status.as_u16(), 555);
    assert_eq!(shop.ask(&shop.call().header("patient", "yes")).await?.version, "v1");
    let stats = shop.near.admin().stats().await?;
    let delays: u64 =
        stats.iter().filter(|(name, _)| name.ends_with("fault.delays_injected")).map(|(_, of)| of).sum();
    assert_eq!(delays, 1, "the proxy counted the delay that it made");

    // The application takes longer than the route allows.
    let hurried = shop.call().header("hurried", "yes").header("x-echo-delay", "30000");
    assert_eq!(shop.client.client().call(&hurried).await?.status, StatusCode::GATEWAY_TIMEOUT);
    let calm = shop.call().header("hurried", "yes");
    assert_eq!(shop.client.client().call(&calm).await?.status, StatusCode::OK);

    // Four tries where the route says so, one where it says none.
    let tries = async |call: &Call| -> Result<u64> {
        let count = async || -> Result<u64> {
            let stats = shop.carts[0].1.admin().stats().await?;
            Ok(stats.of("cluster.inbound|8080||", "upstream_rq_completed"))
        };
        let before = count().await?;
        let reply = shop.client.client().call(call).await?;
        assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
        Ok(count().await? - before)
    };
    let failing = shop.call().header("x-echo-status", "503");
    assert_eq!(tries(&failing.clone().header("stubborn", "yes")).await?, 4);
    assert_eq!(tries(&failing).await?, 1);

    // A copy goes to the other version, whose answer nobody waits for.
    let seen = async || -> Result<u64> {
        let stats = shop.carts[1].1.admin().stats().await?;
        Ok(stats.of("cluster.inbound|8080||", "upstream_rq_200"))
    };
    let before = seen().await?;
    for _ in 0..5 {
        assert_eq!(shop.ask(&shop.call().header("watched", "yes")).await?.version, "v1");
    }
    wait::until("five copies at v2", PATIENCE, async || match seen().await {
        Ok(now) => Seen::when(now - before == 5, || format!("{} copies", now - before)),
        Err(error) => Seen::NotYet(error.to_string()),
    })
    .await?;
    refused_nothing(&shop).await
}

#[tokio::test]
async fn destinations_are_chosen_protected_and_spoken_to_as_their_rules_say() -> Result<()> {
    needs!(Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    let shop = Shop::open(json!({})).await?;
    let host = "cart.shop.svc.cluster.local";

    // Mutual TLS without being asked for: both have sidecars.
    let answer = shop.ask(&shop.call()).await?;
    let certified = answer.header("x-forwarded-client-cert").unwrap_or_default().to_owned();
    assert!(certified.contains("URI=spiffe://cluster.local/ns/shop/sa/client"), "{certified}");
    let stats = shop.near.admin().stats().await?;
    assert!(stats.of(&format!("cluster.outbound|80||{host}"), "ssl.handshake") >= 1);

    // A protocol that nobody looks into.
    assert_eq!(shop.ask(&shop.line()).await?.body, "hello");
    let stats = shop.near.admin().stats().await?;
    assert!(stats.of(&format!("cluster.outbound|9000||{host}"), "ssl.handshake") >= 1);

    // STRICT: who has no certificate is refused; by the client's sidecar it goes on.
    let strict = json!({
        "apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
        "metadata": { "name": "default", "namespace": "shop" }, "spec": { "mtls": { "mode": "STRICT" } },
    });
    let plain = shop.mesh.net.workload("plain")?;
    let in_the_clear = Call::to(shop.carts[0].0.at(8080)).host("cart");
    assert!(plain.client().ask(&in_the_clear).await.is_ok(), "PERMISSIVE by default");
    shop.mesh.write("policy.yaml", &[strict])?;
    wait::until("plaintext to be refused", PATIENCE, async || {
        match plain.client().call(&in_the_clear).await {
            Ok(reply) => Seen::NotYet(format!("answered {}", reply.status)),
            Err(_) => Seen::Done(()),
        }
    })
    .await?;
    assert!(shop.ask(&shop.call()).await.is_ok());

    // Bare TCP to one subset.
    let tcp = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": { "name": "cart-tcp", "namespace": "shop" },
        "spec": { "hosts": ["cart"], "tcp": [{ "match": [{ "port": 9000 }], "route": [to("v2")] }],
            "http": [{ "route": [to("v1")] }] },
    });
    shop.mesh.write("routes.yaml", &[tcp, destination_rule(None)])?;
    wait::until("lines to go to v2 alone", PATIENCE, async || {
        let mut versions = Vec::new();
        for _ in 0..6 {
            match shop.ask(&shop.line()).await {
                Ok(answer) => versions.push(answer.version),
                Err(error) => return Seen::NotYet(error.to_string()),
            }
        }
        Seen::when(versions.iter().all(|version| version == "v2"), || format!("{versions:?}"))
    })
    .await?;

    // An endpoint that fails is left alone for a while.
    let ejecting = json!({ "outlierDetection": { "consecutive5xxErrors": 2, "interval": "0.2s",
        "baseEjectionTime": "60s", "maxEjectionPercent": 100 } });
    shop.mesh.write(
        "routes.yaml",
        &[
            virtual_service(
                &json!([{ "retries": { "attempts": 0 }, "route": [{ "destination": { "host": "cart" } }],
            "headers": { "response": { "set": { "x-step": "outliers" } } } }]),
            ),
            destination_rule(Some(&ejecting)),
        ],
    )?;
    shop.until("the rule", &shop.call(), |reply| reply.header("x-step") == Some("outliers")).await?;
    let ejections = async || -> Result<u64> {
        let stats = shop.near.admin().stats().await?;
        Ok(stats.of(&format!("cluster.outbound|80||{host}"), "outlier_detection.ejections_enforced_total"))
    };
    wait::until("an endpoint to be ejected", PATIENCE, async || {
        for _ in 0..4 {
            let _ = shop.client.client().call(&shop.call().header("x-echo-status", "503")).await;
        }
        match ejections().await {
            Ok(count) => Seen::when(count >= 1, || "none".to_owned()),
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await?;
    refused_nothing(&shop).await
}

#[tokio::test]
async fn what_the_mesh_does_not_know_is_let_through_or_not_as_the_mesh_says() -> Result<()> {
    needs!(Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    for (mode, open) in [("ALLOW_ANY", true), ("REGISTRY_ONLY", false)] {
        let shop = Shop::open(json!({ "outboundTrafficPolicy": { "mode": mode } })).await?;
        let stranger = shop.mesh.net.workload("stranger")?;
        let ports = mizzen_testkit::echo::Ports { http: 8080, https: 0, tcp: 9000, tls: 0 };
        let _application = stranger.echo("outside", ports)?;
        // A port that no service has, and the port of one.
        for port in [8080, 9000] {
            let mut call = Call::to(stranger.at(port)).host("stranger.example");
            if port == 9000 {
                call = call.over(mizzen_testkit::echo::Protocol::Tcp).body("hi");
            }
            let answer = shop.ask(&call).await;
            assert_eq!(answer.is_ok(), open, "{mode}, port {port}: {answer:?}");
        }
        let stats = shop.near.admin().stats().await?;
        let cluster = if open { "cluster.PassthroughCluster" } else { "cluster.BlackHoleCluster" };
        let through = stats.of(cluster, "upstream_cx_total") + stats.of(cluster, "upstream_cx_none_healthy");
        assert!(through >= 1, "{cluster}");
    }
    Ok(())
}

#[tokio::test]
async fn an_ingress_gateway_serves_the_hosts_of_its_gateway() -> Result<()> {
    needs!(Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    let shop = Shop::open(json!({})).await?;
    let ingress = shop.mesh.net.workload("ingress")?;
    let gateway = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "Gateway",
        "metadata": { "name": "door", "namespace": "shop" },
        "spec": { "selector": { "istio": "ingressgateway" }, "servers": [
            { "port": { "number": 8080, "name": "http", "protocol": "HTTP" }, "hosts": ["shop.example"] }] },
    });
    let routes = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
        "metadata": { "name": "door", "namespace": "shop" },
        "spec": { "hosts": ["shop.example"], "gateways": ["door"], "http": [
            { "match": [{ "uri": { "prefix": "/cart" } }], "route": [{ "destination": { "host": "cart", "port": { "number": 80 } } }] }] },
    });
    let mut router = pod(&ingress, "ingress", "v1");
    router["metadata"]["labels"]["istio"] = "ingressgateway".into();
    shop.mesh.write("door.yaml", &[gateway, routes, router])?;
    let _door = shop.mesh.router(&ingress, [("app", "ingress"), ("istio", "ingressgateway")]).await?;

    let visitor = shop.mesh.net.workload("visitor")?;
    let call = Call::to(ingress.at(8080)).host("shop.example").path("/cart/items");
    let answer = wait::until("an answer through the door", PATIENCE, async || {
        Seen::from_result(visitor.client().ask(&call).await)
    })
    .await?;
    assert_eq!(answer.path, "/cart/items");
    let certified = answer.header("x-forwarded-client-cert").unwrap_or_default();
    assert!(certified.contains("sa/ingress"), "{certified}");
    let other = Call::to(ingress.at(8080)).host("other.example").path("/cart");
    assert_eq!(visitor.client().call(&other).await?.status, StatusCode::NOT_FOUND);
    let elsewhere = Call::to(ingress.at(8080)).host("shop.example").path("/elsewhere");
    assert_eq!(visitor.client().call(&elsewhere).await?.status, StatusCode::NOT_FOUND);
    Ok(())
}

#[tokio::test]
async fn a_file_that_changes_changes_the_mesh_and_a_broken_one_does_not() -> Result<()> {
    needs!(Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    let shop = Shop::open(json!({})).await?;
    shop.route("files", &json!([{ "route": [to("v2")] }])).await?;
    assert_eq!(shop.share(&shop.call(), 10).await?, [0, 10]);

    // Half of a file: reported by name and line, and what it said before goes on.
    shop.mesh.write_text(
        "routes.yaml",
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: cart\n",
    )?;
    wait::until("the broken file to be told", PATIENCE, async || {
        let log = shop.mesh.log();
        Seen::when(log.contains("routes.yaml:"), || "nothing in the log".to_owned())
    })
    .await?;
    assert_eq!(shop.share(&shop.call(), 10).await?, [0, 10]);

    // An object that no Istio would take: its last good version goes on.
    let mut bad = virtual_service(&json!([{ "route": [to("v1")], "timeout": "never" }]));
    bad["spec"]["hosts"] = Value::Array(Vec::new());
    shop.mesh.write("routes.yaml", &[bad, destination_rule(None)])?;
    wait::until("the refused object to be told", PATIENCE, async || {
        let metrics = shop.mesh.page("/debug/configz").await;
        let log = shop.mesh.log();
        Seen::when(log.contains("VirtualService shop/cart"), || format!("{metrics:?}"))
    })
    .await?;
    assert_eq!(shop.share(&shop.call(), 10).await?, [0, 10]);

    // Mended, and then gone.
    shop.route("mended", &json!([{ "route": [to("v1")] }])).await?;
    assert_eq!(shop.share(&shop.call(), 10).await?, [10, 0]);
    shop.mesh.remove("routes.yaml")?;
    wait::until("both versions to answer again", PATIENCE, async || {
        match shop.share(&shop.call(), 20).await {
            Ok(share) => Seen::when(share[0] > 0 && share[1] > 0, || format!("{share:?}")),
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await?;
    refused_nothing(&shop).await
}

/// No proxy has refused anything, and none has less than it was sent.
async fn refused_nothing(shop: &Shop) -> Result<()> {
    let proxies = [&shop.near, &shop.carts[0].1, &shop.carts[1].1];
    for envoy in proxies {
        let stats = envoy.admin().stats().await?;
        for rejected in ["cluster_manager.cds.update_rejected", "listener_manager.lds.update_rejected"] {
            assert_eq!(stats.get(rejected), 0, "{rejected}");
        }
        let routes: u64 = stats
            .iter()
            .filter(|(name, _)| name.contains(".rds.") && name.ends_with("update_rejected"))
            .map(|(_, of)| of)
            .sum();
        assert_eq!(routes, 0, "routes refused");
        envoy.wait_configured().await?;
    }
    let log = shop.mesh.log();
    for told in ["refused", "is not what", "does not lead"] {
        let line = log.lines().find(|line| line.contains(told) && !line.contains("sources::files"));
        assert_eq!(line, None);
    }
    Ok(())
}

#[tokio::test]
async fn a_mesh_without_any_object_configures_a_proxy() -> Result<()> {
    needs!(Envoy::NEEDS, Net::NEEDS, Workload::REDIRECT_NEEDS);
    let mesh = Mesh::start(json!({})).await?;
    let lonely = mesh.net.workload("lonely")?;
    let envoy = mesh.sidecar(&lonely, [("app", "lonely"), ("version", "v1")]).await?;
    let dump = envoy.admin().config_dump().await?.to_string();
    assert!(dump.contains("virtualInbound") && dump.contains("PassthroughCluster"));
    Ok(())
}
