import './binary.mjs'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineProcess, defineStep, NonRetriableError, RetryAfterError, RiverrunError } from '../dist/index.js'
import { execute, fakeClock, later, runFlow, runStep } from '../dist/testing.js'
import { join } from 'node:path'
import { project, startRunner } from './support.mjs'

test('a month passes at once, and the code before it does its work once', async () => {
  let charges = 0
  const renew = async (input, ctx) => {
    const charge = await ctx.run('charge', () => ({ n: ++charges }))
    await ctx.emit('charged', { user: input.user })
    await ctx.enqueue('mails', { to: input.user })
    await ctx.await.time('30 days')
    const price = await ctx.call('price', charge.n)
    await ctx.await.time(new Date('2026-02-01T00:00:00.000Z'))
    return { charge, price, at: new Date().toISOString() }
  }
  const began = performance.now()
  const done = await runStep(renew, { input: { user: 'ann' }, start: new Date('2026-01-01T00:00:00.000Z'), calls: { price: (n) => n * 100 } })
  assert.ok(performance.now() - began < 1000)
  assert.equal(done.status, 'completed', done.error?.message)
  assert.deepEqual(done.value, { charge: { n: 1 }, price: 100, at: '2026-02-01T00:00:00.000Z' })
  assert.deepEqual([done.executions, charges, done.events.length, done.calls.length], [3, 1, 1, 1])
  assert.deepEqual(done.enqueued.map(({ jobId }) => jobId), ['run-0.test.1.mails.1'])
  assert.deepEqual(done.awaits, [
    { type: 'time', name: 'time', from: '2026-01-01T00:00:00.000Z', until: '2026-01-31T00:00:00.000Z', waitedMs: 30 * 86_400_000, outcome: 'time' },
    { type: 'time', name: 'time', from: '2026-01-31T00:00:00.000Z', until: '2026-02-01T00:00:00.000Z', waitedMs: 86_400_000, outcome: 'time' },
  ])
  assert.equal(done.elapsedMs, 31 * 86_400_000)
  assert.deepEqual(done.journal.map(({ op }) => op), ['memo', 'emit', 'enqueue', 'await', 'call', 'await'])
})

const approval = async (input, ctx) => {
  try {
    const event = await ctx.await.event({ kind: 'approved', match: { 'data.id': input.id }, where: (e) => e.data.by !== input.owner, timeout: '2d' })
    return { by: event.data.by, at: event.ts }
  } catch (error) {
    return { code: error.code, retriable: error.retriable }
  }
}

test('the first event that matches is taken, when it comes', async () => {
  const events = [
    { type: 'approved', data: { id: 8, by: 'bob' } },
    { type: 'approved', data: { id: 7, by: 'ann' } },
    { type: 'approved', data: { id: 7, by: 'cid' }, at: '1 day' },
    { kind: 'approved', data: { id: 7, by: 'dan' }, at: '36h' },
  ]
  const input = { id: 7, owner: 'ann' }
  const timed = await runStep(approval, { input, events })
  assert.deepEqual(timed.value, { by: 'cid', at: '2026-01-02T00:00:00.000Z' })
  const atOnce = await runStep(approval, { input, events: [...events, { type: 'approved', data: { id: 7, by: 'eve' } }] })
  assert.deepEqual([atOnce.value.by, atOnce.elapsedMs, atOnce.awaits[0].waitedMs], ['eve', 0, 0])
})

test('nothing that matches is a timeout, and without one it waits', async () => {
  const late = await runStep(approval, { input: { id: 7, owner: 'ann' }, events: [{ type: 'approved', data: { id: 7, by: 'bob' }, at: '3d' }] })
  assert.deepEqual(late.value, { code: 'AWAIT_TIMEOUT', retriable: false })
  assert.deepEqual([late.awaits[0].outcome, late.awaits[0].waitedMs, late.executions], ['timeout', 2 * 86_400_000, 2])
  const stuck = await runStep((_, ctx) => ctx.await.event('never'))
  assert.deepEqual([stuck.status, stuck.awaits[0].outcome, stuck.executions], ['waiting', 'waiting', 1])
})

test('events of before count as far back as was asked', async () => {
  const wait = (lookback) => async (_, ctx) => {
    await ctx.await.time('1h')
    return (await ctx.await.event({ kind: 'paid', lookback, timeout: '1h' })).data
  }
  const events = [{ type: 'paid', data: 5, at: '30m' }]
  assert.equal((await runStep(wait('45m'), { events })).value, 5)
  assert.equal((await runStep(wait('10m'), { events })).error.code, 'AWAIT_TIMEOUT')
})

test('a visit looks back on an event once', async () => {
  const done = await runStep(async (_, ctx) => {
    await ctx.await.time('1h')
    const one = (timeout) => ctx.await.event({ kind: 'paid', lookback: '2h', ...timeout })
    return [(await one()).data, (await one()).data, (await one({ timeout: '2h' })).data]
  }, { events: [[1, '1m'], [1, '1m'], [2, '2h']].map(([data, at]) => ({ type: 'paid', data, at })) })
  assert.deepEqual(done.value, [1, 1, 2])
})

test('what is emitted inside of ctx.run is not taken for an emit outside', async () => {
  const done = await runStep(async (_, ctx) => {
    await ctx.run('inside', () => ctx.emit('paid', 1))
    await ctx.emit('paid', 2)
    await ctx.await.time('1h')
    await ctx.emit('paid', 3)
  })
  assert.equal(done.error, undefined)
  assert.deepEqual(done.events.map(({ data }) => data), [1, 2, 3])
})

test('what only the server says is not emitted', async () => {
  for (const [type, data] of [['flow.completed'], ['log.info', 'x'], ['emit', { topic: 'step.failed' }], ['emit', { kind: 'trigger.fired' }]]) {
    const { error } = await runStep(async (_, ctx) => { await ctx.emit(type, data) })
    assert.equal(error?.code, 'RESERVED_TYPE', type)
  }
  const { events } = await runStep(async (_, ctx) => { await ctx.emit('emit', { topic: 'order.paid' }) })
  assert.equal(events.length, 1)
})

