/**
 * Plays one conversation against a fresh runner, or a fresh worker. Throws if it goes another way.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { fill, mismatch } from './pattern.mjs'
import { Runner } from './runner.mjs'
import { Worker } from './worker.mjs'

const patienceMs = 5000
const limits = { messageBytes: 16777216, resultBytes: 1048576 }

const opening = (conversation) => [
  {
    send: {
      id: 1,
      method: 'initialise',
      params: {
        protocol: 1,
        server: { name: 'conformance', version: '1' },
        limits: { ...limits, ...conversation.limits },
        project: process.cwd(),
      },
    },
  },
  {
    expect: {
      id: 1,
      result: {
        protocol: 1,
        sdk: { name: { $is: 'string' }, version: { $is: 'string' }, language: { $is: 'string' } },
        runtime: { $is: 'string' },
        pid: { $is: 'integer' },
      },
    },
    withinMs: 20000,
  },
]

const closing = [{ closeInput: true }, { expectExit: { code: 0 } }]

/** A worker connects by itself, and leaves when it is asked to. */
const workerOpening = [{ expectConnection: {} }]
const workerClosing = [
  { signal: 'SIGTERM' },
  { expect: { method: 'leave', id: { $absent: true } } },
  { send: { id: 900, method: 'drain', params: { graceMs: 1000 } } },
  { expect: { id: 900, result: { unfinished: 0 } } },
  { closeConnection: { code: 1000 } },
  { expectExit: {} },
]

export async function play(conversation, language) {
  const runner = conversation.worker
    ? await Worker.start(language.worker, language.env, language.cwd)
    : new Runner(language.command, language.env, language.cwd)
  const talk = new Talk(runner, language)
  const opens = conversation.worker ? workerOpening : opening(conversation)
  const steps = [...(conversation.initialise === false ? [] : opens), ...conversation.steps]
  if (!steps.some((step) => step.expectExit)) steps.push(...(conversation.worker ? workerClosing : closing))
  try {
    for (const [index, step] of steps.entries()) {
      try {
        await talk.play(step)
      } catch (error) {
        error.step = `step ${index + 1} of ${steps.length}: ${JSON.stringify(step)}`
        throw error
      }
    }
    const left = runner.messages.filter((message) => message.method !== 'heartbeat')
    if (left.length) throw new Error(`said more than was expected: ${JSON.stringify(left).slice(0, 500)}`)
  } catch (error) {
    error.printed = runner.printed
    error.transcript = talk.transcript
    throw error
  } finally {
    runner.kill()
  }
}

/** As the server's: far from the ids of invocations. */
const helloId = Number.MAX_SAFE_INTEGER

class Talk {
  bound = new Map()
  transcript = []
  connections = 0

  constructor(runner, language) {
    this.runner = runner
    this.fixture = language.fixture
  }

  async play(step) {
    if (step.send) return this.#send(`${JSON.stringify(fill(step.send, this.bound, this.fixture))}\n`)
    if (step.sendText) {
      const text = fill(step.sendText, this.bound, this.fixture)
      return this.#send(text.base64 ? Buffer.from(text.base64, 'base64') : text)
    }
    if (step.expect) return this.#expect(step.expect, step.withinMs)
    if (step.expectAll) return this.#expectAll(step.expectAll, step.withinMs)
    if (step.expectNothing) return this.#expectNothing(step.expectNothing)
    if (step.expectPrinted) return this.#expectPrinted(step.expectPrinted)
    if (step.closeInput) return this.runner.closeInput()
    if (step.expectConnection) return this.#expectConnection(step.expectConnection)
    if (step.expectNoConnection) return this.#expectNoConnection(step.expectNoConnection)
    if (step.cut) return this.runner.cut()
    if (step.closeConnection) return this.runner.close(step.closeConnection.code, step.closeConnection.reason)
    if (step.signal) return this.runner.child.kill(step.signal)
    if (step.expectExit) return this.#expectExit(step.expectExit)
    throw new Error('no such kind of step')
  }

  async #send(bytes) {
    this.transcript.push(`→ ${String(bytes).slice(0, 2000).trimEnd()}`)
    await this.runner.write(bytes)
  }

  async #expect(pattern, withinMs = patienceMs) {
    const message = await this.#next(pattern.method === 'heartbeat', withinMs)
    const reason = mismatch(pattern, message, this.bound)
    if (reason) throw new Error(reason)
  }

  async #expectAll(patterns, withinMs = patienceMs) {
    const left = [...patterns]
    while (left.length) {
      const message = await this.#next(false, withinMs)
      const reasons = left.map((pattern) => mismatch(pattern, message, this.bound))
      const index = reasons.indexOf(undefined)
      if (index < 0) throw new Error(`none of the patterns matches ${JSON.stringify(message)}: ${reasons.join('; ')}`)
      left.splice(index, 1)
    }
  }

  async #expectNothing(ms) {
    await sleep(ms)
    const message = this.#peek(false)
    if (message) throw new Error(`there should be silence, but this came: ${JSON.stringify(message)}`)
  }

  async #expectPrinted(text) {
    const found = await this.runner.until(() => {
      const next = this.#peek(false)
      if (next?.method === 'log' && next.params?.message?.includes(text)) {
        this.#take(next)
        return true
      }
      return this.runner.printed.includes(text) || undefined
    }, patienceMs)
    if (!found) throw new Error('this was neither printed nor logged')
  }

  /** The worker connects (again), and says who it is in a way that matches. */
  async #expectConnection(pattern) {
    this.connections += 1
    const wanted = this.connections
    const came = await this.runner.until(() => (this.runner.connections >= wanted ? true : this.runner.exit ? false : undefined), 20000)
    if (!came) throw new Error(`the worker did not connect${this.runner.exit ? `, it exited: ${JSON.stringify(this.runner.exit)}` : ''}`)
    const params = { protocol: 1, server: { name: 'conformance', version: '1' }, limits, reconnectMs: 30000 }
    await this.#send(JSON.stringify({ id: helloId, method: 'initialise', params }))
    await this.#expect({ id: helloId, result: { protocol: 1, ...pattern } })
    await this.#send(JSON.stringify({ method: 'welcome', params: { workerId: this.connections } }))
  }

  async #expectNoConnection(ms) {
    await sleep(ms)
    if (this.runner.connections > this.connections) throw new Error('the worker connected again')
  }

  async #expectExit({ code, withinMs = patienceMs }) {
    const exit = await this.runner.until(() => this.runner.exit, withinMs)
    if (!exit) throw new Error(`the runner did not exit within ${withinMs} ms`)
    const fits = code === undefined || (code === 'nonzero' ? exit.code !== 0 : exit.code === code)
    if (!fits) throw new Error(`the runner should exit with ${code}, but: ${JSON.stringify(exit)}`)
  }

  async #next(heartbeats, withinMs) {
    const message = await this.runner.until(() => {
      return this.#peek(heartbeats) ?? (this.runner.exit ? null : undefined)
    }, withinMs)
    if (message === undefined) throw new Error(`no message came within ${withinMs} ms`)
    if (message === null) throw new Error(`the runner exited: ${JSON.stringify(this.runner.exit)}`)
    this.#take(message)
    return message
  }

  #peek(heartbeats) {
    return this.runner.messages.find((message) => heartbeats || message.method !== 'heartbeat')
  }

  #take(message) {
    this.runner.messages.splice(this.runner.messages.indexOf(message), 1)
    this.transcript.push(`← ${JSON.stringify(message).slice(0, 2000)}`)
  }
}
