//! A resource's mesh brought to what it should be: the installation first, then the others, none of which stops another.

use super::{
    MESH, MODULE, applied, beside,
    installation::{self, Wanted},
    manager::Installed,
    mesh_parts, monitoring,
    observe::Observed,
    priority_class,
    program::Program,
    reason::{self, Reason},
    reconciler::IstioReconciler,
    sidecars::{self, Restarted, read_at_start},
    telling::Telling,
    user_filters,
    verify::verify,
    version, vertical_autoscalers, webhooks,
};
use crate::{
    carried::{self, Teller, carry},
    finalizers,
    pass::Stopped,
    queue::Outcome,
};
use mizzen_api::istio::{Distribution, Spec, State};
use mizzen_cluster::{ObjectId, Refused};
use mizzen_install::deploy::OTHER_INSTALLERS;
use serde_json::{Value, json};

pub(super) async fn bring(
    me: &IstioReconciler<'_>,
    id: &ObjectId,
    resource: &Value,
    spec: &Spec,
    telling: &mut Telling,
) -> Result<Outcome, Stopped> {
    let observed = Box::pin(Observed::read(&me.cluster)).await?;
    // What takes the place of Mizzen's control plane is no later version of it.
    let another = applied::program(resource) == Some(Program::Mizzen)
        && spec.mizzen.distribution == Distribution::Istio;
    let installed = applied::tag(resource).filter(|_| !another);
    let installed = installed.map(|tag| Installed::told(tag, &telling.status));
    let mut wanted = match installation::wanted(me, spec, &observed, installed.as_ref()) {
        Ok(wanted) => wanted,
        Err(unwanted) => return failed(telling, unwanted.reason, unwanted.description).await,
    };
    let installed = Box::pin(install(me, id, resource, spec, &mut wanted, &observed, telling)).await?;
    let Some(installed) = installed else { return Ok(Outcome::Gone) };
    if installed {
        telling.set(&reason::INSTALLED);
        telling.tells().await?;
    }
    // There are kinds now that there were not before.
    me.cluster.look().await?;
    let others = Box::pin(see_to_others(me, resource, spec, &wanted, &observed, telling)).await?;
    let waits = others.sidecars.goes_on();
    let wrote = installed || others.wrote;
    let warnings = conclude(me, id, resource, spec, &wanted, &observed, others, telling).await?;
    // What has come to this version goes on to the next one. Proxies have a while to follow, and those with a turn of their own until it
    // comes.
    if let Some(next) = wanted.next {
        telling.set(&reason::UNKNOWN);
        let when = match sidecars::waiting_for_their_turn(telling.status.outdated_proxies.as_ref()) {
            0 => {
                telling.status.next_version.clear();
                String::new()
            }
            1 => " when 1 workload has had its turn to be restarted".to_owned(),
            count => format!(" when {count} workloads have had their turn to be restarted"),
        };
        let description = format!("Istio {} is installed, {next} follows{when}", wanted.tag);
        telling.end(State::Processing, &description).await?;
        return Ok(if waits { Outcome::Blocked } else { Outcome::Failed });
    }
    if !warnings.is_empty() {
        telling.set(&reason::FAILED);
        telling.end(State::Warning, &warnings.join("; ")).await?;
        return Ok(if waits { Outcome::Blocked } else { Outcome::Noted });
    }
    telling.set(&reason::SUCCEEDED);
    telling.end(State::Ready, "").await?;
    Ok(match (waits, wrote) {
        // Nothing tells us when pods have been replaced.
        (true, _) => Outcome::Blocked,
        (false, true) => Outcome::Wrote,
        (false, false) => Outcome::Unchanged,
    })
}

