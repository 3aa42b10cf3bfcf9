//! Everything that the ledger names goes, the way back; then the records go.

use super::{
    ledger::{Beginning, What},
    lock::Person,
    owner::Owner,
    plan::{Leaving, inhabited, look},
    record::{Found, Held, NoRelease},
    run::{Event, Progress, Report, Settings, now, remove},
    walk::Stop,
};
use mizzen_cluster::{Adoption, Cluster, NotPlanned, ObjectId, Owners, Pruned, Refused, Rights};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

#[derive(Debug)]
pub struct Removal {
    pub leaving: Vec<Leaving>,
    absent: Vec<ObjectId>,
    pub before: Option<Found>,
}

impl Removal {
    /// Whether nothing is there and nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.leaving.is_empty() && self.before.is_none()
    }

    /// What has to be allowed.
    pub fn rights(&self, owner: &Owner) -> Rights {
        let mut rights = Rights::default();
        for leaving in self.leaving.iter().filter(|leaving| leaving.kept.is_none()) {
            rights.need(&leaving.id, &["get", "delete"]);
        }
        rights.need(&owner.ledger(), &["get", "list", "update", "delete"]);
        rights
    }
}

/// Of what is recorded; and the namespace, which is made before there is a record in it.
pub async fn plan_destroy(
    cluster: &Arc<Cluster>,
    owner: &Owner,
    before: Option<Found>,
) -> Result<Removal, Refused> {
    let recorded = before.iter().flat_map(|before| &before.ledger.objects);
    let mut ids: BTreeSet<ObjectId> = recorded.map(|recorded| recorded.id.clone()).collect();
    if before.is_none() {
        let home = cluster.get(&owner.namespace_id(), Some("v1")).await?;
        let ours = |live: &Value| Owners::of(live).has_applied(cluster.manager());
        ids.extend(home.as_ref().filter(|live| ours(live)).map(|_| owner.namespace_id()));
    }
    let mut looked = look(cluster, owner, ids.into_iter().collect(), &BTreeSet::new()).await?;
    if before.is_none() {
        // What stays is no news where nothing is recorded.
        looked.leaving.retain(|leaving| leaving.kept.is_none());
        looked.absent.clear();
    }
    Ok(Removal { leaving: looked.leaving, absent: looked.absent, before })
}

/// What became of it; nothing if the ledger has changed since it was planned.
pub type Removed = Report;

pub async fn destroy(
    cluster: &Arc<Cluster>,
    owner: &Owner,
    removal: Removal,
    me: &Person,
    settings: &Settings,
    progress: &Progress,
    stop: &mut Stop,
) -> Result<Option<Removed>, NoRelease> {
    let Removal { leaving, absent, before } = removal;
    let own = owner.namespace_id();
    let (home, others): (Vec<Leaving>, Vec<Leaving>) =
        leaving.into_iter().partition(|leaving| leaving.id == own);
    let mut report = Report::default();
    let Some(before) = before else {
        for leaving in home {
            take_home(cluster, leaving, settings, progress, &mut report).await?;
        }
        return Ok(Some(report));
    };
    let mut ledger = before.ledger.clone();
    let what = What::Destroy;
    let beginning = Beginning { what, digest: "", who: &me.who, process: &me.process, now: &now() };
    report.number = ledger.begin(&beginning, &[]);
    let Some(mut held) = Held::take(cluster, owner, Some(&before), ledger, &me.process).await? else {
        return Ok(None);
    };
    let parts = Parts { home, others, absent };
    match parts.remove(&mut held, settings, progress, stop, &mut report).await {
        Err(error) => {
            held.give_up(&error).await;
            return Err(error);
        }
        Ok(really) => {
            if let Err(error) = last(&mut held, really, settings, progress, &mut report).await {
                held.give_up(&error).await;
                return Err(error);
            }
        }
    }
    Ok(Some(report))
}

/// The namespace goes, and the records with it; where it stays they go by themselves, when nothing else is left.
async fn last(
    held: &mut Held,
    home: Vec<Leaving>,
    settings: &Settings,
    progress: &Progress,
    report: &mut Report,
) -> Result<(), NoRelease> {
    let cluster = Arc::clone(&held.cluster);
    for leaving in home {
        take_home(&cluster, leaving, settings, progress, report).await?;
    }
    if held.ledger.lock.is_none() {
        return Ok(());
    }
    let own = held.owner.namespace_id();
    if report.deleted.contains(&own) {
        return Ok(());
    }
    if report.is_well() {
        held.drop_specs(&[]).await?;
        return held.forget().await;
    }
    let (phase, message) = report.verdict();
    held.ledger.end(phase, message, &now());
    // It may have gone already with the namespace that is going.
    let _ = held.write().await;
    Ok(())
}

/// What goes, by when it goes.
struct Parts {
    /// The namespace that the records are in.
    home: Vec<Leaving>,
    others: Vec<Leaving>,
    absent: Vec<ObjectId>,
}

impl Parts {
    /// Everything but the namespace that the records are in; that one is given back, if it is to go, too.
    async fn remove(
        self,
        held: &mut Held,
        settings: &Settings,
        progress: &Progress,
        stop: &mut Stop,
        report: &mut Report,
    ) -> Result<Vec<Leaving>, NoRelease> {
        let Self { home, others, absent } = self;
        let all = others.into_iter().map(|leaving| (leaving.id, leaving.kept));
        let all: Vec<_> = all.chain(absent.into_iter().map(|id| (id, None))).collect();
        remove(held, all, settings, progress, stop, report).await?;
        if !report.is_well() {
            let (phase, message) = report.verdict();
            held.ledger.end(phase, message, &now());
            held.write().await?;
            return Ok(Vec::new());
        }
        // The namespace that the records are in is the last, and takes them along: until it is asked to go the ledger names it.
        let (goes, stays): (Vec<Leaving>, Vec<Leaving>) =
            home.into_iter().partition(|leaving| leaving.kept.is_none());
        for Leaving { id, kept } in stays {
            let why = kept.unwrap_or_default();
            progress(Event::Kept { id: id.clone(), why: why.clone() });
            report.kept.push((id, why));
        }
        // Somebody may have put something there since it was looked at.
        let mut really = Vec::new();
        for leaving in goes {
            match inhabited(&held.cluster, &held.owner, &leaving.id.name, &BTreeSet::new()).await? {
                Some(why) => {
                    progress(Event::Kept { id: leaving.id.clone(), why: why.clone() });
                    report.kept.push((leaving.id, why));
                }
                None => really.push(leaving),
            }
        }
        Ok(really)
    }
}

/// The application's own namespace, with whatever is in it.
async fn take_home(
    cluster: &Arc<Cluster>,
    leaving: Leaving,
    settings: &Settings,
    progress: &Progress,
    report: &mut Report,
) -> Result<(), NoRelease> {
    let id = leaving.id;
    match cluster.prune(&id, &Adoption::default(), |_| Ok(())).await? {
        Pruned::Absent => {}
        Pruned::Kept { why } => {
            progress(Event::Kept { id: id.clone(), why: why.clone() });
            report.kept.push((id, why));
        }
        Pruned::Deleted => match cluster.gone(&id, settings.patience).await {
            Ok(()) => {
                progress(Event::Deleted { id: id.clone() });
                report.deleted.push(id);
            }
            Err(NotPlanned::Going { going, .. }) => {
                report.failures.push((id.clone(), format!("{id} {going}")));
            }
            Err(error) => return Err(error.into()),
        },
    }
    Ok(())
}
