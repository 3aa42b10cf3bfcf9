//! Checksums of texts.

use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::TableEntry;
use crate::{Call, Failure, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("sha1sum", hash::<Sha1>),
    ("sha256sum", hash::<Sha256>),
    ("sha512sum", hash::<Sha512>),
    ("adler32sum", |call| {
        call.exactly(1)?;
        let (one, sum) = call.text(0)?.bytes().fold((1u32, 0u32), |(one, sum), byte| {
            let one = (one + u32::from(byte)) % 65521;
            (one, (sum + one) % 65521)
        });
        Ok((sum << 16 | one).to_string().into())
    }),
];

fn hash<D: Digest>(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.exactly(1)?;
    let digest = D::digest(call.text(0)?.as_bytes());
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into())
}
