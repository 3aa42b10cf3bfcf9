//! Values as Go's `fmt` prints them.

mod format;
mod number;
mod padding;
mod quoted;
mod value;

pub(crate) use format::printf;
pub(crate) use quoted::{is_printable, quote};
use value::Printer;

use crate::{Failure, Host, Value};

/// `fmt.Sprint` of one value: `%v`.
pub(crate) fn print_value(value: &Value, host: &mut dyn Host) -> Result<String, Failure> {
    let mut printer = Printer::new(host);
    printer.argument(value, 'v')?;
    printer.finish()
}

/// `fmt.Sprint`: with a space between two operands if neither is a text.
pub(crate) fn print_all(values: &[Value], host: &mut dyn Host) -> Result<String, Failure> {
    let mut printer = Printer::new(host);
    let is_text = |value: &Value| matches!(value, Value::Text(_));
    for (index, value) in values.iter().enumerate() {
        if index > 0 && !is_text(value) && !is_text(&values[index - 1]) {
            printer.push(" ")?;
        }
        printer.argument(value, 'v')?;
    }
    printer.finish()
}

/// `fmt.Sprintln`: always with a space between, and the end of the line.
pub(crate) fn print_line(values: &[Value], host: &mut dyn Host) -> Result<String, Failure> {
    let mut printer = Printer::new(host);
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            printer.push(" ")?;
        }
        printer.argument(value, 'v')?;
    }
    printer.push("\n")?;
    printer.finish()
}
