import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { project, startRunner } from './support.mjs'

const sameInstance = {
  'a.mjs': "import { NonRetriableError } from 'riverrun'\nimport { execute } from 'riverrun/testing'\nglobalThis.seen = NonRetriableError\nexport default () => [typeof execute, NonRetriableError === globalThis.seen]",
  'b.cjs': "const { NonRetriableError, defineQueueWorker } = require('riverrun')\nmodule.exports = defineQueueWorker(async (job) => [job.data, NonRetriableError === globalThis.seen])\nmodule.exports.config = { queue: 'cjs' }",
  'c.cjs': "exports.config = { queue: 'made' }\nexports.default = async (input) => input\nObject.defineProperty(exports, '__esModule', { value: true })",
}

for (const node of [process.execPath, process.env.RIVERRUN_TEST_NODE].filter(Boolean)) {
  test(`user code gets the runner's own copy of riverrun, installed or not (${node})`, async (t) => {
    const folder = project(t, sameInstance)
    const runner = await startRunner(t, { node })
    assert.deepEqual((await runner.invoke(join(folder, 'a.mjs'), 1)).result, { value: ['function', true] })
    assert.deepEqual((await runner.load(join(folder, 'b.cjs'))).result.processes, [{ export: 'default', config: { queue: 'cjs' } }])
    assert.deepEqual((await runner.invoke(join(folder, 'b.cjs'), 1)).result, { value: [1, true] })
    assert.deepEqual((await runner.load(join(folder, 'c.cjs'))).result.processes, [{ export: 'default', config: { queue: 'made' } }])
    assert.deepEqual((await runner.invoke(join(folder, 'c.cjs'), 5)).result, { value: 5 })
  })
}

test('a module may hold several processes', async (t) => {
  const folder = project(t, {
    'many.mjs': `
      import { defineProcess, defineQueueWorker } from 'riverrun'
      export const double = defineProcess((input) => input * 2, { runMode: 'call' })
      export const later = defineQueueWorker((job) => job.data, { queue: 'later' })
      export const helper = (input) => input
      export default (input) => input
    `,
  })
  const runner = await startRunner(t)
  const file = join(folder, 'many.mjs')
  const { processes } = (await runner.load(file)).result
  const byExport = Object.fromEntries(processes.map(({ export: name, config }) => [name, config]))
  assert.deepEqual(byExport, { default: {}, double: { runMode: 'call' }, later: { queue: 'later' } })
  assert.deepEqual((await runner.invoke(file, 21, { export: 'double' })).result, { value: 42 })
  assert.equal((await runner.invoke(file, 21, { export: 'helper' })).error.data.code, 'HANDLER_NOT_FOUND')
})

test('a newer revision asks for a fresh runner, and what is loaded goes on', async (t) => {
  const folder = project(t, { 'a.mjs': 'export default () => 1' })
  const runner = await startRunner(t)
  const file = join(folder, 'a.mjs')
  await runner.load(file, 3)
  assert.equal((await runner.load(file, 4)).error.data.code, 'RELOAD')
  assert.equal((await runner.invoke(file, 1, { revision: 4 })).error.data.code, 'RELOAD')
  assert.deepEqual((await runner.invoke(file, 1, { revision: 3 })).result, { value: 1 })
})

test('a module that is not there is reported with the line that imports it', async (t) => {
  const files = {
    'package.json': '{"type":"module"}',
    'package.mjs': "// one\nimport x from 'not-installed/deep'\nexport default () => x",
    'file.mjs': "import {\n  a,\n} from './lib/nope.mjs'\nexport default () => a",
    'nested.mjs': "import './helper.mjs'",
    'helper.mjs': "export {}\nawait import('not-installed')",
    'old.cjs': "'use strict'\nconst x = require('./gone')",
  }
  for (const [file, at, name] of [
    ['package.mjs', 'package.mjs:2:15', 'not-installed'],
    ['file.mjs', 'file.mjs:3:8', 'nope.mjs'],
    ['nested.mjs', 'helper.mjs:2:14', 'not-installed'],
    ['old.cjs', 'old.cjs:2:19', './gone'],
  ]) {
    const folder = project(t, files)
    const runner = await startRunner(t)
    const { error } = await runner.load(join(folder, file))
    assert.equal(error.data.code, 'MODULE_ERROR')
    assert.ok(error.message.startsWith(`${join(folder, at)}: `), error.message)
    assert.ok(error.message.includes(name) && !error.message.includes('Require stack'), error.message)
    assert.match(error.data.stack, /\n\s*\^+$/)
  }
})

