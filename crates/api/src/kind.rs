//! The table of the kinds. A kind has one Rust type; the versions that it is served in differ in name only, so they
//! are data.

use mizzen_proto::{
    istio::{extensions, networking, security, telemetry},
    istio_descriptors,
};
use prost_reflect::MessageDescriptor;
use serde_json::Value;

macro_rules! kinds {
    ($($kind:ident $plural:literal in $group:literal [$($version:literal)*] is $($module:ident)::+ ;)*) => {
        /// One of Istio's kinds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($kind,)*
        }

        /// What an object says, by its kind. Boxed: a kind with much to say must not make the others larger.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Spec {
            $($kind(Box<$($module)::+::$kind>),)*
        }

        impl Kind {
            /// In the order of their names.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => stringify!($kind),)* }
            }

            pub fn plural(self) -> &'static str {
                match self { $(Self::$kind => $plural,)* }
            }

            pub fn group(self) -> &'static str {
                match self { $(Self::$kind => $group,)* }
            }

            /// Served versions, the preferred one first.
            pub fn versions(self) -> &'static [&'static str] {
                match self { $(Self::$kind => &[$($version),*],)* }
            }

            /// The proto's full name.
            fn message(self) -> String {
                let module = match self { $(Self::$kind => stringify!($($module)::+),)* };
                format!("istio.{}.{}", module.replace("::", ".").replace(' ', ""), self.name())
            }
        }

        impl Spec {
            pub fn kind(&self) -> Kind {
                match self { $(Self::$kind(_) => Kind::$kind,)* }
            }

            pub(crate) fn read(kind: Kind, json: &Value) -> Result<Self, serde_path_to_error::Error<serde_json::Error>> {
                match kind {
                    $(Kind::$kind => serde_path_to_error::deserialize(json).map(|spec| Self::$kind(Box::new(spec))),)*
                }
            }

            /// As Istio writes it: what has its default value is left out.
            pub fn to_json(&self) -> Result<Value, serde_json::Error> {
                match self { $(Self::$kind(spec) => serde_json::to_value(spec),)* }
            }

            /// The spec of an object that says nothing.
            pub fn empty(kind: Kind) -> Self {
                match kind { $(Kind::$kind => Self::$kind(Box::default()),)* }
            }
        }
    };
}

kinds! {
    AuthorizationPolicy "authorizationpolicies" in "security.istio.io" ["v1" "v1beta1"] is security::v1beta1;
    DestinationRule "destinationrules" in "networking.istio.io" ["v1" "v1alpha3" "v1beta1"] is networking::v1alpha3;
    EnvoyFilter "envoyfilters" in "networking.istio.io" ["v1alpha3"] is networking::v1alpha3;
    Gateway "gateways" in "networking.istio.io" ["v1" "v1alpha3" "v1beta1"] is networking::v1alpha3;
    PeerAuthentication "peerauthentications" in "security.istio.io" ["v1" "v1beta1"] is security::v1beta1;
    ProxyConfig "proxyconfigs" in "networking.istio.io" ["v1beta1"] is networking::v1beta1;
    RequestAuthentication "requestauthentications" in "security.istio.io" ["v1" "v1beta1"] is security::v1beta1;
    ServiceEntry "serviceentries" in "networking.istio.io" ["v1" "v1alpha3" "v1beta1"] is networking::v1alpha3;
    Sidecar "sidecars" in "networking.istio.io" ["v1" "v1alpha3" "v1beta1"] is networking::v1alpha3;
    Telemetry "telemetries" in "telemetry.istio.io" ["v1" "v1alpha1"] is telemetry::v1alpha1;
    TrafficExtension "trafficextensions" in "extensions.istio.io" ["v1alpha1"] is extensions::v1alpha1;
    VirtualService "virtualservices" in "networking.istio.io" ["v1" "v1alpha3" "v1beta1"] is networking::v1alpha3;
    WasmPlugin "wasmplugins" in "extensions.istio.io" ["v1alpha1"] is extensions::v1alpha1;
    WorkloadEntry "workloadentries" in "networking.istio.io" ["v1" "v1alpha3" "v1beta1"] is networking::v1alpha3;
    WorkloadGroup "workloadgroups" in "networking.istio.io" ["v1" "v1alpha3" "v1beta1"] is networking::v1alpha3;
}

impl Kind {
    /// By group and name, in any version: Istio's webhook finds it so, too.
    pub fn find(group: &str, name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.group() == group && kind.name() == name)
    }

    /// The served version of that name.
    pub fn version(self, name: &str) -> Option<&'static str> {
        self.versions().iter().copied().find(|version| *version == name)
    }

    /// What fields it has.
    pub fn descriptor(self) -> Option<MessageDescriptor> {
        istio_descriptors().get_message_by_name(&self.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_message() {
        for kind in Kind::ALL {
            assert!(kind.descriptor().is_some(), "{} is {}", kind.name(), kind.message());
            assert_eq!(Spec::empty(*kind).kind(), *kind);
        }
        assert_eq!(Kind::ALL.len(), 15);
        assert!(Kind::ALL.is_sorted_by_key(|kind| kind.name()));
    }
}
