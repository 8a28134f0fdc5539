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
    const done2 = () => void (pending = false);
    promise.then(done2, done2);
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

// src/duration.ts
var second = 1e3;
var minute = 60 * second;
var hour = 60 * minute;
var day = 24 * hour;
var units = [
  [/^(w|wks?|weeks?)$/, 7 * day],
  [/^(d|days?)$/, day],
  [/^(h|hrs?|hours?)$/, hour],
  [/^(m|mins?|minutes?)$/, minute],
  [/^(s|secs?|seconds?)$/, second],
  [/^(ms|msecs?|millis?|milliseconds?)$/, 1]
];
var iso = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/i;
function durationMs(duration) {
  if (typeof duration === "number") return Number.isFinite(duration) && duration >= 0 ? Math.round(duration) : void 0;
  const text = duration.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text));
  return isoMs(text) ?? friendlyMs(text);
}
function isoMs(text) {
  const parts2 = iso.exec(text)?.slice(1);
  if (!parts2?.some((part) => part !== void 0)) return void 0;
  const sizes = [7 * day, day, hour, minute, second];
  return Math.round(parts2.reduce((sum, part, index) => sum + Number((part ?? "0").replace(",", ".")) * sizes[index], 0));
}
function friendlyMs(text) {
  const part = /(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*/gy;
  let sum = 0;
  for (let read = 0; read < text.length; read = part.lastIndex) {
    const [, count, unit] = part.exec(text) ?? [];
    const size = units.find(([name]) => unit !== void 0 && name.test(unit))?.[1];
    if (size === void 0) return void 0;
    sum += Number(count) * size;
  }
  return text ? Math.round(sum) : void 0;
}

// src/source.ts
function source(fn) {
  const text = fn.toString();
  const [, isAsync = "", name] = /^(async\s+)?([\w$]+)\s*\(/.exec(text) ?? [];
  const isMethod = name !== void 0 && name !== "function" && name !== "async";
  return isMethod ? `${isAsync}function ${text.slice(isAsync.length)}` : text;
}

// src/ctx/awaits.ts
var StepAwaits = class {
  #step;
  constructor(step) {
    this.#step = step;
  }
  time = async (until) => {
    await this.#step.wait("time", () => ({ type: "time", resumeAt: resumeAt(until) }));
  };
  event = async (options) => {
    const { kind, match, where, timeout, lookback } = typeof options === "string" ? { kind: options } : options;
    if (typeof kind !== "string" || !kind) throw invalid("await.event needs the kind of event");
    return this.#step.wait(kind, () => {
      const wait = { type: "event", eventKind: kind };
      if (match) wait.match = literals(match);
      if (where !== void 0) wait.where = typeof where === "function" ? source(where) : where;
      if (lookback !== void 0) wait.lookbackMs = milliseconds("lookback", lookback);
      if (timeout !== void 0) wait.timeoutMs = milliseconds("timeout", timeout);
      return wait;
    });
  };
  trigger = async ({ type = "webhook", payload, timeout, many, secret } = {}) => {
    this.#step.refuseInRun();
    const timeoutMs = timeout === void 0 ? void 0 : milliseconds("timeout", timeout);
    const make = () => this.#step.request("await.trigger", { type, payload, timeoutMs, many, secret });
    const { id, url } = await this.#step.once("trigger", type, make);
    const wait = { type: "trigger", triggerId: id };
    if (timeoutMs !== void 0) wait.timeoutMs = timeoutMs;
    return { id, url, wait: () => this.#step.wait(id, () => wait) };
  };
};
function awaitsOutside(kind) {
  const refuse = async () => {
    const message = `ctx.await works in a step of a flow, and this is a ${kind}: give the process's config a flow (or step), and start that flow`;
    throw new RiverrunError("AWAIT_OUTSIDE_FLOW", message, { retriable: false });
  };
  return { time: refuse, event: refuse, trigger: refuse };
}
function resumeAt(until) {
  const afterMs = until instanceof Date ? void 0 : durationMs(until);
  const date = afterMs === void 0 ? new Date(until) : new Date(Date.now() + afterMs);
  if (typeof until === "number" && afterMs === void 0) throw invalid(`await.time wants milliseconds from now, not ${until}`);
  if (Number.isNaN(date.getTime())) throw invalid(`await.time wants milliseconds, a duration such as "1h 30m" or a date, not ${String(until)}`);
  return date.toISOString();
}
function milliseconds(what, duration) {
  const ms = durationMs(duration);
  if (ms === void 0) throw invalid(`${what} must be milliseconds or a duration such as "24h", is ${String(duration)}`);
  return ms;
}
function literals(match) {
  for (const [path, value] of Object.entries(match)) {
    if (value === void 0 || typeof value === "function") throw invalid(`match has no value at ${JSON.stringify(path)}: it is ${typeof value}`);
  }
  try {
    return JSON.parse(JSON.stringify(match));
  } catch (error) {
    throw invalid(`match is not JSON: ${error.message}`);
  }
}
function invalid(message) {
  return new RiverrunError("INPUT_ERROR", message, { retriable: false });
}

// src/ctx/execution.ts
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";

// src/ctx/journal.ts
var shown = 20;
var Journal = class {
  #records;
  /** Where the records of each use stand that were not asked for yet. */
  #open = /* @__PURE__ */ new Map();
  #uses = /* @__PURE__ */ new Map();
  #taken = /* @__PURE__ */ new Set();
  #done = [];
  constructor(records) {
    this.#records = records;
    for (const [at, { op, name = "" }] of records.entries()) {
      const places = this.#open.get(key(op, name));
      if (places) places.push(at);
      else this.#open.set(key(op, name), [at]);
    }
  }
  /** The record for the next use of a name; undefined once they are used up. */
  next(op, name) {
    this.#done.push({ op, name });
    this.#uses.set(key(op, name), this.uses(op, name) + 1);
    const at = this.#open.get(key(op, name))?.shift();
    if (at === void 0) return void 0;
    this.#taken.add(at);
    return this.#records[at];
  }
  /** How often this was done so far, in this execution. */
  uses(op, name) {
    return this.#uses.get(key(op, name)) ?? 0;
  }
  /** The error that records were left which nobody asked for: the code is not what it was. */
  mismatch() {
    const missing = this.#records.filter((_, at) => !this.#taken.has(at) && !this.#isInside(at)).map(done);
    if (!missing.length) return void 0;
    const recorded = this.#records.map(done);
    const message = `this execution did not do what earlier ones of the same visit recorded: ${list(missing)}. Recorded: ${list(recorded)}. Done: ${list(this.#done)}. Code that waits is called again from the top and must do the same until there: has it changed, or does it depend on time, chance or something outside of ctx.run?`;
    return new RiverrunError("JOURNAL_MISMATCH", message, { retriable: false, details: { recorded, done: this.#done, missing } });
  }
  /**
   * An emit may have been made inside of a `ctx.run`: its memo, which comes after it, then stands
   * for it, and nobody asks for the emit again.
   */
  #isInside(at) {
    if (this.#records[at]?.op !== "emit") return false;
    return this.#records.some(({ op }, later2) => later2 > at && op === "memo" && this.#taken.has(later2));
  }
};
function key(op, name) {
  return `${op} ${name}`;
}
function done({ op, name = "" }) {
  return { op, name };
}
function list(entries) {
  if (!entries.length) return "nothing";
  const texts = entries.slice(0, shown).map(({ op, name }) => `${op} ${JSON.stringify(name)}`);
  return entries.length > shown ? `${texts.join(", ")} and ${entries.length - shown} more` : texts.join(", ");
}

// src/ctx/execution.ts
var inside = new AsyncLocalStorage();
var never = () => new Promise(() => {
});
var StepExecution = class {
  /** Called when the code waits, or was found to be wrong when it did. */
  onLeave = () => {
  };
  #link;
  #params;
  #journal;
  #inFlight = /* @__PURE__ */ new Set();
  /** Errors that were thrown into the code and not recorded. If it goes on, it lives with them. */
  #thrown = [];
  #waits = false;
  #refused;
  #ended = false;
  #left = false;
  constructor(link, params) {
    this.#link = link;
    this.#params = params;
    this.#journal = new Journal(params.journal ?? []);
  }
  request(method, params) {
    return this.#left ? never() : this.#track(() => this.#link.request(method, params));
  }
  notify(method, params) {
    if (!this.#left) this.#link.notify(method, params);
  }
  /** Does something that the server records by itself. */
  once(op, name, work) {
    return this.#track(async () => {
      const record = this.#journal.next(op, name);
      return record ? answer(record) : work();
    });
  }
  /**
   * Does something and has its outcome recorded. `work` is given an id that is the same in every
   * execution of the visit. Inside of a `ctx.run` nothing is recorded: the run is.
   */
  recorded(op, name, work) {
    const run = inside.getStore();
    if (run) return this.#track(async () => work(this.#idInside(run, op, name)));
    return this.#track(async () => {
      const record = this.#journal.next(op, name);
      if (record) return answer(record);
      const number = this.#journal.uses(op, name);
      const value = await this.#outcome(op, name, () => work(this.#id(name, number)));
      await this.#memo({ op, name, value });
      return value;
    });
  }
  /** A part of the work that is recorded as a whole. */
  run(name, work) {
    return this.recorded("memo", name, () => {
      if (inside.getStore()) return work();
      return inside.run({ name, number: this.#journal.uses("memo", name), uses: /* @__PURE__ */ new Map() }, work);
    });
  }
  /** Gives what a wait has brought, or ends this execution. */
  async wait(name, makeWait) {
    this.refuseInRun();
    const record = this.#journal.next("await", name);
    if (record) return answer(record);
    if (this.#left) return never();
    if (this.#waits) {
      this.#refused = concurrent();
      throw this.#refused;
    }
    const wait = makeWait();
    this.#waits = true;
    void this.#leave(wait);
    return never();
  }
  refuseInRun() {
    const run = inside.getStore();
    if (run) throw misplaced(run.name);
  }
  /** The handler has returned. Waits for what it left running; gives the error that its value does not count. */
  async returned() {
    this.#ended = true;
    if (this.#inFlight.size) await this.#quiet();
    return this.#refused ?? this.#journal.mismatch();
  }
  /** The handler has thrown. */
  threw() {
    this.#ended = true;
  }
  #id(name, number) {
    const { runId, step, visit } = this.#params;
    return `${runId}/${step}/${visit ?? 1}/${name}/${number}`;
  }
  /** A run that is taken from the journal does nothing, so what it does has numbers of its own. */
  #idInside({ name: run, number, uses }, op, name) {
    const nth = (uses.get(`${op} ${name}`) ?? 0) + 1;
    uses.set(`${op} ${name}`, nth);
    return this.#id(`${run}/${number}/${name}`, nth);
  }
  async #leave(wait) {
    await this.#quiet();
    if (this.#ended) return;
    let outcome = this.#refused ?? this.#journal.mismatch() ?? wait;
    try {
      if (outcome === wait) for (const thrown of this.#thrown) await this.#memo(thrown);
    } catch (error) {
      outcome = error;
    }
    if (this.#ended) return;
    this.#left = true;
    this.onLeave(outcome);
  }
  /** Until nothing is under way, and what that has led to neither. */
  async #quiet() {
    do {
      await Promise.all(this.#inFlight);
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#inFlight.size);
  }
  #track(begin) {
    const work = begin();
    const over = () => void this.#inFlight.delete(watched);
    const watched = work.then(over, over);
    this.#inFlight.add(watched);
    return work.then((value) => value);
  }
  async #outcome(op, name, work) {
    try {
      return await work();
    } catch (thrown) {
      const error = describe(thrown);
      if (error.retriable === false && !(thrown instanceof CancelledError)) await this.#memo({ op, name, error });
      else this.#thrown.push({ op, name, error });
      throw thrown;
    }
  }
  async #memo({ op, ...outcome }) {
    await this.#link.request("memo", op === "memo" ? outcome : { op, ...outcome });
  }
};
function jobIdOf(text) {
  const plain2 = text.replaceAll("/", ".");
  return /^[\w.~-]{1,128}$/.test(plain2) ? plain2 : `step-${createHash("sha256").update(text).digest("hex")}`;
}
function answer({ op, value, error }) {
  if (error) throw revive(op === "await" ? { retriable: false, ...error } : error);
  return value ?? null;
}
function concurrent() {
  const message = "a step waits for one thing at a time, and this execution already waits: await one after the other, and give an await a timeout where it is not to wait for ever";
  return new RiverrunError("AWAIT_CONCURRENT", message, { retriable: false });
}
function misplaced(run) {
  const message = `ctx.await cannot stand inside of ctx.run(${JSON.stringify(run)}): what runs there is recorded when it has ended. Await before it or after it`;
  return new RiverrunError("AWAIT_IN_RUN", message, { retriable: false });
}

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
  get = async (key2) => (await this.#link.request("state.get", { key: key2 })).value;
  has = async (key2) => (await this.#link.request("state.has", { key: key2 })).has;
  getAll = async () => (await this.#link.request("state.getAll", {})).state;
  set = async (key2, value) => {
    if (value === void 0) throw new TypeError(`state.set(${JSON.stringify(key2)}) needs a value; state.delete removes one`);
    await this.#link.request("state.set", { key: key2, value });
  };
  delete = async (key2) => {
    await this.#link.request("state.delete", { key: key2 });
  };
  setBatch = async (values) => {
    await this.#link.request("state.setBatch", { values });
  };
  patch = (first, second2, third) => typeof first === "string" ? retrying(third, () => this.#patchKey(first, second2)) : retrying(second2, () => this.#patchAll(first));
  async #patchKey(key2, change) {
    const { value: before, version } = await this.#link.request("state.get", { key: key2 });
    const value = await change(before);
    if (value !== void 0) await this.#link.request("state.set", { key: key2, value, ifVersion: version });
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
  /** What a step does beyond a job: it is executed again and again, with what it did before. */
  execution;
  #link;
  #params;
  #settings;
  #batch;
  #jobs;
  #state;
  #logger;
  #journal;
  #await;
  #checkpoint;
  #abort;
  #cancelled;
  /** `batch` is the context of the batch to which this job belongs. */
  constructor(link, params, settings, batch) {
    this.execution = params.kind === "step" ? new StepExecution(link, params) : void 0;
    this.#link = this.execution ?? link;
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
  get await() {
    return this.#await ??= this.execution ? new StepAwaits(this.execution) : awaitsOutside(this.kind);
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
  get visit() {
    return this.#params.visit ?? void 0;
  }
  get awaited() {
    return this.#params.awaited ?? void 0;
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
    const { type = void 0, kind = type, data: given2 = data } = typeof event === "string" ? { kind: event } : event;
    if (!kind) throw new TypeError("emit needs the type of the event");
    const ask = async () => (await this.#link.request("emit", { type: kind, data: given2 })).id;
    return await (this.execution ? this.execution.once("emit", kind, ask) : ask()) ?? "";
  };
  progress = (pct, detail) => {
    if (!Number.isFinite(pct)) throw new TypeError(`progress must be a number from 0 to 100, is ${pct}`);
    this.#link.notify("progress", { pct: Math.min(100, Math.max(0, pct)), detail });
  };
  partial = (value, path) => this.#link.notify("partial", { path, value: value ?? null });
  run = async (name, fn) => {
    if (this.execution) return this.execution.run(name, async () => json(name, await fn()));
    this.#journal ??= new Journal(this.#params.journal ?? []);
    const memo = this.#journal.next("memo", name);
    if (memo?.error) throw revive(memo.error);
    if (memo) return memo.value ?? null;
    const value = json(name, await this.#outcome(name, fn));
    await this.#link.request("memo", { name, value });
    return value;
  };
  call = (process, input, options) => {
    const ask = async () => (await this.#link.request("call", { process, input: input ?? null, ...options })).value;
    return this.execution ? this.execution.recorded("call", process, ask) : ask();
  };
  enqueue = async (to, data, options) => {
    if (typeof to !== "string") return this.#enqueue(to, (jobs) => ({ jobs }));
    const { name, ...rest } = options ?? {};
    const job2 = { queue: to, ...name !== void 0 && { name }, data: data ?? null };
    if (Object.keys(rest).length) job2.options = rest;
    return (await this.#enqueue([job2], ([one]) => ({ ...one })))[0];
  };
  start = (flow, input, options) => {
    const ask = (given2) => this.#link.request("start", { flow, input: input ?? {}, options: given2 });
    if (!this.execution) return ask(options);
    const isNamed = options?.idempotencyKey !== void 0 || options?.runId !== void 0;
    return this.execution.recorded("start", flow, (id) => ask(isNamed ? options : { ...options, idempotencyKey: id }));
  };
  isLeaseValid = async () => (await this.#link.request("lease", {})).valid === true;
  /** Why the invocation is to stop; undefined while it is not. */
  get cancelled() {
    return this.#cancelled;
  }
  cancel(reason2) {
    if (this.#cancelled) return;
    this.#cancelled = new CancelledError(reason2);
    this.#abort?.abort(this.#cancelled);
  }
  #contextOf(job2) {
    const { jobs, ...shared } = this.#params;
    return new _InvocationContext(linkOfJob(this.#link, job2.jobId ?? ""), { ...shared, ...job2 }, this.#settings, this);
  }
  async #enqueue(jobs, params) {
    const ask = (given2) => this.#link.request("enqueue", params(given2));
    const queues = [...new Set(jobs.map(({ queue }) => queue))].join(",");
    const recorded = this.execution?.recorded("enqueue", queues, (id) => ask(jobs.map((job2, index) => withId(job2, jobs.length > 1 ? `${id}/${index + 1}` : id))));
    return (await (recorded ?? ask(jobs))).jobs;
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
function withId(job2, id) {
  const options = job2.options ?? {};
  const isNamed = ["jobId", "idempotencyKey", "dedupe", "throttle", "debounce"].some((one) => options[one] !== void 0);
  return isNamed ? job2 : { ...job2, options: { ...options, jobId: jobIdOf(id) } };
}
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
  const isSecret = (key2) => {
    let answer2 = known.get(key2);
    if (answer2 === void 0) {
      const name = plain(key2);
      answer2 = words.some((word) => name.endsWith(word));
      if (known.size < 1e3) known.set(key2, answer2);
    }
    return answer2;
  };
  return (meta) => clean(meta, isSecret, []);
}
function clean(value, isSecret, around) {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "function" || typeof value === "symbol") return void 0;
  if (typeof value !== "object" || value === null) return value;
  if (around.includes(value)) return "[circular]";
  if (around.length === deepest) return "[deep]";
  const inside2 = [...around, value];
  if (value instanceof Error) return clean(errorMembers(value), isSecret, inside2);
  if (value instanceof Map) return clean(Object.fromEntries(value), isSecret, inside2);
  if (value instanceof Set) return clean([...value], isSecret, inside2);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if ("toJSON" in value && typeof value.toJSON === "function") return clean(value.toJSON(), isSecret, inside2);
  if (Array.isArray(value)) return value.map((item) => clean(item, isSecret, inside2) ?? null);
  const copy2 = {};
  for (const [key2, member] of Object.entries(value)) {
    copy2[key2] = member != null && isSecret(key2) ? "[redacted]" : clean(member, isSecret, inside2);
  }
  return copy2;
}
function errorMembers(error) {
  const { name, message, stack, cause } = error;
  return { ...error, name, message, stack, cause };
}
function plain(key2) {
  return key2.toLowerCase().replace(/[-_\s]/g, "");
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
var Store = class {
  state;
  version = 0;
  triggers = /* @__PURE__ */ new Map();
  constructor(state = {}) {
    this.state = copy(state);
  }
  makeTrigger(type, payload) {
    const id = `trigger-${this.triggers.size + 1}`;
    const trigger = { id, url: `http://127.0.0.1:4600/api/triggers/${id}`, type, payload };
    this.triggers.set(id, trigger);
    return trigger;
  }
};
var Memory = class {
  logs = [];
  events = [];
  progress = [];
  partials = [];
  enqueued = [];
  calls = [];
  started = [];
  journal;
  checkpoint;
  ended = false;
  #conflicts;
  #options;
  #store;
  #isStep;
  /** Of a step what it emits is recorded too. */
  constructor(options, store = new Store(options.state), isStep = false) {
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
    const answer2 = this.#answers[method];
    if (!answer2) throw new RiverrunError("INTERNAL", `the test kit does not know ${method}`);
    return copy(await answer2(copy(params)));
  }
  notify(method, params) {
    if (this.ended) return;
    const said = copy(params);
    if (method === "log") this.logs.push(said);
    else if (method === "progress") this.progress.push(said);
    else if (method === "partial") this.partials.push(said);
  }
  #answers = {
    "state.get": ({ key: key2 }) => ({ value: getAt(this.state, key2), version: this.#store.version }),
    "state.has": ({ key: key2 }) => ({ has: getAt(this.state, key2) !== void 0 }),
    "state.getAll": () => ({ state: this.state, version: this.#store.version }),
    "state.set": ({ key: key2, value, ifVersion }) => this.#write(setAt(this.state, key2, value), ifVersion),
    "state.delete": ({ key: key2, ifVersion }) => this.#write(deleteAt(this.state, key2), ifVersion),
    "state.setBatch": ({ values, ifVersion }) => {
      const next = Object.entries(values).reduce((state, [key2, value]) => setAt(state, key2, value), this.state);
      return this.#write(next, ifVersion);
    },
    emit: ({ type, data }) => {
      const id = `${Date.now()}-${this.events.length}`;
      this.events.push({ id, ts: (/* @__PURE__ */ new Date()).toISOString(), type, data });
      if (this.#isStep) this.journal.push({ op: "emit", name: type });
      return { id };
    },
    memo: ({ op = "memo", name, value, error }) => {
      this.journal.push(error ? { op, name, error } : { op, name, value });
      return {};
    },
    "await.trigger": ({ type, payload }) => {
      const { id, url } = this.#store.makeTrigger(type, payload);
      this.journal.push({ op: "trigger", name: type, value: { id, url } });
      return { id, url };
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
      this.#store.version += 1;
    }
    if (ifVersion !== void 0 && ifVersion !== this.#store.version) {
      throw new RiverrunError("STATE_CONFLICT", "the state has moved on", { details: { version: this.#store.version } });
    }
    const issues = stateIssues(this.#options.stateSchema, next);
    if (issues.length) {
      const { path, message } = issues[0];
      throw new RiverrunError("STATE_INVALID", `state.${path}: ${message}`, { details: { issues } });
    }
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
    const answer2 = this.#options.calls?.[call.process];
    if (!answer2) throw new RiverrunError("PROCESS_NOT_FOUND", `no process is called ${call.process}; give one in calls`);
    return { value: await answer2(call.input) ?? null };
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
    cancel: (reason2 = "user") => context.cancel(reason2),
    get state() {
      return memory.state;
    },
    get checkpoint() {
      return memory.checkpoint;
    }
  };
}
async function execute(executable, input, given2 = {}) {
  const { handler, config, takes } = parts(executable);
  const options = { ...given2, config: { ...config, ...given2.config } };
  const count = isBatch(options, input) ? Math.max(1, input.length) : 1;
  const memories = Array.from({ length: count }, () => new Memory(memoryOptions(options)));
  const memory = memories[0];
  const ctx = contextOf(memories, options, input);
  const first = takes === "job" ? jobArgument(input, options) : input;
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

// src/testing/expression.ts
function evaluate(expression, args) {
  const text = typeof expression === "function" ? source(expression) : expression;
  const names = Object.keys(args);
  try {
    const call = new Function(...names, `"use strict"; const given = (${text}
); return typeof given === 'function' ? given(${names.join(", ")}) : given`);
    return call(...Object.values(args));
  } catch (cause) {
    const message = `${text} cannot be evaluated: ${cause.message}. The server calls it with ${names.join(", ")}, and it sees no other variable`;
    throw new RiverrunError("EXPRESSION_ERROR", message, { cause, retriable: false });
  }
}

// src/testing/given.ts
var isLater = Symbol("later");
function later(after, payload) {
  return { [isLater]: true, after, payload };
}
async function opened(triggers, trigger) {
  const answer2 = typeof triggers === "function" ? triggers : triggers?.[trigger.type];
  const given2 = await answer2?.(trigger);
  if (given2 === void 0) return void 0;
  if (typeof given2 !== "object" || given2 === null || !(isLater in given2)) return { payload: given2, afterMs: 0 };
  const { after, payload } = given2;
  return { payload: payload ?? null, afterMs: milliseconds2("later", after) };
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
  return { id: `${ms}-${number}`, ts: new Date(ms).toISOString(), runId: "", flowName: "", ...event, type: kind, kind };
}
function matches(match, event) {
  return Object.entries(match).every(([path, value]) => isSame(getAt(event, path), value));
}
function milliseconds2(what, duration) {
  const ms = durationMs(duration);
  if (ms === void 0) throw new TypeError(`${what} must be milliseconds or a duration, is ${String(duration)}`);
  return ms;
}
function isSame(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other || Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key2) => isSame(one[key2], other[key2]));
}

// src/testing/plan.ts
function plan(executables, { flow, entry }) {
  const named = Array.isArray(executables) ? executables.map((one) => [void 0, one]) : Object.entries(executables);
  const all = named.flatMap(([key2, one]) => partsOf(one, key2));
  const begins = flow === void 0 ? void 0 : all.find((part) => part.flow === void 0 && part.step.name === flow);
  const ids = new Set(all.flatMap((part) => part.flow ?? []));
  if (flow !== void 0 && ids.size && !ids.has(flow) && !begins) throw new Error(`no step is part of the flow ${flow}; they name ${[...ids].join(", ")}`);
  const wanted = entry === void 0 ? void 0 : all.find(({ step }) => step.name === entry);
  const id = flow ?? (wanted ? wanted.flow ?? wanted.step.name : [...ids][0]);
  const steps = stepsOf(all.filter((part) => part.flow === void 0 || id === void 0 || part.flow === id));
  const first = entryOf(steps, entry ?? begins?.step.name);
  return { flow: id ?? first.name, entry: first, steps };
}
function plannedStep(executable, key2, flow) {
  const all = partsOf(executable, key2);
  return all.find((part) => flow === void 0 || part.flow === void 0 || part.flow === flow)?.step;
}
function partsOf(executable, key2) {
  const { handler, config, takes } = parts(executable);
  return roles(config).map((role) => {
    const { step, subscriptions = [], triggers = [], join, await: awaits, emits, compensation, onFailure } = { ...config, ...role };
    const name = step ?? key2 ?? (typeof config.queue === "string" ? config.queue : void 0) ?? (handler.name === "default" ? "" : handler.name);
    const heard = [...subscriptions.map(subscription), ...[triggers].flat().map((eventKind) => ({ eventKind }))];
    const planned = { name, isEntry: role.role === "entry", subscriptions: heard, handler, takes, config };
    return { flow: role.id, step: Object.assign(planned, given({ join, await: awaits, emits, compensation, onFailure })) };
  });
}
function stepsOf(found) {
  const steps = /* @__PURE__ */ new Map();
  for (const { step } of found) {
    if (!step.name) throw new Error("a step needs a name: config.step, config.flow.step, or a key in an object of steps");
    if (steps.has(step.name)) throw new Error(`two steps are called ${step.name}`);
    steps.set(step.name, step);
  }
  return steps;
}
function entryOf(steps, wanted) {
  const found = wanted === void 0 ? void 0 : steps.get(wanted);
  if (wanted !== void 0 && !found) throw new Error(`there is no step ${wanted}; there are ${[...steps.keys()].join(", ")}`);
  if (found) return found;
  const all = [...steps.values()];
  const entries = all.filter(({ isEntry }) => isEntry);
  const led = new Set(all.flatMap((step) => [step.compensation?.step, step.await && "onTimeout" in step.await ? step.await.onTimeout : void 0]));
  const candidates = entries.length ? entries : all.filter(({ name, subscriptions }) => !subscriptions.length && !led.has(name));
  const [only] = candidates;
  if (candidates.length !== 1 || !only) throw new Error(`it is not clear where the flow begins (${candidates.map(({ name }) => name).join(", ") || "no step"}): give entry`);
  return only;
}
function roles({ flow }) {
  const list2 = [flow ?? {}].flat();
  return list2.map((one) => typeof one === "string" ? { id: one } : one);
}
function subscription(given2) {
  const { when } = given2;
  const kind = given2.eventKind ?? (typeof when === "object" && typeof when.kind === "string" ? when.kind : void 0);
  if (kind === void 0) throw new Error("runFlow plays subscriptions to one kind of event: give eventKind");
  return { ...given2, eventKind: kind };
}
function given(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== void 0));
}

// src/testing/undo.ts
var Undoing = class {
  /** The run has failed, and undoes what it did. */
  hasBegun = false;
  #finished = [];
  finished({ step, number, undoes }, result) {
    if (step.compensation && !undoes) this.#finished.push({ step, visit: number, result });
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
  return { code, message, stepId, ...details !== void 0 && { details } };
}
function isUndoneBy({ step }, kind) {
  return [step.compensation?.on ?? []].flat().includes(kind);
}
function undo({ step, visit, result }, error) {
  const undone = { step: step.name, visit };
  return { step: step.compensation?.step, visit: undone, input: { ...undone, result: result ?? null, error: error ?? null } };
}

// src/testing/visit.ts
var mostExecutions = 1e4;
var Visit = class {
  constructor(step, number, input, run, options, store, undoes) {
    this.step = step;
    this.number = number;
    this.input = input;
    this.run = run;
    this.options = options;
    this.undoes = undoes;
    this.memory = new Memory(memoryOptions({ ...options, config: step.config, journal: [], state: void 0 }), store, true);
  }
  awaits = [];
  memory;
  startedAt = (/* @__PURE__ */ new Date()).toISOString();
  awaited;
  outcome = { status: "waiting" };
  #executions = 0;
  #endedAt;
  /** Calls the handler. Gives how it ended, or what it waits for. */
  async execute(clock) {
    this.#executions += 1;
    if (this.#executions > mostExecutions) throw new Error(`step ${this.step.name} was called ${mostExecutions} times and still waits`);
    const { level = "debug", redact } = this.step.config.logger ?? {};
    const ctx = new InvocationContext(this.memory, this.#params(), { level, redact: redactor(redact) });
    const execution = ctx.execution;
    const left = new Promise((resolve) => {
      execution.onLeave = (outcome) => resolve(outcome instanceof RiverrunError ? { status: "failed", error: outcome } : outcome);
    });
    const ended = settled(this.#call(ctx), ctx);
    return clock.run(Promise.race([left, ended]));
  }
  began(type, name) {
    const wait = { type, name, from: (/* @__PURE__ */ new Date()).toISOString(), outcome: "waiting" };
    this.awaits.push(wait);
    return wait;
  }
  /** What a wait has brought: the next execution is given it. */
  settle(name, outcome) {
    this.memory.journal.push({ op: "await", name, ...outcome });
  }
  report() {
    const { step, number, input, awaits, startedAt, outcome, memory, undoes } = this;
    const executions = this.#executions;
    return { step: step.name, visit: number, input, ...undoes && { undoes }, ...outcome, awaits, executions, startedAt, endedAt: this.#endedAt ?? (/* @__PURE__ */ new Date()).toISOString(), ...effects(memory) };
  }
  get isActive() {
    return this.#endedAt === void 0;
  }
  end(outcome) {
    this.outcome = outcome;
    this.#endedAt = (/* @__PURE__ */ new Date()).toISOString();
    this.memory.ended = true;
  }
  async #call(ctx) {
    const execution = ctx.execution;
    try {
      const value = await this.step.handler(this.step.takes === "job" ? this.#job() : this.input, ctx);
      const problem = await execution.returned();
      if (problem) throw problem;
      return value;
    } catch (error) {
      execution.threw();
      throw error;
    }
  }
  #job() {
    const { name } = this.step;
    return { id: `job-${this.number}`, name, queue: name, data: this.input, attempt: 1, maxAttempts: 1, enqueuedAt: this.startedAt };
  }
  #params() {
    const { runId, flow, tenantId, correlationId = runId } = this.run;
    return {
      file: "",
      kind: "step",
      process: this.step.name,
      jobId: `job-${this.number}`,
      queue: this.step.name,
      input: this.input,
      attempt: 1,
      maxAttempts: this.step.config.retryPolicy?.attempts ?? 1,
      runId,
      flow,
      step: this.step.name,
      visit: this.number,
      correlationId,
      tenantId,
      awaited: this.awaited,
      checkpoint: this.memory.checkpoint,
      journal: [...this.memory.journal]
    };
  }
};

// src/testing/flow.ts
var mostVisits = 1e3;
async function runFlow(steps, options = {}) {
  const planned = plan(steps, options);
  return simulate(options, async (clock) => {
    const run = new Simulation(planned.flow, planned.steps, options, clock, planned.entry.onFailure);
    run.enter(planned.entry, options.input);
    return run.play();
  });
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
  constructor(flow, steps, options, clock, onFailure = "stop") {
    this.flow = flow;
    this.steps = steps;
    this.options = options;
    this.clock = clock;
    this.onFailure = onFailure;
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
  #error;
  /** The error, as a step that undoes something is told of it. */
  #reason;
  enter(step, input, undoes) {
    if (this.visits.length >= mostVisits) throw new RiverrunError("MAX_STEPS", `the run made ${mostVisits} visits, as many as it may: does a step feed itself?`);
    const number = this.visits.filter((visit2) => visit2.step === step).length + 1;
    const run = { runId: this.options.runId ?? "run-0", flow: this.flow, tenantId: this.options.tenantId, correlationId: this.options.correlationId };
    const visit = new Visit(step, number, input ?? null, run, this.options, this.store, undoes);
    this.visits.push(visit);
    this.#plan(this.clock.now, () => this.#begin(visit));
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
    const { await: declared } = visit.step;
    if (!declared || declared.type === "time" || visit.awaited !== void 0) return this.#execute(visit);
    const done2 = (ending) => {
      if (ending.outcome === "timeout") return this.#tooLate(visit, declared);
      visit.awaited = ending.value;
      return this.#execute(visit);
    };
    const timeoutMs = declared.timeout === void 0 ? void 0 : milliseconds2("timeout", declared.timeout);
    if (declared.type === "trigger") {
      const trigger = this.store.makeTrigger(declared.triggerType ?? "webhook", declared.payload);
      return this.#awaitTrigger(visit, trigger, timeoutMs, done2);
    }
    const lookbackMs = declared.lookback === void 0 ? 0 : milliseconds2("lookback", declared.lookback);
    this.#awaitEvent(visit, declared.eventKind, (event) => this.#fitsDeclared(declared, event, visit), lookbackMs, timeoutMs, done2);
  }
  async #execute(visit) {
    const before = visit.memory.events.length;
    const outcome = await visit.execute(this.clock);
    for (const { type, data, ts } of visit.memory.events.slice(before)) {
      const event = seen({ type, data, runId: visit.run.runId }, Date.parse(ts), this.#events.length);
      this.#arrive({ ...event, flowName: this.flow, stepName: visit.step.name });
    }
    if ("type" in outcome) await this.#suspend(visit, outcome);
    else if (outcome.status !== "completed") this.#fail(visit, outcome.status, outcome.error);
    else this.#afterHandler(visit, outcome.value);
  }
  async #suspend(visit, wait) {
    const name = wait.type === "time" ? "time" : wait.type === "event" ? wait.eventKind : wait.triggerId;
    const done2 = ({ outcome, value = null }) => {
      visit.settle(name, outcome === "timeout" ? { error: timedOut(wait.type) } : { value });
      return this.#execute(visit);
    };
    if (wait.type === "time") return this.#awaitTime(visit, Date.parse(wait.resumeAt), done2);
    if (wait.type === "trigger") return this.#awaitTrigger(visit, this.store.triggers.get(wait.triggerId), wait.timeoutMs, done2);
    const fits = (event) => {
      const args = { event, ctx: { ...this.#context(), input: visit.input }, input: visit.input };
      return matches(wait.match ?? {}, event) && (wait.where === void 0 || Boolean(evaluate(wait.where, args)));
    };
    this.#awaitEvent(visit, wait.eventKind, fits, wait.lookbackMs ?? 0, wait.timeoutMs, done2);
  }
  #afterHandler(visit, value) {
    const { await: declared } = visit.step;
    const end = () => {
      visit.end({ status: "completed", value });
      this.#undoing.finished(visit, value);
    };
    if (declared?.type !== "time") return end();
    const { delay } = declared;
    const wanted = typeof delay === "function" ? evaluate(delay, { result: value }) : delay;
    this.#awaitTime(visit, this.clock.now + milliseconds2("delay", wanted), end);
  }
  #awaitTime(visit, untilMs, done2) {
    const finish = this.#wait(visit, "time", "time", done2);
    this.#plan(untilMs, () => finish({ outcome: "time" }));
  }
  async #awaitTrigger(visit, trigger, timeoutMs, done2) {
    const finish = this.#wait(visit, "trigger", trigger.id, done2);
    const fromMs = this.clock.now;
    const answer2 = await opened(this.options.triggers, trigger);
    if (answer2 && (timeoutMs === void 0 || answer2.afterMs <= timeoutMs)) {
      this.#plan(fromMs + answer2.afterMs, () => finish({ outcome: "trigger", value: answer2.payload }));
    } else if (timeoutMs !== void 0) this.#plan(fromMs + timeoutMs, () => finish({ outcome: "timeout" }));
  }
  #awaitEvent(visit, kind, fits, lookbackMs, timeoutMs, done2) {
    const finish = this.#wait(visit, "event", kind, done2);
    const sinceMs = this.clock.now - lookbackMs;
    const before = lookbackMs ? this.#events.find((event) => event.kind === kind && Date.parse(event.ts) >= sinceMs && fits(event)) : void 0;
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
  #wait(visit, type, name, done2) {
    const wait = visit.began(type, name);
    return (ending) => {
      if (!visit.isActive) return;
      const waitedMs = this.clock.now - Date.parse(wait.from);
      Object.assign(wait, { until: (/* @__PURE__ */ new Date()).toISOString(), waitedMs }, ending);
      return done2(ending);
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
    for (const { step, input } of entered) this.#enterBy(step, event.kind, input);
    for (const undo2 of undone) this.#undo(undo2);
  }
  #openFor(event) {
    return [...this.#open].filter((open) => open.kind === event.kind && open.fits(event));
  }
  #entered(event) {
    if (this.#undoing.hasBegun) return [];
    const ctx = this.#context();
    const found = [];
    for (const step of this.steps.values()) {
      for (const { eventKind, when, map } of step.subscriptions) {
        const condition = typeof when === "object" ? when.where : when;
        if (eventKind !== event.kind || condition !== void 0 && !evaluate(condition, { event, ctx })) continue;
        found.push({ step, input: map === void 0 ? event.data : evaluate(map, { event, ctx }) });
      }
    }
    return found;
  }
  #enterBy(step, kind, input) {
    if (step.join !== "all") return this.enter(step, input);
    this.#held.push({ step: step.name, kind, input });
    const kinds = new Set(step.subscriptions.map(({ eventKind }) => eventKind));
    const firsts = [...kinds].map((wanted) => this.#held.find((held) => held.step === step.name && held.kind === wanted));
    if (!firsts.every((held) => held !== void 0)) return;
    for (const held of firsts) this.#held.splice(this.#held.indexOf(held), 1);
    this.enter(step, Object.fromEntries(firsts.map((held) => [held.kind, held.input ?? null])));
  }
  #fitsDeclared({ where, match }, event, visit) {
    const ctx = { ...this.#context(), input: visit.input };
    const values = Object.entries(match ?? {}).map(([path, wanted]) => [path, typeof wanted === "string" ? getAt({ input: ctx.input, state: ctx.state }, wanted) : wanted.value]);
    return matches(Object.fromEntries(values), event) && (where === void 0 || Boolean(evaluate(where, { event, ctx })));
  }
  #tooLate(visit, { onTimeout }) {
    const { code = "", message } = timedOut(visit.step.await?.type ?? "event");
    if (onTimeout === void 0) return this.#fail(visit, "failed", new RiverrunError(code, message, { retriable: false }));
    const step = this.steps.get(onTimeout);
    if (!step) throw new Error(`step ${visit.step.name} has onTimeout: ${onTimeout}, and there is no such step`);
    visit.end({ status: "timeout" });
    this.enter(step, visit.input);
  }
  /** The first failure is the run's; one while it undoes things is only recorded. */
  #fail(visit, status, error) {
    visit.end({ status, error });
    if (this.#error === void 0) {
      this.#error = error;
      this.#reason = reason(describe(error), visit.step.name);
    }
    if (this.onFailure === "finish" || this.#undoing.hasBegun) return;
    for (const other of this.visits.filter(({ isActive }) => isActive)) this.#cancel(other);
  }
  #cancel(visit) {
    for (const open of this.#open) if (open.visit === visit) this.#open.delete(open);
    visit.end({ status: "cancelled" });
  }
  #undo({ step: name, visit, input }) {
    const step = this.steps.get(name);
    if (!step) throw new Error(`step ${visit.step} has compensation by ${name}, and there is no such step`);
    this.enter(step, input, visit);
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

// src/testing/step.ts
async function runStep(executable, options = {}) {
  const planned = plannedStep(executable, options.step ?? "test", options.flow);
  if (!planned) throw new Error(`the process is no step of the flow ${options.flow}`);
  const { compensation: _, ...step } = { ...planned, ...options.step && { name: options.step }, subscriptions: [] };
  const steps = /* @__PURE__ */ new Map([[step.name, step]]);
  return simulate(options, async (clock) => {
    const simulation = new Simulation(flowOf(options, planned), withOnTimeout(steps, step), options, clock);
    simulation.enter(step, options.input);
    const visit = simulation.visits[0];
    if (options.awaited !== void 0) visit.awaited = options.awaited;
    const { state, elapsedMs } = await simulation.play();
    const { step: _step, visit: _visit, input: _input, ...report } = visit.report();
    return { ...report, state, elapsedMs, journal: visit.memory.journal };
  });
}
function flowOf({ flow }, { config, name }) {
  if (flow !== void 0) return flow;
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
