import {
  ExecutionOver,
  RiverrunError,
  isObject
} from "./5JBL45P5.js";

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
  const give = (job, of) => {
    if (typeof job !== "object" || job === null || !Object.isExtensible(job)) return;
    Object.defineProperty(job, "isLeaseValid", { value: () => of().isLeaseValid(), configurable: true });
  };
  if (Array.isArray(first)) first.forEach((job, at) => give(job, () => ctx.job(at)));
  else give(first, () => ctx);
  return first;
}

// src/version.ts
var version = "0.1.0";

// src/wire.ts
var protocolVersion = 1;
var executionOver = -32002;

// src/failure.ts
var longestText = 64 * 1024;
var ownMembers = /* @__PURE__ */ new Set(["message", "name", "stack", "cause", "retriable", "retryAfterMs", "details", "__proto__"]);
function describe(thrown) {
  if (!isObject(thrown)) return { message: cut(String(thrown)) };
  const failure = { message: cut(typeof thrown.message === "string" ? thrown.message : text(thrown)) };
  if (typeof thrown.code === "string") failure.code = thrown.code;
  if (typeof thrown.name === "string") failure.name = thrown.name;
  if (typeof thrown.stack === "string") failure.stack = cut(withCauses(thrown.stack, thrown.cause));
  if (typeof thrown.retriable === "boolean") failure.retriable = thrown.retriable;
  const retryAfter = thrown.retryAfterMs ?? thrown.retryAfter;
  if (isDelay(retryAfter)) failure.retryAfterMs = Math.round(retryAfter);
  if (thrown.details !== void 0 && isSmallJson(thrown.details)) failure.details = thrown.details;
  return failure;
}
function recordOf(thrown) {
  const members = isObject(thrown) ? membersOf(thrown) : {};
  return JSON.parse(JSON.stringify({ ...describe(thrown), ...Object.keys(members).length > 0 && isSmallJson(members) && { members } }));
}
function revive(failure) {
  const { message, code, name, stack, members, ...options } = failure;
  const error = new RiverrunError(code || "HANDLER_ERROR", message, options);
  if (name) error.name = name;
  if (stack) error.stack = stack;
  return Object.assign(error, members);
}
function refusal({ code: kind, message, data }) {
  const { code, details, retriable, retryAfterMs } = data ?? {};
  const ErrorClass = kind === executionOver ? ExecutionOver : RiverrunError;
  return new ErrorClass(code ?? "INTERNAL", message, { details, retriable, retryAfterMs });
}
function wireError(failure, code = -32e3) {
  const { message, ...data } = failure;
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
    const json = JSON.stringify(value);
    return json !== void 0 && json.length <= longestText;
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

export {
  protocolVersion,
  describe,
  recordOf,
  revive,
  refusal,
  wireError,
  defineQueueWorker,
  defineProcess,
  defineStep,
  defineQueueConfig,
  definition,
  version
};
