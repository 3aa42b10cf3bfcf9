//! `istio`: the mesh, by the rules of versions, then its namespaces and its proxies.

use super::{
    Component, Done, Failed, MESH, NAMESPACE, Pass, Told, injected, reset,
    versions::{Verdict, Versions, decide, may_reset},
};
use crate::{
    carried::scaled,
    istio::{
        FINALIZER, MODULE,
        installation::{Wanted, rendered},
        merge::{Surroundings, merged},
        observe::Observed,
        verify::{tag_of, verify},
        webhooks,
    },
};
use mizzen_api::istio::{GROUP, KIND, Spec};
use mizzen_cluster::{Action, Adoption, ObjectId, Reclaim, Step};
use mizzen_install::{
    Charts,
    deploy::{self, Facts, OTHER_INSTALLERS, Problem, Settings},
};
use mizzen_text::yaml::{self, Options};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// The line of Istio whose charts this program was made for.
const LINE: &str = "1.31.0";
/// Istio's name for injectors that are in each other's way.
const OVERLAP: &str = "IST0139";

/// The mesh of the operator's defaults, and of what somebody says to `istio`.
pub(super) fn wanted(pass: &Pass<'_>, observed: &Observed) -> Result<Wanted, String> {
    let surroundings = Surroundings {
        size: pass.order.size.unwrap_or(observed.size),
        provider: observed.provider,
        features: observed.features.clone()?,
        ..Surroundings::default()
    };
    let mut operator = merged(&Spec::default(), &surroundings).map_err(|wrong| wrong.to_string())?;
    pass.order.values.operator.lay(&mut operator)?;
    let gardener = pass.order.values.sidecar_migration != Some(false);
    let (served, version) = (pass.cluster.served(), pass.version);
    let wanted = rendered(operator, pass.charts, &observed.facts, &served, version, gardener);
    wanted.map_err(|unwanted| unwanted.description)
}

/// Whether it may take the place of what is there.
pub(super) async fn may(
    pass: &Pass<'_>,
    wanted: &Wanted,
    facts: &Facts,
) -> Result<(Versions, Verdict), Failed> {
    if let Some(why) = kept_by_operator(pass).await? {
        return Err(Failed::Said(why));
    }
    let versions = versions(pass, wanted, facts).await?;
    let verdict = decide(&versions, pass.order.force).map_err(|why| Failed::Said(hinted(why, &versions)))?;
    Ok((versions, verdict))
}

pub(super) async fn bring(pass: &Pass<'_>, wanted: &mut Wanted, done: &mut Done) -> Result<(), Failed> {
    let (cluster, order) = (pass.cluster, pass.order);
    if !(order.dry_run && pass.has(Component::ClusterEssentials)) {
        has_essentials(pass).await?;
    }
    // What was written since it was first looked at counts.
    let facts = Facts::read(cluster).await?;
    let (versions, verdict) = may(pass, wanted, &facts).await?;
    done.notes.push(match verdict {
        Verdict::Install => format!("Istio {} is installed", versions.target),
        Verdict::Update => format!("Istio is brought to {}", versions.target),
    });
    done.notes.extend(wanted.notes.iter().cloned());
    if let Err(failed) = install(pass, wanted, &facts, done).await {
        install_again(pass, wanted, failed, done).await?;
    }
    if let Err(why) = injected::label(pass, done).await {
        done.notes.push(format!("namespaces were not labelled: {why}"));
    }
    // Whatever becomes of proxies: the mesh is there.
    let reset = match may_reset(&versions) {
        Ok(()) => Box::pin(reset::reset(pass, wanted, done)).await.map_err(|failed| failed.to_string()),
        Err(why) => Err(why),
    };
    if let Err(why) = reset {
        done.notes.push(why);
    }
    Ok(())
}

/// Where an installer that was cut off had left injectors in each other's way, and they are gone now.
async fn install_again(
    pass: &Pass<'_>,
    wanted: &mut Wanted,
    failed: Failed,
    done: &mut Done,
) -> Result<(), Failed> {
    let gone = if pass.order.dry_run { Vec::new() } else { webhooks::clean_up(pass.cluster).await };
    if gone.is_empty() {
        return Err(failed);
    }
    done.notes.push(format!("{failed}; removed: {}", gone.join(", ")));
    done.steps.clear();
    let facts = Facts::read(pass.cluster).await?;
    install(pass, wanted, &facts, done).await
}

