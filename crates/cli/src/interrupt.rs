//! Somebody who has had enough: Ctrl-C at a terminal, or the end of whatever runs us (a job that is cancelled, a pod that goes).

use tokio::signal::{
    ctrl_c,
    unix::{SignalKind, signal},
};

pub(crate) async fn asked() {
    match signal(SignalKind::terminate()) {
        Ok(mut terminated) => {
            tokio::select! {
                _ = ctrl_c() => {}
                _ = terminated.recv() => {}
            }
        }
        Err(_) => {
            let _ = ctrl_c().await;
        }
    }
}
