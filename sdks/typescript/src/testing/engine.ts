/**
 * The engine that executes flows in tests: the `riverrun` binary, started once per test process as
 * `riverrun test-kit`, with simulated time and a store in memory. It speaks the worker protocol over its
 * stdin and stdout, so the handlers of a test run in the process of the test. Lines with a member
 * `kit` steer it; crates/riverrun/src/test_kit says which there are.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Socket } from 'node:net'
import { RiverrunError } from '../errors.ts'
import { Lines } from '../runner/lines.ts'

/** Receives the messages of the engine, and its end. */
export interface Receiver {
  receive(message: any): void
  gone(error: RiverrunError): void
}

let shared: Engine | undefined

/** The engine of this test process. */
export function theEngine(): Engine {
  if (!shared || shared.isGone) shared = new Engine(binary())
  return shared
}

export class Engine {
  isGone = false
  readonly #child: ChildProcess
  readonly #lines = new Lines()
  #receiver: Receiver | undefined
  #said = ''

  constructor(path: string) {
    this.#child = spawn(path, ['test-kit'], { stdio: ['pipe', 'pipe', 'pipe'] })
    const { stdin, stdout, stderr } = this.#child
    this.#lines.limitBytes = 1024 * 1024 * 1024
    this.#child.on('error', (error) => this.#over(error.message))
    this.#child.on('exit', (code, signal) => this.#over(signal ?? `exit code ${code}`))
    stdin?.on('error', () => {})
    stdout?.on('data', (chunk: Buffer) => {
      for (const line of this.#lines.take(chunk)) if (line) this.#receiver?.receive(JSON.parse(line))
    })
    stderr?.on('data', (chunk: Buffer) => (this.#said = (this.#said + chunk).slice(-4096)))
    this.#hold(false)
  }

  /** Listens until `release`; meanwhile the test process does not end by itself. */
  listen(receiver: Receiver): void {
    if (this.#receiver) throw new Error('a flow is played already: wait for it before the next one')
    this.#receiver = receiver
    this.#hold(true)
  }

  release(): void {
    this.#receiver = undefined
    this.#hold(false)
  }

  /** Ends the engine; the next flow gets a new one. */
  stop(): void {
    this.isGone = true
    this.#child.kill()
  }

  send(text: string): void {
    if (!this.isGone) this.#child.stdin?.write(`${text}\n`)
  }

  #hold(isHeld: boolean): void {
    if (isHeld) this.#child.ref()
    else this.#child.unref()
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr] as (Socket | null)[]) {
      if (isHeld) pipe?.ref?.()
      else pipe?.unref?.()
    }
  }

  #over(reason: string): void {
    if (this.isGone) return
    this.isGone = true
    this.#receiver?.gone(new RiverrunError('UNREACHABLE', `riverrun test-kit has ended (${reason})${this.#said && `: ${this.#said.trim()}`}`))
  }
}

/** Where the binary is: `RIVERRUN_BINARY`, else `riverrun` on the PATH. */
function binary(): string {
  const named = process.env.RIVERRUN_BINARY
  const places = named ? [named] : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, process.platform === 'win32' ? 'riverrun.exe' : 'riverrun'))
  const found = places.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
  if (found) return found
  const where = named ? `RIVERRUN_BINARY names ${named}, which cannot be executed` : 'there is no riverrun on the PATH'
  throw new RiverrunError('RUNTIME_MISSING', `runFlow and runStep run the riverrun binary, and ${where}: install riverrun, or set RIVERRUN_BINARY to the path of the binary. execute needs no binary`)
}
