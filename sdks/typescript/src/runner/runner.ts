/**
 * The runner's side of docs/protocol.md: answers the server's requests and runs handlers.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { CancelledError, type CancelReason, RiverrunError } from '../errors.ts'
import { describe } from '../failure.ts'
import type { Job } from '../context.ts'
import { version } from '../version.ts'
import { type BatchJob, type InvokeParams, type Limits, protocolVersion, type Suspended } from '../wire.ts'
import { batchText, valueText } from './answer.ts'
import { Invocation } from './invocation.ts'
import { Modules, type Process, type Processes } from './modules.ts'
import type { Output } from './output.ts'
import { type Listener, Peer } from './peer.ts'

const heartbeatMs = 10_000

type Params = Record<string, unknown>

export class Runner implements Listener {
  readonly peer: Peer
  /** Called with what the server takes and sends at most. */
  onLimits: (limits: Limits) => void = () => {}
  readonly #output: Output
  readonly #modules = new Modules()
  readonly #running = new Map<number, Invocation>()
  readonly #current = new AsyncLocalStorage<Invocation>()
  readonly #idle = new Set<() => void>()
  #limits: Limits = { messageBytes: 16 * 1024 * 1024, resultBytes: 1024 * 1024 }

  constructor(output: Output) {
    this.#output = output
    this.peer = new Peer(output, this)
    setInterval(() => this.#beat(), heartbeatMs).unref()
  }

  /** The invocation whose code is running now, if one is known. */
  get current(): Invocation | undefined {
    const current = this.#current.getStore()
    return current?.ended ? undefined : current
  }

  onRequest(id: number, method: string, params: Params): void {
    if (method === 'invoke') this.#invoke(id, params as unknown as InvokeParams)
    else if (method === 'load') this.#load(id, params as { file: string; revision?: number })
    else if (method === 'initialise') this.#initialise(id, params as { protocol?: number; limits?: Partial<Limits> })
    else if (method === 'drain') this.#drain(id, params as { graceMs?: number })
    else this.peer.refuse(id, { message: `there is no method ${method}` }, -32601)
  }

  onNotification(method: string, params: Params): void {
    if (method !== 'cancel') return
    this.#running.get(params.invocation as number)?.cancel((params.reason as CancelReason | undefined) ?? 'user')
  }

  /** Ends an invocation with an error that none of its handler's promises carries. */
  fail(invocation: Invocation, error: unknown): void {
    if (!invocation.ended) this.#failed(invocation, error)
  }

  cancelAll(reason: CancelReason): void {
    for (const invocation of this.#running.values()) invocation.cancel(reason)
  }

  #initialise(id: number, { protocol, limits }: { protocol?: number; limits?: Partial<Limits> }): void {
    if (protocol !== protocolVersion) {
      const message = `this SDK speaks version ${protocolVersion} of the protocol, the server ${protocol}`
      this.peer.refuse(id, { message, code: 'PROTOCOL_VERSION' })
      this.#output.finish(() => process.exit(1))
      return
    }
    this.#limits = { ...this.#limits, ...limits }
    this.peer.limitBytes = this.#limits.messageBytes
    this.onLimits(this.#limits)
    const answer = {
      protocol: protocolVersion,
      sdk: { name: 'riverrun', version, language: 'typescript' },
      runtime: `node ${process.versions.node}`,
      pid: process.pid,
    }
    this.peer.answer(id, JSON.stringify(answer))
  }

  #load(id: number, { file, revision }: { file: string; revision?: number }): void {
    this.#modules.load(file, revision).then(
      (processes) => {
        const list = [...processes].map(([name, { config }]) => ({ export: name, config }))
        this.peer.answer(id, JSON.stringify({ processes: list }))
      },
      (error) => this.peer.refuse(id, describe(error)),
    )
  }

  #invoke(id: number, params: InvokeParams): void {
    const invocation = new Invocation(id, params, this.peer)
    this.#running.set(id, invocation)
    const processes = this.#modules.loaded(params.file, params.revision)
    if (processes) {
      this.#execute(invocation, processes)
      return
    }
    this.#modules.load(params.file, params.revision).then(
      (loaded) => this.#execute(invocation, loaded),
      (error) => this.#failed(invocation, error),
    )
  }

  #execute(invocation: Invocation, processes: Processes): void {
    const { params } = invocation
    // It was told to stop while its module was being loaded.
    if (invocation.cancelledBefore) {
      this.#failed(invocation, new CancelledError(invocation.cancelledBefore))
      return
    }
    const process = processes.get(params.export ?? 'default')
    if (!process) {
      const message = `${params.file} exports no handler under the name ${params.export ?? 'default'}`
      this.#failed(invocation, new RiverrunError('HANDLER_NOT_FOUND', message, { retriable: false }))
      return
    }
    const ctx = invocation.begin(process.logs)
    if (ctx.execution) ctx.execution.onLeave = (outcome) => this.#left(invocation, outcome)
    let result: unknown
    try {
      result = this.#current.run(invocation, process.handler, argument(process, params), ctx)
    } catch (error) {
      this.#failed(invocation, error)
      return
    }
    if (!isThenable(result)) {
      this.#finished(invocation, result)
      return
    }
    // What only looks like a promise may throw from its `then`; a real one is taken as it is.
    Promise.resolve(result).then(
      (value) => this.#finished(invocation, value),
      (error) => this.#failed(invocation, error),
    )
  }

  #finished(invocation: Invocation, value: unknown): void {
    if (invocation.ended) return
    const returned = invocation.ctx?.execution?.returned()
    if (!returned) return this.#answer(invocation, value)
    returned.then((problem) => (problem ? this.#failed(invocation, problem) : this.#answer(invocation, value)))
  }

  #left(invocation: Invocation, outcome: Suspended | RiverrunError): void {
    if (invocation.ended) return
    if (outcome instanceof RiverrunError) return this.#failed(invocation, outcome)
    this.peer.answer(invocation.id, JSON.stringify({ suspended: outcome }))
    this.#ended(invocation)
  }

  #answer(invocation: Invocation, value: unknown): void {
    if (invocation.ended) return
    const { jobs } = invocation.params
    let text: string
    try {
      text = jobs ? batchText(value, jobs.length, this.#limits) : `{"value":${valueText(value, this.#limits.resultBytes)}}`
    } catch (error) {
      this.#failed(invocation, error)
      return
    }
    this.peer.answer(invocation.id, text)
    this.#ended(invocation)
  }

  #failed(invocation: Invocation, error: unknown): void {
    if (invocation.ended) return
    invocation.ctx?.execution?.threw()
    const failure = describe(error)
    if (isCancellation(invocation, error)) this.peer.refuse(invocation.id, { ...failure, code: 'CANCELLED' }, -32001)
    else this.peer.refuse(invocation.id, failure)
    this.#ended(invocation)
  }

  #ended(invocation: Invocation): void {
    invocation.ended = true
    this.#running.delete(invocation.id)
    if (this.#running.size === 0) for (const wake of [...this.#idle]) wake()
  }

  #drain(id: number, { graceMs = 0 }: { graceMs?: number }): void {
    const answer = (): void => {
      clearTimeout(timer)
      this.#idle.delete(answer)
      this.peer.answer(id, JSON.stringify({ unfinished: this.#running.size }))
    }
    const timer = setTimeout(answer, graceMs)
    if (this.#running.size === 0) answer()
    else this.#idle.add(answer)
  }

  #beat(): void {
    if (this.#running.size) this.peer.notify('heartbeat', {})
  }
}

/** What a handler gets first: a job or an input, or a list of them. */
function argument({ takes }: Process, params: InvokeParams): unknown {
  if (takes === 'input') return params.jobs ? params.jobs.map((job) => job.input) : params.input
  return params.jobs ? params.jobs.map((job) => jobOf(job, params)) : jobOf(params, params)
}

function jobOf(job: BatchJob, { queue }: InvokeParams): Omit<Job, 'isLeaseValid'> {
  return {
    id: job.jobId ?? '',
    name: job.name ?? queue ?? '',
    queue: queue ?? '',
    data: job.input,
    attempt: job.attempt ?? 1,
    maxAttempts: job.maxAttempts ?? 1,
    enqueuedAt: job.enqueuedAt ?? undefined,
  }
}

/** Whether a handler ended because it was told to, and not for a reason of its own. */
function isCancellation({ ctx }: Invocation, error: unknown): boolean {
  if (error instanceof CancelledError) return true
  return ctx?.cancelled !== undefined && error instanceof Error && error.name === 'AbortError'
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
