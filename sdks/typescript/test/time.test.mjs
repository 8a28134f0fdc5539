/** Simulated time while handlers sleep, and the engine that has the clock. */

import './binary.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineStep } from '../dist/index.js'
import { runFlow, runStep } from '../dist/testing.js'

const start = Date.parse('2026-01-01')
const onGo = { subscriptions: [{ eventKind: 'go' }] }
const begin = defineStep((_, ctx) => ctx.emit('go'), { flow: { role: 'entry' }, emits: ['go'] })

test('handlers that sleep at once go on in the order of their times', async () => {
  const seen = []
  const note = (name) => seen.push([name, Date.now() - start])
  const run = await runFlow({
    begin,
    slow: defineStep(async () => (await sleep(3000), note('slow')), onGo),
    fast: defineStep(async () => (await sleep(1000), note('fast'), await sleep(1500), note('fast again')), onGo),
    middle: defineStep(async () => (await sleep(2000), note('middle')), onGo),
  })
  assert.deepEqual([run.error, run.elapsedMs], [undefined, 3000])
  assert.deepEqual(seen, [['fast', 1000], ['middle', 2000], ['fast again', 2500], ['slow', 3000]])
})

test('what happens outside comes in time while a handler sleeps', async () => {
  const run = await runFlow(
    {
      begin,
      sleeps: defineStep(() => sleep(3000), onGo),
      waits: defineStep(async (_, ctx) => {
        await ctx.await.event({ kind: 'paid' })
        await ctx.await.time('500ms')
      }, onGo),
    },
    { events: [{ type: 'paid', at: '1s' }] },
  )
  assert.deepEqual([run.error, run.elapsedMs], [undefined, 3000])
  const { awaits } = run.visits.find(({ step }) => step === 'waits')
  assert.deepEqual(awaits.map(({ until }) => until), ['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:01.500Z'])
})

test('a call lasts as long as what it calls', async () => {
  const run = await runFlow({
    asks: defineStep(async (_, ctx) => {
      const late = new AbortController()
      const timer = sleep(5000, 'late', { signal: late.signal }).catch(() => 'aborted')
      const price = await Promise.race([ctx.call('price', 7), timer])
      late.abort()
      return [price, Date.now() - start]
    }, { flow: { role: 'entry' } }),
    price: defineStep(async (n) => (await sleep(2000), n * 10), onGo),
  })
  assert.deepEqual([run.error, run.visits[0].value], [undefined, [70, 2000]])
})

test('a handler that sleeps too long is timed out', async () => {
  const run = await runStep(defineStep((_, ctx) => sleep(10_000, null, { signal: ctx.signal }), { timeoutMs: 5000, retryPolicy: { attempts: 1 } }))
  assert.deepEqual([run.error.code, run.elapsedMs], ['TIMEOUT', 5000])
})

test('a declared await of the entry sees the state that the test gives', async () => {
  const pay = defineStep((_, ctx) => ctx.awaited.data.by, { flow: { role: 'entry' }, await: { type: 'event', eventKind: 'paid', match: { 'data.id': 'state.order' } } })
  const events = [{ type: 'paid', data: { id: 4, by: 'ann' }, at: '1h' }, { type: 'paid', data: { id: 5, by: 'bob' }, at: '2h' }]
  const run = await runFlow({ pay }, { input: { order: 4, n: 1 }, state: { order: 5 }, events })
  assert.deepEqual([run.error, run.visits[0].value], [undefined, 'bob'])
  assert.deepEqual([run.state, run.elapsedMs], [{ order: 5, n: 1 }, 7_200_000])
  assert.equal(run.visits[0].startedAt, '2026-01-01T00:00:00.000Z')
})
