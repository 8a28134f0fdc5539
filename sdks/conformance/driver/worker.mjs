/**
 * A remote worker as the server sees it: a program that connects to `/api/workers/ws`.
 */

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { Program } from './program.mjs'

export class Worker extends Program {
  /** How often it has connected. */
  connections = 0
  #server
  #socket
  #held = Buffer.alloc(0)

  static async start(command, env, cwd) {
    const server = createServer((_, response) => response.writeHead(404).end())
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${server.address().port}`
    return new Worker(command, { ...env, RIVERRUN_URL: url }, cwd, server)
  }

  constructor(command, env, cwd, server) {
    super(command, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#server = server
    server.on('upgrade', (request, socket) => this.#connected(request, socket))
  }

  /** One text message, as it stands. */
  async write(text) {
    this.#frame(1, Buffer.from(text))
  }

  /** The connection breaks. */
  cut() {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  close(code, reason = '') {
    const payload = Buffer.alloc(2)
    payload.writeUInt16BE(code)
    this.#frame(8, Buffer.concat([payload, Buffer.from(reason)]))
  }

  kill() {
    super.kill()
    this.cut()
    this.#server.close()
  }

  #connected({ url, headers }, socket) {
    if (url !== '/api/workers/ws') return socket.end('HTTP/1.1 404 Not Found\r\n\r\n')
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: ${accept}\r\n\r\n`)
    socket.on('error', () => {})
    socket.on('data', (chunk) => socket === this.#socket && this.#read(chunk))
    this.#socket = socket
    this.#held = Buffer.alloc(0)
    this.connections += 1
    this.wake()
  }

  #frame(opcode, payload) {
    const { length } = payload
    const head = length < 126 ? Buffer.from([0x80 | opcode, length]) : length < 65_536 ? Buffer.from([0x80 | opcode, 126, length >> 8, length & 255]) : undefined
    if (!head) throw new Error('the driver sends no message as long as that')
    this.#socket?.write(Buffer.concat([head, payload]))
  }

  #read(chunk) {
    this.#held = Buffer.concat([this.#held, chunk])
    for (;;) {
      const held = this.#held
      if (held.length < 2) return
      const isMasked = held[1] & 0x80
      let length = held[1] & 0x7f
      let start = 2
      if (length === 126) [length, start] = [held.length < 4 ? Infinity : held.readUInt16BE(2), 4]
      else if (length === 127) [length, start] = [held.length < 10 ? Infinity : Number(held.readBigUInt64BE(2)), 10]
      if (held.length < start + 4 + length) return
      const mask = held.subarray(start, start + 4)
      const payload = Buffer.from(held.subarray(start + 4, start + 4 + length)).map((byte, at) => byte ^ mask[at & 3])
      this.#held = held.subarray(start + 4 + length)
      if (!isMasked) this.took('a frame of the worker is not masked')
      this.#took(held[0] & 0x0f, payload)
    }
  }

  #took(opcode, payload) {
    if (opcode === 8) this.#socket?.end()
    if (opcode !== 1) return
    for (const line of payload.toString('utf8').split('\n')) {
      if (line) this.took(line)
    }
  }
}
