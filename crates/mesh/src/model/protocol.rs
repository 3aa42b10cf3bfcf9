//! The protocol of a service's port, and how it is chosen.

/// As Istio's port names and `appProtocol` say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    Http,
    Http2,
    /// HTTP/2 with gRPC's metrics.
    Grpc,
    GrpcWeb,
    Https,
    Tcp,
    Tls,
    Udp,
    Mongo,
    Redis,
    Mysql,
    Hbone,
    DoubleHbone,
    /// To be found out from the first bytes.
    Unsupported,
}

/// Their servers speak first, so there is nothing to find out: SMTP, DNS, MySQL, MongoDB.
const SERVER_FIRST: [i64; 4] = [25, 53, 3306, 27017];

impl Protocol {
    /// By its name, in any case.
    pub fn parse(name: &str) -> Self {
        const NAMES: [(&str, Protocol); 12] = [
            ("http", Protocol::Http),
            // A listener of a Sidecar may be such a one; elsewhere it is HTTP.
            ("http_proxy", Protocol::Http),
            ("http2", Protocol::Http2),
            ("grpc", Protocol::Grpc),
            ("grpc-web", Protocol::GrpcWeb),
            ("https", Protocol::Https),
            ("tcp", Protocol::Tcp),
            ("tls", Protocol::Tls),
            ("udp", Protocol::Udp),
            ("mongo", Protocol::Mongo),
            ("redis", Protocol::Redis),
            ("mysql", Protocol::Mysql),
        ];
        NAMES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map_or(Self::Unsupported, |(_, protocol)| *protocol)
    }

    /// Of a port of a Kubernetes Service: what `appProtocol` says, else what stands before the first dash of its name.
    pub fn of_port(number: i64, name: &str, transport: &str, app_protocol: Option<&str>) -> Self {
        if transport == "UDP" {
            return Self::Udp;
        }
        match app_protocol {
            Some("kubernetes.io/h2c") => return Self::Http2,
            Some("kubernetes.io/ws") => return Self::Http,
            Some("kubernetes.io/wss") => return Self::Https,
            _ => {}
        }
        let name = app_protocol.unwrap_or(name);
        // The one protocol with a dash in it.
        if name.as_bytes().get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"grpc-web")) {
            return Self::GrpcWeb;
        }
        match Self::parse(name.split('-').next().unwrap_or_default()) {
            Self::Unsupported if SERVER_FIRST.contains(&number) => Self::Tcp,
            protocol => protocol,
        }
    }

    pub fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Http2 | Self::Grpc | Self::GrpcWeb)
    }

    pub fn is_http2(self) -> bool {
        matches!(self, Self::Http2 | Self::Grpc | Self::GrpcWeb)
    }

    pub fn is_tls(self) -> bool {
        matches!(self, Self::Https | Self::Tls)
    }

    pub fn is_tcp(self) -> bool {
        matches!(self, Self::Tcp | Self::Https | Self::Tls | Self::Mongo | Self::Redis | Self::Mysql)
    }

    /// To be found out from the first bytes.
    pub fn is_unknown(self) -> bool {
        self == Self::Unsupported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_speaks_what_its_app_protocol_or_its_name_says() {
        for (number, name, transport, app_protocol, protocol) in [
            (80, "http", "TCP", None, Protocol::Http),
            (80, "HTTP2-web", "", None, Protocol::Http2),
            (80, "grpc-web", "TCP", None, Protocol::GrpcWeb),
            (80, "GRPC-Web-x", "TCP", None, Protocol::GrpcWeb),
            (80, "grpc-websocket", "TCP", None, Protocol::GrpcWeb),
            (80, "grpc-x", "TCP", None, Protocol::Grpc),
            (80, "httpx", "TCP", None, Protocol::Unsupported),
            (80, "", "TCP", None, Protocol::Unsupported),
            (80, "ünï", "TCP", None, Protocol::Unsupported),
            (3306, "", "TCP", None, Protocol::Tcp),
            (3306, "mysql-a", "TCP", None, Protocol::Mysql),
            (53, "dns", "UDP", None, Protocol::Udp),
            (53, "http", "UDP", Some("http"), Protocol::Udp),
            (80, "tcp", "TCP", Some("https"), Protocol::Https),
            (80, "tcp", "TCP", Some("kubernetes.io/h2c"), Protocol::Http2),
            (80, "tcp", "TCP", Some("kubernetes.io/ws"), Protocol::Http),
            (80, "tcp", "TCP", Some("kubernetes.io/wss"), Protocol::Https),
            // What is said counts, even if it is not known.
            (80, "http", "TCP", Some("example.com/own"), Protocol::Unsupported),
            (25, "http", "TCP", Some("own"), Protocol::Tcp),
        ] {
            assert_eq!(
                Protocol::of_port(number, name, transport, app_protocol),
                protocol,
                "{number} {name} {transport} {app_protocol:?}"
            );
        }
    }
}
