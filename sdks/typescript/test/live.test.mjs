import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyRun, emptyTrigger, followRun, reduceEvents, reduceRun, reduceState, reduceTrigger } from '../dist/index.js'

let n = 0
function event(type, data, step) {
  const [stepName, visit = 1, attempt = 1] = step ?? []
  const stepId = stepName && `r__${stepName}${visit > 1 ? `#${visit}` : ''}__attempt-${attempt}`
  const id = `1700000000000-${n++}`
  return { id, ts: new Date(1700000000000 + n).toISOString(), type, runId: 'r', flowName: 'f', ...(stepName && { stepName, stepId, attempt }), ...(data !== undefined && { data }) }
}

const begin = () => [event('flow.started', { input: { a: 1 }, version: '2', next: 'one' })]

test('state is what its events say', () => {
  const state = [
    event('flow.started', { input: { a: 1 } }),
    event('state.set', { key: 'b.c', value: 2 }),
    event('state.set', { key: 'list', value: [1, 2] }),
    event('state.set', { key: 'list.1', value: 9 }),
    event('state.delete', { key: 'a' }),
    event('state.batch', { operations: [{ type: 'set', key: 'd', value: null }, { type: 'delete', key: 'b.c' }, { type: 'delete', key: 'x.y' }] }),
    event('log.info', { message: 'x' }),
  ].reduce(reduceState, {})
  assert.deepEqual(state, { list: [1, 9], b: {}, d: null })
  assert.deepEqual(reduceState({}, event('flow.started', { input: [1] })), { input: [1] })
  assert.deepEqual(reduceState({ a: 1 }, event('state.snapshot', { b: 2 })), { b: 2 })
})

test('a key called __proto__ is a key', () => {
  const state = reduceState({}, event('state.set', { key: '__proto__.polluted', value: 1 }))
  assert.equal({}.polluted, undefined)
  assert.deepEqual(Object.keys(state), ['__proto__'])
})

test('nothing is changed in place', () => {
  const before = { a: { b: 1 }, other: {} }
  Object.freeze(before)
  Object.freeze(before.a)
  const after = reduceState(before, event('state.set', { key: 'a.b', value: 2 }))
  assert.equal(before.a.b, 1)
  assert.equal(after.other, before.other)
})

test('a run goes from step to step, through a retry, to its end', () => {
  const events = [
    ...begin(),
    event('step.started', undefined, ['one']),
    event('step.completed', { result: 5, outputKey: 'n', next: 'two' }, ['one']),
    event('step.started', undefined, ['two']),
    event('step.failed', { error: { code: 'X', message: 'x' }, willRetry: true, nextRetryAt: '2030-01-01T00:00:00.000Z' }, ['two']),
    event('step.retry', { reason: 'x', delayMs: 1 }, ['two', 1, 2]),
    event('step.started', undefined, ['two', 1, 2]),
    event('progress', { pct: 50 }, ['two', 1, 2]),
    event('step.completed', { result: 'done' }, ['two', 1, 2]),
    event('flow.completed', { result: 'done', duration: 9 }),
  ]
  const statuses = []
  let run = emptyRun()
  for (const one of events) statuses.push((run = reduceRun(run, one)).status)
  assert.deepEqual(statuses, ['pending', 'running', 'running', 'running', 'waiting', 'waiting', 'running', 'running', 'running', 'completed'])
  assert.deepEqual(run.state, { a: 1, n: 5 })
  assert.equal(run.result, 'done')
  assert.equal(run.version, '2')
  assert.equal(run.progress.pct, 50)
  assert.equal(run.events, events.length)
  assert.deepEqual(run.visits, [])
  const { status, visits, attempt, error } = run.steps.two
  assert.deepEqual({ status, visits, attempt, error }, { status: 'completed', visits: 1, attempt: 2, error: undefined })
})

test('a parked visit waits until it is released', () => {
  const events = [
    ...begin(),
    event('step.parked', { code: 'QUARANTINED', message: 'x' }, ['one', 1, 0]),
    event('step.released', { reason: 'x', parkedDuration: 1 }, ['one', 1, 0]),
    event('step.started', undefined, ['one']),
    event('step.parked', { code: 'QUARANTINED', message: 'x' }, ['one']),
    event('step.released', { reason: 'x', parkedDuration: 1 }, ['one']),
  ]
  const statuses = []
  let run = emptyRun()
  for (const one of events) statuses.push(`${(run = reduceRun(run, one)).status} ${run.steps.one.status}`)
  assert.deepEqual(statuses, ['pending pending', 'waiting waiting', 'pending pending', 'running running', 'waiting waiting', 'waiting retrying'])
})

