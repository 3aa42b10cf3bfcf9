//! Nothing that this program starts outlives it, also when it is killed: compilers, downloads, test binaries. Those have
//! keepers of their own for what they start.

use std::{
    path::PathBuf,
    process::{Child, Command},
    sync::OnceLock,
};

#[expect(unreachable_pub, reason = "the file is testkit's")]
#[path = "../../crates/testkit/src/run/keeper.rs"]
mod run;

struct Keeper {
    folder: PathBuf,
    _process: Child,
}

/// Makes a command's process, and all that it starts, end with this one.
pub(crate) fn keep(command: &mut Command) -> &mut Command {
    static KEEPER: OnceLock<Option<Keeper>> = OnceLock::new();
    let start = || {
        let folder = std::env::temp_dir().join(format!("mizzen-xtask-{}", std::process::id()));
        run::start(&folder).ok().map(|process| Keeper { folder, _process: process })
    };
    match KEEPER.get_or_init(start) {
        Some(keeper) => command.env(run::MARK, &keeper.folder),
        // Without a shell there is no keeper; what was asked for can be done all the same.
        None => command,
    }
}
