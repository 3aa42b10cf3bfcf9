//! Gateway: ports at the edge of the mesh.

use super::{
    conventions::LABELS,
    decode::{Decode, has},
    shape::{Block, Fields, Own, PORT, Rule, Shape, attribute, list},
    syntax,
};
use mizzen_text::At;
use serde_json::{Value, json};

const TEXTS: Shape = list(&Shape::Text(syntax::not_empty));
const VERSIONS: Shape = Shape::Word(&["TLS_AUTO", "TLSV1_0", "TLSV1_1", "TLSV1_2", "TLSV1_3"]);
const ENCRYPTED: [&str; 2] = ["HTTPS", "TLS"];

pub(super) static BLOCK: Block = Block::new(&[
    attribute("selector", "selector", LABELS, "The pods of the gateway. Default: the platform's"),
    attribute(
        "listeners",
        "servers",
        Shape::List { of: &Shape::Block(&LISTENER), least: 1, most: usize::MAX },
        "Its ports",
    )
    .required(),
])
.finish(|written, rendered, decode, _| {
    if !has(written, "selector") {
        let selector = decode.setting.gateway_selector.iter();
        let selector: Value = selector.map(|(key, value)| (key.clone(), value.as_str())).collect();
        rendered.insert("selector".to_owned(), selector);
    }
});

static LISTENER: Block = Block::new(&[
    attribute("port", "port.number", PORT, "The port").required(),
    attribute(
        "protocol",
        "port.protocol",
        Shape::Word(&["HTTP", "HTTPS", "HTTP2", "GRPC", "GRPC-WEB", "TCP", "TLS", "MONGO", "REDIS", "MYSQL"]),
        "What is spoken there. Default: HTTP",
    ),
    attribute(
        "name",
        "port.name",
        Shape::Text(syntax::not_empty),
        "Default: the protocol and the port, such as http-80",
    ),
    attribute(
        "hosts",
        "hosts",
        Shape::List { of: &Shape::Text(syntax::not_empty), least: 1, most: usize::MAX },
        "The hosts that are served, each with or without a namespace and / before it",
    )
    .required(),
    attribute("bind", "bind", Shape::Text(syntax::not_empty), "The address that is listened on"),
    attribute("tlsSettings", "tls", Shape::Block(&TLS), "Certificates, or a redirect to HTTPS"),
])
.finish(listener);

fn listener(written: &Fields, rendered: &mut Fields, decode: &mut Decode<'_>, at: &At<'_>) {
    let port = rendered.entry("port").or_insert_with(|| json!({}));
    if port["protocol"].is_null() {
        port["protocol"] = "HTTP".into();
    }
    let protocol = port["protocol"].as_str().unwrap_or_default().to_owned();
    if port["name"].is_null() && !port["number"].is_null() {
        port["name"] = format!("{}-{}", protocol.to_lowercase(), port["number"]).into();
    }
    if protocol == "HTTP" {
        let settings = written.get("tlsSettings").and_then(Value::as_object).into_iter().flatten();
        for (name, _) in settings.filter(|(name, value)| *name != "httpsRedirect" && !value.is_null()) {
            let at = at.field("tlsSettings");
            let message = format!("`{name}` cannot be given with `protocol: HTTP`, only `httpsRedirect`");
            decode.together(&at.field(name), &message);
        }
    }
    let encrypted = ENCRYPTED.contains(&protocol.as_str());
    match rendered.get_mut("tls").and_then(Value::as_object_mut) {
        // Nobody who writes a certificate means the mode that lets everything through.
        Some(tls) if encrypted && !tls.contains_key("mode") => {
            tls.insert("mode".to_owned(), "SIMPLE".into());
        }
        None if encrypted && !has(written, "tlsSettings") => {
            decode.together(
                &at.field("protocol"),
                &format!("`protocol: {protocol}` needs `tlsSettings` beside it"),
            );
        }
        _ => {}
    }
}

/// Sidecars have it, too.
pub(super) static TLS: Block = Block::new(&[
    attribute(
        "mode",
        "mode",
        Shape::Word(&[
            "SIMPLE",
            "MUTUAL",
            "OPTIONAL_MUTUAL",
            "PASSTHROUGH",
            "AUTO_PASSTHROUGH",
            "ISTIO_MUTUAL",
        ]),
        "How TLS is ended. Default: SIMPLE",
    ),
    attribute(
        "credential",
        "",
        Shape::Own(&Own { decode: credential, schema: credential_schema }),
        "The Secret with the certificate, or two of them",
    ),
    attribute(
        "serverCertificate",
        "serverCertificate",
        Shape::Text(syntax::not_empty),
        "The file with the certificate",
    ),
    attribute("privateKey", "privateKey", Shape::Text(syntax::not_empty), "The file with its private key"),
    attribute(
        "caCertificates",
        "caCertificates",
        Shape::Text(syntax::not_empty),
        "The file with the certificates of those who may sign the client's",
    ),
    attribute("caCredential", "caCertCredentialName", Shape::Text(syntax::not_empty), "The same as a Secret"),
    attribute("httpsRedirect", "httpsRedirect", Shape::Truth, "Send clients of an HTTP port to HTTPS"),
    attribute(
        "minVersion",
        "minProtocolVersion",
        VERSIONS,
        "The oldest TLS that is spoken. Default: TLSV1_2",
    ),
    attribute("maxVersion", "maxProtocolVersion", VERSIONS, "The newest"),
    attribute("cipherSuites", "cipherSuites", TEXTS, "The ciphers that may be used"),
    attribute("subjectAltNames", "subjectAltNames", TEXTS, "Names that a client's certificate may have"),
])
.rules(&[Rule::AtMostOne(&["credential", "serverCertificate"])]);

fn credential(value: &Value, decode: &mut Decode<'_>, at: &At<'_>) -> Option<Value> {
    if value.is_string() {
        let name = decode.text(syntax::not_empty, value, at)?;
        return Some(json!({"credentialName": name}));
    }
    if !value.is_array() {
        return decode.wrong_type("a name, or a list of two", value, at);
    }
    let two = Shape::List { of: &Shape::Text(syntax::not_empty), least: 1, most: 2 };
    Some(json!({"credentialNames": decode.value(&two, value, at)?}))
}

fn credential_schema() -> Value {
    let text = json!({"type": "string", "minLength": 1});
    json!({"oneOf": [text, {"type": "array", "items": text, "minItems": 1, "maxItems": 2}]})
}
