/**
 * Where messages leave. What is sent within one turn of the event loop is gathered and written in
 * one call; what the pipe does not take at once waits without blocking anybody.
 */

import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'

/** Unwritten bytes at which the runner reads no more until they are gone. */
const crowdedBytes = 8 * 1024 * 1024

export class Output {
  /** Called with true when too much is unwritten, and with false when it is gone. */
  onCrowded: (crowded: boolean) => void = () => {}
  readonly #pipe: Socket
  #text = ''
  #crowded = false

  /** Throws if `fd` is not the writing end of a pipe or a socket. */
  constructor(fd: number) {
    const stat = fstatSync(fd)
    if (!stat.isFIFO() && !stat.isSocket()) throw new Error(`fd ${fd} is neither a pipe nor a socket`)
    this.#pipe = new Socket({ fd, readable: false, writable: true })
    // The server has closed its end: nothing that this process does can count any more.
    this.#pipe.on('error', () => process.exit(1))
    this.#pipe.on('drain', () => {
      if (!this.#crowded) return
      this.#crowded = false
      this.onCrowded(false)
    })
  }

  /** `line` ends with a line break. */
  send(line: string): void {
    if (this.#text === '') setImmediate(this.#flush)
    this.#text += line
  }

  /** Writes what is left, then calls `done`. */
  finish(done: () => void): void {
    const text = this.#text
    this.#text = ''
    this.#pipe.write(text, () => done())
  }

  #flush = (): void => {
    if (this.#text === '') return
    this.#pipe.write(this.#text)
    this.#text = ''
    if (!this.#crowded && this.#pipe.writableLength > crowdedBytes) {
      this.#crowded = true
      this.onCrowded(true)
    }
  }
}
