/**
 * A run of a flow in memory: what steps emit enters the steps that subscribe to it, waits jump the
 * clock, until nothing is active. A step is tried once; compensation is left to the server.
 */

import type { AwaitConfig } from '../config.ts'
import { RiverrunError } from '../errors.ts'
import { getAt } from '../live/path.ts'
import type { Failure, Suspended } from '../wire.ts'
import { FakeClock } from './clock.ts'
import type { Executable } from './execute.ts'
import { evaluate } from './expression.ts'
import { arrivalMs, type GivenEvent, matches, milliseconds, opened, seen, type SeenEvent, type Triggers } from './given.ts'
import { type MadeTrigger, type MemoryOptions, Store } from './memory.ts'
import { entryOf, plan, type PlannedStep } from './plan.ts'
import { type SimulatedAwait, Visit, type VisitRun } from './visit.ts'

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
  state: Record<string, unknown>
  startedAt: string
  endedAt: string
  elapsedMs: number
}

export async function runFlow(steps: Executable[] | Record<string, Executable>, options: FlowOptions = {}): Promise<FlowRun> {
  const planned = plan(steps, options.flow)
  const entry = entryOf(planned.steps, options.entry)
  return simulate(options, async (clock) => {
    const run = new Simulation(planned.flow, planned.steps, options, clock)
    run.enter(entry, options.input)
    return run.play()
  })
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
  #waiting = 0
  #error: unknown
  #stopped = false

  constructor(
    readonly flow: string,
    readonly steps: Map<string, PlannedStep>,
    readonly options: FlowOptions,
    readonly clock: FakeClock,
  ) {
    this.store = new Store(options.state)
    this.#startMs = clock.now
    const events = options.events ?? []
    this.#ready = events.filter(({ at }) => at === undefined)
    for (const event of events) {
      const atMs = arrivalMs(event, this.#startMs)
      if (atMs !== undefined) this.#plan(atMs, () => this.#given(event))
    }
  }

  enter(step: PlannedStep, input: unknown): void {
    const number = this.visits.filter((visit) => visit.step === step).length + 1
    const run = { runId: this.options.runId ?? 'run-0', flow: this.flow, tenantId: this.options.tenantId, correlationId: this.options.correlationId }
    const visit = new Visit(step, number, input ?? null, run, this.options, this.store)
    this.visits.push(visit)
    this.#plan(this.clock.now, () => this.#begin(visit))
  }

  async play(): Promise<FlowRun> {
    // What comes when nothing is active comes too late: the run has ended.
    while (!this.#stopped && this.visits.some(({ isActive }) => isActive)) {
      const due = this.#agenda[0]
      if (due && due.atMs <= this.clock.now) await this.#act()
      else if (this.#takeReady()) continue
      else if (due) await this.#act()
      else break
    }
    return this.#report()
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
    const { await: declared } = visit.step
    if (!declared || declared.type === 'time' || visit.awaited !== undefined) return this.#execute(visit)
    const done = (ending: Ending): unknown => {
      if (ending.outcome === 'timeout') return this.#tooLate(visit, declared)
      visit.awaited = ending.value
      return this.#execute(visit)
    }
    const timeoutMs = declared.timeout === undefined ? undefined : milliseconds('timeout', declared.timeout)
    if (declared.type === 'trigger') {
      const trigger = this.store.makeTrigger(declared.triggerType ?? 'webhook', declared.payload)
      return this.#awaitTrigger(visit, trigger, timeoutMs, done)
    }
    const lookbackMs = declared.lookback === undefined ? 0 : milliseconds('lookback', declared.lookback)
    this.#awaitEvent(visit, declared.eventKind, (event) => this.#fitsDeclared(declared, event, visit), lookbackMs, timeoutMs, done)
  }

  async #execute(visit: Visit): Promise<void> {
    const before = visit.memory.events.length
    const outcome = await visit.execute(this.clock)
    for (const { type, data, ts } of visit.memory.events.slice(before)) {
      const event = seen({ type, data, runId: visit.run.runId }, Date.parse(ts), this.#events.length)
      this.#arrive({ ...event, flowName: this.flow, stepName: visit.step.name })
    }
    if ('type' in outcome) await this.#suspend(visit, outcome)
    else if (outcome.status !== 'completed') this.#fail(visit, outcome.status, outcome.error)
    else this.#afterHandler(visit, outcome.value)
  }

  async #suspend(visit: Visit, wait: Suspended): Promise<void> {
    const name = wait.type === 'time' ? 'time' : wait.type === 'event' ? wait.eventKind : wait.triggerId
    const done = ({ outcome, value = null }: Ending): unknown => {
      visit.settle(name, outcome === 'timeout' ? { error: timedOut(wait.type) } : { value })
      return this.#execute(visit)
    }
    if (wait.type === 'time') return this.#awaitTime(visit, Date.parse(wait.resumeAt), done)
    if (wait.type === 'trigger') return this.#awaitTrigger(visit, this.store.triggers.get(wait.triggerId) as MadeTrigger, wait.timeoutMs, done)
    const fits = (event: SeenEvent): boolean => {
      const args = { event, ctx: { ...this.#context(), input: visit.input }, input: visit.input }
      return matches(wait.match ?? {}, event) && (wait.where === undefined || Boolean(evaluate(wait.where, args)))
    }
    this.#awaitEvent(visit, wait.eventKind, fits, wait.lookbackMs ?? 0, wait.timeoutMs, done)
  }

  #afterHandler(visit: Visit, value: unknown): void {
    const { await: declared } = visit.step
    const end = (): void => visit.end({ status: 'completed', value })
    if (declared?.type !== 'time') return end()
    const { delay } = declared
    const wanted = typeof delay === 'function' ? evaluate(delay, { result: value }) : delay
    this.#awaitTime(visit, this.clock.now + milliseconds('delay', wanted), end)
  }

  #awaitTime(visit: Visit, untilMs: number, done: (ending: Ending) => unknown): void {
    const finish = this.#wait(visit, 'time', 'time', done)
    this.#plan(untilMs, () => finish({ outcome: 'time' }))
  }

  async #awaitTrigger(visit: Visit, trigger: MadeTrigger, timeoutMs: number | undefined, done: (ending: Ending) => unknown): Promise<void> {
    const finish = this.#wait(visit, 'trigger', trigger.id, done)
    const fromMs = this.clock.now
    const answer = await opened(this.options.triggers, trigger)
    if (answer && (timeoutMs === undefined || answer.afterMs <= timeoutMs)) {
      this.#plan(fromMs + answer.afterMs, () => finish({ outcome: 'trigger', value: answer.payload }))
    } else if (timeoutMs !== undefined) this.#plan(fromMs + timeoutMs, () => finish({ outcome: 'timeout' }))
  }

  #awaitEvent(
    visit: Visit,
    kind: string,
    fits: (event: SeenEvent) => boolean,
    lookbackMs: number,
    timeoutMs: number | undefined,
    done: (ending: Ending) => unknown,
  ): void {
    const finish = this.#wait(visit, 'event', kind, done)
    const sinceMs = this.clock.now - lookbackMs
    const before = lookbackMs ? this.#events.find((event) => event.kind === kind && Date.parse(event.ts) >= sinceMs && fits(event)) : undefined
    if (before) {
      this.#plan(this.clock.now, () => finish({ outcome: 'event', value: before }))
      return
    }
    const open: Open = {
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
    this.#waiting += 1
    return (ending) => {
      this.#waiting -= 1
      const waitedMs = this.clock.now - Date.parse(wait.from)
      Object.assign(wait, { until: new Date().toISOString(), waitedMs }, ending)
      return done(ending)
    }
  }

  /** Gives the first of the ready events that somebody waits for, or else that enters a step. */
  #takeReady(): boolean {
    const asSeen = (given: GivenEvent): SeenEvent => seen(given, this.clock.now, this.#events.length)
    const wanted = this.#ready.find((given) => this.#openFor(asSeen(given)).length) ?? this.#ready.find((given) => this.#entered(asSeen(given)).length)
    if (!wanted) return false
    this.#ready.splice(this.#ready.indexOf(wanted), 1)
    this.#given(wanted)
    return true
  }

  #given(event: GivenEvent): void {
    this.#arrive(seen(event, this.clock.now, this.#events.length))
  }

  #arrive(event: FlowRun['events'][number]): void {
    if (this.#stopped) return
    this.#refuseCompensation((step) => [step.compensation?.on ?? []].flat().includes(event.kind))
    const open = this.#openFor(event)
    const entered = this.#entered(event)
    this.#events.push(event)
    if (!open.length && !entered.length) this.#unclaimed.push(event)
    for (const one of open) one.settle(event)
    for (const { step, input } of entered) this.#enterBy(step, event.kind, input)
  }

  #openFor(event: SeenEvent): Open[] {
    return [...this.#open].filter((open) => open.kind === event.kind && open.fits(event))
  }

  #entered(event: SeenEvent): { step: PlannedStep; input: unknown }[] {
    const ctx = this.#context()
    const found: { step: PlannedStep; input: unknown }[] = []
    for (const step of this.steps.values()) {
      for (const { eventKind, when, map } of step.subscriptions) {
        const condition = typeof when === 'object' ? when.where : when
        if (eventKind !== event.kind || (condition !== undefined && !evaluate(condition, { event, ctx }))) continue
        found.push({ step, input: map === undefined ? event.data : evaluate(map, { event, ctx }) })
      }
    }
    return found
  }

  #enterBy(step: PlannedStep, kind: string, input: unknown): void {
    if (step.join !== 'all') return this.enter(step, input)
    this.#held.push({ step: step.name, kind, input })
    const kinds = new Set(step.subscriptions.map(({ eventKind }) => eventKind))
    const firsts = [...kinds].map((wanted) => this.#held.find((held) => held.step === step.name && held.kind === wanted))
    if (!firsts.every((held) => held !== undefined)) return
    for (const held of firsts) this.#held.splice(this.#held.indexOf(held), 1)
    this.enter(step, Object.fromEntries(firsts.map((held) => [held.kind, held.input ?? null])))
  }

  #fitsDeclared({ where, match }: AwaitConfig & { type: 'event' }, event: SeenEvent, visit: Visit): boolean {
    const ctx = { ...this.#context(), input: visit.input }
    const values = Object.entries(match ?? {}).map(([path, wanted]) => [path, typeof wanted === 'string' ? getAt({ input: ctx.input, state: ctx.state }, wanted) : wanted.value])
    return matches(Object.fromEntries(values), event) && (where === undefined || Boolean(evaluate(where, { event, ctx })))
  }

  #tooLate(visit: Visit, { onTimeout }: { onTimeout?: string }): void {
    const { code = '', message } = timedOut(visit.step.await?.type ?? 'event')
    if (onTimeout === undefined) return this.#fail(visit, 'failed', new RiverrunError(code, message, { retriable: false }))
    const step = this.steps.get(onTimeout)
    if (!step) throw new Error(`step ${visit.step.name} has onTimeout: ${onTimeout}, and there is no such step`)
    visit.end({ status: 'timeout' })
    this.enter(step, visit.input)
  }

  #fail(visit: Visit, status: 'failed' | 'cancelled', error: unknown): void {
    visit.end({ status, error })
    this.#error ??= error
    this.#refuseCompensation(() => true)
    const finishes = [...this.steps.values()].some(({ onFailure }) => onFailure === 'finish')
    if (!finishes) this.#stopped = true
  }

  /** The server undoes what was done; a test that gets so far must not pass without it. */
  #refuseCompensation(calls: (step: PlannedStep) => boolean): void {
    const undone = this.visits.find(({ step, outcome }) => outcome.status === 'completed' && step.compensation && calls(step))
    if (!undone) return
    const { name, compensation } = undone.step
    throw new Error(`runFlow does not play compensation, and here step ${name} would be undone by ${compensation?.step}: test that step with runStep, and the saga with a server`, { cause: this.#error })
  }

  #context(): { runId: string; flowName: string; input: unknown; state: Record<string, unknown> } {
    return { runId: this.options.runId ?? 'run-0', flowName: this.flow, input: this.options.input ?? null, state: this.store.state }
  }

  #report(): FlowRun {
    const status = this.#error !== undefined ? 'failed' : this.#waiting ? 'waiting' : 'completed'
    return {
      status,
      ...(this.#error !== undefined && { error: this.#error }),
      visits: this.visits.map((visit) => visit.report()),
      events: this.#events,
      unclaimed: this.#unclaimed,
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
