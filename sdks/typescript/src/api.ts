/**
 * The HTTP API of the server: a function for each operation, and the types of what it takes and
 * answers. They send through the `client` that they are given: `createClient()`, or `riverrun.api`.
 * A function that follows a stream resolves with the `Response`; `riverrun.follow` and `subscribe`
 * read its events and reconnect.
 */

export * from './api/operations.ts'
export type * from './api/types.ts'
export { createClient, HttpError } from './client/http.ts'
export type { Client, ClientOptions, SendOptions } from './client/http.ts'
