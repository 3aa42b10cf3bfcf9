//! Where a field of the merged tree was written: a file with line and column, a flag, or the profile.
//!
//! Nothing is recorded while merging. The layers are kept, and the topmost one that has the field is looked for when
//! something is wrong with it.

use mizzen_text::{Path, Place, Source, Step, yaml::Document};
use serde_json::Value;

/// Everything that was merged, the later over the earlier.
#[derive(Debug, Default)]
pub struct Origins(Vec<Layer>);

#[derive(Debug)]
enum Layer {
    File(Document),
    Flag { source: Source, path: Path },
}

/// Fields that translation copies: where they end up, and where they come from.
const COPIED: [(&[&str], &[&str]); 7] = [
    (&["spec", "values", "global", "hub"], &["spec", "hub"]),
    (&["spec", "values", "global", "tag"], &["spec", "tag"]),
    (&["spec", "values", "revision"], &["spec", "revision"]),
    (&["spec", "values", "meshConfig"], &["spec", "meshConfig"]),
    (&["spec", "values", "compatibilityVersion"], &["spec", "compatibilityVersion"]),
    (&["spec", "values", "pilot", "enabled"], &["spec", "components", "pilot", "enabled"]),
    (&["spec", "values"], &["spec", "unvalidatedValues"]),
];

impl Origins {
    pub(crate) fn file(&mut self, document: Document) {
        self.0.push(Layer::File(document));
    }

    pub(crate) fn flag(&mut self, shown: String, path: Path) {
        let source = Source::new(shown, Vec::new());
        self.0.push(Layer::Flag { source, path });
    }

    /// Profiles come below everything that the user says.
    pub(crate) fn below(&mut self, documents: Vec<Document>) {
        self.0.splice(0..0, documents.into_iter().map(Layer::File));
    }

    /// Where the value at `path` was written last.
    pub fn place(&self, path: &Path) -> Option<Place> {
        self.find(path)
            .or_else(|| COPIED.iter().find_map(|(copy, original)| self.find(&moved(path, copy, original)?)))
    }

    fn find(&self, path: &Path) -> Option<Place> {
        self.0.iter().rev().find_map(|layer| match layer {
            Layer::Flag { source, path: written } => {
                let related = path.0.starts_with(&written.0) || written.0.starts_with(&path.0);
                (related && written.0.len() > 1).then(|| Place::whole(source))
            }
            Layer::File(document) => walk(&document.value, path).map(|()| document.key_place(path)),
        })
    }
}

fn walk(tree: &Value, path: &Path) -> Option<()> {
    let mut here = tree;
    for step in &path.0 {
        here = match step {
            Step::Field(name) => here.get(name)?,
            Step::Index(index) => here.get(index)?,
        };
    }
    Some(())
}

fn moved(path: &Path, from: &[&str], to: &[&str]) -> Option<Path> {
    let fits = path.0.len() >= from.len()
        && path.0.iter().zip(from).all(|(step, name)| matches!(step, Step::Field(field) if field == name));
    fits.then(|| {
        let start = to.iter().map(|name| Step::Field((*name).to_owned()));
        Path(start.chain(path.0[from.len()..].iter().cloned()).collect())
    })
}
