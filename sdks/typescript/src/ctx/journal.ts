/**
 * What earlier executions recorded, handed out by what was done and under which name: the n-th use
 * gets the n-th record, so that what runs side by side may come in any order.
 */

import { isDeepStrictEqual } from 'node:util'
import { RiverrunError } from '../errors.ts'
import type { JournalRecord } from '../wire.ts'

export type Op = 'memo' | 'emit' | 'trigger' | 'await' | 'call' | 'enqueue' | 'start' | Read | Write

/** What was read of the state. */
export type Read = 'state.get' | 'state.has' | 'state.getAll'

/** What was written to it. */
export type Write = 'state.set' | 'state.delete' | 'state.setBatch'

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
  /** Whether a `ctx.run` did its work in this execution. */
  #runs = false
  /** All records before this one were asked for. */
  #checked = 0

  constructor(records: readonly JournalRecord[]) {
    this.#records = records
    for (const [at, { op, name = '' }] of records.entries()) {
      const places = this.#open.get(key(op, name))
      if (places) places.push(at)
      else this.#open.set(key(op, name), [at])
    }
    for (const [at, { emits = [] }] of records.entries()) for (const kind of emits) this.#settle(kind, at)
  }

  /** The record for the next use of a name; undefined once they are used up. */
  next(op: Op, name: string): JournalRecord | undefined {
    this.#done.push({ op, name })
    this.#uses.set(key(op, name), this.uses(op, name) + 1)
    const at = this.#open.get(key(op, name))?.shift()
    if (at === undefined) {
      this.#runs ||= op === 'memo'
      return undefined
    }
    this.#taken.add(at)
    return this.#records[at]
  }

  /**
   * Whether this was written before, by the next record of the name that has the value. Those before
   * it were left by an attempt that went another way: they no longer count, and if there is none at
   * all none does.
   */
  wrote(op: Write, name: string, value: unknown): boolean {
    this.#done.push({ op, name })
    const open = this.#open.get(key(op, name)) ?? []
    const at = open.findIndex((record) => isDeepStrictEqual(this.#records[record]?.value, value))
    open.splice(0, at < 0 ? open.length : at + 1)
    return at >= 0
  }

  /** How often this was done so far, in this execution. */
  uses(op: Op, name: string): number {
    return this.#uses.get(key(op, name)) ?? 0
  }

  /**
   * The error that records were left which nobody asked for: the code is not what it was. With a
   * record, only those before it count.
   */
  mismatch(until?: JournalRecord): RiverrunError | undefined {
    const end = until ? this.#records.indexOf(until, this.#checked) : this.#records.length
    const isLeft = (record: JournalRecord, at: number): boolean => !this.#taken.has(at) && !isOfState(record) && !this.#isInside(at)
    const missing = this.#records.slice(this.#checked, end).filter((record, at) => isLeft(record, this.#checked + at)).map(done)
    if (!missing.length) {
      this.#checked = Math.max(this.#checked, end)
      return undefined
    }
    const recorded = this.#records.map(done)
    const message =
      `this execution did not do what earlier ones of the same visit recorded: ${list(missing)}. ` +
      `Recorded: ${list(recorded)}. Done: ${list(this.#done)}. ` +
      'Code that waits is called again from the top and must do the same until there: has it changed, or does it depend on time, chance or something outside of ctx.run?'
    return new RiverrunError('JOURNAL_MISMATCH', message, { retriable: false, details: { recorded, done: this.#done, missing } })
  }

  /**
   * An emit inside of a `ctx.run` that is recorded: nobody asks for it again. It is the last before
   * the record of the run, so that one from before an earlier wait is still missed.
   */
  #settle(kind: string, memo: number): void {
    const open = this.#open.get(key('emit', kind)) ?? []
    const last = open.findLastIndex((at) => at < memo)
    for (const at of last < 0 ? [] : open.splice(last, 1)) this.#taken.add(at)
  }

  /**
   * An emit may have been made inside of a `ctx.run` that failed and went another way when it was
   * tried again.
   */
  #isInside(at: number): boolean {
    if (this.#records[at]?.op !== 'emit') return false
    return this.#runs || this.#records.some(({ op }, later) => later > at && op === 'memo' && this.#taken.has(later))
  }
}

function key(op: string, name: string): string {
  return `${op} ${name}`
}

/** An attempt that failed may have read and written what the next one, on another way, does not. */
function isOfState({ op }: JournalRecord): boolean {
  return op.startsWith('state.')
}

function done({ op, name = '' }: JournalRecord): Done {
  return { op, name }
}

function list(entries: Done[]): string {
  if (!entries.length) return 'nothing'
  const texts = entries.slice(0, shown).map(({ op, name }) => `${op} ${JSON.stringify(name)}`)
  return entries.length > shown ? `${texts.join(', ')} and ${entries.length - shown} more` : texts.join(', ')
}
