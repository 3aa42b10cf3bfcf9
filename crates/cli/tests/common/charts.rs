//! Charts that tests write: one of a single template, folders for `--manifests`, and archives, wicked ones too.

use super::Folder;
use flate2::{Compression, write::GzEncoder};
use tar::{Builder, Header};

/// Only the base chart is on.
pub(crate) const PROFILE: &str = "\
apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
spec:
  hub: mirror.example/mesh
  components:
    base: {enabled: true}
    pilot: {enabled: false}
    ingressGateways: [{name: istio-ingressgateway, enabled: false}]
  values:
    global: {}
";

/// A chart in the folder `name`, with one template.
pub(crate) fn chart(folder: &Folder, name: &str, template: &str) {
    let last = name.rsplit('/').next().unwrap_or(name);
    folder.file(&format!("{name}/Chart.yaml"), format!("apiVersion: v2\nname: {last}\nversion: 1.2.3\n"));
    folder.file(&format!("{name}/templates/object.yaml"), template);
}

/// What `--manifests` takes, in the folder `name`: profiles, and a base chart of one template.
pub(crate) fn manifests(folder: &Folder, name: &str, template: &str) {
    folder.file(&format!("{name}/profiles/default.yaml"), PROFILE);
    chart(folder, &format!("{name}/charts/base"), template);
}

/// A `.tgz`. Names are not looked at: they may lead anywhere.
pub(crate) fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, text) in files {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, text.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}