test('a SyntaxError that running code throws is no syntax error of the module', async (t) => {
  const folder = project(t, { 'a.mjs': 'JSON.parse("{")\nexport default 1', 'b.mjs': "import { nothing } from './c.mjs'\nexport default () => nothing", 'c.mjs': 'export {}' })
  const runner = await startRunner(t)
  assert.equal((await runner.load(join(folder, 'a.mjs'))).error.data.code, 'MODULE_ERROR')
  assert.equal((await runner.load(join(folder, 'b.mjs'))).error.data.code, 'MODULE_ERROR')
})

test('the newer Node of RIVERRUN_TEST_NODE is there if it is named', () => {
  const node = process.env.RIVERRUN_TEST_NODE
  assert.ok(!node || existsSync(node), `${node} does not exist`)
})

test('a syntax error names its line and column, also in what is imported', async (t) => {
  const bad = 'export const a = 1\n\nconst b = => 2\n'
  const folder = project(t, {
    'package.json': '{"type":"module"}',
    'bad.mjs': bad,
    'nested.mjs': "import './lib/deep.js'\nthrow new Error('runs')\n",
    'lib/deep.js': bad,
    'old.cjs': "const a = 1\nlet x = {a b}\n",
  })
  const runner = await startRunner(t)
  for (const [file, at, what] of [
    ['bad.mjs', 'bad.mjs:3:11', "Unexpected token '=>'"],
    ['nested.mjs', 'lib/deep.js:3:11', "Unexpected token '=>'"],
    ['old.cjs', 'old.cjs:2:12', "Unexpected identifier 'b'"],
  ]) {
    const { error } = await runner.load(join(folder, file))
    assert.equal(error.data.code, 'MODULE_SYNTAX')
    assert.equal(error.message, `${join(folder, at)}: ${what}`)
    assert.match(error.data.stack, /\^/)
    assert.doesNotMatch(error.data.stack, /node:internal/)
  }
})

test('an error of a module shows the frames of the module and no others', async (t) => {
  const folder = project(t, { 'throws.mjs': "\nthrow new Error('no database')\n" })
  const runner = await startRunner(t)
  const file = join(folder, 'throws.mjs')
  const { error } = await runner.load(file)
  assert.equal(error.message, `${file}: no database`)
  assert.match(error.data.stack, /throws\.mjs:2:7/)
  assert.doesNotMatch(error.data.stack, /node:internal|runner\.mjs/)
})

test('a config that is no object is reported', async (t) => {
  const folder = project(t, {
    'list.mjs': 'export const config = []\nexport default () => 1\n',
    'text.mjs': "export const config = 'text'\nexport default () => 1\n",
  })
  const runner = await startRunner(t)
  for (const [name, what] of [['list.mjs', 'a list'], ['text.mjs', 'a string']]) {
    const { error } = await runner.load(join(folder, name))
    assert.equal(error.data.code, 'MODULE_CONFIG')
    assert.match(error.message, new RegExp(`must be an object, and is ${what}`))
  }
})

test('a module that could not be loaded asks for a fresh runner the next time', async (t) => {
  const folder = project(t, { 'throws.mjs': "throw new Error('no database')\n" })
  const runner = await startRunner(t)
  const file = join(folder, 'throws.mjs')
  const codes = []
  for (const ask of [() => runner.load(file), () => runner.invoke(file, 1)]) codes.push((await ask()).error.data.code)
  assert.deepEqual(codes, ['MODULE_ERROR', 'RELOAD'])
})
