import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { project, startRunner } from './support.mjs'

async function load(t, text, packages) {
  const folder = project(t, { 'a.mjs': text }, packages)
  const runner = await startRunner(t)
  const { result, error } = await runner.load(join(folder, 'a.mjs'))
  return { config: result?.processes[0].config, error }
}

const zodConfig = `
  import { z } from 'zod'
  export const config = {
    inputSchema: z.object({ epochs: z.number().int().min(1) }),
    state: z.object({ status: z.enum(['idle', 'training']), accuracy: z.number().min(0).max(1).optional(), at: z.date().optional() }),
  }
  export default () => {}
`

test('schemas of zod 4 become JSON Schema', async (t) => {
  const { config, error } = await load(t, zodConfig, { zod: 'zod' })
  assert.equal(error, undefined, JSON.stringify(error))
  const { inputSchema, state } = config
  assert.equal(inputSchema.properties.epochs.type, 'integer')
  assert.equal(inputSchema.properties.epochs.minimum, 1)
  assert.deepEqual(inputSchema.required, ['epochs'])
  assert.deepEqual(state.properties.status, { type: 'string', enum: ['idle', 'training'] })
  assert.equal(state.properties.accuracy.maximum, 1)
  assert.deepEqual(state.properties.at, {})
  assert.deepEqual(state.required, ['status'])
})

test('schemas of zod 3 become JSON Schema with zod-to-json-schema, and say so without it', async (t) => {
  const { config, error } = await load(t, zodConfig, { zod: 'zod3', 'zod-to-json-schema': 'zod-to-json-schema' })
  assert.equal(error, undefined, JSON.stringify(error))
  assert.equal(config.inputSchema.properties.epochs.type, 'integer')
  const without = await load(t, zodConfig, { zod: 'zod3' })
  assert.equal(without.error.data.code, 'MODULE_CONFIG')
  assert.match(without.error.message, /config\.inputSchema.*npm i zod-to-json-schema/)
})

test('other libraries are asked by the standard that they follow', async (t) => {
  const { config } = await load(t, `
    const standard = { version: 1, vendor: 'own', jsonSchema: { input: ({ target }) => ({ type: 'string', target }) } }
    export const config = { inputSchema: { '~standard': standard }, outputSchema: { '~standard': { version: 1, vendor: 'own' }, toJsonSchema: () => ({ type: 'number' }) } }
    export default () => {}
  `)
  assert.deepEqual(config, { inputSchema: { type: 'string', target: 'draft-2020-12' }, outputSchema: { type: 'number' } })
  const { error } = await load(t, "export const config = { state: { '~standard': { version: 1, vendor: 'mute' } } }\nexport default () => {}")
  assert.match(error.message, /config\.state.*mute/)
})

test('functions become source that is an expression', async (t) => {
  const { config } = await load(t, `
    export const config = {
      arrow: (input) => input.orderId,
      bare: input => input.id,
      asyncArrow: async (input) => input,
      method(input) { return input.id },
      async asyncMethod(input) { return input },
      named: function key(input) { return input.id },
      nested: { list: [{ where: (e, ctx) => e.data.orderId === ctx.input.orderId }] },
      nothing: undefined, when: new Date(0), pattern: /a+/,
    }
    export default () => {}
  `)
  const { $function: method } = config.method
  assert.equal(method, 'function method(input) { return input.id }')
  assert.equal(config.asyncMethod.$function, 'async function asyncMethod(input) { return input }')
  for (const { $function: source } of [config.arrow, config.bare, config.asyncArrow, config.method, config.named, config.nested.list[0].where]) {
    assert.equal(typeof (0, eval)(`(${source})`), 'function')
  }
  assert.equal('nothing' in config, false)
  assert.equal(config.when, '1970-01-01T00:00:00.000Z')
  assert.equal(config.pattern, 'a+')
})

test('what cannot be JSON is refused with its place', async (t) => {
  const cases = [
    ['{ a: { b: 1n } }', /config\.a\.b .*1.* not JSON/],
    ['{ a: [NaN] }', /config\.a\[0\] .*NaN/],
    ['(() => { const c = {}; c.self = c; return c })()', /config\.self.* contains itself/],
  ]
  for (const [config, message] of cases) {
    const { error } = await load(t, `export const config = ${config}\nexport default () => {}`)
    assert.equal(error.data.code, 'MODULE_CONFIG')
    assert.match(error.message, message)
  }
})
