//! Words of Envoy's messages that are long to write.

use mizzen_proto::{
    Duration,
    envoy::{
        config::listener::v3::{Filter, ListenerFilter, filter, listener_filter},
        extensions::filters::network::http_connection_manager::v3::{HttpFilter, http_filter},
    },
    google::protobuf::{self, Any, BoolValue, UInt32Value},
};
use prost::{Message, Name};

pub(super) fn any<M: Message + Name>(message: &M) -> Any {
    Any { type_url: M::type_url(), value: message.encode_to_vec() }
}

pub(super) fn flag(value: bool) -> Option<BoolValue> {
    Some(BoolValue { value })
}

pub(super) fn number(value: u32) -> Option<UInt32Value> {
    Some(UInt32Value { value })
}

pub(super) fn duration(length: Duration) -> protobuf::Duration {
    protobuf::Duration { seconds: length.seconds, nanos: length.nanos }
}

pub(super) fn seconds(seconds: i64) -> Option<protobuf::Duration> {
    Some(protobuf::Duration { seconds, nanos: 0 })
}

pub(super) fn network_filter(name: &str, config: Any) -> Filter {
    Filter { name: name.to_owned(), config_type: Some(filter::ConfigType::TypedConfig(config)) }
}

pub(super) fn http_filter(name: &str, config: Any) -> HttpFilter {
    HttpFilter {
        name: name.to_owned(),
        config_type: Some(http_filter::ConfigType::TypedConfig(config)),
        ..HttpFilter::default()
    }
}

pub(super) fn listener_filter(name: &str, config: Any) -> ListenerFilter {
    ListenerFilter {
        name: name.to_owned(),
        config_type: Some(listener_filter::ConfigType::TypedConfig(config)),
        ..ListenerFilter::default()
    }
}
