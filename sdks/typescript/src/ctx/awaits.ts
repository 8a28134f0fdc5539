/**
 * `ctx.await`: turns what a handler wants to wait for into what the protocol says of it.
 */

import type { AwaitApi, AwaitEventOptions, AwaitTriggerOptions, Duration, Trigger } from '../awaits.ts'
import { durationMs } from '../duration.ts'
import { RiverrunError } from '../errors.ts'
import { source } from '../source.ts'
import type { Suspended } from '../wire.ts'
import type { StepExecution } from './execution.ts'

export class StepAwaits implements AwaitApi {
  readonly #step: StepExecution

  constructor(step: StepExecution) {
    this.#step = step
  }

  time = async (until: Duration | Date): Promise<void> => {
    await this.#step.wait('time', () => ({ type: 'time', resumeAt: resumeAt(until) }))
  }

  event = async (options: AwaitEventOptions | string): Promise<any> => {
    const { kind, match, where, timeout, lookback } = typeof options === 'string' ? { kind: options } as AwaitEventOptions : options
    if (typeof kind !== 'string' || !kind) throw invalid('await.event needs the kind of event')
    return this.#step.wait(kind, () => {
      const wait: Suspended = { type: 'event', eventKind: kind }
      if (match) wait.match = literals(match)
      if (where !== undefined) wait.where = typeof where === 'function' ? source(where) : where
      if (lookback === 'run') wait.lookback = 'run'
      else if (lookback !== undefined) wait.lookbackMs = milliseconds('lookback', lookback)
      if (timeout !== undefined) wait.timeoutMs = milliseconds('timeout', timeout)
      return wait
    })
  }

  trigger = async ({ type = 'webhook', payload, timeout, many, secret }: AwaitTriggerOptions = {}): Promise<Trigger> => {
    this.#step.refuseInRun()
    const timeoutMs = timeout === undefined ? undefined : milliseconds('timeout', timeout)
    const make = () => this.#step.request('await.trigger', { type, payload, timeoutMs, many, secret })
    const { id, url } = (await this.#step.once('trigger', type, make)) as { id: string; url: string }
    const wait: Suspended = { type: 'trigger', triggerId: id }
    if (timeoutMs !== undefined) wait.timeoutMs = timeoutMs
    return { id, url, wait: () => this.#step.wait(id, () => wait) }
  }
}

/** What `ctx.await` is where nothing can be called again. */
export function awaitsOutside(kind: string): AwaitApi {
  const refuse = async (): Promise<never> => {
    const message = `ctx.await works in a step of a flow, and this is a ${kind}: give the process's config a flow (or step), and start that flow`
    throw new RiverrunError('AWAIT_OUTSIDE_FLOW', message, { retriable: false })
  }
  return { time: refuse, event: refuse, trigger: refuse }
}

function resumeAt(until: Duration | Date): string {
  const afterMs = until instanceof Date ? undefined : durationMs(until)
  const date = afterMs === undefined ? new Date(until) : new Date(Date.now() + afterMs)
  if (typeof until === 'number' && afterMs === undefined) throw invalid(`await.time wants milliseconds from now, not ${until}`)
  if (Number.isNaN(date.getTime())) throw invalid(`await.time wants milliseconds, a duration such as "1h 30m" or a date, not ${String(until)}`)
  return date.toISOString()
}

function milliseconds(what: string, duration: Duration): number {
  const ms = durationMs(duration)
  if (ms === undefined) throw invalid(`${what} must be milliseconds or a duration such as "24h", is ${String(duration)}`)
  return ms
}

/** A value that is not there would not be sent, and what is left would match more than was meant. */
function literals(match: Record<string, unknown>): Record<string, unknown> {
  for (const [path, value] of Object.entries(match)) {
    if (value === undefined || typeof value === 'function') throw invalid(`match has no value at ${JSON.stringify(path)}: it is ${typeof value}`)
  }
  try {
    return JSON.parse(JSON.stringify(match))
  } catch (error) {
    throw invalid(`match is not JSON: ${(error as Error).message}`)
  }
}

function invalid(message: string): RiverrunError {
  return new RiverrunError('INPUT_ERROR', message, { retriable: false })
}
