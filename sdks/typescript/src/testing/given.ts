/**
 * What comes from outside in a test: events, and answers to callbacks.
 */

import type { Duration } from '../awaits.ts'
import { durationMs } from '../duration.ts'
import type { RunEvent } from '../events.ts'
import { checkBytes } from './emitted.ts'
import type { MadeTrigger } from './memory.ts'

export interface GivenEvent {
  type?: string
  /** The same under its older name. */
  kind?: string
  data?: unknown
  /** When it comes: a date, or a duration after the start. Default: as soon as a step waits for it. */
  at?: Date | Duration
  runId?: string
  correlationId?: string
}

/** An event as expressions and handlers see it. */
export type SeenEvent = RunEvent & { kind: string }

const isLater = Symbol('later')

/** An answer that comes later. */
export interface Later {
  [isLater]: true
  after: Duration
  payload: unknown
}

/** An answer to a callback, so long after the handler began to wait: `triggers: () => later('2 days', { approved: true })`. */
export function later(after: Duration, payload?: unknown): Later {
  return { [isLater]: true, after, payload }
}

/**
 * Answers to callbacks: the body of the request, `later(…)`, or undefined for no answer. One function
 * for all callbacks, or one for each type.
 */
export type Triggers = ((trigger: MadeTrigger) => unknown) | Partial<Record<'webhook' | 'user' | 'api', (trigger: MadeTrigger) => unknown>>

/** The answer to a callback, and how long it takes. */
export interface Opened {
  payload: unknown
  afterMs: number
}

/** The answer to a callback, and how long it takes; undefined without an answer. */
export async function opened(triggers: Triggers | undefined, trigger: MadeTrigger): Promise<Opened | undefined> {
  const answer = typeof triggers === 'function' ? triggers : triggers?.[trigger.type as 'webhook']
  const given = await answer?.(trigger)
  if (given === undefined) return undefined
  const isPlain = typeof given !== 'object' || given === null || !(isLater in given)
  const { after, payload } = isPlain ? { after: 0, payload: given } : (given as Later)
  checkBytes('body', payload)
  return { payload: payload ?? null, afterMs: milliseconds('later', after) }
}

/** When a given event comes; undefined for as soon as somebody waits for it. */
export function arrivalMs({ at }: GivenEvent, startMs: number): number | undefined {
  if (at === undefined) return undefined
  if (at instanceof Date) return at.getTime()
  const afterMs = durationMs(at)
  if (afterMs !== undefined) return startMs + afterMs
  const dateMs = typeof at === 'string' ? Date.parse(at) : NaN
  if (Number.isNaN(dateMs)) throw new TypeError(`at must be a date or a duration, is ${String(at)}`)
  return dateMs
}

export function milliseconds(what: string, duration: Duration): number {
  const ms = durationMs(duration)
  if (ms === undefined) throw new TypeError(`${what} must be milliseconds or a duration, is ${String(duration)}`)
  return ms
}
