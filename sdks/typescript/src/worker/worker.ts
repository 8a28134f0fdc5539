/**
 * A worker: connects to a server, executes its work, and reconnects when the connection
 * breaks. Running work continues meanwhile.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type CancelReason, RiverrunError } from '../errors.ts'
import { isObject } from '../json.ts'
import { Invocations } from '../runner/invocations.ts'
import type { Processes } from '../runner/modules.ts'
import { heartbeatMs } from '../runner/runner.ts'
import { version } from '../version.ts'
import { type InvokeParams, type Limits, type Message, protocolVersion } from '../wire.ts'
import { type Offered, processesOf } from './processes.ts'
import { Session } from './session.ts'
import { drainOn } from './signals.ts'
import { connect, type WebSocket } from './websocket.ts'

/** What the server says when it lets a worker in. */
export interface Welcome {
  /** Its number in `riverrun workers ls`. */
  workerId: number
  /** Processes that the server has itself, and runs itself. */
  shadowed: string[]
  /** The flows that its processes make. */
  flows: { id: string; version: string }[]
  /** Why some flow is not what its processes say: `FLOW_CONFLICT`, `FLOW_INCOMPLETE`, …. It works all the same. */
  faults: { code: string; message: string; flow?: string }[]
}

export interface WorkerOptions {
  /** Where the server is: `RIVERRUN_URL`, else `http://127.0.0.1:4600` where absent. */
  url?: string | URL
  /** Sent as a bearer token; `RIVERRUN_TOKEN` where absent. */
  token?: string
  headers?: Record<string, string>
  /** What it runs, by id. The id is also the name of the queue where a config gives none. */
  processes: Record<string, Offered>
  /** Jobs, calls and steps at once; 16 where absent. */
  concurrency?: number
  /** What people see in `riverrun workers ls`; the machine's name and the process's number where absent. */
  name?: string
  tags?: string[]
  /** How long to wait at the start for a server that is not there yet; not at all where absent. */
  waitMs?: number
  /**
   * On these signals it takes no more, ends what it runs, and then lets the signal do what it does;
   * SIGTERM and SIGINT where absent. A second one is not held up.
   */
  signals?: NodeJS.Signals[]
  /** Called whenever the server knows it: the first time, and each time after the connection broke. */
  onConnect?: (welcome: Welcome) => void
  /** Called whenever a connection is lost. The worker connects again by itself. */
  onDisconnect?: (reason: RiverrunError) => void
}

const silentMs = 60_000
const firstBackoffMs = 100
const longestBackoffMs = 5_000
/** How long a worker that is away may run on where the server did not say. */
const leaseMs = 30_000

/** Connects a worker. Settles when the server knows it, and rejects if it cannot or does not want to. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const worker = new Worker(options, await processesOf(options.processes))
  await worker.begin()
  return worker
}

/** How a connection ended. */
type Over = { how: 'drained' } | { how: 'broken' | 'refused'; error: RiverrunError }

/** A connection over which the server knows the worker. */
interface Connection {
  over: Promise<Over>
}

export class Worker {
  readonly name: string
  /** Settles when the worker has ended: it was stopped or drained. Rejects if the server refuses it. */
  readonly ended: Promise<void>
  readonly #options: WorkerOptions
  readonly #processes: Processes
  readonly #concurrency: number
  readonly #session: Session
  readonly #invocations: Invocations
  /** By it the server knows this worker again. */
  readonly #instance = randomUUID()
  readonly #url: URL
  readonly #headers: Record<string, string>
  #socket: WebSocket | undefined
  #welcome: Welcome | undefined
  #reconnectMs = leaseMs
  #isLeaving = false
  #isDraining = false
  /** Since when there is no connection. */
  #awaySinceMs: number | undefined
  #wake: () => void = () => {}
  #settle!: { resolve: () => void; reject: (error: unknown) => void }
  #beat: ReturnType<typeof setInterval> | undefined
  #undo: (() => void)[] = []

