/**
 * A run of a flow in memory: what steps emit enters the steps that subscribe to it, waits jump the
 * clock, until nothing is active, and what a failed run did is undone. A step that fails is tried again as
 * its retry policy says, after a backoff that jumps the clock too.
 */

import type { AwaitConfig } from '../config.ts'
import { RiverrunError } from '../errors.ts'
import { describe } from '../failure.ts'
import type { Failure, Suspended } from '../wire.ts'
import { wantedValues } from './awaits.ts'
import { FakeClock } from './clock.ts'
import type { Executable } from './execute.ts'
import { evaluate } from './expression.ts'
import { arrivalMs, type GivenEvent, matches, milliseconds, opened, type Opened, seen, type SeenEvent, type Triggers } from './given.ts'
import { type MadeTrigger, type MemoryOptions, Store } from './memory.ts'
import { shownPayload } from './payload.ts'
import { plan, type PlannedStep, withChecks } from './plan.ts'
import { longestMs, refusedWait, tooManyAwaits, tooManySteps, usedDoor } from './refusals.ts'
import { retryDelayMs } from './retry.ts'
import { reason, type Undo, Undoing } from './undo.ts'
import { type SimulatedAwait, Visit, type VisitRun } from './visit.ts'
import { checkOptions } from './words.ts'

/** How far a run may go on the server where its flow says nothing else. */
const usual = { maxSteps: 1000, maxAwaits: 10_000 }

export interface FlowOptions extends Omit<MemoryOptions, 'journal' | 'checkpoint'> {
  input?: unknown
  /** Which flow, where the steps name several. */
  flow?: string
  /** The step that the run begins with, where their configs leave it open. */
  entry?: string
  /** What happens outside, in this order. */
  events?: GivenEvent[]
  triggers?: Triggers
  /** When it begins; 2026-01-01 where absent. */
  start?: Date | number | string
  /** A clock that is in charge already, in place of one that is made for this run. */
  clock?: FakeClock
  runId?: string
  tenantId?: string
  correlationId?: string
}

export interface FlowRun {
  /** `waiting`: something waits for what nobody gave. */
  status: 'completed' | 'failed' | 'waiting'
  error?: any
  visits: VisitRun[]
  /** What was emitted, and what came from outside. */
  events: (SeenEvent & { stepName?: string })[]
  /** Events that entered no step and that nobody waited for. */
  unclaimed: SeenEvent[]
  /** Expressions that threw: what each was to judge was passed over. */
  warnings: FlowWarning[]
  state: Record<string, unknown>
  startedAt: string
  endedAt: string
  elapsedMs: number
}

/** Something that the run says in its stream, as `log.warn`. */
export interface FlowWarning {
  code: string
  message: string
  step: string
}

/** What `runFlow` and `runStep` both take. */
export const sharedOptions = ['input', 'flow', 'events', 'triggers', 'start', 'clock', 'runId', 'tenantId', 'correlationId', 'state', 'stateSchema', 'schemas', 'calls', 'conflicts', 'leaseValid']

export async function runFlow(steps: Executable[] | Record<string, Executable>, options: FlowOptions = {}): Promise<FlowRun> {
  checkOptions('runFlow', options, ['entry', ...sharedOptions])
  const planned = plan(steps, options)
  await withChecks(planned.steps, planned.entry, options.schemas)
  return simulate(options, async (clock) => {
    const state = { ...begun(options.input), ...options.state }
    const run = new Simulation(planned.flow, planned.steps, { ...options, state }, clock, planned.entry)
    run.enter(planned.entry, options.input)
    return run.play()
  })
}

/** The state that a run begins with: an object is the state itself, any other value is its `input`. */
function begun(input: unknown): Record<string, unknown> {
  if (input === undefined || input === null) return {}
  return typeof input === 'object' && !Array.isArray(input) ? { ...input } : { input }
}

/** Runs `work` with a clock in charge. */
export async function simulate<T>({ clock, start = '2026-01-01T00:00:00.000Z' }: Pick<FlowOptions, 'clock' | 'start'>, work: (clock: FakeClock) => Promise<T>): Promise<T> {
  if (clock) return work(clock)
  const own = new FakeClock(start).install()
  try {
    return await work(own)
  } finally {
    own.restore()
  }
}

