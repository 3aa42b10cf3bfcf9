//! A workload that holds a certificate, and the task that renews it.

use crate::{Authority, Certificate, NotIssued, Spiffe};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{sync::watch, time::sleep};

/// The certificate that a workload has now. Cheap to clone; those who follow are told of the next one.
#[derive(Clone)]
pub struct Holder {
    pub(crate) root: Arc<str>,
    pub(crate) current: watch::Receiver<Arc<Certificate>>,
}

/// After a failure to renew, and at the least between two looks.
const AGAIN: Duration = Duration::from_secs(10);

impl Holder {
    pub fn certificate(&self) -> Arc<Certificate> {
        Arc::clone(&self.current.borrow())
    }
}

/// Issues the first certificate; the future renews it for ever and is the caller's to run and to end.
pub fn keep(
    authority: Arc<Authority>,
    identity: Spiffe,
    lifetime: Duration,
) -> Result<(Holder, impl Future<Output = ()> + Send), NotIssued> {
    let first = authority.issue(&identity, SystemTime::now(), lifetime)?;
    let (tell, current) = watch::channel(Arc::new(first));
    let holder = Holder { root: authority.root().into(), current };
    let renewing = async move {
        loop {
            let due = tell.borrow().renew_at();
            let wait = due.duration_since(SystemTime::now()).unwrap_or_default();
            // A machine that slept wakes up late: the clock is looked at again now and then.
            sleep(wait.clamp(Duration::from_millis(50), AGAIN)).await;
            if SystemTime::now() < due {
                continue;
            }
            match authority.issue(&identity, SystemTime::now(), lifetime) {
                Ok(next) => {
                    tell.send_replace(Arc::new(next));
                }
                Err(_) => sleep(AGAIN).await,
            }
        }
    };
    Ok((holder, renewing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_certificate_is_renewed_before_it_ends() {
        let authority = Arc::new(Authority::new("test", SystemTime::now()).unwrap());
        let (mut holder, renewing) =
            keep(authority, Spiffe::new("a", "b", "c"), Duration::from_millis(400)).unwrap();
        let first = holder.certificate();
        let renewing = tokio::spawn(renewing);
        holder.current.changed().await.unwrap();
        let second = holder.certificate();
        assert!(second.until > first.until && second.chain != first.chain);
        assert!(second.from < first.until, "it came in time");
        renewing.abort();
    }
}
