//! A proxy's configuration, as the JSON of its protobuf message.

use crate::{
    Map, Value,
    sprig::{
        TableEntry,
        args::wrong,
        json::{self, write::Style, write::write},
        print_duration,
    },
};

pub(super) const TABLE: &[TableEntry] = &[
    // The message's JSON is a string: `45s`.
    ("formatDuration", |call| {
        call.exactly(1)?;
        match call.any(0) {
            Value::Nil => Ok("0s".into()),
            Value::Text(text) => Ok(print_duration(&text)?.into()),
            other => Err(wrong("*durationpb.Duration", &other)),
        }
    }),
    ("protoToJSON", |call| {
        call.exactly(1)?;
        let value = match call.any(0) {
            Value::Nil => return Ok("{}".into()),
            Value::Map(map) => without_defaults(&map).into(),
            Value::Object(object) => match object.plain() {
                Value::Map(map) => without_defaults(&map).into(),
                plain => plain,
            },
            other => return Err(wrong("protoreflect.ProtoMessage", &other)),
        };
        json::quiet(write(&value, Style::RAW, call.host).map(Value::from), "{}".into())
    }),
];

/// What a proxy does anyway is left out: it makes the pod's text much shorter.
fn without_defaults(config: &Map) -> Map {
    const TEXTS: &[(&str, &str)] = &[
        ("configPath", "./etc/istio/proxy"),
        ("binaryPath", "/usr/local/bin/envoy"),
        ("controlPlaneAuthPolicy", "MUTUAL_TLS"),
        ("serviceCluster", "istio-proxy"),
        ("drainDuration", "45s"),
        ("terminationDrainDuration", "5s"),
        ("discoveryAddress", "istiod.istio-system.svc:15012"),
    ];
    const NUMBERS: &[(&str, i64)] =
        &[("proxyAdminPort", 15000), ("statNameLength", 189), ("statusPort", 15020)];
    let is_default = |key: &str, value: &Value| match value {
        Value::Text(text) => TEXTS.contains(&(key, text)),
        Value::Int(_) | Value::Int64(_) | Value::Float(_) => {
            NUMBERS.contains(&(key, crate::sprig::cast_int(value)))
        }
        Value::Map(map) => key == "proxyMetadata" && map.is_empty(),
        _ => false,
    };
    config.entries().into_iter().filter(|(key, value)| !is_default(key, value)).collect()
}
