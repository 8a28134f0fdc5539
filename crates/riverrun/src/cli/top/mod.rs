//! `riverrun top`: the queues of a server, live.

mod screen;
mod view;

use riverrun_types::ErrorCode;
use std::{future::Future, time::Duration};

use clap::Args;
use tokio::sync::mpsc;

use super::Global;
use crate::{
    client::Client,
    failure::{Exit, Failure, Result},
    output::{self, Format},
    signals,
};
use screen::Screen;
use view::View;

const EVERY: Duration = Duration::from_secs(1);

#[derive(Args, Debug)]
pub struct Top {
    /// Print once and exit.
    #[arg(long)]
    once: bool,
}

impl Top {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        // A server that is not there is said at once; one that goes away is waited for.
        let first = look(&client).await?;
        match global.output {
            Format::Table if self.once => first.print(),
            format if self.once => output::json(format, &first.json()),
            Format::Table if output::stdout_is_terminal() => on_screen(&client, first).await?,
            format => in_lines(&client, format, first).await,
        }
        Ok(Exit::Ok)
    }
}

async fn look(client: &Client) -> Result<View> {
    let queues = client.get(&["api", "queues"], &Vec::new()).await?.items();
    Ok(View::new(client.url(), queues))
}

/// Looks every second, and hands over what was seen.
async fn keep_looking(client: &Client, seen: mpsc::UnboundedSender<Result<View>>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        if seen.send(look(client).await).is_err() {
            return;
        }
    }
}

async fn on_screen(client: &Client, mut view: View) -> Result<()> {
    let unusable = |error: std::io::Error| {
        let message = format!("the terminal cannot be used: {error}");
        Failure::new(ErrorCode::FileUnusable, message).next("riverrun top --once")
    };
    let mut screen = Screen::open().map_err(unusable)?;
    let mut keys = screen.keys();
    let (sender, mut seen) = mpsc::unbounded_channel();
    let mut looking = std::pin::pin!(keep_looking(client, sender));
    let mut stopped = std::pin::pin!(signals::next());
    let mut trouble = None;
    loop {
        screen
            .draw(&view.screen(trouble.as_ref()))
            .map_err(unusable)?;
        tokio::select! {
            () = &mut looking => return Ok(()),
            _ = &mut stopped => return Ok(()),
            () = quit(&mut keys) => return Ok(()),
            Some(looked) = seen.recv() => match looked {
                Ok(newer) => (view, trouble) = (newer, None),
                Err(failure) => trouble = Some(failure),
            },
        }
    }
}

/// Resolves when somebody wants to leave.
fn quit(keys: &mut mpsc::UnboundedReceiver<u8>) -> impl Future<Output = ()> {
    /// What Ctrl-C sends while the terminal hands over every key.
    const CTRL_C: u8 = 3;
    async {
        loop {
            match keys.recv().await {
                Some(b'q' | b'Q' | CTRL_C) => return,
                Some(_) => {}
                // There is no keyboard; signals still work.
                None => std::future::pending().await,
            }
        }
    }
}

/// For pipes and files: a line per queue and second.
async fn in_lines(client: &Client, format: Format, first: View) {
    let show = |view: &View| match format {
        Format::Table => view.lines().iter().for_each(|line| output::data(line)),
        format => output::json(format, &view.json()),
    };
    show(&first);
    let (sender, mut seen) = mpsc::unbounded_channel();
    let mut looking = std::pin::pin!(keep_looking(client, sender));
    let mut stopped = std::pin::pin!(signals::next());
    let mut is_away = false;
    loop {
        tokio::select! {
            () = &mut looking => return,
            _ = &mut stopped => return,
            Some(looked) = seen.recv() => match looked {
                Ok(view) => {
                    is_away = false;
                    show(&view);
                }
                // Once, however long it lasts.
                Err(failure) if !is_away => {
                    is_away = true;
                    output::talk(&failure.note("trying again every second").to_string());
                }
                Err(_) => {}
            },
        }
    }
}
