//! Where the objects of a Spec were written, for those who learn only later what is wrong with one: of an API server.

use crate::{
    blame::Blame,
    front::shape::Fields,
    given,
    layers::Layers,
    made::{Made, Origin},
    platform::Platform,
    render::Renderer,
    setting::Setting,
};
use mizzen_text::{Path, Place, yaml::Document};

/// Everything that a Spec was made of.
#[derive(Debug, Default)]
pub struct Whereabouts(Kept);

#[derive(Debug, Default)]
enum Kept {
    /// In a record of the cluster.
    #[default]
    Nowhere,
    Files(Box<Files>),
    /// A Spec that was given as it is.
    Spec(Document),
}

#[derive(Debug)]
struct Files {
    layers: Layers,
    platform: Platform,
    places: Places,
}

/// What is known when everything is rendered.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) manifests: Vec<Document>,
    pub(crate) setting: Setting,
    pub(crate) head: Fields,
    /// In the order of the Spec.
    pub(crate) origins: Vec<Origin>,
}

impl Whereabouts {
    pub(crate) fn files(layers: Layers, platform: Platform, places: Places) -> Self {
        Self(Kept::Files(Box::new(Files { layers, platform, places })))
    }

    pub(crate) fn spec(document: Document) -> Self {
        Self(Kept::Spec(document))
    }

    /// Of a field of the object that stands at this place of the Spec, or of the nearest around it. `on_key` is for a field that
    /// should not be there.
    pub fn place(&self, number: usize, field: &Path, on_key: bool) -> Option<Place> {
        match &self.0 {
            Kept::Nowhere => None,
            Kept::Files(files) => files.place(number, field, on_key),
            Kept::Spec(document) => {
                let mut path = given::path(number, &["attributes"]);
                path.0.extend(field.0.iter().cloned());
                Some(if on_key { document.key_place(&path) } else { document.place(&path) })
            }
        }
    }
}

impl Files {
    fn place(&self, number: usize, field: &Path, on_key: bool) -> Option<Place> {
        let Places { manifests, setting, head, origins } = &self.places;
        let origin = origins.get(number)?;
        let renderer = Renderer { setting, platform: &self.platform, head };
        let blame = Blame { layers: &self.layers, manifests, renderer };
        blame.written(origin, blame.trace(origin).as_ref(), field, on_key).place
    }
}

/// Who asked for the objects, and the objects.
pub(crate) fn parted(made: Vec<Made>) -> (Vec<Origin>, Vec<serde_json::Value>) {
    made.into_iter().map(|made| (made.origin, made.object)).unzip()
}