test('a job says how far it is', () => {
  const job = reduceEvents([event('job.added', { queue: 'q' }), event('job.active', { queue: 'q', attempt: 1 }), event('job.progress', { queue: 'q', progress: { pct: 50 } })])
  assert.deepEqual([job.status, job.progress], ['running', { pct: 50 }])
})

test('a failure that is caught leads on, one that is not ends the run', () => {
  const caught = reduceEvents([...begin(), event('step.started', undefined, ['one']), event('step.failed', { error: { message: 'x' }, willRetry: false, next: 'mend' }, ['one'])])
  assert.deepEqual(caught.visits.map(({ step, status }) => [step, status]), [['mend', 'pending']])
  const failed = reduceEvents([event('flow.failed', { error: { code: 'X', message: 'x' }, duration: 1 })], caught)
  assert.equal(failed.status, 'failed')
  assert.equal(failed.error.code, 'X')
})

test('branches begin as far as there is room, and what they write may stay with them', () => {
  const fork = (scoped) => event('step.await.branches', { branches: [{ step: 'a' }, { step: 'a' }, { step: 'b' }], concurrency: 2, failFast: false, asList: true, scoped }, ['one'])
  for (const scoped of [true, false]) {
    let run = reduceEvents([...begin(), event('step.started', undefined, ['one']), fork(scoped)])
    assert.deepEqual(run.visits.map(({ step, visit }) => `${step}${visit}`), ['one1', 'a1', 'a2'])
    run = reduceEvents([event('step.started', undefined, ['a', 2]), event('step.completed', { result: 1, outputKey: 'out' }, ['a', 2])], run)
    assert.deepEqual(run.visits.map(({ step, visit }) => `${step}${visit}`), ['one1', 'a1', 'b1'])
    assert.equal(run.state.out, scoped ? undefined : 1)
  }
})

test('pause, resume and cancel are seen', () => {
  const running = [...begin(), event('step.started', undefined, ['one'])]
  const paused = reduceEvents([...running, event('flow.paused')])
  assert.equal(paused.status, 'paused')
  assert.equal(reduceRun(paused, event('flow.resumed')).status, 'running')
  const cancelled = reduceRun(paused, event('flow.cancelled', { source: 'user', reason: 'enough', duration: 1 }))
  assert.deepEqual([cancelled.status, cancelled.cancellation.reason], ['cancelled', 'enough'])
})

test('an event that comes twice counts once', () => {
  const [first, second] = [...begin(), event('state.set', { key: 'k', value: 1 })]
  const run = reduceEvents([first, second])
  assert.equal(reduceRun(run, second), run)
  assert.equal(reduceRun(run, first), run)
})

test('a live view follows as events come', async () => {
  async function* events() {
    yield* begin()
    yield event('flow.completed', { result: 1, duration: 1 })
  }
  const seen = []
  for await (const run of followRun(events())) seen.push(run.status)
  assert.deepEqual(seen, ['pending', 'completed'])
})

test('a trigger is what its events say', () => {
  const of = (type, data) => ({ ...event(type, data), correlationId: 'run' })
  const reduce = (...events) => events.reduce(reduceTrigger, emptyTrigger())
  const registered = of('trigger.registered', { type: 'webhook' })
  const begin = { status: 'registered', registeredAt: registered.ts, type: 'webhook', correlationId: 'run', fired: 0, failed: 0 }
  assert.deepEqual(reduce(), { status: 'registered', fired: 0, failed: 0 })
  assert.deepEqual(reduce(registered), begin)
  const fired = of('trigger.fired', { payload: { approved: true }, source: 'webhook' })
  const after = { ...begin, status: 'fired', firedAt: fired.ts, payload: { approved: true }, fired: 1 }
  assert.deepEqual(reduce(registered, fired, event('log.info', {})), after)
  for (const status of ['timeout', 'cancelled']) {
    const ended = of(`trigger.${status}`)
    assert.deepEqual(reduce(registered, ended), { ...begin, status, endedAt: ended.ts })
  }
  const started = of('trigger.fired', { runId: 'r2' })
  const again = of('trigger.registered', { type: 'cron' })
  const all = reduce(registered, fired, of('trigger.failed', {}), started, of('trigger.cancelled', {}), again)
  assert.deepEqual(all, { status: 'registered', registeredAt: again.ts, firedAt: started.ts, type: 'cron', correlationId: 'run', runId: 'r2', fired: 2, failed: 1 })
})
