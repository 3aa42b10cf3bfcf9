//! `operator manifest`: the objects of the operator for `Istio` resources, printed, or a sample of such a resource.

use super::sources;
use crate::{
    args::format::YamlOrJson,
    build,
    exit::Exit,
    output::{Format, Output},
};
use anyhow::Result;
use clap::{Args, ValueEnum};
use mizzen_install::source::{self, BuiltIn, SourceOptions};
use mizzen_operator::{
    granted,
    istio::{Deployed, objects, sample},
};
use serde_json::json;

#[derive(Args)]
pub(crate) struct Typed {
    /// Where the operator's image is
    #[arg(long, value_name = "HUB", default_value = "mizzen")]
    hub: String,

    /// The tag of its image
    #[arg(long, value_name = "TAG", default_value = build::VERSION)]
    tag: String,

    /// Secrets that the image is pulled with
    #[arg(long = "imagePullSecrets", value_name = "NAME", value_delimiter = ',')]
    pull_secrets: Vec<String>,

    /// Upstream's charts, for resources with `spec.mizzen.distribution: istio`: the operator gets the rights that they take
    #[arg(long = "istio-manifests", value_name = "DIR")]
    istio_manifests: Vec<String>,

    /// Print a sample of the resource in this version instead
    #[arg(long, value_name = "VERSION")]
    sample: Option<Sample>,

    /// How to print them
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: YamlOrJson,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sample {
    V1alpha1,
    V1alpha2,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    let items = match typed.sample {
        Some(Sample::V1alpha1) => vec![sample("v1alpha1")],
        Some(Sample::V1alpha2) => vec![sample("v1alpha2")],
        None => {
            let mut rights = granted(&BuiltIn)?;
            for place in typed.istio_manifests.iter().flat_map(|place| sources::of(place)) {
                rights.extend(granted(source::open(&place, &SourceOptions::default())?.as_ref())?);
            }
            objects(&Deployed {
                hub: typed.hub,
                tag: typed.tag,
                pull_secrets: typed.pull_secrets,
                istio_manifests: typed.istio_manifests,
                granted: rights,
            })
        }
    };
    match typed.output {
        YamlOrJson::Json => {
            output.show(Format::Json, &json!({ "apiVersion": "v1", "kind": "List", "items": items }))?;
        }
        YamlOrJson::Yaml => {
            for item in &items {
                output.bytes(b"---\n")?;
                output.show(Format::Yaml, item)?;
            }
        }
    }
    Ok(Exit::Done)
}