interface Due {
  atMs: number
  act: () => unknown
}

/** A wait for an event that has not come. */
interface Open {
  visit: Visit
  kind: string
  fits: (event: SeenEvent) => boolean
  settle: (event: SeenEvent) => void
}

/** How a wait ends. */
interface Ending {
  outcome: SimulatedAwait['outcome']
  value?: unknown
}

export class Simulation {
  readonly visits: Visit[] = []
  readonly store: Store
  readonly #agenda: Due[] = []
  readonly #open = new Set<Open>()
  readonly #held: { step: string; kind: string; input: unknown }[] = []
  readonly #events: FlowRun['events'] = []
  readonly #unclaimed: SeenEvent[] = []
  /** Given events that come as soon as somebody waits for them. */
  readonly #ready: GivenEvent[]
  readonly #startMs: number
  readonly #undoing = new Undoing()
  readonly #warnings: FlowWarning[] = []
  readonly #limits: typeof usual
  /** Visits so far, without those that undo something. */
  #begun = 0
  #error: unknown
  /** The error, as a step that undoes something is told of it. */
  #reason: Record<string, unknown> | undefined

  constructor(
    readonly flow: string,
    readonly steps: Map<string, PlannedStep>,
    readonly options: FlowOptions,
    readonly clock: FakeClock,
    readonly entry: Pick<PlannedStep, 'onFailure' | 'limits'>,
  ) {
    this.#limits = { ...usual, ...entry.limits }
    this.store = new Store(options.state)
    this.#startMs = clock.now
    const events = options.events ?? []
    this.#ready = events.filter(({ at }) => at === undefined)
    for (const event of events) {
      const atMs = arrivalMs(event, this.#startMs)
      if (atMs !== undefined) this.#plan(atMs, () => this.#given(event))
    }
  }

  enter(step: PlannedStep, input: unknown, undoes?: Undo['visit']): Visit {
    const number = this.visits.filter((visit) => visit.step === step).length + 1
    const run = { runId: this.options.runId ?? 'run-0', flow: this.flow, tenantId: this.options.tenantId, correlationId: this.options.correlationId }
    const visit = new Visit(step, number, input ?? null, run, this.options, this.store, undoes)
    this.visits.push(visit)
    this.#plan(this.clock.now, () => this.#begin(visit))
    return visit
  }

  async play(): Promise<FlowRun> {
    // What comes when nothing is active comes too late: the run has ended.
    while (this.#isActive || this.#goesOn()) {
      const due = this.#agenda[0]
      if (due && due.atMs <= this.clock.now) await this.#act()
      else if (this.#takeReady()) continue
      else if (due) await this.#act()
      else break
    }
    return this.#report()
  }

  get #isActive(): boolean {
    return this.visits.some(({ isActive }) => isActive)
  }

  /** Nothing is active any more: the run undoes one thing more, or has ended. */
  #goesOn(): boolean {
    if (this.#error === undefined) return false
    this.#undoing.hasBegun = true
    const undo = this.#undoing.last(this.#reason)
    if (undo) this.#undo(undo)
    return undo !== undefined
  }

  async #act(): Promise<void> {
    const due = this.#agenda.shift() as Due
    this.clock.jump(due.atMs)
    await due.act()
  }

