//! The rules of Istio's webhook, a file per kind.

mod annotations;

use crate::Findings;
use mizzen_api::Object;

/// What Istio's validating webhook would say of an object.
pub(crate) fn check(object: &Object, found: &mut Findings) {
    annotations::check(object, found);
}
