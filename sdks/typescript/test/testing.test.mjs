import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { defineProcess, defineQueueConfig, defineQueueWorker, NonRetriableError, RiverrunError } from '../dist/index.js'
import { createTestContext, execute, fakeClock } from '../dist/testing.js'

test('a worker runs with its job and leaves its traces', async () => {
  const worker = defineQueueWorker(async (job, ctx) => {
    ctx.logger.child({ job: job.id }).info('begun', { token: 'x' })
    ctx.progress(50, { half: true })
    ctx.partial([1], 'rows')
    await ctx.emit('order.paid', { id: job.data.id })
    const one = await ctx.enqueue('emails', { to: 'ann' }, { idempotencyKey: 'k' })
    const again = await ctx.enqueue('emails', { to: 'ann' }, { idempotencyKey: 'k' })
    const price = await ctx.call('price', job.data.id)
    const { runId } = await ctx.start('ship', { id: job.data.id })
    return { one, again, price, runId, attempt: job.attempt, queue: job.queue }
  }, { queue: 'orders', retryPolicy: { attempts: 3 } })
  const done = await execute(worker, { id: 7 }, { calls: { price: (id) => id * 10 } })
  assert.equal(done.status, 'completed')
  assert.deepEqual(done.value, { one: { jobId: 'job-1', created: true }, again: { jobId: 'job-1', created: false }, price: 70, runId: 'run-1', attempt: 1, queue: 'orders' })
  assert.deepEqual(done.logs, [{ level: 'info', message: 'begun', meta: { job: 'job-0', token: '[redacted]' } }])
  assert.deepEqual(done.progress, [{ pct: 50, detail: { half: true } }])
  assert.deepEqual(done.partials, [{ path: 'rows', value: [1] }])
  assert.equal(done.events[0].type, 'order.paid')
  assert.equal(done.enqueued.length, 1)
  assert.deepEqual(done.calls, [{ process: 'price', input: 7 }])
})

test('state is kept, patched again after a conflict, and checked', async () => {
  const config = defineQueueConfig({ state: z.object({ status: z.enum(['idle', 'training']), accuracy: z.number().max(1), n: z.number() }) })
  const handler = async (_, { state }) => {
    await state.set('status', 'training')
    const n = await state.patch('n', (before = 40) => before + 1)
    await state.patch(() => ({ n: n + 1 }))
    return state.set('accuracy', 1.5)
  }
  const done = await execute({ default: handler, config }, null, { conflicts: 5 })
  assert.equal(done.status, 'failed')
  assert.equal(done.error.code, 'STATE_INVALID')
  assert.equal(done.error.details.issues[0].path, 'accuracy')
  assert.deepEqual(done.state, { status: 'training', n: 42 })
})

test('a patch gives up after its retries', async () => {
  const done = await execute((_, { state }) => state.patch('n', () => 1, { retries: 2 }), null, { conflicts: 3 })
  assert.equal(done.error.code, 'STATE_CONFLICT')
})

test('the next attempt goes on where the last one stopped', async () => {
  let charges = 0
  const handler = defineProcess(async (input, ctx) => {
    const receipt = await ctx.run('charge', () => ({ charge: ++charges, at: new Date(0) }))
    await ctx.state.set('charged', true)
    await ctx.checkpoint.save({ page: ctx.attempt })
    if (ctx.attempt === 1) throw new RiverrunError('BUSY', 'later')
    return { receipt, page: ctx.checkpoint.data.page }
  })
  const first = await execute(handler, {})
  assert.equal(first.status, 'failed')
  const second = await execute(handler, {}, { after: first })
  assert.deepEqual(second.value, { receipt: { charge: 1, at: '1970-01-01T00:00:00.000Z' }, page: 2 })
  assert.equal(charges, 1)
  assert.deepEqual(second.state, { charged: true })
})

test('a final error is recorded, and thrown again without calling', async () => {
  let calls = 0
  const handler = (_, ctx) => ctx.run('charge', () => {
    calls += 1
    throw new NonRetriableError('no funds', { code: 'FUNDS' })
  })
  const first = await execute(handler)
  const second = await execute(handler, null, { after: first })
  assert.equal(second.error.message, 'no funds')
  assert.equal(second.error.code, 'FUNDS')
  assert.equal(calls, 1)
})

