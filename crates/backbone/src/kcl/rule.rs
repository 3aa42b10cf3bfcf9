pub(super) fn lines(_: &crate::schema::Schema, _: &str, _: bool) -> Vec<String> {
    Vec::new()
}
pub(super) fn own_lines(_: &crate::schema::Schema) -> Vec<String> {
    Vec::new()
}