test('what the server would not store is refused', async () => {
  const large = 'x'.repeat(1024 * 1024 - 1)
  const cases = [
    [(ctx) => ctx.emit('a b', {}), 'BAD_EVENT'],
    [(ctx) => ctx.emit('emit', { topic: 'a b' }), 'BAD_EVENT'],
    [(ctx) => ctx.emit(), 'BAD_EVENT'],
    [(ctx) => ctx.emit({ data: 1 }), 'BAD_EVENT'],
    [(ctx) => ctx.emit('big', large), 'TOO_LARGE'],
    [(ctx) => ctx.await.trigger({ payload: large }), 'TOO_LARGE'],
    [(ctx) => ctx.run('count', () => 1n), 'RESULT_NOT_JSON'],
    [(ctx) => ctx.await.event('paid', { match: { 'data.id': 1 } }), 'INPUT_ERROR'],
    [() => large, 'RESULT_TOO_LARGE'],
    [() => 1n, 'RESULT_NOT_JSON'],
  ]
  for (const [handler, code] of cases) {
    const { error } = await runStep((_, ctx) => handler(ctx))
    assert.deepEqual([error?.code, error?.retriable], [code, false], String(handler))
  }
  const { error, value } = await runStep(async (_, ctx) => {
    await ctx.emit('big', large.slice(1))
    return large.slice(1)
  })
  assert.equal(error, undefined)
  assert.equal(value.length, 1024 * 1024 - 2)
})

test('a where that looks around itself fails as it would on the server', async () => {
  const limit = 5
  const wait = (_, ctx) => ctx.await.event({ kind: 'paid', where: (event) => event.data > limit })
  const passed = await runStep(wait, { events: [{ type: 'paid', data: 9 }] })
  assert.deepEqual([passed.status, passed.warnings.length], ['waiting', 1])
  assert.match(passed.warnings[0].message, /limit is not defined/)
  const nothing = await runStep((input, ctx) => ctx.await.event({ kind: 'paid', match: { 'data.id': input.missing } }), { input: {} })
  assert.equal(nothing.error.code, 'INPUT_ERROR')
})

test('a wait that the code does not await is reported, and fails nothing', async () => {
  const forgets = async (input, ctx) => {
    if (input === 'then waits') await ctx.await.time('1h')
    ctx.await.time('2s')
    return 'forgot'
  }
  for (const input of [null, 'then waits']) {
    const done = await runStep(forgets, { input })
    assert.deepEqual([done.status, done.value, done.logs.map(({ level }) => level)], ['completed', 'forgot', ['warn']])
    assert.match(done.logs[0].message, /^the handler returned while ctx\.await\.time still waited.*is an await missing/)
  }
  const quiet = await runStep(defineStep(forgets, { flow: 'f', logger: { level: 'error' } }))
  assert.deepEqual(quiet.logs, [])
  const heeds = await runStep(async (_, ctx) => { await ctx.await.time('1h'); return 1 })
  assert.deepEqual(heeds.logs, [])
})

test('triggers are opened by the test', async () => {
  const ask = async (input, ctx) => {
    const callback = await ctx.await.trigger({ type: 'user', payload: { question: input.question }, timeout: '7d', many: true })
    await ctx.emit('asked', { url: callback.url })
    const first = await callback.wait()
    const second = await callback.wait()
    return [first, second]
  }
  const answers = [later('2d', { yes: true }), 'again']
  const asked = []
  const done = await runStep(ask, { input: { question: 'ship?' }, triggers: { user: (trigger) => (asked.push(trigger), answers.shift()) } })
  assert.deepEqual(done.value, [{ yes: true }, 'again'])
  assert.deepEqual(done.awaits.map(({ waitedMs }) => waitedMs), [2 * 86_400_000, 0])
  assert.deepEqual(asked[0].payload, { question: 'ship?' })
  assert.equal(done.events.length, 1)
  assert.equal(done.events[0].data.url, asked[0].url)
  assert.equal((await runStep(ask, { input: {} })).error.code, 'AWAIT_TIMEOUT')
})

test('code that changes its mind is found out', async () => {
  let executions = 0
  const changed = async (_, ctx) => {
    executions += 1
    await ctx.run(`charge-${executions}`, () => executions)
    await ctx.await.time(1000)
    return 'done'
  }
  const { status, error } = await runStep(changed)
  assert.deepEqual([status, error.code, error.retriable], ['failed', 'JOURNAL_MISMATCH', false])
  assert.match(error.message, /memo "charge-1".*Recorded: memo "charge-1", await "time"\. Done: memo "charge-2"/s)
  assert.deepEqual(error.details.missing[0], { op: 'memo', name: 'charge-1' })
})

test('side by side is legal for all but waits', async () => {
  const work = async (_, ctx) => {
    const all = await Promise.all(['a', 'b', 'c'].map((name) => ctx.run(name, async () => (await ctx.call('slow', name), name))))
    await ctx.await.time(1000)
    const again = await Promise.all(['c', 'a'].map((name) => ctx.run(name, () => `${name}2`)))
    await ctx.await.time(1000)
    return [...all, ...again]
  }
  const done = await runStep(work, { calls: { slow: () => null } })
  assert.deepEqual(done.value, ['a', 'b', 'c', 'c2', 'a2'])
  assert.equal(done.calls.length, 3)
  const both = await runStep((_, ctx) => Promise.race([ctx.await.time(1), ctx.await.event('x')]))
  assert.equal(both.error.code, 'AWAIT_CONCURRENT')
})

test('what runs side by side under one name gets its own answer', async () => {
  const charges = []
  let executions = 0
  const work = async (_, ctx) => {
    executions += 1
    const charge = async (k, attempt) => {
      await sleep(30 * (3 - k))
      if (k === 0 && attempt === 1) throw new Error('declined')
      charges.push(k)
      return k
    }
    const all = [0, 1, 2].map((k) => ctx.run('charge', ({ attempt }) => charge(k, attempt)))
    await Promise.allSettled(all)
    const charged = await Promise.all(all)
    const called = await Promise.all([0, 1, 2].map((k) => ctx.call('slow', k)))
    await ctx.await.time(1000)
    return [charged, called]
  }
  const slow = async (k) => (await sleep(30 * (3 - k)), k)
  const config = { retryPolicy: { attempts: 2, backoff: { delayMs: 1 } } }
  const done = await runStep({ default: work, config }, { calls: { slow } })
  assert.deepEqual(done.value, [[0, 1, 2], [0, 1, 2]])
  assert.deepEqual([charges, done.calls.length, executions], [[2, 1, 0], 3, 2])
})

test('what fails is tried again by itself, whatever goes on beside it', async () => {
  const work = async (_, ctx) => {
    let before = Promise.resolve()
    // One at a time: the next begins when the one before it has failed, and before the handler has.
    const all = [0, 1].map((k) => {
      const mine = before.then(() => ctx.run('charge', ({ attempt }) => {
        if (k === 0 && attempt === 1) throw new Error('busy')
        return k
      }))
      before = mine.catch(() => {})
      return mine
    })
    return Promise.all(all)
  }
  const done = await runStep(work)
  assert.deepEqual([done.value, done.attempt, done.runRetries.length], [[0, 1], 1, 1])
})

