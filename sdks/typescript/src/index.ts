export * from './client/index.ts'
export type * from './config.ts'
export type * from './context.ts'
export { defineProcess, defineQueueConfig, defineQueueWorker } from './define.ts'
export type { BatchHandler, ProcessHandler, WorkerHandler } from './define.ts'
export * from './errors.ts'
export { isFinal } from './events.ts'
export type {
  EventData,
  EventOf,
  EventType,
  KnownEvent,
  Lineage,
  RunEvent,
  RunFailure,
  RunStatus,
  StateOperation,
  VisitStatus,
} from './events.ts'
export * from './live/index.ts'
export type { Json, JsonObject } from './json.ts'
export type { JsonSchema, Schema, StandardSchema } from './schema.ts'
export { version } from './version.ts'
