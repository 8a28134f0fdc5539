import {
  deleteAt,
  getAt,
  setAt
} from "./shared/FDAKATLE.js";
import {
  InvocationContext,
  configJson,
  durationMs,
  parserOf,
  redactor,
  source,
  valueText
} from "./shared/GI3KEPLS.js";
import {
  CancelledError,
  RiverrunError,
  definition,
  describe,
  isObject,
  recordOf,
  revive
} from "./shared/KROQS5E5.js";

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
    for (const undo2 of this.#undo.splice(0).reverse()) undo2();
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
    const delayMs2 = Math.max(1, Number(ms) || 0);
    const fire = () => callback(...args);
    this.#timers.set(id, { id, atMs: this.#nowMs + delayMs2, everyMs: repeats ? delayMs2 : void 0, fire });
    const handle = {
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => {
        const timer = this.#timers.get(id);
        if (timer) timer.atMs = this.#nowMs + delayMs2;
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
  #replace(target2, members3) {
    for (const [name, value] of Object.entries(members3)) {
      const before = Object.getOwnPropertyDescriptor(target2, name);
      Object.defineProperty(target2, name, { value, writable: true, configurable: true, enumerable: before?.enumerable ?? true });
      this.#undo.push(() => {
        if (before) Object.defineProperty(target2, name, before);
        else delete target2[name];
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
  if (secret !== void 0 && Buffer.byteLength(secret) < minSecretBytes) refuse("INPUT_ERROR", `the secret of a door has fewer than ${minSecretBytes} bytes`);
}
function checkKind(kind) {
  if (!/^[A-Za-z0-9._:/-]{1,128}$/.test(kind)) refuse("BAD_EVENT", `${JSON.stringify(kind)} is no type of event`);
  if (reserved.has(kind.split(".")[0])) refuse("RESERVED_TYPE", `only the server may write events of the type ${JSON.stringify(kind)}`);
}
function refuse(code, message) {
  throw new RiverrunError(code, message, { retriable: false });
}

// src/testing/retry.ts
var attempts = 3;
var backoff = { type: "exponential", delayMs: 1e3 };
var longestMs = 6e4;
function mostAttempts(policy) {
  return Math.max(1, policy?.attempts ?? attempts);
}
function retryDelayMs(policy, failure, failures) {
  if (failure.retriable === false || failures >= mostAttempts(policy)) return void 0;
  const named = [failure.code, failure.name];
  if (policy?.retriableErrors && !policy.retriableErrors.some((error) => named.includes(error))) return void 0;
  if (failure.retryAfterMs !== void 0) return failure.retryAfterMs;
  const { type, delayMs: delayMs2, maxDelayMs = Math.max(longestMs, delayMs2) } = policy?.backoff ?? backoff;
  return Math.min(type === "fixed" ? delayMs2 : delayMs2 * 2 ** (failures - 1), maxDelayMs);
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
function told({ path, message }) {
  return path ? ` at ${JSON.stringify(path)}: ${message}` : `: ${message}`;
}
function refuse2(code, what, issues = []) {
  const [first] = issues;
  if (first) throw new RiverrunError(code, what + told(first), { retriable: false, details: { issues } });
}
function asJson(value) {
  return JSON.parse(valueText(value, Infinity));
}

// src/testing/state-check.ts
function writeCheck(given2, schema) {
  if (given2) return (_, after) => stateIssues(given2, after);
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
var Doors = class {
  #known = /* @__PURE__ */ new Map();
  made(id, isForMany, expiresMs) {
    this.#known.set(id, { isForMany, isUsed: false, expiresMs });
  }
  used(id) {
    const door = this.#known.get(id);
    if (door) door.isUsed = true;
  }
  /** Whether nobody can open it again. */
  isUsed(id) {
    const door = this.#known.get(id);
    return door !== void 0 && door.isUsed && !door.isForMany;
  }
  expiresMs(id) {
    return this.#known.get(id)?.expiresMs;
  }
};
var Store = class {
  state;
  version = 0;
  triggers = /* @__PURE__ */ new Map();
  doors = new Doors();
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
  if (said === void 0 || said === null) return config;
  if (said === false) return { ...config, attempts: 1 };
  return typeof said === "number" ? { ...config, attempts: said } : { ...config, ...said };
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
    const { seen: seen2 = [], inRun = false, ...asked } = copy(params);
    if (this.#check instanceof Promise) this.#check = await this.#check;
    this.journal.push(...seen2);
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
      this.#store.doors.made(id, many, timeoutMs === void 0 ? void 0 : Date.now() + timeoutMs);
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
    const delayMs2 = retryDelayMs(policyOf(this.#options.retryPolicy, retry), error, failures);
    if (delayMs2 === void 0) {
      this.pending.delete(key);
      const { retryAfterMs: retryAfterMs2, ...final } = error;
      this.journal.push({ ...record, error: { ...final, retriable: false } });
      return { final: true };
    }
    const retryAfterMs = this.#options.hasClock === false ? 0 : delayMs2;
    this.pending.set(key, { op, name, ...nth && { nth }, failures, atMs: Date.now() + retryAfterMs });
    this.runRetries.push({ op, name, ...nth && { nth }, attempt: failures, error, failedAt: (/* @__PURE__ */ new Date()).toISOString(), delayMs: delayMs2 });
    return { attempt: failures + 1, retryAfterMs, ...this.#isStep && retryAfterMs > inPlaceMs && { suspend: true } };
  }
  /** What an execution is told of what failed before it. */
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
    if (issues.length) throw new RiverrunError("STATE_INVALID", `the write breaks the state's schema${told(issues[0])}`, { details: { issues } });
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
  const told2 = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new RiverrunError("PROCESS_INVALID", `the config of ${name || "a step"} has ${issues.length} ${issues.length === 1 ? "issue" : "issues"}; ${told2}`, { retriable: false, details: { issues } });
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
    if (!known3.includes(word)) return [{ path: path + word, message: `is no setting${elsewhere(word, path) || meant(word, known3)}` }];
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
    cancel: (reason2 = "user") => context.cancel(reason2),
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
async function execute(executable, input, given2 = {}) {
  checkOptions("execute", given2, known2);
  const { handler, config, takes } = parts(executable);
  const options = { ...given2, config: { ...config, ...given2.config } };
  checkSettings(options.config, handler.name);
  const count = isBatch(options, input) ? Math.max(1, input.length) : 1;
  const checks = await checksOf(options.config, options.schemas);
  const memories = Array.from({ length: count }, () => new Memory(memoryOptions(options), checks));
  const memory = memories[0];
  const ctx = contextOf(memories, options, input);
  if (takes === "job" && options.config?.batch && !Array.isArray(input)) throw new TypeError("the config has batch: give a list of inputs");
  const argument = (given3) => takes === "job" ? jobArgument(given3, options) : given3;
  const invoke = async () => {
    if (!isBatch(options, input)) return checkOutput(checks, await handler(argument(await givenInput(checks, input)), ctx));
    const given3 = await Promise.all(input.map((one, at) => givenInput(checks, one, `the input of job ${at}`)));
    const value = await handler(argument(given3), ctx);
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
function effects({ logs, events, progress, partials, enqueued, calls, started }) {
  return { logs, events, progress, partials, enqueued, calls, started };
}
function memoryOptions(options) {
  const { after } = options;
  return {
    ...after && { state: after.state, journal: after.journal, checkpoint: after.checkpoint },
    ...options,
    retryPolicy: options.config?.retryPolicy,
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
  return maxAttempts ?? config?.retryPolicy?.attempts ?? 1;
}

// src/testing/awaits.ts
var strange = {
  event: ["delay", "triggerType", "payload", "secretEnv", "many"],
  trigger: ["delay", "eventKind", "where", "match", "lookback"],
  time: ["eventKind", "where", "match", "lookback", "triggerType", "payload", "secretEnv", "many"]
};
var signsNothing = "a person who answers on a page signs nothing: take triggerType webhook or api where bodies must be signed, or leave the secret out";
var envelope = ["data", "type", "kind", "runId", "flowName", "stepName", "stepId", "attempt", "correlationId", "causationId", "tenantId", "chain"];
function* awaitIssues(at, declared) {
  const said = { ...declared };
  for (const field of strange[declared.type] ?? []) {
    if (said[field] !== void 0 && said[field] !== null) yield { path: `${at}.${field}`, message: `an await of the type ${declared.type} has no ${field}` };
  }
  const { triggerType, secretEnv, match } = said;
  if (declared.type === "trigger" && triggerType === "user" && typeof secretEnv === "string") yield { path: `${at}.secretEnv`, message: signsNothing };
  for (const [path, from] of isObject(match) ? Object.entries(match) : []) yield* matched(`${at}.match.${path}`, path, from);
}
function wantedValues(match, ctx) {
  const wanted = [];
  for (const [path, from] of Object.entries(match)) {
    const value = typeof from === "string" ? getAt(ctx, from) : isObject(from) && Object.hasOwn(from, "value") ? from.value : from;
    if (value === void 0) return new RiverrunError("INPUT_ERROR", `match has no value for ${JSON.stringify(path)}: there is no ${String(from)}`, { retriable: false });
    wanted.push([path, value]);
  }
  return Object.fromEntries(wanted);
}
function* matched(at, path, from) {
  const [head = ""] = path.split(".");
  if (!envelope.includes(head)) yield { path: at, message: `no event has ${JSON.stringify(head)}: what was emitted stands below data, as in "data.${path}"` };
  if (typeof from !== "string" || from === "input" || /^(input|state)\./.test(from)) return;
  yield { path: at, message: `${JSON.stringify(from)} is no path into input or state, such as "input.${from}": for the text itself write {"value": ${JSON.stringify(from)}}` };
}

// src/testing/sandbox.ts
import { Script, createContext } from "node:vm";
var resultBytes2 = 1024 * 1024;
var asynchronous = "expression is asynchronous: expressions answer at once and cannot await";
var names = [
  "Object",
  "Function",
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
  "AggregateError",
  "Array",
  "Number",
  "Boolean",
  "String",
  "Symbol",
  "BigInt",
  "Math",
  "Reflect",
  "Iterator",
  "parseInt",
  "parseFloat",
  "isNaN",
  "isFinite",
  "decodeURI",
  "decodeURIComponent",
  "encodeURI",
  "encodeURIComponent",
  "escape",
  "unescape",
  "Infinity",
  "NaN",
  "undefined",
  "globalThis",
  "Date",
  "eval",
  "RegExp",
  "JSON",
  "Proxy",
  "Map",
  "Set",
  "WeakMap",
  "WeakSet",
  "Promise",
  "ArrayBuffer",
  "DataView",
  "Int8Array",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "BigInt64Array",
  "BigUint64Array",
  "Float16Array",
  "Float32Array",
  "Float64Array"
];
var prelude = `"use strict";
((names) => {
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!names.includes(name)) delete globalThis[name]
  const { parse, stringify } = JSON
  const define = (object, key, value) => Object.defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true })
  const refuse = (what, pass) => { throw new TypeError(what + ' is not available: expressions are deterministic, pass the ' + pass + ' in as input') }
  const EngineDate = Date
  const GivenDate = function Date(...given) {
    if (new.target === undefined) refuse('Date()', 'time')
    if (given.length === 0) refuse('new Date()', 'time')
    return Reflect.construct(EngineDate, given, new.target)
  }
  define(GivenDate, 'parse', EngineDate.parse)
  define(GivenDate, 'UTC', EngineDate.UTC)
  define(GivenDate, 'now', () => refuse('Date.now()', 'time'))
  GivenDate.prototype = EngineDate.prototype
  define(EngineDate.prototype, 'constructor', GivenDate)
  define(globalThis, 'Date', GivenDate)
  define(Math, 'random', () => refuse('Math.random()', 'number'))
  return (call, args) => {
    const value = call(...args.map((arg) => parse(arg)))
    if (value instanceof Promise) throw new TypeError(${JSON.stringify(asynchronous)})
    if (['function', 'symbol', 'bigint'].includes(typeof value)) throw new TypeError('expression result is not JSON: it is a ' + typeof value)
    try {
      return stringify(value)
    } catch (error) {
      throw new TypeError('expression result is not JSON: ' + error.message)
    }
  }
})`;
var sandbox;
function evaluated(text, args) {
  const call = compiled2(text, Object.keys(args));
  const given2 = Object.values(args).map((arg) => JSON.stringify(arg) ?? "null");
  const json = theSandbox().answer(call, given2);
  const bytes = json === void 0 ? 0 : Buffer.byteLength(json);
  if (bytes > resultBytes2) throw new RangeError(`expression result has ${bytes} bytes, the limit is ${resultBytes2}`);
  return json === void 0 ? void 0 : JSON.parse(json);
}
function syntaxProblem(text) {
  if (/^\s*async(\s*\(|\s+[\p{Alphabetic}_$])/u.test(text)) return asynchronous;
  try {
    compiled2(text, []);
    return void 0;
  } catch (error) {
    return `expression does not parse: ${error.message}`;
  }
}
function compiled2(text, names2) {
  const list = names2.join(", ");
  const script = new Script(`"use strict"; ((${list}) => { const given = (
${text}
); return typeof given === 'function' ? given(${list}) : given })`);
  return script.runInContext(theSandbox().context);
}
function theSandbox() {
  if (sandbox) return sandbox;
  const context = createContext({}, { codeGeneration: { strings: false, wasm: false } });
  const harden = new Script(prelude).runInContext(context);
  return sandbox = { context, answer: harden(names) };
}

// src/testing/expression.ts
function evaluate(expression, args) {
  const text = textOf(expression);
  const problem = syntaxProblem(text);
  if (problem !== void 0) throw new RiverrunError("EXPRESSION_ERROR", `${text}: ${problem}`, { retriable: false });
  try {
    return evaluated(text, args);
  } catch (cause) {
    if (cause?.name !== "ReferenceError") throw cause;
    const message = `${text} cannot be evaluated: ${cause.message}. The server calls it with ${Object.keys(args).join(", ")}, and it sees no other variable`;
    throw new RiverrunError("EXPRESSION_ERROR", message, { cause, retriable: false });
  }
}
function expressionProblem(expression) {
  return typeof expression === "string" || typeof expression === "function" ? syntaxProblem(textOf(expression)) : void 0;
}
function textOf(expression) {
  return typeof expression === "function" ? source(expression) : expression;
}

// src/testing/given.ts
var isLater = Symbol("later");
function later(after, payload) {
  return { [isLater]: true, after, payload };
}
async function opened(triggers, trigger) {
  const answer = typeof triggers === "function" ? triggers : triggers?.[trigger.type];
  const given2 = await answer?.(trigger);
  if (given2 === void 0) return void 0;
  const isPlain = typeof given2 !== "object" || given2 === null || !(isLater in given2);
  const { after, payload } = isPlain ? { after: 0, payload: given2 } : given2;
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
function seen({ type, kind = type, at: _, ...event }, ms, number) {
  if (!kind) throw new TypeError("an event needs a type");
  const flowName = event.runId === void 0 ? "global" : "";
  return { id: `${ms}-${number}`, ts: new Date(ms).toISOString(), runId: "global", flowName, ...event, type: kind, kind };
}
function matches(match, event) {
  return Object.entries(match).every(([path, value]) => isSame(getAt(event, path), value));
}
function milliseconds(what, duration2) {
  const ms = durationMs(duration2);
  if (ms === void 0) throw new TypeError(`${what} must be milliseconds or a duration, is ${String(duration2)}`);
  return ms;
}
function isSame(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other || Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => isSame(one[key], other[key]));
}

// src/testing/template.ts
var mostParts = 64;
function resolveTemplate(template, view) {
  if (typeof template === "string") return resolveText(template, view);
  if (Array.isArray(template)) return template.map((item) => resolveTemplate(item, view) ?? null);
  if (!isObject(template)) return template;
  const members3 = Object.entries(template).map(([key, member]) => [key, resolveTemplate(member, view)]);
  return Object.fromEntries(members3.filter(([, value]) => value !== void 0));
}
function templateProblem(template) {
  if (typeof template === "object" && template !== null) {
    return Object.values(template).map(templateProblem).find((problem) => problem !== void 0);
  }
  const found = typeof template === "string" ? partsOf(template) : [];
  return typeof found === "string" ? found : void 0;
}
function resolveText(text, view) {
  const parts2 = partsOf(text);
  if (typeof parts2 === "string") throw new TypeError(parts2);
  const [only] = parts2;
  if (parts2.length === 1 && only && "path" in only) return getAt(view, only.path);
  return parts2.map((part) => "text" in part ? part.text : asText(getAt(view, part.path))).join("");
}
function asText(value) {
  if (value === void 0) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
function partsOf(text) {
  const parts2 = [];
  let plain = "";
  let rest = text;
  for (let at = rest.indexOf("${"); at >= 0; at = rest.indexOf("${")) {
    if (rest[at - 1] === "$") {
      plain += `${rest.slice(0, at - 1)}\${`;
      rest = rest.slice(at + 2);
      continue;
    }
    const end = rest.indexOf("}", at);
    if (end < 0) return `\${ is never closed in ${JSON.stringify(text)}`;
    const inner = rest.slice(at + 2, end);
    if (!isPath(inner.trim())) return `\${${inner}} in ${JSON.stringify(text)} is not a path`;
    plain += rest.slice(0, at);
    if (plain) parts2.push({ text: plain });
    parts2.push({ path: inner.trim() });
    plain = "";
    rest = rest.slice(end + 1);
  }
  plain += rest;
  if (plain) parts2.push({ text: plain });
  return parts2;
}
function isPath(text) {
  const parts2 = text.split(".");
  return parts2.length <= mostParts && parts2.every((part) => part !== "");
}

// src/testing/payload.ts
function shownPayload(declared, ctx) {
  const written2 = asWritten(declared);
  if (written2 === void 0) return { payload: void 0 };
  if (!isFunction(written2)) return { payload: copy2(resolveTemplate(written2, { input: ctx.input, ...ctx.state })) ?? null };
  try {
    return { payload: copy2(evaluate(written2, { ctx: copy2(ctx) })) ?? null };
  } catch (error) {
    if (error instanceof RiverrunError) throw error;
    return new RiverrunError("INPUT_ERROR", `payload: ${describe(error).message}`, { retriable: false });
  }
}
function payloadProblem(declared) {
  const written2 = asWritten(declared);
  return isFunction(written2) ? void 0 : templateProblem(written2);
}
function asWritten(declared) {
  const written2 = JSON.stringify(declared, (_, value) => {
    if (typeof value === "function") return source(value);
    return isObject(value) && typeof value.$function === "string" ? value.$function : value;
  });
  return written2 === void 0 ? void 0 : JSON.parse(written2);
}
function isFunction(written2) {
  if (typeof written2 !== "string") return false;
  const text = written2.trimStart();
  const arrow = text.indexOf("=>");
  const head = arrow < 0 ? "" : text.slice(0, arrow).trim();
  return /^([\p{Alphabetic}\p{N}_$]+|\(.*\))$/su.test(head) || /^function[ (]/.test(text);
}
function copy2(value) {
  const text = JSON.stringify(value);
  return text === void 0 ? void 0 : JSON.parse(text);
}

// src/testing/refusals.ts
var longestMs2 = 10 * 366 * 24 * 60 * 60 * 1e3;
var families = /^(flow|step|job)(\.|$)/;
var written = /* @__PURE__ */ new Set([
  "emit",
  "progress",
  "partial",
  "log.debug",
  "log.info",
  "log.warn",
  "log.error",
  "state.set",
  "state.delete",
  "state.batch",
  "state.snapshot",
  "trigger.registered",
  "trigger.fired",
  "trigger.timeout",
  "trigger.cancelled",
  "trigger.failed",
  "worker.registered",
  "worker.heartbeat",
  "worker.stopped"
]);
function checkFlow(flow2, steps) {
  const issues = [...steps.values()].flatMap((step2) => [...issuesOf(step2, [...steps.keys()])]);
  if (!issues.length) return;
  const told2 = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new RiverrunError("FLOW_INVALID", `flow ${flow2} has ${issues.length} ${issues.length === 1 ? "issue" : "issues"}; ${told2}`, { retriable: false, details: { issues } });
}
function refusedWait(wait, untilMs, nowMs) {
  if (wait.type === "event" && isOwn(wait.eventKind)) {
    return refusal("BAD_KIND", `${wait.eventKind} is written by riverrun itself, and no run can wait for it: emit an event of your own, or have a trigger on it start a flow that does`);
  }
  if (wait.type === "event" && !isKind(wait.eventKind)) return refusal("INPUT_ERROR", `${JSON.stringify(wait.eventKind)} is no kind of event`);
  if (untilMs !== void 0 && untilMs > nowMs + longestMs2) return refusal("INPUT_ERROR", `${dateText(untilMs)} is more than ten years away`);
  return void 0;
}
function usedDoor() {
  return refusal("INPUT_ERROR", "the step waits again for a trigger that was used: one for many is made with `many`");
}
function tooManyAwaits(limit2) {
  const message = `the step has waited ${limit2} times in one visit, the most that its flow's limits.maxAwaits allows, and all that it did is read again after each: begin a run that goes on from here with ctx.start, and return`;
  return refusal("MAX_AWAITS", message);
}
function tooManySteps(limit2) {
  return refusal("MAX_STEPS", `the run has made ${limit2} steps, the most that its flow's limits.maxSteps allows: does a step feed itself?`);
}
var most = { maxSteps: 1e7, maxAwaits: 1e6, maxValueBytes: 67108864, maxStateBytes: 67108864 };
function* issuesOf({ name, subscriptions, await: declared, compensation, limits }, names2) {
  const at = `steps.${name}`;
  for (const [number, { eventKind, when, map }] of subscriptions.entries()) {
    yield* heard(`${at}.subscriptions.${number}.eventKind`, eventKind);
    yield* parses(`${at}.subscriptions.${number}.when`, when);
    yield* parses(`${at}.subscriptions.${number}.map`, map);
  }
  if (declared?.type === "event") {
    yield* heard(`${at}.await.eventKind`, declared.eventKind);
    yield* parses(`${at}.await.where`, declared.where);
  }
  if (declared) yield* awaitIssues(`${at}.await`, declared);
  if (declared && "onTimeout" in declared) yield* target(`${at}.await.onTimeout`, declared.onTimeout, names2);
  for (const field of ["timeout", "lookback"]) yield* duration(`${at}.await.${field}`, declared?.[field]);
  if (declared?.type === "time") yield* (typeof declared.delay === "function" ? parses : duration)(`${at}.await.delay`, declared.delay);
  const problem = declared?.type === "trigger" ? payloadProblem(declared.payload) : void 0;
  if (problem !== void 0) yield { path: `${at}.await.payload`, message: problem };
  const many = declared?.type === "trigger" ? declared.many : void 0;
  if (many !== void 0 && !(Number.isInteger(many) && many >= 2 && many <= 1e3)) yield { path: `${at}.await.many`, message: `must be 2 to 1000, is ${String(many)}` };
  yield* target(`${at}.compensation.step`, compensation?.step, names2);
  for (const kind of [compensation?.on ?? []].flat()) yield* heard(`${at}.compensation.on`, kind);
  for (const [limit2, value] of Object.entries(limits ?? {})) {
    const top = most[limit2];
    if (top && value !== void 0 && !(Number.isInteger(value) && value >= 1 && value <= top)) yield { path: `limits.${limit2}`, message: `must be 1 to ${top}, is ${String(value)}` };
  }
}
function* heard(path, kind) {
  if (isOwn(kind)) yield { path, message: `${kind} is written by riverrun itself, and never comes to a step: emit an event of your own, or have a trigger on it start a flow` };
  else if (!isKind(kind)) yield { path, message: `${JSON.stringify(kind)} is no kind of event` };
}
function* parses(path, expression) {
  const message = expressionProblem(expression);
  if (message !== void 0) yield { path, message };
}
function* target(path, name, names2) {
  if (name !== void 0 && !names2.includes(name)) yield { path, message: `there is no step ${JSON.stringify(name)}${meant(name, names2)}` };
}
function* duration(path, given2) {
  const ms = typeof given2 === "number" || typeof given2 === "string" ? durationMs(given2) : void 0;
  if (ms !== void 0 && ms > longestMs2) yield { path, message: `${JSON.stringify(given2)} is not between 0 and ten years` };
}
function isOwn(kind) {
  return families.test(kind) || written.has(kind);
}
function isKind(kind) {
  return typeof kind === "string" && /^[A-Za-z0-9._:/-]{1,128}$/.test(kind);
}
function dateText(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "that" : date.toISOString();
}
function refusal(code, message) {
  return new RiverrunError(code, message, { retriable: false });
}

// src/testing/plan.ts
function plan(executables, { flow: flow2, entry }) {
  const named = Array.isArray(executables) ? executables.map((one) => [void 0, one]) : Object.entries(executables);
  const all = named.flatMap(([key, one]) => partsOf2(one, key));
  const begins = flow2 === void 0 ? void 0 : all.find((part) => part.flow === void 0 && part.step.name === flow2);
  const ids = new Set(all.flatMap((part) => part.flow ?? []));
  if (flow2 !== void 0 && ids.size && !ids.has(flow2) && !begins) throw new Error(`no step is part of the flow ${flow2}; they name ${[...ids].join(", ")}`);
  const wanted = entry === void 0 ? void 0 : all.find(({ step: step2 }) => step2.name === entry);
  const id = flow2 ?? (wanted ? wanted.flow ?? wanted.step.name : [...ids][0]);
  const steps = stepsOf(all.filter((part) => part.flow === void 0 || id === void 0 || part.flow === id));
  const first = entryOf(steps, entry ?? begins?.step.name);
  checkFlow(id ?? first.name, steps);
  return { flow: id ?? first.name, entry: first, steps };
}
function plannedStep(executable, key, flow2) {
  const all = partsOf2(executable, key);
  return all.find((part) => flow2 === void 0 || part.flow === void 0 || part.flow === flow2)?.step;
}
async function withChecks(steps, entry, schemas) {
  const { state } = await checksOf({ state: entry.config.state }, schemas);
  for (const step2 of steps.values()) step2.checks = { ...await checksOf(step2.config, schemas), state };
}
function partsOf2(executable, key) {
  const { handler, config, takes } = parts(executable);
  return roles(config).map((role) => {
    const { step: step2, subscriptions = [], triggers = [], join, await: awaits, emits, compensation, onFailure, limits, role: as } = { ...config, ...role };
    const name = step2 ?? key ?? (typeof config.queue === "string" ? config.queue : void 0) ?? (handler.name === "default" ? "" : handler.name);
    const heard2 = [...subscriptions, ...[triggers].flat().map((eventKind) => ({ eventKind }))];
    checkSettings(config, name);
    const planned = { name, isEntry: as === "entry", subscriptions: heard2, handler, takes, config };
    return { flow: role.id, step: Object.assign(planned, given({ join, await: awaits, emits, compensation, onFailure, limits })) };
  });
}
function stepsOf(found) {
  const steps = /* @__PURE__ */ new Map();
  for (const { step: step2 } of found) {
    if (!step2.name) throw new Error("a step needs a name: config.step, config.flow.step, or a key in an object of steps");
    if (steps.has(step2.name)) throw new Error(`two steps are called ${step2.name}`);
    steps.set(step2.name, step2);
  }
  return steps;
}
function entryOf(steps, wanted) {
  const found = wanted === void 0 ? void 0 : steps.get(wanted);
  if (wanted !== void 0 && !found) throw new Error(`there is no step ${wanted}; there are ${[...steps.keys()].join(", ")}`);
  if (found) return found;
  const all = [...steps.values()];
  const entries = all.filter(({ isEntry }) => isEntry);
  const led = new Set(all.flatMap((step2) => [step2.compensation?.step, step2.await && "onTimeout" in step2.await ? step2.await.onTimeout : void 0]));
  const candidates = entries.length ? entries : all.filter(({ name, subscriptions }) => !subscriptions.length && !led.has(name));
  const [only] = candidates;
  if (candidates.length !== 1 || !only) throw new Error(`it is not clear where the flow begins (${candidates.map(({ name }) => name).join(", ") || "no step"}): give entry`);
  return only;
}
function roles({ flow: flow2 }) {
  const list = [flow2 ?? {}].flat();
  return list.map((one) => typeof one === "string" ? { id: one } : one);
}
function given(members3) {
  return Object.fromEntries(Object.entries(members3).filter(([, value]) => value !== void 0));
}

// src/testing/undo.ts
var Undoing = class {
  /** The run has failed, and undoes what it did. */
  hasBegun = false;
  #finished = [];
  finished({ step: step2, number, undoes }, result) {
    if (step2.compensation && !undoes) this.#finished.push({ step: step2, visit: number, result });
  }
  /** What ended last of all that can be undone. */
  last(error) {
    const last = this.#finished.pop();
    return last && undo(last, error);
  }
  isCalledBy(kind) {
    return !this.hasBegun && this.#finished.some((one) => isUndoneBy(one, kind));
  }
  /** What an event of this kind undoes, the latest first. A run that has failed undoes everything anyway. */
  calledBy(kind) {
    const called = this.hasBegun ? [] : this.#finished.filter((one) => isUndoneBy(one, kind));
    for (const one of called) this.#finished.splice(this.#finished.indexOf(one), 1);
    return called.reverse().map((one) => undo(one, null));
  }
};
function reason({ code = "HANDLER_ERROR", message, details }, stepId) {
  return { code, message, ...stepId !== void 0 && { stepId }, ...details !== void 0 && { details } };
}
function isUndoneBy({ step: step2 }, kind) {
  return [step2.compensation?.on ?? []].flat().includes(kind);
}
function undo({ step: step2, visit, result }, error) {
  const undone = { step: step2.name, visit };
  return { step: step2.compensation?.step, visit: undone, input: { ...undone, result: result ?? null, error: error ?? null } };
}

// src/testing/visit.ts
var ExecutionLink = class {
  constructor(memory) {
    this.memory = memory;
  }
  ended = false;
  async request(method, params) {
    if (this.ended) throw new RiverrunError("INVOCATION_ENDED", `${method} came after the handler had ended`);
    return this.memory.request(method, params);
  }
  notify(method, params) {
    if (!this.ended) this.memory.notify(method, params);
  }
};
var Visit = class {
  constructor(step2, number, input, run, options, store, undoes) {
    this.step = step2;
    this.number = number;
    this.run = run;
    this.options = options;
    this.undoes = undoes;
    this.input = copy(input);
    this.memory = new Memory({ ...options, journal: [], state: {}, retryPolicy: step2.config.retryPolicy, hasClock: true }, step2.checks ?? {}, store, true);
  }
  awaits = [];
  retries = [];
  memory;
  /** As it was when the visit was entered: each execution is given its own. */
  input;
  startedAt = (/* @__PURE__ */ new Date()).toISOString();
  awaited;
  /** The event that entered it. */
  enteredBy;
  /** What had come of the await whose timeout led here: it is `awaited`, until its own await brings something. */
  soFar;
  /** What the handler gave, of a visit that lets its declared time pass. */
  returned;
  /** Attempts that failed since the code last went on after a wait. */
  failures = 0;
  /** Waits of its code that are over. */
  awaitsOver = 0;
  outcome = { status: "waiting" };
  #executions = 0;
  #endedAt;
  /** Calls the handler. Gives how it ended, or what it waits for. */
  async execute(clock) {
    this.#executions += 1;
    const { level = "debug", redact } = this.step.config.logger ?? {};
    const link = new ExecutionLink(this.memory);
    const ctx = new InvocationContext(link, this.#params(), { level, redact: redactor(redact) });
    const execution = ctx.execution;
    const left = new Promise((resolve) => {
      execution.onLeave = (outcome, seen2) => {
        this.memory.journal.push(...seen2);
        resolve(outcome instanceof RiverrunError ? { status: "failed", error: outcome } : outcome);
      };
    });
    const ended = settled(this.#call(ctx, link), ctx);
    return clock.run(Promise.race([left, ended]));
  }
  /** Whether its handler has been called. */
  get isBegun() {
    return this.#executions > 0;
  }
  get attempt() {
    return this.retries.length + 1;
  }
  /** The number that the last attempt would have: those before a wait that is over do not count. */
  get #maxAttempts() {
    return this.attempt + mostAttempts(this.step.config.retryPolicy) - 1 - this.failures;
  }
  /** The next execution is another attempt. */
  failed(error, delayMs2) {
    this.failures += 1;
    this.retries.push({ attempt: this.attempt, error, failedAt: (/* @__PURE__ */ new Date()).toISOString(), delayMs: delayMs2 });
  }
  began(type, name) {
    const wait = { type, name, from: (/* @__PURE__ */ new Date()).toISOString(), outcome: "waiting" };
    this.awaits.push(wait);
    return wait;
  }
  /** What a wait has brought: the next execution is given it. */
  settle(name, outcome) {
    this.memory.journal.push({ op: "await", name, ...outcome });
    this.failures = 0;
    this.awaitsOver += 1;
  }
  report() {
    const { step: step2, number, input, awaits, attempt, retries, startedAt, outcome, memory, undoes } = this;
    const executions = this.#executions;
    return { step: step2.name, visit: number, input, ...undoes && { undoes }, ...outcome, awaits, attempt, retries, runRetries: memory.runRetries, executions, startedAt, endedAt: this.#endedAt ?? (/* @__PURE__ */ new Date()).toISOString(), ...effects(memory) };
  }
  get isActive() {
    return this.#endedAt === void 0;
  }
  end(outcome) {
    this.outcome = outcome;
    this.#endedAt = (/* @__PURE__ */ new Date()).toISOString();
    this.memory.ended = true;
  }
  async #call(ctx, link) {
    const execution = ctx.execution;
    const { checks = {} } = this.step;
    try {
      const input = await givenInput(checks, copy(this.input));
      const value = await this.step.handler(this.step.takes === "job" ? this.#job(input) : input, ctx);
      const problem = await execution.returned();
      if (problem) throw problem;
      return checkOutput(checks, value);
    } catch (error) {
      execution.threw();
      link.ended = true;
      throw error;
    }
  }
  #job(data) {
    const { name } = this.step;
    return { id: `job-${this.number}`, name, queue: name, data, attempt: this.attempt, maxAttempts: this.#maxAttempts, enqueuedAt: this.startedAt };
  }
  #params() {
    const { runId, flow: flow2, tenantId, correlationId = runId } = this.run;
    return {
      file: "",
      kind: "step",
      process: this.step.name,
      jobId: `job-${this.number}`,
      queue: this.step.name,
      input: this.input,
      attempt: this.attempt,
      maxAttempts: this.#maxAttempts,
      runId,
      flow: flow2,
      step: this.step.name,
      visit: this.number,
      correlationId,
      tenantId,
      awaited: copy(this.awaited === void 0 ? this.soFar : this.awaited),
      checkpoint: this.memory.checkpoint,
      journal: copy(this.memory.journal),
      retries: this.memory.retries
    };
  }
};

// src/testing/flow.ts
var usual = { maxSteps: 1e3, maxAwaits: 1e4 };
var sharedOptions = ["input", "flow", "events", "triggers", "start", "clock", "runId", "tenantId", "correlationId", "state", "stateSchema", "schemas", "calls", "conflicts", "leaseValid"];
async function runFlow(steps, options = {}) {
  checkOptions("runFlow", options, ["entry", ...sharedOptions]);
  const planned = plan(steps, options);
  await withChecks(planned.steps, planned.entry, options.schemas);
  return simulate(options, async (clock) => {
    const state = { ...begun(options.input), ...options.state };
    const run = new Simulation(planned.flow, planned.steps, { ...options, state }, clock, planned.entry);
    run.enter(planned.entry, options.input);
    return run.play();
  });
}
function begun(input) {
  if (input === void 0 || input === null) return {};
  return typeof input === "object" && !Array.isArray(input) ? { ...input } : { input };
}
async function simulate({ clock, start = "2026-01-01T00:00:00.000Z" }, work) {
  if (clock) return work(clock);
  const own = new FakeClock(start).install();
  try {
    return await work(own);
  } finally {
    own.restore();
  }
}
var Simulation = class {
  constructor(flow2, steps, options, clock, entry) {
    this.flow = flow2;
    this.steps = steps;
    this.options = options;
    this.clock = clock;
    this.entry = entry;
    this.#limits = { ...usual, ...entry.limits };
    this.store = new Store(options.state);
    this.#startMs = clock.now;
    const events = options.events ?? [];
    this.#ready = events.filter(({ at }) => at === void 0);
    for (const event of events) {
      const atMs = arrivalMs(event, this.#startMs);
      if (atMs !== void 0) this.#plan(atMs, () => this.#given(event));
    }
  }
  visits = [];
  store;
  #agenda = [];
  #open = /* @__PURE__ */ new Set();
  #held = [];
  #events = [];
  #unclaimed = [];
  /** Given events that come as soon as somebody waits for them. */
  #ready;
  #startMs;
  #undoing = new Undoing();
  #warnings = [];
  #limits;
  /** Visits so far, without those that undo something. */
  #begun = 0;
  #error;
  /** The error, as a step that undoes something is told of it. */
  #reason;
  enter(step2, input, undoes) {
    const number = this.visits.filter((visit2) => visit2.step === step2).length + 1;
    const run = { runId: this.options.runId ?? "run-0", flow: this.flow, tenantId: this.options.tenantId, correlationId: this.options.correlationId };
    const visit = new Visit(step2, number, input ?? null, run, this.options, this.store, undoes);
    this.visits.push(visit);
    this.#plan(this.clock.now, () => this.#begin(visit));
    return visit;
  }
  async play() {
    while (this.#isActive || this.#goesOn()) {
      const due = this.#agenda[0];
      if (due && due.atMs <= this.clock.now) await this.#act();
      else if (this.#takeReady()) continue;
      else if (due) await this.#act();
      else break;
    }
    return this.#report();
  }
  get #isActive() {
    return this.visits.some(({ isActive }) => isActive);
  }
  /** Nothing is active any more: the run undoes one thing more, or has ended. */
  #goesOn() {
    if (this.#error === void 0) return false;
    this.#undoing.hasBegun = true;
    const undo2 = this.#undoing.last(this.#reason);
    if (undo2) this.#undo(undo2);
    return undo2 !== void 0;
  }
  async #act() {
    const due = this.#agenda.shift();
    this.clock.jump(due.atMs);
    await due.act();
  }
  #plan(atMs, act) {
    const due = { atMs, act };
    const later2 = this.#agenda.findIndex((other) => other.atMs > atMs);
    this.#agenda.splice(later2 < 0 ? this.#agenda.length : later2, 0, due);
    return due;
  }
  async #begin(visit) {
    if (!visit.isActive) return;
    if (!visit.undoes && this.#begun++ >= this.#limits.maxSteps) return this.#stop();
    const { await: declared } = visit.step;
    if (!declared || declared.type === "time" || visit.awaited !== void 0) return this.#execute(visit);
    const done = (ending) => {
      if (ending.outcome === "timeout") return this.#tooLate(visit, declared, ending.value);
      visit.awaited = ending.value;
      return this.#execute(visit);
    };
    const timeoutMs = declared.timeout === void 0 ? void 0 : milliseconds("timeout", declared.timeout);
    if (declared.type === "trigger") {
      const shown = shownPayload(declared.payload, { input: visit.input, state: this.store.state, runId: visit.run.runId });
      if (shown instanceof RiverrunError) return this.#fail(visit, "failed", shown);
      const trigger = this.store.makeTrigger(declared.triggerType ?? "webhook", shown.payload);
      return this.#awaitTrigger(visit, trigger, timeoutMs, done, declared.many);
    }
    const match = wantedValues(declared.match ?? {}, { input: visit.input, state: this.store.state });
    if (match instanceof RiverrunError) return this.#fail(visit, "failed", match);
    const lookback = declared.lookback === void 0 ? void 0 : declared.lookback === "run" ? "run" : milliseconds("lookback", declared.lookback);
    this.#awaitEvent(visit, declared.eventKind, (event) => matches(match, event) && this.#fitsDeclared(declared, event, visit), lookback, timeoutMs, done);
  }
  async #execute(visit) {
    const before = visit.memory.events.length;
    const outcome = await visit.execute(this.clock);
    for (const { type, data, ts } of visit.memory.events.slice(before)) {
      const event = seen({ type, data, runId: visit.run.runId }, Date.parse(ts), this.#events.length);
      this.#arrive({ ...event, flowName: this.flow, stepName: visit.step.name });
    }
    if ("type" in outcome) await this.#suspend(visit, outcome);
    else if (outcome.status !== "completed") this.#tryAgain(visit, outcome.error) || this.#fail(visit, outcome.status, outcome.error);
    else this.#afterHandler(visit, outcome.value);
  }
  #tryAgain(visit, error) {
    const delayMs2 = retryDelayMs(visit.step.config.retryPolicy, describe(error), visit.failures + 1);
    if (delayMs2 === void 0) return false;
    visit.failed(error, delayMs2);
    this.#plan(this.clock.now + delayMs2, () => visit.isActive && this.#execute(visit));
    return true;
  }
  async #suspend(visit, wait) {
    if (wait.type === "retry") {
      const atMs = Math.min(...visit.memory.retries.map(({ retryAfterMs }) => this.clock.now + retryAfterMs));
      this.#plan(atMs, () => visit.isActive && this.#execute(visit));
      return;
    }
    const name = wait.type === "time" ? "time" : wait.type === "event" ? wait.eventKind : wait.triggerId;
    const door = wait.type === "trigger" ? this.store.triggers.get(wait.triggerId) : void 0;
    const untilMs = this.#until(wait, door);
    const refused = this.#refused(visit, wait, untilMs, door);
    if (refused) return this.#fail(visit, "failed", refused);
    const done = ({ outcome, value = null }) => {
      if (door && outcome === "trigger") this.store.doors.used(door.id);
      visit.settle(name, outcome === "timeout" ? { error: timedOut(wait.type) } : { value });
      return this.#execute(visit);
    };
    if (wait.type === "time") return this.#awaitTime(visit, untilMs, done);
    const timeoutMs = untilMs === void 0 ? void 0 : Math.max(0, untilMs - this.clock.now);
    if (door) return this.#awaitTrigger(visit, door, timeoutMs, done);
    if (wait.type !== "event") return;
    const fits = (event) => {
      const args = { event, ctx: { ...this.#context(), input: visit.input }, input: visit.input };
      return matches(wait.match ?? {}, event) && this.#where(wait.where, args, visit, wait.eventKind);
    };
    const lookback = wait.lookback === "none" ? void 0 : wait.lookback ?? wait.lookbackMs ?? "run";
    this.#awaitEvent(visit, wait.eventKind, fits, lookback, timeoutMs, done);
  }
  /** When a wait of code is over at the latest. The time of a door runs from when it was made. */
  #until(wait, door) {
    if (door) return this.store.doors.expiresMs(door.id);
    if (wait.type === "time") return "afterMs" in wait ? this.clock.now + wait.afterMs : Date.parse(wait.resumeAt);
    if (wait.type === "retry" || wait.timeoutMs === void 0) return void 0;
    return this.clock.now + wait.timeoutMs;
  }
  #refused(visit, wait, untilMs, door) {
    const isOver = untilMs !== void 0 && untilMs <= this.clock.now;
    if (door && this.store.doors.isUsed(door.id) && !isOver) return usedDoor();
    const refused = refusedWait(wait, untilMs, this.clock.now);
    if (refused) return refused;
    return visit.awaitsOver >= this.#limits.maxAwaits ? tooManyAwaits(this.#limits.maxAwaits) : void 0;
  }
  #afterHandler(visit, value) {
    const { await: declared } = visit.step;
    const end = () => {
      visit.end({ status: "completed", value });
      this.#undoing.finished(visit, value);
    };
    if (declared?.type !== "time") return end();
    const { delay } = declared;
    const ms = typeof delay === "function" ? delayMs(delay, value) : milliseconds("delay", delay);
    if (typeof ms !== "number") return this.#fail(visit, "failed", ms);
    visit.returned = { value };
    this.#awaitTime(visit, this.clock.now + ms, end);
  }
  #awaitTime(visit, untilMs, done) {
    const finish = this.#wait(visit, "time", "time", done);
    this.#plan(untilMs, () => finish({ outcome: "time" }));
  }
  /** With `many` it is opened so often, and gives the list of what came, also of what came before its time was over. */
  async #awaitTrigger(visit, trigger, timeoutMs, done, many) {
    const finish = this.#wait(visit, "trigger", trigger.id, done);
    const fromMs = this.clock.now;
    const answers = [];
    const wanted = many ?? 1;
    while (answers.length < wanted) {
      const answer = await opened(this.options.triggers, trigger);
      if (!answer) break;
      answers.push(answer);
    }
    answers.sort((one, other) => one.afterMs - other.afterMs);
    const last = answers[wanted - 1];
    if (last && (timeoutMs === void 0 || last.afterMs <= timeoutMs)) {
      const payloads = answers.map(({ payload }) => payload);
      this.#plan(fromMs + last.afterMs, () => finish({ outcome: "trigger", value: many ? payloads : payloads[0] }));
    } else if (timeoutMs !== void 0) {
      const inTime = answers.filter(({ afterMs }) => afterMs <= timeoutMs).map(({ payload }) => payload);
      this.#plan(fromMs + timeoutMs, () => finish({ outcome: "timeout", ...many && inTime.length && { value: inTime } }));
    }
  }
  #awaitEvent(visit, kind, fits, lookback, timeoutMs, done) {
    const finish = this.#wait(visit, "event", kind, done);
    const sinceMs = typeof lookback === "number" ? this.clock.now - lookback : 0;
    const isCode = visit.isBegun;
    const visits = isCode ? this.visits : [visit];
    const isFresh = (event) => !(isCode && event === visit.enteredBy) && !visits.some(({ awaits }) => awaits.some(({ value }) => value === event));
    const before = lookback ? this.#events.find((event) => event.kind === kind && Date.parse(event.ts) >= sinceMs && isFresh(event) && fits(event)) : void 0;
    if (before) {
      this.#plan(this.clock.now, () => finish({ outcome: "event", value: before }));
      return;
    }
    const open = {
      visit,
      kind,
      fits,
      settle: (event) => {
        this.#open.delete(open);
        this.#plan(this.clock.now, () => finish({ outcome: "event", value: event }));
        if (timeout) this.#forget(timeout);
      }
    };
    this.#open.add(open);
    const expire = () => {
      this.#open.delete(open);
      return finish({ outcome: "timeout" });
    };
    const timeout = timeoutMs === void 0 ? void 0 : this.#plan(this.clock.now + timeoutMs, expire);
  }
  #forget(due) {
    const at = this.#agenda.indexOf(due);
    if (at >= 0) this.#agenda.splice(at, 1);
  }
  /** Notes that a wait has begun; gives what is to be called when it is over. */
  #wait(visit, type, name, done) {
    const wait = visit.began(type, name);
    return (ending) => {
      if (!visit.isActive) return;
      const waitedMs = this.clock.now - Date.parse(wait.from);
      Object.assign(wait, { until: (/* @__PURE__ */ new Date()).toISOString(), waitedMs }, ending);
      return done(ending);
    };
  }
  /** Gives the first of the ready events that somebody waits for, or else that enters a step or undoes one. */
  #takeReady() {
    const asSeen = (given2) => seen(given2, this.clock.now, this.#events.length);
    const isWanted = (event) => this.#entered(event).length > 0 || this.#undoing.isCalledBy(event.kind);
    const wanted = this.#ready.find((given2) => this.#openFor(asSeen(given2)).length) ?? this.#ready.find((given2) => isWanted(asSeen(given2)));
    if (!wanted) return false;
    this.#ready.splice(this.#ready.indexOf(wanted), 1);
    this.#given(wanted);
    return true;
  }
  #given(event) {
    this.#arrive(seen(event, this.clock.now, this.#events.length));
  }
  #arrive(event) {
    const open = this.#openFor(event);
    const entered = this.#entered(event);
    const undone = this.#undoing.calledBy(event.kind);
    this.#events.push(event);
    if (!open.length && !entered.length && !undone.length) this.#unclaimed.push(event);
    for (const one of open) one.settle(event);
    for (const { step: step2, input } of entered) this.#enterBy(step2, event, input);
    for (const undo2 of undone) this.#undo(undo2);
  }
  #openFor(event) {
    return [...this.#open].filter((open) => open.kind === event.kind && open.fits(event));
  }
  #entered(event) {
    if (this.#undoing.hasBegun) return [];
    const ctx = this.#context();
    const found = [];
    for (const step2 of this.steps.values()) {
      for (const [number, { eventKind, when, map }] of step2.subscriptions.entries()) {
        if (eventKind !== event.kind) continue;
        const entry = this.#judged(`subscription ${number} of step ${JSON.stringify(step2.name)}`, step2, () => {
          if (when !== void 0 && !evaluate(when, { event, ctx })) return void 0;
          return { step: step2, input: map === void 0 ? event.data : evaluate(map, { event, ctx }) };
        });
        if (!entry) continue;
        found.push(entry);
        break;
      }
    }
    return found;
  }
  #enterBy(step2, event, input) {
    if (step2.join !== "all") {
      this.enter(step2, input).enteredBy = event;
      return;
    }
    this.#held.push({ step: step2.name, kind: event.kind, input });
    const kinds = new Set(step2.subscriptions.map(({ eventKind }) => eventKind));
    const firsts = [...kinds].map((wanted) => this.#held.find((held) => held.step === step2.name && held.kind === wanted));
    if (!firsts.every((held) => held !== void 0)) return;
    for (const held of firsts) this.#held.splice(this.#held.indexOf(held), 1);
    this.enter(step2, Object.fromEntries(firsts.map((held) => [held.kind, held.input ?? null])));
  }
  #fitsDeclared({ where }, event, visit) {
    const ctx = { ...this.#context(), input: visit.input };
    return this.#where(where, { event, ctx }, visit, event.kind);
  }
  #where(where, args, { step: step2 }, kind) {
    return where === void 0 || Boolean(this.#judged(`the where of the await of event ${kind}`, step2, () => evaluate(where, args)));
  }
  /** What an expression says of an event. If it throws, the event is passed over, and the run says so once. */
  #judged(what, step2, judge) {
    try {
      return judge();
    } catch (error) {
      if (error instanceof RiverrunError) throw error;
      const warning = { code: "EXPRESSION_ERROR", message: `${what}: ${describe(error).message}`, step: step2.name };
      if (!this.#warnings.some(({ message }) => message === warning.message)) this.#warnings.push(warning);
      return void 0;
    }
  }
  #tooLate(visit, { onTimeout }, soFar) {
    const { code = "", message } = timedOut(visit.step.await?.type ?? "event");
    if (onTimeout === void 0) return this.#fail(visit, "failed", new RiverrunError(code, message, { retriable: false }));
    const step2 = this.steps.get(onTimeout);
    visit.end({ status: "timeout" });
    this.enter(step2, visit.input).soFar = soFar;
  }
  /** The first failure is the run's; one while it undoes things is only recorded. */
  #fail(visit, status, error) {
    visit.end({ status, error });
    if (this.#error === void 0) {
      this.#error = error;
      this.#reason = reason(describe(error), visit.step.name);
    }
    if (this.entry.onFailure === "finish" || this.#undoing.hasBegun) return;
    this.#cancelAll();
  }
  /** The run has made as many visits as it may: it fails, whatever its steps say of failures. */
  #stop() {
    this.#error = tooManySteps(this.#limits.maxSteps);
    this.#reason = reason(describe(this.#error));
    this.#cancelAll();
  }
  /** Cancels what is active, the last entered first. What only lets its time pass has done its work, which is undone. */
  #cancelAll() {
    for (const visit of this.visits.filter(({ isActive }) => isActive).reverse()) {
      for (const open of this.#open) if (open.visit === visit) this.#open.delete(open);
      visit.end({ status: "cancelled" });
      if (visit.returned) this.#undoing.finished(visit, visit.returned.value);
    }
  }
  #undo({ step: name, visit, input }) {
    this.enter(this.steps.get(name), input, visit);
  }
  #context() {
    return { runId: this.options.runId ?? "run-0", flowName: this.flow, input: this.options.input ?? null, state: this.store.state };
  }
  #report() {
    const status = this.#error === void 0 ? this.#isActive ? "waiting" : "completed" : this.#isActive ? "waiting" : "failed";
    return {
      status,
      ...this.#error !== void 0 && { error: this.#error },
      visits: this.visits.map((visit) => visit.report()),
      events: this.#events,
      unclaimed: this.#unclaimed,
      warnings: this.#warnings,
      state: this.store.state,
      startedAt: new Date(this.#startMs).toISOString(),
      endedAt: new Date(this.clock.now).toISOString(),
      elapsedMs: this.clock.now - this.#startMs
    };
  }
};
function timedOut(type) {
  return { code: "AWAIT_TIMEOUT", message: `the ${type} did not come in time` };
}
function delayMs(delay, result) {
  let wanted;
  let problem = "the delay is not a number of milliseconds up to ten years";
  try {
    wanted = evaluate(delay, { result });
  } catch (error) {
    if (error instanceof RiverrunError) throw error;
    problem = describe(error).message;
  }
  const fits = typeof wanted === "number" && wanted >= 0 && wanted <= longestMs2;
  return fits ? Math.round(wanted) : new RiverrunError("INPUT_ERROR", problem, { retriable: false });
}

