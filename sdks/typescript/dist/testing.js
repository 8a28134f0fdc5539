import {
  deleteAt,
  getAt,
  setAt
} from "./shared/VU7GM5H6.js";
import {
  InvocationContext,
  Invocations,
  NotAMessage,
  Session,
  configJson,
  durationMs,
  parserOf,
  processesOf,
  redactor,
  valueText
} from "./shared/ELTVVMNO.js";
import {
  definition,
  describe,
  protocolVersion,
  recordOf,
  revive,
  version
} from "./shared/EEZBG35O.js";
import {
  CancelledError,
  RiverrunError,
  isObject
} from "./shared/5JBL45P5.js";

// src/testing/clock.ts
import { createRequire, syncBuiltinESMExports } from "node:module";
import { promisify } from "node:util";
var real = { setImmediate: globalThis.setImmediate, Date: globalThis.Date, now: performance.now.bind(performance) };
var installed;
var require2 = createRequire(import.meta.url);
var FakeClock = class {
  #nowMs;
  #startMs;
  #lastId = 0;
  /** Called when a timer is set. */
  onTimer = () => {
  };
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
    if (installed) throw new Error("a fake clock is in charge already: give it as clock, or restore it first");
    installed = this;
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
    if (installed === this) installed = void 0;
    for (const undo of this.#undo.splice(0).reverse()) undo();
    this.#timers.clear();
    syncBuiltinESMExports();
  }
  /** It is this late at once, and never earlier than it was. Timers that are due fire when somebody waits. */
  jump(toMs) {
    this.#nowMs = Math.max(this.#nowMs, toMs);
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
  /** When the next timer is due; undefined if there is none. */
  nextTimerMs() {
    return this.#next(Infinity)?.atMs;
  }
  fireNext() {
    const timer = this.#next(Infinity);
    if (timer) this.#fire(timer);
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
    this.onTimer();
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
  #replace(target, members3) {
    for (const [name, value] of Object.entries(members3)) {
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

// src/testing/emitted.ts
var reserved = /* @__PURE__ */ new Set(["flow", "step", "job", "call", "state", "log", "trigger", "worker"]);
var limit = 1024 * 1024;
var minSecretBytes = 8;
function checkEvent(type, data) {
  const topic = type === "emit" ? data?.topic ?? data?.name ?? data?.kind : void 0;
  for (const kind of [type, topic]) if (typeof kind === "string") checkKind(kind);
  checkBytes("event", data);
}
function checkBytes(what, data) {
  const bytes = data === void 0 ? 0 : Buffer.byteLength(JSON.stringify(data));
  if (bytes > limit) refuse("TOO_LARGE", `the ${what} has ${bytes} bytes; it may have ${limit}`);
}
function checkSecret(secret) {
  if (secret !== void 0 && Buffer.byteLength(secret) < minSecretBytes) refuse("INPUT_ERROR", `the secret of a callback has fewer than ${minSecretBytes} bytes`);
}
function checkKind(kind) {
  if (!/^[A-Za-z0-9._:/-]{1,128}$/.test(kind)) refuse("BAD_EVENT", `${JSON.stringify(kind)} is no type of event`);
  if (reserved.has(kind.split(".")[0])) refuse("RESERVED_TYPE", `only the server may write events of the type ${JSON.stringify(kind)}`);
}
function refuse(code, message) {
  throw new RiverrunError(code, message, { retriable: false });
}

// src/testing/retry.ts
var defaults = { maxAttempts: 3, backoffMs: 1e3, backoffMultiplier: 2, maxBackoffMs: 6e4 };
function canonicalRetry(policy) {
  const { attempts, backoff, retriableErrors, ...retry } = policy ?? {};
  const isFixed = backoff?.type === "fixed";
  return {
    ...attempts !== void 0 && { maxAttempts: attempts },
    ...retriableErrors && { retryOn: retriableErrors },
    ...backoff && {
      backoffMs: backoff.delayMs,
      backoffMultiplier: isFixed ? 1 : 2,
      maxBackoffMs: backoff.maxDelayMs ?? (isFixed ? backoff.delayMs : Math.max(defaults.maxBackoffMs, backoff.delayMs))
    },
    ...retry.backoffMs !== void 0 && { backoffMultiplier: defaults.backoffMultiplier, maxBackoffMs: defaults.maxBackoffMs },
    ...retry
  };
}
function mostAttempts(policy) {
  return Math.max(1, canonicalRetry(policy).maxAttempts ?? defaults.maxAttempts);
}
function retryDelayMs(policy, failure, failures) {
  if (failure.retriable === false || failures >= mostAttempts(policy)) return void 0;
  const named = [failure.code, failure.name];
  const { retryOn, backoffMs, backoffMultiplier, maxBackoffMs } = { ...defaults, ...canonicalRetry(policy) };
  if (retryOn && !retryOn.some((error) => named.includes(error))) return void 0;
  if (failure.retryAfterMs !== void 0) return failure.retryAfterMs;
  return Math.min(backoffMs * backoffMultiplier ** (failures - 1), maxBackoffMs);
}

// src/testing/schemas.ts
var members = { input: "inputSchema", output: "outputSchema", state: "state" };
async function checksOf(config = {}, schemas = true) {
  const checks = {};
  if (!schemas) return checks;
  checks.parse = parserOf(config.inputSchema);
  for (const [name, member] of Object.entries(members)) {
    if (config[member] !== void 0) checks[name] = await compiled(member, config[member]);
  }
  return checks;
}
var known = /* @__PURE__ */ new WeakMap();
function compiled(member, schema) {
  if (typeof schema !== "object" && typeof schema !== "function") return compile(member, schema);
  let check = known.get(schema);
  if (!check) known.set(schema, check = compile(member, schema));
  return check;
}
async function compile(member, schema) {
  const { [member]: json } = await configJson({ [member]: schema }, `${process.cwd()}/`);
  const { compile: compile2 } = await import("./shared/json-schema.mjs");
  try {
    return compile2(json);
  } catch (error) {
    throw new RiverrunError("PROCESS_INVALID", `config.${member} is no JSON Schema: ${error.message}`, { retriable: false });
  }
}
function checkInput({ input: check }, input, what = "the input") {
  refuse2("INPUT_INVALID", `${what} breaks the schema`, check?.(asJson(input)));
}
async function givenInput(checks, input, what) {
  checkInput(checks, input, what);
  return checks.parse ? await checks.parse(asJson(input)) : input;
}
var resultBytes = 1024 * 1024;
function checkOutput({ output: check }, value, what = "the result") {
  valueText(value, resultBytes);
  refuse2("OUTPUT_INVALID", `${what} breaks the output schema`, check?.(asJson(value)));
  return value;
}
function issueText({ path, message }) {
  return path ? ` at ${JSON.stringify(path)}: ${message}` : `: ${message}`;
}
function refuse2(code, what, issues = []) {
  const [first] = issues;
  if (first) throw new RiverrunError(code, what + issueText(first), { retriable: false, details: { issues } });
}
function asJson(value) {
  return JSON.parse(valueText(value, Infinity));
}

// src/testing/state-check.ts
function writeCheck(given, schema) {
  if (given) return (_, after) => stateIssues(given, after);
  if (schema) return (before, after) => newIssues(schema, before, after);
  return () => [];
}
function newIssues(schema, before, after) {
  const issues = schema(after).filter(({ path, rule }) => rule !== "required" || path.includes("."));
  if (!issues.length) return issues;
  const old = new Set(schema(before).map((issue) => JSON.stringify(issue)));
  return issues.filter((issue) => !old.has(JSON.stringify(issue)));
}
function stateIssues(check, state) {
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
var Callbacks = class {
  #known = /* @__PURE__ */ new Map();
  made(id, isForMany, expiresMs) {
    this.#known.set(id, { isForMany, isUsed: false, expiresMs });
  }
  used(id) {
    const callback = this.#known.get(id);
    if (callback) callback.isUsed = true;
  }
  /** Whether it can no longer be resumed. */
  isUsed(id) {
    const callback = this.#known.get(id);
    return callback !== void 0 && callback.isUsed && !callback.isForMany;
  }
  expiresMs(id) {
    return this.#known.get(id)?.expiresMs;
  }
};
var Store = class {
  state;
  version = 0;
  triggers = /* @__PURE__ */ new Map();
  callbacks = new Callbacks();
  constructor(state = {}) {
    this.state = copy(state);
  }
  makeTrigger(type, payload) {
    const id = `trigger-${this.triggers.size + 1}`;
    const place = type === "user" ? "approve" : "api/triggers";
    const trigger = { id, url: `http://127.0.0.1:4600/${place}/${id}`, type, payload };
    this.triggers.set(id, trigger);
    return trigger;
  }
};
var inPlaceMs = 5e3;
function operationKey(op, name, nth = 1) {
  return `${nth} ${op} ${name}`;
}
function policyOf(config, said) {
  const policy = canonicalRetry(config);
  if (said === void 0 || said === null) return policy;
  if (said === false) return { ...policy, maxAttempts: 1 };
  return typeof said === "number" ? { ...policy, maxAttempts: said } : { ...policy, ...canonicalRetry(said) };
}
var writes = /* @__PURE__ */ new Set(["state.set", "state.delete", "state.setBatch"]);
var Memory = class {
  logs = [];
  events = [];
  progress = [];
  partials = [];
  enqueued = [];
  calls = [];
  started = [];
  journal;
  /** Tries of `ctx.run` and the like that failed and were followed by another, in order. */
  runRetries = [];
  /** What failed and has no outcome yet, with the time of its next try. */
  pending = /* @__PURE__ */ new Map();
  checkpoint;
  ended = false;
  #conflicts;
  #options;
  #store;
  #isStep;
  #check;
  /** Of a step what it emits and writes is recorded too. */
  constructor(options, checks, store = new Store(options.state), isStep = false) {
    this.#check = checks instanceof Promise ? checks.then(({ state }) => writeCheck(options.stateSchema, state)) : writeCheck(options.stateSchema, checks.state);
    if (this.#check instanceof Promise) this.#check.catch(() => {
    });
    this.#isStep = isStep;
    this.#options = options;
    this.#store = store;
    this.journal = copy(options.journal ?? []);
    this.checkpoint = options.checkpoint;
    this.#conflicts = options.conflicts ?? 0;
  }
  get state() {
    return this.#store.state;
  }
  /** Like the wire, it lets nothing through but JSON, and gives copies. */
  async request(method, params) {
    if (this.ended) throw new RiverrunError("INVOCATION_ENDED", `${method} came after the handler had ended`);
    const answer = this.#answers[method];
    if (!answer) throw new RiverrunError("INTERNAL", `the test kit does not know ${method}`);
    const { seen = [], inRun = false, ...asked } = copy(params);
    if (this.#check instanceof Promise) this.#check = await this.#check;
    this.journal.push(...seen);
    const answered = await answer(asked);
    if (this.#isStep && !inRun && writes.has(method)) this.journal.push({ op: method, name: asked.key ?? "", value: method === "state.setBatch" ? asked.values : asked.value });
    return copy(answered);
  }
  notify(method, params) {
    if (this.ended) return;
    const said = copy(params);
    if (method === "log") this.logs.push(said);
    else if (method === "progress") this.progress.push(said);
    else if (method === "partial") this.partials.push(said);
  }
  #answers = {
    "state.get": ({ key }) => ({ value: getAt(this.state, key), version: this.#store.version }),
    "state.has": ({ key }) => ({ has: getAt(this.state, key) !== void 0 }),
    "state.getAll": () => ({ state: this.state, version: this.#store.version }),
    "state.set": ({ key, value, ifVersion }) => this.#write(setAt(this.state, key, value), ifVersion),
    "state.delete": ({ key, ifVersion }) => this.#write(deleteAt(this.state, key), ifVersion),
    "state.setBatch": ({ values, ifVersion }) => {
      const next = Object.entries(values).reduce((state, [key, value]) => setAt(state, key, value), this.state);
      return this.#write(next, ifVersion);
    },
    emit: ({ type, data }) => {
      checkEvent(type, data);
      const id = `${Date.now()}-${this.events.length}`;
      this.events.push({ id, ts: (/* @__PURE__ */ new Date()).toISOString(), type, data });
      if (this.#isStep) this.journal.push({ op: "emit", name: type });
      return { id };
    },
    "memo.failed": ({ op = "memo", name, nth, error, retry, emits }) => this.#tryFailed({ op, name, ...nth && { nth }, error, ...emits && { emits } }, retry),
    memo: ({ op = "memo", name, nth, value, error, emits }) => {
      this.pending.delete(operationKey(op, name, nth));
      this.journal.push({ op, name, ...nth && { nth }, ...error ? { error } : { value }, ...emits && { emits } });
      return {};
    },
    "await.trigger": ({ type, payload, timeoutMs, many = false, secret }) => {
      checkSecret(secret);
      checkBytes("payload", payload);
      const { id, url } = this.#store.makeTrigger(type, payload);
      this.#store.callbacks.made(id, many, timeoutMs === void 0 ? void 0 : Date.now() + timeoutMs);
      this.journal.push({ op: "trigger", name: type, value: { id, url } });
      return { id, url };
    },
    checkpoint: ({ data }) => {
      this.checkpoint = data;
      return {};
    },
    enqueue: ({ jobs, ...job2 }) => ({ jobs: (jobs ?? [job2]).map((one) => this.#enqueue(one)) }),
    call: (params) => this.#call(params),
    start: ({ flow: flow2, input, options }) => {
      const runId = options?.runId ?? `run-${this.started.length + 1}`;
      this.started.push({ flow: flow2, input, options, runId });
      return { runId, created: true };
    },
    lease: () => ({ valid: this.#options.leaseValid ?? true, untilMs: Date.now() + 3e4 })
  };
  /** As the server decides it: what failed is tried again, or its error is final and recorded. */
  #tryFailed(record, retry) {
    const { op, name = "", nth, error } = record;
    const key = operationKey(op, name, nth);
    const failures = (this.pending.get(key)?.failures ?? 0) + 1;
    const delayMs = retryDelayMs(policyOf(this.#options.retryPolicy, retry), error, failures);
    if (delayMs === void 0) {
      this.pending.delete(key);
      const { retryAfterMs: retryAfterMs2, ...final } = error;
      this.journal.push({ ...record, error: { ...final, retriable: false } });
      return { final: true };
    }
    const retryAfterMs = this.#options.hasClock === false ? 0 : delayMs;
    this.pending.set(key, { op, name, ...nth && { nth }, failures, atMs: Date.now() + retryAfterMs });
    this.runRetries.push({ op, name, ...nth && { nth }, attempt: failures, error, failedAt: (/* @__PURE__ */ new Date()).toISOString(), delayMs });
    return { attempt: failures + 1, retryAfterMs, ...this.#isStep && retryAfterMs > inPlaceMs && { suspend: true } };
  }
  /** What an execution gets of what failed before it. */
  get retries() {
    return [...this.pending.values()].map(({ failures, atMs, ...operation }) => {
      const retryAfterMs = Math.max(0, atMs - Date.now());
      return { ...operation, attempt: failures + 1, retryAfterMs, ...retryAfterMs > inPlaceMs && { suspend: true } };
    });
  }
  #write(next, ifVersion) {
    if (ifVersion !== void 0 && this.#conflicts > 0) {
      this.#conflicts -= 1;
      this.#store.version += 1;
    }
    if (ifVersion !== void 0 && ifVersion !== this.#store.version) {
      throw new RiverrunError("STATE_CONFLICT", "the state has moved on", { details: { version: this.#store.version } });
    }
    const issues = this.#check(this.state, next);
    if (issues.length) throw new RiverrunError("STATE_INVALID", `the write breaks the state's schema${issueText(issues[0])}`, { details: { issues } });
    this.#store.state = next;
    this.#store.version += 1;
    return { version: this.#store.version };
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

// src/testing/words.ts
var likeness = 0.8;
var step = ["step", "subscriptions", "triggers", "join", "await", "emits", "compensation", "onFailure", "version", "role", "id"];
var flow = [...step, "limits"];
var settings = [
  "runMode",
  "queue",
  "concurrency",
  "keyConcurrency",
  "rateLimit",
  "retry",
  "retryPolicy",
  "dlq",
  "timeoutMs",
  "idempotencyKey",
  "idempotencyWindowMs",
  "idempotency",
  "key",
  "throttle",
  "debounce",
  "batch",
  "inputSchema",
  "outputSchema",
  "state",
  "persistFrames",
  "logs",
  "flow",
  "name",
  "description",
  "metadata",
  "tags",
  "logger",
  ...step
];
var members2 = {
  queue: ["name", "concurrency"],
  rateLimit: ["max", "durationMs"],
  retry: ["maxAttempts", "backoffMs", "backoffMultiplier", "maxBackoffMs", "retryOn", "jitter", "onFail"],
  retryPolicy: ["attempts", "backoff", "onFail", "retriableErrors"],
  "retryPolicy.backoff": ["type", "delayMs", "maxDelayMs", "jitter", "delay", "capMs"],
  dlq: ["enabled", "queue"],
  idempotency: ["key", "windowMs"],
  throttle: ["windowMs", "key", "durationMs"],
  debounce: ["delayMs", "key", "durationMs", "windowMs"],
  batch: ["size", "waitMs", "max", "timeoutMs"],
  logs: ["maxLines", "maxBytes"],
  flow,
  "flow.limits": ["maxSteps", "maxAwaits", "maxValueBytes", "maxStateBytes"],
  subscriptions: ["eventKind", "when", "map"],
  await: ["type", "delay", "eventKind", "where", "match", "triggerType", "payload", "secretEnv", "many", "timeout", "onTimeout", "lookback"],
  compensation: ["step", "on"]
};
function checkSettings(config, name) {
  const issues = strangers(config, settings, "", "");
  if (!issues.length) return;
  const listed = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new RiverrunError("PROCESS_INVALID", `the config of ${name || "a step"} has ${issues.length} ${issues.length === 1 ? "issue" : "issues"}; ${listed}`, { retriable: false, details: { issues } });
}
function checkOptions(what, options, known3) {
  const stranger = Object.entries(options).find(([word, value]) => value !== void 0 && !known3.includes(word))?.[0];
  if (stranger !== void 0) throw new TypeError(`${what} has no option ${stranger}${meant(stranger, known3) || `: it knows ${known3.join(", ")}`}`);
}
function meant(word, known3) {
  const [nearest] = known3.map((one) => ({ one, like: jaroWinkler(one, word) })).sort((a, b) => b.like - a.like);
  return nearest && nearest.like >= likeness ? `; did you mean ${nearest.one}?` : "";
}
function strangers(value, known3, path, place) {
  return Object.entries(value).flatMap(([word, member]) => {
    if (member === void 0) return [];
    if (!known3.includes(word)) return [{ path: path + word, message: `is not a setting${elsewhere(word, path) || meant(word, known3)}` }];
    const inner = members2[place + word] ? place + word : place === "flow." ? word : place + word;
    const each = Array.isArray(member) ? member.map((one, at) => [`${path}${word}.${at}.`, one]) : [[`${path}${word}.`, member]];
    return each.flatMap(([below, one]) => members2[inner] && isObject(one) ? strangers(one, members2[inner], below, `${inner}.`) : []);
  });
}
function elsewhere(word, path) {
  return word === "limits" && path === "" ? ": it belongs into flow, as flow: { limits }" : "";
}
function jaroWinkler(one, other) {
  const reach = Math.max(0, Math.floor(Math.max(one.length, other.length) / 2) - 1);
  const taken = /* @__PURE__ */ new Set();
  const common = [];
  for (let at = 0; at < one.length; at += 1) {
    const low = Math.max(0, at - reach);
    const found = [...other.slice(low, at + reach + 1)].findIndex((letter, place) => letter === one[at] && !taken.has(low + place));
    if (found < 0) continue;
    taken.add(low + found);
    common.push(one[at]);
  }
  if (!common.length) return 0;
  const theirs = [...taken].sort((a, b) => a - b).map((at) => other[at]);
  const swapped = common.filter((letter, at) => letter !== theirs[at]).length / 2;
  const jaro = (common.length / one.length + common.length / other.length + (common.length - swapped) / common.length) / 3;
  let prefix = 0;
  while (prefix < 4 && one[prefix] !== void 0 && one[prefix] === other[prefix]) prefix += 1;
  return jaro + prefix * 0.1 * (1 - jaro);
}

// src/testing/execute.ts
function createTestContext(options = {}) {
  const memory = new Memory(memoryOptions(options), checksOf(options.config, options.schemas));
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
var known2 = [
  "state",
  "stateSchema",
  "schemas",
  "journal",
  "checkpoint",
  "calls",
  "conflicts",
  "leaseValid",
  "config",
  "jobId",
  "queue",
  "name",
  "attempt",
  "maxAttempts",
  "runId",
  "correlationId",
  "causationId",
  "tenantId",
  "enqueuedAt",
  "timeoutMs",
  "after",
  "clock",
  "signal"
];
async function execute(executable, input, given = {}) {
  checkOptions("execute", given, known2);
  const { handler, config, takes } = parts(executable);
  const options = { ...given, config: { ...config, ...given.config } };
  checkSettings(options.config, handler.name);
  const count = isBatch(options, input) ? Math.max(1, input.length) : 1;
  const checks = await checksOf(options.config, options.schemas);
  const memories = Array.from({ length: count }, () => new Memory(memoryOptions(options), checks));
  const memory = memories[0];
  const ctx = contextOf(memories, options, input);
  if (takes === "job" && options.config?.batch && !Array.isArray(input)) throw new TypeError("the config has batch: give a list of inputs");
  const argument = (given2) => takes === "job" ? jobArgument(given2, options) : given2;
  const invoke = async () => {
    if (!isBatch(options, input)) return checkOutput(checks, await handler(argument(await givenInput(checks, input)), ctx));
    const given2 = await Promise.all(input.map((one, at) => givenInput(checks, one, `the input of job ${at}`)));
    const value = await handler(argument(given2), ctx);
    if (!Array.isArray(value)) return checkOutput(checks, value);
    value.forEach((one, at) => one instanceof Error || checkOutput(checks, one, `the result of job ${at}`));
    return value;
  };
  const timer = options.timeoutMs === void 0 ? void 0 : setTimeout(() => ctx.cancel("timeout"), options.timeoutMs);
  const onAbort = () => ctx.cancel("user");
  options.signal?.addEventListener("abort", onAbort);
  if (options.signal?.aborted) onAbort();
  try {
    const left = new Promise((_, reject) => ctx.onLeave = reject);
    const running = settled(Promise.race([left, Promise.resolve().then(invoke)]), ctx);
    const outcome = await (options.clock ? options.clock.run(running) : running);
    const execution = finished(memory, options, outcome);
    return isBatch(options, input) ? { ...execution, jobs: memories.map(kept) } : execution;
  } finally {
    for (const one of memories) one.ended = true;
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
  }
}
function parts(executable) {
  const handler = typeof executable === "function" ? executable : executable.default;
  const defined = definition(handler);
  const exported = typeof executable === "function" ? void 0 : executable.config;
  return { handler, config: { ...defined?.config, ...exported }, takes: defined?.takes ?? "input" };
}
async function settled(running, ctx) {
  try {
    const value = await running;
    return { status: "completed", value: value === void 0 ? null : value };
  } catch (error) {
    const stopped = error instanceof CancelledError || ctx.cancelled && error instanceof Error && error.name === "AbortError";
    return stopped ? { status: "cancelled", error } : { status: "failed", error: withCode(error) };
  }
}
function withCode(error) {
  if (!isObject(error)) return revive(recordOf(error));
  if (error.code === void 0 && Object.isExtensible(error)) error.code = "HANDLER_ERROR";
  return error;
}
function finished(memory, options, outcome) {
  return { ...outcome, ...kept(memory), attempt: attemptOf(options) };
}
function kept(memory) {
  const { state, checkpoint, journal } = memory;
  return { ...effects(memory), state, checkpoint, journal };
}
function isBatch(options, input) {
  return options.config?.batch !== void 0 && Array.isArray(input);
}
function effects({ logs, events, progress, partials, enqueued: enqueued2, calls, started }) {
  return { logs, events, progress, partials, enqueued: enqueued2, calls, started };
}
function memoryOptions(options) {
  const { after } = options;
  return {
    ...after && { state: after.state, journal: after.journal, checkpoint: after.checkpoint },
    ...options,
    retryPolicy: options.config?.retry ?? options.config?.retryPolicy,
    hasClock: options.clock !== void 0
  };
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
    journal: copy(memory.journal),
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
  return maxAttempts ?? canonicalRetry(config?.retry ?? config?.retryPolicy).maxAttempts ?? 1;
}

// src/testing/given.ts
var isLater = Symbol("later");
function later(after, payload) {
  return { [isLater]: true, after, payload };
}
async function opened(triggers, trigger) {
  const answer = typeof triggers === "function" ? triggers : triggers?.[trigger.type];
  const given = await answer?.(trigger);
  if (given === void 0) return void 0;
  const isPlain = typeof given !== "object" || given === null || !(isLater in given);
  const { after, payload } = isPlain ? { after: 0, payload: given } : given;
  checkBytes("body", payload);
  return { payload: payload ?? null, afterMs: milliseconds("later", after) };
}
function arrivalMs({ at }, startMs) {
  if (at === void 0) return void 0;
  if (at instanceof Date) return at.getTime();
  const afterMs = durationMs(at);
  if (afterMs !== void 0) return startMs + afterMs;
  const dateMs = typeof at === "string" ? Date.parse(at) : NaN;
  if (Number.isNaN(dateMs)) throw new TypeError(`at must be a date or a duration, is ${String(at)}`);
  return dateMs;
}
function milliseconds(what, duration) {
  const ms = durationMs(duration);
  if (ms === void 0) throw new TypeError(`${what} must be milliseconds or a duration, is ${String(duration)}`);
  return ms;
}

// src/testing/play.ts
import { hostname } from "node:os";

// src/testing/engine.ts
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

// src/runner/lines.ts
var lineBreak = 10;
var Lines = class {
  limitBytes = 16 * 1024 * 1024;
  #pieces = [];
  #heldBytes = 0;
  /** The lines that `chunk` completes. Throws `NotAMessage` if one is longer than the limit. */
  take(chunk) {
    const end = chunk.lastIndexOf(lineBreak);
    if (end < 0) {
      this.#hold(chunk);
      return [];
    }
    let whole = chunk.subarray(0, end);
    if (this.#heldBytes) {
      this.#check(this.#heldBytes + chunk.indexOf(lineBreak));
      whole = Buffer.concat([...this.#pieces, whole]);
      this.#pieces = [];
      this.#heldBytes = 0;
    }
    if (end + 1 < chunk.length) this.#hold(chunk.subarray(end + 1));
    return whole.toString("utf8").split("\n");
  }
  #hold(piece) {
    this.#check(this.#heldBytes + piece.length);
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
  }
  #check(bytes) {
    if (bytes > this.limitBytes) throw new NotAMessage(`it has more than ${this.limitBytes} bytes`);
  }
};

// src/testing/engine.ts
var shared;
function theEngine() {
  if (!shared || shared.isGone) shared = new Engine(binary());
  return shared;
}
var Engine = class {
  isGone = false;
  #child;
  #lines = new Lines();
  #receiver;
  #said = "";
  constructor(path) {
    this.#child = spawn(path, ["test-kit"], { stdio: ["pipe", "pipe", "pipe"] });
    const { stdin, stdout, stderr } = this.#child;
    this.#lines.limitBytes = 1024 * 1024 * 1024;
    this.#child.on("error", (error) => this.#over(error.message));
    this.#child.on("exit", (code, signal) => this.#over(signal ?? `exit code ${code}`));
    stdin?.on("error", () => {
    });
    stdout?.on("data", (chunk) => {
      for (const line of this.#lines.take(chunk)) if (line) this.#receiver?.receive(JSON.parse(line));
    });
    stderr?.on("data", (chunk) => this.#said = (this.#said + chunk).slice(-4096));
    this.#hold(false);
  }
  /** Listens until `release`; meanwhile the test process does not end by itself. */
  listen(receiver) {
    if (this.#receiver) throw new Error("a flow is played already: wait for it before the next one");
    this.#receiver = receiver;
    this.#hold(true);
  }
  release() {
    this.#receiver = void 0;
    this.#hold(false);
  }
  /** Ends the engine; the next flow gets a new one. */
  stop() {
    this.isGone = true;
    this.#child.kill();
  }
  send(text) {
    if (!this.isGone) this.#child.stdin?.write(`${text}
`);
  }
  #hold(isHeld) {
    if (isHeld) this.#child.ref();
    else this.#child.unref();
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      if (isHeld) pipe?.ref?.();
      else pipe?.unref?.();
    }
  }
  #over(reason) {
    if (this.isGone) return;
    this.isGone = true;
    this.#receiver?.gone(new RiverrunError("UNREACHABLE", `riverrun test-kit has ended (${reason})${this.#said && `: ${this.#said.trim()}`}`));
  }
};
function binary() {
  const named = process.env.RIVERRUN_BINARY;
  const places = named ? [named] : (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, process.platform === "win32" ? "riverrun.exe" : "riverrun"));
  const found = places.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found) return found;
  const where = named ? `RIVERRUN_BINARY names ${named}, which cannot be executed` : "there is no riverrun on the PATH";
  throw new RiverrunError("RUNTIME_MISSING", `runFlow and runStep run the riverrun binary, and ${where}: install riverrun, or set RIVERRUN_BINARY to the path of the binary. execute needs no binary`);
}

// src/testing/play.ts
var credits = 4096;
function visitKey(step2, visit) {
  return `${step2} ${visit}`;
}
async function play(request, processes, clock, options) {
  const engine = theEngine();
  const session = new Session(credits);
  const recorder = new Recorder(session, options);
  const invocations = new Invocations(recorder);
  let isOver = false;
  let hasEnded = false;
  let changes = 0;
  let asks = 0;
  let wake = () => {
  };
  const change = () => {
    changes += 1;
    wake();
  };
  recorder.onChange = change;
  clock.onTimer = change;
  const answer = (id, result) => engine.send(JSON.stringify({ id, result }));
  const receive = (message, settle) => {
    const { id, method, params = {} } = message;
    hasEnded ||= message.kit === "played" || message.kit === "failed";
    if (message.kit === "time") clock.jump(message.ms);
    else if (message.kit === "callback") {
      asks += 1;
      answersOf(options.triggers, message.callback, message.count).then((answers) => engine.send(JSON.stringify({ kit: "opened", answers })), settle.reject).finally(() => {
        asks -= 1;
        change();
      });
    } else if (message.kit === "played") settle.resolve(message.report);
    else if (message.kit === "failed") settle.reject(new RiverrunError(message.error.code, message.error.message, message.error));
    else if (method === void 0) session.settle(message);
    else if (method === "initialise") {
      invocations.limits = { ...invocations.limits, ...params.limits };
      session.connected({ send: (text) => isOver || engine.send(text) });
      answer(id, {
        protocol: protocolVersion,
        sdk: { name: "riverrun", version, language: "typescript" },
        runtime: `node ${process.versions.node}`,
        pid: process.pid,
        worker: { name: `test-${hostname()}-${process.pid}`, tags: [] },
        processes: [...processes].map(([process2, { config }]) => ({ id: process2, config })),
        credits
      });
    } else if (method === "invoke") {
      const given = options.awaited === void 0 ? params : { ...params, awaited: options.awaited };
      recorder.begun(id, given);
      const invocation = invocations.add(id, given);
      const process2 = processes.get(given.process ?? "");
      if (process2) invocations.execute(invocation, process2);
      else invocations.fail(invocation, new RiverrunError("PROCESS_NOT_FOUND", `the test has no process ${given.process}`, { retriable: false }));
    } else if (method === "cancel") invocations.cancel(params.invocation, params.reason);
    else if (id !== void 0) answer(id, {});
    change();
  };
  const passTime = async () => {
    while (!isOver) {
      const before = changes;
      await breathe2();
      if (isOver || changes !== before || isAboutToGoOn()) continue;
      const running = [...invocations.running.values()].filter(({ ctx }) => !ctx?.cancelled).map(({ id }) => id);
      const timer = running.length || asks ? clock.nextTimerMs() : void 0;
      if (timer !== void 0 && (timer <= clock.now || asks && !running.length)) {
        clock.fireNext();
        continue;
      }
      if (timer !== void 0 && !asks && !recorder.waits(invocations.running.values())) engine.send(JSON.stringify({ kit: "sleep", untilMs: timer, running }));
      await new Promise((resolve) => wake = resolve);
    }
  };
  try {
    const playing = new Promise((resolve, reject) => {
      engine.listen({ receive: (message) => receive(message, { resolve, reject }), gone: reject });
      engine.send(JSON.stringify({ kit: "play", ...request }));
    });
    void passTime();
    return { report: await playing, traces: recorder.traces };
  } catch (error) {
    if (!hasEnded) engine.stop();
    throw error;
  } finally {
    isOver = true;
    invocations.cancelAll("shutdown");
    clock.onTimer = () => {
    };
    wake();
    engine.release();
  }
}
var Recorder = class {
  traces = /* @__PURE__ */ new Map();
  #open = /* @__PURE__ */ new Set();
  onChange = () => {
  };
  #session;
  #options;
  #visits = /* @__PURE__ */ new Map();
  #conflicts;
  constructor(session, options) {
    this.#session = session;
    this.#options = options;
    this.#conflicts = options.conflicts ?? 0;
  }
  begun(id, { step: step2, visit, process: process2 }) {
    const key = visitKey(step2 ?? process2 ?? "", visit ?? 1);
    let traces = this.traces.get(key);
    if (!traces) this.traces.set(key, traces = { logs: [], events: [], progress: [], partials: [], enqueued: [], calls: [], started: [], executions: 0 });
    traces.executions += 1;
    this.#visits.set(id, traces);
  }
  async request(method, params) {
    const traces = this.#visits.get(params.invocation);
    const asked = JSON.parse(JSON.stringify(params));
    const own = this.#own(method, asked, traces);
    if (own) return own();
    if (this.#options.stateSchema && method.startsWith("state.") && !method.startsWith("state.get") && method !== "state.has") await this.#check(method, asked);
    const result = await this.#ask(method, params);
    if (method === "emit") traces.events.push({ id: result.id, ts: (/* @__PURE__ */ new Date()).toISOString(), type: asked.type, data: asked.data });
    return result;
  }
  notify(method, params) {
    const { invocation, ...said } = JSON.parse(JSON.stringify(params));
    const traces = this.#visits.get(invocation);
    if (method === "log") traces?.logs.push(said);
    else if (method === "progress") traces?.progress.push(said);
    else if (method === "partial") traces?.partials.push(said);
    this.#session.notify(method, params);
    this.onChange();
  }
  answer(id, result) {
    this.#session.answer(id, result);
    this.onChange();
  }
  refuse(id, ...failure) {
    this.#session.refuse(id, ...failure);
    this.onChange();
  }
  /** What the test answers in place of the engine. */
  #own(method, { invocation: _, ...asked }, traces) {
    const { calls, leaseValid } = this.#options;
    if (method === "call") {
      traces.calls.push(asked);
      const answer = calls?.[asked.process];
      if (answer) return async () => ({ value: await answer(asked.input) ?? null });
    } else if (method === "start") {
      const { flow: flow2, input, options } = asked;
      const runId = options?.runId ?? `run-${traces.started.length + 1}`;
      traces.started.push({ flow: flow2, input, options, runId });
      return () => ({ runId, created: true });
    } else if (method === "enqueue") {
      const { jobs = [asked] } = asked;
      return () => ({ jobs: jobs.map((job2) => enqueued(traces, job2)) });
    } else if (method === "lease" && leaseValid !== void 0) return () => ({ valid: leaseValid, untilMs: Date.now() + 3e4 });
    else if (asked.ifVersion !== void 0 && this.#conflicts > 0) {
      this.#conflicts -= 1;
      return () => Promise.reject(new RiverrunError("STATE_CONFLICT", "the state has moved on", { details: { version: asked.ifVersion } }));
    }
    return void 0;
  }
  async #check(method, asked) {
    const { state } = await this.#ask("state.getAll", { invocation: asked.invocation });
    const values = method === "state.setBatch" ? Object.entries(asked.values) : [[asked.key, asked.value]];
    const next = method === "state.delete" ? deleteAt(state, asked.key) : values.reduce((all, [key, value]) => setAt(all, key, value), state);
    const [issue, ...more] = writeCheck(this.#options.stateSchema, void 0)(state, next);
    if (issue) throw new RiverrunError("STATE_INVALID", `the write breaks the state's schema${issueText(issue)}`, { details: { issues: [issue, ...more] } });
  }
  /**
   * Whether the engine has something to answer at once. A call lasts as long as the handler that it
   * calls, which runs here too: if none does, it is about to come, or the answer is.
   */
  waits(running) {
    const all = [...running];
    const open = [...this.#open];
    if (open.some(({ method }) => method !== "call")) return true;
    const calls = open.filter(({ invocation }) => all.some(({ id }) => id === invocation)).length;
    return calls > all.filter(({ params }) => params.kind === "call").length;
  }
  async #ask(method, params) {
    const question = { method, invocation: params.invocation };
    this.#open.add(question);
    try {
      return await this.#session.request(method, params);
    } finally {
      this.#open.delete(question);
      this.onChange();
    }
  }
};
function enqueued({ enqueued: enqueued2 }, job2) {
  const { options = {}, queue } = job2;
  const same = enqueued2.find((other) => isSameJob(other, queue, options));
  if (same) return { jobId: same.jobId, created: false };
  const jobId = options.jobId ?? `job-${enqueued2.length + 1}`;
  enqueued2.push({ ...job2, jobId });
  return { jobId, created: true };
}
async function answersOf(triggers, trigger, count) {
  const answers = [];
  for (let n = 0; n < count; n += 1) {
    const answer = await opened(triggers, trigger);
    if (!answer) break;
    answers.push(answer);
  }
  return answers;
}
var realImmediate = globalThis.setImmediate;
function isAboutToGoOn() {
  return process.getActiveResourcesInfo().includes("Immediate");
}
async function breathe2() {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => realImmediate(resolve));
}

// src/testing/flow.ts
var sharedOptions = ["input", "flow", "events", "triggers", "start", "clock", "runId", "tenantId", "correlationId", "state", "stateSchema", "schemas", "calls", "conflicts", "leaseValid"];
async function runFlow(steps, options = {}) {
  checkOptions("runFlow", options, ["entry", ...sharedOptions]);
  const named = Array.isArray(steps) ? steps.map((one) => ({ name: nameOf(one), ...parts(one) })) : Object.entries(steps).map(([name, one]) => ({ name, ...parts(one) }));
  const { visits, ...run } = await simulate(named, options);
  return { ...run, visits: visits.map(({ journal, ...visit }) => visit) };
}
async function simulate(named, options) {
  const thrown = [];
  const processes = await offered(named, options, thrown);
  const { clock: given, start = "2026-01-01T00:00:00.000Z" } = options;
  const clock = given ?? new FakeClock(start).install();
  try {
    const { input = null, flow: flow2, entry, runId, tenantId, correlationId, state } = options;
    const events = (options.events ?? []).map(({ at, ...event }) => ({ atMs: arrivalMs({ at }, clock.now), event }));
    const request = { startMs: clock.now, input, flow: flow2, entry, runId, tenantId, correlationId, state, events };
    return flowRun(await play(request, processes, clock, options), thrown);
  } finally {
    if (!given) clock.restore();
  }
}
function nameOf(executable) {
  const { handler, config } = parts(executable);
  const role = [config.flow].flat().flatMap((flow2) => isObject(flow2) && typeof flow2.step === "string" ? flow2.step : [])[0];
  const name = role ?? config.step ?? (typeof config.queue === "string" ? config.queue : void 0) ?? (handler.name === "default" ? "" : handler.name);
  if (!name) throw new Error("a step needs a name: config.step, config.flow.step, or a key in an object of steps");
  return name;
}
async function offered(named, { schemas = true }, thrown) {
  const processes = /* @__PURE__ */ new Map();
  for (const { name, handler, config, takes } of named) {
    if (processes.has(name)) throw new Error(`two steps are called ${name}`);
    const { inputSchema, outputSchema, state, ...rest } = config;
    const used = schemas ? config : rest;
    const [process2] = (await processesOf({ [name]: { default: catching(handler, thrown), config: used } })).values();
    if (process2) processes.set(name, { ...process2, takes });
  }
  return processes;
}
function catching(handler, thrown) {
  const keep = (error) => {
    thrown.push(error);
    throw error;
  };
  return (first, ctx) => {
    try {
      const result = handler(first, ctx);
      return result instanceof Promise ? result.catch(keep) : result;
    } catch (error) {
      return keep(error);
    }
  };
}
function flowRun({ report, traces }, thrown) {
  const error = (failure) => {
    const same = thrown.find((one) => {
      const { code: code2 = "HANDLER_ERROR", message } = describe(one);
      return isObject(one) && message === failure.message && (code2 === failure.code || code2 === "");
    });
    if (!same) return revive(failure);
    const { code, retriable } = same;
    if (code === void 0 && Object.isExtensible(same)) same.code = "HANDLER_ERROR";
    if (retriable === void 0 && failure.retriable !== void 0 && Object.isExtensible(same)) same.retriable = failure.retriable;
    return same;
  };
  const { error: failed, visits, ...run } = report;
  return {
    ...run,
    ...failed && { error: error(failed) },
    visits: visits.map(({ error: failed2, retries, endedAt, ...visit }) => ({
      ...visit,
      ...failed2 && { error: error(failed2) },
      retries: retries.map((retry) => ({ ...retry, error: error(retry.error) })),
      endedAt: endedAt ?? report.endedAt,
      ...traces.get(visitKey(visit.step, visit.visit)) ?? { logs: [], events: [], progress: [], partials: [], enqueued: [], calls: [], started: [], executions: 0 }
    }))
  };
}

// src/testing/step.ts
async function runStep(executable, options = {}) {
  checkOptions("runStep", options, ["step", "awaited", ...sharedOptions]);
  const { step: wanted, flow: flow2, ...rest } = options;
  const { handler, config, takes } = parts(executable);
  const roles = [config.flow].flat().map((one) => typeof one === "string" ? { id: one } : isObject(one) ? one : {});
  const role = roles.find(({ id: id2 }) => flow2 === void 0 || id2 === void 0 || id2 === flow2);
  if (!role) throw new Error(`the process is no step of the flow ${flow2}`);
  const name = wanted ?? role.step ?? config.step ?? "test";
  const awaits = role.await ?? config.await;
  const { subscriptions: _s, triggers: _t, compensation: _c, await: _a, join: _j, emits: _e, flow: _f, step: _n, onFailure: _o, ...own } = config;
  const declared = options.awaited === void 0 && awaits ? { await: awaits } : {};
  const id = flow2 ?? role.id ?? name;
  const alone = { ...own, flow: { id, role: "entry", step: name, ...role.limits && { limits: role.limits } }, ...declared };
  const late = isObject(awaits) && options.awaited === void 0 && typeof awaits.onTimeout === "string" ? awaits.onTimeout : void 0;
  const steps = [{ name, handler, config: alone, takes }];
  if (late !== void 0 && late !== name) steps.push({ name: late, handler: () => null, config: { flow: { id, role: "step", step: late } }, takes: "input" });
  const { visits, state, elapsedMs, warnings } = await simulate(steps, { ...rest, flow: id });
  const { step: _step, visit: _visit, input: _input, ...report } = visits[0];
  return { ...report, warnings, state, elapsedMs };
}
export {
  FakeClock,
  createTestContext,
  execute,
  fakeClock,
  later,
  runFlow,
  runStep
};
