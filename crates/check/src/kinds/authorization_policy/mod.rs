//! AuthorizationPolicy: who may do what.

mod condition;
mod rule;
mod value;

use crate::{Findings, parts::selector};
use mizzen_api::proto::istio::security::v1beta1::{
    AuthorizationPolicy,
    authorization_policy::{Action, ActionDetail},
};
use mizzen_text::At;

pub(crate) fn check(policy: &AuthorizationPolicy, found: &mut Findings) {
    let spec = At::TOP.field("spec");
    selector::policy(policy.selector.as_ref(), policy.target_ref.as_ref(), &policy.target_refs, &spec, found);
    action(policy, &spec, found);
    let rules = spec.field("rules");
    for (index, one) in policy.rules.iter().enumerate() {
        rule::check(policy.action(), one, &rules.index(index), found);
    }
}

fn action(policy: &AuthorizationPolicy, spec: &At<'_>, found: &mut Findings) {
    let action = policy.action();
    let provider = policy.action_detail.as_ref().map(|ActionDetail::Provider(provider)| provider);
    if matches!(action, Action::Custom | Action::Deny) && policy.rules.is_empty() {
        let name = action.as_str_name();
        found.error(
            &spec.field("rules"),
            format!(
                "{name} action without `rules` is meaningless as it will never be triggered, \
                 add an empty rule `{{}}` if it shall be triggered for every request"
            ),
        );
    }
    let at = spec.field("provider");
    if action == Action::Custom {
        if !policy.rules.is_empty() && provider.is_none_or(|provider| provider.name.is_empty()) {
            found.error(
                &at.field("name"),
                "`provider.name` must not be empty: CUSTOM asks one of the mesh's extensionProviders",
            );
        }
    } else if provider.is_some() {
        found.error(
            &at,
            format!("`provider` must not be with non CUSTOM action, found {}", action.as_str_name()),
        );
    }
}

#[cfg(test)]
mod tests;
