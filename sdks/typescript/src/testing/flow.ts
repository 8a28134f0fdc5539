/**
 * A run of a flow in a test: the real engine executes it, with the handlers of the test and simulated time.
 */

import type { ProcessConfig } from '../config.ts'
import { describe, revive } from '../failure.ts'
import { isObject } from '../json.ts'
import { type Processes } from '../runner/modules.ts'
import type { Failure } from '../wire.ts'
import { processesOf } from '../worker/processes.ts'
import { FakeClock } from './clock.ts'
import { type Executable, type Handler, parts } from './execute.ts'
import { arrivalMs, type GivenEvent, type SeenEvent, type Triggers } from './given.ts'
import type { Effects, MemoryOptions, RunRetry } from './memory.ts'
import { play, type Played, type PlayOptions, visitKey } from './play.ts'
import { checkOptions } from './words.ts'

export interface FlowOptions extends Omit<MemoryOptions, 'journal' | 'checkpoint' | 'retryPolicy' | 'hasClock'> {
  input?: unknown
  /** Which flow, where the steps name several. */
  flow?: string
  /** The step that the run begins with, where their configs leave it open. */
  entry?: string
  /** What happens outside, in this order. */
  events?: GivenEvent[]
  triggers?: Triggers
  /** When it begins; 2026-01-01 where absent. */
  start?: Date | number | string
  /** A clock that is in charge already, in place of one that is made for this run. */
  clock?: FakeClock
  runId?: string
  tenantId?: string
  correlationId?: string
}

/** A wait, with the simulated times at which it began and ended. */
export interface SimulatedAwait {
  type: 'time' | 'event' | 'trigger'
  /** `time`, the kind of the event, or the id of the trigger. */
  name: string
  from: string
  /** Absent while it lasts. */
  until?: string
  waitedMs?: number
  outcome: 'time' | 'event' | 'trigger' | 'timeout' | 'waiting'
  value?: unknown
}

/** A try that failed and was followed by another. */
export interface SimulatedRetry {
  attempt: number
  error: any
  /** When it failed, and how long it was waited until the next try. */
  failedAt: string
  delayMs: number
}

export interface VisitRun<Value = any> extends Readonly<Effects> {
  step: string
  visit: number
  input: unknown
  /** The finished visit that this one undoes. */
  undoes?: { step: string; visit: number }
  status: 'completed' | 'failed' | 'cancelled' | 'timeout' | 'waiting'
  value?: Value
  error?: any
  awaits: SimulatedAwait[]
  /** How often it was tried: 1, and 1 more for each of `retries`. */
  attempt: number
  retries: SimulatedRetry[]
  /** Tries of `ctx.run` and the like that failed and were followed by another. */
  runRetries: readonly RunRetry[]
  /** How often the handler was called, over all attempts. */
  executions: number
  startedAt: string
  endedAt: string
}

export interface FlowRun {
  /** `waiting`: a step waits for something that the test does not give. */
  status: 'completed' | 'failed' | 'waiting'
  error?: any
  visits: VisitRun[]
  /** Emitted events and events from outside. */
  events: (SeenEvent & { stepName?: string })[]
  /** Events that entered no step and for which no step waited. */
  unclaimed: SeenEvent[]
  /** Expressions that threw: what each was to judge was passed over. */
  warnings: FlowWarning[]
  state: Record<string, unknown>
  startedAt: string
  endedAt: string
  elapsedMs: number
}

/** Something that the run says in its stream, as `log.warn`. */
export interface FlowWarning {
  code: string
  message: string
  step: string
}

/** What `runFlow` and `runStep` both take. */
export const sharedOptions = ['input', 'flow', 'events', 'triggers', 'start', 'clock', 'runId', 'tenantId', 'correlationId', 'state', 'stateSchema', 'schemas', 'calls', 'conflicts', 'leaseValid']

export async function runFlow(steps: Executable[] | Record<string, Executable>, options: FlowOptions = {}): Promise<FlowRun> {
  checkOptions('runFlow', options, ['entry', ...sharedOptions])
  const named: Step[] = Array.isArray(steps) ? steps.map((one) => ({ name: nameOf(one), ...parts(one) })) : Object.entries(steps).map(([name, one]) => ({ name, ...parts(one) }))
  const { visits, ...run } = await simulate(named, options)
  return { ...run, visits: visits.map(({ journal, ...visit }) => visit) }
}

