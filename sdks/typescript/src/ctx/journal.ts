/**
 * What earlier executions recorded, handed out by what was done and under which name: the n-th use
 * gets the n-th record, so that what runs side by side may come in any order.
 */

import { RiverrunError } from '../errors.ts'
import type { JournalRecord } from '../wire.ts'

export type Op = 'memo' | 'emit' | 'trigger' | 'await' | 'call' | 'enqueue' | 'start'

interface Done {
  op: string
  name: string
}

/** Entries that a message shows of each sequence. */
const shown = 20

export class Journal {
  readonly #records: readonly JournalRecord[]
  /** Where the records of each use stand that were not asked for yet. */
  readonly #open = new Map<string, number[]>()
  readonly #uses = new Map<string, number>()
  readonly #taken = new Set<number>()
  readonly #done: Done[] = []

  constructor(records: readonly JournalRecord[]) {
    this.#records = records
    for (const [at, { op, name = '' }] of records.entries()) {
      const places = this.#open.get(key(op, name))
      if (places) places.push(at)
      else this.#open.set(key(op, name), [at])
    }
  }

  /** The record for the next use of a name; undefined once they are used up. */
  next(op: Op, name: string): JournalRecord | undefined {
    this.#done.push({ op, name })
    this.#uses.set(key(op, name), this.uses(op, name) + 1)
    const at = this.#open.get(key(op, name))?.shift()
    if (at === undefined) return undefined
    this.#taken.add(at)
    return this.#records[at]
  }

  /** How often this was done so far, in this execution. */
  uses(op: Op, name: string): number {
    return this.#uses.get(key(op, name)) ?? 0
  }

  /** The error that records were left which nobody asked for: the code is not what it was. */
  mismatch(): RiverrunError | undefined {
    const missing = this.#records.filter((_, at) => !this.#taken.has(at) && !this.#isInside(at)).map(done)
    if (!missing.length) return undefined
    const recorded = this.#records.map(done)
    const message =
      `this execution did not do what earlier ones of the same visit recorded: ${list(missing)}. ` +
      `Recorded: ${list(recorded)}. Done: ${list(this.#done)}. ` +
      'Code that waits is called again from the top and must do the same until there: has it changed, or does it depend on time, chance or something outside of ctx.run?'
    return new RiverrunError('JOURNAL_MISMATCH', message, { retriable: false, details: { recorded, done: this.#done, missing } })
  }

  /**
   * An emit may have been made inside of a `ctx.run`: its memo, which comes after it, then stands
   * for it, and nobody asks for the emit again.
   */
  #isInside(at: number): boolean {
    if (this.#records[at]?.op !== 'emit') return false
    return this.#records.some(({ op }, later) => later > at && op === 'memo' && this.#taken.has(later))
  }
}

function key(op: string, name: string): string {
  return `${op} ${name}`
}

function done({ op, name = '' }: JournalRecord): Done {
  return { op, name }
}

function list(entries: Done[]): string {
  if (!entries.length) return 'nothing'
  const texts = entries.slice(0, shown).map(({ op, name }) => `${op} ${JSON.stringify(name)}`)
  return entries.length > shown ? `${texts.join(', ')} and ${entries.length - shown} more` : texts.join(', ')
}
