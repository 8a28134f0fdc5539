//! Parking of work that was alone when the server died.

use riverrun_engine::{Input, Parked};
use riverrun_protocol::WorkError;
use riverrun_store::{Change, Commit, JobState, Reason, Steer, Waits};
use riverrun_types::{ErrorCode, Json};

use std::sync::Arc;

use crate::{
    base::{Base, Result},
    crashes::{Alone, Beginning, Starts, Unit},
    queues::{KeptOptions, to_job},
    runs::Runs,
};

/// Parks work that may kill the server.
#[derive(Clone)]
pub(crate) struct Quarantine {
    base: Base,
    alone: Arc<Alone>,
    runs: Runs,
}

impl Quarantine {
    pub fn new(base: Base, alone: Arc<Alone>, runs: Runs) -> Self {
        Self { base, alone, runs }
    }

    /// Parks the suspects of the last crash, before anything else begins.
    pub async fn begin_carefully(&self, beginning: Beginning) -> Result<()> {
        let Beginning {
            starts,
            suspects,
            unread,
        } = beginning;
        for suspect in suspects {
            let (quarantine, unit) = (self.clone(), suspect.clone());
            let crashes = starts.crashes;
            // In a task of its own: a panic here must not keep the server from starting.
            let parked = tokio::spawn(async move {
                match unread {
                    true => quarantine.set_aside(&unit).await,
                    false => quarantine.park(&unit, crashes).await,
                }
            });
            let unit = suspect.id();
            match parked.await {
                Ok(Ok(())) => {
                    tracing::error!(%unit, "parked: the server died twice in a row and then once more while nothing else ran; riverrun runs why {unit} says how to release it");
                }
                Ok(Err(error)) => tracing::error!(%unit, %error, "could not be parked"),
                Err(error) => tracing::error!(%unit, %error, "could not be parked"),
            }
        }
        if starts.parking {
            Starts::running(starts.crashes)
                .store(self.base.store())
                .await?;
        }
        if !self.alone.is_over() {
            self.base.spawn(self.alone.clone().look_after());
        }
        Ok(())
    }

    async fn park(&self, unit: &Unit, crashes: u32) -> Result<()> {
        let message = format!(
            "it was the only active work when the server died; that was crash number {crashes} in a row"
        );
        let parked = Parked::new(ErrorCode::Quarantined, message.clone());
        let job = match unit {
            Unit::Run(run) => {
                self.runs.control(run, Input::ParkAll(parked)).await?;
                return Ok(());
            }
            Unit::Job(job) => job,
        };
        let Some(record) = self.base.store().job(job).await? else {
            return Ok(());
        };
        if let Some(place) = KeptOptions::read(record.options.as_ref()).step {
            let visit = place.visit();
            self.runs.park(&place.run, visit, parked).await?;
            return Ok(());
        }
        let error = Json::of(&WorkError::new(ErrorCode::JobQuarantined, message));
        let now_ms = self.base.now_ms();
        let mut commit = Commit::default();
        // Facts that the row drops when another attempt begins.
        if record.state == JobState::Active {
            let waits = Waits {
                attempt: Some(record.attempt),
                error: Some(&error),
                ..Waits::new(&record.queue, Reason::Parked)
            };
            let events = vec![waits.draft(now_ms)];
            commit = commit.and(Change::Append(to_job(job, events)));
        }
        let (job, steer) = (job.clone(), Steer::Park { error });
        self.base
            .commit(commit.and(Change::Steer { job, steer, now_ms }))
            .await?;
        Ok(())
    }

    /// Keeps a unit from being claimed without reading it.
    async fn set_aside(&self, unit: &Unit) -> Result<()> {
        match unit {
            Unit::Run(run) => Ok(self.base.store().set_aside(run).await?),
            Unit::Job(job) => {
                let message = "the server died while the job was being parked";
                let error = Json::of(&WorkError::new(ErrorCode::JobQuarantined, message));
                let (job, steer) = (job.clone(), Steer::Park { error });
                let now_ms = self.base.now_ms();
                let commit = Commit::of(Change::Steer { job, steer, now_ms });
                self.base.commit(commit).await?;
                Ok(())
            }
        }
    }
}