test('what a run throws is the same before a wait and after it', async () => {
  class CardDeclined extends Error {
    name = 'CardDeclined'
    status = 402
    limits = { day: 100 }
    request = () => {}
    constructor(code) {
      super('card declined')
      this.code = code
    }
  }
  const seen = []
  const work = async (_, ctx) => {
    for (const code of ['DECLINED', 7, undefined]) {
      await ctx.run('charge', () => Promise.reject(new CardDeclined(code))).catch((error) => {
        const { name, message, code, status, limits, request, stack } = error
        seen.push([name, message, code, status, limits, request, stack, error instanceof CardDeclined])
      })
    }
    await ctx.await.time(1000)
    await ctx.run('late', () => { throw new CardDeclined(7) })
  }
  const { error } = await runStep(work)
  assert.deepEqual(seen.slice(0, 3), seen.slice(3, 6))
  assert.deepEqual(seen.map(([, , code]) => code).slice(0, 3), ['DECLINED', 7, 'HANDLER_ERROR'])
  const [name, message, , status, limits, request, stack, isKept] = seen[0]
  assert.deepEqual([name, message, status, limits, request, isKept], ['CardDeclined', 'card declined', 402, { day: 100 }, undefined, false])
  assert.match(stack, /^CardDeclined: card declined\n.*steps\.test\.mjs/)
  assert.deepEqual([error.name, error.message, error.code, error.status], ['CardDeclined', 'card declined', 7, 402])
})

test('what code does to a recorded value is not recorded', async () => {
  const code = async (_, ctx) => {
    const seen = await ctx.run('list', () => ({ items: ['a'] }))
    const before = seen.items.length
    seen.items.push('b')
    await ctx.await.time('1d')
    await ctx.await.time('1d')
    return before
  }
  const done = await runStep(code)
  assert.deepEqual([done.value, done.executions], [1, 3], done.error?.message)
  assert.deepEqual(done.journal[0].value, { items: ['a'] })
})

test('what a run does inside belongs to it', async () => {
  const nested = async (_, ctx) => {
    const ids = []
    for (const n of [1, 2]) {
      ids.push(await ctx.run('order', async () => {
        await ctx.emit('ordered', { n })
        const one = await ctx.enqueue('mails', n)
        const two = await ctx.enqueue('mails', n)
        await ctx.run('inner', () => n)
        return [one.jobId, two.jobId]
      }))
    }
    ids.push((await ctx.enqueue('mails', 0)).jobId)
    await ctx.await.time(1000)
    return ids.flat()
  }
  const done = await runStep(nested)
  assert.equal(done.status, 'completed', done.error?.message)
  assert.equal(new Set(done.value).size, 5)
  assert.deepEqual([done.events.length, done.enqueued.length], [2, 5])
  assert.deepEqual(done.journal.map(({ op }) => op), ['inRun', 'emit', 'memo', 'inRun', 'emit', 'memo', 'enqueue', 'await'])
})

test('an emit that is no longer made before a wait is missed, whatever a later run emitted', async () => {
  let executions = 0
  const changed = async (_, ctx) => {
    executions += 1
    if (executions < 3) await ctx.emit('ordered')
    await ctx.await.time(1000)
    await ctx.run('order', () => ctx.emit('ordered'))
    await ctx.await.time(1000)
  }
  const { status, error } = await runStep(changed)
  assert.deepEqual([status, error.code, executions], ['failed', 'JOURNAL_MISMATCH', 3])
  assert.deepEqual(error.details.missing, [{ op: 'emit', name: 'ordered' }])
})

test('nothing after a wait runs in an execution that waits', async () => {
  const seen = []
  const step = async (_, ctx) => {
    try {
      await ctx.await.time(1000)
      seen.push('after')
    } catch {
      seen.push('caught')
    } finally {
      seen.push('finally')
    }
  }
  await runStep(step)
  assert.deepEqual(seen, ['after', 'finally'])
})

test('what is emitted and not awaited is there before the step ends', async () => {
  const done = await runStep((_, ctx) => {
    ctx.emit({ kind: 'order.created', data: { id: 1 } })
    return 'created'
  })
  assert.deepEqual([done.value, done.events.map(({ type }) => type)], ['created', ['order.created']])
})

test('jobs cannot wait', async () => {
  for (const wait of [(ctx) => ctx.await.time(1), (ctx) => ctx.await.event('x'), (ctx) => ctx.await.trigger()]) {
    const { error } = await execute((_, ctx) => wait(ctx))
    assert.deepEqual([error.code, error.retriable], ['AWAIT_OUTSIDE_FLOW', false])
  }
})

test('state is read and written once', async () => {
  const done = await runStep(async (_, ctx) => {
    const n = await ctx.state.patch('n', (before = 0) => before + 1)
    const m = (await ctx.state.get('m')) ?? 0
    await ctx.state.set('m', m + 1)
    if (!(await ctx.state.has('mailed'))) {
      await ctx.run('mail', () => ctx.state.patch('mails', (mails = 0) => mails + 1))
      await ctx.state.setBatch({ mailed: true })
    }
    await ctx.state.patch((all) => (all.never ? { never: 1 } : undefined))
    await ctx.await.time(1000)
    const between = await ctx.state.get('m')
    await ctx.await.time(1000)
    await ctx.state.delete('n')
    return [n, m, between]
  })
  assert.equal(done.error, undefined)
  assert.deepEqual([done.value, done.state], [[1, 0, 1], { m: 1, mails: 1, mailed: true }])
})

test('an await looks back to the beginning of its run', async () => {
  const paid = async (lookback) => {
    const handler = async (_, ctx) => {
      await ctx.await.time('1h')
      return (await ctx.await.event({ kind: 'paid', lookback, timeout: '1m' })).data
    }
    return runStep(handler, { events: [{ type: 'paid', data: { n: 1 }, at: '10s' }] })
  }
  assert.deepEqual((await paid('run')).value, { n: 1 })
  assert.deepEqual((await paid('2h')).value, { n: 1 })
  assert.equal((await paid('1m')).error?.code, 'AWAIT_TIMEOUT')
})

test('one clock at a time, and one that is there is used', async () => {
  const clock = fakeClock('2026-05-01T00:00:00.000Z')
  try {
    await assert.rejects(runStep(() => 1), /give it as clock/)
    const done = await runStep(async (_, ctx) => (await ctx.await.time('1d'), new Date().toISOString()), { clock })
    assert.equal(done.value, '2026-05-02T00:00:00.000Z')
  } finally {
    clock.restore()
  }
})

const step = { kind: 'step', runId: 'r', flow: 'f', step: 's', visit: 1 }

