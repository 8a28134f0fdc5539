/**
 * Plays a run on the engine: this process is its worker. What handlers ask for goes to the engine;
 * what a test wants to see of it is kept, and what a test answers itself (`calls`, `conflicts`,
 * `leaseValid`, `stateSchema`) does not get there.
 */

import { hostname } from 'node:os'
import type { Enqueued, NewJob } from '../context.ts'
import { RiverrunError } from '../errors.ts'
import type { Invocation } from '../runner/invocation.ts'
import { Invocations, type Voice } from '../runner/invocations.ts'
import type { Processes } from '../runner/modules.ts'
import { version } from '../version.ts'
import { deleteAt, setAt } from '../live/path.ts'
import { type InvokeParams, protocolVersion } from '../wire.ts'
import { Session } from '../worker/session.ts'
import type { FakeClock } from './clock.ts'
import { theEngine } from './engine.ts'
import { opened, type Triggers } from './given.ts'
import { type Effects, isSameJob, type MadeTrigger, type MemoryOptions } from './memory.ts'
import { issueText } from './schemas.ts'
import { writeCheck } from './state-check.ts'

type Params = Record<string, any>

/** More than any test runs at once. */
const credits = 4096

/** What handlers of one visit did. */
export interface Traces extends Effects {
  executions: number
}

export interface Played {
  report: any
  /** By the step and the number of its visit. */
  traces: Map<string, Traces>
}

export interface PlayOptions extends Pick<MemoryOptions, 'calls' | 'conflicts' | 'leaseValid' | 'stateSchema'> {
  triggers?: Triggers
  awaited?: unknown
}

export function visitKey(step: string, visit: number): string {
  return `${step} ${visit}`
}

