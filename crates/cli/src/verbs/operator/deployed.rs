//! How the operator is deployed: istioctl's flags, the same for all that make or print its objects.

use crate::build;
use anyhow::Result;
use mizzen_install::source::BuiltIn;
use mizzen_operator::{Deployed, granted};

#[derive(clap::Args)]
#[group(skip)]
pub(super) struct Typed {
    /// Where the operator's image is
    #[arg(long, value_name = "HUB", default_value = "mizzen")]
    hub: String,

    /// The tag of its image
    #[arg(long, value_name = "TAG", default_value = build::VERSION)]
    tag: String,

    /// Secrets that the image is pulled with
    #[arg(long = "imagePullSecrets", value_name = "NAME", value_delimiter = ',')]
    pull_secrets: Vec<String>,

    /// The namespace of the operator
    #[arg(long = "operatorNamespace", value_name = "NAME", default_value = "istio-operator")]
    pub(super) namespace: String,

    /// The namespaces whose resources it looks at; all, if this is empty
    #[arg(
        long = "watchedNamespaces",
        value_name = "NAMES",
        default_value = "istio-system",
        value_delimiter = ','
    )]
    watched: Vec<String>,

    /// The revision of the operator: it looks only at resources of the same revision
    #[arg(short, long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(super) revision: String,
}

impl Typed {
    /// It uses the charts that are built in. Its rights follow from them, because whoever makes roles must have what they grant.
    pub(super) fn meant(self) -> Result<Deployed> {
        Ok(Deployed {
            namespace: self.namespace,
            revision: if self.revision == "default" { String::new() } else { self.revision },
            hub: self.hub,
            tag: self.tag,
            pull_secrets: self.pull_secrets,
            watched: self.watched.into_iter().filter(|name| !name.is_empty()).collect(),
            granted: granted(&BuiltIn)?,
        })
    }
}
