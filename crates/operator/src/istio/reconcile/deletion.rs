//! Everything goes, the last first; or nothing. A mesh that has to stay must not lose its gateway and its mutual TLS on the way to
//! finding that out, so the whole deletion is planned before the first object goes. It costs the reads of a dry run.

use super::{Order, Outcome, Pass, Status, Told};
use std::sync::Arc;

pub(super) async fn delete(pass: &Pass<'_>) -> Vec<Outcome> {
    let mut components = pass.order.components.clone();
    components.reverse();
    let order = Order { dry_run: true, ..pass.order.clone() };
    let plan = Pass { order: &order, tell: Arc::new(|_| {}), ..*pass };
    let planned = plan.each(components.clone(), "", None).await;
    let may = planned.iter().all(|outcome| outcome.status == Status::Success);
    if may && !pass.order.dry_run {
        return pass.each(components, "", None).await;
    }
    let told = if may { planned } else { planned.into_iter().map(held).collect() };
    for outcome in &told {
        (pass.tell)(Told::Ends(outcome.clone()));
    }
    told
}

/// Where one has to stay all do.
fn held(planned: Outcome) -> Outcome {
    match planned.error {
        Some(_) => Outcome { steps: Vec::new(), notes: Vec::new(), ..planned },
        None => Outcome::not_started(planned.component),
    }
}
