/**
 * One turn: the machine's limits, then a system from an empty folder, then its figures. A process
 * of its own, so that no turn inherits the heap or the connections of another.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { stopAll } from './children.mjs'
import { Reports } from './reports.mjs'
import { limits } from './limits.mjs'
import { takeAll } from './measures.mjs'

async function turn({ module, options, folder, binary, wanted, seconds }) {
  mkdirSync(folder, { recursive: true })
  const machine = await limits(folder, seconds / 3)
  const reports = await Reports.open()
  const { start } = await import(`./${module}.mjs`)
  const system = await start({ folder, binary, reports, ...options })
  const figures = await takeAll(wanted, system, reports, seconds)
  await system.close?.()
  return { machine, version: system.version, figures }
}

let isLeaving = false

async function leave(code, folder) {
  isLeaving = true
  await stopAll()
  if (folder) rmSync(folder, { recursive: true, force: true })
  process.exit(code)
}

process.once('message', async (task) => {
  for (const reason of ['SIGINT', 'SIGTERM', 'disconnect']) process.once(reason, () => leave(130, task.folder))
  try {
    const result = await turn(task)
    process.send(result, () => leave(0, task.folder))
  } catch (error) {
    if (isLeaving) return
    console.error(error)
    // What the servers said stays there to be read.
    leave(1)
  }
})
