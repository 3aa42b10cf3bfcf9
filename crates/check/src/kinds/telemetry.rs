//! Telemetry: what is measured, traced and logged, and who is told.

use crate::{Findings, parts::selector, value::cel};
use mizzen_api::proto::istio::telemetry::v1alpha1::{
    AccessLogging, Metrics, MetricsOverrides, ProviderRef, Telemetry, Tracing,
    metric_selector::MetricMatch,
    metrics_overrides::tag_override::Operation,
    tracing::{CustomTag, custom_tag::Type},
};
use mizzen_text::At;

pub(crate) fn check(spec: &Telemetry, found: &mut Findings) {
    let at = At::TOP.field("spec");
    selector::policy(spec.selector.as_ref(), spec.target_ref.as_ref(), &spec.target_refs, &at, found);
    let field = at.field("metrics");
    for (index, one) in spec.metrics.iter().enumerate() {
        metrics(one, &field.index(index), found);
    }
    let field = at.field("tracing");
    if spec.tracing.len() > 1 {
        found.warning(&field, "multiple tracing is not currently supported");
    }
    for (index, one) in spec.tracing.iter().enumerate() {
        tracing(one, &field.index(index), found);
    }
    let field = at.field("accessLogging");
    for (index, one) in spec.access_logging.iter().enumerate() {
        access_logging(one, &field.index(index), found);
    }
}

fn providers(providers: &[ProviderRef], at: &At<'_>, found: &mut Findings) {
    for (index, _) in providers.iter().enumerate().filter(|(_, provider)| provider.name.is_empty()) {
        found.error(&at.index(index).field("name"), "providers.name may not be empty");
    }
}

fn metrics(metrics: &Metrics, at: &At<'_>, found: &mut Findings) {
    providers(&metrics.providers, &at.field("providers"), found);
    let field = at.field("overrides");
    for (index, one) in metrics.overrides.iter().enumerate() {
        overrides(one, &field.index(index), found);
    }
}

fn overrides(overrides: &MetricsOverrides, at: &At<'_>, found: &mut Findings) {
    let selected = overrides.r#match.as_ref().and_then(|selector| selector.metric_match.as_ref());
    if let Some(MetricMatch::CustomMetric(name)) = selected
        && name.is_empty()
    {
        found.error(&at.field("match").field("customMetric"), "customMetric may not be empty");
    }
    let field = at.field("tagOverrides");
    for (name, tag) in &overrides.tag_overrides {
        let at = field.field(name);
        if name.is_empty() {
            found.warning(&at, "tagOverrides.name may not be empty");
        }
        // By number: of an operation that is not known nothing is demanded.
        if tag.operation == Operation::Upsert as i32 && tag.value.is_empty() {
            found.error(&at.field("value"), "tagOverrides.value must be set when operation is UPSERT");
        } else if tag.operation == Operation::Remove as i32 && !tag.value.is_empty() {
            found.error(&at.field("value"), "tagOverrides.value may only be set when operation is UPSERT");
        }
    }
}

fn tracing(tracing: &Tracing, at: &At<'_>, found: &mut Findings) {
    let field = at.field("providers");
    if tracing.providers.len() > 1 {
        found.warning(&field, "multiple providers is not currently supported");
    }
    providers(&tracing.providers, &field, found);
    #[allow(clippy::manual_range_contains, reason = "what is not a number passes, as it does with Istio")]
    let outside = |percent: f64| percent < 0.0 || percent > 100.0;
    if tracing.random_sampling_percentage.is_some_and(outside) {
        found.error(
            &at.field("randomSamplingPercentage"),
            "randomSamplingPercentage must be in range [0.0, 100.0]",
        );
    }
    let field = at.field("customTags");
    for (name, tag) in &tracing.custom_tags {
        let at = field.field(name);
        if name.is_empty() {
            found.error(&at, "tag name may not be empty");
        }
        custom_tag(tag, &at, found);
    }
}

fn custom_tag(tag: &CustomTag, at: &At<'_>, found: &mut Findings) {
    let (kind, field, value) = match &tag.r#type {
        Some(Type::Literal(literal)) => ("literal", "value", &literal.value),
        Some(Type::Header(header)) => ("header", "name", &header.name),
        Some(Type::Environment(variable)) => ("environment", "name", &variable.name),
        Some(Type::Formatter(_)) | None => return,
    };
    if value.is_empty() {
        found.error(&at.field(kind).field(field), format!("{kind} tag {field} may not be empty"));
    }
}

