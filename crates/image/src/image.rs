//! An image being described. Nothing is read and nothing can fail before [`Image::write`].

use std::path::{Path, PathBuf};

use crate::{
    elf,
    error::Error,
    layout::{Contents, Written},
    libraries,
    oci::Execution,
    tree::{Node, Tree},
};

/// Describes an image. Where two of its parts name the same path, the later one is meant; folders in between and the
/// libraries of programs appear by themselves.
#[derive(Debug)]
pub struct Image {
    name: String,
    parts: Vec<Part>,
    execution: Execution,
}

#[derive(Debug)]
enum Part {
    Node { path: String, node: Node },
    Program { source: PathBuf, path: String },
    Folder { source: PathBuf, path: String, plugins: bool },
}

impl Image {
    /// The full name, as a pod would give it: `localhost/pause:1`.
    pub fn new(name: impl Into<String>) -> Self {
        let execution = Execution { working_dir: "/", ..Execution::default() };
        Self { name: name.into(), parts: Vec::new(), execution }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// One file of this machine, with this mode. A link is followed.
    pub fn file(self, source: impl Into<PathBuf>, path: impl Into<String>, mode: u32) -> Self {
        self.node(path, Node::File { source: source.into(), mode: mode & 0o7777 })
    }

    /// A file with this content.
    pub fn text(self, content: impl Into<Vec<u8>>, path: impl Into<String>, mode: u32) -> Self {
        self.node(path, Node::Text { content: content.into(), mode: mode & 0o7777 })
    }

    /// An empty folder, or one that must have another mode than 0755.
    pub fn directory(self, path: impl Into<String>, mode: u32) -> Self {
        self.node(path, Node::Folder { mode: mode & 0o7777 })
    }

    /// A symbolic link at `path`.
    pub fn link(self, target: impl Into<String>, path: impl Into<String>) -> Self {
        self.node(path, Node::Link { target: target.into() })
    }

    /// A folder of this machine with everything below it; modes and links as they are there.
    pub fn folder(self, source: impl Into<PathBuf>, path: impl Into<String>) -> Self {
        self.part(Part::Folder { source: source.into(), path: path.into(), plugins: false })
    }

    /// A folder of shared objects which some program opens while it runs, with the libraries that they need.
    pub fn plugins(self, source: impl Into<PathBuf>, path: impl Into<String>) -> Self {
        self.part(Part::Folder { source: source.into(), path: path.into(), plugins: true })
    }

    /// A program, executable by everybody, with its loader and the libraries that it is linked against.
    pub fn program(self, source: impl Into<PathBuf>, path: impl Into<String>) -> Self {
        self.part(Part::Program { source: source.into(), path: path.into() })
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.execution.env.push(format!("{name}={value}"));
        self
    }

    /// The program that a container of this image runs, with its first arguments.
    pub fn entrypoint<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.execution.entrypoint = words.into_iter().map(Into::into).collect();
        self
    }

    /// By number: an image of a few files has no list of users.
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.execution.user = user.into();
        self
    }

    /// Reads everything and writes the image.
    pub fn write(&self, target: impl AsRef<Path>) -> Result<Written, Error> {
        self.check_name()?;
        let (tree, architecture) = self.tree()?;
        let nodes = tree.complete()?;
        let contents = Contents { name: &self.name, architecture, execution: &self.execution, nodes: &nodes };
        contents.write(target.as_ref())
    }

    fn tree(&self) -> Result<(Tree, &'static str), Error> {
        let mut tree = Tree::default();
        let mut programs = Vec::new();
        for part in &self.parts {
            match part {
                Part::Node { path, node } => tree.put(path, node.clone())?,
                Part::Program { source, path } => {
                    tree.put(path, Node::File { source: source.clone(), mode: 0o755 })?;
                    programs.push((source.clone(), path.clone()));
                }
                Part::Folder { source, path, plugins } => {
                    tree.put_folder(source, path.trim_end_matches('/'), &mut |source, path| {
                        if *plugins {
                            programs.push((source.to_owned(), path.to_owned()));
                        }
                    })?;
                }
            }
        }
        let mut architecture = None;
        for (source, path) in programs {
            let elf = elf::read(&source)?;
            let known = *architecture.get_or_insert(elf.architecture);
            if known != elf.architecture {
                let name = self.name.clone();
                return Err(Error::Architectures { name, one: known, other: elf.architecture });
            }
            for library in libraries::of(&source, &path, &elf)? {
                tree.offer(&library.path, Node::File { source: library.source, mode: 0o755 })?;
            }
        }
        Ok((tree, architecture.unwrap_or(OWN_ARCHITECTURE)))
    }

    fn check_name(&self) -> Result<(), Error> {
        let complete = self.name.rsplit_once('/').is_some_and(|(host, rest)| {
            let tag = rest.rsplit_once([':', '@']);
            !host.is_empty() && tag.is_some_and(|(name, tag)| !name.is_empty() && !tag.is_empty())
        });
        let plain = self.name.chars().all(|letter| letter.is_ascii_graphic());
        if complete && plain { Ok(()) } else { Err(Error::Name { name: self.name.clone() }) }
    }

    fn node(self, path: impl Into<String>, node: Node) -> Self {
        self.part(Part::Node { path: path.into(), node })
    }

    fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

/// Of an image without programs.
const OWN_ARCHITECTURE: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
