import {
  CancelledError,
  RiverrunError,
  definition,
  deleteAt,
  describe,
  getAt,
  isObject,
  revive,
  setAt
} from "./shared.js";

// src/testing/clock.ts
import { createRequire, syncBuiltinESMExports } from "node:module";
import { promisify } from "node:util";
var real = { setImmediate: globalThis.setImmediate, Date: globalThis.Date, now: performance.now.bind(performance) };
var require2 = createRequire(import.meta.url);
var FakeClock = class {
  #nowMs;
  #startMs;
  #lastId = 0;
  #timers = /* @__PURE__ */ new Map();
  #undo = [];
  constructor(now = 0) {
    this.#nowMs = this.#startMs = new real.Date(now).getTime();
  }
  get now() {
    return this.#nowMs;
  }
  /** Takes over `setTimeout`, `setInterval`, `Date`, `performance.now` and their modules. */
  install() {
    if (this.#undo.length) throw new Error("the clock is installed");
    const timers = {
      setTimeout: this.#setTimeout(),
      setInterval: (callback, ms, ...args) => this.#add(callback, ms, args, true),
      clearTimeout: (timer) => this.#clear(timer),
      clearInterval: (timer) => this.#clear(timer)
    };
    this.#replace(globalThis, { ...timers, Date: this.#date() });
    this.#replace(performance, { now: () => this.#nowMs - this.#startMs });
    this.#replace(require2("node:timers"), timers);
    this.#replace(require2("node:timers/promises"), { setTimeout: this.#sleep, setInterval: this.#ticks() });
    syncBuiltinESMExports();
    return this;
  }
  restore() {
    for (const undo of this.#undo.splice(0).reverse()) undo();
    this.#timers.clear();
    syncBuiltinESMExports();
  }
  /** Lets `ms` pass: fires every timer that comes due, in order, and lets promises settle. */
  async advance(ms) {
    const until = this.#nowMs + ms;
    await breathe();
    for (let timer = this.#next(until); timer; timer = this.#next(until)) {
      this.#fire(timer);
      await breathe();
    }
    this.#nowMs = until;
  }
  /** Lets time pass until a promise settles: from timer to timer, as far as there are any. */
  async run(promise) {
    let pending = true;
    const done = () => void (pending = false);
    promise.then(done, done);
    await breathe();
    while (pending) {
      const timer = this.#next(Infinity);
      if (timer) this.#fire(timer);
      await breathe();
    }
    return promise;
  }
  #next(untilMs) {
    let next;
    for (const timer of this.#timers.values()) {
      if (timer.atMs <= untilMs && (!next || timer.atMs < next.atMs)) next = timer;
    }
    return next;
  }
  #fire(timer) {
    this.#nowMs = Math.max(this.#nowMs, timer.atMs);
    if (timer.everyMs === void 0) this.#timers.delete(timer.id);
    else timer.atMs = this.#nowMs + timer.everyMs;
    timer.fire();
  }
  #add(callback, ms = 0, args = [], repeats = false) {
    const id = ++this.#lastId;
    const delayMs = Math.max(1, Number(ms) || 0);
    const fire = () => callback(...args);
    this.#timers.set(id, { id, atMs: this.#nowMs + delayMs, everyMs: repeats ? delayMs : void 0, fire });
    const handle = {
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => {
        const timer = this.#timers.get(id);
        if (timer) timer.atMs = this.#nowMs + delayMs;
        return handle;
      },
      close: () => this.#clear(id),
      [Symbol.toPrimitive]: () => id
    };
    return handle;
  }
  #clear(timer) {
    if (timer !== void 0 && timer !== null) this.#timers.delete(Number(timer));
  }
  #setTimeout() {
    const set = (callback, ms, ...args) => this.#add(callback, ms, args);
    return Object.assign(set, { [promisify.custom]: this.#sleep });
  }
  #sleep = (ms, value, { signal } = {}) => new Promise((resolve, reject) => {
    const stop = () => {
      this.#clear(timer);
      reject(new DOMException("The operation was aborted", "AbortError"));
    };
    const timer = this.#add(() => {
      signal?.removeEventListener("abort", stop);
      resolve(value);
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
  #ticks() {
    const sleep = this.#sleep;
    return async function* (ms, value, options) {
      for (; ; ) yield await sleep(ms, value, options);
    };
  }
  #date() {
    const now = () => this.#nowMs;
    const Fake = function(...args) {
      if (!new.target) return new real.Date(now()).toString();
      return Reflect.construct(real.Date, args.length ? args : [now()], new.target === Fake ? real.Date : new.target);
    };
    Object.setPrototypeOf(Fake, real.Date);
    Object.defineProperty(Fake, "prototype", { value: real.Date.prototype });
    return Object.assign(Fake, { now });
  }
  #replace(target, members) {
    for (const [name, value] of Object.entries(members)) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: before?.enumerable ?? true });
      this.#undo.push(() => {
        if (before) Object.defineProperty(target, name, before);
        else delete target[name];
      });
    }
  }
};
function fakeClock(now) {
  return new FakeClock(now).install();
}
async function breathe() {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => real.setImmediate(resolve));
}

