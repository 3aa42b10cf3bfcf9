//! A node as it comes over the wire → a proxy.

use mizzen_mesh::{Locality, Node as Said, Proxy};
use mizzen_proto::google::protobuf::{Struct, Value as Wire, value::Kind};
use mizzen_xds::{Node, Refused};
use serde_json::{Map, Number, Value};
use std::sync::Arc;

/// Structures in each other. prost reads no deeper than a hundred.
const DEPTH: usize = 100;

pub(super) fn proxy(node: &Node) -> Result<Arc<Proxy>, Refused> {
    let locality = node.locality.as_ref().map(|locality| Locality {
        region: locality.region.as_str().into(),
        zone: locality.zone.as_str().into(),
        subzone: locality.sub_zone.as_str().into(),
    });
    let metadata = node.metadata.as_ref().map(|metadata| object(metadata, 0)).unwrap_or_default();
    let said = Said { id: node.id.clone(), metadata, locality: locality.unwrap_or_default() };
    Proxy::read(said).map(Arc::new).map_err(|refused| Refused::Malformed(refused.to_string()))
}

fn object(wire: &Struct, depth: usize) -> Map<String, Value> {
    wire.fields.iter().map(|(name, field)| (name.clone(), value(field, depth))).collect()
}

fn value(wire: &Wire, depth: usize) -> Value {
    if depth > DEPTH {
        return Value::Null;
    }
    match &wire.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::BoolValue(is)) => Value::Bool(*is),
        Some(Kind::StringValue(text)) => Value::String(text.clone()),
        Some(Kind::NumberValue(number)) => {
            // Whole numbers read back as such.
            #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
            let whole = (number.fract() == 0.0 && number.abs() < 9e15).then(|| Number::from(*number as i64));
            whole.or_else(|| Number::from_f64(*number)).map_or(Value::Null, Value::Number)
        }
        Some(Kind::StructValue(fields)) => Value::Object(object(fields, depth + 1)),
        Some(Kind::ListValue(list)) => {
            Value::Array(list.values.iter().map(|item| value(item, depth + 1)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Wire {
        Wire { kind: Some(Kind::StringValue(text.into())) }
    }

    #[test]
    fn what_a_node_says_becomes_a_proxy() {
        let labels = Struct { fields: [("app".to_owned(), text("web"))].into() };
        let fields = [
            ("NAMESPACE".to_owned(), text("shop")),
            ("LABELS".to_owned(), Wire { kind: Some(Kind::StructValue(labels)) }),
            ("n".to_owned(), Wire { kind: Some(Kind::NumberValue(3.0)) }),
        ];
        let node = Node {
            id: "sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local".into(),
            metadata: Some(Struct { fields: fields.into() }),
            ..Node::default()
        };
        let proxy = proxy(&node).unwrap();
        assert_eq!((&*proxy.namespace, proxy.labels.len()), ("shop", 1));
        assert_eq!(proxy.metadata["n"], 3);
    }

    #[test]
    fn a_malformed_node_is_refused_with_the_reason() {
        for id in ["", "sidecar~x", "ztunnel~10.0.0.1~a.b~c", "sidecar~nonsense~a.b~c"] {
            let refused = proxy(&Node { id: id.into(), ..Node::default() }).unwrap_err();
            assert!(matches!(refused, Refused::Malformed(_)), "{id}: {refused:?}");
        }
    }
}
