/** The measuring side of `tell.mjs`. */

import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

export class Ears extends EventEmitter {
  /** How many jobs the worker has done in all. */
  handled = 0
  #flows = new Map()

  static async open() {
    const ears = new Ears()
    const server = createServer((socket) => {
      socket.on('error', () => {})
      createInterface({ input: socket }).on('line', (line) => ears.#hear(JSON.parse(line)))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    server.unref()
    ears.port = server.address().port
    return ears
  }

  /** Resolves when the worker says that this flow has ended. */
  flowEnds(n) {
    return new Promise((resolve) => this.#flows.set(n, resolve))
  }

  #hear(message) {
    if ('waitedMs' in message) this.emit('began', message.waitedMs)
    if ('handled' in message) {
      this.handled = message.handled
      this.emit('handled', message)
    }
    if ('ended' in message) {
      this.#flows.get(message.ended)?.()
      this.#flows.delete(message.ended)
    }
  }
}
