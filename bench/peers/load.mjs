/** The two shapes of load, and what is read from samples. */

import { setTimeout as sleep } from 'node:timers/promises'

/** Keeps `lanes` of `work` going for some time, and waits for the last of them. */
export async function inFlight(lanes, seconds, work) {
  const begun = performance.now()
  const end = begun + seconds * 1e3
  const samples = []
  let n = 0
  const lane = async () => {
    do {
      const sent = performance.now()
      await work(n++)
      samples.push(performance.now() - sent)
    } while (performance.now() < end)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return { count: n, perSecond: n / ((performance.now() - begun) / 1e3), samples }
}

/** Begins `perSecond` of `work` at their times, whether or not earlier ones are done. */
export async function steady(perSecond, seconds, work) {
  const begun = performance.now()
  const open = []
  while (open.length < perSecond * seconds) {
    const due = ((performance.now() - begun) / 1e3) * perSecond
    while (open.length < Math.min(due, perSecond * seconds)) open.push(work(open.length))
    await sleep(1)
  }
  await Promise.all(open)
  return open.length
}

/** The value below which this share of the samples lies. */
export function percentile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.round((sorted.length - 1) * share)]
}

/** Of an even number of samples the middle of the two in the middle: there are often only two. */
export function median(samples) {
  const sorted = [...samples].sort((a, b) => a - b)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return sorted.length ? (low + high) / 2 : undefined
}