/// Whether anything was written; nothing if the resource is gone.
async fn install(
    me: &IstioReconciler<'_>,
    id: &ObjectId,
    resource: &Value,
    spec: &Spec,
    wanted: &mut Wanted,
    observed: &Observed,
    telling: &mut Telling,
) -> Result<Option<bool>, Stopped> {
    let cluster = &me.cluster;
    let Wanted { mesh, tag, next, .. } = wanted;
    let becomes = Program::of(mesh.objects().map(|object| &*object.value));
    if let Some(current) = applied::tag(resource).filter(|_| applied::program(resource) == becomes)
        && let Err(why) = version::update(&current, tag)
    {
        let description = format!("Istio version update is not allowed: {why}");
        telling.fails(State::Warning, &reason::UPDATE_NOT_ALLOWED, &description).await?;
        return Err(Stopped::Blocked(description));
    }
    if !finalizers::has(resource, super::FINALIZER)
        && finalizers::add(cluster, id, resource, super::FINALIZER).await?.is_none()
    {
        return Ok(None);
    }
    priority_class::make(cluster).await?;
    read_at_start::announce(cluster, applied::spec(resource).as_ref(), spec, telling).await?;
    let done = carry(cluster, mesh, &observed.facts, &OTHER_INSTALLERS, me.patience, telling).await?;
    let done = done.and_then(|done| match done.failures.as_slice() {
        [] => Ok(done),
        failures => {
            let told = failures.iter().map(|failure| format!("{}: {}", failure.component, failure.reason));
            Err(told.collect::<Vec<_>>().join("; "))
        }
    });
    let wrote = match done {
        Ok(done) => carried::wrote(&done),
        Err(why) => {
            let gone = webhooks::clean_up(cluster).await;
            if !gone.is_empty() {
                tracing::warn!(webhooks = gone.join(", "), "removed: the default revision injects, too");
            }
            return failed(telling, &reason::INSTALL_FAILED, format!("Could not install Istio: {why}")).await;
        }
    };
    let pods = cluster.list_in("", "Pod", MESH, &format!("{MODULE}=istio")).await?;
    if let Err(why) = verify(&pods, tag) {
        let description = format!("Verifying Pod versions in {MESH} namespace failed: {why}");
        return failed(telling, &reason::INSTALL_FAILED, description).await;
    }
    telling.status.installed_version.clone_from(tag);
    telling.status.installed_program = becomes.map(|program| program.name().to_owned()).unwrap_or_default();
    telling.status.next_version = next.map(|next| next.to_string()).unwrap_or_default();
    // Before anybody can take it for arrived.
    if next.is_some() {
        telling.tells().await?;
    }
    applied::remember(cluster, id, becomes, |now| applied::with_tag(now, &resource["spec"], tag)).await?;
    Ok(Some(wrote))
}

struct Others {
    wrote: bool,
    sidecars: Restarted,
    has_autoscalers: bool,
}

/// All of them, whatever becomes of one; the first that failed is told.
async fn see_to_others(
    me: &IstioReconciler<'_>,
    resource: &Value,
    spec: &Spec,
    wanted: &Wanted,
    observed: &Observed,
    telling: &mut Telling,
) -> Result<Others, Stopped> {
    let cluster = &me.cluster;
    let dual_stack = me.settings.experimental && observed.dual_stack;
    let has_autoscalers =
        cluster.served().find(vertical_autoscalers::GROUP, vertical_autoscalers::KIND, None).is_some();
    let concerns = beside::concerns(spec, observed, dual_stack, has_autoscalers, me.version);
    let kept = beside::see_to(cluster, concerns, telling).await;
    let monitored = monitoring::reconcile(cluster, me.version, telling).await;
    let restarted = mesh_parts::reconcile(cluster, resource, spec).await;
    if restarted.as_ref().is_ok_and(|restarted| restarted.gateway) {
        telling.set(&reason::GATEWAY_RESTARTED);
        telling.tells().await?;
    }
    let before = applied::spec(resource);
    let read = read_at_start::remember(cluster, before.as_ref(), spec, telling).await;
    let sidecars = match read {
        Ok(read) => sidecars::reconcile(me, &wanted.proxy, &read, spec).await,
        Err(refused @ Refused::Conflict { .. }) => return Err(refused.into()),
        Err(refused) => Err(refused.into()),
    };
    match &sidecars {
        Ok(sidecars) if sidecars.nobody_injects => telling.say(&reason::NOBODY_INJECTS, &sidecars.sentence()),
        Ok(sidecars) if sidecars.by_hand.is_empty() => telling.set(&reason::SIDECARS_RESTARTED),
        Ok(sidecars) => telling.say(&reason::SIDECARS_BY_HAND, &sidecars.sentence()),
        Err(_) => telling.set(&reason::SIDECARS_NOT_RESTARTED),
    }
    let kept = match (kept, monitored) {
        (Ok(kept), Ok(monitored)) => kept | monitored,
        (kept, monitored) => {
            let mut errors = kept.err().unwrap_or_default();
            errors.extend(monitored.err());
            let description = format!("Could not reconcile Istio resources: {}", errors.join("; "));
            return failed(telling, &reason::RESOURCES_FAILED, description).await;
        }
    };
    let restarted = match restarted {
        Ok(restarted) => restarted.any,
        // The next look sees what the other one made of it.
        Err(refused @ Refused::Conflict { .. }) => return Err(refused.into()),
        Err(refused) => {
            let description = format!("Failed to restart Ingress Gateway: {refused}");
            return failed(telling, &reason::GATEWAY_NOT_RESTARTED, description).await;
        }
    };
    match sidecars {
        Ok(sidecars) => Ok(Others { wrote: kept | restarted | sidecars.wrote, sidecars, has_autoscalers }),
        Err(stopped) => {
            let description = format!("Error occurred during reconciliation of Istio Sidecars: {stopped}");
            failed(telling, &reason::SIDECARS_NOT_RESTARTED, description).await
        }
    }
}