test('an error that the handler of a step does not look at is its error', async (t) => {
  const folder = project(t, { 'a.mjs': 'export default (input, ctx) => { ctx[input](\'x\'); return 1 }' })
  const runner = await startRunner(t)
  for (const method of ['emit', 'call', 'enqueue', 'start']) {
    const answer = runner.invoke(join(folder, 'a.mjs'), method, step)
    const request = await runner.next((message) => message.method === method)
    runner.send({ id: request.id, error: { code: -32000, message: 'no', data: { code: 'REFUSED' } } })
    if (method !== 'emit') runner.send({ id: (await runner.next((message) => message.method === 'memo.failed')).id, result: { final: true } })
    assert.equal((await answer).error?.data.code, 'REFUSED', method)
  }
})

test('executions that wait leave nothing behind', async (t) => {
  const folder = project(t, { 'a.mjs': 'export default async (input, ctx) => { const held = new Array(10_000).fill(input); await ctx.await.time(1000); return held }' })
  // All of it at once would be 800 MB.
  const runner = await startRunner(t, { env: { NODE_OPTIONS: '--max-old-space-size=128' } })
  for (let round = 0; round < 100; round++) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => runner.invoke(join(folder, 'a.mjs'), round, step)))
    assert.ok(answers.every(({ result }) => result.suspended.type === 'time'))
  }
  assert.deepEqual((await runner.request('drain', { graceMs: 0 })).result, { unfinished: 0 })
})

test('a match that is not JSON is refused', async () => {
  const { error } = await runStep((_, ctx) => ctx.await.event({ kind: 'x', match: { a: 1n } }))
  assert.deepEqual([error.code, error.retriable], ['INPUT_ERROR', false])
})

/** The three steps of section 6.5. */
const createOrder = {
  config: { step: 'create-order', queue: 'orders', emits: ['order.created'] },
  default: async (input, ctx) => {
    ctx.emit({ kind: 'order.created', data: { orderId: input.id, total: input.total, requiresPayment: input.total > 0 } })
    await ctx.state.set('order', input.id)
    return { orderId: input.id }
  },
}
const waitForPayment = {
  config: {
    step: 'wait-for-payment',
    subscriptions: [{ eventKind: 'order.created', when: (event, ctx) => event.data.requiresPayment === true, map: (event) => ({ orderId: event.data.orderId, amount: event.data.total }) }],
    await: { type: 'event', eventKind: 'payment.confirmed', where: (event, ctx) => event.data.orderId === ctx.input.orderId, timeout: 24 * 60 * 60 * 1000, onTimeout: 'cancel-order' },
    emits: ['order.paid', 'payment.timeout'],
  },
  default: (input, ctx) => {
    ctx.emit({ kind: 'order.paid', data: { orderId: input.orderId, by: ctx.awaited.data.by } })
    return { paid: true }
  },
}
const fulfillOrder = {
  config: { step: 'fulfill-order', subscriptions: [{ eventKind: 'order.paid', map: (event) => ({ orderId: event.data.orderId }) }], emits: ['order.fulfilled'] },
  default: async (input, ctx) => {
    await ctx.await.time('2 days')
    await ctx.emit('order.fulfilled', input)
  },
}
const cancelOrder = { config: { step: 'cancel-order' }, default: (input, ctx) => ctx.emit('order.cancelled', input) }
const shop = [createOrder, waitForPayment, fulfillOrder, cancelOrder]

test('a flow follows what its steps emit', async () => {
  const events = [
    { type: 'payment.confirmed', data: { orderId: 8, by: 'eve' }, at: '1h' },
    { type: 'payment.confirmed', data: { orderId: 7, by: 'card' }, at: '3h' },
  ]
  const run = await runFlow(shop, { entry: 'create-order', input: { id: 7, total: 50 }, events })
  assert.equal(run.status, 'completed')
  assert.deepEqual(run.visits.map(({ step, status, executions }) => [step, status, executions]), [
    ['create-order', 'completed', 1],
    ['wait-for-payment', 'completed', 1],
    ['fulfill-order', 'completed', 2],
  ])
  assert.deepEqual(run.visits[1].input, { orderId: 7, amount: 50 })
  assert.deepEqual(run.visits[1].awaits[0].value.data, { orderId: 7, by: 'card' })
  assert.equal(run.endedAt, '2026-01-03T03:00:00.000Z')
  assert.deepEqual(run.state, { id: 7, total: 50, order: 7 })
  assert.deepEqual(run.unclaimed.map(({ type }) => type), ['payment.confirmed', 'order.fulfilled'])
})

test('a timeout enters its step, a condition enters none', async () => {
  const late = await runFlow(shop, { input: { id: 7, total: 50 } })
  assert.deepEqual(late.visits.map(({ step, status }) => [step, status]), [['create-order', 'completed'], ['wait-for-payment', 'timeout'], ['cancel-order', 'completed']])
  assert.deepEqual([late.status, late.elapsedMs, late.events.at(-1).type], ['completed', 86_400_000, 'order.cancelled'])
  const free = await runFlow(shop, { input: { id: 7, total: 0 } })
  assert.deepEqual(free.visits.map(({ step }) => step), ['create-order'])
})

test('a join waits for one of each, and each event is a visit', async () => {
  const split = defineStep(async (_, ctx) => {
    for (const n of [1, 2]) await ctx.emit('left', n)
    await ctx.await.time(1000)
    await ctx.emit('right', 3)
  }, { flow: { id: 'join', role: 'entry', step: 'split' } })
  const both = defineStep((input) => input, { flow: { id: 'join', step: 'both', join: 'all', subscriptions: [{ eventKind: 'left' }, { eventKind: 'right' }] } })
  const each = defineStep((input, ctx) => [input, ctx.visit], { flow: [{ id: 'other' }, { id: 'join', step: 'each', subscriptions: [{ eventKind: 'left' }] }] })
  const run = await runFlow([split, both, each])
  assert.deepEqual(run.visits.map(({ step, value }) => [step, value]), [['split', null], ['each', [1, 1]], ['each', [2, 2]], ['both', { left: 1, right: 3 }]])
})

