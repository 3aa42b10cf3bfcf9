//! Where the control plane is: istioctl's options, the same for every verb that looks for it.

/// Where it is if nobody says so.
pub(crate) const NAMESPACE: &str = "istio-system";

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Typed {
    /// The namespace of the control plane
    #[arg(short = 'i', long = "istioNamespace", alias = "istio-namespace", value_name = "NAMESPACE")]
    #[arg(default_value = NAMESPACE)]
    pub(crate) istio_namespace: String,

    // istioctl's, without an effect here.
    #[arg(short = 'n', long, hide = true)]
    namespace: Option<String>,
}
