//! Codes of the child processes and remote workers that run handlers.

macro_rules! runners {
    ($($before:tt)*) => { collect! { $($before)*

NoWorker "NO_WORKER" Request(503) Release {
    what: "No connected worker has this process.",
    why: "The process runs on remote workers, and all of them are stopped or disconnected. Jobs wait \
          for one; calls cannot.",
    fix: "Start one: `riverrun worker --project <folder>`. `riverrun workers ls` lists the connected \
          ones. Or add a job instead of making a call.",
}
ProtocolError "PROTOCOL_ERROR" Run Retry {
    what: "A child process, an executable or a worker sent a message that breaks the protocol. It was \
           ended and replaced, and the attempt counts.",
    why: "Most often a library writes to file descriptor 3, which carries the messages, or a \
          self-made client has a mistake.",
    fix: "Do not write to fd 3. Compare a self-made client with `docs/reference/protocol.md`.",
}
ProtocolVersion "PROTOCOL_VERSION" Run Reject {
    what: "A child process or worker speaks another version of the protocol than the server.",
    why: "The SDK and the server are from different releases.",
    fix: "Install the SDK and the server in the same version. `riverrun version` prints the server's.",
}
RunnerDied "RUNNER_DIED" Run Retry {
    what: "The process that ran the handler exited or crashed before the handler ended. The attempt \
           counts.",
    why: "The message has the exit code or signal and the last output. A process that was killed from \
          outside (SIGKILL, SIGTERM, SIGINT, SIGHUP) is WORKER_LOST instead.",
    fix: "Correct the cause: look for `process.exit` and for crashes of native modules.",
}
RunnerEnded "RUNNER_ENDED" Run Release {
    what: "The process that ran the handler ended while several handlers ran in it.",
    why: "One of them hung or ended the process. Jobs go back into their queue without a counted \
          attempt, and one that may be the cause runs alone next time.",
    fix: "You do not need to do anything for jobs; repeat a call yourself. Look at the process that \
          the message names, or at the job that fails with RUNNER_DIED afterwards.",
}
RunnerFrozen "RUNNER_FROZEN" Run Retry {
    what: "The process that ran the handler did not respond and was killed. The attempt of a handler \
           that was alone in it counts.",
    why: "It did not answer for `runners.silent_timeout` (1 min by default), because the handler \
          blocked it with a long computation. A process that a signal stopped (SIGSTOP) is \
          WORKER_LOST instead.",
    fix: "Let handlers that compute `await` now and then, or move the work into a worker thread or an \
          executable. Or raise `runners.silent_timeout`; `off` disables it.",
}
RunnerHung "RUNNER_HUNG" Run Retry {
    what: "A handler or module did not stop, so its process was killed.",
    why: "The handler exceeded its time and ignored the signal to stop, or the module did not load \
          within `runners.load_timeout`.",
    fix: "Look for an endless loop, and let the handler watch `ctx.signal`. If the time was too short, \
          raise `timeoutMs` in the config of the process.",
}
RunnerMemory "RUNNER_MEMORY" Run Retry {
    what: "The process that ran the handler used too much memory and was killed. The attempt counts.",
    why: "It, or an executable with its process group, held more than twice `runners.memory_bytes` \
          (1 GiB by default).",
    fix: "Look for data that the code keeps, process less at once, or raise the limit: `riverrun serve \
          --set runners.memory_bytes=2147483648`.",
}
RunnerStart "RUNNER_START" Run Retry {
    what: "The process that runs the handler could not be started. The server tries again, more and \
           more slowly.",
    why: "The program is missing or not executable, it ended at once, or the system has no processes \
          or memory left. The message has the reason and the last output.",
    fix: "Run `riverrun doctor`, which starts Node.js and Python and loads every process.",
}
RuntimeMissing "RUNTIME_MISSING" Run Reject {
    what: "The program that runs the handler was not found or is too old.",
    why: "Node.js, Python or the interpreter in the first line of an executable is not installed, is \
          not on `PATH`, or this riverrun was built without that SDK.",
    fix: "Install the version that the message names, or name the program: `riverrun serve --set \
          runners.node=/usr/local/bin/node`. `riverrun doctor` checks it.",
}
WorkerLost "WORKER_LOST" Run Release {
    what: "The worker or runner that ran the attempt is gone. The work runs again at once, and no \
           attempt is counted.",
    why: "It was killed from outside (a deploy, an operator, a system short of memory), was frozen, \
          did not answer, was drained, or lost its connection for longer than `worker_reconnect` (5 s \
          by default).",
    fix: "You do not need to do anything if it happens now and then. Work that was lost ten times in a \
          row is parked as QUARANTINED or JOB_QUARANTINED; then read the logs of the worker, and \
          look for memory kills with `dmesg`.",
}
WorkerNotFound "WORKER_NOT_FOUND" Request(404) Reject {
    what: "No remote worker has this id.",
    why: "The worker has disconnected for good, or connected again under another id.",
    fix: "`riverrun workers ls` lists the connected workers with their ids.",
}
    } };
}
