/**
 * JSON-RPC over lines: matches answers to requests, and hands requests and notifications on.
 */

import { RiverrunError } from '../errors.ts'
import { refusal, wireError } from '../failure.ts'
import { isObject } from '../json.ts'
import type { Failure, Message } from '../wire.ts'
import type { Output } from './output.ts'

export interface Listener {
  onRequest(id: number, method: string, params: Record<string, unknown>): void
  onNotification(method: string, params: Record<string, unknown>): void
}

interface Pending {
  resolve(result: unknown): void
  reject(error: RiverrunError): void
}

const noParams = Object.freeze({})

export class NotAMessage extends Error {}

export class Peer {
  limitBytes = 16 * 1024 * 1024
  readonly #output: Output
  readonly #listener: Listener
  readonly #pending = new Map<number, Pending>()
  #lastId = 0

  constructor(output: Output, listener: Listener) {
    this.#output = output
    this.#listener = listener
  }

  /** Throws `NotAMessage` if the line is none. */
  receive(line: string): void {
    const message = parse(line)
    if (message.method === undefined) return this.#settle(message)
    const params = message.params ?? noParams
    if (message.id === undefined) this.#listener.onNotification(message.method, params)
    else this.#listener.onRequest(message.id, message.method, params)
  }

  request(method: string, params: Record<string, unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      this.#sendLine(method, JSON.stringify({ id, method, params }))
      this.#pending.set(id, { resolve, reject })
    })
  }

  notify(method: string, params: Record<string, unknown>): void {
    this.#sendLine(method, JSON.stringify({ method, params }))
  }

  /** `result` is JSON text. */
  answer(id: number, result: string): void {
    this.#output.send(`{"id":${id},"result":${result}}\n`)
  }

  refuse(id: number, failure: Failure, code?: number): void {
    this.#output.send(`${JSON.stringify({ id, error: wireError(failure, code) })}\n`)
  }

  #settle({ id, result, error }: Message): void {
    const pending = id === undefined ? undefined : this.#pending.get(id)
    if (!pending) return
    this.#pending.delete(id as number)
    if (error) pending.reject(refusal(error))
    else pending.resolve(result)
  }

  #sendLine(method: string, text: string): void {
    // A character takes three bytes at most: counting them is only needed near the limit.
    if (text.length * 3 >= this.limitBytes && Buffer.byteLength(text) >= this.limitBytes) {
      throw new RiverrunError('MESSAGE_TOO_LARGE', `a ${method} may have ${this.limitBytes} bytes at most`, { retriable: false })
    }
    this.#output.send(`${text}\n`)
  }
}

function parse(line: string): Message {
  let message: unknown
  try {
    message = JSON.parse(line)
  } catch (error) {
    throw new NotAMessage((error as Error).message)
  }
  if (!isObject(message)) throw new NotAMessage('it is not an object')
  return message
}
