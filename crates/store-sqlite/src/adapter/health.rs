//! Whether the store works, facts about it, and closing it.

use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use riverrun_store::{
    Error, Result, Stats,
    adapter::{CommitStore, HealthStore},
};
use riverrun_types::{Json, Millis};

use crate::{SqliteStore, read, upkeep};

#[async_trait]
impl HealthStore for SqliteStore {
    async fn check(&self) -> Result<()> {
        self.writer.look(|core| core.look()).await?;
        self.room().await?;
        self.writer
            .write(|core| {
                core.judge_room()?;
                upkeep::check(core)
            })
            .await
    }

    async fn gone(&self) -> Error {
        self.watched().await
    }

    async fn stats(&self) -> Result<Stats> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ms = self.now_ms(now.map_or(0, |now| now.as_millis() as Millis));
        let stats = self.read(move |view| read::stats(view, now_ms)).await?;
        Ok(Stats {
            bytes: self.bytes(),
            ..stats
        })
    }

    async fn describe(&self) -> Result<Json> {
        self.facts().await
    }

    async fn close(&self) -> Result<()> {
        self.shut().await
    }
}
