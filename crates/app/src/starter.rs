//! The file to begin with.

/// The name of the schema's file, as the first line of the starter has it.
pub const SCHEMA: &str = "app.schema.json";

/// A commented `app.yaml` of an application with that name; it can be built as it is.
pub fn starter(name: &str) -> String {
    include_str!("starter.yaml").replace("{name}", name)
}

/// What a folder's name can become as the name of an application, if it is near enough to one.
pub fn name_of(folder: &str) -> Option<String> {
    let name: String =
        folder.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = name.trim_matches('-');
    let name = name.get(..name.len().min(40))?.trim_end_matches('-');
    // A Service's name begins with a letter.
    name.starts_with(|c: char| c.is_ascii_lowercase()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_lends_its_name_where_it_can() {
        for (folder, name) in [
            ("shop", Some("shop")),
            ("My Shop_2", Some("my-shop-2")),
            ("_x_", Some("x")),
            ("2048", None),
            ("", None),
            ("ü", None),
        ] {
            assert_eq!(name_of(folder).as_deref(), name, "{folder}");
        }
    }
}
