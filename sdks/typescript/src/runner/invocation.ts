import { InvocationContext } from '../ctx/invocation.ts'
import type { Link } from '../ctx/link.ts'
import type { LogSettings } from '../ctx/logger.ts'
import { type CancelReason, RiverrunError } from '../errors.ts'
import type { InvokeParams } from '../wire.ts'
import type { Voice } from './invocations.ts'

const none: ReadonlyMap<number, RiverrunError> = new Map()

/** One run of a handler, from the request to its answer. Once it has ended it says nothing more. */
export class Invocation implements Link {
  ended = false
  /** Why it was cancelled before its handler was called. */
  cancelledBefore: CancelReason | undefined
  /** Jobs of its batch that the handler is not given: their inputs broke the schema. */
  refused: ReadonlyMap<number, RiverrunError> = none
  #ctx: InvocationContext | undefined

  constructor(
    readonly id: number,
    readonly params: InvokeParams,
    readonly voice: Voice,
  ) {}

  /** Makes the context, once the process and with it its settings are known. */
  begin(settings: LogSettings, params = this.params): InvocationContext {
    this.#ctx = new InvocationContext(this, params, settings)
    return this.#ctx
  }

  get ctx(): InvocationContext | undefined {
    return this.#ctx
  }

  cancel(reason: CancelReason): void {
    if (this.#ctx) this.#ctx.cancel(reason)
    else this.cancelledBefore = reason
  }

  async request(method: string, params: Record<string, unknown>): Promise<unknown> {
    if (this.ended) throw new RiverrunError('INVOCATION_ENDED', `${method} came after the handler had ended`)
    return this.voice.request(method, { invocation: this.id, ...params })
  }

  notify(method: string, params: Record<string, unknown>): void {
    if (this.ended) return
    try {
      this.voice.notify(method, { invocation: this.id, ...params })
    } catch (error) {
      // A log line must not fail a job.
      const message = `a ${method} was left out: ${(error as Error).message}`
      this.voice.notify('log', { invocation: this.id, level: 'warn', message })
    }
  }
}
