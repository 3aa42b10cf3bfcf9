//! A completed tree → the tar of an image layout, in one pass over the files.
//!
//! A blob's name is its digest and stands in the tar before it, but the layer's is known only after it was written:
//! its header is left empty and filled in at the end, which spares a second copy of everything.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

use tar::{EntryType, Header};

use crate::{
    digest::{Digest, Hashing},
    error::Error,
    layer::{self, Failed},
    oci::{self, Configuration, Descriptor, Execution, Index, Manifest, Platform, RootFs},
    tree::Node,
};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The manifest's: the digest by which an image is pulled.
    pub digest: Digest,
    /// The one layer's.
    pub layer: Digest,
    /// Bytes of the layer.
    pub size: u64,
}

pub(crate) struct Contents<'a> {
    pub(crate) name: &'a str,
    pub(crate) architecture: &'static str,
    pub(crate) execution: &'a Execution,
    pub(crate) nodes: &'a BTreeMap<String, Node>,
}

impl Contents<'_> {
    /// Writes beside the target and renames, so that nobody ever sees half an image.
    pub(crate) fn write(&self, target: &Path) -> Result<Written, Error> {
        let mut partial = target.as_os_str().to_owned();
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = Path::new(&partial);
        let write = || {
            let file = File::create(partial).map_err(Failed::Target)?;
            let written = self.layout(file)?;
            fs::rename(partial, target).map_err(Failed::Target)?;
            Ok(written)
        };
        write().map_err(|failed| {
            let _ = fs::remove_file(partial);
            match failed {
                Failed::Source(error) => error,
                Failed::Target(source) => Error::Write { path: target.to_owned(), source },
            }
        })
    }

    fn layout(&self, file: File) -> Result<Written, Failed> {
        let mut tar = Tar { out: BufWriter::with_capacity(1 << 20, file) };
        let layer = self.layer(&mut tar)?;
        let digest = self.documents(&mut tar, &layer).map_err(Failed::Target)?;
        Ok(Written { digest, layer: layer.digest, size: layer.size })
    }

    fn layer(&self, tar: &mut Tar) -> Result<Layer, Failed> {
        tar.entry("oci-layout", oci::LAYOUT).map_err(Failed::Target)?;
        let header = tar.out.stream_position().map_err(Failed::Target)?;
        tar.out.write_all(&[0; BLOCK]).map_err(Failed::Target)?;
        let mut hashing = Hashing::new(&mut tar.out);
        layer::write(self.nodes, &mut hashing)?;
        let (digest, size) = hashing.finish();
        tar.pad(size).map_err(Failed::Target)?;
        Ok(Layer { header, digest, size })
    }

    /// Everything around the layer, and its header; gives the manifest's digest.
    fn documents(&self, tar: &mut Tar, layer: &Layer) -> io::Result<Digest> {
        let rootfs = RootFs { r#type: "layers", diff_ids: vec![layer.digest.clone()] };
        let (architecture, os) = (self.architecture, "linux");
        let configuration = Configuration { architecture, os, config: self.execution, rootfs };
        let config = tar.blob(oci::CONFIG, &configuration)?;
        let layers = vec![Descriptor::new(oci::LAYER, layer.digest.clone(), layer.size)];
        let manifest = Manifest { schema_version: 2, media_type: oci::MANIFEST, config, layers };
        let mut manifest = tar.blob(oci::MANIFEST, &manifest)?;
        let digest = manifest.digest.clone();
        manifest.platform = Some(Platform { architecture, os });
        manifest.annotations = self.annotations();
        let index = Index { schema_version: 2, media_type: oci::INDEX, manifests: vec![manifest] };
        tar.entry("index.json", &serde_json::to_vec(&index)?)?;
        tar.out.write_all(&[0; 2 * BLOCK])?;
        tar.fill(layer.header, &blob_name(&layer.digest), layer.size)?;
        tar.out.flush()?;
        Ok(digest)
    }

    /// containerd names an image by its own annotation, other programs take the tag.
    fn annotations(&self) -> BTreeMap<&'static str, String> {
        let tag = self.name.rsplit(':').next().unwrap_or(self.name);
        BTreeMap::from([
            ("io.containerd.image.name", self.name.to_owned()),
            ("org.opencontainers.image.ref.name", tag.to_owned()),
        ])
    }
}

struct Layer {
    /// Where in the tar its header must be.
    header: u64,
    digest: Digest,
    size: u64,
}

const BLOCK: usize = 512;

fn blob_name(digest: &Digest) -> String {
    format!("blobs/sha256/{}", digest.hex())
}

struct Tar {
    out: BufWriter<File>,
}

impl Tar {
    fn blob(&mut self, media_type: &'static str, document: &impl serde::Serialize) -> io::Result<Descriptor> {
        let bytes = serde_json::to_vec(document)?;
        let digest = Digest::of(&bytes);
        self.entry(&blob_name(&digest), &bytes)?;
        Ok(Descriptor::new(media_type, digest, bytes.len() as u64))
    }

    fn entry(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.out.write_all(header(name, content.len() as u64)?.as_bytes())?;
        self.out.write_all(content)?;
        self.pad(content.len() as u64)
    }

    fn pad(&mut self, size: u64) -> io::Result<()> {
        let over = (size % BLOCK as u64) as usize;
        if over == 0 { Ok(()) } else { self.out.write_all(&[0; BLOCK][over..]) }
    }

    fn fill(&mut self, position: u64, name: &str, size: u64) -> io::Result<()> {
        self.out.seek(SeekFrom::Start(position))?;
        self.out.write_all(header(name, size)?.as_bytes())
    }
}

fn header(name: &str, size: u64) -> io::Result<Header> {
    let mut header = Header::new_gnu();
    header.set_path(name)?;
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_cksum();
    Ok(header)
}
