/**
 * What the machine can do right now, the yardstick of `bench/README.md`: synced 4 KiB appends of
 * one thread, and small POSTs to a server that does nothing. Both sides of the latter are Node here.
 */

import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'
import { Pool } from 'undici'
import { inFlight } from './load.mjs'

export async function limits(folder, seconds) {
  return { appends: appends(join(folder, 'appends'), seconds), posts: await posts(seconds) }
}

function appends(path, seconds) {
  const file = openSync(path, 'w')
  const block = Buffer.alloc(4096, 7)
  const begun = performance.now()
  let count = 0
  while (performance.now() - begun < seconds * 1e3) {
    writeSync(file, block)
    fdatasyncSync(file)
    count += 1
  }
  const rate = count / ((performance.now() - begun) / 1e3)
  closeSync(file)
  rmSync(path)
  return rate
}

async function posts(seconds) {
  const thread = new Worker(new URL(import.meta.url))
  const port = await new Promise((resolve) => thread.once('message', resolve))
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64 })
  const post = async () => (await pool.request({ path: '/', method: 'POST', body: '{"input":{"n":1}}' })).body.text()
  await inFlight(64, seconds / 3, post)
  const { perSecond } = await inFlight(64, seconds, post)
  await pool.destroy()
  await thread.terminate()
  return perSecond
}

if (!isMainThread) {
  const server = createServer((request, response) => request.resume().on('end', () => response.end('{}')))
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
}