test('time passes as fast as the handler waits', async (t) => {
  const clock = fakeClock('2026-01-01T00:00:00.000Z')
  t.after(() => clock.restore())
  const handler = async (_, ctx) => {
    for (let i = 0; i < 24; i++) await sleep(3_600_000, undefined, { signal: ctx.signal })
    await promisify(setTimeout)(1000)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return new Date().toISOString()
  }
  const done = await execute(handler, null, { clock })
  assert.equal(done.value, '2026-01-02T00:00:02.000Z')
  const stopped = await execute(handler, null, { clock, timeoutMs: 5000 })
  assert.equal(stopped.status, 'cancelled')
  assert.equal(clock.now, Date.parse('2026-01-02T00:00:07.000Z'))
})

test('a clock is moved by hand', async (t) => {
  const clock = fakeClock(0)
  t.after(() => clock.restore())
  const fired = []
  const interval = setInterval(() => fired.push(`tick ${Date.now()}`), 10)
  const gone = setTimeout(() => fired.push('never'), 15)
  setTimeout(async () => {
    await null
    setTimeout(() => fired.push(`inner ${Date.now()}`), 5)
  }, 12)
  clearTimeout(gone)
  await clock.advance(25)
  assert.deepEqual(fired, ['tick 10', 'inner 17', 'tick 20'])
  clearInterval(interval)
  await clock.advance(100)
  assert.equal(fired.length, 3)
  assert.equal(new Date().getTime(), 125)
  assert.ok(new Date() instanceof Date)
  assert.equal(new Date(5).getTime(), 5)
})

test('restored, time is what it was', () => {
  const before = globalThis.setTimeout
  const clock = fakeClock(0)
  clock.restore()
  assert.equal(globalThis.setTimeout, before)
  assert.ok(Date.now() > 1e12)
})

test('a handler is cancelled', async () => {
  const abort = new AbortController()
  setTimeout(() => abort.abort(), 20)
  const done = await execute((_, ctx) => sleep(60000, undefined, { signal: ctx.signal }), null, { signal: abort.signal })
  assert.equal(done.status, 'cancelled')
})

test('each job of a batch has a context of its own', async () => {
  const worker = defineQueueWorker(
    async (jobs, ctx) => {
      for (const job of jobs) {
        const own = ctx.job(job.id)
        await own.state.set('data', job.data)
        own.progress(50)
      }
      ctx.logger.info('of the batch')
      assert.throws(() => ctx.job(2), RangeError)
      assert.equal(ctx.job(1), ctx.job('job-0-1'))
      assert.equal(ctx.job(1).signal, ctx.signal)
    },
    { batch: { size: 10 } },
  )
  const { status, jobs, state, error } = await execute(worker, ['a', 'b'])
  assert.equal(status, 'completed', error)
  assert.deepEqual(jobs.map((job) => [job.state, job.progress.length, job.logs.length]), [[{ data: 'a' }, 1, 1], [{ data: 'b' }, 1, 0]])
  assert.deepEqual(state, { data: 'a' })
  await execute((_, ctx) => assert.equal(ctx.job(0), ctx))
})

test('a batch gets its list', async () => {
  const worker = defineQueueWorker(async (jobs) => jobs.map(({ id, data }) => [id, data]), { batch: { size: 10 } })
  const done = await execute(worker, [1, 2])
  assert.deepEqual(done.value, [['job-0-0', 1], ['job-0-1', 2]])
})

test('a context serves by itself', async () => {
  const test = createTestContext({ state: { n: 1 }, jobId: 'j', correlationId: 'c', leaseValid: false })
  await test.ctx.state.set('m.deep', 2)
  test.ctx.logger.warn('hm')
  assert.deepEqual(test.state, { n: 1, m: { deep: 2 } })
  assert.deepEqual(test.logs, [{ level: 'warn', message: 'hm' }])
  assert.equal(test.ctx.jobId, 'j')
  assert.equal(test.ctx.correlationId(), 'c')
  assert.equal(await test.ctx.isLeaseValid(), false)
  test.cancel('shutdown')
  assert.equal(test.ctx.signal.reason.reason, 'shutdown')
})

test('a job knows whether it is still leased', async () => {
  const worker = defineQueueWorker(async (job, ctx) => {
    const listed = Object.keys(job).includes('isLeaseValid')
    return [await job.isLeaseValid(), listed, ctx.correlationId()]
  })
  const lost = await execute(worker, 1, { leaseValid: false, jobId: 'j' })
  assert.deepEqual(lost.value, [false, false, 'run-0'])
  const both = await execute(
    defineQueueWorker(async (jobs) => Promise.all(jobs.map((job) => job.isLeaseValid())), { batch: { size: 2 } }),
    [1, 2],
  )
  assert.deepEqual(both.value, [true, true])
})
