//! Takes over the terminal and restores it at the end.

use std::io::{self, IsTerminal, Read, Write};

use crossterm::{
    cursor::{Hide, MoveTo, Show},
    execute, queue,
    terminal::{
        self, BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap,
        EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    },
};
use tokio::sync::mpsc;

pub struct Screen {
    /// Keys come one by one and are not shown.
    hears_keys: bool,
}

impl Screen {
    pub fn open() -> io::Result<Self> {
        // Without a keyboard Ctrl-C must stay a signal.
        let hears_keys = io::stdin().is_terminal() && terminal::enable_raw_mode().is_ok();
        let screen = Self { hears_keys };
        execute!(io::stdout(), EnterAlternateScreen, Hide, DisableLineWrap)?;
        Ok(screen)
    }

    /// The keys that are pressed. The thread that reads them ends with the program.
    pub fn keys(&self) -> mpsc::UnboundedReceiver<u8> {
        let (sender, keys) = mpsc::unbounded_channel();
        if self.hears_keys {
            std::thread::spawn(move || {
                for key in io::stdin().lock().bytes().map_while(Result::ok) {
                    if sender.send(key).is_err() {
                        return;
                    }
                }
            });
        }
        keys
    }

    /// Shows as many of the lines as fit.
    pub fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let height = match terminal::size() {
            Ok((_, height)) if height > 0 => usize::from(height),
            // One that does not say, such as a serial line.
            _ => 24,
        };
        let mut out = Vec::new();
        queue!(out, BeginSynchronizedUpdate)?;
        for (row, line) in (0u16..).zip(lines.iter().take(height)) {
            queue!(out, MoveTo(0, row), Clear(ClearType::UntilNewLine))?;
            out.write_all(line.as_bytes())?;
        }
        let below = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        if lines.len() < height {
            queue!(out, MoveTo(0, below), Clear(ClearType::FromCursorDown))?;
        }
        queue!(out, EndSynchronizedUpdate)?;
        let mut stdout = io::stdout().lock();
        stdout.write_all(&out)?;
        stdout.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(io::stdout(), EnableLineWrap, Show, LeaveAlternateScreen);
        if self.hears_keys {
            let _ = terminal::disable_raw_mode();
        }
    }
}
