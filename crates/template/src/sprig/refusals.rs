//! Functions that are known and not supported: the same chart and values must give the same objects, always.

use super::TableEntry;
use crate::{Call, Failure, Function, Value};

const CLOCK: Function = |call| refuse(call, "rendering must be repeatable, and it depends on the time");
const CHANCE: Function = |call| refuse(call, "rendering must be repeatable, and it depends on chance");
const KEYS: Function = |call| {
    refuse(
        call,
        "rendering must be repeatable, and keys and certificates are made by chance; give them as values",
    )
};
const NETWORK: Function = |call| refuse(call, "rendering must be repeatable, and it asks the network");
const SECRET: Function = |call| refuse(call, "secrets are not made while rendering; give them as values");

pub(super) const TABLE: &[TableEntry] = &[
    ("now", CLOCK),
    ("ago", CLOCK),
    ("randAlphaNum", CHANCE),
    ("randAlpha", CHANCE),
    ("randAscii", CHANCE),
    ("randNumeric", CHANCE),
    ("randBytes", CHANCE),
    ("randInt", CHANCE),
    ("shuffle", CHANCE),
    ("uuidv4", CHANCE),
    ("bcrypt", CHANCE),
    ("htpasswd", CHANCE),
    ("encryptAES", CHANCE),
    ("decryptAES", SECRET),
    ("derivePassword", SECRET),
    ("genPrivateKey", KEYS),
    ("buildCustomCert", KEYS),
    ("genCA", KEYS),
    ("genCAWithKey", KEYS),
    ("genSelfSignedCert", KEYS),
    ("genSelfSignedCertWithKey", KEYS),
    ("genSignedCert", KEYS),
    ("genSignedCertWithKey", KEYS),
    ("getHostByName", NETWORK),
];

pub(super) fn clock(call: &mut Call<'_>) -> Result<Value, Failure> {
    CLOCK(call)
}

fn refuse(call: &Call<'_>, why: &str) -> Result<Value, Failure> {
    Err(Failure::new(format!("`{}` is not supported: {why}", call.name)))
}