test('steps of a flow wait for each other, for time and for people', async () => {
  const ask = defineStep(async (_, ctx) => {
    const answer = await ctx.await.event({ kind: 'answered', match: { 'data.to': ctx.runId }, timeout: '1d' })
    return answer.data.text
  }, { flow: { id: 'talk', role: 'entry', step: 'ask' } })
  const answer = defineStep(async (_, ctx) => {
    await ctx.emit('answered', { to: ctx.runId, text: ctx.awaited.text })
    return { pause: 5000 }
  }, { flow: { id: 'talk', step: 'answer', subscriptions: [{ eventKind: 'question' }], await: { type: 'trigger', triggerType: 'user' } } })
  const wrap = defineStep(() => ({ pause: 5000 }), { flow: { id: 'talk', step: 'wrap', subscriptions: [{ eventKind: 'answered' }], await: { type: 'time', delay: (result) => result.pause } } })
  const run = await runFlow([ask, answer, wrap], { runId: 'r1', events: [{ type: 'question' }], triggers: () => later('2h', { text: 'yes' }) })
  assert.deepEqual(run.visits.map(({ step, status, value }) => [step, status, value]), [['ask', 'completed', 'yes'], ['answer', 'completed', { pause: 5000 }], ['wrap', 'completed', { pause: 5000 }]])
  assert.equal(run.elapsedMs, 2 * 3_600_000 + 5000)
})

test('a failure ends the run, and what the kit cannot play it says', async () => {
  const fails = defineStep(() => { throw new RiverrunError('BROKEN', 'no') }, { step: 'fails', subscriptions: [{ eventKind: 'go' }] })
  const begins = (config) => defineStep((_, ctx) => ctx.emit('go'), { step: 'begins', ...config })
  const run = await runFlow([begins(), fails])
  assert.deepEqual([run.status, run.error.code, run.visits[1].status], ['failed', 'BROKEN', 'failed'])
  const loop = await runFlow([defineStep((_, ctx) => ctx.emit('go'), { step: 'loop', flow: { role: 'entry', triggers: 'go' } })])
  assert.deepEqual([loop.status, loop.error.code, loop.visits.length, loop.visits.at(-1).status], ['failed', 'MAX_STEPS', 1001, 'cancelled'])
  await assert.rejects(runFlow([fails, defineProcess(() => 1, { step: 'a' }), defineProcess(() => 1, { step: 'b' })]), /give entry/)
  const stuck = await runFlow({ only: (_, ctx) => ctx.await.event('never') })
  assert.equal(stuck.status, 'waiting')
})

test('a step that fails is tried again as its policy says, in simulated time', async () => {
  const calls = []
  const flaky = defineStep(async (_, ctx) => {
    const paid = await ctx.run('pay', () => calls.push('pay'))
    await ctx.emit('tried', ctx.attempt)
    if (ctx.attempt < 3) throw new RiverrunError('BUSY', `attempt ${ctx.attempt} of ${ctx.maxAttempts}`)
    await ctx.await.time('1h')
    return paid
  }, { step: 'flaky', retryPolicy: { attempts: 4, backoff: { type: 'exponential', delayMs: 60_000, maxDelayMs: 90_000 } } })
  const run = await runFlow([flaky, defineStep((input) => input, { step: 'received', subscriptions: [{ eventKind: 'tried' }] })])
  const [visit] = run.visits
  assert.deepEqual([run.status, visit.value, visit.attempt, visit.executions], ['completed', 1, 3, 4])
  assert.deepEqual(calls, ['pay'])
  assert.deepEqual(visit.retries.map(({ attempt, error, failedAt, delayMs }) => [attempt, error.message, failedAt, delayMs]), [
    [1, 'attempt 1 of 4', '2026-01-01T00:00:00.000Z', 60_000],
    [2, 'attempt 2 of 4', '2026-01-01T00:01:00.000Z', 90_000],
  ])
  assert.equal(run.elapsedMs, 150_000 + 3_600_000)
  // What was emitted before the failure is not emitted again.
  assert.deepEqual(run.visits.slice(1).map(({ value }) => value), [1])
})

test('attempts are counted from the last wait on', async () => {
  const reported = []
  const failed = new Set()
  const polls = defineStep(async (_, ctx) => {
    reported.push([ctx.attempt, ctx.maxAttempts])
    for (let n = 0; n < 3; n += 1) {
      await ctx.run(`poll-${n}`, () => n)
      if (!failed.has(n)) {
        failed.add(n)
        throw new Error(`bad day ${n}`)
      }
      await ctx.await.time('1 day')
    }
  }, { step: 'polls', retryPolicy: { attempts: 2, backoff: { type: 'fixed', delayMs: 1000 } } })
  const done = await runStep(polls)
  assert.equal(done.status, 'completed', done.error?.message)
  assert.deepEqual(reported, [[1, 2], [2, 2], [2, 3], [3, 3], [3, 4], [4, 4], [4, 5]])
})

test('what is not tried again fails at once, and three times is enough where nothing is said', async () => {
  const failing = async (error, retryPolicy) => {
    const { status, attempt, elapsedMs } = await runStep({ default: () => { throw error }, config: { retryPolicy } })
    assert.equal(status, 'failed')
    return [attempt, elapsedMs]
  }
  const fixed = { attempts: 5, backoff: { type: 'fixed', delayMs: 10 } }
  assert.deepEqual(await failing(new Error('no')), [3, 3000])
  assert.deepEqual(await failing(new Error('no'), { attempts: 1 }), [1, 0])
  assert.deepEqual(await failing(new Error('no'), fixed), [5, 40])
  assert.deepEqual(await failing(new NonRetriableError('no'), fixed), [1, 0])
  assert.deepEqual(await failing(new RetryAfterError('later', 700), { attempts: 2 }), [2, 700])
  assert.deepEqual(await failing(new TypeError('no'), { ...fixed, retriableErrors: ['BUSY'] }), [1, 0])
  assert.deepEqual(await failing(new TypeError('no'), { ...fixed, retriableErrors: ['TypeError'] }), [5, 40])
  const late = await runStep((_, ctx) => ctx.await.event({ kind: 'never', timeout: 1000 }))
  assert.deepEqual([late.status, late.attempt, late.error.code], ['failed', 1, 'AWAIT_TIMEOUT'])
})

test('a declared await is played before its step, or given', async () => {
  const event = { type: 'payment.confirmed', data: { orderId: 7, by: 'card' } }
  const played = await runStep(waitForPayment, { input: { orderId: 7 }, events: [event] })
  assert.deepEqual([played.value, played.events[0].data.by], [{ paid: true }, 'card'])
  const given = await runStep(waitForPayment, { input: { orderId: 7 }, awaited: event })
  assert.deepEqual([given.value, given.awaits], [{ paid: true }, []])
  assert.equal((await runStep(waitForPayment, { input: { orderId: 7 } })).status, 'timeout')
})

const breaks = () => {
  throw new RiverrunError('CARD_DECLINED', 'no money')
}
const undo = (input) => ({ undid: input.step, result: input.result, because: input.error?.code ?? null })

