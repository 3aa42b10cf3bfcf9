//! A resource's mesh brought to what it should be: the installation first, then the others, none of which stops another.

use super::{
    MESH, MODULE, applied, beside, gateway,
    installation::{self, Wanted},
    observe::Observed,
    policy_switch, priority_class,
    reason::{self, Reason},
    reconciler::IstioReconciler,
    sidecars,
    telling::Telling,
    user_filters,
    verify::verify,
    version, vertical_autoscalers,
};
use crate::{
    carried::{self, carry},
    finalizers,
    pass::Stopped,
    queue::Outcome,
};
use mizzen_api::istio::{Distribution, Spec, State};
use mizzen_cluster::ObjectId;
use mizzen_install::deploy::OTHER_INSTALLERS;
use serde_json::Value;

pub(super) async fn bring(
    me: &IstioReconciler<'_>,
    id: &ObjectId,
    resource: &Value,
    spec: &Spec,
    telling: &mut Telling,
) -> Result<Outcome, Stopped> {
    let cluster = &me.cluster;
    let observed = Box::pin(Observed::read(cluster)).await?;
    let Wanted { mut mesh, tag, no_node_agents, notes, proxy } =
        match installation::wanted(me, spec, &observed) {
            Ok(wanted) => wanted,
            Err(unwanted) => return failed(telling, unwanted.reason, unwanted.description).await,
        };
    if let Some(current) = applied::tag(resource)
        && let Err(why) = version::update(&current, &tag)
    {
        let description = format!("Istio version update is not allowed: {why}");
        telling.fails(State::Warning, &reason::UPDATE_NOT_ALLOWED, &description).await?;
        return Err(Stopped::Blocked(description));
    }
    if !finalizers::has(resource, super::FINALIZER)
        && finalizers::add(cluster, id, resource, super::FINALIZER).await?.is_none()
    {
        return Ok(Outcome::Gone);
    }
    priority_class::make(cluster).await?;
    let done = carry(cluster, &mut mesh, &observed.facts, &OTHER_INSTALLERS, me.patience, telling).await?;
    let why = match &done {
        Err(sentence) => Some(sentence.clone()),
        Ok(done) if !done.failures.is_empty() => {
            let told =
                done.failures.iter().map(|failure| format!("{}: {}", failure.component, failure.reason));
            Some(told.collect::<Vec<_>>().join("; "))
        }
        Ok(_) => None,
    };
    if let Some(why) = why {
        return failed(telling, &reason::INSTALL_FAILED, format!("Could not install Istio: {why}")).await;
    }
    let mut wrote = done.as_ref().is_ok_and(carried::wrote);
    let pods = cluster.list_in("", "Pod", MESH, &format!("{MODULE}=istio")).await?;
    if let Err(why) = verify(&pods, &tag) {
        let description = format!("Verifying Pod versions in {MESH} namespace failed: {why}");
        return failed(telling, &reason::INSTALL_FAILED, description).await;
    }
    telling.status.installed_version.clone_from(&tag);
    applied::remember(cluster, id, |now| applied::with_tag(now, &tag)).await?;

    // There are kinds now that there were not before.
    cluster.look().await?;
    let dual_stack = me.settings.experimental && observed.dual_stack;
    let has_autoscalers =
        cluster.served().find(vertical_autoscalers::GROUP, vertical_autoscalers::KIND, None).is_some();
    let concerns = beside::concerns(spec, &observed, dual_stack, has_autoscalers, me.version);
    let seen_to = beside::see_to(cluster, concerns, telling).await;
    let restarted = match policy_switch::reconcile(cluster, resource, spec).await {
        Ok(switched) => {
            gateway::reconcile(cluster, resource, spec).await.map(|restarted| restarted || switched)
        }
        Err(refused) => Err(refused),
    };
    let before = applied::spec(resource);
    let sidecars = Box::pin(sidecars::reconcile(me, &proxy, before.as_ref(), spec)).await;
    match &sidecars {
        Ok(sidecars) if sidecars.nobody_injects => telling.say(&reason::NOBODY_INJECTS, &sidecars.sentence()),
        Ok(sidecars) if sidecars.by_hand.is_empty() => telling.set(&reason::SIDECARS_RESTARTED),
        Ok(sidecars) => telling.say(&reason::SIDECARS_BY_HAND, &sidecars.sentence()),
        Err(_) => telling.set(&reason::SIDECARS_NOT_RESTARTED),
    }
    match seen_to {
        Ok(written) => wrote |= written,
        Err(errors) => {
            let description = format!("Could not reconcile Istio resources: {}", errors.join("; "));
            return failed(telling, &reason::RESOURCES_FAILED, description).await;
        }
    }
    match restarted {
        Ok(restarted) => wrote |= restarted,
        Err(refused) => {
            let description = format!("Failed to restart Ingress Gateway: {refused}");
            return failed(telling, &reason::GATEWAY_NOT_RESTARTED, description).await;
        }
    }
    let sidecars = match sidecars {
        Ok(sidecars) => sidecars,
        Err(stopped) => {
            let description = format!("Error occurred during reconciliation of Istio Sidecars: {stopped}");
            return failed(telling, &reason::SIDECARS_NOT_RESTARTED, description).await;
        }
    };
    wrote |= sidecars.wrote;
    let (waits, by_hand) = (sidecars.outdated.count > 0, !sidecars.by_hand.is_empty());
    let held = sidecars.nobody_injects.then(|| sidecars.sentence());
    telling.status.outdated_proxies = waits.then_some(sidecars.outdated);
    if notes.is_empty() {
        telling.forget(reason::NOTED.kind);
    } else {
        telling.say(&reason::NOTED, &notes.join("; "));
    }
    if no_node_agents {
        telling.set(&reason::NO_NODE_AGENTS);
    } else {
        telling.forget(reason::NODE_AGENTS);
    }
    let filter = match user_filters::found(cluster).await {
        Ok(filter) => filter,
        Err(refused) => {
            telling.set(&reason::FILTERS_NOT_READ);
            return failed(telling, &reason::FAILED, format!("Could not look for EnvoyFilters: {refused}"))
                .await;
        }
    };
    applied::remember(cluster, id, |now| applied::whole(now, &tag, !by_hand && held.is_none())).await?;
    telling.set(if filter.is_some() { &reason::FILTER_FOUND } else { &reason::NO_FILTER_FOUND });
    let mut warnings = warnings(spec, &observed, no_node_agents, filter.as_deref(), has_autoscalers, telling);
    if by_hand {
        warnings.push(BY_HAND.to_owned());
    }
    warnings.extend(held);
    if !warnings.is_empty() {
        telling.set(&reason::FAILED);
        telling.end(State::Warning, &warnings.join("; ")).await?;
        return Ok(Outcome::Noted);
    }
    telling.set(&reason::SUCCEEDED);
    telling.end(State::Ready, "").await?;
    if waits {
        // Nothing tells us when pods have been replaced.
        return Ok(Outcome::Blocked);
    }
    Ok(if wrote { Outcome::Wrote } else { Outcome::Unchanged })
}

const BY_HAND: &str = "Some Pods with Istio sidecar injection failed to restart. To learn more about the warning, see \
    kyma-system/istio-controller-manager logs: could not restart one or more Istio-injected Pods";

async fn failed(telling: &mut Telling, reason: &Reason, description: String) -> Result<Outcome, Stopped> {
    telling.fails(State::Error, reason, &description).await?;
    Err(Stopped::Told(description))
}

/// What is well, and still not as somebody wanted it.
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
