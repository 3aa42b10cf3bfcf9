//! Short names for the parts of a kind: equal parts have one, and it is no longer than it must be to differ from the others.
//!
//! A DestinationRule has its traffic policy four times, and 79 parts of which 25 differ.

use crate::{
    schema::{Additional, Schema},
    words::pascal,
};
use std::collections::{BTreeMap, BTreeSet};

/// The way to a part: names of fields, lists and maps passed through.
pub(crate) type Way = Vec<String>;

pub(crate) struct Shapes(BTreeMap<Way, String>);

impl Shapes {
    pub(crate) fn of(kind: &str, root: &Schema) -> Self {
        let mut parts = Vec::new();
        collect(root, &mut Vec::new(), &mut parts);
        // The nearest to the top stands for those that are equal.
        parts.sort_by_key(|(way, _)| (way.len(), way.clone()));
        let mut shapes: Vec<(&Schema, Vec<Way>)> = Vec::new();
        for (way, schema) in parts {
            match shapes.iter_mut().find(|(known, _)| *known == schema) {
                Some((_, ways)) => ways.push(way),
                None => shapes.push((schema, vec![way])),
            }
        }
        let called = |way: &Way, last: usize| {
            let parts = way[way.len() - last..].iter().map(|part| pascal(part)).collect::<String>();
            format!("{kind}{parts}")
        };
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for (_, ways) in &shapes {
            for last in 1..=ways[0].len() {
                *count.entry(called(&ways[0], last)).or_default() += 1;
            }
        }
        let mut taken = BTreeSet::from([kind.to_owned()]);
        let mut names = BTreeMap::new();
        for (_, ways) in shapes {
            let whole = ways[0].len();
            let last =
                (1..=whole).find(|last| count.get(&called(&ways[0], *last)) == Some(&1)).unwrap_or(whole);
            let first = called(&ways[0], last);
            let mut name = first.clone();
            let mut number = 2;
            while !taken.insert(name.clone()) {
                name = format!("{first}{number}");
                number += 1;
            }
            names.extend(ways.into_iter().map(|way| (way, name.clone())));
        }
        Self(names)
    }

    pub(crate) fn name(&self, way: &[String]) -> &str {
        self.0.get(way).map_or("", String::as_str)
    }
}

fn collect<'s>(schema: &'s Schema, way: &mut Way, parts: &mut Vec<(Way, &'s Schema)>) {
    if schema.is_block() && !way.is_empty() {
        parts.push((way.clone(), schema));
    }
    for field in &schema.fields {
        if way.is_empty() && ["apiVersion", "kind", "metadata"].contains(&field.name.as_str()) {
            continue;
        }
        way.push(field.name.clone());
        collect(&field.schema, way, parts);
        way.pop();
    }
    if let Some(items) = &schema.items {
        collect(items, way, parts);
    }
    if let Additional::Like(value) = &schema.additional {
        collect(value, way, parts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Field, Kind};

    fn block(fields: &[(&str, Schema)]) -> Schema {
        let fields =
            fields.iter().map(|(name, schema)| Field { name: (*name).to_owned(), schema: schema.clone() });
        Schema { kind: Kind::Object, fields: fields.collect(), ..Schema::default() }
    }

    #[test]
    fn equal_parts_share_a_name_and_others_differ_by_as_little_as_they_can() {
        let text = Schema { kind: Kind::String, ..Schema::default() };
        let pool = block(&[("a", text.clone())]);
        let other = block(&[("b", text)]);
        let policy = block(&[("pool", pool)]);
        let subset = block(&[("policy", policy.clone())]);
        let root = block(&[(
            "spec",
            block(&[("policy", policy), ("subset", subset), ("other", block(&[("pool", other)]))]),
        )]);
        let shapes = Shapes::of("Rule", &root);
        let name = |way: &[&str]| {
            shapes.name(&way.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>()).to_owned()
        };
        assert_eq!(name(&["spec", "policy"]), "RulePolicy");
        assert_eq!(name(&["spec", "subset", "policy"]), "RulePolicy");
        assert_eq!(name(&["spec", "policy", "pool"]), "RulePolicyPool");
        assert_eq!(name(&["spec", "subset", "policy", "pool"]), "RulePolicyPool");
        assert_eq!(name(&["spec", "other", "pool"]), "RuleOtherPool");
        assert_eq!(name(&["spec"]), "RuleSpec");
    }
}
