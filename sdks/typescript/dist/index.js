import {
  deleteAt,
  setAt
} from "./shared/VXY63CDP.js";
import {
  CancelledError,
  ExecutionOver,
  NonRetriableError,
  RetryAfterError,
  RiverrunError,
  defineProcess,
  defineQueueConfig,
  defineQueueWorker,
  defineStep,
  isObject,
  revive,
  version
} from "./shared/3KI4WIRZ.js";

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
async function* followRun(events, from = emptyRun()) {
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

// src/client/transport.ts
var TookTooLong = class extends Error {
};
function overFetch(base, fetch) {
  return async ({ method, path: path2, headers, body, signal, timeoutMs }) => {
    const limit = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      const response = await fetch(base + path2, { method, headers, signal: either, ...body !== void 0 && { body } });
      return { status: response.status, statusText: response.statusText, text: await response.text() };
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw limit.aborted ? new TookTooLong("", { cause }) : cause;
    }
  };
}
var idleMs = 2e4;
var agents = /* @__PURE__ */ new Map();
function overNode(base) {
  const node = globalThis.process?.release?.name === "node" && !process.versions.bun && !process.versions.deno ? process : void 0;
  if (!node?.getBuiltinModule) return void 0;
  const { protocol, hostname, port, pathname } = parse(base);
  const http = node.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
  const agent = agents.get(protocol) ?? new http.Agent({ keepAlive: true, timeout: idleMs });
  agents.set(protocol, agent);
  const server = { agent, hostname: hostname.replace(/^\[|\]$/g, ""), ...port && { port } };
  const prefix = pathname.replace(/\/+$/, "");
  return ({ method, path: path2, headers, body, signal, timeoutMs }) => new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const request = http.request({ ...server, method, path: prefix + path2, headers });
    const timer = setTimeout(() => fail(new TookTooLong()), timeoutMs);
    const stop = signal && (() => fail(signal.reason));
    const finish = () => {
      clearTimeout(timer);
      if (stop) signal.removeEventListener("abort", stop);
    };
    const fail = (error) => {
      finish();
      reject(error);
      request.destroy();
    };
    if (stop) signal.addEventListener("abort", stop);
    request.on("error", fail);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => text += piece);
      response.on("error", fail);
      response.on("end", () => {
        finish();
        resolve({ status: response.statusCode ?? 0, statusText: response.statusMessage ?? "", text });
      });
    });
    request.end(body);
  });
}
function parse(base) {
  const url = URL.canParse(base) ? new URL(base) : void 0;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new RiverrunError("URL_INVALID", `${JSON.stringify(base)} is no URL of a server: it should look like http://127.0.0.1:4600`);
}

// src/client/http.ts
var HttpError = class extends RiverrunError {
  name = "HttpError";
  status;
  constructor(status, code, message, options) {
    super(code, message, options);
    this.status = status;
  }
};
var Http = class {
  #base;
  #headers;
  #fetch;
  #transport;
  #timeoutMs;
  constructor({ url = "http://127.0.0.1:4600", token, headers, timeoutMs = 3e4, ...rest }) {
    this.#base = String(url).replace(/\/+$/, "");
    this.#headers = { ...token && { authorization: `Bearer ${token}` }, ...headers };
    this.#fetch = rest.fetch ?? globalThis.fetch.bind(globalThis);
    this.#transport = (rest.fetch ? void 0 : overNode(this.#base)) ?? overFetch(this.#base, this.#fetch);
    this.#timeoutMs = timeoutMs;
  }
  get(path2, options) {
    return this.#json("GET", path2, void 0, options);
  }
  post(path2, body, options) {
    return this.postText(path2, JSON.stringify(body ?? {}), options);
  }
  /** A body that is JSON already. */
  postText(path2, json, options) {
    return this.#json("POST", path2, json, options);
  }
  patch(path2, body) {
    return this.#json("PATCH", path2, JSON.stringify(body));
  }
  delete(path2) {
    return this.#json("DELETE", path2);
  }
  /** An answer whose body is read as it comes: no time limit. */
  async open(method, path2, { query, body, headers, signal } = {}) {
    const init = {
      method,
      headers: this.#headersFor(body !== void 0, headers),
      ...body !== void 0 && { body: JSON.stringify(body) },
      ...signal && { signal }
    };
    let response;
    try {
      response = await this.#fetch(`${this.#base}${path2}${queryText(query)}`, init);
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw this.#unreachable(cause);
    }
    const { status, statusText } = response;
    if (!response.ok) throw failure({ status, statusText, text: await response.text().catch(() => "") });
    return response;
  }
  async #json(method, path2, body, { query, headers, signal, timeoutMs = this.#timeoutMs } = {}) {
    let answer;
    try {
      answer = await this.#transport({
        method,
        path: path2 + queryText(query),
        headers: this.#headersFor(body !== void 0, headers),
        body,
        signal,
        timeoutMs
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      if (cause instanceof TookTooLong) throw new RiverrunError("REQUEST_TIMEOUT", `${method} ${path2} took longer than ${timeoutMs} ms`, { cause });
      throw this.#unreachable(cause);
    }
    if (answer.status < 200 || answer.status > 299) throw failure(answer);
    return answer.text ? JSON.parse(answer.text) : void 0;
  }
  #headersFor(hasBody, more) {
    return { ...this.#headers, ...hasBody && { "content-type": "application/json" }, ...more };
  }
  #unreachable(cause) {
    return new RiverrunError("UNREACHABLE", `${this.#base} cannot be reached: ${reason(cause)}`, { cause });
  }
};
function failure({ status, statusText, text }) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    body = void 0;
  }
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const code = typeof error.code === "string" ? error.code : `HTTP_${status}`;
  const message = typeof error.message === "string" ? error.message : text.slice(0, 300) || statusText;
  return new HttpError(status, code, message, { details: error.details });
}
function reason(cause) {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error ? inner.message || String(inner.code) : String(inner);
}
function queryText(query) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === void 0) continue;
    params.set(key, Array.isArray(value) ? value.join(",") : value instanceof Date ? value.toISOString() : String(value));
  }
  return params.size ? `?${params}` : "";
}

