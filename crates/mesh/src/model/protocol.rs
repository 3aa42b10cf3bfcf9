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

impl Protocol {
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
