//! A value ↔ the bytes of a Secret: JSON, compressed, because the objects of an application are much alike and a Secret is small.

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Serialize, de::DeserializeOwned};
use std::io::{Read, Write};

/// An object of a cluster may have a megabyte and a half, and its data is written with a third more.
const LIMIT: usize = 1_000_000;
/// What nobody has packed here is not unpacked without end.
const MOST: u64 = 256 << 20;

#[derive(Debug, thiserror::Error)]
pub enum Unpackable {
    #[error("it has {0} bytes, and a Secret holds {LIMIT}")]
    TooLarge(usize),
    #[error("{0}")]
    Broken(String),
}

pub(crate) fn pack(value: &impl Serialize) -> Result<String, Unpackable> {
    let bytes = compressed(value)?;
    if bytes.len() > LIMIT {
        return Err(Unpackable::TooLarge(bytes.len()));
    }
    Ok(STANDARD.encode(bytes))
}

/// For as many Secrets as it takes.
pub(crate) fn pack_in_parts(value: &impl Serialize) -> Result<Vec<String>, Unpackable> {
    Ok(compressed(value)?.chunks(LIMIT).map(|part| STANDARD.encode(part)).collect())
}

fn compressed(value: &impl Serialize) -> Result<Vec<u8>, Unpackable> {
    let broken = |error: &dyn std::error::Error| Unpackable::Broken(error.to_string());
    let json = serde_json::to_vec(value).map_err(|error| broken(&error))?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json).and_then(|()| encoder.finish()).map_err(|error| broken(&error))
}

pub(crate) fn unpack<T: DeserializeOwned>(text: &str) -> Result<T, Unpackable> {
    unpack_parts(&[text])
}

pub(crate) fn unpack_parts<T: DeserializeOwned>(parts: &[impl AsRef<str>]) -> Result<T, Unpackable> {
    let broken = |error: &dyn std::error::Error| Unpackable::Broken(error.to_string());
    let mut bytes = Vec::new();
    for part in parts {
        STANDARD.decode_vec(part.as_ref(), &mut bytes).map_err(|error| broken(&error))?;
    }
    let mut json = Vec::new();
    GzDecoder::new(bytes.as_slice()).take(MOST).read_to_end(&mut json).map_err(|error| broken(&error))?;
    serde_json::from_slice(&json).map_err(|error| broken(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again_and_what_is_not_is_told() {
        let many: Vec<String> = (0..20_000)
            .map(|number| format!("networking.istio.io/v1:VirtualService:shop:r{number}"))
            .collect();
        let packed = pack(&many).unwrap();
        assert!(packed.len() < 200_000, "{}", packed.len());
        assert_eq!(unpack::<Vec<String>>(&packed).unwrap(), many);
        assert!(unpack::<Vec<String>>("bm8=").is_err() && unpack::<Vec<String>>("%").is_err());
    }

    #[test]
    fn what_is_too_large_for_one_secret_is_held_by_several() {
        // Nothing that can be compressed.
        let mut state: u64 = 7;
        let noise: Vec<u64> = (0..200_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state
            })
            .collect();
        assert!(matches!(pack(&noise), Err(Unpackable::TooLarge(_))));
        let parts = pack_in_parts(&noise).unwrap();
        assert!(
            parts.len() > 1 && parts.iter().all(|part| part.len() <= LIMIT * 4 / 3 + 4),
            "{}",
            parts.len()
        );
        assert_eq!(unpack_parts::<Vec<u64>>(&parts).unwrap(), noise);
        assert!(unpack_parts::<Vec<u64>>(&parts[1..]).is_err());
    }
}
