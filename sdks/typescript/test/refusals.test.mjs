/** What the server refuses, a test finds: limits, kinds, callbacks, words. */

import './binary.mjs'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { defineStep } from '../dist/index.js'
import { execute, later, runFlow, runStep } from '../dist/testing.js'

const entry = { flow: { role: 'entry' } }

test('code waits as often as its flow allows', async () => {
  const wait = async (_, ctx) => {
    for (;;) await ctx.await.time('1h')
  }
  const done = await runStep(defineStep(wait, { flow: { id: 'f', limits: { maxAwaits: 50 } } }))
  assert.deepEqual([done.status, done.error.code, done.awaits.length, done.executions, done.attempt], ['failed', 'MAX_AWAITS', 50, 51, 1])
  assert.match(done.error.message, /waited 50 times.*limits\.maxAwaits/)
  const run = await runFlow({ loop: defineStep(wait, { flow: { role: 'entry', limits: { maxAwaits: 3 } } }) })
  assert.deepEqual([run.status, run.error.code, run.visits[0].awaits.length], ['failed', 'MAX_AWAITS', 3])
})

test('a run makes as many visits as its flow allows', async () => {
  const again = async (_, ctx) => { await ctx.emit('again') }
  const steps = (limits) => ({ again: defineStep(again, { flow: { role: 'entry', limits }, subscriptions: [{ eventKind: 'again' }] }) })
  const few = await runFlow(steps({ maxSteps: 10 }))
  assert.deepEqual([few.error.code, few.visits.filter(({ status }) => status === 'completed').length], ['MAX_STEPS', 10])
  assert.match(few.error.message, /made 10 steps.*limits\.maxSteps/)
  const many = await runFlow(steps(undefined))
  assert.equal(many.visits.filter(({ status }) => status === 'completed').length, 1000)
  await assert.rejects(runFlow(steps({ maxSteps: 0 })), { code: 'FLOW_INVALID', message: /limits\.maxSteps: 0 is less than the minimum of 1/ })
})

test('no code waits for what only the server writes', async () => {
  for (const kind of ['flow.completed', 'step.failed', 'job.added', 'job.mine', 'log.warn', 'state.set', 'trigger.fired', 'emit', 'progress']) {
    const { status, error } = await runStep((_, ctx) => ctx.await.event({ kind }))
    assert.deepEqual([status, error?.code], ['failed', 'BAD_KIND'], kind)
    const received = { listener: defineStep(() => 1, { flow: { role: 'entry' }, subscriptions: [{ eventKind: kind }] }) }
    await assert.rejects(runFlow(received), { code: 'FLOW_INVALID', message: /steps\.listener\.subscriptions\.0\.eventKind: .* is written by riverrun itself/ }, kind)
  }
  for (const kind of ['order.flow', 'flows', 'state.mine']) assert.equal((await runStep((_, ctx) => ctx.await.event({ kind }))).status, 'waiting', kind)
  assert.equal((await runStep((_, ctx) => ctx.await.event({ kind: 'two words' }))).error.code, 'INPUT_ERROR')
})

test('a callback that is not for many is waited for once', async () => {
  const twice = (many) => async (_, ctx) => {
    const callback = await ctx.await.trigger({ many })
    return [await callback.wait(), await callback.wait()]
  }
  const once = await runStep(twice(false), { triggers: () => 'in' })
  assert.deepEqual([once.status, once.error?.code, once.executions], ['failed', 'INPUT_ERROR', 2])
  assert.match(once.error.message, /was used/)
  assert.deepEqual((await runStep(twice(true), { triggers: () => 'in' })).value, ['in', 'in'])
})

test('the time of a callback runs from when it was made', async () => {
  const late = async (_, ctx) => {
    const callback = await ctx.await.trigger({ timeout: '3h' })
    await ctx.await.time('2h')
    return callback.wait()
  }
  const done = await runStep(late, { triggers: () => later('90m', 'in') })
  assert.deepEqual([done.error.code, done.elapsedMs], ['AWAIT_TIMEOUT', 3 * 3_600_000])
  assert.equal((await runStep(late, { triggers: () => later('30m', 'in') })).value, 'in')
})

