//! IstioInstallationReconciler, the pure half: which mesh a resource asks for.

use super::{
    MODULE, NAMESPACE,
    client::{Minor, changed},
    images::Images,
    injection_selector::leave_gardeners,
    manager::{Installed, Picked},
    merge::{Surroundings, merged},
    observe::Observed,
    reason::{self, Reason},
    reconciler::IstioReconciler,
    sidecars::Proxy,
    verify,
};
use crate::bring::input;
use mizzen_api::istio::{Distribution, Spec};
use mizzen_cluster::Served;
use mizzen_install::{
    COMPONENTS, Charts,
    deploy::{Facts, Mesh},
    generate,
};
use serde_json::{Value, json};

pub(super) struct Wanted {
    pub(super) mesh: Mesh,
    /// The IstioOperator that it was made of.
    pub(super) operator: Value,
    /// Of the control plane's image.
    pub(super) tag: String,
    /// The charts have no node agents, though the defaults want them.
    pub(super) no_node_agents: bool,
    /// What the charts have to say.
    pub(super) notes: Vec<String>,
    /// What sidecars should be.
    pub(super) proxy: Proxy,
    /// The version that follows this one.
    pub(super) next: Option<Minor>,
}

/// Why there is none.
pub(super) struct Unwanted {
    pub(super) reason: &'static Reason,
    pub(super) description: String,
}

pub(super) fn wanted(
    me: &IstioReconciler<'_>,
    spec: &Spec,
    observed: &Observed,
    installed: Option<&Installed>,
) -> Result<Wanted, Unwanted> {
    let picked = picked(me, spec.mizzen.distribution, installed).map_err(|why| misconfigured(&why))?;
    let charts = picked.as_ref().map_or(me.charts, |picked| picked.client.charts());
    let minor = picked.as_ref().map(|picked| picked.client.minor());
    let settings = me.settings;
    let surroundings = Surroundings {
        size: observed.size,
        provider: observed.provider,
        features: observed.features.clone().unwrap_or_default(),
        // They are the images of upstream's charts.
        images: settings.images.clone(),
        pull_secret: settings.pull_secret.clone(),
        experimental: settings.experimental,
        dual_stack: observed.dual_stack,
        minor,
    };
    let operator = merged(spec, &surroundings).map_err(|wrong| misconfigured(&wrong.to_string()))?;
    let mut wanted = rendered(operator, charts, &observed.facts, &me.cluster.served(), me.version, true)?;
    if let Some(minor) = minor.filter(|minor| spec.compatibility_mode && changed(Some(*minor)).is_none()) {
        wanted.notes.push(format!(
            "compatibilityMode has no effect: it is not known what Istio {minor} does otherwise than the version before it"
        ));
    }
    wanted.next = picked.and_then(|picked| picked.next);
    Ok(wanted)
}

/// What a merged IstioOperator becomes with these charts; `version` is that of the operator, `gardener` whether the injector leaves
/// namespaces of Gardener's alone.
pub(super) fn rendered(
    mut operator: Value,
    charts: &dyn Charts,
    facts: &Facts,
    served: &Served,
    version: &str,
    gardener: bool,
) -> Result<Wanted, Unwanted> {
    let no_node_agents = without_node_agents(&mut operator, charts);
    let input = input(&operator, &facts.kubernetes);
    let generated = generate(&input, charts).map_err(|refused| misconfigured(&refused.to_string()))?;
    let failed = |why: String| Unwanted {
        reason: &reason::INSTALL_FAILED,
        description: format!("Could not install Istio: {why}"),
    };
    let mesh = Mesh::new(&generated, facts, served, charts, version, Some(NAMESPACE));
    let mut mesh = mesh.map_err(|error| failed(error.to_string()))?;
    for desired in mesh.parts.iter_mut().flat_map(|part| &mut part.objects) {
        let value = desired.value_mut();
        value["metadata"]["labels"][MODULE] = "istio".into();
        if gardener {
            leave_gardeners(value);
        }
    }
    let tag =
        tag(&mesh).ok_or_else(|| failed("the charts have no control plane with an image tag".to_owned()))?;
    let notes = generated.warnings.iter().map(|warning| warning.message.clone()).collect();
    let proxy = Proxy::of(&operator, &mesh);
    Ok(Wanted { mesh, operator, tag, no_node_agents, notes, proxy, next: None })
}

fn misconfigured(why: &str) -> Unwanted {
    Unwanted {
        reason: &reason::MISCONFIGURED,
        description: format!("Could not merge Istio operator configuration: {why}"),
    }
}

/// A resource chooses between the charts that the operator was given; it never says where charts are. Nothing for our own.
fn picked<'a>(
    me: &IstioReconciler<'a>,
    distribution: Distribution,
    installed: Option<&Installed>,
) -> Result<Option<Picked<'a>>, String> {
    if distribution == Distribution::Mizzen {
        return Ok(None);
    }
    let images = me.settings.images.as_ref().map(Images::tag);
    let picked = me.settings.istio.pick(installed, images)?;
    picked.map(Some).ok_or_else(|| {
        "spec.mizzen.distribution is istio, but the operator was started without upstream's charts: give it \
         --istio-manifests"
            .to_owned()
    })
}

/// Switches off what the charts do not have; whether that was anything.
fn without_node_agents(operator: &mut Value, charts: &dyn Charts) -> bool {
    let cni = COMPONENTS.iter().find(|component| component.name == "Cni");
    let has = cni.is_some_and(|cni| charts.chart(cni.chart).is_ok());
    let enabled = &mut operator["spec"]["components"]["cni"]["enabled"];
    if has || *enabled != json!(true) {
        return false;
    }
    *enabled = false.into();
    true
}

fn tag(mesh: &Mesh) -> Option<String> {
    let mut deployments = mesh.objects().filter(|object| object.id.kind == "Deployment");
    deployments.find_map(|deployment| {
        let containers = deployment.value.pointer("/spec/template/spec/containers")?.as_array()?;
        let discovery = containers.iter().find(|container| container["name"] == "discovery")?;
        verify::tag_of(discovery["image"].as_str()?).map(str::to_owned)
    })
}