  #plan(atMs: number, act: () => unknown): Due {
    const due = { atMs, act }
    const later = this.#agenda.findIndex((other) => other.atMs > atMs)
    this.#agenda.splice(later < 0 ? this.#agenda.length : later, 0, due)
    return due
  }

  async #begin(visit: Visit): Promise<void> {
    if (!visit.isActive) return
    // What undoes something is never one too many.
    if (!visit.undoes && this.#begun++ >= this.#limits.maxSteps) return this.#stop()
    const { await: declared } = visit.step
    if (!declared || declared.type === 'time' || visit.awaited !== undefined) return this.#execute(visit)
    const done = (ending: Ending): unknown => {
      if (ending.outcome === 'timeout') return this.#tooLate(visit, declared, ending.value)
      visit.awaited = ending.value
      return this.#execute(visit)
    }
    const timeoutMs = declared.timeout === undefined ? undefined : milliseconds('timeout', declared.timeout)
    if (declared.type === 'trigger') {
      const shown = shownPayload(declared.payload, { input: visit.input, state: this.store.state, runId: visit.run.runId })
      if (shown instanceof RiverrunError) return this.#fail(visit, 'failed', shown)
      const trigger = this.store.makeTrigger(declared.triggerType ?? 'webhook', shown.payload)
      return this.#awaitTrigger(visit, trigger, timeoutMs, done, declared.many)
    }
    const match = wantedValues(declared.match ?? {}, { input: visit.input, state: this.store.state })
    if (match instanceof RiverrunError) return this.#fail(visit, 'failed', match)
    const lookback = declared.lookback === undefined ? undefined : declared.lookback === 'run' ? 'run' : milliseconds('lookback', declared.lookback)
    this.#awaitEvent(visit, declared.eventKind, (event) => matches(match, event) && this.#fitsDeclared(declared, event, visit), lookback, timeoutMs, done)
  }

  async #execute(visit: Visit): Promise<void> {
    const before = visit.memory.events.length
    const outcome = await visit.execute(this.clock)
    for (const { type, data, ts } of visit.memory.events.slice(before)) {
      const event = seen({ type, data, runId: visit.run.runId }, Date.parse(ts), this.#events.length)
      this.#arrive({ ...event, flowName: this.flow, stepName: visit.step.name })
    }
    if ('type' in outcome) await this.#suspend(visit, outcome)
    else if (outcome.status !== 'completed') this.#tryAgain(visit, outcome.error) || this.#fail(visit, outcome.status, outcome.error)
    else this.#afterHandler(visit, outcome.value)
  }

  #tryAgain(visit: Visit, error: unknown): boolean {
    const delayMs = retryDelayMs(visit.step.config.retryPolicy, describe(error), visit.failures + 1)
    if (delayMs === undefined) return false
    visit.failed(error, delayMs)
    this.#plan(this.clock.now + delayMs, () => visit.isActive && this.#execute(visit))
    return true
  }

  async #suspend(visit: Visit, wait: Suspended): Promise<void> {
    if (wait.type === 'retry') {
      const atMs = Math.min(...visit.memory.retries.map(({ retryAfterMs }) => this.clock.now + retryAfterMs))
      this.#plan(atMs, () => visit.isActive && this.#execute(visit))
      return
    }
    const name = wait.type === 'time' ? 'time' : wait.type === 'event' ? wait.eventKind : wait.triggerId
    const door = wait.type === 'trigger' ? (this.store.triggers.get(wait.triggerId) as MadeTrigger) : undefined
    const untilMs = this.#until(wait, door)
    const refused = this.#refused(visit, wait, untilMs, door)
    if (refused) return this.#fail(visit, 'failed', refused)
    const done = ({ outcome, value = null }: Ending): unknown => {
      if (door && outcome === 'trigger') this.store.doors.used(door.id)
      visit.settle(name, outcome === 'timeout' ? { error: timedOut(wait.type) } : { value })
      return this.#execute(visit)
    }
    if (wait.type === 'time') return this.#awaitTime(visit, untilMs as number, done)
    const timeoutMs = untilMs === undefined ? undefined : Math.max(0, untilMs - this.clock.now)
    if (door) return this.#awaitTrigger(visit, door, timeoutMs, done)
    if (wait.type !== 'event') return
    const fits = (event: SeenEvent): boolean => {
      const args = { event, ctx: { ...this.#context(), input: visit.input }, input: visit.input }
      return matches(wait.match ?? {}, event) && this.#where(wait.where, args, visit, wait.eventKind)
    }
    // Code is given what came since the run began, unless it says otherwise.
    const lookback = wait.lookback === 'none' ? undefined : (wait.lookback ?? wait.lookbackMs ?? 'run')
    this.#awaitEvent(visit, wait.eventKind, fits, lookback, timeoutMs, done)
  }

  /** When a wait of code is over at the latest. The time of a door runs from when it was made. */
  #until(wait: Suspended, door: MadeTrigger | undefined): number | undefined {
    if (door) return this.store.doors.expiresMs(door.id)
    if (wait.type === 'time') return 'afterMs' in wait ? this.clock.now + wait.afterMs : Date.parse(wait.resumeAt)
    if (wait.type === 'retry' || wait.timeoutMs === undefined) return undefined
    return this.clock.now + wait.timeoutMs
  }

  #refused(visit: Visit, wait: Suspended, untilMs: number | undefined, door: MadeTrigger | undefined): RiverrunError | undefined {
    const isOver = untilMs !== undefined && untilMs <= this.clock.now
    if (door && this.store.doors.isUsed(door.id) && !isOver) return usedDoor()
    const refused = refusedWait(wait, untilMs, this.clock.now)
    if (refused) return refused
    return visit.awaitsOver >= this.#limits.maxAwaits ? tooManyAwaits(this.#limits.maxAwaits) : undefined
  }

  #afterHandler(visit: Visit, value: unknown): void {
    const { await: declared } = visit.step
    const end = (): void => {
      visit.end({ status: 'completed', value })
      this.#undoing.finished(visit, value)
    }
    if (declared?.type !== 'time') return end()
    const { delay } = declared
    const ms = typeof delay === 'function' ? delayMs(delay, value) : milliseconds('delay', delay)
    if (typeof ms !== 'number') return this.#fail(visit, 'failed', ms)
    visit.returned = { value }
    this.#awaitTime(visit, this.clock.now + ms, end)
  }

  #awaitTime(visit: Visit, untilMs: number, done: (ending: Ending) => unknown): void {
    const finish = this.#wait(visit, 'time', 'time', done)
    this.#plan(untilMs, () => finish({ outcome: 'time' }))
  }

  /** With `many` it is opened so often, and gives the list of what came, also of what came before its time was over. */
  async #awaitTrigger(visit: Visit, trigger: MadeTrigger, timeoutMs: number | undefined, done: (ending: Ending) => unknown, many?: number): Promise<void> {
    const finish = this.#wait(visit, 'trigger', trigger.id, done)
    const fromMs = this.clock.now
    const answers: Opened[] = []
    const wanted = many ?? 1
    while (answers.length < wanted) {
      const answer = await opened(this.options.triggers, trigger)
      if (!answer) break
      answers.push(answer)
    }
    answers.sort((one, other) => one.afterMs - other.afterMs)
    const last = answers[wanted - 1]
    if (last && (timeoutMs === undefined || last.afterMs <= timeoutMs)) {
      const payloads = answers.map(({ payload }) => payload)
      this.#plan(fromMs + last.afterMs, () => finish({ outcome: 'trigger', value: many ? payloads : payloads[0] }))
    } else if (timeoutMs !== undefined) {
      const inTime = answers.filter(({ afterMs }) => afterMs <= timeoutMs).map(({ payload }) => payload)
      this.#plan(fromMs + timeoutMs, () => finish({ outcome: 'timeout', ...(many && inTime.length && { value: inTime }) }))
    }
  }

  #awaitEvent(
    visit: Visit,
    kind: string,
    fits: (event: SeenEvent) => boolean,
    lookback: number | 'run' | undefined,
    timeoutMs: number | undefined,
    done: (ending: Ending) => unknown,
  ): void {
    const finish = this.#wait(visit, 'event', kind, done)
    // All that there is was seen by this run, since it began.
    const sinceMs = typeof lookback === 'number' ? this.clock.now - lookback : 0
    // What code waits for is given to the run once, and is not what entered the step.
    const isCode = visit.isBegun
    const visits = isCode ? this.visits : [visit]
    const isFresh = (event: SeenEvent): boolean => !(isCode && event === visit.enteredBy) && !visits.some(({ awaits }) => awaits.some(({ value }) => value === event))
    const before = lookback ? this.#events.find((event) => event.kind === kind && Date.parse(event.ts) >= sinceMs && isFresh(event) && fits(event)) : undefined
    if (before) {
      this.#plan(this.clock.now, () => finish({ outcome: 'event', value: before }))
      return
    }
    const open: Open = {
      visit,
      kind,
      fits,
      settle: (event) => {
        this.#open.delete(open)
        this.#plan(this.clock.now, () => finish({ outcome: 'event', value: event }))
        if (timeout) this.#forget(timeout)
      },
    }
    this.#open.add(open)
    const expire = (): unknown => {
      this.#open.delete(open)
      return finish({ outcome: 'timeout' })
    }
    const timeout = timeoutMs === undefined ? undefined : this.#plan(this.clock.now + timeoutMs, expire)
  }

  #forget(due: Due): void {
    const at = this.#agenda.indexOf(due)
    if (at >= 0) this.#agenda.splice(at, 1)
  }

  /** Notes that a wait has begun; gives what is to be called when it is over. */
  #wait(visit: Visit, type: SimulatedAwait['type'], name: string, done: (ending: Ending) => unknown): (ending: Ending) => unknown {
    const wait = visit.began(type, name)
    return (ending) => {
      if (!visit.isActive) return
      const waitedMs = this.clock.now - Date.parse(wait.from)
      Object.assign(wait, { until: new Date().toISOString(), waitedMs }, ending)
      return done(ending)
    }
  }

  /** Gives the first of the ready events that somebody waits for, or else that enters a step or undoes one. */
  #takeReady(): boolean {
    const asSeen = (given: GivenEvent): SeenEvent => seen(given, this.clock.now, this.#events.length)
    const isWanted = (event: SeenEvent): boolean => this.#entered(event).length > 0 || this.#undoing.isCalledBy(event.kind)
    const wanted = this.#ready.find((given) => this.#openFor(asSeen(given)).length) ?? this.#ready.find((given) => isWanted(asSeen(given)))
    if (!wanted) return false
    this.#ready.splice(this.#ready.indexOf(wanted), 1)
    this.#given(wanted)
    return true
  }

  #given(event: GivenEvent): void {
    this.#arrive(seen(event, this.clock.now, this.#events.length))
  }

  #arrive(event: FlowRun['events'][number]): void {
    const open = this.#openFor(event)
    const entered = this.#entered(event)
    const undone = this.#undoing.calledBy(event.kind)
    this.#events.push(event)
    if (!open.length && !entered.length && !undone.length) this.#unclaimed.push(event)
    for (const one of open) one.settle(event)
    for (const { step, input } of entered) this.#enterBy(step, event, input)
    for (const undo of undone) this.#undo(undo)
  }

  #openFor(event: SeenEvent): Open[] {
    return [...this.#open].filter((open) => open.kind === event.kind && open.fits(event))
  }

  #entered(event: SeenEvent): { step: PlannedStep; input: unknown }[] {
    // A run that undoes what it did begins nothing new.
    if (this.#undoing.hasBegun) return []
    const ctx = this.#context()
    const found: { step: PlannedStep; input: unknown }[] = []
    for (const step of this.steps.values()) {
      for (const [number, { eventKind, when, map }] of step.subscriptions.entries()) {
        if (eventKind !== event.kind) continue
        const entry = this.#judged(`subscription ${number} of step ${JSON.stringify(step.name)}`, step, () => {
          if (when !== undefined && !evaluate(when, { event, ctx })) return undefined
          return { step, input: map === undefined ? event.data : evaluate(map, { event, ctx }) }
        })
        if (!entry) continue
        found.push(entry)
        // It enters a step once: by the first that holds.
        break
      }
    }
    return found
  }

  #enterBy(step: PlannedStep, event: SeenEvent, input: unknown): void {
    if (step.join !== 'all') {
      this.enter(step, input).enteredBy = event
      return
    }
    this.#held.push({ step: step.name, kind: event.kind, input })
    const kinds = new Set(step.subscriptions.map(({ eventKind }) => eventKind))
    const firsts = [...kinds].map((wanted) => this.#held.find((held) => held.step === step.name && held.kind === wanted))
    if (!firsts.every((held) => held !== undefined)) return
    for (const held of firsts) this.#held.splice(this.#held.indexOf(held), 1)
    this.enter(step, Object.fromEntries(firsts.map((held) => [held.kind, held.input ?? null])))
  }

  #fitsDeclared({ where }: AwaitConfig & { type: 'event' }, event: SeenEvent, visit: Visit): boolean {
    const ctx = { ...this.#context(), input: visit.input }
    return this.#where(where, { event, ctx }, visit, event.kind)
  }

  #where(where: string | Function | undefined, args: Record<string, unknown>, { step }: Visit, kind: string): boolean {
    return where === undefined || Boolean(this.#judged(`the where of the await of event ${kind}`, step, () => evaluate(where, args)))
  }

  /** What an expression says of an event. If it throws, the event is passed over, and the run says so once. */
  #judged<T>(what: string, step: PlannedStep, judge: () => T): T | undefined {
    try {
      return judge()
    } catch (error) {
      if (error instanceof RiverrunError) throw error
      const warning = { code: 'EXPRESSION_ERROR', message: `${what}: ${describe(error).message}`, step: step.name }
      if (!this.#warnings.some(({ message }) => message === warning.message)) this.#warnings.push(warning)
      return undefined
    }
  }

  #tooLate(visit: Visit, { onTimeout }: { onTimeout?: string }, soFar: unknown): void {
    const { code = '', message } = timedOut(visit.step.await?.type ?? 'event')
    if (onTimeout === undefined) return this.#fail(visit, 'failed', new RiverrunError(code, message, { retriable: false }))
    const step = this.steps.get(onTimeout) as PlannedStep
    visit.end({ status: 'timeout' })
    this.enter(step, visit.input).soFar = soFar
  }

  /** The first failure is the run's; one while it undoes things is only recorded. */
  #fail(visit: Visit, status: 'failed' | 'cancelled', error: unknown): void {
    visit.end({ status, error })
    if (this.#error === undefined) {
      this.#error = error
      this.#reason = reason(describe(error), visit.step.name)
    }
    if (this.entry.onFailure === 'finish' || this.#undoing.hasBegun) return
    this.#cancelAll()
  }

  /** The run has made as many visits as it may: it fails, whatever its steps say of failures. */
  #stop(): void {
    this.#error = tooManySteps(this.#limits.maxSteps)
    this.#reason = reason(describe(this.#error))
    this.#cancelAll()
  }

  /** Cancels what is active, the last entered first. What only lets its time pass has done its work, which is undone. */
  #cancelAll(): void {
    for (const visit of this.visits.filter(({ isActive }) => isActive).reverse()) {
      for (const open of this.#open) if (open.visit === visit) this.#open.delete(open)
      visit.end({ status: 'cancelled' })
      if (visit.returned) this.#undoing.finished(visit, visit.returned.value)
    }
  }

  #undo({ step: name, visit, input }: Undo): void {
    this.enter(this.steps.get(name) as PlannedStep, input, visit)
  }

  #context(): { runId: string; flowName: string; input: unknown; state: Record<string, unknown> } {
    return { runId: this.options.runId ?? 'run-0', flowName: this.flow, input: this.options.input ?? null, state: this.store.state }
  }

  #report(): FlowRun {
    const status = this.#error === undefined ? (this.#isActive ? 'waiting' : 'completed') : this.#isActive ? 'waiting' : 'failed'
    return {
      status,
      ...(this.#error !== undefined && { error: this.#error }),
      visits: this.visits.map((visit) => visit.report()),
      events: this.#events,
      unclaimed: this.#unclaimed,
      warnings: this.#warnings,
      state: this.store.state,
      startedAt: new Date(this.#startMs).toISOString(),
      endedAt: new Date(this.clock.now).toISOString(),
      elapsedMs: this.clock.now - this.#startMs,
    }
  }
}

function timedOut(type: string): Failure {
  return { code: 'AWAIT_TIMEOUT', message: `the ${type} did not come in time` }
}

/** What a function says of how long to wait, or why that cannot be. */
function delayMs(delay: Function, result: unknown): number | RiverrunError {
  let wanted: unknown
  let problem = 'the delay is not a number of milliseconds up to ten years'
  try {
    wanted = evaluate(delay, { result })
  } catch (error) {
    if (error instanceof RiverrunError) throw error
    problem = describe(error).message
  }
  const fits = typeof wanted === 'number' && wanted >= 0 && wanted <= longestMs
  return fits ? Math.round(wanted as number) : new RiverrunError('INPUT_ERROR', problem, { retriable: false })
}
