import {
  Invocations,
  Session,
  processesOf
} from "./shared/ELTVVMNO.js";
import {
  protocolVersion,
  version
} from "./shared/EEZBG35O.js";
import {
  RiverrunError,
  isObject
} from "./shared/5JBL45P5.js";

// src/worker/worker.ts
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

// src/runner/runner.ts
var heartbeatMs = 1e4;

// src/worker/signals.ts
var ours = /* @__PURE__ */ new WeakSet();
var draining = /* @__PURE__ */ new Map();
function drainOn(signal, drain) {
  const onSignal = () => {
    const isOurs = process.listeners(signal).every((one) => ours.has(one));
    draining.set(signal, (draining.get(signal) ?? 0) + 1);
    const end = () => {
      const left = (draining.get(signal) ?? 1) - 1;
      draining.set(signal, left);
      if (isOurs && left === 0) process.kill(process.pid, signal);
    };
    drain().then(end, end);
  };
  ours.add(onSignal);
  process.prependOnceListener(signal, onSignal);
  return () => process.removeListener(signal, onSignal);
}

// src/worker/websocket.ts
import { createHash, randomBytes } from "node:crypto";
import * as http from "node:http";
import * as https from "node:https";

// src/worker/frames.ts
import { isUtf8 } from "node:buffer";
import { randomFillSync } from "node:crypto";
var opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };
var BrokenRules = class extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
};
function frame(kind, payload) {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 65536 ? 2 : 8;
  const bytes = Buffer.allocUnsafe(6 + extended + length);
  bytes[0] = 128 | kind;
  bytes[1] = 128 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) bytes.writeUInt16BE(length, 2);
  else if (extended === 8) bytes.writeBigUInt64BE(BigInt(length), 2);
  const mask = 2 + extended;
  const start = mask + 4;
  randomFillSync(bytes, mask, 4);
  for (let at = 0; at < length; at++) bytes[start + at] = payload[at] ^ bytes[mask + (at & 3)];
  return bytes;
}
var FrameReader = class {
  constructor(limitBytes) {
    this.limitBytes = limitBytes;
  }
  #held = [];
  #heldBytes = 0;
  /** So many bytes are needed before it is worth looking. */
  #needed = 2;
  #parts = [];
  #partsBytes = 0;
  #isInText = false;
  /** What `chunk` completes. Throws `BrokenRules`. */
  take(chunk) {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    const came = [];
    if (this.#heldBytes < this.#needed) return came;
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
    let at = 0;
    for (; ; ) {
      const end = this.#frameAt(bytes, at, came);
      if (end === void 0) break;
      at = end;
    }
    const rest = bytes.subarray(at);
    this.#held = rest.length ? [rest] : [];
    this.#heldBytes = rest.length;
    return came;
  }
  /** Reads one frame; gives where it ends, or undefined if it is not all there. */
  #frameAt(bytes, at, came) {
    const there = bytes.length - at;
    if (there < 2) return this.#wait(2);
    const first = bytes[at];
    const second = bytes[at + 1];
    if (first & 112) throw new BrokenRules(1002, "a frame has reserved bits without a negotiated extension");
    if (second & 128) throw new BrokenRules(1002, "a frame of the server is masked");
    let length = second & 127;
    let start = 2;
    if (length === 126) {
      if (there < 4) return this.#wait(4);
      length = bytes.readUInt16BE(at + 2);
      start = 4;
    } else if (length === 127) {
      if (there < 10) return this.#wait(10);
      length = Number(bytes.readBigUInt64BE(at + 2));
      start = 10;
    }
    if (length > this.limitBytes) throw new BrokenRules(1009, `a frame has more than ${this.limitBytes} bytes`);
    if (there < start + length) return this.#wait(start + length);
    const payload = bytes.subarray(at + start, at + start + length);
    const done = this.#frame(first & 15, (first & 128) !== 0, payload);
    if (done) came.push(done);
    return at + start + length;
  }
  #wait(bytes) {
    this.#needed = bytes;
  }
  #frame(kind, isLast, payload) {
    if (kind >= 8) return control(kind, isLast, payload);
    if (kind === opcode.binary) throw new BrokenRules(1003, "binary messages are not spoken here");
    if (kind !== opcode.text && kind !== opcode.continuation) throw new BrokenRules(1002, `there is no opcode ${kind}`);
    if (kind === opcode.continuation !== this.#isInText) throw new BrokenRules(1002, "the parts of a message are out of order");
    this.#partsBytes += payload.length;
    if (this.#partsBytes > this.limitBytes) throw new BrokenRules(1009, `a message has more than ${this.limitBytes} bytes`);
    this.#parts.push(isLast ? payload : Buffer.from(payload));
    this.#isInText = !isLast;
    if (!isLast) return void 0;
    const whole = this.#parts.length === 1 ? payload : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partsBytes = 0;
    if (!isUtf8(whole)) throw new BrokenRules(1007, "a text is not UTF-8");
    return { type: "text", text: whole.toString("utf8") };
  }
};
function control(kind, isLast, payload) {
  if (!isLast || payload.length > 125) throw new BrokenRules(1002, "a control frame is too long");
  if (kind === opcode.ping) return { type: "ping", payload };
  if (kind === opcode.pong) return { type: "pong", payload };
  if (kind !== opcode.close) throw new BrokenRules(1002, `there is no opcode ${kind}`);
  if (payload.length === 1) throw new BrokenRules(1002, "a close frame is cut");
  const code = payload.length ? payload.readUInt16BE(0) : 1005;
  return { type: "close", code, reason: payload.subarray(2).toString("utf8") };
}

