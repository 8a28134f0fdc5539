import {
  Http,
  HttpError,
  JsonText,
  addJobs,
  appendEvents,
  backfillSchedule,
  cancelJob,
  cancelRun,
  changeJob,
  changeTrigger,
  cleanQueue,
  clearQueue,
  createTrigger,
  deadLetters,
  deleteRun,
  disableTrigger,
  drainWorker,
  emitEvent,
  enableTrigger,
  execute,
  fireTrigger,
  flowDiagram,
  flowVersions,
  followNamed,
  followRun,
  followStream,
  forkRun,
  getAwaitStats,
  getFlow,
  getJob,
  getQueue,
  getRun,
  getStory,
  getTrigger,
  getUnheard,
  given,
  listFlows,
  listJobs,
  listProcesses,
  listQueues,
  listRuns,
  listSchedules,
  listTriggers,
  listWorkers,
  pauseQueue,
  pauseRun,
  promoteJob,
  purge,
  queueJobs,
  redrive,
  registerFlow,
  removeJob,
  removeTrigger,
  rerunRun,
  resumeCallback,
  resumeQueue,
  resumeRun,
  retryJob,
  runChildren,
  runEvents,
  runHistory,
  runState,
  runWhy,
  startRun,
  streamEvents,
  triggerHistory,
  triggerStats,
  validateFlow,
  version
} from "./shared/TQ6HHQUN.js";
import {
  deleteAt,
  setAt
} from "./shared/VU7GM5H6.js";
import {
  defineProcess,
  defineQueueConfig,
  defineQueueWorker,
  defineStep,
  revive,
  version as version2
} from "./shared/EEZBG35O.js";
import {
  CancelledError,
  ExecutionOver,
  NonRetriableError,
  RetryAfterError,
  RiverrunError,
  isObject
} from "./shared/5JBL45P5.js";

// src/events.ts
var finalTypes = [
  "flow.completed",
  "flow.failed",
  "flow.cancelled",
  "job.completed",
  "job.failed",
  "job.cancelled"
];
function isFinal(event) {
  return finalTypes.includes(event.type);
}

// src/live/state.ts
function reduceState(state, event) {
  const { type, data } = event;
  switch (type) {
    case "flow.started":
      return fromInput(data?.input);
    case "state.set":
      return setAt(state, data.key, data.value);
    case "state.delete":
      return deleteAt(state, data.key);
    case "state.batch":
      return data.operations.reduce(operate, state);
    case "state.snapshot":
      return data;
    default:
      return state;
  }
}
function operate(state, { type, key, value }) {
  return type === "set" ? setAt(state, key, value ?? null) : deleteAt(state, key);
}
function fromInput(input) {
  if (isObject(input)) return input;
  return input === void 0 || input === null ? {} : { input };
}

