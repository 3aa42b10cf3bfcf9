//! `operator dump`: the objects, printed.

use super::deployed;
use crate::{
    args::format::YamlOrJson,
    exit::Exit,
    output::{Format, Output},
};
use anyhow::Result;
use clap::Args;
use mizzen_operator::objects;
use serde_json::json;

#[derive(Args)]
pub(crate) struct Typed {
    #[command(flatten)]
    deployed: deployed::Typed,

    /// How to print them
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: YamlOrJson,
}

pub(super) fn run(typed: Typed, output: &mut Output) -> Result<Exit> {
    let items = objects(&typed.deployed.meant()?);
    match typed.output {
        YamlOrJson::Json => {
            output.show(Format::Json, &json!({ "apiVersion": "v1", "kind": "List", "items": items }))?;
        }
        YamlOrJson::Yaml => {
            for item in &items {
                output.bytes(b"---\n")?;
                output.show(Format::Yaml, item)?;
            }
        }
    }
    Ok(Exit::Done)
}
