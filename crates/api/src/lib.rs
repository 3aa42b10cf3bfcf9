//! The kinds that Istio's users write.
