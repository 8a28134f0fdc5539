// src/errors.ts
var RiverrunError = class extends Error {
  name = "RiverrunError";
  code;
  details;
  retriable;
  retryAfterMs;
  constructor(code, message, options = {}) {
    super(message, "cause" in options ? { cause: options.cause } : void 0);
    this.code = code;
    if (options.details !== void 0) this.details = options.details;
    if (options.retriable !== void 0) this.retriable = options.retriable;
    if (options.retryAfterMs !== void 0) this.retryAfterMs = options.retryAfterMs;
  }
};
var NonRetriableError = class extends RiverrunError {
  name = "NonRetriableError";
  constructor(message, options = {}) {
    super(options.code ?? "NON_RETRIABLE", message, { ...options, retriable: false });
  }
};
var RetryAfterError = class extends RiverrunError {
  name = "RetryAfterError";
  /** `after` is in milliseconds from now, or a date. */
  constructor(message, after, options = {}) {
    const retryAfterMs = Math.max(0, typeof after === "number" ? after : after.getTime() - Date.now());
    super(options.code ?? "RETRY_AFTER", message, { ...options, retryAfterMs });
  }
};
var CancelledError = class extends RiverrunError {
  name = "CancelledError";
  reason;
  constructor(reason) {
    super("CANCELLED", `cancelled: ${reason}`, { retriable: false });
    this.reason = reason;
  }
};
var ExecutionOver = class extends RiverrunError {
};

// src/json.ts
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export {
  RiverrunError,
  NonRetriableError,
  RetryAfterError,
  CancelledError,
  ExecutionOver,
  isObject
};
