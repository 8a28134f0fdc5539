/**
 * Outcomes of what code does, on their way to its journal.
 */

import { CancelledError } from '../errors.ts'
import { recordOf, revive } from '../failure.ts'
import type { Failure } from '../wire.ts'
import type { Op } from './journal.ts'

/** What code does, and as which use of the name. */
export interface Doing {
  op: Op
  name: string
  nth: number
  /** The kinds of the events that were emitted inside of it. */
  emits?: string[]
}

type Outcome = Doing & { value?: unknown; error?: Failure }

export class Outcomes {
  readonly #memo: (params: Record<string, unknown>) => Promise<unknown>
  /** Errors that were thrown into the code and not recorded. If it goes on, it lives with them. */
  readonly #thrown = new Set<Outcome>()

  /** `memo` asks the server to record one. */
  constructor(memo: (params: Record<string, unknown>) => Promise<unknown>) {
    this.#memo = memo
  }

  /** Does something and has its outcome recorded. What it throws is what a replay would throw. */
  async of<Value>(doing: Doing, work: () => Value | Promise<Value>): Promise<Value> {
    const before = [...this.#thrown].filter(({ op, name }) => op === doing.op && name === doing.name)
    let value: Value
    try {
      value = await work()
    } catch (thrown) {
      const error = recordOf(thrown)
      const isCancelled = thrown instanceof CancelledError
      if (error.retriable === false && !isCancelled) await this.#record({ ...doing, error }, before)
      else this.#thrown.add({ ...doing, error })
      throw isCancelled ? thrown : revive(error)
    }
    await this.#record({ ...doing, value }, before)
    return value
  }

  /** The code goes on after what it was thrown, so the next execution is to go the same way. */
  async livedWith(thrown: Iterable<Outcome> = this.#thrown): Promise<void> {
    for (const outcome of thrown) if (this.#thrown.delete(outcome)) await this.#memo(params(outcome))
  }

  /**
   * Records an outcome, after the errors that uses of the same name were thrown before it began:
   * without them the next attempt would take this for another try of theirs. Code that does not live
   * with them has ended a turn later, and then nothing is recorded.
   */
  async #record(outcome: Outcome, before: Outcome[]): Promise<void> {
    if (before.length) await new Promise((resolve) => setImmediate(resolve))
    await this.livedWith(before)
    await this.#memo(params(outcome))
  }
}

function params({ op, name, nth, emits = [], ...outcome }: Outcome): Record<string, unknown> {
  return { ...(op !== 'memo' && { op }), name, ...numbered(nth), ...outcome, ...(emits.length > 0 && { emits }) }
}

/** How a record says which use of its name it is of. */
export function numbered(nth: number): { nth?: number } {
  return nth > 1 ? { nth } : {}
}
