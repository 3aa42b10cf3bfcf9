//! `fmt.Sprintf`: a format with verbs, and the arguments for them.

use super::{padding::Flags, value::Printer};
use crate::{Failure, Host, Value};

/// Wider than this is a mistake, for Go too.
const WIDEST: usize = 1_000_000;

pub(crate) fn printf(format: &str, arguments: &[Value], host: &mut dyn Host) -> Result<String, Failure> {
    let mut reader = Reader {
        rest: format,
        arguments,
        next: 0,
        reordered: false,
        good: true,
        printer: Printer::new(host),
    };
    while let Some((text, rest)) = reader.rest.split_once('%') {
        reader.printer.push(text)?;
        reader.rest = rest;
        if !reader.verb()? {
            break;
        }
    }
    let Reader { rest, mut printer, next, reordered, .. } = reader;
    printer.push(rest)?;
    if !reordered && next < arguments.len() {
        printer.flags = Flags::default();
        printer.push("%!(EXTRA ")?;
        for (index, argument) in arguments[next..].iter().enumerate() {
            if index > 0 {
                printer.push(", ")?;
            }
            if !matches!(argument, Value::Nil) {
                printer.push(&format!("{}=", argument.type_name()))?;
            }
            printer.argument(argument, 'v')?;
        }
        printer.push(")")?;
    }
    printer.finish()
}

struct Reader<'r> {
    rest: &'r str,
    arguments: &'r [Value],
    next: usize,
    /// An index like `[1]` was used: then nobody counts what is left over.
    reordered: bool,
    good: bool,
    printer: Printer<'r>,
}

impl Reader<'_> {
    /// Behind a `%`. False at the end of the format.
    fn verb(&mut self) -> Result<bool, Failure> {
        self.good = true;
        let mut flags = self.flags();
        let mut after_index = self.index();
        if self.pass('*') {
            let width = self.number_argument();
            if width.is_none() {
                self.printer.push("%!(BADWIDTH)")?;
            }
            if width.is_some_and(|width| width < 0) {
                flags.minus = true;
                flags.zero = false;
            }
            flags.width = width.and_then(|width| usize::try_from(width.unsigned_abs()).ok());
            after_index = false;
        } else {
            flags.width = self.number();
            self.good &= !(after_index && flags.width.is_some());
        }
        if self.rest.len() > 1 && self.pass('.') {
            self.good &= !after_index;
            after_index = self.index();
            if self.pass('*') {
                let precision = self.number_argument().filter(|precision| *precision >= 0);
                if precision.is_none() {
                    self.printer.push("%!(BADPREC)")?;
                }
                flags.precision = precision.and_then(|precision| usize::try_from(precision).ok());
                after_index = false;
            } else {
                flags.precision = Some(self.number().unwrap_or_default());
            }
        }
        if !after_index {
            self.index();
        }
        let mut chars = self.rest.chars();
        let Some(verb) = chars.next() else {
            self.printer.push("%!(NOVERB)")?;
            return Ok(false);
        };
        self.rest = chars.as_str();
        if verb == '%' {
            self.printer.push("%")?;
        } else if !self.good {
            self.printer.push(&format!("%!{verb}(BADINDEX)"))?;
        } else if let Some(argument) = self.arguments.get(self.next) {
            if matches!(verb, 'v' | 'w') {
                flags.syntax = std::mem::take(&mut flags.sharp);
                flags.plus = false;
            }
            self.next += 1;
            self.printer.flags = flags;
            self.printer.argument(argument, verb)?;
        } else {
            self.printer.push(&format!("%!{verb}(MISSING)"))?;
        }
        Ok(true)
    }

    fn pass(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        loop {
            match () {
                () if self.pass('#') => flags.sharp = true,
                () if self.pass('0') => flags.zero = true,
                () if self.pass('+') => flags.plus = true,
                () if self.pass('-') => flags.minus = true,
                () if self.pass(' ') => flags.space = true,
                () => return flags,
            }
        }
    }

    /// A number here, unless it is absurd.
    fn number(&mut self) -> Option<usize> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        let number = digits.parse().ok().filter(|number| *number <= WIDEST * 10);
        // Go gives up on the whole format then.
        self.rest = if number.is_none() && length > 0 { "" } else { rest };
        number
    }

    fn number_argument(&mut self) -> Option<i64> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        match argument {
            Value::Int(number) | Value::Int64(number) => {
                let widest = i64::try_from(WIDEST).unwrap_or(i64::MAX);
                Some(*number).filter(|number| (-widest..=widest).contains(number))
            }
            _ => None,
        }
    }

    /// `[2]`: the argument to go on with, from 1.
    fn index(&mut self) -> bool {
        let Some(inner) = self.rest.strip_prefix('[') else {
            return false;
        };
        self.reordered = true;
        let Some((digits, rest)) = inner.split_once(']') else {
            self.good = false;
            self.rest = inner;
            return false;
        };
        self.rest = rest;
        let well_formed = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let index = digits.parse::<usize>().ok().and_then(|index| index.checked_sub(1));
        match index.filter(|index| well_formed && *index < self.arguments.len()) {
            Some(index) => {
                self.next = index;
                true
            }
            None => {
                self.good = false;
                well_formed
            }
        }
    }
}
