/** The measuring side of `handler.mjs`. */

import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

export class Reports extends EventEmitter {
  /** How many jobs the worker has done in all. */
  handled = 0
  #flows = new Map()

  static async open() {
    const reports = new Reports()
    const server = createServer((socket) => {
      socket.on('error', () => {})
      createInterface({ input: socket }).on('line', (line) => reports.#receive(JSON.parse(line)))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    server.unref()
    reports.port = server.address().port
    return reports
  }

  /** Resolves when the worker says that this flow has ended. */
  flowEnds(n) {
    return new Promise((resolve) => this.#flows.set(n, resolve))
  }

  #receive(message) {
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
