/**
 * The frames of a WebSocket (RFC 6455), as the client's side reads and writes them.
 */

import { isUtf8 } from 'node:buffer'
import { randomFillSync } from 'node:crypto'

export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** What came breaks the rules; the connection is closed with this code. */
export class BrokenRules extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

export type Came = { type: 'text'; text: string } | { type: 'ping' | 'pong'; payload: Buffer } | { type: 'close'; code: number; reason: string }

/** A frame of a client: its payload is masked. */
export function frame(kind: number, payload: Buffer): Buffer {
  const { length } = payload
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const bytes = Buffer.allocUnsafe(6 + extended + length)
  bytes[0] = 0x80 | kind
  bytes[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127)
  if (extended === 2) bytes.writeUInt16BE(length, 2)
  else if (extended === 8) bytes.writeBigUInt64BE(BigInt(length), 2)
  const mask = 2 + extended
  const start = mask + 4
  randomFillSync(bytes, mask, 4)
  for (let at = 0; at < length; at++) bytes[start + at] = (payload[at] as number) ^ (bytes[mask + (at & 3)] as number)
  return bytes
}

/** Puts together what comes in pieces. A message of many pieces is joined once. */
export class FrameReader {
  #held: Buffer[] = []
  #heldBytes = 0
  /** So many bytes are needed before it is worth looking. */
  #needed = 2
  #parts: Buffer[] = []
  #partsBytes = 0
  #isInText = false

  constructor(readonly limitBytes: number) {}

  /** What `chunk` completes. Throws `BrokenRules`. */
  take(chunk: Buffer): Came[] {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    const came: Came[] = []
    if (this.#heldBytes < this.#needed) return came
    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held)
    let at = 0
    for (;;) {
      const end = this.#frameAt(bytes, at, came)
      if (end === undefined) break
      at = end
    }
    const rest = bytes.subarray(at)
    this.#held = rest.length ? [rest] : []
    this.#heldBytes = rest.length
    return came
  }

  /** Reads one frame; gives where it ends, or undefined if it is not all there. */
  #frameAt(bytes: Buffer, at: number, came: Came[]): number | undefined {
    const there = bytes.length - at
    if (there < 2) return this.#wait(2)
    const first = bytes[at] as number
    const second = bytes[at + 1] as number
    if (first & 0x70) throw new BrokenRules(1002, 'a frame has reserved bits without a negotiated extension')
    if (second & 0x80) throw new BrokenRules(1002, 'a frame of the server is masked')
    let length = second & 0x7f
    let start = 2
    if (length === 126) {
      if (there < 4) return this.#wait(4)
      length = bytes.readUInt16BE(at + 2)
      start = 4
    } else if (length === 127) {
      if (there < 10) return this.#wait(10)
      length = Number(bytes.readBigUInt64BE(at + 2))
      start = 10
    }
    if (length > this.limitBytes) throw new BrokenRules(1009, `a frame has more than ${this.limitBytes} bytes`)
    if (there < start + length) return this.#wait(start + length)
    const payload = bytes.subarray(at + start, at + start + length)
    const done = this.#frame(first & 0x0f, (first & 0x80) !== 0, payload)
    if (done) came.push(done)
    return at + start + length
  }

  #wait(bytes: number): undefined {
    this.#needed = bytes
  }

  #frame(kind: number, isLast: boolean, payload: Buffer): Came | undefined {
    if (kind >= 8) return control(kind, isLast, payload)
    if (kind === opcode.binary) throw new BrokenRules(1003, 'binary messages are not spoken here')
    if (kind !== opcode.text && kind !== opcode.continuation) throw new BrokenRules(1002, `there is no opcode ${kind}`)
    if ((kind === opcode.continuation) !== this.#isInText) throw new BrokenRules(1002, 'the parts of a message are out of order')
    this.#partsBytes += payload.length
    if (this.#partsBytes > this.limitBytes) throw new BrokenRules(1009, `a message has more than ${this.limitBytes} bytes`)
    // A copy, as the rest of the chunk would be held with it.
    this.#parts.push(isLast ? payload : Buffer.from(payload))
    this.#isInText = !isLast
    if (!isLast) return undefined
    const whole = this.#parts.length === 1 ? payload : Buffer.concat(this.#parts)
    this.#parts = []
    this.#partsBytes = 0
    if (!isUtf8(whole)) throw new BrokenRules(1007, 'a text is not UTF-8')
    return { type: 'text', text: whole.toString('utf8') }
  }
}

function control(kind: number, isLast: boolean, payload: Buffer): Came {
  if (!isLast || payload.length > 125) throw new BrokenRules(1002, 'a control frame is too long')
  if (kind === opcode.ping) return { type: 'ping', payload }
  if (kind === opcode.pong) return { type: 'pong', payload }
  if (kind !== opcode.close) throw new BrokenRules(1002, `there is no opcode ${kind}`)
  if (payload.length === 1) throw new BrokenRules(1002, 'a close frame is cut')
  const code = payload.length ? payload.readUInt16BE(0) : 1005
  return { type: 'close', code, reason: payload.subarray(2).toString('utf8') }
}