// src/ctx/journal.ts
var Journal = class {
  #memos = /* @__PURE__ */ new Map();
  constructor(records) {
    for (const { op, name, ...memo } of records) {
      if (op !== "memo" || name === void 0) continue;
      const memos = this.#memos.get(name);
      if (memos) memos.push(memo);
      else this.#memos.set(name, [memo]);
    }
  }
  /** The record for the next use of a name; undefined once they are used up. */
  next(name) {
    return this.#memos.get(name)?.shift();
  }
};

// src/ctx/link.ts
function linkOfJob(link, jobId) {
  return {
    request: (method, params) => link.request(method, { jobId, ...params }),
    notify: (method, params) => link.notify(method, { jobId, ...params })
  };
}

// src/ctx/logger.ts
var order = { debug: 0, info: 1, warn: 2, error: 3 };
var LinkLogger = class _LinkLogger {
  #link;
  #settings;
  #bindings;
  constructor(link, settings, bindings) {
    this.#link = link;
    this.#settings = settings;
    this.#bindings = bindings;
  }
  debug = (message, meta) => this.#log("debug", message, meta);
  info = (message, meta) => this.#log("info", message, meta);
  warn = (message, meta) => this.#log("warn", message, meta);
  error = (message, meta) => this.#log("error", message, meta);
  child = (bindings) => new _LinkLogger(this.#link, this.#settings, { ...this.#bindings, ...bindings });
  #log(level, message, meta) {
    const { redact, level: lowest } = this.#settings;
    if (order[level] < order[lowest]) return;
    const all = this.#bindings && meta ? { ...this.#bindings, ...meta } : meta ?? this.#bindings;
    const line = { level, message: String(message) };
    if (all !== void 0) line.meta = redact(all);
    this.#link.notify("log", line);
  }
};

