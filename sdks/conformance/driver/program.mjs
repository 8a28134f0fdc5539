/**
 * A program under test: a child process, what it printed, and the messages that it has sent.
 */

import { spawn } from 'node:child_process'

export class Program {
  /** Messages that were not read yet, in the order of their arrival. */
  messages = []
  printed = ''
  exit = undefined
  #woken = new Set()

  constructor([program, ...args], { env, cwd, stdio }) {
    this.child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio })
    this.child.on('error', (error) => this.#ended({ code: undefined, error: error.message }))
    this.child.on('exit', (code, signal) => this.#ended({ code, signal }))
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.printed += text
        this.wake()
      })
    }
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

  wake() {
    for (const wake of [...this.#woken]) wake()
  }

  #ended(exit) {
    this.exit ??= exit
    this.wake()
  }

  /** Takes a line that came. */
  took(line) {
    this.messages.push(parse(line))
    this.wake()
  }
}

function parse(line) {
  try {
    return JSON.parse(line)
  } catch {
    return { unreadable: line }
  }
}
