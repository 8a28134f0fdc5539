/**
 * One visit of a step: its handler is called, really again and again, with what it did before.
 */

import { InvocationContext } from '../ctx/invocation.ts'
import type { Link } from '../ctx/link.ts'
import { redactor } from '../ctx/redact.ts'
import { RiverrunError } from '../errors.ts'
import type { Failure, InvokeParams, Suspended } from '../wire.ts'
import type { FakeClock } from './clock.ts'
import { effects, type Outcome, settled } from './execute.ts'
import { copy, Memory, type Effects, type MemoryOptions, type RunRetry, type Store } from './memory.ts'
import type { PlannedStep } from './plan.ts'
import { mostAttempts } from './retry.ts'
import { checkOutput, givenInput } from './schemas.ts'

/** A wait, with the simulated times at which it began and ended. */
export interface SimulatedAwait {
  type: 'time' | 'event' | 'trigger'
  /** `time`, the kind of the event, or the id of the trigger. */
  name: string
  from: string
  /** Absent while it lasts. */
  until?: string
  waitedMs?: number
  outcome: 'time' | 'event' | 'trigger' | 'timeout' | 'waiting'
  value?: unknown
}

/** A try that failed and was followed by another. */
export interface SimulatedRetry {
  attempt: number
  error: any
  /** When it failed, and how long it was waited until the next try. */
  failedAt: string
  delayMs: number
}

export interface VisitRun<Value = any> extends Readonly<Effects> {
  step: string
  visit: number
  input: unknown
  /** The finished visit that this one undoes. */
  undoes?: { step: string; visit: number }
  status: 'completed' | 'failed' | 'cancelled' | 'timeout' | 'waiting'
  value?: Value
  error?: any
  awaits: SimulatedAwait[]
  /** How often it was tried: 1, and 1 more for each of `retries`. */
  attempt: number
  retries: SimulatedRetry[]
  /** Tries of `ctx.run` and the like that failed and were followed by another. */
  runRetries: readonly RunRetry[]
  /** How often the handler was called, over all attempts. */
  executions: number
  startedAt: string
  endedAt: string
}

/** What one execution says and asks. Once it has failed, nothing that it left running is recorded. */
class ExecutionLink implements Link {
  ended = false

  constructor(readonly memory: Memory) {}

  async request(method: string, params: Record<string, unknown>): Promise<any> {
    if (this.ended) throw new RiverrunError('INVOCATION_ENDED', `${method} came after the handler had ended`)
    return this.memory.request(method, params)
  }

  notify(method: string, params: Record<string, unknown>): void {
    if (!this.ended) this.memory.notify(method, params)
  }
}

export class Visit {
  readonly awaits: SimulatedAwait[] = []
  readonly retries: SimulatedRetry[] = []
  readonly memory: Memory
  /** As it was when the visit was entered: each execution is given its own. */
  readonly input: unknown
  readonly startedAt = new Date().toISOString()
  awaited: unknown
  /** The event that entered it. */
  enteredBy: unknown
  /** What had come of the await whose timeout led here: it is `awaited`, until its own await brings something. */
  soFar: unknown
  /** What the handler gave, of a visit that lets its declared time pass. */
  returned: { value: unknown } | undefined
  /** Attempts that failed since the code last went on after a wait. */
  failures = 0
  /** Waits of its code that are over. */
  awaitsOver = 0
  outcome: Pick<VisitRun, 'status' | 'value' | 'error'> = { status: 'waiting' }
  #executions = 0
  #endedAt: string | undefined

  constructor(
    readonly step: PlannedStep,
    readonly number: number,
    input: unknown,
    readonly run: { runId: string; flow: string; tenantId?: string | undefined; correlationId?: string | undefined },
    readonly options: MemoryOptions,
    store: Store,
    readonly undoes?: { step: string; visit: number },
  ) {
    this.input = copy(input)
    this.memory = new Memory({ ...options, journal: [], state: {}, retryPolicy: step.config.retryPolicy, hasClock: true }, step.checks ?? {}, store, true)
  }

