//! Switches of the process that shape what is built.

/// Whose filters a proxy has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Filters {
    /// Those of Envoy as its project releases it.
    #[default]
    Stock,
    /// Istio's own besides: metadata exchange, ALPN, statistics.
    Istio,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub filters: Filters,
    /// `PILOT_ENABLE_ALPN_FILTER`: tell the server's proxy which protocol is spoken inside mutual TLS, by Istio's filter or, for stock proxies, by a filter
    /// state.
    pub alpn: bool,
    /// `PILOT_ENABLE_METADATA_EXCHANGE`; only with Istio's filters.
    pub metadata_exchange: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { filters: Filters::Stock, alpn: true, metadata_exchange: true }
    }
}
