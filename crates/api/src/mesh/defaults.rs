//! What Istio has when nobody says anything.

use mizzen_proto::{
    Duration,
    istio::{
        mesh::v1alpha1::{
            AuthenticationPolicy, MeshConfig, ProxyConfig,
            mesh_config::{
                DefaultProviders, ExtensionProvider, InboundTrafficPolicy, IngressControllerMode,
                OutboundTrafficPolicy,
                extension_provider::{EnvoyFileAccessLogProvider, Provider},
                outbound_traffic_policy,
            },
            proxy_config::ClusterName,
        },
        networking::v1alpha3::LocalityLoadBalancerSetting,
    },
};

/// The configuration of a proxy.
pub fn proxy_config() -> ProxyConfig {
    ProxyConfig {
        config_path: "./etc/istio/proxy".to_owned(),
        binary_path: "/usr/local/bin/envoy".to_owned(),
        cluster_name: Some(ClusterName::ServiceCluster("istio-proxy".to_owned())),
        drain_duration: Some(Duration::from_seconds(45)),
        termination_drain_duration: Some(Duration::from_seconds(5)),
        discovery_address: "istiod.istio-system.svc:15012".to_owned(),
        control_plane_auth_policy: AuthenticationPolicy::MutualTls.into(),
        proxy_admin_port: 15000,
        status_port: 15020,
        stat_name_length: 189,
        ..Default::default()
    }
}

/// The configuration of a mesh.
pub fn mesh_config() -> MeshConfig {
    let everybody = || vec!["*".to_owned()];
    MeshConfig {
        default_config: Some(proxy_config()),
        proxy_listen_port: 15001,
        proxy_inbound_listen_port: 15006,
        connect_timeout: Some(Duration::from_seconds(10)),
        protocol_detection_timeout: Some(Duration::from_seconds(0)),
        // For names that cannot be resolved; others are kept as long as their server says.
        dns_refresh_rate: Some(Duration::from_seconds(60)),
        ingress_class: "istio".to_owned(),
        ingress_service: "istio-ingressgateway".to_owned(),
        ingress_controller_mode: IngressControllerMode::Strict.into(),
        root_namespace: "istio-system".to_owned(),
        trust_domain: "cluster.local".to_owned(),
        enable_auto_mtls: Some(true),
        enable_tracing: true,
        enable_prometheus_merge: Some(true),
        outbound_traffic_policy: Some(OutboundTrafficPolicy {
            mode: outbound_traffic_policy::Mode::AllowAny.into(),
            ..Default::default()
        }),
        inbound_traffic_policy: Some(InboundTrafficPolicy::default()),
        locality_lb_setting: Some(LocalityLoadBalancerSetting { enabled: Some(true), ..Default::default() }),
        default_service_export_to: everybody(),
        default_virtual_service_export_to: everybody(),
        default_destination_rule_export_to: everybody(),
        default_providers: Some(DefaultProviders::default()),
        extension_providers: vec![
            provider("prometheus", Provider::Prometheus(Default::default())),
            provider("stackdriver", Provider::Stackdriver(Default::default())),
            provider(
                "envoy",
                Provider::EnvoyFileAccessLog(EnvoyFileAccessLogProvider {
                    path: "/dev/stdout".to_owned(),
                    ..Default::default()
                }),
            ),
        ],
        ..Default::default()
    }
}

fn provider(name: &str, provider: Provider) -> ExtensionProvider {
    ExtensionProvider { name: name.to_owned(), provider: Some(provider) }
}
