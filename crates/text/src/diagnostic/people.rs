//! A diagnostic for people, as compilers print theirs:
//!
//! ```text
//! warning[MZ0110]: the key `a` is in this map already
//!   --> in.yaml:3:1
//!    |
//!  3 | a: 3
//!    | ^
//!   ::: in.yaml:1:1: the first one
//!    |
//!  1 | a: 1
//!    | ^
//!    = in: ConfigMap default/x, data.a
//!    = hint: the last one counts; remove the others
//! ```

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::{Diagnostic, excerpt::Excerpt, visible::visible};
use crate::{Place, Severity};

impl Diagnostic {
    /// Several lines, the last one ended. Colours are terminal sequences; nothing else in it is, whatever the input held.
    pub fn for_people(&self, colours: bool) -> String {
        let paint = Paint(colours);
        let mut out = String::new();
        let colour = match self.severity {
            Severity::Error => AnsiColor::Red,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Info => AnsiColor::Cyan,
        };
        let head = format!("{}[{}]", self.severity.name(), self.code.id());
        let strong = Style::new().bold();
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        line(format!(
            "{}{}",
            paint.with(colour.on_default().bold(), &head),
            paint.with(strong, &format!(": {}", visible(&self.message)))
        ));
        let excerpts: Vec<_> = self
            .place
            .iter()
            .chain(self.related.iter().map(|related| &related.place))
            .map(Excerpt::new)
            .collect();
        let widest = excerpts.iter().flatten().map(|excerpt| excerpt.line).max().unwrap_or(0);
        let margin = widest.to_string().len().max(2);
        let edge = AnsiColor::Blue.on_default().bold();
        let mut excerpts = excerpts.into_iter();
        let mut show = |arrow: &str, place: &Place, note: Option<&str>, colour: Style| {
            let note = note.map(|note| format!(": {}", visible(note))).unwrap_or_default();
            let place = place.to_string();
            let mut text = format!("{:margin$}{} {}{note}\n", "", paint.with(edge, arrow), visible(&place));
            if let Some(excerpt) = excerpts.next().flatten() {
                let bar = paint.with(edge, "|");
                let number = paint.with(edge, &format!("{:>margin$}", excerpt.line));
                let (front, length) = excerpt.caret;
                let caret = paint.with(colour, &"^".repeat(length));
                let empty = " ".repeat(margin);
                // A `String` takes everything.
                let _ = writeln!(
                    text,
                    "{empty} {bar}\n{number} {bar} {}\n{empty} {bar} {:front$}{caret}",
                    excerpt.text, ""
                );
            }
            text
        };
        let mut places = String::new();
        if let Some(place) = &self.place {
            places += &show("-->", place, None, colour.on_default().bold());
        }
        for related in &self.related {
            places += &show(":::", &related.place, Some(&related.message), edge);
        }
        out.push_str(&places);
        let mut note = |name: &str, text: &str| {
            let _ = writeln!(
                out,
                "{:margin$} {} {}: {}",
                "",
                paint.with(edge, "="),
                paint.with(strong, name),
                visible(text)
            );
        };
        let path = self.path.to_string();
        match (&self.object, path.as_str()) {
            (Some(object), "") => note("in", &object.to_string()),
            (Some(object), path) => note("in", &format!("{object}, {path}")),
            (None, "") => {}
            (None, path) => note("in", path),
        }
        if let Some(hint) = &self.hint {
            note("hint", hint);
        }
        out
    }
}

struct Paint(bool);

impl Paint {
    fn with(&self, style: Style, text: &str) -> String {
        if self.0 { format!("{}{text}{}", style.render(), style.render_reset()) } else { text.to_owned() }
    }
}
