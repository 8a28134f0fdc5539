/**
 * What a worker has to say to its server, over all of its connections. What may not have been received
 * is said again over the next one; the server does it once.
 */

import { RiverrunError } from '../errors.ts'
import { refusal, wireError } from '../failure.ts'
import type { Voice } from '../runner/invocations.ts'
import type { Failure, InvokeParams, Message } from '../wire.ts'
import type { WebSocket } from './websocket.ts'

/** An invocation as the server knows it again. */
export interface Running {
  invocation: number
  jobId: string
  lease: string
}

interface Question {
  line: string
  resolve(result: unknown): void
  reject(error: RiverrunError): void
}

/** As many requests as the server remembers the answers of. */
const mostOpen = 512
/** What handlers say while there is no server waits, up to here; more is lost and counted. */
const mostWaiting = 1024 * 1024

export class Session implements Voice {
  limitBytes = 16 * 1024 * 1024
  /** Frames that were lost because too much waited. */
  lost = 0
  readonly #credits: number
  readonly #open = new Map<number, Question>()
  readonly #waiting: [number, Question][] = []
  /** The last answers: each may have been lost with its connection. */
  readonly #answers: { running: Running; line: string }[] = []
  readonly #begun = new Map<number, Running>()
  #lastId = 0
  #socket: WebSocket | undefined
  /** What was said and is not written yet. */
  #text: string[] = []
  #textLength = 0
  #willFlush = false

  constructor(credits: number) {
    this.#credits = credits
  }

  /** What still runs, or has ended without an acknowledgement. */
  get running(): Running[] {
    return [...this.#begun.values(), ...this.#answers.map(({ running }) => running)]
  }

  /** Whether messages for the server are still to be sent. */
  get hasMoreToSay(): boolean {
    return this.#begun.size > 0 || this.#text.length > 0
  }

  begun(id: number, { jobId, jobs, runId, lease }: InvokeParams): void {
    this.#begun.set(id, { invocation: id, jobId: jobId ?? jobs?.[0]?.jobId ?? runId ?? '', lease: lease ?? '' })
  }

  /** The server knows this worker over a new connection: it gets what it may have missed. */
  connected(socket: WebSocket): void {
    this.#socket = socket
    // Requests first, so that they arrive before the answer of their invocation.
    for (const { line } of this.#open.values()) this.#say(line)
    for (const { line } of this.#answers) this.#say(line)
    this.#willSend()
  }

  disconnected(): void {
    this.#socket = undefined
  }

  /** Passes an answer of the server to the request that it answers. */
  settle({ id, result, error }: Message): void {
    const question = this.#open.get(id as number)
    if (!question) return
    this.#open.delete(id as number)
    if (error) question.reject(refusal(error))
    else question.resolve(result)
    const next = this.#waiting.shift()
    if (next) this.#ask(...next)
  }

  request(method: string, params: Record<string, unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const line = this.#checked(method, JSON.stringify({ id, method, params }))
      const question = { line, resolve, reject }
      if (this.#open.size < mostOpen) this.#ask(id, question)
      else this.#waiting.push([id, question])
    })
  }

  notify(method: string, params: Record<string, unknown>): void {
    const line = this.#checked(method, JSON.stringify({ method, params }))
    if (this.#textLength + line.length > mostWaiting && !this.#socket) this.lost += 1
    else this.#say(line)
  }

  answer(id: number, result: string): void {
    this.#ended(id, `{"id":${id},"result":${result}}`)
  }

  refuse(id: number, failure: Failure, code?: number): void {
    this.#ended(id, JSON.stringify({ id, error: wireError(failure, code) }))
  }

  #ask(id: number, question: Question): void {
    this.#open.set(id, question)
    if (this.#socket) this.#say(question.line)
  }

  #ended(id: number, line: string): void {
    const running = this.#begun.get(id)
    this.#begun.delete(id)
    if (running) {
      this.#answers.push({ running, line })
      // Each answer that the server has not received holds one of its credits.
      while (this.#answers.length > this.#credits) this.#answers.shift()
    }
    this.#say(line)
  }

  #checked(method: string, line: string): string {
    // A character takes three bytes at most: counting them is only needed near the limit.
    if (line.length * 3 < this.limitBytes || Buffer.byteLength(line) < this.limitBytes) return line
    throw new RiverrunError('MESSAGE_TOO_LARGE', `a ${method} may have ${this.limitBytes} bytes at most`, { retriable: false })
  }

  /** What is said within one turn of the event loop is gathered and sent in one message. */
  #say(line: string): void {
    this.#text.push(line)
    this.#textLength += line.length
    this.#willSend()
  }

  #willSend(): void {
    if (this.#willFlush || !this.#socket) return
    this.#willFlush = true
    setImmediate(this.#flush)
  }

  #flush = (): void => {
    this.#willFlush = false
    const socket = this.#socket
    if (!socket || this.#text.length === 0) return
    const lines = this.#text
    this.#text = []
    this.#textLength = 0
    let begin = 0
    let bytes = 0
    for (let at = 0; at < lines.length; at++) {
      // Three bytes a character at most, so that no message is longer than a line may be.
      const size = (lines[at] as string).length * 3 + 1
      if (bytes && bytes + size > this.limitBytes) {
        socket.send(lines.slice(begin, at).join('\n'))
        begin = at
        bytes = 0
      }
      bytes += size
    }
    socket.send(lines.slice(begin).join('\n'))
  }
}