test('nothing is waited for longer than ten years', async () => {
  const waits = [
    (ctx) => ctx.await.time('4000 days'),
    (ctx) => ctx.await.time(new Date('2040-01-01')),
    (ctx) => ctx.await.event({ kind: 'x', timeout: '4000 days' }),
    async (ctx) => (await ctx.await.trigger({ timeout: '4000 days' })).wait(),
  ]
  for (const wait of waits) {
    const { error } = await runStep((_, ctx) => wait(ctx))
    assert.deepEqual([error?.code, error?.retriable], ['INPUT_ERROR', false], String(wait))
    assert.match(error.message, /ten years/)
  }
  const declared = { wait: defineStep(() => 1, { ...entry, await: { type: 'time', delay: '4000 days' } }) }
  await assert.rejects(runFlow(declared), { code: 'FLOW_INVALID', message: /steps\.wait\.await\.delay: "4000 days" is not between 0 and ten years/ })
})

test('a flow leads to steps that there are', async () => {
  const steps = (config) => ({ book: defineStep(() => 1, { ...entry, ...config }), unbook: defineStep(() => 1, { flow: { role: 'step' } }) })
  await assert.rejects(runFlow(steps({ compensation: { step: 'unbok' } })), { code: 'FLOW_INVALID', message: /steps\.book\.compensation\.step: there is no step "unbok"/ })
  await assert.rejects(runFlow(steps({ await: { type: 'event', eventKind: 'x', onTimeout: 'late' } })), { code: 'FLOW_INVALID', message: /steps\.book\.await\.onTimeout: there is no step "late"/ })
  await assert.rejects(runFlow(steps({ await: { type: 'trigger', many: 1 } })), { code: 'FLOW_INVALID', message: /await\.many: 1 is less than the minimum of 2/ })
  await assert.rejects(runFlow(steps({ await: { type: 'trigger', payload: { ask: ['order ${input.id'] } } })), { code: 'FLOW_INVALID', message: /steps\.book\.await\.payload: \$\{ is never closed in "order \$\{input\.id"/ })
  await assert.rejects(runFlow(steps({ await: { type: 'trigger', payload: '${a..b}' } })), { code: 'FLOW_INVALID', message: /\$\{a\.\.b\} in "\$\{a\.\.b\}" is not a path/ })
  assert.equal((await runFlow(steps({ compensation: { step: 'unbook' } }))).status, 'completed')
})

test('a declared await has the fields of its type', async () => {
  const reported = async (declared) => {
    const error = await runFlow({ wait: defineStep(() => 1, { ...entry, await: declared }) }).catch((error) => error)
    assert.equal(error.code, 'FLOW_INVALID')
    return error.details.issues.map(({ path, message }) => [path.replace('steps.wait.await.', ''), message])
  }
  const all = { delay: 5, eventKind: 'x', where: 'true', match: { 'data.a': 1 }, lookback: 5, triggerType: 'api', payload: 1, secretEnv: 'SECRET', many: 2 }
  const strange = {
    event: ['delay', 'triggerType', 'payload', 'secretEnv', 'many'],
    trigger: ['delay', 'eventKind', 'where', 'match', 'lookback'],
    time: ['eventKind', 'where', 'match', 'lookback', 'triggerType', 'payload', 'secretEnv', 'many'],
  }
  for (const [type, fields] of Object.entries(strange)) {
    assert.deepEqual((await reported({ ...all, type })).map(([field]) => field).sort(), [...fields].sort())
  }
  assert.match((await reported({ type: 'trigger', triggerType: 'user', secretEnv: 'SECRET' })).join(), /^secretEnv,a person who answers on a page signs nothing/)
  const nothing = await runFlow({ wait: defineStep(() => 1, { ...entry, await: { type: 'time', delay: 5, payload: undefined } }) })
  assert.equal(nothing.status, 'completed')
})

test('a declared match says which part of the event equals what', async () => {
  const pay = (match) => ({ pay: defineStep((_, ctx) => ctx.awaited.data, { ...entry, await: { type: 'event', eventKind: 'paid', match } }) })
  const reported = (match) => runFlow(pay(match)).then(() => [], (error) => (assert.equal(error.code, 'FLOW_INVALID'), error.details.issues.map(({ path, message }) => ({ path, message }))))
  for (const from of ['order.id', 'inputs.id', 'state', '', '5']) {
    const text = JSON.stringify(from)
    assert.deepEqual(await reported({ 'data.id': from }), [{ path: 'steps.pay.await.match.data.id', message: `${text} is no path into input or state, such as "input.${from}": for the text itself write {"value": ${text}}` }])
  }
  for (const path of ['id', 'orderId', 'Data.id']) {
    const message = `no event has "${path.split('.')[0]}": what was emitted stands below data, as in "data.${path}"`
    assert.deepEqual(await reported({ [path]: 'input' }), [{ path: `steps.pay.await.match.${path}`, message }])
  }
  const events = [{ type: 'paid', data: 'other' }, { type: 'paid', data: 'a' }, { type: 'paid', data: { id: 5, by: null, as: 'input' }, correlationId: 'c' }]
  const taken = async (match, input, state) => (await runFlow(pay(match), { input, state, events })).visits[0].value
  assert.equal(await taken({ data: 'input' }, 'a'), 'a')
  for (const match of [{ 'data.id': 'input.id' }, { 'data.id': 'state.order' }, { 'data.as': { value: 'input' } }, { 'data.id': 5, 'data.by': null }, { correlationId: { value: 'c' } }]) {
    assert.equal((await taken(match, { id: 5 }, { order: 5 })).id, 5, JSON.stringify(match))
  }
})

test('a word that is not a setting is refused, with the one that was meant', async () => {
  const refused = (config, message) => assert.rejects(runFlow({ a: defineStep(() => 1, { ...entry, ...config }) }), { code: 'PROCESS_INVALID', message }, JSON.stringify(config))
  await refused({ concurency: 3 }, /the config of "a" has issues, first concurency: is not a setting; did you mean concurrency\?/)
  await refused({ zzz: 3 }, /zzz: is not a setting$/)
  await refused({ limits: { maxSteps: 3 } }, /limits: is not a setting/)
  await refused({ flow: { role: 'entry', limit: {} } }, /flow\.limit: is not a setting; did you mean limits\?/)
  await assert.rejects(runFlow({ a: defineStep(() => 1, { flow: { role: 'entry', limits: { maxStep: 1 } } }) }), { code: 'FLOW_INVALID', message: /limits: there is no "maxStep" here; did you mean maxSteps\?/ })
  await refused({ retryPolicy: { attempt: 3, backoff: { typ: 'fixed', delayMs: 1 } } }, /retryPolicy\.backoff\.typ: is not a setting; did you mean type\?/)
  const late = defineStep(() => 1, { flow: [{ id: 'f', await: { type: 'event', eventKind: 'x', timeOut: 1 } }] })
  await assert.rejects(runFlow({ late }), { code: 'FLOW_INVALID', message: /steps\.late\.await: there is no "timeOut" here; did you mean timeout\?/ })
  await assert.rejects(execute(() => 1, null, { config: { retries: 3 } }), { code: 'PROCESS_INVALID' })
})

test('every setting that the server knows is one', async () => {
  const page = readFileSync(new URL('../../../docs/reference/processes.md', import.meta.url), 'utf8')
  const tables = ['Execution', 'Uniqueness', 'Schemas'].map((title) => page.split(`\n### ${title}\n`)[1].split(/\n###? |\n`retry` says/)[0])
  const rows = [...tables.join('').matchAll(/^\| (`[^|]+`) \|/gm)]
  const names = rows.flatMap(([, cell]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  assert.ok(names.length > 15, names.join())
  const known = (name) => execute(() => 1, null, { schemas: false, config: { [name]: undefined, [`${name}x`]: 1 } }).then(() => '', ({ message }) => message)
  for (const name of names) assert.match(await known(name), new RegExp(`did you mean ${name}\\?`), name)
})

test('an option that is none is refused, with the one that was meant', async () => {
  await assert.rejects(runFlow([() => 1], { event: [] }), { name: 'TypeError', message: 'runFlow has no option event; did you mean events?' })
  await assert.rejects(runStep(() => 1, { inputs: {} }), { name: 'TypeError', message: 'runStep has no option inputs; did you mean input?' })
  await assert.rejects(execute(() => 1, null, { xyz: {} }), { name: 'TypeError', message: /^execute has no option xyz: it knows state, / })
  assert.equal((await runStep(() => 1, { events: undefined, nothing: undefined })).value, 1)
})

test('a where that throws passes the event over, and the run says so', async () => {
  const wait = (_, ctx) => ctx.await.event({ kind: 'paid', where: (event) => event.data.by.length > 2, timeout: '1d' })
  const done = await runStep(wait, { events: [{ type: 'paid', data: {}, at: '1h' }, { type: 'paid', data: {}, at: '2h' }, { type: 'paid', data: { by: 'card' }, at: '3h' }] })
  assert.equal(done.value.data.by, 'card')
  assert.deepEqual(done.warnings.map(({ code, step }) => [code, step]), [['EXPRESSION_ERROR', 'test']])
  assert.match(done.warnings[0].message, /^the where of the await of event paid: .*cannot read property 'length' of undefined/)
})

test('errors of a where are distinguished from those of its event', async () => {
  const wait = (where) => runStep((_, ctx) => ctx.await.event({ kind: 'paid', where, timeout: '1d' }), { events: [{ type: 'paid', data: '{', at: '1h' }] })
  const parses = await wait((event) => JSON.parse(event.data).n)
  assert.deepEqual([parses.error.code, parses.warnings.length], ['AWAIT_TIMEOUT', 1])
  const broken = await wait('(event) => event.data >')
  assert.equal(broken.status, 'failed')
  const limit = 5
  const around = await wait((event) => event.data > limit)
  assert.match(around.warnings[0].message, /limit is not defined/)
})

test('a when or a map that throws enters nothing, and the run says so', async () => {
  const begin = defineStep(async (_, ctx) => { await ctx.emit('made', {}); await ctx.emit('made', { by: { name: 'ann' } }) }, entry)
  const listener = (subscription) => defineStep((input) => input, { subscriptions: [{ eventKind: 'made', ...subscription }] })
  const run = await runFlow({
    begin,
    when: listener({ when: (event) => event.data.by.name === 'ann' }),
    map: listener({ map: (event) => event.data.by.name }),
    declared: defineStep((_, ctx) => ctx.awaited.data, { subscriptions: [{ eventKind: 'made', when: (event) => event.data.by }], await: { type: 'event', eventKind: 'paid', where: (event) => event.data.n.m } }),
  }, { events: [{ type: 'paid', data: {}, at: '1h' }, { type: 'paid', data: { n: { m: 1 } }, at: '2h' }] })
  assert.equal(run.status, 'completed', run.error?.message)
  assert.deepEqual(run.visits.map(({ step, value }) => [step, value]).slice(1), [['when', { by: { name: 'ann' } }], ['map', 'ann'], ['declared', { n: { m: 1 } }]])
  assert.deepEqual(run.warnings.map(({ step }) => step), ['when', 'map', 'declared'])
  assert.match(run.warnings[0].message, /^subscription 0 of step "when": .*cannot read/)
})

test('callbacks, events from outside and failures are as on the server', async () => {
  const callback = (options, triggers) => runStep(async (_, ctx) => (await ctx.await.trigger(options)).wait(), { triggers })
  const short = await callback({ secret: 'abc' }, () => 1)
  assert.deepEqual([short.error.code, short.error.message, short.error.retriable], ['INPUT_ERROR', 'the secret of a callback has fewer than 8 bytes', false])
  assert.equal((await callback({ secret: 'long enough' }, () => 1)).value, 1)
  for (const body of ['x'.repeat(1024 * 1024), later('1h', 'x'.repeat(1024 * 1024))]) {
    await assert.rejects(callback({}, () => body), { code: 'TOO_LARGE', message: 'the body has 1048578 bytes; it may have 1048576' })
  }
  const received = await runStep((_, ctx) => ctx.await.event('paid'), { events: [{ type: 'paid' }] })
  assert.deepEqual([received.value.runId, received.value.flowName], ['global', 'global'])
  const thrown = (error) => () => { throw error }
  for (const error of [new Error('x'), 'x']) {
    const policy = { retryPolicy: { attempts: 1 } }
    const done = [await runStep({ default: thrown(error), config: policy }), await runFlow([{ default: thrown(error), config: { ...policy, step: 'a' } }]), await execute(thrown(error))]
    assert.deepEqual(done.map(({ error }) => [error.code, error.message]), Array(3).fill(['HANDLER_ERROR', 'x']))
  }
  const own = Object.assign(new Error('x'), { code: 'OWN' })
  assert.equal((await execute(thrown(own))).error, own)
})

test('expressions have what the server has, and nothing else', async () => {
  const begin = defineStep((_, ctx) => ctx.emit('made', { n: 1 }), entry)
  const listener = (subscription) => runFlow({ begin, listener: defineStep((input) => input, { subscriptions: [{ eventKind: 'made', ...subscription }] }) })
  const passedOver = [
    [{ when: () => Date.now() > 0 }, /Date\.now\(\) is not available: .* pass the time in as input/],
    [{ when: () => new Date() }, /new Date\(\) is not available/],
    [{ map: () => Math.random() }, /Math\.random\(\) is not available/],
    [{ map: () => Function('return 1')() }, /code from a string is not allowed/],
    [{ map: () => 1n }, /expression result is not JSON: it is a bigint/],
    [{ map: () => ({ n: 1n }) }, /expression result is not JSON/],
    [{ map: () => 'x'.repeat(1024 * 1024) }, /expression result has 1048578 bytes, the limit is 1048576/],
    [{ when: () => Promise.resolve(true) }, /expression is asynchronous/],
  ]
  for (const [subscription, message] of passedOver) {
    const run = await listener(subscription)
    assert.deepEqual([run.status, run.visits.length], ['completed', 1], String(message))
    assert.match(run.warnings[0].message, message)
  }
  for (const name of ['console', 'process', 'Buffer', 'crypto', 'URL', 'Intl', 'structuredClone', 'setTimeout', 'fetch', 'WebAssembly']) {
    assert.match((await listener({ when: `(event) => ${name} !== undefined` })).warnings[0].message, new RegExp(`${name} is not defined`))
  }
  for (const expression of [async () => true, 'async event => true']) {
    await assert.rejects(listener({ when: expression }), { code: 'FLOW_INVALID', message: /steps\.listener\.subscriptions\.0\.when: expression is asynchronous/ })
  }
  const kept = await listener({ map: (event) => ({ day: new Date('2026-01-02').getUTCDate(), all: [...new Set([event.data.n])], made: new Date(0), none: undefined }) })
  assert.deepEqual(kept.visits[1].input, { day: 2, all: [1], made: '1970-01-01T00:00:00.000Z' })
})

test('a delay that cannot be computed fails the step', async () => {
  for (const delay of [(result) => result.a.b, () => '90s', () => -1]) {
    const { error } = await runStep(defineStep(() => ({}), { flow: 'f', await: { type: 'time', delay } }))
    assert.equal(error?.code, 'INPUT_ERROR', String(delay))
  }
})

test('options of waits are checked before the server is asked', async () => {
  const refused = async (wait, message) => {
    const { error, executions } = await runStep((_, ctx) => wait(ctx.await))
    assert.deepEqual([error?.code, error?.retriable, executions], ['INPUT_ERROR', false, 1], String(wait))
    assert.match(error.message, message)
  }
  await refused((ctx) => ctx.trigger({ many: 2 }), /^many must be true or false; .*config.*, is 2$/)
  await refused((ctx) => ctx.trigger({ type: 'robot' }), /^type must be webhook, user or api, is "robot"$/)
  await refused((ctx) => ctx.trigger({ secret: 7 }), /^secret must be a text, is 7$/)
  await refused((ctx) => ctx.trigger({ timeout: {} }), /^timeout must be milliseconds, a duration such as "24h" or a date, is \{\}$/)
  await refused((ctx) => ctx.event({ kind: 'x', timeout: new Date(NaN) }), /^timeout must be a date that there is/)
  await refused((ctx) => ctx.event({ kind: 'x', timeout: true }), /^timeout must be .*, is true$/)
  await refused((ctx) => ctx.event({ kind: 'x', timeout: 1e300 }), /^timeout must be .*, is 1e\+300$/)
  await refused((ctx) => ctx.event({ kind: 'x', lookback: new Date(0) }), /^lookback must be "run", .*, is "1970-01-01T00:00:00\.000Z"$/)
})

test('a timeout may be a date', async () => {
  const until = (date) => [
    (_, ctx) => ctx.await.event({ kind: 'x', timeout: new Date(date) }),
    async (_, ctx) => (await ctx.await.trigger({ timeout: new Date(date) })).wait(),
  ]
  for (const wait of until('2026-01-03')) {
    const { error, elapsedMs } = await runStep(wait)
    assert.deepEqual([error.code, elapsedMs], ['AWAIT_TIMEOUT', 2 * 86_400_000])
  }
  for (const wait of until('2025-01-01')) assert.deepEqual((await runStep(wait)).elapsedMs, 0)
})
