//! A pod's metadata and containers.

use std::rc::Rc;

use crate::{
    Call, Failure, Value,
    sprig::{
        TableEntry,
        args::{Arguments, as_list, wrong},
        cast_int,
        print::text_of,
    },
};

pub(super) const TABLE: &[TableEntry] = &[
    ("annotation", |call| {
        call.exactly(3)?;
        let (meta, name) = (call.any(0), call.text(1)?);
        if !matches!(meta, Value::Map(_) | Value::Object(_)) {
            return Err(wrong("v1.ObjectMeta", &meta));
        }
        if let Some(Value::Map(annotations)) = field(&meta, "Annotations", "annotations")?
            && let Some(value) = annotations.get(&name)
        {
            return Ok(value);
        }
        Ok(Value::Text(text_of(&call.any(2), call.host)?))
    }),
    ("applicationPorts", |call| ports(call, |name| name != "istio-proxy")),
    ("includeInboundPorts", |call| ports(call, |_| true)),
    ("otelResourceAttributes", resource_attributes),
];

/// A field by its Go or JSON name.
pub(super) fn field(value: &Value, go: &str, json: &str) -> Result<Option<Value>, Failure> {
    match value {
        Value::Map(map) => Ok(map.get(go).or_else(|| map.get(json))),
        Value::Object(object) => object.field(go, &[]),
        _ => Ok(None),
    }
}

fn text_field(value: &Value, go: &str, json: &str) -> Result<Rc<str>, Failure> {
    match field(value, go, json)? {
        Some(Value::Text(text)) => Ok(text),
        _ => Ok("".into()),
    }
}

fn containers(call: &Call<'_>, index: usize) -> Result<Vec<Value>, Failure> {
    match call.any(index) {
        Value::Nil => Ok(Vec::new()),
        value => {
            let list = as_list(&value).ok_or_else(|| wrong("[]v1.Container", &value))?;
            let good = list.iter().all(|item| matches!(item, Value::Map(_) | Value::Object(_)));
            if good { Ok(list.to_vec()) } else { Err(wrong("[]v1.Container", &value)) }
        }
    }
}

/// The TCP ports of containers, with commas between.
fn ports(call: &mut Call<'_>, wanted: fn(&str) -> bool) -> Result<Value, Failure> {
    call.exactly(1)?;
    let mut all = Vec::new();
    for container in containers(call, 0)? {
        if !wanted(&text_field(&container, "Name", "name")?) {
            continue;
        }
        let ports = field(&container, "Ports", "ports")?.and_then(|ports| as_list(&ports));
        for port in ports.iter().flat_map(|ports| ports.iter()) {
            let protocol = text_field(port, "Protocol", "protocol")?;
            if !matches!(&*protocol, "UDP" | "SCTP") {
                let number = field(port, "ContainerPort", "containerPort")?.unwrap_or_default();
                all.push(cast_int(&number).to_string());
            }
        }
    }
    Ok(all.join(",").into())
}

/// What OpenTelemetry says of a service by its pod, if a provider of the mesh asks for it.
fn resource_attributes(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(5)?;
    let (mesh, annotations, labels) = (call.any(0), call.string_map(1)?, call.string_map(2)?);
    let (namespace, containers) = (call.text(3)?, containers(call, 4)?);
    if !wanted_by_mesh(&mesh)? {
        return Ok("".into());
    }
    let annotation = |name: &str| match annotations.get(&format!("resource.opentelemetry.io/{name}")) {
        Some(Value::Text(text)) if !text.is_empty() => Some(text.to_string()),
        _ => None,
    };
    let label = |name: &str| match labels.get(name) {
        Some(Value::Text(text)) if !text.is_empty() => Some(text.to_string()),
        _ => None,
    };
    let in_namespace = || Some(namespace.to_string()).filter(|name| !name.is_empty());
    let version =
        match (annotation("service.version").or_else(|| label("app.kubernetes.io/version")), &containers[..])
        {
            (Some(version), _) => Some(version),
            (None, [container]) => image_version(&text_field(container, "Image", "image")?),
            (None, _) => None,
        };
    let instance = match (annotation("service.instance.id"), containers.first()) {
        (Some(instance), _) => Some(instance),
        (None, Some(container)) => {
            Some(format!("{namespace}.$(POD_NAME).{}", text_field(container, "Name", "name")?))
        }
        (None, None) => None,
    };
    let attributes = [
        ("service.namespace", annotation("service.namespace").or_else(in_namespace)),
        ("service.version", version),
        ("service.instance.id", instance),
    ];
    let attributes = attributes.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    Ok(attributes.collect::<Vec<_>>().join(",").into())
}

fn wanted_by_mesh(mesh: &Value) -> Result<bool, Failure> {
    let providers = field(mesh, "ExtensionProviders", "extensionProviders")?.and_then(|list| as_list(&list));
    for provider in providers.iter().flat_map(|providers| providers.iter()) {
        if let Some(telemetry) = field(provider, "Opentelemetry", "opentelemetry")? {
            let how = text_field(&telemetry, "ServiceAttributeEnrichment", "serviceAttributeEnrichment")?;
            if &*how == "OTEL_SEMANTIC_CONVENTIONS" {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Tag and digest of an image, as far as they are there.
fn image_version(image: &str) -> Option<String> {
    let (name, digest) = image.split_once('@').map_or((image, ""), |(name, digest)| (name, digest));
    let last = name.rsplit('/').next().unwrap_or_default();
    let tag = last.rsplit_once(':').map_or("", |(_, tag)| tag);
    match (tag.is_empty(), digest.is_empty()) {
        (true, true) => None,
        (false, false) => Some(format!("{tag}@{digest}")),
        _ => Some(format!("{tag}{digest}")),
    }
}
