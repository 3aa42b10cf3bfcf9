//! IstioOperator files, flags and charts in; the objects of a mesh out, as istioctl makes them.
//!
//! ```text
//! files, --set ─▶ user tree ─┐
//! profile ───────▶ base tree ┴─▶ merged ─▶ translated ─▶ validated ─▶ values per component ─▶ charts ─▶ objects ─▶ patched
//! ```

pub mod patch;
mod shapes;
pub mod validation;