/** A handler and the config that makes it a step. */
export interface Step extends ReturnType<typeof parts> {
  name: string
}

/** A visit with what its code did and must not do twice. */
export type Recorded = VisitRun & { journal: { op: string; name?: string; value?: unknown }[] }

/** Plays the steps, each with its name. */
export async function simulate(named: Step[], options: FlowOptions & Pick<PlayOptions, 'awaited'>): Promise<Omit<FlowRun, 'visits'> & { visits: Recorded[] }> {
  const thrown: unknown[] = []
  const processes = await offered(named, options, thrown)
  const { clock: given, start = '2026-01-01T00:00:00.000Z' } = options
  const clock = given ?? new FakeClock(start).install()
  try {
    const { input = null, flow, entry, runId, tenantId, correlationId, state } = options
    const events = (options.events ?? []).map(({ at, ...event }) => ({ atMs: arrivalMs({ at: at as string }, clock.now), event }))
    const request = { startMs: clock.now, input, flow, entry, runId, tenantId, correlationId, state, events }
    return flowRun(await play(request, processes, clock, options), thrown)
  } finally {
    if (!given) clock.restore()
  }
}

function nameOf(executable: Executable): string {
  const { handler, config } = parts(executable)
  const role = [config.flow].flat().flatMap((flow) => (isObject(flow) && typeof flow.step === 'string' ? flow.step : []))[0]
  const name = role ?? config.step ?? (typeof config.queue === 'string' ? config.queue : undefined) ?? (handler.name === 'default' ? '' : handler.name)
  if (!name) throw new Error('a step needs a name: config.step, config.flow.step, or a key in an object of steps')
  return name
}

/** The steps as processes of this worker. What their handlers throw is kept. */
async function offered(named: Step[], { schemas = true }: FlowOptions, thrown: unknown[]): Promise<Processes> {
  const processes: Processes = new Map()
  for (const { name, handler, config, takes } of named) {
    if (processes.has(name)) throw new Error(`two steps are called ${name}`)
    const { inputSchema, outputSchema, state, ...rest } = config
    const used = (schemas ? config : rest) as ProcessConfig
    const [process] = (await processesOf({ [name]: { default: catching(handler, thrown), config: used } })).values()
    if (process) processes.set(name, { ...process, takes })
  }
  return processes
}

function catching(handler: Handler, thrown: unknown[]): Handler {
  const keep = (error: unknown): never => {
    thrown.push(error)
    throw error
  }
  return (first, ctx) => {
    try {
      const result = handler(first, ctx)
      return result instanceof Promise ? result.catch(keep) : result
    } catch (error) {
      return keep(error)
    }
  }
}

/** The report with errors as they were thrown, and with what handlers did. */
function flowRun({ report, traces }: Played, thrown: unknown[]): Omit<FlowRun, 'visits'> & { visits: Recorded[] } {
  const error = (failure: Failure): unknown => {
    const same = thrown.find((one) => {
      const { code = 'HANDLER_ERROR', message } = describe(one)
      return isObject(one) && message === failure.message && (code === failure.code || code === '')
    })
    if (!same) return revive(failure)
    const { code, retriable } = same as { code?: unknown; retriable?: unknown }
    if (code === undefined && Object.isExtensible(same)) (same as { code: string }).code = 'HANDLER_ERROR'
    if (retriable === undefined && failure.retriable !== undefined && Object.isExtensible(same)) (same as { retriable: boolean }).retriable = failure.retriable
    return same
  }
  const { error: failed, visits, ...run } = report
  return {
    ...run,
    ...(failed && { error: error(failed) }),
    visits: visits.map(({ error: failed, retries, endedAt, ...visit }: any) => ({
      ...visit,
      ...(failed && { error: error(failed) }),
      retries: retries.map((retry: any) => ({ ...retry, error: error(retry.error) })),
      endedAt: endedAt ?? report.endedAt,
      ...(traces.get(visitKey(visit.step, visit.visit)) ?? { logs: [], events: [], progress: [], partials: [], enqueued: [], calls: [], started: [], executions: 0 }),
    })),
  }
}