// src/testing/step.ts
async function runStep(executable, options = {}) {
  checkOptions("runStep", options, ["step", "awaited", ...sharedOptions]);
  const planned = plannedStep(executable, options.step ?? "test", options.flow);
  if (!planned) throw new Error(`the process is no step of the flow ${options.flow}`);
  const { compensation: _, ...step2 } = { ...planned, ...options.step && { name: options.step }, subscriptions: [] };
  const steps = /* @__PURE__ */ new Map([[step2.name, step2]]);
  await withChecks(steps, step2, options.schemas);
  checkFlow(flowOf(options, planned), withOnTimeout(steps, step2));
  return simulate(options, async (clock) => {
    const simulation = new Simulation(flowOf(options, planned), steps, options, clock, { limits: step2.limits });
    simulation.enter(step2, options.input);
    const visit = simulation.visits[0];
    if (options.awaited !== void 0) visit.awaited = options.awaited;
    const { state, elapsedMs, warnings } = await simulation.play();
    const { step: _step, visit: _visit, input: _input, ...report } = visit.report();
    return { ...report, warnings, state, elapsedMs, journal: visit.memory.journal };
  });
}
function flowOf({ flow: flow2 }, { config, name }) {
  if (flow2 !== void 0) return flow2;
  const first = [config.flow].flat()[0];
  return (typeof first === "object" ? first.id : first) ?? name;
}
function withOnTimeout(steps, { await: declared }) {
  const name = declared && "onTimeout" in declared ? declared.onTimeout : void 0;
  if (name !== void 0 && !steps.has(name)) {
    steps.set(name, { name, isEntry: false, subscriptions: [], handler: () => null, takes: "input", config: {} });
  }
  return steps;
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
