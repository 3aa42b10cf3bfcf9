//! TLS inside the mesh and at its edge.

use crate::Findings;
use mizzen_api::proto::istio::mesh::v1alpha1::MeshConfig;
use mizzen_text::At;
use std::collections::BTreeSet;

/// What Envoy's TLS library knows.
const CURVES: &[&str] =
    &["P-224", "P-256", "P-521", "P-384", "X25519", "X25519Kyber768Draft00", "X25519MLKEM768"];

pub(super) fn check(mesh: &MeshConfig, found: &mut Findings) {
    if mesh.mesh_m_tls.as_ref().is_some_and(|tls| !tls.ecdh_curves.is_empty()) {
        found.error(
            &At::TOP.field("meshMTLS").field("ecdhCurves"),
            "mesh TLS does not support ECDH curves configuration",
        );
    }
    if let Some(tls) = &mesh.tls_defaults {
        curves(&tls.ecdh_curves, &At::TOP.field("tlsDefaults").field("ecdhCurves"), found);
    }
}

fn curves(curves: &[String], at: &At<'_>, found: &mut Findings) {
    let (mut unknown, mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for curve in curves.iter().map(String::as_str) {
        if !curve.is_empty() && !CURVES.contains(&curve) {
            unknown.insert(curve);
        } else if !seen.insert(curve) {
            twice.insert(curve);
        }
    }
    for (what, names) in [("unrecognized", unknown), ("duplicate", twice)] {
        if !names.is_empty() {
            let names: Vec<_> = names.into_iter().collect();
            found.warning(at, format!("detected {what} ECDH curves: {}", names.join(", ")));
        }
    }
}
