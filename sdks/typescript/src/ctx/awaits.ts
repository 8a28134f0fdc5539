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
const triggerTypes = ['webhook', 'user', 'api']
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

  event = async (options: AwaitEventOptions | string, ...more: never[]): Promise<any> => {
    if (more.length) throw invalid(`await.event has its options in one object: { ${eventOptions.join(', ')} }`)
    const { kind, match, where, timeout, lookback } = typeof options === 'string' ? { kind: options } as AwaitEventOptions : known('await.event', options, eventOptions)
    if (typeof kind !== 'string' || !kind) throw invalid('await.event needs the kind of event')
    return this.#step.wait(kind, () => {
      const wait: Suspended = { type: 'event', eventKind: kind }
      if (match != null) wait.match = literals(match)
      if (where != null) wait.where = filter(where)
      if (lookback === 'run' || lookback === 'none') wait.lookback = lookback as 'run' | 'none'
      else if (lookback !== undefined) wait.lookbackMs = milliseconds('lookback', lookback, '"run", "none", milliseconds or a duration such as "24h"')
      if (timeout !== undefined) wait.timeoutMs = timeoutIn(timeout)
      return wait
    })
  }

  trigger = async (options: AwaitTriggerOptions = {}): Promise<Trigger> => {
    const { type = 'webhook', payload, timeout, many, secret } = known('await.trigger', options, triggerOptions)
    this.#step.refuseInRun()
    if (!triggerTypes.includes(type)) throw wrong('type', type, 'webhook, user or api')
    if (many !== undefined && typeof many !== 'boolean') throw wrong('many', many, 'true or false; how often a callback is resumed before a step goes on is set in the config, as await: { type: "trigger", many }')
    if (secret !== undefined && typeof secret !== 'string') throw wrong('secret', secret, 'a text')
    const timeoutMs = timeout === undefined ? undefined : timeoutIn(timeout)
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

/** A date is so long from now. One that is over is no time at all. */
function timeoutIn(timeout: Duration | Date): number {
  if (!(timeout instanceof Date)) return milliseconds('timeout', timeout, 'milliseconds, a duration such as "24h" or a date')
  const ms = timeout.getTime() - Date.now()
  if (Number.isNaN(ms)) throw wrong('timeout', timeout, 'a date that there is')
  return Math.max(0, ms)
}

function milliseconds(what: string, duration: Duration, allowed: string): number {
  const ms = typeof duration === 'number' || typeof duration === 'string' ? durationMs(duration) : undefined
  if (ms === undefined || ms > maxMs) throw wrong(what, duration, allowed)
  return ms
}

function wrong(option: string, value: unknown, allowed: string): RiverrunError {
  return invalid(`${option} must be ${allowed}, is ${shown(value)}`)
}

function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') return String(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
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