/** A saga: book, charge, ship; what was done is undone in reverse. */
const saga = (ship, more = {}) => ({
  book: defineStep(async (_, ctx) => (await ctx.emit('booked'), { seat: 7 }), { flow: { role: 'entry', ...more }, compensation: { step: 'unbook' } }),
  charge: defineStep(async (_, ctx) => (await ctx.emit('charged'), { charge: 'c1' }), { subscriptions: [{ eventKind: 'booked' }], compensation: { step: 'refund', on: 'disputed' } }),
  ship: defineStep(ship, { subscriptions: [{ eventKind: 'charged' }] }),
  unbook: defineStep(undo, { flow: { role: 'step' } }),
  refund: defineStep(async (input, ctx) => (await ctx.await.time('30 days'), undo(input)), { flow: { role: 'step' } }),
})

test('a failed run undoes what it did, the last first, and stays failed', async () => {
  const began = performance.now()
  const run = await runFlow(saga(breaks))
  assert.ok(performance.now() - began < 1000)
  assert.deepEqual([run.status, run.error.code, run.elapsedMs], ['failed', 'CARD_DECLINED', 30 * 86_400_000 + 3000])
  assert.deepEqual(run.visits.map(({ step, status, undoes }) => [step, status, undoes?.step]), [
    ['book', 'completed', undefined],
    ['charge', 'completed', undefined],
    ['ship', 'failed', undefined],
    ['refund', 'completed', 'charge'],
    ['unbook', 'completed', 'book'],
  ])
  assert.deepEqual(run.visits[3].input, { step: 'charge', visit: 1, result: { charge: 'c1' }, error: { code: 'CARD_DECLINED', message: 'no money', stepId: 'ship' } })
  assert.deepEqual(run.visits[4].value, { undid: 'book', result: { seat: 7 }, because: 'CARD_DECLINED' })
})

test('an undoing that fails is recorded, and the next goes on', async () => {
  const steps = { ...saga(breaks), refund: defineStep(() => { throw new Error('the bank is closed') }, { flow: { role: 'step' } }) }
  const run = await runFlow(steps)
  assert.deepEqual(run.visits.slice(3).map(({ step, status }) => [step, status]), [['refund', 'failed'], ['unbook', 'completed']])
  assert.deepEqual([run.status, run.error.code], ['failed', 'CARD_DECLINED'])
})

test('an event can call for undoing too, once', async () => {
  const wait = (_, ctx) => ctx.await.event('delivered')
  const events = [{ type: 'disputed', at: '1d' }, { type: 'disputed', at: '2d' }, { type: 'delivered', at: '60d' }]
  const run = await runFlow(saga(wait), { events })
  assert.equal(run.status, 'completed')
  assert.deepEqual(run.visits.slice(3).map(({ step, undoes, value }) => [step, undoes.step, value.because]), [['refund', 'charge', null]])
  assert.deepEqual(run.unclaimed.map(({ ts }) => ts.slice(0, 10)), ['2026-01-03'])
})

test('the entry says whether a failure stops the others', async () => {
  const steps = (onFailure) => ({
    begin: defineStep(async (_, ctx) => (await ctx.emit('go'), 1), { flow: { role: 'entry', onFailure }, compensation: { step: 'undo' } }),
    slow: defineStep(async (_, ctx) => (await ctx.await.time('1d'), 'slow'), { flow: { triggers: ['go'] }, compensation: { step: 'undo' } }),
    breaks: defineStep(breaks, { subscriptions: [{ eventKind: 'go' }] }),
    undo: defineStep(undo, { flow: { role: 'step' } }),
  })
  const stopped = await runFlow(steps('stop'))
  assert.deepEqual(stopped.visits.map(({ step, status }) => [step, status]), [['begin', 'completed'], ['slow', 'cancelled'], ['breaks', 'failed'], ['undo', 'completed']])
  assert.equal(stopped.elapsedMs, 3000)
  const finished = await runFlow(steps('finish'))
  assert.deepEqual(finished.visits.map(({ step, status, undoes }) => [step, status, undoes?.step]), [
    ['begin', 'completed', undefined],
    ['slow', 'completed', undefined],
    ['breaks', 'failed', undefined],
    ['undo', 'completed', 'slow'],
    ['undo', 'completed', 'begin'],
  ])
  assert.deepEqual([finished.status, finished.elapsedMs], ['failed', 86_400_000])
})

test('a flow without an id is called as its entry, and a step without one is part of any', async () => {
  const create = (name) => defineStep(async (_, ctx) => (await ctx.emit('made'), ctx.flow), { step: name, emits: ['made'] })
  const shared = defineStep((_, ctx) => ctx.flow, { step: 'shared', flow: { role: 'step' }, subscriptions: [{ eventKind: 'made' }] })
  const own = defineStep((_, ctx) => ctx.flow, { step: 'own', flow: 'create-b', subscriptions: [{ eventKind: 'made' }] })
  assert.deepEqual((await runFlow([create('create-a'), shared])).visits.map(({ value }) => value), ['create-a', 'create-a'])
  const all = [create('create-a'), create('create-b'), shared, own]
  assert.deepEqual((await runFlow(all, { flow: 'create-a' })).visits.map(({ step }) => step), ['create-a', 'shared'])
  assert.deepEqual((await runFlow(all, { flow: 'create-b' })).visits.map(({ step, value }) => [step, value]), [['create-b', 'create-b'], ['shared', 'create-b'], ['own', 'create-b']])
  assert.deepEqual((await runFlow(all, { entry: 'create-a' })).visits.map(({ step }) => step), ['create-a', 'shared'])
  assert.equal((await runStep(shared)).value, 'shared')
})

test('a declared callback for several is opened so often, and gives the list of what came', async () => {
  const callback = (many, timeout) => defineStep((_, ctx) => ctx.awaited, { step: 'callback', await: { type: 'trigger', triggerType: 'api', many, timeout } })
  let opened = 0
  const answers = () => later(`${3 - ++opened}h`, opened)
  const both = await runFlow([callback(2)], { triggers: { api: answers } })
  assert.deepEqual([both.visits[0].value, both.elapsedMs], [[2, 1], 2 * 3_600_000])
  opened = 0
  const once = await runFlow([callback(2, '1d')], { triggers: { api: () => (opened++ ? undefined : 7) } })
  assert.deepEqual([once.status, once.error.code], ['failed', 'AWAIT_TIMEOUT'])
})

