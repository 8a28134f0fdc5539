import './binary.mjs'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { z as z3 } from 'zod3'
import { defineProcess, defineQueueWorker, defineStep } from '../dist/index.js'
import { createTestContext, execute, runFlow, runStep } from '../dist/testing.js'
import { compile } from '../dist/shared/json-schema.mjs'
import { project, root, startRunner } from './support.mjs'

const shared = JSON.parse(readFileSync(join(root, '../conformance/schemas.json'), 'utf8'))

test('schemas mean what they mean to the server', () => {
  for (const { schema, value, issues } of shared) {
    const found = compile(schema)(value).map(({ path, rule }) => [path, rule])
    assert.deepEqual(found.sort(), issues.sort(), JSON.stringify(schema))
  }
})

const schemas = {
  'JSON Schema': {
    inputSchema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    outputSchema: { type: 'string' },
    state: { type: 'object', required: ['s', 'later'], properties: { s: { enum: ['a', 'b'] }, later: { type: 'number' } } },
  },
  zod: { inputSchema: z.object({ n: z.int() }), outputSchema: z.string(), state: z.object({ s: z.enum(['a', 'b']), later: z.number() }) },
  'zod 3': { inputSchema: z3.object({ n: z3.number().int() }), outputSchema: z3.string(), state: z3.object({ s: z3.enum(['a', 'b']), later: z3.number() }) },
}

