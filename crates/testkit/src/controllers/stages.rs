//! The rules by which kwok plays kubelet: its own, from its module, and ours for pods that shall fail.

use std::path::{Path, PathBuf};

use crate::{
    ApiServer,
    error::{During, Result},
    tools,
};

/// Writes them as one file.
pub(super) async fn write(api: &ApiServer) -> Result<PathBuf> {
    let folder = api.control_plane().settings().folder.join("stages");
    std::fs::create_dir_all(&folder).during("make the folder of kwok's stages")?;
    let folder = folder.canonicalize().during("find the folder of kwok's stages")?;
    let module = tools::folder("modules/kwok")?.canonicalize().during("find kwok's module")?;

    let kustomization =
        include_str!("stages/kustomization.yaml").replace("@KWOK@", &relative(&folder, &module));
    let write =
        |name: &str, text: &str| std::fs::write(folder.join(name), text).during("write kwok's stages");
    write("kustomization.yaml", &kustomization)?;
    write("failing-pods.yaml", include_str!("stages/failing-pods.yaml"))?;

    let stages = api.kubectl(&["kustomize", &folder.to_string_lossy()]).await?;
    let file = folder.join("stages.yaml");
    write("stages.yaml", &stages)?;
    Ok(file)
}

/// The way from a folder up to the root and down again: kustomize takes no absolute path.
fn relative(from: &Path, to: &Path) -> String {
    let up = "../".repeat(from.components().count() - 1);
    format!("{up}{}", to.strip_prefix("/").unwrap_or(to).display())
}
