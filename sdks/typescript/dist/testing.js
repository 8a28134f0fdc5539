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
  const parts = iso.exec(text)?.slice(1);
  if (!parts?.some((part) => part !== void 0)) return void 0;
  const sizes = [7 * day, day, hour, minute, second];
  return Math.round(parts.reduce((sum, part, index) => sum + Number((part ?? "0").replace(",", ".")) * sizes[index], 0));
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
  return match;
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
    return this.#records.some(({ op }, later) => later > at && op === "memo" && this.#taken.has(later));
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
      await Promise.allSettled(this.#inFlight);
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#inFlight.size);
  }
  #track(begin) {
    const work = begin();
    this.#inFlight.add(work);
    const over = () => void this.#inFlight.delete(work);
    work.then(over, over);
    return work;
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
var InvocationContext = class {
  /** What a step does beyond a job: it is executed again and again, with what it did before. */
  execution;
  #link;
  #params;
  #settings;
  #state;
  #logger;
  #journal;
  #await;
  #checkpoint;
  #abort;
  #cancelled;
  constructor(link, params, settings) {
    this.execution = params.kind === "step" ? new StepExecution(link, params) : void 0;
    this.#link = this.execution ?? link;
    this.#params = params;
    this.#settings = settings;
  }
  get state() {
    return this.#state ??= new LinkState(this.#link);
  }
  get logger() {
    return this.#logger ??= new LinkLogger(this.#link, this.#settings);
  }
  get signal() {
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
  correlationId = () => this.#params.correlationId ?? void 0;
  causationId = () => this.#params.causationId ?? void 0;
  emit = async (event, data) => {
    const { type = void 0, kind = type, data: given = data } = typeof event === "string" ? { kind: event } : event;
    if (!kind) throw new TypeError("emit needs the type of the event");
    const ask = async () => (await this.#link.request("emit", { type: kind, data: given })).id;
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
    const ask = (given) => this.#link.request("start", { flow, input: input ?? {}, options: given });
    if (!this.execution) return ask(options);
    const isNamed = options?.idempotencyKey !== void 0 || options?.runId !== void 0;
    return this.execution.recorded("start", flow, (id) => ask(isNamed ? options : { ...options, idempotencyKey: id }));
  };
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
  async #enqueue(jobs, params) {
    const ask = (given) => this.#link.request("enqueue", params(given));
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
    "state.get": ({ key: key2 }) => ({ value: getAt(this.state, key2), version: this.#version }),
    "state.has": ({ key: key2 }) => ({ has: getAt(this.state, key2) !== void 0 }),
    "state.getAll": () => ({ state: this.state, version: this.#version }),
    "state.set": ({ key: key2, value, ifVersion }) => this.#write(setAt(this.state, key2, value), ifVersion),
    "state.delete": ({ key: key2, ifVersion }) => this.#write(deleteAt(this.state, key2), ifVersion),
    "state.setBatch": ({ values, ifVersion }) => {
      const next = Object.entries(values).reduce((state, [key2, value]) => setAt(state, key2, value), this.state);
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
  const context = contextOf(memory, options, void 0);
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
  const memory = new Memory(memoryOptions(options));
  const ctx = contextOf(memory, options, input);
  const first = defined?.takes === "job" ? jobArgument(input, options) : input;
  const timer = options.timeoutMs === void 0 ? void 0 : setTimeout(() => ctx.cancel("timeout"), options.timeoutMs);
  const onAbort = () => ctx.cancel("user");
  options.signal?.addEventListener("abort", onAbort);
  try {
    const running = settled(Promise.resolve().then(() => handler(first, ctx)), ctx);
    const outcome = await (options.clock ? options.clock.run(running) : running);
    return finished(memory, options, outcome);
  } finally {
    memory.ended = true;
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
  const { state, checkpoint: checkpoint2, journal } = memory;
  return { ...outcome, ...effects(memory), state, checkpoint: checkpoint2, journal, attempt: attemptOf(options) };
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
function contextOf(memory, options, input) {
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
  const { level = "debug", redact } = options.config?.logger ?? {};
  return new InvocationContext(memory, params, { level, redact: redactor(redact) });
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
