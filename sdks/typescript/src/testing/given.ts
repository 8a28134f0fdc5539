/**
 * What comes from outside in a test: events, and whoever opens triggers.
 */

import type { Duration } from '../awaits.ts'
import { durationMs } from '../duration.ts'
import type { RunEvent } from '../events.ts'
import { getAt } from '../live/path.ts'
import { checkBytes } from './emitted.ts'
import type { MadeTrigger } from './memory.ts'

export interface GivenEvent {
  type?: string
  /** The same under its older name. */
  kind?: string
  data?: unknown
  /** When it comes: a date, or so long after the start. As soon as somebody waits for it where absent. */
  at?: Date | Duration
  runId?: string
  correlationId?: string
}

/** An event as expressions and handlers see it. */
export type SeenEvent = RunEvent & { kind: string }

const isLater = Symbol('later')

/** An answer that takes its time. */
export interface Later {
  [isLater]: true
  after: Duration
  payload: unknown
}

/** What opens a trigger, so long after the handler began to wait: `triggers: () => later('2 days', { approved: true })`. */
export function later(after: Duration, payload?: unknown): Later {
  return { [isLater]: true, after, payload }
}

/**
 * Answers for whoever is to open triggers: with the payload, with `later(…)`, or with undefined for
 * nobody. One function for all, or one for each type.
 */
export type Triggers = ((trigger: MadeTrigger) => unknown) | Partial<Record<'webhook' | 'user' | 'api', (trigger: MadeTrigger) => unknown>>

/** What somebody opens a trigger with, and how long that takes. */
export interface Opened {
  payload: unknown
  afterMs: number
}

/** The payload of a trigger, and how long it takes; undefined if nobody opens it. */
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

export function seen({ type, kind = type, at: _, ...event }: GivenEvent, ms: number, number: number): SeenEvent {
  if (!kind) throw new TypeError('an event needs a type')
  // One from outside stands in the stream `global`.
  const flowName = event.runId === undefined ? 'global' : ''
  return { id: `${ms}-${number}`, ts: new Date(ms).toISOString(), runId: 'global', flowName, ...event, type: kind, kind }
}

/** Whether the event has these values at these paths. */
export function matches(match: Record<string, unknown>, event: object): boolean {
  return Object.entries(match).every(([path, value]) => isSame(getAt(event as Record<string, unknown>, path), value))
}

export function milliseconds(what: string, duration: Duration): number {
  const ms = durationMs(duration)
  if (ms === undefined) throw new TypeError(`${what} must be milliseconds or a duration, is ${String(duration)}`)
  return ms
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other || Array.isArray(one) !== Array.isArray(other)) return false
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => isSame((one as any)[key], (other as any)[key]))
}
