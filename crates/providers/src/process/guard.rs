//! Ends the children when the server is killed.
//!
//! A server that stops ends its children itself. A killed server cannot, and a child that does not
//! react to the end of its input would continue to run. So a small shell gets the list of process
//! groups and ends them when its own input closes, because the server is gone. (The kernel's
//! parent-death signal does not work here: it follows threads, and ours come and go.)

use std::{
    io::Write,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use parking_lot::Mutex;

use super::Group;

const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="${groups%% $group *} ${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
[ "$groups" = "${groups%[0-9]*}" ] || sleep 2
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
"#;

/// There is one for the whole program, as there is one program to be killed.
static GUARD: OnceLock<Option<Mutex<Child>>> = OnceLock::new();

/// A group that ends when this is dropped, and when the server is killed.
#[derive(Debug)]
pub(crate) struct Leash(Group);

impl Leash {
    pub fn new(group: Group) -> Self {
        tell('+', group);
        Self(group)
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.kill();
        tell('-', self.0);
    }
}

fn tell(sign: char, group: Group) {
    let Some(id) = group.id() else {
        return;
    };
    if let Some(guard) = GUARD.get_or_init(start) {
        let mut guard = guard.lock();
        if let Some(stdin) = &mut guard.stdin {
            // Without its guard the server works as well, until it is killed.
            let _ = stdin.write_all(format!("{sign} {id}\n").as_bytes());
        }
    }
}

fn start() -> Option<Mutex<Child>> {
    let started = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "riverrun-guard"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    match started {
        Ok(guard) => Some(Mutex::new(guard)),
        Err(error) => {
            tracing::warn!(%error, "no guard: a server that is killed may leave processes behind");
            None
        }
    }
}
