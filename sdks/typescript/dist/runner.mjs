var __defProp = Object.defineProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// src/runner/console.ts
import { format } from "node:util";
var levels = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error", trace: "debug" };
function captureConsole(log) {
  for (const [method, level] of Object.entries(levels)) {
    const print = console[method].bind(console);
    console[method] = (...args) => {
      if (!log(level, format(...args))) print(...args);
    };
  }
}

// src/runner/hooks.ts
import * as nodeModule from "node:module";
var names = ["riverrun", "riverrun/testing"];
function provideSdk(url, sdk) {
  const { registerHooks } = nodeModule;
  if (registerHooks) {
    registerHooks({
      resolve: (specifier, context, next) => names.includes(specifier) ? { url, format: "module", shortCircuit: true } : next(specifier, context)
    });
    return;
  }
  nodeModule.register(asUrl(resolveHook), { data: { url, names } });
  provideToRequire(sdk);
}
function provideToRequire(sdk) {
  const loader = nodeModule.Module;
  const load = loader._load;
  loader._load = function(request, ...rest) {
    return names.includes(request) ? sdk() : load.call(this, request, ...rest);
  };
}
var resolveHook = `
let given
export function initialize(data) { given = data }
export function resolve(specifier, context, next) {
  if (given.names.includes(specifier)) return { url: given.url, format: 'module', shortCircuit: true }
  return next(specifier, context)
}`;
function asUrl(source2) {
  return `data:text/javascript,${encodeURIComponent(source2)}`;
}

// src/errors.ts
var RiverrunError = class extends Error {
  name = "RiverrunError";
  code;
  details;
  retriable;
  retryAfterMs;
  constructor(code, message, options2 = {}) {
    super(message, "cause" in options2 ? { cause: options2.cause } : void 0);
    this.code = code;
    if (options2.details !== void 0) this.details = options2.details;
    if (options2.retriable !== void 0) this.retriable = options2.retriable;
    if (options2.retryAfterMs !== void 0) this.retryAfterMs = options2.retryAfterMs;
  }
};
var NonRetriableError = class extends RiverrunError {
  name = "NonRetriableError";
  constructor(message, options2 = {}) {
    super(options2.code ?? "NON_RETRIABLE", message, { ...options2, retriable: false });
  }
};
var RetryAfterError = class extends RiverrunError {
  name = "RetryAfterError";
  /** `after` is in milliseconds from now, or a date. */
  constructor(message, after, options2 = {}) {
    const retryAfterMs = Math.max(0, typeof after === "number" ? after : after.getTime() - Date.now());
    super(options2.code ?? "RETRY_AFTER", message, { ...options2, retryAfterMs });
  }
};
var CancelledError = class extends RiverrunError {
  name = "CancelledError";
  reason;
  constructor(reason2) {
    super("CANCELLED", `cancelled: ${reason2}`, { retriable: false });
    this.reason = reason2;
  }
};
var ExecutionOver = class extends RiverrunError {
};

// src/json.ts
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/wire.ts
var protocolVersion = 1;
var executionOver = -32002;

