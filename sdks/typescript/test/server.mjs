/**
 * The real server, for tests that need one: `cargo build -p riverrun` makes it.
 */

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Riverrun } from '../dist/index.js'
import { root } from './support.mjs'

const target = process.env.CARGO_TARGET_DIR ?? join(root, '../../target')
const binary = process.env.RIVERRUN_BIN ?? join(target, 'debug/riverrun')

/** A server without a project, with a data folder of its own. Gone after the test. */
export async function startServer(t, args = []) {
  if (!existsSync(binary)) throw new Error(`${binary} is not there: cargo build -p riverrun makes it`)
  const data = mkdtempSync(join(tmpdir(), 'riverrun-server-'))
  const server = new Server(data, args)
  t.after(async () => {
    await server.stop('SIGKILL')
    rmSync(data, { recursive: true, force: true })
  })
  await server.start('127.0.0.1:0')
  return server
}

class Server {
  #child

  constructor(data, args) {
    this.data = data
    this.args = args
  }

  async start(listen) {
    const child = spawn(binary, ['serve', '--listen', listen, '--data', this.data, ...this.args], { cwd: this.data, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    this.url = await new Promise((resolve, reject) => {
      let said = ''
      const onData = (chunk) => {
        said += chunk
        const found = /is listening on (\S+)/.exec(said)
        if (found) resolve(found[1])
      }
      child.stdout.on('data', onData)
      child.stderr.on('data', onData)
      child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)))
    })
    this.client = new Riverrun({ url: this.url })
  }

  /** The same server once more, at the same place, with the same data. */
  async restart(signal = 'SIGTERM') {
    const { host } = new URL(this.url)
    await this.stop(signal)
    await this.start(host)
  }

  async stop(signal = 'SIGTERM') {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }
}

/** A promise that somebody else settles. */
export function signal() {
  let settle
  const promise = new Promise((resolve) => (settle = resolve))
  return Object.assign(promise, { settle })
}
