//! What a function builds is paid for before it is there: a chart must not be able to fill the memory.

use crate::{Failure, Host, Value};

/// A text that is paid for while it grows.
pub(crate) struct Paid<'h> {
    pub(crate) text: String,
    host: &'h mut dyn Host,
    paid: usize,
    owed: usize,
}

/// What each value of a tree costs, besides its text: about what it takes in memory. It bounds the time, too: no tree has
/// more than a few million values.
pub(crate) const VALUE: usize = 64;

/// Not every few bytes: the limit is far, and a call through a table is not free.
const STEP: usize = 16 << 10;

impl<'h> Paid<'h> {
    pub(crate) fn new(host: &'h mut dyn Host) -> Self {
        Self { text: String::new(), host, paid: 0, owed: 0 }
    }

    /// For one more value on the way through a tree.
    pub(crate) fn value(&mut self) -> Result<(), Failure> {
        self.owed += VALUE;
        if self.owed > STEP { self.host.spend(std::mem::take(&mut self.owed)) } else { Ok(()) }
    }

    pub(crate) fn push(&mut self, text: &str) -> Result<(), Failure> {
        let need = self.text.len() + text.len();
        if need > self.paid {
            let more = (need - self.paid).max(STEP.min(need));
            self.host.spend(more)?;
            self.paid += more;
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Pays for a whole tree before it is copied or printed. Maps are shared, so a small program can make a tree that is
/// larger than any memory; walking stops where the money does.
pub(crate) fn pay_for(value: &Value, host: &mut dyn Host) -> Result<(), Failure> {
    walk(value, host).map(drop)
}

/// The same for what becomes JSON or YAML, which have no infinite numbers; whether there are objects in it.
pub(crate) fn pay_for_document(value: &Value, host: &mut dyn Host) -> Result<bool, Failure> {
    match walk(value, host)? {
        (Some(float), _) => Err(Failure::new(format!("json: unsupported value: {float}"))),
        (None, objects) => Ok(objects),
    }
}

/// A number without end in it, if there is one, and whether there are objects.
fn walk(value: &Value, host: &mut dyn Host) -> Result<(Option<f64>, bool), Failure> {
    let depth = host.depth();
    let mut purse = Purse { host, owed: 0, endless: None, objects: false };
    purse.walk(value, depth)?;
    let Purse { host, owed, endless, objects } = purse;
    host.spend(owed)?;
    Ok((endless, objects))
}

struct Purse<'h> {
    host: &'h mut dyn Host,
    owed: usize,
    endless: Option<f64>,
    objects: bool,
}

impl Purse<'_> {
    fn walk(&mut self, value: &Value, depth: usize) -> Result<(), Failure> {
        let below = below(depth)?;
        self.owed += VALUE;
        match value {
            Value::Text(text) => self.owed += text.len(),
            Value::List(list) => {
                for item in list.iter() {
                    self.walk(item, below)?;
                }
            }
            Value::Map(map) => {
                map.lend(|entries| {
                    entries.iter().try_for_each(|(key, value)| {
                        self.owed += key.len();
                        self.walk(value, below)
                    })
                })?;
            }
            Value::Object(object) => {
                self.objects = true;
                self.walk(&object.plain(), below)?;
            }
            Value::Float(float) if !float.is_finite() => self.endless = Some(*float),
            Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Int64(_) | Value::Float(_) => {}
        }
        if self.owed > STEP {
            self.host.spend(std::mem::take(&mut self.owed))?;
        }
        Ok(())
    }
}

/// One level less to go.
pub(crate) fn below(depth: usize) -> Result<usize, Failure> {
    depth.checked_sub(1).ok_or_else(|| Failure::limit("the value is nested too deeply, or within itself"))
}
