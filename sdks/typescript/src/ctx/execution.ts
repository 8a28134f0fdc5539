/**
 * One execution of a step's code: from the top to its end, or to a wait whose answer is not known
 * yet. What the code does is recorded, and what earlier executions recorded is not done again.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { ExecutionOver, RiverrunError } from '../errors.ts'
import { revive } from '../failure.ts'
import type { InvokeParams, JournalRecord, Suspended } from '../wire.ts'
import { inRun, Journal, type Op, type Read, type Write } from './journal.ts'
import type { Link } from './link.ts'
import { type Bounded, numbered, Outcomes, type Stop, type Try } from './outcomes.ts'

/** The `ctx.run` whose function is running. */
interface Run {
  name: string
  /** The n-th of its name. */
  number: number
  uses: Map<string, number>
  /** The kinds of the events that were emitted inside of it, by all of its tries. */
  emits: string[]
  /** How often this try has emitted each kind. */
  emitted: Map<string, number>
  try: Bounded
}

/** How a part of the work is done. */
export interface RunSettings {
  retry?: unknown
  timeoutMs?: number | undefined
}

const inside = new AsyncLocalStorage<Run>()

/** Requests that leave a record. */
const records = new Set(['emit', 'memo', 'memo.failed', 'await.trigger', 'state.set', 'state.delete', 'state.setBatch'])

/** What code waits for that is not to go on: nothing of it runs, no `catch` and no `finally` either. */
const never = (): Promise<never> => new Promise(() => {})

/**
 * An operation that no record fits, and is not done before the code has asked for all that was
 * recorded; or one whose record stands after others for which the code has not asked yet.
 */
interface Held {
  /** Where its record stands; infinite if there is none. */
  place: number
  go: () => void
  release: () => void
}

/** How long code may ask for nothing before an operation that is held back is a mismatch. */
const graceMs = 1000

/**
 * The same while something else is open in the process: a timer, a socket, a file. The code may wait
 * for it, though it is not recorded, and then go on to ask for what is. At most half of the attempt.
 */
const longGraceMs = 30_000

/** Timers of executions that wait for their code to ask for something. */
let ownTimers = 0

export class StepExecution implements Link {
  /** Called when the code waits, or was found to be wrong when it did. */
  onLeave: (outcome: Suspended | RiverrunError, seen: JournalRecord[]) => void = () => {}
  /** Called when the handler has returned although it still waits. */
  onForgotten: (message: string) => void = () => {}
  readonly #link: Link
  readonly #params: InvokeParams
  readonly #journal: Journal
  readonly #inFlight = new Set<Promise<unknown>>()
  readonly #stop: Stop
  #outcomes: Outcomes | undefined
  /** What the code has read since something was last recorded, and notes of what is next. It is recorded with that. */
  #seen: JournalRecord[] = []
  /** What the code waits for. */
  #waits: Suspended | undefined
  /** Something that failed waits for its next try, for which the server waits. */
  #backsOff = false
  /** Waits that are over, and after which the code has yet to go on. */
  #settling = 0
  readonly #held: Held[] = []
  #refused: RiverrunError | undefined
  #ended = false
  #left = false

  constructor(link: Link, params: InvokeParams, stop: Stop) {
    this.#link = link
    this.#params = params
    this.#journal = new Journal(params.journal ?? [])
    this.#stop = stop
  }

  request(method: string, params: Record<string, unknown>): Promise<any> {
    return this.#track(() => this.#ask(method, params))
  }

  notify(method: string, params: Record<string, unknown>): void {
    if (!this.#left) this.#link.notify(method, params)
  }

  /** Emits, which the server records by itself. Inside of a `ctx.run` its record belongs to that. */
  emit(kind: string, ask: () => Promise<unknown>): Promise<any> {
    const run = inside.getStore()
    return this.#track(async (release) => {
      if (run) {
        refuseOver(run)
        const nth = (run.emitted.get(kind) ?? 0) + 1
        run.emitted.set(kind, nth)
        // An earlier try has emitted it.
        if (nth <= run.emits.filter((one) => one === kind).length) return null
      }
      run?.emits.push(kind)
      const record = this.#next('emit', kind)
      if (record && run) return answer(record)
      if (record) return this.#inTurn(record, release)
      if (!run && !this.#journal.isUsedUp) await this.#hold(release)
      if (run) this.#seen.push({ op: inRun, name: kind })
      try {
        return await ask()
      } catch (error) {
        run?.emits.splice(run.emits.indexOf(kind), 1)
        throw error
      }
    })
  }

