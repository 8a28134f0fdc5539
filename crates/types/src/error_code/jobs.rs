//! Codes of jobs, queues and calls.

macro_rules! jobs {
    ($($before:tt)*) => { collect! { $($before)*

CallExists "CALL_EXISTS" Request(409) Reject {
    what: "A call with this id is running.",
    why: "The request chose the id with `callId`, and the earlier call with it has not ended.",
    fix: "Leave `callId` out, or choose another one. `riverrun tail call/<id>` follows the running \
          call.",
}
CallFailed "CALL_FAILED" Request(500) GiveUp {
    what: "The handler of the called process failed.",
    why: "It threw an error. `details.error` has its code, message and stack.",
    fix: "Correct the cause of that error and call again. Calls are not retried by the server.",
}
CallTimeout "CALL_TIMEOUT" Request(504) Retry {
    what: "The called process did not answer in time and was stopped.",
    why: "The handler took longer than the `timeoutMs` of the request or of its config.",
    fix: "Raise `timeoutMs`, pass `--timeout` to `riverrun call`, or add a job instead: `riverrun jobs \
          add <queue> -d '{}'`.",
}
DuplicateCall "DUPLICATE_CALL" Request(409) Reject {
    what: "The WebSocket already has a running call with this id.",
    why: "Ids of calls are unique for each connection until the call has ended.",
    fix: "Choose another id, or wait until the earlier call has ended.",
}
JobCancelled "JOB_CANCELLED" Command GiveUp {
    what: "The job that the command waited for was cancelled.",
    why: "A request cancelled it: `riverrun jobs cancel`, the API, or an SDK.",
    fix: "`riverrun jobs show <id>` prints the reason. `riverrun jobs retry <id>` queues it again.",
}
JobFailed "JOB_FAILED" Command GiveUp {
    what: "The job that the command waited for failed.",
    why: "Its last attempt failed with an error that has no code of its own.",
    fix: "`riverrun jobs show <id>` prints the error, `riverrun jobs logs <id>` its attempts and logs.",
}
JobIdTaken "JOB_ID_TAKEN" Request(409) Reject {
    what: "A job of another queue has this id, so nothing was added.",
    why: "Ids of jobs are unique across all queues.",
    fix: "Put the queue's name into the id, or use an idempotency key, which is unique for one queue: \
          `riverrun jobs add <queue> --idempotency-key <key>`.",
}
JobLost "JOB_LOST" Request(409) GiveUp {
    what: "The job no longer belongs to this worker, so its result was not recorded.",
    why: "The worker did not renew its lease in time and another one took over, or the job has ended.",
    fix: "You do not need to do anything: the new owner records the result. If it happens often, keep \
          handlers from blocking their process, or raise `lease` in the configuration.",
}
JobNotFound "JOB_NOT_FOUND" Request(404) Reject {
    what: "No job has this id.",
    why: "The id is wrong, or the job was deleted: ended jobs are deleted when their retention is \
          over.",
    fix: "`riverrun jobs ls <queue>` lists the jobs of a queue. To keep ended jobs longer, raise \
          `retention.completed`, `retention.failed` or `retention.cancelled`.",
}
JobOfRun "JOB_OF_RUN" Request(409) Reject {
    what: "The job belongs to a step of a flow and cannot be changed alone.",
    why: "The run waits for the result of the job.",
    fix: "Cancel the run, which removes its jobs: `riverrun runs cancel <run>`.",
}
JobQuarantined "JOB_QUARANTINED" Run GiveUp {
    what: "The job is parked. It has not failed, and no attempt was counted.",
    why: "Its worker or the server died several times in a row while the job ran, so the job may be \
          the cause.",
    fix: "Find out what kills the worker; memory is the most common cause. Then release the job with \
          `riverrun jobs retry <id>`, or end it with `riverrun jobs cancel <id>`.",
}
JobState "JOB_STATE" Request(409) Reject {
    what: "The job is in a state that does not allow this.",
    why: "For example, only ended jobs can be retried and only delayed jobs can be promoted. The \
          message names the state and the allowed ones.",
    fix: "`riverrun jobs show <id>` prints the state. Wait for another one, or use another command.",
}
QueueNotFound "QUEUE_NOT_FOUND" Request(404) Reject {
    what: "No queue has this name, so nothing was added.",
    why: "No process takes jobs from it, and it never had a job. The name may be misspelt.",
    fix: "`riverrun queues ls` lists the queues. To create one before its worker is there: `riverrun \
          jobs add <queue> --create`.",
}
RedriveActive "REDRIVE_ACTIVE" Request(409) Retry {
    what: "Dead letters of this queue are already being redriven.",
    why: "An earlier redrive is still running. It continues even if its client has disconnected.",
    fix: "Wait until it has ended. `riverrun queues show <queue>` counts the jobs that are left.",
}
TooManyCalls "TOO_MANY_CALLS" Request(429) Retry {
    what: "The WebSocket has as many running calls as it may have.",
    why: "One connection runs at most 256 calls at the same time.",
    fix: "Wait until some have ended, or open another WebSocket.",
}
    } };
}
