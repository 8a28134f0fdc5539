//! The hosts of an invocation: one for each of its jobs. Only a batch has more than one job.

use async_trait::async_trait;
use riverrun_contract::Host;
use riverrun_protocol::{Frame, WorkError};
use riverrun_types::{Draft, ErrorCode, Json};
use serde::Deserialize;

use super::{JobHost, params::params};

/// In the order of the jobs. A frame that names none of them is about the first.
pub(in crate::queues) struct BatchHost {
    jobs: Vec<JobHost>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    job_id: Option<String>,
}

impl BatchHost {
    pub fn new(jobs: impl Iterator<Item = JobHost>) -> Self {
        let jobs = jobs.collect();
        Self { jobs }
    }

    /// The frames of each job that are not stored yet. Later frames are dropped.
    pub async fn close(&self) -> Vec<(Vec<Draft>, Option<Json>)> {
        let mut said = Vec::with_capacity(self.jobs.len());
        for job in &self.jobs {
            said.push(job.close().await);
        }
        said
    }

    fn find(&self, job: Option<&str>) -> Option<&JobHost> {
        match job {
            None => self.jobs.first(),
            Some(id) => self.jobs.iter().find(|job| job.home.id().as_str() == id),
        }
    }
}

#[async_trait]
impl Host for BatchHost {
    fn frame(&self, frame: Frame) {
        if let Some(job) = self.find(None) {
            job.frame(frame);
        }
    }

    fn frame_of(&self, job: &str, frame: Frame) {
        match self.find(Some(job)) {
            Some(job) => job.frame(frame),
            None => tracing::warn!(job, "a handler named a job that is not in its batch"),
        }
    }

    async fn ask(&self, method: &str, asked: Json) -> Result<Json, WorkError> {
        let Named { job_id } = params(&asked)?;
        match self.find(job_id.as_deref()) {
            Some(job) => job.ask(method, asked).await,
            None => {
                let id = job_id.unwrap_or_default();
                let message = format!("the invocation has no job {id:?}");
                Err(WorkError::new(ErrorCode::JobNotFound, message).permanent())
            }
        }
    }
}