test('what had come to a callback for several goes to the step after its timeout', async () => {
  const tell = (_, ctx) => ctx.awaited
  const late = async (answers, more) => {
    const steps = {
      callback: defineStep(tell, { flow: { role: 'entry' }, await: { type: 'trigger', triggerType: 'api', many: 3, timeout: '1d', onTimeout: 'late' } }),
      late: defineStep(tell, { flow: { role: 'step' }, ...more }),
    }
    return (await runFlow(steps, { triggers: { api: () => answers.shift() }, events: [{ type: 'more', data: 1, at: '3d' }] })).visits
  }
  const [callback, entered] = await late([later('2h', 'b'), later('1h', 'a'), later('25h', 'c')])
  assert.deepEqual([callback.status, callback.awaits[0].outcome, callback.awaits[0].value], ['timeout', 'timeout', ['a', 'b']])
  assert.deepEqual([entered.step, entered.value], ['late', ['a', 'b']])
  assert.equal((await late([]))[1].value, null)
  // It waits for its own await all the same.
  const waits = { await: { type: 'event', eventKind: 'more' } }
  const [, own] = await late(['a'], waits)
  assert.deepEqual([own.value.type, own.awaits[0].waitedMs], ['more', 2 * 86_400_000])
})

/** What the page of a declared callback shows, in a step that an event with these data entered. */
async function shown(payload, { data = { order: 7, lines: [{ sku: 'a' }], note: null }, state = { total: 12.5, who: { name: 'Ann' } } } = {}) {
  const seen = []
  const begin = defineStep((_, ctx) => ctx.emit('asked', data), { flow: { role: 'entry' } })
  const ask = defineStep((_, ctx) => ctx.awaited, { subscriptions: [{ eventKind: 'asked' }], await: { type: 'trigger', triggerType: 'user', payload } })
  const run = await runFlow({ begin, ask }, { input: { order: 'of the run' }, state, triggers: (callback) => (seen.push(callback.payload), 'yes') })
  return run.status === 'completed' ? seen[0] : run.error
}

test('the payload of a declared callback has parts of the input and of the state', async () => {
  assert.equal(await shown('Refund ${total} for order ${input.order} of ${who.name}?'), 'Refund 12.5 for order 7 of Ann?')
  assert.deepEqual(await shown('${input}'), { order: 7, lines: [{ sku: 'a' }], note: null })
  assert.equal(await shown('${ input.lines.0.sku }'), 'a')
  assert.equal(await shown('${input.lines}, ${input.note}${nothing}'), '[{"sku":"a"}], null')
  assert.deepEqual(await shown({ who: '${who}', gone: '${nothing}', deep: [1, '${nothing}', '$${total}', '${total}'], '${total}': null }), { who: { name: 'Ann' }, deep: [1, null, '${total}', 12.5], '${total}': null })
  assert.equal(await shown('${nothing}'), undefined)
  assert.deepEqual(await shown({ at: new Date(0), cost: '$5' }), { at: '1970-01-01T00:00:00.000Z', cost: '$5' })
  assert.equal(await shown(undefined), undefined)
})

test('a state that has an input of its own hides that of the step from a payload', async () => {
  const state = { input: { order: 'kept' } }
  assert.equal(await shown('${input.order}', { state }), 'kept')
  assert.equal(await shown('<${input.lines}>', { state }), '<>')
  assert.deepEqual(await shown((ctx) => [ctx.input.order, ctx.state.input.order], { state }), [7, 'kept'])
})

test('the payload of a declared callback may be a function of ctx, or its text', async () => {
  const expected = { order: 7, total: 12.5, run: 'run-0' }
  assert.deepEqual(await shown(({ input, state, runId }) => ({ order: input.order, total: state.total, run: runId, gone: undefined })), expected)
  assert.deepEqual(await shown('ctx => ({ order: ctx.input.order, total: ctx.state.total, run: ctx.runId })'), expected)
  assert.equal(await shown({ payload(ctx) { return `order ${ctx.input.order}` } }.payload), 'order 7')
  assert.equal(await shown(() => undefined), undefined)
  assert.equal(await shown('at most => 5'), 'at most => 5')
  const thrown = await shown((ctx) => ctx.input.customer.name)
  assert.equal(thrown.code, 'INPUT_ERROR')
  assert.match(thrown.message, /^payload: .*cannot read property 'name' of undefined/)
  const cycle = await shown(() => { const a = {}; a.a = a; return a })
  assert.match(cycle.message, /^payload: /)
  assert.match((await shown(() => thrown)).message, /thrown is not defined/)
})

test('a visit that only lets its time pass is undone when the run fails, after what had ended', async () => {
  const nap = (delay, kinds) => ({ subscriptions: [{ eventKind: kinds }], await: { type: 'time', delay }, compensation: { step: 'undo' } })
  const steps = {
    begin: defineStep(async (_, ctx) => (await ctx.emit('go'), 'begun'), { flow: { role: 'entry' }, compensation: { step: 'undo' } }),
    first: defineStep(() => ({ n: 1 }), nap('2d', 'go')),
    second: defineStep(() => ({ n: 2 }), nap(() => 86_400_000, 'go')),
    short: defineStep(() => 'short', nap('1s', 'go')),
    codes: defineStep((_, ctx) => ctx.await.time('1d'), { ...nap(0, 'go') }),
    breaks: defineStep(breaks, { subscriptions: [{ eventKind: 'go' }] }),
    undo: defineStep(undo, { flow: { role: 'step' } }),
  }
  const run = await runFlow(steps)
  assert.deepEqual(run.visits.slice(0, 6).map(({ step, status, value }) => [step, status, value]), [
    ['begin', 'completed', 'begun'],
    ['first', 'cancelled', undefined],
    ['second', 'cancelled', undefined],
    ['short', 'completed', 'short'],
    ['codes', 'cancelled', undefined],
    ['breaks', 'failed', undefined],
  ])
  // They are cancelled last entered first, and undone from the end of that.
  const undone = run.visits.slice(6).map(({ undoes, input }) => [undoes.step, input.result, input.error.code])
  assert.deepEqual(undone, [['first', { n: 1 }, 'CARD_DECLINED'], ['second', { n: 2 }, 'CARD_DECLINED'], ['short', 'short', 'CARD_DECLINED'], ['begin', 'begun', 'CARD_DECLINED']])
  assert.deepEqual([run.status, run.elapsedMs, 'result' in run], ['failed', 3000, false])
})

test('a loop that meets the limit of visits is undone', async () => {
  const loop = defineStep((_, ctx) => ctx.emit('go'), { step: 'loop', flow: { role: 'entry', triggers: 'go' }, compensation: { step: 'undo' } })
  const undo = defineStep((input) => input.error.code, { step: 'undo', flow: { role: 'step' } })
  const run = await runFlow([loop, undo])
  const undone = run.visits.filter(({ undoes }) => undoes)
  assert.deepEqual([run.error.code, undone.length, undone[0].value], ['MAX_STEPS', 1000, 'MAX_STEPS'])
})

