import {
  RiverrunError,
  isObject
} from "./5JBL45P5.js";

// src/api/operations.ts
var getAwaitStats = (options) => options.client.get({ url: "/api/awaits", ...options });
var eventsOfKind = (options) => options.client.get({ url: "/api/events", ...options });
var emitEvent = (options) => options.client.post({
  url: "/api/events",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var getUnheard = (options) => options.client.get({ url: "/api/events/unheard", ...options });
var streamEvents = (options) => options.client.get({ url: "/api/events/{stream}", ...options });
var followNamed = (options) => options.client.sse.get({ url: "/api/events/{stream}/tail", ...options });
var listStreams = (options) => options.client.get({ url: "/api/events/{type}/list", ...options });
var getStream = (options) => options.client.get({ url: "/api/events/{type}/{id}", ...options });
var appendEvents = (options) => options.client.post({
  url: "/api/events/{type}/{id}",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var followStream = (options) => options.client.sse.get({ url: "/api/events/{type}/{id}/stream", ...options });
var listExecutions = (options) => options.client.get({ url: "/api/executions", ...options });
var getExecution = (options) => options.client.get({ url: "/api/executions/{id}", ...options });
var executionEvents = (options) => options.client.get({ url: "/api/executions/{id}/events", ...options });
var executionJobs = (options) => options.client.get({ url: "/api/executions/{id}/jobs", ...options });
var listFlows = (options) => options.client.get({ url: "/api/flows", ...options });
var registerFlow = (options) => options.client.post({
  url: "/api/flows",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var resumeCallbackOfFlow = (options) => options.client.post({
  url: "/api/flows/triggers/{id}",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var validateFlow = (options) => options.client.post({
  url: "/api/flows/validate",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var getFlow = (options) => options.client.get({ url: "/api/flows/{id}", ...options });
var flowDiagram = (options) => options.client.get({ url: "/api/flows/{id}/diagram", ...options });
var flowRuns = (options) => options.client.get({ url: "/api/flows/{id}/runs", ...options });
var getFlowRun = (options) => options.client.get({ url: "/api/flows/{id}/runs/{run}", ...options });
var cancelFlowRun = (options) => options.client.post({
  url: "/api/flows/{id}/runs/{run}/cancel",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var startRun = (options) => options.client.post({
  url: "/api/flows/{id}/start",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var flowVersions = (options) => options.client.get({ url: "/api/flows/{id}/versions", ...options });
var listHandlers = (options) => options.client.get({ url: "/api/handlers", ...options });
var getHandler = (options) => options.client.get({ url: "/api/handlers/{kind}", ...options });
var removeJobById = (options) => options.client.delete({ url: "/api/jobs", ...options });
var listJobs = (options) => options.client.get({ url: "/api/jobs", ...options });
var removeJob = (options) => options.client.delete({ url: "/api/jobs/{id}", ...options });
var getJob = (options) => options.client.get({ url: "/api/jobs/{id}", ...options });
var changeJob = (options) => options.client.patch({
  url: "/api/jobs/{id}",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var cancelJob = (options) => options.client.post({
  url: "/api/jobs/{id}/cancel",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var promoteJob = (options) => options.client.post({ url: "/api/jobs/{id}/promote", ...options });
var retryJob = (options) => options.client.post({ url: "/api/jobs/{id}/retry", ...options });
var openapiJson = (options) => options.client.get({ url: "/api/openapi.json", ...options });
var listProcesses = (options) => options.client.get({ url: "/api/processes", ...options });
var listQueues = (options) => options.client.get({ url: "/api/queues", ...options });
var getQueue = (options) => options.client.get({ url: "/api/queues/{name}", ...options });
var cleanQueue = (options) => options.client.post({
  url: "/api/queues/{name}/clean",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var clearQueue = (options) => options.client.post({
  url: "/api/queues/{name}/clear",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var deadLetters = (options) => options.client.get({ url: "/api/queues/{name}/dlq", ...options });
var purge = (options) => options.client.post({
  url: "/api/queues/{name}/dlq/purge",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var redrive = (options) => options.client.post({
  url: "/api/queues/{name}/dlq/redrive",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var queueJobs = (options) => options.client.get({ url: "/api/queues/{name}/jobs", ...options });
var addJobs = (options) => options.client.post({
  url: "/api/queues/{name}/jobs",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var pauseQueue = (options) => options.client.post({ url: "/api/queues/{name}/pause", ...options });
var resumeQueue = (options) => options.client.post({ url: "/api/queues/{name}/resume", ...options });
var execute = (options) => options.client.post({
  url: "/api/runner/execute",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var listRuns = (options) => options.client.get({ url: "/api/runs", ...options });
var importRun = (options) => options.client.post({
  url: "/api/runs/import",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var deleteRun = (options) => options.client.delete({ url: "/api/runs/{id}", ...options });
var getRun = (options) => options.client.get({ url: "/api/runs/{id}", ...options });
var runAwaits = (options) => options.client.get({ url: "/api/runs/{id}/awaits", ...options });
var cancelRun = (options) => options.client.post({
  url: "/api/runs/{id}/cancel",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var runChildren = (options) => options.client.get({ url: "/api/runs/{id}/children", ...options });
var runEvents = (options) => options.client.get({ url: "/api/runs/{id}/events", ...options });
var forkRun = (options) => options.client.post({
  url: "/api/runs/{id}/fork",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var runHistory = (options) => options.client.get({ url: "/api/runs/{id}/history", ...options });
var runJobs = (options) => options.client.get({ url: "/api/runs/{id}/jobs", ...options });
var pauseRun = (options) => options.client.post({
  url: "/api/runs/{id}/pause",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var rerunRun = (options) => options.client.post({
  url: "/api/runs/{id}/rerun",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var resumeRun = (options) => options.client.post({
  url: "/api/runs/{id}/resume",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var runState = (options) => options.client.get({ url: "/api/runs/{id}/state", ...options });
var followRun = (options) => options.client.sse.get({ url: "/api/runs/{id}/stream", ...options });
var runWhy = (options) => options.client.get({ url: "/api/runs/{id}/why", ...options });
var listSchedules = (options) => options.client.get({ url: "/api/schedules", ...options });
var backfillSchedule = (options) => options.client.post({
  url: "/api/schedules/{id}/backfill",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var getFlowSchema = (options) => options.client.get({ url: "/api/schemas/flow", ...options });
var getStory = (options) => options.client.get({ url: "/api/stories/{correlationId}", ...options });
var listTriggers = (options) => options.client.get({ url: "/api/triggers", ...options });
var createTrigger = (options) => options.client.post({
  url: "/api/triggers",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var removeTrigger = (options) => options.client.delete({ url: "/api/triggers/{id}", ...options });
var getTrigger = (options) => options.client.get({ url: "/api/triggers/{id}", ...options });
var changeTrigger = (options) => options.client.patch({
  url: "/api/triggers/{id}",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var resumeCallback = (options) => options.client.post({
  url: "/api/triggers/{id}",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var disableTrigger = (options) => options.client.post({ url: "/api/triggers/{id}/disable", ...options });
var enableTrigger = (options) => options.client.post({ url: "/api/triggers/{id}/enable", ...options });
var fireTrigger = (options) => options.client.post({
  url: "/api/triggers/{id}/fire",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});
var triggerHistory = (options) => options.client.get({ url: "/api/triggers/{id}/history", ...options });
var triggerStats = (options) => options.client.get({ url: "/api/triggers/{id}/stats", ...options });
var version = (options) => options.client.get({ url: "/api/version", ...options });
var listWorkers = (options) => options.client.get({ url: "/api/workers", ...options });
var drainWorker = (options) => options.client.post({
  url: "/api/workers/{id}/drain",
  ...options,
  headers: {
    "Content-Type": "application/json",
    ...options.headers
  }
});

// src/client/transport.ts
var TookTooLong = class extends Error {
};
function overFetch(base, fetch) {
  return async ({ method, path, headers, body, signal, timeoutMs }) => {
    const limit = AbortSignal.timeout(timeoutMs);
    const either = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      const response = await fetch(base + path, { method, headers, signal: either, ...body !== void 0 && { body } });
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
  return ({ method, path, headers, body, signal, timeoutMs }) => new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const request = http.request({ ...server, method, path: prefix + path, headers });
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
function createClient(options = {}) {
  return new Http(options);
}
function given(options) {
  return { ...options };
}
var JsonText = class {
  constructor(text) {
    this.text = text;
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
    let answer;
    try {
      answer = await this.#transport({
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
    if (answer.status < 200 || answer.status > 299) throw failure(answer);
    return answer.text ? JSON.parse(answer.text) : void 0;
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

export {
  getAwaitStats,
  eventsOfKind,
  emitEvent,
  getUnheard,
  streamEvents,
  followNamed,
  listStreams,
  getStream,
  appendEvents,
  followStream,
  listExecutions,
  getExecution,
  executionEvents,
  executionJobs,
  listFlows,
  registerFlow,
  resumeCallbackOfFlow,
  validateFlow,
  getFlow,
  flowDiagram,
  flowRuns,
  getFlowRun,
  cancelFlowRun,
  startRun,
  flowVersions,
  listHandlers,
  getHandler,
  removeJobById,
  listJobs,
  removeJob,
  getJob,
  changeJob,
  cancelJob,
  promoteJob,
  retryJob,
  openapiJson,
  listProcesses,
  listQueues,
  getQueue,
  cleanQueue,
  clearQueue,
  deadLetters,
  purge,
  redrive,
  queueJobs,
  addJobs,
  pauseQueue,
  resumeQueue,
  execute,
  listRuns,
  importRun,
  deleteRun,
  getRun,
  runAwaits,
  cancelRun,
  runChildren,
  runEvents,
  forkRun,
  runHistory,
  runJobs,
  pauseRun,
  rerunRun,
  resumeRun,
  runState,
  followRun,
  runWhy,
  listSchedules,
  backfillSchedule,
  getFlowSchema,
  getStory,
  listTriggers,
  createTrigger,
  removeTrigger,
  getTrigger,
  changeTrigger,
  resumeCallback,
  disableTrigger,
  enableTrigger,
  fireTrigger,
  triggerHistory,
  triggerStats,
  version,
  listWorkers,
  drainWorker,
  HttpError,
  createClient,
  given,
  JsonText,
  Http
};