// src/live/visits.ts
function stepAt({ runId, stepName = "", stepId = "" }) {
  const rest = stepId.slice(`${runId}__${stepName}`.length);
  return { step: stepName, visit: Number(/^#(\d+)__/.exec(rest)?.[1] ?? 1) };
}
function enter(run, step, branch) {
  if (step === void 0) return run;
  const { error: _, ...summary } = run.steps[step] ?? { visits: 0 };
  const visits = summary.visits + 1;
  const visit = { step, visit: visits, status: "pending", attempt: 0, ...branch && { branch } };
  return {
    ...run,
    steps: { ...run.steps, [step]: { ...summary, status: "pending", attempt: 0, visits } },
    visits: [...run.visits, visit]
  };
}
function leave(run, key) {
  const visit = find(run, key);
  return { run: visit ? { ...run, visits: run.visits.filter((other) => other !== visit) } : run, visit };
}
function update(run, key, news) {
  const visits = run.visits.map((visit) => same(visit, key) ? { ...visit, ...news } : visit);
  const summary = run.steps[key.step];
  const steps = summary ? { ...run.steps, [key.step]: { ...summary, status: news.status } } : run.steps;
  return { ...run, visits, steps };
}
function fork(run, key, data) {
  const { branches, concurrency = 0, failFast = false, scoped = false } = data;
  const steps = branches.map(({ step }) => step);
  return change(run, key, { steps, concurrency, failFast, scoped, entered: 0, ended: 0 });
}
function enterBranches(run, key) {
  const branches = find(run, key)?.branches;
  if (!branches) return run;
  const { steps, concurrency, entered, ended: ended2 } = branches;
  const room = concurrency === 0 ? steps.length : Math.max(0, concurrency - (entered - ended2));
  const next = steps.slice(entered, entered + room);
  const begun = change(run, key, { ...branches, entered: entered + next.length });
  return next.reduce((run2, step) => enter(run2, step, { step: key.step, visit: key.visit }), begun);
}
function pathEnded(run, { branch }, failed2) {
  const branches = branch && find(run, branch)?.branches;
  if (!branches) return run;
  const ended2 = change(run, branch, { ...branches, ended: branches.ended + 1 });
  return failed2 && branches.failFast ? ended2 : enterBranches(ended2, branch);
}
function isInScope(run, visit) {
  const holder = visit.branch && find(run, visit.branch);
  return holder !== void 0 && (holder.branches?.scoped === true || isInScope(run, holder));
}
function change(run, key, branches) {
  return { ...run, visits: run.visits.map((visit) => same(visit, key) ? { ...visit, branches } : visit) };
}
function find(run, key) {
  return run.visits.find((visit) => same(visit, key));
}
function same(a, b) {
  return a.step === b.step && a.visit === b.visit;
}

// src/live/run.ts
function emptyRun() {
  return {
    runId: "",
    flow: "",
    version: "",
    status: "pending",
    input: null,
    state: {},
    steps: {},
    visits: [],
    paused: false,
    createdAt: "",
    updatedAt: "",
    events: 0
  };
}
function reduceRun(run, event) {
  if (run.lastEventId !== void 0 && !isLater(event.id, run.lastEventId)) return run;
  const seen = {
    ...run,
    runId: event.runId,
    flow: event.flowName,
    state: reduceState(run.state, event),
    createdAt: run.events === 0 ? event.ts : run.createdAt,
    updatedAt: event.ts,
    events: run.events + 1,
    lastEventId: event.id
  };
  return withStatus(apply(seen, event));
}
function reduceEvents(events, from = emptyRun()) {
  let run = from;
  for (const event of events) run = reduceRun(run, event);
  return run;
}
async function* followRun2(events, from = emptyRun()) {
  let run = from;
  for await (const event of events) {
    run = reduceRun(run, event);
    yield run;
  }
  return run;
}
function apply(run, event) {
  const { type, ts, data } = event;
  const at = stepAt(event);
  switch (type) {
    case "flow.started":
      return enter({ ...run, version: data?.version ?? "", input: data?.input ?? null }, data?.next);
    case "flow.completed":
    case "job.completed":
      return end({ ...run, result: data?.result }, "completed", ts);
    case "flow.failed":
    case "job.failed":
      return end({ ...run, error: data?.error }, "failed", ts);
    case "flow.cancelled":
    case "job.cancelled":
      return end({ ...run, cancellation: data }, "cancelled", ts);
    case "flow.paused":
      return { ...run, paused: true };
    case "flow.resumed":
      return { ...run, paused: false };
    case "job.active":
      return { ...run, status: "running" };
    case "progress":
      return { ...run, progress: data };
    case "job.progress":
      return { ...run, progress: data?.progress };
    case "step.started":
      return started(update(run, at, { status: "running", attempt: event.attempt ?? 1 }), at.step, event);
    case "step.completed":
      return completed(run, event);
    case "step.failed":
      return failed(run, event);
    case "step.retry":
      return data?.lost ? update(run, at, { status: "retrying" }) : run;
    case "step.parked":
      return update(run, at, { status: "waiting" });
    case "step.released":
      return update(run, at, { status: event.attempt ? "retrying" : "pending" });
    case "step.resumed":
      return update(run, at, { status: "running" });
    case "step.cancelled":
      return summarise(leave(run, at).run, at.step, { status: "cancelled", endedAt: ts });
    case "step.await.branches":
      return enterBranches(fork(update(run, at, { status: "waiting" }), at, data), at);
    case "step.await.timeout":
      return run;
    default:
      return type.startsWith("step.await.") ? update(run, at, { status: "waiting" }) : run;
  }
}
function started(run, step, { ts, attempt = 1 }) {
  const { error: _, endedAt: __, ...summary } = run.steps[step] ?? { visits: 1 };
  return { ...run, steps: { ...run.steps, [step]: { ...summary, status: "running", attempt, startedAt: ts } } };
}
function completed(before, event) {
  const { data, ts } = event;
  const at = stepAt(event);
  const { run: left, visit } = leave(before, at);
  let run = summarise(left, at.step, { status: "completed", endedAt: ts });
  if (!visit) return run;
  if (data?.outputKey !== void 0 && data.result !== void 0 && !isInScope(before, visit)) {
    run = { ...run, state: setAt(run.state, data.outputKey, data.result) };
  }
  return data?.next ? enter(run, data.next, visit.branch) : pathEnded(run, visit, false);
}
function failed(before, event) {
  const { data, ts } = event;
  const at = stepAt(event);
  const error = data?.error;
  if (data?.nextRetryAt !== void 0) return summarise(update(before, at, { status: "retrying" }), at.step, { error });
  const { run: left, visit } = leave(before, at);
  const run = summarise(left, at.step, { status: "failed", endedAt: ts, error });
  if (!visit) return run;
  return data?.next ? enter(run, data.next, visit.branch) : pathEnded(run, visit, true);
}
function summarise(run, step, news) {
  const summary = run.steps[step];
  return summary ? { ...run, steps: { ...run.steps, [step]: { ...summary, ...news } } } : run;
}
function end(run, status, ts) {
  return { ...run, status, endedAt: ts, visits: [], paused: false };
}
function withStatus(run) {
  if (run.endedAt !== void 0 || !Object.keys(run.steps).length) return run;
  const begun = Object.values(run.steps).some((step) => step.startedAt !== void 0);
  const waits = run.visits.length > 0 && run.visits.every(({ status }) => status === "waiting" || status === "retrying");
  return { ...run, status: run.paused ? "paused" : waits ? "waiting" : !begun ? "pending" : "running" };
}
function isLater(id, than) {
  const [ms = 0, n = 0] = id.split("-").map(Number);
  const [thanMs = 0, thanN = 0] = than.split("-").map(Number);
  return ms > thanMs || ms === thanMs && n > thanN;
}

// src/client/flows.ts
var FlowsApi = class {
  #client;
  constructor(client) {
    this.#client = client;
  }
  /** The newest version of every flow. */
  async list() {
    return (await listFlows({ client: this.#client })).items;
  }
  get(id, query) {
    return getFlow({ client: this.#client, path: { id }, query: given(query) });
  }
  /** The newest first. */
  async versions(id) {
    return (await flowVersions({ client: this.#client, path: { id } })).items;
  }
  /** A definition is kept for ever under its id and version; the same again changes nothing. */
  register(definition) {
    return registerFlow({ client: this.#client, body: definition });
  }
  /** What is wrong with a definition, if anything. Nothing is registered. */
  validate(definition) {
    return validateFlow({ client: this.#client, body: definition });
  }
  diagram(id, query) {
    return flowDiagram({ client: this.#client, path: { id }, query: given(query) });
  }
};

// src/client/gather.ts
var mostRequests = 2;
var mostJobs = 500;
var mostLength = 1 << 20;
var refusals = [400, 409, 413, 422];
var Gather = class {
  #send;
  #lines = /* @__PURE__ */ new Map();
  constructor(send) {
    this.#send = send;
  }
  /** The job's text is made by the caller: what it changes afterwards is not in it. */
  add(queue, create, json) {
    const name = `${create} ${queue}`;
    let line = this.#lines.get(name);
    if (!line) {
      line = new Line((json2) => this.#send(queue, create, json2), () => this.#lines.delete(name));
      this.#lines.set(name, line);
    }
    return line.add(json);
  }
};
var Line = class {
  #send;
  #onEmpty;
  #waiting = [];
  #requests = 0;
  #isDue = false;
  constructor(send, onEmpty) {
    this.#send = send;
    this.#onEmpty = onEmpty;
  }
  add(json) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ json, resolve, reject });
      this.#goSoon();
    });
  }
  /** After those that are added now. */
  #goSoon() {
    if (this.#isDue || this.#requests >= mostRequests) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      while (this.#waiting.length && this.#requests < mostRequests) void this.#go(this.#next());
    });
  }
  async #go(jobs) {
    this.#requests += 1;
    await this.#settle(jobs);
    this.#requests -= 1;
    if (this.#waiting.length) this.#goSoon();
    else if (!this.#requests) this.#onEmpty();
  }
  #next() {
    let count = 0;
    for (let length = 0; count < Math.min(mostJobs, this.#waiting.length); count++) {
      length += this.#waiting[count].json.length;
      if (count && length > mostLength) break;
    }
    return this.#waiting.splice(0, count);
  }
  async #settle(jobs) {
    const [first] = jobs;
    const json = jobs.length === 1 ? first.json : `{"jobs":[${jobs.map((job) => job.json).join(",")}]}`;
    try {
      const { jobs: added } = await this.#send(json);
      if (added?.length !== jobs.length) throw new RiverrunError("INTERNAL", `the server answered ${jobs.length} jobs with ${added?.length}`);
      jobs.forEach((job, index) => job.resolve(added[index]));
    } catch (error) {
      if (jobs.length === 1 || !isRefused(error)) return jobs.forEach((job) => job.reject(error));
      const half = Math.ceil(jobs.length / 2);
      await this.#settle(jobs.slice(0, half));
      await this.#settle(jobs.slice(half));
    }
  }
};
function isRefused(error) {
  return error instanceof HttpError && refusals.includes(error.status);
}

// src/client/signature.ts
async function signature(secret, body) {
  const bytes = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const made = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(body)));
  return `sha256=${Array.from(made, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

// src/client/sse.ts
async function* readEvents(body, listener = {}) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const block = new Block(listener);
  let pieces = [];
  try {
    for (; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      listener.onBytes?.();
      pieces.push(value);
      if (!/[\r\n]/.test(value)) continue;
      const lines = pieces.join("").split(/\r\n|\n|\r(?!$)/);
      pieces = [lines.pop()];
      for (const line of lines) {
        const event = block.take(line);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {
    });
  }
}
var Block = class {
  #id;
  #event = "";
  #data = [];
  #listener;
  constructor(listener) {
    this.#listener = listener;
  }
  take(line) {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.#id = value;
    else if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "retry" && /^\d+$/.test(value)) this.#listener.onRetry?.(Number(value));
    return void 0;
  }
  #end() {
    const event = this.#data.length ? { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") } : void 0;
    if (!event && this.#id) this.#listener.onId?.(this.#id);
    this.#event = "";
    this.#data = [];
    return event;
  }
};

// src/client/subscribe.ts
var longestWaitMs = 3e4;
function onKind(client, kinds, options = {}) {
  const open = ({ query, ...to }) => client.sse.get({ ...to, url: "/api/events", query: { type: kinds, ...query } });
  return subscribe(open, options);
}
async function* subscribe(open, options = {}) {
  const { from, follow, signal } = options;
  const types = options.types && [...options.types, ...follow === "until-end" ? finalTypes : []];
  let lastId;
  let retryMs = 1e3;
  let failures = 0;
  for (; ; ) {
    let isOver = false;
    let hasEnded = false;
    let reason;
    try {
      const connection = connect(open, {
        ...options,
        query: given({ from: lastId === void 0 ? from : void 0, ...types && { type: types }, follow }),
        lastId,
        onRetry: (ms) => retryMs = ms,
        onId: (id) => lastId = id
      });
      for await (const event of connection) {
        failures = 0;
        hasEnded = follow === "until-end" && isFinal(event);
        if (isWanted(event.type, options.types)) yield event;
        if (hasEnded && !event.type.startsWith("job.")) return;
      }
      isOver = follow === "until-end" && (hasEnded || connection.wasEmpty);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!isPassing(error)) throw error;
      reason = error;
    }
    if (isOver) return;
    await wait(Math.min(retryMs * 2 ** Math.min(failures, 10), longestWaitMs) * (0.5 + Math.random() / 2), signal);
    failures += 1;
    options.onReconnect?.(reason);
  }
}
function connect(open, { query, lastId, onRetry, onId, signal, onMissed, idleMs = 6e4 }) {
  return {
    wasEmpty: true,
    async *[Symbol.asyncIterator]() {
      const idle = new Idle(idleMs, signal);
      try {
        const response = await open({ query, headers: { ...lastId && { "last-event-id": lastId } }, signal: idle.signal });
        const onBytes = () => {
          this.wasEmpty = false;
          idle.restart();
        };
        for await (const { id, event, data } of readEvents(response.body, { onRetry, onId, onBytes })) {
          const parsed = JSON.parse(data);
          if (id) onId(id);
          if (event === "stream.deleted") throw new RiverrunError("STREAM_NOT_FOUND", "the stream was deleted");
          if (event === "stream.missed") {
            onMissed?.(parsed);
            continue;
          }
          if (event === "stream.failed") throw streamError(parsed);
          yield parsed;
        }
      } finally {
        idle.stop();
      }
    }
  };
}
var Idle = class {
  #abort = new AbortController();
  #ms;
  signal;
  #timer;
  constructor(ms, outer) {
    this.#ms = ms;
    this.signal = outer ? AbortSignal.any([outer, this.#abort.signal]) : this.#abort.signal;
    this.restart();
  }
  restart() {
    clearTimeout(this.#timer);
    const silent = new RiverrunError("UNREACHABLE", `the server was silent for ${this.#ms} ms`);
    this.#timer = setTimeout(() => this.#abort.abort(silent), this.#ms);
  }
  stop() {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }
};
function streamError(body) {
  const { code = "INTERNAL", message = "the stream failed", details } = body.error ?? {};
  return new HttpError(500, code, message, { details });
}
function isWanted(type, types) {
  return !types || types.some((wanted) => type === wanted || type.startsWith(`${wanted}.`));
}
function isPassing(error) {
  if (error instanceof HttpError) return error.status >= 500 || error.status === 408 || error.status === 429;
  return !(error instanceof RiverrunError) || error.code === "UNREACHABLE";
}
function wait(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

// src/client/triggers.ts
var TriggersApi = class {
  #client;
  constructor(client) {
    this.#client = client;
  }
  list(query) {
    return listTriggers({ client: this.#client, query: given(query) });
  }
  get(id) {
    return getTrigger({ client: this.#client, path: { id } });
  }
  create(trigger) {
    return createTrigger({ client: this.#client, body: trigger });
  }
  update(id, changes) {
    return changeTrigger({ client: this.#client, path: { id }, body: given(changes) });
  }
  /** The runs that it started continue. */
  async remove(id) {
    await removeTrigger({ client: this.#client, path: { id } });
  }
  enable(id) {
    return enableTrigger({ client: this.#client, path: { id } });
  }
  disable(id) {
    return disableTrigger({ client: this.#client, path: { id } });
  }
  /** Starts a run of its flow with this input, whatever the trigger's type is. */
  fire(id, input, options) {
    return fireTrigger({ client: this.#client, path: { id }, body: given({ input, ...options }) });
  }
  /** What became of it, the latest first. */
  history(id, query) {
    return triggerHistory({ client: this.#client, path: { id }, query: given(query) });
  }
  stats(id) {
    return triggerStats({ client: this.#client, path: { id } });
  }
};
var SchedulesApi = class {
  #client;
  constructor(client) {
    this.#client = client;
  }
  list(query) {
    return listSchedules({ client: this.#client, query: given(query) });
  }
  /**
   * Starts a run for each due time from `from` up to, not including, `to` for which there is none.
   * With `forgotten` also for due times whose earlier run may already be deleted.
   */
  backfill(id, range) {
    return backfillSchedule({ client: this.#client, path: { id }, body: given(range) });
  }
};

// src/client/workers.ts
var WorkersApi = class {
  #client;
  constructor(client) {
    this.#client = client;
  }
  async list() {
    return (await listWorkers({ client: this.#client })).items;
  }
  /** Gives it no more work, and lets it go when what it runs has ended or `graceMs` are over. */
  drain(id, options) {
    return drainWorker({ client: this.#client, path: { id }, body: given(options) });
  }
};

// src/client/client.ts
var longestWaitMs2 = 2e4;
var Riverrun = class {
  flows;
  triggers;
  schedules;
  workers;
  /** The `client` of the functions of `riverrun/api`. */
  api;
  #gather;
  constructor(options = {}) {
    this.api = new Http(options);
    this.#gather = new Gather((queue, create, json) => this.#add(queue, new JsonText(json), create));
    this.flows = new FlowsApi(this.api);
    this.triggers = new TriggersApi(this.api);
    this.schedules = new SchedulesApi(this.api);
    this.workers = new WorkersApi(this.api);
  }
  /** When this is answered the job is on disk. Calls that are made side by side share requests. */
  async enqueue(queue, data, options) {
    const { name, create, ...rest } = options ?? {};
    const job = { name, data: data ?? null, ...Object.keys(rest).length && { options: rest } };
    return this.#gather.add(queue, create === true, JSON.stringify(job));
  }
  /** All of them or none. */
  async enqueueMany(queue, jobs, options) {
    if (!jobs.length) return [];
    return (await this.#add(queue, { jobs }, options?.create)).jobs;
  }
  #add(queue, body, create) {
    const query = create ? { create } : {};
    return addJobs({ client: this.api, path: { name: queue }, query, body });
  }
  job(jobId) {
    return getJob({ client: this.api, path: { id: jobId } });
  }
  /** A page may hold fewer jobs than `limit`, even none, although more follow: `nextCursor` says so. */
  jobs(queue, query) {
    return queueJobs({ client: this.api, path: { name: queue }, query: given(query) });
  }
  /** Jobs of all queues, one queue after the other, or of `queue`. */
  findJobs(query = {}) {
    return listJobs({ client: this.api, query: given({ queue: "*", ...query }) });
  }
  /** The jobs that drive runs which have not ended; `stalled`: that were to move longer than a lease ago. */
  runJobs(query) {
    return listJobs({ client: this.api, query: given({ ...query, stalled: query?.stalled ?? false }) });
  }
  /** Lets a job that has ended wait again, from its first attempt on. */
  retryJob(jobId) {
    return retryJob({ client: this.api, path: { id: jobId } });
  }
  cancelJob(jobId, reason) {
    return cancelJob({ client: this.api, path: { id: jobId }, body: given({ reason }) });
  }
  /** Lets a delayed job begin now. */
  promoteJob(jobId) {
    return promoteJob({ client: this.api, path: { id: jobId } });
  }
  /** Changes a job that has not begun. */
  updateJob(jobId, changes) {
    return changeJob({ client: this.api, path: { id: jobId }, body: changes });
  }
  /** Removes a job that does not run. */
  removeJob(jobId) {
    return removeJob({ client: this.api, path: { id: jobId } });
  }
  /** Waits until a job has ended, however it ends, over reconnects and restarts of the server. */
  async waitJob(jobId, options = {}) {
    await ended(
      `job ${jobId}`,
      options,
      (signal) => this.followJob(jobId, { follow: "until-end", from: "end", types: [...finalTypes], signal })
    );
    return this.job(jobId);
  }
  /** The events of a job and the output of its handler, as they happen. */
  followJob(jobId, options) {
    return subscribe((to) => followStream({ ...to, client: this.api, path: { type: "job", id: jobId } }), options);
  }
  /** What happens to the jobs of a queue from now on. Nothing of it is stored: see `onMissed`. */
  followQueue(queue, options) {
    return subscribe((to) => followStream({ ...to, client: this.api, path: { type: "queue", id: queue } }), options);
  }
  async queues() {
    return (await listQueues({ client: this.api })).items;
  }
  queue(name) {
    return getQueue({ client: this.api, path: { name } });
  }
  pauseQueue(name) {
    return pauseQueue({ client: this.api, path: { name } });
  }
  resumeQueue(name) {
    return resumeQueue({ client: this.api, path: { name } });
  }
  /** Removes waiting jobs; with `delayed` also jobs that wait for their time. */
  clearQueue(name, options) {
    return clearQueue({ client: this.api, path: { name }, body: given(options) });
  }
  /** The older name of `clearQueue`. */
  drainQueue(name, options) {
    return this.clearQueue(name, options);
  }
  /** Removes jobs that have ended. */
  cleanQueue(name, options) {
    return cleanQueue({ client: this.api, path: { name }, body: given(options) });
  }
  /** Jobs that have failed for good, newest first; those that `filter` names. */
  deadLetters(queue, { filter, ...page } = {}) {
    return deadLetters({ client: this.api, path: { name: queue }, query: given({ ...page, ...filter }) });
  }
  /**
   * Lets dead letters wait again, from their first attempt on: those that had failed by now, each
   * once. A longer redrive continues in the background: `goesOn` is then true.
   */
  redrive(queue, options) {
    return redrive({ client: this.api, path: { name: queue }, body: given(options) });
  }
  purgeDeadLetters(queue, options) {
    return purge({ client: this.api, path: { name: queue }, body: given(options) });
  }
  /** Runs a process at once and gives back its value. Its error is thrown, with its code. */
  async call(process, input, { signal, ...options } = {}) {
    const { timeoutMs } = options;
    const body = { process, input: input ?? null, ...options };
    const patienceMs = timeoutMs === void 0 ? void 0 : timeoutMs + 1e4;
    return (await execute({ client: this.api, body, signal, ...patienceMs !== void 0 && { timeoutMs: patienceMs } })).value;
  }
  /** The same, with everything that the process says on its way. Leaving the loop early cancels the call. */
  async *frames(process, input, { signal, ...options } = {}) {
    const abort = new AbortController();
    try {
      const response = await this.api.sse.post({
        url: "/api/runner/execute",
        body: { process, input: input ?? null, ...options },
        signal: signal ? AbortSignal.any([signal, abort.signal]) : abort.signal
      });
      for await (const { event, data } of readEvents(response.body)) {
        yield { type: event, data: JSON.parse(data) };
        if (event === "result" || event === "error" || event === "cancelled") return;
      }
      throw new RiverrunError("UNREACHABLE", "the connection ended before the call did");
    } finally {
      abort.abort();
    }
  }
  /** Calls a process, hands each frame to `onFrame`, and gives back the value. */
  async callWith(process, input, onFrame, options) {
    for await (const frame of this.frames(process, input, options)) {
      onFrame(frame);
      if (frame.type === "result") return frame.data.value;
      if (frame.type === "error") throw revive(frame.data);
      if (frame.type === "cancelled") throw new CancelledError(frame.data.reason ?? "user");
    }
    throw new RiverrunError("INTERNAL", "the call ended without an outcome");
  }
  /** Starts a run of a flow. When this is answered the run is on disk. */
  start(flow, input, options) {
    return startRun({ client: this.api, path: { id: flow }, body: given({ input, ...options }) });
  }
  /** Starts a run and waits until it has ended, however it ends. */
  async startAndWait(flow, input, { timeoutMs, signal, ...options } = {}) {
    const startedMs = Date.now();
    const wait2 = Math.min(timeoutMs ?? longestWaitMs2, longestWaitMs2);
    const started2 = startRun({ client: this.api, path: { id: flow }, query: { wait: wait2 }, body: given({ input, ...options }), signal });
    const run = await started2;
    if (run.endedAt !== void 0) return run;
    const leftMs = timeoutMs === void 0 ? void 0 : Math.max(0, startedMs + timeoutMs - Date.now());
    return this.wait(run.runId, { ...leftMs !== void 0 && { timeoutMs: leftMs }, ...signal && { signal } });
  }
  run(runId) {
    return getRun({ client: this.api, path: { id: runId } });
  }
  runs(query) {
    return listRuns({ client: this.api, query: given(query) });
  }
  /** For good: what runs is asked to stop, what waits is removed, children follow. */
  cancel(runId, reason) {
    return cancelRun({ client: this.api, path: { id: runId }, body: given({ reason }) });
  }
  /** It begins no more steps until it is resumed; attempts that run are let finish. */
  pause(runId, reason) {
    return pauseRun({ client: this.api, path: { id: runId }, body: given({ reason }) });
  }
  resume(runId) {
    return resumeRun({ client: this.api, path: { id: runId } });
  }
  /** Starts the same again: with the same input or another one, in its own version or the `latest`. */
  rerun(runId, options) {
    return rerunRun({ client: this.api, path: { id: runId }, body: given(options) });
  }
  /** A new run that shares the past of this one up to the event `at`, or up to now. */
  fork(runId, options) {
    return forkRun({ client: this.api, path: { id: runId }, body: given(options) });
  }
  /** Deletes a run that has ended, with its stream. */
  deleteRun(runId) {
    return deleteRun({ client: this.api, path: { id: runId } });
  }
  /** The state now, or as it was after an event (its id) or at a time. */
  state(runId, options) {
    return runState({ client: this.api, path: { id: runId }, query: given(options) });
  }
  /** The attempts of steps that have ended, in the order in which they ended. */
  history(runId, query) {
    return runHistory({ client: this.api, path: { id: runId }, query: given(query) });
  }
  /** What one cause set in motion: the events of runs, jobs and triggers with this correlation id, in order of time. */
  story(correlationId, query) {
    return getStory({ client: this.api, path: { correlationId }, query: given(query) });
  }
  /** The number of events without a subscriber, by type. */
  unheard() {
    return getUnheard({ client: this.api });
  }
  /** How many wait for events and for callbacks, and how many events an expression has yet to judge. */
  awaits() {
    return getAwaitStats({ client: this.api });
  }
  /** The runs that its steps started. */
  children(runId, query) {
    return runChildren({ client: this.api, path: { id: runId }, query: given(query) });
  }
  /** Why a run or a job does not move, or what it does: each active visit and what it waits for. */
  why(runId) {
    return runWhy({ client: this.api, path: { id: runId } });
  }
  /** Resumes the step that waits for a callback: it continues with `payload`. `triggers.fire` starts a flow. */
  async fire(triggerId, payload, { secret } = {}) {
    const body = payload ?? {};
    const headers = secret === void 0 ? {} : { "x-riverrun-signature": await signature(secret, JSON.stringify(body)) };
    return resumeCallback({ client: this.api, path: { id: triggerId }, body, headers });
  }
  /** Waits until a run has ended, however it ends, over reconnects and restarts of the server. */
  async wait(runId, options = {}) {
    await ended(`run ${runId}`, options, (signal) => this.follow(runId, { follow: "until-end", types: [...finalTypes], signal }));
    return this.run(runId);
  }
  /** Emits an event into a run, a stream, or the global one. */
  emit(event) {
    return emitEvent({ client: this.api, body: event });
  }
  /** Appends events to a stream, all of them or none: to `webhook` `github`, or to `flow` and a run's id. */
  append(type, id, events) {
    return appendEvents({ client: this.api, path: { type, id }, body: events });
  }
  /** A page of what a run's stream holds. */
  events(runId, query) {
    return runEvents({ client: this.api, path: { id: runId }, query: given(query) });
  }
  /** A page of the stream with a full name, such as `nq:job:<jobId>` or `nq:global`. */
  streamEvents(stream, query) {
    return streamEvents({ client: this.api, path: { stream }, query: given(query) });
  }
  /** The events of a stream with a full name, such as `nq:flow:<runId>` or `nq:global`, as they happen. */
  subscribe(stream, options) {
    return subscribe((to) => followNamed({ ...to, client: this.api, path: { stream } }), options);
  }
  /**
   * All events of some kinds, of every run and stream, as they happen: `order.paid`, or `order` for
   * every `order.*`. The `cursor` of the last one that was seen leads to those after it.
   */
  onKind(kinds, options) {
    return onKind(this.api, kinds, options);
  }
  /** The events of a run as they happen. */
  follow(runId, options) {
    return subscribe((to) => followRun({ ...to, client: this.api, path: { id: runId } }), options);
  }
  /** A run after each of its events, until it ends. */
  watch(runId, options) {
    return followRun2(this.follow(runId, { ...options, follow: "until-end" }));
  }
  /** What the server can run, and what it cannot because its file does not load. */
  async processes() {
    return (await listProcesses({ client: this.api })).items;
  }
  version() {
    return version({ client: this.api });
  }
};
async function ended(what, { timeoutMs, signal }, open) {
  const limit = timeoutMs === void 0 ? void 0 : AbortSignal.timeout(timeoutMs);
  const signals = [signal, limit].filter((one) => one !== void 0);
  try {
    for await (const _ of open(AbortSignal.any(signals))) ;
  } catch (error) {
    if (!limit?.aborted || signal?.aborted) throw error;
    throw new RiverrunError("TIMEOUT", `${what} had not ended after ${timeoutMs} ms`);
  }
}

// src/live/trigger.ts
function emptyTrigger() {
  return { status: "registered", fired: 0, failed: 0 };
}
function reduceTrigger(trigger, event) {
  const { ts, correlationId } = event;
  const data = event.data ?? {};
  const next = { ...trigger, ...correlationId !== void 0 && { correlationId } };
  switch (event.type) {
    case "trigger.registered": {
      const { endedAt: _, type: __, ...rest } = next;
      return { ...rest, status: "registered", registeredAt: ts, ...data.type !== void 0 && { type: data.type } };
    }
    case "trigger.fired": {
      const { payload: _, ...rest } = next;
      const said = { ..."payload" in data && { payload: data.payload }, ...data.runId !== void 0 && { runId: data.runId } };
      return { ...rest, status: "fired", firedAt: ts, fired: trigger.fired + 1, ...said };
    }
    case "trigger.failed":
      return { ...next, failed: trigger.failed + 1 };
    case "trigger.timeout":
      return { ...next, status: "timeout", endedAt: ts };
    case "trigger.cancelled":
      return { ...next, status: "cancelled", endedAt: ts };
    default:
      return trigger;
  }
}
export {
  CancelledError,
  ExecutionOver,
  HttpError,
  NonRetriableError,
  RetryAfterError,
  Riverrun,
  RiverrunError,
  defineProcess,
  defineQueueConfig,
  defineQueueWorker,
  defineStep,
  emptyRun,
  emptyTrigger,
  followRun2 as followRun,
  isFinal,
  reduceEvents,
  reduceRun,
  reduceState,
  reduceTrigger,
  version2 as version
};