async fn install(pass: &Pass<'_>, wanted: &mut Wanted, facts: &Facts, done: &mut Done) -> Result<(), Failed> {
    let (cluster, order) = (pass.cluster, pass.order);
    let mesh = &mut wanted.mesh;
    let claimed = deploy::share(cluster, mesh, facts).await?;
    let problems = deploy::problems(mesh, facts);
    // Whoever insists does so on a version: pods that are injected twice are nobody's wish.
    let insisted = |problem: &Problem| order.force && !problem.message.contains(OVERLAP);
    let (told, grave): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|problem| problem.warning || insisted(problem));
    done.notes.extend(told.into_iter().map(|problem| problem.message));
    let grave = grave.into_iter().map(|problem| problem.message);
    let grave: Vec<String> = grave.chain(claimed.iter().map(ToString::to_string)).collect();
    if !grave.is_empty() {
        return Err(Failed::Said(grave.join("\n")));
    }
    let adoption = Adoption {
        from: OTHER_INSTALLERS.map(str::to_owned).to_vec(),
        reclaim: Reclaim::Edited { scaled: scaled(mesh) },
        ..Adoption::default()
    };
    let plan = deploy::plan(cluster, mesh, facts, &adoption).await?;
    if !plan.failed.is_empty() {
        let all: Vec<String> = plan.failed.iter().map(|failed| failed.reason.to_string()).collect();
        return Err(Failed::Said(all.join("\n")));
    }
    done.steps.extend(plan.steps().filter(|step| step.action != Action::Unchanged).cloned());
    let pruned =
        plan.prune.iter().map(|id| Step { id: id.clone(), action: Action::Delete, left: Vec::new() });
    done.steps.extend(pruned);
    if order.dry_run {
        return Ok(());
    }
    let settings = Settings { patience: order.patience, adoption };
    let tell = Arc::clone(&pass.tell);
    let progress = move |event| tell(Told::Event(event));
    let report = deploy::carry_out(cluster, mesh, plan, &settings, &progress).await?;
    if !report.failures.is_empty() {
        let told = report.failures.iter().map(|failure| format!("{}: {}", failure.component, failure.reason));
        return Err(Failed::Said(told.collect::<Vec<_>>().join("\n")));
    }
    let pods = cluster.list_in("", "Pod", MESH, &format!("{MODULE}=istio")).await?;
    verify(&pods, &wanted.tag)
        .map_err(|why| Failed::Said(format!("Verifying Pod versions in {MESH} namespace failed: {why}")))
}

/// A sentence where an operator has the mesh: two would undo each other's work for ever.
pub(super) async fn kept_by_operator(pass: &Pass<'_>) -> Result<Option<String>, Failed> {
    let resources = pass.cluster.list(GROUP, KIND, "").await?;
    let kept = resources.iter().find(|resource| crate::finalizers::has(resource, FINALIZER));
    let id = kept.and_then(|resource| ObjectId::of(resource).ok());
    Ok(id.map(|id| format!("{id} is there, and its operator keeps the mesh: change that one instead")))
}

async fn has_essentials(pass: &Pass<'_>) -> Result<(), Failed> {
    let id = |group: &str, kind: &str, name: &str| ObjectId::new(group, kind, "", name);
    let needed = [
        id("", "Namespace", NAMESPACE),
        id("", "Namespace", MESH),
        id("scheduling.k8s.io", "PriorityClass", crate::istio::priority_class::NAME),
    ];
    for id in needed {
        if pass.cluster.get(&id, None).await?.is_none() {
            return Err(Failed::Said(format!("there is no {id}: add cluster-essentials to --components")));
        }
    }
    Ok(())
}

fn hinted(why: String, versions: &Versions) -> String {
    if mizzen_install::Version::of_tag(&versions.target).is_none() {
        return format!("{why}; {:?} is no version: give --value istio.tag={LINE}", versions.target);
    }
    why
}

/// What runs, as far as it is of the program that is wanted: versions of two programs cannot be compared.
async fn versions(pass: &Pass<'_>, wanted: &Wanted, facts: &Facts) -> Result<Versions, Failed> {
    let rendered = wanted.mesh.objects().filter(|object| object.id.kind == "Deployment");
    let target =
        rendered.into_iter().find_map(|object| image(&object.value, "discovery")).unwrap_or_default();
    let running = facts.control_planes.iter().find(|plane| {
        plane["metadata"]["namespace"] == MESH && plane["metadata"]["labels"]["istio.io/rev"] == "default"
    });
    let running = running.and_then(|plane| image(plane, "discovery"));
    let mut versions = Versions {
        client: if are_ours(pass.charts) { pass.version } else { LINE }.to_owned(),
        target: wanted.tag.clone(),
        ..Versions::default()
    };
    if running.as_deref().is_some_and(|running| program(running) != program(&target)) {
        return Ok(versions);
    }
    versions.pilot = running.as_deref().and_then(tag_of).map(str::to_owned);
    let mut proxies = BTreeSet::new();
    pass.cluster
        .each("", "Pod", "fieldSelector=status.phase%3DRunning", |pod| proxies.extend(proxy(&pod)))
        .await?;
    versions.data_plane = proxies;
    Ok(versions)
}

/// Whether charts are of this program, and have its version.
fn are_ours(charts: &dyn Charts) -> bool {
    let profile = charts.profile("default").ok();
    let profile: Option<Value> =
        profile.and_then(|source| yaml::load_first(&source, &Options::KUBERNETES).ok().flatten());
    profile.is_some_and(|profile| profile["spec"]["hub"] == "mizzen")
}

/// The tag of a pod's proxy, unless somebody has said which image it has.
fn proxy(pod: &Value) -> Option<String> {
    let metadata = &pod["metadata"];
    let own = metadata["annotations"].get("sidecar.istio.io/proxyImage").is_some();
    if own || metadata.get("deletionTimestamp").is_some() {
        return None;
    }
    let list = |key: &str| pod["spec"][key].as_array().into_iter().flatten();
    let mut all = list("containers").chain(list("initContainers"));
    let proxy = all.find(|container| container["name"] == "istio-proxy")?;
    tag_of(proxy["image"].as_str()?).map(str::to_owned)
}

/// Of a container of a workload.
pub(super) fn image(workload: &Value, container: &str) -> Option<String> {
    let containers = workload.pointer("/spec/template/spec/containers")?.as_array()?;
    let found = containers.iter().find(|one| one["name"] == container)?;
    found["image"].as_str().map(str::to_owned)
}

/// `pilot` of `hub/pilot:1.31.0`
fn program(image: &str) -> &str {
    let name = image.rsplit('/').next().unwrap_or_default();
    name.split([':', '@']).next().unwrap_or_default()
}
