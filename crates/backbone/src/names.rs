//! What definitions are called: their files, their types, and the groups of names in both.

use crate::{
    crd::{Definition, Version},
    words::{pascal, snake},
};

/// Words at the end of a file's name that mean something to a Go compiler, which kcl-openapi keeps clear of.
const MEANT_BY_GO: [&str; 40] = [
    "386",
    "aix",
    "amd64",
    "amd64p32",
    "android",
    "arm",
    "arm64",
    "arm64be",
    "armbe",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "js",
    "linux",
    "mips",
    "mips64",
    "mips64le",
    "mips64p32",
    "mips64p32le",
    "mipsle",
    "nacl",
    "netbsd",
    "openbsd",
    "plan9",
    "ppc",
    "ppc64",
    "ppc64le",
    "riscv",
    "riscv64",
    "s390",
    "s390x",
    "solaris",
    "sparc",
    "sparc64",
    "test",
    "wasm",
    "windows",
    "zos",
];

/// `networking.istio.io.v1.VirtualService`.
pub(crate) fn whole(definition: &Definition, version: &Version) -> String {
    format!("{}.{}.{}", definition.group, version.name, definition.kind)
}

/// `networking_istio_io_v1_virtual_service`.
pub(crate) fn file(definition: &Definition, version: &Version) -> String {
    let name = snake(&pascal(&whole(definition, version)));
    match name.rsplit('_').next() {
        Some(last) if MEANT_BY_GO.contains(&last) => format!("{name}_swagger"),
        _ => name,
    }
}
