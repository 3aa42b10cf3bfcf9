//! How large a cluster is: the capacity of all of its nodes.

use super::profile::Size;
use serde_json::Value;

/// Less of either is a cluster to try things out: thousandths of a processor, and bytes.
const PROCESSORS: u128 = 5_000;
const MEMORY: u128 = 10_000_000_000;

/// Nodes that say nothing readable count as nothing.
pub fn size(nodes: &[Value]) -> Size {
    let sum = |resource: &str, unit: u128| -> u128 {
        let capacity = |node: &Value| {
            let text = node.pointer("/status/capacity").and_then(|all| all.get(resource)?.as_str());
            thousandths(text?).map(|amount| amount * unit / 1_000)
        };
        nodes.iter().filter_map(capacity).fold(0, u128::saturating_add)
    };
    if sum("cpu", 1_000) < PROCESSORS || sum("memory", 1) < MEMORY {
        Size::Evaluation
    } else {
        Size::Production
    }
}

/// A quantity as Kubernetes writes it, in thousandths.
pub(super) fn thousandths(text: &str) -> Option<u128> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() > 18 || fraction.len() > 9 {
        return None;
    }
    let (digits, parts) = (format!("{whole}{fraction}"), 10_u128.pow(u32::try_from(fraction.len()).ok()?));
    let digits: u128 = digits.parse().ok()?;
    let scale: u128 = match suffix {
        "m" => 1,
        "" => 1_000,
        "k" => 1_000_000,
        "Ki" => 1_000 << 10,
        "M" => 1_000_000_000,
        "Mi" => 1_000 << 20,
        "G" => 1_000_000_000_000,
        "Gi" => 1_000 << 30,
        "T" => 1_000_000_000_000_000,
        "Ti" => 1_000 << 40,
        "P" => 1_000_000_000_000_000_000,
        "Pi" => 1_000 << 50,
        exponent => {
            let power: u32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            1_000_u128.checked_mul(10_u128.checked_pow(power)?)?
        }
    };
    digits.checked_mul(scale).map(|amount| amount / parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_nodes_count_together_and_either_makes_it_small() {
        let nodes = |all: &[(&str, &str)]| -> Vec<Value> {
            let node = |(cpu, memory): &(&str, &str)| json!({ "status": { "capacity": { "cpu": cpu, "memory": memory } } });
            all.iter().map(node).collect()
        };
        let cases: [(&[(&str, &str)], Size); 9] = [
            (&[], Size::Evaluation),
            (&[("5", "10000000000")], Size::Production),
            (&[("4999m", "100Gi")], Size::Evaluation),
            (&[("64", "9999999999")], Size::Evaluation),
            (&[("3", "6Gi"), ("2", "4Gi")], Size::Production),
            (&[("2.5", "5G"), ("2500m", "5e9")], Size::Production),
            (&[("4", "32862420Ki"), ("4", "nonsense")], Size::Production),
            (&[("nonsense", "32Gi")], Size::Evaluation),
            (&[("99999999999999999999", "1Gi")], Size::Evaluation),
        ];
        for (all, expected) in cases {
            assert_eq!(size(&nodes(all)), expected, "{all:?}");
        }
        assert_eq!(size(&[json!({ "status": {} })]), Size::Evaluation);
    }
}