// src/ctx/state.ts
var LinkState = class {
  #link;
  constructor(link) {
    this.#link = link;
  }
  get = async (key) => (await this.#link.request("state.get", { key })).value;
  has = async (key) => (await this.#link.request("state.has", { key })).has;
  getAll = async () => (await this.#link.request("state.getAll", {})).state;
  set = async (key, value) => {
    if (value === void 0) throw new TypeError(`state.set(${JSON.stringify(key)}) needs a value; state.delete removes one`);
    await this.#link.request("state.set", { key, value });
  };
  delete = async (key) => {
    await this.#link.request("state.delete", { key });
  };
  setBatch = async (values) => {
    await this.#link.request("state.setBatch", { values });
  };
  patch = (first, second, third) => typeof first === "string" ? retrying(third, () => this.#patchKey(first, second)) : retrying(second, () => this.#patchAll(first));
  async #patchKey(key, change) {
    const { value: before, version } = await this.#link.request("state.get", { key });
    const value = await change(before);
    if (value !== void 0) await this.#link.request("state.set", { key, value, ifVersion: version });
    return value;
  }
  async #patchAll(change) {
    const { state, version } = await this.#link.request("state.getAll", {});
    const values = await change(state);
    if (values !== void 0) await this.#link.request("state.setBatch", { values, ifVersion: version });
    return values;
  }
};
async function retrying(options, attempt) {
  const retries = options?.retries ?? 100;
  for (let tried = 0; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const conflict = error instanceof RiverrunError && error.code === "STATE_CONFLICT";
      if (!conflict || tried >= retries) throw error;
      if (tried >= 3) await pause(Math.random() * Math.min(2 ** tried, 200));
    }
  }
}
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// src/ctx/invocation.ts
var InvocationContext = class _InvocationContext {
  #link;
  #params;
  #settings;
  #batch;
  #jobs;
  #state;
  #logger;
  #journal;
  #checkpoint;
  #abort;
  #cancelled;
  /** `batch` is the context of the batch to which this job belongs. */
  constructor(link, params, settings, batch) {
    this.#link = link;
    this.#params = params;
    this.#settings = settings;
    this.#batch = batch;
  }
  get state() {
    return this.#state ??= new LinkState(this.#link);
  }
  get logger() {
    return this.#logger ??= new LinkLogger(this.#link, this.#settings);
  }
  get signal() {
    if (this.#batch) return this.#batch.signal;
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#cancelled) this.#abort.abort(this.#cancelled);
    }
    return this.#abort.signal;
  }
  get checkpoint() {
    return this.#checkpoint ??= checkpoint(this.#link, this.#params.checkpoint ?? void 0);
  }
  get kind() {
    return this.#params.kind ?? "job";
  }
  get process() {
    return this.#params.process;
  }
  get jobId() {
    return this.#params.jobId ?? void 0;
  }
  get queueName() {
    return this.#params.queue ?? void 0;
  }
  get runId() {
    return this.#params.runId ?? void 0;
  }
  get flow() {
    return this.#params.flow ?? void 0;
  }
  get step() {
    return this.#params.step ?? void 0;
  }
  get tenantId() {
    return this.#params.tenantId ?? void 0;
  }
  get attempt() {
    return this.#params.attempt ?? 1;
  }
  get maxAttempts() {
    return this.#params.maxAttempts ?? 1;
  }
  get timeoutMs() {
    return this.#params.timeoutMs ?? void 0;
  }
  job = (which) => {
    const { jobs = [this.#params] } = this.#params;
    const at = typeof which === "number" ? which : jobs.findIndex((job3) => job3.jobId === which);
    const job2 = jobs[at];
    if (!job2) throw new RangeError(`this invocation has no job ${JSON.stringify(which)}; it has ${jobs.length}`);
    if (!this.#params.jobs) return this;
    this.#jobs ??= [];
    return this.#jobs[at] ??= this.#contextOf(job2);
  };
  correlationId = () => this.#params.correlationId ?? this.#params.runId ?? this.#params.jobId ?? void 0;
  causationId = () => this.#params.causationId ?? void 0;
  emit = async (event, data) => {
    const params = typeof event === "string" ? { type: event, data } : { type: event.type, data: event.data };
    return (await this.#link.request("emit", params)).id;
  };
  progress = (pct, detail) => {
    if (!Number.isFinite(pct)) throw new TypeError(`progress must be a number from 0 to 100, is ${pct}`);
    this.#link.notify("progress", { pct: Math.min(100, Math.max(0, pct)), detail });
  };
  partial = (value, path) => this.#link.notify("partial", { path, value: value ?? null });
  run = async (name, fn) => {
    this.#journal ??= new Journal(this.#params.journal ?? []);
    const memo = this.#journal.next(name);
    if (memo?.error) throw revive(memo.error);
    if (memo) return memo.value ?? null;
    const value = json(name, await this.#outcome(name, fn));
    await this.#link.request("memo", { name, value });
    return value;
  };
  call = async (process, input, options) => (await this.#link.request("call", { process, input: input ?? null, ...options })).value;
  enqueue = async (to, data, options) => {
    if (typeof to !== "string") return (await this.#link.request("enqueue", { jobs: to })).jobs;
    const { name, ...rest } = options ?? {};
    const job2 = { queue: to, name, data: data ?? null };
    if (Object.keys(rest).length) job2.options = rest;
    return (await this.#link.request("enqueue", job2)).jobs[0];
  };
  start = async (flow, input, options) => this.#link.request("start", { flow, input: input ?? {}, options });
  isLeaseValid = async () => (await this.#link.request("lease", {})).valid === true;
  /** Why the invocation is to stop; undefined while it is not. */
  get cancelled() {
    return this.#cancelled;
  }
  cancel(reason) {
    if (this.#cancelled) return;
    this.#cancelled = new CancelledError(reason);
    this.#abort?.abort(this.#cancelled);
  }
  #contextOf(job2) {
    const { jobs, ...shared } = this.#params;
    return new _InvocationContext(linkOfJob(this.#link, job2.jobId ?? ""), { ...shared, ...job2 }, this.#settings, this);
  }
  async #outcome(name, fn) {
    try {
      return await fn();
    } catch (error) {
      const failure = describe(error);
      if (failure.retriable === false && !(error instanceof CancelledError)) {
        await this.#link.request("memo", { name, error: failure });
      }
      throw error;
    }
  }
};
function checkpoint(link, first) {
  let data = first;
  return {
    get data() {
      return data;
    },
    async save(next) {
      await link.request("checkpoint", { data: next });
      data = next;
    }
  };
}
function json(name, value) {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null");
  } catch (cause) {
    throw new RiverrunError("RESULT_NOT_JSON", `what run(${JSON.stringify(name)}) gave is not JSON: ${cause.message}`, { cause });
  }
}

// src/ctx/redact.ts
var secrets = ["password", "passwd", "passphrase", "secret", "token", "authorization", "apikey", "privatekey", "cookie", "credentials"];
var deepest = 8;
function redactor(more = []) {
  const words = [...secrets, ...more].map(plain);
  const known = /* @__PURE__ */ new Map();
  const isSecret = (key) => {
    let answer = known.get(key);
    if (answer === void 0) {
      const name = plain(key);
      answer = words.some((word) => name.endsWith(word));
      if (known.size < 1e3) known.set(key, answer);
    }
    return answer;
  };
  return (meta) => clean(meta, isSecret, []);
}
function clean(value, isSecret, around) {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "function" || typeof value === "symbol") return void 0;
  if (typeof value !== "object" || value === null) return value;
  if (around.includes(value)) return "[circular]";
  if (around.length === deepest) return "[deep]";
  const inside = [...around, value];
  if (value instanceof Error) return clean(errorMembers(value), isSecret, inside);
  if (value instanceof Map) return clean(Object.fromEntries(value), isSecret, inside);
  if (value instanceof Set) return clean([...value], isSecret, inside);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if ("toJSON" in value && typeof value.toJSON === "function") return clean(value.toJSON(), isSecret, inside);
  if (Array.isArray(value)) return value.map((item) => clean(item, isSecret, inside) ?? null);
  const copy2 = {};
  for (const [key, member] of Object.entries(value)) {
    copy2[key] = member != null && isSecret(key) ? "[redacted]" : clean(member, isSecret, inside);
  }
  return copy2;
}
function errorMembers(error) {
  const { name, message, stack, cause } = error;
  return { ...error, name, message, stack, cause };
}
function plain(key) {
  return key.toLowerCase().replace(/[-_\s]/g, "");
}

// src/testing/state-check.ts
function stateIssues(check, state) {
  if (!check) return [];
  if (!("~standard" in check)) return check(state);
  const { validate } = check["~standard"];
  const outcome = validate(state);
  if (outcome instanceof Promise) throw new TypeError("a state schema must not be asynchronous");
  const issues = (outcome.issues ?? []).map(({ message, path = [] }) => ({
    path: path.map((part) => String(isObject(part) ? part.key : part)),
    message
  }));
  return issues.filter(({ path }) => path[0] === void 0 || path[0] in state).map(({ path, message }) => ({ path: path.join("."), message }));
}

// src/testing/memory.ts
var Memory = class {
  logs = [];
  events = [];
  progress = [];
  partials = [];
  enqueued = [];
  calls = [];
  started = [];
  journal;
  state;
  checkpoint;
  ended = false;
  #version = 0;
  #conflicts;
  #options;
  constructor(options) {
    this.#options = options;
    this.state = copy(options.state ?? {});
    this.journal = copy(options.journal ?? []);
    this.checkpoint = options.checkpoint;
    this.#conflicts = options.conflicts ?? 0;
  }
  /** Like the wire, it lets nothing through but JSON, and gives copies. */
  async request(method, params) {
    if (this.ended) throw new RiverrunError("INVOCATION_ENDED", `${method} came after the handler had ended`);
    const answer = this.#answers[method];
    if (!answer) throw new RiverrunError("INTERNAL", `the test kit does not know ${method}`);
    return copy(await answer(copy(params)));
  }
  notify(method, params) {
    if (this.ended) return;
    const said = copy(params);
    if (method === "log") this.logs.push(said);
    else if (method === "progress") this.progress.push(said);
    else if (method === "partial") this.partials.push(said);
  }
  #answers = {
    "state.get": ({ key }) => ({ value: getAt(this.state, key), version: this.#version }),
    "state.has": ({ key }) => ({ has: getAt(this.state, key) !== void 0 }),
    "state.getAll": () => ({ state: this.state, version: this.#version }),
    "state.set": ({ key, value, ifVersion }) => this.#write(setAt(this.state, key, value), ifVersion),
    "state.delete": ({ key, ifVersion }) => this.#write(deleteAt(this.state, key), ifVersion),
    "state.setBatch": ({ values, ifVersion }) => {
      const next = Object.entries(values).reduce((state, [key, value]) => setAt(state, key, value), this.state);
      return this.#write(next, ifVersion);
    },
    emit: ({ type, data }) => {
      const id = `${Date.now()}-${this.events.length}`;
      this.events.push({ id, type, data });
      return { id };
    },
    memo: ({ name, value, error }) => {
      this.journal.push(error ? { op: "memo", name, error } : { op: "memo", name, value });
      return {};
    },
    checkpoint: ({ data }) => {
      this.checkpoint = data;
      return {};
    },
    enqueue: ({ jobs, ...job2 }) => ({ jobs: (jobs ?? [job2]).map((one) => this.#enqueue(one)) }),
    call: (params) => this.#call(params),
    start: ({ flow, input, options }) => {
      const runId = options?.runId ?? `run-${this.started.length + 1}`;
      this.started.push({ flow, input, options, runId });
      return { runId, created: true };
    },
    lease: () => ({ valid: this.#options.leaseValid ?? true, untilMs: Date.now() + 3e4 })
  };
  #write(next, ifVersion) {
    if (ifVersion !== void 0 && this.#conflicts > 0) {
      this.#conflicts -= 1;
      this.#version += 1;
    }
    if (ifVersion !== void 0 && ifVersion !== this.#version) {
      throw new RiverrunError("STATE_CONFLICT", "the state has moved on", { details: { version: this.#version } });
    }
    const issues = stateIssues(this.#options.stateSchema, next);
    if (issues.length) {
      const { path, message } = issues[0];
      throw new RiverrunError("STATE_INVALID", `state.${path}: ${message}`, { details: { issues } });
    }
    this.state = next;
    this.#version += 1;
    return { version: this.#version };
  }
  #enqueue(job2) {
    const options = job2.options ?? {};
    const same = this.enqueued.find((other) => isSameJob(other, job2.queue, options));
    if (same) return { jobId: same.jobId, created: false };
    const jobId = options.jobId ?? `job-${this.enqueued.length + 1}`;
    this.enqueued.push({ ...job2, jobId });
    return { jobId, created: true };
  }
  async #call(call) {
    this.calls.push(call);
    const answer = this.#options.calls?.[call.process];
    if (!answer) throw new RiverrunError("PROCESS_NOT_FOUND", `no process is called ${call.process}; give one in calls`);
    return { value: await answer(call.input) ?? null };
  }
};
function isSameJob({ jobId, queue, options }, to, wanted) {
  if (wanted.jobId !== void 0 && jobId === wanted.jobId) return true;
  return queue === to && wanted.idempotencyKey !== void 0 && options?.idempotencyKey === wanted.idempotencyKey;
}
function copy(value) {
  return value === void 0 ? value : JSON.parse(JSON.stringify(value));
}

// src/testing/execute.ts
function createTestContext(options = {}) {
  const memory = new Memory(memoryOptions(options));
  const context = contextOf([memory], options, void 0);
  return {
    ...effects(memory),
    ctx: context,
    cancel: (reason = "user") => context.cancel(reason),
    get state() {
      return memory.state;
    },
    get checkpoint() {
      return memory.checkpoint;
    }
  };
}
async function execute(executable, input, given = {}) {
  const handler = typeof executable === "function" ? executable : executable.default;
  const defined = definition(handler);
  const exported = typeof executable === "function" ? void 0 : executable.config;
  const options = { ...given, config: { ...defined?.config, ...exported, ...given.config } };
  const count = isBatch(options, input) ? Math.max(1, input.length) : 1;
  const memories = Array.from({ length: count }, () => new Memory(memoryOptions(options)));
  const memory = memories[0];
  const ctx = contextOf(memories, options, input);
  const first = defined?.takes === "job" ? jobArgument(input, options) : input;
  const timer = options.timeoutMs === void 0 ? void 0 : setTimeout(() => ctx.cancel("timeout"), options.timeoutMs);
  const onAbort = () => ctx.cancel("user");
  options.signal?.addEventListener("abort", onAbort);
  try {
    const running = settled(Promise.resolve().then(() => handler(first, ctx)), ctx);
    const outcome = await (options.clock ? options.clock.run(running) : running);
    const execution = finished(memory, options, outcome);
    return isBatch(options, input) ? { ...execution, jobs: memories.map(kept) } : execution;
  } finally {
    for (const one of memories) one.ended = true;
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}
async function settled(running, ctx) {
  try {
    const value = await running;
    return { status: "completed", value: value === void 0 ? null : value };
  } catch (error) {
    const stopped = error instanceof CancelledError || ctx.cancelled && error instanceof Error && error.name === "AbortError";
    return { status: stopped ? "cancelled" : "failed", error };
  }
}
function finished(memory, options, outcome) {
  return { ...outcome, ...kept(memory), attempt: attemptOf(options) };
}
function kept(memory) {
  const { state, checkpoint: checkpoint2, journal } = memory;
  return { ...effects(memory), state, checkpoint: checkpoint2, journal };
}
function isBatch(options, input) {
  return options.config?.batch !== void 0 && Array.isArray(input);
}
function effects({ logs, events, progress, partials, enqueued, calls, started }) {
  return { logs, events, progress, partials, enqueued, calls, started };
}
function memoryOptions(options) {
  const { after, config } = options;
  const schema = options.stateSchema ?? standard(config?.state);
  return {
    ...after && { state: after.state, journal: after.journal, checkpoint: after.checkpoint },
    ...options,
    stateSchema: schema
  };
}
function standard(schema) {
  return isObject(schema) && "~standard" in schema ? schema : void 0;
}
var BatchMemory = class {
  constructor(memories) {
    this.memories = memories;
  }
  request(method, { jobId, ...params }) {
    return this.#of(jobId).request(method, params);
  }
  notify(method, { jobId, ...params }) {
    this.#of(jobId).notify(method, params);
  }
  #of(jobId) {
    const at = typeof jobId === "string" ? Number(jobId.slice(jobId.lastIndexOf("-") + 1)) : 0;
    return this.memories[at];
  }
};
function contextOf(memories, options, input) {
  const memory = memories[0];
  const { jobId = "job-0", runId = "run-0", correlationId, causationId, tenantId, timeoutMs, enqueuedAt } = options;
  const params = {
    file: "",
    kind: "job",
    jobId,
    queue: queueOf(options),
    input,
    attempt: attemptOf(options),
    maxAttempts: maxAttemptsOf(options),
    runId,
    correlationId,
    causationId,
    tenantId,
    checkpoint: memory.checkpoint,
    journal: memory.journal,
    timeoutMs,
    enqueuedAt
  };
  if (isBatch(options, input)) {
    params.jobs = input.map((one, at) => ({ jobId: `${jobId}-${at}`, input: one, attempt: params.attempt, maxAttempts: params.maxAttempts }));
  }
  const { level = "debug", redact } = options.config?.logger ?? {};
  const link = params.jobs ? new BatchMemory(memories) : memory;
  return new InvocationContext(link, params, { level, redact: redactor(redact) });
}
function jobArgument(input, options) {
  const { jobId = "job-0" } = options;
  if (!options.config?.batch) return job(input, jobId, options);
  if (!Array.isArray(input)) throw new TypeError("the config has batch: give a list of inputs");
  return input.map((one, index) => job(one, `${jobId}-${index}`, options));
}
function job(data, id, options) {
  const queue = queueOf(options);
  return {
    id,
    name: options.name ?? queue,
    queue,
    data,
    attempt: attemptOf(options),
    maxAttempts: maxAttemptsOf(options),
    enqueuedAt: options.enqueuedAt ?? (/* @__PURE__ */ new Date()).toISOString()
  };
}
function queueOf({ queue, config }) {
  const named = config?.queue;
  return queue ?? (typeof named === "object" ? named.name : named) ?? "test";
}
function attemptOf({ attempt, after }) {
  return attempt ?? (after ? after.attempt + 1 : 1);
}
function maxAttemptsOf({ maxAttempts, config }) {
  return maxAttempts ?? config?.retryPolicy?.attempts ?? 1;
}
export {
  FakeClock,
  createTestContext,
  execute,
  fakeClock
};
