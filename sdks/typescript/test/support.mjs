/**
 * A runner under test, and projects for it to load from.
 */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Runner } from '../../conformance/driver/runner.mjs'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const runnerFile = join(root, 'dist/runner.mjs')

/** A folder with these files, and links to these of our own packages. Gone after the test. */
export function project(t, files, packages = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'riverrun-test-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  for (const [name, target] of Object.entries(packages)) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', target), join(folder, 'node_modules', name))
  }
  return folder
}

export async function startRunner(t, { node = process.execPath, env = {}, limits } = {}) {
  const runner = new Runner([node, runnerFile], env)
  t.after(() => runner.kill())
  const client = new TestRunner(runner)
  const { result } = await client.request('initialise', {
    protocol: 1,
    limits: { messageBytes: 16777216, resultBytes: 1048576, ...limits },
  })
  if (result?.protocol !== 1) throw new Error('the runner did not answer')
  return client
}

class TestRunner {
  #lastId = 0

  constructor(runner) {
    this.runner = runner
  }

  send(message) {
    return this.runner.write(`${JSON.stringify(message)}\n`)
  }

  /** Sends a request and gives back its answer. What came before it stays in `messages`. */
  request(method, params) {
    const id = ++this.#lastId
    this.send({ id, method, params })
    return this.answer(id)
  }

  load(file, revision = 1) {
    return this.request('load', { file, revision })
  }

  invoke(file, input, more) {
    return this.request('invoke', { file, input, kind: 'job', revision: 1, ...more })
  }

  /** The id that the last request had. */
  get lastId() {
    return this.#lastId
  }

  get messages() {
    return this.runner.messages
  }

  answer(id) {
    return this.next((message) => message.id === id && !message.method, `an answer to ${id}`)
  }

  async next(wanted, what = 'a message', withinMs = 10000) {
    const found = await this.runner.until(() => {
      const message = this.runner.messages.find(wanted)
      return message ?? (this.runner.exit ? null : undefined)
    }, withinMs)
    if (!found) throw new Error(`${what} did not come: ${JSON.stringify(this.runner.exit)} ${this.runner.printed}`)
    this.runner.messages.splice(this.runner.messages.indexOf(found), 1)
    return found
  }
}
