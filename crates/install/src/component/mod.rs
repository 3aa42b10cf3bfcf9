//! The parts of a mesh that an IstioOperator switches on and off, and the chart of each.

mod entry;
mod quantity;
mod values;

pub use entry::Entry;

/// One kind of component. Everything about it is data.
#[derive(Debug, PartialEq, Eq)]
pub struct Component {
    /// As labels have it: `IngressGateways`
    pub name: &'static str,
    /// As a person says it: `Ingress gateways`
    pub title: &'static str,
    /// The field of `spec.components`.
    pub field: &'static str,
    /// Whether it is there when nobody says anything.
    default: bool,
    /// Whether the field is a list.
    pub list: bool,
    pub chart: &'static str,
    /// Where its values are, below `spec.values`.
    root: &'static [&'static str],
    /// Whether its chart wants its values at the top instead of there.
    flat: bool,
    /// The workload that `k8s` patches; none for `base`.
    workload: Option<Workload>,
    /// A value that switches it on, too, below `spec.values`.
    also_enabled_by: Option<&'static [&'static str]>,
}

impl Component {
    /// Where its values are, below `spec.values`.
    pub(crate) fn root(&self) -> &'static [&'static str] {
        self.root
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Workload {
    pub(crate) kind: &'static str,
    /// A gateway has its own name.
    pub(crate) name: &'static str,
    pub(crate) container: &'static str,
}

/// In the order in which they are rendered.
pub const COMPONENTS: [Component; 6] = [
    Component {
        name: "Base",
        title: "Istio core",
        field: "base",
        default: true,
        list: false,
        chart: "base",
        root: &["global"],
        flat: false,
        workload: None,
        also_enabled_by: None,
    },
    Component {
        name: "Pilot",
        title: "Istiod",
        field: "pilot",
        default: true,
        list: false,
        chart: "istio-control/istio-discovery",
        root: &["pilot"],
        flat: false,
        workload: Some(Workload { kind: "Deployment", name: "istiod", container: "discovery" }),
        also_enabled_by: None,
    },
    Component {
        name: "IngressGateways",
        title: "Ingress gateways",
        field: "ingressGateways",
        default: true,
        list: true,
        chart: "gateways/istio-ingress",
        root: &["gateways", "istio-ingressgateway"],
        flat: false,
        workload: Some(Workload {
            kind: "Deployment",
            name: "istio-ingressgateway",
            container: "istio-proxy",
        }),
        also_enabled_by: Some(&["gateways", "istio-ingressgateway", "enabled"]),
    },
    Component {
        name: "EgressGateways",
        title: "Egress gateways",
        field: "egressGateways",
        default: false,
        list: true,
        chart: "gateways/istio-egress",
        root: &["gateways", "istio-egressgateway"],
        flat: false,
        workload: Some(Workload {
            kind: "Deployment",
            name: "istio-egressgateway",
            container: "istio-proxy",
        }),
        also_enabled_by: Some(&["gateways", "istio-egressgateway", "enabled"]),
    },
    Component {
        name: "Cni",
        title: "CNI",
        field: "cni",
        default: false,
        list: false,
        chart: "istio-cni",
        root: &["cni"],
        flat: false,
        workload: Some(Workload { kind: "DaemonSet", name: "istio-cni-node", container: "install-cni" }),
        also_enabled_by: None,
    },
    Component {
        name: "Ztunnel",
        title: "Ztunnel",
        field: "ztunnel",
        default: false,
        list: false,
        chart: "ztunnel",
        root: &["ztunnel"],
        flat: true,
        workload: Some(Workload { kind: "DaemonSet", name: "ztunnel", container: "istio-proxy" }),
        also_enabled_by: None,
    },
];

impl Component {
    /// Gateways are the lists.
    pub(crate) fn is_gateway(&self) -> bool {
        self.list
    }

    pub(crate) fn workload(&self) -> Option<&Workload> {
        self.workload.as_ref()
    }
}
