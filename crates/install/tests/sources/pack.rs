//! Charts as archives, and folders that go away.

use std::{fs, io::Write, path::PathBuf};

use flate2::{Compression, write::GzEncoder};
use tar::{Builder, Header};

pub(crate) fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, text) in files {
        let mut header = Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, text.as_bytes()).unwrap();
    }
    let mut gzip = tar.into_inner().unwrap();
    gzip.flush().unwrap();
    gzip.finish().unwrap()
}

pub(crate) fn chart(name: &str, version: &str) -> Vec<u8> {
    let metadata = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
    archive(&[
        (&format!("{name}/Chart.yaml"), &metadata),
        (&format!("{name}/templates/a.yaml"), "kind: A\nversion: {{ .Chart.Version }}\n"),
    ])
}

pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("mizzen-sources-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
