/**
 * Servers and workers of one turn. Whatever was started here is stopped when the turn ends, is
 * interrupted, or loses the program that asked for it.
 */

import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const running = new Map()

function keep(child, signal) {
  running.set(child, signal)
  for (const end of ['exit', 'error']) child.once(end, () => running.delete(child))
  return child
}

/** Starts a server whose output goes to a file in `folder`, and waits until `isReady`. */
export async function server(folder, command, args, { isReady, signal = 'SIGKILL', ...options }) {
  const log = openSync(join(folder, 'log'), 'a')
  const child = keep(spawn(command, args, { stdio: ['ignore', log, log], ...options }), signal)
  let failure
  child.once('error', (error) => (failure = error))
  const deadline = Date.now() + 60_000
  while (!(await isReady().catch(() => false))) {
    if (failure) throw new Error(`${command} cannot be started: ${failure.message}`)
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: see ${join(folder, 'log')}`)
    if (Date.now() > deadline) throw new Error(`${command} is not ready after 60 s`)
    await sleep(10)
  }
}

/** The Node process that does a peer's work. `take` lets it begin with one kind of it and leave the one before. */
export async function worker(module, settings, reports) {
  const env = { ...process.env, PEERS_PORT: String(reports.port) }
  const child = keep(fork(join(import.meta.dirname, 'worker.mjs'), [module, JSON.stringify(settings)], { env }), 'SIGKILL')
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the worker of ${module} ended with ${code}`)))
  ended.catch(() => {})
  const answer = () => Promise.race([once(child, 'message'), ended])
  await answer()
  return {
    async take(kind) {
      child.send(kind)
      await answer()
    },
  }
}

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  await once(probe, 'close')
  return port
}

/** The last one first: a worker does not see its server go. */
export async function stopAll() {
  for (const [child, signal] of [...running].reverse()) {
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
}
