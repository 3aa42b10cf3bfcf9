//! The way to a value inside a document: `spec.http[0].route[1].destination.host`.

use std::fmt;

/// One step down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    Field(String),
    Index(usize),
}

/// The way from the top of a document to one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Step>);

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(out, "[{index}]")?,
                Step::Field(name) if !is_plain(name) => write!(out, "[{name:?}]")?,
                Step::Field(name) if depth == 0 => write!(out, "{name}")?,
                Step::Field(name) => write!(out, ".{name}")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-' || c == '$')
}

/// Where a walk stands: a [`Path`] that lives on the stack and costs nothing until something is found there.
#[derive(Clone, Copy, Debug)]
pub struct At<'a>(Option<(&'a At<'a>, Down<'a>)>);

#[derive(Clone, Copy, Debug)]
enum Down<'a> {
    Field(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    /// The top of the document.
    pub const TOP: At<'static> = At(None);

    pub fn field(&'a self, name: &'a str) -> Self {
        At(Some((self, Down::Field(name))))
    }

    pub fn index(&'a self, index: usize) -> Self {
        At(Some((self, Down::Index(index))))
    }

    pub fn path(&self) -> Path {
        let mut steps = Vec::new();
        let mut here = self;
        while let Some((parent, down)) = &here.0 {
            steps.push(match down {
                Down::Field(name) => Step::Field((*name).to_owned()),
                Down::Index(index) => Step::Index(*index),
            });
            here = parent;
        }
        steps.reverse();
        Path(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_people_write_it() {
        let spec = At::TOP.field("spec");
        let http = spec.field("http");
        let first = http.index(0);
        assert_eq!(first.field("match").path().to_string(), "spec.http[0].match");
    }

    #[test]
    fn a_key_that_is_no_plain_name_is_quoted() {
        let labels = At::TOP.field("labels");
        assert_eq!(labels.field("istio.io/rev").path().to_string(), "labels[\"istio.io/rev\"]");
    }
}