  /** Does something that the server records by itself. */
  once(op: Op, name: string, work: () => Promise<unknown>): Promise<any> {
    return this.#track(async (release) => {
      const record = this.#next(op, name)
      if (record) return this.#inTurn(record, release)
      if (!this.#journal.isUsedUp) await this.#hold(release)
      return work()
    })
  }

  /** Reads something that may have changed when the code is called again: then it gets this answer. */
  async read(op: Read, name: string, ask: () => Promise<unknown>): Promise<any> {
    if (inside.getStore()) return ask()
    const record = this.#next(op, name)
    if (record) return record.value
    const nth = this.#journal.uses(op, name)
    const value = await ask()
    this.#seen.push({ op, name, ...numbered(nth), value })
    return value
  }

  /** Writes something, unless an earlier execution did. Inside of a `ctx.run` it is part of that. */
  async write(op: Write, name: string, params: Record<string, unknown>, value?: unknown): Promise<void> {
    if (inside.getStore()) await this.request(op, { ...params, inRun: true })
    else if (!this.#journal.wrote(op, name, json(value))) {
      if (this.#isNewWrite(op, name)) await this.#track((release) => this.#hold(release))
      await this.request(op, params)
    }
  }

  /** Changes something by what it is now. If the change writes nothing, that is what is recorded. */
  async patch(op: Write, name: string, change: (inRun: boolean) => Promise<unknown>): Promise<any> {
    if (inside.getStore()) return change(true)
    const record = this.#next(op, name)
    if (record) return record.value
    if (this.#isNewWrite(op, name)) await this.#track((release) => this.#hold(release))
    const value = await change(false)
    if (value === undefined) this.#seen.push({ op, name })
    return value
  }

  /**
   * Does something and has its outcome recorded. `work` is given an id that is the same in every
   * execution of the visit. Inside of a `ctx.run` nothing is recorded: the run is.
   */
  recorded(op: Op, name: string, work: (id: string, attempt: Bounded) => unknown, settings: RunSettings = {}, emits: string[] = []): Promise<any> {
    const run = inside.getStore()
    if (run) {
      return this.#track(async () => {
        refuseOver(run)
        return work(this.#idInside(run, op, name), run.try)
      })
    }
    return this.#track(async (release) => {
      const record = this.#next(op, name)
      if (record) return this.#inTurn(record, release)
      const nth = this.#journal.uses(op, name)
      if (!this.#journal.isUsedUp) await this.#hold(release)
      const doing = { op, name, nth, emits, ...settings }
      this.#outcomes ??= this.#newOutcomes()
      return this.#outcomes.of(doing, (attempt) => work(this.#id(name, nth), attempt), () => this.#backOff(release))
    })
  }

  #newOutcomes(): Outcomes {
    return new Outcomes({
      ask: (method, asked) => this.#ask(method, asked),
      stop: this.#stop,
      leave: (error) => this.#end(error),
      pending: this.#params.retries ?? [],
    })
  }

  /** A part of the work that is recorded as a whole. */
  run(name: string, work: (attempt: Try) => unknown, settings: RunSettings = {}): Promise<any> {
    const emits: string[] = []
    return this.recorded('memo', name, (id, attempt) => {
      if (inside.getStore()) return work(attempt)
      const number = Number(id.slice(id.lastIndexOf('/') + 1))
      return inside.run({ name, number, uses: new Map(), emits, emitted: new Map(), try: attempt }, () => work(attempt))
    }, settings, emits)
  }

  /** Whether the code takes the path of a change: runs that were past it before take the old one. */
  patched(id: string): boolean {
    const record = this.#next('patched', id)
    if (record) return record.value === true
    if (!this.#journal.isUsedUp) return false
    const nth = this.#journal.uses('patched', id)
    this.#seen.push({ op: 'patched', name: id, ...numbered(nth), value: true })
    return true
  }

  /** The record for the next use of a name. It may let go on what was held back. */
  #next(op: Op, name: string): JournalRecord | undefined {
    const record = this.#journal.next(op, name)
    if (!this.#held.length) return record
    const ready = this.#held.filter((held) => this.#isReady(held.place)).sort((one, other) => one.place - other.place)
    for (const held of ready) {
      this.#held.splice(this.#held.indexOf(held), 1)
      // What was recorded first is answered first: of a race the same one wins.
      setImmediate(held.go)
    }
    return record
  }

  #isReady(place: number): boolean {
    return place === Infinity ? this.#journal.isUsedUp : this.#journal.isInTurn(place)
  }

  /** The answer that was recorded, after those that were recorded before it. */
  async #inTurn(record: JournalRecord, release: () => void): Promise<unknown> {
    const place = this.#journal.place
    if (!this.#journal.isInTurn(place)) await this.#hold(release, place)
    return answer(record)
  }

  /** A write under a name that no earlier execution has written to is new. */
  #isNewWrite(op: Write, name: string): boolean {
    return !this.#journal.isUsedUp && !this.#journal.hasWritten(op, name)
  }

  /** Waits until the code has asked for all that was recorded, or for all before a place. */
  #hold(release: () => void, place = Infinity): Promise<void> {
    return new Promise((go) => {
      this.#held.push({ place, go, release })
      if (this.#held.length === 1) void this.#judgeHeld()
    })
  }

  /** The code does not fit its journal if it asks for nothing more while records are left. */
  async #judgeHeld(): Promise<void> {
    const longMs = Math.min(longGraceMs, (this.#params.timeoutMs ?? 2 * longGraceMs) / 2)
    for (let [asked, quietMs] = [-1, 0]; asked !== this.#journal.asked || (quietMs < longMs && mayWait()); quietMs += graceMs) {
      if (asked !== this.#journal.asked) quietMs = 0
      asked = this.#journal.asked
      ownTimers += 1
      await new Promise((resolve) => setTimeout(resolve, graceMs))
      ownTimers -= 1
      while (this.#held.length && this.#inFlight.size > this.#held.length) await Promise.race(this.#inFlight)
      if (!this.#held.length) return
    }
    const mismatch = this.#journal.mismatch(Math.min(...this.#held.map(({ place }) => place)))
    if (!mismatch || this.#left) return
    this.#refused = mismatch
    for (const { release } of this.#held.splice(0)) release()
    if (this.#ended) return
    this.#left = true
    this.onLeave(mismatch, this.#takeSeen())
  }

  /** Leaves the wait for the next try of something to the server, once nothing else is under way. */
  #backOff(release: () => void): Promise<never> {
    this.#backsOff = true
    release()
    void this.#leave({ type: 'retry' })
    return never()
  }

  /** Gives what a wait has brought, or ends this execution. */
  async wait(name: string, makeWait: () => Suspended): Promise<any> {
    this.refuseInRun()
    const record = this.#next('await', name)
    if (record) return this.#settled(record, this.#journal.place)
    if (this.#left) return never()
    if (this.#stop.cancelled) return this.#end(this.#stop.cancelled)
    if (this.#waits) {
      this.#refused = concurrent()
      throw this.#refused
    }
    const wait = makeWait()
    this.#waits = wait
    void this.#leave(wait)
    return never()
  }

  /**
   * Goes on after a wait, unless something was recorded before it that the code did not do this
   * time: then nothing that stands after it is done.
   */
  async #settled(record: JournalRecord, place: number): Promise<unknown> {
    this.#settling++
    try {
      await this.#quiet()
    } finally {
      this.#settling--
    }
    if (this.#left) return never()
    const mismatch = this.#ended ? undefined : this.#journal.mismatch(place)
    if (!mismatch) return answer(record)
    this.#left = true
    this.onLeave(mismatch, this.#takeSeen())
    return never()
  }

  refuseInRun(): void {
    const run = inside.getStore()
    if (run) throw misplaced(run.name)
  }

  /** The handler has returned. Waits for what it left running; gives the error that its value does not count. */
  async returned(): Promise<RiverrunError | undefined> {
    this.#ended = true
    if (this.#inFlight.size) await this.#quiet()
    const problem = this.#refused ?? this.#journal.mismatch()
    if (!problem && this.#backsOff && !this.#left) {
      // An operation whose result the code does not await is tried again first.
      this.#left = true
      this.onLeave({ type: 'retry' }, this.#takeSeen())
      return never()
    }
    if (!problem && this.#waits && !this.#left) this.onForgotten(forgotten(this.#waits))
    return problem
  }

  /** The handler has thrown. */
  threw(): void {
    this.#ended = true
  }

  #id(name: string, number: number): string {
    const { runId, step, visit } = this.#params
    return `${runId}/${step}/${visit ?? 1}/${name}/${number}`
  }

  /** A run that is taken from the journal does nothing, so what it does has numbers of its own. */
  #idInside({ name: run, number, uses }: Run, op: Op, name: string): string {
    const nth = (uses.get(`${op} ${name}`) ?? 0) + 1
    uses.set(`${op} ${name}`, nth)
    return this.#id(`${run}/${number}/${name}`, nth)
  }

  async #leave(wait: Suspended): Promise<void> {
    do await this.#quiet()
    while (this.#settling)
    if (this.#ended || this.#left) return
    this.#left = true
    // What failed is tried again before anything else is waited for.
    const next: Suspended = this.#backsOff ? { type: 'retry' } : wait
    this.onLeave(this.#refused ?? this.#journal.mismatch() ?? next, this.#takeSeen())
  }

  /** Asks; what is recorded takes along what was read before it. Code does not continue once the execution is over. */
  async #ask(method: string, params: Record<string, unknown>): Promise<any> {
    if (this.#left) return never()
    try {
      return await this.#link.request(method, this.#seen.length && records.has(method) ? { ...params, seen: this.#takeSeen() } : params)
    } catch (error) {
      if (error instanceof ExecutionOver) return this.#end(error)
      throw error
    }
  }

  /** Ends this execution with an error that the code does not see: nothing that it does from here on counts. */
  #end(error: RiverrunError): Promise<never> {
    if (!this.#left && !this.#ended) {
      this.#left = true
      this.onLeave(error, this.#takeSeen())
    }
    return never()
  }

  #takeSeen(): JournalRecord[] {
    return this.#seen.splice(0)
  }

  /** Until nothing is under way, and what that has led to neither. */
  async #quiet(): Promise<void> {
    do {
      await Promise.all(this.#inFlight)
      await new Promise((resolve) => setImmediate(resolve))
    } while (this.#inFlight.size)
  }

  /** `release` ends the watch over work that goes on in a later execution. */
  #track<Value>(begin: (release: () => void) => Promise<Value>): Promise<Value> {
    let over: () => void = () => {}
    const watched = new Promise<void>((resolve) => {
      over = () => {
        this.#inFlight.delete(watched)
        resolve()
      }
    })
    this.#inFlight.add(watched)
    const { cancelled } = this.#stop
    const work = this.#left ? never() : cancelled ? this.#end(cancelled) : begin(over)
    work.then(over, over)
    // A promise of its own, so that an error which the handler does not look at is seen to be one.
    return work.then((value) => value)
  }
}

/** The form that ids of jobs have, made of any text. */
export function jobIdOf(text: string): string {
  const plain = text.replaceAll('/', '.')
  return /^[\w.~-]{1,128}$/.test(plain) ? plain : `step-${createHash('sha256').update(text).digest('hex')}`
}

/**
 * Whether something may happen in this process for which code waits, beyond what the server sends:
 * its pipes are always open.
 */
function mayWait(): boolean {
  const open = process.getActiveResourcesInfo().filter((type) => type !== 'PipeWrap' && type !== 'TTYWrap')
  return open.length > ownTimers
}

/** A value as a record of it would have it. */
function json(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? 'null')
}

/** Nothing counts that a try does after its time is over. */
function refuseOver({ try: { over } }: Run): void {
  if (over) throw over
}

function answer({ op, value, error }: JournalRecord): unknown {
  // A timeout that was recorded is over in the next attempt too.
  if (error) throw revive(op === 'await' ? { retriable: false, ...error } : error)
  return value ?? null
}

function forgotten(wait: Suspended): string {
  const what = wait.type === 'time' ? 'ctx.await.time' : wait.type === 'event' ? `ctx.await.event(${JSON.stringify(wait.eventKind)})` : wait.type === 'trigger' ? `wait() of the trigger ${wait.triggerId}` : 'a retry'
  return `the handler returned while ${what} still waited, so nothing was waited for: is an await missing before it?`
}

function concurrent(): RiverrunError {
  const message =
    'a step waits for one thing at a time, and this execution already waits: ' +
    'await one after the other, and give an await a timeout where it is not to wait for ever'
  return new RiverrunError('AWAIT_CONCURRENT', message, { retriable: false })
}

function misplaced(run: string): RiverrunError {
  const message = `ctx.await cannot stand inside of ctx.run(${JSON.stringify(run)}): what runs there is recorded when it has ended. Await before it or after it`
  return new RiverrunError('AWAIT_IN_RUN', message, { retriable: false })
}
