//! Numbers with a fraction. Sprig adds and multiplies them as decimal numbers, so that 0.1 + 0.2 is 0.3.

use num_bigint::BigInt;

use super::{TableEntry, args::Arguments, cast};
use crate::{Call, Failure, Value};

pub(super) const TABLE: &[TableEntry] = &[
    ("add1f", |call| {
        call.exactly(1)?;
        Ok(decimal(cast::float(&call.any(0)))?.plus(&decimal(1.0)?).into_value())
    }),
    ("addf", |call| {
        let zero = decimal(0.0)?;
        fold(zero, call.args, |a, b| Ok(a.plus(b)))
    }),
    ("subf", |call| first(call, |a, b| Ok(a.plus(&b.negative())))),
    ("mulf", |call| first(call, |a, b| Ok(a.times(b)))),
    ("divf", |call| first(call, Decimal::divided_by)),
    ("maxf", |call| {
        call.at_least(1)?;
        Ok(Value::Float(call.args.iter().map(cast::float).reduce(max).unwrap_or_default()))
    }),
    ("minf", |call| {
        call.at_least(1)?;
        Ok(Value::Float(call.args.iter().map(cast::float).reduce(|a, b| -max(-a, -b)).unwrap_or_default()))
    }),
    ("ceil", |call| {
        call.exactly(1)?;
        Ok(Value::Float(cast::float(&call.any(0)).ceil()))
    }),
    ("floor", |call| {
        call.exactly(1)?;
        Ok(Value::Float(cast::float(&call.any(0)).floor()))
    }),
    ("round", round),
];

/// What is no number wins.
fn max(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() || b.is_nan() => f64::NAN,
        // Zero is larger than its negative.
        () if a == 0.0 && b == 0.0 => {
            if a.is_sign_negative() {
                b
            } else {
                a
            }
        }
        () => a.max(b),
    }
}

fn round(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.at_least(2)?;
    let (value, places) = (cast::float(&call.any(0)), call.int(1)?);
    for index in 2..call.args.len() {
        call.float(index)?;
    }
    let up_from = if call.args.len() > 2 { call.float(2)? } else { 0.5 };
    let power = 10f64.powi(i32::try_from(places.unsigned_abs()).unwrap_or(i32::MAX));
    let power = if places < 0 { 1.0 / power } else { power };
    let digits = power * value;
    let rounded = if digits.fract() >= up_from { digits.ceil() } else { digits.floor() };
    Ok(Value::Float(rounded / power))
}

type Operation = fn(&Decimal, &Decimal) -> Result<Decimal, Failure>;

fn first(call: &Call<'_>, operation: Operation) -> Result<Value, Failure> {
    call.at_least(1)?;
    fold(decimal(cast::float(&call.args[0]))?, &call.args[1..], operation)
}

fn fold(mut result: Decimal, values: &[Value], operation: Operation) -> Result<Value, Failure> {
    for value in values {
        result = operation(&result, &decimal(cast::float(value))?)?;
        if result.digits.bits() > MOST_BITS {
            return Err(Failure::limit("the number gets too long"));
        }
    }
    Ok(result.into_value())
}

/// More than a few hundred products of the largest numbers; every operation stays quick.
const MOST_BITS: u64 = 1 << 20;

/// `digits` × 10^`exponent`
struct Decimal {
    digits: BigInt,
    exponent: i32,
}

/// The shortest decimal number that is the float.
fn decimal(float: f64) -> Result<Decimal, Failure> {
    let unusable = || Failure::new(format!("cannot calculate with {float}"));
    if !float.is_finite() {
        return Err(unusable());
    }
    let text = format!("{float:e}");
    let (digits, exponent) = text.split_once('e').ok_or_else(unusable)?;
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let exponent: i32 = exponent.parse().map_err(|_| unusable())?;
    let exponent = exponent - i32::try_from(fraction).map_err(|_| unusable())?;
    Ok(Decimal { digits: digits.replace('.', "").parse().map_err(|_| unusable())?, exponent })
}

fn power_of_ten(exponent: i32) -> BigInt {
    BigInt::from(10).pow(exponent.unsigned_abs())
}

impl Decimal {
    /// The digits with a smaller exponent.
    fn scaled(&self, exponent: i32) -> BigInt {
        &self.digits * power_of_ten(self.exponent - exponent)
    }

    fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        Self { digits: self.scaled(exponent) + other.scaled(exponent), exponent }
    }

    fn negative(&self) -> Self {
        Self { digits: -&self.digits, exponent: self.exponent }
    }

    fn times(&self, other: &Self) -> Self {
        Self { digits: &self.digits * &other.digits, exponent: self.exponent.saturating_add(other.exponent) }
    }

    /// With sixteen places behind the point, rounded away from zero.
    fn divided_by(&self, other: &Self) -> Result<Self, Failure> {
        let zero = BigInt::from(0);
        if other.digits == zero {
            return Err(Failure::new("decimal division by 0"));
        }
        let shift = self.exponent - other.exponent + 16;
        let (above, below) = if shift < 0 {
            (self.digits.clone(), &other.digits * power_of_ten(shift))
        } else {
            (&self.digits * power_of_ten(shift), other.digits.clone())
        };
        let quotient = &above / &below;
        let remainder = &above - &quotient * &below;
        let size = |number: BigInt| if number < zero { -number } else { number };
        let negative = (self.digits < zero) != (other.digits < zero);
        let away = if size(remainder) * 2 >= size(below) { if negative { -1 } else { 1 } } else { 0 };
        Ok(Self { digits: quotient + away, exponent: -16 })
    }

    fn into_value(self) -> Value {
        Value::Float(format!("{}e{}", self.digits, self.exponent).parse().unwrap_or_default())
    }
}
