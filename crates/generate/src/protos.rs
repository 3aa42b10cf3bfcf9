//! Istio's protos → Rust types with Istio's JSON, and a descriptor set; Istio's and Envoy's protos → another.

use crate::Generated;
use anyhow::{Context as _, Result, bail};
use prost::Message as _;
use prost_types::FileDescriptorSet;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
};

/// What becomes Rust types: the kinds, the mesh's own configuration, and what they refer to.
const TYPED: &[&str] = &[
    "analysis/v1alpha1/message.proto",
    "extensions/v1alpha1/traffic_extension.proto",
    "extensions/v1alpha1/wasm.proto",
    "mesh/v1alpha1/config.proto",
    "mesh/v1alpha1/network.proto",
    "mesh/v1alpha1/proxy.proto",
    "meta/v1alpha1/status.proto",
    "networking/v1alpha3/destination_rule.proto",
    "networking/v1alpha3/envoy_filter.proto",
    "networking/v1alpha3/gateway.proto",
    "networking/v1alpha3/service_entry.proto",
    "networking/v1alpha3/sidecar.proto",
    "networking/v1alpha3/virtual_service.proto",
    "networking/v1alpha3/workload_entry.proto",
    "networking/v1alpha3/workload_group.proto",
    "networking/v1beta1/proxy_config.proto",
    "security/v1beta1/authorization_policy.proto",
    "security/v1beta1/peer_authentication.proto",
    "security/v1beta1/request_authentication.proto",
    "telemetry/v1alpha1/telemetry.proto",
    "type/v1beta1/selector.proto",
];

/// What else is in the descriptor set: the configuration of Istio's own Envoy filters, which EnvoyFilters name.
const DESCRIBED: &[&str] = &[
    "envoy/config/filter/http/alpn/v2alpha1/config.proto",
    "envoy/config/filter/network/metadata_exchange/metadata_exchange.proto",
    "envoy/extensions/stats/config.proto",
];

/// Well-known types. Wrappers become what they wrap; a Duration is read as Go reads it, which no crate does.
const WELL_KNOWN: &[(&str, &str)] = &[
    (".google.protobuf.BoolValue", "bool"),
    (".google.protobuf.DoubleValue", "f64"),
    (".google.protobuf.FloatValue", "f32"),
    (".google.protobuf.Int32Value", "i32"),
    (".google.protobuf.Int64Value", "i64"),
    (".google.protobuf.StringValue", "::prost::alloc::string::String"),
    (".google.protobuf.UInt32Value", "u32"),
    (".google.protobuf.UInt64Value", "u64"),
    (".google.protobuf.Duration", "crate::Duration"),
    (".google.protobuf.ListValue", "::pbjson_types::ListValue"),
    (".google.protobuf.Struct", "::pbjson_types::Struct"),
    (".google.protobuf.Timestamp", "::pbjson_types::Timestamp"),
    (".google.protobuf.Value", "::pbjson_types::Value"),
];

const FOLDER: &str = "crates/proto/src/generated";

pub fn generate(istio_api: &Path) -> Result<Vec<Generated>> {
    let scratch = Scratch::new()?;
    let includes = [istio_api.to_owned(), istio_api.join("common-protos")];
    let typed = describe(&scratch, TYPED.iter().map(PathBuf::from), &includes)?;
    let own = Generated { path: "crates/proto/istio.bin".into(), bytes: typed.encode_to_vec() };
    let mut files = types(&scratch, typed)?;
    files.push(own);
    files.push(Generated {
        path: "crates/proto/descriptors.bin".into(),
        bytes: descriptors(&scratch, istio_api)?,
    });
    Ok(files)
}

