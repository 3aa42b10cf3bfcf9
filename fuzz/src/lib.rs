//! What must hold for any input whatsoever. A panic is a finding.

mod render;
mod validate;

pub use render::render;
pub use validate::validate;
