/**
 * A trigger, reduced from the events of its stream as the server reduces them.
 */

import type { RunEvent } from '../events.ts'

export interface TriggerView {
  status: 'registered' | 'fired' | 'timeout' | 'cancelled'
  registeredAt?: string
  /** When it was fired last. */
  firedAt?: string
  /** When it timed out or was cancelled. */
  endedAt?: string
  type?: string
  /** What it was fired with last. */
  payload?: unknown
  /** The run that waits for it, or that it started last. */
  correlationId?: string
  /** The run that it started last. */
  runId?: string
  /** How often it was fired. */
  fired: number
  /** How often it was fired without starting a run. */
  failed: number
}

/** A trigger before its first event. */
export function emptyTrigger(): TriggerView {
  return { status: 'registered', fired: 0, failed: 0 }
}

/** The trigger after an event; the same if the event says nothing of it. */
export function reduceTrigger(trigger: TriggerView, event: RunEvent): TriggerView {
  const { ts, correlationId } = event
  const data = (event.data ?? {}) as { type?: string; payload?: unknown; runId?: string }
  const next = { ...trigger, ...(correlationId !== undefined && { correlationId }) }
  switch (event.type) {
    case 'trigger.registered': {
      const { endedAt: _, type: __, ...rest } = next
      return { ...rest, status: 'registered', registeredAt: ts, ...(data.type !== undefined && { type: data.type }) }
    }
    case 'trigger.fired': {
      const { payload: _, ...rest } = next
      const said = { ...('payload' in data && { payload: data.payload }), ...(data.runId !== undefined && { runId: data.runId }) }
      return { ...rest, status: 'fired', firedAt: ts, fired: trigger.fired + 1, ...said }
    }
    case 'trigger.failed':
      return { ...next, failed: trigger.failed + 1 }
    case 'trigger.timeout':
      return { ...next, status: 'timeout', endedAt: ts }
    case 'trigger.cancelled':
      return { ...next, status: 'cancelled', endedAt: ts }
    default:
      return trigger
  }
}
