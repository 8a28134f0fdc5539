/**
 * What earlier executions recorded, handed out by what was done, under which name and as which use
 * of it: what runs side by side may end in any order. What has no number is handed out in order.
 * Code gets each answer after those that were recorded before it, as in the execution that recorded
 * them: code in which two operations have swapped places never asks for the first.
 */

import { isDeepStrictEqual } from 'node:util'
import { RiverrunError } from '../errors.ts'
import type { JournalRecord } from '../wire.ts'

export type Op = 'memo' | 'emit' | 'trigger' | 'await' | 'call' | 'enqueue' | 'start' | 'patched' | Read | Write

/** What was read of the state. */
export type Read = 'state.get' | 'state.has' | 'state.getAll'

/** What was written to it. */
export type Write = 'state.set' | 'state.delete' | 'state.setBatch'

interface Done {
  op: string
  name: string
}

/**
 * A note that the next emit of that kind is made inside of a `ctx.run`. One that failed may go
 * another way when it is tried again, so such an emit may be left without use.
 */
export const inRun = 'inRun'

/** Entries that a message shows of each sequence. */
const shown = 20

/** Entries that the details have before and after the first that is missing. */
const detailed = 50

export class Journal {
  readonly #records: readonly JournalRecord[]
  /** Where the records of each name stand that have no number and were not asked for yet. */
  readonly #open = new Map<string, number[]>()
  /** Where those stand that say which use they are of. */
  readonly #numbered = new Map<string, number>()
  readonly #uses = new Map<string, number>()
  readonly #taken = new Set<number>()
  readonly #done: Done[] = []
  /** Where emits stand that were made inside of a `ctx.run`. */
  readonly #inRun: ReadonlySet<number>
  /** All records before this one were asked for. */
  #checked = 0
  /** All records before this one that the code must ask for were asked for. */
  #front = 0
  /** Where the record stands that was handed out last. */
  #last = 0
  /** How many records are left that the code must ask for. */
  #left = 0
  /** Names of state that earlier executions have written, by operation. */
  readonly #written = new Set<string>()

  constructor(records: readonly JournalRecord[]) {
    this.#records = records
    for (const [at, { op, name = '', nth }] of records.entries()) {
      const places = this.#open.get(key(op, name))
      if (nth !== undefined) this.#numbered.set(`${nth} ${key(op, name)}`, at)
      else if (places) places.push(at)
      else this.#open.set(key(op, name), [at])
    }
    for (const [at, { emits = [] }] of records.entries()) for (const kind of emits) this.#settle(kind, at)
    this.#inRun = emitsInRun(records)
    for (const [at, record] of records.entries()) {
      if (this.#isDue(record, at)) this.#left += 1
      if (record.op.startsWith('state.')) this.#written.add(key(record.op, record.name ?? ''))
    }
  }

  /** Whether the code has asked for all that was recorded: what it does now is new. */
  get isUsedUp(): boolean {
    return this.#left === 0
  }

  /** How much the code has asked for in this execution. */
  get asked(): number {
    return this.#done.length
  }

  /** Whether earlier executions have written this, whatever the value. */
  hasWritten(op: Write, name: string): boolean {
    return this.#written.has(key(op, name))
  }

  /** The record for the next use of a name; undefined if there is none. */
  next(op: Op, name: string): JournalRecord | undefined {
    this.#done.push({ op, name })
    const nth = this.uses(op, name) + 1
    this.#uses.set(key(op, name), nth)
    const at = this.#numbered.get(`${nth} ${key(op, name)}`) ?? this.#open.get(key(op, name))?.shift()
    if (at === undefined) return undefined
    const record = this.#records[at] as JournalRecord
    if (this.#isDue(record, at)) this.#left -= 1
    this.#taken.add(at)
    this.#last = at
    return record
  }

  /** Where the record stands that was handed out last. */
  get place(): number {
    return this.#last
  }

  /** Whether the code has asked for all that was recorded before a place. */
  isInTurn(place: number): boolean {
    while (this.#front < place && !this.#isDue(this.#records[this.#front] as JournalRecord, this.#front)) this.#front += 1
    return this.#front >= place
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

  /** How often this was done so far, in this execution: the number of the latest use. */
  uses(op: Op, name: string): number {
    return this.#uses.get(key(op, name)) ?? 0
  }

  /**
   * The error for records that the code did not request: the code has changed. With a
   * place, only records before it count.
   */
  mismatch(until = Infinity): RiverrunError | undefined {
    const end = Math.min(until, this.#records.length)
    const missing = this.#records.slice(this.#checked, end).filter((record, at) => this.#isDue(record, this.#checked + at)).map(done)
    if (!missing.length) {
      this.#checked = Math.max(this.#checked, end)
      return undefined
    }
    const first = this.#records.findIndex((record, at) => this.#isDue(record, at))
    // Of many records, only those around the first missing one: a longer message is unreadable.
    const around = this.#records.slice(Math.max(0, first - detailed), first + detailed)
    const recorded = around.filter(({ op }) => op !== inRun).map(done)
    const asked = this.#done.slice(-2 * detailed)
    const message =
      `this execution did not do what earlier ones of the same visit recorded: ${list(missing)}. ` +
      `Recorded: ${list(recorded)}. Done: ${list(asked)}. ` +
      'Code that goes on is called again from the top and must do the same until there: has it changed, or does it depend on time, chance or something outside of ctx.run?'
    const details = { recorded, done: asked, missing: missing.slice(0, detailed) }
    return new RiverrunError('JOURNAL_MISMATCH', message, { retriable: false, details })
  }

  /** Whether the code has still to ask for a record. */
  #isDue(record: JournalRecord, at: number): boolean {
    return !this.#taken.has(at) && !this.#inRun.has(at) && mustBeUsed(record)
  }

  /**
   * An emit inside of a recorded `ctx.run` is not requested again. It is the last one before the
   * record of the run, so that an emit from before an earlier wait still counts as missing.
   */
  #settle(kind: string, memo: number): void {
    const open = this.#open.get(key('emit', kind)) ?? []
    const last = open.findLastIndex((at) => at < memo)
    for (const at of last < 0 ? [] : open.splice(last, 1)) this.#taken.add(at)
  }
}

/** Where emits stand before which a note says so. */
function emitsInRun(records: readonly JournalRecord[]): Set<number> {
  const noted = new Map<string, number>()
  const found = new Set<number>()
  for (const [at, { op, name = '' }] of records.entries()) {
    const notes = noted.get(name) ?? 0
    if (op === inRun) noted.set(name, notes + 1)
    if (op !== 'emit' || !notes) continue
    noted.set(name, notes - 1)
    found.add(at)
  }
  return found
}

function key(op: string, name: string): string {
  return `${op} ${name}`
}

/**
 * An attempt that failed may have read and written what the next one, on another way, does not. Code
 * may ask no more which path it takes once all runs take the new one.
 */
function mustBeUsed({ op }: JournalRecord): boolean {
  return op !== inRun && op !== 'patched' && !op.startsWith('state.')
}

function done({ op, name = '' }: JournalRecord): Done {
  return { op, name }
}

function list(entries: Done[]): string {
  if (!entries.length) return 'nothing'
  const texts = entries.slice(0, shown).map(({ op, name }) => `${op} ${JSON.stringify(name)}`)
  return entries.length > shown ? `${texts.join(', ')} and ${entries.length - shown} more` : texts.join(', ')
}
