import './binary.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runStep } from '../dist/testing.js'

test('durations are those of the server', async () => {
  const cases = { 1500: 1500, '1500': 1500, '90s': 90_000, '1h 30m': 5_400_000, '1h30m': 5_400_000, '2 days': 172_800_000, PT5M: 300_000, 'P1DT1H': 90_000_000, '1 week, 1 day': 691_200_000, '250ms': 250, '1.5h': 5_400_000 }
  for (const [text, ms] of Object.entries(cases)) {
    const { elapsedMs } = await runStep((_, ctx) => ctx.await.time(text))
    assert.equal(elapsedMs, ms, text)
  }
  for (const bad of ['soon', '', '5 months', '1h later', NaN, -1, Infinity, new Date('x')]) {
    const { error } = await runStep((_, ctx) => ctx.await.time(bad))
    assert.deepEqual([error?.code, error?.retriable], ['INPUT_ERROR', false], String(bad))
  }
})