  /** Calls the handler. Gives how it ended, or what it waits for. */
  async execute(clock: FakeClock): Promise<Outcome | Suspended> {
    this.#executions += 1
    const { level = 'debug', redact } = this.step.config.logger ?? {}
    const link = new ExecutionLink(this.memory)
    const ctx = new InvocationContext(link, this.#params(), { level, redact: redactor(redact) })
    const execution = ctx.execution as NonNullable<typeof ctx.execution>
    const left = new Promise<Outcome | Suspended>((resolve) => {
      execution.onLeave = (outcome, seen) => {
        this.memory.journal.push(...seen)
        resolve(outcome instanceof RiverrunError ? { status: 'failed', error: outcome } : outcome)
      }
    })
    const ended = settled(this.#call(ctx, link), ctx)
    return clock.run(Promise.race([left, ended]))
  }

  /** Whether its handler has been called. */
  get isBegun(): boolean {
    return this.#executions > 0
  }

  get attempt(): number {
    return this.retries.length + 1
  }

  /** The number that the last attempt would have: those before a wait that is over do not count. */
  get #maxAttempts(): number {
    return this.attempt + mostAttempts(this.step.config.retryPolicy) - 1 - this.failures
  }

  /** The next execution is another attempt. */
  failed(error: unknown, delayMs: number): void {
    this.failures += 1
    this.retries.push({ attempt: this.attempt, error, failedAt: new Date().toISOString(), delayMs })
  }

  began(type: SimulatedAwait['type'], name: string): SimulatedAwait {
    const wait: SimulatedAwait = { type, name, from: new Date().toISOString(), outcome: 'waiting' }
    this.awaits.push(wait)
    return wait
  }

  /** What a wait has brought: the next execution is given it. */
  settle(name: string, outcome: { value: unknown } | { error: Failure }): void {
    this.memory.journal.push({ op: 'await', name, ...outcome })
    this.failures = 0
    this.awaitsOver += 1
  }

  report(): VisitRun {
    const { step, number, input, awaits, attempt, retries, startedAt, outcome, memory, undoes } = this
    const executions = this.#executions
    return { step: step.name, visit: number, input, ...(undoes && { undoes }), ...outcome, awaits, attempt, retries, runRetries: memory.runRetries, executions, startedAt, endedAt: this.#endedAt ?? new Date().toISOString(), ...effects(memory) }
  }

  get isActive(): boolean {
    return this.#endedAt === undefined
  }

  end(outcome: Visit['outcome']): void {
    this.outcome = outcome
    this.#endedAt = new Date().toISOString()
    this.memory.ended = true
  }

  async #call(ctx: InvocationContext, link: ExecutionLink): Promise<unknown> {
    const execution = ctx.execution as NonNullable<typeof ctx.execution>
    const { checks = {} } = this.step
    try {
      const input = await givenInput(checks, copy(this.input))
      const value = await this.step.handler(this.step.takes === 'job' ? this.#job(input) : input, ctx)
      const problem = await execution.returned()
      if (problem) throw problem
      return checkOutput(checks, value)
    } catch (error) {
      execution.threw()
      link.ended = true
      throw error
    }
  }

  #job(data: unknown): object {
    const { name } = this.step
    return { id: `job-${this.number}`, name, queue: name, data, attempt: this.attempt, maxAttempts: this.#maxAttempts, enqueuedAt: this.startedAt }
  }

  #params(): InvokeParams {
    const { runId, flow, tenantId, correlationId = runId } = this.run
    return {
      file: '',
      kind: 'step',
      process: this.step.name,
      jobId: `job-${this.number}`,
      queue: this.step.name,
      input: this.input,
      attempt: this.attempt,
      maxAttempts: this.#maxAttempts,
      runId,
      flow,
      step: this.step.name,
      visit: this.number,
      correlationId,
      tenantId,
      awaited: copy(this.awaited === undefined ? this.soFar : this.awaited),
      checkpoint: this.memory.checkpoint,
      journal: copy(this.memory.journal),
      retries: this.memory.retries,
    }
  }
}
