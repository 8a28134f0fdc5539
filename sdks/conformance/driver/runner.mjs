/**
 * A runner as the server sees it: a child process with messages on fd 0 and fd 3.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { StringDecoder } from 'node:string_decoder'

export class Runner {
  /** Messages that nobody has looked at, in the order in which they came. */
  messages = []
  printed = ''
  exit = undefined
  #woken = new Set()

  constructor(command, env, cwd) {
    const [program, ...args] = command
    this.child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    this.child.on('error', (error) => this.#ended({ code: undefined, error: error.message }))
    this.child.on('exit', (code, signal) => this.#ended({ code, signal }))
    // A runner that ends the connection must not end the driver.
    this.child.stdin.on('error', () => {})
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.printed += text
        this.#wake()
      })
    }
    this.#read(this.child.stdio[3])
  }

  async write(bytes) {
    if (!this.child.stdin.write(bytes)) await Promise.race([once(this.child.stdin, 'drain'), once(this.child, 'exit')])
  }

  closeInput() {
    this.child.stdin.end()
  }

  kill() {
    if (!this.exit) this.child.kill('SIGKILL')
  }

  /** Waits until `look` gives something; undefined if that takes longer than `ms`. */
  async until(look, ms) {
    const deadline = Date.now() + ms
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      const left = deadline - Date.now()
      if (left <= 0) return undefined
      await this.#change(left)
    }
  }

  #change(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms)
      const woken = this.#woken
      function done() {
        clearTimeout(timer)
        woken.delete(done)
        resolve()
      }
      woken.add(done)
    })
  }

  #wake() {
    for (const wake of [...this.#woken]) wake()
  }

  #ended(exit) {
    this.exit ??= exit
    this.#wake()
  }

  #read(stream) {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    stream.on('error', () => {})
    stream.on('data', (chunk) => {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop()
      for (const line of lines) this.messages.push(parse(line))
      this.#wake()
    })
    stream.on('end', () => {
      if (rest) this.messages.push({ unfinished: rest })
      this.#wake()
    })
  }
}

function parse(line) {
  try {
    return JSON.parse(line)
  } catch {
    return { unreadable: line }
  }
}
