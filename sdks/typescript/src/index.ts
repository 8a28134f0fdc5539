export type * from './awaits.ts'
export * from './client/index.ts'
export type * from './config.ts'
export type * from './context.ts'
export { defineProcess, defineQueueConfig, defineQueueWorker, defineStep } from './define.ts'
export type { BatchHandler, ProcessHandler, StepHandler, WorkerHandler } from './define.ts'
export * from './errors.ts'
export { isFinal } from './events.ts'
export type {
  AwaitCondition,
  EventData,
  EventOf,
  EventType,
  JobFailure,
  KnownEvent,
  Lineage,
  RunEvent,
  RunFailure,
  RunStatus,
  StateOperation,
  VisitStatus,
  WaitReason,
} from './events.ts'
export * from './live/index.ts'
export type { Json, JsonObject } from './json.ts'
export type { JsonSchema, Schema, StandardSchema } from './schema.ts'
export { version } from './version.ts'
