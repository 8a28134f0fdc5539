import {
  definition,
  describe,
  recordOf,
  refusal,
  revive,
  wireError
} from "./EEZBG35O.js";
import {
  CancelledError,
  ExecutionOver,
  RiverrunError,
  isObject
} from "./5JBL45P5.js";

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
  const text = expression(fn.toString());
  const helpers = [...new Set(text.match(namer))];
  if (!helpers.length || /^async\b/.test(text)) return text;
  return `((${helpers.join(", ")}) => (${text}))(${helpers.map(() => "(named) => named").join(", ")})`;
}
var namer = /(?<![\w$.])__name\d*(?=\()/g;
function expression(text) {
  const [, isAsync = "", name] = /^(async\s+)?([\w$]+)\s*\(/.exec(text) ?? [];
  const isMethod = name !== void 0 && name !== "function" && name !== "async";
  return isMethod ? `${isAsync}function ${text.slice(isAsync.length)}` : text;
}

// src/ctx/awaits.ts
var eventOptions = ["kind", "match", "where", "timeout", "lookback"];
var triggerTypes = ["webhook", "user", "api"];
var triggerOptions = ["type", "payload", "timeout", "many", "secret"];
var maxMs = 864e13;
var StepAwaits = class {
  #step;
  constructor(step) {
    this.#step = step;
  }
  time = async (until) => {
    await this.#step.wait("time", () => time(until));
  };
  event = async (options2, ...more) => {
    if (more.length) throw invalid(`await.event has its options in one object: { ${eventOptions.join(", ")} }`);
    const { kind, match, where, timeout, lookback } = typeof options2 === "string" ? { kind: options2 } : known("await.event", options2, eventOptions);
    if (typeof kind !== "string" || !kind) throw invalid("await.event needs the kind of event");
    return this.#step.wait(kind, () => {
      const wait = { type: "event", eventKind: kind };
      if (match != null) wait.match = literals(match);
      if (where != null) wait.where = filter(where);
      if (lookback === "run" || lookback === "none") wait.lookback = lookback;
      else if (lookback !== void 0) wait.lookbackMs = milliseconds("lookback", lookback, '"run", "none", milliseconds or a duration such as "24h"');
      if (timeout !== void 0) wait.timeoutMs = timeoutIn(timeout);
      return wait;
    });
  };
  trigger = async (options2 = {}) => {
    const { type = "webhook", payload, timeout, many, secret } = known("await.trigger", options2, triggerOptions);
    this.#step.refuseInRun();
    if (!triggerTypes.includes(type)) throw wrong("type", type, "webhook, user or api");
    if (many !== void 0 && typeof many !== "boolean") throw wrong("many", many, 'true or false; how often a callback is resumed before a step goes on is set in the config, as await: { type: "trigger", many }');
    if (secret !== void 0 && typeof secret !== "string") throw wrong("secret", secret, "a text");
    const timeoutMs = timeout === void 0 ? void 0 : timeoutIn(timeout);
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
function time(until) {
  const refuse = () => invalid(`await.time wants milliseconds, a duration such as "1h 30m" or a date, not ${String(until)}`);
  if (typeof until !== "number" && typeof until !== "string" && !(until instanceof Date)) throw refuse();
  const afterMs = until instanceof Date ? void 0 : durationMs(until);
  if (afterMs !== void 0 && afterMs <= maxMs) return { type: "time", afterMs };
  if (typeof until === "number") throw invalid(`await.time wants milliseconds from now, not ${until}`);
  const date = new Date(until);
  if (Number.isNaN(date.getTime())) throw refuse();
  return { type: "time", resumeAt: date.toISOString() };
}
function known(what, options2, names) {
  if (typeof options2 !== "object" || options2 === null) throw invalid(`${what} wants an object with options, not ${String(options2)}`);
  const stranger = Object.entries(options2).find(([name, value]) => value !== void 0 && !names.includes(name))?.[0];
  if (stranger !== void 0) throw invalid(`${what} has no option ${JSON.stringify(stranger)}: it knows ${names.join(", ")}`);
  return options2;
}
function filter(where) {
  if (typeof where === "function") return source(where);
  if (typeof where !== "string") throw invalid(`where must be a function or its source, is ${typeof where}`);
  return where;
}
function timeoutIn(timeout) {
  if (!(timeout instanceof Date)) return milliseconds("timeout", timeout, 'milliseconds, a duration such as "24h" or a date');
  const ms = timeout.getTime() - Date.now();
  if (Number.isNaN(ms)) throw wrong("timeout", timeout, "a date that there is");
  return Math.max(0, ms);
}
function milliseconds(what, duration, allowed) {
  const ms = typeof duration === "number" || typeof duration === "string" ? durationMs(duration) : void 0;
  if (ms === void 0 || ms > maxMs) throw wrong(what, duration, allowed);
  return ms;
}
function wrong(option, value, allowed) {
  return invalid(`${option} must be ${allowed}, is ${shown(value)}`);
}
function shown(value) {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
function literals(match) {
  if (typeof match !== "object" || Array.isArray(match)) throw invalid('match wants an object of dot paths and values, such as { "data.orderId": 7 }');
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
import { isDeepStrictEqual } from "node:util";
var inRun = "inRun";
var shown2 = 20;
var detailed = 50;
var Journal = class {
  #records;
  /** Where the records of each name stand that have no number and were not asked for yet. */
  #open = /* @__PURE__ */ new Map();
  /** Where those stand that say which use they are of. */
  #numbered = /* @__PURE__ */ new Map();
  #uses = /* @__PURE__ */ new Map();
  #taken = /* @__PURE__ */ new Set();
  #done = [];
  /** Where emits stand that were made inside of a `ctx.run`. */
  #inRun;
  /** All records before this one were asked for. */
  #checked = 0;
  /** All records before this one that the code must ask for were asked for. */
  #front = 0;
  /** Where the record stands that was handed out last. */
  #last = 0;
  /** How many records are left that the code must ask for. */
  #left = 0;
  /** Names of state that earlier executions have written, by operation. */
  #written = /* @__PURE__ */ new Set();
  constructor(records2) {
    this.#records = records2;
    for (const [at, { op, name = "", nth }] of records2.entries()) {
      const places = this.#open.get(key(op, name));
      if (nth !== void 0) this.#numbered.set(`${nth} ${key(op, name)}`, at);
      else if (places) places.push(at);
      else this.#open.set(key(op, name), [at]);
    }
    for (const [at, { emits = [] }] of records2.entries()) for (const kind of emits) this.#settle(kind, at);
    this.#inRun = emitsInRun(records2);
    for (const [at, record] of records2.entries()) {
      if (this.#isDue(record, at)) this.#left += 1;
      if (record.op.startsWith("state.")) this.#written.add(key(record.op, record.name ?? ""));
    }
  }
  /** Whether the code has asked for all that was recorded: what it does now is new. */
  get isUsedUp() {
    return this.#left === 0;
  }
  /** How much the code has asked for in this execution. */
  get asked() {
    return this.#done.length;
  }
  /** Whether earlier executions have written this, whatever the value. */
  hasWritten(op, name) {
    return this.#written.has(key(op, name));
  }
  /** The record for the next use of a name; undefined if there is none. */
  next(op, name) {
    this.#done.push({ op, name });
    const nth = this.uses(op, name) + 1;
    this.#uses.set(key(op, name), nth);
    const at = this.#numbered.get(`${nth} ${key(op, name)}`) ?? this.#open.get(key(op, name))?.shift();
    if (at === void 0) return void 0;
    const record = this.#records[at];
    if (this.#isDue(record, at)) this.#left -= 1;
    this.#taken.add(at);
    this.#last = at;
    return record;
  }
  /** Where the record stands that was handed out last. */
  get place() {
    return this.#last;
  }
  /** Whether the code has asked for all that was recorded before a place. */
  isInTurn(place) {
    while (this.#front < place && !this.#isDue(this.#records[this.#front], this.#front)) this.#front += 1;
    return this.#front >= place;
  }
  /**
   * Whether this was written before, by the next record of the name that has the value. Those before
   * it were left by an attempt that went another way: they no longer count, and if there is none at
   * all none does.
   */
  wrote(op, name, value) {
    this.#done.push({ op, name });
    const open = this.#open.get(key(op, name)) ?? [];
    const at = open.findIndex((record) => isDeepStrictEqual(this.#records[record]?.value, value));
    open.splice(0, at < 0 ? open.length : at + 1);
    return at >= 0;
  }
  /** How often this was done so far, in this execution: the number of the latest use. */
  uses(op, name) {
    return this.#uses.get(key(op, name)) ?? 0;
  }
  /**
   * The error for records that the code did not request: the code has changed. With a
   * place, only records before it count.
   */
  mismatch(until = Infinity) {
    const end = Math.min(until, this.#records.length);
    const missing = this.#records.slice(this.#checked, end).filter((record, at) => this.#isDue(record, this.#checked + at)).map(done);
    if (!missing.length) {
      this.#checked = Math.max(this.#checked, end);
      return void 0;
    }
    const first = this.#records.findIndex((record, at) => this.#isDue(record, at));
    const around = this.#records.slice(Math.max(0, first - detailed), first + detailed);
    const recorded = around.filter(({ op }) => op !== inRun).map(done);
    const asked = this.#done.slice(-2 * detailed);
    const message = `this execution did not do what earlier ones of the same visit recorded: ${list(missing)}. Recorded: ${list(recorded)}. Done: ${list(asked)}. Code that goes on is called again from the top and must do the same until there: has it changed, or does it depend on time, chance or something outside of ctx.run?`;
    const details = { recorded, done: asked, missing: missing.slice(0, detailed) };
    return new RiverrunError("JOURNAL_MISMATCH", message, { retriable: false, details });
  }
  /** Whether the code has still to ask for a record. */
  #isDue(record, at) {
    return !this.#taken.has(at) && !this.#inRun.has(at) && mustBeUsed(record);
  }
  /**
   * An emit inside of a recorded `ctx.run` is not requested again. It is the last one before the
   * record of the run, so that an emit from before an earlier wait still counts as missing.
   */
  #settle(kind, memo) {
    const open = this.#open.get(key("emit", kind)) ?? [];
    const last = open.findLastIndex((at) => at < memo);
    for (const at of last < 0 ? [] : open.splice(last, 1)) this.#taken.add(at);
  }
};
function emitsInRun(records2) {
  const noted = /* @__PURE__ */ new Map();
  const found = /* @__PURE__ */ new Set();
  for (const [at, { op, name = "" }] of records2.entries()) {
    const notes = noted.get(name) ?? 0;
    if (op === inRun) noted.set(name, notes + 1);
    if (op !== "emit" || !notes) continue;
    noted.set(name, notes - 1);
    found.add(at);
  }
  return found;
}
function key(op, name) {
  return `${op} ${name}`;
}
function mustBeUsed({ op }) {
  return op !== inRun && op !== "patched" && !op.startsWith("state.");
}
function done({ op, name = "" }) {
  return { op, name };
}
function list(entries) {
  if (!entries.length) return "nothing";
  const texts = entries.slice(0, shown2).map(({ op, name }) => `${op} ${JSON.stringify(name)}`);
  return entries.length > shown2 ? `${texts.join(", ")} and ${entries.length - shown2} more` : texts.join(", ");
}

// src/ctx/outcomes.ts
var Outcomes = class {
  #options;
  constructor(options2) {
    this.#options = options2;
  }
  /**
   * Does something and has its outcome recorded. What it throws is what a replay would throw.
   * `suspend` leaves a long wait for the next try to the server.
   */
  async of(doing, work, suspend) {
    const { stop, leave } = this.#options;
    let next = this.#pending(doing);
    for (; ; ) {
      if (next?.suspend && suspend) return suspend();
      if (next) await pause(next.retryAfterMs, stop.signal);
      if (stop.cancelled) return leave(stop.cancelled);
      let value;
      try {
        value = await bounded(doing, next?.attempt ?? 1, stop, work);
      } catch (thrown) {
        if (thrown instanceof ExecutionOver) return leave(thrown);
        if (stop.cancelled) return leave(stop.cancelled);
        if (thrown instanceof CancelledError) throw thrown;
        const error = recordOf(thrown);
        if (error.retriable === false) throw await this.#final(doing, error);
        const { retry } = doing;
        const answer2 = await this.#record("memo.failed", params(doing, retry === void 0 ? { error } : { error, retry }));
        if (answer2.final) throw revive(final(error));
        next = answer2;
        continue;
      }
      try {
        await this.#record("memo", params(doing, { value }));
      } catch (refused) {
        throw await this.#final(doing, recordOf(refused));
      }
      return value;
    }
  }
  /** Records that an operation has failed for good; gives the error that a replay would throw. */
  async #final(doing, error) {
    await this.#record("memo", params(doing, { error }));
    return revive(error);
  }
  /** Asks the server to record an outcome. Code never continues with an outcome that is not recorded. */
  async #record(method, asked) {
    try {
      return await this.#options.ask(method, asked);
    } catch (error) {
      const refused = error;
      if (refused.retriable === false && !(refused instanceof ExecutionOver) && "value" in asked) throw refused;
      return this.#options.leave(refused);
    }
  }
  #pending({ op, name, nth }) {
    return this.#options.pending?.find((one) => one.op === op && one.name === name && (one.nth ?? 1) === nth);
  }
};
function params({ op, name, nth, emits }, outcome) {
  const params2 = op === "memo" ? { name } : { op, name };
  if (nth > 1) params2.nth = nth;
  if (emits?.length) params2.emits = [...emits];
  return Object.assign(params2, outcome);
}
function final({ retryAfterMs, ...error }) {
  return { ...error, retriable: false };
}
var Unlimited = class {
  attempt;
  over = void 0;
  #stop;
  constructor(attempt, stop) {
    this.attempt = attempt;
    this.#stop = stop;
  }
  get signal() {
    return this.#stop.signal;
  }
};
function numbered(nth) {
  return nth > 1 ? { nth } : {};
}
function bounded(doing, attempt, stop, work) {
  const { name, timeoutMs } = doing;
  if (timeoutMs === void 0) return work(new Unlimited(attempt, stop));
  const controller = new AbortController();
  const given = { attempt, signal: controller.signal, over: void 0 };
  const abort = () => controller.abort(stop.cancelled);
  if (stop.cancelled) abort();
  else stop.signal.addEventListener("abort", abort);
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      given.over = new RiverrunError("TIMEOUT", `try ${attempt} of run(${JSON.stringify(name)}) took longer than ${timeoutMs} ms`);
      controller.abort(given.over);
      reject(given.over);
    }, timeoutMs);
  });
  const running = (async () => work(given))();
  running.catch(() => {
  });
  return Promise.race([running, late]).finally(() => {
    clearTimeout(timer);
    stop.signal.removeEventListener("abort", abort);
  });
}
function pause(ms, signal) {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", go);
      resolve();
    };
    const timer = setTimeout(go, ms);
    if (signal.aborted) go();
    else signal.addEventListener("abort", go, { once: true });
  });
}

