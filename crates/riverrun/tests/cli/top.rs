//! `riverrun top`.

use std::process::Command;

use crate::support::{Project, Running, wait_for};

#[test]
fn once_and_in_lines() {
    let project = Project::new();
    let server = project.serve();
    server.ok(&["jobs", "add", "mail", "--create"]);
    let once = server.ok(&["top", "--once"]);
    assert!(once.starts_with("1 queue: 1 waiting, 0 delayed"), "{once}");
    assert!(once.contains("WAIT P99"), "{once}");
    let seen = server.json(&["top", "--once"]);
    assert_eq!(seen["totals"]["counts"]["waiting"], 1);
    assert_eq!(seen["queues"][0]["name"], "mail");

    let top = Running::of(server.command(&["top"]));
    wait_for(&top.out, "  mail  waiting 1  delayed 0");
    server.ok(&["jobs", "add", "mail"]);
    let line = wait_for(&top.out, "  mail  waiting 2");
    assert!(!line.contains('\u{1b}'), "{line:?}");
    let pid = top.child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
    assert_eq!(top.code(), 0);
}

#[cfg(unix)]
mod on_a_terminal {
    use std::{
        fs::File,
        io::{Read, Write},
        os::fd::OwnedFd,
        process::Stdio,
    };

    use rustix::{
        fs::{Mode, OFlags},
        pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
        termios::{Termios, Winsize, tcgetattr, tcsetwinsize},
    };

    use crate::support::Project;

    /// Our end of a terminal, and the program's.
    fn terminal() -> (File, OwnedFd) {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let size = Winsize {
            ws_row: 20,
            ws_col: 60,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&theirs, size).unwrap();
        (File::from(ours), theirs)
    }

    /// Reads until a text has come, and gives all that came.
    fn read_until(from: &mut File, text: &str) -> String {
        let mut came = Vec::new();
        let mut piece = [0; 4_096];
        loop {
            let read = from.read(&mut piece).unwrap();
            came.extend_from_slice(&piece[..read]);
            let shown = String::from_utf8_lossy(&came);
            if shown.contains(text) {
                return shown.into_owned();
            }
        }
    }

    fn modes(of: &OwnedFd) -> String {
        let Termios {
            input_modes,
            output_modes,
            local_modes,
            ..
        } = tcgetattr(of).unwrap();
        format!("{input_modes:?} {output_modes:?} {local_modes:?}")
    }

    #[test]
    fn it_is_left_as_it_was() {
        let project = Project::new();
        let server = project.serve();
        server.ok(&["jobs", "add", "mail", "--create"]);
        for (key, colour) in [(b"q", true), (b"\x03", false)] {
            let (mut ours, theirs) = terminal();
            let before = modes(&theirs);
            let mut command = server.command(&["top"]);
            command.env("TERM", "xterm-256color");
            if !colour {
                command.env("NO_COLOR", "1");
            }
            let mut child = command
                .stdin(Stdio::from(theirs.try_clone().unwrap()))
                .stdout(Stdio::from(theirs.try_clone().unwrap()))
                .spawn()
                .unwrap();
            let shown = read_until(&mut ours, "mail");
            assert!(shown.contains("\u{1b}[?1049h"), "{shown:?}");
            assert!(shown.contains("1 queue: 1 waiting"), "{shown:?}");
            assert_eq!(shown.contains("\u{1b}[1m"), colour, "{shown:?}");
            assert_ne!(modes(&theirs), before);
            // Other keys do nothing.
            ours.write_all(b"x").unwrap();
            ours.write_all(key).unwrap();
            let after = read_until(&mut ours, "\u{1b}[?1049l");
            assert!(after.contains("\u{1b}[?25h"), "{after:?}");
            assert!(child.wait().unwrap().success());
            assert_eq!(modes(&theirs), before);
        }
    }
}