  constructor(options: WorkerOptions, processes: Processes) {
    const { concurrency = 16, token = process.env.RIVERRUN_TOKEN } = options
    if (!Number.isInteger(concurrency) || concurrency < 1) throw new RangeError(`concurrency must be a whole number from 1 on, is ${concurrency}`)
    this.name = options.name ?? `${hostname()}-${process.pid}`
    this.#options = options
    this.#processes = processes
    this.#concurrency = concurrency
    this.#session = new Session(concurrency)
    this.#invocations = new Invocations(this.#session)
    this.#url = socketUrl(options.url ?? process.env.RIVERRUN_URL ?? 'http://127.0.0.1:4600')
    this.#headers = { ...(token && { authorization: `Bearer ${token}` }), ...options.headers }
    this.ended = new Promise((resolve, reject) => (this.#settle = { resolve, reject }))
    this.ended.catch(() => {})
  }

  /** How many invocations run. */
  get running(): number {
    return this.#invocations.running.size
  }

  /** What the server said when it let the worker in last. */
  get welcome(): Welcome | undefined {
    return this.#welcome
  }

  get isConnected(): boolean {
    return this.#socket !== undefined
  }

  /** Settles when the server knows the worker. */
  async begin(): Promise<void> {
    // Work may come as soon as the server knows the worker, and a signal with it.
    this.#listenToSignals()
    this.#beat = setInterval(() => this.running && this.#session.notify('heartbeat', {}), heartbeatMs)
    try {
      const first = await this.#firstConnection()
      this.#serve(first).then(
        () => this.#over(),
        (error) => this.#over(error),
      )
    } catch (error) {
      this.#over(error)
      throw error
    }
  }

  /**
   * Takes no more, and settles when what runs has ended and the server has let the worker go. What
   * has not ended after `graceMs` is asked to stop.
   */
  async stop({ graceMs }: { graceMs?: number } = {}): Promise<void> {
    const timer = graceMs === undefined ? undefined : setTimeout(() => this.#invocations.cancelAll('shutdown'), graceMs)
    if (!this.#isLeaving) {
      this.#isLeaving = true
      if (this.#socket) this.#session.notify('leave', {})
      else this.#wake()
    }
    try {
      await this.ended
    } finally {
      clearTimeout(timer)
    }
  }

  async #firstConnection(): Promise<Connection> {
    const { waitMs = 0 } = this.#options
    const untilMs = Date.now() + waitMs
    for (let tries = 0; ; tries++) {
      try {
        return await this.#connect()
      } catch (error) {
        if (!isPassing(error) || this.#isLeaving || Date.now() >= untilMs) throw error
      }
      await this.#pause(backoffMs(tries))
    }
  }

  /** From the first connection to the last. */
  async #serve(first: Connection): Promise<void> {
    let connection: Connection | undefined = first
    let tries = 0
    for (;;) {
      if (connection) {
        const over = await connection.over
        if (over.how === 'drained') return
        if (over.how === 'refused') throw over.error
        tries = 0
        this.#awaySinceMs = Date.now()
        this.#options.onDisconnect?.(over.error)
      }
      const isTooLate = this.#awaySinceMs !== undefined && Date.now() - this.#awaySinceMs >= this.#reconnectMs
      // The server has given up what runs here: somebody else has it by now.
      if (isTooLate) this.#invocations.cancelAll('lease-lost')
      if (this.#isLeaving && (isTooLate || !this.#session.hasMoreToSay)) return
      await this.#pause(backoffMs(tries++))
      if (this.#isLeaving && !this.#session.hasMoreToSay) return
      try {
        connection = await this.#connect()
      } catch (error) {
        // Once it was there, whatever answers in the server's place meanwhile is waited out.
        if (error instanceof Refusal) throw error
        connection = undefined
      }
    }
  }

  /** Settles when the server knows the worker. */
  async #connect(): Promise<Connection> {
    const socket = await connect(this.#url, { headers: this.#headers, limitBytes: this.#session.limitBytes, silentMs })
    return new Promise((resolve, reject) => {
      let isKnown = false
      let isWelcome = false
      let refused: Refusal | undefined
      let end: (over: Over) => void
      const over = new Promise<Over>((settle) => (end = settle))
      const refuse = (error: Refusal): void => {
        refused ??= error
        socket.close(1002, error.message)
      }
      const onMessage = (message: Message): void => {
        if (message.method === 'refused') refused = refusedBy(message)
        else if (message.method === 'welcome') {
          isWelcome = true
          this.#welcome = welcomeOf(message)
          this.#options.onConnect?.(this.#welcome)
          resolve({ over })
        } else if (isKnown) this.#receive(message)
        else if (message.method === 'initialise') {
          const problem = this.#initialise(socket, message)
          if (problem) return refuse(problem)
          isKnown = true
        }
      }
      socket.listen({
        onText: (text) => {
          for (const line of text.split('\n')) {
            const message = line ? parse(line) : undefined
            if (message) onMessage(message)
            else if (line) refuse(new Refusal('PROTOCOL_ERROR', 'the server said what is no message'))
          }
        },
        onClose: (code, reason) => {
          this.#session.disconnected()
          this.#socket = undefined
          const error = refused ?? new RiverrunError('UNREACHABLE', reason || `the connection broke (${code})`)
          if (!isWelcome) reject(error)
          end(this.#isDraining ? { how: 'drained' } : { how: refused ? 'refused' : 'broken', error })
        },
      })
    })
  }

  /** Answers the server's first word: who this is, and what it still runs. */
  #initialise(socket: WebSocket, { id, params = {} }: Message): Refusal | undefined {
    const { protocol, limits, reconnectMs } = params as { protocol?: number; limits?: Partial<Limits>; reconnectMs?: number }
    if (protocol !== protocolVersion) {
      const message = `this SDK speaks version ${protocolVersion} of the protocol, the server ${protocol}`
      socket.send(JSON.stringify({ id, error: { code: -32000, message, data: { code: 'PROTOCOL_VERSION' } } }))
      return new Refusal('PROTOCOL_VERSION', message)
    }
    this.#invocations.limits = { ...this.#invocations.limits, ...limits }
    this.#session.limitBytes = this.#invocations.limits.messageBytes
    this.#reconnectMs = reconnectMs ?? leaseMs
    const result = {
      protocol: protocolVersion,
      sdk: { name: 'riverrun', version, language: 'typescript' },
      runtime: `node ${process.versions.node}`,
      pid: process.pid,
      worker: { name: this.name, tags: this.#options.tags ?? [], instance: this.#instance },
      processes: [...this.#processes].map(([process, { config }]) => ({ id: process, config })).sort((a, b) => (a.id < b.id ? -1 : 1)),
      credits: this.#concurrency,
      running: this.#session.running,
    }
    socket.send(JSON.stringify({ id, result }))
    this.#socket = socket
    this.#awaySinceMs = undefined
    this.#session.connected(socket)
    if (this.#isLeaving) this.#session.notify('leave', {})
    return undefined
  }

  #receive(message: Message): void {
    const { id, method, params = {} } = message
    if (method === undefined) this.#session.settle(message)
    else if (id === undefined) {
      if (method === 'cancel') this.#invocations.cancel(params.invocation as number, params.reason as CancelReason | undefined)
    } else if (method === 'invoke') this.#invoke(id, params as InvokeParams)
    else if (method === 'drain') this.#drain(id, params as { graceMs?: number })
    else this.#session.refuse(id, { message: `there is no method ${method}` }, -32601)
  }

  #invoke(id: number, params: InvokeParams): void {
    this.#session.begun(id, params)
    const invocation = this.#invocations.add(id, params)
    const process = this.#processes.get(params.process ?? '')
    if (process) this.#invocations.execute(invocation, process)
    else this.#invocations.fail(invocation, new RiverrunError('PROCESS_NOT_FOUND', `this worker has no process ${params.process}`, { retriable: false }))
  }

  /** Running work gets its grace; then the worker answers and the server closes the connection. */
  #drain(id: number, { graceMs = 0 }: { graceMs?: number }): void {
    this.#isDraining = true
    this.#invocations.drain(graceMs, (unfinished) => {
      this.#invocations.cancelAll('shutdown')
      this.#session.answer(id, JSON.stringify({ unfinished }))
    })
  }

  #over(error?: unknown): void {
    clearInterval(this.#beat)
    this.#invocations.cancelAll('shutdown')
    if (error === undefined) this.#settle.resolve()
    else this.#settle.reject(error)
    for (const undo of this.#undo.splice(0)) undo()
  }

  /** Waits so long, or until the worker is to leave. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #listenToSignals(): void {
    for (const signal of this.#options.signals ?? ['SIGTERM', 'SIGINT']) {
      this.#undo.push(drainOn(signal, () => this.stop()))
    }
  }
}

/** The server does not want this worker, or cannot be talked to: it does not connect again. */
class Refusal extends RiverrunError {}

/** Twice as long each time, and never at the same moment as all others. */
function backoffMs(tries: number): number {
  return Math.min(firstBackoffMs * 2 ** Math.min(tries, 10), longestBackoffMs) * (0.5 + Math.random() / 2)
}

/** Whether it is worth trying again: the network, or a server that restarts. */
function isPassing(error: unknown): boolean {
  return error instanceof RiverrunError && (error.code === 'UNREACHABLE' || error.code === 'SHUTTING_DOWN')
}

/** Why the server does not want this worker; undefined if it only stops. */
function refusedBy({ params = {} }: Message): Refusal | undefined {
  const { code = 'REFUSED', message = 'the server does not want this worker', details } = params as { code?: string; message?: string; details?: unknown }
  return code === 'SHUTTING_DOWN' ? undefined : new Refusal(code, message, { details })
}

function welcomeOf({ params = {} }: Message): Welcome {
  const { workerId = 0, shadowed = [], flows = [], faults = [] } = params as Partial<Welcome>
  return { workerId, shadowed, flows, faults }
}

function socketUrl(given: string | URL): URL {
  const url = new URL(given)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/workers/ws`
  return url
}

function parse(line: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(line)
    return isObject(message) ? (message as Message) : undefined
  } catch {
    return undefined
  }
}
