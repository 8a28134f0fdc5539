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

test('a rule that JSON Schema cannot say is not the server\'s, and not the test\'s', async () => {
  const config = { inputSchema: z.object({ n: z.number() }).refine(({ n }) => n > 5) }
  assert.equal((await execute({ default: () => 1, config }, { n: 1 })).status, 'completed')
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

test('a schema that is none is told, and so is one that leads elsewhere', async () => {
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