test('words that mean nothing are refused where code waits', async () => {
  const waits = async (wait) => {
    const run = await runStep(async (_, ctx) => wait(ctx.await))
    return [run.error?.code, run.error?.message]
  }
  for (const [wait, message] of [
    [(on) => on.event({ kind: 'x', timout: 5 }), /no option "timout"/],
    [(on) => on.event({ kind: 'x', match: 'data.id' }), /match wants an object/],
    [(on) => on.event({ kind: 'x', where: 7 }), /where must be a function/],
    [(on) => on.event(), /wants an object/],
    [(on) => on.trigger({ typ: 'user' }), /no option "typ"/],
    [(on) => on.time(), /await.time wants/],
    [(on) => on.time(null), /await.time wants/],
  ]) {
    const [code, said] = await waits(wait)
    assert.equal(code, 'INPUT_ERROR')
    assert.match(said, message)
  }
})

test('the input of a visit stays what it was when it was entered', async () => {
  const seen = []
  const work = async (input, ctx) => {
    seen.push(structuredClone(input))
    await ctx.state.set('n', 9)
    await ctx.state.set('deep.m', 9)
    await ctx.state.set('input', 9)
    if (input?.deep) input.deep.m = input.n = 7
    await ctx.await.time('1h')
    if (seen.length === 2) throw new Error('once more')
    return input
  }
  let given
  const steps = {
    first: defineStep(async (input, ctx) => (await work(input, ctx), await ctx.emit('next', given)), { flow: { role: 'entry' } }),
    second: defineStep(work, { subscriptions: [{ eventKind: 'next' }] }),
  }
  for (given of [{ n: 1, deep: { m: 1 } }, 5, 'text', [1], null]) {
    seen.length = 0
    const { visits, status } = await runFlow(steps, { input: given })
    assert.deepEqual([status, visits.map(({ input }) => input), visits[0].retries.length], ['completed', [given, given], 1])
    // The first is called, after its wait, after its failure; the second is called, and after its wait.
    assert.deepEqual(seen, Array(5).fill(given))
  }
})

test('a declared match of what is not there fails', async () => {
  const pay = defineStep(() => 1, { step: 'pay', await: { type: 'event', eventKind: 'paid', match: { 'data.id': 'input.nope' } } })
  const absent = await runFlow([pay], { input: { id: 1 } })
  assert.deepEqual([absent.status, absent.error.code], ['failed', 'INPUT_ERROR'])
  const none = await runFlow([pay], { input: { nope: null }, events: [{ type: 'paid', data: { id: null } }] })
  assert.equal(none.status, 'completed')
})

test('a transient error of a run does not enter the code, and its final error is recorded', async () => {
  const ledger = []
  const order = (failures) => async (_, ctx) => {
    await ctx.run('charge', () => ledger.push('charge'))
    try {
      await ctx.run('reserve', ({ attempt }) => {
        ledger.push(`reserve ${attempt}`)
        if (attempt <= failures) throw new Error('busy')
      })
    } catch (error) {
      await ctx.run('refund', () => ledger.push('refund'))
      throw error
    }
    await ctx.await.time('1 day')
    return 'shipped'
  }
  const config = { retryPolicy: { attempts: 3, backoff: { type: 'exponential', delayMs: 4000 } } }
  const once = await runStep({ default: order(2), config })
  assert.deepEqual([once.value, once.attempt, once.executions], ['shipped', 1, 3])
  assert.deepEqual(ledger.splice(0), ['charge', 'reserve 1', 'reserve 2', 'reserve 3'])
  assert.deepEqual(once.runRetries.map(({ name, attempt, delayMs }) => [name, attempt, delayMs]), [['reserve', 1, 4000], ['reserve', 2, 8000]])
  const never = await runStep({ default: order(9), config })
  assert.deepEqual([never.status, never.attempt, never.error.message], ['failed', 1, 'busy'])
  assert.deepEqual(ledger, ['charge', 'reserve 1', 'reserve 2', 'reserve 3', 'refund'])
})

test('a try has its own time, and says no more once that is over', async () => {
  const late = []
  const work = async (_, ctx) =>
    ctx.run('slow', async ({ attempt, signal }) => {
      await ctx.emit('tried')
      if (attempt === 2) return signal.aborted
      await sleep(500)
      await ctx.emit('late').catch(({ code }) => late.push(code))
    }, { timeoutMs: 100, retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 1000 } } })
  const done = await runStep(work)
  assert.deepEqual([done.value, late, done.events.map(({ type }) => type)], [false, ['TIMEOUT'], ['tried']])
  for (const [options, problem] of [[{ retry: { atempts: 2 } }, 'atempts'], [{ retries: 2 }, 'retries'], [{ timeoutMs: -1 }, 'timeoutMs'], [{ retry: 0 }, 'retry']]) {
    const refused = await runStep((_, ctx) => ctx.run('x', () => 1, options))
    assert.deepEqual([refused.error.code, refused.error.message.includes(problem)], ['INPUT_ERROR', true])
  }
})

test('of a race the same operation wins when the code is called again', async () => {
  const raced = []
  const race = async (_, ctx) => {
    const slow = ctx.run('slow', async () => (await sleep(20), 'slow'))
    const fast = ctx.run('fast', () => 'fast')
    raced.push(await Promise.race([slow, fast]))
    await slow
    await ctx.await.time(1000)
    return raced
  }
  assert.deepEqual((await runStep(race)).value, ['fast', 'fast'])
})

test('an event that came before the code waits is given once', async () => {
  const waits = async ({ count, lookback }, ctx) => {
    await ctx.emit('paid', 1)
    await ctx.emit('paid', 2)
    const given = []
    for (let n = 0; n < count; n += 1) given.push((await ctx.await.event({ kind: 'paid', timeout: 1000, lookback }).catch(({ code }) => ({ data: code }))).data)
    return given
  }
  assert.deepEqual((await runStep(waits, { input: { count: 3 } })).value, [1, 2, 'AWAIT_TIMEOUT'])
  assert.deepEqual((await runStep(waits, { input: { count: 1, lookback: 'none' } })).value, ['AWAIT_TIMEOUT'])
  const run = await runFlow({
    first: defineStep(async (_, ctx) => {
      await ctx.emit('paid', 1)
      return (await ctx.await.event('paid')).data
    }, { flow: { role: 'entry' }, emits: ['paid'] }),
    second: defineStep((_, ctx) => ctx.await.event({ kind: 'paid', timeout: 1000 }).catch(({ code }) => code), { subscriptions: [{ eventKind: 'paid' }] }),
  })
  assert.deepEqual(run.visits.map(({ value }) => value), [1, 'AWAIT_TIMEOUT'])
})
