//! Prometheus' text format.

use std::fmt::Write;

#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    pub(crate) fn finish(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, "gauge", help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    pub(crate) fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "counter", help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    /// One line for each set of labels; nothing if there is none.
    pub(crate) fn family<'a, L>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        rows: impl IntoIterator<Item = (L, u64)>,
    ) where
        L: AsRef<[(&'a str, String)]>,
    {
        let mut rows = rows.into_iter().peekable();
        if rows.peek().is_none() {
            return;
        }
        self.head(name, kind, help);
        for (labels, value) in rows {
            self.0.push_str(name);
            self.labels(labels.as_ref(), None);
            let _ = writeln!(self.0, " {value}");
        }
    }

    /// Histograms of one name; the head once.
    pub(crate) fn histogram(
        &mut self,
        name: &str,
        help: &str,
        labels: &[(&str, String)],
        reading: &Buckets,
        first: bool,
    ) {
        if first {
            self.head(name, "histogram", help);
        }
        for (bound, count) in &reading.buckets {
            let _ = write!(self.0, "{name}_bucket");
            self.labels(labels, Some(*bound));
            let _ = writeln!(self.0, " {count}");
        }
        let _ = write!(self.0, "{name}_sum");
        self.labels(labels, None);
        let _ = writeln!(self.0, " {}", reading.sum);
        let _ = write!(self.0, "{name}_count");
        self.labels(labels, None);
        let _ = writeln!(self.0, " {}", reading.count);
    }

    fn labels(&mut self, labels: &[(&str, String)], bound: Option<f64>) {
        let bound =
            bound.map(|bound| if bound.is_infinite() { "+Inf".to_owned() } else { bound.to_string() });
        let all = labels.iter().map(|(name, value)| (*name, value.as_str()));
        let mut all = all.chain(bound.as_deref().map(|bound| ("le", bound))).peekable();
        if all.peek().is_none() {
            return;
        }
        self.0.push('{');
        let mut first = true;
        for (name, value) in all {
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            let _ = write!(self.0, "{comma}{name}=\"");
            for character in value.chars() {
                match character {
                    '\\' => self.0.push_str("\\\\"),
                    '"' => self.0.push_str("\\\""),
                    '\n' => self.0.push_str("\\n"),
                    other => self.0.push(other),
                }
            }
            self.0.push('"');
        }
        self.0.push('}');
    }
}

/// A histogram's reading, whoever counted it.
pub(crate) struct Buckets {
    pub(crate) buckets: Vec<(f64, u64)>,
    pub(crate) count: u64,
    pub(crate) sum: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_prometheus() {
        let mut text = Text::default();
        text.gauge("g", "A gauge.", 1.5);
        text.family("f", "counter", "A family.", [([("a", "x\"y\n".to_owned())], 3)]);
        text.family::<[(&str, String); 0]>("none", "counter", "Nothing.", []);
        let reading = Buckets { buckets: vec![(0.1, 1), (f64::INFINITY, 2)], count: 2, sum: 3.5 };
        text.histogram("h", "A histogram.", &[], &reading, true);
        assert_eq!(
            text.finish(),
            "# HELP g A gauge.\n# TYPE g gauge\ng 1.5\n\
             # HELP f A family.\n# TYPE f counter\nf{a=\"x\\\"y\\n\"} 3\n\
             # HELP h A histogram.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3.5\nh_count 2\n"
        );
    }
}
