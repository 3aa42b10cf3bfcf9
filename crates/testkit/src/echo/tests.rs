use http::Method;

use super::*;
use crate::error::Error;

fn trusting(echo: &Echo) -> Client {
    Client::new().trusting(&echo.authority().map(Authority::certificate).unwrap_or_default())
}

#[tokio::test]
async fn every_protocol_is_seen_as_what_it_is() -> Result<()> {
    let echo = Echo::start()?;
    let client = trusting(&echo);
    let calls = [
        (Call::to(echo.http()), "HTTP/1.1", None),
        (Call::to(echo.http()).over(Protocol::Http2), "HTTP/2", None),
        (Call::to(echo.http()).over(Protocol::Grpc).path("/shop.Cart/Add"), "gRPC", None),
        (Call::to(echo.https()).tls("localhost"), "HTTP/1.1", Some("http/1.1")),
        (Call::to(echo.https()).tls("localhost").over(Protocol::Http2), "HTTP/2", Some("h2")),
        (Call::to(echo.https()).tls("echo").over(Protocol::Grpc).path("/shop.Cart/Add"), "gRPC", Some("h2")),
        (Call::to(echo.tcp()).over(Protocol::Tcp), "TCP", None),
        (Call::to(echo.tls()).tls("echo").over(Protocol::Tcp), "TCP", None),
    ];
    for (call, protocol, alpn) in calls {
        let answer = client.ask(&call.body("hello")).await?;
        assert_eq!(answer.protocol, protocol);
        assert_eq!(answer.body, "hello", "{protocol}");
        let seen = answer.tls.as_ref().and_then(|tls| tls.alpn.as_deref());
        assert_eq!(seen, alpn, "{protocol}");
    }
    Ok(())
}

#[tokio::test]
async fn a_request_is_told_back_as_it_arrived() -> Result<()> {
    let echo = Echo::start_with(Options { version: "v2".to_owned(), ..Options::default() })?;
    let call = Call::to(echo.http())
        .method(Method::PUT)
        .path("/cart?size=3")
        .host("cart.shop")
        .header("x-color", "red")
        .header("x-color", "blue");
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let answer = Client::new().ask(&call.clone().over(protocol)).await?;
        assert_eq!(answer.version, "v2");
        assert_eq!((answer.method.as_str(), answer.path.as_str()), ("PUT", "/cart?size=3"));
        assert_eq!(answer.header("host"), Some("cart.shop"));
        assert_eq!(answer.header("x-color"), Some("red,blue"));
        assert_eq!(answer.local, echo.http());
        assert!(answer.peer.ip().is_loopback() && answer.tls.is_none());
    }
    Ok(())
}

#[tokio::test]
async fn a_request_chooses_its_status() -> Result<()> {
    let echo = Echo::start()?;
    let call = Call::to(echo.http()).header("x-echo-status", "503").header("x-echo-delay", "1");
    assert_eq!(Client::new().call(&call).await?.status.as_u16(), 503);

    let call = Call::to(echo.http()).over(Protocol::Grpc).header("x-echo-status", "14");
    let reply = Client::new().call(&call).await?;
    assert_eq!(reply.status.as_u16(), 200, "a gRPC status is no HTTP status");
    assert_eq!(reply.trailers.get("grpc-status").map(|status| status.as_bytes()), Some(&b"14"[..]));
    Ok(())
}

#[tokio::test]
async fn the_client_s_identity_and_the_name_it_asked_for_are_seen() -> Result<()> {
    let echo = Echo::start()?;
    let identity = "spiffe://cluster.local/ns/shop/sa/cart";
    let authority = echo.authority().ok_or_else(|| Error::other("echo has no authority"))?;
    let pair = authority.leaf(&Leaf { uri: Some(identity), ..Leaf::default() })?;
    let client = trusting(&echo).presenting(pair);
    for call in [Call::to(echo.https()), Call::to(echo.tls()).over(Protocol::Tcp)] {
        let seen = client.ask(&call.tls("localhost")).await?.tls.unwrap_or_default();
        assert_eq!(seen.client.as_deref(), Some(identity));
        assert_eq!(seen.sni.as_deref(), Some("localhost"));
    }
    Ok(())
}

#[tokio::test]
async fn a_client_of_strangers_is_refused() -> Result<()> {
    let echo = Echo::start()?;
    let stranger = Authority::new("stranger")?.leaf(&Leaf::default())?;
    let call = Call::to(echo.https()).tls("localhost");
    assert!(trusting(&echo).presenting(stranger).call(&call).await.is_err());
    assert!(Client::new().call(&call).await.is_err(), "and the client trusts nobody by itself");
    Ok(())
}
