//! Ports, interfaces and networks of a pod.

use crate::{
    Call, Failure, Value,
    sprig::{TableEntry, json::read::read, print::text_of},
};

pub(super) const TABLE: &[TableEntry] = &[
    ("excludeInboundPort", exclude_port),
    ("kubevirtInterfaces", |call| {
        call.exactly(1)?;
        Ok(Value::Text(call.text(0)?))
    }),
    ("excludeInterfaces", |call| {
        call.exactly(1)?;
        Ok(Value::Text(call.text(0)?))
    }),
    ("appendMultusNetwork", append_network),
];

/// The port at the end of a list, unless it is there already.
fn exclude_port(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (port, ports) = (text_of(&call.any(0), call.host)?, call.text(1)?);
    let port = port.trim();
    let listed = !ports.is_empty() && ports.split(',').any(|one| one == port);
    if port.is_empty() || port == "0" || listed {
        return Ok(Value::Text(ports));
    }
    let mut all: Vec<&str> = ports.split(',').map(str::trim).filter(|port| !port.is_empty()).collect();
    all.push(port);
    Ok(all.join(",").into())
}

/// A network's name behind those of the annotation, in the form that the annotation has: names with commas, or JSON.
fn append_network(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(2)?;
    let (present, network) = (call.text(0)?, call.text(1)?);
    if present.is_empty() {
        return Ok(Value::Text(network));
    }
    let Some(end) = present.rfind(']') else {
        if present.split(',').any(|one| one.trim() == &*network) {
            return Ok(Value::Text(present));
        }
        return Ok(format!("{present}, {network}").into());
    };
    let networks = match read(&present, call.host) {
        Ok(Value::List(networks)) => networks,
        Err(failure) if failure.limit => return Err(failure),
        // What is no JSON stays as it is.
        _ => return Ok(Value::Text(present)),
    };
    if networks.iter().any(|network| !matches!(network, Value::Map(_) | Value::Nil)) {
        return Ok(Value::Text(present));
    }
    let (namespace, name) = match network.split('/').collect::<Vec<_>>()[..] {
        [namespace, name] => (namespace, name),
        [name] => ("", name),
        _ => ("", ""),
    };
    let is_it = |network: &Value| {
        let Value::Map(map) = network else { return false };
        let is = |key: &str, wanted: &str| match map.get(key) {
            Some(Value::Text(text)) => &*text == wanted,
            None | Some(Value::Nil) => key == "namespace" && wanted.is_empty(),
            Some(_) => false,
        };
        is("name", name) && is("namespace", namespace)
    };
    if networks.iter().any(is_it) {
        return Ok(Value::Text(present));
    }
    let added = if namespace.is_empty() {
        format!(r#", {{"name": "{name}"}}"#)
    } else {
        format!(r#", {{"name": "{name}", "namespace": "{namespace}"}}"#)
    };
    Ok(format!("{}{added}{}", &present[..end], &present[end..]).into())
}
