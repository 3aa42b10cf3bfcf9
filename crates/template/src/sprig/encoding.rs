//! Base64 and Base32. What cannot be decoded gives the message of the error as text: that is how Sprig has it.

use super::TableEntry;
use crate::{Call, Failure, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("b64enc", |call| encode(call, &BASE64)),
    ("b64dec", |call| decode(call, decode64)),
    ("b32enc", |call| encode(call, &BASE32)),
    ("b32dec", |call| decode(call, decode32)),
];

struct Base {
    letters: &'static [u8],
    bits: u32,
    /// Letters that stand for a whole number of bytes.
    group: usize,
}

const BASE64: Base =
    Base { letters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", bits: 6, group: 4 };
const BASE32: Base = Base { letters: b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", bits: 5, group: 8 };

fn encode(call: &mut Call<'_>, base: &Base) -> Result<Value, Failure> {
    call.exactly(1)?;
    let text = call.text(0)?;
    call.host.spend(text.len().saturating_mul(2))?;
    let mut out = String::with_capacity(text.len() * 2);
    let (mut buffer, mut filled) = (0u32, 0);
    let letter = |value: u32| char::from(base.letters[value as usize % base.letters.len()]);
    for byte in text.bytes() {
        buffer = (buffer << 8) | u32::from(byte);
        filled += 8;
        while filled >= base.bits {
            filled -= base.bits;
            out.push(letter(buffer >> filled));
        }
        buffer &= (1 << filled) - 1;
    }
    if filled > 0 {
        out.push(letter(buffer << (base.bits - filled)));
    }
    while !out.len().is_multiple_of(base.group) {
        out.push('=');
    }
    Ok(out.into())
}

/// The bytes, or the place where the text is wrong.
type Decoded = Result<Vec<u8>, (u32, usize)>;

fn decode(call: &mut Call<'_>, decode: fn(&[u8]) -> Decoded) -> Result<Value, Failure> {
    call.exactly(1)?;
    let text = call.text(0)?;
    call.host.spend(text.len())?;
    match decode(text.as_bytes()) {
        Err((base, at)) => Ok(format!("illegal base{base} data at input byte {at}").into()),
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(_) => Err(Failure::new("what is encoded is no UTF-8 text")),
        },
    }
}

impl Base {
    fn value(&self, letter: u8) -> Option<u32> {
        let at = self.letters.iter().position(|known| *known == letter)?;
        u32::try_from(at).ok()
    }

    fn bytes(&self, values: &[u32], out: &mut Vec<u8>) {
        let (mut buffer, mut filled) = (0u32, 0);
        for value in values {
            buffer = (buffer << self.bits) | value;
            filled += self.bits;
            if filled >= 8 {
                filled -= 8;
                out.push(u8::try_from(buffer >> filled).unwrap_or_default());
                buffer &= (1 << filled) - 1;
            }
        }
    }
}

fn decode64(text: &[u8]) -> Decoded {
    let mut out = Vec::with_capacity(text.len());
    let mut values = Vec::with_capacity(4);
    let mut at = 0;
    let line_end = |at: usize| matches!(text.get(at), Some(b'\n' | b'\r'));
    while let Some(byte) = text.get(at) {
        at += 1;
        if let Some(value) = BASE64.value(*byte) {
            values.push(value);
            if values.len() == 4 {
                BASE64.bytes(&values, &mut out);
                values.clear();
            }
            continue;
        }
        match byte {
            b'\n' | b'\r' => continue,
            b'=' if values.len() >= 2 => {}
            _ => return Err((64, at - 1)),
        }
        if values.len() == 2 {
            while line_end(at) {
                at += 1;
            }
            match text.get(at) {
                None => return Err((64, text.len())),
                Some(b'=') => at += 1,
                Some(_) => return Err((64, at - 1)),
            }
        }
        while line_end(at) {
            at += 1;
        }
        if at < text.len() {
            return Err((64, at));
        }
        BASE64.bytes(&values, &mut out);
        return Ok(out);
    }
    if values.is_empty() { Ok(out) } else { Err((64, at - values.len())) }
}

fn decode32(text: &[u8]) -> Decoded {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let mut out = Vec::with_capacity(text.len());
    for (index, group) in text.chunks(8).enumerate() {
        let start = index * 8;
        let mut values = Vec::with_capacity(8);
        for (at, byte) in group.iter().enumerate() {
            let left = text.len() - (start + at + 1);
            if *byte == b'=' && at >= 2 && left < 8 {
                if left + at < 7 {
                    return Err((32, text.len()));
                }
                let padding = &text[start + at + 1..];
                for (offset, byte) in padding.iter().take(7 - at).enumerate() {
                    if *byte != b'=' {
                        return Err((32, start + at + offset));
                    }
                }
                if matches!(at, 3 | 6) {
                    return Err((32, start + at));
                }
                BASE32.bytes(&values, &mut out);
                return Ok(out);
            }
            match BASE32.value(*byte) {
                Some(value) => values.push(value),
                None => return Err((32, start + at)),
            }
        }
        if values.len() < 8 {
            return Err((32, text.len() - values.len()));
        }
        BASE32.bytes(&values, &mut out);
    }
    Ok(out)
}