/// One file per package: the messages, then their JSON.
fn types(scratch: &Scratch, set: FileDescriptorSet) -> Result<Vec<Generated>> {
    let encoded = set.encode_to_vec();
    let mut prost = prost_build::Config::new();
    prost.out_dir(&scratch.0).btree_map(["."]).compile_well_known_types().disable_comments(["."]);
    let mut json = pbjson_build::Builder::new();
    json.register_descriptors(&encoded)?.out_dir(&scratch.0).btree_map(["."]).ignore_unknown_fields();
    for (name, rust) in WELL_KNOWN {
        prost.extern_path(*name, *rust);
        json.extern_path(*name, *rust);
    }
    let mut packages: Vec<String> = set.file.iter().map(|file| file.package().to_owned()).collect();
    packages.retain(|package| package.starts_with("istio."));
    packages.sort();
    packages.dedup();
    prost.compile_fds(set)?;
    json.build(&[".istio"])?;

    let mut files = Vec::new();
    for package in packages {
        // Both compilers name their files after Rust's modules, so a keyword is spelt `r#type`.
        let module = prost_build::Module::from_protobuf_package_name(&package).to_file_name_or(&package);
        // Istio still reads what it advises against, so we must.
        let types = String::from_utf8(read(&scratch.0.join(&module))?)?;
        let kept = types.lines().filter(|line| line.trim() != "#[deprecated]");
        let mut bytes = kept.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes();
        bytes.extend(read(&scratch.0.join(module).with_extension("serde.rs"))?);
        files.push(Generated { path: Path::new(FOLDER).join(format!("{package}.rs")), bytes });
    }
    Ok(files)
}

/// Everything, for messages whose type is known only when they are read. Without positions and comments.
fn descriptors(scratch: &Scratch, istio_api: &Path) -> Result<Vec<u8>> {
    let envoy = envoy_protos()?;
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("protos");
    let mut includes = vec![own.clone()];
    for part in fs::read_dir(&envoy)? {
        let part = part?.path();
        // Some trees stand one folder deeper than their import names.
        includes.push(if part.ends_with("cel-spec") { part.join("proto") } else { part });
    }
    includes.sort();
    includes.extend([istio_api.to_owned(), istio_api.join("common-protos")]);
    let mut files: Vec<PathBuf> = TYPED.iter().chain(DESCRIBED).map(PathBuf::from).collect();
    for (folder, inside) in [(envoy.join("data-plane-api"), "envoy"), (envoy.join("xds"), ""), (own, "")] {
        protos_below(&folder, &folder.join(inside), &mut files)?;
    }
    Ok(describe(scratch, files.into_iter(), &includes)?.encode_to_vec())
}

/// The import names of all `.proto` files below a folder, in order.
fn protos_below(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            protos_below(root, &path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "proto") {
            found.push(path.strip_prefix(root)?.to_owned());
        }
    }
    Ok(())
}

/// Where cargo keeps the package that carries Envoy's definitions.
fn envoy_protos() -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(crate::root())
        .output()
        .context("cargo metadata")?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let package = packages.iter().find(|package| package["name"] == "envoy-types");
    let manifest =
        package.and_then(|package| package["manifest_path"].as_str()).context("envoy-types is not there")?;
    Ok(Path::new(manifest).with_file_name("proto"))
}

/// The descriptor set of some files and of what they import.
pub(crate) fn describe_files(files: &[PathBuf], includes: &[PathBuf]) -> Result<FileDescriptorSet> {
    describe(&Scratch::new()?, files.iter().cloned(), includes)
}

fn describe(
    scratch: &Scratch,
    files: impl Iterator<Item = PathBuf>,
    includes: &[PathBuf],
) -> Result<FileDescriptorSet> {
    let out = scratch.0.join("set");
    let mut protoc = Command::new(protoc_bin_vendored::protoc_bin_path()?);
    protoc.arg("--include_imports").arg("--descriptor_set_out").arg(&out);
    for include in includes {
        protoc.arg("-I").arg(include);
    }
    protoc.arg("-I").arg(protoc_bin_vendored::include_path()?);
    let output = protoc.args(files).output().context("protoc")?;
    if !output.status.success() {
        bail!("protoc: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(FileDescriptorSet::decode(read(&out)?.as_slice())?)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// A folder of our own for what compilers write, gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let folder = env::temp_dir().join(format!("mizzen-generate-{}", process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