export async function play(request: object, processes: Processes, clock: FakeClock, options: PlayOptions): Promise<Played> {
  const engine = theEngine()
  const session = new Session(credits)
  const recorder = new Recorder(session, options)
  const invocations = new Invocations(recorder)
  let isOver = false
  let hasEnded = false
  let changes = 0
  let asks = 0
  let wake = (): void => {}
  const change = (): void => {
    changes += 1
    wake()
  }
  recorder.onChange = change
  clock.onTimer = change
  const answer = (id: number, result: object): void => engine.send(JSON.stringify({ id, result }))

  const receive = (message: any, settle: { resolve(report: any): void; reject(error: unknown): void }): void => {
    const { id, method, params = {} } = message
    hasEnded ||= message.kit === 'played' || message.kit === 'failed'
    if (message.kit === 'time') clock.jump(message.ms)
    else if (message.kit === 'callback') {
      asks += 1
      answersOf(options.triggers, message.callback, message.count)
        .then((answers) => engine.send(JSON.stringify({ kit: 'opened', answers })), settle.reject)
        .finally(() => {
          asks -= 1
          change()
        })
    } else if (message.kit === 'played') settle.resolve(message.report)
    else if (message.kit === 'failed') settle.reject(new RiverrunError(message.error.code, message.error.message, message.error))
    else if (method === undefined) session.settle(message)
    else if (method === 'initialise') {
      invocations.limits = { ...invocations.limits, ...params.limits }
      session.connected({ send: (text: string) => isOver || engine.send(text) } as any)
      answer(id, {
        protocol: protocolVersion,
        sdk: { name: 'riverrun', version, language: 'typescript' },
        runtime: `node ${process.versions.node}`,
        pid: process.pid,
        worker: { name: `test-${hostname()}-${process.pid}`, tags: [] },
        processes: [...processes].map(([process, { config }]) => ({ id: process, config })),
        credits,
      })
    } else if (method === 'invoke') {
      const given: InvokeParams = options.awaited === undefined ? params : { ...params, awaited: options.awaited }
      recorder.begun(id, given)
      const invocation = invocations.add(id, given)
      const process = processes.get(given.process ?? '')
      if (process) invocations.execute(invocation, process)
      else invocations.fail(invocation, new RiverrunError('PROCESS_NOT_FOUND', `the test has no process ${given.process}`, { retriable: false }))
    } else if (method === 'cancel') invocations.cancel(params.invocation, params.reason)
    else if (id !== undefined) answer(id, {})
    change()
  }

  /** Where all handlers that run sleep, time moves to the end of the first sleep, or as far as the engine has nothing to do. */
  const passTime = async (): Promise<void> => {
    while (!isOver) {
      const before = changes
      await breathe()
      if (isOver || changes !== before || isAboutToGoOn()) continue
      const running = [...invocations.running.values()].filter(({ ctx }) => !ctx?.cancelled).map(({ id }) => id)
      const timer = running.length || asks ? clock.nextTimerMs() : undefined
      // The engine waits for the answers to its callbacks: while they take their time, no other passes.
      if (timer !== undefined && (timer <= clock.now || (asks && !running.length))) {
        clock.fireNext()
        continue
      }
      if (timer !== undefined && !asks && !recorder.waits(invocations.running.values())) engine.send(JSON.stringify({ kit: 'sleep', untilMs: timer, running }))
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  try {
    const playing = new Promise<any>((resolve, reject) => {
      engine.listen({ receive: (message) => receive(message, { resolve, reject }), gone: reject })
      engine.send(JSON.stringify({ kit: 'play', ...request }))
    })
    void passTime()
    return { report: await playing, traces: recorder.traces }
  } catch (error) {
    // Of a run that the test gave up the engine does not know.
    if (!hasEnded) engine.stop()
    throw error
  } finally {
    isOver = true
    invocations.cancelAll('shutdown')
    clock.onTimer = () => {}
    wake()
    engine.release()
  }
}

/** A request of a handler that the engine has not answered. */
interface Question {
  method: string
  invocation: number
}

/** Talks to the engine for handlers, and keeps what they did. */
class Recorder implements Voice {
  readonly traces = new Map<string, Traces>()
  readonly #open = new Set<Question>()
  onChange: () => void = () => {}
  readonly #session: Session
  readonly #options: PlayOptions
  readonly #visits = new Map<number, Traces>()
  #conflicts: number

  constructor(session: Session, options: PlayOptions) {
    this.#session = session
    this.#options = options
    this.#conflicts = options.conflicts ?? 0
  }

  begun(id: number, { step, visit, process }: InvokeParams): void {
    const key = visitKey(step ?? process ?? '', visit ?? 1)
    let traces = this.traces.get(key)
    if (!traces) this.traces.set(key, (traces = { logs: [], events: [], progress: [], partials: [], enqueued: [], calls: [], started: [], executions: 0 }))
    traces.executions += 1
    this.#visits.set(id, traces)
  }

  async request(method: string, params: Params): Promise<unknown> {
    const traces = this.#visits.get(params.invocation) as Traces
    const asked = JSON.parse(JSON.stringify(params))
    const own = this.#own(method, asked, traces)
    if (own) return own()
    if (this.#options.stateSchema && method.startsWith('state.') && !method.startsWith('state.get') && method !== 'state.has') await this.#check(method, asked)
    const result: any = await this.#ask(method, params)
    if (method === 'emit') traces.events.push({ id: result.id, ts: new Date().toISOString(), type: asked.type, data: asked.data })
    return result
  }

  notify(method: string, params: Params): void {
    const { invocation, ...said } = JSON.parse(JSON.stringify(params))
    const traces = this.#visits.get(invocation)
    if (method === 'log') traces?.logs.push(said)
    else if (method === 'progress') traces?.progress.push(said)
    else if (method === 'partial') traces?.partials.push(said)
    this.#session.notify(method, params)
    this.onChange()
  }

  answer(id: number, result: string): void {
    this.#session.answer(id, result)
    this.onChange()
  }

  refuse(id: number, ...failure: [any, number?]): void {
    this.#session.refuse(id, ...failure)
    this.onChange()
  }

  /** What the test answers in place of the engine. */
  #own(method: string, { invocation: _, ...asked }: Params, traces: Traces): (() => unknown) | undefined {
    const { calls, leaseValid } = this.#options
    if (method === 'call') {
      traces.calls.push(asked as Effects['calls'][number])
      const answer = calls?.[asked.process]
      if (answer) return async () => ({ value: (await answer(asked.input)) ?? null })
    } else if (method === 'start') {
      const { flow, input, options } = asked
      const runId = options?.runId ?? `run-${traces.started.length + 1}`
      traces.started.push({ flow, input, options, runId })
      return () => ({ runId, created: true })
    } else if (method === 'enqueue') {
      const { jobs = [asked] } = asked
      return () => ({ jobs: jobs.map((job: NewJob) => enqueued(traces, job)) })
    } else if (method === 'lease' && leaseValid !== undefined) return () => ({ valid: leaseValid, untilMs: Date.now() + 30_000 })
    else if (asked.ifVersion !== undefined && this.#conflicts > 0) {
      this.#conflicts -= 1
      return () => Promise.reject(new RiverrunError('STATE_CONFLICT', 'the state has moved on', { details: { version: asked.ifVersion } }))
    }
    return undefined
  }

  async #check(method: string, asked: Params): Promise<void> {
    const { state }: any = await this.#ask('state.getAll', { invocation: asked.invocation })
    const values: [string, unknown][] = method === 'state.setBatch' ? Object.entries(asked.values) : [[asked.key, asked.value]]
    const next = method === 'state.delete' ? deleteAt(state, asked.key) : values.reduce((all, [key, value]) => setAt(all, key, value), state)
    const [issue, ...more] = writeCheck(this.#options.stateSchema, undefined)(state, next)
    if (issue) throw new RiverrunError('STATE_INVALID', `the write breaks the state's schema${issueText(issue)}`, { details: { issues: [issue, ...more] } })
  }

  /**
   * Whether the engine has something to answer at once. A call lasts as long as the handler that it
   * calls, which runs here too: if none does, it is about to come, or the answer is.
   */
  waits(running: Iterable<Invocation>): boolean {
    const all = [...running]
    const open = [...this.#open]
    if (open.some(({ method }) => method !== 'call')) return true
    const calls = open.filter(({ invocation }) => all.some(({ id }) => id === invocation)).length
    return calls > all.filter(({ params }) => params.kind === 'call').length
  }

  async #ask(method: string, params: Params): Promise<unknown> {
    const question = { method, invocation: params.invocation }
    this.#open.add(question)
    try {
      return await this.#session.request(method, params)
    } finally {
      this.#open.delete(question)
      this.onChange()
    }
  }
}

/** Jobs stay with the test: the queues that they are added to are those of another server. */
function enqueued({ enqueued }: Traces, job: NewJob): Enqueued {
  const { options = {}, queue } = job
  const same = enqueued.find((other) => isSameJob(other, queue, options))
  if (same) return { jobId: same.jobId, created: false }
  const jobId = options.jobId ?? `job-${enqueued.length + 1}`
  enqueued.push({ ...job, jobId })
  return { jobId, created: true }
}

/** Who answers a callback, how often it is waited for. */
async function answersOf(triggers: Triggers | undefined, trigger: MadeTrigger, count: number): Promise<object[]> {
  const answers: object[] = []
  for (let n = 0; n < count; n += 1) {
    const answer = await opened(triggers, trigger)
    if (!answer) break
    answers.push(answer)
  }
  return answers
}

const realImmediate = globalThis.setImmediate

/** Whether code goes on in the next turn of the event loop: an execution that ends takes several. */
function isAboutToGoOn(): boolean {
  return process.getActiveResourcesInfo().includes('Immediate')
}

async function breathe(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => realImmediate(resolve))
}
