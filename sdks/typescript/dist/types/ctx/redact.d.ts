/**
 * Makes the meta of a log line JSON, without what must not leave the process.
 */
export type Redact = (meta: unknown) => unknown;
/**
 * Values under keys that end in one of the words are replaced: `token` takes `accessToken` and
 * `access_token`, but leaves `tokens` and `tokenCount`, which count rather than open anything.
 */
export declare function redactor(more?: readonly string[]): Redact;
