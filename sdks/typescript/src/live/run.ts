/**
 * A run, reduced from its events as the server reduces them. Pure functions without any import
 * from Node: what they give is new where something changed and the same where nothing did, so it
 * can be held by a reactive view.
 */

import type { RunEvent, RunStatus, VisitStatus } from '../events.ts'
import { setAt } from './path.ts'
import { reduceState } from './state.ts'
import { type Visit, enter, enterBranches, fork, isInScope, leave, pathEnded, stepAt, update } from './visits.ts'

export interface RunError {
  code?: string
  message: string
  details?: unknown
  [member: string]: unknown
}

export interface StepView {
  status: VisitStatus
  /** How often the run has entered the step. */
  visits: number
  /** Of the latest visit; 0 before its first. */
  attempt: number
  startedAt?: string
  endedAt?: string
  error?: RunError
}

export interface RunView {
  runId: string
  flow: string
  version: string
  status: RunStatus
  input: unknown
  state: Record<string, unknown>
  /** The latest news of each step. */
  steps: Record<string, StepView>
  /** The visits that have not ended. */
  visits: Visit[]
  progress?: { pct?: number; detail?: unknown }
  result?: unknown
  error?: RunError
  cancellation?: { source: string; reason?: string }
  paused: boolean
  createdAt: string
  updatedAt: string
  endedAt?: string
  /** How many events led here. */
  events: number
  /** Begin after it to read on. */
  lastEventId?: string
}

/** A run before its first event. */
export function emptyRun(): RunView {
  return {
    runId: '',
    flow: '',
    version: '',
    status: 'pending',
    input: null,
    state: {},
    steps: {},
    visits: [],
    paused: false,
    createdAt: '',
    updatedAt: '',
    events: 0,
  }
}

/** The run after one more event. An event that was seen already changes nothing. */
export function reduceRun(run: RunView, event: RunEvent): RunView {
  if (run.lastEventId !== undefined && !isLater(event.id, run.lastEventId)) return run
  const seen: RunView = {
    ...run,
    runId: event.runId,
    flow: event.flowName,
    state: reduceState(run.state, event),
    createdAt: run.events === 0 ? event.ts : run.createdAt,
    updatedAt: event.ts,
    events: run.events + 1,
    lastEventId: event.id,
  }
  return withStatus(apply(seen, event))
}

export function reduceEvents(events: Iterable<RunEvent>, from: RunView = emptyRun()): RunView {
  let run = from
  for (const event of events) run = reduceRun(run, event)
  return run
}

/** The run after each event, as they come. */
export async function* followRun(events: AsyncIterable<RunEvent>, from: RunView = emptyRun()): AsyncGenerator<RunView, RunView> {
  let run = from
  for await (const event of events) {
    run = reduceRun(run, event)
    yield run
  }
  return run
}

function apply(run: RunView, event: RunEvent): RunView {
  const { type, ts, data } = event
  const at = stepAt(event)
  switch (type) {
    case 'flow.started':
      return enter({ ...run, version: data?.version ?? '', input: data?.input ?? null }, data?.next)
    case 'flow.completed':
    case 'job.completed':
      return end({ ...run, result: data?.result }, 'completed', ts)
    case 'flow.failed':
    case 'job.failed':
      return end({ ...run, error: data?.error }, 'failed', ts)
    case 'flow.cancelled':
    case 'job.cancelled':
      return end({ ...run, cancellation: data }, 'cancelled', ts)
    case 'flow.paused':
      return { ...run, paused: true }
    case 'flow.resumed':
      return { ...run, paused: false }
    case 'job.active':
      return { ...run, status: 'running' }
    case 'progress':
      return { ...run, progress: data }
    case 'job.progress':
      return { ...run, progress: data?.progress }
    case 'step.started':
      return started(update(run, at, { status: 'running', attempt: event.attempt ?? 1 }), at.step, event)
    case 'step.completed':
      return completed(run, event)
    case 'step.failed':
      return failed(run, event)
    case 'step.retry':
      return data?.lost ? update(run, at, { status: 'retrying' }) : run
    case 'step.parked':
      return update(run, at, { status: 'waiting' })
    case 'step.released':
      return update(run, at, { status: event.attempt ? 'retrying' : 'pending' })
    case 'step.resumed':
      return update(run, at, { status: 'running' })
    case 'step.cancelled':
      return summarise(leave(run, at).run, at.step, { status: 'cancelled', endedAt: ts })
    case 'step.await.branches':
      return enterBranches(fork(update(run, at, { status: 'waiting' }), at, data), at)
    case 'step.await.timeout':
      return run
    default:
      return type.startsWith('step.await.') ? update(run, at, { status: 'waiting' }) : run
  }
}

function started(run: RunView, step: string, { ts, attempt = 1 }: RunEvent): RunView {
  const { error: _, endedAt: __, ...summary } = run.steps[step] ?? { visits: 1 }
  return { ...run, steps: { ...run.steps, [step]: { ...summary, status: 'running', attempt, startedAt: ts } } }
}

function completed(before: RunView, event: RunEvent): RunView {
  const { data, ts } = event
  const at = stepAt(event)
  const { run: left, visit } = leave(before, at)
  let run = summarise(left, at.step, { status: 'completed', endedAt: ts })
  if (!visit) return run
  if (data?.outputKey !== undefined && data.result !== undefined && !isInScope(before, visit)) {
    run = { ...run, state: setAt(run.state, data.outputKey, data.result) }
  }
  return data?.next ? enter(run, data.next, visit.branch) : pathEnded(run, visit, false)
}

function failed(before: RunView, event: RunEvent): RunView {
  const { data, ts } = event
  const at = stepAt(event)
  const error = data?.error as RunError
  if (data?.nextRetryAt !== undefined) return summarise(update(before, at, { status: 'retrying' }), at.step, { error })
  const { run: left, visit } = leave(before, at)
  const run = summarise(left, at.step, { status: 'failed', endedAt: ts, error })
  if (!visit) return run
  return data?.next ? enter(run, data.next, visit.branch) : pathEnded(run, visit, true)
}

function summarise(run: RunView, step: string, news: Partial<StepView>): RunView {
  const summary = run.steps[step]
  return summary ? { ...run, steps: { ...run.steps, [step]: { ...summary, ...news } } } : run
}

function end(run: RunView, status: RunStatus, ts: string): RunView {
  return { ...run, status, endedAt: ts, visits: [], paused: false }
}

function withStatus(run: RunView): RunView {
  if (run.endedAt !== undefined || !Object.keys(run.steps).length) return run
  const begun = Object.values(run.steps).some((step) => step.startedAt !== undefined)
  const waits = run.visits.length > 0 && run.visits.every(({ status }) => status === 'waiting' || status === 'retrying')
  return { ...run, status: run.paused ? 'paused' : waits ? 'waiting' : !begun ? 'pending' : 'running' }
}

function isLater(id: string, than: string): boolean {
  const [ms = 0, n = 0] = id.split('-').map(Number)
  const [thanMs = 0, thanN = 0] = than.split('-').map(Number)
  return ms > thanMs || (ms === thanMs && n > thanN)
}
