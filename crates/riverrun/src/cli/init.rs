//! `riverrun init`: a new project that runs.

use riverrun_types::ErrorCode;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::{
    failure::{Exit, Failure, Result},
    output,
};

/// The files of a new project. What a reader sees first, so each explains itself.
const FILES: [(&str, &str); 6] = [
    ("riverrun.toml", include_str!("init/riverrun.toml")),
    ("flows/hello.yaml", include_str!("init/hello.yaml")),
    ("processes/greet.mjs", include_str!("init/greet.mjs")),
    ("processes/average.py", include_str!("init/average.py")),
    (".gitignore", include_str!("init/gitignore")),
    ("README.md", include_str!("init/README.md")),
];

#[derive(Args, Debug)]
pub struct Init {
    /// The folder to create the project in.
    #[arg(default_value = ".")]
    folder: PathBuf,
}

impl Init {
    pub fn run(self) -> Result<Exit> {
        let folder = &self.folder;
        refuse_to_overwrite(folder)?;
        for (name, text) in FILES {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            std::fs::create_dir_all(parent)
                .and_then(|()| std::fs::write(&path, text))
                .map_err(|error| Failure::file("the file", &path, &error))?;
            output::talk(&format!("wrote {}", path.display()));
        }
        let shown = folder.display();
        output::talk("next:");
        output::talk(&format!("  riverrun dev {shown}"));
        output::talk("  riverrun run hello -d '{\"name\": \"Ada\"}' --follow");
        output::talk("  riverrun jobs add greet -d '{\"name\": \"Ada\"}' --wait");
        output::talk("  riverrun call average -d '[1, 2, 3, 4]'");
        Ok(Exit::Ok)
    }
}

fn refuse_to_overwrite(folder: &Path) -> Result<()> {
    let there: Vec<&str> = FILES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| folder.join(name).exists())
        .collect();
    if there.is_empty() {
        return Ok(());
    }
    let message = format!("{} has {} already", folder.display(), there.join(", "));
    Err(Failure::usage(ErrorCode::FileExists, message)
        .note("nothing was written")
        .next("riverrun init <another folder>"))
}