// src/ctx/execution.ts
var inside = new AsyncLocalStorage();
var records = /* @__PURE__ */ new Set(["emit", "memo", "memo.failed", "await.trigger", "state.set", "state.delete", "state.setBatch"]);
var never = () => new Promise(() => {
});
var graceMs = 1e3;
var longGraceMs = 3e4;
var ownTimers = 0;
var StepExecution = class {
  /** Called when the code waits, or was found to be wrong when it did. */
  onLeave = () => {
  };
  /** Called when the handler has returned although it still waits. */
  onForgotten = () => {
  };
  #link;
  #params;
  #journal;
  #inFlight = /* @__PURE__ */ new Set();
  #stop;
  #outcomes;
  /** What the code has read since something was last recorded, and notes of what is next. It is recorded with that. */
  #seen = [];
  /** What the code waits for. */
  #waits;
  /** Something that failed waits for its next try, for which the server waits. */
  #backsOff = false;
  /** Waits that are over, and after which the code has yet to go on. */
  #settling = 0;
  #held = [];
  #refused;
  #ended = false;
  #left = false;
  constructor(link, params2, stop) {
    this.#link = link;
    this.#params = params2;
    this.#journal = new Journal(params2.journal ?? []);
    this.#stop = stop;
  }
  request(method, params2) {
    return this.#track(() => this.#ask(method, params2));
  }
  notify(method, params2) {
    if (!this.#left) this.#link.notify(method, params2);
  }
  /** Emits, which the server records by itself. Inside of a `ctx.run` its record belongs to that. */
  emit(kind, ask) {
    const run = inside.getStore();
    return this.#track(async (release) => {
      if (run) {
        refuseOver(run);
        const nth = (run.emitted.get(kind) ?? 0) + 1;
        run.emitted.set(kind, nth);
        if (nth <= run.emits.filter((one) => one === kind).length) return null;
      }
      run?.emits.push(kind);
      const record = this.#next("emit", kind);
      if (record && run) return answer(record);
      if (record) return this.#inTurn(record, release);
      if (!run && !this.#journal.isUsedUp) await this.#hold(release);
      if (run) this.#seen.push({ op: inRun, name: kind });
      try {
        return await ask();
      } catch (error) {
        run?.emits.splice(run.emits.indexOf(kind), 1);
        throw error;
      }
    });
  }
  /** Does something that the server records by itself. */
  once(op, name, work) {
    return this.#track(async (release) => {
      const record = this.#next(op, name);
      if (record) return this.#inTurn(record, release);
      if (!this.#journal.isUsedUp) await this.#hold(release);
      return work();
    });
  }
  /** Reads something that may have changed when the code is called again: then it gets this answer. */
  async read(op, name, ask) {
    if (inside.getStore()) return ask();
    const record = this.#next(op, name);
    if (record) return record.value;
    const nth = this.#journal.uses(op, name);
    const value = await ask();
    this.#seen.push({ op, name, ...numbered(nth), value });
    return value;
  }
  /** Writes something, unless an earlier execution did. Inside of a `ctx.run` it is part of that. */
  async write(op, name, params2, value) {
    if (inside.getStore()) await this.request(op, { ...params2, inRun: true });
    else if (!this.#journal.wrote(op, name, json(value))) {
      if (this.#isNewWrite(op, name)) await this.#track((release) => this.#hold(release));
      await this.request(op, params2);
    }
  }
  /** Changes something by what it is now. If the change writes nothing, that is what is recorded. */
  async patch(op, name, change) {
    if (inside.getStore()) return change(true);
    const record = this.#next(op, name);
    if (record) return record.value;
    if (this.#isNewWrite(op, name)) await this.#track((release) => this.#hold(release));
    const value = await change(false);
    if (value === void 0) this.#seen.push({ op, name });
    return value;
  }
  /**
   * Does something and has its outcome recorded. `work` is given an id that is the same in every
   * execution of the visit. Inside of a `ctx.run` nothing is recorded: the run is.
   */
  recorded(op, name, work, settings = {}, emits = []) {
    const run = inside.getStore();
    if (run) {
      return this.#track(async () => {
        refuseOver(run);
        return work(this.#idInside(run, op, name), run.try);
      });
    }
    return this.#track(async (release) => {
      const record = this.#next(op, name);
      if (record) return this.#inTurn(record, release);
      const nth = this.#journal.uses(op, name);
      if (!this.#journal.isUsedUp) await this.#hold(release);
      const doing = { op, name, nth, emits, ...settings };
      this.#outcomes ??= this.#newOutcomes();
      return this.#outcomes.of(doing, (attempt) => work(this.#id(name, nth), attempt), () => this.#backOff(release));
    });
  }
  #newOutcomes() {
    return new Outcomes({
      ask: (method, asked) => this.#ask(method, asked),
      stop: this.#stop,
      leave: (error) => this.#end(error),
      pending: this.#params.retries ?? []
    });
  }
  /** A part of the work that is recorded as a whole. */
  run(name, work, settings = {}) {
    const emits = [];
    return this.recorded("memo", name, (id, attempt) => {
      if (inside.getStore()) return work(attempt);
      const number = Number(id.slice(id.lastIndexOf("/") + 1));
      return inside.run({ name, number, uses: /* @__PURE__ */ new Map(), emits, emitted: /* @__PURE__ */ new Map(), try: attempt }, () => work(attempt));
    }, settings, emits);
  }
  /** Whether the code takes the path of a change: runs that were past it before take the old one. */
  patched(id) {
    const record = this.#next("patched", id);
    if (record) return record.value === true;
    if (!this.#journal.isUsedUp) return false;
    const nth = this.#journal.uses("patched", id);
    this.#seen.push({ op: "patched", name: id, ...numbered(nth), value: true });
    return true;
  }
  /** The record for the next use of a name. It may let go on what was held back. */
  #next(op, name) {
    const record = this.#journal.next(op, name);
    if (!this.#held.length) return record;
    const ready = this.#held.filter((held) => this.#isReady(held.place)).sort((one, other) => one.place - other.place);
    for (const held of ready) {
      this.#held.splice(this.#held.indexOf(held), 1);
      setImmediate(held.go);
    }
    return record;
  }
  #isReady(place) {
    return place === Infinity ? this.#journal.isUsedUp : this.#journal.isInTurn(place);
  }
  /** The answer that was recorded, after those that were recorded before it. */
  async #inTurn(record, release) {
    const place = this.#journal.place;
    if (!this.#journal.isInTurn(place)) await this.#hold(release, place);
    return answer(record);
  }
  /** A write under a name that no earlier execution has written to is new. */
  #isNewWrite(op, name) {
    return !this.#journal.isUsedUp && !this.#journal.hasWritten(op, name);
  }
  /** Waits until the code has asked for all that was recorded, or for all before a place. */
  #hold(release, place = Infinity) {
    return new Promise((go) => {
      this.#held.push({ place, go, release });
      if (this.#held.length === 1) void this.#judgeHeld();
    });
  }
  /** The code does not fit its journal if it asks for nothing more while records are left. */
  async #judgeHeld() {
    const longMs = Math.min(longGraceMs, (this.#params.timeoutMs ?? 2 * longGraceMs) / 2);
    for (let [asked, quietMs] = [-1, 0]; asked !== this.#journal.asked || quietMs < longMs && mayWait(); quietMs += graceMs) {
      if (asked !== this.#journal.asked) quietMs = 0;
      asked = this.#journal.asked;
      ownTimers += 1;
      await new Promise((resolve) => setTimeout(resolve, graceMs));
      ownTimers -= 1;
      while (this.#held.length && this.#inFlight.size > this.#held.length) await Promise.race(this.#inFlight);
      if (!this.#held.length) return;
    }
    const mismatch = this.#journal.mismatch(Math.min(...this.#held.map(({ place }) => place)));
    if (!mismatch || this.#left) return;
    this.#refused = mismatch;
    for (const { release } of this.#held.splice(0)) release();
    if (this.#ended) return;
    this.#left = true;
    this.onLeave(mismatch, this.#takeSeen());
  }
  /** Leaves the wait for the next try of something to the server, once nothing else is under way. */
  #backOff(release) {
    this.#backsOff = true;
    release();
    void this.#leave({ type: "retry" });
    return never();
  }
  /** Gives what a wait has brought, or ends this execution. */
  async wait(name, makeWait) {
    this.refuseInRun();
    const record = this.#next("await", name);
    if (record) return this.#settled(record, this.#journal.place);
    if (this.#left) return never();
    if (this.#stop.cancelled) return this.#end(this.#stop.cancelled);
    if (this.#waits) {
      this.#refused = concurrent();
      throw this.#refused;
    }
    const wait = makeWait();
    this.#waits = wait;
    void this.#leave(wait);
    return never();
  }
  /**
   * Goes on after a wait, unless something was recorded before it that the code did not do this
   * time: then nothing that stands after it is done.
   */
  async #settled(record, place) {
    this.#settling++;
    try {
      await this.#quiet();
    } finally {
      this.#settling--;
    }
    if (this.#left) return never();
    const mismatch = this.#ended ? void 0 : this.#journal.mismatch(place);
    if (!mismatch) return answer(record);
    this.#left = true;
    this.onLeave(mismatch, this.#takeSeen());
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
    const problem = this.#refused ?? this.#journal.mismatch();
    if (!problem && this.#backsOff && !this.#left) {
      this.#left = true;
      this.onLeave({ type: "retry" }, this.#takeSeen());
      return never();
    }
    if (!problem && this.#waits && !this.#left) this.onForgotten(forgotten(this.#waits));
    return problem;
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
    do
      await this.#quiet();
    while (this.#settling);
    if (this.#ended || this.#left) return;
    this.#left = true;
    const next = this.#backsOff ? { type: "retry" } : wait;
    this.onLeave(this.#refused ?? this.#journal.mismatch() ?? next, this.#takeSeen());
  }
  /** Asks; what is recorded takes along what was read before it. Code does not continue once the execution is over. */
  async #ask(method, params2) {
    if (this.#left) return never();
    try {
      return await this.#link.request(method, this.#seen.length && records.has(method) ? { ...params2, seen: this.#takeSeen() } : params2);
    } catch (error) {
      if (error instanceof ExecutionOver) return this.#end(error);
      throw error;
    }
  }
  /** Ends this execution with an error that the code does not see: nothing that it does from here on counts. */
  #end(error) {
    if (!this.#left && !this.#ended) {
      this.#left = true;
      this.onLeave(error, this.#takeSeen());
    }
    return never();
  }
  #takeSeen() {
    return this.#seen.splice(0);
  }
  /** Until nothing is under way, and what that has led to neither. */
  async #quiet() {
    do {
      await Promise.all(this.#inFlight);
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#inFlight.size);
  }
  /** `release` ends the watch over work that goes on in a later execution. */
  #track(begin) {
    let over = () => {
    };
    const watched = new Promise((resolve) => {
      over = () => {
        this.#inFlight.delete(watched);
        resolve();
      };
    });
    this.#inFlight.add(watched);
    const { cancelled } = this.#stop;
    const work = this.#left ? never() : cancelled ? this.#end(cancelled) : begin(over);
    work.then(over, over);
    return work.then((value) => value);
  }
};
function jobIdOf(text) {
  const plain3 = text.replaceAll("/", ".");
  return /^[\w.~-]{1,128}$/.test(plain3) ? plain3 : `step-${createHash("sha256").update(text).digest("hex")}`;
}
function mayWait() {
  const open = process.getActiveResourcesInfo().filter((type) => type !== "PipeWrap" && type !== "TTYWrap");
  return open.length > ownTimers;
}
function json(value) {
  return value === void 0 ? void 0 : JSON.parse(JSON.stringify(value) ?? "null");
}
function refuseOver({ try: { over } }) {
  if (over) throw over;
}
function answer({ op, value, error }) {
  if (error) throw revive(op === "await" ? { retriable: false, ...error } : error);
  return value ?? null;
}
function forgotten(wait) {
  const what = wait.type === "time" ? "ctx.await.time" : wait.type === "event" ? `ctx.await.event(${JSON.stringify(wait.eventKind)})` : wait.type === "trigger" ? `wait() of the trigger ${wait.triggerId}` : "a retry";
  return `the handler returned while ${what} still waited, so nothing was waited for: is an await missing before it?`;
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
    request: (method, params2) => link.request(method, { jobId, ...params2 }),
    notify: (method, params2) => link.notify(method, { jobId, ...params2 })
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
  #step;
  constructor(link, step) {
    this.#link = link;
    this.#step = step;
  }
  get = async (key2) => {
    const ask = async () => valueOf(await this.#link.request("state.get", { key: key2 }));
    return (await this.#read("state.get", key2, ask)).value;
  };
  has = async (key2) => this.#read("state.has", key2, async () => (await this.#link.request("state.has", { key: key2 })).has);
  getAll = async () => this.#read("state.getAll", "", async () => (await this.#link.request("state.getAll", {})).state);
  set = async (key2, value) => {
    if (value === void 0) throw new TypeError(`state.set(${JSON.stringify(key2)}) needs a value; state.delete removes one`);
    await this.#write("state.set", key2, { key: key2, value }, value);
  };
  delete = async (key2) => {
    await this.#write("state.delete", key2, { key: key2 });
  };
  setBatch = async (values) => {
    await this.#write("state.setBatch", "", { values }, values);
  };
  patch = (first, second2, third) => typeof first === "string" ? this.#patch("state.set", first, third, (more) => this.#patchKey(first, second2, more)) : this.#patch("state.setBatch", "", second2, (more) => this.#patchAll(first, more));
  #read(op, name, ask) {
    return this.#step ? this.#step.read(op, name, ask) : ask();
  }
  async #write(op, name, params2, value) {
    if (this.#step) await this.#step.write(op, name, params2, value);
    else await this.#link.request(op, params2);
  }
  #patch(op, name, options2, attempt) {
    if (!this.#step) return retrying(options2, () => attempt({}));
    return this.#step.patch(op, name, (inRun2) => retrying(options2, () => attempt(inRun2 ? { inRun: true } : {})));
  }
  async #patchKey(key2, change, more) {
    const { value: before, version } = await this.#link.request("state.get", { key: key2 });
    const value = await change(before);
    if (value !== void 0) await this.#link.request("state.set", { key: key2, value, ifVersion: version, ...more });
    return value;
  }
  async #patchAll(change, more) {
    const { state, version } = await this.#link.request("state.getAll", {});
    const values = await change(state);
    if (values !== void 0) await this.#link.request("state.setBatch", { values, ifVersion: version, ...more });
    return values;
  }
};
function valueOf({ value }) {
  return value === void 0 ? {} : { value };
}
async function retrying(options2, attempt) {
  const retries = options2?.retries ?? 100;
  for (let tried = 0; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const conflict = error instanceof RiverrunError && error.code === "STATE_CONFLICT";
      if (!conflict || tried >= retries) throw error;
      if (tried >= 3) await pause2(Math.random() * Math.min(2 ** tried, 200));
    }
  }
}
function pause2(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// src/ctx/invocation.ts
var InvocationContext = class _InvocationContext {
  /** What a step does beyond a job: it is executed again and again, with what it did before. */
  execution;
  /** Called when the code of a job must not continue: an outcome of `ctx.run` cannot be recorded. */
  onLeave = () => {
  };
  #link;
  #params;
  #settings;
  #batch;
  #jobs;
  #state;
  #logger;
  #journal;
  #outcomes;
  #await;
  #checkpoint;
  #abort;
  #cancelled;
  /** `batch` is the context of the batch to which this job belongs. */
  constructor(link, params2, settings, batch) {
    this.execution = params2.kind === "step" ? new StepExecution(link, params2, this) : void 0;
    if (this.execution) this.execution.onForgotten = (message) => this.logger.warn(message);
    this.#link = this.execution ?? link;
    this.#params = params2;
    this.#settings = settings;
    this.#batch = batch;
  }
  get state() {
    return this.#state ??= new LinkState(this.#link, this.execution);
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
  get config() {
    return this.#params.config ?? {};
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
    const at = typeof which === "number" ? which : jobs.findIndex((job2) => job2.jobId === which);
    const job = jobs[at];
    if (!job) throw new RangeError(`this invocation has no job ${JSON.stringify(which)}; it has ${jobs.length}`);
    if (!this.#params.jobs) return this;
    this.#jobs ??= [];
    return this.#jobs[at] ??= this.#contextOf(job);
  };
  correlationId = () => this.#params.correlationId ?? this.#params.runId ?? this.#params.jobId ?? void 0;
  causationId = () => this.#params.causationId ?? void 0;
  emit = async (event, data) => {
    const { type = void 0, kind = type, data: given = data } = typeof event === "string" ? { kind: event } : event ?? {};
    if (typeof kind !== "string" || !kind) throw new RiverrunError("BAD_EVENT", "emit needs the type of the event", { retriable: false });
    const ask = async () => (await this.#link.request("emit", { type: kind, data: given })).id;
    return await (this.execution ? this.execution.emit(kind, ask) : ask()) ?? "";
  };
  progress = (pct, detail) => {
    if (!Number.isFinite(pct)) throw new TypeError(`progress must be a number from 0 to 100, is ${pct}`);
    this.#link.notify("progress", { pct: Math.min(100, Math.max(0, pct)), detail });
  };
  partial = (value, path) => this.#link.notify("partial", { path, value: value ?? null });
  run = async (name, fn, options2 = {}) => {
    const settings = runSettings(name, options2);
    if (this.execution) return this.execution.run(name, async (attempt) => json2(name, await fn(attempt)), settings);
    this.#journal ??= new Journal(this.#params.journal ?? []);
    const memo = this.#journal.next("memo", name);
    if (memo?.error) throw revive(memo.error);
    if (memo) return memo.value ?? null;
    const nth = this.#journal.uses("memo", name);
    this.#outcomes ??= new Outcomes({ ask: (method, params2) => this.#link.request(method, params2), stop: this, leave: (error) => this.#leave(error) });
    return this.#outcomes.of({ op: "memo", name, nth, ...settings }, async (attempt) => json2(name, await fn(attempt)));
  };
  patched = (id) => this.execution ? this.execution.patched(id) : true;
  call = (process2, input, { retry, ...options2 } = {}) => {
    const ask = async () => (await this.#link.request("call", { process: process2, input: input ?? null, ...options2 })).value;
    return this.execution ? this.execution.recorded("call", process2, ask, { retry }) : ask();
  };
  enqueue = async (to, data, options2) => {
    if (typeof to !== "string") return this.#enqueue(to, (jobs) => ({ jobs }));
    const { name, ...rest } = options2 ?? {};
    const job = { queue: to, ...name !== void 0 && { name }, data: data ?? null };
    if (Object.keys(rest).length) job.options = rest;
    return (await this.#enqueue([job], ([one]) => ({ ...one })))[0];
  };
  start = (flow, input, options2) => {
    const ask = (given) => this.#link.request("start", { flow, input: input ?? {}, options: given });
    if (!this.execution) return ask(options2);
    const isNamed = options2?.idempotencyKey !== void 0 || options2?.runId !== void 0;
    return this.execution.recorded("start", flow, (id) => ask(isNamed ? options2 : { ...options2, idempotencyKey: id }), { retry: false });
  };
  isLeaseValid = async () => (await this.#link.request("lease", {})).valid === true;
  /** Why the invocation is to stop; undefined while it is not. */
  get cancelled() {
    return this.#batch ? this.#batch.cancelled : this.#cancelled;
  }
  cancel(reason) {
    if (this.#cancelled) return;
    this.#cancelled = new CancelledError(reason);
    this.#abort?.abort(this.#cancelled);
  }
  #leave(error) {
    const { onLeave } = this.#batch ?? this;
    onLeave(error);
    return new Promise(() => {
    });
  }
  #contextOf(job) {
    const { jobs, ...shared } = this.#params;
    return new _InvocationContext(linkOfJob(this.#link, job.jobId ?? ""), { ...shared, ...job }, this.#settings, this);
  }
  async #enqueue(jobs, params2) {
    const ask = (given) => this.#link.request("enqueue", params2(given));
    const queues = [...new Set(jobs.map(({ queue }) => queue))].join(",");
    const recorded = this.execution?.recorded("enqueue", queues, (id) => ask(jobs.map((job, index) => withId(job, jobs.length > 1 ? `${id}/${index + 1}` : id))), { retry: false });
    return (await (recorded ?? ask(jobs))).jobs;
  }
};
function withId(job, id) {
  const options2 = job.options ?? {};
  const isNamed = ["jobId", "idempotencyKey", "dedupe", "throttle", "debounce"].some((one) => options2[one] !== void 0);
  return isNamed ? job : { ...job, options: { ...options2, jobId: jobIdOf(id) } };
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
var retrySettings = ["maxAttempts", "backoffMs", "backoffMultiplier", "maxBackoffMs", "retryOn", "jitter", "attempts", "backoff", "retriableErrors"];
function runSettings(name, options2) {
  const invalid3 = (problem) => new RiverrunError("INPUT_ERROR", `run(${JSON.stringify(name)}): ${problem}`, { retriable: false });
  if (typeof options2 !== "object" || options2 === null) throw invalid3(`options must be an object with retry and timeoutMs, not ${String(options2)}`);
  const { retry, timeoutMs, ...unknown } = options2;
  const stranger = Object.keys(unknown)[0];
  if (stranger !== void 0) throw invalid3(`there is no option ${JSON.stringify(stranger)}: there are retry and timeoutMs`);
  if (timeoutMs !== void 0 && !(typeof timeoutMs === "number" && timeoutMs > 0)) throw invalid3(`timeoutMs must be a positive number, is ${String(timeoutMs)}`);
  if (retry !== void 0 && retry !== false && !(typeof retry === "number" && Number.isInteger(retry) && retry > 0) && (typeof retry !== "object" || retry === null)) {
    throw invalid3(`retry must be false, a number of attempts or a policy such as { maxAttempts: 5, backoffMs: 1000 }`);
  }
  if (typeof retry === "object") {
    const word = Object.keys(retry).find((key2) => !retrySettings.includes(key2));
    if (word !== void 0) throw invalid3(`retry has no setting ${JSON.stringify(word)}: it has maxAttempts, backoffMs, backoffMultiplier, maxBackoffMs, retryOn and jitter`);
  }
  return { ...retry !== void 0 && { retry }, ...timeoutMs !== void 0 && { timeoutMs: Math.min(timeoutMs, 2 ** 31 - 1) } };
}
function json2(name, value) {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null");
  } catch (cause) {
    throw new RiverrunError("RESULT_NOT_JSON", `what run(${JSON.stringify(name)}) gave is not JSON: ${cause.message}`, { retriable: false, cause });
  }
}

// src/ctx/redact.ts
var secrets = ["password", "passwd", "passphrase", "secret", "token", "authorization", "apikey", "privatekey", "cookie", "credentials"];
var deepest = 8;
function redactor(more = []) {
  const words = [...secrets, ...more].map(plain);
  const known2 = /* @__PURE__ */ new Map();
  const isSecret = (key2) => {
    let answer2 = known2.get(key2);
    if (answer2 === void 0) {
      const name = plain(key2);
      answer2 = words.some((word) => name.endsWith(word));
      if (known2.size < 1e3) known2.set(key2, answer2);
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
  const copy = {};
  for (const [key2, member] of Object.entries(value)) {
    copy[key2] = member != null && isSecret(key2) ? "[redacted]" : clean(member, isSecret, inside2);
  }
  return copy;
}
function errorMembers(error) {
  const { name, message, stack, cause } = error;
  return { ...error, name, message, stack, cause };
}
function plain(key2) {
  return key2.toLowerCase().replace(/[-_\s]/g, "");
}

// src/worker/processes.ts
import { join } from "node:path";

// src/runner/config-json.ts
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
async function configJson(config, file) {
  if (config === void 0 || config === null) return {};
  if (!isObject(config)) throw invalid2(file, "config", `must be an object, is ${typeof config}`);
  return await json3(config, { file, path: "config", around: [] });
}
async function json3(value, place) {
  if (value === void 0) return void 0;
  if (typeof value === "function") return isSchema(value) ? jsonSchema(value, place) : { $function: source(value) };
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value !== "object") throw invalid2(place.file, place.path, `is ${String(value)}, which is not JSON`);
  if (place.around.includes(value)) throw invalid2(place.file, place.path, "contains itself");
  if (isSchema(value)) return jsonSchema(value, place);
  if (value instanceof RegExp) return value.source;
  if ("toJSON" in value && typeof value.toJSON === "function") return json3(value.toJSON(), place);
  const around = [...place.around, value];
  if (Array.isArray(value)) {
    const items = value.map((item, index) => json3(item, { ...place, path: `${place.path}[${index}]`, around }));
    return (await Promise.all(items)).map((item) => item ?? null);
  }
  const object = {};
  for (const [key2, member] of Object.entries(value)) {
    const made = await json3(member, { ...place, path: `${place.path}.${key2}`, around });
    if (made !== void 0) object[key2] = made;
  }
  return object;
}
function isSchema(value) {
  const schema = value;
  return "_zod" in schema || isZod3(schema) || isObject(schema["~standard"]);
}
function isZod3(schema) {
  return isObject(schema._def) && typeof schema._def.typeName === "string" && schema._def.typeName.startsWith("Zod");
}
var options = { io: "input", unrepresentable: "any" };
var inputOptions = { ...options, override: ({ zodSchema, jsonSchema: jsonSchema2 }) => takesAnything(zodSchema?._zod?.def) && clear(jsonSchema2) };
function takesAnything(def) {
  const isPreprocessed = def?.type === "pipe" && def.in?._zod?.def?.type === "transform" || def?.effect?.type === "preprocess";
  return def?.coerce === true || isPreprocessed;
}
function clear(schema) {
  for (const key2 of Object.keys(schema)) delete schema[key2];
}
async function jsonSchema(value, place) {
  const schema = value;
  const standard = schema["~standard"];
  const wanted = place.path === "config.inputSchema" ? inputOptions : options;
  try {
    if (typeof schema.toJSONSchema === "function") return plain2(schema.toJSONSchema(wanted));
    if (typeof schema.toJsonSchema === "function") return plain2(schema.toJsonSchema({}));
    if (standard?.jsonSchema?.input) return plain2(standard.jsonSchema.input({ target: "draft-2020-12" }));
    if ("_zod" in schema) return await zod4(schema, place, wanted);
    if (isZod3(schema)) return await zod3(schema, place, wanted === inputOptions);
  } catch (error) {
    if (error instanceof RiverrunError) throw error;
    throw invalid2(place.file, place.path, `cannot be made JSON Schema: ${error.message}`);
  }
  throw invalid2(place.file, place.path, `is a schema of ${standard?.vendor ?? "a library"} that cannot be made JSON Schema; give a JSON Schema instead`);
}
async function zod4(schema, place, options2) {
  for (const name of ["zod", "zod/v4", "zod/v4/core"]) {
    const zod = await importFrom(place.file, name);
    if (zod?.toJSONSchema) return plain2(zod.toJSONSchema(schema, options2));
  }
  throw invalid2(place.file, place.path, "is a zod schema, but zod is not found in the project (npm i zod)");
}
async function zod3(schema, place, isInput) {
  const module = await importFrom(place.file, "zod-to-json-schema");
  const { zodToJsonSchema, ignoreOverride } = module ?? {};
  const override = (def) => takesAnything(def) ? {} : ignoreOverride;
  if (zodToJsonSchema) return plain2(zodToJsonSchema(schema, isInput && ignoreOverride ? { override } : {}));
  throw invalid2(place.file, place.path, "is a schema of zod 3, which needs a package to become JSON Schema (npm i zod-to-json-schema), or zod 4");
}
async function importFrom(file, name) {
  let path;
  try {
    path = createRequire(file).resolve(name);
  } catch {
    return void 0;
  }
  const module = await import(pathToFileURL(path).href);
  return isObject(module.default) ? { ...module.default, ...module } : module;
}
function plain2(value) {
  return JSON.parse(JSON.stringify(value));
}
function invalid2(file, path, problem) {
  return new RiverrunError("MODULE_CONFIG", `${path} in ${file} ${problem}`, { retriable: false, details: { path } });
}

// src/runner/inputs.ts
function parserOf(schema) {
  const validate = validatorOf(schema);
  if (!validate) return void 0;
  return (input) => {
    const outcome = validate(input);
    return outcome instanceof Promise ? outcome.then(valueOf2) : valueOf2(outcome);
  };
}
function parsedInputs(parse, params2) {
  const { jobs } = params2;
  if (!jobs) {
    const given2 = (input2) => ({ params: { ...params2, input: input2 }, refused: /* @__PURE__ */ new Map() });
    const input = parse(params2.input);
    return input instanceof Promise ? input.then(given2) : given2(input);
  }
  const given = (inputs2) => {
    const refused = /* @__PURE__ */ new Map();
    for (const [at, input] of inputs2.entries()) if (input instanceof RiverrunError) refused.set(at, input);
    const accepted = jobs.map((job, at) => ({ ...job, input: inputs2[at] })).filter((_, at) => !refused.has(at));
    return { params: { ...params2, jobs: accepted }, refused };
  };
  const inputs = jobs.map(({ input }) => parsedOrRefused(parse, input));
  return inputs.some((input) => input instanceof Promise) ? Promise.all(inputs).then(given) : given(inputs);
}
function withRefused(value, refused, jobs) {
  if (!refused.size) return value;
  const given = jobs - refused.size;
  const each = Array.isArray(value) ? [...value] : new Array(given).fill(value);
  if (each.length !== given) throw new RiverrunError("BATCH_RESULTS", `the handler returned ${each.length} results for ${given} jobs`, { retriable: false });
  return Array.from({ length: jobs }, (_, at) => refused.get(at) ?? each.shift());
}
function parsedOrRefused(parse, input) {
  const refused = (error) => {
    if (error instanceof RiverrunError) return error;
    throw error;
  };
  try {
    const parsed = parse(input);
    return parsed instanceof Promise ? parsed.catch(refused) : parsed;
  } catch (error) {
    return refused(error);
  }
}
function validatorOf(schema) {
  if (typeof schema !== "object" && typeof schema !== "function" || schema === null) return void 0;
  const { "~standard": standard, safeParse } = schema;
  if (isObject(standard) && typeof standard.validate === "function") return (input) => standard.validate(input);
  if (typeof safeParse !== "function") return void 0;
  return (input) => {
    const { success, data, error } = schema.safeParse(input);
    return success ? { value: data } : { issues: error.issues };
  };
}
function valueOf2(outcome) {
  if (!outcome.issues) return outcome.value;
  const issues = outcome.issues.map(({ message, path = [], code }) => ({
    path: path.map((part) => String(isObject(part) ? part.key : part)).join("."),
    rule: typeof code === "string" ? code : "schema",
    message
  }));
  const [first] = issues;
  const issue = first ? `${first.path ? ` at ${JSON.stringify(first.path)}` : ""}: ${first.message}` : "";
  throw new RiverrunError("INPUT_INVALID", `the input breaks the schema${issue}`, { retriable: false, details: { issues } });
}

// src/worker/processes.ts
async function processesOf(offered) {
  const processes = /* @__PURE__ */ new Map();
  for (const [id, one] of Object.entries(offered)) processes.set(id, await processOf(id, one));
  if (!processes.size) throw new RiverrunError("NO_PROCESSES", "a worker needs something to run: give processes");
  return processes;
}
async function processOf(id, offered) {
  const handler = isObject(offered) && typeof offered !== "function" ? offered.default : offered;
  if (typeof handler !== "function") throw new RiverrunError("HANDLER_NOT_FOUND", `processes.${id} is no function, and no module that exports one as its default`);
  const exported = typeof offered === "function" ? void 0 : offered.config;
  const defined = definition(handler);
  const config = { ...handler.config, ...defined?.config, ...exported };
  const { level = "debug", redact } = config.logger ?? {};
  return {
    handler,
    takes: defined?.takes ?? "input",
    // Schemas are turned with what the application has installed.
    config: await configJson(config, join(process.cwd(), `${id}.js`)),
    logs: { level, redact: redactor(redact) },
    parse: parserOf(config.inputSchema)
  };
}

// src/runner/invocations.ts
import { AsyncLocalStorage as AsyncLocalStorage2 } from "node:async_hooks";

// src/runner/answer.ts
var envelopeBytes = 64;
function valueText(value, limitBytes) {
  return within(stringify(value), limitBytes);
}
function batchText(value, jobs, { resultBytes, messageBytes }) {
  if (!Array.isArray(value)) return `{"value":${valueText(value, resultBytes)}}`;
  if (value.length !== jobs) {
    throw new RiverrunError("BATCH_RESULTS", `the handler returned ${value.length} results for ${jobs} jobs`, { retriable: false });
  }
  const text = `{"results":[${value.map((one) => entryText(one, resultBytes)).join(",")}]}`;
  return within(text, messageBytes - envelopeBytes);
}
function entryText(one, limitBytes) {
  if (one instanceof Error) return `{"error":${JSON.stringify(describe(one))}}`;
  try {
    return `{"value":${valueText(one, limitBytes)}}`;
  } catch (error) {
    return `{"error":${JSON.stringify(describe(error))}}`;
  }
}
function within(text, limitBytes) {
  if (text.length * 3 <= limitBytes) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= limitBytes) return text;
  throw new RiverrunError("RESULT_TOO_LARGE", `the result has ${bytes} bytes, ${limitBytes} are allowed`, {
    retriable: false,
    details: { bytes, limit: limitBytes }
  });
}
function stringify(value) {
  if (value === void 0) return "null";
  let reason = `a ${typeof value} has no form in JSON`;
  try {
    const text = JSON.stringify(value);
    if (text !== void 0) return text;
  } catch (error) {
    reason = error.message.split("\n", 1)[0];
  }
  throw new RiverrunError("RESULT_NOT_JSON", `the result is not JSON: ${reason}`, { retriable: false });
}

// src/runner/invocation.ts
var none = /* @__PURE__ */ new Map();
var Invocation = class {
  constructor(id, params2, voice) {
    this.id = id;
    this.params = params2;
    this.voice = voice;
  }
  ended = false;
  /** Why it was cancelled before its handler was called. */
  cancelledBefore;
  /** Jobs of its batch that the handler is not given: their inputs broke the schema. */
  refused = none;
  #ctx;
  /** Makes the context, once the process and with it its settings are known. */
  begin(settings, params2 = this.params) {
    this.#ctx = new InvocationContext(this, params2, settings);
    return this.#ctx;
  }
  get ctx() {
    return this.#ctx;
  }
  cancel(reason) {
    if (this.#ctx) this.#ctx.cancel(reason);
    else this.cancelledBefore = reason;
  }
  async request(method, params2) {
    if (this.ended) throw new RiverrunError("INVOCATION_ENDED", `${method} came after the handler had ended`);
    return this.voice.request(method, { invocation: this.id, ...params2 });
  }
  notify(method, params2) {
    if (this.ended) return;
    try {
      this.voice.notify(method, { invocation: this.id, ...params2 });
    } catch (error) {
      const message = `a ${method} was left out: ${error.message}`;
      this.voice.notify("log", { invocation: this.id, level: "warn", message });
    }
  }
};

// src/runner/invocations.ts
var Invocations = class {
  limits = { messageBytes: 16 * 1024 * 1024, resultBytes: 1024 * 1024 };
  running = /* @__PURE__ */ new Map();
  #voice;
  #current = new AsyncLocalStorage2();
  #idle = /* @__PURE__ */ new Set();
  constructor(voice) {
    this.#voice = voice;
  }
  /** The invocation whose code is running now, if one is known. */
  get current() {
    const current = this.#current.getStore();
    return current?.ended ? void 0 : current;
  }
  add(id, params2) {
    const invocation = new Invocation(id, params2, this.#voice);
    this.running.set(id, invocation);
    return invocation;
  }
  cancel(id, reason = "user") {
    this.running.get(id)?.cancel(reason);
  }
  cancelAll(reason) {
    for (const invocation of this.running.values()) invocation.cancel(reason);
  }
  /** Calls `done` when nothing runs, or when the time is over. */
  drain(graceMs2, done2) {
    const end = () => {
      clearTimeout(timer);
      this.#idle.delete(end);
      done2(this.running.size);
    };
    const timer = setTimeout(end, graceMs2);
    if (this.running.size === 0) end();
    else this.#idle.add(end);
  }
  execute(invocation, process2) {
    if (!process2.parse) return this.#call(invocation, process2, invocation.params);
    const given = ({ params: params2, refused }) => {
      if (invocation.cancelledBefore) return this.fail(invocation, new CancelledError(invocation.cancelledBefore));
      invocation.refused = refused;
      if (params2.jobs?.length === 0) this.#answer(invocation, []);
      else this.#call(invocation, process2, params2);
    };
    try {
      const parsed = parsedInputs(process2.parse, invocation.params);
      if (parsed instanceof Promise) parsed.then(given).catch((error) => this.fail(invocation, error));
      else given(parsed);
    } catch (error) {
      this.fail(invocation, error);
    }
  }
  #call(invocation, process2, params2) {
    const ctx = invocation.begin(process2.logs, params2);
    ctx.onLeave = (error) => this.fail(invocation, error);
    if (ctx.execution) ctx.execution.onLeave = (outcome, seen) => this.#left(invocation, outcome, seen);
    let result;
    try {
      result = this.#current.run(invocation, process2.handler, argument(process2, params2), ctx);
    } catch (error) {
      this.fail(invocation, error);
      return;
    }
    if (!isThenable(result)) {
      this.#finished(invocation, result);
      return;
    }
    Promise.resolve(result).then(
      (value) => this.#finished(invocation, value),
      (error) => this.fail(invocation, error)
    );
  }
  /** Ends an invocation with an error, unless it has ended. */
  fail(invocation, error) {
    if (invocation.ended) return;
    invocation.ctx?.execution?.threw();
    const failure = describe(error);
    if (isCancellation(invocation, error)) this.#voice.refuse(invocation.id, { ...failure, code: "CANCELLED" }, -32001);
    else this.#voice.refuse(invocation.id, failure);
    this.#ended(invocation);
  }
  #finished(invocation, value) {
    if (invocation.ended) return;
    const returned = invocation.ctx?.execution?.returned();
    if (!returned) return this.#answer(invocation, value);
    returned.then((problem) => problem ? this.fail(invocation, problem) : this.#answer(invocation, value));
  }
  #left(invocation, outcome, seen) {
    if (invocation.ended) return;
    if (outcome instanceof RiverrunError) return this.fail(invocation, outcome);
    this.#voice.answer(invocation.id, JSON.stringify({ suspended: outcome, ...seen.length && { seen } }));
    this.#ended(invocation);
  }
  #answer(invocation, value) {
    if (invocation.ended) return;
    const { jobs } = invocation.params;
    let text;
    try {
      text = jobs ? batchText(withRefused(value, invocation.refused, jobs.length), jobs.length, this.limits) : `{"value":${valueText(value, this.limits.resultBytes)}}`;
    } catch (error) {
      this.fail(invocation, error);
      return;
    }
    this.#voice.answer(invocation.id, text);
    this.#ended(invocation);
  }
  #ended(invocation) {
    invocation.ended = true;
    this.running.delete(invocation.id);
    if (this.running.size === 0) for (const wake of [...this.#idle]) wake();
  }
};
function argument({ takes }, params2) {
  if (takes === "input") return params2.jobs ? params2.jobs.map((job) => job.input) : params2.input;
  return params2.jobs ? params2.jobs.map((job) => jobOf(job, params2)) : jobOf(params2, params2);
}
function jobOf(job, { queue }) {
  return {
    id: job.jobId ?? "",
    name: job.name ?? queue ?? "",
    queue: queue ?? "",
    data: job.input,
    attempt: job.attempt ?? 1,
    maxAttempts: job.maxAttempts ?? 1,
    enqueuedAt: job.enqueuedAt ?? void 0
  };
}
function isCancellation({ ctx }, error) {
  if (error instanceof CancelledError) return true;
  return ctx?.cancelled !== void 0 && error instanceof Error && error.name === "AbortError";
}
function isThenable(value) {
  return typeof value === "object" && value !== null && typeof value.then === "function";
}

// src/worker/session.ts
var mostOpen = 512;
var mostWaiting = 1024 * 1024;
var Session = class {
  limitBytes = 16 * 1024 * 1024;
  /** Frames that were lost because too much waited. */
  lost = 0;
  #credits;
  #open = /* @__PURE__ */ new Map();
  #waiting = [];
  /** The last answers: each may have been lost with its connection. */
  #answers = [];
  #begun = /* @__PURE__ */ new Map();
  #lastId = 0;
  #socket;
  /** What was said and is not written yet. */
  #text = [];
  #textLength = 0;
  #willFlush = false;
  constructor(credits) {
    this.#credits = credits;
  }
  /** What still runs, or has ended without an acknowledgement. */
  get running() {
    return [...this.#begun.values(), ...this.#answers.map(({ running }) => running)];
  }
  /** Whether messages for the server are still to be sent. */
  get hasMoreToSay() {
    return this.#begun.size > 0 || this.#text.length > 0;
  }
  begun(id, { jobId, jobs, runId, lease }) {
    this.#begun.set(id, { invocation: id, jobId: jobId ?? jobs?.[0]?.jobId ?? runId ?? "", lease: lease ?? "" });
  }
  /** The server knows this worker over a new connection: it gets what it may have missed. */
  connected(socket) {
    this.#socket = socket;
    for (const { line } of this.#open.values()) this.#say(line);
    for (const { line } of this.#answers) this.#say(line);
    this.#willSend();
  }
  disconnected() {
    this.#socket = void 0;
  }
  /** Passes an answer of the server to the request that it answers. */
  settle({ id, result, error }) {
    const question = this.#open.get(id);
    if (!question) return;
    this.#open.delete(id);
    if (error) question.reject(refusal(error));
    else question.resolve(result);
    const next = this.#waiting.shift();
    if (next) this.#ask(...next);
  }
  request(method, params2) {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      const line = this.#checked(method, JSON.stringify({ id, method, params: params2 }));
      const question = { line, resolve, reject };
      if (this.#open.size < mostOpen) this.#ask(id, question);
      else this.#waiting.push([id, question]);
    });
  }
  notify(method, params2) {
    const line = this.#checked(method, JSON.stringify({ method, params: params2 }));
    if (this.#textLength + line.length > mostWaiting && !this.#socket) this.lost += 1;
    else this.#say(line);
  }
  answer(id, result) {
    this.#ended(id, `{"id":${id},"result":${result}}`);
  }
  refuse(id, failure, code) {
    this.#ended(id, JSON.stringify({ id, error: wireError(failure, code) }));
  }
  #ask(id, question) {
    this.#open.set(id, question);
    if (this.#socket) this.#say(question.line);
  }
  #ended(id, line) {
    const running = this.#begun.get(id);
    this.#begun.delete(id);
    if (running) {
      this.#answers.push({ running, line });
      while (this.#answers.length > this.#credits) this.#answers.shift();
    }
    this.#say(line);
  }
  #checked(method, line) {
    if (line.length * 3 < this.limitBytes || Buffer.byteLength(line) < this.limitBytes) return line;
    throw new RiverrunError("MESSAGE_TOO_LARGE", `a ${method} may have ${this.limitBytes} bytes at most`, { retriable: false });
  }
  /** What is said within one turn of the event loop is gathered and sent in one message. */
  #say(line) {
    this.#text.push(line);
    this.#textLength += line.length;
    this.#willSend();
  }
  #willSend() {
    if (this.#willFlush || !this.#socket) return;
    this.#willFlush = true;
    setImmediate(this.#flush);
  }
  #flush = () => {
    this.#willFlush = false;
    const socket = this.#socket;
    if (!socket || this.#text.length === 0) return;
    const lines = this.#text;
    this.#text = [];
    this.#textLength = 0;
    let begin = 0;
    let bytes = 0;
    for (let at = 0; at < lines.length; at++) {
      const size = lines[at].length * 3 + 1;
      if (bytes && bytes + size > this.limitBytes) {
        socket.send(lines.slice(begin, at).join("\n"));
        begin = at;
        bytes = 0;
      }
      bytes += size;
    }
    socket.send(lines.slice(begin).join("\n"));
  };
};

// src/runner/peer.ts
var noParams = Object.freeze({});
var NotAMessage = class extends Error {
};

export {
  durationMs,
  InvocationContext,
  redactor,
  valueText,
  configJson,
  parserOf,
  processesOf,
  Invocations,
  Session,
  NotAMessage
};
