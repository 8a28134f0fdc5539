/**
 * The runner's side of docs/reference/protocol.md: loads modules and runs their handlers.
 */

import { CancelledError, type CancelReason, RiverrunError } from '../errors.ts'
import { describe } from '../failure.ts'
import { version } from '../version.ts'
import { type InvokeParams, type Limits, protocolVersion } from '../wire.ts'
import type { Invocation } from './invocation.ts'
import { Invocations } from './invocations.ts'
import { Modules, type Processes } from './modules.ts'
import type { Output } from './output.ts'
import { type Listener, Peer } from './peer.ts'

export const heartbeatMs = 10_000

type Params = Record<string, unknown>

export class Runner implements Listener {
  readonly peer: Peer
  /** Called with what the server takes and sends at most. */
  onLimits: (limits: Limits) => void = () => {}
  readonly #output: Output
  readonly #modules = new Modules()
  readonly #invocations: Invocations

  constructor(output: Output) {
    this.#output = output
    this.peer = new Peer(output, this)
    this.#invocations = new Invocations(this.peer)
    setInterval(() => this.#beat(), heartbeatMs).unref()
  }

  /** The invocation whose code is running now, if one is known. */
  get current(): Invocation | undefined {
    return this.#invocations.current
  }

  onRequest(id: number, method: string, params: Params): void {
    if (method === 'invoke') this.#invoke(id, params as unknown as InvokeParams)
    else if (method === 'load') this.#load(id, params as { file: string; revision?: number })
    else if (method === 'initialise') this.#initialise(id, params as { protocol?: number; limits?: Partial<Limits> })
    else if (method === 'drain') this.#drain(id, params as { graceMs?: number })
    else this.peer.refuse(id, { message: `there is no method ${method}` }, -32601)
  }

  onNotification(method: string, params: Params): void {
    if (method === 'cancel') this.#invocations.cancel(params.invocation as number, params.reason as CancelReason | undefined)
  }

  /** Ends an invocation with an error that none of its handler's promises carries. */
  fail(invocation: Invocation, error: unknown): void {
    this.#invocations.fail(invocation, error)
  }

  cancelAll(reason: CancelReason): void {
    this.#invocations.cancelAll(reason)
  }

  #initialise(id: number, { protocol, limits }: { protocol?: number; limits?: Partial<Limits> }): void {
    if (protocol !== protocolVersion) {
      const message = `this SDK speaks version ${protocolVersion} of the protocol, the server ${protocol}`
      this.peer.refuse(id, { message, code: 'PROTOCOL_VERSION' })
      this.#output.finish(() => process.exit(1))
      return
    }
    const known = { ...this.#invocations.limits, ...limits }
    this.#invocations.limits = known
    this.peer.limitBytes = known.messageBytes
    this.onLimits(known)
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
    const { file = '', revision } = params
    const invocation = this.#invocations.add(id, params)
    const processes = this.#modules.loaded(file, revision)
    if (processes) {
      this.#execute(invocation, processes)
      return
    }
    this.#modules.load(file, revision).then(
      (loaded) => this.#execute(invocation, loaded),
      (error) => this.#invocations.fail(invocation, error),
    )
  }

  #execute(invocation: Invocation, processes: Processes): void {
    const { file, export: name = 'default' } = invocation.params
    // It was asked to stop while its module was being loaded.
    if (invocation.cancelledBefore) {
      this.#invocations.fail(invocation, new CancelledError(invocation.cancelledBefore))
      return
    }
    const process = processes.get(name)
    if (process) {
      this.#invocations.execute(invocation, process)
      return
    }
    const message = `${file} exports no handler under the name ${name}`
    this.#invocations.fail(invocation, new RiverrunError('HANDLER_NOT_FOUND', message, { retriable: false }))
  }

  #drain(id: number, { graceMs = 0 }: { graceMs?: number }): void {
    this.#invocations.drain(graceMs, (unfinished) => this.peer.answer(id, JSON.stringify({ unfinished })))
  }

  #beat(): void {
    if (this.#invocations.running.size) this.peer.notify('heartbeat', {})
  }
}