// src/client/path.ts
function part(text) {
  return encodeURIComponent(text);
}

// src/client/flows.ts
var FlowsApi = class {
  #http;
  constructor(http) {
    this.#http = http;
  }
  /** The newest version of every flow. */
  async list() {
    return (await this.#http.get("/api/flows")).items;
  }
  get(id, query) {
    return this.#http.get(`/api/flows/${part(id)}`, { query: { ...query } });
  }
  /** The newest first. */
  async versions(id) {
    return (await this.#http.get(`/api/flows/${part(id)}/versions`)).items;
  }
  /** A definition is kept for ever under its id and version; the same again changes nothing. */
  register(definition) {
    return this.#http.post("/api/flows", definition);
  }
  /** What is wrong with a definition, if anything. Nothing is registered. */
  validate(definition) {
    return this.#http.post("/api/flows/validate", definition);
  }
  diagram(id, query) {
    return this.#http.get(`/api/flows/${part(id)}/diagram`, { query: { ...query } });
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
  add(path2, json) {
    let line = this.#lines.get(path2);
    if (!line) {
      line = new Line((json2) => this.#send(path2, json2), () => this.#lines.delete(path2));
      this.#lines.set(path2, line);
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
function onKind(http, kinds, options = {}) {
  return subscribe(http, "/api/events", options, { type: kinds });
}
async function* subscribe(http, path2, options = {}, more = {}) {
  const { from, follow, signal } = options;
  const types = options.types && [...options.types, ...follow === "until-end" ? finalTypes : []];
  let lastId;
  let retryMs = 1e3;
  let failures = 0;
  for (; ; ) {
    let isOver = false;
    let hasEnded = false;
    let reason2;
    try {
      const connection = connect(http, path2, {
        ...options,
        query: { ...more, from: lastId === void 0 ? from : void 0, ...types && { type: types }, follow },
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
      reason2 = error;
    }
    if (isOver) return;
    await wait(Math.min(retryMs * 2 ** Math.min(failures, 10), longestWaitMs) * (0.5 + Math.random() / 2), signal);
    failures += 1;
    options.onReconnect?.(reason2);
  }
}
function connect(http, path2, { query, lastId, onRetry, onId, signal, onMissed, idleMs: idleMs2 = 6e4 }) {
  return {
    wasEmpty: true,
    async *[Symbol.asyncIterator]() {
      const idle = new Idle(idleMs2, signal);
      try {
        const response = await http.open("GET", path2, {
          query,
          headers: { accept: "text/event-stream", ...lastId && { "last-event-id": lastId } },
          signal: idle.signal
        });
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
  #http;
  constructor(http) {
    this.#http = http;
  }
  list(query) {
    return this.#http.get("/api/triggers", { query: { ...query } });
  }
  get(id) {
    return this.#http.get(path(id));
  }
  create(trigger) {
    return this.#http.post("/api/triggers", trigger);
  }
  update(id, changes) {
    return this.#http.patch(path(id), changes);
  }
  /** The runs that it started go on. */
  async remove(id) {
    await this.#http.delete(path(id));
  }
  enable(id) {
    return this.#http.post(path(id, "enable"));
  }
  disable(id) {
    return this.#http.post(path(id, "disable"));
  }
  /** Starts a run of its flow with this input, whatever the trigger's type is. */
  fire(id, input, options) {
    return this.#http.post(path(id, "fire"), { input, ...options });
  }
  /** What became of it, the latest first. */
  history(id, query) {
    return this.#http.get(path(id, "history"), { query: { ...query } });
  }
  stats(id) {
    return this.#http.get(path(id, "stats"));
  }
};
var SchedulesApi = class {
  #http;
  constructor(http) {
    this.#http = http;
  }
  list(query) {
    return this.#http.get("/api/schedules", { query: { ...query } });
  }
  /**
   * Starts a run for each due time from `from` up to, not including, `to` for which there is none.
   * With `forgotten` also for those of so long ago that a run which there was may be deleted.
   */
  backfill(id, range) {
    return this.#http.post(`/api/schedules/${part(id)}/backfill`, range);
  }
};
function path(id, action) {
  return `/api/triggers/${part(id)}${action ? `/${action}` : ""}`;
}

// src/client/workers.ts
var WorkersApi = class {
  #http;
  constructor(http) {
    this.#http = http;
  }
  async list() {
    return (await this.#http.get("/api/workers")).items;
  }
  /** Gives it no more work, and lets it go when what it runs has ended or `graceMs` are over. */
  drain(id, options) {
    return this.#http.post(`/api/workers/${id}/drain`, options);
  }
};

// src/client/client.ts
var longestWaitMs2 = 2e4;
var Riverrun = class {
  flows;
  triggers;
  schedules;
  workers;
  #http;
  #gather;
  constructor(options = {}) {
    this.#http = new Http(options);
    this.#gather = new Gather((path2, json) => this.#http.postText(path2, json));
    this.flows = new FlowsApi(this.#http);
    this.triggers = new TriggersApi(this.#http);
    this.schedules = new SchedulesApi(this.#http);
    this.workers = new WorkersApi(this.#http);
  }
  /** When this is answered the job is on disk. Calls that are made side by side share requests. */
  async enqueue(queue, data, options) {
    const { name, create, ...rest } = options ?? {};
    const job = { name, data: data ?? null, ...Object.keys(rest).length && { options: rest } };
    return this.#gather.add(`/api/queues/${part(queue)}/jobs${create ? "?create=true" : ""}`, JSON.stringify(job));
  }
  /** All of them or none. */
  async enqueueMany(queue, jobs, options) {
    if (!jobs.length) return [];
    const added = this.#http.post(`/api/queues/${part(queue)}/jobs`, { jobs }, { query: { ...options } });
    return (await added).jobs;
  }
  job(jobId) {
    return this.#http.get(`/api/jobs/${part(jobId)}`);
  }
  /** A page may hold fewer jobs than `limit`, even none, although more follow: `nextCursor` says so. */
  jobs(queue, query) {
    return this.#http.get(`/api/queues/${part(queue)}/jobs`, { query: { ...query } });
  }
  /** Jobs of all queues, one queue after the other, or of `queue`. */
  findJobs(query = {}) {
    return this.#http.get("/api/jobs", { query: { queue: "*", ...query } });
  }
  /** The jobs that drive runs which have not ended; `stalled`: that were to move longer than a lease ago. */
  runJobs(query) {
    return this.#http.get("/api/jobs", { query: { ...query, stalled: query?.stalled ?? false } });
  }
  /** Lets a job that has ended wait again, from its first attempt on. */
  retryJob(jobId) {
    return this.#http.post(`/api/jobs/${part(jobId)}/retry`);
  }
  cancelJob(jobId, reason2) {
    return this.#http.post(`/api/jobs/${part(jobId)}/cancel`, { reason: reason2 });
  }
  /** Lets a delayed job begin now. */
  promoteJob(jobId) {
    return this.#http.post(`/api/jobs/${part(jobId)}/promote`);
  }
  /** Changes a job that has not begun. */
  updateJob(jobId, changes) {
    return this.#http.patch(`/api/jobs/${part(jobId)}`, changes);
  }
  /** Removes a job that does not run. */
  removeJob(jobId) {
    return this.#http.delete(`/api/jobs/${part(jobId)}`);
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
  /** What becomes of a job and what its handler says, as it happens. */
  followJob(jobId, options) {
    return subscribe(this.#http, `/api/events/job/${part(jobId)}/stream`, options);
  }
  /** What happens to the jobs of a queue from now on. Nothing of it is stored: see `onMissed`. */
  followQueue(queue, options) {
    return subscribe(this.#http, `/api/events/queue/${part(queue)}/stream`, options);
  }
  async queues() {
    return (await this.#http.get("/api/queues")).items;
  }
  queue(name) {
    return this.#http.get(`/api/queues/${part(name)}`);
  }
  pauseQueue(name) {
    return this.#http.post(`/api/queues/${part(name)}/pause`);
  }
  resumeQueue(name) {
    return this.#http.post(`/api/queues/${part(name)}/resume`);
  }
  /** Removes waiting jobs; with `delayed` also jobs that wait for their time. */
  clearQueue(name, options) {
    return this.#http.post(`/api/queues/${part(name)}/clear`, options);
  }
  /** The older name of `clearQueue`. */
  drainQueue(name, options) {
    return this.clearQueue(name, options);
  }
  /** Removes jobs that have ended. */
  cleanQueue(name, options) {
    return this.#http.post(`/api/queues/${part(name)}/clean`, options);
  }
  /** Jobs that have failed for good, newest first; those that `filter` names. */
  deadLetters(queue, { filter, ...page } = {}) {
    return this.#http.get(`/api/queues/${part(queue)}/dlq`, { query: { ...page, ...filter } });
  }
  /**
   * Lets dead letters wait again, from their first attempt on: those that had failed by now, each
   * once. What takes longer than a few seconds goes on in the background: `goesOn` is then true.
   */
  redrive(queue, options) {
    return this.#http.post(`/api/queues/${part(queue)}/dlq/redrive`, options);
  }
  purgeDeadLetters(queue, options) {
    return this.#http.post(`/api/queues/${part(queue)}/dlq/purge`, options);
  }
  /** Runs a process at once and gives back its value. Its error is thrown, with its code. */
  async call(process2, input, { signal, ...options } = {}) {
    const { timeoutMs } = options;
    const body = { process: process2, input: input ?? null, ...options };
    const patienceMs = timeoutMs === void 0 ? void 0 : timeoutMs + 1e4;
    return (await this.#http.post("/api/runner/execute", body, { signal, timeoutMs: patienceMs })).value;
  }
  /** The same, with everything that the process says on its way. Leaving the loop early cancels the call. */
  async *frames(process2, input, { signal, ...options } = {}) {
    const abort = new AbortController();
    try {
      const response = await this.#http.open("POST", "/api/runner/execute", {
        body: { process: process2, input: input ?? null, ...options },
        headers: { accept: "text/event-stream" },
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
  async callWith(process2, input, onFrame, options) {
    for await (const frame of this.frames(process2, input, options)) {
      onFrame(frame);
      if (frame.type === "result") return frame.data.value;
      if (frame.type === "error") throw revive(frame.data);
      if (frame.type === "cancelled") throw new CancelledError(frame.data.reason ?? "user");
    }
    throw new RiverrunError("INTERNAL", "the call ended without an outcome");
  }
  /** Starts a run of a flow. When this is answered the run is on disk. */
  start(flow, input, options) {
    return this.#http.post(`/api/flows/${part(flow)}/start`, { input, ...options });
  }
  /** Starts a run and waits until it has ended, however it ends. */
  async startAndWait(flow, input, { timeoutMs, signal, ...options } = {}) {
    const startedMs = Date.now();
    const wait2 = Math.min(timeoutMs ?? longestWaitMs2, longestWaitMs2);
    const path2 = `/api/flows/${part(flow)}/start`;
    const run = await this.#http.post(path2, { input, ...options }, { query: { wait: wait2 }, signal });
    if (run.endedAt !== void 0) return run;
    const leftMs = timeoutMs === void 0 ? void 0 : Math.max(0, startedMs + timeoutMs - Date.now());
    return this.wait(run.runId, { ...leftMs !== void 0 && { timeoutMs: leftMs }, ...signal && { signal } });
  }
  run(runId) {
    return this.#http.get(`/api/runs/${part(runId)}`);
  }
  runs(query) {
    return this.#http.get("/api/runs", { query: { ...query } });
  }
  /** For good: what runs is told to stop, what waits is removed, children follow. */
  cancel(runId, reason2) {
    return this.#http.post(`/api/runs/${part(runId)}/cancel`, { reason: reason2 });
  }
  /** It begins no more steps until it is resumed; attempts that run are let finish. */
  pause(runId, reason2) {
    return this.#http.post(`/api/runs/${part(runId)}/pause`, { reason: reason2 });
  }
  resume(runId) {
    return this.#http.post(`/api/runs/${part(runId)}/resume`);
  }
  /** Starts the same again: with the same input or another one, in its own version or the `latest`. */
  rerun(runId, options) {
    return this.#http.post(`/api/runs/${part(runId)}/rerun`, options);
  }
  /** A new run that shares the past of this one up to the event `at`, or up to now. */
  fork(runId, options) {
    return this.#http.post(`/api/runs/${part(runId)}/fork`, options);
  }
  /** Deletes a run that has ended, with its stream. */
  deleteRun(runId) {
    return this.#http.delete(`/api/runs/${part(runId)}`);
  }
  /** The state now, or as it was after an event (its id) or at a time. */
  state(runId, options) {
    return this.#http.get(`/api/runs/${part(runId)}/state`, { query: { ...options } });
  }
  /** The attempts of steps that have ended, in the order in which they ended. */
  history(runId, query) {
    return this.#http.get(`/api/runs/${part(runId)}/history`, { query: { ...query } });
  }
  /** What one cause set in motion: the events of runs, jobs and triggers with this correlation id, in order of time. */
  story(correlationId, query) {
    return this.#http.get(`/api/stories/${part(correlationId)}`, { query: { ...query } });
  }
  /** How many events there were that nobody reacts to, by kind. */
  unheard() {
    return this.#http.get("/api/events/unheard");
  }
  /** How many wait for events and at doors, and how many events an expression has yet to judge. */
  awaits() {
    return this.#http.get("/api/awaits");
  }
  /** The runs that its steps started. */
  children(runId, query) {
    return this.#http.get(`/api/runs/${part(runId)}/children`, { query: { ...query } });
  }
  /** Why a run or a job does not move, or what it does: each active visit and what it waits for. */
  why(runId) {
    return this.#http.get(`/api/runs/${part(runId)}/why`);
  }
  /** Opens the trigger that a step waits for: it goes on with `payload`. `triggers.fire` starts a flow. */
  async fire(triggerId, payload, { secret } = {}) {
    const body = payload ?? {};
    const headers = secret === void 0 ? {} : { "x-riverrun-signature": await signature(secret, JSON.stringify(body)) };
    return this.#http.post(`/api/triggers/${part(triggerId)}`, body, { headers });
  }
  /** Waits until a run has ended, however it ends, over reconnects and restarts of the server. */
  async wait(runId, options = {}) {
    await ended(`run ${runId}`, options, (signal) => this.follow(runId, { follow: "until-end", types: [...finalTypes], signal }));
    return this.run(runId);
  }
  /** Emits an event into a run, a stream, or the global one. */
  emit(event) {
    return this.#http.post("/api/events", event);
  }
  /** Appends events to a stream, all of them or none: to `webhook` `github`, or to `flow` and a run's id. */
  append(type, id, events) {
    return this.#http.post(`/api/events/${part(type)}/${part(id)}`, events);
  }
  /** A page of what a run's stream holds. */
  events(runId, query) {
    return this.#http.get(`/api/runs/${part(runId)}/events`, { query: { ...query } });
  }
  /** A page of the stream with a full name, such as `nq:job:<jobId>` or `nq:global`. */
  streamEvents(stream, query) {
    return this.#http.get(`/api/events/${part(stream)}`, { query: { ...query } });
  }
  /** The events of a stream with a full name, such as `nq:flow:<runId>` or `nq:global`, as they happen. */
  subscribe(stream, options) {
    return subscribe(this.#http, `/api/events/${part(stream)}/tail`, options);
  }
  /**
   * All events of some kinds, of every run and stream, as they happen: `order.paid`, or `order` for
   * every `order.*`. The `cursor` of the last one that was seen leads to those after it.
   */
  onKind(kinds, options) {
    return onKind(this.#http, kinds, options);
  }
  /** The events of a run as they happen. */
  follow(runId, options) {
    return subscribe(this.#http, `/api/runs/${part(runId)}/stream`, options);
  }
  /** A run as it stands after each of its events, until it ends. */
  watch(runId, options) {
    return followRun(this.follow(runId, { ...options, follow: "until-end" }));
  }
  /** What the server can run, and what it cannot because its file does not load. */
  async processes() {
    return (await this.#http.get("/api/processes")).items;
  }
  version() {
    return this.#http.get("/api/version");
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
  followRun,
  isFinal,
  reduceEvents,
  reduceRun,
  reduceState,
  reduceTrigger,
  version
};