/// Remembers what was done; what is well, and still not as somebody wanted it.
#[expect(clippy::too_many_arguments, reason = "all that is known at the end")]
async fn conclude(
    me: &IstioReconciler<'_>,
    id: &ObjectId,
    resource: &Value,
    spec: &Spec,
    wanted: &Wanted,
    observed: &Observed,
    others: Others,
    telling: &mut Telling,
) -> Result<Vec<String>, Stopped> {
    let Others { sidecars, has_autoscalers, .. } = others;
    match wanted.notes.as_slice() {
        [] => telling.forget(reason::NOTED.kind),
        notes => telling.say(&reason::NOTED, &notes.join("; ")),
    }
    if wanted.no_node_agents {
        telling.set(&reason::NO_NODE_AGENTS);
    } else {
        telling.forget(reason::NODE_AGENTS);
    }
    let filter = match user_filters::found(&me.cluster).await {
        Ok(filter) => filter,
        Err(refused) => {
            telling.set(&reason::FILTERS_NOT_READ);
            let description = format!("Could not look for EnvoyFilters: {refused}");
            return failed(telling, &reason::FAILED, description).await;
        }
    };
    telling.set(if filter.is_some() { &reason::FILTER_FOUND } else { &reason::NO_FILTER_FOUND });
    let program = Program::of(wanted.mesh.objects().map(|object| &*object.value));
    applied::remember(&me.cluster, id, program, |_| applied::whole(&resource["spec"], &wanted.tag)).await?;
    telling.status.applied = Some(resource.get("spec").cloned().unwrap_or_else(|| json!({})));
    let mut all =
        warnings(spec, observed, wanted.no_node_agents, filter.as_deref(), has_autoscalers, telling);
    if !sidecars.by_hand.is_empty() {
        all.push(BY_HAND.to_owned());
    }
    if sidecars.nobody_injects {
        all.push(sidecars.sentence());
    }
    let Restarted { outdated, .. } = sidecars;
    telling.status.outdated_proxies = (outdated.count > 0).then_some(outdated);
    Ok(all)
}

const BY_HAND: &str = "Some Pods with Istio sidecar injection failed to restart. To learn more about the warning, see \
    kyma-system/istio-controller-manager logs: could not restart one or more Istio-injected Pods";

async fn failed<T>(telling: &mut Telling, reason: &Reason, description: String) -> Result<T, Stopped> {
    telling.fails(State::Error, reason, &description).await?;
    Err(Stopped::Told(description))
}

fn warnings(
    spec: &Spec,
    observed: &Observed,
    no_node_agents: bool,
    filter: Option<&str>,
    has_autoscalers: bool,
    telling: &mut Telling,
) -> Vec<String> {
    let mut all = Vec::new();
    if let Err(why) = &observed.features {
        all.push(format!("{why}; all of them are off"));
    }
    if no_node_agents && spec.components.cni.is_some() && spec.mizzen.distribution == Distribution::Mizzen {
        all.push("spec.components.cni has no effect: Mizzen's own charts have no node agents; spec.mizzen.distribution: istio has them".to_owned());
    }
    let without_effect = without_effect(observed, has_autoscalers);
    if without_effect.is_empty() {
        telling.forget(reason::WITHOUT_EFFECT);
    } else {
        let sentence = format!("without an effect: {}", without_effect.join(", "));
        telling.say(&reason::NOT_BUILT, &sentence);
        all.push(sentence);
    }
    all.extend(filter.map(user_filters::sentence));
    all
}

/// Wishes that cannot be granted.
fn without_effect(observed: &Observed, has_autoscalers: bool) -> Vec<&'static str> {
    let vpa = observed.features.as_ref().is_ok_and(|features| features.enable_control_plane_vpa);
    let wishes = [(
        vpa && !has_autoscalers,
        "the feature enableControlPlaneVPA: the cluster has no VerticalPodAutoscalers",
    )];
    wishes.into_iter().filter(|(wished, _)| *wished).map(|(_, words)| words).collect()
}
