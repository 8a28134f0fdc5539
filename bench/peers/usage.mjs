/** Who uses the machine's processors, from `/proc`. */

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** The share of the machine that others may use before figures mean little. */
export const disturbed = 0.1

/** Ticks so far: of the whole machine, and of this process with the children that have ended. */
function ticks() {
  const stat = readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/).slice(1, 9).map(Number)
  const all = stat.reduce((sum, part) => sum + part)
  const own = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ').slice(11, 15).map(Number)
  return { all, busy: all - stat[3] - stat[4], own: own.reduce((sum, part) => sum + part) }
}

/** Begins to watch; what it gives back says which share of the machine others have used since. */
export function watchOthers() {
  const before = ticks()
  return () => {
    const now = ticks()
    const others = now.busy - before.busy - (now.own - before.own)
    return Math.max(0, others / Math.max(1, now.all - before.all))
  }
}

/** Waits until others leave the machine alone, but no longer than `patience` seconds. */
export async function quiet(patience) {
  const deadline = Date.now() + patience * 1e3
  while (Date.now() < deadline) {
    const others = watchOthers()
    await sleep(1_000)
    if (others() < disturbed) return
  }
}
