/**
 * `ctx.await`: turns what a handler wants to wait for into what the protocol says of it.
 */

import type { AwaitApi, AwaitEventOptions, AwaitTriggerOptions, Duration, Trigger } from '../awaits.ts'
import { durationMs } from '../duration.ts'
import { RiverrunError } from '../errors.ts'
import { source } from '../source.ts'
import type { Suspended } from '../wire.ts'
import type { StepExecution } from './execution.ts'

const eventOptions = ['kind', 'match', 'where', 'timeout', 'lookback'] as const
const triggerOptions = ['type', 'payload', 'timeout', 'many', 'secret'] as const

/** The furthest that a date can be from another. */
const maxMs = 8.64e15

export class StepAwaits implements AwaitApi {
  readonly #step: StepExecution

  constructor(step: StepExecution) {
    this.#step = step
  }

  time = async (until: Duration | Date): Promise<void> => {
    await this.#step.wait('time', () => time(until))
  }

  event = async (options: AwaitEventOptions | string): Promise<any> => {
    const { kind, match, where, timeout, lookback } = typeof options === 'string' ? { kind: options } as AwaitEventOptions : known('await.event', options, eventOptions)
    if (typeof kind !== 'string' || !kind) throw invalid('await.event needs the kind of event')
    return this.#step.wait(kind, () => {
      const wait: Suspended = { type: 'event', eventKind: kind }
      if (match != null) wait.match = literals(match)
      if (where != null) wait.where = filter(where)
      if (lookback === 'run') wait.lookback = 'run'
      else if (lookback !== undefined) wait.lookbackMs = milliseconds('lookback', lookback)
      if (timeout !== undefined) wait.timeoutMs = milliseconds('timeout', timeout)
      return wait
    })
  }

  trigger = async (options: AwaitTriggerOptions = {}): Promise<Trigger> => {
    const { type = 'webhook', payload, timeout, many, secret } = known('await.trigger', options, triggerOptions)
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

/** A duration is counted by the server's clock, which is the one that the wait ends by. */
function time(until: Duration | Date): Suspended {
  const refuse = (): RiverrunError => invalid(`await.time wants milliseconds, a duration such as "1h 30m" or a date, not ${String(until)}`)
  if (typeof until !== 'number' && typeof until !== 'string' && !(until instanceof Date)) throw refuse()
  const afterMs = until instanceof Date ? undefined : durationMs(until)
  if (afterMs !== undefined && afterMs <= maxMs) return { type: 'time', afterMs }
  if (typeof until === 'number') throw invalid(`await.time wants milliseconds from now, not ${until}`)
  const date = new Date(until)
  if (Number.isNaN(date.getTime())) throw refuse()
  return { type: 'time', resumeAt: date.toISOString() }
}

/** A word that means nothing would be left out in silence, and the wait be another than was meant. */
function known<Options extends object>(what: string, options: Options, names: readonly string[]): Options {
  if (typeof options !== 'object' || options === null) throw invalid(`${what} wants an object with options, not ${String(options)}`)
  const stranger = Object.entries(options).find(([name, value]) => value !== undefined && !names.includes(name))?.[0]
  if (stranger !== undefined) throw invalid(`${what} has no option ${JSON.stringify(stranger)}: it knows ${names.join(', ')}`)
  return options
}

function filter(where: AwaitEventOptions['where']): string {
  if (typeof where === 'function') return source(where)
  if (typeof where !== 'string') throw invalid(`where must be a function or its source, is ${typeof where}`)
  return where
}

function milliseconds(what: string, duration: Duration): number {
  const ms = durationMs(duration)
  if (ms === undefined) throw invalid(`${what} must be milliseconds or a duration such as "24h", is ${String(duration)}`)
  return ms
}

/** A value that is not there would not be sent, and what is left would match more than was meant. */
function literals(match: Record<string, unknown>): Record<string, unknown> {
  if (typeof match !== 'object' || Array.isArray(match)) throw invalid('match wants an object of dot paths and values, such as { "data.orderId": 7 }')
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
