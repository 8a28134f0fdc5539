/**
 * A WebSocket to the server. It is our own because a worker has to see pings: a server that says
 * nothing for a minute is gone, and the WebSocket that newer Nodes bring hides them. So nothing has
 * to be installed either.
 */

import { createHash, randomBytes } from 'node:crypto'
import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import { RiverrunError } from '../errors.ts'
import { isObject } from '../json.ts'
import { BrokenRules, frame, FrameReader, opcode } from './frames.ts'

export interface SocketOptions {
  headers: Record<string, string>
  /** A message may have so many bytes. */
  limitBytes: number
  /** A connection over which nothing comes for so long is ended. */
  silentMs: number
}

const connectMs = 10_000
/** How long the other side has to answer a close. */
const closeMs = 2_000
/** Unwritten bytes at which nothing more is read until they are gone. */
const crowdedBytes = 8 * 1024 * 1024
const accepted = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Connects. Rejects with `UNREACHABLE`, `NOT_RIVERRUN`, or the code that the server refused with. */
export function connect(url: URL, options: SocketOptions): Promise<WebSocket> {
  const key = randomBytes(16).toString('base64')
  const headers = { ...options.headers, connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': key }
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http
    const asking = request(url, { headers, timeout: connectMs })
    const unreachable = (cause: Error): void => reject(new RiverrunError('UNREACHABLE', `${url.origin} cannot be reached: ${cause.message || (cause as { code?: string }).code}`, { cause }))
    asking.on('error', unreachable)
    asking.on('timeout', () => asking.destroy(new Error(`it did not answer within ${connectMs} ms`)))
    asking.on('response', (response) => {
      refusal(url, response).then(reject, unreachable)
    })
    asking.on('upgrade', (response, socket, head) => {
      const expected = createHash('sha1').update(key + accepted).digest('base64')
      if (response.headers['sec-websocket-accept'] !== expected) {
        socket.destroy()
        reject(notRiverrun(url, 'it does not speak WebSocket'))
        return
      }
      resolve(new WebSocket(socket as Socket, head, options))
    })
    asking.end()
  })
}

export interface Listener {
  onText(text: string): void
  /** Called once. 1006 if the connection broke. */
  onClose(code: number, reason: string): void
}

export class WebSocket {
  readonly #socket: Socket
  readonly #head: Buffer
  readonly #reader: FrameReader
  readonly #silentMs: number
  #listener: Listener | undefined
  #silence: ReturnType<typeof setTimeout> | undefined
  #closed = false
  /** What the other side said when it closed. */
  #end: { code: number; reason: string } | undefined

  constructor(socket: Socket, head: Buffer, { limitBytes, silentMs }: SocketOptions) {
    this.#socket = socket
    this.#head = head
    this.#reader = new FrameReader(limitBytes)
    this.#silentMs = silentMs
    socket.on('error', () => {})
  }

  /** Nothing is read before somebody listens. */
  listen(listener: Listener): void {
    const socket = this.#socket
    this.#listener = listener
    this.#silence = setTimeout(() => socket.destroy(), this.#silentMs)
    socket.setTimeout(0)
    socket.setNoDelay(true)
    socket.on('drain', () => socket.resume())
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      clearTimeout(this.#silence)
      this.#closed = true
      listener.onClose(this.#end?.code ?? 1006, this.#end?.reason ?? '')
    })
    if (this.#head.length) this.#take(this.#head)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  /** While much of what was said is unwritten nothing more is read. */
  send(text: string): void {
    this.#write(opcode.text, Buffer.from(text))
    if (this.#socket.writableLength > crowdedBytes) this.#socket.pause()
  }

  close(code = 1000, reason = ''): void {
    if (this.#closed) return
    const payload = Buffer.alloc(2)
    payload.writeUInt16BE(code)
    this.#write(opcode.close, Buffer.concat([payload, Buffer.from(reason).subarray(0, 120)]))
    this.#closed = true
    setTimeout(() => this.#socket.destroy(), closeMs).unref()
  }

  #write(kind: number, payload: Buffer): void {
    if (!this.#closed) this.#socket.write(frame(kind, payload))
  }

  #take(chunk: Buffer): void {
    this.#silence?.refresh()
    try {
      for (const came of this.#reader.take(chunk)) {
        if (came.type === 'text') this.#listener?.onText(came.text)
        else if (came.type === 'ping') this.#write(opcode.pong, came.payload)
        else if (came.type === 'close') this.#closedBy(came.code, came.reason)
      }
    } catch (error) {
      if (!(error instanceof BrokenRules)) throw error
      this.close(error.code, error.message)
      this.#socket.destroySoon()
    }
  }

  #closedBy(code: number, reason: string): void {
    this.#end = { code, reason }
    this.close(code === 1005 ? 1000 : code)
    this.#socket.end()
  }
}

/** Why there is no WebSocket. */
async function refusal(url: URL, response: http.IncomingMessage): Promise<RiverrunError> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > 65_536) break
  }
  try {
    const { error } = JSON.parse(text)
    if (isObject(error) && typeof error.code === 'string') return new RiverrunError(error.code, String(error.message), { details: error.details })
  } catch {
    // No answer of ours.
  }
  return notRiverrun(url, `it answered with the status ${response.statusCode}`)
}

function notRiverrun(url: URL, why: string): RiverrunError {
  return new RiverrunError('NOT_RIVERRUN', `what answers at ${url.origin} is no riverrun server: ${why}`)
}
