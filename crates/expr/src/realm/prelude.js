// Runs once in a new context, before any expression does. Afterwards
//   - nothing reads a clock, draws a random number, or compiles code from a string;
//   - every object that two evaluations could both reach is frozen, so nothing done by one is
//     seen by the next.
(() => {
  "use strict";
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { ownKeys, construct } = Reflect;
  const define = (object, key, value) =>
    defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true });
  const refuse = (message) => {
    throw new TypeError(message);
  };

  // Work that outlives the call, shared memory, clocks. The two accessors of Error keep what they
  // are given inside the engine, where freezing does not reach.
  for (const name of [
    "queueMicrotask", "setTimeout", "performance", "WeakRef", "FinalizationRegistry",
    "SharedArrayBuffer", "Atomics", "DOMException", "gc", "navigator",
  ]) {
    delete globalThis[name];
  }
  delete Error.prepareStackTrace;
  delete Error.stackTraceLimit;

  const noClock = (what) =>
    refuse(`${what} is not available: expressions are deterministic, pass the time in as input`);
  const EngineDate = Date;
  const GivenDate = function Date(...given) {
    if (new.target === undefined) noClock("Date()");
    if (given.length === 0) noClock("new Date()");
    return construct(EngineDate, given, new.target);
  };
  define(GivenDate, "parse", EngineDate.parse);
  define(GivenDate, "UTC", EngineDate.UTC);
  define(GivenDate, "now", function now() { noClock("Date.now()"); });
  GivenDate.prototype = EngineDate.prototype;
  define(EngineDate.prototype, "constructor", GivenDate);
  define(globalThis, "Date", GivenDate);
  define(Math, "random", function random() {
    refuse("Math.random() is not available: expressions are deterministic, pass the number in as input");
  });

  // The constructors of functions compile text, and every function leads to one of them.
  const noCode = () => refuse("code from a string is not allowed in expressions");
  const kinds = [function () {}, function* () {}, async function () {}, async function* () {}];
  for (const kind of kinds) {
    const prototype = getPrototypeOf(kind);
    const Refused = function Function() { noCode(); };
    Refused.prototype = prototype;
    define(prototype, "constructor", Refused);
  }
  define(globalThis, "Function", Function.prototype.constructor);
  define(globalThis, "eval", function () { noCode(); });

  // A frozen prototype would also forbid `object.name = value` where the prototype has a `name`.
  // Accessors keep that working for the prototypes under plain objects and errors.
  const overridable = (prototype) => {
    for (const key of ownKeys(prototype)) {
      const { value, configurable } = getOwnPropertyDescriptor(prototype, key);
      if (value === undefined || !configurable) continue;
      defineProperty(prototype, key, {
        get() { return value; },
        set(own) {
          if (this === prototype) refuse(`built-in property ${String(key)} cannot be changed`);
          defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
        },
        enumerable: false,
        configurable: false,
      });
    }
  };
  overridable(Object.prototype);
  for (const name of ownKeys(globalThis)) {
    if (typeof name === "string" && name.endsWith("Error")) overridable(globalThis[name].prototype);
  }

  // Freeze what can be reached from the globals, and what only syntax or a call leads to.
  const nothing = { next: () => ({ done: true }) };
  const pending = [
    globalThis, ...kinds.map(getPrototypeOf),
    [][Symbol.iterator](), ""[Symbol.iterator](), "".matchAll(/x/g),
    new Map()[Symbol.iterator](), new Set()[Symbol.iterator](),
    Iterator.from(nothing), [].values().map((x) => x),
    ...["concat", "zip", "zipKeyed"].filter((name) => name in Iterator).map((name) => Iterator[name]([])),
    (function () { return arguments; })(),
  ];
  const seen = new Set();
  while (pending.length > 0) {
    const object = pending.pop();
    if (object === null || (typeof object !== "object" && typeof object !== "function")) continue;
    if (seen.has(object)) continue;
    seen.add(object);
    freeze(object);
    pending.push(getPrototypeOf(object));
    for (const key of ownKeys(object)) {
      const { value, get, set } = getOwnPropertyDescriptor(object, key);
      pending.push(value, get, set);
    }
  }
})();
