/**
 * Asks the program that started this runner to translate TypeScript, and waits for the answer: Node's
 * loaders for `require`, and newer ones for `import`, cannot wait in any other way.
 */

import { spawnSync } from 'node:child_process'
import { readSync, writeSync } from 'node:fs'

/** Where translations come from: a socket, or a program that is started for each. */
export interface Place {
  fd?: number
  command?: string
  /** Two threads of an older Node use the same socket; they take turns. */
  lock: SharedArrayBuffer
}

export interface Source {
  file: string
  text: string
  format?: 'module' | 'commonjs'
  keepImports: boolean
}

export interface JavaScript {
  code: string
  format: 'module' | 'commonjs'
  isMapped: boolean
}

interface SyntaxFault {
  message: string
  line: number
  column: number
  shown: string
}

type Answer = { ok: JavaScript } | { error: SyntaxFault } | { failed: string }

const patienceMs = 20_000
const answerBytes = 64 * 1024 * 1024

/** Undefined if this runner has no translator. */
export function givenPlace(): Place | undefined {
  const { RIVERRUN_TYPESCRIPT_FD: fd, RIVERRUN_TYPESCRIPT_COMMAND: command } = process.env
  if (!fd && !command) return undefined
  return { ...(fd ? { fd: Number(fd) } : { command: command! }), lock: new SharedArrayBuffer(4) }
}

export function translate(place: Place, source: Source): JavaScript {
  const answer = JSON.parse(ask(place, Buffer.from(JSON.stringify(source))).toString()) as Answer
  if ('ok' in answer) return answer.ok
  if ('failed' in answer) throw failed(`${source.file}: ${answer.failed}`)
  throw invalid(source.file, answer.error)
}

export function failed(message: string): Error {
  return Object.assign(new Error(message), { code: 'MODULE_TS' })
}

/** In the form of Node's own syntax errors: the place and the line come before the rest of the stack. */
function invalid(file: string, { message, line, column, shown }: SyntaxFault): Error {
  const error = Object.assign(new SyntaxError(message), { code: 'ERR_INVALID_TYPESCRIPT_SYNTAX' })
  error.stack = `${file}:${line}\n${shown || `\n${' '.repeat(column - 1)}^`}\n\nSyntaxError: ${message}`
  return error
}

function ask(place: Place, request: Buffer): Buffer {
  const message = Buffer.alloc(4 + request.length)
  message.writeUInt32BE(request.length)
  request.copy(message, 4)
  return place.fd === undefined ? askProgram(place.command!, message) : inTurn(place, (fd) => askSocket(fd, message))
}

function inTurn<T>({ lock, fd }: Place, act: (fd: number) => T): T {
  const turn = new Int32Array(lock)
  while (Atomics.compareExchange(turn, 0, 0, 1) !== 0) Atomics.wait(turn, 0, 1)
  try {
    return act(fd!)
  } finally {
    Atomics.store(turn, 0, 0)
    Atomics.notify(turn, 0, 1)
  }
}

function askSocket(fd: number, message: Buffer): Buffer {
  for (let sent = 0; sent < message.length; ) sent += writeSync(fd, message, sent)
  return read(fd, read(fd, 4).readUInt32BE())
}

function read(fd: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; ) {
    const count = readSync(fd, bytes, at, length - at, null)
    if (count === 0) throw failed('the server does not answer')
    at += count
  }
  return bytes
}

function askProgram(command: string, input: Buffer): Buffer {
  const { stdout, error, signal } = spawnSync(command, ['__translate'], { input, env: {}, timeout: patienceMs, maxBuffer: answerBytes })
  if (error) throw failed(`${command} cannot be started: ${error.message}`)
  if (stdout.length < 4) throw failed(`the translator of TypeScript ended${signal ? ` with ${signal}` : ''}`)
  return stdout.subarray(4)
}
