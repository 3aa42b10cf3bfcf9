//! Restarts as numbers, by the names that upstream has planned. They are counted from the start of the process on.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<Numbers>);

#[derive(Debug)]
struct Numbers {
    /// By kind of workload, and what became of it.
    restarts: BTreeMap<(String, &'static str), u64>,
    /// By what a workload waits for.
    skipped: BTreeMap<String, u64>,
    /// Workloads that were not what they should be at the last look, by kind.
    pending: BTreeMap<String, u64>,
    window_is_open: bool,
}

impl Default for Numbers {
    fn default() -> Self {
        Self {
            restarts: BTreeMap::new(),
            skipped: BTreeMap::new(),
            pending: BTreeMap::new(),
            window_is_open: true,
        }
    }
}

impl Counts {
    /// A look begins.
    pub(super) fn look(&self, window_is_open: bool) {
        let mut numbers = self.numbers();
        numbers.window_is_open = window_is_open;
        numbers.pending.values_mut().for_each(|count| *count = 0);
    }

    pub(super) fn restarted(&self, kind: &str, well: bool) {
        let result = if well { "success" } else { "failure" };
        *self.numbers().restarts.entry((kind.to_owned(), result)).or_default() += 1;
    }

    pub(super) fn skipped(&self, reason: String) {
        *self.numbers().skipped.entry(reason).or_default() += 1;
    }

    pub(super) fn pending(&self, kind: &str) {
        *self.numbers().pending.entry(kind.to_owned()).or_default() += 1;
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In the text form of Prometheus.
    pub(super) fn page(&self) -> String {
        self.numbers().page()
    }
}

impl Numbers {
    fn page(&self) -> String {
        let head = |name: &str, kind: &str, help: &str| {
            format!("# HELP istio_restarter_{name} {help}.\n# TYPE istio_restarter_{name} {kind}\n")
        };
        let mut page = head("restarts_total", "counter", "Workloads restarted, or not");
        for ((kind, result), count) in &self.restarts {
            page +=
                &format!("istio_restarter_restarts_total{{kind=\"{kind}\",result=\"{result}\"}} {count}\n");
        }
        page += &head("skipped_total", "counter", "Looks at a workload that has to wait");
        for (reason, count) in &self.skipped {
            page += &format!("istio_restarter_skipped_total{{reason=\"{reason}\"}} {count}\n");
        }
        page += &head("restart_pending", "gauge", "Workloads whose sidecars are not what they should be");
        for (kind, count) in &self.pending {
            page += &format!("istio_restarter_restart_pending{{kind=\"{kind}\"}} {count}\n");
        }
        page += &head("maintenance_window_active", "gauge", "Whether workloads may be restarted now");
        page + &format!("istio_restarter_maintenance_window_active {}\n", u8::from(self.window_is_open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_adds_up_and_what_is_left_is_counted_anew_each_time() {
        let counts = Counts::default();
        for look in 0..2 {
            counts.look(look == 0);
            counts.restarted("Deployment", true);
            counts.restarted("StatefulSet", false);
            counts.skipped("Excluded".to_owned());
            counts.pending("Deployment");
        }
        let page = counts.page();
        for line in [
            "istio_restarter_restarts_total{kind=\"Deployment\",result=\"success\"} 2",
            "istio_restarter_restarts_total{kind=\"StatefulSet\",result=\"failure\"} 2",
            "istio_restarter_skipped_total{reason=\"Excluded\"} 2",
            "istio_restarter_restart_pending{kind=\"Deployment\"} 1",
            "istio_restarter_maintenance_window_active 0",
        ] {
            assert!(page.contains(&format!("\n{line}\n")), "{line} in {page}");
        }
    }
}
