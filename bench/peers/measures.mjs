/**
 * What is measured, the same for everybody: the load is made here, a peer only says how one job is
 * added and one flow is run.
 */

import { once } from 'node:events'
import { inFlight, median, percentile, steady } from './load.mjs'
import { nowMs } from './handler.mjs'

const pad = 'x'.repeat(100)
const data = (n) => ({ n, pad })

/** In the order in which they are taken: what leaves jobs behind comes last. */
export const measures = [
  { id: 'alone', title: 'from add to start, one at a time, p50', unit: 'ms', needs: 'timed', take: startsAlone },
  { id: 'steady', title: 'from add to start, 500 jobs/s, p99', unit: 'ms', needs: 'timed', take: startsSteadily },
  { id: 'chain', title: 'flows of three jobs, 256 in flight', unit: '/s', needs: 'chain', take: flows },
  { id: 'chainAlone', title: 'a flow of three jobs alone, p50', unit: 'ms', needs: 'chain', take: flowsAlone },
  { id: 'code', title: 'code of three recorded steps, 256 in flight', unit: '/s', needs: 'code', take: flows },
  { id: 'codeAlone', title: 'code of three recorded steps alone, p50', unit: 'ms', needs: 'code', take: flowsAlone },
  { id: 'add', title: 'added, 64 in flight', unit: '/s', needs: 'add', take: adds },
  { id: 'addMany', title: 'added, 1,000 at a time', unit: '/s', needs: 'addMany', take: addsMany },
  { id: 'drain', title: 'drained by one Node process', unit: '/s', needs: 'add', take: drains },
]

/** Takes those of the measures that a system has, each for `seconds`. */
export async function takeAll(wanted, system, reports, seconds) {
  const figures = {}
  let worked
  for (const { id, needs, take } of measures) {
    if (!wanted.includes(id)) continue
    const kind = { drain: 'noop', add: 'nothing', addMany: 'nothing' }[id] ?? needs
    if (kind !== worked && kind !== 'noop') await system.take(kind)
    worked = kind
    figures[id] = await take({ system, reports, seconds, run: system[needs] })
  }
  return figures
}

async function startsAlone({ system, reports, seconds }) {
  const one = async (n) => {
    const began = once(reports, 'began')
    await system.timed({ ...data(n), sent: nowMs() })
    return (await began)[0]
  }
  const samples = []
  await inFlight(1, seconds / 5, one)
  await inFlight(1, seconds, async (n) => samples.push(await one(n)))
  return median(samples)
}

async function startsSteadily({ system, reports, seconds }) {
  const samples = []
  const record = (waitedMs) => samples.push(waitedMs)
  reports.on('began', record)
  const sent = await steady(500, seconds * 2, (n) => system.timed({ ...data(n), sent: nowMs() }))
  while (samples.length < sent) await once(reports, 'began')
  reports.off('began', record)
  return percentile(samples, 0.99)
}

async function flows({ seconds, run }) {
  await inFlight(64, seconds / 5, (n) => run(`warm-${n}`))
  return (await inFlight(256, seconds * 1.5, (n) => run(`many-${n}`))).perSecond
}

async function flowsAlone({ seconds, run }) {
  return median((await inFlight(1, seconds, (n) => run(`alone-${n}`))).samples)
}

async function adds({ system, seconds }) {
  const warm = await inFlight(64, seconds / 5, (n) => system.add(data(n)))
  const added = await inFlight(64, seconds * 1.5, (n) => system.add(data(n)))
  system.added = warm.count + added.count
  return added.perSecond
}

async function addsMany({ system, seconds }) {
  const jobs = Array.from({ length: 1_000 }, (_, n) => data(n))
  await system.addMany(jobs)
  const added = await inFlight(1, seconds, () => system.addMany(jobs))
  system.added += (added.count + 1) * 1_000
  return added.perSecond * 1_000
}

/**
 * From the first job on, until the time is over or a hundredth is left: the very last ones would
 * measure the luck of a single job.
 */
async function drains({ system, reports, seconds }) {
  const enough = system.added * 0.99
  const first = once(reports, 'handled')
  await system.take('noop')
  if (reports.handled >= enough) return undefined
  const [{ handled, atMs }] = await first
  const deadline = AbortSignal.timeout(seconds * 1.5e3)
  try {
    while (reports.handled < enough) await once(reports, 'handled', { signal: deadline })
  } catch (error) {
    if (error.name !== 'AbortError') throw error
  }
  return (reports.handled - handled) / ((nowMs() - atMs) / 1e3)
}