for (const [kind, config] of Object.entries(schemas)) {
  test(`${kind}: what breaks its schema is refused as on the server`, async () => {
    let calls = 0
    const module = {
      config,
      default: async ({ n }, ctx) => {
        calls += 1
        if (n === 2) await ctx.state.set('s', 'zzz')
        await ctx.state.set('s', 'b')
        return n === 1 ? 5 : 'done'
      },
    }
    const bad = await execute(module, { n: 'x' })
    assert.equal(bad.status, 'failed')
    assert.equal(bad.error.code, 'INPUT_INVALID')
    assert.match(bad.error.message, /^the input breaks the schema at "n": /)
    assert.equal(bad.error.retriable, false)
    assert.deepEqual(bad.error.details.issues.map(({ path, rule }) => [path, rule]), [['n', 'type']])
    assert.equal(calls, 0)

    const broken = await execute(module, { n: 1 })
    assert.equal(broken.error?.code, 'OUTPUT_INVALID')
    assert.match(broken.error.message, /^the result breaks the output schema: /)
    assert.equal(broken.value, undefined)
    assert.deepEqual(broken.error.details.issues.map(({ path, rule }) => [path, rule]), [['', 'type']])

    const state = await execute(module, { n: 2 })
    assert.equal(state.error?.code, 'STATE_INVALID')
    assert.match(state.error.message, /^the write breaks the state's schema at "s": /)
    assert.deepEqual(state.error.details.issues.map(({ path, rule }) => [path, rule]), [['s', 'enum']])
    assert.deepEqual(state.state, {})

    const good = await execute(module, { n: 3 })
    assert.deepEqual([good.status, good.value, good.state], ['completed', 'done', { s: 'b' }])
    assert.equal((await execute(module, { n: 1 }, { schemas: false })).value, 5)
  })
}

test('what is checked is JSON: a date is text, and what is undefined is not there', async () => {
  const outputSchema = { type: 'object', properties: { at: { type: 'string' } }, additionalProperties: false }
  const dated = await execute({ default: () => ({ at: new Date(0), gone: undefined }), config: { outputSchema } })
  assert.equal(dated.status, 'completed', dated.error)
  const nothing = await execute({ default: () => undefined, config: { outputSchema } })
  assert.equal(nothing.error.code, 'OUTPUT_INVALID')
  const none = await execute({ default: () => 5n, config: { outputSchema } })
  assert.equal(none.error.code, 'RESULT_NOT_JSON')
})

test('a rule that JSON Schema cannot say holds for inputs, which are parsed, and for nothing else', async () => {
  const inputSchema = z.object({ n: z.number() }).refine(({ n }) => n > 5, 'too small')
  const refused = await execute({ default: () => 1, config: { inputSchema } }, { n: 1 })
  assert.deepEqual([refused.error?.code, refused.error.retriable, refused.error.message], ['INPUT_INVALID', false, 'the input breaks the schema: too small'])
  assert.deepEqual(refused.error.details.issues, [{ path: '', rule: 'custom', message: 'too small' }])
  assert.equal((await execute({ default: () => 1, config: { inputSchema } }, { n: 1 }, { schemas: false })).status, 'completed')
  assert.equal((await execute({ default: () => ({ n: 1 }), config: { outputSchema: inputSchema } })).status, 'completed')
})

for (const [kind, zod] of [['zod', z], ['zod 3', z3]]) {
  test(`${kind}: a handler gets what the schema makes of its input`, async () => {
    const inputSchema = zod.object({ n: zod.number().default(3), at: zod.coerce.number(), pre: zod.preprocess(Number, zod.number()).optional(), when: zod.string().transform((text) => text.length) })
    const given = { n: 3, at: 5, when: 2 }
    assert.deepEqual((await execute(defineProcess((input) => input, { inputSchema }), { at: '5', when: 'ab', ...(zod === z && { extra: 1 }) })).value, given)
    assert.deepEqual((await execute(defineQueueWorker((job) => job.data, { inputSchema }), { at: '5', when: 'ab', pre: '7' })).value, { ...given, pre: 7 })
    assert.deepEqual((await execute(defineQueueWorker((jobs) => jobs.map((job) => job.data.at), { inputSchema, batch: { size: 2 } }), [{ at: '5', when: '' }, { at: 6, when: '' }])).value, [5, 6])
    const run = await runFlow({ step: defineStep((input) => input, { flow: { role: 'entry' }, inputSchema }) }, { input: { at: '5', when: 'ab' } })
    assert.deepEqual(run.visits[0].value, given)
    assert.deepEqual(run.visits[0].input, { at: '5', when: 'ab' })
    const bad = await execute(defineProcess((input) => input, { inputSchema }), { at: 'x', when: '' })
    assert.deepEqual([bad.error?.code, bad.error.details.issues.map(({ path }) => path)], ['INPUT_INVALID', ['at']])
  })
}

test('a runner parses inputs where the schema can', async (t) => {
  const runner = await startRunner(t)
  const folder = project(t, {
    'one.mjs': `
      import { z } from 'zod'
      export const config = { inputSchema: z.object({ n: z.coerce.number().default(3) }), outputSchema: z.coerce.number() }
      export default ({ n }) => n`,
    'slow.mjs': `
      import { z } from 'zod'
      export const config = { inputSchema: z.number().refine(async (n) => n > 5, 'too small').transform(String) }
      export default (n) => n`,
    'batch.mjs': `
      import { z } from 'zod'
      export const config = { batch: { size: 5 }, inputSchema: z.coerce.number() }
      export default (each, ctx) => each[0] === 0 ? 'all' : each.map((n, at) => [n, ctx.job(at).jobId])`,
  }, { zod: 'zod' })
  const { result } = await runner.load(join(folder, 'one.mjs'))
  const { inputSchema, outputSchema } = result.processes[0].config
  assert.deepEqual([inputSchema.properties.n, outputSchema.type], [{ default: 3 }, 'number'])
  const one = async (file, input) => (({ result, error }) => result?.value ?? [error.data.code, error.message])(await runner.invoke(join(folder, file), input))
  assert.equal(await one('one.mjs', {}), 3)
  assert.equal(await one('one.mjs', { n: '7' }), 7)
  assert.deepEqual((await one('one.mjs', { n: 'x' })).slice(0, 1), ['INPUT_INVALID'])
  assert.equal(await one('slow.mjs', 7), '7')
  assert.deepEqual(await one('slow.mjs', 1), ['INPUT_INVALID', 'the input breaks the schema: too small'])
  const batch = async (...inputs) => (await runner.invoke(join(folder, 'batch.mjs'), null, { jobs: inputs.map((input, at) => ({ jobId: `j${at}`, input })) })).result
  const { results } = await batch('1', 'x', 3)
  assert.deepEqual([results[0].value, results[1].error.code, results[2].value], [[1, 'j0'], 'INPUT_INVALID', [3, 'j2']])
  assert.deepEqual((await batch(0, 'x')).results.map(({ value, error }) => value ?? error.code), ['all', 'INPUT_INVALID'])
  assert.deepEqual((await batch('x', 'y')).results.map(({ error }) => error.code), ['INPUT_INVALID', 'INPUT_INVALID'])
  assert.deepEqual(await batch(1, 2), { results: [{ value: [1, 'j0'] }, { value: [2, 'j1'] }] })
})

test('a state that was wrong before may be written on', async () => {
  const config = { state: { properties: { s: { enum: ['a'] }, n: { type: 'number' } } } }
  const write = { default: (_, { state }) => state.set('n', 1), config }
  assert.equal((await execute(write, null, { state: { s: 'old' } })).status, 'completed')
})

test('each job of a batch is checked, in and out', async () => {
  const config = { batch: { size: 5 }, inputSchema: { type: 'number' }, outputSchema: { type: 'string' } }
  const worker = (results) => defineQueueWorker(() => results, config)
  const bad = await execute(worker([]), [1, 'x'])
  assert.match(bad.error.message, /^the input of job 1 breaks the schema: /)
  const broken = await execute(worker(['a', 5]), [1, 2])
  assert.match(broken.error.message, /^the result of job 1 breaks the output schema: /)
  assert.equal((await execute(worker(['a', new Error('not this one')]), [1, 2])).status, 'completed')
  assert.equal((await execute(worker('for all'), [1, 2])).status, 'completed')
})

test('a context by itself checks what is written, in order', async () => {
  const { ctx, state } = createTestContext({ config: { state: { properties: { n: { maximum: 2 } } } } })
  const writes = [ctx.state.set('n', 1), ctx.state.set('n', 3), ctx.state.set('n', 2), ctx.state.get('n')]
  const [, refused, , read] = await Promise.allSettled(writes)
  assert.equal(refused.reason.code, 'STATE_INVALID')
  assert.equal(read.value, 2)
  assert.deepEqual(state, {})
})

test('a schema that is none is reported, and so is one that leads elsewhere', async () => {
  const run = (inputSchema) => execute({ default: () => 1, config: { inputSchema } })
  await assert.rejects(run({ type: 'bogus' }), { code: 'PROCESS_INVALID', message: /config\.inputSchema is no JSON Schema/ })
  await assert.rejects(run({ $ref: 'https://example.org/order.json' }), /under \$defs/)
  await assert.rejects(run({ $schema: 'http://json-schema.org/draft-04/schema#' }), /draft 6 or newer/)
  const { ctx } = createTestContext({ config: { state: { type: 'bogus' } } })
  await assert.rejects(ctx.state.set('n', 1), { code: 'PROCESS_INVALID' })
})

test('steps are held to their schemas, and the run to the state of its entry', async () => {
  const steps = {
    first: defineStep(async (input, ctx) => {
      await ctx.emit('went', { n: input })
      return input
    }, { flow: { role: 'entry' }, outputSchema: { type: 'number' }, state: { properties: { s: { type: 'number' } } } }),
    second: defineStep(({ n }, ctx) => ctx.state.set('s', n), {
      subscriptions: [{ eventKind: 'went' }],
      inputSchema: { properties: { n: { type: ['number', 'string'], maximum: 5 } } },
      state: { properties: { s: { type: 'string' } } },
    }),
  }
  const ended = async (input) => {
    const { visits } = await runFlow(steps, { input })
    return visits.map(({ status, error, attempt }) => [status, error?.code, attempt])
  }
  assert.deepEqual(await ended(3), [['completed', undefined, 1], ['completed', undefined, 1]])
  assert.deepEqual(await ended(7), [['completed', undefined, 1], ['failed', 'INPUT_INVALID', 1]])
  assert.equal((await ended('x'))[0][1], 'OUTPUT_INVALID')
  const alone = await runStep(steps.second, { input: { n: 3 } })
  assert.equal(alone.error.code, 'STATE_INVALID')
  assert.equal((await runStep(steps.second, { input: { n: 9 }, schemas: false })).status, 'completed')
})

test('inside of a runner the kit checks as well', async (t) => {
  const runner = await startRunner(t)
  const folder = project(t, {
    'kit.mjs': `
      import { execute } from 'riverrun/testing'
      export default async () => (await execute({ default: () => 1, config: { inputSchema: { type: 'number' } } }, 'x')).error.code`,
  })
  const answer = await runner.request('invoke', { file: join(folder, 'kit.mjs'), kind: 'call', process: 'kit', input: null, attempt: 1, maxAttempts: 1 })
  assert.equal(answer.result?.value, 'INPUT_INVALID', JSON.stringify(answer))
})

test('a process without schemas is as it was', async () => {
  assert.equal((await execute(defineProcess((n) => n + 1), 1)).value, 2)
})
