/**
 * Cuts what comes in into lines. A line that comes in many pieces is put together once, so its
 * cost grows with its length and not with the square of it.
 */

import { NotAMessage } from './peer.ts'

const lineBreak = 0x0a

export class Lines {
  limitBytes = 16 * 1024 * 1024
  #pieces: Buffer[] = []
  #heldBytes = 0

  /** The lines that `chunk` completes. Throws `NotAMessage` if one is longer than the limit. */
  take(chunk: Buffer): string[] {
    const end = chunk.lastIndexOf(lineBreak)
    if (end < 0) {
      this.#hold(chunk)
      return []
    }
    let whole = chunk.subarray(0, end)
    if (this.#heldBytes) {
      this.#check(this.#heldBytes + chunk.indexOf(lineBreak))
      whole = Buffer.concat([...this.#pieces, whole])
      this.#pieces = []
      this.#heldBytes = 0
    }
    if (end + 1 < chunk.length) this.#hold(chunk.subarray(end + 1))
    return whole.toString('utf8').split('\n')
  }

  #hold(piece: Buffer): void {
    this.#check(this.#heldBytes + piece.length)
    this.#pieces.push(piece)
    this.#heldBytes += piece.length
  }

  #check(bytes: number): void {
    if (bytes > this.limitBytes) throw new NotAMessage(`it has more than ${this.limitBytes} bytes`)
  }
}
