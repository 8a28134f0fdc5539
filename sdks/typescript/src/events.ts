/**
 * Events as they leave the server.
 */

export interface RunEvent<Data = any> {
  /** `<milliseconds>-<n>`: grows along the stream, and is the cursor of every reader. */
  id: string
  /** ISO 8601. */
  ts: string
  /** One of ours, or one that somebody else has thought of. */
  type: EventType | (string & {})
  runId: string
  flowName: string
  stepName?: string
  stepId?: string
  attempt?: number
  correlationId?: string
  causationId?: string
  tenantId?: string
  data?: Data
}

/** Why a run or a step failed. */
export interface RunFailure {
  code: string
  /** Of the attempt alone, as `stack`: the run's own error has neither. */
  name?: string
  message: string
  stack?: string
  stepId?: string
  details?: unknown
  retriable?: boolean
  retryAfterMs?: number
}

/** Why an attempt of a job failed. */
export interface JobFailure {
  code: string
  message: string
  name?: string
  stack?: string
  retriable?: boolean
  retryAfterMs?: number
  details?: unknown
}

/** Why a job waits again. */
export type WaitReason = 'retry' | 'stalled' | 'parked' | 'released' | 'redriven' | 'promoted' | 'delayed'

/** What an awaited event must be like: values at dot paths, and the source text of a function. */
export interface AwaitCondition {
  match?: Record<string, unknown>
  where?: string
}

/** The run that started a run, and the visit that waits for it. */
export interface Lineage {
  runId: string
  step: string
  visit: number
  depth: number
  detached?: boolean
}

export type StateOperation = { type: 'set'; key: string; value: unknown } | { type: 'delete'; key: string }

/**
 * What the server writes, and the data that stands with it. Times are ISO 8601. A test of the server
 * holds this against what it writes.
 */
export interface EventData {
  'flow.started': { input: unknown; version: string; next: string; notBefore?: string; deadline?: string; parent?: Lineage; queued?: string[]; chain?: number }
  'flow.completed': { result: unknown; duration: number }
  'flow.failed': { error: RunFailure; duration: number }
  'flow.cancelled': { source: string; reason?: string; duration?: number }
  'flow.paused': { reason?: string }
  'flow.resumed': undefined
  'flow.forked': { deadline?: string }
  'flow.registered': unknown
  'flow.compensating': { error: RunFailure; cancellation?: { source: string; reason?: string } }
  'step.started': { startedAt?: string } | undefined
  'step.completed': { result?: unknown; outputKey?: string; next?: string; compensation?: string; emits?: string[] }
  'step.failed': { error: RunFailure; willRetry: boolean; nextRetryAt?: string; next?: string }
  'step.retry': { reason: string; delayMs: number; lost?: boolean }
  'step.parked': { code: string; message: string; details?: unknown }
  'step.released': { reason: string; parkedDuration: number }
  'step.resumed': { reason: string; awaitDuration: number; value?: unknown }
  'step.cancelled': { source: string; reason?: string; compensation?: string }
  'step.await.time': { resumeAt: string; reason?: string; output?: unknown; next?: string | null; awaitId?: string; inCode?: boolean }
  'step.await.event': { awaitId: string; eventKind: string; condition?: AwaitCondition; timeoutAt?: string; inCode?: boolean }
  'step.await.trigger': { awaitId: string; triggerId: string; triggerType: 'webhook' | 'user' | 'api'; timeoutAt?: string; inCode?: boolean }
  'step.await.timeout': { awaitType: 'event' | 'trigger'; duration: number; next?: string; value?: unknown }
  'step.await.branches': { branches: { step: string; item?: unknown }[]; concurrency: number; failFast: boolean; asList: boolean; scoped: boolean }
  'step.await.run': { runId: string; flow: string; version: string }
  'step.memo.retry': { op?: string; name: string; nth?: number; attempt: number; error: unknown; delayMs: number; nextRetryAt: string }
  'step.memo': { op?: string; name: string; nth?: number; value?: unknown; error?: unknown; emits?: string[] }
  'step.entered': { input?: unknown; joined?: boolean; undoes?: { step: string; visit: number } }
  'step.joined': { step: string; eventKind: string; input?: unknown }
  emit: unknown
  progress: { pct?: number; detail?: unknown }
  partial: { path?: string; value: unknown }
  'log.debug': { message: string; meta?: Record<string, unknown> }
  'log.info': { message: string; meta?: Record<string, unknown> }
  'log.warn': { message: string; meta?: Record<string, unknown> }
  'log.error': { message: string; meta?: Record<string, unknown> }
  'state.set': { key: string; value: unknown }
  'state.delete': { key: string }
  'state.batch': { operations: StateOperation[] }
  'state.snapshot': Record<string, unknown>
  'trigger.registered': unknown
  'trigger.fired': unknown
  'trigger.failed': unknown
  'trigger.timeout': unknown
  'trigger.cancelled': unknown
  'worker.registered': unknown
  'worker.heartbeat': unknown
  'worker.stopped': unknown
  'job.added': { queue: string; name?: string }
  'job.waiting': { queue: string; reason: WaitReason; attempt?: number; error?: JobFailure; retryAt?: string }
  'job.active': { queue: string; attempt: number }
  'job.progress': { queue: string; progress: { pct?: number; detail?: unknown } }
  'job.completed': { queue: string; attempt: number; result?: unknown }
  'job.failed': { queue: string; attempt: number; error?: JobFailure }
  'job.cancelled': { queue: string; attempt: number; error?: JobFailure }
  'job.removed': { queue: string }
}

/** The types that riverrun itself knows. */
export type EventType = keyof EventData

/** An event of a type, with its data: `EventOf<'step.failed'>`. */
export type EventOf<Type extends EventType> = RunEvent<EventData[Type]> & { type: Type }

/** An event of any known type: `switch (event.type)` narrows the type of its data. */
export type KnownEvent = { [Type in EventType]: EventOf<Type> }[EventType]

export type RunStatus = 'pending' | 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'cancelled'

export type VisitStatus =
  | 'pending'
  | 'running'
  | 'retrying'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'timeout'
  | 'cancelled'

export const finalTypes: readonly string[] = [
  'flow.completed',
  'flow.failed',
  'flow.cancelled',
  'job.completed',
  'job.failed',
  'job.cancelled',
]

/** Whether a run's event is its last, or a job's, unless somebody lets that begin anew. */
export function isFinal(event: Pick<RunEvent, 'type'>): boolean {
  return finalTypes.includes(event.type)
}
