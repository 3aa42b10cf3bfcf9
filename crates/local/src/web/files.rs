//! The files of the page, out of `ui/`, which are part of the binary.

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($path:literal, $kind:ident, $name:literal;)+) => {
        const FILES: &[(&str, &str, &str)] = &[$(($path, $kind, include_str!(concat!("../../../../ui/", $name)))),+];
    };
}

files! {
    "/", HTML, "index.html";
    "/style.css", STYLE, "style.css";
    "/page.js", SCRIPT, "page.js";
    "/dom.js", SCRIPT, "dom.js";
    "/graph.js", SCRIPT, "graph.js";
    "/layout.js", SCRIPT, "layout.js";
    "/routes.js", SCRIPT, "routes.js";
    "/tables.js", SCRIPT, "tables.js";
    "/words.js", SCRIPT, "words.js";
}

/// Its type and its text.
pub(super) fn file(path: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(name, ..)| *name == path).map(|(_, kind, text)| (*kind, *text))
}
