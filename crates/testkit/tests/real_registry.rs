//! The registry is a real one.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use mizzen_testkit::{Error, Result, needs, registry::Registry, wire};
use tokio::net::TcpStream;

async fn send(
    registry: &Registry,
    method: Method,
    path: &str,
    kind: &str,
    body: impl Into<Bytes>,
) -> Result<wire::Reply> {
    let stream = TcpStream::connect(registry.address()).await.map_err(Error::other)?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", registry.address().to_string())
        .header("content-type", kind)
        .header("accept", kind)
        .body(Full::new(body.into()))
        .map_err(Error::other)?;
    wire::http1(stream, request).await
}

const BLOB: &str = "application/octet-stream";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const EMPTY: &str = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

#[tokio::test]
async fn what_is_pushed_is_pulled_and_nothing_else() -> Result<()> {
    needs!(Registry::NEEDS);
    let registry = Registry::start().await?;

    let missing = send(&registry, Method::GET, "/v2/shop/cart/manifests/v1", MANIFEST, "").await?;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);

    // The document `{}` under its digest: where to send it is said by the registry.
    let upload =
        send(&registry, Method::POST, "/v2/shop/cart/blobs/uploads/", BLOB, "").await?.successful()?;
    let place = upload.header("location").unwrap_or_default().to_owned();
    let path = place.strip_prefix(&format!("http://{}", registry.address())).unwrap_or(&place);
    let wrong = format!("{path}&digest=sha256:{}", "0".repeat(64));
    assert!(send(&registry, Method::PUT, &wrong, BLOB, "{}").await?.status.is_client_error());
    let upload =
        send(&registry, Method::POST, "/v2/shop/cart/blobs/uploads/", BLOB, "").await?.successful()?;
    let place = upload.header("location").unwrap_or_default().to_owned();
    let path = place.strip_prefix(&format!("http://{}", registry.address())).unwrap_or(&place);
    let stored = send(&registry, Method::PUT, &format!("{path}&digest={EMPTY}"), BLOB, "{}").await?;
    assert_eq!(stored.status, StatusCode::CREATED);
    let blob = send(&registry, Method::GET, &format!("/v2/shop/cart/blobs/{EMPTY}"), BLOB, "").await?;
    assert_eq!(blob.successful()?.text(), "{}");

    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": { "mediaType": "application/vnd.oci.image.config.v1+json", "digest": EMPTY, "size": 2 },
        "layers": [],
    });
    let path = "/v2/shop/cart/manifests/v1";
    send(&registry, Method::PUT, path, MANIFEST, manifest.to_string()).await?.successful()?;
    let pulled = send(&registry, Method::GET, path, MANIFEST, "").await?.successful()?;
    assert_eq!(pulled.json::<serde_json::Value>()?, manifest);
    Ok(())
}