fn access_logging(logging: &AccessLogging, at: &At<'_>, found: &mut Findings) {
    if let Some(filter) = &logging.filter
        && let Err(wrong) = cel::syntax(&filter.expression)
    {
        found.error(
            &at.field("filter").field("expression"),
            format!("must be a valid CEL expression: at character {}: {}", wrong.at + 1, wrong.message),
        );
    }
    providers(&logging.providers, &at.field("providers"), found);
}

#[cfg(test)]
mod tests {
    use crate::testing::{accepted, refused_at, warned_at};
    use serde_json::{Value, json};

    fn telemetry(spec: &Value) -> Value {
        json!({"apiVersion": "telemetry.istio.io/v1", "kind": "Telemetry",
               "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
    }

    #[test]
    fn an_ordinary_telemetry_is_accepted() {
        accepted(&telemetry(&json!({
            "metrics": [{"providers": [{"name": "prometheus"}], "overrides": [{
                "match": {"metric": "REQUEST_COUNT"},
                "tagOverrides": {"a": {"value": "b"}, "c": {"operation": "REMOVE"}},
            }]}],
            "tracing": [{"randomSamplingPercentage": 100, "customTags": {
                "a": {"literal": {"value": "b"}}, "b": {"header": {"name": "c"}},
                "c": {"environment": {"name": "d"}}, "d": {},
            }}],
            "accessLogging": [{"filter": {"expression": "response.code >= 400 || connection.mtls"}}],
        })));
        accepted(&telemetry(&json!({})));
    }

    #[test]
    fn a_provider_has_a_name() {
        let none = json!([{"providers": [{"name": "a"}, {}]}]);
        refused_at(
            &telemetry(&json!({"metrics": none, "accessLogging": none})),
            &["spec.metrics[0].providers[1].name", "spec.accessLogging[0].providers[1].name"],
        );
    }

    #[test]
    fn an_upsert_has_a_value_and_a_removal_has_none() {
        refused_at(
            &telemetry(&json!({"metrics": [{"overrides": [
                {"tagOverrides": {"a": {}, "b": {"operation": "REMOVE", "value": "c"}}},
                {"match": {"customMetric": ""}},
            ]}]})),
            &[
                "spec.metrics[0].overrides[0].tagOverrides.a.value",
                "spec.metrics[0].overrides[0].tagOverrides.b.value",
                "spec.metrics[0].overrides[1].match.customMetric",
            ],
        );
        warned_at(
            &telemetry(&json!({"metrics": [{"overrides": [{"tagOverrides": {"": {"value": "a"}}}]}]})),
            &["spec.metrics[0].overrides[0].tagOverrides[\"\"]"],
        );
    }

    #[test]
    fn tags_and_samples_have_sensible_values() {
        refused_at(
            &telemetry(&json!({"tracing": [{"randomSamplingPercentage": 100.1, "customTags": {
                "": {}, "a": {"literal": {}}, "b": {"header": {}}, "c": {"environment": {}},
            }}]})),
            &[
                "spec.tracing[0].randomSamplingPercentage",
                "spec.tracing[0].customTags[\"\"]",
                "spec.tracing[0].customTags.a.literal.value",
                "spec.tracing[0].customTags.b.header.name",
                "spec.tracing[0].customTags.c.environment.name",
            ],
        );
        refused_at(
            &telemetry(&json!({"tracing": [{"randomSamplingPercentage": -0.1}]})),
            &["spec.tracing[0].randomSamplingPercentage"],
        );
    }

    #[test]
    fn several_tracings_are_a_warning() {
        warned_at(
            &telemetry(&json!({"tracing": [{"providers": [{"name": "a"}, {"name": "b"}]}, {}]})),
            &["spec.tracing", "spec.tracing[0].providers"],
        );
    }

    #[test]
    fn a_filter_is_an_expression() {
        for bad in ["", "response.code >=", "a b"] {
            refused_at(
                &telemetry(&json!({"accessLogging": [{"filter": {"expression": bad}}]})),
                &["spec.accessLogging[0].filter.expression"],
            );
        }
    }
}
