//! Shares of requests.

use mizzen_proto::{
    envoy::{
        config::core::v3::RuntimeFractionalPercent,
        r#type::v3::{FractionalPercent, fractional_percent::DenominatorType},
    },
    istio::networking::v1alpha3::Percent,
};

/// To four places behind the point.
pub(super) fn fine(percent: &Percent) -> FractionalPercent {
    // What is no number, negative or too much is cut off by the cast.
    FractionalPercent {
        numerator: (percent.value * 10_000.0) as u32,
        denominator: DenominatorType::Million.into(),
    }
}

pub(super) fn whole(percent: u32) -> FractionalPercent {
    FractionalPercent { numerator: percent, denominator: DenominatorType::Hundred.into() }
}

pub(super) fn fixed(share: FractionalPercent) -> RuntimeFractionalPercent {
    RuntimeFractionalPercent { default_value: Some(share), ..RuntimeFractionalPercent::default() }
}