// src/worker/websocket.ts
var connectMs = 1e4;
var closeMs = 2e3;
var crowdedBytes = 8 * 1024 * 1024;
var accepted = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
function connect(url, options) {
  const key = randomBytes(16).toString("base64");
  const headers = { ...options.headers, connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": key };
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === "https:" ? https : http;
    const asking = request(url, { headers, timeout: connectMs });
    const unreachable = (cause) => reject(new RiverrunError("UNREACHABLE", `${url.origin} cannot be reached: ${cause.message || cause.code}`, { cause }));
    asking.on("error", unreachable);
    asking.on("timeout", () => asking.destroy(new Error(`it did not answer within ${connectMs} ms`)));
    asking.on("response", (response) => {
      refusal(url, response).then(reject, unreachable);
    });
    asking.on("upgrade", (response, socket, head) => {
      const expected = createHash("sha1").update(key + accepted).digest("base64");
      if (response.headers["sec-websocket-accept"] !== expected) {
        socket.destroy();
        reject(notRiverrun(url, "it does not speak WebSocket"));
        return;
      }
      resolve(new WebSocket(socket, head, options));
    });
    asking.end();
  });
}
var WebSocket = class {
  #socket;
  #head;
  #reader;
  #silentMs;
  #listener;
  #silence;
  #closed = false;
  /** What the other side said when it closed. */
  #end;
  constructor(socket, head, { limitBytes, silentMs: silentMs2 }) {
    this.#socket = socket;
    this.#head = head;
    this.#reader = new FrameReader(limitBytes);
    this.#silentMs = silentMs2;
    socket.on("error", () => {
    });
  }
  /** Nothing is read before somebody listens. */
  listen(listener) {
    const socket = this.#socket;
    this.#listener = listener;
    this.#silence = setTimeout(() => socket.destroy(), this.#silentMs);
    socket.setTimeout(0);
    socket.setNoDelay(true);
    socket.on("drain", () => socket.resume());
    socket.on("end", () => socket.end());
    socket.on("close", () => {
      clearTimeout(this.#silence);
      this.#closed = true;
      listener.onClose(this.#end?.code ?? 1006, this.#end?.reason ?? "");
    });
    if (this.#head.length) this.#take(this.#head);
    socket.on("data", (chunk) => this.#take(chunk));
  }
  /** While much of what was said is unwritten nothing more is read. */
  send(text) {
    this.#write(opcode.text, Buffer.from(text));
    if (this.#socket.writableLength > crowdedBytes) this.#socket.pause();
  }
  close(code = 1e3, reason = "") {
    if (this.#closed) return;
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.#write(opcode.close, Buffer.concat([payload, Buffer.from(reason).subarray(0, 120)]));
    this.#closed = true;
    setTimeout(() => this.#socket.destroy(), closeMs).unref();
  }
  #write(kind, payload) {
    if (!this.#closed) this.#socket.write(frame(kind, payload));
  }
  #take(chunk) {
    this.#silence?.refresh();
    try {
      for (const came of this.#reader.take(chunk)) {
        if (came.type === "text") this.#listener?.onText(came.text);
        else if (came.type === "ping") this.#write(opcode.pong, came.payload);
        else if (came.type === "close") this.#closedBy(came.code, came.reason);
      }
    } catch (error) {
      if (!(error instanceof BrokenRules)) throw error;
      this.close(error.code, error.message);
      this.#socket.destroySoon();
    }
  }
  #closedBy(code, reason) {
    this.#end = { code, reason };
    this.close(code === 1005 ? 1e3 : code);
    this.#socket.end();
  }
};
async function refusal(url, response) {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk;
    if (text.length > 65536) break;
  }
  try {
    const { error } = JSON.parse(text);
    if (isObject(error) && typeof error.code === "string") return new RiverrunError(error.code, String(error.message), { details: error.details });
  } catch {
  }
  return notRiverrun(url, `it answered with the status ${response.statusCode}`);
}
function notRiverrun(url, why) {
  return new RiverrunError("NOT_RIVERRUN", `what answers at ${url.origin} is no riverrun server: ${why}`);
}

// src/worker/worker.ts
var silentMs = 6e4;
var firstBackoffMs = 100;
var longestBackoffMs = 5e3;
var leaseMs = 3e4;
async function startWorker(options) {
  const worker = new Worker(options, await processesOf(options.processes));
  await worker.begin();
  return worker;
}
var Worker = class {
  name;
  /** Settles when the worker has ended: it was stopped or drained. Rejects if the server refuses it. */
  ended;
  #options;
  #processes;
  #concurrency;
  #session;
  #invocations;
  /** By it the server knows this worker again. */
  #instance = randomUUID();
  #url;
  #headers;
  #socket;
  #welcome;
  #reconnectMs = leaseMs;
  #isLeaving = false;
  #isDraining = false;
  /** Since when there is no connection. */
  #awaySinceMs;
  #wake = () => {
  };
  #settle;
  #beat;
  #undo = [];
  constructor(options, processes) {
    const { concurrency = 16, token = process.env.RIVERRUN_TOKEN } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1) throw new RangeError(`concurrency must be a whole number from 1 on, is ${concurrency}`);
    this.name = options.name ?? `${hostname()}-${process.pid}`;
    this.#options = options;
    this.#processes = processes;
    this.#concurrency = concurrency;
    this.#session = new Session(concurrency);
    this.#invocations = new Invocations(this.#session);
    this.#url = socketUrl(options.url ?? process.env.RIVERRUN_URL ?? "http://127.0.0.1:4600");
    this.#headers = { ...token && { authorization: `Bearer ${token}` }, ...options.headers };
    this.ended = new Promise((resolve, reject) => this.#settle = { resolve, reject });
    this.ended.catch(() => {
    });
  }
  /** How many invocations run. */
  get running() {
    return this.#invocations.running.size;
  }
  /** What the server said when it let the worker in last. */
  get welcome() {
    return this.#welcome;
  }
  get isConnected() {
    return this.#socket !== void 0;
  }
  /** Settles when the server knows the worker. */
  async begin() {
    this.#listenToSignals();
    this.#beat = setInterval(() => this.running && this.#session.notify("heartbeat", {}), heartbeatMs);
    try {
      const first = await this.#firstConnection();
      this.#serve(first).then(
        () => this.#over(),
        (error) => this.#over(error)
      );
    } catch (error) {
      this.#over(error);
      throw error;
    }
  }
  /**
   * Takes no more, and settles when what runs has ended and the server has let the worker go. What
   * has not ended after `graceMs` is asked to stop.
   */
  async stop({ graceMs } = {}) {
    const timer = graceMs === void 0 ? void 0 : setTimeout(() => this.#invocations.cancelAll("shutdown"), graceMs);
    if (!this.#isLeaving) {
      this.#isLeaving = true;
      if (this.#socket) this.#session.notify("leave", {});
      else this.#wake();
    }
    try {
      await this.ended;
    } finally {
      clearTimeout(timer);
    }
  }
  async #firstConnection() {
    const { waitMs = 0 } = this.#options;
    const untilMs = Date.now() + waitMs;
    for (let tries = 0; ; tries++) {
      try {
        return await this.#connect();
      } catch (error) {
        if (!isPassing(error) || this.#isLeaving || Date.now() >= untilMs) throw error;
      }
      await this.#pause(backoffMs(tries));
    }
  }
  /** From the first connection to the last. */
  async #serve(first) {
    let connection = first;
    let tries = 0;
    for (; ; ) {
      if (connection) {
        const over = await connection.over;
        if (over.how === "drained") return;
        if (over.how === "refused") throw over.error;
        tries = 0;
        this.#awaySinceMs = Date.now();
        this.#options.onDisconnect?.(over.error);
      }
      const isTooLate = this.#awaySinceMs !== void 0 && Date.now() - this.#awaySinceMs >= this.#reconnectMs;
      if (isTooLate) this.#invocations.cancelAll("lease-lost");
      if (this.#isLeaving && (isTooLate || !this.#session.hasMoreToSay)) return;
      await this.#pause(backoffMs(tries++));
      if (this.#isLeaving && !this.#session.hasMoreToSay) return;
      try {
        connection = await this.#connect();
      } catch (error) {
        if (error instanceof Refusal) throw error;
        connection = void 0;
      }
    }
  }
  /** Settles when the server knows the worker. */
  async #connect() {
    const socket = await connect(this.#url, { headers: this.#headers, limitBytes: this.#session.limitBytes, silentMs });
    return new Promise((resolve, reject) => {
      let isKnown = false;
      let isWelcome = false;
      let refused;
      let end;
      const over = new Promise((settle) => end = settle);
      const refuse = (error) => {
        refused ??= error;
        socket.close(1002, error.message);
      };
      const onMessage = (message) => {
        if (message.method === "refused") refused = refusedBy(message);
        else if (message.method === "welcome") {
          isWelcome = true;
          this.#welcome = welcomeOf(message);
          this.#options.onConnect?.(this.#welcome);
          resolve({ over });
        } else if (isKnown) this.#receive(message);
        else if (message.method === "initialise") {
          const problem = this.#initialise(socket, message);
          if (problem) return refuse(problem);
          isKnown = true;
        }
      };
      socket.listen({
        onText: (text) => {
          for (const line of text.split("\n")) {
            const message = line ? parse(line) : void 0;
            if (message) onMessage(message);
            else if (line) refuse(new Refusal("PROTOCOL_ERROR", "the server said what is no message"));
          }
        },
        onClose: (code, reason) => {
          this.#session.disconnected();
          this.#socket = void 0;
          const error = refused ?? new RiverrunError("UNREACHABLE", reason || `the connection broke (${code})`);
          if (!isWelcome) reject(error);
          end(this.#isDraining ? { how: "drained" } : { how: refused ? "refused" : "broken", error });
        }
      });
    });
  }
  /** Answers the server's first word: who this is, and what it still runs. */
  #initialise(socket, { id, params = {} }) {
    const { protocol, limits, reconnectMs } = params;
    if (protocol !== protocolVersion) {
      const message = `this SDK speaks version ${protocolVersion} of the protocol, the server ${protocol}`;
      socket.send(JSON.stringify({ id, error: { code: -32e3, message, data: { code: "PROTOCOL_VERSION" } } }));
      return new Refusal("PROTOCOL_VERSION", message);
    }
    this.#invocations.limits = { ...this.#invocations.limits, ...limits };
    this.#session.limitBytes = this.#invocations.limits.messageBytes;
    this.#reconnectMs = reconnectMs ?? leaseMs;
    const result = {
      protocol: protocolVersion,
      sdk: { name: "riverrun", version, language: "typescript" },
      runtime: `node ${process.versions.node}`,
      pid: process.pid,
      worker: { name: this.name, tags: this.#options.tags ?? [], instance: this.#instance },
      processes: [...this.#processes].map(([process2, { config }]) => ({ id: process2, config })).sort((a, b) => a.id < b.id ? -1 : 1),
      credits: this.#concurrency,
      running: this.#session.running
    };
    socket.send(JSON.stringify({ id, result }));
    this.#socket = socket;
    this.#awaySinceMs = void 0;
    this.#session.connected(socket);
    if (this.#isLeaving) this.#session.notify("leave", {});
    return void 0;
  }
  #receive(message) {
    const { id, method, params = {} } = message;
    if (method === void 0) this.#session.settle(message);
    else if (id === void 0) {
      if (method === "cancel") this.#invocations.cancel(params.invocation, params.reason);
    } else if (method === "invoke") this.#invoke(id, params);
    else if (method === "drain") this.#drain(id, params);
    else this.#session.refuse(id, { message: `there is no method ${method}` }, -32601);
  }
  #invoke(id, params) {
    this.#session.begun(id, params);
    const invocation = this.#invocations.add(id, params);
    const process2 = this.#processes.get(params.process ?? "");
    if (process2) this.#invocations.execute(invocation, process2);
    else this.#invocations.fail(invocation, new RiverrunError("PROCESS_NOT_FOUND", `this worker has no process ${params.process}`, { retriable: false }));
  }
  /** Running work gets its grace; then the worker answers and the server closes the connection. */
  #drain(id, { graceMs = 0 }) {
    this.#isDraining = true;
    this.#invocations.drain(graceMs, (unfinished) => {
      this.#invocations.cancelAll("shutdown");
      this.#session.answer(id, JSON.stringify({ unfinished }));
    });
  }
  #over(error) {
    clearInterval(this.#beat);
    this.#invocations.cancelAll("shutdown");
    if (error === void 0) this.#settle.resolve();
    else this.#settle.reject(error);
    for (const undo of this.#undo.splice(0)) undo();
  }
  /** Waits so long, or until the worker is to leave. */
  #pause(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  #listenToSignals() {
    for (const signal of this.#options.signals ?? ["SIGTERM", "SIGINT"]) {
      this.#undo.push(drainOn(signal, () => this.stop()));
    }
  }
};
var Refusal = class extends RiverrunError {
};
function backoffMs(tries) {
  return Math.min(firstBackoffMs * 2 ** Math.min(tries, 10), longestBackoffMs) * (0.5 + Math.random() / 2);
}
function isPassing(error) {
  return error instanceof RiverrunError && (error.code === "UNREACHABLE" || error.code === "SHUTTING_DOWN");
}
function refusedBy({ params = {} }) {
  const { code = "REFUSED", message = "the server does not want this worker", details } = params;
  return code === "SHUTTING_DOWN" ? void 0 : new Refusal(code, message, { details });
}
function welcomeOf({ params = {} }) {
  const { workerId = 0, shadowed = [], flows = [], faults = [] } = params;
  return { workerId, shadowed, flows, faults };
}
function socketUrl(given) {
  const url = new URL(given);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/api/workers/ws`;
  return url;
}
function parse(line) {
  try {
    const message = JSON.parse(line);
    return isObject(message) ? message : void 0;
  } catch {
    return void 0;
  }
}
export {
  Worker,
  startWorker
};
