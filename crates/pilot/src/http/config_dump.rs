//! Everything that a connected proxy is to have, in the shape of Envoy's own dump.
//!
//! The messages are known only by their descriptors here, which are large: they are loaded when the first dump is asked for.

use super::{Page, Query, json, plain, sync::Node};
use crate::process::Process;
use http::StatusCode;
use mizzen_proto::{descriptors, envoy::admin::v3 as admin};
use mizzen_xds::{Connection, Resource, Subscription, Type};
use prost::Message;
use prost_reflect::{DynamicMessage, SerializeOptions};
use serde_json::{Value, value::Serializer};
use std::{collections::HashMap, sync::Arc};

type Any = mizzen_proto::google::protobuf::Any;

pub(super) fn page(process: &Process, query: &Query) -> Page {
    let Some(id) = query.get("proxyID").filter(|id| !id.is_empty()) else {
        return plain(StatusCode::BAD_REQUEST, "You must provide a proxyID in the query string\n");
    };
    // The newest stream, if a proxy has just come back and the old one has not ended yet.
    let connections = process.connections();
    let Some(connection) = connections.iter().rev().find(|connection| Node::of(&connection.node).id == id)
    else {
        let told = "Proxy not connected to this Pilot instance. It may be connected to another instance.\n";
        return plain(StatusCode::NOT_FOUND, told);
    };
    let Some(resources) = resources(process, connection) else {
        return plain(StatusCode::NOT_FOUND, "the proxy has just gone\n");
    };
    let dump = match query.get("types") {
        Some(types) => some(&resources, &types),
        None => whole(&resources, query.get("include_eds").is_some()),
    };
    match dump {
        Ok(dump) => json(&dump),
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}\n")),
    }
}

struct Resources {
    version: String,
    by_type: HashMap<Type, Vec<Arc<Resource>>>,
}

impl Resources {
    fn of(&self, kind: &Type) -> impl Iterator<Item = (&Resource, Any)> {
        let found = self.by_type.get(kind).map(Vec::as_slice).unwrap_or_default();
        found.iter().map(|resource| {
            let any = Any { type_url: kind.url().to_owned(), value: resource.body().to_vec() };
            (&**resource, any)
        })
    }
}

/// As they are in the newest generation.
fn resources(process: &Process, connection: &Connection) -> Option<Resources> {
    let client = process.proxies.client(&connection.node)?;
    let generation = process.proxies.newest()?;
    let mut by_type = HashMap::new();
    for watched in &connection.watched {
        let subscription = Subscription::new(watched.wildcard, watched.names.clone());
        let set = generation.build(&client, &watched.kind, &subscription);
        by_type.insert(watched.kind.clone(), set.resources().to_vec());
    }
    Some(Resources { version: generation.version().to_owned(), by_type })
}

fn some(resources: &Resources, types: &str) -> Result<Value, String> {
    let kinds = [
        Type::Cluster,
        Type::Endpoints,
        Type::Listener,
        Type::Route,
        Type::Secret,
        Type::Extension,
        Type::NameTable,
    ];
    let asked =
        kinds.iter().filter(|kind| types.split(',').any(|name| name == kind.short() || name == kind.url()));
    let configs = asked.flat_map(|kind| resources.of(kind)).map(|(_, any)| any).collect();
    to_json(&admin::ConfigDump { configs }, "envoy.admin.v3.ConfigDump")
}

fn whole(resources: &Resources, endpoints: bool) -> Result<Value, String> {
    let version = || resources.version.clone();
    let clusters = admin::ClustersConfigDump {
        version_info: version(),
        dynamic_active_clusters: resources
            .of(&Type::Cluster)
            .map(|(_, any)| admin::clusters_config_dump::DynamicCluster {
                cluster: Some(any),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let listeners = admin::ListenersConfigDump {
        version_info: version(),
        dynamic_listeners: resources
            .of(&Type::Listener)
            .map(|(resource, any)| admin::listeners_config_dump::DynamicListener {
                name: resource.name().to_string(),
                active_state: Some(admin::listeners_config_dump::DynamicListenerState {
                    version_info: version(),
                    listener: Some(any),
                    ..Default::default()
                }),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let routes = admin::RoutesConfigDump {
        dynamic_route_configs: resources
            .of(&Type::Route)
            .map(|(_, any)| admin::routes_config_dump::DynamicRouteConfig {
                version_info: version(),
                route_config: Some(any),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let mut configs = vec![
        packed("envoy.admin.v3.BootstrapConfigDump", &admin::BootstrapConfigDump::default()),
        packed("envoy.admin.v3.ClustersConfigDump", &clusters),
    ];
    if endpoints {
        let endpoints = admin::EndpointsConfigDump {
            dynamic_endpoint_configs: resources
                .of(&Type::Endpoints)
                .map(|(_, any)| admin::endpoints_config_dump::DynamicEndpointConfig {
                    version_info: version(),
                    endpoint_config: Some(any),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        };
        configs.push(packed("envoy.admin.v3.EndpointsConfigDump", &endpoints));
    }
    configs.push(packed("envoy.admin.v3.ListenersConfigDump", &listeners));
    configs.push(packed("envoy.admin.v3.ScopedRoutesConfigDump", &admin::ScopedRoutesConfigDump::default()));
    configs.push(packed("envoy.admin.v3.RoutesConfigDump", &routes));
    // Secrets are never shown.
    configs.push(packed("envoy.admin.v3.SecretsConfigDump", &admin::SecretsConfigDump::default()));
    configs.push(packed("envoy.admin.v3.EcdsConfigDump", &admin::EcdsConfigDump::default()));
    to_json(&admin::ConfigDump { configs }, "envoy.admin.v3.ConfigDump")
}

fn packed(name: &str, message: &impl Message) -> Any {
    Any { type_url: format!("type.googleapis.com/{name}"), value: message.encode_to_vec() }
}

fn to_json(message: &impl Message, name: &str) -> Result<Value, String> {
    let descriptor = descriptors().get_message_by_name(name).ok_or_else(|| format!("{name} is not known"))?;
    let bytes = message.encode_to_vec();
    let dynamic = DynamicMessage::decode(descriptor, bytes.as_slice()).map_err(|error| error.to_string())?;
    dynamic
        .serialize_with_options(Serializer, &SerializeOptions::new())
        .map_err(|error| format!("the dump cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_dump_has_istiods_parts_in_istiods_order() {
        let cluster =
            mizzen_proto::envoy::config::cluster::v3::Cluster { name: "c".into(), ..Default::default() };
        let cluster = Arc::new(Resource::new("c", cluster.encode_to_vec()));
        let resources =
            Resources { version: "v".into(), by_type: HashMap::from([(Type::Cluster, vec![cluster])]) };
        let dump = whole(&resources, true).unwrap();
        let types: Vec<&str> =
            dump["configs"].as_array().unwrap().iter().map(|part| part["@type"].as_str().unwrap()).collect();
        let names =
            ["Bootstrap", "Clusters", "Endpoints", "Listeners", "ScopedRoutes", "Routes", "Secrets", "Ecds"];
        let expected = names.map(|name| format!("type.googleapis.com/envoy.admin.v3.{name}ConfigDump"));
        assert_eq!(types, expected);
        let first = &dump["configs"][1]["dynamicActiveClusters"][0]["cluster"];
        assert_eq!(
            *first,
            json!({ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c" })
        );
    }
}