// src/failure.ts
var longestText = 64 * 1024;
var ownMembers = /* @__PURE__ */ new Set(["message", "name", "stack", "cause", "retriable", "retryAfterMs", "details", "__proto__"]);
function describe(thrown) {
  if (!isObject(thrown)) return { message: cut(String(thrown)) };
  const failure2 = { message: cut(typeof thrown.message === "string" ? thrown.message : text(thrown)) };
  if (typeof thrown.code === "string") failure2.code = thrown.code;
  if (typeof thrown.name === "string") failure2.name = thrown.name;
  if (typeof thrown.stack === "string") failure2.stack = cut(withCauses(thrown.stack, thrown.cause));
  if (typeof thrown.retriable === "boolean") failure2.retriable = thrown.retriable;
  const retryAfter = thrown.retryAfterMs ?? thrown.retryAfter;
  if (isDelay(retryAfter)) failure2.retryAfterMs = Math.round(retryAfter);
  if (thrown.details !== void 0 && isSmallJson(thrown.details)) failure2.details = thrown.details;
  return failure2;
}
function recordOf(thrown) {
  const members3 = isObject(thrown) ? membersOf(thrown) : {};
  return JSON.parse(JSON.stringify({ ...describe(thrown), ...Object.keys(members3).length > 0 && isSmallJson(members3) && { members: members3 } }));
}
function revive(failure2) {
  const { message, code, name, stack, members: members3, ...options2 } = failure2;
  const error = new RiverrunError(code || "HANDLER_ERROR", message, options2);
  if (name) error.name = name;
  if (stack) error.stack = stack;
  return Object.assign(error, members3);
}
function refusal({ code: kind, message, data }) {
  const { code, details, retriable, retryAfterMs } = data ?? {};
  const ErrorClass = kind === executionOver ? ExecutionOver : RiverrunError;
  return new ErrorClass(code ?? "INTERNAL", message, { details, retriable, retryAfterMs });
}
function wireError(failure2, code = -32e3) {
  const { message, ...data } = failure2;
  return { code, message, data };
}
function membersOf(thrown) {
  const isMember = ([name, value]) => !ownMembers.has(name) && (name !== "code" || typeof value === "number") && isSmallJson(value);
  return Object.fromEntries(Object.entries(thrown).filter(isMember));
}
function withCauses(stack, cause, depth = 0) {
  if (!isObject(cause) || typeof cause.stack !== "string" || depth === 5) return stack;
  return `${stack}
caused by: ${withCauses(cause.stack, cause.cause, depth + 1)}`;
}
function isDelay(value) {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
function cut(long) {
  return long.length <= longestText ? long : `${long.slice(0, longestText)}…`;
}
function isSmallJson(value) {
  try {
    const json4 = JSON.stringify(value);
    return json4 !== void 0 && json4.length <= longestText;
  } catch {
    return false;
  }
}
function text(value) {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

// src/runner/peer.ts
var noParams = Object.freeze({});
var NotAMessage = class extends Error {
};
var Peer = class {
  limitBytes = 16 * 1024 * 1024;
  #output;
  #listener;
  #pending = /* @__PURE__ */ new Map();
  #lastId = 0;
  constructor(output, listener) {
    this.#output = output;
    this.#listener = listener;
  }
  /** Throws `NotAMessage` if the line is none. */
  receive(line) {
    const message = parse(line);
    if (message.method === void 0) return this.#settle(message);
    const params2 = message.params ?? noParams;
    if (message.id === void 0) this.#listener.onNotification(message.method, params2);
    else this.#listener.onRequest(message.id, message.method, params2);
  }
  request(method, params2) {
    return new Promise((resolve2, reject) => {
      const id = ++this.#lastId;
      this.#sendLine(method, JSON.stringify({ id, method, params: params2 }));
      this.#pending.set(id, { resolve: resolve2, reject });
    });
  }
  notify(method, params2) {
    this.#sendLine(method, JSON.stringify({ method, params: params2 }));
  }
  /** `result` is JSON text. */
  answer(id, result) {
    this.#output.send(`{"id":${id},"result":${result}}
`);
  }
  refuse(id, failure2, code) {
    this.#output.send(`${JSON.stringify({ id, error: wireError(failure2, code) })}
`);
  }
  #settle({ id, result, error }) {
    const pending = id === void 0 ? void 0 : this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    if (error) pending.reject(refusal(error));
    else pending.resolve(result);
  }
  #sendLine(method, text2) {
    if (text2.length * 3 >= this.limitBytes && Buffer.byteLength(text2) >= this.limitBytes) {
      throw new RiverrunError("MESSAGE_TOO_LARGE", `a ${method} may have ${this.limitBytes} bytes at most`, { retriable: false });
    }
    this.#output.send(`${text2}
`);
  }
};
function parse(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch (error) {
    throw new NotAMessage(error.message);
  }
  if (!isObject(message)) throw new NotAMessage("it is not an object");
  return message;
}

// src/runner/lines.ts
var lineBreak = 10;
var Lines = class {
  limitBytes = 16 * 1024 * 1024;
  #pieces = [];
  #heldBytes = 0;
  /** The lines that `chunk` completes. Throws `NotAMessage` if one is longer than the limit. */
  take(chunk) {
    const end2 = chunk.lastIndexOf(lineBreak);
    if (end2 < 0) {
      this.#hold(chunk);
      return [];
    }
    let whole = chunk.subarray(0, end2);
    if (this.#heldBytes) {
      this.#check(this.#heldBytes + chunk.indexOf(lineBreak));
      whole = Buffer.concat([...this.#pieces, whole]);
      this.#pieces = [];
      this.#heldBytes = 0;
    }
    if (end2 + 1 < chunk.length) this.#hold(chunk.subarray(end2 + 1));
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

// src/runner/output.ts
import { fstatSync } from "node:fs";
import { Socket } from "node:net";
var crowdedBytes = 8 * 1024 * 1024;
var Output = class {
  /** Called with true when too much is unwritten, and with false when it is gone. */
  onCrowded = () => {
  };
  #pipe;
  #text = "";
  #crowded = false;
  /** Throws if `fd` is not the writing end of a pipe or a socket. */
  constructor(fd2) {
    const stat = fstatSync(fd2);
    if (!stat.isFIFO() && !stat.isSocket()) throw new Error(`fd ${fd2} is neither a pipe nor a socket`);
    this.#pipe = new Socket({ fd: fd2, readable: false, writable: true });
    this.#pipe.on("error", () => process.exit(1));
    this.#pipe.on("drain", () => {
      if (!this.#crowded) return;
      this.#crowded = false;
      this.onCrowded(false);
    });
  }
  /** `line` ends with a line break. */
  send(line) {
    if (this.#text === "") setImmediate(this.#flush);
    this.#text += line;
  }
  /** Writes what is left, then calls `done`. */
  finish(done2) {
    const text2 = this.#text;
    this.#text = "";
    this.#pipe.write(text2, () => done2());
  }
  #flush = () => {
    if (this.#text === "") return;
    this.#pipe.write(this.#text);
    this.#text = "";
    if (!this.#crowded && this.#pipe.writableLength > crowdedBytes) {
      this.#crowded = true;
      this.onCrowded(true);
    }
  };
};

// src/version.ts
var version = "0.1.0";

// src/runner/invocations.ts
import { AsyncLocalStorage as AsyncLocalStorage2 } from "node:async_hooks";

// src/runner/answer.ts
var envelopeBytes = 64;
function valueText(value, limitBytes) {
  return within(stringify(value), limitBytes);
}
function batchText(value, jobs, { resultBytes: resultBytes2, messageBytes }) {
  if (!Array.isArray(value)) return `{"value":${valueText(value, resultBytes2)}}`;
  if (value.length !== jobs) {
    throw new RiverrunError("BATCH_RESULTS", `the handler returned ${value.length} results for ${jobs} jobs`, { retriable: false });
  }
  const text2 = `{"results":[${value.map((one) => entryText(one, resultBytes2)).join(",")}]}`;
  return within(text2, messageBytes - envelopeBytes);
}
function entryText(one, limitBytes) {
  if (one instanceof Error) return `{"error":${JSON.stringify(describe(one))}}`;
  try {
    return `{"value":${valueText(one, limitBytes)}}`;
  } catch (error) {
    return `{"error":${JSON.stringify(describe(error))}}`;
  }
}
function within(text2, limitBytes) {
  if (text2.length * 3 <= limitBytes) return text2;
  const bytes = Buffer.byteLength(text2);
  if (bytes <= limitBytes) return text2;
  throw new RiverrunError("RESULT_TOO_LARGE", `the result has ${bytes} bytes, ${limitBytes} are allowed`, {
    retriable: false,
    details: { bytes, limit: limitBytes }
  });
}
function stringify(value) {
  if (value === void 0) return "null";
  let reason2 = `a ${typeof value} has no form in JSON`;
  try {
    const text2 = JSON.stringify(value);
    if (text2 !== void 0) return text2;
  } catch (error) {
    reason2 = error.message.split("\n", 1)[0];
  }
  throw new RiverrunError("RESULT_NOT_JSON", `the result is not JSON: ${reason2}`, { retriable: false });
}

// src/runner/inputs.ts
function parserOf(schema) {
  const validate = validatorOf(schema);
  if (!validate) return void 0;
  return (input) => {
    const outcome = validate(input);
    return outcome instanceof Promise ? outcome.then(valueOf) : valueOf(outcome);
  };
}
function parsedInputs(parse4, params2) {
  const { jobs } = params2;
  if (!jobs) {
    const given3 = (input2) => ({ params: { ...params2, input: input2 }, refused: /* @__PURE__ */ new Map() });
    const input = parse4(params2.input);
    return input instanceof Promise ? input.then(given3) : given3(input);
  }
  const given2 = (inputs2) => {
    const refused = /* @__PURE__ */ new Map();
    for (const [at, input] of inputs2.entries()) if (input instanceof RiverrunError) refused.set(at, input);
    const accepted = jobs.map((job2, at) => ({ ...job2, input: inputs2[at] })).filter((_, at) => !refused.has(at));
    return { params: { ...params2, jobs: accepted }, refused };
  };
  const inputs = jobs.map(({ input }) => parsedOrRefused(parse4, input));
  return inputs.some((input) => input instanceof Promise) ? Promise.all(inputs).then(given2) : given2(inputs);
}
function withRefused(value, refused, jobs) {
  if (!refused.size) return value;
  const given2 = jobs - refused.size;
  const each = Array.isArray(value) ? [...value] : new Array(given2).fill(value);
  if (each.length !== given2) throw new RiverrunError("BATCH_RESULTS", `the handler returned ${each.length} results for ${given2} jobs`, { retriable: false });
  return Array.from({ length: jobs }, (_, at) => refused.get(at) ?? each.shift());
}
function parsedOrRefused(parse4, input) {
  const refused = (error) => {
    if (error instanceof RiverrunError) return error;
    throw error;
  };
  try {
    const parsed = parse4(input);
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
function valueOf(outcome) {
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
  const text2 = duration.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(text2)) return Math.round(Number(text2));
  return isoMs(text2) ?? friendlyMs(text2);
}
function isoMs(text2) {
  const parts2 = iso.exec(text2)?.slice(1);
  if (!parts2?.some((part) => part !== void 0)) return void 0;
  const sizes = [7 * day, day, hour, minute, second];
  return Math.round(parts2.reduce((sum, part, index) => sum + Number((part ?? "0").replace(",", ".")) * sizes[index], 0));
}
function friendlyMs(text2) {
  const part = /(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*/gy;
  let sum = 0;
  for (let read = 0; read < text2.length; read = part.lastIndex) {
    const [, count, unit] = part.exec(text2) ?? [];
    const size = units.find(([name]) => unit !== void 0 && name.test(unit))?.[1];
    if (size === void 0) return void 0;
    sum += Number(count) * size;
  }
  return text2 ? Math.round(sum) : void 0;
}

// src/source.ts
function source(fn) {
  const text2 = expression(fn.toString());
  const helpers = [...new Set(text2.match(namer))];
  if (!helpers.length || /^async\b/.test(text2)) return text2;
  return `((${helpers.join(", ")}) => (${text2}))(${helpers.map(() => "(named) => named").join(", ")})`;
}
var namer = /(?<![\w$.])__name\d*(?=\()/g;
function expression(text2) {
  const [, isAsync = "", name] = /^(async\s+)?([\w$]+)\s*\(/.exec(text2) ?? [];
  const isMethod = name !== void 0 && name !== "function" && name !== "async";
  return isMethod ? `${isAsync}function ${text2.slice(isAsync.length)}` : text2;
}

// src/ctx/awaits.ts
var eventOptions = ["kind", "match", "where", "timeout", "lookback"];
var triggerTypes = ["webhook", "user", "api"];
var triggerOptions = ["type", "payload", "timeout", "many", "secret"];
var maxMs = 864e13;
var StepAwaits = class {
  #step;
  constructor(step2) {
    this.#step = step2;
  }
  time = async (until) => {
    await this.#step.wait("time", () => time(until));
  };
  event = async (options2, ...more) => {
    if (more.length) throw invalid(`await.event has its options in one object: { ${eventOptions.join(", ")} }`);
    const { kind, match, where, timeout, lookback } = typeof options2 === "string" ? { kind: options2 } : known("await.event", options2, eventOptions);
    if (typeof kind !== "string" || !kind) throw invalid("await.event needs the kind of event");
    return this.#step.wait(kind, () => {
      const wait2 = { type: "event", eventKind: kind };
      if (match != null) wait2.match = literals(match);
      if (where != null) wait2.where = filter(where);
      if (lookback === "run" || lookback === "none") wait2.lookback = lookback;
      else if (lookback !== void 0) wait2.lookbackMs = milliseconds("lookback", lookback, '"run", "none", milliseconds or a duration such as "24h"');
      if (timeout !== void 0) wait2.timeoutMs = timeoutIn(timeout);
      return wait2;
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
    const wait2 = { type: "trigger", triggerId: id };
    if (timeoutMs !== void 0) wait2.timeoutMs = timeoutMs;
    return { id, url, wait: () => this.#step.wait(id, () => wait2) };
  };
};
function awaitsOutside(kind) {
  const refuse3 = async () => {
    const message = `ctx.await works in a step of a flow, and this is a ${kind}: give the process's config a flow (or step), and start that flow`;
    throw new RiverrunError("AWAIT_OUTSIDE_FLOW", message, { retriable: false });
  };
  return { time: refuse3, event: refuse3, trigger: refuse3 };
}
function time(until) {
  const refuse3 = () => invalid(`await.time wants milliseconds, a duration such as "1h 30m" or a date, not ${String(until)}`);
  if (typeof until !== "number" && typeof until !== "string" && !(until instanceof Date)) throw refuse3();
  const afterMs = until instanceof Date ? void 0 : durationMs(until);
  if (afterMs !== void 0 && afterMs <= maxMs) return { type: "time", afterMs };
  if (typeof until === "number") throw invalid(`await.time wants milliseconds from now, not ${until}`);
  const date = new Date(until);
  if (Number.isNaN(date.getTime())) throw refuse3();
  return { type: "time", resumeAt: date.toISOString() };
}
function known(what, options2, names2) {
  if (typeof options2 !== "object" || options2 === null) throw invalid(`${what} wants an object with options, not ${String(options2)}`);
  const stranger = Object.entries(options2).find(([name, value]) => value !== void 0 && !names2.includes(name))?.[0];
  if (stranger !== void 0) throw invalid(`${what} has no option ${JSON.stringify(stranger)}: it knows ${names2.join(", ")}`);
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
    const end2 = Math.min(until, this.#records.length);
    const missing = this.#records.slice(this.#checked, end2).filter((record, at) => this.#isDue(record, this.#checked + at)).map(done);
    if (!missing.length) {
      this.#checked = Math.max(this.#checked, end2);
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
    const { stop: stop2, leave: leave2 } = this.#options;
    let next = this.#pending(doing);
    for (; ; ) {
      if (next?.suspend && suspend) return suspend();
      if (next) await pause(next.retryAfterMs, stop2.signal);
      if (stop2.cancelled) return leave2(stop2.cancelled);
      let value;
      try {
        value = await bounded(doing, next?.attempt ?? 1, stop2, work);
      } catch (thrown) {
        if (thrown instanceof ExecutionOver) return leave2(thrown);
        if (stop2.cancelled) return leave2(stop2.cancelled);
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
  constructor(attempt, stop2) {
    this.attempt = attempt;
    this.#stop = stop2;
  }
  get signal() {
    return this.#stop.signal;
  }
};
function numbered(nth) {
  return nth > 1 ? { nth } : {};
}
function bounded(doing, attempt, stop2, work) {
  const { name, timeoutMs } = doing;
  if (timeoutMs === void 0) return work(new Unlimited(attempt, stop2));
  const controller = new AbortController();
  const given2 = { attempt, signal: controller.signal, over: void 0 };
  const abort = () => controller.abort(stop2.cancelled);
  if (stop2.cancelled) abort();
  else stop2.signal.addEventListener("abort", abort);
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      given2.over = new RiverrunError("TIMEOUT", `try ${attempt} of run(${JSON.stringify(name)}) took longer than ${timeoutMs} ms`);
      controller.abort(given2.over);
      reject(given2.over);
    }, timeoutMs);
  });
  const running = (async () => work(given2))();
  running.catch(() => {
  });
  return Promise.race([running, late]).finally(() => {
    clearTimeout(timer);
    stop2.signal.removeEventListener("abort", abort);
  });
}
function pause(ms, signal) {
  return new Promise((resolve2) => {
    const go = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", go);
      resolve2();
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
  constructor(link, params2, stop2) {
    this.#link = link;
    this.#params = params2;
    this.#journal = new Journal(params2.journal ?? []);
    this.#stop = stop2;
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
  async patch(op, name, change2) {
    if (inside.getStore()) return change2(true);
    const record = this.#next(op, name);
    if (record) return record.value;
    if (this.#isNewWrite(op, name)) await this.#track((release) => this.#hold(release));
    const value = await change2(false);
    if (value === void 0) this.#seen.push({ op, name });
    return value;
  }
  /**
   * Does something and has its outcome recorded. `work` is given an id that is the same in every
   * execution of the visit. Inside of a `ctx.run` nothing is recorded: the run is.
   */
  recorded(op, name, work, settings2 = {}, emits = []) {
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
      const doing = { op, name, nth, emits, ...settings2 };
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
  run(name, work, settings2 = {}) {
    const emits = [];
    return this.recorded("memo", name, (id, attempt) => {
      if (inside.getStore()) return work(attempt);
      const number = Number(id.slice(id.lastIndexOf("/") + 1));
      return inside.run({ name, number, uses: /* @__PURE__ */ new Map(), emits, emitted: /* @__PURE__ */ new Map(), try: attempt }, () => work(attempt));
    }, settings2, emits);
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
      await new Promise((resolve2) => setTimeout(resolve2, graceMs));
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
    const wait2 = makeWait();
    this.#waits = wait2;
    void this.#leave(wait2);
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
    const { runId, step: step2, visit } = this.#params;
    return `${runId}/${step2}/${visit ?? 1}/${name}/${number}`;
  }
  /** A run that is taken from the journal does nothing, so what it does has numbers of its own. */
  #idInside({ name: run, number, uses }, op, name) {
    const nth = (uses.get(`${op} ${name}`) ?? 0) + 1;
    uses.set(`${op} ${name}`, nth);
    return this.#id(`${run}/${number}/${name}`, nth);
  }
  async #leave(wait2) {
    do
      await this.#quiet();
    while (this.#settling);
    if (this.#ended || this.#left) return;
    this.#left = true;
    const next = this.#backsOff ? { type: "retry" } : wait2;
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
      await new Promise((resolve2) => setImmediate(resolve2));
    } while (this.#inFlight.size);
  }
  /** `release` ends the watch over work that goes on in a later execution. */
  #track(begin) {
    let over = () => {
    };
    const watched = new Promise((resolve2) => {
      over = () => {
        this.#inFlight.delete(watched);
        resolve2();
      };
    });
    this.#inFlight.add(watched);
    const { cancelled } = this.#stop;
    const work = this.#left ? never() : cancelled ? this.#end(cancelled) : begin(over);
    work.then(over, over);
    return work.then((value) => value);
  }
};
function jobIdOf(text2) {
  const plain3 = text2.replaceAll("/", ".");
  return /^[\w.~-]{1,128}$/.test(plain3) ? plain3 : `step-${createHash("sha256").update(text2).digest("hex")}`;
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
function forgotten(wait2) {
  const what = wait2.type === "time" ? "ctx.await.time" : wait2.type === "event" ? `ctx.await.event(${JSON.stringify(wait2.eventKind)})` : wait2.type === "trigger" ? `wait() of the trigger ${wait2.triggerId}` : "a retry";
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
  constructor(link, settings2, bindings) {
    this.#link = link;
    this.#settings = settings2;
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
  constructor(link, step2) {
    this.#link = link;
    this.#step = step2;
  }
  get = async (key2) => {
    const ask = async () => valueOf2(await this.#link.request("state.get", { key: key2 }));
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
  async #patchKey(key2, change2, more) {
    const { value: before, version: version3 } = await this.#link.request("state.get", { key: key2 });
    const value = await change2(before);
    if (value !== void 0) await this.#link.request("state.set", { key: key2, value, ifVersion: version3, ...more });
    return value;
  }
  async #patchAll(change2, more) {
    const { state, version: version3 } = await this.#link.request("state.getAll", {});
    const values = await change2(state);
    if (values !== void 0) await this.#link.request("state.setBatch", { values, ifVersion: version3, ...more });
    return values;
  }
};
function valueOf2({ value }) {
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
  return new Promise((resolve2) => setTimeout(resolve2, ms));
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
  constructor(link, params2, settings2, batch) {
    this.execution = params2.kind === "step" ? new StepExecution(link, params2, this) : void 0;
    if (this.execution) this.execution.onForgotten = (message) => this.logger.warn(message);
    this.#link = this.execution ?? link;
    this.#params = params2;
    this.#settings = settings2;
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
    const { type = void 0, kind = type, data: given2 = data } = typeof event === "string" ? { kind: event } : event ?? {};
    if (typeof kind !== "string" || !kind) throw new RiverrunError("BAD_EVENT", "emit needs the type of the event", { retriable: false });
    const ask = async () => (await this.#link.request("emit", { type: kind, data: given2 })).id;
    return await (this.execution ? this.execution.emit(kind, ask) : ask()) ?? "";
  };
  progress = (pct, detail) => {
    if (!Number.isFinite(pct)) throw new TypeError(`progress must be a number from 0 to 100, is ${pct}`);
    this.#link.notify("progress", { pct: Math.min(100, Math.max(0, pct)), detail });
  };
  partial = (value, path) => this.#link.notify("partial", { path, value: value ?? null });
  run = async (name, fn, options2 = {}) => {
    const settings2 = runSettings(name, options2);
    if (this.execution) return this.execution.run(name, async (attempt) => json2(name, await fn(attempt)), settings2);
    this.#journal ??= new Journal(this.#params.journal ?? []);
    const memo = this.#journal.next("memo", name);
    if (memo?.error) throw revive(memo.error);
    if (memo) return memo.value ?? null;
    const nth = this.#journal.uses("memo", name);
    this.#outcomes ??= new Outcomes({ ask: (method, params2) => this.#link.request(method, params2), stop: this, leave: (error) => this.#leave(error) });
    return this.#outcomes.of({ op: "memo", name, nth, ...settings2 }, async (attempt) => json2(name, await fn(attempt)));
  };
  patched = (id) => this.execution ? this.execution.patched(id) : true;
  call = (process2, input, { retry, ...options2 } = {}) => {
    const ask = async () => (await this.#link.request("call", { process: process2, input: input ?? null, ...options2 })).value;
    return this.execution ? this.execution.recorded("call", process2, ask, { retry }) : ask();
  };
  enqueue = async (to, data, options2) => {
    if (typeof to !== "string") return this.#enqueue(to, (jobs) => ({ jobs }));
    const { name, ...rest } = options2 ?? {};
    const job2 = { queue: to, ...name !== void 0 && { name }, data: data ?? null };
    if (Object.keys(rest).length) job2.options = rest;
    return (await this.#enqueue([job2], ([one]) => ({ ...one })))[0];
  };
  start = (flow2, input, options2) => {
    const ask = (given2) => this.#link.request("start", { flow: flow2, input: input ?? {}, options: given2 });
    if (!this.execution) return ask(options2);
    const isNamed = options2?.idempotencyKey !== void 0 || options2?.runId !== void 0;
    return this.execution.recorded("start", flow2, (id) => ask(isNamed ? options2 : { ...options2, idempotencyKey: id }), { retry: false });
  };
  isLeaseValid = async () => (await this.#link.request("lease", {})).valid === true;
  /** Why the invocation is to stop; undefined while it is not. */
  get cancelled() {
    return this.#batch ? this.#batch.cancelled : this.#cancelled;
  }
  cancel(reason2) {
    if (this.#cancelled) return;
    this.#cancelled = new CancelledError(reason2);
    this.#abort?.abort(this.#cancelled);
  }
  #leave(error) {
    const { onLeave } = this.#batch ?? this;
    onLeave(error);
    return new Promise(() => {
    });
  }
  #contextOf(job2) {
    const { jobs, ...shared2 } = this.#params;
    return new _InvocationContext(linkOfJob(this.#link, job2.jobId ?? ""), { ...shared2, ...job2 }, this.#settings, this);
  }
  async #enqueue(jobs, params2) {
    const ask = (given2) => this.#link.request("enqueue", params2(given2));
    const queues = [...new Set(jobs.map(({ queue }) => queue))].join(",");
    const recorded = this.execution?.recorded("enqueue", queues, (id) => ask(jobs.map((job2, index) => withId(job2, jobs.length > 1 ? `${id}/${index + 1}` : id))), { retry: false });
    return (await (recorded ?? ask(jobs))).jobs;
  }
};
function withId(job2, id) {
  const options2 = job2.options ?? {};
  const isNamed = ["jobId", "idempotencyKey", "dedupe", "throttle", "debounce"].some((one) => options2[one] !== void 0);
  return isNamed ? job2 : { ...job2, options: { ...options2, jobId: jobIdOf(id) } };
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
  begin(settings2, params2 = this.params) {
    this.#ctx = new InvocationContext(this, params2, settings2);
    return this.#ctx;
  }
  get ctx() {
    return this.#ctx;
  }
  cancel(reason2) {
    if (this.#ctx) this.#ctx.cancel(reason2);
    else this.cancelledBefore = reason2;
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
  cancel(id, reason2 = "user") {
    this.running.get(id)?.cancel(reason2);
  }
  cancelAll(reason2) {
    for (const invocation of this.running.values()) invocation.cancel(reason2);
  }
  /** Calls `done` when nothing runs, or when the time is over. */
  drain(graceMs2, done2) {
    const end2 = () => {
      clearTimeout(timer);
      this.#idle.delete(end2);
      done2(this.running.size);
    };
    const timer = setTimeout(end2, graceMs2);
    if (this.running.size === 0) end2();
    else this.#idle.add(end2);
  }
  execute(invocation, process2) {
    if (!process2.parse) return this.#call(invocation, process2, invocation.params);
    const given2 = ({ params: params2, refused }) => {
      if (invocation.cancelledBefore) return this.fail(invocation, new CancelledError(invocation.cancelledBefore));
      invocation.refused = refused;
      if (params2.jobs?.length === 0) this.#answer(invocation, []);
      else this.#call(invocation, process2, params2);
    };
    try {
      const parsed = parsedInputs(process2.parse, invocation.params);
      if (parsed instanceof Promise) parsed.then(given2).catch((error) => this.fail(invocation, error));
      else given2(parsed);
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
    const failure2 = describe(error);
    if (isCancellation(invocation, error)) this.#voice.refuse(invocation.id, { ...failure2, code: "CANCELLED" }, -32001);
    else this.#voice.refuse(invocation.id, failure2);
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
    let text2;
    try {
      text2 = jobs ? batchText(withRefused(value, invocation.refused, jobs.length), jobs.length, this.limits) : `{"value":${valueText(value, this.limits.resultBytes)}}`;
    } catch (error) {
      this.fail(invocation, error);
      return;
    }
    this.#voice.answer(invocation.id, text2);
    this.#ended(invocation);
  }
  #ended(invocation) {
    invocation.ended = true;
    this.running.delete(invocation.id);
    if (this.running.size === 0) for (const wake of [...this.#idle]) wake();
  }
};
function argument({ takes }, params2) {
  if (takes === "input") return params2.jobs ? params2.jobs.map((job2) => job2.input) : params2.input;
  return params2.jobs ? params2.jobs.map((job2) => jobOf(job2, params2)) : jobOf(params2, params2);
}
function jobOf(job2, { queue }) {
  return {
    id: job2.jobId ?? "",
    name: job2.name ?? queue ?? "",
    queue: queue ?? "",
    data: job2.input,
    attempt: job2.attempt ?? 1,
    maxAttempts: job2.maxAttempts ?? 1,
    enqueuedAt: job2.enqueuedAt ?? void 0
  };
}
function isCancellation({ ctx }, error) {
  if (error instanceof CancelledError) return true;
  return ctx?.cancelled !== void 0 && error instanceof Error && error.name === "AbortError";
}
function isThenable(value) {
  return typeof value === "object" && value !== null && typeof value.then === "function";
}

// src/runner/modules.ts
import { extname } from "node:path";
import { fileURLToPath as fileURLToPath2, pathToFileURL as pathToFileURL2 } from "node:url";

// src/ctx/redact.ts
var secrets = ["password", "passwd", "passphrase", "secret", "token", "authorization", "apikey", "privatekey", "cookie", "credentials"];
var deepest = 8;
function redactor(more = []) {
  const words = [...secrets, ...more].map(plain);
  const known4 = /* @__PURE__ */ new Map();
  const isSecret = (key2) => {
    let answer2 = known4.get(key2);
    if (answer2 === void 0) {
      const name = plain(key2);
      answer2 = words.some((word) => name.endsWith(word));
      if (known4.size < 1e3) known4.set(key2, answer2);
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

// src/define.ts
var mark = Symbol.for("riverrun.process");
function defineQueueWorker(handler, config) {
  return marked(handler, { takes: "job", config });
}
function defineProcess(handler, config) {
  return marked(handler, { takes: "input", config });
}
function defineStep(handler, config) {
  return marked(handler, { takes: "input", config });
}
function defineQueueConfig(config) {
  return config;
}
function definition(value) {
  return typeof value === "function" ? value[mark] : void 0;
}
function marked(handler, as) {
  const own = (first, ctx) => handler(as.takes === "job" ? leased(first, ctx) : first, ctx);
  Object.defineProperty(own, mark, { value: as });
  Object.defineProperty(own, "name", { value: handler.name });
  return own;
}
function leased(first, ctx) {
  const give = (job2, of) => {
    if (typeof job2 !== "object" || job2 === null || !Object.isExtensible(job2)) return;
    Object.defineProperty(job2, "isLeaseValid", { value: () => of().isLeaseValid(), configurable: true });
  };
  if (Array.isArray(first)) first.forEach((job2, at) => give(job2, () => ctx.job(at)));
  else give(first, () => ctx);
  return first;
}

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

// src/runner/missing.ts
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
var imported = /^Cannot find (?:module|package) '(.+?)' imported from (.+)$/m;
var required = /^Cannot find module '(.+?)'\nRequire stack:\n- (.+)$/m;
var specifiers = /\b(?:from|import|require)\s*\(?\s*(['"`])([^'"`]+)\1/g;
function importPlace(thrown) {
  const { code, message = "" } = thrown ?? {};
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return void 0;
  const [, missing, parent] = imported.exec(message) ?? required.exec(message) ?? [];
  if (!missing || !parent) return void 0;
  const file = parent.startsWith("file:") ? fileURLToPath(parent) : parent;
  const means = (name) => name === missing || name.startsWith(`${missing}/`) || resolve(dirname(file), name) === missing;
  for (const [at, line] of linesOf(file).entries()) {
    for (const found of line.matchAll(specifiers)) {
      const [text2, , name] = found;
      if (!means(name)) continue;
      const column = found.index + text2.length - name.length - 1;
      const marks = " ".repeat(column - 1) + "^".repeat(name.length + 2);
      return { file, line: at + 1, column, shown: line.length > 200 ? "" : `${line}
${marks}` };
    }
  }
  return void 0;
}
function linesOf(file) {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

// src/runner/syntax.ts
import { execFile } from "node:child_process";
var patienceMs = 5e3;
async function syntaxPlace(error, file) {
  const own = placeIn(error.stack ?? "");
  if (own || !/\.[cm]?js$/.test(file)) return own;
  const said = await new Promise((resolve2) => {
    const options2 = { timeout: patienceMs, maxBuffer: 1024 * 1024 };
    const flags = ["--experimental-vm-modules", "--no-warnings", "--input-type=commonjs"];
    execFile(process.execPath, [...flags, "-e", parse2, file], options2, (_, __, stderr) => resolve2(stderr));
  });
  return placeIn(said);
}
function placeIn(text2) {
  const [at = "", line = "", marks = ""] = text2.split("\n");
  const [, file, number] = /^(?:file:\/\/)?(\/.*):(\d+)$/.exec(at) ?? [];
  if (!file) return void 0;
  const column = /^\s*\^+\s*$/.test(marks) ? marks.indexOf("^") + 1 : void 0;
  const isLong = line.length > 200;
  return { file, line: Number(number), ...column && { column }, shown: isLong ? "" : `${line}
${marks.trimEnd()}` };
}
var parse2 = `
const { readFileSync } = require('node:fs')
const { resolve, dirname } = require('node:path')
const { SourceTextModule } = require('node:vm')
const seen = new Set()
function look(file) {
  if (seen.has(file) || seen.size > 500) return
  seen.add(file)
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return
  }
  const module = new SourceTextModule(text, { identifier: file })
  for (const name of module.dependencySpecifiers) {
    if (/^\\.{0,2}\\/.*\\.m?js$/.test(name)) look(resolve(dirname(file), name))
  }
}
look(process.argv[1])
`;

// src/runner/modules.ts
import { beforeTypeScript, loadsTypeScript } from "./shared/typescript.mjs";
var Modules = class {
  #entries = /* @__PURE__ */ new Map();
  /** The processes of a module that is loaded, without waiting; undefined if `load` is needed. */
  loaded(file, revision) {
    const entry = this.#entries.get(file);
    return entry && (revision ?? 0) <= entry.revision ? entry.processes : void 0;
  }
  load(file, revision = 0) {
    const known4 = this.#entries.get(file);
    if (!known4) return this.#begin(file, revision);
    if (revision > known4.revision) return Promise.reject(stale(file, `is loaded at revision ${known4.revision}; revision ${revision}`));
    if (known4.hasFailed) return Promise.reject(stale(file, "could not be loaded; another try"));
    return known4.loading;
  }
  #begin(file, revision) {
    const entry = { revision, loading: processesOf(file) };
    this.#entries.set(file, entry);
    entry.loading.then(
      (processes) => entry.processes = processes,
      () => entry.hasFailed = true
    );
    return entry.loading;
  }
};
function stale(file, what) {
  return new RiverrunError("RELOAD", `${file} ${what} needs a fresh runner`);
}
async function processesOf(file) {
  const exports = await importFile(file);
  return processesIn(exports, file).catch((error) => {
    throw error instanceof RiverrunError ? withoutStack(error) : error;
  });
}
async function processesIn(exports, file) {
  const processes = /* @__PURE__ */ new Map();
  for (const [name, value] of Object.entries(exports)) {
    const defined = definition(value);
    if (typeof value !== "function" || name !== "default" && (!defined || value === exports.default)) continue;
    const own = { ...value.config, ...defined?.config };
    const config = name === "default" ? { ...own, ...moduleConfig(exports, file) } : own;
    processes.set(name, {
      handler: value,
      takes: defined?.takes ?? "input",
      config: await configJson(config, file),
      logs: logSettings(config.logger),
      parse: parserOf(config.inputSchema)
    });
  }
  return processes;
}
function moduleConfig(exports, file) {
  const given2 = exports.config ?? {};
  if (!isObject(given2)) {
    const what = Array.isArray(given2) ? "a list" : `a ${typeof given2}`;
    throw new RiverrunError("MODULE_CONFIG", `config in ${file} must be an object, and is ${what}`, { retriable: false, details: { path: "config" } });
  }
  const config = given2;
  return typeof exports.queue === "string" ? { ...config, queue: exports.queue } : config;
}
function logSettings(config) {
  return { level: config?.level ?? "debug", redact: redactor(config?.redact) };
}
async function importFile(file) {
  try {
    if ([".ts", ".mts", ".cts"].includes(extname(file))) checkTypeScript(file);
    const module = await import(pathToFileURL2(file).href);
    return withoutWrapper(module);
  } catch (error) {
    throw error instanceof RiverrunError ? withoutStack(error) : await loadError(error, file);
  }
}
function checkTypeScript(file) {
  if (loadsTypeScript()) return beforeTypeScript();
  if (process.features.typescript) return;
  throw new RiverrunError("MODULE_TS", `${file} is TypeScript, which the program that started this runner does not translate`, { retriable: false });
}
function withoutWrapper(module) {
  const inner = module.default;
  if (!isObject(inner)) return { ...module };
  return { ...module, ...inner };
}
async function loadError(thrown, file) {
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const message = said.replace(/\nRequire stack:\n[^]*/, "");
  if (thrown?.code === "MODULE_TS") return withoutStack(new RiverrunError("MODULE_TS", message, { retriable: false }));
  const isSyntax = isParseError(thrown);
  const place = isSyntax ? await syntaxPlace(thrown, file) : importPlace(thrown);
  const where = place ? [place.file, place.line, ...place.column ? [place.column] : []].join(":") : file;
  const located = message.includes(where) ? message : `${where}: ${message}`;
  const error = new RiverrunError(isSyntax ? "MODULE_SYNTAX" : "MODULE_ERROR", located, { retriable: false });
  error.name = thrown instanceof Error ? thrown.name : "Error";
  error.stack = place ? `${where}
${place.shown}` : ownFrames(thrown, file);
  return error;
}
function ownFrames(thrown, file) {
  const stack = thrown instanceof Error && thrown.stack ? thrown.stack : String(thrown);
  const own = stack.split("\n").filter((line) => !isForeign(line)).join("\n");
  return own.includes(file) ? own : `${file}
${own}`;
}
var runnerFolder = new URL(".", import.meta.url);
function isForeign(line) {
  return /^\s+at /.test(line) && ["node:", runnerFolder.href, fileURLToPath2(runnerFolder)].some((part) => line.includes(part));
}
function withoutStack(error) {
  error.stack = void 0;
  return error;
}
function isParseError(thrown) {
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown;
  if (code === "ERR_INVALID_TYPESCRIPT_SYNTAX" || code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return true;
  if (thrown.name !== "SyntaxError" || thrown.message.includes("does not provide an export")) return false;
  const stack = (thrown.stack ?? "").split("\n").filter((line) => !isForeign(line));
  return !stack.some((line) => /^\s+at .*(file:\/\/|\().*\.[cm]?[jt]sx?[:?]/.test(line));
}

// src/runner/runner.ts
var heartbeatMs = 1e4;
var Runner = class {
  peer;
  /** Called with what the server takes and sends at most. */
  onLimits = () => {
  };
  #output;
  #modules = new Modules();
  #invocations;
  constructor(output) {
    this.#output = output;
    this.peer = new Peer(output, this);
    this.#invocations = new Invocations(this.peer);
    setInterval(() => this.#beat(), heartbeatMs).unref();
  }
  /** The invocation whose code is running now, if one is known. */
  get current() {
    return this.#invocations.current;
  }
  onRequest(id, method, params2) {
    if (method === "invoke") this.#invoke(id, params2);
    else if (method === "load") this.#load(id, params2);
    else if (method === "initialise") this.#initialise(id, params2);
    else if (method === "drain") this.#drain(id, params2);
    else this.peer.refuse(id, { message: `there is no method ${method}` }, -32601);
  }
  onNotification(method, params2) {
    if (method === "cancel") this.#invocations.cancel(params2.invocation, params2.reason);
  }
  /** Ends an invocation with an error that none of its handler's promises carries. */
  fail(invocation, error) {
    this.#invocations.fail(invocation, error);
  }
  cancelAll(reason2) {
    this.#invocations.cancelAll(reason2);
  }
  #initialise(id, { protocol, limits }) {
    if (protocol !== protocolVersion) {
      const message = `this SDK speaks version ${protocolVersion} of the protocol, the server ${protocol}`;
      this.peer.refuse(id, { message, code: "PROTOCOL_VERSION" });
      this.#output.finish(() => process.exit(1));
      return;
    }
    const known4 = { ...this.#invocations.limits, ...limits };
    this.#invocations.limits = known4;
    this.peer.limitBytes = known4.messageBytes;
    this.onLimits(known4);
    const answer2 = {
      protocol: protocolVersion,
      sdk: { name: "riverrun", version, language: "typescript" },
      runtime: `node ${process.versions.node}`,
      pid: process.pid
    };
    this.peer.answer(id, JSON.stringify(answer2));
  }
  #load(id, { file, revision }) {
    this.#modules.load(file, revision).then(
      (processes) => {
        const list2 = [...processes].map(([name, { config }]) => ({ export: name, config }));
        this.peer.answer(id, JSON.stringify({ processes: list2 }));
      },
      (error) => this.peer.refuse(id, describe(error))
    );
  }
  #invoke(id, params2) {
    const { file = "", revision } = params2;
    const invocation = this.#invocations.add(id, params2);
    const processes = this.#modules.loaded(file, revision);
    if (processes) {
      this.#execute(invocation, processes);
      return;
    }
    this.#modules.load(file, revision).then(
      (loaded) => this.#execute(invocation, loaded),
      (error) => this.#invocations.fail(invocation, error)
    );
  }
  #execute(invocation, processes) {
    const { file, export: name = "default" } = invocation.params;
    if (invocation.cancelledBefore) {
      this.#invocations.fail(invocation, new CancelledError(invocation.cancelledBefore));
      return;
    }
    const process2 = processes.get(name);
    if (process2) {
      this.#invocations.execute(invocation, process2);
      return;
    }
    const message = `${file} exports no handler under the name ${name}`;
    this.#invocations.fail(invocation, new RiverrunError("HANDLER_NOT_FOUND", message, { retriable: false }));
  }
  #drain(id, { graceMs: graceMs2 = 0 }) {
    this.#invocations.drain(graceMs2, (unfinished) => this.peer.answer(id, JSON.stringify({ unfinished })));
  }
  #beat() {
    if (this.#invocations.running.size) this.peer.notify("heartbeat", {});
  }
};

// src/runner/main.ts
import { provideTypeScript } from "./shared/typescript.mjs";

// src/index.ts
var index_exports = {};
__export(index_exports, {
  CancelledError: () => CancelledError,
  ExecutionOver: () => ExecutionOver,
  HttpError: () => HttpError,
  NonRetriableError: () => NonRetriableError,
  RetryAfterError: () => RetryAfterError,
  Riverrun: () => Riverrun,
  RiverrunError: () => RiverrunError,
  defineProcess: () => defineProcess,
  defineQueueConfig: () => defineQueueConfig,
  defineQueueWorker: () => defineQueueWorker,
  defineStep: () => defineStep,
  emptyRun: () => emptyRun,
  emptyTrigger: () => emptyTrigger,
  followRun: () => followRun2,
  isFinal: () => isFinal,
  reduceEvents: () => reduceEvents,
  reduceRun: () => reduceRun,
  reduceState: () => reduceState,
  reduceTrigger: () => reduceTrigger,
  version: () => version
});

// src/api/operations.ts
var getAwaitStats = (options2) => options2.client.get({ url: "/api/awaits", ...options2 });
var emitEvent = (options2) => options2.client.post({
  url: "/api/events",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var getUnheard = (options2) => options2.client.get({ url: "/api/events/unheard", ...options2 });
var streamEvents = (options2) => options2.client.get({ url: "/api/events/{stream}", ...options2 });
var followNamed = (options2) => options2.client.sse.get({ url: "/api/events/{stream}/tail", ...options2 });
var appendEvents = (options2) => options2.client.post({
  url: "/api/events/{type}/{id}",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var followStream = (options2) => options2.client.sse.get({ url: "/api/events/{type}/{id}/stream", ...options2 });
var listFlows = (options2) => options2.client.get({ url: "/api/flows", ...options2 });
var registerFlow = (options2) => options2.client.post({
  url: "/api/flows",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var validateFlow = (options2) => options2.client.post({
  url: "/api/flows/validate",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var getFlow = (options2) => options2.client.get({ url: "/api/flows/{id}", ...options2 });
var flowDiagram = (options2) => options2.client.get({ url: "/api/flows/{id}/diagram", ...options2 });
var startRun = (options2) => options2.client.post({
  url: "/api/flows/{id}/start",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var flowVersions = (options2) => options2.client.get({ url: "/api/flows/{id}/versions", ...options2 });
var listJobs = (options2) => options2.client.get({ url: "/api/jobs", ...options2 });
var removeJob = (options2) => options2.client.delete({ url: "/api/jobs/{id}", ...options2 });
var getJob = (options2) => options2.client.get({ url: "/api/jobs/{id}", ...options2 });
var changeJob = (options2) => options2.client.patch({
  url: "/api/jobs/{id}",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var cancelJob = (options2) => options2.client.post({
  url: "/api/jobs/{id}/cancel",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var promoteJob = (options2) => options2.client.post({ url: "/api/jobs/{id}/promote", ...options2 });
var retryJob = (options2) => options2.client.post({ url: "/api/jobs/{id}/retry", ...options2 });
var listProcesses = (options2) => options2.client.get({ url: "/api/processes", ...options2 });
var listQueues = (options2) => options2.client.get({ url: "/api/queues", ...options2 });
var getQueue = (options2) => options2.client.get({ url: "/api/queues/{name}", ...options2 });
var cleanQueue = (options2) => options2.client.post({
  url: "/api/queues/{name}/clean",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var clearQueue = (options2) => options2.client.post({
  url: "/api/queues/{name}/clear",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var deadLetters = (options2) => options2.client.get({ url: "/api/queues/{name}/dlq", ...options2 });
var purge = (options2) => options2.client.post({
  url: "/api/queues/{name}/dlq/purge",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var redrive = (options2) => options2.client.post({
  url: "/api/queues/{name}/dlq/redrive",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var queueJobs = (options2) => options2.client.get({ url: "/api/queues/{name}/jobs", ...options2 });
var addJobs = (options2) => options2.client.post({
  url: "/api/queues/{name}/jobs",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var pauseQueue = (options2) => options2.client.post({ url: "/api/queues/{name}/pause", ...options2 });
var resumeQueue = (options2) => options2.client.post({ url: "/api/queues/{name}/resume", ...options2 });
var execute = (options2) => options2.client.post({
  url: "/api/runner/execute",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var listRuns = (options2) => options2.client.get({ url: "/api/runs", ...options2 });
var deleteRun = (options2) => options2.client.delete({ url: "/api/runs/{id}", ...options2 });
var getRun = (options2) => options2.client.get({ url: "/api/runs/{id}", ...options2 });
var cancelRun = (options2) => options2.client.post({
  url: "/api/runs/{id}/cancel",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var runChildren = (options2) => options2.client.get({ url: "/api/runs/{id}/children", ...options2 });
var runEvents = (options2) => options2.client.get({ url: "/api/runs/{id}/events", ...options2 });
var forkRun = (options2) => options2.client.post({
  url: "/api/runs/{id}/fork",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var runHistory = (options2) => options2.client.get({ url: "/api/runs/{id}/history", ...options2 });
var pauseRun = (options2) => options2.client.post({
  url: "/api/runs/{id}/pause",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var rerunRun = (options2) => options2.client.post({
  url: "/api/runs/{id}/rerun",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var resumeRun = (options2) => options2.client.post({
  url: "/api/runs/{id}/resume",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var runState = (options2) => options2.client.get({ url: "/api/runs/{id}/state", ...options2 });
var followRun = (options2) => options2.client.sse.get({ url: "/api/runs/{id}/stream", ...options2 });
var runWhy = (options2) => options2.client.get({ url: "/api/runs/{id}/why", ...options2 });
var listSchedules = (options2) => options2.client.get({ url: "/api/schedules", ...options2 });
var backfillSchedule = (options2) => options2.client.post({
  url: "/api/schedules/{id}/backfill",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var getStory = (options2) => options2.client.get({ url: "/api/stories/{correlationId}", ...options2 });
var listTriggers = (options2) => options2.client.get({ url: "/api/triggers", ...options2 });
var createTrigger = (options2) => options2.client.post({
  url: "/api/triggers",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var removeTrigger = (options2) => options2.client.delete({ url: "/api/triggers/{id}", ...options2 });
var getTrigger = (options2) => options2.client.get({ url: "/api/triggers/{id}", ...options2 });
var changeTrigger = (options2) => options2.client.patch({
  url: "/api/triggers/{id}",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var resumeCallback = (options2) => options2.client.post({
  url: "/api/triggers/{id}",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var disableTrigger = (options2) => options2.client.post({ url: "/api/triggers/{id}/disable", ...options2 });
var enableTrigger = (options2) => options2.client.post({ url: "/api/triggers/{id}/enable", ...options2 });
var fireTrigger = (options2) => options2.client.post({
  url: "/api/triggers/{id}/fire",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});
var triggerHistory = (options2) => options2.client.get({ url: "/api/triggers/{id}/history", ...options2 });
var triggerStats = (options2) => options2.client.get({ url: "/api/triggers/{id}/stats", ...options2 });
var version2 = (options2) => options2.client.get({ url: "/api/version", ...options2 });
var listWorkers = (options2) => options2.client.get({ url: "/api/workers", ...options2 });
var drainWorker = (options2) => options2.client.post({
  url: "/api/workers/{id}/drain",
  ...options2,
  headers: {
    "Content-Type": "application/json",
    ...options2.headers
  }
});

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

// src/live/path.ts
function getAt(value, path) {
  let at = value;
  for (const part of path.split(".")) {
    if (Array.isArray(at)) at = at[Number(part)];
    else if (isObject(at) && Object.hasOwn(at, part)) at = at[part];
    else return void 0;
  }
  return at;
}
function setAt(state, path, value) {
  return put(state, path.split("."), value);
}
function deleteAt(state, path) {
  return remove(state, path.split("."));
}
function put(parent, [key2, ...rest], value) {
  if (key2 === void 0) return value;
  if (Array.isArray(parent) && /^\d+$/.test(key2) && Number(key2) <= parent.length) {
    const items = [...parent];
    items[Number(key2)] = put(items[Number(key2)], rest, value);
    return items;
  }
  const members3 = isObject(parent) ? parent : {};
  return define(members3, key2, put(Object.hasOwn(members3, key2) ? members3[key2] : void 0, rest, value));
}
function remove(parent, [key2, ...rest]) {
  if (key2 === void 0 || !isObject(parent) || !Object.hasOwn(parent, key2)) return parent;
  if (rest.length) return define(parent, key2, remove(parent[key2], rest));
  const { [key2]: _, ...left } = parent;
  return left;
}
function define(members3, key2, value) {
  const copy2 = { ...members3 };
  Object.defineProperty(copy2, key2, { value, enumerable: true, writable: true, configurable: true });
  return copy2;
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
function operate(state, { type, key: key2, value }) {
  return type === "set" ? setAt(state, key2, value ?? null) : deleteAt(state, key2);
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
function enter(run, step2, branch) {
  if (step2 === void 0) return run;
  const { error: _, ...summary } = run.steps[step2] ?? { visits: 0 };
  const visits = summary.visits + 1;
  const visit = { step: step2, visit: visits, status: "pending", attempt: 0, ...branch && { branch } };
  return {
    ...run,
    steps: { ...run.steps, [step2]: { ...summary, status: "pending", attempt: 0, visits } },
    visits: [...run.visits, visit]
  };
}
function leave(run, key2) {
  const visit = find(run, key2);
  return { run: visit ? { ...run, visits: run.visits.filter((other) => other !== visit) } : run, visit };
}
function update(run, key2, news) {
  const visits = run.visits.map((visit) => same(visit, key2) ? { ...visit, ...news } : visit);
  const summary = run.steps[key2.step];
  const steps = summary ? { ...run.steps, [key2.step]: { ...summary, status: news.status } } : run.steps;
  return { ...run, visits, steps };
}
function fork(run, key2, data) {
  const { branches, concurrency = 0, failFast = false, scoped = false } = data;
  const steps = branches.map(({ step: step2 }) => step2);
  return change(run, key2, { steps, concurrency, failFast, scoped, entered: 0, ended: 0 });
}
function enterBranches(run, key2) {
  const branches = find(run, key2)?.branches;
  if (!branches) return run;
  const { steps, concurrency, entered, ended: ended2 } = branches;
  const room = concurrency === 0 ? steps.length : Math.max(0, concurrency - (entered - ended2));
  const next = steps.slice(entered, entered + room);
  const begun = change(run, key2, { ...branches, entered: entered + next.length });
  return next.reduce((run2, step2) => enter(run2, step2, { step: key2.step, visit: key2.visit }), begun);
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
function change(run, key2, branches) {
  return { ...run, visits: run.visits.map((visit) => same(visit, key2) ? { ...visit, branches } : visit) };
}
function find(run, key2) {
  return run.visits.find((visit) => same(visit, key2));
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
function started(run, step2, { ts, attempt = 1 }) {
  const { error: _, endedAt: __, ...summary } = run.steps[step2] ?? { visits: 1 };
  return { ...run, steps: { ...run.steps, [step2]: { ...summary, status: "running", attempt, startedAt: ts } } };
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
function summarise(run, step2, news) {
  const summary = run.steps[step2];
  return summary ? { ...run, steps: { ...run.steps, [step2]: { ...summary, ...news } } } : run;
}
function end(run, status, ts) {
  return { ...run, status, endedAt: ts, visits: [], paused: false };
}
function withStatus(run) {
  if (run.endedAt !== void 0 || !Object.keys(run.steps).length) return run;
  const begun = Object.values(run.steps).some((step2) => step2.startedAt !== void 0);
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
  return async ({ method, path, headers, body, signal, timeoutMs }) => {
    const limit2 = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, limit2]) : limit2;
    try {
      const response = await fetch(base + path, { method, headers, signal: either, ...body !== void 0 && { body } });
      return { status: response.status, statusText: response.statusText, text: await response.text() };
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw limit2.aborted ? new TookTooLong("", { cause }) : cause;
    }
  };
}
var idleMs = 2e4;
var agents = /* @__PURE__ */ new Map();
function overNode(base) {
  const node = globalThis.process?.release?.name === "node" && !process.versions.bun && !process.versions.deno ? process : void 0;
  if (!node?.getBuiltinModule) return void 0;
  const { protocol, hostname: hostname2, port, pathname } = parse3(base);
  const http = node.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");
  const agent = agents.get(protocol) ?? new http.Agent({ keepAlive: true, timeout: idleMs });
  agents.set(protocol, agent);
  const server = { agent, hostname: hostname2.replace(/^\[|\]$/g, ""), ...port && { port } };
  const prefix = pathname.replace(/\/+$/, "");
  return ({ method, path, headers, body, signal, timeoutMs }) => new Promise((resolve2, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const request = http.request({ ...server, method, path: prefix + path, headers });
    const timer = setTimeout(() => fail(new TookTooLong()), timeoutMs);
    const stop2 = signal && (() => fail(signal.reason));
    const finish = () => {
      clearTimeout(timer);
      if (stop2) signal.removeEventListener("abort", stop2);
    };
    const fail = (error) => {
      finish();
      reject(error);
      request.destroy();
    };
    if (stop2) signal.addEventListener("abort", stop2);
    request.on("error", fail);
    request.on("response", (response) => {
      let text2 = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => text2 += piece);
      response.on("error", fail);
      response.on("end", () => {
        finish();
        resolve2({ status: response.statusCode ?? 0, statusText: response.statusMessage ?? "", text: text2 });
      });
    });
    request.end(body);
  });
}
function parse3(base) {
  const url = URL.canParse(base) ? new URL(base) : void 0;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new RiverrunError("URL_INVALID", `${JSON.stringify(base)} is no URL of a server: it should look like http://127.0.0.1:4600`);
}

// src/client/http.ts
var HttpError = class extends RiverrunError {
  name = "HttpError";
  status;
  constructor(status, code, message, options2) {
    super(code, message, options2);
    this.status = status;
  }
};
function given(options2) {
  return { ...options2 };
}
var JsonText = class {
  constructor(text2) {
    this.text = text2;
  }
};
var Http = class {
  #base;
  #headers;
  #fetch;
  #transport;
  #timeoutMs;
  get = this.#sender("GET");
  post = this.#sender("POST");
  put = this.#sender("PUT");
  patch = this.#sender("PATCH");
  delete = this.#sender("DELETE");
  sse = { get: this.#opener("GET"), post: this.#opener("POST") };
  constructor({ url = "http://127.0.0.1:4600", token, headers, timeoutMs = 3e4, ...rest }) {
    this.#base = String(url).replace(/\/+$/, "");
    this.#headers = { ...token && { authorization: `Bearer ${token}` }, ...headers };
    this.#fetch = rest.fetch ?? globalThis.fetch.bind(globalThis);
    this.#transport = (rest.fetch ? void 0 : overNode(this.#base)) ?? overFetch(this.#base, this.#fetch);
    this.#timeoutMs = timeoutMs;
  }
  #sender(method) {
    return (request) => this.#send(method, request);
  }
  #opener(method) {
    return (request) => this.#open(method, request);
  }
  async #open(method, request) {
    const { signal } = request;
    const body = bodyText(method, request.body);
    const init = {
      method,
      headers: this.#headersFor(body, { accept: "text/event-stream", ...request.headers }),
      ...body !== void 0 && { body },
      ...signal && { signal }
    };
    let response;
    try {
      response = await this.#fetch(`${this.#base}${pathOf(request)}${queryText(request.query)}`, init);
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      throw this.#unreachable(cause);
    }
    const { status, statusText } = response;
    if (!response.ok) throw failure({ status, statusText, text: await response.text().catch(() => "") });
    return response;
  }
  async #send(method, request) {
    const { signal, timeoutMs = this.#timeoutMs } = request;
    const path = pathOf(request);
    const body = bodyText(method, request.body);
    let answer2;
    try {
      answer2 = await this.#transport({
        method,
        path: path + queryText(request.query),
        headers: this.#headersFor(body, request.headers),
        body,
        signal,
        timeoutMs
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      if (cause instanceof TookTooLong) throw new RiverrunError("REQUEST_TIMEOUT", `${method} ${path} took longer than ${timeoutMs} ms`, { cause });
      throw this.#unreachable(cause);
    }
    if (answer2.status < 200 || answer2.status > 299) throw failure(answer2);
    return answer2.text ? JSON.parse(answer2.text) : void 0;
  }
  /** The names of headers that generated functions give are not all in lower case. */
  #headersFor(body, more) {
    const headers = { ...this.#headers };
    for (const [name, value] of Object.entries(more ?? {})) if (value !== void 0) headers[name.toLowerCase()] = String(value);
    if (body !== void 0) headers["content-type"] = "application/json";
    return headers;
  }
  #unreachable(cause) {
    return new RiverrunError("UNREACHABLE", `${this.#base} cannot be reached: ${reason(cause)}`, { cause });
  }
};
function pathOf({ url, path }) {
  const values = path ?? {};
  return url.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values[name])));
}
function bodyText(method, body) {
  if (body instanceof JsonText) return body.text;
  if (body !== void 0) return JSON.stringify(body);
  return method === "POST" ? "{}" : void 0;
}
function failure({ status, statusText, text: text2 }) {
  let body;
  try {
    body = JSON.parse(text2);
  } catch {
    body = void 0;
  }
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const code = typeof error.code === "string" ? error.code : `HTTP_${status}`;
  const message = typeof error.message === "string" ? error.message : text2.slice(0, 300) || statusText;
  return new HttpError(status, code, message, { details: error.details });
}
function reason(cause) {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error ? inner.message || String(inner.code) : String(inner);
}
function queryText(query) {
  const params2 = new URLSearchParams();
  for (const [key2, value] of Object.entries(query ?? {})) {
    if (value === void 0) continue;
    params2.set(key2, Array.isArray(value) ? value.join(",") : value instanceof Date ? value.toISOString() : String(value));
  }
  return params2.size ? `?${params2}` : "";
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
  register(definition2) {
    return registerFlow({ client: this.#client, body: definition2 });
  }
  /** What is wrong with a definition, if anything. Nothing is registered. */
  validate(definition2) {
    return validateFlow({ client: this.#client, body: definition2 });
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
  add(queue, create, json4) {
    const name = `${create} ${queue}`;
    let line = this.#lines.get(name);
    if (!line) {
      line = new Line((json5) => this.#send(queue, create, json5), () => this.#lines.delete(name));
      this.#lines.set(name, line);
    }
    return line.add(json4);
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
  add(json4) {
    return new Promise((resolve2, reject) => {
      this.#waiting.push({ json: json4, resolve: resolve2, reject });
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
    const json4 = jobs.length === 1 ? first.json : `{"jobs":[${jobs.map((job2) => job2.json).join(",")}]}`;
    try {
      const { jobs: added } = await this.#send(json4);
      if (added?.length !== jobs.length) throw new RiverrunError("INTERNAL", `the server answered ${jobs.length} jobs with ${added?.length}`);
      jobs.forEach((job2, index) => job2.resolve(added[index]));
    } catch (error) {
      if (jobs.length === 1 || !isRefused(error)) return jobs.forEach((job2) => job2.reject(error));
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
  const key2 = await crypto.subtle.importKey("raw", bytes.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const made = new Uint8Array(await crypto.subtle.sign("HMAC", key2, bytes.encode(body)));
  return `sha256=${Array.from(made, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

// src/client/sse.ts
async function* readEvents(body, listener = {}) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const block = new Block(listener);
  let pieces = [];
  try {
    for (; ; ) {
      const { done: done2, value } = await reader.read();
      if (done2) return;
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
function onKind(client, kinds, options2 = {}) {
  const open = ({ query, ...to }) => client.sse.get({ ...to, url: "/api/events", query: { type: kinds, ...query } });
  return subscribe(open, options2);
}
async function* subscribe(open, options2 = {}) {
  const { from, follow, signal } = options2;
  const types = options2.types && [...options2.types, ...follow === "until-end" ? finalTypes : []];
  let lastId;
  let retryMs = 1e3;
  let failures = 0;
  for (; ; ) {
    let isOver = false;
    let hasEnded = false;
    let reason2;
    try {
      const connection = connect(open, {
        ...options2,
        query: given({ from: lastId === void 0 ? from : void 0, ...types && { type: types }, follow }),
        lastId,
        onRetry: (ms) => retryMs = ms,
        onId: (id) => lastId = id
      });
      for await (const event of connection) {
        failures = 0;
        hasEnded = follow === "until-end" && isFinal(event);
        if (isWanted(event.type, options2.types)) yield event;
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
    options2.onReconnect?.(reason2);
  }
}
function connect(open, { query, lastId, onRetry, onId, signal, onMissed, idleMs: idleMs2 = 6e4 }) {
  return {
    wasEmpty: true,
    async *[Symbol.asyncIterator]() {
      const idle = new Idle(idleMs2, signal);
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
  return new Promise((resolve2, reject) => {
    const stop2 = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop2);
      resolve2();
    }, ms);
    if (signal?.aborted) stop2();
    else signal?.addEventListener("abort", stop2, { once: true });
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
  fire(id, input, options2) {
    return fireTrigger({ client: this.#client, path: { id }, body: given({ input, ...options2 }) });
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
  drain(id, options2) {
    return drainWorker({ client: this.#client, path: { id }, body: given(options2) });
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
  constructor(options2 = {}) {
    this.api = new Http(options2);
    this.#gather = new Gather((queue, create, json4) => this.#add(queue, new JsonText(json4), create));
    this.flows = new FlowsApi(this.api);
    this.triggers = new TriggersApi(this.api);
    this.schedules = new SchedulesApi(this.api);
    this.workers = new WorkersApi(this.api);
  }
  /** When this is answered the job is on disk. Calls that are made side by side share requests. */
  async enqueue(queue, data, options2) {
    const { name, create, ...rest } = options2 ?? {};
    const job2 = { name, data: data ?? null, ...Object.keys(rest).length && { options: rest } };
    return this.#gather.add(queue, create === true, JSON.stringify(job2));
  }
  /** All of them or none. */
  async enqueueMany(queue, jobs, options2) {
    if (!jobs.length) return [];
    return (await this.#add(queue, { jobs }, options2?.create)).jobs;
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
  cancelJob(jobId, reason2) {
    return cancelJob({ client: this.api, path: { id: jobId }, body: given({ reason: reason2 }) });
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
  async waitJob(jobId, options2 = {}) {
    await ended(
      `job ${jobId}`,
      options2,
      (signal) => this.followJob(jobId, { follow: "until-end", from: "end", types: [...finalTypes], signal })
    );
    return this.job(jobId);
  }
  /** The events of a job and the output of its handler, as they happen. */
  followJob(jobId, options2) {
    return subscribe((to) => followStream({ ...to, client: this.api, path: { type: "job", id: jobId } }), options2);
  }
  /** What happens to the jobs of a queue from now on. Nothing of it is stored: see `onMissed`. */
  followQueue(queue, options2) {
    return subscribe((to) => followStream({ ...to, client: this.api, path: { type: "queue", id: queue } }), options2);
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
  clearQueue(name, options2) {
    return clearQueue({ client: this.api, path: { name }, body: given(options2) });
  }
  /** The older name of `clearQueue`. */
  drainQueue(name, options2) {
    return this.clearQueue(name, options2);
  }
  /** Removes jobs that have ended. */
  cleanQueue(name, options2) {
    return cleanQueue({ client: this.api, path: { name }, body: given(options2) });
  }
  /** Jobs that have failed for good, newest first; those that `filter` names. */
  deadLetters(queue, { filter: filter2, ...page } = {}) {
    return deadLetters({ client: this.api, path: { name: queue }, query: given({ ...page, ...filter2 }) });
  }
  /**
   * Lets dead letters wait again, from their first attempt on: those that had failed by now, each
   * once. A longer redrive continues in the background: `goesOn` is then true.
   */
  redrive(queue, options2) {
    return redrive({ client: this.api, path: { name: queue }, body: given(options2) });
  }
  purgeDeadLetters(queue, options2) {
    return purge({ client: this.api, path: { name: queue }, body: given(options2) });
  }
  /** Runs a process at once and gives back its value. Its error is thrown, with its code. */
  async call(process2, input, { signal, ...options2 } = {}) {
    const { timeoutMs } = options2;
    const body = { process: process2, input: input ?? null, ...options2 };
    const patienceMs2 = timeoutMs === void 0 ? void 0 : timeoutMs + 1e4;
    return (await execute({ client: this.api, body, signal, ...patienceMs2 !== void 0 && { timeoutMs: patienceMs2 } })).value;
  }
  /** The same, with everything that the process says on its way. Leaving the loop early cancels the call. */
  async *frames(process2, input, { signal, ...options2 } = {}) {
    const abort = new AbortController();
    try {
      const response = await this.api.sse.post({
        url: "/api/runner/execute",
        body: { process: process2, input: input ?? null, ...options2 },
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
  async callWith(process2, input, onFrame, options2) {
    for await (const frame of this.frames(process2, input, options2)) {
      onFrame(frame);
      if (frame.type === "result") return frame.data.value;
      if (frame.type === "error") throw revive(frame.data);
      if (frame.type === "cancelled") throw new CancelledError(frame.data.reason ?? "user");
    }
    throw new RiverrunError("INTERNAL", "the call ended without an outcome");
  }
  /** Starts a run of a flow. When this is answered the run is on disk. */
  start(flow2, input, options2) {
    return startRun({ client: this.api, path: { id: flow2 }, body: given({ input, ...options2 }) });
  }
  /** Starts a run and waits until it has ended, however it ends. */
  async startAndWait(flow2, input, { timeoutMs, signal, ...options2 } = {}) {
    const startedMs = Date.now();
    const wait2 = Math.min(timeoutMs ?? longestWaitMs2, longestWaitMs2);
    const started2 = startRun({ client: this.api, path: { id: flow2 }, query: { wait: wait2 }, body: given({ input, ...options2 }), signal });
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
  cancel(runId, reason2) {
    return cancelRun({ client: this.api, path: { id: runId }, body: given({ reason: reason2 }) });
  }
  /** It begins no more steps until it is resumed; attempts that run are let finish. */
  pause(runId, reason2) {
    return pauseRun({ client: this.api, path: { id: runId }, body: given({ reason: reason2 }) });
  }
  resume(runId) {
    return resumeRun({ client: this.api, path: { id: runId } });
  }
  /** Starts the same again: with the same input or another one, in its own version or the `latest`. */
  rerun(runId, options2) {
    return rerunRun({ client: this.api, path: { id: runId }, body: given(options2) });
  }
  /** A new run that shares the past of this one up to the event `at`, or up to now. */
  fork(runId, options2) {
    return forkRun({ client: this.api, path: { id: runId }, body: given(options2) });
  }
  /** Deletes a run that has ended, with its stream. */
  deleteRun(runId) {
    return deleteRun({ client: this.api, path: { id: runId } });
  }
  /** The state now, or as it was after an event (its id) or at a time. */
  state(runId, options2) {
    return runState({ client: this.api, path: { id: runId }, query: given(options2) });
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
  async wait(runId, options2 = {}) {
    await ended(`run ${runId}`, options2, (signal) => this.follow(runId, { follow: "until-end", types: [...finalTypes], signal }));
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
  subscribe(stream, options2) {
    return subscribe((to) => followNamed({ ...to, client: this.api, path: { stream } }), options2);
  }
  /**
   * All events of some kinds, of every run and stream, as they happen: `order.paid`, or `order` for
   * every `order.*`. The `cursor` of the last one that was seen leads to those after it.
   */
  onKind(kinds, options2) {
    return onKind(this.api, kinds, options2);
  }
  /** The events of a run as they happen. */
  follow(runId, options2) {
    return subscribe((to) => followRun({ ...to, client: this.api, path: { id: runId } }), options2);
  }
  /** A run after each of its events, until it ends. */
  watch(runId, options2) {
    return followRun2(this.follow(runId, { ...options2, follow: "until-end" }));
  }
  /** What the server can run, and what it cannot because its file does not load. */
  async processes() {
    return (await listProcesses({ client: this.api })).items;
  }
  version() {
    return version2({ client: this.api });
  }
};
async function ended(what, { timeoutMs, signal }, open) {
  const limit2 = timeoutMs === void 0 ? void 0 : AbortSignal.timeout(timeoutMs);
  const signals = [signal, limit2].filter((one) => one !== void 0);
  try {
    for await (const _ of open(AbortSignal.any(signals))) ;
  } catch (error) {
    if (!limit2?.aborted || signal?.aborted) throw error;
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

// src/testing/index.ts
var testing_exports = {};
__export(testing_exports, {
  FakeClock: () => FakeClock,
  createTestContext: () => createTestContext,
  execute: () => execute2,
  fakeClock: () => fakeClock,
  later: () => later,
  runFlow: () => runFlow,
  runStep: () => runStep
});

// src/testing/clock.ts
import { createRequire as createRequire2, syncBuiltinESMExports } from "node:module";
import { promisify } from "node:util";
var real = { setImmediate: globalThis.setImmediate, Date: globalThis.Date, now: performance.now.bind(performance) };
var installed;
var require2 = createRequire2(import.meta.url);
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
  #sleep = (ms, value, { signal } = {}) => new Promise((resolve2, reject) => {
    const stop2 = () => {
      this.#clear(timer);
      reject(new DOMException("The operation was aborted", "AbortError"));
    };
    const timer = this.#add(() => {
      signal?.removeEventListener("abort", stop2);
      resolve2(value);
    }, ms);
    if (signal?.aborted) stop2();
    else signal?.addEventListener("abort", stop2, { once: true });
  });
  #ticks() {
    const sleep = this.#sleep;
    return async function* (ms, value, options2) {
      for (; ; ) yield await sleep(ms, value, options2);
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
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve2) => real.setImmediate(resolve2));
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
function retryDelayMs(policy, failure2, failures) {
  if (failure2.retriable === false || failures >= mostAttempts(policy)) return void 0;
  const named = [failure2.code, failure2.name];
  const { retryOn, backoffMs, backoffMultiplier, maxBackoffMs } = { ...defaults, ...canonicalRetry(policy) };
  if (retryOn && !retryOn.some((error) => named.includes(error))) return void 0;
  if (failure2.retryAfterMs !== void 0) return failure2.retryAfterMs;
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
var known2 = /* @__PURE__ */ new WeakMap();
function compiled(member, schema) {
  if (typeof schema !== "object" && typeof schema !== "function") return compile(member, schema);
  let check = known2.get(schema);
  if (!check) known2.set(schema, check = compile(member, schema));
  return check;
}
async function compile(member, schema) {
  const { [member]: json4 } = await configJson({ [member]: schema }, `${process.cwd()}/`);
  const { compile: compile2 } = await import("./shared/json-schema.mjs");
  try {
    return compile2(json4);
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
  constructor(options2, checks, store = new Store(options2.state), isStep = false) {
    this.#check = checks instanceof Promise ? checks.then(({ state }) => writeCheck(options2.stateSchema, state)) : writeCheck(options2.stateSchema, checks.state);
    if (this.#check instanceof Promise) this.#check.catch(() => {
    });
    this.#isStep = isStep;
    this.#options = options2;
    this.#store = store;
    this.journal = copy(options2.journal ?? []);
    this.checkpoint = options2.checkpoint;
    this.#conflicts = options2.conflicts ?? 0;
  }
  get state() {
    return this.#store.state;
  }
  /** Like the wire, it lets nothing through but JSON, and gives copies. */
  async request(method, params2) {
    if (this.ended) throw new RiverrunError("INVOCATION_ENDED", `${method} came after the handler had ended`);
    const answer2 = this.#answers[method];
    if (!answer2) throw new RiverrunError("INTERNAL", `the test kit does not know ${method}`);
    const { seen = [], inRun: inRun2 = false, ...asked } = copy(params2);
    if (this.#check instanceof Promise) this.#check = await this.#check;
    this.journal.push(...seen);
    const answered = await answer2(asked);
    if (this.#isStep && !inRun2 && writes.has(method)) this.journal.push({ op: method, name: asked.key ?? "", value: method === "state.setBatch" ? asked.values : asked.value });
    return copy(answered);
  }
  notify(method, params2) {
    if (this.ended) return;
    const said = copy(params2);
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
    call: (params2) => this.#call(params2),
    start: ({ flow: flow2, input, options: options2 }) => {
      const runId = options2?.runId ?? `run-${this.started.length + 1}`;
      this.started.push({ flow: flow2, input, options: options2, runId });
      return { runId, created: true };
    },
    lease: () => ({ valid: this.#options.leaseValid ?? true, untilMs: Date.now() + 3e4 })
  };
  /** As the server decides it: what failed is tried again, or its error is final and recorded. */
  #tryFailed(record, retry) {
    const { op, name = "", nth, error } = record;
    const key2 = operationKey(op, name, nth);
    const failures = (this.pending.get(key2)?.failures ?? 0) + 1;
    const delayMs = retryDelayMs(policyOf(this.#options.retryPolicy, retry), error, failures);
    if (delayMs === void 0) {
      this.pending.delete(key2);
      const { retryAfterMs: retryAfterMs2, ...final2 } = error;
      this.journal.push({ ...record, error: { ...final2, retriable: false } });
      return { final: true };
    }
    const retryAfterMs = this.#options.hasClock === false ? 0 : delayMs;
    this.pending.set(key2, { op, name, ...nth && { nth }, failures, atMs: Date.now() + retryAfterMs });
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
    const options2 = job2.options ?? {};
    const same2 = this.enqueued.find((other) => isSameJob(other, job2.queue, options2));
    if (same2) return { jobId: same2.jobId, created: false };
    const jobId = options2.jobId ?? `job-${this.enqueued.length + 1}`;
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
function isSameJob({ jobId, queue, options: options2 }, to, wanted) {
  if (wanted.jobId !== void 0 && jobId === wanted.jobId) return true;
  return queue === to && wanted.idempotencyKey !== void 0 && options2?.idempotencyKey === wanted.idempotencyKey;
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
function checkOptions(what, options2, known4) {
  const stranger = Object.entries(options2).find(([word, value]) => value !== void 0 && !known4.includes(word))?.[0];
  if (stranger !== void 0) throw new TypeError(`${what} has no option ${stranger}${meant(stranger, known4) || `: it knows ${known4.join(", ")}`}`);
}
function meant(word, known4) {
  const [nearest] = known4.map((one) => ({ one, like: jaroWinkler(one, word) })).sort((a, b) => b.like - a.like);
  return nearest && nearest.like >= likeness ? `; did you mean ${nearest.one}?` : "";
}
function strangers(value, known4, path, place) {
  return Object.entries(value).flatMap(([word, member]) => {
    if (member === void 0) return [];
    if (!known4.includes(word)) return [{ path: path + word, message: `is not a setting${elsewhere(word, path) || meant(word, known4)}` }];
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
function createTestContext(options2 = {}) {
  const memory = new Memory(memoryOptions(options2), checksOf(options2.config, options2.schemas));
  const context = contextOf([memory], options2, void 0);
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
var known3 = [
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
async function execute2(executable, input, given2 = {}) {
  checkOptions("execute", given2, known3);
  const { handler, config, takes } = parts(executable);
  const options2 = { ...given2, config: { ...config, ...given2.config } };
  checkSettings(options2.config, handler.name);
  const count = isBatch(options2, input) ? Math.max(1, input.length) : 1;
  const checks = await checksOf(options2.config, options2.schemas);
  const memories = Array.from({ length: count }, () => new Memory(memoryOptions(options2), checks));
  const memory = memories[0];
  const ctx = contextOf(memories, options2, input);
  if (takes === "job" && options2.config?.batch && !Array.isArray(input)) throw new TypeError("the config has batch: give a list of inputs");
  const argument2 = (given3) => takes === "job" ? jobArgument(given3, options2) : given3;
  const invoke = async () => {
    if (!isBatch(options2, input)) return checkOutput(checks, await handler(argument2(await givenInput(checks, input)), ctx));
    const given3 = await Promise.all(input.map((one, at) => givenInput(checks, one, `the input of job ${at}`)));
    const value = await handler(argument2(given3), ctx);
    if (!Array.isArray(value)) return checkOutput(checks, value);
    value.forEach((one, at) => one instanceof Error || checkOutput(checks, one, `the result of job ${at}`));
    return value;
  };
  const timer = options2.timeoutMs === void 0 ? void 0 : setTimeout(() => ctx.cancel("timeout"), options2.timeoutMs);
  const onAbort = () => ctx.cancel("user");
  options2.signal?.addEventListener("abort", onAbort);
  if (options2.signal?.aborted) onAbort();
  try {
    const left = new Promise((_, reject) => ctx.onLeave = reject);
    const running = settled(Promise.race([left, Promise.resolve().then(invoke)]), ctx);
    const outcome = await (options2.clock ? options2.clock.run(running) : running);
    const execution = finished(memory, options2, outcome);
    return isBatch(options2, input) ? { ...execution, jobs: memories.map(kept) } : execution;
  } finally {
    for (const one of memories) one.ended = true;
    clearTimeout(timer);
    options2.signal?.removeEventListener("abort", onAbort);
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
function finished(memory, options2, outcome) {
  return { ...outcome, ...kept(memory), attempt: attemptOf(options2) };
}
function kept(memory) {
  const { state, checkpoint: checkpoint2, journal } = memory;
  return { ...effects(memory), state, checkpoint: checkpoint2, journal };
}
function isBatch(options2, input) {
  return options2.config?.batch !== void 0 && Array.isArray(input);
}
function effects({ logs, events, progress, partials, enqueued: enqueued2, calls, started: started2 }) {
  return { logs, events, progress, partials, enqueued: enqueued2, calls, started: started2 };
}
function memoryOptions(options2) {
  const { after } = options2;
  return {
    ...after && { state: after.state, journal: after.journal, checkpoint: after.checkpoint },
    ...options2,
    retryPolicy: options2.config?.retry ?? options2.config?.retryPolicy,
    hasClock: options2.clock !== void 0
  };
}
var BatchMemory = class {
  constructor(memories) {
    this.memories = memories;
  }
  request(method, { jobId, ...params2 }) {
    return this.#of(jobId).request(method, params2);
  }
  notify(method, { jobId, ...params2 }) {
    this.#of(jobId).notify(method, params2);
  }
  #of(jobId) {
    const at = typeof jobId === "string" ? Number(jobId.slice(jobId.lastIndexOf("-") + 1)) : 0;
    return this.memories[at];
  }
};
function contextOf(memories, options2, input) {
  const memory = memories[0];
  const { jobId = "job-0", runId = "run-0", correlationId, causationId, tenantId, timeoutMs, enqueuedAt } = options2;
  const params2 = {
    file: "",
    kind: "job",
    jobId,
    queue: queueOf(options2),
    input,
    attempt: attemptOf(options2),
    maxAttempts: maxAttemptsOf(options2),
    runId,
    correlationId,
    causationId,
    tenantId,
    checkpoint: memory.checkpoint,
    journal: copy(memory.journal),
    timeoutMs,
    enqueuedAt
  };
  if (isBatch(options2, input)) {
    params2.jobs = input.map((one, at) => ({ jobId: `${jobId}-${at}`, input: one, attempt: params2.attempt, maxAttempts: params2.maxAttempts }));
  }
  const { level = "debug", redact } = options2.config?.logger ?? {};
  const link = params2.jobs ? new BatchMemory(memories) : memory;
  return new InvocationContext(link, params2, { level, redact: redactor(redact) });
}
function jobArgument(input, options2) {
  const { jobId = "job-0" } = options2;
  if (!options2.config?.batch) return job(input, jobId, options2);
  return input.map((one, index) => job(one, `${jobId}-${index}`, options2));
}
function job(data, id, options2) {
  const queue = queueOf(options2);
  return {
    id,
    name: options2.name ?? queue,
    queue,
    data,
    attempt: attemptOf(options2),
    maxAttempts: maxAttemptsOf(options2),
    enqueuedAt: options2.enqueuedAt ?? (/* @__PURE__ */ new Date()).toISOString()
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

// src/worker/processes.ts
import { join } from "node:path";
async function processesOf2(offered2) {
  const processes = /* @__PURE__ */ new Map();
  for (const [id, one] of Object.entries(offered2)) processes.set(id, await processOf(id, one));
  if (!processes.size) throw new RiverrunError("NO_PROCESSES", "a worker needs something to run: give processes");
  return processes;
}
async function processOf(id, offered2) {
  const handler = isObject(offered2) && typeof offered2 !== "function" ? offered2.default : offered2;
  if (typeof handler !== "function") throw new RiverrunError("HANDLER_NOT_FOUND", `processes.${id} is no function, and no module that exports one as its default`);
  const exported = typeof offered2 === "function" ? void 0 : offered2.config;
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

// src/testing/given.ts
var isLater2 = Symbol("later");
function later(after, payload) {
  return { [isLater2]: true, after, payload };
}
async function opened(triggers, trigger) {
  const answer2 = typeof triggers === "function" ? triggers : triggers?.[trigger.type];
  const given2 = await answer2?.(trigger);
  if (given2 === void 0) return void 0;
  const isPlain = typeof given2 !== "object" || given2 === null || !(isLater2 in given2);
  const { after, payload } = isPlain ? { after: 0, payload: given2 } : given2;
  checkBytes("body", payload);
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
function milliseconds2(what, duration) {
  const ms = durationMs(duration);
  if (ms === void 0) throw new TypeError(`${what} must be milliseconds or a duration, is ${String(duration)}`);
  return ms;
}

// src/testing/play.ts
import { hostname } from "node:os";

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
  constructor(credits2) {
    this.#credits = credits2;
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
    return new Promise((resolve2, reject) => {
      const id = ++this.#lastId;
      const line = this.#checked(method, JSON.stringify({ id, method, params: params2 }));
      const question = { line, resolve: resolve2, reject };
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
  refuse(id, failure2, code) {
    this.#ended(id, JSON.stringify({ id, error: wireError(failure2, code) }));
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

// src/testing/engine.ts
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join as join2 } from "node:path";
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
  send(text2) {
    if (!this.isGone) this.#child.stdin?.write(`${text2}
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
  #over(reason2) {
    if (this.isGone) return;
    this.isGone = true;
    this.#receiver?.gone(new RiverrunError("UNREACHABLE", `riverrun test-kit has ended (${reason2})${this.#said && `: ${this.#said.trim()}`}`));
  }
};
function binary() {
  const named = process.env.RIVERRUN_BINARY;
  const places = named ? [named] : (process.env.PATH ?? "").split(delimiter).map((folder) => join2(folder, process.platform === "win32" ? "riverrun.exe" : "riverrun"));
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
async function play(request, processes, clock, options2) {
  const engine = theEngine();
  const session = new Session(credits);
  const recorder = new Recorder(session, options2);
  const invocations = new Invocations(recorder);
  let isOver = false;
  let hasEnded = false;
  let changes = 0;
  let asks = 0;
  let wake = () => {
  };
  const change2 = () => {
    changes += 1;
    wake();
  };
  recorder.onChange = change2;
  clock.onTimer = change2;
  const answer2 = (id, result) => engine.send(JSON.stringify({ id, result }));
  const receive = (message, settle) => {
    const { id, method, params: params2 = {} } = message;
    hasEnded ||= message.kit === "played" || message.kit === "failed";
    if (message.kit === "time") clock.jump(message.ms);
    else if (message.kit === "callback") {
      asks += 1;
      answersOf(options2.triggers, message.callback, message.count).then((answers) => engine.send(JSON.stringify({ kit: "opened", answers })), settle.reject).finally(() => {
        asks -= 1;
        change2();
      });
    } else if (message.kit === "played") settle.resolve(message.report);
    else if (message.kit === "failed") settle.reject(new RiverrunError(message.error.code, message.error.message, message.error));
    else if (method === void 0) session.settle(message);
    else if (method === "initialise") {
      invocations.limits = { ...invocations.limits, ...params2.limits };
      session.connected({ send: (text2) => isOver || engine.send(text2) });
      answer2(id, {
        protocol: protocolVersion,
        sdk: { name: "riverrun", version, language: "typescript" },
        runtime: `node ${process.versions.node}`,
        pid: process.pid,
        worker: { name: `test-${hostname()}-${process.pid}`, tags: [] },
        processes: [...processes].map(([process2, { config }]) => ({ id: process2, config })),
        credits
      });
    } else if (method === "invoke") {
      const given2 = options2.awaited === void 0 ? params2 : { ...params2, awaited: options2.awaited };
      recorder.begun(id, given2);
      const invocation = invocations.add(id, given2);
      const process2 = processes.get(given2.process ?? "");
      if (process2) invocations.execute(invocation, process2);
      else invocations.fail(invocation, new RiverrunError("PROCESS_NOT_FOUND", `the test has no process ${given2.process}`, { retriable: false }));
    } else if (method === "cancel") invocations.cancel(params2.invocation, params2.reason);
    else if (id !== void 0) answer2(id, {});
    change2();
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
      await new Promise((resolve2) => wake = resolve2);
    }
  };
  try {
    const playing = new Promise((resolve2, reject) => {
      engine.listen({ receive: (message) => receive(message, { resolve: resolve2, reject }), gone: reject });
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
  constructor(session, options2) {
    this.#session = session;
    this.#options = options2;
    this.#conflicts = options2.conflicts ?? 0;
  }
  begun(id, { step: step2, visit, process: process2 }) {
    const key2 = visitKey(step2 ?? process2 ?? "", visit ?? 1);
    let traces = this.traces.get(key2);
    if (!traces) this.traces.set(key2, traces = { logs: [], events: [], progress: [], partials: [], enqueued: [], calls: [], started: [], executions: 0 });
    traces.executions += 1;
    this.#visits.set(id, traces);
  }
  async request(method, params2) {
    const traces = this.#visits.get(params2.invocation);
    const asked = JSON.parse(JSON.stringify(params2));
    const own = this.#own(method, asked, traces);
    if (own) return own();
    if (this.#options.stateSchema && method.startsWith("state.") && !method.startsWith("state.get") && method !== "state.has") await this.#check(method, asked);
    const result = await this.#ask(method, params2);
    if (method === "emit") traces.events.push({ id: result.id, ts: (/* @__PURE__ */ new Date()).toISOString(), type: asked.type, data: asked.data });
    return result;
  }
  notify(method, params2) {
    const { invocation, ...said } = JSON.parse(JSON.stringify(params2));
    const traces = this.#visits.get(invocation);
    if (method === "log") traces?.logs.push(said);
    else if (method === "progress") traces?.progress.push(said);
    else if (method === "partial") traces?.partials.push(said);
    this.#session.notify(method, params2);
    this.onChange();
  }
  answer(id, result) {
    this.#session.answer(id, result);
    this.onChange();
  }
  refuse(id, ...failure2) {
    this.#session.refuse(id, ...failure2);
    this.onChange();
  }
  /** What the test answers in place of the engine. */
  #own(method, { invocation: _, ...asked }, traces) {
    const { calls, leaseValid } = this.#options;
    if (method === "call") {
      traces.calls.push(asked);
      const answer2 = calls?.[asked.process];
      if (answer2) return async () => ({ value: await answer2(asked.input) ?? null });
    } else if (method === "start") {
      const { flow: flow2, input, options: options2 } = asked;
      const runId = options2?.runId ?? `run-${traces.started.length + 1}`;
      traces.started.push({ flow: flow2, input, options: options2, runId });
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
    const next = method === "state.delete" ? deleteAt(state, asked.key) : values.reduce((all, [key2, value]) => setAt(all, key2, value), state);
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
    return calls > all.filter(({ params: params2 }) => params2.kind === "call").length;
  }
  async #ask(method, params2) {
    const question = { method, invocation: params2.invocation };
    this.#open.add(question);
    try {
      return await this.#session.request(method, params2);
    } finally {
      this.#open.delete(question);
      this.onChange();
    }
  }
};
function enqueued({ enqueued: enqueued2 }, job2) {
  const { options: options2 = {}, queue } = job2;
  const same2 = enqueued2.find((other) => isSameJob(other, queue, options2));
  if (same2) return { jobId: same2.jobId, created: false };
  const jobId = options2.jobId ?? `job-${enqueued2.length + 1}`;
  enqueued2.push({ ...job2, jobId });
  return { jobId, created: true };
}
async function answersOf(triggers, trigger, count) {
  const answers = [];
  for (let n = 0; n < count; n += 1) {
    const answer2 = await opened(triggers, trigger);
    if (!answer2) break;
    answers.push(answer2);
  }
  return answers;
}
var realImmediate = globalThis.setImmediate;
function isAboutToGoOn() {
  return process.getActiveResourcesInfo().includes("Immediate");
}
async function breathe2() {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve2) => realImmediate(resolve2));
}

// src/testing/flow.ts
var sharedOptions = ["input", "flow", "events", "triggers", "start", "clock", "runId", "tenantId", "correlationId", "state", "stateSchema", "schemas", "calls", "conflicts", "leaseValid"];
async function runFlow(steps, options2 = {}) {
  checkOptions("runFlow", options2, ["entry", ...sharedOptions]);
  const named = Array.isArray(steps) ? steps.map((one) => ({ name: nameOf(one), ...parts(one) })) : Object.entries(steps).map(([name, one]) => ({ name, ...parts(one) }));
  const { visits, ...run } = await simulate(named, options2);
  return { ...run, visits: visits.map(({ journal, ...visit }) => visit) };
}
async function simulate(named, options2) {
  const thrown = [];
  const processes = await offered(named, options2, thrown);
  const { clock: given2, start = "2026-01-01T00:00:00.000Z" } = options2;
  const clock = given2 ?? new FakeClock(start).install();
  try {
    const { input = null, flow: flow2, entry, runId, tenantId, correlationId, state } = options2;
    const events = (options2.events ?? []).map(({ at, ...event }) => ({ atMs: arrivalMs({ at }, clock.now), event }));
    const request = { startMs: clock.now, input, flow: flow2, entry, runId, tenantId, correlationId, state, events };
    return flowRun(await play(request, processes, clock, options2), thrown);
  } finally {
    if (!given2) clock.restore();
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
    const [process2] = (await processesOf2({ [name]: { default: catching(handler, thrown), config: used } })).values();
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
  const error = (failure2) => {
    const same2 = thrown.find((one) => {
      const { code: code2 = "HANDLER_ERROR", message } = describe(one);
      return isObject(one) && message === failure2.message && (code2 === failure2.code || code2 === "");
    });
    if (!same2) return revive(failure2);
    const { code, retriable } = same2;
    if (code === void 0 && Object.isExtensible(same2)) same2.code = "HANDLER_ERROR";
    if (retriable === void 0 && failure2.retriable !== void 0 && Object.isExtensible(same2)) same2.retriable = failure2.retriable;
    return same2;
  };
  const { error: failed2, visits, ...run } = report;
  return {
    ...run,
    ...failed2 && { error: error(failed2) },
    visits: visits.map(({ error: failed3, retries, endedAt, ...visit }) => ({
      ...visit,
      ...failed3 && { error: error(failed3) },
      retries: retries.map((retry) => ({ ...retry, error: error(retry.error) })),
      endedAt: endedAt ?? report.endedAt,
      ...traces.get(visitKey(visit.step, visit.visit)) ?? { logs: [], events: [], progress: [], partials: [], enqueued: [], calls: [], started: [], executions: 0 }
    }))
  };
}

// src/testing/step.ts
async function runStep(executable, options2 = {}) {
  checkOptions("runStep", options2, ["step", "awaited", ...sharedOptions]);
  const { step: wanted, flow: flow2, ...rest } = options2;
  const { handler, config, takes } = parts(executable);
  const roles = [config.flow].flat().map((one) => typeof one === "string" ? { id: one } : isObject(one) ? one : {});
  const role = roles.find(({ id: id2 }) => flow2 === void 0 || id2 === void 0 || id2 === flow2);
  if (!role) throw new Error(`the process is no step of the flow ${flow2}`);
  const name = wanted ?? role.step ?? config.step ?? "test";
  const awaits = role.await ?? config.await;
  const { subscriptions: _s, triggers: _t, compensation: _c, await: _a, join: _j, emits: _e, flow: _f, step: _n, onFailure: _o, ...own } = config;
  const declared = options2.awaited === void 0 && awaits ? { await: awaits } : {};
  const id = flow2 ?? role.id ?? name;
  const alone = { ...own, flow: { id, role: "entry", step: name, ...role.limits && { limits: role.limits } }, ...declared };
  const late = isObject(awaits) && options2.awaited === void 0 && typeof awaits.onTimeout === "string" ? awaits.onTimeout : void 0;
  const steps = [{ name, handler, config: alone, takes }];
  if (late !== void 0 && late !== name) steps.push({ name: late, handler: () => null, config: { flow: { id, role: "step", step: late } }, takes: "input" });
  const { visits, state, elapsedMs, warnings } = await simulate(steps, { ...rest, flow: id });
  const { step: _step, visit: _visit, input: _input, ...report } = visits[0];
  return { ...report, warnings, state, elapsedMs };
}

// src/runner/main.ts
var fd = Number(process.env.RIVERRUN_RUNNER_FD ?? 3);
main();
function main() {
  const runner = new Runner(openOutput());
  provideTypeScript(new URL("shared/typescript.mjs", import.meta.url).href);
  provideSdk(import.meta.url, () => ({ ...index_exports, ...testing_exports }));
  captureConsole((level, message) => {
    const { current } = runner;
    current?.notify("log", { level, message });
    return current !== void 0;
  });
  process.on("uncaughtException", (error) => blame(runner, error));
  process.on("unhandledRejection", (error) => blame(runner, error));
  listen(runner);
}
function openOutput() {
  try {
    const output = new Output(fd);
    if (fd === 1) process.stdout.write = process.stderr.write.bind(process.stderr);
    return output;
  } catch (error) {
    process.stderr.write(`riverrun: this program is started by the riverrun server, with a pipe on fd ${fd}: ${error.message}
`);
    process.exit(2);
  }
}
function listen(runner) {
  const lines = new Lines();
  runner.onLimits = ({ messageBytes }) => lines.limitBytes = messageBytes;
  process.stdin.on("data", (chunk) => {
    try {
      for (const line of lines.take(chunk)) if (line) runner.peer.receive(line);
    } catch (error) {
      if (!(error instanceof NotAMessage)) throw error;
      process.stderr.write(`riverrun: the server sent what is not a message: ${error.message}
`);
      process.exit(1);
    }
  });
  process.stdin.on("end", () => stop(runner));
  process.stdin.on("error", () => stop(runner));
}
function stop(runner) {
  runner.cancelAll("shutdown");
  setImmediate(() => process.exit(0));
}
function blame(runner, error) {
  const { current } = runner;
  const text2 = error instanceof Error ? error.stack ?? error.message : String(error);
  if (!current) {
    process.stderr.write(`riverrun: an error that belongs to no invocation: ${text2}
`);
    return;
  }
  current.notify("log", { level: "error", message: `uncaught: ${text2}` });
  runner.fail(current, error);
}
export {
  CancelledError,
  ExecutionOver,
  FakeClock,
  HttpError,
  NonRetriableError,
  RetryAfterError,
  Riverrun,
  RiverrunError,
  createTestContext,
  defineProcess,
  defineQueueConfig,
  defineQueueWorker,
  defineStep,
  emptyRun,
  emptyTrigger,
  execute2 as execute,
  fakeClock,
  followRun2 as followRun,
  isFinal,
  later,
  reduceEvents,
  reduceRun,
  reduceState,
  reduceTrigger,
  runFlow,
  runStep,
  version
};
