//! Events of triggers, workers and jobs, in streams of their own.

macro_rules! server {
    ($($before:tt)*) => { collect! { $($before)*

60 TriggerRegistered "trigger.registered";
61 TriggerFired "trigger.fired";
62 TriggerTimeout "trigger.timeout";
63 TriggerCancelled "trigger.cancelled";
64 TriggerFailed "trigger.failed";
70 WorkerRegistered "worker.registered";
71 WorkerHeartbeat "worker.heartbeat";
72 WorkerStopped "worker.stopped";
80 JobAdded "job.added";
81 JobWaiting "job.waiting";
82 JobActive "job.active";
83 JobProgress "job.progress";
84 JobCompleted "job.completed", end;
85 JobFailed "job.failed", end;
86 JobCancelled "job.cancelled", end;
87 JobRemoved "job.removed";

    } };
}
