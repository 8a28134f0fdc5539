//! The first line of an executable, which names the program that runs it.

use riverrun_types::ErrorCode;
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io::Read,
    path::Path,
};

use riverrun_protocol::WorkError;

use crate::process::find_program;

/// The kernel reads no more of it either.
const MAX_BYTES: u64 = 256;

/// That the interpreter of a command is not there, if it has one and that is so.
pub(super) fn missing(
    command: &[OsString],
    variables: &BTreeMap<OsString, OsString>,
) -> Option<WorkError> {
    let program = Path::new(command.first()?);
    let line = first_line(program)?;
    let path = variables.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let missing = missing_in(&line, |name| find_program(name, path).is_some())?;
    let message = format!(
        "{} is run by {missing}, as its first line says, and there is no such program",
        program.display()
    );
    Some(WorkError::new(ErrorCode::RuntimeMissing, message))
}

fn first_line(program: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(program).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_prefix(b"#!")?;
    Some(String::from_utf8_lossy(line).trim().to_owned())
}

/// The first program of the line that is not there: the interpreter, or what `env` is to find.
fn missing_in(line: &str, is_there: impl Fn(&str) -> bool) -> Option<&str> {
    let mut words = line.split_whitespace();
    let interpreter = words.next()?;
    if !is_there(interpreter) {
        return Some(interpreter);
    }
    if !interpreter.ends_with("/env") {
        return None;
    }
    let named = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    (!is_there(named)).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_is_missing_is_named() {
        let there = |name: &str| ["/usr/bin/env", "/bin/sh", "node"].contains(&name);
        for (line, missing) in [
            ("/bin/sh", None),
            ("/bin/sh -e", None),
            ("/opt/none -x", Some("/opt/none")),
            ("/usr/bin/env node", None),
            ("/usr/bin/env -S A=1 deno run", Some("deno")),
            ("/usr/bin/env", None),
            ("", None),
        ] {
            assert_eq!(missing_in(line, there), missing, "{line}");
        }
    }
}
