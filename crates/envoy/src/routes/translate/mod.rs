//! Parts of a VirtualService's HTTP route in Envoy's words. Functions of what they are given: no proxy, no snapshot.

mod action;
mod cors;
mod fault;
mod hash;
mod headers;
mod matching;
mod mirror;
mod percent;
mod redirect;
mod retry;

pub(super) use action::{Destinations, plain_route, route_action, timed};
pub(super) use cors::cors;
pub(super) use fault::fault;
pub(super) use hash::{has_hash, of_service};
pub(super) use headers::Operations;
pub(super) use matching::{anything, is_catch_all, route_match};
pub(super) use redirect::{direct_response, redirect};
